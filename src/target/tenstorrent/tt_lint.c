/* SPDX-License-Identifier: Apache-2.0 */
/* tt_lint.c: the rules of a Tensix core, proved of the three kernels of a plan, on their typed calls.
 *
 * Walks each kernel with what is known at each place:
 *
 *     circular buffers    reserve -> fill .. -> push, wait -> read .. -> pop, each by the role at that end, one item at
 *                         a time; parts of an item that are pushed, or waited for, add up to it, by the trips of the
 *                         loops around them; pages are a whole number of items (the lap rule); a CB of compute's own is
 *                         waited for when something was pushed; an arm of an `if` and the body of a loop leave every CB
 *                         as they found it
 *     buffers             what moves in pages lies in pages, what moves element by element does not (tt_buffer.c)
 *     the NoC             what is read is waited for before it is pushed or sent, what is written before it is popped;
 *                         what cores share is sent before it is pushed
 *     DST                 acquire -> calls -> commit -> wait -> pack -> release; slots below the capacity; what the
 * SFPU
 *                         reads and the packer takes was written
 *     setup               the last init is that of the call; registers have the formats of its CBs
 *
 * By the rule of arms and bodies the state at a place does not depend on the way to it: on trip counts, 0 among them,
 * or
 * on conditions. So for the CBs of rings compute waits and pops as often as the IR waits and releases, which
 * ring_check.c has proved against the other roles; items of index tiles go with those (tt_index.c); and nothing waits
 * for a page that never comes. Steps that break a rule are a mistake of the planner, found here, and refused instead of
 * run. */
#include "target/tenstorrent/tt_emit.h"

/* One bit a CB in each set. */
typedef struct State {
    uint64_t reserved, pushed, waited; /* an item is; pushed: by compute itself and not yet waited for */
    uint32_t part[64];                 /* by id: pages of an item that were pushed, or waited for, in parts so far */
    uint64_t reading, writing;         /* NoC transactions may be under way */
    uint64_t asked, sent, shown, taken; /* by and to the cores that share it, since it was reserved */
    TtDstStep dst;                     /* the last step; DST_RELEASE: free */
    uint32_t written;                  /* slots, since acquire; somewhere on the way */
    TtInit init;                       /* UNIT_NONE: not known */
    int format[REG_COUNT];             /* -1: not known */
    int pointer;                       /* the CB whose pages are being moved */
} State;

typedef struct Lint {
    Tt *tt;
    int kernel;
    State now;
    bool quiet; /* a first look at a loop: what may come from its end */
} Lint;

static uint64_t bit_of(const Lint *l, int cb) { return 1ull << l->tt->plan->cbs.at[cb].desc.id; }
static const char *name_of(const Lint *l, int cb) { return l->tt->plan->cbs.at[cb].name; }
static bool is_inner(const TtCb *cb) { return cb->from == ROLE_COMPUTE && cb->to == ROLE_COMPUTE; }

static void broken(Lint *l, const TtStep *step, const char *of, const char *rule) {
    /* After an error the steps are harmless, not right. */
    if (l->quiet || l->tt->cx->module->diag->errors) return;
    tt_refuse(l->tt, step ? step->op : NULL, "%s could not be proved to keep the rules of a core: %s%s%s"
                                             FIX "use target "
                                             "cpu",
              l->tt->plan->file[l->kernel], of, *of ? ": " : "", rule);
}
static void broken_cb(Lint *l, const TtStep *step, int cb, const char *rule) { broken(l, step, name_of(l, cb), rule); }

/* ----------------------------------------------------------------------------------------------- circular buffers */

static void check_end(Lint *l, const TtStep *step) {
    static const Word roles[] = {[TENSIX_READER] = ROLE_LOAD, [TENSIX_WRITER] = ROLE_STORE,
                                 [TENSIX_COMPUTE] = ROLE_COMPUTE};
    const TtCb *cb = &l->tt->plan->cbs.at[step->cb];
    bool is_producer = step->hand == CB_RESERVE || step->hand == CB_PUSH;
    if ((is_producer ? cb->from : cb->to) != roles[l->kernel])
        broken_cb(l, step, step->cb, is_producer ? "its producer is another role" : "its consumer is another role");
}

