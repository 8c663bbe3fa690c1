/* fftconv_lcsf.tile.c: the convolution of fftconv.tile.c on the load-compute-store-finish template: a ring brings tiles of
 * sequences in, another takes them out, WORKERS warpgroups transform. A task is a channel (of N = 1024, two): its filter and the
 * factors lie in shared memory, its items are the tiles of its sequences.
 *
 * -D N=1024, -D WORKERS=1, -D STAGES=2, -D BLOCKS=2 (on a multiprocessor). */
#include "fft.tile.h"

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef STAGES
#define STAGES 2
#endif
#ifndef BLOCKS
#define BLOCKS 1
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
struct common_state { int channel; };
struct consumer_state { sums z; };

static void common_setup(lcsf_setup_args *a) {
    a->common->channel = a->task_iter * gridDim.x + blockIdx.x;
    a->num_iters = a->common->channel < cdiv(a->globals->x.rows, 64) ? cdiv(a->globals->x.batch, WORKERS) : -1;
}

static void producer_setup(lcsf_producer_setup_args *a) {
    producer_registers();
}

static void producer_load(lcsf_load_args *a) {
    if (warpgroup_laneid() == 0) {
        tma_expect(a->inputs_arrived, a->input);
        for (int w = 0; w < WORKERS; w++)
            tma_load_async(&a->input->x[w], a->globals->x, at(a->iter * WORKERS + w, 0, a->common->channel, 0),
                a->inputs_arrived);
    }
}

static void producer_store(lcsf_store_args *a) {
    if (warpgroup_laneid() == 0) {
        for (int w = 0; w < WORKERS; w++)
            tma_store_async(a->globals->o, &a->output->x[w], at(a->iter * WORKERS + w, 0, a->common->channel, 0));
        tma_store_async_read_wait();
        arrive(a->outputs_finished);
    }
}

static void consumer_setup(lcsf_consumer_setup_args *a) {
    factors *s = &a->scratch->s;
    struct globals *g = a->globals;
    consumer_registers(WORKERS);
    consumers(sync)(2); /* nobody reads those of the task before */
    consumers(load)(&s->left, g->f, at(0, 0));
#if N == 1024
    consumers(load)(&s->right, g->f, at(0, 0));
#endif
    consumers(load)(&s->tw, g->tw, at(0, 0));
    consumers(load)(&s->kf, g->kf, at(a->common->channel, 0));
    consumers(sync)(2);
}

static void consumer_compute(lcsf_compute_args *a) {
    int w = warpgroup_groupid();
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
    .common = struct common_state, .consumer_state = struct consumer_state, .consumer_warps = WORKERS * 4,
    .input_stages = STAGES, .output_stages = STAGES, .blocks_per_sm = BLOCKS, .producer_arrivals = 1, .common_setup = common_setup,
    .producer = {producer_setup, producer_load, producer_store},
    .consumer = {consumer_setup, consumer_compute, consumer_finish});
/* SPDX-License-Identifier: Apache-2.0 */
