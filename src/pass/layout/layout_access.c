/* SPDX-License-Identifier: Apache-2.0 */
/* layout_access.c: how each access to a box moves it, and how each conversion does; written to the ops.
 *
 *     tload<along=1, vector=8, whole>       16-byte vectors along dimension 1, each inside the tensor or outside
 *     tstore<along=1, vector=8, tests>      the same where the address of a vector is a multiple; else one by one
 *     tload<along=1, vector=8, by=async>    the threads copy it straight into a slot of a ring
 *     tload<along=0, vector=8, live=24>     registers from 24 on are outside, whichever thread it is
 *     tload<by=tma>                         layout_tma.c
 *     convert<via=shuffle>                  between lanes of a warp
 *     convert<via=trade>                    the same of bytes, four at a time
 *     put<vector=8>, get<vector=8>          registers that lie side by side in a row of the tile in shared memory
 *     cmp<lt, vector=8>                     one comparison is that of 8 neighbours
 *
 * Decided behind all wishes, from what is known then (facts.h): an access without a fact that it needs is one by
 * smaller vectors, down to single elements. `along` is absent where no dimension is known to be contiguous, or where a
 * mask or a wrapping index takes the elements one by one. */
#include "ir/ringform.h"
#include "pass/layout/layout_choose.h"
#include "pass/layout/layout_state.h"

static Ref tile_of(const Op *access) { return access->code == OP_TLOAD ? access->results[0] : op_operand(access, 1); }

bool access_has_vectors(const LayoutState *st, const Op *op) {
    if (op->code != OP_TATOMIC) return op->code == OP_TLOAD || op->code == OP_TSTORE;
    Elem elem = ir_type(st->k, tile_of(op))->elem;
    return st->cx->machine->atomic_bytes && op_word(op, AT_COMBINE, WORD_NONE) == COMBINE_ADD &&
           (elem == EL_F32 || elem == EL_F16 || elem == EL_BF16);
}

/* Do the vectors along the dimension begin at multiples of their length, however the address turns out? Then none of
 * them lies across the end of a tensor whose extent is such a multiple. */
static bool begins_at_multiple(Facts *f, const Op *op, int dim, int vector) {
    Ref offset = op_list(op, 0).at[dim];
    return lay_is_tile(f->k, offset) ? op_int(op, AT_RUN, 1) >= vector : fact_divisor(f, offset) >= vector;
}

static Access best_of_box(const Machine *machine, Facts *f, const Op *op) {
    Access a = {.along = -1, .vector = 1, .whole = true};
    const Type *type = ir_type(f->k, tile_of(op));
    const Layout *layout = lay_is_tile(f->k, tile_of(op)) ? ir_value(f->k, tile_of(op))->layout : NULL;
    if (!layout || layout->home != HOME_REGISTERS) return a;
    TensorParts parts = fact_tensor(f, op->operands[0]);
    int along = layout_vector_dim(f, op, &parts, type);
    int dim = along >= 0 ? box_dim(op, parts.rank, type->rank, along) : -1;
    int known = layout_vector(machine, f, op, type, &layout->map);
    a.vector = layout_vector_tested(machine, f, op, type, &layout->map);
    a.tests = a.vector > known;
    bool by_element = choose_by_element(op) && !(along >= 0 && choose_masks_rows(f->k, op, along));
    if (dim < 0 || by_element || box_wraps(op, dim)) return a;
    a.along = along;
    a.whole =
        parts.extent[dim] == REF_NONE || op_flag(op, AT_NOCHECK) ||
        (fact_divisor(f, parts.extent[dim]) >= a.vector && (!a.tests || begins_at_multiple(f, op, dim, a.vector)));
    return a;
}

Access access_best(LayoutState *st, const Op *op) {
    const Access one = {.along = -1, .vector = 1, .whole = true};
    if (!access_has_vectors(st, op)) return one;
    Access a = best_of_box(st->cx->machine, &st->facts, op);
    return op->code == OP_TATOMIC && (!a.whole || a.vector == 1) ? one : a;
}

