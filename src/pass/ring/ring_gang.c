/* SPDX-License-Identifier: Apache-2.0 */
/* ring_gang.c: programs that run side by side in a block and share what their loops load.
 *
 * A program of 64 rows keeps one warpgroup busy, and one warpgroup leaves most of a multiprocessor
 * idle: it waits for its product, then the matrix units wait for its arithmetic. Two or three
 * programs cover each other. Neighbours along an index of the grid that the loads of the loop do
 * not use (attention: blocks of queries of one head) read the same items, so the ring is filled
 * once for all of them:
 *
 *     tasks [np0, np1] { role load { put q ; for n { put k ; put v } } role compute { .. } }
 *  -> tasks<gang=3>: worker g of compute runs program 3 i + g; q has a slot a worker,
 *     k and v go to all workers; a worker whose program has fewer trips lets the rest pass by
 *
 * Programs whose loops do not load the same (causal attention as two loops) can at least be two blocks: one worker
 * that holds all rows of its program, in each of two blocks on a multiprocessor, instead of two workers in one; of
 * programs of 64 rows as many as would be side by side.
 *
 * Sums that are rounded before they are added (`acc += dot(p, v, out_dtype=float16)`) are a tile more beside the
 * accumulator, through the whole trip where the loop is turned (ring_late.c). Where one thread's registers then do not
 * hold its share of all rows, but those of half a multiprocessor hold a worker's loop as it was written, two blocks of
 * the same workers cover each other, and nothing is turned: four warpgroups instead of two.
 *
 * This is a plan and changes no bit. Each worker makes the same hand-overs in the same order as one
 * alone with the longest program of the gang, which is what ring_check has proved; an item of a
 * shared ring is free when all workers have released it, as with workers that share one program. */
#include "pass/ring/ring_gang.h"
#include "ir/ringform.h"
#include "pass/layout/layout.h"
#include "pass/matrix.h"
#include "pass/ring/ring_cut.h"
#include "pass/ring/ring_rotate.h"

static int group_threads(const Machine *machine) { return machine->lanes * machine->group_warps; }

int gang_registers(const Machine *machine, int blocks, int compute_groups, int movers, int few) {
    int groups = compute_groups + movers, step = machine->register_step;
    int entry = machine->registers / (group_threads(machine) * groups * blocks) / step * step;
    int many = (entry * groups - few * movers) / compute_groups / step * step;
    return many > machine->role_registers ? machine->role_registers : many;
}

/* --- which index --- */
static bool uses_marked(const Op *op, const bool *marked) {
    for (int i = 0; i < op->operand_count; i++)
        if (ref_is_value(op->operands[i]) && marked[op->operands[i]]) return true;
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF && ref_is_value(op->attrs[i].ref) && marked[op->attrs[i].ref])
            return true;
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            if (uses_marked(inner, marked)) return true;
    return false;
}

static void mark(const Op *op, bool *marked) {
    if (uses_marked(op, marked))
        for (int i = 0; i < op->result_count; i++) marked[op->results[i]] = true;
}

/* Does what the loop loads leave the index alone? How many trips it makes may depend on it. */
static bool is_shared_along(PassContext *cx, Kernel *k, const Op *tasks, const Op *load_loop, int dim) {
    const Region *body = tasks->regions[0];
    bool *marked = ARENA_ARRAY(cx->scratch, bool, k->values.count);
    marked[body->args[dim]] = true;
    for (const Op *op = body->first; op; op = op->next)
        if (op->code != OP_ROLE) mark(op, marked);
    for (const Op *op = load_loop->parent->first; op != load_loop; op = op->next) mark(op, marked);
    for (int i = 0; i < load_loop->operand_count; i++)
        if (i != 1 && ref_is_value(load_loop->operands[i]) && marked[load_loop->operands[i]]) return false;
    for (const Op *op = load_loop->regions[0]->first; op; op = op->next)
        if (uses_marked(op, marked)) return false;
    return true;
}

/* --- the roles --- */
/* The only op of the role with regions and hand-overs inside: a loop in steps of one. */
static const Op *only_loop(const Kernel *k, const Op *role, bool last) {
    const Op *loop = NULL;
    for (const Op *op = role->regions[0]->first; op; op = op->next) {
        if (loop && last && hands_over(op)) return NULL;
        if (!op->region_count || !hands_over(op)) continue;
        int64_t step;
        if (loop || op->code != OP_FOR || !ir_const_int(k, op->operands[2], &step) || step != 1) return NULL;
        loop = op;
    }
    return loop;
}

