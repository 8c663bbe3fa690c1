/* SPDX-License-Identifier: Apache-2.0 */
/* nest.c: trips of a loop that add up become longer ones, for machines that fetch an item at a time.
 *
 * A core that takes 32 elements of K a trip waits for a page of each operand, multiplies, and adds to its sums in L1,
 * once a page. Sums do not mind who adds: so many trips can be one, whose products stay in DST in between, with items
 * as many times as long:
 *
 *     for %k = 0, 32, 1 { %p = mul %k, 32 ; .. tload %A, [%i, %p] : bf16[256,32] .. } .. dot %a, %b, %sum
 *  -> for %k = 0, 8, 1 { %k4 = mul %k, 4 ; %p = mul %k4, 32 ; .. tload %A, [%i, %p] : bf16[256,128] .. } ..
 *
 * Contract: ring form in and out. All that the loop carries is unchanged, or a sum: of products along the axis that
 * gets longer, or of sums along it; any number of them, of operands that are worked out of what is loaded element by
 * element, masked, or spread (join_axes.c tells which axes follow the trips). Loads move with the trips by their own
 * length, or not at all. Bounds are the same in both roles and known in front of the tasks.
 *
 * Where the number of trips is no multiple, or not known, operands must be what was loaded, with zeros outside; their
 * tensors then end where the last trip did.
 *
 * How many: option `nest`, or those with which a task takes least time (nest_cost.c), and of those that hardly differ
 * the fewest. What an option or annotation `chunk` says is room for two items or more. Sums are rounded as those
 * of longer trips are. */
#include "pass/nest_state.h"

static Op *maker(const Nest *n, Ref ref) { return ref_is_value(ref) ? ir_value(n->x.k, ref)->op : NULL; }

/* --- the two loops --- */

/* A loop of the region or below that hands over items of the ring itself. */
static Op *loop_with(Region *region, Opcode code, Ref ring) {
    for (Op *op = region->first; op; op = op->next) {
        if (op->code == code && op->operands[0] == ring) return op->parent->owner->code == OP_FOR ? op->parent->owner
                                                                                                   : NULL;
        for (int i = 0; i < op->region_count; i++) {
            Op *found = loop_with(op->regions[i], code, ring);
            if (found) return found;
        }
    }
    return NULL;
}

static int count_waits(const Region *region, Ref ring) {
    int count = 0;
    for (const Op *op = region->first; op; op = op->next) {
        count += op->code == OP_WAIT && op->operands[0] == ring;
        for (int i = 0; i < op->region_count; i++) count += count_waits(op->regions[i], ring);
    }
    return count;
}

/* Every item that the one fills the other takes, once a trip; nothing else is handed over. */
static bool are_alike(const Nest *n, const Region *compute_role, const Region *load_role) {
    for (const Op *op = n->compute->regions[0]->first; op; op = op->next) {
        HandOver hand = hand_over(op);
        if (hand_is_producers(hand) || hand == HAND_SKIP || (op->region_count && hands_over(op))) return false;
        if (hand != HAND_WAIT) continue;
        const Op *acquire_loop = loop_with((Region *)load_role, OP_ACQUIRE, op->operands[0]);
        if (acquire_loop != n->load || ring_acquires(load_role, op->operands[0]) != 1) return false;
        if (count_waits(compute_role, op->operands[0]) != 1) return false;
    }
    for (const Op *op = n->load->regions[0]->first; op; op = op->next) {
        HandOver hand = hand_over(op);
        if ((hand != HAND_NONE && !hand_is_producers(hand)) || (op->region_count && hands_over(op))) return false;
        if (hand == HAND_ACQUIRE && count_waits(n->compute->regions[0], op->operands[0]) != 1) return false;
    }
    return n->load->result_count == 0;
}

static bool find_bounds(Nest *n) {
    const Kernel *k = n->x.k;
    Ref *a = n->compute->operands, *b = n->load->operands;
    int64_t low[2], step, end;
    if (!ir_const_int(k, a[0], &low[0]) || !ir_const_int(k, b[0], &low[1]) || low[0] || low[1]) return false;
    if (!ir_const_int(k, a[2], &n->along.step) || !ir_const_int(k, b[2], &step) || step != n->along.step) return false;
    if (n->along.step < 1 || n->along.step > MAX_TILE_ELEMENTS) return false;
    const Op *made = maker(n, a[1]);
    n->trips = ir_const_int(k, a[1], &end) ? (end + step - 1) / step : 0;
    bool is_known = n->trips > 0 && ir_const_int(k, b[1], &low[1]) && low[1] == end;
    return is_known || (a[1] == b[1] && ref_is_value(a[1]) && (!made || made->parent == k->body));
}

