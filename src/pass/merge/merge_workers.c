/* SPDX-License-Identifier: Apache-2.0 */
/* merge_workers.c: a template's roles and workers become one flat program on whole tiles.
 *
 * In:  source form with `tasks while`, roles load and compute, `spmd` over warpgroups: what the
 * Tile C door writes. Out: source form without them, one program a task:
 *
 *     role load    { for %i { acquire; tload x6; put x6; commit } }        for %i {
 *     role compute { spmd %w in 2 {                                          %a = tload [128,64] ; %b = tload [64,256]
 *         for %i { wait; dot [64,256]; release }                  ->         dot [128,256] }
 *         put row %w; four tstores } }                                     tstore [128,256]
 *
 * By the law of elision (docs/ir.md): run by one worker in source order, every hand-over a plain
 * copy, a ring program is the flat program. So the flat program is what all doors have in common,
 * and `ring` cuts it the same way for all of them; the template's stages stay as the loop's wish.
 * The tiles of the workers stand above each other as one tile: an op that works row by row merges
 * as it is, a box whose row depends on the worker grows, and everything else is refused with the op
 * that resisted. Loads of one record that lie side by side in memory become one box, and so do its
 * stores. */
#include "pass/fold/fold.h"
#include "ir/ringform.h"
#include "pass/merge/merge.h"

#include <string.h>

bool merge_fail(Merge *m, const Op *op, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *why = arena_vprintf(m->k->module->arena, format, args);
    va_end(args);
    if (!m->failed) {
        m->why = why;
        m->resists = op;
    }
    m->failed = true;
    return false;
}

/* ---- references ---- */

bool merge_is_stacked(const Merge *m, Ref made) {
    return ref_is_value(made) && made < m->stacked_count && m->stacked[made];
}

/* A single worker's tile is the whole: nothing is stacked then. */
void merge_set_stacked(Merge *m, Ref made) {
    if (m->workers == 1) return;
    if (made >= m->stacked_count) {
        size_t larger = made * 2 + 64;
        bool *grown = ARENA_ARRAY(m->arena, bool, larger);
        if (m->stacked_count) memcpy(grown, m->stacked, m->stacked_count);
        m->stacked = grown;
        m->stacked_count = larger;
    }
    m->stacked[made] = true;
}

const Type *merge_stacked_type(const Merge *m, const Type *type) {
    int64_t extent[MAX_RANK];
    memcpy(extent, type->extent, sizeof extent);
    extent[0] *= m->workers;
    if (type->kind == TY_BUFFER) return ty_buffer(m->k->module, type->elem, type->rank, extent, type->scope);
    return ty_with_shape(m->k->module, type, type->rank, extent);
}

void merge_bind(Merge *m, Ref old, Ref made, bool stacked) {
    refmap_set(&m->map, old, made);
    if (stacked) merge_set_stacked(m, made);
    const char *name = ir_value(m->k, old)->name;
    if (ref_is_value(made) && name && !ir_value(m->k, made)->name) ir_name(m->k, made, name);
}

/* The polynomial of an old scalar; false if it has none. */
static bool poly_of(Merge *m, Ref r, Poly *out) {
    const Affine *affine = affine_of(&m->affine, r);
    if (!affine->known || affine->base || affine->rank) return false;
    *out = affine->start;
    return true;
}

/* How much the scalar grows from worker to worker; false if that is no constant. */
bool merge_worker_step(Merge *m, Ref r, int64_t *step) {
    *step = 0;
    if (!ref_is_value(r) || !m->by_worker[r]) return true;
    Poly p;
    if (!poly_of(m, r, &p)) return false;
    for (int i = 0; i < p.count; i++)
        for (int j = 0; j < p.at[i].count; j++) {
            Ref factor = p.at[i].factor[j];
            if (!ref_is_value(factor) || !m->by_worker[factor]) continue;
            if (p.at[i].count != 1 || factor != m->worker) return false; /* w * n, min(w, n), w as a float */
            *step = p.at[i].scale;
        }
    return true;
}

