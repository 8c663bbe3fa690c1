/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c: 32 programs of a row each become one task, for machines whose tiles have 32 rows.
 *
 * Contract: ring form in and out, each row is computed as it was. A kernel whose program handles one row of its tensors
 * (softmax, norms, sums of rows) has tiles of rank 1, and a page of a Tensix core would hold one row of 32. So the
 * program index, where it does nothing but choose that row, counts groups of 32 rows, every tile made of such a row
 * gets an axis in front, and every number made of one becomes a column of 32:
 *
 *     tasks %row in %np { .. %x = tload %T, [%row, 0] : f32[128] .. %m = reduce<max, axis=0> %x ; %d = sub %x, %m ..
 *  -> %n = cdiv %np, 32
 *     tasks %g in %n { %r = mul %g, 32 .. %x = tload %T', [%r, 0] : f32[32,128] .. %m = reduce<max, axis=1> %x
 *                      %e = expand<1> %m ; %d = sub %x, %e ..
 *
 * T' ends behind row %np: the last group loads fill and stores nothing there; of a parameter that is a tensor itself
 * the launch asks that it end there. What is the same for all rows stays as it
 * is. A kernel that uses the index in any other way, or does more with rows than element by element, sums and maxima,
 * stays as it is. */
#include "ir/build.h"
#include "ir/ringform.h"
#include "pass/pass.h"

enum { ROWS = 32, MOST_SLOT_BYTES = 128 << 10 };

typedef struct Batch {
    PassContext *cx;
    Kernel *k;
    Op *tasks;
    Ref row, programs; /* the index, and how many there are of it */
    Ref first;         /* the first row of a group */
    bool *has_rows;                          /* by Ref: one for each row of the group */
    size_t count;                            /* of has_rows */
    bool fields[MAX_RINGS][MAX_RING_FIELDS]; /* the same, by ring and field */
    VEC(Ref) rings;
    Map bounded; /* tensor and dimension -> the tensor that ends behind the last row */
    bool changed, possible;
} Batch;

static const Type *type_of(const Batch *x, Ref ref) { return ir_type(x->k, ref); }
static bool has_rows(const Batch *x, Ref ref) { return ref_is_value(ref) && ref < x->count && x->has_rows[ref]; }

static void mark(Batch *x, Ref ref) {
    if (!ref_is_value(ref) || x->has_rows[ref]) return;
    x->has_rows[ref] = x->changed = true;
}

/* Values of which all have rows if one has. */
static void join(Batch *x, Ref a, Ref b) {
    if (has_rows(x, a)) mark(x, b);
    if (has_rows(x, b)) mark(x, a);
}

static bool *field_of(Batch *x, const Op *op) {
    Ref ring = hand_ring(x->k, op);
    size_t i = 0;
    while (x->rings.at[i] != ring) i++;
    return &x->fields[i][hand_field(op)];
}

/* A field with rows takes a value without them, too: the same for all (change_op). */
static void join_field(Batch *x, const Op *op, Ref value) {
    bool *field = field_of(x, op);
    if (*field && op->code == OP_GET) mark(x, value);
    if (has_rows(x, value) && !*field) *field = x->changed = true;
}

/* ---------------------------------------------------------------------------------------------- what has rows */

/* The dimension of the box along which the index is; -1: none. */
static int row_dim(const Batch *x, const Op *access) {
    RefList offsets = op_list(access, 0);
    for (int d = 0; d < offsets.count; d++)
        if (offsets.at[d] == x->row) return d;
    return -1;
}

static void spread_op(Batch *x, Op *op) {
    switch (op->code) {
    case OP_TLOAD:
        if (row_dim(x, op) >= 0) mark(x, op->results[0]);
        return;
    case OP_TSTORE:
        if (row_dim(x, op) >= 0) mark(x, op_operand(op, 1));
        return;
    case OP_PUT: join_field(x, op, put_value(op)); return;
    case OP_GET: join_field(x, op, op->results[0]); return;
    case OP_FOR:
        for (int i = 0; i < op->result_count; i++) {
            Ref carried = op->regions[0]->args[i + 1];
            join(x, carried, op->results[i]);
            if (has_rows(x, op->operands[3 + i])) mark(x, carried);
            if (has_rows(x, op->regions[0]->last->operands[i])) mark(x, carried);
        }
        return;
    default:
        for (int i = 0; i < op->operand_count && op->result_count == 1 && !op->region_count; i++)
            if (has_rows(x, op->operands[i])) mark(x, op->results[0]);
    }
}

static void spread_region(Batch *x, const Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        spread_op(x, op);
        for (int i = 0; i < op->region_count; i++) spread_region(x, op->regions[i]);
    }
}

/* ------------------------------------------------------------------------------------------------ is it possible */

static bool is_box_of_rows(const Batch *x, const Op *access) {
    bool is_load = access->code == OP_TLOAD;
    Ref tensor = access->operands[0], mask = op_operand(access, is_load ? 1 : 2);
    const Type *tile = type_of(x, is_load ? access->results[0] : op_operand(access, 1));
    int dim = row_dim(x, access), times = 0, rank = type_of(x, tensor)->rank;
    RefList offsets = op_list(access, 0);
    for (int d = 0; d < offsets.count; d++) times += offsets.at[d] == x->row;
    const Op *made = ir_value(x->k, tensor)->op;
    return times == 1 && !mask && tile->rank <= 1 && box_axis(access, rank, tile->rank, dim) < 0 &&
           !op_attr(access, AT_WRAP) && (!made || (made->code == OP_TENSOR && made->parent == x->k->body));
}

static bool may_have_rows(const Batch *x, Ref ref) {
    const Type *type = type_of(x, ref);
    if (type->kind != TY_TILE || type->rank > 1 || type->pointer) return false;
    return ROWS * ty_elements(type) <= MAX_TILE_ELEMENTS && (elem_is_float(type->elem) || type->elem == EL_I1);
}

static bool op_is_possible(Batch *x, const Op *op) {
    bool is_access = op->code == OP_TLOAD || op->code == OP_TSTORE;
    if (op->code == OP_TSTORE && row_dim(x, op) < 0) return false; /* all rows at one place */
    if (op->code == OP_TATOMIC || op->code == OP_ATOMIC) return false; /* each program does it */
    bool is_header = op->parent == tasks_body(x->tasks); /* numbers that all roles read */
    if (is_header && op->result_count == 1 && has_rows(x, op->results[0])) return false;
    if (is_access && row_dim(x, op) >= 0 && !is_box_of_rows(x, op)) return false;
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i] == x->row && !is_access) return false;
        bool is_slot = ref_is_value(op->operands[i]) && type_of(x, op->operands[i])->kind == TY_SLOT;
        if (op->code == OP_FOR && is_slot) return false;
    }
    for (int i = 0; i < op->result_count; i++)
        if (has_rows(x, op->results[i]) && !may_have_rows(x, op->results[i])) return false;
    bool any = false;
    for (int i = 0; i < op->operand_count; i++) any |= has_rows(x, op->operands[i]);
    if (!any) return true;
    switch (op->code) {
    case OP_PUT: return op_list(op, 0).count == 0;
    case OP_YIELD: return op->parent->owner->code == OP_FOR;
    case OP_TSTORE: return !has_rows(x, op->operands[0]);
    case OP_FOR: return !has_rows(x, op->operands[0]) && !has_rows(x, op->operands[1]) && !has_rows(x, op->operands[2]);
    case OP_REDUCE: return op->operand_count == 1 && type_of(x, op->operands[0])->rank == 1;
    case OP_SPLAT: return true;
    default: return op_has(op->code, TRAIT_ELEMENTWISE) && op->result_count == 1 && !op->region_count;
    }
}

