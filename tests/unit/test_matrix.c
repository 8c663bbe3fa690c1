/* SPDX-License-Identifier: Apache-2.0 */
/* test_matrix.c: the tables of machines and matrix instructions: rows make sense by themselves and together, and the
 * fragments are those that the emulator moves, which were written from PTX's manual and run on the chip, and from AMD's. */
#include "check.h"
#include "pass/matrix.h"
#include "target/cuda/emu/emu_fragment.h"
#include "target/hip/emu/hip_emu_core.h"
#include "target/simt/emu/include/emu_table.h"

#include <limits.h>

static bool is_power(int64_t x) { return x > 0 && !(x & (x - 1)); }

/* --- machines --- */
static bool is_amd(const Machine *m) { return m->target && strcmp(m->target, "hip") == 0; }

static void test_machines(void) {
    const Machine *m;
    for (int i = 0; (m = machine_at(i)); i++) {
        CHECK(machine_find(m->name) == m);
        CHECK(m->ring_bytes > 0 && m->matrix);
        /* A machine with lanes has numbers for them. Loads run ahead where copies go to shared memory by themselves. */
        CHECK(m->has_threads == (m->lanes > 0) && is_power(m->vector_bytes));
        if (m->has_threads)
            CHECK(is_power(m->lanes) && is_power(m->sector_bytes) && m->skew_allowed == (m->thread_copies || m->wave_copy_bytes || m->cost.puts_late));
        const MachineCost *cost = &m->cost;
        CHECK(m->has_threads == (cost->fetch_registers > 0 && cost->fetch_elements > 0));
        CHECK(m->has_threads == (cost->again_elements > 0 && cost->again_registers > 0 && cost->again_loads > 0));
        CHECK(m->has_tma == (cost->short_rows > 0));
        CHECK(!m->roles_always || m->roles_allowed);
        /* Registers that are given away: to whom, and how; by whom, the least. */
        CHECK(!m->register_step == !m->role_registers && !m->register_step == !m->issue_registers);
        CHECK(m->issue_registers <= m->move_registers && m->move_registers <= m->carry_registers);
        CHECK(!m->register_step || (m->roles_allowed && m->role_registers <= m->thread_registers));
        if (m->has_threads) CHECK(m->group_warps > 0 && m->registers > m->thread_registers && m->thread_registers > 0);
        if (m->has_threads) CHECK(is_power(m->banks.count) && is_power(m->banks.bytes) && m->banks.count <= 64);
        if (m->has_threads) CHECK(is_power(m->tile_align) && is_power(m->barrier_bytes) != is_amd(m));
        if (m->has_threads && !is_amd(m)) CHECK(m->named_barriers > 2); /* the block's, and two that take turns */
        /* Boxes have limits, and a copy that runs by itself takes its time. */
        CHECK(m->has_tma == (m->box_extent > 0) && m->has_tma == (m->box_rank > 0) && m->has_tma == (m->box_align > 0));
        CHECK(m->has_tma == (m->cost.copy_clocks > 0) && m->has_tma == (m->cost.most_slots > 0));
        CHECK(m->cost.most_alone <= m->cost.most_slots && m->cost.enough_slots <= m->cost.most_slots);
        CHECK((m->cluster_blocks > 1) == (m->cost.pair_tasks > 0) && !m->cost.pair_tasks == !m->cost.pair_along);
        CHECK(!m->copy_registers == !m->copy_rows && m->cost.held_registers <= m->thread_registers);
        CHECK(!m->cost.crowd_warps == !m->cost.crowd_percent && m->cost.crowd_percent <= 100);
        if (m->has_threads) /* counts of which 0 would be no plan */
            CHECK(m->cost.held_registers && m->cost.loose_trips && m->cost.apart_loads && m->cost.single_loads &&
                  m->cost.fma_steps);
        /* What reads shared memory by itself needs the fence. */
        CHECK(m->async_proxy == (m->has_tma || matrix_async(m)));
        if (!m->arch) continue;
        char name[64];
        snprintf(name, sizeof name, "%s:%s", m->target, m->arch);
        CHECK_TEXT(m->name, name);
        CHECK(machine_of_arch(m->target, m->arch) == m && !m->assembly_arch == is_amd(m));
        if (is_amd(m)) continue; /* names of architectures, no levels */
        CHECK(machine_of_level(m->target, m->level) == m && machine_runs_on(m, m->level));
        CHECK(m->level_only ? m->level_best == m->level : m->level_best > m->level);
    }
    CHECK(!machine_find("cuda") && !machine_find("cuda:sm_9") && !machine_of_arch("cuda", "sm_70"));
}

