/* tilelang_atomic.c: atomic updates of elements and boxes of tensors.
 *
 *     T.atomic_add(C[i, j], x)             an element; return_prev=True gives what was there
 *     T.atomic_add(C[by * 64, bx * 64], C_shared)     a box, as T.copy takes it */
#include "front/tilelang/tilelang.h"

/* Only tensors: a tile belongs to one block, and a plain update of it is as good. */
static bool want_tensor(Lower *l, const Call *c, const Box *to) {
    if (to->of->packed) {
        lang_types(l, c->ranges[0], "numbers of 4 bits are halves of a byte, which memory does not update alone");
        return false;
    }
    if (to->of->kind == STORE_TENSOR) return true;
    py_error(l, DIAG_TL_UNSUPPORTED, c->ranges[0], arena_printf(l->arena, "T.%s on a tile", c->builtin->name),
             "it works on tensors; a tile belongs to its block, so write an update, as in x[i] += y");
    return false;
}

/* Can memory do it? */
static bool fits_memory(Lower *l, const Call *c, Elem elem, Word combine) {
    bool bits = combine == COMBINE_AND || combine == COMBINE_OR || combine == COMBINE_XOR;
    int width = elem_info[elem].bits;
    bool good = elem_is_float(elem) ? !bits && (width >= 32 || (width == 16 && combine == COMBINE_ADD)) : width >= 32;
    if (!good)
        lang_types(l, c->range, arena_printf(l->arena, "T.%s cannot work on %s in memory; use a 32-bit type",
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
    if (!want_tensor(l, c, &to)) return val_error;
    if (!fits_memory(l, c, to.of->elem, combine)) return val_error;
    if (head && lang_is_element(head) && !tile) return update_element(l, c, &to, combine, previous);
    if (previous) return lang_types(l, c->range, "return_prev is for single elements");
    if (!lang_check_box(l, &to, c->ranges[0])) return val_error;
    if (!tile) { /* all of them with one number */
        Ref number;
        if (!lang_convert(l, c->args[1], to.of->elem, c->range, &number)) return val_error;
        l->b.range = c->range;
        update_box(l, &to, ir_splat(&l->b, number, lang_box_type(l, &to, to.of->elem, to.of->rank)), NULL, combine);
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
    value = ir_reshape(&l->b, value, ty_tile(l->module, to.of->elem, count, extent));
    bool last = true; /* the last dimensions need no name */
    for (int d = 0; d < count; d++) last = last && dims[d] == to.of->rank - count + d;
    update_box(l, &to, value, last ? NULL : dims, combine);
    return val_none;
}

Val lang_lower_atomic(Lower *l, const Call *c) { return update(l, c, (Word)c->builtin->code); }

/* T.atomic_addx2, x4: elements that lie side by side along the last dimension. */
Val lang_lower_atomic_wide(Lower *l, const Call *c) {
    bool previous;
    const Box *to = lang_box(c->args[0]), *from = lang_box(c->args[1]);
    if (!lang_in_kernel(l, c)) return val_error;
    if (!lang_flag(l, c, 2, false, &previous)) return val_error;
    bool whole = to && from && !lang_is_element(to) && !lang_is_element(from);
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
    if (previous) return lang_types(l, c->range, "return_prev is for single elements; write T.atomic_add for each");
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
