/* cuda_ring.c: ring form on the device: tasks, roles, and rings as mbarriers in shared memory.
 *
 * Every role is a branch of the block: compute on the first warps, each of the others on a
 * warpgroup of its own, unless the plan runs it `on` another role. A ring is N slots and two
 * barriers a slot. The producer waits for empty, writes (TMA: one thread announces the bytes and
 * issues the copies), and full is complete when all has landed; the consumer waits for full, reads,
 * and one lane of each of its warps arrives at empty. Slot and phase go on counting from task to
 * task. Behind a dot in flight the release comes one item late (hold = 2):
 *
 *     in: wait full[s]; wgmma .. ; wait for the group before; release the slot before
 *
 * A ring between roles that run on the same threads is a buffer between two barriers of the group.
 */
#include "target/cuda/cuda_emit.h"

#include <string.h>

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
    ice(e->k->module->trap, "cuda: a ring without a plan");
}

static RingPlan *ring_of_slot(Emit *e, Ref slot) {
    return ring_find(e, ir_value(e->k, slot)->op->operands[0]);
}

static int field_index(Emit *e, const RingPlan *ring, const char *name) {
    const Type *type = ir_type(e->k, ring->ring);
    int i = 0;
    while (strcmp(type->fields[i].name, name) != 0) i++;
    return i;
}

static const char *field_at(Emit *e, const RingPlan *ring, int field, const char *slot) {
    long long base = ring->offset + ring->field_offset[field];
    if (ring->slots == 1) return arena_printf(e->arena, "%lld", base);
    return arena_printf(e->arena, "(%lld + %s * %lld)", base, slot, (long long)ring->slot_bytes);
}

static const char *barrier(Emit *e, int64_t base, const char *slot) {
    return arena_printf(e->arena, "%lld + %s * 8", (long long)base, slot);
}

/* --- the plan --- */
static Region *tasks_body(const Op *tasks) {
    return tasks->regions[tasks->region_count - 1];
}

static const Op *find_role(const Op *tasks, const char *name) {
    for (const Op *op = tasks_body(tasks)->first; op && name; op = op->next)
        if (op->code == OP_ROLE && strcmp(op_text(op, AT_FIELD), name) == 0) return op;
    return NULL;
}

static void count_puts(Emit *e, const Region *region, RingPlan *ring, int *stores) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_PUT && ir_value(e->k, op->operands[0])->op->operands[0] == ring->ring) {
            const Layout *layout = emit_layout(e, op_operand(op, 1));
            const SharedTile *tile = &ring->field[field_index(e, ring, op_text(op, AT_FIELD))];
            if (layout && layout->home == HOME_SHARED)
                ring->tma_bytes +=
                    tile->rows * tile->width *
                    ((tile->columns * tile->elem_bytes + tile->width - 1) / tile->width);
            else
                ++*stores;
        }
        for (int i = 0; i < op->region_count; i++) count_puts(e, op->regions[i], ring, stores);
    }
}

/* Is a field of the ring stored by TMA? */
static bool stores_by_tma(Emit *e, const Region *region, Ref ring) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_TSTORE) {
            Ref value = op_operand(op, 1);
            const Layout *layout = emit_layout(e, value);
            const Op *get = ref_is_value(value) ? ir_value(e->k, value)->op : NULL;
            if (layout && layout->home == HOME_SHARED &&
                ir_value(e->k, get->operands[0])->op->operands[0] == ring)
                return true;
        }
        for (int i = 0; i < op->region_count; i++)
            if (stores_by_tma(e, op->regions[i], ring)) return true;
    }
    return false;
}

