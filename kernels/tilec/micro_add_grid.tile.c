/* micro_add_grid.tile.c: o = x + x over batch and depth: a program for each 16x32 tile of a [batch, depth, 16, 32] array.
 *
 *     tilewright run micro_add_grid.tile.c --arg g.x=randn:f32[3,2,16,32] --arg g.o=zeros:f32[3,2,16,32] */
#include "tile.h"

enum { R = 16, C = 32 };
typedef st_fl(R, C) tile;
typedef struct { gl(float, -1, -1, -1, -1, tile) x, o; } micro_globals;

tile_kernel(WARP_THREADS, 1) tile_grid(g.x.depth, g.x.batch)
void micro_grid(micro_globals g) {
    tile *x_s = shared_alloc(tile), *o_s = shared_alloc(tile);
    rt_fl(R, C) x;

    load(x_s, g.x, at(blockIdx.y, blockIdx.x, 0, 0));
    block_sync();
    load(&x, x_s);
    add(&x, &x, &x);
    store(o_s, &x);
    block_sync();
    store(g.o, o_s, at(blockIdx.y, blockIdx.x, 0, 0));
}
/* SPDX-License-Identifier: Apache-2.0 */
