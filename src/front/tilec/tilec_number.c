/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_number.c: arithmetic on the numbers of Tile C: literals are folded, run-time values become
 * IR, and what depends on the thread stays a table of constants.
 *
 *     warpgroup_groupid() * 64 + row       ref = row, lanes = {0 x128, 64 x128, ..}
 *
 * C's rules hold: small integers are promoted to int, then the usual conversions; integers wrap. A
 * thread part survives
 * +, - and * by a constant; anything else needs both sides to be constants. */
#include "front/tilec/tilec.h"
#include "ir/ends.h"

static int64_t wrap(Elem elem, int64_t value) {
    int bits = elem_info[elem].bits;
    if (elem == EL_I1) return value != 0;
    if (bits >= 64) return value;
    uint64_t mask = (UINT64_C(1) << bits) - 1, low = (uint64_t)value & mask;
    bool negative = elem_is_signed(elem) && (low >> (bits - 1) & 1);
    return (int64_t)(negative ? low | ~mask : low);
}

static Scalar literal(Tc *tc, const TcType *type, int64_t value) {
    return tc_scalar(type, ir_literal_int(tc->kernel, ty_scalar(tc->module, type->elem), value), NULL);
}

Scalar tc_int(Tc *tc, int64_t value) {
    return literal(tc, tc_scalar_type(value == (int32_t)value ? EL_I32 : EL_I64), value);
}

static bool is_literal(const Tc *tc, Ref ref, int64_t *value) {
    return ref != REF_NONE && ir_const_int(tc->kernel, ref, value);
}

bool tc_is_constant(const Tc *tc, Scalar s, int64_t *value) {
    int64_t base = 0;
    if (!is_literal(tc, s.ref, &base)) return false;
    *value = base;
    if (!s.lanes) return true;
    bool first = true;
    for (int t = 0; t < tc->threads; t++) {
        if (!tc->active[t]) continue;
        if (!first && base + s.lanes[t] != *value) return false;
        *value = base + s.lanes[t];
        first = false;
    }
    return true;
}

/* The variable of a counted loop. */
static bool loop_variable(const void *user, Ref ref, EndsVariable *out, bool *known) {
    const Kernel *k = user;
    const Value *v = ir_value(k, ref);
    const Op *loop = !v->op && v->region && v->index == 0 ? v->region->owner : NULL;
    if (!loop || loop->code != OP_FOR) return false;
    *out = (EndsVariable){.ref = ref, .step = 1};
    *known = ir_const_int(k, loop->operands[0], &out->lo) && ir_const_int(k, loop->operands[1], &out->hi) &&
             ir_const_int(k, loop->operands[2], &out->step) && out->step > 0 && out->hi > out->lo;
    if (*known) out->hi = out->lo + (out->hi - 1 - out->lo) / out->step * out->step;
    return true;
}

/* Does it happen in each trip of the loops around? */
static bool is_unconditional(const Tc *tc) {
    for (const Op *op = tc->b.region->owner; op; op = op->parent ? op->parent->owner : NULL)
        if (op->code == OP_IF || op->code == OP_WHILE) return false;
    return true;
}

bool tc_inside(const Tc *tc, Scalar index, int64_t most, int64_t *outside) {
    int64_t lo, hi, least = 0, largest = 0;
    bool first = true;
    if (tc_is_constant(tc, index, &lo))
        hi = lo;
    else if (index.ref == REF_NONE || index.open || index.lost || !is_unconditional(tc) ||
             !ends_by_places(tc->kernel, &index.ref, &(int64_t){1}, 1, 0, loop_variable, tc->kernel, &lo, &hi))
        return true;
    else
        for (int t = 0; t < tc->threads && index.lanes; t++) {
            if (!tc->active[t]) continue;
            if (first || index.lanes[t] < least) least = index.lanes[t];
            if (first || index.lanes[t] > largest) largest = index.lanes[t];
            first = false;
        }
    lo += least, hi += largest;
    *outside = lo < 0 ? lo : hi;
    return lo >= 0 && hi <= most;
}

bool tc_in_range(Tc *tc, Scalar index, int64_t most, Range range) {
    int64_t outside;
    if (tc_inside(tc, index, most, &outside)) return true;
    TC_ERROR(tc, TC_INDEX_RANGE, range, (long long)outside, (long long)most);
    return false;
}

