/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_loop.c: loops, the launch and assignments of a TileLang kernel.
 *
 * Plain names are bindings, not variables: an assignment of a run-time value gives it a name. What changes at run time
 * lives in tiles, tensors and T.alloc_var, so loops and ifs need no carried values; one that binds a name of outside
 * again is refused. */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

/* In Python a name that a loop binds again has its new value behind the loop. Here it would have the old one. */
static bool is_rebound(Lower *l, const char *name, Range range) {
    const Local *old = py_local(l->frame, name);
    if (!old || old->nest >= l->nest || old->val.kind == VAL_FUNCTION) return false;
    if (old->val.kind == VAL_UNBOUND || val_failed(old->val)) return false;
    py_error(l, DIAG_TL_REBOUND, range, name, l->branches ? "loop or `if`" : "loop");
    return true;
}

/* --- T.Parallel --- */

bool lang_loop_names(Lower *l, const PyNode *target, const char **names, int count) {
    bool tuple = target->kind == PY_Tuple || target->kind == PY_List;
    uint32_t n = tuple ? target->Tuple.elts->count : 1;
    const PyNode *const *parts = tuple ? (const PyNode *const *)target->Tuple.elts->at : &target;
    if ((int)n != count) {
        py_error(l, DIAG_TL_ARGUMENTS, target->range,
                 arena_printf(l->arena, "%u name%s for %d extent%s" FIX "write as many names as extents", n,
                              n == 1 ? "" : "s", count, count == 1 ? "" : "s"));
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (parts[i]->kind != PY_Name) {
            py_error(l, DIAG_TL_UNSUPPORTED, parts[i]->range, "this loop target", "use plain names");
            return false;
        }
        names[i] = parts[i]->Name.id;
    }
    return true;
}

const char *lang_extent_text(Lower *l, Val extent) {
    const char *text = val_describe(l, extent);
    return extent.kind == VAL_FLOAT ? arena_printf(l->arena, "%s, no integer, as `//` would give", text) : text;
}

bool lang_check_extent(Lower *l, Val extent, Range range, int64_t *out) {
    extent = lang_plain(extent);
    if (val_failed(extent) || lang_missing(l, extent, range)) return false;
    if (extent.kind != VAL_INT || extent.i < 0) {
        py_error(l, DIAG_TL_EXTENT, range, lang_extent_text(l, extent));
        return false;
    }
    *out = (int64_t)extent.i;
    if (extent.i <= INT32_MAX) return true;
    py_error(l, DIAG_TL_ARGUMENTS, range,
             arena_printf(l->arena, "an extent of %s does not fit 32 bits"
                                    FIX "give smaller sizes", val_text(l, extent)));
    return false;
}

Val lang_lower_parallel(Lower *l, const Call *c) {
    ElementLoop loop = {.in_order = c->builtin->code == 1, .count = c->args[0].count, .range = c->range};
    const char *wrong = loop.count < 1 ? "T.%s needs at least one extent" : "T.%s takes at most 8 extents";
    if (loop.count < 1 || loop.count > MAX_RANK)
        return py_error(l, DIAG_TL_ARGUMENTS, c->range, arena_printf(l->arena, wrong, c->builtin->name));
    memcpy(loop.extent, c->args[0].items, (size_t)loop.count * sizeof *loop.extent);
    return lang_own(l, &lang_loop_own, &loop, sizeof loop);
}

void lang_forget_names(Lower *l, size_t before, const char *const *names, int count) {
    static const char why[] = "it is first assigned inside a loop" FIX "give it a value before the loop";
    for (size_t i = before; i < l->frame->locals.count; i++)
        if (l->frame->locals.at[i].name[0] != '\1')
            l->frame->locals.at[i].val = (Val){.kind = VAL_UNBOUND, .text = why};
    for (int i = 0; i < count; i++) py_local(l->frame, names[i])->val = (Val){.kind = VAL_UNBOUND, .text = why};
}

void lang_run_closed(Lower *l, const PyNode *node) {
    int loops = l->frame->loops;
    l->frame->loops = 0;
    l->frame->closed++;
    if (py_run_block(l, node->For.body, 0, false) != END_GOES_ON)
        py_error(l, DIAG_TL_UNSUPPORTED, node->range, "a jump out of this loop", "put what follows under an `if`");
    l->frame->closed--;
    l->frame->loops = loops;
    l->b.range = node->range;
    ir_yield(&l->b, NULL, 0);
}

