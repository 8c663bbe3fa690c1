/* SPDX-License-Identifier: Apache-2.0 */
/* compile.c: the way of one kernel: source text -> door -> passes -> target.
 *
 * A module is a parsed source. A compile lowers one of its kernels for given arguments into an IR
 * module of its own, runs the passes for the target's machine, and lets the target emit and
 * build. All of it lives in the kernel's arena. */
#include "pass/matrix.h"
#include "runtime/runtime.h"

#include "ir/externs.h"
#include "ir/interp/interp.h"
#include "ir/roots.h"
#include "runtime/compile/cache.h"
#include "runtime/api/options.h"
#include "runtime/target/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- modules --- */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void module_drop(tw_module *m) {
    if (--m->references > 0) return;
    tw_context *cx = m->context;
    arena_free(&m->arena);
    context_free(cx, m, sizeof *m);
    context_drop(cx);
}

/* The value of a definition: a number, true, false, none, else a string. */
static FrontValue define_value(const char *text) {
    char *end = NULL;
    FrontValue value = {.kind = FRONT_TEXT, .text = text};
    if (strcmp(text, "true") == 0 || strcmp(text, "True") == 0) return (FrontValue){.kind = FRONT_BOOL, .i = 1};
    if (strcmp(text, "false") == 0 || strcmp(text, "False") == 0) return (FrontValue){.kind = FRONT_BOOL};
    if (strcmp(text, "none") == 0 || strcmp(text, "None") == 0) return (FrontValue){.kind = FRONT_NONE};
    errno = 0;
    long long i = strtoll(text, &end, 0);
    if (end != text && !*end && !errno) return (FrontValue){.kind = FRONT_INT, .i = i};
    double f = strtod(text, &end);
    if (end != text && !*end) return (FrontValue){.kind = FRONT_FLOAT, .f = f};
    return value;
}

static char *copy_text(Arena *arena, const char *text) { return text ? arena_string(arena, text, strlen(text)) : NULL; }

tw_status module_open(tw_module *m, const char *name, const char *text, size_t size, const tw_module_options *options) {
    tw_context *cx = m->context;
    source_init(&m->sources, &m->arena);
    diag_init(&m->diag, &m->arena, &m->sources);
    SourceFile *file = source_add(&m->sources, name, text, size);
    if (!file) return context_fail(cx, TW_ERROR_SOURCE, "%s is larger than 64 MiB" FIX "split it", name);
    FrontUnit *unit = &m->unit;
    *unit = (FrontUnit){.file = file, .arena = &m->arena, .diag = &m->diag, .sources = &m->sources};
    import_init(m, name, options);
    unit->import = import_file;
    unit->import_user = m;
    if (options && options->first_line > 0) file->first_line = options->first_line;
    if (options && options->resolver) {
        unit->resolver = live_resolver(&m->arena, options->resolver);
        unit->scope = options->scope;
    }
    if (options && options->door) {
        unit->door = front_find(options->door);
        static const char known[] =
#define DOOR(name, doc, resolve) " " #name
#include "front/front.def"
#undef DOOR
            ;
        if (!unit->door)
            return context_fail(cx, TW_ERROR_NOT_FOUND, "there is no language `%s`; those there are:%s", options->door,
                                known);
    } else
        unit->door = unit->resolver ? front_find("triton") : front_choose(name, file->text);
    if (!unit->door)
        return context_fail(cx, TW_ERROR_NOT_FOUND,
                            "%s: what language is this? Name it .py (Triton, TileLang), .tile.c "
                            "(Tile C) or .ir (IR text)",
                            name);
    unit->structure_count = options ? options->structure_count : 0;
    FrontPair *structures = ARENA_ARRAY(&m->arena, FrontPair, unit->structure_count);
    for (size_t i = 0; i < unit->structure_count; i++)
        structures[i] = (FrontPair){copy_text(&m->arena, options->structures[i].name),
                                    copy_text(&m->arena, options->structures[i].value)};
    unit->structures = structures;
    unit->define_count = options ? (int)options->define_count : 0;
    FrontDefine *defines = ARENA_ARRAY(&m->arena, FrontDefine, unit->define_count);
    for (int i = 0; i < unit->define_count; i++) {
        const tw_pair *pair = &options->defines[i];
        defines[i].name = arena_string(&m->arena, pair->name, strlen(pair->name));
        defines[i].value = define_value(arena_string(&m->arena, pair->value, strlen(pair->value)));
    }
    unit->defines = defines;
    unit->define_used = ARENA_ARRAY(&m->arena, bool, unit->define_count);
    double start = seconds();
    bool ok = unit->door->open(unit);
    m->parse_seconds = seconds() - start;
    tw_status status = context_diagnose(cx, &m->diag, TW_ERROR_SOURCE);
    if (!ok && status == TW_OK) ice(&cx->trap, "door %s failed without a message", unit->door->name);
    return ok ? TW_OK : status;
}

