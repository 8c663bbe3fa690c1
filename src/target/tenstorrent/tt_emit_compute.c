/* SPDX-License-Identifier: Apache-2.0 */
/* tt_emit_compute.c: the compute role as steps: hand-overs, and when things happen.
 *
 *     wait, acquire      cb_wait_front, cb_reserve_back of every field's CB
 *     put, commit        a section (tt_section.c) that computes and packs the value; cb_push_back
 *     release            cb_pop_front: behind the last section that reads the item, which may stand
 *                        later than the release, because values are computed late. Where that would
 *                        cross a wait, the values are packed away first
 *
 * Tiles carried round loops: tt_carried.c. */
#include "target/tenstorrent/tt_compute.h"

#include <string.h>

static Compute *compute_of(Role *role) { return (Compute *)role; }

/* ---------------------------------------------------------------------------------------------------- inner CBs */

static bool is_free(const Compute *c, int cb) {
    for (size_t i = 0; i < c->filling.count; i++)
        if (c->filling.at[i] == cb) return false;
    for (size_t i = 0; i < c->pops.count; i++)
        if (c->pops.at[i].cb == cb) return false;
    return true;
}

/* One of the pool that has the same pages and holds nothing. */
static int free_cb(const Compute *c, TtFormat format, bool to_dest, int64_t pages) {
    for (size_t i = 0; i < c->pool.count; i++) {
        const TtCb *cb = &c->role.tt->plan->cbs.at[c->pool.at[i]];
        bool fits = cb->desc.format == format && cb->desc.unpack_to_dest == to_dest && cb->item_pages == pages;
        if (fits && is_free(c, c->pool.at[i])) return c->pool.at[i];
    }
    return -1;
}

int compute_inner_cb(Compute *c, Ref value, InnerUse use, const Op *op) {
    Tt *tt = c->role.tt;
    bool pooled = use == INNER_MOVE || use == INNER_FPU;
    int none = -1, *known = pooled ? &none : &c->inner_cb[use][value];
    if (*known >= 0) return *known;
    static const char *const names[] = {"kept", "operand", "sum", "carried"};
    static const char *const what[] = {"kept for later", "operand of the matrix unit", "partial sums",
                                       "carried round a loop: now, and for the next trip"};
    bool is_narrow = use != INNER_SUM && tt_is_narrow(tt, value);
    const char *hint = ir_value(tt->k, value)->name;
    const char *name = hint && !pooled ? arena_printf(tt->arena, "%s_%s", names[use], hint) : names[use];
    TtFormat format = is_narrow ? TT_Float16_b : TT_Float32;
    bool to_dest = use != INNER_FPU && !is_narrow;
    int64_t pages = tt_pages(ir_type(tt->k, value), tt_paging(tt, value));
    if (pooled) *known = free_cb(c, format, to_dest, pages);
    if (*known >= 0) return *known;
    *known = tt_add_cb(tt, name, ROLE_COMPUTE, ROLE_COMPUTE, what[use], format, pages, use == INNER_CARRIED ? 2 : 1,
                       op->range);
    tt->plan->cbs.at[*known].desc.unpack_to_dest = to_dest;
    if (pooled) *VEC_PUSH(&c->pool, tt->arena) = *known;
    return *known;
}

void compute_set_home(Compute *c, Ref value, int cb, bool for_fpu) {
    *VEC_PUSH(&c->homed, c->role.tt->arena) = (Homed){value, c->home[value], c->fpu_home[value]};
    (for_fpu ? c->fpu_home : c->home)[value] = cb;
}

void compute_keep_home(Compute *c, Ref value, int cb, bool for_fpu) {
    compute_set_home(c, value, cb, for_fpu);
    *VEC_PUSH(&c->pops, c->role.tt->arena) = (Pop){cb, NULL};
}

void compute_take(Compute *c, Ref value, int cb, bool for_fpu) {
    role_hand(&c->role, CB_PUSH, cb);
    role_hand(&c->role, CB_WAIT, cb);
    compute_keep_home(c, value, cb, for_fpu);
}

void compute_forget(Compute *c, size_t count) {
    while (c->homed.count > count) {
        const Homed *last = &c->homed.at[--c->homed.count];
        c->home[last->value] = last->home;
        c->fpu_home[last->value] = last->fpu_home;
    }
}

enum { MOST_SPILLS = 2000 };

