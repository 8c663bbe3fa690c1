/* attention_lcf.tile.c: o = softmax(q k^T / sqrt(D)) v on the load-compute-finish template: a producer brings keys and
 * values through a ring of STAGES slots, each of WORKERS warpgroups keeps 64 queries, their maximum, sum and output in
 * registers. q and o are [batch, heads, n, D], k and v [batch, kv_heads, m, D]; any n and m.
 *
 *     tilewright run attention_lcf.tile.c --arg g.q=randn:bf16[1,4,200,64] --arg g.k=randn:bf16[1,2,200,64] \
 *         --arg g.v=randn:bf16[1,2,200,64] --arg g.o=zeros:bf16[1,4,200,64]
 *
 * -D D=128, -D CAUSAL=1, -D KEYS=64, -D WORKERS=2, -D STAGES=2. */
#include "tile.h"

#ifndef D
#define D 64
#endif
#ifndef KEYS
#define KEYS 64
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef STAGES
#define STAGES 2
#endif

enum { QUERIES = 64 };
typedef st_bf(KEYS, D) kv_tile;
typedef rt_fl(16, KEYS) scores; /* 16 rows a warp, 64 in all */
typedef rt_fl(16, D) sums;

struct globals { gl(bf16, -1, -1, -1, D, kv_tile) q, k, v, o; };
struct input_block { kv_tile k, v; };
struct common_state { int batch, head, kv_head, block; };
struct consumer_state {
    rt_bf(16, D) q;
    rt_bf(16, KEYS) weights;
    scores s;
    sums o;
    col_vec(scores) most, before, total;
};

/* A task is WORKERS blocks of queries of a head. */
static void common_setup(lcf_setup_args *a) {
    int blocks = cdiv(a->globals->q.rows, QUERIES * WORKERS), heads = a->globals->q.depth;
    int task = a->task_iter * gridDim.x + blockIdx.x;
    if (task >= blocks * heads * a->globals->q.batch) {
        a->num_iters = -1;
        return;
    }
    int keys = a->globals->k.rows;
    a->common->block = task % blocks * WORKERS;
    a->common->head = task / blocks % heads;
    a->common->kv_head = a->common->head / (heads / a->globals->k.depth);
    a->common->batch = task / blocks / heads;
    a->num_iters = cdiv(CAUSAL ? min(keys, (a->common->block + WORKERS) * QUERIES) : keys, KEYS);
}

static void producer_setup(lcf_producer_setup_args *a) {
    producer_registers();
}

static void producer_load(lcf_load_args *a) {
    if (warpgroup_laneid() == 0) {
        tma_expect(a->inputs_arrived, a->input);
        tma_load_async(&a->input->k, a->globals->k, at(a->common->batch, a->common->kv_head, a->iter, 0), a->inputs_arrived);
        tma_load_async(&a->input->v, a->globals->v, at(a->common->batch, a->common->kv_head, a->iter, 0), a->inputs_arrived);
    }
}

static void consumer_setup(lcf_consumer_setup_args *a) {
    int block = a->common->block + warpgroup_groupid();
    consumer_registers(WORKERS);
    warpgroup_load(&a->state->q, a->globals->q, at(a->common->batch, a->common->head, block, 0));
    warp_zero(&a->state->o);
    warp_zero(&a->state->total);
    warp_neg_infty(&a->state->most);
}

static void consumer_compute(lcf_compute_args *a) {
    struct consumer_state *t = a->state;
    int block = a->common->block + warpgroup_groupid();
    warpgroup_mm_ABt(&t->s, &t->q, &a->input->k);
    warpgroup_mma_wait(0);
    warp_right_fill(&t->s, &t->s, a->globals->k.rows - a->iter * KEYS, -INFINITY);
    if (CAUSAL) warpgroup_tril(&t->s, &t->s, block * QUERIES - a->iter * KEYS, -INFINITY);

    float scale = 1.44269504f / sqrtf(D); /* for exp2 */
    warp_copy(&t->before, &t->most);
    warp_row_max(&t->most, &t->s);
    warp_mul(&t->most, &t->most, scale);
    warp_max(&t->most, &t->most, &t->before);
    warp_sub(&t->before, &t->before, &t->most);
    warp_exp2(&t->before, &t->before);
    warp_mul(&t->s, &t->s, scale);
    warp_sub_row(&t->s, &t->s, &t->most);
    warp_exp2(&t->s, &t->s);
    warp_mul(&t->total, &t->total, &t->before);
    warp_row_sum(&t->total, &t->s, &t->total);
    warp_mul_row(&t->o, &t->o, &t->before);
    warp_copy(&t->weights, &t->s);
    warpgroup_mma_AB(&t->o, &t->weights, &a->input->v);
    warpgroup_mma_wait(0);
    if (laneid() == 0) arrive(a->inputs_finished);
}

static void consumer_finish(lcf_finish_args *a) {
    int block = a->common->block + warpgroup_groupid();
    warp_div_row(&a->state->o, &a->state->o, &a->state->total);
    warpgroup_store(a->globals->o, &a->state->o, at(a->common->batch, a->common->head, block, 0));
    if (laneid() == 0) arrive(a->finish_finished);
}

lcf_kernel(attention,
    .globals = struct globals, .input = struct input_block, .common = struct common_state,
    .consumer_state = struct consumer_state, .consumer_warps = WORKERS * 4, .input_stages = STAGES,
    .producer_arrivals = 1, .common_setup = common_setup,
    .producer = {producer_setup, producer_load},
    .consumer = {consumer_setup, consumer_compute, consumer_finish});
/* SPDX-License-Identifier: Apache-2.0 */
