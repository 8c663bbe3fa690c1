/* parse.c: reads the text form that print.c writes (grammar: docs/ir.md).
 *
 * One pass, one token of look-ahead, no backtracking. Ops end at a newline or `;`. The first error of a kernel ends
 * that kernel; the others are still read. Nesting is bounded. */
#include "ir/build.h"
#include "ir/ringform.h"
#include "ir/text_form.h"
#include "ir/tile_layout.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 64, MAX_OPERANDS = 256, MOST_OPS = 1 << 18 };

typedef enum TokenKind { T_END, T_NEWLINE, T_NAME, T_VALUE, T_SYMBOL, T_NUMBER, T_STRING, T_PUNCT } TokenKind;
typedef struct Token {
    TokenKind kind;
    const char *at;
    size_t length;
    Range range;
    bool newline_before;
} Token;

typedef struct Hidden {
    size_t entry; /* in names */
    void *value;  /* before; NULL: not visible */
} Hidden;

typedef struct Parser {
    Module *m;
    Kernel *k;
    const SourceFile *file;
    const char *at;
    Token token;
    bool failed;
    int depth, ops;
    Map names;                             /* visible values by name */
    Map taken;                             /* names that the printer would not give again here (see hint_of) */
    VEC(const char *) takings;             /* the names of `taken`, last one last */
    Map layouts;                           /* by name, without # */
    VEC(const Layout *) fields;            /* of the ring type read last */
    VEC(Hidden) undo;                      /* what definitions since the start have hidden, for the ends of regions */
    struct OpText *texts[MAX_NESTING + 1]; /* by depth: of the op being read, used again for the next */
} Parser;

/* --- tokens --- */

static void advance(Parser *p) {
    const char *s = p->at;
    bool newline = false;
    for (;; s++) {
        if (*s == '\n' || *s == ';')
            newline = true;
        else if (s[0] == '/' && s[1] == '/') {
            while (*s && *s != '\n') s++;
            s--;
        } else if (!isspace((unsigned char)*s) || !*s)
            break;
    }
    Token t = {.at = s, .newline_before = newline};
    if (!*s)
        t.kind = T_END; /* a NUL inside the text ends it too */
    else if (*s == '%' || *s == '@') {
        t.kind = *s == '%' ? T_VALUE : T_SYMBOL;
        t.at = ++s;
        while (isalnum((unsigned char)*s) || *s == '_') s++;
    } else if (isdigit((unsigned char)*s) || (*s == '-' && isdigit((unsigned char)s[1]))) {
        t.kind = T_NUMBER;
        for (s++; isalnum((unsigned char)*s) || *s == '.' || ((*s == '-' || *s == '+') && (s[-1] == 'e'));) s++;
    } else if (isalpha((unsigned char)*s) || *s == '_' || (*s == '-' && strncmp(s, "-inf", 4) == 0)) {
        t.kind = T_NAME;
        for (s++; isalnum((unsigned char)*s) || *s == '_';) s++;
    } else if (*s == '"') {
        t.kind = T_STRING;
        for (s++; *s && *s != '"' && *s != '\n'; s++)
            if (*s == '\\' && s[1]) s++;
        if (*s == '"') s++;
    } else {
        t.kind = T_PUNCT;
        s++;
    }
    t.length = (size_t)(s - t.at);
    t.range.begin = p->file->base + (uint32_t)(t.at - p->file->text);
    t.range.end = t.range.begin + (uint32_t)t.length;
    p->token = t;
    p->at = s;
}

