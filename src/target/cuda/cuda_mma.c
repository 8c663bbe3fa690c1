/* cuda_mma.c: dot by mma.sync: fragments from shared memory, a product of 16 x 8 at a time.
 *
 * An operand that is contiguous along K comes by ldmatrix, which moves rows of 16 bytes whatever
 * the elements are; 16-bit elements that run along M or N by its transposing form; others of those
 * one by one:
 *
 *     for (int kk = 0; kk < 64; kk += 16) {
 *         tw_ldmatrix_x4(fa[i], ..);  tw_ldmatrix_x2_trans(fb, ..);
 *         tw_mma_bf16(acc + 4 * (j + i * 4), fa[i], fb);
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
    if (!d->tile[0]->turned) {
        cs_line(
            &e->p, "tw_ldmatrix_x4(fa[i], %p);",
            dot_matrix_at(d, 0, ex(e->arena, "%p + (lane & 15)", row), ex(e->arena, "kk + (lane >> 4) * %d", chunk)));
    } else if (d->tile[0]->elem_bytes == 2) {
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

/* The fragment of B from column `column` on: column g; words at k = n t, n t + 4 n. */
static void load_right(Dot *d, const Expr *column) {
    Emit *e = d->e;
    int chunk = d->row->k / 2;
    if (d->tile[1]->turned) {
        cs_line(&e->p, "tw_ldmatrix_x2(fb, %p);",
                dot_matrix_at(d, 1, ex(e->arena, "%p + (lane & 7)", column),
                              ex(e->arena, "kk + (lane >> 3 & 1) * %d", chunk)));
    } else if (d->tile[1]->elem_bytes == 2) {
        cs_line(&e->p, "tw_ldmatrix_x2_trans(fb, %p);", dot_matrix_at(d, 1, ex(e->arena, "kk + (lane & 15)"), column));
    } else {
        emit_unroll(e, "q", 2, 1);
        gather_word(d, 1, ex(e->arena, "fb[q]"), ex(e->arena, "kk + (lane & 3) * %d + q * %d", chunk / 4, chunk),
                    ex(e->arena, "%p + (lane >> 2)", column));
        cs_close(&e->p);
    }
}

void dot_emit_mma(Dot *d) {
    Emit *e = d->e;
    const LinearLayout *map = &d->layout->map;
    int am = ll_log2(d->along_m);
    int rows = d->row->m, columns = d->row->n, step = d->row->k;
    int64_t fit_m = ((int64_t)1 << map->log2[0]) / rows, fit_n = ((int64_t)1 << map->log2[1]) / columns;
    int64_t tiles_m = fit_m / d->along_m, tiles_n = fit_n / d->along_n;
    if (tiles_m < 1) tiles_m = 1;
    if (tiles_n < 1) tiles_n = 1;
    bool odd_m = d->m & (d->m - 1), odd_n = d->n & (d->n - 1);
    cs_line(&e->p, "const i32 wm = (warp & %d) %% %lld * %d, wn = (warp >> %d & %d) %% %lld * %d;", d->along_m - 1,
            (long long)fit_m, rows, am, d->along_n - 1, (long long)fit_n, columns);
    cs_loop(&e->p, "#pragma unroll", "kk", 0, (d->k + step - 1) / step * step, step);
    cs_line(&e->p, "u32 fa[%lld][4];", (long long)tiles_m);
    (odd_m ? emit_unroll_real : emit_unroll)(e, "i", (int)tiles_m, 1);
    const Expr *row = ex(e->arena, "wm + i * %d", rows * d->along_m);
    if (odd_m) cs_line(&e->p, "if (%p >= %lld) continue;", row, (long long)d->m);
    load_left(d, row);
    cs_close(&e->p);
    (odd_n ? emit_unroll_real : emit_unroll)(e, "j", (int)tiles_n, 1);
    const Expr *column = ex(e->arena, "wn + j * %d", columns * d->along_n);
    if (odd_n) cs_line(&e->p, "if (%p >= %lld) continue;", column, (long long)d->n);
    cs_line(&e->p, "u32 fb[2];");
    load_right(d, column);
    (odd_m ? emit_unroll_real : emit_unroll)(e, "i", (int)tiles_m, 1);
    if (odd_m) cs_line(&e->p, "if (%p >= %lld) continue;", row, (long long)d->m);
    cs_line(&e->p, "tw_mma_%s(%s + 4 * (j + i * %lld), fa[i], fb);", d->row->spelling, d->acc, (long long)tiles_n);
    cs_close(&e->p);
    cs_close(&e->p);
    cs_close(&e->p);
}
