/* SPDX-License-Identifier: Apache-2.0 */
/* merge_written.c: regions of threads that do not become tile operations: they run as they are written.
 *
 * The memory that each thread has for itself goes inside, where it is a thread's own; a buffer that tile operations
 * read or write, too, keeps an element for each thread and stays outside. A block gets as many warps as the region has
 * threads for. */
#include "ir/threads.h"
#include "pass/merge/merge.h"

#include <string.h>

static bool is_access(const Op *op) {
    return op->code == OP_BLOAD || op->code == OP_BSTORE || op->code == OP_BATOMIC;
}

typedef struct Uses { /* of a buffer */
    Ref buffer;
    const Op *spmd;
    bool others; /* other uses than of a thread's own part, in the region */
} Uses;

static bool is_inside(const Op *op, const Op *spmd) {
    while (op && op != spmd) op = op->parent ? op->parent->owner : NULL;
    return op != NULL;
}

static void look_at_use(Op *op, void *user) {
    Uses *u = user;
    bool uses = false;
    for (int i = 0; i < op->operand_count; i++) uses |= op->operands[i] == u->buffer;
    if (!uses) return;
    RefList at = is_access(op) ? op_list(op, 0) : (RefList){0};
    const Region *region = u->spmd->regions[0];
    bool own = is_inside(op, u->spmd) && op->operands[0] == u->buffer && at.count >= region->arg_count;
    for (int d = 0; own && d < region->arg_count; d++) own = at.at[d] == region->args[d];
    u->others |= !own;
}

typedef struct Move {
    Kernel *k;
    Ref from, to;
    int lead; /* indices that go */
} Move;

static void move_use(Op *op, void *user) {
    const Move *m = user;
    if (!is_access(op) || op->operands[0] != m->from) return;
    Builder b = ir_builder_before(m->k, op);
    Ref at[MAX_RANK] = {ir_int(&b, EL_I32, 0)};
    RefList all = op_list(op, 0);
    int count = all.count - m->lead;
    memcpy(at, all.at + m->lead, (size_t)count * sizeof *at);
    Op *made = ir_begin(&b, op->code);
    ir_operand(&b, made, m->to);
    ir_operand_list(&b, made, 0, at, count ? count : 1);
    if (op->code != OP_BLOAD) ir_operand(&b, made, op_operand(op, 1));
    for (int i = 0; i < op->attr_count; i++) op_set(m->k, made, op->attrs[i]);
    Ref result = ir_end(&b, made, op->result_count ? ir_type(m->k, op->results[0]) : NULL);
    if (op->result_count) ir_name(m->k, result, ir_value(m->k, op->results[0])->name);
    if (op->result_count) ir_replace_all(m->k, op->results[0], result);
    ir_remove(op);
}

static void move_inside(Kernel *k, Op *buf, Op *spmd) {
    Region *region = spmd->regions[0];
    const Value value = *ir_value(k, buf->results[0]);
    const Type *type = value.type;
    int lead = region->arg_count, rank = type->rank - lead;
    Builder b = ir_builder(k, region);
    b.before = region->first;
    b.range = buf->range;
    const Type *own = rank ? ty_buffer(k->module, type->elem, rank, type->extent + lead, SCOPE_LOCAL)
                           : ty_buffer(k->module, type->elem, 1, &(int64_t){1}, SCOPE_LOCAL);
    Move m = {k, buf->results[0], ir_buffer(&b, own, value.name), lead};
    ir_walk(region, move_use, &m);
    ir_remove(buf);
}

typedef struct Tiles {
    const Kernel *k;
    bool found;
} Tiles;

/* Threads have scalars: a tile is somebody's who is more than one. */
static void look_for_tile(Op *op, void *user) {
    Tiles *t = user;
    for (int i = 0; i < op->operand_count; i++)
        t->found |= op->operands[i] && ir_type(t->k, op->operands[i])->kind == TY_TILE &&
                    ir_type(t->k, op->operands[i])->rank > 0;
    for (int i = 0; i < op->result_count; i++)
        t->found |= ir_type(t->k, op->results[i])->kind == TY_TILE && ir_type(t->k, op->results[i])->rank > 0;
    t->found |= op->code == OP_SPMD || op->code == OP_PARALLEL || op->code == OP_ASYNC_COPY;
}

