/* SPDX-License-Identifier: Apache-2.0 */
/* raise_parallel.c: `parallel` loops over elements become tile ops.
 *
 *     parallel %i, %j in 32, 32 {                          %x = tload %A, [%m, %n] : f16[32,32]
 *       %r = add %m, %i ; %c = add %n, %j          ->      bstore %T, [0, 0], %x
 *       %x = tload %A, [%r, %c] : f16
 *       bstore %T, [%i, %j], %x }
 *
 * Work starts at the stores and pulls in what they need. Accesses are boxes where they can be, else they have index
 * vectors, else pointers, and buffers are gathered from and scattered to (raise_index.c); conditions are masks and
 * loops are loops of tiles (raise_control.c); a cell that several iterations update is reduced (raise_accumulate.c).
 * Plain loops over elements of buffers whose trips do not meet are taken in the same way.
 *
 * A loop whose iterations meet (raise_order.c), or that does what tiles cannot, becomes loops that run its iterations
 * one after the other, with a finding. Both give what the interpreter gives, which takes them in order. A machine
 * that has no such loops refuses it for that reason. */
#include "ir/threads.h"
#include "pass/raise/raise_loop.h"

#include <string.h>

bool raise_fail(Loop *loop, const Op *op, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (!loop->why) {
        loop->why = arena_vprintf(loop->cx->module->arena, format, args);
        loop->where = op->range;
    }
    va_end(args);
    return false;
}

/* --- which ops belong to the loop --- */

bool raise_is_inside(const Op *op, const Op *outer) {
    for (const Op *owner = op->parent ? op->parent->owner : NULL; owner;
         owner = owner->parent ? owner->parent->owner : NULL)
        if (owner == outer) return true;
    return false;
}

Op *raise_body_op(const Loop *loop, Ref ref) {
    if (!ref_is_value(ref)) return NULL;
    Op *op = ir_value(loop->k, ref)->op;
    return op && raise_is_inside(op, loop->op) ? op : NULL;
}

bool raise_is_load(const Op *op) { return op->code == OP_BLOAD || op->code == OP_TLOAD || op->code == OP_LOAD; }

bool raise_is_store(const Op *op) { return op->code == OP_BSTORE || op->code == OP_TSTORE || op->code == OP_STORE; }

static bool is_raised_atomic(const Op *op) { return op->code == OP_TATOMIC || op->code == OP_ATOMIC; }

static void list_access(Op *op, void *user) {
    Loop *loop = user;
    if (op_has(op->code, TRAIT_READS) || op_has(op->code, TRAIT_WRITES))
        *VEC_PUSH(&loop->accesses, loop->cx->scratch) = op;
}

/* --- the body --- */

/* Is the op in a region that the other one stands in, too? */
static bool sees(const Op *op, const Op *other) {
    for (const Region *region = op->parent; region; region = region->owner ? region->owner->parent : NULL)
        if (region == other->parent) return true;
    return false;
}

/* Loads that stand before the write and may read what it writes are made before it, whoever needs them. */
static bool load_before(Loop *loop, const Op *write) {
    for (size_t i = 0; i < loop->accesses.count && loop->accesses.at[i] != write; i++) {
        const Op *op = loop->accesses.at[i];
        Raised unused;
        bool same = op->operands[0] == write->operands[0] || (write->code != OP_BSTORE && op->code != OP_BLOAD);
        if (!raise_is_load(op) || !same || !sees(write, op)) continue;
        if (raise_is_scanned(loop, write, op)) continue;
        bool updates = raise_is_count(loop, write) || (write->code == OP_BSTORE && raise_is_update(loop, write));
        if (updates && op->operands[0] == write->operands[0]) continue; /* it reads its cell itself */
        if (!raise_value(loop, op->results[0], &unused)) return false;
    }
    return true;
}

bool raise_region(Loop *loop, Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        if (op_has(op->code, TRAIT_TERMINATOR) || raise_is_load(op)) continue;
        if (op->code == OP_IF) {
            if (!raise_if(loop, op)) return false;
        } else if (op->code == OP_FOR) {
            if (!raise_for(loop, op)) return false;
        } else if (op->code == OP_PARALLEL) {
            if (!raise_inner(loop, op)) return false;
        } else if (raise_is_store(op)) {
            if (!load_before(loop, op) || !raise_store(loop, op)) return false;
        } else if (is_raised_atomic(op)) {
            if (!load_before(loop, op) || !raise_atomic(loop, op)) return false;
        } else if (!op_has(op->code, TRAIT_PURE)) {
            return raise_fail(loop, op, "`%s` cannot stand inside of an element loop here", op_info[op->code].mnemonic);
        }
    }
    return true;
}

