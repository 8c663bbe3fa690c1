/* SPDX-License-Identifier: Apache-2.0 */
/* build.c: see build.h. */
#include "ir/build.h"

#include <string.h>

Builder ir_builder(Kernel *k, Region *region) { return (Builder){k->module, k, region, NULL, k->range}; }
Builder ir_builder_before(Kernel *k, Op *op) { return (Builder){k->module, k, op->parent, op, op->range}; }
Builder ir_builder_behind(Kernel *k, Op *op) { return (Builder){k->module, k, op->parent, op->next, op->range}; }
Builder ir_builder_inside(const Builder *b, Region *region) {
    return (Builder){b->module, b->kernel, region, NULL, b->range};
}

/* --- the three steps --- */

Op *ir_begin(Builder *b, Opcode code) {
    Op *op = ARENA_NEW(b->module->arena, Op);
    op->code = code;
    op->range = b->range;
    if (code == OP_TASKS) b->kernel->has_tasks = true;
    return op;
}

static void add_operands(Builder *b, Op *op, const Ref *operands, int count) {
    Ref *grown = ARENA_ARRAY(b->module->arena, Ref, op->operand_count + count);
    if (op->operand_count) memcpy(grown, op->operands, (size_t)op->operand_count * sizeof(Ref));
    if (count) memcpy(grown + op->operand_count, operands, (size_t)count * sizeof(Ref));
    op->operands = grown;
    op->operand_count += count;
}

void ir_operand(Builder *b, Op *op, Ref operand) { add_operands(b, op, &operand, 1); }

void ir_operand_list(Builder *b, Op *op, int list, const Ref *operands, int count) {
    op->list_count[list] = count;
    add_operands(b, op, operands, count);
}

Region *ir_region(Builder *b, Op *op) {
    Region *region = ARENA_NEW(b->module->arena, Region);
    region->owner = op;
    Region **grown = ARENA_ARRAY(b->module->arena, Region *, op->region_count + 1);
    for (int i = 0; i < op->region_count; i++) grown[i] = op->regions[i];
    grown[op->region_count++] = region;
    op->regions = grown;
    return region;
}

static Ref new_value(Kernel *k, Value value) {
    *VEC_PUSH(&k->values, k->module->arena) = value;
    return (Ref)(k->values.count - 1);
}

Ref ir_argument(Kernel *k, Region *region, const Type *type, const char *name) {
    Arena *arena = k->module->arena;
    Ref *grown = ARENA_ARRAY(arena, Ref, region->arg_count + 1);
    for (int i = 0; i < region->arg_count; i++) grown[i] = region->args[i];
    Value value = {.type = type, .region = region, .index = region->arg_count};
    value.name = name ? arena_string(arena, name, strlen(name)) : NULL;
    grown[region->arg_count] = new_value(k, value);
    region->args = grown;
    return grown[region->arg_count++];
}

Ref ir_end_results(Builder *b, Op *op, int count, const Type *const *types) {
    op->results = ARENA_ARRAY(b->module->arena, Ref, count);
    op->result_count = count;
    for (int i = 0; i < count; i++)
        op->results[i] = new_value(b->kernel, (Value){.type = types[i], .op = op, .index = i});
    ir_insert_op(b->region, b->before, op);
    return count ? op->results[0] : REF_NONE;
}

Ref ir_end(Builder *b, Op *op, const Type *given) {
    const Type **types = ARENA_ARRAY(b->module->arena, const Type *, op->operand_count + MAX_MAP_RESULTS);
    int count = 0;
    const char *why = "";
    if (!ir_infer(b->kernel, op, given, types, &count, &why))
        ice(b->module->trap, "building `%s`: %s", op_info[op->code].mnemonic, why);
    return ir_end_results(b, op, count, types);
}

/* --- makers --- */

static Ref simple(Builder *b, Opcode code, const Ref *operands, int count, const Type *given) {
    Op *op = ir_begin(b, code);
    add_operands(b, op, operands, count);
    return ir_end(b, op, given);
}

/* An op with one number attribute. */
static Ref numbered(Builder *b, Opcode code, Ref x, AttrId id, int64_t number) {
    Op *op = ir_begin(b, code);
    ir_operand(b, op, x);
    op_set(b->kernel, op, (Attr){.id = id, .number = number});
    return ir_end(b, op, NULL);
}

