/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_roles.c: which warps run a role, with how many registers, and which barrier is theirs.
 *
 *     role<compute, warps=8, first=0, id=1, regs=232>  role<load, warps=4, first=8, id=2, regs=40, elect>
 *
 * compute on the first warps, each of the others on a warpgroup of its own, unless the plan runs it `on` another role;
 * a role that is alone needs neither a branch nor a barrier of its own (id 0: that of the block). */
#include "analysis/sums.h"
#include "pass/schedule/schedule.h"

static bool is_compute(const Op *role) { return role_name(role) == ROLE_COMPUTE; }

/* Does a ring between roles take stores of threads, not only TMA; or copies of theirs? */
static bool threads_load(const Schedule *s) {
    for (size_t i = 0; i < s->rings.count; i++)
        if (!s->rings.at[i].fused && s->rings.at[i].store_puts) return true;
    return false;
}
static bool threads_copy(const Schedule *s) {
    for (size_t i = 0; i < s->rings.count; i++)
        if (!s->rings.at[i].fused && s->rings.at[i].copy_puts) return true;
    return false;
}

/* Two a row, where there are more than the usual ones. */
static int registers_of_copies(const Schedule *s) {
    const Machine *machine = s->cx->machine;
    int more = 2 * (schedule_rows_kept(s) - machine->copy_rows), step = machine->register_step;
    return machine->copy_registers + (more > 0 ? (more + step - 1) / step * step : 0);
}

/* Registers of a role when the block has more than two warpgroups: the movers give theirs to compute. One thread that
 * only issues TMA needs very few, one that makes maps for it some more, threads that copy rows hold their addresses,
 * those that carry what they move need many. 0: as the compiler has it. */
static int64_t registers_of(const Schedule *s, const Op *role, int threads) {
    const Machine *machine = s->cx->machine;
    bool single = true;
    int group = machine->lanes * machine->group_warps, groups = threads / group, compute_groups = 0;
    for (const Op *op = role->parent->first; op; op = op->next) {
        if (op->code != OP_ROLE || role_is_guest(op)) continue;
        if (is_compute(op))
            compute_groups = layout_group(s->cx, s->k, op).warps / machine->group_warps * s->gang.programs;
        else
            single = single && schedule_is_single(s, op);
    }
    if (threads % group || (groups < 3 && s->blocks < 2) || !compute_groups || compute_groups == groups ||
        !machine->register_step)
        return 0;
    bool issues = single && !op_attr(s->tasks, AT_CLUSTER) && !schedule_maps_made(s->k);
    int few = issues            ? machine->issue_registers
              : threads_load(s) ? machine->carry_registers
              : threads_copy(s) ? registers_of_copies(s)
                                : machine->move_registers;
    int many = gang_registers(machine, s->blocks > 1 ? s->blocks : 1, compute_groups, groups - compute_groups, few);
    int64_t asked = op_int(role, AT_REGS, 0);
    if (s->cx->options.max_registers) return 0; /* none is to have more */
    if (asked) return asked;
    if (many < few) return 0; /* with so many warps the movers have none to give */
    return is_compute(role) ? many : few;
}

int64_t schedule_thread_registers(const Schedule *s, const Op *role) {
    const Machine *machine = s->cx->machine;
    int threads = machine->lanes * layout_warps(s->cx, s->k);
    int64_t own = registers_of(s, role, threads);
    int64_t most = machine->registers / (threads * (s->blocks > 1 ? s->blocks : 1));
    if (s->cx->options.max_registers && s->cx->options.max_registers < most) most = s->cx->options.max_registers;
    return own ? own : most < machine->thread_registers ? most : machine->thread_registers;
}

static int64_t registers_of_one(const Kernel *k, Ref sum) { return schedule_layout(k, sum)->registers; }

static int registers_of_sums(const Schedule *s) { return (int)sum_most_in_row(s->k, registers_of_one); }

/* Do the sums of all products in a row leave half of so many registers to the rest? */
static bool sums_leave_room(const Schedule *s, int registers) { return registers_of_sums(s) <= registers / 2; }

/* Other blocks work while threads wait that copy for themselves: as many as have room, in memory and with what a thread
 * needs beside its sums, or beside the rows that it reduces. (Those that carry what they load need more, nobody knows
 * how much.) */
