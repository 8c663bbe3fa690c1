/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c: from arguments to words, from words to the target.
 *
 * Everything that can be known before a launch is prepared once: which argument feeds which
 * parameter, where its words lie, how the kernel's own grid is computed, what the compiled code
 * requires of its arguments. So a launch is a walk over small arrays; it allocates nothing and
 * touches no text, unless it has something to complain about. */
#include "analysis/facts.h"
#include "ir/element.h"
#include "runtime/compile/scalars.h"
#include "runtime/launch/frame.h"
#include "runtime/launch/queue.h"
#include "runtime/target/target.h"

#include <string.h>

/* --- prepare --- */

static int words_of(const Type *type) { return type->kind == TY_TENSOR ? 1 + 2 * type->rank : 1; }

static tw_status prepare_params(tw_kernel *k, const FrontKernel *source) {
    Region *body = k->ir->body;
    k->source_count = source->param_count;
    k->source_names = ARENA_ARRAY(&k->arena, const char *, source->param_count);
    for (int i = 0; i < source->param_count; i++) k->source_names[i] = source->params[i].name;
    k->param_count = body->arg_count;
    k->params = ARENA_ARRAY(&k->arena, RunParam, body->arg_count);
    for (int i = 0; i < body->arg_count; i++) {
        const Value *value = ir_value(k->ir, body->args[i]);
        RunParam *param = &k->params[i];
        *param = (RunParam){.name = value->name, .source = -1, .space = -1, .type = value->type, .slot = k->slot_count};
        for (int s = 0; s < source->param_count; s++)
            if (value->name && strcmp(source->params[s].name, value->name) == 0) param->source = s;
        for (size_t s = 0; s < k->sequence.spaces.count; s++)
            if (value->name && strcmp(k->sequence.spaces.at[s].name, value->name) == 0) param->space = (int)s;
        if (param->source < 0 && param->space < 0)
            ice(&k->context->trap, "parameter %%%s of the IR is none of the source's", value->name ? value->name : "");
        if (param->source >= 0 && k->shapes[param->source].stated) param->stated = &k->shapes[param->source];
        k->slot_count += words_of(value->type);
    }
    return TW_OK;
}

size_t frame_words(const tw_kernel *k) {
    size_t registers = k->grid ? (size_t)k->grid->count : 0, values = 0;
    if (k->requirements) values = (size_t)k->requirements->operand_count;
    if (k->requirements && k->requirements->program && (size_t)k->requirements->program->count > registers)
        registers = (size_t)k->requirements->program->count;
    size_t spans = (size_t)k->param_count * (sizeof(MemorySpan) / sizeof(uint64_t));
    return (size_t)k->slot_count + (size_t)k->param_count + registers + values + spans;
}

Frame frame_in(const tw_kernel *k, uint64_t *words) {
    Frame f = {.slots = words};
    f.buffers = (tw_buffer **)(void *)(f.slots + k->slot_count);
    f.spans = (MemorySpan *)(void *)(f.buffers + k->param_count);
    f.values = (int64_t *)(void *)(f.spans + k->param_count);
    f.registers = f.values + (k->requirements ? k->requirements->operand_count : 0);
    return f;
}

static int find_parameter(const tw_kernel *k, Ref ref) {
    for (int i = 0; i < k->ir->body->arg_count; i++)
        if (k->ir->body->args[i] == ref) return i;
    return -1;
}

typedef struct Gather {
    tw_kernel *k;
    VEC(Requirement) found;
    VEC(Ref) operands;
} Gather;

static void gather_requirement(Op *op, void *user) {
    static const AttrId kinds[] = {AT_ALIGN, AT_MULT, AT_EQ, AT_LEAST, AT_DISJOINT};
    Gather *g = user;
    if (op->code != OP_REQUIRE) return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!op_attr(op, kinds[i])) continue;
        Requirement r = {.kind = kinds[i], .number = op_int(op, kinds[i], 0), .first = (int)g->operands.count};
        r.count = op->operand_count;
        int *parameters = ARENA_ARRAY(&g->k->arena, int, op->operand_count);
        for (int a = 0; a < op->operand_count; a++) {
            parameters[a] = find_parameter(g->k, op->operands[a]);
            if (r.kind == AT_DISJOINT && parameters[a] < 0) g->k->never = true;
            r.made_of |= fact_parameters(g->k->ir, op->operands[a]);
            *VEC_PUSH(&g->operands, &g->k->arena) = op->operands[a];
        }
        r.parameters = parameters;
        *VEC_PUSH(&g->found, &g->k->arena) = r;
    }
}

