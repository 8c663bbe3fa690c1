/* SPDX-License-Identifier: Apache-2.0 */
/* layout_choose.c: which layout a thing asks for by its own nature; layout.c spreads them over the
 * kernel.
 *
 * A memory access wants 16-byte vectors along the contiguous dimension, neighbouring lanes side by
 * side; a dot wants the accumulator of its instruction; an operand of a matrix instruction wants
 * rows of 128, 64 or 32 bytes in shared memory, swizzled. None of this depends on alignment or on
 * what is known at launch, so that a variant with and one without a `require` keep the same
 * layouts, and the same bits.
 *
 *     f32[1024], 4 warps: register (1) (2) (512), lane (4) .. (64), warp (128) (256) */
#include "pass/layout/layout_choose.h"
#include "ir/ringform.h"

/* --- threads --- */

static int floor_pow2(int64_t x) {
    int p = 1;
    while ((int64_t)p * 2 <= x) p *= 2;
    return p;
}

/* Elements of the largest sum of a product in the region. */
static int64_t largest_sum(const Kernel *k, const Region *region) {
    int64_t most = 0;
    for (const Op *op = region->first; op; op = op->next) {
        int64_t own = op->code == OP_DOT ? ty_elements(ir_type(k, op->results[0])) : 0;
        for (int i = 0; i < op->region_count; i++) {
            int64_t inner = largest_sum(k, op->regions[i]);
            if (inner > own) own = inner;
        }
        if (own > most) most = own;
    }
    return most;
}

static int kernel_warps(const PassContext *cx, const Kernel *k) {
    bool decided = k->form >= FORM_LAYOUT; /* its layouts are spread over so many */
    int warps = (int)kernel_int(k, AT_WARPS, 4);
    if (cx->options.num_warps > 0 && !decided) warps = cx->options.num_warps;
    while (warps < kernel_int(k, AT_WRITTEN, 1)) warps *= 2;
    /* Who has few registers spills a sum that another machine's threads hold. */
    int64_t held = cx->machine->cost.sum_registers;
    int64_t sum = held && !decided && !cx->options.num_warps ? largest_sum(k, k->body) : 0;
    while (sum > held * cx->machine->lanes * warps && 2 * warps * cx->machine->lanes <= BLOCK_THREADS) warps *= 2;
    /* 32 warps are wished for where a warp has 32 lanes; of 64 lanes a block has half as many. */
    while (!decided && cx->machine->lanes && warps * cx->machine->lanes > BLOCK_THREADS) warps /= 2;
    return warps;
}

static int role_warps(const PassContext *cx, const Kernel *k, const Op *role) {
    int64_t warps = op_int(role, AT_ROLE_WARPS, 0);
    if (warps > 0) return (int)warps;
    int64_t workers = op_int(role, AT_WORKERS, 0);
    /* Layouts know powers of two: three warpgroups' worth of rows is done by two. */
    const Matrix *async = matrix_async(cx->machine);
    if (workers > 0 && async) return async->warps * floor_pow2(workers);
    /* The others only move data: one warpgroup, so that it can give its registers away. */
    return role_name(role) == ROLE_COMPUTE ? kernel_warps(cx, k) : cx->machine->group_warps;
}

/* Roles in this order: compute first (warpgroups start at warp 0), then the rest. */
static ThreadGroup find_group(const PassContext *cx, const Kernel *k, const Op *wanted, int *total) {
    ThreadGroup found = {0, 0};
    int at = 0;
    const Op *tasks = tasks_of(k);
    for (int turn = 0; tasks && turn < 2; turn++)
        for (const Op *role = role_first(tasks); role; role = role_next(role)) {
            bool compute = role_name(role) == ROLE_COMPUTE;
            if (role_is_guest(role) || compute != (turn == 0)) continue;
            int warps = role_warps(cx, k, role);
            if (role == wanted) found = (ThreadGroup){at, warps};
            at += warps * (compute ? (int)op_int(tasks, AT_GANG, 1) : 1);
        }
    *total = at;
    return found;
}

ThreadGroup layout_group(const PassContext *cx, const Kernel *k, const Op *role) {
    if (!role) return (ThreadGroup){0, kernel_warps(cx, k)};
    const Op *host = role_is_guest(role) ? role_find(tasks_of(k), role_host(role)) : NULL;
    if (host && host != role) return layout_group(cx, k, host);
    int total;
    return find_group(cx, k, role, &total);
}

