/* tilelang_thread.c: kernels that name their threads one by one (T.get_thread_binding and its kin).
 *
 * Such a kernel is lowered as one `spmd` region over its threads, which is then cut (analysis/threads.h): tile operations
 * stand between regions, and do once what they do for the block. T.alloc_local and T.alloc_var are each thread's own: the
 * buffer has the extents of the threads in front, and every access the thread's numbers. Barriers between threads that
 * meet in shared memory are put in where the source leaves them out, as TileLang does.
 *
 *     with T.Kernel(4, threads=(32, 4)) as bx:        spmd %ty, %tx in 4, 32 {
 *         tx = T.get_thread_binding(0)                  %own = buf : buf<f32[4,32,8], local>
 *         own = T.alloc_local((8,), "float32")          ..
 *
 * A kernel that names no thread has none: its tile operations are all there is. */
#include "analysis/threads.h"
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

enum { WARP = 32, GROUP = 128, DEFAULT_THREADS = 128 };

/* --- does the kernel name its threads? --- */

typedef struct Scan {
    Lower *l;
    int depth; /* of calls */
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
        const Local *local = s->l->frame ? py_local(s->l->frame, id) : NULL;
        Val v = local ? local->val : names_lookup(s->l, id, node->range);
        if (v.kind == VAL_BUILTIN && strchr(v.builtin->kinds, 'W')) s->found = true;
        if (v.kind == VAL_FUNCTION && v.function->node->kind == PY_FunctionDef) {
            s->depth++;
            const PyNode *def = v.function->node;
            for (uint32_t i = 0; i < def->FunctionDef.body->count; i++) scan_node(s, def->FunctionDef.body->at[i]);
            s->depth--;
        }
    }
    py_each_child(node, scan_node, s);
}

static bool names_threads(Lower *l, const PyNode *with) {
    Scan s = {.l = l};
    for (uint32_t i = 0; i < with->With.body->count; i++) scan_node(&s, with->With.body->at[i]);
    return s.found;
}

/* --- the region --- */

