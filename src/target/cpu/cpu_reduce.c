/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_reduce.c: reduce and scan along one axis of tiles.
 *
 * The operands are evaluated into scratch, [outer, n, inner] in register form, and combined
 * there. A float reduce carries an `order`: the bits of the index along the axis in the order in
 * which they are combined. A step for bit b adds element i + 2^b to element i for all i without
 * that bit (elements past the end have no partner and stay), so
 *
 *     order = [5, 4, 0, 1, 2, 3], n = 40:
 *     t[i] += t[i + 32], i < 8;   t[i] += t[i + 16], i < 16;   t[2i] += t[2i + 1] ..
 *
 * Steps run along whole vectors. Without an order (integers, min, max: any order gives the same)
 * the bits go from high to low; where the order matters and none is stamped, elements are
 * combined one after the other. */
#include "target/cpu/cpu_internal.h"

#include <string.h>

enum { MAX_BITS = 20 };

typedef struct Axis {
    Emit *e;
    Op *op;
    int64_t outer, n, inner;
    int count;         /* operands, and results */
    const Expr **temp; /* their memory */
    const Expr *r;     /* the variable of the loop along the axis */
} Axis;

static void axis_begin(Axis *a, Emit *e, Op *op) {
    AxisShape shape = cpu_axis_shape(e->k, op);
    *a = (Axis){.e = e, .op = op, .outer = shape.outer, .n = shape.n, .inner = shape.inner, .count = op->operand_count};
    a->temp = ARENA_ARRAY(e->arena, const Expr *, a->count);
    a->r = ex_name(e->arena, "r");
    for (int i = 0; i < a->count; i++) {
        const Type *t = ir_type(e->k, op->operands[i]);
        a->temp[i] = cpu_memory(e, t, true, cpu_place(&e->plan, op)->temp[i], "part");
        cpu_fill(e, a->temp[i], true, op->operands[i]);
    }
}

/* temp[i] at (o, index, j). */
static const Expr *at(const Axis *a, int i, const Expr *index) {
    Arena *arena = a->e->arena;
    const Expr *outer = a->outer > 1 ? ex(arena, "o * %lld", (long long)(a->n * a->inner)) : NULL;
    if (a->inner > 1)
        index = ex(arena, "(%p) * %lld + j", index, (long long)a->inner);
    else if (outer)
        index = ex_group(arena, index);
    return ex(arena, "%p[%p]", a->temp[i], ex_sum(arena, outer, index));
}

static Elem elem_of(const Axis *a, int i) { return ir_type(a->e->k, a->op->operands[i])->elem; }

/* to[..] = x[..] combined with y[..], for all operands. */
static void combine(const Axis *a, const Expr *to, const Expr *x, const Expr *y) {
    Emit *e = a->e;
    Word kind = op_word(a->op, AT_COMBINE, COMBINE_ADD);
    if (kind != COMBINE_REGION) {
        bool keep = op_word(a->op, AT_NAN, NAN_DROP) == NAN_KEEP;
        for (int i = 0; i < a->count; i++)
            cs_line(&e->p, "%p = %p;", at(a, i, to),
                    cs_combine(&e->p, kind, elem_of(a, i), keep, at(a, i, x), at(a, i, y)));
        return;
    }
    Region *region = a->op->regions[0];
    for (int i = 0; i < a->count; i++) {
        cs_bind(&e->p, region->args[i], at(a, i, x));
        cs_bind(&e->p, region->args[a->count + i], at(a, i, y));
    }
    cpu_emit_ops(e, region);
    /* The old elements are read by the region, so all results are there before the first is written. */
    const char **results = ARENA_ARRAY(e->arena, const char *, a->count);
    for (int i = 0; i < a->count; i++) {
        results[i] = cs_fresh(&e->p, "both");
        const char *type = cs_value_type(&e->p, ir_type(e->k, a->op->operands[i]));
        cs_line(&e->p, "%s = %p;", cs_constant(&e->p, type, results[i]), cpu_ref(e, region->last->operands[i]));
    }
    for (int i = 0; i < a->count; i++) cs_line(&e->p, "%p = %s;", at(a, i, to), results[i]);
}

