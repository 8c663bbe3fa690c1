/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_gang.c: programs side by side in a block (the plan is pass/ring/ring_gang.c's).
 *
 * Each warpgroup of compute runs a program of its own, `gang` being its number; load fills the
 * rings of the loop once for all, and those before it once for each:
 *
 *     const i32 neighbours = 3 at most, fewer when there are blocks for all programs
 *     for (task ..) {
 *         const i32 first = side * neighbours, longest = the most trips of the gang
 *         compute: if (gang < neighbours && first + gang < np)
 *             { .. for (n < hi) ..  for (n < longest) wait, release } else { the same, empty }
 *         load:    for (gang = 0; gang < 3; gang++) { q of program first + gang }  for (n <
 * longest) k, v
 *
 * So every worker makes the same hand-overs whether or not it has a program, and phases stay equal.
 * Programs beyond the grid or the gang are never run; their loads are those of the last program. */
#include "target/cuda/cuda_emit.h"

bool gang_is(const Emit *e) { return cuda_of(e)->gang.programs > 1; }

void gang_read(Emit *e, const Op *tasks) {
    Gang *gang = &cuda_of(e)->gang;
    *gang = (Gang){.programs = tasks ? (int)op_int(tasks, AT_GANG, 1) : 1};
    if (gang->programs == 1) return;
    gang->dim = (int)op_int(tasks, AT_SIDE, 0);
    gang->loop = gang_loop(role_find(tasks, ROLE_COMPUTE));
    gang->load_loop = gang_loop(role_find(tasks, ROLE_LOAD));
    gang->varies = gang_varies(e->k, gang->loop);
}

const Expr *gang_extent(Emit *e, const Op *tasks, int dim) {
    return gang_is(e) && dim == cuda_of(e)->gang.dim ? ex_name(e->arena, "sides") : cluster_extent(e, tasks, dim);
}

const char *gang_index(Emit *e, const Op *tasks, int dim) {
    return gang_is(e) && dim == cuda_of(e)->gang.dim ? "side" : cs_name(&e->p, tasks_body(tasks)->args[dim]);
}

void gang_begin(Emit *e, const Op *tasks) {
    const Expr *programs = NULL;
    for (int i = 0; i < tasks->operand_count; i++) {
        const Expr *extent = ex(e->arena, "(i32)%p", emit_scalar(e, tasks->operands[i]));
        programs = programs ? ex(e->arena, "%p * %p", programs, extent) : extent;
    }
    cs_note(&e->p, "how many programs run side by side in a block, fewer where there are blocks for all; how many such "
                   "groups");
    cs_line(&e->p, "const i32 neighbours = tw_min(%d, tw_cdiv(%p, tw_blocks_x()));", cuda_of(e)->gang.programs,
            programs);
    cs_line(&e->p, "const i32 sides = tw_cdiv((i32)%p, neighbours);",
            emit_scalar(e, tasks->operands[cuda_of(e)->gang.dim]));
}

static const Expr *last_program(Emit *e, const Op *tasks) {
    return ex(e->arena, "(i32)%p - 1", emit_scalar(e, tasks->operands[cuda_of(e)->gang.dim]));
}

/* The index along which programs are neighbours: a number, but none beyond the grid. */
static void bind_program(Emit *e, const Op *tasks, const Expr *number) {
    Ref arg = tasks_body(tasks)->args[cuda_of(e)->gang.dim];
    const char *name = cs_name(&e->p, arg);
    cs_line(&e->p, "const i32 %s = tw_min(%p, %p);", name, number, last_program(e, tasks));
    emit_set_name(e, arg, HOLD_SCALAR, name);
}

static void forget(Emit *e, const Op *op) {
    for (int i = 0; i < op->result_count; i++) emit_set(e, op->results[i], HOLD_NONE, NULL);
    for (int i = 0; i < op->region_count; i++) emit_forget(e, op->regions[i]);
}

static void forget_header(Emit *e, const Op *tasks) {
    for (const Op *op = tasks_body(tasks)->first; op; op = op->next)
        if (op->code != OP_ROLE) forget(e, op);
}

/* The trips of the longest program of the gang. */
static const Expr *write_longest(Emit *e, const Op *tasks, const Op *role) {
    Ref hi = cuda_of(e)->gang.loop->operands[1];
    if (!cuda_of(e)->gang.varies) return emit_scalar(e, hi);
    cs_note(&e->p, "trips of the longest program of the block: loads serve all of them");
    cs_line(&e->p, "%s longest = 0;", cs_value_type(&e->p, ir_type(e->k, hi)));
    cs_open(&e->p, "for (i32 each = 0; each < neighbours; each++)");
    bind_program(e, tasks, ex(e->arena, "first + each"));
    tasks_header(e, tasks, role, hi);
    const Expr *own = emit_scalar(e, hi);
    cs_line(&e->p, "longest = each ? tw_max(longest, %p) : %p;", own, own);
    cs_close(&e->p);
    forget_header(e, tasks);
    return ex_name(e->arena, "longest");
}

/* Items of the loop that the worker has no use for. */
static void pass_trips(Emit *e, const Expr *from, const Expr *to) {
    const Region *body = cuda_of(e)->gang.loop->regions[0];
    const char *type = cs_value_type(&e->p, ir_type(e->k, body->args[0]));
    cs_raw(&e->p, "#pragma unroll 1");
    cs_open(&e->p, "for (%s n = %p; n < %p; n++)", type, from, to);
    for (const Op *op = body->first; op; op = op->next)
        if (op->code == OP_WAIT || op->code == OP_RELEASE) ring_op(e, op);
    cs_close(&e->p);
}

const Expr *gang_trips(Emit *e, const Op *loop) {
    const Expr *hi = emit_scalar(e, loop->operands[1]);
    bool own = cuda_of(e)->in_gang && loop == cuda_of(e)->gang.loop && cuda_of(e)->gang.varies;
    if (!own || ir_type(e->k, loop->operands[1])->elem != EL_I32) return hi;
    const char *name = cs_fresh(&e->p, "ends");
    cs_line(&e->p, "const i32 %s = tw_uniform(%p);", name, hi);
    return ex_name(e->arena, name);
}

void gang_end_loop(Emit *e, const Op *loop) {
    if (!cuda_of(e)->in_gang || loop != cuda_of(e)->gang.loop || !cuda_of(e)->gang.varies) return;
    const Expr *lo = emit_scalar(e, loop->operands[0]), *hi = emit_scalar(e, loop->operands[1]);
    cs_line(&e->p, "// trips of longer neighbours");
    pass_trips(e, ex(e->arena, "tw_max(%p, %p)", lo, hi), ex_name(e->arena, "longest"));
}

static void write_compute(Emit *e, const Op *tasks, const Op *role) {
    const Expr *longest = write_longest(e, tasks, role);
    cs_open(&e->p, "if (tw_all(gang < neighbours && first + gang <= %p))", last_program(e, tasks));
    roles_same_counters(e, role);
    bind_program(e, tasks, ex(e->arena, "first + gang"));
    tasks_header(e, tasks, role, REF_NONE);
    emit_region(e, role->regions[0]);
    cs_reopen(&e->p, "else");
    for (const Op *op = role->regions[0]->first; op; op = op->next)
        if (op == cuda_of(e)->gang.loop)
            pass_trips(e, emit_scalar(e, op->operands[0]), longest);
        else if (op->code == OP_WAIT || op->code == OP_RELEASE)
            ring_op(e, op);
    cs_close(&e->p);
}

static void write_load(Emit *e, const Op *tasks, const Op *role) {
    const Op *loop = cuda_of(e)->gang.load_loop;
    cs_open(&e->p, "for (i32 gang = 0; gang < %d; gang++)", cuda_of(e)->gang.programs);
    bind_program(e, tasks, ex(e->arena, "first + gang"));
    tasks_header(e, tasks, role, REF_NONE);
    emit_ops(e, role->regions[0]->first, loop);
    cs_close(&e->p);
    forget_header(e, tasks);
    for (const Op *op = role->regions[0]->first; op != loop; op = op->next) forget(e, op);
    const Expr *longest = write_longest(e, tasks, role);
    bind_program(e, tasks, ex_name(e->arena, "first"));
    tasks_header(e, tasks, role, REF_NONE);
    for (const Op *op = role->regions[0]->first; op != loop; op = op->next)
        if (op_has(op->code, TRAIT_PURE)) emit_ops(e, op, op->next);
    if (cuda_of(e)->gang.varies) emit_set(e, loop->operands[1], HOLD_SCALAR, longest);
    emit_ops(e, loop, NULL);
}

void gang_task(Emit *e, const Op *tasks, const Op *role) {
    cs_note(&e->p, "the first program of the block; `gang` is which of them these threads run");
    cs_line(&e->p, "const i32 first = side * neighbours;");
    if (cuda_of(e)->in_gang)
        write_compute(e, tasks, role);
    else
        write_load(e, tasks, role);
}
