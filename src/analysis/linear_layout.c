/* SPDX-License-Identifier: Apache-2.0 */
/* linear_layout.c: the algebra of layouts; linear_layout.h says what a layout is.
 *
 * Everything rests on one solver: the bases of a layout, input by input, are reduced to echelon
 * form while the combination of input bits that gives each row is kept beside it. Looking an index
 * up in it gives the smallest place that holds the element; ranks, inverses and compositions are
 * uses of it.
 *
 *     bases 1, 2, 5, 10 (4x4, xor swizzle): the row for bit 2 is 5 ^ 1 = 4, made of offset bits {0, 2};
 *                                           so element 4 lies at offset 5 */
#include "analysis/linear_layout.h"

#include <string.h>

/* --- the solver --- */
typedef struct Echelon {
    uint32_t row[32];     /* row[b] has b as its highest bit, or is 0 */
    LayoutPlace made[32]; /* the input bits whose bases sum to it */
    LayoutPlace free;     /* input bits that depend on those before them */
    int rank;
} Echelon;

static void place_xor(LayoutPlace *a, const LayoutPlace *b) {
    for (int in = 0; in < LL_INPUTS; in++) a->at[in] ^= b->at[in];
}

static int high_bit(uint32_t x) { return 31 - __builtin_clz(x); }

static void echelon_add(Echelon *e, uint32_t row, LayoutPlace made, int input, int bit) {
    while (row) {
        int b = high_bit(row);
        if (!e->row[b]) {
            e->row[b] = row;
            e->made[b] = made;
            e->rank++;
            return;
        }
        row ^= e->row[b];
        place_xor(&made, &e->made[b]);
    }
    e->free.at[input] |= (uint32_t)1 << bit;
}

static Echelon echelon_of(const LinearLayout *layout) {
    Echelon e = {.rank = 0};
    for (int in = 0; in < LL_INPUTS; in++)
        for (int i = 0; i < layout->count[in]; i++) {
            LayoutPlace made = {{0}};
            made.at[in] = (uint32_t)1 << i;
            echelon_add(&e, layout->basis[in][i], made, in, i);
        }
    return e;
}

static bool echelon_find(const Echelon *e, uint32_t index, LayoutPlace *place) {
    *place = (LayoutPlace){{0}};
    while (index) {
        int b = high_bit(index);
        if (!e->row[b]) return false;
        index ^= e->row[b];
        place_xor(place, &e->made[b]);
    }
    return true;
}

int ll_rank(const LinearLayout *layout) { return echelon_of(layout).rank; }
bool ll_surjective(const LinearLayout *layout) { return ll_rank(layout) == ll_index_bits(layout); }
bool ll_injective(const LinearLayout *layout) {
    int inputs = 0;
    for (int in = 0; in < LL_INPUTS; in++) inputs += layout->count[in];
    return ll_rank(layout) == inputs;
}
LayoutPlace ll_free(const LinearLayout *layout) { return echelon_of(layout).free; }

bool ll_find(const LinearLayout *layout, uint32_t index, LayoutPlace *place) {
    Echelon e = echelon_of(layout);
    return echelon_find(&e, index, place);
}

bool ll_invert_and_compose(const LinearLayout *from, const LinearLayout *to, PlaceMap *map) {
    Echelon e = echelon_of(to);
    *map = (PlaceMap){.count = {0}};
    for (int in = 0; in < LL_INPUTS; in++) {
        map->count[in] = from->count[in];
        for (int i = 0; i < from->count[in]; i++) {
            uint32_t index = from->basis[in][i];
            if (in != LL_REGISTER && i < to->count[in] && to->basis[in][i] == index)
                map->basis[in][i].at[in] = (uint32_t)1 << i;
            else if (!echelon_find(&e, index, &map->basis[in][i]))
                return false;
        }
    }
    return true;
}

LayoutPlace placemap_apply(const PlaceMap *map, LayoutPlace place) {
    LayoutPlace result = {{0}};
    for (int in = 0; in < LL_INPUTS; in++)
        for (int i = 0; i < map->count[in]; i++)
            if (place.at[in] >> i & 1) place_xor(&result, &map->basis[in][i]);
    return result;
}

