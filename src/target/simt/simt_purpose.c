/* SPDX-License-Identifier: Apache-2.0 */
/* simt_purpose.c: what index arithmetic is for, as comments above it.
 *
 *     // first row of q in q_ptr; first row of o in o_ptr
 *     const i32 start_m = tw_mul(pid, 128);
 *
 * A number is for what is done with it: from its users on to what these compute of it, until something else than an
 * index comes of it (an access, a trip count, a condition, an element). Names are the source's. */
#include "target/simt/simt_box.h"

#include "ir/build.h"
#include "ir/ringform.h"

#include <string.h>

enum { MOST_SAID = 3, MOST_STEPS = 256 };

struct Purposes {
    UserIndex users;
    size_t count; /* of values that the index knows */
    int *seen;    /* by Ref: the last question that came by */
    int question;
};

typedef struct Search {
    Emit *e;
    VEC(Ref) open;
    const char *said[MOST_SAID + 1];
    int count;
} Search;

void purpose_begin(Emit *e) {
    Purposes *p = ARENA_NEW(e->arena, Purposes);
    p->users = ir_index_users(e->k, e->arena);
    p->count = e->k->values.count;
    p->seen = ARENA_ARRAY(e->arena, int, p->count);
    e->purposes = p;
}

/* --- what things are called --- */
/* Is it the same elements in another shape, place or type? */
static bool is_view(Opcode code) {
    return code == OP_CAST || code == OP_CONVERT || code == OP_PERMUTE || code == OP_EXPAND || code == OP_RESHAPE;
}

static const char *name_of(Emit *e, Ref value, bool by_line) {
    const char *assigned = NULL;
    for (int steps = 0; ref_is_value(value) && steps < 16; steps++) {
        const Value *v = ir_value(e->k, value);
        if (v->name) return v->name;
        if (!v->op) return assigned;
        if (v->op->code == OP_GET) return hand_field_name(e->k, v->op);
        if (!assigned && by_line) assigned = cs_assigned_name(&e->p, v->op->range);
        if (!is_view(v->op->code)) return assigned;
        value = v->op->operands[0];
    }
    return assigned;
}

const char *purpose_name(Emit *e, Ref value) { return name_of(e, value, true); }

const char *purpose_tile(Emit *e, Ref value) {
    const char *name = purpose_name(e, value);
    return name ? name : "the tile";
}

/* The array behind a tensor or a pointer: the parameter that it begins with. */
const char *purpose_array(Emit *e, Ref value) {
    for (int steps = 0; ref_is_value(value) && steps < 64; steps++) {
        const Value *v = ir_value(e->k, value);
        if (!v->op) return v->name && !v->region->owner ? v->name : "memory";
        if (!v->op->operand_count) break;
        value = v->op->operands[0];
    }
    return "memory";
}

static const char *line_text(Emit *e, const Op *op) {
    Place place = {0};
    if (!e->k->module->sources || !source_find(e->k->module->sources, op->range.begin, &place)) return "";
    return arena_printf(e->arena, " in line %d", place.line);
}

/* What is counted along a dimension of a tensor. */
static const char *axis_text(Emit *e, Ref tensor, int d) {
    int rank = ir_type(e->k, tensor)->rank;
    const Op *op = ir_value(e->k, tensor)->op;
    bool made = op && op->code == OP_TENSOR;
    int64_t one = 1;
    bool rows = !made || (ir_const_int(e->k, op_list(op, 1).at[rank - 1], &one) && one == 1);
    if (rows && rank == 1) return "element";
    if (rows && d >= rank - 2) return d == rank - 1 ? "column" : "row";
    const char *stride = made ? name_of(e, op_list(op, 1).at[d], false) : NULL;
    return stride ? arena_printf(e->arena, "step of %s", stride) : arena_printf(e->arena, "index along axis %d", d);
}

/* --- what a use is for --- */
static bool is_index(const Type *type) {
    return type->kind == TY_TILE && (type->pointer || !elem_is_float(type->elem));
}

static void say(Search *s, const char *text) {
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->said[i], text) == 0) return;
    if (s->count <= MOST_SAID) s->said[s->count++] = text;
}

static void go_on(Search *s, Ref value) {
    Purposes *p = s->e->purposes;
    if (!ref_is_value(value) || value >= p->count || p->seen[value] == p->question) return;
    p->seen[value] = p->question;
    *VEC_PUSH(&s->open, s->e->arena) = value;
}

