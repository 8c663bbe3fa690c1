/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_extern.c: T.import_source and T.call_extern, functions in C or CUDA.
 *
 *     T.import_source("static __device__ float scale(float x) { return 3 * x; }")
 *     B[i] = T.call_extern("float32", "scale", A[i])       also T.call_extern("scale", A[i], dtype="float32")
 *
 * A function of numbers that gives a number and does nothing else becomes an `extern` op; the text of all imports an
 * attribute of the kernel. What a function does to memory has no meaning in the IR: addresses are refused, and a call
 * whose result nobody takes. */
#include "front/tilelang/tilelang.h"
#include "ir/externs.h"

#include <string.h>

Val lang_lower_import_source(Lower *l, const Call *c) {
    LangState *s = lang_state(l);
    const char *text;
    if (!py_want_text(l, c, 0, &text) || !py_need_ir(l, c->range)) return val_error;
    for (size_t i = 0; text && i < s->imports.count; i++) /* a macro that is run twice imports once */
        if (strcmp(s->imports.at[i], text) == 0) return val_none;
    if (!text) return val_none;
    const char *before = kernel_text(l->kernel, AT_IMPORTS);
    *VEC_PUSH(&s->imports, l->arena) = text;
    const char *all = before ? arena_printf(l->module->arena, "%s\n%s", before, text)
                             : arena_printf(l->module->arena, "%s", text);
    kernel_set(l->kernel, (Attr){.id = AT_IMPORTS, .text = all});
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

Val lang_lower_call_extern(Lower *l, const Call *c) {
    const Val *arg = c->args[0].items, dtype_given = c->args[1];
    int count = c->args[0].count, at = dtype_given.kind == VAL_NONE;
    Elem elem;
    if (!py_need_ir(l, c->range)) return val_error;
    if (count < at + 1 || arg[at].kind != VAL_STR || !ext_is_name(arg[at].text))
        return py_error(l, DIAG_TL_ARGUMENTS, c->range,
                        "T.call_extern(dtype, name, x, ..): the name is one identifier, in quotes");
    for (int i = at + 1; i < count; i++) {
        const Storage *storage = lang_storage(arg[i]);
        const Box *box = lang_box(arg[i]);
        bool whole = (storage && storage->kind != STORE_VARIABLE) || (box && !lang_is_element(box));
        if (whole || lang_thing(arg[i], &lang_pointer_own))
            return refuse_effects(l, c->range, "an address as an argument of T.call_extern");
    }
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
