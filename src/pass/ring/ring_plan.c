/* SPDX-License-Identifier: Apache-2.0 */
/* ring_plan.c: which execution, and with what slots, workers, persistence and order.
 *
 * The structure that the cut makes does not depend on the machine; everything here does, is written
 * into attributes, and changes no bit of the result. Hints of the source come first (num_stages,
 * num_warps), then what the machine's table says, and options override both. Every choice is a
 * finding, so that nothing runs flat unnoticed. */
#include "analysis/sums.h"
#include "ir/ringform.h"
#include "pass/layout/layout.h"
#include "pass/matrix.h"
#include "pass/ring/ring.h"
#include "pass/ring/ring_cut.h"
#include "pass/ring/ring_group.h"

/* --- how many slots --- */

enum { DEFAULT_STAGES = 3 };

int cut_stages(const Cut *c, const CutRing *ring) {
    if (c->cx->options.slots) return c->cx->options.slots;
    if (c->cx->options.num_stages >= 0) return c->cx->options.num_stages;
    int64_t whole = kernel_int(c->k, AT_STAGES, DEFAULT_STAGES);
    int64_t own = ring && ring->loop ? op_int(ring->loop, AT_STAGES, 0) : 0; /* 0 is what those say who say nothing */
    return (int)(own ? own : whole);
}

static bool is_pipelined(const CutRing *ring) { return !ring->output && ring->in_loop; }

static int64_t slot_bytes(const CutRing *ring) { return ring->parts ? ring->bytes * 2 / ring->parts : ring->bytes; }

static int64_t ring_bytes(const Cut *c) {
    int64_t bytes = 0;
    for (size_t i = 0; i < c->rings.count; i++)
        if (!c->rings.at[i]->shares) bytes += c->rings.at[i]->slots * slot_bytes(c->rings.at[i]);
    return bytes;
}

/* --- the cost model: how many slots cover the way of a copy --- */

static void add_cost(Op *op, void *user) {
    TripCost *cost = user;
    const Matrix *row = op->code == OP_DOT ? matrix_of(cost->k, op) : NULL;
    if (!row || !row->clocks) return;
    const Type *a = ir_type(cost->k, op->operands[0]), *d = ir_type(cost->k, op->results[0]);
    cost->alone = d->extent[0] < 2 * row->m;
    cost->clocks += (d->extent[0] + row->m - 1) / row->m * d->extent[1] * row->clocks / row->n * a->extent[1] / row->k;
}

/* Is it the only ring that its loop takes items from? */
static bool feeds_alone(const Cut *c, const CutRing *ring) {
    for (size_t i = 0; i < c->rings.count; i++)
        if (c->rings.at[i] != ring && is_pipelined(c->rings.at[i]) && !c->rings.at[i]->shares) return false;
    return true;
}

TripCost ring_trip_cost(const Kernel *k, const Op *loop) {
    TripCost cost = {.k = k};
    if (loop) ir_walk(loop->regions[loop->region_count - 1], add_cost, &cost);
    return cost;
}

/* What the ring should have; never fewer than were asked for. */
static int useful_slots(const Cut *c, const CutRing *ring) {
    int asked = cut_stages(c, ring);
    TripCost cost = ring_trip_cost(c->k, ring->loop);
    if (!c->cx->machine->has_tma || asked < 2 || !cost.clocks || !feeds_alone(c, ring)) return asked;
    const MachineCost *timed = &c->cx->machine->cost;
    int64_t most = cost.alone ? timed->most_alone : timed->most_slots;
    int64_t slots = 1 + (timed->copy_clocks + cost.clocks - 1) / cost.clocks;
    if (slots > most) slots = most;
    return slots > asked ? (int)slots : asked;
}

/* Memory that nothing else uses goes to the ring. */
static void deepen(Cut *c) {
    if (c->cx->options.slots) return;
    for (size_t i = 0; i < c->rings.count; i++) {
        CutRing *ring = c->rings.at[i];
        int useful = is_pipelined(ring) && !ring->shares ? useful_slots(c, ring) : 0;
        int64_t spare = machine_spare_bytes(c->cx->machine, 2); /* behind the rings; behind their barriers */
        int64_t room = c->cx->machine->ring_bytes - spare - ring->bytes;
        while (ring->slots < useful && ring_bytes(c) <= room) ring->slots++;
    }
}

