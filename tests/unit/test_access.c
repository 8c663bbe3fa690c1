/* SPDX-License-Identifier: Apache-2.0 */
/* test_access.c: what `access` proves holds.
 *
 * Random kernels: index tiles made by sums, products, remainders, quotients, clamps, conversions,
 * shapes and numbers from memory, in 32 and 64 bits, signed and unsigned, under random masks, in ifs and loops that
 * carry pointers. Each runs as it was written, sanitized; where that is clean, the kernel after all
 * passes (the variant that the launcher chooses) must leave the same bytes. Arguments are small,
 * negative, zero, or at the ends of their type.
 *
 * Then the traps that random kernels meet too seldom, one by one. TILEWRIGHT_SEED starts elsewhere,
 * TILEWRIGHT_CASES runs more. */
#include "check.h"
#include "tilewright.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

enum { ROOM = 4096, MIDDLE = 2048 };

static uint64_t state = 1;
static uint32_t draw(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % below;
}
static bool chance(uint32_t percent) {
    return draw(100) < percent;
}

/* --- making kernels --- */

typedef struct Maker {
    char text[16384];
    size_t length;
    int next;
    int columns, rows; /* rows 0: tiles of rank 1 */
} Maker;

static void put(Maker *m, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(m->text + m->length, sizeof m->text - m->length, format, args);
    va_end(args);
    m->length += (size_t)n;
    if (m->length >= sizeof m->text) abort();
}

typedef struct Name {
    char at[16];
} Name;
static Name fresh(Maker *m) {
    Name name;
    snprintf(name.at, sizeof name.at, "%%v%d", m->next++);
    return name;
}
static Name named(const char *text) {
    Name name;
    snprintf(name.at, sizeof name.at, "%s", text);
    return name;
}

/* A number: i32. */
static Name make_scalar(Maker *m, int depth) {
    static const char *const leaves[] = {"%a", "%b", "%c", "%pid", "%n", "1", "2", "4", "-3", "64"};
    if (depth == 0 || chance(40)) return named(leaves[draw(sizeof leaves / sizeof *leaves)]);
    static const char *const ops[] = {"add", "sub", "mul", "add",  "div",     "rem",
                                      "mod", "min", "max", "cdiv", "floordiv"};
    Name x = make_scalar(m, depth - 1), y = make_scalar(m, depth - 1), out = fresh(m);
    if (x.at[0] != '%' && y.at[0] != '%') x = named("%pid");
    put(m, "  %s = %s %s, %s\n", out.at, ops[draw(sizeof ops / sizeof *ops)], x.at, y.at);
    return out;
}

static Name make_iota(Maker *m, bool row) {
    Name out = fresh(m), wide = fresh(m);
    int n = row ? m->rows : m->columns, begin = chance(80) ? 0 : (int)draw(5);
    put(m, "  %s = iota<%d, %d>\n", out.at, begin, begin + n);
    if (!m->rows) return out;
    put(m, "  %s = expand<%d> %s\n", wide.at, row ? 1 : 0, out.at);
    return wide;
}

/* An index tile, i32, along rows or columns. */
static Name make_index(Maker *m, bool row) {
    Name x = make_iota(m, row);
    for (uint32_t left = draw(5); left > 0; left--) {
        Name out = fresh(m), y = make_scalar(m, 1), t = fresh(m), u = fresh(m);
        char shape[32];
        if (!m->rows)
            snprintf(shape, sizeof shape, "[%d]", m->columns);
        else if (row)
            snprintf(shape, sizeof shape, "[%d,1]", m->rows);
        else
            snprintf(shape, sizeof shape, "[1,%d]", m->columns);
        switch (draw(17)) {
        case 0:
        case 1: put(m, "  %s = add %s, %s\n", out.at, x.at, y.at); break;
        case 2: put(m, "  %s = add %s, %s\n", out.at, y.at, x.at); break;
        case 3: put(m, "  %s = sub %s, %s\n", out.at, x.at, y.at); break;
        case 4: put(m, "  %s = sub %s, %s\n", out.at, y.at, x.at); break;
        case 5: put(m, "  %s = mul %s, %s\n", out.at, x.at, y.at); break;
        case 6: put(m, "  %s = %s %s, %s\n", out.at, chance(50) ? "rem" : "mod", x.at, y.at); break;
        case 7:
            put(m, "  %s = %s %s, %d\n", out.at, chance(50) ? "rem" : "floordiv", x.at,
                1 << draw(5));
            break;
        case 8: put(m, "  %s = min %s, %s\n", out.at, x.at, y.at); break;
        case 9:
            put(m, "  %s = cmp<lt> %s, %s\n  %s = select %s, %s, 0\n", t.at, x.at, y.at, out.at,
                t.at, x.at);
            break;
        case 10:
            put(m, "  %s = cast %s : u32%s\n  %s = %s %s, %u\n", t.at, x.at, shape, u.at,
                chance(50) ? "add" : "sub", t.at, chance(70) ? draw(9) : 4294967295u - draw(3));
            put(m, "  %s = cast %s : i32%s\n", out.at, u.at, shape);
            break;
        case 11:
            put(m, "  %s = cast %s : i64%s\n  %s = mul %s, %d\n  %s = cast %s : i32%s\n", t.at,
                x.at, shape, u.at, t.at, (int)draw(4), out.at, u.at, shape);
            break;
        case 12: put(m, "  %s = shl %s, %d\n", out.at, x.at, (int)draw(4)); break;
        case 13: { /* one element, spread */
            int begin = (int)draw(5);
            Name one = t;
            put(m, "  %s = iota<%d, %d>\n", t.at, begin, begin + 1);
            if (m->rows) {
                one = fresh(m);
                put(m, "  %s = expand<%d> %s\n", one.at, (int)draw(2), t.at);
            }
            if (chance(50)) {
                put(m, "  %s = broadcast %s : i32%s\n", u.at, one.at, shape);
                one = u;
            }
            put(m, "  %s = %s %s, %s\n", out.at, chance(70) ? "add" : "mul", x.at, one.at);
            break;
        }
        case 14:
        case 15: { /* numbers from memory */
            Name places = make_iota(m, row), number = fresh(m), sign = fresh(m);
            put(m, "  %s = ptr_add %%X, %s\n  %s = load %s\n  %s = cast %s : i32%s\n", t.at,
                places.at, u.at, t.at, number.at, u.at, shape);
            put(m, "  %s = rem %s, %d\n  %s = sub %s, %d\n", sign.at, number.at, 1 + (int)draw(20),
                out.at, sign.at, chance(70) ? 0 : (int)draw(10));
            if (chance(50)) break;
            Name sum = fresh(m);
            put(m, "  %s = %s %s, %s\n", sum.at, chance(70) ? "add" : "max", out.at, x.at);
            out = sum;
            break;
        }
        default: put(m, "  %s = div %s, %d\n", out.at, x.at, 1 + (int)draw(4)); break;
        }
        x = out;
    }
    return x;
}

