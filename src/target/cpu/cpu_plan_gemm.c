/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_plan_gemm.c: which loops are products: those whose rounds only add a dot of two boxes to one sum become one
 * product of global matrices (prelude/gemm.h): no tile of A or B is ever made, and the sum stays in registers
 * for hundreds of steps instead of one round.
 *
 *     %r = for %i = 0, %n, 1 (%c = %z) {
 *       %k = mul %i, 32
 *       %a = tload %A, [%m, %k] : f32[128,32] ; %b = tload %B, [%k, %j] : f32[32,128]
 *       %s = dot %a, %b, %c ; yield %s }
 *
 * What makes it one: the boxes move by exactly their own extent along K, everything else stays.
 * The boxes may be transposed, of a smaller float, and hang over any edge. By the chain rule of
 * the dot (docs/ir.md) the result is the same in every bit. Panels of B are kept from program to
 * program where no store of the kernel can come between. */
#include "analysis/affine.h"
#include "target/cpu/cpu_plan.h"

Gemm *cpu_gemm(const CpuPlan *plan, const Op *op) {
    MapEntry *entry = map_find_number(&plan->gemms, (uint64_t)(uintptr_t)op);
    return entry ? entry->value : NULL;
}

static bool has_one_user(const CpuPlan *plan, Ref r) { return plan->placed[r].users.count == 1; }

/* Through permutes and widening casts to a box, without bounds that a gather does not know, nor more than one index
 * vector. */
static bool find_box(const CpuPlan *plan, const Op *user, Ref operand, DotBox *box) {
    int axis[2] = {0, 1};
    for (;; operand = box->load->operands[0]) {
        if (!ref_is_value(operand) || !has_one_user(plan, operand)) return false;
        Op *op = ir_value(plan->k, operand)->op;
        if (!op || op->parent != user->parent) return false;
        box->load = op;
        if (op->code == OP_TLOAD) break;
        if (op->code == OP_PERMUTE && ir_type(plan->k, operand)->rank == 2) {
            if (op_attr(op, AT_DIMS)->list.at[0] == 0) continue;
            int other = axis[0];
            axis[0] = axis[1], axis[1] = other;
        } else if (op->code != OP_CAST || ir_type(plan->k, operand)->elem != EL_F32)
            return false;
    }
    const Type *tile = ir_type(plan->k, box->load->results[0]);
    Elem elem = tile->elem;
    int vector;
    if (tile->rank != 2 || op_operand(box->load, 1) || op_attr(box->load, AT_WRAP)) return false;
    if (!ir_fills_zero(plan->k, box->load) || !cpu_box_vector(plan->k, box->load, &vector)) return false;
    box->rows = axis[0], box->columns = axis[1];
    return elem == EL_F32 || elem == EL_BF16 || elem == EL_F16;
}

bool cpu_dot_box(const CpuPlan *plan, const Op *dot, int operand, DotBox *box) {
    const Type *c = ir_type(plan->k, dot->results[0]);
    return c->rank == 2 && c->elem == EL_F32 && !cpu_gemm(plan, dot) &&
           find_box(plan, dot, dot->operands[operand], box);
}

static bool is_made_inside(const CpuPlan *plan, Ref r, const Op *loop) {
    const Value *v = ir_value(plan->k, r);
    return cpu_is_inside(v->op ? v->op : v->region->owner, loop);
}

static bool match_side(const CpuPlan *plan, const Op *loop, const Op *dot, int operand, GemmSide *side) {
    DotBox box;
    if (!find_box(plan, dot, dot->operands[operand], &box)) return false;
    const Op *load = side->load = box.load;
    side->k = operand == 0 ? box.columns : box.rows;
    side->line = operand == 0 ? box.rows : box.columns;
    /* Along K the box moves on by itself, and along nothing else. */
    const Type *tile = ir_type(plan->k, load->results[0]);
    int rank = ir_type(plan->k, load->operands[0])->rank;
    RefList offsets = op_list(load, 0);
    for (int d = 0; d < rank; d++) {
        int axis = box_axis(load, rank, 2, d);
        int64_t grows = 0;
        if (ir_type(plan->k, offsets.at[d])->rank) { /* lines that are the same ones in every round */
            if (axis != side->line || is_made_inside(plan, offsets.at[d], loop)) return false;
            continue;
        }
        if (!affine_growth(plan->affine, loop, offsets.at[d], &grows)) return false;
        if (grows != (axis == side->k ? tile->extent[side->k] : 0)) return false;
    }
    const Op *tensor = ir_value(plan->k, load->operands[0])->op;
    return !tensor || !cpu_is_inside(tensor, loop);
}

/* --- who looks at the rows and columns behind the edges? --- */

/* Offset and extent of an axis of a box. */
static void axis_place(const CpuPlan *plan, const Op *op, int axis, Ref *offset, Ref *extent) {
    int d = box_dim(op, ir_type(plan->k, op->operands[0])->rank, 2, axis);
    const Op *tensor = ir_value(plan->k, op->operands[0])->op;
    *offset = op_list(op, 0).at[d];
    *extent = tensor ? op_list(tensor, 0).at[d] : op->operands[0]; /* a parameter has its own */
}

static bool cuts_alike(const CpuPlan *plan, const Op *store, int axis, const GemmSide *side) {
    Ref offset, extent, its_offset, its_extent;
    axis_place(plan, store, axis, &offset, &extent);
    axis_place(plan, side->load, side->line, &its_offset, &its_extent);
    return extent && offset == its_offset && extent == its_extent && !op_flag(store, AT_NOCHECK) &&
           !op_flag(side->load, AT_NOCHECK);
}