Ref ir_int(Builder *b, Elem elem, int64_t value) {
    return ir_literal_int(b->kernel, ty_scalar(b->module, elem), value);
}
Ref ir_float(Builder *b, Elem elem, double value) {
    return ir_literal_float(b->kernel, ty_scalar(b->module, elem), value);
}
Ref ir_unary(Builder *b, Opcode code, Ref x) { return simple(b, code, &x, 1, NULL); }
Ref ir_binary(Builder *b, Opcode code, Ref x, Ref y) { return simple(b, code, (Ref[]){x, y}, 2, NULL); }
Ref ir_binary_as(Builder *b, Opcode code, Ref x, Ref y, Elem elem) {
    y = ir_cast(b, y, elem);
    return ir_binary(b, code, ir_cast(b, x, elem), y);
}
Ref ir_ternary(Builder *b, Opcode code, Ref x, Ref y, Ref z) { return simple(b, code, (Ref[]){x, y, z}, 3, NULL); }
Ref ir_compare(Builder *b, Word predicate, Ref x, Ref y) {
    Op *op = ir_begin(b, OP_CMP);
    add_operands(b, op, (Ref[]){x, y}, 2);
    op_set(b->kernel, op, (Attr){.id = AT_PRED, .word = predicate});
    return ir_end(b, op, NULL);
}
Ref ir_cast(Builder *b, Ref x, Elem elem) {
    const Type *type = ir_type(b->kernel, x);
    if (type->elem == elem && !type->pointer) return x;
    return simple(b, OP_CAST, &x, 1, ty_with_elem(b->module, type, elem));
}
Ref ir_splat(Builder *b, Ref scalar, const Type *tile) { return simple(b, OP_SPLAT, &scalar, 1, tile); }
Ref ir_iota(Builder *b, int64_t begin, int64_t end) {
    Op *op = ir_begin(b, OP_IOTA);
    op_set(b->kernel, op, (Attr){.id = AT_BEGIN, .number = begin});
    op_set(b->kernel, op, (Attr){.id = AT_END, .number = end});
    return ir_end(b, op, NULL);
}
Ref ir_expand(Builder *b, Ref x, int axis) { return numbered(b, OP_EXPAND, x, AT_AXIS, axis); }
Ref ir_broadcast(Builder *b, Ref x, const Type *type) {
    return ir_type(b->kernel, x) == type ? x : simple(b, OP_BROADCAST, &x, 1, type);
}
Ref ir_repeat(Builder *b, Ref x, int axis, int64_t times) {
    const Type *type = ir_type(b->kernel, x);
    int64_t extent[MAX_RANK];
    for (int d = 0; d < type->rank; d++) extent[d] = type->extent[d] * (d == axis ? times : 1);
    Op *op = ir_begin(b, OP_REPEAT);
    ir_operand(b, op, x);
    op_set(b->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    return ir_end(b, op, ty_with_shape(b->module, type, type->rank, extent));
}
Ref ir_reshape(Builder *b, Ref x, const Type *type) {
    return ir_type(b->kernel, x) == type ? x : simple(b, OP_RESHAPE, &x, 1, type);
}
Ref ir_permute(Builder *b, Ref x, const int64_t *dims, int count) {
    Op *op = ir_begin(b, OP_PERMUTE);
    ir_operand(b, op, x);
    const int64_t *copy = arena_copy(b->module->arena, dims, (size_t)count * sizeof *dims);
    op_set(b->kernel, op, (Attr){.id = AT_DIMS, .list = {count, copy}});
    return ir_end(b, op, NULL);
}
Ref ir_slice(Builder *b, Ref x, const Ref *offsets, const Type *type) {
    Op *op = ir_begin(b, OP_SLICE);
    ir_operand(b, op, x);
    ir_operand_list(b, op, 0, offsets, ir_type(b->kernel, x)->rank);
    return ir_end(b, op, type);
}
Ref ir_insert(Builder *b, Ref x, const Ref *offsets, Ref part) {
    Op *op = ir_begin(b, OP_INSERT);
    ir_operand(b, op, x);
    ir_operand_list(b, op, 0, offsets, ir_type(b->kernel, x)->rank);
    ir_operand(b, op, part);
    return ir_end(b, op, NULL);
}
Ref ir_reduce(Builder *b, Word combine, Ref x, int axis) {
    Op *op = ir_begin(b, OP_REDUCE);
    ir_operand(b, op, x);
    op_set(b->kernel, op, (Attr){.id = AT_COMBINE, .word = combine});
    op_set(b->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    return ir_end(b, op, NULL);
}
Ref ir_dot(Builder *b, Ref a, Ref c, Ref acc) { return ir_ternary(b, OP_DOT, a, c, acc); }

Ref ir_tensor(Builder *b, Ref base, const Ref *extents, const Ref *strides, int rank) {
    Op *op = ir_begin(b, OP_TENSOR);
    ir_operand(b, op, base);
    ir_operand_list(b, op, 0, extents, rank);
    ir_operand_list(b, op, 1, strides, rank);
    return ir_end(b, op, NULL);
}
Ref ir_tload(Builder *b, Ref tensor, const Ref *offsets, Ref mask, const Type *type) {
    Op *op = ir_begin(b, OP_TLOAD);
    ir_operand(b, op, tensor);
    ir_operand_list(b, op, 0, offsets, ir_type(b->kernel, tensor)->rank);
    ir_operand(b, op, mask);
    return ir_end(b, op, type);
}
Op *ir_tstore(Builder *b, Ref tensor, const Ref *offsets, Ref value, Ref mask) {
    Op *op = ir_begin(b, OP_TSTORE);
    ir_operand(b, op, tensor);
    ir_operand_list(b, op, 0, offsets, ir_type(b->kernel, tensor)->rank);
    add_operands(b, op, (Ref[]){value, mask}, 2);
    ir_end(b, op, NULL);
    return op;
}
Ref ir_buffer(Builder *b, const Type *type, const char *name) {
    Ref buffer = simple(b, OP_BUF, NULL, 0, type);
    ir_name(b->kernel, buffer, name);
    return buffer;
}
Ref ir_bload(Builder *b, Ref buffer, const Ref *offsets, const Type *type) {
    Op *op = ir_begin(b, OP_BLOAD);
    ir_operand(b, op, buffer);
    ir_operand_list(b, op, 0, offsets, ir_type(b->kernel, buffer)->rank);
    return ir_end(b, op, type);
}
Op *ir_bstore(Builder *b, Ref buffer, const Ref *offsets, Ref value) {
    Op *op = ir_begin(b, OP_BSTORE);
    ir_operand(b, op, buffer);
    ir_operand_list(b, op, 0, offsets, ir_type(b->kernel, buffer)->rank);
    ir_operand(b, op, value);
    ir_end(b, op, NULL);
    return op;
}

Op *ir_for(Builder *b, Ref lo, Ref hi, Ref step, const Ref *initial, int count, const char *name) {
    Op *op = ir_begin(b, OP_FOR);
    add_operands(b, op, (Ref[]){lo, hi, step}, 3);
    add_operands(b, op, initial, count);
    Region *region = ir_region(b, op);
    ir_argument(b->kernel, region, ir_type(b->kernel, lo), name);
    for (int i = 0; i < count; i++) ir_argument(b->kernel, region, ir_type(b->kernel, initial[i]), NULL);
    ir_end(b, op, NULL);
    return op;
}
Op *ir_if(Builder *b, Ref condition, int count, const Type *const *types) {
    Op *op = ir_begin(b, OP_IF);
    ir_operand(b, op, condition);
    ir_region(b, op);
    ir_region(b, op);
    ir_end_results(b, op, count, types);
    return op;
}
void ir_yield(Builder *b, const Ref *values, int count) { simple(b, OP_YIELD, values, count, NULL); }
void ir_return(Builder *b) { simple(b, OP_RETURN, NULL, 0, NULL); }

void ir_name(Kernel *k, Ref value, const char *name) {
    if (!ref_is_value(value) || !name) return;
    ir_value(k, value)->name = arena_string(k->module->arena, name, strlen(name));
}

/* --- changing --- */

void ir_insert_op(Region *region, Op *before, Op *op) {
    op->parent = region;
    op->next = before;
    op->previous = before ? before->previous : region->last;
    *(op->previous ? &op->previous->next : &region->first) = op;
    *(before ? &before->previous : &region->last) = op;
    if (op->code != OP_ASSUME && op->code != OP_REQUIRE) return;
    op->previous_fact = NULL;
    op->next_fact = region->first_fact;
    if (op->next_fact) op->next_fact->previous_fact = op;
    region->first_fact = op;
}

void ir_remove(Op *op) {
    *(op->previous ? &op->previous->next : &op->parent->first) = op->next;
    *(op->next ? &op->next->previous : &op->parent->last) = op->previous;
    if (op->code == OP_ASSUME || op->code == OP_REQUIRE) {
        *(op->previous_fact ? &op->previous_fact->next_fact : &op->parent->first_fact) = op->next_fact;
        if (op->next_fact) op->next_fact->previous_fact = op->previous_fact;
    }
    op->previous = op->next = NULL;
    op->parent = NULL;
}

void ir_move(Op *op, Region *region, Op *before) {
    ir_remove(op);
    ir_insert_op(region, before, op);
}

void ir_walk(Region *region, void (*visit)(Op *op, void *user), void *user) {
    for (Op *op = region->first, *next; op; op = next) {
        next = op->next;
        __builtin_prefetch(next); /* a walk over a large kernel waits for memory most of its time */
        visit(op, user);
        if (!op->parent) continue; /* removed by visit */
        for (int i = 0; i < op->region_count; i++) ir_walk(op->regions[i], visit, user);
    }
}

static void list_ops(const Region *region, Opcode code, Arena *arena, FoundOps *list) {
    for (Op *op = region->first; op; op = op->next) {
        if (op->code == code) *VEC_PUSH(list, arena) = op;
        for (int i = 0; i < op->region_count; i++) list_ops(op->regions[i], code, arena, list);
    }
}

FoundOps ir_list(const Region *region, Opcode code, Arena *arena) {
    FoundOps list = {0};
    list_ops(region, code, arena, &list);
    return list;
}

typedef struct Replacement {
    Ref from, to;
} Replacement;

static void replace_in_op(Op *op, void *user) {
    const Replacement *r = user;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] == r->from) op->operands[i] = r->to;
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF && op->attrs[i].ref == r->from) op->attrs[i].ref = r->to;
}

