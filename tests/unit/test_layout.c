/* SPDX-License-Identifier: Apache-2.0 */
/* test_layout.c: the algebra of layouts on small cases that can be checked by hand. */
#include "check.h"
#include "pass/layout/layout.h"

#include <stdlib.h>

static const int minor_last[2] = {1, 0};
static const Banks banks = {32, 4};

static LayoutPlace at(uint32_t r, uint32_t lane, uint32_t warp) {
    return (LayoutPlace){{r, lane, warp, 0}};
}

static bool is_at(const LinearLayout *l, uint32_t r, uint32_t lane, uint32_t warp, uint32_t row,
                  uint32_t col) {
    uint32_t index = ll_apply(l, at(r, lane, warp));
    return ll_coord(l, index, 0) == row && ll_coord(l, index, 1) == col;
}

/* The sums of a product by wgmma, on groups_m x groups_n warpgroups, and by mma.sync on one warp. */
static LinearLayout wgmma_sum(int64_t m, int64_t n, int groups_m, int groups_n) {
    return matrix_spread(FRAGMENT_SUM_64x8, m, n, groups_m, groups_n, true, 4 * groups_m * groups_n);
}

static LinearLayout mma_sum(int64_t m, int64_t n) { return matrix_spread(FRAGMENT_SUM_16x8, m, n, 1, 1, false, 1); }

static LinearLayout flat(int bits, const uint32_t *registers, int nr, const uint32_t *lanes,
                         int nl) {
    int64_t extent = (int64_t)1 << bits;
    LinearLayout l = ll_empty(1, &extent);
    for (int i = 0; i < nr; i++) ll_push(&l, LL_REGISTER, registers[i]);
    for (int i = 0; i < nl; i++) ll_push(&l, LL_LANE, lanes[i]);
    return l;
}

static void test_apply_and_inverse(void) {
    int64_t four[2] = {4, 4};
    LinearLayout l = ll_empty(2, four);
    ll_push(&l, LL_REGISTER, 1);
    ll_push(&l, LL_LANE, 2);
    ll_push(&l, LL_LANE, 4);
    ll_push(&l, LL_WARP, 8);
    CHECK(is_at(&l, 1, 3, 1, 3, 3));
    CHECK(is_at(&l, 0, 2, 1, 3, 0));
    CHECK(ll_surjective(&l) && ll_injective(&l));

    /* the xor swizzle 1, 2, 5, 10 is its own inverse */
    LinearLayout s = ll_empty(2, four);
    static const uint32_t bases[4] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++) ll_push(&s, LL_OFFSET, bases[i]);
    CHECK(ll_apply(&s, at(7, 0, 0)) == 6);
    for (uint32_t i = 0; i < 16; i++) {
        LayoutPlace place;
        CHECK(ll_find(&s, i, &place) && ll_apply(&s, place) == i &&
              place.at[LL_OFFSET] == ll_apply(&s, at(i, 0, 0)));
    }

    /* replication: lane bit 0 holds nothing new */
    LinearLayout t = flat(2, (uint32_t[]){1}, 1, (uint32_t[]){0, 2}, 2);
    CHECK(ll_surjective(&t) && !ll_injective(&t));
    LayoutPlace place;
    CHECK(ll_find(&t, 2, &place) && place.at[LL_LANE] == 2 && place.at[LL_REGISTER] == 0);
    CHECK(ll_free(&t).at[LL_LANE] == 1 && ll_free(&t).at[LL_REGISTER] == 0);
}

