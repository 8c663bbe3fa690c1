/* SPDX-License-Identifier: Apache-2.0 */
/* merge_tasks.c: the tasks of a template become the programs of a grid.
 *
 *     tasks %it while {                                    grid { .. yield %n }
 *       %t = it * num_programs + program_id                %t = program_id<0>
 *       %r, %ni = if t < %n { .. } { yield 0, -1 }    ->   .. the branch that works ..
 *       test %ni >= 0, %r, %ni } do (..) { roles }         roles
 *
 * or, where all else is computed in any case, %ni = select t < %n, .., -1.
 *
 * A template numbers its tasks and each block takes every num_programs-th of them; which block runs
 * a task makes no difference. So the launch may have one program a task, which is what the other
 * doors write, and persistence is the plan's choice again. Everything about %it and the program id
 * that is not of this form is refused. */
#include "analysis/facts.h"
#include "pass/merge/merge.h"

typedef struct Tasks {
    Merge *m;
    const Region *setup; /* the while region */
    const Op *id;        /* it * num_programs + program_id */
    const Op *choice;    /* the `if` or `select` that tells work from no work */
    int live;            /* its branch with work */
    Ref count;           /* number of tasks */
    const Op *go;        /* num_iters >= 0 */
} Tasks;

static const Op *op_of(const Kernel *k, Ref r) { return ref_is_value(r) ? ir_value(k, r)->op : NULL; }
static bool is_code(const Kernel *k, Ref r, Opcode code) {
    const Op *op = op_of(k, r);
    return op && op->code == code;
}

static bool refuse(Tasks *t, const Op *op) {
    return merge_fail(t->m, op,
                      "common_setup does not say how many tasks there are" FIX
                      "number them as task_iter * gridDim.x + blockIdx.x, compare that with their number, and set "
                      "num_iters to -1 where it is reached");
}

/* it * num_programs + program_id, in any order of operands */
static bool is_task_id(const Tasks *t, const Op *op) {
    const Kernel *k = t->m->k;
    if (op->code != OP_ADD) return false;
    for (int i = 0; i < 2; i++) {
        const Op *product = op_of(k, op->operands[i]);
        if (!is_code(k, op->operands[1 - i], OP_PROGRAM_ID) || !product || product->code != OP_MUL) continue;
        for (int j = 0; j < 2; j++)
            if (product->operands[j] == t->setup->args[0] && is_code(k, product->operands[1 - j], OP_NUM_PROGRAMS))
                return true;
    }
    return false;
}

typedef struct Uses {
    const Tasks *t;
    int ids, others; /* uses of it, program_id and num_programs: as a task's number, and otherwise */
} Uses;

static void count_uses(Op *op, void *user) {
    Uses *uses = user;
    const Kernel *k = uses->t->m->k;
    const Op *product = op_of(k, uses->t->id->operands[0]);
    if (!product || product->code != OP_MUL) product = op_of(k, uses->t->id->operands[1]);
    bool part = op == uses->t->id || op == product;
    for (int i = 0; i < op->operand_count; i++) {
        Ref r = op->operands[i];
        bool place = r == uses->t->setup->args[0] || is_code(k, r, OP_PROGRAM_ID) || is_code(k, r, OP_NUM_PROGRAMS);
        if (place && !part) uses->others++;
        if (product && r == product->results[0] && op != uses->t->id) uses->others++;
    }
    bool dimension = (op->code == OP_PROGRAM_ID || op->code == OP_NUM_PROGRAMS) && op_int(op, AT_DIM, 0) != 0;
    if (dimension) uses->others++;
}

/* The condition of the `if`, as "there is work when t < count": which branch that is. */
static bool read_condition(Tasks *t, const Op *cmp) {
    if (!cmp || cmp->code != OP_CMP) return false;
    Word word = op_word(cmp, AT_PRED, WORD_NONE);
    Ref id = t->id->results[0];
    bool left = cmp->operands[0] == id;
    if (!left && cmp->operands[1] != id) return false;
    if (left ? word == CMP_LT : word == CMP_GT)
        t->live = 0;
    else if (left ? word == CMP_GE : word == CMP_LE)
        t->live = 1;
    else
        return false;
    t->count = cmp->operands[left ? 1 : 0];
    return true;
}

/* What the choice gives on one side, 0 where its condition holds. */
static Ref side_of(const Tasks *t, int side, int index) {
    return t->choice->code == OP_IF ? t->choice->regions[side]->last->operands[index] : t->choice->operands[1 + side];
}

