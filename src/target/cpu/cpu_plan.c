/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_plan.c: where every tile of a kernel lives.
 *
 * 1. All ops get positions, values their users.
 * 2. From the last op to the first, each tile is made INLINE or MEMORY. A tile's *roots* are the
 *    ops in whose loops it is evaluated: a user that is no inline op, or the roots of an inline
 *    user. So roots are known when a tile is decided.
 * 3. Ops get their forms (cpu_plan_forms.c, cpu_plan_store.c).
 * 4. MEMORY tiles get blocks of the scratch (cpu_blocks.c). */
#include "analysis/affine.h"
#include "target/cpu/cpu_plan.h"

#include <string.h>

enum { CHEAP_WEIGHT = 12 };

OpPlace *cpu_place(const CpuPlan *plan, const Op *op) {
    return map_find_number(&plan->places, (uint64_t)(uintptr_t)op)->value;
}

/* Of two integers: no more than an elementwise op of both. */
static bool is_pair(const Kernel *k, const Op *op) {
    const Type *type = ir_type(k, op->operands[0]);
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    bool of_elements = kind != COMBINE_REGION && kind != COMBINE_ARGMIN && kind != COMBINE_ARGMAX;
    return op->operand_count == 1 && type->rank > 1 && type->extent[op_int(op, AT_AXIS, 0)] == 2 && !type->pointer &&
           !elem_is_float(type->elem) && type->elem != EL_I1 && of_elements;
}

bool cpu_is_inlinable(const Kernel *k, const Op *op) {
    switch (op->code) {
    case OP_REDUCE: return is_pair(k, op);
    case OP_SPLAT:
    case OP_IOTA:
    case OP_UNDEF:
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_REPEAT:
    case OP_RESHAPE:
    case OP_PERMUTE:
    case OP_FLIP:
    case OP_JOIN:
    case OP_SPLIT:
    case OP_SLICE:
    case OP_GATHER:
    case OP_LOAD:
    case OP_TLOAD:
    case OP_BLOAD:
    case OP_CONVERT: return true;
    default: return cs_is_elementwise(op->code);
    }
}

static bool reads_memory(const Op *op) { return op->code == OP_LOAD || op->code == OP_TLOAD || op->code == OP_BLOAD; }

static bool is_writer(const Op *op) {
    return op_has(op->code, TRAIT_WRITES) || op->code == OP_FENCE || op->code == OP_SYNC || op->code == OP_SHFL ||
           op->code == OP_BAR_WAIT || op->code == OP_BAR_ARRIVE || op->code == OP_BAR_EXPECT;
}

bool cpu_writes_memory(const Op *op) {
    if (is_writer(op)) return true;
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next)
            if (cpu_writes_memory(inner)) return true;
    return false;
}

bool cpu_is_wide_elem(const Type *type) {
    return !type->pointer && (type->elem == EL_I1 || (elem_is_float(type->elem) && elem_info[type->elem].bits < 32));
}

int64_t cpu_tile_bytes(const Type *type, bool wide) {
    int bytes = wide && cpu_is_wide_elem(type) ? 4 : ty_elem_bytes(type);
    return ty_elements(type) * bytes;
}

bool cpu_is_tile(const Kernel *k, Ref r) {
    return ref_is_value(r) && ir_type(k, r)->kind == TY_TILE && ir_type(k, r)->rank > 0;
}

bool cpu_is_inside(const Op *op, const Op *outer) {
    for (; op; op = op->parent ? op->parent->owner : NULL)
        if (op == outer) return true;
    return false;
}

static void list_add(CpuPlan *plan, OpList *list, Op *op) {
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] == op) return;
    *VEC_PUSH(list, plan->arena) = op;
}

/* --- 1. positions --- */

static void number(CpuPlan *plan, Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        OpPlace *place = ARENA_NEW(plan->arena, OpPlace);
        place->temp = ARENA_ARRAY(plan->arena, int, op->operand_count);
        for (int i = 0; i < op->operand_count; i++) place->temp[i] = -1;
        place->first = (int)plan->order.count;
        map_put_number(&plan->places, plan->arena, (uint64_t)(uintptr_t)op, place);
        *VEC_PUSH(&plan->order, plan->arena) = op;
        int before = plan->writers.count ? VEC_LAST(&plan->writers) : 0;
        *VEC_PUSH(&plan->writers, plan->arena) = before + is_writer(op);
        for (int i = 0; i < op->operand_count; i++) {
            if (!ref_is_value(op->operands[i])) continue;
            OpList *users = &plan->placed[op->operands[i]].users;
            if (!users->count || VEC_LAST(users) != op) *VEC_PUSH(users, plan->arena) = op;
        }
        for (int i = 0; i < op->region_count; i++) number(plan, op->regions[i]);
        place->last = (int)plan->order.count - 1;
    }
}