static void test_blocked(Arena *arena) {
    int64_t wide[2] = {16, 64}, narrow[2] = {16, 32};
    int size[2] = {1, 4}, lanes[2] = {4, 8}, warps[2] = {2, 2};
    LinearLayout l = ll_blocked(2, wide, size, lanes, warps, minor_last);
    CHECK_TEXT(
        ll_text(&l, arena),
        "register (0,1) (0,2) (8,0), lane (0,4) (0,8) (0,16) (1,0) (2,0), warp (0,32) (4,0)");
    LinearLayout n = ll_blocked(2, narrow, size, lanes, warps, minor_last);
    CHECK(n.basis[LL_WARP][0] == 0 && ll_coord(&n, n.basis[LL_WARP][1], 0) == 4);

    /* the row sum of the wide tile */
    LinearLayout sum = ll_slice(&l, 1);
    CHECK_TEXT(ll_text(&sum, arena), "register (8), lane (0) (0) (0) (1) (2), warp (0) (4)");
    LinearLayout back = ll_expand(&sum, 1);
    LinearLayout squeezed = ll_squeeze(&l, 1);
    CHECK(ll_equal(&back, &squeezed) && back.rank == 2);

    int64_t swap[2] = {1, 0};
    LinearLayout turned = ll_permute(&l, swap);
    CHECK(is_at(&turned, 3, 1, 0, 7, 0) && turned.log2[0] == 6);
    int64_t one = 1024;
    LinearLayout line = ll_reshape(&l, 1, &one);
    CHECK(ll_apply(&line, at(4, 0, 0)) == 8 * 64);
}

static void test_odd_extents(void) {
    /* 96 columns are padded to 128; a row of 96 needs three quarters of the registers */
    int64_t odd[2] = {1, 96};
    int size[2] = {1, 1}, lanes[2] = {1, 32}, warps[2] = {1, 1};
    LinearLayout l = ll_blocked(2, odd, size, lanes, warps, minor_last);
    CHECK(l.count[LL_REGISTER] == 2 && ll_registers(&l, odd) == 4);
    int64_t acc[2] = {64, 192};
    LinearLayout w = wgmma_sum(64, 192, 1, 1);
    CHECK(ll_registers(&w, acc) == 96);
}

static void test_fragments(Arena *arena) {
    LinearLayout b = matrix_spread(FRAGMENT_B_16x8, 16, 8, 1, 1, false, 1);
    LinearLayout a = matrix_spread(FRAGMENT_A_16x16, 16, 16, 1, 1, false, 1), c = mma_sum(16, 8);
    CHECK_TEXT(ll_text(&a, arena),
               "register (0,1) (8,0) (0,8), lane (0,2) (0,4) (1,0) (2,0) (4,0)");
    CHECK_TEXT(ll_text(&b, arena), "register (1,0) (8,0), lane (2,0) (4,0) (0,1) (0,2) (0,4)");
    CHECK_TEXT(ll_text(&c, arena), "register (0,1) (8,0), lane (0,2) (0,4) (1,0) (2,0) (4,0)");
    CHECK(is_at(&a, 6, 13, 0, 11, 10) && is_at(&b, 3, 13, 0, 11, 3) && is_at(&c, 2, 13, 0, 11, 2));
    LinearLayout a8 = matrix_spread(FRAGMENT_A_16x32, 16, 32, 1, 1, false, 1);
    LinearLayout a32 = matrix_spread(FRAGMENT_A_16x8, 16, 8, 1, 1, false, 1);
    CHECK_TEXT(ll_text(&a8, arena),
               "register (0,1) (0,2) (8,0) (0,16), lane (0,4) (0,8) (1,0) (2,0) (4,0)");
    CHECK_TEXT(ll_text(&a32, arena), "register (8,0) (0,4), lane (0,1) (0,2) (1,0) (2,0) (4,0)");
    LinearLayout w = wgmma_sum(64, 32, 1, 1);
    CHECK_TEXT(ll_text(&w, arena), "register (0,1) (8,0) (0,8) (0,16), lane (0,2) (0,4) (1,0) "
                                   "(2,0) (4,0), warp (16,0) (32,0)");
    LinearLayout two = wgmma_sum(128, 32, 2, 1);
    CHECK(ll_coord(&two, two.basis[LL_WARP][2], 0) == 64);
    LinearLayout side = wgmma_sum(64, 32, 1, 2);
    CHECK(ll_coord(&side, side.basis[LL_WARP][2], 1) == 16);

    /* two accumulators side by side are the 16-bit operand: nothing moves; an 8-bit operand needs
     * lanes */
    LinearLayout c16 = mma_sum(16, 16);
    CHECK(ll_plan_convert(&c16, &a, 2).kind == CONVERT_NONE);
    LinearLayout c32 = mma_sum(16, 32);
    CHECK(ll_plan_convert(&c32, &a8, 1).kind >= CONVERT_SHUFFLE);
}

