/* cstyle_tidy.c: generated text as a person would have left it.
 *
 * The emitters put texts together without looking into them, so an operand comes in parentheses
 * that its place does not need, an offset may be 0, and a loop over vectors may have one trip. This
 * takes such things away, line by line, and changes no parse tree but by constants:
 *
 *     #pragma unroll
 *     for (int r = 0; r < 8; r += 8) {                 {
 *         const i64 i0 = (i64)(at0 + ((r >> 3) * 2048));    const i64 i0 = (i64)at0;
 *         tw_stg(8, (y + i0), (x + r));                      tw_stg(8, y + i0, x);
 *     }                                                }
 *
 * It knows the texts of the emitters: binary operators stand between blanks, unary ones and casts
 * do not, a block ends on a line of its own. Parentheses that help a reader (shifts, masks) stay.
 * Lines with strings, comments and directives are left alone. */
#include "base/map.h"
#include "base/vec.h"
#include "target/cstyle/cstyle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef VEC(char *) Lines;

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* --- one line --- */
enum {
    PREC_NONE = 0,
    PREC_CHOICE = 2,
    PREC_OR = 3,
    PREC_AND = 4,
    PREC_EQUAL = 8,
    PREC_LESS = 9,
    PREC_SUM = 11,
    PREC_PRODUCT = 12,
    PREC_ATOM = 13
};

/* How tightly the binary operator of this length at s binds; 0: it is none. */
static int precedence(const char *s, size_t length) {
    char first = length ? s[0] : 0, second = length == 2 ? s[1] : 0;
    if (length > 2 || (second && second != '=' && second != first)) return PREC_NONE;
    switch (first) {
    case '?':
    case ':': return second ? PREC_NONE : PREC_CHOICE;
    case '|': return second == '=' ? PREC_NONE : second ? PREC_OR : 5;
    case '&': return second == '=' ? PREC_NONE : second ? PREC_AND : 7;
    case '^': return second ? PREC_NONE : 6;
    case '=':
    case '!': return second == '=' ? PREC_EQUAL : PREC_NONE;
    case '<':
    case '>': return second == first ? 10 : PREC_LESS;
    case '+':
    case '-': return second ? PREC_NONE : PREC_SUM;
    case '*':
    case '/':
    case '%': return second ? PREC_NONE : PREC_PRODUCT;
    default: return PREC_NONE;
    }
}

/* Of the operator before s[i] and of the one behind it; 0 at the ends of an operand; -1: neither,
 * s[i] is no operand by itself (a cast or a unary operator stands there, or a call). */
static int left_of(const char *s, size_t i) {
    if (!i || strchr("([{", s[i - 1])) return PREC_NONE;
    if (s[i - 1] != ' ' || i < 2) return -1;
    size_t end = i - 1, begin = end;
    while (begin && s[begin - 1] != ' ' && !strchr("(),;", s[begin - 1])) begin--;
    if (begin == end || is_word(s[end - 1])) /* ", x", "; x" or a word: return x */
        return begin == end && strchr(",;", s[end - 1]) ? PREC_NONE : -1;
    if (s[end - 1] == '=' && !precedence(s + begin, end - begin)) return PREC_NONE; /* =, += */
    int found = precedence(s + begin, end - begin);
    return found ? found : -1;
}

static int right_of(const char *s, size_t i) {
    if (!s[i] || strchr(")],;}", s[i])) return PREC_NONE;
    if (s[i] != ' ') return -1;
    size_t end = i + 1;
    while (s[end] && s[end] != ' ') end++;
    int found = precedence(s + i + 1, end - i - 1);
    return found ? found : s[i + 1] == '{' || s[i + 1] == '=' ? PREC_NONE : -1;
}

/* Where the parenthesis at i is closed; 0: not on this line. */
static size_t partner(const char *s, size_t i) {
    int depth = 0;
    for (; s[i]; i++) {
        depth += s[i] == '(' || s[i] == '[' ? 1 : s[i] == ')' || s[i] == ']' ? -1 : 0;
        if (depth == 0) return i;
    }
    return 0;
}