static const char *slot_table(const Cut *c) {
    Text table = text_new(c->arena);
    for (size_t i = 0; i < c->rings.count; i++)
        text_add(&table, "%s%d x %lld bytes", i ? ", " : "", c->rings.at[i]->slots, (long long)c->rings.at[i]->bytes);
    return table.at;
}

static int wanted_slots(const Cut *c, const CutRing *ring) {
    int stages = cut_stages(c, ring), sum = ring->asked ? cut_sum_slots(c, ring->loop) : 0;
    if (stages > 1 && stages < sum && !c->cx->options.slots) stages = sum;
    return is_pipelined(ring) ? (stages > 1 ? stages : 1) : c->cx->machine->roles_always ? 2 : 1;
}

/* Fills in slots, each ring of a loop at least `least`; false when even these do not fit. */
static bool fit_slots(Cut *c, int least) {
    for (size_t i = 0; i < c->rings.count; i++) {
        CutRing *ring = c->rings.at[i];
        int wanted = wanted_slots(c, ring), fewest = is_pipelined(ring) ? least : 1;
        ring->slots = ring->shares || wanted < fewest ? wanted : fewest;
    }
    if (ring_bytes(c) > c->cx->machine->ring_bytes) return false;
    for (size_t i = 0; i < c->rings.count; i++) c->rings.at[i]->slots = wanted_slots(c, c->rings.at[i]);
    while (ring_bytes(c) > c->cx->machine->ring_bytes) {
        CutRing *largest = NULL;
        for (size_t i = 0; i < c->rings.count; i++) {
            CutRing *ring = c->rings.at[i];
            if (!ring->shares && ring->slots > (is_pipelined(ring) ? least : 1) &&
                (!largest || ring->slots * ring->bytes > largest->slots * largest->bytes))
                largest = ring;
        }
        largest->slots--; /* there is one: with the fewest slots they fit */
    }
    return true;
}

/* An output ring gives way: its store stays in compute. */
static void drop_ring(Cut *c, size_t at) {
    cut_note_stay(c, c->rings.at[at]->ops.at[0]);
    for (size_t i = at; i + 1 < c->rings.count; i++) c->rings.at[i] = c->rings.at[i + 1];
    c->rings.count--;
    cut_settle_stores(c);
}

/* The largest of them. */
static bool drop_output(Cut *c) {
    size_t largest = c->rings.count;
    for (size_t i = 0; i < c->rings.count; i++)
        if (c->rings.at[i]->output &&
            (largest == c->rings.count || c->rings.at[i]->bytes > c->rings.at[largest]->bytes))
            largest = i;
    if (largest == c->rings.count) return false;
    pass_find(c->cx, c->rings.at[largest]->ops.at[0]->range, FIND_STORE_FROM_REGISTERS,
              (long long)c->rings.at[largest]->bytes, (long long)c->cx->machine->ring_bytes);
    drop_ring(c, largest);
    return true;
}

/* The fewest slots that a load of a loop got; short_of: one got fewer than were asked for. */
static int fewest_slots(const Cut *c, bool *short_of) {
    int fewest = 0;
    *short_of = false;
    for (size_t i = 0; i < c->rings.count; i++) {
        const CutRing *ring = c->rings.at[i];
        if (!is_pipelined(ring) || ring->shares) continue;
        if (!fewest || ring->slots < fewest) fewest = ring->slots;
        *short_of |= ring->slots < cut_stages(c, ring);
    }
    return fewest;
}

/* Where loads got too few slots, outputs of four panels and more go out by TMA
 * panel by panel, if that makes room for another slot. */
static void cut_outputs(Cut *c) {
    bool short_of, still;
    int before = fewest_slots(c, &short_of);
    if (!short_of || !c->cx->machine->has_tma) return;
    if (before >= c->cx->machine->cost.enough_slots && !c->cx->options.slots) return;
    for (size_t i = 0; i < c->rings.count; i++) {
        CutRing *ring = c->rings.at[i];
        const Type *type = ring->output ? ir_type(c->k, op_operand(ring->ops.at[0], 1)) : NULL;
        if (!type || type->rank != 2 || ring->ops.count != 1) continue;
        int64_t bytes = type->extent[1] * ty_elem_bytes(type), panels = bytes / WIDEST_PANEL;
        if (bytes % WIDEST_PANEL == 0 && panels >= 4 && !(panels & (panels - 1))) ring->parts = (int)panels;
    }
    if (fit_slots(c, 2) && fewest_slots(c, &still) > before) return;
    for (size_t i = 0; i < c->rings.count; i++) c->rings.at[i]->parts = 0;
    fit_slots(c, 2);
}

