/* SPDX-License-Identifier: Apache-2.0 */
/* merge_roles.c: warpgroups that part by number and meet at barriers, as one program.
 *
 *     spmd %w in 3 <unit=warpgroup> {                          a, b: every worker's own, one behind the other
 *       if %w == 2 { for %k { wait; load; arrive } }      ->   for %k { wait; load; arrive; wait; dot(0); arrive; .. }
 *       { for %k { wait; dot; arrive }; store } }              store(0); store(1)
 *
 * Those that write shared memory in the loop come first. The order is a guess: merge_barriers.c proves that every wait
 * passes in it, so it is one that the workers may take, and whatever order they take gives the same where they do not
 * race. Where all meet (`sync`), all come before any goes on. */
#include "ir/barriers.h"
#include "ir/roles.h"
#include "pass/fold/fold.h"
#include "pass/merge/merge.h"

enum { MOST_WORKERS = 8 };

typedef struct Roles {
    Kernel *k;
    Arena *arena;
    Op *spmd;
    bool quiet;      /* else they run as they are written */
    Builder before;  /* the region of workers */
    RefMap common;   /* pure numbers that are the same for all: made once */
    bool *by_worker; /* by Ref */
    Region *parts[MOST_WORKERS];
    int64_t workers;
} Roles;

static bool is_mine(const Roles *r, Ref ref) { return ref_is_value(ref) && r->by_worker[ref]; }

static void mark(Op *op, void *user) {
    Roles *r = user;
    bool mine = !op_has(op->code, TRAIT_PURE) || op->region_count || op->code == OP_BUF;
    for (int i = 0; i < op->operand_count; i++) mine = mine || is_mine(r, op->operands[i]);
    for (int i = 0; i < op->result_count; i++)
        r->by_worker[op->results[i]] = mine || ir_type(r->k, op->results[i])->rank;
    for (int n = 0; n < op->region_count; n++)
        for (int i = 0; i < op->regions[n]->arg_count; i++) r->by_worker[op->regions[n]->args[i]] = true;
}

/* A number that only the worker's decides. */
static bool number_of(const Roles *r, const RefMap *map, Ref ref, int64_t *out) {
    if (ir_const_int(r->k, refmap_get((RefMap *)map, ref), out)) return true;
    const Op *op = ref_is_value(ref) ? ir_value(r->k, ref)->op : NULL;
    int64_t x, y;
    if (!op || op->operand_count != 2 || op->region_count) return false;
    if (!number_of(r, map, op->operands[0], &x) || !number_of(r, map, op->operands[1], &y)) return false;
    switch (op->code) {
    case OP_CMP:
        switch (op_word(op, AT_PRED, WORD_NONE)) {
        case CMP_EQ: *out = x == y; return true;
        case CMP_NE: *out = x != y; return true;
        case CMP_LT: *out = x < y; return true;
        case CMP_LE: *out = x <= y; return true;
        case CMP_GT: *out = x > y; return true;
        case CMP_GE: *out = x >= y; return true;
        default: return false;
        }
    case OP_OR: *out = x | y; return true;
    case OP_AND: *out = x & y; return true;
    default: return false;
    }
}

static void clone_for(Roles *r, Builder *b, const Region *region, RefMap *map) {
    for (const Op *op = region->first; op; op = op->next) {
        int64_t chosen;
        bool common = op->result_count == 1 && !r->by_worker[op->results[0]] && op->code != OP_YIELD;
        if (op->code == OP_YIELD) continue;
        if (common) {
            if (refmap_get(&r->common, op->results[0]) == op->results[0]) ir_clone(&r->before, op, &r->common);
            refmap_set(map, op->results[0], refmap_get(&r->common, op->results[0]));
        } else if (op->code == OP_IF && number_of(r, map, op->operands[0], &chosen)) {
            const Region *side = op->regions[chosen ? 0 : 1];
            clone_for(r, b, side, map);
            for (int i = 0; i < op->result_count; i++)
                refmap_set(map, op->results[i], refmap_get(map, side->last->operands[i]));
        } else {
            ir_clone(b, op, map);
        }
    }
}