int compute_spill(Compute *c, Ref value, bool for_fpu, const Op *op) {
    int cb = compute_inner_cb(c, value, for_fpu ? INNER_FPU : INNER_MOVE, op);
    role_hand(&c->role, CB_RESERVE, cb);
    *VEC_PUSH(&c->filling, c->role.tt->arena) = cb;
    /* A spill may need others, which end with it and are made again for the next one. */
    if (++c->spills == MOST_SPILLS)
        tt_refuse(c->role.tt, op, "a tile that is transposed, or handed to the matrix unit, more than %d times",
                  MOST_SPILLS);
    if (c->spills < MOST_SPILLS) section_root(c, &(Root){.value = value, .cb = cb, .op = op});
    c->filling.count--;
    compute_take(c, value, cb, for_fpu);
    return cb;
}

/* ------------------------------------------------------------------------------------------- items and their end */

static bool depends(Compute *c, Ref value, Ref ring, bool *seen) {
    const Kernel *k = c->role.tt->k;
    if (!ref_is_value(value) || seen[value] || c->home[value] >= 0) return false;
    seen[value] = true;
    const Op *op = ir_value(k, value)->op;
    if (!op || op->region_count) return false;
    if (op->code == OP_GET) return hand_ring(k, op) == ring && !tt_field(c->role.tt, op)->stays;
    for (int i = 0; i < op->operand_count; i++)
        if (depends(c, op->operands[i], ring, seen)) return true;
    return false;
}

static bool uses_ring(Compute *c, const Op *op, Ref ring) {
    Arena *scratch = c->role.tt->cx->scratch;
    ArenaMark mark = arena_mark(scratch);
    bool *seen = ARENA_ARRAY(scratch, bool, c->role.tt->k->values.count), found = false;
    for (int i = 0; i < op->operand_count && !found; i++) found = depends(c, op->operands[i], ring, seen);
    arena_reset(scratch, mark);
    for (int r = 0; r < op->region_count && !found; r++)
        for (const Op *inner = op->regions[r]->first; inner && !found; inner = inner->next)
            found = uses_ring(c, inner, ring);
    return found;
}

/* Is it computed where it stands (tt_moves.c)? */
static bool is_kept(const Compute *c, const Op *op) {
    return op->result_count == 1 && map_find_number(&c->role.tt->kept, op->results[0]);
}

/* Ops at which values are computed. */
static bool is_root(const Compute *c, const Op *op) {
    return op->code == OP_PUT || op->code == OP_YIELD || op->region_count > 0 || is_kept(c, op);
}

bool compute_has_wait(const Op *op) {
    if (op->code == OP_WAIT) return true;
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            if (compute_has_wait(inner)) return true;
    return false;
}

static void pop_ring(Compute *c, Ref ring, const Op *after) {
    Tt *tt = c->role.tt;
    for (size_t i = 0; i < tt->fields.count; i++) {
        const TtField *field = &tt->fields.at[i];
        if (field->ring != ring || field->cb < 0 || field->stays) continue;
        int cbs[2] = {field->cb, field->fpu_cb};
        for (int j = 0; j < (field->cb == field->fpu_cb ? 1 : 2); j++) {
            if (after)
                *VEC_PUSH(&c->pops, tt->arena) = (Pop){cbs[j], after};
            else
                role_hand(&c->role, CB_POP, cbs[j]);
        }
    }
}

/* Packs away what the op, or an op inside of it, needs of values made from the ring's item: those
 * that were made before the release, which are not computed again behind it. */
static void keep_operands(Compute *c, const Op *op, const Op *release, Ref ring) {
    const Kernel *k = c->role.tt->k;
    for (int i = 0; i < op->operand_count; i++) {
        Ref value = op->operands[i];
        if (!ref_is_value(value) || ir_type(k, value)->kind != TY_TILE || !ir_type(k, value)->rank) continue;
        const Op *maker = ir_value(k, value)->op;
        bool is_earlier = maker && maker->parent == release->parent;
        for (const Op *o = release->next; o && is_earlier; o = o->next) is_earlier = o != maker;
        if (is_earlier && uses_ring(c, &(Op){.operand_count = 1, .operands = &op->operands[i]}, ring))
            compute_spill(c, tt_same_pages(c->role.tt, value), false, release);
    }
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            keep_operands(c, inner, release, ring);
}

