/* SPDX-License-Identifier: Apache-2.0 */
/* layout_index.c: tiles of indices, offsets, pointers and masks.
 *
 * Most are sums of rows and columns: every op between the tile and values of rank 1 works element by
 * element or repeats an axis. Such a tile floats (layout.c): it is computed where it is used from its
 * rows and columns, which are short, so that no tile of 8-byte pointers goes through shared memory.
 * What has parts of rank 2 that come from memory or from data, or is such a vector in another shape, stays where those
 * are; an access of memory goes there too, and moves its value instead (layout.c).
 *
 *     %r = tload %ROWS, [%m] : i32[64]             a vector: read again in each layout that asks for it
 *     %e = expand<1> %r ; %o = mul %e, %stride     float
 *     %p = ptr_add %base, add(%o, %columns)        floats, computed in the layout of the load
 *     %x = load %p
 *
 * Other vectors (scales, weights, biases) are read again too where they would meet other warps on their way: a load
 * that hits the cache costs less than two barriers. Of any length, if the layout that asks takes them in whole vectors:
 * then nothing speaks for another one. */
#include "pass/layout/layout_state.h"

enum { MOST_STEPS = 256 }; /* ops between what is asked for and what it is made of, for the compiler's own time */

static bool is_index(const Type *type) { return type->pointer || elem_is_int(type->elem) || type->elem == EL_I1; }

/* Numbers that are used once can be made where they are used as well: weights made of rows and columns, say. */
static bool is_used_once(const LayoutState *st, const Op *op) {
    Ref value = op->results[0];
    return st->uses && st->role && value < st->value_count && st->uses[value] == 1 && ir_type(st->k, value)->rank == 2;
}

bool index_is_sum(LayoutState *st, const Op *op) {
    const Type *type = ir_type(st->k, op->results[0]);
    if (type->rank < 2 || (!is_index(type) && !is_used_once(st, op))) return false;
    for (int i = 0; i < op->operand_count; i++) {
        Ref x = op->operands[i];
        bool whole = op->code == OP_RESHAPE || (lay_is_tile(st->k, x) && ir_type(st->k, x)->rank > 1);
        if (lay_is_tile(st->k, x) && whole && lay_natural(st, x)) return false;
    }
    return true;
}

/* Loads whose value is at hand again where they stand: nothing is read that was not read there before. */
static bool is_repeatable(const LayoutState *st, const Op *op) {
    return !op_flag(op, AT_VOLATILE) && lay_inside_role(st, op->parent);
}

static bool is_read_again(LayoutState *st, Ref ref, int *left) {
    if (!lay_is_tile(st->k, ref)) return true;
    if (--*left < 0) return false;
    const Op *op = ir_value(st->k, ref)->op;
    const Type *type = ir_type(st->k, ref);
    if (!op || ty_elements(type) > st->cx->machine->cost.again_elements) return false;
    switch (op->code) {
    case OP_IOTA:
    case OP_SPLAT: return true;
    case OP_LOAD:
    case OP_TLOAD:
        if (!is_repeatable(st, op)) return false;
        break;
    default:
        if (op->code != OP_EXPAND && op->code != OP_PERMUTE && op->code != OP_REPEAT &&
            !op_has(op->code, TRAIT_ELEMENTWISE))
            return false;
    }
    for (int i = 0; i < op->operand_count; i++)
        if (!is_read_again(st, op->operands[i], left)) return false;
    return true;
}

/* Would it meet other warps on its way? */
static bool moves_through_shared(LayoutState *st, Ref ref, const Layout *layout) {
    const Layout *from = ir_value(st->k, ref)->layout;
    if (!from || from->home != HOME_REGISTERS) return false;
    return ll_plan_convert(&from->map, &layout->map, ty_elem_bytes(ir_type(st->k, ref))).kind == CONVERT_SHARED;
}

bool index_is_vector(LayoutState *st, Ref ref) { return is_read_again(st, ref, &(int){MOST_STEPS}); }

