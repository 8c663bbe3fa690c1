/* SPDX-License-Identifier: Apache-2.0 */
/* triton_memory.c: builtins that touch memory or speak at run time: load, store, atomics,
 * asserts, hints.
 *
 * A load's mask and `other` take the pointer's shape (and the pointer theirs); a store's pointer
 * must have the full shape already, as in Triton. `cache_modifier`, `eviction_policy` and
 * `volatile` become hints of the op. */
#include "front/triton/triton.h"

#include <string.h>

typedef struct WordName {
    const char *text;
    Word word;
} WordName;

static const WordName load_words[] = {
    {".ca", CACHE_CA}, {".cg", CACHE_CG}, {".cv", CACHE_CV}, {".cs", CACHE_CS}, {NULL, WORD_NONE}};
static const WordName store_words[] = {
    {".wb", CACHE_WB}, {".cg", CACHE_CG}, {".cs", CACHE_CS}, {".wt", CACHE_WT}, {NULL, WORD_NONE}};
static const WordName evict_words[] = {
    {"evict_normal", EVICT_NORMAL}, {"evict_first", EVICT_FIRST}, {"evict_last", EVICT_LAST}, {NULL, WORD_NONE}};
static const WordName sem_words[] = {{"relaxed", SEM_RELAXED},
                                     {"acquire", SEM_ACQUIRE},
                                     {"release", SEM_RELEASE},
                                     {"acq_rel", SEM_ACQ_REL},
                                     {NULL, WORD_NONE}};
static const WordName reach_words[] = {{"cta", REACH_CTA}, {"gpu", REACH_GPU}, {"sys", REACH_SYS}, {NULL, WORD_NONE}};

/* An option given as a string becomes an attribute of the op; absent or '' is the default. */
static bool set_option(Lower *l, const Call *c, int arg, Op *op, AttrId id, const WordName *words) {
    const char *text;
    if (!py_want_text(l, c, arg, &text)) return false;
    if (!text) return true;
    Text known = text_new(l->arena);
    for (const WordName *w = words; w->text; w++) {
        if (strcmp(w->text, text) == 0) {
            op_set(l->kernel, op, (Attr){.id = id, .word = w->word});
            return true;
        }
        text_add(&known, "%s'%s'", w == words ? "" : ", ", w->text);
    }
    py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[arg], py_title(l, c->builtin),
             arena_printf(l->arena, "one of %s", known.at), val_describe(l, c->args[arg]));
    return false;
}

bool tri_memory_hints(Lower *l, const Call *c, int cache, int evict, Op *op) {
    const WordName *words = op->code == OP_LOAD || op->code == OP_TLOAD ? load_words : store_words;
    return set_option(l, c, cache, op, AT_CACHE, words) && set_option(l, c, evict, op, AT_EVICT, evict_words);
}

static bool want_pointer(Lower *l, const Call *c, Val *v) {
    *v = c->args[0];
    if (v->kind == VAL_TENSOR && val_type(l, *v)->pointer) return true;
    py_error(l, DIAG_TRI_POINTER, c->ranges[0], c->builtin->name, val_describe(l, *v));
    return false;
}

/* The mask as boolean; none stays none. */
static bool want_mask(Lower *l, const Call *c, int arg, Val *mask) {
    *mask = c->args[arg];
    if (mask->kind == VAL_NONE) return true;
    if (!tri_want_tensor(l, c, arg, mask)) return false;
    const Type *type = val_type(l, *mask);
    if (!type->pointer && type->elem == EL_I1) return true;
    py_error(l, DIAG_TRI_MASK, c->ranges[arg], val_describe(l, *mask));
    return false;
}

static bool no_block_options(Lower *l, const Call *c, int check, int padding) {
    bool checked = c->args[check].kind == VAL_TUPLE ? c->args[check].count > 0 : c->args[check].kind != VAL_NONE;
    const char *text = NULL;
    if (padding >= 0 && !py_want_text(l, c, padding, &text)) return false;
    if (!checked && !text) return true;
    py_error(l, DIAG_TRI_BLOCK_OPTION, c->ranges[checked ? check : padding]);
    return false;
}