void ir_replace_all(Kernel *k, Ref from, Ref to) {
    Replacement replacement = {from, to};
    ir_walk(k->body, replace_in_op, &replacement);
}

static void count_in_op(Op *op, void *user) {
    int *uses = user;
    for (int i = 0; i < op->operand_count; i++)
        if (ref_is_value(op->operands[i])) uses[op->operands[i]]++;
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF && ref_is_value(op->attrs[i].ref)) uses[op->attrs[i].ref]++;
}

bool ir_op_uses(const Op *op, Ref value) {
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] == value) return true;
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF && op->attrs[i].ref == value) return true;
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            if (ir_op_uses(inner, value)) return true;
    return false;
}

int *ir_count_uses(const Kernel *k, Arena *arena) {
    int *uses = ARENA_ARRAY(arena, int, k->values.count);
    ir_walk(k->body, count_in_op, uses);
    return uses;
}

typedef struct UserCount {
    int *count; /* first: users of each value; then: where its next one goes */
    Op **list;  /* NULL while counting */
} UserCount;

static void index_op(Op *op, void *user) {
    UserCount *u = user;
    for (int i = 0; i < op->operand_count; i++) {
        bool again = !ref_is_value(op->operands[i]);
        for (int j = 0; j < i; j++) again |= op->operands[j] == op->operands[i];
        if (again) continue;
        int at = u->count[op->operands[i]]++;
        if (u->list) u->list[at] = op;
    }
}

