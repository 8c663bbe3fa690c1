/* SPDX-License-Identifier: Apache-2.0 */
/* flatten.c: ring form back to the flat program that it means.
 *
 * Contract: a checked kernel in ring form becomes a flat one: hand-overs fall away, a `get` is the
 * value that was `put`, the task's indices are program ids. The roles are fused by one schedule:
 * whoever is nearest to the end of the data goes first, and a producer only runs while its
 * consumers wait. That is the source's own order for rings that were cut from a flat kernel, so cut
 * and flatten are inverse up to names. Roles that stand at the same loop (or `if`) go through it
 * together, their carried values side by side.
 *
 * False, with the reason in *why, when no such schedule exists without running ahead (items that
 * cross a loop's edge, a put of part of a field, a template's own loop over tasks); the kernel is
 * unchanged then. */
#include "analysis/grid_order.h"
#include "ir/ringform.h"
#include "pass/fold/fold.h"
#include "pass/ring/ring.h"

#include <string.h>

typedef struct Item {
    Ref field[MAX_RING_FIELDS];
} Item;

typedef struct Line { /* a ring: what is on its way */
    Ref ring;
    VEC(Item *) items; /* all that were committed */
    size_t taken[MAX_ROLES];
    unsigned roles, consumers; /* that hand over by it, as bits */
} Line;

typedef struct Worker { /* a role */
    const Op *role;
    RefMap map;
    Map slots;    /* slot -> Item */
    const Op *at; /* the next op in the region at hand; NULL: not in it, or at its end */
} Worker;

typedef struct Flatten {
    Kernel *k;
    Arena *arena;
    Worker worker[MAX_ROLES]; /* consumers before producers */
    int count;
    VEC(Line) lines;
    const char *why;
} Flatten;

static bool fail(Flatten *f, const char *why) {
    if (!f->why) f->why = why;
    return false;
}

static Line *line_of(Flatten *f, Ref ring) {
    for (size_t i = 0; i < f->lines.count; i++)
        if (f->lines.at[i].ring == ring) return &f->lines.at[i];
    return NULL;
}

static Item *item_of(const Worker *w, Ref slot) {
    MapEntry *entry = map_find_number(&w->slots, slot);
    return entry ? entry->value : NULL;
}

/* --- one op of one role; false: it has to wait --- */

static bool step(Flatten *f, Builder *b, int index) {
    Worker *w = &f->worker[index];
    const Op *op = w->at;
    Line *line = op->operand_count ? line_of(f, op->operands[0]) : NULL;
    Item *item;
    switch (op->code) {
    case OP_ACQUIRE: map_put_number(&w->slots, f->arena, op->results[0], ARENA_NEW(f->arena, Item)); break;
    case OP_PUT:
        if (op->list_count[0]) return fail(f, "a put of part of a field");
        if ((item = item_of(w, op->operands[0]))) item->field[hand_field(op)] = refmap_get(&w->map, put_value(op));
        break;
    case OP_COMMIT: *VEC_PUSH(&line->items, f->arena) = item_of(w, op->operands[1]); break;
    case OP_WAIT:
        if (line->taken[index] >= line->items.count) return false;
        map_put_number(&w->slots, f->arena, op->results[0], line->items.at[line->taken[index]++]);
        break;
    case OP_GET:
        if ((item = item_of(w, op->operands[0]))) refmap_set(&w->map, op->results[0], item->field[hand_field(op)]);
        break;
    case OP_RELEASE: break;
    case OP_SKIP: return fail(f, "a skip");
    default:
        if (hands_over(op)) return false; /* met together */
        b->range = op->range;
        ir_clone(b, op, &w->map);
        break;
    }
    w->at = op->next;
    if (w->at && op_has(w->at->code, TRAIT_TERMINATOR)) w->at = NULL;
    return true;
}

/* --- loops and ifs that roles meet in --- */

