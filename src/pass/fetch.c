/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c: pass `fetch`, for machines with threads: small loads of a loop are fetched a trip ahead.
 *
 * Tiles come through rings, long before they are needed. What stands beside them (scales of a quantised product,
 * decays, a bias, an entry of a table: a number or one row of them) is loaded by the threads that compute, which wait
 * for memory in every trip, as long as the products of a trip take or longer. So the loop is turned for these loads:
 *
 *     for i { s = tload T, [i] ; acc = acc + dot(..) * s }
 *  -> s0 = if lo < hi { tload T, [lo] } else { 0 }
 *     for i (s = s0) { next = if i + 1 < hi { tload T, [i + 1] } else { 0 } ; acc = acc + dot(..) * s ; yield next }
 *
 * The same where the threads that compute load their tiles some trips ahead (skew): pages and rows that a table names
 * are copied at once, if the trip before has read the table.
 *
 * Nothing is read that the loop would not read, and nothing twice. Taken are loads whose address is made of the loop's
 * variable and of what does not change in it. A load passes no store that could concern it: in a loop that stores, or
 * hands on what others store, it has to lie apart from all that the kernel writes. */
#include "analysis/sums.h"
#include "ir/ringform.h"
#include "ir/roots.h"
#include "ir/tile_layout.h"
#include "pass/fold/fold.h"
#include "pass/layout/layout.h"
#include "pass/pass.h"

enum { MOST_LOADS = 8 }; /* of a loop: more would not fit its registers */

typedef struct Fetch {
    Kernel *k;
    Arena *arena;
    Op *loop;
    Region *body;
    bool *written;   /* by parameter, where the loop stores: what the kernel writes */
    uint8_t *of_any; /* by Ref: 1: is_of_any_trip, 2: and it varies */
    uint8_t *needed; /* by Ref: made in the body for an address that is fetched */
    int64_t room;    /* registers that are left: what is held through a trip products cannot have .. */
    int most;        /* .. and for one load .. */
    int elements;    /* .. of more than a row */
    bool late;       /* Machine.cost.fetch_late */
    int count;
    Op *load[MOST_LOADS];
} Fetch;

typedef enum Act { ACT_NONE, ACT_STORE, ACT_ORDER } Act; /* the later, the less may pass it */

static Act region_act(const Region *region);

static Act later(Act a, Act b) { return a > b ? a : b; }

/* Does the op, or one inside of it, store to memory that a load could read, or wait for someone who may? Hand-overs do
 * not: what a role loads was proved to be there whenever it comes; and what is said of numbers does nothing. */
static Act act_of(const Op *op) {
    bool says = op->code == OP_ASSUME || op->code == OP_REQUIRE;
    Act act = ACT_NONE;
    if (!says && hand_over(op) == HAND_NONE && (op_has(op->code, TRAIT_WRITES) || op_has(op->code, TRAIT_SYNC)))
        act = op->code == OP_STORE || op->code == OP_TSTORE ? ACT_STORE : ACT_ORDER;
    for (int r = 0; r < op->region_count; r++) act = later(act, region_act(op->regions[r]));
    return act;
}

static Act region_act(const Region *region) {
    Act act = ACT_NONE;
    for (const Op *op = region->first; op && act < ACT_ORDER; op = op->next) act = later(act, act_of(op));
    return act;
}

static bool holds(const Region *body, Opcode code) {
    for (const Op *op = body->first; op; op = op->next)
        if (op->code == code) return true;
    return false;
}

/* A loop that loads tiles on the threads that compute with them: what tells it where they lie comes a trip ahead. Warps
 * that only load are ahead already, and their registers few. */
static bool loads_tiles(const Fetch *f) {
    const Op *role = role_around(f->loop);
    return role && role_name(role) == ROLE_LOAD && role_is_guest(role) && holds(f->body, OP_PUT);
}

