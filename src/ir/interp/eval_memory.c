/* SPDX-License-Identifier: Apache-2.0 */
/* eval_memory.c: global memory: gathers and scatters through pointers, boxes of tensors, atomics.
 *
 * A box is walked in segments: runs along its last axis that lie either inside the tensor or
 * outside it, at one step in memory; single elements where an index vector says where they lie.
 * tload fills outside, tstore and tatomic drop it; `wrap` takes an index modulo the extent, so
 * nothing is outside along that dimension; a dimension without an extent has no outside; `nocheck`
 * was proved inside. All are held to the buffers' bounds like every access. */
#include "ir/interp/interp_core.h"

/* --- through pointers --- */

/* An access through pointers, and where the walk over its elements stands: `mask` and `value`
 * repeat under the shape of the addresses. */
typedef struct Access {
    Operand address, mask, value;
    bool has_mask, has_value;
    const Walk *walk; /* operand 0: mask, 1: value */
    int64_t n;
    int bytes;
    int64_t row, column; /* of the walk */
    int64_t at[4];       /* the elements of mask and value that belong to this one */
} Access;

static Access access_begin(Process *p, Step *s, Ref mask, Ref value) {
    Access a = {.address = ev_operand(p, s, 0)};
    const Type *types[2] = {a.address.type, a.address.type};
    a.has_mask = mask != REF_NONE;
    a.has_value = value != REF_NONE;
    if (a.has_mask) {
        a.mask = ev_operand_of(p, s, mask);
        types[0] = a.mask.type;
    }
    if (a.has_value) {
        a.value = ev_operand_of(p, s, value);
        types[1] = a.value.type;
    }
    if (!s->plan) {
        Walk walk = walk_new(p->in, a.address.type, 2, types);
        s->plan = arena_copy(&p->in->arena, &walk, sizeof walk);
    }
    a.walk = s->plan;
    a.n = ty_elements(a.address.type);
    a.bytes = elem_info[a.address.type->elem].bytes;
    return a;
}

static void access_next(Access *a) {
    int last = a->walk->rank - 1;
    a->at[0] += a->walk->stride[0][last];
    a->at[1] += a->walk->stride[1][last];
    if (++a->column < a->walk->extent[last]) return;
    a->column = 0;
    walk_row(a->walk, ++a->row, a->at);
}

/* Is element i active, and where is it? */
static bool access_find(Process *p, Step *s, const Access *a, int64_t i, uint64_t *address) {
    if (a->has_mask) {
        if (a->mask.cell->shadow) sanitize_element(p, s, &a->mask, a->at[0], USE_MASK);
        if (!((const uint8_t *)a->mask.data)[a->at[0]]) return false;
    }
    if (a->address.cell->shadow) sanitize_element(p, s, &a->address, i, USE_ADDRESS);
    *address = ((const uint64_t *)a->address.data)[i];
    return true;
}

static const char *access_value(const Access *a) { return (const char *)a->value.data + a->at[1] * a->bytes; }

static void load_element(const Type *type, void *to, uint64_t address, int bytes) {
    memcpy(to, (const void *)(uintptr_t)address, (size_t)bytes);
    if (type->elem == EL_I1) *(uint8_t *)to = *(uint8_t *)to != 0;
}

void eval_load(Process *p, Step *s) {
    Access a = access_begin(p, s, op_operand(s->op, 1), op_operand(s->op, 2));
    Cell *out = ev_define(p, s, 0);
    char *to = out->data;
    uint64_t address = 0;
    MemoryUse use = op_flag(s->op, AT_VOLATILE) ? MEMORY_POLL : MEMORY_READ;
    for (int64_t i = 0; i < a.n; i++, access_next(&a), to += a.bytes) {
        if (access_find(p, s, &a, i, &address)) {
            if (memory_access(p, s, address, a.bytes, use, a.address.type, i))
                load_element(a.address.type, to, address, a.bytes);
            else
                memset(to, 0, (size_t)a.bytes);
        } else if (a.has_value) {
            memcpy(to, access_value(&a), (size_t)a.bytes);
            if (a.value.cell->shadow) cell_shadow(p->in, out, a.n)[i] = a.value.cell->shadow[a.at[1]];
        } else {
            memset(to, 0, (size_t)a.bytes);
        }
    }
}