static bool error_at(Parser *p, Range range, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool error_at(Parser *p, Range range, const char *format, ...) {
    if (!p->failed) {
        va_list args;
        va_start(args, format);
        diag_emit(p->m->diag, DIAG_IR_SYNTAX, range, arena_vprintf(p->m->arena, format, args));
        va_end(args);
    }
    p->failed = true;
    return false;
}

static char *token_text(Parser *p) { return arena_string(p->m->arena, p->token.at, p->token.length); }
static bool is_punct(Parser *p, char c) { return p->token.kind == T_PUNCT && *p->token.at == c; }
static bool is_name(Parser *p, const char *name) {
    return p->token.kind == T_NAME && text_equal(p->token.at, p->token.length, name);
}
static bool accept(Parser *p, char c) {
    if (!is_punct(p, c)) return false;
    advance(p);
    return true;
}
static bool accept_name(Parser *p, const char *name) {
    if (!is_name(p, name)) return false;
    advance(p);
    return true;
}
static bool expect(Parser *p, char c) {
    return accept(p, c) || error_at(p, p->token.range, "`%c` is expected here", c);
}

static bool parse_int(Parser *p, int64_t *value) {
    errno = 0;
    char *end = NULL, *text = token_text(p);
    *value = *text == '-' ? strtoll(text, &end, 10) : (int64_t)strtoull(text, &end, 10);
    if (p->token.kind != T_NUMBER || *end || errno)
        return error_at(p, p->token.range, "an integer of at most 64 bits is expected here");
    advance(p);
    return true;
}

static const char *parse_text(Parser *p) {
    if (p->token.kind == T_NAME) {
        char *text = token_text(p);
        advance(p);
        return text;
    }
    if (p->token.kind != T_STRING || p->token.length < 2) {
        error_at(p, p->token.range, "a name or a closed string is expected here");
        return "";
    }
    Text out = text_new(p->m->arena);
    for (const char *s = p->token.at + 1, *end = p->token.at + p->token.length - 1; s < end; s++) {
        if (*s == '\\' && s + 3 < end + 1 && s[1] == 'x') {
            text_add_char(&out, (char)strtol(arena_string(p->m->arena, s + 2, 2), NULL, 16));
            s += 3;
        } else if (*s == '\\' && s + 1 < end)
            text_add_char(&out, *++s);
        else
            text_add_char(&out, *s);
    }
    advance(p);
    return out.at;
}

/* --- types --- */

/* elem = "i32" | ... */
static bool parse_elem(Parser *p, Elem *elem) {
    for (int e = 0; e < EL_COUNT; e++)
        if (accept_name(p, elem_info[e].text)) {
            *elem = (Elem)e;
            return true;
        }
    return error_at(p, p->token.range, "an element type (i32, f16, bf16 ...) is expected here");
}

/* shape = ["[" INT {"," INT} "]"] */
static bool parse_shape(Parser *p, int *rank, int64_t *extent) {
    *rank = 0;
    if (!accept(p, '[')) return true;
    int64_t elements = 1;
    do {
        Range range = p->token.range;
        if (*rank == MAX_RANK) return error_at(p, range, "tiles have at most rank %d", MAX_RANK);
        if (!parse_int(p, &extent[*rank])) return false;
        if (extent[*rank] < 1 || extent[*rank] > MAX_TILE_ELEMENTS)
            return error_at(p, range, "an extent must be in 1 .. 2^20");
        elements *= extent[(*rank)++];
        if (elements > MAX_TILE_ELEMENTS) return error_at(p, range, "a tile has at most 2^20 elements");
    } while (accept(p, ','));
    return expect(p, ']');
}

/* ["#" NAME]: the layout of that name; NULL: none is written, or there is no such one */
static const Layout *parse_layout_use(Parser *p) {
    if (!accept(p, '#')) return NULL;
    const Layout *layout = p->token.kind == T_NAME ? map_get(&p->layouts, token_text(p)) : NULL;
    if (!layout)
        return error_at(p, p->token.range, "the kernel has no layout of this name; write `layout #name = ..`"), NULL;
    advance(p);
    return layout;
}

/* type = ["*"] elem shape | "tensor<" elem "," INT ">" | "buf<" elem shape "," scope ">" | "{" field {"," field} "}" | "bar"
 * field = FIELD ":" type ["#" NAME] */
static const Type *parse_type(Parser *p) {
    Elem elem;
    int rank;
    int64_t extent[MAX_RANK] = {0};
    if (++p->depth > MAX_NESTING) return error_at(p, p->token.range, "types are nested too deep"), NULL;
    const Type *type = NULL;
    if (accept_name(p, "tensor")) {
        int64_t dims = 0;
        if (!expect(p, '<') || !parse_elem(p, &elem) || !expect(p, ',') || !parse_int(p, &dims) || !expect(p, '>'))
            return NULL;
        if (dims < 1 || dims > MAX_RANK)
            return error_at(p, p->token.range, "tensors have rank 1 .. %d", MAX_RANK), NULL;
        type = ty_tensor(p->m, elem, (int)dims);
    } else if (accept_name(p, "buf")) {
        if (!expect(p, '<') || !parse_elem(p, &elem) || !parse_shape(p, &rank, extent) || !expect(p, ',')) return NULL;
        Word scope = WORD_NONE;
        for (int w = SCOPE_SHARED; w <= SCOPE_GLOBAL; w++)
            if (is_name(p, word_info[w].text)) scope = (Word)w;
        if (!scope) return error_at(p, p->token.range, "shared, fragment, local or global is expected here"), NULL;
        advance(p);
        if (!expect(p, '>')) return NULL;
        type = ty_buffer(p->m, elem, rank, extent, scope);
    } else if (accept_name(p, "bar")) {
        type = ty_bar(p->m);
    } else if (accept(p, '{')) {
        VEC(Field) fields = {0};
        p->fields.count = 0;
        while (!p->failed && !is_punct(p, '}')) {
            Range range = p->token.range;
            Field field = {parse_text(p), NULL};
            for (size_t i = 0; i < fields.count; i++)
                if (strcmp(fields.at[i].name, field.name) == 0)
                    return error_at(p, range, "there is a field `%s` already", field.name), NULL;
            if (!expect(p, ':') || !(field.type = parse_type(p))) return NULL;
            if (field.type->kind != TY_TILE)
                return error_at(p, p->token.range, "the fields of a ring are tiles or scalars"), NULL;
            *VEC_PUSH(&fields, p->m->arena) = field;
            *VEC_PUSH(&p->fields, p->m->arena) = parse_layout_use(p);
            if (!accept(p, ',')) break;
        }
        if (!expect(p, '}')) return NULL;
        type = ty_ring(p->m, (int)fields.count, fields.at);
    } else {
        bool pointer = accept(p, '*');
        if (!parse_elem(p, &elem) || !parse_shape(p, &rank, extent)) return NULL;
        type = pointer ? ty_pointer_tile(p->m, elem, rank, extent) : ty_tile(p->m, elem, rank, extent);
    }
    p->depth--;
    return p->failed ? NULL : type;
}

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
        error_at(p, o->range, "this literal has the type %s; write the type behind it", ty_text(type, p->m->arena));
        return REF_NONE;
    }
    if (o->kind == LITERAL_BOOL) return ir_literal_int(p->k, type, *s == 't');
    if (is_float) return ir_literal_float(p->k, type, strtod(s, NULL));
    errno = 0;
    char *end;
    int64_t value = *s == '-' ? strtoll(s, &end, 10) : (int64_t)strtoull(s, &end, 10);
    if (*end || errno) error_at(p, o->range, "`%s` is no integer of at most 64 bits", s);
    return ir_literal_int(p->k, type, value);
}