Access access_of(const Op *op) {
    Access a = {.along = (int)op_int(op, AT_ALONG, -1), .vector = (int)op_int(op, AT_VECTOR, 1)};
    a.whole = a.along < 0 || op_flag(op, AT_WHOLE);
    a.tests = op_flag(op, AT_TESTS);
    return a;
}

Word layout_put_mover(const Kernel *k, const Op *put) {
    Ref value = op_operand(put, 1);
    const Op *load = ref_is_value(value) ? ir_value(k, value)->op : NULL;
    return load && load->code == OP_TLOAD ? op_word(load, AT_MOVER, MOVER_LANES) : MOVER_LANES;
}

/* Is it the ring of a role that runs ahead on the threads of another? Such copies are waited for by who made them. */
static bool runs_ahead(const PassContext *cx, const Kernel *k, Ref ring) {
    const Op *op = ir_value(k, ring)->op, *tasks = tasks_of(k);
    const Op *from = tasks ? role_find(tasks, ring_producer(op)) : NULL;
    const Op *to = tasks ? role_find(tasks, ring_consumer(op)) : NULL;
    return from && to && role_is_guest(from) &&
           layout_group(cx, k, from).first_warp == layout_group(cx, k, to).first_warp;
}

/* Is it a ring between threads of their own, and the copy all that fills the field? Then it is the copies that arrive
 * at the barrier (schedule_ring.c); zeros beside the tile would be stores. */
static bool lands_by_itself(LayoutState *st, const Op *put) {
    const Op *tasks = tasks_of(st->k), *ring = ir_value(st->k, hand_ring(st->k, put))->op;
    const Op *from = role_find(tasks, ring_producer(ring)), *to = role_find(tasks, ring_consumer(ring));
    if (!from || !to || role_is_guest(from) || role_is_guest(to) || put->list_count[0]) return false;
    SharedTile tile = tma_field(st, put);
    return tma_fills(&tile);
}

bool access_may_copy(LayoutState *st, const int *uses, const Op *load, Access a) {
    const Kernel *k = st->k;
    Ref value = load->results[0];
    if (uses[value] != 1 || choose_by_element(load) || !lay_is_tile(k, value)) return false;
    const Layout *layout = ir_value(k, value)->layout;
    const Type *type = ir_type(k, value);
    if (!layout || layout->home != HOME_REGISTERS || type->elem == EL_I1) return false;
    const Op *put = load->next;
    while (put && !(put->code == OP_PUT && op_operand(put, 1) == value)) put = put->next;
    if (!put) return false;
    if (!ir_fills_zero(k, load)) return false; /* what a copy leaves out is 0 */
    if (a.vector * elem_info[type->elem].bytes < LEAST_COPY || a.along != type->rank - 1) return false;
    if (st->cx->machine->wave_copy_bytes)
        return runs_ahead(st->cx, k, hand_ring(k, put)) && wave_fits(st, uses, load, a);
    return st->cx->machine->thread_copies && (runs_ahead(st->cx, k, hand_ring(k, put)) || lands_by_itself(st, put));
}

static Copies copies_of(LayoutState *st, const Op *load) {
    const Machine *machine = st->cx->machine;
    const Type *type = ir_type(st->k, load->results[0]);
    SharedTile tile;
    if (tma_may_load(st, load, &tile)) return (Copies){0};
    LinearLayout map = choose_access(machine, &st->facts, load, type, machine->group_warps);
    int64_t bytes = ty_elements(type) * ty_elem_bytes(type);
    /* Words are copied, read and shifted: what makes a vector of them takes as long as three copies. */
    if (layout_loose(machine, &st->facts, load, type, lay_in_registers(st, map, type)))
        return (Copies){3 * bytes / LOOSE_WORD, bytes};
    return (Copies){ty_elements(type) / layout_vector(machine, &st->facts, load, type, &map), 0};
}

Copies layout_copies(PassContext *cx, Kernel *k, const Op *put) {
    const Op *load = ref_is_value(put_value(put)) ? ir_value(k, put_value(put))->op : NULL;
    if (!load || load->code != OP_TLOAD || !lay_is_tile(k, load->results[0])) return (Copies){0};
    LayoutState st = {.cx = cx, .k = k, .facts = lay_facts(cx, k), .role = role_around(put)};
    const Op *first = k->body->first;
    st.facts.only_asks = true;
    Copies copies = copies_of(&st, load);
    while (k->body->first != first) ir_remove(k->body->first); /* parts of tensors that were asked for */
    return copies;
}

