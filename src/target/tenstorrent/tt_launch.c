/* tt_launch.c: a plan on the model of the Tensix grid: arguments to pages, the run, pages back to
 * memory.
 *
 * Every input buffer is laid out as its TtLayout says, converted (f16 to bf16), with the fill
 * wherever the tensor ends, and one more page of fill behind it. Output buffers start with a
 * pattern that no page of numbers holds; after a run without a report, pages that were written go
 * back to the tensor, element by element, and the rest of memory stays as it was. */
#include "target/tenstorrent/tt_mapping.h"
#include "base/numeric.h"
#include "ir/element.h"
#include "target/tenstorrent/model/tensix_format.h"

#include <string.h>

static const uint8_t untouched[16] = {0x93, 0x5e, 0xd4, 0x21, 0x0f, 0xb8, 0x6c, 0xe5,
                                      0x7a, 0x19, 0xc3, 0x88, 0x52, 0xf1, 0x34, 0xad};

/* One tensor at one launch. */
typedef struct Image {
    const TtBuffer *buffer;
    uint8_t *base; /* element 0 */
    int64_t extent[MAX_RANK], stride[MAX_RANK];
    int64_t pages[MAX_RANK], total; /* along each dimension; without the page of fill */
    int64_t low, high;              /* bytes from base that the tensor spans: [low, high) */
    uint32_t page_bytes;
    uint8_t *data;
    bool *written;       /* outputs, by page */
    const int64_t *wide; /* a number of an index vector that has no place in 32 bits, or NULL */
} Image;

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

/* An extent that the kernel does not bound: as far as the memory goes. */
static const char *close_extent(const TtLaunch *l, Image *image, int open) {
    const TtValue *arg = &l->args[image->buffer->arg];
    int64_t size = elem_info[image->buffer->elem].bytes;
    __int128 rest = 0; /* strides are any numbers */
    int64_t before = (int64_t)(intptr_t)image->base - (int64_t)arg->word;
    if (arg->bytes < 0 || image->stride[open] <= 0)
        return fail(l,
                    "argument `%s`: the kernel does not say how far dimension %d goes, and neither "
                    "does the argument; mask the access",
                    image->buffer->name, open);
    for (int d = 0; d < image->buffer->layout.rank; d++)
        if (d != open && image->extent[d] > 0) rest += (__int128)(image->extent[d] - 1) * image->stride[d];
    __int128 elements = (arg->bytes - before) / size - rest;
    elements = elements <= 0 ? 0 : (elements - 1) / image->stride[open] + 1;
    image->extent[open] = elements > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)elements;
    return NULL;
}

enum { MOST_PAGES = 1 << 18 }; /* of a tensor, on the model */

static const char *place_image(const TtLaunch *l, Image *image) {
    const TtBuffer *b = image->buffer;
    const TtLayout *layout = &b->layout;
    int open = -1;
    image->base = (uint8_t *)(intptr_t)number_of(l, b->base);
    image->page_bytes = tensix_tile_bytes(b->format);
    image->total = 1;
    for (int d = 0; d < layout->rank; d++) {
        image->stride[d] = number_of(l, b->stride[d]);
        if (b->open[d] && open >= 0)
            return fail(l, "argument `%s`: the kernel bounds neither dimension %d nor %d; mask the access", b->name,
                        open, d);
        if (b->open[d])
            open = d;
        else
            image->extent[d] = number_of(l, b->extent[d]);
        if (image->extent[d] < 0) image->extent[d] = 0;
    }
    const char *problem = open >= 0 ? close_extent(l, image, open) : NULL;
    if (problem) return problem;
    bool is_empty = false, too_many = false;
    for (int d = 0; d < layout->rank; d++) is_empty |= image->extent[d] == 0;
    for (int d = 0; d < layout->rank && !too_many; d++) {
        int64_t grains = image->extent[d] / layout->grain[d] + (image->extent[d] % layout->grain[d] != 0);
        image->pages[d] =
            grains > MOST_PAGES ? 0 : grains * ((layout->grain[d] + layout->unit[d] - 1) / layout->unit[d]);
        image->total *= image->pages[d];
        too_many = grains > MOST_PAGES || image->total > MOST_PAGES;
    }
    if (is_empty && !too_many) return NULL;
    __int128 size = elem_info[b->elem].bytes, low = 0, high = size;
    for (int d = 0; d < layout->rank; d++) {
        __int128 span = (__int128)(image->extent[d] - 1) * image->stride[d] * size;
        *(span < 0 ? &low : &high) += span;
    }
    if (low < INT64_MIN / 2 || high > INT64_MAX / 2)
        return fail(l, "argument `%s`: the kernel's tensor spans more bytes than there are addresses", b->name);
    image->low = (int64_t)low;
    image->high = (int64_t)high;
    const TtValue *arg = &l->args[b->arg];
    int64_t start = (int64_t)(intptr_t)image->base - (int64_t)arg->word;
    if (arg->bytes >= 0 && (start + image->low < 0 || start + image->high > arg->bytes))
        return fail(l, "argument `%s`: the kernel's tensor spans bytes %lld to %lld of an array of %lld bytes", b->name,
                    (long long)(start + image->low), (long long)(start + image->high), (long long)arg->bytes);
    return too_many
               ? fail(l, "argument `%s`: the kernel's tensor has more than 2^18 pages, which the model does not take",
                      b->name)
               : NULL;
}