void eval_store(Process *p, Step *s) {
    Access a = access_begin(p, s, op_operand(s->op, 2), op_operand(s->op, 1));
    uint64_t address = 0;
    for (int64_t i = 0; i < a.n; i++, access_next(&a)) {
        if (!access_find(p, s, &a, i, &address)) continue;
        if (a.value.cell->shadow) sanitize_element(p, s, &a.value, a.at[1], USE_VALUE);
        if (memory_access(p, s, address, a.bytes, MEMORY_WRITE, a.address.type, i))
            memcpy((void *)(uintptr_t)address, access_value(&a), (size_t)a.bytes);
    }
}

void memory_combine(Word kind, Elem elem, void *place, const void *value, void *old) {
    uint64_t bits = 0;
    size_t bytes = (size_t)elem_info[elem].bytes;
    memcpy(&bits, place, bytes);
    if (old) memcpy(old, &bits, bytes);
    uint64_t result = 0;
    if (kind == COMBINE_XCHG) {
        memcpy(&result, value, bytes);
    } else if (!elem_is_float(elem)) {
        elem_put_i64(elem, &result, combine_i64(elem, kind, elem_get_i64(elem, &bits), elem_get_i64(elem, value)));
    } else if (elem == EL_F64) {
        elem_put_f64(elem, &result, combine_f64(kind, false, elem_get_f64(elem, &bits), elem_get_f64(elem, value)));
    } else {
        float x = (float)elem_get_f64(elem, &bits), y = (float)elem_get_f64(elem, value);
        elem_put_f64(elem, &result, combine_f32(elem, kind, false, x, y));
    }
    memcpy(place, &result, bytes);
}

void eval_atomic(Process *p, Step *s) {
    Access a = access_begin(p, s, op_operand(s->op, 2), op_operand(s->op, 1));
    Word kind = op_word(s->op, AT_COMBINE, COMBINE_ADD);
    char *old = ev_define(p, s, 0)->data;
    uint64_t address = 0;
    MemoryUse use = kind == COMBINE_XCHG ? MEMORY_EXCHANGE : MEMORY_UPDATE;
    for (int64_t i = 0; i < a.n; i++, access_next(&a), old += a.bytes) {
        memset(old, 0, (size_t)a.bytes);
        if (!access_find(p, s, &a, i, &address)) continue;
        if (a.value.cell->shadow) sanitize_element(p, s, &a.value, a.at[1], USE_VALUE);
        if (memory_access(p, s, address, a.bytes, use, a.address.type, i))
            memory_combine(kind, a.address.type->elem, (void *)(uintptr_t)address, access_value(&a), old);
    }
    process_pause(p);
}

void eval_atomic_cas(Process *p, Step *s) {
    Access a = access_begin(p, s, op_operand(s->op, 1), op_operand(s->op, 2));
    char *old = ev_define(p, s, 0)->data;
    uint64_t address = 0;
    a.has_mask = false; /* in the mask's place stands what is expected */
    for (int64_t i = 0; i < a.n; i++, access_next(&a), old += a.bytes) {
        memset(old, 0, (size_t)a.bytes);
        if (!access_find(p, s, &a, i, &address)) continue;
        if (!memory_access(p, s, address, a.bytes, MEMORY_UPDATE, a.address.type, i)) continue;
        const char *expected = (const char *)a.mask.data + a.at[0] * a.bytes;
        memcpy(old, (const void *)(uintptr_t)address, (size_t)a.bytes);
        if (memcmp(old, expected, (size_t)a.bytes) == 0)
            memcpy((void *)(uintptr_t)address, access_value(&a), (size_t)a.bytes);
    }
    process_pause(p);
}

