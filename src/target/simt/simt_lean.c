/* simt_lean.c: tiles that are too large for the registers of their block.
 *
 * softmax of a row of 65536 numbers by 512 threads: a thread holds 128 of them, in f32 all the
 * registers there are. But they were loaded as bf16, and what is computed from them element by
 * element can be computed again. So in a lean kernel only loads are arrays; an elementwise value is
 * written into each loop that uses it, as a variable, and reductions take its elements one by one,
 * in the order of their tree, so that few partial results are alive:
 *
 *     for (int i = 0; i < 128; i++) {
 *         const f32 shifted = (tw_f32(x[r]) - most);
 *         f32 value = tw_exp_fast(shifted);
 *         ..
 *     }
 *     tw_fresh(128, x);        the compiler must not remember what it made of x
 *
 * Lean are flat kernels of loads, stores, elementwise ops and reductions to scalars whose values
 * alive across a reduction would not fit. The numbers are the same, bit by bit. */
#include "target/simt/simt.h"

#include <string.h>

enum { OTHER_REGISTERS = 40 }; /* addresses, partial results, what is being computed */

static int64_t words(Emit *e, Ref value) {
    const Layout *layout = emit_layout(e, value);
    return layout ? (int64_t)layout->registers * ty_elem_bytes(ir_type(e->k, value)) / 4 : 0;
}

/* All registers of the operand are combined first, without an index, to one scalar. */
static bool is_plain_reduce(Emit *e, const Op *op) {
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    const Layout *layout = emit_layout(e, op->operands[0]);
    if (op->region_count || op->result_count != 1 || emit_is_tile(e, op->results[0]) || !layout ||
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

bool lean_wanted(Emit *e) {
    const Layout *layout = NULL;
    int64_t most = 0;
    for (const Op *op = e->k->body->first; op; op = op->next) {
        if (op->region_count) return false;
        bool tiles = false;
        for (int i = 0; i < op->result_count + op->operand_count; i++) {
            Ref ref = i < op->result_count ? op->results[i] : op->operands[i - op->result_count];
            const Layout *own = emit_layout(e, ref);
            if (!own) continue;
            tiles = true;
            if (layout && (own->registers != layout->registers || !ll_equal(&own->map, &layout->map))) return false;
            if (own->home != HOME_REGISTERS || ir_type(e->k, ref)->pointer) return false;
            layout = own;
        }
        if (!tiles || elementwise_is(op)) continue;
        bool masked = op_operand(op, op->code == OP_TLOAD ? 1 : 2) != REF_NONE;
        if (op->code == OP_REDUCE ? !is_plain_reduce(e, op) : (op->code != OP_TLOAD && op->code != OP_TSTORE) || masked)
            return false;
    }
    if (!layout) return false;
    /* A value whose last use comes behind a reduction is alive across it. */
    for (const Op *op = e->k->body->first; op; op = op->next) {
        if (op->code != OP_REDUCE) continue;
        int64_t alive = 0;
        for (const Op *value = e->k->body->first; value != op; value = value->next) {
            bool used = false;
            for (const Op *user = op->next; user && value->result_count == 1; user = user->next)
                for (int i = 0; i < user->operand_count; i++) used |= user->operands[i] == value->results[0];
            if (used) alive += words(e, value->results[0]);
        }
        if (alive > most) most = alive;
    }
    const Machine *machine = e->cx->machine;
    int64_t registers = machine->registers / (e->lanes * layout_warps(e->cx, e->k));
    return most + OTHER_REGISTERS > (registers < machine->thread_registers ? registers : machine->thread_registers);
}

void lean_put_off(Emit *e, const Op *first, const Op *last) {
    for (const Op *op = first;; op = op->next) {
        if (emit_is_tile(e, op->results[0]) && emit_hold(e, op->results[0])->kind == HOLD_NONE)
            emit_set(e, op->results[0], HOLD_LATER, NULL);
        if (op == last) break;
    }
}

/* What the value takes, as variables of the loop. */
static void compute(Emit *e, Ref value, const char *r) {
    if (!ref_is_value(value) || emit_hold(e, value)->kind != HOLD_LATER) return;
    const char *text = lean_element(e, value, r), *name = cs_name(&e->p, value);
    cs_line(&e->p, "%s %s = %s;", elementwise_type(e, ir_type(e->k, value)), name, text);
    emit_set(e, value, HOLD_LOCAL, name);
    *VEC_PUSH(&e->computed, e->arena) = value;
}

const char *lean_element(Emit *e, Ref value, const char *r) {
    const Layout *layout = emit_layout(e, value);
    if (!ref_is_value(value) || emit_hold(e, value)->kind != HOLD_LATER)
        return elementwise_operand(e, value, layout, r);
    const Op *op = ir_value(e->k, value)->op;
    for (int i = 0; i < op->operand_count; i++)
        if (elementwise_reads(e, op, layout, i)) compute(e, op->operands[i], r);
    cs_place(&e->p, op->range);
    return elementwise_at(e, op, layout, r);
}

void lean_close(Emit *e) {
    for (size_t i = 0; i < e->computed.count; i++) emit_set(e, e->computed.at[i], HOLD_LATER, NULL);
    e->computed.count = 0;
}

/* Loads that were read before the reduction and are read again. */
void lean_after_reduce(Emit *e, const Op *reduce) {
    for (const Op *op = e->k->body->first; e->lean && op != reduce; op = op->next)
        if (op->code == OP_TLOAD && emit_layout(e, op->results[0]) && e->uses[op->results[0]])
            cs_line(&e->p, "tw_fresh(%d, %s);",
                    emit_layout(e, op->results[0])->registers /
                        (emit_hold(e, op->results[0])->kind == HOLD_PAIRS ? 2 : 1),
                    emit_hold(e, op->results[0])->text);
}
