/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c: pass `schedule`, for machines with threads: who runs when, and where everything lies.
 *
 *   in   FORM_LAYOUT: every tile has its layout, every access its form; flat, or roles and rings as `ring` planned them
 *   out  FORM_SCHEDULE: the same program with all that the emitter has to know of time and place in its attributes:
 *        of the kernel (`threads`, `shared`, `blocks`), of tasks, roles and rings (schedule_ring.c, schedule_roles.c),
 *        and `at` and `bytes` on every op that needs shared memory
 *
 * A kernel that arrives scheduled (as text) is left as it is. */
#include "pass/schedule/schedule.h"

#include <limits.h>

const Layout *schedule_layout(const Kernel *k, Ref ref) {
    bool tile = ref_is_value(ref) && ir_type(k, ref)->kind == TY_TILE && ir_type(k, ref)->rank > 0;
    return tile ? ir_value(k, ref)->layout : NULL;
}

bool schedule_in_shared(const Kernel *k, Ref ref) {
    const Layout *layout = schedule_layout(k, ref);
    return layout && layout->home == HOME_SHARED;
}

/* The value is the tile, or another way to look at it; or a part of the buffer. */
static bool looks_at(const Kernel *k, Ref value, Ref tile) {
    while (value != tile) {
        const Op *op = ref_is_value(value) && schedule_in_shared(k, value) ? ir_value(k, value)->op : NULL;
        if (!op || (op->code != OP_PERMUTE && op->code != OP_BLOAD)) return false;
        value = op->operands[0];
    }
    return true;
}

static bool reads_beside(const Kernel *k, const Region *region, Ref tile) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_DOT && matrix_of(k, op)->reads_shared &&
            (looks_at(k, op->operands[0], tile) || looks_at(k, op->operands[1], tile)))
            return true;
        if (op->code == OP_TSTORE && op_word(op, AT_MOVER, MOVER_LANES) == MOVER_TMA &&
            looks_at(k, op_operand(op, 1), tile))
            return true;
        for (int i = 0; i < op->region_count; i++)
            if (reads_beside(k, op->regions[i], tile)) return true;
    }
    return false;
}

bool schedule_read_beside(const Schedule *s, Ref tile) {
    return s->cx->machine->async_proxy && reads_beside(s->k, s->k->body, tile);
}

bool schedule_fail(Schedule *s, const Op *op, const char *why) {
    s->failed = op;
    s->why = why;
    return false;
}

/* A kernel that came with its rings as they are, and cannot run so. */
static bool refuse(const Schedule *s) {
    if (!s->k->module->diag->errors)
        diag_emit(s->k->module->diag, DIAG_SIMT_REFUSED, s->failed->range, s->cx->machine->target,
                  op_info[s->failed->code].mnemonic, s->why);
    return false;
}

/* A ring whose loads cannot run ahead any more, or NULL; how many there are. */
static const RingSchedule *find_starving(const Schedule *s, int *count) {
    const RingSchedule *first = NULL;
    *count = 0;
    for (size_t i = 0; i < s->rings.count; i++) {
        const RingSchedule *r = &s->rings.at[i];
        if (r->slots > 1 || r->wanted == 1) continue;
        first = first ? first : r;
        ++*count;
    }
    return first;
}

static bool fits(const Schedule *s) { return s->bytes <= s->room; }

/* Scratch, buffers, and rings with the slots that have room beside them; false: the rings cannot be. */
static bool place_all(Schedule *s) {
    s->bytes = 0;
    s->rings.count = 0;
    schedule_place(s);
    if (!s->tasks) return true;
    bool among = s->blocks > 1 || s->cx->machine->cost.weighs_flat;
    if (among && !schedule_has_movers(s) && schedule_rings_among(s)) return true;
    if (!schedule_rings(s, s->bytes)) return false;
    schedule_place(s);
    return true;
}

/* Conversions in pieces, as few as let the most loads run ahead; false: whatever their number, it does not fit. Says
 * how many loads do not run ahead. */
static bool fit_in_pieces(Schedule *s, int *starving) {
    int64_t at_once = INT64_MAX, best = 0;
    int least = INT_MAX;
    for (int64_t tried = at_once; tried && least; tried = at_once) {
        at_once = schedule_pieces(s, tried) / 2;
        if (!place_all(s)) return false;
        find_starving(s, starving);
        if (!fits(s) || *starving >= least) continue;
        best = tried;
        least = *starving;
    }
    *starving = least;
    if (!best) return false;
    schedule_pieces(s, best);
    return place_all(s);
}

