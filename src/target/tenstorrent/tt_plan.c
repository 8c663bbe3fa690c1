/* SPDX-License-Identifier: Apache-2.0 */
/* tt_plan.c: what the three kernels agree on: roles, pages of ring fields, circular buffers, DRAM
 * buffers, arguments.
 *
 * In: a kernel in ring form, every global access through a ring. Out: TtPlan without the texts.
 * Decided here:
 *   - the paging of vectors: a reduction along rows leaves a column, expand<1> wants one, and so
 * on; what nothing asks for is a plain vector. Elementwise ops and hand-overs carry the answer from
 * value to value;
 *   - a CB a field: load -> compute from 0 on, compute -> store from 16 on, inner ones from 24 on. Where there are many
 *     fields, outputs that are handed over one after the other share one.
 * A Float32 field that both SFPU (exact, unpacked straight to DST) and FPU (19-bit sources) read
 * has two;
 *   - tiles made of indices alone (masks): tt_index.c; DRAM buffers: tt_buffer.c. */
#include "target/tenstorrent/tt_emit.h"

#include <string.h>

void tt_refuse(Tt *tt, const Op *op, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(tt->arena, format, args);
    va_end(args);
    diag_emit(tt->cx->module->diag, DIAG_TT_REFUSED, op ? op->range : tt->k->range, text,
              !op || strstr(text, FIX) ? "" : FIX "write it otherwise, or use another target, such as cpu");
}

/* --------------------------------------------------------------------------------------------------- roles */

int tt_add_number(Tt *tt, TtNumber number) {
    *VEC_PUSH(&tt->plan->numbers, tt->arena) = number;
    return (int)tt->plan->numbers.count - 1;
}
int tt_add_value(Tt *tt, Ref value) { return tt_add_number(tt, (TtNumber){.kind = NUMBER_VALUE, .value = value}); }

static int kernel_of(Word role) {
    return role == ROLE_LOAD ? TENSIX_READER : role == ROLE_STORE ? TENSIX_WRITER : TENSIX_COMPUTE;
}

/* Ops that print nothing: the launcher tests what is required. */
static bool is_fact(Opcode code) {
    return code == OP_ASSUME || code == OP_REQUIRE || code == OP_RETURN || code == OP_YIELD;
}

/* What the cut has said about a load or store that it left in compute; `range` NULL: the first. */
static const Finding *left_behind(const Tt *tt, const Range *range) {
    for (size_t i = 0; i < tt->cx->findings.count; i++) {
        const Finding *f = &tt->cx->findings.at[i];
        bool is_it = !range || memcmp(&f->range, range, sizeof *range) == 0;
        if (is_it && (f->id == FIND_LOAD_STAYS || f->id == FIND_STORE_STAYS)) return f;
    }
    return NULL;
}

const char *tt_gather_reason(Tt *tt, const Op *load) {
    const char *why = "its places follow no boxes of a tensor";
    for (size_t i = 0; i < tt->cx->findings.count; i++) {
        const Finding *f = &tt->cx->findings.at[i];
        if (f->id == FIND_LOAD_GATHERS && memcmp(&f->range, &load->range, sizeof load->range) == 0)
            why = f->text + (strncmp(f->text, "stays a gather: ", 16) == 0 ? 16 : 0);
    }
    return arena_printf(tt->arena, "a gather of single elements, %s", why);
}

void tt_refuse_access(Tt *tt, const Op *op) {
    const Finding *f = left_behind(tt, op ? &op->range : NULL);
    Op place = {.range = f ? f->range : op ? op->range : tt->k->range};
    tt_refuse(tt, &place,
              "%sloads, arithmetic and stores run on different processors, and %s%s" FIX "read what the "
              "task writes only in another launch, and compute places from arguments and indices",
              op ? "" : "the kernel was not divided among them: ", f ? "this one " : "these could not be told apart",
              f ? f->text : "");
}

