/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_parts.c: how an output tile leaves by TMA: panel by panel, warpgroup by warpgroup.
 *
 * The plan gives a ring of outputs `parts` where the memory of a whole tile is better spent on one more slot of the
 * inputs, the schedule where the whole tile does not fit. A part is a panel: 128 bytes of every row, and two have room.
 * Here is seen whether that can be done: one put, one get, one store by TMA of them, and a layout whose upper registers
 * are the upper columns.
 *
 * Where the upper rows are those of the upper warps, each warpgroup stores its own rows as a box of its own and waits
 * for no other (`solo`): in a loop from tile to tile one goes on with its products while another stores. */
#include "pass/schedule/schedule.h"

/* The only op of this kind that has to do with the ring; NULL: none, or several. */
typedef struct RingUse {
    const Kernel *k;
    Ref ring;
    Opcode code;
    int count;
    const Op *op;
} RingUse;

static bool is_of(const RingUse *u, const Op *op) {
    if (op->code != u->code) return false;
    if (op->code != OP_TSTORE) return hand_ring(u->k, op) == u->ring;
    Ref value = op_operand(op, 1);
    const Op *get = ref_is_value(value) ? ir_value(u->k, value)->op : NULL;
    return get && get->code == OP_GET && hand_ring(u->k, get) == u->ring;
}

static void look(RingUse *u, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (is_of(u, op)) {
            u->count++;
            u->op = op;
        }
        for (int i = 0; i < op->region_count; i++) look(u, op->regions[i]);
    }
}

static const Op *only_use(const Schedule *s, const RingSchedule *r, Opcode code) {
    RingUse u = {.k = s->k, .ring = r->op->results[0], .code = code};
    look(&u, tasks_body(s->tasks));
    return u.count == 1 ? u.op : NULL;
}

/* Are the upper registers of a thread the upper columns, and nothing else is? */
static bool follows_columns(const Layout *layout, const Type *type, int parts) {
    const LinearLayout *map = &layout->map;
    int bits = ll_log2(parts), registers = map->count[LL_REGISTER];
    uint32_t columns = (uint32_t)type->extent[1], upper = columns - columns / (uint32_t)parts;
    if (layout->registers != 1 << registers || columns != 1u << map->log2[1] || bits > registers) return false;
    for (int input = 0; input < LL_INPUTS; input++)
        for (int i = 0; i < map->count[input]; i++) {
            int below = registers - i; /* from the top: 1, 2 .. */
            bool top = input == LL_REGISTER && below <= bits;
            uint32_t basis = map->basis[input][i];
            if (top ? basis != columns >> below : (basis & upper) != 0) return false;
        }
    return true;
}

/* Are the upper warps the upper rows, and nothing else is? */
static bool follows_rows(const Layout *layout, const Type *type, int groups) {
    const LinearLayout *map = &layout->map;
    int bits = ll_log2(groups), warps = map->count[LL_WARP];
    uint32_t rows = (uint32_t)type->extent[0], upper = (rows - rows / (uint32_t)groups) << map->log2[1];
    if (rows != 1u << map->log2[0] || bits > warps) return false;
    for (int input = 0; input < LL_INPUTS; input++)
        for (int i = 0; i < map->count[input]; i++) {
            int below = warps - i; /* from the top: 1, 2 .. */
            bool top = input == LL_WARP && below <= bits;
            uint32_t basis = map->basis[input][i];
            if (top ? basis != rows >> below << map->log2[1] : (basis & upper) != 0) return false;
        }
    return true;
}

/* Stores of one warpgroup do not wait for those of another, from one trip to the next. So a row must never be the
 * other's: all stores beside the threads go to one matrix, at multiples of as many rows, and rows do not overlap. */
typedef struct RowStores {
    Schedule *s;
    const Op *first;
    bool apart;
} RowStores;

static void look_at_store(Op *op, void *user) {
    RowStores *w = user;
    Schedule *s = w->s;
    if (op->code == OP_RING && !ir_type(s->k, op->results[0])->field_count)
        w->apart = false; /* load waits for stores */
    if (op->code != OP_TSTORE || op_word(op, AT_MOVER, MOVER_LANES) != MOVER_TMA) return;
    int64_t rows = ir_type(s->k, op_operand(op, 1))->extent[0];
    TensorParts parts = fact_tensor(&s->facts, op->operands[0]);
    w->first = w->first ? w->first : op;
    w->apart = w->apart && op->operands[0] == w->first->operands[0] && parts.rank == 2 &&
               rows == ir_type(s->k, op_operand(w->first, 1))->extent[0] && box_axis(op, 2, 2, 0) == 0 &&
               fact_multiple(s->k, op_list(op, 0).at[0]) % rows == 0 && fact_wish_rows_apart(&s->facts, &parts);
}

static bool stores_rows_apart(Schedule *s) {
    RowStores w = {.s = s, .apart = true};
    ir_walk(s->k->body, look_at_store, &w);
    return w.apart;
}

/* The first named barrier of warpgroups that store by themselves; 0: they do not. */
static int first_solo(Schedule *s, const RingSchedule *r, const Layout *layout, const Op *put) {
    enum { MOST_GROUPS = 4, OF_TURNS = 2 /* the last (schedule_turn.c) */, ROWS_OF_SWIZZLE = 8 };
    const Machine *machine = s->cx->machine;
    const Type *type = ir_type(s->k, op_operand(put, 1));
    int warps = layout_group(s->cx, s->k, r->from).warps,
        groups = warps / (machine->group_warps ? machine->group_warps : 1);
    if (groups < 2 || groups > MOST_GROUPS || (groups & (groups - 1)) || groups * machine->group_warps != warps ||
        layout->map.count[LL_WARP] != ll_log2(warps) || type->extent[0] % (groups * ROWS_OF_SWIZZLE) ||
        !role_loops_around(put) || !follows_rows(layout, type, groups) || !stores_rows_apart(s))
        return 0;
    return machine->named_barriers - OF_TURNS - MOST_GROUPS;
}

void schedule_parts(Schedule *s, RingSchedule *r) {
    const Kernel *k = s->k;
    const SharedTile *tile = &r->field[0];
    int parts = s->panels && tile->panel ? (int)(tile->bytes / tile->panel) : (int)op_int(r->op, AT_PARTS, 0);
    if (s->gang.programs > 1 || !r->fused || r->ahead || !r->leaves || ir_type(k, r->op->results[0])->field_count != 1)
        return;
    const Op *put = only_use(s, r, OP_PUT), *get = only_use(s, r, OP_GET), *store = only_use(s, r, OP_TSTORE);
    if (!put || !get || !store || put->parent != store->parent || s->uses[get->results[0]] != 1) return;
    Ref value = op_operand(put, 1);
    const Layout *layout = schedule_layout(k, value);
    if (!layout || layout->home == HOME_SHARED || ir_type(k, value)->rank != 2 ||
        tile->rows != ir_type(k, value)->extent[0] || tile->zero_rows > tile->rows ||
        tile->zero_columns > tile->columns)
        return;
    r->solo = first_solo(s, r, layout, put);
    if (parts <= 2 || tile->panel * parts != tile->bytes || !follows_columns(layout, ir_type(k, value), parts)) return;
    r->parts = parts;
    r->bytes = 2 * tile->panel;
}