/* operand = VALUE | literal [":" type] | "none" */
static bool parse_operand(Parser *p, Operand *o) {
    *o = (Operand){.range = p->token.range};
    if (p->token.kind == T_VALUE) {
        MapEntry *entry = map_find(&p->names, p->token.at, p->token.length);
        if (!entry || !entry->value) {
            if (!p->failed) diag_emit(p->m->diag, DIAG_IR_UNKNOWN_VALUE, o->range, token_text(p));
            p->failed = true;
            return false;
        }
        o->ref = (Ref)(uintptr_t)entry->value;
        advance(p);
        return true;
    }
    if (accept_name(p, "none")) return true;
    o->text = token_text(p);
    o->literal = true;
    if (is_name(p, "true") || is_name(p, "false"))
        o->kind = LITERAL_BOOL;
    else if (is_name(p, "inf") || is_name(p, "-inf") || is_name(p, "nan"))
        o->kind = LITERAL_FLOAT;
    else if (p->token.kind == T_NUMBER) {
        o->kind = strpbrk(o->text, ".e") ? LITERAL_FLOAT : LITERAL_INT;
        char *end;
        if (strtod(o->text, &end), *end) return error_at(p, o->range, "`%s` is no number", o->text);
    } else
        return error_at(p, o->range, "a value, a literal or `none` is expected here");
    advance(p);
    if (is_punct(p, ':') && !isspace((unsigned char)p->at[0])) { /* `0:i64`; ` : type` belongs to the op */
        advance(p);
        if (!(o->type = parse_type(p))) return false;
    }
    return true;
}

