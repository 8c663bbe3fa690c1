/* SPDX-License-Identifier: Apache-2.0 */
/* layout_view.c: products that read tiles of a buffer where they lie: slots of rings that a kernel writes by itself.
 *
 *     %x = buf : buf<bf16[4,64,64], shared>                   %x#s0 = buf        s0 = shared<256x64, width=128>
 *     %a = bload %x, [%s, 0, 0] : bf16[1,64,64]          ->
 *     %b = reshape %a : bf16[64,64]                           %v#s1 = bload %x, [%s, 0, 0] : bf16[64,64]
 *     ..                                                      %w#s2 = permute<dims=[1,0]> %v
 *     %c = permute<dims=[1,0]> %b ; %d = dot %l, %c, %z       %d = dot %l, %w, %z
 *
 * A bload that lives in shared memory is a view: who reads it is the product. So the read moves to the product, and
 * what lies between the two must neither write the buffer nor tell others that it has been read: no arrival, no
 * barrier. Then all that ir/roles_check.c has proved of the one read holds of the other. The buffer lies in panels, as
 * the operand of a matrix instruction does; all of its rows, leading indices together, below each other. */
#include "pass/layout/layout_state.h"

static bool is_shared_buffer(const Kernel *k, Ref ref) {
    const Op *op = ref_is_value(ref) ? ir_value(k, ref)->op : NULL;
    return op && op->code == OP_BUF && ir_type(k, ref)->scope == SCOPE_SHARED && ir_type(k, ref)->rank > 1;
}

SharedTile view_buffer(const Type *type) { return layout_shared_tile(type, PATTERN_ROWS); }

/* A read of a buffer, as an operand of a product takes it. */
typedef struct Read {
    const Type *whole, *box, *shown; /* the buffer, what is read of it, and that as a matrix */
    RefList at;
} Read;

static bool is_beside(const Read *r) { return r->box->extent[r->box->rank - 1] != r->shown->extent[1]; }

/* Those rows and columns of the buffer. A matrix beside another one is its next panel. */
static SharedTile tile_of(const Read *r) {
    SharedTile tile = shared_tile_of(r->shown, false), buffer = view_buffer(r->whole);
    tile.width = buffer.width;
    shared_tile_room(&tile, is_beside(r) ? r->whole->extent[r->whole->rank - 2] : buffer.rows_held, tile.columns);
    tile.zero_rows = tile.rows;
    tile.zero_columns = tile.columns;
    return tile;
}

/* Panels of another width than its instruction would choose do, if it takes whole ones, or a part of one along K. */
static bool width_fits(const SharedTile *tile, int wanted, bool k_columns) {
    int per = tile->width / tile->elem_bytes;
    return tile->width == wanted || (tile->width > PLAIN_PANEL && (tile->columns % per == 0 ||
                                                                   (k_columns && tile->columns < per)));
}

/* Is the place, kept inside by what reads it, a multiple? */
static bool is_multiple(const Facts *f, Ref at, int64_t room, int64_t multiple) {
    int64_t known;
    if (ir_const_int(f->k, at, &known)) return known >= 0 && known <= room && known % multiple == 0;
    return room % multiple == 0 && fact_divisor(f, at) % multiple == 0;
}

/* Several matrices: does each begin where the one before ends? Side by side, a matrix is one panel. */
static const char *stack_fault(const Read *r) {
    const Type *box = r->box, *whole = r->whole;
    int lead = whole->rank - box->rank, first = 0;
    SharedTile tile = tile_of(r);
    while (first < box->rank - 2 && box->extent[first] == 1) first++;
    if (is_beside(r))
        return box->extent[2] * tile.elem_bytes == tile.width ? NULL : "tiles side by side are no panels of it";
    for (int d = first + 1; d < box->rank - 1; d++)
        if (box->extent[d] != whole->extent[lead + d]) return "its rows do not lie below each other";
    return NULL;
}

