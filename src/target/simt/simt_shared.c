/* SPDX-License-Identifier: Apache-2.0 */
/* simt_shared.c: shared memory: tiles in and out, conversions between layouts. The schedule says who lies where
 * (pass/schedule/schedule_place.c) and where threads meet in between (simt_sync.c). */
#include "target/simt/simt.h"

#include <string.h>

int64_t shared_offset(Emit *e, const Op *op) {
    const Attr *at = op_attr(op, AT_AT);
    if (!at) ice(e->k->module->trap, "simt: %s has no shared memory", op_info[op->code].mnemonic);
    return at->number;
}

/* --- tiles --- */
const Expr *shared_at(Emit *e, const SharedTile *tile, const Expr *offset, const Expr *row, const Expr *column) {
    return ex(e->arena, "tw_tile_at(%p, %p, %p, %lld, %d, %d)", offset, row, column, (long long)tile->panel,
              tile->width, tile->elem_bytes);
}

typedef struct TileWalk {
    int vector;
    const Expr *row, *column;
    const Expr *condition;
} TileWalk;

/* Row, column and condition of register r, for an op that moves so many elements at once. */
static TileWalk walk_tile(Emit *e, const Op *mover, const Type *type, const Layout *layout, bool owner) {
    TileWalk w = {.row = &expr_zero, .column = &expr_zero, .vector = (int)op_int(mover, AT_VECTOR, 1)};
    int last = type->rank - 1;
    e->vector_bits = ll_log2(w.vector);
    w.column = place_coord(e, layout, last, &place_r);
    for (int d = 0; d < type->rank; d++) {
        const Expr *coord = place_coord(e, layout, d, &place_r);
        if (d < last)
            w.row = d == 0 ? coord : ex(e->arena, "(%p * %lld + %p)", w.row, (long long)type->extent[d], coord);
        w.condition = ex_and(e->arena, w.condition, place_inside(e, layout, type, d, &place_r));
    }
    if (owner) w.condition = ex_and(e->arena, w.condition, place_owner(e, &layout->map));
    return w;
}

/* What the report says of a tile that goes to shared memory or comes from it, once. */
static void find_conflicts(Emit *e, Ref value, const SharedTile *tile, int vector, bool store) {
    uintptr_t key = (uintptr_t)value * 4 + (store ? 3 : 1); /* odd: no op */
    if (map_find_number(&e->found, key)) return;
    map_put_number(&e->found, e->arena, key, NULL);
    const Op *op = ir_value(e->k, value)->op;
    int fronts =
        layout_tile_conflicts(e->cx->machine->banks, emit_layout(e, value), ir_type(e->k, value), tile, vector);
    pass_find(e->cx, op ? op->range : e->k->range, FIND_SHARED_TILE, store ? "to" : "from",
              (long long)tile->columns * tile->elem_bytes, tile->width, vector * tile->elem_bytes, fronts,
              fronts == 1 ? "" : "s");
}

static void zero_box(Emit *e, const SharedTile *tile, const Expr *offset, int64_t first_row, int64_t first_column,
                     int64_t rows, int64_t columns) {
    if (!rows || !columns) return;
    const char *memory = tile->elem_bytes == 1   ? "u8"
                         : tile->elem_bytes == 2 ? "u16"
                         : tile->elem_bytes == 4 ? "u32"
                                                 : "u64";
    cs_open(&e->p, "for (int j = %p; j < %lld; j += %d)", e->thread, (long long)(rows * columns),
            e->lanes * e->group.warps);
    cs_line(&e->p, "const %s zero = 0;", memory);
    const Expr *at[2] = {ex(e->arena, "j / %lld", (long long)columns), ex(e->arena, "j %% %lld", (long long)columns)};
    if (first_row) at[0] = ex(e->arena, "%lld + %p", (long long)first_row, at[0]);
    if (first_column) at[1] = ex(e->arena, "%lld + %p", (long long)first_column, at[1]);
    cs_line(&e->p, "tw_sts(1, %p, &zero);", shared_at(e, tile, offset, at[0], at[1]));
    cs_close(&e->p);
}

/* Zeros where the matrix instruction reads beyond the tile along K: below it, and beside it. */
void shared_zero_tail(Emit *e, const SharedTile *tile, const Expr *offset) {
    zero_box(e, tile, offset, tile->rows, 0, tile->zero_rows - tile->rows, tile->columns);
    zero_box(e, tile, offset, 0, tile->columns, tile->rows, tile->zero_columns - tile->columns);
}

