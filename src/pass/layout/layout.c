/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c: pass `layout`, for machines with threads. Contract:
 *
 *   in   flat, access or ring form, orders and instructions stamped
 *   out  FORM_LAYOUT: every tile value has a layout (layout.h); operands of an elementwise op live
 * where its result lives (extents of 1: where the result's squeezed layout says), operands of a dot
 * in shared memory, loads and stores coalesced; `convert` wherever a value is wanted elsewhere than
 * it is
 *
 * Loads, dots and reductions fix a layout by their nature (layout_choose.c); elementwise ops take
 * over that of their operands, a loop-carried value that of what is yielded. Values computed from
 * indices and constants alone float: they have no layout of their own and are computed again in
 * each layout that someone wants them in, which costs less than moving them. Wishes about alignment
 * and strides become `require`s (facts.h). */
#include "ir/ringform.h"
#include "pass/layout/layout_state.h"

#include <string.h>

/* --- small helpers --- */
bool lay_is_tile(const Kernel *k, Ref ref) {
    if (!ref_is_value(ref)) return false;
    const Type *t = ir_type(k, ref);
    return t->kind == TY_TILE && t->rank > 0;
}

const Layout *lay_in_registers(LayoutState *st, LinearLayout map, const Type *type) {
    Layout *layout = ARENA_NEW(st->k->module->arena, Layout);
    layout->map = map;
    layout->registers = ll_registers(&map, type->extent);
    return layout;
}

const Layout *lay_in_shared(LayoutState *st, SharedTile tile) {
    Layout *layout = ARENA_NEW(st->k->module->arena, Layout);
    layout->home = HOME_SHARED;
    layout->tile = tile;
    return layout;
}

LinearLayout lay_fit(const LinearLayout *map, const Type *operand) {
    LinearLayout result = *map;
    for (int d = 0; d < operand->rank; d++)
        if (operand->extent[d] == 1 && result.log2[d]) result = ll_squeeze(&result, d);
    return result;
}

LinearLayout lay_operand(const Kernel *k, const Op *op, int i, const LinearLayout *map) {
    const Type *type = ir_type(k, op->operands[i]);
    if (op->code == OP_REPEAT) {
        int axis = (int)op_int(op, AT_AXIS, 0);
        return ll_shorten(map, axis, map->log2[axis] - ll_log2(type->extent[axis]));
    }
    bool box = op->code == OP_TLOAD || op->code == OP_TSTORE || op->code == OP_TATOMIC;
    int dim = box ? i - 1 : -1; /* behind the tensor */
    if (dim < 0 || dim >= op->list_count[0]) return lay_fit(map, type);
    LinearLayout slice = *map;
    int axis = box_axis(op, ir_type(k, op->operands[0])->rank, map->rank, dim);
    for (int d = map->rank; d-- > 0;)
        if (d != axis) slice = ll_slice(&slice, d);
    return slice;
}

bool lay_powers(const Type *t) {
    for (int d = 0; d < t->rank; d++)
        if (t->extent[d] & (t->extent[d] - 1)) return false;
    return true;
}

void lay_refuse(LayoutState *st, const Op *op) {
    diag_emit(st->k->module->diag, DIAG_LAYOUT_OP, op->range, op_info[op->code].mnemonic, st->cx->machine->name);
    st->failed = true;
}

/* --- what a value would like --- */
const Layout *lay_default(LayoutState *st, const Type *type) {
    return lay_in_registers(st, choose_blocked(st->cx->machine, type, st->warps, type->rank - 1), type);
}

/* The operand whose layout an elementwise result takes over: of full shape; an accumulator before a load, and anything
 * before a vector that can be read again. A tile made of rows and columns alone, for one use, floats: its parts are
 * short. */
static const Layout *natural_elementwise(LayoutState *st, const Op *op) {
    const Type *result = ir_type(st->k, op->results[0]);
    const Layout *best = NULL;
    bool anchored = false, again = false;
    for (int i = 0; i < op->operand_count; i++) {
        Ref x = op->operands[i];
        if (!lay_is_tile(st->k, x)) continue;
        const Layout *layout = lay_natural(st, x);
        if (!layout || layout->home != HOME_REGISTERS) continue;
        anchored = true;
        if (!ty_same_shape(ir_type(st->k, x), result)) continue;
        const Op *from = ir_value(st->k, x)->op;
        bool accumulator = from && from->code == OP_DOT;
        if (best && !accumulator && !(again && !index_is_vector(st, x))) continue;
        best = lay_in_registers(st, layout->map, result);
        again = result->rank == 1 && !accumulator && index_is_vector(st, x);
    }
    bool once = op->results[0] < st->value_count && st->uses[op->results[0]] == 1;
    return best ? best : anchored && !once ? lay_default(st, result) : NULL;
}

static const Layout *natural_shape(LayoutState *st, const Op *op) {
    const Layout *from = lay_natural(st, op->operands[0]);
    const Type *type = ir_type(st->k, op->results[0]), *t = ir_type(st->k, op->operands[0]);
    if (!from) return NULL;
    if (from->home == HOME_SHARED) {
        if (op->code != OP_PERMUTE || t->rank != 2) return lay_default(st, type);
        SharedTile tile = from->tile;
        tile.turned = op_attr(op, AT_DIMS)->list.at[0] == 1 ? !tile.turned : tile.turned;
        return lay_in_shared(st, tile);
    }
    if (op->code == OP_EXPAND) return lay_in_registers(st, ll_expand(&from->map, (int)op_int(op, AT_AXIS, 0)), type);
    if (op->code == OP_PERMUTE)
        return lay_in_registers(st, ll_permute(&from->map, op_attr(op, AT_DIMS)->list.at), type);
    if (op->code == OP_RESHAPE) return lay_in_registers(st, ll_reshape(&from->map, type->rank, type->extent), type);
    return lay_default(st, type);
}

/* Do all uses of a ring's view read it from shared memory: as an operand of a dot, or stored by TMA? */
static bool reads_in_place(LayoutState *st, const Region *region, Ref value) {
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++) {
            if (op->operands[i] != value) continue;
            if (op->code == OP_PERMUTE && ir_type(st->k, value)->rank == 2) {
                if (!reads_in_place(st, op->parent, op->results[0])) return false;
            } else if (!(op->code == OP_DOT && i < 2)) {
                return false;
            }
        }
        for (int i = 0; i < op->region_count; i++)
            if (!reads_in_place(st, op->regions[i], value)) return false;
    }
    return true;
}

