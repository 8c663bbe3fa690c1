/* matmul.tile.c: C = A B on the load-compute-finish template; any M, N, K.
 *
 * A block computes tiles of (64 MB) x (64 NB): MB warpgroups of consumers, each 64 rows; one producer thread fills the
 * ring of input blocks. Tasks go over the tiles of C in groups of GROUP rows, so that neighbours share what they read.
 *
 *     tilewright run matmul.tile.c --arg g.A=randn:bf16[512,300] --arg g.B=randn:bf16[300,400] --arg g.C=zeros:bf16[512,400]
 *
 * -D changes MB, NB, STAGES, GROUP, K_BLOCK, ELEM (bf16, half or fp8e4m3, with TILE st_bf, st_hf or st_fp8e4m3) and OUT, the
 * elements of C (with OUT_TILE); -D NT=1: B is [N, K], as 8-bit elements need it (with K_BLOCK 128). */
#include "tile.h"

#ifndef MB
#define MB 2
#endif
#ifndef NB
#define NB 4
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef GROUP
#define GROUP 8
#endif
#ifndef ELEM
#define ELEM bf16
#define TILE st_bf
#endif
#ifndef OUT
#define OUT ELEM
#define OUT_TILE TILE
#endif
#ifndef NT
#define NT 0
#endif
#ifndef K_BLOCK
#define K_BLOCK 64
#endif

typedef TILE(64, K_BLOCK) a_tile;
#if NT
typedef TILE(64, K_BLOCK) b_tile;
typedef TILE(64 * NB, K_BLOCK) b_tiles; /* one above the other */
#else
typedef TILE(K_BLOCK, 64) b_tile;
typedef TILE(K_BLOCK, 64 * NB) b_tiles; /* side by side */
#endif
typedef OUT_TILE(64, 64) c_tile;
typedef OUT_TILE(64, 64 * NB) c_tiles;

struct globals {
    gl(ELEM, 1, 1, -1, -1, a_tile) A;
    gl(ELEM, 1, 1, -1, -1, b_tile) B;
    gl(OUT, 1, 1, -1, -1, c_tile) C;
};
struct input_block { a_tile a[MB]; b_tile b[NB]; };
struct finish_block { c_tile c[MB][NB]; };
struct common_state { int row, col; }; /* in units of a c_tile */
struct consumer_state { rt_fl(16, 64 * NB) acc; };

/* Which tile of C: GROUP rows of tiles at a time, down each column first. */
static void common_setup(lcf_setup_args *a) {
    int task = a->task_iter * gridDim.x + blockIdx.x;
    int rows = cdiv(a->globals->C.rows, 64 * MB), cols = cdiv(a->globals->C.cols, 64 * NB);
    if (task >= rows * cols) {
        a->num_iters = -1; // no more work
        return;
    }
    int per_group = GROUP * cols;
    int first = task / per_group * GROUP;
    int high = min(rows - first, GROUP);
    int place = task % per_group;
    a->common->row = (first + place % high) * MB;
    a->common->col = place / high * NB;
    a->num_iters = cdiv(a->globals->A.cols, K_BLOCK);
}

static void producer_setup(lcf_producer_setup_args *a) {
    producer_registers();
}

static void producer_load(lcf_load_args *a) {
    if (warpgroup_laneid() == 0) {
        tma_expect(a->inputs_arrived, a->input);
        for (int i = 0; i < MB; i++)
            tma_load_async(&a->input->a[i], a->globals->A, at(a->common->row + i, a->iter), a->inputs_arrived);
        for (int i = 0; i < NB; i++)
            tma_load_async(&a->input->b[i], a->globals->B, NT ? at(a->common->col + i, a->iter) : at(a->iter, a->common->col + i),
                a->inputs_arrived);
    }
}

static void consumer_setup(lcf_consumer_setup_args *a) {
    consumer_registers(MB);
    warpgroup_zero(&a->state->acc);
}

static void consumer_compute(lcf_compute_args *a) {
#if !NT
    warpgroup_mma_AB(&a->state->acc, &a->input->a[warpgroup_groupid()], tile_view(b_tiles, a->input->b));
#else
    warpgroup_mma_ABt(&a->state->acc, &a->input->a[warpgroup_groupid()], tile_view(b_tiles, a->input->b));
#endif
    warpgroup_mma_wait(0);
    if (laneid() == 0) arrive(a->inputs_finished);
}

static void consumer_finish(lcf_finish_args *a) {
    int id = warpgroup_groupid();
    warpgroup_store(tile_view(c_tiles, a->finish->c[id]), &a->state->acc);
    warpgroup_sync(id + 4);
    if (warpgroup_laneid() == 0)
        for (int i = 0; i < NB; i++)
            tma_store_async(a->globals->C, &a->finish->c[id][i], at(a->common->row + id, a->common->col + i));
    tma_store_async_read_wait();
    if (laneid() == 0) arrive(a->finish_finished);
}

lcf_kernel(matmul,
    .globals = struct globals, .input = struct input_block, .finish = struct finish_block,
    .common = struct common_state, .consumer_state = struct consumer_state,
    .consumer_warps = MB * 4, .input_stages = STAGES, .producer_arrivals = 1,
    .common_setup = common_setup,
    .producer = {producer_setup, producer_load},
    .consumer = {consumer_setup, consumer_compute, consumer_finish});
/* SPDX-License-Identifier: Apache-2.0 */