ThreadGroup layout_group_of_worker(const PassContext *cx, const Op *spmd, int region) {
    int warps = op_word(spmd, AT_UNIT, UNIT_THREAD) == UNIT_WARP ? 1 : cx->machine->group_warps;
    return (ThreadGroup){region * warps, warps};
}

ThreadGroup layout_group_of(const PassContext *cx, const Kernel *k, const Op *op) {
    for (const Op *at = op; at->parent && at->parent->owner; at = at->parent->owner) {
        const Op *owner = at->parent->owner;
        if (owner->code != OP_SPMD || op_word(owner, AT_UNIT, UNIT_THREAD) == UNIT_THREAD) continue;
        for (int r = 0; r < owner->region_count; r++)
            if (owner->regions[r] == at->parent) return layout_group_of_worker(cx, owner, r);
    }
    return layout_group(cx, k, role_around(op));
}

int layout_warps(const PassContext *cx, const Kernel *k) {
    if (!tasks_of(k)) return kernel_warps(cx, k);
    int total;
    find_group(cx, k, NULL, &total);
    return total;
}

/* --- shared memory --- */
enum { LEAST_ROWS = 2 * PATTERN_ROWS }; /* of an operand */

static int64_t round_up(int64_t x, int64_t multiple) { return (x + multiple - 1) / multiple * multiple; }

SharedTile layout_shared_tile(const Type *type, int rows_multiple) {
    SharedTile t = shared_tile_of(type, false);
    int64_t row = t.columns * t.elem_bytes;
    /* The widest that divides the row; if none does, the narrowest that holds it, else the widest. */
    enum { WIDE = WIDEST_PANEL, HALF = WIDE / 2, QUARTER = WIDE / 4 };
    t.width = row % WIDE == 0      ? WIDE
              : row % HALF == 0    ? HALF
              : row % QUARTER == 0 ? QUARTER
              : row > HALF         ? WIDE
              : row > QUARTER      ? HALF
                                   : QUARTER;
    shared_tile_room(&t, round_up(t.rows, rows_multiple), t.columns);
    t.zero_rows = t.rows;
    t.zero_columns = t.columns;
    return t;
}

SharedTile layout_operand_tile(const Type *type, const Matrix *row, int which, bool turned) {
    /* K runs along the stored columns of a plain A and of a turned B, else along the rows. */
    bool k_columns = (which == 0) != turned;
    int side = k_columns && !row->reads_shared ? (which ? row->n : row->m) : 0; /* lanes fetch whole parts of rows */
    int multiple = row->k > side ? row->k : side;
    SharedTile tile = layout_shared_tile(type, multiple > LEAST_ROWS ? multiple : LEAST_ROWS);
    /* An instruction that reads whole parts of A's rows reads as many as the padded tile has. */
    if (row->reads_shared && which == 0) {
        int64_t m = (int64_t)1 << ll_log2(turned ? tile.columns : tile.rows);
        shared_tile_room(&tile, turned ? tile.rows_held : m, turned ? m : tile.columns);
    }
    if (k_columns) tile.zero_columns = round_up(tile.columns, row->k);
    if (tile.zero_columns > tile.columns_held) shared_tile_room(&tile, tile.rows_held, tile.zero_columns);
    if (!k_columns) tile.zero_rows = round_up(tile.rows, row->k);
    tile.turned = turned;
    return tile;
}

typedef struct FieldUse {
    const PassContext *cx;
    const Kernel *k;
    Ref ring;
    int field;
    const Type *type;
    SharedTile tile;
} FieldUse;

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* A tile in which both uses find room and zeros. */
static SharedTile wider(SharedTile a, const SharedTile *b) {
    shared_tile_room(&a, larger(a.rows_held, b->rows_held), larger(a.columns_held, b->columns_held));
    a.zero_rows = larger(a.zero_rows, b->zero_rows);
    a.zero_columns = larger(a.zero_columns, b->zero_columns);
    return a;
}

static void follow(FieldUse *use, const Region *region, Ref value, bool turned) {
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++) {
            if (op->operands[i] != value) continue;
            if (op->code == OP_PERMUTE) follow(use, op->parent, op->results[0], !turned);
            if (op->code == OP_DOT && i < 2) {
                SharedTile t = layout_operand_tile(use->type, matrix_of(use->k, op), i, turned);
                use->tile = wider(use->tile, &t);
            }
        }
        for (int i = 0; i < op->region_count; i++) follow(use, op->regions[i], value, turned);
    }
}