void lang_threads_begin(Lower *l, const PyNode *with, Val threads) {
    LangState *s = lang_state(l);
    s->threads = 0;
    if (!names_threads(l, with)) return;
    threads = lang_plain(threads);
    Val one = threads.kind == VAL_NONE ? val_int(DEFAULT_THREADS) : threads, all = one;
    if (one.kind != VAL_TUPLE && one.kind != VAL_LIST) all = val_tuple(l, &one, 1);
    s->threads = val_count(all) < 3 ? val_count(all) : 3;
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

void lang_threads_end(Lower *l) {
    LangState *s = lang_state(l);
    if (!s->threads) return;
    ir_yield(&l->b, NULL, 0);
    l->b = s->around;
    s->threads = 0;
    if (l->diag->errors) return;
    Threads t = threads_look(l->kernel, s->region, false, l->arena);
    threads_add_syncs(&t);
    if (!threads_cut(&t)) py_error(l, DIAG_TL_THREADS, t.where, t.why);
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

/* --- numbers of the thread --- */

static bool need_threads(Lower *l, const Call *c) {
    if (lang_state(l)->threads) return true;
    py_error(l, DIAG_TL_UNSUPPORTED, c->range, arena_printf(l->arena, "T.%s outside of T.Kernel", c->builtin->name),
             "put it under `with T.Kernel(...)`");
    return false;
}

static Val number(Lower *l, PyOp op, Val x, int64_t y, Range range) { return lang_binary(l, op, x, val_int(y), range); }

/* Among all threads of the block, the first dimension fastest. */
static Val linear_thread(Lower *l, Range range) {
    const LangState *s = lang_state(l);
    Val at = val_tensor(s->thread[s->threads - 1]);
    for (int d = s->threads - 2; d >= 0; d--)
        at = lang_binary(l, PY_OP_ADD, number(l, PY_OP_MUL, at, s->thread_extent[d], range), val_tensor(s->thread[d]),
                         range);
    return at;
}

static int64_t count_threads(const LangState *s) {
    int64_t count = 1;
    for (int d = 0; d < s->threads; d++) count *= s->thread_extent[d];
    return count;
}

/* code 0: the number along a dimension, 1: all of them, 2: the extent, 3: all extents */
Val lang_lower_thread(Lower *l, const Call *c) {
    const LangState *s = lang_state(l);
    Val all[3], dim = lang_plain(c->args[0]);
    if (!need_threads(l, c)) return val_error;
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

/* T.thread_binding(n, thread="threadIdx.x"), (0, n, ..): the number along a dimension, as a value or as a loop. */
Val lang_lower_thread_binding(Lower *l, const Call *c) {
    const LangState *s = lang_state(l);
    static const char *const names[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};
    Val low = val_int(0), high = lang_plain(c->args[0]), name = c->args[2];
    if (!need_threads(l, c)) return val_error;
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
    if (!need_threads(l, c)) return val_error;
    Val given = lang_plain(c->args[0]);
    if (given.kind == VAL_INT && given.i > 0) size = size == GROUP ? GROUP / WARP * (int64_t)given.i : (int64_t)given.i;
    return number(l, c->builtin->code < 0 ? PY_OP_FLOORDIV : PY_OP_MOD, linear_thread(l, c->range), size, c->range);
}

/* One thread of so many; of all, if 0. */
Val lang_lower_elect(Lower *l, const Call *c) {
    Val extent = lang_plain(c->args[0]);
    if (!need_threads(l, c)) return val_error;
    if (extent.kind != VAL_INT || extent.i < 0)
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "a number of threads that is known here");
    Val at = linear_thread(l, c->range);
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

/* --- what threads of a warp tell each other --- */

static Val shuffle(Lower *l, Val value, Val from, Range range) {
    Val x = lang_scalar(l, value, range);
    Ref thread;
    if (val_failed(x) || !lang_convert(l, from, EL_I32, range, &thread)) return val_error;
    l->b.range = range;
    Op *op = ir_begin(&l->b, OP_SHFL);
    ir_operand(&l->b, op, x.ref);
    ir_operand(&l->b, op, thread);
    return val_tensor(ir_end(&l->b, op, NULL));
}

/* Of the thread that many places on, before, or with other bits; its own value where that is none of the group.
 * how: one of 's' (that lane), 'x', 'u', 'd' */
static Val shuffle_by(Lower *l, int how, Val value, Val by, Val width, Range range) {
    width = lang_plain(width);
    if (width.kind == VAL_NONE) width = val_int(WARP);
    if (width.kind != VAL_INT || width.i < 1 || width.i > WARP || (width.i & (width.i - 1)))
        return py_error(l, DIAG_TL_ARGUMENTS, range, "the width of a shuffle is 1, 2, 4, 8, 16 or 32");
    int64_t size = (int64_t)width.i;
    Val self = linear_thread(l, range), lane = number(l, PY_OP_MOD, self, WARP, range);
    Val warp = lang_binary(l, PY_OP_SUB, self, lane, range);
    Val first = lang_binary(l, PY_OP_SUB, lane, number(l, PY_OP_MOD, lane, size, range), range), to, inside;
    if (how == 's') {
        to = lang_binary(l, PY_OP_ADD, first, number(l, PY_OP_MOD, by, size, range), range);
        return shuffle(l, value, lang_binary(l, PY_OP_ADD, warp, to, range), range);
    }
    to = lang_binary(l, how == 'x' ? PY_OP_BITXOR : how == 'u' ? PY_OP_SUB : PY_OP_ADD, lane, by, range);
    if (how == 'u')
        inside = lang_compare(l, PY_OP_GE, to, first, range);
    else
        inside = lang_compare(l, PY_OP_LT, to, number(l, PY_OP_ADD, first, size, range), range);
    if (val_failed(to) || val_failed(inside)) return val_error;
    if (how == 'x' && lang_plain(by).kind == VAL_INT && lang_plain(by).i < size) inside = val_bool(true);
    if (inside.kind == VAL_TENSOR) to = lang_select(l, inside.ref, to, lane, range);
    return shuffle(l, value, lang_binary(l, PY_OP_ADD, warp, to, range), range);
}

/* T.shfl_*(value, by, width, mask); code 256 more: T.tvm_warp_shuffle*(mask, value, by, width, warp_size) */
Val lang_lower_shuffle(Lower *l, const Call *c) {
    int at = c->builtin->code >= 256;
    if (!need_threads(l, c)) return val_error;
    return shuffle_by(l, c->builtin->code & 255, c->args[at], c->args[at + 1], c->args[at + 2], c->range);
}

static Val combine(Lower *l, Word kind, Val x, Val y, Range range) {
    static const struct {
        Word kind;
        Opcode code;
    } codes[] = {{COMBINE_ADD, OP_ADD}, {COMBINE_MUL, OP_MUL}, {COMBINE_MIN, OP_MIN}, {COMBINE_MAX, OP_MAX},
                 {COMBINE_AND, OP_AND}, {COMBINE_OR, OP_OR},   {COMBINE_XOR, OP_XOR}};
    l->b.range = range;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].kind == kind) return val_tensor(ir_binary(&l->b, codes[i].code, x.ref, y.ref));
    return val_error;
}

/* A tile with each thread's number, and back. */
static Storage make_own(Lower *l, Elem elem) {
    Storage own = {.kind = STORE_VARIABLE, .elem = elem, .rank = 1, .shape = {1}, .own = true};
    own.ref = ir_buffer(&l->b, lang_own_type(l, &own, SCOPE_LOCAL), NULL);
    return own;
}

/* All numbers of threads that differ only along these dimensions (`over`, a set), or that are of one warp (WARP
 * threads in a row), combined. The block does it as a whole. */
static Val combine_all(Lower *l, Word kind, Val x, unsigned over, bool warps, Range range) {
    const LangState *s = lang_state(l);
    Elem elem = val_type(l, x)->elem;
    int64_t threads = count_threads(s), shape[MAX_RANK], kept[MAX_RANK];
    int rank = s->threads;
    Storage own = make_own(l, elem);
    Ref zero[MAX_RANK];
    if (!lang_variable_store(l, &own, x, range)) return val_error;
    l->b.range = range;
    for (int d = 0; d < MAX_RANK; d++) zero[d] = ir_int(&l->b, EL_I32, 0);
    const Type *buffer = ir_type(l->kernel, own.ref);
    const Type *whole = ty_tile(l->module, elem, buffer->rank, buffer->extent);
    Ref tile = ir_bload(&l->b, own.ref, zero, whole);
    for (int d = 0; d < rank; d++) shape[d] = s->thread_extent[rank - 1 - d];
    if (warps) rank = 2, shape[0] = threads < WARP ? 1 : threads / WARP, shape[1] = threads < WARP ? threads : WARP;
    tile = ir_reshape(&l->b, tile, ty_tile(l->module, elem, rank, shape));
    memcpy(kept, shape, sizeof kept);
    for (int d = rank - 1; d >= 0; d--) {
        if (!(warps ? d == 1 : over >> (rank - 1 - d) & 1)) continue;
        tile = ir_reduce(&l->b, kind, tile, d);
        kept[d] = 1;
        const Type *type = ty_tile(l->module, elem, rank, kept);
        tile = ir_type(l->kernel, tile)->rank ? ir_reshape(&l->b, tile, type) : ir_splat(&l->b, tile, type);
    }
    tile = ir_broadcast(&l->b, tile, ty_tile(l->module, elem, rank, shape));
    ir_bstore(&l->b, own.ref, zero, ir_reshape(&l->b, tile, whole));
    return lang_variable_load(l, &own, range);
}

/* T.warp_reduce_sum and its kin */
Val lang_lower_warp_reduce(Lower *l, const Call *c) {
    if (!need_threads(l, c)) return val_error;
    Val x = lang_scalar(l, c->args[0], c->range);
    int64_t threads = count_threads(lang_state(l)), group = threads < WARP ? threads : WARP;
    if (val_failed(x)) return x;
    if (threads % group || (group & (group - 1)))
        return py_error(l, DIAG_TL_UNSUPPORTED, c->range, "a warp that is not full",
                        "let T.Kernel have a multiple of 32 threads");
    bool bits = c->builtin->code == COMBINE_AND || c->builtin->code == COMBINE_OR;
    if (bits && elem_is_float(val_type(l, x)->elem)) return lang_types(l, c->range, "bits are those of integers");
    if (!l->branches) return combine_all(l, (Word)c->builtin->code, x, 0, true, c->range);
    for (int64_t by = group / 2; by >= 1; by /= 2) { /* perhaps only some warps come here */
        Val other = shuffle_by(l, 'x', x, val_int(by), val_int(WARP), c->range);
        if (val_failed(other)) return other;
        x = combine(l, (Word)c->builtin->code, x, other, c->range);
    }
    return x;
}

/* T.any_sync, T.all_sync of a warp; T.syncthreads_and, _or, _count of the block. code: 'y' any, 'l' all; 256 more: of the
 * block; 'c' how many */
Val lang_lower_vote(Lower *l, const Call *c) {
    const LangState *s = lang_state(l);
    if (!need_threads(l, c)) return val_error;
    Val x = lang_truth(l, c->args[0], c->range);
    bool block = c->builtin->code >= 256, counts = (c->builtin->code & 255) == 'c';
    int64_t threads = count_threads(s), group = threads < WARP ? threads : WARP;
    Ref one;
    if (val_failed(x) || !lang_convert(l, x, EL_I32, c->range, &one)) return val_error;
    if (!block && threads % group)
        return py_error(l, DIAG_TL_UNSUPPORTED, c->range, "a warp that is not full",
                        "let T.Kernel have a multiple of 32 threads");
    Word kind = counts ? COMBINE_ADD : (c->builtin->code & 255) == 'y' ? COMBINE_MAX : COMBINE_MIN;
    return combine_all(l, kind, val_tensor(one), (1u << s->threads) - 1, !block, c->range);
}

/* --- reductions over threads, as TVM writes them --- */

/* T.comm_reducer(lambda x, y: .., [neutral]): the function is all that is asked for. */
Val lang_lower_comm_reducer(Lower *l, const Call *c) {
    if (c->args[0].kind != VAL_FUNCTION)
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "a function of two numbers, as in lambda x, y: x + y");
    return lang_own(l, &lang_reducer_own, &c->args[0], sizeof c->args[0]);
}

