/* rotary_lcsf.tile.c: rotary position embedding on the load-compute-store-finish template: a ring brings positions of a
 * head in, another takes them out. x and o are [batch, heads, positions, 2 HALF], cos and sin [positions, HALF].
 *
 *     tilewright run rotary_lcsf.tile.c --arg g.x=randn:bf16[2,4,100,128] --arg g.cos=rand:f32[100,64] \
 *         --arg g.sin=rand:f32[100,64] --arg g.o=zeros:bf16[2,4,100,128]
 *
 * A task is WORKERS x 64 positions of one batch; its items are the heads, so cos and sin are loaded once a task and stay
 * in registers. -D HALF=32, -D WORKERS=1, -D STAGES=2. */
#include "tile.h"

#ifndef HALF
#define HALF 64
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef STAGES
#define STAGES 3
#endif

typedef st_bf(64, HALF) half_tile;
typedef rt_fl(16, HALF) part; /* 16 rows a warp, 64 in all */

struct globals {
    gl(bf16, -1, -1, -1, 2 * HALF, half_tile) x;
    gl(float, 1, 1, -1, HALF) cos, sin;
    gl(bf16, -1, -1, -1, 2 * HALF, half_tile) o;
};
struct block { half_tile half[WORKERS][2]; };
struct common_state { int batch, row; };
struct consumer_state { part cos, sin, a, b, c, d; };

static void common_setup(lcsf_setup_args *a) {
    int rows = cdiv(a->globals->x.rows, 64 * WORKERS), task = a->task_iter * gridDim.x + blockIdx.x;
    a->common->batch = task / rows;
    a->common->row = task % rows * WORKERS;
    a->num_iters = task < rows * a->globals->x.batch ? a->globals->x.depth : -1;
}

static void producer_setup(lcsf_producer_setup_args *a) {
    producer_registers();
}

static void producer_load(lcsf_load_args *a) {
    if (warpgroup_laneid() == 0) {
        tma_expect(a->inputs_arrived, a->input);
        for (int w = 0; w < WORKERS; w++)
            for (int h = 0; h < 2; h++)
                tma_load_async(&a->input->half[w][h], a->globals->x, at(a->common->batch, a->iter, a->common->row + w, h),
                    a->inputs_arrived);
    }
}

static void producer_store(lcsf_store_args *a) {
    if (warpgroup_laneid() == 0) {
        for (int w = 0; w < WORKERS; w++)
            for (int h = 0; h < 2; h++)
                tma_store_async(a->globals->o, &a->output->half[w][h], at(a->common->batch, a->iter, a->common->row + w, h));
        tma_store_async_read_wait();
        arrive(a->outputs_finished);
    }
}

static void consumer_setup(lcsf_consumer_setup_args *a) {
    int row = a->common->row + warpgroup_groupid();
    consumer_registers(WORKERS);
    warpgroup_load(&a->state->cos, a->globals->cos, at(row, 0));
    warpgroup_load(&a->state->sin, a->globals->sin, at(row, 0));
}

static void consumer_compute(lcsf_compute_args *a) {
    struct consumer_state *t = a->state;
    int w = warpgroup_groupid();
    warpgroup_load(&t->a, &a->input->half[w][0]);
    warpgroup_load(&t->b, &a->input->half[w][1]);
    warpgroup_sync(w + 4);
    if (laneid() == 0) arrive(a->inputs_finished);

    warp_mul(&t->c, &t->a, &t->cos);
    warp_mul(&t->d, &t->b, &t->sin);
    warp_sub(&t->c, &t->c, &t->d);
    warpgroup_store(&a->output->half[w][0], &t->c);
    warp_mul(&t->c, &t->b, &t->cos);
    warp_mul(&t->d, &t->a, &t->sin);
    warp_add(&t->c, &t->c, &t->d);
    warpgroup_store(&a->output->half[w][1], &t->c);
    warpgroup_sync(w + 4);
    if (laneid() == 0) arrive(a->outputs_arrived);
}

static void consumer_finish(lcsf_finish_args *a) {
    if (laneid() == 0) arrive(a->finish_finished);
}

lcsf_kernel(rotary,
    .globals = struct globals, .input = struct block, .output = struct block, .common = struct common_state,
    .consumer_state = struct consumer_state, .consumer_warps = WORKERS * 4, .input_stages = STAGES,
    .output_stages = STAGES, .producer_arrivals = 1, .common_setup = common_setup,
    .producer = {producer_setup, producer_load, producer_store},
    .consumer = {consumer_setup, consumer_compute, consumer_finish});
/* SPDX-License-Identifier: Apache-2.0 */
