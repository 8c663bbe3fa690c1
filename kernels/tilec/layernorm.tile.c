/* layernorm.tile.c: s = x + residual; o = (s - mean) / sqrt(variance + eps) * weight + bias, row by row; any number of
 * rows, any width up to WIDTH.
 *
 *     tilewright run layernorm.tile.c --arg g.x=randn:bf16[300,1000] --arg g.residual=randn:bf16[300,1000] \
 *         --arg g.weight=randn:f32[1000] --arg g.bias=randn:f32[1000] --arg g.sum=zeros:bf16[300,1000] \
 *         --arg g.o=zeros:bf16[300,1000] --arg g.eps=1e-5
 *
 * A warp has a row, as a vector in registers; statistics are float. What lies behind the last column is read as 0 and
 * kept out of the variance. -D WIDTH=2048 for wider rows (multiples of 16). */
#include "tile.h"

#ifndef WIDTH
#define WIDTH 1024
#endif

struct globals {
    gl(bf16, 1, 1, -1, -1) x, residual;
    gl(float, 1, 1, 1, -1) weight, bias;
    gl(bf16, 1, 1, -1, -1) sum, o;
    float eps;
};

tile_kernel(WARP_THREADS, 1) tile_grid(g.x.rows)
void layernorm(struct globals g) {
    int row = blockIdx.x, cols = g.x.cols;
    rv_fl(WIDTH) x, r, square;

    load(&x, g.x, at(row, 0));
    load(&r, g.residual, at(row, 0));
    add(&x, &x, &r);
    store(g.sum, &x, at(row, 0));

    float mean = sum(&x) / cols;
    sub(&x, &x, mean);
    right_fill(&x, &x, cols, 0);
    mul(&square, &x, &x);
    mul(&x, &x, rsqrtf(sum(&square) / cols + g.eps));

    load(&r, g.weight, at(0));
    mul(&x, &x, &r);
    load(&r, g.bias, at(0));
    add(&x, &x, &r);
    store(g.o, &x, at(row, 0));
}
/* SPDX-License-Identifier: Apache-2.0 */
