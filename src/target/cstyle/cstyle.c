/* SPDX-License-Identifier: Apache-2.0 */
/* cstyle.c: lines, names, literals and types of the C-family printer; see cstyle.h. */
#include "target/cstyle/cstyle.h"

#include "ir/build.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const CDialect dialect_c = {"c", false, false, true, "", "i32", false, false};
const CDialect dialect_cuda = {"cuda", true, true, false, ".bits", "bool", true, true};

/* Words of C, C++ and the preludes that no value may be called. */
// clang-format off
static const char *const reserved[] = {
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "register", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "restrict", "asm",
    "bool", "catch", "class", "delete", "explicit", "export", "false", "friend", "mutable", "new", "namespace",
    "operator", "private", "public", "template", "this", "throw", "true", "try", "typename", "using", "virtual",
    "and", "or", "xor", "not", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64",
    "e4m3", "e5m2", "e4b8", "e5b16", "e4b15", "NULL", "main", "linux", "unix", "protected", "constexpr", "nullptr",
    "decltype", "noexcept", "alignas", "alignof", "assert", "errno", "stdin", "stdout", "stderr", "INFINITY", "NAN",
    "EOF", "typeof", "typeid", "compl", "bitand", "bitor", "and_eq", "or_eq", "xor_eq", "not_eq", "concept",
    "requires", "wchar_t", "char8_t", "char16_t", "char32_t", "co_await", "co_yield", "co_return", "consteval",
    "constinit", "const_cast", "static_cast", "dynamic_cast", "reinterpret_cast", "static_assert", "thread_local",
    NULL};
// clang-format on

void cs_reserve(CPrinter *p, const char *const *words) {
    for (; *words; words++) map_set(&p->taken, p->arena, *words, (void *)1);
}

void cs_init(CPrinter *p, Arena *arena, const Kernel *k, const CDialect *dialect) {
    *p = (CPrinter){.arena = arena, .kernel = k, .dialect = dialect};
    p->value_count = k ? k->values.count : 0;
    p->values = ARENA_ARRAY(arena, const Expr *, p->value_count + 1);
    p->expr.arena = arena;
    cs_reserve(p, reserved);
}

/* --- lines --- */

static void put_place(CPrinter *p, Range range);
static void put_note(CPrinter *p, const char *text);

static void put_waiting(CPrinter *p) {
    for (int i = 0; i < p->waiting_count; i++) {
        if (p->waiting[i].note)
            put_note(p, p->waiting[i].note);
        else
            put_place(p, p->waiting[i].range);
    }
    p->waiting_count = 0;
}

static CLine *new_line(CPrinter *p, CLineKind kind, int depth) {
    CLine *line = VEC_PUSH(&p->lines, p->arena);
    *line = (CLine){.kind = kind, .depth = depth, .head = "", .tail = ""};
    return line;
}

/* A jump out of a loop with one trip, which is none, would leave another one. */
static void check_jump(const CPrinter *p, const char *text) {
    for (size_t i = p->blocks.count; i-- > 0 && !p->blocks.at[i].loops;)
        if (p->blocks.at[i].variable) ice(p->arena->trap, "cstyle: \"%s\" in a loop of one trip", text);
}

/* One line at `depth`: head, the format filled in, tail. */
static void put_line(CPrinter *p, CLineKind kind, int depth, const char *head, const char *format, va_list args,
                     const char *tail) {
    p->expr.names.count = 0;
    ExprLine read = {0};
    if (p->dialect->tidies)
        read = ex_line(&p->expr, format, args);
    else
        read.text = ex_vformat(&p->expr, format, args);
    if (read.jumps) check_jump(p, read.text);
    CLine *line = new_line(p, kind, depth);
    line->c = read;
    line->head = head;
    line->tail = tail;
    line->name_count = p->expr.names.count;
    line->names = arena_copy(p->arena, p->expr.names.at, line->name_count * sizeof *line->names);
}

void cs_line(CPrinter *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    put_waiting(p);
    put_line(p, LINE_PLAIN, p->depth, "", format, args, "");
    va_end(args);
}

