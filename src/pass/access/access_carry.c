/* SPDX-License-Identifier: Apache-2.0 */
/* access_carry.c: carried tiles that a loop moves as a whole.
 *
 *     while .. (%p = %p0) { .. load %p .. yield ptr_add(%p, %n) }
 *  -> while .. (%d = 0)   { %p = ptr_add(%p0, %d) ; .. load %p .. yield %d + %n }
 *
 * A tile of pointers, or of 32- or 64-bit indices, that every trip moves by a number becomes a tile
 * that stays and a number that is carried. So the shape of the access is known although where it
 * lies is not: in `while` loops, after loops, and where the number differs from trip to trip.
 * `for` loops that add the same in each trip, and whose result nobody uses, have closed forms
 * (affine_loop.c) and are left alone until the boxes are made; what no box took is taken apart then,
 * so that a gather's tile of pointers is one that stays and a scalar that moves. Numbers that a `for`
 * moves by the same in each trip, such as the offsets of a block pointer, become %k * step, exact in
 * every bit. */
#include "pass/access/access_plan.h"

enum { LONGEST_CHAIN = 64 };

typedef struct Carried {
    Kernel *k;
    Op *loop;
    int index; /* among the carried values */
    Region *body;
    Ref arg; /* in the body */
    Ref initial;
    const Type *number; /* the type of what moves it */
    int count;
    Ref moves[LONGEST_CHAIN]; /* scalars that the chain adds, or subtracts */
    bool minus[LONGEST_CHAIN];
    bool varies; /* one of them is made in the loop */
} Carried;

static const Op *op_of(const Kernel *k, Ref r) { return ref_is_value(r) ? ir_value(k, r)->op : NULL; }

/* The number that a tile repeats, or REF_NONE. */
static Ref repeated(const Kernel *k, Ref r) {
    for (int i = 0; i < LONGEST_CHAIN; i++) {
        if (ir_type(k, r)->rank == 0) return r;
        const Op *op = op_of(k, r);
        if (!op ||
            (op->code != OP_SPLAT && op->code != OP_BROADCAST && op->code != OP_EXPAND && op->code != OP_RESHAPE))
            return REF_NONE;
        r = op->operands[0];
    }
    return REF_NONE;
}

static bool find_moves(Carried *c, Ref value) {
    while (value != c->arg) {
        const Op *op = op_of(c->k, value);
        if (!op || c->count == LONGEST_CHAIN || !affine_in_region(op->parent, c->body) ||
            (op->code != OP_ADD && op->code != OP_SUB && op->code != OP_PTR_ADD))
            return false;
        int along = 0; /* the operand that is moved */
        Ref by = repeated(c->k, op->operands[1]);
        if (!by && op->code == OP_ADD) {
            along = 1;
            by = repeated(c->k, op->operands[0]);
        }
        if (!by || !elem_is_int(ir_type(c->k, by)->elem) || ir_type(c->k, by)->pointer) return false;
        const Value *v = ref_is_value(by) ? ir_value(c->k, by) : NULL;
        c->varies |= v && affine_in_region(v->region ? v->region : v->op->parent, c->body);
        c->minus[c->count] = op->code == OP_SUB;
        c->moves[c->count++] = by;
        value = op->operands[along];
    }
    return true;
}

/* start + offset, in the tile's own kind of sum; of a scalar pointer and a tile of indices the
 * pointer moves. *sum: the op that adds the offset. */
static Ref moved(Builder *b, const Carried *c, Ref offset, Op **sum) {
    const Type *type = ir_type(c->k, c->initial);
    const Op *start = op_of(c->k, c->initial);
    bool from_scalar = start && start->code == OP_PTR_ADD && ir_type(c->k, start->operands[0])->rank == 0;
    Ref first = from_scalar ? start->operands[0] : c->initial;
    Ref place = ir_binary(b, type->pointer ? OP_PTR_ADD : OP_ADD, first, offset);
    *sum = ir_value(c->k, place)->op;
    return from_scalar ? ir_binary(b, OP_PTR_ADD, place, start->operands[1]) : place;
}

/* The value becomes a number; what used the tile uses start + number, made before `at`. The number is put in by hand:
 * all that is there of the value is being replaced. */
static void take_apart(const Carried *c, Ref value, Builder b) {
    Op *sum = NULL;
    Ref tile = moved(&b, c, ir_literal_int(c->k, c->number, 0), &sum);
    ir_replace_all(c->k, value, tile);
    ir_value(c->k, value)->type = c->number;
    sum->operands[1] = value;
    ir_name(c->k, tile, ir_value(c->k, value)->name);
    ir_name(c->k, value, NULL);
}