/* ------------------------------------------------------------------------------------------------- conversions */

static uint32_t page_bits(const TtBuffer *b, double number) {
    if (b->format == TT_Int32) return (uint32_t)(int32_t)number;
    return b->format == TT_Float32 ? f32_bits((float)number) : bf16_from_f64(elem_round(b->elem, number));
}

static void to_page(const TtBuffer *b, uint8_t *page, int64_t at, const uint8_t *from) {
    if (b->elem == EL_F32)
        memcpy(page + 4 * at, from, 4);
    else if (b->elem == EL_BF16)
        memcpy(page + 2 * at, from, 2);
    else {
        uint16_t half;
        memcpy(&half, from, 2);
        half = bf16_from_f32(f16_to_f32(half));
        memcpy(page + 2 * at, &half, 2);
    }
}

static void from_page(const TtBuffer *b, const uint8_t *page, int64_t at, uint8_t *to) {
    if (b->elem == EL_F32)
        memcpy(to, page + 4 * at, 4);
    else if (b->elem == EL_BF16)
        memcpy(to, page + 2 * at, 2);
    else {
        uint16_t half;
        memcpy(&half, page + 2 * at, 2);
        half = f16_from_f32(bf16_to_f32(half));
        memcpy(to, &half, 2);
    }
}

static void find_written(const TtLaunch *l, Image *image) {
    image->written = ARENA_ARRAY(l->arena, bool, image->total);
    for (int64_t page = 0; page < image->total; page++)
        for (uint32_t i = 0; i < image->page_bytes && !image->written[page]; i += sizeof untouched)
            image->written[page] = memcmp(image->data + page * image->page_bytes + i, untouched, sizeof untouched) != 0;
}

static void index_to_page(const TtLaunch *l, Image *image, uint8_t *page, int64_t at, const uint8_t *from) {
    int64_t number = elem_get_i64(image->buffer->elem, from);
    int32_t word = (int32_t)number;
    memcpy(page + 4 * at, &word, 4);
    if (word != number) image->wide = arena_copy(l->arena, &number, sizeof number);
}

/* Visits every element below dimension `dim`: `page` counts pages so far, (row, column) is the place inside one. */
static void move_elements(const TtLaunch *l, Image *image, int dim, uint8_t *at, int64_t page, int64_t row,
                          int64_t column) {
    const TtBuffer *b = image->buffer;
    const TtLayout *layout = &b->layout;
    if (dim == layout->rank) {
        uint8_t *to = image->data + page * image->page_bytes;
        int64_t place = format_index((uint32_t)row, (uint32_t)column);
        if (b->output)
            from_page(b, to, place, at);
        else if (b->format == TT_Int32)
            index_to_page(l, image, to, place, at);
        else
            to_page(b, to, place, at);
        return;
    }
    int64_t grain = layout->grain[dim], unit = layout->unit[dim], pages = (grain + unit - 1) / unit;
    int64_t step = image->stride[dim] * elem_info[b->elem].bytes;
    for (int64_t i = 0; i < image->extent[dim]; i++, at += step) {
        int64_t inner = i % grain, next = page * image->pages[dim] + i / grain * pages + inner / unit;
        int64_t r = dim == layout->row ? inner % unit : row, c = dim == layout->column ? inner % unit : column;
        if (layout->paging == PAGE_VECTOR && dim == layout->column) r = c / 32, c = c % 32;
        if (b->output && dim == layout->rank - 1 && !image->written[next]) continue;
        move_elements(l, image, dim + 1, at, next, r, c);
    }
}

