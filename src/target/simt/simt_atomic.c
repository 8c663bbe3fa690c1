/* SPDX-License-Identifier: Apache-2.0 */
/* simt_atomic.c: atomics on pointers and boxes, with or without their old value.
 *
 * Each element is done by the one thread that owns it. Where somebody reads the old value and the
 * layout keeps copies of an element, the owner hands it on: to other lanes by a shuffle, to other
 * warps through shared memory. What no instruction does is a loop around compare-and-swap:
 *
 *     f16 was = tw_atomic_cas(p, zero, zero);
 *     for (f16 seen = was;; seen = was) { was = tw_atomic_cas(p, seen, max); if (same) break; }
 *
 * Order: before a release the threads of the program meet, so that what any of them wrote comes first;
 * after an acquire the next load waits for a barrier. A scalar, which one thread does, may carry its order in
 * its own instruction, which orders what the barrier put before it:
 *
 *     TW_ATOM(gpu, acq_rel, add, f32, old, p, x);
 *
 * Else all threads fence, once for all their elements. Which of these it is the op says (`by`:
 * pass/schedule/schedule_atomic.c). */
#include "target/simt/simt.h"

#include <string.h>

static Word kind_of(const Op *op) { return op_word(op, AT_COMBINE, COMBINE_ADD); }

/* --- order --- */
static void write_fence(Emit *e, const Op *op) {
    Word reach = op_word(op, AT_REACH, REACH_GPU);
    cs_line(&e->p, "tw_fence_%s();", reach == REACH_CTA ? "block" : reach == REACH_SYS ? "system" : "device");
}

void atomic_fence(Emit *e, const Op *op) { write_fence(e, op); }

static void before(Emit *e, const Op *op, bool ordered) {
    Word sem = op_word(op, AT_SEM, SEM_ACQ_REL);
    sync_before_access(e, op);
    if (!ordered && (sem == SEM_RELEASE || sem == SEM_ACQ_REL)) write_fence(e, op);
}

static void after(Emit *e, const Op *op, bool used) {
    Word sem = op_word(op, AT_SEM, SEM_ACQ_REL);
    if (used && (sem == SEM_ACQUIRE || sem == SEM_ACQ_REL)) write_fence(e, op);
}

/* --- one element --- */
/* Functions of the prelude are for the GPU, or for all that share its memory. */
const char *atomic_reach(const Op *op) { return op_word(op, AT_REACH, REACH_GPU) == REACH_SYS ? "_system" : ""; }

static void write_call(Emit *e, const char *old, const Expr *call) {
    if (old)
        cs_line(&e->p, "%s = %p;", old, call);
    else
        cs_line(&e->p, "%p;", call);
}

static const Expr *packed(Emit *e, Elem elem, const Expr *text) {
    return elem == EL_I1 ? cs_pack(&e->p, elem, text) : elementwise_packed(e, elem, text);
}

/* Combines `value` (a register value) into *pointer; the old one to `old`, a variable of memory type, unless NULL. */
static void write_atomic(Emit *e, const Op *op, Elem elem, const Expr *pointer, const Expr *value, const char *old) {
    const char *memory = cs_memory_type(elem);
    if (op_word(op, AT_ATOMIC, ATOMIC_PLAIN) != ATOMIC_LOOP) {
        write_call(e, old,
                   ex(e->arena, "tw_atomic_%s%s(%p, %p)", word_info[kind_of(op)].text, atomic_reach(op), pointer,
                      elementwise_packed(e, elem, value)));
        return;
    }
    const char *was = cs_fresh(&e->p, "was"), *seen = cs_fresh(&e->p, "seen");
    const Expr *zero = packed(e, elem, cs_zero(e->arena, &(Type){.elem = elem}));
    cs_line(&e->p, "%s %s = tw_atomic_cas%s(%p, %p, %p);", memory, was, atomic_reach(op), pointer, zero,
            zero); /* what is there */
    cs_open(&e->p, "for (%s %s = %s;; %s = %s)", memory, seen, was, seen, was);
    const Expr *now =
        cs_combine(&e->p, kind_of(op), elem, false, cs_unpack(&e->p, elem, ex_name(e->arena, seen)), value);
    cs_line(&e->p, "%s = tw_atomic_cas%s(%p, %s, %p);", was, atomic_reach(op), pointer, seen,
            elem == EL_I1 ? cs_pack(&e->p, elem, now) : elementwise_packed(e, elem, now));
    cs_line(&e->p, "if (tw_same(%s, %s)) break;", was, seen);
    cs_close(&e->p);
    if (old) cs_line(&e->p, "%s = %s;", old, was);
}

