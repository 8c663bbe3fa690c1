/* SPDX-License-Identifier: Apache-2.0 */
/* tt_role.c: what reader, compute and writer have in common: scalars, loops, branches, tasks,
 * arguments.
 *
 * Scalars that a role needs are computed by its own processor, as C; names and expressions are
 * cstyle's. Only what the role needs is computed, found by one walk backwards from
 * its loops, offsets and scalar operands. Arguments, accessors and CB numbers are declared at the
 * top of kernel_main the first time that something asks for them. */
#include "target/tenstorrent/tt_emit.h"

#include <string.h>

static const CDialect dialect_tensix = {"tensix", true, false, true, ".bits", "bool", false, false};

bool role_is_scalar_op(const Kernel *k, const Op *op) {
    if (op->code == OP_TLOAD || op->code == OP_LOAD) return ty_is_scalar(ir_type(k, op->results[0]));
    if (op->result_count != 1 || op->region_count || !op_has(op->code, TRAIT_PURE)) return false;
    const Type *type = ir_type(k, op->results[0]);
    if (!ty_is_scalar(type) || type->pointer) return false;
    return cs_is_elementwise(op->code) || op->code == OP_EXTENT || op->code == OP_STRIDE || op->code == OP_NUM_PROGRAMS;
}

/* ---------------------------------------------------------------------------------------------- what is needed */

void role_need(Role *role, Ref ref) {
    const Kernel *k = role->tt->k;
    if (!ref_is_value(ref) || role->needed[ref]) return;
    const Value *v = ir_value(k, ref);
    bool is_place = v->type->kind == TY_TENSOR || v->type->pointer; /* that a number is read from */
    if (is_place && !(v->op && (v->op->code == OP_TENSOR || v->op->code == OP_PTR_ADD))) return;
    if (!is_place && (v->type->kind != TY_TILE || v->type->rank)) return;
    role->needed[ref] = true;
    const Op *owner = v->op ? v->op : v->region->owner;
    if (!owner) return;
    if (owner->code == OP_FOR) {
        int carried = v->op ? v->index : v->index - 1;
        for (int i = 0; i < 3; i++) role_need(role, owner->operands[i]);
        if (carried >= 0) {
            role_need(role, owner->operands[3 + carried]);
            role_need(role, owner->regions[0]->last->operands[carried]);
        }
    } else if (v->op && v->op->code == OP_IF) {
        role_need(role, owner->operands[0]);
        for (int i = 0; i < owner->region_count; i++) role_need(role, owner->regions[i]->last->operands[v->index]);
    } else if (v->op) {
        bool is_told = role->kernel == TENSIX_COMPUTE && (owner->code == OP_TLOAD || owner->code == OP_LOAD);
        for (int i = 0; i < owner->operand_count && !is_told; i++) role_need(role, owner->operands[i]);
    }
}

/* Is it a part of tiles that the reader makes? What is a float is computed from those. */
static bool is_index_op(Tt *tt, const Op *op) {
    const Kernel *k = tt->k;
    return op->result_count == 1 && !ty_is_scalar(ir_type(k, op->results[0])) &&
           !elem_is_float(ir_type(k, op->results[0])->elem) && tt_is_index(tt, op->results[0]);
}

/* Whole pages are counted by the launch: the numbers of the tensor are not asked for. */
static bool moves_pages(const Tt *tt, const Op *op) {
    if (op->code == OP_TSTORE) return !tt_is_plain_store(tt, op);
    for (size_t i = 0; op->code == OP_TLOAD && i < tt->fields.count; i++)
        if (tt->fields.at[i].load == op) return !tt->fields.at[i].plain;
    return false;
}

static void need_region(Role *role, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        bool is_paged = moves_pages(role->tt, op);
        int count = op->code == OP_FOR ? 3 : op->operand_count;
        bool is_quiet = role_is_scalar_op(role->tt->k, op) || is_index_op(role->tt, op) || op->code == OP_YIELD;
        bool is_tile = role->kernel == TENSIX_COMPUTE && op->code != OP_FOR && op->code != OP_IF; /* numbers come as
                                                                                                     pages */
        for (int i = is_paged; i < count && !is_quiet; i++)
            if (!is_tile || !tt_is_read(role->tt, op->operands[i])) role_need(role, op->operands[i]);
        for (int i = 0; i < op->region_count; i++) need_region(role, op->regions[i]);
    }
}