/* The loosest operator of s[from .. to); -1: a list. */
static int loosest(const char *s, size_t from, size_t to) {
    int depth = 0, found = PREC_ATOM;
    for (size_t i = from; i < to; i++) {
        depth += s[i] == '(' || s[i] == '[' ? 1 : s[i] == ')' || s[i] == ']' ? -1 : 0;
        if (depth) continue;
        if (s[i] == ',' || s[i] == ';' || s[i] == '{') return -1;
        if (s[i] != ' ') continue;
        size_t end = i + 1;
        while (end < to && s[end] != ' ') end++;
        int here = precedence(s + i + 1, end - i - 1);
        if (here && here < found) found = here;
        if (!here && s[i + 1] == '=') return -1;
    }
    return found;
}

static void cut(char *s, size_t at, size_t length) { memmove(s + at, s + at + length, strlen(s + at + length) + 1); }

static bool is_arithmetic(int left, int right) {
    return (left <= PREC_AND || left == PREC_EQUAL || left == PREC_LESS || left == PREC_SUM) &&
           (right <= PREC_AND || right == PREC_EQUAL || right == PREC_LESS || right == PREC_SUM);
}

/* May the parentheses around an operand go? Only those that bind nothing, and that no reader needs. */
static bool needless(const char *s, size_t open, size_t close) {
    int left = left_of(s, open), right = right_of(s, close + 1), inner = loosest(s, open + 1, close);
    size_t word = open + 1;
    while (is_word(s[word])) word++;
    if (open && s[open - 1] == ')') /* (i64)(x) */
        return right >= 0 && (word == close || (inner == PREC_ATOM && s[open + 1] == '('));
    if (left < 0 || right < 0 || inner < 0) return false;
    if (left == PREC_NONE && right == PREC_NONE) return true;
    if (strchr("-&*", s[open + 1])) return false; /* x - (-1) */
    if (inner == PREC_ATOM) return true;
    if (inner == right && s[close + 3] && s[close + 4] == '(') return false; /* (a + b) + (c + d) */
    if (inner == PREC_PRODUCT && left == PREC_NONE && right == PREC_PRODUCT) return true;
    return is_arithmetic(left, right) && inner >= PREC_SUM && inner > left && inner >= right;
}

static bool cut_parentheses(char *s) {
    bool changed = false;
    for (size_t i = 0; s[i]; i++) {
        size_t close = s[i] == '(' ? partner(s, i) : 0;
        if (!close || !needless(s, i, close)) continue;
        cut(s, close, 1);
        cut(s, i--, 1);
        changed = true;
    }
    return changed;
}

/* The end of a plain whole number at i that begins an operand; 0: there is none. */
static size_t number_end(const char *s, size_t i) {
    size_t end = i;
    if (i && (is_word(s[i - 1]) || s[i - 1] == '.')) return 0;
    while (is_digit(s[end]) && end - i < 9) end++;
    return end == i || is_word(s[end]) || s[end] == '.' ? 0 : end;
}

static bool evaluate(long a, const char *op, size_t length, long b, long *value) {
    if (text_equal(op, length, "+")) return *value = a + b, true;
    if (text_equal(op, length, "*")) return *value = a * b, true;
    if (text_equal(op, length, "/")) return b && (*value = a / b, true);
    if (text_equal(op, length, "%")) return b && (*value = a % b, true);
    if (text_equal(op, length, ">>")) return b < 31 && (*value = a >> b, true);
    if (text_equal(op, length, "&")) return *value = a & b, true;
    if (text_equal(op, length, "^")) return *value = a ^ b, true;
    if (text_equal(op, length, "|")) return *value = a | b, true;
    return false;
}

