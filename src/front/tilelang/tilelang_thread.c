/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_thread.c: kernels that name their threads one by one (T.get_thread_binding and its kin).
 *
 * Such a kernel is lowered as one `spmd` region over its threads, which is then cut (ir/threads.h): tile operations
 * stand between regions, and do once what they do for the block. T.alloc_local and T.alloc_var are each thread's own:
 * the buffer has the extents of the threads in front, and every access the thread's numbers. Barriers between threads
 * that meet in shared memory are put in where the source leaves them out, as TileLang does.
 *
 *     with T.Kernel(4, threads=(32, 4)) as bx:        spmd %ty, %tx in 4, 32 {
 *         tx = T.get_thread_binding(0)                  %own = buf : buf<f32[4,32,8], local>
 *         own = T.alloc_local((8,), "float32")          ..
 *
 * A kernel that names no thread has none: its tile operations are all there is. */
#include "ir/barriers.h"
#include "ir/roles.h"
#include "ir/threads.h"
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

enum { WARP = 32, GROUP = 128, DEFAULT_THREADS = 128 };

/* --- does the kernel name its threads? --- */

typedef struct Scan {
    Lower *l;
    Frame *frame; /* whose names mean something where the scan is */
    int depth;    /* of calls */
    bool found;
} Scan;

static void scan_node(void *user, PyNode *node) {
    enum { DEEPEST = 6 };
    Scan *s = user;
    if (s->found) return;
    if (node->kind == PY_Attribute && py_builtin(s->l, node->Attribute.attr, 'W')) {
        s->found = true;
        return;
    }
    if (node->kind == PY_Call && node->Call.func->kind == PY_Name && s->depth < DEEPEST) {
        const char *id = node->Call.func->Name.id;
        const Local *local = NULL;
        for (Frame *f = s->frame; f && !local; f = f->function ? f->function->around : NULL) local = py_local(f, id);
        Val v = py_live_peek(s->l, local ? local->val : names_lookup(s->l, id, node->range), node->range);
        if (v.kind == VAL_BUILTIN && strchr(v.builtin->kinds, 'W')) s->found = true;
        if (v.kind == VAL_FUNCTION && v.function->node->kind == PY_FunctionDef) {
            Frame *here = s->frame;
            Names *names = s->l->names;
            const PyNode *def = v.function->node;
            s->depth++, s->frame = v.function->around, s->l->names = v.function->names;
            for (uint32_t i = 0; i < def->FunctionDef.body->count; i++) scan_node(s, def->FunctionDef.body->at[i]);
            s->depth--, s->frame = here, s->l->names = names;
        }
    }
    py_each_child(node, scan_node, s);
}

static bool names_threads(Lower *l, const PyNode *with) {
    Scan s = {.l = l, .frame = l->frame};
    for (uint32_t i = 0; i < with->With.body->count; i++) scan_node(&s, with->With.body->at[i]);
    return s.found;
}

/* --- the region --- */

void lang_threads_begin(Lower *l, const PyNode *with, Val threads) {
    LangState *s = lang_state(l);
    s->threads = 0;
    s->random = NULL;
    if (!names_threads(l, with)) return;
    threads = lang_plain(threads);
    Val one = threads.kind == VAL_NONE ? val_int(DEFAULT_THREADS) : threads, all = one;
    if (one.kind != VAL_TUPLE && one.kind != VAL_LIST) all = val_tuple(l, &one, 1);
    if (val_count(all) > 3) {
        py_error(l, DIAG_TL_ARGUMENTS, with->range, "threads have at most three dimensions");
        return;
    }
    s->threads = val_count(all);
    static const char *const names[] = {"tx", "ty", "tz"};
    Op *op = ir_begin(&l->b, OP_SPMD);
    Region *region = ir_region(&l->b, op);
    op_set(l->kernel, op, (Attr){.id = AT_UNIT, .word = UNIT_THREAD});
    for (int d = s->threads - 1; d >= 0; d--) {
        int64_t extent = s->thread_extent[d] = (int64_t)lang_plain(val_items(all)[d]).i, last = extent - 1;
        ir_operand(&l->b, op, ir_int(&l->b, EL_I32, extent));
        s->thread[d] = ir_argument(l->kernel, region, ty_scalar(l->module, EL_I32), names[d]);
        lang_add_variable(l, s->thread[d], -1, &(int64_t){0}, &last);
    }
    ir_end(&l->b, op, NULL);
    s->around = l->b;
    s->region = op;
    l->b = ir_builder_inside(&s->around, region);
}

/* What stands behind `before` in its region goes, and comes. */
typedef VEC(Op *) Ops;
static Ops take_out(Lower *l, const Op *before) {
    Ops out = {0};
    for (Op *op = before ? before->next : l->b.region->first, *next; op; op = next) {
        next = op->next;
        ir_remove(op);
        *VEC_PUSH(&out, l->arena) = op;
    }
    return out;
}

static void put_in(Lower *l, const Ops *ops) {
    for (size_t i = 0; i < ops->count; i++) ir_insert_op(l->b.region, NULL, ops->at[i]);
}

/* Between tile operations; roles in one order. */
static bool cut_threads(Lower *l, Op *region, Threads *t) {
    *t = threads_look(l->kernel, region, false, l->arena);
    threads_order_roles(t);
    *t = threads_look(l->kernel, region, false, l->arena);
    threads_add_syncs(t);
    return threads_cut(t);
}

/* Roles that have no order are those of warpgroups side by side. */
static bool split_roles(Lower *l, Op *region, Threads *t) {
    *t = threads_look(l->kernel, region, false, l->arena);
    return threads_split_roles(t) && cut_threads(l, region, t);
}

/* One order in which all goes well says nothing of the others: what is wrong in any is the user's mistake, however the
 * roles will run. */
static void check_roles(Lower *l) {
    RolesBounds bounds;
    bool good = true;
    FoundOps found = ir_list(l->kernel->body, OP_SPMD, l->arena);
    for (size_t i = 0; i < found.count && good; i++)
        if (found.at[i]->region_count > 1) good = roles_check(l->kernel, l->arena, found.at[i], NULL, &bounds);
}

/* TileLang runs a hand-over without a barrier as it is written, and by luck it comes out well. */
static void order_roles(Lower *l) {
    FoundOps found = ir_list(l->kernel->body, OP_SPMD, l->arena);
    for (size_t i = 0; i < found.count; i++)
        if (found.at[i]->region_count > 1) roles_order(l->kernel, l->arena, found.at[i]);
}

void lang_threads_end(Lower *l) {
    LangState *s = lang_state(l);
    if (!s->threads) return;
    ir_yield(&l->b, NULL, 0);
    l->b = s->around;
    s->threads = 0;
    if (l->diag->errors) return;
    bool barriers = ir_list(s->region->regions[0], OP_BAR, l->arena).count > 0;
    const Op *before = s->region->previous, *where;
    Op *written = NULL;
    if (barriers) { /* for a second try */
        Builder b = ir_builder_behind(l->kernel, s->region);
        written = ir_clone(&b, s->region, &(RefMap){.arena = l->arena});
        ir_remove(written);
    }
    Threads t, other;
    const char *why;
    bool cut = cut_threads(l, s->region, &t);
    if (barriers) {
        bool ordered = cut && bars_prove(l->kernel, l->arena, &why, &where);
        Ops first = take_out(l, before);
        ir_insert_op(l->b.region, NULL, written);
        bool split = split_roles(l, written, &other);
        if (split) order_roles(l);
        if (split && !ordered) return;
        if (split) check_roles(l);
        take_out(l, before);
        put_in(l, &first); /* whoever drops its barriers says what is wrong */
    }
    if (!cut) py_error(l, DIAG_TL_THREADS, t.where, t.why);
}

int lang_own_offsets(const Lower *l, const Storage *of, const Ref *offset, Ref *out) {
    const LangState *s = lang_state(l);
    int count = 0;
    if (of->own)
        for (int d = s->threads - 1; d >= 0; d--) out[count++] = s->thread[d];
    memcpy(out + count, offset, (size_t)of->rank * sizeof *out);
    return count + of->rank;
}

const Type *lang_own_type(Lower *l, const Storage *of, Word scope) {
    const LangState *s = lang_state(l);
    int64_t extent[MAX_RANK];
    int count = 0;
    if (of->own)
        for (int d = s->threads - 1; d >= 0; d--) extent[count++] = s->thread_extent[d];
    memcpy(extent + count, of->shape, (size_t)of->rank * sizeof *extent);
    return ty_buffer(l->module, of->elem, count + of->rank, extent, scope);
}

bool lang_own_fits(Lower *l, const Storage *of, Range range) {
    int64_t elements = 1;
    for (int d = 0; d < of->rank; d++) elements *= of->shape[d];
    for (int d = 0; d < lang_state(l)->threads; d++) elements *= lang_state(l)->thread_extent[d];
    if (!of->own || (elements <= MAX_TILE_ELEMENTS && of->rank + lang_state(l)->threads <= MAX_RANK)) return true;
    lang_types(l, range, "what each thread has is, for all threads together, at most 2^20 elements of 9 dimensions");
    return false;
}

/* --- numbers of the thread --- */

bool lang_need_threads(Lower *l, const Call *c) {
    if (lang_state(l)->threads) return true;
    py_error(l, DIAG_TL_UNSUPPORTED, c->range, arena_printf(l->arena, "T.%s outside of T.Kernel", c->builtin->name),
             "put it under `with T.Kernel(...)`");
    return false;
}

static Val number(Lower *l, PyOp op, Val x, int64_t y, Range range) { return lang_binary(l, op, x, val_int(y), range); }

/* Among all threads of the block, the first dimension fastest. */
Val lang_linear_thread(Lower *l, Range range) {
    const LangState *s = lang_state(l);
    Val at = val_tensor(s->thread[s->threads - 1]);
    for (int d = s->threads - 2; d >= 0; d--)
        at = lang_binary(l, PY_OP_ADD, number(l, PY_OP_MUL, at, s->thread_extent[d], range), val_tensor(s->thread[d]),
                         range);
    return at;
}

/* code 0: the number along a dimension, 1: all of them, 2: the extent, 3: all extents */
Val lang_lower_thread(Lower *l, const Call *c) {
    const LangState *s = lang_state(l);
    Val all[3], dim = lang_plain(c->args[0]);
    if (!lang_need_threads(l, c)) return val_error;
    if (c->builtin->code & 1) {
        for (int d = 0; d < s->threads; d++)
            all[d] = c->builtin->code == 1 ? val_tensor(s->thread[d]) : val_int(s->thread_extent[d]);
        return val_tuple(l, all, s->threads);
    }
    if (dim.kind != VAL_INT || dim.i < 0 || dim.i > 2)
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "threads have the dimensions 0, 1 and 2");
    if (dim.i >= s->threads) return val_int(c->builtin->code == 2);
    return c->builtin->code == 2 ? val_int(s->thread_extent[dim.i]) : val_tensor(s->thread[dim.i]);
}

