/* raise_parallel.c: `parallel` loops over elements become tile ops.
 *
 *     parallel %i, %j in 32, 32 {                          %x = tload %A, [%m, %n] : f16[32,32]
 *       %r = add %m, %i ; %c = add %n, %j          ->      bstore %T, [0, 0], %x
 *       %x = tload %A, [%r, %c] : f16
 *       bstore %T, [%i, %j], %x }
 *
 * Every scalar of the body becomes a tile over just the loop variables that it depends on (its axes). Work starts at
 * the stores and pulls in what they need. An access whose indices are `uniform + variable`, each variable in one place,
 * is a box. A store to a cell that some variable does not reach is an accumulation (raise_accumulate.c).
 *
 * A loop that cannot be raised whole is left alone, with a finding; on a machine of threads its iterations run one
 * after the other instead. Both give what the interpreter gives, which takes them in order. */
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

/* --- which values belong to the loop --- */

Op *raise_body_op(const Loop *loop, Ref ref) {
    if (!ref_is_value(ref)) return NULL;
    Op *op = ir_value(loop->k, ref)->op;
    return op && op->parent == loop->op->regions[0] ? op : NULL;
}

static int variable_index(const Loop *loop, Ref ref) {
    for (int d = 0; d < loop->rank; d++)
        if (loop->op->regions[0]->args[d] == ref) return d;
    return -1;
}

/* --- shapes --- */

const Type *raise_tile(Loop *loop, Elem elem, const int *axes, int count) {
    int64_t extent[MAX_RANK];
    for (int d = 0; d < count; d++) extent[d] = loop->extent[axes[d]];
    return ty_tile(loop->k->module, elem, count, extent);
}

bool raise_fits(Loop *loop, const Op *op, const int *axes, int count) {
    int64_t elements = 1;
    for (int d = 0; d < count; d++) {
        elements *= loop->extent[axes[d]];
        if (elements > MAX_TILE_ELEMENTS)
            return raise_fail(loop, op, "a tile over the loop has more than 2^20 elements");
    }
    return true;
}

int raise_find_axis(const Raised *value, int axis) {
    for (int d = 0; d < value->count; d++)
        if (value->axes[d] == axis) return d;
    return -1;
}

Ref raise_align(Loop *loop, const Raised *value, const int *axes, int count) {
    if (value->count == 0) return value->ref;
    bool same = value->count == count;
    for (int d = 0; same && d < count; d++) same = value->axes[d] == axes[d];
    if (same) return value->ref;
    int64_t order[MAX_RANK], extent[MAX_RANK];
    int found = 0;
    bool in_order = true;
    for (int d = 0; d < count; d++) {
        int at = raise_find_axis(value, axes[d]);
        extent[d] = at < 0 ? 1 : loop->extent[axes[d]];
        if (at < 0) continue;
        in_order = in_order && at == found;
        order[found++] = at;
    }
    Ref ref = in_order ? value->ref : ir_permute(&loop->b, value->ref, order, found);
    return ir_reshape(&loop->b, ref, ty_with_shape(loop->k->module, ir_type(loop->k, ref), count, extent));
}

/* All axes of several values: the order of the one that has them all, else by loop variable. */
static int join_axes(const Raised *values, int value_count, int *axes) {
    unsigned set = 0;
    for (int i = 0; i < value_count; i++)
        for (int d = 0; d < values[i].count; d++) set |= 1u << values[i].axes[d];
    int count = __builtin_popcount(set), n = 0;
    for (int i = 0; i < value_count; i++)
        if (values[i].count == count) {
            memcpy(axes, values[i].axes, sizeof values[i].axes);
            return count;
        }
    for (int axis = 0; axis < MAX_RANK; axis++)
        if (set >> axis & 1) axes[n++] = axis;
    return count;
}

/* --- indices --- */

/* By how much an index steps with each loop variable, if it is a sum of such steps and of what is uniform (in signed
 * integers of 32 bits or more, where an index that wraps around lies outside of everything, as the exact sum does). */
static bool find_steps(Loop *loop, const Op *access, Ref index, Poly *start, int64_t step[MAX_RANK]) {
    const Op *made = raise_body_op(loop, index);
    *start = affine_of(loop->affine, index)->start;
    memset(step, 0, MAX_RANK * sizeof *step);
    for (int i = 0; i < start->count; i++) {
        const Term *term = &start->at[i];
        int variable = term->count == 1 ? variable_index(loop, term->factor[0]) : -1;
        if (variable >= 0) step[variable] = term->scale;
        for (int j = 0; j < term->count && variable < 0; j++) {
            Raised factor;
            if (!raise_value(loop, term->factor[j], &factor)) return false;
            if (factor.count)
                return raise_fail(loop, made ? made : access,
                                  "an index must be a sum of loop variables and uniform values");
        }
    }
    return true;
}