static void prepare_requirements(tw_kernel *k) {
    Gather g = {.k = k};
    ir_walk(k->ir->body, gather_requirement, &g);
    if (!g.found.count) return;
    const char *why = NULL;
    Requirements *all = ARENA_NEW(&k->arena, Requirements);
    all->count = (int)g.found.count;
    all->at = g.found.at;
    all->operand_count = (int)g.operands.count;
    all->spanned = ARENA_ARRAY(&k->arena, bool, k->param_count);
    for (int i = 0; i < all->count; i++)
        for (int a = 0; all->at[i].kind == AT_DISJOINT && a < all->at[i].count; a++)
            if (all->at[i].parameters[a] >= 0) all->spanned[all->at[i].parameters[a]] = true;
    all->program =
        scalars_compile(k->ir, g.operands.at, (int)g.operands.count, k->params, k->param_count, &k->arena, &why);
    if (!all->program) k->never = true;
    k->requirements = all;
}

tw_status kernel_prepare_launch(tw_kernel *k, const FrontKernel *source) {
    tw_status status = prepare_params(k, source);
    if (status != TW_OK) return status;
    if (k->ir->grid) {
        const Op *yield = k->ir->grid->last;
        const char *why = NULL;
        k->grid_rank = yield->operand_count;
        k->own_grid = kernel_int(k->ir, AT_OWN_GRID, 0);
        k->grid =
            scalars_compile(k->ir, yield->operands, yield->operand_count, k->params, k->param_count, &k->arena, &why);
        if (!k->grid)
            return context_fail(k->context, TW_ERROR_UNSUPPORTED,
                                "the grid of kernel `%s` needs %s; it must be computed "
                                "from integers and extents",
                                k->name, why);
    }
    prepare_requirements(k);
    k->frame_words = frame_words(k);
    Frame own = frame_in(k, ARENA_ARRAY(&k->arena, uint64_t, k->frame_words));
    k->slots = own.slots;
    k->buffers = own.buffers;
    return TW_OK;
}

/* --- bind --- */

static tw_status wrong(const tw_kernel *k, const RunParam *param, const char *rule) {
    return context_fail(k->context, TW_ERROR_ARGUMENT, "argument `%s` of kernel `%s` %s", param->name, k->name, rule);
}

tw_status frame_bind_number(const tw_kernel *k, const Frame *f, const RunParam *param, const tw_arg *arg) {
    Elem elem = param->type->elem;
    uint64_t *word = &f->slots[param->slot];
    *word = 0;
    bool number = arg->kind == TW_ARG_INT || arg->kind == TW_ARG_BOOL;
    if (elem_is_float(elem)) {
        if (!number && arg->kind != TW_ARG_FLOAT) return wrong(k, param, "must be a number");
        elem_put_f64(elem, word, arg->kind == TW_ARG_FLOAT ? arg->value.f : (double)arg->value.i);
        return TW_OK;
    }
    if (!number) return wrong(k, param, arg->kind == TW_ARG_FLOAT ? "must be an integer" : "must be a number");
    if (elem == EL_I1) {
        *word = arg->value.i != 0;
        return TW_OK;
    }
    bool fits = elem_wrap(elem, arg->value.i) == arg->value.i;
    if (!fits)
        return context_refuse(k->context, TW_ERROR_ARGUMENT, "argument-range", 0, 0,
                              "argument `%s` of kernel `%s`: %lld does not fit %s", param->name, k->name,
                              (long long)arg->value.i, elem_info[elem].text);
    elem_put_i64(elem, word, arg->value.i);
    return TW_OK;
}

static void show_stated(Elem elem, const FrontShape *shape, Text *t) {
    text_add(t, "%s[", elem_info[elem].text);
    for (int d = 0; d < shape->rank; d++) {
        text_add(t, d ? ", " : "");
        text_add(t, shape->extent[d] < 0 ? "any" : "%lld", (long long)shape->extent[d]);
    }
    text_add(t, "]");
}