/* The printer calls a value by its hint, or by hint_1, hint_2 .. where others have the names before that: so what is
 * written `x_2` where x and x_1 are taken has the hint x. NULL: a number, which is no hint. */
static const char *hint_of(Parser *p, const char *name) {
    size_t length = strlen(name), digits = strspn(name, "0123456789");
    if (digits == length) return NULL;
    size_t base = length;
    while (isdigit((unsigned char)name[base - 1])) base--;
    if (base == length || base < 2 || name[base - 1] != '_' || name[base] == '0' || length - base > 6) return name;
    char *hint = arena_string(p->m->arena, name, base - 1);
    for (int n = atoi(name + base) - 1; n >= 0; n--) {
        const char *before = n ? arena_printf(p->m->arena, "%s_%d", hint, n) : hint;
        if (!map_get(&p->taken, before)) return name;
    }
    return hint;
}

/* From here to the end of its region, as in the printer: an op's results before its regions. */
static void take_name(Parser *p, const char *name) {
    map_set(&p->taken, p->m->arena, name, p);
    *VEC_PUSH(&p->takings, p->m->arena) = name;
}

static void give_names_back(Parser *p, size_t mark) {
    while (p->takings.count > mark) map_set(&p->taken, p->m->arena, p->takings.at[--p->takings.count], NULL);
}

static void define(Parser *p, const char *name, size_t length, Ref ref) {
    MapEntry *entry = map_find(&p->names, name, length);
    void *hidden = entry ? entry->value : NULL;
    entry = map_put(&p->names, p->m->arena, name, length, (void *)(uintptr_t)ref);
    *VEC_PUSH(&p->undo, p->m->arena) = (Hidden){(size_t)(entry - p->names.entries), hidden};
}

static void forget_since(Parser *p, size_t mark) {
    while (p->undo.count > mark) {
        Hidden last = p->undo.at[--p->undo.count];
        p->names.entries[last.entry].value = last.value;
    }
}

/* --- layouts --- */

typedef struct Definition { /* VALUE ["#" NAME] */
    Token name;
    const char *hint;
    const Layout *layout;
} Definition;

static bool parse_definition(Parser *p, Definition *d, const char *expected) {
    if (p->token.kind != T_VALUE) return error_at(p, p->token.range, "%s is expected here", expected);
    d->name = p->token;
    char *name = token_text(p);
    d->hint = hint_of(p, name);
    take_name(p, name);
    advance(p);
    d->layout = parse_layout_use(p);
    return !p->failed;
}

/* The value gets its name, and where it lives. */
static bool set_definition(Parser *p, const Definition *d, Ref ref) {
    const Type *type = ir_type(p->k, ref);
    if (d->layout && (type->kind != TY_TILE || type->rank == 0))
        return error_at(p, d->name.range, "only tiles have a layout, and this is %s", ty_text(type, p->m->arena));
    if (d->layout) ir_value(p->k, ref)->layout = layout_for(d->layout, type, p->m->arena);
    define(p, d->name.at, d->name.length, ref);
    if (d->hint) ir_name(p->k, ref, d->hint);
    return true;
}

/* "layout" "#" NAME "=" layout; the text of a layout is read by itself (tile_layout.c) */
static bool parse_layout(Parser *p) {
    if (!expect(p, '#')) return false;
    if (p->token.kind != T_NAME) return error_at(p, p->token.range, "a layout's name, `#name`, is expected here");
    char *name = token_text(p);
    if (map_get(&p->layouts, name)) return error_at(p, p->token.range, "there is a layout `#%s` already", name);
    advance(p);
    if (!is_punct(p, '=')) return expect(p, '=');
    Layout *layout = ARENA_NEW(p->m->arena, Layout);
    const char *why;
    bool good = layout_read(&p->at, layout, &why);
    advance(p);
    if (!good) return error_at(p, p->token.range, "%s", why);
    map_set(&p->layouts, p->m->arena, name, layout);
    return true;
}

