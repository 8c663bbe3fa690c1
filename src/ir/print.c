/* SPDX-License-Identifier: Apache-2.0 */
/* print.c: the text form of a kernel; parse.c reads it back, and print(parse(t)) == t for every text printed here.
 *
 *     kernel @add(%X, %Y: *f32, %n: i32) {
 *       %p = program_id<0>
 *       ...
 *     }
 *
 * Names are hints: a value takes its hint unless a visible value has it already, then hint_1, hint_2 ...; values
 * without a hint are numbered. An empty `yield` or `return` at the end of a region is implied and not printed. In
 * layout form the layouts stand at the top, each once, in the order in which values have them: #r0, #r1 .. in
 * registers, #s0 .. in shared memory. */
#include "ir/ringform.h"
#include "ir/text_form.h"
#include "ir/tile_layout.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Printer {
    const Kernel *k;
    Text out;
    const char **names; /* by Ref */
    int *numbers;       /* by Ref: n of hint_n; 0: the hint itself */
    Map taken;          /* printed name -> the visible value that has it */
    Map next;           /* hint -> the first n that may be free: all below it are taken */
    int unnamed;
    Map layouts; /* text of a layout -> its name */
    int homes[2];
} Printer;

static void print_region(Printer *p, const Region *region, int depth);

/* --- names --- */

static bool is_taken(Printer *p, const char *name) { return map_get(&p->taken, name) != NULL; }

static void define(Printer *p, Ref ref) {
    const Value *value = ir_value(p->k, ref);
    Arena *arena = p->out.arena;
    char *name = value->name ? arena_string(arena, value->name, strlen(value->name)) : NULL;
    if (!name) {
        do name = arena_printf(arena, "%d", p->unnamed++);
        while (is_taken(p, name));
    }
    if (is_taken(p, name)) {
        uintptr_t n = (uintptr_t)map_get(&p->next, value->name);
        for (n += !n; is_taken(p, name = arena_printf(arena, "%s_%d", value->name, (int)n));) n++;
        map_set(&p->next, arena, value->name, (void *)(n + 1));
        p->numbers[ref] = (int)n;
    }
    map_set(&p->taken, arena, name, (void *)value);
    p->names[ref] = name;
}

static void forget(Printer *p, Ref ref) {
    uintptr_t n = (uintptr_t)p->numbers[ref];
    map_set(&p->taken, p->out.arena, p->names[ref], NULL);
    if (n && n < (uintptr_t)map_get(&p->next, ir_value(p->k, ref)->name))
        map_set(&p->next, p->out.arena, ir_value(p->k, ref)->name, (void *)n);
}

/* --- layouts --- */

static void name_layout(Printer *p, const Layout *layout, const Type *type) {
    char *text = layout_text(layout, type, p->out.arena);
    if (map_get(&p->layouts, text)) return;
    bool shared = layout->home == HOME_SHARED;
    char *name = arena_printf(p->out.arena, "%c%d", shared ? 's' : 'r', p->homes[shared]++);
    map_set(&p->layouts, p->out.arena, text, name);
    text_add(&p->out, "  layout #%s = %s\n", name, text);
}

static void name_value_layouts(Printer *p, Ref ref) {
    const Value *value = ir_value(p->k, ref);
    const Layout *layout = value->layout;
    if (!layout) return;
    for (int i = 0; layout->home == HOME_SLOTS && i < value->type->field_count; i++)
        name_layout(p, &(Layout){.home = HOME_SHARED, .tile = layout->fields[i]}, value->type->fields[i].type);
    if (layout->home != HOME_SLOTS) name_layout(p, layout, value->type);
}

/* In the order of the text. */
static void print_layouts(Printer *p, const Region *region) {
    for (int i = 0; i < region->arg_count; i++) name_value_layouts(p, region->args[i]);
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->result_count; i++) name_value_layouts(p, op->results[i]);
        for (int i = 0; i < op->region_count; i++) print_layouts(p, op->regions[i]);
    }
}

static void print_layout_of(Printer *p, const Layout *layout, const Type *type) {
    text_add(&p->out, "#%s", (const char *)map_get(&p->layouts, layout_text(layout, type, p->out.arena)));
}

/* The name of a value where it is defined, and where it lives. */
static void print_definition(Printer *p, Ref ref) {
    const Value *value = ir_value(p->k, ref);
    text_add(&p->out, "%%%s", p->names[ref]);
    if (value->layout && value->layout->home != HOME_SLOTS) print_layout_of(p, value->layout, value->type);
}

/* --- operands, attributes, types --- */

static void print_type(Printer *p, const Type *type) { text_add(&p->out, "%s", ty_text(type, p->out.arena)); }