/* Where the addresses of a gather or scatter are, if they do not float: they stay there, and the elements come to
 * them. */
static const Layout *address_layout(LayoutState *st, const Op *op, const Type *type) {
    Ref at = op->operands[0];
    if (!lay_is_tile(st->k, at) || !ir_type(st->k, at)->pointer) return NULL;
    const Layout *from = lay_natural(st, at);
    return from && type->rank > 1 ? lay_in_registers(st, from->map, type) : NULL;
}

/* A sum that is spread out again over the axis that it was made of (`sum(x, axis=1, keep_dims=True)`, then back to x's
 * shape) lies where that lay: each thread has it already. */
static const Layout *natural_broadcast(LayoutState *st, const Op *op, const Type *type) {
    const Layout *from = lay_natural(st, op->operands[0]);
    if (!from || index_is_sum(st, op)) return NULL;
    const Op *expand = ir_value(st->k, op->operands[0])->op;
    bool expanded = expand && expand->code == OP_EXPAND;
    const Op *reduce = expanded ? ir_value(st->k, expand->operands[0])->op : NULL;
    if (reduce && reduce->code == OP_REDUCE && op_int(reduce, AT_AXIS, 0) == op_int(expand, AT_AXIS, 0) &&
        ty_same_shape(ir_type(st->k, reduce->operands[0]), type)) {
        from = lay_natural(st, reduce->operands[0]);
        if (from && from->home == HOME_REGISTERS) return lay_in_registers(st, from->map, type);
    }
    return lay_default(st, type);
}

/* Where a dot takes what is made of it from. Else each thread repeats what it has, along a row; rows of a slot that are
 * repeated are taken from there by all who need them, so that rows are vectors again. */