static void write_one(Emit *e, const Op *op, const Layout *layout, const char *old) {
    Elem elem = ir_type(e->k, op->operands[0])->elem;
    const Expr *text[3] = {0};
    for (int i = 0; i < 3 && i < op->operand_count; i++)
        if (op->operands[i])
            text[i] =
                layout ? elementwise_operand(e, op->operands[i], layout, &place_r) : emit_scalar(e, op->operands[i]);
    if (op->code == OP_ATOMIC_CAS)
        write_call(e, old,
                   ex(e->arena, "tw_atomic_cas%s(%p, %p, %p)", atomic_reach(op), text[0], packed(e, elem, text[1]),
                      packed(e, elem, text[2])));
    else
        write_atomic(e, op, elem, text[0], text[1], old);
}

static Ref mask_of(const Op *op) { return op->code == OP_ATOMIC ? op_operand(op, 2) : REF_NONE; }

/* --- scalars --- */
static void write_ordered(Emit *e, const Op *op, Elem elem, const char *old) {
    Word word = kind_of(op), sem = op_word(op, AT_SEM, SEM_ACQ_REL);
    Word to = op_word(op, AT_REACH, REACH_GPU);
    const char *reach = word_info[to].text, *order = word_info[sem].text;
    const char *name = word == COMBINE_XCHG ? "exch" : word_info[word].text;
    bool ranks = word == COMBINE_MIN || word == COMBINE_MAX;
    const Expr *pointer = emit_scalar(e, op->operands[0]);
    const Expr *value = elementwise_packed(e, elem, emit_scalar(e, op->operands[1]));
    if (op->code == OP_ATOMIC_CAS) {
        cs_line(&e->p, "TW_ATOM_CAS(%s, %s, %d, %s, %p, %p, %p);", reach, order, elem_info[elem].bits, old, pointer,
                value, elementwise_packed(e, elem, emit_scalar(e, op->operands[2])));
        return;
    }
    if (ranks && elem_is_float(elem)) {
        cs_line(&e->p, "TW_ATOM_RANK%s(%s, %s, %s, %s, %s, %p, %p);", elem == EL_F64 ? "_f64" : "", reach, order, name,
                word == COMBINE_MIN ? "max" : "min", old, pointer, value);
        return;
    }
    char kind = elem_is_float(elem) ? 'f' : ranks ? elem_is_signed(elem) ? 's' : 'u' : word == COMBINE_ADD ? 'u' : 'b';
    cs_line(&e->p, "TW_ATOM(%s, %s, %s, %s%c%d, %s, %p, %p);", reach, order, name, elem == EL_BF16 ? "b" : "", kind,
            elem_info[elem].bits, old, pointer, value);
}

static void emit_scalar_atomic(Emit *e, const Op *op, bool used) {
    const Type *type = ir_type(e->k, op->results[0]);
    bool ordered = op_word(op, AT_ATOMIC, ATOMIC_PLAIN) == ATOMIC_ORDERED;
    const char *memory = cs_memory_type(type->elem), *old = used || ordered ? cs_fresh(&e->p, "old") : NULL;
    Ref mask = mask_of(op);
    before(e, op, ordered);
    if (used) {
        cs_line(&e->p, "%s %s = %s();", memory, old, memory);
        sync_within(e, op);
    }
    cs_open(&e->p, "if (lane == 0 && warp == 0)");
    if (mask) cs_open(&e->p, "if (%p)", emit_scalar(e, mask));
    if (ordered && !used) cs_line(&e->p, "%s %s;", memory, old);
    if (ordered)
        write_ordered(e, op, type->elem, old);
    else
        write_one(e, op, NULL, old);
    if (mask) cs_close(&e->p);
    long long at = used ? shared_offset(e, op) : 0;
    if (used) cs_line(&e->p, "tw_sts(1, %lld, &%s);", at, old);
    cs_close(&e->p);
    if (used) {
        sync_step(e);
        cs_line(&e->p, "tw_lds(1, &%s, %lld);", old, at);
        emit_set(e, op->results[0], HOLD_SCALAR, cs_unpack(&e->p, type->elem, ex_name(e->arena, old)));
    }
    if (!ordered) after(e, op, used);
}

