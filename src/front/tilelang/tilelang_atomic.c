/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_atomic.c: atomic updates of elements and boxes of tensors, and of tiles, which only their block updates.
 *
 *     T.atomic_add(C[i, j], x)             an element; return_prev=True gives what was there
 *     T.atomic_add(C[by * 64, bx * 64], C_shared)     a box, as T.copy takes it */
#include "front/tilelang/tilelang.h"

#include <string.h>

static bool not_packed(Lower *l, const Call *c, const Box *to) {
    if (to->of->packed)
        lang_types(l, c->ranges[0], "numbers of 4 bits are halves of a byte, which memory does not update alone");
    return !to->of->packed;
}

static bool want_tensor(Lower *l, const Call *c, const Box *to) {
    if (!not_packed(l, c, to) || to->of->kind == STORE_TENSOR) return !to->of->packed;
    py_error(l, DIAG_TL_UNSUPPORTED, c->ranges[0], arena_printf(l->arena, "T.%s on a tile", c->builtin->name),
             "it works on tensors; a tile belongs to its block: read and write it, as in x[i] += y");
    return false;
}

/* Can memory do it? */
static bool fits_memory(Lower *l, const Call *c, Elem elem, Word combine) {
    bool bits = combine == COMBINE_AND || combine == COMBINE_OR || combine == COMBINE_XOR;
    int width = elem_info[elem].bits;
    bool good = elem_is_float(elem) ? !bits && width >= 16 : width >= 16;
    if (!good)
        lang_types(l, c->range,
                   arena_printf(l->arena, "T.%s cannot work on %s in memory" FIX "use a type of at least 16 bits",
                                c->builtin->name, lang_elem_name(elem)));
    return good;
}

static Ref address_of(Lower *l, const Box *box) {
    Op *base = ir_begin(&l->b, OP_BASE);
    ir_operand(&l->b, base, box->of->ref);
    Ref pointer = ir_end(&l->b, base, NULL), flat = ir_int(&l->b, EL_I64, 0);
    for (int d = box->of->rank - 1; d >= 0; d--) {
        Ref stride = ir_int(&l->b, EL_I64, box->of->stride[d]);
        Ref part = ir_binary(&l->b, OP_MUL, ir_cast(&l->b, box->offset[d], EL_I64), stride);
        flat = ir_binary(&l->b, OP_ADD, flat, part);
    }
    return ir_binary(&l->b, OP_PTR_ADD, pointer, flat);
}

/* Is the element inside of its tensor? */
static Ref inside_of(Lower *l, const Box *box) {
    Ref all = ir_int(&l->b, EL_I1, 1);
    for (int d = 0; d < box->of->rank; d++) {
        Ref at = ir_cast(&l->b, box->offset[d], EL_I64);
        Ref low = ir_compare(&l->b, CMP_GE, at, ir_int(&l->b, EL_I64, 0));
        Ref high = ir_compare(&l->b, CMP_LT, at, ir_int(&l->b, EL_I64, box->of->shape[d]));
        all = ir_binary(&l->b, OP_AND, all, ir_binary(&l->b, OP_AND, low, high));
    }
    return all;
}

static void update_box(Lower *l, const Box *to, Ref value, const int64_t *dims, Word combine) {
    Op *op = ir_begin(&l->b, OP_TATOMIC);
    ir_operand(&l->b, op, to->of->ref);
    ir_operand_list(&l->b, op, 0, to->offset, to->of->rank);
    ir_operand(&l->b, op, value);
    op_set(l->kernel, op, (Attr){.id = AT_COMBINE, .word = combine});
    int rank = val_ref_type(l, value)->rank;
    if (dims) op_set(l->kernel, op, (Attr){.id = AT_DIMS, .list = {rank, dims}});
    ir_end(&l->b, op, NULL);
}

/* The dimensions of more than one element, in order. */
static int long_dims(const Box *box, int64_t *dims) {
    int count = 0;
    for (int d = 0; d < box->of->rank; d++)
        if (box->shape[d] != 1) dims[count++] = d;
    return count;
}

static Val update_element(Lower *l, const Call *c, const Box *to, Word combine, bool previous) {
    Ref value;
    if (!lang_convert(l, c->args[1], to->of->elem, c->range, &value)) return val_error;
    l->b.range = c->range;
    bool many = lang_state(l)->elements || lang_state(l)->threads;
    if (!previous && many) { /* of many elements, which `raise` makes one */
        update_box(l, to, value, NULL, combine);
        return val_none;
    }
    Ref pointer = address_of(l, to), inside = inside_of(l, to);
    Op *op = ir_begin(&l->b, OP_ATOMIC);
    ir_operand(&l->b, op, pointer);
    ir_operand(&l->b, op, value);
    ir_operand(&l->b, op, inside);
    op_set(l->kernel, op, (Attr){.id = AT_COMBINE, .word = combine});
    Ref out = ir_end(&l->b, op, NULL);
    return previous ? val_tensor(out) : val_none;
}