static Name make_mask(Maker *m) {
    static const char *const predicates[] = {"lt", "lt", "lt", "le", "gt", "ge", "eq", "ne"};
    Name mask = {""};
    for (uint32_t left = 1 + draw(3); left > 0; left--) {
        Name one = fresh(m), x = chance(85) ? make_index(m, m->rows && chance(50)) : named("");
        if (!x.at[0]) x = make_scalar(m, 2);
        if (x.at[0] != '%') x = named("%pid");
        Name y = make_scalar(m, 2);
        bool swap = chance(20) && y.at[0] == '%';
        if (chance(12)) { /* unsigned */
            Name wide = fresh(m);
            put(m, "  %s = bitcast %s : u32\n", wide.at, y.at[0] == '%' ? y.at : "%n");
            Name ramp = make_iota(m, false), cast = fresh(m), back = fresh(m);
            put(m, "  %s = cast %s : u32[%s%d]\n", cast.at, ramp.at, m->rows ? "1," : "",
                m->columns);
            put(m, "  %s = sub %s, %d\n  %s = cmp<lt> %s, %s\n", back.at, cast.at, (int)draw(4),
                one.at, back.at, wide.at);
        } else
            put(m, "  %s = cmp<%s> %s, %s\n", one.at, predicates[draw(8)], swap ? y.at : x.at,
                swap ? x.at : y.at);
        if (!mask.at[0]) {
            mask = one;
            continue;
        }
        Name both = fresh(m);
        put(m, "  %s = %s %s, %s\n", both.at, chance(90) ? "and" : "or", mask.at, one.at);
        mask = both;
    }
    return mask;
}

/* A tile of pointers from the middle of an array, the sum in any order. */
static Name make_pointer(Maker *m, const char *array) {
    Name p = named(array), parts[4];
    int count = 0;
    parts[count++] = make_index(m, false);
    if (m->rows) {
        parts[count++] = make_index(m, true);
        if (chance(70)) {
            Name scaled = fresh(m);
            put(m, "  %s = mul %s, %s\n", scaled.at, parts[1].at, chance(50) ? "%s" : "17");
            parts[1] = scaled;
        }
    }
    if (chance(60)) parts[count++] = make_scalar(m, 2);
    if (chance(30)) {
        Name wide = fresh(m), far = fresh(m), x = make_scalar(m, 1);
        put(m, "  %s = cast %s : i64\n  %s = mul %s, 3\n", wide.at, x.at[0] == '%' ? x.at : "%pid",
            far.at, wide.at);
        parts[count++] = far;
    }
    while (count) {
        int i = (int)draw((uint32_t)count);
        bool wide = false;
        if (count > 1 && chance(40)) { /* two offsets first */
            int j = (i + 1) % count;
            Name sum = fresh(m);
            wide = strlen(parts[i].at) == 0 || strlen(parts[j].at) == 0;
            bool literal = parts[i].at[0] != '%' && parts[j].at[0] != '%';
            if (!wide && !literal && count != 4 && !strstr(m->text, " : i64\n")) {
                put(m, "  %s = add %s, %s\n", sum.at, parts[i].at, parts[j].at);
                parts[i] = sum;
                parts[j] = parts[--count];
                continue;
            }
        }
        Name q = fresh(m);
        put(m, "  %s = ptr_add %s, %s\n", q.at, p.at, parts[i].at);
        p = q;
        parts[i] = parts[--count];
    }
    return p;
}