/* 2 * 8 -> 16; 0 + x, x + 0, x ^ 0, x * 1 -> x. Not 0 * x -> 0: x may be what makes a sum 64 bits wide. */
static bool fold_number(char *s, size_t i, size_t end) {
    long a = atol(s + i);
    int left = left_of(s, i), right = right_of(s, end);
    if (left < 0 || right < 0) return false;
    if (right > PREC_CHOICE && right > left) { /* the operator behind takes the number */
        size_t op = end + 1, op_end = op;
        while (s[op_end] != ' ') op_end++;
        size_t next = op_end + 1, next_end = number_end(s, next);
        long value;
        if (next_end && right_of(s, next_end) >= 0 && right_of(s, next_end) <= right &&
            evaluate(a, s + op, op_end - op, atol(s + next), &value) && value >= 0 && value <= 99999999) {
            char text[24];
            size_t length = (size_t)snprintf(text, sizeof text, "%ld", value), old = next_end - i;
            if (length > old) return false;
            memcpy(s + i, text, length);
            cut(s, i + length, old - length);
            return true;
        }
        if (a == 0 && text_equal(s + op, op_end - op, "+")) return cut(s, i, next - i), true;
        return false;
    }
    if (left <= PREC_CHOICE || right > left || i < 3) return false;
    char before = s[i - 2];
    bool nothing = (a == 0 && strchr("+-^|", before)) || (a == 1 && before == '*');
    if (nothing && s[i - 3] == ' ') return cut(s, i - 3, end - (i - 3)), true;
    return false;
}

static bool fold_numbers(char *s) {
    bool changed = false;
    for (size_t i = 0; s[i]; i++) {
        size_t end = is_digit(s[i]) ? number_end(s, i) : 0;
        if (end && fold_number(s, i, end)) changed = true, i = i > 4 ? i - 4 : 0;
    }
    return changed;
}

static bool is_code(const char *s) {
    const char *first = s + strspn(s, " ");
    return *first != '#' && !strchr(s, '"') && !strstr(s, "//");
}

static void tidy_line(char *s) {
    if (!is_code(s)) return;
    bool more = true;
    while (more) {
        more = cut_parentheses(s);
        more |= fold_numbers(s);
    }
}

/* --- blocks --- */
static size_t indent_of(const char *s) { return strspn(s, " "); }

/* The line that closes the block whose head is line `open`; 0: there is none. */
static size_t block_end(const Lines *l, size_t open) {
    size_t indent = indent_of(l->at[open]);
    for (size_t i = open + 1; i < l->count; i++)
        if (l->at[i][0] != '#' && indent_of(l->at[i]) == indent && l->at[i][indent] == '}')
            return strcmp(l->at[i] + indent, "}") == 0 ? i : 0;
    return 0;
}

static bool is_declaration(const char *s) {
    static const char *const others[] = {"if", "for", "else", "while", "return", NULL};
    const char *word = s + indent_of(s), *end = word;
    while (is_word(*end)) end++;
    for (int i = 0; others[i]; i++)
        if (text_equal(word, (size_t)(end - word), others[i])) return false;
    return end > word && *end == ' ' && (is_word(end[1]) || end[1] == '*');
}

const char *cs_find_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || !is_word(at[-1])) && !is_word(at[length])) return at;
    return NULL;
}

/* In code: strings and comments are the user's words. */
static char *replace_word(Arena *arena, const char *s, const char *word, const char *by) {
    Text t = text_new(arena);
    const char *at;
    while ((at = cs_find_word(s, word))) {
        const char *quoted = strpbrk(s, "\"/");
        while (quoted && *quoted == '/' && quoted[1] != '/') quoted = strpbrk(quoted + 1, "\"/");
        if (quoted && quoted < at) {
            const char *end = *quoted == '"' ? quoted + 1 : NULL;
            while (end && *end && *end != '"') end += *end == '\\' && end[1] ? 2 : 1;
            if (!end || !*end) break;
            text_add_bytes(&t, s, (size_t)(end + 1 - s));
            s = end + 1;
            continue;
        }
        text_add_bytes(&t, s, (size_t)(at - s));
        text_add(&t, "%s", by);
        s = at + strlen(word);
    }
    text_add(&t, "%s", s);
    return t.at;
}