/* Its variables and their extents, where they are known; false: they are not all, or too many. */
static bool open_loop(Loop *loop) {
    bool counted = loop->op->code == OP_FOR, fits = true;
    int64_t elements = 1;
    for (int d = 0; d < loop->rank; d++) {
        loop->variable[d] = loop->op->regions[0]->args[d];
        bool known = counted ? raise_counts(loop->k, loop->op, &loop->low[d], &loop->extent[d])
                             : ir_const_int(loop->k, loop->op->operands[d], &loop->extent[d]) && loop->extent[d] >= 1;
        if (!known) loop->extent[d] = INT32_MAX; /* as far as anything may ask */
        fits = fits && known && loop->extent[d] <= MAX_TILE_ELEMENTS;
        fits = fits && (elements *= loop->extent[d]) <= MAX_TILE_ELEMENTS;
    }
    ir_walk(loop->op->regions[0], list_access, loop);
    raise_find_axes(loop);
    return fits;
}

static bool raise_loop(Loop *loop) {
    if (open_loop(loop)) {
        if (loop->op->code == OP_FOR) raise_find_scans(loop, loop->op, 0);
        while (!raise_check_order(loop)) {
            if (loop->op->code == OP_FOR || !raise_privatise(loop, loop->blamed)) return false;
            loop->why = NULL;
        }
        return raise_region(loop, loop->op->regions[0]);
    }
    if (loop->op->code == OP_FOR) return false;
    loop->in_order = true; /* blocks would run one after the other */
    if (raise_check_order(loop)) loop->split = true;
    return false;
}

/* --- what is not raised --- */

/* One iteration after the other, as loops of scalars. */
static void run_in_order(Loop *loop) {
    Region *body = loop->op->regions[0];
    Builder b = loop->b;
    b.range = loop->op->range;
    for (int d = 0; d < loop->rank; d++) {
        const Value *variable = ir_value(loop->k, body->args[d]);
        Elem elem = variable->type->elem;
        Op *inner =
            ir_for(&b, ir_int(&b, elem, 0), loop->op->operands[d], ir_int(&b, elem, 1), NULL, 0, variable->name);
        ir_replace_all(loop->k, body->args[d], inner->regions[0]->args[0]);
        Builder inside = ir_builder_inside(&b, inner->regions[0]);
        if (d + 1 == loop->rank) {
            while (body->first) ir_move(body->first, inner->regions[0], NULL); /* its terminator too */
        } else {
            ir_yield(&inside, NULL, 0);
            inside.before = inner->regions[0]->last;
        }
        b = inside;
    }
    ir_remove(loop->op);
}

/* --- plain loops --- */

/* Was it, or a loop around it, raised before? */
static bool is_gone(const Op *op) {
    while (op && op->parent) op = op->parent->owner;
    return op != NULL;
}

typedef struct Elements {
    const Kernel *k;
    bool writes, others; /* single elements of buffers; anything that is no single element, or has an order */
} Elements;

static void look_for_elements(Op *op, void *user) {
    Elements *e = user;
    e->writes |= op->code == OP_BSTORE;
    e->others |= op_has(op->code, TRAIT_SYNC) || (op_has(op->code, TRAIT_WRITES) && op->code != OP_BSTORE) ||
                 op->code == OP_PARALLEL || op->code == OP_SPMD || op->code == OP_WHILE;
    for (int i = 0; i < op->operand_count; i++)
        e->others |= op->operands[i] && ir_type(e->k, op->operands[i])->kind == TY_TILE &&
                     ir_type(e->k, op->operands[i])->rank > 0;
    for (int i = 0; i < op->result_count; i++) e->others |= ir_type(e->k, op->results[i])->rank > 0;
}

/* A loop over elements of buffers, which does nothing else. */
static bool is_over_elements(const Kernel *k, const Op *op) {
    Elements e = {.k = k};
    int64_t low, trips;
    if (!raise_counts(k, op, &low, &trips)) return false;
    ir_walk(op->regions[0], look_for_elements, &e);
    return e.writes && !e.others;
}

