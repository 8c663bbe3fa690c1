/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_sync.c: where the threads of a group wait for each other, and for what runs beside them.
 *
 * Scratch is used again and again, and what one thread wrote another reads. The pass runs through the ops of each
 * group of threads in the order in which their text will be written (text_order.h), keeps what is pending since
 * the last barrier (pending.h), and marks the ops before which a barrier has to stand:
 *
 *     %s = convert %a                                    writes shared memory
 *     %d = dot<sync=before, proxy=shared> %s, %t, %c     threads show what they wrote to the matrix units, and meet
 *     %m = reduce<add, at=0, bytes=512, sync=before>     the product has read; within a reduction threads meet anyway
 *
 * A loop begins with all that a trip of it may have left; behind a branch is pending what either side left. Where
 * an op is written more than once (loads ahead of a loop and in it, the trips of a turned loop), a mark stands for
 * all of them. A schedule that came as text is run through in the same way: what it lacks is refused. */
#include "pass/schedule/pending.h"
#include "pass/schedule/text_order.h"

typedef struct Sync {
    Order o; /* first */
    const Kernel *k;
    bool persist;
    Op *ahead;           /* where the load role stands that runs ahead in this one */
    bool in_skewed_loop; /* a loop whose loads run ahead, which has waited for its items */
    int *filled;         /* by Ref of the ring: items loaded outside of such loops before they are waited for */
    const Op *covered;   /* the loop of the load role whose turn comes behind a product of this one */
    bool in_gang;        /* the role is run by each program of a gang */
    const Op *together;  /* the loop that they run on the same items */
    const Op *span_end;  /* the last store under the product that was issued; NULL: it is waited for .. */
    bool span_reads;     /* .. does that read scratch? */
    bool stores_beside;  /* the role has issued such a store */
    bool joined;         /* the product before is waited for with the next one (`joins`) */
} Sync;

static void run_region(Sync *y, const Region *region);
static void run_op(Sync *y, Op *op);

/* The product is waited for behind its stores: barriers of those have not ended what it reads. */
static void end_span(Sync *y) {
    y->span_end = NULL;
    if (!y->span_reads) return;
    y->o.now.reads = true;
    y->o.now.scratch = NULL;
}

static void run_ops(Sync *y, Op *first, const Op *end) {
    for (Op *op = first; op && op != end; op = op->next) {
        if (!op_flag(op, AT_PACKED)) run_op(y, op);
        if (op == y->span_end) end_span(y);
    }
}

static void run_region(Sync *y, const Region *region) { run_ops(y, region->first, NULL); }

/* --- rings --- */
static const Op *ring_of(const Sync *y, const Op *op) { return hand_ring_op(y->k, op); }

/* Is the item stored with its barriers where it leaves, part by part or by each warpgroup? */
static bool leaves_in_parts(const Op *ring) { return op_attr(ring, AT_PARTS) || op_attr(ring, AT_SOLO); }

/* Does the put store the item beside others, between barriers of the group? */
static bool is_buffer(const Op *ring) {
    return ring_is_fused(ring) && !ring_runs_ahead(ring) && !leaves_in_parts(ring);
}

static void run_put(Sync *y, Op *put) {
    const Op *ring = ring_of(y, put);
    Word mover = layout_put_mover(y->k, put);
    if (mover == MOVER_ASYNC) pending_load(&y->o, ir_value(y->k, op_operand(put, 1))->op);
    if (mover != MOVER_LANES || leaves_in_parts(ring)) return;
    if (is_buffer(ring)) pending_write(&y->o, put, SYNC_BEFORE);
    if (ring_is_fused(ring)) pending_show(&y->o);
}

/* The store of the turn before may still read the buffer. */
static void run_acquire(Sync *y, Op *acquire) {
    const Op *ring = ring_of(y, acquire);
    const Op *around = acquire->parent->owner;
    bool again = y->persist || (around && around->code != OP_ROLE);
    if (is_buffer(ring) && op_flag(ring, AT_LEAVES) && again) pending_drain(&y->o, acquire, false);
}