/* A number whose thread part is `lanes`; a table of equal entries is folded away. */
static Scalar with_lanes(Tc *tc, const TcType *type, Ref ref, int64_t *lanes) {
    int64_t base;
    bool same = true;
    for (int t = 1; t < tc->threads; t++) same = same && lanes[t] == lanes[0];
    if (same && is_literal(tc, ref, &base)) return literal(tc, type, base + lanes[0]);
    if (same && lanes[0] == 0) lanes = NULL;
    return tc_scalar(type, ref, lanes);
}

static Scalar mixed_error(Tc *tc, const TcType *type, Range range) {
    TC_ERROR(tc, TC_THREAD_MIXED, range,
             "only + and -, and * by a constant, may join a thread's number with a run-time value");
    return elem_is_float(type->elem) ? tc_scalar(type, ir_float(&tc->b, type->elem, 0), NULL) : literal(tc, type, 0);
}

Scalar tc_convert(Tc *tc, Scalar s, const TcType *type, Range range) {
    if (s.type->elem == type->elem) return (Scalar){type, s.ref, s.lanes, s.open, s.lost};
    Elem from = s.type->elem, to = type->elem;
    int64_t value;
    if (s.lanes) {
        if (!is_literal(tc, s.ref, &value)) {
            /* Widening keeps ref + lanes; the rest could wrap differently a thread. */
            bool widens = elem_is_int(from) && elem_is_int(to) && elem_is_signed(from) &&
                          elem_info[to].bits > elem_info[from].bits;
            if (!widens) return mixed_error(tc, type, range);
            return tc_scalar(type, ir_cast(&tc->b, s.ref, to), s.lanes);
        }
        if (elem_is_float(to)) {
            TC_ERROR(tc, TC_THREAD_MIXED, range, "a thread's number cannot become a float");
            return tc_scalar(type, ir_float(&tc->b, to, 0), NULL);
        }
        int64_t *lanes = ARENA_ARRAY(tc->arena, int64_t, tc->threads);
        for (int t = 0; t < tc->threads; t++) lanes[t] = wrap(to, value + s.lanes[t]);
        return with_lanes(tc, type, literal(tc, type, 0).ref, lanes);
    }
    const Type *scalar = ty_scalar(tc->module, to);
    if (is_literal(tc, s.ref, &value)) {
        double real = elem_is_signed(from) || from == EL_I1 ? (double)value : (double)(uint64_t)value;
        return tc_scalar(type,
                         elem_is_float(to) ? ir_literal_float(tc->kernel, scalar, real)
                                           : ir_literal_int(tc->kernel, scalar, wrap(to, value)),
                         NULL);
    }
    if (ref_is_literal(s.ref) && elem_is_float(from) && elem_is_float(to))
        return tc_scalar(type, ir_literal_float(tc->kernel, scalar, ir_literal(tc->kernel, s.ref)->f), NULL);
    if (to == EL_I1) return tc_truth(tc, s, range);
    return tc_scalar(type, ir_cast(&tc->b, s.ref, to), NULL);
}

static Elem promoted(Elem elem) {
    bool small = !elem_is_float(elem) && elem_info[elem].bits < 32;
    return small ? EL_I32 : elem;
}

static Elem common_elem(Elem a, Elem b) {
    a = promoted(a);
    b = promoted(b);
    if (a == b) return a;
    bool fa = elem_is_float(a), fb = elem_is_float(b);
    if (fa != fb) return fa ? a : b;
    int wa = elem_info[a].bits, wb = elem_info[b].bits;
    if (wa != wb) return wa > wb ? a : b;
    if (fa) return EL_F32; /* half and bf16 meet in float */
    return elem_is_signed(a) ? b : a;
}

const TcType *tc_common_type(Scalar a, Scalar b) { return tc_scalar_type(common_elem(a.type->elem, b.type->elem)); }

static bool is_comparison(CTok op) {
    return op == CT_LT || op == CT_GT || op == CT_LE || op == CT_GE || op == CT_EQ || op == CT_NE;
}