static bool has_bars(const Op *op, Arena *arena) {
    const Region *body = op->region_count ? op->regions[0] : NULL;
    return body && (ir_list(body, OP_BAR_WAIT, arena).count || ir_list(body, OP_BAR_ARRIVE, arena).count);
}

static bool writes_shared(const Roles *r, const Op *loop) {
    FoundOps stores = ir_list(loop->regions[0], OP_BSTORE, r->arena);
    for (size_t i = 0; i < stores.count; i++)
        if (ir_type(r->k, stores.at[i]->operands[0])->scope == SCOPE_SHARED) return true;
    return false;
}

static bool is_meeting(const Op *op) {
    return op->code == OP_SYNC && op_word(op, AT_UNIT, UNIT_BLOCK) == UNIT_BLOCK && !op_attr(op, AT_ID);
}

/* Moves ops of the part up to `end`, syncs dropped. */
static void move_until(Builder *b, Region *part, const Op *end) {
    for (Op *op = part->first, *next; op && op != end; op = next) {
        next = op->next;
        if (op->code == OP_SYNC) ir_remove(op);
        else ir_move(op, b->region, b->before);
    }
}

/* Everything up to the next meeting of all; false: no order is known. */
static bool lay_stretch(Roles *r, Builder *b, const Op *const *ends) {
    Op *loops[MOST_WORKERS];
    int order[MOST_WORKERS], count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int w = 0; w < r->workers; w++) {
            Op *loop = NULL;
            int found = 0;
            for (Op *op = r->parts[w]->first; op && op != ends[w]; op = op->next)
                if (r->workers > 1 && op->code == OP_FOR && has_bars(op, r->arena)) loop = op, found++;
            if (found > 1) return false;
            bool first = loop ? writes_shared(r, loop) : ir_list(r->parts[w], OP_BAR_WAIT, r->arena).count == 0;
            if (first != (pass == 0)) continue;
            order[count] = w;
            loops[count++] = loop;
        }
    const Op *one = NULL;
    Op *fused[MOST_WORKERS];
    int fusing = 0;
    for (int i = 0; i < count; i++) {
        if (!loops[i]) continue;
        for (int o = 0; one && o < 3; o++)
            if (one->operands[o] != loops[i]->operands[o]) return false;
        one = loops[i];
        fused[fusing++] = loops[i];
    }
    for (int i = 0; i < count; i++) move_until(b, r->parts[order[i]], loops[i] ? loops[i] : ends[order[i]]);
    Builder loop = *b;
    Op *behind = NULL;
    for (int i = 0; i < count; i++) {
        if (!loops[i]) continue;
        for (Op *op = loops[i]->next, *after; op && op != ends[order[i]]; op = after) {
            after = op->next;
            if (op->code == OP_SYNC) {
                ir_remove(op);
                continue;
            }
            ir_move(op, b->region, b->before);
            if (!behind) behind = op;
        }
    }
    if (behind) loop.before = behind;
    if (fusing) {
        merge_fuse_loops(r->k, r->arena, fused, fusing, &loop);
        for (int i = 0; i < fusing; i++) ir_remove(fused[i]);
    }
    for (int w = 0; w < r->workers; w++)
        if (ends[w]) ir_remove((Op *)ends[w]);
    return true;
}

static bool refuse(Roles *r, const char *why) {
    if (!r->quiet) diag_emit(r->k->module->diag, DIAG_MERGE_RESISTS, r->spmd->range, "spmd", why);
    return false;
}

static bool lay_out(Roles *r, Builder *b) {
    for (;;) {
        const Op *ends[MOST_WORKERS];
        int meeting = 0, left = 0;
        for (int w = 0; w < r->workers; w++) {
            ends[w] = r->parts[w]->first;
            while (ends[w] && !is_meeting(ends[w])) ends[w] = ends[w]->next;
            meeting += ends[w] != NULL;
            left += r->parts[w]->first != NULL;
        }
        if (!left) return true;
        if (meeting && meeting != r->workers)
            return refuse(r, "some warpgroups meet at a barrier of the block that others never reach"
                          FIX "let all of them reach it, or name a barrier for those that do");
        if (!lay_stretch(r, b, ends))
            return refuse(r, "its warpgroups do not share one loop with one range"
                          FIX "give their loops the same bounds");
    }
}