static void find_gets(FieldUse *use, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_GET && hand_field(op) == use->field) {
            if (hand_ring(use->k, op) == use->ring) follow(use, op->parent, op->results[0], false);
        }
        for (int i = 0; i < op->region_count; i++) find_gets(use, op->regions[i]);
    }
}

static void look_for_dot(Op *op, void *user) { *(bool *)user |= op->code == OP_DOT; }

/* Do the threads that compute copy the items of rings for themselves, and multiply nothing? */
static bool copies_rows(const Kernel *k) {
    const Op *tasks = tasks_of(k), *load = tasks ? role_find(tasks, ROLE_LOAD) : NULL;
    bool dots = false;
    if (load && role_is_guest(load)) ir_walk(tasks->regions[0], look_for_dot, &dots);
    return load && role_is_guest(load) && !dots;
}

SharedTile choose_field(const PassContext *cx, const Kernel *k, Ref ring, int field) {
    const Type *type = ir_type(k, ring)->fields[field].type;
    FieldUse use = {cx, k, ring, field, type, layout_shared_tile(type, PATTERN_ROWS)};
    if (type->rank == 1 && copies_rows(k)) { /* one row, which threads write and read: as it is in memory */
        use.tile.width = PLAIN_PANEL;
        shared_tile_room(&use.tile, 1, use.tile.columns);
    }
    find_gets(&use, k->body);
    return use.tile;
}

/* --- dot --- */
/* The product before, in the same region, of whose sum the value is made element by element; NULL: none. */
static const Op *made_of_sum(const Kernel *k, Ref value, const Type *shape, const Region *region, int *steps) {
    const Op *op = ref_is_value(value) ? ir_value(k, value)->op : NULL;
    if (!op || --*steps < 0 || !ty_same_shape(ir_type(k, value), shape)) return NULL;
    if (op->code == OP_DOT) return op->parent == region ? op : NULL;
    if (op->code == OP_IF)
        return made_of_sum(k, op->regions[0]->last->operands[ir_value(k, value)->index], shape, region, steps);
    for (int i = 0; op_has(op->code, TRAIT_ELEMENTWISE) && i < op->operand_count; i++) {
        const Op *dot = made_of_sum(k, op->operands[i], shape, region, steps);
        if (dot) return dot;
    }
    return NULL;
}

/* .. if the dot may take it from registers as its left operand, or wants whole rows all the same. */
static const Op *left_from(const Kernel *k, const Op *dot) {
    enum { MOST_STEPS = 64 };
    int steps = MOST_STEPS;
    const Type *left = ir_type(k, dot->operands[0]);
    const Matrix *row = matrix_of(k, dot);
    if (!(row->a_held || row->whole_rows) || left->rank != 2 || left->extent[1] % row->k) return NULL;
    return made_of_sum(k, dot->operands[0], left, dot->parent, &steps);
}

/* Does what one of two products leaves in registers feed the other? */
static bool is_chained(const Kernel *k, const Op *dot) {
    if (left_from(k, dot)) return true;
    for (const Op *op = dot->next; op; op = op->next)
        if (op->code == OP_DOT && left_from(k, op) == dot) return true;
    return false;
}

/* Columns that each of several keeps, at least: where they are rows of the tile in shared memory, half of a panel. */
static int least_share(const Kernel *k, const Op *dot) {
    const Op *right = ir_value(k, dot->operands[1])->op;
    const Matrix *row = matrix_of(k, dot);
    return right && right->code == OP_PERMUTE ? row->n_share / 2 : row->n_share;
}

/* What any grid must keep to. Columns that are read from shared memory begin with a panel; units that are left over
 * do the same work twice. */
static bool grid_fits(const Kernel *k, const Op *dot, int warps, int64_t along_m, int64_t along_n) {
    const Type *c = ir_type(k, dot->operands[2]);
    const Matrix *row = matrix_of(k, dot);
    int64_t n = c->extent[1], units = warps / row->warps;
    bool powers = along_m > 0 && along_n > 0 && !(along_m & (along_m - 1)) && !(along_n & (along_n - 1));
    if (!powers || along_m > units || along_n > units / along_m) return false;
    if (along_m > 1 && along_m > ((int64_t)1 << ll_log2((c->extent[0] + row->m - 1) / row->m))) return false;
    return !row->n_share || along_n == 1 || (!(n & (n - 1)) && n / along_n >= least_share(k, dot));
}