/* The block's number along a dimension of the grid; code 1: along all three, as a tuple. */
Val lang_lower_block(Lower *l, const Call *c) {
    Val all[3], dim = lang_plain(c->args[0]);
    bool one = !c->builtin->code;
    if (!lang_in_kernel(l, c)) return val_error;
    if (one && (dim.kind != VAL_INT || dim.i < 0 || dim.i > 2))
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "a grid has the dimensions 0, 1 and 2");
    l->b.range = c->range;
    for (int d = one ? (int)dim.i : 0; d < (one ? (int)dim.i + 1 : 3); d++) {
        Op *id = ir_begin(&l->b, OP_PROGRAM_ID);
        op_set(l->kernel, id, (Attr){.id = AT_DIM, .number = d});
        all[one ? 0 : d] = val_tensor(ir_end(&l->b, id, NULL));
        lang_add_variable(l, all[one ? 0 : d].ref, -1, &(int64_t){0}, NULL);
    }
    return one ? all[0] : val_tuple(l, all, 3);
}

/* T.thread_binding(n, thread="threadIdx.x"), (0, n, ..): the number along a dimension, as a value or as a loop. */
Val lang_lower_thread_binding(Lower *l, const Call *c) {
    const LangState *s = lang_state(l);
    static const char *const names[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};
    Val low = val_int(0), high = lang_plain(c->args[0]), name = c->args[2];
    if (!lang_need_threads(l, c)) return val_error;
    if (c->args[1].kind == VAL_STR)
        name = c->args[1];
    else if (c->args[1].kind != VAL_NONE)
        low = high, high = lang_plain(c->args[1]);
    for (int d = 0; d < s->threads && name.kind == VAL_STR; d++) {
        if (strcmp(names[d], name.text) != 0) continue;
        if (low.kind == VAL_INT && low.i == 0 && high.kind == VAL_INT && high.i == s->thread_extent[d])
            return val_tensor(s->thread[d]);
        return py_error(l, DIAG_TL_ARGUMENTS, c->range,
                        arena_printf(l->arena, "T.Kernel has %lld threads along %s; the loop runs over all of them",
                                     (long long)s->thread_extent[d], names[d]));
    }
    return py_error(l, DIAG_TL_ARGUMENTS, c->range,
                    "thread is one of the dimensions that T.Kernel's `threads` has: \"threadIdx.x\", ..");
}

