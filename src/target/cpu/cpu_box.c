/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_box.c: boxes of global tensors: address, bounds, what is loaded.
 *
 * At the op's place a box is described by a few C variables: the address of its first element,
 * and per axis the range of indices that lies inside the tensor. Where an index vector says where
 * the places of an axis lie, it is in memory, and the address of a row is made where its number is
 * known; the box is full if all indices lie inside. How loops over boxes are written stands in cpu_store.c.
 *
 *     f32 *const x_p = X + (i64)row * sx;
 *     const i64 x_hi0 = tw_min_i64(1024, C);
 *     const i32 x_full = x_hi0 == 1024; */
#include "target/cpu/cpu_internal.h"

/* --- tensors --- */

const Tensor *cpu_tensor(Emit *e, Ref tensor) { return map_find_number(&e->tensors, tensor)->value; }

void cpu_emit_tensor(Emit *e, Op *op) {
    if (map_find_number(&e->tensors, op->results[0])) return; /* a gemm needed it before */
    RefList extents = op_list(op, 0), strides = op_list(op, 1);
    const TensorPlan *plan = &cpu_place(&e->plan, op)->tensor;
    Tensor *t = ARENA_NEW(e->arena, Tensor);
    const char *name = cs_name(&e->p, op->results[0]);
    t->base = cpu_ref(e, op->operands[0]);
    for (int d = 0; d < extents.count; d++) {
        Ref parts[2] = {extents.at[d], d < strides.count ? strides.at[d] : REF_NONE};
        const Expr **to[2] = {&t->extent[d], &t->stride[d]};
        for (int i = 0; i < 2; i++) {
            if (parts[i] == REF_NONE) continue;
            *to[i] = cpu_ref(e, parts[i]);
            if (i && ref_is_literal(parts[i])) t->known[d].is = ir_const_int(e->k, parts[i], &t->known[d].number);
            if (ref_is_literal(parts[i])) continue;
            const Expr *number = *to[i];
            if (!i && plan->cut[d]) number = ex(e->arena, "tw_min_i64(tw_max_i64(%p, 0), 1LL << 62)", number);
            *to[i] = cpu_fresh(e, "%s_%s%d", name, i ? "s" : "e", d);
            cs_line(&e->p, "const i64 %p = %p;", *to[i], number);
        }
    }
    map_put_number(&e->tensors, e->arena, op->results[0], t);
}

/* --- the box --- */

typedef struct BoxMaker {
    Emit *e;
    const Op *op;
    Box *box;
    const Tensor *tensor;
    const char *name;
    int long_axis; /* the axis that is as long as the C expression long_size says; -1: none */
    const Expr *long_size;
    const Expr *address;
    const Expr *ok, *full, *uncut; /* NULL: always */
} BoxMaker;

static void and_also(const BoxMaker *m, const Expr **all, const Expr *condition) {
    *all = ex_and(m->e->arena, *all, condition);
}

static void add_term(BoxMaker *m, const Expr *offset, const Expr *stride, Known known) {
    if (ex_is_int(offset, 0) || known_is(known, 0)) return;
    const Expr *term = known_is(known, 1) ? offset : ex(m->e->arena, "%p * %p", offset, stride);
    m->address = ex_sum(m->e->arena, m->address, term);
}

/* A dimension that the tile does not cover: its offset must lie inside. */
static void add_point(BoxMaker *m, int d, const Expr *offset, const Expr *extent, bool wrap) {
    Arena *a = m->e->arena;
    if (wrap) {
        and_also(m, &m->ok, ex(a, "%p > 0", extent));
        offset = cs_call(&m->e->p, FN_MOD, EL_I64, (const Expr *const[]){offset, extent}, 2);
    } else if (extent) {
        if (!ex_is_int(offset, 0)) and_also(m, &m->ok, ex(a, "%p >= 0", offset));
        and_also(m, &m->ok, ex(a, "%p < %p", offset, extent));
    }
    add_term(m, offset, m->tensor->stride[d], m->tensor->known[d]);
}

