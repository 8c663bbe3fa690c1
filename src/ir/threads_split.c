/* SPDX-License-Identifier: Apache-2.0 */
/* threads_split.c: roles that a kernel writes for its warpgroups, each as it is written, side by side.
 *
 *     spmd %t in 256 <unit=thread> {               spmd %w in 2 <unit=warpgroup> {
 *       s[t] = ..                                    for k { bar_wait full, .. ; .. ; bar_arrive<count=128> empty }
 *       if t < 128 { for k { .. } }         ->     } {
 *       else { for k { .. } } }                      for k { bar_wait empty, .. ; .. ; bar_arrive<count=128> full } }
 *
 * All from the first role to the last one is written once for each warpgroup, with its own threads (128 of them) and
 * what they are told apart by decided; then each copy is cut as a block's threads are (threads_cut.c): tile operations
 * are the warpgroup's, code of single threads stands between them. Tiles that only roles use (fragments, variables of
 * threads) are each warpgroup's own. */
#include "ir/barriers.h"
#include "ir/threads.h"

#include <string.h>

enum { GROUP = 128, MOST_GROUPS = 8 };

typedef struct Split {
    Threads *t;
    Kernel *k;
    Op *first, *last; /* the span: what is written once a warpgroup */
    int groups;
} Split;

typedef struct Copy { /* of the span, for a warpgroup */
    Split *s;
    RefMap map;
    Region *region; /* of the warpgroup */
    Op *spmd;       /* its threads */
    Ref thread;     /* the thread's number in the block */
    Builder b;
} Copy;

/* --- what is a role --- */

static bool has_role(const Threads *t, const Op *op) {
    bool some[2], found = false;
    if (op->code == OP_IF && threads_differ(t, op->operands[0]) && threads_is_tile_op(t->k, op))
        return threads_is_role(t, op->operands[0], some);
    for (int r = 0; r < op->region_count && op->code != OP_SPMD; r++)
        for (const Op *inner = op->regions[r]->first; inner && !found; inner = inner->next)
            found = has_role(t, inner);
    return found;
}

/* May all of it be done by each warpgroup for itself? Tile operations of the whole block may not. */
static bool fits(Threads *t, const Op *op) {
    bool barrier = op->code == OP_BAR_ARRIVE || op->code == OP_BAR_WAIT || op->code == OP_BAR_EXPECT;
    if (barrier || !threads_is_tile_op(t->k, op)) return true;
    if (op->code == OP_IF && threads_differ(t, op->operands[0])) {
        bool some[2];
        if (op->result_count || !threads_is_role(t, op->operands[0], some))
            return threads_fail(t, op, "a condition that parts a warp stands around what a warpgroup does as a whole");
        return true;
    }
    if (op->code != OP_FOR && op->code != OP_WHILE && op->code != OP_IF)
        return threads_fail(t, op, "the whole block does this, between roles of its warpgroups");
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            if (!fits(t, inner)) return false;
    return true;
}

typedef struct Waits { /* for a barrier, behind an operation of the region */
    const Split *s;
    Ref bar;
    bool before, inside; /* the span */
} Waits;

static void look_at_wait(Op *op, void *user) {
    Waits *w = user;
    if (op->code != OP_BAR_WAIT || op->operands[0] != w->bar) return;
    while (op->parent != w->s->t->spmd->regions[0]) {
        if (!op->parent || !op->parent->owner) return;
        op = op->parent->owner;
    }
    for (const Op *at = w->s->first; at; at = at->next) {
        w->inside |= at == op;
        if (at == op) return;
    }
    w->before = true;
}

/* Arrivals of all threads in front of the roles that wait for them are the first thing that each role does: nobody
 * needs them before. */
static void take_arrivals(Split *s) {
    Region *region = s->t->spmd->regions[0];
    Op *role = s->first;
    for (Op *op = region->first, *next; op != role && op != s->first; op = next) {
        Waits waits = {s, op->operand_count ? op->operands[0] : REF_NONE, false, false};
        next = op->next;
        if (op->code != OP_BAR_ARRIVE) continue;
        ir_walk(region, look_at_wait, &waits);
        if (waits.before || !waits.inside) continue;
        if (next != role) ir_move(op, region, role);
        if (s->first == role) s->first = op;
    }
}

