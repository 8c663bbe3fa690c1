/* SPDX-License-Identifier: Apache-2.0 */
/* ring_group.c: neighbouring tasks run as a cluster, and load what they share once.
 *
 *     tasks %m, %n in %nm, %nn <order=grouped, group=8, persist, cluster=2, along=0> {
 *       role load { .. put %s.a, %a ; put<share=0> %s.b, %b .. }       b does not depend on %m
 *
 * Each block of the cluster loads its part of a shared field and sends it to all; a slot is empty
 * when the consumers of all blocks have released it, full when the parts of all have landed. Where
 * the number of tasks along the index is odd, the last pair does the last task twice.
 *
 * Why that is right, given that the rings of one block are (ring_check.c). If all blocks run the
 * same loops with the same trip counts, then the schedule in which they go in step is a complete
 * schedule of the cluster: at each of its steps the shared counters are those of one block. And one
 * complete schedule proves that every schedule completes, since hand-overs only ever raise
 * counters. So what has to be shown is that the blocks of a cluster hand over equally many items
 * (no trip count and no condition around a hand-over depends on the index), that shared fields hold
 * the same bytes in all of them (no address depends on it), and that a task may be done twice (it
 * only stores, and loads nothing from where it stores). */
#include "pass/ring/ring_group.h"
#include "ir/ringform.h"
#include "ir/roots.h"

#include <limits.h>

enum { CLUSTER = 2 };

/* Where pairs pay is timed (Machine.cost): the L2 sends a third to a half less, but a slot
 * comes back later, when both blocks have given it back, and what a multiprocessor takes in stays the
 * same. Narrow products are slow enough for deep rings to hide that, and ask for most; launches of
 * few tasks find all they load in the L2 anyway. */
typedef struct Group {
    const Kernel *k;
    Ref index;            /* that of the tasks along which the cluster runs */
    signed char *follows; /* by Ref: 0 not asked, 1 it does, -1 it does not (or is being asked) */
    int slots;            /* the fewest of a ring with a shared field */
    Arena *arena;
    const bool *written; /* by parameter; NULL: any memory may be */
} Group;

static bool follows(Group *g, Ref r);

static bool region_follows(Group *g, const Region *region) {
    const Op *end = region->last;
    for (int i = 0; end && i < end->operand_count; i++)
        if (follows(g, end->operands[i])) return true;
    return false;
}

/* Does the value differ between the blocks of a cluster? */
static bool follows(Group *g, Ref r) {
    if (!ref_is_value(r) || g->follows[r]) return ref_is_value(r) && g->follows[r] > 0;
    const Value *value = ir_value(g->k, r);
    const Op *op = value->op ? value->op : value->region->owner;
    g->follows[r] = -1;
    bool does = r == g->index;
    if (!does && op && op->code != OP_TASKS) {
        does = op->code == OP_PROGRAM_ID || op->code == OP_GET;
        for (int i = 0; i < op->operand_count && !does; i++) does = follows(g, op->operands[i]);
        for (int i = 0; i < op->region_count && !does; i++) does = region_follows(g, op->regions[i]);
    }
    if (does) g->follows[r] = 1;
    return does;
}

static Group group_along(PassContext *cx, const Kernel *k, const Op *tasks, int index) {
    const Region *body = tasks_body(tasks);
    bool *written = ARENA_ARRAY(cx->scratch, bool, (size_t)k->body->arg_count + 1);
    bool known =
        roots_written(k, cx->scratch, written) && !cx->options.overlap && cx->options.generic != REQUIRE_NOTHING;
    return (Group){.k = k,
                   .index = body->args[index],
                   .follows = ARENA_ARRAY(cx->scratch, signed char, k->values.count),
                   .slots = INT_MAX,
                   .arena = cx->scratch,
                   .written = known ? written : NULL};
}

/* Does no task write where the op loads? */
static bool reads_only(const Group *g, const Op *load) {
    int count = g->k->body->arg_count;
    bool *from = ARENA_ARRAY(g->arena, bool, (size_t)count + 1);
    if (!g->written || !roots_of(g->k, g->arena, load->operands[0], from)) return false;
    for (int i = 0; i < count; i++)
        if (from[i] && g->written[i]) return false;
    return true;
}

/* May it be done twice, at the same time, in two blocks? Loads may stand in the load role only:
 * elsewhere they may read what the other block has stored. */