void shared_store_part(Emit *e, const Op *put, Ref value, const SharedTile *tile, const Expr *offset, int parts) {
    const Type *type = ir_type(e->k, value);
    const Layout *layout = emit_layout(e, value);
    TileWalk w = walk_tile(e, put, type, layout, true);
    const Hold *hold = emit_hold(e, value);
    find_conflicts(e, value, tile, w.vector, true);
    const char *memory = cs_memory_type(type->elem);
    bool words = hold->kind == HOLD_WORDS;
    bool straight = (hold->kind == HOLD_ARRAY && type->elem != EL_I1) || words;
    int each = words ? 4 / ty_elem_bytes(type) : 1; /* elements of the array's elements */
    cs_note(&e->p, "%s to shared memory, rows of %d bytes: each thread's elements to their rows and columns",
            purpose_tile(e, value), tile->width);
    if (words && w.vector % each) ice(e->k->module->trap, "simt: words are put in parts");
    if (parts > 1) {
        int count = layout->registers / parts;
        cs_raw(&e->p, "#pragma unroll");
        e->vector_bits = ll_log2(w.vector);
        cs_open(&e->p, "for (int r = part * %d; r < part * %d + %d; r += %d)", count, count, count, w.vector);
    } else {
        emit_unroll(e, "r", layout->registers, w.vector);
    }
    const Expr *from = words      ? ex(e->arena, "%p + r / %d", hold->by, each)
                       : straight ? ex(e->arena, "%p + r", hold->by)
                                  : ex_name(e->arena, "word");
    if (!straight) {
        cs_line(&e->p, "%s word[%d];", memory, w.vector);
        for (int j = 0; j < w.vector; j++) {
            const Expr *text = elementwise_operand(e, value, layout, ex(e->arena, "(r + %d)", j));
            cs_line(&e->p, "word[%d] = %p;", j,
                    type->elem == EL_I1 ? cs_pack(&e->p, EL_I1, text) : elementwise_packed(e, type->elem, text));
        }
    }
    /* Slots begin at multiples of 1024, so the swizzle does not see them: for a loop of puts its part
     * is computed once. */
    const Expr *at = words ? ex(e->arena, "%p + %p", offset, shared_at(e, tile, &expr_zero, w.row, w.column))
                           : shared_at(e, tile, offset, w.row, w.column);
    if (w.condition)
        cs_line(&e->p, "tw_sts_if(%d, %p, %p, %p);", w.vector / each, w.condition, at, from);
    else
        cs_line(&e->p, "tw_sts(%d, %p, %p);", w.vector / each, at, from);
    cs_close(&e->p);
}

void shared_store_tile(Emit *e, const Op *put, Ref value, const SharedTile *tile, const Expr *offset) {
    shared_store_part(e, put, value, tile, offset, 1);
    shared_zero_tail(e, tile, offset);
}

/* Where register r of a tile in a slot lies, of a get that says so (`apart`): what the thread decides is computed once,
 * the rest is a number. */
static const Expr *slot_at(Emit *e, const SharedTile *tile, const Layout *layout, const Expr *slot) {
    const LinearLayout *map = &layout->map;
    const Expr *at[2], *by[2];
    for (int d = 0; d < 2; d++) {
        at[d] = place_thread(e, map, d);
        by[d] = place_register(e, map, d, &place_r);
    }
    return ex(e->arena, "%p + (%p ^ %p)", slot, shared_at(e, tile, &expr_zero, at[0], at[1]),
              shared_at(e, tile, &expr_zero, by[0], by[1]));
}

