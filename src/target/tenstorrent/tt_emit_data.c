/* tt_emit_data.c: the load role as reader.cpp, the store role as writer.cpp.
 *
 *     acquire   cb_reserve_back of every field's CB          wait      cb_wait_front
 *     put       a noc_async_read_page for each page          tstore    a noc_async_write_page for each page inside
 *     commit    noc_async_read_barrier, cb_push_back         release   noc_async_write_barrier, cb_pop_front
 *
 * A page outside the tensor is read from the page of fill that the launcher puts behind each input,
 * and not written. The reader also makes what no tensor holds: the scaler of reductions, once, and
 * tiles of indices, an item each. */
#include "target/tenstorrent/tt_emit.h"

#include <string.h>

/* Prints one call for each CB of the ring. */
static void each_cb(Role *role, Ref ring, const char *call) {
    Tt *tt = role->tt;
    for (size_t i = 0; i < tt->fields.count; i++) {
        const TtField *field = &tt->fields.at[i];
        if (field->ring != ring || field->cb < 0) continue;
        uint32_t pages = tt->plan->cbs.at[field->cb].item_pages;
        cs_line(&role->p, "%s(%s, %u);", call, role_cb(role, field->cb), pages);
        if (field->fpu_cb != field->cb) cs_line(&role->p, "%s(%s, %u);", call, role_cb(role, field->fpu_cb), pages);
    }
}

/* ------------------------------------------------------------------------------------------- boxes of pages */

/* The first page of the box along a dimension, as text; is it page 0? */
static const char *first_page(Role *role, const TtLayout *layout, int dim, Ref offset, bool *zero) {
    Arena *arena = role->tt->arena;
    *zero = false;
    int64_t grain = layout->grain[dim], unit = layout->unit[dim], number;
    int64_t step = grain % unit ? grain : unit, pages = (step + unit - 1) / unit;
    if (ir_const_int(role->tt->k, offset, &number)) {
        *zero = number / step == 0;
        return arena_printf(arena, "%lldu", (long long)(number / step * pages));
    }
    const char *text = role_ref(role, offset);
    if (step != 1) text = arena_printf(arena, "%s / %lld", text, (long long)step);
    text = arena_printf(arena, step == 1 ? "(u32)%s" : "(u32)(%s)", text);
    return pages == 1 ? text : arena_printf(arena, "%s * %lldu", text, (long long)pages);
}

/* `for` lines over the pages of the box and the number of each page: tw_page(..). */
static const char *open_pages(Role *role, const Op *access, int buffer, const Type *tile, int *depth) {
    Tt *tt = role->tt;
    const TtBuffer *b = &tt->plan->buffers.at[buffer];
    RefList offsets = op_list(access, 0);
    int dims[MAX_RANK];
    const char *at[MAX_RANK];
    bool starts[MAX_RANK]; /* at page 0 */
    tt_access_dims(tt, access, dims);
    for (int d = 0; d < b->layout.rank; d++) {
        int64_t number;
        at[d] = first_page(role, &b->layout, d, offsets.at[d], &starts[d]);
        if (ir_const_int(tt->k, offsets.at[d], &number)) continue;
        const char *name = cs_fresh(&role->p, arena_printf(tt->arena, "%s_page%d", b->name, d));
        cs_line(&role->p, "const u32 %s = %s;", name, at[d]);
        at[d] = name;
    }
    *depth = 0;
    for (int axis = 0; axis < tile->rank; axis++) {
        int64_t unit = b->layout.unit[dims[axis]], count = (tile->extent[axis] + unit - 1) / unit;
        if (count == 1) continue;
        const char *i = arena_printf(tt->arena, "i%d", axis);
        cs_open(&role->p, "for (u32 %s = 0; %s < %lld; ++%s)", i, i, (long long)count, i);
        ++*depth;
        at[dims[axis]] = starts[dims[axis]] ? i : arena_printf(tt->arena, "%s + %s", at[dims[axis]], i);
    }
    Text page = text_new(tt->arena);
    text_add(&page, "tw_page(0");
    for (int d = 0; d < b->layout.rank; d++)
        text_add(&page, ", %s, %s", at[d],
                 role_arg(role, ARG_PAGES, arena_printf(tt->arena, "%s_n%d", b->name, d), buffer, d));
    text_add(&page, ")");
    return page.at;
}

