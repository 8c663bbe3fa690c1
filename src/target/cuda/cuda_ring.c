/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_ring.c: rings as mbarriers in shared memory; cuda_roles.c runs the roles around them.
 *
 * A ring is N slots and two barriers a slot. The producer waits for empty, writes (TMA: one thread
 * announces the bytes and issues the copies), and full is complete when all has landed; the
 * consumer waits for full, reads, and one lane of each of its warps arrives at empty (all of them
 * where threads read what threads stored). Slot and phase go on counting from task to task. Behind
 * a dot in flight the release comes one item late (hold = 2):
 *
 *     in: wait full[s]; wgmma .. ; wait for the group before; release the slot before
 *
 * A ring between roles that run on the same threads is a buffer between two barriers of the group. */
#include "target/cuda/cuda_dot.h"
#include "target/simt/simt_box.h"

const Expr *ring_barrier(Emit *e, const char *base, const Expr *slot) {
    return ex_is_int(slot, 0) ? ex_name(e->arena, base) : ex(e->arena, "%s + %p * 8", base, slot);
}

/* --- TMA --- */
typedef struct Panels {
    int map;        /* among those of the plan */
    const Expr *by; /* where it lies */
    int count, per; /* panels, elements in a row of one */
    const Expr *coord[CUDA_MAX_RANK];
    int rank;
} Panels;

int ring_wanted(Emit *e, Ref value) {
    for (size_t i = 0; i < cuda_of(e)->plan->wanted.count; i++)
        if (cuda_of(e)->plan->wanted.at[i] == value) return (int)i;
    *VEC_PUSH(&cuda_of(e)->plan->wanted, e->k->module->arena) = value;
    return (int)cuda_of(e)->plan->wanted.count - 1;
}

/* The beginning of half `which` (0, 1 or a variable), each of them a step long. */
static const Expr *half_at(Emit *e, const Expr *base, const Expr *which, int64_t step) {
    if (!step || ex_is_int(which, 0)) return base;
    if (ex_is_int(which, 1)) return ex(e->arena, "%p + %lld", base, (long long)step);
    return ex(e->arena, "%p + %p * %lld", base, which, (long long)step);
}

/* A tensor map is called after the array: map_a_ptr. */
static const char *map_name(Emit *e, Ref base) {
    const Value *v = ir_value(e->k, base);
    if (!v->name && v->op && v->op->code == OP_BASE) v = ir_value(e->k, v->op->operands[0]);
    return cs_fresh(&e->p, v->name ? arena_printf(e->arena, "map_%s", v->name) : "map");
}

/* The tensor map of an access, entered into the plan on the first look; `rows` of its boxes. One that the kernel makes
 * gets base, extents and strides there (cuda_made.c). */
static int map_of(Emit *e, const Op *op, const Type *box, const SharedTile *tile, int rows) {
    MapEntry *entry = map_find_number(&cuda_of(e)->map_of, (uintptr_t)op);
    if (entry) return (int)(uintptr_t)entry->value;
    TensorParts parts = fact_tensor(&e->facts, op->operands[0]);
    CudaMap map = {.elem = box->elem, .rank = parts.rank, .swizzle = tile->width, .made = layout_made(e->k, op)};
    if (!map.made) map.base = ring_wanted(e, parts.base);
    for (int i = 0; i < parts.rank; i++) {
        int d = parts.rank - 1 - i, t = box_axis(op, parts.rank, box->rank, d);
        if (!map.made) map.extent[i] = parts.extent[d] == REF_NONE ? -1 : ring_wanted(e, parts.extent[d]);
        if (!map.made) map.stride[i] = ring_wanted(e, parts.stride[d]);
        map.box[i] = t == box->rank - 1 ? tile->width / tile->elem_bytes : t == 0 ? rows : 1;
    }
    map.name = map_name(e, parts.base);
    int number = (int)cuda_of(e)->plan->maps.count;
    *VEC_PUSH(&cuda_of(e)->plan->maps, e->k->module->arena) = map;
    map_put_number(&cuda_of(e)->map_of, e->arena, (uintptr_t)op, (void *)(uintptr_t)number);
    return number;
}

