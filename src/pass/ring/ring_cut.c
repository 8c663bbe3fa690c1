/* SPDX-License-Identifier: Apache-2.0 */
/* ring_cut.c: the flat kernel, cut into roles.
 *
 * In: access form and a classification (ring_class.c). Out:
 *
 *     kernel { prologue ; ring.. ; tasks (program ids) { header ; role load ; role compute ; role store } }
 *
 * Replicable scalars of the kernel's own region go to the prologue, or to the header when a program
 * id reaches them. Every role is a clone of the whole control skeleton with the ops that belong to
 * it and all replicable ones; what it does not need falls to the sweep. Hand-overs:
 *
 *     load     at the last load of a group: acquire ; (load ; put).. ; commit
 *     compute  before the first use: wait ; get.. ; behind the last use: release
 *              in the place of a store: acquire ; put ; commit
 *     store    in the place of the store: wait ; get ; store ; release
 *
 * A write of compute that may concern what load reads is a place where the two meet (clone_met). */
#include "pass/fold/fold.h"
#include "pass/ring/ring_cut.h"

#include <ctype.h>
#include <string.h>

static const Word cut_into[] = {ROLE_LOAD, ROLE_COMPUTE, ROLE_STORE};

typedef struct Cutter {
    Cut *c;
    Word role;
    Ref *to; /* by old Ref: the role's own value; 0: the value itself */
} Cutter;

static Ref mapped(const Cutter *cut, Ref r) {
    return ref_is_value(r) && r < cut->c->value_count && cut->to[r] ? cut->to[r] : r;
}

/* --- names of fields --- */

/* The source's own: of the value, of what it was before it was converted, else of the array that it moves. */
static const char *source_name(const Cut *c, Ref value, const Op *access) {
    while (ref_is_value(value)) {
        const Value *v = ir_value(c->k, value);
        if (v->name && !isdigit((unsigned char)v->name[0])) return v->name;
        value = v->op && v->op->code == OP_CAST ? v->op->operands[0] : REF_NONE;
    }
    const Value *tensor = ir_value(c->k, op_operand(access, 0));
    if (tensor->op && tensor->op->code == OP_TENSOR && ref_is_value(tensor->op->operands[0]))
        tensor = ir_value(c->k, tensor->op->operands[0]);
    return tensor->name;
}

static const char *field_name(Cut *c, Ref value, const Op *access, const Field *fields, int count) {
    const char *name = source_name(c, value, access);
    char base[24] = "v";
    size_t length = 0;
    for (const char *s = name ? name : ""; *s && length + 1 < sizeof base; s++)
        if (isalnum((unsigned char)*s) || *s == '_') base[length++] = *s;
    if (length) base[length] = 0;
    if (isdigit((unsigned char)base[0])) base[0] = 'v';
    char *made = arena_string(c->k->module->arena, base, strlen(base));
    for (int i = 0, n = 2; i < count; i++)
        if (strcmp(fields[i].name, made) == 0) {
            made = arena_printf(c->k->module->arena, "%s%d", base, n++);
            i = -1;
        }
    return made;
}

static void build_rings(Cut *c, Builder *b) {
    for (size_t i = 0; i < c->rings.count; i++) {
        CutRing *ring = c->rings.at[i];
        if (ring->alone) continue;
        if (ring->shares) {
            ring->ring = ring->shares->ring;
            continue;
        }
        Field *fields = ARENA_ARRAY(c->arena, Field, ring->ops.count);
        for (size_t f = 0; f < ring->ops.count; f++) {
            const Op *op = ring->ops.at[f];
            Ref value = ring->output ? op_operand(op, 1) : op->results[0];
            fields[f].name = field_name(c, value, op, fields, (int)f);
            fields[f].type = ir_type(c->k, value);
        }
        b->range = ring->ops.at[0]->range;
        Op *op = ir_begin(b, OP_RING);
        op_set(c->k, op, (Attr){.id = AT_PRODUCER, .word = ring->output ? ROLE_COMPUTE : ROLE_LOAD});
        op_set(c->k, op, (Attr){.id = AT_CONSUMER, .word = ring->output ? ROLE_STORE : ROLE_COMPUTE});
        ring->ring = ir_end(b, op, ty_ring(b->module, (int)ring->ops.count, fields));
        ir_name(c->k, ring->ring, ring->output ? "out" : "in");
    }
}

