/* SPDX-License-Identifier: Apache-2.0 */
/* elide.c: a template whose workers do not become whole tiles, as one program without hand-overs.
 *
 *     tasks %it while { setup; test go, .. } do (..) {        setup(0)
 *       role load    { a; for %i { acquire; load; commit } }  while (go) {
 *       role compute { spmd %w in 2 {                    ->     a; b(0); b(1)
 *           b; for %i { wait; c; release }; d } }               for %i { load; c(0); c(1); store }
 *       role store   { for %i { wait; store; release } } }      d(0); d(1); setup(it + 1) }
 *
 * By the law of elision (docs/ir.md): whoever is nearest to the end of the data goes first, every hand-over is a plain
 * copy. A ring's record is a buffer a field, the workers come one after the other: they share what the producer gave
 * them and what all of them write alike (merge_shared.c). If the tasks can be the programs of a grid (merge_tasks.c),
 * they are; else each program takes every num_programs-th of them, as the template says. */
#include "ir/ringform.h"
#include "pass/merge/merge.h"

enum { MOST_PARTS = 2 + 16 };

typedef struct Elide {
    Merge *m;
    Kernel *k;
    Region *parts[MOST_PARTS]; /* what the load role does, then each worker, then the store role */
    Op *loops[MOST_PARTS];     /* their loops over the items */
    int count;
    Map buffers; /* a ring's result -> Ref of the buffers of its fields */
} Elide;

/* ---- roles ---- */

/* The loop in the region that takes items by itself; NULL: none, or several. */
static Op *item_loop(const Region *region, HandOver take) {
    Op *found = NULL;
    for (Op *op = region->first; op; op = op->next) {
        bool takes = false;
        for (const Op *inner = op->code == OP_FOR ? op->regions[0]->first : NULL; inner; inner = inner->next)
            takes = takes || hand_over(inner) == take;
        if (takes && found) return NULL;
        if (takes) found = op;
    }
    return found;
}

static bool find_parts(Elide *e) {
    Merge *m = e->m;
    Region *work = m->compute->regions[0];
    Op *spmd = work->first && work->first->code == OP_SPMD ? work->first : NULL;
    int64_t workers = 1;
    if (spmd && (!ir_const_int(e->k, spmd->operands[0], &workers) || workers >= MOST_PARTS - 1))
        return merge_fail(m, spmd, "the number of its workers is not known" FIX "make it a constant of at most 16");
    SharedBuffers copies = {0};
    if (spmd && !merge_shared(m, spmd, item_loop(spmd->regions[0], HAND_WAIT), &copies)) return false;
    e->parts[e->count++] = m->load->regions[0];
    for (int64_t w = 0; w < workers; w++) {
        Region *part = work;
        if (spmd) { /* a copy for each: registers are its own */
            RefMap map = {.arena = m->arena};
            part = ARENA_NEW(e->k->module->arena, Region);
            part->owner = m->compute;
            Builder b = ir_builder(e->k, part);
            refmap_set(&map, spmd->regions[0]->args[0], ir_int(&b, EL_I32, w));
            for (size_t i = 0; w && i < copies.count; i++) {
                Builder beside = ir_builder_before(e->k, copies.at[i]);
                const Value *old = ir_value(e->k, copies.at[i]->results[0]);
                refmap_set(&map, copies.at[i]->results[0], ir_buffer(&beside, old->type, old->name));
            }
            ir_clone_region(&b, spmd->regions[0], &map);
        }
        e->parts[e->count++] = part;
    }
    if (m->store) e->parts[e->count++] = m->store->regions[0];
    for (int i = 0; i < e->count; i++) {
        e->loops[i] = item_loop(e->parts[i], i ? HAND_WAIT : HAND_ACQUIRE);
        if (!e->loops[i])
            return merge_fail(m, i ? m->compute : m->load, "it has no single loop over its items"
                              FIX "write one loop that takes an item each trip");
        for (int o = 0; o < 3; o++)
            if (e->loops[i]->operands[o] != e->loops[0]->operands[o])
                return merge_fail(m, e->loops[i], "load and compute run different items"
                                  FIX "give their loops the same bounds");
    }
    return true;
}

/* ---- one order ---- */

static void replace_in(Op *op, void *user) { ir_replace_in_op(op, user); }

static void move_ops(const Builder *to, Op *from, const Op *end) {
    for (Op *op = from, *next; op && op != end && op->code != OP_YIELD; op = next) {
        next = op->next;
        ir_move(op, to->region, to->before);
    }
}