/* Does the machine run it as it is? Warps that are not full cannot meet. */
bool merge_may_write(const PassContext *cx, const Kernel *k, const Op *spmd) {
    int64_t threads = 1, extent, lanes = cx->machine ? cx->machine->lanes : 0;
    for (int d = 0; d < spmd->operand_count; d++)
        threads *= ir_const_int(k, spmd->operands[d], &extent) ? extent : 1;
    bool meets = ir_list(spmd->regions[0], OP_SYNC, cx->scratch).count > 0;
    meets |= ir_list(spmd->regions[0], OP_SHFL, cx->scratch).count > 0;
    Tiles tiles = {k, false};
    ir_walk(spmd->regions[0], look_for_tile, &tiles);
    return !cx->machine || (!tiles.found && cx->machine->runs_workers && (!lanes || !meets || threads % lanes == 0));
}

/* --- what had better run as it is written --- */
static bool is_made_of(const Kernel *k, Ref ref, Ref of, int depth) {
    enum { DEEPEST = 16 };
    const Op *op = ref_is_value(ref) ? ir_value(k, ref)->op : NULL;
    if (ref == of) return true;
    if (!op || depth > DEEPEST || op->region_count) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (is_made_of(k, op->operands[i], of, depth + 1)) return true;
    return false;
}

/* An element of the thread's own, at a place that the loop makes, is written. */
static bool writes_along(const Kernel *k, const Op *spmd, const Region *region, Ref variable) {
    const Region *threads = spmd->regions[0];
    for (const Op *op = region->first; op; op = op->next) {
        for (int r = 0; r < op->region_count; r++)
            if (writes_along(k, spmd, op->regions[r], variable)) return true;
        RefList at = op->code == OP_BSTORE ? op_list(op, 0) : (RefList){0};
        bool own = at.count > threads->arg_count;
        for (int d = 0; own && d < threads->arg_count; d++) own = at.at[d] == threads->args[d];
        for (int d = threads->arg_count; own && d < at.count; d++)
            if (is_made_of(k, at.at[d], variable, 0)) return true;
    }
    return false;
}

static const Op *find_winding(const Kernel *k, const Op *spmd, const Region *region, Ref around) {
    for (const Op *op = region->first; op; op = op->next) {
        bool loop = op->code == OP_FOR;
        if (loop && around &&
            (is_made_of(k, op->operands[0], around, 0) || is_made_of(k, op->operands[1], around, 0)) &&
            writes_along(k, spmd, op->regions[0], op->regions[0]->args[0]))
            return op;
        for (int r = 0; r < op->region_count; r++) {
            const Op *found = find_winding(k, spmd, op->regions[r], loop ? op->regions[r]->args[0] : around);
            if (!found && loop && around) found = find_winding(k, spmd, op->regions[r], around);
            if (found) return found;
        }
    }
    return NULL;
}

/* A loop that shows threads an element a trip of what each has in an array of its own, and writes one back. */
static bool exchanges_own(const PassContext *cx, const Kernel *k, const Op *spmd) {
    FoundOps shuffles = ir_list(spmd->regions[0], OP_SHFL, cx->scratch);
    for (size_t i = 0; i < shuffles.count; i++) {
        const Op *loop = shuffles.at[i]->parent->owner;
        if (loop && loop->code == OP_FOR && writes_along(k, spmd, loop->regions[0], loop->regions[0]->args[0]))
            return true;
    }
    return false;
}

const char *merge_had_better(const PassContext *cx, const Kernel *k, const Op *spmd, Range *where) {
    const Op *winding = find_winding(k, spmd, spmd->regions[0], REF_NONE);
    if (winding) *where = winding->range;
    if (winding) return "a loop as long as another one says steps through an array of each thread";
    return exchanges_own(cx, k, spmd) ? "a loop exchanges elements of arrays that each thread has for itself" : NULL;
}

static void need_warps(Kernel *k, int64_t warps) {
    if (warps > kernel_int(k, AT_WRITTEN, 0)) kernel_set(k, (Attr){.id = AT_WRITTEN, .number = warps});
}

/* Tiles that all workers share are made outside of what each of them gets a copy of: there is one of each, wherever in
 * the region it is declared. */
