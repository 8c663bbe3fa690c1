/* SPDX-License-Identifier: Apache-2.0 */
/* simt_ring.c: rings whose producer and consumer are the same threads: slots in shared memory, without barriers of
 * their own.
 *
 * One of one slot is a buffer between two barriers of the group. One whose producer runs ahead (simt_skew.c) counts
 * the slots of its puts and of its gets:
 *
 *     const u32 in_slot = in_put;  in_put = in_put == 2 ? 0 : in_put + 1; */
#include "target/simt/simt_ring.h"

bool ring_is(const Op *op) {
    switch (op->code) {
    case OP_RING:
    case OP_ROLE:
    case OP_ACQUIRE:
    case OP_COMMIT:
    case OP_PUT:
    case OP_WAIT:
    case OP_RELEASE:
    case OP_GET: return true;
    default: return false;
    }
}

RingPlan *ring_find(Emit *e, Ref ring) {
    for (size_t i = 0; i < e->rings.count; i++)
        if (e->rings.at[i].ring == ring) return &e->rings.at[i];
    ice(e->k->module->trap, "simt: a ring without a plan");
}

RingPlan *ring_of_slot(Emit *e, Ref slot) { return ring_find(e, ir_value(e->k, slot)->op->operands[0]); }

const Expr *ring_field_at(Emit *e, const RingPlan *ring, int field, const Expr *slot) {
    if (ring->slots == 1 && !ring->each) return ex_name(e->arena, ring->field_name[field]);
    return ex(e->arena, "(%s + %p * %s)", ring->field_name[field], slot, ring->bytes_name);
}

/* --- the schedule --- */
/* Of a ring with one put, that. */
static const Op *put_of(Emit *e, const Region *region, Ref ring) {
    const Op *put = NULL;
    for (const Op *op = region->first; op && !put; op = op->next) {
        if (op->code == OP_PUT && hand_ring(e->k, op) == ring) return op;
        for (int i = 0; i < op->region_count && !put; i++) put = put_of(e, op->regions[i], ring);
    }
    return put;
}

static void read_ring(Emit *e, const Op *op) {
    RingPlan r = {.ring = op->results[0], .slots = (int)op_int(op, AT_SLOTS, 1), .hold = (int)op_int(op, AT_HOLD, 1)};
    const Type *type = ir_type(e->k, r.ring);
    Word means = op_word(op, AT_MEANS, MEANS_TMA);
    /* A ring of one loaded tile is called after it, as the source calls that: ring_q_full. */
    r.of_tile = type->field_count == 1 && ring_producer(op) == ROLE_LOAD;
    r.name = r.of_tile ? cs_fresh(&e->p, arena_printf(e->arena, "ring_%s", type->fields[0].name))
                       : cs_name(&e->p, r.ring);
    r.offset = op_int(op, AT_AT, 0);
    r.slot_bytes = op_int(op, AT_SLOT_BYTES, 0);
    r.skewed = means == MEANS_ASYNC;
    r.shows = op_attr(op, AT_PROXY);
    r.fused = r.skewed || means == MEANS_BUFFER;
    for (int i = 0; i < type->field_count; i++) {
        r.field[i] = *layout_field(e->k, r.ring, i);
        r.field_offset[i] = op_attr(op, AT_FIELDS)->list.at[i];
    }
    if (!r.fused) {
        const int64_t *at = op_attr(op, AT_BARRIERS)->list.at, *count = op_attr(op, AT_COUNTS)->list.at;
        r.full = at[0], r.empty = at[1];
        r.full_count = (int)count[0], r.empty_count = (int)count[1];
    }
    r.parts = (int)op_int(op, AT_PARTS, 0);
    r.solo = (int)op_int(op, AT_SOLO, 0);
    if (r.parts || r.solo) r.part = put_of(e, e->k->body, r.ring);
    r.shared = op_flag(op, AT_PAIRED);
    r.each = op_flag(op, AT_EACH);
    r.by_lane = op_flag(op, AT_LANES);
    *VEC_PUSH(&e->rings, e->arena) = r;
}