static void plan_ring(Emit *e, const Op *op, const Op *tasks) {
    RingPlan r = {.ring = op->results[0],
                  .slots = (int)op_int(op, AT_SLOTS, 1),
                  .hold = (int)op_int(op, AT_HOLD, 1)};
    const Type *type = ir_type(e->k, r.ring);
    r.name = cs_name(&e->p, r.ring);
    if (type->field_count > 16) {
        emit_refuse(e, op, "a ring of more than 16 fields");
        return;
    }
    r.offset = (e->shared_bytes + 1023) / 1024 * 1024;
    for (int i = 0; i < type->field_count; i++) {
        r.field[i] = layout_field(e->cx, e->k, r.ring, type->fields[i].name);
        r.field_offset[i] = r.slot_bytes;
        r.slot_bytes += r.field[i].bytes;
    }
    const Op *from = find_role(tasks, op_text(op, AT_FROM)),
             *to = find_role(tasks, op_text(op, AT_TO));
    if (!from || !to) {
        emit_refuse(e, op, "a ring whose roles are not named");
        return;
    }
    ThreadGroup producer = layout_group(e->cx, e->k, from),
                consumer = layout_group(e->cx, e->k, to);
    r.fused = producer.first_warp == consumer.first_warp;
    r.skewed = r.fused && op_attr(from, AT_ON);
    if (r.fused && !r.skewed) r.slots = 1;
    int stores = 0;
    count_puts(e, from->regions[0], &r, &stores);
    r.full_count = stores ? 32 * producer.warps : 1;
    r.empty_count = consumer.warps;
    r.tma_store = stores_by_tma(e, to->regions[0], r.ring);
    e->shared_bytes = r.offset + r.slot_bytes * r.slots;
    *VEC_PUSH(&e->rings, e->arena) = r;
    pass_find(e->cx, op->range, "ring", "%d slot%s of %lld bytes at %lld, %s", r.slots,
              r.slots == 1 ? "" : "s", (long long)r.slot_bytes, (long long)r.offset,
              r.skewed      ? "by cp.async, ahead"
              : r.fused     ? "a buffer of one role"
              : r.tma_bytes ? stores ? "by TMA and stores" : "by TMA"
                            : "by stores");
}

void ring_plan(Emit *e) {
    const Op *tasks = e->k->body->first;
    while (tasks->code != OP_TASKS) tasks = tasks->next;
    for (const Op *op = e->k->body->first; op; op = op->next)
        if (op->code == OP_RING) plan_ring(e, op, tasks);
    for (size_t i = 0; i < e->rings.count; i++) {
        RingPlan *r = &e->rings.at[i];
        if (r->fused) continue;
        r->full = e->shared_bytes;
        r->empty = r->full + 8 * r->slots;
        e->shared_bytes = r->empty + 8 * r->slots;
    }
}

/* --- TMA --- */
typedef struct Panels {
    int map;
    int count, per; /* panels, elements in a row of one */
    const char *coord[CUDA_MAX_RANK];
    int rank;
} Panels;

/* The place of a number among those that the launcher computes. */
static int wanted(Emit *e, Ref value) {
    for (size_t i = 0; i < e->plan->wanted.count; i++)
        if (e->plan->wanted.at[i] == value) return (int)i;
    *VEC_PUSH(&e->plan->wanted, e->k->module->arena) = value;
    return (int)e->plan->wanted.count - 1;
}

/* The tensor map of an access (made on the first look) and the coordinates of its box. */
static Panels panels_of(Emit *e, const Op *op, const Type *box, const SharedTile *tile) {
    Panels p = {.per = tile->width / tile->elem_bytes};
    p.count = (int)((tile->columns + p.per - 1) / p.per);
    RefList offsets = op_list(op, 0);
    TensorParts parts = fact_tensor(&e->facts, op->operands[0]);
    Arena *arena = e->k->module->arena;
    CudaMap map = {.elem = box->elem,
                   .rank = parts.rank,
                   .swizzle = tile->width,
                   .base = wanted(e, parts.base)};
    for (int i = 0; i < parts.rank; i++) {
        int d = parts.rank - 1 - i, t = layout_tile_dim(op, parts.rank, 2, d);
        map.extent[i] = wanted(e, parts.extent[d]);
        map.stride[i] = wanted(e, parts.stride[d]);
        map.box[i] = t == 1 ? p.per : t == 0 ? (int)box->extent[0] : 1;
        p.coord[i] = arena_printf(e->arena, "(i32)%s", emit_scalar(e, offsets.at[d]));
    }
    p.rank = parts.rank;
    MapEntry *entry = map_find_number(&e->map_of, (uintptr_t)op);
    if (entry) {
        p.map = (int)(uintptr_t)entry->value;
        return p;
    }
    p.map = (int)e->plan->maps.count;
    *VEC_PUSH(&e->plan->maps, arena) = map;
    map_put_number(&e->map_of, e->arena, (uintptr_t)op, (void *)(uintptr_t)p.map);
    return p;
}