const CudaMap *ring_made_map(Emit *e, const Op *load) {
    const Type *box = ir_type(e->k, load->results[0]);
    int map = map_of(e, load, box, &emit_layout(e, load->results[0])->tile, (int)box->extent[0]);
    return &cuda_of(e)->plan->maps.at[map];
}

/* The tensor map of an access and the coordinates of its box, or of the half of it whose number is `which` (of its
 * rows: one of so many `pieces`). */
static Panels panels_of(Emit *e, const Op *op, const Type *box, const SharedTile *tile, Word half, int pieces,
                        const Expr *which) {
    Panels p = {.per = tile->width / tile->elem_bytes, .rank = ir_type(e->k, op->operands[0])->rank};
    int rows = (int)box->extent[0] / (half == HALF_ROWS ? pieces : 1);
    RefList offsets = op_list(op, 0);
    p.count = (int)((tile->columns + p.per - 1) / p.per);
    for (int i = 0; i < p.rank; i++) {
        int d = p.rank - 1 - i, t = box_axis(op, p.rank, box->rank, d);
        p.coord[i] = ex(e->arena, "(i32)%p", emit_scalar(e, offsets.at[d]));
        int step = half == HALF_ROWS && t == 0 ? rows : half == HALF_PANELS && i == 0 ? p.per * p.count / 2 : 0;
        p.coord[i] = half_at(e, p.coord[i], which, step);
    }
    if (half == HALF_PANELS) p.count /= 2;
    const Op *made = op->code == OP_TLOAD ? layout_made(e->k, op) : NULL;
    p.map = map_of(e, op, box, tile, rows);
    p.by = made ? ex(e->arena, "own_maps + %lld", (long long)op_int(made, AT_MAP, 0))
                : ex(e->arena, "&%s", cuda_of(e)->plan->maps.at[p.map].name);
    if (made)
        p.coord[p.rank - 1] =
            ex(e->arena, "tw_map_at(%p, %p)", emit_hold(e, made->results[0])->by, p.coord[p.rank - 1]);
    return p;
}

static const Expr *plus(Emit *e, const Expr *offset, int64_t more) {
    return more ? ex(e->arena, "%p + %lld", offset, (long long)more) : offset;
}

static const Expr *coordinates(Emit *e, const Panels *p, int panel) {
    const Expr *at[MAX_RANK];
    for (int i = 0; i < p->rank; i++) at[i] = i ? p->coord[i] : plus(e, p->coord[i], panel * p->per);
    return ex_list(e->arena, at, p->rank);
}

/* A tile, or a half of it: the own one (`which` is the rank), for both blocks, or one of both, for the block alone. */
typedef struct Half {
    const Expr *offset, *full;
    Word half;
    const Expr *which;
} Half;

/* How many boxes it takes. */
static int load_boxes(Emit *e, const Op *load, const SharedTile *tile, Half h) {
    Panels p = panels_of(e, load, ir_type(e->k, load->results[0]), tile, h.half, 2, h.which);
    int64_t step = h.half == HALF_PANELS ? p.count * tile->panel : tile->rows / 2 * tile->width;
    bool own = ex_is_name(h.which, "rank");
    const Expr *at = half_at(e, h.offset, h.which, h.half ? step : 0);
    const Expr *both[] = {h.full, ex_int(e->arena, (1 << cuda_of(e)->cluster) - 1)};
    const Expr *last = memory_with_hint(e, load, own ? ex_list(e->arena, both, 2) : h.full);
    purpose_boxes(e, load, load->results[0], p.count, p.per, tile->panel);
    for (int i = 0; i < p.count; i++)
        cs_line(&e->p, own ? "tw_tma_multicast_%dd%s(%p, %p, %p, %p);" : "tw_tma_load_%dd%s(%p, %p, %p, %p);", p.rank,
                memory_hinted(load), plus(e, at, i * tile->panel), p.by, coordinates(e, &p, i), last);
    return p.count;
}

