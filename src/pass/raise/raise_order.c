/* SPDX-License-Identifier: Apache-2.0 */
/* raise_order.c: do iterations of an element loop meet in memory?
 *
 * As tiles, all iterations read before one of them writes. That is what the loop does if each keeps to cells of its
 * own:
 *
 *   - a dimension tells them apart: in every access to the memory, index d is `the same + step * i`, for each
 *     variable i, or of several like digits of a number; or
 *   - all places are known up to a number that all accesses share, and going through them finds no two that meet; or
 *   - the memory is just written, by one store: places from memory may be equal, but then no order is promised. In a
 *     buffer the last one stays, as in the loop.
 *
 * A loop of the body whose trips do not meet either is one more axis (raise_control.c), if that can be told.
 * Cells that several iterations update in one way are no order either (raise_accumulate.c), nor are atomics of one
 * kind. */
#include "pass/fold/fold.h"
#include "pass/raise/raise_loop.h"

enum { MOST_PLACES = 1 << 16, MOST_LOOPS = 3 };

typedef struct Memory {
    Loop *loop;
    Ref root;
    FoundOps ops; /* that touch it */
    int stores, loads, atomics;
    unsigned matters; /* variables that a place, a value or a condition depends on */
} Memory;

/* What all places in one array have in common. */
static Ref root_of(const Loop *loop, Ref ref) {
    for (;;) {
        const Op *made = ref_is_value(ref) ? ir_value(loop->k, ref)->op : NULL;
        bool part = made && (made->code == OP_TENSOR || made->code == OP_PTR_ADD || made->code == OP_BASE);
        if (!part) return ref;
        ref = made->operands[0];
    }
}

static bool is_atomic(const Op *op) {
    return op->code == OP_ATOMIC || op->code == OP_TATOMIC || op->code == OP_ATOMIC_CAS;
}

/* The variables that decide whether it runs, or how often. */
static unsigned condition_axes(const Loop *loop, const Op *op) {
    unsigned set = 0;
    for (const Op *owner = op->parent->owner; owner != loop->op; owner = owner->parent->owner)
        for (int i = 0; i < owner->operand_count && (owner->code != OP_FOR || i < 3); i++)
            set |= raise_axes(loop, owner->operands[i]);
    return set;
}

static bool is_repeated(const Loop *loop, const Op *op) {
    for (const Op *owner = op->parent->owner; owner != loop->op; owner = owner->parent->owner)
        if (owner->code != OP_IF) return true;
    return false;
}

static bool is_pointer_access(const Op *op) {
    return op->code == OP_LOAD || op->code == OP_STORE || op->code == OP_ATOMIC || op->code == OP_ATOMIC_CAS;
}

/* Its indices as sums; an address is one index. */
static int find_sums(Loop *loop, const Op *op, Poly *sums) {
    RefList indices = op_list(op, 0);
    if (!is_pointer_access(op)) {
        Reach place;
        raise_place(loop, op, &place);
        for (int d = 0; d < indices.count; d++) sums[d] = place.start[d];
        return indices.count;
    }
    const Affine *form = affine_of(loop->affine, op->operands[0]);
    if (!form->known || form->start.bad) return 0;
    sums[0] = form->start;
    return 1;
}

/* --- a dimension that tells iterations apart --- */

static bool is_invariant(const Loop *loop, Ref ref) {
    if (!ref_is_value(ref)) return true;
    const Value *value = ir_value(loop->k, ref);
    const Op *owner = value->op ? value->op : value->region->owner;
    return !owner || (owner != loop->op && !raise_is_inside(owner, loop->op));
}

/* The variables that `the same + step * i + step * j ..` tells apart: all of them, if each step is longer than what the
 * smaller ones reach together; else none. */
