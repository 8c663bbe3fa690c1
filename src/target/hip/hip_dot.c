/* SPDX-License-Identifier: Apache-2.0 */
/* hip_dot.c: dot by MFMA and WMMA: fragments from the LDS, a tile of the instruction at a time. Where elements of a
 * fragment lie is the row's (matrix.def): a lane has some elements side by side along K, which come in words of 16
 * bytes where the tile runs along K, and one by one where it runs across:
 *
 *     for (int kk = 0; kk < 64; kk += 16) {
 *         u32 fa[2][4];  tw_lds(4, fa[i], ..);
 *         u32 fb[4];     tw_lds(4, fb, ..);
 *         tw_mfma_32x32_bf16(acc + 16 * (j + i * 2), fa[i], fb);
 *     }
 *
 * Elements of 2 bytes that lie across K come two neighbours a word, of which each lane gives its neighbour one
 * (`traded`). Where registers allow (`early`), the fragments of a step are read under the products of the step before:
 *
 *     u32 fa[2][2][4], fb[2][2][4];  .. those of step 0
 *     for (int kk = 0; kk < 64; kk += 16) {
 *         if (kk + 16 < 64) { .. those of kk + 16, into the other half }
 *         tw_mfma_32x32_bf16(acc + 16 * (j + i * 2), fa[kk / 16 & 1][i], fb[kk / 16 & 1][j]);
 *     } */
#include "target/hip/hip_dot.h"

enum { WORD_BYTES = 4, READ_BYTES = 16, MOST_TRADED = 4 /* words */ };

/* A that lies in registers as a sum lies there decides which place along K is which. */
static const Fragment *fragment_of(const Dot *d, int i) {
    bool held = !d->tile[0] && matrix_is_spread(d->row->a_held, &emit_layout(d->e, d->op->operands[0])->map);
    return &fragments[i ? (held ? d->row->b_beside : d->row->b_in) : (held ? d->row->a_held : d->row->a_in)];
}
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

/* How far the bits of an element's number in the lane's part move it along K. */
static void steps_along_k(const Dot *d, int i, uint32_t *masks) {
    const Fragment *f = fragment_of(d, i);
    for (int b = 0; b < f->registers; b++) masks[b] = i ? f->at[b].row : f->at[b].column;
}

static const Expr *place_along_k(const Dot *d, int i, const Expr *element) {
    uint32_t masks[LL_MAX_BITS];
    steps_along_k(d, i, masks);
    return place_bits(d->e->arena, element, fragment_of(d, i)->registers, masks);
}

/* Elements that follow each other along K. */
static int run_of(const Dot *d, int i) {
    uint32_t masks[LL_MAX_BITS];
    int bits = 0;
    steps_along_k(d, i, masks);
    while (bits < fragment_of(d, i)->registers && masks[bits] == 1u << bits) bits++;
    return 1 << bits;
}

static const Expr *stored_at(Dot *d, int i, const Expr *side, const Expr *k) {
    bool k_columns = (i == 0) != d->tile[i]->turned;
    return dot_matrix_at(d, i, k_columns ? side : k, k_columns ? k : side);
}

static bool is_traded(const Dot *d, int i) {
    return op_word(d->op, i ? AT_RIGHT : AT_LEFT, FETCH_WORDS) == FETCH_TRADED;
}

/* Words that lanes trade at once: of more, rows four apart are traded, which the swizzle keeps in different banks. */
static int traded_at_once(const Dot *d, int i) { return words_of(d, i) < MOST_TRADED ? words_of(d, i) : MOST_TRADED; }

/* Neighbours along the side, two a word: of the places that are traded at once even lanes take the first half along K,
 * odd lanes the second. */
static void fetch_pairs(Dot *d, int i, const Expr *words, const Expr *side, const Expr *k) {
    Emit *e = d->e;
    uint32_t masks[LL_MAX_BITS];
    int count = words_of(d, i), once = traded_at_once(d, i);
    steps_along_k(d, i, masks);
    emit_unroll(e, "q", count, 1);
    const Expr *at = ex(e->arena, "%p + (lane & 1) * %u + q", k, masks[ll_log2(once)]);
    if (count > once)
        at = ex(e->arena, "%p + (lane & 1) * %u + q %% %d + q / %d * %u", k, masks[ll_log2(once)], once, once,
                masks[ll_log2(2 * once)]);
    cs_line(&e->p, "tw_lds(1, %p + q, %p);", words, stored_at(d, i, ex(e->arena, "(%p & ~1)", side), at));
    cs_close(&e->p);
}

/* .. and traded, when they are needed. */
static void trade(Dot *d, int i, const Expr *words) {
    int once = traded_at_once(d, i);
    for (int w = 0; is_traded(d, i) && w < words_of(d, i); w += once)
        cs_line(&d->e->p, "tw_trade(%d, %p);", once, w ? ex(d->e->arena, "%p + %d", words, w) : words);
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
        cs_line(
            &e->p, "tw_lds(1, &cell, %p);",
            stored_at(d, i, side, ex(e->arena, "%p + %p", k, place_along_k(d, i, ex(e->arena, "(q * %d + b)", each)))));
        cs_line(&e->p, "%p[q] |= (u32)cell << %d * b;", words, 8 * bytes);
        cs_close(&e->p);
    }
    cs_close(&e->p);
}

