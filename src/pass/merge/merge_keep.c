/* SPDX-License-Identifier: Apache-2.0 */
/* merge_keep.c: a template kept as it is written: its roles are workers side by side, its rings tiles and barriers.
 *
 *     %r = ring<slots=2> : {a: f16[64,64]}              %a = buf : buf<f16[2,64,64], shared>
 *     tasks while {..} do {                             %full = bar<bars=2> ; %empty = bar<count=3, bars=2>
 *       role load { for { acquire; put; commit } }  ->  spmd %w in 4 <unit=warpgroup> {
 *       role compute { spmd %w in 3 {                     while { for { bar_wait %full; bload; bar_arrive %empty } } }
 *         for { wait; get; release } } } }                .. { while { for { bar_wait %empty; bstore; .. } } }
 *
 * Nothing is merged and nothing is put into another order: stages, roles, workers and arrivals are the user's. An item
 * is the n-th of its ring in all tasks: it lies in slot n mod slots, in phase n div slots. Each worker counts for
 * itself, and carries its counts through loops and branches. roles_check.c proves what comes out. */
#include "ir/ringform.h"
#include "pass/merge/merge.h"

enum { MOST_RINGS = 8, MOST_COUNTS = 2 * MOST_RINGS, MOST_CONSUMERS = 6, GROUP = 128, LAST_NAME = 15 };

typedef struct Kept { /* a ring */
    Ref ring, full, empty, fields[MAX_RING_FIELDS];
    int64_t slots;
} Kept;

typedef struct Keep {
    Merge *m;
    Kernel *k;
    Kept rings[MOST_RINGS];
    int ring_count;
    int64_t meeting; /* the barrier of all consumers; 0: none meet */
    RefMap map;      /* of the worker that is written; a slot: its number */
    Map gets;        /* get -> the Kept of its ring */
    Ref counts[MOST_COUNTS];
} Keep;

static Kept *kept_of(Keep *q, const Op *hand) {
    Ref ring = hand_ring(q->k, hand);
    for (int i = 0; i < q->ring_count; i++)
        if (q->rings[i].ring == ring) return &q->rings[i];
    return NULL;
}

/* ---- rings ---- */

static Ref make_bar(Keep *q, Builder *b, int64_t arrivals, int64_t bars) {
    Op *op = ir_begin(b, OP_BAR);
    op_set(q->k, op, (Attr){.id = AT_ARRIVALS, .number = arrivals});
    op_set(q->k, op, (Attr){.id = AT_BARS, .number = bars});
    return ir_end(b, op, NULL);
}

static bool make_rings(Keep *q) {
    for (Op *op = q->k->body->first; op; op = op->next) {
        if (op->code != OP_RING) continue;
        if (q->ring_count == MOST_RINGS)
            return merge_fail(q->m, op, "it has more than 8 rings"
                              FIX "put blocks that are filled together into one ring");
        Kept *kept = &q->rings[q->ring_count++];
        const Type *type = ir_type(q->k, op->results[0]);
        Builder b = ir_builder_before(q->k, op);
        *kept = (Kept){.ring = op->results[0], .slots = op_int(op, AT_SLOTS, 1)};
        kept->full = make_bar(q, &b, ring_producer(op) == ROLE_COMPUTE ? q->m->workers : 1, kept->slots);
        kept->empty = make_bar(q, &b, ring_consumer(op) == ROLE_COMPUTE ? q->m->workers : 1, kept->slots);
        for (int f = 0; f < type->field_count; f++) {
            const Type *field = type->fields[f].type;
            int64_t extent[MAX_RANK] = {kept->slots};
            if (field->rank == MAX_RANK)
                return merge_fail(q->m, op, "a field has too many dimensions" FIX "give it one less");
            for (int d = 0; d < field->rank; d++) extent[1 + d] = field->extent[d];
            const Type *all = ty_buffer(q->k->module, field->elem, field->rank + 1, extent, SCOPE_SHARED);
            kept->fields[f] = ir_buffer(&b, all, type->fields[f].name);
        }
    }
    return true;
}