/* What its parts are called in the text. */
static void name_ring(Emit *e, RingPlan *r) {
    const Type *type = ir_type(e->k, r->ring);
    for (int i = 0; i < type->field_count; i++)
        r->field_name[i] = cs_fresh(&e->p, arena_printf(e->arena, "%s_%s", r->name,
                                                        r->of_tile ? "at" : type->fields[i].name));
    r->bytes_name = cs_fresh(&e->p, arena_printf(e->arena, "%s_bytes", r->name));
    r->full_name = cs_fresh(&e->p, arena_printf(e->arena, "%s_full", r->name));
    r->empty_name = cs_fresh(&e->p, arena_printf(e->arena, "%s_empty", r->name));
}

void ring_read(Emit *e) {
    for (const Op *op = e->k->body->first; op; op = op->next)
        if (op->code == OP_RING) read_ring(e, op);
    for (size_t i = 0; i < e->rings.count; i++) name_ring(e, &e->rings.at[i]);
}

/* --- counters --- */
/* Names of the role's counters: slot and phase of the next item. */
const char *ring_counter(Emit *e, const RingPlan *r, const char *what) {
    return arena_printf(e->arena, "%s_%s", r->name, what);
}

const Op *ring_op_of(Emit *e, const RingPlan *r) { return ir_value(e->k, r->ring)->op; }


void ring_slots_begin(Emit *e, const Op *role) {
    for (size_t i = 0; i < e->rings.count; i++) {
        const RingPlan *r = &e->rings.at[i];
        if (!r->skewed || r->slots == 1 || ring_consumer(ring_op_of(e, r)) != role_name(role)) continue;
        cs_note(&e->p, "of each ring: the slot that is filled next, and the one that is read next");
        cs_line(&e->p, "u32 %s = 0, %s = 0;", ring_counter(e, r, "put"), ring_counter(e, r, "get"));
    }
}

const char *ring_execution(Emit *e) {
    const char *text = NULL;
    for (size_t i = 0; i < e->rings.count; i++)
        if (e->rings.at[i].skewed)
            text = arena_printf(e->k->module->arena, "skew %d", e->rings.at[i].slots - e->rings.at[i].hold);
    return text;
}

/* --- where it lies --- */
static const Expr *constant(Emit *e, const char *name, int64_t value) {
    return ex_atom(e->arena, arena_printf(e->arena, "%s = %lld", name, (long long)value));
}

/* Where everything lies in shared memory, as constants. */
void ring_constants(Emit *e) {
    if (e->rings.count)
        cs_line(&e->p, "// where tiles and barriers (a slot is full, is empty) of the rings lie in shared memory; "
                       "bytes of a slot");
    for (size_t i = 0; i < e->rings.count; i++) {
        const RingPlan *r = &e->rings.at[i];
        const Type *type = ir_type(e->k, r->ring);
        const Expr *all[MAX_RING_FIELDS + 3];
        int count = 0;
        for (int f = 0; f < type->field_count; f++)
            all[count++] = constant(e, r->field_name[f], r->offset + r->field_offset[f]);
        if (r->slots > 1 || r->each) all[count++] = constant(e, r->bytes_name, r->slot_bytes);
        if (!r->fused)
            all[count++] = constant(e, r->full_name, r->full), all[count++] = constant(e, r->empty_name, r->empty);
        if (count)
            cs_line(&e->p, "const u32 %p; // %s%s, %d slot%s", ex_list(e->arena, all, count), r->of_tile ? "" : "ring ",
                    r->name, r->slots, r->slots == 1 ? "" : "s");
    }
}