/* The type that an op gives its result; of a ring with the layouts of its fields. */
static void print_given_type(Printer *p, const Value *result) {
    const Type *type = result->type;
    if (!result->layout || result->layout->home != HOME_SLOTS) {
        print_type(p, type);
        return;
    }
    text_add_char(&p->out, '{');
    for (int i = 0; i < type->field_count; i++) {
        text_add(&p->out, "%s%s: ", i ? ", " : "", type->fields[i].name);
        print_type(p, type->fields[i].type);
        print_layout_of(p, &(Layout){.home = HOME_SHARED, .tile = result->layout->fields[i]}, type->fields[i].type);
    }
    text_add_char(&p->out, '}');
}

static LiteralKind kind_of(const Literal *literal) {
    if (literal->type->elem == EL_I1 && !literal->type->pointer) return LITERAL_BOOL;
    return elem_is_float(literal->type->elem) && !literal->type->pointer ? LITERAL_FLOAT : LITERAL_INT;
}

static void print_literal(Printer *p, Ref ref, const Type *expected) {
    const Literal *literal = ir_literal(p->k, ref);
    LiteralKind kind = kind_of(literal);
    if (kind == LITERAL_BOOL)
        text_add(&p->out, "%s", literal->i ? "true" : "false");
    else if (kind == LITERAL_INT && literal->type->elem == EL_U64)
        text_add(&p->out, "%llu", (unsigned long long)literal->i);
    else if (kind == LITERAL_INT)
        text_add(&p->out, "%lld", (long long)literal->i);
    else if (isnan(literal->f))
        text_add(&p->out, "nan");
    else if (isinf(literal->f))
        text_add(&p->out, literal->f < 0 ? "-inf" : "inf");
    else {
        char *text = NULL;
        for (int digits = 1; digits <= 17; digits++) { /* the shortest that reads back */
            text = arena_printf(p->out.arena, "%.*g", digits, literal->f);
            if (elem_round(literal->type->elem, strtod(text, NULL)) == literal->f) break;
        }
        text_add(&p->out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
    }
    if (literal->type != expected) {
        text_add(&p->out, ":");
        print_type(p, literal->type);
    }
}

static void print_ref(Printer *p, Ref ref, const Type *expected) {
    if (ref == REF_NONE)
        text_add(&p->out, "none");
    else if (ref_is_literal(ref))
        print_literal(p, ref, expected);
    else
        text_add(&p->out, "%%%s", p->names[ref] ? p->names[ref] : "?undefined");
}

static void print_operand(Printer *p, const Op *op, int index, const Type *given) {
    Ref ref = op->operands[index];
    const Type *expected = NULL;
    if (ref_is_literal(ref)) {
        LiteralKind kind = kind_of(ir_literal(p->k, ref));
        expected = ir_literal_context(p->k, op, index, given, kind);
    }
    print_ref(p, ref, expected);
}

static bool is_name(const char *text) {
    for (const char *s = text; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_') return false;
    return *text && !isdigit((unsigned char)*text);
}

static void print_text(Printer *p, const char *text) {
    if (is_name(text)) {
        text_add(&p->out, "%s", text);
        return;
    }
    text_add_char(&p->out, '"');
    for (const char *s = text; *s; s++) {
        if (*s == '"' || *s == '\\')
            text_add(&p->out, "\\%c", *s);
        else if ((unsigned char)*s < 0x20)
            text_add(&p->out, "\\x%02x", (unsigned char)*s);
        else
            text_add_char(&p->out, *s);
    }
    text_add_char(&p->out, '"');
}

static void print_attr_value(Printer *p, const Attr *attr, const Type *element) {
    switch (attr_info[attr->id].kind) {
    case ATTR_FLAG: break;
    case ATTR_INT: text_add(&p->out, "%lld", (long long)attr->number); break;
    case ATTR_ENUM: text_add(&p->out, "%s", word_info[attr->word].text); break;
    case ATTR_TEXT: print_text(p, attr->text); break;
    case ATTR_REF: print_ref(p, attr->ref, element); break;
    case ATTR_INTS:
        text_add_char(&p->out, '[');
        for (int i = 0; i < attr->list.count; i++)
            text_add(&p->out, "%s%lld", i ? "," : "", (long long)attr->list.at[i]);
        text_add_char(&p->out, ']');
        break;
    }
}

static void print_attrs(Printer *p, Opcode code, const Attr *attrs, int count, const Type *element, bool skip_name) {
    const char *before = "<";
    for (int positional = 1; positional >= 0; positional--)
        for (int i = 0; i < count; i++) {
            if (skip_name && (attrs[i].id == AT_FIELD_NUMBER || attrs[i].id == AT_ROLE)) continue;
            if (op_attr_is_positional(code, attrs[i].id) != (positional == 1)) continue;
            text_add(&p->out, "%s", before);
            before = ", ";
            if (!positional) text_add(&p->out, "%s", attr_info[attrs[i].id].text);
            if (!positional && attr_info[attrs[i].id].kind != ATTR_FLAG) text_add_char(&p->out, '=');
            print_attr_value(p, &attrs[i], element);
        }
    if (*before == ',') text_add_char(&p->out, '>');
}

static void print_op_attrs(Printer *p, const Op *op) {
    const Type *element = NULL;
    if (op->result_count && ir_type(p->k, op->results[0])->kind == TY_TILE)
        element = ty_scalar(p->k->module, ir_type(p->k, op->results[0])->elem);
    bool name_elsewhere = op->code == OP_PUT || op->code == OP_GET || op->code == OP_ROLE;
    print_attrs(p, op->code, op->attrs, op->attr_count, element, name_elsewhere);
}

/* Operands [from, to), list brackets included; trailing absent ones are left out. */
static void print_operands(Printer *p, const Op *op, const Type *given) {
    int last = op->operand_count;
    while (last > 0 && op->operands[last - 1] == REF_NONE) last--;
    int at = 0, list = 0;
    bool first = true;
    for (const char *s = op_info[op->code].operands; *s; s++) {
        if (*s == ' ' || *s == '?' || *s == '*') continue;
        bool bracket = *s == '[';
        if (bracket) s += 2;
        bool star = !bracket && s[1] == '*';
        int n = bracket ? op->list_count[list++] : star ? op->operand_count - at : 1;
        if (bracket && op->code == OP_PUT && n == 0) continue;
        if (!bracket && at >= last) break;
        text_add(&p->out, first ? " " : ", ");
        first = false;
        if (bracket) text_add_char(&p->out, '[');
        for (int i = 0; i < n; i++, at++) {
            if (i) text_add(&p->out, ", ");
            print_operand(p, op, at, given);
            if (at == 0 && (op->code == OP_PUT || op->code == OP_GET)) {
                text_add_char(&p->out, '.');
                print_text(p, hand_field_name(p->k, op));
            }
        }
        if (bracket) text_add_char(&p->out, ']');
    }
}

/* `(%a = %x, %b = %y)`: arguments [skip, ...) of the region with the operands that start them. */
static void print_carried(Printer *p, const Op *op, const Region *region, int skip_args, int skip_operands) {
    if (region->arg_count == skip_args) return;
    text_add(&p->out, " (");
    for (int i = skip_args; i < region->arg_count; i++) {
        text_add(&p->out, i > skip_args ? ", " : "");
        print_definition(p, region->args[i]);
        text_add(&p->out, " = ");
        print_operand(p, op, skip_operands + i - skip_args, NULL);
    }
    text_add_char(&p->out, ')');
}

static void print_args(Printer *p, const Region *region, int skip, bool types) {
    for (int i = skip; i < region->arg_count; i++) {
        text_add(&p->out, i > skip ? ", " : "");
        print_definition(p, region->args[i]);
        if (!types) continue;
        text_add(&p->out, ": ");
        print_type(p, ir_type(p->k, region->args[i]));
    }
}

static void define_args(Printer *p, const Region *region) {
    for (int i = 0; i < region->arg_count; i++) define(p, region->args[i]);
}

/* The part of an op with regions that stands before the first brace, in its own grammar. */
static void print_head(Printer *p, const Op *op) {
    const Region *first = op->region_count ? op->regions[0] : NULL;
    switch (op->code) {
    case OP_FOR:
        print_op_attrs(p, op);
        text_add(&p->out, " %%%s = ", p->names[first->args[0]]);
        for (int i = 0; i < 3; i++) {
            if (i) text_add(&p->out, ", ");
            print_operand(p, op, i, NULL);
        }
        print_carried(p, op, first, 1, 3);
        break;
    case OP_WHILE: print_carried(p, op, first, 0, 0); break;
    case OP_PARALLEL:
    case OP_SPMD:
        text_add_char(&p->out, ' ');
        print_args(p, first, 0, false);
        text_add(&p->out, " in");
        print_operands(p, op, NULL);
        text_add(&p->out, op->attr_count ? " " : "");
        print_op_attrs(p, op);
        break;
    case OP_TASKS:
        text_add_char(&p->out, ' ');
        print_args(p, first, 0, false);
        if (op->region_count == 2)
            text_add(&p->out, " while");
        else {
            text_add(&p->out, " in");
            print_operands(p, op, NULL);
        }
        text_add(&p->out, op->attr_count ? " " : "");
        print_op_attrs(p, op);
        break;
    case OP_ROLE:
        text_add(&p->out, " %s", role_text(op));
        print_op_attrs(p, op);
        break;
    default:
        print_op_attrs(p, op);
        print_operands(p, op, NULL);
        if (first && first->arg_count) {
            text_add(&p->out, " (");
            print_args(p, first, 0, true);
            text_add_char(&p->out, ')');
        }
    }
}

static void print_op(Printer *p, const Op *op, int depth) {
    for (int i = 0; i < depth; i++) text_add(&p->out, "  ");
    /* Results get their names after the regions, which cannot see them; but they are printed first. A result's name
     * must not collide with names inside, so it is chosen now and entered into `taken` now. */
    for (int i = 0; i < op->result_count; i++) {
        define(p, op->results[i]);
        text_add(&p->out, i ? ", " : "");
        print_definition(p, op->results[i]);
    }
    if (op->result_count) text_add(&p->out, " = ");
    text_add(&p->out, "%s", op_info[op->code].mnemonic);
    const Type *given = op_info[op->code].result == RES_GIVEN ? ir_type(p->k, op->results[0]) : NULL;
    if (op->region_count) {
        define_args(p, op->regions[0]);
        print_head(p, op);
    } else {
        print_op_attrs(p, op);
        print_operands(p, op, given);
        if (given) {
            text_add(&p->out, " : ");
            print_given_type(p, ir_value(p->k, op->results[0]));
        }
    }
    for (int i = 0; i < op->region_count; i++) {
        const Region *region = op->regions[i];
        if (i > 0) define_args(p, region);
        if (i > 0 && region->arg_count) {
            text_add(&p->out, " do (");
            print_args(p, region, 0, false);
            text_add_char(&p->out, ')');
        }
        text_add(&p->out, " {\n");
        print_region(p, region, depth + 1);
        for (int d = 0; d < depth; d++) text_add(&p->out, "  ");
        text_add_char(&p->out, '}');
        for (int a = 0; a < region->arg_count; a++) forget(p, region->args[a]);
    }
    text_add_char(&p->out, '\n');
}

static bool is_implied(const Op *op) {
    return (op->code == OP_YIELD || op->code == OP_RETURN) && op->operand_count == 0 && !op->next;
}

static void print_region(Printer *p, const Region *region, int depth) {
    for (const Op *op = region->first; op; op = op->next)
        if (!is_implied(op)) print_op(p, op, depth);
    for (const Op *op = region->first; op; op = op->next)
        for (int i = 0; i < op->result_count; i++) forget(p, op->results[i]);
}

static void print_parameters(Printer *p, const Region *body) {
    text_add_char(&p->out, '(');
    for (int i = 0; i < body->arg_count; i++) {
        const Type *type = ir_type(p->k, body->args[i]);
        text_add(&p->out, "%%%s", p->names[body->args[i]]);
        if (i + 1 < body->arg_count && ir_type(p->k, body->args[i + 1]) == type) {
            text_add(&p->out, ", ");
            continue;
        }
        text_add(&p->out, ": ");
        print_type(p, type);
        if (i + 1 < body->arg_count) text_add(&p->out, ", ");
    }
    text_add_char(&p->out, ')');
}

/* A form that the ops do not tell stands first. */
static void print_kernel_attrs(Printer *p) {
    const Kernel *k = p->k;
    Attr *attrs = ARENA_ARRAY(p->out.arena, Attr, k->attr_count + 1);
    int count = 0;
    if (k->form >= FORM_LAYOUT)
        attrs[count++] = (Attr){.id = AT_FORM, .word = k->form == FORM_LAYOUT ? KERNEL_LAYOUT : KERNEL_SCHEDULE};
    for (int i = 0; i < k->attr_count; i++) attrs[count++] = k->attrs[i];
    text_add(&p->out, count ? " " : "");
    print_attrs(p, OP_NONE, attrs, count, NULL, false);
}

char *ir_print(const Kernel *k, Arena *arena) {
    Printer p = {.k = k, .out = text_new(arena)};
    p.names = ARENA_ARRAY(arena, const char *, k->values.count);
    p.numbers = ARENA_ARRAY(arena, int, k->values.count);
    text_add(&p.out, "kernel @%s", k->name);
    define_args(&p, k->body);
    print_parameters(&p, k->body);
    print_kernel_attrs(&p);
    text_add(&p.out, " {\n");
    print_layouts(&p, k->body);
    if (k->grid) {
        /* The grid's arguments stand for the parameters and carry their names. */
        for (int i = 0; i < k->grid->arg_count; i++) p.names[k->grid->args[i]] = p.names[k->body->args[i]];
        text_add(&p.out, "  grid {\n");
        print_region(&p, k->grid, 2);
        text_add(&p.out, "  }\n");
    }
    print_region(&p, k->body, 1);
    text_add(&p.out, "}\n");
    return p.out.at;
}