/* The fragment of operand i from `first` along its side, `at` along K on. */
static void fetch(Dot *d, int i, const Expr *words, const Expr *first, const Expr *at) {
    Emit *e = d->e;
    bool along_k = (i == 0) != d->tile[i]->turned;
    const Expr *side = ex(e->arena, "%p + %p", first, lane_part(d, i, false));
    const Expr *k = ex(e->arena, "%p + %p", at, lane_part(d, i, true));
    if (is_traded(d, i)) {
        fetch_pairs(d, i, words, side, k);
        return;
    }
    if (!along_k) {
        gather(d, i, words, side, k);
        return;
    }
    int most = READ_BYTES / bytes_of(d, i), per = run_of(d, i) < most ? run_of(d, i) : most;
    int each = per * bytes_of(d, i) / WORD_BYTES;
    for (int r = 0; r < words_of(d, i) / each; r++) {
        const Expr *to = r ? ex(e->arena, "%p + %d", words, r * each) : words;
        uint32_t masks[LL_MAX_BITS], beyond = 0;
        steps_along_k(d, i, masks);
        for (int b = 0; b < fragment_of(d, i)->registers; b++) beyond += r * per >> b & 1 ? masks[b] : 0;
        cs_line(&e->p, "tw_lds(%d, %p, %p);", each, to,
                stored_at(d, i, side, r ? ex(e->arena, "%p + %u", k, beyond) : k));
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

/* The wave's tiles of the instruction along M and N. */
typedef struct Tiles {
    int64_t count[2];
    int step[2];
} Tiles;

static int64_t tiles_along(const Dot *d, int dim, int side, int waves) {
    int64_t tiles = ((int64_t)1 << d->layout->map.log2[dim]) / side / waves;
    return tiles < 1 ? 1 : tiles;
}

static const Expr *open_side(Dot *d, const Tiles *t, int i) {
    return open_tiles(d, i ? "j" : "i", i ? "wn" : "wm", t->count[i], t->step[i], i ? d->n : d->m);
}

static void fetch_side(Dot *d, const Tiles *t, int i, const Expr *words, const Expr *at) {
    const Expr *first = open_side(d, t, i);
    fetch(d, i, words, first, at);
    cs_close(&d->e->p);
}

static void trade_side(Dot *d, const Tiles *t, int i, const Expr *words) {
    if (!is_traded(d, i)) return;
    open_side(d, t, i);
    trade(d, i, words);
    cs_close(&d->e->p);
}

static void multiply_tile(Dot *d, const Tiles *t, const Expr *a, const Expr *b) {
    const Matrix *row = d->row;
    cs_line(&d->e->p, "tw_%s_%s(%s + %d * (j + i * %lld), %p, %p);", word_info[row->instr].text, row->spelling, d->acc,
            1 << fragments[row->sum_in].registers, (long long)t->count[1], a, b);
}

/* Each step's fragments when it comes; where the left ones are in registers, the compiler may read the next step's. */
static void multiply_in_turn(Dot *d, const Tiles *t, int64_t steps) {
    Emit *e = d->e;
    const Expr *kk = ex_name(e->arena, "kk");
    const char *held = dot_left_declare(d, false);
    dot_left_pack(d, held);
    bool apart = op_int(d->op, AT_UNROLL, 0) == 1 && !held && steps > 1;
    (apart ? cs_real_loop : cs_loop)(&e->p, apart ? "#pragma unroll 1" : "#pragma unroll", "kk", 0, steps * d->row->k,
                                     d->row->k);
    const Expr *left = ex(e->arena, "fa[i]");
    if (held) {
        int64_t row = ((int64_t)1 << ll_log2(d->k)) / d->row->k * words_of(d, 0);
        left = ex(e->arena, "%s + i * %lld + kk / %d", held, (long long)row, d->row->k / words_of(d, 0));
    } else {
        cs_line(&e->p, "u32 fa[%lld][%d];", (long long)t->count[0], words_of(d, 0));
        const Expr *row = open_side(d, t, 0);
        fetch(d, 0, left, row, kk);
        trade(d, 0, left);
        cs_close(&e->p);
    }
    const Expr *column = open_side(d, t, 1);
    cs_line(&e->p, "u32 fb[%d];", words_of(d, 1));
    fetch(d, 1, ex_name(e->arena, "fb"), column, kk);
    trade(d, 1, ex_name(e->arena, "fb"));
    open_side(d, t, 0);
    multiply_tile(d, t, left, ex_name(e->arena, "fb"));
    cs_close(&e->p);
    cs_close(&e->p);
    cs_close(&e->p);
    if (!op_attr(d->op, AT_EARLY)) return;
    int64_t reads = t->count[1] * words_of(d, 1) * WORD_BYTES / READ_BYTES, products = 2 * t->count[0] * t->count[1];
    cs_line(&e->p, "tw_under(%lld, %lld, 1);", (long long)(2 * reads), (long long)products);
    if (steps > 2)
        cs_line(&e->p, "tw_under(%lld, %lld, %lld);", (long long)reads, (long long)products, (long long)(steps - 2));
}

/* Reads of the LDS by a lane for one step. */
static int64_t reads_of(const Dot *d, const Tiles *t) {
    int64_t reads = 0;
    for (int i = 0; i < 2; i++) {
        bool whole = (i == 0) != d->tile[i]->turned;
        reads += t->count[i] * (whole ? words_of(d, i) * WORD_BYTES / READ_BYTES : words_of(d, i));
    }
    return reads;
}

/* The next step's under this one's products. */
static void multiply_early(Dot *d, const Tiles *t, int64_t steps) {
    Emit *e = d->e;
    int k = d->row->k;
    int64_t products = t->count[0] * t->count[1], reads = reads_of(d, t);
    const Expr *zero = ex_int(e->arena, 0), *next = ex(e->arena, "kk + %d", k);
    cs_line(&e->p, "u32 fa[2][%lld][%d], fb[2][%lld][%d];", (long long)t->count[0], words_of(d, 0),
            (long long)t->count[1], words_of(d, 1));
    fetch_side(d, t, 0, ex(e->arena, "fa[0][i]"), zero);
    fetch_side(d, t, 1, ex(e->arena, "fb[0][j]"), zero);
    cs_loop(&e->p, "#pragma unroll", "kk", 0, steps * k, k);
    cs_open(&e->p, "if (kk + %d < %lld)", k, (long long)(steps * k));
    fetch_side(d, t, 0, ex(e->arena, "fa[(kk / %d + 1) & 1][i]", k), next);
    fetch_side(d, t, 1, ex(e->arena, "fb[(kk / %d + 1) & 1][j]", k), next);
    cs_close(&e->p);
    trade_side(d, t, 0, ex(e->arena, "fa[kk / %d & 1][i]", k));
    open_side(d, t, 1);
    trade(d, 1, ex(e->arena, "fb[kk / %d & 1][j]", k));
    open_side(d, t, 0);
    multiply_tile(d, t, ex(e->arena, "fa[kk / %d & 1][i]", k), ex(e->arena, "fb[kk / %d & 1][j]", k));
    cs_close(&e->p);
    cs_close(&e->p);
    cs_close(&e->p);
    cs_line(&e->p, "tw_under(%lld, %d, 1);", (long long)reads, 1);
    cs_line(&e->p, "tw_under(%lld, %d, %lld);", (long long)((reads + products - 1) / products), 2,
            (long long)(products * (steps - 1)));
}

/* An instruction writes whole tiles. Where the matrix ends within the last one, the thread's registers beyond it were
 * left out (ll_registers): the tiles are an array of their own then, of which those that there are come back. */
static const char *open_whole(Dot *d) {
    Emit *e = d->e;
    const char *acc = d->acc;
    int of_tile = 1 << fragments[d->row->sum_in].registers, held = d->layout->registers;
    if (held % of_tile == 0) return NULL;
    d->acc = cs_fresh(&e->p, "whole");
    cs_line(&e->p, "%s %s[%d] = {};", dot_sum_type(d->type), d->acc, (held + of_tile - 1) / of_tile * of_tile);
    if (!d->fresh) {
        emit_unroll(e, "r", held, 1);
        cs_line(&e->p, "%s[r] = %s[r];", d->acc, acc);
        cs_close(&e->p);
    }
    return acc;
}

static void close_whole(Dot *d, const char *acc) {
    if (!acc) return;
    emit_unroll(d->e, "r", d->layout->registers, 1);
    cs_line(&d->e->p, "%s[r] = %s[r];", acc, d->acc);
    cs_close(&d->e->p);
    d->acc = acc;
}

void hip_multiply(Dot *d) {
    Emit *e = d->e;
    const Matrix *row = d->row;
    const char *acc = open_whole(d);
    Tiles t = {{tiles_along(d, 0, row->m, d->along_m), tiles_along(d, 1, row->n, d->along_n)},
               {row->m * d->along_m, row->n * d->along_n}};
    int64_t fit_m = ((int64_t)1 << d->layout->map.log2[0]) / row->m;
    int64_t fit_n = ((int64_t)1 << d->layout->map.log2[1]) / row->n;
    cs_line(&e->p, "const i32 wm = (warp & %d) %% %lld * %d, wn = (warp >> %d & %d) %% %lld * %d;", d->along_m - 1,
            (long long)fit_m, row->m, ll_log2(d->along_m), d->along_n - 1, (long long)fit_n, row->n);
    bool early = op_attr(d->op, AT_EARLY);
    (early && d->tile[0] ? multiply_early : multiply_in_turn)(d, &t, (d->k + row->k - 1) / row->k);
    close_whole(d, acc);
}