/* An element loop that is all of another one's body is one loop with it. */
static const PyNode *fuse(Lower *l, const PyNode *node, const char **names, ElementLoop *loop) {
    for (;;) {
        const PyNode *only = node->For.body->count == 1 ? node->For.body->at[0] : NULL;
        bool nested = only && only->kind == PY_For && only->For.iter->kind == PY_Call &&
                      (lang_is_language(l, only->For.iter->Call.func, "Parallel") ||
                       lang_is_language(l, only->For.iter->Call.func, "parallel"));
        if (!nested) return node;
        Val over = py_eval(l, only->For.iter);
        const ElementLoop *inner = lang_thing(over, &lang_loop_own);
        if (!inner || loop->count + inner->count > MAX_RANK) return val_failed(over) ? NULL : node;
        if (!lang_loop_names(l, only->For.target, names + loop->count, inner->count)) return NULL;
        for (int i = 0; i < inner->count; i++) loop->extent[loop->count++] = inner->extent[i];
        node = only;
    }
}

static void run_parallel(Lower *l, const PyNode *node, const ElementLoop *outer) {
    const char *names[MAX_RANK];
    int64_t extent[MAX_RANK];
    LangState *s = lang_state(l);
    bool empty = false;
    ElementLoop fused = *outer, *loop = &fused;
    if (!lang_loop_names(l, node->For.target, names, loop->count)) return;
    if (s->elements) {
        py_error(l, DIAG_TL_UNSUPPORTED, node->range, "T.Parallel inside T.Parallel",
                 "give all extents to one T.Parallel");
        return;
    }
    node = fuse(l, node, names, loop);
    if (!node) return;
    Ref given[MAX_RANK];
    for (int i = 0; i < loop->count; i++) {
        Val one = lang_plain(loop->extent[i]);
        given[i] = REF_NONE, extent[i] = -1;
        if (one.kind == VAL_TENSOR || (lang_storage(one) && lang_storage(one)->kind == STORE_VARIABLE)) {
            if (!lang_convert(l, one, EL_I32, loop->range, &given[i])) return; /* known at run time */
            continue;
        }
        if (!lang_check_extent(l, one, loop->range, &extent[i])) return;
        empty |= extent[i] == 0;
    }
    if (empty) return; /* as a loop without a trip */
    l->b.range = loop->range;
    Op *op = ir_begin(&l->b, OP_PARALLEL);
    Region *region = ir_region(&l->b, op);
    Builder outside = l->b;
    size_t before = l->frame->locals.count;
    l->nest++;
    for (int i = 0; i < loop->count; i++) { /* a name of outside is gone behind it: nobody takes one for the other */
        ir_operand(&l->b, op, given[i] ? given[i] : ir_int(&l->b, EL_I32, extent[i]));
        Ref index = ir_argument(l->kernel, region, ty_scalar(l->module, EL_I32), names[i]);
        lang_add_variable(l, index, -1, &(int64_t){0}, given[i] ? NULL : &(int64_t){extent[i] - 1});
        py_set_local(l, names[i], val_tensor(index));
    }
    outside = l->b;
    l->b = ir_builder_inside(&outside, region);
    s->elements = true;
    lang_run_closed(l, node);
    s->elements = false;
    l->b = outside;
    lang_forget_names(l, before, names, loop->count);
    l->b.range = node->range;
    ir_end(&l->b, op, NULL);
    l->nest--;
}

