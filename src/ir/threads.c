/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c: which values of a region of threads differ between them, and barriers that the source leaves out. See
 * threads.h. */
#include "ir/barriers.h"
#include "ir/threads.h"

#include <string.h>

bool threads_fail(Threads *t, const Op *op, const char *why) {
    if (!t->why) {
        t->why = why;
        t->where = op->range;
    }
    return false;
}

/* What was made since belongs to threads. */
bool threads_differ(const Threads *t, Ref ref) { return ref_is_value(ref) && (ref >= t->known || t->differs[ref]); }

static bool is_tile(const Kernel *k, Ref ref) {
    const Type *type = ref ? ir_type(k, ref) : NULL;
    return type && type->kind == TY_TILE && type->rank > 0;
}

typedef struct Search {
    const Kernel *k;
    bool syncs, found;
} Search;

static void look_for_cut(Op *op, void *user) {
    Search *s = user;
    for (int i = 0; i < op->operand_count; i++) s->found |= is_tile(s->k, op->operands[i]);
    for (int i = 0; i < op->result_count; i++) s->found |= is_tile(s->k, op->results[i]);
    s->found |= op->code == OP_PARALLEL || op->code == OP_SPMD;
    s->found |= op->code == OP_BAR_ARRIVE || op->code == OP_BAR_WAIT;
    s->found |= s->syncs && (op->code == OP_SYNC || op->code == OP_SHFL);
}

static bool search(const Kernel *k, const Op *op, bool syncs) {
    Search s = {k, syncs, false};
    look_for_cut((Op *)op, &s);
    for (int i = 0; i < op->region_count && !s.found; i++) ir_walk(op->regions[i], look_for_cut, &s);
    return s.found;
}

bool threads_is_tile_op(const Kernel *k, const Op *op) { return search(k, op, false); }
bool threads_has_cut(const Threads *t, const Op *op) { return search(t->k, op, t->at_syncs); }

/* --- what differs --- */

static bool mark(Threads *t, Ref ref) {
    if (!ref_is_value(ref) || t->differs[ref]) return false;
    return t->differs[ref] = true;
}

static bool mark_all(Threads *t, const Ref *refs, int count) {
    bool changed = false;
    for (int i = 0; i < count; i++) changed |= mark(t, refs[i]);
    return changed;
}

static bool is_of_threads(const Op *op) {
    return op && op->code == OP_SPMD && op_word(op, AT_UNIT, UNIT_THREAD) == UNIT_THREAD;
}

bool threads_are_around(const Op *op) {
    for (; op; op = op->parent ? op->parent->owner : NULL)
        if (is_of_threads(op)) return true;
    return false;
}

const Region *threads_worker(const Op *op) {
    for (const Region *region = op->parent; region && region->owner; region = region->owner->parent)
        if (region->owner->code == OP_SPMD && region->owner->region_count > 1) return region;
    return NULL;
}

bool threads_share(const Kernel *k, const Op *op, Ref buffer) {
    const Region *worker = threads_worker(op);
    return worker && threads_worker(ir_value(k, buffer)->op) != worker;
}

/* Is it the thread's number along that dimension, in whatever region? */
static bool is_worker(const Threads *t, Ref ref, int dim) {
    const Value *value = ref_is_value(ref) ? ir_value(t->k, ref) : NULL;
    return value && value->region && value->index == dim && is_of_threads(value->region->owner);
}

/* An access to the thread's own part of a buffer: its numbers are the first indices. */
static bool is_own_part(const Threads *t, const Op *op) {
    bool access = op->code == OP_BLOAD || op->code == OP_BSTORE || op->code == OP_BATOMIC;
    RefList at = access ? op_list(op, 0) : (RefList){0};
    if (at.count < t->spmd->operand_count || ir_type(t->k, op->operands[0])->scope != SCOPE_LOCAL) return false;
    for (int w = 0; w < t->spmd->operand_count; w++)
        if (!is_worker(t, at.at[w], w)) return false;
    return true;
}

bool threads_is_even(const Threads *t, const Op *op) {
    return op->code == OP_BLOAD && is_own_part(t, op) && !threads_differ(t, op->results[0]);
}

/* How much of the block comes somewhere. */
typedef enum Crowd { CROWD_ALL, CROWD_ROLE, CROWD_SOME } Crowd;