/* Is the value of any trip there before the trip: made of the loop's variable and of what does not change? */
static bool is_of_any_trip(const Fetch *f, Ref ref, bool *varies) {
    if (!ref_is_value(ref)) return true;
    const Value *value = ir_value(f->k, ref);
    if (!value->op) {
        if (value->region != f->body) return true;
        *varies |= value->index == 0;
        return value->index == 0;
    }
    const Op *op = value->op;
    if (op->parent != f->body) return true;
    if (!f->of_any[ref]) {
        bool own = false;
        if (!op_has(op->code, TRAIT_PURE) || op->region_count || op_has(op->code, TRAIT_READS)) return false;
        for (int i = 0; i < op->operand_count; i++)
            if (!is_of_any_trip(f, op->operands[i], &own)) return false;
        f->of_any[ref] = own ? 2 : 1;
    }
    *varies |= f->of_any[ref] == 2;
    return true;
}

static void need(Fetch *f, Ref ref) {
    const Op *op = ref_is_value(ref) ? ir_value(f->k, ref)->op : NULL;
    if (!op || op->parent != f->body || f->needed[ref]) return;
    for (int i = 0; i < op->result_count; i++) f->needed[op->results[i]] = 1;
    for (int i = 0; i < op->operand_count; i++) need(f, op->operands[i]);
}

/* A number, a row of them, or where it is computed with, a few rows that are not long: what takes few registers. */
static bool is_small(const Fetch *f, Ref value) {
    const Type *type = ir_type(f->k, value);
    const Layout *layout = ir_value(f->k, value)->layout;
    int axes = 0;
    for (int d = 0; d < type->rank; d++) axes += type->extent[d] > 1;
    return !type->pointer && (axes <= 1 || (ty_elements(type) <= f->elements && !loads_tiles(f))) &&
           (!type->rank || (layout && layout->home == HOME_REGISTERS && layout->registers <= f->most));
}

/* What products and what the loop carries leave for what is fetched; the rest is for their operands, places and the
 * arithmetic between. */
static int64_t room_of(const Fetch *f, const Machine *machine) {
    int64_t room = loads_tiles(f) ? machine->cost.ahead_registers : machine->cost.held_registers;
    return room - sum_words(f->k, f->body, SUM_OR_SCALED);
}

/* May the load pass all stores of the kernel? */
static bool passes_stores(const Fetch *f, const Op *load) {
    int count = f->k->body->arg_count;
    if (!f->written) return true;
    bool *read = ARENA_ARRAY(f->arena, bool, (size_t)count + 1);
    if (!roots_of(f->k, f->arena, load->operands[0], read)) return false;
    for (int i = 0; i < count; i++)
        for (int j = 0; read[i] && j < count; j++)
            if (f->written[j] && (i == j || !roots_promised_apart(f->k, f->arena, i, j))) return false;
    return true;
}

/* Copies that the machine makes by itself (`by`) never come into registers, and are ahead already. */
static void consider(Fetch *f, Op *op) {
    bool varies = false;
    int64_t words =
        op->result_count ? layout_words(f->k, op->results[0]) : 0; /* 0: one number, for which there is room */
    if ((op->code != OP_LOAD && op->code != OP_TLOAD) || op_flag(op, AT_VOLATILE) ||
        op_word(op, AT_MOVER, MOVER_LANES) != MOVER_LANES || f->count == MOST_LOADS || !is_small(f, op->results[0]) ||
        (words && words > f->room))
        return;
    const Attr *fill = op_attr(op, AT_FILL);
    for (int i = 0; i < op->operand_count; i++)
        if (!is_of_any_trip(f, op->operands[i], &varies)) return;
    if (!varies || (fill && !is_of_any_trip(f, fill->ref, &varies)) || !passes_stores(f, op)) return;
    for (int i = 0; i < op->operand_count; i++) need(f, op->operands[i]);
    if (fill) need(f, fill->ref);
    f->room -= words;
    f->load[f->count++] = op;
}

static Ref zero_of(Builder *b, const Type *type) {
    const Type *scalar = ty_scalar(b->module, type->elem);
    Ref zero =
        elem_is_float(type->elem) ? ir_literal_float(b->kernel, scalar, 0) : ir_literal_int(b->kernel, scalar, 0);
    return type->rank ? ir_splat(b, zero, type) : zero;
}