/* T.grid: loops one inside the other. */
static void run_grid(Lower *l, const PyNode *node, const ElementLoop *loop) {
    const char *names[MAX_RANK];
    Builder outside[MAX_RANK];
    int64_t extent[MAX_RANK];
    size_t before = l->frame->locals.count;
    int begun = 0;
    if (!lang_loop_names(l, node->For.target, names, loop->count)) return;
    for (int i = 0; i < loop->count; i++)
        if (!lang_check_extent(l, loop->extent[i], loop->range, &extent[i])) return;
    l->nest++;
    for (int i = 0; i < loop->count; i++) {
        l->b.range = loop->range;
        Ref bounds[3] = {ir_int(&l->b, EL_I32, 0), ir_int(&l->b, EL_I32, extent[i]), ir_int(&l->b, EL_I32, 1)};
        Op *op = ir_for(&l->b, bounds[0], bounds[1], bounds[2], NULL, 0, names[i]);
        outside[i] = l->b;
        l->b = ir_builder_inside(&outside[i], op->regions[0]);
        py_set_local(l, names[i], val_tensor(op->regions[0]->args[0]));
        begun += lang_loop_begin(l, op->regions[0]->args[0], bounds);
    }
    lang_run_closed(l, node);
    for (int i = loop->count - 1; i >= 0; i--) {
        l->b = outside[i];
        if (!i) break;
        l->b.range = node->range;
        ir_yield(&l->b, NULL, 0);
    }
    lang_loop_end(l, begun);
    lang_forget_names(l, before, names, loop->count);
    l->nest--;
}

/* --- counted loops --- */

/* T.serial, T.unroll, range; T.Pipelined (code 1) */
Val lang_lower_range(Lower *l, const Call *c) {
    Range3 *range = ARENA_NEW(l->arena, Range3);
    bool one = c->args[1].kind == VAL_NONE, staged = c->builtin->code == 1;
    range->start = one ? val_int(0) : lang_plain(c->args[0]);
    range->stop = lang_plain(one ? c->args[0] : c->args[1]);
    range->step = staged || c->args[2].kind == VAL_NONE ? val_int(1) : lang_plain(c->args[2]);
    if (range->step.kind == VAL_INT && range->step.i == 0) return py_error(l, DIAG_EVAL_STEP_ZERO, c->range);
    if (!staged) return (Val){.kind = VAL_RANGE, .range = range};
    Val stages = lang_plain(c->args[2]);
    if (stages.kind == VAL_NONE) stages = val_int(0);
    if (stages.kind != VAL_INT)
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[2], "num_stages must be a known integer");
    if (stages.i < 0 || stages.i > 64)
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[2], "num_stages must be in 0 .. 64");
    range->staged = true;
    range->stages = (int)stages.i;
    return (Val){.kind = VAL_RANGE, .range = range};
}

bool lang_loop_bounds(Lower *l, const Range3 *range, Range where, Ref bounds[3]) {
    Val v[3] = {range->start, range->stop, range->step};
    if (v[2].kind != VAL_INT || v[2].i < 1) {
        py_error(l, DIAG_TL_ARGUMENTS, where, "the step of a loop must be a known integer other than 0");
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (v[i].kind == VAL_INT && (v[i].i < INT32_MIN || v[i].i > INT32_MAX)) {
            py_error(l, DIAG_TL_ARGUMENTS, where,
                     arena_printf(l->arena, "a loop counts in 32 bits, %s does not fit", val_text(l, v[i])));
            return false;
        }
        Val scalar = lang_scalar(l, v[i], where);
        if (val_failed(scalar)) return false;
        if (!elem_is_int(val_type(l, scalar)->elem)) {
            lang_types(l, where,
                       arena_printf(l->arena, "a loop counts integers, and %s is none"
                                              FIX "write `//`, or T.cast it to an "
                                              "integer",
                                    val_describe(l, v[i])));
            return false;
        }
        if (!lang_convert(l, v[i], EL_I32, where, &bounds[i])) return false;
    }
    return true;
}

int lang_loop_begin(Lower *l, Ref variable, const Ref bounds[3]) {
    int64_t lo, hi, step;
    bool starts = ir_const_int(l->kernel, bounds[0], &lo), ends = ir_const_int(l->kernel, bounds[1], &hi);
    bool known = starts && ends && ir_const_int(l->kernel, bounds[2], &step), idle = known && hi <= lo;
    int64_t last = known && !idle ? lo + (hi - 1 - lo) / step * step : lo;
    lang_add_variable(l, variable, -1, starts ? &lo : NULL, known && !idle ? &last : NULL);
    if (known) lang_state(l)->variables.at[lang_state(l)->variables.count - 1].step = step;
    lang_state(l)->idle += idle; /* what stands there never happens */
    return idle;
}

void lang_loop_end(Lower *l, int begun) { lang_state(l)->idle -= begun; }