static const Layout *natural_repeat(LayoutState *st, const Op *op, const Type *type) {
    const Layout *left = lay_left(st, op), *from = left ? NULL : lay_natural(st, op->operands[0]);
    if (left || !from) return left;
    int axis = (int)op_int(op, AT_AXIS, 0), bits = ll_log2(type->extent[axis]);
    const Op *get = ir_value(st->k, op->operands[0])->op;
    if (from->home == HOME_SHARED || (get && get->code == OP_GET && axis < type->rank - 1))
        return lay_default(st, type);
    return lay_in_registers(st, ll_lengthen(&from->map, axis, bits - from->map.log2[axis]), type);
}

/* Of what a product of its region adds to: where that has its sum. */
static const Layout *natural_begun(LayoutState *st, const Op *op, int index) {
    for (const Op *to = op->next; to; to = to->next)
        if (to->code == OP_DOT && op_operand(to, 2) == op->results[index]) return lay_natural(st, to->results[0]);
    return NULL;
}

static const Layout *natural_op(LayoutState *st, const Op *op, int index) {
    const Type *type = ir_type(st->k, op->results[index]);
    if (moves_is(st, op)) return moves_natural(st, op, index);
    switch (op->code) {
    case OP_SPLAT:
    case OP_IOTA:
    case OP_UNDEF: return NULL;
    case OP_EXPAND:
    case OP_RESHAPE:
    case OP_PERMUTE: return index_is_sum(st, op) ? NULL : natural_shape(st, op);
    case OP_BROADCAST: return natural_broadcast(st, op, type);
    case OP_REPEAT: return natural_repeat(st, op, type);
    case OP_LOAD: {
        const Layout *at = address_layout(st, op, type);
        return at ? at : lay_default(st, type);
    }
    case OP_TLOAD: {
        const Layout *own =
            lay_in_registers(st, choose_access(st->cx->machine, &st->facts, op, type, st->warps), type);
        const Layout *better = lay_widened(st, op, own);
        if (!better) better = lay_named(st, op, own);
        return better ? better : own;
    }
    case OP_GET: {
        Ref ring = hand_ring(st->k, op);
        const Layout *held = lay_held_left(st, op);
        if (held) return held;
        if (!op_flag(op, AT_COPY) && reads_in_place(st, op->parent, op->results[0]))
            return lay_in_shared(st, choose_field(st->cx, st->k, ring, hand_field(op)));
        const Layout *left = lay_left(st, op);
        return left ? left : lay_default(st, type);
    }
    case OP_DOT: return lay_in_registers(st, choose_accumulator(st->cx, st->k, op, st->warps), type);
    case OP_REDUCE: {
        const Layout *from = lay_natural(st, op->operands[0]);
        if (!from) from = lay_default(st, ir_type(st->k, op->operands[0]));
        return lay_in_registers(st, ll_slice(&from->map, (int)op_int(op, AT_AXIS, 0)), type);
    }
    case OP_FOR: return lay_natural(st, op->regions[0]->args[index + 1]);
    case OP_WHILE: return lay_natural(st, op->regions[1]->args[index]);
    case OP_IF: {
        const Layout *sum = natural_begun(st, op, index);
        if (sum) return sum;
        const Layout *then = lay_natural(st, op->regions[0]->last->operands[index]);
        if (!then && op->region_count > 1) then = lay_natural(st, op->regions[1]->last->operands[index]);
        return then ? then : lay_default(st, type);
    }
    default:
        if (!op_has(op->code, TRAIT_ELEMENTWISE)) return lay_default(st, type);
        return index_is_sum(st, op) ? NULL : natural_elementwise(st, op);
    }
}

/* A value that a loop carries: what is yielded decides, then what it starts from; it never floats. */
static const Layout *natural_carried(LayoutState *st, Ref initial, Ref yielded, const Type *type) {
    const Layout *layout = lay_is_tile(st->k, yielded) ? lay_natural(st, yielded) : NULL;
    if (!layout && lay_is_tile(st->k, initial)) layout = lay_natural(st, initial);
    if (!layout || layout->home == HOME_SHARED) return lay_default(st, type);
    return layout;
}