/* A loop of one trip: "for (int r = 0; r < 8; r += 8) {"; its variable and where that begins. */
static bool one_trip(Arena *arena, const char *s, char **variable, char **first) {
    char name[2][24], test[24], step[8];
    long from, to, by = 1;
    s += indent_of(s);
    if (strncmp(s, "for (int ", 9) != 0 || s[strlen(s) - 1] != '{')
        return false; /* its statement may stand on its line */
    if (sscanf(s, "for (int %20[a-z_0-9] = %ld; %20[a-z_0-9] < %ld; %20[a-z_0-9] %2[+=]", name[0], &from, test, &to,
               name[1], step) != 6)
        return false;
    const char *rest = strstr(s, " += ");
    if (rest && sscanf(rest, " += %ld) {", &by) != 1) return false;
    if (strcmp(name[0], test) != 0 || strcmp(name[0], name[1]) != 0 || from >= to || from + by < to) return false;
    *variable = arena_printf(arena, "%s", name[0]);
    *first = arena_printf(arena, "%ld", from);
    return true;
}

/* Writes the lines from `from` to `to`, the blocks that are none taken apart. */
static void put_lines(Lines *out, Arena *arena, const Lines *in, size_t from, size_t to, size_t dedent);

static void put_line(Lines *out, Arena *arena, char *line, size_t dedent) {
    if (line[0] != '#' && indent_of(line) >= dedent) line += dedent;
    *VEC_PUSH(out, arena) = line;
}

static bool declares(const Lines *in, size_t from, size_t to) {
    size_t indent = indent_of(in->at[from - 1]) + 4;
    for (size_t i = from; i < to; i++)
        if (in->at[i][0] != '#' && indent_of(in->at[i]) == indent && is_declaration(in->at[i])) return true;
    return false;
}

static void put_block(Lines *out, Arena *arena, const Lines *in, size_t head, size_t end, size_t dedent) {
    bool keep = declares(in, head + 1, end);
    if (keep) put_line(out, arena, arena_printf(arena, "%*s{", (int)indent_of(in->at[head]), ""), dedent);
    put_lines(out, arena, in, head + 1, end, dedent + (keep ? 0 : 4));
    if (keep) put_line(out, arena, in->at[end], dedent);
}

static bool may_open(const Lines *in, size_t head, size_t end, const char *variable) {
    const char *at;
    for (size_t i = head + 1; i < end; i++)
        if (strstr(in->at[i], "continue;") || strstr(in->at[i], "break;") ||
            ((at = cs_find_word(in->at[i], variable)) && at - in->at[i] > 4 && strncmp(at - 4, "int ", 4) == 0))
            return false;
    return true;
}

static void put_lines(Lines *out, Arena *arena, const Lines *in, size_t from, size_t to, size_t dedent) {
    for (size_t i = from; i < to; i++) {
        char *variable = NULL, *first = NULL, *line = in->at[i];
        bool unrolled = strcmp(line, "#pragma unroll") == 0 && i + 1 < to;
        size_t head = unrolled ? i + 1 : i, end = 0;
        bool bare = strcmp(line + indent_of(line), "{") == 0;
        if (bare || one_trip(arena, in->at[head], &variable, &first)) end = block_end(in, head);
        if (!end || end > to || (!bare && !may_open(in, head, end, variable))) {
            put_line(out, arena, line, dedent);
            continue;
        }
        for (size_t j = head + 1; !bare && j < end; j++)
            if (in->at[j][0] != '#') in->at[j] = replace_word(arena, in->at[j], variable, first);
        for (size_t j = head + 1; !bare && j < end; j++) tidy_line(in->at[j]);
        put_block(out, arena, in, head, end, dedent);
        i = end;
    }
}