static Opcode opcode_of(Word combine) {
    return combine == COMBINE_ADD   ? OP_ADD
           : combine == COMBINE_MAX ? OP_MAX
           : combine == COMBINE_MIN ? OP_MIN
                                    : OP_OR;
}

static bool can_combine(Lower *l, const Call *c, Elem elem, Word combine) {
    bool good = combine != COMBINE_OR || !elem_is_float(elem);
    if (!good)
        lang_types(l, c->range,
                   arena_printf(l->arena, "T.%s combines bits, not %s; T.reinterpret them as integers first",
                                c->builtin->name, lang_elem_name(elem)));
    return good;
}

/* A tile belongs to its block: an update of it is read, combined and written. */
static Val update_own_element(Lower *l, const Call *c, const Box *to, Word combine, bool previous) {
    Ref value, old;
    Val was = lang_load(l, to, c->range);
    if (!can_combine(l, c, to->of->elem, combine) || !lang_convert(l, was, to->of->elem, c->range, &old) ||
        !lang_convert(l, c->args[1], to->of->elem, c->range, &value))
        return val_error;
    l->b.range = c->range;
    lang_store(l, to, val_tensor(ir_binary(&l->b, opcode_of(combine), old, value)), c->range);
    return previous ? was : val_none;
}

static Val update_own_box(Lower *l, const Call *c, const Box *to, Ref value, Word combine) {
    if (!can_combine(l, c, to->of->elem, combine)) return val_error;
    Ref old = lang_load_box(l, to, to->of->rank);
    value = ir_reshape(&l->b, value, val_ref_type(l, old));
    lang_store_box(l, to, ir_binary(&l->b, opcode_of(combine), old, value));
    return val_none;
}

/* Arguments: where, what, (order), return_prev. */
static Val update(Lower *l, const Call *c, Word combine) {
    Box to, from;
    bool previous, tile = lang_storage(c->args[1]) || lang_box(c->args[1]);
    const Storage *variable = lang_storage(c->args[1]);
    const Box *element = lang_box(c->args[1]), *head = lang_box(c->args[0]);
    if ((variable && variable->kind == STORE_VARIABLE) || (element && lang_is_element(element))) tile = false;
    if (!lang_in_kernel(l, c) || !lang_as_box(l, c, 0, tile ? &c->args[1] : NULL, &to) ||
        !lang_flag(l, c, 3, false, &previous))
        return val_error;
    bool one = head && lang_is_element(head) && !tile && to.of->kind == STORE_TILE && !to.of->base;
    if (one && lang_state(l)->threads) return lang_update_shared(l, c, &to, combine, previous);
    bool own = to.of->kind == STORE_TILE;
    if (!not_packed(l, c, &to) || (!own && !fits_memory(l, c, to.of->elem, combine))) return val_error;
    if (head && lang_is_element(head) && !tile)
        return own ? update_own_element(l, c, &to, combine, previous) : update_element(l, c, &to, combine, previous);
    if (previous) return lang_types(l, c->range, "return_prev is for single elements");
    if (!lang_check_box(l, &to, c->ranges[0])) return val_error;
    if (!tile) { /* all of them with one number */
        Ref number;
        if (!lang_convert(l, c->args[1], to.of->elem, c->range, &number)) return val_error;
        l->b.range = c->range;
        Ref all = ir_splat(&l->b, number, lang_box_type(l, &to, to.of->elem, to.of->rank));
        if (own) return update_own_box(l, c, &to, all, combine);
        update_box(l, &to, all, NULL, combine);
        return val_none;
    }
    if (!lang_as_box(l, c, 1, NULL, &from) || !lang_check_box(l, &from, c->ranges[1])) return val_error;
    int64_t *dims = ARENA_ARRAY(l->arena, int64_t, MAX_RANK), mine[MAX_RANK], extent[MAX_RANK];
    int count = long_dims(&to, dims);
    bool fits = long_dims(&from, mine) == count;
    for (int d = 0; fits && d < count; d++) {
        extent[d] = to.shape[dims[d]];
        fits = from.shape[mine[d]] == extent[d];
    }
    if (!fits)
        return py_error(l, DIAG_TL_SHAPES, c->range, c->builtin->name, lang_shape_text(l, to.of, to.shape),
                        lang_shape_text(l, from.of, from.shape), "both boxes must have the same extents, 1s apart");
    if (!count) count = 1, dims[0] = to.of->rank - 1, extent[0] = 1;
    l->b.range = c->range;
    Ref value = ir_cast(&l->b, lang_load_box(l, &from, from.of->rank), to.of->elem);
    if (own) return update_own_box(l, c, &to, value, combine);
    value = ir_reshape(&l->b, value, ty_tile(l->module, to.of->elem, count, extent));
    bool last = true; /* the last dimensions need no name */
    for (int d = 0; d < count; d++) last = last && dims[d] == to.of->rank - count + d;
    update_box(l, &to, value, last ? NULL : dims, combine);
    return val_none;
}

