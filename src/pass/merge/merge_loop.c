/* SPDX-License-Identifier: Apache-2.0 */
/* merge_loop.c: a template's own loop over tasks as a `while`.
 *
 *     tasks %it while { setup; test go, %v .. } do (%v ..) { .. }
 *
 *     setup(0) ; while (%it = 0, %go, %v .., carried ..) { test %go, .. } { .. ; setup(it + 1) ; yield .. }
 *
 * The setup is computed before the loop and at the end of each trip, for the next one. */
#include "analysis/facts.h"
#include "pass/merge/merge.h"

enum { TASK, GO, VALUES };

typedef struct Header {
    Ref go, values[MERGE_MOST_VALUES];
} Header;

/* The template's setup for a task, at the builder's place. */
static Header copy_setup(Merge *m, Builder *b, Ref task) {
    const Region *setup = m->tasks->regions[0];
    RefMap map = {.arena = m->arena};
    refmap_set(&map, setup->args[0], task);
    for (const Op *op = setup->first; op != setup->last; op = op->next) ir_clone(b, op, &map);
    Header header = {.go = refmap_get(&map, setup->last->operands[0])};
    for (int i = 0; i + 1 < setup->last->operand_count; i++)
        header.values[i] = refmap_get(&map, setup->last->operands[1 + i]);
    return header;
}

TaskLoop merge_open_tasks(Merge *m, Builder *b, const Ref *carried, int count) {
    Kernel *k = m->k;
    const Region *old = m->tasks->regions[1];
    Header first = copy_setup(m, b, ir_int(b, EL_I32, 0));
    Op *op = ir_begin(b, OP_WHILE);
    Region *test = ir_region(b, op), *body = ir_region(b, op);
    TaskLoop loop = {.op = op, .carried_count = count, .inside = ir_builder_inside(b, body)};
    const Type *types[VALUES + 2 * MERGE_MOST_VALUES] = {ty_scalar(k->module, EL_I32), ty_scalar(k->module, EL_I1)};
    Ref initial[VALUES + 2 * MERGE_MOST_VALUES] = {ir_int(b, EL_I32, 0), first.go};
    int all = VALUES;
    for (int i = 0; i < old->arg_count; i++, all++)
        initial[all] = first.values[i], types[all] = ir_type(k, old->args[i]);
    for (int i = 0; i < count; i++, all++) initial[all] = carried[i], types[all] = ir_type(k, carried[i]);
    for (int i = 0; i < all; i++) {
        ir_operand(b, op, initial[i]);
        ir_argument(k, test, types[i], NULL);
        ir_argument(k, body, types[i], NULL);
    }
    Builder asks = ir_builder_inside(b, test);
    Op *end = ir_begin(&asks, OP_TEST);
    ir_operand(&asks, end, test->args[GO]);
    for (int i = 0; i < all; i++) ir_operand(&asks, end, test->args[i]);
    ir_end(&asks, end, NULL);
    ir_end_results(b, op, all, types);
    loop.values = body->args + VALUES;
    loop.carried = body->args + VALUES + old->arg_count;
    return loop;
}

void merge_close_tasks(Merge *m, TaskLoop *loop, const Ref *carried) {
    const Region *old = m->tasks->regions[1];
    Builder *b = &loop->inside;
    Ref next = ir_binary(b, OP_ADD, loop->op->regions[1]->args[TASK], ir_int(b, EL_I32, 1));
    Header again = copy_setup(m, b, next);
    Ref yields[VALUES + 2 * MERGE_MOST_VALUES] = {next, again.go};
    int all = VALUES;
    for (int i = 0; i < old->arg_count; i++) yields[all++] = again.values[i];
    for (int i = 0; i < loop->carried_count; i++) yields[all++] = carried[i];
    ir_yield(b, yields, all);
}

static void note_stride(Op *op, void *user) {
    if (op->code == OP_NUM_PROGRAMS) *(bool *)user = true;
}

void merge_task_grid(Merge *m) {
    enum { PROGRAMS = 128 };
    Kernel *k = m->k;
    bool strides = false;
    ir_walk(m->tasks->regions[0], note_stride, &strides);
    if (strides) k->grid->last->operands[0] = ir_literal_int(k, ty_scalar(k->module, EL_I32), PROGRAMS);
}

bool merge_tasks_end(Merge *m) {
    Ref go = m->tasks->regions[0]->last->operands[0];
    const Op *compare = ref_is_value(go) ? ir_value(m->k, go)->op : NULL;
    int64_t bound = -1, flag = 0;
    bool asks = compare && compare->code == OP_CMP && op_word(compare, AT_PRED, WORD_NONE) == CMP_GE &&
                ir_const_int(m->k, compare->operands[1], &bound) && bound == 0;
    bool never = (asks && fact_natural(m->k, compare->operands[0], NULL, NULL)) ||
                 (ir_const_int(m->k, go, &flag) && flag);
    if (never)
        merge_fail(m, m->tasks, "num_iters never becomes negative, so its tasks never end"
                   FIX "set it to -1 where no task is left");
    else if (m->tasks->regions[1]->arg_count > MERGE_MOST_VALUES)
        merge_fail(m, m->tasks, "it passes more than 64 numbers" FIX "keep them in a shared tile");
    return !m->failed;
}
