/* layout_left.c: left operands that products take from registers.
 *
 * An instruction may take A from the registers of its threads (`a_from` of matrix.def). What was computed there then
 * never goes to shared memory, with the barrier and the fence that its way back would take: the probabilities of
 * attention, which lie as the sum of the dot before lies, and what a loop makes of a tile that came through a ring,
 *
 *     %w = get %slot<field=0> ; %e = mul %w, %scales ; %a = cast %e : bf16 ; %d = dot %a, %x, %acc
 *
 * where `get` brings the tile to the threads in the layout of A at once; of a tile that is repeated on its way (packed
 * weights, a word for 8 elements) each thread gets the words that its elements are in. Bytes lie elsewhere in a sum
 * than in A, but in lanes of the same warp, which trade them (`convert<via=trade>`). */
#include "pass/layout/layout_state.h"

bool lay_stays_in_registers(LayoutState *st, const Op *dot, const Matrix *row, const Layout *from) {
    int along_m, along_n;
    if (!(row->a_from & FROM_REGISTERS) || !from || from->home != HOME_REGISTERS ||
        ir_type(st->k, dot->operands[0])->extent[1] % row->k)
        return false;
    choose_dot_grid(st->k, dot, st->warps, &along_m, &along_n);
    LinearLayout wanted = choose_left(st->k, dot, along_m, st->warps);
    return along_n == 1 && ll_equal(&from->map, &wanted);
}

const Layout *lay_traded(LayoutState *st, const Op *dot, const Matrix *row, const Layout *from) {
    int along_m, along_n;
    LaneTrade trade;
    if (!(row->a_from & FROM_REGISTERS) || !from) return NULL;
    choose_dot_grid(st->k, dot, st->warps, &along_m, &along_n);
    const Type *type = ir_type(st->k, dot->operands[0]);
    const Layout *left = lay_in_registers(st, choose_left(st->k, dot, along_m, st->warps), type);
    return lay_stays_in_registers(st, dot, row, left) && lay_may_trade(from, left, type, &trade) ? left : NULL;
}

/* Where the use takes the value on to: what is made of it element by element, perhaps turned or repeated; REF_NONE: it
 * does not. */
static Ref goes_to(const LayoutState *st, const Op *use, int i, Ref value) {
    const Op *owner = use->parent->owner;
    if (use->code == OP_PERMUTE || use->code == OP_REPEAT) return use->results[0];
    if (use->code == OP_YIELD && owner && owner->code == OP_IF) return owner->results[i];
    bool made = op_has(use->code, TRAIT_ELEMENTWISE) && lay_is_tile(st->k, use->results[0]) &&
                ty_same_shape(ir_type(st->k, use->results[0]), ir_type(st->k, value));
    return made ? use->results[0] : REF_NONE;
}

typedef struct Way {
    int steps; /* that may still be taken */
    const Op *dot;
    bool turned; /* it arrives there as its transpose */
} Way;

/* The dot that takes what is made of the value as its left operand; false: someone else takes it too. */
static bool find_dot(const LayoutState *st, const Region *region, Ref value, bool turned, Way *w) {
    if (--w->steps < 0) return false;
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++) {
            if (op->operands[i] != value) continue;
            if (op->code == OP_DOT && i == 0 && (!w->dot || (w->dot == op && w->turned == turned))) {
                w->dot = op;
                w->turned = turned;
                continue;
            }
            Ref made = goes_to(st, op, i, value);
            if (made == REF_NONE) return false;
            const Value *v = ir_value(st->k, made);
            if (!find_dot(st, v->op->parent, made, turned != op_is_transpose(op), w)) return false;
        }
        for (int i = 0; i < op->region_count; i++)
            if (!find_dot(st, op->regions[i], value, turned, w)) return false;
    }
    return true;
}

const Layout *lay_left(LayoutState *st, const Op *op) {
    enum { MOST_STEPS = 256 };
    Ref value = op->results[0];
    const Type *type = ir_type(st->k, value);
    Way w = {.steps = MOST_STEPS};
    int along_m, along_n;
    if (type->rank != 2 || !find_dot(st, op->parent, value, false, &w) || !w.dot) return NULL;
    const Matrix *row = matrix_of(st->k, w.dot);
    if (!row->warps) return NULL; /* it takes no fragments */
    choose_dot_grid(st->k, w.dot, st->warps, &along_m, &along_n);
    LinearLayout map = choose_left(st->k, w.dot, along_m, st->warps);
    const Layout *left = lay_in_registers(st, map, ir_type(st->k, w.dot->operands[0]));
    if (!lay_stays_in_registers(st, w.dot, row, left)) return NULL;
    if (w.turned) map = ll_permute(&map, (const int64_t[]){1, 0});
    for (int d = 0; d < 2; d++) map = ll_shorten(&map, d, map.log2[d] - ll_log2(type->extent[d]));
    return lay_in_registers(st, map, type);
}
