/* SPDX-License-Identifier: Apache-2.0 */
/* ring_rows.c: how many warps a load role has whose threads copy what TMA cannot bring.
 *
 *     for %k { tload %A, [%rows, %k] ; tload %B, [%k, %n] .. }     by pointers out of a table, at rows that data picks
 *
 * One thread that issues TMA keeps pace with any product. Threads do not: from one copy of a warp to its next are its
 * address, the place in the slot and the way into the memory pipe (issue_clocks), and four warps may take longer over
 * the copies of a trip than the matrix units over its products. Twice as many do half of the copies each, side by side.
 * So the trip is counted: the copies that bring it, by what `layout` will decide of them, against the clocks of its
 * products, and more warps load where they take half as long again: less is made up for by slots that were filled
 * before, and a trip is more than its products (at 1.9 matrices from a table gained a tenth, at 1.4 experts with
 * weights of 8 bits lost 4 %). Copies whose rows are found anew in each trip have a chain of additions, comparisons and
 * addresses each (search_clocks):
 *
 *     for %k { %tap = div %k, 2 ; %at = select(inside(%rows, %tap), %pixel, outside) ; tload %X, [%at, %c] .. }
 *
 * (Rows that the loop does not change are found before it; those that a table of memory says wait for the table.)
 * More warps take registers, which the sums of compute must be able to spare; and where another block has room on the
 * multiprocessor, it has warps of its own that load. */
#include "analysis/sums.h"
#include "ir/ringform.h"
#include "pass/layout/layout.h"
#include "pass/matrix.h"
#include "pass/ring/ring.h"
#include "pass/ring/ring_cut.h"

enum { MOST_STEPS = 64, FAR_STEPS = 4 };

/* Is the vector made of numbers in the body of the loop: not before it, and not from memory there? */
static bool is_computed(const Kernel *k, const Region *body, Ref x, int *left, bool *here) {
    const Op *op = ref_is_value(x) ? ir_value(k, x)->op : NULL;
    if (!op || op->parent != body || ir_type(k, x)->rank == 0) return true;
    if (--*left < 0 || !op_has(op->code, TRAIT_ELEMENTWISE)) return op->code == OP_IOTA || op->code == OP_SPLAT;
    *here = true;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] && !is_computed(k, body, op->operands[i], left, here)) return false;
    return true;
}

static bool has_one_dot(const Region *body) {
    int dots = 0;
    for (const Op *op = body->first; op; op = op->next) dots += op->code == OP_DOT;
    return dots == 1;
}

/* Steps of the longest chain by which the load's rows are found in the body of its loop; 0: they are not. */
static int search_steps(const Kernel *k, const Op *load) {
    const Op *loop = load->parent ? load->parent->owner : NULL;
    int most = 0;
    if (load->code != OP_TLOAD || !loop || loop->code != OP_FOR) return 0;
    RefList at = op_list(load, 0);
    for (int d = 0; d < at.count; d++) {
        bool here = false;
        int left = MOST_STEPS;
        if (!ref_is_value(at.at[d]) || ir_type(k, at.at[d])->rank == 0) continue;
        if (!is_computed(k, load->parent, at.at[d], &left, &here) || !here) continue;
        if (MOST_STEPS - left > most) most = MOST_STEPS - left;
    }
    return most;
}

typedef struct Search {
    const Kernel *k;
    bool far; /* by more than a comparison with an edge, for the only product of the loop */
} Search;

static void look_for_rows(Op *op, void *user) {
    Search *s = user;
    s->far |= search_steps(s->k, op) >= FAR_STEPS && has_one_dot(op->parent);
}

bool cut_finds_rows(const Kernel *k, Region *body) {
    Search s = {.k = k};
    ir_walk(body, look_for_rows, &s);
    return s.far;
}

/* --- the trip of a load role --- */
typedef struct Trips {
    const Cut *c;
    const Op *compute;
    int warps;               /* that the longest of them wants */
    int64_t clocks, product; /* of it, with the warps of one group; of its products */
    int64_t words;           /* bytes of what is copied beside the slots, of all loops */
} Trips;