bool merge_distance(Merge *m, Ref a, Ref b, int64_t *distance) {
    Poly pa, pb;
    *distance = 0;
    if (a == b) return true;
    if (!poly_of(m, a, &pa) || !poly_of(m, b, &pb)) return false;
    return poly_const(poly_sub(m->arena, pb, pa), distance);
}

/* b - a is this number. */
static bool differ_by(Merge *m, Ref a, Ref b, int64_t wanted) {
    int64_t value;
    return merge_distance(m, a, b, &value) && value == wanted;
}

/* ---- loads ---- */

/* The put with all indices 0, and proof that the others lie beside it as the layout says. */
static const Op *check_boxes(Merge *m, const RingField *field) {
    const Op *origin = NULL;
    int outer = field->type->rank - 2;
    int64_t wanted = 1;
    for (int d = 0; d < outer; d++) wanted *= field->type->extent[d];
    for (size_t i = 0; i < field->puts.count; i++) {
        const Op *put = field->puts.at[i];
        bool first = true;
        for (int d = 0; d < outer && put->list_count[0]; d++) {
            int64_t at;
            if (!ir_const_int(m->k, op_list(put, 0).at[d], &at)) {
                merge_fail(m, put, "the tile that is loaded must be picked by a constant index"
                           FIX "write a load for each tile");
                return NULL;
            }
            first = first && at == 0;
        }
        if (first) origin = put;
    }
    bool *seen = ARENA_ARRAY(m->arena, bool, wanted);
    for (size_t i = 0; origin && i < field->puts.count; i++) {
        const Op *put = field->puts.at[i], *load = ir_value(m->k, put_value(put))->op;
        const Op *base = ir_value(m->k, op_operand(origin, 1))->op;
        if (!load || !base || load->code != OP_TLOAD || base->code != OP_TLOAD ||
            load->operands[0] != base->operands[0] || op_operand(load, 1) || box_is_indexed(m->k, load)) {
            merge_fail(m, put, "a field of the input block must be filled by plain loads from one global"
                       FIX "load all its tiles from the same one, without masks");
            return NULL;
        }
        RefList to = op_list(load, 0), from = op_list(base, 0);
        int64_t row = 0, col = 0, index = 0;
        for (int d = 0; d < outer; d++) {
            int64_t at = 0;
            if (put->list_count[0]) ir_const_int(m->k, op_list(put, 0).at[d], &at);
            index = index * field->type->extent[d] + at;
            row += at * merge_stride(field, &field->rows, d);
            col += at * merge_stride(field, &field->cols, d);
        }
        bool beside = differ_by(m, from.at[to.count - 2], to.at[to.count - 2], row) &&
                      differ_by(m, from.at[to.count - 1], to.at[to.count - 1], col);
        for (int d = 0; d < to.count - 2; d++) beside = beside && differ_by(m, from.at[d], to.at[d], 0);
        if (!beside || seen[index]) {
            merge_fail(m, load,
                       seen[index] ? "this tile of the input block is loaded twice" FIX "load each tile once"
                                   : "the tiles of field `%s` do not lie side by side in memory as "
                                     "they do in the block" FIX "number them as they lie there",
                       field->name);
            return NULL;
        }
        seen[index] = true;
    }
    if (!origin || (int64_t)field->puts.count != wanted) {
        const Op *where = origin ? origin : m->load;
        m->wrong = true;
        merge_fail(m, where, "field `%s` of the input block has %lld tiles, %lld of them are loaded"
                   FIX "load each of them once", field->name,
                   (long long)wanted, (long long)field->puts.count);
        return NULL;
    }
    return origin;
}