static unsigned told_apart(const Loop *loop, Poly sum) {
    int64_t step[MAX_RANK];
    int variable[MAX_RANK], count = 0;
    for (int i = 0; i < sum.count && !sum.bad; i++) {
        const Term *term = &sum.at[i];
        int own = term->count == 1 ? raise_variable(loop, term->factor[0]) : -1;
        for (int j = 0; j < term->count && own < 0; j++)
            if (!is_invariant(loop, term->factor[j])) return 0;
        if (own < 0) continue;
        int at = count++;
        int64_t size = term->scale < 0 ? -term->scale : term->scale;
        for (; at > 0 && step[at - 1] > size; at--) step[at] = step[at - 1], variable[at] = variable[at - 1];
        step[at] = size, variable[at] = own;
    }
    int64_t reach = 0;
    unsigned set = 0;
    for (int n = 0; n < count; n++) {
        int64_t longest;
        if (step[n] <= reach || __builtin_mul_overflow(step[n], loop->extent[variable[n]] - 1, &longest) ||
            __builtin_add_overflow(reach, longest, &reach))
            return 0;
        set |= 1u << variable[n];
    }
    return set;
}

static bool have_own_cells(Memory *m) {
    Poly first[MAX_RANK], sums[MAX_RANK];
    int rank = find_sums(m->loop, m->ops.at[0], first);
    unsigned apart[MAX_RANK], told = 0;
    for (int d = 0; d < rank; d++) apart[d] = told_apart(m->loop, first[d]);
    for (size_t i = 1; i < m->ops.count; i++) {
        if (m->ops.at[i]->operands[0] != m->ops.at[0]->operands[0]) return false; /* another view of it */
        if (find_sums(m->loop, m->ops.at[i], sums) != rank) return false;
        for (int d = 0; d < rank; d++)
            if (!poly_equal(first[d], sums[d])) apart[d] = 0;
    }
    for (int d = 0; d < rank; d++) told |= apart[d];
    return !(m->matters & ~told);
}

/* --- going through all places --- */

typedef struct Walk { /* values of loop variables; of loops inside of the body too */
    const Loop *loop;
    int64_t at[MAX_RANK];
    int inner_count;
    Ref inner[MOST_LOOPS];
    int64_t inner_at[MOST_LOOPS];
    bool *guessed; /* set where a number that no iteration changes was taken to be 0 */
} Walk;

static bool evaluate(const Walk *w, Ref ref, int depth, int64_t *out) {
    const Kernel *k = w->loop->k;
    if (ir_const_int(k, ref, out)) return true;
    int variable = raise_variable(w->loop, ref);
    if (variable >= 0) {
        *out = w->loop->low[variable] + w->at[variable];
        return true;
    }
    for (int i = 0; i < w->inner_count; i++)
        if (w->inner[i] == ref) {
            *out = w->inner_at[i];
            return true;
        }
    if (is_invariant(w->loop, ref)) {
        *w->guessed = true;
        *out = 0;
        return true;
    }
    const Op *op = raise_body_op(w->loop, ref);
    int64_t x[3] = {0};
    if (!op || !op_has(op->code, TRAIT_ELEMENTWISE) || op->operand_count > 3 || depth > 24) return false;
    const Type *type = ir_type(k, ref);
    for (int i = 0; i < op->operand_count; i++) {
        Elem elem = op->operands[i] ? ir_type(k, op->operands[i])->elem : EL_F32;
        if (elem_is_float(elem) || !evaluate(w, op->operands[i], depth + 1, &x[i])) return false;
    }
    switch (op->code) {
    case OP_SELECT: *out = x[0] ? x[1] : x[2]; return true;
    case OP_CMP: {
        bool wide = ir_type(k, op->operands[0])->elem == EL_U64;
        *out = word_compares(op_word(op, AT_PRED, CMP_LT), x[0], x[1]);
        return !wide;
    }
    case OP_NOT: *out = !x[0]; return type->elem == EL_I1;
    case OP_NEG: return fold_int(OP_SUB, type->elem, 0, x[0], out);
    case OP_CAST:
        return !elem_is_float(type->elem) && type->elem != EL_I1 && fold_int(OP_ADD, type->elem, x[0], 0, out);
    default: return op->operand_count == 2 && fold_int(op->code, type->elem, x[0], x[1], out);
    }
}