/* --- 2. inline or in memory --- */

static bool is_costly(Opcode code) {
    switch (code) {
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
    case OP_MATH:
    case OP_EXTERN:
    case OP_DIV:
    case OP_REM:
    case OP_FLOORDIV:
    case OP_MOD:
    case OP_CDIV:
    case OP_LOAD:
    case OP_TLOAD:
    case OP_BLOAD:
    case OP_GATHER: return true;
    default: return false;
    }
}

/* Is reading the box again as good as reading a copy? */
static bool reads_well(const CpuPlan *plan, const Op *op) {
    const Type *type = ir_type(plan->k, op->results[0]);
    const Op *tensor = op->code == OP_TLOAD ? ir_value(plan->k, op->operands[0])->op : NULL;
    int64_t stride = 0;
    if (!tensor || tensor->code != OP_TENSOR || op_operand(op, 1) || op_attr(op, AT_WRAP)) return false;
    RefList strides = op_list(tensor, 1), offsets = op_list(op, 0);
    if (ir_type(plan->k, offsets.at[offsets.count - 1])->rank) return false;
    return !op_attr(op, AT_DIMS) && ir_const_int(plan->k, strides.at[strides.count - 1], &stride) && stride == 1 &&
           (!cpu_is_wide_elem(type) || type->elem == EL_BF16);
}

static void weigh(CpuPlan *plan) {
    for (size_t n = 0; n < plan->order.count; n++) {
        Op *op = plan->order.at[n];
        bool cheap = !is_costly(op->code) || reads_well(plan, op);
        int weight = 1;
        bool inlinable = cpu_is_inlinable(plan->k, op);
        for (int i = 0; i < op->operand_count && inlinable; i++) {
            if (!cpu_is_tile(plan->k, op->operands[i])) continue;
            cheap = cheap && plan->placed[op->operands[i]].cheap;
            weight += plan->placed[op->operands[i]].weight * (op->code == OP_REDUCE ? 2 : 1);
        }
        for (int i = 0; i < op->result_count; i++) {
            plan->placed[op->results[i]].cheap = !inlinable || (cheap && weight <= CHEAP_WEIGHT);
            plan->placed[op->results[i]].weight = !inlinable ? 1 : weight <= CHEAP_WEIGHT ? weight : CHEAP_WEIGHT + 1;
        }
        for (int i = 0; i < op->region_count; i++)
            for (int a = 0; a < op->regions[i]->arg_count; a++)
                plan->placed[op->regions[i]->args[a]].cheap = true; /* in memory, to be read */
    }
}

static bool is_inline(const CpuPlan *plan, const Op *op) {
    return op->result_count && plan->placed[op->results[0]].storage == STORAGE_INLINE;
}

static void find_roots(CpuPlan *plan, Ref v) {
    Placed *placed = &plan->placed[v];
    for (size_t i = 0; i < placed->users.count; i++) {
        Op *user = placed->users.at[i];
        if (!is_inline(plan, user)) {
            list_add(plan, &placed->roots, user);
            continue;
        }
        for (int r = 0; r < user->result_count; r++) {
            OpList *roots = &plan->placed[user->results[r]].roots;
            for (size_t j = 0; j < roots->count; j++) list_add(plan, &placed->roots, roots->at[j]);
        }
    }
}

/* Does it say where the places of a box lie? */
static bool is_index_of(const Op *user, Ref v) {
    if (user->code != OP_TLOAD && user->code != OP_TSTORE && user->code != OP_TATOMIC) return false;
    RefList offsets = op_list(user, 0);
    for (int d = 0; d < offsets.count; d++)
        if (offsets.at[d] == v) return true;
    return false;
}

/* Do elements of a tile come from memory, at places that the two axes have a say in? */
static bool reads_tile(const CpuPlan *plan, Ref v) {
    const Op *op = cpu_is_tile(plan->k, v) ? cpu_def_of(plan, v) : NULL;
    if (!cpu_is_tile(plan->k, v) || ir_type(plan->k, v)->rank < 2 || !cpu_search_meets(plan, v)) return false;
    if (!op || !cpu_is_inlinable(plan->k, op) || reads_memory(op)) return true;
    for (int i = 0; i < op->operand_count; i++)
        if (reads_tile(plan, op->operands[i])) return true;
    return false;
}