/* Where the consumer waits: what the producer did for this item. */
static bool load_item(Merge *m, const Region *body) {
    for (const Op *op = body->first; op != body->last; op = op->next) {
        m->b.range = op->range;
        switch (op->code) {
        case OP_ACQUIRE:
        case OP_COMMIT:
        case OP_PUT:
        case OP_TLOAD: break;
        default:
            if (!op_has(op->code, TRAIT_PURE) || op->region_count)
                return merge_fail(m, op, "the load callback may only compute coordinates and load"
                                  FIX "compute the rest in the consumer");
            ir_clone(&m->b, op, &m->map);
        }
    }
    VEC(RingField *) order = {0}; /* fields as the producer fills them */
    for (const Op *op = body->first; op; op = op->next) {
        RingField *field = op->code == OP_PUT ? merge_field(m, op) : NULL;
        bool known = !field || !field->laid; /* nobody uses it: it need not be loaded */
        for (size_t i = 0; i < order.count; i++) known = known || order.at[i] == field;
        if (!known) *VEC_PUSH(&order, m->arena) = field;
    }
    for (size_t i = 0; i < order.count; i++) {
        RingField *field = order.at[i];
        const Op *put = check_boxes(m, field);
        if (!put) return false;
        const Op *load = ir_value(m->k, put_value(put))->op;
        RefList at = op_list(load, 0);
        Ref offsets[MAX_RANK];
        for (int d = 0; d < at.count; d++) offsets[d] = refmap_get(&m->map, at.at[d]);
        int64_t extent[2] = {merge_extent(field, &field->rows), merge_extent(field, &field->cols)};
        m->b.range = load->range;
        Ref tensor = refmap_get(&m->map, load->operands[0]);
        field->value = ir_tload(&m->b, tensor, offsets, REF_NONE, ty_tile(m->k->module, field->type->elem, 2, extent));
        ir_name(m->k, field->value, field->name);
        if (field->stacked && !field->across) merge_set_stacked(m, field->value);
    }
    return true;
}

/* ---- the consumers' work ---- */

static bool merge_region(Merge *m, const Region *region);

/* The merged value of an old operand; views are cut from their field here. */
bool merge_value_of(Merge *m, const Op *user, Ref old, Ref *out) {
    const View *view = merge_view(m, old);
    if (!view) {
        if (ref_is_value(old) && map_find_number(&m->derived, old))
            return merge_fail(m, user, "a tile that was cut up can only be put into a block"
                              FIX "compute with the whole tile");
        *out = refmap_get(&m->map, old);
        return true;
    }
    FieldBox box;
    if (!view->field->value)
        return merge_fail(m, user, "field `%s` is used before it is filled" FIX "load it first", view->field->name);
    if (!merge_place(m, view, &box))
        return merge_fail(m, user, "field `%s` is used in two ways that do not fit together"
                          FIX "give each use a field of its own", view->field->name);
    const Type *whole = ir_type(m->k, view->field->value);
    *out = view->field->value;
    if (box.rows != whole->extent[0] || box.cols != whole->extent[1]) {
        Ref at[2] = {ir_int(&m->b, EL_I32, box.row), ir_int(&m->b, EL_I32, box.col)};
        *out = ir_slice(&m->b, *out, at, ty_with_shape(m->k->module, whole, 2, (int64_t[]){box.rows, box.cols}));
    }
    if (box.turned) *out = ir_permute(&m->b, *out, (int64_t[]){1, 0}, 2);
    if (view->field->stacked) merge_set_stacked(m, *out);
    return true;
}

