/* raise_parallel.c: `parallel` loops over elements become tile ops.
 *
 *     parallel %i, %j in 32, 32 {                          %x = tload %A, [%m, %n] : f16[32,32]
 *       %r = add %m, %i ; %c = add %n, %j          ->      bstore %T, [0, 0], %x
 *       %x = tload %A, [%r, %c] : f16
 *       bstore %T, [%i, %j], %x }
 *
 * Every scalar of the body becomes a tile over just the loop variables that it depends on (its axes). Work starts at
 * the stores and pulls in what they need. An access whose indices are `uniform + variable`, each variable in one place,
 * is a box. A store to a cell that some variable does not reach must be `cell = cell op e`: it reduces e over that
 * variable, and a sum of products becomes `dot`. A 16-bit sum is carried in f32 from then on and rounded where it is
 * read (a note says so).
 *
 * A loop that cannot be raised whole is left alone, with a finding. */
#include "pass/raise.h"

#include <string.h>

typedef struct Raised { /* a value of the body as a tile */
    Ref ref;
    int count;          /* of axes; 0: uniform, a scalar */
    int axes[MAX_RANK]; /* axes[d]: the loop variable that dimension d of the tile runs over */
} Raised;

typedef struct Affine { /* base + sum of coefficient * variable */
    Ref base;
    int64_t coefficient[MAX_RANK];
} Affine;

typedef struct Loop {
    PassContext *cx;
    Kernel *k;
    Op *op;
    Builder b; /* just before the loop */
    int rank;
    int64_t extent[MAX_RANK];
    Map done;  /* Ref -> Raised, both for values already made */
    const char *why; /* set on failure */
    Range where;
} Loop;

