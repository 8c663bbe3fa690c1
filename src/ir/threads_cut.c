/* SPDX-License-Identifier: Apache-2.0 */
/* threads_cut.c: a region of threads in pieces, between what the block does as a whole. See threads.h.
 *
 * All happens in place: the ops of the region go in front of it, those of the block stay where they are, those of
 * threads wait (`waiting`) until something comes that they must not be moved behind, and go into a new region there. */
#include "ir/threads.h"

#include <string.h>

typedef VEC(Op *) Ops;
typedef struct Mask { /* a condition that differs, around the ops at hand */
    Ref condition;
    bool otherwise, role;
} Mask;

typedef struct Piece { /* a region that was made */
    Op *spmd;
    Builder masked; /* where what it needs goes: at its beginning, under its conditions */
    RefMap map;
} Piece;

typedef struct Cut {
    Threads *t;
    Kernel *k;
    Op *anchor;     /* buffers of threads go behind it; NULL: first in the region */
    Region *around;
    const Region *old;
    Piece nowhere; /* of what waits */
    Ops waiting;
    VEC(Mask) masks;
    Map homes;  /* op of an old region -> the piece that it went to */
    Map kept;   /* Ref -> buffer that has it for each thread */
} Cut;

/* --- may it be cut? --- */

/* Of workers inside of the region: what they take from outside is the same for all threads. */
typedef struct Inside {
    Threads *t;
    const Op *owner;
} Inside;

static bool is_made_inside(const Kernel *k, Ref ref, const Op *owner) {
    const Value *value = ir_value(k, ref);
    const Op *op = value->op ? value->op : value->region->owner;
    while (op && op != owner) op = op->parent ? op->parent->owner : NULL;
    return op != NULL;
}

static void look_for_difference_from_outside(Op *op, void *user) {
    const Inside *in = user;
    for (int i = 0; i < op->operand_count; i++)
        if (threads_differ(in->t, op->operands[i]) && !is_made_inside(in->t->k, op->operands[i], in->owner))
            threads_fail(in->t, op, "the block does this as a whole, with a number that differs between threads");
}

static void look_for_difference(Op *op, void *user) {
    Threads *t = user;
    for (int i = 0; i < op->operand_count && !threads_is_even(t, op); i++)
        if (threads_differ(t, op->operands[i]))
            threads_fail(t, op, "the block does this as a whole, with a number that differs between threads");
}

static bool check_region(Threads *t, const Region *region, bool masked);

static bool check_control(Threads *t, const Op *op, bool masked) {
    bool differs = false;
    bool some[2];
    if (op->code == OP_IF && threads_differ(t, op->operands[0])) {
        bool role = threads_is_role(t, op->operands[0], some);
        if (!t->at_syncs && !role && threads_is_tile_op(t->k, op))
            return threads_fail(t, op,
                                "the block does something as a whole here, under a condition that differs between "
                                "threads");
        if (op->result_count) return threads_fail(t, op, "a choice of values around a barrier or shuffle");
        masked |= !role;
    } else if (op->code == OP_FOR) {
        for (int i = 0; i < 3; i++) differs |= threads_differ(t, op->operands[i]);
        for (int i = 0; i < op->result_count; i++) differs |= threads_differ(t, op->results[i]);
    } else if (op->code == OP_WHILE) {
        differs = threads_differ(t, op->regions[0]->last->operands[0]);
        for (int i = 0; i < op->result_count; i++) differs |= threads_differ(t, op->results[i]);
    } else if (op->code == OP_IF) {
        for (int i = 0; i < op->result_count; i++) differs |= threads_differ(t, op->results[i]);
    } else {
        return threads_fail(t, op, "this stands around a barrier, a shuffle or what the block does as a whole");
    }
    if (differs)
        return threads_fail(t, op,
                            "threads may run this loop differently often, or hand on different numbers, and inside all "
                            "of them meet");
    for (int r = 0; r < op->region_count; r++)
        if (!check_region(t, op->regions[r], masked)) return false;
    return true;
}

