/* SPDX-License-Identifier: Apache-2.0 */
/* layout_tma.c: which loads and stores TMA does (`by=tma`), in the pass `layout`.
 *
 * A box goes by TMA between global memory and a field of a ring: a load whose only use is its put, a field whose only
 * use is its store. The tile stays in shared memory and the threads never hold it:
 *
 *     %a#s0 = tload<by=tma> %A, [%m, %k] : f16[128,64]      put %s.a, %a
 *     %c#s2 = get %o.c                                      tstore<by=tma> %C, [%m, %n], %c
 *
 * What the chip asks of addresses and strides is wished for (facts.h) and becomes `require`s; what cannot be had leaves
 * the access to the threads.
 *
 * A launch makes the map of a tensor whose numbers follow from its arguments. Where they come out of memory (a table of
 * problems) whoever made a descriptor of them has promised what the chip asks for, and the kernel makes the map, before
 * the outermost loop that the numbers come from outside of, and tests the promise where a box is loaded:
 *
 *     %A = tensor<made> %a, [%M, %K], [%lda, 1]        for %k .. { %x#s0 = tload<by=tma, align=16> %A, [%m, %k] } */
#include "ir/ringform.h"
#include "pass/layout/layout_state.h"

/* --- maps that the kernel makes --- */
static bool is_inside(const Kernel *k, Ref ref, const Op *loop) {
    if (!ref_is_value(ref)) return false;
    const Value *v = ir_value(k, ref);
    for (const Region *region = v->op ? v->op->parent : v->region; region;
         region = region->owner ? region->owner->parent : NULL)
        if (region->owner == loop) return true;
    return false;
}

/* The outermost loop of the role around the load that the tensor's numbers come from outside of; NULL: none is. */
static Op *find_made_before(const LayoutState *st, const Op *load, const Op *tensor) {
    Op *found = NULL;
    for (Op *around = load->parent->owner; around && around != st->role; around = around->parent->owner) {
        for (int i = 0; i < tensor->operand_count; i++)
            if (is_inside(st->k, tensor->operands[i], around)) return found;
        if (around->code == OP_FOR || around->code == OP_WHILE) found = around;
    }
    return found;
}

static bool is_known_at_launch(const Kernel *k, const Op *tensor) {
    for (int i = 0; i < tensor->operand_count; i++)
        if (tensor->operands[i] != REF_NONE && !fact_at_launch(k, tensor->operands[i])) return false;
    return true;
}

/* The tensor whose map the kernel makes for the load, or will; NULL: its map is the launch's, or there is none. */
static Op *find_made(const LayoutState *st, const Op *load) {
    Op *tensor = ir_value(st->k, load->operands[0])->op;
    if (load->code != OP_TLOAD || !tensor || tensor->code != OP_TENSOR) return NULL;
    bool made = st->k->form < FORM_LAYOUT ? !is_known_at_launch(st->k, tensor) : op_flag(tensor, AT_MADE);
    return made ? tensor : NULL;
}

/* Can the map be made? All bounds are there, and the promise that the kernel tests. Once made it is one load's. */
static bool may_be_made(const LayoutState *st, const Op *load, const Op *tensor, int inner) {
    const Op *tasks = tasks_of(st->k);
    RefList extents = op_list(tensor, 0), strides = op_list(tensor, 1);
    int64_t one = 0;
    for (int d = 0; d < extents.count; d++)
        if (extents.at[d] == REF_NONE) return false;
    if (op_int(load, AT_ALIGN, 1) % st->cx->machine->box_align || !tasks || op_attr(tasks, AT_GANG) ||
        !ir_const_int(st->k, strides.at[inner], &one) || one != 1)
        return false;
    if (st->k->form < FORM_LAYOUT) return find_made_before(st, load, tensor);
    return lay_inside_role(st, tensor->parent) && ir_count_uses(st->k, st->cx->scratch)[tensor->results[0]] == 1;
}

static void make_map(LayoutState *st, Op *load, Op *tensor) {
    Op *before = find_made_before(st, load, tensor);
    Builder b = ir_builder_before(st->k, before);
    RefMap map = {.arena = st->cx->scratch};
    b.range = load->range;
    if (ir_count_uses(st->k, st->cx->scratch)[tensor->results[0]] == 1)
        ir_move(tensor, before->parent, before);
    else
        tensor = ir_clone(&b, tensor, &map);
    op_set(st->k, tensor, (Attr){.id = AT_MADE, .number = 1});
    load->operands[0] = tensor->results[0];
}