/* The number that the walk decides, and what is the same for all of it, in *rest. */
static bool take_apart(const Walk *w, Arena *arena, Poly sum, int64_t *number, Poly *rest) {
    *number = 0;
    for (int i = 0; i < sum.count; i++) {
        const Term *term = &sum.at[i];
        bool invariant = term->count > 0;
        int64_t product = term->scale;
        for (int j = 0; j < term->count; j++) invariant = invariant && is_invariant(w->loop, term->factor[j]);
        if (invariant) {
            if (rest) *rest = poly_add(arena, *rest, poly_term(arena, *term));
            continue;
        }
        for (int j = 0; j < term->count; j++) {
            int64_t factor;
            if (!evaluate(w, term->factor[j], 0, &factor) || __builtin_mul_overflow(product, factor, &product))
                return false;
        }
        if (__builtin_add_overflow(*number, product, number)) return false;
    }
    return true;
}

typedef enum Meeting { MEET_NOT, MEET, MEET_PERHAPS } Meeting;

/* Is the op reached? Where a condition is not known, perhaps. */
static bool is_reached(const Walk *w, const Op *op, bool *sure) {
    for (const Region *region = op->parent; region->owner != w->loop->op; region = region->owner->parent) {
        int64_t condition;
        const Op *owner = region->owner;
        if (owner->code != OP_IF) continue;
        if (!evaluate(w, owner->operands[0], 0, &condition))
            *sure = false;
        else if ((condition != 0) != (region == owner->regions[0]))
            return false;
    }
    return true;
}

/* The loops around an access, which must have known ends. */
static bool open_loops(Walk *w, const Op *op, int64_t (*bounds)[3]) {
    w->inner_count = 0;
    for (const Op *owner = op->parent->owner; owner != w->loop->op; owner = owner->parent->owner) {
        if (owner->code == OP_IF) continue;
        if (owner->code != OP_FOR || w->inner_count == MOST_LOOPS) return false;
        for (int i = 0; i < 3; i++)
            if (!ir_const_int(w->loop->k, owner->operands[i], &bounds[w->inner_count][i])) return false;
        if (bounds[w->inner_count][2] < 1) return false;
        w->inner[w->inner_count++] = owner->regions[0]->args[0];
    }
    return true;
}

typedef struct Places {
    Map writer; /* place -> iteration + 1 */
    Map toucher; /* the same of all accesses; the struct itself: more than one */
    int64_t steps;
    bool sure, guessed;
    Poly rest[MAX_RANK];
    bool known;
} Places;

/* One access in all iterations; false: its places are not known. */
static bool visit_access(Memory *m, const Op *op, Places *p, bool *meets) {
    Loop *loop = m->loop;
    Arena *arena = loop->cx->scratch;
    Poly sums[MAX_RANK], rest[MAX_RANK];
    Walk w = {.loop = loop, .guessed = &p->guessed};
    int64_t bounds[MOST_LOOPS][3];
    int rank = find_sums(loop, op, sums);
    if (!rank || !open_loops(&w, op, bounds)) return false;
    for (int i = 0; i < w.inner_count; i++) w.inner_at[i] = bounds[i][0];
    for (int d = 0; d < rank; d++) {
        int64_t unused;
        rest[d] = poly_int(arena, 0);
        if (sums[d].bad || !take_apart(&w, arena, sums[d], &unused, &rest[d])) return false;
        if (p->known && !poly_equal(rest[d], p->rest[d])) return false;
        p->rest[d] = rest[d];
    }
    p->known = true;
    for (int i = 0; i < w.inner_count; i++)
        if (bounds[i][0] >= bounds[i][1]) return true; /* never runs */
    bool writes = !raise_is_load(op);
    if (writes && op->code != OP_BSTORE && op_operand(op, 2)) p->sure = false;
    int64_t iteration = 0;
    for (;;) {
        uint64_t key = 0;
        if (++p->steps > MOST_PLACES) return false;
        bool reached = is_reached(&w, op, &p->sure);
        for (int d = 0; d < rank && reached; d++) {
            int64_t number;
            if (!take_apart(&w, arena, sums[d], &number, NULL)) return false;
            key = key * 1000003 + (uint64_t)number; /* two that are taken for one meet: that is safe */
        }
        if (reached) {
            void *mine = (void *)(uintptr_t)(iteration + 1);
            MapEntry *by = map_find_number(&p->writer, key), *touched = map_find_number(&p->toucher, key);
            *meets |= (by && by->value != mine) || (writes && touched && touched->value != mine);
            if (writes) map_put_number(&p->writer, arena, key, mine);
            map_put_number(&p->toucher, arena, key, touched && touched->value != mine ? p : mine);
            if (*meets) return true;
        }
        int i = 0;
        for (; i < w.inner_count; i++) {
            w.inner_at[i] += bounds[i][2];
            if (w.inner_at[i] < bounds[i][1]) break;
            w.inner_at[i] = bounds[i][0];
        }
        if (i < w.inner_count) continue;
        iteration++;
        int v = loop->rank - 1;
        for (; v >= 0; v--) {
            if (!(m->matters >> v & 1)) continue;
            if (++w.at[v] < loop->extent[v]) break;
            w.at[v] = 0;
        }
        if (v < 0) return true;
    }
}

