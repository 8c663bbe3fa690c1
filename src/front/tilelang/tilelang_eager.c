/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_eager.c: kernels whose tensors are stated in the body, and sizes that arguments give.
 *
 *     @tilelang.jit
 *     def add(A, B, block: int = 64):
 *         M, N = T.const("M, N")                  sizes, which the arrays give
 *         A: T.Tensor((M, N), T.float32)          a parameter
 *         B: T.Tensor((M, N), T.float32)
 *         C = T.empty((M, N), T.float32)          an output: a parameter behind the others
 *         with T.Kernel(..): ..
 *         return C
 *
 * A size is a constant of the compiled kernel: the user's definition, or what the array has; another size compiles
 * anew. */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

Val lang_symbol(Lower *l, const char *name) {
    Symbol *known = map_get(&lang_state(l)->symbols, name);
    const FrontValue *given = front_define(l->unit, name);
    const FrontKernel *kernel = l->request ? l->request->kernel : NULL;
    for (int p = 0; kernel && p < kernel->param_count; p++)
        if (strcmp(kernel->params[p].name, name) == 0 && l->request->args[p].kind == FRONT_INT)
            given = &l->request->args[p];
    if (given && given->kind == FRONT_INT) return val_int(given->i);
    if (!known) {
        known = ARENA_NEW(l->arena, Symbol);
        known->name = name;
        map_set(&lang_state(l)->symbols, l->arena, name, known);
    }
    return known->known ? val_int(known->value) : (Val){.kind = VAL_OWN, .own = &lang_symbol_own, .thing = known};
}

/* T.const("M, N"), T.dynamic("m"): names with commas or spaces between them */
Val lang_lower_symbol(Lower *l, const Call *c) {
    Vals all = {0};
    if (c->args[0].kind != VAL_STR)
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "the name of a size is a string, as in T.const(\"M, N\")");
    for (const char *s = c->args[0].text; *s;) {
        size_t n = strcspn(s, ", ");
        if (n) *VEC_PUSH(&all, l->arena) = lang_symbol(l, arena_string(l->arena, s, n));
        s += n;
        s += strspn(s, ", ");
    }
    return all.count == 1 ? all.at[0] : val_tuple(l, all.at, (int)all.count);
}

void lang_annotated(Lower *l, const PyNode *node) {
    const PyNode *target = node->AnnAssign.target;
    if (node->AnnAssign.value) {
        py_assign(l, target, l->kernel ? l->domain->assigned(l, py_eval(l, node->AnnAssign.value), node->range)
                                       : py_eval(l, node->AnnAssign.value));
        return;
    }
    if (!l->kernel || l->frame->caller || target->kind != PY_Name || !lang_is_tensor_note(node->AnnAssign.annotation))
        return;
    int place = lang_place_of(l, target->Name.id);
    if (place >= 0) lang_tensor_param(l, target, target->Name.id, py_eval(l, node->AnnAssign.annotation), place);
}

bool lang_bind_output(Lower *l, const PyNode *target, Val note) {
    int place = l->frame->caller ? -1 : lang_place_of(l, target->Name.id);
    if (place < 0) return false;
    lang_tensor_param(l, target, target->Name.id, note, place);
    return true;
}

/* T.empty(shape, dtype): the statement gives it its name, and that its place among the parameters. */
Val lang_lower_empty(Lower *l, const Call *c) {
    Val shape = c->args[0], last = shape.count ? shape.items[shape.count - 1] : val_none;
    Note note = {.strides = val_none, .elem = EL_F32, .range = c->ranges[0]};
    bool named = c->args[1].kind != VAL_NONE;
    if (!named && last.kind == VAL_BUILTIN && last.builtin->lower == lang_lower_planned)
        return lang_lower_planned(l, &(Call){.builtin = last.builtin, .range = c->ranges[0]});
    if (named ? !lang_want_elem(l, c, 1, &note.elem) : !lang_elem_of(last, &note.elem) && last.kind == VAL_STR)
        return named ? val_error : py_error(l, DIAG_TL_DTYPE, c->ranges[0], val_text(l, last));
    Val dtype = named ? c->args[1] : last;
    note.tf32 = lang_is_tf32(dtype), note.packed = lang_packed(dtype);
    Elem unused;
    int count = shape.count - (!named && lang_elem_of(last, &unused));
    note.shape = count == 1 ? lang_plain(shape.items[0]) : val_tuple(l, shape.items, count);
    return lang_own(l, &lang_note_own, &note, sizeof note);
}