/* Where loads run ahead, the barrier of the next trip tells the threads: they fill the slot again behind it. */
static void run_release(Sync *y, Op *release) {
    const Op *loop = release->parent->owner, *ring = ring_of(y, release);
    bool late = op_attr(release, AT_BEHIND) && !loop_is_turned(loop), ahead = ring_runs_ahead(ring);
    if (!y->o.now.unread || (!ahead && (late || ring_is_fused(ring)))) return;
    pending_drain(&y->o, release, !ahead);
    y->o.now.unread = false;
}

static void run_store_beside(Sync *y, Op *store) {
    const Op *get = ir_value(y->k, op_operand(store, 1))->op;
    const Op *ring = get && get->code == OP_GET ? ring_of(y, get) : NULL;
    bool parts = ring && leaves_in_parts(ring);
    pending_store_beside(&y->o, store);
    if (parts && !op_attr(ring, AT_SOLO)) pending_meet_shown(&y->o, store); /* each of them */
    bool ahead = ring && ring_runs_ahead(ring);
    y->o.now.unread |=
        ahead || (!parts && !(ring && is_buffer(ring))); /* who fills a buffer waits for that by itself */
    y->stores_beside = true;
    pending_mark(&y->o, store);
}

/* --- loads that run ahead --- */
/* The load role goes on up to the op (NULL: to the end of its region). */
static void run_ahead(Sync *y, const Op *until) {
    Op *op = y->ahead;
    for (; op && op != until && !op_has(op->code, TRAIT_TERMINATOR); op = op->next) {
        if (op->code == OP_COMMIT) y->filled[op->operands[0]]++;
        run_op(y, op);
    }
    y->ahead = op;
}

/* What was copied has landed, and all threads know it. That barrier comes behind a fence if a ring needs it, or what
 * threads wrote elsewhere. What is read of slots inside of their loop concerns nobody there: scratch of the loop lies
 * apart from its rings (schedule_place.c), and slots are filled again behind the next barrier of this kind. */
static void land_copies(Sync *y, Op *op) {
    bool shown = false;
    for (const Op *ring = y->k->body->first; ring; ring = ring->next)
        shown |= ring->code == OP_RING && ring_runs_ahead(ring) && op_attr(ring, AT_PROXY);
    if (shown)
        pending_meet_shown(&y->o, op);
    else
        pending_meet(&y->o, op);
}

/* A wait outside of such loops: what it waits for is loaded now, or was on the way to another one. */
static void catch_up(Sync *y, Op *wait) {
    Ref ring = wait->operands[0];
    if (y->in_skewed_loop) return;
    if (!y->filled[ring]) {
        Op *commit = y->ahead;
        while (commit && !(commit->code == OP_COMMIT && commit->operands[0] == ring)) commit = commit->next;
        pending_write(&y->o, wait, SYNC_BEFORE);
        run_ahead(y, commit ? commit->next : NULL);
    }
    y->filled[ring]--;
    land_copies(y, wait);
    y->o.now.reads = true; /* its memory may be another's next */
}

/* The loop or branch of the load role that is one with this, and what stands before it there; NULL: there is none. */
static Op *run_to_twin(Sync *y, Op *op) {
    int64_t twin = op_int(op, AT_TWIN, 0);
    Op *other = twin ? y->ahead : NULL;
    while (other && op_int(other, AT_TWIN, 0) != twin) other = other->next;
    if (!other) return NULL;
    if (twin_fills(y->ahead, other)) pending_write(&y->o, op, SYNC_BEFORE);
    run_ahead(y, other);
    return other;
}

/* One turn of the load loop. It may be left out where the loop ends: its barriers end nothing that was pending. */
static void run_turn(Sync *y, const Op *loop) {
    Op *kept = y->ahead;
    Pending before = y->o.now;
    y->ahead = loop->regions[0]->first;
    run_ahead(y, NULL);
    for (const Op *op = loop->regions[0]->first; op; op = op->next) /* the loop's own waits take them */
        if (op->code == OP_COMMIT) y->filled[op->operands[0]] = 0;
    y->ahead = kept;
    pending_join(&y->o, before);
}

/* Before the loop: the turns that come first. */
static void begin_skewed(Sync *y, Op *loop, const Op *other) {
    if (twin_is_outer(loop) || !op_attr(loop, AT_AHEAD)) return;
    pending_write(&y->o, loop, SYNC_WITHIN);
    pending_enter_loop(&y->o, other);
    run_turn(y, other);
    y->o.now.writes = true;
    y->o.now.box_count = 0;
}