/* --- changing --- */
/* Rewrites every basis by `move` and drops register bases that became zero. */
static LinearLayout rewrite(const LinearLayout *layout, LinearLayout result, bool drop_zero,
                            uint32_t (*move)(const LinearLayout *from, const LinearLayout *to, uint32_t index,
                                             const void *user),
                            const void *user) {
    for (int in = 0; in < LL_INPUTS; in++)
        for (int i = 0; i < layout->count[in]; i++) {
            uint32_t basis = move(layout, &result, layout->basis[in][i], user);
            if (basis || !drop_zero || in != LL_REGISTER) ll_push(&result, (LayoutInput)in, basis);
        }
    return result;
}

static uint32_t place_coord(const LinearLayout *layout, int dim, uint32_t coord) {
    return coord << ll_shift(layout, dim);
}

static uint32_t move_slice(const LinearLayout *from, const LinearLayout *to, uint32_t index, const void *user) {
    int dim = *(const int *)user;
    uint32_t result = 0;
    for (int d = 0, out = 0; d < from->rank; d++)
        if (d != dim) result |= place_coord(to, out++, ll_coord(from, index, d));
    return result;
}

LinearLayout ll_slice(const LinearLayout *layout, int dim) {
    LinearLayout result = {.rank = layout->rank - 1};
    for (int d = 0, out = 0; d < layout->rank; d++)
        if (d != dim) result.log2[out++] = layout->log2[d];
    return rewrite(layout, result, true, move_slice, &dim);
}

LinearLayout ll_squeeze(const LinearLayout *layout, int dim) {
    LinearLayout sliced = ll_slice(layout, dim);
    return ll_expand(&sliced, dim);
}

static uint32_t move_expand(const LinearLayout *from, const LinearLayout *to, uint32_t index, const void *user) {
    int dim = *(const int *)user;
    uint32_t result = 0;
    for (int d = 0; d < from->rank; d++) result |= place_coord(to, d + (d >= dim), ll_coord(from, index, d));
    return result;
}

LinearLayout ll_expand(const LinearLayout *layout, int dim) {
    LinearLayout result = {.rank = layout->rank + 1};
    for (int d = 0; d < result.rank; d++) result.log2[d] = d == dim ? 0 : layout->log2[d - (d > dim)];
    return rewrite(layout, result, false, move_expand, &dim);
}

static uint32_t move_permute(const LinearLayout *from, const LinearLayout *to, uint32_t index, const void *user) {
    const int64_t *dims = user;
    uint32_t result = 0;
    for (int d = 0; d < from->rank; d++) result |= place_coord(to, d, ll_coord(from, index, (int)dims[d]));
    return result;
}

LinearLayout ll_permute(const LinearLayout *layout, const int64_t *dims) {
    LinearLayout result = {.rank = layout->rank};
    for (int d = 0; d < layout->rank; d++) result.log2[d] = layout->log2[dims[d]];
    return rewrite(layout, result, false, move_permute, dims);
}

static uint32_t move_same(const LinearLayout *from, const LinearLayout *to, uint32_t index, const void *user) {
    (void)from, (void)to, (void)user;
    return index;
}

LinearLayout ll_reshape(const LinearLayout *layout, int rank, const int64_t *extent) {
    return rewrite(layout, ll_empty(rank, extent), false, move_same, NULL);
}

/* The index with each coordinate at its place in `to`, which has as many or more dimensions and bits. */
static uint32_t move_wide(const LinearLayout *from, const LinearLayout *to, uint32_t index, const void *user) {
    (void)user;
    uint32_t result = 0;
    for (int d = 0; d < from->rank; d++) result |= place_coord(to, d, ll_coord(from, index, d));
    return result;
}

LinearLayout ll_join(const LinearLayout *layout) {
    LinearLayout result = {.rank = layout->rank + 1};
    for (int d = 0; d < layout->rank; d++) result.log2[d] = layout->log2[d];
    result.log2[layout->rank] = 1;
    ll_push(&result, LL_REGISTER, 1);
    return rewrite(layout, result, false, move_wide, NULL);
}

typedef struct Stretch {
    int dim, bits; /* of which so many are new, or go if it is negative */
} Stretch;

