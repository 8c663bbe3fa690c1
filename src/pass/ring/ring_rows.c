/* ring_rows.c: load roles whose threads find their rows anew in each trip.
 *
 *     for %k { %tap = div %k, 2 ; %at = select(inside(%rows, %tap), %pixel, outside) ; tload %X, [%at, %c] .. }
 *
 * Where they lie is a chain of additions, comparisons and addresses for every row that a thread copies, and a
 * multiprocessor runs a warp of such chains at a third of its pace: four warps take longer over a trip than its product
 * does. Twice as many find half of the rows each, side by side. (Rows that the loop does not change are found before
 * it; those that a table of memory says wait for the table, and more warps do not help.) */
#include "ir/ringform.h"
#include "pass/matrix.h"
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

typedef struct Search {
    const Kernel *k;
    bool found;
    bool far;     /* by more than a comparison with an edge, for the only product of the loop */
    int64_t sums; /* elements of products in a row, the most that there are */
} Search;

static bool has_one_dot(const Region *body) {
    int dots = 0;
    for (const Op *op = body->first; op; op = op->next) dots += op->code == OP_DOT;
    return dots == 1;
}

static void look_at(Op *op, void *user) {
    Search *s = user;
    const Op *loop = op->parent ? op->parent->owner : NULL;
    if (op->code == OP_TLOAD && loop && loop->code == OP_FOR) {
        RefList at = op_list(op, 0);
        for (int d = 0; d < at.count; d++) {
            bool here = false;
            int left = MOST_STEPS;
            if (!ref_is_value(at.at[d]) || ir_type(s->k, at.at[d])->rank == 0) continue;
            if (!is_computed(s->k, op->parent, at.at[d], &left, &here) || !here) continue;
            s->found = true;
            s->far |= left <= MOST_STEPS - FAR_STEPS && has_one_dot(op->parent);
        }
    }
    int64_t sums = 0;
    for (const Op *dot = op->code == OP_DOT ? op->parent->first : NULL; dot; dot = dot->next)
        if (dot->code == OP_DOT) sums += ty_elements(ir_type(s->k, dot->results[0]));
    if (sums > s->sums) s->sums = sums;
}

bool cut_finds_rows(const Kernel *k, Region *body) {
    Search s = {.k = k};
    ir_walk(body, look_at, &s);
    return s.far;
}

int cut_load_warps(const Cut *c, const Op *tasks, int workers) {
    const Machine *machine = c->cx->machine;
    const Matrix *async = matrix_async(machine);
    const Op *load = role_find(tasks, ROLE_LOAD);
    int warps = machine->cost.search_warps;
    if (!load || !async || !warps || workers < 2) return 0;
    Search s = {.k = c->k};
    ir_walk(tasks->regions[0], look_at, &s);
    int compute = workers * async->warps, threads = compute * machine->lanes;
    int64_t left = machine->registers / machine->lanes - warps * machine->carry_registers;
    return s.found && left / compute >= s.sums / threads + machine->cost.beside_sums ? warps : 0;
}
