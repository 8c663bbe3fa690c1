/* SPDX-License-Identifier: Apache-2.0 */
/* roles_unknown.c: loops around barriers whose ends differ, and are made of numbers that only a launch knows.
 *
 *     one role: for k in 0 .. counts[b]    others: for k in 0 .. ceildiv(counts[b] - 1, 2)    counts[b] = 0, 1 ..
 *
 * The numbers at the bottom (arguments, extents, what memory says at a place that is the same in all trips) have the
 * same value for all who ask for it. It is tried with values that make 0, 1, 2 .. trips of each loop: multiples of
 * what the ends are divided by, and the numbers behind them. */
#include "ir/roots.h"
#include "ir/roles_check.h"

#include <stdlib.h>

enum { DEEPEST = 48, MOST_UNITS = 8, MOST_RUNS = 3000 };

typedef struct Find {
    Check *c;
    int64_t units[MOST_UNITS];
    int unit_count;
    bool failed;
} Find;

static bool is_loop_variable(const Value *v) {
    const Op *owner = v->region->owner;
    return owner && owner->code == OP_FOR && v->index == 0;
}

/* Reads of arrays that the kernel does not write. */
typedef struct Still {
    Check *c;
    const bool *written;
} Still;
static void look_at_read(Op *op, void *user) {
    const Still *s = user;
    bool read = (op->code == OP_LOAD && !op_flag(op, AT_VOLATILE)) || op->code == OP_TLOAD;
    int root = read ? roots_only(s->c->k, s->c->arena, op->operands[0]) : -1;
    if (root >= 0 && !s->written[root]) s->c->still[op->results[0]] = true;
}
void check_find_still(Check *c) {
    int params = c->k->body->arg_count;
    bool *written = ARENA_ARRAY(c->arena, bool, params ? params : 1);
    Still s = {c, written};
    c->still = ARENA_ARRAY(c->arena, bool, c->k->values.count);
    if (roots_written(c->k, c->arena, written)) ir_walk(c->k->body, look_at_read, &s);
}

/* Is it the same in all trips, of all loops? */
static bool is_steady(const Check *c, Ref ref, int depth) {
    if (!ref_is_value(ref)) return true;
    const Value *v = ir_value(c->k, ref);
    if (depth > DEEPEST) return false;
    if (!v->op) return !v->region || !v->region->owner;
    if (v->op->region_count || (!op_has(v->op->code, TRAIT_PURE) && !c->still[ref])) return false;
    for (int i = 0; i < v->op->operand_count; i++)
        if (!is_steady(c, v->op->operands[i], depth + 1)) return false;
    return true;
}

static int find(const Check *c, Ref ref) {
    for (int i = 0; i < c->unknown_count; i++)
        if (roles_same_number(c->k, c->still, c->unknowns[i], ref)) return i;
    return -1;
}

static void add_unit(Find *f, int64_t unit) {
    for (int i = 0; i < f->unit_count; i++)
        if (f->units[i] == unit) return;
    if (f->unit_count < MOST_UNITS) f->units[f->unit_count++] = unit;
}

/* What the number is made of; `unit`: what it is divided by on the way up. */
static void gather(Find *f, Ref ref, int64_t unit, int depth) {
    Check *c = f->c;
    int64_t by;
    if (ir_const_int(c->k, ref, &by)) return;
    const Value *v = ref_is_value(ref) ? ir_value(c->k, ref) : NULL;
    bool truth = v && v->type->elem == EL_I1 && v->op && op_has(v->op->code, TRAIT_ELEMENTWISE); /* of numbers */
    if (!v || depth > DEEPEST || v->type->rank || (!elem_is_int(v->type->elem) && !truth)) {
        f->failed = true;
        return;
    }
    if (!v->op && v->region && is_loop_variable(v)) return;
    if (v->op && op_has(v->op->code, TRAIT_ELEMENTWISE)) {
        Opcode code = v->op->code;
        bool divides = code == OP_DIV || code == OP_FLOORDIV || code == OP_CDIV;
        if (divides && ir_const_int(c->k, v->op->operands[1], &by) && by > 1 && by < 1 << 16 && unit < 1 << 16)
            unit *= by;
        for (int i = 0; i < v->op->operand_count && !f->failed; i++) gather(f, v->op->operands[i], unit, depth + 1);
        return;
    }
    add_unit(f, unit);
    if (find(c, ref) >= 0) return;
    f->failed |= c->unknown_count == MOST_UNKNOWNS || !is_steady(c, ref, 0);
    if (!f->failed) c->unknowns[c->unknown_count++] = ref;
}

static void look_at_loop(Op *op, void *user) {
    Find *f = user;
    if (op->code == OP_FOR && check_has_bars(f->c, op))
        for (int i = 0; i < 3 && !f->failed; i++) gather(f, op->operands[i], 1, 0);
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void choose_values(Check *c, const Find *f, int64_t most) {
    int64_t all[2 * MOST_UNITS * 64];
    int count = 0;
    for (int i = 0; i < f->unit_count; i++)
        for (int64_t n = 0; n <= most && n < 64; n++)
            all[count++] = n * f->units[i], all[count++] = n * f->units[i] + 1;
    qsort(all, (size_t)count, sizeof *all, by_size);
    c->value_count = 0;
    for (int i = 0; i < count; i++)
        if ((!i || all[i] != all[i - 1]) && c->value_count < MOST_VALUES) c->values[c->value_count++] = all[i];
}

static int64_t runs_of(const Check *c) {
    int64_t runs = 1;
    for (int i = 0; i < c->unknown_count && runs <= MOST_RUNS; i++) runs *= c->value_count;
    return runs;
}

bool check_find_unknowns(Check *c) {
    Find f = {.c = c};
    for (int r = 0; r < c->count; r++) ir_walk(c->spmd->regions[r], look_at_loop, &f);
    if (f.failed || !c->unknown_count) return false;
    for (int64_t most = c->most_trips; most >= c->most_trips / 2; most--) {
        choose_values(c, &f, most);
        if (runs_of(c) <= MOST_RUNS) return true;
    }
    return false;
}

bool check_unknown(const Check *c, Ref ref, int64_t *out) {
    int i = c->unknown_count ? find(c, ref) : -1;
    if (i >= 0) *out = c->values[c->at[i]];
    return i >= 0;
}

bool check_next_values(Check *c) {
    for (int i = 0; i < c->unknown_count; i++) {
        if (++c->at[i] < c->value_count) return true;
        c->at[i] = 0;
    }
    return false;
}

static const char *name_of(const Check *c, Ref ref) {
    const Value *v = ir_value(c->k, ref);
    int root = v->op && c->still[ref] ? roots_only(c->k, c->arena, v->op->operands[0]) : -1;
    const char *name = root >= 0 ? ir_value(c->k, c->k->body->args[root])->name : v->name;
    if (!name) return v->op && v->op->code == OP_PROGRAM_ID ? "the block's number" : "a number of the launch";
    return say(c, root >= 0 ? "a number in `%s`" : "`%s`", name);
}

const char *check_values_text(const Check *c) {
    const char *text = "";
    for (int i = 0; i < c->unknown_count; i++)
        text = say(c, "%s%s%s is %lld", text, i ? " and " : "", name_of(c, c->unknowns[i]),
                   (long long)c->values[c->at[i]]);
    return text;
}
