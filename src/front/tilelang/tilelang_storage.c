/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_storage.c: tiles and variables of a kernel, and hints that change no result. */
#include "front/tilelang/tilelang.h"

#include <string.h>

bool lang_want_shape(Lower *l, const Call *c, int arg, Storage *out) {
    Val v = lang_plain(c->args[arg]), items = v;
    if (v.kind == VAL_INT) items = val_tuple(l, &v, 1);
    out->rank = items.kind == VAL_TUPLE || items.kind == VAL_LIST ? val_count(items) : 0;
    if (out->rank < 1 || out->rank > MAX_RANK) {
        py_error(l, DIAG_TL_ARGUMENTS, c->ranges[arg], "a tile's shape is a tuple of 1 to 8 known integers");
        return false;
    }
    for (int d = 0; d < out->rank; d++) {
        Val extent = lang_plain(val_items(items)[d]);
        if (lang_missing(l, extent, c->ranges[arg])) return false;
        if (extent.kind != VAL_INT || extent.i < 1 || extent.i > INT32_MAX) {
            if (!val_failed(extent)) py_error(l, DIAG_TL_EXTENT, c->ranges[arg], lang_extent_text(l, extent));
            return false;
        }
        out->shape[d] = (int64_t)extent.i;
    }
    return true;
}

static Val alloc(Lower *l, const Call *c, Storage out, Word scope) {
    if (!lang_want_shape(l, c, 0, &out)) return val_error;
    Box all = {.of = &out};
    memcpy(all.shape, out.shape, sizeof all.shape);
    if (!lang_check_box(l, &all, c->ranges[0]) || !lang_want_elem(l, c, 1, &out.elem)) return val_error;
    out.tf32 = lang_is_tf32(c->args[1]), out.packed = lang_packed(c->args[1]);
    l->b.range = c->range;
    out.own = scope == SCOPE_LOCAL && lang_state(l)->threads;
    if (out.packed && lang_state(l)->threads)
        return lang_types(l, c->ranges[1], "tiles of 4-bit dtypes and threads by hand do not meet" FIX "use int8");
    if (!lang_own_fits(l, &out, c->range)) return val_error;
    out.ref = ir_buffer(&l->b, lang_own_type(l, &out, scope), NULL);
    return lang_own(l, &lang_storage_own, &out, sizeof out);
}

Val lang_lower_alloc(Lower *l, const Call *c) {
    if (!lang_in_kernel(l, c)) return val_error;
    if (!lang_word(l, c, 2, "scope", "shared, shared.dyn, local, local.fragment, local.var")) return val_error;
    return alloc(l, c, (Storage){.kind = STORE_TILE}, (Word)c->builtin->code);
}

/* T.alloc_reducer: a tile whose elements many iterations of an element loop update in one way. */
Val lang_lower_alloc_reducer(Lower *l, const Call *c) {
    static const char words[] = "sum, max, min, bitand, bitor, bitxor";
    static const Word combines[] = {COMBINE_ADD, COMBINE_MAX, COMBINE_MIN, COMBINE_AND, COMBINE_OR, COMBINE_XOR};
    if (!lang_in_kernel(l, c) || !lang_word(l, c, 2, "reducer", words)) return val_error;
    int which = 0;
    const char *text = c->args[2].kind == VAL_STR ? c->args[2].text : "sum";
    for (const char *at = words; at != strstr(words, text); at++) which += *at == ',';
    Elem elem;
    if (which > 2 && lang_elem_of(c->args[1], &elem) && elem_is_float(elem))
        return lang_types(l, c->range, "bits are of integers" FIX "give the reducer an integer dtype");
    return alloc(l, c, (Storage){.kind = STORE_TILE, .reduces = combines[which]}, SCOPE_FRAGMENT);
}

/* T.alloc_global: memory for all blocks, and for all launches of the function; a parameter that no argument gives. */
Val lang_lower_alloc_global(Lower *l, const Call *c) {
    Storage out = {.kind = STORE_TENSOR};
    LangState *s = lang_state(l);
    FrontSequence *sequence = l->request ? l->request->sequence : NULL;
    if (!l->kernel || s->launched || l->nest || !sequence)
        return py_error(l, DIAG_TL_UNSUPPORTED, c->range, "T.alloc_global here",
                        "all blocks share it" FIX "put it in the function, before `with T.Kernel(...)`");
    if (!lang_want_shape(l, c, 0, &out) || !lang_want_elem(l, c, 1, &out.elem) ||
        !lang_fits_memory(l, &out, c->ranges[0]))
        return val_error;
    if (lang_packed(c->args[1])) return lang_types(l, c->ranges[1], "T.alloc_global has no dtypes of 4 bits"
                                                                    FIX "use int8");
    FrontSpace *space = VEC_PUSH(&sequence->spaces, l->arena);
    *space = (FrontSpace){.elem = out.elem, .rank = out.rank};
    memcpy(space->extent, out.shape, sizeof space->extent);
    do /* a name that no parameter has */
        space->name = arena_printf(l->arena, "global%d", s->spaces++);
    while (lang_place_of(l, space->name) >= 0);
    l->b.range = c->range;
    if (!l->kernel->grid) lang_declare_tensor(l, &out, space->name); /* else it is for launches behind this one */
    return lang_own(l, &lang_storage_own, &out, sizeof out);
}

