/* cuda_dot.c: dot by wgmma, mma.sync or fma, operands in shared memory, accumulators in registers.
 *
 * The order of the sum is k ascending in steps of the instruction, chained in the accumulator, in
 * every execution of a kernel; so a loop over k gives the same bits flat, pipelined and with roles.
 *
 *     tw_wgmma_fence();
 *     for (int k = 0; k < 4; k++)
 *         tw_wgmma_ss_256_bf16_01(.., tw_desc_step(da, k * 32), tw_desc_step(db, k * 2048), true);
 *     tw_wgmma_commit();  tw_wgmma_wait(0); tw_wgmma_settle(acc);
 *
 * wgmma sums products of f8 in about 14 bits. Where the op asks for more (`promote`), parts of K go
 * into registers of their own, which are then added to the accumulator. */
#include "target/cuda/cuda_dot.h"

#include <string.h>

static Dot dot_of(Emit *e, const Op *op) {
    Dot d = {.e = e, .op = op, .row = matrix_of(e->k, op)};
    const Type *a = ir_type(e->k, op->operands[0]);
    d.type = ir_type(e->k, op->results[0]);
    d.layout = emit_layout(e, op->results[0]);
    d.m = d.type->extent[0];
    d.n = d.type->extent[1];
    d.k = a->extent[1];
    int64_t promote = matrix_promote(e->k, op);
    if (d.row->promotes && promote < INT64_MAX) d.every = (int)((promote + d.row->k - 1) / d.row->k);
    if (d.row->warps) layout_dot_grid(e->k, op, e->group.warps, &d.along_m, &d.along_n);
    for (int i = 0; i < 2; i++) {
        const Layout *layout = emit_layout(e, op->operands[i]);
        d.tile[i] = layout->home == HOME_SHARED ? &layout->tile : NULL;
        d.offset[i] = emit_hold(e, op->operands[i])->by;
    }
    return d;
}

/* offset + by, `first` as it is in `by`; without the terms that are 0. */
static const Expr *shifted(Dot *d, const Expr *offset, const Expr *first, const Expr *by) {
    if (ex_is_int(first, 0)) return offset;
    return ex_is_int(offset, 0) ? by : ex_sum(d->e->arena, offset, by);
}

/* --- wgmma --- */
/* The descriptor of operand i, from element `first` along M or N on, and how many bytes one k-step moves it. */
static const Expr *descriptor(Dot *d, int i, const Expr *first, const Expr **step) {
    Emit *e = d->e;
    const SharedTile *t = d->tile[i];
    bool k_major = (i == 0) != t->turned;
    long long panel = t->panel;
    int per = t->width / t->elem_bytes;
    if (k_major) {
        int bytes = d->row->k * t->elem_bytes, steps = t->width / bytes; /* of a k-step, in one panel */
        bool more = d->k > per;
        *step = more ? ex(e->arena, "(kk / %d * %lld + kk %% %d * %d)", steps, panel, steps, bytes)
                     : ex(e->arena, "kk * %d", bytes);
        const Expr *line = shifted(d, d->offset[i], first, ex(e->arena, "%p * %d", first, t->width));
        return ex(e->arena, "tw_desc_k(%p, %d)", line, t->width);
    }
    *step = ex(e->arena, "kk * %d", d->row->k * t->width);
    const Expr *start = shifted(d, d->offset[i], first, ex(e->arena, "%p / %d * %lld", first, per, panel));
    return ex(e->arena, "tw_desc_mn(%p, %d, %lld)", start, t->width, panel);
}

static const char *define_form(Dot *d, int n) {
    Emit *e = d->e;
    const char *elem = d->row->spelling;
    int ta = d->tile[0] && d->tile[0]->turned, tb = !d->tile[1]->turned;
    const char *form = d->tile[0] ? arena_printf(e->arena, "TW_WGMMA_SS(%d, %s, %d, %d)", n, elem, ta, tb)
                                  : arena_printf(e->arena, "TW_WGMMA_RS(%d, %s, %d)", n, elem, tb);
    if (!map_find(&cuda_of(e)->forms, form, strlen(form))) {
        map_set(&cuda_of(e)->forms, e->arena, form, (void *)form);
        cs_line_of(&e->p, &cuda_of(e)->forms_lines, 0, "%p", ex_atom(e->arena, form));
    }
    return d->tile[0] ? arena_printf(e->arena, "tw_wgmma_ss_%d_%s_%d%d", n, elem, ta, tb)
                      : arena_printf(e->arena, "tw_wgmma_rs_%d_%s_%d", n, elem, tb);
}