/* Rows of 11008 numbers in a tile of 16384: where sizes are numbers, a part of the tile may lie beyond the tensor for
 * every thread. Nothing is loaded or stored there, and what would be computed from it for a store is not. */
int access_live(const LayoutState *st, const Op *op) {
    const Kernel *k = st->k;
    const Type *type = ir_type(k, tile_of(op));
    const Layout *layout = lay_is_tile(k, tile_of(op)) ? ir_value(k, tile_of(op))->layout : NULL;
    const Op *tensor = ir_value(k, op->operands[0])->op;
    int64_t extent[MAX_RANK], end, begin;
    if (!layout || layout->home != HOME_REGISTERS || !tensor || tensor->code != OP_TENSOR) return 0;
    for (int t = 0; t < type->rank; t++) extent[t] = type->extent[t];
    for (int d = 0; d < op_list(tensor, 0).count; d++) {
        Ref at = op_list(op, 0).at[d], bound = op_list(tensor, 0).at[d];
        int t = box_axis(op, op_list(tensor, 0).count, type->rank, d);
        bool known = t >= 0 && bound && !lay_is_tile(k, at) && !box_wraps(op, d);
        if (!known || !ir_const_int(k, bound, &end) || !ir_const_int(k, at, &begin) || begin < 0 || end < 0) continue;
        if (end - begin < extent[t]) extent[t] = end - begin;
    }
    int live = ll_registers(&layout->map, extent);
    return live < layout->registers ? live : 0;
}

static void set_number(Kernel *k, Op *op, AttrId id, int64_t number) {
    op_set(k, op, (Attr){.id = id, .number = number});
}

/* Elements that a thread loads one by one. The next does not wait for the one before, if the load is an instruction
 * under a condition, and not a choice between memory and a number. */
bool access_may_load_singly(const Kernel *k, const Op *op, Access a) {
    enum { BYTES = 2 };
    if (op->code != OP_TLOAD || a.vector > 1 || !a.whole || !lay_is_tile(k, op->results[0])) return false;
    const Layout *layout = ir_value(k, op->results[0])->layout;
    return layout && layout->home == HOME_REGISTERS && elem_info[ir_type(k, op->results[0])->elem].bytes == BYTES;
}

/* Is that worth it: several of them, in each trip of a loop? */
static bool gains_singly(const LayoutState *st, const Op *op) {
    const Op *loop = op->parent->owner;
    return ir_value(st->k, op->results[0])->layout->registers >= st->cx->machine->cost.single_loads && loop &&
           loop->code == OP_FOR;
}

static void decide_box(LayoutState *st, const int *uses, Op *op) {
    if (op_word(op, AT_MOVER, MOVER_LANES) == MOVER_TMA) return;
    Access a = access_best(st, op);
    if (a.along >= 0) set_number(st->k, op, AT_ALONG, a.along);
    if (a.vector > 1) set_number(st->k, op, AT_VECTOR, a.vector);
    if (a.along >= 0 && a.whole) set_number(st->k, op, AT_WHOLE, 1);
    if (a.tests) set_number(st->k, op, AT_TESTS, 1);
    int live = op->code == OP_TATOMIC || op_flag(op, AT_NOCHECK) ? 0 : access_live(st, op);
    if (live) set_number(st->k, op, AT_LIVE, live);
    if (a.along >= 0 && a.whole && !a.tests && near_holds(st->cx->machine, &st->facts, op))
        set_number(st->k, op, AT_BOUNDED, 1);
    if (access_may_load_singly(st->k, op, a) && gains_singly(st, op)) set_number(st->k, op, AT_SINGLY, 1);
    if (op->code == OP_TLOAD && access_may_copy(st, uses, op, a))
        op_set(st->k, op, (Attr){.id = AT_MOVER, .word = MOVER_ASYNC});
}

