/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_reduce.c: reductions and running sums of tiles along a dimension. */
#include "front/tilelang/tilelang.h"

#include <math.h>

static const struct {
    char code;
    Word combine;
    Opcode join;
    bool magnitudes; /* of the absolute values */
} kinds[] = {{'s', COMBINE_ADD, OP_ADD, false}, {'S', COMBINE_ADD, OP_ADD, true}, {'x', COMBINE_MAX, OP_MAX, false},
             {'X', COMBINE_MAX, OP_MAX, true},  {'n', COMBINE_MIN, OP_MIN, false}, {'a', COMBINE_AND, OP_AND, false},
             {'o', COMBINE_OR, OP_OR, false},   {'e', COMBINE_XOR, OP_XOR, false}};

static bool want_dim(Lower *l, const Call *c, int arg, const Box *of, int64_t *dim) {
    Val v = lang_plain(c->args[arg]);
    int rank = of->of->rank;
    if (v.kind != VAL_INT) {
        py_error(l, DIAG_TL_ARGUMENTS, c->ranges[arg], "dim must be a known integer");
        return false;
    }
    *dim = (int64_t)(v.i < 0 ? v.i + rank : v.i);
    if (v.i >= -rank && v.i < rank) return true;
    py_error(l, DIAG_TL_ARGUMENTS, c->range,
             arena_printf(l->arena, "dim is outside of %s", lang_shape_text(l, of->of, of->shape)));
    return false;
}

static bool fits_output(Lower *l, const Call *c, Ref value, const Box *from, const Box *to) {
    const Type *got = val_ref_type(l, value), *want = lang_box_type(l, to, got->elem, to->of->rank);
    bool ranks = to->of->rank == got->rank || to->of->rank == from->of->rank;
    if (ranks && ty_elements(got) == ty_elements(want)) return true;
    py_error(l, DIAG_TL_SHAPES, c->range, c->builtin->name, ty_text(got, l->arena),
             lang_shape_text(l, to->of, to->shape), "the output drops the reduced dimension or keeps it as 1");
    return false;
}

/* Was the tile made in this very block of statements, and is this the first that is done with it? */
static bool is_untouched(Lower *l, const Storage *of) {
    if (of->base || of->kind != STORE_TILE || ir_value(l->kernel, of->ref)->op->parent != l->b.region) return false;
    return !ir_count_uses(l->kernel, l->arena)[of->ref];
}

Val lang_lower_reduce(Lower *l, const Call *c) {
    Box from, to;
    bool clear, nan;
    int64_t dim;
    size_t k = 0;
    while (kinds[k].code != c->builtin->code) k++;
    if (!lang_in_kernel(l, c) || !lang_as_tile(l, c, 0, &from) || !lang_as_tile(l, c, 1, &to) ||
        !want_dim(l, c, 2, &from, &dim) || !lang_flag(l, c, 3, true, &clear) || !lang_flag(l, c, 5, false, &nan))
        return val_error;
    if (!clear && is_untouched(l, to.of)) {
        clear = true;
        diag_emit(l->diag, DIAG_TL_FOLD, c->range, c->builtin->name);
    }
    Elem elem = to.of->elem;
    Word combine = kinds[k].combine;
    bool bits = combine == COMBINE_AND || combine == COMBINE_OR || combine == COMBINE_XOR;
    if (bits && elem_is_float(elem)) return lang_types(l, c->range, "bits are of integers"
                                                                    FIX "cast or reinterpret first");
    l->b.range = c->range;
    /* In the output's type, but sums of floats in f32 at least. */
    bool wide = combine == COMBINE_ADD && elem_is_float(elem) && elem_info[elem].bits < 32;
    Ref value = lang_load_box(l, &from, from.of->rank);
    if (kinds[k].magnitudes) value = ir_unary(&l->b, OP_ABS, value);
    value = ir_reduce(&l->b, combine, ir_cast(&l->b, value, wide ? EL_F32 : elem), (int)dim);
    bool keeps = nan && elem_is_float(elem) && combine != COMBINE_ADD;
    if (keeps) op_set(l->kernel, ir_value(l->kernel, value)->op, (Attr){.id = AT_NAN, .word = NAN_KEEP});
    if (!fits_output(l, c, value, &from, &to)) return val_error;
    value = ir_reshape(&l->b, value, lang_box_type(l, &to, val_ref_type(l, value)->elem, to.of->rank));
    value = ir_cast(&l->b, value, elem);
    if (!clear) value = ir_binary(&l->b, kinds[k].join, lang_load_box(l, &to, to.of->rank), value);
    if (!clear && keeps) op_set(l->kernel, ir_value(l->kernel, value)->op, (Attr){.id = AT_NAN, .word = NAN_KEEP});
    lang_store_box(l, &to, value);
    return val_none;
}

