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
#include "analysis/facts.h"
#include "target/cpu/cpu_internal.h"

#include <stdlib.h>
#include <string.h>

/* --- tensors --- */

const TensorText *cpu_tensor(Emit *e, Ref tensor) { return map_find_number(&e->tensors, tensor)->value; }

/* Differences of extents and offsets must not wrap around: a 64-bit number that is no sum of smaller
 * ones (those fit, access_plan.c) is cut off where no index is. */
static const char *extent_text(Emit *e, Ref extent) {
    const Value *v = ir_value(e->k, extent);
    Opcode code = v->op ? v->op->code : OP_NONE;
    bool small = elem_info[v->type->elem].bits < 64 || code == OP_EXTENT || code == OP_ADD || code == OP_SUB ||
                 code == OP_MUL || fact_is_32_bits(e->k, extent);
    const char *text = cpu_ref(e, extent);
    return small ? text : arena_printf(e->arena, "tw_min_i64(tw_max_i64(%s, 0), 1LL << 62)", text);
}

void cpu_emit_tensor(Emit *e, Op *op) {
    if (map_find_number(&e->tensors, op->results[0])) return; /* a gemm needed it before */
    RefList extents = op_list(op, 0), strides = op_list(op, 1);
    TensorText *t = ARENA_NEW(e->arena, TensorText);
    const char *name = cs_name(&e->p, op->results[0]);
    t->base = cpu_ref(e, op->operands[0]);
    for (int d = 0; d < extents.count; d++) {
        Ref parts[2] = {extents.at[d], d < strides.count ? strides.at[d] : REF_NONE};
        const char **to[2] = {&t->extent[d], &t->stride[d]};
        for (int i = 0; i < 2; i++) {
            if (parts[i] == REF_NONE) continue;
            *to[i] = cpu_ref(e, parts[i]);
            if (i && ref_is_literal(parts[i])) t->known[d].is = ir_const_int(e->k, parts[i], &t->known[d].number);
            if (ref_is_literal(parts[i])) continue;
            *to[i] = cs_fresh(&e->p, arena_printf(e->arena, "%s_%s%d", name, i ? "s" : "e", d));
            cs_line(&e->p, "const i64 %s = %s;", *to[i], i ? cpu_ref(e, parts[i]) : extent_text(e, parts[i]));
        }
    }
    map_put_number(&e->tensors, e->arena, op->results[0], t);
}

/* --- the box --- */

typedef struct BoxMaker {
    Emit *e;
    const Op *op;
    Box *box;
    const TensorText *tensor;
    const char *name;
    int long_axis; /* the axis that is as long as the C expression long_size says; -1: none */
    const char *long_size;
    Text address, ok, full, uncut;
} BoxMaker;

void cpu_and_also(Text *t, const char *condition) { text_add(t, "%s%s", t->length ? " && " : "", condition); }

/* Where the box begins in a dimension. */
typedef struct Offset {
    const char *text;
    bool zero;
} Offset;

static void add_term(BoxMaker *m, Offset offset, const char *stride, Known known) {
    if (offset.zero || known_is(known, 0)) return;
    text_add(&m->address, known_is(known, 1) ? " + %s" : " + %s * %s", offset.text, stride);
}

/* A dimension that the tile does not cover: its offset must lie inside. */
static void add_point(BoxMaker *m, int d, Offset offset, const char *extent, bool wrap) {
    Arena *a = m->e->arena;
    const char *stride = m->tensor->stride[d];
    if (wrap) {
        cpu_and_also(&m->ok, arena_printf(a, "%s > 0", extent));
        offset = (Offset){arena_printf(a, "%s(%s, %s)", cpu_call(m->e, "tw_mod_i64"), offset.text, extent), false};
    } else if (extent) {
        if (!offset.zero) cpu_and_also(&m->ok, arena_printf(a, "%s >= 0", offset.text));
        cpu_and_also(&m->ok, arena_printf(a, "%s < %s", offset.text, extent));
    }
    add_term(m, offset, stride, m->tensor->known[d]);
}