/* gcc 12 makes a plain load and a blend of a masked load whose mask it knows (AVX-512), and so reads what the mask
 * leaves out. A bound that is a number is hidden from it. */
static const Expr *hidden_bound(BoxMaker *m, int d, const Expr *bound) {
    const Op *tensor = ir_value(m->e->k, m->op->operands[0])->op;
    int64_t number;
    bool known = tensor && tensor->code == OP_TENSOR && ir_const_int(m->e->k, op_list(tensor, 0).at[d], &number);
    return known ? ex(m->e->arena, "tw_hidden(%p)", bound) : bound;
}

static void add_axis(BoxMaker *m, int axis, int d, const Expr *offset, const Expr *extent, bool wrap) {
    Emit *e = m->e;
    Arena *a = e->arena;
    Box *box = m->box;
    const Expr *size = axis == m->long_axis ? m->long_size : cs_number(a, EL_I32, box->tile->extent[axis]);
    if (wrap) {
        and_also(m, &m->ok, ex(a, "%p > 0", extent));
        const Expr *whole = ex(a, "%p >= 0 && %p + %p <= %p", offset, offset, size, extent);
        and_also(m, &m->full, whole);
        and_also(m, &m->uncut, whole);
        box->wrap_offset[axis] = offset;
        box->wrap_extent[axis] = extent;
        return;
    }
    add_term(m, offset, box->stride[axis], box->known[axis]);
    if (!extent) return;
    bool from_zero = ex_is_int(offset, 0);
    const Expr *left = from_zero ? extent : ex(a, "%p - %p", extent, offset);
    const Expr *hi = hidden_bound(m, d, ex(a, "tw_min_i64(%p, %p)", size, left));
    box->checked[axis] = true;
    box->lo[axis] = &expr_zero;
    box->hi[axis] = cpu_fresh(e, "%s_hi%d", m->name, axis);
    box->cut_low[axis] = !from_zero;
    if (from_zero)
        cs_line(&e->p, "const i64 %p = %p;", box->hi[axis], hi);
    else {
        box->lo[axis] = cpu_fresh(e, "%s_lo%d", m->name, axis);
        cs_line(&e->p, "const i64 %p = %p, %p = %p;", box->lo[axis], ex(a, "tw_max_i64(0, -%p)", offset), box->hi[axis],
                hi);
        and_also(m, &m->full, ex(a, "%p == 0", box->lo[axis]));
    }
    and_also(m, &m->full, ex(a, "%p == %p", box->hi[axis], size));
}

/* An axis whose places an index vector gives: the address is completed where its element is known. */
static void add_indices(BoxMaker *m, int axis, Ref vector, const Expr *extent) {
    Emit *e = m->e;
    Box *box = m->box;
    const char *type = elem_info[ir_type(e->k, vector)->elem].text;
    long long count = (long long)box->tile->extent[axis];
    const Expr *list = box->indices[axis] = cs_ref(&e->p, vector);
    const Expr *least = box->least[axis] = cpu_fresh(e, "%s_least%d", m->name, axis);
    const Expr *most = box->most[axis] = cpu_fresh(e, "%s_most%d", m->name, axis);
    /* INDEX_OUTSIDE is a number of 64 bits: of vectors that have fewer all are inside where there is no extent. */
    bool tested = extent || elem_info[ir_type(e->k, vector)->elem].bits == 64;
    box->begin[axis] = extent ? &expr_zero : ex_name(e->arena, "TW_FIRST");
    box->end[axis] = extent ? extent : tested ? ex_name(e->arena, "TW_BEHIND") : NULL;
    cpu_needs(e, PART_INDICES);
    box->index_type[axis] = type;
    cs_line(&e->p, "i64 %p, %p;", least, most);
    if (!tested) {
        cs_line(&e->p, "tw_span_%s(%p, %lld, &%p, &%p);", type, list, count, least, most);
        return;
    }
    const Expr *all = cpu_fresh(e, "%s_all%d", m->name, axis);
    cs_line(&e->p, "const i32 %p = tw_inside_%s(%p, %lld, %p, %p, &%p, &%p);", all, type, list, count, box->begin[axis],
            box->end[axis], least, most);
    and_also(m, &m->full, all);
    and_also(m, &m->uncut, all);
}

