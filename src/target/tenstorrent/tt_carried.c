/* SPDX-License-Identifier: Apache-2.0 */
/* tt_carried.c: tiles that a loop of the compute role carries from trip to trip.
 *
 *     in DST     a sum (x + e, dot onto x) whose pages fit it, where the loop only multiplies or reduces and one put
 *                uses the result
 *     as a sum   any other sum: pages in L1 that the packer adds to (pack_reconfig_l1_acc), in fp32, an item at a time
 *     in slots   everything else: a CB of two items. The body reads the one, packs the next value into the other, and
 *                at its end gives the old one up:
 *                    cb_reserve_back(cb_m, 2); .. pack_tile(0, cb_m); .. cb_push_back(cb_m, 2);
 *                    cb_pop_front(cb_m, 2); cb_wait_front(cb_m, 2);
 *
 * A loop of no trips leaves what it started with. */
#include "target/tenstorrent/tt_compute.h"

static const Op *maker(const Compute *c, Ref value) {
    return ref_is_value(value) ? ir_value(c->role.tt->k, value)->op : NULL;
}
static bool is_tile(const Compute *c, Ref value) { return ir_type(c->role.tt->k, value)->rank > 0; }

bool tt_is_sum(const Tt *tt, const Op *loop, int i) {
    Ref carried = loop->regions[0]->args[i + 1], next = loop->regions[0]->last->operands[i];
    const Op *op = ref_is_value(next) ? ir_value(tt->k, next)->op : NULL;
    int *uses = ir_count_uses(tt->k, tt->arena);
    if (!op || uses[carried] != 1 || uses[next] != 1) return false;
    switch (op->code) {
    case OP_DOT:
    case OP_FMA: return op->operands[2] == carried;
    case OP_ADD: return op->operands[0] == carried || op->operands[1] == carried;
    default: return false;
    }
}

static bool starts_at_zero(const Compute *c, Ref initial) {
    const Op *op = maker(c, initial);
    const Kernel *k = c->role.tt->k;
    return op && op->code == OP_SPLAT && ref_is_literal(op->operands[0]) && ir_literal(k, op->operands[0])->f == 0;
}

static bool always_runs(const Compute *c, const Op *loop) { return role_always_runs(c->role.tt->k, loop); }

typedef enum Way { WAY_SCALAR, WAY_DST, WAY_SUM, WAY_SLOTS } Way;
typedef struct Loop {
    const Op *op;
    int resident;  /* the carried value that stays in DST, -1: none */
    int64_t pages; /* of that one */
    const Op *put; /* that uses it */
} Loop;

/* Is there a wait behind what is added? It may be packed away there, and then it is a value, no sum. */
static bool is_before_wait(const Compute *c, const Op *loop, int i) {
    const Op *op = maker(c, loop->regions[0]->last->operands[i]);
    while (op && !compute_has_wait(op)) op = op->next;
    return op != NULL;
}

/* How the loop carries its value i. */
static Way way_of(const Compute *c, const Loop *loop, int i) {
    if (!is_tile(c, loop->op->results[i])) return WAY_SCALAR;
    if (i == loop->resident) return WAY_DST;
    return tt_is_sum(c->role.tt, loop->op, i) && !is_before_wait(c, loop->op, i) ? WAY_SUM : WAY_SLOTS;
}

static int cb_of(Compute *c, const Loop *loop, int i) {
    bool is_sum = way_of(c, loop, i) == WAY_SUM;
    return compute_inner_cb(c, loop->op->results[i], is_sum ? INNER_SUM : INNER_CARRIED, loop->op);
}

/* ------------------------------------------------------------------------------------------------------- the body */

static const char *is_later_trip(Compute *c, const Op *loop) {
    return arena_printf(c->role.tt->arena, "%s != %s", role_ref(&c->role, loop->regions[0]->args[0]),
                        role_ref(&c->role, loop->operands[0]));
}

static void add_to_sum(Compute *c, const Loop *loop, int i) {
    const Region *body = loop->op->regions[0];
    Ref value = body->last->operands[i], carried = body->args[i + 1];
    Root root = {.value = value, .without = carried, .cb = -1, .op = maker(c, value)};
    if (i == loop->resident) {
        root.to_dst = true;
    } else {
        root.cb = cb_of(c, loop, i);
        root.adds_if = starts_at_zero(c, loop->op->operands[3 + i]) ? is_later_trip(c, loop->op) : "1";
    }
    section_root(c, &root);
}

/* Is it more than to fetch and add a few numbers? */
static bool is_costly(const Compute *c, Ref value, int depth) {
    const Op *op = maker(c, value);
    if (!op || op->region_count || c->home[value] >= 0 || op->code == OP_GET || !is_tile(c, value)) return false;
    switch (op->code) {
    case OP_DOT:
    case OP_REDUCE:
    case OP_EXP:
    case OP_EXP2:
    case OP_LOG:
    case OP_LOG2:
    case OP_SQRT:
    case OP_RSQRT:
    case OP_DIV:
    case OP_TANH:
    case OP_ERF:
    case OP_SIN:
    case OP_COS:
    case OP_MATH: return true;
    default: break;
    }
    if (depth == 8) return true;
    for (int i = 0; i < op->operand_count; i++)
        if (is_costly(c, op->operands[i], depth + 1)) return true;
    return false;
}