/* So many pages of an item in hand were pushed, or waited for; with the last one the item is. */
static void count_part(Lint *l, const TtStep *step, int cb, uint64_t pages) {
    const TtCb *desc = &l->tt->plan->cbs.at[cb];
    uint32_t *part = &l->now.part[desc->desc.id];
    uint64_t bit = bit_of(l, cb);
    if (*part + pages > desc->item_pages) broken_cb(l, step, cb, "its parts are more than an item");
    *part = *part + pages < desc->item_pages ? *part + (uint32_t)pages : 0;
    if (*part) return;
    if (l->now.reserved & bit)
        l->now.reserved &= ~bit;
    else
        l->now.waited |= bit;
}

static void hand(Lint *l, const TtStep *step) {
    int cb = step->cb;
    const TtCb *desc = &l->tt->plan->cbs.at[cb];
    bool inner = is_inner(desc), own = desc->from == desc->to;
    uint64_t bit = bit_of(l, cb);
    State *s = &l->now;
    check_end(l, step);
    switch (step->hand) {
    case CB_RESERVE:
        if (s->reserved & bit) broken_cb(l, step, cb, "it is reserved twice");
        if (inner && (s->pushed | (desc->slots < 2 ? s->waited : 0)) & bit) broken_cb(l, step, cb, "it is still full");
        s->reserved |= bit;
        s->asked &= ~bit;
        s->sent &= ~bit;
        s->shown &= ~bit;
        s->taken &= ~bit;
        return;
    case CB_PUSH:
        if (!(s->reserved & bit)) broken_cb(l, step, cb, "it is pushed and was not reserved");
        if (s->reading & bit) broken_cb(l, step, cb, "it is pushed before its reads are waited for");
        if (desc->share != SHARE_NONE && !(s->taken & bit))
            broken_cb(l, step, cb, "it is pushed before it is shared");
        if (step->part) {
            count_part(l, step, cb, step->part);
            return;
        }
        if (s->part[desc->desc.id]) broken_cb(l, step, cb, "it is pushed and parts of it were");
        s->reserved &= ~bit;
        if (own) s->pushed |= bit;
        return;
    case CB_WAIT:
        if ((s->waited & bit) || (!step->part && s->part[desc->desc.id]))
            broken_cb(l, step, cb, "it is waited for twice");
        if (own && !(s->pushed & bit)) broken_cb(l, step, cb, "nothing was pushed");
        s->pushed &= ~bit;
        if (step->part)
            count_part(l, step, cb, step->part);
        else
            s->waited |= bit;
        return;
    case CB_POP:
        if (!(s->waited & bit)) broken_cb(l, step, cb, "it is popped and was not waited for");
        if (s->writing & bit) broken_cb(l, step, cb, "it is popped before its writes are waited for");
        s->waited &= ~bit;
        return;
    }
}

static void reads(Lint *l, const TtStep *step, int cb) {
    bool is_there = l->now.waited & bit_of(l, cb) || l->now.part[l->tt->plan->cbs.at[cb].desc.id];
    if (!is_there) broken_cb(l, step, cb, "it is read and was not waited for");
}
static void fills(Lint *l, const TtStep *step, int cb) {
    if (!(l->now.reserved & bit_of(l, cb))) broken_cb(l, step, cb, "it is filled and was not reserved");
}

/* A step of a group of cores, for the items of it that are reserved: after which one, and which it is. */
static void share_group(Lint *l, const TtStep *step, uint64_t before, uint64_t *now, const char *rule) {
    const TtPlan *plan = l->tt->plan;
    fills(l, step, step->cb);
    for (size_t i = 0; i < plan->cbs.count; i++) {
        uint64_t bit = bit_of(l, (int)i);
        if (plan->cbs.at[i].share != plan->cbs.at[step->cb].share || !(l->now.reserved & bit)) continue;
        if (!(before & bit)) broken_cb(l, step, (int)i, rule);
        *now |= bit;
    }
}

