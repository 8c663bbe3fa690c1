/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c: reads the text form that print.c writes (grammar: docs/ir.md).
 *
 * One pass, one token of look-ahead, no backtracking. Ops end at a newline or `;`. The first error of a kernel ends
 * that kernel; the others are still read. Nesting is bounded. */
#include "ir/build.h"
#include "ir/reader.h"
#include "ir/ringform.h"
#include "ir/text_form.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- operands --- */

typedef struct Operand { /* a literal stays open until its type is known */
    bool literal;
    LiteralKind kind;
    const char *text;
    const Type *type; /* written behind it, or NULL */
    Ref ref;
    Range range;
} Operand;

static Ref make_literal(Parser *p, const Operand *o, const Type *type) {
    const char *s = o->text;
    bool is_float = !type->pointer && elem_is_float(type->elem);
    if (type->kind != TY_TILE || type->rank || (o->kind == LITERAL_FLOAT) != is_float ||
        (o->kind == LITERAL_BOOL && type->elem != EL_I1)) {
        reader_error(p, o->range, "this literal has the type %s"
                                  FIX "write the type behind it", ty_text(type, p->m->arena));
        return REF_NONE;
    }
    if (o->kind == LITERAL_BOOL) return ir_literal_int(p->k, type, *s == 't');
    if (is_float) return ir_literal_float(p->k, type, strtod(s, NULL));
    errno = 0;
    char *end;
    int64_t value = *s == '-' ? strtoll(s, &end, 10) : (int64_t)strtoull(s, &end, 10);
    if (*end || errno) reader_error(p, o->range, "`%s` is no integer of at most 64 bits", s);
    return ir_literal_int(p->k, type, value);
}

/* operand = VALUE | literal [":" type] | "none" */
static bool parse_operand(Parser *p, Operand *o) {
    *o = (Operand){.range = p->token.range};
    if (p->token.kind == T_VALUE) {
        MapEntry *entry = map_find(&p->names, p->token.at, p->token.length);
        if (!entry || !entry->value) {
            if (!p->failed) diag_emit(p->m->diag, DIAG_IR_UNKNOWN_VALUE, o->range, reader_token(p));
            p->failed = true;
            return false;
        }
        o->ref = (Ref)(uintptr_t)entry->value;
        reader_advance(p);
        return true;
    }
    if (reader_accept_name(p, "none")) return true;
    o->text = reader_token(p);
    o->literal = true;
    if (reader_sees_name(p, "true") || reader_sees_name(p, "false"))
        o->kind = LITERAL_BOOL;
    else if (reader_sees_name(p, "inf") || reader_sees_name(p, "-inf") || reader_sees_name(p, "nan"))
        o->kind = LITERAL_FLOAT;
    else if (p->token.kind == T_NUMBER) {
        o->kind = strpbrk(o->text, ".e") ? LITERAL_FLOAT : LITERAL_INT;
        char *end;
        if (strtod(o->text, &end), *end) return reader_error(p, o->range, "`%s` is no number", o->text);
    } else
        return reader_error(p, o->range, "a value, a literal or `none` is expected here");
    reader_advance(p);
    if (reader_sees(p, ':') && !isspace((unsigned char)p->at[0])) { /* `0:i64`; ` : type` belongs to the op */
        reader_advance(p);
        if (!(o->type = reader_type(p))) return false;
    }
    return true;
}

/* --- attributes --- */

static bool parse_word(Parser *p, Attr *attr) {
    WordSet set = attr_info[attr->id].set;
    Text words = text_new(p->m->arena);
    for (int w = 1; w < WORD_COUNT; w++) {
        if (word_info[w].set != set) continue;
        attr->word = (Word)w;
        if (reader_accept_name(p, word_info[w].text)) return true;
        text_add(&words, "%s%s", words.length ? ", " : "", word_info[w].text);
    }
    return reader_error(p, p->token.range, "`%s` is one of: %s", attr_info[attr->id].text, words.at);
}

