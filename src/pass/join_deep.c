/* SPDX-License-Identifier: Apache-2.0 */
/* join_deep.c: trips of a loop of products that become one.
 *
 * In steps of 32 along K a core hands over a page of K at a time: compute packs its sums for each, and the pages of one
 * step often lie in one bank of memory. Where tasks become one, so do steps, up to 64 elements:
 *
 *     for %k = 0, %n, 1 { %p = mul %k, 32 ; .. tload %A, [%i, %p] : bf16[256,32] .. } .. dot %a, %b, %sum
 *  -> for %k = 0, %n2, 1 { %k2 = mul %k, 2 ; %p = mul %k2, 32 ; .. tload %A2, [%i, %p] : bf16[256,64] .. } ..
 *
 * Both operands then end where the last step did: what is behind it is filled with zeros. The loop must do nothing else
 * than to add products of what it loads; sums are rounded as those of longer steps are. */
#include "pass/join_state.h"

enum { DEEP = 64, OPERANDS = 2 };

typedef struct Deep {
    Join *x;
    Op *compute, *load; /* the two loops */
    Ref ring;
    Ref value[OPERANDS], turned[OPERANDS]; /* what is got, and what is multiplied: the same, or transposed */
    int axis[OPERANDS], dim[OPERANDS];     /* along K: of what is got, and of the tensor */
    Op *tload[OPERANDS];
    int64_t step, factor;
} Deep;

static Op *maker(const Deep *d, Ref ref) { return ref_is_value(ref) ? ir_value(d->x->k, ref)->op : NULL; }

/* Waits, two gets, perhaps transposed, a product onto the sum, and nothing else. */
static bool only_multiplies(Deep *d, Op *loop) {
    int64_t lo, by;
    const Region *body = loop->regions[0];
    const Op *dot = loop->result_count == 1 ? maker(d, body->last->operands[0]) : NULL;
    if (!dot || dot->code != OP_DOT || dot->parent != body || dot->operands[2] != body->args[1]) return false;
    if (!ir_const_int(d->x->k, loop->operands[0], &lo) || !ir_const_int(d->x->k, loop->operands[2], &by)) return false;
    if (lo != 0 || by != 1 || join_type(d->x, dot->results[0])->rank != 2) return false;
    for (const Op *op = body->first; op; op = op->next) {
        bool is_known = op->code == OP_WAIT || op->code == OP_GET || op->code == OP_RELEASE || op->code == OP_PERMUTE ||
                        op->code == OP_YIELD || op == dot;
        if (!is_known || (op->code == OP_WAIT && d->ring && d->ring != op->operands[0])) return false;
        if (op->code == OP_WAIT) d->ring = op->operands[0];
    }
    for (int i = 0; i < OPERANDS; i++) {
        const Op *op = maker(d, dot->operands[i]);
        bool turned = op && op->code == OP_PERMUTE;
        d->turned[i] = dot->operands[i];
        d->value[i] = turned ? op->operands[0] : dot->operands[i];
        op = maker(d, d->value[i]);
        if (!op || op->code != OP_GET || op->parent != body || op_list(op, 0).count) return false;
        d->axis[i] = (i == 0) != turned;
    }
    d->compute = loop;
    return d->ring && d->value[0] != d->value[1] && join_type(d->x, d->ring)->field_count == OPERANDS;
}