static const Layout *natural_argument(LayoutState *st, const Value *v) {
    const Op *owner = v->region->owner;
    if (owner && owner->code == OP_FOR)
        return natural_carried(st, owner->operands[2 + v->index], v->region->last->operands[v->index - 1], v->type);
    if (owner && owner->code == OP_WHILE)
        return natural_carried(st, owner->operands[v->index], owner->regions[1]->last->operands[v->index], v->type);
    return lay_default(st, v->type);
}

static Natural *natural_entry(LayoutState *st, Ref ref) {
    while (st->natural.count <= ref) VEC_PUSH(&st->natural, st->cx->scratch);
    return &st->natural.at[ref];
}

const Layout *lay_natural(LayoutState *st, Ref ref) {
    if (!lay_is_tile(st->k, ref)) return NULL;
    Value v = *ir_value(st->k, ref);
    if (v.layout) return v.layout;
    Natural *entry = natural_entry(st, ref);
    if (entry->state == ASKED) st->cycles++; /* through a loop: someone else decides */
    if (entry->state != UNSEEN) return entry->layout;
    if (entry->asked_at == st->known + 1) { /* nothing is known that was not known then */
        st->cycles++;
        return NULL;
    }
    entry->state = ASKED;
    int cycles = st->cycles;
    const Layout *layout = v.op ? natural_op(st, v.op, v.index) : natural_argument(st, &v);
    entry = natural_entry(st, ref);
    /* "Floats" only because the loop's own value was not known yet is no answer for later. */
    entry->state = layout || st->cycles == cycles ? KNOWN : UNSEEN;
    if (layout) st->known++;
    entry->asked_at = st->known + 1;
    return entry->layout = layout;
}

/* --- one op after the other --- */
void lay_set(LayoutState *st, Ref ref, const Layout *layout) { ir_value(st->k, ref)->layout = layout; }

bool lay_dot_fits(LayoutState *st, const Op *dot) {
    Diag *diag = st->k->module->diag;
    const Machine *machine = st->cx->machine;
    if (ir_type(st->k, dot->operands[0])->rank != 2) {
        diag_emit(diag, DIAG_LAYOUT_DOT_RANK, dot->range, machine->name);
        return false;
    }
    const Matrix *row = matrix_of(st->k, dot);
    Word asked = op_word(dot, AT_INSTR, INSTR_FMA);
    int warps = layout_group_of(st->cx, st->k, dot).warps;
    const char *why =
        row->instr == asked ? matrix_misfit(row, machine, st->k, dot, warps) : "it does not multiply these types";
    if (why) diag_emit(diag, DIAG_LAYOUT_DOT_INSTR, dot->range, word_info[asked].text, machine->name, why);
    return !why;
}

static void look_at_dot(Op *op, void *user) {
    LayoutState *st = user;
    if (op->code != OP_DOT || st->failed) return;
    st->failed = !lay_dot_fits(st, op);
    if (!st->failed && matrix_of(st->k, op)->warps) choose_grid(st->k, op, layout_group_of(st->cx, st->k, op).warps);
}

