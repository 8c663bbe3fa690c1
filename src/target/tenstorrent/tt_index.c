/* SPDX-License-Identifier: Apache-2.0 */
/* tt_index.c: tiles of indices: which there are, and with which items of a ring they come.
 *
 * A mask or ramp that is made of indices and numbers alone is not computed: the reader writes its
 * pages into a CB of its own, an item beside each item of a ring that compute waits for where the
 * tile is used (or in a region around it). Compute waits for both together and pops the tile at the
 * end of the wait's region. A tile that is used in the regions of two waits is made twice.
 *
 * So the reader must push it where it makes that very item. Which acquire belongs to which wait is
 * found by walking both roles side by side: their loops and branches around the ring's hand-overs
 * must be the same ones (ring_number.h), in the same order. Where they are not, the tile is refused.
 * Since every item of the ring then has one item of the tile's CB, pushes and pops of that CB match
 * whenever those of the ring do, which ring_check.c has proved. */
#include "ir/build.h"
#include "pass/ring/ring_number.h"
#include "target/tenstorrent/tt_emit.h"

/* --- which acquire makes the item of a wait --- */

typedef struct Pairing {
    Tt *tt;
    RingNumbers *numbers;
    Ref ring;
    const Op *wait, *acquire; /* given; found */
} Pairing;

static const Op *next_of(const Pairing *p, const Op *op, HandOver kind) {
    while (op && !hands_over_by(op, kind, p->ring)) op = op->next;
    return op;
}

/* Do both regions hand over the same items? */
static bool pair(Pairing *p, const Region *compute, const Region *load) {
    const Op *ours = next_of(p, compute->first, HAND_WAIT);
    const Op *theirs = next_of(p, load->first, HAND_ACQUIRE);
    for (; ours && theirs; ours = next_of(p, ours->next, HAND_WAIT), theirs = next_of(p, theirs->next, HAND_ACQUIRE)) {
        if (ours == p->wait) p->acquire = theirs;
        if (ours->region_count != theirs->region_count) return false;
        if (!ours->region_count) continue;
        if (ours->code != theirs->code ||
            ring_number(p->numbers, TENSIX_COMPUTE, ours) != ring_number(p->numbers, TENSIX_READER, theirs))
            return false;
        for (int r = 0; r < ours->region_count; r++)
            if (!pair(p, ours->regions[r], theirs->regions[r])) return false;
    }
    return !ours && !theirs;
}

const Op *tt_acquire_of(Tt *tt, const Op *wait) {
    const Op *load = tt->role[TENSIX_READER], *compute = tt->role[TENSIX_COMPUTE];
    Pairing p = {.tt = tt, .ring = wait->operands[0], .wait = wait};
    if (!load) return NULL;
    p.numbers = ring_numbers_new(tt->k, tt->arena);
    return pair(&p, compute->regions[0], load->regions[0]) ? p.acquire : NULL;
}

const Op *tt_matching_loop(const TtIndexTile *tile, const Op *loop) {
    const Op *theirs = tile->acquire ? tile->acquire->parent->owner : NULL;
    if (!theirs) return NULL;
    for (const Op *ours = tile->wait->parent->owner; ours && theirs;
         ours = ours->parent->owner, theirs = theirs->parent->owner) {
        if (ours->code != theirs->code) return NULL;
        if (ours == loop) return theirs;
    }
    return NULL;
}

/* --- where tiles are used --- */

static const Op *first_wait(const Region *region, const Op *end) {
    for (const Op *op = region->first; op && op != end; op = op->next)
        if (op->code == OP_WAIT) return op;
    return NULL;
}

/* The first wait before the user, in its region or around it; else the first one of its region, for
 * what is written in front of the loads it is used with. */
static const Op *wait_near(const Op *user) {
    const Op *wait = NULL;
    for (const Op *at = user; at && at->code != OP_ROLE && !wait; at = at->parent->owner)
        wait = first_wait(at->parent, at);
    return wait ? wait : first_wait(user->parent, NULL);
}