static Meeting go_through(Memory *m) {
    Places places = {.sure = true};
    for (size_t i = 0; i < m->ops.count; i++) {
        bool meets = false;
        if (root_of(m->loop, m->ops.at[i]->operands[0]) != m->ops.at[i]->operands[0] && m->ops.count > 1 &&
            m->ops.at[i]->operands[0] != m->ops.at[0]->operands[0])
            return MEET_PERHAPS; /* views of one array */
        if (!visit_access(m, m->ops.at[i], &places, &meets)) return MEET_PERHAPS;
        if (meets) return places.sure ? MEET : MEET_PERHAPS;
    }
    return places.guessed ? MEET_PERHAPS : MEET_NOT;
}

/* --- one memory --- */

static void all_are_unique(Memory *m) {
    for (size_t i = 0; i < m->ops.count; i++)
        map_put_number(&m->loop->unique, m->loop->cx->scratch, (uint64_t)(uintptr_t)m->ops.at[i], m);
}

static Ref value_of(const Op *op) {
    return op->code == OP_BSTORE ? op->operands[op->operand_count - 1] : op_operand(op, 1);
}

/* The variables that its first access moves with. */
static unsigned moves_of(const Memory *m) {
    unsigned moves = is_pointer_access(m->ops.at[0]) ? raise_axes(m->loop, m->ops.at[0]->operands[0]) : 0;
    Poly sums[MAX_RANK];
    int rank = find_sums(m->loop, m->ops.at[0], sums);
    for (int d = 0; d < rank; d++)
        for (int i = 0; i < sums[d].count; i++)
            for (int j = 0; j < sums[d].at[i].count; j++) moves |= raise_axes(m->loop, sums[d].at[i].factor[j]);
    return moves;
}

/* One store, and nothing that sees what it wrote. */
static bool check_single_store(Memory *m, const Op *store, Meeting meeting) {
    Loop *loop = m->loop;
    if (store->code == OP_BSTORE) return true; /* the last one stays */
    unsigned tells = condition_axes(loop, store) | raise_axes(loop, op_operand(store, 2));
    if (loop->in_order) return raise_fail(loop, store, "several trips may write one place");
    bool apart = !(raise_axes(loop, value_of(store)) & ~moves_of(m) & ~tells);
    return (meeting == MEET_PERHAPS && apart) || raise_fail(loop, store, "several iterations write one place");
}

/* Are all accesses to the same cell of an iteration? */
static bool is_one_cell(Memory *m) {
    Poly first[MAX_RANK], sums[MAX_RANK];
    int rank = find_sums(m->loop, m->ops.at[0], first);
    for (size_t i = 0; i < m->ops.count; i++) {
        bool same = find_sums(m->loop, m->ops.at[i], sums) == rank;
        for (int d = 0; d < rank && same; d++) same = poly_equal(first[d], sums[d]);
        if (!same) return false;
    }
    return true;
}