static void load_by_tma(Emit *e, const Op *put, const SharedTile *tile, const Expr *offset, const Expr *full) {
    const Op *load = ir_value(e->k, op_operand(put, 1))->op;
    Word half = op_word(put, AT_HALF, WORD_NONE);
    int boxes = half ? 0 : load_boxes(e, load, tile, (Half){offset, full, WORD_NONE, &expr_zero});
    if (half) {
        cs_open(&e->p, "if (blocks == %d)", cuda_of(e)->cluster);
        boxes = load_boxes(e, load, tile, (Half){offset, full, half, ex_name(e->arena, "rank")});
        cs_reopen(&e->p, "else");
        load_boxes(e, load, tile, (Half){offset, full, half, &expr_zero});
        load_boxes(e, load, tile, (Half){offset, full, half, ex_int(e->arena, 1)});
        cs_close(&e->p);
    }
    emit_find(e, load, FIND_LOAD_BY_TMA, boxes, boxes == 1 ? "" : "es", tile->width,
              half ? ", half of the tile for both blocks" : "");
}

static void store_by_tma(Emit *e, const Op *store) {
    Ref value = op_operand(store, 1);
    const SharedTile *tile = &emit_layout(e, value)->tile;
    const Expr *offset = emit_hold(e, value)->by;
    const RingPlan *r = ring_of_slot(e, ir_value(e->k, value)->op->operands[0]);
    int groups = solo_groups(e, r);
    const Expr *group = r->solo ? solo_group(e) : &expr_zero;
    Panels p = panels_of(e, store, ir_type(e->k, value), tile, r->solo ? HALF_ROWS : WORD_NONE, groups, group);
    sync_before(e, store);
    if (r->solo) offset = half_at(e, offset, group, tile->rows / groups * tile->width);
    if (r->solo && !r->parts) solo_open(e, r);
    if (r->parts) {
        parts_open(e, r);
        p.count = 1;
        p.coord[0] = ex(e->arena, "%p + part * %d", p.coord[0], p.per);
        offset = ex(e->arena, "%p + part %% 2 * %lld", offset, (long long)tile->panel);
    }
    purpose_boxes(e, store, value, p.count, p.per, tile->panel);
    cs_open(&e->p, "if (%p)", parts_issuer(e, r));
    for (int i = 0; i < p.count; i++)
        cs_line(&e->p, "tw_tma_store_%dd%s(%p, %p, %p);", p.rank, memory_hinted(store), p.by, coordinates(e, &p, i),
                memory_with_hint(e, store, plus(e, offset, i * tile->panel)));
    cs_line(&e->p, "tw_bulk_commit();");
    cs_close(&e->p);
    if (r->parts) cs_close(&e->p);
    int boxes = r->parts ? r->parts : p.count;
    emit_find(e, store, FIND_STORE_BY_TMA, boxes, boxes == 1 ? "" : "es", tile->width,
              r->parts ? ", one after the other" : "");
}

/* --- hand-overs --- */
/* By how much the role's slot moves on: programs side by side have every so-manieth one. */
static int stride(const Emit *e, const RingPlan *r) {
    return cuda_of(e)->in_gang && r->each ? cuda_of(e)->gang.programs : 1;
}

bool ring_counts(const Emit *e, const RingPlan *r) { return r->slots > stride(e, r); }

/* The slot of the role's first item, and of all where it does not count: the only one, or the program's own. */
const Expr *ring_first_slot(const Emit *e, const RingPlan *r) {
    static const Expr gang = {.kind = EX_NAME, .text = "gang"};
    return cuda_of(e)->in_gang && r->each ? &gang : &expr_zero;
}