static const Expr *offset_of(Emit *e, Ref offset) {
    int64_t number = 0;
    if (ir_const_int(e->k, offset, &number)) return cs_number(e->arena, EL_I32, number);
    const Expr *x = cpu_ref(e, offset);
    return ir_type(e->k, offset)->elem == EL_I64 ? x : ex(e->arena, "(i64)%p", x);
}

/* A variable of the box, but for a last stride of 1, which a copy has too. */
static void own_stride(BoxMaker *m, int axis) {
    Box *box = m->box;
    if (axis == box->tile->rank - 1 && known_is(box->known[axis], 1)) return;
    const Expr *name = cpu_fresh(m->e, "%s_s%d", m->name, axis);
    cs_line(&m->e->p, "i64 %p = %p;", name, box->stride[axis]);
    box->stride[axis] = name;
    box->known[axis].is = false;
}

/* A variable that is called after the box. */
static const Expr *part_of(const BoxMaker *m, const char *part) {
    return ex_name(m->e->arena, arena_printf(m->e->arena, "%s_%s", m->name, part));
}

Box *cpu_find_box(Emit *e, const Op *op) { return map_find_number(&e->boxes, (uint64_t)(uintptr_t)op)->value; }

Box *cpu_long_box(Emit *e, Op *op, int long_axis, const Expr *long_size) {
    Ref tensor = op->operands[0];
    const Type *whole = ir_type(e->k, tensor);
    Ref value = op->result_count ? op->results[0] : op_operand(op, 1);
    Box *box = ARENA_NEW(e->arena, Box);
    box->tile = ir_type(e->k, value);
    const char *hint = ref_is_value(value) ? ir_value(e->k, value)->name : NULL;
    BoxMaker m = {
        .e = e, .op = op, .box = box, .tensor = cpu_tensor(e, tensor), .long_axis = long_axis, .long_size = long_size};
    m.name = cs_fresh(&e->p, arena_printf(e->arena, "%s_%s", hint ? hint : "v", op->result_count ? "in" : "out"));
    m.address = m.tensor->base;
    RefList offsets = op_list(op, 0);
    bool unchecked = op_flag(op, AT_NOCHECK);
    box->movable = cpu_may_move(&e->plan, op);
    for (int d = 0; d < whole->rank; d++) {
        int axis = box_axis(op, whole->rank, box->tile->rank, d);
        bool wrap = box_wraps(op, d) && m.tensor->extent[d], vector = ir_type(e->k, offsets.at[d])->rank > 0;
        const Expr *offset = vector ? NULL : offset_of(e, offsets.at[d]);
        const Expr *extent = unchecked && !wrap ? NULL : m.tensor->extent[d];
        if (axis < 0) {
            add_point(&m, d, offset, extent, wrap);
            continue;
        }
        box->stride[axis] = m.tensor->stride[d];
        box->known[axis] = m.tensor->known[d];
        if (box->movable) own_stride(&m, axis);
        if (vector)
            add_indices(&m, axis, offsets.at[d], extent);
        else
            add_axis(&m, axis, d, offset, extent, wrap);
    }
    int rank = box->tile->rank;
    box->unit =
        rank == 0 || box->tile->extent[rank - 1] == 1 || box->indices[rank - 1] || known_is(box->known[rank - 1], 1);
    box->pointer = part_of(&m, "p");
    cs_line(&e->p, box->movable ? "%s *%p = %p;" : "%s *const %p = %p;", cs_memory_type(whole->elem), box->pointer,
            m.address);
    if (m.ok) {
        box->ok = part_of(&m, "ok");
        cs_line(&e->p, "const i32 %p = %p;", box->ok, m.ok);
        and_also(&m, &m.full, box->ok);
        and_also(&m, &m.uncut, box->ok);
    }
    box->uncut = m.uncut;
    if (m.full) {
        box->full = part_of(&m, "full");
        cs_line(&e->p, "const i32 %p = %p;", box->full, m.full);
    }
    return box;
}