static void close_pages(Role *role, int depth) {
    while (depth--) cs_close(&role->p);
}

static void read_box(Role *role, const Op *load, const TtField *field, int cb) {
    Tt *tt = role->tt;
    int buffer = tt_buffer(tt, load, field->paging), depth;
    if (buffer < 0) return;
    const TtBuffer *b = &tt->plan->buffers.at[buffer];
    const char *accessor = role_accessor(role, buffer);
    const char *fill = role_arg(role, ARG_FILL, arena_printf(tt->arena, "%s_fill", b->name), buffer, 0);
    cs_block(&role->p);
    cs_line(&role->p, "u32 to = get_write_ptr(%s);", role_cb(role, cb));
    const char *page = open_pages(role, load, buffer, field->type, &depth);
    cs_line(&role->p, "noc_async_read_page(tw_inside(%s, %s), %s, to);", page, fill, accessor);
    if (depth) cs_line(&role->p, "to += %u;", tensix_tile_bytes(b->format));
    close_pages(role, depth);
    cs_close(&role->p);
}

static void write_box(Role *role, const Op *store, const TtField *field) {
    Tt *tt = role->tt;
    int buffer = tt_buffer(tt, store, field->paging), depth;
    if (buffer < 0) return;
    const char *accessor = role_accessor(role, buffer);
    cs_block(&role->p);
    cs_line(&role->p, "u32 from = get_read_ptr(%s);", role_cb(role, field->cb));
    const char *page = open_pages(role, store, buffer, field->type, &depth);
    cs_line(&role->p, "const u32 page = %s;", page);
    cs_line(&role->p, "if (page != TW_OUTSIDE) noc_async_write_page(page, %s, from);", accessor);
    if (depth) cs_line(&role->p, "from += %u;", tensix_tile_bytes(tt->plan->buffers.at[buffer].format));
    close_pages(role, depth);
    cs_close(&role->p);
}

/* ------------------------------------------------------------------------------------------- tiles of indices */

enum { MOST_INDEX_STEPS = 100000 };

/* The element of an index tile at the given place; of a scalar its value, computed anew from what both roles know. */
static const char *index_text(Role *role, const TtIndexTile *tile, Ref ref, const char *const *place, int *left) {
    Tt *tt = role->tt;
    if (--*left == 0)
        tt_refuse(tt, tile->user, "a mask of indices that takes more than %d steps to compute", MOST_INDEX_STEPS);
    if (*left <= 0) return "0";
    if (!ref_is_value(ref)) return role_literal(role, ref);
    const Value *v = ir_value(tt->k, ref);
    const Op *op = v->op;
    if (ty_is_scalar(v->type) && !role_around(op ? op : v->region->owner)) return role_ref(role, ref);
    if (!op) {
        const Op *loop =
            v->index == 0 && v->region->owner->code == OP_FOR ? tt_matching_loop(tile, v->region->owner) : NULL;
        if (loop) return cs_name(&role->p, loop->regions[0]->args[0]);
        tt_refuse(tt, tile->user,
                  "a mask of indices that depends on a carried value, or on a loop that loads "
                  "nothing; compute it from the loop's variable, beside the load");
        return "0";
    }
    const char *texts[3] = {0}, *inner[MAX_RANK];
    switch (op->code) {
    case OP_IOTA: return arena_printf(tt->arena, "(%s + %lld)", place[0], (long long)op_int(op, AT_BEGIN, 0));
    case OP_SPLAT: return index_text(role, tile, op->operands[0], place, left);
    case OP_EXPAND:
    case OP_RESHAPE: { /* new or dropped extents of 1 */
        const Type *from = ir_type(tt->k, op->operands[0]);
        for (int i = 0, j = 0; i < from->rank; i++) {
            while (from->extent[i] != 1 && j < v->type->rank && v->type->extent[j] == 1) j++;
            bool fits = j < v->type->rank && from->extent[i] == v->type->extent[j];
            if (!fits && from->extent[i] != 1) tt_refuse(tt, op, "a mask in another order of elements");
            inner[i] = from->extent[i] == 1 ? "0" : fits ? place[j] : "0";
            j += fits;
        }
        return index_text(role, tile, op->operands[0], inner, left);
    }
    default: break;
    }
    if (op->code != OP_BROADCAST && !cs_is_elementwise(op->code)) {
        tt_refuse(tt, tile->user,
                  "a mask of indices that depends on the result of `%s`; the reader must be able "
                  "to compute it from arguments and loop variables",
                  op_info[op->code].mnemonic);
        return "0";
    }
    for (int i = 0; i < op->operand_count && i < 3; i++) { /* broadcast and elementwise */
        const Type *type = ir_type(tt->k, op->operands[i]);
        for (int d = 0; d < type->rank; d++) inner[d] = type->extent[d] == 1 ? "0" : place[d];
        texts[i] = index_text(role, tile, op->operands[i], inner, left);
    }
    return op->code == OP_BROADCAST ? texts[0] : role_elementwise(role, op, texts);
}

