/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_index.c: elements and boxes of tensors and tiles.
 *
 * What lies outside of a tensor reads 0 and is not written. A tile has no outside: an index that leaves it whatever the
 * loops do is refused here, one that a condition guards (`T.if_then_else(i > 0, x[i - 1], 0)`) is not read where the
 * condition does not hold.
 *
 * To tell, integers are kept as sums of loop variables (Linear). The ends of such a sum are exact, because its
 * variables are independent of each other: loops have known ends only if those do not depend on variables. Any other
 * arithmetic of them is computed at each of their values, if these are few. */
#include "front/tilelang/tilelang.h"
#include "ir/ends.h"

#include <string.h>

/* --- sums of variables --- */

void lang_add_variable(Lower *l, Ref ref, int grid, const int64_t *lo, const int64_t *hi) {
    *VEC_PUSH(&lang_state(l)->variables, l->arena) =
        (Variable){.ref = ref, .grid = grid, .starts = lo, .ends = lo && hi,
                   .lo = lo ? *lo : 0, .hi = hi ? *hi : 0, .step = 1};
}

static const Variable *find_variable(const Lower *l, Ref ref) {
    const LangState *s = lang_state(l);
    for (size_t i = 0; i < s->variables.count; i++)
        if (s->variables.at[i].ref == ref) return &s->variables.at[i];
    return NULL;
}

static bool is_index(Elem elem) { return elem == EL_I32 || elem == EL_I64; }

