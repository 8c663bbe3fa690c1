/* SPDX-License-Identifier: Apache-2.0 */
/* tt_buffer.c: which DRAM buffers there are: one for each tensor, paging, grain and fill of the loads, and one for the
 * stores.
 *
 * So in-place kernels read what was there before the launch, which is what tasks without order may rely on. Where a
 * tensor lies and ends follows from arguments and the grid, but for one dimension that may go as far as the memory.
 *
 * What does not come in whole pages (a mask that is no box, places that differ between tasks in other ways than by
 * pages,
 * elements that no page holds) is read or written element by element: then the argument's memory lies in DRAM as the
 * caller has it (PAGE_PLAIN), and all stores to one argument go that way if one does. */
#include "analysis/facts.h"
#include "ir/roots.h"
#include "target/tenstorrent/tt_emit.h"

#include <string.h>

/* Is it the same for all tasks? */
static bool is_launch_value(const Tt *tt, Ref ref) {
    if (!ref_is_value(ref)) return true;
    const Value *v = ir_value(tt->k, ref);
    return (v->op ? v->op->parent : v->region) == tt->k->body;
}

/* How far the boxes of a tensor reach along a dimension, where they all begin at fixed places; -1: they do not. */
static int64_t reach(const Tt *tt, const Region *region, Ref tensor, int dim) {
    int64_t most = 0;
    for (const Op *op = region->first; op && most >= 0; op = op->next) {
        int64_t end = 0;
        if ((op->code == OP_TLOAD || op->code == OP_TSTORE) && op->operands[0] == tensor) {
            int dims[MAX_RANK];
            Ref offset = op_list(op, 0).at[dim];
            const Type *tile = ir_type(tt->k, op->code == OP_TLOAD ? op->results[0] : op_operand(op, 1));
            tt_access_dims(tt, op, dims);
            if (!ir_const_int(tt->k, offset, &end) || end < 0) return -1;
            int64_t extent = 1;
            for (int axis = 0; axis < tile->rank; axis++)
                if (dims[axis] == dim) extent = tile->extent[axis];
            end += extent;
        }
        for (int i = 0; i < op->region_count && end >= 0; i++) {
            int64_t inner = reach(tt, op->regions[i], tensor, dim);
            end = inner < 0 || inner > end ? inner : end;
        }
        most = end < 0 || end > most ? end : most;
    }
    return most;
}

/* Where it ends must follow from the kernel, but for one dimension: that goes as far as the memory. If there are more,
 * those end where the last box ends. */
static bool close_extents(Tt *tt, Ref tensor, TtBuffer *buffer) {
    int open = 0;
    for (int d = 0; d < buffer->layout.rank; d++) open += buffer->open[d];
    for (int d = buffer->layout.rank - 1; d >= 0 && open > 1; d--) {
        int64_t end = buffer->open[d] ? reach(tt, tt->k->body, tensor, d) : -1;
        if (end < 0) continue;
        buffer->open[d] = false;
        buffer->extent[d] = tt_add_value(tt, ir_literal_int(tt->k, ty_scalar(tt->k->module, EL_I64), end));
        open--;
    }
    return open <= 1;
}

static bool place_tensor(Tt *tt, Ref tensor, TtBuffer *buffer) {
    const Value *v = ir_value(tt->k, tensor);
    int rank = v->type->rank;
    if (!v->op) {
        buffer->base = tt_add_number(tt, (TtNumber){.kind = NUMBER_ADDRESS, .arg = v->index});
        for (int d = 0; d < rank; d++) {
            buffer->extent[d] = tt_add_number(tt, (TtNumber){.kind = NUMBER_EXTENT, .arg = v->index, .dim = d});
            buffer->stride[d] = tt_add_number(tt, (TtNumber){.kind = NUMBER_STRIDE, .arg = v->index, .dim = d});
        }
        return true;
    }
    if (v->op->code != OP_TENSOR || !is_launch_value(tt, op_operand(v->op, 0))) return false;
    RefList extents = op_list(v->op, 0), strides = op_list(v->op, 1);
    buffer->base = tt_add_value(tt, op_operand(v->op, 0));
    for (int d = 0; d < rank; d++) {
        if (!is_launch_value(tt, extents.at[d]) || !is_launch_value(tt, strides.at[d])) return false;
        buffer->open[d] = extents.at[d] == REF_NONE;
        if (!buffer->open[d]) buffer->extent[d] = tt_add_value(tt, extents.at[d]);
        buffer->stride[d] = tt_add_value(tt, strides.at[d]);
    }
    return true;
}