/* The fields of a ring that were written with layouts: all of them, or none. */
static bool set_fields(Parser *p, const Op *op) {
    const Type *type = ir_type(p->k, op->results[0]);
    SharedTile *tiles = ARENA_ARRAY(p->m->arena, SharedTile, type->field_count);
    int count = 0;
    for (int i = 0; i < type->field_count; i++) {
        const Layout *layout = p->fields.at[i];
        if (layout && layout->home != HOME_SHARED)
            return error_at(p, op->range, "field `%s` of a ring lives in shared memory", type->fields[i].name);
        if (!layout) continue;
        tiles[i] = layout_for(layout, type->fields[i].type, p->m->arena)->tile;
        count++;
    }
    if (count && count < type->field_count)
        return error_at(p, op->range, "all fields of a ring have a layout, or none");
    Layout *slots = ARENA_NEW(p->m->arena, Layout);
    *slots = (Layout){.home = HOME_SLOTS, .fields = tiles};
    if (count) ir_value(p->k, op->results[0])->layout = slots;
    return true;
}

/* --- attributes --- */

static bool parse_word(Parser *p, Attr *attr) {
    WordSet set = attr_info[attr->id].set;
    Text words = text_new(p->m->arena);
    for (int w = 1; w < WORD_COUNT; w++) {
        if (word_info[w].set != set) continue;
        attr->word = (Word)w;
        if (accept_name(p, word_info[w].text)) return true;
        text_add(&words, "%s%s", words.length ? ", " : "", word_info[w].text);
    }
    return error_at(p, p->token.range, "`%s` is one of: %s", attr_info[attr->id].text, words.at);
}

static bool parse_attr_value(Parser *p, Attr *attr, Operand *literal) {
    switch (attr_info[attr->id].kind) {
    case ATTR_FLAG: attr->number = 1; return true;
    case ATTR_INT: return parse_int(p, &attr->number);
    case ATTR_TEXT: attr->text = parse_text(p); return !p->failed;
    case ATTR_REF:
        if (!parse_operand(p, literal)) return false;
        attr->ref = literal->ref;
        return true;
    case ATTR_ENUM: return parse_word(p, attr);
    case ATTR_INTS: {
        VEC(int64_t) list = {0};
        if (!expect(p, '[')) return false;
        while (!is_punct(p, ']')) {
            if (!parse_int(p, VEC_PUSH(&list, p->m->arena))) return false;
            if (!accept(p, ',')) break;
        }
        attr->list = (IntList){(int)list.count, list.at};
        return expect(p, ']');
    }
    }
    return false;
}

/* The attribute that comes next: by its name, else the first positional one not yet given. */
static AttrId next_attr(Parser *p, Opcode code, const Op *op) {
    for (int id = 1; id < AT_COUNT; id++) {
        if (!op_allows_attr(code, (AttrId)id) || op_attr_is_positional(code, (AttrId)id) ||
            !is_name(p, attr_info[id].text))
            continue;
        advance(p);
        if (attr_info[id].kind != ATTR_FLAG) expect(p, '=');
        return (AttrId)id;
    }
    for (int id = 1; id < AT_COUNT; id++)
        if (op_attr_is_positional(code, (AttrId)id) && !op_attr(op, (AttrId)id)) return (AttrId)id;
    error_at(p, p->token.range, "%s has no such attribute",
             code ? arena_printf(p->m->arena, "`%s`", op_info[code].mnemonic) : "a kernel");
    return AT_NONE;
}

/* attrs = ["<" attr {"," attr} ">"]; a literal attribute's type is known only after the op's result: see fill. */
static bool parse_attrs(Parser *p, Op *op, Operand *fill) {
    if (!accept(p, '<')) return true;
    do {
        Attr attr = {.id = next_attr(p, op->code, op)};
        if (attr.id == AT_NONE || p->failed || !parse_attr_value(p, &attr, fill)) return false;
        op_set(p->k, op, attr);
    } while (accept(p, ','));
    return expect(p, '>');
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
    if (t->count == MAX_OPERANDS) return error_at(p, p->token.range, "more than %d operands", MAX_OPERANDS);
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
    return p->token.newline_before || p->token.kind == T_END || is_punct(p, '}') || is_punct(p, ':') ||
           is_punct(p, '{') || is_punct(p, '(') || p->token.kind == T_SYMBOL || is_punct(p, '<');
}