static const char *coordinates(Emit *e, const Panels *p, int panel) {
    Text t = text_new(e->arena);
    for (int i = 0; i < p->rank; i++) {
        text_add(&t, "%s%s", i ? ", " : "", p->coord[i]);
        if (i == 0 && panel) text_add(&t, " + %d", panel * p->per);
    }
    return t.at;
}

static const char *plus(Emit *e, const char *offset, int64_t bytes) {
    return bytes ? arena_printf(e->arena, "%s + %lld", offset, (long long)bytes) : offset;
}

static void load_by_tma(Emit *e, const Op *load, const SharedTile *tile, const char *offset,
                        const char *full) {
    Panels p = panels_of(e, load, ir_type(e->k, load->results[0]), tile);
    for (int i = 0; i < p.count; i++)
        cs_line(&e->p, "tw_tma_load_%dd(%s, &map%d, %s, %s);", p.rank,
                plus(e, offset, i * tile->panel), p.map, coordinates(e, &p, i), full);
    pass_find(e->cx, load->range, "load", "by TMA, %d box%s of %d bytes a row", p.count,
              p.count == 1 ? "" : "es", tile->width);
}

static void store_by_tma(Emit *e, const Op *store) {
    Ref value = op_operand(store, 1);
    const SharedTile *tile = &emit_layout(e, value)->tile;
    const char *offset = emit_hold(e, value)->text;
    Panels p = panels_of(e, store, ir_type(e->k, value), tile);
    cs_open(&e->p, "if (warp == 0 && lane == 0)");
    for (int i = 0; i < p.count; i++)
        cs_line(&e->p, "tw_tma_store_%dd(&map%d, %s, %s);", p.rank, p.map, coordinates(e, &p, i),
                plus(e, offset, i * tile->panel));
    cs_line(&e->p, "tw_bulk_commit();");
    cs_close(&e->p);
    e->bulk_pending = e->bulk_issued = true;
    pass_find(e->cx, store->range, "store", "by TMA, %d box%s of %d bytes a row", p.count,
              p.count == 1 ? "" : "es", tile->width);
}

/* --- hand-overs --- */
/* Names of the role's counters: slot and phase of the next item. */
static const char *counter(Emit *e, const RingPlan *r, const char *what) {
    return arena_printf(e->arena, "%s_%s", r->name, what);
}

static void advance(Emit *e, const RingPlan *r) {
    if (r->slots == 1) {
        cs_line(&e->p, "%s ^= 1;", counter(e, r, "phase"));
        return;
    }
    cs_open(&e->p, "if (++%s == %d)", counter(e, r, "next"), r->slots);
    cs_line(&e->p, "%s = 0;", counter(e, r, "next"));
    cs_line(&e->p, "%s ^= 1;", counter(e, r, "phase"));
    cs_close(&e->p);
}

/* The number of the slot of this item, kept for as long as the role holds it. */
static const char *take_slot(Emit *e, const RingPlan *r, Ref slot) {
    const char *name = "0";
    if (r->slots > 1) {
        name = cs_fresh(&e->p, arena_printf(e->arena, "%s_slot", r->name));
        cs_line(&e->p, "const u32 %s = %s;", name, counter(e, r, "next"));
    }
    emit_set(e, slot, HOLD_SLOT, name);
    return name;
}

