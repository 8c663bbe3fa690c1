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

/* Those rows and columns of the buffer. */
SharedTile view_tile(const SharedTile *buffer, const Type *box) {
    SharedTile tile = shared_tile_of(box, false);
    tile.width = buffer->width;
    shared_tile_room(&tile, buffer->rows_held, tile.columns);
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

/* Why the box of the buffer cannot be what the instruction reads; NULL: it can be. */
static const char *box_fault(const Facts *f, const SharedTile *buffer, const Op *load, const Type *box,
                             const Matrix *row, int which, bool turned) {
    const Type *whole = ir_type(f->k, load->operands[0]);
    RefList at = op_list(load, 0);
    int last = whole->rank - 1;
    SharedTile tile = view_tile(buffer, box), need = layout_operand_tile(box, row, which, turned);
    bool k_columns = (which == 0) != turned;
    if (need.rows_held > tile.rows || need.columns_held > tile.columns || need.zero_rows > tile.rows ||
        need.zero_columns > tile.columns)
        return "its instruction reads more rows or columns than the tile has";
    if (!width_fits(&tile, need.width, k_columns))
        return "it is a part of the rows that its instruction reads whole";
    if (!is_multiple(f, at.at[last], whole->extent[last] - box->extent[1], tile.width / tile.elem_bytes))
        return "its first column lies inside of a panel, or nobody knows where";
    if (!is_multiple(f, at.at[last - 1], whole->extent[last - 1] - box->extent[0], PATTERN_ROWS) ||
        (whole->rank > 2 && whole->extent[last - 1] % PATTERN_ROWS))
        return "its first row is no multiple of 8, or nobody knows which it is";
    return NULL;
}

const char *view_fault(const Facts *f, const Op *view, const Matrix *row, int which, bool turned) {
    const SharedTile *buffer = &ir_value(f->k, view->operands[0])->layout->tile;
    return box_fault(f, buffer, view, ir_type(f->k, view->results[0]), row, which, turned);
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
/* The read of a buffer that the operand is, and on what ways; NULL: it is none. */
static const Op *find_load(const Kernel *k, Ref operand, bool *turned, bool *whole) {
    *turned = false, *whole = true;
    for (Ref ref = operand; ref_is_value(ref);) {
        const Op *op = ir_value(k, ref)->op;
        if (!op) return NULL;
        if (op->code == OP_BLOAD) {
            const Type *box = ir_type(k, ref), *type = ir_type(k, operand);
            for (int d = 0; d < box->rank - 2; d++) *whole &= box->extent[d] == 1;
            int64_t rows = box->rank > 1 ? box->extent[box->rank - 2] : 1, columns = box->extent[box->rank - 1];
            *whole &= rows == type->extent[*turned] && columns == type->extent[!*turned];
            return is_shared_buffer(k, op->operands[0]) ? op : NULL;
        }
        const Type *here = ir_type(k, ref), *type = ir_type(k, operand);
        if (op->code == OP_PERMUTE) {
            *whole &= here->rank == 2 && here->extent[0] == type->extent[*turned];
            *turned ^= here->rank == 2 && op_attr(op, AT_DIMS)->list.at[0] == 1;
        } else if (op->code != OP_RESHAPE) {
            return NULL;
        }
        ref = op->operands[0];
    }
    return NULL;
}

/* The operand as a view, before its product. */
static Ref make_view(LayoutState *st, Op *dot, const Op *load, const SharedTile *buffer, const Type *box, bool turned) {
    Kernel *k = st->k;
    Builder b = ir_builder_before(k, dot);
    b.range = load->range;
    Ref view = ir_bload(&b, load->operands[0], op_list(load, 0).at, box);
    SharedTile tile = view_tile(buffer, box);
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
    bool turned, whole;
    const Op *load = find_load(k, dot->operands[which], &turned, &whole);
    if (!load) return;
    Ref buffer = load->operands[0];
    const Type *type = ir_type(k, dot->operands[which]);
    const Matrix *row = matrix_of(k, dot);
    const char *name = ir_value(k, buffer)->name, *side = which ? "right" : "left";
    const Type *box = turned ? ty_with_shape(k->module, type, 2, (int64_t[]){type->extent[1], type->extent[0]}) : type;
    SharedTile tile = view_buffer(ir_type(k, buffer));
    const char *why = !whole ? "it is several tiles side by side, or a part of one that is no box of it"
                      : !view_is_quiet(load, dot)
                          ? "between the read and the product others may be told that it has been read"
                          : box_fault(&st->facts, &tile, load, box, row, which, turned);
    if (!name) name = "a shared tile";
    if (why) {
        pass_find(st->cx, dot->range, FIND_DOT_COPIED, side, name, why);
        return;
    }
    dot->operands[which] = make_view(st, dot, load, &tile, box, turned);
    lay_set(st, buffer, lay_in_shared(st, tile));
    pass_find(st->cx, dot->range, FIND_DOT_IN_PLACE, side, name);
}

void view_take(LayoutState *st) {
    FoundOps dots = ir_list(st->k->body, OP_DOT, st->cx->scratch);
    for (size_t i = 0; i < dots.count; i++)
        for (int which = 0; which < 2; which++)
            if (ir_type(st->k, dots.at[i]->results[0])->rank == 2) look_at_operand(st, dots.at[i], which);
}