/* put, get: the name of a field of the slot's ring */
static bool parse_field(Parser *p, Op *op) {
    Range range = p->token.range;
    const char *name = parse_text(p);
    const Type *ring = ref_is_value(op->operands[0]) ? ir_type(p->k, op->operands[0])->ring : NULL;
    int field = ring ? ring_field_find(ring, name) : 0; /* of what is no slot: the type rule says so */
    if (field < 0) return error_at(p, range, "`%s`: the ring has no field `%s`", op_info[op->code].mnemonic, name);
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
        if (!first && !accept(p, ',')) {
            if (mark == '?') {
                t->operands[t->count++] = (Operand){0};
                ir_operand(t->b, op, REF_NONE);
                continue;
            }
            break;
        }
        first = false;
        if (bracket) {
            if (!expect(p, '[')) return false;
            int before = t->count;
            while (!is_punct(p, ']')) {
                if (!add_operand(p, t)) return false;
                if (!accept(p, ',')) break;
            }
            op->list_count[list++] = t->count - before;
            if (!expect(p, ']')) return false;
        } else if (mark == '*') {
            do {
                if (!add_operand(p, t)) return false;
            } while (accept(p, ','));
        } else {
            if (!add_operand(p, t)) return false;
            if ((op->code == OP_PUT || op->code == OP_GET) && t->count == 1) {
                if (!expect(p, '.') || !parse_field(p, op)) return false;
            }
        }
    }
    return !p->failed;
}

/* VALUE {"," VALUE} as arguments of the region, of one type */
static bool parse_arguments(Parser *p, Region *region, const Type *type) {
    do {
        Definition name;
        if (!parse_definition(p, &name, "`%name`")) return false;
        const Type *own = type;
        if (!own && (!expect(p, ':') || !(own = parse_type(p)))) return false;
        if (!set_definition(p, &name, ir_argument(p->k, region, own, NULL))) return false;
    } while (accept(p, ','));
    return true;
}

/* An operand that may not be `none`: its type becomes that of a region's argument. */
static bool add_value(Parser *p, OpText *t) {
    if (is_name(p, "none")) return error_at(p, p->token.range, "a value is expected here, not `none`");
    return add_operand(p, t);
}

/* "(" VALUE "=" operand {"," ..} ")"; the values become arguments of the region */
static bool parse_carried(Parser *p, OpText *t, Region *region) {
    if (!accept(p, '(')) return true;
    VEC(Definition) names = {0};
    do {
        if (!parse_definition(p, VEC_PUSH(&names, p->m->arena), "`%name = initial`") || !expect(p, '=') ||
            !add_value(p, t))
            return false;
    } while (accept(p, ','));
    if (!expect(p, ')') || !resolve_literals(p, t)) return false;
    int first = t->count - (int)names.count;
    for (size_t i = 0; i < names.count; i++) {
        const Type *type = ir_type(p->k, t->op->operands[first + (int)i]);
        if (!set_definition(p, &names.at[i], ir_argument(p->k, region, type, NULL))) return false;
    }
    return true;
}