/* Items without a field: one that is empty says that load has come so far. */
static void build_meeting(Cut *c, Builder *b) {
    if (!c->met.count) return;
    b->range = c->met.at[0]->range;
    Op *op = ir_begin(b, OP_RING);
    op_set(c->k, op, (Attr){.id = AT_PRODUCER, .word = ROLE_LOAD});
    op_set(c->k, op, (Attr){.id = AT_CONSUMER, .word = ROLE_COMPUTE});
    op_set(c->k, op, (Attr){.id = AT_SLOTS, .number = 1});
    c->meeting = ir_end(b, op, ty_ring(b->module, 0, NULL));
    ir_name(c->k, c->meeting, "met");
}

/* --- hand-overs --- */

static Ref handover(Builder *b, Opcode code, Ref ring) { return ir_unary(b, code, ring); }

static void close_slot(Builder *b, Opcode code, Ref ring, Ref slot) {
    Op *op = ir_begin(b, code);
    ir_operand(b, op, ring);
    ir_operand(b, op, slot);
    ir_end(b, op, NULL);
}

static void put(Builder *b, Ref slot, int field, Ref value) {
    Op *op = ir_begin(b, OP_PUT);
    ir_operand(b, op, slot);
    ir_operand_list(b, op, 0, NULL, 0);
    ir_operand(b, op, value);
    op_set(b->kernel, op, (Attr){.id = AT_FIELD_NUMBER, .number = field});
    ir_end(b, op, NULL);
}

static Ref get(Builder *b, Ref slot, int field, bool copy) {
    Op *op = ir_begin(b, OP_GET);
    ir_operand(b, op, slot);
    op_set(b->kernel, op, (Attr){.id = AT_FIELD_NUMBER, .number = field});
    if (copy) op_set(b->kernel, op, (Attr){.id = AT_COPY, .number = 1});
    return ir_end(b, op, NULL);
}

/* --- cloning --- */

static void clone_region(Cutter *cut, Builder *b, const Region *from);

/* An op without regions, operands through the map. */
static Op *clone_op(Cutter *cut, Builder *b, const Op *op) {
    Cut *c = cut->c;
    Op *copy = ir_begin(b, op->code);
    copy->range = op->range;
    for (int i = 0; i < op->operand_count; i++) ir_operand(b, copy, mapped(cut, op->operands[i]));
    memcpy(copy->list_count, op->list_count, sizeof copy->list_count);
    for (int i = 0; i < op->attr_count; i++) {
        Attr attr = op->attrs[i];
        if (attr_info[attr.id].kind == ATTR_REF) attr.ref = mapped(cut, attr.ref);
        op_set(c->k, copy, attr);
    }
    return copy;
}

static void finish_clone(Cutter *cut, Builder *b, const Op *op, Op *copy) {
    Cut *c = cut->c;
    const Type **types = ARENA_ARRAY(c->arena, const Type *, op->result_count);
    for (int i = 0; i < op->result_count; i++) types[i] = ir_type(c->k, op->results[i]);
    ir_end_results(b, copy, op->result_count, types);
    for (int i = 0; i < op->result_count; i++) {
        cut->to[op->results[i]] = copy->results[i];
        ir_name(c->k, copy->results[i], ir_value(c->k, op->results[i])->name);
    }
}

/* A combiner's region, or a while: everything as it is. */
static void clone_whole(Cutter *cut, Builder *b, const Op *op) {
    Cut *c = cut->c;
    Op *copy = clone_op(cut, b, op);
    for (int i = 0; i < op->region_count; i++) {
        const Region *from = op->regions[i];
        Region *region = ir_region(b, copy);
        for (int a = 0; a < from->arg_count; a++) {
            const Value old = *ir_value(c->k, from->args[a]);
            cut->to[from->args[a]] = ir_argument(c->k, region, old.type, old.name);
        }
        Builder in = ir_builder_inside(b, region);
        clone_region(cut, &in, from);
        ir_insert_op(region, NULL, clone_op(cut, &in, from->last));
    }
    finish_clone(cut, b, op, copy);
}