static PlaceMap offsets(const LinearLayout *registers, const LinearLayout *shared) {
    PlaceMap map;
    CHECK(ll_invert_and_compose(registers, shared, &map));
    return map;
}

static void test_swizzles(void) {
    /* 128-byte swizzle of 16-bit rows of 64: row 5, byte 34 lies at 754; 64-byte: row 5, byte 20 at
     * 372 */
    LinearLayout s128 = ll_shared(8, 64, 2, 128), s64 = ll_shared(8, 32, 2, 64);
    LayoutPlace place;
    CHECK(ll_find(&s128, 5 * 64 + 17, &place) && place.at[LL_OFFSET] * 2 == 754);
    CHECK(ll_find(&s64, 5 * 32 + 10, &place) && place.at[LL_OFFSET] * 2 == 372);
    /* a wide tile is split into panels of 64 columns */
    LinearLayout panels = ll_shared(8, 128, 2, 128);
    CHECK(ll_find(&panels, 64, &place) && place.at[LL_OFFSET] == 512);

    /* f32 32x32, a warp reads a column: 32 wavefronts plain, 1 swizzled; a row is free either way
     */
    int64_t square[2] = {32, 32};
    int one[2] = {1, 1}, down[2] = {32, 1}, across[2] = {1, 32};
    LinearLayout column = ll_blocked(2, square, one, down, one, minor_last);
    LinearLayout row = ll_blocked(2, square, one, across, one, minor_last);
    LinearLayout plain = ll_shared(32, 32, 4, 0);
    PlaceMap m = offsets(&column, &plain);
    CHECK(ll_bank_conflicts(banks, &m, 4, 1) == 32);
    m = offsets(&row, &plain);
    CHECK(ll_bank_conflicts(banks, &m, 4, 1) == 1);
    LinearLayout turn = ll_choose_swizzle(banks, 16, &row, &column, 4);
    CHECK(ll_surjective(&turn) && ll_injective(&turn));
    m = offsets(&row, &turn);
    CHECK(ll_bank_conflicts(banks, &m, 4, 1) == 1);
    m = offsets(&column, &turn);
    CHECK(ll_bank_conflicts(banks, &m, 4, 1) == 1);

    /* a phase of ldmatrix, 8 rows of 16 bytes: pitch 128, 64, 32 meet 8, 4, 2 times; swizzled once
     */
    static const int pitch[3] = {128, 64, 32};
    for (int i = 0; i < 3; i++) {
        int64_t tile[2] = {8, pitch[i] / 2};
        LinearLayout rows = ll_empty(2, tile);
        for (int j = 0; j < 3; j++) ll_push(&rows, LL_REGISTER, (uint32_t)1 << j);
        for (int j = 0; j < 3; j++) ll_push(&rows, LL_LANE, (uint32_t)(tile[1] << j));
        LinearLayout pl = ll_shared(8, tile[1], 2, 0), sw = ll_shared(8, tile[1], 2, pitch[i]);
        m = offsets(&rows, &pl);
        CHECK(ll_bank_conflicts(banks, &m, 2, 8) == pitch[i] / 16);
        m = offsets(&rows, &sw);
        CHECK(ll_bank_conflicts(banks, &m, 2, 8) == 1);
        CHECK(ll_vector(&m, 2, 16, NULL) == 8);
    }
    /* f16 16x64 from an accumulator to rows: 8-byte accesses, one wavefront on both sides */
    int64_t tile[2] = {16, 64};
    LinearLayout acc = mma_sum(16, 64);
    int size[2] = {1, 8}, lanes[2] = {4, 8};
    LinearLayout rows = ll_blocked(2, tile, size, lanes, one, minor_last);
    LinearLayout via = ll_choose_swizzle(banks, 16, &acc, &rows, 2);
    CHECK(ll_surjective(&via) && ll_injective(&via));
    PlaceMap w = offsets(&acc, &via), r = offsets(&rows, &via);
    int bits[4];
    CHECK(ll_vector(&w, 2, 16, bits) == 4 && bits[0] == 0 &&
          bits[1] == 1); /* pairs rows r and r + 8 */
    CHECK(ll_vector(&r, 2, 16, NULL) == 4);
    CHECK(ll_bank_conflicts(banks, &w, 2, 4) == 1 && ll_bank_conflicts(banks, &r, 2, 4) == 1);
}