static uint32_t move_stretch(const LinearLayout *from, const LinearLayout *to, uint32_t index, const void *user) {
    const Stretch *s = user;
    uint32_t result = 0;
    for (int d = 0; d < from->rank; d++) {
        uint32_t coord = ll_coord(from, index, d);
        if (d == s->dim) coord = s->bits < 0 ? coord >> -s->bits : coord << s->bits;
        result |= place_coord(to, d, coord);
    }
    return result;
}

LinearLayout ll_lengthen(const LinearLayout *layout, int dim, int bits) {
    LinearLayout result = {.rank = layout->rank};
    memcpy(result.log2, layout->log2, sizeof result.log2);
    result.log2[dim] = (uint8_t)(result.log2[dim] + bits);
    for (int i = 0; i < bits; i++) ll_push(&result, LL_REGISTER, place_coord(&result, dim, (uint32_t)1 << i));
    return rewrite(layout, result, false, move_stretch, &(Stretch){dim, bits});
}

LinearLayout ll_shorten(const LinearLayout *layout, int dim, int bits) {
    LinearLayout result = {.rank = layout->rank};
    memcpy(result.log2, layout->log2, sizeof result.log2);
    result.log2[dim] = (uint8_t)(result.log2[dim] - bits);
    return rewrite(layout, result, true, move_stretch, &(Stretch){dim, -bits});
}

LinearLayout ll_widen(const LinearLayout *layout, int dim, int bits) {
    LinearLayout result = {.rank = layout->rank};
    for (int d = 0; d < layout->rank; d++) result.log2[d] = layout->log2[d];
    result.log2[dim] = (uint8_t)(result.log2[dim] + bits);
    result = rewrite(layout, result, false, move_wide, NULL);
    for (int i = 0; i < bits; i++)
        ll_push(&result, LL_REGISTER, (uint32_t)1 << (ll_shift(&result, dim) + layout->log2[dim] + i));
    return result;
}

bool ll_find_bit(const LinearLayout *layout, int dim, int bit, LayoutInput *input, int *at) {
    uint32_t wanted = (uint32_t)1 << (ll_shift(layout, dim) + bit);
    int touched = 0;
    for (int in = 0; in < LL_INPUTS; in++)
        for (int i = 0; i < layout->count[in]; i++) {
            if (!(layout->basis[in][i] & wanted)) continue;
            if (layout->basis[in][i] != wanted || touched++) return false;
            *input = (LayoutInput)in;
            *at = i;
        }
    return touched == 1;
}

bool ll_cut(const LinearLayout *layout, const int64_t *extent, LinearLayout *part) {
    *part = ll_empty(layout->rank, extent);
    uint32_t dropped = 0;
    for (int d = 0; d < layout->rank; d++)
        for (int bit = part->log2[d]; bit < layout->log2[d]; bit++) {
            LayoutInput input = LL_REGISTER;
            int at = 0;
            if (!ll_find_bit(layout, d, bit, &input, &at) || input != LL_REGISTER) return false;
            dropped |= (uint32_t)1 << at;
        }
    for (int in = 0; in < LL_INPUTS; in++)
        for (int i = 0; i < layout->count[in]; i++)
            if (in != LL_REGISTER || !(dropped >> i & 1))
                ll_push(part, (LayoutInput)in, move_wide(layout, part, layout->basis[in][i], NULL));
    return true;
}

/* --- making --- */
typedef struct Walk {
    LinearLayout layout;
    int done[MAX_RANK]; /* bits of each dimension that have a basis */
} Walk;

/* 2^bits steps along dim as input bits; zero bases past the extent. Registers that would repeat are left out. */
static void walk(Walk *w, LayoutInput input, int dim, int bits) {
    for (int i = 0; i < bits; i++) {
        bool inside = w->done[dim] < w->layout.log2[dim];
        if (inside)
            ll_push(&w->layout, input, (uint32_t)1 << (ll_shift(&w->layout, dim) + w->done[dim]++));
        else if (input != LL_REGISTER)
            ll_push(&w->layout, input, 0);
    }
}