void atomic_by_thread(Emit *e, const Op *op, const Expr *place, const char *old) {
    if (place) {
        write_atomic(e, op, ir_type(e->k, op->operands[0])->elem, place, emit_scalar(e, op_operand(op, 1)), old);
        return;
    }
    Ref mask = mask_of(op);
    before(e, op, false);
    if (mask) cs_open(&e->p, "if (%p)", emit_scalar(e, mask));
    write_one(e, op, NULL, old);
    if (mask) cs_close(&e->p);
    after(e, op, true);
}

/* --- tiles --- */
void atomic_hand_on(Emit *e, const Op *op, const char *array) {
    const Layout *layout = emit_layout(e, op->results[0]);
    const Type *type = ir_type(e->k, op->results[0]);
    LayoutPlace copies = ll_free(&layout->map);
    if (copies.at[LL_WARP]) {
        long long base = shared_offset(e, op), bytes = ty_elem_bytes(type), plane = e->lanes * e->group.warps * bytes;
        sync_within(e, op);
        emit_unroll(e, "r", layout->registers, 1);
        cs_line(&e->p, "tw_sts(1, %lld + r * %lld + (%p) * %lld, %s + r);", base, plane, e->thread, bytes, array);
        cs_close(&e->p);
        sync_step(e);
        emit_unroll(e, "r", layout->registers, 1);
        cs_line(&e->p, "tw_lds(1, %s + r, %lld + r * %lld + ((warp & ~%u) * %d + (lane & ~%u)) * %lld);", array, base,
                plane, copies.at[LL_WARP], e->lanes, copies.at[LL_LANE], bytes);
        cs_close(&e->p);
    } else if (copies.at[LL_LANE]) {
        emit_unroll(e, "r", layout->registers, 1);
        cs_line(&e->p, "%s[r] = tw_move_idx(%s[r], lane & ~%u);", array, array, copies.at[LL_LANE]);
        cs_close(&e->p);
    }
}

void atomic_emit(Emit *e, const Op *op) {
    const Layout *layout = emit_layout(e, op->operands[0]);
    const Type *places = ir_type(e->k, op->operands[0]), *type = ir_type(e->k, op->results[0]);
    bool used = e->uses[op->results[0]] != 0;
    if (!layout) {
        emit_scalar_atomic(e, op, used);
        return;
    }
    before(e, op, false);
    const char *array = used ? emit_declare(e, op->results[0]) : NULL;
    emit_unroll(e, "r", layout->registers, 1);
    const Expr *condition = stage_inside(e, layout, places, place_owner(e, &layout->map));
    Ref mask = mask_of(op);
    if (mask) condition = ex_and(e->arena, condition, elementwise_operand(e, mask, layout, &place_r));
    const char *memory = cs_memory_type(type->elem);
    if (used) cs_line(&e->p, "%s old = %s();", memory, memory);
    if (condition) cs_open(&e->p, "if (%p)", condition);
    write_one(e, op, layout, used ? "old" : NULL);
    if (condition) cs_close(&e->p);
    if (used) cs_line(&e->p, type->elem == EL_I1 ? "%s[r] = old != 0;" : "%s[r] = old;", array);
    cs_close(&e->p);
    if (used) atomic_hand_on(e, op, array);
    after(e, op, used);
}

/* --- boxes --- */
void atomic_element(Emit *e, const Op *op, Elem elem, const Expr *pointer, const Expr *value) {
    write_atomic(e, op, elem, pointer, value, NULL);
}

void atomic_begin(Emit *e, const Op *op) { before(e, op, false); }
