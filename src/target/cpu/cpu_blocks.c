/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_blocks.c: how the scratch memory is shared out among tiles that live in it.
 *
 * A loop's carried value, its result, and (where nothing still reads them) its initial and its yielded value share
 * one block, so an accumulator is updated in place. Blocks whose times of use do not meet share bytes.
 *
 *     %acc = for .. (%c = %z) { .. %c1 = dot %a, %b, %c ; yield %c1 }
 *
 * Here z is INLINE, and c, c1 and acc share one block. */
#include "target/cpu/cpu_plan.h"

#include <string.h>

/* PANEL_BYTES: the widest panel of prelude/dot.h, K_BLOCK (TW_KC) rows of WIDEST columns. */
enum { BLOCK_ALIGN = 64, K_BLOCK = 256, WIDEST = 64, PANEL_BYTES = 4 * K_BLOCK * WIDEST };

/* The op of the region that is, or holds, this op; NULL if the op is not inside. */
static Op *op_within(Op *op, const Region *region) {
    while (op && op->parent != region) op = op->parent ? op->parent->owner : NULL;
    return op;
}

static bool has_store(const OpList *roots) {
    for (size_t i = 0; i < roots->count; i++)
        if (roots->at[i]->code == OP_TSTORE || roots->at[i]->code == OP_TATOMIC) return true;
    return false;
}

/* --- which elements come from which --- */

/* How the elements of a value come from those of another, through inline values. */
typedef enum Relation { APART, SAME_PLACE, ELSEWHERE } Relation;

/* What is known of a value in the search that began last, so that none is looked at twice. */
struct Search {
    uint32_t *seen; /* by Ref: number of the search */
    uint8_t *relation;
    uint32_t number;
};

static Relation relate_op(const CpuPlan *plan, const Op *op, Ref part);

static Relation relate(const CpuPlan *plan, Ref whole, Ref part) {
    struct Search *search = plan->search;
    if (whole == part) return SAME_PLACE;
    if (!cpu_is_tile(plan->k, whole) || plan->placed[whole].storage != STORAGE_INLINE) return APART;
    if (search->seen[whole] != search->number) {
        search->relation[whole] = (uint8_t)relate_op(plan, cpu_def_of(plan, whole), part);
        search->seen[whole] = search->number;
    }
    return (Relation)search->relation[whole];
}

/* The same for an op, whatever became of its result. */
static Relation relate_op(const CpuPlan *plan, const Op *op, Ref part) {
    const Type *type = ir_type(plan->k, op->results[0]);
    bool elementwise = cs_is_elementwise(op->code) || op->code == OP_CONVERT;
    Relation all = APART;
    for (int i = 0; i < op->operand_count; i++) {
        Relation one = relate(plan, op->operands[i], part);
        if (one == APART) continue;
        const Type *xt = ir_type(plan->k, op->operands[i]);
        if (one == ELSEWHERE || !elementwise || xt->rank != type->rank ||
            memcmp(xt->extent, type->extent, sizeof xt->extent) != 0)
            return ELSEWHERE;
        all = SAME_PLACE;
    }
    return all;
}

void cpu_search_init(CpuPlan *plan) {
    plan->search = ARENA_NEW(plan->arena, struct Search);
    plan->search->seen = ARENA_ARRAY(plan->arena, uint32_t, plan->k->values.count);
    plan->search->relation = ARENA_ARRAY(plan->arena, uint8_t, plan->k->values.count);
}

void cpu_search_begin(const CpuPlan *plan) {
    struct Search *search = plan->search;
    if (++search->number != 0) return;
    memset(search->seen, 0, plan->k->values.count * sizeof *search->seen);
    search->number = 1;
}

bool cpu_search_meets(const CpuPlan *plan, Ref v) {
    struct Search *search = plan->search;
    if (search->seen[v] == search->number) return false;
    search->seen[v] = search->number;
    return true;
}

static bool depends(const CpuPlan *plan, Ref whole, Ref part) {
    cpu_search_begin(plan);
    return relate(plan, whole, part) != APART;
}

static bool op_reads_same_place(const CpuPlan *plan, const Op *op, Ref part) {
    cpu_search_begin(plan);
    return relate_op(plan, op, part) != ELSEWHERE;
}

bool cpu_same_place(const CpuPlan *plan, Ref whole, Ref part) {
    cpu_search_begin(plan);
    return relate(plan, whole, part) != ELSEWHERE;
}

bool cpu_shares_block(const CpuPlan *plan, Ref a, Ref b) {
    if (!cpu_is_tile(plan->k, a) || !cpu_is_tile(plan->k, b)) return false;
    const Placed *x = &plan->placed[a], *y = &plan->placed[b];
    return x->storage == STORAGE_MEMORY && y->storage == STORAGE_MEMORY && x->block == y->block;
}