void eval_fence(Process *p, Step *s) {
    (void)s;
    process_pause(p);
}

/* --- tensors --- */

void eval_tensor(Process *p, Step *s) {
    RefList extents = op_list(s->op, 0), strides = op_list(s->op, 1);
    TensorValue t = {.base = *(const uint64_t *)ev_operand(p, s, 0).data};
    for (int d = 0; d < extents.count; d++) {
        t.extent[d] = extents.at[d] ? ev_scalar(p, s, extents.at[d]) : INT64_MAX;
        t.stride[d] = ev_scalar(p, s, strides.at[d]);
        t.unbounded[d] = !extents.at[d];
    }
    *(TensorValue *)ev_define(p, s, 0)->data = t;
}

static const TensorValue *tensor_of(Process *p, Step *s) { return ev_operand(p, s, 0).data; }

void eval_extent(Process *p, Step *s) {
    ev_bind(p, s->op->results[0], tensor_of(p, s)->extent[op_int(s->op, AT_DIM, 0)]);
}

void eval_stride(Process *p, Step *s) {
    ev_bind(p, s->op->results[0], tensor_of(p, s)->stride[op_int(s->op, AT_DIM, 0)]);
}

void eval_base(Process *p, Step *s) { *(uint64_t *)ev_define(p, s, 0)->data = tensor_of(p, s)->base; }

/* --- boxes of tensors --- */

typedef struct Segment {
    int64_t element, count; /* of the box, row-major */
    bool inside;
    uint64_t address; /* of the first */
    int64_t step;     /* bytes to the next */
} Segment;

typedef struct Box Box;
struct Box {
    Process *p;
    Step *s;
    const Type *type;
    int bytes;
    const TensorValue *tensor;
    Operand offset[MAX_RANK]; /* in the tensor: a scalar, or the vector of the box's indices */
    bool shadowed;            /* of a vector, some index is not sound */
    int dims[MAX_RANK];       /* tensor dimension of each axis of the box */
    bool wrap[MAX_RANK], nocheck;
    int64_t run[MAX_RANK]; /* of an index vector: so many numbers are told by their first */
    bool has_mask;
    Operand mask;
    Walk mask_walk;
    void (*visit)(Box *box, Segment segment);
    Cell *cell; /* data of the box */
    const void *fill;
    Word kind; /* tatomic */
};

static void box_begin(Box *box, Process *p, Step *s, const Type *type, Ref mask) {
    const Type *tensor_type = ir_type(p->in->kernel, s->op->operands[0]);
    RefList at = op_list(s->op, 0);
    *box = (Box){.p = p, .s = s, .type = type, .bytes = ty_elem_bytes(type), .tensor = tensor_of(p, s)};
    for (int d = 0; d < at.count; d++) {
        Operand offset = box->offset[d] = ev_operand_of(p, s, at.at[d]);
        if (offset.cell->shadow && !offset.type->rank) sanitize_element(p, s, &offset, 0, USE_ADDRESS);
        box->shadowed |= offset.cell->shadow && offset.type->rank;
        box->wrap[d] = box_wraps(s->op, d) && !box->tensor->unbounded[d];
        box->run[d] = d == at.count - 1 ? op_int(s->op, AT_RUN, 1) : 1;
    }
    for (int d = 0; d < type->rank; d++) box->dims[d] = box_dim(s->op, tensor_type->rank, type->rank, d);
    box->nocheck = op_flag(s->op, AT_NOCHECK);
    if (mask) {
        box->has_mask = true;
        box->mask = ev_operand_of(p, s, mask);
        const Type *types[1] = {box->mask.type};
        box->mask_walk = walk_new(p->in, type, 1, types);
    }
}