static bool keeps(const Cutter *cut, Ref value) { return cut->role == ROLE_COMPUTE || cut->c->replicable[value]; }

static void clone_for(Cutter *cut, Builder *b, const Op *op) {
    Cut *c = cut->c;
    const Region *from = op->regions[0];
    Op *copy = ir_begin(b, OP_FOR);
    copy->range = op->range;
    for (int i = 0; i < op->operand_count; i++)
        if (i < 3 || keeps(cut, op->results[i - 3])) ir_operand(b, copy, mapped(cut, op->operands[i]));
    for (int i = 0; i < op->attr_count; i++)
        if (op->attrs[i].id == AT_UNROLL) op_set(c->k, copy, op->attrs[i]);
    Region *region = ir_region(b, copy);
    for (int i = 0; i < from->arg_count; i++) {
        if (i > 0 && !keeps(cut, op->results[i - 1])) continue;
        const Value old = *ir_value(c->k, from->args[i]);
        cut->to[from->args[i]] = ir_argument(c->k, region, old.type, old.name);
    }
    Builder in = ir_builder_inside(b, region);
    clone_region(cut, &in, from);
    Ref *values = ARENA_ARRAY(c->arena, Ref, op->result_count);
    int count = 0;
    for (int i = 0; i < op->result_count; i++)
        if (keeps(cut, op->results[i])) values[count++] = mapped(cut, from->last->operands[i]);
    ir_yield(&in, values, count);
    ir_end(b, copy, NULL);
    for (int i = 0, at = 0; i < op->result_count; i++) {
        if (!keeps(cut, op->results[i])) continue;
        cut->to[op->results[i]] = copy->results[at];
        ir_name(c->k, copy->results[at++], ir_value(c->k, op->results[i])->name);
    }
}

/* Can the role tell how often the loop runs? */
static bool follows(const Cutter *cut, const Op *loop) {
    Ref condition = loop->regions[0]->last->operands[0];
    return !ref_is_value(condition) || keeps(cut, condition);
}

static void clone_while(Cutter *cut, Builder *b, const Op *op) {
    Cut *c = cut->c;
    Op *copy = ir_begin(b, OP_WHILE);
    copy->range = op->range;
    for (int i = 0; i < op->operand_count; i++)
        if (keeps(cut, op->results[i])) ir_operand(b, copy, mapped(cut, op->operands[i]));
    Ref *values = ARENA_ARRAY(c->arena, Ref, op->result_count + 1);
    for (int r = 0; r < 2; r++) {
        const Region *from = op->regions[r];
        Region *region = ir_region(b, copy);
        for (int i = 0; i < from->arg_count; i++) {
            if (!keeps(cut, op->results[i])) continue;
            const Value old = *ir_value(c->k, from->args[i]);
            cut->to[from->args[i]] = ir_argument(c->k, region, old.type, old.name);
        }
        Builder in = ir_builder_inside(b, region);
        clone_region(cut, &in, from);
        int count = 0, ahead = r == 0; /* a test has its condition in front */
        if (ahead) values[count++] = mapped(cut, from->last->operands[0]);
        for (int i = 0; i < op->result_count; i++)
            if (keeps(cut, op->results[i])) values[count++] = mapped(cut, from->last->operands[ahead + i]);
        Op *last = ir_begin(&in, ahead ? OP_TEST : OP_YIELD);
        for (int i = 0; i < count; i++) ir_operand(&in, last, values[i]);
        ir_end(&in, last, NULL);
    }
    ir_end(b, copy, NULL);
    for (int i = 0, at = 0; i < op->result_count; i++) {
        if (!keeps(cut, op->results[i])) continue;
        cut->to[op->results[i]] = copy->results[at];
        ir_name(c->k, copy->results[at++], ir_value(c->k, op->results[i])->name);
    }
}

