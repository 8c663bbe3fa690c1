/* SPDX-License-Identifier: Apache-2.0 */
/* simt_dot.c: dots: operands in shared memory, accumulators in registers; by fma here, by a matrix instruction in the
 * target's own way (SimtTarget.multiply).
 *
 * The order of the sum is k ascending in steps of the instruction, chained in the accumulator, in every execution of a
 * kernel; so a loop over k gives the same bits flat, pipelined and with roles.
 *
 *     for (int kk = 0; kk < 64; kk++) {
 *         f32 left[4];  ..  tw_lds(1, &cell, tw_tile_at(..));  left[i] = tw_f32(cell);
 *         f32 right[4]; ..
 *         for (int r = 0; r < 16; r++) acc[r] = tw_fma(left[r & 3], right[r >> 2], acc[r]);
 *     } */
#include "target/simt/simt_dot.h"
#include "target/simt/simt_ring.h"

Dot dot_of(Emit *e, const Op *op) {
    Dot d = {.e = e, .op = op, .row = matrix_of(e->k, op)};
    const Type *a = ir_type(e->k, op->operands[0]);
    d.type = ir_type(e->k, op->results[0]);
    d.layout = emit_layout(e, op->results[0]);
    d.m = d.type->extent[0];
    d.n = d.type->extent[1];
    d.k = a->extent[1];
    int64_t promote = matrix_promote(e->k, op);
    if (d.row->promotes && promote < INT64_MAX) d.every = (int)((promote + d.row->k - 1) / d.row->k);
    if (d.row->warps) layout_dot_grid(op, &d.along_m, &d.along_n);
    for (int i = 0; i < 2; i++) {
        const Layout *layout = emit_layout(e, op->operands[i]);
        d.tile[i] = layout->home == HOME_SHARED ? &layout->tile : NULL;
        d.offset[i] = emit_hold(e, op->operands[i])->by;
    }
    return d;
}

const Expr *dot_matrix_at(Dot *d, int i, const Expr *row, const Expr *column) {
    return shared_at(d->e, d->tile[i], d->offset[i], row, column);
}

/* --- a left operand that stays in registers --- */
int dot_left_each(const Dot *d) { return 4 / ty_elem_bytes(ir_type(d->e->k, d->op->operands[0])); }
static int left_words(const Dot *d) { return emit_layout(d->e, d->op->operands[0])->registers / dot_left_each(d); }

const char *dot_left_declare(Dot *d, bool set) {
    Emit *e = d->e;
    if (d->tile[0]) return NULL;
    const char *words = cs_fresh(&e->p, "left");
    cs_line(&e->p, set ? "u32 %s[%d] = {};" : "u32 %s[%d];", words, left_words(d));
    return words;
}

void dot_left_pack(Dot *d, const char *words) {
    Emit *e = d->e;
    Ref a = d->op->operands[0];
    if (!words) return;
    if (emit_hold(e, a)->kind == HOLD_TRADED) {
        shared_take_traded(e, a, words);
        return;
    }
    emit_unroll(e, "r", left_words(d), 1);
    if (dot_left_each(d) == 2) {
        cs_line(&e->p, "%s[r] = %p;", words, pairs_made(e, a, emit_layout(e, a)));
    } else {
        const Op *cast = ir_value(e->k, a)->op;
        bool round = cast && op_flag(cast, AT_PACKED);
        const Expr *from = emit_hold(e, round ? cast->operands[0] : a)->by;
        const char *name = arena_printf(e->arena, "tw_pack%s%s", round ? "_" : "", round ? d->row->spelling : "");
        cs_line(&e->p, "%s[r] = %s(%p[4 * r], %p[4 * r + 1], %p[4 * r + 2], %p[4 * r + 3]);", words, name, from, from,
                from, from);
    }
    cs_close(&e->p);
}

/* --- fma --- */
/* How many warps differ in the place along a dimension. */
static int warps_along(const LinearLayout *map, int dim) {
    int warps = 1;
    for (int i = 0; i < map->count[LL_WARP]; i++)
        if (ll_coord(map, map->basis[LL_WARP][i], dim)) warps *= 2;
    return warps;
}

/* The register bits that move along a dimension, in order. */
static int dim_bits(const LinearLayout *map, int dim, uint32_t *coords, uint32_t *masks) {
    int count = 0;
    for (int i = 0; i < map->count[LL_REGISTER]; i++) {
        uint32_t coord = ll_coord(map, map->basis[LL_REGISTER][i], dim);
        masks[i] = coord ? 1u << count : 0;
        if (coord) coords[count++] = coord;
    }
    return count;
}

static void load_side(Dot *d, int i, const char *array, const char *sum) {
    Emit *e = d->e;
    const LinearLayout *map = &d->layout->map;
    Elem elem = ir_type(e->k, d->op->operands[i])->elem;
    uint32_t coords[LL_MAX_BITS], masks[LL_MAX_BITS];
    int bits = dim_bits(map, i, coords, masks);
    cs_line(&e->p, "%s %s[%d];", sum, array, 1 << bits);
    emit_unroll(e, "i", 1 << bits, 1);
    const Expr *at =
        ex(e->arena, "%p + %p", place_thread(e, map, i), place_bits(e->arena, ex_name(e->arena, "i"), bits, coords));
    int64_t extent = d->type->extent[i];
    if (extent & (extent - 1)) at = ex(e->arena, "tw_min(%p, %lld)", at, (long long)(extent - 1));
    bool k_columns = (i == 0) != d->tile[i]->turned;
    const Expr *kk = ex_name(e->arena, "kk");
    cs_line(&e->p, "%s cell;", cs_memory_type(elem));
    cs_line(&e->p, "tw_lds(1, &cell, %p);", dot_matrix_at(d, i, k_columns ? at : kk, k_columns ? kk : at));
    cs_line(&e->p, "%s[i] = (%s)%p;", array, sum, cs_unpack(&e->p, elem, ex_name(e->arena, "cell")));
    cs_close(&e->p);
}