static tw_status wrong_shape(const tw_kernel *k, const RunParam *param, const tw_buffer *b) {
    FrontShape any = {.rank = param->type->rank};
    const FrontShape *stated = param->stated ? param->stated : &any;
    for (int d = 0; d < any.rank; d++) any.extent[d] = -1;
    Text got = text_new(context_texts(k->context)), want = text_new(context_texts(k->context));
    buffer_show(b, &got);
    show_stated(param->type->elem, stated, &want);
    return context_fail(k->context, TW_ERROR_ARGUMENT, "argument `%s`: kernel `%s` declares %s, the array given is %s",
                        param->name, k->name, want.at, got.at);
}

static tw_status wrong_strides(const tw_kernel *k, const RunParam *param, const tw_buffer *b) {
    Text got = text_new(context_texts(k->context));
    buffer_show(b, &got);
    for (int d = 0; d < b->rank; d++) text_add(&got, d ? ", %lld" : " with strides %lld", (long long)b->strides[d]);
    if (param->stated->strided) {
        Text want = text_new(context_texts(k->context));
        for (int d = 0; d < param->stated->rank; d++)
            text_add(&want, d ? ", %lld" : "%lld", (long long)param->stated->stride[d]);
        return context_fail(k->context, TW_ERROR_ARGUMENT,
                            "argument `%s`: kernel `%s` declares strides %s, the array given is %s", param->name,
                            k->name, want.at, got.at);
    }
    return context_fail(k->context, TW_ERROR_ARGUMENT,
                        "argument `%s`: kernel `%s` takes row-major arrays without gaps, the array "
                        "given is %s" FIX "pass a copy",
                        param->name, k->name, got.at);
}

/* The array against what the source says of it; extents of 1 in front count for nothing where the
 * kernel takes the strides with the array, and stand for those that the array lacks. */
static tw_status check_shape(const tw_kernel *k, const RunParam *param, const tw_buffer *b) {
    const FrontShape *stated = param->stated;
    bool fits = !stated->dense || b->rank == stated->rank;
    int lead = stated->rank - b->rank;
    for (int d = 0; fits && d < stated->rank; d++) {
        int64_t extent = d < lead ? 1 : b->shape[d - lead];
        fits = stated->extent[d] < 0 || stated->extent[d] == extent;
    }
    if (!fits) return wrong_shape(k, param, b);
    for (int d = 0; stated->strided && b->size && d < stated->rank; d++)
        if (b->rank != stated->rank || (b->shape[d] != 1 && b->strides[d] != stated->stride[d]))
            return wrong_strides(k, param, b);
    return stated->dense && !buffer_is_dense(b) ? wrong_strides(k, param, b) : TW_OK;
}

bool frame_bind_extents(const RunParam *param, const tw_buffer *b, uint64_t *words) {
    int rank = param->type->rank, lead = rank - b->rank;
    int64_t *extent = (int64_t *)words + 1, *stride = extent + rank;
    int64_t outer = b->rank ? b->shape[0] * b->strides[0] : 1;
    for (int d = 0; d < -lead; d++)
        if (b->shape[d] != 1) return false;
    for (int d = 0; d < rank; d++) {
        extent[d] = d < lead ? 1 : b->shape[d - lead];
        stride[d] = d < lead ? outer : b->strides[d - lead];
    }
    return true;
}