/* Does a dot read it from the box that it is made of? */
static bool feeds_dot_box(const CpuPlan *plan, Ref v) {
    const OpList *users = &plan->placed[v].users;
    const Op *user = users->count == 1 ? users->at[0] : NULL;
    DotBox box;
    if (!user) return false;
    if (user->code == OP_PERMUTE || user->code == OP_CAST) return feeds_dot_box(plan, user->results[0]);
    int i = user->code != OP_DOT ? -1 : user->operands[0] == v ? 0 : user->operands[1] == v ? 1 : -1;
    return i >= 0 && (cpu_gemm(plan, user) || cpu_dot_box(plan, user, i, &box));
}

/* Do stores alone take it, as boxes that are turned on their way or lie as it does? */
static bool only_moves_to_boxes(const CpuPlan *plan, Ref v) {
    const OpList *users = &plan->placed[v].users;
    int axes[MAX_RANK];
    for (size_t i = 0; i < users->count; i++) {
        const Op *user = users->at[i];
        if (user->code == OP_PERMUTE && only_moves_to_boxes(plan, user->results[0])) continue;
        if (user->code != OP_TSTORE || op_operand(user, 2) || op_operand(user, 1) != v) return false;
    }
    return users->count && cpu_moved_box(plan, v, axes);
}

static bool is_movable_box(const CpuPlan *plan, Ref v) {
    int axes[MAX_RANK];
    return cpu_moved_box(plan, v, axes) != NULL;
}

/* Is it turned on its way into memory? */
static bool is_turned(const CpuPlan *plan, const Op *op) {
    Ref v = op->results[0];
    bool turned = op->code == OP_TLOAD ? cpu_box_is_turned(plan->k, op) : cpu_is_turn(plan->k, op);
    cpu_search_begin(plan);
    if (turned && op->code != OP_TLOAD) turned = reads_tile(plan, op->operands[0]);
    return turned && !feeds_dot_box(plan, v) && !only_moves_to_boxes(plan, v);
}

/* Must a user have the whole tile in memory? */
static bool user_wants_memory(const CpuPlan *plan, const Op *user, Ref v) {
    const Placed *placed = &plan->placed[v];
    if (is_index_of(user, v)) return true; /* every row asks for it, and the box is looked at before */
    switch (user->code) {
    case OP_YIELD:
    case OP_TEST: return true;
    case OP_DOT: {
        DotBox box;
        int i = user->operands[0] == v ? 0 : user->operands[1] == v ? 1 : -1;
        return i >= 0 && !cpu_gemm(plan, user) && !cpu_dot_box(plan, user, i, &box);
    }
    case OP_GATHER: return user->operands[0] == v && !placed->cheap;
    case OP_REDUCE: return cpu_is_inlinable(plan->k, user) && !placed->cheap;
    case OP_ATOMIC:
    case OP_ATOMIC_CAS: return !placed->cheap;
    case OP_PERMUTE: /* that is turned: from rows in memory, or from a box */
        if (!cpu_is_turn(plan->k, user) || is_inline(plan, user)) break;
        if (plan->placed[user->results[0]].wide && cpu_is_wide_elem(ir_type(plan->k, v))) break;
        return !is_movable_box(plan, v);
    case OP_TSTORE: return op_operand(user, 1) == v && cpu_box_is_turned(plan->k, user) && !is_movable_box(plan, v);
    case OP_TATOMIC:
        if (op_operand(user, 1) == v && cpu_line_box(plan, user)) return false;
        return !placed->cheap || (cpu_atomic_lines(plan->k, user) && op_operand(user, 1) == v);
    default: break;
    }
    /* Each element is used many times. */
    if (!is_inline(plan, user) || placed->cheap) return false;
    return ty_elements(ir_type(plan->k, user->results[0])) > ty_elements(ir_type(plan->k, v)) && user->code != OP_JOIN;
}

/* Of two ops of one region. */
static bool writer_between(const CpuPlan *plan, const Op *from, const Op *to) {
    int last = cpu_last_of(plan, from), first = cpu_first_of(plan, to);
    return first > last + 1 && plan->writers.at[first - 1] > plan->writers.at[last];
}

