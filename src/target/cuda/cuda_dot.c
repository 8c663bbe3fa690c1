/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_dot.c: products by wgmma and mma.sync (simt_dot.c has what stands around them).
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
        a = ex(e->arena, "%s + kk * 4 + %lld", left, (long long)(part << ll_log2(d->k)) / (2 * dot_left_each(d)));
    else
        a = descriptor(d, 0, m, &step_a), a = ex(e->arena, "tw_desc_step(%p, %p)", a, step_a);
    cs_line(&e->p, "%s(%p, %p, tw_desc_step(%p, %p), %p);", define_form(d, n), sum, a, b, step_b, accumulate);
}

static long long k_steps(const Dot *d) { return (d->k + d->row->k - 1) / d->row->k; }

static int width_of(const Dot *d) { return (int)op_int(d->op, AT_WIDTH, d->row->n_most); }

static int columns_at(Share s, int64_t at, int most) { return (int)(s.columns - at < most ? s.columns - at : most); }

/* What the descriptors are for. */
static void note_wgmma(Dot *d, const char *left) {
    Emit *e = d->e;
    const char *a = purpose_tile(e, d->op->operands[0]), *b = purpose_tile(e, d->op->operands[1]);
    const char *where = left ? arena_printf(e->arena, "%s lies in registers, ", a) : "";
    const char *part = d->along_m == 1 ? "columns" : d->along_n == 1 ? "rows" : "part";
    const char *own = d->along_m * d->along_n == 1 ? "" : arena_printf(e->arena, ", each warpgroup its own %s", part);
    cs_note(&e->p, "%s times %s%s, %d along K a step: %swhere step kk of %s begins in shared memory", a, b, own,
            d->row->k, where, left ? b : "both");
}

static void issue_wgmma(Dot *d, const char *left) {
    Emit *e = d->e;
    Share s = share_of(d);
    note_wgmma(d, left);
    cs_line(&e->p, "tw_wgmma_fence();");
    cs_loop(&e->p, "#pragma unroll", "kk", 0, k_steps(d), 1);
    for (int64_t part = 0; part < s.parts; part++)
        for (int64_t at = 0; at < s.columns; at += width_of(d))
            multiply(d, left, part, at, columns_at(s, at, width_of(d)),
                     ex(e->arena, "%s + %lld", d->acc, (long long)(part * s.stride + at / 2)),
                     d->fresh ? ex(e->arena, "kk > 0") : &expr_true);
    cs_close(&e->p);
}

static void wait_for(Emit *e, const char *sum) {
    cs_line(&e->p, "tw_wgmma_wait(0);");
    cs_line(&e->p, "tw_wgmma_settle(%s);", sum);
}

/* Every so many k-steps into sums of their own, from zero on, and those to the accumulator. */
static void promote_wgmma(Dot *d, const char *left) {
    Emit *e = d->e;
    Share s = share_of(d);
    note_wgmma(d, left);
    for (int64_t part = 0; part < s.parts; part++)
        for (int64_t at = 0; at < s.columns; at += width_of(d)) {
            int n = columns_at(s, at, width_of(d));
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
    emit_find(e, d->op, FIND_DOT_PROMOTED, (long long)d->every * d->row->k, columns_at(s, 0, width_of(d)) / 2);
}

/* The product of the trip before is waited for; its left operand's registers are those of this trip's now. */
static const char *take_over(Dot *d, const char *next) {
    Emit *e = d->e;
    const char *left = cuda_of(e)->left;
    cs_line(&e->p, "tw_wgmma_wait(0);");
    cs_line(&e->p, "tw_wgmma_take(%s, %s, %s);", left, next, cuda_of(e)->zero);
    return left;
}

static void issue(Dot *d) {
    const char *left = dot_left_declare(d, false);
    dot_left_pack(d, left);
    if (d->every) {
        promote_wgmma(d, left);
        return;
    }
    if (op_flag(d->op, AT_SETTLES)) left = take_over(d, left);
    issue_wgmma(d, left);
    cs_line(&d->e->p, "tw_wgmma_commit();");
}

/* The product is issued: the one that joined it is waited for, and itself if it joins no other and does not stay in
 * flight; neither, if the next one adds to its sum. */
static void wait_for_issued(Dot *d) {
    CudaEmit *cuda = cuda_of(d->e);
    bool joins = op_flag(d->op, AT_JOINS), flies = op_flag(d->op, AT_FLIGHT);
    if (dot_is_continued(d->op) || (flies && !cuda->joined)) return;
    if (op_flag(d->op, AT_SPANS)) {
        cuda->spanning = d->acc;
        cuda->span_end = dot_span(d->e->k, d->op);
        return;
    }
    if (!joins || cuda->joined) cs_line(&d->e->p, "tw_wgmma_wait(%d);", joins || flies);
    if (cuda->joined) cs_line(&d->e->p, "tw_wgmma_settle(%s);", cuda->joined);
    if (!joins && !flies) cs_line(&d->e->p, "tw_wgmma_settle(%s);", d->acc);
    if (!joins || cuda->joined) roles_settle_late(d->e);
    cuda->joined = joins ? d->acc : NULL;
}

void dot_end_span(Emit *e, const Op *op) {
    CudaEmit *cuda = cuda_of(e);
    if (!cuda->spanning || cuda->span_end != op) return;
    wait_for(e, cuda->spanning);
    if (cuda->joined) cs_line(&e->p, "tw_wgmma_settle(%s);", cuda->joined);
    roles_settle_late(e);
    cuda->joined = cuda->spanning = NULL;
}

void dot_multiply(Dot *d) {
    if (!d->row->is_async) {
        dot_emit_mma(d);
        return;
    }
    issue(d);
    if (op_flag(d->op, AT_COVERS)) skew_cover(d->e);
    if (d->every)
        roles_settle_late(d->e);
    else
        wait_for_issued(d);
}

const char *dot_issue(Emit *e, const Op *op) {
    Dot d = dot_of(e, op);
    dot_open(&d);
    emit_block(e);
    issue(&d);
    cs_close(&e->p);
    dot_say(&d);
    return d.acc;
}

void dot_issue_at(Emit *e, const Op *op, const char *accumulator) {
    Dot d = dot_of(e, op);
    d.acc = accumulator;
    d.fresh = op_flag(op, AT_FRESH);
    emit_block(e);
    issue(&d);
    cs_close(&e->p);
    dot_say(&d);
}

const char *dot_declare_left(Emit *e, const Op *op) {
    Dot d = dot_of(e, op);
    return dot_left_declare(&d, op_flag(op, AT_SETTLES));
}

void dot_pack_left(Emit *e, const Op *op, const char *words) {
    Dot d = dot_of(e, op);
    dot_left_pack(&d, words);
}

void dot_issue_onto(Emit *e, const Op *op, const char *accumulator, const char *left) {
    Dot d = dot_of(e, op);
    d.acc = accumulator;
    d.fresh = op_flag(op, AT_FRESH);
    issue_wgmma(&d, left);
    cs_line(&e->p, "tw_wgmma_commit();");
    dot_say(&d);
}