/* --- what the loop carries --- */

static bool is_zero(const Nest *n, Ref ref) {
    const Op *op = maker(n, ref);
    return op && op->code == OP_SPLAT && ref_is_literal(op->operands[0]) &&
           ir_literal(n->x.k, op->operands[0])->f == 0;
}

/* The product or reduction that trips add to value i; NULL: it is no such sum. */
static const Op *sum_of(const Nest *n, int i) {
    const Region *body = n->compute->regions[0];
    Ref carried = body->args[i + 1], next = body->last->operands[i];
    const Op *op = maker(n, next);
    if (!op || op->parent != body || n->uses[next] != 1 || n->uses[carried] != 1 || !join_is_tile(&n->x, next))
        return NULL;
    if (!elem_is_float(join_type(&n->x, next)->elem)) return NULL;
    if (op->code == OP_DOT && op->operands[2] == carried) return join_type(&n->x, next)->rank == 2 ? op : NULL;
    if (op->code != OP_ADD || (op->operands[0] != carried && op->operands[1] != carried)) return NULL;
    Ref other = op->operands[op->operands[0] == carried];
    const Op *made = maker(n, other);
    if (!made || made->parent != body || n->uses[other] != 1) return NULL;
    if (made->code == OP_DOT && join_type(&n->x, other)->rank == 2) return is_zero(n, made->operands[2]) ? made : NULL;
    bool is_sum = made->code == OP_REDUCE && made->operand_count == 1 && made->result_count == 1 &&
                  op_word(made, AT_COMBINE, COMBINE_ADD) == COMBINE_ADD;
    return is_sum ? made : NULL;
}

static bool find_sums(Nest *n) {
    const Region *body = n->compute->regions[0];
    for (int i = 0; i < n->compute->result_count; i++) {
        if (body->last->operands[i] == body->args[i + 1]) continue;
        const Op *sum = sum_of(n, i);
        if (!sum) return false;
        *VEC_PUSH(&n->along.sums, n->x.cx->scratch) = sum;
    }
    return n->along.sums.count > 0;
}

/* --- a last trip that is not full --- */

static bool is_loaded(const Nest *n, Ref ref) {
    const Op *op = maker(n, ref);
    while (op && (op->code == OP_PERMUTE || op->code == OP_CAST || op->code == OP_RESHAPE))
        op = maker(n, op->operands[0]);
    return op && op->code == OP_GET;
}

/* The load's tensor can be given an end, and it fills with zeros. */
static bool load_can_end(Nest *n, const Op *load) {
    const Kernel *k = n->x.k;
    const Op *made = maker(n, load->operands[0]);
    const Attr *fill = op_attr(load, AT_FILL);
    int dim = join_moved_dim(&n->x, load);
    int64_t zero, number = 1;
    if (dim < 0) return true;
    Ref place = op_list(load, 0).at[dim];
    const Op *by = maker(n, place);
    while (by && by->code == OP_CAST) place = by->operands[0], by = maker(n, place);
    bool is_index = place == n->along.index;
    bool is_moved = by && by->code == OP_MUL && by->operands[0] == n->along.index &&
                    ir_const_int(k, by->operands[1], &number);
    bool is_cut = fill && !(ref_is_literal(fill->ref) &&
                            ((ir_const_int(k, fill->ref, &zero) && zero == 0) || ir_literal(k, fill->ref)->f == 0));
    return (is_index || is_moved) && !is_cut && made && made->code == OP_TENSOR && made->parent == k->body;
}

static bool find_end(Nest *n) {
    for (size_t i = 0; i < n->along.sums.count; i++) {
        const Op *sum = n->along.sums.at[i];
        for (int j = 0; j < (sum->code == OP_DOT ? 2 : 1); j++)
            if (!is_loaded(n, sum->operands[j])) return false;
    }
    for (const Op *op = n->load->regions[0]->first; op; op = op->next)
        if (op->region_count || (op->code == OP_TLOAD && !load_can_end(n, op))) return false;
    return true;
}