/* code: threads of a group; negative: its number, else the place inside */
Val lang_lower_lane(Lower *l, const Call *c) {
    int64_t size = c->builtin->code < 0 ? -c->builtin->code : c->builtin->code;
    if (!lang_need_threads(l, c)) return val_error;
    Val given = lang_plain(c->args[0]);
    if (given.kind == VAL_INT && given.i > 0) size = size == GROUP ? GROUP / WARP * (int64_t)given.i : (int64_t)given.i;
    PyOp op = c->builtin->code < 0 ? PY_OP_FLOORDIV : PY_OP_MOD;
    return number(l, op, lang_linear_thread(l, c->range), size, c->range);
}

/* One thread of so many; of all, if 0. */
Val lang_lower_elect(Lower *l, const Call *c) {
    Val extent = lang_plain(c->args[0]);
    if (!lang_need_threads(l, c)) return val_error;
    if (extent.kind != VAL_INT || extent.i < 0)
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "a number of threads that is known here");
    Val at = lang_linear_thread(l, c->range);
    if (extent.i) at = number(l, PY_OP_MOD, at, (int64_t)extent.i, c->range);
    return lang_compare(l, PY_OP_EQ, at, val_int(0), c->range);
}

/* --- barriers --- */

/* code: the unit. Between tile operations there is nothing to wait for. */
Val lang_lower_sync(Lower *l, const Call *c) {
    static const AttrId ids[] = {AT_ID, AT_ARRIVALS};
    if (!lang_state(l)->threads) return val_none;
    l->b.range = c->range;
    Op *op = ir_begin(&l->b, OP_SYNC);
    op_set(l->kernel, op, (Attr){.id = AT_UNIT, .word = (Word)c->builtin->code});
    for (int i = 0; i < 2 && c->builtin->code == UNIT_BLOCK; i++) {
        Val v = lang_plain(c->args[i]);
        if (v.kind == VAL_NONE) continue;
        if (v.kind != VAL_INT || v.i < 0 || v.i > (i ? 1024 : 15))
            return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[i],
                            "a barrier has a number in 0 .. 15, and waits for at most 1024 threads, both known here");
        op_set(l->kernel, op, (Attr){.id = ids[i], .number = (int64_t)v.i});
    }
    ir_end(&l->b, op, NULL);
    return val_none;
}