static void release_item(Compute *c, const Op *release) {
    Ref ring = release->operands[0];
    const Op *last = NULL;
    bool waits = false, crosses = false;
    for (size_t i = 0; i < c->held.count; i++)
        if (c->held.at[i] == ring) c->held.at[i] = REF_NONE;
    for (const Op *op = release->next; op; op = op->next) {
        if (is_root(c, op) && uses_ring(c, op, ring)) {
            last = op;
            crosses = waits || (op->region_count && compute_has_wait(op));
        }
        waits |= compute_has_wait(op);
    }
    if (crosses) {
        for (const Op *op = release->next; op; op = op->next) keep_operands(c, op, release, ring);
        last = NULL;
    }
    pop_ring(c, ring, last);
}

size_t compute_enter(Role *role) {
    Compute *c = compute_of(role);
    *VEC_PUSH(&c->marks, role->tt->arena) = c->homed.count;
    return c->pops.count;
}

void compute_pop_after(Compute *c, const Op *op) {
    size_t kept = 0;
    for (size_t i = 0; i < c->pops.count; i++) {
        if (c->pops.at[i].after == op)
            role_hand(&c->role, CB_POP, c->pops.at[i].cb);
        else
            c->pops.at[kept++] = c->pops.at[i];
    }
    c->pops.count = kept;
}

static void after_op(Role *role, const Op *op) {
    if (op->code != OP_YIELD) compute_pop_after(compute_of(role), op); /* a yield's values come first: tt_carried.c */
}

void compute_leave(Role *role, size_t mark) {
    Compute *c = compute_of(role);
    while (c->pops.count > mark) role_hand(&c->role, CB_POP, c->pops.at[--c->pops.count].cb);
    compute_forget(c, c->marks.at[--c->marks.count]);
}

/* ---------------------------------------------------------------------------------------------------- the role */

void compute_each_cb(Compute *c, Ref ring, TtHand hand) {
    Tt *tt = c->role.tt;
    for (size_t i = 0; i < tt->fields.count; i++) {
        const TtField *field = &tt->fields.at[i];
        if (field->ring != ring || field->cb < 0 || field->stays || (field->streams && hand == CB_PUSH)) continue;
        role_hand(&c->role, hand, field->cb);
        if (field->fpu_cb != field->cb) role_hand(&c->role, hand, field->fpu_cb);
    }
}

static void wait_item(Compute *c, const Op *wait) {
    Tt *tt = c->role.tt;
    for (size_t i = 0; i < c->held.count; i++)
        if (c->held.at[i] == wait->operands[0])
            tt_refuse(tt, wait, "two items of one ring at a time; a tile's pages must lie side by side");
    *VEC_PUSH(&c->held, tt->arena) = wait->operands[0];
    role_place(&c->role, wait->range);
    compute_each_cb(c, wait->operands[0], CB_WAIT);
    for (size_t i = 0; i < tt->index_tiles.count; i++) {
        if (tt->index_tiles.at[i].wait != wait) continue;
        role_hand(&c->role, CB_WAIT, tt->index_tiles.at[i].cb);
        compute_keep_home(c, tt->index_tiles.at[i].value, tt->index_tiles.at[i].cb, false);
    }
}

static bool reaches(const Compute *c, const Op *op, Ref value, bool *seen) {
    for (int i = 0; i < op->operand_count; i++) {
        Ref part = op->operands[i];
        if (part == value) return true;
        if (!ref_is_value(part) || seen[part]) continue;
        seen[part] = true;
        const Op *maker = ir_value(c->role.tt->k, part)->op;
        if (maker && !maker->region_count && !is_kept(c, maker) && reaches(c, maker, value, seen)) return true;
    }
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            if (reaches(c, inner, value, seen)) return true;
    return false;
}

/* The last op behind it at which something is computed of its value; NULL: at the end of the region. */
static const Op *last_user(const Compute *c, const Op *op) {
    Arena *scratch = c->role.tt->cx->scratch;
    const Op *last = NULL;
    for (const Op *user = op->next; user; user = user->next) {
        if (!is_root(c, user)) continue;
        ArenaMark mark = arena_mark(scratch);
        bool *seen = ARENA_ARRAY(scratch, bool, c->role.tt->k->values.count);
        if (reaches(c, user, op->results[0], seen)) last = user;
        arena_reset(scratch, mark);
    }
    return last && last->code != OP_YIELD ? last : NULL;
}