static int blocks_ahead(const Schedule *s, int warps) {
    const Machine *machine = s->cx->machine;
    bool ahead = false, carries = false;
    for (size_t i = 0; i < s->rings.count; i++) {
        ahead |= s->rings.at[i].ahead;
        carries |= s->rings.at[i].ahead && s->rings.at[i].store_puts;
    }
    const MachineCost *cost = &machine->cost;
    int blocks = 1, needs = registers_of_sums(s) + cost->beside_sums, rows = ahead ? schedule_row_registers(s) : 0;
    if (rows) needs = rows + cost->beside_rows;
    for (int more = 2; ahead && !carries && more * warps <= cost->crowd_most; more++) {
        int registers = machine->registers / (more * warps * machine->lanes);
        if (s->bytes > machine_room(machine, more) || needs > registers) break;
        blocks = more;
    }
    return blocks;
}

/* --- tasks --- */
/* Are the tasks the blocks of the launch, along several axes of its grid? Which, one an index. */
static bool are_blocks(const Schedule *s, int64_t *axes) {
    const Op *tasks = s->tasks;
    unsigned seen = 0;
    if (op_flag(tasks, AT_PERSIST) || op_attr(tasks, AT_CLUSTER) || s->gang.programs > 1 || tasks->operand_count < 2 ||
        op_word(tasks, AT_ORDER, ORDER_CODE) != ORDER_ROW)
        return false;
    for (int i = 0; i < tasks->operand_count; i++) {
        const Op *op = ref_is_value(tasks->operands[i]) ? ir_value(s->k, tasks->operands[i])->op : NULL;
        if (!op || op->code != OP_NUM_PROGRAMS) return false;
        axes[i] = op_int(op, AT_DIM, 0);
        if (seen >> axes[i] & 1) return false;
        seen |= 1u << axes[i];
    }
    return true;
}

static void plan_tasks(const Schedule *s) {
    int64_t *axes = ARENA_ARRAY(s->k->module->arena, int64_t, MAX_RANK);
    if (are_blocks(s, axes))
        op_set(s->k, s->tasks, (Attr){.id = AT_GRID, .list = {.at = axes, .count = s->tasks->operand_count}});
}

static bool order_holds(Schedule *s) {
    const Op *tasks = s->tasks;
    Word order = op_word(tasks, AT_ORDER, ORDER_CODE);
    bool dealt = order == ORDER_LONGEST && op_flag(tasks, AT_PERSIST);
    if (order == ORDER_GROUPED && (tasks->operand_count != 2 || s->gang.programs > 1))
        return schedule_fail(s, tasks, "`order=grouped` is of tasks with two indices, one program at a time");
    if (order == ORDER_LONGEST && op_attr(tasks, AT_CLUSTER))
        return schedule_fail(s, tasks, "`order=longest` is of blocks that run by themselves");
    return !op_attr(tasks, AT_VARIES) || (dealt && op_int(tasks, AT_VARIES, 0) < tasks->operand_count) ||
           schedule_fail(
               s, tasks,
               "`varies` names an index of tasks that blocks run one after the other (`persist`), the longest "
               "first (`order=longest`)");
}

static bool tasks_hold(Schedule *s) {
    const Attr *grid = op_attr(s->tasks, AT_GRID);
    int64_t axes[MAX_RANK];
    bool good = !grid || (are_blocks(s, axes) && grid->list.count == s->tasks->operand_count);
    for (int i = 0; good && grid && i < grid->list.count; i++) good = grid->list.at[i] == axes[i];
    return good || schedule_fail(s, s->tasks,
                                 "`grid` names the axes of the launch whose extents are the numbers of its tasks, each "
                                 "once, where a block runs one task");
}

