/* SPDX-License-Identifier: Apache-2.0 */
/* eval_dot.c: z + x y.
 *
 * Each element of the result is one chain of fused multiply-adds over ascending k that starts from
 * z: in f32 for floats up to 32 bits (products of 16-bit types are exact anyway), in f64 when a
 * double takes part, in wrapping integers otherwise; rounded once to z's type at the end. So
 * dot([A1 A2], [B1; B2], c) = dot(A2, B2, dot(A1, B1, c)) bit for bit when z is f32.
 *
 * The float loop is compiled twice on x86-64, with and without the machine's fma; both give the
 * same bits. */
#include "ir/interp/interp_core.h"

#include <math.h>

enum { BLOCK = 64 };

/* One row of the result: z[n] += sum over k of a[k] b[k][n]. */
static inline __attribute__((always_inline)) void row_f32_body(const float *a, const float *b, float *z, int64_t inner,
                                                               int64_t columns) {
    int64_t n = 0;
    for (; n + BLOCK <= columns; n += BLOCK) {
        float sum[BLOCK];
        for (int j = 0; j < BLOCK; j++) sum[j] = z[n + j];
        for (int64_t k = 0; k < inner; k++) {
            const float *row = b + k * columns + n;
            for (int j = 0; j < BLOCK; j++) sum[j] = __builtin_fmaf(a[k], row[j], sum[j]);
        }
        for (int j = 0; j < BLOCK; j++) z[n + j] = sum[j];
    }
    for (int64_t k = 0; k < inner; k++)
        for (int64_t j = n; j < columns; j++) z[j] = __builtin_fmaf(a[k], b[k * columns + j], z[j]);
}

static void row_f32(const float *a, const float *b, float *z, int64_t inner, int64_t columns) {
    row_f32_body(a, b, z, inner, columns);
}
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void row_f32_fma(const float *a, const float *b, float *z, int64_t inner,
                                                            int64_t columns) {
    row_f32_body(a, b, z, inner, columns);
}
#endif

static void rows_f32(const float *a, const float *b, float *z, int64_t rows, int64_t inner, int64_t columns) {
    void (*row)(const float *, const float *, float *, int64_t, int64_t) = row_f32;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) row = row_f32_fma;
#endif
    for (int64_t m = 0; m < rows; m++) row(a + m * inner, b, z + m * columns, inner, columns);
}

static void rows_f64(const double *a, const double *b, double *z, int64_t rows, int64_t inner, int64_t columns) {
    for (int64_t m = 0; m < rows; m++)
        for (int64_t k = 0; k < inner; k++)
            for (int64_t n = 0; n < columns; n++)
                z[m * columns + n] = fma(a[m * inner + k], b[k * columns + n], z[m * columns + n]);
}

static void rows_int(const int64_t *a, const int64_t *b, int64_t *z, int64_t rows, int64_t inner, int64_t columns) {
    for (int64_t m = 0; m < rows; m++)
        for (int64_t k = 0; k < inner; k++) {
            uint64_t x = (uint64_t)a[m * inner + k];
            for (int64_t n = 0; n < columns; n++) {
                uint64_t y = (uint64_t)b[k * columns + n];
                z[m * columns + n] = (int64_t)((uint64_t)z[m * columns + n] + x * y);
            }
        }
}

void eval_dot(Process *p, Step *s) {
    Operand x[3];
    Cell *wide[3];
    bool floats = false, doubles = false;
    for (int k = 0; k < 3; k++) {
        x[k] = ev_operand(p, s, k);
        if (x[k].cell->shadow) sanitize_use(p, s, &x[k]);
        floats |= elem_is_float(x[k].elem);
        doubles |= x[k].elem == EL_F64;
    }
    size_t size = floats && !doubles ? 4 : 8;
    for (int k = 0; k < 3; k++) {
        int64_t n = ty_elements(x[k].type);
        wide[k] = cell_new(p->in, (size_t)n * size);
        if (!floats)
            elem_read_i64(x[k].elem, x[k].data, n, wide[k]->data);
        else if (doubles)
            elem_read_f64(x[k].elem, x[k].data, n, wide[k]->data);
        else
            elem_read_f32(x[k].elem, x[k].data, n, wide[k]->data);
    }
    int rank = x[0].type->rank;
    int64_t rows = x[0].type->extent[rank - 2], inner = x[0].type->extent[rank - 1];
    int64_t columns = x[1].type->extent[rank - 1], batch = 1;
    for (int d = 0; d < rank - 2; d++) batch *= x[0].type->extent[d];
    for (int64_t i = 0; i < batch; i++) {
        int64_t a = i * rows * inner, b = i * inner * columns, c = i * rows * columns;
        if (!floats) {
            int64_t *const *v = (int64_t *const[]){wide[0]->data, wide[1]->data, wide[2]->data};
            rows_int(v[0] + a, v[1] + b, v[2] + c, rows, inner, columns);
        } else if (doubles) {
            double *const *v = (double *const[]){wide[0]->data, wide[1]->data, wide[2]->data};
            rows_f64(v[0] + a, v[1] + b, v[2] + c, rows, inner, columns);
        } else {
            float *const *v = (float *const[]){wide[0]->data, wide[1]->data, wide[2]->data};
            rows_f32(v[0] + a, v[1] + b, v[2] + c, rows, inner, columns);
        }
    }
    Cell *out = ev_define(p, s, 0);
    int64_t n = ty_elements(x[2].type);
    if (!floats)
        elem_write_i64(x[2].elem, out->data, n, wide[2]->data);
    else if (doubles)
        elem_write_f64(x[2].elem, out->data, n, wide[2]->data);
    else
        elem_write_f32(x[2].elem, out->data, n, wide[2]->data);
    for (int k = 0; k < 3; k++) cell_release(p->in, wide[k]);
}