/* Of the same tensor. */
static bool same_buffer(const TtBuffer *a, const TtBuffer *b) {
    bool same = a->output == b->output && memcmp(&a->fill, &b->fill, sizeof a->fill) == 0 &&
                a->layout.paging == b->layout.paging && a->layout.row == b->layout.row &&
                a->layout.column == b->layout.column;
    for (int d = 0; same && d < a->layout.rank; d++) same = a->layout.grain[d] == b->layout.grain[d];
    return same;
}

/* Offsets that are multiples of what is moved together? */
static const char *odd_offset(Tt *tt, const Op *access, const TtLayout *layout) {
    RefList offsets = op_list(access, 0);
    for (int d = 0; d < offsets.count; d++) {
        if (d == tt_indexed_dim(tt, access)) continue; /* any row */
        if (fact_multiple(tt->k, offsets.at[d]) % layout->grain[d] == 0) continue;
        return arena_printf(tt->arena, "the offset along dimension %d is not known to be a multiple of %lld", d,
                            (long long)layout->grain[d]);
    }
    return NULL;
}

static void note_f16(Tt *tt, const char *name) {
    diag_emit(tt->cx->module->diag, DIAG_TT_F16, tt->k->range, name);
    *VEC_PUSH(&tt->plan->notes, tt->arena) =
        arena_printf(tt->arena, "f16 tensor %s travels as Float16_b: 8 significant bits instead of 11", name);
}

/* Can the reader fetch the rows that an index vector chooses? */
static const char *odd_rows(Tt *tt, const Op *access, const Type *tile, TtBuffer *buffer, int indexed) {
    uint32_t least = tensix_limits(tt->plan->options.arch)->dram_alignment;
    int bytes = ty_elem_bytes(tile) * PAGE_SIDE / 2;
    if (access->code == OP_TSTORE) return "an index vector chooses its rows, and pages are written whole";
    if (tile->rank != 2 || buffer->layout.row != indexed) return "an index vector does not choose rows of a tile of "
        "rank 2";
    if ((uint32_t)bytes % least)
        return arena_printf(tt->arena,
                            "an index vector chooses its rows: half a row of a page has %d bytes, and this chip "
                                "reads its "
                            "memory by %u",
                            bytes, least);
    buffer->layout.grain[indexed] = PAGE_SIDE;
    return tt_odd_vector(tt, access);
}

/* The buffer of an access that moves whole pages, all but its name; or why it cannot. */
static const char *describe(Tt *tt, const Op *access, TtPaging paging, TtBuffer *buffer) {
    Ref tensor = access->operands[0];
    bool is_load = access->code == OP_TLOAD || access->code == OP_LOAD;
    bool is_box = ir_type(tt->k, tensor)->kind == TY_TENSOR;
    const Type *tile = ir_type(tt->k, is_load ? access->results[0] : op_operand(access, 1));
    int dims[MAX_RANK], indexed = is_box ? tt_indexed_dim(tt, access) : -1;
    const Attr *fill = op_attr(access, AT_FILL);
    *buffer = (TtBuffer){.output = !is_load, .elem = tile->elem, .arg = roots_only(tt->k, tt->arena, tensor)};
    if (access->code == OP_TATOMIC) return "it is updated atomically";
    if (!is_box) return is_load ? tt_gather_reason(tt, access) : "its places follow no boxes of a tensor";
    if (tile->rank == 0) return "it is a single element";
    if (op_operand(access, is_load ? 1 : 2)) return "its mask is no box of the tensor";
    if (op_attr(access, AT_WRAP)) return "an index is taken modulo the extent";
    if (fill && !ref_is_literal(fill->ref)) return "its fill value is not constant";
    if (fill) tt_padding(tt, fill->ref, &buffer->fill);
    bool is_vector = is_load && elem_is_int(tile->elem) && paging == PAGE_VECTOR && !tt_holds(tile->elem);
    if (is_vector)
        buffer->format = TT_Int32; /* of indices (tt_rows.c) */
    else if (!tt_format(tile->elem, &buffer->format) || tt_holds(tile->elem))
        return arena_printf(tt->arena, "no page holds %s", elem_info[tile->elem].text);
    tt_access_dims(tt, access, dims);
    buffer->layout = tt_layout(ir_type(tt->k, tensor)->rank, dims, tile, paging);
    const char *odd = indexed >= 0 ? odd_rows(tt, access, tile, buffer, indexed) : NULL;
    if (!odd) odd = odd_offset(tt, access, &buffer->layout);
    if (!odd && (buffer->arg < 0 || !place_tensor(tt, tensor, buffer)))
        odd = "the tensor's base, extents or strides differ between tasks";
    if (!odd && !close_extents(tt, tensor, buffer)) odd = "the tensor's end is not known along two dimensions";
    return odd;
}