/* Coordinates of 32 bits, known or wished for; `asks`: could they be? */
static bool wish_places(LayoutState *st, const Op *op, bool asks) {
    RefList offsets = op_list(op, 0);
    Facts facts = st->facts;
    facts.only_asks |= asks;
    for (int d = 0; d < offsets.count; d++) {
        if (fact_is_32_bits(st->k, offsets.at[d])) continue;
        if (!fact_wish_32_bits(&facts, offsets.at[d])) return false;
        if (!facts.only_asks) pass_find(st->cx, op->range, FIND_BOX_PLACES);
    }
    return true;
}

/* Can the box of this access move between global memory and the shared tile by TMA? Asks for what is missing. */
static bool tma_fits(LayoutState *st, const Op *op, const Type *box, const SharedTile *tile) {
    Kernel *k = st->k;
    const Machine *machine = st->cx->machine;
    int along = box->rank - 1;
    if (!machine->has_tma || box->rank > 2 || op_attr(op, AT_WRAP) || box_is_indexed(k, op)) return false;
    Ref mask = op_operand(op, op->code == OP_TLOAD ? 1 : 2);
    if (mask || (along && box->extent[0] > machine->box_extent) || box->extent[along] * tile->elem_bytes % tile->width)
        return false;
    if (!ir_fills_zero(k, op)) return false;
    TensorParts parts = fact_tensor(&st->facts, op->operands[0]);
    if (parts.rank > machine->box_rank || choose_contiguous(&st->facts, op, box) != along) return false;
    int inner = box_dim(op, parts.rank, box->rank, along);
    if (inner != parts.rank - 1) return false;
    /* The chip wants boxes to begin at multiples of box_align bytes in a row, stores not to begin before the
     * tensor, and coordinates of 32 bits: a larger extent ends the kernel (an illegal instruction). What lies before a
     * tensor reads as zero, so a load may begin there only if the source has a bound that says so. */
    RefList offsets = op_list(op, 0);
    if (fact_divisor(&st->facts, offsets.at[inner]) * tile->elem_bytes < machine->box_align) return false;
    const Op *made = find_made(st, op);
    if (!wish_places(st, op, true)) return false;
    if (made) return may_be_made(st, op, made, inner) && wish_places(st, op, false);
    for (int d = 0; d < parts.rank; d++) {
        bool bounded = parts.extent[d] != REF_NONE;
        if ((bounded && !fact_at_launch(k, parts.extent[d])) || !fact_at_launch(k, parts.stride[d])) return false;
        if ((!bounded || op->code == OP_TSTORE) && !fact_wish_natural(&st->facts, offsets.at[d])) return false;
    }
    /* A store writes whole chunks of box_align bytes, also beyond the end of a row: rows have to be whole ones. */
    Ref row = op->code == OP_TSTORE ? parts.extent[inner] : REF_NONE;
    int chunk = machine->box_align / tile->elem_bytes;
    if (row != REF_NONE && !fact_may_wish(&st->facts, row, chunk)) return false;
    bool fits = (row == REF_NONE || fact_wish_multiple(&st->facts, row, chunk)) && fact_at_launch(k, parts.base) &&
                fact_wish_multiple(&st->facts, parts.base, machine->box_align) &&
                fact_wish_equal(&st->facts, parts.stride[inner], 1);
    for (int d = 0; fits && d < parts.rank; d++) {
        fits = fact_wish_least(&st->facts, parts.stride[d], 1) &&
               (parts.extent[d] == REF_NONE || (fact_wish_least(&st->facts, parts.extent[d], 1) &&
                                                fact_wish_most(&st->facts, parts.extent[d], INT32_MAX)));
        if (d != inner) fits = fits && fact_wish_multiple(&st->facts, parts.stride[d], chunk);
    }
    return fits && wish_places(st, op, false);
}

/* K is contracted: where the instruction reads beyond the tile it must find zeros, which TMA does not write. */
bool tma_fills(const SharedTile *tile) { return tile->zero_rows == tile->rows && tile->zero_columns == tile->columns; }

/* Do the two ends of the ring run on the same threads? Then it is a buffer without a barrier that
 * TMA could arrive at. */
static bool is_fused(LayoutState *st, Ref ring) {
    const Op *op = ir_value(st->k, ring)->op, *tasks = st->role->parent->owner;
    const Op *from = role_find(tasks, ring_producer(op)), *to = role_find(tasks, ring_consumer(op));
    if (!from || !to) return from == to;
    return layout_group(st->cx, st->k, from).first_warp == layout_group(st->cx, st->k, to).first_warp;
}