/* Buffers made by the workers hold a tile each. */
static bool merge_buffer(Merge *m, const Op *op) {
    if (op->code == OP_BUF) {
        const Type *type = merge_stacked_type(m, ir_type(m->k, op->results[0]));
        merge_bind(m, op->results[0], ir_buffer(&m->b, type, NULL), true);
        return true;
    }
    Ref buffer = refmap_get(&m->map, op->operands[0]), zero = ir_int(&m->b, EL_I32, 0), value;
    if (buffer == op->operands[0])
        return merge_fail(m, op, "the workers share this buffer" FIX "give each worker a buffer of its own");
    const Type *whole = ir_type(m->k, op->operands[0]);
    const Type *part = op->code == OP_BLOAD ? ir_type(m->k, op->results[0]) : ir_type(m->k, op_operand(op, 1));
    int64_t offset = 0;
    for (int d = 0; d < whole->rank; d++)
        if (part->rank != whole->rank || part->extent[d] != whole->extent[d] ||
            !ir_const_int(m->k, op_list(op, 0).at[d], &offset) || offset)
            return merge_fail(m, op, "only whole tiles of a worker's buffer can be merged"
                              FIX "index it by whole tiles");
    Ref at[MAX_RANK];
    for (int d = 0; d < whole->rank; d++) at[d] = zero;
    if (op->code == OP_BLOAD) {
        merge_bind(m, op->results[0], ir_bload(&m->b, buffer, at, merge_stacked_type(m, part)), true);
        return true;
    }
    if (!merge_value_of(m, op, op_operand(op, 1), &value)) return false;
    if (!merge_is_stacked(m, value)) value = merge_stack_same(m, value);
    ir_bstore(&m->b, buffer, at, value);
    return true;
}

/* Offsets of a box that every worker has for itself, as the one box of all: rows step by the height of a worker's. */
static bool box_offsets(Merge *m, const Op *op, RefList at, int64_t height, Ref *out) {
    if (box_is_indexed(m->k, op))
        return merge_fail(m, op, "what index vectors choose cannot be merged" FIX "take a box of neighbours");
    for (int d = 0; d < at.count; d++) {
        int64_t step;
        if (!merge_worker_step(m, at.at[d], &step) || step != (d == at.count - 2 ? height : 0))
            return merge_fail(m, op, "the boxes of the workers do not lie above each other"
                              FIX "let the worker's number pick rows that follow each other");
        out[d] = refmap_get(&m->map, at.at[d]);
    }
    return true;
}

/* The next store of a tile of the field in this region, from `op` on; NULL. */
static const Op *next_store(const Merge *m, const Op *op, const RingField *field) {
    for (; op; op = op->next) {
        const View *v = op->code == OP_TSTORE ? merge_view(m, op_operand(op, 1)) : NULL;
        if (v && v->field == field) return op;
    }
    return NULL;
}

static bool store_box(const Merge *m, const Op *store, FieldBox *box) {
    return merge_place(m, merge_view(m, op_operand(store, 1)), box) && !box->turned;
}

/* Do these stores, from `first` on, cover the field as it lies, each part once, with no other access
 * to the tensor in between? The one of its first part; NULL if they do not. */
static const Op *stores_cover(const Merge *m, const Op *first, const RingField *field) {
    const Op *origin = NULL, *seen = first;
    int64_t covered = 0;
    FieldBox box, other;
    for (const Op *op = first; op; op = next_store(m, op->next, field)) {
        if (op->operands[0] != first->operands[0] || !store_box(m, op, &box)) return NULL;
        for (; seen != op; seen = seen->next)
            if (seen->region_count ||
                ((seen->code == OP_TLOAD || seen->code == OP_TSTORE || seen->code == OP_TATOMIC) &&
                 seen->operands[0] == first->operands[0] && next_store(m, seen, field) != seen))
                return NULL;
        for (const Op *before = first; before != op; before = next_store(m, before->next, field)) {
            store_box(m, before, &other);
            if (box.row < other.row + other.rows && other.row < box.row + box.rows &&
                box.col < other.col + other.cols && other.col < box.col + box.cols)
                return NULL;
        }
        if (box.row == 0 && box.col == 0) origin = op;
        covered += box.rows * box.cols;
    }
    return covered == ty_elements(field->type) ? origin : NULL;
}