static bool is_zero(const Loop *loop, Ref ref) {
    int64_t number;
    return ir_const_int(loop->k, ref, &number) && number == 0;
}

static Ref at_first(Loop *loop, Ref ref);

/* The op with its operands of the first iteration. */
static Ref op_at_first(Loop *loop, const Op *op) {
    Ref *at = ARENA_ARRAY(loop->cx->scratch, Ref, op->operand_count);
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] && !(at[i] = at_first(loop, op->operands[i]))) return REF_NONE;
    if ((op->code == OP_ADD || op->code == OP_SUB) && is_zero(loop, at[1])) return at[0];
    if (op->code == OP_ADD && is_zero(loop, at[0])) return at[1];
    if (op->code == OP_MUL && (is_zero(loop, at[0]) || is_zero(loop, at[1]))) return at[!is_zero(loop, at[0])];
    Op *made = ir_begin(&loop->b, op->code);
    for (int i = 0; i < op->operand_count; i++) ir_operand(&loop->b, made, at[i]);
    for (int i = 0; i < op->attr_count; i++) op_set(loop->k, made, op->attrs[i]);
    bool given = op_info[op->code].result == RES_GIVEN;
    return ir_end(&loop->b, made, given ? ir_type(loop->k, op->results[0]) : NULL);
}

/* What the value is in the first iteration, where all variables are 0; REF_NONE: that cannot be said. */
static Ref at_first(Loop *loop, Ref ref) {
    if (variable_index(loop, ref) >= 0) return ir_literal_int(loop->k, ir_type(loop->k, ref), 0);
    const Op *op = raise_body_op(loop, ref);
    if (!op) return ref;
    Raised value;
    if (!op_has(op->code, TRAIT_ELEMENTWISE)) return raise_value(loop, ref, &value) ? value.ref : REF_NONE;
    MapEntry *known = map_find_number(&loop->first, ref);
    if (known) return (Ref)(uintptr_t)known->value;
    Ref first = op_at_first(loop, op);
    map_put_number(&loop->first, loop->cx->scratch, ref, (void *)(uintptr_t)first);
    return first;
}

bool raise_box(Loop *loop, const Op *op, Box *box) {
    RefList indices = op_list(op, 0);
    unsigned seen = 0;
    if (box_is_indexed(loop->k, op))
        return raise_fail(loop, op, "an index vector inside an element loop is not raised");
    box->rank = indices.count;
    for (int d = 0; d < indices.count; d++) {
        int64_t step[MAX_RANK];
        if (!find_steps(loop, op, indices.at[d], &box->start[d], step)) return false;
        if (!(box->offset[d] = at_first(loop, indices.at[d]))) return false;
        box->axis[d] = -1;
        for (int v = 0; v < loop->rank; v++) {
            if (step[v] == 0) continue;
            if (box->axis[d] >= 0) return raise_fail(loop, op, "index %d uses two loop variables", d + 1);
            if (step[v] != 1)
                return raise_fail(loop, op, "index %d steps by %lld; only steps of 1 make a box", d + 1,
                                  (long long)step[v]);
            if (seen >> v & 1) return raise_fail(loop, op, "a loop variable stands in two indices");
            seen |= 1u << v;
            box->axis[d] = v;
        }
    }
    return true;
}

bool raise_same_box(const Box *a, const Box *b) {
    for (int d = 0; d < a->rank; d++)
        if (!poly_equal(a->start[d], b->start[d])) return false;
    return a->rank == b->rank;
}

int raise_box_axes(const Box *box, int *axes) {
    int count = 0;
    for (int d = 0; d < box->rank; d++)
        if (box->axis[d] >= 0) axes[count++] = box->axis[d];
    return count;
}

/* dims = the tensor dimensions that the tile covers, unless they are the last ones */
static void set_dims(Loop *loop, Op *op, const Box *box, int count) {
    int64_t *dims = ARENA_ARRAY(loop->k->module->arena, int64_t, MAX_RANK);
    int n = 0;
    bool last = true;
    for (int d = 0; d < box->rank; d++) {
        if (box->axis[d] < 0) continue;
        last = last && d == box->rank - count + n;
        dims[n++] = d;
    }
    if (!last) op_set(loop->k, op, (Attr){.id = AT_DIMS, .list = {n, dims}});
}

bool raise_buffer_type(Loop *loop, const Op *op, const Box *box, const Type **type) {
    const Type *buffer = ir_type(loop->k, op->operands[0]);
    int64_t extent[MAX_RANK];
    for (int d = 0; d < box->rank; d++) {
        int64_t start = 0;
        extent[d] = box->axis[d] < 0 ? 1 : loop->extent[box->axis[d]];
        bool known = ir_const_int(loop->k, box->offset[d], &start);
        if (start < 0 || start > buffer->extent[d] - extent[d])
            return raise_fail(loop, op, "index %d takes %lld elements from %lld on of an extent of %lld", d + 1,
                              (long long)extent[d], (long long)start, (long long)buffer->extent[d]);
        if (!known && extent[d] == buffer->extent[d])
            return raise_fail(loop, op, "index %d may leave the buffer", d + 1);
    }
    *type = ty_tile(loop->k->module, buffer->elem, box->rank, extent);
    return true;
}

