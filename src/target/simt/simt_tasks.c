/* SPDX-License-Identifier: Apache-2.0 */
/* simt_tasks.c: which task a block runs, and the role that is alone in it, with the loads that run ahead in its
 * loops. */
#include "target/simt/simt_ring.h"

static const Expr *plain_extent(Emit *e, const Op *tasks, int d) { return emit_scalar(e, tasks->operands[d]); }
static const Expr *plain_place(Emit *e, const Op *tasks, int d, const Expr *index) {
    (void)e, (void)tasks, (void)d;
    return index;
}
static const char *plain_name(Emit *e, const Op *tasks, int d) { return cs_name(&e->p, tasks_body(tasks)->args[d]); }
const TaskText tasks_plain = {plain_extent, plain_place, plain_name, "task", NULL};

/* Tasks that grow (or shrink) along one index (`varies`), dealt out in pairs of a long and a short one, so that
 * every block gets the same work: block b has pairs b, b + blocks, .. where there are enough. */
static const Expr *paired_extent(Emit *e, const Op *tasks, const TaskText *text) {
    return op_attr(tasks, AT_VARIES) ? text->extent(e, tasks, (int)op_int(tasks, AT_VARIES, 0)) : NULL;
}

static void write_pairs(Emit *e, const Expr *extent) {
    cs_line(&e->p, "// programs differ in length: with enough of them a block takes a long one and a short one in "
                   "turn");
    cs_line(&e->p, "const i32 half = ((i32)%p + 1) / 2;", extent);
    cs_line(&e->p, "const bool paired = tasks >= 2 * tw_blocks_x();");
    cs_line(&e->p, "const i32 turns = paired ? tasks / (i32)%p * half * 2 : tasks;", extent);
    cs_line(&e->p, "const i32 beyond = paired ? 2 * tw_blocks_x() - 1 : tw_blocks_x();");
}

static void open_pairs(Emit *e) {
    cs_open(&e->p, "for (i32 turn = paired ? 2 * tw_block_x() : tw_block_x(); turn < turns; "
                   "turn += paired && !(turn & 1) ? 1 : beyond)");
}

static void decode_pairs(Emit *e, const Op *tasks, const TaskText *text, const Expr *extent) {
    Region *body = tasks_body(tasks);
    int varies = (int)op_int(tasks, AT_VARIES, 0);
    const char *own = text->name(e, tasks, varies);
    cs_line(&e->p, "// which program of the grid this turn is");
    cs_line(&e->p, "const i32 width = paired ? half : (i32)%p, number = paired ? turn >> 1 : turn;", extent);
    cs_line(&e->p, "const i32 at = number %% width, mirror = (i32)%p - 1 - at;", extent);
    cs_line(&e->p, "if (paired && (turn & 1) && at == mirror) continue; // the middle one is alone");
    cs_line(&e->p, "const i32 %s = paired && (turn & 1) ? at : mirror;", own);
    emit_set_name(e, body->args[varies], HOLD_SCALAR, own);
    const Expr *rest = ex(e->arena, "(number / width)");
    for (int d = body->arg_count - 1; d >= 0; d--) {
        if (d == varies) continue;
        const char *name = text->name(e, tasks, d);
        const Expr *size = text->extent(e, tasks, d);
        cs_line(&e->p, "const i32 %s = %p %% (i32)%p;", name, rest, size);
        rest = ex(e->arena, "(%p / (i32)%p)", rest, size);
        emit_set_name(e, body->args[d], HOLD_SCALAR, name);
    }
}

static const Expr *block_along(Emit *e, int64_t dim) { return ex(e->arena, "tw_block_%c()", "xyz"[dim]); }

/* The task of a block that runs one; blocks along an axis that no task is told apart by would do the same again. */
static void open_one(Emit *e, const Op *tasks) {
    const Expr *first = NULL;
    const Attr *grid = op_attr(tasks, AT_GRID);
    unsigned axes = 0;
    for (int i = 0; grid && i < grid->list.count; i++) axes |= 1u << grid->list.at[i];
    for (int dim = 0; grid && dim < 3; dim++)
        if (!(axes >> dim & 1)) first = ex_and(e->arena, first, ex(e->arena, "%p == 0", block_along(e, dim)));
    if (first)
        cs_open(&e->p, "if (%p)", first);
    else if (grid)
        emit_block(e);
    else {
        cs_line(&e->p, "const i32 task = tw_block_x() + tw_blocks_x() * (tw_block_y() + "
                       "tw_blocks_y() * tw_block_z());");
        cs_open(&e->p, "if (task < tasks)");
    }
}