static bool is_made_in(const Kernel *k, Ref value, const Region *region) {
    const Op *op = ref_is_value(value) ? ir_value(k, value)->op : NULL;
    while (op && op->parent != region) op = op->parent->owner;
    return op != NULL;
}

/* Of what stands before the roles: each worker has it for its own program, numbers from memory too (scales). */
static bool may_be_common(const Op *op) {
    return op_has(op->code, TRAIT_PURE) || op_has(op->code, TRAIT_TERMINATOR) ||
           (op_has(op->code, TRAIT_READS) && !op_has(op->code, TRAIT_WRITES));
}

bool gang_find(PassContext *cx, Kernel *k, const Op *tasks, Gang *out, const char **why) {
    const Op *load = NULL, *compute = NULL;
    const Region *body = tasks->regions[0];
    *why = "its roles are not load and compute alone";
    if (tasks->region_count != 1) return false;
    for (const Op *op = body->first; op; op = op->next) {
        bool is_role = op->code == OP_ROLE;
        if (is_role && role_name(op) == ROLE_LOAD)
            load = op;
        else if (is_role && role_name(op) == ROLE_COMPUTE)
            compute = op;
        else if (is_role ? !role_is_guest(op) : !may_be_common(op))
            return false;
    }
    if (!load || !compute || role_is_guest(load)) return false;
    *why = "a block runs one task a launch, or loads for another one";
    if (!op_flag(tasks, AT_PERSIST) || op_attr(tasks, AT_CLUSTER)) return false;
    *why = "a program has more than one warpgroup";
    if (op_int(compute, AT_WORKERS, 1) > 1 || layout_group(cx, k, compute).warps != cx->machine->group_warps)
        return false;
    Gang g = {.loop = only_loop(k, compute, false), .load_loop = only_loop(k, load, true)};
    *why = "load and compute do not meet in one loop of two products";
    if (!g.loop || !g.load_loop || !op_flag(g.loop, AT_ROTATE)) return false;
    *why = "the bounds of the loops are not those of the task";
    for (int i = 0; i < 2; i++)
        if (g.loop->operands[i] != g.load_loop->operands[i]) return false;
    if (is_made_in(k, g.loop->operands[0], body)) return false;
    g.varies = is_made_in(k, g.loop->operands[1], body);
    *why = "what the loop loads depends on every index of the grid";
    for (g.dim = 0; g.dim < body->arg_count; g.dim++)
        if (is_shared_along(cx, k, tasks, g.load_loop, g.dim)) break;
    if (g.dim == body->arg_count) return false;
    g.programs = (int)op_int(tasks, AT_GANG, 1);
    *out = g;
    return true;
}

/* --- how many --- */
static int64_t elements(const Kernel *k, Ref value) {
    const Type *type = ir_type(k, value);
    int64_t count = 1;
    for (int i = 0; i < type->rank; i++) count *= type->extent[i];
    return count;
}

/* More than a number a row, or one for each lane that shares the row (tally.c). */
static bool is_tile(const Kernel *k, Ref value) {
    const Type *type = ir_type(k, value);
    int registers, lanes;
    matrix_columns(FRAGMENT_SUM_16x8, &registers, &lanes);
    return type->rank == 2 && type->extent[0] > 1 && type->extent[1] > 1 << lanes;
}

static bool adds_to_product(const Kernel *k, const Op *dot) {
    const Op *sum = ref_is_value(dot->operands[2]) ? ir_value(k, dot->operands[2])->op : NULL;
    return sum && sum->code == OP_DOT;
}

static int64_t words(const Kernel *k, Ref value) {
    return elements(k, value) * elem_info[ir_type(k, value)->elem].bits / 32;
}

/* Of a worker's thread: the products' results, the left operand that goes from trip to trip, and what else does. */
static int64_t registers_needed(const Machine *machine, const Kernel *k, const Rotation *r) {
    const Region *body = r->loop->regions[0];
    int64_t tiles = words(k, r->second->operands[0]);
    for (const Op *op = body->first; op; op = op->next)
        if (op->code == OP_DOT && !adds_to_product(k, op)) tiles += elements(k, op->results[0]);
    for (int a = 1; a < body->arg_count; a++)
        if (a != 1 + r->carried && is_tile(k, body->args[a])) tiles += elements(k, body->args[a]);
    return tiles / group_threads(machine) + machine->cost.other_registers;
}

static int64_t bytes_needed(const Cut *c, int programs) {
    int64_t bytes = machine_spare_bytes(c->cx->machine, 2); /* behind the rings; behind their barriers */
    for (size_t i = 0; i < c->rings.count; i++) {
        const CutRing *ring = c->rings.at[i];
        bool shared = !ring->output && ring->in_loop;
        if (!ring->shares) bytes += ring->slots * ring->bytes * (shared ? 1 : programs);
    }
    return bytes;
}