UserIndex ir_index_users(const Kernel *k, Arena *arena) {
    size_t n = k->values.count;
    UserCount u = {ARENA_ARRAY(arena, int, n), NULL};
    int *start = ARENA_ARRAY(arena, int, n + 1);
    ir_walk(k->body, index_op, &u);
    for (size_t i = 0; i < n; i++) start[i + 1] = start[i] + u.count[i];
    u.list = ARENA_ARRAY(arena, Op *, start[n]);
    memcpy(u.count, start, n * sizeof *start);
    ir_walk(k->body, index_op, &u);
    return (UserIndex){start, u.list};
}

/* --- cloning --- */

Ref refmap_get(const RefMap *map, Ref from) {
    if (!ref_is_value(from)) return from;
    MapEntry *entry = map_find_number(&map->map, from);
    return entry ? (Ref)(uintptr_t)entry->value : from;
}

void refmap_set(RefMap *map, Ref from, Ref to) { map_put_number(&map->map, map->arena, from, (void *)(uintptr_t)to); }

void ir_replace_in_op(Op *op, const RefMap *map) {
    for (int i = 0; i < op->operand_count; i++) op->operands[i] = refmap_get(map, op->operands[i]);
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF) op->attrs[i].ref = refmap_get(map, op->attrs[i].ref);
}

static void map_in_op(Op *op, void *user) { ir_replace_in_op(op, user); }

void ir_replace_map(Kernel *k, const RefMap *map) {
    if (map->map.count) ir_walk(k->body, map_in_op, (void *)map);
}

Ref ir_like(Builder *b, const Op *op, const Ref *operands, const Type *given) {
    Op *made = ir_begin(b, op->code);
    made->range = op->range;
    for (int i = 0; i < op->operand_count; i++) ir_operand(b, made, operands[i]);
    for (int i = 0; i < op->attr_count; i++) op_set(b->kernel, made, op->attrs[i]);
    return ir_end(b, made, op_info[op->code].result == RES_GIVEN ? given : NULL);
}