bool lang_for(Lower *l, const PyNode *node, Val over) {
    const ElementLoop *loop = lang_thing(over, &lang_loop_own);
    if (loop) {
        bool in_order = loop->in_order || lang_loops_alone(l, node);
        if (!in_order && lang_draws(l, node)) { /* in what order numbers are taken is what they are */
            in_order = lang_state(l)->block_threads == 1;
            if (!in_order) {
                py_error(l, DIAG_TL_UNSUPPORTED, node->For.iter->range,
                         "a random number in T.Parallel, whose iterations have no order,",
                         "loop over the thread's own elements with T.serial");
                return true;
            }
        }
        (in_order ? run_grid : run_parallel)(l, node, loop);
        return true;
    }
    const PyNode *iter = node->For.iter, *target = node->For.target;
    if (over.kind == VAL_TENSOR && iter->kind == PY_Call && lang_is_language(l, iter->Call.func, "thread_binding")) {
        const char *name; /* each thread makes its one trip */
        if (!lang_loop_names(l, target, &name, 1)) return true;
        py_set_local(l, name, over);
        py_run_block(l, node->For.body, 0, false);
        return true;
    }
    if (val_is_own(over, &lang_persistent_own)) {
        lang_run_persistent(l, node, over.thing);
        return true;
    }
    if (over.kind == VAL_RANGE || over.kind == VAL_ERROR || over.kind == VAL_TUPLE) return false;
    py_error(l, DIAG_TL_UNSUPPORTED, node->For.iter->range, "this iterable",
             "loop over T.Parallel, T.Pipelined, T.serial, range or a list");
    return true;
}

/* --- with T.Kernel(...) as (bx, by): --- */

/* The arguments of T.Kernel, by the row of the table: extents in args[0], threads in args[1]. */
Val lang_lower_kernel(Lower *l, const Call *c) {
    Val parts[3] = {c->args[0], c->args[1], c->args[2]};
    if (parts[2].kind != VAL_NONE && parts[2].kind != VAL_STR && !val_failed(parts[2]))
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[2], "prelude is a text in C or CUDA");
    return val_tuple(l, parts, 3);
}

static bool set_threads(Lower *l, Val threads, Range range) {
    PyInt count = 1;
    Val all = threads;
    lang_state(l)->block_threads = lang_state(l)->arriving = 128;
    if (threads.kind == VAL_NONE) return true;
    if (threads.kind != VAL_TUPLE && threads.kind != VAL_LIST) all = val_tuple(l, &threads, 1);
    for (int i = 0; i < val_count(all); i++) {
        Val one = lang_plain(val_items(all)[i]);
        if (one.kind != VAL_INT || one.i < 1 || one.i > 1024) count = 0;
        count *= one.kind == VAL_INT && one.i <= 1024 ? one.i : 0;
    }
    if (count < 1 || count > 1024) {
        py_error(l, DIAG_TL_ARGUMENTS, range, "T.Kernel takes threads from 1 to 1024");
        return false;
    }
    lang_state(l)->block_threads = lang_state(l)->arriving = (int64_t)count;
    int64_t warps = 1; /* a hint: a power of two, as plans have them */
    while (2 * warps * 32 <= (int64_t)count) warps *= 2;
    if (count >= 32) kernel_set(l->kernel, (Attr){.id = AT_WARPS, .number = warps});
    return true;
}

/* The region that computes the grid from the parameters. */
typedef struct Grid {
    Builder b;
    RefMap map; /* of what the body has computed of them */
} Grid;

/* Computes the value there, too; false: it is made of more than parameters. */
static bool in_grid(Lower *l, Grid *grid, Ref ref, int depth) {
    enum { DEEPEST = 64 };
    if (!ref_is_value(ref) || refmap_get(&grid->map, ref) != ref) return true;
    const Op *op = ir_value(l->kernel, ref)->op;
    bool pure = op && !op->region_count && op_has(op->code, TRAIT_PURE) && op->code != OP_PROGRAM_ID;
    if (!pure || depth > DEEPEST) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!in_grid(l, grid, op->operands[i], depth + 1)) return false;
    ir_clone(&grid->b, op, &grid->map);
    return true;
}

