/* SPDX-License-Identifier: Apache-2.0 */
/* access.c: pointer tiles become boxes of tensors.
 *
 * Contract: source or tile form in, access form out. Every `load` and `store`, and every `atomic` of a
 * tile whose old values nobody uses, whose addresses come apart into one term an axis becomes a
 * `tload`, `tstore` or `tatomic` of a `tensor` made from base, extents and strides: an affine term has
 * an offset and a stride, any other is an index vector (access_vector.c). Masks on single axes become
 * extents, or choose among the numbers of a vector; `other` becomes the fill; carried pointers become
 * their closed form and fall away. What is no box stays a gather, with a finding that says why. Loops
 * with a literal step count from one to one. What only a launch can tell is wished for (`require`),
 * as far as options.generic allows it: parameters that bound indices are not negative, what is made
 * of parameters in 32 bits fits there, a grid has as many programs as tiles, an unknown last stride
 * is 1. (Alignment is wished for by those who use
 * it.)
 *
 *     %p = ptr_add %X, %o ; %m = cmp<lt> %o, %n ; %x = load %p, %m           %o = %pid * 64 + iota
 *  -> %TX = tensor %X, [%n], [1] ; %x = tload %TX, [%o0] : f32[64]           %o0 = %pid * 64
 *
 *     %p = ptr_add %X, %ids[:, None] * %s + %j[None, :] ; %x = load %p          %ids from memory
 *  -> %TX = tensor %X, [none, none], [%s, 1] ; %x = tload %TX, [%ids, 0] : f32[64,32]
 *
 * The analysis is in affine.c, access_plan.c and access_demand.c, wishes are in access_wish.c; here
 * the kernel is changed. */
#include "pass/access/access_plan.h"
#include "analysis/facts.h"
#include "pass/fold/fold.h"

/* --- loops of step 1 --- */

/* Only where the distance cannot overflow: from a start that is never negative, and at least there. */
static void normalise_loop(Op *op, void *user) {
    Kernel *k = user;
    int64_t step, lo;
    if (op->code != OP_FOR || !ir_const_int(k, op->operands[2], &step) || step <= 1) return;
    bool zero = ir_const_int(k, op->operands[0], &lo) && lo == 0;
    if (!zero && !fact_natural(k, op->operands[0], NULL, NULL)) return;
    Builder b = ir_builder_before(k, op);
    const Type *type = ir_type(k, op->operands[0]);
    Ref from_zero = op->operands[1], width = ir_literal_int(k, type, step);
    if (!zero) {
        Ref end = ir_binary(&b, OP_MAX, from_zero, op->operands[0]);
        from_zero = ir_binary(&b, OP_SUB, end, op->operands[0]);
    }
    Ref trips = ir_binary(&b, OP_CDIV, from_zero, width);
    Region *body = op->regions[0];
    Ref old = body->args[0];
    Builder in = ir_builder_before(k, body->first);
    Op *mark = body->first;
    Ref fresh = ir_argument(k, body, type, ir_value(k, old)->name);
    body->arg_count--; /* the new variable takes the old one's seat */
    body->args[0] = fresh;
    ir_value(k, fresh)->index = 0;
    in.before = mark;
    Ref place = ir_binary(&in, OP_MUL, fresh, width);
    if (!zero) place = ir_binary(&in, OP_ADD, place, op->operands[0]);
    ir_replace_all(k, old, place);
    op->operands[0] = ir_literal_int(k, type, 0);
    op->operands[1] = trips;
    op->operands[2] = ir_literal_int(k, type, 1);
}

/* --- finding the accesses --- */

static void add_plan(Access *x, Op *op) {
    Plan *plan = ARENA_NEW(x->a.arena, Plan);
    plan->op = op;
    plan->order = x->order;
    plan->pointer = op->operands[0];
    int mask = op->code == OP_LOAD ? 1 : 2;
    plan->mask = op->operand_count > mask ? op->operands[mask] : REF_NONE;
    *VEC_PUSH(&x->plans, x->a.arena) = plan;
}