/* Both operands already have type elem. False where C leaves it undefined. */
static bool fold(CTok op, Elem elem, int64_t x, int64_t y, int64_t *out) {
    CConst a = {x, !elem_is_signed(elem)}, b = {y, !elem_is_signed(elem)}, value;
    if ((op == CT_SHL || op == CT_SHR) && y >= elem_info[elem].bits) return false;
    if (!c_fold(op, a, b, &value)) return false;
    *out = value.value;
    return true;
}

static Ref emit(Tc *tc, CTok op, Ref x, Ref y) {
    switch (op) {
    case CT_PLUS: return ir_binary(&tc->b, OP_ADD, x, y);
    case CT_MINUS: return ir_binary(&tc->b, OP_SUB, x, y);
    case CT_STAR: return ir_binary(&tc->b, OP_MUL, x, y);
    case CT_SLASH: return ir_binary(&tc->b, OP_DIV, x, y);
    case CT_PERCENT: return ir_binary(&tc->b, OP_REM, x, y);
    case CT_AMP: return ir_binary(&tc->b, OP_AND, x, y);
    case CT_PIPE: return ir_binary(&tc->b, OP_OR, x, y);
    case CT_CARET: return ir_binary(&tc->b, OP_XOR, x, y);
    case CT_SHL: return ir_binary(&tc->b, OP_SHL, x, y);
    case CT_SHR: return ir_binary(&tc->b, OP_SHR, x, y);
    case CT_LT: return ir_compare(&tc->b, CMP_LT, x, y);
    case CT_GT: return ir_compare(&tc->b, CMP_GT, x, y);
    case CT_LE: return ir_compare(&tc->b, CMP_LE, x, y);
    case CT_GE: return ir_compare(&tc->b, CMP_GE, x, y);
    case CT_EQ: return ir_compare(&tc->b, CMP_EQ, x, y);
    default: return ir_compare(&tc->b, CMP_NE, x, y);
    }
}

/* ref op ref, folded where both are literals */
static Ref join_refs(Tc *tc, CTok op, const TcType *operand, const TcType *result, Ref x, Ref y) {
    int64_t vx, vy, value;
    if (is_literal(tc, x, &vx) && is_literal(tc, y, &vy) && fold(op, operand->elem, vx, vy, &value))
        return literal(tc, result, wrap(result->elem, value)).ref;
    bool adds = op == CT_PLUS || op == CT_MINUS;
    if (adds && is_literal(tc, y, &vy) && vy == 0) return x;
    if (op == CT_PLUS && is_literal(tc, x, &vx) && vx == 0) return y;
    return emit(tc, op, x, y);
}

/* lanes as a * worker + b over the active threads; false if they are not of that form. */
static bool worker_affine(const Tc *tc, const int64_t *lanes, int64_t *a, int64_t *b) {
    enum { WARPGROUP = 128 };
    int first = -1, second = -1;
    for (int t = 0; t < tc->threads; t++) {
        if (!tc->active[t]) continue;
        int group = t / WARPGROUP;
        if (first < 0) first = t;
        if (second < 0 && group != first / WARPGROUP) second = t;
    }
    if (first < 0) return false;
    int steps = second < 0 ? 1 : second / WARPGROUP - first / WARPGROUP;
    int64_t rise = second < 0 ? 0 : lanes[second] - lanes[first];
    if (rise % steps) return false;
    *a = rise / steps;
    *b = lanes[first] - *a * (first / WARPGROUP);
    for (int t = 0; t < tc->threads; t++)
        if (tc->active[t] && lanes[t] != *a * (t / WARPGROUP) + *b) return false;
    return true;
}

/* The same in all threads of a worker. */
static bool is_of_worker(const Tc *tc, Scalar s) {
    int64_t a = 0, b = 0;
    return !s.lanes || (worker_affine(tc, s.lanes, &a, &b) && (!a || tc->worker));
}