static bool multiplies(const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_DOT) return true;
        for (int i = 0; i < op->region_count; i++)
            if (multiplies(op->regions[i])) return true;
    }
    return false;
}

/* A flat kernel: in the share of as many blocks as the machine likes, where memory and registers hold them, or else as
 * it fits. */
static bool fit_flat(Schedule *s) {
    int blocks = s->cx->machine->cost.flat_blocks, starving;
    if (blocks && !kernel_int(s->k, AT_BLOCKS, 0) && multiplies(s->k->body) && schedule_share_holds(s, blocks)) {
        s->room = s->cx->machine->ring_bytes / blocks;
        if (fit_in_pieces(s, &starving)) {
            kernel_set(s->k, (Attr){.id = AT_BLOCKS, .number = blocks});
            return true;
        }
        s->room = s->cx->machine->ring_bytes;
    }
    return fit_in_pieces(s, &starving);
}

/* The first degree in which all fits, and loads run ahead if they can at all: fewer slots in each, conversions in
 * pieces, output tiles in panels, programs one by one. */
static bool find_room(Schedule *s) {
    int starving;
    for (;;) {
        s->panels = false;
        if (fit_in_pieces(s, &starving) && !starving) return true;
        s->panels = true;
        if (fit_in_pieces(s, &starving)) return true;
        if (s->why || s->gang.programs == 1) return false;
        schedule_part_gang(s, "their rings do not fit into shared memory");
    }
}

static bool has_all_slots(const Schedule *s) {
    for (size_t i = 0; i < s->rings.count; i++)
        if (s->rings.at[i].slots < s->rings.at[i].wanted) return false;
    return true;
}

/* The same in the share of as many blocks as should have one, if their loads run ahead in it: with all slots that were
 * asked for, where more blocks are left than a crowd needs, else with fewer. */
static bool find_room_of_share(Schedule *s) {
    const Machine *machine = s->cx->machine;
    int most = (int)kernel_int(s->k, AT_BLOCKS, 0), warps = layout_warps(s->cx, s->k), starving;
    for (int all = 1; all >= 0; all--)
        for (s->blocks = most; s->blocks > 1; s->blocks--) {
            if (all && s->blocks * warps <= machine->cost.crowd_warps) break;
            if (!schedule_share_holds(s, s->blocks)) continue;
            s->room = machine_room(machine, s->blocks);
            if (fit_in_pieces(s, &starving) && !starving && (!all || has_all_slots(s))) return true;
            if (s->why) return false;
        }
    s->room = machine->ring_bytes;
    return find_room(s);
}

typedef struct Handed {
    const Schedule *s;
    const Kernel *k;
    Op *put;
} Handed;

static void look_for_handed(Op *op, void *user) {
    Handed *h = user;
    bool ahead = op->code == OP_PUT && op_word(hand_ring_op(h->k, op), AT_MEANS, MEANS_TMA) == MEANS_ASYNC;
    if (ahead && layout_put_mover(h->k, op) == MOVER_LANES && !op_flag(op, AT_LATE) && schedule_late_host(h->s, op))
        h->put = op;
}

/* A load that is neither copied nor has registers to wait in gains nothing from its ring: it is waited for at once, and
 * stays where it stands, by itself. Of a kernel that came with its rings it is, where it stands. */
static bool runs_all(Schedule *s) {
    Handed handed = {.s = s, .k = s->k};
    if (!s->cx->machine->cost.puts_late || !s->cx->uncut) return true;
    ir_walk(s->k->body, look_for_handed, &handed);
    s->failed_alone = handed.put;
    return !handed.put || schedule_fail(s, handed.put, "its threads would wait for the load at once");
}

/* Rings, and all that lies behind them; false: they do not fit in any degree. */
static bool plan_rings(Schedule *s) {
    if (!find_room_of_share(s))
        return s->why ? false : schedule_fail(s, s->tasks, "rings and scratch together do not fit into shared memory");
    schedule_write_rings(s);
    schedule_early(s);
    schedule_trail(s);
    schedule_flight(s);
    schedule_join(s);
    schedule_span(s);
    if (!schedule_skew(s)) return false;
    schedule_cover(s);
    schedule_late(s);
    if (!runs_all(s)) return false;
    schedule_roles(s);
    return true;
}