/* T.reduce_argmax, T.reduce_argmin */
Val lang_lower_reduce_place(Lower *l, const Call *c) {
    Box from, to;
    int64_t dim;
    if (!lang_in_kernel(l, c) || !lang_as_tile(l, c, 0, &from) || !lang_as_tile(l, c, 1, &to) ||
        !want_dim(l, c, 2, &from, &dim))
        return val_error;
    if (elem_is_float(to.of->elem)) return lang_types(l, c->ranges[1], "places are integers" FIX "take an int32 tile");
    l->b.range = c->range;
    Ref place = ir_reduce(&l->b, (Word)c->builtin->code, lang_load_box(l, &from, from.of->rank), (int)dim);
    if (!fits_output(l, c, place, &from, &to)) return val_error;
    lang_store_box(l, &to, ir_reshape(&l->b, place, lang_box_type(l, &to, EL_I32, to.of->rank)));
    return val_none;
}

/* --- T.alloc_reducer --- */

static const Storage *want_reducer(Lower *l, const Call *c, const Storage *of) {
    if (of && of->reduces) return of;
    lang_types(l, c->ranges[0], arena_printf(l->arena, "T.%s takes what T.alloc_reducer gives", c->builtin->name));
    return NULL;
}

static Opcode join_of(Word combine) {
    size_t k = 0;
    while (kinds[k].combine != combine) k++;
    return kinds[k].join;
}

/* What changes no number. */
static Val neutral_of(const Storage *of) {
    int bits = elem_info[of->elem].bits;
    bool least = of->reduces == COMBINE_MAX, most = of->reduces == COMBINE_MIN;
    if (of->reduces == COMBINE_AND) return val_int(elem_is_signed(of->elem) || bits == 1 ? -1 : ((PyInt)1 << bits) - 1);
    if (!least && !most) return val_int(0);
    if (elem_is_float(of->elem)) return val_float(least ? -INFINITY : INFINITY);
    PyInt half = (PyInt)1 << (bits - 1);
    if (elem_is_signed(of->elem)) return val_int(least ? -half : half - 1);
    return val_int(least ? 0 : 2 * half - 1);
}

/* T.reducer_init: an element begins with what changes nothing, or with the value given. */
Val lang_lower_reducer_init(Lower *l, const Call *c) {
    const Storage *of = lang_in_kernel(l, c) ? want_reducer(l, c, lang_storage(c->args[0])) : NULL;
    if (!of) return val_error;
    Val first = c->args[1].kind == VAL_NONE ? neutral_of(of) : c->args[1];
    return lang_fill(l, c->args[0], first, c->range) ? val_none : val_error;
}

Val lang_lower_reducer_update(Lower *l, const Call *c) {
    const Box *at = lang_box(c->args[0]);
    Ref value;
    if (!lang_in_kernel(l, c) || !want_reducer(l, c, at && lang_is_element(at) ? at->of : NULL)) return val_error;
    if (!lang_convert(l, c->args[1], at->of->elem, c->range, &value)) return val_error;
    Val old = lang_load(l, at, c->range);
    value = ir_binary(&l->b, join_of(at->of->reduces), old.ref, value);
    return lang_store(l, at, val_tensor(value), c->range) ? val_none : val_error;
}