static void begin_skewed_trip(Sync *y, Op *loop, const Op *other) {
    y->ahead = other->next;
    if (twin_is_outer(loop)) {
        y->ahead = other->regions[0]->first;
        return;
    }
    y->in_skewed_loop = true;
    if (!op_attr(loop, AT_AHEAD)) {
        pending_write(&y->o, loop, SYNC_WITHIN);
        run_turn(y, other);
        land_copies(y, loop);
    } else {
        land_copies(y, loop);
        y->covered = twin_cover(loop) ? other : NULL;
        if (!y->covered) run_turn(y, other);
    }
}

static void end_skewed(Sync *y, const Op *other) {
    y->in_skewed_loop = false;
    y->ahead = other->next;
    y->o.now.reads = true;
    y->o.now.scratch = NULL;
}

/* --- loops and branches --- */
/* Items that a program of a gang has no use for. */
static void pass_trips(Sync *y) {
    for (Op *op = y->together->regions[0]->first; op; op = op->next)
        if (op->code == OP_WAIT || op->code == OP_RELEASE) run_op(y, op);
}

/* The tail without its releases (which wait for the product), or only those. */
static void run_tail(Sync *y, const Region *body, const TurnedLoop *t, bool releases) {
    for (Op *op = (Op *)t->tail; op != body->last; op = op->next)
        if ((op->code == OP_RELEASE) == releases && op != t->second) run_op(y, op);
}

static void run_turned_trip(Sync *y, const Region *body, const TurnedLoop *t, bool steady) {
    run_ops(y, body->first, t->first);
    if (dot_reads_scratch(y->k, t->first)) pending_read(&y->o, (Op *)t->first, SYNC_BEFORE);
    if (steady) run_tail(y, body, t, false);
    run_ops(y, t->first->next, t->scale);
    if (steady) run_tail(y, body, t, true);
    run_ops(y, (Op *)t->scale, t->tail);
}

static void run_turned(Sync *y, Op *loop) {
    const Region *body = loop->regions[0];
    TurnedLoop t = turned_parts(loop);
    Pending before = y->o.now;
    run_turned_trip(y, body, &t, false);
    pending_enter_loop(&y->o, loop);
    run_turned_trip(y, body, &t, true);
    run_tail(y, body, &t, false);
    run_tail(y, body, &t, true);
    pending_join(&y->o, before); /* there may have been no trip */
}

/* Heads, tails and the releases of these, which stand last: the tail of a trip is written into the next one. */
static void run_trailing_trip(Sync *y, const Region *body, const TrailingLoop *t, bool steady) {
    run_ops(y, body->first, t->first);
    for (const Op *dot = t->first; dot != t->rest; dot = dot->next)
        if (dot_reads_scratch(y->k, dot)) pending_read(&y->o, (Op *)dot, SYNC_BEFORE);
    run_ops(y, (Op *)t->rest, t->tail);
    if (steady) run_ops(y, (Op *)t->releases, body->last);
}

static void run_trailing(Sync *y, Op *loop) {
    const Region *body = loop->regions[0];
    TrailingLoop t = trailing_parts(loop);
    Pending before = y->o.now;
    run_trailing_trip(y, body, &t, false);
    pending_enter_loop(&y->o, loop);
    run_trailing_trip(y, body, &t, true);
    run_ops(y, (Op *)t.releases, body->last);
    pending_join(&y->o, before); /* there may have been no trip */
}

/* Its products run beside the threads, and are done where its last trip ends; in between nothing is written that they
 * read. */
static void run_leading_trip(Sync *y, const Region *body, const LeadingLoop *l) {
    run_ops(y, body->first, l->first);
    for (Op *op = (Op *)l->first; op != body->last; op = op->next) {
        if (op->code == OP_DOT && dot_reads_scratch(y->k, op)) pending_read(&y->o, op, SYNC_BEFORE);
        if (op->code != OP_DOT) run_ops(y, op, op->next);
    }
}

static void run_leading(Sync *y, Op *loop) {
    LeadingLoop l = leading_parts(loop);
    Pending before = y->o.now;
    run_leading_trip(y, loop->regions[0], &l);
    pending_enter_loop(&y->o, loop);
    run_leading_trip(y, loop->regions[0], &l);
    pending_join(&y->o, before); /* there may have been no trip */
}