/* An atomic of a tile whose old values nobody asks for combines a box. */
static bool is_reduction(const Access *x, const Op *op) {
    return op->code == OP_ATOMIC && !x->uses[op->results[0]] && ir_type(x->k, op->operands[0])->rank &&
           op_word(op, AT_COMBINE, COMBINE_ADD) != COMBINE_XCHG;
}

static void add_known(Access *x, Poly poly, Ref value) {
    Known *known = ARENA_NEW(x->a.arena, Known);
    *known = (Known){.poly = poly, .value = value};
    MapEntry *entry = map_find_number(&x->known, poly_hash(poly));
    Known *first = entry ? entry->value : known;
    if (entry)
        first->last->next = known;
    else
        map_put_number(&x->known, x->a.arena, poly_hash(poly), known);
    first->last = known;
}

static const Known *first_known(const Access *x, Poly p) {
    const MapEntry *entry = map_find_number(&x->known, poly_hash(p));
    return entry ? entry->value : NULL;
}

static void collect_region(Access *x, const Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        x->order++;
        if (op->code == OP_LOAD || op->code == OP_STORE || is_reduction(x, op)) add_plan(x, op);
        for (int i = 0; i < op->region_count; i++) collect_region(x, op->regions[i]);
        for (int i = 0; i < op->result_count; i++) {
            const Type *type = ir_type(x->k, op->results[i]);
            /* In order, so that long chains of ops need no deep recursion. */
            const Affine *f = affine_of(&x->a, op->results[i]);
            affine_is_variant(&x->a, op->results[i]);
            affine_axes(&x->a, op->results[i]);
            if (!ty_is_scalar(type) || type->pointer || !elem_is_int(type->elem)) continue;
            if (f->known && !f->start.bad) add_known(x, f->start, op->results[i]);
        }
    }
}

/* A tile of two axes and more, none of them of stride 1: the last stride is taken to be 1, if it is a parameter. */
static bool guess_unit_stride(Access *x, const Plan *plan) {
    const Affine *f = affine_of(&x->a, plan->pointer);
    const Type *type = ir_type(x->k, plan->pointer);
    if (!f->known || type->rank < 2) return false;
    Ref last = REF_NONE;
    for (int d = 0; d < type->rank; d++) {
        int64_t number;
        const Axis *axis = &f->axis[d];
        Poly stride = axis->turn ? axis->scale : axis->step;
        if (axis->part_count && access_is_near(&x->a, plan, d, axis)) return false;
        if (type->extent[d] == 1 || axis->part_count) continue;
        if (poly_const(stride, &number)) {
            if (number == 1) return false;
            continue;
        }
        bool single = stride.count == 1 && stride.at[0].count == 1 && stride.at[0].scale == 1;
        Ref factor = single ? stride.at[0].factor[0] : REF_NONE;
        bool parameter = factor && !ir_value(x->k, factor)->op && !ir_value(x->k, factor)->region->owner;
        last = parameter ? factor : REF_NONE;
    }
    if (!last) return false;
    *VEC_PUSH(&x->a.ones, x->a.arena) = last;
    affine_wish(&x->a, AT_EQ, 1, last);
    return true;
}

/* --- building --- */

Ref access_find_known(Access *x, Poly p, const Plan *plan) {
    for (const Known *known = first_known(x, p); known; known = known->next)
        if (poly_equal(known->poly, p) && affine_dominates(&x->a, known->value, plan->op, plan->order))
            return refmap_get(&x->renamed, known->value);
    return REF_NONE;
}

static int bits_of(const Access *x, Ref r) { return elem_info[ir_type(x->k, r)->elem].bits; }

