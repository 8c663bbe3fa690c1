/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_mma.c: dot by mma.sync: fragments from shared memory, a product of 16 x 8 at a time. How they come the dot says
 * (`left`, `right`: pass/schedule/schedule_dot.c): by ldmatrix, in its transposing form where the operand runs across
 * K, or number by number:
 *
 *     for (int kk = 0; kk < 64; kk += 16) {
 *         tw_ldmatrix_x4(fa[i], ..);  tw_ldmatrix_x4_trans(fb, ..);
 *         tw_mma_bf16(acc + 4 * (j + i * 4), fa[i], fb);  tw_mma_bf16(acc + 4 * (j + 1 + i * 4), fa[i], fb + 2);
 *     } */
#include "target/cuda/cuda_dot.h"

/* Register q of a fragment whose elements do not lie side by side: n elements of the word from k
 * on, at `across` along M or N. */
static void gather_word(Dot *d, int i, const Expr *word, const Expr *k, const Expr *across) {
    Emit *e = d->e;
    int bytes = d->tile[i]->elem_bytes;
    if (bytes == 4) {
        cs_line(&e->p, "tw_lds(1, &%p, %p);", word, dot_matrix_at(d, i, k, across));
        return;
    }
    cs_line(&e->p, "%p = 0;", word);
    cs_loop(&e->p, "#pragma unroll", "b", 0, 4, 1);
    cs_line(&e->p, "u8 cell;");
    cs_line(&e->p, "tw_lds(1, &cell, %p);", dot_matrix_at(d, i, ex(e->arena, "%p + b", k), across));
    cs_line(&e->p, "%p |= (u32)cell << 8 * b;", word);
    cs_close(&e->p);
}

/* The fragment of A from row `row` on: rows g, g + 8; words at k = n t, n t + 4 n. */
static void load_left(Dot *d, const Expr *row) {
    Emit *e = d->e;
    int chunk = d->row->k / 2; /* elements in 16 bytes */
    bool by_matrix = op_word(d->op, AT_LEFT, FETCH_WORDS) == FETCH_MATRIX;
    if (by_matrix && !d->tile[0]->turned) {
        cs_line(
            &e->p, "tw_ldmatrix_x4(fa[i], %p);",
            dot_matrix_at(d, 0, ex(e->arena, "%p + (lane & 15)", row), ex(e->arena, "kk + (lane >> 4) * %d", chunk)));
    } else if (by_matrix) {
        cs_line(&e->p, "tw_ldmatrix_x4_trans(fa[i], %p);",
                dot_matrix_at(d, 0, ex(e->arena, "kk + (lane & 7) + (lane >> 4) * 8"),
                              ex(e->arena, "%p + (lane >> 3 & 1) * 8", row)));
    } else {
        emit_unroll(e, "q", 4, 1);
        gather_word(d, 0, ex(e->arena, "fa[i][q]"),
                    ex(e->arena, "kk + (lane & 3) * %d + (q >> 1) * %d", chunk / 4, chunk),
                    ex(e->arena, "%p + (lane >> 2) + (q & 1) * 8", row));
        cs_close(&e->p);
    }
}

/* The fragment of B at k, from column `column` on: column g; words at k + n t, k + n t + 4 n. Two (x4) are this one and
 * that which the upper half of the lanes is told of. */
static void load_right(Dot *d, const Expr *k, const Expr *column, int count) {
    Emit *e = d->e;
    int chunk = d->row->k / 2;
    bool by_matrix = op_word(d->op, AT_RIGHT, FETCH_WORDS) != FETCH_WORDS;
    if (by_matrix && d->tile[1]->turned) {
        cs_line(&e->p, "tw_ldmatrix_x%d(fb, %p);", 2 * count,
                dot_matrix_at(d, 1, ex(e->arena, "%p + (lane & 7)", column),
                              ex(e->arena, "%p + (lane >> 3 & 1) * %d", k, chunk)));
    } else if (by_matrix) {
        cs_line(&e->p, "tw_ldmatrix_x%d_trans(fb, %p);", 2 * count,
                dot_matrix_at(d, 1, ex(e->arena, "%p + (lane & 15)", k), column));
    } else {
        emit_unroll(e, "q", 2, 1);
        gather_word(d, 1, ex(e->arena, "fb[q]"), ex(e->arena, "%p + (lane & 3) * %d + q * %d", k, chunk / 4, chunk),
                    ex(e->arena, "%p + (lane >> 2)", column));
        cs_close(&e->p);
    }
}

/* How the product is cut: tiles of the instruction that a warp has. */
typedef struct Tiles {
    int64_t m, n;
    bool odd_m, odd_n; /* some of them lie beyond the matrix */
} Tiles;

