/* SPDX-License-Identifier: Apache-2.0 */
/* ring_ahead.c: loops over rows, whose loads run ahead although nothing is multiplied.
 *
 *     for %row { %x = tload<fill=-inf> %X, [%row, 0] ; %m = reduce<max> %x ; .. ; tstore %Y, [%row, 0], %y }
 *
 * A program that reduces one row after the other waits for each of them to come, and memory for the program to reduce
 * it. So where the source asks for it (`tl.range(num_stages=..)`), or where a loop loads, reduces and stores a row in
 * each trip, the next rows are copied in the meantime. So they are where a loop only adds rows of a matrix up: it has
 * as many programs as a row has parts, which are few, and each has more trips on their way. Copies leave zeros
 * outside; a load that fills with another number leaves that to its reader:
 *
 *     %x0 = tload %X, [%row, 0] ; %x = select %inside, %x0, -inf */
#include "ir/ringform.h"
#include "pass/layout/layout.h"
#include "pass/ring/ring_cut.h"

/* Does each trip reduce a whole row, and store one? */
static bool goes_over_rows(const Kernel *k, const Op *loop) {
    bool reduces = false, stores = false;
    for (const Op *op = loop->regions[0]->first; op; op = op->next) {
        reduces |= op->code == OP_REDUCE && ir_type(k, op->operands[0])->rank == 1;
        stores |= op->code == OP_TSTORE && ir_type(k, op_operand(op, 1))->rank == 1;
    }
    return reduces && stores;
}

/* Does a box go down its matrix as the loop counts: along another dimension than its rows lie in? */
static bool goes_down(const Kernel *k, const Op *loop, const Op *load) {
    const Op *tensor = ref_is_value(load->operands[0]) ? ir_value(k, load->operands[0])->op : NULL;
    RefList at = op_list(load, 0);
    if (!tensor || tensor->code != OP_TENSOR || ir_type(k, load->results[0])->rank != 2) return false;
    RefList strides = op_list(tensor, 1);
    bool down = false;
    for (int d = 0; d < at.count; d++) {
        int64_t stride;
        const Value *v = ref_is_value(at.at[d]) ? ir_value(k, at.at[d]) : NULL;
        bool moves = v && (v->op ? v->op->parent : v->region) == loop->regions[0];
        bool row = ir_const_int(k, strides.at[d], &stride) && stride == 1;
        if (moves && row) return false;
        down |= moves;
    }
    return down;
}

static bool is_plain(const Op *op) {
    return op_has(op->code, TRAIT_PURE) && !op->region_count && op->code != OP_DOT && op->code != OP_REDUCE &&
           op->code != OP_SCAN;
}

/* Bytes that a trip loads which adds a few rows of a matrix to what the loop carries, and does nothing else; 0: it does
 * more. */
static int64_t added_bytes(const Kernel *k, const Op *loop) {
    int64_t bytes = 0;
    for (const Op *op = loop->regions[0]->first; op != loop->regions[0]->last; op = op->next) {
        bool down = op->code == OP_TLOAD && goes_down(k, loop, op);
        if (!down && !is_plain(op)) return 0;
        if (down) bytes += ty_elements(ir_type(k, op->results[0])) * ty_elem_bytes(ir_type(k, op->results[0]));
    }
    return loop->operand_count > 3 ? bytes : 0;
}

int cut_sum_slots(const Cut *c, const Op *loop) {
    const MachineCost *cost = &c->cx->machine->cost;
    bool own = loop && op_int(loop, AT_STAGES, 0); /* so many, says its author */
    int64_t bytes = loop && loop->code == OP_FOR && !own && cost->flight_bytes ? added_bytes(c->k, loop) : 0;
    if (!bytes || 2 * bytes > cost->flight_bytes) return 0;
    int64_t slots = 1 + cost->flight_bytes / bytes;
    return slots < cost->most_slots ? (int)slots : cost->most_slots;
}

