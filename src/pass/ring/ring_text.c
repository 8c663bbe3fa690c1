/* SPDX-License-Identifier: Apache-2.0 */
/* ring_text.c: ring form with everything left out that a door may choose freely.
 *
 * Printed are rings, tasks, roles with all their ops, and the header ops that the roles use; values
 * are numbered in the order of their first use, fields by their place. Left out are names, the
 * attributes of the plan (slots, workers, order
 * ..) and the prologue: what it computes, a parameter, and a literal trip count are things given,
 * $0, $1 .. by first use. So a matmul whose sizes are arguments and one whose sizes are constants
 * have one text:
 *
 *     ring 0 load -> compute {f16[128,64], f16[64,256]}
 *     tasks %0, %1 in $0, $1
 *     role load
 *       for %2 = 0, $2, 1 ()
 *         %3 = acquire ring 0
 *         ..
 *     where %4 = mul %0, 128 */
#include "pass/ring/ring.h"
#include "ir/ringform.h"

typedef struct Canon {
    const Kernel *k;
    Text out;
    Map numbers; /* Ref -> its text */
    int values, given, rings;
    VEC(const Op *) header; /* ops of the header in the order of their first use */
    const Region *body;     /* of the tasks */
} Canon;

static void name_value(Canon *c, Ref r, const char *text) {
    map_put_number(&c->numbers, c->out.arena, r, (void *)text);
}

static const char *define(Canon *c, Ref r) {
    const char *text = arena_printf(c->out.arena, "%%%d", c->values++);
    name_value(c, r, text);
    return text;
}

static const char *text_of(Canon *c, Ref r) {
    Arena *arena = c->out.arena;
    MapEntry *entry = map_find_number(&c->numbers, r);
    if (entry) return entry->value;
    if (r == REF_NONE) return "none";
    if (ref_is_literal(r)) {
        const Literal *l = ir_literal(c->k, r);
        if (l->type->pointer || !elem_is_float(l->type->elem)) return arena_printf(arena, "%lld", (long long)l->i);
        return arena_printf(arena, "%.17g", l->f);
    }
    const Op *op = ir_value(c->k, r)->op;
    if (op && op->parent == c->body) { /* of the header */
        for (int i = 0; i < op->result_count; i++) define(c, op->results[i]);
        *VEC_PUSH(&c->header, arena) = op;
        return text_of(c, r);
    }
    const Type *type = ir_type(c->k, r);
    const char *what = type->kind == TY_TENSOR ? ty_text(type, arena) : "";
    name_value(c, r, arena_printf(arena, "$%d%s%s", c->given++, *what ? ":" : "", what));
    return text_of(c, r);
}

/* How long a slot lives is the plan's too: an item that all tasks share may be loaded by each of them. */
static bool is_plan(AttrId id) { return !attr_decides_value(id) || id == AT_LIFE; }

static void add_attr(Canon *c, const Op *op, const Attr *attr) {
    Text *out = &c->out;
    if (is_plan(attr->id)) return;
    if (attr->id == AT_FIELD_NUMBER) {
        text_add(out, " field %d", hand_field(op));
        return;
    }
    text_add(out, " %s", attr_info[attr->id].text);
    switch (attr_info[attr->id].kind) {
    case ATTR_FLAG: break;
    case ATTR_INT: text_add(out, "=%lld", (long long)attr->number); break;
    case ATTR_ENUM: text_add(out, "=%s", word_info[attr->word].text); break;
    case ATTR_TEXT: text_add(out, "=%s", attr->text); break;
    case ATTR_REF: text_add(out, "=%s", text_of(c, attr->ref)); break;
    case ATTR_INTS:
        for (int i = 0; i < attr->list.count; i++) text_add(out, "%c%lld", i ? ',' : '=', (long long)attr->list.at[i]);
        break;
    }
}

/* Attributes in the order of their table, whatever pass set them first. */
static void add_attrs(Canon *c, const Op *op) {
    for (int id = 0; id < AT_COUNT; id++) {
        const Attr *attr = op_attr(op, (AttrId)id);
        if (attr) add_attr(c, op, attr);
    }
}