/* What stands around the roles: numbers that all three compute for themselves. */
static void refuse_around(Tt *tt, const Op *op) {
    switch (op->code) {
    case OP_TLOAD:
        if (ty_is_scalar(ir_type(tt->k, op->results[0]))) return; /* each role reads it for itself */
        tt_refuse(tt, op, "a tile that is loaded in front of the roles" FIX "load it where it is used");
        return;
    case OP_LOAD:
        tt_refuse(tt, op, "a number that is read from memory; reader, compute and writer compute their numbers from "
                          "arguments and indices" FIX "pass it as an argument, or load a tile of such numbers");
        return;
    case OP_FOR:
    case OP_WHILE:
        tt_refuse(tt, op, "a loop around loads and stores whose trips are read from memory"
                          FIX "launch a grid of tasks "
                          "whose sizes are arguments");
        return;
    default: tt_refuse(tt, op, "`%s` in front of loads, arithmetic and stores", op_info[op->code].mnemonic);
    }
}

/* By its own name, whatever else the kernel does: what no arrangement of roles would make possible. */
static void refuse_at_once(Tt *tt, const Op *op) {
    if (op->code == OP_BITCAST && ir_type(tt->k, op->results[0])->pointer) {
        tt_refuse(tt, op, "an address that is made of a number; arrays are pages in the chip's memory, and only arguments say "
                          "which" FIX "pass the array as an argument, or use target cpu");
        return;
    }
    if (op->code != OP_ATOMIC && op->code != OP_ATOMIC_CAS) return;
    bool is_asked = op->code == OP_ATOMIC_CAS || ir_count_uses(tt->k, tt->arena)[op->results[0]];
    tt_refuse(tt, op, is_asked ? "the old value of an atomic update; cores take turns at memory, and only their writers see it"
                                 FIX "leave the old value alone, or use target cpu"
                               : "an atomic update of single elements, whose places follow no boxes of a tensor"
                                 FIX "update a tile whose rows or columns are chosen by a vector, or use target cpu");
}

void tt_plan_roles(Tt *tt) {
    int errors = tt->cx->module->diag->errors;
    tt_each(tt, tt->k->body, refuse_at_once);
    if (tt->cx->module->diag->errors > errors) return;
    for (const Op *op = tt->k->body->first; op; op = op->next) {
        if (op->code == OP_TASKS) {
            if (tt->tasks) tt_refuse(tt, op, "a second `tasks`; a Tensix program runs one");
            tt->tasks = op;
        } else if (!is_fact(op->code) && !op_has(op->code, TRAIT_PURE)) {
            refuse_around(tt, op);
        }
    }
    if (!tt->tasks) {
        tt_refuse_access(tt, NULL);
        return;
    }
    if (tt->tasks->region_count > 1) tt_refuse(tt, tt->tasks, "`tasks while`"
                                                              FIX "write the number of tasks as the grid");
    const Region *body = tasks_body(tt->tasks);
    for (const Op *op = body->first; op; op = op->next) {
        if (op->code != OP_ROLE) {
            if (!is_fact(op->code) && !op_has(op->code, TRAIT_PURE))
                refuse_around(tt, op);
            continue;
        }
        int kernel = kernel_of(role_name(op));
        if (tt->role[kernel])
            tt_refuse(tt, op, "role `%s`; a core has one kernel each to load, to compute and to store", role_text(op));
        tt->role[kernel] = op;
    }
    tt->plan->task_rank = tt->tasks->operand_count;
    for (int i = 0; i < tt->tasks->operand_count; i++) tt->plan->tasks[i] = tt_add_value(tt, tt->tasks->operands[i]);
}

/* -------------------------------------------------------------------------------------------------- fields */

TtField *tt_field(Tt *tt, const Op *op) {
    Ref ring = hand_ring(tt->k, op);
    for (size_t i = 0; i < tt->fields.count; i++)
        if (tt->fields.at[i].ring == ring && tt->fields.at[i].number == hand_field(op)) return &tt->fields.at[i];
    ice(tt->cx->module->trap, "tenstorrent: no field %s", hand_field_name(tt->k, op));
}

void tt_each(Tt *tt, const Region *region, TtVisitor *visit) {
    for (const Op *op = region->first; op; op = op->next) {
        visit(tt, op);
        for (int i = 0; i < op->region_count; i++) tt_each(tt, op->regions[i], visit);
    }
}

/* --- paging of vectors: a fixed point ---
 *
 * What needs one paging comes first. A vector that then spreads along rows and along columns lies in pages one way; for
 * the other, its pages are transposed. */