void shared_load_tile(Emit *e, const Op *get, const SharedTile *tile, const Expr *offset) {
    Ref value = get->results[0];
    const Type *type = ir_type(e->k, value);
    const Layout *layout = emit_layout(e, value);
    TileWalk w = walk_tile(e, get, type, layout, false);
    find_conflicts(e, value, tile, w.vector, false);
    const char *array = emit_declare(e, value);
    bool flags = type->elem == EL_I1;
    cs_note(&e->p, "%s from shared memory, rows of %d bytes: each thread's elements by row and column",
            purpose_tile(e, value), tile->width);
    emit_unroll(e, "r", layout->registers, w.vector);
    const Expr *at =
        op_flag(get, AT_APART) ? slot_at(e, tile, layout, offset) : shared_at(e, tile, offset, w.row, w.column);
    if (flags) cs_line(&e->p, "u8 raw[%d];", w.vector);
    const Expr *to = flags ? ex_name(e->arena, "raw") : ex(e->arena, "%s + r", array);
    if (w.condition)
        cs_line(&e->p, "tw_lds_if(%d, %p, %p, %p);", w.vector, w.condition, to, at);
    else
        cs_line(&e->p, "tw_lds(%d, %p, %p);", w.vector, to, at);
    for (int j = 0; flags && j < w.vector; j++) cs_line(&e->p, "%s[r + %d] = raw[%d] != 0;", array, j, j);
    cs_close(&e->p);
}

/* --- conversions between register layouts --- */
static void register_masks(const PlaceMap *map, LayoutInput from, LayoutInput what, uint32_t *masks) {
    for (int i = 0; i < map->count[from]; i++) masks[i] = map->basis[from][i].at[what];
}

static void convert_registers(Emit *e, const Op *op, const PlaceMap *map) {
    uint32_t masks[LL_MAX_BITS];
    const Hold *from = emit_hold(e, op->operands[0]);
    register_masks(map, LL_REGISTER, LL_REGISTER, masks);
    const Expr *source = from->by;
    const char *array = emit_declare(e, op->results[0]);
    cs_note(&e->p, "%s as its user holds it: the same elements in other registers", purpose_tile(e, op->operands[0]));
    emit_unroll(e, "r", emit_layout(e, op->results[0])->registers, 1);
    cs_line(&e->p, "%s[r] = %p[%p];", array, source, place_bits(e->arena, &place_r, map->count[LL_REGISTER], masks));
    cs_close(&e->p);
}

/* For each register: ask the lane that has the element; where lanes ask for different registers, once for each. */
static void convert_shuffle(Emit *e, const Op *op, const PlaceMap *map) {
    enum { MOST = 64 }; /* one for each lane */
    uint32_t masks[LL_MAX_BITS], span[MOST];
    int candidates = 1;
    const Expr *source = emit_hold(e, op->operands[0])->by;
    const char *array = emit_declare(e, op->results[0]);
    int registers = emit_layout(e, op->operands[0])->registers;
    register_masks(map, LL_REGISTER, LL_LANE, masks);
    const Expr *by_register = place_bits(e->arena, &place_r, map->count[LL_REGISTER], masks);
    register_masks(map, LL_LANE, LL_LANE, masks);
    const Expr *by_lane = place_bits(e->arena, &place_lane, map->count[LL_LANE], masks);
    register_masks(map, LL_REGISTER, LL_REGISTER, masks);
    const Expr *reg = place_bits(e->arena, &place_r, map->count[LL_REGISTER], masks);
    register_masks(map, LL_LANE, LL_REGISTER, masks);
    const Expr *choice = place_bits(e->arena, &place_lane, map->count[LL_LANE], masks);
    span[0] = 0;
    for (int i = 0; i < map->count[LL_LANE]; i++) {
        bool known = masks[i] == 0;
        for (int j = 0; j < candidates; j++) known |= span[j] == masks[i];
        if (known || candidates == MOST) continue;
        for (int j = 0; j < candidates; j++) span[candidates + j] = span[j] ^ masks[i];
        candidates *= 2;
    }
    cs_note(&e->p, "%s as its user holds it: from which lane, and which of its registers, each element comes",
            purpose_tile(e, op->operands[0]));
    emit_unroll(e, "r", emit_layout(e, op->results[0])->registers, 1);
    cs_line(&e->p, "const i32 from = %p ^ %p;", by_lane, by_register);
    bool wide = ir_type(e->k, op->results[0])->pointer;
    const char *type = emit_array_type(e, ir_type(e->k, op->results[0]));
    for (int j = 0; j < candidates; j++) {
        const Expr *index = span[j] ? ex(e->arena, "(%p ^ %u)", reg, span[j]) : reg;
        if (registers & (registers - 1)) index = ex(e->arena, "(%p < %d ? %p : 0)", index, registers, index);
        const Expr *got = wide ? ex(e->arena, "(%s)tw_shfl_idx((i64)%p[%p], from)", type, source, index)
                               : ex(e->arena, "tw_shfl_idx(%p[%p], from)", source, index);
        cs_line(&e->p, wide ? "%sconst got%d = %p;" : "const %s got%d = %p;", type, j, got);
    }
    if (candidates == 1) cs_line(&e->p, "%s[r] = got0;", array);
    for (int j = 0; j < candidates && candidates > 1; j++)
        cs_line(&e->p, "if (%p == %u) %s[r] = got%d;", choice, span[j], array, j);
    cs_close(&e->p);
}