static void place_dot(LayoutState *st, Op *op) {
    const Matrix *row = matrix_of(st->k, op);
    const Layout *layout = lay_natural(st, op->results[0]);
    for (int i = 0; i < 2; i++) {
        Ref x = op->operands[i];
        const Layout *from = lay_natural(st, x);
        if (from && from->home == HOME_SHARED) continue;
        if (i == 0 && lay_stays_in_registers(st, op, row, from)) {
            op->operands[0] = lay_want(st, x, from, op);
            continue;
        }
        const Layout *traded = i == 0 ? lay_traded(st, op, row, from) : NULL;
        if (traded) {
            op->operands[0] = lay_want(st, x, traded, op);
            continue;
        }
        const Layout *kept = i == 0 ? lay_kept_left(st, op) : NULL;
        if (kept) {
            op->operands[0] = lay_want(st, x, kept, op);
            continue;
        }
        SharedTile tile = layout_operand_tile(ir_type(st->k, x), row, i, false);
        /* A transposed operand that was loaded row by row is stored as it came, and read turned. */
        const Op *def = ref_is_value(x) ? ir_value(st->k, x)->op : NULL;
        if (def && def->code == OP_PERMUTE && op_attr(def, AT_DIMS)->list.at[0] == 1) {
            tile = layout_operand_tile(ir_type(st->k, def->operands[0]), row, i, true);
            tile.turned = false;
            Ref stored = lay_want(st, def->operands[0], lay_in_shared(st, tile), op);
            tile.turned = true;
            RefMap map = {.arena = st->cx->scratch};
            refmap_set(&map, def->operands[0], stored);
            Builder b = ir_builder_before(st->k, op);
            Op *turned = ir_clone(&b, def, &map);
            lay_set(st, turned->results[0], lay_in_shared(st, tile));
            op->operands[i] = turned->results[0];
            continue;
        }
        op->operands[i] = lay_want(st, x, lay_in_shared(st, tile), op);
    }
    op->operands[2] = lay_want(st, op->operands[2], layout, op);
    lay_set(st, op->results[0], layout);
}

/* Bytes along the contiguous dimension that one store of a warp covers without a gap: its vector, then its lanes. */
static int64_t run_of_warp(const Machine *machine, const LinearLayout *map, int dim, int elem_bytes) {
    int64_t run = ll_run(map, dim, elem_bytes, machine->vector_bytes);
    for (bool grown = true; grown;) {
        grown = false;
        uint32_t next = (uint32_t)run << ll_shift(map, dim);
        for (int i = 0; i < map->count[LL_LANE] && !grown; i++) grown = map->basis[LL_LANE][i] == next;
        if (grown) run *= 2;
    }
    return run * elem_bytes;
}

/* Would a warp that stores the tile from this layout write less than whole sectors? */
bool lay_leaves_gaps(const Machine *machine, const Layout *layout, const Type *type, int dim) {
    int64_t bytes = elem_info[type->elem].bytes, whole = type->extent[dim] * bytes;
    return run_of_warp(machine, &layout->map, dim, (int)bytes) <
           (whole < machine->sector_bytes ? whole : machine->sector_bytes);
}

/* One number a warp, or a few in all: each is written by itself sooner than the warps have met. */
static bool is_tiny(const Layout *layout, const Machine *machine, int64_t bytes) {
    bool one = layout->registers == 1;
    if (one && bytes << ll_index_bits(&layout->map) <= machine->sector_bytes) return true;
    for (int i = 0; i < layout->map.count[LL_LANE]; i++) one &= layout->map.basis[LL_LANE][i] == 0;
    return one;
}

static void place_store(LayoutState *st, Op *op, int value_group) {
    Ref value = op_operand(op, value_group);
    if (!lay_is_tile(st->k, value) && !lay_is_tile(st->k, op->operands[0])) return;
    const Type *type = lay_is_tile(st->k, value) ? ir_type(st->k, value) : ir_type(st->k, op->operands[0]);
    if (op->code == OP_STORE || op->code == OP_ATOMIC || op->code == OP_ATOMIC_CAS)
        type = ir_type(st->k, op->operands[0]);
    const Layout *layout = lay_natural(st, value);
    if (layout && layout->home == HOME_SHARED) return; /* stored by TMA */
    const Layout *at = address_layout(st, op, type);
    if (at) {
        lay_want_operands(st, op, at);
        if (op->result_count) lay_set(st, op->results[0], at);
        return;
    }
    int contiguous = choose_contiguous(&st->facts, op, type);
    int64_t bytes = elem_info[type->elem].bytes;
    const Machine *machine = st->cx->machine;
    bool same = lay_is_tile(st->k, value) && ir_type(st->k, value)->rank == type->rank &&
                ty_elements(ir_type(st->k, value)) == ty_elements(type);
    bool other = !same || !layout;
    /* Through shared memory if a warp would write less than whole sectors, and if the tile fits there. */
    if (!other && !is_tiny(layout, machine, bytes) && bytes << ll_index_bits(&layout->map) <= machine->ring_bytes)
        other = lay_leaves_gaps(machine, layout, type, contiguous);
    if (other)
        layout = lay_in_registers(
            st, choose_blocked(machine, ty_with_elem(st->k->module, type, type->elem), st->warps, contiguous), type);
    lay_want_operands(st, op, layout);
    if (op->result_count) lay_set(st, op->results[0], layout);
    near_holds(machine, &st->facts, op); /* a wish */
    if (access_has_vectors(st, op)) layout_vector(machine, &st->facts, op, type, &layout->map); /* for its wishes */
    layout_wish_own(&st->facts, op);
}

