/* mamba2.tile.c: the state-space duality of Mamba-2 on the load-compute-store-finish template:
 *
 *     o[i] = sum over j <= i of exp(a[j + 1] + .. + a[i]) (q[i] . k[j]) v[j]
 *
 * q and k (C and B of the paper) are [batch, 1, n, STATE], one for all heads; v and o [batch, heads, n, 64], a (the logarithm
 * of each step's decay, dt A; v is dt x) [batch, heads, 1, n]. Any n, any number of heads.
 *
 *     tilewright run mamba2.tile.c --arg g.q=randn:bf16[1,1,200,64] --arg g.k=randn:bf16[1,1,200,64] \
 *         --arg g.v=randn:bf16[1,4,200,64] --arg g.a=zeros:f32[1,4,1,200] --arg g.o=zeros:bf16[1,4,200,64]
 *
 * A task is COLS columns of WORKERS heads of a batch; its items are chunks of 64 positions, whose q and k all heads share.
 * Each warpgroup keeps the state of its head, [STATE, COLS], in registers: inside a chunk it is attention with decays for
 * weights, across chunks the state brings what came before. -D STATE=128, -D COLS=32 (of the 64 of v: more tasks where heads
 * are few), -D WORKERS=1, -D STAGES=2, -D BLOCKS=2 (on a multiprocessor). */
#include "tile.h"

#ifndef STATE
#define STATE 64
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef STAGES
#define STAGES 2
#endif
#ifndef COLS
#define COLS 64
#endif
#ifndef BLOCKS
#define BLOCKS 1
#endif
enum { CHUNK = 64, PARTS = STATE / 64 };

typedef st_bf(CHUNK, 64) tile;
typedef sv_fl(CHUNK) decays;
typedef st_bf(CHUNK, COLS) v_tile;
typedef rt_fl(16, CHUNK) weights; /* 16 rows a warp, 64 in all */
typedef rt_fl(16, COLS) sums;

struct globals {
    gl(bf16, -1, 1, -1, STATE, tile) q, k;
    gl(bf16, -1, -1, -1, 64, v_tile) v;
    gl(float, -1, -1, 1, -1, decays) a;
    gl(bf16, -1, -1, -1, 64, v_tile) o;
};
struct input_block {
    tile q[PARTS], k[PARTS];
    v_tile v[WORKERS];
    decays a[WORKERS];
};
struct output_block { v_tile o[WORKERS]; };
struct scratch_block {
    v_tile state[WORKERS][PARTS];
    tile k[WORKERS][PARTS];
};
struct common_state { int batch, head, part; };
struct consumer_state { sums state[PARTS]; };

static void common_setup(lcsf_setup_args *a) {
    int groups = cdiv(a->globals->v.depth, WORKERS), parts = 64 / COLS, task = a->task_iter * gridDim.x + blockIdx.x;
    a->common->batch = task / parts / groups;
    a->common->head = task / parts % groups * WORKERS;
    a->common->part = task % parts;
    a->num_iters = task < parts * groups * a->globals->v.batch ? cdiv(a->globals->v.rows, CHUNK) : -1;
}

static void producer_setup(lcsf_producer_setup_args *a) {
    producer_registers();
}

static void producer_load(lcsf_load_args *a) {
    int batch = a->common->batch;
    if (warpgroup_laneid() == 0) {
        tma_expect(a->inputs_arrived, a->input);
        for (int p = 0; p < PARTS; p++) {
            tma_load_async(&a->input->q[p], a->globals->q, at(batch, 0, a->iter, p), a->inputs_arrived);
            tma_load_async(&a->input->k[p], a->globals->k, at(batch, 0, a->iter, p), a->inputs_arrived);
        }
        for (int w = 0; w < WORKERS; w++) {
            tma_load_async(&a->input->v[w], a->globals->v, at(batch, a->common->head + w, a->iter, a->common->part),
                a->inputs_arrived);
            tma_load_async(&a->input->a[w], a->globals->a, at(batch, a->common->head + w, 0, a->iter), a->inputs_arrived);
        }
    }
}