static int add_buffer(Tt *tt, TtBuffer *buffer, Ref tensor, const Op *access) {
    const char *param = ir_value(tt->k, tt->k->body->args[buffer->arg])->name;
    buffer->name = param ? arena_string(tt->arena, param, strlen(param)) : arena_printf(tt->arena, "arg%d",
                                                                                        buffer->arg);
    buffer->in_l1 = tt->plan->in_l1[buffer->arg];
    buffer->shards = tt->plan->shards[buffer->arg];
    if (buffer->shards.cut != TW_WHOLE)
        *VEC_PUSH(&tt->plan->notes, tt->arena) =
            arena_printf(tt->arena, "%s lies in the L1 of %u x %u cores, in shards (%s)", buffer->name,
                         buffer->shards.size.x, buffer->shards.size.y, tt_cut_name(&buffer->shards));
    else if (buffer->in_l1)
        *VEC_PUSH(&tt->plan->notes, tt->arena) =
            arena_printf(tt->arena, "%s lies in the L1 of all cores, page after page", buffer->name);
    if (buffer->elem == EL_F16) note_f16(tt, buffer->name);
    *VEC_PUSH(&tt->buffer_tensors, tt->arena) = tensor;
    *VEC_PUSH(&tt->buffer_accesses, tt->arena) = access;
    *VEC_PUSH(&tt->plan->buffers, tt->arena) = *buffer;
    return (int)tt->plan->buffers.count - 1;
}

int tt_buffer(Tt *tt, const Op *access, TtPaging paging) {
    Ref tensor = access->operands[0];
    TtBuffer buffer;
    const char *odd = describe(tt, access, paging, &buffer);
    if (odd) { /* tt_plan_plain has not asked for elements */
        tt_refuse(tt, access, "an access that moves no whole pages: %s", odd);
        return -1;
    }
    for (size_t i = 0; i < tt->plan->buffers.count; i++)
        if (tt->buffer_tensors.at[i] == tensor && same_buffer(&buffer, &tt->plan->buffers.at[i])) return (int)i;
    return add_buffer(tt, &buffer, tensor, access);
}

int tt_plain_buffer(Tt *tt, const Op *access) {
    bool is_load = access->code == OP_TLOAD || access->code == OP_LOAD;
    const Type *tile = ir_type(tt->k, is_load ? access->results[0] : op_operand(access, 1));
    TtBuffer buffer = {.output = !is_load,
                       .elem = tile->elem,
                       .arg = roots_only(tt->k, tt->arena, access->operands[0]),
                       .format = TT_Int32,
                       .layout = {.paging = PAGE_PLAIN, .rank = 1, .row = -1, .column = 0}};
    if (buffer.arg < 0 || elem_info[tile->elem].bits < 8 || tile->elem == EL_F64) {
        tt_refuse(tt, access, buffer.arg < 0 ? "an access to one of several arrays" FIX "write an access for each"
                                             : "an access to elements of %s; the processors that move them have "
                                                 "numbers of "
                                               "8 to 32 bits, and integers of 64",
                  elem_info[tile->elem].text);
        return -1;
    }
    for (size_t i = 0; i < tt->plan->buffers.count; i++) {
        const TtBuffer *known = &tt->plan->buffers.at[i];
        if (known->arg == buffer.arg && known->output == buffer.output && known->layout.paging ==
            PAGE_PLAIN) return (int)i;
    }
    buffer.layout.grain[0] = buffer.layout.unit[0] = TW_PLAIN_BYTES / ty_elem_bytes(tile);
    buffer.open[0] = true;
    if (tt->plan->shards[buffer.arg].cut != TW_WHOLE) {
        tt_refuse(tt, access, "`%s` in shards, which this access moves element by element" FIX "leave it interleaved",
                  ir_value(tt->k, tt->k->body->args[buffer.arg])->name);
        return -1;
    }
    buffer.base = tt_add_number(tt, (TtNumber){.kind = NUMBER_ADDRESS, .arg = buffer.arg});
    buffer.stride[0] = tt_add_value(tt, ir_literal_int(tt->k, ty_scalar(tt->k->module, EL_I64), 1));
    return add_buffer(tt, &buffer, REF_NONE, access);
}

/* ---------------------------------------------------------------------------------------- pages or elements? */