/* Loads through the pointer and adds to what was loaded so far; stores a constant somewhere. */
static Name make_access(Maker *m, Name pointer, Name sum) {
    Name x = fresh(m), out = fresh(m), mask = chance(80) ? make_mask(m) : named("");
    /* A mask may be one number: it repeats. */
    if (mask.at[0])
        put(m, "  %s = load %s, %s, %s\n", x.at, pointer.at, mask.at, chance(50) ? "0.0" : "7.5");
    else
        put(m, "  %s = load %s\n", x.at, pointer.at);
    put(m, "  %s = add %s, %s\n", out.at, sum.at, x.at);
    return out;
}

static void make_loop(Maker *m, Name *sum) {
    Name p0 = make_pointer(m, "%X"), step = make_scalar(m, 1), out = fresh(m), p9 = fresh(m),
         p = fresh(m), k = fresh(m), s = fresh(m), p1 = fresh(m);
    if (chance(70)) {
        put(m, "  %s, %s = for %s = %s, %s, %d (%s = %s, %s = %s) {\n", out.at, p9.at, k.at,
            chance(70)   ? "0"
            : chance(50) ? "-3"
                         : "2",
            chance(50) ? "%e" : "5", 1 + (int)draw(3), s.at, sum->at, p.at, p0.at);
        Name acc = make_access(m, p, s);
        Name by = chance(80) ? step : k;
        put(m, "  %s = ptr_add %s, %s\n  yield %s, %s }\n", p1.at, p.at, by.at, acc.at, p1.at);
    } else {
        Name i = fresh(m), go = fresh(m), si = fresh(m), pi = fresh(m), ii = fresh(m),
             i1 = fresh(m), i9 = fresh(m);
        put(m, "  %s, %s, %s = while (%s = 0, %s = %s, %s = %s) {\n", i9.at, out.at, p9.at, i.at,
            s.at, sum->at, p.at, p0.at);
        put(m, "  %s = cmp<lt> %s, %%e\n  test %s, %s, %s, %s\n  } do (%s, %s, %s) {\n", go.at,
            i.at, go.at, i.at, s.at, p.at, ii.at, si.at, pi.at);
        Name acc = make_access(m, pi, si);
        put(m, "  %s = ptr_add %s, %s\n  %s = add %s, 1\n  yield %s, %s, %s }\n", p1.at, pi.at,
            step.at, i1.at, ii.at, i1.at, acc.at, p1.at);
    }
    *sum = chance(30) ? make_access(m, p9, out) : out;
}

static void make_kernel(Maker *m) {
    static const int sizes[] = {4, 5, 8, 16, 1};
    m->length = 0;
    m->next = 0;
    m->columns = sizes[draw(5)];
    m->rows = chance(45) ? 1 + (int)draw(5) : 0;
    put(m, "kernel @k(%%X0, %%Y0, %%Z0: *f32, %%a, %%b, %%c, %%n, %%s, %%e: i32, %%mid: i64) {\n"
           "  %%pid = program_id<0>\n  %%X = ptr_add %%X0, %%mid\n  %%Z = ptr_add %%Z0, %%mid\n");
    char shape[32];
    if (m->rows)
        snprintf(shape, sizeof shape, "[%d,%d]", m->rows, m->columns);
    else
        snprintf(shape, sizeof shape, "[%d]", m->columns);
    Name sum = fresh(m);
    put(m, "  %s = splat 0.0 : f32%s\n", sum.at, shape);
    for (uint32_t left = 1 + draw(2); left > 0; left--) {
        Name p = make_pointer(m, "%X"), full = fresh(m);
        put(m, "  %s = broadcast %s : *f32%s\n", full.at, p.at, shape);
        sum = make_access(m, full, sum);
    }
    if (chance(30)) {
        Name c = fresh(m), x = make_scalar(m, 1), out = fresh(m);
        put(m, "  %s = cmp<lt> %s, %s\n  %s = if %s {\n", c.at, x.at[0] == '%' ? x.at : "%pid", "3",
            out.at, c.at);
        Name p = make_pointer(m, "%X"), full = fresh(m);
        put(m, "  %s = broadcast %s : *f32%s\n", full.at, p.at, shape);
        Name acc = make_access(m, full, sum);
        put(m, "  yield %s } { yield %s }\n", acc.at, sum.at);
        sum = out;
    }
    if (chance(40)) make_loop(m, &sum);
    if (chance(40)) {
        Name q = make_pointer(m, "%Z"), full = fresh(m), mask = make_mask(m), one = fresh(m);
        put(m, "  %s = broadcast %s : *f32%s\n  %s = splat 3.0 : f32%s\n", full.at, q.at, shape,
            one.at, shape);
        if (chance(30))
            put(m, "  %s = atomic<add> %s, %s, %s\n", fresh(m).at, full.at, one.at, mask.at);
        else
            put(m, "  store %s, %s, %s\n", full.at, one.at, mask.at);
    }
    int each = m->columns * (m->rows ? m->rows : 1);
    put(m,
        "  %%oi = iota<0, %d>\n  %%ob = mul %%pid, %d\n  %%oo = add %%oi, %%ob\n"
        "  %%op = ptr_add %%Y0, %%oo\n  %%of = reshape %s : f32[%d]\n  store %%op, %%of\n"
        "  return\n}\n",
        each, each, sum.at, each);
}

/* --- running them --- */

typedef struct Lab {
    tw_context *context;
    tw_buffer *array[3];
    float data[3][ROOM];
} Lab;