void cs_vline_of(CPrinter *p, CLines *lines, int depth, const char *format, va_list args) {
    CLines here = p->lines;
    p->lines = *lines;
    put_line(p, LINE_PLAIN, depth, "", format, args, "");
    *lines = p->lines;
    p->lines = here;
}

void cs_line_of(CPrinter *p, CLines *lines, int depth, const char *format, ...) {
    va_list args;
    va_start(args, format);
    cs_vline_of(p, lines, depth, format, args);
    va_end(args);
}

static void enter(CPrinter *p, CBlock block) {
    block.head = p->lines.count - 1;
    *VEC_PUSH(&p->blocks, p->arena) = block;
    p->depth++;
}

void cs_open(CPrinter *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    put_waiting(p);
    put_line(p, LINE_OPEN, p->depth, "", format, args, " {");
    va_end(args);
    p->noted = NULL;
    enter(p, (CBlock){.loops = VEC_LAST(&p->lines).c.loops});
}

void cs_reopen(CPrinter *p, const char *format, ...) {
    va_list args;
    p->waiting_count = 0;
    p->noted = NULL;
    va_start(args, format);
    put_line(p, LINE_OPEN, p->depth - 1, "} ", format, args, " {");
    va_end(args);
}

static void open_soft(CPrinter *p, CBlock block) {
    cs_line(p, "{");
    VEC_LAST(&p->lines).kind = LINE_OPEN;
    block.soft = p->dialect->tidies;
    enter(p, block);
}

void cs_block(CPrinter *p) { open_soft(p, (CBlock){0}); }

static void bind(CPrinter *p, const char *variable, const Expr *value) {
    map_set(&p->expr.bound, p->arena, variable, (void *)(uintptr_t)value);
}

void cs_real_loop(CPrinter *p, const char *pragma, const char *variable, long from, long to, long step) {
    const Expr *before = map_get(&p->expr.bound, variable);
    const char *noted = p->noted; /* over registers: what it is for stands before it */
    bind(p, variable, NULL);
    if (pragma) cs_raw(p, pragma);
    if (step == 1)
        cs_open(p, "for (int %s = %ld; %s < %ld; %s++)", variable, from, variable, to, variable);
    else
        cs_open(p, "for (int %s = %ld; %s < %ld; %s += %ld)", variable, from, variable, to, variable, step);
    VEC_LAST(&p->blocks).variable = variable;
    VEC_LAST(&p->blocks).before = before;
    p->noted = noted;
}

void cs_loop(CPrinter *p, const char *pragma, const char *variable, long from, long to, long step) {
    if (from >= to || from + step < to) {
        cs_real_loop(p, pragma, variable, from, to, step);
        return;
    }
    open_soft(p, (CBlock){.variable = variable, .before = map_get(&p->expr.bound, variable)});
    bind(p, variable, ex_int(p->arena, from));
}

/* A soft block in which nothing is declared is none. */
static bool dissolve(CPrinter *p, const CBlock *block) {
    CLine *lines = p->lines.at;
    size_t count = p->lines.count;
    for (size_t i = block->head + 1; i < count; i++)
        if (lines[i].depth == p->depth && lines[i].c.declares) return false;
    for (size_t i = block->head + 1; i < count; i++) {
        lines[i].depth--;
        lines[i - 1] = lines[i];
    }
    p->lines.count--;
    return true;
}

void cs_close(CPrinter *p) { cs_close_with(p, "}"); }

void cs_close_with(CPrinter *p, const char *tail) {
    CBlock block = VEC_LAST(&p->blocks);
    p->blocks.count--;
    if (block.variable) bind(p, block.variable, block.before);
    if (p->waiting_count) p->waiting_count = p->last_line = 0; /* they led to nothing */
    if (p->noted && p->depth <= p->noted_depth) p->noted = NULL;
    bool gone = block.soft && dissolve(p, &block);
    p->depth--;
    if (gone) return;
    cs_line(p, "%s", tail);
    VEC_LAST(&p->lines).kind = LINE_CLOSE;
}

void cs_blank(CPrinter *p) { new_line(p, LINE_PLAIN, 0)->c.text = ""; }

void cs_raw(CPrinter *p, const char *text) {
    put_waiting(p);
    new_line(p, LINE_RAW, 0)->c.text = text;
}

