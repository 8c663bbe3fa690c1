/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_extern.c: T.import_source and T.call_extern, functions in C or CUDA.
 *
 *     T.import_source("static __device__ float scale(float x) { return 3 * x; }")
 *     B[i] = T.call_extern("float32", "scale", A[i])       also T.call_extern("scale", A[i], dtype="float32")
 *
 * A function of numbers that gives a number and does nothing else becomes an `extern` op; the text of all imports an
 * attribute of the kernel. A function that takes addresses of tiles reads and writes these elements and nothing else:
 *
 *     T.call_extern("handle", "widen", T.access_ptr(b, "r"), T.access_ptr(x, "w"), 8)
 *
 * becomes a call for each word of 64 bits that it writes (ir/externs.h). What a function does to other memory has no
 * meaning in the IR: addresses of tensors are refused, and a call whose result nobody takes. */
#include "front/tilelang/tilelang.h"
#include "ir/externs.h"

#include <string.h>

void lang_import(Lower *l, const char *text) {
    LangState *s = lang_state(l);
    for (size_t i = 0; i < s->imports.count; i++) /* a macro that is run twice imports once */
        if (strcmp(s->imports.at[i], text) == 0) return;
    const char *before = kernel_text(l->kernel, AT_IMPORTS);
    *VEC_PUSH(&s->imports, l->arena) = text;
    const char *all = before ? arena_printf(l->module->arena, "%s\n%s", before, text)
                             : arena_printf(l->module->arena, "%s", text);
    kernel_set(l->kernel, (Attr){.id = AT_IMPORTS, .text = all});
}

Val lang_lower_import_source(Lower *l, const Call *c) {
    const char *text;
    if (!py_want_text(l, c, 0, &text) || !py_need_ir(l, c->range)) return val_error;
    if (text) lang_import(l, text);
    return val_none;
}

static Val refuse_effects(Lower *l, Range range, const char *what) {
    return py_error(l, DIAG_TL_UNSUPPORTED, range, what,
                    "a function takes numbers and gives one: what it does to memory is not known here, so write that "
                    "part in the kernel");
}

static bool check_number(Lower *l, Elem elem, Range range) {
    if (ext_takes(elem)) return true;
    lang_types(l, range,
               arena_printf(l->arena, "a function in C or CUDA takes and gives integers of 8 to 64 bits, float32 and "
                                      "float64, here %s; T.cast to one of these",
                            lang_elem_name(elem)));
    return false;
}

/* --- functions on arrays --- */

typedef struct Array { /* elements of a tile that a function reads or writes */
    Box first;
    int64_t count;
    char kind;
} Array;

enum { MAX_PARAMS = 8, WORD_BITS = 64 };

static bool is_address(Val v) {
    const Storage *storage = lang_storage(v);
    const Box *box = lang_box(v);
    return (storage && storage->kind != STORE_VARIABLE) || (box && !lang_is_element(box)) ||
           lang_thing(v, &lang_pointer_own);
}

/* From the element on to the end of the tile, unless it is said how many. */
static bool array_of(Lower *l, Val v, Range range, Array *out) {
    const Pointer *p = lang_thing(v, &lang_pointer_own);
    const Storage *whole = lang_storage(v);
    const Box *box = lang_box(v);
    *out = (Array){.kind = EXT_BOTH};
    if (p) {
        out->first = p->box, out->count = p->count;
        if (strcmp(p->mode, "rw") != 0) out->kind = p->mode[0];
        if (!p->element) whole = p->box.of;
    } else if (whole) {
        out->first.of = whole;
        for (int d = 0; d < whole->rank; d++) out->first.offset[d] = ir_int(&l->b, EL_I32, 0);
    } else {
        out->first = *box;
    }
    const Storage *of = out->first.of;
    const char *why = NULL;
    int64_t all = 1, first;
    for (int d = 0; d < of->rank; d++) all *= of->shape[d];
    if (of->kind == STORE_TENSOR)
        why = "an address in a tensor as an argument of T.call_extern";
    else if (box || (!whole && of->rank != 1))
        why = "a part of a tile of several dimensions as an argument of T.call_extern";
    else if (of->packed || of->elem == EL_I1)
        why = "an address of elements of less than a byte as an argument of T.call_extern";
    if (why) {
        py_error(l, DIAG_TL_UNSUPPORTED, range, why,
                 "give it what T.alloc_local made, or an element of that with T.access_ptr, and copy to and from "
                 "there");
        return false;
    }
    if (!whole && !ir_const_int(l->kernel, out->first.offset[0], &first)) first = -1;
    if (!out->count && (whole || first >= 0)) out->count = all - (whole ? 0 : first);
    if (out->count < 1 || out->count > all || out->count > EXT_LONGEST) {
        py_error(l, DIAG_TL_ARGUMENTS, range,
                 out->count ? "a function reads and writes at most 1024 elements of a tile, and none behind its end"
                            : "say how many elements the address is for: T.access_ptr(element, \"r\", 8)");
        return false;
    }
    return true;
}

