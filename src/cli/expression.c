/* SPDX-License-Identifier: Apache-2.0 */
/* expression.c: integer expressions over named arguments, as --grid and shapes use them.
 *
 *     sum = product { ("+" | "-") product }
 *     product = unary { ("*" | "/" | "//" | "%") unary }
 *     unary = "-" unary | NUMBER | NAME | FUNCTION "(" sum { "," sum } ")" | "(" sum ")"
 *
 * Functions: cdiv, min, max, next_power_of_2; a prefix such as `triton.` is allowed. Division
 * rounds down, as Python's `//` does. Overflow and division by zero are mistakes, not values. */
#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 100 };

typedef struct Reader {
    const char *where, *text, *at;
    const Names *names;
    int depth;
    bool failed;
} Reader;

static int64_t read_sum(Reader *r);

static int64_t complain(Reader *r, const char *what) {
    size_t part = strlen(r->text), all = strlen(r->where);
    bool whole = part <= all && strcmp(r->where + all - part, r->text) == 0;
    if (!r->failed && whole)
        fail("%s: %s", r->where, what);
    else if (!r->failed)
        fail("%s: in the expression `%.*s`: %s", r->where, (int)strcspn(r->text, "]"), r->text, what);
    r->failed = true;
    return 0;
}

static void skip_blanks(Reader *r) {
    while (isspace((unsigned char)*r->at)) r->at++;
}

static bool accept(Reader *r, const char *sign) {
    skip_blanks(r);
    size_t n = strlen(sign);
    if (strncmp(r->at, sign, n) != 0) return false;
    r->at += n;
    return true;
}

/* The quotient, and what it leaves, which has y's sign. */
static int64_t floor_divide(Reader *r, int64_t x, int64_t y, int64_t *left) {
    *left = 0;
    if (y == 0) return complain(r, "a division by zero");
    if (x == INT64_MIN && y == -1) return complain(r, "a number that does not fit 64 bits");
    *left = x % y;
    bool down = *left != 0 && (x < 0) != (y < 0);
    if (down) *left += y;
    return x / y - down;
}

static int64_t call(Reader *r, const char *name, size_t length) {
    static const char *const functions[] = {"cdiv", "min", "max", "next_power_of_2"};
    int64_t x[2] = {0, 0};
    int count = 0;
    do {
        int64_t value = read_sum(r);
        if (count < 2) x[count] = value;
        count++;
    } while (!r->failed && accept(r, ","));
    if (!accept(r, ")")) return complain(r, "`)` is missing");
    size_t f = 0;
    while (f < 4 && !(strlen(functions[f]) == length && strncmp(name, functions[f], length) == 0)) f++;
    if (f == 4) return complain(r, "unknown function; there are cdiv, min, max and next_power_of_2");
    if (count != (f == 3 ? 1 : 2)) return complain(r, "a wrong number of arguments to a function");
    if (r->failed) return 0;
    int64_t power = 1, left;
    switch (f) {
    case 0: return floor_divide(r, x[0], x[1], &left) + (left != 0);
    case 1: return x[0] < x[1] ? x[0] : x[1];
    case 2: return x[0] > x[1] ? x[0] : x[1];
    default:
        if (x[0] > INT64_C(1) << 62) return complain(r, "a number that does not fit 64 bits");
        while (power < x[0]) power *= 2;
        return power;
    }
}

static int64_t read_name(Reader *r) {
    const char *start = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '.') r->at++;
    size_t length = (size_t)(r->at - start);
    if (accept(r, "(")) {
        for (size_t i = length; i-- > 0;)
            if (start[i] == '.') {
                start += i + 1, length -= i + 1;
                break;
            }
        return call(r, start, length);
    }
    for (size_t i = 0; i < r->names->count; i++)
        if (strlen(r->names->at[i].name) == length && strncmp(r->names->at[i].name, start, length) == 0)
            return r->names->at[i].value;
    const char **names = get_memory(r->names->count * sizeof *names);
    for (size_t i = 0; i < r->names->count; i++) names[i] = r->names->at[i].name;
    char what[200], *word = copy_bytes(start, length < 50 ? length : 50);
    const char *near = nearest(word, names, r->names->count);
    if (near)
        snprintf(what, sizeof what, "`%s` is not an integer argument; did you mean `%.50s`?", word, near);
    else
        snprintf(what, sizeof what, "`%s` is not an integer argument; give it with --arg or -D", word);
    free(word);
    free(names);
    return complain(r, what);
}

static int64_t read_unary(Reader *r) {
    int64_t value = 0;
    if (++r->depth > MAX_DEPTH) return complain(r, "it is nested too deeply");
    if (accept(r, "-")) {
        if (__builtin_sub_overflow(0, read_unary(r), &value)) complain(r, "a number that does not fit 64 bits");
    } else if (accept(r, "(")) {
        value = read_sum(r);
        if (!accept(r, ")")) complain(r, "`)` is missing");
    } else if (isdigit((unsigned char)*r->at)) {
        for (; isdigit((unsigned char)*r->at); r->at++)
            if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *r->at - '0', &value))
                return complain(r, "a number that does not fit 64 bits");
        if (*r->at == '.' || isalpha((unsigned char)*r->at)) complain(r, "a whole number in plain digits is expected");
    } else if (isalpha((unsigned char)*r->at) || *r->at == '_')
        value = read_name(r);
    else
        complain(r, "a number or a name is expected");
    r->depth--;
    return value;
}

static int64_t read_product(Reader *r) {
    int64_t value = read_unary(r);
    while (!r->failed) {
        bool over = false;
        int64_t left;
        if (accept(r, "*"))
            over = __builtin_mul_overflow(value, read_unary(r), &value);
        else if (accept(r, "//") || accept(r, "/"))
            value = floor_divide(r, value, read_unary(r), &left);
        else if (accept(r, "%")) {
            floor_divide(r, value, read_unary(r), &left);
            value = left;
        } else
            break;
        if (over) complain(r, "a number that does not fit 64 bits");
    }
    return value;
}

static int64_t read_sum(Reader *r) {
    int64_t value = read_product(r);
    while (!r->failed) {
        bool over = false;
        if (accept(r, "+"))
            over = __builtin_add_overflow(value, read_product(r), &value);
        else if (accept(r, "-"))
            over = __builtin_sub_overflow(value, read_product(r), &value);
        else
            break;
        if (over) complain(r, "a number that does not fit 64 bits");
    }
    return value;
}

bool evaluate(const char *where, const char *text, const Names *names, int64_t *value, const char **rest) {
    Reader r = {.where = where, .text = text, .at = text, .names = names};
    *value = read_sum(&r);
    skip_blanks(&r);
    if (!r.failed && *r.at && *r.at != ',' && *r.at != ']') complain(&r, "an operator, `,` or the end is expected");
    *rest = r.at;
    return !r.failed;
}