static bool parse_attr_value(Parser *p, Attr *attr, Operand *literal) {
    switch (attr_info[attr->id].kind) {
    case ATTR_FLAG: attr->number = 1; return true;
    case ATTR_INT: return reader_int(p, &attr->number);
    case ATTR_TEXT: attr->text = reader_text(p); return !p->failed;
    case ATTR_REF:
        if (!parse_operand(p, literal)) return false;
        attr->ref = literal->ref;
        return true;
    case ATTR_ENUM: return parse_word(p, attr);
    case ATTR_INTS: {
        VEC(int64_t) list = {0};
        if (!reader_expect(p, '[')) return false;
        while (!reader_sees(p, ']')) {
            if (!reader_int(p, VEC_PUSH(&list, p->m->arena))) return false;
            if (!reader_accept(p, ',')) break;
        }
        attr->list = (IntList){(int)list.count, list.at};
        return reader_expect(p, ']');
    }
    }
    return false;
}

/* The attribute that comes next: by its name, else the first positional one not yet given. */
static AttrId next_attr(Parser *p, Opcode code, const Op *op) {
    for (int id = 1; id < AT_COUNT; id++) {
        if (!op_allows_attr(code, (AttrId)id) || op_attr_is_positional(code, (AttrId)id) ||
            !reader_sees_name(p, attr_info[id].text))
            continue;
        reader_advance(p);
        if (attr_info[id].kind != ATTR_FLAG) reader_expect(p, '=');
        return (AttrId)id;
    }
    AttrId next = op_missing_attr(code, op);
    if (next) return next;
    reader_error(p, p->token.range, "%s has no such attribute",
                 code ? arena_printf(p->m->arena, "`%s`", op_info[code].mnemonic) : "a kernel");
    return AT_NONE;
}

/* attrs = ["<" attr {"," attr} ">"]; a literal attribute's type is known only after the op's result: see fill. */
static bool parse_attrs(Parser *p, Op *op, Operand *fill) {
    if (!reader_accept(p, '<')) return true;
    do {
        Attr attr = {.id = next_attr(p, op->code, op)};
        if (attr.id == AT_NONE || p->failed || !parse_attr_value(p, &attr, fill)) return false;
        op_set(p->k, op, attr);
    } while (reader_accept(p, ','));
    return reader_expect(p, '>');
}

/* --- ops --- */

static bool parse_region(Parser *p, Region *region, bool is_kernel);

typedef struct OpText { /* an op being read */
    Builder *b;
    Op *op;
    Operand operands[MAX_OPERANDS];
    int count;
    Operand fill;
    const Type *given;
} OpText;

static bool add_operand(Parser *p, OpText *t) {
    if (t->count == MAX_OPERANDS) return reader_error(p, p->token.range, "more than %d operands", MAX_OPERANDS);
    if (!parse_operand(p, &t->operands[t->count])) return false;
    ir_operand(t->b, t->op, t->operands[t->count].ref);
    t->count++;
    return true;
}

/* Literals get their types once all operands and the given type are there. */
static bool resolve_literals(Parser *p, OpText *t) {
    for (int i = 0; i < t->count; i++) {
        Operand *o = &t->operands[i];
        if (!o->literal) continue;
        const Type *type = o->type ? o->type : ir_literal_context(p->k, t->op, i, t->given, o->kind);
        t->op->operands[i] = make_literal(p, o, type);
    }
    return !p->failed;
}

static bool at_end_of_op(Parser *p) {
    return p->token.newline_before || p->token.kind == T_END || reader_sees(p, '}') || reader_sees(p, ':') ||
           reader_sees(p, '{') || reader_sees(p, '(') || p->token.kind == T_SYMBOL || reader_sees(p, '<');
}

/* put, get: the name of a field of the slot's ring */
static bool parse_field(Parser *p, Op *op) {
    Range range = p->token.range;
    const char *name = reader_text(p);
    const Type *ring = ref_is_value(op->operands[0]) ? ir_type(p->k, op->operands[0])->ring : NULL;
    int field = ring ? ring_field_find(ring, name) : 0; /* of what is no slot: the type rule says so */
    if (field < 0) return reader_error(p, range, "`%s`: the ring has no field `%s`", op_info[op->code].mnemonic, name);
    op_set(p->k, op, (Attr){.id = AT_FIELD_NUMBER, .number = field});
    return !p->failed;
}

