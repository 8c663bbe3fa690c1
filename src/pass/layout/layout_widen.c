/* SPDX-License-Identifier: Apache-2.0 */
/* layout_widen.c: loads whose numbers are stored as wider ones.
 *
 * Vectors of 16 bytes hold more numbers of a narrow type than of a wide one. A thread that loads 16 numbers of 8 bits
 * stores them as f32 in four vectors, between which a warp leaves gaps; so the wide tile would go through shared memory
 * (place_store), four times the bytes that were loaded. Where all of a store's value is loaded for it alone, and made
 * element by element, the loads take the store's layout instead: shorter vectors, but a warp reads whole sectors.
 *
 *     f32[128,128] = tload f8e4m3 * s, 4 warps: loads of 4 bytes, stores of 16, nothing in shared memory */
#include "pass/layout/layout_choose.h"
#include "pass/layout/layout_state.h"

enum { LEAST_LOAD = 4, MOST_STEPS = 32 }; /* bytes of a thread's vector; ops between the load and the store */

/* The one op that uses the value; NULL: several do, or it is in another region. */
static Op *only_user(const LayoutState *st, Ref value, int *at) {
    if (value >= st->value_count || st->uses[value] != 1) return NULL;
    for (Op *op = ir_value(st->k, value)->op->next; op; op = op->next)
        for (int i = 0; i < op->operand_count; i++)
            if (op->operands[i] == value) {
                *at = i;
                return op;
            }
    return NULL;
}

/* Is the value made, element by element, of loads and of what floats? */
static bool is_loaded(const LayoutState *st, Ref value, const Type *shape, int *steps) {
    if (!lay_is_tile(st->k, value)) return true;
    const Op *op = ir_value(st->k, value)->op;
    if (!op || --*steps < 0) return false;
    if (op->code == OP_TLOAD || op->code == OP_SPLAT || op->code == OP_IOTA) return true;
    if (!op_has(op->code, TRAIT_ELEMENTWISE) || !ty_same_shape(ir_type(st->k, value), shape)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_loaded(st, op->operands[i], shape, steps)) return false;
    return true;
}

/* A box whose places follow from its offsets. */
static bool is_plain(const Kernel *k, const Op *access) {
    return !choose_by_element(access) && !box_is_indexed(k, access) && !op_attr(access, AT_WRAP);
}

const Layout *lay_widened(LayoutState *st, const Op *load, const Layout *own) {
    const Kernel *k = st->k;
    const Type *type = ir_type(k, load->results[0]);
    Ref value = load->results[0];
    int at = 0, steps = MOST_STEPS;
    Op *user = only_user(st, value, &at);
    while (user && op_has(user->code, TRAIT_ELEMENTWISE) && --steps > 0 &&
           ty_same_shape(ir_type(k, user->results[0]), type)) {
        value = user->results[0];
        user = only_user(st, value, &at);
    }
    if (!user || user->code != OP_TSTORE || op_operand(user, 1) != value || !is_loaded(st, value, type, &steps) ||
        !is_plain(k, load) || !is_plain(k, user))
        return NULL;
    const Type *stored = ir_type(k, value);
    int bytes = elem_info[type->elem].bytes, wide = elem_info[stored->elem].bytes;
    if (type->elem == EL_I1 || stored->elem == EL_I1 || wide <= bytes) return NULL;
    int contiguous = choose_contiguous(&st->facts, user, stored);
    if (choose_contiguous(&st->facts, load, type) != contiguous) return NULL;
    const Machine *machine = st->cx->machine;
    if (!lay_leaves_gaps(machine, own, stored, contiguous)) return NULL;
    LinearLayout map = choose_blocked(machine, stored, st->warps, contiguous);
    bool long_enough = ll_run(&map, contiguous, bytes, machine->vector_bytes) * bytes >= LEAST_LOAD;
    return long_enough ? lay_in_registers(st, map, type) : NULL;
}