/* What the function does to two numbers: one of the kinds that combine. */
static bool kind_of(Lower *l, Val function, Elem elem, Range range, Word *kind) {
    static const struct {
        Opcode code;
        Word kind;
    } kinds[] = {{OP_ADD, COMBINE_ADD}, {OP_MUL, COMBINE_MUL}, {OP_MAX, COMBINE_MAX}, {OP_MIN, COMBINE_MIN},
                 {OP_AND, COMBINE_AND}, {OP_OR, COMBINE_OR},   {OP_XOR, COMBINE_XOR}};
    Val args[2], out;
    for (int i = 0; i < 2; i++) {
        Op *op = ir_begin(&l->b, OP_UNDEF);
        args[i] = val_tensor(ir_end(&l->b, op, ty_scalar(l->module, elem)));
    }
    out = py_apply(l, function, args, 2, range);
    const Op *op = out.kind == VAL_TENSOR && ref_is_value(out.ref) ? ir_value(l->kernel, out.ref)->op : NULL;
    for (size_t i = 0; op && i < sizeof kinds / sizeof *kinds; i++) {
        bool both = op->operand_count == 2 && op->operands[0] != op->operands[1];
        for (int n = 0; n < op->operand_count; n++)
            both = both && (op->operands[n] == args[0].ref || op->operands[n] == args[1].ref);
        if (op->code != kinds[i].code || !both) continue;
        *kind = kinds[i].kind;
        return true;
    }
    if (!val_failed(out))
        py_error(l, DIAG_TL_UNSUPPORTED, range, "this reducer", "it is a sum, product, maximum, minimum, or bits");
    return false;
}