/* Loads of loops that run ahead: are there any, do they feed dots, chase, were they asked to, are they single rows, and
 * how many stages do they ask for? */
typedef struct Ahead {
    bool any, dots, chases, asked, rows, sums;
    int stages;
} Ahead;

static Ahead look_ahead(const Cut *c) {
    Ahead ahead = {0};
    for (size_t i = 0; i < c->rings.count; i++) {
        const CutRing *ring = c->rings.at[i];
        if (!is_pipelined(ring)) continue;
        ahead.any = true;
        ahead.dots |= ring->feeds_dot;
        ahead.chases |= ring->chases;
        ahead.asked |= ring->asked;
        ahead.rows |= ring->asked && ir_type(c->k, ring->ops.at[0]->results[0])->rank == 1;
        ahead.sums |= ring->asked && cut_sum_slots(c, ring->loop);
        if (cut_stages(c, ring) > ahead.stages) ahead.stages = cut_stages(c, ring);
    }
    return ahead;
}

static int64_t elements_of(const Kernel *k, Ref sum) { return ty_elements(ir_type(k, sum)); }

/* Blocks that lie side by side in a multiprocessor with so much memory each: as many as its registers serve. */
static int64_t blocks_beside(const Cut *c, int64_t bytes) {
    const Machine *machine = c->cx->machine;
    int threads = machine->lanes * layout_warps(c->cx, c->k);
    int64_t sums = sum_most_in_row(c->k, elements_of);
    int64_t blocks = machine->registers / (threads * machine->cost.beside_sums + sums);
    bytes += machine_spare_bytes(machine, 2); /* behind the rings; behind their barriers */
    while (blocks > 1 && bytes > machine_room(machine, (int)blocks)) blocks--;
    return blocks;
}

/* Do threads that hold the tile as a product leaves it store whole sectors? */
static bool stores_well(const Cut *c, const CutRing *ring) {
    int registers, lanes;
    matrix_columns(FRAGMENT_SUM_16x8, &registers, &lanes);
    const Type *type = ring->output ? ir_type(c->k, op_operand(ring->ops.at[0], 1)) : NULL;
    return type && ring->ops.count == 1 && ty_elem_bytes(type) << (registers + lanes) >= c->cx->machine->sector_bytes;
}

/* Where threads load for themselves, other blocks work while they wait: such outputs are stored from registers, if
 * their memory makes room for another block. */
static void make_room(Cut *c) {
    int64_t all = ring_bytes(c), outputs = 0;
    for (size_t i = 0; i < c->rings.count; i++)
        if (stores_well(c, c->rings.at[i])) outputs += c->rings.at[i]->slots * slot_bytes(c->rings.at[i]);
    int64_t blocks = blocks_beside(c, all - outputs);
    if (blocks == blocks_beside(c, all)) return;
    for (size_t i = 0; i < c->rings.count;) {
        if (!stores_well(c, c->rings.at[i])) {
            i++;
            continue;
        }
        pass_find(c->cx, c->rings.at[i]->ops.at[0]->range, FIND_STORE_MAKES_ROOM, (long long)c->rings.at[i]->bytes,
                  (long long)blocks);
        drop_ring(c, i);
        i = 0;
    }
}

/* Two slots of every load keep the copies running; for them the outputs give way, and at last the
 * second slot, and then rings. False when even so it does not fit. */
static bool choose_slots(Cut *c, Execution run) {
    if (!c->cx->machine->has_threads) return fit_slots(c, 1);
    while (!fit_slots(c, 2)) {
        if (drop_output(c)) continue;
        while (!fit_slots(c, 1))
            if (!cut_leave_least(c)) return false;
        Ahead ahead = look_ahead(c);
        return ahead.dots || ahead.chases || (ahead.asked && !ahead.rows); /* of rows one slot runs nowhere */
    }
    if (run == RUN_SKEW && c->cx->machine->cost.beside_sums) make_room(c);
    if (run != RUN_ROLES) return true;
    cut_outputs(c);
    deepen(c);
    return true;
}

/* --- execution --- */

typedef struct DotSearch {
    const Kernel *k;
    bool wide; /* a product runs by itself */
    bool reduces_rows;
} DotSearch;