static void best_grid(const Kernel *k, const Op *dot, int warps, int *along_m, int *along_n) {
    const Type *c = ir_type(k, dot->operands[2]);
    const Matrix *row = matrix_of(k, dot);
    int units = warps < row->warps ? 1 : warps / row->warps;
    int64_t m = (c->extent[0] + row->m - 1) / row->m, n = c->extent[1];
    int wide = floor_pow2((int64_t)1 << ll_log2(m));
    *along_m = units < wide ? units : wide;
    /* Fragments that lanes fetch: as square as it goes, so that both operands are read about as often; but whole rows
     * for those who multiply by them again. */
    if (!row->reads_shared && !(*along_m == units && (row->a_held || row->whole_rows) && is_chained(k, dot)))
        while (*along_m > 1 && (c->extent[0] / *along_m) * 2 <= n / (units / *along_m) &&
               n / (units / *along_m) >= 2 * row->n)
            *along_m /= 2;
    *along_n = units / *along_m;
    while (*along_n > 1 && !grid_fits(k, dot, warps, *along_m, *along_n)) *along_n /= 2;
}

/* .. as it was written; conversions that the pass has put in since then may hide what it was chosen by. */
bool choose_has_grid(const Kernel *k, const Op *dot, int warps) {
    const Attr *grid = op_attr(dot, AT_DOT_GRID);
    return grid && grid->list.count == 2 && grid_fits(k, dot, warps, grid->list.at[0], grid->list.at[1]);
}

void choose_dot_grid(const Kernel *k, const Op *dot, int warps, int *along_m, int *along_n) {
    if (choose_has_grid(k, dot, warps))
        layout_dot_grid(dot, along_m, along_n);
    else
        best_grid(k, dot, warps, along_m, along_n);
}

void choose_grid(Kernel *k, Op *dot, int warps) {
    int along_m, along_n;
    int64_t *grid = ARENA_ARRAY(k->module->arena, int64_t, 2);
    best_grid(k, dot, warps, &along_m, &along_n);
    grid[0] = along_m, grid[1] = along_n;
    op_set(k, dot, (Attr){.id = AT_DOT_GRID, .list = {.at = grid, .count = 2}});
}

void layout_dot_grid(const Op *dot, int *along_m, int *along_n) {
    const int64_t *grid = op_attr(dot, AT_DOT_GRID)->list.at;
    *along_m = (int)grid[0], *along_n = (int)grid[1];
}

/* --- registers --- */
/* At most so many elements side by side, so that all threads have some. */
static int64_t fair(const Type *type, int threads, int64_t most) {
    int64_t elements = 1;
    for (int d = 0; d < type->rank; d++) elements <<= ll_log2(type->extent[d]);
    int64_t each = elements / threads;
    return most <= each ? most : each < 1 ? 1 : floor_pow2(each);
}

static LinearLayout blocked(const Type *type, int threads, int warps, int contiguous, int64_t vector) {
    int rank = type->rank, order[MAX_RANK], size[MAX_RANK], lanes[MAX_RANK], ways[MAX_RANK];
    int64_t left[MAX_RANK] = {1};
    int n = 0;
    order[n++] = contiguous;
    for (int d = rank - 1; d >= 0; d--)
        if (d != contiguous) order[n++] = d;
    for (int d = 0; d < rank; d++) {
        left[d] = (int64_t)1 << ll_log2(type->extent[d]);
        size[d] = lanes[d] = ways[d] = 1;
    }
    if (vector > left[contiguous]) vector = left[contiguous];
    size[contiguous] = (int)vector;
    left[contiguous] /= vector;
    int groups = warps;
    for (int i = 0; i < rank; i++) {
        int d = order[i], take = (int)(left[d] < threads ? left[d] : threads);
        if (i == rank - 1) take = threads;
        lanes[d] = take;
        threads /= take;
        left[d] = left[d] / take ? left[d] / take : 1;
    }
    for (int i = 0; i < rank; i++) {
        int d = order[i], take = (int)(left[d] < groups ? left[d] : groups);
        if (i == rank - 1) take = groups;
        ways[d] = take;
        groups /= take;
    }
    return ll_blocked(rank, type->extent, size, lanes, ways, order);
}