static void set_arrays(Lab *lab) {
    for (int i = 0; i < ROOM; i++) {
        lab->data[0][i] = (float)(i * 37 % 1009) * 0.25f;
        lab->data[1][i] = -1;
        lab->data[2][i] = 0;
    }
}

static tw_status run(Lab *lab, tw_module *m, bool sanitize, const char *target, int64_t grid_x,
                     const int64_t *numbers, int count, char *explain, size_t room) {
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target;
    options.sanitize = sanitize;
    const tw_pair passes = {"passes", "on"};
    options.options = &passes;
    options.option_count = !sanitize;
    tw_kernel *k = NULL;
    set_arrays(lab);
    tw_status status = tw_kernel_compile(m, NULL, &options, &k);
    if (status != TW_OK) return status;
    if (explain) snprintf(explain, room, "%s", tw_kernel_explain(k));
    tw_arg args[16] = {{0}};
    for (int i = 0; i < 3; i++) args[i] = (tw_arg){TW_ARG_BUFFER, 0, {.buffer = lab->array[i]}};
    for (int i = 0; i < count; i++) args[3 + i] = (tw_arg){TW_ARG_INT, 0, {.i = numbers[i]}};
    int64_t grid[3] = {grid_x, 1, 1};
    status = tw_kernel_launch(k, NULL, grid, args, (size_t)count + 3);
    tw_kernel_destroy(k);
    return status;
}

static void lab_open(Lab *lab) {
    tw_context_options options;
    tw_context_options_init(&options);
    options.cache_dir = "";
    CHECK(tw_context_create(&options, &lab->context) == TW_OK);
    int64_t n = ROOM;
    for (int i = 0; i < 3; i++) {
        tw_buffer_options buffer;
        tw_buffer_options_init(&buffer);
        buffer.data = lab->data[i];
        buffer.size = sizeof lab->data[i];
        CHECK(tw_buffer_create(lab->context, TW_F32, 1, &n, &buffer, &lab->array[i]) == TW_OK);
    }
}
static void lab_close(Lab *lab) {
    for (int i = 0; i < 3; i++) tw_buffer_destroy(lab->array[i]);
    tw_context_destroy(lab->context);
}

/* What the kernel means, and what is left of it after the passes, on these numbers. 0: the source
 * is not clean. */
static int compare(Lab *lab, const char *text, int64_t grid, const int64_t *numbers, int count,
                   char *explain, size_t room) {
    static float want[3][ROOM];
    tw_module *m = NULL;
    tw_status status = tw_module_load_text(lab->context, "k.ir", text, strlen(text), NULL, &m);
    if (status != TW_OK) {
        fprintf(stderr, "%s\n%s", tw_context_message(lab->context), text);
        CHECK(status == TW_OK);
        return 0;
    }
    int result = 0;
    if (run(lab, m, true, "interp", grid, numbers, count, NULL, 0) == TW_OK) {
        memcpy(want, lab->data, sizeof want);
        status = run(lab, m, false, "interp", grid, numbers, count, explain, room);
        bool same = status == TW_OK && memcmp(want, lab->data, sizeof want) == 0;
        CHECK(same);
        result = 1;
        if (!same) {
            fprintf(stderr, "%s\n%s\nnumbers:", tw_context_message(lab->context), text);
            for (int i = 0; i < count; i++) fprintf(stderr, " %lld", (long long)numbers[i]);
            fprintf(stderr, ", %lld programs\n%s", (long long)grid, explain ? explain : "");
            for (int i = 0, shown = 0; i < 3 * ROOM && shown < 4; i++) {
                float a = want[i / ROOM][i % ROOM], b = lab->data[i / ROOM][i % ROOM];
                if (a == b) continue;
                fprintf(stderr, "array %d, element %d: %g, not %g\n", i / ROOM, i % ROOM, (double)b,
                        (double)a);
                shown++;
            }
        }
    }
    tw_module_destroy(m);
    return result;
}

static int64_t draw_number(void) {
    static const int64_t ends[] = {INT32_MAX, INT32_MIN, INT32_MAX - 7, INT32_MIN + 9, 1 << 30};
    if (chance(6)) return ends[draw(5)];
    return chance(25) ? -(int64_t)draw(12) : (int64_t)draw(30);
}

static int count_of(const char *text, const char *word) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++) n++;
    return n;
}

static void test_random(void) {
    static Lab lab;
    static Maker maker;
    static char explain[32768];
    const char *seed = getenv("TILEWRIGHT_SEED"), *cases = getenv("TILEWRIGHT_CASES");
    uint64_t first = seed ? strtoull(seed, NULL, 0) : 1;
    int count = cases ? atoi(cases) : 400, clean = 0, boxes = 0, gathers = 0;
    lab_open(&lab);
    for (int i = 0; i < count; i++) {
        state = (first + (uint64_t)i) * 0x9E3779B97F4A7C15u | 1;
        for (int j = 0; j < 4; j++) draw(2);
        make_kernel(&maker);
        int failures = check_failures;
        for (int j = 0; j < 6; j++) {
            int64_t numbers[] = {draw_number(), draw_number(),         draw_number(),
                                 draw_number(), (int64_t)draw(40) - 4, (int64_t)draw(6),
                                 MIDDLE};
            explain[0] = 0;
            clean += compare(&lab, maker.text, 1 + draw(3), numbers, 7, explain, sizeof explain);
            boxes += count_of(explain, ": box ");
            gathers += count_of(explain, ": stays a ");
        }
        if (check_failures > failures) {
            fprintf(stderr, "seed %llu\n", (unsigned long long)(first + (uint64_t)i));
            break;
        }
    }
    printf("%d kernels, %d clean runs, %d boxes, %d gathers\n", count, clean, boxes, gathers);
    CHECK(clean > count && boxes > gathers / 2);
    lab_close(&lab);
}

