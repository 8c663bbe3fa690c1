/* tilelang_index.c: elements and boxes of tensors and tiles.
 *
 * What lies outside of a tensor reads 0 and is not written. A tile has no outside: an index that leaves it whatever the
 * loops do is refused here, one that a condition guards (`T.if_then_else(i > 0, x[i - 1], 0)`) is not read where the
 * condition does not hold.
 *
 * To tell, integers are kept as sums of loop variables (Linear). The ends of such a sum are exact, because its
 * variables are independent of each other: loops have known ends only if those do not depend on variables. */
#include "front/tilelang/tilelang.h"

#include <string.h>

/* --- sums of variables --- */

void add_variable(Lang *l, Ref ref, int grid, const int64_t *lo, const int64_t *hi) {
    *VEC_PUSH(&l->variables, l->arena) =
        (Variable){.ref = ref, .grid = grid, .starts = lo, .ends = lo && hi, .lo = lo ? *lo : 0, .hi = hi ? *hi : 0};
}

static const Variable *find_variable(const Lang *l, Ref ref) {
    for (size_t i = 0; i < l->variables.count; i++)
        if (l->variables.at[i].ref == ref) return &l->variables.at[i];
    return NULL;
}

static bool linear_of(const Val *v, Linear *out) {
    *out = (Linear){0};
    if (v->kind == VAL_INT || v->kind == VAL_BOOL) {
        out->constant = v->i;
        return true;
    }
    if (v->kind != VAL_SCALAR || (v->elem != EL_I32 && v->elem != EL_I64)) return false;
    if (v->linear)
        *out = *v->linear;
    else
        *out = (Linear){.count = 1, .var = {v->ref}, .factor = {1}};
    return true;
}

/* *x += factor * y */
static bool linear_add(Linear *x, const Linear *y, int64_t factor) {
    int64_t part;
    if (__builtin_mul_overflow(y->constant, factor, &part) || __builtin_add_overflow(x->constant, part, &x->constant))
        return false;
    for (int i = 0; i < y->count; i++) {
        int at = 0;
        while (at < x->count && x->var[at] != y->var[i]) at++;
        if (at == MAX_TERMS) return false;
        if (at == x->count) x->var[x->count++] = y->var[i], x->factor[at] = 0;
        if (__builtin_mul_overflow(y->factor[i], factor, &part) ||
            __builtin_add_overflow(x->factor[at], part, &x->factor[at]))
            return false;
        if (x->factor[at]) continue;
        x->count--;
        x->var[at] = x->var[x->count], x->factor[at] = x->factor[x->count];
    }
    return true;
}

void linear_join(Lang *l, PyOp op, const Val *x, const Val *y, Val *out) {
    Linear a, b, sum = {0};
    bool good = (out->elem == EL_I32 || out->elem == EL_I64) && linear_of(x, &a) && linear_of(y, &b);
    if (good && op == PY_OP_MUL)
        good = a.count == 0 ? linear_add(&sum, &b, a.constant) : b.count == 0 && linear_add(&sum, &a, b.constant);
    else if (good)
        good = (op == PY_OP_ADD || op == PY_OP_SUB) && linear_add(&sum, &a, 1) &&
               linear_add(&sum, &b, op == PY_OP_ADD ? 1 : -1);
    out->linear = good ? arena_copy(l->arena, &sum, sizeof sum) : NULL;
}

/* The smallest and the largest value, if both are taken for sure. */
static bool linear_ends(const Lang *l, const Linear *sum, int64_t *lo, int64_t *hi) {
    *lo = *hi = sum->constant;
    for (int i = 0; i < sum->count; i++) {
        const Variable *v = find_variable(l, sum->var[i]);
        int64_t low, high;
        if (!v || !v->ends || v->hi < v->lo) return false;
        if (__builtin_mul_overflow(v->lo, sum->factor[i], &low) || __builtin_mul_overflow(v->hi, sum->factor[i], &high))
            return false;
        if (__builtin_add_overflow(*lo, low < high ? low : high, lo) ||
            __builtin_add_overflow(*hi, low < high ? high : low, hi))
            return false;
    }
    return true;
}