/* Why it cannot be what the instruction reads; NULL: it can be. */
static const char *read_fault(const Facts *f, const Read *r, const Matrix *row, int which, bool turned) {
    int last = r->whole->rank - 1, end = r->box->rank - 1;
    SharedTile tile = tile_of(r), need = layout_operand_tile(r->shown, row, which, turned);
    bool k_columns = (which == 0) != turned;
    if (need.rows_held > tile.rows || need.columns_held > tile.columns || need.zero_rows > tile.rows ||
        need.zero_columns > tile.columns)
        return "its instruction reads more rows or columns than the tile has";
    if (!width_fits(&tile, need.width, k_columns)) return "it is a part of the rows that its instruction reads whole";
    if (!is_multiple(f, r->at.at[last], r->whole->extent[last] - r->box->extent[end], tile.width / tile.elem_bytes))
        return "its first column lies inside of a panel, or nobody knows where";
    if (!is_multiple(f, r->at.at[last - 1], r->whole->extent[last - 1] - r->box->extent[end - 1], PATTERN_ROWS) ||
        (last > 1 && r->whole->extent[last - 1] % PATTERN_ROWS))
        return "its first row is no multiple of 8, or nobody knows which it is";
    return stack_fault(r);
}

static Read read_of(const Kernel *k, const Op *view) {
    return (Read){ir_type(k, view->operands[0]), ir_box_of(k, view), ir_type(k, view->results[0]), op_list(view, 0)};
}

const char *view_fault(const Facts *f, const Op *view, const Matrix *row, int which, bool turned) {
    Read read = read_of(f->k, view);
    return read_fault(f, &read, row, which, turned);
}

SharedTile view_tile(const Kernel *k, const Op *view) {
    Read read = read_of(k, view);
    return tile_of(&read);
}

/* --- what lies between a read and the product that takes its place --- */
/* Does it write the buffer, or let others do that? */
static bool disturbs(const Op *op, Ref buffer) {
    switch (op->code) {
    case OP_BSTORE:
    case OP_BATOMIC: return op->operands[0] == buffer;
    case OP_BAR_ARRIVE:
    case OP_BAR_EXPECT:
    case OP_SYNC:
    case OP_ASYNC_COPY:
    case OP_ASM_ACT:
    case OP_SPMD: return true;
    default: break;
    }
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            if (disturbs(inner, buffer)) return true;
    return false;
}

static bool disturbs_between(const Op *first, const Op *end, Ref buffer) {
    for (const Op *op = first; op && op != end; op = op->next)
        if (disturbs(op, buffer)) return true;
    return false;
}

bool view_is_quiet(const Op *load, const Op *reader) {
    Ref buffer = load->operands[0];
    for (const Op *at = reader; at; at = at->parent->owner) {
        if (at->parent == load->parent) return !disturbs_between(load->next, at, buffer);
        const Op *around = at->parent->owner;
        if (!around || (around->code != OP_FOR && around->code != OP_WHILE && around->code != OP_IF)) return false;
        bool again = around->code != OP_IF; /* what stands behind it comes before it in the next trip */
        if (again ? disturbs(around, buffer) : disturbs_between(at->parent->first, at, buffer)) return false;
    }
    return false;
}

/* --- operands --- */
/* The read of a buffer that the operand is, turned, and with matrices of it side by side; NULL: it is none that a view
 * can show, `*load` says which. */
