/* fftconv_lcsf.tile.c: the convolution of fftconv.tile.c on the load-compute-store-finish template: a ring brings tiles of
 * sequences in, another takes them out, WORKERS warpgroups transform, and the factors stay in shared memory. A block goes
 * through channels blockIdx.x, blockIdx.x + gridDim.x, ..: all sequences of one before the next, so that a filter is loaded
 * once.
 *
 * -D N=1024, -D WORKERS=1, -D STAGES=2. */
#include "fft.tile.h"

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef STAGES
#define STAGES 2
#endif
#if WORKERS == 1
#define consumers(operation) warpgroup_##operation
#else
#define consumers(operation) group8_##operation
#endif

struct block { real_tile x[WORKERS]; };
struct scratch_block {
    factors s;
    complex_tile tmp[WORKERS];
};
struct consumer_state {
    int channel;
    sums z;
};

static int items_a_channel(struct globals *g) {
    return cdiv(g->x.batch, WORKERS * PER_TILE);
}

static void common_setup(lcsf_setup_args *a) {
    int channels = cdiv(a->globals->x.depth - blockIdx.x, gridDim.x);
    a->num_iters = a->task_iter == 0 && channels > 0 ? channels * items_a_channel(a->globals) : -1;
}

static void producer_setup(lcsf_producer_setup_args *a) {
    producer_registers();
}

static void producer_load(lcsf_load_args *a) {
    int items = items_a_channel(a->globals), channel = a->iter / items * gridDim.x + blockIdx.x;
    int batch = a->iter % items * WORKERS * PER_TILE;
    if (warpgroup_laneid() == 0) {
        tma_expect(a->inputs_arrived, a->input);
        for (int w = 0; w < WORKERS; w++)
            for (int p = 0; p < PER_TILE; p++)
                tma_load_async(PART(st_bf, &a->input->x[w], p), a->globals->x, at(batch + w * PER_TILE + p, channel, 0, 0),
                    a->inputs_arrived);
    }
}

static void producer_store(lcsf_store_args *a) {
    int items = items_a_channel(a->globals), channel = a->iter / items * gridDim.x + blockIdx.x;
    int batch = a->iter % items * WORKERS * PER_TILE;
    if (warpgroup_laneid() == 0) {
        for (int w = 0; w < WORKERS; w++)
            for (int p = 0; p < PER_TILE; p++)
                tma_store_async(a->globals->o, PART(st_bf, &a->output->x[w], p), at(batch + w * PER_TILE + p, channel, 0, 0));
        tma_store_async_read_wait();
        arrive(a->outputs_finished);
    }
}

static void load_filter(factors *s, struct globals *g, int channel) {
    consumers(sync)(2);
    for (int p = 0; p < PER_TILE; p++) consumers(load)(PART(cst_bf, &s->kf, p), g->kf, at(channel, 0, 0));
    consumers(sync)(2);
}

static void consumer_setup(lcsf_consumer_setup_args *a) {
    factors *s = &a->scratch->s;
    struct globals *g = a->globals;
    consumer_registers(WORKERS);
    if (PER_TILE > 1) {
        consumers(zero)(&s->f);
        consumers(zero)(&s->finv);
        consumers(sync)(2);
    }
    for (int p = 0; p < PER_TILE; p += DIAGONAL) {
        consumers(load)(PART(cst_bf, &s->f, p), g->f, at(0, 0));
        consumers(load)(PART(cst_bf, &s->finv, p), g->finv, at(0, 0));
    }
    for (int p = 0; p < PER_TILE; p++) {
        consumers(load)(PART(cst_bf, &s->tw, p), g->tw, at(0, 0));
        consumers(load)(PART(cst_bf, &s->twinv, p), g->twinv, at(0, 0));
    }
    a->state->channel = blockIdx.x;
    load_filter(s, g, a->state->channel);
}

static void consumer_compute(lcsf_compute_args *a) {
    int w = warpgroup_groupid(), channel = a->iter / items_a_channel(a->globals) * gridDim.x + blockIdx.x;
    if (channel != a->state->channel) {
        load_filter(&a->scratch->s, a->globals, channel);
        a->state->channel = channel;
    }
    convolve(&a->state->z, &a->scratch->s, &a->input->x[w], &a->scratch->tmp[w]);
    if (laneid() == 0) arrive(a->inputs_finished);
    warpgroup_store(&a->output->x[w], &a->state->z.real);
    warpgroup_sync(w + 4);
    if (laneid() == 0) arrive(a->outputs_arrived);
}

static void consumer_finish(lcsf_finish_args *a) {
    if (laneid() == 0) arrive(a->finish_finished);
}

lcsf_kernel(fftconv,
    .globals = struct globals, .input = struct block, .output = struct block, .scratch = struct scratch_block,
    .consumer_state = struct consumer_state, .consumer_warps = WORKERS * 4, .input_stages = STAGES,
    .output_stages = STAGES, .producer_arrivals = 1, .common_setup = common_setup,
    .producer = {producer_setup, producer_load, producer_store},
    .consumer = {consumer_setup, consumer_compute, consumer_finish});