/* Clocks of one warp that made all copies of the body, not those of loops in it. */
static int64_t copy_clocks(Trips *t, const Region *body, Ref *ring) {
    const MachineCost *cost = &t->c->cx->machine->cost;
    int64_t clocks = 0;
    for (const Op *op = body->first; op; op = op->next) {
        if (op->code == OP_PUT) {
            const Op *load = ref_is_value(put_value(op)) ? ir_value(t->c->k, put_value(op))->op : NULL;
            int64_t each = load && search_steps(t->c->k, load) ? cost->search_clocks : cost->issue_clocks;
            Copies copies = layout_copies(t->c->cx, t->c->k, op);
            clocks += copies.count * each / t->c->cx->machine->lanes;
            t->words += copies.words * (cost->loose_trips + 1);
            *ring = hand_ring(t->c->k, op);
        }
        for (int i = 0; op->code == OP_IF && i < op->region_count; i++) clocks += copy_clocks(t, op->regions[i], ring);
    }
    return clocks;
}

static void look_at_trip(Op *loop, void *user) {
    Trips *t = user;
    const Machine *machine = t->c->cx->machine;
    if (loop->code != OP_FOR && loop->code != OP_WHILE) return;
    Ref ring = REF_NONE;
    int64_t clocks = copy_clocks(t, loop->regions[loop->region_count - 1], &ring);
    int64_t product = clocks ? ring_trip_cost(t->c->k, ring_taking_loop(t->compute->regions[0], ring)).clocks : 0;
    int warps = machine->group_warps;
    while (product && warps < machine->cost.load_warps && 2 * clocks > 3 * product * warps) warps *= 2;
    if (warps <= t->warps) return;
    t->warps = warps, t->clocks = clocks / machine->group_warps, t->product = product;
}

static int64_t elements_of(const Kernel *k, Ref sum) { return ty_elements(ir_type(k, sum)); }

/* Has another block room beside this one, with a group of warps that load? Threads fill the slots that were asked for;
 * words come ahead if there is room for them. */
static bool has_second_block(const Cut *c, int compute, int64_t sums, int64_t words) {
    const Machine *machine = c->cx->machine;
    int64_t bytes = 0, registers = machine->registers / (2 * machine->lanes * (compute + machine->group_warps));
    for (size_t i = 0; i < c->rings.count; i++) {
        const CutRing *ring = c->rings.at[i];
        int asked = cut_stages(c, ring);
        if (!ring->shares) bytes += ring->bytes * (ring->slots > asked ? asked : ring->slots);
    }
    if (bytes + words <= machine->ring_bytes) bytes += words;
    return 2 * bytes <= machine->ring_bytes && registers >= machine->cost.pair_registers && sums <= registers / 2;
}

int cut_load_warps(const Cut *c, const Op *tasks, int workers) {
    const Machine *machine = c->cx->machine;
    const Matrix *async = matrix_async(machine);
    const Op *load = role_find(tasks, ROLE_LOAD), *role = role_find(tasks, ROLE_COMPUTE);
    if (!load || !role || !async || !machine->cost.load_warps) return 0;
    Trips t = {.c = c, .compute = role, .warps = machine->group_warps};
    ir_walk(load->regions[0], look_at_trip, &t);
    int compute = workers > 1 ? workers * async->warps : layout_group(c->cx, c->k, role).warps;
    int64_t sums = sum_most_in_row(c->k, elements_of) / (compute * machine->lanes);
    int64_t left = machine->registers / machine->lanes - t.warps * machine->carry_registers;
    if (t.warps == machine->group_warps || left / compute < sums + machine->cost.beside_sums) return 0;
    if (has_second_block(c, compute, sums, t.words)) return 0;
    pass_find(c->cx, c->k->range, FIND_LOAD_WARPS, t.warps, machine->group_warps, (long long)t.clocks,
              (long long)t.product);
    return t.warps;
}
