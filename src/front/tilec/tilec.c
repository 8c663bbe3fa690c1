/* SPDX-License-Identifier: Apache-2.0 */
/* tilec.c: the Tile C door: `*.tile.c` to IR.
 *
 * Kernels of a file are its functions marked `tile_kernel(threads, blocks)` or `__global__`, and
 * its templates
 * (`lcf_kernel(name, ..)`). `tile_grid(x, y, z)` before a function states its grid, in terms of its
 * parameters. A struct parameter is taken apart: its members are parameters named with a dot
 * ("g.x"); the members of a template's globals are named as if it were called g. A global `gl(T, 1,
 * 1, -1, -1)` is a tensor of rank 2: leading extents that the type fixes at 1 are not part of it. */
#include "front/tilec/tilec.h"

#include <string.h>

static const char *const specifiers[] = {"tile_kernel",       "tile_grid",  "__global__", "__launch_bounds__",
                                         "__shared__",        "__device__", "__host__",   "__forceinline__",
                                         "__grid_constant__", NULL};
static const char *const headers[] = {"tile.h",      "kittens.h",   "kittens.cuh", "prototype.h",    "prototype.cuh",
                                      "stdint.h",    "stdbool.h",   "stddef.h",    "float.h",        "math.h",
                                      "cuda_bf16.h", "cuda_fp16.h", "cuda_fp8.h",  "cuda_runtime.h", "stdio.h",
                                      NULL};

static const SourceFile *find_header(void *user, const SourceFile *from, const char *name, bool angled) {
    const FrontUnit *unit = user;
    (void)angled;
    return unit->import ? unit->import(unit->import_user, from, name) : NULL;
}

static const char *define_text(Arena *arena, const FrontValue *value) {
    switch (value->kind) {
    case FRONT_BOOL:
    case FRONT_INT: return arena_printf(arena, "%lld", (long long)value->i);
    case FRONT_FLOAT: return arena_printf(arena, "%.17g", value->f);
    case FRONT_TEXT: return value->text;
    default: return "1";
    }
}

static bool is_word_char(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Macros leave no trace in the tree: a definition is used if one of the files has the word. */
static bool has_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || !is_word_char(at[-1])) && !is_word_char(at[length])) return true;
    return false;
}

static void mark_defines(FrontUnit *unit, size_t own) {
    for (int i = 0; i < unit->define_count; i++)
        for (size_t f = 0; f < unit->sources->files.count; f++)
            if (f != own && has_word(unit->sources->files.at[f]->text, unit->defines[i].name))
                front_define(unit, unit->defines[i].name);
}

static CNode *parse_unit(FrontUnit *unit) {
    CDefine *defines = ARENA_ARRAY(unit->arena, CDefine, unit->define_count);
    for (int i = 0; i < unit->define_count; i++)
        defines[i] = (CDefine){unit->defines[i].name, define_text(unit->arena, &unit->defines[i].value)};
    CRequest request = {.arena = unit->arena,
                        .sources = unit->sources,
                        .diag = unit->diag,
                        .vocabulary = {tilec_plain_types, tilec_tile_types, specifiers, tilec_templates, headers},
                        .find_header = find_header,
                        .user = unit,
                        .defines = defines,
                        .define_count = (size_t)unit->define_count};
    size_t own = unit->sources->files.count; /* the text of the definitions comes first */
    CNode *tree = c_parse(&request, unit->file);
    mark_defines(unit, own);
    return tree;
}

static const CNode *find_specifier(const CNode *function, const char *name) {
    for (uint32_t i = 3; i < function->count; i++)
        if (!strcmp(function->kids[i]->name, name)) return function->kids[i];
    return NULL;
}

static bool is_kernel(const CNode *node) {
    return node->kind == C_FUNCTION && node->kids[2] &&
           (find_specifier(node, "tile_kernel") || find_specifier(node, "__global__"));
}

/* ---- parameters ---- */

static int leading_ones(const TcType *global) {
    int ones = 0;
    while (ones < 2 && global->dims[ones] == 1) ones++;
    return ones;
}

typedef VEC(FrontParam) Params;

/* Appends the parameters that a value of the type stands for; false for a type that cannot be one. */
static bool list_params(Tc *tc, const TcType *type, const char *name, Range range, Params *out) {
    if (type->kind == TC_STRUCT) {
        for (int i = 0; i < type->field_count; i++) {
            const char *member = arena_printf(tc->arena, "%s.%s", name, type->fields[i].name);
            if (!list_params(tc, type->fields[i].type, member, type->fields[i].range, out)) return false;
        }
        return true;
    }
    if (type->kind != TC_SCALAR && type->kind != TC_GLOBAL) {
        TC_ERROR(tc, TC_PARAMETER, range, name, type->name);
        return false;
    }
    bool global = type->kind == TC_GLOBAL;
    *VEC_PUSH(out, tc->arena) = (FrontParam){.name = name,
                                             .kind = global ? FRONT_TENSOR : FRONT_SCALAR,
                                             .elem = (int)type->elem,
                                             .rank = global ? 4 - leading_ones(type) : 0,
                                             .range = range};
    return true;
}