Val lang_lower_evaluate(Lower *l, const Call *c) {
    (void)l;
    return val_failed(c->args[0]) ? val_error : val_none;
}

/* --- memory of threads --- */

/* An element of a tile that all threads update. */
Val lang_update_shared(Lower *l, const Call *c, const Box *to, Word kind, bool previous) {
    Ref value, at[MAX_RANK];
    if (!lang_convert(l, c->args[1], to->of->elem, c->range, &value)) return val_error;
    l->b.range = c->range;
    int count = lang_own_offsets(l, to->of, to->offset, at);
    Op *op = ir_begin(&l->b, OP_BATOMIC);
    ir_operand(&l->b, op, to->of->ref);
    ir_operand_list(&l->b, op, 0, at, count);
    ir_operand(&l->b, op, value);
    op_set(l->kernel, op, (Attr){.id = AT_COMBINE, .word = kind});
    Ref old = ir_end(&l->b, op, ty_scalar(l->module, to->of->elem));
    return previous ? val_tensor(old) : val_none;
}

typedef struct Nest { /* loops over the elements of a box */
    int count;
    Builder outside[MAX_RANK];
    Ref index[MAX_RANK];
} Nest;

static void open_nest(Lower *l, Nest *nest, const int64_t *extent, int count) {
    nest->count = count;
    for (int d = 0; d < count; d++) {
        Ref bounds[3] = {ir_int(&l->b, EL_I32, 0), ir_int(&l->b, EL_I32, extent[d]), ir_int(&l->b, EL_I32, 1)};
        Op *op = ir_for(&l->b, bounds[0], bounds[1], bounds[2], NULL, 0, "i");
        nest->outside[d] = l->b;
        nest->index[d] = op->regions[0]->args[0];
        l->b = ir_builder_inside(&nest->outside[d], op->regions[0]);
    }
}