static tw_status bind_array(const tw_kernel *k, const Frame *f, int i, const tw_arg *arg) {
    const RunParam *param = &k->params[i];
    const Type *type = param->type;
    uint64_t *words = &f->slots[param->slot];
    if (arg->kind == TW_ARG_NONE && type->pointer && !param->stated) {
        words[0] = 0;
        return TW_OK;
    }
    if (arg->kind != TW_ARG_BUFFER || !arg->value.buffer) return wrong(k, param, "must be an array");
    tw_buffer *b = arg->value.buffer;
    if (b->elem != type->elem)
        return context_fail(k->context, TW_ERROR_ARGUMENT,
                            "argument `%s`: kernel `%s` is compiled for an array of %s, the array given is of %s",
                            param->name, k->name, elem_info[type->elem].text, elem_info[b->elem].text);
    if (b->context != k->context) return wrong(k, param, "was made from another context");
    const TargetMemory *mine = k->target->memory, *its = b->target ? b->target->memory : NULL;
    if (mine != its)
        return context_fail(k->context, TW_ERROR_ARGUMENT,
                            "argument `%s` of kernel `%s` lies in the memory of %s" FIX "make it "
                            "with target %s",
                            param->name, k->name, b->target ? b->target->name : "the host", k->target->name);
    if (b->device != k->device && b->target)
        return context_fail(k->context, TW_ERROR_ARGUMENT,
                            "argument `%s` of kernel `%s` lies on device %d, the kernel is compiled "
                            "for device %d",
                            param->name, k->name, b->device, k->device);
    f->buffers[i] = b;
    words[0] = (uint64_t)(uintptr_t)b->data;
    if (type->kind == TY_TENSOR && !frame_bind_extents(param, b, words)) return wrong_shape(k, param, b);
    return param->stated ? check_shape(k, param, b) : TW_OK;
}