static void place_region(LayoutState *st, Region *region);

static void place_loop(LayoutState *st, Op *op) {
    Region *body = op->regions[op->region_count - 1];
    int first = op->code == OP_FOR ? 3 : 0, skip = op->code == OP_FOR ? 1 : 0;
    for (int i = first; i < op->operand_count; i++) {
        Ref arg = body->args[i - first + skip];
        if (!lay_is_tile(st->k, arg)) continue;
        const Layout *layout = lay_natural(st, arg);
        op->operands[i] = lay_want(st, op->operands[i], layout, op);
        lay_set(st, arg, layout);
        lay_set(st, op->results[i - first], layout);
        if (op->code == OP_WHILE) lay_set(st, op->regions[0]->args[i], layout);
    }
    for (int r = 0; r < op->region_count; r++) {
        place_region(st, op->regions[r]);
        Op *end = op->regions[r]->last;
        int skipped = end->code == OP_TEST ? 1 : 0;
        for (int i = skipped; i < end->operand_count; i++)
            if (lay_is_tile(st->k, end->operands[i]))
                end->operands[i] =
                    lay_want(st, end->operands[i], ir_value(st->k, op->results[i - skipped])->layout, end);
    }
}

static void place_if(LayoutState *st, Op *op) {
    for (int i = 0; i < op->result_count; i++)
        if (lay_is_tile(st->k, op->results[i])) lay_set(st, op->results[i], lay_natural(st, op->results[i]));
    for (int r = 0; r < op->region_count; r++) {
        place_region(st, op->regions[r]);
        Op *end = op->regions[r]->last;
        for (int i = 0; end && i < end->operand_count; i++)
            if (lay_is_tile(st->k, end->operands[i]))
                end->operands[i] = lay_want(st, end->operands[i], ir_value(st->k, op->results[i])->layout, end);
    }
}

static void place_role(LayoutState *st, Op *op) {
    st->role = op;
    st->warps = layout_group(st->cx, st->k, op).warps;
    place_region(st, op->regions[0]);
    st->role = NULL;
}

/* Workers, each on warps of its own; threads have no tiles. */
static void place_workers(LayoutState *st, Op *op) {
    int warps = st->warps;
    if (op_word(op, AT_UNIT, UNIT_THREAD) == UNIT_THREAD) return;
    for (int r = 0; r < op->region_count; r++) {
        st->warps = layout_group_of_worker(st->cx, op, r).warps;
        place_region(st, op->regions[r]);
    }
    st->warps = warps;
}

static void place_reduce(LayoutState *st, Op *op) {
    const Layout *from = lay_natural(st, op->operands[0]);
    if (!from || from->home == HOME_SHARED) from = lay_default(st, ir_type(st->k, op->operands[0]));
    lay_want_operands(st, op, from);
    for (int i = 0; i < op->result_count; i++)
        if (lay_is_tile(st->k, op->results[i]))
            lay_set(st, op->results[i],
                    lay_in_registers(st, ll_slice(&from->map, (int)op_int(op, AT_AXIS, 0)),
                                     ir_type(st->k, op->results[i])));
}

