/* SPDX-License-Identifier: Apache-2.0 */
/* work.c: see work.h. */
#include "pass/work.h"

#include "pass/fold/fold.h"
#include "pass/matrix.h"

#include <math.h>

enum { MOST_STEPS = 1000 };

typedef struct Counter {
    const Kernel *k;
    const int64_t *grid;
    WorkNumber *number;
    void *user;
    int steps; /* left: values are trees here, and may share much */
    Work work;
} Counter;

static bool middle(const Counter *c, int64_t dim, int64_t *out) {
    if (!c->grid || dim < 0 || dim > 2) return false;
    *out = c->grid[dim] / 2;
    return true;
}

static bool value_of(Counter *c, Ref ref, int64_t *out);

static bool value_of_argument(Counter *c, const Value *value, int64_t *out) {
    const Op *loop = value->region->owner;
    int64_t first, last;
    if (!loop || value->index < 0) return false;
    if (loop->code == OP_TASKS) return middle(c, value->index, out);
    if (loop->code != OP_FOR || value->index || !value_of(c, loop->operands[0], &first) ||
        !value_of(c, loop->operands[1], &last))
        return false;
    *out = first + (last - first) / 2;
    return true;
}

static bool value_of(Counter *c, Ref ref, int64_t *out) {
    if (--c->steps < 0) return false;
    if (ir_const_int(c->k, ref, out)) return true;
    if (ref_is_literal(ref)) return false;
    if (c->number && c->number(c->user, ref, out)) return true;
    const Value *value = ir_value(c->k, ref);
    const Op *op = value->op;
    if (value->type->kind != TY_TILE || value->type->rank || value->type->pointer || elem_is_float(value->type->elem))
        return false;
    if (!op) return value_of_argument(c, value, out);
    if (op->code == OP_PROGRAM_ID) return middle(c, op_int(op, AT_DIM, 0), out);
    int64_t x, y = 0;
    if (!op_has(op->code, TRAIT_ELEMENTWISE) || !op->operand_count || op->operand_count > 2) return false;
    if (!value_of(c, op->operands[0], &x) || (op->operand_count == 2 && !value_of(c, op->operands[1], &y)))
        return false;
    return fold_int(op->code, value->type->elem, x, y, out);
}

static double trips_of(Counter *c, const Op *loop) {
    int64_t first, last, step;
    c->steps = MOST_STEPS;
    if (!value_of(c, loop->operands[0], &first) || !value_of(c, loop->operands[1], &last) ||
        !value_of(c, loop->operands[2], &step) || step <= 0) {
        c->work.guessed = true;
        return UNKNOWN_TRIPS;
    }
    return last > first ? ceil(((double)last - (double)first) / (double)step) : 0;
}

static void count_access(Counter *c, const Op *op, const Type *result, double times) {
    bool load = op->code == OP_TLOAD || op->code == OP_LOAD;
    bool store = op->code == OP_TSTORE || op->code == OP_TATOMIC || op->code == OP_STORE;
    const Type *moved = store ? ir_type(c->k, op_operand(op, 1)) : load && result && result->rank ? result : NULL;
    if (!moved) return;
    double elements = times * (double)ty_elements(moved);
    c->work.bytes += elements * ty_elem_bytes(moved);
    if (moved->rank && (op->code == OP_LOAD || op->code == OP_STORE)) c->work.scattered += elements;
}

static void count(Counter *c, const Region *region, double times) {
    for (const Op *op = region->first; op; op = op->next) {
        const Type *result = op->result_count ? ir_type(c->k, op->results[0]) : NULL;
        bool tile = result && result->kind == TY_TILE && result->rank;
        count_access(c, op, result && result->kind == TY_TILE ? result : NULL, times);
        if (op->code == OP_DOT) {
            const Type *a = ir_type(c->k, op->operands[0]);
            const Matrix *m = matrix_of(c->k, op);
            c->work.products += 2 * times * (double)ty_elements(result) * (double)a->extent[a->rank - 1];
            c->work.matrix |= m && m->set != MATRIX_FMA;
            if (m && m->set != MATRIX_FMA) c->work.bits = elem_info[a->elem].bits;
        } else if (tile && !result->pointer && elem_is_float(result->elem) && op_has(op->code, TRAIT_ELEMENTWISE))
            c->work.others += times * (double)ty_elements(result) * (op->code == OP_FMA ? 2 : 1);
        double trips = op->code == OP_FOR ? trips_of(c, op) : 1;
        for (int i = 0; i < op->region_count; i++)
            count(c, op->regions[i], op->code == OP_IF && i ? 0 : times * trips);
    }
}

Work work_count(const Kernel *k, const int64_t grid[3], WorkNumber *number, void *user) {
    Counter c = {.k = k, .grid = grid, .number = number, .user = user};
    count(&c, k->body, 1);
    return c.work;
}

/* Rates of one unit (a multiprocessor; a thread of the CPU): those of the data sheet, or a middling chip's. Tiles that
 * programs share come from a cache, some times as fast as memory. */
double work_seconds(const Work *w, double programs, const Machine *machine, int threads) {
    enum { UNITS = 128, CACHE = 3, SECTOR = 32 };
    static const struct {
        double bytes, flops, products, start;
    } thread = {8e9, 8e9, 150e9, 200e-9}, multiprocessor = {20e9, 300e9, 4e12, 1e-6};
    bool gpu = machine->has_threads;
    double units = gpu ? UNITS : threads > 0 ? threads : 1;
    double bytes = gpu ? multiprocessor.bytes : thread.bytes, flops = gpu ? multiprocessor.flops : thread.flops;
    double products = gpu ? multiprocessor.products : thread.products;
    if (machine->sheet_gbytes) {
        bytes = machine->sheet_gbytes * 1e9 / units;
        flops = machine->sheet_gflops * 1e9 / units;
        products = machine->sheet_matrix * 1e9 / units * 16 / (w->bits ? w->bits : 16);
    }
    if (!w->matrix && gpu) products = flops;
    double moved = w->bytes + w->scattered * SECTOR;
    double computing = w->products / products + w->others / flops, moving = moved / (bytes * CACHE);
    double one = (gpu ? multiprocessor.start : thread.start) + (computing > moving ? computing : moving);
    return ceil(programs / units) * one;
}
