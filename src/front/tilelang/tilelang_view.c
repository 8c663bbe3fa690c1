/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_view.c: storage seen in another shape or type: T.reshape, T.view, T.Tensor(shape, dtype, x.data).
 *
 *     V = T.view(S, (32, 16), "float32")      the bytes of a tile; the first of them are the lowest bits of an element
 *
 * A tensor in another shape is another tensor at the same address. A tile that is seen otherwise is read whole, changed
 * and written whole; `raise` makes values of both. */
#include "front/tilelang/tilelang.h"

#include <string.h>

static Elem bits_of(int width) {
    return width == 8 ? EL_U8 : width == 16 ? EL_U16 : width == 32 ? EL_U32 : EL_U64;
}

static Ref bitcast(Lower *l, Ref x, Elem elem) {
    const Type *type = val_ref_type(l, x);
    if (type->elem == elem) return x;
    Op *op = ir_begin(&l->b, OP_BITCAST);
    ir_operand(&l->b, op, x);
    return ir_end(&l->b, op, ty_with_elem(l->module, type, elem));
}

static Ref shifted(Lower *l, Opcode code, Ref x, int by) {
    return ir_binary(&l->b, code, x, ir_int(&l->b, val_ref_type(l, x)->elem, by));
}

/* Pairs along the last extent become one of twice the width, or the other way round. */
static Ref pair_up(Lower *l, Ref x, int width) {
    Op *split = ir_begin(&l->b, OP_SPLIT);
    ir_operand(&l->b, split, x);
    ir_end(&l->b, split, NULL);
    Ref low = ir_cast(&l->b, split->results[0], bits_of(2 * width));
    Ref high = ir_cast(&l->b, split->results[1], bits_of(2 * width));
    return ir_binary(&l->b, OP_OR, low, shifted(l, OP_SHL, high, width));
}

static Ref take_apart(Lower *l, Ref x, int width) {
    Op *join = ir_begin(&l->b, OP_JOIN);
    ir_operand(&l->b, join, ir_cast(&l->b, x, bits_of(width)));
    ir_operand(&l->b, join, ir_cast(&l->b, shifted(l, OP_SHR, x, width), bits_of(width)));
    return ir_end(&l->b, join, NULL);
}

static Ref flat(Lower *l, Ref x, int64_t inner) {
    const Type *type = val_ref_type(l, x);
    int64_t extent[2] = {ty_elements(type) / inner, inner};
    return ir_reshape(&l->b, x, ty_tile(l->module, type->elem, inner == 1 ? 1 : 2, extent));
}

Ref lang_recast(Lower *l, Ref x, const Type *type) {
    int from = elem_info[val_ref_type(l, x)->elem].bits, to = elem_info[type->elem].bits;
    if (from == to) return ir_reshape(&l->b, bitcast(l, x, type->elem), type);
    x = bitcast(l, x, bits_of(from));
    for (; from < to; from *= 2) x = pair_up(l, flat(l, x, 2), from);
    for (; from > to; from /= 2) x = flat(l, take_apart(l, flat(l, x, 1), from / 2), 1);
    return ir_reshape(&l->b, bitcast(l, x, type->elem), type);
}

/* --- elements --- */

/* The place of an element of a view among the elements of the storage that it shows, both counted in one order. */
static Ref flat_place(Lower *l, const Storage *of, const Ref *offset) {
    Ref place = ir_int(&l->b, EL_I32, 0);
    for (int d = 0; d < of->rank; d++) {
        place = ir_binary(&l->b, OP_MUL, place, ir_int(&l->b, EL_I32, of->shape[d]));
        place = ir_binary(&l->b, OP_ADD, place, ir_cast(&l->b, offset[d], EL_I32));
    }
    return place;
}

static void unflatten(Lower *l, const Storage *base, Ref place, Ref *offset) {
    for (int d = base->rank - 1; d >= 0; d--) {
        Ref extent = ir_int(&l->b, EL_I32, base->shape[d]);
        offset[d] = d ? ir_binary(&l->b, OP_MOD, place, extent) : place;
        place = ir_binary(&l->b, OP_FLOORDIV, place, extent);
    }
}

static Ref load_bits(Lower *l, const Storage *base, Ref place) {
    Ref offset[MAX_RANK];
    unflatten(l, base, place, offset);
    return bitcast(l, lang_load_element(l, base, offset), bits_of(elem_info[base->elem].bits));
}

static void store_bits(Lower *l, const Storage *base, Ref place, Ref bits) {
    Ref offset[MAX_RANK];
    unflatten(l, base, place, offset);
    lang_store_element(l, base, offset, bitcast(l, bits, base->elem));
}

