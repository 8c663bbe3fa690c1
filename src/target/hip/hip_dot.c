/* hip_dot.c: dot by MFMA and WMMA: fragments from the LDS, a tile of the instruction at a time. Where elements of a
 * fragment lie is the row's (matrix.def): a lane has some elements side by side along K, which come in words of 16
 * bytes where the tile runs along K, and one by one where it runs across:
 *
 *     for (int kk = 0; kk < 64; kk += 16) {
 *         u32 fa[2][4];  tw_lds(4, fa[i], ..);
 *         u32 fb[4];     tw_lds(4, fb, ..);
 *         tw_mfma_32x32_bf16(acc + 16 * (j + i * 2), fa[i], fb);
 *     } */
#include "target/hip/hip_dot.h"

enum { WORD_BYTES = 4, READ_BYTES = 16 };

static const Fragment *fragment_of(const Dot *d, int i) { return &fragments[i ? d->row->b_in : d->row->a_in]; }
static int bytes_of(const Dot *d, int i) { return ty_elem_bytes(ir_type(d->e->k, d->op->operands[i])); }
static int words_of(const Dot *d, int i) { return (bytes_of(d, i) << fragment_of(d, i)->registers) / WORD_BYTES; }

/* What the lane decides of the place along K, or along M (of A), N (of B). */
static const Expr *lane_part(const Dot *d, int i, bool along_k) {
    const Fragment *f = fragment_of(d, i);
    uint32_t masks[LL_MAX_BITS];
    for (int b = 0; b < f->lanes; b++) {
        bool row = (i == 0) != along_k;
        masks[b] = row ? f->at[f->registers + b].row : f->at[f->registers + b].column;
    }
    return place_bits(d->e->arena, &place_lane, f->lanes, masks);
}

static const Expr *stored_at(Dot *d, int i, const Expr *side, const Expr *k) {
    bool k_columns = (i == 0) != d->tile[i]->turned;
    return dot_matrix_at(d, i, k_columns ? side : k, k_columns ? k : side);
}

/* Elements of the thread one by one: whole words, or parts of them. */
static void gather(Dot *d, int i, const Expr *words, const Expr *side, const Expr *k) {
    Emit *e = d->e;
    int bytes = bytes_of(d, i), each = bytes < WORD_BYTES ? WORD_BYTES / bytes : 1, count = words_of(d, i);
    if (each == 1) {
        int wide = bytes / WORD_BYTES;
        emit_unroll(e, "q", count / wide, 1);
        const Expr *to = wide > 1 ? ex(e->arena, "%p + %d * q", words, wide) : ex(e->arena, "%p + q", words);
        cs_line(&e->p, "tw_lds(%d, %p, %p);", wide, to, stored_at(d, i, side, ex(e->arena, "%p + q", k)));
    } else {
        emit_unroll(e, "q", count, 1);
        cs_line(&e->p, "%p[q] = 0;", words);
        cs_loop(&e->p, "#pragma unroll", "b", 0, each, 1);
        cs_line(&e->p, "%s cell;", bytes == 2 ? "u16" : "u8");
        cs_line(&e->p, "tw_lds(1, &cell, %p);", stored_at(d, i, side, ex(e->arena, "%p + q * %d + b", k, each)));
        cs_line(&e->p, "%p[q] |= (u32)cell << %d * b;", words, 8 * bytes);
        cs_close(&e->p);
    }
    cs_close(&e->p);
}

/* The fragment of operand i from `first` along its side on. */
static void fetch(Dot *d, int i, const Expr *words, const Expr *first) {
    Emit *e = d->e;
    bool along_k = (i == 0) != d->tile[i]->turned;
    const Expr *side = ex(e->arena, "%p + %p", first, lane_part(d, i, false));
    const Expr *k = ex(e->arena, "kk + %p", lane_part(d, i, true));
    if (!along_k) {
        gather(d, i, words, side, k);
        return;
    }
    int per = READ_BYTES / bytes_of(d, i), reads = words_of(d, i) * WORD_BYTES / READ_BYTES;
    for (int r = 0; r < reads; r++) {
        const Expr *to = r ? ex(e->arena, "%p + %d", words, r * READ_BYTES / WORD_BYTES) : words;
        cs_line(&e->p, "tw_lds(4, %p, %p);", to, stored_at(d, i, side, r ? ex(e->arena, "%p + %d", k, r * per) : k));
    }
}

/* A loop over tiles of the instruction that the wave has along a side; some may lie beyond the matrix. */
static const Expr *open_tiles(Dot *d, const char *variable, const char *from, int64_t count, int step, int64_t extent) {
    Emit *e = d->e;
    bool odd = extent & (extent - 1);
    (odd ? emit_unroll_real : emit_unroll)(e, variable, (int)count, 1);
    const Expr *at = ex(e->arena, "%s + %s * %d", from, variable, step);
    if (odd) cs_line(&e->p, "if (%p >= %lld) continue;", at, (long long)extent);
    return at;
}

static int64_t tiles_along(const Dot *d, int dim, int side, int waves) {
    int64_t tiles = ((int64_t)1 << d->layout->map.log2[dim]) / side / waves;
    return tiles < 1 ? 1 : tiles;
}

void hip_multiply(Dot *d) {
    Emit *e = d->e;
    const Matrix *row = d->row;
    int64_t m = tiles_along(d, 0, row->m, d->along_m), n = tiles_along(d, 1, row->n, d->along_n);
    int64_t fit_m = ((int64_t)1 << d->layout->map.log2[0]) / row->m;
    int64_t fit_n = ((int64_t)1 << d->layout->map.log2[1]) / row->n;
    int sums = 1 << fragments[row->sum_in].registers, step_m = row->m * d->along_m, step_n = row->n * d->along_n;
    cs_line(&e->p, "const i32 wm = (warp & %d) %% %lld * %d, wn = (warp >> %d & %d) %% %lld * %d;", d->along_m - 1,
            (long long)fit_m, row->m, ll_log2(d->along_m), d->along_n - 1, (long long)fit_n, row->n);
    cs_loop(&e->p, "#pragma unroll", "kk", 0, (d->k + row->k - 1) / row->k * row->k, row->k);
    cs_line(&e->p, "u32 fa[%lld][%d];", (long long)m, words_of(d, 0));
    const Expr *side = open_tiles(d, "i", "wm", m, step_m, d->m);
    fetch(d, 0, ex(e->arena, "fa[i]"), side);
    cs_close(&e->p);
    const Expr *column = open_tiles(d, "j", "wn", n, step_n, d->n);
    cs_line(&e->p, "u32 fb[%d];", words_of(d, 1));
    fetch(d, 1, ex_name(e->arena, "fb"), column);
    open_tiles(d, "i", "wm", m, step_m, d->m);
    cs_line(&e->p, "tw_%s_%s(%s + %d * (j + i * %lld), fa[i], fb);", word_info[row->instr].text, row->spelling, d->acc,
            sums, (long long)n);
    cs_close(&e->p);
    cs_close(&e->p);
    cs_close(&e->p);
}
