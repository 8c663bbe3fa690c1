/* SPDX-License-Identifier: Apache-2.0 */
/* layout_convert.c: moving a tile from one layout to another, and shared memory without bank
 * conflicts.
 *
 * A conversion is the map from each destination place to a source place that holds the same
 * element. What it moves says what it costs: nothing, registers only (free), lanes of one warp
 * (shuffles), or warps (a pass through shared memory). For that pass ll_choose_swizzle builds a
 * shared layout from the bits of both sides:
 *
 *     offset bits = vector (registers on both sides), bank, segment
 *
 * where the segment, the part above the 32 banks, avoids the lanes of both sides; where it cannot,
 * the xor of a write lane with a read lane serves both (that xor is the swizzle). Example: f32
 * 32x32 transposed in one warp gives offset(r, c) = 32 c + (r ^ c), free of conflicts both ways. */
#include "analysis/linear_layout.h"

/* --- what a conversion needs --- */
static bool only(const LayoutPlace *p, LayoutInput input) {
    for (int in = 0; in < LL_INPUTS; in++)
        if (in != (int)input && p->at[in]) return false;
    return true;
}

static bool stays(const PlaceMap *map, LayoutInput input) {
    for (int i = 0; i < map->count[input]; i++)
        if (map->basis[input][i].at[input] != (uint32_t)1 << i || !only(&map->basis[input][i], input)) return false;
    return true;
}

static bool touches(const PlaceMap *map, LayoutInput from, LayoutInput what) {
    for (int i = 0; i < map->count[from]; i++)
        if (map->basis[from][i].at[what]) return true;
    return false;
}

/* Shuffles: for every destination register one for each source register that some lane asks for. */
static int count_shuffles(const PlaceMap *map, int elem_bytes) {
    uint32_t row[32] = {0};
    int rank = 0;
    for (int i = 0; i < map->count[LL_LANE]; i++) {
        uint32_t x = map->basis[LL_LANE][i].at[LL_REGISTER];
        while (x && row[31 - __builtin_clz(x)]) x ^= row[31 - __builtin_clz(x)];
        if (x) row[31 - __builtin_clz(x)] = x, rank++;
    }
    int words = elem_bytes > 4 ? elem_bytes / 4 : 1;
    return (words << map->count[LL_REGISTER]) << rank;
}

ConvertPlan ll_plan_convert(const LinearLayout *source, const LinearLayout *target, int elem_bytes) {
    ConvertPlan plan = {.kind = CONVERT_SHARED};
    if (!ll_invert_and_compose(target, source, &plan.map)) return plan;
    const PlaceMap *m = &plan.map;
    bool crosses = !stays(m, LL_BLOCK) || !stays(m, LL_WARP);
    for (int in = 0; in < LL_WARP; in++)
        crosses |= touches(m, (LayoutInput)in, LL_WARP) || touches(m, (LayoutInput)in, LL_BLOCK);
    if (crosses) return plan;
    if (stays(m, LL_LANE) && !touches(m, LL_REGISTER, LL_LANE)) {
        plan.kind = stays(m, LL_REGISTER) && source->count[LL_REGISTER] == target->count[LL_REGISTER]
                        ? CONVERT_NONE
                        : CONVERT_REGISTERS;
        return plan;
    }
    plan.shuffles = count_shuffles(m, elem_bytes);
    plan.kind = CONVERT_SHUFFLE;
    return plan;
}

static bool independent(uint32_t x, uint32_t y, uint32_t z) {
    return x && y && z && x != y && x != z && y != z && (x ^ y) != z;
}