static Ref scaled(Lower *l, Ref place, int64_t factor, int64_t more) {
    place = ir_binary(&l->b, OP_MUL, place, ir_int(&l->b, EL_I32, factor));
    return ir_binary(&l->b, OP_ADD, place, ir_int(&l->b, EL_I32, more));
}

/* Which bits of an element of the storage a narrower one of the view is. */
static Ref bit_place(Lower *l, Ref place, int parts, int width, Elem elem) {
    Ref part = ir_binary(&l->b, OP_MOD, place, ir_int(&l->b, EL_I32, parts));
    return ir_cast(&l->b, ir_binary(&l->b, OP_MUL, part, ir_int(&l->b, EL_I32, width)), elem);
}

Ref lang_view_load(Lower *l, const Storage *view, const Ref *offset) {
    const Storage *base = view->base;
    int have = elem_info[base->elem].bits, want = elem_info[view->elem].bits;
    Ref place = flat_place(l, view, offset), out;
    if (want > have) {
        out = ir_int(&l->b, bits_of(want), 0);
        for (int p = 0; p < want / have; p++) {
            Ref part = ir_cast(&l->b, load_bits(l, base, scaled(l, place, want / have, p)), bits_of(want));
            out = ir_binary(&l->b, OP_OR, out, shifted(l, OP_SHL, part, p * have));
        }
    } else if (want < have) {
        Ref whole = load_bits(l, base, ir_binary(&l->b, OP_FLOORDIV, place, ir_int(&l->b, EL_I32, have / want)));
        Ref by = bit_place(l, place, have / want, want, bits_of(have));
        out = ir_cast(&l->b, ir_binary(&l->b, OP_SHR, whole, by), bits_of(want));
    } else {
        out = load_bits(l, base, place);
    }
    return bitcast(l, out, view->elem);
}

void lang_view_store(Lower *l, const Storage *view, const Ref *offset, Ref value) {
    const Storage *base = view->base;
    int have = elem_info[base->elem].bits, want = elem_info[view->elem].bits;
    Ref place = flat_place(l, view, offset), bits = bitcast(l, value, bits_of(want));
    if (want > have) {
        for (int p = 0; p < want / have; p++) {
            Ref part = ir_cast(&l->b, shifted(l, OP_SHR, bits, p * have), bits_of(have));
            store_bits(l, base, scaled(l, place, want / have, p), part);
        }
    } else if (want < have) {
        Elem wide = bits_of(have);
        Ref whole = ir_binary(&l->b, OP_FLOORDIV, place, ir_int(&l->b, EL_I32, have / want));
        Ref by = bit_place(l, place, have / want, want, wide);
        Ref mask = ir_binary(&l->b, OP_SHL, ir_int(&l->b, wide, ((int64_t)1 << want) - 1), by);
        Ref keep = ir_binary(&l->b, OP_AND, load_bits(l, base, whole), ir_unary(&l->b, OP_NOT, mask));
        Ref put = ir_binary(&l->b, OP_SHL, ir_cast(&l->b, bits, wide), by);
        store_bits(l, base, whole, ir_binary(&l->b, OP_OR, keep, put));
    } else {
        store_bits(l, base, place, bits);
    }
}

/* --- rows of the table --- */

/* The same memory, as another tensor. */
static void reshape_tensor(Lower *l, const Storage *of, Storage *out) {
    Op *base = ir_begin(&l->b, OP_BASE), *cast;
    ir_operand(&l->b, base, of->ref);
    Ref pointer = ir_end(&l->b, base, NULL);
    if (out->elem != of->elem) {
        cast = ir_begin(&l->b, OP_BITCAST);
        ir_operand(&l->b, cast, pointer);
        pointer = ir_end(&l->b, cast, ty_pointer(l->module, out->elem));
    }
    lang_make_tensor(l, out, pointer);
}

static Val view(Lower *l, const Storage *of, Storage *out, const Call *c) {
    __int128 bits[2] = {elem_info[of->elem].bits, elem_info[out->elem].bits};
    for (int d = 0; d < of->rank; d++) bits[0] *= of->shape[d];
    for (int d = 0; d < out->rank; d++)
        if (bits[1] < (__int128)1 << 90) bits[1] *= out->shape[d];
    if (bits[0] != bits[1] || bits[0] / 8 > INT64_MAX)
        return py_error(l, DIAG_TL_SHAPES, c->range, c->builtin->name, lang_shape_text(l, of, of->shape),
                        lang_shape_text(l, out, out->shape), "both take the same number of bytes");
    l->b.range = c->range;
    if (of->kind == STORE_TENSOR && elem_info[out->elem].bits > elem_info[of->elem].bits)
        return py_error(l, DIAG_TL_PLANNED, c->range, /* who knows that it begins where such elements may */
                        arena_printf(l->arena, "T.%s of a tensor with a wider dtype", c->builtin->name),
                        "copy it to a tile, which may have one, or T.reinterpret each element");
    if (of->kind == STORE_TENSOR && of->strided)
        return lang_types(l, c->range, "a tensor with strides of its own has no other shape"
                                       FIX "copy it to a tile first");
    if (of->packed || out->packed)
        return lang_types(l, c->range,
                          "a dtype of 4 bits has no other shape or type here; T.copy it to a tile of bytes");
    if (out->elem != of->elem && (of->elem == EL_I1 || out->elem == EL_I1))
        return lang_types(l, c->range, "bool has no bytes to look at" FIX "cast it");
    if (of->kind == STORE_TENSOR && !lang_fits_memory(l, out, c->range)) return val_error;
    if (of->kind == STORE_TENSOR)
        reshape_tensor(l, of, out);
    else
        out->base = of->base ? of->base : of;
    return lang_own(l, &lang_storage_own, out, sizeof *out);
}