/* The places and what goes with them, at the shape of both; a scalar beside them stays one. */
static bool meet(Lower *l, Val *places, Val *with, Range range) {
    if (!tri_align(l, places, with, range)) return false;
    const Type *common = ty_broadcast(l->module, val_type(l, *places), val_type(l, *with));
    *places = tri_broadcast_to(l, *places, common->rank, common->extent, range);
    if (val_type(l, *with)->rank) *with = tri_broadcast_to(l, *with, common->rank, common->extent, range);
    return true;
}

Val tri_lower_load(Lower *l, const Call *c) {
    if (val_is_own(c->args[0], &tri_block)) return tri_block_load(l, c);
    Val p, mask, other = c->args[2];
    bool is_volatile;
    if (!want_pointer(l, c, &p) || !want_mask(l, c, 1, &mask) || !no_block_options(l, c, 3, 4) ||
        !py_want_bool(l, c, 7, &is_volatile))
        return val_error;
    if (mask.kind == VAL_NONE && other.kind != VAL_NONE) return py_error(l, DIAG_TRI_OTHER, c->ranges[2]);
    const Type *type = val_type(l, p);
    if (mask.kind != VAL_NONE) {
        if (val_type(l, mask)->rank && !type->rank)
            return py_error(l, DIAG_TRI_MASK_SHAPE, c->ranges[1], val_type_text(l, val_type(l, mask)),
                            val_type_text(l, type));
        if (!meet(l, &p, &mask, c->range)) return val_error;
        type = val_type(l, p);
    }
    if (other.kind != VAL_NONE) {
        if (type->elem == EL_I1) /* booleans live in bytes */
            other = tri_cast(l, other, ty_scalar(l->module, EL_I8), c->ranges[2]);
        other = tri_cast(l, other, ty_scalar(l->module, type->elem), c->ranges[2]);
        if (val_failed(other)) return other;
        if (val_type(l, other)->rank) {
            if (!type->rank)
                return py_error(l, DIAG_TRI_MASK_SHAPE, c->ranges[2], val_type_text(l, val_type(l, other)),
                                val_type_text(l, type));
            if (!meet(l, &p, &other, c->range)) return val_error;
            type = val_type(l, p);
            mask = tri_broadcast_to(l, mask, type->rank, type->extent, c->ranges[1]);
        }
    }
    Op *op = ir_begin(&l->b, OP_LOAD);
    ir_operand(&l->b, op, p.ref);
    ir_operand(&l->b, op, mask.kind == VAL_NONE ? REF_NONE : mask.ref);
    ir_operand(&l->b, op, other.kind == VAL_NONE ? REF_NONE : other.ref);
    if (!tri_memory_hints(l, c, 5, 6, op)) return val_error;
    if (is_volatile) op_set(l->kernel, op, (Attr){.id = AT_VOLATILE, .number = 1});
    return val_tensor(ir_end(&l->b, op, NULL));
}

/* A value on its way into memory: the pointer's element, the pointer's shape. */
static bool fit_value(Lower *l, const Type *places, Val *value, Range range) {
    if (places->elem == EL_I1) /* booleans live in bytes: Triton truncates to int8 first */
        *value = tri_cast(l, *value, ty_scalar(l->module, EL_I8), range);
    *value = tri_cast(l, *value, ty_scalar(l->module, places->elem), range);
    if (val_failed(*value)) return false;
    if (val_type(l, *value)->rank) *value = tri_broadcast_to(l, *value, places->rank, places->extent, range);
    return !val_failed(*value);
}