/* gcc 12 makes a plain load and a blend of a masked load whose mask it knows (AVX-512), and so reads what the mask
 * leaves out. A bound that is a number is hidden from it. */
static const char *bound_text(BoxMaker *m, int d, const char *text) {
    const Op *tensor = ir_value(m->e->k, m->op->operands[0])->op;
    int64_t number;
    bool known = tensor && tensor->code == OP_TENSOR && ir_const_int(m->e->k, op_list(tensor, 0).at[d], &number);
    return known ? arena_printf(m->e->arena, "tw_hidden(%s)", text) : text;
}

static void add_axis(BoxMaker *m, int axis, int d, Offset from, const char *extent, bool wrap) {
    Emit *e = m->e;
    Box *box = m->box;
    const char *size = axis == m->long_axis ? m->long_size : cpu_integer(e, EL_I32, box->tile->extent[axis]);
    const char *offset = from.text;
    if (wrap) {
        cpu_and_also(&m->ok, arena_printf(e->arena, "%s > 0", extent));
        const char *whole = arena_printf(e->arena, "%s >= 0 && %s + %s <= %s", offset, offset, size, extent);
        cpu_and_also(&m->full, whole);
        cpu_and_also(&m->uncut, whole);
        box->wrap_offset[axis] = offset;
        box->wrap_extent[axis] = extent;
        return;
    }
    add_term(m, from, box->stride[axis], box->known[axis]);
    if (!extent) return;
    box->checked[axis] = true;
    box->lo[axis] = "0";
    box->hi[axis] = cs_fresh(&e->p, arena_printf(e->arena, "%s_hi%d", m->name, axis));
    const char *most =
        arena_printf(e->arena, from.zero ? "tw_min_i64(%s, %s)" : "tw_min_i64(%s, %s - %s)", size, extent, offset);
    const char *hi = bound_text(m, d, most);
    box->cut_low[axis] = !from.zero;
    if (from.zero)
        cs_line(&e->p, "const i64 %s = %s;", box->hi[axis], hi);
    else {
        box->lo[axis] = cs_fresh(&e->p, arena_printf(e->arena, "%s_lo%d", m->name, axis));
        cs_line(&e->p, "const i64 %s = tw_max_i64(0, -%s), %s = %s;", box->lo[axis], offset, box->hi[axis], hi);
        cpu_and_also(&m->full, arena_printf(e->arena, "%s == 0", box->lo[axis]));
    }
    cpu_and_also(&m->full, arena_printf(e->arena, "%s == %s", box->hi[axis], size));
}

/* An axis whose places an index vector gives: the address is completed where its element is known. */
static void add_indices(BoxMaker *m, int axis, Ref vector, const char *extent) {
    Emit *e = m->e;
    Box *box = m->box;
    const char *type = elem_info[ir_type(e->k, vector)->elem].text;
    box->indices[axis] = cs_name(&e->p, vector);
    box->least[axis] = cs_fresh(&e->p, arena_printf(e->arena, "%s_least%d", m->name, axis));
    box->most[axis] = cs_fresh(&e->p, arena_printf(e->arena, "%s_most%d", m->name, axis));
    /* INDEX_OUTSIDE is a number of 64 bits: of vectors that have fewer all are inside where there is no extent. */
    bool tested = extent || elem_info[ir_type(e->k, vector)->elem].bits == 64;
    box->begin[axis] = extent ? "0" : "TW_FIRST";
    box->end[axis] = extent ? extent : tested ? "TW_BEHIND" : NULL;
    e->uses_indices = true;
    box->index_type[axis] = type;
    cs_line(&e->p, "i64 %s, %s;", box->least[axis], box->most[axis]);
    const char *list = arena_printf(e->arena, "%s, %lld", box->indices[axis], (long long)box->tile->extent[axis]);
    const char *ends = arena_printf(e->arena, "&%s, &%s", box->least[axis], box->most[axis]);
    if (!tested) {
        cs_line(&e->p, "tw_span_%s(%s, %s);", type, list, ends);
        return;
    }
    const char *all = cs_fresh(&e->p, arena_printf(e->arena, "%s_all%d", m->name, axis));
    cs_line(&e->p, "const i32 %s = tw_inside_%s(%s, %s, %s, %s);", all, type, list, box->begin[axis], box->end[axis],
            ends);
    cpu_and_also(&m->full, all);
    cpu_and_also(&m->uncut, all);
}