/* The place of an element of an array. */
static Box element_at(Lower *l, const Array *array, int64_t i) {
    Box out = array->first;
    const Storage *of = out.of;
    out.slice = false;
    for (int d = of->rank - 1; d >= 0; d--) {
        int64_t index = of->rank == 1 ? i : i % of->shape[d];
        Ref base = ir_cast(&l->b, out.offset[d], EL_I32);
        out.offset[d] = index ? ir_binary(&l->b, OP_ADD, base, ir_int(&l->b, EL_I32, index)) : base;
        out.shape[d] = 1, out.at[d] = NULL;
        i /= of->shape[d];
    }
    return out;
}

static Elem bits_of(Elem elem) {
    static const Elem unsigneds[] = {[1] = EL_U8, [2] = EL_U16, [4] = EL_U32, [8] = EL_U64};
    return unsigneds[elem_info[elem].bits / 8];
}

static Ref bitcast(Lower *l, Ref x, Elem elem) {
    if (ir_type(l->kernel, x)->elem == elem) return x;
    Op *op = ir_begin(&l->b, OP_BITCAST);
    ir_operand(&l->b, op, x);
    return ir_end(&l->b, op, ty_scalar(l->module, elem));
}

/* A word of an array: its elements side by side, the first one in the lowest bits. */
static bool read_word(Lower *l, const Array *array, int64_t word, Range range, Ref *out) {
    Elem elem = array->first.of->elem;
    int bits = elem_info[elem].bits, each = WORD_BITS / bits;
    *out = REF_NONE;
    for (int64_t i = word * each; i < (word + 1) * each && i < array->count; i++) {
        Box at = element_at(l, array, i);
        Val v = lang_load(l, &at, range);
        if (val_failed(v)) return false;
        Ref x = ir_cast(&l->b, bitcast(l, lang_scalar(l, v, range).ref, bits_of(elem)), EL_U64);
        if (i % each) x = ir_binary(&l->b, OP_SHL, x, ir_int(&l->b, EL_U64, (i % each) * bits));
        *out = *out == REF_NONE ? x : ir_binary(&l->b, OP_OR, *out, x);
    }
    return true;
}

static bool write_word(Lower *l, const Array *array, int64_t word, Ref value, Range range) {
    Elem elem = array->first.of->elem;
    int bits = elem_info[elem].bits, each = WORD_BITS / bits;
    for (int64_t i = word * each; i < (word + 1) * each && i < array->count; i++) {
        Ref x = value;
        if (i % each) x = ir_binary(&l->b, OP_SHR, x, ir_int(&l->b, EL_U64, (i % each) * bits));
        Box at = element_at(l, array, i);
        if (!lang_store(l, &at, val_tensor(bitcast(l, ir_cast(&l->b, x, bits_of(elem)), elem)), range)) return false;
    }
    return true;
}