/* Atomics that combine in one way do so in any order. */
static bool are_of_one_kind(const Memory *m) {
    for (size_t i = 0; i < m->ops.count; i++) {
        const Op *op = m->ops.at[i];
        if (op->code == OP_ATOMIC_CAS) return m->ops.count == 1;
        if (op_word(op, AT_COMBINE, COMBINE_ADD) != op_word(m->ops.at[0], AT_COMBINE, COMBINE_ADD)) return false;
    }
    return true;
}

static bool check_memory(Loop *loop, Ref root) {
    Memory m = {.loop = loop, .root = root};
    const Op *store = NULL;
    for (size_t i = 0; i < loop->accesses.count; i++) {
        Op *op = loop->accesses.at[i];
        if (!raise_is_inside(op, loop->scope) || root_of(loop, op->operands[0]) != root) continue;
        *VEC_PUSH(&m.ops, loop->cx->scratch) = op;
        m.loads += raise_is_load(op);
        m.atomics += is_atomic(op);
        if (raise_is_store(op) && !m.stores++) store = op;
        for (int n = 1; n < op->operand_count; n++) m.matters |= raise_axes(loop, op->operands[n]);
        m.matters |= condition_axes(loop, op);
        if (is_pointer_access(op)) m.matters |= raise_axes(loop, op->operands[0]);
    }
    if (!m.stores && !m.loads && are_of_one_kind(&m)) return true;
    /* What reads its own writes does something else in each iteration. */
    if (m.loads || m.atomics) m.matters = (1u << loop->rank) - 1;
    if (have_own_cells(&m)) {
        all_are_unique(&m);
        return true;
    }
    for (size_t i = 0; i < m.ops.count && !m.atomics; i++)
        if (m.ops.at[i]->code == OP_BSTORE && raise_is_update(loop, m.ops.at[i]))
            return raise_check_updates(loop, m.ops.at[i]);
    Meeting meeting = go_through(&m);
    if (meeting == MEET_NOT) {
        all_are_unique(&m);
        return true;
    }
    if (store && store->code == OP_BSTORE && raise_are_counts(loop, store)) {
        for (size_t i = 0; i < m.ops.count; i++)
            map_put_number(&loop->counted, loop->cx->scratch, (uint64_t)(uintptr_t)m.ops.at[i], loop);
        return true;
    }
    if (m.stores == 1 && !m.loads && !m.atomics && !is_repeated(loop, store))
        return check_single_store(&m, store, meeting);
    if (!m.stores && !m.loads)
        return raise_fail(loop, m.ops.at[1], "atomics of two kinds, and the iterations have no order");
    bool may = meeting == MEET_PERHAPS && !loop->in_order;
    if (!m.loads && !m.atomics && may && store->code != OP_BSTORE) return true;
    if (!m.loads) return raise_fail(loop, store, "several iterations write one place");
    const Op *load = m.ops.at[0];
    for (size_t i = 0; !raise_is_load(load); i++) load = m.ops.at[i];
    if (!is_one_cell(&m))
        return raise_fail(loop, load,
                          "the loop writes this memory at other places too, and its iterations have no order");
    return raise_fail(
        loop, store ? store : load,
        moves_of(&m) == (1u << loop->rank) - 1
            ? "several iterations may read and write one cell, and they have no order"
            : "a cell that a loop variable does not reach must be `cell = cell op e`, with an e that does not read it");
}

bool raise_check_order(Loop *loop) {
    Map seen = {0};
    for (size_t i = 0; i < loop->accesses.count; i++) {
        const Op *op = loop->accesses.at[i];
        if (raise_is_load(op) || !raise_is_inside(op, loop->scope)) continue;
        Ref root = root_of(loop, op->operands[0]);
        loop->blamed = root;
        if (map_find_number(&loop->scanned, root)) continue;
        if (map_meets(&seen, loop->cx->scratch, root) && !check_memory(loop, root)) return false;
    }
    return true;
}