/* The counted conflicts of tiles in panels agree with the derived ones, and with pencil and paper. */
static void test_counted_conflicts(void) {
    Arena arena;
    Trap trap;
    arena_init(&arena, allocator_malloc, &trap);
    if (!TRAP_ARM(&trap)) exit(1);
    SourceMap sources;
    Diag diag;
    source_init(&sources, &arena);
    diag_init(&diag, &arena, &sources);
    Module *module = ir_module_new(&arena, &diag, &sources);
    int64_t square[2] = {32, 32}, accumulated[2] = {64, 64}, odd[2] = {20, 24};
    int one[2] = {1, 1}, four[2] = {1, 4}, down[2] = {32, 1}, rows[2] = {4, 8}, thin[2] = {1, 32};
    SharedTile f32 = {.rows = 32, .columns = 32, .elem_bytes = 4, .width = 128, .panel = 4096};
    const Type *type = ty_tile(module, EL_F32, 2, square);
    /* a column of rows of 128 bytes: 8 chunks are apart, 4 rows meet in each */
    Layout column = {.map = ll_blocked(2, square, one, down, one, minor_last), .registers = 32};
    CHECK(layout_tile_conflicts(banks, &column, type, &f32, 1) == 4);
    Layout row = {.map = ll_blocked(2, square, one, thin, one, minor_last), .registers = 32};
    CHECK(layout_tile_conflicts(banks, &row, type, &f32, 1) == 1);
    Layout chunks = {.map = ll_blocked(2, square, four, rows, one, minor_last), .registers = 32};
    CHECK(layout_tile_conflicts(banks, &chunks, type, &f32, 4) == 1);
    /* the accumulator of wgmma, as 16-bit pairs: 8 rows in 8 chunks */
    SharedTile f16 = {.rows = 64, .columns = 64, .elem_bytes = 2, .width = 128, .panel = 8192};
    Layout acc = {.map = wgmma_sum(64, 64, 1, 1), .registers = 32};
    CHECK(layout_tile_conflicts(banks, &acc, ty_tile(module, EL_F16, 2, accumulated), &f16, 2) == 1);
    /* rows of 24 elements in panels of 32 bytes, an extent that is no power of two */
    SharedTile narrow = {.rows = 20, .columns = 24, .elem_bytes = 2, .width = 32, .panel = 640};
    Layout tall = {.map = ll_blocked(2, odd, one, down, one, minor_last), .registers = 32};
    CHECK(layout_tile_conflicts(banks, &tall, ty_tile(module, EL_F16, 2, odd), &narrow, 1) == 3);
    /* what the text computes and what ll_shared says is one place */
    LinearLayout shared = ll_shared(8, 128, 2, 128);
    SharedTile wide = {.rows = 8, .columns = 128, .elem_bytes = 2, .width = 128, .panel = 1024};
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 128; c += 5) {
            LayoutPlace place;
            CHECK(ll_find(&shared, (uint32_t)(r * 128 + c), &place) &&
                  place.at[LL_OFFSET] * 2 == layout_tile_offset(&wide, r, c));
        }
    /* 32 lanes, one word each: all in one bank, all the same word, 2-byte neighbours */
    uint32_t at[32];
    for (uint32_t i = 0; i < 32; i++) at[i] = i * 128;
    CHECK(layout_wavefronts(banks, at, 32, 4) == 32 && layout_wavefronts(banks, at, 32, 16) == 8);
    for (uint32_t i = 0; i < 32; i++) at[i] = 64;
    CHECK(layout_wavefronts(banks, at, 32, 4) == 1);
    for (uint32_t i = 0; i < 32; i++) at[i] = 2 * i;
    CHECK(layout_wavefronts(banks, at, 32, 2) == 1);
    arena_free(&arena);
}

