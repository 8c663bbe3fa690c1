/* SPDX-License-Identifier: Apache-2.0 */
/* pending.c: see pending.h. */
#include "pass/schedule/pending.h"

#include "ir/roots.h"
#include "pass/schedule/text_order.h"

/* --- what is asked of an op --- */
enum { BEFORE = 1, WITHIN = 2, SHOWN = 4, TOLD = 8, SETTLED = 16, LANDED = 32, DRAINED = 64 };

static void ask(Order *o, const Op *op, unsigned what) {
    MapEntry *entry = map_find_number(&o->asked, (uintptr_t)op);
    uintptr_t all = (entry ? (uintptr_t)entry->value : 0) | what;
    map_put_number(&o->asked, o->s->arena, (uintptr_t)op, (void *)all);
}

static void refuse(Order *o, const Op *op, const char *why) {
    if (o->proves && !o->s->failed) schedule_fail(o->s, op, why);
}

/* A flag that has to stand where something is needed; does it? */
static bool flagged(Order *o, Op *op, AttrId id, unsigned what, bool needed, const char *why) {
    if (needed) ask(o, op, what);
    if (needed && !o->proves) {
        o->new_barrier |= id == AT_LANDS && !op_flag(op, id);
        op_set(o->s->k, op, (Attr){.id = id, .number = 1});
    }
    if (needed && !op_flag(op, id)) refuse(o, op, why);
    return op_flag(op, id);
}

/* A word of two that may stand together; does it? */
static bool worded(Order *o, Op *op, AttrId id, Word word, Word both, bool needed, const char *why) {
    Word old = op_word(op, id, WORD_NONE);
    bool stands = old == word || old == both;
    if (!needed || stands) return stands;
    refuse(o, op, why);
    if (o->proves) return false;
    op_set(o->s->k, op, (Attr){.id = id, .word = old ? both : word});
    o->new_barrier |= id == AT_SYNC;
    return true;
}

/* --- barriers --- */
static void met(Order *o, const Op *op) {
    Pending *now = &o->now;
    if (o->alone) refuse(o, op, "one thread runs the role: it cannot wait for others of its group");
    now->writes = now->kept = now->hidden = now->stores = false;
    now->reads = o->dot_reads;
    now->scratch = NULL;
    now->loaded = now->stored = now->numbers = now->combined = now->untold = 0;
    now->own_count = now->box_count = 0;
    if (!now->in_flight) now->of_one = now->of_groups = false;
}

void pending_tell(Order *o, Op *op) {
    if (o->now.hidden) ask(o, op, SHOWN);
    worded(o, op, AT_PROXY, PROXY_SHARED, PROXY_BOTH, o->now.hidden,
           "threads wrote shared memory that other units read: its first barrier shows it (`proxy=shared`)");
    o->now.hidden = false;
}

void pending_meet(Order *o, Op *op) {
    pending_tell(o, op);
    met(o, op);
}

void pending_meet_shown(Order *o, Op *op) { met(o, op); }

static void meet_at(Order *o, Op *op, Word where, bool needed, const char *why) {
    ask(o, op, where == SYNC_BEFORE ? BEFORE : WITHIN);
    if (worded(o, op, AT_SYNC, where, SYNC_BOTH, needed, why)) pending_meet(o, op);
}

/* --- ways that meet --- */
static uint64_t roots(Order *o, const Op *op);

/* A load of which each thread took elements of its own; one that finds no room is any load. */
static void take(Order *o, const Op *load) {
    Pending *now = &o->now;
    for (int i = 0; i < now->own_count; i++)
        if (now->own[i] == load) return;
    if (now->own_count < PENDING_OWN)
        now->own[now->own_count++] = load;
    else
        now->loaded |= roots(o, load);
}

/* What was written on either way. */
static void join_boxes(Pending *now, const Pending *p) {
    int known = now->box_count, more = p->box_count;
    if (!p->writes) return;
    if (now->writes && (!known || !more || known + more > PENDING_BOXES)) more = known = 0;
    if (!now->writes) known = 0;
    for (int i = 0; i < more; i++) now->boxes[known + i] = p->boxes[i];
    now->box_count = known + more;
}

