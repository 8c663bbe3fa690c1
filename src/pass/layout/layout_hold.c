/* SPDX-License-Identifier: Apache-2.0 */
/* layout_hold.c: how flat kernels hold their tiles in registers: element by element, in pairs, or not at all.
 *
 * Pairs: a vector of bf16 comes from memory as words, two elements each. If its elements are only read one by one (by
 * arithmetic, by a reduction) or stored as they are, the words stay (`held=pairs`); and what is only stored stays f32
 * until one instruction rounds two numbers into a word (`held=wide`). Sums of two tiles of pairs are pairs too: an f32
 * has more than twice the digits of a 16-bit float, so rounding to it in between changes nothing. (Products of bf16 may
 * be smaller than what f32 has all its digits for: they are pairs too, but made in f32, and rounded two at once.)
 *
 * Lean: softmax of a row of 65536 numbers by 512 threads: a thread holds 128 of them, in f32 all the registers there
 * are. But they were loaded as bf16, and what is computed from them element by element can be computed again. Lean
 * (`<lean>` on the kernel) are flat kernels of loads, stores, elementwise ops and reductions to scalars whose values
 * alive across a reduction would not fit: only loads are held, the rest is computed where it is used.
 *
 * The numbers are the same, bit by bit. */
#include "pass/layout/layout_state.h"

static const Layout *layout_at(const Kernel *k, Ref ref) {
    return lay_is_tile(k, ref) ? ir_value(k, ref)->layout : NULL;
}

static bool is_elementwise(const Op *op) {
    return op->code == OP_IOTA || op->code == OP_BROADCAST || op->code == OP_SPLAT ||
           op_has(op->code, TRAIT_ELEMENTWISE);
}

/* --- lean --- */
/* All registers of the operand are combined first, without an index, to one scalar. */
static bool is_plain_reduce(const Kernel *k, const Op *op) {
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    const Layout *layout = layout_at(k, op->operands[0]);
    if (op->region_count || op->result_count != 1 || lay_is_tile(k, op->results[0]) || !layout ||
        kind == COMBINE_ARGMIN || kind == COMBINE_ARGMAX)
        return false;
    const LinearLayout *map = &layout->map;
    int bits = map->count[LL_REGISTER];
    const Attr *stamp = op_attr(op, AT_BITS);
    if (map->rank != 1 || layout->registers != 1 << bits || (stamp && stamp->list.count < bits)) return false;
    for (int i = 0; stamp && i < bits; i++) {
        bool found = false;
        for (int r = 0; r < bits; r++) found |= map->basis[LL_REGISTER][r] == (uint32_t)1 << stamp->list.at[i];
        if (!found) return false;
    }
    return true;
}

/* Without a mask or an index vector, which would have to be computed again as well. */
static bool is_plain_box(const Kernel *k, const Op *op) {
    return (op->code == OP_TLOAD || op->code == OP_TSTORE) && !op_operand(op, op->code == OP_TLOAD ? 1 : 2) &&
           !box_is_indexed(k, op);
}

/* Is everything of the kernel what a lean one can compute again? */
bool hold_may_be_lean(const Kernel *k) {
    const Layout *layout = NULL;
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op->region_count) return false;
        bool tiles = false;
        for (int i = 0; i < op->result_count + op->operand_count; i++) {
            Ref ref = i < op->result_count ? op->results[i] : op->operands[i - op->result_count];
            const Layout *own = layout_at(k, ref);
            if (!own) continue;
            tiles = true;
            if (own->home != HOME_REGISTERS || ir_type(k, ref)->pointer) return false;
            if (layout && (own->registers != layout->registers || !ll_equal(&own->map, &layout->map))) return false;
            layout = own;
        }
        if (!tiles || is_elementwise(op)) continue;
        if (op->code == OP_REDUCE ? !is_plain_reduce(k, op) : !is_plain_box(k, op)) return false;
    }
    return layout != NULL;
}

/* The most that is alive across a reduction: values whose last use comes behind it. */
static int64_t most_alive(const Kernel *k) {
    int64_t most = 0;
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op->code != OP_REDUCE) continue;
        int64_t alive = 0;
        for (const Op *value = k->body->first; value != op; value = value->next) {
            bool used = false;
            for (const Op *user = op->next; user && value->result_count == 1; user = user->next)
                for (int i = 0; i < user->operand_count; i++) used |= user->operands[i] == value->results[0];
            if (used) alive += layout_words(k, value->results[0]);
        }
        if (alive > most) most = alive;
    }
    return most;
}

static bool is_lean(const PassContext *cx, const Kernel *k) {
    int64_t registers = cx->machine->registers / (cx->machine->lanes * layout_warps(cx, k));
    if (registers > cx->machine->thread_registers) registers = cx->machine->thread_registers;
    return hold_may_be_lean(k) && most_alive(k) + cx->machine->cost.other_registers > registers;
}

/* --- pairs --- */
static bool is_half(const Type *type) { return !type->pointer && (type->elem == EL_BF16 || type->elem == EL_F16); }