static void share(Lint *l, const TtStep *step) {
    fills(l, step, step->cb);
    if (!(l->now.asked & bit_of(l, step->cb))) broken_cb(l, step, step->cb, "it is sent and nobody has asked for it");
    if (l->now.reading & bit_of(l, step->cb)) broken_cb(l, step, step->cb,
                                                        "it is sent before its reads are waited for");
    l->now.sent |= bit_of(l, step->cb);
}

static void copy(Lint *l, const TtStep *step) {
    fills(l, step, step->cb);
    fills(l, step, step->cb2);
    if (l->now.reading & bit_of(l, step->cb)) broken_cb(l, step, step->cb,
                                                        "it is copied before its reads are waited for");
    l->now.reading |= bit_of(l, step->cb2);
}

/* Pages come to, or go from, the window whose address was taken last. */
static void transfer(Lint *l, const TtStep *step) {
    int cb = l->now.pointer;
    bool in_pages = l->tt->plan->buffers.at[step->buffer].layout.paging != PAGE_PLAIN;
    if (in_pages == (step->kind == STEP_PUT_PAGE))
        broken(l, step, "", in_pages ? "single elements of a tensor that lies in pages are written"
                                     : "pages of memory that lies as the caller has it are moved");
    if (cb < 0) {
        broken(l, step, "", "pages are moved and no address was taken");
    } else if (step->kind == STEP_WRITE || step->kind == STEP_PUT_PAGE) {
        reads(l, step, cb);
        l->now.writing |= bit_of(l, cb);
    } else {
        fills(l, step, cb);
        l->now.reading |= bit_of(l, cb);
    }
}

/* ---------------------------------------------------------------------------------------------------- compute */

static void dst_step(Lint *l, const TtStep *step) {
    static const char *const rules[] = {"DST is acquired and was not released", "DST is committed and was not acquired",
                                        "DST is packed from and was not committed",
                                            "DST is released and not packed from"};
    State *s = &l->now;
    TtDstStep before = step->dst == DST_ACQUIRE ? DST_RELEASE : (TtDstStep)(step->dst - 1);
    if (s->dst != before) broken(l, step, "", rules[step->dst]);
    s->dst = step->dst;
    if (step->dst == DST_ACQUIRE) s->written = 0;
}

static void slots(Lint *l, const TtStep *step, int first, int count, bool writes) {
    int most = (int)tensix_dst_slots(true, l->tt->plan->full_sync);
    if (first < 0 || first + count > most)
        broken(l, step, "", arena_printf(l->tt->arena, "slot %d of DST, which has %d", first + count - 1, most));
    for (int i = first; i < first + count && i < most && i >= 0; i++) {
        if (!writes && !(l->now.written >> i & 1)) broken(l, step, "", "a slot of DST is read that nobody wrote");
        l->now.written |= 1u << i;
    }
}

static void format(Lint *l, const TtStep *step, TtRegister reg, int cb) {
    static const char *const names[] = {"SrcA", "SrcB", "the packer"};
    if (l->now.format[reg] != tt_register_format(l->tt, reg, cb))
        broken_cb(l, step, cb, arena_printf(l->tt->arena, "%s is not set for its format", names[reg]));
}

static void needs_init(Lint *l, const TtStep *step, const TtInit *as) {
    if (l->now.dst != DST_ACQUIRE) broken(l, step, "", "a call writes DST, which is not acquired");
    if (l->now.init.unit == UNIT_NONE || !tt_same_init(&l->now.init, as))
        broken(l, step, "", "a call whose init is not the last one before it");
}

static void two_sources(Lint *l, const TtStep *step, int srca, int srcb) {
    reads(l, step, srca);
    reads(l, step, srcb);
    format(l, step, REG_SRCA, srca);
    format(l, step, REG_SRCB, srcb);
}