static void mark_parts(const Compute *c, Ref value, bool *marked) {
    const Op *op = maker(c, value);
    if (!ref_is_value(value) || marked[value]) return;
    marked[value] = true;
    for (int i = 0; op && !op->region_count && i < op->operand_count; i++) mark_parts(c, op->operands[i], marked);
}

/* What several of the next values are made of is computed once, in its order, and lies in CBs until the body's end. */
static void keep_shared(Compute *c, const Loop *loop) {
    Tt *tt = c->role.tt;
    const Region *body = loop->op->regions[0];
    int *uses = ir_count_uses(tt->k, tt->arena);
    bool *marked = ARENA_ARRAY(tt->arena, bool, tt->k->values.count);
    for (int i = 0; i < loop->op->result_count; i++)
        if (way_of(c, loop, i) >= WAY_SUM) mark_parts(c, body->last->operands[i], marked);
    for (const Op *op = body->first; op; op = op->next) {
        Ref value = op->result_count == 1 && !op->region_count ? op->results[0] : REF_NONE;
        if (!value || !marked[value] || uses[value] < 2 || !is_tile(c, value) || c->home[value] >= 0) continue;
        if (tt_same_pages(tt, value) != value || tt_is_index(tt, value) || !is_costly(c, value, 0)) continue;
        compute_spill(c, value, false, op);
    }
}

/* At the yield, before the region's CBs are popped: all next values, then all of them take the old ones' places. */
static void build_next(Compute *c, const Loop *loop) {
    Role *role = &c->role;
    int count = loop->op->result_count;
    bool has_slots = false;
    for (int i = 0; i < count; i++) has_slots |= way_of(c, loop, i) == WAY_SLOTS;
    if (has_slots) keep_shared(c, loop);
    for (int i = 0; i < count; i++) {
        Way way = way_of(c, loop, i);
        Ref value = loop->op->regions[0]->last->operands[i];
        if (way == WAY_DST || way == WAY_SUM) add_to_sum(c, loop, i);
        if (way != WAY_SLOTS) continue;
        role_hand(role, CB_RESERVE, cb_of(c, loop, i));
        section_root(c, &(Root){.value = value, .cb = cb_of(c, loop, i), .op = loop->op});
        role_hand(role, CB_PUSH, cb_of(c, loop, i));
    }
    for (int i = 0; i < count; i++) {
        if (way_of(c, loop, i) != WAY_SLOTS) continue;
        role_hand(role, CB_POP, cb_of(c, loop, i));
        role_hand(role, CB_WAIT, cb_of(c, loop, i));
    }
}

static void build_body(Compute *c, const Loop *loop) {
    const Region *body = loop->op->regions[0];
    size_t mark = compute_enter(&c->role);
    for (int i = 0; i < loop->op->result_count; i++)
        if (way_of(c, loop, i) == WAY_SLOTS) compute_set_home(c, body->args[i + 1], cb_of(c, loop, i), false);
    role_ops(&c->role, body);
    build_next(c, loop);
    compute_pop_after(c, body->last);
    compute_leave(&c->role, mark);
    role_scalar_yield(&c->role, loop->op);
}

/* ------------------------------------------------------------------------------------------------ sums in DST */

/* Is the body nothing but waits, gets and one product or reduction of what lies in CBs? */
static bool body_only_adds(Compute *c, const Op *loop, int i) {
    const Op *sum = maker(c, loop->regions[0]->last->operands[i]);
    int cb;
    bool turned;
    for (const Op *op = loop->regions[0]->first; op; op = op->next)
        if (op->region_count || op->code == OP_PUT) return false;
    if (sum->code == OP_DOT)
        return section_fpu_view(c, sum->operands[0], &cb, &turned) && !turned &&
               section_fpu_view(c, sum->operands[1], &cb, &turned);
    if (sum->code != OP_ADD) return false;
    Ref carried = loop->regions[0]->args[i + 1];
    const Op *reduce = maker(c, sum->operands[sum->operands[0] == carried]);
    return reduce && reduce->code == OP_REDUCE && section_fpu_view(c, reduce->operands[0], &cb, &turned) && !turned;
}