/* --- arguments --- */

/* Constants that are absent: a definition of that name, else what a heuristic computes, which only
 * Triton's kernels have. */
static bool complete_values(tw_module *m, const FrontKernel *kernel, FrontValue *values, Arena *arena, Diag *diag) {
    for (int i = 0; i < kernel->param_count; i++) {
        bool open = kernel->params[i].kind == FRONT_CONSTANT && values[i].kind == FRONT_ABSENT;
        const FrontValue *given = open ? front_define(&m->unit, kernel->params[i].name) : NULL;
        if (given) values[i] = *given;
    }
    return strcmp(m->unit.door->name, "triton") != 0 || m->unit.resolver ||
           triton_complete(&m->unit, kernel, values, arena, diag);
}

tw_status module_complete(tw_module *m, const FrontKernel *kernel, tw_arg *args) {
    FrontValue *values = ARENA_ARRAY(&m->arena, FrontValue, kernel->param_count);
    Diag diag;
    diag_init(&diag, &m->arena, &m->sources);
    for (int i = 0; i < kernel->param_count; i++) values[i] = live_value(&m->arena, &args[i]);
    if (!complete_values(m, kernel, values, &m->arena, &diag))
        return context_diagnose(m->context, &diag, TW_ERROR_SOURCE);
    for (int i = 0; i < kernel->param_count; i++)
        if (args[i].kind == TW_ARG_ABSENT) args[i] = live_argument(&values[i]);
    return TW_OK;
}

/* A type that is given where the source states one, or where a value is asked for. */
static tw_status check_type(tw_context *cx, const FrontKernel *kernel, const FrontParam *param,
                            const FrontValue *value) {
    if (param->kind == FRONT_CONSTANT)
        return context_fail(cx, TW_ERROR_ARGUMENT,
                            "argument `%s`: kernel `%s` takes a constant there, and only a type was given"
                            FIX "give the "
                            "value",
                            param->name, kernel->name);
    if (param->kind == FRONT_SCALAR && param->elem >= 0 && (int)value->elem != param->elem)
        return context_fail(cx, TW_ERROR_ARGUMENT,
                            "argument `%s`: kernel `%s` declares a number of %s, the type given is %s", param->name,
                            kernel->name, elem_info[param->elem].text, elem_info[value->elem].text);
    return TW_OK;
}

static tw_status check_given(tw_context *cx, const FrontKernel *kernel, const FrontParam *param,
                             const FrontValue *value) {
    if (value->kind == FRONT_NUMBER) {
        tw_status status = check_type(cx, kernel, param, value);
        if (status != TW_OK) return status;
    }
    bool array = value->kind == FRONT_ARRAY;
    bool wants_array = param->kind == FRONT_POINTER || param->kind == FRONT_TENSOR;
    if (array && (param->kind == FRONT_SCALAR || param->kind == FRONT_CONSTANT))
        return context_fail(cx, TW_ERROR_ARGUMENT,
                            "argument `%s`: kernel `%s` takes a number there, and an array was given", param->name,
                            kernel->name);
    if (!array && wants_array && value->kind != FRONT_NONE)
        return context_fail(cx, TW_ERROR_ARGUMENT,
                            "argument `%s`: kernel `%s` takes an array there, and none was given", param->name,
                            kernel->name);
    if (array && param->elem >= 0 && (int)value->elem != param->elem)
        return context_fail(cx, TW_ERROR_ARGUMENT,
                            "argument `%s`: kernel `%s` declares an array of %s, the array given is of %s", param->name,
                            kernel->name, elem_info[param->elem].text, elem_info[value->elem].text);
    return TW_OK;
}