static bool fit_mask(Lower *l, const Type *places, Val *mask, Range range) {
    if (mask->kind == VAL_NONE) return true;
    if (val_type(l, *mask)->rank) {
        const Type *type = val_type(l, *mask);
        if (!places->rank) {
            py_error(l, DIAG_TRI_MASK_SHAPE, range, val_type_text(l, type), val_type_text(l, places));
            return false;
        }
        *mask = tri_broadcast_to(l, *mask, places->rank, places->extent, range);
    }
    return !val_failed(*mask);
}

Val tri_lower_store(Lower *l, const Call *c) {
    if (val_is_own(c->args[0], &tri_block)) return tri_block_store(l, c);
    Val p, mask, value;
    if (!want_pointer(l, c, &p) || !tri_want_tensor(l, c, 1, &value) || !want_mask(l, c, 2, &mask) ||
        !no_block_options(l, c, 3, -1))
        return val_error;
    const Type *places = val_type(l, p);
    if (!fit_value(l, places, &value, c->ranges[1]) || !fit_mask(l, places, &mask, c->ranges[2])) return val_error;
    Op *op = ir_begin(&l->b, OP_STORE);
    ir_operand(&l->b, op, p.ref);
    ir_operand(&l->b, op, value.ref);
    ir_operand(&l->b, op, mask.kind == VAL_NONE ? REF_NONE : mask.ref);
    if (!tri_memory_hints(l, c, 4, 5, op)) return val_error;
    ir_end(&l->b, op, NULL);
    return val_none;
}

bool tri_atomic_fits(Word combine, Elem elem) {
    bool bits = combine == COMBINE_AND || combine == COMBINE_OR || combine == COMBINE_XOR;
    int width = elem_info[elem].bits;
    if (!elem_is_float(elem)) return width >= 32;
    return !bits && (width >= 32 || (width == 16 && (combine == COMBINE_ADD || combine == COMBINE_XCHG)));
}