static bool linear_of(const Lower *l, Val v, Linear *out) {
    *out = (Linear){0};
    v = lang_plain(v);
    if (v.kind == VAL_INT || v.kind == VAL_BOOL) {
        out->constant = (int64_t)v.i;
        return v.i >= INT64_MIN && v.i <= INT64_MAX;
    }
    if (v.kind != VAL_TENSOR || !is_index(val_type(l, v)->elem)) return false;
    if (ir_const_int(l->kernel, v.ref, &out->constant)) return true;
    const MapEntry *known = map_find_number(&lang_state(l)->linears, v.ref);
    if (known)
        *out = *(const Linear *)known->value;
    else
        *out = (Linear){.count = 1, .var = {v.ref}, .factor = {1}};
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

void lang_linear_join(Lower *l, PyOp op, Val x, Val y, Val out) {
    Linear a, b, sum = {0};
    bool good = ref_is_value(out.ref) && is_index(val_type(l, out)->elem) && linear_of(l, x, &a) && linear_of(l, y, &b);
    if (good && op == PY_OP_MUL)
        good = a.count == 0 ? linear_add(&sum, &b, a.constant) : b.count == 0 && linear_add(&sum, &a, b.constant);
    else if (good)
        good = (op == PY_OP_ADD || op == PY_OP_SUB) && linear_add(&sum, &a, 1) &&
               linear_add(&sum, &b, op == PY_OP_ADD ? 1 : -1);
    if (good)
        map_put_number(&lang_state(l)->linears, l->arena, out.ref, arena_copy(l->arena, &sum, sizeof sum));
}

/* The smallest and the largest value, if both are taken for sure. */
static bool linear_ends(const Lower *l, const Linear *sum, int64_t *lo, int64_t *hi) {
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

static bool variable_ends(const void *user, Ref ref, EndsVariable *out, bool *known) {
    const Variable *v = find_variable(user, ref);
    if (!v) return false;
    *known = v->ends && v->hi >= v->lo;
    *out = (EndsVariable){ref, v->lo, v->hi, v->step};
    return true;
}

/* As linear_ends, of a sum whose parts are themselves made of variables. */
static bool sum_ends(const Lower *l, const Linear *sum, int64_t *lo, int64_t *hi) {
    return linear_ends(l, sum, lo, hi) || ends_by_places(l->kernel, sum->var, sum->factor, sum->count, sum->constant,
                                                         variable_ends, l, lo, hi);
}

bool lang_inside(Lower *l, const Storage *tile, int d, const Linear *at, int64_t extent, Range range) {
    int64_t lo, hi, end = tile->shape[d];
    const LangState *s = lang_state(l);
    if (!at || !sum_ends(l, at, &lo, &hi)) lo = hi = 0; /* somewhere */
    if (lo >= 0 && extent <= end && hi <= end - extent) return true;
    if (extent <= end && at && at->count && (l->branches || s->idle || s->guard)) return true;
    if (extent <= end && s->idle) return true;
    py_error(l, DIAG_TL_OUTSIDE, range, d + 1, (long long)lo,
             (long long)(hi > INT64_MAX - extent ? INT64_MAX : hi + extent - 1), lang_shape_text(l, tile, tile->shape),
             (long long)(end - 1));
    return false;
}

/* --- the grid --- */

/* Notes where the blocks of a tensor begin that one variable of the grid counts, with the loops inside at their
 * start. */
static void note_blocks(Lower *l, const Storage *base, int d, const Linear *at, Range range) {
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
    bool sure = !l->branches && !lang_state(l)->idle;
    if (!block || !sure || step < 1 || step > 1 << 20 || start < 0 || start > (int64_t)1 << 40) return;
    *VEC_PUSH(&lang_state(l)->blocks, l->arena) = (BlockIndex){block->grid, d, step, start, base->shape[d], range};
}

static int64_t last_block(const BlockIndex *index, const int64_t *grid, int which) {
    return index->base + index->step * (grid[which] - 1);
}

/* Blocks outside of a tensor are only empty work. But if they lie there because two extents of the grid stand in each
 * other's place, other blocks are missing: along one variable whole blocks lie outside, along another some are not
 * reached, and exchanged they would not. */
bool lang_check_grid(Lower *l) {
    const LangState *s = lang_state(l);
    int64_t grid[3] = {0};
    for (size_t i = 0; i < s->variables.count; i++)
        if (s->variables.at[i].grid >= 0) grid[s->variables.at[i].grid] = s->variables.at[i].hi + 1;
    for (size_t i = 0; i < s->blocks.count; i++) {
        const BlockIndex *out = &s->blocks.at[i];
        if (last_block(out, grid, out->grid) < out->extent) continue;
        for (size_t n = 0; n < s->blocks.count; n++) {
            const BlockIndex *in = &s->blocks.at[n];
            bool missing = in->grid != out->grid && last_block(in, grid, in->grid) + in->step < in->extent;
            if (!missing || last_block(out, grid, in->grid) >= out->extent ||
                last_block(in, grid, out->grid) >= in->extent)
                continue;
            py_error(l, DIAG_TL_BLOCK_OUTSIDE, out->range, out->dim + 1, (long long)last_block(out, grid, out->grid),
                     (long long)out->extent);
            return false;
        }
    }
    return true;
}

/* --- elements and boxes --- */

const char *lang_shape_text(Lower *l, const Storage *of, const int64_t *shape) {
    Text text = text_new(l->arena);
    text_add(&text, "%s %s[", of->kind == STORE_TENSOR ? "tensor" : "tile", elem_info[of->elem].text);
    for (int d = 0; d < of->rank; d++) text_add(&text, "%s%lld", d ? "," : "", (long long)shape[d]);
    text_add_char(&text, ']');
    return text.at;
}

bool lang_is_element(const Box *box) { return !box->slice; }

static Val bad_index(Lower *l, Range range, const char *text) { return py_error(l, DIAG_TL_INDEX, range, text); }

/* As Python counts from the end. */
static bool from_end(Lower *l, const Storage *base, int64_t extent, Range range, Val *index) {
    *index = lang_plain(*index);
    if (val_failed(*index)) return false;
    if (index->kind != VAL_INT || index->i >= 0) return true;
    if (index->i < -extent) {
        bad_index(l, range,
                  arena_printf(l->arena, "index %lld lies before the first element of %s", (long long)index->i,
                               lang_shape_text(l, base, base->shape)));
        return false;
    }
    index->i += extent;
    return true;
}

/* Nothing writes between two operations of one region. */
static bool is_still(const Op *first, const Op *second) {
    for (int turn = 0; turn < 2; turn++) {
        const Op *from = turn ? second : first, *to = turn ? first : second, *op = from;
        while (op && op != to && !op->region_count && !op_has(op->code, TRAIT_WRITES)) op = op->next;
        if (op == to) return true;
    }
    return false;
}

/* Are both one number, made in the same way of the same? Two reads of an element are, if nothing is written between. */
static bool same_number(const Lower *l, Ref a, Ref b, int depth) {
    enum { DEEPEST = 8 };
    const Op *first = ref_is_value(a) ? ir_value(l->kernel, a)->op : NULL;
    const Op *second = ref_is_value(b) ? ir_value(l->kernel, b)->op : NULL;
    int64_t x, y;
    if (a == b || (ir_const_int(l->kernel, a, &x) && ir_const_int(l->kernel, b, &y) && x == y)) return true;
    if (!first || !second || depth > DEEPEST || first->code != second->code || first->result_count != 1 ||
        first->region_count || first->attr_count || second->attr_count ||
        first->operand_count != second->operand_count || ir_type(l->kernel, a) != ir_type(l->kernel, b))
        return false;
    bool reads = first->code == OP_BLOAD || first->code == OP_TLOAD;
    if (!reads && !op_has(first->code, TRAIT_ELEMENTWISE)) return false;
    if (reads && (first->parent != second->parent || !is_still(first, second))) return false;
    for (int i = 0; i < first->operand_count; i++)
        if (!same_number(l, first->operands[i], second->operands[i], depth + 1)) return false;
    return true;
}

/* Variables of y under the names that x has for them. */
static void rename_variables(const Lower *l, const Linear *x, Linear *y) {
    for (int i = 0; i < y->count; i++)
        for (int n = 0; n < x->count; n++)
            if (same_number(l, y->var[i], x->var[n], 0)) y->var[i] = x->var[n];
}

/* a:b, whose extent must be known; a and b need not be. */
static bool slice_bounds(Lower *l, const Storage *base, int d, const PyNode *at, Val *first, int64_t *extent) {
    Val stop = val_int(base->shape[d]);
    Linear from, to;
    *first = val_int(0);
    if (at->Slice.step) {
        py_error(l, DIAG_TL_UNSUPPORTED, at->range, "a slice with a step", "take whole boxes");
        return false;
    }
    if (at->Slice.lower) *first = py_eval(l, at->Slice.lower);
    if (at->Slice.upper) stop = py_eval(l, at->Slice.upper);
    if (!from_end(l, base, base->shape[d], at->range, first) || !from_end(l, base, base->shape[d], at->range, &stop))
        return false;
    if (first->kind == VAL_OWN && !val_failed(*first)) *first = lang_scalar(l, *first, at->range); /* an element */
    if (val_failed(*first) || val_failed(stop)) return false;
    bool sums = linear_of(l, *first, &from) && linear_of(l, stop, &to);
    if (sums) rename_variables(l, &to, &from);
    if (!sums || !linear_add(&to, &from, -1) || to.count) {
        py_error(l, DIAG_TL_UNSUPPORTED, at->range, "a slice whose extent is not a constant",
                 "write it as `start : start + 16`, with its extent as the constant");
        return false;
    }
    *extent = to.constant;
    if (*extent > 0 || !base->shape[d]) return true;
    bad_index(l, at->range,
              arena_printf(l->arena, "a slice of %lld elements; its end lies behind its start", (long long)*extent));
    return false;
}

/* One index of a box. */
static bool index_one(Lower *l, const Storage *base, int d, const PyNode *at, Box *box) {
    Val index;
    box->shape[d] = 1;
    if (at->kind == PY_Slice) {
        if (!slice_bounds(l, base, d, at, &index, &box->shape[d])) return false;
        box->slice = true;
    } else {
        index = py_eval(l, at);
        if (!from_end(l, base, base->shape[d], at->range, &index)) return false;
    }
    Val scalar = lang_scalar(l, index, at->range);
    if (val_failed(scalar)) return false;
    if (!elem_is_int(val_type(l, scalar)->elem)) {
        bad_index(l, at->range, "an index must be an integer; T.cast(x, \"int32\") makes one");
        return false;
    }
    box->offset[d] = scalar.ref;
    Linear sum;
    if (linear_of(l, index, &sum) || linear_of(l, scalar, &sum)) box->at[d] = arena_copy(l->arena, &sum, sizeof sum);
    if (base->kind == STORE_TENSOR)
        note_blocks(l, base, d, box->at[d], at->range);
    else
        return lang_inside(l, base, d, box->at[d], box->shape[d], at->range);
    return true;
}

/* base[i, j], base[a:b, j], base[i] as a head element; the extents of head elements are settled by their use */
Val lang_index(Lower *l, const Storage *storage, const PyNode *node) {
    const PyNode *slice = node->Subscript.slice;
    bool tuple = slice->kind == PY_Tuple;
    uint32_t count = tuple ? slice->Tuple.elts->count : 1;
    const PyNode *const *parts = tuple ? (const PyNode *const *)slice->Tuple.elts->at : &slice;
    if (!py_need_ir(l, node->range)) return val_error;
    if (storage->emitted)
        return bad_index(l, node->range,
                         "an emitter fills these registers, and which element of the block's tile each one is has no "
                         "meaning here" FIX "write T.gemm into a fragment, whose elements T.Parallel reaches");
    if ((int)count != storage->rank)
        return bad_index(l, node->range,
                         arena_printf(l->arena, "%s has %d dimensions, %u indices are given",
                                      lang_shape_text(l, storage, storage->shape), storage->rank, count));
    Box box = {.of = storage};
    for (uint32_t d = 0; d < count; d++)
        if (!index_one(l, storage, (int)d, parts[d], &box)) return val_error;
    return lang_own(l, &lang_box_own, &box, sizeof box);
}

/* Where the condition around the expression does not hold, element 0 stands in for one that may lie outside. */
static void guard_offsets(Lower *l, const Box *box, Ref *offset) {
    Ref guard = lang_state(l)->guard;
    for (int d = 0; d < box->of->rank; d++) {
        int64_t lo, hi;
        offset[d] = box->offset[d];
        bool inside = box->at[d] && linear_ends(l, box->at[d], &lo, &hi) && lo >= 0 && hi < box->of->shape[d];
        if (inside || !guard) continue;
        offset[d] =
            ir_ternary(&l->b, OP_SELECT, guard, offset[d], ir_int(&l->b, val_ref_type(l, offset[d])->elem, 0));
    }
}

Ref lang_load_element(Lower *l, const Storage *tile, const Ref *offset) {
    Ref at[MAX_RANK];
    lang_own_offsets(l, tile, offset, at);
    return ir_bload(&l->b, tile->ref, at, ty_scalar(l->module, tile->elem));
}

void lang_store_element(Lower *l, const Storage *tile, const Ref *offset, Ref value) {
    Ref at[MAX_RANK];
    lang_own_offsets(l, tile, offset, at);
    ir_bstore(&l->b, tile->ref, at, value);
}

/* From a tensor; what lies outside is 0, or what T.annotate_safe_value says. */
Ref lang_tload(Lower *l, const Storage *tensor, const Ref *offset, const Type *type) {
    Ref value = ir_tload(&l->b, tensor->ref, offset, REF_NONE, type);
    const MapEntry *safe = map_find_number(&lang_state(l)->safe, tensor->ref);
    Op *op = ir_value(l->kernel, value)->op;
    if (safe) op_set(l->kernel, op, (Attr){.id = AT_FILL, .ref = *(const Ref *)safe->value});
    return value;
}

Val lang_load(Lower *l, const Box *box, Range range) {
    const Storage *of = box->of;
    Ref offset[MAX_RANK];
    l->b.range = range;
    const Type *type = ty_scalar(l->module, of->elem);
    if (of->kind == STORE_TENSOR && of->packed) return val_tensor(lang_packed_load(l, of, box->offset));
    if (of->kind == STORE_TENSOR) return val_tensor(lang_tload(l, of, box->offset, type));
    guard_offsets(l, box, offset);
    return val_tensor(of->base ? lang_view_load(l, of, offset) : lang_load_element(l, of, offset));
}

bool lang_store(Lower *l, const Box *box, Val value, Range range) {
    const Storage *of = box->of;
    Ref ref;
    if (of->packed && of->kind == STORE_TENSOR) {
        const char *rule = "an element of a tensor of %s is half a byte" FIX "write a tile of them, and T.copy it";
        lang_types(l, range, arena_printf(l->arena, rule, lang_packed_name(of->packed)));
        return false;
    }
    if (of->packed) {
        Val x = lang_scalar(l, value, range);
        if (val_failed(x)) return false;
        ref = lang_narrow(l, of->packed, x.ref);
    } else if (!lang_convert(l, value, of->elem, range, &ref)) {
        return false;
    }
    l->b.range = range;
    if (of->kind == STORE_TENSOR)
        ir_tstore(&l->b, of->ref, box->offset, ref, REF_NONE);
    else if (of->base)
        lang_view_store(l, of, box->offset, ref);
    else
        lang_store_element(l, of, box->offset, ref);
    return true;
}

/* --- variables: T.alloc_var --- */

Val lang_variable_load(Lower *l, const Storage *variable, Range range) {
    Ref zero[1] = {ir_int(&l->b, EL_I32, 0)};
    l->b.range = range;
    return val_tensor(lang_load_element(l, variable, zero));
}

bool lang_variable_store(Lower *l, const Storage *variable, Val value, Range range) {
    Ref ref, zero[1] = {ir_int(&l->b, EL_I32, 0)};
    if (!lang_convert(l, value, variable->elem, range, &ref)) return false;
    l->b.range = range;
    lang_store_element(l, variable, zero, ref);
    return true;
}