static const char *const *name_params(const FrontKernel *kernel, Arena *arena) {
    const char **names = ARENA_ARRAY(arena, const char *, kernel->param_count);
    for (int i = 0; i < kernel->param_count; i++) names[i] = kernel->params[i].name;
    return names;
}

/* What is said of a definition that no part of the source asked for. */
static const char *define_advice(const FrontDefine *define, const char *const *names, int count, Arena *arena) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], define->name) == 0)
            return "; it is an argument of the kernel, and no constant" FIX "give it as an argument";
    const char *near = text_nearest(define->name, names, (size_t)count);
    return text_suggest(arena, "", near);
}

static const char *near_definition(const FrontUnit *unit, const char *const *names, int count, Arena *arena) {
    for (int i = 0; i < unit->define_count; i++) {
        const char *advice = unit->define_used[i] ? "" : define_advice(&unit->defines[i], names, count, arena);
        if (*advice) return arena_printf(arena, "; a definition of `%s` is given%s", unit->defines[i].name, advice);
    }
    return "";
}

/* Said once, when a kernel was compiled without it. */
static void tell_unused(tw_kernel *k, const FrontKernel *kernel) {
    FrontUnit *unit = &k->origin->unit;
    const char *const *names = name_params(kernel, &k->arena);
    for (int i = 0; i < unit->define_count; i++) {
        const FrontDefine *define = &unit->defines[i];
        if (!unit->define_used[i])
            diag_emit(&k->diag, DIAG_UNUSED_DEFINITION, (Range){0, 0}, define->name, kernel->name,
                      define_advice(define, names, kernel->param_count, &k->arena));
        unit->define_used[i] = true;
    }
}

/* The compiler must know constants, and the types of parameters that state none. */
static tw_status name_missing(tw_kernel *k, const CompileRequest *request) {
    tw_context *cx = k->context;
    const FrontKernel *kernel = request->kernel;
    FrontUnit *unit = &k->origin->unit;
    Text constants = text_new(context_texts(cx)), open = text_new(context_texts(cx));
    for (int i = 0; i < kernel->param_count; i++) {
        const FrontParam *param = &kernel->params[i];
        if (request->args[i].kind != FRONT_ABSENT || param->optional) continue;
        Text *list = param->kind == FRONT_CONSTANT ? &constants : param->kind == FRONT_OPEN ? &open : NULL;
        if (list) text_add(list, "%s`%s`", list->length ? ", " : "", param->name);
    }
    if (!constants.length && !open.length) return TW_OK;
    const char *const *names = name_params(kernel, context_texts(cx));
    if (unit->door->resolve && !unit->resolver) { /* who has only a text learns first what is wrong with it */
        diag_init(&k->diag, &k->arena, k->sources);
        if (!unit->door->resolve(unit, kernel, &k->arena, &k->diag))
            return context_diagnose(cx, &k->diag, TW_ERROR_SOURCE);
    }
    return context_fail(cx, TW_ERROR_ARGUMENT, "kernel `%s` lacks arguments: %s%s%s%s%s%s%s", kernel->name, open.at,
                        open.length ? " (an array or a number each, whose type the compiler must know)" : "",
                        open.length && constants.length ? ", " : "", constants.at,
                        constants.length ? " (constants)" : "",
                        constants.length && kernel->config_count ? "; or take one of its configurations" : "",
                        near_definition(unit, names, kernel->param_count, context_texts(cx)));
}

