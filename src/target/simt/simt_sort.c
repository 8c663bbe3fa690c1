/* SPDX-License-Identifier: Apache-2.0 */
/* simt_sort.c: sorting along an axis, and histograms.
 *
 * A sort is a bitonic network over the bits of the axis index: stage k makes sorted runs of 2^k, up
 * and down in turn, by comparing elements that differ in bit k-1, .., 0. Partners meet in
 * registers, by a shuffle, or through shared memory, wherever the bit lives. Elements are keys
 * (sort.cuh), the padding of an odd extent the largest key, which stays at the end:
 *
 *     for (int r = 0; r < 8; r += 2) if ((key[r] > key[r + 1]) == up) swap
 *
 * A histogram counts in shared memory by atomics. */
#include "target/simt/simt.h"

typedef struct Sort {
    Emit *e;
    const Op *op;
    const Layout *layout;
    int axis, bits;
    const char *keys, *type; /* the array, u32 or u64 */
    int bytes;
    bool begun; /* its scratch is in use */
} Sort;

static Sort sort_of(Emit *e, const Op *op) {
    Sort s = {.e = e, .op = op, .axis = (int)op_int(op, AT_AXIS, 0)};
    s.layout = emit_layout(e, op->operands[0]);
    s.bits = s.layout->map.log2[s.axis];
    bool wide = elem_info[ir_type(e->k, op->operands[0])->elem].bits == 64;
    s.type = wide ? "u64" : "u32";
    s.bytes = wide ? 8 : 4;
    return s;
}

static int register_count(const Sort *s) { return 1 << s->layout->map.count[LL_REGISTER]; }

/* Is the run that register r belongs to sorted upwards in stage k? */
static const Expr *upwards(const Sort *s, int k) {
    static const char *const names[] = {"r", "lane", "warp"};
    LayoutInput input;
    int at;
    if (k == s->bits) return &expr_true;
    place_axis_bit(s->e, s->layout, s->axis, k, &input, &at);
    return ex(s->e->arena, "!(%s & %u)", names[input], 1u << at);
}

static void compare(Sort *s, int k, int j) {
    Emit *e = s->e;
    LayoutInput input;
    int at;
    place_axis_bit(e, s->layout, s->axis, j, &input, &at);
    unsigned own = 1u << at;
    const Expr *up = upwards(s, k);
    cs_note(&e->p, "runs of %lld: elements %lld apart in order, %s", 1ll << k, 1ll << j,
            place_between(input));
    if (input == LL_REGISTER) {
        emit_unroll(e, "r", register_count(s), 1);
        cs_line(&e->p, "if (r & %u) continue;", own);
        cs_line(&e->p, "const %s low = %s[r], high = %s[r + %u];", s->type, s->keys, s->keys, own);
        cs_line(&e->p, "const bool swap = (low > high) == %p;", up);
        cs_line(&e->p, "%s[r] = swap ? high : low;", s->keys);
        cs_line(&e->p, "%s[r + %u] = swap ? low : high;", s->keys, own);
        cs_close(&e->p);
        return;
    }
    const char *name = input == LL_LANE ? "lane" : "warp";
    int64_t plane = (int64_t)e->group.warps * e->lanes * s->bytes;
    if (input == LL_WARP) {
        sync_round(e, s->op, &s->begun);
        emit_unroll(e, "r", register_count(s), 1);
        cs_line(&e->p, "tw_sts(1, %lld + r * %lld + (%p) * %d, %s + r);", (long long)shared_offset(e, s->op),
                (long long)plane, e->thread, s->bytes, s->keys);
        cs_close(&e->p);
        sync_step(e);
    }
    emit_unroll(e, "r", register_count(s), 1);
    if (input == LL_WARP) {
        cs_line(&e->p, "%s other;", s->type);
        cs_line(&e->p, "tw_lds(1, &other, %lld + r * %lld + ((warp ^ %u) * %d + lane) * %d);",
                (long long)shared_offset(e, s->op), (long long)plane, own, e->lanes, s->bytes);
    } else {
        cs_line(&e->p, "const %s other = tw_shfl_xor(%s[r], %u);", s->type, s->keys, own);
    }
    cs_line(&e->p, "%s[r] = (!(%s & %u) == %p) == (other < %s[r]) ? other : %s[r];", s->keys, name, own, up, s->keys,
            s->keys);
    cs_close(&e->p);
}

