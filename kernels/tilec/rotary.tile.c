/* rotary.tile.c: rotary position embedding: the halves a, b of each head's vector become a cos - b sin, b cos + a sin.
 * x and o are [batch, heads, positions, 2 HALF], cos and sin [positions, HALF].
 *
 *     tilewright run rotary.tile.c --arg g.x=randn:bf16[2,4,100,128] --arg g.cos=rand:f32[100,64] \
 *         --arg g.sin=rand:f32[100,64] --arg g.o=zeros:bf16[2,4,100,128]
 *
 * A warp has 16 positions of a head; any number of positions. -D HALF=32 for heads of 64. */
#include "tile.h"

#ifndef HALF
#define HALF 64
#endif

typedef rt_fl(16, HALF) half_tile;

struct globals {
    gl(bf16, -1, -1, -1, 2 * HALF) x;
    gl(float, 1, 1, -1, HALF) cos, sin;
    gl(bf16, -1, -1, -1, 2 * HALF) o;
};

/* d = a x + sign * b y */
static void turn(half_tile *d, half_tile *a, half_tile *x, half_tile *b, half_tile *y, float sign) {
    half_tile t;
    mul(d, a, x);
    mul(&t, b, y);
    mul(&t, &t, sign);
    add(d, d, &t);
}

tile_kernel(WARP_THREADS, 1) tile_grid(cdiv(g.x.rows, 16), g.x.depth, g.x.batch)
void rotary(struct globals g) {
    int n = blockIdx.x, head = blockIdx.y, batch = blockIdx.z;
    half_tile a, b, c, s, d;

    load(&a, g.x, at(batch, head, n, 0));
    load(&b, g.x, at(batch, head, n, 1));
    load(&c, g.cos, at(n, 0));
    load(&s, g.sin, at(n, 0));
    turn(&d, &a, &c, &b, &s, -1);
    store(g.o, &d, at(batch, head, n, 0));
    turn(&d, &b, &c, &a, &s, 1);
    store(g.o, &d, at(batch, head, n, 1));
}
/* SPDX-License-Identifier: Apache-2.0 */