void pending_join(Order *o, Pending p) {
    Pending *now = &o->now;
    join_boxes(now, &p);
    if (now->scratch != p.scratch) now->scratch = NULL;
    if (!now->in_flight)
        now->flying = p.flying;
    else if (p.in_flight && p.flying != now->flying)
        now->flying = NULL;
    now->reads |= p.reads, now->writes |= p.writes, now->kept |= p.kept, now->hidden |= p.hidden;
    now->stores |= p.stores, now->unread |= p.unread, now->of_one |= p.of_one, now->of_groups |= p.of_groups;
    now->loaded |= p.loaded, now->stored |= p.stored, now->combined |= p.combined, now->numbers |= p.numbers;
    now->in_flight |= p.in_flight, now->untold |= p.untold, now->by_threads |= p.by_threads;
    for (int i = 0; i < p.own_count; i++) take(o, p.own[i]);
}

/* Does it use shared memory of its own, or of a buffer between barriers? */
static bool uses_shared(const Order *o, const Op *op) {
    if (op->code == OP_PUT || op->code == OP_GET) return ring_is_fused(hand_ring_op(o->s->k, op));
    return op_attr(op, AT_AT) || op->code == OP_BLOAD || op->code == OP_BSTORE;
}

/* Does it read what another op has put there? */
static bool reads_shared(const Order *o, const Op *op) {
    if (op->code == OP_DOT) return dot_reads_scratch(o->s->k, op);
    return op->code == OP_CONVERT && schedule_in_shared(o->s->k, op->operands[0]);
}

static void enter_region(Order *o, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        bool uses = uses_shared(o, op), reads = uses || reads_shared(o, op);
        if (reads) o->now.scratch = NULL;
        if (uses) o->now.box_count = 0;
        o->now.reads |= reads, o->now.writes |= uses && op->code != OP_BLOAD, o->now.kept |= op->code == OP_BSTORE;
        if (op->code == OP_BSTORE && schedule_read_beside(o->s, op->operands[0])) pending_show(o);
        pending_mark(o, op);
        for (int i = 0; i < op->region_count; i++) enter_region(o, op->regions[i]);
    }
}

void pending_enter_loop(Order *o, const Op *loop) {
    for (int i = 0; i < loop->region_count; i++) enter_region(o, loop->regions[i]);
}

/* --- shared memory --- */
static const char still_read[] =
    "other threads may still read, or write, the shared memory that it writes: a barrier stands before that (`sync`)";
static const char not_written[] =
    "other threads have written the shared memory that it reads: a barrier stands before that (`sync`)";

static void settle(Order *o, Op *op) {
    flagged(o, op, AT_SETTLES, SETTLED, o->dot_flies,
            "a product in flight may read the shared memory that it writes: it is waited for (`settles`)");
    o->dot_reads = false;
}

void pending_refill(Order *o, Op *op) {
    flagged(o, op, AT_SETTLES, SETTLED, o->dot_flies,
            "a product in flight may read the registers of its left operand: it is waited for (`settles`)");
}

void pending_write(Order *o, Op *op, Word where) {
    settle(o, op);
    meet_at(o, op, where, o->now.reads || o->now.kept, still_read);
    o->now.writes = true;
    o->now.box_count = 0;
}