static void run_plain_loop(Sync *y, Op *loop) {
    const Region *body = loop->regions[0];
    Order *o = &y->o;
    bool words = op_attr(loop, AT_BYTES), late = late_release(body);
    Pending before = o->now;
    pending_enter_loop(o, loop);
    Op *other = run_to_twin(y, loop);
    if (other) begin_skewed(y, loop, other);
    if (words) pending_copy(o, loop);
    if (late) {
        o->dot_flies = true;
        o->dot_reads = dot_reads_scratch(y->k, late_dot(loop)); /* that of the trip before */
    }
    pending_enter_loop(o, loop); /* what stood before the loop may have ended that */
    if (other) begin_skewed_trip(y, loop, other);
    if (words) pending_meet(o, loop);
    run_region(y, body);
    if (words) o->now.reads = true, o->now.scratch = NULL;
    if (other && twin_is_outer(loop)) run_ahead(y, NULL);
    pending_join(o, before); /* there may have been no trip, and no barrier of it */
    if (other) end_skewed(y, other);
    if (late) o->dot_flies = o->dot_reads = false;
}

static void run_for(Sync *y, Op *loop) {
    if (op_flag(loop, AT_ROTATE))
        run_turned(y, loop);
    else if (op_flag(loop, AT_TRAILS))
        run_trailing(y, loop);
    else if (op_attr(loop, AT_LEADS))
        run_leading(y, loop);
    else
        run_plain_loop(y, loop);
    if (y->in_gang && loop == y->together && gang_varies(y->k, loop)) pass_trips(y); /* of longer neighbours */
}

static void run_while(Sync *y, const Op *loop) {
    pending_enter_loop(&y->o, loop);
    run_region(y, loop->regions[0]);
    Pending at_break = y->o.now;
    run_region(y, loop->regions[1]);
    pending_join(&y->o, at_break);
}

static void run_if(Sync *y, Op *branch) {
    const Op *other = run_to_twin(y, branch);
    Pending before = y->o.now, after = before;
    for (int i = 0; i < branch->region_count; i++) {
        y->o.now = before;
        if (other) y->ahead = other->regions[i]->first;
        run_region(y, branch->regions[i]);
        if (other) run_ahead(y, NULL);
        pending_join(&y->o, after);
        after = y->o.now;
    }
    if (other) y->ahead = other->next;
}

/* --- ops --- */
static void run_convert(Sync *y, Op *op) {
    if (schedule_in_shared(y->k, op->results[0])) {
        pending_write(&y->o, op, SYNC_BEFORE);
        if (schedule_read_beside(y->o.s, op->results[0])) pending_show(&y->o);
    } else if (schedule_in_shared(y->k, op->operands[0])) {
        pending_read(&y->o, op, SYNC_BEFORE);
    } else if (op_attr(op, AT_AT)) {
        pending_scratch(&y->o, op, SYNC_BEFORE);
    }
}

static void run_dot(Sync *y, Op *dot) {
    bool reads = dot_reads_scratch(y->k, dot);
    if (reads) pending_read(&y->o, dot, SYNC_BEFORE);
    if (op_flag(dot, AT_COVERS) && y->covered) run_turn(y, y->covered);
    if (op_flag(dot, AT_SPANS)) y->span_end = dot_span(y->k, dot), y->span_reads = reads;
    if (!op_flag(dot, AT_FLIGHT)) { /* products end in their order: who waits for one has waited for all before it */
        bool joins = op_flag(dot, AT_JOINS);
        if (dot_is_continued(dot)) return;
        if (!op_flag(dot, AT_SPANS) && (y->joined || !joins)) y->o.dot_flies = y->o.dot_reads = false;
        y->joined = joins;
        return;
    }
    y->joined = false;
    if (!schedule_in_shared(y->k, dot->operands[0])) pending_refill(&y->o, dot);
    y->o.dot_reads = reads;
    y->o.dot_flies = true;
}

static void run_atomic(Sync *y, Op *op) {
    pending_combine(&y->o, op);
    if (op_attr(op, AT_AT)) pending_scratch(&y->o, op, SYNC_WITHIN);
    pending_mark(&y->o, op);
}

/* One that is volatile may find something else each time: one thread reads, and tells the others. */
static void run_load(Sync *y, Op *load) {
    pending_load(&y->o, load);
    if (op_attr(load, AT_AT)) pending_scratch(&y->o, load, SYNC_WITHIN);
}