/* with T.attr(T.comm_reducer(..), "reduce_scope", ..): what stands in it combines by that reducer */
bool lang_with_attr(Lower *l, const PyNode *node, const PyNode *call) {
    Val of = call->Call.args->count > 1 ? py_eval(l, call->Call.args->at[0]) : val_none;
    Val key = call->Call.args->count > 1 ? py_eval(l, call->Call.args->at[1]) : val_none;
    if (val_failed(of) || val_failed(key)) return true;
    const Val *reducer = lang_thing(of, &lang_reducer_own);
    if (!reducer || key.kind != VAL_STR || strcmp(key.text, "reduce_scope") != 0) {
        py_error(l, DIAG_TL_PLANNED, call->range, "T.attr",
                 "only the \"reduce_scope\" of a T.comm_reducer is known; leave others out");
        return true;
    }
    const Val *before = lang_state(l)->reducer;
    lang_state(l)->reducer = reducer;
    py_run_block(l, node->With.body, 0, false);
    lang_state(l)->reducer = before;
    return true;
}

/* T.tvm_thread_allreduce(1, x, True, out, thread, ..) */
Val lang_lower_allreduce(Lower *l, const Call *c) {
    const LangState *s = lang_state(l);
    Val all = c->args[0];
    Word kind;
    unsigned over = 0;
    if (!need_threads(l, c)) return val_error;
    if (!s->reducer)
        return py_error(l, DIAG_TL_UNSUPPORTED, c->range, "a reduction without its reducer",
                        "put it under `with T.attr(T.comm_reducer(...), \"reduce_scope\", ...)`");
    const Box *out = all.count > 3 ? lang_box(all.items[3]) : NULL;
    if (!out || !lang_is_element(out))
        return py_error(l, DIAG_TL_ARGUMENTS, c->range,
                        "T.tvm_thread_allreduce(1, value, True, element, thread, ..): argument 4 is an element");
    for (int i = 4; i < all.count; i++)
        for (int d = 0; d < s->threads; d++)
            over |= all.items[i].kind == VAL_TENSOR && all.items[i].ref == s->thread[d] ? 1u << d : 0;
    if (!over)
        return py_error(l, DIAG_TL_ARGUMENTS, c->range, "the last arguments say over which threads: T.get_thread_binding(..)");
    Val x = lang_scalar(l, all.items[1], c->range);
    if (val_failed(x) || !kind_of(l, *s->reducer, val_type(l, x)->elem, c->range, &kind)) return val_error;
    Val result = combine_all(l, kind, x, over, false, c->range);
    return val_failed(result) || !lang_store(l, out, result, c->range) ? val_error : val_none;
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

/* T.dp4a(A, B, C): C[0] += the sum of four products, from the elements that A and B begin with. */
Val lang_lower_dp4a(Lower *l, const Call *c) {
    Box box[3];
    Nest none = {0};
    if (!lang_in_kernel(l, c)) return val_error;
    for (int i = 0; i < 3; i++) {
        if (!lang_as_box(l, c, i, NULL, &box[i])) return val_error;
        for (int d = 0; d < box[i].of->rank; d++) box[i].shape[d] = 1, box[i].at[d] = NULL;
        box[i] = element_of(l, &box[i], &none);
    }
    Val sum = lang_load(l, &box[2], c->range);
    for (int k = 0; k < 4; k++) {
        Val product[2];
        for (int i = 0; i < 2; i++) {
            Box at = box[i];
            int last = at.of->rank - 1;
            if (k) at.offset[last] = ir_binary(&l->b, OP_ADD, ir_cast(&l->b, at.offset[last], EL_I32), ir_int(&l->b, EL_I32, k));
            Ref wide;
            if (!lang_convert(l, lang_load(l, &at, c->range), EL_I32, c->range, &wide)) return val_error;
            product[i] = val_tensor(wide);
        }
        sum = lang_binary(l, PY_OP_ADD, sum, lang_binary(l, PY_OP_MUL, product[0], product[1], c->range), c->range);
    }
    return lang_store(l, &box[2], sum, c->range) ? val_none : val_error;
}