static Scalar join_lanes(Tc *tc, CTok op, const TcType *type, const TcType *result, Scalar a, Scalar b, Range range) {
    int64_t base_a = 0, base_b = 0;
    bool pure_a = is_literal(tc, a.ref, &base_a), pure_b = is_literal(tc, b.ref, &base_b);
    int64_t *lanes = ARENA_ARRAY(tc->arena, int64_t, tc->threads);
    if (pure_a && pure_b) {
        for (int t = 0; t < tc->threads; t++) {
            int64_t x = base_a + (a.lanes ? a.lanes[t] : 0), y = base_b + (b.lanes ? b.lanes[t] : 0);
            if (!fold(op, type->elem, x, y, &lanes[t])) return mixed_error(tc, type, range);
            lanes[t] = wrap(result->elem, lanes[t]);
        }
        return with_lanes(tc, result, literal(tc, result, 0).ref, lanes);
    }
    bool scales = op == CT_STAR && ((pure_a && !a.lanes) || (pure_b && !b.lanes));
    bool by_parts = op == CT_PLUS || op == CT_MINUS || scales;
    if (!by_parts && is_of_worker(tc, a) && is_of_worker(tc, b)) {
        Ref x = tc_uniform(tc, a, range), y = tc_uniform(tc, b, range);
        return tc_scalar(result, join_refs(tc, op, type, result, x, y), NULL);
    }
    if (!by_parts) return mixed_error(tc, type, range);
    for (int t = 0; t < tc->threads; t++) {
        CConst x = {a.lanes ? a.lanes[t] : scales ? base_a : 0, false};
        CConst y = {b.lanes ? b.lanes[t] : scales ? base_b : 0, false}, part;
        c_fold(op, x, y, &part);
        lanes[t] = wrap(type->elem, part.value);
    }
    return with_lanes(tc, result, join_refs(tc, op, type, result, a.ref, b.ref), lanes);
}

Scalar tc_binary(Tc *tc, CTok op, Scalar a, Scalar b, Range range) {
    bool shifts = op == CT_SHL || op == CT_SHR;
    Elem elem = shifts ? promoted(a.type->elem) : common_elem(a.type->elem, b.type->elem);
    const TcType *type = tc_scalar_type(elem), *result = is_comparison(op) ? tc_scalar_type(EL_I1) : type;
    bool bits = shifts || op == CT_AMP || op == CT_PIPE || op == CT_CARET || op == CT_PERCENT;
    bits = bits || a.lanes || b.lanes; /* numbers of threads are integers */
    if (bits && (elem_is_float(elem) || elem_is_float(b.type->elem))) {
        TC_ERROR(tc, TC_INTEGERS_ONLY, range, c_token_text(op));
        return tc_int(tc, 0); /* the lowering fails */
    }
    a = tc_convert(tc, a, type, range);
    b = tc_convert(tc, b, type, range);
    if (a.lanes || b.lanes) return join_lanes(tc, op, type, result, a, b, range);
    return tc_scalar(result, join_refs(tc, op, type, result, a.ref, b.ref), NULL);
}

Scalar tc_truth(Tc *tc, Scalar s, Range range) {
    if (s.type->elem == EL_I1) return s;
    const TcType *type = s.type;
    Scalar zero =
        tc_scalar(type, elem_is_float(type->elem) ? ir_float(&tc->b, type->elem, 0) : literal(tc, type, 0).ref, NULL);
    if (elem_is_float(type->elem))
        return tc_scalar(tc_scalar_type(EL_I1), ir_compare(&tc->b, CMP_NE, s.ref, zero.ref), NULL);
    return tc_binary(tc, CT_NE, s, zero, range);
}

Ref tc_uniform(Tc *tc, Scalar s, Range range) {
    if (!s.lanes) return s.ref;
    int64_t a = 0, b = 0;
    bool affine = worker_affine(tc, s.lanes, &a, &b);
    if (!affine || (a && tc->worker == REF_NONE)) {
        TC_ERROR(tc, TC_THREAD_VALUE, range, tc->unit > 1 ? "warpgroup" : "block");
        return REF_NONE;
    }
    Scalar sum = tc_scalar(s.type, s.ref, NULL);
    if (a) {
        Scalar worker = tc_scalar(tc_scalar_type(EL_I32), tc->worker, NULL);
        Scalar part = a == 1 ? worker : tc_binary(tc, CT_STAR, worker, tc_int(tc, a), range);
        sum = tc_binary(tc, CT_PLUS, sum, part, range);
    }
    return tc_binary(tc, CT_PLUS, sum, tc_int(tc, b), range).ref;
}