bool cut_is_asked(const Cut *c, const Op *loop) {
    return op_int(loop, AT_STAGES, 0) > 1 || c->cx->options.slots > 1 || cut_sum_slots(c, loop) ||
           (loop->code == OP_FOR && c->cx->machine->cost.beside_rows && goes_over_rows(c->k, loop));
}

/* Can asynchronous copies bring the tile into a slot that is no larger than it is? They leave zeros outside. Rows of a
 * matrix come in groups; single ones in vectors, of elements too small for a copy only if they are aligned. */
bool cut_may_be_copied(const Cut *c, const Op *load) {
    const Type *type = ir_type(c->k, load->results[0]);
    bool copies = type->rank > 1 || ty_elem_bytes(type) >= LEAST_COPY || c->cx->options.generic <= REQUIRE_ALIGNED;
    return load->code == OP_TLOAD && type->rank && copies && ir_fills_zero(c->k, load);
}

/* What a program does with a row, others hide: as many warps as make a crowd. */
int cut_row_blocks(const Cut *c) {
    int blocks = c->cx->machine->cost.crowd_most / layout_warps(c->cx, c->k);
    return blocks > 1 ? blocks : 0;
}

/* The extent of the dimension that the row begins and may pass, if nothing else of it can be outside; else NONE. */
static Ref row_extent(const Kernel *k, const Op *load) {
    const Op *tensor = ref_is_value(load->operands[0]) ? ir_value(k, load->operands[0])->op : NULL;
    const Type *type = ir_type(k, load->results[0]);
    if (!tensor || tensor->code != OP_TENSOR || op_operand(load, 1) != REF_NONE || op_attr(load, AT_WRAP))
        return REF_NONE;
    RefList extents = op_list(tensor, 0), at = op_list(load, 0);
    Ref found = REF_NONE;
    for (int d = 0; d < at.count; d++) {
        int64_t first;
        bool along = box_axis(load, at.count, type->rank, d) == 0;
        if (along && ir_const_int(k, at.at[d], &first) && first == 0)
            found = extents.at[d];
        else if (along || extents.at[d] != REF_NONE)
            return REF_NONE;
    }
    return found;
}

/* The fill apart from the load. */
static void part_fill(Cut *c, Op *load) {
    Kernel *k = c->k;
    const Type *type = ir_type(k, load->results[0]);
    const Attr *fill = op_attr(load, AT_FILL);
    const Op *loop = load->parent->owner;
    Ref extent = REF_NONE;
    if (loop && loop->code == OP_FOR && type->rank == 1 && fill && ref_is_literal(fill->ref) &&
        !op_attr(load, AT_NOCHECK))
        extent = row_extent(k, load);
    if (extent == REF_NONE || !cut_is_asked(c, loop)) return;
    Builder b = ir_builder_before(k, load);
    b.range = load->range;
    Op *plain = ir_clone(&b, load, &(RefMap){.arena = c->arena});
    op_drop(plain, AT_FILL);
    Ref index = ir_cast(&b, ir_iota(&b, 0, type->extent[0]), ir_type(k, extent)->elem);
    Ref inside = ir_compare(&b, CMP_LT, index, ir_splat(&b, extent, ir_type(k, index)));
    Ref value = ir_ternary(&b, OP_SELECT, inside, plain->results[0], ir_splat(&b, fill->ref, type));
    ir_name(k, value, ir_value(k, load->results[0])->name);
    ir_replace_all(k, load->results[0], value);
    ir_remove(load);
}

bool cut_part_fills(PassContext *cx, Kernel *k) {
    if (!cx->machine->skew_allowed || tasks_of(k)) return false;
    Cut c = {.cx = cx, .k = k, .arena = cx->scratch};
    FoundOps loads = ir_list(k->body, OP_TLOAD, cx->scratch);
    size_t before = k->values.count;
    for (size_t i = 0; i < loads.count; i++) part_fill(&c, loads.at[i]);
    return k->values.count > before;
}