/* --- traps --- */

typedef struct Trap {
    const char *name,
        *body; /* uses %X (the middle of an array), %pid, %a .. %e, %mid; ends in %r: f32[8] */
    const char *says; /* what explain must say of it */
} Trap;

static const Trap traps[] = {
    {"64-bit products stay in 64 bits",
     "%p64 = cast %pid : i64 ; %far = mul %p64, 1500000000 ; %i = iota<0, 8> ; %w = cast %i : "
     "i64[8]\n"
     "%o = add %w, %far ; %back = sub %o, 3000000000 ; %p = ptr_add %X, %back ; %m = cmp<ge> %pid, "
     "2\n"
     "%r = load %p, %m, 1.0\n",
     "load: box"},
    {"pointers that a loop moves by more than 2^31",
     "%z64 = mul %mid, 0 ; %far = sub %z64, 3000000000 ; %X1 = ptr_add %X, %far ; %i = iota<0, 8> "
     "; %p0 = ptr_add %X1, %i ; %z = splat 0.0 : "
     "f32[8]\n"
     "%r, %p9 = for %k = 0, 4, 1 (%s = %z, %p = %p0) {\n"
     "%m = cmp<eq> %k, 3 ; %x = load %p, %m ; %t = add %s, %x ; %p1 = ptr_add %p, 1000000000 ; "
     "yield %t, %p1 }\n",
     "load: box"},
    {"bounds at the end of the range",
     "%i = iota<0, 8> ; %o = sub %i, 3 ; %m = cmp<lt> %o, %a ; %p = ptr_add %X, %o ; %r = load %p, "
     "%m, 2.0\n",
     "load: box"},
    {"rows before the base, some of them masked",
     "%i = iota<0, 4> ; %pi = ptr_add %X, %i ; %f = load %pi ; %w = cast %f : i32[4] ; %three = rem "
     "%w, 3 ; %row = sub %three, 2 ; %r1 = expand<1> %row ; %rs = mul %r1, 5\n"
     "%j = iota<0, 2> ; %j1 = expand<0> %j ; %o = add %rs, %j1 ; %p = ptr_add %X, %o ; %on = cmp<ne> "
     "%three, 1 ; %m = expand<1> %on ; %x = load %p, %m, 4.0 ; %r = reshape %x : f32[8]\n",
     "is indexed by numbers from X0, where its mask holds"},
    {"rows whose products need 64 bits, masked rows far away",
     "%i = iota<0, 4> ; %two = rem %i, 2 ; %even = cmp<eq> %two, 0 ; %t64 = cast %two : i64[4] ; %far "
     "= select %even, 9000000000:i64, %t64 ; %f1 = expand<1> %far ; %fs = mul %f1, 1500000000\n"
     "%j = iota<0, 2> ; %j1 = expand<0> %j ; %j64 = cast %j1 : i64[1,2] ; %o = add %fs, %j64 ; %X1 = "
     "ptr_add %X, -1500000000:i64 ; %p = ptr_add %X1, %o\n"
     "%on = cmp<ne> %two, 0 ; %m = expand<1> %on ; %x = load %p, %m, 4.0 ; %r = reshape %x : f32[8]\n",
     "dimension 0 is indexed by a vector that `select` makes, where its mask holds"},
    {"rows that a flag of each says to read",
     "%i = iota<0, 4> ; %odd = and %i, 1 ; %on = cmp<eq> %odd, 0 ; %m = expand<1> %on ; %r1 = expand<1> "
     "%i ; %rs = mul %r1, 7 ; %j = iota<0, 2> ; %j1 = expand<0> %j ; %o = add %rs, %j1\n"
     "%p = ptr_add %X, %o ; %x = load %p, %m, 4.0 ; %r = reshape %x : f32[8]\n",
     "at [(rows), mid]; dimension 0 is taken row by row, where its mask holds"},
    {"a number says whether the tile is read",
     "%f = load %X ; %w = cast %f : i32 ; %odd = and %w, 1 ; %c = cmp<eq> %odd, 0 ; %i = iota<0, 8> ; %in = "
     "cmp<lt> %i, 5 ; %cs = splat %c : i1[8] ; %m = and %cs, %in ; %p = ptr_add %X, %i\n"
     "%r = load %p, %m, 3.0\n",
     "X0[1 if its condition holds, 5]"},
    {"a term of two axes",
     "%i = iota<0, 4> ; %r1 = expand<1> %i ; %j = iota<0, 2> ; %j1 = expand<0> %j ; %both = mul %r1, "
     "%j1 ; %p = ptr_add %X, %both ; %x = load %p ; %r = reshape %x : f32[8]\n",
     "stays a gather"},
    {"bounds below the range",
     "%i = iota<0, 8> ; %o = add %i, 3 ; %m = cmp<gt> %a, %o ; %p = ptr_add %X, %i ; %r = load %p, "
     "%m, 2.0\n",
     "load: box"},
    {"negative strides",
     "%i = iota<0, 8> ; %o = sub %b, %i ; %m = cmp<ge> %o, 0 ; %n2 = cmp<lt> %i, %c ; %mm = and "
     "%m, %n2\n"
     "%p = ptr_add %X, %o ; %r = load %p, %mm, 2.0\n",
     "load: box"},
    {"unsigned differences wrap",
     "%i = iota<0, 8> ; %u = cast %i : u32[8] ; %d = sub %u, 3 ; %un = bitcast %b : u32 ; %m = "
     "cmp<lt> %d, %un\n"
     "%p = ptr_add %X, %i ; %r = load %p, %m, 2.0\n",
     "part of the mask is no box"},
    {"unsigned sums wrap",
     "%i = iota<0, 8> ; %u = cast %i : u32[8] ; %un = bitcast %b : u32 ; %d = add %u, %un ; %q = "
     "rem %d, 16\n"
     "%j = cast %q : i32[8] ; %p = ptr_add %X, %j ; %r = load %p\n",
     "unsigned"},
    {"signed numbers as unsigned ones",
     "%i = iota<0, 8> ; %o = add %i, %b ; %u = cast %o : u32[8] ; %m = cmp<lt> %u, 5\n"
     "%p = ptr_add %X, %o ; %r = load %p, %m, 2.0\n",
     "load: box"},
    {"conversions cut bits",
     "%i = iota<0, 8> ; %w = cast %i : i64[8] ; %w1 = mul %w, 4294967297 ; %n1 = cast %w1 : "
     "i32[8]\n"
     "%p = ptr_add %X, %n1 ; %r = load %p\n",
     "cut off bits"},
    {"masks on another axis stay",
     "%i = iota<0, 2> ; %j = iota<0, 4> ; %ri = expand<1> %i ; %cj = expand<0> %j ; %row = mul "
     "%ri, 16\n"
     "%o = add %row, %cj ; %p = ptr_add %X, %o ; %m0 = cmp<lt> %ri, %b ; %m1 = cmp<ge> %cj, %ri ; "
     "%m = and %m0, %m1\n"
     "%x = load %p, %m, 5.0 ; %r = reshape %x : f32[8]\n",
     "part of the mask is no box"},
    {"remainders of negative numbers",
     "%i = iota<0, 8> ; %o = sub %i, %b ; %q = rem %o, 5 ; %p = ptr_add %X, %q ; %r = load %p\n",
     ""},
    {"floors of negative numbers",
     "%i = iota<0, 8> ; %o = sub %i, 3 ; %q = mod %o, 5 ; %p = ptr_add %X, %q ; %r = load %p\n",
     "wraps around"},
    {"remainders by negative numbers",
     "%i = iota<0, 8> ; %q = rem %i, %b ; %p = ptr_add %X, %q ; %r = load %p\n", ""},
    {"numbers that overflow before their remainder",
     "%i = iota<0, 8> ; %h = mul %b, 1664525 ; %h1 = add %h, 1013904223 ; %o = add %i, %h1 ; %q = "
     "mod %o, 7\n"
     "%p = ptr_add %X, %q ; %r = load %p\n",
     "may not fit"},
    {"quotients inside a tile",
     "%i = iota<0, 8> ; %s8 = mul %pid, 8 ; %o = add %i, %s8 ; %q = div %o, 8 ; %t = rem %o, 8 ; "
     "%u = mul %q, 100\n"
     "%v = add %u, %t ; %p = ptr_add %X, %v ; %r = load %p\n",
     "load: box"},
    {"quotients across tiles",
     "%i = iota<0, 8> ; %s8 = mul %pid, 8 ; %o = add %i, %s8 ; %q = div %o, 3 ; %p = ptr_add %X, "
     "%q ; %r = load %p\n",
     "`div` is not affine"},
    {"reshapes of indices",
     "%i = iota<0, 8> ; %o = add %i, %b ; %m = reshape %o : i32[2,4] ; %row = iota<0, 2> ; %r1 = "
     "expand<1> %row\n"
     "%r2 = mul %r1, 50 ; %s2 = add %m, %r2 ; %p = ptr_add %X, %s2 ; %x = load %p ; %r = reshape "
     "%x : f32[8]\n",
     "load: box"},
    {"clamps that are seen",
     "%i = iota<0, 8> ; %q = min %i, %b ; %p = ptr_add %X, %q ; %r = load %p\n", "clamped"},
    {"pointers of a while loop",
     "%i = iota<0, 8> ; %p0 = ptr_add %X, %i ; %z = splat 0.0 : f32[8]\n"
     "%n9, %r, %p9 = while (%n = 0, %s = %z, %p = %p0) { %go = cmp<lt> %n, %e ; test %go, %n, %s, "
     "%p } do (%n, %s, %p) {\n"
     "%x = load %p ; %t = add %s, %x ; %by = mul %n, 3 ; %p1 = ptr_add %p, %by ; %n1 = add %n, 1 ; "
     "yield %n1, %t, %p1 }\n",
     "load: box"},
    {"pointers after a loop",
     "%i = iota<0, 8> ; %p0 = ptr_add %X, %i\n"
     "%p9 = for %k = 0, %e, 1 (%p = %p0) { %p1 = ptr_add %p, %c ; yield %p1 }\n%r = load %p9\n",
     "load: box"},
    {"loops that run down",
     "%i = iota<0, 8> ; %p0 = ptr_add %X, %i ; %z = splat 0.0 : f32[8] ; %hi = add %e, -3\n"
     "%r = for %k = %e, %hi, -1 (%s = %z) { %q = ptr_add %p0, %k ; %x = load %q ; %t = add %s, %x "
     "; yield %t }\n",
     "load: box"},
    {"rows that the next trip stores, where the first row is another one",
     "%i = iota<0, 8> ; %z = splat 0.0 : f32[8] ; %Z = ptr_add %Z0, %mid\n"
     "%l = for %k = 0, %e, 1 (%last = %z) {\n"
     "%k7 = mul %k, 7 ; %m = rem %k7, 10 ; %o = add %i, %m ; %in = cmp<lt> %o, 12 ; %k8 = mul %k, 8\n"
     "%zo = add %i, %k8 ; %q = ptr_add %Z, %zo ; store %q, %last, %in\n"
     "%w = rem %o, 12 ; %p = ptr_add %X, %w ; %x = load %p ; yield %x }\n"
     "%r = splat 1.0 : f32[8]\n",
     "wraps around"},
    {"rows that the next trip stores, where the first row is the same one",
     "%i = iota<0, 8> ; %z = splat 0.0 : f32[8] ; %Z = ptr_add %Z0, %mid ; %m = mul %pid, 8\n"
     "%o = add %i, %m ; %in = cmp<lt> %o, 12\n"
     "%l = for %k = 0, %e, 1 (%last = %z) {\n"
     "%zo = add %i, %m ; %q = ptr_add %Z, %zo ; store %q, %last, %in\n"
     "%w = rem %o, 12 ; %k8 = mul %k, 16 ; %wk = add %w, %k8 ; %p = ptr_add %X, %wk ; %x = load %p ; "
     "yield %x }\n"
     "%r = splat 1.0 : f32[8]\n",
     "gave way"},
    {"one element spread over an axis",
     "%one = iota<3, 4> ; %i = iota<0, 8> ; %w = broadcast %one : i32[8] ; %o = add %w, %i ; %m = "
     "cmp<lt> %w, %b\n"
     "%o2 = mul %o, 2 ; %p = ptr_add %X, %o2 ; %r = load %p, %m, 3.0\n",
     "load: box"},
    {"lower bounds at the end of the range",
     "%i = iota<0, 8> ; %o = add %i, 3 ; %m = cmp<ge> %o, %a ; %p = ptr_add %X, %o ; %r = load %p, "
     "%m, 2.0\n",
     "load: box"},
    {"64-bit bounds at the end of the range",
     "%i = iota<0, 8> ; %w = cast %i : i64[8] ; %a64 = cast %a : i64 ; %far = shl %a64, 32 ; %b64 = cast "
     "%b : i64 ; %o = add %w, %b64 ; %m = cmp<lt> %o, %far ; %p = ptr_add %X, %i ; %r = load %p, %m, "
     "2.0\n",
     ""},
};