/* The least or greatest index of a task, say: numbers of rank 1 that are reduced once, before its loops. */
static bool is_reduced_once(const DotSearch *s, const Op *op) {
    const Type *type = ir_type(s->k, op->operands[0]);
    return op->code == OP_REDUCE && type->rank == 1 && elem_is_int(type->elem) && op->parent->owner &&
           op->parent->owner->code == OP_ROLE;
}

/* Are the rows of the one those of the other? */
static bool keeps_rows(const DotSearch *s, const Op *reshape) {
    const Type *from = ir_type(s->k, reshape->operands[0]), *to = ir_type(s->k, reshape->results[0]);
    return from->rank && to->rank && from->extent[0] == to->extent[0];
}

static void look_at_op(Op *op, void *user) {
    DotSearch *s = user;
    if (op->code == OP_DOT && matrix_of(s->k, op)->is_async) s->wide = true;
    switch (op->code) {
    case OP_REDUCE:
        if (op_int(op, AT_AXIS, 0) == 0 && !is_reduced_once(s, op)) s->reduces_rows = true;
        break;
    case OP_SCAN:
    case OP_SORT:
    case OP_FLIP:
    case OP_GATHER:
    case OP_CAT:
        if (op_int(op, AT_AXIS, 0) == 0) s->reduces_rows = true;
        break;
    case OP_RESHAPE:
        if (!keeps_rows(s, op)) s->reduces_rows = true;
        break;
    case OP_HISTOGRAM:
    case OP_SLICE:
    case OP_INSERT:
    case OP_SCATTER:
    case OP_JOIN: s->reduces_rows = true; break;
    default: break;
    }
}

/* The fewest rows of a product that runs by itself; consumers share them in pieces of its instruction's. */
typedef struct Rows {
    const Kernel *k;
    int64_t fewest;
    int piece;
} Rows;

static void look_at_rows(Op *op, void *user) {
    Rows *rows = user;
    const Matrix *row = op->code == OP_DOT ? matrix_of(rows->k, op) : NULL;
    if (!row || !row->is_async) return;
    int64_t own = ir_type(rows->k, op->results[0])->extent[0];
    if (rows->fewest == 0 || own < rows->fewest) rows->fewest = own;
    rows->piece = row->m;
}

/* Warpgroups that share what a region computes. */
static int choose_workers(const Cut *c, Region *region) {
    DotSearch search = {.k = c->k};
    Rows rows = {.k = c->k};
    ir_walk(region, look_at_op, &search);
    ir_walk(region, look_at_rows, &rows);
    if (!search.wide || search.reduces_rows || rows.fewest < 2 * rows.piece) return 1;
    int most = (int)(rows.fewest / rows.piece), wanted = c->cx->options.workers;
    if (!wanted) wanted = most == 3 ? 3 : 2;
    while (wanted > 1 && most % wanted) wanted--;
    return wanted > most ? most : wanted;
}

/* Have the threads that compute and those that only load room in a block? */
static bool loaders_have_room(const Cut *c) {
    const Machine *machine = c->cx->machine;
    const Matrix *async = matrix_async(machine);
    int workers = async ? choose_workers(c, c->k->body) : 1;
    int warps = workers > 1 ? workers * async->warps : layout_warps(c->cx, c->k);
    return (warps + machine->group_warps) * machine->lanes <= BLOCK_THREADS;
}