/* operands in the op's own groups; absent optional ones become none */
static bool parse_operands(Parser *p, OpText *t) {
    Op *op = t->op;
    int list = 0;
    bool first = true;
    for (const char *s = op_info[op->code].operands; *s; s++) {
        if (*s == ' ' || *s == '?' || *s == '*') continue;
        bool bracket = *s == '[';
        if (bracket) s += 2;
        char mark = bracket ? 0 : s[1];
        if (at_end_of_op(p) && (first || mark == '?')) {
            if (mark == '?') {
                t->operands[t->count++] = (Operand){0};
                ir_operand(t->b, op, REF_NONE);
            }
            if (mark) continue;
            break; /* the type rule says what is missing */
        }
        if (bracket && op->code == OP_PUT && !first) {
            if (p->token.kind != T_PUNCT || *p->token.at != ',') break;
            const char *look = p->at;
            while (isspace((unsigned char)*look)) look++;
            if (*look != '[') continue; /* the whole field */
        }
        if (!first && !reader_accept(p, ',')) {
            if (mark == '?') {
                t->operands[t->count++] = (Operand){0};
                ir_operand(t->b, op, REF_NONE);
                continue;
            }
            break;
        }
        first = false;
        if (bracket) {
            if (!reader_expect(p, '[')) return false;
            int before = t->count;
            while (!reader_sees(p, ']')) {
                if (!add_operand(p, t)) return false;
                if (!reader_accept(p, ',')) break;
            }
            op->list_count[list++] = t->count - before;
            if (!reader_expect(p, ']')) return false;
        } else if (mark == '*') {
            do {
                if (!add_operand(p, t)) return false;
            } while (reader_accept(p, ','));
        } else {
            bool slot = (op->code == OP_PUT || op->code == OP_GET) && t->count == 0;
            if (slot) reader_split_field(p);
            if (!add_operand(p, t)) return false;
            if (slot && (!reader_expect(p, '.') || !parse_field(p, op))) return false;
        }
    }
    return !p->failed;
}

/* VALUE {"," VALUE} as arguments of the region, of one type */
static bool parse_arguments(Parser *p, Region *region, const Type *type) {
    do {
        Definition name;
        if (!reader_definition(p, &name, "`%name`")) return false;
        const Type *own = type;
        if (!own && (!reader_expect(p, ':') || !(own = reader_type(p)))) return false;
        if (!reader_set_definition(p, &name, ir_argument(p->k, region, own, NULL))) return false;
    } while (reader_accept(p, ','));
    return true;
}

/* An operand that may not be `none`: its type becomes that of a region's argument. */
static bool add_value(Parser *p, OpText *t) {
    if (reader_sees_name(p, "none")) return reader_error(p, p->token.range, "a value is expected here, not `none`");
    return add_operand(p, t);
}

/* "(" VALUE "=" operand {"," ..} ")"; the values become arguments of the region */
static bool parse_carried(Parser *p, OpText *t, Region *region) {
    if (!reader_accept(p, '(')) return true;
    VEC(Definition) names = {0};
    do {
        if (!reader_definition(p, VEC_PUSH(&names, p->m->arena), "`%name = initial`") || !reader_expect(p, '=') ||
            !add_value(p, t))
            return false;
    } while (reader_accept(p, ','));
    if (!reader_expect(p, ')') || !resolve_literals(p, t)) return false;
    int first = t->count - (int)names.count;
    for (size_t i = 0; i < names.count; i++) {
        const Type *type = ir_type(p->k, t->op->operands[first + (int)i]);
        if (!reader_set_definition(p, &names.at[i], ir_argument(p->k, region, type, NULL))) return false;
    }
    return true;
}

/* "do" "(" VALUE {"," VALUE} ")": the arguments of a second region, typed by what the first one's test hands on */
static bool parse_do(Parser *p, const Region *from, Region *region) {
    const Op *test = from->last;
    int64_t next = 1;
    if (!reader_accept_name(p, "do")) return true;
    if (!reader_expect(p, '(')) return false;
    do {
        Definition name;
        if (!reader_definition(p, &name, "`%name`")) return false;
        if (!test || test->code != OP_TEST || next >= test->operand_count)
            return reader_error(p, name.name.range, "`test` hands on fewer values");
        const Type *type = ir_type(p->k, test->operands[next++]);
        if (!reader_set_definition(p, &name, ir_argument(p->k, region, type, NULL))) return false;
    } while (reader_accept(p, ','));
    return reader_expect(p, ')');
}

