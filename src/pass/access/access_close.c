/* SPDX-License-Identifier: Apache-2.0 */
/* access_close.c: index tiles that are numbers from one on, or one number, whatever they are made of.
 *
 *     (%pid * 32 + iota<0, 32>) rem 4096 / 128          -> splat (%pid * 32 rem 4096 / 128)
 *     max_contiguous(%m rem %M), require M % 128 = 0    -> (first of it) + iota<0, 128>
 *     load (%table + (64 * %k + iota<0, 16>) / 16)      -> splat (load (%table + 64 * %k / 16))
 *
 * Of such a tile the first number says all (runs.h): it is computed alone, and the access is a box. Done before the
 * accesses are planned, for the parts of their addresses that are no sums of steps. What is proved is closed as it is;
 * where the source promises consecutive numbers of which that would be true if a divisor were a multiple of the tile,
 * the launch is asked for it. */
#include "analysis/runs.h"
#include "pass/access/access_plan.h"

enum { DEEPEST = 64 };

/* --- the first number --- */

static Ref first_of(Builder *b, Ref value, RefMap *made, int depth);

static Ref first_of_op(Builder *b, const Op *op, RefMap *made, int depth) {
    Ref operands[8];
    for (int i = 0; i < op->operand_count; i++) {
        operands[i] = op->operands[i] ? first_of(b, op->operands[i], made, depth + 1) : REF_NONE;
        if (op->operands[i] && !operands[i]) return REF_NONE;
    }
    Kernel *k = b->kernel;
    Op *once = ir_begin(b, op->code);
    for (int i = 0; i < op->operand_count; i++) ir_operand(b, once, operands[i]);
    for (int i = 0; i < op->attr_count; i++) op_set(k, once, op->attrs[i]);
    bool given = op_info[op->code].result == RES_GIVEN;
    return ir_end(b, once, given ? ty_with_shape(b->module, ir_type(k, op->results[0]), 0, NULL) : NULL);
}

/* REF_NONE: it is made of what cannot be computed for one element. */
static Ref first_of(Builder *b, Ref value, RefMap *made, int depth) {
    const Kernel *k = b->kernel;
    if (!ref_is_value(value) || ir_type(k, value)->rank == 0) return value;
    Ref known = refmap_get(made, value);
    if (known != value) return known;
    const Op *op = ir_value(k, value)->op;
    Ref first = REF_NONE;
    if (!op || depth > DEEPEST) return REF_NONE;
    if (op->code == OP_IOTA)
        first = ir_int(b, ir_type(k, value)->elem, op_int(op, AT_BEGIN, 0));
    else if (affine_is_spread(k, op))
        first = first_of(b, op->operands[0], made, depth + 1);
    else if (affine_is_slicewise(op) && op->operand_count <= 8)
        first = first_of_op(b, op, made, depth);
    if (first) refmap_set(made, value, first);
    return first;
}

/* --- the tile --- */

typedef struct Closing {
    Access *x;
    RefMap seen; /* what was looked at */
    bool some;
} Closing;

static bool is_promised(const Kernel *k, Ref value, int64_t length) {
    for (const Op *op = ir_value(k, value)->op->parent->first_fact; op; op = op->next_fact)
        if (op->operands[0] == value && op_int(op, AT_CONTIGUOUS, 1) >= length) return true;
    return false;
}

static bool is_one_run(Closing *c, Ref value, int64_t *step) {
    Access *x = c->x;
    int64_t length = ir_type(x->k, value)->extent[0];
    if (length & (length - 1)) return false;
    bool asks = x->cx->options.generic == REQUIRE_ALL && is_promised(x->k, value, length);
    Runs runs = runs_new(&x->a, asks, false);
    if (!runs_of(&runs, value, length, 1, step)) return false;
    runs.trust = RUN_ASKED;
    return runs_of(&runs, value, length, 1, step);
}

static void replace(Closing *c, Ref value, Ref by) {
    ir_name(c->x->k, by, ir_value(c->x->k, value)->name);
    ir_replace_all(c->x->k, value, by);
    c->some = true;
}