/* A loop of one statement stands on one line. */
static void join_loops(Lines *l, Arena *arena, size_t width) {
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        char *head = l->at[i];
        size_t indent = indent_of(head), length = strlen(head);
        bool loop = strncmp(head + indent, "for (", 5) == 0 && head[length - 1] == '{' && i + 2 < l->count;
        if (loop && *l->at[i + 1] && is_code(l->at[i + 1]) && l->at[i + 1][strlen(l->at[i + 1]) - 1] == ';' &&
            block_end(l, i) == i + 2 && length + strlen(l->at[i + 1]) - indent - 4 <= width) {
            head = arena_printf(arena, "%.*s%s", (int)length - 1, head, l->at[i + 1] + indent + 4);
            i += 2;
        }
        l->at[kept++] = head;
    }
    l->count = kept;
}

/* --- variables that nobody reads --- */

/* Is s "const T name = value;", the value made of numbers alone? */
static bool is_plain_constant(const char *s, const char **name, size_t *length) {
    static const char *const pure[] = {"tw_add", "tw_sub",     "tw_mul",     "tw_cdiv",   "tw_min",
                                       "tw_max", "tw_block_x", "tw_block_y", "tw_block_z"};
    s += indent_of(s);
    const char *value = strstr(s, " = ");
    if (strncmp(s, "const ", 6) != 0 || !value || loosest(s, (size_t)(value + 3 - s), strlen(s) - 1) < 0) return false;
    for (*name = value; is_word((*name)[-1]); --*name) continue;
    *length = (size_t)(value - *name);
    for (const char *open = value; (open = strchr(open + 1, '('));) {
        const char *begin = open;
        while (is_word(begin[-1])) begin--;
        bool known = begin == open;
        for (size_t i = 0; i < sizeof pure / sizeof *pure; i++)
            known |= text_equal(begin, (size_t)(open - begin), pure[i]);
        if (!known) return false;
    }
    return *length > 0;
}

static bool is_place(const char *s) {
    const char *first = s + indent_of(s);
    return strncmp(first, "// ", 3) == 0 && is_digit(first[3]);
}

/* Does no line behind `line`, to the end of its block, have the word? */
static bool is_unread(const Lines *l, size_t line, const char *word) {
    size_t indent = indent_of(l->at[line]);
    for (size_t i = line + 1; i < l->count; i++) {
        if (!l->at[i] || l->at[i][0] == '#') continue;
        if (indent_of(l->at[i]) < indent) return true;
        if (!is_place(l->at[i]) && cs_find_word(l->at[i], word)) return false;
    }
    return true;
}

/* From the end on, so that what only unread ones read goes with them. */
static void cut_unread(Lines *l, Arena *arena) {
    const char *name;
    size_t length, kept = 0;
    for (size_t i = l->count; i-- > 0;)
        if (is_code(l->at[i]) && is_plain_constant(l->at[i], &name, &length) &&
            is_unread(l, i, arena_string(arena, name, length)))
            l->at[i] = NULL;
    for (size_t i = 0; i < l->count; i++) {
        size_t next = i + 1;
        while (next < l->count && !l->at[next]) next++;
        bool ends = next < l->count && l->at[next][indent_of(l->at[next])] == '}';
        if (l->at[i] && !(is_place(l->at[i]) && ends)) l->at[kept++] = l->at[i];
    }
    l->count = kept;
}

/* --- casts --- */