static void note_plain(Tt *tt, const Op *access, const char *why) {
    bool is_load = access->code == OP_TLOAD || access->code == OP_LOAD;
    const Type *tile = ir_type(tt->k, is_load ? access->results[0] : op_operand(access, 1));
    int arg = roots_only(tt->k, tt->arena, access->operands[0]);
    const char *name = arg >= 0 ? ir_value(tt->k, tt->k->body->args[arg])->name : NULL;
    Place place = {0};
    if (tile->rank == 0) return;
    if (tt->k->module->sources) source_find(tt->k->module->sources, access->range.begin, &place);
    *VEC_PUSH(&tt->plan->notes, tt->arena) =
        arena_printf(tt->arena, "%s is %s element by element, which is slow (line %d: %s)", name ? name : "an array",
                     is_load ? "read" : "written", place.line, why);
}

const char *tt_plain_load(Tt *tt, const Op *load, TtPaging paging) {
    TtBuffer buffer;
    const char *why = describe(tt, load, paging, &buffer);
    if (why) note_plain(tt, load, why);
    return why;
}

typedef struct Store { /* of the writer */
    const Op *op;
    TtBuffer buffer;
    Ref base;
} Store;
typedef VEC(Store) Stores;

static void find_stores(Tt *tt, const Region *region, Stores *found) {
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->region_count; i++) find_stores(tt, op->regions[i], found);
        bool is_store = op->code == OP_TSTORE || op->code == OP_STORE || op->code == OP_TATOMIC;
        if (is_store) *VEC_PUSH(found, tt->arena) = (Store){.op = op};
    }
}

/* Memory that is updated is read by those who update it, and nobody else: others may have been there before. */
static void refuse_read_updates(Tt *tt, const Stores *stores, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->region_count; i++) refuse_read_updates(tt, stores, op->regions[i]);
        if (op->code != OP_TLOAD && op->code != OP_LOAD) continue;
        int arg = roots_only(tt->k, tt->arena, op->operands[0]);
        for (size_t i = 0; i < stores->count; i++)
            if (stores->at[i].op->code == OP_TATOMIC && (arg < 0 || arg == stores->at[i].buffer.arg)) {
                tt_refuse(tt, op, "a load of memory that the kernel updates atomically; what other tasks have added by "
                                  "then is not known" FIX "load it in another launch");
                return;
            }
    }
}

void tt_plan_plain_stores(Tt *tt) {
    Stores stores = {0};
    if (!tt->role[TENSIX_WRITER]) return;
    find_stores(tt, tt->role[TENSIX_WRITER]->regions[0], &stores);
    for (size_t i = 0; i < stores.count; i++) {
        Store *s = &stores.at[i];
        Ref value = op_operand(s->op, 1);
        const Op *get = ref_is_value(value) ? ir_value(tt->k, value)->op : NULL;
        bool is_got = get && get->code == OP_GET;
        const char *why = describe(tt, s->op, is_got ? tt_field(tt, get)->paging : PAGE_ANY, &s->buffer);
        if (!why && !is_got) why = "its values are made element by element";
        tt->updates |= s->op->code == OP_TATOMIC;
        for (size_t j = 0; j < i && !why; j++)
            if (stores.at[j].buffer.arg == s->buffer.arg &&
                (stores.at[j].op->operands[0] != s->op->operands[0] || !same_buffer(&stores.at[j].buffer, &s->buffer)))
                why = "another store writes the array in other pages";
        if (!why || s->buffer.arg < 0 || tt->plain_stores[s->buffer.arg]) continue;
        tt->plain_stores[s->buffer.arg] = true;
        note_plain(tt, s->op, why);
    }
    if (!tt->updates) return;
    refuse_read_updates(tt, &stores, tt->k->body);
    *VEC_PUSH(&tt->plan->notes, tt->arena) = "cores take turns at atomic updates, task by task: while one updates, the "
                                             "others load and compute, and then wait";
}

bool tt_is_plain_store(const Tt *tt, const Op *store) {
    int arg = roots_only(tt->k, tt->arena, store->operands[0]);
    return arg >= 0 && tt->plain_stores[arg];
}

static void plan_load(Tt *tt, const Op *op) {
    Ref value = op->code == OP_PUT ? op_operand(op, 1) : REF_NONE;
    const Op *load = ref_is_value(value) ? ir_value(tt->k, value)->op : NULL;
    if (!load || load->code != OP_TLOAD || op_list(op, 0).count) return; /* visit_load refuses it */
    const TtField *field = tt_field(tt, op);
    if (field->cb < 0) return;
    if (field->plain)
        tt_plain_buffer(tt, load);
    else
        tt_buffer(tt, load, field->paging);
}