/* A number that changes: one element of every thread's own, and the same in all of them. */
Val lang_lower_alloc_var(Lower *l, const Call *c) {
    Storage out = {.kind = STORE_VARIABLE, .rank = 1, .shape = {1}};
    if (!lang_in_kernel(l, c) || !lang_want_elem(l, c, 0, &out.elem)) return val_error;
    if (lang_packed(c->args[0]))
        return lang_types(l, c->range, "a variable of 4 bits is not there" FIX "use int8 or float16");
    Val init = c->args[1];
    if (init.kind == VAL_STR) init = c->args[2]; /* alloc_var(dtype, scope, init) */
    l->b.range = c->range;
    out.own = lang_state(l)->threads;
    out.ref = ir_buffer(&l->b, lang_own_type(l, &out, SCOPE_LOCAL), NULL);
    if (init.kind == VAL_NONE) init = val_int(0);
    if (!lang_variable_store(l, &out, init, c->range)) return val_error;
    return lang_own(l, &lang_fresh_own, &out, sizeof out);
}

/* --- hints --- */

Val lang_lower_nothing(Lower *l, const Call *c) {
    (void)l, (void)c;
    return val_none;
}

Val lang_lower_use_swizzle(Lower *l, const Call *c) {
    return lang_word(l, c, 1, "order", "row, column, mlx") ? val_none : val_error;
}

/* T.Layout, T.Fragment, make_swizzled_layout: places of elements, which the compiler chooses itself. */
Val lang_lower_layout(Lower *l, const Call *c) {
    (void)c;
    return lang_own(l, &lang_layout_own, "", 1);
}

/* Layouts by tile; a place in memory changes no value. */
Val lang_lower_annotate_layout(Lower *l, const Call *c) {
    Val dict = c->args[0];
    if (dict.kind != VAL_DICT && !val_failed(dict))
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "layouts are a dict, {tile: layout, ..}");
    return val_failed(dict) ? dict : val_none;
}

/* T.annotate_safe_value({A: x}): what tensors read outside, from here on. */
Val lang_lower_safe_value(Lower *l, const Call *c) {
    Val dict = c->args[0];
    if (!lang_in_kernel(l, c) || val_failed(dict)) return val_error;
    if (dict.kind != VAL_DICT)
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "values are a dict, {tensor: value, ..}");
    for (int i = 0; i + 1 < val_count(dict); i += 2) {
        const Storage *tensor = lang_storage(val_items(dict)[i]);
        Ref *value = ARENA_NEW(l->arena, Ref);
        if (!tensor || tensor->kind != STORE_TENSOR)
            return lang_types(l, c->ranges[0], "only tensors have an outside, which T.annotate_safe_value speaks of");
        if (!lang_convert(l, val_items(dict)[i + 1], tensor->elem, c->ranges[0], value)) return val_error;
        map_put_number(&lang_state(l)->safe, l->arena, tensor->ref, value);
    }
    return val_none;
}

Val lang_lower_num_sms(Lower *l, const Call *c) {
    (void)l, (void)c;
    return val_int(LANG_PROCESSORS); /* any number of blocks is right */
}

Val lang_lower_device_assert(Lower *l, const Call *c) {
    Ref condition;
    Val text = c->args[1];
    if (!lang_in_kernel(l, c) || !lang_convert(l, c->args[0], EL_I1, c->range, &condition)) return val_error;
    if (l->request && !l->request->asserts) return val_none;
    Op *op = ir_begin(&l->b, OP_ASSERT);
    ir_operand(&l->b, op, condition);
    if (text.kind == VAL_STR && text.text[0]) op_set(l->kernel, op, (Attr){.id = AT_MESSAGE, .text = text.text});
    ir_end(&l->b, op, NULL);
    return val_none;
}

Val lang_lower_print(Lower *l, const Call *c) {
    const Storage *storage = lang_storage(c->args[0]);
    const Box *box = lang_box(c->args[0]);
    Ref value = REF_NONE;
    if (!lang_in_kernel(l, c)) return val_error;
    if (c->args[0].kind == VAL_NONE && c->args[1].kind == VAL_STR) {
        ; /* the message alone */
    } else if ((storage && storage->kind != STORE_VARIABLE) || (box && !lang_is_element(box))) {
        Box all;
        if (!lang_as_tile(l, c, 0, &all)) return val_error;
        value = lang_load_box(l, &all, all.of->rank);
    } else {
        Val v = lang_scalar(l, c->args[0], c->range);
        if (val_failed(v)) return v;
        value = v.ref;
    }
    l->b.range = c->range;
    Op *op = ir_begin(&l->b, OP_PRINT);
    if (value) ir_operand(&l->b, op, value);
    if (c->args[1].kind == VAL_STR && c->args[1].text[0])
        op_set(l->kernel, op, (Attr){.id = AT_MESSAGE, .text = c->args[1].text});
    ir_end(&l->b, op, NULL);
    return val_none;
}

Val lang_lower_structure(Lower *l, const Call *c) {
    return py_error(l, DIAG_TL_UNSUPPORTED, c->range, "this call here",
                    "loops stand in `for`, T.Kernel in `with`, T.Tensor behind a parameter");
}

/* Rows that are refused: by their name, whatever the arguments are. */
Val lang_lower_planned(Lower *l, const Call *c) {
    return py_error(l, DIAG_TL_PLANNED, c->range, l->domain->title(l, c->builtin), c->builtin->doc);
}

Val lang_lower_other_chip(Lower *l, const Call *c) {
    return py_error(l, DIAG_TL_OTHER_CHIP, c->range, l->domain->title(l, c->builtin), c->builtin->doc);
}