bool ll_plan_trade(const ConvertPlan *plan, LaneTrade *trade) {
    const PlaceMap *m = &plan->map;
    const LayoutPlace *by = m->basis[LL_REGISTER];
    LaneTrade t = {0};
    if (plan->kind != CONVERT_SHUFFLE || m->count[LL_REGISTER] < 3) return false;
    if (by[0].at[LL_LANE] || !by[1].at[LL_LANE] || by[1].at[LL_REGISTER]) return false;
    t.near = by[0].at[LL_REGISTER];
    t.away = by[1].at[LL_LANE];
    t.side = t.away & -t.away;
    for (int i = 0; i < m->count[LL_LANE]; i++) {
        const LayoutPlace *from = &m->basis[LL_LANE][i];
        uint32_t choice = from->at[LL_REGISTER];
        if (choice && t.choice && t.choice != choice) return false;
        if (choice) t.choice = choice;
        if (!choice != !(from->at[LL_LANE] & t.side)) t.late |= (uint32_t)1 << i;
    }
    for (int i = m->count[LL_REGISTER]; i-- > 2;) {
        if (by[i].at[LL_LANE] & t.side) return false; /* some registers late, others not */
        if (by[i].at[LL_LANE] || !independent(t.near, by[i].at[LL_REGISTER], t.choice)) continue;
        t.far = by[i].at[LL_REGISTER];
        t.far_to = (uint32_t)1 << i;
    }
    *trade = t;
    return t.far_to;
}

int ll_vector(const PlaceMap *map, int elem_bytes, int max_bytes, int *bits) {
    int vector = 1;
    for (int bit = 0; vector * 2 * elem_bytes <= max_bytes; bit++, vector *= 2) {
        int owner = -1, touched = 0; /* exactly one register bit may stand for this bit of the
                                        offset, and for no other */
        for (int in = 0; in < LL_INPUTS; in++)
            for (int i = 0; i < map->count[in]; i++) {
                uint32_t offset = map->basis[in][i].at[LL_OFFSET];
                if (!(offset >> bit & 1)) continue;
                touched++;
                if (in == LL_REGISTER && offset == (uint32_t)1 << bit) owner = i;
            }
        if (owner < 0 || touched != 1) break;
        if (bits) bits[bit] = owner;
    }
    return vector;
}

/* --- spans --- */
typedef struct Span {
    uint32_t row[32];
    int rank;
} Span;

static bool span_add(Span *s, uint32_t x) {
    while (x) {
        int b = 31 - __builtin_clz(x);
        if (!s->row[b]) {
            s->row[b] = x;
            s->rank++;
            return true;
        }
        x ^= s->row[b];
    }
    return false;
}

static bool span_has(const Span *s, uint32_t x) {
    while (x && s->row[31 - __builtin_clz(x)]) x ^= s->row[31 - __builtin_clz(x)];
    return x == 0;
}

/* Bits of an address below the bank rows. */
static int row_bits(Banks banks) { return ll_log2((int64_t)banks.count * banks.bytes); }

/* Bits of lanes that one phase serves: as many as fill a bank row. */
static int phase_bits(Banks banks, int bytes) {
    int used = ll_log2(bytes < banks.bytes ? banks.bytes : bytes);
    return used < row_bits(banks) ? row_bits(banks) - used : 0;
}

int ll_bank_conflicts(Banks banks, const PlaceMap *map, int elem_bytes, int vector) {
    /* In one phase, wavefronts = distinct bank rows that meet one
     * bank; over F2 that is 2^dim(lanes' span with the bank field masked out). */
    int lanes = phase_bits(banks, elem_bytes * vector);
    Span all = {.rank = 0}, meet = {.rank = 0};
    for (int i = 0; i < lanes && i < map->count[LL_LANE]; i++) {
        uint32_t address = map->basis[LL_LANE][i].at[LL_OFFSET] * (uint32_t)elem_bytes;
        uint32_t word = address / (uint32_t)banks.bytes;
        span_add(&all, word);                                /* distinct words */
        span_add(&meet, word & ((uint32_t)banks.count - 1)); /* distinct banks */
    }
    return 1 << (all.rank - meet.rank);
}

/* --- the swizzle between two layouts --- */
typedef struct Side {
    uint32_t registers[LL_MAX_BITS], lanes[LL_MAX_BITS], warps[LL_MAX_BITS];
    int register_count, lane_count, warp_count;
} Side;

static Side side_of(const LinearLayout *layout) {
    Side s = {.register_count = 0};
    for (int i = 0; i < layout->count[LL_REGISTER]; i++)
        if (layout->basis[LL_REGISTER][i]) s.registers[s.register_count++] = layout->basis[LL_REGISTER][i];
    for (int i = 0; i < layout->count[LL_LANE]; i++)
        if (layout->basis[LL_LANE][i]) s.lanes[s.lane_count++] = layout->basis[LL_LANE][i];
    for (int i = 0; i < layout->count[LL_WARP]; i++)
        if (layout->basis[LL_WARP][i]) s.warps[s.warp_count++] = layout->basis[LL_WARP][i];
    return s;
}