LinearLayout choose_blocked(const Machine *machine, const Type *type, int warps, int contiguous) {
    int threads = machine->lanes;
    return blocked(type, threads, warps, contiguous,
                   fair(type, threads * warps, machine->vector_bytes / ty_elem_bytes(type)));
}

/* Multiply-adds: 4 x 4 a thread where there is enough, 4 x 8 lanes, the warps down the rows. */
static LinearLayout choose_fma(const Machine *machine, const Type *c, int warps) {
    int rows = 1 << ll_log2(c->extent[0]), columns = 1 << ll_log2(c->extent[1]), order[2] = {1, 0};
    int size[2] = {1, 1}, lanes[2], ways[2];
    int each = (int)((int64_t)rows * columns / (machine->lanes * warps));
    for (int turn = 0; turn < 4 && size[0] * size[1] < each; turn++) {
        int d = turn % 2 ? 0 : 1;
        if (size[d] * 2 <= (d ? columns : rows)) size[d] *= 2;
    }
    lanes[1] = columns / size[1] < 8 ? columns / size[1] : 8;
    lanes[0] = machine->lanes / lanes[1];
    int down = rows / size[0] / lanes[0];
    ways[0] = down < 1 ? 1 : down < warps ? down : warps;
    ways[1] = warps / ways[0];
    return ll_blocked(2, c->extent, size, lanes, ways, order);
}

LinearLayout choose_left(const Kernel *k, const Op *dot, int along_m, int warps) {
    const Type *a = ir_type(k, dot->operands[0]);
    return matrix_spread(matrix_of(k, dot)->a_in, a->extent[0], a->extent[1], along_m, 1, true, warps);
}

bool choose_left_held(const Kernel *k, const Op *dot, int along_m, int warps, LinearLayout *map) {
    const Type *a = ir_type(k, dot->operands[0]);
    const Matrix *row = matrix_of(k, dot);
    if (row->a_held) *map = matrix_spread(row->a_held, a->extent[0], a->extent[1], along_m, 1, true, warps);
    return row->a_held != FRAGMENT_NONE;
}

LinearLayout choose_accumulator(const PassContext *cx, const Kernel *k, const Op *dot, int warps) {
    const Type *c = ir_type(k, dot->operands[2]);
    const Matrix *row = matrix_of(k, dot);
    int along_m, along_n;
    if (row->sum_in == FRAGMENT_NONE) return choose_fma(cx->machine, c, warps);
    choose_dot_grid(k, dot, warps, &along_m, &along_n);
    return matrix_spread(row->sum_in, c->extent[0], c->extent[1], along_m, along_n, row->n_most > 0, warps);
}

/* Is the offset along the dimension an index vector? */
static bool is_vector(const Facts *f, const Op *access, int dim) {
    return ir_type(f->k, op_list(access, 0).at[dim])->rank > 0;
}

/* One whose numbers come in runs: they are told by their first. */
static bool is_run(const Op *access, const TensorParts *parts, int dim) {
    return dim == parts->rank - 1 && op_int(access, AT_RUN, 1) > 1;
}

bool choose_by_element(const Op *access) {
    return op_operand(access, access->code == OP_TLOAD ? 1 : 2) && op_int(access, AT_RUN, 1) == 1;
}

/* Is the element that of its whole row along the axis, whichever it is? */
static bool is_of_rows(const Kernel *k, Ref mask, int axis, int *steps) {
    const Type *type = ir_type(k, mask);
    const Op *op = ref_is_value(mask) ? ir_value(k, mask)->op : NULL;
    if (!type->rank || type->extent[axis] == 1 || (op && op->code == OP_SPLAT)) return true;
    if (!op || --*steps < 0) return false;
    if (op->code == OP_BROADCAST) return ir_type(k, op->operands[0])->extent[axis] == 1;
    if (op->code != OP_CONVERT && !op_has(op->code, TRAIT_ELEMENTWISE)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_of_rows(k, op->operands[i], axis, steps)) return false;
    return true;
}

bool choose_masks_rows(const Kernel *k, const Op *access, int axis) {
    enum { MOST_STEPS = 64 };
    return access->code == OP_TSTORE && is_of_rows(k, op_operand(access, 2), axis, &(int){MOST_STEPS});
}