/* A vector of memory that the layout reads in whole vectors of the machine, each element by one thread. */
static bool is_read_whole(LayoutState *st, Ref ref, const Layout *layout) {
    const Op *op = lay_is_tile(st->k, ref) ? ir_value(st->k, ref)->op : NULL;
    const Type *type = ir_type(st->k, ref);
    const Machine *machine = st->cx->machine;
    if (!op || op->code != OP_TLOAD || type->rank != 1 || !is_repeatable(st, op)) return false;
    int bytes = ty_elem_bytes(type);
    int64_t held = (int64_t)layout->registers * st->warps * machine->lanes;
    int64_t run = ll_run(&layout->map, 0, bytes, machine->vector_bytes) * bytes;
    return held == type->extent[0] && run >= machine->vector_bytes && moves_through_shared(st, ref, layout);
}

bool index_is_read_again(LayoutState *st, Ref ref, const Layout *layout) {
    if (layout->home == HOME_REGISTERS && is_read_whole(st, ref, layout)) return true;
    bool plain = st->role || is_index(ir_type(st->k, ref));
    if (!plain && (layout->registers > st->cx->machine->cost.again_registers || !moves_through_shared(st, ref, layout)))
        return false;
    return index_is_vector(st, ref);
}

/* Is it a box of memory, perhaps under arithmetic with numbers? */
static bool is_loaded(LayoutState *st, Ref ref, int *left) {
    const Op *op = lay_is_tile(st->k, ref) ? ir_value(st->k, ref)->op : NULL;
    if (!lay_is_tile(st->k, ref)) return true;
    if (!op || --*left < 0) return false;
    if (op->code == OP_SPLAT) return true;
    if (op->code == OP_TLOAD) return is_repeatable(st, op) && !op_operand(op, 1);
    if (!op_has(op->code, TRAIT_ELEMENTWISE)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_loaded(st, op->operands[i], left)) return false;
    return true;
}

bool index_is_too_large(LayoutState *st, Ref ref, const Layout *layout) {
    int64_t bytes = ty_elem_bytes(ir_type(st->k, ref));
    return bytes << ll_index_bits(&layout->map) > st->cx->machine->ring_bytes && is_loaded(st, ref, &(int){MOST_STEPS});
}

static bool is_got(LayoutState *st, Ref ref, const LinearLayout *map) {
    const Op *op = ref_is_value(ref) ? ir_value(st->k, ref)->op : NULL;
    if (!op) return false;
    if (op->code == OP_CAST) return is_got(st, op->operands[0], map);
    if (op->code == OP_EXPAND && ir_type(st->k, ref)->rank == 2) {
        LinearLayout row = ll_slice(map, (int)op_int(op, AT_AXIS, 0));
        return is_got(st, op->operands[0], &row);
    }
    if (op->code != OP_GET || op_flag(op, AT_COPY) || !lay_inside_role(st, op->parent)) return false;
    const Layout *from = ir_value(st->k, ref)->layout;
    const Type *type = ir_type(st->k, ref);
    const Machine *machine = st->cx->machine;
    int bytes = ty_elem_bytes(type);
    bool few = type->rank == 1 && ll_registers(map, type->extent) <= machine->cost.again_loads;
    return from && from->home == HOME_REGISTERS && type->rank && type->rank <= 2 &&
           (few || ll_run(map, type->rank - 1, bytes, machine->vector_bytes) * bytes >= machine->banks.bytes);
}

/* A view of a slot, perhaps under casts, or a row of it: the slot is still there, and each thread can take what it
 * needs. */
bool index_is_got(LayoutState *st, Ref ref, const Layout *layout) { return is_got(st, ref, &layout->map); }

void index_note_move(LayoutState *st, Ref ref, const Op *user) {
    const Type *type = ir_type(st->k, ref);
    if (type->rank < 2 || !is_index(type)) return;
    pass_find(st->cx, user->range, FIND_INDEX_MOVED,
              type->pointer         ? "pointers"
              : type->elem == EL_I1 ? "masks"
                                    : "indices");
}