static int open_outer(const Axis *a) {
    if (a->outer == 1) return 0;
    cs_open(&a->e->p, "for (i64 o = 0; o < %lld; o++)", (long long)a->outer);
    return 1;
}

static int open_inner(const Axis *a) {
    if (a->inner == 1) return 0;
    cs_open(&a->e->p, "TW_VECTOR for (i64 j = 0; j < %lld; j++)", (long long)a->inner);
    return 1;
}

static void close_all(const Axis *a, int opened) {
    while (opened--) cs_close(&a->e->p);
}

/* One step: bit b, where the bits of `left` (without b) are still to come. */
static void step(const Axis *a, int b, unsigned left) {
    Emit *e = a->e;
    int64_t half = INT64_C(1) << b;
    if (half >= a->n) return;
    int opened = open_outer(a);
    const Expr *index = &expr_zero;
    bool contiguous = left == (unsigned)half - 1;
    if (contiguous) {
        int64_t count = a->n - half < half ? a->n - half : half;
        if (count > 1) {
            cs_open(&e->p, "%sfor (i64 r = 0; r < %lld; r++)", a->inner == 1 ? "TW_VECTOR " : "", (long long)count);
            opened++;
            index = a->r;
        }
    } else {
        /* A loop for each run of bits that are left. */
        const Expr *sum = NULL;
        for (int low = 0, n = 0; low < MAX_BITS; low++) {
            if (!(left >> low & 1)) continue;
            int high = low;
            while (left >> (high + 1) & 1) high++;
            cs_open(&e->p, "for (i64 r%d = 0; r%d < %d; r%d++)", n, n, 1 << (high - low + 1), n);
            sum = ex_sum(e->arena, sum, ex(e->arena, "r%d * %d", n, 1 << low));
            opened++, n++, low = high;
        }
        if (sum) index = sum;
        if ((a->n & (a->n - 1)) != 0) {
            cs_open(&e->p, "if (%p + %lld < %lld)", index, (long long)half, (long long)a->n);
            opened++;
        }
    }
    opened += open_inner(a);
    combine(a, index, index, ex(e->arena, "%p + %lld", index, (long long)half));
    close_all(a, opened);
}

/* All bits from high to low: whole vectors first. */
static void reduce_halves(const Axis *a) {
    Emit *e = a->e;
    long long n = a->n, half = 1;
    while (half * 2 < n) half *= 2;
    int opened = open_outer(a);
    cs_open(&e->p, "for (i64 half = %lld; half; half >>= 1)", half);
    const Expr *count = (n & (n - 1)) == 0 ? ex(e->arena, "half") : ex(e->arena, "tw_min_i64(half, %lld - half)", n);
    cs_open(&e->p, "%sfor (i64 r = 0, top = %p; r < top; r++)", a->inner == 1 ? "TW_VECTOR " : "", count);
    opened += 2 + open_inner(a);
    combine(a, a->r, a->r, ex(e->arena, "%p + half", a->r));
    close_all(a, opened);
}

/* All bits from low to high: neighbours stay together. */
static void reduce_neighbours(const Axis *a) {
    Emit *e = a->e;
    int opened = open_outer(a);
    cs_open(&e->p, "for (i64 half = 1; half < %lld; half *= 2)", (long long)a->n);
    cs_open(&e->p, "for (i64 r = 0; r + half < %lld; r += 2 * half)", (long long)a->n);
    opened += 2 + open_inner(a);
    combine(a, a->r, a->r, ex(e->arena, "%p + half", a->r));
    close_all(a, opened);
}

/* Bit by bit in a stamped order. */
static void reduce_steps(const Axis *a, const IntList *order) {
    int bits = 0;
    while ((INT64_C(1) << bits) < a->n) bits++;
    unsigned left = (1u << bits) - 1;
    for (int s = 0; s < order->count; s++) {
        int b = (int)order->at[s];
        if (b < 0 || b >= bits) continue;
        left &= ~(1u << b);
        step(a, b, left);
    }
}

