/* SPDX-License-Identifier: Apache-2.0 */
/* ring_number.c: which loops and conditions of different roles are the same.
 *
 * Each role computes its own bounds, from its own copies of ops and of loops around them. A value gets a number by what
 * it is made of: the op with its attributes and type, and the numbers of its operands; so copies have equal numbers.
 *
 *     role load    { %a = cdiv %n, 4 ; for %i = 0, %a, 1 (%at = %p) { .. } }
 *     role compute { %b = cdiv %n, 4 ; for %j = 0, %b, 1 (%sum = %z, %x = %p) { .. } }      the same trips
 *
 * A carried value is made of what it begins with and of what the loop hands on, which is made of carried values again.
 * A role keeps only those that it needs, so they are not known by their place: while a loop is described, its carried
 * values are numbered in the order in which they are met, and each adds its beginning and its next value to the text.
 *
 * Each role's copy has a plan of its own: where one meets at a barrier the other may not. Attributes that change no
 * result are no part of a number.
 *
 * What is read from memory is the same in all roles only if no op of the kernel writes through the same parameter, or
 * if all that write meet the role that loads there (ring_meet.c), and the two read between the same meetings; otherwise
 * each role sees its own. What this file does not see through is a number of its own, which refutes nothing
 * and proves nothing. */
#include "pass/ring/ring_number.h"

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "ir/build.h"
#include "ir/roots.h"

enum { MAX_DEPTH = 1000 };

/* A loop that is being described. */
typedef struct Scope {
    struct Scope *outer;
    const Op *loop; /* NULL: of a role, outside of all */
    Map known;      /* of values in the loop */
    VEC(Ref) met;   /* its carried values */
    int level;
} Scope;

struct RingNumbers {
    const Kernel *k;
    Arena *arena;
    Map texts, controls; /* text -> number */
    bool *written;       /* by parameter, where no one meets the write */
    bool anywhere;       /* through addresses that are none of them, too */
    bool writes;         /* there is such a write */
    Map meetings;        /* op that reads -> meetings before it in its role, where there are any */
    Scope role[MAX_ROLES], *scope;
    int of_role, depth;
};

static int number_value(RingNumbers *n, Ref ref);

/* --- meetings --- */

static bool is_meeting(const RingNumbers *n, const Op *op, Opcode code) {
    return op && op->code == code && ir_type(n->k, op->operands[0])->field_count == 0;
}

/* Has the role that loads come, and does it wait for the next item before it goes on? */
static bool is_met(const RingNumbers *n, const Op *write) {
    const Op *wait = write->previous, *release = write->next, *again = release ? release->next : NULL;
    return is_meeting(n, wait, OP_WAIT) && is_meeting(n, release, OP_RELEASE) && is_meeting(n, again, OP_WAIT) &&
           release->operands[1] == wait->results[0] && again->operands[0] == wait->operands[0];
}

static void note_write(Op *op, void *user) {
    RingNumbers *n = user;
    int addresses = roots_write(op);
    if (!addresses || is_met(n, op)) return;
    n->writes = true;
    for (int i = 0; i < addresses; i++)
        if (!roots_of(n->k, n->arena, op->operands[i], n->written)) n->anywhere = true;
}

static void count_meetings(RingNumbers *n, const Region *region, uintptr_t *count) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_ROLE) *count = 0;
        *count += is_meeting(n, op, OP_WAIT) || is_meeting(n, op, OP_ACQUIRE);
        if (*count && op_has(op->code, TRAIT_READS))
            map_put_number(&n->meetings, n->arena, (uintptr_t)op, (void *)*count);
        for (int i = 0; i < op->region_count; i++) count_meetings(n, op->regions[i], count);
    }
}

RingNumbers *ring_numbers_new(const Kernel *k, Arena *arena) {
    RingNumbers *n = ARENA_NEW(arena, RingNumbers);
    *n = (RingNumbers){.k = k, .arena = arena, .written = ARENA_ARRAY(arena, bool, k->body->arg_count + 1)};
    uintptr_t meetings = 0;
    count_meetings(n, k->body, &meetings);
    ir_walk(k->body, note_write, n);
    return n;
}

static int number_text(RingNumbers *n, Map *map, const Text *text) {
    MapEntry *entry = map_find(map, text->at, text->length);
    if (!entry) entry = map_put(map, n->arena, text->at, text->length, (void *)(uintptr_t)map->count);
    return (int)(uintptr_t)entry->value;
}

static void add_value(RingNumbers *n, Text *out, Ref ref) {
    int number = number_value(n, ref);
    text_add(out, "%d,", number);
}

/* Does no op of the kernel write where the op reads, between two meetings? */
static bool is_stable(const RingNumbers *n, const Op *op) {
    if (op_has(op->code, TRAIT_WRITES) || op_flag(op, AT_VOLATILE) || !op->operand_count) return false;
    if (!n->writes) return true;
    int root = roots_only(n->k, n->arena, op->operands[0]);
    return root >= 0 && !n->written[root] && !n->anywhere;
}

static void add_attrs(RingNumbers *n, Text *out, const Op *op) {
    for (int i = 0; i < op->attr_count; i++) {
        const Attr *a = &op->attrs[i];
        if (!attr_decides_value(a->id)) continue;
        text_add(out, "<%d:", a->id);
        switch (attr_info[a->id].kind) {
        case ATTR_FLAG: break;
        case ATTR_INT: text_add(out, "%lld", (long long)a->number); break;
        case ATTR_ENUM: text_add(out, "%d", a->word); break;
        case ATTR_TEXT: text_add(out, "%s", a->text); break;
        case ATTR_REF: add_value(n, out, a->ref); break;
        case ATTR_INTS:
            for (int j = 0; j < a->list.count; j++) text_add(out, "%lld ", (long long)a->list.at[j]);
            break;
        }
        text_add(out, ">");
    }
}