/* All stores of a field's tiles to one tensor, when they cover the field as it lies: one store. */
static bool store_together(Merge *m, const Op *op, const View *view) {
    const RingField *field = view->field;
    const Op *origin = stores_cover(m, op, field);
    if (!origin) return false;
    RefList from = op_list(origin, 0);
    for (const Op *other = op; other; other = next_store(m, other->next, field)) {
        RefList to = op_list(other, 0);
        FieldBox box;
        store_box(m, other, &box);
        for (int d = 0; d < to.count; d++)
            if (!differ_by(m, from.at[d], to.at[d], d == to.count - 2 ? box.row : d == to.count - 1 ? box.col : 0))
                return false;
    }
    for (const Op *other = op; other; other = next_store(m, other->next, field))
        map_put_number(&m->done, m->arena, (uintptr_t)other, NULL);
    int64_t height = ir_type(m->k, field->value)->extent[0] / (field->stacked ? m->workers : 1);
    Ref offsets[MAX_RANK];
    if (!box_offsets(m, origin, from, field->stacked ? height : 0, offsets)) return false;
    ir_tstore(&m->b, refmap_get(&m->map, op->operands[0]), offsets, field->value, REF_NONE);
    return true;
}

static bool merge_store(Merge *m, const Op *op) {
    if (map_find_number(&m->done, (uintptr_t)op)) return true;
    if (op_operand(op, 2)) return merge_fail(m, op, "masked stores cannot be merged" FIX "store whole tiles");
    bool own = m->workers == 1;
    RefList places = op_list(op, 0);
    for (int d = 0; d < places.count; d++) own = own || (ref_is_value(places.at[d]) && m->by_worker[places.at[d]]);
    m->wrong = m->wrong || !own;
    if (!own)
        return merge_fail(m, op, "every worker stores the same box: they would overwrite each other"
                          FIX "add the worker's number to the box's row");
    const View *view = merge_view(m, op_operand(op, 1));
    if (view && view->field->value && !view->field->across && store_together(m, op, view)) return true;
    Ref value, offsets[MAX_RANK];
    if (m->failed || !merge_value_of(m, op, op_operand(op, 1), &value)) return false;
    bool stacked = merge_is_stacked(m, value);
    int64_t height = ir_type(m->k, op_operand(op, 1))->extent[0];
    if (!stacked && m->workers > 1)
        return merge_fail(m, op, "every worker stores the same box" FIX "add the worker's number to its row");
    if (!box_offsets(m, op, op_list(op, 0), m->workers > 1 ? height : 0, offsets)) return false;
    ir_tstore(&m->b, refmap_get(&m->map, op->operands[0]), offsets, value, REF_NONE);
    return true;
}

static bool merge_load(Merge *m, const Op *op) {
    const Type *box = ir_type(m->k, op->results[0]);
    RefList at = op_list(op, 0);
    bool own = false;
    for (int d = 0; d < at.count; d++) own = own || (ref_is_value(at.at[d]) && m->by_worker[at.at[d]]);
    if (op_operand(op, 2) || box->rank < 2)
        return merge_fail(m, op, "only plain loads of tiles can be merged" FIX "load whole tiles without masks");
    Ref offsets[MAX_RANK];
    if (!box_offsets(m, op, at, own ? box->extent[box->rank - 2] : 0, offsets)) return false;
    const Type *type = own ? merge_stacked_type(m, box) : box;
    Ref value = ir_tload(&m->b, refmap_get(&m->map, op->operands[0]), offsets, REF_NONE, type);
    merge_bind(m, op->results[0], value, own);
    return true;
}

static bool is_item_loop(const Merge *m, const Op *loop, Ref *ring) {
    for (const Op *op = loop->regions[0]->first; op; op = op->next)
        if (op->code == OP_WAIT) {
            const RingField *field = NULL;
            for (size_t i = 0; i < m->fields.count; i++)
                if (m->fields.at[i]->ring == op->operands[0]) field = m->fields.at[i];
            *ring = op->operands[0];
            return field != NULL;
        }
    return false;
}