/* --- values --- */

static bool raise_load(Loop *loop, const Op *op, Raised *out) {
    Box box;
    if (!raise_box(loop, op, &box)) return false;
    out->count = raise_box_axes(&box, out->axes);
    Elem elem = ir_type(loop->k, op->results[0])->elem;
    if (!raise_fits(loop, op, out->axes, out->count)) return false;
    const Type *type = raise_tile(loop, elem, out->axes, out->count);
    loop->b.range = op->range;
    if (op->code == OP_BLOAD) {
        const Type *boxed;
        if (!raise_buffer_type(loop, op, &box, &boxed)) return false;
        out->ref = ir_reshape(&loop->b, ir_bload(&loop->b, op->operands[0], box.offset, boxed), type);
        return true;
    }
    if (op_operand(op, 1)) return raise_fail(loop, op, "a masked element load is not raised");
    Op *load = ir_begin(&loop->b, OP_TLOAD);
    ir_operand(&loop->b, load, op->operands[0]);
    ir_operand_list(&loop->b, load, 0, box.offset, box.rank);
    ir_operand(&loop->b, load, REF_NONE);
    for (int i = 0; i < op->attr_count; i++) op_set(loop->k, load, op->attrs[i]);
    set_dims(loop, load, &box, out->count);
    out->ref = ir_end(&loop->b, load, type);
    return true;
}

static bool raise_elementwise(Loop *loop, const Op *op, Raised *out) {
    Raised *parts = ARENA_ARRAY(loop->cx->scratch, Raised, op->operand_count);
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] && !raise_value(loop, op->operands[i], &parts[i])) return false;
    out->count = join_axes(parts, op->operand_count, out->axes);
    if (!raise_fits(loop, op, out->axes, out->count)) return false;
    loop->b.range = op->range;
    Op *made = ir_begin(&loop->b, op->code);
    const Type *result = ir_type(loop->k, op->results[0]);
    for (int i = 0; i < op->operand_count; i++)
        ir_operand(&loop->b, made, op->operands[i] ? raise_align(loop, &parts[i], out->axes, out->count) : REF_NONE);
    for (int i = 0; i < op->attr_count; i++) op_set(loop->k, made, op->attrs[i]);
    bool given = op_info[op->code].result == RES_GIVEN;
    out->ref = ir_end(&loop->b, made, given ? raise_tile(loop, result->elem, out->axes, out->count) : NULL);
    return true;
}

bool raise_value(Loop *loop, Ref ref, Raised *out) {
    *out = (Raised){.ref = ref};
    MapEntry *known = map_find_number(&loop->done, ref);
    if (known) {
        *out = *(Raised *)known->value;
        return true;
    }
    int variable = variable_index(loop, ref);
    Op *op = raise_body_op(loop, ref);
    if (variable >= 0) {
        *out = (Raised){ir_iota(&loop->b, 0, loop->extent[variable]), 1, {variable}};
    } else if (op) {
        if (op->code == OP_TLOAD || op->code == OP_BLOAD) {
            if (!raise_load(loop, op, out)) return false;
        } else if (op_has(op->code, TRAIT_ELEMENTWISE)) {
            if (!raise_elementwise(loop, op, out)) return false;
        } else {
            return raise_fail(loop, op, "`%s` inside an element loop is not raised", op_info[op->code].mnemonic);
        }
        ir_name(loop->k, out->ref, ir_value(loop->k, ref)->name);
    }
    map_put_number(&loop->done, loop->cx->scratch, ref, arena_copy(loop->cx->scratch, out, sizeof *out));
    return true;
}

/* --- stores --- */

static bool raise_store(Loop *loop, Op *op) {
    Box box;
    if (!raise_box(loop, op, &box)) return false;
    int axes[MAX_RANK], count = raise_box_axes(&box, axes);
    if (count < loop->rank && op->code == OP_BSTORE) return raise_accumulation(loop, op, &box);
    if (count < loop->rank) return raise_fail(loop, op, "several iterations write one place");
    if (!raise_fits(loop, op, axes, count)) return false;
    Raised value;
    Ref stored = op->code == OP_BSTORE ? op->operands[op->operand_count - 1] : op_operand(op, 1);
    if (!raise_value(loop, stored, &value)) return false;
    const Type *type = raise_tile(loop, ir_type(loop->k, stored)->elem, axes, count);
    loop->b.range = op->range;
    Ref tile = value.count ? ir_broadcast(&loop->b, raise_align(loop, &value, axes, count), type)
                           : ir_splat(&loop->b, value.ref, type);
    if (op->code == OP_BSTORE) {
        const Type *boxed;
        if (!raise_buffer_type(loop, op, &box, &boxed)) return false;
        ir_bstore(&loop->b, op->operands[0], box.offset, ir_reshape(&loop->b, tile, boxed));
        return true;
    }
    if (op_operand(op, 2)) return raise_fail(loop, op, "a masked element store is not raised");
    set_dims(loop, ir_tstore(&loop->b, op->operands[0], box.offset, tile, REF_NONE), &box, count);
    return true;
}