static void producer_store(lcsf_store_args *a) {
    if (warpgroup_laneid() == 0) {
        for (int w = 0; w < WORKERS; w++)
            tma_store_async(a->globals->o, &a->output->o[w],
                at(a->common->batch, a->common->head + w, a->iter, a->common->part));
        tma_store_async_read_wait();
        arrive(a->outputs_finished);
    }
}

static void consumer_setup(lcsf_consumer_setup_args *a) {
    consumer_registers(WORKERS);
    for (int p = 0; p < PARTS; p++) warp_zero(&a->state->state[p]);
}

static void consumer_compute(lcsf_compute_args *a) {
    int w = warpgroup_groupid();
    weights fade, scores;
    sums o;
    rt_bf(16, 64) p_bf, q[PARTS], k;
    row_vec(weights) along;                /* a[0] + .. + a[j], one value a column; then one a row */
    col_vec(weights) down, left;
    float total;

    warpgroup_load(&along, &a->input->a[w]);
    warpgroup_cumsum(&along, &along);
    warpgroup_load(&down, &a->input->a[w]);
    warpgroup_cumsum(&down, &down);
    total = warpgroup_sum(&a->input->a[w]);
    warp_broadcast_row(&fade, &down);      /* exp of the decays between j and i, 0 behind i */
    warpgroup_sub_col(&fade, &fade, &along);
    warpgroup_tril(&fade, &fade, 0, -INFINITY);
    warp_exp(&fade, &fade);

    for (int p = 0; p < PARTS; p++) {
        warpgroup_load(&q[p], &a->input->q[p]);
        if (p) warpgroup_mma_ABt(&scores, &q[p], &a->input->k[p]);
        else warpgroup_mm_ABt(&scores, &q[p], &a->input->k[p]);
        warpgroup_store(&a->scratch->state[w][p], &a->state->state[p]);
    }
    warpgroup_sync(w + 4);
    warpgroup_mma_wait(0);
    warp_mul(&scores, &scores, &fade);
    warp_copy(&p_bf, &scores);
    for (int p = 0; p < PARTS; p++) { /* what the state gives, decayed from the chunk's beginning */
        if (p) warpgroup_mma_AB(&o, &q[p], &a->scratch->state[w][p]);
        else warpgroup_mm_AB(&o, &q[p], &a->scratch->state[w][p]);
    }
    warpgroup_mma_wait(0);
    warp_exp(&left, &down);
    warp_mul_row(&o, &o, &left);
    warpgroup_mma_AB(&o, &p_bf, &a->input->v[w]);
    warpgroup_mma_wait(0);
    warpgroup_store(&a->output->o[w], &o);

    warp_mul(&down, &down, -1.0f);         /* k[j] v[j] as they are at the chunk's end */
    warp_add(&down, &down, total);
    warp_exp(&left, &down);
    for (int p = 0; p < PARTS; p++) {
        warpgroup_load(&fade, &a->input->k[p]);
        warp_mul_row(&fade, &fade, &left);
        warp_copy(&k, &fade);
        warpgroup_store(&a->scratch->k[w][p], &k);
        warp_mul(&a->state->state[p], &a->state->state[p], expf(total));
    }
    warpgroup_sync(w + 4);
    for (int p = 0; p < PARTS; p++)
        warpgroup_mma_AtB(&a->state->state[p], &a->scratch->k[w][p], &a->input->v[w]);
    warpgroup_mma_wait(0);
    if (laneid() == 0) {
        arrive(a->outputs_arrived);
        arrive(a->inputs_finished);
    }
}

static void consumer_finish(lcsf_finish_args *a) {
    if (laneid() == 0) arrive(a->finish_finished);
}

lcsf_kernel(mamba2,
    .globals = struct globals, .input = struct input_block, .output = struct output_block, .scratch = struct scratch_block,
    .common = struct common_state, .consumer_state = struct consumer_state, .consumer_warps = WORKERS * 4,
    .input_stages = STAGES, .output_stages = STAGES, .blocks_per_sm = BLOCKS, .producer_arrivals = 1, .common_setup = common_setup,
    .producer = {producer_setup, producer_load, producer_store},
    .consumer = {consumer_setup, consumer_compute, consumer_finish});
/* SPDX-License-Identifier: Apache-2.0 */