/* A loop of the workers; around the wait for an item also the loop of the producer. */
static bool merge_for(Merge *m, const Op *op) {
    Ref ring = REF_NONE;
    bool items = is_item_loop(m, op, &ring);
    const Op *producer = items ? m->load_loop : NULL;
    if (items && (!producer || memcmp(producer->operands, op->operands, 3 * sizeof(Ref)) != 0))
        return merge_fail(m, op, "load and compute must run the same items" FIX "give their loops the same bounds");
    Kernel *k = m->k;
    Op *loop = ir_begin(&m->b, OP_FOR);
    const Op *parts[2] = {op, producer};
    for (int i = 0; i < 3; i++) {
        if (ref_is_value(op->operands[i]) && m->by_worker[op->operands[i]])
            return merge_fail(m, op, "its bounds depend on the worker's number" FIX "give all workers the same bounds");
        ir_operand(&m->b, loop, refmap_get(&m->map, op->operands[i]));
    }
    Region *region = ir_region(&m->b, loop);
    Ref index = ir_argument(k, region, ir_type(k, loop->operands[0]), NULL);
    VEC(const Type *) types = {0};
    for (int p = 0; p < 2 && parts[p]; p++) {
        merge_bind(m, parts[p]->regions[0]->args[0], index, false);
        for (int i = 3; i < parts[p]->operand_count; i++) {
            Ref first;
            if (!merge_value_of(m, op, parts[p]->operands[i], &first)) return false;
            ir_operand(&m->b, loop, first);
            Ref arg = ir_argument(k, region, ir_type(k, first), NULL);
            merge_bind(m, parts[p]->regions[0]->args[i - 2], arg, merge_is_stacked(m, first));
            *VEC_PUSH(&types, m->arena) = ir_type(k, first);
        }
    }
    for (int i = 0; i < op->attr_count; i++) op_set(k, loop, op->attrs[i]);
    if (items) op_set(k, loop, (Attr){.id = AT_STAGES, .number = op_int(ir_value(k, ring)->op, AT_SLOTS, 1)});
    Builder outer = m->b;
    m->b = ir_builder_inside(&outer, region);
    if (!merge_region(m, op->regions[0])) return false;
    VEC(Ref) yields = {0};
    for (int p = 0; p < 2 && parts[p]; p++) {
        const Op *yield = parts[p]->regions[0]->last;
        for (int i = 0; i < yield->operand_count; i++) {
            Ref value;
            if (!merge_value_of(m, yield, yield->operands[i], &value)) return false;
            *VEC_PUSH(&yields, m->arena) = value;
        }
    }
    for (size_t i = 0; i < yields.count; i++)
        if (ir_type(k, yields.at[i]) != types.at[i])
            return merge_fail(m, op, "a carried tile is one worker's at first and all workers' later"
                              FIX "begin it with a tile that each worker has");
    ir_yield(&m->b, yields.at, (int)yields.count);
    m->b = outer;
    ir_end_results(&m->b, loop, (int)types.count, types.at);
    for (int i = 0; i < op->result_count; i++)
        merge_bind(m, op->results[i], loop->results[i], merge_is_stacked(m, loop->operands[3 + i]));
    return true;
}

static bool merge_put(Merge *m, const Op *op) {
    RingField *field = merge_field(m, op);
    MapEntry *entry = map_find_number(&m->derived, UINT64_C(1) << 40 | op_operand(op, 1));
    Ref source = entry ? (Ref)(uintptr_t)entry->value : op_operand(op, 1);
    if (!merge_value_of(m, op, source, &field->value)) return false;
    if (merge_is_stacked(m, field->value) != field->stacked && m->workers > 1)
        return merge_fail(m, op, "each worker must put a tile of its own" FIX "index the field by the worker's number");
    return true;
}