/* The loads of that trip, and what their addresses take. */
static void clone_loads(const Fetch *f, Builder *b, Ref trip, Ref *loaded) {
    RefMap map = {.arena = f->arena};
    refmap_set(&map, f->body->args[0], trip);
    for (const Op *op = f->body->first; op; op = op->next)
        if (op->result_count && f->needed[op->results[0]]) ir_clone(b, op, &map);
    for (int i = 0; i < f->count; i++) loaded[i] = ir_clone(b, f->load[i], &map)->results[0];
}

/* values = if condition { the loads of that trip } else { what nobody reads: zeros, or `kept` } */
static void fetch_trip(const Fetch *f, Builder *b, Ref condition, Ref trip, const Ref *kept, Ref *values) {
    const Type *types[MOST_LOADS];
    Ref loaded[MOST_LOADS], others[MOST_LOADS];
    for (int i = 0; i < f->count; i++) types[i] = ir_type(f->k, f->load[i]->results[0]);
    Op *choice = ir_if(b, condition, f->count, types);
    Builder yes = ir_builder_inside(b, choice->regions[0]), no = ir_builder_inside(b, choice->regions[1]);
    clone_loads(f, &yes, trip, loaded);
    for (int i = 0; i < f->count; i++) {
        const Value *old = ir_value(f->k, f->load[i]->results[0]);
        const Layout *layout = old->layout;
        const char *name = old->name;
        others[i] = kept ? kept[i] : zero_of(&no, types[i]);
        values[i] = choice->results[i];
        ir_name(f->k, values[i], name);
        ir_value(f->k, values[i])->layout = layout;
        if (types[i]->rank && !kept) ir_value(f->k, others[i])->layout = layout;
    }
    ir_yield(&yes, loaded, f->count);
    ir_yield(&no, others, f->count);
}

/* A value of the loop that is made again: it has the name and the layout of the old one, and its uses. */
static void stands_for(const Fetch *f, Ref made, Ref old) {
    ir_name(f->k, made, ir_value(f->k, old)->name);
    ir_value(f->k, made)->layout = ir_value(f->k, old)->layout;
    ir_replace_all(f->k, old, made);
}

/* Is there a trip behind the one at i? Where i + step does not fit, there is none: 32 bits are asked in 64, and of
 * 64 the distance to the end, which is more than 0. */
static Ref has_next(Builder *b, Ref i, Ref hi, Ref step) {
    if (elem_info[ir_type(b->kernel, i)->elem].bits == 64) {
        Ref left = ir_cast(b, ir_binary(b, OP_SUB, hi, i), EL_U64);
        return ir_compare(b, CMP_LT, ir_cast(b, step, EL_U64), left);
    }
    Ref wide = ir_binary_as(b, OP_ADD, i, step, EL_I64);
    return ir_compare(b, CMP_LT, wide, ir_cast(b, hi, EL_I64));
}

/* Machines whose waits count loads in the order of their issue: those of the next trip come behind what waits for this
 * trip's, before the last product. */
static void issue_late(Region *body, Op *fetch) {
    Op *dot = body->last;
    while (dot && dot->code != OP_DOT) dot = dot->previous;
    if (dot && fetch->parent == body) ir_move(fetch, body, dot);
}