static const char *declare_left(Dot *d) {
    Emit *e = d->e;
    if (d->tile[0]) return NULL;
    const char *words = cs_fresh(&e->p, "left");
    cs_line(&e->p, "u32 %s[%d];", words, emit_layout(e, d->op->operands[0])->registers / 2);
    return words;
}

/* A as the instruction takes it: two elements a word. */
static void pack_left(Dot *d, const char *words) {
    Emit *e = d->e;
    Ref a = d->op->operands[0];
    const char *elem = d->row->spelling;
    if (!words) return;
    const Op *cast = ir_value(e->k, a)->op;
    bool round = cast && op_flag(cast, AT_PACKED);
    const Expr *from = emit_hold(e, round ? cast->operands[0] : a)->by;
    emit_unroll(e, "r", emit_layout(e, a)->registers / 2, 1);
    cs_line(&e->p, "%s[r] = tw_pack%s%s(%p[2 * r], %p[2 * r + 1]);", words, round ? "_" : "", round ? elem : "", from,
            from);
    cs_close(&e->p);
}

/* What one warpgroup computes: parts of the instruction's rows, one instruction for every `most` columns. */
typedef struct Share {
    int64_t columns, parts;
    int64_t stride; /* registers from one part to the next */
} Share;

static Share share_of(const Dot *d) {
    int64_t columns = d->along_n == 1 ? (d->n + d->row->n - 1) / d->row->n * d->row->n : d->n / d->along_n;
    return (Share){.columns = columns,
                   .parts = (((int64_t)1 << d->layout->map.log2[0]) / d->row->m) / d->along_m,
                   .stride = ((int64_t)1 << ll_log2(columns)) / 2};
}

/* The instruction of k-step kk for n columns from `at` on. */
static void multiply(Dot *d, const char *left, int64_t part, int64_t at, int n, const Expr *sum,
                     const Expr *accumulate) {
    Emit *e = d->e;
    int am = ll_log2(d->along_m), group = ll_log2(d->row->warps), rows = d->row->m;
    const Expr *gm = d->along_m == 1 ? NULL : ex(e->arena, "(warp >> %d & %d)", group, d->along_m - 1);
    const Expr *gn = d->along_n == 1 ? NULL : ex(e->arena, "(warp >> %d & %d)", group + am, d->along_n - 1);
    long long row = rows * d->along_m * part;
    const Expr *m = !gm   ? ex_int(e->arena, row)
                    : row ? ex(e->arena, "(%lld + %p * %d)", row, gm, rows)
                          : ex(e->arena, "%p * %d", gm, rows);
    const Expr *first = gn ? ex(e->arena, "(%p * %lld + %lld)", gn, (long long)share_of(d).columns, (long long)at)
                           : ex_int(e->arena, at);
    const Expr *step_a, *step_b, *b = descriptor(d, 1, first, &step_b), *a;
    if (left)
        a = ex(e->arena, "%s + kk * 4 + %lld", left, (long long)(part << ll_log2(d->k)) / 4);
    else
        a = descriptor(d, 0, m, &step_a), a = ex(e->arena, "tw_desc_step(%p, %p)", a, step_a);
    cs_line(&e->p, "%s(%p, %p, tw_desc_step(%p, %p), %p);", define_form(d, n), sum, a, b, step_b, accumulate);
}

static long long k_steps(const Dot *d) { return (d->k + d->row->k - 1) / d->row->k; }

static int columns_at(Share s, int64_t at, int most) { return (int)(s.columns - at < most ? s.columns - at : most); }