/* Blocks that share a multiprocessor. */
static int blocks_of(const Schedule *s) {
    int blocks = 1, warps = layout_warps(s->cx, s->k), most = s->cx->machine->unit_warps;
    int64_t bytes = machine_unit_bytes(s->cx->machine);
    while ((!most || (blocks + 1) * warps <= most) && (blocks + 1) * s->bytes <= bytes &&
           schedule_share_holds(s, blocks + 1))
        blocks++;
    return blocks;
}

/* How many, of a machine whose table knows how many warps it runs, and who says so. */
static void say_occupancy(const Schedule *s) {
    const Machine *machine = s->cx->machine;
    int warps = layout_warps(s->cx, s->k), most = machine->unit_warps / warps, registers = 1;
    int64_t memory = s->bytes ? machine_unit_bytes(machine) / s->bytes : most;
    if (!machine->unit_warps) return;
    while (registers < most && schedule_share_holds(s, registers + 1)) registers++;
    int64_t blocks = memory < registers ? memory : registers;
    if (blocks > most) blocks = most;
    if (blocks < 1) blocks = 1;
    pass_find(s->cx, s->k->range, FIND_OCCUPANCY, (long long)blocks, blocks == 1 ? "" : "s", (long long)blocks * warps,
              machine->unit_warps,
              blocks == most        ? "no more fit"
              : blocks == registers ? "registers that a trip holds (estimated) have room for no more"
                                    : "shared memory has room for no more");
}

/* All of it. */
static bool plan(Schedule *s) {
    if (s->tasks && !schedule_follow(s->k, s->tasks))
        return schedule_fail(s, s->tasks, "a store role whose hand-overs stand elsewhere than compute's");
    s->facts = facts_new(s->k, false);
    s->uses = ir_count_uses(s->k, s->arena);
    schedule_dot(s);
    schedule_turn(s);
    schedule_loose(s);
    s->uses = ir_count_uses(s->k, s->arena); /* words that it takes ahead are new values */
    schedule_rows(s);
    schedule_natural(s);
    schedule_atomic(s);
    schedule_hint(s);
    schedule_anew(s);
    schedule_maps(s);
    schedule_place(s); /* what a gang asks: does anything need scratch? */
    schedule_gang(s);
    if (s->tasks ? !plan_rings(s) : !fit_flat(s)) {
        if (!s->tasks) schedule_refuse_size(s);
        return false;
    }
    if (!s->tasks && (kernel_int(s->k, AT_LEAN, 0) || schedule_fills_registers(s))) /* it takes those that it needs */
        kernel_set(s->k, (Attr){.id = AT_BLOCKS, .number = 1});
    kernel_set(s->k, (Attr){.id = AT_THREADS, .number = s->cx->machine->lanes * layout_warps(s->cx, s->k)});
    kernel_set(s->k, (Attr){.id = AT_SHARED, .number = s->bytes});
    if (s->cx->options.max_registers)
        kernel_set(s->k, (Attr){.id = AT_MOST_REGS, .number = s->cx->options.max_registers});
    schedule_move(s);
    schedule_axis(s);
    schedule_names(s);
    if (s->failed) return false;
    schedule_sync(s);
    schedule_sweep(s);
    say_occupancy(s);
    /* What the ring pass has proved is proved again, as it will be emitted; and so is all the rest. */
    return !s->tasks || schedule_is_proved(s);
}

/* How well it goes: not at all, with loads that do not run ahead, as it should. */
typedef enum Grade { NO_PLAN, STARVES, RUNS } Grade;

static Grade plan_anew(PassContext *cx, Kernel *k, Schedule *s) {
    int starving;
    *s = (Schedule){.cx = cx, .k = k, .arena = cx->scratch, .tasks = tasks_of(k), .room = cx->machine->ring_bytes};
    if (!plan(s)) return NO_PLAN;
    find_starving(s, &starving);
    return starving ? STARVES : RUNS;
}

/* Of a kernel that was cut again. */
static Grade try_again(PassContext *cx, Kernel *k, Schedule *s) {
    if (!k->module->diag->errors) pass_layout(cx, k), pass_fetch(cx, k);
    return k->module->diag->errors ? NO_PLAN : plan_anew(cx, k, s);
}

