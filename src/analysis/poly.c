/* SPDX-License-Identifier: Apache-2.0 */
/* poly.c: see poly.h. */
#include "analysis/poly.h"

#include "base/map.h"

#include <string.h>

static int compare_terms(const Term *a, const Term *b) {
    for (int i = 0; i < a->count && i < b->count; i++)
        if (a->factor[i] != b->factor[i]) return a->factor[i] < b->factor[i] ? -1 : 1;
    return (a->count < b->count) - (a->count > b->count); /* fewer factors last: the constant closes the row */
}

/* Adds the term to a sorted list with room for one more. */
static void add_term(Term *terms, int *count, const Term *term) {
    int at = 0, order = 1;
    while (at < *count && (order = compare_terms(&terms[at], term)) < 0) at++;
    if (at < *count && order == 0) {
        terms[at].scale += term->scale;
        if (terms[at].scale) return;
        memmove(&terms[at], &terms[at + 1], (size_t)(*count - at - 1) * sizeof *terms);
        (*count)--;
        return;
    }
    memmove(&terms[at + 1], &terms[at], (size_t)(*count - at) * sizeof *terms);
    terms[at] = *term;
    (*count)++;
}

/* Scales stay so small that sums and negations of two cannot overflow. */
static Poly freeze(Arena *arena, const Term *terms, int count) {
    const int64_t limit = (int64_t)1 << 60;
    bool good = count <= POLY_TERMS;
    for (int i = 0; good && i < count; i++) good = terms[i].scale < limit && terms[i].scale > -limit;
    if (!good) return (Poly){.bad = true};
    return (Poly){.count = count, .at = arena_copy(arena, terms, (size_t)count * sizeof *terms)};
}

Poly poly_term(Arena *arena, Term term) { return freeze(arena, &term, term.scale != 0); }
Poly poly_int(Arena *arena, int64_t value) { return poly_term(arena, (Term){.scale = value}); }
Poly poly_ref(Arena *arena, Ref value) { return poly_term(arena, (Term){.scale = 1, .count = 1, .factor = {value}}); }

Poly poly_scale(Arena *arena, Poly a, int64_t by) { return poly_mul(arena, a, poly_int(arena, by)); }

static Poly combine(Arena *arena, Poly a, Poly b, int64_t sign) {
    if (a.bad || b.bad) return (Poly){.bad = true};
    Term terms[2 * POLY_TERMS];
    int count = a.count;
    if (a.count) memcpy(terms, a.at, (size_t)a.count * sizeof *terms);
    for (int i = 0; i < b.count; i++) {
        Term term = b.at[i];
        term.scale *= sign;
        add_term(terms, &count, &term);
    }
    return freeze(arena, terms, count);
}

Poly poly_add(Arena *arena, Poly a, Poly b) { return combine(arena, a, b, 1); }
Poly poly_sub(Arena *arena, Poly a, Poly b) { return combine(arena, a, b, -1); }

static bool multiply(const Term *a, const Term *b, Term *out) {
    if (a->count + b->count > POLY_FACTORS || __builtin_mul_overflow(a->scale, b->scale, &out->scale)) return false;
    out->count = 0;
    for (int i = 0, j = 0; i < a->count || j < b->count;) {
        bool first = j == b->count || (i < a->count && a->factor[i] <= b->factor[j]);
        out->factor[out->count++] = first ? a->factor[i++] : b->factor[j++];
    }
    return true;
}

Poly poly_mul(Arena *arena, Poly a, Poly b) {
    if (a.bad || b.bad) return (Poly){.bad = true};
    Term terms[POLY_TERMS + 1];
    int count = 0;
    for (int i = 0; i < a.count; i++)
        for (int j = 0; j < b.count; j++) {
            Term term = {0};
            if (count > POLY_TERMS - 1 || !multiply(&a.at[i], &b.at[j], &term)) return (Poly){.bad = true};
            add_term(terms, &count, &term);
        }
    return freeze(arena, terms, count);
}

bool poly_equal(Poly a, Poly b) {
    if (a.bad || b.bad || a.count != b.count) return false;
    for (int i = 0; i < a.count; i++)
        if (a.at[i].scale != b.at[i].scale || compare_terms(&a.at[i], &b.at[i]) != 0) return false;
    return true;
}

uint64_t poly_hash(Poly p) {
    uint64_t hash = (uint64_t)p.count;
    for (int i = 0; i < p.count; i++) {
        hash = hash_bytes(&p.at[i].scale, sizeof p.at[i].scale, hash);
        hash = hash_bytes(p.at[i].factor, (size_t)p.at[i].count * sizeof *p.at[i].factor, hash);
    }
    return hash;
}

bool poly_const(Poly p, int64_t *value) {
    if (p.bad || p.count > 1 || (p.count == 1 && p.at[0].count)) return false;
    *value = p.count ? p.at[0].scale : 0;
    return true;
}

int64_t poly_constant(Poly p) { return p.count && !p.at[p.count - 1].count ? p.at[p.count - 1].scale : 0; }

bool poly_divides(Poly p, const Term *t, Term *quotient) {
    if (p.bad || p.count != 1 || t->scale % p.at[0].scale) return false;
    const Term *d = &p.at[0];
    *quotient = (Term){.scale = t->scale / d->scale};
    int matched = 0;
    for (int i = 0; i < t->count; i++) {
        if (matched < d->count && d->factor[matched] == t->factor[i])
            matched++;
        else
            quotient->factor[quotient->count++] = t->factor[i];
    }
    return matched == d->count;
}

bool poly_over(Arena *arena, Poly p, int64_t by, Poly *out) {
    if (p.bad || by == 0) return false;
    Term terms[POLY_TERMS];
    for (int i = 0; i < p.count; i++) {
        if (p.at[i].scale % by) return false;
        terms[i] = p.at[i];
        terms[i].scale /= by;
    }
    *out = freeze(arena, terms, p.count);
    return true;
}