static void test_region(Batch *x, const Region *region) {
    for (const Op *op = region->first; op && x->possible; op = op->next) {
        x->possible = op_is_possible(x, op);
        for (int i = 0; i < op->region_count; i++) test_region(x, op->regions[i]);
    }
}

/* --------------------------------------------------------------------------------------------------- the change */

static const Type *with_rows(const Batch *x, const Type *type) {
    int64_t extent[2] = {ROWS, type->rank ? type->extent[0] : 0};
    return ty_with_shape(x->k->module, type, type->rank + 1, extent);
}

/* The value as an operand of something of that type: a column, a row, or as it is. */
static Ref as_part(Batch *x, Builder *b, Ref ref, int rank) {
    const Type *type = type_of(x, ref);
    if (rank != 2 || type->rank != 1) return ref;
    return ir_expand(b, ref, has_rows(x, ref) ? 1 : 0);
}

/* What is the same for all rows, for each of them. */
static Ref for_all_rows(Batch *x, Builder *b, Ref ref, const Type *type) {
    if (has_rows(x, ref) || type_of(x, ref) == type) return ref; /* also what was made of a splat */
    const Op *op = ref_is_value(ref) ? ir_value(x->k, ref)->op : NULL;
    if (op && op->code == OP_SPLAT) return ir_splat(b, op->operands[0], type);
    if (!type_of(x, ref)->rank) return ir_splat(b, ref, type);
    return ir_broadcast(b, ir_expand(b, ref, 0), type);
}