Op *merge_fuse_loops(Kernel *k, Arena *arena, Op **loops, int count, Builder *b) {
    Op *first = loops[0], *loop = ir_begin(b, OP_FOR);
    RefMap map = {.arena = arena};
    VEC(const Type *) types = {0};
    VEC(Ref) yields = {0};
    for (int o = 0; o < 3; o++) ir_operand(b, loop, first->operands[o]);
    Region *region = ir_region(b, loop);
    Ref index = ir_argument(k, region, ir_type(k, first->operands[0]), "iter");
    for (int p = 0; p < count; p++) {
        Region *body = loops[p]->regions[0];
        refmap_set(&map, body->args[0], index);
        for (int i = 3; i < loops[p]->operand_count; i++) {
            ir_operand(b, loop, loops[p]->operands[i]);
            *VEC_PUSH(&types, arena) = ir_type(k, body->args[i - 2]);
            const Value *old = ir_value(k, body->args[i - 2]);
            refmap_set(&map, body->args[i - 2], ir_argument(k, region, old->type, old->name));
        }
    }
    Builder inside = ir_builder_inside(b, region);
    for (int p = 0; p < count; p++) {
        const Op *end = loops[p]->regions[0]->last;
        for (int i = 0; i < end->operand_count; i++) *VEC_PUSH(&yields, arena) = end->operands[i];
        move_ops(&inside, loops[p]->regions[0]->first, end);
    }
    ir_yield(&inside, yields.at, (int)yields.count);
    ir_end_results(b, loop, (int)types.count, types.at);
    for (int p = 0, at = 0; p < count; p++)
        for (int i = 0; i < loops[p]->result_count; i++) refmap_set(&map, loops[p]->results[i], loop->results[at++]);
    ir_replace_map(k, &map);
    return loop;
}

/* The loops of all parts as one: what they carry side by side, their bodies one behind the other. */
static void fuse_loops(Elide *e, Builder *b) {
    const Op *wait = NULL;
    for (int p = 0; p < e->count; p++)
        for (const Op *op = e->loops[p]->regions[0]->first; op; op = op->next)
            if (hand_over(op) == HAND_WAIT && !wait) wait = op;
    int64_t slots = wait ? op_int(hand_ring_op(e->k, wait), AT_SLOTS, 1) : 0;
    Op *loop = merge_fuse_loops(e->k, e->m->arena, e->loops, e->count, b);
    if (wait) op_set(e->k, loop, (Attr){.id = AT_STAGES, .number = slots});
}

static void emit_parts(Elide *e, Builder *b) {
    Builder loop = *b;
    Op *behind = NULL; /* the first op behind the loops */
    for (int p = 0; p < e->count; p++) move_ops(b, e->parts[p]->first, e->loops[p]);
    /* The loops' results are replaced in what stands behind them: it must be in the kernel by then. */
    for (int p = 0; p < e->count; p++) {
        Op *first = e->loops[p]->next;
        if (!behind && first && first->code != OP_YIELD) behind = first;
        move_ops(b, first, NULL);
    }
    if (behind) loop.before = behind;
    fuse_loops(e, &loop);
}

/* ---- tasks ---- */

static void task_loop(Elide *e, Builder *b) {
    Kernel *k = e->k;
    Region *old = e->m->tasks->regions[1];
    TaskLoop loop = merge_open_tasks(e->m, b, NULL, 0);
    RefMap map = {.arena = e->m->arena};
    for (int i = 0; i < old->arg_count; i++) refmap_set(&map, old->args[i], loop.values[i]);
    ir_replace_map(k, &map); /* in the parts, which still stand in the roles */
    for (int p = 1; p < e->count; p++)
        ir_walk(e->parts[p], replace_in, &map);
    emit_parts(e, &loop.inside);
    merge_close_tasks(e->m, &loop, NULL);
    merge_task_grid(e->m);
}

/* ---- hand-overs ---- */

static const Ref *field_buffers(Elide *e, const Op *hand) {
    const Op *ring = hand_ring_op(e->k, hand);
    MapEntry *entry = map_find_number(&e->buffers, ring->results[0]);
    return entry ? entry->value : NULL;
}