/* Programs that registers and shared memory hold side by side, up to so many. */
static int most_programs(Cut *c, const Rotation *r, int programs) {
    const Machine *machine = c->cx->machine;
    while (programs > 1 &&
           (bytes_needed(c, programs) > machine->ring_bytes ||
            registers_needed(machine, c->k, r) > gang_registers(machine, 1, programs, 1, machine->issue_registers)))
        programs--;
    return programs;
}

/* Of a worker's thread in any of its loops, all of which are turned. 0: one is not, or is narrow. */
static int64_t registers_of_loops(Cut *c, const Op *compute) {
    FoundOps loops = ir_list(compute->regions[0], OP_FOR, c->arena);
    int64_t most = 0;
    for (size_t i = 0; i < loops.count; i++) {
        Rotation r;
        if (!op_flag(loops.at[i], AT_ROTATE) || !rotation_find(c->k, loops.at[i], c->arena, &r)) return 0;
        /* Products of fewer columns take what stays through the loop from registers (layout_left.c), if there are
         * some. */
        if (ir_type(c->k, r.first->results[0])->extent[1] < matrix_of(c->k, r.first)->m) return 0;
        int64_t own = registers_needed(c->cx->machine, c->k, &r);
        if (own > most) most = own;
    }
    return most;
}

static bool find_turned(Cut *c, Op *tasks, Gang *gang, Rotation *r, const char **why) {
    return gang_find(c->cx, c->k, tasks, gang, why) && rotation_find(c->k, gang->loop, c->arena, r);
}

/* One worker that loads by TMA, in so many blocks on a multiprocessor, at most, as registers and memory hold; false:
 * not even in two. */
static bool take_blocks(Cut *c, Op *tasks, int most) {
    const Machine *machine = c->cx->machine;
    Op *compute = role_find(tasks, ROLE_COMPUTE);
    const Op *load = role_find(tasks, ROLE_LOAD);
    if (!compute || !load || role_is_guest(load) || !op_flag(tasks, AT_PERSIST) || op_attr(tasks, AT_CLUSTER) ||
        layout_group(c->cx, c->k, compute).warps != machine->group_warps)
        return false;
    int64_t registers = registers_of_loops(c, compute);
    int blocks = registers ? most : 1;
    while (blocks > 1 && (registers > gang_registers(machine, blocks, 1, 1, machine->issue_registers) ||
                          bytes_needed(c, 1) > machine_room(machine, blocks)))
        blocks--;
    if (blocks == 1 || !layout_fills_by_tma(c->cx, c->k, load->regions[0])) return false;
    kernel_set(c->k, (Attr){.id = AT_BLOCKS, .number = blocks});
    return true;
}

/* A program of so few columns that one warpgroup holds all of its rows, twice in a block: trips of twice the work
 * between the same barriers, in two chains. That takes a launch that asked for no more warps. */
static bool take_one_worker(Cut *c, Op *tasks, Gang *gang, Rotation *r) {
    Op *compute = role_find(tasks, ROLE_COMPUTE);
    const char *why;
    const Op *load = role_find(tasks, ROLE_LOAD);
    if (!compute || !load || c->cx->options.workers || op_int(compute, AT_WORKERS, 1) != 2) return false;
    Attr workers = *op_attr(compute, AT_WORKERS), by = *op_attr(compute, AT_BY);
    op_drop(compute, AT_WORKERS);
    op_drop(compute, AT_BY);
    /* Whose loads are the threads' would be parted, and one worker left. */
    if (find_turned(c, tasks, gang, r, &why) && most_programs(c, r, 2) == 2 &&
        layout_fills_by_tma(c->cx, c->k, load->regions[0])) {
        pass_find(c->cx, c->k->range, FIND_WORKERS_ONE);
        return true;
    }
    if (take_blocks(c, tasks, 2)) {
        pass_find(c->cx, c->k->range, FIND_WORKERS_APART);
        return false;
    }
    op_set(c->k, compute, workers);
    op_set(c->k, compute, by);
    return false;
}

/* Programs wait for each other where the rings of their loop have two slots (128 rows of heads of 64 each, N 16384, on
 * an H200: 0.91 of a rival, 0.98 with three). Small slots alone, which keep nothing else out of memory. */