static Offset offset_of(Emit *e, Ref offset) {
    int64_t number = 0;
    if (ir_const_int(e->k, offset, &number)) return (Offset){cpu_integer(e, EL_I32, number), number == 0};
    const char *text = cpu_ref(e, offset);
    return (Offset){ir_type(e->k, offset)->elem == EL_I64 ? text : arena_printf(e->arena, "(i64)%s", text), false};
}

/* Is it a load that a store reads from where it lies, if nothing overlaps? */
static bool may_move(const Emit *e, const Op *op) {
    if (op->code != OP_TLOAD || op_attr(op, AT_WRAP) || box_is_indexed(e->k, op)) return false;
    const Placed *placed = cpu_placed(&e->plan, op->results[0]);
    return placed->storage == STORAGE_INLINE && placed->block >= 0;
}

/* A variable of the box, but for a last stride of 1, which a copy has too. */
static void own_stride(BoxMaker *m, int axis) {
    Box *box = m->box;
    if (axis == box->tile->rank - 1 && known_is(box->known[axis], 1)) return;
    const char *name = cs_fresh(&m->e->p, arena_printf(m->e->arena, "%s_s%d", m->name, axis));
    cs_line(&m->e->p, "i64 %s = %s;", name, box->stride[axis]);
    box->stride[axis] = name;
    box->known[axis].is = false;
}

Box *cpu_find_box(Emit *e, const Op *op) { return map_find_number(&e->boxes, (uint64_t)(uintptr_t)op)->value; }

