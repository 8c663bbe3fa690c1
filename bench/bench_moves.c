/* SPDX-License-Identifier: Apache-2.0 */
/* bench_moves.c: rows of the bench that move data: rows that numbers choose (copied, added up), transposes, convolutions. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t blocks(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* --- rows by numbers --- */

static double copy_by_hand(Row *row, int threads) {
    (void)threads;
    tw_buffer *table = row->arrays[0];
    int64_t width = tw_buffer_shape(table)[1] * (int64_t)tw_dtype_size(tw_buffer_dtype(table));
    hand_copy_rows(tw_buffer_data(table), tw_buffer_data(row->arrays[1]), row->spare[0],
                   tw_buffer_elements(row->arrays[1]), width);
    return 0;
}

static double add_by_hand(Row *row, bool atomic) {
    const int64_t *shape = tw_buffer_shape(row->arrays[0]);
    hand_add_rows(bench_floats(row->arrays[0]), tw_buffer_data(row->arrays[1]), row->spare[0], shape[0], shape[1],
                  atomic);
    return 0;
}
static double add_atomic(Row *row, int threads) { return (void)threads, add_by_hand(row, true); }
static double add_plain(Row *row, int threads) { return (void)threads, add_by_hand(row, false); }

static size_t bytes_of(tw_buffer *buffer) {
    return (size_t)tw_buffer_elements(buffer) * tw_dtype_size(tw_buffer_dtype(buffer));
}

static double same_bytes(Row *row) {
    tw_buffer *out = row->arrays[row->array_count - 1];
    return memcmp(tw_buffer_data(out), row->spare[0], bytes_of(out)) != 0;
}

/* Sums go on from run to run: both begin anew. */
static double sums_error(Row *row) {
    tw_buffer *out = row->arrays[2];
    memset(tw_buffer_data(out), 0, bytes_of(out));
    memset(row->spare[0], 0, bytes_of(out));
    for (int threads = 1; threads <= BENCH_THREADS; threads++) ours_launch(&row->ours, threads), add_by_hand(row, true);
    return bench_error(bench_floats(out), row->spare[0], tw_buffer_elements(out));
}

static void picked_rows(const char *name, bool add, int32_t dtype, int64_t n, int64_t table, int64_t width) {
    if (!bench_wants(name)) return;
    const int64_t bm = 64, bc = width > 512 ? 1024 : 512;
    Row row = {.name = name, .unit = "GB/s", .error = add ? sums_error : same_bytes, .tolerance = 1e-5};
    Ours *x = &row.ours;
    ours_load(x, "kernels/triton/rows.py", add ? "scatter_add_kernel" : "embedding_kernel");
    row_give(&row, add ? "x_ptr" : "table_ptr", bench_array(dtype, 2, add ? n : table, width, 0, true));
    tw_buffer *index = row_give(&row, "index_ptr", bench_array(TW_I32, 1, n, 0, 0, false));
    row_give(&row, "out_ptr", bench_array(dtype, 2, add ? table : n, width, 0, false));
    int32_t *at = tw_buffer_data(index);
    for (int64_t i = 0; i < n; i++) at[i] = (int32_t)(((uint64_t)i * 2654435761u >> 7) % (uint64_t)table);
    ours_int(x, "n", n), ours_int(x, "width", width);
    ours_int(x, add ? "stride_x" : "stride_t", width), ours_int(x, "stride_o", width);
    ours_int(x, "BM", bm), ours_int(x, "BC", bc);
    x->grid[0] = blocks(n, bm), x->grid[1] = blocks(width, bc);
    size_t size = tw_dtype_size(dtype);
    row.work = (double)(n * width) * (double)size * (add ? 3 : 2);
    row.spare[0] = bench_room((size_t)((add ? table : n) * width) * size);
    row.inner = n * width < 1 << 20 ? 5 : 1;
    snprintf(row.request, sizeof row.request, "%s %lld %lld %lld %d", add ? "add_rows" : "copy_rows", (long long)n,
             (long long)table, (long long)width, (int)size);
    if (add) { /* columns of their own need no atomics: not the same promise, so no bar */
        row.rivals[row.rival_count++] = (Rival){"C loop, atomic", NULL, 0.9, add_atomic};
        row.rivals[row.rival_count++] = (Rival){"C loop, columns split", NULL, 0, add_plain};
    } else
        row.rivals[row.rival_count++] = (Rival){"C loop", NULL, 0.9, copy_by_hand};
    row.rivals[row.rival_count++] = (Rival){"torch", bench.no_torch, 1.0, row_torch};
    row_run(&row);
}

/* --- transposes --- */

static double transpose_by_hand(Row *row, int threads) {
    (void)threads;
    const int64_t *shape = tw_buffer_shape(row->arrays[0]);
    hand_transpose(tw_buffer_data(row->arrays[0]), row->spare[0], shape[0], shape[1],
                   (int)tw_dtype_size(tw_buffer_dtype(row->arrays[0])));
    return 0;
}