/* Without barriers there are no phases: the slots of the next put and of the next get. */
static void take_skewed(Emit *e, const RingPlan *r, Ref slot, const char *side) {
    const Expr *number = &expr_zero;
    const char *next = ring_counter(e, r, side);
    if (r->slots > 1) {
        number = ex_name(e->arena, cs_fresh(&e->p, arena_printf(e->arena, "%s_slot", r->name)));
        cs_note(&e->p, "the next slot of %s to be %s", r->name, *side == 'p' ? "filled" : "read");
        cs_line(&e->p, "const u32 %p = %s;", number, next);
        cs_line(&e->p, "%s = %s == %d ? 0 : %s + 1;", next, next, r->slots - 1, next);
    }
    emit_set(e, slot, HOLD_SLOT, number);
}

/* --- hand-overs --- */
void ring_put(Emit *e, const Op *put) {
    RingPlan *r = ring_of_slot(e, put->operands[0]);
    Ref value = op_operand(put, 1);
    const Layout *layout = emit_layout(e, value);
    const SharedTile *tile = &r->field[hand_field(put)];
    const Expr *at = ring_field_at(e, r, hand_field(put), emit_hold(e, put->operands[0])->by);
    if (layout_put_mover(e->k, put) == MOVER_ASYNC) {
        copy_emit(e, put, tile, at);
        return;
    }
    if (op_flag(put, AT_LATE) && skew_keep(e, put, at)) return;
    sync_before(e, put);
    if (layout) {
        shared_store_tile(e, put, value, tile, at);
        return;
    }
    cs_open(&e->p, "if (warp == 0 && lane == 0)");
    Elem elem = ir_type(e->k, value)->elem;
    cs_line(&e->p, "const %s word = %p;", cs_memory_type(elem), cs_pack(&e->p, elem, emit_scalar(e, value)));
    cs_line(&e->p, "tw_sts(1, %p, &word);", at);
    cs_close(&e->p);
}

void ring_get(Emit *e, const Op *op) {
    RingPlan *r = ring_of_slot(e, op->operands[0]);
    int field = hand_field(op);
    const Expr *at = ring_field_at(e, r, field, emit_hold(e, op->operands[0])->by);
    Ref result = op->results[0];
    const Layout *layout = emit_layout(e, result);
    sync_before(e, op);
    if (layout && layout->home == HOME_SHARED) {
        emit_set(e, result, HOLD_SHARED, at);
        return;
    }
    if (layout) {
        shared_load_tile(e, op, &r->field[field], at);
        return;
    }
    const Type *type = ir_type(e->k, result);
    const char *name = cs_name(&e->p, result), *raw = cs_fresh(&e->p, "raw");
    cs_line(&e->p, "%s %s;", cs_memory_type(type->elem), raw);
    cs_line(&e->p, "tw_lds(1, &%s, %p);", raw, at);
    cs_line(&e->p, "const %s %s = %p;", cs_value_type(&e->p, type), name,
            cs_unpack(&e->p, type->elem, ex_name(e->arena, raw)));
    emit_set_name(e, result, HOLD_SCALAR, name);
}

bool ring_by_threads(Emit *e, const Op *op) {
    if (op->code == OP_RING || op->code == OP_ROLE) return true; /* planned */
    const RingPlan *r = ring_find(e, hand_ring(e->k, op));
    if (!r->fused || r->parts || r->solo || r->each) return false;
    switch (op->code) {
    case OP_ACQUIRE:
        if (r->skewed)
            take_skewed(e, r, op->results[0], "put");
        else
            emit_set(e, op->results[0], HOLD_SLOT, &expr_zero);
        return true;
    case OP_PUT:
        if (op->list_count[0])
            emit_refuse(e, op, "a put of part of a field");
        else
            ring_put(e, op);
        return true;
    case OP_WAIT:
        if (r->skewed) {
            skew_catch_up(e, op);
            take_skewed(e, r, op->results[0], "get");
        } else {
            emit_set(e, op->results[0], HOLD_SLOT, &expr_zero);
        }
        return true;
    case OP_GET: ring_get(e, op); return true;
    case OP_COMMIT:
    case OP_RELEASE: return true;
    default: return false;
    }
}