static bool check_region(Threads *t, const Region *region, bool masked) {
    for (Op *op = region->first; op; op = op->next) {
        if (!threads_has_cut(t, op)) continue;
        if (op->code == OP_SYNC) {
            Word unit = op_word(op, AT_UNIT, UNIT_BLOCK);
            if (unit != UNIT_BLOCK && unit != UNIT_WARP && unit != UNIT_WARPGROUP)
                return threads_fail(t, op, "a barrier between programs");
        } else if (op->code == OP_SHFL) {
            continue;
        } else if (op->region_count && op->code != OP_PARALLEL && op->code != OP_SPMD && op->code != OP_REDUCE &&
                   op->code != OP_SCAN && op->code != OP_MAP) {
            if (!check_control(t, op, masked)) return false;
        } else {
            if (masked)
                return threads_fail(t, op, "the block does this as a whole, and a condition differs between threads");
            look_for_difference(op, t);
            for (int r = 0; r < op->region_count; r++) {
                if (op->code == OP_SPMD)
                    ir_walk(op->regions[r], look_for_difference_from_outside, &(Inside){t, op});
                else
                    ir_walk(op->regions[r], look_for_difference, t);
            }
            if (t->why) return false;
        }
    }
    return true;
}

/* --- what a piece needs of others --- */


static const Piece *home_of(const Cut *c, Ref ref) {
    const Op *op = ir_value(c->k, ref)->op;
    for (; op; op = op->parent ? op->parent->owner : NULL) {
        MapEntry *known = map_find_number(&c->homes, (uint64_t)(uintptr_t)op);
        if (known) return known->value;
    }
    return NULL;
}

static void push(Cut *c, Op *op) {
    *VEC_PUSH(&c->waiting, c->t->arena) = op;
    map_put_number(&c->homes, c->t->arena, (uint64_t)(uintptr_t)op, &c->nowhere);
}

/* A buffer with an element for each thread. */
static Ref make_buffer(Cut *c, Elem elem, const char *name, int64_t *extent) {
    const Op *spmd = c->t->spmd;
    for (int d = 0; d < spmd->operand_count; d++) ir_const_int(c->k, spmd->operands[d], &extent[d]);
    Builder b = ir_builder(c->k, c->around);
    b.before = c->anchor ? c->anchor->next : c->around->first;
    b.range = spmd->range;
    return ir_buffer(&b, ty_buffer(c->k->module, elem, spmd->operand_count, extent, SCOPE_LOCAL), name);
}

/* The buffer that has the value of each thread; it is stored where it is made. */
static Ref keep(Cut *c, Ref ref, const Piece *home) {
    MapEntry *known = map_find_number(&c->kept, ref);
    if (known) return (Ref)(uintptr_t)known->value;
    int64_t extent[MAX_RANK];
    Ref buffer = make_buffer(c, ir_type(c->k, ref)->elem, ir_value(c->k, ref)->name, extent);
    Builder b = ir_builder_behind(c->k, ir_value(c->k, ref)->op);
    ir_bstore(&b, buffer, home->spmd->regions[0]->args, ref);
    map_put_number(&c->kept, c->t->arena, ref, (void *)(uintptr_t)buffer);
    return buffer;
}

static Ref bring(Cut *c, Piece *piece, Builder *b, Ref ref, int depth);

/* Arithmetic is done again, what was read is taken from where it is kept. */
static Ref make_again(Cut *c, Piece *piece, Builder *b, Ref ref, const Piece *home, int depth) {
    enum { DEEPEST = 40 };
    const Op *op = ir_value(c->k, ref)->op;
    if (op_has(op->code, TRAIT_ELEMENTWISE) && depth < DEEPEST) {
        for (int i = 0; i < op->operand_count; i++) bring(c, piece, b, op->operands[i], depth + 1);
        Op *made = ir_clone(b, op, &piece->map);
        return made->results[0];
    }
    Ref buffer = keep(c, ref, home);
    Ref value = ir_bload(b, buffer, piece->spmd->regions[0]->args, ir_type(c->k, ref));
    ir_name(c->k, value, ir_value(c->k, ref)->name);
    return value;
}

