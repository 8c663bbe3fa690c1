/* SPDX-License-Identifier: Apache-2.0 */
/* swap.c: products whose right operand is computed, turned round.
 *
 * Contract: access form in and out, no bit of the result changes. A matrix instruction that runs beside its threads
 * takes its left operand from registers, where it was computed, but its right one from shared memory alone. Weights
 * that are loaded in 8 bits (or 4) and made to 16 before the product, on its right, would go to shared memory a second
 * time, twice as wide, with all threads meeting at it. So D = A B becomes D^T = B^T A^T:
 *
 *     %b = tload .. : i8[128,64] ; %t = permute %b ; %w = cast %t : bf16[64,128]
 *     %acc = for .. (%sum = %zero) { %d = dot %a, %w, %sum ; yield %d }
 *  -> %w = cast %b : bf16[128,64] ; %x = permute %a
 *     %acc_t = for .. (%sum = %zero_t) { %d = dot %w, %x, %sum ; yield %d } ; %acc = permute %acc_t
 *
 * The sum is carried turned; what reads it behind the loop finds it in registers, where a permute costs nothing. Only
 * where the right operand is made, element by element, of loads inside of the loop and the left one was loaded as it
 * is, and where the turned product has rows enough for all warps. */
#include "pass/fold/fold.h"
#include "pass/layout/layout.h"
#include "pass/matrix.h"
#include "pass/pass.h"

typedef struct Swap {
    PassContext *cx;
    Kernel *k;
    int *uses; /* by Ref */
    bool changed;
} Swap;

static const Op *op_of(const Swap *s, Ref ref) { return ref_is_value(ref) ? ir_value(s->k, ref)->op : NULL; }

static const Type *turned_type(const Swap *s, const Type *t) {
    int64_t extent[2] = {t->extent[1], t->extent[0]};
    return ty_with_shape(s->k->module, t, 2, extent);
}

/* --- what is swapped --- */
static bool is_loaded(const Swap *s, Ref ref) {
    const Op *op = op_of(s, ref);
    if (op && op_is_transpose(op)) op = op_of(s, op->operands[0]);
    return op && op->code == OP_TLOAD;
}

/* An op of a chain that turns with it: elementwise, for this use alone. */
static bool is_step(const Swap *s, const Op *op, const Region *body) {
    return op && op->parent == body && op_has(op->code, TRAIT_ELEMENTWISE) && op->result_count == 1 &&
           ir_type(s->k, op->results[0])->rank == 2 && s->uses[op->results[0]] == 1;
}

/* A tile of which each element stands several times, for this use alone. */
static bool is_repeat(const Swap *s, const Op *op, const Region *body) {
    return op && op->code == OP_REPEAT && op->parent == body && s->uses[op->results[0]] == 1;
}

/* Is the tile made element by element, of whole tiles that are loaded in the same trip, and of rows, columns and
 * numbers from anywhere? Counts the loads of another element type. */
static bool is_computed(const Swap *s, Ref ref, const Type *whole, const Region *body, int *loads) {
    const Type *type = ref == REF_NONE ? NULL : ir_type(s->k, ref);
    if (!type || type->rank != 2 || ty_elements(type) < ty_elements(whole)) return true;
    const Op *op = op_of(s, ref);
    if (is_loaded(s, ref) && op->parent == body) {
        *loads += type->elem != whole->elem;
        return true;
    }
    if (op && (op->code == OP_BROADCAST || op->code == OP_SPLAT)) return true;
    if (is_repeat(s, op, body)) return is_loaded(s, op->operands[0]) ? (++*loads, true) : false;
    if (!is_step(s, op, body)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_computed(s, op->operands[i], whole, body, loads)) return false;
    return true;
}

/* The instruction that would take the turned product; NULL: none that is worth it. */
static const Matrix *turned_row(const Swap *s, const Op *dot) {
    const Type *a = ir_type(s->k, dot->operands[0]), *b = ir_type(s->k, dot->operands[1]);
    if (a->rank != 2 || a->elem != b->elem || ir_type(s->k, dot->results[0])->elem != EL_F32) return NULL;
    int warps = layout_group_of(s->cx, s->k, dot).warps;
    for (int i = 0; matrix_at(i); i++) {
        const Matrix *row = matrix_at(i);
        if (!row->is_async || !(row->a_from & FROM_REGISTERS) || row->precision != WORD_NONE || row->a != a->elem ||
            !(row->set & s->cx->machine->matrix) || warps % row->warps)
            continue;
        int64_t m = b->extent[1], n = a->extent[0], k = a->extent[1];
        return m % row->m == 0 && n % row->n == 0 && k % row->k == 0 && m / row->m >= warps / row->warps ? row : NULL;
    }
    return NULL;
}

/* The loop that carries the sum from trip to trip, which nobody else reads there, and as which value; NULL: the sum
 * begins with one number in every element, and is no loop's. */