/* test (num_iters >= 0), where num_iters is a result of a choice over the task's number */
static bool find_choice(Tasks *t) {
    const Kernel *k = t->m->k;
    const Op *test = t->setup->last;
    int64_t bound;
    t->go = op_of(k, test->operands[0]);
    bool compares = t->go && t->go->code == OP_CMP && ir_const_int(k, t->go->operands[1], &bound);
    Word word = compares ? op_word(t->go, AT_PRED, WORD_NONE) : WORD_NONE;
    if (!(word == CMP_GE && bound == 0) && !(word == CMP_GT && bound == -1)) return refuse(t, t->go ? t->go : test);
    Ref iters = t->go->operands[0];
    t->choice = op_of(k, iters);
    bool chooses = t->choice && (t->choice->code == OP_IF || t->choice->code == OP_SELECT);
    if (!chooses || t->choice->parent != t->setup) return refuse(t, test);
    if (!read_condition(t, op_of(k, t->choice->operands[0]))) return refuse(t, t->choice);
    int index = ir_value(k, iters)->index;
    int64_t end;
    if (!ir_const_int(k, side_of(t, 1 - t->live, index), &end) || end >= 0) return refuse(t, t->choice);
    if (!fact_natural(k, side_of(t, t->live, index), NULL, NULL))
        return merge_fail(t->m, t->choice,
                          "num_iters must be negative only where no work is left" FIX "make it from extents");
    return true;
}

/* Copies what the value needs into the grid; only parameters may stand at its roots. */
static bool copy_into_grid(Tasks *t, Builder *b, RefMap *map, Ref r, int depth) {
    const Op *op = op_of(t->m->k, r);
    if (!ref_is_value(r) || refmap_get(map, r) != r) return true;
    if (!op || !op_has(op->code, TRAIT_PURE) || op->region_count || op->code == OP_PROGRAM_ID ||
        op->code == OP_NUM_PROGRAMS || depth > 64)
        return refuse(t, op ? op : t->choice);
    for (int i = 0; i < op->operand_count; i++)
        if (!copy_into_grid(t, b, map, op->operands[i], depth + 1)) return false;
    ir_clone(b, op, map);
    return true;
}

static bool make_grid(Tasks *t) {
    Kernel *k = t->m->k;
    RefMap map = {.arena = t->m->arena};
    k->grid = ARENA_NEW(k->module->arena, Region);
    for (int i = 0; i < k->body->arg_count; i++) {
        Value parameter = *ir_value(k, k->body->args[i]);
        refmap_set(&map, k->body->args[i], ir_argument(k, k->grid, parameter.type, parameter.name));
    }
    Builder b = ir_builder(k, k->grid);
    if (!copy_into_grid(t, &b, &map, t->count, 0)) return false;
    Ref count = refmap_get(&map, t->count);
    ir_yield(&b, &count, 1);
    return true;
}

/* The setup's ops before `tasks`, the choice replaced by its live side. */
static void copy_setup(Tasks *t) {
    Merge *m = t->m;
    for (const Op *op = t->setup->first; op; op = op->next) {
        m->b.range = op->range;
        if (op == t->id) {
            Op *id = ir_begin(&m->b, OP_PROGRAM_ID);
            op_set(m->k, id, (Attr){.id = AT_DIM, .number = 0});
            Ref number = ir_end(&m->b, id, NULL);
            ir_name(m->k, number, ir_value(m->k, op->results[0])->name);
            refmap_set(&m->map, op->results[0], number);
        } else if (op == t->choice && op->code == OP_SELECT) {
            refmap_set(&m->map, op->results[0], refmap_get(&m->map, side_of(t, t->live, 0)));
        } else if (op == t->choice) {
            const Region *live = op->regions[t->live];
            for (const Op *inner = live->first; inner != live->last; inner = inner->next)
                ir_clone(&m->b, inner, &m->map);
            for (int i = 0; i < op->result_count; i++)
                refmap_set(&m->map, op->results[i], refmap_get(&m->map, live->last->operands[i]));
        } else if (op != t->go && op->code != OP_TEST &&
                   (t->choice->code == OP_SELECT || op_of(m->k, t->choice->operands[0]) != op)) {
            bool of_id = op->code == OP_PROGRAM_ID || op->code == OP_NUM_PROGRAMS;
            for (int i = 0; i < op->operand_count; i++) of_id = of_id || op->operands[i] == t->setup->args[0];
            if (!of_id) ir_clone(&m->b, op, &m->map);
        }
    }
    const Region *body = m->tasks->regions[1];
    for (int i = 0; i < body->arg_count; i++)
        refmap_set(&m->map, body->args[i], refmap_get(&m->map, t->setup->last->operands[1 + i]));
}

bool merge_tasks(Merge *m) {
    Tasks t = {.m = m, .setup = m->tasks->regions[0]};
    for (const Op *op = t.setup->first; op; op = op->next)
        if (is_task_id(&t, op)) t.id = op;
    if (!t.id) return refuse(&t, m->tasks);
    Uses uses = {.t = &t};
    ir_walk(m->k->body, count_uses, &uses);
    if (uses.others) return refuse(&t, m->tasks);
    if (!find_choice(&t) || !make_grid(&t)) return false;
    copy_setup(&t);
    return true;
}