static void clone_if(Cutter *cut, Builder *b, const Op *op) {
    Cut *c = cut->c;
    const Type **types = ARENA_ARRAY(c->arena, const Type *, op->result_count);
    Ref *values = ARENA_ARRAY(c->arena, Ref, op->result_count);
    Op *copy = ir_begin(b, OP_IF);
    copy->range = op->range;
    ir_operand(b, copy, mapped(cut, op->operands[0]));
    int count = 0;
    for (int r = 0; r < 2; r++) {
        Builder in = ir_builder_inside(b, ir_region(b, copy));
        clone_region(cut, &in, op->regions[r]);
        count = 0;
        for (int i = 0; i < op->result_count; i++) {
            if (!keeps(cut, op->results[i])) continue;
            types[count] = ir_type(c->k, op->results[i]);
            values[count++] = mapped(cut, op->regions[r]->last->operands[i]);
        }
        ir_yield(&in, values, count);
    }
    ir_end_results(b, copy, count, types);
    for (int i = 0, at = 0; i < op->result_count; i++)
        if (keeps(cut, op->results[i])) cut->to[op->results[i]] = copy->results[at++];
}

/* --- one op, in one role --- */

/* Does no other load of the ring stand behind it? Rows joined a ring behind its tiles, wherever they stand. */
static bool is_last(const CutRing *ring, const Op *op) {
    for (const Op *at = op->next; at; at = at->next)
        for (size_t i = 0; i < ring->ops.count; i++)
            if (ring->ops.at[i] == at) return false;
    return true;
}

static void clone_load(Cutter *cut, Builder *b, const Op *op, CutRing *ring) {
    if (cut->role != ROLE_LOAD || !is_last(ring, op)) return;
    Cut *c = cut->c;
    Ref slot = handover(b, OP_ACQUIRE, ring->ring);
    ir_name(c->k, slot, "s");
    for (size_t i = 0; i < ring->ops.count; i++) {
        const Op *load = ring->ops.at[i];
        b->range = load->range;
        finish_clone(cut, b, load, clone_op(cut, b, load));
        put(b, slot, (int)i, cut->to[load->results[0]]);
    }
    close_slot(b, OP_COMMIT, ring->ring, slot);
}

static void clone_store(Cutter *cut, Builder *b, const Op *op, CutRing *ring) {
    Cut *c = cut->c;
    Ref value = op_operand(op, 1);
    if (ring->alone) {
        if (cut->role == ROLE_STORE) finish_clone(cut, b, op, clone_op(cut, b, op));
        return;
    }
    if (cut->role == ROLE_COMPUTE) {
        Ref slot = handover(b, OP_ACQUIRE, ring->ring);
        ir_name(c->k, slot, "o");
        put(b, slot, 0, mapped(cut, value));
        close_slot(b, OP_COMMIT, ring->ring, slot);
    } else if (cut->role == ROLE_STORE) {
        Ref slot = handover(b, OP_WAIT, ring->ring);
        ir_name(c->k, slot, "o");
        Ref taken = get(b, slot, 0, false);
        if (ref_is_value(value)) ir_name(c->k, taken, ir_value(c->k, value)->name);
        Op *copy = clone_op(cut, b, op);
        for (int i = 0; i < copy->operand_count; i++)
            if (op->operands[i] == value) copy->operands[i] = taken;
        finish_clone(cut, b, op, copy);
        close_slot(b, OP_RELEASE, ring->ring, slot);
    }
}

/* A write that may concern what load reads: load comes to its place and waits there until it has happened.
 *
 *     load     acquire ; commit ; acquire ; commit                          the second when the first is given back
 *     compute  wait ; the write ; release ; wait ; release */
static void clone_met(Cutter *cut, Builder *b, const Op *op) {
    Ref ring = cut->c->meeting;
    bool loads = cut->role == ROLE_LOAD;
    for (int turn = 0; turn < 2 && cut->role != ROLE_STORE; turn++) {
        Ref slot = handover(b, loads ? OP_ACQUIRE : OP_WAIT, ring);
        if (!loads && turn == 0) finish_clone(cut, b, op, clone_op(cut, b, op));
        close_slot(b, loads ? OP_COMMIT : OP_RELEASE, ring, slot);
    }
}

