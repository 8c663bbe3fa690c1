/* SPDX-License-Identifier: Apache-2.0 */
/* simt_elementwise.c: runs of elementwise ops as one loop over the registers.
 *
 * Neighbouring ops whose results share a layout become one unrolled loop; values used only inside
 * it are variables of the loop, the others are arrays:
 *
 *     f32 y[8];
 *     #pragma unroll
 *     for (int r = 0; r < 8; r++) {
 *         const f32 d = (x[r] - mx);
 *         y[r] = tw_exp(d);
 *     } */
#include "target/simt/simt.h"

/* The operand's own elements, each in more places. */
static bool is_spread(const Op *op) { return op->code == OP_BROADCAST || op->code == OP_REPEAT; }

bool elementwise_is(const Op *op) {
    return op->code == OP_IOTA || op->code == OP_SPLAT || is_spread(op) || cs_is_elementwise(op->code);
}

const Expr *elementwise_packed(Emit *e, Elem elem, const Expr *x) {
    if (!elem_is_float(elem) || elem_info[elem].bits >= 32) return x;
    return x->bits ? x->bits
                   : cs_pack(&e->p, elem, x); /* what was read from memory, or rounded to the type: tw_f32(x) -> x */
}

/* What a store will round: tw_f32(tw_bf16(x)) -> x, if x is f32. */
static const Expr *unrounded(Emit *e, const Op *op, const Expr *x) {
    Elem elem = ir_type(e->k, op->results[0])->elem;
    if (op->code == OP_CAST && ir_type(e->k, op->operands[0])->elem == EL_F64) return x;
    const Expr *rounded = elementwise_packed(e, elem, x)->rounded;
    return rounded ? rounded : x;
}

const Expr *elementwise_operand(Emit *e, Ref ref, const Layout *result, const Expr *r) {
    if (ref == REF_NONE) return NULL;
    if (!emit_is_tile(e, ref)) return emit_scalar(e, ref);
    const Hold *hold = emit_hold(e, ref);
    const Type *type = ir_type(e->k, ref);
    if (hold->kind == HOLD_SCALAR || hold->kind == HOLD_LOCAL) return hold->by;
    if (hold->kind == HOLD_PAIRS) return pairs_element(e, ref, place_operand(e, ref, result, r));
    if (hold->kind != HOLD_ARRAY && e->k->module->diag->errors) return &expr_zero;
    if (hold->kind != HOLD_ARRAY) ice(e->k->module->trap, "simt: an operand is in no register");
    const Expr *text = ex(e->arena, "%p[%p]", hold->by, place_operand(e, ref, result, r));
    if (type->pointer || type->elem == EL_I1) return text;
    return cs_unpack(&e->p, type->elem, text);
}

static bool is_small_float(const Type *type) {
    return !type->pointer && elem_is_float(type->elem) && elem_info[type->elem].bits < 32;
}

static const Expr *iota_at(Emit *e, const Op *op, const Layout *layout, const Expr *r) {
    const Expr *coord = place_coord(e, layout, 0, r);
    long long begin = op_int(op, AT_BEGIN, 0);
    return begin ? ex(e->arena, "(%lld + %p)", begin, coord) : coord;
}

/* cols < n, where n and the start of cols are multiples of what a thread holds side by side: one
 * comparison a vector, (at0 + (r >> 3) * 2048) < n, because the registers of a vector then have
 * their lower bits left out. NULL: not of that form. */
static const Expr *vector_compare(Emit *e, const Op *op, const Layout *layout, const Expr *r) {
    Ref index = op->operands[0], bound = op->operands[1], start = REF_NONE;
    const Op *sum = NULL;
    if (op_int(op, AT_VECTOR, 1) == 1) return NULL;
    const Op *from = ref_is_value(index) ? ir_value(e->k, index)->op : NULL;
    if (from && from->code == OP_ADD) {
        int iota = emit_is_tile(e, from->operands[1]);
        sum = from, start = from->operands[!iota], index = from->operands[iota];
        from = ref_is_value(index) ? ir_value(e->k, index)->op : NULL;
    }
    e->coarse_bits = ll_log2(op_int(op, AT_VECTOR, 1));
    const Expr *text = iota_at(e, from, layout, r);
    e->coarse_bits = 0;
    if (sum) {
        const Expr *terms[2] = {emit_scalar(e, start), text};
        text = cs_elementwise(&e->p, sum, terms);
    }
    const Expr *args[2] = {text, emit_scalar(e, bound)};
    return cs_elementwise(&e->p, op, args);
}