/* --- shared memory --- */
/* Of a box of a buffer: rows begin, and end, at whole vectors. */
static int best_of_buffer(LayoutState *st, const Op *op) {
    const Kernel *k = st->k;
    Ref value = op->code == OP_BSTORE ? op_operand(op, 1) : op->results[0];
    const Type *whole = ir_type(k, op->operands[0]);
    const Layout *layout = lay_is_tile(k, value) ? ir_value(k, value)->layout : NULL;
    if (!layout || layout->home != HOME_REGISTERS || whole->scope != SCOPE_SHARED) return 1;
    int last = whole->rank - 1;
    int64_t begin, extent = ir_type(k, value)->extent[ir_type(k, value)->rank - 1];
    Ref at = op_list(op, 0).at[last];
    if (ir_const_int(k, at, &begin) && (begin < 0 || begin > whole->extent[last] - extent)) return 1; /* kept inside */
    int vector = ll_run(&layout->map, layout->map.rank - 1, ty_elem_bytes(whole), st->cx->machine->vector_bytes);
    while (vector > 1 && (whole->extent[last] % vector || extent % vector || fact_divisor(&st->facts, at) % vector))
        vector /= 2;
    return vector;
}

/* Registers that lie side by side in a row of the tile that the op stores them to, or loads them from; 1: it does
 * not. */
int access_best_row(LayoutState *st, const Op *op) {
    const Kernel *k = st->k;
    Ref value = op->code == OP_PUT ? op_operand(op, 1) : op->code == OP_GET ? op->results[0] : op->operands[0];
    const SharedTile *tile = NULL;
    if (op->code == OP_BLOAD || op->code == OP_BSTORE) return best_of_buffer(st, op);
    if (op->code == OP_PUT && layout_put_mover(k, op) != MOVER_LANES) return 1; /* as its load says */
    if (op->code == OP_PUT || op->code == OP_GET) tile = layout_field(k, hand_ring(k, op), hand_field(op));
    if (op->code == OP_CONVERT && ir_value(k, op->results[0])->layout->home == HOME_SHARED)
        tile = &ir_value(k, op->results[0])->layout->tile;
    if (op->code == OP_CONVERT && ir_value(k, value)->layout->home == HOME_SHARED)
        tile = &ir_value(k, value)->layout->tile, value = op->results[0];
    const Layout *layout = lay_is_tile(k, value) ? ir_value(k, value)->layout : NULL;
    if (!tile || !layout || layout->home != HOME_REGISTERS) return 1;
    int vector = ll_run(&layout->map, layout->map.rank - 1, tile->elem_bytes, st->cx->machine->vector_bytes);
    while (vector > 1 && tile->columns % vector) vector /= 2;
    return vector;
}

/* --- comparisons --- */
/* cols < n, where n and the start of cols are multiples of what a thread holds side by side: the comparison of one
 * element is that of so many. 1: it is no such one. */
int access_best_compare(const LayoutState *st, const Op *op) {
    const Facts *f = &st->facts;
    const Kernel *k = f->k;
    Word pred = op_word(op, AT_PRED, CMP_EQ);
    Ref index = op->operands[0], bound = op->operands[1], start = REF_NONE;
    const Layout *layout = lay_is_tile(k, op->results[0]) ? ir_value(k, op->results[0])->layout : NULL;
    if ((pred != CMP_LT && pred != CMP_GE) || !layout || layout->map.rank != 1 || lay_is_tile(k, bound)) return 1;
    const Op *from = ref_is_value(index) ? ir_value(k, index)->op : NULL;
    if (from && from->code == OP_ADD) {
        int iota = lay_is_tile(k, from->operands[1]);
        start = from->operands[!iota], index = from->operands[iota];
        from = ref_is_value(index) ? ir_value(k, index)->op : NULL;
        if (lay_is_tile(k, start)) return 1;
    }
    if (!from || from->code != OP_IOTA) return 1;
    int64_t begin = op_int(from, AT_BEGIN, 0);
    int side = ll_run(&layout->map, 0, 1, st->cx->machine->vector_bytes);
    while (side > 1 && (fact_divisor(f, bound) % side || begin % side || (start && fact_divisor(f, start) % side)))
        side /= 2;
    return side;
}