static Storage decide_load(const CpuPlan *plan, const Op *op, const OpList *roots) {
    enum { MOST_ROOTS = 4 };
    if (roots->count > MOST_ROOTS || op_flag(op, AT_VOLATILE) || is_turned(plan, op)) return STORAGE_MEMORY;
    if (roots->count > 1 && !reads_well(plan, op)) return STORAGE_MEMORY;
    for (size_t i = 0; i < roots->count; i++) {
        const Op *root = roots->at[i];
        if (root->parent != op->parent || writer_between(plan, op, root)) return STORAGE_MEMORY;
        bool stores = op->code == OP_TLOAD && (root->code == OP_TSTORE || cpu_line_box(plan, root) == op);
        if (cpu_writes_memory(root) && !stores) return STORAGE_MEMORY;
    }
    return STORAGE_INLINE;
}

/* In one loop, but here as it is and there transposed: each place is computed by itself. */
static bool is_read_at_two_places(const CpuPlan *plan, Ref v) {
    const OpList *users = &plan->placed[v].users;
    bool moved = false;
    for (size_t i = 0; i < users->count; i++) moved |= !cs_is_elementwise(users->at[i]->code);
    return moved && users->count > 1;
}

static Storage decide(CpuPlan *plan, Op *op, Ref v) {
    const Type *type = ir_type(plan->k, v);
    Placed *placed = &plan->placed[v];
    /* A buffer is memory from its op to the last that reads or writes it, which its roots tell. */
    if (type->kind == TY_BUFFER) find_roots(plan, v);
    if (type->kind != TY_TILE) return STORAGE_NONE;
    if (type->rank == 0) return STORAGE_SCALAR;
    find_roots(plan, v);
    if (!op || !cpu_is_inlinable(plan->k, op)) return STORAGE_MEMORY;
    for (size_t i = 0; i < placed->users.count; i++)
        if (user_wants_memory(plan, placed->users.at[i], v)) return STORAGE_MEMORY;
    if (reads_memory(op)) return placed->roots.count ? decide_load(plan, op, &placed->roots) : STORAGE_INLINE;
    if (is_turned(plan, op)) return STORAGE_MEMORY;
    if (placed->cheap) return STORAGE_INLINE;
    if (placed->roots.count > 1 || is_read_at_two_places(plan, v)) return STORAGE_MEMORY;
    bool elsewhere = placed->roots.count && placed->roots.at[0]->parent != op->parent;
    return elsewhere ? STORAGE_MEMORY : STORAGE_INLINE;
}

/* Small floats that only feed dots are kept as f32, which is what the dot reads. */
static bool only_feeds_dots(const CpuPlan *plan, Ref v) {
    const OpList *users = &plan->placed[v].users;
    for (size_t i = 0; i < users->count; i++) {
        const Op *user = users->at[i];
        if (user->code != OP_DOT || user->operands[2] == v) return false;
    }
    return users->count > 0;
}

static void decide_all(CpuPlan *plan) {
    for (size_t n = plan->order.count; n-- > 0;) {
        Op *op = plan->order.at[n];
        for (int i = 0; i < op->region_count; i++)
            for (int a = 0; a < op->regions[i]->arg_count; a++) {
                Ref arg = op->regions[i]->args[a];
                plan->placed[arg].storage = decide(plan, NULL, arg);
            }
        Storage all = STORAGE_NONE;
        for (int i = 0; i < op->result_count; i++) {
            Storage storage = decide(plan, op, op->results[i]);
            if (storage > all) all = storage;
            plan->placed[op->results[i]].storage = storage;
        }
        /* Results of one op (split) live alike, so that is_inline can ask any of them. */
        for (int i = 0; i < op->result_count && cpu_is_inlinable(plan->k, op); i++)
            plan->placed[op->results[i]].storage = all;
        if (op->result_count == 1 && all == STORAGE_MEMORY && cpu_is_inlinable(plan->k, op))
            plan->placed[op->results[0]].wide = only_feeds_dots(plan, op->results[0]);
    }
}

void cpu_plan(CpuPlan *plan, Kernel *k, Arena *arena) {
    *plan = (CpuPlan){.k = k, .arena = arena};
    plan->placed = ARENA_ARRAY(arena, Placed, k->values.count);
    for (size_t i = 0; i < k->values.count; i++) plan->placed[i].block = -1;
    cpu_search_init(plan);
    number(plan, k->body);
    plan->affine = ARENA_NEW(arena, Analysis);
    affine_init(plan->affine, k, arena, true);
    cpu_find_gemms(plan);
    plan->locks = cpu_locks_lines(plan);
    weigh(plan);
    decide_all(plan);
    cpu_choose_forms(plan);
    cpu_look_ahead(plan);
    cpu_share_blocks(plan);
}