static bool find_span(Split *s) {
    Region *region = s->t->spmd->regions[0];
    int64_t threads;
    for (Op *op = region->first; op; op = op->next) {
        if (!has_role(s->t, op)) continue;
        if (!s->first) s->first = op;
        s->last = op;
    }
    if (!s->first) return threads_fail(s->t, s->t->spmd, "there are no roles of warpgroups");
    take_arrivals(s);
    bool one = s->t->spmd->operand_count == 1 && ir_const_int(s->k, s->t->spmd->operands[0], &threads);
    if (!one || threads % GROUP || threads / GROUP < 2 || threads / GROUP > MOST_GROUPS)
        return threads_fail(s->t, s->first,
                            "roles are those of whole warpgroups: 256, 384, .. threads of one dimension");
    s->groups = (int)(threads / GROUP);
    for (Op *op = s->first; op != s->last->next; op = op->next)
        if (!fits(s->t, op)) return false;
    for (Op *op = s->first, *next; op != s->last; op = next) { /* made once for all */
        next = op->next;
        if ((op->code == OP_BUF || op->code == OP_BAR || op->code == OP_TENSOR) && op != s->first)
            ir_move(op, region, s->first);
    }
    return true;
}

/* --- copies --- */

static bool is_in_span(const Split *s, const Op *op) {
    while (op && op->parent != s->t->spmd->regions[0]) op = op->parent ? op->parent->owner : NULL;
    for (const Op *at = s->first; op && at; at = at->next) {
        if (at == op) return true;
        if (at == s->last) break;
    }
    return false;
}

typedef struct Uses {
    const Split *s;
    Ref value;
    bool outside;
} Uses;

static void look_at_use(Op *op, void *user) {
    Uses *u = user;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] == u->value) u->outside |= !is_in_span(u->s, op);
}

/* Is it a tile that threads hold, and only the span uses it? Then each warpgroup has one. */
static bool is_private(const Split *s, const Op *buf) {
    Word scope = ir_type(s->k, buf->results[0])->scope;
    Uses uses = {s, buf->results[0], false};
    if (scope != SCOPE_FRAGMENT && scope != SCOPE_LOCAL) return false;
    ir_walk(s->k->body, look_at_use, &uses);
    return !uses.outside;
}

static bool is_of_thread(const Threads *t, const Type *type) {
    int64_t threads;
    return type->scope == SCOPE_LOCAL && ir_const_int(t->k, t->spmd->operands[0], &threads) && type->rank > 0 &&
           type->extent[0] == threads;
}

/* A value of the copy: what threads differ in is computed again, private tiles are made. */
static bool bring(Copy *c, Ref ref) {
    if (!ref_is_value(ref) || refmap_get(&c->map, ref) != ref) return true;
    const Value value = *ir_value(c->s->k, ref);
    const Op *op = value.op;
    if (!op || is_in_span(c->s, op)) return true;
    if (op->code == OP_BUF && is_private(c->s, op)) {
        const Type *type = value.type;
        int64_t extent[MAX_RANK];
        memcpy(extent, type->extent, (size_t)type->rank * sizeof *extent);
        if (is_of_thread(c->s->t, type)) extent[0] = GROUP;
        Builder b = ir_builder_before(c->s->k, c->spmd);
        b.range = op->range;
        refmap_set(&c->map, ref, ir_buffer(&b, ty_buffer(c->s->k->module, type->elem, type->rank, extent, type->scope),
                                           value.name));
        return true;
    }
    if (!threads_differ(c->s->t, ref)) return true;
    if (!op_has(op->code, TRAIT_ELEMENTWISE))
        return threads_fail(c->s->t, op, "a role needs what each thread has read or made before it");
    for (int i = 0; i < op->operand_count; i++)
        if (!bring(c, op->operands[i])) return false;
    ir_clone(&c->b, op, &c->map);
    return true;
}

static void look_at_needs(Op *op, void *user) {
    Copy *c = user;
    for (int i = 0; i < op->operand_count && !c->s->t->why; i++) bring(c, op->operands[i]);
}

/* A thread's own part of such a tile is counted within the warpgroup. */
static void count_within(Op *op, void *user) {
    Copy *c = user;
    bool access = op->code == OP_BLOAD || op->code == OP_BSTORE || op->code == OP_BATOMIC;
    const Type *type = access ? ir_type(c->s->k, op->operands[0]) : NULL;
    if (!access || type->scope != SCOPE_LOCAL || type->extent[0] != GROUP) return;
    RefList at = op_list(op, 0);
    if (at.count && at.at[0] == c->thread) at.at[0] = c->spmd->regions[0]->args[0];
}

/* Conditions that hold for all of its threads, or for none. */
static void decide(Threads *t, Region *region) {
    for (Op *op = region->first, *next; op; op = next) {
        next = op->next;
        bool some[2];
        bool plain = op->code == OP_IF && !op->result_count && threads_is_role(t, op->operands[0], some);
        if (!plain || (some[0] && some[1])) {
            for (int r = 0; r < op->region_count; r++) decide(t, op->regions[r]);
            continue;
        }
        Region *side = op->regions[some[0] ? 0 : 1];
        Op *first = side->first == side->last ? NULL : side->first;
        while (side->first != side->last) ir_move(side->first, region, op);
        ir_remove(op);
        if (first) next = first;
    }
}

