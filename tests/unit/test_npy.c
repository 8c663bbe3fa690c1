/* SPDX-License-Identifier: Apache-2.0 */
/* test_npy.c: .npy files: round trips of every dtype, orders and versions that NumPy writes,
 * files that lie. */
#include "check.h"
#include "tilewright.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/tilewright-npy-XXXXXX", path[200];

static void write_file(const char *header, size_t header_length, const void *data, size_t size,
                       int version) {
    FILE *file = fopen(path, "wb");
    fwrite("\x93NUMPY", 1, 6, file);
    fputc(version, file);
    fputc(0, file);
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        fputc((int)(header_length >> 8 * i & 255), file);
    fwrite(header, 1, strlen(header), file);
    fwrite(data, 1, size, file);
    fclose(file);
}

static void test_round_trip(tw_context *cx) {
    for (int32_t dtype = TW_I1; dtype <= TW_F8E4B15; dtype++)
        for (int rank = 0; rank <= 3; rank++) {
            static const int64_t shapes[4][3] = {{0}, {7}, {3, 5}, {2, 0, 4}};
            tw_buffer *b = NULL, *back = NULL;
            CHECK(tw_buffer_create(cx, dtype, rank, shapes[rank], NULL, &b) == TW_OK);
            CHECK(tw_buffer_fill(b, "arange", 1, 0) == TW_OK);
            CHECK(tw_buffer_save_npy(b, path) == TW_OK);
            CHECK(tw_buffer_load_npy(cx, path, dtype, &back) == TW_OK);
            CHECK(back && tw_buffer_dtype(back) == dtype && tw_buffer_rank(back) == rank);
            tw_difference d = {.struct_size = sizeof d};
            CHECK(back && tw_buffer_compare(back, b, 0, 0, &d) == TW_OK && d.different == 0);
            tw_buffer_destroy(b);
            tw_buffer_destroy(back);
        }
}

/* Column by column, as NumPy writes a transposed array; and the wider header of version 2. */
static void test_orders(tw_context *cx) {
    static const float data[6] = {1, 4, 2, 5, 3, 6};
    const char *header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }          \n";
    tw_buffer *b = NULL;
    for (int version = 1; version <= 3; version++) {
        write_file(header, strlen(header), data, sizeof data, version);
        CHECK(tw_buffer_load_npy(cx, path, TW_DTYPE_ANY, &b) == TW_OK);
        const float *x = tw_buffer_data(b);
        CHECK(x[0] == 1 && x[1] == 2 && x[2] == 3 && x[3] == 4 && x[4] == 5 && x[5] == 6);
        tw_buffer_destroy(b);
    }
    /* bf16 as raw items, and as unsigned ones. */
    static const unsigned short bits[2] = {0x3f80, 0xc000};
    header = "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }\n";
    write_file(header, strlen(header), bits, sizeof bits, 1);
    CHECK(tw_buffer_load_npy(cx, path, TW_DTYPE_ANY, &b) == TW_OK);
    CHECK(tw_buffer_dtype(b) == TW_BF16);
    tw_buffer_destroy(b);
    header = "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }\n";
    write_file(header, strlen(header), bits, sizeof bits, 1);
    CHECK(tw_buffer_load_npy(cx, path, TW_BF16, &b) == TW_OK);
    tw_buffer_destroy(b);
    CHECK(tw_buffer_load_npy(cx, path, TW_F32, &b) == TW_ERROR_IO);
    CHECK(b == NULL);
}

static void refuse(tw_context *cx, const char *header, size_t length, size_t size) {
    static const char zeros[64];
    tw_buffer *b = NULL;
    write_file(header, length, zeros, size, 1);
    tw_status status = tw_buffer_load_npy(cx, path, TW_DTYPE_ANY, &b);
    if (status != TW_ERROR_IO) fprintf(stderr, "not refused: %s\n", header);
    CHECK(status == TW_ERROR_IO && !b);
    CHECK(strstr(tw_context_message(cx), path) != NULL);
}