void cs_append(CPrinter *p, const CLines *lines) {
    if (!p->lines.count) VEC_RESERVE(&p->lines, p->arena, lines->count);
    for (size_t i = 0; i < lines->count; i++) *VEC_PUSH(&p->lines, p->arena) = lines->at[i];
}

void cs_insert(CPrinter *p, const CLines *lines) {
    for (size_t i = 0; i < lines->count; i++) {
        CLine *line = VEC_PUSH(&p->lines, p->arena);
        *line = lines->at[i];
        line->depth += p->depth;
    }
}

void cs_add_quoted(Text *comment, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        text_add_char(comment, c < ' ' || c == 127 ? ' ' : c == '\\' ? '/' : (char)c);
    }
}

static void put_place(CPrinter *p, Range range) {
    Place place;
    size_t length = 0;
    source_find(p->kernel->module->sources, range.begin, &place);
    const char *line = source_line(place.file, range.begin, &length);
    while (length && (*line == ' ' || *line == '\t')) line++, length--;
    while (length && (line[length - 1] == ' ' || line[length - 1] == '\r')) length--;
    Text comment = text_new(p->arena);
    text_add(&comment, "// %d: ", place.line);
    cs_add_quoted(&comment, line, length < 90 ? length : 90);
    if (length > 90) text_add(&comment, " ..");
    new_line(p, LINE_PLACE, p->depth)->c.text = comment.at;
    if (p->directives) {
        Text directive = text_new(p->arena);
        text_add(&directive, "#line %d \"", place.line);
        for (const char *s = place.file->name; *s; s++) {
            if (*s == '"' || *s == '\\') text_add_char(&directive, '\\');
            if ((unsigned char)*s >= ' ') text_add_char(&directive, *s);
        }
        text_add(&directive, "\"");
        new_line(p, LINE_LINE, 0)->c.text = directive.at;
    }
}

static void put_note(CPrinter *p, const char *text) {
    Text comment = text_new(p->arena);
    text_add(&comment, "// ");
    cs_add_quoted(&comment, text, strlen(text));
    new_line(p, LINE_NOTE, p->depth)->c.text = comment.at;
}

static void wait_with(CPrinter *p, Range range, const char *note) {
    int most = sizeof p->waiting / sizeof *p->waiting;
    if (p->waiting_count == most) put_waiting(p);
    p->waiting[p->waiting_count].range = range;
    p->waiting[p->waiting_count++].note = note;
}

void cs_note(CPrinter *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(p->arena, format, args);
    va_end(args);
    if (!p->dialect->speaks || (p->noted && strcmp(p->noted, text) == 0)) return;
    p->noted = text;
    p->noted_depth = p->depth;
    wait_with(p, (Range){0}, text);
}

void cs_place(CPrinter *p, Range range) {
    Place place;
    const SourceMap *sources = p->kernel->module->sources;
    if (!sources || !source_find(sources, range.begin, &place) || place.line == p->last_line) return;
    p->last_line = place.line;
    wait_with(p, range, NULL);
    if (!p->dialect->speaks) put_waiting(p);
}

/* --- names --- */

const char *cs_fresh(CPrinter *p, const char *hint) {
    Text base = text_new(p->arena);
    for (const char *s = hint ? hint : "v"; *s && base.length < 40; s++) {
        bool word = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_' || (*s >= '0' && *s <= '9');
        if (base.length == 0 && (*s == '_' || (*s >= '0' && *s <= '9'))) text_add_char(&base, 'v');
        text_add_char(&base, word ? *s : '_');
    }
    if (!base.length || strncmp(base.at, "tw_", 3) == 0) base.at = arena_printf(p->arena, "v_%s", base.at);
    MapEntry *first = map_find(&p->taken, base.at, strlen(base.at));
    char *name = base.at;
    if (first) { /* goes on from the number that was free last time */
        intptr_t n = (intptr_t)first->value;
        do name = arena_printf(p->arena, "%s_%d", base.at, (int)n++);
        while (map_find(&p->taken, name, strlen(name)));
        first->value = (void *)n;
    }
    map_set(&p->taken, p->arena, name, (void *)1);
    return name;
}