Val tri_lower_atomic(Lower *l, const Call *c) {
    Val p, mask, value;
    if (!want_pointer(l, c, &p) || !tri_want_tensor(l, c, 1, &value) || !want_mask(l, c, 2, &mask)) return val_error;
    const Type *places = val_type(l, p);
    Word combine = (Word)c->builtin->code;
    if (!tri_atomic_fits(combine, places->elem))
        return py_error(l, DIAG_TRI_ATOMIC, c->ranges[0], c->builtin->name, tri_dtype_name(places->elem));
    if (!fit_value(l, places, &value, c->ranges[1]) || !fit_mask(l, places, &mask, c->ranges[2])) return val_error;
    Op *op = ir_begin(&l->b, OP_ATOMIC);
    ir_operand(&l->b, op, p.ref);
    ir_operand(&l->b, op, value.ref);
    ir_operand(&l->b, op, mask.kind == VAL_NONE ? REF_NONE : mask.ref);
    op_set(l->kernel, op, (Attr){.id = AT_COMBINE, .word = combine});
    if (!set_option(l, c, 3, op, AT_SEM, sem_words) || !set_option(l, c, 4, op, AT_REACH, reach_words))
        return val_error;
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_lower_atomic_cas(Lower *l, const Call *c) {
    Val p, compare, value;
    if (!want_pointer(l, c, &p) || !tri_want_tensor(l, c, 1, &compare) || !tri_want_tensor(l, c, 2, &value))
        return val_error;
    const Type *places = val_type(l, p);
    if (elem_info[places->elem].bits < 16)
        return py_error(l, DIAG_TRI_ATOMIC, c->ranges[0], c->builtin->name, tri_dtype_name(places->elem));
    if (!fit_value(l, places, &compare, c->ranges[1]) || !fit_value(l, places, &value, c->ranges[2])) return val_error;
    Op *op = ir_begin(&l->b, OP_ATOMIC_CAS);
    ir_operand(&l->b, op, p.ref);
    ir_operand(&l->b, op, compare.ref);
    ir_operand(&l->b, op, value.ref);
    if (!set_option(l, c, 3, op, AT_SEM, sem_words) || !set_option(l, c, 4, op, AT_REACH, reach_words))
        return val_error;
    return val_tensor(ir_end(&l->b, op, NULL));
}

/* Waits until the word is as expected. A timeout of 0 looks once; others would need a clock. */
Val tri_lower_atomic_poll(Lower *l, const Call *c) {
    Val p, expect;
    int64_t timeout = -1;
    if (!want_pointer(l, c, &p) || !tri_want_tensor(l, c, 1, &expect)) return val_error;
    if (c->args[2].kind != VAL_NONE && !py_want_int(l, c, 2, &timeout)) return val_error;
    const Type *place = val_type(l, p);
    if (place->rank || elem_is_float(place->elem) || !tri_atomic_fits(COMBINE_OR, place->elem))
        return py_error(l, DIAG_TRI_ATOMIC, c->ranges[0], c->builtin->name, val_type_text(l, place));
    if (timeout > 0) return py_unsupported(l, c->ranges[2], "a `timeout_ns` other than None and 0");
    if (!fit_value(l, place, &expect, c->ranges[1])) return val_error;
    Builder outer = l->b;
    Op *loop = timeout < 0 ? ir_begin(&l->b, OP_WHILE) : NULL;
    if (loop) l->b = ir_builder_inside(&outer, ir_region(&outer, loop));
    Op *look = ir_begin(&l->b, OP_ATOMIC);
    ir_operand(&l->b, look, p.ref);
    ir_operand(&l->b, look, ir_int(&l->b, place->elem, 0));
    ir_operand(&l->b, look, REF_NONE);
    op_set(l->kernel, look, (Attr){.id = AT_COMBINE, .word = COMBINE_OR});
    if (!set_option(l, c, 3, look, AT_SEM, sem_words) || !set_option(l, c, 4, look, AT_REACH, reach_words))
        return val_error;
    Ref now = ir_end(&l->b, look, NULL);
    if (!loop) return val_tensor(ir_compare(&l->b, CMP_EQ, now, expect.ref));
    Op *test = ir_begin(&l->b, OP_TEST);
    ir_operand(&l->b, test, ir_compare(&l->b, CMP_NE, now, expect.ref));
    ir_end(&l->b, test, NULL);
    l->b = outer;
    Builder body = ir_builder_inside(&l->b, ir_region(&l->b, loop));
    ir_yield(&body, NULL, 0);
    ir_end_results(&l->b, loop, 0, NULL);
    return tri_to_tensor(l, val_bool(true), c->range);
}

/* --- speech and promises --- */

Val tri_lower_device_assert(Lower *l, const Call *c) {
    Val condition, mask;
    if (tri_state(l)->regions || (l->request && !l->request->asserts)) return val_none;
    if (!tri_want_tensor(l, c, 0, &condition) || !want_mask(l, c, 2, &mask)) return val_error;
    condition = tri_cast(l, condition, ty_scalar(l->module, EL_I1), c->ranges[0]);
    if (val_failed(condition)) return condition;
    if (mask.kind != VAL_NONE) { /* where the mask is off, all is well */
        Val off = tri_unary(l, PY_OP_INVERT, mask, c->range);
        condition = tri_binary(l, PY_OP_BITOR, condition, off, c->range);
        if (val_failed(condition)) return condition;
    }
    const char *text;
    if (!py_want_text(l, c, 1, &text)) return val_error;
    Op *op = ir_begin(&l->b, OP_ASSERT);
    ir_operand(&l->b, op, condition.ref);
    if (text) op_set(l->kernel, op, (Attr){.id = AT_MESSAGE, .text = text});
    ir_end(&l->b, op, NULL);
    return val_none;
}

Val tri_lower_device_print(Lower *l, const Call *c) {
    bool python = c->builtin->code == 1, hex = false;
    if (python && !l->kernel) return py_lower_print(l, c);
    if (!python && !py_want_bool(l, c, 2, &hex)) return val_error;
    Val args = c->args[python ? 0 : 1], prefix = python ? val_str("") : c->args[0];
    Text text = text_new(l->arena);
    text_add(&text, "%s", val_text(l, prefix));
    if (!py_need_ir(l, c->range)) return val_error;
    Op *op = ir_begin(&l->b, OP_PRINT);
    for (int i = 0; i < args.count; i++) {
        Val v = args.items[i];
        if (v.kind == VAL_TENSOR || val_is_number(v)) {
            v = tri_to_tensor(l, v, c->range);
            if (val_failed(v)) return v;
            ir_operand(&l->b, op, v.ref);
        } else {
            text_add(&text, "%s%s", text.length ? " " : "", val_text(l, v));
        }
    }
    if (text.length) op_set(l->kernel, op, (Attr){.id = AT_MESSAGE, .text = text.at});
    if (hex) op_set(l->kernel, op, (Attr){.id = AT_HEX, .number = 1});
    ir_end(&l->b, op, NULL);
    return val_none;
}

static Op *promise(Lower *l, Ref ref, AttrId id, int64_t number) {
    Op *op = ir_begin(&l->b, OP_ASSUME);
    ir_operand(&l->b, op, ref);
    if (id != AT_NONE) op_set(l->kernel, op, (Attr){.id = id, .number = number});
    ir_end(&l->b, op, NULL);
    return op;
}

Val tri_lower_assume(Lower *l, const Call *c) {
    Val condition = c->args[0];
    if (val_is_const(condition)) return val_none;
    condition = tri_truth(l, condition, c->ranges[0]);
    if (condition.kind == VAL_TENSOR && ref_is_value(condition.ref)) promise(l, condition.ref, AT_NONE, 0);
    return val_failed(condition) ? val_error : val_none;
}

/* Of addresses it is one in bytes, for each axis: no one knows here along which of them they lie side by side. */
static void promise_aligned(Lower *l, Ref ref, const Type *type, Val values) {
    const Val *each = values.kind == VAL_TUPLE ? values.items : &values;
    int count = values.kind == VAL_TUPLE ? values.count : 1;
    if (!ref_is_value(ref) || ir_value(l->kernel, ref)->region == l->kernel->body) return; /* the launch tests those */
    for (int axis = 0; axis < (type->rank ? type->rank : 1); axis++) {
        const Val *own = count == 1 ? each : axis < count ? &each[axis] : NULL;
        int64_t number = own && own->kind == VAL_INT ? (int64_t)own->i : 1;
        if (own && own->kind == VAL_TENSOR && !ir_const_int(l->kernel, own->ref, &number)) continue;
        if (number <= 1) continue;
        Op *op = promise(l, ref, AT_ALIGN, number);
        if (type->rank) op_set(l->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    }
}

/* A promise about a tile is one of its runs: how long they are, or what each begins with a multiple of. */
Val tri_lower_hint(Lower *l, const Call *c) {
    Val v, values = c->args[1];
    int64_t number;
    if (!tri_want_tensor(l, c, 0, &v)) return val_error;
    const Type *type = val_type(l, v);
    Val one = values.kind == VAL_TUPLE && values.count == 1 ? values.items[0] : values;
    AttrId id = (AttrId)c->builtin->code;
    bool known = one.kind == VAL_INT || (one.kind == VAL_TENSOR && ir_const_int(l->kernel, one.ref, &number));
    if (one.kind == VAL_INT) number = (int64_t)one.i;
    if (!known && one.kind != VAL_TUPLE)
        return py_need_constant(l, c->ranges[1], "a promised number", one);
    if (type->pointer) {
        if (id == AT_MULT) promise_aligned(l, v.ref, type, values);
        return c->args[0];
    }
    bool fits = known && number > 1 && ref_is_value(v.ref) && elem_is_int(type->elem);
    if (fits && (type->rank == 1 || (id == AT_MULT && type->rank == 0))) promise(l, v.ref, id, number);
    return c->args[0];
}

Val tri_lower_debug_barrier(Lower *l, const Call *c) {
    (void)l, (void)c;
    return val_none;
}