void role_init(Role *role, Tt *tt, int kernel) {
    *role = (Role){.tt = tt, .kernel = kernel, .head = text_new(tt->arena)};
    cs_init(&role->p, tt->arena, tt->k, &dialect_tensix);
    static const char *const words[] = {
        "task", "first_task", "task_count", "turn", "columns", "rows", "row_tasks", "plane_tasks", "row_share",
        "column_share", "row_members", "column_members", "row_place", "column_place", "row_first", "column_first",
        "member", "trip", "my_turn", "kernel_main", "from", "to", "page", "r",  "c",  "p",  "kt",  "i",   "j",
        "i0",   "i1",         "i2",         "i3",          "i4",   "i5", "i6",   "i7", "i8", "i9", "i10", "i11", NULL};
    cs_reserve(&role->p, words);
    role->p.depth = 1;
    role->needed = ARENA_ARRAY(tt->arena, bool, tt->k->values.count);
    if (tt->role[kernel]) need_region(role, tt->role[kernel]->regions[0]);
    if (kernel == TENSIX_READER && tt->compute_needs) tt_need_told(role);
}

/* ------------------------------------------------------------------------------------------------ declarations */

static void declare(Role *role, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void declare(Role *role, const char *format, ...) {
    va_list args;
    text_indent(&role->head, 1);
    va_start(args, format);
    text_vadd(&role->head, format, args);
    va_end(args);
    text_add_char(&role->head, '\n');
}

const char *role_arg(Role *role, TtArgKind kind, const char *hint, int index, int dim) {
    const char *key = arena_printf(role->tt->arena, "arg %d %d %d", kind, index, dim);
    const char *name = map_get(&role->declared, key);
    if (name) return name;
    name = cs_fresh(&role->p, hint);
    map_set(&role->declared, role->tt->arena, key, (void *)name);
    declare(role, "const u32 %s = get_common_arg_val<u32>(%d);", name,
            tt_arg(role->tt, kind, hint, index, dim, EL_U32));
    return name;
}

static const char *param(Role *role, Ref ref) {
    Tt *tt = role->tt;
    const char *key = arena_printf(tt->arena, "param %u", ref);
    const char *name = map_get(&role->declared, key);
    if (name) return name;
    const Value *v = ir_value(tt->k, ref);
    Elem elem = v->type->elem;
    name = cs_name(&role->p, ref);
    map_set(&role->declared, tt->arena, key, (void *)name);
    if (v->type->pointer || elem == EL_F64)
        tt_refuse(tt, NULL, "arithmetic on parameter `%s` (%s)", name, ty_text(v->type, tt->arena));
    int number = tt_arg(tt, ARG_SCALAR, arena_string(tt->arena, name, strlen(name)), v->index, 0, elem);
    const char *type = cs_register_type(&role->p, elem);
    if (elem_is_float(elem))
        declare(role, "const f32 %s = tw_as_f32(get_common_arg_val<u32>(%d));", name, number);
    else
        declare(role, "const %s %s = (%s)get_common_arg_val<%s>(%d);", type, name, type,
                elem_is_signed(elem) ? "i32" : "u32", number);
    return name;
}

const char *role_cb(Role *role, int cb) {
    const TtCb *desc = &role->tt->plan->cbs.at[cb];
    const char *key = arena_printf(role->tt->arena, "cb %d", cb);
    const char *name = map_get(&role->declared, key);
    if (name) return name;
    name = cs_fresh(&role->p, desc->name);
    map_set(&role->declared, role->tt->arena, key, (void *)name);
    declare(role, "constexpr u32 %s = %u;", name, desc->desc.id);
    return name;
}

/* The number of the first of the words that are the NoC coordinates of the cores' columns, or rows. */
static int noc_words(Tt *tt, int axis) {
    uint32_t count = 0;
    for (int i = 0; i < tt->plan->param_count; i++) {
        const TwShards *s = &tt->plan->shards[i];
        uint32_t end = axis ? s->first.y + s->size.y : s->first.x + s->size.x;
        if (s->cut != TW_WHOLE && end > count) count = end;
    }
    int first = tt_arg(tt, ARG_NOC, axis ? "noc_y0" : "noc_x0", axis, 0, EL_U32);
    for (uint32_t i = 1; i < count; i++)
        tt_arg(tt, ARG_NOC, arena_printf(tt->arena, "noc_%c%u", axis ? 'y' : 'x', i), axis, (int)i, EL_U32);
    return first;
}

static void declare_sharded(Role *role, int buffer, const char *name, const char *address) {
    Tt *tt = role->tt;
    const TtBuffer *b = &tt->plan->buffers.at[buffer];
    const TwShards *s = &b->shards;
    int x = noc_words(tt, 0), y = noc_words(tt, 1), last = b->layout.rank - 1;
    const char *columns = role_arg(role, ARG_PAGES, arena_printf(tt->arena, "%s_n%d", b->name, last), buffer, last);
    const char *shard[2];
    for (int i = 0; i < 2; i++)
        shard[i] = role_arg(role, ARG_SHARD, arena_printf(tt->arena, "%s_shard_%s", b->name, i ? "columns" : "rows"),
                            buffer, i);
    declare(role, "const TwSharded<%u, %u, %u, %s, %u, %u> %s{%s, %s, %s, %s};", tt_page_bytes(b),
            tw_shard_parts(s).x, s->down ? s->size.y : s->size.x, s->down ? "true" : "false",
            (uint32_t)x + s->first.x, (uint32_t)y + s->first.y, name, address, columns, shard[0], shard[1]);
}

const char *role_accessor(Role *role, int buffer) {
    const char *key = arena_printf(role->tt->arena, "buffer %d", buffer);
    const char *name = map_get(&role->declared, key);
    if (name) return name;
    const char *hint = role->tt->plan->buffers.at[buffer].name;
    const char *address = role_arg(role, ARG_ADDRESS, arena_printf(role->tt->arena, "%s_address", hint), buffer, 0);
    name = cs_fresh(&role->p, arena_printf(role->tt->arena, "%s_pages", hint));
    map_set(&role->declared, role->tt->arena, key, (void *)name);
    if (role->tt->plan->buffers.at[buffer].shards.cut != TW_WHOLE) {
        declare_sharded(role, buffer, name, address);
        return name;
    }
    declare(role, "constexpr auto %s_layout = TensorAccessorArgs<%d>();", name,
            2 * (int)role->tt->accessors[role->kernel].count);
    declare(role, "const auto %s = TensorAccessor(%s_layout, %s);", name, name, address);
    *VEC_PUSH(&role->tt->accessors[role->kernel], role->tt->arena) = buffer;
    return name;
}

const char *role_elements(Role *role, int buffer) {
    if (buffer < 0) return "0";
    Tt *tt = role->tt;
    const char *key = arena_printf(tt->arena, "elements %d", buffer), *name = map_get(&role->declared, key);
    if (name) return name;
    static const Word ends[] = {[TENSIX_READER] = ROLE_LOAD, [TENSIX_WRITER] = ROLE_STORE, [TENSIX_COMPUTE] =
                                ROLE_COMPUTE};
    const char *hint = tt->plan->buffers.at[buffer].name, *pages = role_accessor(role, buffer);
    Word end = ends[role->kernel];
    int cb = tt_add_cb(tt, arena_printf(tt->arena, "%s_page", hint), end, end, "a page of memory that elements are in",
                       TT_Int32, 1, 1, tt->k->range);
    name = cs_fresh(&role->p, arena_printf(tt->arena, "%s_elements", hint));
    map_set(&role->declared, tt->arena, key, (void *)name);
    declare(role, "TwElements<decltype(%s)> %s{%s, get_write_ptr(%s)};", pages, name, pages, role_cb(role, cb));
    return name;
}

const char *role_turn(Role *role) {
    const char *name = "my_turn";
    if (map_get(&role->declared, name)) return name;
    map_set(&role->declared, role->tt->arena, name, (void *)name);
    declare(role, "TwTurn %s = tw_turn_of(%d, 0);", name, TW_TASK_WORDS);
    return name;
}

const char *role_fill(Role *role, int buffer) {
    Tt *tt = role->tt;
    const TtBuffer *b = &tt->plan->buffers.at[buffer];
    uint32_t bits = tt_fill_bits(b);
    int cb = tt_fill_cb(tt, buffer);
    TtFormat format = tt->plan->cbs.at[cb].desc.format;
    const char *key = arena_printf(tt->arena, "fill %d", cb), *name = map_get(&role->declared, key);
    if (name) return name;
    name = cs_fresh(&role->p, bits ? arena_printf(tt->arena, "%s_fill", b->name) : "zeros");
    map_set(&role->declared, tt->arena, key, (void *)name);
    declare(role, "const u32 %s = tw_fill_page<%s>(%s, 0x%xu);", name, format == TT_Float16_b ? "u16" : "u32",
            role_cb(role, cb), bits);
    return name;
}

const char *role_share(Role *role, TtShare share) {
    const char *name = share == SHARE_ROW ? "row_share" : "column_share";
    if (map_get(&role->declared, name)) return name;
    map_set(&role->declared, role->tt->arena, name, (void *)name);
    int group = share == SHARE_ROW ? 0 : 1;
    declare(role, "const TwShare %s = tw_share_of(%d, %d);", name, TW_TASK_WORDS + group * TW_SHARE_WORDS, 2 * group);
    return name;
}

void role_members(Role *role, TtShare share) {
    const char *line = share == SHARE_ROW ? "row" : "column";
    const char *key = arena_printf(role->tt->arena, "%s_members", line);
    int words = TW_TASK_WORDS + (share == SHARE_ROW ? 0 : TW_SHARE_WORDS);
    if (map_get(&role->declared, key)) return;
    map_set(&role->declared, role->tt->arena, key, (void *)key);
    declare(role, "const u32 %s_members = get_arg_val<u32>(%d) + 1, %s_place = get_arg_val<u32>(%d);", line,
            words + TW_SHARE_RECEIVERS, line, words + TW_SHARE_PLACE);
}

/* ----------------------------------------------------------------------------------------------------- scalars */

/* Is it in tilewright_scalar.h, or C++'s own? The small processors have no library of functions. */
bool tt_has_scalar(const Kernel *k, const Op *op) {
    Elem to = ir_type(k, op->results[0])->elem, from = op->operand_count ? ir_type(k, op->operands[0])->elem : to;
    if (to == EL_F64 || from == EL_F64 || (elem_is_float(to) && elem_info[to].bits == 8) ||
        (elem_is_float(from) && elem_info[from].bits == 8))
        return false;
    switch (op->code) {
    case OP_MATH:
    case OP_EXP:
    case OP_EXP2:
    case OP_LOG:
    case OP_LOG2:
    case OP_SQRT:
    case OP_RSQRT:
    case OP_SIN:
    case OP_COS:
    case OP_TANH:
    case OP_ERF:
    case OP_ROUND:
    case OP_RINT: return false;
    case OP_REM:
    case OP_MOD:
    case OP_FLOORDIV: return !elem_is_float(from);
    case OP_CAST: return op_word(op, AT_ROUND, ROUND_RN) == ROUND_RN;
    default: return true;
    }
}

const char *role_elementwise(Role *role, const Op *op, const char *const *texts) {
    if (!tt_has_scalar(role->tt->k, op)) {
        tt_refuse(role->tt, op,
                  "`%s` of a single number (%s); the small processors compute sums, products and conversions of 16 "
                  "and 32 bits" FIX "pass the result as an argument, or compute it of a tile",
                  op_info[op->code].mnemonic, ty_text(ir_type(role->tt->k, op->results[0]), role->tt->arena));
        return "0";
    }
    const Expr *args[3] = {0};
    for (int i = 0; i < op->operand_count && i < 3; i++)
        if (texts[i]) args[i] = ex_atom(role->tt->arena, texts[i]);
    return ex_plain(role->tt->arena, cs_elementwise(&role->p, op, args));
}

const char *role_literal(Role *role, Ref ref) {
    return ref == REF_NONE ? NULL : ex_plain(role->tt->arena, cs_ref(&role->p, ref));
}

const char *role_ref(Role *role, Ref ref) {
    if (!ref_is_value(ref)) return role_literal(role, ref);
    const Value *v = ir_value(role->tt->k, ref);
    if (!v->op && v->region == role->tt->k->body) return param(role, ref);
    if (v->op && !v->op->region_count && !role_is_scalar_op(role->tt->k, v->op))
        tt_refuse(role->tt, v->op,
                  "a single number made by `%s`; numbers must follow from arguments and indices, "
                  "so keep it a tile",
                  op_info[v->op->code].mnemonic);
    return cs_name(&role->p, ref);
}

/* Extent and stride: of a parameter an argument, of a `tensor` its own operand. */
static const char *tensor_part(Role *role, const Op *op) {
    const Kernel *k = role->tt->k;
    const Value *tensor = ir_value(k, op->operands[0]);
    int dim = (int)op_int(op, AT_DIM, 0);
    bool extent = op->code == OP_EXTENT;
    if (tensor->op && tensor->op->code == OP_TENSOR) return role_ref(role, op_list(tensor->op, !extent).at[dim]);
    const char *hint =
        arena_printf(role->tt->arena, "%s_%s%d", tensor->name ? tensor->name : "t", extent ? "extent" : "stride", dim);
    return arena_printf(role->tt->arena, "(i64)(i32)%s",
                        role_arg(role, extent ? ARG_EXTENT : ARG_STRIDE, hint, tensor->index, dim));
}

const char *role_scalar_text(Role *role, const Op *op) {
    if (op->code == OP_EXTENT || op->code == OP_STRIDE) return tensor_part(role, op);
    if (op->code == OP_NUM_PROGRAMS) {
        int dim = (int)op_int(op, AT_DIM, 0);
        return arena_printf(role->tt->arena, "(i32)%s",
                            role_arg(role, ARG_GRID, arena_printf(role->tt->arena, "grid%d", dim), dim, 0));
    }
    if (op->code == OP_TLOAD || op->code == OP_LOAD) return tt_number_text(role, op);
    const char *texts[3] = {0};
    for (int i = 0; i < op->operand_count && i < 3; i++) texts[i] = role_ref(role, op->operands[i]);
    return role_elementwise(role, op, texts);
}

void role_scalar(Role *role, const Op *op) {
    Ref result = op->results[0];
    if (!role->needed[result]) return;
    bool is_memory = op->code == OP_TLOAD || op->code == OP_LOAD;
    if (is_memory && role->kernel == TENSIX_COMPUTE) {
        tt_hear_number(role, op);
        return;
    }
    const char *text = role_scalar_text(role, op);
    role_line(role, "const %s %s = %s;", cs_register_type(&role->p, ir_type(role->tt->k, result)->elem),
              cs_name(&role->p, result), text);
    if (is_memory && role->kernel == TENSIX_READER && role->tt->compute_needs[result]) tt_tell_number(role, op);
}

/* ----------------------------------------------------------------------------------------------------- control */

static void share_name(Role *role, Ref value, const char *name) {
    cs_bind(&role->p, value, ex_name(role->tt->arena, name));
}

/* Else the step may be negative or 0, and the variable may run over its type's end. */
static bool counts_by_one(const Kernel *k, const Op *loop) {
    int64_t step = 0;
    return ir_const_int(k, loop->operands[2], &step) && step == 1;
}

const char *role_trips(Role *role, const Op *loop) {
    return arena_printf(role->tt->arena, "tw_trips(%s, %s, %s)", role_ref(role, loop->operands[0]),
                        role_ref(role, loop->operands[1]), role_ref(role, loop->operands[2]));
}

void role_open_for(Role *role, const Op *loop, const char *trips) {
    const Kernel *k = role->tt->k;
    const Region *body = loop->regions[0];
    for (int i = 0; i < loop->result_count; i++) {
        Ref result = loop->results[i];
        if (!role->needed[result] && !role->needed[body->args[i + 1]]) continue;
        const char *name = cs_name(&role->p, result);
        share_name(role, body->args[i + 1], name);
        role_line(role, "%s %s = %s;", cs_register_type(&role->p, ir_type(k, result)->elem), name,
                  role_ref(role, loop->operands[3 + i]));
    }
    const char *variable = cs_name(&role->p, body->args[0]);
    const char *type = cs_register_type(&role->p, ir_type(k, body->args[0])->elem);
    const char *lo = role_ref(role, loop->operands[0]), *hi = role_ref(role, loop->operands[1]);
    if (counts_by_one(k, loop) && !trips) {
        role_open_text(role, STEP_FOR, "%s %s = %s; %s < %s; ++%s", type, variable, lo, variable, hi, variable);
        return;
    }
    const char *trip = cs_fresh(&role->p, "trip");
    if (!trips) {
        trips = cs_fresh(&role->p, "trips");
        role_line(role, "const i64 %s = %s;", trips, role_trips(role, loop));
    }
    role_open_text(role, STEP_FOR, "i64 %s = 0; %s < %s; ++%s", trip, trip, trips, trip);
    role_line(role, "const %s %s = (%s)(%s + %s * %s);", type, variable, type, lo, trip,
              role_ref(role, loop->operands[2]));
}

const char *role_no_trips(Role *role, const Op *loop) {
    if (!counts_by_one(role->tt->k, loop)) return arena_printf(role->tt->arena, "%s == 0", role_trips(role, loop));
    return arena_printf(role->tt->arena, "%s >= %s", role_ref(role, loop->operands[0]),
                        role_ref(role, loop->operands[1]));
}

bool role_always_runs(const Kernel *k, const Op *loop) {
    int64_t lo, hi;
    return counts_by_one(k, loop) && ir_const_int(k, loop->operands[0], &lo) &&
           ir_const_int(k, loop->operands[1], &hi) && lo < hi;
}

void role_scalar_yield(Role *role, const Op *loop) {
    const Region *body = loop->regions[0];
    const Kernel *k = role->tt->k;
    int count = loop->result_count;
    const char **next = ARENA_ARRAY(role->tt->arena, const char *, count);
    for (int i = 0; i < count; i++) { /* all are read before one is written */
        bool is_carried = role->needed[loop->results[i]] || role->needed[body->args[i + 1]];
        next[i] = !is_carried ? NULL : cs_fresh(&role->p, "next");
        if (next[i])
            role_line(role, "const %s %s = %s;", cs_register_type(&role->p, ir_type(k, loop->results[i])->elem),
                      next[i], role_ref(role, body->last->operands[i]));
    }
    for (int i = 0; i < count; i++)
        if (next[i]) role_line(role, "%s = %s;", cs_name(&role->p, loop->results[i]), next[i]);
}

static void add_for(Role *role, const Op *loop) {
    if (role->loop) {
        role->loop(role, loop);
        return;
    }
    role_open_for(role, loop, role->kernel == TENSIX_READER ? role_all_trips(role, loop) : NULL);
    role_region(role, loop->regions[0]);
    role_scalar_yield(role, loop);
    role_close(role);
}

static void add_if(Role *role, const Op *op) {
    for (int i = 0; i < op->result_count; i++)
        if (role->needed[op->results[i]])
            role_line(role, "%s %s;", cs_register_type(&role->p, ir_type(role->tt->k, op->results[i])->elem),
                      cs_name(&role->p, op->results[i]));
        else if (!ty_is_scalar(ir_type(role->tt->k, op->results[i])))
            tt_refuse(role->tt, op, "a tile chosen by a branch" FIX "use `select`");
    for (int r = 0; r < op->region_count; r++) {
        const Region *region = op->regions[r];
        if (r > 0 && region->first == region->last && !op->result_count) break;
        if (r == 0)
            role_open_text(role, STEP_IF, "%s", role_ref(role, op->operands[0]));
        else
            role_open(role, (TtStep){.kind = STEP_ELSE});
        role_region(role, region);
        for (int i = 0; i < op->result_count; i++)
            if (role->needed[op->results[i]])
                role_line(role, "%s = %s;", cs_name(&role->p, op->results[i]),
                          role_ref(role, region->last->operands[i]));
        role_close(role);
    }
}

static bool is_silent(Opcode code) {
    switch (code) {
    case OP_ROLE:
    case OP_RETURN:
    case OP_ASSUME:
    case OP_REQUIRE:
    case OP_TENSOR:
    case OP_RING:
    case OP_TASKS: return true;
    default: return false;
    }
}

void role_ops(Role *role, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (is_silent(op->code)) continue;
        if (role_is_scalar_op(role->tt->k, op))
            role_scalar(role, op);
        else if (op->code == OP_FOR)
            add_for(role, op);
        else if (op->code == OP_IF)
            add_if(role, op);
        else
            role->visit(role, op);
        if (role->after) role->after(role, op);
    }
}

