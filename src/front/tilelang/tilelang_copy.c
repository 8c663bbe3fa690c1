/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_copy.c: boxes that move as a whole: T.copy, T.fill, T.clear, and what rows of the table ask of their
 * arguments.
 *
 *     T.copy(A[by * 64, k * 32], A_shared)      the head of a box: its extents are those of the other side
 *     T.copy(Q[b, s : s + 16, h, :], Q_shared)  extents of 1 may stand anywhere */
#include "front/tilelang/tilelang.h"

#include <string.h>

/* --- arguments --- */

bool lang_in_kernel(Lower *l, const Call *c) {
    if (lang_state(l)->launched) return true;
    py_error(l, DIAG_TL_UNSUPPORTED, c->range, arena_printf(l->arena, "T.%s outside of T.Kernel", c->builtin->name),
             "put it under `with T.Kernel(...)`");
    return false;
}

bool lang_word(Lower *l, const Call *c, int arg, const char *what, const char *words) {
    Val v = c->args[arg];
    if (v.kind == VAL_NONE) return true;
    const char *text = v.kind == VAL_STR || v.kind == VAL_MODULE ? v.text : "";
    const char *policy = v.kind == VAL_MODULE ? strstr(text, "GemmWarpPolicy.") : NULL;
    if (v.kind == VAL_MODULE) text = policy ? policy + strlen("GemmWarpPolicy.") : "";
    for (const char *at = words; *text && (at = strstr(at, text)); at++)
        if ((at == words || at[-1] == ' ') && strchr(",", at[strlen(text)])) return true;
    const char *here = v.kind == VAL_STR ? arena_printf(l->arena, "\"%s\"", v.text) : val_describe(l, v);
    py_error(l, DIAG_TL_WORD, c->ranges[arg], here, what, words);
    return false;
}

bool lang_want_elem(Lower *l, const Call *c, int arg, Elem *elem) {
    Val v = c->args[arg];
    if (val_failed(v)) return false;
    if (lang_elem_of(v, elem)) return true;
    if (v.kind == VAL_BUILTIN && v.builtin->lower == lang_lower_planned) {
        lang_lower_planned(l, &(Call){.builtin = v.builtin, .range = c->ranges[arg]});
        return false;
    }
    const char *here = v.kind == VAL_STR ? arena_printf(l->arena, "\"%s\"", v.text) : val_text(l, v);
    py_error(l, DIAG_TL_DTYPE, c->ranges[arg], here);
    return false;
}

bool lang_flag(Lower *l, const Call *c, int arg, bool otherwise, bool *out) {
    Val v = lang_plain(c->args[arg]);
    *out = v.kind == VAL_NONE ? otherwise : val_is_const(v) && val_truth(v);
    if (v.kind == VAL_NONE || v.kind == VAL_BOOL || v.kind == VAL_INT) return true;
    py_error(l, DIAG_TL_ARGUMENTS, c->ranges[arg], "this argument must be True or False");
    return false;
}

/* --- boxes --- */

static bool as_box(Lower *l, Val v, const Val *other, const char *name, Range range, Box *out) {
    const Storage *storage = lang_storage(v);
    const Box *box = lang_box(v);
    if (val_failed(v)) return false;
    if (storage) {
        *out = (Box){.of = storage, .slice = true};
        memcpy(out->shape, storage->shape, sizeof out->shape);
        for (int d = 0; d < storage->rank; d++) out->offset[d] = ir_int(&l->b, EL_I32, 0);
        return true;
    }
    if (!box) {
        lang_types(l, range,
                   arena_printf(l->arena, "T.%s needs a tensor or a tile here, not %s", name, val_describe(l, v)));
        return false;
    }
    *out = *box;
    const Box *from = other ? lang_box(*other) : NULL;
    const Storage *whole = other ? lang_storage(*other) : NULL;
    if (!box->slice && (from || whole)) {
        int rank = from ? from->of->rank : whole->rank;
        const int64_t *shape = from ? from->shape : whole->shape;
        for (int d = 0; d < out->of->rank; d++) {
            int at = d - (out->of->rank - rank);
            out->shape[d] = at >= 0 ? shape[at] : 1;
        }
    }
    return true;
}