typedef struct Places { /* of one op: values and the field that must agree */
    Tt *tt;
    Op *op;
    bool changed;
    bool spreads;     /* vectors that become tiles are looked at, too */
    FoundOps *turned; /* `expand`s along the other axis than the vector lies */
} Places;

/* Integers never lie in pages. */
static bool is_vector(const Tt *tt, Ref r) {
    if (!ref_is_value(r)) return false;
    const Type *type = ir_type(tt->k, r);
    return type->kind == TY_TILE && type->rank == 1 && (elem_is_float(type->elem) || type->elem == EL_I1);
}

static void settle(Places *at, TtPaging *place, TtPaging paging) {
    if (paging == PAGE_ANY || *place == paging) return;
    if (*place != PAGE_ANY) {
        tt_refuse(at->tt, at->op, "a vector that is needed both along rows and along columns of pages"
                                  FIX "load it twice");
        return;
    }
    *place = paging;
    at->changed = true;
}

static void unify(Places *at, TtPaging *a, TtPaging *b) {
    settle(at, a, *b);
    settle(at, b, *a);
}

static void unify_values(Places *at, Ref a, Ref b) {
    if (is_vector(at->tt, a) && is_vector(at->tt, b)) unify(at, &at->tt->paging[a], &at->tt->paging[b]);
}

/* [n] -> [n, 1] or [1, n], or back. */
static void settle_reshape(Places *at, Ref vector, const Type *wide) {
    if (!is_vector(at->tt, vector) || wide->rank != 2) return;
    TtPaging want = wide->extent[0] == 1 && wide->extent[1] != 1 ? PAGE_ROW : PAGE_COLUMN;
    if (at->op->code == OP_EXPAND) want = op_int(at->op, AT_AXIS, 0) == 0 ? PAGE_ROW : PAGE_COLUMN;
    TtPaging now = at->tt->paging[vector];
    if (at->turned && now != PAGE_ANY && now != PAGE_VECTOR && now != want) {
        for (size_t i = 0; i < at->turned->count; i++)
            if (at->turned->at[i] == at->op) return;
        *VEC_PUSH(at->turned, at->tt->arena) = at->op;
        return;
    }
    settle(at, &at->tt->paging[vector], want);
}

static void settle_op(Places *at) {
    Tt *tt = at->tt;
    const Op *op = at->op;
    switch (op->code) {
    case OP_GET:
    case OP_PUT: {
        Ref value = op->code == OP_GET ? op->results[0] : op_operand(op, 1);
        if (is_vector(tt, value)) unify(at, &tt_field(tt, op)->paging, &tt->paging[value]);
        return;
    }
    case OP_REDUCE:
        if (ir_type(tt->k, op->operands[0])->rank == 2)
            settle(at, &tt->paging[op->results[0]], op_int(op, AT_AXIS, 0) ? PAGE_COLUMN : PAGE_ROW);
        return;
    case OP_EXPAND:
        if (at->spreads) settle_reshape(at, op->operands[0], ir_type(tt->k, op->results[0]));
        return;
    case OP_RESHAPE:
        if (at->spreads) settle_reshape(at, op->operands[0], ir_type(tt->k, op->results[0]));
        settle_reshape(at, op->results[0], ir_type(tt->k, op->operands[0]));
        return;
    case OP_FOR: {
        const Op *yield = op->regions[0]->last;
        for (int i = 0; i < op->result_count; i++) {
            unify_values(at, op->results[i], op->regions[0]->args[i + 1]);
            unify_values(at, op->results[i], op->operands[3 + i]);
            unify_values(at, op->results[i], yield->operands[i]);
        }
        return;
    }
    default:
        if (!op_has(op->code, TRAIT_ELEMENTWISE)) return;
        for (int i = 0; i < op->operand_count; i++) unify_values(at, op->results[0], op->operands[i]);
    }
}

/* Of vectors that become tiles one at a time: what follows from it must be known for the next one. */
static bool settle_region(Places at, const Region *region) {
    bool changed = false;
    for (Op *op = region->first; op && !(changed && at.spreads); op = op->next) {
        at.op = op, at.changed = false;
        settle_op(&at);
        changed |= at.changed;
        for (int i = 0; i < op->region_count; i++) changed |= settle_region(at, op->regions[i]);
    }
    return changed;
}