/* A factor as part of a sum: unsigned ones need the room of 64 bits. */
static Elem factor_elem(const Access *x, Poly p) {
    for (int i = 0; i < p.count; i++)
        for (int j = 0; j < p.at[i].count; j++) {
            const ElemInfo *info = &elem_info[ir_type(x->k, p.at[i].factor[j])->elem];
            if (info->bits == 64 || (info->bits == 32 && info->cls == CLASS_UINT)) return EL_I64;
        }
    return EL_I32;
}

static Ref build_term(const Access *x, Builder *b, const Term *t, Elem elem, int64_t scale) {
    Ref product = REF_NONE;
    for (int i = 0; i < t->count; i++) {
        Ref factor = ir_cast(b, refmap_get(&x->renamed, t->factor[i]), elem);
        product = product ? ir_binary(b, OP_MUL, product, factor) : factor;
    }
    Ref number = ir_int(b, elem, scale);
    if (!product) return number;
    return scale == 1 ? product : ir_binary(b, OP_MUL, product, number);
}

typedef struct Search {
    const Kernel *k;
    Arena *arena;
    uint8_t *seen;
    VEC(Ref) open;
} Search;

static void search_from(Search *q, Ref r) {
    if (!ref_is_value(r) || q->seen[r]) return;
    q->seen[r] = 1;
    *VEC_PUSH(&q->open, q->arena) = r;
}

/* Is the address or the mask of the access made from this value? Then the source relies on its 32 bits too. */
static bool feeds(const Access *x, Ref wanted, const Plan *plan) {
    Search q = {.k = x->k, .arena = x->a.arena};
    q.seen = ARENA_ARRAY(q.arena, uint8_t, x->k->values.count);
    search_from(&q, plan->pointer);
    search_from(&q, plan->mask);
    while (q.open.count && !q.seen[wanted]) {
        const Value *v = ir_value(x->k, q.open.at[--q.open.count]);
        const Op *op = v->op ? v->op : v->region->owner;
        for (int i = 0; op && i < op->operand_count; i++) search_from(&q, op->operands[i]);
        for (int i = 0; op && i < op->region_count; i++) {
            const Op *last = op->regions[i]->last;
            for (int j = 0; last && j < last->operand_count; j++) search_from(&q, last->operands[j]);
        }
    }
    return q.seen[wanted];
}

/* What of it is the same for the whole launch. */
static Poly launch_part(Access *x, Poly p) {
    Poly same = poly_int(x->a.arena, 0);
    for (int i = 0; i < p.count; i++) {
        Poly term = {.at = &p.at[i], .count = 1};
        if (!poly_is_variant(&x->a, term)) same = poly_add(x->a.arena, same, term);
    }
    return same;
}

/* In 32 bits if the source has no more for it, or it is known to fit; an exact one is never taken
 * from arithmetic that could have wrapped where the source's could not. */
static Ref build_poly(Access *x, Builder *b, Poly p, const Plan *plan, bool wide) {
    int64_t number;
    if (poly_const(p, &number)) return ir_int(b, number == (int32_t)number ? EL_I32 : EL_I64, number);
    if (p.count == 1 && p.at[0].count == 1 && p.at[0].scale == 1) return refmap_get(&x->renamed, p.at[0].factor[0]);
    Elem elem = factor_elem(x, p);
    bool fits = poly_fits_i32(&x->a, p);
    /* The source may have this part in 32 bits too and not mind that it wraps there, if its sum with others does not:
     * the launch is asked of the sum. Taken apart, each part has to be what it says. */
    Poly same = launch_part(x, p);
    bool apart = !fits && !poly_fits_i32(&x->a, same) && !access_is_exact(x, same);
    if ((wide || apart) && elem == EL_I32 && !fits) elem = EL_I64;
    for (const Known *known = first_known(x, p); known; known = known->next)
        if (poly_equal(known->poly, p) && affine_dominates(&x->a, known->value, plan->op, plan->order) &&
            (bits_of(x, known->value) >= elem_info[elem].bits || (!apart && feeds(x, known->value, plan))))
            return refmap_get(&x->renamed, known->value);
    Ref sum = REF_NONE;
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int i = 0; i < p.count; i++) {
            const Term *t = &p.at[i];
            if ((t->scale > 0) != (sign > 0)) continue;
            Ref term = build_term(x, b, t, elem, sum ? t->scale * sign : t->scale);
            sum = !sum ? term : ir_binary(b, sign > 0 ? OP_ADD : OP_SUB, sum, term);
        }
    return sum;
}