static void visit_compute(Role *role, const Op *op) {
    Compute *c = compute_of(role);
    role->op = op;
    switch (op->code) {
    case OP_YIELD: return;
    case OP_WAIT: wait_item(c, op); return;
    case OP_RELEASE: release_item(c, op); return;
    case OP_ACQUIRE: compute_each_cb(c, op->operands[0], CB_RESERVE); return;
    case OP_COMMIT: compute_each_cb(c, op->operands[0], CB_PUSH); return;
    case OP_PUT: {
        const TtField *field = tt_field(role->tt, op);
        if (op_list(op, 0).count) tt_refuse(role->tt, op, "a put of part of a field");
        if (field->cb < 0) return;
        role_place(role, op->range);
        section_root(c, &(Root){.value = op_operand(op, 1), .cb = field->cb, .op = op, .streams = field->streams});
        c->in_dst = REF_NONE;
        return;
    }
    default:
        if (is_kept(c, op)) {
            compute_spill(c, op->results[0], false, op);
            c->pops.at[c->pops.count - 1].after = last_user(c, op);
            return;
        }
        if (op_has(op->code, TRAIT_PURE) || op->code == OP_GET) return; /* computed where it is needed */
        if (op->result_count == 1 && tt_is_index(role->tt, op->results[0])) return; /* the reader does it */
        if (op->code == OP_TLOAD || op->code == OP_LOAD || op->code == OP_TSTORE || op->code == OP_STORE ||
            op->code == OP_TATOMIC)
            tt_refuse_access(role->tt, op);
        else if (op->code == OP_WHILE)
            tt_refuse(role->tt, op, "a `while`; reader, compute and writer must know the trips" FIX "write a `for`");
        else
            tt_refuse(role->tt, op, "`%s`, which stands in compute, where no memory is reached",
                      op_info[op->code].mnemonic);
    }
}

static void take_task_tiles(Role *role) {
    Compute *c = compute_of(role);
    for (size_t i = 0; i < role->tt->index_tiles.count; i++) {
        const TtIndexTile *tile = &role->tt->index_tiles.at[i];
        if (tile->wait || tile->stays) continue;
        role_hand(role, CB_WAIT, tile->cb);
        compute_keep_home(c, tile->value, tile->cb, false);
    }
}

/* What stays for all tasks: the scaler of reductions, what follows from arguments alone. */
static void hand_constants(Role *role, TtHand hand) {
    const Tt *tt = role->tt;
    if (tt->scaler_cb >= 0) role_hand(role, hand, tt->scaler_cb);
    for (size_t i = 0; i < tt->index_tiles.count; i++)
        if (tt->index_tiles.at[i].stays) role_hand(role, hand, tt->index_tiles.at[i].cb);
    for (size_t i = 0; i < tt->fields.count; i++) {
        const TtField *field = &tt->fields.at[i];
        if (!field->stays) continue;
        role_hand(role, hand, field->cb);
        if (field->fpu_cb != field->cb) role_hand(role, hand, field->fpu_cb);
    }
}
static void take_constants(Role *role) {
    hand_constants(role, CB_WAIT);
    for (size_t i = 0; i < role->tt->index_tiles.count; i++) {
        const TtIndexTile *tile = &role->tt->index_tiles.at[i];
        if (tile->stays) compute_set_home(compute_of(role), tile->value, tile->cb, false);
    }
}
static void give_constants(Role *role) { hand_constants(role, CB_POP); }

Role *tt_build_compute(Tt *tt) {
    Compute *c = ARENA_NEW(tt->arena, Compute);
    size_t count = tt->k->values.count;
    role_init(&c->role, tt, TENSIX_COMPUTE);
    int **tables[] = {&c->home, &c->fpu_home, &c->inner_cb[0], &c->inner_cb[1], &c->inner_cb[2], &c->inner_cb[3]};
    for (int i = 0; i < 2 + INNER_USES; i++) {
        *tables[i] = ARENA_ARRAY(tt->arena, int, count);
        memset(*tables[i], -1, count * sizeof(int));
    }
    c->role.visit = visit_compute;
    c->role.loop = carried_loop;
    c->role.before = take_constants;
    c->role.behind = give_constants;
    c->role.start = take_task_tiles;
    c->role.enter = compute_enter;
    c->role.after = after_op;
    c->role.leave = compute_leave;
    role_build(&c->role);
    return &c->role;
}