/* The four bytes of a word on its way, from source register `at` on, as one: rounded here if nobody else has. */
static const Expr *trade_word(Emit *e, const Op *op, const LaneTrade *t, const Expr *at) {
    const Op *cast = ir_value(e->k, op->operands[0])->op;
    bool round = cast && op_flag(cast, AT_PACKED);
    const Expr *from = emit_hold(e, round ? cast->operands[0] : op->operands[0])->by, *byte[4];
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t by = (i & 1 ? t->near : 0) ^ (i & 2 ? t->far : 0);
        byte[i] = by ? ex(e->arena, "%p[%p ^ %u]", from, at, by) : ex(e->arena, "%p[%p]", from, at);
    }
    const char *elem = round ? cs_memory_type(ir_type(e->k, op->operands[0])->elem) : "";
    return ex(e->arena, "tw_pack%s%s(%p, %p, %p, %p)", round ? "_" : "", elem, byte[0], byte[1], byte[2], byte[3]);
}

static LaneTrade trade_of(Emit *e, const Op *convert) {
    LaneTrade t;
    if (!convert_trades(e->k, convert, &t)) ice(e->k->module->trap, "simt: lanes that cannot trade");
    return t;
}

static const Expr *trade_late(Emit *e, const LaneTrade *t) {
    bool one = (t->late & (t->late - 1)) == 0;
    return one ? ex(e->arena, "(lane & %u)", t->late) : ex(e->arena, "(tw_popc(lane & %u) & 1)", t->late);
}

/* Every fourth register but those that are far from another one, up to so many. */
static void open_trades(Emit *e, const LaneTrade *t, int registers) {
    emit_unroll(e, "r", registers, 4);
    cs_line(&e->p, "if (r & %u) continue;", t->far_to);
}

/* Lanes trade words of four bytes (LaneTrade), two of each at a time; who takes them puts their bytes in order. */
static void convert_trade(Emit *e, const Op *op, const PlaceMap *map) {
    LaneTrade t = trade_of(e, op);
    int registers = emit_layout(e, op->results[0])->registers;
    uint32_t masks[LL_MAX_BITS];
    register_masks(map, LL_REGISTER, LL_REGISTER, masks);
    const Expr *at = place_bits(e->arena, &place_r, map->count[LL_REGISTER], masks);
    register_masks(map, LL_REGISTER, LL_LANE, masks);
    masks[1] = 0; /* r is a multiple of 4 */
    const Expr *by_register = place_bits(e->arena, &place_r, map->count[LL_REGISTER], masks);
    register_masks(map, LL_LANE, LL_LANE, masks);
    const Expr *by_lane = place_bits(e->arena, &place_lane, map->count[LL_LANE], masks);
    const Expr *first = trade_word(e, op, &t, at);
    const Expr *second = trade_word(e, op, &t, ex(e->arena, "(%p ^ %u)", at, t.choice));
    const char *array = cs_fresh(&e->p, "traded");
    cs_note(&e->p, "%s as its user holds it: lanes trade words of four bytes, two at a time",
            purpose_tile(e, op->operands[0]));
    cs_line(&e->p, "u32 %s[%d];", array, registers / 4);
    open_trades(e, &t, registers);
    cs_line(&e->p, "const u32 first = %p, second = %p;", first, second);
    cs_line(&e->p, "const i32 from = (%p ^ %p) ^ (%p ? %u : 0);", by_lane, by_register, trade_late(e, &t), t.away);
    cs_line(&e->p, "%s[r / 4] = tw_shfl_idx(lane & %u ? second : first, from);", array, t.side);
    cs_line(&e->p, "%s[r / 4 + %u] = tw_shfl_idx(lane & %u ? first : second, from ^ %u);", array, t.far_to / 4, t.side,
            t.away);
    cs_close(&e->p);
    emit_set_name(e, op->results[0], HOLD_TRADED, array);
    emit_find(e, op, FIND_CONVERT_TRADE, registers / 4);
}