/* The ring whose hand-overs the op is about; REF_NONE: no one knows. */
static Ref ring_at(const Kernel *k, const Op *op) {
    Ref ring = hand_ring(k, op);
    for (int i = 0; op->code != OP_TASKS && i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner && ring == REF_NONE; inner = inner->next)
            ring = ring_at(k, inner);
    return ring;
}

/* Rings leave, one by one, until it goes as well as wanted: those that are at fault, those that are worth less than one
 * whose loads do not run ahead. */
static Grade leave_until(Schedule *s, Grade grade, Grade wanted) {
    PassContext *cx = s->cx;
    Kernel *k = s->k;
    while (grade < wanted) {
        int count;
        const RingSchedule *starving = grade == STARVES ? find_starving(s, &count) : NULL;
        if (starving && !ring_is_worth_more(cx, starving->op->results[0])) break;
        Ref ring = starving || !s->failed ? REF_NONE : ring_at(k, s->failed);
        const char *why = starving ? "loads that are worth more have no second slot beside it" : s->why;
        int field = s->failed_alone && ring != REF_NONE ? hand_field(s->failed) : -1;
        if (!why || !ring_leave(cx, k, ring, field, why)) break;
        grade = try_again(cx, k, s);
    }
    return grade;
}

/* A kernel whose rings cannot be, or starve, is cut again with fewer of them. What left first comes back where that has
 * made no room. */
static Grade leave_rings(Schedule *s, Grade first) {
    PassContext *cx = s->cx;
    Kernel *k = s->k;
    Grade grade = leave_until(s, first, RUNS);
    if (grade < RUNS && ring_left(cx) && !k->module->diag->errors) {
        ring_return_all(cx, k);
        grade = leave_until(s, try_again(cx, k, s), STARVES);
    }
    for (int i = ring_left(cx) - 2; grade > NO_PLAN && i >= 0; i--) {
        ring_return(cx, k, i, true);
        if (try_again(cx, k, s) >= grade) continue;
        ring_return(cx, k, i, false);
        grade = try_again(cx, k, s);
    }
    return grade;
}

/* Where blocks hide for each other, a kernel whose loads run ahead is weighed against itself, flat: each block has more
 * memory then, and holds a trip's loads in registers. It stays flat if more blocks have room so, or if its loads do not
 * run ahead. */
static Grade weigh_flat(PassContext *cx, Kernel *k, Schedule *s, Grade grade) {
    int blocks = blocks_of(s);
    if (grade == RUNS && cx->options.slots > 0) return grade;
    const KernelCopy *cut = ir_keep(k);
    Uncut uncut = *cx->uncut;
    size_t count = cx->findings.count;
    Finding *findings = ARENA_ARRAY(k->module->arena, Finding, count);
    for (size_t i = 0; i < count; i++) findings[i] = cx->findings.at[i];
    const char *why = grade == RUNS ? "second slots would take the memory of other blocks, which hide more"
                                    : "memory has no second slots for its loads";
    if (!ring_take_back(cx, k, why)) return grade;
    Grade flat = try_again(cx, k, s);
    if (k->module->diag->errors || (flat > NO_PLAN && (grade < RUNS || blocks_of(s) > blocks))) return flat;
    ir_take_back(k, cut);
    *cx->uncut = uncut;
    cx->findings.count = 0;
    for (size_t i = 0; i < count; i++) *VEC_PUSH(&cx->findings, k->module->arena) = findings[i];
    return grade;
}

bool pass_schedule(PassContext *cx, Kernel *k) {
    if (!cx->machine->has_threads) return false;
    if (k->form >= FORM_SCHEDULE) {
        schedule_check(cx, k);
        return false;
    }
    if (!pass_takes_form(k, FORM_LAYOUT, "schedule")) return false;
    Schedule s;
    Grade grade = plan_anew(cx, k, &s);
    if (grade < RUNS && s.tasks) grade = leave_rings(&s, grade);
    if (grade > NO_PLAN && tasks_of(k) && cx->machine->cost.weighs_flat && cx->uncut)
        grade = weigh_flat(cx, k, &s, grade);
    if (grade == NO_PLAN && s.why && !k->module->diag->errors) {
        if (!ring_take_back(cx, k, s.why)) return refuse(&s);
        try_again(cx, k, &s);
    }
    k->form = FORM_SCHEDULE;
    return true;
}