static void rewrite(const Carried *c) {
    Kernel *k = c->k;
    Op *yield = c->body->last;
    int first = c->loop->code == OP_FOR ? 3 : 0;
    Builder end = ir_builder_before(k, yield), casts = c->varies ? end : ir_builder_before(k, c->loop);
    take_apart(c, c->arg, ir_builder_before(k, c->body->first));
    Ref next = c->arg;
    for (int i = c->count - 1; i >= 0; i--)
        next = ir_binary(&end, c->minus[i] ? OP_SUB : OP_ADD, next, ir_cast(&casts, c->moves[i], c->number->elem));
    yield->operands[c->index] = next;
    c->loop->operands[first + c->index] = ir_literal_int(k, c->number, 0);
    if (c->loop->code == OP_WHILE) {
        Region *test = c->loop->regions[0];
        Ref arg = test->args[c->index];
        take_apart(c, arg, ir_builder_before(k, test->first));
        test->last->operands[1 + c->index] = arg;
    }
    take_apart(c, c->loop->results[c->index], ir_builder_behind(k, c->loop));
}

static void count_use(Op *op, void *user) {
    Ref *wanted = user;
    for (int i = 0; i < op->operand_count; i++) wanted[1] += op->operands[i] == wanted[0];
}

static bool is_movable(const Type *type) {
    return type->kind == TY_TILE && type->rank > 0 && (type->pointer || type->elem == EL_I32 || type->elem == EL_I64);
}

/* A number: start + trips * step, modulo the size of its type. */
static void try_number(Kernel *k, Op *loop, int index) {
    Carried c = {.k = k, .loop = loop, .index = index, .body = loop->regions[0]};
    c.arg = c.body->args[1 + index];
    c.initial = loop->operands[3 + index];
    const Type *type = ir_type(k, c.arg);
    int64_t lo, step;
    if (!ty_is_scalar(type) || type->pointer || !elem_is_int(type->elem) || elem_info[type->elem].bits < 32 ||
        !ir_const_int(k, loop->operands[0], &lo) || lo != 0 || !ir_const_int(k, loop->operands[2], &step) ||
        step != 1 || !find_moves(&c, c.body->last->operands[index]) || c.varies || !c.count)
        return;
    Builder b = ir_builder_before(k, c.body->first);
    Ref place = c.initial, trip = ir_cast(&b, c.body->args[0], type->elem);
    for (int i = 0; i < c.count; i++)
        place = ir_binary(&b, c.minus[i] ? OP_SUB : OP_ADD, place,
                          ir_binary(&b, OP_MUL, trip, ir_cast(&b, c.moves[i], type->elem)));
    ir_replace_all(k, c.arg, place);
}

static void try_carried(Kernel *k, Op *loop, int index, bool closed) {
    bool is_for = loop->code == OP_FOR;
    Carried c = {.k = k, .loop = loop, .index = index, .body = loop->regions[is_for ? 0 : 1]};
    c.arg = c.body->args[is_for ? 1 + index : index];
    c.initial = loop->operands[is_for ? 3 + index : index];
    const Type *type = ir_type(k, c.arg);
    if (!is_movable(type) || !ref_is_value(c.initial) || ir_type(k, c.initial) != type) return;
    c.number = ty_scalar(k->module, type->pointer ? EL_I64 : type->elem);
    if (!is_for) {
        const Region *test = loop->regions[0];
        if (test->last->operands[1 + index] != test->args[index]) return;
    }
    if (!find_moves(&c, c.body->last->operands[index])) return;
    for (int i = 0; i < c.count; i++) /* 64-bit moves of 32-bit indices do not occur: types agree */
        if (!type->pointer && ir_type(k, c.moves[i])->elem != type->elem) return;
    Ref use[2] = {loop->results[index], 0};
    ir_walk(k->body, count_use, use);
    if (is_for && !c.varies && !use[1] && !closed) return;
    rewrite(&c);
}

typedef struct Visit {
    Kernel *k;
    bool closed;
} Visit;

static void visit(Op *op, void *user) {
    const Visit *v = user;
    if (op->code != OP_FOR && op->code != OP_WHILE) return;
    int count = op->code == OP_FOR ? op->operand_count - 3 : op->operand_count;
    for (int i = 0; i < count; i++) {
        try_carried(v->k, op, i, v->closed);
        if (op->code == OP_FOR) try_number(v->k, op, i);
    }
}

void access_carry(Kernel *k, bool closed) { ir_walk(k->body, visit, &(Visit){k, closed}); }