void shared_take_traded(Emit *e, Ref value, const char *words) {
    const Expr *array = emit_hold(e, value)->by;
    LaneTrade t = trade_of(e, ir_value(e->k, value)->op);
    unsigned far = t.far_to / 4;
    open_trades(e, &t, emit_layout(e, value)->registers);
    cs_line(&e->p, "const u32 order = %p ? 0x1054 : 0x5410;", trade_late(e, &t));
    cs_line(&e->p, "%s[r / 4] = tw_prmt(%p[r / 4], %p[r / 4 + %u], order);", words, array, array, far);
    cs_line(&e->p, "%s[r / 4 + %u] = tw_prmt(%p[r / 4], %p[r / 4 + %u], order ^ 0x2222);", words, far, array, array,
            far);
    cs_close(&e->p);
}

/* The bits of the map's offsets from `first` on, so many: those of lane and warp, and those of register r. */
static void offset_bits(Emit *e, const PlaceMap *map, int first, int count, const Expr **thread, const Expr **reg) {
    uint32_t masks[LL_INPUTS][LL_MAX_BITS];
    for (int in = LL_REGISTER; in <= LL_WARP; in++) {
        register_masks(map, (LayoutInput)in, LL_OFFSET, masks[in]);
        for (int i = 0; i < map->count[in]; i++) masks[in][i] = masks[in][i] >> first & ((1u << count) - 1);
    }
    const Expr *lane = place_bits(e->arena, &place_lane, map->count[LL_LANE], masks[LL_LANE]);
    const Expr *warp = place_bits(e->arena, &place_warp, map->count[LL_WARP], masks[LL_WARP]);
    *thread = ex(e->arena, "%p ^ %p", lane, warp);
    *reg = place_bits(e->arena, &place_r, map->count[LL_REGISTER], masks[LL_REGISTER]);
}

/* One side of the pass through shared memory: registers of `layout` at the offsets of `via`; where it goes in pieces,
 * those of piece `turn`. Says how. */
static const char *move_side(Emit *e, const Op *op, Ref value, const LinearLayout *via, bool store) {
    const Layout *layout = emit_layout(e, value);
    const Type *type = ir_type(e->k, value);
    int bytes = convert_bytes(type), bits[8];
    PlaceMap map;
    if (!ll_invert_and_compose(&layout->map, via, &map)) ice(e->k->module->trap, "simt: a conversion lacks an element");
    int vector = (int)op_attr(op, AT_VECTORS)->list.at[!store];
    bool low = true; /* of registers side by side */
    ll_vector(&map, bytes, vector * bytes, bits);
    uint32_t used = 0;
    for (int i = 0; 1 << i < vector; i++) {
        low &= bits[i] == i;
        used |= (uint32_t)1 << bits[i];
    }
    int pieces = ll_log2(op_int(op, AT_PIECES, 1)), within = via->count[LL_OFFSET] - pieces;
    const Expr *thread, *reg, *own_piece, *piece_of;
    offset_bits(e, &map, 0, within, &thread, &reg);
    offset_bits(e, &map, within, pieces, &own_piece, &piece_of);
    const Expr *array = emit_hold(e, value)->by;
    const char *name = cs_fresh(&e->p, store ? "to" : "from");
    cs_note(&e->p, store ? "%s to another layout through shared memory: where this thread's elements go"
                         : "%s in its other layout: where this thread's elements lie",
            purpose_tile(e, op->operands[0]));
    cs_line(&e->p, "const i32 %s = %p;", name, thread);
    bool by_thread = pieces && ex_is_int(piece_of, 0); /* all of a thread's registers are in one piece */
    if (by_thread) cs_open(&e->p, "if (%p == turn)", own_piece);
    (pieces ? emit_unroll_real : emit_unroll)(e, "r", layout->registers, low ? vector : 1);
    if (!low) cs_line(&e->p, "if (r & %u) continue;", used);
    if (pieces && !by_thread) cs_line(&e->p, "if ((%p ^ %p) != turn) continue;", own_piece, piece_of);
    const Expr *at = ex(e->arena, "%lld + (%s ^ %p) * %d", (long long)shared_offset(e, op), name, reg, bytes);
    const Expr *owner = store ? place_owner(e, &layout->map) : NULL;
    const Expr *piece = low ? ex(e->arena, "%p + r", array) : ex_name(e->arena, "piece");
    const char *element = emit_array_type(e, type);
    if (!low) cs_line(&e->p, "%s piece[%d];", element, vector);
    for (int j = 0; !low && store && j < vector; j++) {
        uint32_t index = 0;
        for (int i = 0; 1 << i < vector; i++) index |= (uint32_t)(j >> i & 1) << bits[i];
        cs_line(&e->p, "piece[%d] = %p[r + %u];", j, array, index);
    }
    if (store && owner)
        cs_line(&e->p, "tw_sts_if(%d, %p, %p, %p);", vector, owner, at, piece);
    else if (store)
        cs_line(&e->p, "tw_sts(%d, %p, %p);", vector, at, piece);
    else
        cs_line(&e->p, "tw_lds(%d, %p, %p);", vector, piece, at);
    for (int j = 0; !low && !store && j < vector; j++) {
        uint32_t index = 0;
        for (int i = 0; 1 << i < vector; i++) index |= (uint32_t)(j >> i & 1) << bits[i];
        cs_line(&e->p, "%p[r + %u] = piece[%d];", array, index, j);
    }
    cs_close(&e->p);
    if (by_thread) cs_close(&e->p);
    int wavefronts = ll_bank_conflicts(e->cx->machine->banks, &map, bytes, vector);
    return arena_printf(e->arena, "%s in vectors of %d bytes, %d wavefront%s", store ? "written" : "read",
                        vector * bytes, wavefronts, wavefronts == 1 ? "" : "s");
}