static bool is_common(const Cut *c, const Op *op);

static void clone_one(Cutter *cut, Builder *b, const Op *op) {
    Cut *c = cut->c;
    CutRing *ring = cut_ring_of(c, op);
    b->range = op->range;
    if (ring) {
        if (ring->output)
            clone_store(cut, b, op, ring);
        else
            clone_load(cut, b, op, ring);
        return;
    }
    if (!op->parent->owner && is_common(c, op)) return;
    switch (op->code) {
    case OP_FOR: clone_for(cut, b, op); return;
    case OP_IF: clone_if(cut, b, op); return;
    case OP_WHILE:
        if (follows(cut, op)) clone_while(cut, b, op);
        return;
    default: break;
    }
    if (cut_is_met(c, op)) {
        clone_met(cut, b, op);
        return;
    }
    if (cut->role != ROLE_COMPUTE) {
        bool own = op->result_count > 0;
        for (int i = 0; i < op->result_count; i++) own = own && c->replicable[op->results[i]];
        if (!own) return;
    }
    if (op->region_count)
        clone_whole(cut, b, op);
    else
        finish_clone(cut, b, op, clone_op(cut, b, op));
}

/* compute: items that are first used by, or no longer used behind, this op. */
static void take_items(Cutter *cut, Builder *b, const Op *op, Ref *slots) {
    Cut *c = cut->c;
    for (size_t i = 0; i < c->rings.count; i++) {
        CutRing *ring = c->rings.at[i];
        if (ring->output || ring->first_use != op) continue;
        b->range = ring->ops.at[0]->range;
        slots[i] = handover(b, OP_WAIT, ring->ring);
        ir_name(c->k, slots[i], "s");
        for (size_t f = 0; f < ring->ops.count; f++) {
            Ref old = ring->ops.at[f]->results[0];
            b->range = ring->ops.at[f]->range;
            cut->to[old] = get(b, slots[i], (int)f, ring->copies);
            ir_name(c->k, cut->to[old], ir_value(c->k, old)->name);
        }
    }
}

static void give_items(Cutter *cut, Builder *b, const Op *op, const Ref *slots) {
    Cut *c = cut->c;
    for (size_t i = 0; i < c->rings.count; i++) {
        CutRing *ring = c->rings.at[i];
        if (ring->output || (ring->last_use ? ring->last_use : ring->first_use) != op) continue;
        b->range = ring->ops.at[0]->range;
        close_slot(b, OP_RELEASE, ring->ring, slots[i]);
    }
}

static void clone_region(Cutter *cut, Builder *b, const Region *from) {
    bool compute = cut->role == ROLE_COMPUTE;
    Ref *slots = ARENA_ARRAY(cut->c->arena, Ref, cut->c->rings.count);
    for (const Op *op = from->first; op; op = op->next) {
        if (compute) take_items(cut, b, op, slots);
        if (op_has(op->code, TRAIT_TERMINATOR)) {
            if (compute) give_items(cut, b, op, slots);
            break;
        }
        clone_one(cut, b, op);
        if (compute) give_items(cut, b, op, slots);
    }
}

/* --- prologue, header, tasks --- */

/* Scalars, pointers and tensors that every role may use, made from nothing but such. What they are
 * made from stands before them, and c->shared holds those found so far. */
static bool is_common(const Cut *c, const Op *op) {
    for (int i = 0; i < op->operand_count; i++) {
        Ref r = op->operands[i];
        if (ref_is_value(r) && ir_value(c->k, r)->op && !c->shared[r]) return false;
    }
    if (op->code == OP_REQUIRE || op->code == OP_ASSUME) return true;
    if (op->region_count || !op->result_count || cut_ring_of(c, op)) return false;
    for (int i = 0; i < op->result_count; i++) {
        const Type *type = ir_type(c->k, op->results[i]);
        bool scalar = type->kind == TY_TENSOR || ty_is_scalar(type);
        if (!scalar || !c->replicable[op->results[i]]) return false;
    }
    return true;
}

