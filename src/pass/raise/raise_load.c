/* SPDX-License-Identifier: Apache-2.0 */
/* raise_load.c: reads of an element loop.
 *
 * A box of a tensor or buffer, or one with index vectors, is one `tload` or `bload`; else a tensor is read by pointers,
 * where its extents allow, and a buffer by a `gather` from all of it, with places that are kept inside. */
#include "pass/raise/raise_loop.h"

/* Does the tensor say where it ends? */
static bool is_bounded(const Loop *loop, Ref tensor) {
    const Op *made = ir_value(loop->k, tensor)->op;
    RefList extents = made && made->code == OP_TENSOR ? op_list(made, 0) : (RefList){0};
    for (int d = 0; d < extents.count; d++)
        if (!extents.at[d]) return false;
    return true;
}

static bool load_box(Loop *loop, const Op *op, Reach *place, Raised *out) {
    if (!raise_offsets(loop, op, place)) return false;
    out->count = raise_place_axes(place, out->axes);
    if (!raise_fits(loop, op, out->axes, out->count)) return false;
    loop->b.range = op->range;
    Op *load = ir_begin(&loop->b, OP_TLOAD);
    ir_operand(&loop->b, load, op->operands[0]);
    ir_operand_list(&loop->b, load, 0, place->offset, place->rank);
    ir_operand(&loop->b, load, REF_NONE);
    for (int i = 0; i < op->attr_count; i++) op_set(loop->k, load, op->attrs[i]);
    raise_set_dims(loop, load, place, out->count);
    const Type *element = ir_type(loop->k, op->results[0]);
    out->ref = ir_end(&loop->b, load, raise_tile(loop, element->elem, out->axes, out->count));
    return true;
}

/* `load`, where the source's own condition, ours and the extents allow. */
static bool load_pointers(Loop *loop, const Op *op, Raised pointers, Raised inside, bool tested, Ref fill,
                          Raised *out) {
    if (loop->masked) {
        inside = tested ? raise_both(loop, inside, loop->mask) : loop->mask;
        tested = true;
    }
    unsigned set = raise_set_of(&pointers) | (tested ? raise_set_of(&inside) : 0);
    Raised other = raise_scalar(fill);
    if (fill && !raise_value(loop, fill, &other)) return false;
    set |= raise_set_of(&other);
    out->count = raise_sorted(set, out->axes);
    if (!raise_fits(loop, op, out->axes, out->count)) return false;
    loop->b.range = op->range;
    Ref at = raise_spread(loop, &pointers, out->axes, out->count);
    Ref where = tested ? raise_align(loop, &inside, out->axes, out->count) : REF_NONE;
    Ref otherwise = tested && fill ? raise_align(loop, &other, out->axes, out->count) : REF_NONE;
    Op *load = ir_begin(&loop->b, OP_LOAD);
    ir_operand(&loop->b, load, at);
    ir_operand(&loop->b, load, where);
    ir_operand(&loop->b, load, otherwise);
    for (int i = 0; i < op->attr_count; i++)
        if (op_allows_attr(OP_LOAD, op->attrs[i].id)) op_set(loop->k, load, op->attrs[i]);
    out->ref = ir_end(&loop->b, load, NULL);
    return true;
}

static bool load_tensor(Loop *loop, const Op *op, Raised *out) {
    Reach place;
    Ref given = op_operand(op, 1);
    if (op_attr(op, AT_WRAP)) return raise_fail(loop, op, "an index that wraps around the tensor");
    raise_place(loop, op, &place);
    /* An index vector along the only axis chooses single elements: pointers do that as well. */
    bool one_by_one = place.kind == PLACE_VECTORS;
    for (int d = 0; d < place.rank; d++) one_by_one = one_by_one && place.move[d] != MOVE_STEP;
    bool careful = given || (loop->masked && !is_bounded(loop, op->operands[0]));
    if (place.kind != PLACE_ANY && !one_by_one && !careful) return load_box(loop, op, &place, out);
    Raised pointers, inside = {0};
    bool tested;
    const Attr *fill = op_attr(op, AT_FILL);
    if (!raise_pointers(loop, op, &pointers, &inside, &tested)) return false;
    if (given) {
        Raised mask;
        if (!raise_value(loop, given, &mask)) return false;
        inside = tested ? raise_both(loop, inside, mask) : mask;
        tested = true;
    }
    return load_pointers(loop, op, pointers, inside, tested, fill ? fill->ref : REF_NONE, out);
}

/* variable // 2, 4, 8 ..: each element of the axis so many times; 0: it is something else. */
static int64_t quotient_of(const Loop *loop, Ref index) {
    const Op *op = raise_body_op(loop, index);
    int64_t by;
    if (!op || (op->code != OP_FLOORDIV && op->code != OP_DIV) || !ir_const_int(loop->k, op->operands[1], &by))
        return 0;
    int variable = raise_variable(loop, op->operands[0]);
    bool fits = variable >= 0 && loop->low[variable] == 0 && by > 1 && !(by & (by - 1));
    return fits && loop->extent[variable] % by == 0 ? by : 0;
}