static tw_status check_arguments(tw_kernel *k, const CompileRequest *request) {
    const FrontKernel *kernel = request->kernel;
    tw_status status = TW_OK;
    for (int i = 0; i < kernel->param_count && status == TW_OK; i++)
        if (request->args[i].kind != FRONT_ABSENT)
            status = check_given(k->context, kernel, &kernel->params[i], &request->args[i]);
    return status == TW_OK ? name_missing(k, request) : status;
}

/* --- compile --- */

void kernel_add_artifact(tw_kernel *k, const char *name, const char *text) {
    *VEC_PUSH(&k->artifacts, &k->arena) = (Artifact){name, text, strlen(text)};
}

void kernel_add_bytes(tw_kernel *k, const char *name, const void *bytes, size_t size) {
    *VEC_PUSH(&k->artifacts, &k->arena) = (Artifact){name, bytes, size};
}

static const char *find_artifact(const tw_kernel *k, const char *name) {
    for (size_t i = 0; i < k->artifacts.count; i++)
        if (strcmp(k->artifacts.at[i].name, name) == 0) return k->artifacts.at[i].text;
    return NULL;
}

tw_status kernel_assembly(tw_kernel *k, const char **text) {
    const Target *target = k->target;
    if (!target->assemble || !k->code)
        return context_fail(k->context, TW_ERROR_UNSUPPORTED, "kernel `%s` has no assembler text: %s", k->name,
                            target->assemble ? "it was not emitted" : "target cuda alone has one (PTX)");
    const char *name = arena_printf(&k->arena, "%s%s", k->name, target->assembly_ending);
    tw_status status = find_artifact(k, name) ? TW_OK : target->assemble(k, name);
    *text = status == TW_OK ? find_artifact(k, name) : NULL;
    return status;
}

/* Does the target's compiler have a part in it? */
static bool is_built(const CompileRequest *request) {
    return request->stage == TW_STAGE_RUN || request->stage == TW_STAGE_BUILD;
}

static void add_step(tw_kernel *k, const char *name, double spent, const char *ir, bool changed) {
    *VEC_PUSH(&k->steps, &k->arena) = (StepRecord){name, changed ? ir : NULL, spent, changed};
}

typedef struct Tracer {
    tw_kernel *k;
    const char *last; /* text before the pass; NULL: texts are not kept */
} Tracer;

static void trace_pass(void *user, const char *pass, const Kernel *ir, double spent) {
    Tracer *t = user;
    bool changed = true;
    if (cancel_look(context_cancel(t->k->context))) trap_throw(&t->k->context->trap, TRAP_STOPPED);
    if (t->last) {
        Arena *scratch = t->k->pass.scratch;
        ArenaMark mark = arena_mark(scratch);
        const char *text = ir_print(ir, scratch);
        changed = strcmp(text, t->last) != 0;
        if (changed) t->last = arena_string(&t->k->arena, text, strlen(text));
        arena_reset(scratch, mark);
    }
    add_step(t->k, pass, spent, t->last, changed);
}

static void write_explain(tw_kernel *k) {
    Text t = text_new(&k->arena);
    for (size_t i = 0; i < k->pass.findings.count; i++) {
        const Finding *f = &k->pass.findings.at[i];
        Place place;
        if (source_find(k->sources, f->range.begin, &place))
            text_add(&t, "%s:%d:%d: ", place.file->name, place.line, place.column);
        text_add(&t, "%s: %s\n", f->subject, f->text);
    }
    k->explain = t.at;
    Text json = text_new(&k->arena);
    findings_json(&json, k->pass.findings.at, k->pass.findings.count, k->sources);
    k->explain_json = json.at;
}

static bool knows_pass(const char *names) {
    static const char *const known[] = {
#define PASS(name, takes, leaves, doc) #name,
#include "pass/passes.def"
#undef PASS
    };
    for (const char *at = names; *at;) {
        size_t length = strcspn(at, ",");
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) found |= text_equal(at, length, known[i]);
        if (!found) return false;
        at += length + (at[length] == ',');
    }
    return true;
}