/* Without barriers there are no phases: the slots of the next put and of the next get. */
static void take_skewed(Emit *e, const RingPlan *r, Ref slot, const char *side) {
    const char *name = "0", *next = counter(e, r, side);
    if (r->slots > 1) {
        name = cs_fresh(&e->p, arena_printf(e->arena, "%s_slot", r->name));
        cs_line(&e->p, "const u32 %s = %s;", name, next);
        cs_line(&e->p, "%s = %s == %d ? 0 : %s + 1;", next, next, r->slots - 1, next);
    }
    emit_set(e, slot, HOLD_SLOT, name);
}

static void emit_acquire(Emit *e, const Op *op) {
    RingPlan *r = ring_find(e, op->operands[0]);
    if (r->skewed) {
        take_skewed(e, r, op->results[0], "put");
        return;
    }
    if (r->fused) {
        emit_set(e, op->results[0], HOLD_SLOT, "0");
        if (r->tma_store && e->persist) { /* the store of the last task may still read the buffer */
            cs_line(&e->p, "if (warp == 0 && lane == 0) tw_bulk_wait_read<0>();");
            e->reads_pending = true;
        }
        return;
    }
    const char *slot = take_slot(e, r, op->results[0]);
    cs_line(&e->p, "tw_mbar_wait(%s, %s ^ 1);", barrier(e, r->empty, slot), counter(e, r, "phase"));
    if (r->tma_bytes && r->full_count == 1)
        cs_line(&e->p, "tw_mbar_arrive_expect(%s, %lld);", barrier(e, r->full, slot),
                (long long)r->tma_bytes);
    else if (r->tma_bytes) /* it arrives with the others, behind its own stores */
        cs_line(&e->p, "if (warp == 0 && lane == 0) tw_mbar_expect(%s, %lld);",
                barrier(e, r->full, slot), (long long)r->tma_bytes);
    advance(e, r);
}

static void emit_put(Emit *e, const Op *op) {
    RingPlan *r = ring_of_slot(e, op->operands[0]);
    const char *slot = emit_hold(e, op->operands[0])->text;
    int field = field_index(e, r, op_text(op, AT_FIELD));
    const char *at = field_at(e, r, field, slot);
    Ref value = op_operand(op, 1);
    const Layout *layout = emit_layout(e, value);
    if (op->list_count[0]) {
        emit_refuse(e, op, "a put of part of a field");
        return;
    }
    if (layout && layout->home == HOME_SHARED) {
        bool all = r->full_count == 1;
        if (!all) cs_open(&e->p, "if (warp == 0 && lane == 0)");
        load_by_tma(e, ir_value(e->k, value)->op, &r->field[field], at, barrier(e, r->full, slot));
        if (!all) cs_close(&e->p);
        return;
    }
    if (r->skewed && memory_defers(e, value)) {
        memory_copy(e, ir_value(e->k, value)->op, &r->field[field], at);
        return;
    }
    if (r->fused && !r->skewed) shared_before_write(e);
    if (layout) {
        shared_store_tile(e, value, &r->field[field], at);
    } else {
        cs_open(&e->p, "if (warp == 0 && lane == 0)");
        Elem elem = ir_type(e->k, value)->elem;
        cs_line(&e->p, "const %s out = %s;", cs_memory_type(elem),
                cs_pack(&e->p, elem, emit_scalar(e, value)));
        cs_line(&e->p, "tw_sts<1>(%s, &out);", at);
        cs_close(&e->p);
    }
    if (r->fused) e->async_pending = true;
}

static void emit_commit(Emit *e, const Op *op) {
    RingPlan *r = ring_find(e, op->operands[0]);
    if (r->fused || r->full_count == 1) return;
    const char *full = barrier(e, r->full, emit_hold(e, op->operands[1])->text);
    cs_line(&e->p, "tw_fence_async();");
    cs_line(&e->p, "tw_mbar_arrive(%s);", full);
}

static void emit_wait(Emit *e, const Op *op) {
    RingPlan *r = ring_find(e, op->operands[0]);
    if (r->skewed) {
        skew_catch_up(e, op);
        take_skewed(e, r, op->results[0], "get");
        return;
    }
    if (r->fused) {
        emit_set(e, op->results[0], HOLD_SLOT, "0");
        return;
    }
    const char *slot = take_slot(e, r, op->results[0]);
    cs_line(&e->p, "tw_mbar_wait(%s, %s);", barrier(e, r->full, slot), counter(e, r, "phase"));
    advance(e, r);
}