static void need_index(Role *role, Ref ref, Map *seen) {
    if (!ref_is_value(ref) || !map_meets(seen, role->tt->arena, ref)) return;
    const Value *v = ir_value(role->tt->k, ref);
    if (ty_is_scalar(v->type) && !role_around(v->op ? v->op : v->region->owner))
        role_need(role, ref);
    else if (v->op)
        for (int i = 0; i < v->op->operand_count; i++) need_index(role, v->op->operands[i], seen);
}

static void make_index_tile(Role *role, const TtIndexTile *tile) {
    Tt *tt = role->tt;
    const TtCb *cb = &tt->plan->cbs.at[tile->cb];
    const Type *type = ir_type(tt->k, tile->value);
    TtPaging paging = tt_paging(tt, tile->value);
    const char *name = role_cb(role, tile->cb);
    if (type->rank > 2) {
        tt_refuse(tt, tile->user, "a mask of rank %d", type->rank);
        return;
    }
    bool is_column = paging == PAGE_COLUMN;
    int64_t rows = type->rank == 2 ? type->extent[0] : is_column ? type->extent[0] : 1;
    int64_t columns = type->rank == 2 ? type->extent[1] : is_column ? 1 : type->extent[0];
    const char *place[2] = {"i", "j"};
    if (type->rank == 1) place[0] = is_column ? "i" : "j";
    cs_line(&role->p, "cb_reserve_back(%s, %u);", name, cb->item_pages);
    cs_block(&role->p);
    cs_line(&role->p, "u32 to = get_write_ptr(%s);", name);
    if (paging == PAGE_VECTOR) {
        cs_open(&role->p, "for (u32 p = 0; p < %u; ++p)", cb->item_pages);
        cs_open(&role->p, "tw_make_page<%s>(to, [&](i32 r, i32 c) -> f32",
                cb->desc.format == TT_Float32 ? "u32" : "u16");
        cs_line(&role->p, "const i32 j = (i32)p * 1024 + r * 32 + c;");
        cs_line(&role->p, "return j < %lld ? (f32)%s : 0.0f;", (long long)columns,
                index_text(role, tile, tile->value, place, &(int){MOST_INDEX_STEPS}));
    } else {
        cs_open(&role->p, "for (u32 p = 0; p < %u; ++p)", cb->item_pages);
        int64_t across = (columns + PAGE_SIDE - 1) / PAGE_SIDE;
        cs_open(&role->p, "tw_make_page<%s>(to, [&](i32 r, i32 c) -> f32",
                cb->desc.format == TT_Float32 ? "u32" : "u16");
        cs_line(&role->p, "const i32 i = (i32)(p / %lld) * 32 + r, j = (i32)(p %% %lld) * 32 + c;", (long long)across,
                (long long)across);
        cs_line(&role->p, "return i < %lld && j < %lld ? (f32)%s : 0.0f;", (long long)rows, (long long)columns,
                index_text(role, tile, tile->value, place, &(int){MOST_INDEX_STEPS}));
    }
    cs_close_with(&role->p, "});");
    cs_line(&role->p, "to += %u;", cb->desc.page_bytes);
    cs_close(&role->p);
    cs_close(&role->p);
    cs_line(&role->p, "cb_push_back(%s, %u);", name, cb->item_pages);
}