bool lang_as_box(Lower *l, const Call *c, int arg, const Val *other, Box *out) {
    return as_box(l, c->args[arg], other, c->builtin->name, c->ranges[arg], out);
}

bool lang_as_tile(Lower *l, const Call *c, int arg, Box *out) {
    if (!lang_as_box(l, c, arg, NULL, out)) return false;
    if (out->of->own) {
        lang_types(l, c->ranges[arg],
                   arena_printf(l->arena,
                                "T.%s works on tiles of the block, and in a kernel that names its threads each of them "
                                "has one of these" FIX "use alloc_shared or alloc_fragment",
                                c->builtin->name));
        return false;
    }
    if (out->of->kind != STORE_TENSOR) return lang_check_box(l, out, c->ranges[arg]);
    lang_types(l, c->ranges[arg],
               arena_printf(l->arena,
                            "T.%s works on tiles (alloc_shared, alloc_fragment)"
                            FIX "copy the tensor's box into one first",
                            c->builtin->name));
    return false;
}

bool lang_check_box(Lower *l, const Box *box, Range range) {
    int64_t elements = 1;
    for (int d = 0; d < box->of->rank; d++) {
        if (box->shape[d] < 1) {
            py_error(l, DIAG_TL_SHAPES, range, "copy", lang_shape_text(l, box->of, box->shape), "it",
                     "a box has at least one element");
            return false;
        }
        if (box->of->kind != STORE_TENSOR && !lang_inside(l, box->of, d, box->at[d], box->shape[d], range))
            return false;
        if (__builtin_mul_overflow(elements, box->shape[d], &elements) || elements > MAX_TILE_ELEMENTS) {
            lang_types(l, range, "a tile has at most 2^20 elements" FIX "use smaller blocks");
            return false;
        }
    }
    return true;
}

const Type *lang_box_type(Lower *l, const Box *box, Elem elem, int rank) {
    return ty_tile(l->module, elem, rank, box->shape + box->of->rank - rank);
}

int lang_leading_ones(const Box *box) {
    int n = 0;
    while (n < box->of->rank && box->shape[n] == 1) n++;
    return n;
}

/* The dimensions of a box that a tile of fewer covers, the last ones if none are given. */
typedef struct Dims {
    int count; /* 0: the last ones */
    int64_t at[MAX_RANK];
} Dims;

static void set_dims(Lower *l, Op *op, const Dims *dims) {
    if (dims->count)
        op_set(l->kernel, op,
               (Attr){.id = AT_DIMS, .list = {dims->count, arena_copy(l->arena, dims->at, sizeof dims->at)}});
}

/* Is it all of a view? Then it is all of what the view shows, in another shape. */
static bool is_whole(const Box *box) {
    for (int d = 0; d < box->of->rank; d++)
        if (box->shape[d] != box->of->shape[d]) return false;
    return true;
}

static const Type *storage_type(Lower *l, const Storage *s) { return ty_tile(l->module, s->elem, s->rank, s->shape); }

static Ref load_as(Lower *l, const Box *box, const Type *type, const Dims *dims) {
    const Storage *of = box->of, *base = of->base;
    if (base) {
        Ref zero[MAX_RANK];
        for (int d = 0; d < base->rank; d++) zero[d] = ir_int(&l->b, EL_I32, 0);
        Ref whole = lang_recast(l, ir_bload(&l->b, base->ref, zero, storage_type(l, base)), storage_type(l, of));
        if (!is_whole(box)) whole = ir_slice(&l->b, whole, box->offset, lang_box_type(l, box, of->elem, of->rank));
        return ir_reshape(&l->b, whole, type);
    }
    if (of->kind != STORE_TENSOR)
        return ir_reshape(&l->b, ir_bload(&l->b, of->ref, box->offset, lang_box_type(l, box, of->elem, of->rank)),
                          type);
    Ref value;
    if (of->packed) {
        bool good = lang_packed_load_box(l, box, type, l->b.range, &value);
        return good ? value : ir_splat(&l->b, ir_cast(&l->b, ir_int(&l->b, EL_I32, 0), type->elem), type);
    }
    value = lang_tload(l, of, box->offset, type);
    set_dims(l, ir_value(l->kernel, value)->op, dims);
    return value;
}

