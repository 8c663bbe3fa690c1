/* SPDX-License-Identifier: Apache-2.0 */
/* python_format.c: fields of an f-string on values known at compile time.
 *
 *     f"{N}"  f"{N=}"  f"{N!r}"  f"{N:04d}"  f"{scale:.3f}"  f"{name:>8}"
 *
 * Of Python's format language: alignment with a fill character, sign, 0, width, precision and the
 * types d, b, o, x, X, c, f, F, e, E, g, G, %, s. */
#include "front/python/python.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Spec {
    char fill, align, sign, type; /* 0: not given */
    bool alternate, zeros;
    int width, precision; /* -1: not given */
} Spec;

static int read_number(const char **at) {
    int n = -1;
    for (; **at >= '0' && **at <= '9' && n < 10000; (*at)++) n = (n < 0 ? 0 : n) * 10 + **at - '0';
    return n;
}

static bool read_spec(const char *at, Spec *s) {
    *s = (Spec){.fill = ' ', .width = -1, .precision = -1};
    if (*at && at[1] && strchr("<>^=", at[1])) {
        s->fill = *at;
        s->align = at[1];
        at += 2;
    } else if (*at && strchr("<>^=", *at)) {
        s->align = *at++;
    }
    if (*at && strchr("+- ", *at)) s->sign = *at++;
    if (*at == '#') {
        s->alternate = true;
        at++;
    }
    if (*at == '0') {
        s->zeros = true;
        at++;
    }
    s->width = read_number(&at);
    if (*at == '.') {
        at++;
        s->precision = read_number(&at);
        if (s->precision < 0) return false;
    }
    if (*at && strchr("dboxXcfFeEgG%s", *at)) s->type = *at++;
    return !*at && s->width <= 1000 && s->precision <= 100;
}

/* Digits of an integer in a base, without a sign. */
static const char *digits_of(Lower *l, PyInt value, int base, bool upper) {
    char text[140];
    size_t at = sizeof text;
    text[--at] = '\0';
    do {
        int digit = (int)(value % base < 0 ? -(value % base) : value % base);
        text[--at] = (char)(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10);
        value /= base;
    } while (value);
    return arena_printf(l->arena, "%s", text + at);
}

/* The number without its sign; NULL if the type does not fit it. */
static const char *body_of(Lower *l, const Spec *s, Val v) {
    if (v.kind != VAL_FLOAT && (!s->type || strchr("dboxX", s->type))) {
        int base = s->type == 'b' ? 2 : s->type == 'o' ? 8 : s->type == 'x' || s->type == 'X' ? 16 : 10;
        const char *digits = digits_of(l, v.i, base, s->type == 'X');
        return s->alternate && base != 10 ? arena_printf(l->arena, "0%c%s", s->type, digits) : digits;
    }
    if (s->type == 'c' && v.kind == VAL_INT && v.i >= 32 && v.i < 127) return arena_printf(l->arena, "%c", (int)v.i);
    double f = fabs(val_as_double(v));
    int precision = s->precision < 0 ? 6 : s->precision;
    if (s->type == '%') return arena_printf(l->arena, "%.*f%%", precision, f * 100);
    if (s->type == 's' || s->type == 'd' || (s->type && strchr("boxXc", s->type))) return NULL;
    if (!s->type && s->precision < 0) { /* as str() has it */
        return val_text(l, val_float(f));
    }
    char format[] = {'%', '.', '*', s->type ? s->type : 'g', '\0'};
    char text[512];
    snprintf(text, sizeof text, format, precision, f);
    return arena_printf(l->arena, "%s", text);
}

static const char *pad(Lower *l, const Spec *s, const char *sign, const char *body, bool number) {
    int length = (int)(strlen(sign) + strlen(body)), room = s->width - length;
    char align = s->align ? s->align : number ? (s->zeros ? '=' : '>') : '<';
    char fill = s->zeros && !s->align ? '0' : s->fill;
    Text out = text_new(l->arena);
    int left = room <= 0 ? 0 : align == '<' ? 0 : align == '^' ? room / 2 : room;
    if (align == '=') text_add(&out, "%s", sign);
    for (int i = 0; i < left; i++) text_add_char(&out, fill);
    text_add(&out, "%s%s", align == '=' ? "" : sign, body);
    for (int i = left; i < room; i++) text_add_char(&out, fill);
    return out.at;
}

const char *val_format(Lower *l, Val v, const char *spec, int conversion) {
    if (conversion > 0) {
        const char *text = val_text(l, v);
        v = val_str(conversion != 's' && v.kind == VAL_STR ? arena_printf(l->arena, "'%s'", text) : text);
    }
    if (!spec || !*spec) return val_text(l, v);
    Spec s;
    if (!read_spec(spec, &s)) return NULL;
    if (!val_is_number(v) || (v.kind == VAL_BOOL && !s.type)) {
        if ((s.type && s.type != 's') || s.sign) return NULL;
        const char *text = val_text(l, v);
        size_t length = strlen(text);
        if (s.precision >= 0 && (size_t)s.precision < length) length = (size_t)s.precision;
        return pad(l, &s, "", arena_string(l->arena, text, length), false);
    }
    const char *body = body_of(l, &s, v);
    bool negative = v.kind == VAL_FLOAT ? signbit(v.f) != 0 : v.i < 0;
    const char *sign = negative ? "-" : s.sign == '+' ? "+" : s.sign == ' ' ? " " : "";
    return body ? pad(l, &s, sign, body, true) : NULL;
}