static Word held(const Kernel *k, Ref value) {
    const Op *op = ref_is_value(value) ? ir_value(k, value)->op : NULL;
    return op ? op_word(op, AT_HELD, WORD_NONE) : WORD_NONE;
}

static void hold(Kernel *k, Op *op, Word how) {
    if (how)
        op_set(k, op, (Attr){.id = AT_HELD, .word = how});
    else
        op_drop(op, AT_HELD);
}

/* Moves of whole vectors with an even number of elements. */
static bool moves_pairs(const Kernel *k, const Op *op, Ref value) {
    const Layout *layout = layout_at(k, value);
    if (!layout || layout->home != HOME_REGISTERS || !is_half(ir_type(k, value))) return false;
    Access a = access_of(op);
    return a.whole && a.vector % 2 == 0;
}

const char *layout_pair_name(const Kernel *k, const Op *op) {
    if (op->result_count != 1 || !is_half(ir_type(k, op->results[0]))) return NULL;
    if (op->code == OP_MUL) return ir_type(k, op->results[0])->elem == EL_F16 ? "mul" : NULL;
    return op->code == OP_ADD ? "add" : op->code == OP_SUB ? "sub" : NULL;
}

const char *layout_pair_function(const Kernel *k, const Op *op) {
    const char *name = layout_pair_name(k, op);
    if (op->code == OP_MUL && ir_type(k, op->results[0])->elem == EL_BF16) name = "mul";
    const Layout *layout = name ? layout_at(k, op->results[0]) : NULL;
    if (!layout || layout->registers % 2) return NULL;
    for (int i = 0; i < 2; i++) {
        if (held(k, op->operands[i]) != HELD_PAIRS) return NULL;
        const Layout *own = layout_at(k, op->operands[i]);
        if (own->registers != layout->registers || !ll_equal(&own->map, &layout->map)) return NULL;
    }
    return name;
}

static Word form_of(const Kernel *k, const Op *op, bool lean) {
    if (op->result_count != 1 || !is_half(ir_type(k, op->results[0]))) return WORD_NONE;
    const Layout *layout = layout_at(k, op->results[0]);
    if (op->code == OP_TLOAD && moves_pairs(k, op, op->results[0])) return HELD_PAIRS;
    bool array = layout && layout->home == HOME_REGISTERS && layout->registers % 2 == 0;
    if (!array || lean || !is_elementwise(op)) return WORD_NONE;
    return layout_pair_function(k, op) ? HELD_PAIRS : HELD_WIDE;
}

/* Whether the user reads the value in a way that the form allows. */
static bool allows(const Kernel *k, const Op *user, Ref value, Word form) {
    if (user->code == OP_TSTORE) return value == op_operand(user, 1) && moves_pairs(k, user, value);
    if (form == HELD_WIDE) return false;
    if (user->code == OP_REDUCE) return !user->region_count;
    return is_elementwise(user) && user->code != OP_BITCAST && user->code != OP_SPLAT &&
           lay_is_tile(k, user->results[0]);
}

static void find_forms(Kernel *k, const Region *region, bool lean) {
    for (Op *op = region->first; op; op = op->next) {
        Word form = form_of(k, op, lean);
        if (form) hold(k, op, form);
        for (int i = 0; i < op->region_count; i++) find_forms(k, op->regions[i], lean);
    }
}

/* Whether a form was taken back: what is made of that value has another one then. */
static bool drop_forms(Kernel *k, const Region *region) {
    bool dropped = false;
    for (Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++) {
            Word form = held(k, op->operands[i]);
            if (!form || allows(k, op, op->operands[i], form)) continue;
            hold(k, ir_value(k, op->operands[i])->op, WORD_NONE);
            dropped = true;
        }
        if (op->code != OP_TLOAD && op_word(op, AT_HELD, WORD_NONE) == HELD_PAIRS && !layout_pair_function(k, op)) {
            hold(k, op, HELD_WIDE);
            dropped = true;
        }
        for (int i = 0; i < op->region_count; i++) dropped |= drop_forms(k, op->regions[i]);
    }
    return dropped;
}

bool hold_is_right(const Kernel *k, const Op *op) {
    bool lean = kernel_int(k, AT_LEAN, 0);
    Word form = op_word(op, AT_HELD, WORD_NONE);
    for (int i = 0; i < op->operand_count; i++) {
        Word other = held(k, op->operands[i]);
        if (other && !allows(k, op, op->operands[i], other)) return false;
    }
    if (!form) return true;
    return form == HELD_PAIRS ? form_of(k, op, lean) == HELD_PAIRS
                              : form_of(k, op, lean) != WORD_NONE && op->code != OP_TLOAD;
}

void layout_hold_less(Kernel *k) {
    while (drop_forms(k, k->body)) continue;
}

void hold_decide(LayoutState *st) {
    Kernel *k = st->k;
    for (const Op *op = k->body->first; op; op = op->next)
        if (op->code == OP_TASKS) return;
    bool lean = is_lean(st->cx, k);
    if (lean) kernel_set(k, (Attr){.id = AT_LEAN, .number = 1});
    find_forms(k, k->body, lean);
    layout_hold_less(k);
}
