/* SPDX-License-Identifier: Apache-2.0 */
/* externs.c: the parameters of an `extern` op's function; see externs.h. */
#include "ir/externs.h"

#include <stdlib.h>
#include <string.h>

bool ext_next(const char **at, ExtParam *p) {
    const char *s = *at + strspn(*at, " ");
    char *end;
    *p = (ExtParam){.kind = *s};
    if (!*s || !strchr("rwbx=.", *s)) return false;
    s++;
    if (p->kind == EXT_CONSTANT) {
        p->number = strtoll(s, &end, 10);
        if (end == s) return false;
        s = end;
    } else if (p->kind != EXT_NUMBER && p->kind != EXT_UNUSED) {
        p->count = strtoll(s, &end, 10);
        if (end == s || *end != ':' || p->count < 1 || p->count > EXT_LONGEST) return false;
        s = end + 1;
        size_t n = strcspn(s, " ");
        int e = 0;
        while (e < EL_COUNT && (strlen(elem_info[e].text) != n || strncmp(elem_info[e].text, s, n) != 0)) e++;
        if (e == EL_COUNT || e == EL_I1) return false;
        p->elem = (Elem)e;
        s += n;
    }
    if (*s && *s != ' ') return false;
    *at = s;
    return true;
}

int ext_words(const ExtParam *p) { return (int)((p->count * elem_info[p->elem].bits + 63) / 64); }

bool ext_check(const Op *op, const char *form, int64_t part) {
    int operands = 0, written = 0;
    ExtParam p;
    for (const char *at = form; at[strspn(at, " ")];) {
        if (!ext_next(&at, &p)) return false;
        operands += p.kind == EXT_NUMBER || p.kind == EXT_UNUSED ? 1 : ext_reads(&p) ? ext_words(&p) : 0;
        written += ext_writes(&p) ? ext_words(&p) : 0;
    }
    return operands == ext_count(op) && part >= 0 && part < written;
}

/* A line that a C compiler passes over because it stands under a condition that asks for CUDA. */
typedef struct Conditions {
    int depth, cuda; /* how many conditions there are around; the one that only CUDA takes, counted from 1, or 0 */
} Conditions;

static bool is_word(const char *line, const char *end, const char *word) {
    size_t n = strlen(word);
    for (const char *at = line; at + n <= end; at++)
        if (strncmp(at, word, n) == 0) return true;
    return false;
}

static void directive(Conditions *c, const char *line, const char *end) {
    line += strspn(line, " \t");
    if (strncmp(line, "if", 2) == 0) {
        c->depth++;
        bool denied = strncmp(line, "ifndef", 6) == 0 || is_word(line, end, "!");
        if (!c->cuda && !denied && is_word(line, end, "__CUDA")) c->cuda = c->depth;
    } else if (strncmp(line, "el", 2) == 0) {
        if (c->cuda == c->depth) c->cuda = 0;
    } else if (strncmp(line, "endif", 5) == 0) {
        if (c->cuda == c->depth) c->cuda = 0;
        c->depth--;
    }
}

const char *ext_cuda_word(const char *text) {
    static const char *const words[] = {"template", "reinterpret_cast", "asm volatile", "__asm__ volatile", NULL};
    Conditions c = {0};
    if (strstr(text, "define __device__")) return NULL;
    for (const char *line = text, *end, *next; line; line = next) {
        end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (!end) end = line + strlen(line);
        const char *at = line + strspn(line, " \t");
        if (*at == '#')
            directive(&c, at + 1, end);
        else if (!c.cuda && is_word(at, end, "__device__"))
            return "__device__";
        for (const char *const *word = words; !c.cuda && *at != '#' && *word; word++)
            if (strncmp(at, *word, strlen(*word)) == 0) return *word;
    }
    return NULL;
}