static tw_status run_passes(tw_kernel *k, const CompileRequest *request, const char *text) {
    tw_context *cx = k->context;
    const char *asked[] = {request->passes, request->stop_after};
    for (int i = 0; i < 2; i++)
        if (asked[i] && !knows_pass(asked[i])) {
            Text list = text_new(&k->arena);
#define PASS(name, takes, leaves, doc) text_add(&list, "%s%s", list.length ? ", " : "", #name);
#include "pass/passes.def"
#undef PASS
            return context_fail(cx, TW_ERROR_NOT_FOUND, "`%s` is not a pass; the passes are %s", asked[i], list.at);
        }
    Tracer tracer = {k, text};
    PipelineRequest pipeline = {.stop_after = request->stop_after,
                                .only = request->passes,
                                .verify_each = request->verify_each,
                                .trace = trace_pass,
                                .trace_user = &tracer};
    if (!pipeline_run(&k->pass, k->ir, &pipeline)) return context_diagnose(cx, &k->diag, TW_ERROR_SOURCE);
    return TW_OK;
}

/* "cuda:sm_80" with emulation: the row that emulates. */
static tw_status choose_target(tw_kernel *k, const char *name, bool emulate) {
    tw_context *cx = k->context;
    k->target = target_find(name, &k->arch);
    if (!k->target) {
        Text list = text_new(&k->arena);
        target_names(&list);
        return context_fail(cx, TW_ERROR_NOT_FOUND, "there is no target `%s`; the targets are %s", name, list.at);
    }
    if (emulate && !k->target->emulated)
        return context_fail(cx, TW_ERROR_ARGUMENT, "target %s is not emulated: it runs on the host as it is",
                            k->target->name);
    if (emulate) k->target = target_find(k->target->emulated, NULL);
    if (k->sanitize && k->target == &target_cpu) k->target = &target_interp; /* the same memory */
    k->device = k->request->device;
    if (k->device && !k->target->memory)
        return context_fail(cx, TW_ERROR_ARGUMENT, "a kernel for device %d: target %s has one device", k->device,
                            k->target->name);
    if (!k->arch && is_built(k->request) && k->target->native) k->arch = k->target->native(k->target, cx, k->device);
    k->pass.machine = k->target->machine(cx, k->arch);
    return k->pass.machine ? TW_OK : TW_ERROR_NOT_FOUND;
}

tw_kernel *kernel_new(tw_module *m) {
    tw_context *cx = m->context;
    tw_kernel *k = context_alloc(cx, sizeof *k);
    k->context = cx;
    k->origin = m;
    m->references++;
    context_hold(cx);
    arena_init(&k->arena, cx->allocator, &cx->trap);
    k->sources = &m->sources;
    k->pass.options = pass_options_default;
    return k;
}

typedef struct Products {
    const Kernel *ir;
    bool tf32, on_matrix_unit; /* some products of float32 are let run in tf32; do */
    bool short_sums;           /* some of 8-bit floats are summed by a matrix unit, to 14 bits */
} Products;

static void count_product(Op *op, void *user) {
    Products *p = user;
    if (op->code != OP_DOT) return;
    Elem factors = ir_type(p->ir, op->operands[0])->elem;
    const Matrix *row = matrix_of(p->ir, op);
    p->short_sums |= row->sum_bits > 0;
    if (factors != EL_F32) return;
    p->tf32 |= op_word(op, AT_PREC, PREC_IEEE) == PREC_TF32;
    p->on_matrix_unit |= row->precision == PREC_TF32;
}

static Products products_of(const Kernel *ir) {
    Products p = {.ir = ir};
    ir_walk(ir->body, count_product, &p);
    return p;
}

/* Through which parameters of the source it writes, while the IR is what the door made. */
static const bool *find_written(tw_kernel *k, const FrontKernel *source) {
    const Region *body = k->ir->body;
    bool *found = ARENA_ARRAY(&k->arena, bool, body->arg_count);
    bool *written = ARENA_ARRAY(&k->arena, bool, source->param_count);
    roots_written(k->ir, k->pass.scratch, found);
    for (int i = 0; i < body->arg_count; i++) {
        const char *name = ir_value(k->ir, body->args[i])->name;
        for (int s = 0; s < source->param_count; s++)
            if (found[i] && name && strcmp(source->params[s].name, name) == 0) written[s] = true;
    }
    return written;
}

