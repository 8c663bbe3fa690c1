/* SPDX-License-Identifier: Apache-2.0 */
/* tt_emit_data.c: the load role as the reader, the store role as the writer.
 *
 *     acquire   cb_reserve_back of every field's CB          wait      cb_wait_front
 *     put       a noc_async_read_page for each page          tstore    a noc_async_write_page for each page inside
 *     commit    noc_async_read_barrier, cb_push_back         release   noc_async_write_barrier, cb_pop_front
 *
 * A page outside the tensor is one of fill, which the reader keeps in L1, and is not written. What compute takes from
 * two CBs is read into one, and copied. Rows that an index vector chooses are read one by one (tt_rows.c). The reader
 * also makes what no tensor holds: the scaler of reductions, once, and tiles of indices, an item each
 * (tt_index_text.c). */
#include "target/tenstorrent/tt_emit.h"

#include <string.h>

/* Is the field one of the ring's that come with each item? REF_NONE: does it come once for all tasks? */
static bool comes_with(const TtField *field, Ref ring) {
    return field->cb >= 0 && (ring == REF_NONE ? field->stays : field->ring == ring && !field->stays);
}

/* One hand-over for each CB of the ring. */
static void each_cb(Role *role, Ref ring, TtHand hand) {
    const Tt *tt = role->tt;
    for (size_t i = 0; i < tt->fields.count; i++) {
        const TtField *field = &tt->fields.at[i];
        if (!comes_with(field, ring) || (field->streams && hand == CB_WAIT)) continue;
        role_hand(role, hand, field->cb);
        if (field->fpu_cb != field->cb) role_hand(role, hand, field->fpu_cb);
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

/* `for` lines over the pages of the box and the number of each page: tw_page(..). Along a dimension that an index
 * vector gives, the row of pages is `row`. Pages of a CB that come in parts are waited for on the way. */
static const char *open_pages(Role *role, const Op *access, int buffer, const Type *tile, int streamed, int *depth) {
    Tt *tt = role->tt;
    const TtBuffer *b = &tt->plan->buffers.at[buffer];
    RefList offsets = op_list(access, 0);
    int dims[MAX_RANK];
    const char *at[MAX_RANK];
    bool starts[MAX_RANK]; /* at page 0 */
    int indexed = tt_indexed_dim(tt, access);
    tt_access_dims(tt, access, dims);
    for (int d = 0; d < b->layout.rank; d++) {
        int64_t number;
        at[d] = "row";
        if (d == indexed) continue;
        at[d] = first_page(role, &b->layout, d, offsets.at[d], &starts[d]);
        if (ir_const_int(tt->k, offsets.at[d], &number)) continue;
        const char *name = cs_fresh(&role->p, arena_printf(tt->arena, "%s_page%d", b->name, d));
        role_line(role, "const u32 %s = %s;", name, at[d]);
        at[d] = name;
    }
    *depth = 0;
    for (int axis = 0; axis < tile->rank; axis++) {
        int64_t unit = b->layout.unit[dims[axis]], count = (tile->extent[axis] + unit - 1) / unit;
        if (count == 1) continue;
        const char *i = arena_printf(tt->arena, "i%d", axis);
        role_open_count(role, i, count, 1);
        if (streamed >= 0 && !*depth) {
            uint32_t part = tt->plan->cbs.at[streamed].item_pages / (uint32_t)count;
            const char *all = arena_printf(tt->arena, part == 1 ? "%s + 1" : "(%s + 1) * %u", i, part);
            role_step(role, (TtStep){.kind = STEP_CB, .hand = CB_WAIT, .cb = streamed, .part = part, .text = all});
        }
        ++*depth;
        if (dims[axis] == indexed) continue;
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
    while (depth--) role_close(role);
}

/* A page of rows that the index vector chooses. */
static void read_rows(Role *role, const Op *load, const TtField *field, int buffer, const char *page) {
    Tt *tt = role->tt;
    int indexed = tt_indexed_dim(tt, load), dims[MAX_RANK], axis = 0;
    tt_access_dims(tt, load, dims);
    while (dims[axis] != indexed) axis++;
    int64_t rows = field->type->extent[axis];
    const char *element = tt_vector_element(role, load, op_list(load, 0).at[indexed], "i");
    bool one = rows <= PAGE_SIDE, whole = rows % PAGE_SIDE == 0;
    role_open(role, (TtStep){.kind = STEP_READ_ROWS,
                             .buffer = buffer,
                             .page = page,
                             .text = "to",
                             .number = one ? "i" : "r"});
    if (!one) role_line(role, "const i32 i = (i32)i%d * 32 + r;", axis);
    if (whole)
        role_line(role, "return %s;", element);
    else
        role_line(role, "return i < %lld ? (i64)%s : -1;", (long long)rows, element);
    role_close(role);
}

void tt_read_box(Role *role, const Op *load, const TtField *field, int cb) {
    Tt *tt = role->tt;
    int buffer = tt_buffer(tt, load, field->paging), depth;
    if (buffer < 0) return;
    bool is_indexed = tt_indexed_dim(tt, load) >= 0;
    TtFetched fetched = {0};
    if (is_indexed) fetched = tt_fetch_indices(role, load);
    role_accessor(role, buffer);
    role_fill(role, buffer);
    role_open(role, (TtStep){.kind = STEP_BLOCK});
    role_step(role, (TtStep){.kind = STEP_POINTER, .hand = CB_RESERVE, .cb = cb, .text = "u32 to"});
    const char *page = open_pages(role, load, buffer, field->type, -1, &depth);
    if (is_indexed)
        read_rows(role, load, field, buffer, page);
    else
        role_step(role, (TtStep){.kind = STEP_READ, .buffer = buffer, .page = page, .text = "to"});
    if (depth) role_line(role, "to += %u;", tensix_tile_bytes(tt->plan->buffers.at[buffer].format));
    close_pages(role, depth);
    role_close(role);
    tt_drop_indices(role, &fetched);
}

static void write_box(Role *role, const Op *store, const TtField *field) {
    Tt *tt = role->tt;
    int buffer = tt_buffer(tt, store, field->paging), depth;
    if (buffer < 0) return;
    role_accessor(role, buffer);
    role_open(role, (TtStep){.kind = STEP_BLOCK});
    role_step(role, (TtStep){.kind = STEP_POINTER, .hand = CB_WAIT, .cb = field->cb, .text = "u32 from"});
    const char *page = open_pages(role, store, buffer, field->type, field->streams ? field->cb : -1, &depth);
    role_step(role, (TtStep){.kind = STEP_WRITE, .buffer = buffer, .page = page, .text = "from"});
    if (depth) role_line(role, "from += %u;", tensix_tile_bytes(tt->plan->buffers.at[buffer].format));
    close_pages(role, depth);
    role_close(role);
}

/* ------------------------------------------------------------------------------------------------- the roles */

/* By one core of those that share it. */
static void read_item(Role *role, const Op *load, const TtField *field, int cb) {
    TtShare share = role->tt->plan->cbs.at[cb].share;
    if (field->plain) {
        tt_read_elements(role, load, field, cb);
        return;
    }
    if (share != SHARE_NONE) role_open_text(role, STEP_IF, "tw_reads(%s)", role_share(role, share));
    tt_read_box(role, load, field, cb);
    if (share != SHARE_NONE) role_close(role);
}

/* Of the ring's CBs that cores share: a step for each, or for one of each group. */
static void share_items(Role *role, Ref ring, TtStepKind kind) {
    const Tt *tt = role->tt;
    bool done[SHARE_COLUMN + 1] = {[SHARE_NONE] = true};
    for (size_t f = 0; f < tt->fields.count; f++) {
        const TtField *field = &tt->fields.at[f];
        if (!comes_with(field, ring)) continue;
        TtShare share = tt->plan->cbs.at[field->cb].share;
        if (done[share]) continue;
        role_step(role, (TtStep){.kind = kind, .cb = field->cb});
        done[share] = kind != STEP_SHARE;
    }
}

/* What compute takes from two CBs is read once. */
static void copy_items(Role *role, Ref ring) {
    const Tt *tt = role->tt;
    bool any = false;
    for (size_t i = 0; i < tt->fields.count; i++) {
        const TtField *field = &tt->fields.at[i];
        if (!comes_with(field, ring) || field->fpu_cb == field->cb) continue;
        role_step(role, (TtStep){.kind = STEP_COPY, .cb = field->cb, .cb2 = field->fpu_cb});
        any = true;
    }
    if (any) role_step(role, (TtStep){.kind = STEP_BARRIER, .hand = CB_RESERVE});
}

/* What was read is waited for, sent to who shares it, and pushed. */
static void hand_items(Role *role, Ref ring) {
    share_items(role, ring, STEP_ASK);
    role_step(role, (TtStep){.kind = STEP_BARRIER, .hand = CB_RESERVE});
    share_items(role, ring, STEP_SHARE);
    share_items(role, ring, STEP_SHOW);
    share_items(role, ring, STEP_TAKE);
    copy_items(role, ring);
    each_cb(role, ring, CB_PUSH);
}

static void visit_load(Role *role, const Op *op) {
    Tt *tt = role->tt;
    role->op = op;
    switch (op->code) {
    case OP_YIELD:
    case OP_LOAD: /* of an index vector */
    case OP_TLOAD: return; /* where it is put */
    case OP_ACQUIRE:
        role_place(role, op->range);
        for (size_t i = 0; i < tt->index_tiles.count; i++)
            if (tt->index_tiles.at[i].acquire == op) tt_make_index_tile(role, &tt->index_tiles.at[i]);
        each_cb(role, op->operands[0], CB_RESERVE);
        return;
    case OP_PUT: {
        const TtField *field = tt_field(tt, op);
        const Op *load = ref_is_value(op_operand(op, 1)) ? ir_value(tt->k, op_operand(op, 1))->op : NULL;
        if (!load || (load->code != OP_TLOAD && load->code != OP_LOAD) || op_list(op, 0).count) {
            tt_refuse(tt, op, "a put of anything but a whole loaded tile");
            return;
        }
        if (field->cb < 0 || field->stays) return;
        read_item(role, load, field, field->cb);
        return;
    }
    case OP_COMMIT:
        hand_items(role, op->operands[0]);
        return;
    default:
        if (op_has(op->code, TRAIT_PURE)) return; /* part of a mask or place, refused with its access */
        tt_refuse(tt, op, "`%s` in the load role; a reader only moves pages", op_info[op->code].mnemonic);
    }
}

static void visit_store(Role *role, const Op *op) {
    Tt *tt = role->tt;
    role->op = op;
    switch (op->code) {
    case OP_YIELD:
    case OP_LOAD:
    case OP_TLOAD: /* of an index vector */
    case OP_GET: return;
    case OP_WAIT:
        role_place(role, op->range);
        each_cb(role, op->operands[0], CB_WAIT);
        return;
    case OP_STORE:
    case OP_TATOMIC:
    case OP_TSTORE: {
        const Op *get = ref_is_value(op_operand(op, 1)) ? ir_value(tt->k, op_operand(op, 1))->op : NULL;
        const TtField *field = get && get->code == OP_GET ? tt_field(tt, get) : NULL;
        if (tt_is_plain_store(tt, op))
            tt_write_elements(role, op, field);
        else if (field->cb >= 0)
            write_box(role, op, field);
        return;
    }
    case OP_RELEASE:
        role_step(role, (TtStep){.kind = STEP_BARRIER, .hand = CB_WAIT});
        each_cb(role, op->operands[0], CB_POP);
        return;
    default:
        if (op_has(op->code, TRAIT_PURE)) return; /* part of a mask or place, refused with its access */
        tt_refuse(tt, op, "`%s` in the store role; a writer only moves pages", op_info[op->code].mnemonic);
    }
}

static Role *new_role(Tt *tt, int kernel, void (*visit)(Role *role, const Op *op)) {
    Role *role = ARENA_NEW(tt->arena, Role);
    role_init(role, tt, kernel);
    role->visit = visit;
    return role;
}

static void make_task_tiles(Role *role) {
    for (size_t i = 0; i < role->tt->index_tiles.count; i++)
        if (!role->tt->index_tiles.at[i].wait && !role->tt->index_tiles.at[i].stays)
            tt_make_index_tile(role, &role->tt->index_tiles.at[i]);
}

/* In front of the loop over tasks: what is the same for all of them. */
static void bring_constants(Role *role) {
    const Tt *tt = role->tt;
    bool any = false;
    for (size_t i = 0; i < tt->index_tiles.count; i++)
        if (tt->index_tiles.at[i].stays) tt_make_index_tile(role, &tt->index_tiles.at[i]);
    for (size_t i = 0; i < tt->fields.count; i++) any |= tt->fields.at[i].stays;
    if (!any) return;
    each_cb(role, REF_NONE, CB_RESERVE);
    for (size_t i = 0; i < tt->fields.count; i++) {
        const TtField *field = &tt->fields.at[i];
        if (!field->stays) continue;
        role->op = field->load;
        role_place(role, field->load->range);
        read_item(role, field->load, field, field->cb);
    }
    hand_items(role, REF_NONE);
}

Role *tt_build_reader(Tt *tt) {
    Role compute;
    role_init(&compute, tt, TENSIX_COMPUTE);
    tt->compute_needs = compute.needed;
    Role *role = new_role(tt, TENSIX_READER, visit_load);
    role->start = make_task_tiles;
    role->before = bring_constants;
    Map seen = {0}, seen_here = {0};
    for (size_t i = 0; i < tt->index_tiles.count; i++) tt_need_indices(role, &tt->index_tiles.at[i], &seen);
    for (size_t i = 0; i < tt->fields.count; i++) {
        const Op *load = tt->fields.at[i].load;
        int indexed = load && !tt->fields.at[i].plain ? tt_indexed_dim(tt, load) : -1;
        if (load && tt->fields.at[i].plain)
            tt_need_access(role, load, &seen_here);
        else if (indexed >= 0)
            tt_need_vector(role, op_list(load, 0).at[indexed], &seen_here);
    }
    if (tt->scaler_cb >= 0) {
        role_cb(role, tt->scaler_cb);
        *VEC_PUSH(&tt->code[TENSIX_READER].start, tt->arena) = (TtStep){.kind = STEP_SCALER, .cb = tt->scaler_cb};
    }
    role_build(role);
    return role;
}

static void need_stores(Role *role, const Region *region, Map *seen) {
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->region_count; i++) need_stores(role, op->regions[i], seen);
        bool is_store = op->code == OP_TSTORE || op->code == OP_STORE || op->code == OP_TATOMIC;
        if (is_store && tt_is_plain_store(role->tt, op)) tt_need_access(role, op, seen);
    }
}

static void pass_turn(Role *role) { role_line(role, "tw_pass_turn(%s);", role_turn(role)); }

Role *tt_build_writer(Tt *tt) {
    Role *role = new_role(tt, TENSIX_WRITER, visit_store);
    if (tt->updates) role->finish = pass_turn;
    if (tt->role[TENSIX_WRITER]) need_stores(role, tt->role[TENSIX_WRITER]->regions[0], &(Map){0});
    role_build(role);
    return role;
}