/* Sums and products of what is closed have a form as they are. */
static bool may_close(const Op *op) {
    switch (op->code) {
    case OP_DIV:
    case OP_FLOORDIV:
    case OP_REM:
    case OP_MOD:
    case OP_AND:
    case OP_SHR:
    case OP_SELECT: return true;
    default: return false;
    }
}

static bool close_one(Closing *c, Ref value, Op *op) {
    Access *x = c->x;
    const Type *type = ir_type(x->k, value);
    int64_t step;
    if (!may_close(op) || type->rank != 1 || !is_one_run(c, value, &step)) return false;
    Builder b = ir_builder_behind(x->k, op);
    RefMap made = {.arena = x->a.arena};
    Ref first = first_of(&b, value, &made, 0);
    if (!first) return false; /* what was built so far is dead */
    Ref steps = step ? ir_cast(&b, ir_iota(&b, 0, type->extent[0]), type->elem) : REF_NONE;
    if (step && step != 1) steps = ir_binary(&b, OP_MUL, steps, ir_int(&b, type->elem, step));
    replace(c, value, step ? ir_binary(&b, OP_ADD, first, steps) : ir_splat(&b, first, type));
    return true;
}

/* The whole, or else what it is made of. */
static void close_tile(Closing *c, Ref value, int depth) {
    const Type *type = ir_type(c->x->k, value);
    Op *op = ref_is_value(value) ? ir_value(c->x->k, value)->op : NULL;
    if (!op || type->rank == 0 || type->pointer || !elem_is_int(type->elem) || depth > DEEPEST) return;
    if (refmap_get(&c->seen, value) != value) return;
    refmap_set(&c->seen, value, REF_NONE);
    if (close_one(c, value, op) || !(affine_is_slicewise(op) || affine_is_spread(c->x->k, op))) return;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i]) close_tile(c, op->operands[i], depth + 1);
}

/* All of it is read at one place. */
static void close_load(Closing *c, Op *load) {
    Access *x = c->x;
    if (load->code != OP_LOAD) return;
    const Type *type = ir_type(x->k, load->results[0]);
    if (type->rank != 1 || type->extent[0] == 1 || op_flag(load, AT_VOLATILE)) return;
    int64_t length = type->extent[0];
    Runs runs = runs_new(&x->a, false, false);
    for (int turn = 0; turn < 2; turn++, runs.trust = RUN_ASKED)
        for (int i = 0; i < load->operand_count; i++)
            if (load->operands[i] && ((length & (length - 1)) || !runs_level(&runs, load->operands[i], length))) return;
    Builder b = ir_builder_before(x->k, load);
    b.range = load->range;
    RefMap made = {.arena = x->a.arena};
    Ref once = first_of_op(&b, load, &made, 0);
    if (!once) return;
    ir_name(x->k, once, ir_value(x->k, load->results[0])->name);
    b = ir_builder_behind(x->k, load);
    replace(c, load->results[0], ir_splat(&b, once, type));
}

/* The parts of an address that no sum of steps says. */
static void close_parts(Closing *c, const Plan *plan) {
    const Affine *f = affine_of(&c->x->a, plan->pointer);
    for (int d = 0; plan->good && d < plan->dim_count; d++)
        for (int i = 0; i < plan->dim[d].part_count; i++) close_tile(c, plan->dim[d].part[i].value, 0);
    for (int d = 0; !plan->good && f->known && d < f->rank; d++) {
        for (int i = 0; i < f->axis[d].part_count; i++) close_tile(c, f->axis[d].part[i].value, 0);
        if (f->axis[d].turned.value) close_tile(c, f->axis[d].turned.value, 0);
    }
}

bool access_close(Access *x) {
    Closing c = {.x = x, .seen = {.arena = x->a.arena}};
    for (size_t i = 0; i < x->plans.count; i++) {
        Plan plan = *x->plans.at[i];
        size_t wishes = x->a.wishes.count;
        bool grid = x->a.grid_wished;
        access_plan(&x->a, &plan);
        x->a.wishes.count = wishes; /* those of the plan are made again */
        x->a.grid_wished = grid;
        close_parts(&c, &plan);
        close_load(&c, plan.op);
    }
    return c.some;
}