static void emit_get(Emit *e, const Op *op) {
    RingPlan *r = ring_of_slot(e, op->operands[0]);
    int field = field_index(e, r, op_text(op, AT_FIELD));
    const char *at = field_at(e, r, field, emit_hold(e, op->operands[0])->text);
    Ref result = op->results[0];
    const Layout *layout = emit_layout(e, result);
    if (r->fused && !r->skewed) shared_before_read(e);
    if (layout && layout->home == HOME_SHARED) {
        emit_set(e, result, HOLD_SHARED, at);
        return;
    }
    if (layout) {
        shared_load_tile(e, result, &r->field[field], at);
        return;
    }
    const Type *type = ir_type(e->k, result);
    const char *name = cs_name(&e->p, result), *raw = cs_fresh(&e->p, "raw");
    cs_line(&e->p, "%s %s;", cs_memory_type(type->elem), raw);
    cs_line(&e->p, "tw_lds<1>(&%s, %s);", raw, at);
    cs_line(&e->p, "const %s %s = %s;", cs_value_type(&e->p, type), name,
            cs_unpack(&e->p, type->elem, raw));
    emit_set(e, result, HOLD_SCALAR, name);
}

/* Are all reads of the slot done by wgmma (or TMA), so that no lane has to wait for another? */
static bool reads_by_async(Emit *e, const Region *region, Ref slot) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_GET && op->operands[0] == slot) {
            const Layout *layout = emit_layout(e, op->results[0]);
            if (!layout || layout->home != HOME_SHARED) return false;
        }
        if (op->code == OP_DOT && layout_dot_instr(e->cx, e->k, op) != INSTR_WGMMA) return false;
        for (int i = 0; i < op->region_count; i++)
            if (!reads_by_async(e, op->regions[i], slot)) return false;
    }
    return true;
}

static void emit_release(Emit *e, const Op *op) {
    RingPlan *r = ring_find(e, op->operands[0]);
    Ref slot = op->operands[1];
    if (r->fused) return;
    const char *text = emit_hold(e, slot)->text;
    if (e->late && op == e->late_release) {
        /* The dot of this item is in flight; that of the item before is done. */
        cs_line(&e->p, "tw_wgmma_wait<1>();");
        cs_line(&e->p, "if (%s >= 0 && lane == 0) tw_mbar_arrive(%s);", e->late,
                barrier(e, r->empty, e->late));
        cs_line(&e->p, "%s = (i32)%s;", e->late, text);
        return;
    }
    if (e->bulk_pending) {
        cs_line(&e->p, "if (warp == 0 && lane == 0) tw_bulk_wait_read<0>();");
        shared_sync(e);
        e->bulk_pending = false;
    }
    if (!reads_by_async(e, e->role->regions[0], slot)) {
        cs_line(&e->p, "tw_fence_async();");
        cs_line(&e->p, "tw_sync_warp();");
    }
    cs_line(&e->p, "if (lane == 0) tw_mbar_arrive(%s);", barrier(e, r->empty, text));
}

void ring_op(Emit *e, const Op *op) {
    switch (op->code) {
    case OP_ACQUIRE: emit_acquire(e, op); return;
    case OP_PUT: emit_put(e, op); return;
    case OP_COMMIT: emit_commit(e, op); return;
    case OP_WAIT: emit_wait(e, op); return;
    case OP_GET: emit_get(e, op); return;
    case OP_RELEASE: emit_release(e, op); return;
    case OP_TSTORE: store_by_tma(e, op); return;
    default: return; /* RING, ROLE: planned */
    }
}

/* --- dots in flight --- */
/* A loop whose only dot feeds its own accumulator, with the release of its operands behind it: the
 * dot may stay in flight while the next item is waited for. */