/* Do all threads of the group arrive, each behind what it did itself? */
static bool arrives_whole(const Sync *y, const Op *arrive) {
    const PassContext *cx = y->o.s->cx;
    int64_t threads = (int64_t)cx->machine->lanes * layout_group_of(cx, y->k, arrive).warps;
    return op_int(arrive, AT_ARRIVALS, 1) % threads == 0;
}

/* As written; the block meets before and behind, and each worker orders what it does itself. */
static void run_workers(Sync *y, Op *spmd) {
    pending_meet(&y->o, spmd);
    if (spmd->region_count < 2) return;
    Pending before = y->o.now, all = before;
    for (int r = 0; r < spmd->region_count; r++) {
        y->o.now = before;
        run_region(y, spmd->regions[r]);
        all.in_flight |= y->o.now.in_flight, all.untold |= y->o.now.untold, all.by_threads |= y->o.now.by_threads;
        all.of_one |= y->o.now.of_one, all.of_groups |= y->o.now.of_groups, all.unread |= y->o.now.unread;
    }
    if (all.in_flight) all.flying = NULL;
    y->o.now = all;
}

static void run_tasks(Sync *y, Op *tasks);

static void run_op(Sync *y, Op *op) {
    Order *o = &y->o;
    switch (op->code) {
    case OP_TASKS: run_tasks(y, op); return;
    case OP_FOR: run_for(y, op); return;
    case OP_WHILE: run_while(y, op); return;
    case OP_IF: run_if(y, op); return;
    case OP_ACQUIRE: run_acquire(y, op); return;
    case OP_PUT: run_put(y, op); return;
    case OP_WAIT:
        if (ring_runs_ahead(ring_of(y, op))) catch_up(y, op);
        return;
    case OP_GET:
        if (is_buffer(ring_of(y, op))) pending_read(o, op, SYNC_BEFORE);
        return;
    case OP_RELEASE: run_release(y, op); return;
    case OP_CONVERT: run_convert(y, op); return;
    case OP_DOT: run_dot(y, op); return;
    case OP_LOAD: run_load(y, op); return;
    case OP_TLOAD:
        if (op_word(op, AT_MOVER, MOVER_LANES) == MOVER_LANES) pending_load(o, op);
        return;
    case OP_STORE: pending_store(o, op); return;
    case OP_TSTORE:
        if (op_word(op, AT_MOVER, MOVER_LANES) == MOVER_LANES)
            pending_store(o, op);
        else
            run_store_beside(y, op);
        return;
    case OP_TATOMIC:
    case OP_ATOMIC:
    case OP_ATOMIC_CAS: run_atomic(y, op); return;
    case OP_BLOAD:
        if (!schedule_in_shared(y->k, op->results[0])) pending_read(o, op, SYNC_BEFORE); /* a view its product reads */
        return;
    case OP_BSTORE:
        pending_keep(o, op);
        if (schedule_read_beside(o->s, op->operands[0])) pending_show(o);
        return;
    case OP_SPMD: run_workers(y, op); return;
    case OP_BAR_ARRIVE:
        if (arrives_whole(y, op))
            pending_tell(o, op);
        else
            pending_meet(o, op);
        return;
    case OP_BAR:
    case OP_BAR_EXPECT: pending_meet(o, op); return;
    case OP_ASM_ACT: /* it may read and write what other threads write and read: they meet before it and behind */
    case OP_SYNC: pending_meet(o, op); return;
    case OP_TENSOR: /* a map that is made: one thread's affair */
    case OP_BUF:
    case OP_RING: return;
    case OP_REDUCE:
        if (op_attr(op, AT_AT) && !op->region_count) {
            pending_reduce(o, op);
            return;
        }
        break;
    default: break;
    }
    if (op_attr(op, AT_AT)) pending_scratch(o, op, SYNC_BEFORE);
}

/* --- roles --- */
static void run_header(Sync *y, const Op *tasks, const Op *role) {
    const bool *uses = header_uses(y->k, y->o.s->arena, tasks, role, REF_NONE);
    for (Op *op = tasks_body(tasks)->first; op; op = op->next)
        if (header_has(uses, op)) run_op(y, op);
}