static void add_region(Canon *c, const Region *region, int depth);

static void add_op(Canon *c, const Op *op, int depth) {
    Text *out = &c->out;
    const char **operands = ARENA_ARRAY(out->arena, const char *, op->operand_count);
    for (int i = 0; i < op->operand_count; i++) {
        bool trips = op->code == OP_FOR && i == 1 && ref_is_literal(op->operands[i]);
        if (trips && !map_find_number(&c->numbers, op->operands[i]))
            name_value(c, op->operands[i], arena_printf(out->arena, "$%d", c->given++));
        operands[i] = text_of(c, op->operands[i]);
    }
    text_indent(out, depth);
    text_add(out, "%s", op_info[op->code].mnemonic);
    add_attrs(c, op);
    int count = op->operand_count; /* operands that are absent at the end need not be there */
    while (count && op->operands[count - 1] == REF_NONE) count--;
    for (int i = 0; i < count; i++) text_add(out, "%s %s", i ? "," : "", operands[i]);
    for (int i = 0; i < op->result_count; i++) {
        text_add(out, "%s %s", i ? "," : " ->", define(c, op->results[i]));
        if (op_info[op->code].result == RES_GIVEN)
            text_add(out, ": %s", ty_text(ir_type(c->k, op->results[i]), out->arena));
    }
    text_add(out, "\n");
    for (int i = 0; i < op->region_count; i++) {
        if (i) text_indent(out, depth), text_add(out, "else\n");
        add_region(c, op->regions[i], depth + 1);
    }
}

static void add_region(Canon *c, const Region *region, int depth) {
    if (region->arg_count) {
        text_indent(&c->out, depth);
        text_add(&c->out, "with");
        for (int i = 0; i < region->arg_count; i++) text_add(&c->out, " %s", define(c, region->args[i]));
        text_add(&c->out, "\n");
    }
    for (const Op *op = region->first; op; op = op->next)
        if (op->code != OP_YIELD || op->operand_count) add_op(c, op, depth);
}

static void add_ring(Canon *c, const Op *op) {
    const Type *type = ir_type(c->k, op->results[0]);
    name_value(c, op->results[0], arena_printf(c->out.arena, "ring%d", c->rings));
    text_add(&c->out, "ring%d %s -> %s {", c->rings++, word_info[ring_producer(op)].text,
             word_info[ring_consumer(op)].text);
    for (int i = 0; i < type->field_count; i++)
        text_add(&c->out, "%s%s", i ? ", " : "", ty_text(type->fields[i].type, c->out.arena));
    text_add(&c->out, "}\n");
}

static void add_tasks(Canon *c, const Op *op) {
    c->body = tasks_body(op);
    text_add(&c->out, "tasks");
    for (int i = 0; i < c->body->arg_count; i++) text_add(&c->out, "%s %s", i ? "," : "", define(c, c->body->args[i]));
    for (int i = 0; i < op->operand_count; i++)
        text_add(&c->out, "%s %s", i ? "," : " in", text_of(c, op->operands[i]));
    text_add(&c->out, "\n");
    if (op->region_count > 1) add_region(c, op->regions[0], 1);
    for (const Op *role = role_first(op); role; role = role_next(role)) {
        text_add(&c->out, "role %s\n", role_text(role));
        add_region(c, role->regions[0], 1);
    }
    for (size_t i = 0; i < c->header.count; i++) { /* grows while it is printed */
        const Op *own = c->header.at[i];
        text_add(&c->out, "where %s = %s", text_of(c, own->results[0]), op_info[own->code].mnemonic);
        add_attrs(c, own);
        for (int o = 0; o < own->operand_count; o++)
            text_add(&c->out, "%s %s", o ? "," : "", text_of(c, own->operands[o]));
        text_add(&c->out, "\n");
    }
}

char *ring_canonical(const Kernel *k, Arena *arena) {
    Canon c = {.k = k, .out = text_new(arena)};
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op->code == OP_RING) add_ring(&c, op);
        if (op->code == OP_TASKS) add_tasks(&c, op);
    }
    return c.out.at;
}