static Execution decide(Cut *c, const char **why) {
    const Machine *machine = c->cx->machine;
    const PassOptions *options = &c->cx->options;
    if (c->explicit_mode) {
        *why = arena_printf(c->arena, "`%s` keeps the kernel in explicit mode", c->explicit_mode);
        return RUN_FLAT;
    }
    if (c->flat) {
        *why = c->flat;
        return RUN_FLAT;
    }
    if (machine->roles_always) {
        *why = "compute cannot reach memory on this machine";
        return c->rings.count ? RUN_ROLES : RUN_FLAT;
    }
    cut_leave_read(c);
    cut_leave_crowd(c);
    bool roles = machine->roles_allowed && loaders_have_room(c);
    if (options->roles == 1 && roles && c->rings.count) {
        *why = "asked for";
        return RUN_ROLES;
    }
    if (!machine->roles_allowed && !machine->skew_allowed) {
        *why = machine->has_threads ? "threads of this machine load through their registers, a trip ahead"
                                    : "this machine gains nothing from loads that run ahead";
        return RUN_FLAT;
    }
    Ahead ahead = look_ahead(c);
    if (!ahead.dots && (ahead.chases || ahead.asked) && ahead.stages > 1 && machine->skew_allowed) {
        cut_leave_branches(c);
        cut_leave_streams(c);
        *why = ahead.chases ? "no dots, but loads of loops that find their place in memory"
               : ahead.rows ? "no dots, but a loop over rows, whose next ones come meanwhile"
               : ahead.sums ? "no dots, but a loop that adds rows up, whose next ones come meanwhile"
                            : "no dots, but a loop whose loads were asked to run ahead";
        c->blocks = ahead.rows || ahead.sums ? cut_row_blocks(c) : 0;
        if (c->rings.count) return RUN_SKEW;
    }
    if (!ahead.any || !ahead.dots) {
        *why = "no loop loads boxes for a dot that could run ahead of it";
        return RUN_FLAT;
    }
    if (ahead.stages <= 1) {
        *why = arena_printf(c->arena, "num_stages is %d", ahead.stages);
        return RUN_FLAT;
    }
    DotSearch search = {.k = c->k};
    ir_walk(c->k->body, look_at_op, &search);
    c->blocks = machine->skew_allowed ? cut_crowd(c, &c->searches) : 0;
    if (roles && options->roles != 0 && search.wide && !c->blocks) {
        *why = "its dots are wide enough for a warp that only loads";
        return RUN_ROLES;
    }
    cut_leave_branches(c);
    ahead = look_ahead(c);
    if (!ahead.any || !ahead.dots) {
        *why = "all loads of its loops stand in branches";
        return RUN_FLAT;
    }
    bool crowd = c->blocks;
    if (!crowd) c->blocks = machine->cost.flat_blocks;
    if (c->blocks || machine->cost.weighs_flat)
        cut_leave_outputs(c, "its buffer would take the memory of another block");
    if (machine->skew_allowed) {
        *why = crowd && c->searches      ? "threads find the rows of a trip anew: a crowd of blocks hides that"
               : crowd                   ? "threads make operands of what a trip loads: a crowd of blocks hides that"
               : options->roles == 0     ? "roles are off"
               : !machine->roles_allowed ? "this machine has no warp that only loads"
               : !roles                  ? "all threads of a block compute"
                                         : "its dots are too small for a warp that only loads";
        return RUN_SKEW;
    }
    *why = "this machine gains nothing from loads that run ahead";
    return RUN_FLAT;
}

/* What was asked for, and this execution has no use for. */
static void report_idle(const Cut *c, Execution run) {
    const PassOptions *o = &c->cx->options;
    const struct {
        const char *name;
        bool idle;
    } asked[] = {
        {"roles=on", o->roles == 1 && run != RUN_ROLES},    {"workers", o->workers > 1 && run != RUN_ROLES},
        {"cluster=2", o->cluster > 1 && run != RUN_ROLES},  {"gang", o->gang > 1 && run != RUN_ROLES},
        {"persist=on", o->persist == 1 && run == RUN_FLAT}, {"slots", o->slots > 0 && run == RUN_FLAT},
    };
    Text list = text_new(c->arena);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (asked[i].idle) text_add(&list, "%s%s", list.length ? ", " : "", asked[i].name);
    if (list.length) pass_find(c->cx, c->k->range, FIND_OPTIONS_IDLE, list.at);
}

Execution cut_choose(Cut *c) {
    static const char *const names[] = {"flat", "skew", "roles"};
    const char *why = "";
    Execution run = decide(c, &why);
    if (run != RUN_FLAT && c->cx->machine->has_threads) cut_take_rows(c, run == RUN_ROLES);
    if (run != RUN_FLAT && !choose_slots(c, run)) {
        why = arena_printf(c->arena, "its slots take %lld bytes, the machine has %lld", (long long)ring_bytes(c),
                           (long long)c->cx->machine->ring_bytes);
        if (c->cx->machine->roles_always)
            diag_emit(c->k->module->diag, DIAG_RING_CAPACITY, c->k->range, (long long)ring_bytes(c),
                      (long long)c->cx->machine->ring_bytes, slot_table(c));
        run = RUN_FLAT;
    }
    pass_find(c->cx, c->k->range, FIND_EXECUTION, names[run], why);
    if (c->cx->machine->has_threads) report_idle(c, run);
    if (run != RUN_FLAT || c->cx->machine->roles_allowed || c->cx->machine->skew_allowed)
        for (size_t i = 0; i < c->refusals.count; i++) {
            const Stay *stay = &c->refusals.at[i];
            pass_find(c->cx, stay->op->range, cut_is_read(stay->op) ? FIND_LOAD_STAYS : FIND_STORE_STAYS, stay->why);
        }
    return run;
}