static void test_traps(void) {
    static Lab lab;
    static char text[8192], explain[8192];
    lab_open(&lab);
    for (size_t t = 0; t < sizeof traps / sizeof *traps; t++) {
        snprintf(
            text, sizeof text,
            "kernel @k(%%X0, %%Y0, %%Z0: *f32, %%a, %%b, %%c, %%n, %%s, %%e: i32, %%mid: i64) {\n"
            "%%pid = program_id<0> ; %%X = ptr_add %%X0, %%mid\n%s"
            "%%yi = iota<0, 8> ; %%yb = mul %%pid, 8 ; %%yo = add %%yi, %%yb ; %%yp = ptr_add "
            "%%Y0, %%yo\n"
            "store %%yp, %%r\nreturn }\n",
            traps[t].body);
        static const int64_t ends[] = {
            INT32_MAX, INT32_MIN, INT32_MAX - 3, INT32_MIN + 3, 0, 1, -1, 5, -5, 4, 9};
        int clean = 0, failures = check_failures;
        for (int i = 0; i < 22; i++) {
            int64_t x = ends[i % 11], y = ends[(i * 7 + i / 11) % 11];
            int64_t numbers[] = {x, i < 11 ? x : y, y, 9, 16, i % 5, MIDDLE};
            explain[0] = 0;
            clean += compare(&lab, text, 3, numbers, 7, explain, sizeof explain);
            if (explain[0]) CHECK(strstr(explain, traps[t].says) != NULL);
        }
        CHECK(clean > 0);
        if (check_failures > failures || !clean)
            fprintf(stderr, "trap: %s\n%s\n", traps[t].name, explain);
    }
    lab_close(&lab);
}