/* ------------------------------------------------------------------------------------------------- the roles */

static void visit_load(Role *role, const Op *op) {
    Tt *tt = role->tt;
    switch (op->code) {
    case OP_YIELD:
    case OP_TLOAD: return; /* where it is put */
    case OP_ACQUIRE:
        cs_place(&role->p, op->range);
        for (size_t i = 0; i < tt->index_tiles.count; i++)
            if (tt->index_tiles.at[i].acquire == op) make_index_tile(role, &tt->index_tiles.at[i]);
        each_cb(role, op->operands[0], "cb_reserve_back");
        return;
    case OP_PUT: {
        const TtField *field = tt_field(tt, op);
        const Op *load = ref_is_value(op_operand(op, 1)) ? ir_value(tt->k, op_operand(op, 1))->op : NULL;
        if (!load || load->code != OP_TLOAD || op_list(op, 0).count) {
            tt_refuse(tt, op, "a put of anything but a whole loaded tile");
            return;
        }
        if (field->cb < 0) return;
        read_box(role, load, field, field->cb);
        if (field->fpu_cb != field->cb) read_box(role, load, field, field->fpu_cb);
        return;
    }
    case OP_COMMIT:
        cs_line(&role->p, "noc_async_read_barrier();");
        each_cb(role, op->operands[0], "cb_push_back");
        return;
    default:
        if (op_has(op->code, TRAIT_PURE)) return; /* part of a mask or place, refused with its access */
        tt_refuse(tt, op, "`%s` in the load role; a reader only moves pages", op_info[op->code].mnemonic);
    }
}

static void visit_store(Role *role, const Op *op) {
    Tt *tt = role->tt;
    switch (op->code) {
    case OP_YIELD:
    case OP_GET: return;
    case OP_WAIT:
        cs_place(&role->p, op->range);
        each_cb(role, op->operands[0], "cb_wait_front");
        return;
    case OP_TSTORE: {
        const Op *get = ref_is_value(op_operand(op, 1)) ? ir_value(tt->k, op_operand(op, 1))->op : NULL;
        if (!get || get->code != OP_GET) {
            tt_refuse(tt, op, "a store of anything but a whole tile of a ring");
            return;
        }
        const TtField *field = tt_field(tt, get);
        if (field->cb >= 0) write_box(role, op, field);
        return;
    }
    case OP_RELEASE:
        cs_line(&role->p, "noc_async_write_barrier();");
        each_cb(role, op->operands[0], "cb_pop_front");
        return;
    default:
        if (op_has(op->code, TRAIT_PURE)) return; /* part of a mask or place, refused with its access */
        tt_refuse(tt, op, "`%s` in the store role; a writer only moves pages", op_info[op->code].mnemonic);
    }
}

char *tt_emit_reader(Tt *tt) {
    Role role;
    role_init(&role, tt, TENSIX_READER);
    role.visit = visit_load;
    Map seen = {0};
    for (size_t i = 0; i < tt->index_tiles.count; i++) need_index(&role, tt->index_tiles.at[i].value, &seen);
    if (tt->scaler_cb >= 0)
        role.first = arena_printf(tt->arena, "    tw_write_scaler(%s);\n", role_cb(&role, tt->scaler_cb));
    return role_finish(&role, "tilewright_dataflow.h");
}

char *tt_emit_writer(Tt *tt) {
    Role role;
    role_init(&role, tt, TENSIX_WRITER);
    role.visit = visit_store;
    return role_finish(&role, "tilewright_dataflow.h");
}