static bool is_repeatable(const Group *g, const Op *op, bool loads) {
    switch (op->code) {
    case OP_FOR:
    case OP_WHILE:
    case OP_IF:
    case OP_YIELD:
    case OP_TEST:
    case OP_ACQUIRE:
    case OP_PUT:
    case OP_COMMIT:
    case OP_WAIT:
    case OP_GET:
    case OP_RELEASE:
    case OP_ASSUME:
    case OP_REQUIRE:
    case OP_STORE:
    case OP_TSTORE: return true;
    case OP_LOAD:
    case OP_TLOAD: return loads && reads_only(g, op);
    default: return op_has(op->code, TRAIT_PURE);
    }
}

/* What keeps the blocks of a cluster from running in step, and where; NULL: nothing. */
static const char *find_fault(Group *g, const Region *region, bool loads, const Op **where) {
    for (const Op *op = region->first; op; op = op->next) {
        bool inside = op->region_count && hands_over_items(op);
        *where = op;
        if (inside && op->code == OP_WHILE) return "it hands items over in a `while`";
        if (inside)
            for (int i = 0; i < (op->code == OP_FOR ? 3 : op->operand_count); i++)
                if (follows(g, op->operands[i]))
                    return op->code == OP_FOR ? "the trip count of a loop that hands items over "
                                                "depends on it"
                                              : "whether items are handed over depends on it";
        if (!is_repeatable(g, op, loads))
            return loads && op_has(op->code, TRAIT_READS) ? "a task loads from where it stores"
                                                          : "a task does more than to store what it computed";
        for (int i = 0; i < op->region_count; i++) {
            const char *fault = find_fault(g, op->regions[i], loads, where);
            if (fault) return fault;
        }
    }
    return NULL;
}

static const char *find_task_fault(Group *g, const Op *tasks, const Op **where) {
    *where = tasks;
    if (op_word(tasks, AT_ORDER, ORDER_CODE) == ORDER_LONGEST) return "long and short tasks are paired already";
    for (const Op *role = role_first(tasks); role; role = role_next(role)) {
        const char *fault = find_fault(g, role->regions[0], role_name(role) == ROLE_LOAD, where);
        if (fault) return fault;
    }
    return NULL;
}

/* The load of a put, if blocks of the cluster can share it. */
static const Op *shared_load(Group *g, const Op *put) {
    Ref value = put_value(put);
    const Op *load = ref_is_value(value) ? ir_value(g->k, value)->op : NULL;
    if (!load || load->code != OP_TLOAD) return NULL;
    for (int i = 0; i < load->operand_count; i++)
        if (follows(g, load->operands[i])) return NULL;
    return load;
}

/* The bytes of an item that need to be loaded once only; with `mark` these puts say so. */
static int64_t shared_bytes(Group *g, Kernel *k, Region *region, bool in_loop, int mark) {
    int64_t bytes = 0;
    for (Op *op = region->first; op; op = op->next) {
        const Op *load = in_loop && op->code == OP_PUT ? shared_load(g, op) : NULL;
        if (load) {
            const Type *type = ir_type(g->k, load->results[0]);
            int slots = (int)op_int(hand_ring_op(k, op), AT_SLOTS, 1);
            if (slots < g->slots) g->slots = slots;
            bytes += ty_elements(type) * ty_elem_bytes(type);
            if (mark >= 0) op_set(k, op, (Attr){.id = AT_SHARE, .number = mark});
        }
        for (int i = 0; i < op->region_count; i++)
            bytes += shared_bytes(g, k, op->regions[i], in_loop || op->code == OP_FOR, mark);
    }
    return bytes;
}

/* The index along which most is shared, or -1 and why there is none. */
static int choose_index(PassContext *cx, Kernel *k, const Op *tasks, const Op *load, const char **why) {
    int best = -1;
    int64_t most = 0;
    *why = "no field of its loops has an address without one of the indices";
    for (int i = 0; i < tasks->operand_count; i++) {
        const Op *where;
        Group g = group_along(cx, k, tasks, i);
        int64_t bytes = shared_bytes(&g, k, load->regions[0], false, -1);
        if (bytes <= most) continue;
        const char *fault = find_task_fault(&g, tasks, &where);
        if (fault) {
            *why = fault;
            continue;
        }
        most = bytes;
        best = i;
    }
    return best;
}

typedef struct Columns {
    const Kernel *k;
    int64_t widest;
} Columns;