const char *cs_assigned_name(CPrinter *p, Range range) {
    Place place;
    size_t length = 0, end = 0;
    const SourceMap *sources = p->kernel->module->sources;
    if (!sources || !source_find(sources, range.begin, &place)) return NULL;
    const char *line = source_line(place.file, range.begin, &length);
    while (end < length && !strchr("=(\"'#{,", line[end])) end++;
    if (end == length || line[end] != '=' || (end + 1 < length && line[end + 1] == '=')) return NULL;
    for (size_t i = 0; i < end; i++)
        if (line[i] == ':') end = i; /* an annotation */
    while (end && strchr(" +-*/%&|^<>", line[end - 1])) end--;
    size_t begin = end;
    while (begin && (isalnum((unsigned char)line[begin - 1]) || line[begin - 1] == '_')) begin--;
    return begin < end ? arena_string(p->arena, line + begin, end - begin) : NULL;
}

/* What a value without a name is called: what its line assigns to, and what it is of that. */
static const char *spoken_name(CPrinter *p, const Op *op) {
    if (!op || !p->dialect->speaks) return "v";
    bool sum = op->code == OP_REDUCE && op_word(op, AT_COMBINE, COMBINE_ADD) == COMBINE_ADD;
    const char *what = sum                      ? "sum"
                       : op->code == OP_REDUCE  ? "best"
                       : op->code == OP_TLOAD   ? "load"
                       : op->code == OP_CONVERT ? "moved"
                                                : op_info[op->code].mnemonic;
    const char *name = cs_assigned_name(p, op->range);
    return name ? arena_printf(p->arena, "%.28s_%s", name, what) : what;
}

void cs_bind(CPrinter *p, Ref value, const Expr *x) {
    if (value >= p->value_count) { /* made after cs_init */
        const Expr **more = ARENA_ARRAY(p->arena, const Expr *, p->kernel->values.count + 1);
        memcpy(more, p->values, p->value_count * sizeof *more);
        p->values = more;
        p->value_count = p->kernel->values.count;
    }
    p->values[value] = x;
}

static const Expr *value_of(CPrinter *p, Ref value) {
    if (value >= p->value_count || !p->values[value]) {
        const char *hint = ir_value(p->kernel, value)->name;
        const char *name = cs_fresh(p, hint ? hint : spoken_name(p, ir_value(p->kernel, value)->op));
        cs_bind(p, value, ex_name(p->arena, name));
    }
    return p->values[value];
}

const char *cs_name(CPrinter *p, Ref value) {
    const Expr *x = value_of(p, value);
    if (x->kind != EX_NAME) ice(p->arena->trap, "cstyle: a value that has no name");
    return x->text;
}

/* --- literals --- */

const Expr *cs_number(Arena *arena, Elem elem, int64_t value) {
    switch (elem) {
    case EL_I64:
        if (value == INT64_MIN) return ex(arena, "(-9223372036854775807LL - 1)");
        return ex(arena, value < 0 ? "(%" PRId64 "LL)" : "%" PRId64 "LL", value);
    case EL_U64: return ex(arena, "%" PRIu64 "ull", (uint64_t)value);
    case EL_U32: return ex(arena, "%" PRIu32 "u", (uint32_t)value);
    case EL_U16: return ex_int(arena, (uint16_t)value);
    case EL_U8: return ex_int(arena, (uint8_t)value);
    case EL_I1: return ex_int(arena, value != 0);
    default: return value == INT32_MIN ? ex(arena, "(-2147483647 - 1)") : ex_int(arena, value);
    }
}

static const Expr *float_number(Arena *arena, Elem elem, double value) {
    bool wide = elem == EL_F64;
    if (isnan(value)) return ex(arena, wide ? "tw_as_f64(0x7ff8000000000000ull)" : "tw_as_f32(0x7fc00000u)");
    if (isinf(value) && wide)
        return ex(arena, value > 0 ? "tw_as_f64(0x7ff0000000000000ull)" : "tw_as_f64(0xfff0000000000000ull)");
    if (isinf(value)) return ex(arena, value > 0 ? "tw_as_f32(0x7f800000u)" : "tw_as_f32(0xff800000u)");
    char digits[40];
    double size = fabs(value);
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, size);
        double back = 0;
        sscanf(digits, "%lf", &back);
        if (wide ? back == size : (float)back == (float)size) break;
    }
    const char *point = strpbrk(digits, ".e") ? "" : ".0";
    return ex(arena, signbit(value) ? "(-%s%s%s)" : "%s%s%s", digits, point, wide ? "" : "f");
}