/* Have the boxes of two buffers, or of one, no byte in common, whatever a launch brings? */
static bool boxes_apart(const Order *o, const Op *a, const Op *b) {
    const Kernel *k = o->s->k;
    const Op *first = ir_value(k, a->operands[0])->op, *second = ir_value(k, b->operands[0])->op;
    if (first != second) {
        int64_t from = op_int(first, AT_AT, 0), other = op_int(second, AT_AT, 0);
        return from + op_int(first, AT_BYTES, 0) <= other || other + op_int(second, AT_BYTES, 0) <= from;
    }
    const Type *whole = ir_type(k, a->operands[0]), *one = ir_type(k, op_operand(a, 1)),
               *two = ir_type(k, op_operand(b, 1));
    for (int d = 0; d < whole->rank; d++) {
        int i = d - (whole->rank - one->rank), j = d - (whole->rank - two->rank);
        int64_t from, other, extent = i < 0 ? 1 : one->extent[i], wide = j < 0 ? 1 : two->extent[j];
        if (!ir_const_int(k, op_list(a, 0).at[d], &from) || !ir_const_int(k, op_list(b, 0).at[d], &other)) continue;
        if (from < 0 || other < 0 || from + extent > whole->extent[d] || other + wide > whole->extent[d]) continue;
        if (from + extent <= other || other + wide <= from) return true;
    }
    return false;
}

static bool boxes_meet(const Order *o, const Op *store) {
    const Pending *now = &o->now;
    if (!now->writes) return false;
    for (int i = 0; i < now->box_count; i++)
        if (!boxes_apart(o, now->boxes[i], store)) return true;
    return !now->box_count;
}

void pending_keep(Order *o, Op *op) {
    settle(o, op);
    meet_at(o, op, SYNC_BEFORE, o->now.reads || boxes_meet(o, op), still_read);
    bool known = !o->now.writes || (o->now.box_count && o->now.box_count < PENDING_BOXES);
    if (!o->now.writes) o->now.box_count = 0;
    if (known) o->now.boxes[o->now.box_count++] = op;
    if (!known) o->now.box_count = 0;
    o->now.writes = o->now.kept = true;
}

void pending_read(Order *o, Op *op, Word where) {
    meet_at(o, op, where, o->now.writes, not_written);
    o->now.reads = true;
    o->now.scratch = NULL;
}

void pending_copy(Order *o, Op *op) { meet_at(o, op, SYNC_BEFORE, o->now.reads, still_read); }

void pending_scratch(Order *o, Op *op, Word where) {
    pending_write(o, op, where);
    pending_meet(o, op);
    o->now.reads = true;
}

/* Does the op's scratch lie apart from the only one that was read since the last barrier? */
static bool lies_apart(const Order *o, const Op *op) {
    const Op *read = o->now.scratch;
    if (!read) return false;
    int64_t mine = op_int(op, AT_AT, 0), other = op_int(read, AT_AT, 0);
    return mine + op_int(op, AT_BYTES, 0) <= other || other + op_int(read, AT_BYTES, 0) <= mine;
}

void pending_reduce(Order *o, Op *op) {
    if (lies_apart(o, op) && o->now.reads && !o->dot_flies)
        meet_at(o, op, SYNC_BEFORE, false, NULL);
    else
        pending_write(o, op, SYNC_BEFORE);
    pending_meet(o, op);
    o->now.scratch = o->now.reads ? NULL : op;
    o->now.reads = true;
}

void pending_show(Order *o) { o->now.hidden |= o->s->cx->machine->async_proxy; }

/* --- global memory --- */
static bool is_memory(const Type *type) { return type->kind == TY_TENSOR || (type->kind == TY_TILE && type->pointer); }

/* Arrays are bits, in the order of the parameters; all from the last one on share it. */
enum { BIT_COUNT = 64 };

static const Arrays *arrays_of(Order *o) {
    const Kernel *k = o->s->k;
    Arena *arena = o->s->arena;
    if (o->arrays) return o->arrays;
    int count = k->body->arg_count, next = 0;
    Arrays *all = ARENA_NEW(arena, Arrays);
    all->bit = ARENA_ARRAY(arena, int, (size_t)count + 1);
    all->apart = ARENA_ARRAY(arena, uint64_t, BIT_COUNT);
    for (int i = 0; i < count; i++) {
        all->bit[i] = next;
        next += is_memory(ir_type(k, k->body->args[i])) && next < BIT_COUNT - 1;
    }
    const bool *promised = roots_promises(k, arena);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (promised[i * count + j] && all->bit[i] < BIT_COUNT - 1 && all->bit[j] < BIT_COUNT - 1)
                all->apart[all->bit[i]] |= 1ull << all->bit[j];
    return o->arrays = all;
}