/* What the tile still lacks becomes registers, minor dimension first. */
static LinearLayout walk_rest(Walk *w, const int *order) {
    for (int i = 0; i < w->layout.rank; i++) walk(w, LL_REGISTER, order[i], w->layout.log2[order[i]]);
    return w->layout;
}

LinearLayout ll_blocked(int rank, const int64_t *extent, const int *size, const int *lanes, const int *warps,
                        const int *order) {
    Walk w = {.layout = ll_empty(rank, extent)};
    for (int i = 0; i < rank; i++) walk(&w, LL_REGISTER, order[i], ll_log2(size[order[i]]));
    for (int i = 0; i < rank; i++) walk(&w, LL_LANE, order[i], ll_log2(lanes[order[i]]));
    for (int i = 0; i < rank; i++) walk(&w, LL_WARP, order[i], ll_log2(warps[order[i]]));
    return walk_rest(&w, order);
}

static const int rows_last[2] = {1, 0}; /* columns are minor */

LinearLayout ll_repeat(const LinearLayout *part, int64_t rows, int64_t columns, int along_rows, int along_columns,
                       bool whole) {
    int64_t least[2] = {(int64_t)1 << part->log2[0], (int64_t)1 << part->log2[1]};
    int64_t extent[2] = {rows < least[0] ? least[0] : rows, columns < least[1] ? least[1] : columns};
    LinearLayout tile = ll_empty(2, extent);
    Walk w = {rewrite(part, tile, false, move_wide, NULL), {part->log2[0], part->log2[1]}};
    walk(&w, LL_WARP, 0, ll_log2(along_rows));
    if (whole) walk(&w, LL_REGISTER, 1, w.layout.log2[1] - ll_log2(along_columns) - w.done[1]);
    walk(&w, LL_WARP, 1, ll_log2(along_columns));
    return walk_rest(&w, rows_last);
}

LinearLayout ll_shared(int64_t rows, int64_t columns, int elem_bytes, int swizzle) {
    int64_t extent[2] = {rows, columns};
    Walk w = {.layout = ll_empty(2, extent)};
    if (!swizzle) {
        walk(&w, LL_OFFSET, 1, w.layout.log2[1]);
        return walk_rest(&w, rows_last);
    }
    int in_panel = ll_log2(swizzle / elem_bytes);
    if (in_panel > w.layout.log2[1]) in_panel = w.layout.log2[1];
    walk(&w, LL_OFFSET, 1, in_panel);
    walk(&w, LL_OFFSET, 0, w.layout.log2[0]);
    walk_rest(&w, rows_last);
    /* Byte-address bits 4.. are xored with bits 7..: an offset bit that stands for address bit 7+j
     * moves the column of address bit 4+j along. */
    int elem_bits = ll_log2(elem_bytes);
    for (int j = 0; 16 << j < swizzle; j++) {
        int high = 7 + j - elem_bits, low = 4 + j - elem_bits;
        if (high < w.layout.count[LL_OFFSET] && low < in_panel) w.layout.basis[LL_OFFSET][high] ^= (uint32_t)1 << low;
    }
    return w.layout;
}

int ll_run(const LinearLayout *layout, int dim, int elem_bytes, int most_bytes) {
    int run = 1, shift = ll_shift(layout, dim);
    for (int i = 0; i < layout->count[LL_REGISTER] && i < layout->log2[dim] && run * 2 * elem_bytes <= most_bytes;
         i++, run *= 2)
        if (layout->basis[LL_REGISTER][i] != (uint32_t)1 << (shift + i)) break;
    return run;
}

char *ll_text(const LinearLayout *layout, Arena *arena) {
    static const char *const names[LL_INPUTS] = {"register", "lane", "warp", "block"};
    Text t = text_new(arena);
    for (int in = 0; in < LL_INPUTS; in++) {
        if (!layout->count[in]) continue;
        text_add(&t, "%s%s", t.length ? ", " : "", names[in]);
        for (int i = 0; i < layout->count[in]; i++) {
            text_add(&t, " (");
            for (int d = 0; d < layout->rank; d++)
                text_add(&t, "%s%u", d ? "," : "", ll_coord(layout, layout->basis[in][i], d));
            text_add(&t, ")");
        }
    }
    return t.at;
}