/* The value inside of the piece. */
static Ref bring(Cut *c, Piece *piece, Builder *b, Ref ref, int depth) {
    if (!ref_is_value(ref)) return ref;
    Ref known = refmap_get(&piece->map, ref);
    const Value *value = ir_value(c->k, ref);
    if (known != ref) return known;
    const Op *owner = value->region ? value->region->owner : NULL;
    bool worker = owner && owner->code == OP_SPMD && map_find_number(&c->homes, (uint64_t)(uintptr_t)owner);
    if (value->region == c->old || (worker && owner != piece->spmd)) {
        known = piece->spmd->regions[0]->args[value->index];
    } else {
        const Piece *home = home_of(c, ref);
        if (!home || home == piece) return ref;
        known = make_again(c, piece, b, ref, home, depth);
    }
    refmap_set(&piece->map, ref, known);
    return known;
}

typedef struct Bringing {
    Cut *c;
    Piece *piece;
} Bringing;

static void bring_operands(Op *op, void *user) {
    Bringing *at = user;
    for (int i = 0; i < op->operand_count; i++)
        op->operands[i] = bring(at->c, at->piece, &at->piece->masked, op->operands[i], 0);
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF)
            op->attrs[i].ref = bring(at->c, at->piece, &at->piece->masked, op->attrs[i].ref, 0);
}

/* --- pieces --- */

static void look_for_effects(Op *op, void *user) {
    if (op_has(op->code, TRAIT_READS) || op_has(op->code, TRAIT_WRITES) || op_has(op->code, TRAIT_SYNC))
        *(bool *)user = true;
}

static bool has_effects(const Op *op) {
    bool found = op->region_count > 0;
    look_for_effects((Op *)op, &found);
    return found;
}

/* What waits becomes a region in front of the op. Arithmetic alone waits on. */
static void flush(Cut *c, Op *before) {
    bool any = false;
    for (size_t i = 0; i < c->waiting.count; i++) any |= has_effects(c->waiting.at[i]);
    if (!any) return;
    const Op *spmd = c->t->spmd;
    Builder b = ir_builder_before(c->k, before);
    b.range = c->waiting.at[0]->range;
    Op *op = ir_begin(&b, OP_SPMD);
    Region *region = ir_region(&b, op);
    for (int d = 0; d < spmd->operand_count; d++) {
        const Value old = *ir_value(c->k, c->old->args[d]);
        ir_operand(&b, op, spmd->operands[d]);
        ir_argument(c->k, region, old.type, old.name);
    }
    for (int i = 0; i < spmd->attr_count; i++) op_set(c->k, op, spmd->attrs[i]);
    ir_end(&b, op, NULL);
    Builder in = ir_builder_inside(&b, region);
    ir_yield(&in, NULL, 0);
    Piece *piece = ARENA_NEW(c->t->arena, Piece);
    *piece = (Piece){.spmd = op, .map = {.arena = c->t->arena}};
    map_put_number(&c->homes, c->t->arena, (uint64_t)(uintptr_t)op, piece);
    Op *end = region->last;
    Region *place = region;
    for (size_t i = 0; i < c->masks.count; i++) {
        Builder at = ir_builder_before(c->k, end);
        Ref condition = bring(c, piece, &at, c->masks.at[i].condition, 0);
        if (c->masks.at[i].otherwise) condition = ir_unary(&at, OP_NOT, condition);
        Op *test = ir_if(&at, condition, 0, NULL);
        for (int side = 0; side < 2; side++) {
            Builder inside = ir_builder_inside(&at, test->regions[side]);
            ir_yield(&inside, NULL, 0);
        }
        place = test->regions[0];
        end = place->last;
    }
    Op *first = c->waiting.at[0];
    for (size_t i = 0; i < c->waiting.count; i++) { /* what the conditions needed of them was made again */
        map_put_number(&c->homes, c->t->arena, (uint64_t)(uintptr_t)c->waiting.at[i], piece);
        ir_move(c->waiting.at[i], place, end);
    }
    piece->masked = ir_builder_before(c->k, first);
    Bringing user = {c, piece};
    for (size_t i = 0; i < c->waiting.count; i++) {
        Op *moved = c->waiting.at[i];
        bring_operands(moved, &user);
        for (int r = 0; r < moved->region_count; r++) ir_walk(moved->regions[r], bring_operands, &user);
    }
    c->waiting.count = 0;
}