static void close_nest(Lower *l, Nest *nest) {
    for (int d = nest->count - 1; d >= 0; d--) {
        ir_yield(&l->b, NULL, 0);
        l->b = nest->outside[d];
    }
}

/* The extents of more than one element, in order. */
static int long_extents(const Box *box, int64_t *extent) {
    int count = 0;
    for (int d = 0; d < box->of->rank; d++)
        if (box->shape[d] != 1) extent[count++] = box->shape[d];
    return count;
}

static Box element_of(Lower *l, const Box *box, const Nest *nest) {
    Box out = *box;
    int at = 0;
    out.slice = false;
    for (int d = 0; d < box->of->rank; d++) {
        out.shape[d] = 1;
        out.at[d] = NULL;
        if (box->shape[d] != 1)
            out.offset[d] = ir_binary(&l->b, OP_ADD, ir_cast(&l->b, box->offset[d], EL_I32), nest->index[at++]);
    }
    return out;
}

bool lang_move_own(Lower *l, const Box *from, const Box *to, Range range) {
    int64_t extent[2][MAX_RANK];
    int count = long_extents(from, extent[0]);
    Nest nest;
    l->b.range = range;
    if (long_extents(to, extent[1]) != count || memcmp(extent[0], extent[1], (size_t)count * sizeof **extent) != 0) {
        py_error(l, DIAG_TL_SHAPES, range, "copy", lang_shape_text(l, from->of, from->shape),
                 lang_shape_text(l, to->of, to->shape), "both boxes must have the same extents, 1s apart");
        return false;
    }
    open_nest(l, &nest, extent[0], count);
    Box read = element_of(l, from, &nest), written = element_of(l, to, &nest);
    bool good = lang_store(l, &written, lang_load(l, &read, range), range);
    close_nest(l, &nest);
    return good;
}