static void refuse_foreign(Op *op, void *user) {
    tw_kernel *k = user;
    if ((op->code == OP_ASM || op->code == OP_ASM_ACT) && !k->target->runs_assembly)
        diag_emit(k->module->diag, DIAG_TARGET_ASM, op->range, k->target->name);
    if (op->code == OP_EXTERN && !k->target->runs_externs)
        diag_emit(k->module->diag, DIAG_TARGET_EXTERN, op->range, op_text(op, AT_CALLEE), k->target->name);
    const char *imports = op->code == OP_EXTERN && k->target->unknown_extern ? kernel_text(k->ir, AT_IMPORTS) : NULL;
    const char *word = imports ? k->target->unknown_extern(&k->arena, imports) : NULL;
    if (word)
        diag_emit(k->module->diag, DIAG_TARGET_EXTERN_CUDA, op->range, op_text(op, AT_CALLEE), word, k->target->name);
}

/* Assembly and functions that the source has written itself run where there is a machine or a compiler for them. */
static tw_status check_foreign(tw_kernel *k) {
    if (k->target->runs_assembly && k->target->runs_externs && !k->target->unknown_extern) return TW_OK;
    ir_walk(k->ir->body, refuse_foreign, k);
    if (!k->diag.errors) return TW_OK;
    return context_diagnose(k->context, &k->diag, TW_ERROR_UNSUPPORTED);
}

/* Programs that may wait for each other are not run one after the other by a few. */
static tw_status run_together(tw_kernel *k) {
    if (!k->target->runs_together)
        return context_fail(k->context, TW_ERROR_UNSUPPORTED,
                            "option cooperative: on target %s not all programs of a launch run at once, so that they "
                            "cannot wait for each other" FIX "use a GPU",
                            k->target->name);
    if (k->pass.options.persist == 1)
        return context_fail(k->context, TW_ERROR_ARGUMENT,
                            "options cooperative and persist: a worker that runs many programs runs one after the "
                            "other" FIX "leave out one of them");
    k->pass.options.persist = 0;
    return TW_OK;
}

/* Door, passes, emitter. */
static tw_status make_code(tw_kernel *k, const CompileRequest *request) {
    tw_context *cx = k->context;
    FrontUnit *unit = &k->origin->unit;
    diag_init(&k->diag, &k->arena, k->sources);
    k->module = ir_module_new(&k->arena, &k->diag, k->sources);
    k->pass.module = k->module;
    double start = seconds();
    k->shapes = ARENA_ARRAY(&k->arena, FrontShape, request->kernel->param_count);
    FrontRequest lower = {.kernel = request->kernel,
                          .args = request->args,
                          .module = k->module,
                          .specialize_ones = request->specialize_ones,
                          .cuda_level = k->pass.machine->level,
                          .asserts = !k->no_asserts,
                          .overflow = k->overflow && !k->no_asserts,
                          .num_warps = k->pass.options.num_warps,
                          .shapes = k->shapes,
                          .launch = request->launch,
                          .sequence = &k->sequence};
    if (!request->generic && !request->launch) lower.print = cx->print, lower.print_user = cx->print_user;
    k->ir = unit->door->lower(unit, &lower);
    if (!k->ir) {
        tw_status status = context_diagnose(cx, &k->diag, TW_ERROR_SOURCE);
        if (status == TW_OK) ice(&cx->trap, "door %s failed without a message", unit->door->name);
        return status;
    }
    const char *text = request->keep_ir ? ir_print(k->ir, &k->arena) : NULL;
    add_step(k, "parse", k->origin->parse_seconds, NULL, false);
    add_step(k, "source", seconds() - start, text, true);
    k->written = find_written(k, request->kernel);
    tw_status status = request->stage == TW_STAGE_IR ? TW_OK : check_foreign(k);
    if (status != TW_OK) return status;
    bool tf32 = products_of(k->ir).tf32; /* before tf32x3 is taken apart into products in tf32 */
    bool asked = request->passes || request->stop_after || k->with_passes;
    bool as_made = k->sanitize || (k->target->source_form && !asked);
    if (as_made) pass_find(&k->pass, k->ir->range, FIND_REFERENCE);
    if (!as_made) status = run_passes(k, request, text);
    if (status != TW_OK) return status;
    Products made = products_of(k->ir);
    k->product_bits = tf32 && made.on_matrix_unit ? 11 : made.short_sums ? 14 : 24;
    write_explain(k);
    if (request->stage == TW_STAGE_IR || !k->target->emit) return TW_OK;
    start = seconds();
    bool ok = k->target->emit(k);
    add_step(k, "emit", seconds() - start, NULL, false);
    write_explain(k); /* emitters find things too */
    return ok ? TW_OK : context_diagnose(cx, &k->diag, TW_ERROR_UNSUPPORTED);
}