/* Iterations may run in any order only if every access to what the body writes is to the iteration's own cell. */
static bool check_independent(Loop *loop, const Op *store) {
    Box own, other;
    if (!raise_box(loop, store, &own)) return false;
    for (const Op *op = loop->op->regions[0]->first; op; op = op->next) {
        bool access = op->code == OP_BLOAD || op->code == OP_BSTORE || op->code == OP_TLOAD || op->code == OP_TSTORE;
        if (op == store || !access || op->operands[0] != store->operands[0]) continue;
        if (!raise_box(loop, op, &other)) return false;
        if (!raise_same_box(&own, &other))
            return raise_fail(loop, op,
                              "the loop writes this memory at other places too, and its iterations have no order");
    }
    return true;
}

/* Loads that stand before the store and read what it writes are made before it, whoever needs them: those behind the
 * last store to that memory, which made the others. */
static bool load_before(Loop *loop, const Op *last, const Op *store) {
    int axes[MAX_RANK];
    Box box;
    if (!raise_box(loop, store, &box)) return false;
    if (raise_box_axes(&box, axes) < loop->rank) return true; /* an accumulation reads its cell itself */
    for (const Op *op = last ? last->next : loop->op->regions[0]->first; op != store; op = op->next) {
        Raised unused;
        bool load = op->code == OP_BLOAD || op->code == OP_TLOAD;
        if (!load || op->operands[0] != store->operands[0]) continue;
        if (!raise_value(loop, op->results[0], &unused)) return false;
    }
    return true;
}

static bool raise_loop(Loop *loop) {
    Region *body = loop->op->regions[0];
    Map stored = {0}; /* memory -> the last store to it */
    for (int d = 0; d < loop->rank; d++)
        if (!ir_const_int(loop->k, loop->op->operands[d], &loop->extent[d]) || loop->extent[d] < 1 ||
            loop->extent[d] > MAX_TILE_ELEMENTS)
            return raise_fail(loop, loop->op, "the extents of an element loop must be constants in 1 .. 2^20");
    for (Op *op = body->first; op; op = op->next) {
        if (op->code == OP_YIELD || op_has(op->code, TRAIT_PURE) || op->code == OP_BLOAD || op->code == OP_TLOAD)
            continue;
        if (op->code != OP_BSTORE && op->code != OP_TSTORE)
            return raise_fail(loop, op, "`%s` inside an element loop is not raised", op_info[op->code].mnemonic);
        const MapEntry *last = map_find_number(&stored, op->operands[0]);
        if (!last && !check_independent(loop, op)) return false; /* its first store speaks for the others */
        if (!load_before(loop, last ? last->value : NULL, op) || !raise_store(loop, op)) return false;
        map_put_number(&stored, loop->cx->scratch, op->operands[0], op);
    }
    return true;
}

/* --- what is not raised --- */

/* One iteration after the other, as loops of scalars: for machines whose threads would have to share out the
 * iterations. */
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

/* --- the pass --- */

bool raise_parallel(PassContext *cx, Kernel *k) {
    FoundOps loops = ir_list(k->body, OP_PARALLEL, cx->scratch);
    Map widened = {0};
    Analysis affine;
    bool changed = false;
    if (loops.count) affine_init(&affine, k, cx->scratch, true);
    for (size_t i = 0; i < loops.count; i++) {
        Op *op = loops.at[i];
        Loop loop = {.cx = cx,
                     .k = k,
                     .op = op,
                     .b = ir_builder_before(k, op),
                     .rank = op->operand_count,
                     .affine = &affine,
                     .widened = &widened};
        Op *before = op->previous;
        if (raise_loop(&loop)) {
            ir_remove(op);
            changed = true;
            continue;
        }
        /* Nothing half-made stays behind: ops built before the loop go. */
        while (op->previous != before) ir_remove(op->previous);
        bool ordered = cx->machine && cx->machine->has_threads;
        pass_find(cx, loop.where, FIND_ELEMENT_LOOP, ordered ? "runs element by element" : "stays as written",
                  loop.why);
        if (!ordered) continue;
        run_in_order(&loop);
        affine_forget(&affine);
        changed = true;
    }
    return changed;
}
