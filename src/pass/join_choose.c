/* SPDX-License-Identifier: Apache-2.0 */
/* join_choose.c: how many tasks become one: what they hold and do, and what that costs on the cores of a machine. */
#include "pass/join_state.h"

/* --- what tasks hold and do --- */

enum { LOOP_TRIPS = 32, PAGE = 32, PAGE_CYCLES = 64 /* of a product of two pages */ };

static void count_held(JoinLimits *limits, const Type *type, int64_t times, int row, int column) {
    limits->held[(row > 0) + 2 * (column > 0)] += ty_elements(type) * times;
}

static int64_t pages_along(const Type *type, int axis) { return (type->extent[axis] + PAGE - 1) / PAGE; }

static bool place_follows(Join *x, const Op *load, Along *at) {
    x->at = at;
    return join_moved_dim(x, load) != -1;
}

/* Loads, arithmetic, and what compute keeps: products, and what loops carry. */
static void count_region(Join *x, JoinLimits *limits, const Region *region, double trips) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_TLOAD && join_is_tile(x, op->results[0])) {
            const Type *type = join_type(x, op->results[0]);
            int by = place_follows(x, op, &x->along[0]) + 2 * place_follows(x, op, &x->along[1]);
            limits->loaded[by] += trips * (double)(ty_elements(type) * ty_elem_bytes(type));
        }
        if (op->code == OP_DOT && join_type(x, op->results[0])->rank == 2) {
            const Type *left = join_type(x, op->operands[0]), *type = join_type(x, op->results[0]);
            int64_t pages = pages_along(left, 1) * pages_along(type, 0) * pages_along(type, 1);
            limits->cycles += trips * (double)(pages * PAGE_CYCLES);
        }
        bool is_float = op->result_count == 1 && join_is_tile(x, op->results[0]) &&
                        elem_is_float(join_type(x, op->results[0])->elem);
        bool is_step = is_float &&
                       (op_has(op->code, TRAIT_ELEMENTWISE) || op->code == OP_REDUCE);
        if (is_step) { /* as long as a product of the same pages: a guess in the middle */
            const Type *type = join_type(x, op->code == OP_REDUCE ? op->operands[0] : op->results[0]);
            limits->cycles += trips * (double)((ty_elements(type) + PAGE * PAGE - 1) / (PAGE * PAGE) * PAGE_CYCLES);
        }
        for (int i = 0; (op->code == OP_DOT || op->code == OP_FOR) && i < op->result_count; i++) {
            Ref ref = op->results[i];
            if (join_is_tile(x, ref))
                count_held(limits, join_type(x, ref), 4, x->along[0].axis[ref], x->along[1].axis[ref]);
        }
        for (int i = 0; i < op->region_count; i++)
            count_region(x, limits, op->regions[i], op->code == OP_FOR ? trips * LOOP_TRIPS : trips);
    }
}

/* Those of the machine, or the rectangle that an option or the kernel asks for. */
static void find_cores(const Join *x, JoinLimits *limits) {
    const Machine *machine = x->cx->machine;
    const Attr *cores = kernel_attr(x->k, AT_TT_CORES), *rect = kernel_attr(x->k, AT_TT_RECT);
    int64_t columns = machine->core_columns, rows = machine->core_rows;
    if (x->cx->options.cores)
        columns = x->cx->options.cores >> 16, rows = x->cx->options.cores & 0xffff;
    else if (cores && cores->list.count == 2)
        columns = cores->list.at[0], rows = cores->list.at[1];
    else if (rect && rect->list.count == 4)
        columns = rect->list.at[3], rows = rect->list.at[2];
    limits->columns = columns > 0 && columns < machine->core_columns ? (int)columns : machine->core_columns;
    limits->rows = rows > 0 && rows < machine->core_rows ? (int)rows : machine->core_rows;
}