static bool merge_op(Merge *m, const Op *op) {
    m->b.range = op->range;
    switch (op->code) {
    case OP_GET:
    case OP_COMMIT:
    case OP_RELEASE:
    case OP_SYNC:
    case OP_ACQUIRE: return true;
    case OP_WAIT: {
        bool input = ring_producer(hand_ring_op(m->k, op)) == ROLE_LOAD;
        return !input || load_item(m, m->load_loop->regions[0]);
    }
    case OP_SLICE:
    case OP_RESHAPE:
    case OP_PERMUTE:
        if (merge_view(m, op->results[0]) || map_find_number(&m->derived, op->results[0])) return true;
        return merge_plain(m, op);
    case OP_PUT: return merge_put(m, op);
    case OP_SPLAT: return merge_splat(m, op);
    case OP_BUF:
    case OP_BLOAD:
    case OP_BSTORE: return merge_buffer(m, op);
    case OP_TSTORE: return merge_store(m, op);
    case OP_TLOAD: return merge_load(m, op);
    case OP_FOR: return merge_for(m, op);
    default: break;
    }
    bool pure = op_has(op->code, TRAIT_PURE) && !op->region_count;
    if (!pure)
        return merge_fail(m, op, "it cannot be merged over the workers" FIX "write it once, outside of the workers");
    bool scalar = op->result_count == 1 && ir_type(m->k, op->results[0])->rank == 0;
    for (int i = 0; i < op->operand_count; i++) scalar = scalar && ir_type(m->k, op->operands[i])->rank == 0;
    if (!scalar) return merge_plain(m, op);
    ir_clone(&m->b, op, &m->map); /* with 0 for the worker's number; boxes look at the rest */
    return true;
}

static bool merge_region(Merge *m, const Region *region) {
    for (const Op *op = region->first; op; op = op->next)
        if (op->code != OP_YIELD && !merge_op(m, op)) return false;
    return true;
}

/* ---- the whole ---- */

static void mark_worker(Op *op, void *user) {
    Merge *m = user;
    bool depends = false;
    for (int i = 0; i < op->operand_count; i++)
        depends = depends || (ref_is_value(op->operands[i]) && m->by_worker[op->operands[i]]);
    for (int i = 0; depends && i < op->result_count; i++)
        m->by_worker[op->results[i]] = ir_type(m->k, op->results[i])->rank == 0;
}

static bool find_roles(Merge *m) {
    for (Op *op = m->tasks->regions[1]->first; op; op = op->next) {
        if (op->code == OP_YIELD) break;
        if (op->code != OP_ROLE)
            return merge_fail(m, op, "only roles may stand in a template's tasks" FIX "move it into a role");
        if (role_name(op) == ROLE_LOAD && !m->load)
            m->load = op;
        else if (role_name(op) == ROLE_COMPUTE && !m->compute)
            m->compute = op;
        else if (role_name(op) == ROLE_STORE && !m->store)
            m->store = op;
        else
            return merge_fail(m, op, "a template has one role of each name" FIX "join those of the same name");
    }
    if (!m->load || !m->compute)
        return merge_fail(m, m->tasks, "a template has a load and a compute role" FIX "write both");
    m->workers = 1;
    m->work = m->compute->regions[0];
    const Op *spmd = m->work->first;
    if (spmd && spmd->code == OP_SPMD) {
        if (spmd->next != m->work->last || !ir_const_int(m->k, spmd->operands[0], &m->workers))
            return merge_fail(m, spmd, "the workers must be all there is in the role"
                              FIX "move what stands beside them into them");
        m->work = spmd->regions[0];
        m->worker = m->work->args[0];
        m->by_worker[m->worker] = true;
        refmap_set(&m->map, m->worker, ir_int(&m->b, EL_I32, 0));
        ir_walk((Region *)m->work, mark_worker, m);
    }
    return true;
}