/* ---- hand-overs ---- */

static int count_of(const Keep *q, const Kept *kept, bool takes) { return 2 * (int)(kept - q->rings) + takes; }

static void arrive(Builder *b, Ref bar, Ref slot) {
    Op *op = ir_begin(b, OP_BAR_ARRIVE);
    ir_operand(b, op, bar);
    ir_operand(b, op, slot);
    ir_end(b, op, NULL);
}

/* The next item: its slot, empty or full. */
static void begin_item(Keep *q, Builder *b, const Op *op, bool takes) {
    Kept *kept = kept_of(q, op);
    Ref *count = &q->counts[count_of(q, kept, takes)], slots = ir_int(b, EL_I32, kept->slots);
    Ref slot = ir_binary(b, OP_REM, *count, slots), round = ir_binary(b, OP_DIV, *count, slots);
    if (!takes) round = ir_binary(b, OP_ADD, round, ir_int(b, EL_I32, 1));
    Op *wait = ir_begin(b, OP_BAR_WAIT);
    ir_operand(b, wait, takes ? kept->full : kept->empty);
    ir_operand(b, wait, ir_binary(b, OP_REM, round, ir_int(b, EL_I32, 2)));
    ir_operand(b, wait, slot);
    ir_end(b, wait, NULL);
    *count = ir_binary(b, OP_ADD, *count, ir_int(b, EL_I32, 1));
    refmap_set(&q->map, op->results[0], slot);
}

static const Type *in_slot(Keep *q, const Type *type) {
    int64_t extent[MAX_RANK] = {1};
    for (int d = 0; d < type->rank; d++) extent[1 + d] = type->extent[d];
    return ty_with_shape(q->k->module, type, type->rank + 1, extent);
}

static void put_field(Keep *q, Builder *b, const Op *op) {
    Ref buffer = kept_of(q, op)->fields[hand_field(op)], at[MAX_RANK], value = refmap_get(&q->map, put_value(op));
    const Type *whole = ir_type(q->k, buffer), *part = ir_type(q->k, value);
    RefList list = op_list(op, 0);
    int64_t extent[MAX_RANK];
    at[0] = refmap_get(&q->map, op->operands[0]);
    for (int d = 0; d < whole->rank; d++) {
        int inner = d - (whole->rank - part->rank);
        if (d) at[d] = list.count ? refmap_get(&q->map, list.at[d - 1]) : ir_int(b, EL_I32, 0);
        extent[d] = inner >= 0 ? part->extent[inner] : 1;
    }
    ir_bstore(b, buffer, at, ir_reshape(b, value, ty_with_shape(q->k->module, part, whole->rank, extent)));
}

/* A field, or the part of it at these places. */
static void read_field(Keep *q, Builder *b, const Op *get, const Op *part) {
    Ref buffer = kept_of(q, get)->fields[hand_field(get)], at[MAX_RANK];
    const Type *type = ir_type(q->k, part->results[0]);
    at[0] = refmap_get(&q->map, get->operands[0]);
    for (int d = 0; d < type->rank; d++)
        at[1 + d] = part == get ? ir_int(b, EL_I32, 0) : refmap_get(&q->map, op_list(part, 0).at[d]);
    refmap_set(&q->map, part->results[0], ir_reshape(b, ir_bload(b, buffer, at, in_slot(q, type)), type));
}

/* ---- control: what counts items carries its counts ---- */

/* The counts that the op moves, as bits. */
static unsigned moves(Keep *q, const Op *op) {
    HandOver hand = hand_over(op);
    unsigned found = 0;
    if (hand == HAND_ACQUIRE || hand == HAND_WAIT) found = 1u << count_of(q, kept_of(q, op), hand == HAND_WAIT);
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next) found |= moves(q, inner);
    return found;
}

static bool copy_region(Keep *q, Builder *b, const Region *region);