Box *cpu_box(Emit *e, Op *op) {
    MapEntry *known = map_find_number(&e->boxes, (uint64_t)(uintptr_t)op);
    if (known) return known->value;
    Box *box = cpu_long_box(e, op, -1, NULL);
    map_put_number(&e->boxes, e->arena, (uint64_t)(uintptr_t)op, box);
    return box;
}

const Expr *cpu_box_low(const Box *box, int axis) { return box->checked[axis] ? box->lo[axis] : &expr_zero; }

const Expr *cpu_box_high(Emit *e, const Box *box, int axis) {
    return box->checked[axis] ? box->hi[axis] : cs_number(e->arena, EL_I32, box->tile->extent[axis]);
}

const Expr *cpu_if_ok(Emit *e, const Box *box, const Expr *number) {
    return box->ok ? ex(e->arena, "%p ? %p : 0", box->ok, number) : number;
}

/* One constant of the nest for each box, axis and index that it is asked for. */
static Ix name_once(Emit *e, Nest *nest, const char *type, const Expr *x, int depth, const char *hint) {
    const char *key = ex_plain(e->arena, x);
    Ix *known = map_get(&nest->memo, key);
    if (known) return *known;
    Ix name = cpu_name(e, nest, type, x, depth, hint);
    map_set(&nest->memo, e->arena, key, arena_copy(e->arena, &name, sizeof name));
    return name;
}

/* What the vectors add to the address: the row, as far as they go. */
static Ix row_of(Emit *e, Nest *nest, const Box *box, const Ix *index) {
    Ix row = ix(box->pointer, 0);
    const char *type = arena_printf(e->arena, "%s *", cs_memory_type(box->tile->elem));
    for (int d = 0; d < box->tile->rank; d++) {
        if (!box->indices[d]) continue;
        const Expr *at = ex(e->arena, "%p + (i64)%p[%p] * %p", row.x, box->indices[d], index[d].x, box->stride[d]);
        int depth = deeper(row.depth, index[d].depth);
        row = name_once(e, nest, type, at, depth, arena_printf(e->arena, "%s_row", box->pointer->text));
    }
    return row;
}

/* Is the index that the vector of axis d gives inside? */
static Ix index_inside(Emit *e, Nest *nest, const Box *box, int d, Ix index) {
    const Expr *at = ex(e->arena, "(i64)%p[%p]", box->indices[d], index.x);
    const Expr *inside = ex(e->arena, "%p >= %p && %p < %p", at, box->begin[d], at, box->end[d]);
    return name_once(e, nest, "i32", inside, index.depth, arena_printf(e->arena, "%s_on", box->pointer->text));
}

const Expr *cpu_box_element(Emit *e, Nest *nest, const Box *box, const Ix *index, int *depth) {
    const Expr *sum = NULL;
    int rank = box->tile->rank;
    bool fast = nest->fast;
    Ix row = row_of(e, nest, box, index);
    *depth = deeper(*depth, row.depth);
    for (int d = 0; d < rank; d++) {
        const Expr *at = index[d].x;
        if (box->indices[d]) continue;
        *depth = deeper(*depth, index[d].depth);
        if (ix_is_zero(index[d]) && !box->wrap_offset[d]) continue;
        if (box->wrap_offset[d]) {
            at = ex(e->arena, "(%p + %p)", box->wrap_offset[d], at);
            if (!fast) at = cs_call(&e->p, FN_MOD, EL_I64, (const Expr *const[]){at, box->wrap_extent[d]}, 2);
        }
        bool unit = (fast && d == rank - 1 && box->tile->extent[d] > 1) || known_is(box->known[d], 1);
        sum = ex_sum(e->arena, sum, unit ? at : ex(e->arena, "%p * %p", at, box->stride[d]));
    }
    return ex(e->arena, "%p[%p]", row.x, sum ? sum : &expr_zero);
}