typedef struct Writes {
    const Op *read;
    bool found;
} Writes;

static void look_for_write(Op *op, void *user) {
    Writes *w = user;
    bool buffer = op->code == OP_BSTORE || op->code == OP_BATOMIC;
    if (w->read->code == OP_BLOAD)
        w->found |= buffer && op->operands[0] == w->read->operands[0];
    else
        w->found |= op_has(op->code, TRAIT_WRITES) && !buffer;
    w->found |= op->code == OP_SYNC || op->code == OP_SHFL;
}

/* May what waits write what the op reads? */
static bool is_written(const Cut *c, const Op *read) {
    Writes w = {.read = read};
    for (size_t i = 0; i < c->waiting.count; i++) {
        look_for_write(c->waiting.at[i], &w);
        for (int r = 0; r < c->waiting.at[i]->region_count; r++)
            ir_walk(c->waiting.at[i]->regions[r], look_for_write, &w);
    }
    return w.found;
}

static bool differs(const Cut *c, const Op *op) {
    bool any = false;
    for (int i = 0; i < op->operand_count; i++) any |= threads_differ(c->t, op->operands[i]);
    for (int i = 0; i < op->result_count; i++) any |= threads_differ(c->t, op->results[i]);
    return any;
}

/* --- ops in order --- */

static void cut_range(Cut *c, Op *first, const Op *stop);

/* A shuffle: what each thread has is kept, and another one's is read. */
static void cut_shuffle(Cut *c, Op *op) {
    const Op *spmd = c->t->spmd;
    Ref value = op->operands[0], from = op->operands[1], at[MAX_RANK];
    int64_t extent[MAX_RANK];
    int rank = spmd->operand_count;
    const Type *type = ir_type(c->k, value);
    Ref buffer = make_buffer(c, type->elem, "shown", extent);
    Builder b = ir_builder_before(c->k, op);
    push(c, ir_bstore(&b, buffer, c->old->args, value));
    flush(c, op);
    b = ir_builder_before(c->k, op);
    Op *before = op->previous;
    for (int d = rank - 1; d >= 0; d--) {
        Elem elem = ir_type(c->k, from)->elem;
        Ref size = ir_int(&b, elem, extent[d]);
        at[d] = d ? ir_binary(&b, OP_MOD, from, size) : from;
        if (d) from = ir_binary(&b, OP_FLOORDIV, from, size);
    }
    Ref taken = ir_bload(&b, buffer, at, type);
    for (Op *made = before ? before->next : op->parent->first; made != op; made = made->next)
        push(c, made);
    ir_replace_all(c->k, op->results[0], taken);
    ir_remove(op);
}

/* The condition goes with each piece. */
static void cut_masked(Cut *c, Op *op) {
    Ref condition = op->operands[0];
    bool some[2], role = threads_is_role(c->t, condition, some);
    for (int side = 0; side < 2; side++) {
        Region *region = op->regions[side];
        Op *first = region->first == region->last ? NULL : region->first;
        if (role && !some[side]) continue; /* no thread comes there */
        while (region->first != region->last) ir_move(region->first, op->parent, op);
        *VEC_PUSH(&c->masks, c->t->arena) = (Mask){condition, side == 1, role};
        if (first) cut_range(c, first, op);
        flush(c, op);
        c->masks.count--;
    }
    ir_remove(op);
}