static void settle_pagings(Tt *tt, const Region *region) {
    FoundOps turned = {0};
    Places all = {.tt = tt, .turned = &turned}, one = {.tt = tt, .spreads = true, .turned = &turned};
    do {
        while (settle_region(all, region) && tt->cx->module->diag->errors == 0) {}
    } while (settle_region(one, region) && tt->cx->module->diag->errors == 0);
    for (size_t i = 0; i < turned.count; i++) { /* [n] -> [1, n] is [n] -> [n, 1] -> [1, n], and the other way */
        Op *op = turned.at[i];
        Builder b = ir_builder_before(tt->k, op);
        const Type *to = ir_type(tt->k, op->results[0]);
        if (to->rank == 1) {
            op->operands[0] = ir_permute(&b, op->operands[0], (const int64_t[]){1, 0}, 2);
            continue;
        }
        int axis = op->code == OP_EXPAND ? (int)op_int(op, AT_AXIS, 0) : to->extent[0] != 1;
        Ref other = ir_expand(&b, op->operands[0], axis ? 0 : 1);
        ir_replace_all(tt->k, op->results[0], ir_permute(&b, other, (const int64_t[]){1, 0}, 2));
        ir_remove(op);
    }
}

/* --- who reads a field how --- */

static void note_use(Tt *tt, const Op *op) {
    bool is_free = op->result_count == 1 && tt_same_pages(tt, op->results[0]) != op->results[0];
    for (int i = 0; i < op->operand_count && !is_free; i++) { /* of a free op: its own users count */
        if (!ref_is_value(op->operands[i])) continue;
        Ref value = tt_same_pages(tt, op->operands[i]);
        const Op *source = ir_value(tt->k, value)->op;
        bool is_turned = source && source->code == OP_PERMUTE;
        if (is_turned) source = ir_value(tt->k, tt_same_pages(tt, source->operands[0]))->op;
        if (!source || source->code != OP_GET || op->code == OP_PERMUTE) continue;
        bool fpu = op->code == OP_REDUCE || (op->code == OP_DOT && i < 2);
        *(fpu ? &tt_field(tt, source)->multiplied : &tt_field(tt, source)->moved) = true;
    }
}

static void note_load(Tt *tt, const Op *op) {
    if (op->code != OP_PUT) return;
    Ref value = put_value(op);
    const Op *load = ref_is_value(value) ? ir_value(tt->k, value)->op : NULL;
    if (load && (load->code == OP_TLOAD || load->code == OP_LOAD)) tt_field(tt, op)->load = load;
}

/* --- circular buffers --- */

int tt_add_cb(Tt *tt, const char *name, Word from, Word to, const char *what, TtFormat format, int64_t item_pages,
              int64_t slots, Range range) {
    const TensixLimits *limits = tensix_limits(tt->plan->options.arch);
    uint32_t first = from == ROLE_LOAD ? 0 : to == ROLE_STORE ? 16 : 24;
    bool taken[64] = {0};
    for (size_t i = 0; i < tt->plan->cbs.count; i++) taken[tt->plan->cbs.at[i].desc.id] = true;
    uint32_t id = first;
    for (uint32_t i = 0; i < limits->cbs && taken[id]; i++) id = (first + i + 1) % limits->cbs;
    if (taken[id]) diag_emit(tt->cx->module->diag, DIAG_TT_CBS, range, limits->name, limits->cbs);
    TtCb cb = {.name = arena_printf(tt->arena, "cb_%s", name),
               .from = from,
               .to = to,
               .what = what,
               .item_pages = (uint32_t)item_pages,
               .slots = (uint32_t)slots};
    cb.desc = (TensixCb){
        .id = id, .format = format, .page_bytes = tensix_tile_bytes(format), .pages = (uint32_t)(item_pages * slots)};
    *VEC_PUSH(&tt->plan->cbs, tt->arena) = cb;
    return (int)tt->plan->cbs.count - 1;
}