/* The arrays that the access may go through; all bits where that is not known. */
static uint64_t roots(Order *o, const Op *op) {
    const Kernel *k = o->s->k;
    int count = k->body->arg_count;
    Ref pointer = op->operands[0];
    MapEntry *entry = map_find_number(&o->roots, pointer);
    if (entry) return *(uint64_t *)entry->value;
    uint64_t *bits = ARENA_NEW(o->s->arena, uint64_t);
    bool *set = ARENA_ARRAY(o->s->arena, bool, (size_t)count + 1);
    if (!roots_of(k, o->s->arena, pointer, set)) *bits = UINT64_MAX;
    for (int i = 0; i < count; i++)
        if (set[i]) *bits |= 1ull << arrays_of(o)->bit[i];
    map_put_number(&o->roots, o->s->arena, pointer, bits);
    return *bits;
}

/* The arrays that it may concern, through whichever it goes: all that nobody promised to be apart. */
static uint64_t concerned(Order *o, const Op *op) {
    uint64_t bits = roots(o, op), all = 0;
    for (int i = 0; i < BIT_COUNT; i++)
        if (bits >> i & 1) all |= ~arrays_of(o)->apart[i];
    return all;
}

/* Is it an access to global memory? Others read and write buffers and slots. */
static bool is_global(const Order *o, const Op *op) {
    if (!op->operand_count || !ref_is_value(op->operands[0])) return false;
    return is_memory(ir_type(o->s->k, op->operands[0])) &&
           (op_has(op->code, TRAIT_READS) || op_has(op->code, TRAIT_WRITES));
}

static bool goes_beside(const Op *op) {
    return op->code == OP_TSTORE && op_word(op, AT_MOVER, MOVER_LANES) == MOVER_TMA;
}

/* Does each warpgroup issue its own rows of it? Otherwise one thread issues all. */
static bool is_of_groups(const Order *o, const Op *store) {
    Ref value = op_operand(store, 1);
    const Op *get = ref_is_value(value) ? ir_value(o->s->k, value)->op : NULL;
    return get && get->code == OP_GET && op_attr(hand_ring_op(o->s->k, get), AT_SOLO);
}

/* Does the first thread of the program store it, a number? Threads that a kernel writes store each for itself. */
static bool stores_number(const Order *o, const Op *op) {
    if (op->code != OP_STORE && op->code != OP_TSTORE) return false;
    for (const Op *owner = op->parent->owner; owner; owner = owner->parent->owner)
        if (owner->code == OP_SPMD) return false;
    return ty_is_scalar(ir_type(o->s->k, op_operand(op, 1)));
}

void pending_mark(Order *o, const Op *op) {
    Pending *now = &o->now;
    if (!is_global(o, op)) return;
    if (goes_beside(op)) {
        now->flying = now->in_flight ? NULL : op;
        now->in_flight |= roots(o, op);
        *(is_of_groups(o, op) ? &now->of_groups : &now->of_one) = true;
        return;
    }
    if (!op_has(op->code, TRAIT_WRITES)) {
        now->loaded |= roots(o, op);
        return;
    }
    if (op_has(op->code, TRAIT_READS))
        now->combined |= roots(o, op);
    else if (stores_number(o, op))
        now->numbers |= roots(o, op);
    else
        now->stored |= roots(o, op);
    now->stores = true;
    now->by_threads |= roots(o, op);
}

/* An offset as what it is counted from (REF_NONE: 0) and how much more. */
static Ref offset_base(const Kernel *k, Ref offset, int64_t *more) {
    if (ir_const_int(k, offset, more)) return REF_NONE;
    const Op *add = ref_is_value(offset) ? ir_value(k, offset)->op : NULL;
    *more = 0;
    if (!add || add->code != OP_ADD || !ir_const_int(k, add->operands[1], more)) return offset;
    return add->operands[0];
}