/* What the type says of an extent is a promise: the launcher and the sanitizer can test it. */
static void promise_extents(Tc *tc, const Object *global) {
    for (int d = global->first_dim; d < 4; d++) {
        if (global->type->dims[d] < 0) continue;
        Op *extent = ir_begin(&tc->b, OP_EXTENT);
        ir_operand(&tc->b, extent, global->tensor);
        op_set(tc->kernel, extent, (Attr){.id = AT_DIM, .number = d - global->first_dim});
        Ref value = ir_end(&tc->b, extent, NULL);
        Op *assume = ir_begin(&tc->b, OP_ASSUME);
        ir_operand(&tc->b, assume, value);
        op_set(tc->kernel, assume, (Attr){.id = AT_EQ, .number = global->type->dims[d]});
        ir_end(&tc->b, assume, NULL);
    }
}

/* The same for a launch, by the parameter's name. */
static void state_shape(Tc *tc, const Object *global, const char *path) {
    const FrontRequest *request = tc->request;
    for (int i = 0; request->shapes && i < request->kernel->param_count; i++) {
        FrontShape *shape = &request->shapes[i];
        if (strcmp(request->kernel->params[i].name, path) != 0) continue;
        *shape = (FrontShape){.stated = true, .rank = 4 - global->first_dim};
        for (int d = global->first_dim; d < 4; d++) shape->extent[d - global->first_dim] = global->type->dims[d];
    }
}

void tc_wish_warps(Tc *tc, int warps) {
    int wish = 1;
    while (wish * 2 <= warps) wish *= 2;
    kernel_set(tc->kernel, (Attr){.id = AT_WARPS, .number = wish});
}

Object *tc_parameters(Tc *tc, const TcType *type, const char *name, const char *path) {
    Object *place = ARENA_NEW(tc->arena, Object);
    *place = (Object){.type = type, .name = name, .semaphore = -1, .locked = "it is a parameter of the kernel"};
    place->value.type = type;
    if (type->kind == TC_STRUCT) {
        place->parts = ARENA_ARRAY(tc->arena, Object *, type->field_count);
        for (int i = 0; i < type->field_count; i++) {
            const char *member = type->fields[i].name;
            const char *inner = arena_printf(tc->arena, "%s.%s", path, member);
            place->parts[i] = tc_parameters(tc, type->fields[i].type, member, inner);
        }
    } else if (type->kind == TC_SCALAR) {
        place->value.ref = ir_argument(tc->kernel, tc->b.region, ty_scalar(tc->module, type->elem), path);
    } else if (type->kind == TC_GLOBAL) {
        place->first_dim = leading_ones(type);
        const Type *tensor = ty_tensor(tc->module, type->elem, 4 - place->first_dim);
        place->tensor = ir_argument(tc->kernel, tc->b.region, tensor, path);
        if (tc->b.region == tc->kernel->body) promise_extents(tc, place);
        state_shape(tc, place, path);
    }
    return place;
}

/* ---- open ---- */

static bool list_function(Tc *tc, const CNode *node, Params *params) {
    const CNode *list = node->kids[1];
    for (uint32_t i = 0; i < list->count; i++) {
        const CNode *parameter = list->kids[i];
        const TcType *type = tc_type(tc, parameter->kids[0]);
        if (!type || !parameter->name || !list_params(tc, type, parameter->name, parameter->range, params))
            return false;
    }
    return true;
}

static bool list_template(Tc *tc, const CNode *node, Params *params) {
    const CNode *globals = tc_descriptor(node, "globals");
    bool named = node->count && node->kids[0]->kind == C_IDENT;
    bool typed = globals && globals->kind >= C_TYPE_NAME && globals->kind <= C_TYPE_ARRAY;
    if (!named || !typed) {
        TC_ERROR(tc, TC_DESCRIPTOR_MISSING, node->range, named ? "globals" : "name of the kernel");
        return false;
    }
    const TcType *type = tc_type(tc, globals);
    return type && list_params(tc, type, "g", globals->range, params);
}