/* Bounds are moved from one side of a comparison to the other, so their sums are exact. */
static Ref build_limit(Access *x, Builder *b, const PlanDim *dim, const Plan *plan) {
    Ref least = REF_NONE;
    for (int i = 0; i < dim->limit_count; i++) {
        Ref limit = build_poly(x, b, dim->limit[i], plan, true);
        if (least && ir_type(x->k, limit)->elem != ir_type(x->k, least)->elem) {
            limit = ir_cast(b, limit, EL_I64);
            least = ir_cast(b, least, EL_I64);
        }
        least = least ? ir_binary(b, OP_MIN, least, limit) : limit;
    }
    /* A mask that only says index >= 0: `none` would say that nothing is to be checked. */
    if (!least && dim->starts_at_zero) least = ir_literal_int(x->k, ty_scalar(x->k->module, EL_I64), (int64_t)1 << 62);
    return least;
}

/* May a stride that is a parameter be taken to be 1? */
static bool may_guess(const PassContext *cx) { return cx->options.generic <= REQUIRE_UNIT && !cx->options.no_ones; }

/* Of axes whose strides are all parameters, none of which may be taken to be 1: the one whose stride comes last among
 * them is the innermost, as tensors state theirs. -1: there are not two of them. */
static int innermost_by_name(const Access *x, const Plan *plan, int first) {
    int found = -1, count = 0;
    Ref last = REF_NONE;
    for (int i = first; i < plan->dim_count && !may_guess(x->cx); i++) {
        Poly stride = plan->dim[i].stride;
        bool single = !plan->dim[i].indexed && stride.count == 1 && stride.at[0].count == 1;
        Ref factor = single ? stride.at[0].factor[0] : REF_NONE;
        if (!factor || ir_value(x->k, factor)->op || ir_value(x->k, factor)->region->owner) return -1;
        count++;
        if (factor > last) last = factor, found = i;
    }
    return count > 1 ? found : -1;
}

/* Unit stride last; the axes of the tile follow by permutation. */
static void order_dims(Access *x, Plan *plan) {
    int first = 0, unit = -1;
    while (first < plan->dim_count && plan->dim[first].axis < 0) first++;
    int64_t number;
    for (int i = first; i < plan->dim_count; i++)
        if (!plan->dim[i].indexed && poly_const(plan->dim[i].stride, &number) && number == 1) unit = i;
    for (int i = first; unit < 0 && i < plan->dim_count; i++)
        if (plan->dim[i].run > 1) unit = i;
    for (int i = first; unit < 0 && i < plan->dim_count; i++)
        if (plan->dim[i].near) unit = i;
    if (unit < 0) unit = innermost_by_name(x, plan, first);
    plan->box_rank = plan->dim_count - first;
    if (unit >= 0 && unit < plan->dim_count - 1) {
        PlanDim moved = plan->dim[unit];
        for (int i = unit; i + 1 < plan->dim_count; i++) plan->dim[i] = plan->dim[i + 1];
        plan->dim[plan->dim_count - 1] = moved;
        plan->permuted = true;
    }
    const Type *tile = ir_type(x->k, plan->pointer);
    int64_t extent[MAX_RANK];
    for (int i = 0; i < plan->box_rank; i++) {
        int axis = plan->dim[first + i].axis, place = 0;
        extent[i] = tile->extent[axis];
        for (int j = first; j < plan->dim_count; j++) place += plan->dim[j].axis < axis;
        plan->to_box[i] = place; /* among the axes that move */
        plan->to_tile[place] = i;
    }
    plan->box = ty_tile(x->k->module, tile->elem, plan->box_rank, extent);
}