static void place_op(LayoutState *st, Op *op) {
    switch (op->code) {
    case OP_FOR:
    case OP_WHILE: place_loop(st, op); return;
    case OP_IF: place_if(st, op); return;
    case OP_TASKS:
        for (int i = 0; i < op->region_count; i++) place_region(st, op->regions[i]);
        return;
    case OP_ROLE: place_role(st, op); return;
    case OP_SPMD: place_workers(st, op); return;
    case OP_STORE:
    case OP_ATOMIC:
    case OP_ATOMIC_CAS:
    case OP_TSTORE:
    case OP_TATOMIC: place_store(st, op, 1); return;
    case OP_PUT: {
        Ref value = op_operand(op, 1);
        const Layout *layout = lay_is_tile(st->k, value) ? lay_natural(st, value) : NULL;
        if (layout && layout->home == HOME_SHARED) return;
        if (lay_is_tile(st->k, value)) {
            if (!layout) layout = lay_default(st, ir_type(st->k, value));
            for (int i = 1; i < op->operand_count; i++)
                if (op->operands[i] == value) op->operands[i] = lay_want(st, value, layout, op);
        }
        return;
    }
    case OP_REDUCE: place_reduce(st, op); return;
    default: break;
    }
    bool touches = op->result_count && lay_is_tile(st->k, op->results[0]);
    for (int i = 0; i < op->operand_count; i++) touches |= lay_is_tile(st->k, op->operands[i]);
    if (!touches || op_has(op->code, TRAIT_TERMINATOR)) return;
    if (op->code == OP_BLOAD && ir_value(st->k, op->results[0])->layout) return; /* a view (layout_view.c) */
    if (moves_is(st, op)) {
        moves_place(st, op);
        return;
    }
    if (!op->result_count) {
        lay_refuse(st, op);
        return;
    }
    if (op->code == OP_RESHAPE && !lay_is_tile(st->k, op->results[0])) {
        /* The one element of a tile as a scalar: in a layout that every thread holds it in. */
        const Type *type = ir_type(st->k, op->operands[0]);
        op->operands[0] = lay_want(st, op->operands[0], lay_default(st, type), op);
        return;
    }
    if (op->code == OP_TLOAD && st->role && !role_is_guest(st->role) && tma_place_load(st, op)) return;
    if (op->code == OP_GET && st->role && tma_place_store(st, op)) return;
    const Layout *layout = lay_natural(st, op->results[0]);
    if (!layout) return; /* floats */
    switch (op->code) {
    case OP_DOT: place_dot(st, op); return;
    case OP_EXPAND:
    case OP_RESHAPE:
    case OP_PERMUTE:
        /* No element moves: it lies as its operand does by now, which was a guess while a loop around it was asked. */
        layout = natural_entry(st, op->results[0])->layout = natural_shape(st, op);
        if (layout) lay_set(st, op->results[0], layout);
        return;
    case OP_TLOAD:
    case OP_LOAD:
    case OP_BROADCAST:
    case OP_REPEAT:
    case OP_GET: break;
    default:
        if (!op_has(op->code, TRAIT_ELEMENTWISE)) {
            lay_refuse(st, op);
            return;
        }
    }
    lay_want_operands(st, op, layout);
    lay_set(st, op->results[0], layout);
    if (op->code == OP_TLOAD) { /* wishes */
        layout_vector(st->cx->machine, &st->facts, op, ir_type(st->k, op->results[0]), &layout->map);
        near_holds(st->cx->machine, &st->facts, op);
    }
}

static void place_region(LayoutState *st, Region *region) {
    for (Op *op = region->first, *next; op && !st->failed; op = next) {
        next = op->next;
        place_op(st, op);
    }
}

/* Floating values that were computed elsewhere again are dead now. */
static void remove_dead(Kernel *k, Region *region, int *uses, bool *changed) {
    for (Op *op = region->last, *previous; op; op = previous) {
        previous = op->previous;
        for (int i = 0; i < op->region_count; i++) remove_dead(k, op->regions[i], uses, changed);
        bool load = op->code == OP_TLOAD || op->code == OP_LOAD || op->code == OP_GET || op->code == OP_BLOAD;
        bool dead = ((load && !op_flag(op, AT_VOLATILE)) || op_has(op->code, TRAIT_PURE)) && op->result_count > 0;
        for (int i = 0; dead && i < op->result_count; i++)
            dead = lay_is_tile(k, op->results[i]) && uses[op->results[i]] == 0;
        if (!dead) continue;
        for (int i = 0; i < op->operand_count; i++)
            if (ref_is_value(op->operands[i])) uses[op->operands[i]]--;
        ir_remove(op);
        *changed = true;
    }
}