/* --- attributes --- */

static void set_int(Kernel *k, Op *op, AttrId id, int64_t number) { op_set(k, op, (Attr){.id = id, .number = number}); }

static const char *value_name(const Kernel *k, Ref r) {
    const char *name = ref_is_value(r) ? ir_value(k, r)->name : NULL;
    return name ? name : "?";
}

static void plan_ring(Cut *c, CutRing *cut, Execution run) {
    Kernel *k = c->k;
    Op *op = ir_value(k, cut->ring)->op;
    if (cut->shares) cut->slots = cut->shares->slots;
    bool wide = matrix_async(c->cx->machine) && cut->feeds_dot && run == RUN_ROLES;
    int hold = wide && is_pipelined(cut) && cut->slots >= 3 ? 2 : 1;
    int asked = cut_stages(c, cut);
    bool other = is_pipelined(cut) && !cut->shares && asked > 1 && cut->slots != asked;
    if (!cut->shares) set_int(k, op, AT_SLOTS, cut->slots);
    if (other) set_int(k, op, AT_ASKED, asked);
    if (cut->parts) set_int(k, op, AT_PARTS, cut->parts);
    if (hold > 1 && !cut->shares) set_int(k, op, AT_HOLD, hold);
    const Type *type = ir_type(k, cut->ring);
    for (size_t i = 0; i < cut->ops.count; i++)
        pass_find(c->cx, cut->ops.at[i]->range, cut->output ? FIND_STORE_FIELD : FIND_LOAD_FIELD, type->fields[i].name,
                  value_name(k, cut->ring), word_info[ring_producer(op)].text, word_info[ring_consumer(op)].text);
    if (c->cx->machine->has_threads) return; /* how many slots it gets is the schedule's to say */
    pass_find(c->cx, cut->ops.at[0]->range, FIND_RING_SLOTS, cut->slots, cut->slots == 1 ? "" : "s",
              (long long)cut->bytes);
    if (is_pipelined(cut) && cut->slots < asked)
        pass_find(c->cx, cut->ops.at[0]->range, FIND_RING_FEWER_SLOTS, asked, cut->slots,
                  (long long)c->cx->machine->ring_bytes);
}

static bool is_made_from(const Kernel *k, Ref value, Ref from, int depth) {
    if (value == from) return true;
    if (!ref_is_value(value) || depth > 32) return false;
    const Value *v = ir_value(k, value);
    const Op *op = v->op ? v->op : v->region->owner;
    for (int i = 0; op && op->code != OP_TASKS && i < op->operand_count; i++)
        if (is_made_from(k, op->operands[i], from, depth + 1)) return true;
    return false;
}

/* The one task index on which trip counts depend: tasks differ in length along it. -1: none, or more. */
static int varying_index(const Kernel *k, const Op *tasks, const Op *compute) {
    const Region *body = tasks_body(tasks);
    int found = -1;
    for (const Op *op = compute->regions[0]->first; op; op = op->next) {
        if (op->code != OP_FOR) continue;
        for (int i = 0; i < body->arg_count; i++)
            if (is_made_from(k, op->operands[0], body->args[i], 0) ||
                is_made_from(k, op->operands[1], body->args[i], 0)) {
                if (found >= 0 && found != i) return -1;
                found = i;
            }
    }
    return found;
}

/* --- order --- */

/* Which of the task's two indices x is computed from: bits 1 and 2. */
static int indices_in(const Kernel *k, const Region *body, Ref x, int depth) {
    if (!ref_is_value(x) || depth > 16) return ref_is_value(x) ? 3 : 0;
    for (int i = 0; i < 2; i++)
        if (body->args[i] == x) return 1 << i;
    const Op *op = ir_value(k, x)->op;
    int both = 0;
    for (int i = 0; op && i < op->operand_count && both != 3; i++)
        both |= indices_in(k, body, op->operands[i], depth + 1);
    return both;
}

typedef struct LoadSearch {
    const Kernel *k;
    const Region *body;
    int seen[4]; /* loads by the indices that their boxes depend on */
} LoadSearch;