/* Do the two store boxes of one matrix that have no element in common? (The offset of the first has not changed since:
 * all that a loop stores is in flight when it begins, so `flying` is a store of this trip.) */
static bool stores_apart(Order *o, const Op *a, const Op *b) {
    const Kernel *k = o->s->k;
    if (!a || a == b || b->code != OP_TSTORE || !goes_beside(b) || a->operands[0] != b->operands[0]) return false;
    TensorParts parts = fact_tensor(&o->s->facts, a->operands[0]);
    if (!fact_wish_rows_apart(&o->s->facts, &parts)) return false;
    const Type *first = ir_type(k, op_operand(a, 1)), *second = ir_type(k, op_operand(b, 1));
    for (int d = 0; d < parts.rank; d++) {
        int64_t from, to;
        int i = box_axis(a, parts.rank, first->rank, d), j = box_axis(b, parts.rank, second->rank, d);
        Ref base = offset_base(k, op_list(a, 0).at[d], &from), other = offset_base(k, op_list(b, 0).at[d], &to);
        if (base != other || i < 0 || j < 0) continue;
        if (to - from >= first->extent[i] || from - to >= second->extent[j]) return true;
    }
    return false;
}

/* Stores beside the threads have no order of their own: before another access of the same memory they must have landed,
 * before a release all of them. The thread that issued them waits, and the next barrier tells the others. Is there
 * something to tell them of? */
static bool land(Order *o, Op *op, bool releases) {
    uint64_t met = releases ? UINT64_MAX : concerned(o, op);
    if (!releases && o->now.in_flight && stores_apart(o, o->now.flying, op)) met = 0;
    bool lands = flagged(o, op, AT_LANDS, LANDED, o->now.in_flight & met,
                         "a store that runs beside the threads may not have reached the memory yet (`lands`)");
    if (lands) {
        o->now.untold |= o->alone ? 0 : o->now.in_flight;
        o->now.in_flight = 0;
    }
    return lands || (o->now.untold & met);
}

static const char reached[] =
    "other threads have stored, or still load, what it reaches: a barrier stands before it (`sync`)";

/* --- what is loaded, changed and stored again, each element by one thread --- */
/* Does each thread move elements of the box that no other moves? Not words around them (`batch`). */
static bool is_of_threads(const Order *o, const Op *op, Ref value) {
    const Layout *layout = ref_is_value(value) ? schedule_layout(o->s->k, value) : NULL;
    return layout && layout->home == HOME_REGISTERS && ll_injective(&layout->map) && !op_attr(op, AT_BATCH);
}

/* Does each thread store where it alone has loaded? */
static bool stores_own(Order *o, const Op *load, const Op *store) {
    const Kernel *k = o->s->k;
    if (!layout_same_box(k, load, store) || !is_of_threads(o, store, op_operand(store, 1))) return false;
    const Layout *from = schedule_layout(k, load->results[0]), *to = schedule_layout(k, op_operand(store, 1));
    return ll_equal(&from->map, &to->map) && layout_lies_once(&o->s->facts, store, ir_type(k, load->results[0]));
}

/* What one thread stored another may load, if the arrays are not promised to be apart; behind an atomic, which may have
 * taken a lock, from any. */
void pending_load(Order *o, Op *op) {
    bool tells = land(o, op, false);
    uint64_t stored = o->now.stored | o->now.numbers;
    meet_at(o, op, SYNC_BEFORE, tells || o->now.combined || (stored & concerned(o, op)), reached);
    if (op->code == OP_TLOAD && is_of_threads(o, op, op->results[0]))
        take(o, op);
    else
        pending_mark(o, op);
}

/* What other threads still load. */
static bool is_loaded(Order *o, const Op *op) {
    bool loaded = o->now.loaded & concerned(o, op);
    for (int i = 0; i < o->now.own_count && !loaded; i++)
        loaded = (roots(o, o->now.own[i]) & concerned(o, op)) && !stores_own(o, o->now.own[i], op);
    return loaded;
}