/* Does a program id reach it (not by way of the two places of a known grid order)? */
static bool depends_on_task(Cut *c, Ref r) {
    const Op *op = ref_is_value(r) ? ir_value(c->k, r)->op : NULL;
    if (!op) return false;
    if (op->code == OP_PROGRAM_ID || (c->grid.order != ORDER_CODE && (r == c->grid.m || r == c->grid.n))) return true;
    const MapEntry *known = map_find_number(&c->on_task, r);
    if (known) return known->value != NULL;
    bool depends = op_has(op->code, TRAIT_READS); /* memory is read once a task */
    for (int i = 0; i < op->operand_count && !depends; i++) depends = depends_on_task(c, op->operands[i]);
    map_put_number(&c->on_task, c->arena, r, depends ? c : NULL);
    return depends;
}

static bool op_depends_on_task(Cut *c, const Op *op) {
    if (op->result_count) return depends_on_task(c, op->results[0]);
    for (int i = 0; i < op->operand_count; i++)
        if (depends_on_task(c, op->operands[i])) return true;
    return false;
}

static Ref program_count(Cut *c, Builder *b, int dim) {
    Op *op = ir_begin(b, OP_NUM_PROGRAMS);
    op_set(c->k, op, (Attr){.id = AT_DIM, .number = dim});
    Ref count = ir_end(b, op, NULL);
    ir_name(c->k, count, dim == 0 ? "np" : dim == 1 ? "np1" : "np2");
    return count;
}

/* What the tasks run over: the used dimensions of the grid, the slowest first, or the places of a known order. */
typedef struct TaskIndex {
    int count;
    int dim[3]; /* of the grid; unused for places */
    Ref extent[3];
    const char *name[3];
} TaskIndex;

static TaskIndex index_tasks(Cut *c, Builder *b, Op *const *flat, size_t flat_count) {
    TaskIndex index = {0};
    if (c->grid.order != ORDER_CODE) {
        index.count = 2;
        index.extent[0] = c->grid.rows ? c->grid.rows : ir_binary(b, OP_DIV, program_count(c, b, 0), c->grid.columns);
        index.extent[1] = c->grid.columns;
        return index;
    }
    bool used[3] = {true, c->counts_programs, c->counts_programs};
    const char *names[3] = {"pid", "pid1", "pid2"};
    for (size_t i = 0; i < flat_count; i++)
        if (flat[i]->code == OP_PROGRAM_ID) {
            int dim = (int)op_int(flat[i], AT_DIM, 0);
            const char *name = ir_value(c->k, flat[i]->results[0])->name;
            used[dim] = true;
            if (name) names[dim] = name;
        }
    for (int dim = 2; dim >= 0; dim--) {
        if (!used[dim]) continue;
        index.dim[index.count] = dim;
        index.name[index.count] = names[dim];
        index.extent[index.count++] = program_count(c, b, dim);
    }
    return index;
}

static Op *build_tasks(Cut *c, Builder *b, const TaskIndex *index, Op *const *flat, size_t flat_count, Ref *common) {
    Op *tasks = ir_begin(b, OP_TASKS);
    Region *body = ir_region(b, tasks);
    bool known = c->grid.order != ORDER_CODE;
    Ref places[2] = {c->grid.m, c->grid.n};
    for (int i = 0; i < index->count; i++) {
        ir_operand(b, tasks, index->extent[i]);
        const char *name = known ? ir_value(c->k, places[i])->name : index->name[i];
        Ref arg = ir_argument(c->k, body, ir_type(c->k, index->extent[i]), name);
        if (known) common[places[i]] = arg;
        for (size_t j = 0; !known && j < flat_count; j++)
            if (flat[j]->code == OP_PROGRAM_ID && op_int(flat[j], AT_DIM, 0) == index->dim[i])
                common[flat[j]->results[0]] = arg;
    }
    if (known) op_set(c->k, tasks, (Attr){.id = AT_ORDER, .word = c->grid.order});
    if (c->grid.order == ORDER_GROUPED) op_set(c->k, tasks, (Attr){.id = AT_GROUP, .number = c->grid.group});
    ir_end(b, tasks, NULL);
    return tasks;
}

