/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c: cut into roles and rings, or leave flat.
 *
 * Contract: access form in, with its sums stamped. Out: ring form,
 *
 *     kernel { prologue ; ring.. ; tasks { header ; role load {..} ; role compute {..} ; role store {..} } }
 *
 * proved by ring_check, with a plan in its attributes; or the same flat kernel, when the machine or
 * the kernel gains nothing (a finding says why). A kernel that arrives in ring form is only proved. */
#include "pass/matrix.h"
#include "pass/ring/ring.h"
#include "ir/ringform.h"
#include "pass/ring/ring_check.h"
#include "pass/ring/ring_cut.h"
#include "pass/ring/ring_rotate.h"

#include <limits.h>

/* Is every use of the program id one of the two places? Then the order can stand in for the code. */
static bool reaches_id(const Kernel *k, const GridOrder *grid, Ref r, bool *seen) {
    if (!ref_is_value(r) || seen[r] || r == grid->m || r == grid->n) return false;
    seen[r] = true;
    const Op *op = ir_value(k, r)->op;
    if (!op) return false;
    if (op->code == OP_PROGRAM_ID) return true;
    for (int i = 0; i < op->operand_count; i++)
        if (reaches_id(k, grid, op->operands[i], seen)) return true;
    return false;
}

typedef struct IdSearch {
    const Kernel *k;
    const GridOrder *grid;
    bool *seen;
    bool found;
} IdSearch;

static void look_for_id(Op *op, void *user) {
    IdSearch *s = user;
    /* Pure ops count when something that acts uses them. */
    if (op_has(op->code, TRAIT_PURE) && !op->region_count) return;
    for (int i = 0; i < op->operand_count; i++)
        s->found = s->found || reaches_id(s->k, s->grid, op->operands[i], s->seen);
}

static GridOrder find_grid(const Cut *c) {
    GridOrder grid = c->cx->options.generic >= REQUIRE_SIZES ? (GridOrder){.order = ORDER_CODE} : grid_order_find(c->k);
    if (grid.order == ORDER_CODE || c->counts_programs) return (GridOrder){.order = ORDER_CODE};
    IdSearch s = {c->k, &grid, ARENA_ARRAY(c->arena, bool, c->k->values.count), false};
    ir_walk(c->k->body, look_for_id, &s);
    return s.found ? (GridOrder){.order = ORDER_CODE} : grid;
}

static bool flatten(PassContext *cx, Kernel *k, const char *where) {
    const char *why = "";
    if (!ring_flatten(k, cx->scratch, &why)) {
        diag_emit(k->module->diag, DIAG_RING_NOT_FLAT, k->range, k->name, why);
        return false;
    }
    pass_find(cx, k->range, FIND_ROLES_FLATTENED, where);
    return true;
}

/* Rings that came with the kernel: proved, and fused again for a machine that has no roles. */
static bool prove_written(PassContext *cx, Kernel *k) {
    RingVerdict verdict = ring_check(cx, k);
    if (verdict == RING_REFUTED) return false;
    if (verdict == RING_BOUNDED) pass_find(cx, k->range, FIND_RING_BOUNDED);
    if (cx->machine->roles_allowed || cx->machine->skew_allowed) {
        pass_find(cx, k->range, FIND_ROLES_WRITTEN);
        return false;
    }
    return flatten(cx, k, " on this machine");
}

bool ring_is_proved(PassContext *cx, Kernel *k) {
    Module *m = k->module;
    Diag *own = m->diag, found;
    diag_init(&found, cx->scratch, m->sources);
    m->diag = &found;
    RingVerdict verdict = ring_check(cx, k);
    m->diag = own;
    return verdict == RING_PROVED;
}

/* What was cut here and cannot be proved is not cut. A machine that has only roles says why. */
static bool prove(PassContext *cx, Kernel *k) {
    if (cx->machine->has_threads) return ring_is_proved(cx, k);
    if (ring_check(cx, k) == RING_BOUNDED) ice(k->module->trap, "the rings cut from `%s` could not be proved", k->name);
    return true;
}

/* Of a kernel that is not cut: the wishes stand at its top. */
static bool require_apart(Cut *c) {
    if (!c->cx->machine->has_threads || !c->apart.count) return false;
    Builder b = ir_builder_before(c->k, c->k->body->first);
    b.range = c->k->range;
    cut_require_apart(c, &b);
    return true;
}

/* The schedule may find that the kernel is better off with fewer rings, or none (ring_leave, ring_take_back). */
static void keep(PassContext *cx, const Kernel *k) {
    if (cx->machine->has_threads && !cx->uncut->kernel) cx->uncut->kernel = ir_keep(k);
}

static void cut_again(PassContext *cx, Kernel *k, const char *flat);

static bool stay_flat(PassContext *cx, Kernel *k) {
    cut_again(cx, k, "the hand-overs of its roles could not be proved");
    return true;
}

/* As it is; or, if so no product has a ring, with loads that wait for writes. */
static Execution choose(Cut *c) {
    if (cut_wants_meetings(c)) {
        size_t findings = c->cx->findings.count;
        Cut met = {.cx = c->cx, .k = c->k, .arena = c->arena, .all = c->all, .meets = true};
        cut_find_memory(&met);
        cut_wish_apart(&met);
        cut_classify(&met);
        if (cut_arrange_meetings(&met) && cut_choose(&met) == RUN_ROLES) {
            *c = met;
            return RUN_ROLES;
        }
        c->cx->findings.count = findings;
    }
    return cut_choose(c);
}