/* A value of the pointers' shape as the box wants it. */
static Ref into_box(Access *x, Builder *b, Ref value, const Plan *plan) {
    const Type *places = ir_type(x->k, plan->pointer), *type = ir_type(x->k, value);
    if (plan->box_rank == 0) return type->rank ? ir_reshape(b, value, ty_with_shape(b->module, type, 0, NULL)) : value;
    if (type->rank == 0) return ir_splat(b, value, ty_with_shape(b->module, type, plan->box_rank, plan->box->extent));
    value = ir_broadcast(b, value, ty_with_shape(b->module, type, places->rank, places->extent));
    int64_t extent[MAX_RANK];
    for (int i = 0; i < plan->box_rank; i++) extent[plan->to_box[i]] = plan->box->extent[i];
    value = ir_reshape(b, value, ty_with_shape(b->module, type, plan->box_rank, extent));
    return plan->permuted ? ir_permute(b, value, plan->to_box, plan->box_rank) : value;
}

static void name_after(Access *x, Ref value, const char *prefix, Ref from) {
    const char *name = ref_is_value(from) ? ir_value(x->k, from)->name : NULL;
    if (name) ir_name(x->k, value, arena_printf(x->a.arena, "%s%s", prefix, name));
}

static Ref build_tensor(Access *x, Builder *b, const Plan *plan, Ref *offsets) {
    Ref base = plan->base, extents[MAX_RANK], strides[MAX_RANK];
    bool moved = false; /* a lower bound moves from an index to the base: neither need fit in 32 bits */
    for (int i = 0; i < plan->dim_count; i++) moved |= plan->dim[i].starts_at_zero;
    if (!poly_is_zero(plan->shift))
        base = ir_binary(b, OP_PTR_ADD, base, build_poly(x, b, plan->shift, plan, plan->wide || moved));
    for (int i = 0; i < plan->dim_count; i++) {
        const PlanDim *dim = &plan->dim[i];
        extents[i] = dim->gate ? access_gate(x, b, dim) : build_limit(x, b, dim, plan);
        strides[i] = build_poly(x, b, dim->stride, plan, plan->wide);
        bool far = dim->starts_at_zero && !poly_is_place(&x->a, dim->offset);
        offsets[i] = dim->indexed ? access_index(x, plan, dim) : build_poly(x, b, dim->offset, plan, plan->wide || far);
    }
    Ref tensor = ir_tensor(b, base, extents, strides, plan->dim_count);
    name_after(x, tensor, "T", plan->base);
    return tensor;
}

static void copy_hints(Access *x, Op *to, const Op *from) {
    for (int i = 0; i < from->attr_count; i++)
        if (from->attrs[i].id == AT_CACHE || from->attrs[i].id == AT_EVICT) op_set(x->k, to, from->attrs[i]);
}

/* What is known of the last dimension's index vector. */
static void set_run(Access *x, Op *op, const Plan *plan) {
    const PlanDim *last = &plan->dim[plan->dim_count - 1];
    if (last->run > 1) op_set(x->k, op, (Attr){.id = AT_RUN, .number = last->run});
    if (last->run <= 1 && last->near) op_set(x->k, op, (Attr){.id = AT_NEAR, .number = 1});
}