/* What is read and written there; *differs: is it another number in each thread? */
static bool look_own_part(Threads *t, const Op *op, Crowd crowd, bool *differs) {
    RefList at = op_list(op, 0);
    *differs = crowd == CROWD_SOME || (crowd == CROWD_ROLE && op->code == OP_BSTORE) || op->code == OP_BATOMIC;
    for (int i = t->spmd->operand_count; i < at.count; i++) *differs |= threads_differ(t, at.at[i]);
    if (op->code == OP_BLOAD) {
        *differs |= t->uneven[op->operands[0]];
        return false;
    }
    *differs |= threads_differ(t, op_operand(op, 1));
    if (!*differs || t->uneven[op->operands[0]]) return false;
    return t->uneven[op->operands[0]] = true;
}

/* --- roles --- */

enum { WARP = 32, MOST_THREADS = 1024 };

typedef struct Thread { /* its numbers along each dimension */
    const Threads *t;
    int64_t at[MAX_RANK];
} Thread;

static bool number_of_thread(const void *user, Ref ref, int64_t *out) {
    const Thread *thread = user;
    for (int d = 0; d < thread->t->spmd->operand_count; d++) {
        if (!is_worker(thread->t, ref, d)) continue;
        *out = thread->at[d];
        return true;
    }
    return false;
}

/* The condition in each thread of the block; how many these are, 0: it is not known. */
static int64_t evaluate(const Threads *t, Ref condition, bool *holds) {
    int64_t extent[MAX_RANK], threads = 1, value;
    int rank = t->spmd->operand_count;
    Thread thread = {.t = t};
    for (int d = 0; d < rank; d++) {
        if (!ir_const_int(t->k, t->spmd->operands[d], &extent[d]) || extent[d] < 1) return 0;
        threads *= extent[d];
    }
    if (threads > MOST_THREADS) return 0;
    for (int64_t n = 0; n < threads; n++) {
        int64_t rest = n;
        for (int d = rank - 1; d >= 0; d--) thread.at[d] = rest % extent[d], rest /= extent[d];
        if (!ir_number(t->k, condition, number_of_thread, &thread, &value)) return 0;
        holds[n] = value != 0;
    }
    return threads;
}

int64_t threads_count(const Threads *t, Ref condition) {
    bool holds[MOST_THREADS];
    int64_t threads = evaluate(t, condition, holds), count = 0;
    for (int64_t n = 0; n < threads; n++) count += holds[n];
    return count;
}

bool threads_is_role(const Threads *t, Ref condition, bool some[2]) {
    bool holds[MOST_THREADS];
    int64_t threads = evaluate(t, condition, holds);
    some[0] = some[1] = false;
    for (int64_t n = 0; n < threads; n++) {
        if (n % WARP && holds[n] != holds[n - 1]) return false;
        some[holds[n] ? 0 : 1] = true;
    }
    return threads > 0;
}

static bool look_region(Threads *t, const Region *region, Crowd crowd);

/* Where only some threads come, what they read is not read for all. */
static bool look_op(Threads *t, const Op *op, Crowd crowd) {
    bool differs = op->code == OP_ATOMIC || op->code == OP_ATOMIC_CAS || op->code == OP_BATOMIC || op->code == OP_SHFL;
    bool changed = false;
    if (is_own_part(t, op)) {
        changed = look_own_part(t, op, crowd, &differs);
        return (differs && mark_all(t, op->results, op->result_count)) || changed;
    }
    for (int i = 0; i < op->operand_count; i++) differs |= threads_differ(t, op->operands[i]);
    differs |= crowd == CROWD_SOME && (op_has(op->code, TRAIT_READS) || op->region_count);
    if (op->code == OP_WHILE) differs |= threads_differ(t, op->regions[0]->last->operands[0]);
    bool some[2];
    bool role = differs && op->code == OP_IF && crowd != CROWD_SOME && threads_is_role(t, op->operands[0], some);
    Crowd inside = !differs || !op->region_count ? crowd : role ? CROWD_ROLE : CROWD_SOME;
    for (int r = 0; r < op->region_count; r++) {
        const Region *region = op->regions[r];
        if (differs) changed |= mark_all(t, region->args, region->arg_count);
        changed |= look_region(t, region, inside);
        if (!region->last) continue;
        int skip = region->last->code == OP_TEST, carried = op->code == OP_FOR;
        for (int i = skip; i < region->last->operand_count; i++) {
            if (!threads_differ(t, region->last->operands[i])) continue;
            if (i - skip < op->result_count) changed |= mark(t, op->results[i - skip]);
            for (int n = 0; n < op->region_count; n++)
                if (i - skip + carried < op->regions[n]->arg_count)
                    changed |= mark(t, op->regions[n]->args[i - skip + carried]);
        }
    }
    /* What a thread runs for itself has no result outside of it. */
    if (differs || (op->region_count && !threads_has_cut(t, op))) changed |= mark_all(t, op->results, op->result_count);
    return changed;
}

