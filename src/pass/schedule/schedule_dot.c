/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_dot.c: what a product does beside multiplying: run under other work, and round its own left operand;
 * how wide its instructions are, and how their operands come to them.
 *
 * A cast to the type of the left operand that only the product takes is done by it (`packed`): one instruction rounds
 * and packs two numbers as the matrix instruction wants them, and the rounded tile is never an array. So are sums and
 * products of 16-bit floats that are on the way to it, or to the tile in shared memory that it reads: one instruction
 * for two, where f32 takes five.
 *
 *     dot<instr=mma, left=matrix, right=columns>      ldmatrix brings a fragment of A, and two of B, side by side
 *
 * An operand that is contiguous along K comes by matrices, which move rows of 16 bytes whatever the elements are, one
 * that runs across K if its elements have 2 bytes; others number by number. A fragment of B is two matrices, of which
 * an instruction moves up to four: two columns of fragments come at once, or two steps of K where there is but one. */
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"

bool schedule_is_async(const Schedule *s, const Op *dot) {
    return matrix_overlaps(s->k, dot) && ty_elem_bytes(ir_type(s->k, dot->results[0])) >= 4;
}

/* Two numbers of the type become a word of 16-bit floats at once, if need be by f32, which i32 is rounded to first;
 * four of f32 one of 8-bit floats. */
static bool packs_from(Elem from, Elem to) {
    bool narrow = from == EL_I8 || from == EL_U8 || from == EL_F8E4M3 || from == EL_F8E5M2;
    if (to == EL_F16 || to == EL_BF16) return from == EL_F32 || from == EL_I32 || narrow;
    return from == EL_F32 && (to == EL_F8E4M3 || to == EL_F8E5M2);
}

static bool is_pair_cast(const Schedule *s, const Op *op) {
    return op->code == OP_CAST && !op_attr(op, AT_ROUND) && !tile_is_number(s->k, op->operands[0]) &&
           packs_from(ir_type(s->k, op->operands[0])->elem, ir_type(s->k, op->results[0])->elem);
}

/* Done by one instruction for two, with the same bits as in f32. */
static bool is_pair_sum(const Schedule *s, const Op *op) {
    return op->result_count == 1 && layout_pair_name(s->k, op) && !tile_is_number(s->k, op->results[0]);
}

/* Who takes what is packed: a dot as its left operand, or lanes that trade what was rounded on its way there; and sums
 * and products who stores them to shared memory, two and more at once. */
static bool takes(const Schedule *s, const Op *user, const Op *op) {
    if (user->code != OP_CONVERT) return user->code == OP_DOT;
    if (op_word(user, AT_VIA, WORD_NONE) == VIA_TRADE)
        return op->code == OP_CAST && ir_type(s->k, op->operands[0])->elem != EL_I32;
    const Layout *to = schedule_layout(s->k, user->results[0]);
    return is_pair_sum(s, op) && to && to->home == HOME_SHARED && op_int(user, AT_VECTOR, 1) % 2 == 0;
}

static bool can_pack(const Schedule *s, const Op *op) {
    if (!is_pair_cast(s, op) && !is_pair_sum(s, op)) return false;
    Ref result = op->results[0];
    const Layout *layout = schedule_layout(s->k, result);
    if (!layout || layout->home != HOME_REGISTERS || layout->registers % 2 || s->uses[result] != 1) return false;
    for (const Op *user = op->next; user; user = user->next)
        for (int i = 0; i < user->operand_count; i++)
            if (user->operands[i] == result)
                return (i == 0 && takes(s, user, op)) || (is_pair_sum(s, user) && can_pack(s, user));
    return false;
}

/* --- instructions that have many widths --- */
/* Columns of the sum that those warps make which run an instruction together. */
static int64_t columns_of(const Schedule *s, const Op *dot) {
    const Matrix *row = matrix_of(s->k, dot);
    int along_m, along_n;
    layout_dot_grid(dot, &along_m, &along_n);
    int64_t n = ir_type(s->k, dot->results[0])->extent[1] / along_n;
    return (n + row->n - 1) / row->n * row->n;
}

/* The widest; half of that where sums of few products are made apart, in registers of their own. 0: it has but one. */
static int64_t best_width(const Schedule *s, const Op *dot) {
    const Matrix *row = matrix_of(s->k, dot);
    if (!row->n_most) return 0;
    bool apart = row->promotes && matrix_promote(s->k, dot) < INT64_MAX;
    int64_t columns = columns_of(s, dot), most = apart ? row->n_most / 2 : row->n_most;
    return columns < most ? columns : most;
}