static bool listed(const uint32_t *list, int count, uint32_t x) {
    for (int i = 0; i < count; i++)
        if (list[i] == x) return true;
    return false;
}

LinearLayout ll_choose_swizzle(Banks banks, int most_bytes, const LinearLayout *source, const LinearLayout *target,
                               int elem_bytes) {
    Side w = side_of(source), r = side_of(target);
    int bits = ll_index_bits(source);
    LinearLayout shared = {.rank = source->rank};
    for (int d = 0; d < source->rank; d++) shared.log2[d] = source->log2[d];
    Span taken = {.rank = 0};
    /* 1. the vector: registers on both sides */
    int vector_bits = 0;
    for (int i = 0; i < w.register_count && elem_bytes << (vector_bits + 1) <= most_bytes; i++)
        if (listed(r.registers, r.register_count, w.registers[i]) && span_add(&taken, w.registers[i])) {
            ll_push(&shared, LL_OFFSET, w.registers[i]);
            vector_bits++;
        }
    /* 2. the lanes of one phase on either side */
    int phase = phase_bits(banks, elem_bytes << vector_bits);
    Span write = taken, read = taken;
    for (int i = 0; i < phase && i < w.lane_count; i++) span_add(&write, w.lanes[i]);
    for (int i = 0; i < phase && i < r.lane_count; i++) span_add(&read, r.lanes[i]);
    /* 3. the segment: bits of neither side, then pairs, then what is left */
    int bank_bits = row_bits(banks) - ll_log2(elem_bytes) - vector_bits;
    int segment_bits = bits - vector_bits - bank_bits;
    uint32_t segment[32];
    int count = 0;
    Span seen = taken;
    for (int b = 0; b < bits && count < segment_bits; b++) {
        uint32_t unit = (uint32_t)1 << b;
        if (!span_has(&write, unit) && !span_has(&read, unit) && span_add(&seen, unit)) segment[count++] = unit;
    }
    int i = 0, j = 0;
    while (count < segment_bits && i < w.lane_count && j < r.lane_count) {
        if (span_has(&read, w.lanes[i])) {
            i++;
        } else if (span_has(&write, r.lanes[j])) {
            j++;
        } else {
            uint32_t both = w.lanes[i++] ^ r.lanes[j++];
            if (span_add(&seen, both)) segment[count++] = both;
        }
    }
    /* 4. the banks: unit bits that complete vector and segment; those short of a segment come last */
    uint32_t rest[32];
    int rest_count = 0;
    for (int b = 0; b < bits; b++) {
        uint32_t unit = (uint32_t)1 << b;
        if (span_add(&seen, unit)) rest[rest_count++] = unit;
    }
    for (int b = 0; b < rest_count; b++) ll_push(&shared, LL_OFFSET, rest[b]);
    for (int s = 0; s < count; s++) ll_push(&shared, LL_OFFSET, segment[s]);
    return shared;
}

/* Offset bits that lanes or warps have a part in. */
static uint32_t thread_bits(const LinearLayout *layout, const LinearLayout *shared) {
    PlaceMap map;
    uint32_t bits = 0;
    if (!ll_invert_and_compose(layout, shared, &map)) return UINT32_MAX;
    for (int in = LL_LANE; in < LL_INPUTS; in++)
        for (int i = 0; i < map.count[in]; i++) bits |= map.basis[in][i].at[LL_OFFSET];
    return bits;
}

LinearLayout ll_choose_pieces(Banks banks, int most_bytes, const LinearLayout *source, const LinearLayout *target,
                              int elem_bytes) {
    LinearLayout shared = ll_choose_swizzle(banks, most_bytes, source, target, elem_bytes), parted = shared;
    uint32_t threads = thread_bits(source, &shared) | thread_bits(target, &shared);
    int first = row_bits(banks) - ll_log2(elem_bytes), at = first; /* within a row of banks all stays as it is */
    for (int pass = 0; pass < 2; pass++)
        for (int i = first; i < shared.count[LL_OFFSET]; i++)
            if ((threads >> i & 1) != (uint32_t)pass) parted.basis[LL_OFFSET][at++] = shared.basis[LL_OFFSET][i];
    return parted;
}
