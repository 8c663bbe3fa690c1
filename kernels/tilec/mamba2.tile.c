/* mamba2.tile.c: the state-space duality of Mamba-2:
 *
 *     o[i] = sum over j <= i of exp(a[j + 1] + .. + a[i]) (q[i] . k[j]) v[j]
 *
 * q and k (C and B of the paper) are [batch, 1, n, STATE], one for all heads; v and o [batch, heads, n, 64], a (the logarithm
 * of each step's decay, dt A; v is dt x) [batch, heads, 1, n]. Any n, any number of heads. Three kernels:
 *
 *   sums    c, as large as a: the running sums of a inside each chunk of 64 positions, times log2 e, for exp2
 *   mamba2  o, on the load-compute-store-finish template. A task is WORKERS heads of a batch; its items are chunks, whose q
 *           and k all heads share. Each warpgroup keeps the state of its head, transposed, [64, STATE], in registers: inside
 *           a chunk it is attention with decays for weights, across chunks the state brings what came before.
 *   states  where heads are too few for a GPU: -D SEGMENTS=4 cuts a sequence into four tasks. The states that all segments
 *           but the last end with, each from zero, states [batch, heads, SEGMENTS * 64, STATE], and by how much each fades
 *           what was there before, fades [batch, heads, 1, SEGMENTS]; mamba2 takes both.
 *
 *     tilewright run mamba2.tile.c:mamba2 --arg g.q=randn:bf16[1,1,200,64] --arg g.k=randn:bf16[1,1,200,64] \
 *         --arg g.v=randn:bf16[1,4,200,64] --arg g.c=zeros:f32[1,4,1,200] --arg g.o=zeros:bf16[1,4,200,64]
 *
 * -D STATE=128, -D WORKERS=1, -D STAGES=2, -D BLOCKS=2 (on a multiprocessor). */
#include "tile.h"

#ifndef STATE
#define STATE 64
#endif
#ifndef WORKERS
#define WORKERS 1
#endif
#ifndef STAGES
#define STAGES 2
#endif
#ifndef BLOCKS
#define BLOCKS 1
#endif
#ifndef SEGMENTS
#define SEGMENTS 1
#endif
enum { CHUNK = 64, WIDTH = 64, CHUNKS_A_WARP = 8 };

typedef st_bf(CHUNK, STATE) tile;
typedef st_bf(CHUNK, WIDTH) v_tile;
typedef sv_fl(CHUNK) decays;
typedef rt_fl(16, CHUNK) weights; /* 16 rows a warp, 64 in all */
typedef rt_fl(16, WIDTH) sums_tile;
typedef rt_fl(16, STATE) state_tile;

struct sums_globals { gl(float, -1, -1, 1, -1) a, c; };

tile_kernel(WARP_THREADS, 1) tile_grid(cdiv(g.a.cols, CHUNK * CHUNKS_A_WARP), g.a.depth, g.a.batch)
void sums(struct sums_globals g) {
    rv_fl(CHUNK) c;
    for (int i = 0; i < CHUNKS_A_WARP; i++) {
        load(&c, g.a, at(blockIdx.z, blockIdx.y, 0, blockIdx.x * CHUNKS_A_WARP + i));
        cumsum(&c, &c);
        mul(&c, &c, 1.44269504f);
        store(g.c, &c, at(blockIdx.z, blockIdx.y, 0, blockIdx.x * CHUNKS_A_WARP + i));
    }
}

/* The chunks of a segment; where there are fewer chunks than segments, the last ones have none. */
static int chunks_of(int rows, int segment) {
    int chunks = cdiv(rows, CHUNK), each = cdiv(chunks, SEGMENTS);
    return max(min(each, chunks - segment * each), 0);
}

static int first_of(int rows, int segment) {
    return segment * cdiv(cdiv(rows, CHUNK), SEGMENTS);
}