/* The type in which an element is made a key. */
static const char *key_from(const Type *type) {
    if (elem_is_float(type->elem)) return type->elem == EL_F64 ? "f64" : "f32";
    if (type->elem == EL_I64) return "i64";
    if (type->elem == EL_U64) return "u64";
    return elem_is_signed(type->elem) ? "i32" : "u32";
}

void sort_emit(Emit *e, const Op *op) {
    Sort s = sort_of(e, op);
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result);
    const char *from = key_from(type), *descending = op_flag(op, AT_DESC) ? "true" : "false";
    const char *array = emit_declare(e, result);
    emit_block(e);
    s.keys = cs_fresh(&e->p, "key");
    cs_line(&e->p, "%s %s[%d];", s.type, s.keys, register_count(&s));
    emit_unroll(e, "r", register_count(&s), 1);
    const Expr *text = ex(e->arena, "tw_key((%s)%p, %s)", from,
                          elementwise_operand(e, op->operands[0], s.layout, &place_r), descending);
    const Expr *inside = place_inside(e, s.layout, type, s.axis, &place_r);
    if (s.layout->registers < register_count(&s))
        inside = ex_and(e->arena, ex(e->arena, "r < %d", s.layout->registers), inside);
    if (inside) text = ex(e->arena, "%p ? %p : ~(%s)0", inside, text, s.type);
    cs_line(&e->p, "%s[r] = %p;", s.keys, text);
    cs_close(&e->p);
    for (int k = 1; k <= s.bits; k++)
        for (int j = k - 1; j >= 0; j--) compare(&s, k, j);
    emit_unroll(e, "r", s.layout->registers, 1);
    cs_line(&e->p, "%s number;", from);
    cs_line(&e->p, "tw_unkey(%s[r], %s, &number);", s.keys, descending);
    cs_line(&e->p, "%s[r] = %p;", array,
            elem_is_float(type->elem) ? elementwise_packed(e, type->elem, ex_name(e->arena, "number"))
                                      : ex(e->arena, "(%s)number", emit_array_type(e, type)));
    cs_close(&e->p);
    cs_close(&e->p);
}

void histogram_emit(Emit *e, const Op *op) {
    Ref x = op->operands[0], result = op->results[0];
    const Layout *from = emit_layout(e, x), *to = emit_layout(e, result);
    const Type *type = ir_type(e->k, x), *bins = ir_type(e->k, result);
    long long base = shared_offset(e, op), count = bins->extent[0];
    sync_before(e, op);
    cs_note(&e->p, "counts in shared memory, from 0 on");
    cs_open(&e->p, "for (int j = %p; j < %lld; j += %d)", e->thread, count, e->lanes * e->group.warps);
    cs_line(&e->p, "const i32 zero = 0;");
    cs_line(&e->p, "tw_sts(1, %lld + j * 4, &zero);", base);
    cs_close(&e->p);
    sync_step(e);
    const Expr *condition = place_owner(e, &from->map);
    cs_note(&e->p, "each element of %s adds one to its bin", purpose_tile(e, x));
    emit_unroll(e, "r", from->registers, 1);
    condition = stage_inside(e, from, type, condition);
    const Expr *text = elementwise_operand(e, x, from, &place_r);
    cs_line(&e->p, "const i64 bin = (i64)%p;", text);
    condition = ex_and(e->arena, condition, ex(e->arena, "(u64)bin < %lldull", count));
    cs_line(&e->p, "if (%p) tw_atomic_add_shared(%lld + (i32)bin * 4, 1);", condition, base);
    cs_close(&e->p);
    sync_step(e);
    const char *array = emit_declare(e, result);
    cs_note(&e->p, "bins that this thread holds");
    emit_unroll(e, "r", to->registers, 1);
    const Expr *inside = stage_inside(e, to, bins, NULL);
    cs_line(&e->p, "tw_lds_if(1, %p, %s + r, %lld + %p * 4);", inside ? inside : &expr_true, array, base,
            place_coord(e, to, 0, &place_r));
    cs_close(&e->p);
}