static void reduce_in_turn(const Axis *a) {
    int opened = open_outer(a);
    cs_open(&a->e->p, "for (i64 r = 1; r < %lld; r++)", (long long)a->n);
    opened += 1 + open_inner(a);
    combine(a, &expr_zero, &expr_zero, a->r);
    close_all(a, opened);
}

/* Is `here` to be taken rather than `best`? A NaN loses (or wins, where kept); of equals the first stays. */
static const char *better(const Axis *a, int i) {
    bool keep = op_word(a->op, AT_NAN, NAN_DROP) == NAN_KEEP;
    bool least = op_word(a->op, AT_COMBINE, COMBINE_ARGMIN) == COMBINE_ARGMIN;
    if (!elem_is_float(elem_of(a, i))) return least ? "here < best" : "here > best";
    if (keep)
        return least ? "((here < best) | (here != here)) & (best == best)"
                     : "((here > best) | (here != here)) & (best == best)";
    return least ? "(here < best) | ((best != best) & (here == here))"
                 : "(here > best) | ((best != best) & (here == here))";
}

/* Where the result of line (o, j) lies among all. */
static const Expr *place_of(const Axis *a) {
    Arena *arena = a->e->arena;
    const Expr *outer = a->outer > 1 ? ex(arena, "o * %lld", (long long)a->inner) : NULL;
    const Expr *place = ex_sum(arena, outer, a->inner > 1 ? ex_name(arena, "j") : NULL);
    return place ? place : &expr_zero;
}

/* Several chains side by side, joined in the end: the first of equals wins there too. */
static void extreme_by_chains(const Axis *a, int i, const Expr *to, int chains) {
    Emit *e = a->e;
    const char *type = cs_register_type(&e->p, elem_of(a, i));
    long long n = (long long)a->n, whole = n / chains * chains;
    const Expr *line = at(a, i, a->r);
    cs_line(&e->p, "enum { chains = %lld };", n < chains ? n : chains);
    cs_line(&e->p, "%s bests[chains];\ni32 founds[chains];", type);
    cs_line(&e->p, "for (i64 r = 0; r < chains; r++) bests[r] = %p, founds[r] = (i32)r;", line);
    cs_open(&e->p, "for (i64 q = chains; q < %lld; q += chains)", whole);
    cs_open(&e->p, "TW_VECTOR for (i64 l = 0; l < chains; l++)");
    cs_line(&e->p, "const %s here = %p, best = bests[l];", type, at(a, i, ex(e->arena, "q + l")));
    cs_line(&e->p, "const i32 take = %s;", better(a, i));
    cs_line(&e->p, "bests[l] = take ? here : best;");
    cs_line(&e->p, "founds[l] = take ? (i32)(q + l) : founds[l];");
    cs_close(&e->p);
    cs_close(&e->p);
    cs_line(&e->p, "%s best = bests[0];\ni32 found = founds[0];", type);
    cs_open(&e->p, "for (i64 l = 1; l < chains; l++)");
    cs_line(&e->p, "const %s here = bests[l];", type);
    cs_line(&e->p, "const i32 take = %s;", better(a, i));
    cs_line(&e->p, "const i32 equal = here == best || (here != here && best != best);");
    cs_line(&e->p, "if (take || (equal && founds[l] < found)) best = here, found = founds[l];");
    cs_close(&e->p);
    if (whole && whole < n) {
        cs_open(&e->p, "for (i64 r = %lld; r < %lld; r++)", whole, n);
        cs_line(&e->p, "const %s here = %p;", type, line);
        cs_line(&e->p, "if (%s) best = here, found = (i32)r;", better(a, i));
        cs_close(&e->p);
    }
    cs_line(&e->p, "%p = found;", to);
}