/* With a reason why it must stay flat, or NULL. */
static bool cut_kernel(PassContext *cx, Kernel *k, const char *flat) {
    Cut c = {.cx = cx, .k = k, .arena = cx->scratch, .flat = flat};
    cut_find_memory(&c);
    if (cx->machine->has_threads) cut_wish_apart(&c);
    if (tasks_of(k)) {
        keep(cx, k);
        bool changed = flat ? flatten(cx, k, ", without rings") : prove_written(cx, k);
        return require_apart(&c) || changed;
    }
    c.all = cx->machine->roles_always || (cx->options.roles == 1 && cx->machine->roles_allowed);
    cut_classify(&c);
    Execution run = choose(&c);
    if (run == RUN_FLAT) return require_apart(&c);
    keep(cx, k);
    c.grid = find_grid(&c);
    Op *tasks = cut_roles(&c);
    cut_plan(&c, tasks, run);
    if (run == RUN_ROLES) cut_sink(&c, tasks);
    cut_note_rings(&c);
    if (!prove(cx, k)) return stay_flat(cx, k);
    if (run == RUN_ROLES && matrix_async(cx->machine) && cut_pair(&c, tasks)) return true;
    if (run == RUN_ROLES && matrix_async(cx->machine) && cx->options.rotate && ring_rotate(cx, k, tasks)) {
        if (!prove(cx, k)) return stay_flat(cx, k);
        cut_gang(&c, tasks);
    } else if (run == RUN_ROLES && cx->options.gang > 1) {
        pass_find(cx, k->range, FIND_GANG_NONE,
                  "no loop has a product that stays in flight under the next trip's arithmetic");
    }
    return true;
}

bool pass_ring(PassContext *cx, Kernel *k) {
    if (k->form >= FORM_LAYOUT) { /* as it was printed; what `schedule` made of the roles is for it to prove */
        if (k->form == FORM_LAYOUT && tasks_of(k)) ring_check(cx, k);
        return false;
    }
    cx->uncut = ARENA_NEW(cx->module->arena, Uncut);
    cx->uncut->findings = cx->findings.count;
    bool changed = cut_part_fills(cx, k);
    if (cx->machine->roles_always) ring_free_updates(cx, k);
    return cut_kernel(cx, k, NULL) || changed;
}

/* Anew, without the rings that have left; with a reason why it must be flat, or NULL. */
static void cut_again(PassContext *cx, Kernel *k, const char *flat) {
    Uncut *uncut = cx->uncut;
    ir_take_back(k, uncut->kernel);
    uncut->kernel = flat ? NULL : ir_keep(k);
    uncut->rings.count = 0;
    cx->findings.count = uncut->findings;
    cut_kernel(cx, k, flat);
    if (k->form < FORM_RING) k->form = FORM_RING;
}

bool ring_take_back(PassContext *cx, Kernel *k, const char *why) {
    if (!cx->uncut || !cx->uncut->kernel) return false;
    cut_again(cx, k, why);
    return k->module->diag->errors == 0;
}

int ring_left(const PassContext *cx) {
    const Uncut *uncut = cx->uncut;
    return uncut && uncut->stays.count ? VEC_LAST(&uncut->stays).ring + 1 : 0;
}

bool ring_leave(PassContext *cx, Kernel *k, Ref ring, int field, const char *why) {
    Uncut *uncut = cx->uncut;
    const UncutRing *least = NULL;
    int loads = 0, left = ring_left(cx);
    for (size_t i = 0; uncut && i < uncut->rings.count; i++) {
        const UncutRing *r = &uncut->rings.at[i];
        loads += r->worth > 0;
        bool less = !least || r->worth < least->worth || (r->worth == least->worth && r->bytes > least->bytes);
        if (ring == REF_NONE ? less : r->ring == ring) least = r;
    }
    bool alone = least && field >= 0 && least->fields > 1; /* the other fields keep their ring */
    if (!least || (!alone && loads - (least->worth > 0) < 1)) return false;
    for (size_t i = 0; i < least->accesses.count; i++)
        if (!alone || (int)i % least->fields == field)
            *VEC_PUSH(&uncut->stays, cx->module->arena) = (UncutAccess){least->accesses.at[i], left, why, false};
    cut_again(cx, k, NULL);
    return k->module->diag->errors == 0;
}

void ring_return(PassContext *cx, Kernel *k, int which, bool back) {
    Uncut *uncut = cx->uncut;
    for (size_t i = 0; i < uncut->stays.count; i++)
        if (uncut->stays.at[i].ring == which) uncut->stays.at[i].back = back;
    cut_again(cx, k, NULL);
}

void ring_return_all(PassContext *cx, Kernel *k) {
    cx->uncut->stays.count = 0;
    cut_again(cx, k, NULL);
}

bool ring_is_worth_more(const PassContext *cx, Ref ring) {
    const Uncut *uncut = cx->uncut;
    int worth = 0, least = INT_MAX;
    for (size_t i = 0; uncut && i < uncut->rings.count; i++) {
        const UncutRing *r = &uncut->rings.at[i];
        if (r->ring == ring) worth = r->worth;
        if (r->worth < least) least = r->worth;
    }
    return least < worth;
}