static bool same_value(const Flatten *f, Ref a, Ref b, int depth) {
    if (a == b) return true;
    if (!ref_is_value(a) || !ref_is_value(b) || depth == 0) return false;
    const Value x = *ir_value(f->k, a), y = *ir_value(f->k, b);
    if (!x.op || !y.op || x.index != y.index || x.op->code != y.op->code ||
        x.op->operand_count != y.op->operand_count || x.op->attr_count != y.op->attr_count ||
        (!fold_is_numbered(x.op) && !op_has(x.op->code, TRAIT_READS)))
        return false;
    for (int i = 0; i < x.op->attr_count; i++) {
        const Attr *s = &x.op->attrs[i], *t = op_attr(y.op, s->id);
        AttrKind kind = attr_info[s->id].kind;
        if (!t || (kind == ATTR_INT && s->number != t->number) || (kind == ATTR_ENUM && s->word != t->word))
            return false;
    }
    for (int i = 0; i < x.op->operand_count; i++)
        if (!same_value(f, x.op->operands[i], y.op->operands[i], depth - 1)) return false;
    return true;
}

/* The rings that are waited for (or acquired, or either) inside, as bits. */
static unsigned rings_by(const Flatten *f, const Op *op, Opcode one, Opcode other) {
    unsigned rings = 0;
    for (size_t i = 0; i < f->lines.count && (op->code == one || op->code == other); i++)
        if (f->lines.at[i].ring == op->operands[0]) rings |= 1u << i;
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next)
            rings |= rings_by(f, inner, one, other);
    return rings;
}
static unsigned rings_inside(const Flatten *f, const Op *op) { return rings_by(f, op, OP_ACQUIRE, OP_WAIT); }

static bool meets(const Flatten *f, int a, int b) {
    const Op *x = f->worker[a].at, *y = f->worker[b].at;
    int bounds = x->code == OP_FOR ? 3 : 1;
    if (!y || x->code != y->code) return false;
    for (int i = 0; i < bounds; i++)
        if (!same_value(f, refmap_get(&f->worker[a].map, x->operands[i]), refmap_get(&f->worker[b].map, y->operands[i]),
                        20))
            return false;
    return true;
}

/* All roles that hand over what is handed over inside of first's loop or if stand at it: those go through together. */
static bool find_members(const Flatten *f, int first, bool *member) {
    unsigned rings = rings_inside(f, f->worker[first].at), met = 0;
    for (int i = 0; i < f->count; i++) member[i] = i == first;
    while (met != rings) {
        met = rings;
        for (size_t line = 0; line < f->lines.count; line++)
            for (int i = 0; i < f->count; i++) {
                if (!(met >> line & 1) || !(f->lines.at[line].roles >> i & 1) || member[i]) continue;
                if (!meets(f, first, i) || !(rings_inside(f, f->worker[i].at) >> line & 1)) return false;
                member[i] = true;
                rings |= rings_inside(f, f->worker[i].at);
            }
    }
    return true;
}

/* How much is on its way to each role, to be the same behind a loop or if as before it. */
static void count_waiting(const Flatten *f, size_t *waiting) {
    for (size_t i = 0; i < f->lines.count; i++)
        for (int w = 0; w < f->count; w++)
            waiting[i * MAX_ROLES + (size_t)w] =
                f->lines.at[i].consumers >> w & 1 ? f->lines.at[i].items.count - f->lines.at[i].taken[w] : 0;
}

static bool fuse(Flatten *f, Builder *b);

/* The regions number r of the ops that the members stand at, as one. */
static bool fuse_regions(Flatten *f, Builder *b, const bool *member, const Op *const *ops, int r) {
    size_t before[MAX_ROLES * MAX_RINGS] = {0}, after[MAX_ROLES * MAX_RINGS] = {0};
    count_waiting(f, before);
    const Op *outside[MAX_ROLES];
    for (int i = 0; i < f->count; i++) {
        outside[i] = f->worker[i].at;
        const Op *first = member[i] ? ops[i]->regions[r]->first : NULL;
        f->worker[i].at = first && !op_has(first->code, TRAIT_TERMINATOR) ? first : NULL;
    }
    bool good = fuse(f, b);
    for (int i = 0; i < f->count; i++) f->worker[i].at = outside[i];
    count_waiting(f, after);
    if (good && memcmp(before, after, f->lines.count * MAX_ROLES * sizeof *before) != 0)
        return fail(f, "items cross the edge of a loop or if");
    return good;
}