static void compute_step(Lint *l, const TtStep *step) {
    const TtInit *as = &step->as;
    bool swapped = as->along_rows && !as->is_max;
    switch (step->kind) {
    case STEP_MOVE: {
        bool through_b = as->unit == UNIT_SPREAD && !l->tt->plan->cbs.at[step->cb].desc.unpack_to_dest;
        needs_init(l, step, as);
        reads(l, step, step->cb);
        format(l, step, through_b ? REG_SRCB : REG_SRCA, step->cb);
        slots(l, step, step->slot, 1, true);
        return;
    }
    case STEP_MATMUL:
        needs_init(l, step, as);
        two_sources(l, step, step->cb2, step->cb);
        slots(l, step, step->slot, as->unit == UNIT_MATMUL_BLOCK ? as->across * as->down : 1, true);
        return;
    case STEP_REDUCE:
        needs_init(l, step, as);
        two_sources(l, step, swapped ? step->cb2 : step->cb, swapped ? step->cb : step->cb2);
        slots(l, step, step->slot, 1, true);
        return;
    case STEP_FILL:
        needs_init(l, step, &(TtInit){.unit = UNIT_FILL, .cb = {-1, -1, -1}});
        slots(l, step, step->slot, 1, true);
        return;
    case STEP_CALL: {
        static const int inputs[] = {[TAKES_SLOT] = 1, [TAKES_SLOTS] = 2, [TAKES_NUMBER] = 1, [TAKES_LEFT] = 1,
                                     [TAKES_ZERO] = 1, [TAKES_TRIPLE] = 3, [TAKES_FPU] = 0};
        needs_init(l, step, as);
        if (step->row->form == TAKES_FPU) two_sources(l, step, step->cb, step->cb2);
        for (int i = 0; i < inputs[step->row->form]; i++) slots(l, step, step->in[i], 1, false);
        slots(l, step, step->slot, 1, true);
        return;
    }
    case STEP_PACK:
        if (l->now.dst != DST_WAIT) broken(l, step, "", "DST is packed from and the packer does not have it");
        fills(l, step, step->cb);
        format(l, step, REG_PACK, step->cb);
        slots(l, step, step->slot, 1, false);
        return;
    default: return;
    }
}

static void setup(Lint *l, const TtStep *step) {
    for (int reg = 0; reg < REG_COUNT; reg++)
        if (step->format[reg] >= 0) l->now.format[reg] = tt_register_format(l->tt, (TtRegister)reg, step->format[reg]);
    if (step->as.unit != UNIT_NONE) l->now.init = step->as;
}

/* ------------------------------------------------------------------------------------------------------- control */

static void walk(Lint *l, const TtBlock *block);

/* What holds whichever way was taken; on how CBs and DST stand both must agree. */
static State meet(Lint *l, const TtStep *step, State a, const State *b) {
    uint64_t differ = (a.reserved ^ b->reserved) | (a.pushed ^ b->pushed) | (a.waited ^ b->waited);
    for (size_t i = 0; differ && i < l->tt->plan->cbs.count; i++)
        if (differ & bit_of(l, (int)i)) {
            broken_cb(l, step, (int)i, "a loop or branch leaves it in another state than it began with");
            break;
        }
    if (a.dst != b->dst) broken(l, step, "", "a loop or branch leaves DST in another state than it began with");
    a.reading |= b->reading;
    a.writing |= b->writing;
    a.asked &= b->asked;
    a.sent &= b->sent;
    a.shown &= b->shown;
    a.taken &= b->taken;
    a.written |= b->written;
    if (a.pointer != b->pointer) a.pointer = -1;
    if (a.init.unit != UNIT_NONE && !tt_same_init(&a.init, &b->init)) a.init.unit = UNIT_NONE;
    for (int reg = 0; reg < REG_COUNT; reg++)
        if (a.format[reg] != b->format[reg]) a.format[reg] = -1;
    return a;
}

static State meet_arms(Lint *l, const TtStep *step, State a, const State *b) {
    for (size_t i = 0; i < l->tt->plan->cbs.count; i++) {
        uint32_t id = l->tt->plan->cbs.at[i].desc.id;
        if (a.part[id] != b->part[id]) broken_cb(l, step, (int)i, "a branch hands on part of its item");
    }
    return meet(l, step, a, b);
}