static int new_block(CpuPlan *plan, int64_t bytes, int start, int end) {
    *VEC_PUSH(&plan->blocks, plan->arena) = (Block){.bytes = bytes, .start = start, .end = end};
    return (int)plan->blocks.count - 1;
}

static Region *region_of(const CpuPlan *plan, Ref v) {
    const Value *value = ir_value(plan->k, v);
    return value->op ? value->op->parent : value->region;
}

/* The last position at which the value is read. */
static int end_of(const CpuPlan *plan, Ref v) {
    const Region *region = region_of(plan, v);
    int end = -1;
    const OpList *roots = &plan->placed[v].roots;
    for (size_t i = 0; i < roots->count; i++) {
        Op *at = op_within(roots->at[i], region);
        int last = at ? cpu_last_of(plan, at) : (int)plan->order.count;
        if (last > end) end = last;
    }
    return end;
}

static void give_block(CpuPlan *plan, Ref v, int block, int start) {
    plan->placed[v].block = block;
    Block *b = &plan->blocks.at[block];
    int end = end_of(plan, v);
    if (start < b->start) b->start = start;
    if (end > b->end) b->end = end;
}

/* Does op read w only at the places at which it writes its result `v`, before writing them? */
static bool reads_in_place(const CpuPlan *plan, const Op *op, Ref v, Ref w) {
    switch (op->code) {
    case OP_DOT: return op->operands[0] != w && op->operands[1] != w && cpu_same_place(plan, op->operands[2], w);
    case OP_INSERT: {
        Ref part = op->operands[op->operand_count - 1];
        return cpu_same_place(plan, op->operands[0], w) && !depends(plan, part, w);
    }
    case OP_SCATTER:
        return cpu_same_place(plan, op->operands[0], w) && !depends(plan, op->operands[1], w) &&
               !depends(plan, op->operands[2], w);
    case OP_FOR:
        for (int i = 0; i < op->result_count; i++) {
            Ref initial = op->operands[3 + i];
            bool fits = op->results[i] == v ? cpu_same_place(plan, initial, w) : !depends(plan, initial, w);
            if (!fits) return false;
        }
        return true;
    default: return cpu_is_inlinable(plan->k, op) && op_reads_same_place(plan, op, w);
    }
}

static Op *innermost_loop(Op *op) {
    for (op = op->parent->owner; op; op = op->parent->owner)
        if (op->code == OP_FOR || op->code == OP_WHILE) return op;
    return NULL;
}

/* May op write its result v into the block, over the values that are there? */
static bool may_overwrite(const CpuPlan *plan, Op *op, Ref v, int block) {
    int now = cpu_first_of(plan, op);
    Op *loop = innermost_loop(op);
    for (size_t w = 1; w < plan->k->values.count; w++) {
        const Placed *old = &plan->placed[w];
        if (old->block != block || w == v) continue;
        const Op *maker = ir_value(plan->k, (Ref)w)->op;
        if (maker && maker != op && cpu_is_inside(op, maker)) continue; /* result of a loop around: read after it */
        const Region *region = region_of(plan, (Ref)w);
        bool own_carried = loop && region->owner == loop && region == op->parent;
        bool from_outside = loop && !own_carried &&
                            !op_within(region->owner ? region->owner : loop, loop->regions[0]) &&
                            region != loop->regions[0];
        for (size_t i = 0; i < old->roots.count; i++) {
            const Op *root = old->roots.at[i];
            int at = cpu_first_of(plan, root);
            if (from_outside && at > cpu_first_of(plan, loop)) return false; /* read again in the next round */
            if (at > now) return false;
            if (at == now && !reads_in_place(plan, op, v, (Ref)w)) return false;
        }
    }
    return true;
}

/* The block in which v is wanted because the loop around it carries it on; -1: none. */
static int wanted_block(const CpuPlan *plan, Op *op, Ref v) {
    Op *yield = op->parent->last, *owner = op->parent->owner;
    if (!owner || owner->code != OP_FOR || yield->code != OP_YIELD || plan->placed[v].wide) return -1;
    for (int i = 0; i < yield->operand_count; i++) {
        if (yield->operands[i] != v) continue;
        int block = plan->placed[op->parent->args[1 + i]].block;
        return may_overwrite(plan, op, v, block) ? block : -1;
    }
    return -1;
}

static bool only_root_is(const CpuPlan *plan, Ref v, const Op *root) {
    const OpList *roots = &plan->placed[v].roots;
    return roots->count == 1 && roots->at[0] == root;
}

