/* SPDX-License-Identifier: Apache-2.0 */
/* layout_check.c: a kernel in layout form that was not made here but read, before an emitter sees it.
 *
 * The verifier has looked at each layout by itself (tile_layout.c). Here it is looked at with its neighbours: what the
 * pass `layout` promises of every op (layout.c) must hold, or the kernel is refused with the op and the rule. So a text
 * that somebody has changed by hand either means what it says or says what is wrong with it. */
#include "ir/ringform.h"
#include "pass/layout/layout_state.h"

typedef struct Check {
    LayoutState st; /* facts without wishes, role and warps where the walk stands */
    const int *uses;
    bool flat;
    bool good;
} Check;

static void complain(Check *c, const Op *op, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void complain(Check *c, const Op *op, const char *format, ...) {
    Module *m = c->st.k->module;
    va_list args;
    va_start(args, format);
    if (c->good)
        diag_emit(m->diag, DIAG_IR_INVALID, op->range, op_info[op->code].mnemonic,
                  arena_vprintf(m->arena, format, args));
    va_end(args);
    c->good = false;
}

static const Layout *layout_at(Check *c, Ref ref) {
    return lay_is_tile(c->st.k, ref) ? ir_value(c->st.k, ref)->layout : NULL;
}

/* The map of a tile in registers of the threads that run the op; NULL: it is none, which is said. */
static const LinearLayout *map_of(Check *c, const Op *op, Ref ref) {
    const Layout *layout = layout_at(c, ref);
    if (!layout || layout->home != HOME_REGISTERS) {
        complain(c, op, "a tile that it reads or makes must live in registers");
        return NULL;
    }
    if (1 << layout->map.count[LL_LANE] != c->st.cx->machine->lanes || 1 << layout->map.count[LL_WARP] != c->st.warps ||
        layout->map.count[LL_BLOCK]) {
        complain(c, op, "a layout here is spread over %d lanes and %d warps", c->st.cx->machine->lanes, c->st.warps);
        return NULL;
    }
    return &layout->map;
}

static void want_in(Check *c, const Op *op, Ref ref, LinearLayout wanted) {
    const LinearLayout *own = map_of(c, op, ref);
    if (own && !ll_equal(own, &wanted))
        complain(c, op, "its tiles must live in the same places: a `convert` is missing");
}

/* The value lives where `map` says, broadcast along extents of 1. */
static void want(Check *c, const Op *op, Ref ref, const LinearLayout *map) {
    if (map && lay_is_tile(c->st.k, ref)) want_in(c, op, ref, lay_fit(map, ir_type(c->st.k, ref)));
}

static void want_operands(Check *c, const Op *op, const LinearLayout *map) {
    for (int i = 0; map && i < op->operand_count; i++)
        if (lay_is_tile(c->st.k, op->operands[i])) want_in(c, op, op->operands[i], lay_operand(c->st.k, op, i, map));
}

static void want_results(Check *c, const Op *op, const LinearLayout *map) {
    for (int i = 0; i < op->result_count; i++) want(c, op, op->results[i], map);
}

/* All tiles in registers, wherever. */
static void want_registers(Check *c, const Op *op) {
    for (int i = 0; i < op->operand_count; i++)
        if (lay_is_tile(c->st.k, op->operands[i])) map_of(c, op, op->operands[i]);
    for (int i = 0; i < op->result_count; i++)
        if (lay_is_tile(c->st.k, op->results[i])) map_of(c, op, op->results[i]);
}

/* The result lives exactly there. */
static void want_exactly(Check *c, const Op *op, Ref ref, LinearLayout map) {
    const LinearLayout *own = map_of(c, op, ref);
    if (own && !ll_equal(own, &map)) complain(c, op, "its result must live where its operand says");
}

static bool same_tile(const SharedTile *a, const SharedTile *b) {
    return a->rows == b->rows && a->columns == b->columns && a->rows_held == b->rows_held &&
           a->columns_held == b->columns_held && a->elem_bytes == b->elem_bytes && a->width == b->width &&
           a->zero_rows == b->zero_rows && a->zero_columns == b->zero_columns && a->turned == b->turned;
}

static bool same_layout(const Layout *a, const Layout *b) {
    if (!a || !b || a->home != b->home) return a == b;
    return a->home == HOME_REGISTERS ? ll_equal(&a->map, &b->map) : same_tile(&a->tile, &b->tile);
}

static void check_shape(Check *c, const Op *op) {
    Kernel *k = c->st.k;
    Ref x = op->operands[0], y = op->results[0];
    const Layout *from = layout_at(c, x), *to = layout_at(c, y);
    if (op->code == OP_PERMUTE && from && from->home == HOME_SHARED) {
        SharedTile tile = from->tile;
        if (op_attr(op, AT_DIMS)->list.at[0] == 1) tile.turned = !tile.turned;
        if (!to || to->home != HOME_SHARED || !same_tile(&tile, &to->tile))
            complain(c, op, "a view of shared memory is turned, and stays where it is");
        return;
    }
    if (!to) { /* the one element of a tile as a scalar: every thread has it */
        const LinearLayout *map = from ? map_of(c, op, x) : NULL;
        if (map && ll_index_bits(map)) complain(c, op, "every thread must hold the element");
        return;
    }
    if (!from) { /* a scalar as a tile of one element */
        map_of(c, op, y);
        return;
    }
    const LinearLayout *map = map_of(c, op, x);
    const Type *type = ir_type(k, y);
    if (!map) return;
    want_exactly(c, op, y,
                 op->code == OP_EXPAND    ? ll_expand(map, (int)op_int(op, AT_AXIS, 0))
                 : op->code == OP_PERMUTE ? ll_permute(map, op_attr(op, AT_DIMS)->list.at)
                                          : ll_reshape(map, type->rank, type->extent));
}

/* --- memory and rings --- */
/* Has the tensor an end along that axis of the tile? */
static bool has_end(Check *c, const Op *op, int axis) {
    TensorParts parts = fact_tensor(&c->st.facts, op->operands[0]);
    Ref tile = op->code == OP_TLOAD ? op->results[0] : op_operand(op, 1);
    return parts.extent[box_dim(op, parts.rank, ir_type(c->st.k, tile)->rank, axis)] != REF_NONE;
}

/* Vectors only as far as they are known to be possible. */
static void check_access(Check *c, const Op *op) {
    Access best = access_best(&c->st, op), a = access_of(op);
    const Layout *layout = layout_at(c, op->code == OP_TLOAD ? op->results[0] : op_operand(op, 1));
    bool loose = op_attr(op, AT_BATCH);
    if (loose)
        best.vector =
            layout ? layout_loose(c->st.cx->machine, &c->st.facts, op, ir_type(c->st.k, op->results[0]), layout) : 0;
    bool fits = a.vector <= best.vector && !(a.vector & (a.vector - 1)) && (!loose || a.vector == best.vector) &&
                (a.along == best.along || (a.along < 0 && a.vector == 1)) && (a.along < 0 || !a.whole || best.whole);
    if (!fits)
        complain(c, op, "vectors of %d elements%s cannot move this: at most %d%s", a.vector, a.whole ? ", whole," : "",
                 best.vector, best.whole ? "" : ", some of them partly outside");
    else if (a.along >= 0 && !a.whole && !has_end(c, op, a.along))
        complain(c, op, "the tensor has no end along its vectors: `whole` is missing");
    if (a.vector > 1 && best.tests && !a.tests)
        complain(c, op, "no one knows whether its vectors are aligned: `tests` is missing");
    if (op_attr(op, AT_LIVE) && op_int(op, AT_LIVE, 0) != access_live(&c->st, op))
        complain(c, op, "`live` says how many registers can be inside of the tensor, where not all can");
    if (op_flag(op, AT_BOUNDED) &&
        !(a.along >= 0 && a.whole && !a.tests && near_holds(c->st.cx->machine, &c->st.facts, op)))
        complain(c, op, "`bounded` is of whole vectors that lie near the first one of their box");
    if (op_flag(op, AT_SINGLY) && !access_may_load_singly(c->st.k, op, a))
        complain(c, op, "`singly` is of elements of 16 bits that a thread loads one by one");
    if (op->code == OP_TATOMIC && a.vector > 1 && !a.whole)
        complain(c, op, "atomics add whole vectors, none across an edge: `whole` is missing");
    if (op_word(op, AT_MOVER, MOVER_LANES) == MOVER_ASYNC &&
        !(op->code == OP_TLOAD && access_may_copy(&c->st, c->uses, op, a)))
        complain(c, op, "threads cannot copy this straight into a slot of its ring");
}

static void check_load(Check *c, const Op *op) {
    const Layout *layout = layout_at(c, op->results[0]);
    bool by_tma = op_word(op, AT_MOVER, MOVER_LANES) == MOVER_TMA;
    SharedTile tile;
    if (by_tma && (!layout || layout->home != HOME_SHARED || !c->st.role || role_is_guest(c->st.role) ||
                   !tma_may_load(&c->st, op, &tile) || !same_tile(&tile, &layout->tile)))
        complain(c, op, "TMA cannot bring this into a field of a ring");
    if (!by_tma && layout) want_operands(c, op, map_of(c, op, op->results[0]));
    if (!by_tma && c->good) check_access(c, op);
}

/* At most so many at once; all that a load of words (`batch`) has. */
static void check_vector(Check *c, const Op *op, int best) {
    int64_t vector = op_int(op, AT_VECTOR, 1);
    const Op *load =
        op->code == OP_PUT && ref_is_value(op_operand(op, 1)) ? ir_value(c->st.k, op_operand(op, 1))->op : NULL;
    bool words = load && op_attr(load, AT_BATCH) && vector != best;
    if (vector > best || vector & (vector - 1) || words)
        complain(c, op, "`vector` is at most %d here, and a power of two", best);
}

static void check_get(Check *c, const Op *op) {
    const Layout *layout = layout_at(c, op->results[0]);
    if (!layout) return;
    if (layout->home == HOME_REGISTERS) {
        if (map_of(c, op, op->results[0])) check_vector(c, op, access_best_row(&c->st, op));
        return;
    }
    SharedTile tile = tma_field(&c->st, op);
    if (!same_tile(&tile, &layout->tile)) complain(c, op, "a view lies as its field does");
}

static void check_store(Check *c, const Op *op) {
    Ref value = op_operand(op, 1);
    const Layout *layout = layout_at(c, value);
    bool by_tma = op_word(op, AT_MOVER, MOVER_LANES) == MOVER_TMA;
    const Op *get = layout && layout->home == HOME_SHARED ? ir_value(c->st.k, value)->op : NULL;
    SharedTile tile;
    if (by_tma &&
        (!get || get->code != OP_GET || tma_may_store(&c->st, get, &tile) != op || !same_tile(&tile, &layout->tile)))
        complain(c, op, "TMA cannot store this: only a field of a ring that has no other use");
    if (by_tma || !c->good) return;
    bool box = op->code == OP_TSTORE || op->code == OP_TATOMIC;
    if (box && (!layout || layout->home == HOME_REGISTERS)) check_access(c, op);
    bool pointers = op->code == OP_STORE || op->code == OP_ATOMIC || op->code == OP_ATOMIC_CAS;
    Ref anchor = pointers ? op->operands[0] : value;
    if (!lay_is_tile(c->st.k, anchor)) return;
    const LinearLayout *map = map_of(c, op, anchor);
    want_operands(c, op, map);
    want_results(c, op, map);
}

static void check_put(Check *c, const Op *op) {
    Ref value = op_operand(op, 1);
    const Layout *layout = layout_at(c, value);
    if (!layout) return;
    if (layout->home == HOME_REGISTERS) {
        if (map_of(c, op, value)) check_vector(c, op, access_best_row(&c->st, op));
        return;
    }
    const Op *load = ir_value(c->st.k, value)->op;
    if (!load || load->code != OP_TLOAD) complain(c, op, "what is put lives in registers, or TMA loads it");
}

/* --- dots --- */
/* Does the operand find room, zeros and rows as its instruction reads them? */
static void check_operand(Check *c, const Op *op, int which, const Matrix *row) {
    Kernel *k = c->st.k;
    const Layout *layout = layout_at(c, op->operands[which]);
    if (!layout) return;
    if (layout->home == HOME_REGISTERS) {
        if (which == 0 && map_of(c, op, op->operands[0]) && lay_stays_in_registers(&c->st, op, row, layout)) return;
        complain(c, op, "operand %d must lie in shared memory", which + 1);
        return;
    }
    const SharedTile *tile = &layout->tile;
    const Type *type = ir_type(k, op->operands[which]);
    const Op *view = ir_value(k, op->operands[which])->op;
    while (view && view->code == OP_PERMUTE) view = ir_value(k, view->operands[0])->op;
    if (view && view->code == OP_BLOAD) {
        const char *why = view_fault(&c->st.facts, view, row, which, tile->turned);
        if (!why && !view_is_quiet(view, op)) why = "between the read and the product others are told that it is done";
        if (why) complain(c, op, "operand %d cannot be read where it lies: %s", which + 1, why);
        return;
    }
    int64_t stored[2] = {tile->rows, tile->columns};
    SharedTile need = layout_operand_tile(ty_with_shape(k->module, type, 2, stored), row, which, tile->turned);
    if (tile->width != need.width || tile->rows_held < need.rows_held || tile->columns_held < need.columns_held ||
        tile->zero_rows < need.zero_rows || tile->zero_columns < need.zero_columns)
        complain(c, op, "operand %d must be stored as shared<%lldx%lld, width=%d, zero=%lldx%lld>, or have more room",
                 which + 1, (long long)need.rows_held, (long long)need.columns_held, need.width,
                 (long long)need.zero_rows, (long long)need.zero_columns);
}

static void check_dot(Check *c, const Op *op) {
    c->good = lay_dot_fits(&c->st, op);
    if (!c->good) return;
    const Matrix *row = matrix_of(c->st.k, op);
    int along_m, along_n;
    if (row->warps && !choose_has_grid(c->st.k, op, c->st.warps)) {
        choose_dot_grid(c->st.k, op, c->st.warps, &along_m, &along_n);
        complain(c, op, "those who run its instruction may lie as `grid=[%d,%d]` over its sum", along_m, along_n);
        return;
    }
    LinearLayout wanted = choose_accumulator(c->st.cx, c->st.k, op, c->st.warps);
    const LinearLayout *map = map_of(c, op, op->results[0]);
    if (map && !ll_equal(map, &wanted))
        complain(c, op, "its sum must live as %s leaves it", word_info[row->instr].text);
    if (!row->warps && op_attr(op, AT_DOT_GRID)) complain(c, op, "`grid` is of instructions that warps run");
    want(c, op, op->operands[2], map);
    for (int i = 0; i < 2 && c->good; i++) check_operand(c, op, i, row);
}

static void check_convert(Check *c, const Op *op) {
    const Layout *from = layout_at(c, op->operands[0]), *to = layout_at(c, op->results[0]);
    if (!from || !to || (from->home == HOME_SHARED && to->home == HOME_SHARED))
        complain(c, op, "one side of it lives in registers");
    else if ((from->home == HOME_SHARED && from->tile.turned) || (to->home == HOME_SHARED && to->tile.turned))
        complain(c, op, "registers hold a tile as it is, not turned");
    else if (from->home == HOME_REGISTERS)
        map_of(c, op, op->operands[0]);
    if (c->good && to->home == HOME_REGISTERS) map_of(c, op, op->results[0]);
    if (c->good) check_vector(c, op, access_best_row(&c->st, op));
    Word best = c->good ? access_best_via(c->st.cx->machine, c->st.k, op) : WORD_NONE,
         via = op_word(op, AT_VIA, WORD_NONE);
    if (via != best && !(best && via == VIA_SHARED))
        complain(c, op, "it goes via %s%s", best ? word_info[best].text : "nothing but its two homes",
                 best && best != VIA_SHARED ? ", or via shared" : "");
}

/* --- buffers --- */
/* A read that lives in shared memory is a view, for products alone; its rows are those of the buffer. */
static void check_view(Check *c, const Op *op, const Layout *layout) {
    const Layout *buffer = ir_value(c->st.k, op->operands[0])->layout;
    SharedTile tile = view_tile(c->st.k, op);
    if (!buffer || ir_type(c->st.k, op->results[0])->rank != 2 || layout->tile.turned ||
        !same_tile(&tile, &layout->tile))
        complain(c, op, "a view of a buffer has its rows and its panels, and the buffer a layout");
}

static void check_buffer(Check *c, const Op *op) {
    const Layout *layout = ir_value(c->st.k, op->results[0])->layout;
    const Type *type = ir_type(c->st.k, op->results[0]);
    if (!layout) return;
    SharedTile tile = view_buffer(type);
    if (type->scope != SCOPE_SHARED || type->rank < 2 || !same_tile(&tile, &layout->tile))
        complain(c, op, "a buffer with a layout lies in shared memory, all of its rows below each other");
}

/* --- moves --- */
static void check_move(Check *c, const Op *op) {
    Kernel *k = c->st.k;
    Ref x = op->operand_count ? op->operands[0] : REF_NONE;
    bool tile = lay_is_tile(k, x);
    const Layout *read = op->code == OP_BLOAD ? layout_at(c, op->results[0]) : NULL;
    if (read && read->home == HOME_SHARED) {
        check_view(c, op, read);
        return;
    }
    want_registers(c, op);
    if (!c->good) return;
    switch (op->code) {
    case OP_BLOAD:
    case OP_BSTORE: check_vector(c, op, access_best_row(&c->st, op)); return;
    case OP_JOIN:
        if (!tile) return;
        want_exactly(c, op, op->results[0], ll_join(map_of(c, op, x)));
        want_operands(c, op, map_of(c, op, x));
        return;
    case OP_SPLIT: {
        const LinearLayout *map = map_of(c, op, x);
        LayoutInput input;
        int at, last = map->rank - 1;
        if (!ll_find_bit(map, last, 0, &input, &at) || input != LL_REGISTER)
            complain(c, op, "the two halves must lie in registers of the same thread");
        for (int i = 0; i < op->result_count && c->good; i++)
            if (lay_is_tile(k, op->results[i])) want_exactly(c, op, op->results[i], ll_slice(map, last));
        return;
    }
    case OP_CAT: {
        bool equal = true;
        for (int i = 1; i < op->operand_count; i++) equal &= ir_type(k, op->operands[i]) == ir_type(k, x);
        if (equal) want_operands(c, op, map_of(c, op, x));
        return;
    }
    case OP_FLIP:
    case OP_SCAN:
    case OP_SORT:
    case OP_ASM:
    case OP_ASM_ACT:
    case OP_MAP:
        want_operands(c, op, map_of(c, op, op->results[0])), want_results(c, op, map_of(c, op, op->results[0]));
        return;
    case OP_INSERT: want(c, op, x, map_of(c, op, op->results[0])); return;
    case OP_SCATTER:
        want(c, op, x, map_of(c, op, op->results[0]));
        want(c, op, op->operands[2], map_of(c, op, op->operands[1]));
        return;
    case OP_GATHER: want(c, op, op->operands[1], map_of(c, op, op->results[0])); return;
    default: return;
    }
}

static void check_reduce(Check *c, const Op *op) {
    const LinearLayout *map = map_of(c, op, op->operands[0]);
    want_operands(c, op, map);
    for (int i = 0; map && i < op->result_count; i++)
        if (lay_is_tile(c->st.k, op->results[i]))
            want_exactly(c, op, op->results[i], ll_slice(map, (int)op_int(op, AT_AXIS, 0)));
}

/* --- control flow: what is handed on lives where it arrives --- */
static void hand_on(Check *c, const Op *op, Ref from, Ref to) {
    if (lay_is_tile(c->st.k, to) && !same_layout(layout_at(c, from), layout_at(c, to)))
        complain(c, op, "a value that is handed on must live where it arrives: a `convert` is missing");
    if (c->good && lay_is_tile(c->st.k, to)) map_of(c, op, to);
}

static void check_ends(Check *c, const Op *op) {
    for (int r = 0; r < op->region_count; r++) {
        const Region *region = op->regions[r];
        const Op *end = region->last;
        int skip = end->code == OP_TEST, args = op->code == OP_FOR;
        for (int i = skip; i < end->operand_count && i - skip < op->result_count; i++)
            hand_on(c, end, end->operands[i], op->results[i - skip]);
        for (int i = args; i < region->arg_count; i++) hand_on(c, op, region->args[i], op->results[i - args]);
    }
    int first = op->code == OP_FOR ? 3 : 0;
    for (int i = first; op->code != OP_IF && i < op->operand_count; i++)
        hand_on(c, op, op->operands[i], op->results[i - first]);
}

static void check_region(Check *c, const Region *region);

static void check_role(Check *c, const Op *op) {
    Check outer = *c;
    c->st.role = op;
    c->st.warps = layout_group(c->st.cx, c->st.k, op).warps;
    if (c->st.warps < 1 || c->st.warps & (c->st.warps - 1)) complain(c, op, "a role runs on 1, 2, 4 .. warps");
    check_region(c, op->regions[0]);
    c->st.role = outer.st.role;
    c->st.warps = outer.st.warps;
}

static void check_workers(Check *c, const Op *op) {
    int warps = c->st.warps;
    if (op_word(op, AT_UNIT, UNIT_THREAD) == UNIT_THREAD) return;
    for (int r = 0; r < op->region_count; r++) {
        c->st.warps = layout_group_of_worker(c->st.cx, op, r).warps;
        check_region(c, op->regions[r]);
    }
    c->st.warps = warps;
}

static void check_op(Check *c, const Op *op) {
    switch (op->code) {
    case OP_ROLE: check_role(c, op); return;
    case OP_SPMD: check_workers(c, op); return;
    case OP_TASKS:
        for (int i = 0; i < op->region_count; i++) check_region(c, op->regions[i]);
        return;
    case OP_FOR:
    case OP_WHILE:
    case OP_IF:
        for (int i = 0; i < op->region_count; i++) check_region(c, op->regions[i]);
        if (c->good) check_ends(c, op);
        return;
    case OP_BUF: check_buffer(c, op); return;
    default: break;
    }
    bool touches = false;
    for (int i = 0; i < op->result_count; i++) touches |= lay_is_tile(c->st.k, op->results[i]);
    for (int i = 0; i < op->operand_count; i++) touches |= lay_is_tile(c->st.k, op->operands[i]);
    if (!touches || op_has(op->code, TRAIT_TERMINATOR)) return;
    if (moves_is(&c->st, op)) {
        check_move(c, op);
        return;
    }
    switch (op->code) {
    case OP_SPLAT:
    case OP_IOTA:
    case OP_UNDEF: map_of(c, op, op->results[0]); return;
    case OP_EXPAND:
    case OP_RESHAPE:
    case OP_PERMUTE: check_shape(c, op); return;
    case OP_TLOAD: check_load(c, op); return;
    case OP_GET: check_get(c, op); return;
    case OP_PUT: check_put(c, op); return;
    case OP_STORE:
    case OP_ATOMIC:
    case OP_ATOMIC_CAS:
    case OP_TSTORE:
    case OP_TATOMIC: check_store(c, op); return;
    case OP_DOT: check_dot(c, op); return;
    case OP_REDUCE: check_reduce(c, op); return;
    case OP_CONVERT: check_convert(c, op); return;
    default: break;
    }
    if (op->code != OP_BROADCAST && op->code != OP_REPEAT && op->code != OP_LOAD &&
        !op_has(op->code, TRAIT_ELEMENTWISE)) {
        lay_refuse(&c->st, op);
        c->good = false;
        return;
    }
    want_operands(c, op, map_of(c, op, op->results[0]));
    if (c->good && op->code == OP_CMP) check_vector(c, op, access_best_compare(&c->st, op));
}

static void check_region(Check *c, const Region *region) {
    for (const Op *op = region->first; op && c->good; op = op->next) {
        check_op(c, op);
        if (!c->good) return;
        if (op_attr(op, AT_HELD) && !c->flat) complain(c, op, "`held` is for kernels without roles");
        if (!hold_is_right(c->st.k, op))
            complain(c, op, "tiles that are held in pairs are loaded, added and stored so");
    }
}

bool layout_check(PassContext *cx, Kernel *k) {
    Check c = {.st = {.cx = cx, .k = k, .facts = facts_new(k, false)}, .good = true};
    c.st.warps = layout_group(cx, k, NULL).warps;
    c.uses = ir_count_uses(k, cx->scratch);
    c.flat = true;
    for (const Op *op = k->body->first; op; op = op->next) c.flat &= op->code != OP_TASKS;
    check_region(&c, k->body);
    if (c.good && kernel_int(k, AT_LEAN, 0) && !hold_may_be_lean(k)) {
        diag_emit(k->module->diag, DIAG_IR_INVALID, k->range, k->name,
                  "`lean` is for kernels of loads, stores, elementwise ops and sums in one layout");
        return false;
    }
    return c.good;
}