/* What the source promises of the addresses along the dimension whose places lie side by side. */
static void set_align(Access *x, Op *op, const Plan *plan) {
    const PlanDim *last = &plan->dim[plan->dim_count - 1];
    const Value *v = ref_is_value(plan->pointer) ? ir_value(x->k, plan->pointer) : NULL;
    int64_t most = 1;
    if (!v || last->axis < 0) return;
    for (const Op *fact = (v->op ? v->op->parent : v->region)->first_fact; fact; fact = fact->next_fact)
        if (fact->operands[0] == plan->pointer && op_int(fact, AT_AXIS, -1) == last->axis &&
            op_int(fact, AT_ALIGN, 1) > most)
            most = op_int(fact, AT_ALIGN, 1);
    if (most > 1) op_set(x->k, op, (Attr){.id = AT_ALIGN, .number = most});
}

static void rewrite_load(Access *x, Plan *plan) {
    Op *op = plan->op;
    Builder b = ir_builder_before(x->k, op);
    Ref offsets[MAX_RANK], tensor = build_tensor(x, &b, plan, offsets);
    Ref mask = plan->keeps_mask ? into_box(x, &b, plan->mask, plan) : REF_NONE;
    Ref value = ir_tload(&b, tensor, offsets, mask, plan->box);
    Op *load = ir_value(x->k, value)->op;
    copy_hints(x, load, op);
    set_run(x, load, plan);
    set_align(x, load, plan);
    Ref other = op->operand_count > 2 ? op->operands[2] : REF_NONE, fill = access_fill(x->k, other);
    if (fill && !ir_is_zero(x->k, fill)) op_set(x->k, load, (Attr){.id = AT_FILL, .ref = fill});
    int64_t wrapped[MAX_RANK];
    int wraps = 0;
    for (int i = 0; i < plan->dim_count; i++)
        if (plan->dim[i].wraps) wrapped[wraps++] = i;
    if (wraps) {
        const int64_t *list = arena_copy(x->k->module->arena, wrapped, (size_t)wraps * sizeof *wrapped);
        op_set(x->k, load, (Attr){.id = AT_WRAP, .list = {wraps, list}});
    }
    ir_name(x->k, value, ir_value(x->k, op->results[0])->name);
    if (plan->permuted) value = ir_permute(&b, value, plan->to_tile, plan->box_rank);
    const Type *type = ir_type(x->k, op->results[0]);
    value = ir_type(x->k, value)->rank == 0 && type->rank ? ir_splat(&b, value, type) : ir_reshape(&b, value, type);
    if (other && !fill) value = ir_ternary(&b, OP_SELECT, plan->mask, value, other);
    refmap_set(&x->renamed, op->results[0], value);
    ir_remove(op);
}

/* What a store or an atomic has as a box; mask: REF_NONE, if there is none. */
typedef struct Written {
    Ref tensor, offsets[MAX_RANK], value, mask;
} Written;

static Written build_written(Access *x, Builder *b, Plan *plan) {
    Written w;
    w.tensor = build_tensor(x, b, plan, w.offsets);
    w.mask = plan->keeps_mask ? into_box(x, b, plan->mask, plan) : REF_NONE;
    w.value = into_box(x, b, plan->op->operands[1], plan);
    return w;
}

static void rewrite_store(Access *x, Plan *plan) {
    Op *op = plan->op;
    Builder b = ir_builder_before(x->k, op);
    Written w = build_written(x, &b, plan);
    Op *made = ir_tstore(&b, w.tensor, w.offsets, w.value, w.mask);
    copy_hints(x, made, op);
    set_run(x, made, plan);
    set_align(x, made, plan);
    ir_remove(op);
}

static void rewrite_atomic(Access *x, Plan *plan) {
    Op *op = plan->op;
    Builder b = ir_builder_before(x->k, op);
    Written w = build_written(x, &b, plan);
    Op *made = ir_begin(&b, OP_TATOMIC);
    ir_operand(&b, made, w.tensor);
    ir_operand_list(&b, made, 0, w.offsets, plan->dim_count);
    ir_operand(&b, made, w.value);
    ir_operand(&b, made, w.mask);
    for (int i = 0; i < op->attr_count; i++) op_set(x->k, made, op->attrs[i]);
    set_run(x, made, plan);
    set_align(x, made, plan);
    ir_end(&b, made, NULL);
    ir_remove(op);
}