static void place_for(CpuPlan *plan, Op *op) {
    Region *body = op->regions[0];
    for (int i = 0; i < op->result_count; i++) {
        Ref result = op->results[i], arg = body->args[1 + i], initial = op->operands[3 + i];
        if (!cpu_is_tile(plan->k, result)) continue;
        int64_t bytes = cpu_tile_bytes(ir_type(plan->k, result), false);
        int block = wanted_block(plan, op, result);
        /* The initial value's own memory goes on as the carried one if the loop is its only reader. */
        bool mine = cpu_is_tile(plan->k, initial) && plan->placed[initial].storage == STORAGE_MEMORY &&
                    !plan->placed[initial].wide && only_root_is(plan, initial, op) &&
                    may_overwrite(plan, op, result, plan->placed[initial].block);
        for (int j = 0; j < op->result_count && mine; j++) mine = j == i || op->operands[3 + j] != initial;
        Op *loop = innermost_loop(op);
        if (mine && loop && region_of(plan, initial) != op->parent) mine = false;
        if (block < 0 && mine) block = plan->placed[initial].block;
        if (block < 0) block = new_block(plan, bytes, cpu_first_of(plan, op), cpu_last_of(plan, op));
        give_block(plan, arg, block, cpu_first_of(plan, op));
        give_block(plan, result, block, cpu_first_of(plan, op));
        Block *b = &plan->blocks.at[block];
        if (b->end < cpu_last_of(plan, op)) b->end = cpu_last_of(plan, op);
    }
}

static void place_while(CpuPlan *plan, Op *op) {
    for (int i = 0; i < op->result_count; i++) {
        Ref result = op->results[i];
        if (!cpu_is_tile(plan->k, result)) continue;
        int64_t bytes = cpu_tile_bytes(ir_type(plan->k, result), false);
        for (int r = 0; r < 2; r++) {
            int block = new_block(plan, bytes, cpu_first_of(plan, op), cpu_last_of(plan, op));
            give_block(plan, op->regions[r]->args[i], block, cpu_first_of(plan, op));
            if (r == 1) give_block(plan, result, block, cpu_first_of(plan, op));
        }
    }
}

static void want_temp(CpuPlan *plan, Op *op, int n, int64_t bytes) {
    OpPlace *place = cpu_place(plan, op);
    place->temp[n] = new_block(plan, bytes, place->first, place->last);
}

static void place_gemm(CpuPlan *plan, Gemm *g) {
    enum { PANEL_FLOATS = 1 << 20, ROWS_FLOATS = 56 << 10 }; /* prelude/gemm.h */
    const Type *c = ir_type(plan->k, g->dot->results[0]);
    int64_t width = (c->extent[1] + WIDEST - 1) / WIDEST * WIDEST;
    OpPlace *place = cpu_place(plan, g->loop);
    bool kept = g->slot >= 0; /* from program to program */
    g->room_k = PANEL_FLOATS / width > K_BLOCK ? PANEL_FLOATS / width : K_BLOCK;
    g->rows = new_block(plan, ROWS_FLOATS * 4, place->first, place->last);
    for (int i = 0; i < 2; i++) {
        int axis;
        cpu_box_vector(plan->k, (i ? &g->b : &g->a)->load, &axis);
        g->lines[i] = axis < 0 ? -1 : new_block(plan, c->extent[i] * 8, place->first, place->last);
    }
    g->panels =
        new_block(plan, g->room_k * width * 4, kept ? 0 : place->first, kept ? (int)plan->order.count : place->last);
}