bool elementwise_reads(Emit *e, const Op *op, const Layout *layout, int operand) {
    return operand != 0 || op->code != OP_CMP || !vector_compare(e, op, layout, &place_r);
}

/* What of a division by one number is done once (`over`). */
static const char *known_over(const Emit *e, const Op *op) {
    const MapEntry *entry = op_flag(op, AT_OVER) ? map_find_number(&e->overs, op->operands[1]) : NULL;
    return entry ? entry->value : NULL;
}

static void declare_overs(Emit *e, const Op *first, const Op *last) {
    for (const Op *op = first;; op = op->next) {
        if (op_flag(op, AT_OVER) && !known_over(e, op)) {
            const char *name = cs_fresh(&e->p, "over");
            cs_line(&e->p, "const TwOver %s = tw_over(%p);", name, emit_scalar(e, op->operands[1]));
            map_put_number(&e->overs, e->arena, op->operands[1], (void *)(uintptr_t)name);
        }
        if (op == last) break;
    }
}

static void forget_overs(Emit *e, const Op *first, const Op *last) {
    for (const Op *op = first;; op = op->next) {
        if (known_over(e, op)) map_put_number(&e->overs, e->arena, op->operands[1], NULL);
        if (op == last) break;
    }
}

static const Op *made_by(const Emit *e, Ref value, Opcode code) {
    const Op *op = ref_is_value(value) ? ir_value(e->k, value)->op : NULL;
    return op && op->code == code ? op : NULL;
}

/* (x & 8) == 8, of x & 8, also in a wider type: is the bit set? Compilers that see what is asked shift the bit down
 * first, to compare it with 1, where the machine's `and` sets a predicate. NULL: it asks for something else. */
static const Expr *bit_test(Emit *e, const Op *op, const Expr *masked) {
    Word pred = op_word(op, AT_PRED, CMP_EQ);
    const Op *cast = made_by(e, op->operands[0], OP_CAST);
    const Op *and = made_by(e, cast ? cast->operands[0] : op->operands[0], OP_AND);
    int64_t mask, with;
    if ((pred != CMP_EQ && pred != CMP_NE) || !and) return NULL;
    const ElemInfo *own = &elem_info[ir_type(e->k, and->results[0])->elem];
    const ElemInfo *elem = &elem_info[ir_type(e->k, op->operands[0])->elem];
    if (own->bits < 8 || own->bits > elem->bits || elem->bits > 32 || elem->cls == CLASS_FLOAT ||
        !ir_const_int(e->k, and->operands[1], &mask) || !ir_const_int(e->k, op->operands[1], &with))
        return NULL;
    if (mask <= 0 || mask > INT32_MAX || (mask & (mask - 1)) || (with && with != mask)) return NULL;
    bool set = (pred == CMP_EQ) == (with == mask);
    return ex(e->arena, set ? "tw_bit(%p, %lldu)" : "(!tw_bit(%p, %lldu))", masked, (long long)mask);
}

const Expr *elementwise_at(Emit *e, const Op *op, const Layout *layout, const Expr *r) {
    if (op->code == OP_IOTA) return iota_at(e, op, layout, r);
    if (op->code == OP_CMP) {
        const Expr *text = vector_compare(e, op, layout, r);
        if (text) return text;
    }
    const Expr *args[8] = {0};
    for (int i = 0; i < op->operand_count && i < 8; i++) args[i] = elementwise_operand(e, op->operands[i], layout, r);
    if (op->code == OP_BITCAST && is_small_float(ir_type(e->k, op->operands[0]))) {
        /* Bits that were read stay as they are, NaNs too. */
        const Type *from = ir_type(e->k, op->operands[0]), *to = ir_type(e->k, op->results[0]);
        const Expr *bits = elementwise_packed(e, from->elem, args[0]);
        if (is_small_float(to))
            return cs_unpack(&e->p, to->elem, ex(e->arena, "tw_as_%s(%p.bits)", cs_memory_type(to->elem), bits));
        return ex(e->arena, "((%s)%p.bits)", elem_info[to->elem].text, bits);
    }
    const Expr *bit = op->code == OP_CMP ? bit_test(e, op, args[0]) : NULL;
    if (bit) return bit;
    const char *over = known_over(e, op);
    if (over) return ex(e->arena, "tw_div_over(%p, %s)", args[0], over);
    return is_spread(op) ? args[0] : cs_elementwise(&e->p, op, args);
}