/* The load of a field, whose box moves along K by its own length. */
static bool moves_along(Deep *d, int i, Op *load, Ref index) {
    const Kernel *k = d->x->k;
    const Type *tile = join_type(d->x, load->results[0]), *tensor = join_type(d->x, load->operands[0]);
    const Attr *fill = op_attr(load, AT_FILL);
    const Op *made = maker(d, load->operands[0]);
    RefList offsets = op_list(load, 0);
    int64_t number, zero;
    d->dim[i] = -1;
    if (op_operand(load, 1) || box_is_indexed(k, load) || !made || made->code != OP_TENSOR || made->parent != k->body)
        return false;
    if (fill && (!ref_is_literal(fill->ref) || ir_literal(k, fill->ref)->f != 0) &&
        !(ref_is_literal(fill->ref) && ir_const_int(k, fill->ref, &zero) && zero == 0))
        return false;
    for (int dim = 0; dim < offsets.count; dim++) {
        const Op *by = maker(d, offsets.at[dim]);
        bool is_moved = by && by->code == OP_MUL && by->operands[0] == index;
        if (is_moved && (d->dim[i] >= 0 || !ir_const_int(k, by->operands[1], &number))) return false;
        if (is_moved) d->dim[i] = dim;
    }
    if (d->dim[i] < 0 || box_wraps(load, d->dim[i])) return false;
    if (box_axis(load, tensor->rank, tile->rank, d->dim[i]) != d->axis[i]) return false;
    d->tload[i] = load;
    return number == tile->extent[d->axis[i]] && (i == 0 || number == d->step) && (d->step = number, true);
}

/* The loop of the load role that fills the ring, and nothing else. */
static bool find_load(Deep *d, Op *loop) {
    Ref index = loop->regions[0]->args[0];
    int filled = 0;
    for (Op *op = loop->regions[0]->first; op; op = op->next) {
        bool is_scalar = op_has(op->code, TRAIT_PURE) && op->result_count == 1 && !join_is_tile(d->x, op->results[0]);
        if (op->code == OP_ACQUIRE || op->code == OP_COMMIT) {
            if (op->operands[0] != d->ring) return false;
        } else if (op->code == OP_PUT) {
            Op *load = maker(d, put_value(op));
            int i = 0;
            while (i < OPERANDS && hand_field(maker(d, d->value[i])) != hand_field(op)) i++;
            if (!load || load->code != OP_TLOAD || i == OPERANDS || op_list(op, 0).count) return false;
            if (d->tload[i]) return false;
            d->tload[i] = load;
            filled++;
        } else if (op->code == OP_MUL && op->operands[0] == index) {
            continue;
        } else if (op->code != OP_TLOAD && op->code != OP_YIELD) {
            for (int i = 0; i < op->operand_count; i++)
                if (op->operands[i] == index) return false;
            if (!is_scalar) return false;
        }
    }
    bool good = filled == OPERANDS && loop->result_count == 0;
    for (int i = 0; i < 3; i++) good &= loop->operands[i] == d->compute->operands[i];
    for (int i = 0; i < OPERANDS && good; i++) good = moves_along(d, i, d->tload[i], index);
    d->load = loop;
    return good;
}

static Op *filler(const Deep *d, const Region *region) {
    for (Op *op = region->first; op; op = op->next)
        for (const Op *inner = op->code == OP_FOR ? op->regions[0]->first : NULL; inner; inner = inner->next)
            if (inner->code == OP_ACQUIRE && inner->operands[0] == d->ring) return op;
    return NULL;
}

/* --- the change --- */

static const Type *deeper(const Deep *d, Ref ref, int axis) {
    const Type *type = join_type(d->x, ref);
    int64_t extent[MAX_RANK];
    for (int i = 0; i < type->rank; i++) extent[i] = type->extent[i] * (i == axis ? d->factor : 1);
    return ty_with_shape(d->x->k->module, type, type->rank, extent);
}

/* The tensor ends where the last step did. */
static void end_at(Deep *d, Builder *b, int i, Ref trips) {
    Op *load = d->tload[i];
    const Op *made = maker(d, load->operands[0]);
    RefList extents = op_list(made, 0), strides = op_list(made, 1);
    Ref ends[MAX_RANK];
    for (int dim = 0; dim < extents.count; dim++) ends[dim] = extents.at[dim];
    Ref end = ir_binary(b, OP_MUL, ir_cast(b, trips, EL_I64), ir_int(b, EL_I64, d->step)), old = ends[d->dim[i]];
    if (old != REF_NONE) end = ir_binary(b, OP_MIN, ir_cast(b, old, EL_I64), end);
    ends[d->dim[i]] = end;
    load->operands[0] = ir_tensor(b, op_operand(made, 0), ends, strides.at, extents.count);
}