/* The op's own grammar up to and with its regions. */
static bool parse_structured(Parser *p, OpText *t) {
    Op *op = t->op;
    Region *region = ir_region(t->b, op);
    const Type *i32 = ty_scalar(p->m, EL_I32);
    size_t taken = p->takings.count;
    switch (op->code) {
    case OP_FOR: {
        if (!parse_attrs(p, op, &t->fill)) return false;
        Definition name;
        if (!reader_definition(p, &name, "`%name = lo, hi, step`")) return false;
        if (!reader_expect(p, '=') || !add_value(p, t) || !reader_expect(p, ',') || !add_value(p, t) ||
            !reader_expect(p, ',') || !add_value(p, t) || !resolve_literals(p, t))
            return false;
        Ref index = ir_argument(p->k, region, ir_type(p->k, op->operands[0]), NULL);
        if (!reader_set_definition(p, &name, index)) return false;
        return parse_carried(p, t, region) && parse_region(p, region, false);
    }
    case OP_WHILE: {
        if (!parse_carried(p, t, region) || !parse_region(p, region, false)) return false;
        reader_give_back(p, taken);
        Region *body = ir_region(t->b, op);
        return parse_do(p, region, body) && parse_region(p, body, false);
    }
    case OP_IF: {
        if (!parse_attrs(p, op, &t->fill) || !parse_operands(p, t) || !resolve_literals(p, t) ||
            !parse_region(p, region, false))
            return false;
        Region *otherwise = ir_region(t->b, op);
        if (reader_sees(p, '{')) return parse_region(p, otherwise, false);
        Builder b = ir_builder_inside(t->b, otherwise);
        ir_yield(&b, NULL, 0);
        return true;
    }
    case OP_PARALLEL:
    case OP_SPMD:
    case OP_TASKS:
        if (!parse_arguments(p, region, i32)) return false;
        if (op->code == OP_TASKS && reader_accept_name(p, "while")) {
            if (!parse_attrs(p, op, &t->fill) || !parse_region(p, region, false)) return false;
            reader_give_back(p, taken);
            Region *body = ir_region(t->b, op);
            return parse_do(p, region, body) && parse_region(p, body, false);
        }
        if (!reader_accept_name(p, "in")) return reader_error(p, p->token.range, "`in` is expected here");
        if (!parse_operands(p, t) || !resolve_literals(p, t) || !parse_attrs(p, op, &t->fill) ||
            !parse_region(p, region, false))
            return false;
        while (op->code == OP_SPMD && reader_sees(p, '{')) /* one for each worker */
            if (!parse_region(p, ir_region(t->b, op), false)) return false;
        return true;
    case OP_ROLE: {
        Attr name = {.id = AT_ROLE};
        if (!parse_word(p, &name)) return false;
        op_set(p->k, op, name);
        return parse_attrs(p, op, &t->fill) && parse_region(p, region, false);
    }
    default: return reader_error(p, op->range, "`%s` has no region", op_info[op->code].mnemonic);
    }
}

static bool is_structured(Opcode code) { return op_has(code, TRAIT_REGIONS) && !op_has(code, TRAIT_PURE); }

static Opcode find_op(Parser *p) {
    for (int code = 1; code < OP_COUNT; code++)
        if (reader_sees_name(p, op_info[code].mnemonic)) return (Opcode)code;
    if (!p->failed) {
        const char *names[OP_COUNT];
        for (int code = 1; code < OP_COUNT; code++) names[code - 1] = op_info[code].mnemonic;
        char *wrong = reader_token(p);
        const char *near = text_nearest(wrong, names, OP_COUNT - 1);
        diag_emit(p->m->diag, DIAG_IR_UNKNOWN_OP, p->token.range, wrong,
                  text_suggest(p->m->arena, "", near));
    }
    p->failed = true;
    return OP_NONE;
}

/* A literal in an attribute (fill) takes the element type of the op's result. */
static void resolve_fill(Parser *p, OpText *t) {
    const Attr *attr = op_attr(t->op, AT_FILL);
    if (!attr || !t->fill.literal) return;
    const Type *type = t->fill.type;
    if (!type) type = ty_scalar(p->m, t->given ? t->given->elem : EL_F32);
    op_set(p->k, t->op, (Attr){.id = AT_FILL, .ref = make_literal(p, &t->fill, type)});
}

static bool finish_op(Parser *p, OpText *t) {
    const Type *types[MAX_OPERANDS + 2];
    int count = 0;
    const char *why = "";
    Op *op = t->op;
    if (!ir_infer(p->k, op, t->given, types, &count, &why))
        return reader_error(p, op->range, "`%s`: %s", op_info[op->code].mnemonic, why);
    if (op->code == OP_IF) { /* its results are what it yields */
        const Op *yield = op->regions[0]->last;
        for (count = 0; count < yield->operand_count; count++) types[count] = ir_type(p->k, yield->operands[count]);
    }
    ir_end_results(t->b, op, count, types);
    return true;
}