Val lang_lower_atomic(Lower *l, const Call *c) { return update(l, c, (Word)c->builtin->code); }

/* Memory orders of T.atomic_load and T.atomic_store: all of them are taken as the strongest. */
static bool check_order(Lower *l, const Call *c, int arg, const char *const *words) {
    Val order = c->args[arg];
    for (int i = 0; order.kind == VAL_STR && words[i]; i++)
        if (!strcmp(order.text, words[i])) return true;
    const char *here = order.kind == VAL_STR ? arena_printf(l->arena, "\"%s\"", order.text) : val_describe(l, order);
    lang_types(l, c->ranges[arg],
               arena_printf(l->arena, "T.%s does not support memory_order=%s" FIX "write \"%s\", \"%s\" or \"%s\"",
                            c->builtin->name, here, words[0], words[1], words[2]));
    return false;
}

static const Box *want_element(Lower *l, const Call *c, Word combine) {
    const Box *at = lang_box(c->args[0]);
    if (!lang_in_kernel(l, c)) return NULL;
    if (!at || !lang_is_element(at)) {
        lang_types(l, c->ranges[0], arena_printf(l->arena, "T.%s takes an element, as in x[i]", c->builtin->name));
        return NULL;
    }
    return want_tensor(l, c, at) && fits_memory(l, c, at->of->elem, combine) ? at : NULL;
}

/* An addition of nothing: what is in memory, whatever was read of it before. */
Val lang_lower_atomic_load(Lower *l, const Call *c) {
    static const char *const words[] = {"relaxed", "acquire", "seq_cst", "consume", NULL};
    const Box *from = check_order(l, c, 1, words) ? want_element(l, c, COMBINE_ADD) : NULL;
    if (!from) return val_error;
    Elem elem = from->of->elem;
    Ref nothing = elem_is_float(elem) ? ir_float(&l->b, elem, -0.0) : ir_int(&l->b, elem, 0);
    Val args[] = {c->args[0], val_tensor(nothing)};
    Call add = {.builtin = c->builtin, .range = c->range, .args = args, .ranges = c->ranges};
    return update_element(l, &add, from, COMBINE_ADD, true);
}

Val lang_lower_atomic_store(Lower *l, const Call *c) {
    static const char *const words[] = {"relaxed", "release", "seq_cst", NULL};
    const Box *to = check_order(l, c, 2, words) ? want_element(l, c, COMBINE_XCHG) : NULL;
    if (!to) return val_error;
    return val_failed(update_element(l, c, to, COMBINE_XCHG, true)) ? val_error : val_none;
}

/* T.atomic_addx2, x4: elements that lie side by side along the last dimension. */
Val lang_lower_atomic_wide(Lower *l, const Call *c) {
    bool previous;
    const Box *to = lang_box(c->args[0]), *from = lang_box(c->args[1]);
    if (!lang_in_kernel(l, c)) return val_error;
    if (!lang_flag(l, c, 2, false, &previous)) return val_error;
    bool whole = (to ? !lang_is_element(to) : lang_storage(c->args[0]) != NULL) &&
                 (from ? !lang_is_element(from) : lang_storage(c->args[1]) != NULL);
    if (whole && !previous) { /* x[0:4] += y[0:4] */
        Val args[] = {c->args[0], c->args[1], val_none, val_bool(false)};
        Range ranges[] = {c->ranges[0], c->ranges[1], c->range, c->range};
        Call one = {.builtin = c->builtin, .range = c->range, .args = args, .ranges = ranges};
        return update(l, &one, COMBINE_ADD);
    }
    if (!to || !from || !lang_is_element(to) || !lang_is_element(from))
        return lang_types(l, c->range,
                          arena_printf(l->arena, "T.%s takes the first element of each side, as in x[i, 4 * j]",
                                       c->builtin->name));
    if (!want_tensor(l, c, to) || !fits_memory(l, c, to->of->elem, COMBINE_ADD)) return val_error;
    if (previous) return lang_types(l, c->range, "return_prev is for single elements"
                                                 FIX "write T.atomic_add for each");
    int last[2] = {to->of->rank - 1, from->of->rank - 1};
    for (int i = 0; i < c->builtin->code; i++) {
        Box at = *to, with = *from;
        Box *both[2] = {&at, &with};
        for (int b = 0; i && b < 2; b++) {
            Ref offset = both[b]->offset[last[b]];
            both[b]->offset[last[b]] =
                ir_binary(&l->b, OP_ADD, offset, ir_int(&l->b, val_ref_type(l, offset)->elem, i));
            both[b]->at[last[b]] = NULL;
        }
        Val args[] = {c->args[0], lang_load(l, &with, c->range)};
        Call one = {.builtin = c->builtin, .range = c->range, .args = args, .ranges = c->ranges};
        if (val_failed(update_element(l, &one, &at, COMBINE_ADD, false))) return val_error;
    }
    return val_none;
}