static void test_levels(void) {
    static const struct {
        int level;
        const char *arch;
    } fits[] = {{75, NULL},     {80, "sm_80"},   {86, "sm_80"},   {89, "sm_89"},
                {90, "sm_90a"}, {100, "sm_100"}, {103, "sm_100"}, {120, "sm_89"}};
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        const Machine *m = machine_of_level("cuda", fits[i].level);
        CHECK(m ? fits[i].arch && strcmp(m->arch, fits[i].arch) == 0 : !fits[i].arch);
        if (m) CHECK(machine_runs_on(m, fits[i].level));
    }
    CHECK(!machine_runs_on(machine_find("cuda:sm_90a"), 100) && machine_runs_on(machine_find("cuda:sm_80"), 100));
}

/* --- rows --- */
static bool has(const Machine *m, const Matrix *row) { return m->matrix & row->set; }

/* A part of rows x columns elements of so many bits, by so many warps of the machine. */
static void check_part(const Matrix *row, FragmentName name, int rows, int columns, int bits) {
    const Machine *m;
    LinearLayout part = matrix_spread(name, 1, 1, 1, 1, false, 1);
    CHECK(1 << part.log2[0] == rows && 1 << part.log2[1] == columns);
    bool twice = row->instr == INSTR_WMMA && name != row->sum_in; /* both halves of a wave have the operand */
    CHECK(ll_surjective(&part) && ll_injective(&part) != twice);
    CHECK(1 << part.count[LL_WARP] == row->warps);
    CHECK(bits << part.count[LL_REGISTER] >= 32); /* whole registers */
    for (int i = 0; (m = machine_at(i)); i++)
        if (has(m, row)) CHECK(1 << part.count[LL_LANE] == m->lanes);
}

static void test_rows(void) {
    const Matrix *row, *other;
    const Machine *m;
    for (int i = 0; (row = matrix_at(i)); i++) {
        int owners = 0;
        for (int j = 0; (m = machine_at(j)); j++) owners += has(m, row);
        CHECK(owners && is_power(row->set));
        CHECK(is_power(row->m) && is_power(row->n) && is_power(row->k));
        for (int j = 0; j < i && (other = matrix_at(j)); j++) /* found again by word and types */
            CHECK(row->instr != other->instr || row->a != other->a || row->b != other->b);
        if (!row->warps) continue;
        int a = elem_info[row->a].bits, b = elem_info[row->b].bits;
        CHECK(row->spelling && row->spelling[0] && row->a_from && row->b_from);
        CHECK(row->n_most % row->n == 0 && row->n_coarse % row->n == 0 && row->n_share % row->n == 0);
        CHECK((row->n_most > 0) == row->reads_shared && !(row->promotes && !row->sum_bits));
        CHECK((row->precision == WORD_NONE) == (row->a != EL_F32 || row->set == MATRIX_MFMA)); /* which rounds no f32 */
        check_part(row, row->sum_in, row->m, row->n, elem_info[row->sum].bits);
        /* What lanes hold has a place, what the instruction reads by itself needs none. */
        CHECK((row->a_in != FRAGMENT_NONE) == (!row->reads_shared || row->a_from & FROM_REGISTERS));
        CHECK((row->b_in != FRAGMENT_NONE) == !row->reads_shared);
        if (row->a_in) check_part(row, row->a_in, row->m, row->k, a);
        if (row->b_in) check_part(row, row->b_in, row->k, row->n, b);
    }
    for (int j = 0; (m = machine_at(j)); j++) { /* some row takes every dot */
        int all = 0;
        for (int i = 0; (row = matrix_at(i)); i++) all += has(m, row) && row->a == EL_ANY && row->b == EL_ANY;
        CHECK(all == 1);
    }
}

/* --- fragments --- */
static int emu_type(const char *spelling) {
    static const struct {
        const char *name;
        int type;
    } types[] = {{"f16", EMU_F16},   {"bf16", EMU_BF16}, {"tf32", EMU_TF32}, {"e4m3", EMU_E4M3},
                 {"e5m2", EMU_E5M2}, {"s8", EMU_I8},     {"u8", EMU_U8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, spelling) == 0) return types[i].type;
    return -1;
}

static bool lies(const LinearLayout *part, int element, int thread, int row, int column) {
    uint32_t index =
        ll_apply(part, (LayoutPlace){{(uint32_t)element, (uint32_t)thread % 32, (uint32_t)thread / 32, 0}});
    return (int)ll_coord(part, index, 0) == row && (int)ll_coord(part, index, 1) == column;
}