/* "do" "(" VALUE {"," VALUE} ")": the arguments of a second region, typed by what the first one's test hands on */
static bool parse_do(Parser *p, const Region *from, Region *region) {
    const Op *test = from->last;
    int64_t next = 1;
    if (!accept_name(p, "do")) return true;
    if (!expect(p, '(')) return false;
    do {
        Definition name;
        if (!parse_definition(p, &name, "`%name`")) return false;
        if (!test || test->code != OP_TEST || next >= test->operand_count)
            return error_at(p, name.name.range, "`test` hands on fewer values");
        const Type *type = ir_type(p->k, test->operands[next++]);
        if (!set_definition(p, &name, ir_argument(p->k, region, type, NULL))) return false;
    } while (accept(p, ','));
    return expect(p, ')');
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
        if (!parse_definition(p, &name, "`%name = lo, hi, step`")) return false;
        if (!expect(p, '=') || !add_value(p, t) || !expect(p, ',') || !add_value(p, t) || !expect(p, ',') ||
            !add_value(p, t) || !resolve_literals(p, t))
            return false;
        Ref index = ir_argument(p->k, region, ir_type(p->k, op->operands[0]), NULL);
        if (!set_definition(p, &name, index)) return false;
        return parse_carried(p, t, region) && parse_region(p, region, false);
    }
    case OP_WHILE: {
        if (!parse_carried(p, t, region) || !parse_region(p, region, false)) return false;
        give_names_back(p, taken);
        Region *body = ir_region(t->b, op);
        return parse_do(p, region, body) && parse_region(p, body, false);
    }
    case OP_IF: {
        if (!parse_attrs(p, op, &t->fill) || !parse_operands(p, t) || !resolve_literals(p, t) || !parse_region(p, region, false)) return false;
        Region *otherwise = ir_region(t->b, op);
        if (is_punct(p, '{')) return parse_region(p, otherwise, false);
        Builder b = ir_builder_inside(t->b, otherwise);
        ir_yield(&b, NULL, 0);
        return true;
    }
    case OP_PARALLEL:
    case OP_SPMD:
    case OP_TASKS:
        if (!parse_arguments(p, region, i32)) return false;
        if (op->code == OP_TASKS && accept_name(p, "while")) {
            if (!parse_attrs(p, op, &t->fill) || !parse_region(p, region, false)) return false;
            give_names_back(p, taken);
            Region *body = ir_region(t->b, op);
            return parse_do(p, region, body) && parse_region(p, body, false);
        }
        if (!accept_name(p, "in")) return error_at(p, p->token.range, "`in` is expected here");
        return parse_operands(p, t) && resolve_literals(p, t) && parse_attrs(p, op, &t->fill) &&
               parse_region(p, region, false);
    case OP_ROLE: {
        Attr name = {.id = AT_ROLE};
        if (!parse_word(p, &name)) return false;
        op_set(p->k, op, name);
        return parse_attrs(p, op, &t->fill) && parse_region(p, region, false);
    }
    default: return error_at(p, op->range, "`%s` has no region", op_info[op->code].mnemonic);
    }
}

static bool is_structured(Opcode code) { return op_has(code, TRAIT_REGIONS) && !op_has(code, TRAIT_PURE); }

static Opcode find_op(Parser *p) {
    for (int code = 1; code < OP_COUNT; code++)
        if (is_name(p, op_info[code].mnemonic)) return (Opcode)code;
    if (!p->failed) {
        const char *names[OP_COUNT];
        for (int code = 1; code < OP_COUNT; code++) names[code - 1] = op_info[code].mnemonic;
        char *wrong = token_text(p);
        const char *near = text_nearest(wrong, names, OP_COUNT - 1);
        diag_emit(p->m->diag, DIAG_IR_UNKNOWN_OP, p->token.range, wrong,
                  near ? arena_printf(p->m->arena, "; did you mean `%s`?", near) : "");
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
        return error_at(p, op->range, "`%s`: %s", op_info[op->code].mnemonic, why);
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
            if (!parse_definition(p, VEC_PUSH(&results, p->m->arena), "`%name`")) return false;
        } while (accept(p, ','));
        if (!expect(p, '=')) return false;
    }
    if (p->token.kind != T_NAME) return error_at(p, p->token.range, "an operation is expected here");
    if (p->ops++ == MOST_OPS) return error_at(p, p->token.range, "more than %d ops; split the kernel", MOST_OPS);
    Opcode code = find_op(p);
    if (!code) return false;
    range = range_join(range, p->token.range);
    advance(p);
    b->range = range;
    if (!p->texts[p->depth]) p->texts[p->depth] = ARENA_NEW(p->m->arena, OpText);
    OpText *t = p->texts[p->depth];
    *t = (OpText){.b = b, .op = ir_begin(b, code)};
    size_t mark = p->undo.count, taken = p->takings.count; /* arguments of regions are visible up to the op's end */
    if (is_structured(code)) {
        if (!parse_structured(p, t)) return false;
    } else {
        if (!parse_attrs(p, t->op, &t->fill) || !parse_operands(p, t)) return false;
        if (!p->token.newline_before && accept(p, ':') && !(t->given = parse_type(p))) return false;
        if (!resolve_literals(p, t)) return false;
        resolve_fill(p, t);
        if (is_punct(p, '(') || is_punct(p, '{')) {
            Region *region = ir_region(b, t->op);
            if (accept(p, '(') && (!parse_arguments(p, region, NULL) || !expect(p, ')'))) return false;
            if (!parse_region(p, region, false)) return false;
        }
    }
    if (p->failed || !finish_op(p, t)) return false;
    forget_since(p, mark);
    give_names_back(p, taken);
    if ((int)results.count != t->op->result_count)
        return error_at(p, range, "`%s` has %d results, %zu are named", op_info[code].mnemonic, t->op->result_count,
                        results.count);
    for (size_t i = 0; i < results.count; i++)
        if (!set_definition(p, &results.at[i], t->op->results[i])) return false;
    if (code == OP_RING && !set_fields(p, t->op)) return false;
    if (p->token.kind == T_SYMBOL && !p->token.newline_before) { /* a place: @7:9 */
        advance(p);
        if (accept(p, ':') && p->token.kind == T_NUMBER) advance(p);
    }
    if (!p->token.newline_before && !is_punct(p, '}') && p->token.kind != T_END)
        return error_at(p, p->token.range, "the op should end here: a newline or `;`");
    return true;
}