bool check_inside(Lang *l, const Val *whole, int d, const Linear *at, int64_t extent, Range range) {
    int64_t lo, hi, end = ir_type(l->kernel, whole->ref)->extent[d];
    if (!at || !linear_ends(l, at, &lo, &hi)) lo = hi = 0; /* somewhere */
    if (lo >= 0 && extent <= end && hi <= end - extent) return true;
    if (extent <= end && at->count && (l->conditions || l->guard)) return true;
    Val tile = {.kind = VAL_BUFFER, .elem = whole->elem, .count = whole->count};
    memcpy(tile.shape, ir_type(l->kernel, whole->ref)->extent, sizeof tile.shape);
    return lang_error(l, DIAG_TL_OUTSIDE, range, d + 1, (long long)lo,
                      (long long)(hi > INT64_MAX - extent ? INT64_MAX : hi + extent - 1), lang_text(l, &tile),
                      (long long)(end - 1));
}

/* --- the grid --- */

/* Notes where the blocks of a tensor begin that one variable of the grid counts, with the loops inside at their
 * start. */
static void note_blocks(Lang *l, const Val *base, int d, const Linear *at, Range range) {
    const Variable *block = NULL;
    int64_t start = at ? at->constant : 0, part, step = 0;
    for (int i = 0; at && i < at->count; i++) {
        const Variable *v = find_variable(l, at->var[i]);
        if (!v || !v->starts || (v->grid >= 0 && block)) return;
        if (v->grid >= 0)
            block = v, step = at->factor[i];
        else if (__builtin_mul_overflow(v->lo, at->factor[i], &part) || __builtin_add_overflow(start, part, &start))
            return;
    }
    if (!block || l->conditions || step < 1 || step > 1 << 20 || start < 0 || start > (int64_t)1 << 40) return;
    *VEC_PUSH(&l->blocks, l->arena) = (BlockIndex){block->grid, d, step, start, base->shape[d], range};
}

static int64_t last_block(const BlockIndex *index, const int64_t *grid, int which) {
    return index->base + index->step * (grid[which] - 1);
}

/* Blocks outside of a tensor are only empty work. But if they lie there because two extents of the grid stand in each
 * other's place, other blocks are missing: along one variable whole blocks lie outside, along another some are not
 * reached, and exchanged they would not. */
bool check_grid(Lang *l) {
    int64_t grid[3] = {0};
    for (size_t i = 0; i < l->variables.count; i++)
        if (l->variables.at[i].grid >= 0) grid[l->variables.at[i].grid] = l->variables.at[i].hi + 1;
    for (size_t i = 0; i < l->blocks.count; i++) {
        const BlockIndex *out = &l->blocks.at[i];
        if (last_block(out, grid, out->grid) < out->extent) continue;
        for (size_t n = 0; n < l->blocks.count; n++) {
            const BlockIndex *in = &l->blocks.at[n];
            bool missing = in->grid != out->grid && last_block(in, grid, in->grid) + in->step < in->extent;
            if (missing && last_block(out, grid, in->grid) < out->extent &&
                last_block(in, grid, out->grid) < in->extent)
                return lang_error(l, DIAG_TL_BLOCK_OUTSIDE, out->range, out->dim + 1,
                                  (long long)last_block(out, grid, out->grid), (long long)out->extent);
        }
    }
    return true;
}

/* --- elements and boxes --- */

bool is_element(const Val *region) {
    for (int d = 0; d < region->count; d++)
        if (region->shape[d] != 1) return false;
    return region->kind == VAL_REGION && region->text == NULL;
}

/* As Python counts from the end. */
static bool from_end(Lang *l, const Val *base, int64_t extent, Range range, Val *index) {
    if (index->kind == VAL_BOOL || index->kind != VAL_INT || index->i >= 0) return true;
    if (index->i < -extent)
        return lang_error(l, DIAG_TL_INDEX, range,
                          arena_printf(l->arena, "index %lld lies before the first element of %s", (long long)index->i,
                                       lang_text(l, base)));
    index->i += extent;
    return true;
}