const char *elementwise_type(Emit *e, const Type *type) {
    const char *text = cs_value_type(&e->p, type);
    return arena_printf(e->arena, type->pointer ? "%sconst" : "const %s", text);
}

/* May the text of a value stand where its one user reads it, instead of a variable? Not if the source
 * has a name for it, nor if the type of the variable would cut it. */
static bool stands_in_place(Emit *e, Ref value) {
    const Type *type = ir_type(e->k, value);
    return e->uses[value] == 1 && !ir_value(e->k, value)->name && !type->pointer &&
           (elem_is_float(type->elem) || elem_info[type->elem].bits >= 32 || type->elem == EL_I1);
}

/* The op of the same region that reads the value first. */
static const Op *first_user(const Op *op) {
    for (const Op *user = op->next; user; user = user->next)
        for (int i = 0; i < user->operand_count; i++)
            if (user->operands[i] == op->results[0]) return user;
    return NULL;
}

enum { LONGEST_IN_PLACE = 72 }; /* columns: a longer text gets a name, for who reads it */

/* Does the text of the value go where its user reads it? Both sides of a select are computed: a call inside of C's ?:
 * would be a branch, and loads behind a branch wait for what its condition waits for. */
static bool goes_in_place(Emit *e, const Op *op, const Expr *text) {
    const Op *user = first_user(op);
    bool side = user && user->code == OP_SELECT && user->operands[0] != op->results[0];
    return ex_width(e->arena, text) <= LONGEST_IN_PLACE && !(side && ex_calls(text));
}

/* Is the scalar read by a scalar op of the same region? */
static bool has_scalar_user(Emit *e, const Op *op) {
    const Op *user = first_user(op);
    return user && cs_is_elementwise(user->code) && !emit_is_tile(e, user->results[0]);
}

void elementwise_scalar(Emit *e, const Op *op) {
    Ref result = op->results[0];
    if (!e->uses[result]) return; /* only the launcher asks for it */
    if (op->code == OP_SPLAT || op->code == OP_BROADCAST) {
        emit_set(e, result, HOLD_SCALAR, emit_scalar(e, op->operands[0]));
        return;
    }
    const Expr *args[8] = {0};
    for (int i = 0; i < op->operand_count && i < 8; i++)
        args[i] = op->operands[i] ? emit_scalar(e, op->operands[i]) : NULL;
    const Expr *text = cs_elementwise(&e->p, op, args);
    if (stands_in_place(e, result) && has_scalar_user(e, op) && goes_in_place(e, op, text)) {
        emit_set(e, result, HOLD_SCALAR, text);
        return;
    }
    const char *name = cs_name(&e->p, result);
    const char *type = elementwise_type(e, ir_type(e->k, result));
    purpose_say(e, result);
    cs_line(&e->p, "%s %s = %p;", type, name, text);
    emit_set_name(e, result, HOLD_SCALAR, name);
}

/* Does the op join a loop over the registers of `layout`? */
static bool joins(Emit *e, const Op *op, const Layout *layout) {
    if (!elementwise_is(op) || op->code == OP_SPLAT || !emit_is_tile(e, op->results[0]) || op_flag(op, AT_PACKED) ||
        pairs_are(op) || bytes_are(e, op))
        return false;
    const Layout *own = emit_layout(e, op->results[0]);
    return own && own->home == HOME_REGISTERS && own->registers == layout->registers &&
           ll_equal(&own->map, &layout->map);
}

static bool aside(Emit *e, const Op *op) {
    return elementwise_is(op) && (op->code == OP_SPLAT || !emit_is_tile(e, op->results[0]));
}

/* Counts (1) what the run uses of each value, or forgets it again (-1). */
static void count_inside(Emit *e, const Op *first, const Op *last, int by) {
    for (const Op *op = first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++)
            if (ref_is_value(op->operands[i])) e->uses_inside[op->operands[i]] += by;
        if (op == last) break;
    }
}

/* Does an op of the run read the variable of this one? Not if all compare whole vectors of it. */
static bool is_read(Emit *e, const Op *of, const Op *last, const Layout *layout) {
    if (of->code != OP_IOTA && of->code != OP_ADD) return true;
    for (const Op *op = of->next; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++)
            if (op->operands[i] == of->results[0] && elementwise_reads(e, op, layout, i) &&
                (op->code != OP_ADD || emit_hold(e, op->results[0])->kind != HOLD_LOCAL ||
                 is_read(e, op, last, layout)))
                return true;
        if (op == last) break;
    }
    return false;
}