/* op = [VALUE {"," VALUE} "="] NAME [attrs] [operand {"," operand}] [":" type] { region } ["@" line ":" col] */
static bool parse_op(Parser *p, Builder *b) {
    VEC(Definition) results = {0};
    Range range = p->token.range;
    if (p->token.kind == T_VALUE) {
        do {
            if (!reader_definition(p, VEC_PUSH(&results, p->m->arena), "`%name`")) return false;
        } while (reader_accept(p, ','));
        if (!reader_expect(p, '=')) return false;
    }
    if (p->token.kind != T_NAME) return reader_error(p, p->token.range, "an operation is expected here");
    if (p->ops++ == MOST_OPS) return reader_error(p, p->token.range, "more than %d ops"
                                                                     FIX "split the kernel", MOST_OPS);
    Opcode code = find_op(p);
    if (!code) return false;
    range = range_join(range, p->token.range);
    reader_advance(p);
    b->range = range;
    if (!p->texts[p->depth]) p->texts[p->depth] = ARENA_NEW(p->m->arena, OpText);
    OpText *t = p->texts[p->depth];
    *t = (OpText){.b = b, .op = ir_begin(b, code)};
    size_t mark = p->undo.count, taken = p->takings.count; /* arguments of regions are visible up to the op's end */
    if (is_structured(code)) {
        if (!parse_structured(p, t)) return false;
    } else {
        if (!parse_attrs(p, t->op, &t->fill) || !parse_operands(p, t)) return false;
        if (!p->token.newline_before && reader_accept(p, ':') && !(t->given = reader_type(p))) return false;
        if (!resolve_literals(p, t)) return false;
        resolve_fill(p, t);
        if (reader_sees(p, '(') || reader_sees(p, '{')) {
            Region *region = ir_region(b, t->op);
            if (reader_accept(p, '(') && (!parse_arguments(p, region, NULL) || !reader_expect(p, ')'))) return false;
            if (!parse_region(p, region, false)) return false;
        }
    }
    if (p->failed || !finish_op(p, t)) return false;
    reader_forget(p, mark);
    reader_give_back(p, taken);
    if ((int)results.count != t->op->result_count)
        return reader_error(p, range, "`%s` has %d results, %zu are named", op_info[code].mnemonic, t->op->result_count,
                            results.count);
    for (size_t i = 0; i < results.count; i++)
        if (!reader_set_definition(p, &results.at[i], t->op->results[i])) return false;
    if (code == OP_RING && !reader_set_fields(p, t->op)) return false;
    if (p->token.kind == T_SYMBOL && !p->token.newline_before) { /* a place: @7:9 */
        reader_advance(p);
        if (reader_accept(p, ':') && p->token.kind == T_NUMBER) reader_advance(p);
    }
    if (!p->token.newline_before && !reader_sees(p, '}') && p->token.kind != T_END)
        return reader_error(p, p->token.range, "the op should end here: a newline or `;`");
    return true;
}

/* region = "{" { op } "}"; an empty terminator at its end is implied. Names defined inside are gone behind it. */
static bool parse_region(Parser *p, Region *region, bool is_kernel) {
    if (!reader_expect(p, '{')) return false;
    if (++p->depth > MAX_NESTING)
        return reader_error(p, p->token.range, "regions are nested deeper than %d", MAX_NESTING);
    Builder b = ir_builder(p->k, region);
    size_t mark = p->undo.count, taken = p->takings.count;
    while (!p->failed && !reader_sees(p, '}')) {
        if (p->token.kind == T_END) return reader_error(p, p->token.range, "`}` is missing at the end");
        if (is_kernel && reader_accept_name(p, "layout")) {
            if (!reader_layout(p)) return false;
            continue;
        }
        if (is_kernel && reader_sees_name(p, "grid") && !p->k->grid) {
            reader_advance(p);
            size_t before = p->undo.count;
            Region *grid = ARENA_NEW(p->m->arena, Region);
            for (int i = 0; i < region->arg_count; i++) {
                const Value param = *ir_value(p->k, region->args[i]);
                reader_define(p, param.name ? param.name : "", param.name ? strlen(param.name) : 0,
                              ir_argument(p->k, grid, param.type, param.name));
            }
            if (!parse_region(p, grid, false)) return false;
            p->k->grid = grid;
            reader_forget(p, before);
            continue;
        }
        if (!parse_op(p, &b)) return false;
    }
    if (p->failed) return false;
    b.range = p->token.range;
    bool closed = region->last && op_has(region->last->code, TRAIT_TERMINATOR);
    if (!closed && is_kernel)
        ir_return(&b);
    else if (!closed)
        ir_yield(&b, NULL, 0);
    reader_forget(p, mark);
    reader_give_back(p, taken);
    p->depth--;
    return reader_expect(p, '}');
}