const Op *ring_late_release(Emit *e, const Op *loop) {
    const Op *dot = NULL, *release = NULL;
    if (!e->role || loop->code != OP_FOR) return NULL;
    for (const Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->region_count) return NULL;
        if (op->code == OP_DOT) {
            if (dot) return NULL;
            dot = op;
        } else if (op->code == OP_RELEASE) {
            if (release || !dot) return NULL;
            release = op;
        } else if (dot && op->code != OP_YIELD &&
                   emit_is_tile(e, op->result_count ? op->results[0] : REF_NONE)) {
            return NULL; /* something computes while the dot runs: it may read the accumulator */
        }
    }
    if (!dot || !release || !dot_is_async(e, dot) || ring_find(e, release->operands[0])->hold < 2)
        return NULL;
    const Op *yield = loop->regions[0]->last;
    for (int i = 0; i < yield->operand_count; i++)
        if (yield->operands[i] == dot->results[0])
            return dot->operands[2] == loop->regions[0]->args[i + 1] &&
                           e->uses[dot->results[0]] == 1 && e->uses[dot->operands[2]] == 1
                       ? release
                       : NULL;
    return NULL;
}

void ring_end_late(Emit *e, const Op *release, const char *accumulator) {
    RingPlan *r = ring_find(e, release->operands[0]);
    cs_line(&e->p, "tw_wgmma_wait<0>(%s);", accumulator);
    cs_line(&e->p, "if (%s >= 0 && lane == 0) tw_mbar_arrive(%s);", e->late,
            barrier(e, r->empty, e->late));
}

/* --- tasks and roles --- */
static void write_barriers(Emit *e) {
    bool any = false;
    for (size_t i = 0; i < e->rings.count; i++) any |= !e->rings.at[i].fused;
    if (!any) return;
    cs_open(&e->p, "if (tw_thread() == 0)");
    for (size_t i = 0; i < e->rings.count; i++) {
        const RingPlan *r = &e->rings.at[i];
        if (r->fused) continue;
        cs_open(&e->p, "for (int i = 0; i < %d; i++)", r->slots);
        cs_line(&e->p, "tw_mbar_init(%lld + i * 8, %d); // %s: full", (long long)r->full,
                r->full_count, r->name);
        cs_line(&e->p, "tw_mbar_init(%lld + i * 8, %d); // %s: empty", (long long)r->empty,
                r->empty_count, r->name);
        cs_close(&e->p);
    }
    cs_line(&e->p, "tw_fence_mbar_init();");
    cs_close(&e->p);
    cs_line(&e->p, "tw_sync();");
}

/* The indices of a task from its number. */
static void write_decode(Emit *e, const Op *tasks) {
    Region *body = tasks_body(tasks);
    int count = body->arg_count;
    Word order = op_word(tasks, AT_ORDER, ORDER_CODE);
    const char *number = "task";
    if (order == ORDER_LONGEST) {
        number = cs_fresh(&e->p, "last_first");
        cs_line(&e->p, "const i32 %s = tasks - 1 - task;", number);
    }
    if (order == ORDER_GROUPED && count == 2) {
        int64_t rows = op_int(tasks, AT_GROUP, 8);
        const char *m = cs_name(&e->p, body->args[0]), *n = cs_name(&e->p, body->args[1]);
        const char *height = emit_scalar(e, tasks->operands[0]),
                   *width = emit_scalar(e, tasks->operands[1]);
        cs_line(&e->p, "const i32 group = task / (%lld * %s);", (long long)rows, width);
        cs_line(&e->p, "const i32 in_group = task %% (%lld * %s);", (long long)rows, width);
        cs_line(&e->p, "const i32 group_rows = tw_min((i32)%s - group * %lld, %lld);", height,
                (long long)rows, (long long)rows);
        cs_line(&e->p, "const i32 %s = group * %lld + in_group %% group_rows;", m, (long long)rows);
        cs_line(&e->p, "const i32 %s = in_group / group_rows;", n);
        emit_set(e, body->args[0], HOLD_SCALAR, m);
        emit_set(e, body->args[1], HOLD_SCALAR, n);
        return;
    }
    const char *rest = number;
    for (int i = 0; i < count; i++) {
        int d = order == ORDER_COLUMN ? i : count - 1 - i;
        const char *name = cs_name(&e->p, body->args[d]),
                   *extent = emit_scalar(e, tasks->operands[d]);
        if (i == count - 1)
            cs_line(&e->p, "const i32 %s = %s;", name, rest);
        else
            cs_line(&e->p, "const i32 %s = %s %% (i32)%s;", name, rest, extent);
        rest = arena_printf(e->arena, "(%s / (i32)%s)", rest, extent);
        emit_set(e, body->args[d], HOLD_SCALAR, name);
    }
}