static void add_yield(Flatten *f, Builder *in, const bool *member, const Op *const *ops, int r) {
    VEC(Ref) values = {0};
    for (int i = 0; i < f->count; i++) {
        if (!member[i]) continue;
        const Op *last = ops[i]->regions[r]->last;
        for (int v = 0; v < last->operand_count; v++)
            *VEC_PUSH(&values, f->arena) = refmap_get(&f->worker[i].map, last->operands[v]);
    }
    ir_yield(in, values.at, (int)values.count);
}

static bool fuse_meeting(Flatten *f, Builder *b, int first, const bool *member) {
    const Op *ops[MAX_ROLES] = {NULL}, *lead = f->worker[first].at;
    for (int i = 0; i < f->count; i++) ops[i] = f->worker[i].at;
    if (lead->code != OP_FOR && lead->code != OP_IF) return fail(f, "a hand-over inside of a while");
    Op *op = ir_begin(b, lead->code);
    op->range = lead->range;
    for (int i = 0; i < (lead->code == OP_FOR ? 3 : 1); i++)
        ir_operand(b, op, refmap_get(&f->worker[first].map, lead->operands[i]));
    for (int i = 0; i < lead->attr_count; i++) op_set(f->k, op, lead->attrs[i]);
    VEC(const Type *) types = {0};
    for (int i = 0; i < f->count; i++)
        for (int v = 0; member[i] && v < ops[i]->result_count; v++) {
            *VEC_PUSH(&types, f->arena) = ir_type(f->k, ops[i]->results[v]);
            if (lead->code == OP_FOR) ir_operand(b, op, refmap_get(&f->worker[i].map, ops[i]->operands[3 + v]));
        }
    for (int r = 0; r < lead->region_count; r++) {
        Region *region = ir_region(b, op);
        Ref variable = REF_NONE;
        for (int i = 0; lead->code == OP_FOR && i < f->count; i++) {
            if (!member[i]) continue;
            const Region *from = ops[i]->regions[0];
            const Value old = *ir_value(f->k, from->args[0]);
            if (!variable) variable = ir_argument(f->k, region, old.type, old.name);
            refmap_set(&f->worker[i].map, from->args[0], variable);
        }
        for (int i = 0; lead->code == OP_FOR && i < f->count; i++)
            for (int v = 1; member[i] && v < ops[i]->regions[0]->arg_count; v++) {
                Ref from = ops[i]->regions[0]->args[v];
                const Value old = *ir_value(f->k, from);
                refmap_set(&f->worker[i].map, from, ir_argument(f->k, region, old.type, old.name));
            }
        Builder in = ir_builder_inside(b, region);
        if (!fuse_regions(f, &in, member, ops, r)) return false;
        add_yield(f, &in, member, ops, r);
    }
    ir_end_results(b, op, (int)types.count, types.at);
    int at = 0;
    for (int i = 0; i < f->count; i++) {
        if (!member[i]) continue;
        for (int v = 0; v < ops[i]->result_count; v++, at++) {
            ir_name(f->k, op->results[at], ir_value(f->k, ops[i]->results[v])->name);
            refmap_set(&f->worker[i].map, ops[i]->results[v], op->results[at]);
        }
        f->worker[i].at = op_has(ops[i]->next->code, TRAIT_TERMINATOR) ? NULL : ops[i]->next;
    }
    return true;
}

/* All roles from where they are to the end of their regions. */
static bool fuse(Flatten *f, Builder *b) {
    for (;;) {
        bool moved = false, left = false, member[MAX_ROLES], found[MAX_ROLES];
        int parked = -1;
        for (int i = 0; i < f->count && !moved; i++) {
            const Op *at = f->worker[i].at;
            left = left || at;
            if (!at) continue;
            moved = step(f, b, i);
            if (f->why) return false;
            if (moved || !at->region_count || parked >= 0 || !find_members(f, i, found)) continue;
            parked = i;
            memcpy(member, found, sizeof member);
        }
        if (moved) continue;
        if (!left) return true;
        if (parked < 0) return fail(f, "the roles wait for each other, or their loops differ");
        if (!fuse_meeting(f, b, parked, member)) return false;
    }
}

/* --- tasks --- */