static bool find_read(const Kernel *k, Ref operand, const Op **load, Read *read, bool *turned) {
    const Type *type = ir_type(k, operand), *beside = NULL;
    bool shows = true;
    *turned = false, *load = NULL;
    for (Ref ref = operand; ref_is_value(ref);) {
        const Op *op = ir_value(k, ref)->op;
        const Type *here = ir_type(k, ref);
        if (!op) return false;
        if (op->code == OP_PERMUTE && here->rank == 2) {
            shows &= !beside && here->extent[0] == type->extent[*turned];
            *turned ^= op_attr(op, AT_DIMS)->list.at[0] == 1;
        } else if (op->code == OP_PERMUTE) {
            const int64_t *dims = op_attr(op, AT_DIMS)->list.at;
            shows &= !beside && here->rank == 3 && dims[0] == 1 && dims[1] == 0 &&
                     here->extent[0] == type->extent[*turned];
            if (shows && here->extent[1] > 1) beside = here; /* one alone lies as it lay */
        } else if (op->code == OP_BLOAD) {
            *load = is_shared_buffer(k, op->operands[0]) ? op : NULL;
            int64_t shown[] = {type->extent[*turned], type->extent[!*turned]};
            const Type *box = here;
            while (box->rank > 2 && box->extent[0] == 1) /* one of those */
                box = ty_with_shape(k->module, box, box->rank - 1, box->extent + 1);
            *read = (Read){ir_type(k, op->operands[0]), box, ty_with_shape(k->module, type, 2, shown), op_list(op, 0)};
            if (!beside) return shows && box->rank > 1 && box->extent[box->rank - 1] == shown[1];
            return shows && box->rank == 3 && box->extent[0] == beside->extent[1] && box->extent[1] == shown[0] &&
                   box->extent[2] == beside->extent[2];
        } else if (op->code != OP_RESHAPE) {
            return false;
        }
        ref = op->operands[0];
    }
    return false;
}

/* The operand as a view, before its product. */
static Ref make_view(LayoutState *st, Op *dot, const Op *load, const Read *read, bool turned) {
    Kernel *k = st->k;
    Builder b = ir_builder_before(k, dot);
    b.range = load->range;
    Op *op = ir_begin(&b, OP_BLOAD);
    ir_operand(&b, op, load->operands[0]);
    ir_operand_list(&b, op, 0, read->at.at, read->at.count);
    if (read->box->rank > 2) {
        int64_t *box = ARENA_ARRAY(k->module->arena, int64_t, (size_t)read->box->rank);
        for (int d = 0; d < read->box->rank; d++) box[d] = read->box->extent[d];
        op_set(k, op, (Attr){.id = AT_BOX, .list = {.at = box, .count = read->box->rank}});
    }
    Ref view = ir_end(&b, op, read->shown);
    SharedTile tile = tile_of(read);
    lay_set(st, view, lay_in_shared(st, tile));
    ir_name(k, view, ir_value(k, load->results[0])->name);
    if (!turned) return view;
    Ref across = ir_permute(&b, view, (int64_t[]){1, 0}, 2);
    tile.turned = true;
    lay_set(st, across, lay_in_shared(st, tile));
    return across;
}

static void look_at_operand(LayoutState *st, Op *dot, int which) {
    Kernel *k = st->k;
    bool turned;
    const Op *load;
    Read read;
    bool shows = find_read(k, dot->operands[which], &load, &read, &turned);
    if (!load) return;
    Ref buffer = load->operands[0];
    const char *name = ir_value(k, buffer)->name, *side = which ? "right" : "left";
    const char *why = !shows ? "it is a part of a tile, or of several, that is no box of it"
                      : !view_is_quiet(load, dot)
                          ? "between the read and the product others may be told that it has been read"
                          : read_fault(&st->facts, &read, matrix_of(k, dot), which, turned);
    if (!name) name = "a shared tile";
    if (why) {
        pass_find(st->cx, dot->range, FIND_DOT_COPIED, side, name, why);
        return;
    }
    dot->operands[which] = make_view(st, dot, load, &read, turned);
    lay_set(st, buffer, lay_in_shared(st, view_buffer(read.whole)));
    pass_find(st->cx, dot->range, FIND_DOT_IN_PLACE, side, name);
}

void view_take(LayoutState *st) {
    FoundOps dots = ir_list(st->k->body, OP_DOT, st->cx->scratch);
    for (size_t i = 0; i < dots.count; i++)
        for (int which = 0; which < 2; which++)
            if (ir_type(st->k, dots.at[i]->results[0])->rank == 2) look_at_operand(st, dots.at[i], which);
}