/* Does one thread run the whole role? It does if it only issues TMA. */
static bool is_single(Emit *e, const Op *role) {
    bool single = false;
    for (size_t i = 0; i < e->rings.count; i++) {
        const RingPlan *r = &e->rings.at[i];
        const Op *op = ir_value(e->k, r->ring)->op;
        if (find_role(role->parent->owner, op_text(op, AT_TO)) == role) return false;
        if (find_role(role->parent->owner, op_text(op, AT_FROM)) != role) continue;
        if (r->full_count != 1) return false;
        single = true;
    }
    return single;
}

static bool serves(Emit *e, const RingPlan *r, const Op *tasks, const Op *role, AttrId end) {
    const Op *op = ir_value(e->k, r->ring)->op;
    return !r->fused && find_role(tasks, op_text(op, end)) == role;
}

static void write_counters(Emit *e, const Op *tasks, const Op *role) {
    for (size_t i = 0; i < e->rings.count; i++) {
        const RingPlan *r = &e->rings.at[i];
        if (r->skewed && r->slots > 1 &&
            find_role(tasks, op_text(ir_value(e->k, r->ring)->op, AT_TO)) == role)
            cs_line(&e->p, "u32 %s = 0, %s = 0;", counter(e, r, "put"), counter(e, r, "get"));
        if (!serves(e, r, tasks, role, AT_FROM) && !serves(e, r, tasks, role, AT_TO)) continue;
        if (r->slots == 1)
            cs_line(&e->p, "u32 %s = 0;", counter(e, r, "phase"));
        else
            cs_line(&e->p, "u32 %s = 0, %s = 0;", counter(e, r, "next"), counter(e, r, "phase"));
    }
}

/* Registers of a role when the block has more than two warpgroups: the movers give theirs to
 * compute. */
static void write_registers(Emit *e, const Op *role, int threads) {
    bool compute = strcmp(op_text(role, AT_FIELD), "compute") == 0;
    int groups = threads / 128, entry = 65536 / threads / 8 * 8, compute_groups = 0;
    for (const Op *op = role->parent->first; op; op = op->next)
        if (op->code == OP_ROLE && strcmp(op_text(op, AT_FIELD), "compute") == 0)
            compute_groups = layout_group(e->cx, e->k, op).warps / 4;
    if (threads % 128 || groups < 3 || !compute_groups || compute_groups == groups ||
        !e->cx->machine->has_wgmma)
        return;
    int movers = groups - compute_groups, few = 40,
        many = (entry * groups - few * movers) / compute_groups / 8 * 8;
    if (many > 240) many = 240;
    int64_t asked = op_int(role, AT_REGS, 0);
    int count = asked ? (int)asked : compute ? many : few;
    cs_line(&e->p, compute ? "tw_setmaxnreg_inc<%d>();" : "tw_setmaxnreg_dec<%d>();", count);
}

/* Does the role fill a ring ahead of the role that it runs on? */
static bool feeds(Emit *e, const Op *tasks, const Op *role) {
    for (size_t i = 0; i < e->rings.count; i++)
        if (e->rings.at[i].skewed &&
            find_role(tasks, op_text(ir_value(e->k, e->rings.at[i].ring)->op, AT_FROM)) == role)
            return true;
    return false;
}