void role_region(Role *role, const Region *region) {
    size_t mark = role->enter ? role->enter(role) : 0;
    role_ops(role, region);
    if (role->leave) role->leave(role, mark);
}

/* Indices of a task: the last one counts fastest. */
static void add_indices(Role *role) {
    const Op *tasks = role->tt->tasks;
    const Region *body = tasks->regions[0];
    const char *rest = "task";
    for (int i = tasks->operand_count - 1; i >= 0; i--) {
        const char *type = cs_register_type(&role->p, ir_type(role->tt->k, body->args[i])->elem);
        const char *name = cs_name(&role->p, body->args[i]);
        if (i == 0) {
            if (role->needed[body->args[i]]) role_line(role, "const %s %s = (%s)%s;", type, name, type, rest);
            break;
        }
        const char *extent = role_ref(role, tasks->operands[i]);
        if (role->needed[body->args[i]])
            role_line(role, "const %s %s = (%s)(%s %% (u32)%s);", type, name, type, rest, extent);
        bool is_read = false;
        for (int j = 0; j < i; j++) is_read |= role->needed[body->args[j]];
        if (!is_read) break;
        const char *next = cs_fresh(&role->p, "rest");
        role_line(role, "const u32 %s = %s / (u32)%s;", next, rest, extent);
        rest = next;
    }
}