/* A place in memory, or a condition of it. What is stored is no index. */
static void say_access(Search *s, const Op *op, Ref value) {
    Emit *e = s->e;
    bool reads = op->code == OP_LOAD || op->code == OP_TLOAD;
    Ref stored = reads ? REF_NONE : op_operand(op, 1);
    Ref mask = op->code == OP_ATOMIC_CAS ? REF_NONE : op_operand(op, reads ? 1 : 2);
    const char *array = purpose_array(e, op->operands[0]);
    const char *name = purpose_name(e, reads ? op->results[0] : stored);
    const char *tile = name ? name : reads ? "what is read" : "what is stored";
    bool many = ir_type(e->k, value)->rank > 0;
    if (mask == value) {
        const char *of = name && many ? arena_printf(e->arena, " of %s", name) : "";
        say(s, many ? arena_printf(e->arena, "which elements%s are %s", of, reads ? "read" : "written")
                    : arena_printf(e->arena, "whether %s is %s", name ? name : "it", reads ? "read" : "written"));
    } else if (op->code == OP_TLOAD || op->code == OP_TSTORE || op->code == OP_TATOMIC) {
        RefList offsets = op_list(op, 0);
        for (int d = 0; d < offsets.count; d++) {
            if (offsets.at[d] != value) continue;
            const char *axis = axis_text(e, op->operands[0], d);
            const Type *box = ir_type(e->k, reads ? op->results[0] : stored);
            bool one = box_axis(op, offsets.count, box->rank, d) < 0;
            const char *first = many || one ? "" : "first ";
            say(s, arena_printf(e->arena, "%s%s%s of %s in %s", first, axis, many ? "s" : "", tile, array));
        }
    } else if (op->operands[0] == value) {
        say(s, arena_printf(e->arena, many ? "addresses of %s in %s" : "address of %s in %s", tile, array));
    }
}

/* A branch between a tile as it is and the same under its mask: the tile's name. */
static const char *masked_tile(Emit *e, const Op *branch) {
    if (branch->region_count < 2 || !branch->result_count || branch->regions[0]->first != branch->regions[0]->last)
        return NULL;
    const Op *yield = branch->regions[1]->last;
    for (int i = 0; i < branch->result_count && yield; i++) {
        const Op *select = ref_is_value(yield->operands[i]) ? ir_value(e->k, yield->operands[i])->op : NULL;
        Ref whole = branch->regions[0]->last->operands[i];
        if (select && select->parent == branch->regions[1] && ir_op_uses(select, whole))
            return purpose_tile(e, select->results[0]);
    }
    return NULL;
}

static void say_branch(Search *s, const Op *op) {
    const char *tile = masked_tile(s->e, op);
    say(s, tile ? arena_printf(s->e->arena, "whether %s is masked nowhere: then no mask is computed", tile)
                : arena_printf(s->e->arena, "whether the branch%s is taken", line_text(s->e, op)));
}

static void say_loop(Search *s, const Op *op, Ref value) {
    const char *variable = ir_value(s->e->k, op->regions[0]->args[0])->name;
    for (int i = 0; i < 3; i++)
        if (op->operands[i] == value)
            say(s, variable ? arena_printf(s->e->arena, "trips of the loop over %s", variable)
                            : arena_printf(s->e->arena, "trips of the loop%s", line_text(s->e, op)));
    for (int i = 3; i < op->operand_count; i++)
        if (op->operands[i] == value) go_on(s, op->regions[0]->args[i - 2]), go_on(s, op->results[i - 3]);
}

/* What leaves a region goes on as a result of its owner, or in the next trip. */
static void go_out(Search *s, const Op *end, Ref value) {
    const Op *owner = end->parent->owner;
    if (!owner) return;
    for (int i = 0; i < end->operand_count; i++) {
        if (end->operands[i] != value) continue;
        if (end->code == OP_TEST && i == 0) {
            say(s, arena_printf(s->e->arena, "whether the loop%s goes on", line_text(s->e, owner)));
            continue;
        }
        int carried = i - (end->code == OP_TEST);
        if (carried < owner->result_count) go_on(s, owner->results[carried]);
        if (owner->code == OP_FOR) go_on(s, owner->regions[0]->args[carried + 1]);
        if (owner->code == OP_WHILE) go_on(s, owner->regions[0]->args[carried]);
    }
}

/* Floats: chosen by it, or made of it. Others are numbers that are no indices. */
static void say_result(Search *s, const Op *op, Ref value) {
    const char *of = purpose_name(s->e, op->results[0]);
    if (!of) return;
    if (op->code == OP_SELECT && op->operands[0] == value)
        say(s, arena_printf(s->e->arena, "which elements of %s are kept", of));
    else if (op->code == OP_CAST)
        say(s, arena_printf(s->e->arena, "what %s is made of", of));
}