/* A parameter that is a tensor ends where it ends: that must not be behind the last row, if rows are stored there. */
static void ask_for_end(Batch *x, const Op *store, int dim) {
    Builder b = ir_builder_before(x->k, x->tasks);
    Op *extent = ir_begin(&b, OP_EXTENT);
    ir_operand(&b, extent, store->operands[0]);
    op_set(x->k, extent, (Attr){.id = AT_DIM, .number = dim});
    Ref end = ir_end(&b, extent, NULL), programs = ir_cast(&b, x->programs, EL_I64);
    Op *require = ir_begin(&b, OP_REQUIRE);
    ir_operand(&b, require, ir_binary(&b, OP_SUB, programs, end));
    op_set(x->k, require, (Attr){.id = AT_LEAST, .number = 0});
    ir_end(&b, require, NULL);
}

static void bound_tensor(Batch *x, Op *access, int dim) {
    const Op *made = ir_value(x->k, access->operands[0])->op;
    if (!made) {
        if (access->code == OP_TSTORE) ask_for_end(x, access, dim);
        return;
    }
    RefList extents = op_list(made, 0), strides = op_list(made, 1);
    uint64_t key = (uint64_t)access->operands[0] * MAX_RANK + (unsigned)dim;
    const MapEntry *known = map_find_number(&x->bounded, key);
    if (known) {
        access->operands[0] = (Ref)(uintptr_t)known->value;
        return;
    }
    Builder b = ir_builder_before(x->k, x->tasks);
    Ref bounded[MAX_RANK];
    for (int d = 0; d < extents.count; d++) bounded[d] = extents.at[d];
    Elem elem = type_of(x, x->programs)->elem;
    if (bounded[dim] == REF_NONE)
        bounded[dim] = x->programs;
    else
        bounded[dim] = ir_binary(&b, OP_MIN, ir_cast(&b, bounded[dim], elem), x->programs);
    access->operands[0] = ir_tensor(&b, op_operand(made, 0), bounded, strides.at, extents.count);
    map_put_number(&x->bounded, x->cx->scratch, key, (void *)(uintptr_t)access->operands[0]);
}

static void change_access(Batch *x, Op *access) {
    int dim = row_dim(x, access);
    if (dim < 0) return;
    bool is_load = access->code == OP_TLOAD;
    const Type *tile = type_of(x, is_load ? access->results[0] : op_operand(access, 1)); /* with rows by now */
    int64_t *dims = ARENA_ARRAY(x->k->module->arena, int64_t, 2);
    dims[0] = dim;
    if (tile->rank == 2) dims[1] = box_dim(access, type_of(x, access->operands[0])->rank, 1, 0);
    bool is_plain = true;
    for (int i = 0; i < tile->rank; i++) is_plain &= dims[i] == type_of(x, access->operands[0])->rank - tile->rank + i;
    if (!is_plain || op_attr(access, AT_DIMS))
        op_set(x->k, access, (Attr){.id = AT_DIMS, .list = {.at = dims, .count = tile->rank}});
    bound_tensor(x, access, dim);
    op_list(access, 0).at[dim] = x->first;
}