/* --- the pass --- */

static Loop make_loop(PassContext *cx, Kernel *k, Op *op, Analysis *affine, Map *widened, Map *patches) {
    bool counted = op->code == OP_FOR;
    return (Loop){.cx = cx,
                  .k = k,
                  .op = op,
                  .scope = op,
                  .in_order = counted,
                  .b = ir_builder_before(k, op),
                  .rank = counted ? 1 : op->operand_count,
                  .affine = affine,
                  .widened = widened,
                  .patches = patches};
}

/* Nothing half-made stays behind: ops built before the loop go. */
static bool try_loop(Loop *loop) {
    loop->before = loop->op->previous;
    if (raise_loop(loop)) {
        ir_remove(loop->op);
        return true;
    }
    while (loop->op->previous != loop->before) ir_remove(loop->op->previous);
    return false;
}

/* A plain loop around nothing but this one, which adds up products trip by trip: they are one. */
static bool raise_product_nest(PassContext *cx, Kernel *k, Op *op, Analysis *affine, Map *widened, Map *patches) {
    Op *outer = op->parent->owner;
    int64_t low, trips;
    if (!outer || outer->code != OP_FOR || op_attr(outer, AT_STAGES) || op->operand_count != 2 ||
        !raise_counts(k, outer, &low, &trips))
        return false;
    for (const Op *other = op->parent->first; other != op->parent->last; other = other->next)
        if (other != op && !op_has(other->code, TRAIT_ELEMENTWISE)) return false;
    Loop loop = make_loop(cx, k, outer, affine, widened, patches);
    loop.rank = 3;
    for (int d = 0; d < 2; d++) {
        loop.variable[d] = op->regions[0]->args[d];
        if (!ir_const_int(k, op->operands[d], &loop.extent[d]) || loop.extent[d] < 1 ||
            loop.extent[d] > MAX_TILE_ELEMENTS)
            return false;
    }
    loop.variable[2] = outer->regions[0]->args[0], loop.low[2] = low, loop.extent[2] = trips;
    ir_walk(outer->regions[0], list_access, &loop);
    raise_find_axes(&loop);
    bool good = loop.accesses.count > 0;
    for (size_t i = 0; i < loop.accesses.count; i++) {
        const Op *access = loop.accesses.at[i];
        if (!raise_is_load(access))
            good = good && access->code == OP_BSTORE && access->parent == op->regions[0] &&
                   raise_is_product(&loop, access);
    }
    loop.before = outer->previous;
    good = good && raise_check_order(&loop) && raise_region(&loop, op->regions[0]);
    if (!good)
        while (outer->previous != loop.before) ir_remove(outer->previous);
    else
        ir_remove(outer);
    return good;
}

bool raise_parallel(PassContext *cx, Kernel *k, Map *patches) {
    FoundOps loops = ir_list(k->body, OP_PARALLEL, cx->scratch), plain = ir_list(k->body, OP_FOR, cx->scratch);
    Map widened = {0};
    Analysis affine;
    bool changed = false;
    if (loops.count || plain.count) affine_init(&affine, k, cx->scratch, true);
    for (size_t i = 0; i < loops.count; i++) {
        if (is_gone(loops.at[i])) continue;
        if (raise_product_nest(cx, k, loops.at[i], &affine, &widened, patches)) {
            changed = true;
            continue;
        }
        Loop loop = make_loop(cx, k, loops.at[i], &affine, &widened, patches);
        changed = true;
        if (try_loop(&loop)) continue;
        if (loop.split) {
            *VEC_PUSH(&loops, cx->scratch) = raise_split(&loop);
            affine_init(&affine, k, cx->scratch, true);
            continue;
        }
        if (cx->machine && cx->machine->roles_always)
            diag_emit(cx->module->diag, DIAG_ELEMENT_LOOP, loop.where, cx->machine->name, loop.why);
        pass_find(cx, loop.where, FIND_ELEMENT_LOOP, loop.why);
        run_in_order(&loop);
        affine_forget(&affine);
    }
    for (size_t i = 0; i < plain.count; i++) {
        if (is_gone(plain.at[i]) || threads_are_around(plain.at[i]) || !is_over_elements(k, plain.at[i])) continue;
        Loop loop = make_loop(cx, k, plain.at[i], &affine, &widened, patches);
        changed |= try_loop(&loop);
    }
    return changed;
}