/* The values that the region ends with, and the counts. */
static void copy_end(Keep *q, Builder *b, const Region *region, unsigned moved) {
    const Op *old = region->last;
    Op *end = ir_begin(b, old->code);
    for (int i = 0; i < old->operand_count; i++) ir_operand(b, end, refmap_get(&q->map, old->operands[i]));
    for (int i = 0; i < MOST_COUNTS; i++)
        if (moved >> i & 1) ir_operand(b, end, q->counts[i]);
    ir_end(b, end, NULL);
}

static bool copy_control(Keep *q, Builder *b, const Op *op, unsigned moved) {
    Kernel *k = q->k;
    Op *made = ir_begin(b, op->code);
    const Type *types[MERGE_MOST_VALUES + MOST_COUNTS];
    Ref before[MOST_COUNTS];
    bool loop = op->code != OP_IF;
    int count = 0;
    if (op->result_count > MERGE_MOST_VALUES)
        return merge_fail(q->m, op, "it passes more than 64 numbers" FIX "keep them in a shared tile");
    for (int i = 0; i < op->operand_count; i++) ir_operand(b, made, refmap_get(&q->map, op->operands[i]));
    for (int i = 0; i < op->result_count; i++) types[count++] = ir_type(k, op->results[i]);
    for (int i = 0; i < MOST_COUNTS; i++) {
        before[i] = q->counts[i];
        if (!(moved >> i & 1)) continue;
        types[count++] = ir_type(k, before[i]);
        if (loop) ir_operand(b, made, before[i]);
    }
    for (int i = 0; i < op->attr_count; i++) op_set(k, made, op->attrs[i]);
    for (int r = 0; r < op->region_count; r++) {
        const Region *old = op->regions[r];
        Region *region = ir_region(b, made);
        Builder inside = ir_builder_inside(b, region);
        for (int i = 0; i < old->arg_count; i++) {
            const Value value = *ir_value(k, old->args[i]);
            refmap_set(&q->map, old->args[i], ir_argument(k, region, value.type, value.name));
        }
        for (int i = 0; i < MOST_COUNTS; i++) {
            q->counts[i] = before[i];
            if (loop && moved >> i & 1) q->counts[i] = ir_argument(k, region, ir_type(k, before[i]), NULL);
        }
        if (!copy_region(q, &inside, old)) return false;
        copy_end(q, &inside, old, moved);
    }
    ir_end_results(b, made, count, types);
    for (int i = 0; i < op->result_count; i++) refmap_set(&q->map, op->results[i], made->results[i]);
    for (int i = 0, at = op->result_count; i < MOST_COUNTS; i++)
        q->counts[i] = moved >> i & 1 ? made->results[at++] : before[i];
    return true;
}

/* All consumers meet, and nobody else. */
static void copy_meeting(Keep *q, Builder *b, const Op *op) {
    Op *made = ir_clone(b, op, &q->map);
    if (op_attr(op, AT_ID) || op_word(op, AT_UNIT, UNIT_BLOCK) != UNIT_BLOCK) return;
    op_set(q->k, made, (Attr){.id = AT_ID, .number = q->meeting});
    op_set(q->k, made, (Attr){.id = AT_ARRIVALS, .number = GROUP * q->m->workers});
}

static bool has_meeting(Keep *q, const Op *op) {
    for (int r = 0; r < op->region_count; r++)
        if (ir_list(op->regions[r], OP_SYNC, q->m->arena).count) return true;
    return false;
}

static bool copy_op(Keep *q, Builder *b, const Op *op) {
    HandOver hand = hand_over(op);
    MapEntry *get =
        op->code == OP_SLICE && ref_is_value(op->operands[0]) ? map_find_number(&q->gets, op->operands[0]) : NULL;
    b->range = op->range;
    switch (hand) {
    case HAND_ACQUIRE:
    case HAND_WAIT: begin_item(q, b, op, hand == HAND_WAIT); return true;
    case HAND_COMMIT: arrive(b, kept_of(q, op)->full, refmap_get(&q->map, op->operands[1])); return true;
    case HAND_RELEASE: arrive(b, kept_of(q, op)->empty, refmap_get(&q->map, op->operands[1])); return true;
    case HAND_PUT: put_field(q, b, op); return true;
    case HAND_GET:
        map_put_number(&q->gets, q->m->arena, op->results[0], (void *)op);
        read_field(q, b, op, op);
        return true;
    case HAND_SKIP: return merge_fail(q->m, op, "it passes items by" FIX "wait for every item, and release it");
    case HAND_NONE: break;
    }
    if (get)
        read_field(q, b, get->value, op);
    else if (op->code == OP_SYNC)
        copy_meeting(q, b, op);
    else if (op->region_count && (hands_over(op) || has_meeting(q, op)))
        return copy_control(q, b, op, moves(q, op));
    else
        ir_clone(b, op, &q->map);
    return true;
}