/* What other threads still load, or have stored, in the same memory is not overtaken. */
static bool is_overtaken(Order *o, const Op *op) {
    bool plain = !op_has(op->code, TRAIT_READS);
    uint64_t others = o->now.stored | (plain ? o->now.combined : 0) | (stores_number(o, op) ? 0 : o->now.numbers);
    return (others & concerned(o, op)) || is_loaded(o, op);
}

void pending_store(Order *o, Op *op) {
    bool tells = land(o, op, false);
    meet_at(o, op, SYNC_BEFORE, tells || is_overtaken(o, op), reached);
    pending_mark(o, op);
}

/* Before a release, what any thread of the program wrote is there. */
void pending_combine(Order *o, Op *op) {
    Word sem = op_word(op, AT_SEM, SEM_ACQ_REL);
    bool releases = sem == SEM_RELEASE || sem == SEM_ACQ_REL, tells = land(o, op, releases);
    meet_at(o, op, SYNC_BEFORE, tells || is_overtaken(o, op) || (releases && o->now.stores), reached);
}

/* What it may meet has landed, which the thread that issues it knows if it issued that too; what threads wrote there is
 * seen, and what they still load there is not overtaken. */
void pending_store_beside(Order *o, Op *op) {
    static const char why[] =
        "threads wrote the memory that it stores to by itself: they show it (`proxy=global`), and meet (`sync`)";
    bool of_others = is_of_groups(o, op) ? o->now.of_one : o->now.of_groups;
    bool waits = land(o, op, false) && of_others;
    bool tells = o->now.by_threads & concerned(o, op);
    if (tells) ask(o, op, TOLD);
    worded(o, op, AT_PROXY, PROXY_GLOBAL, PROXY_BOTH, tells, why);
    waits |= !o->alone && is_loaded(o, op);
    meet_at(o, op, SYNC_BEFORE, tells || waits, tells ? why : reached);
    if (tells) o->now.by_threads = 0;
}

/* --- stores beside the threads --- */
void pending_drain(Order *o, Op *op, bool meet) {
    static const char why[] = "a store that runs beside the threads may still read the slot (`drains`, and `sync`)";
    flagged(o, op, AT_DRAINS, DRAINED, true, why);
    if (meet) {
        meet_at(o, op, SYNC_BEFORE, true, why);
    } else { /* the put behind it */
        o->now.reads = true;
        o->now.scratch = NULL;
    }
}

/* --- what nobody asked for --- */
static void check_op(Op *op, void *user) {
    Order *o = user;
    MapEntry *entry = map_find_number(&o->asked, (uintptr_t)op);
    unsigned asked = entry ? (unsigned)(uintptr_t)entry->value : 0, written = 0;
    Word sync = op_word(op, AT_SYNC, WORD_NONE), proxy = op_word(op, AT_PROXY, WORD_NONE);
    if (sync == SYNC_BEFORE || sync == SYNC_BOTH) written |= BEFORE;
    if (sync == SYNC_WITHIN || sync == SYNC_BOTH) written |= WITHIN;
    if (op->code != OP_RING && (proxy == PROXY_SHARED || proxy == PROXY_BOTH)) written |= SHOWN;
    if (op->code != OP_RING && (proxy == PROXY_GLOBAL || proxy == PROXY_BOTH)) written |= TOLD;
    if (op_flag(op, AT_SETTLES)) written |= SETTLED;
    if (op->code != OP_ROLE && op_flag(op, AT_LANDS)) written |= LANDED;
    if (op_flag(op, AT_DRAINS)) written |= DRAINED;
    if (written & ~asked & (BEFORE | WITHIN))
        refuse(o, op, "`sync` stands on ops that touch memory, at a place where they do");
    else if (written & ~asked)
        refuse(o, op, "`proxy`, `settles`, `lands` and `drains` stand where something is to be shown or waited for");
}

bool pending_done(Order *o) {
    ir_walk(o->s->k->body, check_op, o);
    return !o->s->failed;
}