Box *cpu_long_box(Emit *e, Op *op, int long_axis, const char *long_size) {
    Ref tensor = op->operands[0];
    const Type *whole = ir_type(e->k, tensor);
    Ref value = op->result_count ? op->results[0] : op_operand(op, 1);
    Box *box = ARENA_NEW(e->arena, Box);
    box->tile = ir_type(e->k, value);
    const char *hint = ref_is_value(value) ? ir_value(e->k, value)->name : NULL;
    BoxMaker m = {
        .e = e, .op = op, .box = box, .tensor = cpu_tensor(e, tensor), .long_axis = long_axis, .long_size = long_size};
    m.name = cs_fresh(&e->p, arena_printf(e->arena, "%s_%s", hint ? hint : "v", op->result_count ? "in" : "out"));
    m.address = text_new(e->arena), m.ok = text_new(e->arena);
    m.full = text_new(e->arena), m.uncut = text_new(e->arena);
    RefList offsets = op_list(op, 0);
    bool unchecked = op_flag(op, AT_NOCHECK);
    box->movable = may_move(e, op);
    for (int d = 0; d < whole->rank; d++) {
        int axis = box_axis(op, whole->rank, box->tile->rank, d);
        bool wrap = box_wraps(op, d) && m.tensor->extent[d], vector = ir_type(e->k, offsets.at[d])->rank > 0;
        Offset offset = vector ? (Offset){0} : offset_of(e, offsets.at[d]);
        const char *extent = unchecked && !wrap ? NULL : m.tensor->extent[d];
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
    box->pointer = arena_printf(e->arena, "%s_p", m.name);
    cs_line(&e->p, box->movable ? "%s *%s = %s%s;" : "%s *const %s = %s%s;", cs_memory_type(whole->elem), box->pointer,
            m.tensor->base, m.address.at);
    if (m.ok.length) {
        box->ok = arena_printf(e->arena, "%s_ok", m.name);
        cs_line(&e->p, "const i32 %s = %s;", box->ok, m.ok.at);
        cpu_and_also(&m.full, box->ok);
        cpu_and_also(&m.uncut, box->ok);
    }
    if (m.uncut.length) box->uncut = m.uncut.at;
    if (m.full.length) {
        box->full = arena_printf(e->arena, "%s_full", m.name);
        cs_line(&e->p, "const i32 %s = %s;", box->full, m.full.at);
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

/* One constant of the nest for each box, axis and index that it is asked for. */
static Ix name_once(Emit *e, Nest *nest, const char *type, const char *text, int depth, const char *hint) {
    Ix *known = map_get(&nest->memo, text);
    if (known) return *known;
    Ix name = cpu_name(e, nest, type, text, depth, hint);
    map_set(&nest->memo, e->arena, text, arena_copy(e->arena, &name, sizeof name));
    return name;
}

/* What the vectors add to the address: the row, as far as they go. */
static Ix row_of(Emit *e, Nest *nest, const Box *box, const Ix *index) {
    Ix row = ix(box->pointer, 0);
    const char *type = arena_printf(e->arena, "%s *", cs_memory_type(box->tile->elem));
    for (int d = 0; d < box->tile->rank; d++) {
        if (!box->indices[d]) continue;
        const char *text =
            arena_printf(e->arena, "%s + (i64)%s[%s] * %s", row.text, box->indices[d], index[d].text, box->stride[d]);
        int depth = row.depth > index[d].depth ? row.depth : index[d].depth;
        row = name_once(e, nest, type, text, depth, arena_printf(e->arena, "%s_row", box->pointer));
    }
    return row;
}

/* Is the index that the vector of axis d gives inside? */
static Ix index_inside(Emit *e, Nest *nest, const Box *box, int d, Ix index) {
    const char *at = arena_printf(e->arena, "(i64)%s[%s]", box->indices[d], index.text);
    const char *text = arena_printf(e->arena, "%s >= %s && %s < %s", at, box->begin[d], at, box->end[d]);
    return name_once(e, nest, "i32", text, index.depth, arena_printf(e->arena, "%s_on", box->pointer));
}

const char *cpu_box_element(Emit *e, Nest *nest, const Box *box, const Ix *index, int *depth) {
    Text t = text_new(e->arena);
    int rank = box->tile->rank;
    bool fast = nest->fast;
    Ix row = row_of(e, nest, box, index);
    if (row.depth > *depth) *depth = row.depth;
    for (int d = 0; d < rank; d++) {
        const char *at = index[d].text;
        if (box->indices[d]) continue;
        if (index[d].depth > *depth) *depth = index[d].depth;
        if (box->wrap_offset[d]) {
            at = arena_printf(e->arena, "(%s + %s)", box->wrap_offset[d], at);
            if (!fast) at = arena_printf(e->arena, "%s(%s, %s)", cpu_call(e, "tw_mod_i64"), at, box->wrap_extent[d]);
        }
        if (index[d].zero && !box->wrap_offset[d]) continue;
        bool unit = (fast && d == rank - 1 && box->tile->extent[d] > 1) || known_is(box->known[d], 1);
        text_add(&t, unit ? "%s%s" : "%s%s * %s", t.length ? " + " : "", at, box->stride[d]);
    }
    return arena_printf(e->arena, "%s[%s]", row.text, t.length ? t.at : "0");
}

void cpu_box_bounds(Emit *e, Nest *nest, const Box *box) {
    for (int d = 0; d < box->tile->rank && (!nest->fast || nest->cut); d++) {
        if (box->checked[d]) nest->lo[d] = box->lo[d], nest->hi[d] = box->hi[d];
        if (!box->end[d]) continue;
        Ix on = index_inside(e, nest, box, d, nest->index[d]);
        if (on.depth)
            nest_add(e, nest, on.depth, "if (!%s) continue;", on.text);
        else
            nest->lo[d] = "0", nest->hi[d] = on.text; /* of one place: it, or none */
    }
}

bool cpu_box_vector(const Kernel *k, const Op *op, int *axis) {
    RefList offsets = op_list(op, 0);
    *axis = -1;
    for (int d = 0; d < offsets.count; d++) {
        if (!ir_type(k, offsets.at[d])->rank) continue;
        if (*axis >= 0) return false;
        *axis = box_axis(op, offsets.count, 2, d);
    }
    return true;
}

const char *cpu_box_lines(Emit *e, const Box *box, int axis, int64_t offset) {
    if (!box->indices[axis]) return "0";
    const char *name = cs_fresh(&e->p, "lines");
    cs_line(&e->p, "i64 *const %s = (i64 *)(scratch + %lld);", name, (long long)offset);
    cs_line(&e->p, "tw_lines_%s(%s, %s, %lld, %s, %s);", box->index_type[axis], name, box->indices[axis],
            (long long)box->tile->extent[axis], box->begin[axis], box->end[axis] ? box->end[axis] : "TW_BEHIND");
    return name;
}

/* The condition that the indices lie inside; NULL: always. */
static const char *inside_text(Emit *e, Nest *nest, const Box *box, const Ix *index) {
    Text t = text_new(e->arena);
    if (box->ok) cpu_and_also(&t, box->ok);
    for (int d = 0; d < box->tile->rank; d++) {
        if (box->end[d]) cpu_and_also(&t, index_inside(e, nest, box, d, index[d]).text);
        if (!box->checked[d]) continue;
        if (box->cut_low[d]) cpu_and_also(&t, arena_printf(e->arena, "%s >= %s", index[d].text, box->lo[d]));
        cpu_and_also(&t, arena_printf(e->arena, "%s < %s", index[d].text, box->hi[d]));
    }
    return t.length ? t.at : NULL;
}

const char *cpu_box_fill(Emit *e, const Op *op) {
    const Attr *fill = op_attr(op, AT_FILL);
    return fill ? cpu_ref(e, fill->ref) : cpu_zero(e, ir_type(e->k, op->results[0]));
}

/* The bits that a load reads at these indices, or its fill. */
static const char *load_bits(Emit *e, Nest *nest, const Op *op, const Ix *index, int *depth) {
    const Box *box = cpu_find_box(e, op);
    Ref mask = op_operand(op, 1);
    Elem elem = box->tile->elem;
    const char *text = cpu_box_element(e, nest, box, index, depth);
    const char *inside = nest->fast ? NULL : inside_text(e, nest, box, index);
    if (mask) {
        Ix m = cpu_operand(e, nest, mask, index);
        if (m.depth > *depth) *depth = m.depth;
        inside = inside ? arena_printf(e->arena, "%s && %s", inside, m.text) : m.text;
    }
    if (inside) text = cpu_guarded(e, elem, inside, text, cpu_box_fill(e, op));
    return inside && elem == EL_I1 ? arena_printf(e->arena, "(%s)", text) : text;
}

Ix cpu_box_load(Emit *e, Nest *nest, const Op *op, const Ix *index) {
    int depth = 0;
    const char *bits = load_bits(e, nest, op, index, &depth);
    Ref result = op->results[0];
    return cpu_name_bits(e, nest, ir_type(e->k, result), bits, depth, ir_value(e->k, result)->name);
}

void cpu_scalar_tload(Emit *e, Op *op) {
    Nest nest;
    cpu_box(e, op);
    nest_begin(e, &nest, ir_type(e->k, op->results[0]));
    Ix x = cpu_box_load(e, &nest, op, NULL);
    nest_end(e, &nest, false);
    e->p.names[op->results[0]] = x.text;
}