/* An extent of the grid: a number, or computed from parameters; *known: which one, -1: not before the launch. */
static bool grid_extent(Lower *l, Grid *grid, Val extent, Range range, Ref *out, int64_t *known) {
    extent = lang_plain(extent);
    *known = -1;
    if (val_is_const(extent) || val_failed(extent)) {
        if (!lang_check_extent(l, extent, range, known)) return false;
        *out = ir_int(&grid->b, EL_I32, *known);
        return true;
    }
    Ref here;
    if (!lang_convert(l, extent, EL_I32, range, &here)) return false;
    if (!in_grid(l, grid, here, 0)) {
        py_error(l, DIAG_TL_EXTENT, range, "computed from what a tensor holds");
        return false;
    }
    *out = refmap_get(&grid->map, here);
    return true;
}

static void run_launch(Lower *l, const PyNode *node, Val parts) {
    const PyNode *item = node->With.items->at[0], *call = item->withitem.context_expr;
    Val extents = parts.items[0];
    int count = extents.count;
    Kernel *k = l->kernel;
    LangState *s = lang_state(l);
    if (s->launched || l->nest) {
        py_error(l, DIAG_TL_UNSUPPORTED, call->range,
                 s->launched ? "T.Kernel inside T.Kernel" : "T.Kernel under a run-time condition or loop",
                 "launches stand one behind the other in the function");
        return;
    }
    int parts_here = lang_parts(l, node->With.body), part = l->request->launch - s->launches;
    if (!l->request->sequence && (s->launches || parts_here > 1)) {
        py_error(l, DIAG_TL_PLANNED, node->range, "a second T.Kernel in one function", "write two kernels");
        return;
    }
    bool mine = part >= 0 && part < parts_here;
    s->launches += parts_here;
    if (l->request->sequence) l->request->sequence->launches = s->launches;
    if (!mine) return;
    if (!count) extents = val_tuple(l, &(Val){.kind = VAL_INT, .i = 1}, 1), count = 1; /* one block */
    if (count > 3) {
        py_error(l, DIAG_TL_ARGUMENTS, call->range, "T.Kernel takes up to three grid extents");
        return;
    }
    k->grid = ARENA_NEW(l->module->arena, Region);
    Grid grid = {.b = ir_builder_inside(&l->b, k->grid), .map = {.arena = l->arena}};
    for (int i = 0; i < k->body->arg_count; i++) {
        const Value param = *ir_value(k, k->body->args[i]);
        refmap_set(&grid.map, k->body->args[i], ir_argument(k, k->grid, param.type, param.name));
    }
    Ref extent[3];
    const char *names[3];
    const PyNode *target = item->withitem.optional_vars;
    if (target && !lang_loop_names(l, target, names, count)) return;
    for (int i = 0; i < count; i++) {
        int64_t known, last;
        if (!grid_extent(l, &grid, extents.items[i], call->range, &extent[i], &known)) return;
        last = known - 1;
        if (!target) continue;
        Op *id = ir_begin(&l->b, OP_PROGRAM_ID);
        op_set(k, id, (Attr){.id = AT_DIM, .number = i});
        Ref block = ir_end(&l->b, id, NULL);
        ir_name(k, block, names[i]);
        lang_add_variable(l, block, known < 0 ? -1 : i, &(int64_t){0}, known < 0 ? NULL : &last);
        py_set_local(l, names[i], val_tensor(block));
    }
    ir_yield(&grid.b, extent, count);
    if (!set_threads(l, parts.items[1], call->range)) return;
    s->launched = true;
    if (parts.items[2].kind == VAL_STR) lang_import(l, parts.items[2].text);
    lang_emitters_begin(l, node);
    lang_threads_begin(l, node, parts.items[1]);
    if (parts_here > 1)
        lang_run_part(l, node->With.body, part);
    else
        py_run_block(l, node->With.body, 0, false);
    lang_threads_end(l);
    s->launched = false;
}

/* Beside or without a launch: a mark that changes nothing (iket.range); false after a message. */
static bool is_mark(Lower *l, const PyNode *item) {
    const PyNode *expr = item->withitem.context_expr;
    Val v = expr->kind == PY_Call ? py_eval(l, expr) : val_none;
    if (val_failed(v)) return false; /* a row that says why */
    if (expr->kind == PY_Call && v.kind == VAL_NONE && !item->withitem.optional_vars) return true;
    py_error(l, DIAG_TL_UNSUPPORTED, expr->range, "this `with`", "only `with T.Kernel(...) as ...:` is known");
    return false;
}