static void check_operand(const Matrix *row, int type, bool left) {
    LinearLayout part = matrix_spread(left ? row->a_in : row->b_in, 1, 1, 1, 1, false, 1);
    int each = emu_per_register(type), registers = (1 << part.count[LL_REGISTER]) / each, wrong = 0;
    CHECK(registers == (left ? 4 : 2));
    for (int thread = 0; thread < 32 * row->warps; thread++)
        for (int r = 0; r < registers; r++)
            for (int e = 0; e < each; e++) {
                int at[2];
                if (left)
                    emu_fragment_a(type, thread % 32, r, e, &at[0], &at[1]);
                else
                    emu_fragment_b(type, thread % 32, r, e, &at[0], &at[1]);
                wrong += !lies(&part, r * each + e, thread, at[0] + 16 * (thread / 32), at[1]);
            }
    CHECK(!wrong);
}

/* AMD's: a step of the row is several instructions, each on a part of what a lane has. Their k need not be ours, but must
 * be the same one on both sides, each once; the product is turned round (hip_matrix.h). */
static void check_amd(const Matrix *row) {
    static const struct {
        const char *name;
        int type, each; /* elements of a lane in one MFMA */
    } types[] = {{"f16", HIP_F16, 4}, {"bf16", HIP_BF16, 4}, {"f32", HIP_F32, 1},   {"f64", HIP_F64, 1},
                 {"i8", HIP_I8, 8},   {"u8", HIP_U8, 8},     {"e4b8", HIP_E4B8, 8}, {"e5b16", HIP_E5B16, 8}};
    size_t t = 0;
    while (t < 8 && strcmp(types[t].name, row->spelling) != 0) t++;
    CHECK(t < 8);
    if (t == 8) return;
    bool wmma = row->instr == INSTR_WMMA;
    int kind = wmma ? HIP_WMMA_16x16 : row->instr == INSTR_MFMA_32 ? HIP_MFMA_32x32 : HIP_MFMA_16x16;
    int lanes = wmma ? 32 : 64, each = wmma ? 16 : types[t].each, wrong = 0, ours[64][64], taken[64] = {0};
    memset(ours, -1, sizeof ours);
    for (int left = 0; left < 2; left++) {
        LinearLayout part = matrix_spread(left ? row->a_in : row->b_in, 1, 1, 1, 1, false, 1);
        for (int lane = 0; lane < lanes; lane++)
            for (int e = 0; e < 1 << part.count[LL_REGISTER]; e++) {
                uint32_t index = ll_apply(&part, (LayoutPlace){{(uint32_t)e, (uint32_t)lane, 0, 0}});
                int side, theirs, k = (int)ll_coord(&part, index, left), *same;
                hip_place_operand(kind, types[t].type, lane, e % each, &side, &theirs);
                wrong += side != (int)ll_coord(&part, index, !left);
                same = &ours[e / each][theirs];
                if (*same < 0) taken[*same = k]++;
                wrong += *same != k;
            }
    }
    for (int k = 0; k < 64; k++) wrong += taken[k] != (k < row->k);
    LinearLayout sum = matrix_spread(row->sum_in, row->m, row->n, 1, 1, false, 1);
    for (int lane = 0; lane < lanes; lane++)
        for (int r = 0; r < row->m * row->n / lanes; r++) {
            uint32_t index = ll_apply(&sum, (LayoutPlace){{(uint32_t)r, (uint32_t)lane, 0, 0}});
            int turned_row, turned_column;
            hip_place_sum(kind, types[t].type, lane, r, &turned_row, &turned_column);
            wrong += (int)ll_coord(&sum, index, 0) != turned_column || (int)ll_coord(&sum, index, 1) != turned_row;
        }
    CHECK(!wrong);
}

static void test_fragments(void) {
    const Matrix *row;
    for (int i = 0; (row = matrix_at(i)); i++) {
        if (!row->warps) continue;
        if (row->set & (MATRIX_MFMA | MATRIX_MFMA_F8 | MATRIX_WMMA)) {
            check_amd(row);
            continue;
        }
        int type = emu_type(row->spelling), wrong = 0;
        CHECK(type >= 0 && row->k == 8 * emu_per_register(type));
        if (row->a_in) check_operand(row, type, true);
        if (row->b_in) check_operand(row, type, false);
        int widest = row->n_most ? row->n_most : row->n;
        LinearLayout sum = matrix_spread(row->sum_in, row->m, widest, 1, 1, row->n_most > 0, row->warps);
        for (int thread = 0; thread < 32 * row->warps; thread++)
            for (int r = 0; r < row->m * widest / (32 * row->warps); r++) {
                int at[2];
                emu_fragment_sum(thread % 32, r, &at[0], &at[1]);
                wrong += !lies(&sum, r, thread, at[0] + 16 * (thread / 32), at[1]);
            }
        CHECK(!wrong);
    }
}

int main(void) {
    test_machines();
    test_levels();
    test_rows();
    test_fragments();
    return check_done();
}