static Val call_on_arrays(Lower *l, const Call *c, const char *name, const Val *arg, int count) {
    Array arrays[MAX_PARAMS];
    Ref refs[MAX_EXTERN_ARGS];
    int array_count = 0, ref_count = 0, part = 0;
    Text form = text_new(l->arena);
    const char *many = "a function on tiles reads at most 24 bytes of them, together with numbers that are not known "
                       "here" FIX "call it for smaller tiles";
    if (count > MAX_PARAMS) return lang_types(l, c->range, "a function on tiles takes at most eight arguments");
    l->b.range = c->range;
    for (int i = 0; i < count; i++) {
        Val x = lang_plain(arg[i]);
        if (i) text_add(&form, " ");
        if (is_address(x)) {
            Array *a = &arrays[array_count++];
            if (!array_of(l, x, c->range, a)) return val_error;
            text_add(&form, "%c%lld:%s", a->kind, (long long)a->count, elem_info[a->first.of->elem].text);
            int words = (int)((a->count * elem_info[a->first.of->elem].bits + WORD_BITS - 1) / WORD_BITS);
            for (int w = 0; w < words && a->kind != EXT_WRITTEN; w++) {
                if (ref_count == MAX_EXTERN_ARGS) return lang_types(l, c->range, many);
                if (!read_word(l, a, w, c->range, &refs[ref_count++])) return val_error;
            }
        } else if (x.kind == VAL_INT && x.i >= INT32_MIN && x.i <= INT32_MAX) {
            text_add(&form, "=%lld", (long long)x.i);
        } else {
            Val number = lang_scalar(l, x, c->range);
            if (val_failed(number) || !check_number(l, val_type(l, number)->elem, c->range)) return val_error;
            if (ref_count == MAX_EXTERN_ARGS) return lang_types(l, c->range, many);
            text_add(&form, "x");
            refs[ref_count++] = number.ref;
        }
    }
    if (!ref_count) refs[ref_count++] = ir_int(&l->b, EL_U64, 0), text_add(&form, " .");
    for (int i = 0; i < array_count; i++) {
        const Array *a = &arrays[i];
        int words = (int)((a->count * elem_info[a->first.of->elem].bits + WORD_BITS - 1) / WORD_BITS);
        for (int w = 0; w < words && a->kind != EXT_READ; w++) {
            l->b.range = c->range;
            Op *op = ir_begin(&l->b, OP_EXTERN);
            for (int r = 0; r < ref_count; r++) ir_operand(&l->b, op, refs[r]);
            op_set(l->kernel, op, (Attr){.id = AT_CALLEE, .text = name});
            op_set(l->kernel, op, (Attr){.id = AT_TAKES, .text = arena_string(l->module->arena, form.at, form.length)});
            op_set(l->kernel, op, (Attr){.id = AT_PART, .number = part++});
            Ref word = ir_end(&l->b, op, ty_scalar(l->module, EL_U64));
            if (!write_word(l, a, w, word, c->range)) return val_error;
        }
    }
    if (part) return val_none;
    return refuse_effects(l, c->range, "T.call_extern of a function that writes to no tile it is given");
}

Val lang_lower_call_extern(Lower *l, const Call *c) {
    const Val *arg = c->args[0].items, dtype_given = c->args[1];
    int count = c->args[0].count, at = 0;
    Elem elem;
    if (!py_need_ir(l, c->range)) return val_error;
    /* (dtype, name, ..), or (name, .., dtype=..) */
    if (dtype_given.kind == VAL_NONE || (count > 1 && arg[0].kind == VAL_STR && arg[1].kind == VAL_STR)) at = 1;
    if (count < at + 1 || arg[at].kind != VAL_STR || !ext_is_name(arg[at].text))
        return py_error(l, DIAG_TL_ARGUMENTS, c->range,
                        "T.call_extern(dtype, name, x, ..): the name is one identifier, in quotes");
    for (int i = at + 1; i < count; i++)
        if (is_address(arg[i])) return call_on_arrays(l, c, arg[at].text, arg + at + 1, count - at - 1);
    if (!lang_elem_of(at ? arg[0] : dtype_given, &elem))
        return refuse_effects(l, c->range, "T.call_extern of a function that gives no number");
    if (count - at - 1 < 1 || count - at - 1 > MAX_EXTERN_ARGS)
        return py_error(l, DIAG_TL_UNSUPPORTED, c->range, "T.call_extern without arguments or with more than three",
                        "give the function one to three numbers");
    Ref refs[MAX_EXTERN_ARGS];
    if (!check_number(l, elem, c->range)) return val_error;
    for (int i = at + 1; i < count; i++) {
        Val x = lang_scalar(l, arg[i], c->range);
        if (val_failed(x) || !check_number(l, val_type(l, x)->elem, c->range)) return val_error;
        refs[i - at - 1] = x.ref;
    }
    l->b.range = c->range;
    Op *op = ir_begin(&l->b, OP_EXTERN);
    for (int i = 0; i < count - at - 1; i++) ir_operand(&l->b, op, refs[i]);
    op_set(l->kernel, op, (Attr){.id = AT_CALLEE, .text = arg[at].text});
    return val_tensor(ir_end(&l->b, op, ty_scalar(l->module, elem)));
}

typedef struct Wanted {
    const int *uses;
    const Op *idle;
} Wanted;

static void find_idle(Op *op, void *user) {
    Wanted *w = user;
    if (op->code == OP_EXTERN && !w->idle && !w->uses[op->results[0]]) w->idle = op;
}

bool lang_check_externs(Lower *l) {
    Wanted w = {.uses = ir_count_uses(l->kernel, l->arena)};
    ir_walk(l->kernel->body, find_idle, &w);
    if (w.idle) refuse_effects(l, w.idle->range, "T.call_extern whose result nobody takes");
    return !w.idle;
}