static void issue_wgmma(Dot *d, const char *left) {
    Emit *e = d->e;
    Share s = share_of(d);
    cs_line(&e->p, "tw_wgmma_fence();");
    cs_loop(&e->p, "#pragma unroll", "kk", 0, k_steps(d), 1);
    for (int64_t part = 0; part < s.parts; part++)
        for (int64_t at = 0; at < s.columns; at += d->row->n_most)
            multiply(d, left, part, at, columns_at(s, at, d->row->n_most),
                     ex(e->arena, "%s + %lld", d->acc, (long long)(part * s.stride + at / 2)),
                     d->fresh ? ex(e->arena, "kk > 0") : &expr_true);
    cs_close(&e->p);
}

/* Columns of an instruction whose sums are added in f32: half the registers of the widest. */
static int promoted_columns(const Dot *d) { return d->row->n_most / 2; }

static void wait_for(Emit *e, const char *sum) {
    cs_line(&e->p, "tw_wgmma_wait(0);");
    cs_line(&e->p, "tw_wgmma_settle(%s);", sum);
}

/* Every so many k-steps into sums of their own, from zero on, and those to the accumulator. */
static void promote_wgmma(Dot *d, const char *left) {
    Emit *e = d->e;
    Share s = share_of(d);
    for (int64_t part = 0; part < s.parts; part++)
        for (int64_t at = 0; at < s.columns; at += promoted_columns(d)) {
            int n = columns_at(s, at, promoted_columns(d));
            emit_block(e);
            cs_line(&e->p, "f32 some[%d];", n / 2);
            cs_loop(&e->p, "#pragma unroll", "from", 0, k_steps(d), d->every);
            cs_line(&e->p, "tw_wgmma_fence();");
            cs_raw(&e->p, "#pragma unroll");
            if (k_steps(d) % d->every)
                cs_open(&e->p, "for (int kk = from; kk < tw_min(from + %d, %lld); kk++)", d->every, k_steps(d));
            else
                cs_open(&e->p, "for (int kk = from; kk < from + %d; kk++)", d->every);
            multiply(d, left, part, at, n, ex_name(e->arena, "some"), ex(e->arena, "kk > from"));
            cs_close(&e->p);
            cs_line(&e->p, "tw_wgmma_commit();");
            wait_for(e, "some");
            emit_unroll(e, "r", n / 2, 1);
            cs_line(&e->p, "%s[%lld + r] += some[r];", d->acc, (long long)(part * s.stride + at / 2));
            cs_close(&e->p);
            cs_close(&e->p);
            cs_close(&e->p);
        }
    emit_find(e, d->op, FIND_DOT_PROMOTED, (long long)d->every * d->row->k, columns_at(s, 0, promoted_columns(d)) / 2);
}