static Tiles tiles_of(const Dot *d) {
    const LinearLayout *map = &d->layout->map;
    int64_t m = ((int64_t)1 << map->log2[0]) / d->row->m / d->along_m;
    int64_t n = ((int64_t)1 << map->log2[1]) / d->row->n / d->along_n;
    return (Tiles){.m = m < 1 ? 1 : m, .n = n < 1 ? 1 : n, .odd_m = d->m & (d->m - 1), .odd_n = d->n & (d->n - 1)};
}

static const Expr *open_rows(Dot *d, const Tiles *t) {
    Emit *e = d->e;
    (t->odd_m ? emit_unroll_real : emit_unroll)(e, "i", (int)t->m, 1);
    const Expr *row = ex(e->arena, "wm + i * %d", d->row->m * d->along_m);
    if (t->odd_m) cs_line(&e->p, "if (%p >= %lld) continue;", row, (long long)d->m);
    return row;
}

static void fetch_left(Dot *d, const Tiles *t) {
    cs_line(&d->e->p, "u32 fa[%lld][4];", (long long)t->m);
    load_left(d, open_rows(d, t));
    cs_close(&d->e->p);
}

/* The tile of row i and column j. */
static void multiply_tile(Dot *d, const Tiles *t, const Expr *j, const Expr *fragment) {
    Emit *e = d->e;
    cs_line(&e->p, "tw_mma_%s(%s + 4 * (%p + i * %lld), fa[i], %p);", d->row->spelling, d->acc, j, (long long)t->n,
            fragment);
}

/* One column of tiles: B for two steps of k, then A for each. */
static void multiply_steps(Dot *d, const Tiles *t, int step) {
    Emit *e = d->e;
    cs_loop(&e->p, "#pragma unroll", "from", 0, d->k, 2 * step);
    cs_line(&e->p, "u32 fb[4];");
    load_right(d, ex(e->arena, "from + (lane >> 4) * %d", step), ex_name(e->arena, "wn"), 2);
    cs_raw(&e->p, "#pragma unroll");
    cs_open(&e->p, "for (int kk = from; kk < from + %d; kk += %d)", 2 * step, step);
    fetch_left(d, t);
    open_rows(d, t);
    multiply_tile(d, t, &expr_zero, ex(e->arena, "fb + (kk - from) / %d", step / 2));
    cs_close(&e->p);
    cs_close(&e->p);
    cs_close(&e->p);
}

void dot_emit_mma(Dot *d) {
    Emit *e = d->e;
    const LinearLayout *map = &d->layout->map;
    Tiles t = tiles_of(d);
    int rows = d->row->m, columns = d->row->n, step = d->row->k, next = columns * d->along_n;
    int64_t fit_m = ((int64_t)1 << map->log2[0]) / rows, fit_n = ((int64_t)1 << map->log2[1]) / columns;
    cs_note(&e->p,
            "%s times %s: the first row and column of this warp's share; fa, fb: words of both, each from the lane's "
            "own place",
            purpose_tile(e, d->op->operands[0]), purpose_tile(e, d->op->operands[1]));
    cs_line(&e->p, "const i32 wm = (warp & %d) %% %lld * %d, wn = (warp >> %d & %d) %% %lld * %d;", d->along_m - 1,
            (long long)fit_m, rows, ll_log2(d->along_m), d->along_n - 1, (long long)fit_n, columns);
    Word right = op_word(d->op, AT_RIGHT, FETCH_WORDS);
    int at_once = right == FETCH_COLUMNS ? 2 : 1; /* fragments of B, side by side */
    if (right == FETCH_STEPS) {
        multiply_steps(d, &t, step);
        return;
    }
    cs_loop(&e->p, "#pragma unroll", "kk", 0, (d->k + step - 1) / step * step, step);
    fetch_left(d, &t);
    (t.odd_n ? emit_unroll_real : emit_unroll)(e, "j", (int)t.n, at_once);
    const Expr *column = ex(e->arena, "wn + j * %d", next);
    if (t.odd_n) cs_line(&e->p, "if (%p >= %lld) continue;", column, (long long)d->n);
    cs_line(&e->p, "u32 fb[%d];", 2 * at_once);
    if (at_once == 2) column = ex(e->arena, "%p + (lane >> 4) * %d", column, next);
    load_right(d, ex_name(e->arena, "kk"), column, at_once);
    open_rows(d, &t);
    multiply_tile(d, &t, ex_name(e->arena, "j"), ex_name(e->arena, "fb"));
    if (at_once == 2) multiply_tile(d, &t, ex(e->arena, "j + 1"), ex(e->arena, "fb + 2"));
    cs_close(&e->p);
    cs_close(&e->p);
    cs_close(&e->p);
}