/* Tensors end where the last trip did. */
static void end_loads(Nest *n) {
    Kernel *k = n->x.k;
    Builder b = ir_builder_before(k, n->x.tasks);
    Ref end = n->compute->operands[1];
    Ref trips = n->trips ? ir_int(&b, EL_I64, n->trips)
                         : ir_binary(&b, OP_CDIV, ir_cast(&b, end, EL_I64), ir_int(&b, EL_I64, n->along.step));
    for (Op *op = n->load->regions[0]->first; op; op = op->next) {
        int dim = op->code == OP_TLOAD ? join_moved_dim(&n->x, op) : -1;
        if (dim < 0) continue;
        const Op *made = maker(n, op->operands[0]);
        RefList extents = op_list(made, 0), strides = op_list(made, 1);
        Ref ends[MAX_RANK];
        int axis = join_axis(&n->x, op->results[0]) - 1;
        int64_t length = join_type(&n->x, op->results[0])->extent[axis];
        for (int d = 0; d < extents.count; d++) ends[d] = extents.at[d];
        Ref last = ir_binary(&b, OP_MUL, trips, ir_int(&b, EL_I64, length));
        if (ends[dim] != REF_NONE) last = ir_binary(&b, OP_MIN, ir_cast(&b, ends[dim], EL_I64), last);
        ends[dim] = last;
        op->operands[0] = ir_tensor(&b, op_operand(made, 0), ends, strides.at, extents.count);
    }
}

/* --- the change --- */

static bool is_inside(const Nest *n, const Op *op) {
    for (const Op *at = op; at; at = at->parent->owner)
        if (at == n->compute || at == n->load) return true;
    return false;
}

/* Numbers that are spread in front of the loop are spread anew, over longer tiles. */
static void spread_anew(Nest *n, const Region *body) {
    Join *x = &n->x;
    for (Op *op = body->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++) {
            Ref ref = op->operands[i];
            const Op *splat = join_axis(x, ref) ? maker(n, ref) : NULL;
            if (!splat || splat->code != OP_SPLAT || is_inside(n, splat)) continue;
            const Type *type = join_type(x, ref);
            int64_t extent[MAX_RANK];
            for (int d = 0; d < type->rank; d++)
                extent[d] = type->extent[d] * (d == join_axis(x, ref) - 1 ? x->at->factor : 1);
            Builder b = ir_builder_before(x->k, op);
            op->operands[i] = ir_splat(&b, splat->operands[0], ty_with_shape(x->k->module, type, type->rank, extent));
        }
        for (int i = 0; i < op->region_count; i++) spread_anew(n, op->regions[i]);
    }
}

static void lengthen_loop(Nest *n, Op *loop, Ref end) {
    Kernel *k = n->x.k;
    Ref index = loop->regions[0]->args[0];
    Builder before = ir_builder_before(k, loop), start = ir_builder_before(k, loop->regions[0]->first);
    Elem elem = join_type(&n->x, index)->elem;
    if (n->along.step > 1) { /* it counts elements */
        loop->operands[2] = ir_int(&before, elem, n->along.step * n->along.factor);
        return;
    }
    loop->operands[1] = end;
    if (!n->uses[index]) return;
    Ref first = ir_binary(&start, OP_MUL, index, ir_int(&start, elem, n->along.factor));
    ir_replace_all(k, index, first);
    ir_value(k, first)->op->operands[0] = index;
}

static void change(Nest *n) {
    Join *x = &n->x;
    Builder b = ir_builder_before(x->k, x->tasks);
    Ref end = n->compute->operands[1];
    Elem elem = join_type(x, n->compute->regions[0]->args[0])->elem;
    int factor = n->along.factor;
    if (!n->trips || n->trips % factor) end_loads(n);
    if (n->along.step == 1)
        end = n->trips ? ir_int(&b, elem, (n->trips + factor - 1) / factor)
                       : ir_binary(&b, OP_CDIV, end, ir_int(&b, elem, factor));
    for (int i = 0; i < 2; i++) {
        join_count_further(x, n->along.body[i]);
        spread_anew(n, n->along.body[i]);
    }
    for (size_t v = 1; v < x->count; v++) {
        const Op *op = n->along.axis[v] ? ir_value(x->k, (Ref)v)->op : NULL;
        if (op && op->code == OP_SPLAT && !is_inside(n, op)) n->along.axis[v] = 0;
    }
    join_lengthen(x);
    lengthen_loop(n, n->compute, end);
    lengthen_loop(n, n->load, end);
}

/* --- how many --- */

enum { BLIND_PAGES = 4 /* of a trip, where nobody knows how many there are: the last one may be nearly empty */ };

static bool is_possible(const Nest *n, int factor) {
    const Join *x = &n->x;
    const PassOptions *o = &x->cx->options;
    int64_t chunk = o->chunk ? o->chunk : kernel_int(x->k, AT_TT_CHUNK, 0);
    if (factor == 1) return true;
    if ((!n->trips || n->trips % factor) && !n->can_end) return false;
    if (n->trips && factor > n->trips) return false;
    for (size_t v = 1; v < x->count; v++)
        if (n->along.axis[v] && ty_elements(join_type(x, (Ref)v)) * factor > MAX_TILE_ELEMENTS) return false;
    if (chunk && chunk % (2 * nest_pages(n, factor))) return false;
    if (!n->trips && nest_pages(n, factor) > BLIND_PAGES) return false;
    return n->held + nest_bytes(n, factor) <= x->cx->machine->ring_bytes;
}