static bool look_region(Threads *t, const Region *region, Crowd crowd) {
    bool changed = false;
    for (const Op *op = region->first; op; op = op->next) changed |= look_op(t, op, crowd);
    return changed;
}

/* What the block writes as a whole is told apart by nobody. */
static void look_for_tiles(Op *op, void *user) {
    Threads *t = user;
    if (op->code == OP_BSTORE && is_tile(t->k, op_operand(op, 1))) t->uneven[op->operands[0]] = true;
}

/* All regions of threads are looked at: what one of them keeps in a buffer, another one reads. */
Threads threads_look(Kernel *k, Op *spmd, bool at_syncs, Arena *arena) {
    Threads t = {.k = k, .arena = arena, .spmd = spmd, .at_syncs = at_syncs, .known = k->values.count};
    FoundOps regions = ir_list(k->body, OP_SPMD, arena);
    bool changed = true;
    t.differs = ARENA_ARRAY(arena, bool, t.known);
    t.uneven = ARENA_ARRAY(arena, bool, t.known);
    ir_walk(k->body, look_for_tiles, &t);
    for (size_t i = 0; i < regions.count; i++)
        if (is_of_threads(regions.at[i])) mark_all(&t, regions.at[i]->regions[0]->args, regions.at[i]->operand_count);
    while (changed) {
        changed = false;
        for (size_t i = 0; i < regions.count; i++)
            if (is_of_threads(regions.at[i])) changed |= look_region(&t, regions.at[i]->regions[0], CROWD_ALL);
    }
    return t;
}

/* --- barriers that the source leaves out --- */

typedef VEC(Op *) Ops;
typedef struct Since { /* what was done with shared memory since the last barrier */
    Threads *t;
    Ops ops;
} Since;

static void note_access(Op *op, void *user) {
    Since *since = user;
    bool access = op->code == OP_BLOAD || op->code == OP_BSTORE || op->code == OP_BATOMIC;
    if (access && ir_type(since->t->k, op->operands[0])->scope != SCOPE_LOCAL)
        *VEC_PUSH(&since->ops, since->t->arena) = op;
}

/* Is it at a place that each thread has for itself: one whose indices are the thread's own numbers, and others? */
static bool is_own(const Threads *t, const Op *op) {
    const Region *region = t->spmd->regions[0];
    RefList at = op_list(op, 0);
    for (int w = 0; w < region->arg_count; w++) {
        int64_t extent;
        bool found = ir_const_int(t->k, t->spmd->operands[w], &extent) && extent == 1;
        for (int d = 0; d < at.count && !found; d++) found = at.at[d] == region->args[w];
        if (!found) return false;
    }
    return true;
}

static bool meet(const Threads *t, const Op *a, const Op *b) {
    if (a->operands[0] != b->operands[0] || (a->code == OP_BLOAD && b->code == OP_BLOAD)) return false;
    if (a->code == OP_BATOMIC && b->code == OP_BATOMIC) return false;
    RefList x = op_list(a, 0), y = op_list(b, 0);
    bool same = x.count == y.count;
    for (int d = 0; d < x.count && same; d++) same = x.at[d] == y.at[d];
    return !(same && is_own(t, a));
}

static void add_sync(Threads *t, Op *before) {
    Builder b = ir_builder_before(t->k, before);
    ir_end(&b, ir_begin(&b, OP_SYNC), NULL);
}

static void visit_region(Since *since, Region *region);

