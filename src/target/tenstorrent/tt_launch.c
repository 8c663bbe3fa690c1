/* SPDX-License-Identifier: Apache-2.0 */
/* tt_launch.c: a plan on the model of the Tensix grid: arguments to pages, the run, pages back to
 * memory.
 *
 * Every input buffer is laid out as its TtLayout says (tilewright_launch.h), converted (f16 to bf16),
 * with the fill wherever the tensor ends. Output buffers start
 * with a pattern that no page of numbers holds; after a run without a report, pages that were written
 * go back to the tensor, element by element, and the rest of memory stays as it was. */
#include "target/tenstorrent/tt.h"
#include "base/numeric.h"
#include "ir/element.h"

#include <string.h>

static const char *fail(const TtLaunch *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *fail(const TtLaunch *l, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(l->arena, format, args);
    va_end(args);
    return text;
}

/* ------------------------------------------------------------------------------------------------------ places */

static int64_t number_of(const TtLaunch *l, int index) {
    const TtNumber *number = &l->plan->numbers.at[index];
    const TtValue *arg = &l->args[number->arg];
    switch (number->kind) {
    case NUMBER_ADDRESS: return (int64_t)arg->word;
    case NUMBER_EXTENT: return arg->extent[number->dim];
    case NUMBER_STRIDE: return arg->stride[number->dim];
    case NUMBER_VALUE: break;
    }
    return l->values[index];
}

static const char *place_image(const TtLaunch *l, const TtBuffer *b, TwImage *image) {
    char text[320];
    const TtValue *arg = &l->args[b->arg];
    *image = (TwImage){.name = b->name,
                       .layout = b->layout,
                       .output = b->output,
                       .element_bytes = (uint32_t)elem_info[b->elem].bytes,
                       .page_bytes = tt_page_bytes(b),
                       .memory = (uint8_t *)(intptr_t)arg->word,
                       .memory_bytes = arg->bytes,
                       .base = (uint8_t *)(intptr_t)number_of(l, b->base)};
    for (int d = 0; d < b->layout.rank; d++) {
        image->open[d] = b->open[d];
        image->stride[d] = number_of(l, b->stride[d]);
        if (!b->open[d]) image->extent[d] = number_of(l, b->extent[d]);
    }
    return tw_place_image(image, text) ? NULL : fail(l, "%s", text);
}

/* ------------------------------------------------------------------------------------------------- conversions */

uint32_t tt_fill_bits(const TtBuffer *b) {
    if (b->format == TT_Int32) return (uint32_t)(int32_t)b->fill;
    return b->format == TT_Float32 ? f32_bits((float)b->fill) : bf16_from_f64(elem_round(b->elem, b->fill));
}

/* Between the page of a buffer and the caller's memory. */
typedef struct Moving {
    const TtBuffer *buffer;
    int64_t wide; /* a number of an index vector that has no place in 32 bits */
    bool is_wide;
} Moving;

static void to_page(void *context, uint8_t *page, uint32_t place, uint8_t *from) {
    Moving *moving = context;
    const TtBuffer *b = moving->buffer;
    if (b->format == TT_Int32) {
        int64_t number = elem_get_i64(b->elem, from);
        int32_t word = (int32_t)number;
        memcpy(page + 4 * place, &word, 4);
        if (word != number) moving->wide = number, moving->is_wide = true;
    } else if (b->elem == EL_F32)
        memcpy(page + 4 * place, from, 4);
    else if (b->elem == EL_BF16)
        memcpy(page + 2 * place, from, 2);
    else {
        uint16_t half;
        memcpy(&half, from, 2);
        half = bf16_from_f32(f16_to_f32(half));
        memcpy(page + 2 * place, &half, 2);
    }
}

static void from_page(void *context, uint8_t *page, uint32_t place, uint8_t *to) {
    const TtBuffer *b = ((Moving *)context)->buffer;
    if (b->elem == EL_F32)
        memcpy(to, page + 4 * place, 4);
    else if (b->elem == EL_BF16)
        memcpy(to, page + 2 * place, 2);
    else {
        uint16_t half;
        memcpy(&half, page + 2 * place, 2);
        half = f16_from_f32(bf16_to_f32(half));
        memcpy(to, &half, 2);
    }
}

static const char *fill_image(const TtLaunch *l, const TtBuffer *b, TwImage *image) {
    image->data = arena_alloc(l->arena, tw_image_bytes(image));
    if (b->layout.paging == PAGE_PLAIN) {
        tw_plain_in(image);
        return NULL;
    }
    if (b->output) {
        tw_mark_untouched(image);
        return NULL;
    }
    Moving moving = {.buffer = b};
    uint32_t fill = tt_fill_bits(b);
    if (fill) tw_fill_image(image, fill, b->format == TT_Float16_b ? 2 : 4);
    tw_move_elements(image, to_page, &moving);
    if (!moving.is_wide) return NULL;
    return fail(l, "argument `%s` holds %lld; on Tenstorrent numbers of rows must fit 32 bits", b->name,
                (long long)moving.wide);
}

static void read_back(const TtLaunch *l, const TtBuffer *b, TwImage *image) {
    if (b->layout.paging == PAGE_PLAIN) {
        tw_plain_out(image);
        return;
    }
    image->written = ARENA_ARRAY(l->arena, bool, image->total);
    tw_find_written(image);
    tw_move_elements(image, from_page, &(Moving){.buffer = b});
}

/* --------------------------------------------------------------------------------------------------- arguments */

static const char *make_words(const TtLaunch *l, const TwImage *images, const TensixBuffer *buffers, uint32_t *words) {
    for (size_t i = 0; i < l->plan->args.count; i++) {
        const TtArg *arg = &l->plan->args.at[i];
        const TtValue *value = arg->kind <= ARG_STRIDE ? &l->args[arg->index] : NULL;
        int64_t number = 0;
        switch (arg->kind) {
        case ARG_SCALAR:
            number = elem_is_float(arg->elem) ? (int64_t)f32_bits((float)elem_get_f64(arg->elem, &value->word))
                                              : elem_get_i64(arg->elem, &value->word);
            break;
        case ARG_EXTENT: number = value->extent[arg->dim]; break;
        case ARG_STRIDE: number = value->stride[arg->dim]; break;
        case ARG_GRID: number = l->grid[arg->index]; break;
        case ARG_ADDRESS: number = buffers[arg->index].address; break;
        case ARG_PAGES: number = images[arg->index].pages[arg->dim]; break;
        }
        bool is_signed = arg->kind == ARG_SCALAR ? elem_is_signed(arg->elem) : arg->kind <= ARG_GRID;
        bool fits = number >= INT32_MIN && number <= (is_signed ? INT32_MAX : UINT32_MAX);
        if (!fits)
            return fail(l, "argument `%s` is %lld; on Tenstorrent numbers must fit 32 bits", arg->name,
                        (long long)number);
        words[i] = (uint32_t)number;
    }
    return NULL;
}

static const char *check_outputs(const TtLaunch *l, const TwImage *images) {
    for (size_t i = 0; i < l->plan->buffers.count; i++)
        for (size_t j = 0; j < i; j++)
            if (images[i].output && images[j].output && tw_overlap(&images[i], &images[j]))
                return fail(l,
                            "arguments `%s` and `%s` overlap and both are written; on Tenstorrent "
                            "they must be apart",
                            images[i].name, images[j].name);
    return NULL;
}

/* Buffers in DRAM one behind the other; those in L1 at its end, which circular buffers must leave. */
static const char *place_buffers(const TtLaunch *l, TensixBuffer *buffers) {
    const TtPlan *plan = l->plan;
    const TensixLimits *limits = tensix_limits(plan->options.arch);
    const TensixBuffer *last = NULL;
    int64_t taken = limits->l1_reserved, low = limits->l1_bytes;
    for (size_t i = 0; i < plan->cbs.count; i++)
        taken += ((int64_t)plan->cbs.at[i].desc.pages * plan->cbs.at[i].desc.page_bytes + 63) / 64 * 64;
    for (size_t i = 0; i < plan->buffers.count; i++) {
        buffers[i].in_l1 = plan->buffers.at[i].in_l1;
        if (!buffers[i].in_l1) {
            buffers[i].address = tensix_next_address(plan->options.arch, last);
            last = &buffers[i];
            continue;
        }
        uint32_t share = tensix_l1_share(plan->options.arch, buffers[i].pages, buffers[i].page_bytes);
        low -= share;
        if (low < taken)
            return fail(l, "argument `%s` takes %u bytes of each core's L1, and the circular buffers and other tensors "
                           "leave %lld" FIX "leave it in DRAM",
                        plan->buffers.at[i].name, share, (long long)(low + share - taken));
        buffers[i].address = (uint32_t)low;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- the run */

static TwPoint noc_point(const void *device, TwPoint core) {
    TensixPoint at = tensix_noc_point(((const TtPlan *)device)->options.arch, (TensixPoint){core.x, core.y});
    return (TwPoint){at.x, at.y};
}

TwGrid tt_grid(const TtPlan *plan) {
    const TensixLimits *limits = tensix_limits(plan->options.arch);
    const TtOptions *o = &plan->options;
    TwPoint all = {limits->grid_x, limits->grid_y};
    return (TwGrid){.policy = o->policy,
                    .block = o->block,
                    .shares = plan->shares,
                    .turns = plan->turns,
                    .first = o->first,
                    .size = o->size.x ? o->size : all,
                    .most = o->cores};
}

TwMapping tt_map(const TtPlan *plan, const uint64_t *extents, uint32_t most, Arena *arena) {
    const TensixLimits *limits = tensix_limits(plan->options.arch);
    TwGrid grid = tt_grid(plan);
    if (most) grid.most = most;
    grid.noc = noc_point;
    grid.device = plan;
    uint32_t all = limits->grid_x * limits->grid_y;
    TwMapping map = {.cores = ARENA_ARRAY(arena, TwPoint, all)};
    map.words = arena_alloc_array(arena, all, sizeof *map.words);
    tw_map(&grid, extents, plan->task_rank, &map);
    return map;
}

static void run_model(const TtLaunch *l, const TensixBuffer *buffers, const uint32_t *words, TtResult *result) {
    const TtPlan *plan = l->plan;
    static const uint32_t semaphores[TW_SEMAPHORES];
    uint64_t extents[MAX_RANK];
    for (int i = 0; i < plan->task_rank; i++) extents[i] = (uint64_t)number_of(l, plan->tasks[i]);
    TwMapping map = tt_map(plan, extents, l->cores, l->arena);
    TensixPlacement *placements = ARENA_ARRAY(l->arena, TensixPlacement, map.count);
    TensixPoint *cores = ARENA_ARRAY(l->arena, TensixPoint, map.count);
    for (uint32_t i = 0; i < map.count; i++) {
        cores[i] = (TensixPoint){map.cores[i].x, map.cores[i].y};
        placements[i] = (TensixPlacement){.core = i, .args = map.words[i], .arg_count = plan->word_count};
    }
    TensixCoreReport *core_reports = ARENA_ARRAY(l->arena, TensixCoreReport, map.count);
    TensixCbReport *cb_reports = ARENA_ARRAY(l->arena, TensixCbReport, plan->cbs.count);
    TensixKernel kernels[TT_KERNELS];
    for (int i = 0; i < TT_KERNELS; i++)
        kernels[i] = (TensixKernel){.name = plan->file[i],
                                    .processor = (TensixProcessor)i,
                                    .entry = l->entry[i],
                                    .placements = placements,
                                    .placement_count = map.count,
                                    .common_args = words,
                                    .common_arg_count = (uint32_t)plan->args.count};
    TensixCb *cbs = ARENA_ARRAY(l->arena, TensixCb, plan->cbs.count);
    for (size_t i = 0; i < plan->cbs.count; i++) cbs[i] = plan->cbs.at[i].desc;
    TensixProgram program = {.arch = plan->options.arch,
                             .dst_fp32 = true,
                             .dst_full_sync = plan->full_sync,
                             .fidelity = plan->options.fidelity,
                             .cores = cores,
                             .core_count = map.count,
                             .semaphores = semaphores,
                             .semaphore_count = plan->shares || plan->turns ? TW_SEMAPHORES : 0,
                             .cbs = cbs,
                             .cb_count = (uint32_t)plan->cbs.count,
                             .buffers = buffers,
                             .buffer_count = (uint32_t)plan->buffers.count,
                             .kernels = kernels,
                             .kernel_count = TT_KERNELS,
                             .steps = l->steps,
                             .seed = l->seed,
                             .counts = l->counts,
                             .cancel = l->cancel,
                             .core_reports = core_reports,
                             .cb_reports = cb_reports};
    result->cores = map.count;
    result->map = map;
    result->cores_ran = core_reports;
    result->cbs = cb_reports;
    if (!tensix_run(&program, l->arena->allocator, &result->report)) result->problem = result->report.text;
}

bool tt_launch(const TtLaunch *l, TtResult *result) {
    const TtPlan *plan = l->plan;
    size_t count = plan->buffers.count;
    *result = (TtResult){.tasks = 1};
    for (int i = 0; i < plan->task_rank; i++) {
        int64_t extent = number_of(l, plan->tasks[i]);
        result->tasks *= extent > 0 ? (uint64_t)extent : 0;
        if (result->tasks > UINT32_MAX) result->problem = fail(l, "the grid has more than 2^32 programs");
    }
    result->argument = result->problem != NULL;
    if (result->problem || !result->tasks) return !result->problem;
    TwImage *images = ARENA_ARRAY(l->arena, TwImage, count);
    TensixBuffer *buffers = ARENA_ARRAY(l->arena, TensixBuffer, count);
    for (size_t i = 0; i < count && !result->problem; i++) {
        result->problem = place_image(l, &plan->buffers.at[i], &images[i]);
        if (!result->problem) result->problem = fill_image(l, &plan->buffers.at[i], &images[i]);
        if (result->problem) break;
        buffers[i] = (TensixBuffer){.name = plan->buffers.at[i].name,
                                    .page_bytes = images[i].page_bytes,
                                    .pages = (uint32_t)images[i].total + (images[i].total == 0),
                                    .data = images[i].data};
    }
    if (!result->problem) result->problem = place_buffers(l, buffers);
    uint32_t *words = ARENA_ARRAY(l->arena, uint32_t, plan->args.count);
    if (!result->problem) result->problem = check_outputs(l, images);
    if (!result->problem) result->problem = make_words(l, images, buffers, words);
    result->argument = result->problem != NULL;
    if (!result->problem) run_model(l, buffers, words, result);
    for (size_t i = 0; i < count && !result->problem && !l->counts; i++)
        if (images[i].output) read_back(l, &plan->buffers.at[i], &images[i]);
    return !result->problem;
}