/* Elementwise all the way from the result to the value, each step the only use of the one before. */
static bool leads_to(const Compute *c, Ref result, Ref value, const int *uses) {
    if (value == result) return uses[value] == 1;
    const Op *op = maker(c, value);
    if (!op || uses[value] != 1 || !op_has(op->code, TRAIT_ELEMENTWISE)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (leads_to(c, result, op->operands[i], uses)) return true;
    return false;
}

/* The one put that uses the result, if it is the next thing computed. */
static const Op *only_put(Compute *c, const Op *loop, Ref result) {
    const Kernel *k = c->role.tt->k;
    const Op *put = loop->next;
    while (put && put->code != OP_PUT && !put->region_count) put = put->next;
    if (!put || put->region_count) return NULL;
    if (!leads_to(c, result, op_operand(put, 1), ir_count_uses(k, c->role.tt->arena))) return NULL;
    return ty_elements(ir_type(k, result)) == ty_elements(ir_type(k, op_operand(put, 1))) ? put : NULL;
}

static void find_resident(Compute *c, Loop *loop) {
    Tt *tt = c->role.tt;
    int tiles = 0, index = -1;
    for (int i = 0; i < loop->op->result_count; i++)
        if (is_tile(c, loop->op->results[i])) index = i, tiles++;
    if (tiles != 1 || !tt_is_sum(tt, loop->op, index) || !body_only_adds(c, loop->op, index)) return;
    Ref result = loop->op->results[index];
    const Op *initial = maker(c, loop->op->operands[3 + index]);
    loop->pages = tt_pages(ir_type(tt->k, result), tt_paging(tt, result));
    loop->put = only_put(c, loop->op, result);
    if (!loop->put || !initial || initial->code != OP_SPLAT || loop->pages > tensix_dst_slots(true, false)) return;
    Root root = {.value = op_operand(loop->put, 1), .cb = tt_field(tt, loop->put)->cb, .op = loop->put};
    if (root.cb >= 0 && section_fits_dst(c, &root, result, loop->pages)) loop->resident = index;
}

/* ----------------------------------------------------------------------------------------------- start and end */

static void open_if_no_trips(Compute *c, const Op *loop) {
    role_open_text(&c->role, STEP_IF, "%s", role_no_trips(&c->role, loop));
}

static void start_in_dst(Compute *c, const Loop *loop) {
    Ref initial = loop->op->operands[3 + loop->resident];
    bool from_zero = starts_at_zero(c, initial);
    role_step(&c->role, (TtStep){.kind = STEP_DST, .dst = DST_ACQUIRE});
    if (from_zero && always_runs(c, loop->op)) return; /* the FPU reads fresh DST as zero */
    if (from_zero) open_if_no_trips(c, loop->op);
    section_root(c, &(Root){.value = initial, .cb = -1, .op = loop->op, .to_dst = true});
    if (from_zero) role_close(&c->role);
}

static void start_sum(Compute *c, const Loop *loop, int i) {
    Ref initial = loop->op->operands[3 + i];
    int cb = cb_of(c, loop, i);
    role_hand(&c->role, CB_RESERVE, cb);
    bool from_zero = starts_at_zero(c, initial);
    if (from_zero && always_runs(c, loop->op)) return;
    if (from_zero) open_if_no_trips(c, loop->op);
    section_root(c, &(Root){.value = initial, .cb = cb, .op = loop->op});
    if (from_zero) role_close(&c->role);
}

static void start_slots(Compute *c, const Loop *loop, int i) {
    Elem elem = ir_type(c->role.tt->k, loop->op->results[i])->elem;
    if (!elem_is_float(elem) && elem != EL_I1)
        tt_refuse(c->role.tt, loop->op, "a tile of %s carried round a loop; tiles in compute are floats",
                  elem_info[elem].text);
    int cb = cb_of(c, loop, i);
    role_hand(&c->role, CB_RESERVE, cb);
    section_root(c, &(Root){.value = loop->op->operands[3 + i], .cb = cb, .op = loop->op});
    role_hand(&c->role, CB_PUSH, cb);
    role_hand(&c->role, CB_WAIT, cb);
}

static void end_value(Compute *c, const Loop *loop, int i) {
    Ref result = loop->op->results[i];
    switch (way_of(c, loop, i)) {
    case WAY_SCALAR: return;
    case WAY_DST: c->in_dst = result; return;
    case WAY_SUM: compute_take(c, result, cb_of(c, loop, i), false); return;
    case WAY_SLOTS: compute_keep_home(c, result, cb_of(c, loop, i), false); return;
    }
}

void carried_loop(Role *role, const Op *op) {
    Compute *c = (Compute *)role;
    Loop loop = {.op = op, .resident = -1};
    role->op = op;
    role_place(role, op->range);
    find_resident(c, &loop);
    for (int i = 0; i < op->result_count; i++) {
        Way way = way_of(c, &loop, i);
        if (way == WAY_DST) start_in_dst(c, &loop);
        if (way == WAY_SUM) start_sum(c, &loop, i);
        if (way == WAY_SLOTS) start_slots(c, &loop, i);
    }
    role_open_for(role, op, NULL);
    build_body(c, &loop);
    role_close(role);
    compute_give_up_rest(c, op);
    for (int i = 0; i < op->result_count; i++) end_value(c, &loop, i);
}