/* a:b, whose extent must be known; a and b need not be. */
static bool slice_bounds(Lang *l, const Val *base, int d, const PyNode *at, Val *first, int64_t *extent) {
    Val stop = lang_int(base->shape[d]);
    Linear from, to;
    *first = lang_int(0);
    if (at->Slice.step) return lang_error(l, DIAG_TL_UNSUPPORTED, at->range, "a slice with a step", "take whole boxes");
    if (at->Slice.lower && !eval(l, at->Slice.lower, first)) return false;
    if (at->Slice.upper && !eval(l, at->Slice.upper, &stop)) return false;
    if (!from_end(l, base, base->shape[d], at->range, first) || !from_end(l, base, base->shape[d], at->range, &stop))
        return false;
    if (!linear_of(first, &from) || !linear_of(&stop, &to) || !linear_add(&to, &from, -1) || to.count)
        return lang_error(l, DIAG_TL_UNSUPPORTED, at->range, "a slice whose extent is not a constant",
                          "write it as `start : start + 16`, with its extent as the constant");
    *extent = to.constant;
    return true;
}

/* base[i, j], base[a:b, j], base[i] as a head element; the extents of head elements are settled by their use */
bool index_storage(Lang *l, const Val *base, const PyNode *node, Val *out) {
    const PyNode *slice = node->Subscript.slice;
    const PyNode *single[1] = {slice};
    uint32_t count = 1;
    const PyNode *const *parts = single;
    if (slice->kind == PY_Tuple) {
        count = slice->Tuple.elts->count;
        parts = (const PyNode *const *)slice->Tuple.elts->at;
    }
    if ((int)count != base->count)
        return lang_error(l, DIAG_TL_INDEX, node->range,
                          arena_printf(l->arena, "%s has %d dimensions, %u indices are given", lang_text(l, base),
                                       base->count, count));
    *out = (Val){.kind = VAL_REGION,
                 .ref = base->ref,
                 .elem = base->elem,
                 .count = base->count,
                 .is_tensor = base->kind == VAL_TENSOR};
    for (uint32_t d = 0; d < count; d++) {
        Val index, scalar;
        out->shape[d] = 1;
        const PyNode *at = parts[d];
        if (at->kind == PY_Slice) {
            if (!slice_bounds(l, base, (int)d, at, &index, &out->shape[d])) return false;
            out->text = "slice";
        } else if (!eval(l, at, &index) || !from_end(l, base, base->shape[d], at->range, &index)) {
            return false;
        }
        if (!to_scalar(l, &index, at->range, &scalar)) return false;
        if (!elem_is_int(scalar.elem)) return lang_error(l, DIAG_TL_INDEX, at->range, "an index must be an integer");
        out->offset[d] = scalar.ref;
        Linear sum;
        if (linear_of(&scalar, &sum)) out->at[d] = arena_copy(l->arena, &sum, sizeof sum);
        if (!out->is_tensor && !check_inside(l, base, (int)d, out->at[d], out->shape[d], at->range)) return false;
        if (out->is_tensor) note_blocks(l, base, (int)d, out->at[d], at->range);
    }
    return true;
}

/* Where the condition around the expression does not hold, element 0 stands in for one that may lie outside. */
static void guard_offsets(Lang *l, const Val *region, Ref *offset) {
    for (int d = 0; d < region->count; d++) {
        int64_t lo, hi;
        offset[d] = region->offset[d];
        bool inside = region->at[d] && linear_ends(l, region->at[d], &lo, &hi) && lo >= 0 &&
                      hi < ir_type(l->kernel, region->ref)->extent[d];
        if (inside || !l->guard) continue;
        offset[d] =
            ir_ternary(&l->b, OP_SELECT, l->guard, offset[d], ir_int(&l->b, ir_type(l->kernel, offset[d])->elem, 0));
    }
}

bool load_element(Lang *l, const Val *region, Range range, Val *out) {
    l->b.range = range;
    const Type *type = ty_scalar(l->module, region->elem);
    Ref offset[MAX_RANK];
    if (!region->is_tensor) guard_offsets(l, region, offset);
    Ref ref = region->is_tensor ? ir_tload(&l->b, region->ref, region->offset, REF_NONE, type)
                                : ir_bload(&l->b, region->ref, offset, type);
    *out = val_scalar(l, ref);
    return true;
}

bool store_element(Lang *l, const Val *region, const Val *value, Range range) {
    Ref ref;
    if (!convert(l, value, region->elem, range, &ref)) return false;
    l->b.range = range;
    if (region->is_tensor)
        ir_tstore(&l->b, region->ref, region->offset, ref, REF_NONE);
    else
        ir_bstore(&l->b, region->ref, region->offset, ref);
    return true;
}