static void test_conversions(void) {
    /* one exchange of a register bit with a lane bit */
    LinearLayout s = flat(4, (uint32_t[]){1, 2}, 2, (uint32_t[]){4, 8}, 2);
    LinearLayout d = flat(4, (uint32_t[]){4, 2}, 2, (uint32_t[]){1, 8}, 2);
    ConvertPlan plan = ll_plan_convert(&s, &d, 4);
    CHECK(plan.kind == CONVERT_SHUFFLE);
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t l = 0; l < 4; l++)
            CHECK(ll_apply(&s, placemap_apply(&plan.map, at(r, l, 0))) ==
                  ll_apply(&d, at(r, l, 0)));
    /* a cycle of one register bit and two lane bits: both registers of a lane move */
    LinearLayout from = flat(3, (uint32_t[]){1}, 1, (uint32_t[]){2, 4}, 2);
    LinearLayout to = flat(3, (uint32_t[]){4}, 1, (uint32_t[]){1, 2}, 2);
    plan = ll_plan_convert(&from, &to, 4);
    CHECK(plan.kind == CONVERT_SHUFFLE);
    for (uint32_t l = 0; l < 4; l++) {
        LayoutPlace low = placemap_apply(&plan.map, at(0, l, 0));
        LayoutPlace high = placemap_apply(&plan.map, at(1, l, 0));
        CHECK(low.at[LL_LANE] == l >> 1 && low.at[LL_REGISTER] == (l & 1));
        CHECK(high.at[LL_LANE] == (l >> 1 | 2) && high.at[LL_REGISTER] == (l & 1));
    }
    /* registers in another order are free */
    LinearLayout p = flat(4, (uint32_t[]){2, 1}, 2, (uint32_t[]){4, 8}, 2);
    CHECK(ll_plan_convert(&s, &p, 4).kind == CONVERT_REGISTERS);
    CHECK(ll_plan_convert(&s, &s, 4).kind == CONVERT_NONE);
    /* replicated on both sides: a lane reads its own copy */
    LinearLayout t = flat(2, (uint32_t[]){1}, 1, (uint32_t[]){0, 2}, 2);
    CHECK(ll_plan_convert(&t, &t, 4).kind == CONVERT_NONE);
    /* other warps: shared memory */
    int64_t wide[2] = {16, 64};
    int size[2] = {1, 4}, lanes[2] = {4, 8}, by_column[2] = {2, 2}, by_row[2] = {4, 1};
    LinearLayout a = ll_blocked(2, wide, size, lanes, by_column, minor_last);
    LinearLayout b = ll_blocked(2, wide, size, lanes, by_row, minor_last);
    CHECK(ll_plan_convert(&a, &b, 4).kind == CONVERT_SHARED);
}

/* Trades word by word as convert<via=trade> does; elements that come to the wrong place. */
static int misplaced(const LinearLayout *from, const LinearLayout *to, const ConvertPlan *plan, const LaneTrade *t) {
    int wrong = 0, registers = 1 << to->count[LL_REGISTER], lanes = 1 << to->count[LL_LANE];
    for (int l = 0; l < lanes; l++)
        for (int r = 0; r < registers; r += 4) {
            if ((uint32_t)r & t->far_to) continue;
            bool late = __builtin_popcount((uint32_t)l & t->late) & 1;
            LayoutPlace home = placemap_apply(&plan->map, at((uint32_t)r, (uint32_t)l, 0));
            uint32_t source = placemap_apply(&plan->map, at((uint32_t)r, 0, 0)).at[LL_REGISTER];
            for (uint32_t turn = 0; turn < 2; turn++) {
                uint32_t lane = home.at[LL_LANE] ^ (late != (turn == 1) ? t->away : 0);
                uint32_t first = !(lane & t->side) == !turn ? source : source ^ t->choice;
                for (uint32_t i = 0; i < 4; i++) {
                    uint32_t by = (i & 1 ? t->near : 0) ^ (i & 2 ? t->far : 0);
                    uint32_t own = (uint32_t)r ^ (i & 1) ^ (i & 2 ? t->far_to : 0) ^ (late != (turn == 1) ? 2 : 0);
                    wrong += ll_apply(from, at(first ^ by, lane, 0)) != ll_apply(to, at(own, (uint32_t)l, 0));
                }
            }
        }
    return wrong;
}