/* What a trip hands on of items goes with each. */
static void count_trips(Lint *l, const TtStep *step, const State *before, const State *end) {
    for (size_t i = 0; i < l->tt->plan->cbs.count; i++) {
        uint32_t id = l->tt->plan->cbs.at[i].desc.id;
        if (end->part[id] == before->part[id]) continue;
        if (end->part[id] < before->part[id] || !step->trips)
            broken_cb(l, step, (int)i, "a loop hands on part of its item, nobody knows how often");
        else
            count_part(l, step, (int)i, (uint64_t)step->trips * (end->part[id] - before->part[id]));
    }
}

static void walk_loop(Lint *l, const TtStep *step) {
    State before = l->now;
    bool was_quiet = l->quiet;
    l->quiet = true;
    for (int i = 0; i < 2; i++) { /* what comes from its end may come from what comes from its end */
        walk(l, &step->body);
        l->now = meet(l, step, before, &l->now);
    }
    l->quiet = was_quiet;
    walk(l, &step->body);
    State end = l->now;
    l->now = meet(l, step, before, &end);
    count_trips(l, step, &before, &end);
}

static void walk(Lint *l, const TtBlock *block) {
    State before = l->now;
    for (size_t i = 0; i < block->count; i++) {
        const TtStep *step = &block->at[i];
        bool has_else = i + 1 < block->count && block->at[i + 1].kind == STEP_ELSE;
        switch (step->kind) {
        case STEP_CB: hand(l, step); break;
        case STEP_POINTER: l->now.pointer = step->cb; break;
        case STEP_READ:
        case STEP_READ_ROWS:
        case STEP_WRITE:
        case STEP_PUT_PAGE: transfer(l, step); break;
        case STEP_BARRIER: *(step->hand == CB_RESERVE ? &l->now.reading : &l->now.writing) = 0; break;
        case STEP_ASK: share_group(l, step, ~0ull, &l->now.asked, ""); break;
        case STEP_SHARE: share(l, step); break;
        case STEP_SHOW: share_group(l, step, l->now.sent, &l->now.shown, "it is shown before it is sent"); break;
        case STEP_TAKE: share_group(l, step, l->now.shown, &l->now.taken, "it is taken before it is shown"); break;
        case STEP_COPY: copy(l, step); break;
        case STEP_MAKE_PAGE: fills(l, step, step->cb); break;
        case STEP_STARTUP:
        case STEP_SETUP: setup(l, step); break;
        case STEP_REDUCE_END: l->now.init.unit = UNIT_NONE; break;
        case STEP_DST: dst_step(l, step); break;
        case STEP_FOR: walk_loop(l, step); break;
        case STEP_IF:
            before = l->now;
            walk(l, &step->body);
            if (!has_else) l->now = meet_arms(l, step, before, &l->now);
            break;
        case STEP_ELSE: {
            State arm = l->now;
            l->now = before;
            walk(l, &step->body);
            l->now = meet_arms(l, step, arm, &l->now);
            break;
        }
        case STEP_BLOCK: { /* addresses are names of their block */
            int pointer = l->now.pointer;
            walk(l, &step->body);
            l->now.pointer = pointer;
            break;
        }
        default: compute_step(l, step);
        }
    }
}

void tt_lint(Tt *tt) {
    for (size_t i = 0; i < tt->plan->cbs.count; i++) {
        const TtCb *cb = &tt->plan->cbs.at[i];
        if (cb->desc.pages != cb->item_pages * cb->slots)
            broken_cb(&(Lint){.tt = tt}, NULL, (int)i, "its pages are no whole number of items");
    }
    for (int kernel = 0; kernel < TT_KERNELS; kernel++) {
        Lint l = {.tt = tt, .kernel = kernel, .now = {.dst = DST_RELEASE, .format = {-1, -1, -1}, .pointer = -1}};
        walk(&l, &tt->code[kernel].start);
        walk(&l, &tt->code[kernel].body);
        State *s = &l.now;
        for (size_t i = 0; i < tt->plan->cbs.count; i++)
            if (((s->reserved | s->waited | s->pushed | s->reading | s->writing) & bit_of(&l, (int)i)) ||
                s->part[tt->plan->cbs.at[i].desc.id])
                broken_cb(&l, NULL, (int)i, "the kernel ends with pages in hand, or on their way");
        if (s->dst != DST_RELEASE) broken(&l, NULL, "", "the kernel ends with DST in hand");
    }
}