static void fill_image(const TtLaunch *l, Image *image) {
    const TtBuffer *b = image->buffer;
    size_t pages = (size_t)image->total + 1, bytes = pages * image->page_bytes;
    image->data = arena_alloc(l->arena, bytes);
    if (b->output) {
        for (size_t i = 0; i < bytes; i += sizeof untouched) memcpy(image->data + i, untouched, sizeof untouched);
        return;
    }
    uint32_t fill = page_bits(b, b->fill);
    int size = b->format == TT_Float16_b ? 2 : 4;
    for (size_t i = 0; fill && i < bytes; i += (size_t)size) memcpy(image->data + i, &fill, (size_t)size);
    move_elements(l, image, 0, image->base, 0, 0, 0);
}

/* --------------------------------------------------------------------------------------------------- arguments */

static const char *make_words(const TtLaunch *l, const Image *images, const TensixBuffer *buffers, uint32_t *words) {
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
        case ARG_FILL: number = images[arg->index].total; break;
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

static const char *check_outputs(const TtLaunch *l, const Image *images) {
    for (size_t i = 0; i < l->plan->buffers.count; i++)
        for (size_t j = 0; j < i; j++) {
            const Image *a = &images[i], *b = &images[j];
            if (!a->buffer->output || !b->buffer->output) continue;
            if (a->base + a->low < b->base + b->high && b->base + b->low < a->base + a->high)
                return fail(l,
                            "arguments `%s` and `%s` overlap and both are written; on Tenstorrent "
                            "they must be apart",
                            a->buffer->name, b->buffer->name);
        }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- the run */

static void run_model(const TtLaunch *l, const TensixBuffer *buffers, const uint32_t *words, TtResult *result) {
    const TtPlan *plan = l->plan;
    static const uint32_t semaphores[TT_SEMAPHORES];
    uint64_t extents[MAX_RANK];
    for (int i = 0; i < plan->task_rank; i++) extents[i] = (uint64_t)number_of(l, plan->tasks[i]);
    TtMapping map = tt_map(plan, extents, l->cores, l->arena);
    TensixPlacement *placements = ARENA_ARRAY(l->arena, TensixPlacement, map.count);
    for (uint32_t i = 0; i < map.count; i++)
        placements[i] = (TensixPlacement){.core = i, .args = map.words[i], .arg_count = map.word_count};
    TensixKernel kernels[TT_KERNELS];
    for (int i = 0; i < TT_KERNELS; i++)
        kernels[i] = (TensixKernel){.name = tt_file_name(i),
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
                             .cores = map.cores,
                             .core_count = map.count,
                             .semaphores = semaphores,
                             .semaphore_count = plan->shares ? TT_SEMAPHORES : 0,
                             .cbs = cbs,
                             .cb_count = (uint32_t)plan->cbs.count,
                             .buffers = buffers,
                             .buffer_count = (uint32_t)plan->buffers.count,
                             .kernels = kernels,
                             .kernel_count = TT_KERNELS,
                             .steps = l->steps,
                             .seed = l->seed,
                             .counts = l->counts,
                             .cancel = l->cancel};
    result->cores = map.count;
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
    Image *images = ARENA_ARRAY(l->arena, Image, count);
    TensixBuffer *buffers = ARENA_ARRAY(l->arena, TensixBuffer, count);
    for (size_t i = 0; i < count && !result->problem; i++) {
        images[i].buffer = &plan->buffers.at[i];
        result->problem = place_image(l, &images[i]);
        if (result->problem) break;
        fill_image(l, &images[i]);
        if (images[i].wide)
            result->problem = fail(l, "argument `%s` holds %lld; on Tenstorrent numbers of rows must fit 32 bits",
                                   plan->buffers.at[i].name, (long long)*images[i].wide);
        buffers[i] = (TensixBuffer){.name = plan->buffers.at[i].name,
                                    .page_bytes = images[i].page_bytes,
                                    .pages = (uint32_t)images[i].total + 1,
                                    .data = images[i].data,
                                    .address = tensix_next_address(plan->options.arch, i ? &buffers[i - 1] : NULL)};
    }
    uint32_t *words = ARENA_ARRAY(l->arena, uint32_t, plan->args.count);
    if (!result->problem) result->problem = check_outputs(l, images);
    if (!result->problem) result->problem = make_words(l, images, buffers, words);
    result->argument = result->problem != NULL;
    if (!result->problem) run_model(l, buffers, words, result);
    for (size_t i = 0; i < count && !result->problem && !l->counts; i++)
        if (images[i].buffer->output) {
            find_written(l, &images[i]);
            move_elements(l, &images[i], 0, images[i].base, 0, 0, 0);
        }
    return !result->problem;
}