static void advance(Emit *e, const RingPlan *r) {
    if (!ring_counts(e, r)) {
        cs_line(&e->p, "%s ^= 1;", ring_counter(e, r, "phase"));
        return;
    }
    const char *next = ring_counter(e, r, "next");
    if (stride(e, r) == 1) {
        cs_open(&e->p, "if (++%s == %d)", next, r->slots);
        cs_line(&e->p, "%s = 0;", next);
    } else {
        cs_line(&e->p, "%s += %d;", next, stride(e, r));
        cs_open(&e->p, "if (%s >= %d)", next, r->slots);
        cs_line(&e->p, "%s -= %d;", next, r->slots);
    }
    cs_line(&e->p, "%s ^= 1;", ring_counter(e, r, "phase"));
    cs_close(&e->p);
}

/* The number of the slot of this item, kept for as long as the role holds it. */
static const Expr *take_slot(Emit *e, const RingPlan *r, Ref slot) {
    const Expr *number = ring_first_slot(e, r);
    if (ring_counts(e, r)) {
        number = ex_name(e->arena, cs_fresh(&e->p, arena_printf(e->arena, "%s_slot", r->name)));
        cs_line(&e->p, cuda_of(e)->trails ? "const u32 %p = tw_uniform((i32)%s);" : "const u32 %p = %s;", number,
                ring_counter(e, r, "next"));
    }
    emit_set(e, slot, HOLD_SLOT, number);
    return number;
}

/* Stores beside the threads have read their shared memory. */
static void drain(Emit *e, const Op *op) {
    if (op_flag(op, AT_DRAINS)) cs_line(&e->p, "if (%p) tw_bulk_wait_read(0);", parts_issuers(e));
}

static void emit_acquire(Emit *e, const Op *op) {
    RingPlan *r = ring_find(e, op->operands[0]);
    if (r->skewed) {
        ring_by_threads(e, op);
        return;
    }
    if (r->fused) {
        emit_set(e, op->results[0], HOLD_SLOT, ring_first_slot(e, r));
        drain(e, op);
        return;
    }
    cs_note(&e->p, "the next slot of %s, when it is empty", r->name);
    const Expr *slot = take_slot(e, r, op->results[0]);
    cs_line(&e->p, "tw_mbar_wait(%p, %s ^ 1);", ring_barrier(e, r->empty_name, slot), ring_counter(e, r, "phase"));
    int64_t bytes = op_int(op, AT_COPIED, 0);
    if (bytes && r->full_count == 1)
        cs_line(&e->p, "tw_mbar_arrive_expect(%p, %lld);", ring_barrier(e, r->full_name, slot), (long long)bytes);
    else if (bytes) /* it arrives with the others, behind its own stores */
        cs_line(&e->p, "if (warp == 0 && lane == 0) tw_mbar_expect(%p, %lld);", ring_barrier(e, r->full_name, slot),
                (long long)bytes);
    advance(e, r);
}

static void emit_put(Emit *e, const Op *op) {
    RingPlan *r = ring_of_slot(e, op->operands[0]);
    const Expr *slot = emit_hold(e, op->operands[0])->by;
    int field = hand_field(op);
    const Expr *at = ring_field_at(e, r, field, slot);
    if (op->list_count[0]) {
        emit_refuse(e, op, "a put of part of a field");
        return;
    }
    Word mover = layout_put_mover(e->k, op);
    if (mover == MOVER_TMA) {
        bool all = r->full_count == 1;
        if (!all) cs_open(&e->p, "if (warp == 0 && lane == 0)");
        load_by_tma(e, op, &r->field[field], at, ring_barrier(e, r->full_name, slot));
        if (!all) cs_close(&e->p);
        return;
    }
    if (mover != MOVER_ASYNC && r->parts) return; /* with its store */
    if (mover != MOVER_ASYNC && r->solo)
        solo_put(e, r);
    else
        ring_put(e, op);
}