void schedule_roles(Schedule *s) {
    plan_tasks(s);
    int warps = layout_warps(s->cx, s->k), number = 1;
    for (int turn = 0; turn < 2; turn++)
        for (Op *role = role_first(s->tasks); role; role = role_next(role)) {
            if (role_is_guest(role) || is_compute(role) != (turn == 0)) continue;
            ThreadGroup g = layout_group(s->cx, s->k, role);
            bool alone = g.warps * (g.first_warp ? 1 : s->gang.programs) == warps;
            int64_t registers = registers_of(s, role, s->cx->machine->lanes * warps);
            op_set(s->k, role, (Attr){.id = AT_ROLE_WARPS, .number = g.warps});
            op_set(s->k, role, (Attr){.id = AT_FIRST, .number = g.first_warp});
            op_set(s->k, role, (Attr){.id = AT_ID, .number = alone ? 0 : number++});
            op_drop(role, AT_REGS);
            if (registers) op_set(s->k, role, (Attr){.id = AT_REGS, .number = registers});
            if (schedule_is_single(s, role)) op_set(s->k, role, (Attr){.id = AT_ELECT, .number = 1});
        }
    if (s->gang.programs > 1) {
        op_set(s->k, s->tasks, (Attr){.id = AT_SIDE, .number = s->gang.dim});
        op_set(s->k, (Op *)s->gang.loop, (Attr){.id = AT_TOGETHER, .number = 1});
        op_set(s->k, (Op *)s->gang.load_loop, (Attr){.id = AT_TOGETHER, .number = 1});
    }
    /* A block with roles takes what it needs; but two share a multiprocessor that wait for loads of their own threads,
     * where the registers allow it. */
    const Machine *machine = s->cx->machine;
    int registers = machine->registers / (2 * machine->lanes * warps);
    bool two = (threads_load(s) || threads_copy(s)) && registers >= machine->cost.pair_registers &&
               2 * s->bytes <= machine->ring_bytes && sums_leave_room(s, registers);
    if (s->blocks > 1) pass_find(s->cx, s->k->range, FIND_CROWD, s->blocks);
    kernel_set(s->k, (Attr){.id = AT_BLOCKS, .number = s->blocks ? s->blocks : two ? 2 : blocks_ahead(s, warps)});
}

/* Roles give registers away, and wait for those that they want more: are there as many? */
static bool registers_hold(Schedule *s) {
    const Machine *machine = s->cx->machine;
    int warps = layout_warps(s->cx, s->k), step = machine->register_step;
    int64_t blocks = kernel_int(s->k, AT_BLOCKS, 1), wanted = 0, any = 0;
    int64_t entry = step ? machine->registers / (machine->lanes * warps * blocks) / step * step : 0;
    for (const Op *role = role_first(s->tasks); role; role = role_next(role)) {
        if (role_is_guest(role)) continue;
        int64_t own = op_int(role, AT_REGS, 0), programs = op_int(role, AT_FIRST, 0) ? 1 : s->gang.programs;
        if (own && (!step || own % step || own < machine->issue_registers || own > machine->role_registers))
            return schedule_fail(s, role, "`regs` are not so many as a thread of this machine can have");
        wanted += op_int(role, AT_ROLE_WARPS, 0) * programs * (own ? own : entry);
        any |= own;
    }
    if (any && kernel_int(s->k, AT_MOST_REGS, 0))
        return schedule_fail(s, s->tasks, "a role has registers (`regs`) of its own in a kernel that limits them");
    return !any || wanted <= entry * warps ||
           schedule_fail(s, s->tasks, "its roles want more registers (`regs`) than others of the block give away");
}

bool schedule_roles_hold(Schedule *s) {
    int warps = layout_warps(s->cx, s->k);
    uint64_t barriers = 0;
    if (!order_holds(s) || !tasks_hold(s)) return false;
    for (size_t i = 0; i < s->rings.count; i++) {
        int groups = s->rings.at[i].solo ? layout_group(s->cx, s->k, s->rings.at[i].from).warps : 0;
        for (int g = 0; g * s->cx->machine->group_warps < groups; g++)
            barriers |= (uint64_t)1 << (s->rings.at[i].solo + g);
    }
    for (const Op *role = role_first(s->tasks); role; role = role_next(role)) {
        if (role_is_guest(role)) continue;
        ThreadGroup g = layout_group(s->cx, s->k, role);
        bool alone = g.warps * (g.first_warp ? 1 : s->gang.programs) == warps;
        int64_t id = op_int(role, AT_ID, -1);
        if (op_int(role, AT_ROLE_WARPS, 0) != g.warps || op_int(role, AT_FIRST, -1) != g.first_warp)
            return schedule_fail(s, role, "`first` and `warps` are not the warps that it has");
        if (op_flag(role, AT_ELECT) != schedule_is_single(s, role))
            return schedule_fail(s, role, "`elect`: one thread runs a role that only issues TMA, and no other");
        bool gang = s->gang.programs > 1 && !g.first_warp; /* a barrier a program */
        uint64_t own =
            op_flag(role, AT_ELECT) || id < 0 ? 0 : (((uint64_t)2 << (gang ? s->gang.programs - 1 : 0)) - 1) << id;
        if (id < 0 || alone != (id == 0) || (barriers & own) ||
            (own & ~(uint64_t)1) >> s->cx->machine->named_barriers) /* 0 is the block's, which each machine has */
            return schedule_fail(s, role, "`id` is a barrier of its own, or 0 where it has the block to itself");
        barriers |= own;
    }
    return registers_hold(s);
}