static void write_role(Emit *e, const Op *tasks, const Op *role, int number) {
    Text top = text_new(e->arena), before = e->p.out;
    e->role = role;
    e->group = layout_group(e->cx, e->k, role);
    e->barrier_id = number;
    e->places = (Map){0};
    e->reads_pending = e->writes_pending = e->async_pending = e->stores_pending = false;
    e->bulk_pending = e->bulk_issued = false;
    bool single = is_single(e, role);
    write_registers(e, role, e->plan->threads);
    cs_line(&e->p, "const i32 lane = tw_lane(), warp = tw_warp() - %d;", e->group.first_warp);
    if (single) cs_open(&e->p, "if (warp == 0 && tw_elect())");
    before = e->p.out;
    e->p.out = text_new(e->arena);
    e->top = &top;
    e->top_depth = e->p.depth;
    write_counters(e, tasks, role);
    if (e->persist)
        cs_open(&e->p, "for (i32 task = tw_block_x(); task < tasks; task += tw_blocks_x())");
    else {
        cs_line(&e->p, "const i32 task = tw_block_x() + tw_blocks_x() * (tw_block_y() + "
                       "tw_blocks_y() * tw_block_z());");
        cs_open(&e->p, "if (task < tasks)");
    }
    e->reads_pending = e->writes_pending = e->persist;
    write_decode(e, tasks);
    for (const Op *op = tasks_body(tasks)->first; op; op = op->next)
        if (op->code != OP_ROLE) {
            if (elementwise_is(op))
                op = elementwise_run(e, op);
            else
                emit_op(e, op);
        }
    const char *name = op_text(role, AT_FIELD);
    e->ahead = NULL;
    for (const Op *op = tasks_body(tasks)->first; op; op = op->next) {
        const char *on = op->code == OP_ROLE ? op_text(op, AT_ON) : NULL;
        if (on && strcmp(on, name) == 0 && feeds(e, tasks, op)) e->ahead = op->regions[0]->first;
    }
    emit_region(e, role->regions[0]);
    for (const Op *op = tasks_body(tasks)->first; op; op = op->next) {
        const char *on = op->code == OP_ROLE ? op_text(op, AT_ON) : NULL;
        if (!on || strcmp(on, name) != 0 || feeds(e, tasks, op)) continue;
        e->role = op;
        emit_region(e, op->regions[0]);
        e->role = role;
    }
    cs_close(&e->p);
    if (e->bulk_issued) cs_line(&e->p, "if (warp == 0 && lane == 0) tw_bulk_wait<0>();");
    if (single) cs_close(&e->p);
    text_add(&before, "%s%s", top.at ? top.at : "", e->p.out.at);
    e->p.out = before;
    e->role = NULL;
}

void ring_tasks(Emit *e, const Op *tasks) {
    if (tasks->region_count > 1) {
        emit_refuse(e, tasks, "a template's own task loop");
        return;
    }
    write_barriers(e);
    for (size_t i = 0; i < e->rings.count; i++)
        if (e->rings.at[i].skewed)
            e->plan->execution = arena_printf(e->k->module->arena, "skew %d",
                                              e->rings.at[i].slots - e->rings.at[i].hold);
    Text count = text_new(e->arena);
    for (int i = 0; i < tasks->operand_count; i++)
        text_add(&count, "%s(i32)%s", i ? " * " : "", emit_scalar(e, tasks->operands[i]));
    cs_line(&e->p, "const i32 tasks = %s;", count.at);
    int number = 1;
    for (int turn = 0; turn < 2; turn++)
        for (const Op *role = tasks_body(tasks)->first; role; role = role->next) {
            if (role->code != OP_ROLE || op_attr(role, AT_ON)) continue;
            const char *name = op_text(role, AT_FIELD);
            if ((strcmp(name, "compute") == 0) != (turn == 0)) continue;
            ThreadGroup g = layout_group(e->cx, e->k, role);
            if (number == 1)
                cs_open(&e->p, "if (tw_warp() < %d)", g.first_warp + g.warps);
            else
                cs_reopen(&e->p, "else if (tw_warp() < %d)", g.first_warp + g.warps);
            cs_line(&e->p, "// role %s", name);
            write_role(e, tasks, role, number++);
        }
    if (number > 1) cs_close(&e->p);
}