/* Two words for each tensor, as TensorAccessorArgs reads them: 2 for DRAM, 0 for L1; the bytes of its pages. */
static void set_compile_args(const Role *role) {
    Tt *tt = role->tt;
    Text words = text_new(tt->arena);
    for (size_t i = 0; i < tt->accessors[role->kernel].count; i++) {
        const TtBuffer *b = &tt->plan->buffers.at[tt->accessors[role->kernel].at[i]];
        text_add(&words, "%s%d, %u", i ? ", " : "", b->in_l1 ? 0 : 2, tt_page_bytes(b));
    }
    tt->plan->compile_args[role->kernel] = words.at;
}

/* Does the order of tasks run over the whole grid? Of a rectangle's share it runs over its own rows and columns, and
 * tasks that lie where shards do come as they lie. */
static bool by_extents(const TtOptions *o) {
    bool walks = o->order == TW_COLUMN_MAJOR || o->order == TW_Z_ORDER;
    return walks && o->policy != TW_RECT && o->policy != TW_AUTO;
}

/* Which task a turn is: a position of the core's share, in the order that is asked for. */
static void add_task(Role *role) {
    static const char *const orders[] = {
        [TW_COLUMN_MAJOR] = "tw_column_major", [TW_Z_ORDER] = "tw_z_order", [TW_MATCH_SHARD] = NULL};
    const TtOptions *o = &role->tt->plan->options;
    const Op *tasks = role->tt->tasks;
    const char *order = orders[o->order], *turn = "turn";
    if (order && !by_extents(o)) turn = arena_printf(role->tt->arena, "%s(turn, rows, columns)", order);
    const char *at = arena_printf(role->tt->arena, "tw_task(%s, first_task, columns, rows, row_tasks, plane_tasks)",
                                  turn);
    if (by_extents(o))
        at = arena_printf(role->tt->arena, "%s(%s, (u32)%s, (u32)%s)", order, at,
                          role_ref(role, tasks->operands[tasks->operand_count - 2]),
                          role_ref(role, tasks->operands[tasks->operand_count - 1]));
    role_line(role, "const u32 task = %s;", at);
}