/* A number that all threads keep, each for itself: any thread's will do. */
static void take_any(Op *op, void *user) {
    Cut *c = user;
    if (!threads_is_even(c->t, op)) return;
    RefList at = op_list(op, 0);
    Builder b = ir_builder_before(c->k, op);
    for (int d = 0; d < c->old->arg_count; d++) at.at[d] = ir_int(&b, EL_I32, 0);
}

/* Arithmetic that waits at the end of its region has no user. */
static void drop_waiting(Cut *c, const Region *region) {
    size_t kept = 0;
    for (size_t i = 0; i < c->waiting.count; i++) {
        if (c->waiting.at[i]->parent == region)
            ir_remove(c->waiting.at[i]);
        else
            c->waiting.at[kept++] = c->waiting.at[i];
    }
    c->waiting.count = kept;
}

static void cut_op(Cut *c, Op *op) {
    Threads *t = c->t;
    bool masked = false;
    for (size_t i = 0; i < c->masks.count; i++) masked |= !c->masks.at[i].role;
    if (op_has(op->code, TRAIT_TERMINATOR)) {
        flush(c, op);
        drop_waiting(c, op->parent);
    } else if (threads_has_cut(t, op)) {
        bool control = op->code == OP_FOR || op->code == OP_WHILE || op->code == OP_IF;
        if (op->code == OP_SHFL) {
            cut_shuffle(c, op);
            return;
        }
        flush(c, op);
        if (op->code == OP_SYNC)
            ir_remove(op);
        else if (op->code == OP_IF && threads_differ(t, op->operands[0]))
            cut_masked(c, op);
        else if (control)
            for (int r = 0; r < op->region_count; r++) cut_range(c, op->regions[r]->first, NULL);
        else
            for (int r = 0; r < op->region_count; r++) ir_walk(op->regions[r], take_any, c);
    } else if (op->code == OP_SYNC && !c->waiting.count) {
        ir_remove(op);
    } else if (op->code == OP_BUF || op->code == OP_BAR || op->code == OP_TENSOR || op->code == OP_ASSUME) {
        return;
    } else if (!masked && threads_is_even(t, op)) {
        if (is_written(c, op)) flush(c, op);
        take_any(op, c);
    } else if (op->region_count || differs(c, op) || op->code == OP_SYNC) {
        push(c, op);
    } else if (op_has(op->code, TRAIT_PURE)) {
        return;
    } else if (op_has(op->code, TRAIT_READS) && !op_has(op->code, TRAIT_WRITES)) {
        if (masked)
            push(c, op);
        else if (is_written(c, op))
            flush(c, op);
    } else if (masked || op->code == OP_TATOMIC) { /* each thread does it, or those that come here */
        push(c, op);
    } else {
        flush(c, op); /* all threads would do the same */
    }
}

static void cut_range(Cut *c, Op *first, const Op *stop) {
    for (Op *op = first, *next; op && op != stop; op = next) {
        next = op->next;
        cut_op(c, op);
    }
}

bool threads_cut(Threads *t) {
    Op *spmd = t->spmd;
    Region *region = spmd->regions[0];
    for (int d = 0; d < spmd->operand_count; d++) {
        int64_t extent;
        if (!ir_const_int(t->k, spmd->operands[d], &extent))
            return threads_fail(t, spmd, "how many threads there are is not known");
    }
    if (!check_region(t, region, false)) return false;
    Cut c = {.t = t, .k = t->k, .anchor = spmd->previous, .around = spmd->parent, .old = region};
    Op *first = region->first == region->last ? NULL : region->first;
    while (region->first != region->last) ir_move(region->first, spmd->parent, spmd);
    if (first) cut_range(&c, first, spmd);
    flush(&c, spmd);
    drop_waiting(&c, spmd->parent);
    ir_remove(spmd);
    return true;
}