int tt_add_scaler(Tt *tt, Range range) {
    if (tt->scaler_cb < 0)
        tt->scaler_cb = tt_add_cb(tt, "scaler", ROLE_LOAD, ROLE_COMPUTE,
                                  "1.0 in the first row of each face, for reductions", TT_Float16_b, 1, 1, range);
    return tt->scaler_cb;
}

/* The only op of the kind on the ring; NULL: there are none, or several. */
static const Op *only_hand(const Region *region, Opcode code, Ref ring) {
    const Op *found = NULL;
    int count = 0;
    for (const Op *op = region->first; op; op = op->next) {
        const Op *at = op->code == code && op->operands[0] == ring ? op : NULL;
        for (int i = 0; i < op->region_count && !at; i++) at = only_hand(op->regions[i], code, ring);
        if (at) found = at, count++;
    }
    return count == 1 ? found : NULL;
}

static bool is_behind(const Op *a, const Op *b) {
    while (b && b != a) b = b->previous;
    return b == a;
}

/* Are items of a handed over, and taken, before those of b, in the same stretch of both roles? */
static bool takes_turns(const Tt *tt, Ref a, Ref b) {
    const Region *compute = tt->role[TENSIX_COMPUTE]->regions[0], *store = tt->role[TENSIX_WRITER]->regions[0];
    const Op *commit = only_hand(compute, OP_COMMIT, a), *acquire = only_hand(compute, OP_ACQUIRE, b);
    const Op *release = only_hand(store, OP_RELEASE, a), *wait = only_hand(store, OP_WAIT, b);
    bool all = commit && acquire && release && wait && only_hand(compute, OP_ACQUIRE, a) && only_hand(store, OP_WAIT, a) &&
               only_hand(compute, OP_COMMIT, b) && only_hand(store, OP_RELEASE, b);
    return all && commit->parent == acquire->parent && release->parent == wait->parent && is_behind(commit, acquire) &&
           is_behind(release, wait);
}

/* The CB of another output whose items are as large, where CBs are few; -1: it has its own. */
static int shared_output(const Tt *tt, const TtField *field, const Op *ring) {
    bool is_output = ring_producer(ring) == ROLE_COMPUTE && ring_consumer(ring) == ROLE_STORE;
    if (!is_output || 2 * tt->fields.count <= tensix_limits(tt->plan->options.arch)->cbs) return -1;
    for (size_t i = 0; &tt->fields.at[i] != field; i++) {
        const TtField *other = &tt->fields.at[i];
        bool is_alike = other->type == field->type && other->paging == field->paging && other->cb >= 0 &&
                        ring_producer(ir_value(tt->k, other->ring)->op) == ROLE_COMPUTE && other->ring != field->ring;
        bool all = is_alike; /* of those that have it already */
        for (size_t j = i; &tt->fields.at[j] != field && all; j++)
            all = tt->fields.at[j].cb != other->cb || takes_turns(tt, tt->fields.at[j].ring, field->ring);
        if (all) return other->cb;
    }
    return -1;
}

static void add_field_cbs(Tt *tt, TtField *field, const Op *ring, bool is_only_field) {
    TtFormat format;
    const Type *type = field->type;
    bool is_worked_out = ring_producer(ring) == ROLE_COMPUTE && !elem_is_float(type->elem); /* tt_integers.c */
    if (!tt_format(type->elem, &format) && is_worked_out) {
        format = TT_Float32;
    } else if (!tt_format(type->elem, &format)) {
        tt_refuse(tt, field->load ? field->load : ring,
                  "a load or store of %s; tiles of f32, bf16, f16, i8 or u8 move between memory and cores",
                  ty_text(type, tt->arena));
        return;
    }
    const Value *value = ir_value(tt->k, field->ring);
    const char *ring_name = value->name ? value->name : "ring";
    const char *name = is_only_field ? ring_name : arena_printf(tt->arena, "%s_%s", ring_name, field->name);
    const char *what = arena_printf(tt->arena, "field %s of ring %s", field->name, ring_name);
    Word from = ring_producer(ring), to = ring_consumer(ring);
    field->plain = field->load && tt_plain_load(tt, field->load, field->paging);
    int64_t pages = tt_pages(type, field->paging), slots = tt_slots(tt, field, ring, op_int(ring, AT_SLOTS, 1));
    field->cb = field->fpu_cb = shared_output(tt, field, ring);
    if (field->cb >= 0) return;
    bool exact = format == TT_Float32, is_input = to == ROLE_COMPUTE;
    bool has_two = is_input && exact && field->moved && field->multiplied;
    field->cb = tt_add_cb(tt, name, from, to, what, format, pages, slots, ring->range);
    tt->plan->cbs.at[field->cb].desc.unpack_to_dest = is_input && exact && (has_two || !field->multiplied);
    field->fpu_cb = !has_two ? field->cb
                             : tt_add_cb(tt, arena_printf(tt->arena, "%s_fpu", name), from, to, what, format, pages,
                                         slots, ring->range);
}