static void make_buffers(Elide *e) {
    for (Op *op = e->k->body->first; op; op = op->next) {
        if (op->code != OP_RING) continue;
        const Type *ring = ir_type(e->k, op->results[0]);
        Builder b = ir_builder_before(e->k, op);
        Ref *buffers = ARENA_ARRAY(e->m->arena, Ref, ring->field_count);
        for (int f = 0; f < ring->field_count; f++) {
            const Type *field = ring->fields[f].type;
            const Type *type = ty_buffer(e->k->module, field->elem, field->rank, field->extent, SCOPE_SHARED);
            buffers[f] = ir_buffer(&b, type, ring->fields[f].name);
        }
        map_put_number(&e->buffers, e->m->arena, op->results[0], buffers);
    }
}

static void put_to_store(Elide *e, Op *op) {
    Builder b = ir_builder_before(e->k, op);
    Ref buffer = field_buffers(e, op)[hand_field(op)], at[MAX_RANK], value = put_value(op);
    const Type *whole = ir_type(e->k, buffer), *part = ir_type(e->k, value);
    RefList list = op_list(op, 0);
    int64_t extent[MAX_RANK];
    for (int d = 0; d < whole->rank; d++) {
        int inner = d - (whole->rank - part->rank);
        at[d] = list.count ? list.at[d] : ir_int(&b, EL_I32, 0);
        extent[d] = inner >= 0 ? part->extent[inner] : 1;
    }
    const Type *box = ty_with_shape(e->k->module, part, whole->rank, extent);
    ir_bstore(&b, buffer, at, part == box ? value : ir_reshape(&b, value, box));
}

typedef struct Gets {
    Elide *e;
    RefMap map;   /* of a get: the value of its whole buffer */
    Map buffer;   /* of a get: its buffer */
    VEC(Op *) dead;
} Gets;

/* A part of a field is read as a box of its buffer; the whole only where it is used as a whole. */
static void replace_hand_over(Op *op, void *user) {
    Gets *g = user;
    Elide *e = g->e;
    HandOver hand = hand_over(op);
    MapEntry *of = op->code == OP_SLICE && ref_is_value(op->operands[0])
                       ? map_find_number(&g->buffer, op->operands[0]) : NULL;
    if (hand == HAND_PUT) {
        put_to_store(e, op);
    } else if (hand == HAND_GET) {
        Builder b = ir_builder_before(e->k, op);
        Ref buffer = field_buffers(e, op)[hand_field(op)], at[MAX_RANK];
        const Type *type = ir_type(e->k, op->results[0]);
        for (int d = 0; d < type->rank; d++) at[d] = ir_int(&b, EL_I32, 0);
        map_put_number(&g->buffer, e->m->arena, op->results[0], (void *)(uintptr_t)buffer);
        refmap_set(&g->map, op->results[0], ir_bload(&b, buffer, at, type));
    } else if (of) {
        Builder b = ir_builder_before(e->k, op);
        Ref buffer = (Ref)(uintptr_t)of->value;
        refmap_set(&g->map, op->results[0], ir_bload(&b, buffer, op_list(op, 0).at, ir_type(e->k, op->results[0])));
    }
    if (hand != HAND_NONE || of || op->code == OP_SYNC) *VEC_PUSH(&g->dead, e->m->arena) = op;
}

static void replace_hand_overs(Elide *e) {
    Gets g = {.e = e, .map = {.arena = e->m->arena}};
    make_buffers(e);
    ir_walk(e->k->body, replace_hand_over, &g);
    ir_replace_map(e->k, &g.map);
    for (size_t i = 0; i < g.dead.count; i++) ir_remove(g.dead.at[i]);
    for (Op *op = e->k->body->first, *next; op; op = next) {
        next = op->next;
        if (op->code == OP_RING) ir_remove(op);
    }
}

/* ---- the whole ---- */

bool merge_elide(Merge *m) {
    Elide e = {.m = m, .k = m->k};
    Region *grid = m->k->grid;
    if (!find_parts(&e)) return false;
    if (!merge_tasks_end(m)) return false;
    bool programs = merge_tasks(m);
    if (programs) {
        kernel_set(m->k, (Attr){.id = AT_OWN_GRID, .number = 1});
        ir_replace_map(m->k, &m->map);
        for (int p = 1; p < e.count; p++)
            ir_walk(e.parts[p], replace_in, &m->map);
        emit_parts(&e, &m->b);
    } else {
        m->failed = false;
        m->k->grid = grid;
        task_loop(&e, &m->b);
    }
    ir_remove(m->tasks);
    replace_hand_overs(&e);
    return true;
}
