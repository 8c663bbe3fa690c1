/* SPDX-License-Identifier: Apache-2.0 */
/* nest_cost.c: how long a task takes whose loop makes so many trips as one.
 *
 * The load role and compute work side by side, an item apart:
 *
 *     first item + trips * the longer of: fetching an item, computing with it
 *
 * Figures are those of the model of the chip (target/tenstorrent/model/tensix_time.c), for pages of 32 x 32. An item
 * costs a way to memory and back, commands, and the time of ports and banks; the pages of a box that lie below each
 * other are in few banks if rows have a multiple of some, so a box of one page along rows gets what one bank gives.
 * Compute takes for each block of pages of a product the longest of unpacking, multiplying and packing; sums of at most
 * four pages stay in DST, and are packed when the loop is over. */
#include "pass/nest_state.h"

enum {
    PAGE = 32,
    USUAL_TRIPS = 32,
    LATENCY = 500, /* of an item: to memory and back, and to say so to the cores that share it */
    COMMAND = 30,  /* a page */
    PORT = 32,     /* bytes a cycle */
    PRODUCT = 64,  /* cycles of two pages; of steps element by element about the same */
    UNPACK = 32,   /* of a page of 16 bits */
    PACK = 64,     /* of a page of f32 */
    TRIP = 100,    /* hand-overs of compute */
    DST = 4        /* pages */
};

static double larger(double a, double b) { return a > b ? a : b; }

static int64_t pages_along(const Nest *n, Ref ref, int axis, int factor) {
    int64_t extent = join_type(&n->x, ref)->extent[axis];
    bool is_long = ref < n->x.count && n->along.axis[ref] == axis + 1;
    return (extent * (is_long ? factor : 1) + PAGE - 1) / PAGE;
}

static int64_t pages_of(const Nest *n, Ref ref, int factor) {
    const Type *type = join_type(&n->x, ref);
    int64_t pages = 1;
    for (int axis = 0; axis < type->rank; axis++)
        pages *= axis >= type->rank - 2 ? pages_along(n, ref, axis, factor) : type->extent[axis];
    return pages;
}

int64_t nest_pages(const Nest *n, int factor) {
    const Op *sum = n->along.sums.at[0];
    int axis = sum->code == OP_DOT ? 1 : (int)op_int(sum, AT_AXIS, 0);
    return pages_along(n, sum->operands[0], axis, factor);
}

int64_t nest_sum_pages(const Nest *n, bool *stays) {
    int64_t pages = 0;
    int count = 0;
    for (int i = 0; i < n->compute->result_count; i++) {
        if (!join_is_tile(&n->x, n->compute->results[i])) continue;
        pages += pages_of(n, n->compute->results[i], 1);
        count++;
    }
    *stays = count == 1 && pages <= DST;
    return pages;
}

int64_t nest_bytes(const Nest *n, int factor) {
    int64_t bytes = 0;
    for (size_t i = 0; i < n->x.rings.count; i++) {
        const Value *ring = ir_value(n->x.k, n->x.rings.at[i]);
        for (int f = 0; f < ring->type->field_count; f++) {
            const Type *type = ring->type->fields[f].type;
            if (n->along.fields[i][f])
                bytes += ty_elements(type) * ty_elem_bytes(type) * op_int(ring->op, AT_SLOTS, 1) * (factor - 1);
        }
    }
    return bytes;
}

/* A block of a product that divides its pages: what choose_block of the target takes, as far as cost goes. */
static double product_cycles(const Nest *n, const Op *dot, int factor, bool stays) {
    int64_t down = pages_along(n, dot->results[0], 0, 1), across = pages_along(n, dot->results[0], 1, 1);
    int64_t inner = pages_along(n, dot->operands[0], 1, factor), pages = down * across;
    double shared = down % 2 == 0 && across % 2 == 0 ? 1 : across % 4 == 0 || down % 4 == 0 ? 1.25 :
                    across % 2 == 0 || down % 2 == 0 ? 1.5 : 2; /* pages that are unpacked for each product */
    double math = (double)(pages * inner * PRODUCT), unpack = (double)(pages * inner * UNPACK) * shared;
    return larger(larger(math, unpack), stays ? 0 : (double)(pages * PACK));
}