/* Is the value only stored, to a tensor with the same edges? */
static bool only_stored(const CpuPlan *plan, const Gemm *g, Ref v) {
    const OpList *users = &plan->placed[v].users;
    for (size_t i = 0; i < users->count; i++) {
        const Op *user = users->at[i];
        if (user->code == OP_TSTORE && op_operand(user, 1) == v && !op_attr(user, AT_WRAP)) {
            if (!cuts_alike(plan, user, 0, &g->a) || !cuts_alike(plan, user, 1, &g->b)) return false;
            continue;
        }
        bool same = cs_is_elementwise(user->code) && user->result_count == 1 &&
                    ir_type(plan->k, user->results[0])->rank == 2 && !ir_type(plan->k, user->results[0])->pointer;
        for (int d = 0; d < 2 && same; d++)
            same = ir_type(plan->k, user->results[0])->extent[d] == ir_type(plan->k, v)->extent[d];
        if (!same || !only_stored(plan, g, user->results[0])) return false;
    }
    return true;
}

/* Does nothing of a program write to memory before the loop? (Programs have no order.) */
static bool comes_before_writes(const Op *loop) {
    for (const Op *at = loop; at; at = at->parent ? at->parent->owner : NULL) {
        for (const Op *op = at->parent->first; op != at; op = op->next)
            if (cpu_writes_memory(op)) return false;
        const Op *owner = at->parent->owner;
        bool repeats = owner && owner->code != OP_IF;
        for (const Op *op = at->next; op && repeats; op = op->next)
            if (cpu_writes_memory(op)) return false;
    }
    return true;
}

static bool is_known_at(const CpuPlan *plan, Ref r, const Op *at) {
    const Op *op = ref_is_value(r) ? ir_value(plan->k, r)->op : NULL;
    return !op || op->parent != at->parent || cpu_place(plan, op)->first < cpu_place(plan, at)->first;
}

/* The store that takes the sum as it is, if its place is known before the loop; NULL: none. */
static Op *find_store(const CpuPlan *plan, const Gemm *g) {
    const OpList *users = &plan->placed[g->loop->results[0]].users;
    Op *store = users->count == 1 ? users->at[0] : NULL;
    if (!g->skip || !store || store->code != OP_TSTORE || store->parent != g->loop->parent) return NULL;
    if (op_operand(store, 2) || box_is_indexed(plan->k, store)) return NULL;
    for (const Op *op = g->loop->next; op != store; op = op->next)
        if (op_has(op->code, TRAIT_READS) || cpu_writes_memory(op)) return NULL;
    const Op *tensor = ir_value(plan->k, store->operands[0])->op;
    RefList offsets = op_list(store, 0);
    bool known = true;
    for (int i = 0; i < offsets.count; i++) known = known && is_known_at(plan, offsets.at[i], g->loop);
    for (int i = 0; tensor && tensor->parent == store->parent && i < tensor->operand_count; i++)
        known = known && is_known_at(plan, tensor->operands[i], g->loop);
    return known ? store : NULL;
}

static void match(CpuPlan *plan, Op *loop) {
    Region *body = loop->regions[0];
    Op *yield = body->last;
    if (loop->result_count != 1) return;
    if (!ref_is_value(yield->operands[0])) return;
    Op *dot = ir_value(plan->k, yield->operands[0])->op;
    if (!dot || dot->code != OP_DOT || dot->parent != body || dot->operands[2] != body->args[1]) return;
    const Type *c = ir_type(plan->k, dot->results[0]);
    if (c->rank != 2 || c->elem != EL_F32) return;
    if (!has_one_user(plan, dot->results[0]) || !has_one_user(plan, body->args[1])) return;
    Gemm g = {.loop = loop, .dot = dot, .slot = -1};
    if (!match_side(plan, loop, dot, 0, &g.a) || !match_side(plan, loop, dot, 1, &g.b)) return;
    /* The rest of the body is scalars, computed for the first round alone. */
    for (Op *op = body->first; op != yield; op = op->next) {
        if (op == dot || op->code == OP_PERMUTE || op == g.a.load || op == g.b.load) continue;
        if (op->code == OP_CAST && ir_type(plan->k, op->results[0])->rank == 2) continue;
        bool scalar = op->result_count == 1 && ty_is_scalar(ir_type(plan->k, op->results[0]));
        if (!scalar || !op_has(op->code, TRAIT_PURE) || op->region_count) return;
    }
    /* Unless the kernel widens them itself. */
    g.pairs =
        ir_type(plan->k, dot->operands[0])->elem == EL_BF16 && ir_type(plan->k, dot->operands[1])->elem == EL_BF16;
    g.skip = only_stored(plan, &g, loop->results[0]);
    g.store = find_store(plan, &g);
    if (comes_before_writes(loop) && plan->slots < GEMM_SLOTS) g.slot = plan->slots++;
    Gemm *kept = arena_copy(plan->arena, &g, sizeof g);
    map_put_number(&plan->gemms, plan->arena, (uint64_t)(uintptr_t)loop, kept);
    map_put_number(&plan->gemms, plan->arena, (uint64_t)(uintptr_t)dot, kept);
}

void cpu_find_gemms(CpuPlan *plan) {
    for (size_t i = 0; i < plan->order.count; i++)
        if (plan->order.at[i]->code == OP_FOR) match(plan, plan->order.at[i]);
}