/* --- conversions --- */
int convert_bytes(const Type *type) { return type->pointer ? 8 : elem_info[type->elem].bytes; }

ConvertPlan convert_plan(const Kernel *k, const Op *convert) {
    const Type *type = ir_type(k, convert->results[0]);
    return ll_plan_convert(&ir_value(k, convert->operands[0])->layout->map,
                           &ir_value(k, convert->results[0])->layout->map, convert_bytes(type));
}

bool lay_may_trade(const Layout *from, const Layout *to, const Type *type, LaneTrade *trade) {
    if (convert_bytes(type) != 1 || type->elem == EL_I1 || from->home != HOME_REGISTERS || to->home != HOME_REGISTERS ||
        from->registers != 1 << from->map.count[LL_REGISTER] || to->registers != 1 << to->map.count[LL_REGISTER])
        return false;
    ConvertPlan plan = ll_plan_convert(&from->map, &to->map, 1);
    return ll_plan_trade(&plan, trade);
}

/* Does nobody else use the value than matrix instructions, as their left operand? */
static bool is_left_alone(const Op *first, Ref value) {
    for (const Op *op = first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++)
            if (op->operands[i] == value && !(op->code == OP_DOT && i == 0)) return false;
        for (int i = 0; i < op->region_count; i++)
            if (!is_left_alone(op->regions[i]->first, value)) return false;
    }
    return true;
}

bool convert_trades(const Kernel *k, const Op *convert, LaneTrade *trade) {
    LaneTrade own;
    return is_left_alone(convert->next, convert->results[0]) &&
           lay_may_trade(ir_value(k, convert->operands[0])->layout, ir_value(k, convert->results[0])->layout,
                         ir_type(k, convert->results[0]), trade ? trade : &own);
}

/* Shuffles know words and 16-bit floats. A pass through shared memory costs two barriers, and two accesses for each
 * vector. */
static bool shuffles_pay(const Machine *machine, const Type *type, const ConvertPlan *plan) {
    int bytes = convert_bytes(type);
    return bytes > 1 && plan->shuffles <= machine->cost.barrier_shuffles + (bytes << plan->map.count[LL_REGISTER]) / 4;
}

Word access_best_via(const Machine *machine, const Kernel *k, const Op *convert) {
    static const Word words[] = {[CONVERT_NONE] = VIA_NOTHING,
                                 [CONVERT_REGISTERS] = VIA_REGISTERS,
                                 [CONVERT_SHUFFLE] = VIA_SHUFFLE,
                                 [CONVERT_SHARED] = VIA_SHARED};
    const Layout *from = ir_value(k, convert->operands[0])->layout, *to = ir_value(k, convert->results[0])->layout;
    if (from->home != HOME_REGISTERS || to->home != HOME_REGISTERS) return WORD_NONE;
    ConvertPlan plan = convert_plan(k, convert);
    if (convert_trades(k, convert, NULL)) return VIA_TRADE;
    bool round_about = plan.kind == CONVERT_SHUFFLE && !shuffles_pay(machine, ir_type(k, convert->results[0]), &plan);
    return round_about ? VIA_SHARED : words[plan.kind];
}

typedef struct Decision {
    LayoutState *st;
    const int *uses;
} Decision;

static void decide(Op *op, void *user) {
    Decision *d = user;
    if (access_has_vectors(d->st, op)) decide_box(d->st, d->uses, op);
    bool shared = op->code == OP_PUT || op->code == OP_GET || op->code == OP_CONVERT || op->code == OP_BLOAD ||
                  op->code == OP_BSTORE;
    int vector = op->code == OP_CMP ? access_best_compare(d->st, op) : shared ? access_best_row(d->st, op) : 1;
    if (vector > 1) set_number(d->st->k, op, AT_VECTOR, vector);
    Word via = op->code == OP_CONVERT ? access_best_via(d->st->cx->machine, d->st->k, op) : WORD_NONE;
    if (via) op_set(d->st->k, op, (Attr){.id = AT_VIA, .word = via});
}

void access_decide(LayoutState *st) {
    Decision d = {st, ir_count_uses(st->k, st->cx->scratch)};
    ir_walk(st->k->body, decide, &d);
}