/* --- the pass --- */

/* What is promised of a whole tile has served: later passes ask about numbers only, and the promise
 * would keep alive what no access needs any more. */
static void drop_tile_promise(Op *op, void *user) {
    const Kernel *k = user;
    bool tile = op->code == OP_ASSUME && op->operand_count && !ty_is_scalar(ir_type(k, op->operands[0]));
    if (tile) ir_remove(op);
}

static Access begin(PassContext *cx, Kernel *k) {
    Access x = {.cx = cx, .k = k, .order = 1, .renamed = {.arena = cx->scratch}};
    x.uses = ir_count_uses(k, cx->scratch);
    affine_init(&x.a, k, cx->scratch, cx->options.generic == REQUIRE_NOTHING);
    x.a.asks = x.a.separates = true;
    x.a.any_grid = cx->options.generic >= REQUIRE_SIZES;
    x.a.aligns = cx->options.generic <= REQUIRE_ALIGNED && cx->machine->lanes > 1;
    x.a.wholes = cx->options.generic == REQUIRE_ALL;
    x.a.run_bytes = cx->machine->vector_bytes;
    collect_region(&x, k->body);
    return x;
}

/* The same with closed forms in place of what has one. */
static Access begin_closed(PassContext *cx, Kernel *k) {
    Access first = begin(cx, k);
    size_t own = first.a.wishes.count;
    if (!access_close(&first)) return first;
    fold_tidy(k, cx->scratch);
    Access x = begin(cx, k);
    for (size_t i = own; i < first.a.wishes.count; i++) *VEC_PUSH(&x.a.wishes, x.a.arena) = first.a.wishes.at[i];
    x.a.grid_wished |= first.a.grid_wished;
    return x;
}

bool pass_access(PassContext *cx, Kernel *k) {
    ir_walk(k->body, normalise_loop, k);
    access_quotients(cx, k);
    access_carry(k, false);
    access_join(k);
    fold_tidy(k, cx->scratch);
    access_report_boxes(cx, k);
    Access x = begin_closed(cx, k);
    bool guessed = false, guesses = may_guess(cx);
    for (size_t i = 0; guesses && i < x.plans.count; i++) {
        if (!guess_unit_stride(&x, x.plans.at[i])) continue;
        affine_forget(&x.a);
        guessed = true;
    }
    if (guessed) { /* what scalars are worth has changed */
        x.plans.count = 0;
        x.known = (Map){0};
        x.order = 1;
        collect_region(&x, k->body);
    }
    for (size_t i = 0; i < x.plans.count; i++) {
        Plan *plan = x.plans.at[i];
        if (op_flag(plan->op, AT_VOLATILE)) {
            plan->why = WHY_VOLATILE;
            plan->where = plan->op->range;
        } else
            access_plan(&x.a, plan);
        if (plan->good) access_find_runs(&x.a, plan, true);
        if (plan->good) order_dims(&x, plan);
        if (plan->good) access_believe(&x, plan);
        access_report(&x, plan);
    }
    for (size_t i = 0; i < x.plans.count; i++) {
        Plan *plan = x.plans.at[i];
        Op *op = plan->op;
        for (int o = 0; o < op->operand_count; o++) op->operands[o] = refmap_get(&x.renamed, op->operands[o]);
        if (plan->good && op->code == OP_LOAD)
            rewrite_load(&x, plan);
        else if (plan->good && op->code == OP_STORE)
            rewrite_store(&x, plan);
        else if (plan->good)
            rewrite_atomic(&x, plan);
    }
    ir_replace_map(k, &x.renamed);
    access_require(&x);
    access_report_whole(&x);
    ir_walk(k->body, drop_tile_promise, k);
    fold_tidy(k, cx->scratch);
    access_carry(k, true);
    fold_tidy(k, cx->scratch);
    return true;
}