/* Does the region's owner run it in all threads, as often? */
static bool is_uniform(const Threads *t, const Op *op) {
    if (op->code == OP_IF) return !threads_differ(t, op->operands[0]);
    if (op->code == OP_FOR)
        return !threads_differ(t, op->operands[0]) && !threads_differ(t, op->operands[1]) &&
               !threads_differ(t, op->operands[2]);
    return op->code == OP_WHILE && !threads_differ(t, op->regions[0]->last->operands[0]);
}

/* Do all trips of a loop without barriers go to places of their own, whose index is the loop's variable, and no two
 * accesses of a trip to one? Then no trip meets another one, and a barrier before the loop does for all of them:
 *
 *     for i { s[t, i] = own[i] }  sync  for i { own[i] = s[u, i] } */
static bool trips_apart(const Threads *t, const Op *loop) {
    int64_t step;
    if (loop->code != OP_FOR || !ir_const_int(t->k, loop->operands[2], &step) || !step) return false;
    for (const Op *op = loop->regions[0]->first; op; op = op->next)
        if (op->region_count || op->code == OP_SYNC || threads_is_tile_op(t->k, op)) return false;
    Since mine = {.t = (Threads *)t};
    ir_walk(loop->regions[0], note_access, &mine);
    for (size_t i = 0; i < mine.ops.count; i++) {
        RefList at = op_list(mine.ops.at[i], 0);
        for (size_t n = 0; n < mine.ops.count; n++) {
            const Op *other = mine.ops.at[n];
            RefList there = op_list(other, 0);
            bool apart = false;
            if (other->operands[0] != mine.ops.at[i]->operands[0]) continue;
            for (int d = 0; d < at.count && at.count == there.count; d++)
                apart |= at.at[d] == loop->regions[0]->args[0] && there.at[d] == at.at[d];
            if (!apart || (n != i && meet(t, mine.ops.at[i], other))) return false;
        }
    }
    return mine.ops.count > 0;
}

static void visit_op(Since *since, Op *op) {
    Threads *t = since->t;
    if (op->code == OP_SYNC && op_word(op, AT_UNIT, UNIT_BLOCK) == UNIT_BLOCK && !op_attr(op, AT_ID)) {
        since->ops.count = 0;
    } else if (op->region_count && op->code != OP_PARALLEL && is_uniform(t, op) && !trips_apart(t, op)) {
        Ops before = {0}, all = {0};
        for (size_t i = 0; i < since->ops.count; i++) *VEC_PUSH(&before, t->arena) = since->ops.at[i];
        int rounds = op->code == OP_IF ? 1 : 2; /* what a trip leaves, the next one meets */
        for (int r = 0; r < op->region_count * rounds; r++) {
            if (op->code == OP_IF) {
                since->ops.count = 0;
                for (size_t i = 0; i < before.count; i++) *VEC_PUSH(&since->ops, t->arena) = before.at[i];
            }
            visit_region(since, op->regions[r % op->region_count]);
            for (size_t i = 0; i < since->ops.count; i++) *VEC_PUSH(&all, t->arena) = since->ops.at[i];
        }
        since->ops = all;
        for (size_t i = 0; i < before.count && op->code != OP_IF; i++)
            *VEC_PUSH(&since->ops, t->arena) = before.at[i]; /* perhaps it made no trip */
    } else if (threads_is_tile_op(t->k, op)) {
        since->ops.count = 0;
    } else {
        Since mine = {.t = t};
        bool meets = false;
        note_access(op, &mine);
        for (int r = 0; r < op->region_count; r++) ir_walk(op->regions[r], note_access, &mine);
        for (size_t i = 0; i < mine.ops.count; i++)
            for (size_t n = 0; n < since->ops.count; n++) meets |= meet(t, mine.ops.at[i], since->ops.at[n]);
        if (meets) {
            add_sync(t, op);
            since->ops.count = 0;
        }
        for (size_t i = 0; i < mine.ops.count; i++) *VEC_PUSH(&since->ops, t->arena) = mine.ops.at[i];
    }
}

static void visit_region(Since *since, Region *region) {
    for (Op *op = region->first; op; op = op->next) visit_op(since, op);
}

void threads_add_syncs(Threads *t) {
    Since since = {.t = t};
    visit_region(&since, t->spmd->regions[0]);
}