/* `with T.While(c):` is Python's `while c:`. */
static bool with_while(Lower *l, const PyNode *node, const PyNode *call) {
    static const PyList nothing;
    if (call->Call.args->count != 1 || call->Call.keywords->count) {
        py_error(l, DIAG_TL_ARGUMENTS, call->range, "T.While takes one condition; join several with `and`");
        return true;
    }
    PyNode *loop = ARENA_NEW(l->arena, PyNode);
    *loop = (PyNode){.kind = PY_While, .range = node->range};
    loop->While.test = call->Call.args->at[0];
    loop->While.body = node->With.body;
    loop->While.orelse = &nothing;
    py_run_while(l, loop);
    return true;
}

bool lang_with(Lower *l, const PyNode *node) {
    const PyList *items = node->With.items;
    const PyNode *call = items->at[0]->withitem.context_expr;
    if (!l->kernel) return false;
    bool one = items->count == 1 && call->kind == PY_Call;
    if (one && lang_is_language(l, call->Call.func, "ws")) return lang_with_ws(l, node, call);
    if (one && lang_is_language(l, call->Call.func, "attr")) return lang_with_attr(l, node, call);
    if (one && lang_is_language(l, call->Call.func, "While")) return with_while(l, node, call);
    bool launch = call->kind == PY_Call && lang_is_language(l, call->Call.func, "Kernel");
    for (uint32_t i = launch; i < items->count; i++)
        if (!is_mark(l, items->at[i])) return true;
    Val parts = launch ? py_eval(l, call) : val_none;
    if (launch && !val_failed(parts)) run_launch(l, node, parts);
    if (!launch) py_run_block(l, node->With.body, 0, false);
    return true;
}

/* --- assignments --- */

bool lang_bind(Lower *l, const PyNode *target, Val value) {
    const char *id = target->Name.id;
    const Local *old = py_local(l->frame, id);
    const Storage *variable = old ? lang_storage(old->val) : NULL, *made = lang_storage(value);
    if (val_failed(value)) return false;
    if (lang_thing(value, &lang_note_own) && lang_bind_output(l, target, value)) return true;
    if (variable && variable->kind == STORE_VARIABLE && value.kind != VAL_NONE && made != variable) {
        lang_variable_store(l, variable, value, target->range);
        return true;
    }
    if (is_rebound(l, id, target->range)) return true;
    if (made) lang_bind_emitted(l, id, made);
    if (made && made->kind != STORE_TENSOR && !made->base && !ir_value(l->kernel, made->ref)->name)
        ir_name(l->kernel, made->ref, id);
    return false;
}

/* An element or box; false: it is none. */
static bool place_of(Lower *l, const PyNode *target, Val *place) {
    *place = target->kind == PY_Subscript ? py_eval(l, target) : val_none;
    return lang_box(*place) || val_failed(*place);
}

bool lang_assign(Lower *l, const PyNode *target, Val value) {
    Val place;
    if (!l->kernel || !place_of(l, target, &place)) return false;
    const Box *box = lang_box(place);
    if (!box || val_failed(value)) return true;
    const Storage *whole = lang_storage(value);
    bool boxes = (whole && whole->kind != STORE_VARIABLE) || (lang_box(value) && !lang_is_element(lang_box(value)));
    if (lang_is_element(box))
        lang_store(l, box, value, target->range);
    else if (boxes)
        lang_move(l, value, place, target->range);
    else
        lang_fill(l, place, value, target->range);
    return true;
}

bool lang_augmented(Lower *l, const PyNode *node) {
    const PyNode *target = node->AugAssign.target;
    Val place;
    if (!l->kernel || !place_of(l, target, &place)) return false;
    const Box *box = lang_box(place);
    Val value = box ? py_eval(l, node->AugAssign.value) : val_error;
    if (val_failed(value)) return true;
    if (!lang_is_element(box)) {
        lang_types(l, node->range, "only single elements are updated" FIX "use T.Parallel over the tile");
        return true;
    }
    Val old = lang_load(l, box, node->range), result = lang_binary(l, node->AugAssign.op, old, value, node->range);
    if (!val_failed(result)) lang_store(l, box, result, node->range);
    return true;
}