/* (pid*64 + i) rem 100 of program 1: rows 64 to 99, then 0 to 27; and 36 rows of 100 under a mask.
 */
static void test_pieces(void) {
    static Lab lab;
    static const char text[] =
        "kernel @k(%X, %Y, %Z: *f32, %M, %ld: i32) {\n"
        "%pid = program_id<0> ; %m = mul %pid, 64 ; %i = iota<0, 64> ; %rm = add %m, %i ; %w = rem "
        "%rm, 100\n"
        "%p = ptr_add %X, %w ; %x = load %p ; %q = ptr_add %Y, %rm ; store %q, %x\n"
        "%left = sub %M, %m ; %in = cmp<lt> %i, %left ; %row = mul %rm, %ld ; %u = ptr_add %X, "
        "%row ; %v = load %u, %in, -7.0\n"
        "%z = ptr_add %Z, %rm ; store %z, %v\nreturn }\n";
    char explain[4096] = "";
    int64_t numbers[] = {100, 3};
    lab_open(&lab);
    CHECK(compare(&lab, text, 2, numbers, 2, explain, sizeof explain) == 1);
    CHECK(strstr(explain, "box f32[64] of X[100], strides [1], at [m]; dimension 0 wraps around"));
    CHECK(strstr(explain, "box f32[64] of X[M], strides [ld], at [m]; outside -7"));
    int wrong = 0;
    for (int i = 0; i < 64; i++) {
        int at = 64 + i;
        wrong += lab.data[1][at] != (float)((i < 36 ? at : i - 36) * 37 % 1009) * 0.25f;
        wrong += lab.data[2][at] != (i < 36 ? (float)(at * 3 * 37 % 1009) * 0.25f : -7.0f);
    }
    CHECK(wrong == 0);
    lab_close(&lab);
}