/* --- who may --- */
SharedTile tma_field(LayoutState *st, const Op *hand_over) {
    Ref ring = hand_ring(st->k, hand_over);
    int field = hand_field(hand_over);
    return st->k->form < FORM_LAYOUT ? choose_field(st->cx, st->k, ring, field) : *layout_field(st->k, ring, field);
}

bool tma_may_load(LayoutState *st, const Op *load, SharedTile *tile) {
    const Op *put = load->next;
    while (put && !(put->code == OP_PUT && put_value(put) == load->results[0])) put = put->next;
    int *uses = ir_count_uses(st->k, st->cx->scratch);
    if (!put || uses[load->results[0]] != 1 || put->list_count[0]) return false;
    if (is_fused(st, hand_ring(st->k, put))) return false;
    /* Rows by themselves come sooner by the threads of the role. */
    if (ir_type(st->k, load->results[0])->rank < 2 && !choose_is_beside(st->k, put)) return false;
    *tile = tma_field(st, put);
    return tma_fills(tile) && tma_fits(st, load, ir_type(st->k, load->results[0]), tile);
}

Op *tma_may_store(LayoutState *st, const Op *get, SharedTile *tile) {
    Op *store = get->next;
    while (store && !(store->code == OP_TSTORE && op_operand(store, 1) == get->results[0])) store = store->next;
    int *uses = ir_count_uses(st->k, st->cx->scratch);
    if (!store || uses[get->results[0]] != 1) return NULL;
    *tile = tma_field(st, get);
    return ir_type(st->k, get->results[0])->rank == 2 && tma_fills(tile) &&
                   tma_fits(st, store, ir_type(st->k, get->results[0]), tile)
               ? store
               : NULL;
}

Facts lay_facts(const PassContext *cx, Kernel *k) {
    Facts facts = facts_new(k, cx->options.generic <= REQUIRE_ALIGNED);
    facts.whole_rows = cx->options.generic == REQUIRE_ALL;
    facts.odd = cx->options.odd;
    facts.no_ones = cx->options.no_ones;
    return facts;
}

/* Does TMA fill the field that the put writes, by a map of the launch: as its load says, or, before layout, as it
 * will? */
static bool is_filled(PassContext *cx, Kernel *k, const Op *put) {
    const Op *load = ref_is_value(put_value(put)) ? ir_value(k, put_value(put))->op : NULL;
    if (!load || load->code != OP_TLOAD || layout_made(k, load)) return false;
    if (k->form >= FORM_LAYOUT) return layout_put_mover(k, put) == MOVER_TMA;
    LayoutState st = {.cx = cx, .k = k, .facts = lay_facts(cx, k), .role = role_around(put)};
    SharedTile tile;
    st.facts.only_asks = true;
    return !find_made(&st, load) && tma_may_load(&st, load, &tile);
}

Op *layout_made(const Kernel *k, const Op *load) {
    Op *tensor = ir_value(k, load->operands[0])->op;
    return tensor && op_flag(tensor, AT_MADE) ? tensor : NULL;
}

bool layout_fills_by_tma(PassContext *cx, Kernel *k, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_PUT && !is_filled(cx, k, op)) return false;
        for (int i = 0; i < op->region_count; i++)
            if (!layout_fills_by_tma(cx, k, op->regions[i])) return false;
    }
    return true;
}

/* --- who does --- */
bool tma_place_load(LayoutState *st, Op *load) {
    SharedTile tile;
    if (!tma_may_load(st, load, &tile)) return false;
    Op *made = find_made(st, load);
    if (made) make_map(st, load, made);
    lay_set(st, load->results[0], lay_in_shared(st, tile));
    op_set(st->k, load, (Attr){.id = AT_MOVER, .word = MOVER_TMA});
    return true;
}

bool tma_place_store(LayoutState *st, const Op *get) {
    SharedTile tile;
    Op *store = tma_may_store(st, get, &tile);
    if (!store) return false;
    lay_set(st, get->results[0], lay_in_shared(st, tile));
    op_set(st->k, store, (Attr){.id = AT_MOVER, .word = MOVER_TMA});
    int groups = layout_group(st->cx, st->k, st->role).warps / st->cx->machine->group_warps;
    if (groups > 1 &&
        role_loops_around(store)) { /* there, warpgroups may store by themselves what is never the same memory */
        TensorParts parts = fact_tensor(&st->facts, store->operands[0]);
        fact_wish_rows_apart(&st->facts, &parts);
    }
    return true;
}
