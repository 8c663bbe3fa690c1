/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_sweep.c: along which axis of the grid blocks follow each other.
 *
 *     %row = program_id<0> ; %at = 2048 * program_id<1> ; tload %X, [%row, %at]     sweep=1
 *
 * A launch starts its blocks along the first axis of the grid, then along the others. Where that axis counts rows and
 * another one the parts of a row, the blocks that run at once touch a little of very many rows, and memory opens more
 * pages than it has to. Programs of a grid have no order, so such a launch has the two axes changed, and the kernel
 * reads its program ids the other way round (`swept`; the launch decides, since its later axes are short). Kernels
 * whose programs load and store boxes once are taken: what products and loops share in caches is their author's. */
#include "pass/schedule/schedule.h"

enum { AXES = 3 };

typedef struct Sweep {
    const Kernel *k;
    uint8_t *axes;          /* by Ref: the axes of the grid that it is made of, as bits */
    unsigned along, across; /* axes of the grid that move boxes along their rows, and between them */
    int boxes;
    bool other; /* does more than to load and store boxes */
} Sweep;

static unsigned axes_of(const Sweep *s, Ref x) { return ref_is_value(x) ? s->axes[x] : 0; }

/* In the order of the text: what an op is made of has been looked at. */
static void note_axes(Sweep *s, const Op *op) {
    unsigned found = op->code == OP_PROGRAM_ID ? 1u << op_int(op, AT_DIM, 0) : 0;
    for (int i = 0; i < op->operand_count; i++) found |= axes_of(s, op->operands[i]);
    for (int i = 0; i < op->result_count; i++) s->axes[op->results[i]] = (uint8_t)found;
}

/* Single numbers (of a row, of the launch) are no way through memory. */
static void look_at_box(Sweep *s, const Op *op) {
    Ref tile = op->code == OP_TLOAD ? op->results[0] : op_operand(op, 1);
    if (ty_elements(ir_type(s->k, tile)) == 1) return;
    const Op *tensor = ref_is_value(op->operands[0]) ? ir_value(s->k, op->operands[0])->op : NULL;
    RefList at = op_list(op, 0);
    if (!tensor || tensor->code != OP_TENSOR) {
        s->other = true;
        return;
    }
    RefList strides = op_list(tensor, 1);
    s->across |= axes_of(s, op_operand(tensor, 0));
    for (int d = 0; d < at.count; d++) {
        int64_t stride;
        bool row = d < strides.count && ir_const_int(s->k, strides.at[d], &stride) && stride == 1;
        *(row ? &s->along : &s->across) |= axes_of(s, at.at[d]);
    }
    s->boxes++;
}

static void look_at_op(Op *op, void *user) {
    Sweep *s = user;
    note_axes(s, op);
    bool acts = op_has(op->code, TRAIT_READS) || op_has(op->code, TRAIT_WRITES) || op_has(op->code, TRAIT_SYNC);
    if (op->code == OP_TLOAD || op->code == OP_TSTORE)
        look_at_box(s, op);
    else if (op->region_count || op->code == OP_DOT || (acts && op->code != OP_REQUIRE && op->code != OP_ASSUME))
        s->other = true;
}

void schedule_sweep(Schedule *s) {
    Sweep sweep = {.k = s->k};
    if (s->tasks || !s->cx->machine->cost.sweeps) return;
    sweep.axes = ARENA_ARRAY(s->arena, uint8_t, s->k->values.count);
    ir_walk(s->k->body, look_at_op, &sweep);
    if (sweep.other || !sweep.boxes || !(sweep.across & 1) || (sweep.along & sweep.across)) return;
    for (int axis = 1; axis < AXES; axis++)
        if (sweep.along == 1u << axis) {
            kernel_set(s->k, (Attr){.id = AT_SWEEP, .number = axis});
            pass_find(s->cx, s->k->range, FIND_SWEEP, axis);
        }
}

static void look_for_speech(Op *op, void *user) {
    const Op **found = user;
    if (op->code == OP_PRINT || op->code == OP_ASSERT) *found = op;
}

bool schedule_sweep_holds(Schedule *s) {
    const Op *speaks = NULL;
    if (!kernel_int(s->k, AT_SWEEP, 0)) return true;
    if (s->tasks) return schedule_fail(s, s->tasks, "`sweep` is of kernels whose blocks run one program each");
    ir_walk(s->k->body, look_for_speech, &speaks);
    return !speaks || schedule_fail(s, speaks, "it says which program it is by the block, which `sweep` changes");
}