JoinLimits join_limits(Join *x) {
    JoinLimits limits = {0};
    find_cores(x, &limits);
    for (int i = 0; i < 2; i++) {
        limits.along[i] = x->along[i].possible;
        limits.whole[i] = !join_stores_can_end(x, tasks_body(x->tasks));
    }
    for (size_t i = 0; i < x->rings.count; i++) {
        const Value *ring = ir_value(x->k, x->rings.at[i]);
        for (int f = 0; f < ring->type->field_count; f++) {
            const Type *type = ring->type->fields[f].type;
            count_held(&limits, type, ty_elem_bytes(type) * op_int(ring->op, AT_SLOTS, 1), x->along[0].fields[i][f],
                       x->along[1].fields[i][f]);
        }
    }
    count_region(x, &limits, tasks_body(x->tasks), 1);
    return limits;
}

/* --- how many --- */

int64_t join_held(const JoinLimits *l, JoinSize size) {
    int64_t rows = size.rows, columns = size.columns;
    return l->held[0] + l->held[1] * rows + l->held[2] * columns + l->held[3] * rows * columns;
}

/* A core's turns on the rectangle of most cores whose blocks are equal, as those of cores that share are; the bytes
 * that all of them load. */
static double shared_turns(const JoinLimits *l, JoinSize size, const int64_t groups[2],
                           double *bytes) {
    double best = 0;
    for (int64_t y = 1; y <= l->rows && y <= groups[0]; y++)
        for (int64_t x = 1; x <= l->columns && x <= groups[1]; x++) {
            double turns = (double)(groups[0] / y) * (double)(groups[1] / x);
            double read = turns * (l->loaded[0] * (double)y + l->loaded[1] * size.rows * (double)y +
                                   l->loaded[2] * size.columns * (double)x +
                                   l->loaded[3] * size.rows * size.columns * (double)(x * y));
            bool is_worse = best > 0 && (turns > best || (turns == best && read >= *bytes));
            if (groups[0] % y || groups[1] % x || is_worse) continue;
            best = turns, *bytes = read;
        }
    int64_t all = (int64_t)l->rows * l->columns;
    double most = (double)groups[0] * (double)groups[1], cores = most / best;
    if (2 * cores >= (most < (double)all ? most : (double)all)) return best;
    *bytes = most * (l->loaded[0] + l->loaded[1] * size.rows + l->loaded[2] * size.columns +
                     l->loaded[3] * size.rows * size.columns); /* else most would idle: each loads for itself */
    int64_t turns = (groups[0] * groups[1] + all - 1) / all;
    return (double)turns;
}

/* Arithmetic and loads go on side by side, but never quite. */
static double cost_of(const Machine *machine, const JoinLimits *l, JoinSize size, const int64_t tasks[2],
                      double *loaded) {
    const int64_t groups[2] = {(tasks[0] + size.rows - 1) / size.rows, (tasks[1] + size.columns - 1) / size.columns};
    double bytes = 0, turns = shared_turns(l, size, groups, &bytes);
    *loaded = bytes;
    double math = turns * size.rows * size.columns * l->cycles, loads = bytes / machine->load_bytes;
    return math > loads ? math + loads / 4 : loads + math / 4;
}

JoinSize join_choose(const Machine *machine, const JoinLimits *limits, const int64_t tasks[2]) {
    JoinSize best = {1, 1};
    if (tasks[0] < 1 || tasks[1] < 1 || tasks[0] > UINT16_MAX || tasks[1] > UINT16_MAX) return best;
    double bytes, fewest, least = cost_of(machine, limits, best, tasks, &fewest);
    for (int pass = 0; pass < 2; pass++) /* of those that take hardly longer than the fastest: who loads least */
        for (int r = 1; r <= MOST_JOINED; r++)
            for (int c = 1; c <= MOST_JOINED; c++) {
                JoinSize size = {r, c};
                bool allowed = (r == 1 || limits->along[0]) && (c == 1 || limits->along[1]);
                allowed &= !limits->apart || r == 1 || c == 1;
                bool whole = (limits->whole[0] && tasks[0] % r) || (limits->whole[1] && tasks[1] % c);
                if (!allowed || whole || join_held(limits, size) > machine->ring_bytes) continue;
                double cost = cost_of(machine, limits, size, tasks, &bytes);
                if (pass == 0 ? cost < least * 0.99 : cost < least * 1.01 && bytes < fewest * 0.99) {
                    if (pass == 0) least = cost;
                    fewest = bytes;
                    best = size;
                }
            }
    return best;
}