/* A worker without a program passes all items by. */
static void run_gang(Sync *y, const Op *tasks, const Op *role) {
    const Region *body = role->regions[0];
    Pending before = y->o.now;
    y->together = gang_loop(role);
    run_header(y, tasks, role);
    run_region(y, body);
    Pending after = y->o.now;
    y->o.now = before;
    for (Op *op = body->first; op; op = op->next)
        if (op == y->together)
            pass_trips(y);
        else if (op->code == OP_WAIT || op->code == OP_RELEASE)
            run_op(y, op);
    pending_join(&y->o, after);
}

static void run_role(Sync *y, const Op *tasks, Op *role) {
    Schedule *s = y->o.s;
    const Op *feeder = role_feeder(y->k, tasks, role);
    y->o.now = (Pending){.reads = y->persist, .writes = y->persist};
    y->o.alone = op_flag(role, AT_ELECT);
    y->ahead = feeder ? feeder->regions[0]->first : NULL;
    y->filled = ARENA_ARRAY(s->arena, int, s->k->values.count);
    y->in_gang = op_int(tasks, AT_GANG, 1) > 1 && !op_int(role, AT_FIRST, 0);
    y->stores_beside = false;
    if (y->in_gang) {
        run_gang(y, tasks, role);
    } else {
        run_header(y, tasks, role);
        run_region(y, role->regions[0]);
    }
    if (!y->o.proves && y->stores_beside) op_set(s->k, role, (Attr){.id = AT_LANDS, .number = 1});
    if (y->o.proves && !s->failed && op_flag(role, AT_LANDS) != y->stores_beside)
        schedule_fail(s, role, "a role ends when the stores that it issued beside its threads have landed (`lands`)");
}

static void run_tasks(Sync *y, Op *tasks) {
    if (tasks->region_count > 1) return; /* a template's own loop, which no emitter of text takes */
    y->persist = op_flag(tasks, AT_PERSIST);
    for (Op *role = role_first(tasks); role; role = role_next(role))
        if (!role_is_guest(role)) run_role(y, tasks, role);
}

static bool ring_read_beside(const Schedule *s, const Region *region, Ref ring) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_GET && hand_ring(s->k, op) == ring && schedule_read_beside(s, op->results[0])) return true;
        for (int i = 0; i < op->region_count; i++)
            if (ring_read_beside(s, op->regions[i], ring)) return true;
    }
    return false;
}

/* What threads copy into a ring is shown to those who read it beside the threads. */
static void run_rings(Schedule *s, bool proves) {
    for (Op *op = s->k->body->first; op; op = op->next) {
        if (op->code != OP_RING) continue;
        bool shows = ring_runs_ahead(op) && ring_read_beside(s, s->k->body, op->results[0]);
        if (!proves && shows) op_set(s->k, op, (Attr){.id = AT_PROXY, .word = PROXY_SHARED});
        if (proves && !s->failed && op_word(op, AT_PROXY, WORD_NONE) != (shows ? PROXY_SHARED : WORD_NONE))
            schedule_fail(s, op,
                          "what threads copy into it is shown to those who read it beside them (`proxy=shared`)");
    }
}

/* Was a barrier new? */
static bool write_marks(Schedule *s) {
    Sync y = {.o = {.s = s}, .k = s->k};
    run_rings(s, false);
    run_region(&y, s->k->body);
    return y.o.new_barrier;
}

static void drop_marks(Op *op, void *user) {
    (void)user;
    static const AttrId marks[] = {AT_SYNC, AT_PROXY, AT_SETTLES, AT_LANDS, AT_DRAINS};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) op_drop(op, marks[i]);
}

static void drop_shown(Op *op, void *user) {
    (void)user;
    op_drop(op, AT_PROXY);
}

/* Where an op is written more than once, a barrier that its second place asked for stands at the first one too, and
 * has to show what is hidden there: until no barrier is new, all is run through again, with those that stand. */
void schedule_sync(Schedule *s) {
    ir_walk(s->k->body, drop_marks, NULL);
    do ir_walk(s->k->body, drop_shown, NULL);
    while (write_marks(s));
}

bool schedule_sync_holds(Schedule *s) {
    Sync y = {.o = {.s = s, .proves = true}, .k = s->k};
    run_rings(s, true);
    run_region(&y, s->k->body);
    return pending_done(&y.o);
}