/* By its own name and line: what it is made of may have no lowering either. */
static void refuse_unknown(Tt *tt, const Op *op) {
    if (op->result_count != 1 || op->region_count || !op_has(op->code, TRAIT_PURE)) return;
    const Type *type = ir_type(tt->k, op->results[0]);
    if (type->kind != TY_TILE || !type->rank || op_has(op->code, TRAIT_ELEMENTWISE) || tt_is_index(tt, op->results[0]))
        return;
    TtPart part;
    if (tt_part_pages(tt, op->results[0], &part)) return;
    switch (op->code) {
    case OP_SPLAT:
    case OP_UNDEF:
    case OP_BROADCAST:
    case OP_EXPAND:
    case OP_RESHAPE:
    case OP_PERMUTE:
    case OP_IOTA: /* refused where it is used, if it is */
    case OP_DOT:
    case OP_REDUCE:
    case OP_GET: return;
    default:
        tt_refuse(tt, op, "`%s` of a tile; the units of a core compute element by element, products, sums and maxima "
                          "of rows and columns"
                          FIX "write it with those, or use target cpu", op_info[op->code].mnemonic);
    }
}

static void note_scaler(Tt *tt, const Op *op) {
    if (op->code == OP_REDUCE) tt_add_scaler(tt, op->range);
}

void tt_plan_fields(Tt *tt) {
    tt->paging = ARENA_ARRAY(tt->arena, TtPaging, tt->k->values.count);
    for (const Op *op = tt->k->body->first; op; op = op->next) {
        if (op->code != OP_RING) continue;
        const Type *type = ir_type(tt->k, op->results[0]);
        if (op_attr(op, AT_OVERLAY) || op_word(op, AT_LIFE, LIFE_TASK) == LIFE_KERNEL)
            tt_refuse(tt, op, "a ring that lives longer than its task, or lies over another");
        for (int i = 0; i < type->field_count; i++)
            *VEC_PUSH(&tt->fields, tt->arena) = (TtField){.ring = op->results[0],
                                                          .number = i,
                                                          .name = type->fields[i].name,
                                                          .type = type->fields[i].type,
                                                          .cb = -1,
                                                          .fpu_cb = -1};
    }
    const Op *load = tt->role[TENSIX_READER], *compute = tt->role[TENSIX_COMPUTE];
    if (load) tt_each(tt, load->regions[0], note_load);
    if (compute) {
        tt_each(tt, compute->regions[0], tt_neutralize_padding);
        tt_each(tt, compute->regions[0], refuse_unknown);
        settle_pagings(tt, compute->regions[0]);
        tt_each(tt, compute->regions[0], note_use);
    }
    for (size_t i = 0; i < tt->fields.count; i++) {
        TtField *field = &tt->fields.at[i];
        const Op *ring = ir_value(tt->k, field->ring)->op;
        if (field->type->rank != 1)
            field->paging = PAGE_TILE;
        else if (field->paging == PAGE_ANY)
            field->paging = PAGE_VECTOR;
        add_field_cbs(tt, field, ring, ir_type(tt->k, field->ring)->field_count == 1);
    }
    tt->plain_stores = ARENA_ARRAY(tt->arena, bool, tt->k->body->arg_count);
    tt_plan_plain_stores(tt);
    if (!compute) return;
    tt_plan_index_tiles(tt);
    tt_each(tt, compute->regions[0], note_scaler);
}

/* ---------------------------------------------------------------------------------------- arguments, limits */