/* Arrivals, and waits, of some of its threads: as many, of the warpgroup. */
static bool count_arrivals(Threads *t, Region *region, Ref condition, Op *place) {
    for (Op *op = region->first, *next; op; op = next) {
        next = op->next;
        bool differs = op->code == OP_IF && threads_differ(t, op->operands[0]);
        bool barrier = op->code == OP_BAR_ARRIVE || op->code == OP_BAR_WAIT || op->code == OP_BAR_EXPECT;
        if (barrier && op->code == OP_BAR_ARRIVE) {
            int64_t threads = condition ? threads_count(t, condition) : GROUP;
            if (condition && !threads)
                return threads_fail(t, op, "how many threads arrive here is not known before the kernel runs");
            op_set(t->k, op, (Attr){.id = AT_ARRIVALS, .number = threads * op_int(op, AT_ARRIVALS, 1)});
        }
        if (barrier && condition) { /* it is done behind all that the threads do there */
            if (op->next != region->last && op->code != OP_BAR_WAIT)
                return threads_fail(t, op, "some threads of a warpgroup arrive here, and go on with something else");
            if (op->code == OP_BAR_WAIT && op != region->first)
                return threads_fail(t, op, "some threads of a warpgroup wait here, behind something else");
            ir_move(op, place->parent, op->code == OP_BAR_WAIT ? place : place->next);
        }
        for (int r = 0; r < op->region_count; r++) {
            Ref inside = condition;
            if (differs && bars_are_inside(op)) {
                if (condition || r) return threads_fail(t, op, "barriers under several conditions of threads");
                inside = op->operands[0];
            }
            if (!count_arrivals(t, op->regions[r], inside, differs ? op : place)) return false;
        }
    }
    return true;
}

static Copy begin_copy(Split *s, Op *spmd, int group) {
    Copy c = {.s = s, .map = {.arena = s->t->arena}};
    Builder b = ir_builder(s->k, spmd->regions[group]);
    b.range = s->first->range;
    c.region = spmd->regions[group];
    c.spmd = ir_begin(&b, OP_SPMD);
    Region *threads = ir_region(&b, c.spmd);
    ir_operand(&b, c.spmd, ir_int(&b, EL_I32, GROUP));
    ir_argument(s->k, threads, ty_scalar(s->k->module, EL_I32), "t");
    op_set(s->k, c.spmd, (Attr){.id = AT_UNIT, .word = UNIT_THREAD});
    ir_end(&b, c.spmd, NULL);
    ir_yield(&b, NULL, 0);
    c.b = ir_builder_inside(&b, threads);
    c.thread = group ? ir_binary(&c.b, OP_ADD, threads->args[0], ir_int(&c.b, EL_I32, (int64_t)group * GROUP))
                     : threads->args[0];
    refmap_set(&c.map, s->t->spmd->regions[0]->args[0], c.thread);
    return c;
}

/* The span as the warpgroup runs it. */
static bool write_copy(Split *s, Op *spmd, int group) {
    Threads *t = s->t;
    Copy c = begin_copy(s, spmd, group);
    for (Op *op = s->first; op != s->last->next; op = op->next) {
        look_at_needs(op, &c);
        for (int r = 0; r < op->region_count; r++) ir_walk(op->regions[r], look_at_needs, &c);
        if (t->why) return false;
        ir_clone(&c.b, op, &c.map);
    }
    ir_yield(&c.b, NULL, 0);
    ir_walk(c.spmd->regions[0], count_within, &c);
    Threads mine = threads_look(s->k, c.spmd, false, t->arena);
    decide(&mine, c.spmd->regions[0]);
    mine = threads_look(s->k, c.spmd, false, t->arena);
    bool good = count_arrivals(&mine, c.spmd->regions[0], REF_NONE, NULL);
    if (good) {
        mine = threads_look(s->k, c.spmd, false, t->arena);
        threads_add_syncs(&mine);
        good = threads_cut(&mine);
    }
    t->why = mine.why, t->where = mine.where;
    return good;
}

bool threads_split_roles(Threads *t) {
    Split s = {.t = t, .k = t->k};
    if (!find_span(&s)) return false;
    Builder b = ir_builder_before(s.k, s.first);
    b.range = s.first->range;
    Op *spmd = ir_begin(&b, OP_SPMD);
    for (int g = 0; g < s.groups; g++) ir_region(&b, spmd);
    ir_operand(&b, spmd, ir_int(&b, EL_I32, s.groups));
    ir_argument(s.k, spmd->regions[0], ty_scalar(s.k->module, EL_I32), "w");
    op_set(s.k, spmd, (Attr){.id = AT_UNIT, .word = UNIT_WARPGROUP});
    ir_end(&b, spmd, NULL);
    for (int g = 0; g < s.groups; g++)
        if (!write_copy(&s, spmd, g)) return false;
    for (Op *op = s.first, *next, *end = s.last->next; op != end; op = next) {
        next = op->next;
        ir_remove(op);
    }
    return true;
}