/* What the producer computes before its items, and its loop over them. */
static bool begin_load(Merge *m) {
    for (const Op *op = m->load->regions[0]->first; op; op = op->next) {
        m->b.range = op->range;
        if (op->code == OP_YIELD) break;
        if (op->code == OP_FOR && !m->load_loop) {
            m->load_loop = op;
            continue;
        }
        if (!op_has(op->code, TRAIT_PURE) || op->region_count || m->load_loop)
            return merge_fail(m, op, "the producer may only compute coordinates and load"
                              FIX "compute the rest in the consumer");
        ir_clone(&m->b, op, &m->map);
    }
    return m->load_loop ? true : merge_fail(m, m->load, "the load role has no items"
                                            FIX "write a loop that loads them");
}

static bool begin_merge(Merge *m, PassContext *cx, Kernel *k) {
    *m = (Merge){.cx = cx, .k = k, .arena = cx->scratch};
    for (Op *op = k->body->first; op; op = op->next)
        if (op->code == OP_TASKS && op->region_count == 2) m->tasks = op;
    if (!m->tasks) return false;
    m->b = ir_builder_before(k, m->tasks);
    m->map.arena = cx->scratch;
    m->by_worker = ARENA_ARRAY(cx->scratch, bool, k->values.count);
    affine_init(&m->affine, k, cx->scratch, true);
    return true;
}

static void refuse(Kernel *k, const Merge *m) {
    diag_emit(k->module->diag, DIAG_MERGE_RESISTS, m->resists->range, op_info[m->resists->code].mnemonic, m->why);
}

/* The workers as they are: one after the other, or, where they exchange, side by side as they are written. */
static bool run_apart(PassContext *cx, Kernel *k, const Merge *whole) {
    const KernelCopy *copy = ir_keep(k);
    Region *grid = k->grid;
    Merge apart, kept;
    bool runs = !cx->machine || (cx->machine->runs_workers && cx->machine->counts_phases);
    begin_merge(&apart, cx, k);
    bool asked = cx->options.written && runs;
    if (!asked && find_roles(&apart) && merge_elide(&apart)) {
        pass_find(cx, whole->resists->range, FIND_UNMERGED, whole->why);
        return true;
    }
    ir_take_back(k, copy);
    k->grid = grid;
    begin_merge(&kept, cx, k);
    if (!runs || !find_roles(&kept) || !merge_keep(&kept)) {
        refuse(k, runs ? &kept : &apart);
        return false;
    }
    fold_tidy(k, cx->scratch);
    merge_threads(cx, k);
    return !k->module->diag->errors;
}

/* Whole tiles where nothing changes by it; else the workers as they are. */
bool pass_merge(PassContext *cx, Kernel *k) {
    Merge m;
    if (!begin_merge(&m, cx, k)) {
        merge_share_outside(cx, k);
        bool changed = merge_roles(cx, k);
        if (k->module->diag->errors) return changed;
        changed = merge_barriers(cx, k) || changed;
        return merge_threads(cx, k) || changed;
    }
    const KernelCopy *copy = ir_keep(k);
    Region *grid = k->grid;
    bool good = find_roles(&m) && (!cx->options.written || merge_fail(&m, m.tasks, "option `written` asks for it"
                                                                      FIX "leave it out")) &&
                (!m.store || merge_fail(&m, m.store, "it stores through a ring" FIX "store from the consumer"));
    good = good && merge_find_fields(&m) && merge_tasks(&m) && begin_load(&m) && merge_region(&m, m.work);
    if (good) {
        pass_find(cx, m.tasks->range, FIND_MERGED, (long long)m.workers);
        kernel_set(k, (Attr){.id = AT_OWN_GRID, .number = 1});
        ir_remove(m.tasks);
        for (Op *op = k->body->first, *next; op; op = next) {
            next = op->next;
            if (op->code == OP_RING) ir_remove(op);
        }
    } else {
        ir_take_back(k, copy);
        k->grid = grid;
        if (m.wrong || !run_apart(cx, k, &m)) {
            if (m.wrong) refuse(k, &m);
            return false;
        }
    }
    fold_tidy(k, cx->scratch); /* coordinates of the tiles that were joined are dead now */
    return true;
}