/* The last position of a chunk. */
static int end_of(int rows, int chunk) {
    return min((chunk + 1) * CHUNK, rows) - 1;
}

/* --- the states of segments --- */
#if SEGMENTS > 1
struct states_globals {
    gl(bf16, -1, 1, -1, STATE, tile) k;
    gl(bf16, -1, -1, -1, WIDTH, v_tile) v;
    gl(float, -1, -1, 1, -1, decays) c;
    gl(float, -1, -1, SEGMENTS * WIDTH, STATE) states;
    gl(float, -1, -1, 1, SEGMENTS) fades;
};

tile_kernel(WARPGROUP_THREADS, 2) tile_grid(SEGMENTS - 1, g.v.depth, g.v.batch)
void states(struct states_globals g) {
    int segment = blockIdx.x, head = blockIdx.y, batch = blockIdx.z, rows = g.v.rows;
    int first = first_of(rows, segment), count = chunks_of(rows, segment);
    tile k;
    v_tile v;
    state_tile state;
    sums_tile x;
    col_vec(sums_tile) left;
    float fade = 0, total;
    warp_zero(&state);
    for (int i = 0; i < count; i++) {
        int chunk = first + i;
        warpgroup_load(&k, g.k, at(batch, 0, chunk, 0));
        warpgroup_load(&x, g.v, at(batch, head, chunk, 0));
        warpgroup_load(&left, g.c, at(batch, head, 0, chunk));
        load(&total, g.c, at(batch, head, 0, end_of(rows, chunk)));
        warp_mul(&left, &left, -1.0f);
        warp_add(&left, &left, total);
        warp_exp2(&left, &left);
        warp_mul_row(&x, &x, &left);
        warpgroup_store(&v, &x);
        warp_mul(&state, &state, exp2f(total));
        fade += total;
        warpgroup_sync(1);
        warpgroup_mma_AtB(&state, &v, &k);
        warpgroup_mma_wait(0);
        warpgroup_sync(1);
    }
    warpgroup_store(g.states, &state, at(batch, head, segment, 0));
    store(g.fades, exp2f(fade), at(batch, head, 0, segment));
}
#endif

/* --- the outputs --- */
struct globals {
    gl(bf16, -1, 1, -1, STATE, tile) q, k;
    gl(bf16, -1, -1, -1, WIDTH, v_tile) v;
    gl(float, -1, -1, 1, -1, decays) c;
#if SEGMENTS > 1
    gl(float, -1, -1, SEGMENTS * WIDTH, STATE) states;
    gl(float, -1, -1, 1, SEGMENTS) fades;
#endif
    gl(bf16, -1, -1, -1, WIDTH, v_tile) o;
};
struct input_block {
    tile q, k;
    v_tile v[WORKERS];
    decays c[WORKERS];
};
struct output_block { v_tile o[WORKERS]; };
struct scratch_block {
    st_bf(WIDTH, STATE) state[WORKERS];
    v_tile v[WORKERS];
};
struct common_state { int batch, head, segment, first; };
struct consumer_state { state_tile state; };

static void common_setup(lcsf_setup_args *a) {
    int groups = cdiv(a->globals->v.depth, WORKERS), task = a->task_iter * gridDim.x + blockIdx.x;
    a->common->batch = task / groups / SEGMENTS;
    a->common->segment = task / groups % SEGMENTS;
    a->common->head = task % groups * WORKERS;
    a->common->first = first_of(a->globals->v.rows, a->common->segment);
    a->num_iters = task < groups * SEGMENTS * a->globals->v.batch ? chunks_of(a->globals->v.rows, a->common->segment) : -1;
}

static void producer_setup(lcsf_producer_setup_args *a) {
    producer_registers();
}