static void look_at_use(Search *s, const Op *op, Ref value) {
    Emit *e = s->e;
    switch (op->code) {
    case OP_TLOAD:
    case OP_TSTORE:
    case OP_TATOMIC:
    case OP_LOAD:
    case OP_STORE:
    case OP_ATOMIC:
    case OP_ATOMIC_CAS: say_access(s, op, value); return;
    case OP_BLOAD:
    case OP_BSTORE:
    case OP_BATOMIC:
    case OP_ASYNC_COPY: {
        const char *buffer = ir_value(e->k, op->operands[op->code == OP_ASYNC_COPY ? op->operand_count - 1 : 0])->name;
        say(s, arena_printf(e->arena, "place in %s", buffer ? buffer : "a buffer"));
        return;
    }
    case OP_FOR: say_loop(s, op, value); return;
    case OP_WHILE:
        for (int i = 0; i < op->operand_count; i++)
            if (op->operands[i] == value) go_on(s, op->regions[0]->args[i]), go_on(s, op->results[i]);
        return;
    case OP_IF: say_branch(s, op); return;
    case OP_YIELD:
    case OP_TEST: go_out(s, op, value); return;
    case OP_TENSOR: /* extents and strides are asked for where it is read or written */
        if (op->operands[0] == value && ir_value(e->k, value)->op)
            say(s, arena_printf(e->arena, "where this part of %s begins", purpose_array(e, op->results[0])));
        return;
    case OP_ASSUME:
    case OP_REQUIRE: return;
    case OP_TASKS: say(s, "how many programs there are"); return;
    case OP_ASSERT: say(s, "what is asserted"); return;
    case OP_PRINT: say(s, "what is printed"); return;
    default: break;
    }
    if (!op->result_count) return;
    if (is_index(ir_type(e->k, op->results[0])) && op_has(op->code, TRAIT_PURE)) {
        for (int i = 0; i < op->result_count; i++) go_on(s, op->results[i]);
        return;
    }
    say_result(s, op, value);
}

static const char *purpose_of(Emit *e, Ref value) {
    Purposes *p = e->purposes;
    Search s = {.e = e};
    p->question++;
    go_on(&s, value);
    for (size_t i = 0; i < s.open.count && i < MOST_STEPS && s.count <= MOST_SAID; i++) {
        Ref at = s.open.at[i];
        for (int u = p->users.start[at]; u < p->users.start[at + 1]; u++) look_at_use(&s, p->users.list[u], at);
    }
    if (!s.count) return NULL;
    Text t = text_new(e->arena);
    for (int i = 0; i < s.count && i < MOST_SAID; i++) text_add(&t, "%s%s", i ? "; " : "", s.said[i]);
    if (s.count > MOST_SAID) text_add(&t, "; ..");
    return t.at;
}

void purpose_say(Emit *e, Ref value) {
    if (!e->purposes || !e->p.dialect->speaks || !is_index(ir_type(e->k, value))) return;
    const char *text = purpose_of(e, value);
    if (text) cs_note(&e->p, "%s", text);
}

/* --- accesses --- */
void purpose_box(Emit *e, const Box *b) {
    bool reads = b->op->code == OP_TLOAD;
    Ref tensor = b->op->operands[0], value = reads ? b->op->results[0] : op_operand(b->op, 1);
    int rank = b->tensor.rank;
    const char *by = reads ? "%s from %s" : b->op->code == OP_TATOMIC ? "%s into %s" : "%s to %s";
    Text t = text_new(e->arena);
    text_add(&t, "%s", arena_printf(e->arena, by, purpose_tile(e, value), purpose_array(e, tensor)));
    if (b->vector > 1) text_add(&t, ", %d elements at a time", b->vector);
    text_add(&t, b->layout ? ": each thread's" : ": its");
    for (int d = 0; d < rank; d++)
        text_add(&t, "%s %s (i%d)", !d ? "" : d + 1 < rank ? "," : " and", axis_text(e, tensor, d), d);
    cs_note(&e->p, "%s", t.at);
}

void purpose_boxes(Emit *e, const Op *op, Ref value, int boxes, int columns, long long bytes) {
    int rank = ir_type(e->k, op->operands[0])->rank;
    Text t = text_new(e->arena);
    text_add(&t, "%s %s %s; where it begins:", purpose_tile(e, value), op->code == OP_TLOAD ? "from" : "to",
             purpose_array(e, op->operands[0]));
    for (int d = rank; d-- > 0;) text_add(&t, "%s %s", d < rank - 1 ? "," : "", axis_text(e, op->operands[0], d));
    if (boxes > 1) text_add(&t, "; %d boxes of %d columns, %lld bytes apart in shared memory", boxes, columns, bytes);
    cs_note(&e->p, "%s", t.at);
}