static void test_trades(void) {
    LaneTrade t;
    for (int64_t columns = 32; columns <= 256; columns *= 2) {
        LinearLayout sum = wgmma_sum(64, columns, 1, 1), left = matrix_spread(FRAGMENT_A_64x32, 64, columns, 1, 1, true, 4);
        ConvertPlan plan = ll_plan_convert(&sum, &left, 1);
        CHECK(ll_plan_trade(&plan, &t) && misplaced(&sum, &left, &plan, &t) == 0);
        LinearLayout sums = mma_sum(16, columns), small = matrix_spread(FRAGMENT_A_16x32, 16, columns, 1, 1, false, 1);
        plan = ll_plan_convert(&sums, &small, 1);
        CHECK(ll_plan_trade(&plan, &t) && misplaced(&sums, &small, &plan, &t) == 0);
        /* there is nothing to trade the other way round, nor where nothing moves */
        plan = ll_plan_convert(&left, &sum, 1);
        CHECK(!ll_plan_trade(&plan, &t));
        plan = ll_plan_convert(&sum, &sum, 1);
        CHECK(!ll_plan_trade(&plan, &t));
    }
}

/* join, cat and split of layouts: the new bits are registers, the old ones keep their elements. */
static void test_moves(void) {
    int64_t extent[2] = {8, 16}, half[2] = {4, 16}, row[2] = {8, 8};
    int size[2] = {1, 2}, lanes[2] = {4, 8}, ways[2] = {2, 1};
    LinearLayout a = ll_blocked(2, extent, size, lanes, ways, minor_last);
    LinearLayout joined = ll_join(&a), wide = ll_widen(&a, 0, 1), part;
    LayoutInput input;
    int bit;
    CHECK(joined.rank == 3 && joined.log2[2] == 1 && joined.basis[LL_REGISTER][0] == 1);
    CHECK(wide.log2[0] == 4 && ll_coord(&wide, wide.basis[LL_REGISTER][wide.count[LL_REGISTER] - 1], 0) == 8);
    for (uint32_t r = 0; r < 2; r++)
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t index = ll_apply(&a, at(r, l, 1));
            CHECK(ll_apply(&joined, at(2 * r + 1, l, 1)) == 2 * index + 1);
            CHECK(ll_apply(&wide, at(r, l, 1)) == index);
        }
    /* each column 4 times, by registers; and back, where rows that are lanes become one */
    LinearLayout longer = ll_lengthen(&a, 1, 2), back = ll_shorten(&longer, 1, 2), fewer = ll_shorten(&a, 0, 1);
    CHECK(longer.log2[1] == 6 && longer.basis[LL_REGISTER][0] == 1 && longer.basis[LL_REGISTER][1] == 2);
    CHECK(ll_equal(&back, &a) && fewer.log2[0] == 2);
    for (uint32_t l = 0; l < 32; l++) {
        CHECK(ll_coord(&longer, ll_apply(&longer, at(7, l, 1)), 1) == 4 * ll_coord(&a, ll_apply(&a, at(1, l, 1)), 1) + 3);
        CHECK(ll_coord(&fewer, ll_apply(&fewer, at(0, l, 1)), 0) == ll_coord(&a, ll_apply(&a, at(0, l, 1)), 0) / 2);
    }
    CHECK(ll_find_bit(&wide, 0, 3, &input, &bit) && input == LL_REGISTER);
    CHECK(ll_find_bit(&a, 0, 2, &input, &bit) && input == LL_WARP);
    CHECK(ll_cut(&wide, extent, &part) && ll_equal(&part, &a));
    CHECK(!ll_cut(&a, half, &part)); /* that bit is a warp's */
    CHECK(!ll_cut(&a, row, &part));  /* and that one a lane's */
}

int main(void) {
    Trap trap;
    Arena arena;
    arena_init(&arena, allocator_malloc, &trap);
    if (!TRAP_ARM(&trap)) return 1;
    test_apply_and_inverse();
    test_blocked(&arena);
    test_odd_extents();
    test_fragments(&arena);
    test_swizzles();
    test_counted_conflicts();
    test_conversions();
    test_trades();
    test_moves();
    arena_free(&arena);
    return check_done();
}