const Expr *cs_literal(CPrinter *p, const Literal *literal) {
    Elem elem = literal->type->elem;
    if (literal->type->pointer)
        return ex(p->arena, "((%s)%p)", cs_value_type(p, literal->type), cs_number(p->arena, EL_U64, literal->i));
    if (p->dialect->speaks && elem_is_float(elem) && elem != EL_F64 && !isfinite(literal->f))
        return ex(p->arena, isnan(literal->f) ? "TW_NAN" : literal->f > 0 ? "TW_INF" : "(-TW_INF)");
    return elem_is_float(elem) ? float_number(p->arena, elem, literal->f) : cs_number(p->arena, elem, literal->i);
}

const Expr *cs_ref(CPrinter *p, Ref ref) {
    if (ref == REF_NONE) return NULL;
    return ref_is_literal(ref) ? cs_literal(p, ir_literal(p->kernel, ref)) : value_of(p, ref);
}

char *cs_string(Arena *arena, const char *text) {
    Text t = text_new(arena);
    text_add_char(&t, '"');
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s == '"' || *s == '\\' || *s == '?' || *s < ' ' || *s >= 127)
            text_add(&t, "\\%03o", *s);
        else
            text_add_char(&t, (char)*s);
    }
    text_add_char(&t, '"');
    return t.at;
}

/* --- types --- */

const char *cs_memory_type(Elem elem) {
    switch (elem) {
    case EL_I1: return "u8";
    case EL_F8E4M3: return "e4m3";
    case EL_F8E5M2: return "e5m2";
    case EL_F8E4B8: return "e4b8";
    case EL_F8E5B16: return "e5b16";
    case EL_F8E4B15: return "e4b15";
    default: return elem_info[elem].text;
    }
}

const char *cs_register_type(const CPrinter *p, Elem elem) {
    if (elem == EL_I1) return p->dialect->boolean;
    return elem_is_float(elem) && elem != EL_F64 ? "f32" : elem_info[elem].text;
}

const char *cs_value_type(const CPrinter *p, const Type *type) {
    if (type->pointer) return arena_printf(p->arena, "%s *", cs_memory_type(type->elem));
    return cs_register_type(p, type->elem);
}

static bool is_idle(const Op *op, const int *uses) {
    bool plain = cs_is_elementwise(op->code) || op->code == OP_IOTA || op->code == OP_BROADCAST ||
                 op->code == OP_REPEAT || op->code == OP_SPLAT || op->code == OP_NUM_PROGRAMS;
    return plain && !uses[op->results[0]];
}

int *cs_count_uses(const Kernel *k, Arena *arena) {
    int *uses = ir_count_uses(k, arena);
    for (const Op *op = k->body->last; op; op = op->previous) {
        bool asks = op->code == OP_REQUIRE || op->code == OP_ASSUME;
        for (int i = 0; (asks || is_idle(op, uses)) && i < op->operand_count; i++)
            if (ref_is_value(op->operands[i])) uses[op->operands[i]]--;
    }
    return uses;
}

const Expr *cs_zero(Arena *arena, const Type *type) {
    bool real = !type->pointer && elem_is_float(type->elem);
    return ex(arena, !real ? "0" : type->elem == EL_F64 ? "0.0" : "0.0f");
}

static bool is_pointer(const char *type) { return type[strlen(type) - 1] == '*'; }

const char *cs_variable(CPrinter *p, const char *type, const char *name) {
    return arena_printf(p->arena, is_pointer(type) ? "%s%s" : "%s %s", type, name);
}

const char *cs_constant(CPrinter *p, const char *type, const char *name) {
    return arena_printf(p->arena, is_pointer(type) ? "%sconst %s" : "const %s %s", type, name);
}