static bool has_width(const Matrix *row, int64_t width) {
    bool coarse = row->n_coarse && width > row->n_fine;
    return width >= row->n && width <= row->n_most && width % (coarse ? row->n_coarse : row->n) == 0;
}

/* --- operands that lanes fetch --- */
static bool is_power(int64_t n) { return !(n & (n - 1)); }

static bool lanes_fetch(const Matrix *row) { return row->warps && !row->reads_shared; }

static bool comes_by_matrix(const Schedule *s, const Op *dot, int which) {
    const Matrix *row = matrix_of(s->k, dot);
    const SharedTile *tile = &schedule_layout(s->k, dot->operands[which])->tile;
    bool along_k = (which == 0) != tile->turned;
    return row->row_bytes && (along_k || tile->elem_bytes == row->turn_bytes);
}

/* How lanes fetch an operand that no instruction brings them. */
static Word by_words(const Schedule *s, const Op *dot, int which) {
    const SharedTile *tile = &schedule_layout(s->k, dot->operands[which])->tile;
    bool along_k = (which == 0) != tile->turned;
    return !along_k && tile->elem_bytes == matrix_of(s->k, dot)->trade_bytes ? FETCH_TRADED : FETCH_WORDS;
}

static Word best_left(const Schedule *s, const Op *dot) {
    if (!schedule_in_shared(s->k, dot->operands[0])) return WORD_NONE; /* it is there */
    return comes_by_matrix(s, dot, 0) ? FETCH_MATRIX : by_words(s, dot, 0);
}

static Word best_right(const Schedule *s, const Op *dot) {
    const Matrix *row = matrix_of(s->k, dot);
    int along_m, along_n;
    layout_dot_grid(dot, &along_m, &along_n);
    int64_t n = ir_type(s->k, dot->results[0])->extent[1], k = ir_type(s->k, dot->operands[0])->extent[1];
    bool several = n > row->n * along_n; /* columns of products that a warp has */
    if (!comes_by_matrix(s, dot, 1)) return by_words(s, dot, 1);
    if (!is_power(n)) return FETCH_MATRIX;
    return several ? FETCH_COLUMNS : k % (2 * row->k) == 0 ? FETCH_STEPS : FETCH_MATRIX;
}

/* Nobody has to set a sum to 0 that the first step of an instruction can write instead. */
static bool can_be_fresh(const Schedule *s, const Op *dot) {
    const Matrix *row = matrix_of(s->k, dot);
    int64_t n = ir_type(s->k, dot->results[0])->extent[1];
    return schedule_is_async(s, dot) && is_power(n) && n >= row->n && ir_is_zero(s->k, dot->operands[2]);
}

/* Words of a thread's part of an operand for one step along K. */
static int64_t part_words(const Schedule *s, const Op *dot, int which) {
    const Matrix *row = matrix_of(s->k, dot);
    const Fragment *f = &fragments[which ? row->b_in : row->a_in];
    int along[2], side = which ? row->n : row->m;
    layout_dot_grid(dot, &along[0], &along[1]);
    int64_t tiles = (ir_type(s->k, dot->results[0])->extent[which] + side - 1) / side;
    int64_t bytes = (int64_t)ty_elem_bytes(ir_type(s->k, dot->operands[which])) << f->registers;
    return (tiles + along[which] - 1) / along[which] * bytes / 4;
}

static bool is_alone(const Op *dot) {
    for (const Op *op = dot->parent->first; op; op = op->next)
        if (op != dot && op->code == OP_DOT) return false;
    return true;
}

/* Operands of a step are read under the products of the step before, where the registers hold both: what lies between
 * several products of a trip takes them all, but for the few that a right operand has in whole reads beside a left one
 * that is in registers. */
static bool can_be_early(const Schedule *s, const Op *dot) {
    const Matrix *row = matrix_of(s->k, dot);
    const MachineCost *cost = &s->cx->machine->cost;
    if (!lanes_fetch(row) || ir_type(s->k, dot->operands[0])->extent[1] <= row->k) return false;
    if (!schedule_in_shared(s->k, dot->operands[1])) return false;
    if (!schedule_in_shared(s->k, dot->operands[0]))
        return cost->early_registers && row->a_held && schedule_layout(s->k, dot->operands[1])->tile.turned &&
               2 * part_words(s, dot, 1) <= cost->other_registers;
    if (!is_alone(dot)) return false;
    return layout_words(s->k, dot->results[0]) + 2 * (part_words(s, dot, 0) + part_words(s, dot, 1)) <=
           cost->early_registers;
}