static void look_at_columns(Op *op, void *user) {
    Columns *c = user;
    if (op->code == OP_DOT && ir_type(c->k, op->results[0])->extent[1] > c->widest)
        c->widest = ir_type(c->k, op->results[0])->extent[1];
}

/* Why pairs would lose; NULL: they pay where a launch is large. */
static const char *find_loss(PassContext *cx, Kernel *k, const Op *tasks, const Group *g) {
    Columns columns = {.k = k};
    ir_walk(tasks_body(tasks), look_at_columns, &columns);
    if (columns.widest > cx->machine->cost.pair_columns)
        return arena_printf(cx->scratch,
                            "with products of %lld columns a slot that two blocks give back comes "
                            "too late",
                            (long long)columns.widest);
    return g->slots < cx->machine->cost.pair_slots ? arena_printf(cx->scratch,
                                                                  "with %d slots a slot that two blocks "
                                                                  "give back comes too late",
                                                                  g->slots)
                                                   : NULL;
}

static void use_pairs(PassContext *cx, Kernel *k, Op *tasks, Group *g, int index, bool asked) {
    const Op *load = role_find(tasks, ROLE_LOAD);
    int64_t bytes = shared_bytes(g, k, load->regions[0], false, index);
    op_set(k, tasks, (Attr){.id = AT_CLUSTER, .number = CLUSTER});
    op_set(k, tasks, (Attr){.id = AT_CLUSTER_INDEX, .number = index});
    if (!asked) {
        op_set(k, tasks, (Attr){.id = AT_WAVES, .number = cx->machine->cost.pair_tasks});
        op_set(k, tasks, (Attr){.id = AT_MANY, .number = cx->machine->cost.pair_along});
    }
    const char *name = ir_value(k, g->index)->name;
    pass_find(cx, k->range, FIND_CLUSTER, name ? name : "the tasks", (long long)bytes,
              asked ? "asked for"
                    : arena_printf(cx->scratch,
                                   "in launches of %d and more tasks for each multiprocessor, an "
                                   "even number or %d and more of them along it",
                                   cx->machine->cost.pair_tasks, cx->machine->cost.pair_along));
}

void ring_group_plan(PassContext *cx, Kernel *k, Op *tasks) {
    if (cx->machine->cluster_blocks < CLUSTER) return;
    const Op *load = role_find(tasks, ROLE_LOAD);
    bool asked = cx->options.cluster == CLUSTER;
    const char *why = "its rings are not filled by TMA from a role of their own, block after block";
    int index = -1;
    if (cx->options.cluster == 1)
        why = "asked for";
    else if (load && !role_is_guest(load) && op_flag(tasks, AT_PERSIST))
        index = choose_index(cx, k, tasks, load, &why);
    if (index < 0) {
        pass_find(cx, k->range, FIND_CLUSTER_NONE, why);
        return;
    }
    Group g = group_along(cx, k, tasks, index);
    int64_t bytes = shared_bytes(&g, k, load->regions[0], false, -1);
    const char *loss = asked ? NULL : find_loss(cx, k, tasks, &g);
    if (loss)
        pass_find(cx, k->range, FIND_CLUSTER_NO_GAIN, loss, (long long)bytes);
    else
        use_pairs(cx, k, tasks, &g, index, asked);
}

static bool check_puts(PassContext *cx, Group *g, const Region *region, int64_t index) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_PUT && op_attr(op, AT_SHARE) && (op_int(op, AT_SHARE, -1) != index || !shared_load(g, op))) {
            diag_emit(cx->module->diag, DIAG_RING_SHARE, op->range, hand_field_name(g->k, op));
            return false;
        }
        for (int i = 0; i < op->region_count; i++)
            if (!check_puts(cx, g, op->regions[i], index)) return false;
    }
    return true;
}

bool ring_group_check(PassContext *cx, Kernel *k, const Op *tasks) {
    int64_t index = op_int(tasks, AT_CLUSTER_INDEX, -1), blocks = op_int(tasks, AT_CLUSTER, 0);
    if (blocks != CLUSTER || index < 0 || index >= tasks->operand_count) {
        diag_emit(cx->module->diag, DIAG_RING_CLUSTER, tasks->range, (long long)blocks, (long long)index);
        return false;
    }
    Group g = group_along(cx, k, tasks, (int)index);
    const Op *where;
    const char *fault = find_task_fault(&g, tasks, &where);
    if (fault) diag_emit(cx->module->diag, DIAG_RING_STEP, where->range, fault);
    return !fault && check_puts(cx, &g, tasks_body(tasks), index);
}