static void producer_load(lcsf_load_args *a) {
    int batch = a->common->batch, chunk = a->common->first + a->iter;
    if (warpgroup_laneid() == 0) {
        tma_expect(a->inputs_arrived, a->input);
        tma_load_async(&a->input->q, a->globals->q, at(batch, 0, chunk, 0), a->inputs_arrived);
        tma_load_async(&a->input->k, a->globals->k, at(batch, 0, chunk, 0), a->inputs_arrived);
        for (int w = 0; w < WORKERS; w++) {
            tma_load_async(&a->input->v[w], a->globals->v, at(batch, a->common->head + w, chunk, 0), a->inputs_arrived);
            tma_load_async(&a->input->c[w], a->globals->c, at(batch, a->common->head + w, 0, chunk), a->inputs_arrived);
        }
    }
}

static void producer_store(lcsf_store_args *a) {
    if (warpgroup_laneid() == 0) {
        for (int w = 0; w < WORKERS; w++)
            tma_store_async(a->globals->o, &a->output->o[w],
                at(a->common->batch, a->common->head + w, a->common->first + a->iter, 0));
        tma_store_async_read_wait();
        arrive(a->outputs_finished);
    }
}

static void consumer_setup(lcsf_consumer_setup_args *a) {
    consumer_registers(WORKERS);
    warp_zero(&a->state->state);
#if SEGMENTS > 1
    int head = a->common->head + warpgroup_groupid();
    for (int s = 0; s < SEGMENTS - 1; s++) {
        if (s < a->common->segment) {
            state_tile before;
            float fade;
            load(&fade, a->globals->fades, at(a->common->batch, head, 0, s));
            warpgroup_load(&before, a->globals->states, at(a->common->batch, head, s, 0));
            warp_mul(&a->state->state, &a->state->state, fade);
            warp_add(&a->state->state, &a->state->state, &before);
        }
    }
#endif
}

static void consumer_compute(lcsf_compute_args *a) {
    int w = warpgroup_groupid(), head = a->common->head + w;
    weights fade, scores;
    sums_tile o, x;
    rt_bf(16, CHUNK) p_bf;
    row_vec(weights) along; /* the decays up to there, one value a column; then one a row */
    col_vec(weights) down, left;
    float total;

    warpgroup_load(&along, &a->input->c[w]);
    warpgroup_load(&down, &a->input->c[w]);
    load(&total, a->globals->c, at(a->common->batch, head, 0, end_of(a->globals->v.rows, a->common->first + a->iter)));
    warpgroup_mm_ABt(&scores, &a->input->q, &a->input->k);
    warpgroup_store(&a->scratch->state[w], &a->state->state);
    warp_broadcast_row(&fade, &down); /* what is left of j in i, 0 behind i */
    warpgroup_sub_col(&fade, &fade, &along);
    warpgroup_tril(&fade, &fade, 0, -INFINITY);
    warp_exp2(&fade, &fade);

    warp_mul(&left, &down, -1.0f); /* k[j] v[j] as they are at the chunk's end */
    warp_add(&left, &left, total);
    warp_exp2(&left, &left);
    warpgroup_load(&x, &a->input->v[w]);
    warp_mul_row(&x, &x, &left);
    warpgroup_store(&a->scratch->v[w], &x);
    warpgroup_sync(w + 4);
    warpgroup_mma_wait(0);

    warpgroup_mm_ABt(&o, &a->input->q, &a->scratch->state[w]); /* what the state gives, decayed from the chunk's beginning */
    warp_mul(&scores, &scores, &fade);
    warp_copy(&p_bf, &scores);
    warp_exp2(&down, &down);
    warpgroup_mma_wait(0);
    warp_mul_row(&o, &o, &down);
    warpgroup_mma_AB(&o, &p_bf, &a->input->v[w]);
    warp_mul(&a->state->state, &a->state->state, exp2f(total));
    warpgroup_mma_AtB(&a->state->state, &a->scratch->v[w], &a->input->k);
    warpgroup_mma_wait(0);
    warpgroup_store(&a->output->o[w], &o);
    warpgroup_sync(w + 4);
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