/* The index of a place along one dimension of the tensor; false: outside. */
static bool place(const Box *box, int dim, int64_t along, int64_t *index) {
    int64_t extent = box->tensor->extent[dim];
    const Operand *offset = &box->offset[dim];
    bool vector = offset->type->rank > 0;
    int64_t behind = vector ? along % box->run[dim] : along, skip = along - behind,
            first = elem_get_i64(offset->elem, (const char *)offset->data + skip * elem_info[offset->elem].bytes);
    if (vector && first == INDEX_OUTSIDE) return false;
    if (__builtin_add_overflow(first, behind, index)) return false;
    if (box->wrap[dim]) {
        if (extent <= 0) return false;
        *index %= extent;
        if (*index < 0) *index += extent;
        return true;
    }
    if (box->nocheck || box->tensor->unbounded[dim]) return true;
    return *index >= 0 && *index < extent;
}

/* One row of the box: `offset` in elements of its other dimensions. */
static void visit_row(Box *box, int64_t element, bool inside, uint64_t offset) {
    int rank = box->type->rank;
    int dim = rank ? box->dims[rank - 1] : 0;
    int64_t n = rank ? box->type->extent[rank - 1] : 1;
    for (int64_t i = 0; i < n;) {
        Segment segment = {.element = element + i, .count = n - i, .inside = inside};
        uint64_t place_offset = offset;
        if (rank) {
            int64_t index = 0, extent = box->tensor->extent[dim];
            segment.inside &= place(box, dim, i, &index);
            /* A segment ends where the tensor begins or ends, or where the index wraps. */
            bool bounded = box->wrap[dim] || !(box->nocheck || box->tensor->unbounded[dim]);
            int64_t end = !bounded ? INT64_MAX : index < 0 ? 0 : index < extent ? extent : INT64_MAX;
            if (inside && end != INT64_MAX && (uint64_t)end - (uint64_t)index < (uint64_t)segment.count)
                segment.count = end - index;
            if (box->offset[dim].type->rank) segment.count = 1;
            place_offset += (uint64_t)index * (uint64_t)box->tensor->stride[dim];
            segment.step = (int64_t)((uint64_t)box->tensor->stride[dim] * (uint64_t)box->bytes);
        }
        segment.address = box->tensor->base + place_offset * (uint64_t)box->bytes;
        box->visit(box, segment);
        i += segment.count;
    }
}

static void box_visit(Box *box) {
    const Type *tensor_type = ir_type(box->p->in->kernel, box->s->op->operands[0]);
    int rank = box->type->rank;
    int64_t rows = 1, at[MAX_RANK] = {0};
    for (int d = 0; d < rank - 1; d++) rows *= box->type->extent[d];
    int64_t n = rank ? box->type->extent[rank - 1] : 1;
    bool covered[MAX_RANK] = {false};
    for (int d = 0; d < rank; d++) covered[box->dims[d]] = true;
    bool fixed_inside = true; /* the dimensions of the tensor that the box has no axis for */
    uint64_t fixed = 0;
    for (int dim = 0; dim < tensor_type->rank; dim++) {
        int64_t index = 0;
        if (covered[dim]) continue;
        fixed_inside &= place(box, dim, 0, &index);
        fixed += (uint64_t)index * (uint64_t)box->tensor->stride[dim];
    }
    for (int64_t row = 0; row < rows; row++) {
        bool inside = fixed_inside;
        uint64_t offset = fixed;
        for (int d = 0; d < rank - 1; d++) {
            int64_t index = 0;
            inside &= place(box, box->dims[d], at[d], &index);
            offset += (uint64_t)index * (uint64_t)box->tensor->stride[box->dims[d]];
        }
        visit_row(box, row * n, inside, offset);
        for (int d = rank - 2; d >= 0 && ++at[d] == box->type->extent[d]; d--) at[d] = 0;
    }
}

/* The indices that say where the element lies are sound. */
static void check_indices(Box *box, int64_t element) {
    for (int axis = box->type->rank; axis-- > 0; element /= box->type->extent[axis]) {
        const Operand *offset = &box->offset[box->dims[axis]];
        if (offset->type->rank && offset->cell->shadow)
            sanitize_element(box->p, box->s, offset, element % box->type->extent[axis], USE_ADDRESS);
    }
}