static void write_loop(Emit *e, const Op *first, const Op *last, const Layout *layout) {
    cs_place(&e->p, first->range);
    purpose_say(e, first->results[0]);
    count_inside(e, first, last, 1);
    for (const Op *op = first; op; op = op->next) {
        if (joins(e, op, layout) && emit_hold(e, op->results[0])->kind == HOLD_NONE) {
            Ref result = op->results[0];
            if (e->uses_inside[result] == e->uses[result])
                emit_set(e, result, HOLD_LOCAL, stands_in_place(e, result) ? NULL : cs_ref(&e->p, result));
            else if (!pairs_declare(e, result))
                emit_declare(e, result);
        }
        if (op == last) break;
    }
    count_inside(e, first, last, -1);
    declare_overs(e, first, last);
    emit_unroll(e, "r", layout->registers, 1);
    for (const Op *op = first; op; op = op->next) {
        Ref result = op->result_count ? op->results[0] : REF_NONE;
        if (joins(e, op, layout) && emit_hold(e, result)->kind != HOLD_SCALAR) {
            const Type *type = ir_type(e->k, result);
            const Expr *text = elementwise_at(e, op, layout, &place_r);
            Hold hold = *emit_hold(e, result);
            bool read = hold.kind != HOLD_LOCAL || is_read(e, op, last, layout);
            if (read) cs_place(&e->p, op->range);
            if (hold.kind == HOLD_LOCAL && !hold.by) {
                bool here = !read || goes_in_place(e, op, text);
                hold.by = here ? text : cs_ref(&e->p, result);
                emit_set(e, result, HOLD_LOCAL, hold.by);
                if (here) read = false;
            }
            if (read && op != first) purpose_say(e, result);
            if (read && hold.kind == HOLD_LOCAL)
                cs_line(&e->p, "%s %p = %p;", elementwise_type(e, type), hold.by, text);
            else if (read && hold.kind == HOLD_WIDE)
                cs_line(&e->p, "%p[r] = %p;", hold.by, unrounded(e, op, text));
            else if (read)
                cs_line(&e->p, "%p[r] = %p;", hold.by, type->pointer ? text : elementwise_packed(e, type->elem, text));
        }
        if (op == last) break;
    }
    cs_close(&e->p);
    forget_overs(e, first, last);
    for (const Op *op = first; op; op = op->next) {
        if (joins(e, op, layout) && emit_hold(e, op->results[0])->kind == HOLD_LOCAL)
            emit_set(e, op->results[0], HOLD_NONE, NULL);
        if (op == last) break;
    }
}

const Op *elementwise_run(Emit *e, const Op *first) {
    if (aside(e, first)) {
        if (e->uses[first->results[0]]) cs_place(&e->p, first->range);
        elementwise_scalar(e, first);
        return first;
    }
    if (pairs_are(first) || bytes_are(e, first)) {
        cs_place(&e->p, first->range);
        pairs_are(first) ? pairs_emit(e, first) : bytes_emit(e, first);
        return first;
    }
    const Layout *layout = emit_layout(e, first->results[0]);
    const Op *last = first;
    for (const Op *op = first->next; op && op != e->end && (joins(e, op, layout) || aside(e, op)); op = op->next)
        last = op;
    while (aside(e, last)) last = last->previous;
    bool loop = false;
    for (const Op *op = first;; op = op->next) {
        if (aside(e, op)) {
            cs_place(&e->p, op->range);
            elementwise_scalar(e, op);
        } else if (tile_is_number(e->k, op->results[0])) {
            const Expr *args[8] = {0};
            for (int i = 0; i < op->operand_count && i < 8; i++)
                args[i] = op->operands[i] ? emit_is_tile(e, op->operands[i]) ? emit_hold(e, op->operands[i])->by
                                                                             : emit_scalar(e, op->operands[i])
                                          : NULL;
            const Expr *text = is_spread(op) ? args[0] : cs_elementwise(&e->p, op, args);
            const char *name = cs_name(&e->p, op->results[0]);
            purpose_say(e, op->results[0]);
            cs_line(&e->p, "%s %s = %p;", elementwise_type(e, ir_type(e->k, op->results[0])), name, text);
            emit_set_name(e, op->results[0], HOLD_SCALAR, name);
        } else {
            loop = true;
        }
        if (op == last) break;
    }
    if (loop && e->lean) {
        declare_overs(e, first, last); /* for good: a lean kernel has one block */
        lean_put_off(e, first, last);
    } else if (loop)
        write_loop(e, first, last, layout);
    return last;
}