/* Notes which names are declared as i32, and as nothing else. */
static void note_types(Map *is_i32, Arena *arena, const char *s) {
    static const char *const types[] = {"i32", "i8",  "i16",  "i64", "u8",  "u16",  "u32",
                                        "u64", "f16", "bf16", "f32", "f64", "bool", "int"};
    for (const char *end; *s && strncmp(s, "//", 2) != 0; s = end) {
        end = s + 1;
        if (!is_word(*s)) continue;
        while (is_word(*end)) end++;
        size_t type = 0, types_count = sizeof types / sizeof *types;
        while (type < types_count && !text_equal(s, (size_t)(end - s), types[type])) type++;
        if (type == types_count || end[0] != ' ' || !is_word(end[1])) continue;
        const char *name = end + 1, *name_end = name;
        while (is_word(*name_end)) name_end++;
        char *key = arena_string(arena, name, (size_t)(name_end - name));
        bool other = type != 0 || *name_end == '[' || map_get(is_i32, key) == (void *)2;
        map_set(is_i32, arena, key, (void *)(uintptr_t)(other ? 2 : 1));
    }
}

/* (i32)x -> x where x is one. */
static void cut_casts(const Map *is_i32, Arena *arena, char *s) {
    if (!is_code(s)) return;
    for (char *at = s; (at = strstr(at, "(i32)")); at++) {
        char *name = at + 5, *end = name;
        while (is_word(*end)) end++;
        if (end == name || strchr("([.-", *end)) continue;
        if (map_get(is_i32, arena_string(arena, name, (size_t)(end - name))) == (void *)1) cut(at, 0, 5);
    }
}

/* --- long lines --- */

/* The best place before `width` where the line may go on below: the outermost comma or joint, of
 * those the last. How many parentheses are open there. */
static size_t break_at(const char *s, size_t width, int *open) {
    size_t best = 0, indent = indent_of(s);
    int depth = 0, least = 1 << 20;
    for (size_t i = indent; s[i] && (i < width || !best); i++) {
        depth += s[i] == '(' || s[i] == '[' ? 1 : s[i] == ')' || s[i] == ']' ? -1 : 0;
        bool comma = s[i] == ',' && s[i + 1] == ' ', joint = strncmp(s + i, " && ", 4) == 0 ||
                                                             strncmp(s + i, " || ", 4) == 0 ||
                                                             (depth == 0 && strncmp(s + i, " & ", 3) == 0);
        if ((comma || joint) && i > indent + 12 && depth <= least) {
            best = comma ? i + 1 : i;
            least = depth;
        }
    }
    *open = least;
    return best;
}

static void put_wrapped(Text *t, const char *s, size_t width) {
    size_t indent = indent_of(s), at, shift = 0;
    bool code = strncmp(s, "extern ", 7) == 0 || (is_code(s) && strncmp(s + indent, "for (", 5) != 0);
    int depth = 0, open;
    while (code && strlen(s) + shift > width && (at = break_at(s, width - shift, &open))) {
        text_add(t, "%*s%.*s\n", (int)shift, "", (int)at, s);
        s += at + 1;
        depth += open;
        shift = indent + 4 + 4 * (size_t)(depth > 0 ? depth : 0);
    }
    text_add(t, "%*s%s\n", (int)shift, "", s);
}

const char *cs_tidy(Arena *arena, const char *text, int width) {
    Lines all = {0}, kept = {0};
    for (const char *end; *text; text = end + 1) {
        end = strchr(text, '\n');
        if (!end) end = text + strlen(text);
        char *line = arena_string(arena, text, (size_t)(end - text));
        tidy_line(line);
        *VEC_PUSH(&all, arena) = line;
        if (!*end) break;
    }
    put_lines(&kept, arena, &all, 0, all.count, 0);
    cut_unread(&kept, arena);
    Map is_i32 = {0};
    for (size_t i = 0; i < kept.count; i++) note_types(&is_i32, arena, kept.at[i]);
    for (size_t i = 0; i < kept.count; i++) cut_casts(&is_i32, arena, kept.at[i]);
    join_loops(&kept, arena, width ? (size_t)width : 100);
    Text out = text_new(arena);
    for (size_t i = 0; i < kept.count; i++)
        if (width)
            put_wrapped(&out, kept.at[i], (size_t)width);
        else
            text_add(&out, "%s\n", kept.at[i]);
    return out.at;
}