static void transpose(const char *name, int32_t dtype, int64_t rows, int64_t cols) {
    if (!bench_wants(name)) return;
    const int64_t size = 128;
    Row row = {.name = name, .unit = "GB/s", .error = same_bytes};
    Ours *x = &row.ours;
    ours_load(x, "kernels/triton/transpose.py", "transpose_kernel");
    row_give(&row, "x_ptr", bench_array(dtype, 2, rows, cols, 0, true));
    row_give(&row, "y_ptr", bench_array(dtype, 2, cols, rows, 0, false));
    ours_int(x, "rows", rows), ours_int(x, "cols", cols);
    ours_int(x, "stride_x", cols), ours_int(x, "stride_y", rows);
    ours_int(x, "BM", size), ours_int(x, "BN", size);
    x->grid[0] = blocks(rows, size), x->grid[1] = blocks(cols, size);
    row.work = 2.0 * (double)bytes_of(row.arrays[0]);
    row.spare[0] = bench_room(bytes_of(row.arrays[0]));
    row.inner = rows * cols < 1 << 20 ? 10 : 1;
    snprintf(row.request, sizeof row.request, "transpose %lld %lld %d", (long long)rows, (long long)cols,
             (int)tw_dtype_size(dtype));
    row.rivals[row.rival_count++] = (Rival){"C loop", NULL, 0.9, transpose_by_hand};
    row.rivals[row.rival_count++] = (Rival){"torch", bench.no_torch, 1.0, row_torch};
    row_run(&row);
}

/* --- convolutions --- */

static double conv_by_hand(Row *row, int threads) {
    (void)threads;
    hand_conv(&row->conv, bench_floats(row->arrays[0]), bench_floats(row->arrays[1]), row->spare[0]);
    return 0;
}

static double conv_error(Row *row) {
    return bench_error(bench_floats(row->arrays[2]), row->spare[0], tw_buffer_elements(row->arrays[2]));
}

static void conv(const char *name, Conv v) {
    if (!bench_wants(name)) return;
    const int64_t bm = 128, bn = 64, bc = 32, pixels = v.h * v.w;
    v.p = (v.h + 2 * v.pad - v.r) / v.step + 1, v.q = (v.w + 2 * v.pad - v.s) / v.step + 1;
    const int64_t places = v.n * v.p * v.q, out = v.p * v.q;
    Row row = {.name = name, .unit = "GF/s", .error = conv_error, .tolerance = 1e-5, .conv = v};
    Ours *x = &row.ours;
    ours_load(x, "kernels/triton/conv2d.py", "conv2d_kernel");
    row_give(&row, "x_ptr", bench_array(TW_F32, 2, v.n, v.c * pixels, 0, true));
    row_give(&row, "w_ptr", bench_array(TW_F32, 2, v.r * v.s * v.c, v.k, 0, true));
    row_give(&row, "y_ptr", bench_array(TW_F32, 2, v.n, v.k * out, 0, false));
    const struct {
        const char *name;
        int64_t value;
    } args[] = {{"places", places},
                {"C", v.c},
                {"H", v.h},
                {"W", v.w},
                {"K", v.k},
                {"P", v.p},
                {"Q", v.q},
                {"sxn", v.c * pixels},
                {"sxc", v.last ? 1 : pixels},
                {"sxh", v.last ? v.w * v.c : v.w},
                {"sxw", v.last ? v.c : 1},
                {"sw", v.k},
                {"swk", 1},
                {"syn", v.k * out},
                {"syk", v.last ? 1 : out},
                {"syp", v.last ? v.q * v.k : v.q},
                {"syq", v.last ? v.k : 1},
                {"step", v.step},
                {"pad", v.pad},
                {"R", v.r},
                {"S", v.s},
                {"BM", bm},
                {"BN", bn},
                {"BC", bc}};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) ours_int(x, args[i].name, args[i].value);
    x->grid[0] = blocks(places, bm), x->grid[1] = blocks(v.k, bn);
    row.work = 2.0 * (double)(places * v.k * v.c * v.r * v.s);
    row.spare[0] = bench_room((size_t)(places * v.k) * 4);
    snprintf(row.request, sizeof row.request, "conv2d %lld %lld %lld %lld %lld %lld %lld %lld %d", (long long)v.n,
             (long long)v.c, (long long)v.h, (long long)v.w, (long long)v.k, (long long)v.r, (long long)v.step,
             (long long)v.pad, v.last);
    row.rivals[row.rival_count++] = (Rival){"C loop", NULL, 0.9, conv_by_hand};
    row.rivals[row.rival_count++] = (Rival){"torch", bench.no_torch, 1.0, row_torch};
    row_run(&row);
}

void bench_moves(void) {
    picked_rows("rows copied f32", false, TW_F32, 8192, 30000, 512);
    picked_rows("rows copied bf16", false, TW_BF16, 8192, 30000, 512);
    picked_rows("rows copied 1000x777 f32", false, TW_F32, 1000, 5000, 777);
    picked_rows("rows added f32", true, TW_F32, 8192, 2048, 512);
    picked_rows("rows added 1000x777 f32", true, TW_F32, 1000, 100, 777);
    transpose("transpose 2048 f32", TW_F32, 2048, 2048);
    transpose("transpose 2048 bf16", TW_BF16, 2048, 2048);
    transpose("transpose 1000x777 f32", TW_F32, 1000, 777);
    transpose("transpose 1000x777 bf16", TW_BF16, 1000, 777);
    conv("conv 3x3 last",
         (Conv){.n = 4, .c = 64, .h = 56, .w = 56, .k = 64, .r = 3, .s = 3, .step = 1, .pad = 1, .last = true});
    conv("conv 3x3 first", (Conv){.n = 4, .c = 64, .h = 56, .w = 56, .k = 64, .r = 3, .s = 3, .step = 1, .pad = 1});
    conv("conv odd last",
         (Conv){.n = 3, .c = 33, .h = 31, .w = 29, .k = 50, .r = 3, .s = 3, .step = 2, .pad = 1, .last = true});
    conv("conv odd first", (Conv){.n = 3, .c = 33, .h = 31, .w = 29, .k = 50, .r = 3, .s = 3, .step = 1, .pad = 0});
}