static bool box_active(Box *box, int64_t element) {
    if (box->has_mask) {
        int64_t run = op_int(box->s->op, AT_RUN, 1), at = walk_offset(&box->mask_walk, 0, element - element % run);
        if (box->mask.cell->shadow) sanitize_element(box->p, box->s, &box->mask, at, USE_MASK);
        if (!((const uint8_t *)box->mask.data)[at]) return false;
    }
    if (box->shadowed) check_indices(box, element);
    return true;
}

static void load_segment(Box *box, Segment g) {
    char *to = (char *)box->cell->data + g.element * box->bytes;
    bool plain = g.inside && !box->has_mask && g.step == box->bytes && !box->p->in->shadows && box->type->elem != EL_I1;
    int64_t total = g.count * box->bytes;
    if (plain && memory_allows(box->p, box->s, g.address, (uint64_t)total)) {
        memcpy(to, (const void *)(uintptr_t)g.address, (size_t)total);
        return;
    }
    for (int64_t i = 0; i < g.count; i++, to += box->bytes) {
        uint64_t address = g.address + (uint64_t)i * (uint64_t)g.step;
        bool active = (g.inside || box->shadowed) && box_active(box, g.element + i) && g.inside;
        if (active && memory_access(box->p, box->s, address, box->bytes, MEMORY_READ, box->type, g.element + i))
            load_element(box->type, to, address, box->bytes);
        else
            memcpy(to, box->fill, (size_t)box->bytes);
    }
}

static void store_segment(Box *box, Segment g) {
    if (!g.inside && !box->shadowed) return;
    for (int64_t i = 0; i < g.count; i++) {
        int64_t element = g.element + i;
        uint64_t address = g.address + (uint64_t)i * (uint64_t)g.step;
        if (!box_active(box, element) || !g.inside) continue;
        Operand value = {.type = box->type, .cell = box->cell};
        if (box->cell->shadow) sanitize_element(box->p, box->s, &value, element, USE_VALUE);
        const char *from = (const char *)box->cell->data + element * box->bytes;
        bool atomic = box->kind != WORD_NONE;
        if (!memory_access(box->p, box->s, address, box->bytes, atomic ? MEMORY_UPDATE : MEMORY_WRITE, box->type,
                           element))
            continue;
        if (atomic)
            memory_combine(box->kind, box->type->elem, (void *)(uintptr_t)address, from, NULL);
        else
            memcpy((void *)(uintptr_t)address, from, (size_t)box->bytes);
    }
}

void memory_load_box(Process *p, Step *s, const Type *type, Ref mask, Cell *out) {
    static const uint64_t zero = 0;
    Box box;
    box_begin(&box, p, s, type, mask);
    box.visit = load_segment;
    box.cell = out;
    const Attr *fill = op_attr(s->op, AT_FILL);
    box.fill = fill ? ev_use(p, s, fill->ref)->data : &zero;
    box_visit(&box);
}

void eval_tload(Process *p, Step *s) {
    const Type *type = ir_value(p->in->kernel, s->op->results[0])->type;
    memory_load_box(p, s, type, op_operand(s->op, 1), ev_define(p, s, 0));
}

static void store_box(Process *p, Step *s, Ref mask, Word kind) {
    Operand value = ev_operand_of(p, s, op_operand(s->op, 1));
    Box box;
    box_begin(&box, p, s, value.type, mask);
    box.visit = store_segment;
    box.cell = value.cell;
    box.kind = kind;
    box_visit(&box);
}

void eval_tstore(Process *p, Step *s) { store_box(p, s, op_operand(s->op, 2), WORD_NONE); }

void eval_tatomic(Process *p, Step *s) {
    store_box(p, s, op_operand(s->op, 2), op_word(s->op, AT_COMBINE, COMBINE_ADD));
    process_pause(p);
}