void cpu_box_bounds(Emit *e, Nest *nest, const Box *box) {
    for (int d = 0; d < box->tile->rank && (!nest->fast || nest->cut); d++) {
        if (box->checked[d]) nest->lo[d] = box->lo[d], nest->hi[d] = box->hi[d];
        if (!box->end[d]) continue;
        Ix on = index_inside(e, nest, box, d, nest->index[d]);
        if (on.depth)
            nest_add(e, nest, on.depth, "if (!%p) continue;", on.x);
        else
            nest->lo[d] = &expr_zero, nest->hi[d] = on.x; /* of one place: it, or none */
    }
}

const Expr *cpu_box_lines(Emit *e, const Box *box, int axis, int64_t offset) {
    if (!box->indices[axis]) return &expr_zero;
    const Expr *name = cpu_fresh(e, "lines"), *end = box->end[axis];
    cs_line(&e->p, "i64 *const %p = (i64 *)(scratch + %lld);", name, (long long)offset);
    cs_line(&e->p, "tw_lines_%s(%p, %p, %lld, %p, %p);", box->index_type[axis], name, box->indices[axis],
            (long long)box->tile->extent[axis], box->begin[axis], end ? end : ex_name(e->arena, "TW_BEHIND"));
    return name;
}

/* The condition that the indices lie inside; NULL: always. */
static const Expr *inside_of(Emit *e, Nest *nest, const Box *box, const Ix *index) {
    Arena *a = e->arena;
    const Expr *all = box->ok;
    for (int d = 0; d < box->tile->rank; d++) {
        if (box->end[d]) all = ex_and(a, all, index_inside(e, nest, box, d, index[d]).x);
        if (!box->checked[d]) continue;
        if (box->cut_low[d]) all = ex_and(a, all, ex(a, "%p >= %p", index[d].x, box->lo[d]));
        all = ex_and(a, all, ex(a, "%p < %p", index[d].x, box->hi[d]));
    }
    return all;
}

const Expr *cpu_box_fill(Emit *e, const Op *op) {
    const Attr *fill = op_attr(op, AT_FILL);
    return fill ? cpu_ref(e, fill->ref) : cpu_zero(e, ir_type(e->k, op->results[0]));
}

/* The bits that a load reads at these indices, or its fill. */
static const Expr *load_bits(Emit *e, Nest *nest, const Op *op, const Ix *index, int *depth) {
    const Box *box = cpu_find_box(e, op);
    Ref mask = op_operand(op, 1);
    const Expr *bits = cpu_box_element(e, nest, box, index, depth);
    const Expr *inside = nest->fast ? NULL : inside_of(e, nest, box, index);
    if (mask) {
        Ix m = cpu_operand(e, nest, mask, index);
        *depth = deeper(*depth, m.depth);
        inside = ex_and(e->arena, inside, m.x);
    }
    return inside ? cpu_guarded(e, box->tile->elem, inside, bits, cpu_box_fill(e, op)) : bits;
}

Ix cpu_box_load(Emit *e, Nest *nest, const Op *op, const Ix *index) {
    int depth = 0;
    const Expr *bits = load_bits(e, nest, op, index, &depth);
    Ref result = op->results[0];
    return cpu_name_bits(e, nest, ir_type(e->k, result), bits, depth, ir_value(e->k, result)->name);
}

void cpu_scalar_tload(Emit *e, Op *op) {
    Nest nest;
    cpu_box(e, op);
    nest_begin(e, &nest, ir_type(e->k, op->results[0]));
    Ix x = cpu_box_load(e, &nest, op, NULL);
    nest_end(e, &nest, false);
    cs_bind(&e->p, op->results[0], x.x);
}