static void plan_store(Tt *tt, const Op *op) {
    Ref value = op->code == OP_TSTORE ? op_operand(op, 1) : REF_NONE;
    const Op *get = ref_is_value(value) ? ir_value(tt->k, value)->op : NULL;
    if (!get || get->code != OP_GET) return;
    const TtField *field = tt_field(tt, get);
    if (tt_is_plain_store(tt, op))
        tt_plain_buffer(tt, op);
    else if (field->cb >= 0)
        tt_buffer(tt, op, field->paging);
}

int tt_fill_cb(Tt *tt, int buffer) {
    const TtBuffer *b = &tt->plan->buffers.at[buffer];
    uint32_t bits = tt_fill_bits(b);
    TtFormat format = bits ? b->format : TT_Float32; /* a page of zeros is one of any format */
    for (size_t i = 0; i < tt->fills.count; i++)
        if (tt->fills.at[i].bits == bits && tt->fills.at[i].format == format) return tt->fills.at[i].cb;
    int cb = tt_add_cb(tt, bits ? arena_printf(tt->arena, "%s_fill", b->name) : "zeros", ROLE_LOAD, ROLE_LOAD,
                       "what lies outside of tensors", format, 1, 1, tt->k->range);
    *VEC_PUSH(&tt->fills, tt->arena) = (TtFill){format, bits, cb};
    return cb;
}

/* Loads of single elements that a value is made of: masks, places, ramps. */
static void plan_elements(Tt *tt, Ref value, Map *seen) {
    if (!ref_is_value(value) || !map_meets(seen, tt->arena, value)) return;
    const Op *op = ir_value(tt->k, value)->op;
    if (!op || op->region_count || op->code == OP_GET) return;
    if (op->code == OP_TLOAD || op->code == OP_LOAD) tt_plain_buffer(tt, op);
    for (int i = 0; i < op->operand_count; i++) plan_elements(tt, op->operands[i], seen);
}

static void plan_operands(Tt *tt, const Op *access, Map *seen) {
    for (int i = 0; i < access->operand_count; i++) plan_elements(tt, access->operands[i], seen);
}

/* Of stores, and numbers that are read from memory by themselves. */
static void plan_single(Tt *tt, const Op *op) {
    bool is_store = op->code == OP_TSTORE || op->code == OP_STORE || op->code == OP_TATOMIC;
    bool is_load = op->code == OP_TLOAD || op->code == OP_LOAD;
    if (is_store && tt_is_plain_store(tt, op)) {
        tt_plain_buffer(tt, op);
        plan_operands(tt, op, &(Map){0});
    }
    if (is_load && ty_is_scalar(ir_type(tt->k, op->results[0]))) plan_elements(tt, op->results[0], &(Map){0});
}

/* Of all that the kernels will move, before they are built. */
void tt_plan_buffers(Tt *tt) {
    if (tt->role[TENSIX_READER]) tt_each(tt, tt->role[TENSIX_READER]->regions[0], plan_load);
    if (tt->role[TENSIX_WRITER]) tt_each(tt, tt->role[TENSIX_WRITER]->regions[0], plan_store);
    Map seen = {0};
    for (size_t i = 0; i < tt->fields.count; i++) {
        const TtField *field = &tt->fields.at[i];
        if (!field->load || !field->plain || field->cb < 0) continue;
        tt_plain_buffer(tt, field->load);
        plan_operands(tt, field->load, &seen);
    }
    for (size_t i = 0; i < tt->index_tiles.count; i++) plan_elements(tt, tt->index_tiles.at[i].value, &seen);
    tt_each(tt, tt->k->body, plan_single);
    tt_plan_fetches(tt);
    for (size_t i = 0; i < tt->fetches.count; i++) map_meets(&seen, tt->arena, tt->fetches.at[i].load->results[0]);
    for (size_t i = 0; i < tt->fields.count; i++) { /* the rest of index vectors */
        const Op *load = tt->fields.at[i].load;
        int indexed = load && load->code == OP_TLOAD && !tt->fields.at[i].plain ? tt_indexed_dim(tt, load) : -1;
        if (indexed >= 0) plan_elements(tt, op_list(load, 0).at[indexed], &seen);
    }
    for (size_t i = 0; i < tt->plan->buffers.count; i++) {
        const TtBuffer *b = &tt->plan->buffers.at[i];
        if (!b->output && b->layout.paging != PAGE_PLAIN) tt_fill_cb(tt, (int)i);
    }
}