int tt_arg(Tt *tt, TtArgKind kind, const char *name, int index, int dim, Elem elem) {
    for (size_t i = 0; i < tt->plan->args.count; i++) {
        const TtArg *arg = &tt->plan->args.at[i];
        if (arg->kind == kind && arg->index == index && arg->dim == dim) return (int)i;
    }
    if (tt->plan->args.count == TENSIX_MAX_ARGS) tt_refuse(tt, NULL, "more than %d arguments", TENSIX_MAX_ARGS);
    *VEC_PUSH(&tt->plan->args, tt->arena) = (TtArg){kind, name, index, dim, elem};
    return (int)tt->plan->args.count - 1;
}

/* Recorded runs cover Float32 that goes straight to DST on Blackhole alone. */
static void note_uncalibrated(Tt *tt) {
    Text names = text_new(tt->arena);
    for (size_t i = 0; i < tt->plan->cbs.count && tt->plan->options.arch == TENSIX_WORMHOLE; i++)
        if (tt->plan->cbs.at[i].desc.unpack_to_dest)
            text_add(&names, "%s%s", names.length ? ", " : "", tt->plan->cbs.at[i].name);
    if (names.length)
        *VEC_PUSH(&tt->plan->notes, tt->arena) = arena_printf(
            tt->arena, "uncalibrated: no recorded run on Wormhole unpacks Float32 straight to DST, as %s do", names.at);
}

static void note_counts(Tt *tt, const Op *op) {
    if (op->code == OP_DOT && elem_is_int(ir_type(tt->k, op->results[0])->elem)) tt->counts = true;
}

/* Sums and products read Float32 through source registers. */
static void find_cut(const Tt *tt, const TtBlock *block, bool *cut) {
    for (size_t i = 0; i < block->count; i++) {
        const TtStep *step = &block->at[i];
        find_cut(tt, &step->body, cut);
        if (step->kind != STEP_MATMUL && step->kind != STEP_REDUCE) continue;
        cut[step->cb] |= tt->plan->cbs.at[step->cb].desc.format == TT_Float32;
        cut[step->cb2] |= tt->plan->cbs.at[step->cb2].desc.format == TT_Float32;
    }
}

static void note_cut(Tt *tt) {
    bool *cut = ARENA_ARRAY(tt->arena, bool, tt->plan->cbs.count);
    Text names = text_new(tt->arena);
    find_cut(tt, &tt->code[TENSIX_COMPUTE].body, cut);
    for (size_t i = 0; i < tt->plan->cbs.count; i++)
        if (cut[i]) text_add(&names, "%s%s", names.length ? ", " : "", tt->plan->cbs.at[i].name);
    if (names.length)
        *VEC_PUSH(&tt->plan->notes, tt->arena) = arena_printf(
            tt->arena, "sums and products take f32 with 11 significant bits, cut: those of %s", names.at);
}

void tt_check_limits(Tt *tt) {
    const TensixLimits *limits = tensix_limits(tt->plan->options.arch);
    int64_t bytes = 0, most = limits->l1_bytes - limits->l1_reserved;
    Text table = text_new(tt->arena);
    note_uncalibrated(tt);
    note_cut(tt);
    if (tt->role[TENSIX_COMPUTE]) tt_each(tt, tt->role[TENSIX_COMPUTE]->regions[0], note_counts);
    if (tt->counts)
        *VEC_PUSH(&tt->plan->notes, tt->arena) = "sums of products of integers are kept as f32: exact up to 2^24";
    for (size_t i = 0; i < tt->plan->cbs.count; i++) {
        const TtCb *cb = &tt->plan->cbs.at[i];
        int64_t size = (int64_t)cb->desc.pages * cb->desc.page_bytes;
        bytes += (size + 63) / 64 * 64;
        text_add(&table, "\n    CB %2u %-20s %5u pages x %u slots x %u bytes = %9lld  %s", cb->desc.id, cb->name,
                 cb->item_pages, cb->slots, cb->desc.page_bytes, (long long)size, cb->what);
    }
    if (bytes > most)
        diag_emit(tt->cx->module->diag, DIAG_TT_L1, tt->k->range, (long long)bytes, limits->name, (long long)most,
                  table.at);
}