/* A loop as far as the values `roots` of it go: how often it runs, and where they come from. */
static void add_loop(RingNumbers *n, Text *out, const Op *loop, const Ref *roots, int count) {
    bool counted = loop->code == OP_FOR;
    Scope inside = {.outer = n->scope, .loop = loop, .level = n->scope->level + 1};
    const Op *last = loop->regions[counted ? 0 : 1]->last;
    text_add(out, counted ? "for(" : "while(");
    for (int i = 0; counted && i < 3; i++) add_value(n, out, loop->operands[i]);
    n->scope = &inside;
    if (!counted) add_value(n, out, loop->regions[0]->last->operands[0]);
    for (int i = 0; i < count; i++) add_value(n, out, roots[i]);
    for (size_t i = 0; i < inside.met.count; i++) { /* more are met on the way */
        int index = ir_value(n->k, inside.met.at[i])->index - counted;
        text_add(out, ";");
        add_value(n, out, loop->operands[3 * counted + index]);
        add_value(n, out, last->operands[index]);
    }
    n->scope = inside.outer;
    text_add(out, ")");
}

static void add_argument(RingNumbers *n, Text *out, Ref ref, const Value value) {
    const Op *owner = value.region->owner;
    bool counted = owner && owner->code == OP_FOR;
    if (counted && value.index == 0) {
        text_add(out, "each(");
        for (int i = 0; i < 3; i++) add_value(n, out, owner->operands[i]);
        return;
    }
    if (!counted && !(owner && owner->code == OP_WHILE)) { /* a parameter, the index of a task */
        text_add(out, "r%u", ref);
        return;
    }
    if (!counted && value.region == owner->regions[1]) { /* as the test handed it on */
        add_value(n, out, owner->regions[0]->last->operands[1 + value.index]);
        return;
    }
    for (Scope *s = n->scope; s; s = s->outer)
        if (s->loop == owner) {
            *VEC_PUSH(&s->met, n->arena) = ref;
            text_add(out, "p%d.%zu", s->level, s->met.count);
            return;
        }
    text_add(out, "carried ");
    add_loop(n, out, owner, &ref, 1);
}

static void add_result(RingNumbers *n, Text *out, Ref ref, const Value value) {
    const Op *op = value.op;
    switch (op->code) {
    case OP_FOR: add_loop(n, out, op, &op->regions[0]->args[1 + value.index], 1); return;
    case OP_WHILE: add_loop(n, out, op, &op->regions[0]->last->operands[1 + value.index], 1); return;
    case OP_IF:
        text_add(out, "if(");
        add_value(n, out, op->operands[0]);
        for (int i = 0; i < 2; i++) add_value(n, out, op->regions[i]->last->operands[value.index]);
        return;
    default: break;
    }
    bool reads = op_has(op->code, TRAIT_READS) && op->code != OP_GET;
    if (op->region_count || (reads && !is_stable(n, op))) {
        text_add(out, "own %d.%u", n->of_role, ref);
        return;
    }
    text_add(out, "%d#%d:%p", op->code, value.index, (const void *)value.type);
    const MapEntry *meetings = map_find_number(&n->meetings, (uintptr_t)op);
    if (meetings) text_add(out, "@%d", (int)(uintptr_t)meetings->value);
    add_attrs(n, out, op);
    text_add(out, "(%d.%d:", op->list_count[0], op->list_count[1]);
    for (int i = 0; i < op->operand_count; i++) add_value(n, out, op->operands[i]);
}

/* The innermost loop being described that the value stands in: there its number holds. */
static Scope *scope_of(RingNumbers *n, const Value value) {
    for (Scope *s = n->scope; s->outer; s = s->outer)
        for (const Region *r = value.op ? value.op->parent : value.region; r; r = r->owner ? r->owner->parent : NULL)
            if (r->owner == s->loop) return s;
    return &n->role[n->of_role];
}

static int number_value(RingNumbers *n, Ref ref) {
    Text text = text_new(n->arena);
    if (!ref_is_value(ref) || n->depth > MAX_DEPTH) {
        text_add(&text, "r%u", ref);
        return number_text(n, &n->texts, &text);
    }
    for (const Scope *s = n->scope; s; s = s->outer) {
        const MapEntry *entry = map_find_number(&s->known, ref);
        if (entry) return (int)(uintptr_t)entry->value;
    }
    const Value value = *ir_value(n->k, ref);
    n->depth++;
    if (value.op)
        add_result(n, &text, ref, value);
    else
        add_argument(n, &text, ref, value);
    n->depth--;
    int number = number_text(n, &n->texts, &text);
    map_put_number(&scope_of(n, value)->known, n->arena, ref, (void *)(uintptr_t)number);
    return number;
}

int ring_number(RingNumbers *n, int role, const Op *op) {
    Text text = text_new(n->arena);
    n->of_role = role;
    n->scope = &n->role[role];
    if (op->code == OP_WHILE)
        add_loop(n, &text, op, NULL, 0);
    else
        for (int i = 0; i < (op->code == OP_IF ? 1 : 3); i++) add_value(n, &text, op->operands[i]);
    return number_text(n, &n->controls, &text);
}

int ring_number_count(const RingNumbers *n) { return (int)n->controls.count; }