static tw_status bind(const tw_kernel *k, const Frame *f, const tw_arg *args, size_t count) {
    if ((int64_t)count > k->source_count)
        return context_fail(k->context, TW_ERROR_ARGUMENT, "%zu arguments for the %d parameters of kernel `%s`", count,
                            k->source_count, k->name);
    for (int i = 0; i < k->param_count; i++) {
        const RunParam *param = &k->params[i];
        f->buffers[i] = NULL;
        if (param->space >= 0) {
            tw_buffer **space = (k->head ? k->head : k)->space; /* NULL: who asks only for the grid */
            f->buffers[i] = space ? space[param->space] : NULL;
            f->slots[param->slot] = space ? (uint64_t)(uintptr_t)f->buffers[i]->data : 0;
            continue;
        }
        if ((size_t)param->source >= count || args[param->source].kind == TW_ARG_ABSENT)
            return wrong(k, param, "is missing");
        const tw_arg *arg = &args[param->source];
        bool scalar = param->type->kind == TY_TILE && !param->type->pointer;
        tw_status status = scalar ? frame_bind_number(k, f, param, arg) : bind_array(k, f, i, arg);
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

/* --- launch --- */

static tw_status own_grid(const tw_kernel *k, const Frame *f, int64_t grid[3]) {
    static const int64_t none[3] = {1, 1, 1};
    grid[0] = grid[1] = grid[2] = 1;
    if (!k->grid)
        return context_fail(k->context, TW_ERROR_ARGUMENT, "kernel `%s` does not state its grid; the launch must",
                            k->name);
    scalars_run_in(k->grid, f->registers, f->slots, none, grid);
    return TW_OK;
}

tw_status kernel_own_grid(tw_kernel *k, const tw_arg *args, size_t count, int64_t grid[3]) {
    Frame f = frame_in(k, k->slots);
    tw_status status = bind(k, &f, args, count);
    return status == TW_OK ? own_grid(k, &f, grid) : status;
}

static tw_status check_grid(const tw_kernel *k, const int64_t grid[3], bool *empty) {
    double programs = 1;
    for (int d = 0; d < 3; d++) {
        if (grid[d] < 0 || grid[d] > INT32_MAX)
            return context_fail(k->context, TW_ERROR_ARGUMENT,
                                "the grid of kernel `%s` is %lld x %lld x %lld; each extent must "
                                "lie in 0 .. 2^31-1",
                                k->name, (long long)grid[0], (long long)grid[1], (long long)grid[2]);
        programs *= (double)grid[d];
    }
    if (programs > 9e18)
        return context_fail(k->context, TW_ERROR_ARGUMENT, "the grid of kernel `%s` has more than 2^63 programs",
                            k->name);
    *empty = programs == 0;
    return TW_OK;
}

static void find_spans(const tw_kernel *k, const Frame *f, const Requirements *all) {
    for (int i = 0; i < k->param_count; i++) {
        const tw_buffer *b = f->buffers[i];
        if (!all->spanned[i]) continue;
        const char *low = b && b->size ? buffer_lowest(b) : NULL;
        f->spans[i] = (MemorySpan){low, low ? low + b->size : NULL};
    }
}

static bool apart(const MemorySpan *spans, const Requirement *r) {
    for (int i = 0; i < r->count; i++)
        for (int j = 0; j < i; j++) {
            MemorySpan a = spans[r->parameters[i]], b = spans[r->parameters[j]];
            if (a.low < b.high && b.low < a.high) return false;
        }
    return true;
}

/* What is in the way, and nothing else: OVERLAPS: arrays; ODD: what is no multiple. */
typedef enum Fit { FITS, OVERLAPS, ODD, FITS_NOT, JOINS } Fit; /* JOINS: it fits, and another variant is faster */

static bool keeps(const Requirement *r, int64_t value) {
    return r->kind == AT_EQ ? value == r->number : r->kind == AT_LEAST ? value >= r->number : value % r->number == 0;
}

/* `odd`: parameters of which this code wants multiples, and they are none. */
static Fit fit_requirements(const tw_kernel *k, const Frame *f, const int64_t grid[3], uint64_t *odd) {
    const Requirements *all = k->requirements;
    bool overlaps = false;
    *odd = 0;
    if (k->never) return FITS_NOT;
    if (!all) return FITS;
    scalars_run_in(all->program, f->registers, f->slots, grid, f->values);
    find_spans(k, f, all);
    for (int i = 0; i < all->count; i++) {
        const Requirement *r = &all->at[i];
        if (r->kind == AT_DISJOINT) {
            overlaps |= !apart(f->spans, r);
            continue;
        }
        for (int a = 0; a < r->count; a++) {
            if (keeps(r, f->values[r->first + a])) continue;
            bool multiple = r->kind == AT_MULT || r->kind == AT_ALIGN;
            if (!multiple || !(r->made_of & ~k->request->odd)) return FITS_NOT;
            *odd |= r->made_of;
        }
    }
    if (overlaps) return k->pass.options.overlap ? FITS_NOT : OVERLAPS;
    return *odd ? ODD : FITS;
}

/* The variant that a launch which does not fit runs. */
static KernelVariant *variant_for(tw_kernel *k, Fit fit, JoinSize join) {
    if (fit == JOINS) return &k->joined[join.rows - 1][join.columns - 1];
    return fit == OVERLAPS ? &k->overlapping : fit == ODD ? &k->odd : &k->generic;
}

tw_status kernel_add_variant(LaunchRequest *request) {
    tw_kernel *k = request->lacking;
    KernelVariant *v = variant_for(k, request->fit, request->join);
    request->lacking = NULL;
    if (atomic_load(&v->ready)) return TW_OK; /* another thread was first */
    tw_kernel_destroy(v->kernel);             /* one that memory did not suffice for */
    v->kernel = NULL;
    CompileRequest *compile = arena_copy(&k->arena, k->request, sizeof *compile);
    if (request->fit == OVERLAPS)
        compile->overlap = true;
    else if (request->fit == ODD)
        compile->odd |= request->odd;
    else if (request->fit == JOINS)
        compile->join = request->join.rows << 16 | request->join.columns;
    else
        compile->generic++;
    v->kernel = kernel_new(k->origin);
    v->kernel->head = k->head ? k->head : k;
    tw_status status = kernel_compile_request(v->kernel, compile);
    if (status == TW_OK) atomic_store(&v->ready, true);
    return status;
}

bool kernel_runs_beside(const tw_kernel *k) {
    return k->target->launches_beside && !k->sequence.spaces.count && atomic_load(&k->context->shared);
}

/* Which programs, of a grid that is not empty. */
static tw_status check_range(const tw_kernel *k, const tw_launch_options *how, LaunchCall *call) {
    int64_t all = call->grid[0] * call->grid[1] * call->grid[2];
    call->first = how->first;
    call->programs = how->programs ? how->programs : all;
    if (how->first < 0 || how->programs < 0 || call->programs > all || how->first > all - call->programs)
        if (how->first || how->programs)
            return context_fail(k->context, TW_ERROR_ARGUMENT,
                                "%lld programs from %lld on of kernel `%s`: its grid has %lld, from 0 on; `programs` "
                                "says how many run from `first` on",
                                (long long)call->programs, (long long)how->first, k->name, (long long)all);
    return TW_OK;
}

static tw_status check_request(const tw_kernel *k, const tw_launch_options *how) {
    tw_context *cx = k->context;
    const tw_stream *stream = how->stream;
    if (k->request->stage != TW_STAGE_RUN)
        return context_fail(cx, TW_ERROR_ARGUMENT, "kernel `%s` was compiled without being built", k->name);
    if (stream && (stream->context != cx || stream->target->memory != k->target->memory))
        return context_fail(cx, TW_ERROR_ARGUMENT, "the stream of the launch of kernel `%s` is one of target %s%s",
                            k->name, stream->target->name, stream->context != cx ? ", made from another context" : "");
    if ((how->first || how->programs || how->parallel) && !k->target->launches_beside)
        return context_fail(cx, TW_ERROR_UNSUPPORTED,
                            "target %s runs whole launches, on threads of its own: no first, programs, parallel",
                            k->target->name);
    if (how->timeout_ms && k->target->synchronize)
        return context_fail(cx, TW_ERROR_UNSUPPORTED,
                            "a launch on target %s cannot be ended; TILEWRIGHT_GPU_TIMEOUT=SECONDS gives up waiting",
                            k->target->name);
    return TW_OK;
}

/* Runs it, or hands it to the stream's own thread. */
static tw_status run(tw_kernel *k, const LaunchCall *call) {
    Queue *queue = call->stream ? call->stream->queue : NULL;
    if (queue && k->target->launches_beside) return queue_add(queue, k, call);
    if (call->timeout_ms) cancel_limit(&call->seat->cancel, call->timeout_ms);
    return k->target->launch(k, call);
}

tw_status kernel_launch(tw_kernel *k, LaunchRequest *request) {
    const tw_launch_options *how = &request->how;
    tw_context *cx = k->context;
    Seat *seat = seat_find(cx);
    tw_status status = check_request(k, how);
    if (status != TW_OK) return status;
    if (request->beside && !seat_reserve_words(cx, seat, k->frame_words)) trap_throw(&seat->trap, TRAP_OUT_OF_MEMORY);
    Frame f = frame_in(k, request->beside ? seat->words : k->slots);
    LaunchCall call = {.stream = how->stream,
                       .frame = &f,
                       .seat = seat,
                       .threads = how->threads,
                       .timeout_ms = how->timeout_ms,
                       .parallel = how->parallel,
                       .parallel_user = how->parallel_user};
    status = bind(k, &f, request->args, request->count);
    if (status == TW_OK && !how->grid)
        status = own_grid(k, &f, call.grid);
    else if (how->grid)
        memcpy(call.grid, how->grid, sizeof call.grid);
    bool empty = false;
    if (status == TW_OK) status = check_grid(k, call.grid, &empty);
    if (status == TW_OK && !empty && how->grid && k->own_grid) {
        status = own_grid(k, &f, call.grid);
        if (status == TW_OK) status = check_grid(k, call.grid, &empty);
    }
    if (status == TW_OK && !empty) status = check_range(k, how, &call);
    if (status != TW_OK || empty) return status;
    uint64_t odd;
    Fit fit = fit_requirements(k, &f, call.grid, &odd);
    JoinSize join = {1, 1};
    bool may_join = fit == FITS && k->target->join && !k->pass.options.join && !k->never_joined;
    if (may_join && k->target->join(k, call.grid, &join)) fit = JOINS;
    if (fit == FITS) return run(k, &call);
    if (fit != JOINS && k->request->generic == REQUIRE_NOTHING)
        return context_fail(cx, TW_ERROR_ARGUMENT, "the arguments do not keep a `require` that kernel `%s` came with",
                            k->name);
    KernelVariant *variant = variant_for(k, fit, join);
    if (!atomic_load(&variant->ready)) {
        request->lacking = k;
        request->fit = fit;
        request->odd = odd;
        request->join = join;
        if (request->beside) return TW_OK;
        status = kernel_add_variant(request);
        if (status != TW_OK && fit == JOINS) { /* too large after all */
            k->never_joined = true;
            return run(k, &call);
        }
        if (status != TW_OK) return status;
    }
    int64_t grid[3];
    memcpy(grid, call.grid, sizeof grid);
    const int64_t *asked = how->grid;
    request->how.grid = grid;
    status = kernel_launch(variant->kernel, request);
    request->how.grid = asked;
    return status;
}