/* T.finalize_reducer: the sums are there already. */
/* How many elements are combined at once: a hint, but one that must make sense. */
static bool check_batch(Lower *l, const Call *c, int arg, const Storage *of) {
    Val batch = lang_plain(c->args[arg]);
    int64_t all = 1;
    for (int d = 0; d < of->rank; d++) all *= of->shape[d];
    if (batch.kind == VAL_NONE || (batch.kind == VAL_INT && batch.i >= 1 && batch.i <= all && all % batch.i == 0))
        return true;
    const char *rule = batch.kind != VAL_INT || batch.i < 1 ? "it is a known integer: batch must be >= 1"
                       : batch.i > all ? "it exceeds total output elements"
                                       : "it must evenly divide the output's elements";
    lang_types(l, c->ranges[arg],
               arena_printf(l->arena, "batch=%s does not fit a reducer of %lld elements; %s", val_text(l, batch),
                            (long long)all, rule));
    return false;
}

Val lang_lower_finalize_reducer(Lower *l, const Call *c) {
    const Storage *of = lang_storage(c->args[0]);
    if (!lang_in_kernel(l, c) || !want_reducer(l, c, of) || !check_batch(l, c, 2, of)) return val_error;
    if (c->args[1].kind == VAL_NONE) return val_none;
    return lang_move(l, c->args[0], c->args[1], c->range) ? val_none : val_error;
}

/* T.any_of, T.all_of: one bool of a tile, or of a box of one. */
Val lang_lower_any(Lower *l, const Call *c) {
    Box from;
    if (!lang_in_kernel(l, c) || !lang_as_box(l, c, 0, NULL, &from) || !lang_check_box(l, &from, c->ranges[0]))
        return val_error;
    l->b.range = c->range;
    Ref value = lang_load_box(l, &from, from.of->rank);
    const Type *type = val_ref_type(l, value);
    Elem e = type->elem;
    if (e != EL_I1) {
        Ref none = elem_is_float(e) ? ir_float(&l->b, e, 0) : ir_int(&l->b, e, 0);
        value = ir_compare(&l->b, CMP_NE, value, none);
    }
    int64_t all = ty_elements(type);
    value = ir_reshape(&l->b, value, ty_tile(l->module, EL_I1, 1, &all));
    return val_tensor(ir_reduce(&l->b, (Word)c->builtin->code, value, 0));
}

/* T.cumsum, T.cummax: without an output in place. */
Val lang_lower_scan(Lower *l, const Call *c) {
    Box from, to;
    bool reverse;
    int64_t dim;
    if (!lang_in_kernel(l, c) || !lang_as_tile(l, c, 0, &from)) return val_error;
    if (c->args[1].kind == VAL_NONE)
        to = from;
    else if (!lang_as_tile(l, c, 1, &to))
        return val_error;
    if (!want_dim(l, c, 2, &from, &dim) || !lang_flag(l, c, 3, false, &reverse)) return val_error;
    bool same = from.of->rank == to.of->rank;
    for (int d = 0; same && d < from.of->rank; d++) same = from.shape[d] == to.shape[d];
    if (!same)
        return py_error(l, DIAG_TL_SHAPES, c->range, c->builtin->name, lang_shape_text(l, from.of, from.shape),
                        lang_shape_text(l, to.of, to.shape), "the output has the shape of the input");
    Elem elem = to.of->elem;
    l->b.range = c->range;
    bool wide = elem_is_float(elem) && elem_info[elem].bits < 32;
    Op *op = ir_begin(&l->b, OP_SCAN);
    ir_operand(&l->b, op, ir_cast(&l->b, lang_load_box(l, &from, from.of->rank), wide ? EL_F32 : elem));
    op_set(l->kernel, op, (Attr){.id = AT_COMBINE, .word = (Word)c->builtin->code});
    op_set(l->kernel, op, (Attr){.id = AT_AXIS, .number = dim});
    if (reverse) op_set(l->kernel, op, (Attr){.id = AT_REVERSE, .number = 1});
    lang_store_box(l, &to, ir_end(&l->b, op, NULL));
    return val_none;
}