Op *ir_clone(Builder *b, const Op *op, RefMap *map) {
    Kernel *k = b->kernel;
    Op *copy = ir_begin(b, op->code);
    copy->range = op->range;
    for (int i = 0; i < 2; i++) copy->list_count[i] = op->list_count[i];
    add_operands(b, copy, op->operands, op->operand_count);
    for (int i = 0; i < copy->operand_count; i++) copy->operands[i] = refmap_get(map, copy->operands[i]);
    copy->attrs = arena_copy(b->module->arena, op->attrs, (size_t)op->attr_count * sizeof(Attr));
    copy->attr_count = op->attr_count;
    for (int i = 0; i < copy->attr_count; i++)
        if (attr_info[copy->attrs[i].id].kind == ATTR_REF) copy->attrs[i].ref = refmap_get(map, copy->attrs[i].ref);
    for (int i = 0; i < op->region_count; i++) {
        const Region *from = op->regions[i];
        Region *region = ir_region(b, copy);
        for (int a = 0; a < from->arg_count; a++) {
            Value old = *ir_value(k, from->args[a]);
            refmap_set(map, from->args[a], ir_argument(k, region, old.type, old.name));
        }
        Builder inside = ir_builder_inside(b, region);
        ir_clone_region(&inside, from, map);
    }
    const Type **types = ARENA_ARRAY(b->module->arena, const Type *, op->result_count);
    for (int i = 0; i < op->result_count; i++) types[i] = ir_type(k, op->results[i]);
    ir_end_results(b, copy, op->result_count, types);
    for (int i = 0; i < op->result_count; i++) {
        const Value old = *ir_value(k, op->results[i]);
        Value *made = ir_value(k, copy->results[i]);
        made->name = old.name;
        made->layout = old.layout;
        refmap_set(map, op->results[i], copy->results[i]);
    }
    return copy;
}

void ir_clone_region(Builder *b, const Region *from, RefMap *map) {
    for (const Op *op = from->first; op; op = op->next) ir_clone(b, op, map);
}

/* --- keeping --- */
struct KernelCopy {
    Region *body;
    size_t count;
    Value *values;
    int attr_count;
    Attr *attrs;
    Form form;
};

static void *copy_array(Arena *arena, const void *from, int count, size_t size) {
    if (!count) return NULL;
    char *to = ARENA_ARRAY(arena, char, (size_t)count *size);
    memcpy(to, from, (size_t)count * size);
    return to;
}

static Region *keep_region(Arena *arena, const Region *from, Op *owner, Value *values) {
    Region *region = ARENA_NEW(arena, Region);
    region->owner = owner;
    region->arg_count = from->arg_count;
    region->args = copy_array(arena, from->args, from->arg_count, sizeof *from->args);
    for (int i = 0; i < from->arg_count; i++) values[from->args[i]].region = region;
    for (const Op *old = from->first; old; old = old->next) {
        Op *op = ARENA_NEW(arena, Op);
        *op = *old;
        op->previous_fact = op->next_fact = NULL;
        op->operands = copy_array(arena, old->operands, old->operand_count, sizeof *old->operands);
        op->results = copy_array(arena, old->results, old->result_count, sizeof *old->results);
        op->attrs = copy_array(arena, old->attrs, old->attr_count, sizeof *old->attrs);
        op->regions = copy_array(arena, old->regions, old->region_count, sizeof *old->regions);
        for (int i = 0; i < op->result_count; i++) values[op->results[i]].op = op;
        for (int i = 0; i < op->region_count; i++) op->regions[i] = keep_region(arena, old->regions[i], op, values);
        ir_insert_op(region, NULL, op);
    }
    return region;
}

KernelCopy *ir_keep(const Kernel *k) {
    Arena *arena = k->module->arena;
    KernelCopy *copy = ARENA_NEW(arena, KernelCopy);
    copy->count = k->values.count;
    copy->values = ARENA_ARRAY(arena, Value, copy->count);
    memcpy(copy->values, k->values.at, copy->count * sizeof *copy->values);
    copy->body = keep_region(arena, k->body, NULL, copy->values);
    copy->attr_count = k->attr_count;
    copy->attrs = copy_array(arena, k->attrs, k->attr_count, sizeof *k->attrs);
    copy->form = k->form;
    return copy;
}

void ir_take_back(Kernel *k, const KernelCopy *copy) {
    memcpy(k->values.at, copy->values, copy->count * sizeof *copy->values);
    k->body = copy->body;
    k->attr_count = copy->attr_count;
    k->attrs = copy->attrs;
    k->form = copy->form;
}