/* Of a kernel that loads nothing else. */
static void add_reader(Tt *tt) {
    Op *compute = (Op *)tt->role[TENSIX_COMPUTE];
    Builder b = ir_builder_before(tt->k, compute);
    Op *role = ir_begin(&b, OP_ROLE);
    op_set(tt->k, role, (Attr){.id = AT_ROLE, .word = ROLE_LOAD});
    Builder inside = ir_builder_inside(&b, ir_region(&b, role));
    ir_yield(&inside, NULL, 0);
    ir_end(&b, role, NULL);
    tt->role[TENSIX_READER] = role;
}

static void add_index_tile(Tt *tt, const Op *user, Ref value) {
    TtIndexTile tile = {.value = value, .cb = -1, .user = user, .wait = wait_near(user)};
    tile.stays = tt_is_constant_tile(tt, value);
    if (tile.stays || map_find_number(&tt->task_tiles, value)) tile.wait = NULL;
    for (size_t i = 0; i < tt->index_tiles.count; i++)
        if (tt->index_tiles.at[i].value == value && tt->index_tiles.at[i].wait == tile.wait) return;
    if (!tile.wait && !tt->role[TENSIX_READER]) add_reader(tt);
    tile.acquire = tile.wait ? tt_acquire_of(tt, tile.wait) : NULL;
    if (tile.wait && !tile.acquire) {
        tt_refuse(tt, user,
                  "a mask or ramp of indices beside a load whose loops differ between reader and "
                  "compute" FIX "load the tile in a loop of its own");
        return;
    }
    const Type *type = ir_type(tt->k, value);
    TtFormat format = type->elem == EL_I1 ? TT_Float16_b : TT_Float32;
    int number = (int)tt->index_tiles.count;
    tile.cb = tt_add_cb(tt, arena_printf(tt->arena, "index%d", number), ROLE_LOAD, ROLE_COMPUTE, "a tile of indices",
                        format, tt_pages(type, tt_paging(tt, value)), tile.wait ? 2 : 1, user->range);
    tt->plan->cbs.at[tile.cb].desc.unpack_to_dest = format == TT_Float32;
    *VEC_PUSH(&tt->index_tiles, tt->arena) = tile;
}

/* Is it computed by the reader, as part of a mask? */
static bool is_flag(Tt *tt, Ref value) {
    return !elem_is_float(ir_type(tt->k, value)->elem) && tt_is_index(tt, value);
}

/* A condition, alone or together with one on data, or integers on their way to floats. */
static void find_index_tiles(Tt *tt, const Op *op) {
    bool is_logic = op->code == OP_AND || op->code == OP_OR || op->code == OP_XOR;
    for (int i = 0; is_logic && i < op->operand_count && !tt_is_index(tt, op->results[0]); i++) {
        const Type *type = ir_type(tt->k, op->operands[i]);
        if (type->elem == EL_I1 && !ty_is_scalar(type) && tt_is_index(tt, op->operands[i]))
            add_index_tile(tt, op, tt_same_pages(tt, op->operands[i]));
    }
    if (op->code == OP_SELECT && !ty_is_scalar(ir_type(tt->k, op->operands[0])) && tt_is_index(tt, op->operands[0]))
        add_index_tile(tt, op, tt_same_pages(tt, op->operands[0]));
    /* Numbers of memory, where tiles are computed of them. */
    bool is_tile_op = op->code == OP_PUT || (op->result_count == 1 && !ty_is_scalar(ir_type(tt->k, op->results[0])) &&
                                             (op->code == OP_SPLAT || op_has(op->code, TRAIT_ELEMENTWISE)));
    for (int i = 0; is_tile_op && i < op->operand_count && !(op->code != OP_PUT && is_flag(tt, op->results[0])); i++)
        if (tt_is_read(tt, op->operands[i])) add_index_tile(tt, op, op->operands[i]);
    if (op->code != OP_CAST || ty_is_scalar(ir_type(tt->k, op->results[0]))) return;
    Elem from = ir_type(tt->k, op->operands[0])->elem, to = ir_type(tt->k, op->results[0])->elem;
    if (elem_is_float(to) && !elem_is_float(from) && tt_is_index(tt, op->operands[0]))
        add_index_tile(tt, op, tt_same_pages(tt, op->results[0]));
}

void tt_plan_index_tiles(Tt *tt) { tt_each(tt, tt->role[TENSIX_COMPUTE]->regions[0], find_index_tiles); }