/* The loop again, with what is fetched carried behind what it carried before. */
static void turn(Fetch *f) {
    Kernel *k = f->k;
    Op *loop = f->loop, *yield = f->body->last;
    Builder b = ir_builder_before(k, loop);
    Ref lo = loop->operands[0], hi = loop->operands[1], step = loop->operands[2];
    int carried = loop->operand_count - 3, all = carried + f->count;
    Ref *values = ARENA_ARRAY(f->arena, Ref, all);
    int64_t from, to;
    for (int i = 0; i < carried; i++) values[i] = loop->operands[3 + i];
    if (ir_const_int(k, lo, &from) && ir_const_int(k, hi, &to) && from < to)
        clone_loads(f, &b, lo, values + carried);
    else
        fetch_trip(f, &b, ir_compare(&b, CMP_LT, lo, hi), lo, NULL, values + carried);
    Op *turned = ir_for(&b, lo, hi, step, values, all, NULL);
    for (int i = 0; i < loop->attr_count; i++) op_set(k, turned, loop->attrs[i]);
    Region *body = turned->regions[0];
    Builder in = ir_builder_inside(&b, body);
    in.range = f->load[0]->range;
    Ref more = has_next(&in, body->args[0], hi, step);
    /* What comes late takes the registers of what was there, which is read by then. */
    for (int i = 0; i < f->count; i++)
        ir_value(k, body->args[1 + carried + i])->layout = ir_value(k, f->load[i]->results[0])->layout;
    fetch_trip(f, &in, more, ir_binary(&in, OP_ADD, body->args[0], step), f->late ? body->args + 1 + carried : NULL,
               values + carried);
    for (int i = 0; i < carried; i++) values[i] = yield->operands[i];
    in.range = yield->range;
    ir_remove(yield);
    ir_yield(&in, values, all);
    for (Op *op = f->body->first, *after; op; op = after) {
        after = op->next;
        ir_move(op, body, body->last);
    }
    for (int i = 0; i <= carried; i++) stands_for(f, body->args[i], f->body->args[i]);
    for (int i = 0; i < carried; i++) stands_for(f, turned->results[i], loop->results[i]);
    for (int i = 0; i < f->count; i++) {
        Ref old = f->load[i]->results[0];
        ir_value(k, turned->results[carried + i])->layout = ir_value(k, old)->layout;
        stands_for(f, body->args[1 + carried + i], old);
        ir_remove(f->load[i]);
    }
    if (f->late) issue_late(body, ir_value(k, values[carried])->op);
    ir_remove(loop);
}

/* Are there hand-overs under conditions or in loops of the body? Those of both sides are proved to be the same, by the
 * numbers that they are made of, which therefore stay as they are. */
static bool hands_over_inside(const Region *body) {
    for (const Op *op = body->first; op; op = op->next)
        if (op->region_count && hands_over(op)) return true;
    return false;
}

/* A loop that puts, puts into rings that are stored. */
static bool takes_loop(Fetch *f) {
    bool computes = holds(f->body, OP_DOT), puts = computes && holds(f->body, OP_PUT);
    Act act = act_of(f->loop);
    int64_t step;
    if (!ir_const_int(f->k, f->loop->operands[2], &step) || step <= 0 || (!computes && !loads_tiles(f)) ||
        hands_over_inside(f->body))
        return false;
    if (puts && act == ACT_NONE) act = region_act(f->k->body);
    if (act == ACT_NONE) return true;
    f->written = ARENA_ARRAY(f->arena, bool, (size_t)f->k->body->arg_count + 1);
    return act == ACT_STORE && roots_written(f->k, f->arena, f->written);
}

bool pass_fetch(PassContext *cx, Kernel *k) {
    if (!cx->machine->has_threads || k->form >= FORM_SCHEDULE) return false;
    FoundOps loops = ir_list(k->body, OP_FOR, cx->scratch);
    bool changed = false;
    while (loops.count) { /* inner loops first: the outer one is made of them */
        Op *loop = loops.at[--loops.count];
        Fetch f = {.k = k, .arena = cx->scratch, .loop = loop, .body = loop->regions[0]};
        if (!takes_loop(&f)) continue;
        f.of_any = ARENA_ARRAY(cx->scratch, uint8_t, k->values.count);
        f.needed = ARENA_ARRAY(cx->scratch, uint8_t, k->values.count);
        f.most = cx->machine->cost.fetch_registers;
        f.elements = cx->machine->cost.fetch_elements;
        f.late = cx->machine->cost.fetch_late;
        f.room = room_of(&f, cx->machine);
        for (Op *op = f.body->first; op; op = op->next) consider(&f, op);
        if (!f.count) continue;
        for (int i = 0; i < f.count; i++) pass_find(cx, f.load[i]->range, FIND_LOAD_FETCHED);
        turn(&f);
        changed = true;
    }
    if (!changed) return false;
    fold_sweep(k, cx->scratch); /* the old addresses */
    layout_hold_less(k);        /* what a loop carries is held element by element */
    return true;
}