/* A box with elements that are repeated along some axes; *done: it is one. */
static bool load_repeated(Loop *loop, const Op *op, Reach *place, Raised *out, bool *done) {
    const Type *buffer = ir_type(loop->k, op->operands[0]);
    RefList at = op_list(op, 0);
    int64_t extent[MAX_RANK], times[MAX_RANK] = {0};
    *done = false;
    for (int d = 0; d < place->rank; d++) {
        int64_t least, most;
        extent[d] = place->axis[d] < 0 ? 1 : loop->extent[place->axis[d]];
        if (!raise_range(loop, at.at[d], &least, &most) || least < 0 || most >= buffer->extent[d]) return true;
        if (place->move[d] != MOVE_ALONE) continue;
        if (!(times[d] = quotient_of(loop, at.at[d]))) return true;
        extent[d] /= times[d];
    }
    Reach plain = *place;
    for (int d = 0; d < place->rank; d++)
        if (times[d]) plain.move[d] = MOVE_STEP; /* from the first element on */
    if (!raise_offsets(loop, op, &plain)) return false;
    *done = true;
    loop->b.range = op->range;
    const Type *boxed = ty_tile(loop->k->module, buffer->elem, place->rank, extent);
    Ref tile = ir_bload(&loop->b, op->operands[0], plain.offset, boxed);
    for (int d = 0; d < place->rank; d++)
        if (times[d]) tile = ir_repeat(&loop->b, tile, d, times[d]);
    out->count = raise_place_axes(place, out->axes);
    out->ref = ir_reshape(&loop->b, tile, raise_tile(loop, buffer->elem, out->axes, out->count));
    return true;
}

static bool load_buffer(Loop *loop, const Op *op, Raised *out) {
    Reach place;
    const Type *boxed, *buffer = ir_type(loop->k, op->operands[0]);
    raise_place(loop, op, &place);
    if (place.kind == PLACE_BOX) {
        if (!raise_offsets(loop, op, &place)) return false;
        out->count = raise_place_axes(&place, out->axes);
        loop->b.range = op->range;
        if (raise_buffer_box(loop, op, &place, &boxed)) {
            const Type *type = raise_tile(loop, buffer->elem, out->axes, out->count);
            out->ref = ir_reshape(&loop->b, ir_bload(&loop->b, op->operands[0], place.offset, boxed), type);
            return true;
        }
    }
    Raised at;
    bool repeated = false;
    if (place.kind == PLACE_VECTORS && !load_repeated(loop, op, &place, out, &repeated)) return false;
    if (repeated) return true;
    if (!raise_flat(loop, op, false, &at)) return false;
    if (!raise_fits(loop, op, at.axes, at.count)) return false;
    loop->b.range = op->range;
    Module *m = loop->k->module;
    Ref zero[MAX_RANK];
    for (int d = 0; d < buffer->rank; d++) zero[d] = ir_int(&loop->b, EL_I32, 0);
    const Type *whole = ty_tile(m, buffer->elem, buffer->rank, buffer->extent);
    int64_t all = ty_elements(buffer), places = ty_elements(ir_type(loop->k, at.ref));
    Ref content = ir_bload(&loop->b, op->operands[0], zero, whole);
    Ref flat = ir_reshape(&loop->b, content, ty_tile(m, buffer->elem, 1, &all));
    Ref index = at.count ? ir_reshape(&loop->b, at.ref, ty_tile(m, EL_I32, 1, &places))
                         : ir_splat(&loop->b, at.ref, ty_tile(m, EL_I32, 1, &(int64_t){1}));
    Op *gather = ir_begin(&loop->b, OP_GATHER);
    ir_operand(&loop->b, gather, flat);
    ir_operand(&loop->b, gather, index);
    op_set(loop->k, gather, (Attr){.id = AT_AXIS, .number = 0});
    *out = at;
    out->ref = ir_reshape(&loop->b, ir_end(&loop->b, gather, NULL), raise_tile(loop, buffer->elem, at.axes, at.count));
    return true;
}

static bool load_element(Loop *loop, const Op *op, Raised *out) {
    if (ir_type(loop->k, op->results[0])->rank) return raise_fail(loop, op, "this reads a whole tile for each element");
    if (op->code == OP_BLOAD) return load_buffer(loop, op, out);
    if (op->code == OP_TLOAD) return load_tensor(loop, op, out);
    if (op_flag(op, AT_VOLATILE)) return raise_fail(loop, op, "a volatile load");
    Raised pointers, mask = {0};
    Ref given = op_operand(op, 1);
    return raise_value(loop, op->operands[0], &pointers) && (!given || raise_value(loop, given, &mask)) &&
           load_pointers(loop, op, pointers, mask, given != REF_NONE, op_operand(op, 2), out);
}

/* The first to need it may stand under more conditions than it does itself. */
bool raise_load(Loop *loop, const Op *op, Raised *out) {
    bool masked = loop->masked;
    Raised mask = loop->mask;
    const MapEntry *own = NULL;
    for (const Region *region = op->parent; !own && region->owner != loop->op; region = region->owner->parent)
        own = map_find_number(&loop->masks, (uint64_t)(uintptr_t)region);
    loop->masked = own != NULL;
    if (own) loop->mask = *(const Raised *)own->value;
    bool good = load_element(loop, op, out);
    loop->masked = masked;
    loop->mask = mask;
    return good;
}