static bool fail(Loop *loop, const Op *op, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fail(Loop *loop, const Op *op, const char *format, ...) {
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

static Op *body_op(const Loop *loop, Ref ref) {
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

static const Type *tile_over(Loop *loop, Elem elem, const int *axes, int count) {
    int64_t extent[MAX_RANK];
    for (int d = 0; d < count; d++) extent[d] = loop->extent[axes[d]];
    return ty_tile(loop->k->module, elem, count, extent);
}

static int find_axis(const Raised *value, int axis) {
    for (int d = 0; d < value->count; d++)
        if (value->axes[d] == axis) return d;
    return -1;
}

/* The value with one dimension for each of the axes, extent 1 where it does not depend on that one. */
static Ref align(Loop *loop, const Raised *value, const int *axes, int count) {
    if (value->count == 0) return value->ref;
    bool same = value->count == count;
    for (int d = 0; same && d < count; d++) same = value->axes[d] == axes[d];
    if (same) return value->ref;
    int64_t order[MAX_RANK], extent[MAX_RANK];
    int found = 0;
    bool in_order = true;
    for (int d = 0; d < count; d++) {
        int at = find_axis(value, axes[d]);
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

static bool raise_value(Loop *loop, Ref ref, Raised *out);

static Ref add_bases(Loop *loop, Opcode code, Ref x, Ref y) {
    int64_t c;
    if (ir_const_int(loop->k, y, &c) && c == 0) return x;
    if (code == OP_ADD && ir_const_int(loop->k, x, &c) && c == 0) return y;
    return ir_binary(&loop->b, code, x, y);
}

static bool affine_of(Loop *loop, Ref ref, Affine *out) {
    *out = (Affine){.base = ref};
    int variable = variable_index(loop, ref);
    if (variable >= 0) {
        out->base = ir_literal_int(loop->k, ir_type(loop->k, ref), 0);
        out->coefficient[variable] = 1;
        return true;
    }
    Op *op = body_op(loop, ref);
    if (!op) return true; /* uniform */
    Affine x, y;
    int64_t factor;
    switch (op->code) {
    case OP_ADD:
    case OP_SUB:
        if (!affine_of(loop, op->operands[0], &x) || !affine_of(loop, op->operands[1], &y)) return false;
        out->base = add_bases(loop, op->code, x.base, y.base);
        for (int d = 0; d < loop->rank; d++)
            out->coefficient[d] = op->code == OP_ADD ? x.coefficient[d] + y.coefficient[d]
                                                     : x.coefficient[d] - y.coefficient[d];
        return true;
    case OP_MUL:
        for (int side = 0; side < 2; side++) {
            if (!ir_const_int(loop->k, op->operands[side], &factor)) continue;
            if (!affine_of(loop, op->operands[1 - side], &x)) return false;
            int64_t zero;
            bool none = ir_const_int(loop->k, x.base, &zero) && zero == 0;
            out->base = none ? x.base : ir_binary(&loop->b, OP_MUL, x.base, op->operands[side]);
            for (int d = 0; d < loop->rank; d++) out->coefficient[d] = x.coefficient[d] * factor;
            return true;
        }
        break;
    case OP_CAST:
        if (!elem_is_int(ir_type(loop->k, op->operands[0])->elem)) break;
        if (!affine_of(loop, op->operands[0], &x)) return false;
        *out = x;
        out->base = ir_cast(&loop->b, x.base, ir_type(loop->k, ref)->elem);
        return true;
    default: break;
    }
    Raised value;
    if (!raise_value(loop, ref, &value)) return false;
    if (value.count) return fail(loop, op, "an index must be a sum of loop variables and uniform values");
    out->base = value.ref;
    return true;
}

typedef struct Box {
    int rank; /* of the tensor or buffer */
    Ref offset[MAX_RANK];
    int axis[MAX_RANK]; /* the variable of each dimension, or -1 */
} Box;

static bool box_of(Loop *loop, const Op *op, Box *box) {
    RefList indices = op_list(op, 0);
    unsigned seen = 0;
    box->rank = indices.count;
    for (int d = 0; d < indices.count; d++) {
        Affine affine;
        if (!affine_of(loop, indices.at[d], &affine)) return false;
        box->offset[d] = affine.base;
        box->axis[d] = -1;
        for (int v = 0; v < loop->rank; v++) {
            if (affine.coefficient[v] == 0) continue;
            if (box->axis[d] >= 0) return fail(loop, op, "index %d uses two loop variables", d + 1);
            if (affine.coefficient[v] != 1)
                return fail(loop, op, "index %d steps by %lld; only steps of 1 make a box", d + 1,
                            (long long)affine.coefficient[v]);
            if (seen >> v & 1) return fail(loop, op, "a loop variable stands in two indices");
            seen |= 1u << v;
            box->axis[d] = v;
        }
    }
    return true;
}

static bool same_box(const Box *a, const Box *b) {
    for (int d = 0; d < a->rank; d++)
        if (a->axis[d] != b->axis[d] || a->offset[d] != b->offset[d]) return false;
    return a->rank == b->rank;
}

static int box_axes(const Box *box, int *axes) {
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

/* A buffer's box keeps the rank: extent 1 where no variable runs. False when it does not lie in the buffer. */
static bool buffer_box_type(Loop *loop, const Op *op, const Box *box, const Type **type) {
    const Type *buffer = ir_type(loop->k, op->operands[0]);
    int64_t extent[MAX_RANK];
    for (int d = 0; d < box->rank; d++) {
        int64_t start = 0;
        extent[d] = box->axis[d] < 0 ? 1 : loop->extent[box->axis[d]];
        bool known = ir_const_int(loop->k, box->offset[d], &start);
        if (start < 0 || start + extent[d] > buffer->extent[d])
            return fail(loop, op, "index %d runs over %lld .. %lld of an extent of %lld", d + 1, (long long)start,
                        (long long)(start + extent[d] - 1), (long long)buffer->extent[d]);
        if (!known && extent[d] == buffer->extent[d])
            return fail(loop, op, "index %d may leave the buffer", d + 1);
    }
    *type = ty_tile(loop->k->module, buffer->elem, box->rank, extent);
    return true;
}

/* --- values --- */

static bool raise_load(Loop *loop, const Op *op, Raised *out) {
    Box box;
    if (!box_of(loop, op, &box)) return false;
    out->count = box_axes(&box, out->axes);
    Elem elem = ir_type(loop->k, op->results[0])->elem;
    const Type *type = tile_over(loop, elem, out->axes, out->count);
    loop->b.range = op->range;
    if (op->code == OP_BLOAD) {
        const Type *boxed;
        if (!buffer_box_type(loop, op, &box, &boxed)) return false;
        out->ref = ir_reshape(&loop->b, ir_bload(&loop->b, op->operands[0], box.offset, boxed), type);
        return true;
    }
    if (op_operand(op, 1)) return fail(loop, op, "a masked element load is not raised");
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
    loop->b.range = op->range;
    Op *made = ir_begin(&loop->b, op->code);
    const Type *result = ir_type(loop->k, op->results[0]);
    for (int i = 0; i < op->operand_count; i++)
        ir_operand(&loop->b, made, op->operands[i] ? align(loop, &parts[i], out->axes, out->count) : REF_NONE);
    for (int i = 0; i < op->attr_count; i++) op_set(loop->k, made, op->attrs[i]);
    bool given = op_info[op->code].result == RES_GIVEN;
    out->ref = ir_end(&loop->b, made, given ? tile_over(loop, result->elem, out->axes, out->count) : NULL);
    return true;
}

static bool raise_value(Loop *loop, Ref ref, Raised *out) {
    *out = (Raised){.ref = ref};
    MapEntry *known = map_find_number(&loop->done, ref);
    if (known) {
        *out = *(Raised *)known->value;
        return true;
    }
    int variable = variable_index(loop, ref);
    Op *op = body_op(loop, ref);
    if (variable >= 0) {
        *out = (Raised){ir_iota(&loop->b, 0, loop->extent[variable]), 1, {variable}};
    } else if (op) {
        if (op->code == OP_TLOAD || op->code == OP_BLOAD) {
            if (!raise_load(loop, op, out)) return false;
        } else if (op_has(op->code, TRAIT_ELEMENTWISE)) {
            if (!raise_elementwise(loop, op, out)) return false;
        } else {
            return fail(loop, op, "`%s` inside an element loop is not raised", op_info[op->code].mnemonic);
        }
        ir_name(loop->k, out->ref, ir_value(loop->k, ref)->name);
    }
    map_put_number(&loop->done, loop->cx->scratch, ref, arena_copy(loop->cx->scratch, out, sizeof *out));
    return true;
}

/* --- reductions: cell = cell op e --- */

static bool is_small_float(Elem elem) { return elem_is_float(elem) && elem_info[elem].bits == 16; }

/* `dot` when e is a product of two factors that each miss one of the cell's two axes. */
static bool raise_dot(Loop *loop, const Op *store, const Op *product, const Box *cell, Ref accumulator, Ref *out) {
    int kept[MAX_RANK];
    if (cell->rank != 2 || box_axes(cell, kept) != 2) return false;
    int reduced = 3 - kept[0] - kept[1]; /* of the variables 0, 1, 2 */
    Raised side[2];
    for (int i = 0; i < 2; i++) {
        Ref factor = product->operands[i];
        /* A widened 16-bit factor: its product is exact either way, and the matrix units take the narrow one. */
        const Op *cast = body_op(loop, factor);
        bool widened = cast && cast->code == OP_CAST && is_small_float(ir_type(loop->k, cast->operands[0])->elem);
        if (!raise_value(loop, widened ? cast->operands[0] : factor, &side[i])) return false;
    }
    bool swapped = find_axis(&side[0], kept[0]) < 0;
    const Raised *a = &side[swapped], *b = &side[!swapped];
    bool fits = a->count == 2 && b->count == 2 && find_axis(a, kept[0]) >= 0 && find_axis(a, reduced) >= 0 &&
                find_axis(b, kept[1]) >= 0 && find_axis(b, reduced) >= 0 &&
                ir_type(loop->k, a->ref)->elem == ir_type(loop->k, b->ref)->elem;
    if (!fits) return false;
    loop->b.range = store->range;
    Ref left = align(loop, a, (int[]){kept[0], reduced}, 2), right = align(loop, b, (int[]){reduced, kept[1]}, 2);
    *out = ir_dot(&loop->b, left, right, accumulator);
    return true;
}

static Word combine_of(Opcode code) {
    switch (code) {
    case OP_ADD: return COMBINE_ADD;
    case OP_MUL: return COMBINE_MUL;
    case OP_MIN: return COMBINE_MIN;
    case OP_MAX: return COMBINE_MAX;
    default: return WORD_NONE;
    }
}

typedef struct Widening {
    Kernel *k;
    Ref buffer;
} Widening;

/* A use of a buffer whose element became f32: reads are rounded back, writes are widened. */
static void widen_use(Op *op, void *user) {
    Widening *w = user;
    if (!op->operand_count || op->operands[0] != w->buffer) return;
    Module *m = w->k->module;
    if (op->code == OP_BSTORE) {
        Builder b = ir_builder_before(w->k, op);
        op->operands[op->operand_count - 1] = ir_cast(&b, op->operands[op->operand_count - 1], EL_F32);
    } else if (op->code == OP_BLOAD) {
        const Type *narrow = ir_type(w->k, op->results[0]);
        Builder b = ir_builder_before(w->k, op);
        b.before = op->next;
        Ref wide = op->results[0];
        ir_value(w->k, wide)->type = ty_with_elem(m, narrow, EL_F32);
        Ref rounded = ir_cast(&b, wide, narrow->elem);
        Op *cast = ir_value(w->k, rounded)->op;
        ir_replace_all(w->k, wide, rounded);
        cast->operands[0] = wide;
    }
}

static void widen_buffer(Loop *loop, const Op *store) {
    Ref buffer = store->operands[0];
    const Type *narrow = ir_type(loop->k, buffer);
    ir_value(loop->k, buffer)->type =
        ty_buffer(loop->k->module, EL_F32, narrow->rank, narrow->extent, narrow->scope);
    Widening widening = {loop->k, buffer};
    ir_walk(loop->k->body, widen_use, &widening);
    loop->cx->widened = true;
    pass_find(loop->cx, store->range, "raise", "the %s sum is carried in f32 and rounded to %s where it is read",
              elem_info[narrow->elem].text, elem_info[narrow->elem].text);
}

typedef struct Accumulation { /* cell = cell op e */
    Opcode code;
    Word combine;
    Ref e;
} Accumulation;

/* The op of the body behind any widening or rounding casts. */
static const Op *behind_casts(const Loop *loop, Ref ref) {
    const Op *op = body_op(loop, ref);
    while (op && op->code == OP_CAST) op = body_op(loop, op->operands[0]);
    return op;
}

static bool find_accumulation(Loop *loop, const Op *store, const Box *cell, Accumulation *out) {
    const Op *update = behind_casts(loop, store->operands[store->operand_count - 1]);
    out->combine = update ? combine_of(update->code) : WORD_NONE;
    for (int side = 0; out->combine && side < 2; side++) {
        const Op *read = behind_casts(loop, update->operands[side]);
        Box box;
        if (!read || read->code != OP_BLOAD || read->operands[0] != store->operands[0]) continue;
        if (!box_of(loop, read, &box)) return false;
        if (!same_box(&box, cell)) continue;
        out->code = update->code;
        out->e = update->operands[1 - side];
        return true;
    }
    return fail(loop, store, "a cell that a loop variable does not reach must be `cell = cell op e`");
}

/* e reduced over every variable that the cell lacks, in the cell's order of axes */
static bool reduce_over_missing(Loop *loop, const Op *store, const Accumulation *sum, Elem elem, const int *kept,
                                int count, Ref *out) {
    Raised part;
    if (!raise_value(loop, sum->e, &part)) return false;
    loop->b.range = store->range;
    if (elem_is_float(elem)) part.ref = ir_cast(&loop->b, part.ref, elem);
    for (int axis = 0; axis < loop->rank; axis++) {
        bool stays = false;
        for (int i = 0; i < count; i++) stays |= kept[i] == axis;
        if (stays) continue;
        int d = find_axis(&part, axis);
        if (d < 0) return fail(loop, store, "what is accumulated must depend on every loop variable that the cell lacks");
        part.ref = ir_reduce(&loop->b, sum->combine, part.ref, d);
        memmove(&part.axes[d], &part.axes[d + 1], (size_t)(part.count - d - 1) * sizeof(int));
        part.count--;
    }
    *out = align(loop, &part, kept, count);
    return true;
}

static bool raise_accumulation(Loop *loop, Op *store, const Box *cell) {
    Accumulation sum = {0};
    if (!find_accumulation(loop, store, cell, &sum)) return false;
    if (is_small_float(ir_type(loop->k, store->operands[0])->elem) && sum.combine == COMBINE_ADD)
        widen_buffer(loop, store);
    Elem elem = ir_type(loop->k, store->operands[0])->elem;
    int kept[MAX_RANK], count = box_axes(cell, kept);
    const Type *boxed;
    if (!buffer_box_type(loop, store, cell, &boxed)) return false;
    loop->b.range = store->range;
    Ref old = ir_bload(&loop->b, store->operands[0], cell->offset, boxed), value = REF_NONE, part = REF_NONE;
    old = ir_reshape(&loop->b, old, tile_over(loop, elem, kept, count));
    const Op *product = behind_casts(loop, sum.e);
    bool dotted = product && product->code == OP_MUL && sum.combine == COMBINE_ADD && loop->rank == 3 &&
                  raise_dot(loop, store, product, cell, old, &value);
    if (loop->why) return false;
    if (!dotted) {
        if (!reduce_over_missing(loop, store, &sum, elem, kept, count, &part)) return false;
        value = ir_binary(&loop->b, sum.code, old, part);
    }
    loop->b.range = store->range;
    ir_bstore(&loop->b, store->operands[0], cell->offset, ir_reshape(&loop->b, value, boxed));
    return true;
}

/* --- stores --- */

static bool raise_store(Loop *loop, Op *op) {
    Box box;
    if (!box_of(loop, op, &box)) return false;
    int axes[MAX_RANK], count = box_axes(&box, axes);
    if (count < loop->rank && op->code == OP_BSTORE) return raise_accumulation(loop, op, &box);
    if (count < loop->rank) return fail(loop, op, "several iterations write one place");
    Raised value;
    Ref stored = op->code == OP_BSTORE ? op->operands[op->operand_count - 1] : op_operand(op, 1);
    if (!raise_value(loop, stored, &value)) return false;
    const Type *type = tile_over(loop, ir_type(loop->k, stored)->elem, axes, count);
    loop->b.range = op->range;
    Ref tile = value.count ? ir_broadcast(&loop->b, align(loop, &value, axes, count), type)
                           : ir_splat(&loop->b, value.ref, type);
    if (op->code == OP_BSTORE) {
        const Type *boxed;
        if (!buffer_box_type(loop, op, &box, &boxed)) return false;
        ir_bstore(&loop->b, op->operands[0], box.offset, ir_reshape(&loop->b, tile, boxed));
        return true;
    }
    if (op_operand(op, 2)) return fail(loop, op, "a masked element store is not raised");
    set_dims(loop, ir_tstore(&loop->b, op->operands[0], box.offset, tile, REF_NONE), &box, count);
    return true;
}

/* Iterations may run in any order only if every access to what the body writes is to the iteration's own cell. */
static bool check_independent(Loop *loop, const Op *store) {
    Box own, other;
    if (!box_of(loop, store, &own)) return false;
    for (const Op *op = loop->op->regions[0]->first; op; op = op->next) {
        bool access = op->code == OP_BLOAD || op->code == OP_BSTORE || op->code == OP_TLOAD || op->code == OP_TSTORE;
        if (op == store || !access || op->operands[0] != store->operands[0]) continue;
        if (!box_of(loop, op, &other)) return false;
        if (!same_box(&own, &other))
            return fail(loop, op, "the loop writes this memory at other places too, and its iterations have no order");
    }
    return true;
}

/* Loads that stand before the store and read what it writes are made before it, whoever needs them. */
static bool load_before(Loop *loop, const Op *store) {
    for (const Op *op = loop->op->regions[0]->first; op != store; op = op->next) {
        Raised unused;
        bool load = op->code == OP_BLOAD || op->code == OP_TLOAD;
        if (!load || op->operands[0] != store->operands[0]) continue;
        int axes[MAX_RANK];
        Box box;
        if (!box_of(loop, store, &box)) return false;
        if (box_axes(&box, axes) < loop->rank) continue; /* an accumulation reads its cell itself */
        if (!raise_value(loop, op->results[0], &unused)) return false;
    }
    return true;
}

static bool raise_loop(Loop *loop) {
    Region *body = loop->op->regions[0];
    for (int d = 0; d < loop->rank; d++)
        if (!ir_const_int(loop->k, loop->op->operands[d], &loop->extent[d]) || loop->extent[d] < 1 ||
            loop->extent[d] > MAX_TILE_ELEMENTS)
            return fail(loop, loop->op, "the extents of an element loop must be constants in 1 .. 2^20");
    for (Op *op = body->first; op; op = op->next) {
        if (op->code == OP_YIELD || op_has(op->code, TRAIT_PURE) || op->code == OP_BLOAD || op->code == OP_TLOAD)
            continue;
        if (op->code != OP_BSTORE && op->code != OP_TSTORE)
            return fail(loop, op, "`%s` inside an element loop is not raised", op_info[op->code].mnemonic);
        if (!check_independent(loop, op) || !load_before(loop, op) || !raise_store(loop, op)) return false;
    }
    return true;
}

/* --- the pass --- */

typedef struct Found {
    VEC(Op *) loops;
    Arena *arena;
} Found;

static void collect(Op *op, void *user) {
    Found *found = user;
    if (op->code == OP_PARALLEL) *VEC_PUSH(&found->loops, found->arena) = op;
}

bool raise_parallel(PassContext *cx, Kernel *k) {
    Found found = {.arena = cx->scratch};
    bool changed = false;
    ir_walk(k->body, collect, &found);
    for (size_t i = 0; i < found.loops.count; i++) {
        Op *op = found.loops.at[i];
        Loop loop = {.cx = cx, .k = k, .op = op, .b = ir_builder_before(k, op), .rank = op->operand_count};
        Op *before = op->previous;
        if (raise_loop(&loop)) {
            ir_remove(op);
            changed = true;
            continue;
        }
        /* Nothing half-made stays behind: ops built before the loop go. */
        while (op->previous != before) ir_remove(op->previous);
        pass_find(cx, loop.where, "raise", "the element loop stays as written: %s", loop.why);
    }
    return changed;
}