/* Types that only exist inside a template (lcf_load_args) are not looked at before. */
bool tilec_open(FrontUnit *unit) {
    CNode *tree = parse_unit(unit);
    unit->tree = tree;
    if (unit->diag->errors) return false;
    Tc tc = {.arena = unit->arena, .diag = unit->diag, .unit_tree = tree, .unit = 1};
    tc_declare_file(&tc);
    for (uint32_t i = 0; i < tree->count; i++) {
        CNode *node = tree->kids[i];
        Params params = {0};
        bool template = node->kind == C_TEMPLATE;
        if (!template && !is_kernel(node)) continue;
        if (!(template ? list_template(&tc, node, &params) : list_function(&tc, node, &params))) continue;
        *VEC_PUSH(&unit->kernels, unit->arena) =
            (FrontKernel){.name = template ? node->kids[0]->name : node->name,
                          .range = node->range,
                          .param_count = (int)params.count,
                          .params = params.at,
                          .has_grid = template || find_specifier(node, "tile_grid"),
                          .node = node};
    }
    if (!tc.failed && !unit->kernels.count) {
        Range start = {unit->file->base, unit->file->base};
        TC_ERROR(&tc, TC_NO_KERNEL, start, unit->file->name);
    }
    return !tc.failed;
}

/* ---- lower ---- */

static int launch_threads(Tc *tc, const CNode *node) {
    const CNode *bounds = find_specifier(node, "__launch_bounds__");
    const CNode *kernel = find_specifier(node, "tile_kernel");
    if (kernel && kernel->count) bounds = kernel;
    int64_t threads = 32;
    if (!bounds) return 32;
    if (!bounds->count || !tc_constant(tc, bounds->kids[0], &threads, "the number of threads")) return 32;
    if (threads < 32 || threads % 32 || threads > 1024) TC_ERROR(tc, TC_THREADS, bounds->range, (long long)threads);
    int64_t blocks = 1; /* on a multiprocessor: a wish, as many as there is room for */
    bool says = bounds->count > 1 && tc_constant(tc, bounds->kids[1], &blocks, "the number of blocks");
    if (says && blocks > 1 && blocks <= 8) kernel_set(tc->kernel, (Attr){.id = AT_BLOCKS, .number = blocks});
    return (int)threads;
}

/* The parameters of the function as arguments of the region that is being built. */
static void bind_parameters(Tc *tc, const CNode *node) {
    const CNode *list = node->kids[1];
    tc->frame = ++tc->frames;
    for (uint32_t i = 0; i < list->count; i++) {
        const CNode *parameter = list->kids[i];
        const TcType *type = tc_type(tc, parameter->kids[0]);
        if (!type) return;
        Symbol *symbol = tc_bind(tc, parameter->name, SYMBOL_PLACE);
        symbol->type = type;
        symbol->place = tc_parameters(tc, type, parameter->name, parameter->name);
    }
}

/* tile_grid(x [, y [, z]]) */
static void lower_grid(Tc *tc, const CNode *node) {
    const CNode *grid = find_specifier(node, "tile_grid");
    if (!grid) return;
    if (grid->count < 1 || grid->count > 3) {
        TC_ERROR(tc, TC_GRID, grid->range, "takes 1 to 3 numbers: tile_grid(x, y, z)");
        return;
    }
    Builder body = tc->b;
    tc->kernel->grid = ARENA_NEW(tc->module->arena, Region);
    tc->b = ir_builder(tc->kernel, tc->kernel->grid);
    size_t scope = tc_open_scope(tc);
    bind_parameters(tc, node);
    Ref extents[3];
    for (uint32_t i = 0; i < grid->count; i++) {
        Scalar extent;
        if (!tc_number(tc, grid->kids[i], &extent)) break;
        extents[i] = tc_uniform(tc, tc_convert(tc, extent, tc_scalar_type(EL_I32), grid->range), grid->range);
    }
    for (const Op *op = tc->kernel->grid->first; op; op = op->next)
        if (op->code == OP_PROGRAM_ID || op->code == OP_NUM_PROGRAMS)
            TC_ERROR(tc, TC_GRID, grid->range,
                     "is computed before the launch: blockIdx and gridDim are not known there");
    if (!tc->failed) ir_yield(&tc->b, extents, (int)grid->count);
    tc_close_scope(tc, scope);
    tc->b = body;
}

/* A vector in registers is a warp's by its type, but no thread needs more of it than a few elements: where all that a
 * kernel does is element by element or along vectors, more warps may share the work than it says. */
enum { VECTOR_SHARE = 16 }; /* elements a thread, an order of magnitude */
typedef struct Widest {
    const Kernel *k;
    int64_t elements; /* of the widest vector that is loaded */
    bool bound;       /* products, barriers, tiles: the warps are meant as written */
} Widest;

static void look_at_width(Op *op, void *user) {
    Widest *w = user;
    const Type *type = op->result_count == 1 ? ir_type(w->k, op->results[0]) : NULL;
    if (op->code == OP_DOT || op->code == OP_SYNC || (type && type->kind == TY_TILE && type->rank > 1)) w->bound = true;
    if (op->code == OP_TLOAD && type->rank == 1 && type->extent[0] > w->elements) w->elements = type->extent[0];
}