static void multiply_fma(Dot *d, const char *sum) {
    Emit *e = d->e;
    const LinearLayout *map = &d->layout->map;
    uint32_t coords[LL_MAX_BITS], rows[LL_MAX_BITS], columns[LL_MAX_BITS];
    dim_bits(map, 0, coords, rows);
    dim_bits(map, 1, coords, columns);
    const char *a = cs_fresh(&e->p, "left"), *b = cs_fresh(&e->p, "right");
    const char *unroll = arena_printf(e->arena, "#pragma unroll %d", (int)op_int(d->op, AT_UNROLL, 1));
    cs_loop(&e->p, unroll, "kk", 0, d->k, 1);
    load_side(d, 0, a, sum);
    load_side(d, 1, b, sum);
    emit_unroll(e, "r", d->layout->registers, 1);
    int count = map->count[LL_REGISTER];
    const Expr *x = ex(e->arena, "%s[%p]", a, place_bits(e->arena, &place_r, count, rows));
    const Expr *y = ex(e->arena, "%s[%p]", b, place_bits(e->arena, &place_r, count, columns));
    if (elem_is_float(d->type->elem))
        cs_line(&e->p, "%s[r] = tw_fma(%p, %p, %s[r]);", d->acc, x, y, d->acc);
    else
        cs_line(&e->p, "%s[r] = tw_add(%s[r], tw_mul(%p, %p));", d->acc, d->acc, x, y);
    cs_close(&e->p);
    cs_close(&e->p);
}

/* --- the accumulator --- */
const char *dot_sum_type(const Type *type) {
    if (elem_is_float(type->elem)) return type->elem == EL_F64 ? "f64" : "f32";
    bool wide = elem_info[type->elem].bits == 64;
    if (elem_is_signed(type->elem)) return wide ? "i64" : "i32";
    return wide ? "u64" : "u32";
}

static bool is_sum_type(const Type *type) { return elem_info[type->elem].bits >= 32; }

void dot_open(Dot *d) {
    Emit *e = d->e;
    Ref c = d->op->operands[2], result = d->op->results[0];
    if (is_sum_type(d->type) && emit_may_reuse(e, c, d->op)) {
        d->acc = emit_hold(e, c)->by->text;
        emit_set_name(e, result, HOLD_ARRAY, d->acc);
        return;
    }
    if (is_sum_type(d->type)) {
        d->acc = emit_declare(e, result);
        d->fresh = op_flag(d->op, AT_FRESH);
        if (d->fresh) return; /* the first step writes it */
    } else {
        d->acc = cs_fresh(&e->p, "sum");
        cs_line(&e->p, "%s %s[%d];", dot_sum_type(d->type), d->acc, d->layout->registers);
    }
    emit_unroll(e, "r", d->layout->registers, 1);
    cs_line(&e->p, "%s[r] = %p;", d->acc, elementwise_operand(e, c, d->layout, &place_r));
    cs_close(&e->p);
}

static void close_accumulator(Dot *d) {
    Emit *e = d->e;
    if (is_sum_type(d->type)) return;
    const char *array = emit_declare(e, d->op->results[0]);
    bool two = (d->type->elem == EL_F16 || d->type->elem == EL_BF16) && d->layout->registers % 2 == 0;
    emit_unroll(e, "r", d->layout->registers, two ? 2 : 1);
    if (two) /* one instruction rounds both */
        cs_line(&e->p, "tw_round_two(%s + r, %s[r], %s[r + 1]);", array, d->acc, d->acc);
    else
        cs_line(&e->p, "%s[r] = %p;", array, cs_pack(&e->p, d->type->elem, ex(e->arena, "%s[r]", d->acc)));
    cs_close(&e->p);
}

void dot_say(Dot *d) {
    int along[2] = {d->along_m, d->along_n};
    for (int i = 0; i < 2 && !d->row->warps; i++) along[i] = warps_along(&d->layout->map, i);
    emit_find(d->e, d->op, FIND_DOT_GRID, word_info[d->row->instr].text, along[0], along[1],
              d->row->warps > 1 ? "warpgroups" : "warps");
}

void dot_emit(Emit *e, const Op *op) {
    Dot d = dot_of(e, op);
    bool runs_on = op_flag(op, AT_FLIGHT);
    sync_before_access(e, op); /* what `settles` waits for, behind the left operand: the target's affair */
    if (op_flag(op, AT_COVERS) && !d.row->is_async) skew_cover(e);
    dot_open(&d);
    if (!runs_on) emit_block(e);
    if (d.row->warps)
        e->target->multiply(&d);
    else
        multiply_fma(&d, dot_sum_type(d.type));
    if (runs_on) return; /* who waits for it ends it */
    cs_close(&e->p);
    close_accumulator(&d);
    dot_say(&d);
}
