/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_mutate.h: texts made worse, for test_fuzz.c. All that is random comes from `state`. */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct Sample {
    char name[512];
    char *text;
    size_t size;
} Sample;

static uint64_t state;
static uint32_t next_random(uint32_t below) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return below ? (uint32_t)((state * 2685821657736338717u) >> 33) % below : 0;
}

static size_t word_length(const char *text, size_t size, size_t at) {
    size_t n = 0;
    while (at + n < size && n < 24 && text[at + n] != ' ' && text[at + n] != '\n' &&
           text[at + n] != ',')
        n++;
    return n ? n : 1;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The name or number at or behind a random place; 0: none. */
static size_t find_token(const char *text, size_t size, size_t *at) {
    size_t from = next_random((uint32_t)size), n = 0;
    while (from < size && !is_letter(text[from]) && !is_digit(text[from])) from++;
    while (from > 0 && (is_letter(text[from - 1]) || is_digit(text[from - 1]))) from--;
    while (from + n < size && n < 40 && (is_letter(text[from + n]) || is_digit(text[from + n])))
        n++;
    *at = from;
    return n;
}

static size_t replace(char *text, size_t size, size_t room, size_t at, size_t n, const char *by,
                      size_t m) {
    if (size - n + m >= room) return size;
    memmove(text + at + m, text + at + n, size - at - n);
    memcpy(text + at, by, m);
    return size - n + m;
}

/* Changes that keep most texts well-formed, so that they come further than the parser: a name
 * becomes another one of the text, a number another number, an operator another operator, a line is
 * repeated. */
static size_t mutate_gently(char *text, size_t size, size_t room) {
    static const char *const numbers[] = {
        "0",  "1",   "2",   "3",    "5",  "7",   "16",    "17",      "31",         "32",  "33",
        "64", "100", "128", "1024", "-1", "0.5", "65536", "1048576", "2147483647", "1e308"};
    static const char *const extremes[] = {
        "-9223372036854775808", "9223372036854775807", "9223372036854775808", "-2147483648", "2147483648",
        "4294967296",           "1048577",             "1e-320",              "1e999",       "0x7fffffffffffffff",
        "-170141183460469231731687303715884105728",    "(1 << 62)",           "2**63",       "float('nan')"};
    static const char operators[] = "+-*/%<>&|^~=@";
    size_t at, from, n = find_token(text, size, &at), m;
    char word[40];
    switch (next_random(4)) {
    case 0:
        m = find_token(text, size, &from);
        if (!n || !m) break;
        memcpy(word, text + from, m);
        return replace(text, size, room, at, n, word, m);
    case 1:
        for (int tries = 0; tries < 20 && !(n && is_digit(text[at])); tries++)
            n = find_token(text, size, &at);
        if (!n || !is_digit(text[at])) break;
        const char *number = next_random(3) ? numbers[next_random(sizeof numbers / sizeof *numbers)]
                                            : extremes[next_random(sizeof extremes / sizeof *extremes)];
        return replace(text, size, room, at, n, number, strlen(number));
    case 2:
        for (at = next_random((uint32_t)size); at < size && !strchr(operators, text[at]); at++) {}
        if (at < size) text[at] = operators[next_random(sizeof operators - 1)];
        break;
    default: {
        size_t to = from = next_random((uint32_t)size);
        while (from && text[from - 1] != '\n') from--;
        while (to < size && text[to] != '\n') to++;
        if (to == size || size + to - from + 1 >= room) break;
        m = to - from + 1;
        memmove(text + to + 1 + m, text + to + 1, size - to - 1);
        memcpy(text + to + 1, text + from, m);
        return size + m;
    }
    }
    return size;
}

static size_t mutate(char *text, size_t size, size_t room) {
    if (next_random(2)) {
        for (int rounds = 1 + (int)next_random(4); rounds > 0 && size > 0; rounds--)
            size = mutate_gently(text, size, room);
        return size;
    }
    static const char *const pieces[] = {
        "(",      ")",       "[",         "]",      "{",     "}",
        ":",      ",",       "=",         "-1",     "0",     "99999999999999999999",
        "None",   "\n",      "    ",      "\t",     "\"",    "'''",
        "#",      "//",      "/*",        "0.5",    "%x",    "[:, None]",
        "**",     "@",       "\x80",      "f32[0]", "while", "for",
        "return", "tl.load", "T.copy",    "<",      ">",     "1e999",
        "\\",     "lambda",  ": f32[4,4]", "::",    "<4>",   "static_cast<int>(",
        "&",      "auto ",   "template<int N> ", "using t = ", "struct { ", "##",
        "\n#define ", "constexpr int ", "[&](", "if constexpr", "enum class "};
    int rounds = 1 + (int)next_random(4);
    while (rounds-- && size > 0) {
        size_t at = next_random((uint32_t)size), n = word_length(text, size, at);
        switch (next_random(5)) {
        case 0: /* drop a word */
            memmove(text + at, text + at + n, size - at - n);
            size -= n;
            break;
        case 1: { /* repeat a word elsewhere */
            char word[24];
            memcpy(word, text + at, n);
            size_t to = next_random((uint32_t)size);
            if (size + n >= room) break;
            memmove(text + to + n, text + to, size - to);
            memcpy(text + to, word, n);
            size += n;
            break;
        }
        case 2: { /* put a piece in */
            const char *piece = pieces[next_random(sizeof pieces / sizeof *pieces)];
            size_t m = strlen(piece);
            if (size + m >= room) break;
            memmove(text + at + m, text + at, size - at);
            memcpy(text + at, piece, m);
            size += m;
            break;
        }
        case 3: text[at] = (char)(text[at] ^ (1 << next_random(8))); break;
        default: { /* drop a line */
            size_t from = at, to = at;
            while (from && text[from - 1] != '\n') from--;
            while (to < size && text[to] != '\n') to++;
            memmove(text + from, text + to, size - to);
            size -= to - from;
        }
        }
    }
    return size;
}

/* Random bytes, or pieces of two texts. */
static size_t make_noise(char *text, const Sample *samples, int count, const Sample *s, size_t room) {
    if (next_random(2)) {
        const Sample *other = &samples[next_random((uint32_t)count)];
        size_t n = next_random((uint32_t)s->size + 1), from = next_random((uint32_t)other->size + 1);
        size_t m = other->size - from;
        if (n + m > room) m = room - n;
        memcpy(text, s->text, n);
        memcpy(text + n, other->text + from, m);
        return n + m;
    }
    static const char *const sets[] = {"()[]{}:,\n \t=+-*/%@#'\"\\", "abxyz0123456789 \n    :=().,\"'", NULL};
    const char *set = sets[next_random(3)];
    size_t n = next_random(2000);
    for (size_t i = 0; i < n; i++)
        text[i] = set ? set[next_random((uint32_t)strlen(set))] : (char)next_random(256);
    return n;
}
#endif