int choose_contiguous(Facts *f, const Op *access, const Type *tile) {
    if (tile->rank == 0) return 0;
    if (access->code != OP_TLOAD && access->code != OP_TSTORE && access->code != OP_TATOMIC) return tile->rank - 1;
    TensorParts parts = fact_tensor(f, access->operands[0]);
    int last = -1; /* whose places follow each other */
    for (int d = tile->rank - 1; d >= 0; d--) {
        int64_t stride;
        int dim = box_dim(access, parts.rank, tile->rank, d);
        bool side = is_run(access, &parts, dim) || (dim == parts.rank - 1 && op_flag(access, AT_NEAR));
        if (side) return d;
        if (is_vector(f, access, dim)) continue;
        if (ir_const_int(f->k, parts.stride[dim], &stride) && stride == 1) return d;
        if (last < 0) last = d;
    }
    if (last < 0) return tile->rank - 1;
    fact_wish_equal(f, parts.stride[box_dim(access, parts.rank, tile->rank, last)], 1);
    return last;
}

bool choose_is_beside(const Kernel *k, const Op *put) {
    const Type *ring = ir_type(k, hand_ring(k, put));
    bool matrix = false;
    for (int i = 0; i < ring->field_count; i++) matrix |= ring->fields[i].type->rank == 2;
    return matrix && ir_type(k, put_value(put))->rank == 1;
}

/* Which copies bring: the fewer the better, and no thread holds it. */
static bool is_copied_row(const Kernel *k, const Op *load) {
    const Op *put = load->code == OP_TLOAD ? load->next : NULL;
    while (put && !(put->code == OP_PUT && put_value(put) == load->results[0])) put = put->next;
    return put && choose_is_beside(k, put);
}

/* Are neighbours along the axis known to lie side by side, or asked to? */
static bool is_side_by_side(Facts *f, const Op *access, const Type *tile, int axis) {
    TensorParts parts = fact_tensor(f, access->operands[0]);
    int dim = box_dim(access, parts.rank, tile->rank, axis);
    return is_run(access, &parts, dim) || fact_wish_equal(f, parts.stride[dim], 1);
}

/* Neighbours that are loaded one by one are those of lanes, so that a warp reads whole lines; and a thread has few rows
 * of which it must know where they lie. */
LinearLayout choose_access(const Machine *machine, Facts *f, const Op *access, const Type *tile, int warps) {
    int threads = machine->lanes;
    int contiguous = choose_contiguous(f, access, tile);
    if (is_copied_row(f->k, access))
        return blocked(tile, threads, warps, contiguous, machine->vector_bytes / ty_elem_bytes(tile));
    bool apart =
        access->parent->owner && access->parent->owner->code == OP_FOR && !is_side_by_side(f, access, tile, contiguous);
    bool singly = access->code == OP_TLOAD && (op_flag(access, AT_NEAR) || apart) && ty_elem_bytes(tile) == 2;
    return singly ? blocked(tile, threads, warps, contiguous, 1) : choose_blocked(machine, tile, warps, contiguous);
}

/* --- vectors --- */
int layout_vector_dim(Facts *f, const Op *access, const TensorParts *parts, const Type *tile) {
    for (int d = tile->rank - 1; d >= 0; d--) {
        int dim = box_dim(access, parts->rank, tile->rank, d);
        if (is_run(access, parts, dim)) return d;
        if (!is_vector(f, access, dim) && fact_wish_equal(f, parts->stride[dim], 1)) return d;
    }
    return -1;
}

/* The indices of a vector without the mask that takes some of them outside. */
static Ref index_inside(const Facts *f, Ref offset) {
    const Op *op = ir_value(f->k, offset)->op;
    int64_t masked;
    bool select = op && op->code == OP_SELECT && ir_const_int(f->k, op->operands[2], &masked) && masked < 0;
    return select ? op->operands[1] : offset;
}

/* What all indices of a vector that lie inside are multiples of; of a scalar, whose multiples boxes do not have: 1. */
static int64_t index_divisor(const Facts *f, Ref offset) {
    return ir_type(f->k, offset)->rank ? fact_divisor(f, index_inside(f, offset)) : 1;
}

/* That all of them are; elements of a row whose numbers are products with arguments, such as the strides of pages. */
static bool wish_index(Facts *f, Ref offset, int64_t multiple) {
    return ir_type(f->k, offset)->rank && fact_wish_multiple(f, index_inside(f, offset), multiple);
}