static void store_as(Lower *l, const Box *box, Ref value, const Dims *dims) {
    const Storage *of = box->of, *base = of->base;
    value = of->packed ? lang_narrow(l, of->packed, value) : ir_cast(&l->b, value, of->elem);
    if (of->packed && of->kind == STORE_TENSOR) {
        lang_packed_store_box(l, box, value, l->b.range);
        return;
    }
    if (base) { /* all of it is read, changed and written */
        Ref zero[MAX_RANK];
        Box all = {.of = of, .slice = true};
        memcpy(all.shape, of->shape, sizeof all.shape);
        for (int d = 0; d < MAX_RANK; d++) zero[d] = all.offset[d] = ir_int(&l->b, EL_I32, 0);
        value = ir_reshape(&l->b, value, lang_box_type(l, box, of->elem, of->rank));
        if (!is_whole(box))
            value = ir_insert(&l->b, load_as(l, &all, storage_type(l, of), &(Dims){0}), box->offset, value);
        ir_bstore(&l->b, base->ref, zero, lang_recast(l, value, storage_type(l, base)));
    } else if (of->kind == STORE_TENSOR) {
        set_dims(l, ir_tstore(&l->b, of->ref, box->offset, value, REF_NONE), dims);
    } else {
        ir_bstore(&l->b, of->ref, box->offset, ir_reshape(&l->b, value, lang_box_type(l, box, of->elem, of->rank)));
    }
}

Ref lang_load_box(Lower *l, const Box *box, int rank) {
    return load_as(l, box, lang_box_type(l, box, box->of->elem, rank), &(Dims){0});
}
void lang_store_box(Lower *l, const Box *box, Ref value) { store_as(l, box, value, &(Dims){0}); }

/* The dimensions of more than one element, in order. */
static void long_dims(const Box *box, Dims *dims, int64_t *extent) {
    dims->count = 0;
    for (int d = 0; d < box->of->rank; d++)
        if (box->shape[d] != 1) extent[dims->count] = box->shape[d], dims->at[dims->count++] = d;
}

/* Extents of 1 of the source, and those that it lacks in front, are repeated; false: that is not what differs. */
static bool repeat(Lower *l, const Box *from, const Box *to) {
    int more = to->of->rank - from->of->rank;
    int64_t extent[MAX_RANK];
    for (int d = 0; d < from->of->rank; d++)
        if (from->shape[d] != 1 && (d + more < 0 || from->shape[d] != to->shape[d + more])) return false;
    for (int d = 0; d < to->of->rank; d++) extent[d] = d < more ? 1 : from->shape[d - more];
    Ref x = lang_load_box(l, from, from->of->rank);
    x = ir_reshape(&l->b, x, ty_tile(l->module, from->of->elem, to->of->rank, extent));
    lang_store_box(l, to, ir_broadcast(&l->b, x, lang_box_type(l, to, from->of->elem, to->of->rank)));
    return true;
}

static bool move(Lower *l, const Box *from, const Box *to, Range range) {
    int rank = from->of->rank - lang_leading_ones(from), rank_to = to->of->rank - lang_leading_ones(to);
    l->b.range = range;
    if (from->of->own || to->of->own) return lang_move_own(l, from, to, range);
    if (rank_to > rank) rank = rank_to;
    if (rank < 1) rank = 1;
    bool fits = rank <= from->of->rank && rank <= to->of->rank;
    for (int d = 1; fits && d <= rank; d++) fits = from->shape[from->of->rank - d] == to->shape[to->of->rank - d];
    if (fits) {
        lang_store_box(l, to, lang_load_box(l, from, rank));
        return true;
    }
    /* Extents of 1 may stand anywhere: Q[b, s : s + 16, h, :] is a tile of 16 rows. */
    Dims dims[2];
    int64_t extent[2][MAX_RANK];
    long_dims(from, &dims[0], extent[0]);
    long_dims(to, &dims[1], extent[1]);
    if (dims[0].count != dims[1].count || memcmp(extent[0], extent[1], (size_t)dims[0].count * sizeof **extent) != 0) {
        if (repeat(l, from, to)) return true;
        py_error(l, DIAG_TL_SHAPES, range, "copy", lang_shape_text(l, from->of, from->shape),
                 lang_shape_text(l, to->of, to->shape), "both boxes must have the same extents, 1s apart");
        return false;
    }
    const Type *type = ty_tile(l->module, from->of->elem, dims[0].count, extent[0]);
    store_as(l, to, load_as(l, from, type, &dims[0]), &dims[1]);
    return true;
}