const Expr *dot_matrix_at(Dot *d, int i, const Expr *row, const Expr *column) {
    return shared_at(d->e, d->tile[i], d->offset[i], row, column);
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

static void emit_fma(Dot *d, const char *sum) {
    Emit *e = d->e;
    const LinearLayout *map = &d->layout->map;
    uint32_t coords[LL_MAX_BITS], rows[LL_MAX_BITS], columns[LL_MAX_BITS];
    dim_bits(map, 0, coords, rows);
    dim_bits(map, 1, coords, columns);
    const char *a = cs_fresh(&e->p, "left"), *b = cs_fresh(&e->p, "right");
    cs_loop(&e->p, "#pragma unroll 4", "kk", 0, d->k, 1);
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
static const char *sum_type(const Type *type) {
    if (elem_is_float(type->elem)) return type->elem == EL_F64 ? "f64" : "f32";
    bool wide = elem_info[type->elem].bits == 64;
    if (elem_is_signed(type->elem)) return wide ? "i64" : "i32";
    return wide ? "u64" : "u32";
}

static bool is_sum_type(const Type *type) { return elem_info[type->elem].bits >= 32; }

static bool is_zero(Emit *e, Ref c) {
    const Op *splat = ir_value(e->k, c)->op;
    return splat && splat->code == OP_SPLAT && ref_is_literal(splat->operands[0]) &&
           ir_literal(e->k, splat->operands[0])->i == 0; /* all bits: -0.0 is another number */
}

/* The accumulator, with c in it: c's own array where nobody needs c afterwards. */
static void open_accumulator(Dot *d) {
    Emit *e = d->e;
    Ref c = d->op->operands[2], result = d->op->results[0];
    if (is_sum_type(d->type) && emit_may_reuse(e, c, d->op)) {
        d->acc = emit_hold(e, c)->by->text;
        emit_set_name(e, result, HOLD_ARRAY, d->acc);
        return;
    }
    if (is_sum_type(d->type)) {
        d->acc = emit_declare(e, result);
        d->fresh = d->row->is_async && !d->every && (d->n & (d->n - 1)) == 0 && d->n >= d->row->n && is_zero(e, c);
        if (d->fresh) return; /* the first step writes it */
    } else {
        d->acc = cs_fresh(&e->p, "sum");
        cs_line(&e->p, "%s %s[%d];", sum_type(d->type), d->acc, d->layout->registers);
    }
    emit_unroll(e, "r", d->layout->registers, 1);
    cs_line(&e->p, "%s[r] = %p;", d->acc, elementwise_operand(e, c, d->layout, &place_r));
    cs_close(&e->p);
}

static void close_accumulator(Dot *d) {
    Emit *e = d->e;
    if (is_sum_type(d->type)) return;
    const char *array = emit_declare(e, d->op->results[0]);
    emit_unroll(e, "r", d->layout->registers, 1);
    cs_line(&e->p, "%s[r] = %p;", array, cs_pack(&e->p, d->type->elem, ex(e->arena, "%s[r]", d->acc)));
    cs_close(&e->p);
}

/* Operands in a ring's slot have been waited for. */
static bool in_ring(Emit *e, Ref operand) {
    const Op *from = ir_value(e->k, operand)->op;
    while (from && from->code == OP_PERMUTE) from = ir_value(e->k, from->operands[0])->op;
    return from && from->code == OP_GET;
}

static void say(Dot *d) {
    int along[2] = {d->along_m, d->along_n};
    for (int i = 0; i < 2 && !d->row->warps; i++) along[i] = warps_along(&d->layout->map, i);
    emit_find(d->e, d->op, FIND_DOT_GRID, word_info[d->row->instr].text, along[0], along[1],
              d->row->warps > 1 ? "warpgroups" : "warps");
}

static void issue(Dot *d) {
    const char *left = declare_left(d);
    pack_left(d, left);
    if (d->every) {
        promote_wgmma(d, left);
        return;
    }
    issue_wgmma(d, left);
    cs_line(&d->e->p, "tw_wgmma_commit();");
}

static bool reads_scratch(Emit *e, const Dot *d) {
    return (d->tile[0] && !in_ring(e, d->op->operands[0])) || !in_ring(e, d->op->operands[1]);
}

bool dot_reads_scratch(Emit *e, const Op *op) {
    Dot d = dot_of(e, op);
    return reads_scratch(e, &d);
}

void dot_emit(Emit *e, const Op *op) {
    Dot d = dot_of(e, op);
    bool read = reads_scratch(e, &d);
    if (read) shared_before_read(e);
    if (op_flag(op, AT_FLIGHT)) {
        e->dot_reads = read;
        open_accumulator(&d);
        issue(&d);
        return;
    }
    open_accumulator(&d);
    emit_block(e);
    if (d.row->is_async) {
        issue(&d);
        if (!d.every) wait_for(e, d.acc);
    } else if (d.row->warps) {
        dot_emit_mma(&d);
    } else {
        emit_fma(&d, sum_type(d.type));
    }
    cs_close(&e->p);
    close_accumulator(&d);
    say(&d);
}

const char *dot_issue(Emit *e, const Op *op) {
    Dot d = dot_of(e, op);
    open_accumulator(&d);
    emit_block(e);
    issue(&d);
    cs_close(&e->p);
    say(&d);
    return d.acc;
}

const char *dot_declare_left(Emit *e, const Op *op) {
    Dot d = dot_of(e, op);
    return declare_left(&d);
}

void dot_pack_left(Emit *e, const Op *op, const char *words) {
    Dot d = dot_of(e, op);
    pack_left(&d, words);
}

void dot_issue_onto(Emit *e, const Op *op, const char *accumulator, const char *left) {
    Dot d = dot_of(e, op);
    d.acc = accumulator;
    issue_wgmma(&d, left);
    cs_line(&e->p, "tw_wgmma_commit();");
    say(&d);
}