/* T.reshape, T.view: the same bytes in another shape or type. */
Val lang_lower_view(Lower *l, const Call *c) {
    const Storage *of = lang_storage(c->args[0]);
    if (!lang_in_kernel(l, c)) return val_error;
    if (!of || of->kind == STORE_VARIABLE)
        return lang_types(l, c->ranges[0],
                          arena_printf(l->arena, "T.%s takes a whole tensor or tile", c->builtin->name));
    Storage out = *of;
    if (c->args[1].kind != VAL_NONE && !lang_want_shape(l, c, 1, &out)) return val_error;
    if (c->args[2].kind != VAL_NONE && !lang_want_elem(l, c, 2, &out.elem)) return val_error;
    if (c->args[2].kind != VAL_NONE) out.packed = lang_packed(c->args[2]);
    return view(l, of, &out, c);
}

/* T.Tensor(shape, dtype, x.data) inside of a kernel */
Val lang_tensor_of(Lower *l, const Call *c) {
    const Storage *of = lang_storage(c->args[2]);
    Storage out = {.kind = STORE_TENSOR};
    if (!of || of->kind == STORE_VARIABLE)
        return lang_types(l, c->ranges[2], "T.Tensor's data is that of a tensor or tile, as in x.data");
    out.kind = of->kind, out.ref = of->ref;
    if (!lang_want_shape(l, c, 0, &out) || !lang_want_elem(l, c, 1, &out.elem)) return val_error;
    out.packed = lang_packed(c->args[1]);
    return view(l, of, &out, c);
}

/* T.make_tensor(addresses[i], shape, dtype) */
Val lang_lower_make_tensor(Lower *l, const Call *c) {
    Storage out = {.kind = STORE_TENSOR};
    if (!lang_in_kernel(l, c)) return val_error;
    if (c->args[3].kind != VAL_NONE)
        return py_error(l, DIAG_TL_PLANNED, c->ranges[3], "T.make_tensor with strides",
                        "give the shape of the rows as they lie, and take boxes of it");
    Val address = lang_scalar(l, c->args[0], c->ranges[0]);
    if (val_failed(address) || !lang_want_shape(l, c, 1, &out) || !lang_want_elem(l, c, 2, &out.elem)) return val_error;
    Elem elem = val_type(l, address)->elem;
    if (elem != EL_I64 && elem != EL_U64)
        return lang_types(l, c->ranges[0], "an address is an element of a tensor of T.ptr, of 64 bits");
    if (lang_packed(c->args[2]))
        return lang_types(l, c->ranges[2], "a tensor at an address has whole bytes" FIX "use uint8, and take it apart");
    if (!lang_fits_memory(l, &out, c->range)) return val_error;
    l->b.range = c->range;
    Op *op = ir_begin(&l->b, OP_BITCAST);
    ir_operand(&l->b, op, address.ref);
    lang_make_tensor(l, &out, ir_end(&l->b, op, ty_pointer(l->module, out.elem)));
    return lang_own(l, &lang_storage_own, &out, sizeof out);
}

/* T.index_to_coordinates(index, shape): a number for each extent, the last one fastest */
Val lang_lower_coordinates(Lower *l, const Call *c) {
    Val at[MAX_RANK], rest = c->args[0];
    Storage shape = {.kind = STORE_TILE};
    if (!lang_want_shape(l, c, 1, &shape)) return val_error;
    for (int d = shape.rank - 1; d >= 0; d--) {
        at[d] = d ? lang_binary(l, PY_OP_MOD, rest, val_int(shape.shape[d]), c->range) : rest;
        if (d) rest = lang_binary(l, PY_OP_FLOORDIV, rest, val_int(shape.shape[d]), c->range);
        if (val_failed(at[d]) || val_failed(rest)) return val_error;
    }
    return val_tuple(l, at, shape.rank);
}