bool lang_move(Lower *l, Val from, Val to, Range range) {
    Box a, b;
    return as_box(l, from, &to, "copy", range, &a) && as_box(l, to, NULL, "copy", range, &b) &&
           lang_check_box(l, &a, range) && lang_check_box(l, &b, range) && move(l, &a, &b, range);
}

bool lang_fill(Lower *l, Val to, Val value, Range range) {
    Box box;
    Ref ref;
    if (!as_box(l, to, NULL, "fill", range, &box) || !lang_check_box(l, &box, range)) return false;
    Elem elem = box.of->packed == PACKED_F4 ? EL_F32 : box.of->elem; /* which is rounded once */
    if (!lang_convert(l, value, elem, range, &ref)) return false;
    l->b.range = range;
    if (box.of->own) return lang_fill_own(l, &box, ref, range);
    lang_store_box(l, &box, ir_splat(&l->b, ref, lang_box_type(l, &box, elem, box.of->rank)));
    return true;
}

/* --- rows of the table --- */

/* T.transpose(src, dst): the last two dimensions change places. */
Val lang_lower_transpose(Lower *l, const Call *c) {
    Box from, to;
    if (!lang_in_kernel(l, c) || !lang_as_box(l, c, 0, NULL, &from) || !lang_as_box(l, c, 1, NULL, &to) ||
        !lang_check_box(l, &from, c->ranges[0]) || !lang_check_box(l, &to, c->ranges[1]))
        return val_error;
    int rank = from.of->rank;
    bool fits = rank == to.of->rank && rank >= 2;
    for (int d = 0; fits && d < rank; d++)
        fits = from.shape[d] == to.shape[d < rank - 2 ? d : 2 * rank - 3 - d];
    if (!fits)
        return py_error(l, DIAG_TL_SHAPES, c->range, "transpose", lang_shape_text(l, from.of, from.shape),
                        lang_shape_text(l, to.of, to.shape), "the last two extents change places");
    int64_t order[MAX_RANK];
    for (int d = 0; d < rank; d++) order[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
    l->b.range = c->range;
    lang_store_box(l, &to, ir_permute(&l->b, lang_load_box(l, &from, rank), order, rank));
    return val_none;
}

Val lang_lower_copy(Lower *l, const Call *c) {
    Box from, to;
    if (!lang_in_kernel(l, c)) return val_error;
    if (c->args[1].kind == VAL_UNBOUND) { /* x = T.copy(element) */
        const Box *element = lang_box(c->args[0]);
        if (element && lang_is_element(element) && lang_state(l)->elements) return lang_load(l, element, c->range);
        return py_error(l, DIAG_TL_ARGUMENTS, c->range, "T.copy(src, dst, ..): argument 2 is missing");
    }
    if (!lang_word(l, c, 4, "eviction policy", "evict_normal, evict_first, evict_last")) return val_error;
    const Box *head = lang_box(c->args[0]);
    bool swap = head && lang_is_element(head);
    l->b.range = c->range;
    if (!lang_as_box(l, c, 0, swap ? &c->args[1] : NULL, &from)) return val_error;
    Val settled = lang_own(l, &lang_box_own, &from, sizeof from);
    bool good = lang_as_box(l, c, 1, &settled, &to) && lang_check_box(l, &from, c->ranges[0]) &&
                lang_check_box(l, &to, c->ranges[1]) && move(l, &from, &to, c->range);
    return good ? val_none : val_error;
}

Val lang_lower_fill(Lower *l, const Call *c) {
    Val value = c->builtin->code ? val_int(0) : c->args[1];
    return lang_in_kernel(l, c) && lang_fill(l, c->args[0], value, c->range) ? val_none : val_error;
}