void tasks_count(Emit *e, const Op *tasks, const TaskText *text, const char *name) {
    const Expr *count = NULL, *varying = paired_extent(e, tasks, text);
    for (int i = 0; i < tasks->operand_count; i++) {
        const Expr *extent = ex(e->arena, "(i32)%p", text->extent(e, tasks, i));
        count = count ? ex(e->arena, "%p * %p", count, extent) : extent;
    }
    if (!op_attr(tasks, AT_GRID)) cs_line(&e->p, "const i32 %s = %p;", name, count);
    if (varying) write_pairs(e, varying);
}

void tasks_open(Emit *e, const Op *tasks) {
    if (op_attr(tasks, AT_VARIES))
        open_pairs(e);
    else if (e->persist)
        cs_open(&e->p, "for (i32 task = tw_block_x(); task < tasks; task += tw_blocks_x())");
    else
        open_one(e, tasks);
}

/* The indices of a task from its number, or from its block. */
void tasks_decode(Emit *e, const Op *tasks, const TaskText *text) {
    Region *body = tasks_body(tasks);
    int count = body->arg_count;
    const Attr *grid = op_attr(tasks, AT_GRID);
    if (grid) cs_note(&e->p, "which program of the grid this is");
    for (int i = 0; grid && i < count; i++) {
        const char *name = cs_name(&e->p, body->args[i]);
        cs_line(&e->p, "const i32 %s = %p;", name, block_along(e, grid->list.at[i]));
        emit_set_name(e, body->args[i], HOLD_SCALAR, name);
    }
    if (grid) return;
    Word order = op_word(tasks, AT_ORDER, ORDER_CODE);
    const char *number = text->number;
    const Expr *varying = paired_extent(e, tasks, text);
    if (varying) {
        decode_pairs(e, tasks, text, varying);
        return;
    }
    if (order == ORDER_LONGEST) {
        number = cs_fresh(&e->p, "last_first");
        cs_line(&e->p, "const i32 %s = tasks - 1 - task;", number);
    }
    if (order == ORDER_GROUPED) {
        const Expr *rows = text->rows ? text->rows : ex_int(e->arena, op_int(tasks, AT_GROUP, 1));
        const char *m = cs_name(&e->p, body->args[0]), *n = cs_name(&e->p, body->args[1]);
        const Expr *height = text->extent(e, tasks, 0), *width = text->extent(e, tasks, 1);
        cs_line(&e->p, "// which tile: groups of rows of tiles, each down its columns, so that the L2 holds what they "
                       "share");
        cs_line(&e->p, "const i32 group = %s / (%p * %p);", number, rows, width);
        cs_line(&e->p, "const i32 in_group = %s %% (%p * %p);", number, rows, width);
        cs_line(&e->p, "const i32 group_rows = tw_min((i32)%p - group * %p, %p);", height, rows, rows);
        const Expr *row = ex(e->arena, "group * %p + in_group %% group_rows", rows);
        cs_line(&e->p, "const i32 %s = %p;", m, text->place(e, tasks, 0, row));
        cs_line(&e->p, "const i32 %s = %p;", n, text->place(e, tasks, 1, ex(e->arena, "in_group / group_rows")));
        emit_set_name(e, body->args[0], HOLD_SCALAR, m);
        emit_set_name(e, body->args[1], HOLD_SCALAR, n);
        return;
    }
    const Expr *rest = ex_name(e->arena, number);
    cs_note(&e->p, "which program of the grid this is");
    for (int i = 0; i < count; i++) {
        int d = order == ORDER_COLUMN ? i : count - 1 - i;
        const char *name = text->name(e, tasks, d);
        const Expr *extent = text->extent(e, tasks, d), *index = rest;
        if (i < count - 1) index = ex(e->arena, "%p %% (i32)%p", rest, extent);
        cs_line(&e->p, "const i32 %s = %p;", name, text->place(e, tasks, d, index));
        rest = ex(e->arena, "(%p / (i32)%p)", rest, extent);
        emit_set_name(e, body->args[d], HOLD_SCALAR, name);
    }
}

/* --- roles --- */
void tasks_header(Emit *e, const Op *tasks, const Op *role, Ref value) {
    const bool *uses = header_uses(e->k, e->arena, tasks, role, value);
    for (const Op *op = tasks_body(tasks)->first; op; op = op->next) {
        if (!header_has(uses, op)) continue;
        if (elementwise_is(op))
            op = elementwise_run(e, op);
        else
            emit_op(e, op);
    }
}

ThreadGroup tasks_group(const Op *role) {
    return (ThreadGroup){(int)op_int(role, AT_FIRST, 0), (int)op_int(role, AT_ROLE_WARPS, 1)};
}

void tasks_role(Emit *e, const Op *tasks, const Op *role) {
    tasks_header(e, tasks, role, REF_NONE);
    const Op *feeder = role_feeder(e->k, tasks, role);
    e->ahead = feeder ? feeder->regions[0]->first : NULL;
    emit_region(e, role->regions[0]);
}