/* A cache that cannot be used is no mistake, but costs a compile at each start: said once. */
static void warn_of_cache(tw_kernel *k) {
    tw_context *cx = k->context;
    if (cx->cache_told) return;
    cx->cache_told = true;
    const char *why = cx->cache_dir ? cache_refusal(cx->cache_dir) : NULL;
    if (why) diag_emit(&k->diag, DIAG_CACHE_REFUSED, (Range){0, 0}, cx->cache_dir, why);
    if (cx->no_cache) diag_emit(&k->diag, DIAG_CACHE_NONE, (Range){0, 0});
}

tw_status kernel_compile_request(tw_kernel *k, const CompileRequest *request) {
    tw_context *cx = k->context;
    k->request = request;
    k->name = request->kernel->name;
    if (request->launch) k->name = arena_printf(&k->arena, "%s_%d", k->name, request->launch + 1);
    k->sanitize = request->sanitize;
    tw_status status = choose_target(k, request->target, request->emulate);
    if (status == TW_OK) status = options_apply(k, request->options, request->option_count);
    if (status == TW_OK && k->cooperative) status = run_together(k);
    if (status == TW_OK) status = check_arguments(k, request);
    if (status != TW_OK) return status;
    if (k->sanitize && k->target != &target_interp)
        return context_fail(cx, TW_ERROR_ARGUMENT,
                            "the sanitizer runs on the interpreter, in place of target cpu" FIX "choose cpu or interp");
    if (request->generic > k->pass.options.generic) k->pass.options.generic = request->generic;
    k->pass.options.overlap |= request->overlap;
    k->pass.options.odd = request->odd;
    if (request->join) k->pass.options.join = request->join;
    k->pass.options.no_ones = request->specialize_ones;
    k->pass.scratch = ARENA_NEW(&k->arena, Arena);
    arena_init(k->pass.scratch, cx->allocator, &cx->trap);
    status = make_code(k, request);
    if (status != TW_OK) {
        write_explain(k);
        seat_find(cx)->findings = arena_string(context_texts(cx), k->explain, strlen(k->explain));
        seat_find(cx)->findings_json = arena_string(context_texts(cx), k->explain_json, strlen(k->explain_json));
        return status;
    }
    if (is_built(request)) {
        status = kernel_prepare_launch(k, request->kernel);
        double start = seconds();
        if (status == TW_OK && k->target->build) {
            warn_of_cache(k);
            status = k->target->build(k);
        }
        add_step(k, "build", seconds() - start, NULL, false);
    }
    if (status != TW_OK) return status;
    tell_unused(k, request->kernel);
    return context_diagnose(cx, &k->diag, TW_ERROR_SOURCE);
}