/* Lines side by side; the best so far of each stands in its first element. */
static void extreme_by_columns(const Axis *a, int i, const Expr *to) {
    Emit *e = a->e;
    const char *type = cs_register_type(&e->p, elem_of(a, i));
    cs_line(&e->p, "for (i64 j = 0; j < %lld; j++) %p = 0;", (long long)a->inner, to);
    cs_open(&e->p, "for (i64 r = 1; r < %lld; r++)", (long long)a->n);
    int opened = open_inner(a);
    cs_line(&e->p, "const %s here = %p, best = %p;", type, at(a, i, a->r), at(a, i, &expr_zero));
    cs_line(&e->p, "const i32 take = %s;", better(a, i));
    cs_line(&e->p, "%p = take ? here : best;", at(a, i, &expr_zero));
    cs_line(&e->p, "%p = take ? (i32)r : %p;", to, to);
    close_all(a, opened + 1);
}

/* argmin and argmax of operand i. The places are kept beside the best so far. */
static void find_extreme(const Axis *a, int i, const ReducePlan *plan) {
    Emit *e = a->e;
    Ref result = a->op->results[i];
    const Expr *name = cs_ref(&e->p, result), *to = name;
    bool scalar = ir_type(e->k, result)->rank == 0;
    if (scalar) cs_line(&e->p, "i32 %p;", name);
    cs_open(&e->p, "%s",
            a->outer > 1 ? arena_printf(e->arena, "for (i64 o = 0; o < %lld; o++)", (long long)a->outer) : "");
    if (!scalar) to = ex(e->arena, "%p[%p]", name, place_of(a));
    if (plan->form == REDUCE_CHAINS)
        extreme_by_chains(a, i, to, plan->at_once);
    else
        extreme_by_columns(a, i, to);
    cs_close(&e->p);
}

static void hand_over(const Axis *a, int i) {
    Emit *e = a->e;
    Ref result = a->op->results[i];
    const Type *type = ir_type(e->k, result);
    if (type->rank == 0) {
        const char *text = cs_constant(&e->p, cs_value_type(&e->p, type), cs_name(&e->p, result));
        cs_line(&e->p, "%s = %p[0];", text, a->temp[i]);
        return;
    }
    int opened = open_outer(a) + open_inner(a);
    cs_line(&e->p, "%p[%p] = %p;", cs_ref(&e->p, result), place_of(a), cpu_pack_for(e, result, at(a, i, &expr_zero)));
    close_all(a, opened);
}

/* The memory of results that are tiles. */
static void declare_results(Emit *e, Op *op) {
    for (int i = 0; i < op->result_count; i++) {
        const Type *type = ir_type(e->k, op->results[i]);
        if (type->rank) cpu_declare(e, op->results[i]);
    }
}

void cpu_emit_reduce(Emit *e, Op *op) {
    const ReducePlan *plan = &cpu_place(&e->plan, op)->reduce;
    if (plan->form == REDUCE_ROWS) {
        cpu_emit_reduce_rows(e, op, plan->at_once);
        return;
    }
    Axis a;
    declare_results(e, op);
    axis_begin(&a, e, op);
    if (plan->form == REDUCE_CHAINS || plan->form == REDUCE_COLUMNS) {
        for (int i = 0; i < a.count; i++) find_extreme(&a, i, plan);
        return;
    }
    if (a.n == 1)
        ;
    else if (plan->form == REDUCE_HALVES)
        reduce_halves(&a);
    else if (plan->form == REDUCE_NEIGHBOURS)
        reduce_neighbours(&a);
    else if (plan->form == REDUCE_STEPS)
        reduce_steps(&a, &op_attr(op, AT_BITS)->list);
    else
        reduce_in_turn(&a);
    for (int i = 0; i < a.count; i++) hand_over(&a, i);
}

/* The vector operation of scan.h. */
static const char *scan_operation(Word kind) {
    switch (kind) {
    case COMBINE_ADD: return "TW_V_ADD";
    case COMBINE_MUL: return "TW_V_MUL";
    case COMBINE_MIN: return "TW_V_MIN";
    case COMBINE_MAX: return "TW_V_MAX";
    case COMBINE_AND: return "TW_V_AND";
    case COMBINE_OR: return "TW_V_OR";
    default: return "TW_V_XOR";
    }
}