static bool find_sum(const Swap *s, const Op *dot, Op **loop, int *index) {
    Ref sum = dot->operands[2], result = dot->results[0];
    const Op *from = op_of(s, sum), *end = dot->parent->last;
    *loop = NULL;
    if (from) return from->code == OP_SPLAT && ref_is_literal(from->operands[0]);
    Op *owner = dot->parent->owner;
    if (!ref_is_value(sum) || !owner || owner->code != OP_FOR || s->uses[sum] != 1 || s->uses[result] != 1)
        return false;
    *loop = owner;
    *index = ir_value(s->k, sum)->index - 1;
    return ir_value(s->k, sum)->region == dot->parent && end->operands[*index] == result;
}

/* --- swapping --- */
static Ref transpose(Swap *s, Builder *b, Ref x) {
    const Op *op = op_of(s, x);
    if (op && op_is_transpose(op)) return op->operands[0];
    if (op && op->code == OP_SPLAT) return ir_splat(b, op->operands[0], turned_type(s, ir_type(s->k, x)));
    return ir_permute(b, x, (const int64_t[]){1, 0}, 2);
}

/* The tile turned, with the steps that it was made by. */
static Ref turn(Swap *s, Builder *b, Ref x, const Region *body) {
    if (x == REF_NONE || ir_type(s->k, x)->rank != 2) return x;
    const Op *op = op_of(s, x);
    if (op && op->code == OP_EXPAND) return ir_expand(b, op->operands[0], !op_int(op, AT_AXIS, 0));
    if (op && op->code == OP_BROADCAST && ir_type(s->k, op->operands[0])->rank == 2)
        return ir_broadcast(b, turn(s, b, op->operands[0], body), turned_type(s, ir_type(s->k, x)));
    if (is_repeat(s, op, body)) {
        int axis = (int)op_int(op, AT_AXIS, 0);
        int64_t times = ir_type(s->k, x)->extent[axis] / ir_type(s->k, op->operands[0])->extent[axis];
        return ir_repeat(b, turn(s, b, op->operands[0], body), !axis, times);
    }
    if (!is_step(s, op, body)) return transpose(s, b, x);
    Ref operands[8];
    for (int i = 0; i < op->operand_count; i++) operands[i] = turn(s, b, op->operands[i], body);
    Ref result = ir_like(b, op, operands, turned_type(s, ir_type(s->k, x)));
    ir_name(s->k, result, ir_value(s->k, x)->name);
    return result;
}

/* Whoever reads the value now finds it as it was, behind the op that makes it. */
static void read_back(Swap *s, Ref value, Op *maker) {
    Builder b = ir_builder_behind(s->k, maker);
    ir_value(s->k, value)->type = turned_type(s, ir_value(s->k, value)->type);
    Ref back = ir_permute(&b, value, (const int64_t[]){1, 0}, 2);
    ir_name(s->k, back, ir_value(s->k, value)->name);
    ir_replace_all(s->k, value, back);
    ir_value(s->k, back)->op->operands[0] = value;
}

static void swap(Swap *s, Op *dot, Op *loop, int index) {
    Builder b = ir_builder_before(s->k, dot);
    Ref right = turn(s, &b, dot->operands[1], dot->parent), left = transpose(s, &b, dot->operands[0]);
    dot->operands[0] = right;
    dot->operands[1] = left;
    if (!loop) {
        dot->operands[2] = transpose(s, &b, dot->operands[2]);
        read_back(s, dot->results[0], dot);
        return;
    }
    Builder before = ir_builder_before(s->k, loop);
    enum { BOUNDS = 3 };
    loop->operands[BOUNDS + index] = transpose(s, &before, loop->operands[BOUNDS + index]);
    Value *sum = ir_value(s->k, dot->operands[2]), *made = ir_value(s->k, dot->results[0]);
    sum->type = made->type = turned_type(s, sum->type);
    read_back(s, loop->results[index], loop);
}

static void visit(Op *dot, void *user) {
    Swap *s = user;
    Op *loop;
    int index = 0, loads = 0;
    if (dot->code != OP_DOT || !turned_row(s, dot) || !is_loaded(s, dot->operands[0]) ||
        !find_sum(s, dot, &loop, &index))
        return;
    const Type *right = ir_type(s->k, dot->operands[1]);
    if (!is_computed(s, dot->operands[1], right, dot->parent, &loads) || !loads) return;
    pass_find(s->cx, dot->range, FIND_DOT_SWAPPED);
    swap(s, dot, loop, index);
    s->changed = true;
}

bool pass_swap(PassContext *cx, Kernel *k) {
    if (!cx->machine->has_threads || !matrix_async(cx->machine)) return false;
    Swap s = {.cx = cx, .k = k, .uses = ir_count_uses(k, cx->scratch)};
    ir_walk(k->body, visit, &s);
    if (s.changed) fold_sweep(k, cx->scratch);
    return s.changed;
}