static tw_status choose_kernel(tw_module *m, const char *name, const FrontKernel **out) {
    const FrontUnit *unit = &m->unit;
    size_t count = unit->kernels.count;
    if (!name && count == 1) {
        *out = &unit->kernels.at[0];
        return TW_OK;
    }
    Text list = text_new(context_texts(m->context));
    const char **names = ARENA_ARRAY(context_texts(m->context), const char *, count);
    for (size_t i = 0; i < count; i++) {
        names[i] = unit->kernels.at[i].name;
        text_add(&list, "%s%s", i ? ", " : "", names[i]);
        if (name && strcmp(name, names[i]) == 0) {
            *out = &unit->kernels.at[i];
            return TW_OK;
        }
    }
    if (!count) return context_fail(m->context, TW_ERROR_NOT_FOUND, "%s holds no kernel", unit->file->name);
    if (!name)
        return context_fail(m->context, TW_ERROR_NOT_FOUND, "%s holds %zu kernels, name one of them: %s",
                            unit->file->name, count, list.at);
    const char *near = text_nearest(name, names, count);
    if (near)
        return context_fail(m->context, TW_ERROR_NOT_FOUND, "%s holds no kernel `%s`" FIX "did you mean `%s`?",
                            unit->file->name, name, near);
    return context_fail(m->context, TW_ERROR_NOT_FOUND, "%s holds no kernel `%s`; it holds %s", unit->file->name, name,
                        list.at);
}

/* TILEWRIGHT_SANITIZE=1 makes every launch on the CPU a sanitized one. */
static bool is_sanitized_by_environment(const CompileRequest *request) {
    const char *wish = getenv("TILEWRIGHT_SANITIZE");
    bool cpu = strcmp(request->target, "cpu") == 0 || strcmp(request->target, "interp") == 0;
    return wish && *wish && strcmp(wish, "0") != 0 && cpu && request->stage == TW_STAGE_RUN;
}

tw_status kernel_compile(tw_kernel *k, const char *name, const tw_compile_options *options) {
    tw_context *cx = k->context;
    CompileRequest *request = ARENA_NEW(&k->arena, CompileRequest);
    tw_status status = choose_kernel(k->origin, name, &request->kernel);
    if (status != TW_OK) return status;
    int params = request->kernel->param_count;
    if ((int64_t)options->arg_count > params)
        return context_fail(cx, TW_ERROR_ARGUMENT, "%zu arguments for the %d parameters of kernel `%s`",
                            options->arg_count, params, request->kernel->name);
    FrontValue *values = ARENA_ARRAY(&k->arena, FrontValue, params);
    for (size_t i = 0; i < options->arg_count; i++) {
        const FrontParam *param = &request->kernel->params[i];
        values[i] = live_value(&k->arena, &options->args[i]);
        /* A type that the source states too is nothing new. */
        if (values[i].kind == FRONT_NUMBER && param->kind == FRONT_SCALAR && (int)values[i].elem == param->elem)
            values[i] = (FrontValue){.kind = FRONT_ABSENT};
    }
    diag_init(&k->diag, &k->arena, k->sources);
    if (!complete_values(k->origin, request->kernel, values, &k->arena, &k->diag))
        return context_diagnose(cx, &k->diag, TW_ERROR_SOURCE);
    tw_pair *pairs = ARENA_ARRAY(&k->arena, tw_pair, options->option_count);
    for (size_t i = 0; i < options->option_count; i++)
        pairs[i] =
            (tw_pair){copy_text(&k->arena, options->options[i].name), copy_text(&k->arena, options->options[i].value)};
    request->args = values;
    request->target = copy_text(&k->arena, options->target ? options->target : "cpu");
    request->options = pairs;
    request->option_count = options->option_count;
    request->passes = copy_text(&k->arena, options->passes);
    request->stop_after = copy_text(&k->arena, options->stop_after);
    request->stage = options->stage;
    request->device = options->device;
    request->emulate = options->emulate;
    request->sanitize = options->sanitize || is_sanitized_by_environment(request);
    request->verify_each = options->verify_each;
    request->keep_ir = options->keep_ir;
    request->specialize_ones = options->specialize_ones;
    status = kernel_compile_request(k, request);
    return status == TW_OK && k->sequence.launches > 1 ? sequence_compile(k) : status;
}
