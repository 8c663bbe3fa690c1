/* micro_add.tile.c: o = x + x on one 16x32 tile, one warp.
 *
 *     tilewright run micro_add.tile.c --arg g.x=randn:f32[16,32] --arg g.o=zeros:f32[16,32]
 *
 * Smaller tensors need no care: what lies outside is read as 0 and not written. */
#include "kittens.h"
#define NUM_THREADS (WARP_THREADS) // use 1 warp

#define _row 16
#define _col 32

typedef struct {
    gl(float, -1, -1, -1, -1, st_fl(_row, _col)) x, o;
} micro_globals;

tile_grid(1) __global__ __launch_bounds__(NUM_THREADS, 1)
void micro_tk(const __grid_constant__ micro_globals g) {

    // shared memory
    st_fl(_row, _col) *x_s = shared_alloc(st_fl(_row, _col));
    st_fl(_row, _col) *o_s = shared_alloc(st_fl(_row, _col));

    // register memory
    rt_fl(_row, _col) x_reg_fl;

    // load from HBM to shared
    load(x_s, g.x, at(0, 0, 0, 0));
    __syncthreads();

    // load from shared to register
    load(&x_reg_fl, x_s);
    __syncthreads();

    // x (dst) = x (src b) + x (src a)
    add(&x_reg_fl, &x_reg_fl, &x_reg_fl);
    __syncthreads();

    // store from register to shared
    store(o_s, &x_reg_fl);
    __syncthreads();

    // store from shared to HBM
    store(g.o, o_s, at(0, 0, 0, 0));
    __syncthreads();
}
/* SPDX-License-Identifier: Apache-2.0 */