void cut_require_apart(Cut *c, Builder *b) {
    for (size_t i = 0; i < c->apart.count; i++) {
        Op *op = ir_begin(b, OP_REQUIRE);
        ir_operand(b, op, c->apart.at[i].a);
        ir_operand(b, op, c->apart.at[i].b);
        op_set(c->k, op, (Attr){.id = AT_DISJOINT, .number = 1});
        ir_end(b, op, NULL);
    }
}

static bool role_is_needed(const Cut *c, Word role) {
    if (role == ROLE_COMPUTE) return true;
    for (size_t i = 0; i < c->rings.count; i++)
        if (c->rings.at[i]->output == (role == ROLE_STORE)) return true;
    return false;
}

/* Program ids must stand in the kernel's own region, where the tasks find them: ids inside of loops are moved out. */
static void gather_ids(Op *op, void *user) {
    Cut *c = user;
    if (op->code == OP_PROGRAM_ID && op->parent->owner) ir_move(op, c->k->body, c->k->body->first);
}

Op *cut_roles(Cut *c) {
    Kernel *k = c->k;
    ir_walk(k->body, gather_ids, c);
    /* The flat kernel moves into a region of its own, which is cloned from and then forgotten. */
    Region *old = ARENA_NEW(c->arena, Region);
    VEC(Op *) flat = {0};
    while (k->body->first->code != OP_RETURN) {
        *VEC_PUSH(&flat, c->arena) = k->body->first;
        ir_move(k->body->first, old, NULL);
    }
    Builder b = ir_builder_before(k, k->body->last);
    Ref *common = ARENA_ARRAY(c->arena, Ref, c->value_count);
    Cutter cut = {.c = c, .to = common};
    c->shared = ARENA_ARRAY(c->arena, bool, c->value_count);
    for (size_t i = 0; i < flat.count; i++) {
        const Op *op = flat.at[i];
        if (!is_common(c, op)) continue;
        for (int r = 0; r < op->result_count; r++) c->shared[op->results[r]] = true;
        if (!op_depends_on_task(c, op)) finish_clone(&cut, &b, op, clone_op(&cut, &b, op));
    }
    cut_require_apart(c, &b);
    if (c->grid.order != ORDER_CODE) {
        if (c->grid.rows) c->grid.rows = mapped(&cut, c->grid.rows);
        c->grid.columns = mapped(&cut, c->grid.columns);
        grid_order_require(&b, &c->grid);
    }
    TaskIndex index = index_tasks(c, &b, flat.at, flat.count);
    build_rings(c, &b);
    build_meeting(c, &b);
    Op *tasks = build_tasks(c, &b, &index, flat.at, flat.count, common);
    Builder in = ir_builder_inside(&b, tasks->regions[0]);
    for (size_t i = 0; i < flat.count; i++) {
        const Op *op = flat.at[i];
        bool given = op->result_count && common[op->results[0]];
        if (is_common(c, op) && !given && op_depends_on_task(c, op))
            finish_clone(&cut, &in, op, clone_op(&cut, &in, op));
    }
    for (size_t r = 0; r < sizeof cut_into / sizeof *cut_into; r++) {
        Word role = cut_into[r];
        if (!role_is_needed(c, role)) continue;
        in.range = k->range;
        Op *op = ir_begin(&in, OP_ROLE);
        op_set(k, op, (Attr){.id = AT_ROLE, .word = role});
        Builder inside = ir_builder_inside(&in, ir_region(&in, op));
        Cutter own = {.c = c, .role = role};
        own.to = arena_copy(c->arena, common, c->value_count * sizeof *common);
        clone_region(&own, &inside, old);
        inside.range = k->range;
        ir_yield(&inside, NULL, 0);
        ir_end(&in, op, NULL);
    }
    in.range = k->range;
    ir_yield(&in, NULL, 0);
    for (size_t i = flat.count; i-- > 0;) ir_remove(flat.at[i]);
    fold_tidy(k, c->arena);
    return tasks;
}