static void change_op(Batch *x, Op *op) {
    Builder b = ir_builder_before(x->k, op);
    bool has = op->result_count == 1 && has_rows(x, op->results[0]);
    switch (op->code) {
    case OP_TLOAD:
    case OP_TSTORE: change_access(x, op); return;
    case OP_PUT: {
        const Type *field = type_of(x, hand_ring(x->k, op))->fields[hand_field(op)].type; /* with rows by now */
        if (*field_of(x, op))
            op->operands[op->operand_count - 1] = for_all_rows(x, &b, put_value(op), field);
        return;
    }
    case OP_REDUCE:
        if (has) op_set(x->k, op, (Attr){.id = AT_AXIS, .number = 1});
        return;
    case OP_FOR:
        for (int i = 0; i < op->result_count; i++) {
            Op *yield = op->regions[0]->last;
            Builder inside = ir_builder_before(x->k, yield);
            if (!has_rows(x, op->results[i])) continue;
            const Type *type = type_of(x, op->results[i]);
            op->operands[3 + i] = for_all_rows(x, &b, op->operands[3 + i], type);
            yield->operands[i] = for_all_rows(x, &inside, yield->operands[i], type);
        }
        return;
    case OP_SPLAT:
        if (has) { /* of a column: the columns are the same; of a number that all rows share: all of it is */
            Ref number = op->operands[0], result = op->results[0], made;
            const Type *type = type_of(x, result);
            made = has_rows(x, number) ? ir_broadcast(&b, ir_expand(&b, number, 1), type) : ir_splat(&b, number, type);
            ir_replace_all(x->k, result, made);
            ir_remove(op);
        }
        return;
    default:
        if (!has || !op_has(op->code, TRAIT_ELEMENTWISE)) return;
        for (int i = 0; i < op->operand_count; i++)
            op->operands[i] = as_part(x, &b, op->operands[i], type_of(x, op->results[0])->rank);
    }
}

static void change_region(Batch *x, const Region *region) {
    for (Op *op = region->first, *next; op; op = next) {
        next = op->next;
        for (int i = 0; i < op->region_count; i++) change_region(x, op->regions[i]);
        change_op(x, op);
    }
}

/* Slots of a ring have its fields. */
static void change_rings(Batch *x) {
    Kernel *k = x->k;
    for (size_t i = 0; i < x->rings.count; i++) {
        Value *ring = ir_value(k, x->rings.at[i]);
        Field *fields = ARENA_ARRAY(k->module->arena, Field, ring->type->field_count);
        int64_t bytes = 0;
        bool any = false;
        for (int f = 0; f < ring->type->field_count; f++) {
            fields[f] = ring->type->fields[f];
            if (x->fields[i][f]) fields[f].type = with_rows(x, fields[f].type), any = true;
            bytes += ty_elements(fields[f].type) * ty_elem_bytes(fields[f].type);
        }
        if (!any) continue;
        ring_set_type(k, x->rings.at[i], ty_ring(k->module, ring->type->field_count, fields));
        if (bytes > MOST_SLOT_BYTES) op_set(k, ring->op, (Attr){.id = AT_SLOTS, .number = 1});
    }
}

static void change(Batch *x) {
    Kernel *k = x->k;
    size_t count = k->values.count;
    int last = x->tasks->operand_count - 1;
    for (size_t v = 1; v < count; v++)
        if (x->has_rows[v]) k->values.at[v].type = with_rows(x, k->values.at[v].type);
    change_rings(x);
    Builder b = ir_builder_before(k, x->tasks);
    x->tasks->operands[last] = ir_binary(&b, OP_CDIV, x->programs, ir_int(&b, type_of(x, x->programs)->elem, ROWS));
    Region *body = tasks_body(x->tasks);
    Builder start = ir_builder_before(k, body->first);
    x->first = ir_binary(&start, OP_MUL, x->row, ir_int(&start, type_of(x, x->row)->elem, ROWS));
    for (Op *role = role_first(x->tasks); role; role = role_next(role)) change_region(x, role->regions[0]);
}

bool pass_batch(PassContext *cx, Kernel *k) {
    Batch x = {.cx = cx, .k = k, .possible = true, .changed = true};
    if (!cx->machine->roles_always) return false;
    for (Op *op = k->body->first; op; op = op->next) {
        if (op->code == OP_TASKS && x.tasks) return false;
        if (op->code == OP_TASKS) x.tasks = op;
        if (op->code == OP_RING) *VEC_PUSH(&x.rings, cx->scratch) = op->results[0];
    }
    if (!x.tasks || x.tasks->region_count > 1 || !x.tasks->operand_count || x.rings.count > MAX_RINGS) return false;
    x.programs = x.tasks->operands[x.tasks->operand_count - 1];
    if (!ref_is_value(x.programs)) return false;
    const Region *body = tasks_body(x.tasks);
    x.row = body->args[x.tasks->operand_count - 1];
    x.count = k->values.count;
    x.has_rows = ARENA_ARRAY(cx->scratch, bool, x.count);
    while (x.changed) {
        x.changed = false;
        spread_region(&x, body);
    }
    bool any = false;
    for (size_t v = 1; v < k->values.count; v++) any |= x.has_rows[v];
    if (any) test_region(&x, body);
    if (!any || !x.possible) return false;
    change(&x);
    pass_find(cx, k->range, FIND_BATCH, ROWS);
    return true;
}
