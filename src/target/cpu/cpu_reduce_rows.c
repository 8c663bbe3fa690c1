/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_reduce_rows.c: reductions along the last axis of one tile, in the loop that computes it.
 *
 * The order of a CPU reduction takes the bits of the index from high to low, so three steps at
 * once combine the eight elements r, r + n/8, r + 2n/8 .. of a row:
 *
 *     TW_VECTOR for (r = 0; r < n/8; r++) part[r] = ((x[r] + x[r+4n/8]) + (x[r+2n/8] + ..)) + ..
 *
 * The first such loop evaluates the operand itself, which is never in memory unless others read
 * it; the next ones work on an eighth of a row. The result is the one of cpu_reduce.c, bit for
 * bit. */
#include "target/cpu/cpu_internal.h"

#include <string.h>

typedef struct Row {
    Emit *e;
    Op *op;
    Word kind;
    Elem elem;
    bool keep; /* NaN */
    int radix; /* elements that are combined at once */
} Row;

/* at[i] combined with at[i + half], for half = count/2 .. 1. */
static const Expr *tree(const Row *row, const Expr **at, int count) {
    for (int half = count / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            at[i] = cs_combine(&row->e->p, row->kind, row->elem, row->keep, at[i], at[i + half]);
    return at[0];
}

/* The steps from n partial results of a row to one; statements into `out`. */
static const Expr *finish(const Row *row, CLines *out, const Expr *part, int64_t n) {
    const Expr *at[MOST_AT_ONCE];
    Arena *arena = row->e->arena;
    for (;;) {
        int radix = n >= row->radix ? row->radix : (int)n;
        int64_t rest = n / radix;
        for (int i = 0; i < radix; i++)
            at[i] = rest == 1 ? ex(arena, "%p[%d]", part, i) : ex(arena, "%p[r + %lld]", part, (long long)(i * rest));
        const Expr *sum = tree(row, at, radix);
        if (rest == 1) return sum;
        cs_line_of(&row->e->p, out, 0, "TW_VECTOR for (i64 r = 0; r < %lld; r++) %p[r] = %p;", (long long)rest, part,
                   sum);
        n = rest;
    }
}

static void reduce_once(const Row *row, const Expr *part, const Expr *name, bool fast) {
    Emit *e = row->e;
    Ref x = row->op->operands[0], result = row->op->results[0];
    const Type *type = ir_type(e->k, x);
    int last = type->rank - 1;
    int64_t n = type->extent[last], rest = n / row->radix;
    const Expr *at[MOST_AT_ONCE], *r;
    Nest nest;
    nest_begin(e, &nest, type);
    nest.fast = fast;
    nest.hi[last] = cs_number(e->arena, EL_I32, rest);
    r = nest.index[last].x;
    for (int i = 0; i < row->radix; i++) {
        Ix index[MAX_RANK];
        memcpy(index, nest.index, sizeof index);
        if (i) index[last].x = ex(e->arena, "(%p + %lld)", r, (long long)(i * rest));
        at[i] = cpu_element(e, &nest, x, index).x;
    }
    nest_add(e, &nest, type->rank, "%p[%p] = %p;", part, r, tree(row, at, row->radix));
    const Expr *sum = finish(row, &nest.after, part, rest);
    const Expr *to = name;
    if (last > 0) to = cpu_slot(e, ir_type(e->k, result), name, nest.index, NULL), sum = cpu_pack_for(e, result, sum);
    cs_line_of(&e->p, &nest.after, 0, "%p = %p;", to, sum);
    nest_end(e, &nest, true);
}

void cpu_emit_reduce_rows(Emit *e, Op *op, int at_once) {
    Ref x = op->operands[0], result = op->results[0];
    const Type *type = ir_type(e->k, result);
    Row row = {.e = e,
               .op = op,
               .kind = op_word(op, AT_COMBINE, COMBINE_ADD),
               .elem = ir_type(e->k, x)->elem,
               .radix = at_once,
               .keep = op_word(op, AT_NAN, NAN_DROP) == NAN_KEEP};
    if (type->rank)
        cpu_declare(e, result);
    else
        cs_line(&e->p, "%s %s;", cs_register_type(&e->p, type->elem), cs_name(&e->p, result));
    const Expr *part = cpu_memory(e, ir_type(e->k, x), true, cpu_place(&e->plan, op)->temp[0], "part");
    bool read = cpu_placed(&e->plan, x)->storage == STORAGE_MEMORY;
    const Expr *fast = read ? NULL : cpu_fast_condition(e, &x, 1, NULL), *name = cs_ref(&e->p, result);
    if (fast) {
        cs_open(&e->p, "if (%p)", fast);
        reduce_once(&row, part, name, true);
        cs_reopen(&e->p, "else");
        reduce_once(&row, part, name, false);
        cs_close(&e->p);
    } else
        reduce_once(&row, part, name, true);
    /* What is read has arrived now, and what is left to do does not wait for memory. */
    cpu_ask_ahead(e, op);
}