/* All have read the piece before when the next one is written. What is to be shown is, behind the first. */
static void sync_pieces(Emit *e) {
    bool shows = e->shows;
    e->shows = false;
    cs_open(&e->p, "if (turn)");
    sync_step(e);
    cs_close(&e->p);
    e->shows = shows;
}

void shared_convert(Emit *e, const Op *op) {
    Ref value = op->operands[0], result = op->results[0];
    const Layout *to = emit_layout(e, result), *from = emit_layout(e, value);
    if (to->home == HOME_SHARED) {
        const Expr *offset = ex(e->arena, "%lld", (long long)shared_offset(e, op));
        const Op *made = ir_value(e->k, value)->op;
        if (made && op_flag(made, AT_PACKED)) pairs_make(e, value);
        sync_before(e, op);
        shared_store_tile(e, op, value, &to->tile, offset);
        emit_set(e, result, HOLD_SHARED, offset);
        return;
    }
    if (from->home == HOME_SHARED) {
        if (from->tile.turned) {
            emit_refuse(e, op, "a transposed view read into registers");
            return;
        }
        sync_before(e, op);
        shared_load_tile(e, op, &from->tile, emit_hold(e, value)->by);
        return;
    }
    if (tile_is_number(e->k, value)) { /* nothing moves; its barriers may be other ops' too */
        if (op_attr(op, AT_AT)) sync_before(e, op), sync_step(e);
        emit_same(e, result, value);
        return;
    }
    ConvertPlan plan = convert_plan(e->k, op);
    switch (op_word(op, AT_VIA, VIA_SHARED)) {
    case VIA_NOTHING: emit_same(e, result, value); return;
    case VIA_REGISTERS:
        emit_find(e, op, FIND_CONVERT_REGISTERS);
        convert_registers(e, op, &plan.map);
        return;
    case VIA_SHUFFLE:
        emit_find(e, op, FIND_CONVERT_SHUFFLES, plan.shuffles);
        convert_shuffle(e, op, &plan.map);
        return;
    case VIA_TRADE: convert_trade(e, op, &plan.map); return;
    default: break;
    }
    int pieces = (int)op_int(op, AT_PIECES, 1);
    LinearLayout via = convert_through(e->k, op);
    sync_before(e, op);
    if (pieces > 1) {
        emit_declare(e, result);
        emit_unroll_real(e, "turn", pieces, 1);
        sync_pieces(e);
    }
    const char *there = move_side(e, op, value, &via, true);
    sync_step(e);
    if (pieces == 1) emit_declare(e, result);
    const char *back = move_side(e, op, result, &via, false);
    if (pieces > 1) cs_close(&e->p);
    emit_find(e, op, FIND_CONVERT_SHARED, pieces == 1 ? "" : arena_printf(e->arena, " in %d pieces", pieces), there,
              back);
}