/* Each line by a function of scan.h, made on first use. */
static void scan_lines(const Axis *a, int lanes) {
    Emit *e = a->e;
    Word kind = op_word(a->op, AT_COMBINE, COMBINE_ADD);
    Elem elem = elem_of(a, 0);
    const char *t = elem_info[elem].text;
    const char *name = arena_printf(e->arena, "%s_%s", word_info[kind].text, t);
    const char *key = arena_printf(e->arena, "tw_scan_%s", name);
    if (!map_find(&e->helper_names, key, strlen(key)))
        cs_line_of(&e->p, &e->helpers, 0, "TW_SCAN_%d(%s, %s, %s, %s, %p)", lanes, name, t,
                   elem_info[elem].bits == 64 ? "i64" : "i32", scan_operation(kind),
                   cs_combine(&e->p, kind, elem, false, ex_name(e->arena, "p"), ex_name(e->arena, "q")));
    map_set(&e->helper_names, e->arena, key, e);
    cpu_needs(e, PART_SCAN);
    int opened = open_outer(a);
    const Expr *start = a->temp[0];
    if (a->outer > 1) start = ex(e->arena, "%p + o * %lld", start, (long long)a->n);
    cs_line(&e->p, "%s(%p, %lld, %d);", key, start, (long long)a->n, op_flag(a->op, AT_REVERSE));
    close_all(a, opened);
}

/* Element after element; lines side by side in groups of `width`, so that none waits for the sum before it. */
static void scan_in_turn(const Axis *a, int64_t from, int64_t to, int64_t width) {
    Emit *e = a->e;
    long long top = (long long)a->n - 1;
    bool reverse = op_flag(a->op, AT_REVERSE);
    const Expr *here = reverse ? ex(e->arena, "%lld - %p", top, a->r) : a->r;
    const Expr *before = reverse ? ex(e->arena, "%lld - %p", top + 1, a->r) : ex(e->arena, "%p - 1", a->r);
    int opened = 0;
    if (from >= to) return;
    if (a->outer > 1) {
        cs_open(&e->p, "for (i64 %s = %lld; %s < %lld; %s += %lld)", width > 1 ? "q" : "o", (long long)from,
                width > 1 ? "q" : "o", (long long)to, width > 1 ? "q" : "o", (long long)width);
        opened++;
    }
    cs_open(&e->p, "for (i64 r = 1; r < %lld; r++)", top + 1);
    opened++;
    if (width > 1) {
        cs_open(&e->p, "for (i64 l = 0; l < %lld; l++)", (long long)width);
        cs_line(&e->p, "const i64 o = q + l;");
        opened++;
    }
    opened += open_inner(a);
    combine(a, here, before, here);
    close_all(a, opened);
}

void cpu_emit_scan(Emit *e, Op *op) {
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    if (kind == COMBINE_ARGMIN || kind == COMBINE_ARGMAX) {
        cpu_unsupported(e, op, "argmin and argmax cannot be scanned");
        return;
    }
    Axis a;
    declare_results(e, op);
    axis_begin(&a, e, op);
    const ScanPlan *plan = &cpu_place(&e->plan, op)->scan;
    if (plan->form == SCAN_VECTORS)
        scan_lines(&a, plan->lanes);
    else if (plan->form == SCAN_IN_TURN) {
        scan_in_turn(&a, 0, plan->grouped, plan->side_by_side);
        scan_in_turn(&a, plan->grouped, a.outer, 1);
    }
    for (int i = 0; i < a.count; i++) {
        const Type *type = ir_type(e->k, op->results[i]);
        cs_open(&e->p, "TW_VECTOR for (i64 r = 0; r < %lld; r++)", (long long)ty_elements(type));
        cs_line(&e->p, "%p[r] = %p;", cs_ref(&e->p, op->results[i]),
                cpu_pack_for(e, op->results[i], ex(e->arena, "%p[r]", a.temp[i])));
        cs_close(&e->p);
    }
}