bool lang_fill_own(Lower *l, const Box *box, Ref value, Range range) {
    int64_t extent[MAX_RANK];
    int count = long_extents(box, extent);
    Nest nest;
    l->b.range = range;
    open_nest(l, &nest, extent, count);
    Box written = element_of(l, box, &nest);
    bool good = lang_store(l, &written, val_tensor(value), range);
    close_nest(l, &nest);
    return good;
}

/* --- T.Parallel of one thread --- */

/* Is nothing but names and elements of the thread's own tiles written there? */
static bool writes_own(Lower *l, const PyList *body, int *written);

static bool is_own_target(Lower *l, const PyNode *target, int *written) {
    const PyNode *name = target->kind == PY_Subscript ? target->Subscript.value : target;
    const Local *local = name->kind == PY_Name ? py_local(l->frame, name->Name.id) : NULL;
    const Storage *of = local ? lang_storage(local->val) : NULL;
    if (target->kind == PY_Name) return !of;
    *written += 1;
    return of && of->own;
}

static bool is_own_statement(Lower *l, const PyNode *node, int *written) {
    switch (node->kind) {
    case PY_Pass: return true;
    case PY_AugAssign: return is_own_target(l, node->AugAssign.target, written);
    case PY_If: return writes_own(l, node->If.body, written) && writes_own(l, node->If.orelse, written);
    case PY_For: return writes_own(l, node->For.body, written);
    case PY_Assign:
        for (uint32_t i = 0; i < node->Assign.targets->count; i++)
            if (!is_own_target(l, node->Assign.targets->at[i], written)) return false;
        return true;
    default: return false;
    }
}

static bool writes_own(Lower *l, const PyList *body, int *written) {
    for (uint32_t i = 0; i < body->count; i++)
        if (!is_own_statement(l, body->at[i], written)) return false;
    return true;
}

/* Each thread then has work of its own in all iterations, and does them by itself. */
bool lang_loops_alone(Lower *l, const PyNode *loop) {
    int written = 0;
    return lang_state(l)->threads && writes_own(l, loop->For.body, &written) && written;
}

/* T.dp4a(A, B, C): C[0] += the sum of four products, from the elements that A and B begin with. */
Val lang_lower_dp4a(Lower *l, const Call *c) {
    Box box[3];
    Nest none = {0};
    if (!lang_in_kernel(l, c)) return val_error;
    for (int i = 0; i < 3; i++) {
        if (!lang_as_box(l, c, i, NULL, &box[i])) return val_error;
        for (int d = 0; d < box[i].of->rank; d++) box[i].shape[d] = 1, box[i].at[d] = NULL;
        box[i] = element_of(l, &box[i], &none);
        Elem elem = box[i].of->elem;
        if (i < 2 ? elem != EL_I8 && elem != EL_U8 : elem != EL_I32 && elem != EL_U32)
            return lang_types(l, c->ranges[i], "T.dp4a adds products of int8 or uint8 to an int32 or uint32");
    }
    Val sum = lang_load(l, &box[2], c->range);
    for (int k = 0; k < 4; k++) {
        Val product[2];
        for (int i = 0; i < 2; i++) {
            Box at = box[i];
            int last = at.of->rank - 1;
            Ref wide, first = ir_cast(&l->b, at.offset[last], EL_I32);
            if (k) at.offset[last] = ir_binary(&l->b, OP_ADD, first, ir_int(&l->b, EL_I32, k));
            if (!lang_convert(l, lang_load(l, &at, c->range), EL_I32, c->range, &wide)) return val_error;
            product[i] = val_tensor(wide);
        }
        sum = lang_binary(l, PY_OP_ADD, sum, lang_binary(l, PY_OP_MUL, product[0], product[1], c->range), c->range);
    }
    return lang_store(l, &box[2], sum, c->range) ? val_none : val_error;
}