/* Bytes of which the number is a multiple for all that is known: what the launch knows it tests, and what it does not
 * is as the source promises (`align`), or as the kernel finds. */
static int64_t promised_bytes(const Facts *f, const Op *access, Ref x, int tested_bytes) {
    int64_t align = op_int(access, AT_ALIGN, 1);
    return fact_at_launch(f->k, x) ? 1 : tested_bytes ? tested_bytes : align & -align;
}

/* Bytes of a vector that the kernel asks its addresses about; 0: it does not. */
static int vector_of(const Machine *machine, Facts *f, const Op *access, const Type *tile, const LinearLayout *map,
                     int tested_bytes) {
    if (tile->rank == 0) return 1;
    TensorParts parts = fact_tensor(f, access->operands[0]);
    RefList offsets = op_list(access, 0);
    int bytes = elem_info[tile->elem].bytes, inner = layout_vector_dim(f, access, &parts, tile);
    if (inner < 0 || (choose_by_element(access) && !choose_masks_rows(f->k, access, inner))) return 1;
    int inner_dim = box_dim(access, parts.rank, tile->rank, inner);
    int vector = box_wraps(access, inner_dim) ? 1 : ll_run(map, inner, bytes, machine->vector_bytes);
    /* A padded tile: no vector may reach from inside it into the padding. */
    int64_t start =
        is_run(access, &parts, inner_dim) ? op_int(access, AT_RUN, 1) : fact_divisor(f, offsets.at[inner_dim]);
    bool any = tested_bytes && !fact_at_launch(f->k, offsets.at[inner_dim]);
    while (vector > 1 && (tile->extent[inner] % vector || (start < vector && !any))) vector /= 2;
    for (int d = 0; d < parts.rank && vector > 1; d++) {
        int64_t offset = 1;
        bool still = box_axis(access, parts.rank, tile->rank, d) < 0 && ir_const_int(f->k, offsets.at[d], &offset) &&
                     offset == 0;
        if (d == inner_dim || still || index_divisor(f, offsets.at[d]) >= vector) continue;
        if (fact_wish_multiple(f, parts.stride[d], vector) || wish_index(f, offsets.at[d], vector)) continue;
        while (vector > index_divisor(f, offsets.at[d]) * fact_divisor(f, parts.stride[d]) &&
               vector * bytes > promised_bytes(f, access, parts.stride[d], tested_bytes))
            vector /= 2;
    }
    if (vector > 1 && !fact_wish_multiple(f, parts.base, vector * bytes))
        while (vector > 1 && vector * bytes > fact_divisor(f, parts.base) &&
               vector * bytes > promised_bytes(f, access, parts.base, tested_bytes))
            vector /= 2;
    /* Rows of whole vectors: each is inside or outside, never both. */
    if (vector > 1 && f->whole_rows && parts.extent[inner_dim] != REF_NONE)
        fact_wish_multiple(f, parts.extent[inner_dim], vector);
    return vector;
}

int layout_vector(const Machine *machine, Facts *f, const Op *access, const Type *tile, const LinearLayout *map) {
    return vector_of(machine, f, access, tile, map, 0);
}

int layout_vector_tested(const Machine *machine, Facts *f, const Op *access, const Type *tile,
                         const LinearLayout *map) {
    return vector_of(machine, f, access, tile, map, access->code == OP_TSTORE ? machine->vector_bytes : 0);
}

int layout_loose(const Machine *machine, Facts *f, const Op *load, const Type *tile, const Layout *layout) {
    TensorParts parts = fact_tensor(f, load->operands[0]);
    int inner = layout_vector_dim(f, load, &parts, tile);
    int dim = inner >= 0 ? box_dim(load, parts.rank, tile->rank, inner) : -1;
    if (load->code != OP_TLOAD || dim < 0 || box_is_indexed(f->k, load) || box_wraps(load, dim) ||
        parts.extent[dim] == REF_NONE || tile->elem == EL_I1)
        return 0;
    int bytes = elem_info[tile->elem].bytes, side = ll_run(&layout->map, inner, bytes, LOOSE_WORD);
    bool loose = side * bytes == LOOSE_WORD &&
                 layout_vector(machine, f, load, tile, &layout->map) * bytes < LEAST_COPY &&
                 tile->extent[inner] % side == 0 && layout->registers % side == 0;
    return loose ? side : 0;
}