static void build_tasks(Role *role) {
    Tt *tt = role->tt;
    const Op *tasks = tt->tasks;
    bool is_read = false;
    for (int i = 0; i < tasks->operand_count; i++) {
        is_read |= role->needed[tasks->regions[0]->args[i]];
        if (is_read && i) role_need(role, tasks->operands[i]);
    }
    if (is_read && by_extents(&tt->plan->options)) /* of the last two indices, whether those are read or not */
        for (int i = tasks->operand_count - 2; i < tasks->operand_count; i++) role_need(role, tasks->operands[i]);
    role_region(role, tt->k->body);
    if (role->before) role->before(role);
    if (tt->plan->ordered && is_read) { /* tilewright_launch.h */
        declare(role, "const u32 columns = get_arg_val<u32>(2), rows = get_arg_val<u32>(3);");
        declare(role, "const u32 row_tasks = get_arg_val<u32>(4), plane_tasks = get_arg_val<u32>(5);");
        role_open_text(role, STEP_FOR, "u32 turn = 0; turn < task_count; ++turn");
        add_task(role);
    } else {
        role_open_text(role, STEP_FOR, "u32 task = first_task; task < first_task + task_count; ++task");
    }
    add_indices(role);
    role_region(role, tasks->regions[0]);
    const Region *body = tt->role[role->kernel]->regions[0];
    size_t mark = role->enter ? role->enter(role) : 0;
    if (role->start) role->start(role);
    role_ops(role, body);
    if (role->leave) role->leave(role, mark);
    if (role->finish) role->finish(role);
    role_close(role);
    if (role->behind) role->behind(role);
}

void role_build(Role *role) {
    if (role->tt->role[role->kernel]) build_tasks(role);
    set_compile_args(role);
}
