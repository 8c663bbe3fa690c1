/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_warp.c: what threads of a kernel that names them tell each other: shuffles, votes, and reductions over a
 * warp, the block, or a dimension of the threads.
 *
 * A shuffle is the IR's. A reduction is done by the block as a whole: each thread puts its number into a tile, which
 * is reduced, and takes the result; where perhaps only some warps come, a reduction over a warp is shuffles. */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

enum { WARP = 32 };

static Val number(Lower *l, PyOp op, Val x, int64_t y, Range range) { return lang_binary(l, op, x, val_int(y), range); }

static int64_t count_threads(const LangState *s) {
    int64_t count = 1;
    for (int d = 0; d < s->threads; d++) count *= s->thread_extent[d];
    return count;
}

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
    Val self = lang_linear_thread(l, range), lane = number(l, PY_OP_MOD, self, WARP, range);
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
    if (!lang_need_threads(l, c)) return val_error;
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
    if (!lang_need_threads(l, c)) return val_error;
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

/* T.any_sync, T.all_sync of a warp; T.syncthreads_and, _or, _count of the block.
 * code: 'y' any, 'l' all, 'c' how many; 256 more: of the block */
Val lang_lower_vote(Lower *l, const Call *c) {
    const LangState *s = lang_state(l);
    if (!lang_need_threads(l, c)) return val_error;
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
    Val function = py_live_function(l, c->args[0], c->ranges[0]);
    if (val_failed(function)) return function;
    if (function.kind != VAL_FUNCTION)
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "a function of two numbers, as in lambda x, y: x + y");
    return lang_own(l, &lang_reducer_own, &function, sizeof function);
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
                 "only the \"reduce_scope\" of a T.comm_reducer is known" FIX "leave others out");
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
    if (!lang_need_threads(l, c)) return val_error;
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
        return py_error(l, DIAG_TL_ARGUMENTS, c->range,
                        "the last arguments say over which threads: T.get_thread_binding(..)");
    Val x = lang_scalar(l, all.items[1], c->range);
    if (val_failed(x) || !kind_of(l, *s->reducer, val_type(l, x)->elem, c->range, &kind)) return val_error;
    Val result = combine_all(l, kind, x, over, false, c->range);
    return val_failed(result) || !lang_store(l, out, result, c->range) ? val_error : val_none;
}