static void test_lies(tw_context *cx) {
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2), }",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }",
        "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }",
        "{",
        "",
        "hello"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        refuse(cx, headers[i], strlen(headers[i]), 8);
    const char *good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    refuse(cx, good, 60000, 8); /* a header longer than the file */
    FILE *file = fopen(path, "wb");
    fputs("\x93NUM", file);
    fclose(file);
    tw_buffer *b = NULL;
    CHECK(tw_buffer_load_npy(cx, path, TW_DTYPE_ANY, &b) == TW_ERROR_IO);
    CHECK(tw_buffer_load_npy(cx, folder, TW_DTYPE_ANY, &b) == TW_ERROR_IO);
    CHECK(tw_buffer_load_npy(cx, "/no/such/file.npy", TW_DTYPE_ANY, &b) == TW_ERROR_IO);
}

/* Nothing half-written: a failed save leaves the old file, and no other. */
static void test_failed_save(tw_context *cx) {
    int64_t n = 3;
    tw_buffer *b = NULL;
    CHECK(tw_buffer_create(cx, TW_F32, 1, &n, NULL, &b) == TW_OK);
    CHECK(tw_buffer_save_npy(b, "/no/such/folder/x.npy") == TW_ERROR_IO);
    CHECK(strstr(tw_context_message(cx), "/no/such/folder/x.npy") != NULL);
    tw_buffer_destroy(b);
}

static void test_random(tw_context *cx) {
    int64_t n = 100000;
    tw_buffer *b = NULL;
    CHECK(tw_buffer_create(cx, TW_F64, 1, &n, NULL, &b) == TW_OK);
    CHECK(tw_buffer_fill(b, "randn", 0, 7) == TW_OK);
    const double *x = tw_buffer_data(b);
    double mean = 0, square = 0, fourth = 0;
    for (int64_t i = 0; i < n; i++)
        mean += x[i], square += x[i] * x[i], fourth += x[i] * x[i] * x[i] * x[i];
    mean /= (double)n, square /= (double)n, fourth /= (double)n;
    CHECK(mean > -0.02 && mean < 0.02 && square > 0.98 && square < 1.02 && fourth > 2.85 &&
          fourth < 3.15);
    /* These very bits, on every machine. */
    CHECK(x[0] == -0x1.20d6271fa2d02p-3 && x[1] == -0x1.615e07a8c0381p-2 &&
          x[2] == 0x1.5c69bbcb55179p+0);
    double first = x[0], last = x[n - 1];
    CHECK(tw_buffer_fill(b, "rand", 0, 7) == TW_OK);
    for (int64_t i = 0; i < n; i++)
        if (!(x[i] >= 0 && x[i] < 1)) CHECK(0);
    CHECK(tw_buffer_fill(b, "randn", 0, 7) == TW_OK);
    CHECK(x[0] == first && x[n - 1] == last);
    CHECK(tw_buffer_fill(b, "randint", 10, 7) == TW_OK);
    int seen[10] = {0};
    for (int64_t i = 0; i < n; i++)
        if (x[i] == (int)x[i] && x[i] >= 0 && x[i] < 10) seen[(int)x[i]]++;
    for (int i = 0; i < 10; i++) CHECK(seen[i] > 9500 && seen[i] < 10500);
    CHECK(tw_buffer_fill(b, "randm", 0, 7) == TW_ERROR_ARGUMENT);
    CHECK(strstr(tw_context_message(cx), "`rand") != NULL);
    tw_buffer_destroy(b);
}

int main(void) {
    tw_context *cx = NULL;
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/x.npy", folder);
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    test_round_trip(cx);
    test_orders(cx);
    test_lies(cx);
    test_failed_save(cx);
    test_random(cx);
    tw_context_destroy(cx);
    unlink(path);
    rmdir(folder);
    return check_done();
}