static void plan_fetch(const Schedule *s, Op *dot) {
    if (can_be_fresh(s, dot)) op_set(s->k, dot, (Attr){.id = AT_FRESH, .number = 1});
    if (!lanes_fetch(matrix_of(s->k, dot))) return;
    if (best_left(s, dot)) op_set(s->k, dot, (Attr){.id = AT_LEFT, .word = best_left(s, dot)});
    op_set(s->k, dot, (Attr){.id = AT_RIGHT, .word = best_right(s, dot)});
    if (can_be_early(s, dot)) op_set(s->k, dot, (Attr){.id = AT_EARLY, .number = 1});
    if (s->cx->machine->cost.apart_steps) op_set(s->k, dot, (Attr){.id = AT_UNROLL, .number = 1});
}

bool schedule_fetch_holds(Schedule *s, const Op *dot) {
    if (op_flag(dot, AT_FRESH) && !can_be_fresh(s, dot))
        return schedule_fail(s, dot, "`fresh` is the sum of an asynchronous instruction that begins with 0");
    if (op_attr(dot, AT_EARLY) && !can_be_early(s, dot))
        return schedule_fail(s, dot,
                             "operands come `early` of a product of several steps along K, if its lanes fetch them "
                             "from shared memory and have the registers for two steps");
    Word left = op_word(dot, AT_LEFT, WORD_NONE), right = op_word(dot, AT_RIGHT, WORD_NONE);
    if (!lanes_fetch(matrix_of(s->k, dot)))
        return (!left && !right) ||
               schedule_fail(s, dot, "`left` and `right` are of instructions whose operands lanes fetch");
    Word best = best_right(s, dot);
    return (left == best_left(s, dot) && (right == best || (right == FETCH_MATRIX && comes_by_matrix(s, dot, 1)))) ||
           schedule_fail(s, dot,
                         "`left` and `right` are how lanes can fetch its operands: matrices along K, or of elements of "
                         "2 bytes; of several columns two at once, of one two steps along K; else words, "
                         "traded across K");
}

static bool holds_dot(const Region *region) {
    for (const Op *op = region->first; op; op = op->next)
        if (op->code == OP_DOT) return true;
    return false;
}

static void plan_op(Op *op, void *user) {
    Schedule *s = user;
    int64_t width = op->code == OP_DOT ? best_width(s, op) : 0;
    if (can_pack(s, op)) op_set(s->k, op, (Attr){.id = AT_PACKED, .number = 1});
    if (width) op_set(s->k, op, (Attr){.id = AT_WIDTH, .number = width});
    if (op->code == OP_DOT) plan_fetch(s, op);
    if (op->code == OP_DOT && !matrix_of(s->k, op)->warps)
        op_set(s->k, op, (Attr){.id = AT_UNROLL, .number = s->cx->machine->cost.fma_steps});
    if (op->code == OP_DOT && !s->tasks)
        kernel_set(s->k, (Attr){.id = AT_UNIFORM, .number = 1}); /* it costs a shuffle */
    /* A trip with a product is long enough. */
    if (op->code == OP_FOR && holds_dot(op->regions[0])) op_set(s->k, op, (Attr){.id = AT_UNROLL, .number = 1});
}

void schedule_dot(Schedule *s) { ir_walk(s->k->body, plan_op, s); }

bool schedule_width_holds(Schedule *s, const Op *dot) {
    const Matrix *row = matrix_of(s->k, dot);
    int64_t width = op_int(dot, AT_WIDTH, 0), rest = row->n_most && width ? columns_of(s, dot) % width : 0;
    if (row->n_most ? has_width(row, width) && (!rest || has_width(row, rest)) : !width) return true;
    return schedule_fail(s, dot, "`width` is one that its instruction has, and has for the columns that are left");
}

bool schedule_dot_holds(Schedule *s, const Op *cast) {
    return can_pack(s, cast) ||
           schedule_fail(
               s, cast,
               "no dot alone takes it from registers as its left operand, nor a store to shared memory in pairs");
}
