/* SPDX-License-Identifier: Apache-2.0 */
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
 * than in A, but in lanes of the same warp, which trade them (`convert<via=trade>`).
 *
 * Lanes that fetch their operands (MFMA) do it once for a tile that stays through a loop.
 *
 * And a tile that stays through a loop, if the products there are narrow: an instruction of few columns reads its rows
 * of A from shared memory for longer than it multiplies by them (K and V in attention's gradients). */
#include "analysis/sums.h"
#include "ir/ringform.h"
#include "pass/layout/layout_state.h"

bool lay_stays_in_registers(LayoutState *st, const Op *dot, const Matrix *row, const Layout *from) {
    int along_m, along_n;
    if (!(row->a_from & FROM_REGISTERS) || !from || from->home != HOME_REGISTERS ||
        ir_type(st->k, dot->operands[0])->extent[1] % row->k)
        return false;
    choose_dot_grid(st->k, dot, st->warps, &along_m, &along_n);
    LinearLayout wanted = choose_left(st->k, dot, along_m, st->warps), held;
    if (along_n > 1) return false;
    return ll_equal(&from->map, &wanted) ||
           (choose_left_held(st->k, dot, along_m, st->warps, &held) && ll_equal(&from->map, &held));
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

/* Do both take their left operands from the same places? */
static bool same_left(const LayoutState *st, const Op *a, const Op *b) {
    int along_m, along_n;
    if (a == b) return true;
    if (matrix_of(st->k, a) != matrix_of(st->k, b) || !matrix_of(st->k, a)->warps ||
        !ty_same_shape(ir_type(st->k, a->operands[0]), ir_type(st->k, b->operands[0])))
        return false;
    choose_dot_grid(st->k, a, st->warps, &along_m, &along_n);
    LinearLayout here = choose_left(st->k, a, along_m, st->warps);
    choose_dot_grid(st->k, b, st->warps, &along_m, &along_n);
    LinearLayout there = choose_left(st->k, b, along_m, st->warps);
    return ll_equal(&here, &there);
}

/* The dots, or the first of them, that take what is made of the value as their left operand from the same places;
 * false: someone else takes it too. */
static bool find_dot(const LayoutState *st, const Region *region, Ref value, bool turned, Way *w) {
    if (--w->steps < 0) return false;
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++) {
            if (op->operands[i] != value) continue;
            if (op->code == OP_DOT && i == 0 && (!w->dot || (same_left(st, w->dot, op) && w->turned == turned))) {
                if (!w->dot) w->dot = op;
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

/* --- tiles that stay through a loop --- */
/* The loop around the op that is nearest to the region in which the value is made; NULL: there is none between. */
static const Op *loop_below(const Op *op, const Region *region) {
    const Op *loop = NULL;
    for (const Region *at = op->parent; at && at != region; at = at->owner ? at->owner->parent : NULL)
        if (at->owner && at->owner->code == OP_FOR) loop = at->owner;
    return loop;
}

static int64_t words_of(const LayoutState *st, Ref value) {
    const Type *type = ir_type(st->k, value);
    if (!lay_is_tile(st->k, value)) return 0;
    return ty_elements(type) * elem_info[type->elem].bits / 32 / (st->cx->machine->lanes * st->warps);
}

static bool is_narrow(const LayoutState *st, const Op *dot) {
    const Matrix *row = matrix_of(st->k, dot);
    int along_m, along_n;
    if (!row->warps) return false; /* it takes no fragments */
    choose_dot_grid(st->k, dot, st->warps, &along_m, &along_n);
    return (row->a_from & FROM_REGISTERS) && row->reads_shared && along_n == 1 &&
           ir_type(st->k, dot->results[0])->extent[1] < row->n_share;
}

/* Of a thread: what the loop carries, the sums of its products, and left operands that stay through it, if all of those
 * that can are held. */
static int64_t words_in(const LayoutState *st, const Op *loop, SumKind kind) {
    const Region *body = loop->regions[0];
    const Op *seen[8];
    int count = 0;
    int64_t words = 0;
    for (int i = 0; i < body->arg_count; i++) words += words_of(st, body->args[i]);
    for (const Op *op = body->first; op; op = op->next) {
        if (op->code != OP_DOT) continue;
        if (!sum_is_carried(st->k, op, kind)) words += words_of(st, op->results[0]);
        const Op *left = ir_value(st->k, op->operands[0])->op;
        bool again = !left || left->code != OP_GET || left->parent == body;
        for (int i = 0; i < count; i++) again |= seen[i] == left;
        if (again) continue;
        words += words_of(st, op->operands[0]);
        if (count < 8) seen[count++] = left;
    }
    return words;
}

/* Is each use the left operand of a narrow product in a loop that has the registers for it? All take it from the same
 * places. */
static bool find_narrow(const LayoutState *st, const Op *get, const Region *region, const Op **dot) {
    Ref value = get->results[0];
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++) {
            if (op->operands[i] != value) continue;
            const Op *loop = loop_below(op, get->parent);
            if (op->code != OP_DOT || i != 0 || !loop || op->parent != loop->regions[0] || !is_narrow(st, op) ||
                words_in(st, loop, SUM_AS_IT_IS) > st->cx->machine->cost.held_registers)
                return false;
            if (*dot && !same_left(st, *dot, op)) return false;
            *dot = op;
        }
        for (int i = 0; i < op->region_count; i++)
            if (!find_narrow(st, get, op->regions[i], dot)) return false;
    }
    return true;
}

const Layout *lay_held_left(LayoutState *st, const Op *get) {
    const Op *dot = NULL, *tasks = st->role ? st->role->parent->owner : NULL;
    int along_m, along_n;
    const Op *load = tasks ? role_find(tasks, ROLE_LOAD) : NULL;
    /* Programs or blocks that share a multiprocessor have no registers left for it; threads that load are a reason for
     * several. */
    if (!load || op_int(tasks, AT_GANG, 1) > 1 || kernel_int(st->k, AT_BLOCKS, 1) > 1 ||
        !find_narrow(st, get, get->parent, &dot) || !dot || !layout_fills_by_tma(st->cx, st->k, load->regions[0]))
        return NULL;
    choose_dot_grid(st->k, dot, st->warps, &along_m, &along_n);
    const Layout *left =
        lay_in_registers(st, choose_left(st->k, dot, along_m, st->warps), ir_type(st->k, get->results[0]));
    return lay_stays_in_registers(st, dot, matrix_of(st->k, dot), left) ? left : NULL;
}

const Layout *lay_kept_left(LayoutState *st, const Op *dot) {
    const Matrix *row = matrix_of(st->k, dot);
    const Op *loop = dot->parent->owner;
    Ref left = dot->operands[0];
    int along_m, along_n;
    if (!row->warps || row->reads_shared || !(row->a_from & FROM_REGISTERS) || !loop || loop->code != OP_FOR)
        return NULL;
    const Value *v = ir_value(st->k, left);
    for (const Region *at = v->op ? v->op->parent : v->region; at; at = at->owner ? at->owner->parent : NULL)
        if (at == dot->parent) return NULL; /* it is made in the loop */
    choose_dot_grid(st->k, dot, st->warps, &along_m, &along_n);
    int64_t words = words_in(st, loop, SUM_OR_SCALED) + words_of(st, left);
    if (along_n > 1 || words > st->cx->machine->cost.held_registers) return NULL;
    const Layout *kept = lay_in_registers(st, choose_left(st->k, dot, along_m, st->warps), ir_type(st->k, left));
    return lay_stays_in_registers(st, dot, row, kept) ? kept : NULL;
}