static void share_vectors(Tc *tc) {
    Widest w = {.k = tc->kernel};
    ir_walk(tc->kernel->body, look_at_width, &w);
    int64_t warps = w.elements / (32 * VECTOR_SHARE);
    if (!w.bound && warps > tc->threads / 32) tc_wish_warps(tc, (int)(warps < 16 ? warps : 16));
}

/* Warpgroups that run side by side (tilec_semaphore.c). */
static void lower_workers(Tc *tc, const CNode *node) {
    Builder outer = tc->b;
    Op *spmd = ir_begin(&outer, OP_SPMD);
    tc->by_workers = true;
    tc->outside = &outer;
    tc->unit = 4;
    tc->worker_count = tc->threads / 128;
    ir_operand(&outer, spmd, ir_int(&outer, EL_I32, tc->worker_count));
    op_set(tc->kernel, spmd, (Attr){.id = AT_UNIT, .word = UNIT_WARPGROUP});
    Region *region = ir_region(&outer, spmd);
    tc->worker = ir_argument(tc->kernel, region, ty_scalar(tc->module, EL_I32), "w");
    tc->b = ir_builder_inside(&outer, region);
    tc_body(tc, node->kids[2]);
    tc_end_expected(tc);
    ir_yield(&tc->b, NULL, 0);
    tc->b = outer;
    ir_end(&tc->b, spmd, NULL);
}

static void lower_function(Tc *tc, const CNode *node) {
    const TcType *result = tc_type(tc, node->kids[0]);
    if (result && result->kind != TC_VOID) TC_ERROR(tc, TC_KERNEL_RESULT, node->range, node->name);
    tc->threads = launch_threads(tc, node);
    if (tc->failed) return;
    bool *all = ARENA_ARRAY(tc->arena, bool, tc->threads);
    memset(all, true, (size_t)tc->threads);
    tc->active = tc->role = all;
    tc->unit = tc->threads / 32;
    tc->worker_count = 1;
    tc_wish_warps(tc, tc->threads / 32);
    lower_grid(tc, node);
    if (tc->failed) return;
    bind_parameters(tc, node);
    if (tc_has_semaphores(node->kids[2]) && tc->threads % 128 == 0) {
        lower_workers(tc, node);
        return;
    }
    tc_body(tc, node->kids[2]);
    if (!tc->failed) share_vectors(tc);
}

/* A template's tasks come from common_setup: any number of programs will do, until merge_workers finds the best. */
static void one_program(Tc *tc) {
    Kernel *k = tc->kernel;
    k->grid = ARENA_NEW(tc->module->arena, Region);
    for (int i = 0; i < k->body->arg_count; i++) {
        const Value *argument = ir_value(k, k->body->args[i]);
        ir_argument(k, k->grid, argument->type, argument->name);
    }
    Builder b = ir_builder(k, k->grid);
    Ref one = ir_int(&b, EL_I32, 1);
    ir_yield(&b, &one, 1);
}

/* The kernel, or NULL: after an error, or when it must be lowered again (tc.again). */
static Kernel *lower_once(FrontUnit *unit, const FrontRequest *request, Ranges *joined, bool *again) {
    Module *module = request->module;
    const CNode *node = request->kernel->node;
    Kernel *kernel = ir_kernel_new(module, request->kernel->name, node->range);
    Tc tc = {.arena = module->arena,
             .diag = module->diag,
             .request = request,
             .module = module,
             .kernel = kernel,
             .unit_tree = unit->tree,
             .unit = 1,
             .joined = joined};
    tc.b = ir_builder(kernel, kernel->body);
    tc_declare_file(&tc);
    if (!tc.failed && node->kind == C_TEMPLATE) {
        tc_lower_template(&tc, node);
        if (!tc.failed) one_program(&tc);
    } else if (!tc.failed) {
        lower_function(&tc, node);
    }
    *again = tc.again;
    if (!tc.failed) tc_check_early(&tc);
    if (!tc.failed) tc_check_races(&tc);
    if (tc.failed) return NULL;
    ir_return(&tc.b);
    kernel->form = FORM_SOURCE;
    return ir_verify(kernel, FORM_SOURCE, module->diag) ? kernel : NULL;
}

/* Arrays of tiles are tiles, until one is found that must be a buffer: then the kernel is lowered once more. */
Kernel *tilec_lower(FrontUnit *unit, const FrontRequest *request) {
    Module *module = request->module;
    size_t kernels = module->kernels.count;
    int errors = (int)module->diag->errors;
    Ranges joined = {0};
    for (bool again = true;;) {
        Kernel *kernel = lower_once(unit, request, &joined, &again);
        if (!again || (int)module->diag->errors != errors) return kernel;
        module->kernels.count = kernels;
    }
}