void merge_share_outside(PassContext *cx, Kernel *k) {
    FoundOps regions = ir_list(k->body, OP_SPMD, cx->scratch);
    for (size_t r = 0; r < regions.count; r++) {
        Op *spmd = regions.at[r];
        if (op_word(spmd, AT_UNIT, UNIT_THREAD) == UNIT_THREAD || spmd->region_count > 1) continue;
        FoundOps buffers = ir_list(spmd->regions[0], OP_BUF, cx->scratch);
        for (size_t i = 0; i < buffers.count; i++)
            if (ir_type(k, buffers.at[i]->results[0])->scope == SCOPE_SHARED)
                ir_move(buffers.at[i], spmd->parent, spmd);
    }
}

Op *merge_workers_apart(PassContext *cx, Kernel *k, Op *spmd) {
    enum { MOST = 16 };
    int64_t workers;
    if (op_word(spmd, AT_UNIT, UNIT_THREAD) == UNIT_THREAD || spmd->region_count > 1) return spmd;
    const Op *around = spmd; /* in a role, they are a template's; in a region that went, there is another one of them */
    while (around && around->code != OP_ROLE) around = around->parent ? around->parent->owner : NULL;
    if (around || spmd->operand_count != 1 || !ir_const_int(k, spmd->operands[0], &workers) || workers < 2 ||
        workers > MOST)
        return spmd;
    Builder b = ir_builder_before(k, spmd);
    b.range = spmd->range;
    Op *made = ir_begin(&b, OP_SPMD);
    for (int64_t w = 0; w < workers; w++) ir_region(&b, made);
    ir_operand(&b, made, spmd->operands[0]);
    ir_argument(k, made->regions[0], ir_type(k, spmd->regions[0]->args[0]), NULL);
    for (int i = 0; i < spmd->attr_count; i++) op_set(k, made, spmd->attrs[i]);
    ir_end(&b, made, NULL);
    for (int64_t w = 0; w < workers; w++) {
        RefMap map = {.arena = cx->scratch};
        Builder in = ir_builder_inside(&b, made->regions[w]);
        refmap_set(&map, spmd->regions[0]->args[0], ir_int(&in, EL_I32, w));
        ir_clone_region(&in, spmd->regions[0], &map);
    }
    ir_remove(spmd);
    return made;
}

void merge_workers_written(PassContext *cx, Kernel *k, const Op *spmd) {
    if (cx->machine && !cx->machine->runs_workers) {
        diag_emit(cx->module->diag, DIAG_WORKERS, spmd->range, cx->machine->name);
        return;
    }
    if (cx->machine && threads_worker(spmd)) {
        diag_emit(cx->module->diag, DIAG_THREADS, spmd->range, cx->machine->name, "they are workers of a worker");
        return;
    }
    int64_t warps = op_word(spmd, AT_UNIT, UNIT_THREAD) == UNIT_WARP ? 1 : 4;
    need_warps(k, warps * spmd->region_count);
    pass_find(cx, spmd->range, FIND_WORKERS_WRITTEN, spmd->region_count);
}

void merge_written(PassContext *cx, Kernel *k, Op *spmd, const char *why, Range where) {
    FoundOps buffers = ir_list(k->body, OP_BUF, cx->scratch);
    int64_t threads = 1, extent, warp = cx->machine && cx->machine->lanes ? cx->machine->lanes : 32;
    for (int d = 0; d < spmd->operand_count; d++)
        threads *= ir_const_int(k, spmd->operands[d], &extent) ? extent : 1;
    for (size_t i = 0; i < buffers.count; i++) {
        Op *buf = buffers.at[i];
        Uses uses = {buf->results[0], spmd, false};
        if (is_inside(buf, spmd) || ir_type(k, buf->results[0])->scope != SCOPE_LOCAL) continue;
        ir_walk(k->body, look_at_use, &uses);
        if (!uses.others) move_inside(k, buf, spmd);
    }
    need_warps(k, (threads + warp - 1) / warp);
    op_set(k, spmd, (Attr){.id = AT_WRITTEN_OUT, .number = 1});
    pass_find(cx, where, FIND_THREADS_WRITTEN, why);
}
