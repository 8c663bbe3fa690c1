/* SPDX-License-Identifier: Apache-2.0 */
/* stamp.c: fixes the order of sums before the cut.
 *
 * Contract: access form in and out. Every `dot` gets the matrix instruction that the machine will use for it (`instr`):
 * the first row of matrix.def that fits. Every float sum or product along an axis gets the order in which the bits of
 * its index are combined (`order`). Layout and emitters honour both in every execution, so that slots, roles, workers
 * and persistence cannot change a bit; both depend only on shape, type, producer and machine (ir.md, bit identity).
 *
 * The order lists bits of the padded index, first combined first. Machines with threads: the bits of one vector of the
 * load that it comes from (behind a dot: of its fragment), the bits above the lanes from high to low, then the lanes
 * from high to low.
 *
 *     reduce<add, axis=0> of f32[1024]:   order=[0, 1, 9, 8, 7, 6, 5, 4, 3, 2]       4 a vector, 32 lanes
 *
 * Without threads: all bits from high to low, which is whole vectors first, lanes last, on any vector width. Combines
 * that are only associative keep neighbours together, from low to high. Scans go from element to element. */
#include "pass/layout/layout.h"
#include "pass/matrix.h"
#include "pass/pass.h"

static int bits_for(int64_t extent) {
    int bits = 0;
    while ((int64_t)1 << bits < extent) bits++;
    return bits;
}

/* --- dots --- */

/* The first row that fits, from the first of `from` on. */
static const Matrix *first_fit(const PassContext *cx, const Kernel *k, const Op *dot, Word from) {
    int warps = layout_group_of(cx, k, dot).warps;
    bool reached = from == WORD_NONE;
    const Matrix *row = NULL;
    for (int i = 0; (row = matrix_at(i)); i++) {
        reached |= row->instr == from;
        if (reached && !matrix_misfit(row, cx->machine, k, dot, warps)) return row;
    }
    return NULL;
}

/* The best that fits; where the source asks for one, none that is better, if the machine has that or a lesser one. */
static const Matrix *choose_instruction(const PassContext *cx, const Kernel *k, const Op *dot) {
    const Matrix *row = first_fit(cx, k, dot, op_word(dot, AT_INSTR, WORD_NONE));
    if (!row) row = first_fit(cx, k, dot, WORD_NONE);
    if (!row) ice(k->module->trap, "%s has no instruction for a dot", cx->machine->name);
    return row;
}

/* --- reductions --- */

/* Elements of the tile's rows, which are those of its last extent above 1. */
static int64_t row_of(const Type *type) {
    int axis = type->rank - 1;
    while (axis > 0 && type->extent[axis] == 1) axis--;
    return type->rank ? type->extent[axis] : 1;
}

/* Bytes of an element of the load whose layout the value will take over, else of its own. What is only shaped anew has
 * the vectors of what it is made of, if its rows hold one. */
static int loaded_bytes(const PassContext *cx, const Kernel *k, Ref r, int depth) {
    const Type *type = ir_type(k, r);
    const Op *op = ref_is_value(r) ? ir_value(k, r)->op : NULL;
    if (op && depth && op->code == OP_RESHAPE) {
        int bytes = loaded_bytes(cx, k, op->operands[0], depth - 1);
        bool whole = row_of(ir_type(k, op->operands[0])) % (cx->machine->vector_bytes / bytes) == 0;
        return whole ? bytes : elem_info[type->elem].bytes;
    }
    if (op && depth && op_has(op->code, TRAIT_ELEMENTWISE))
        for (int i = 0; i < op->operand_count; i++) {
            const Op *from = ref_is_value(op->operands[i]) ? ir_value(k, op->operands[i])->op : NULL;
            const Type *t = from ? ir_type(k, op->operands[i]) : NULL;
            if (t && t->rank == type->rank && ty_elements(t) == ty_elements(type) &&
                (from->code == OP_TLOAD || from->code == OP_RESHAPE || op_has(from->code, TRAIT_ELEMENTWISE)))
                return loaded_bytes(cx, k, op->operands[i], depth - 1);
        }
    return elem_info[type->elem].bytes;
}

static void stamp_reduce(const PassContext *cx, Kernel *k, Op *op) {
    const Type *type = ir_type(k, op->operands[0]);
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    if (op_attr(op, AT_BITS)) return; /* what is written is what is meant */
    if (kind != COMBINE_REGION && !(elem_is_float(type->elem) && (kind == COMBINE_ADD || kind == COMBINE_MUL))) return;
    int axis = (int)op_int(op, AT_AXIS, 0), bits = bits_for(type->extent[axis]), count = 0;
    if (!bits) return;
    int64_t *order = ARENA_ARRAY(k->module->arena, int64_t, bits);
    bool last = axis == type->rank - 1, threads = cx->machine->has_threads && last;
    FragmentName fragment = threads ? matrix_before(k, op->operands[0]) : FRAGMENT_NONE;
    int vector = 0, lanes = 0;
    if (fragment != FRAGMENT_NONE) {
        matrix_columns(fragment, &vector, &lanes);
    } else if (threads) {
        vector = bits_for(cx->machine->vector_bytes / loaded_bytes(cx, k, op->operands[0], 32));
        lanes = bits_for(cx->machine->lanes);
    }
    if (kind == COMBINE_REGION) vector = bits;
    for (int b = 0; b < vector && b < bits; b++) order[count++] = b;
    for (int b = bits - 1; b >= vector + lanes; b--) order[count++] = b;
    for (int b = vector + lanes - 1; b >= vector; b--)
        if (b < bits) order[count++] = b;
    op_set(k, op, (Attr){.id = AT_BITS, .list = {count, order}});
}

/* --- the pass --- */

typedef struct Stamp {
    PassContext *cx;
    Kernel *k;
} Stamp;

static void stamp_op(Op *op, void *user) {
    const Stamp *s = user;
    if (op->code == OP_DOT) {
        const Matrix *row = choose_instruction(s->cx, s->k, op);
        op_set(s->k, op, (Attr){.id = AT_INSTR, .word = row->instr});
        const Type *a = ir_type(s->k, op->operands[0]);
        bool rounds = row->a == EL_F32;
        pass_find(s->cx, op->range, FIND_DOT_INSTRUCTION, ty_text(a, s->cx->scratch),
                  ty_text(ir_type(s->k, op->operands[1]), s->cx->scratch), word_info[row->instr].text,
                  rounds ? arena_printf(s->cx->scratch, ", rounded to %s", row->spelling) : "");
    }
    if (op->code == OP_REDUCE) stamp_reduce(s->cx, s->k, op);
}

bool pass_stamp(PassContext *cx, Kernel *k) {
    dots_take_apart(cx, k);
    ir_walk(k->body, stamp_op, &(Stamp){cx, k});
    return true;
}