static bool copy_region(Keep *q, Builder *b, const Region *region) {
    for (const Op *op = region->first; op; op = op->next)
        if (op->code != OP_YIELD && op->code != OP_TEST && !copy_op(q, b, op)) return false;
    return true;
}

/* ---- workers ---- */

static bool write_worker(Keep *q, Builder *b, const Region *work, int64_t number) {
    const Region *tasks = q->m->tasks->regions[1];
    Ref zeros[MOST_COUNTS];
    int counts = 2 * q->ring_count;
    for (int i = 0; i < counts; i++) zeros[i] = ir_int(b, EL_I32, 0);
    TaskLoop loop = merge_open_tasks(q->m, b, zeros, counts);
    q->map = (RefMap){.arena = q->m->arena};
    q->gets = (Map){0};
    for (int i = 0; i < tasks->arg_count; i++) refmap_set(&q->map, tasks->args[i], loop.values[i]);
    if (work->arg_count) refmap_set(&q->map, work->args[0], ir_int(&loop.inside, EL_I32, number));
    for (int i = 0; i < counts; i++) q->counts[i] = loop.carried[i];
    if (!copy_region(q, &loop.inside, work)) return false;
    merge_close_tasks(q->m, &loop, q->counts);
    return true;
}

/* The first number that no barrier of the source has. */
static int64_t free_name(Keep *q) {
    FoundOps syncs = ir_list(q->k->body, OP_SYNC, q->m->arena);
    unsigned taken = 1;
    int64_t name = 1;
    for (size_t i = 0; i < syncs.count; i++)
        if (op_attr(syncs.at[i], AT_ID)) taken |= 1u << op_int(syncs.at[i], AT_ID, 0);
    while (name < LAST_NAME && taken >> name & 1) name++;
    return name;
}

bool merge_keep(Merge *m) {
    Keep q = {.m = m, .k = m->k};
    if (!merge_tasks_end(m)) return false;
    if (m->workers > MOST_CONSUMERS)
        return merge_fail(m, m->compute, "it has more than 6 consumer warpgroups"
                          FIX "use at most 6, each with more rows");
    if (!make_rings(&q)) return false;
    q.meeting = free_name(&q);
    Op *others[] = {m->load, m->store};
    int64_t all = m->workers + 1 + (m->store != NULL);
    Op *spmd = ir_begin(&m->b, OP_SPMD);
    for (int64_t w = 0; w < all; w++) ir_region(&m->b, spmd);
    ir_operand(&m->b, spmd, ir_int(&m->b, EL_I32, all));
    ir_argument(q.k, spmd->regions[0], ty_scalar(q.k->module, EL_I32), NULL);
    op_set(q.k, spmd, (Attr){.id = AT_UNIT, .word = UNIT_WARPGROUP});
    ir_end(&m->b, spmd, NULL);
    for (int64_t w = 0; w < all; w++) {
        Builder in = ir_builder_inside(&m->b, spmd->regions[w]);
        const Region *work = w < m->workers ? m->work : others[w - m->workers]->regions[0];
        if (!write_worker(&q, &in, work, w)) return false;
        ir_yield(&in, NULL, 0);
    }
    merge_task_grid(m);
    ir_remove(m->tasks);
    for (Op *op = q.k->body->first, *next; op; op = next) {
        next = op->next;
        if (op->code == OP_RING) ir_remove(op);
    }
    return true;
}
