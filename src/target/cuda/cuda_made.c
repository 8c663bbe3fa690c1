/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_made.c: tensor maps that the kernel makes itself (`made`, pass/schedule/schedule_map.c).
 *
 * The launch gives a map of the same kind, without base, extents and strides, and room for as many blocks as run at
 * once. The thread that issues the role's copies takes one of the places, puts a map together in shared memory, shows
 * it to TMA, and gives the place back in the end:
 *
 *     TensorMap *const own_maps = tw_maps_take(made_maps, map_places, 2);
 *     for (int i = 0; i < 3; i++) tw_mbar_wait(in_full + i * 8, in_phase ^ (i >= in_next)); // nobody reads it
 *     const i32 map_a_is = tw_map_make_2d(own_maps + 0, 147584, &map_a, a, K, 2, M, stride * 2);
 *     .. tw_tma_load_2d(s, own_maps + 0, k, tw_map_at(map_a_is, m), full);
 *
 * What it is asked about the numbers is no belief: the map of a tensor without elements brings zeros, one that TMA
 * cannot have ends the kernel with a message, where a box of it is loaded. */
#include "pass/schedule/schedule.h"
#include "target/cuda/cuda_emit.h"

static int maps_of(Emit *e) { return schedule_maps_made(e->k); }

static bool is_single(const Emit *e) { return op_flag(e->role, AT_ELECT); }

static const Op *first_made(const Region *region) {
    const Op *found = NULL;
    for (const Op *op = region->first; op && !found; op = op->next) {
        if (op->code == OP_TENSOR && op_flag(op, AT_MADE)) return op;
        for (int i = 0; i < op->region_count && !found; i++) found = first_made(op->regions[i]);
    }
    return found;
}

/* The copies that the role has issued into the ring have landed. */
static void wait_for_copies(Emit *e, const RingPlan *r) {
    const char *phase = ring_counter(e, r, "phase"), *next = ring_counter(e, r, "next");
    if (!ring_counts(e, r)) {
        cs_line(&e->p, "tw_mbar_wait(%s, %s ^ 1);", r->full_name, phase);
        return;
    }
    cs_loop(&e->p, NULL, "i", 0, r->slots, 1);
    cs_line(&e->p, "tw_mbar_wait(%s + i * 8, %s ^ (u32)((u32)i >= %s));", r->full_name, phase, next);
    cs_close(&e->p);
}

static const RingPlan *ring_of_load(Emit *e, const Op *load) {
    const Op *put = load->next;
    while (!(put->code == OP_PUT && op_operand(put, 1) == load->results[0])) put = put->next;
    return ring_find(e, hand_ring(e->k, put));
}

void made_begin(Emit *e, const Op *role) {
    if (!first_made(role->regions[0])) return;
    if (is_single(e))
        cs_line(&e->p, "TensorMap *const own_maps = tw_maps_take(made_maps, map_places, %d);", maps_of(e));
    else
        cs_line(
            &e->p,
            "TensorMap *const own_maps = warp == 0 && lane == 0 ? tw_maps_take(made_maps, map_places, %d) : nullptr;",
            maps_of(e));
}

static void wait_for_all(Emit *e, const Region *region, Map *seen) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_TLOAD && layout_made(e->k, op)) {
            const RingPlan *r = ring_of_load(e, op);
            if (!map_find_number(seen, r->ring)) wait_for_copies(e, r);
            map_put_number(seen, e->arena, r->ring, (void *)(uintptr_t)1);
        }
        for (int i = 0; i < op->region_count; i++) wait_for_all(e, op->regions[i], seen);
    }
}

void made_end(Emit *e, const Op *role) {
    Map seen = {0};
    if (!first_made(role->regions[0])) return;
    if (!is_single(e)) cs_open(&e->p, "if (warp == 0 && lane == 0)");
    wait_for_all(e, role->regions[0], &seen);
    cs_line(&e->p, "tw_maps_give(own_maps);");
    if (!is_single(e)) cs_close(&e->p);
}

void made_emit(Emit *e, const Op *tensor) {
    const Op *load = schedule_map_load(e->k, e->role->regions[0], tensor);
    const RingPlan *r = ring_of_load(e, load);
    const CudaMap *map = ring_made_map(e, load);
    RefList extents = op_list(tensor, 0), strides = op_list(tensor, 1);
    const Expr *numbers[2 * CUDA_MAX_RANK]; /* extents and strides in bytes, contiguous dimension first */
    int rank = map->rank, bytes = elem_info[map->elem].bytes;
    for (int i = 0; i < rank; i++) {
        numbers[2 * i] = emit_scalar(e, extents.at[rank - 1 - i]);
        numbers[2 * i + 1] = !i ? ex_int(e->arena, bytes)
                                : ex(e->arena, "(i64)%p * %d", emit_scalar(e, strides.at[rank - 1 - i]), bytes);
    }
    const char *is = cs_fresh(&e->p, arena_printf(e->arena, "%s_is", map->name));
    if (!is_single(e)) {
        cs_line(&e->p, "i32 %s = 0;", is);
        cs_open(&e->p, "if (warp == 0 && lane == 0)");
    }
    wait_for_copies(e, r);
    cs_line(&e->p,
            is_single(e) ? "const i32 %s = tw_map_make_%dd(own_maps + %lld, %lld, &%s, %p, %p);"
                         : "%s = tw_map_make_%dd(own_maps + %lld, %lld, &%s, %p, %p);",
            is, rank, (long long)op_int(tensor, AT_MAP, 0), (long long)op_int(tensor, AT_AT, 0), map->name,
            emit_scalar(e, op_operand(tensor, 0)), ex_list(e->arena, numbers, 2 * rank));
    if (!is_single(e)) cs_close(&e->p);
    emit_set_name(e, tensor->results[0], HOLD_SCALAR, is);
}