static void remove_all_dead(PassContext *cx, Kernel *k) {
    for (bool changed = true; changed;) {
        changed = false;
        remove_dead(k, k->body, ir_count_uses(k, cx->scratch), &changed);
    }
}

/* --- rings --- */
const SharedTile *layout_field(const Kernel *k, Ref ring, int field) {
    const Layout *layout = ir_value(k, ring)->layout;
    if (!layout) ice(k->module->trap, "the ring has no layout");
    return &layout->fields[field];
}

/* The fields are stored as those need it who read them where they lie, which is known now. */
static void set_fields(Op *op, void *user) {
    LayoutState *st = user;
    if (op->code != OP_RING) return;
    const Type *type = ir_type(st->k, op->results[0]);
    SharedTile *tiles = ARENA_ARRAY(st->k->module->arena, SharedTile, type->field_count);
    for (int i = 0; i < type->field_count; i++) tiles[i] = choose_field(st->cx, st->k, op->results[0], i);
    Layout *slots = ARENA_NEW(st->k->module->arena, Layout);
    *slots = (Layout){.home = HOME_SLOTS, .fields = tiles};
    lay_set(st, op->results[0], slots);
}

/* A view of a field, and a load that TMA brings into one, lie as the field does. */
static void set_views(Op *op, void *user) {
    LayoutState *st = user;
    Ref view = op->code == OP_GET ? op->results[0] : op->code == OP_PUT ? op_operand(op, 1) : REF_NONE;
    const Layout *layout = lay_is_tile(st->k, view) ? ir_value(st->k, view)->layout : NULL;
    if (!layout || layout->home != HOME_SHARED) return;
    lay_set(st, view, lay_in_shared(st, *layout_field(st->k, hand_ring(st->k, op), hand_field(op))));
}

/* A kernel that arrives in layout form keeps its layouts; they are checked. Dead values are not for emitters here
 * either. */
static void check_written(PassContext *cx, Kernel *k) {
    if (!cx->machine->has_threads)
        diag_emit(k->module->diag, DIAG_LAYOUT_NO_THREADS, k->range, k->name, cx->machine->name);
    else if (layout_check(cx, k))
        remove_all_dead(cx, k);
}

bool pass_layout(PassContext *cx, Kernel *k) {
    if (k->form >= FORM_LAYOUT) {
        check_written(cx, k);
        return false;
    }
    if (!cx->machine->has_threads) return false;
    for (const Op *op = k->body->first; op; op = op->next)
        if (op->code == OP_TASKS && op->region_count == 2) { /* a template's own: `merge` was left out */
            diag_emit(k->module->diag, DIAG_FORM_TOO_EARLY, k->range, "layout", "ring", k->name, "source", "merge");
            return false;
        }
    LayoutState st = {.cx = cx, .k = k, .facts = lay_facts(cx, k)};
    st.warps = layout_group(cx, k, NULL).warps;
    if (st.warps & (st.warps - 1)) {
        diag_emit(k->module->diag, DIAG_NUM_WARPS, k->range, st.warps);
        return false;
    }
    ir_walk(k->body, look_at_dot, &st); /* before one is asked for its layout */
    if (!st.failed) view_take(&st);
    st.uses = ir_count_uses(k, cx->scratch);
    st.value_count = k->values.count;
    if (!st.failed) place_region(&st, k->body);
    if (st.failed) return false;
    remove_all_dead(cx, k);
    ir_walk(k->body, set_fields, &st);
    ir_walk(k->body, set_views, &st);
    lay_take_stored(&st);
    st.facts = facts_new(k, false);
    wave_decide(&st);
    access_decide(&st);
    hold_decide(&st);
    kernel_set(k, (Attr){.id = AT_WARPS, .number = layout_group(cx, k, NULL).warps});
    k->form = FORM_LAYOUT;
    return true;
}