static void look_at_load(Op *op, void *user) {
    LoadSearch *s = user;
    if (op->code != OP_TLOAD) return;
    RefList offsets = op_list(op, 0);
    int both = 0;
    for (int i = 0; i < offsets.count; i++) both |= indices_in(s->k, s->body, offsets.at[i], 0);
    s->seen[both]++;
}

/* One operand follows the rows of tiles, the other the columns: tasks that run at the same time
 * share both where they form a block of tiles, not a strip. */
static bool shares_both_ways(const Cut *c, const Op *tasks) {
    const Region *body = tasks_body(tasks);
    if (tasks->operand_count != 2 || body->arg_count != 2) return false;
    LoadSearch s = {.k = c->k, .body = body};
    ir_walk(tasks_body(tasks), look_at_load, &s);
    return s.seen[1] == 1 && s.seen[2] == 1 && !s.seen[3];
}

void cut_plan(Cut *c, Op *tasks, Execution run) {
    Kernel *k = c->k;
    const Machine *machine = c->cx->machine;
    for (size_t i = 0; i < c->rings.count; i++)
        if (!c->rings.at[i]->alone) plan_ring(c, c->rings.at[i], run);
    Op *compute = role_find(tasks, ROLE_COMPUTE), *store = role_find(tasks, ROLE_STORE);
    int workers = run == RUN_ROLES && compute ? choose_workers(c, compute->regions[0]) : 1;
    if (workers > 1) {
        set_int(k, compute, AT_WORKERS, workers);
        op_set(k, compute, (Attr){.id = AT_BY, .word = BY_M});
    }
    if (store && machine->has_threads) op_set(k, store, (Attr){.id = AT_HOST, .word = ROLE_COMPUTE});
    Op *load = role_find(tasks, ROLE_LOAD); /* skew: the workers of compute load as well, some items ahead */
    if (load && run == RUN_SKEW) op_set(k, load, (Attr){.id = AT_HOST, .word = ROLE_COMPUTE});
    int load_warps = run == RUN_ROLES ? cut_load_warps(c, tasks, workers) : 0;
    if (load_warps) set_int(k, load, AT_ROLE_WARPS, load_warps);
    int asked = c->cx->options.persist;
    bool usual = machine->roles_always || (machine->has_threads && run == RUN_ROLES);
    bool persist = !c->waits_for_programs && (asked == 1 || (asked != 0 && usual));
    if (c->blocks) kernel_set(k, (Attr){.id = AT_BLOCKS, .number = c->blocks});
    if (persist) op_set(k, tasks, (Attr){.id = AT_PERSIST, .number = 1});
    if (!op_attr(tasks, AT_ORDER)) {
        bool grouped = persist && machine->has_threads && shares_both_ways(c, tasks);
        Word order = grouped ? ORDER_GROUPED : tasks->operand_count == 1 ? ORDER_CODE : ORDER_ROW;
        op_set(k, tasks, (Attr){.id = AT_ORDER, .word = order});
        if (grouped) set_int(k, tasks, AT_GROUP, machine->cost.grouped_rows);
    }
    Word order = op_word(tasks, AT_ORDER, ORDER_CODE);
    int varies = persist && compute && machine->has_threads && (order == ORDER_CODE || order == ORDER_ROW)
                     ? varying_index(k, tasks, compute)
                     : -1;
    if (varies >= 0) {
        op_set(k, tasks, (Attr){.id = AT_ORDER, .word = ORDER_LONGEST});
        set_int(k, tasks, AT_VARIES, varies);
    }
    pass_find(c->cx, k->range, FIND_WORKERS, workers, workers == 1 ? "" : "s",
              persist ? "persistent" : "one task a launch", word_info[op_word(tasks, AT_ORDER, ORDER_CODE)].text);
    int wanted = c->cx->options.workers;
    const Matrix *async = matrix_async(machine);
    if (run == RUN_ROLES && wanted && wanted != workers) {
        if (async)
            pass_find(c->cx, k->range, FIND_WORKERS_ASKED, wanted, async->m);
        else
            pass_find(c->cx, k->range, FIND_WORKERS_WAIT, wanted);
    }
    if (asked == 1 && !persist) pass_find(c->cx, k->range, FIND_PERSIST_IDLE);
    if (run == RUN_ROLES) ring_group_plan(c->cx, k, tasks);
}