static void emit_commit(Emit *e, const Op *op) {
    RingPlan *r = ring_find(e, op->operands[0]);
    bool empty = !ir_type(e->k, r->ring)->field_count; /* nothing has announced bytes, and arrived with that */
    if (r->fused || (r->full_count == 1 && !empty)) return;
    const Expr *full = ring_barrier(e, r->full_name, emit_hold(e, op->operands[1])->by);
    Word arrive = op_word(op, AT_ARRIVE, WORD_NONE);
    if (arrive) cs_line(&e->p, "tw_cp_async_arrive(%p);", full);
    if (arrive == ARRIVE_COPIES) return;
    if (op_flag(op, AT_FENCE)) cs_line(&e->p, "tw_fence_async();");
    cs_line(&e->p, "tw_mbar_arrive(%p);", full);
}

static void emit_wait(Emit *e, const Op *op) {
    RingPlan *r = ring_find(e, op->operands[0]);
    if (r->skewed) {
        ring_by_threads(e, op);
        return;
    }
    if (r->fused) {
        emit_set(e, op->results[0], HOLD_SLOT, ring_first_slot(e, r));
        return;
    }
    cs_note(&e->p, "the next slot of %s, when it is full", r->name);
    const Expr *slot = take_slot(e, r, op->results[0]);
    cs_line(&e->p, "tw_mbar_wait(%p, %s);", ring_barrier(e, r->full_name, slot), ring_counter(e, r, "phase"));
    if (op_flag(op, AT_FENCE)) cs_line(&e->p, "tw_fence_async();");
    advance(e, r);
}

void ring_wait_again(Emit *e, const Op *wait) {
    const RingPlan *r = ring_find(e, wait->operands[0]);
    if (r->fused) return;
    const Expr *slot = emit_hold(e, wait->results[0])->by;
    const char *phase = ring_counter(e, r, "phase");
    const Expr *parity = !ring_counts(e, r) ? ex(e->arena, "%s ^ 1", phase)
                         : stride(e, r) == 1
                             ? ex(e->arena, "%s ^ (%s == 0)", phase, ring_counter(e, r, "next"))
                             : ex(e->arena, "%s ^ (%s < %d)", phase, ring_counter(e, r, "next"), stride(e, r));
    cs_line(&e->p, "tw_mbar_wait(%p, %p);", ring_barrier(e, r->full_name, slot), parity);
}

void ring_show_read(Emit *e, const RingPlan *r, const Op *release) {
    bool empty =
        !ir_type(e->k, r->ring)->field_count; /* what was done is a write to global memory, which TMA may read */
    if (!op_flag(release, AT_FENCE)) return;
    cs_line(&e->p, empty ? "tw_fence_async_global();" : "tw_fence_async();");
    if (!r->by_lane) cs_line(&e->p, "tw_sync_warp();");
}

static void emit_release(Emit *e, const Op *op) {
    RingPlan *r = ring_find(e, op->operands[0]);
    Ref slot = op->operands[1];
    if (r->fused) {
        dot_end_span(e, op);
        drain(e, op);
        return;
    }
    const Expr *text = emit_hold(e, slot)->by;
    if (cuda_of(e)->late && op_attr(op, AT_BEHIND)) {
        /* The dot of this item is in flight; that of the item before is done. */
        if (!late_crosses(op->parent->owner)) {
            cs_line(&e->p, "tw_wgmma_wait(1);");
            roles_give_back_late(e, op);
        }
        cs_line(&e->p, "%s = (i32)%p;", cuda_of(e)->late, text);
        return;
    }
    drain(e, op);
    sync_before(e, op);
    ring_show_read(e, r, op);
    cluster_arrive(e, r, NULL, text);
}

void ring_op(Emit *e, const Op *op) {
    switch (op->code) {
    case OP_ACQUIRE: emit_acquire(e, op); return;
    case OP_PUT: emit_put(e, op); return;
    case OP_COMMIT: emit_commit(e, op); return;
    case OP_WAIT: emit_wait(e, op); return;
    case OP_GET: ring_get(e, op); return;
    case OP_RELEASE: emit_release(e, op); return;
    case OP_TSTORE: store_by_tma(e, op); return;
    default: return; /* RING, ROLE: planned */
    }
}