/* Consumers go first: a role is placed before those that fill its rings. */
static void order_roles(Flatten *f, const Op *tasks) {
    const Op *roles[MAX_ROLES];
    int count = 0;
    for (const Op *role = role_first(tasks); role; role = role_next(role)) roles[count++] = role;
    for (int i = count - 1; i >= 0; i--) { /* written in the order of the data: load, compute, store */
        Worker *w = &f->worker[f->count++];
        *w = (Worker){.role = roles[i], .map = {.arena = f->arena}};
        for (size_t line = 0; line < f->lines.count; line++) {
            unsigned bit = 1u << (f->count - 1);
            if (rings_inside(f, roles[i]) >> line & 1) f->lines.at[line].roles |= bit;
            if (rings_by(f, roles[i], OP_WAIT, OP_WAIT) >> line & 1) f->lines.at[line].consumers |= bit;
        }
        const Op *first = roles[i]->regions[0]->first;
        w->at = op_has(first->code, TRAIT_TERMINATOR) ? NULL : first;
    }
}

static Ref program_id(Flatten *f, Builder *b, int64_t dim, const char *name) {
    Op *op = ir_begin(b, OP_PROGRAM_ID);
    op_set(f->k, op, (Attr){.id = AT_DIM, .number = dim});
    Ref id = ir_end(b, op, NULL);
    ir_name(f->k, id, name);
    return id;
}

/* The task's indices: program ids where the extents are the grid's own, else decoded from the one id. */
static bool build_indices(Flatten *f, Builder *b, const Op *tasks, RefMap *map) {
    const Region *body = tasks->regions[0];
    int own = 0;
    for (int i = 0; i < body->arg_count; i++) {
        const Op *extent = ref_is_value(tasks->operands[i]) ? ir_value(f->k, tasks->operands[i])->op : NULL;
        own += extent && extent->code == OP_NUM_PROGRAMS;
    }
    if (own == body->arg_count) {
        for (int i = 0; i < body->arg_count; i++) {
            int64_t dim = op_int(ir_value(f->k, tasks->operands[i])->op, AT_DIM, 0);
            refmap_set(map, body->args[i], program_id(f, b, dim, ir_value(f->k, body->args[i])->name));
        }
        return true;
    }
    if (own || body->arg_count < 1 || body->arg_count > 2) return fail(f, "tasks over extents that are no grid");
    Ref id = program_id(f, b, 0, "pid"), m = id, n = REF_NONE;
    if (body->arg_count == 2)
        grid_order_build(b, op_word(tasks, AT_ORDER, ORDER_ROW), op_int(tasks, AT_GROUP, 1), id, tasks->operands[0],
                         tasks->operands[1], &m, &n);
    refmap_set(map, body->args[0], m);
    if (n) refmap_set(map, body->args[1], n);
    return true;
}

bool ring_flatten(Kernel *k, Arena *scratch, const char **why) {
    Op *tasks = tasks_of(k);
    Flatten *f = ARENA_NEW(scratch, Flatten);
    f->k = k;
    f->arena = scratch;
    for (const Op *op = k->body->first; op; op = op->next)
        if (op->code == OP_RING) *VEC_PUSH(&f->lines, scratch) = (Line){.ring = op->results[0]};
    if (!tasks) return true;
    /* Into a region of its own first, so that a failure leaves the kernel as it was. */
    Region *flat = ARENA_NEW(k->module->arena, Region);
    Builder b = ir_builder(k, flat);
    RefMap header = {.arena = scratch};
    bool good =
        tasks->region_count == 1 ? build_indices(f, &b, tasks, &header) : fail(f, "a template's own loop over tasks");
    if (good) {
        for (const Op *op = tasks->regions[0]->first; op; op = op->next)
            if (op->code != OP_ROLE && op->code != OP_YIELD) ir_clone(&b, op, &header);
        order_roles(f, tasks);
        for (int i = 0; i < f->count; i++)
            for (size_t e = 0; e < header.map.count; e++)
                refmap_set(&f->worker[i].map, (Ref)header.map.entries[e].number,
                           (Ref)(uintptr_t)header.map.entries[e].value);
        good = fuse(f, &b);
    }
    if (!good) {
        *why = f->why;
        return false;
    }
    while (flat->first) ir_move(flat->first, k->body, tasks);
    ir_remove(tasks);
    fold_tidy(k, scratch);
    return true;
}