/* A persistent matmul that decodes its tile twice, with clamped rows: all of it becomes boxes. */
static void test_persistent(void) {
    static Lab lab;
    static const char text[] =
        "kernel @k(%A, %C, %Z: *f32, %M, %N, %K, %sa, %sb, %sc: i32) {\n"
        "%start = program_id<0> ; %nm = cdiv %M, 8 ; %nn = cdiv %N, 4 ; %tiles = mul %nm, %nn ; %w "
        "= mul %nn, 2\n"
        "%im = iota<0, 8> ; %in = iota<0, 4> ; %ik = iota<0, 2> ; %kr = expand<0> %ik ; %kc = "
        "expand<1> %ik ; %nk = cdiv %K, 2\n"
        "%before = sub %start, 4\n"
        "%last = for %t = %start, %tiles, 4 (%tc0 = %before) {\n"
        "%g = div %t, %w ; %fm = mul %g, 2 ; %gl = sub %nm, %fm ; %gs = min %gl, 2 ; %r = rem %t, "
        "%w ; %ri = rem %r, %gs\n"
        "%pm = add %fm, %ri ; %pn = div %r, %gs ; %m = mul %pm, 8 ; %n = mul %pn, 4 ; %rm = add "
        "%m, %im ; %rn = add %n, %in\n"
        "%lm = cmp<lt> %rm, %M ; %wm = select %lm, %rm, 0 ; %ln = cmp<lt> %rn, %N ; %wn = select "
        "%ln, %rn, 0\n"
        "%w0 = expand<1> %wm ; %w1 = expand<0> %wn ; %z = splat 0.0 : f32[8,4]\n"
        "%acc = for %k = 0, %nk, 1 (%c = %z) {\n"
        "%k16 = mul %k, 2 ; %ka = add %kr, %k16 ; %kb = add %kc, %k16 ; %left = sub %K, %k16 ; %ma "
        "= cmp<lt> %kr, %left ; %mb = cmp<lt> %kc, %left\n"
        "%a0 = mul %w0, %sa ; %a1 = add %a0, %ka ; %pa = ptr_add %A, %a1 ; %a = load %pa, %ma, "
        "0.0\n"
        "%b0 = mul %kb, %sb ; %b1 = add %b0, %w1 ; %pb = ptr_add %A, %b1 ; %b = load %pb, %mb, "
        "0.0\n"
        "%d = dot %a, %b, %c ; yield %d }\n"
        "%tc = add %tc0, 4\n"
        "%g2 = div %tc, %w ; %fm2 = mul %g2, 2 ; %gl2 = sub %nm, %fm2 ; %gs2 = min %gl2, 2 ; %r9 = "
        "rem %tc, %w ; %ri2 = rem %r9, %gs2\n"
        "%pm2 = add %fm2, %ri2 ; %pn2 = div %r9, %gs2 ; %m2 = mul %pm2, 8 ; %n2 = mul %pn2, 4 ; "
        "%rm2 = add %m2, %im ; %rn2 = add %n2, %in\n"
        "%o0 = expand<1> %rm2 ; %o1 = expand<0> %rn2 ; %q0 = mul %o0, %sc ; %q1 = add %q0, %o1 ; "
        "%pc = ptr_add %C, %q1\n"
        "%m0 = cmp<lt> %o0, %M ; %m1 = cmp<lt> %o1, %N ; %mc = and %m0, %m1 ; %h = add %acc, 1.0 ; "
        "store %pc, %h, %mc\n"
        "yield %tc }\n"
        "return }\n";
    char explain[4096] = "";
    lab_open(&lab);
    state = 77;
    for (int i = 0; i < 40; i++) {
        int64_t M = draw(30), N = draw(20), K = draw(9);
        int64_t numbers[] = {i == 7 ? -3 : M, i == 8 ? -1 : N, K,
                             K + draw(3),     N + draw(3),     N + draw(2)};
        CHECK(compare(&lab, text, 1 + (int64_t)draw(4), numbers, 6, explain, sizeof explain) == 1);
        CHECK(strstr(explain, "access: 3 of 3") != NULL);
    }
    lab_close(&lab);
}

int main(void) {
    test_random();
    test_traps();
    test_pieces();
    test_persistent();
    return check_done();
}