static void deepen(Cut *c) {
    const Machine *machine = c->cx->machine;
    int enough = machine->cost.enough_slots;
    int64_t bytes = 0;
    for (size_t i = 0; i < c->rings.count; i++)
        if (!c->rings.at[i]->output && c->rings.at[i]->in_loop) bytes += c->rings.at[i]->bytes;
    if (c->cx->options.slots || bytes * enough > machine->ring_bytes / 4) return;
    for (size_t i = 0; i < c->rings.count; i++) {
        CutRing *ring = c->rings.at[i];
        Op *op = ir_value(c->k, ring->ring)->op;
        if (ring->output || !ring->in_loop || ring->shares || ring->slots < 2 || ring->slots >= enough) continue;
        op_set(c->k, op, (Attr){.id = AT_ASKED, .number = ring->slots});
        op_set(c->k, op, (Attr){.id = AT_SLOTS, .number = ring->slots = enough});
        if (ring->feeds_dot) op_set(c->k, op, (Attr){.id = AT_HOLD, .number = enough - 1});
    }
}

void cut_gang(Cut *c, Op *tasks) {
    Kernel *k = c->k;
    int wanted = c->cx->options.gang;
    Gang gang;
    Rotation r;
    const char *why = "its tasks run in groups that share the L2";
    if (wanted == 1 || op_word(tasks, AT_ORDER, ORDER_CODE) == ORDER_GROUPED ||
        (!find_turned(c, tasks, &gang, &r, &why) && !take_one_worker(c, tasks, &gang, &r))) {
        if (wanted > 1) pass_find(c->cx, k->range, FIND_GANG_NONE, why);
        const Op *compute = role_find(tasks, ROLE_COMPUTE);
        if (wanted != 1 && compute && op_int(compute, AT_WORKERS, 1) == 1)
            take_blocks(c, tasks, c->cx->machine->cost.gang_programs);
        return;
    }
    deepen(c);
    int programs = most_programs(c, &r, wanted ? wanted : c->cx->machine->cost.gang_programs);
    if (programs < wanted) pass_find(c->cx, k->range, FIND_GANG_FEWER, wanted, programs);
    if (programs == 1) return;
    op_set(k, tasks, (Attr){.id = AT_GANG, .number = programs});
    pass_find(c->cx, k->range, FIND_GANG, programs);
}

/* --- two blocks of loops that are not turned --- */
/* Registers of all threads: in a loop as it was written, and in the same one turned. */
typedef struct LateTiles {
    int64_t written, turned;
} LateTiles;

/* What is carried stays, the rest is the scores, or the sum and the left operand that is made from them. */
static bool count_late(Cut *c, const Op *loop, LateTiles *most) {
    const Op *first, *second = ring_late_sum(c->k, loop, c->arena, &first);
    const Region *body = loop->regions[0];
    if (!second) return false;
    int64_t carried = 0, scores = elements(c->k, first->results[0]), sum = elements(c->k, second->results[0]);
    int64_t left = words(c->k, second->operands[0]), behind = left + sum;
    for (int a = 1; a < body->arg_count; a++)
        if (is_tile(c->k, body->args[a])) carried += elements(c->k, body->args[a]);
    int64_t written = carried + (scores > behind ? scores : behind), turned = carried + scores + behind;
    if (written > most->written) most->written = written;
    if (turned > most->turned) most->turned = turned;
    return true;
}

bool cut_pair(Cut *c, Op *tasks) {
    const Machine *machine = c->cx->machine;
    const Op *compute = role_find(tasks, ROLE_COMPUTE), *load = role_find(tasks, ROLE_LOAD);
    if (c->cx->options.rotate == 1 || !compute || !load || role_is_guest(load) || !op_flag(tasks, AT_PERSIST) ||
        op_attr(tasks, AT_CLUSTER))
        return false;
    int workers = (int)op_int(compute, AT_WORKERS, 1), threads = group_threads(machine);
    if (workers < 2 || layout_group(c->cx, c->k, compute).warps != workers * machine->group_warps) return false;
    FoundOps loops = ir_list(compute->regions[0], OP_FOR, c->arena);
    LateTiles most = {0};
    for (size_t i = 0; i < loops.count; i++)
        if (!count_late(c, loops.at[i], &most)) return false;
    const MachineCost *cost = &machine->cost;
    if (!loops.count || most.turned / threads + cost->other_registers <=
                            gang_registers(machine, 1, workers, 1, machine->issue_registers))
        return false;
    if (most.written / (threads * workers) + cost->crowd_registers >
            gang_registers(machine, 2, workers, 1, machine->issue_registers) ||
        bytes_needed(c, 1) > machine_room(machine, 2) || !layout_fills_by_tma(c->cx, c->k, load->regions[0]))
        return false;
    kernel_set(c->k, (Attr){.id = AT_BLOCKS, .number = 2});
    pass_find(c->cx, c->k->range, FIND_WORKERS_PAIR);
    return true;
}