/* region = "{" { op } "}"; an empty terminator at its end is implied. Names defined inside are gone behind it. */
static bool parse_region(Parser *p, Region *region, bool is_kernel) {
    if (!expect(p, '{')) return false;
    if (++p->depth > MAX_NESTING) return error_at(p, p->token.range, "regions are nested deeper than %d", MAX_NESTING);
    Builder b = ir_builder(p->k, region);
    size_t mark = p->undo.count, taken = p->takings.count;
    while (!p->failed && !is_punct(p, '}')) {
        if (p->token.kind == T_END) return error_at(p, p->token.range, "`}` is missing at the end");
        if (is_kernel && accept_name(p, "layout")) {
            if (!parse_layout(p)) return false;
            continue;
        }
        if (is_kernel && is_name(p, "grid") && !p->k->grid) {
            advance(p);
            size_t before = p->undo.count;
            Region *grid = ARENA_NEW(p->m->arena, Region);
            for (int i = 0; i < region->arg_count; i++) {
                const Value param = *ir_value(p->k, region->args[i]);
                define(p, param.name ? param.name : "", param.name ? strlen(param.name) : 0,
                       ir_argument(p->k, grid, param.type, param.name));
            }
            if (!parse_region(p, grid, false)) return false;
            p->k->grid = grid;
            forget_since(p, before);
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
    forget_since(p, mark);
    give_names_back(p, taken);
    p->depth--;
    return expect(p, '}');
}

/* kernel = "kernel" SYM "(" [param {"," param}] ")" [attrs] region;  param = VALUE {"," VALUE} ":" type */
static bool parse_kernel(Parser *p) {
    Range range = p->token.range;
    if (!accept_name(p, "kernel")) return error_at(p, p->token.range, "`kernel @name(...)` is expected here");
    if (p->token.kind != T_SYMBOL || !p->token.length)
        return error_at(p, p->token.range, "a kernel's name, `@name`, is expected here");
    char *name = token_text(p);
    if (ir_kernel_find(p->m, name)) return error_at(p, p->token.range, "there is a kernel `@%s` already", name);
    p->k = ir_kernel_new(p->m, name, range_join(range, p->token.range));
    p->names = p->layouts = p->taken = (Map){0};
    p->undo.count = p->takings.count = 0;
    advance(p);
    if (!expect(p, '(')) return false;
    while (!p->failed && !is_punct(p, ')')) {
        VEC(Token) group = {0};
        do {
            if (p->token.kind != T_VALUE) return error_at(p, p->token.range, "a parameter, `%%name`, is expected here");
            *VEC_PUSH(&group, p->m->arena) = p->token;
            advance(p);
        } while (accept(p, ','));
        const Type *type = NULL;
        if (!expect(p, ':') || !(type = parse_type(p))) return false;
        for (size_t i = 0; i < group.count; i++) {
            char *own = arena_string(p->m->arena, group.at[i].at, group.at[i].length);
            take_name(p, own);
            define(p, own, group.at[i].length, ir_argument(p->k, p->k->body, type, own));
        }
        if (!accept(p, ',')) break;
    }
    if (!expect(p, ')')) return false;
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

/* The form is what the ops tell: source form while anything is left that `raise` removes, else access form when boxes of
 * tensors or tasks appear. Ring form is more than its ops: the pass `ring` has proved it. A kernel in layout form says so. */
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
    advance(&p);
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
        while (p.token.kind != T_END && !(p.token.newline_before && is_name(&p, "kernel"))) advance(&p);
    }
    return good;
}