/* Memory that the op's own loops need. */
static void place_temps(CpuPlan *plan, Op *op) {
    Kernel *k = plan->k;
    switch (op->code) {
    case OP_REDUCE:
    case OP_SCAN:
        for (int i = 0; i < op->operand_count && !cpu_is_inlinable(k, op); i++) {
            const Type *type = ir_type(k, op->operands[i]);
            bool row = op->code == OP_REDUCE && cpu_place(plan, op)->reduce.form == REDUCE_ROWS; /* one at a time */
            int64_t bytes = row ? type->extent[type->rank - 1] * 8 : cpu_tile_bytes(type, true);
            want_temp(plan, op, i, bytes);
        }
        break;
    case OP_SORT: want_temp(plan, op, 0, cpu_tile_bytes(cpu_sort_keys(k, op), false)); break;
    case OP_FOR: {
        Gemm *g = cpu_gemm(plan, op);
        if (g) place_gemm(plan, g);
        break;
    }
    case OP_PRINT:
        for (int i = 0; i < op->operand_count; i++) {
            const Type *type = ir_type(k, op->operands[i]);
            if (type->kind == TY_TILE) want_temp(plan, op, i, cpu_tile_bytes(type, false));
        }
        break;
    case OP_DOT:
        if (cpu_gemm(plan, op)) break;
        cpu_place(plan, op)->room = new_block(plan, PANEL_BYTES, cpu_first_of(plan, op), cpu_last_of(plan, op));
        for (int i = 0; i < 3; i++) {
            const Type *type = ir_type(k, op->operands[i]);
            OperandForm form = cpu_place(plan, op)->dot.form[i];
            if (form == OPERAND_THERE) continue;
            want_temp(plan, op, i, cpu_lines_offset(type) + (form == OPERAND_LINES ? cpu_lines_bytes(type) : 0));
        }
        break;
    case OP_YIELD: {
        /* A value that lies where another one is about to be written is copied aside first. */
        Op *owner = op->parent->owner;
        for (int i = 0; owner && owner->code == OP_FOR && i < op->operand_count; i++) {
            Ref v = op->operands[i];
            if (!cpu_is_tile(plan->k, v) || cpu_shares_block(plan, v, op->parent->args[1 + i])) continue;
            for (int j = 0; j < op->operand_count; j++)
                if (j != i && cpu_is_tile(plan->k, op->operands[j]) &&
                    cpu_shares_block(plan, v, op->parent->args[1 + j]) &&
                    !cpu_shares_block(plan, op->operands[j], op->parent->args[1 + j]))
                    want_temp(plan, op, i, cpu_tile_bytes(ir_type(k, v), false));
        }
        break;
    }
    default: break;
    }
}

static void place_op(CpuPlan *plan, Op *op) {
    if (op->code == OP_FOR)
        place_for(plan, op);
    else if (op->code == OP_WHILE)
        place_while(plan, op);
    for (int i = 0; i < op->result_count; i++) {
        Ref v = op->results[i];
        Placed *placed = &plan->placed[v];
        const Type *type = ir_type(plan->k, v);
        if (type->kind == TY_BUFFER) {
            placed->block =
                new_block(plan, cpu_tile_bytes(type, false), cpu_first_of(plan, op), cpu_first_of(plan, op));
            give_block(plan, v, placed->block, cpu_first_of(plan, op));
            continue;
        }
        bool fallback = placed->storage == STORAGE_INLINE && op->code == OP_TLOAD && has_store(&placed->roots);
        if ((placed->storage != STORAGE_MEMORY && !fallback) || placed->block >= 0) continue;
        int block = fallback ? -1 : wanted_block(plan, op, v);
        if (block < 0)
            block = new_block(plan, cpu_tile_bytes(type, placed->wide), cpu_first_of(plan, op), cpu_last_of(plan, op));
        give_block(plan, v, block, cpu_first_of(plan, op));
    }
    place_temps(plan, op);
}

/* --- sharing bytes --- */

static void pack_blocks(CpuPlan *plan) {
    for (size_t n = 0; n < plan->blocks.count; n++) {
        Block *block = &plan->blocks.at[n];
        int64_t offset = plan->slots ? GEMM_SLOTS * GEMM_SLOT_BYTES : 0;
        for (bool moved = true; moved;) {
            moved = false;
            for (size_t m = 0; m < n; m++) {
                const Block *other = &plan->blocks.at[m];
                bool together = other->start <= block->end && block->start <= other->end;
                bool overlap = offset < other->offset + other->bytes && other->offset < offset + block->bytes;
                if (!together || !overlap) continue;
                offset = (other->offset + other->bytes + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
                moved = true;
            }
        }
        block->offset = offset;
        if (offset + block->bytes > plan->scratch) plan->scratch = offset + block->bytes;
    }
}

/* Workers run side by side: what one of them uses is in use as long as any of them runs. */
static void hold_while_workers_run(CpuPlan *plan) {
    for (size_t n = 0; n < plan->order.count; n++) {
        const Op *op = plan->order.at[n];
        if (op->code != OP_SPMD) continue;
        int first = cpu_first_of(plan, op), last = cpu_last_of(plan, op);
        for (size_t i = 0; i < plan->blocks.count; i++) {
            Block *b = &plan->blocks.at[i];
            if (b->start <= first || b->start > last) continue;
            b->start = first;
            if (b->end < last) b->end = last;
        }
    }
}

void cpu_share_blocks(CpuPlan *plan) {
    for (size_t n = 0; n < plan->order.count; n++) place_op(plan, plan->order.at[n]);
    hold_while_workers_run(plan);
    pack_blocks(plan);
}
