/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_atomic.c: by which instructions elements are combined into global memory.
 *
 *     atomic<add, by=ordered> %counter, 1      a scalar, which one thread does: its instruction carries the order
 *     atomic_cas<by=ordered> %lock, 0, 1       likewise
 *     atomic<max, by=loop> %p, %x              no instruction does it for this type: a loop around compare-and-swap
 *
 * Else an instruction for each element, and the threads fence, once for all of them. What there is an instruction for
 * stands in the machine's row (machine.def). */
#include "pass/schedule/schedule.h"

static unsigned kind_of(Elem elem) {
    if (elem == EL_F32) return ATOMIC_OF_F32;
    if (elem == EL_F64) return ATOMIC_OF_F64;
    if (elem == EL_F16 || elem == EL_BF16) return ATOMIC_OF_HALF;
    return elem_is_int(elem) && elem_info[elem].bits >= 32 ? ATOMIC_OF_INT : 0;
}

static bool has_instruction(const Schedule *s, const Op *op, Elem elem) {
    const MachineAtomics *machine = &s->cx->machine->atomics;
    unsigned of = kind_of(elem);
    if (op->code == OP_ATOMIC_CAS) return true; /* of any bits */
    switch (op_word(op, AT_COMBINE, COMBINE_ADD)) {
    case COMBINE_ADD: return machine->add & of;
    case COMBINE_MIN:
    case COMBINE_MAX: return machine->rank & of;
    case COMBINE_AND:
    case COMBINE_OR:
    case COMBINE_XOR: return machine->bits & of;
    case COMBINE_XCHG: return machine->swap & of;
    default: return false;
    }
}

/* Is there one that carries its order, for one thread? */
static bool can_be_ordered(const Schedule *s, const Op *op, Elem elem) {
    bool swaps_float = elem_is_float(elem) && op_word(op, AT_COMBINE, COMBINE_ADD) == COMBINE_XCHG;
    bool one = (op->code == OP_ATOMIC || op->code == OP_ATOMIC_CAS) && !ir_type(s->k, op->operands[0])->rank;
    if (op->code == OP_ATOMIC_CAS && elem_info[elem].bits < 32) return false;
    return one && !swaps_float;
}

static bool combines(const Op *op) {
    return op->code == OP_ATOMIC || op->code == OP_TATOMIC || op->code == OP_ATOMIC_CAS || op->code == OP_BATOMIC;
}

static void plan_op(Op *op, void *user) {
    Schedule *s = user;
    if (!combines(op)) return;
    Elem elem = ir_type(s->k, op->operands[0])->elem;
    if (!has_instruction(s, op, elem))
        op_set(s->k, op, (Attr){.id = AT_ATOMIC, .word = ATOMIC_LOOP});
    else if (can_be_ordered(s, op, elem))
        op_set(s->k, op, (Attr){.id = AT_ATOMIC, .word = ATOMIC_ORDERED});
}

void schedule_atomic(Schedule *s) { ir_walk(s->k->body, plan_op, s); }

bool schedule_atomic_holds(Schedule *s, const Op *op) {
    if (!combines(op)) return true;
    Elem elem = ir_type(s->k, op->operands[0])->elem;
    Word by = op_word(op, AT_ATOMIC, ATOMIC_PLAIN);
    bool good =
        by == ATOMIC_LOOP || (has_instruction(s, op, elem) && (by == ATOMIC_PLAIN || can_be_ordered(s, op, elem)));
    if (by == ATOMIC_LOOP && op_int(op, AT_VECTOR, 1) > 1) good = false;
    return good ||
           schedule_fail(s, op,
                         "`by` is an instruction that the machine has for the type; `ordered` is one of a scalar, "
                         "and a loop takes elements one by one");
}