static bool order_workers(PassContext *cx, Kernel *k, bool quiet) {
    FoundOps found = ir_list(k->body, OP_SPMD, cx->scratch);
    if (found.count != 1 || !ir_list(k->body, OP_BAR, cx->scratch).count) return false;
    Roles r = {.k = k, .arena = cx->scratch, .spmd = found.at[0], .quiet = quiet};
    if (r.spmd->region_count > 1 || op_word(r.spmd, AT_UNIT, UNIT_THREAD) != UNIT_WARPGROUP ||
        r.spmd->parent != k->body)
        return false;
    if (!ir_const_int(k, r.spmd->operands[0], &r.workers) || r.workers > MOST_WORKERS)
        return refuse(&r, "it has too many warpgroups" FIX "use a smaller, constant number of them");
    r.before = ir_builder_before(k, r.spmd);
    r.common.arena = cx->scratch;
    r.by_worker = ARENA_ARRAY(cx->scratch, bool, k->values.count);
    r.by_worker[r.spmd->regions[0]->args[0]] = true;
    ir_walk(r.spmd->regions[0], mark, &r);
    for (int w = 0; w < r.workers; w++) {
        RefMap map = {.arena = cx->scratch};
        r.parts[w] = ARENA_NEW(k->module->arena, Region);
        Builder b = ir_builder(k, r.parts[w]);
        refmap_set(&map, r.spmd->regions[0]->args[0], ir_int(&b, EL_I32, w));
        clone_for(&r, &b, r.spmd->regions[0], &map);
    }
    Builder b = ir_builder_before(k, r.spmd);
    if (!lay_out(&r, &b)) return false;
    ir_remove(r.spmd);
    fold_tidy(k, cx->scratch);
    return true;
}

/* One order in which all goes well says nothing of the others: what is wrong in any is the user's mistake, however the
 * workers will run. */
static bool are_wrong(PassContext *cx, Kernel *k) {
    const KernelCopy *copy = ir_keep(k);
    FoundOps found = ir_list(k->body, OP_SPMD, cx->scratch);
    bool wrong = false;
    for (size_t i = 0; i < found.count; i++) merge_workers_apart(cx, k, found.at[i]);
    fold_tidy(k, cx->scratch);
    found = ir_list(k->body, OP_SPMD, cx->scratch);
    for (size_t i = 0; i < found.count && !wrong; i++)
        wrong = !roles_check(k, cx->scratch, found.at[i], NULL, &(RolesBounds){0});
    ir_take_back(k, copy);
    return wrong;
}

/* A single worker that has been checked waits for nobody but itself: in the order of its text all has come. */
static void leave_alone(PassContext *cx, Kernel *k) {
    static const Opcode codes[] = {OP_BAR_WAIT, OP_BAR_ARRIVE, OP_BAR};
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
        FoundOps found = ir_list(k->body, codes[c], cx->scratch);
        for (size_t i = 0; i < found.count; i++) ir_remove(found.at[i]);
    }
}

bool merge_roles(PassContext *cx, Kernel *k) {
    FoundOps found = ir_list(k->body, OP_SPMD, cx->scratch);
    if (!ir_list(k->body, OP_BAR, cx->scratch).count || !found.count || are_wrong(cx, k)) return false;
    bool written = !cx->machine || cx->machine->runs_workers; /* they may run as they are */
    const KernelCopy *copy = written ? ir_keep(k) : NULL;
    const char *why;
    const Op *where;
    int64_t workers = 0;
    bool alone = ir_const_int(k, found.at[0]->operands[0], &workers) && workers == 1;
    if (order_workers(cx, k, written || alone)) {
        if (alone) leave_alone(cx, k);
        if (alone || !written || bars_prove(k, cx->scratch, &why, &where)) return true;
    }
    if (copy) ir_take_back(k, copy);
    return false;
}