/* kernel = "kernel" SYM "(" [param {"," param}] ")" [attrs] region;  param = VALUE {"," VALUE} ":" type */
static bool parse_kernel(Parser *p) {
    Range range = p->token.range;
    if (!reader_accept_name(p, "kernel"))
        return reader_error(p, p->token.range, "`kernel @name(...)` is expected here");
    if (p->token.kind != T_SYMBOL || !p->token.length)
        return reader_error(p, p->token.range, "a kernel's name, `@name`, is expected here");
    char *name = reader_token(p);
    if (ir_kernel_find(p->m, name)) return reader_error(p, p->token.range, "there is a kernel `@%s` already", name);
    p->k = ir_kernel_new(p->m, name, range_join(range, p->token.range));
    p->names = p->layouts = p->taken = (Map){0};
    p->undo.count = p->takings.count = 0;
    reader_advance(p);
    if (!reader_expect(p, '(')) return false;
    while (!p->failed && !reader_sees(p, ')')) {
        VEC(Token) group = {0};
        do {
            if (p->token.kind != T_VALUE)
                return reader_error(p, p->token.range, "a parameter, `%%name`, is expected here");
            *VEC_PUSH(&group, p->m->arena) = p->token;
            reader_advance(p);
        } while (reader_accept(p, ','));
        const Type *type = NULL;
        if (!reader_expect(p, ':') || !(type = reader_type(p))) return false;
        for (size_t i = 0; i < group.count; i++) {
            char *own = arena_string(p->m->arena, group.at[i].at, group.at[i].length);
            reader_take_name(p, own);
            reader_define(p, own, group.at[i].length, ir_argument(p->k, p->k->body, type, own));
        }
        if (!reader_accept(p, ',')) break;
    }
    if (!reader_expect(p, ')')) return false;
    Op attrs = {.code = OP_NONE};
    Operand unused = {0};
    if (!parse_attrs(p, &attrs, &unused)) return false;
    Word form = op_word(&attrs, AT_FORM, WORD_NONE);
    if (form) p->k->form = form == KERNEL_LAYOUT ? FORM_LAYOUT : FORM_SCHEDULE;
    op_drop(&attrs, AT_FORM);
    p->k->attrs = attrs.attrs;
    p->k->attr_count = attrs.attr_count;
    return parse_region(p, p->k->body, true);
}

/* The form is what the ops tell: source form while anything is left that `raise` removes, else access form when boxes
 * of tensors or tasks appear. Ring form is more than its ops: the pass `ring` has proved it. A kernel in layout form
 * says so. */
typedef struct FormFacts {
    bool early, boxes;
} FormFacts;

static void look_at_form(Op *op, void *user) {
    FormFacts *facts = user;
    facts->early |= op->code == OP_PARALLEL || op->code == OP_SPMD || op->code == OP_BUF;
    facts->boxes |= op->code == OP_TLOAD || op->code == OP_TSTORE || op->code == OP_TASKS;
}

static Form find_form(const Kernel *k) {
    FormFacts facts = {0};
    if (k->form >= FORM_LAYOUT) return k->form;
    ir_walk(k->body, look_at_form, &facts);
    return facts.boxes && !facts.early ? FORM_ACCESS : FORM_SOURCE;
}

bool ir_parse(Module *m, const SourceFile *file) {
    Parser p = {.m = m, .file = file, .at = file->text};
    bool good = true;
    reader_advance(&p);
    while (p.token.kind != T_END) {
        p.failed = false;
        p.depth = 0;
        size_t before = m->kernels.count;
        if (parse_kernel(&p)) {
            p.k->form = find_form(p.k);
            if (ir_verify(p.k, p.k->form, m->diag)) continue;
        }
        good = false;
        m->kernels.count = before;
        while (p.token.kind != T_END && !(p.token.newline_before && reader_sees_name(&p, "kernel"))) reader_advance(&p);
    }
    return good;
}
