/* SPDX-License-Identifier: Apache-2.0 */
/* triton_const.c: a pointer parameter annotated tl.const is only read.
 *
 *     def k(src: tl.const, dst): tl.store(src, 1)        refused, at the store
 *
 * Looked up in the finished IR: from the address of every write back to the parameters that it may
 * come from, through offsets, shapes, branches and loops. */
#include "front/triton/triton.h"

#include <string.h>

typedef struct Search {
    Lower *l;
    const FrontKernel *wanted;
    Map seen; /* references on the way */
} Search;

static const char *find_const(Search *s, Ref ref);

/* What a region hands on at that place; its last op is the yield. */
static const char *find_yielded(Search *s, const Region *region, int index) {
    const Op *yield = region->last;
    return yield && index < yield->operand_count ? find_const(s, yield->operands[index]) : NULL;
}

/* The name of a read-only parameter that the pointer may come from, or NULL. */
static const char *find_const(Search *s, Ref ref) {
    if (!ref_is_value(ref) || map_find_number(&s->seen, ref)) return NULL;
    map_put_number(&s->seen, s->l->arena, ref, NULL);
    const Kernel *k = s->l->kernel;
    const Value *v = ir_value(k, ref);
    const char *found = NULL;
    if (v->region == k->body) {
        for (int i = 0; i < s->wanted->param_count; i++)
            if (s->wanted->params[i].read_only && v->name && strcmp(s->wanted->params[i].name, v->name) == 0)
                return v->name;
        return NULL;
    }
    if (v->region && v->region->owner) { /* carried by a loop: its start, and each turn */
        const Op *loop = v->region->owner;
        int carried = loop->code == OP_FOR ? v->index - 1 : v->index, first = loop->code == OP_FOR ? 3 : 0;
        if (carried >= 0 && first + carried < loop->operand_count)
            found = find_const(s, loop->operands[first + carried]);
        const Region *body = loop->regions[loop->region_count - 1];
        return found || carried < 0 ? found : find_yielded(s, body, carried);
    }
    if (!v->op) return NULL;
    if (v->op->code == OP_IF || v->op->code == OP_FOR || v->op->code == OP_WHILE) {
        for (int r = 0; r < v->op->region_count && !found; r++) found = find_yielded(s, v->op->regions[r], v->index);
        return found;
    }
    if (v->op->code == OP_SELECT)
        return (found = find_const(s, v->op->operands[1])) ? found : find_const(s, v->op->operands[2]);
    return v->type->pointer && v->op->operand_count ? find_const(s, v->op->operands[0]) : NULL;
}

static void check_write(Op *op, void *user) {
    Search *s = user;
    if (op->code != OP_STORE && op->code != OP_ATOMIC && op->code != OP_ATOMIC_CAS) return;
    s->seen = (Map){0};
    const char *name = find_const(s, op->operands[0]);
    if (name) py_error(s->l, DIAG_TRI_CONST, op->range, name);
}

void tri_check_const(Lower *l, const FrontKernel *wanted) {
    Search search = {.l = l, .wanted = wanted};
    bool any = false;
    for (int i = 0; i < wanted->param_count; i++) any = any || wanted->params[i].read_only;
    if (any) ir_walk(l->kernel->body, check_write, &search);
}