static double compute_cycles(const Nest *n, const Region *region, int factor, bool stays) {
    double cycles = 0;
    for (const Op *op = region->first; op; op = op->next) {
        bool is_tile = op->result_count == 1 && join_is_tile(&n->x, op->results[0]);
        if (op->code == OP_DOT && join_type(&n->x, op->results[0])->rank == 2)
            cycles += product_cycles(n, op, factor, stays);
        else if (is_tile && (op_has(op->code, TRAIT_ELEMENTWISE) || op->code == OP_REDUCE))
            cycles += PRODUCT * (double)pages_of(n, op->code == OP_REDUCE ? op->operands[0] : op->results[0], factor);
        for (int i = 0; i < op->region_count; i++) cycles += compute_cycles(n, op->regions[i], factor, stays);
    }
    return cycles;
}

/* How many banks hold what a box has below each other, in a page along rows. */
static int banks_below(const Nest *n, const Op *load) {
    const Op *made = ref_is_value(load->operands[0]) ? ir_value(n->x.k, load->operands[0])->op : NULL;
    int banks = n->x.cx->machine->load_banks, a = banks;
    int64_t extent;
    RefList extents = made && made->code == OP_TENSOR ? op_list(made, 0) : (RefList){0};
    if (!extents.count || !ir_const_int(n->x.k, extents.at[extents.count - 1], &extent)) return 1; /* at worst */
    for (int64_t b = (extent + PAGE - 1) / PAGE % banks; b;) { /* gcd */
        int64_t rest = a % b;
        a = (int)b;
        b = rest;
    }
    return banks / a;
}

/* Cores of a row or column share what does not depend on their index: they are so many. */
static double sharers(const Nest *n, const Op *load, int place, int most) {
    Join x = n->x;
    if (!n->is_grid) return 1;
    x.at = (Along *)&n->tasks[place];
    return join_moved_dim(&x, load) == -1 ? most : 1;
}

static double fetch_cycles(const Nest *n, int factor) {
    const Machine *m = n->x.cx->machine;
    double own = 0, shared = 0, banks = 0, commands = 0;
    for (const Op *op = n->load->regions[0]->first; op; op = op->next) {
        if (op->code != OP_TLOAD || !join_is_tile(&n->x, op->results[0])) continue;
        const Type *type = join_type(&n->x, op->results[0]);
        double pages = (double)pages_of(n, op->results[0], factor), bytes = pages * PAGE * PAGE * ty_elem_bytes(type);
        double by = sharers(n, op, 0, n->rows) * sharers(n, op, 1, n->columns);
        int64_t along_rows = type->rank ? pages_along(n, op->results[0], type->rank - 1, factor) : 1;
        bool is_inner = n->along.axis[op->results[0]] == type->rank;
        double hit = is_inner ? (double)(along_rows * banks_below(n, op)) : m->load_banks;
        if (hit > m->load_banks) hit = m->load_banks;
        if (by > 1)
            shared = larger(shared, 2 * bytes / PORT); /* read, and sent */
        else
            own += bytes / PORT;
        banks += bytes * n->rows * n->columns / by / (m->load_bytes * hit / m->load_banks);
        commands = by > 1 ? larger(commands, pages * COMMAND) : commands + pages * COMMAND;
    }
    return LATENCY + larger(larger(own + shared, banks), commands);
}

double nest_cost(const Nest *n, int factor) {
    bool stays;
    nest_sum_pages(n, &stays);
    double fetch = fetch_cycles(n, factor);
    double compute = TRIP + compute_cycles(n, n->compute->regions[0], factor, stays);
    double trips = n->trips ? (double)((n->trips + factor - 1) / factor)
                            : (USUAL_TRIPS + (factor - 1) / 2.0) / factor; /* the last one is half full */
    return fetch + trips * larger(fetch, compute);
}