static void choose(Nest *n) {
    Arena *scratch = n->x.cx->scratch;
    int most = n->x.cx->options.nest ? n->x.cx->options.nest : MOST_TRIPS, best = 1;
    double least = nest_cost(n, 1);
    Text others = text_new(scratch);
    bool stays, asked = n->x.cx->options.nest > 0;
    for (int factor = 1; factor <= most; factor++) {
        bool is_even = (factor & (factor - 1)) == 0 || (n->trips && n->trips % factor == 0);
        if (!is_possible(n, factor) || !(is_even || factor == most)) continue;
        double cost = nest_cost(n, factor);
        text_add(&others, "%s%d: %.0f", others.length ? ", " : "", factor, cost);
        if (!asked && cost >= least * 0.99) continue;
        least = cost;
        best = factor;
    }
    n->along.factor = best;
    int64_t pages = nest_sum_pages(n, &stays);
    pass_find(n->x.cx, n->compute->range, FIND_NEST, (long long)best, (long long)nest_cost(n, best), others.at,
              (long long)pages, stays ? "stay in DST" : "are added to in L1");
}

static bool nest_loop(PassContext *cx, Kernel *k, Op *tasks, Op *compute) {
    Nest n = {.x = {.cx = cx, .k = k, .tasks = tasks, .count = k->values.count}, .compute = compute};
    Op *load_role = role_find(tasks, ROLE_LOAD);
    for (Op *op = k->body->first; op; op = op->next)
        if (op->code == OP_RING) *VEC_PUSH(&n.x.rings, cx->scratch) = op->results[0];
    for (Op *op = compute->regions[0]->first; op && !n.load; op = op->next)
        if (op->code == OP_WAIT) n.load = loop_with(load_role->regions[0], OP_ACQUIRE, op->operands[0]);
    if (!n.load || n.x.rings.count > MAX_RINGS) return false;
    n.uses = ir_count_uses(k, cx->scratch);
    n.along = (Along){.index = n.load->regions[0]->args[0],
                      .other = compute->regions[0]->args[0],
                      .body = {compute->regions[0], n.load->regions[0]}};
    if (!are_alike(&n, role_find(tasks, ROLE_COMPUTE)->regions[0], load_role->regions[0])) return false;
    if (!find_bounds(&n) || !find_sums(&n)) return false;
    int rank = tasks->operand_count;
    for (int i = 0; i < 2 && rank >= 2; i++) {
        n.tasks[i].index = tasks_body(tasks)->args[rank - 2 + i];
        n.tasks[i].count = tasks->operands[rank - 2 + i];
        join_find_along(&n.x, &n.tasks[i]);
    }
    for (int i = 0; i < 2; i++) {
        if (rank < 2) n.tasks[i].axis = ARENA_ARRAY(cx->scratch, signed char, n.x.count);
        if (rank < 2) n.tasks[i].follows = ARENA_ARRAY(cx->scratch, bool, n.x.count);
        n.x.along[i] = n.tasks[i];
    }
    n.is_grid = rank >= 2;
    JoinLimits limits = join_limits(&n.x);
    n.held = join_held(&limits, (JoinSize){1, 1});
    n.rows = limits.rows, n.columns = limits.columns;
    join_find_trips(&n.x, &n.along);
    if (!n.along.possible) return false;
    n.can_end = find_end(&n);
    choose(&n);
    if (n.along.factor == 1) return false;
    change(&n);
    return true;
}

/* Loops that take items: inner ones first. A change leaves loops where they are. */
static bool nest_region(PassContext *cx, Kernel *k, Op *tasks, const Region *region) {
    bool changed = false;
    for (Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->region_count; i++) changed |= nest_region(cx, k, tasks, op->regions[i]);
        bool takes = false;
        for (const Op *inner = op->code == OP_FOR ? op->regions[0]->first : NULL; inner; inner = inner->next)
            takes |= inner->code == OP_WAIT;
        if (takes) changed |= nest_loop(cx, k, tasks, op);
    }
    return changed;
}

bool pass_nest(PassContext *cx, Kernel *k) {
    Op *tasks = cx->machine->core_rows ? tasks_of(k) : NULL;
    Op *compute = tasks ? role_find(tasks, ROLE_COMPUTE) : NULL;
    if (!compute || !role_find(tasks, ROLE_LOAD) || tasks->region_count != 1) return false;
    return nest_region(cx, k, tasks, compute->regions[0]);
}