static void deepen(Deep *d) {
    Kernel *k = d->x->k;
    Ref trips = d->compute->operands[1], index = d->load->regions[0]->args[0];
    Elem elem = join_type(d->x, trips)->elem;
    Builder b = ir_builder_before(k, d->x->tasks), start = ir_builder_before(k, d->load->regions[0]->first);
    int64_t known;
    bool is_known = ir_const_int(k, trips, &known);
    for (int i = 0; i < OPERANDS; i++)
        if (!is_known || known % d->factor) end_at(d, &b, i, trips);
    Ref fewer = is_known ? ir_int(&b, elem, (known + d->factor - 1) / d->factor)
                         : ir_binary(&b, OP_CDIV, trips, ir_int(&b, elem, d->factor));
    d->compute->operands[1] = d->load->operands[1] = fewer;
    Ref first = ir_binary(&start, OP_MUL, index, ir_int(&start, join_type(d->x, index)->elem, d->factor));
    ir_replace_all(k, index, first);
    ir_value(k, first)->op->operands[0] = index;
    const Type *ring = join_type(d->x, d->ring);
    Field *fields = ARENA_ARRAY(k->module->arena, Field, ring->field_count);
    for (int i = 0; i < OPERANDS; i++) {
        int field = hand_field(maker(d, d->value[i]));
        const Type *type = deeper(d, d->value[i], d->axis[i]);
        fields[field] = ring->fields[field];
        fields[field].type = type;
        if (d->turned[i] != d->value[i]) k->values.at[d->turned[i]].type = deeper(d, d->turned[i], 1 - d->axis[i]);
        k->values.at[d->value[i]].type = k->values.at[d->tload[i]->results[0]].type = type;
    }
    ring_set_type(k, d->ring, ty_ring(k->module, ring->field_count, fields));
}

static const Op *role_of(const Region *body, Word name) {
    for (const Op *op = body->first; op; op = op->next)
        if (op->code == OP_ROLE && role_name(op) == name) return op;
    return NULL;
}

/* Bytes that its ring holds. */
static int64_t ring_bytes(const Deep *d) {
    const Type *ring = join_type(d->x, d->ring);
    int64_t bytes = 0;
    for (int i = 0; i < ring->field_count; i++)
        bytes += ty_elements(ring->fields[i].type) * ty_elem_bytes(ring->fields[i].type);
    return bytes * op_int(ir_value(d->x->k, d->ring)->op, AT_SLOTS, 1);
}

void join_deepen(Join *x, int64_t bytes) {
    const Region *body = tasks_body(x->tasks);
    const Op *compute = role_of(body, ROLE_COMPUTE), *load = role_of(body, ROLE_LOAD);
    for (Op *op = compute && load ? compute->regions[0]->first : NULL; op; op = op->next) {
        Deep d = {.x = x};
        if (op->code != OP_FOR || !only_multiplies(&d, op)) continue;
        Op *from = filler(&d, load->regions[0]);
        const Op *trips = maker(&d, op->operands[1]);
        bool is_fixed = trips ? trips->parent == x->k->body : op->operands[1] != REF_NONE;
        if (!from || !is_fixed || ring_acquires(load->regions[0], d.ring) != 1 || !find_load(&d, from)) continue;
        if (d.step < 16 || d.step >= DEEP || DEEP % d.step) continue;
        d.factor = DEEP / d.step;
        int64_t more = ring_bytes(&d) * (d.factor - 1);
        if (more > bytes) continue;
        bytes -= more;
        deepen(&d);
    }
}
