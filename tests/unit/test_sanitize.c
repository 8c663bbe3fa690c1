/* SPDX-License-Identifier: Apache-2.0 */
/* test_sanitize.c: a sanitized run ends, whatever the text does.
 *
 * Random kernels that mean harm: pointers made of any number, tensors with any extents, strides and
 * offsets, boxes that wrap, atomics of every element, shifts and divisions by anything, loops from
 * anywhere to anywhere, in programs of any grid. Each must come back, with or without a report,
 * within its budget, and must not touch a byte beside its arrays. The tests run under ASan and
 * UBSan too, which is where this one earns its keep. Then what the reports count and forgive. */
#include "interp_bench.h"

static uint64_t state = 1;
static uint32_t draw(uint32_t below) {
    return (uint32_t)(bench_next(&state) >> 20) % below;
}

typedef struct Maker {
    char text[8192];
    size_t length;
    int next;
} Maker;

static void put(Maker *m, const char *format, ...) {
    va_list args;
    va_start(args, format);
    m->length += (size_t)vsnprintf(m->text + m->length, sizeof m->text - m->length, format, args);
    va_end(args);
    if (m->length >= sizeof m->text) abort();
}

/* Any 64-bit number, as a value. */
static int make_number(Maker *m) {
    static const char *const leaves[] = {"%a", "%b", "%n", "%a", "%b"};
    static const char *const ops[] = {"add", "sub", "mul", "div",      "rem",  "shl",
                                      "shr", "xor", "mod", "floordiv", "cdiv", "min"};
    int out = m->next++;
    put(m, "%%v%d = %s %s, %s\n", out, ops[draw(12)], leaves[draw(5)], leaves[draw(5)]);
    return out;
}

static void make_gather(Maker *m) {
    static const char *const elems[] = {"i8",  "u8",  "i16", "f16", "bf16",   "i32",
                                        "f32", "i64", "f64", "u64", "f8e4m3", "i1"};
    const char *elem = elems[draw(12)];
    int at = make_number(m), p = m->next++, q = m->next++, x = m->next++;
    if (draw(3)) {
        put(m, "%%v%d = bitcast %%v%d : *%s\n", p, at, elem);
    } else {
        int near = m->next++;
        put(m, "%%v%d = bitcast %%x : i64 ; %%v%d = rem %%v%d, 80 ; %%w%d = add %%v%d, %%v%d\n",
            near, m->next, at, near, near, m->next);
        put(m, "%%v%d = bitcast %%w%d : *%s\n", p, near, elem);
        m->next++;
    }
    int step = m->next++;
    put(m, "%%v%d = iota<-3, 5> ; %%v%d = ptr_add %%v%d, %%v%d\n", step, q, p, step);
    bool small = elem[0] == 'i' && elem[1] == '1' && !elem[2];
    switch (draw(small || elem[1] == '8' ? 2 : 4)) {
    case 0: put(m, "%%v%d = load %%v%d\n", x, q); break;
    case 1: put(m, "%%v%d = load %%v%d ; store %%v%d, %%v%d\n", x, q, q, x); break;
    case 2: put(m, "%%v%d = load %%v%d ; %%u%d = atomic<add> %%v%d, %%v%d\n", x, q, x, q, x); break;
    default:
        put(m, "%%v%d = load %%v%d ; %%u%d = atomic_cas %%v%d, %%v%d, %%v%d\n", x, q, x, q, x, x);
        break;
    }
}

static void make_box(Maker *m) {
    int e0 = make_number(m), e1 = make_number(m), s0 = make_number(m), s1 = make_number(m),
        o0 = make_number(m), o1 = make_number(m), t = m->next++, x = m->next++;
    put(m, "%%v%d = tensor %%x, [%%v%d, ", t, e0);
    if (draw(4))
        put(m, "%%v%d", e1);
    else
        put(m, "none");
    put(m, "], [%%v%d, %s] ", s0, draw(2) ? "1" : "%a");
    put(m, "\n%%v%d = tload%s %%v%d, [%%v%d, %%v%d] : f32[3,5]\n", x,
        draw(3) == 0   ? "<wrap=[0,1]>"
        : draw(3) == 0 ? "<nocheck>"
                       : "",
        t, o0, o1);
    if (draw(2)) { /* rows, or rows and columns, that vectors choose */
        int v = m->next++, w = m->next++, y = m->next++;
        put(m, "%%s%d = splat %%v%d : i64[3] ; %%i%d = iota<-1, 2> ; %%j%d = cast %%i%d : i64[3] ; %%v%d = add %%s%d, %%j%d\n", v, o0,
            v, v, v, v, v, v);
        put(m, "%%w%d = iota<0, 5> ; %%v%d = tload %%v%d, [%%v%d, %%w%d] : f32[3,5]\n", w, y, t, v, w);
        put(m, "%s %%v%d, [%%v%d, %%v%d], %%v%d\n", draw(2) ? "tstore" : "tatomic<add>", t, v, o1, y);
    }
    if (draw(2)) put(m, "tstore %%v%d, [%%v%d, %%v%d], %%v%d\n", t, o1, o0, x);
    if (draw(4) == 0) put(m, "tatomic<add> %%v%d, [%%v%d, %%v%d], %%v%d\n", t, o1, o0, x);
    (void)s1;
}

static void make_loop(Maker *m) {
    int lo = make_number(m), hi = make_number(m), k = m->next++, step = make_number(m);
    bool constant = draw(2);
    if (constant)
        put(m, "for %%k%d = %%v%d, %%v%d, %d {\n", k, lo, hi, draw(2) ? 1 : -1);
    else
        put(m, "for %%k%d = %%v%d, %%v%d, %%v%d {\n", k, lo, hi, step);
    make_gather(m);
    put(m, "}\n");
}

static void test_harm(void) {
    static Maker m;
    static const int64_t ends[] = {0,         1,         -1, 7,   INT64_MAX, INT64_MIN,
                                   INT32_MAX, INT32_MIN, 64, -64, 4096};
    int clean = 0;
    for (int i = 0; i < 150; i++) {
        state = ((uint64_t)i + 1) * 0x9E3779B97F4A7C15u | 1;
        m.length = 0;
        m.next = 0;
        put(&m, "kernel @k(%%x: *f32, %%a, %%b: i64) {\n%%pid = program_id<0> ; %%n = cast %%pid : "
                "i64\n");
        for (uint32_t left = 1 + draw(4); left > 0; left--) {
            uint32_t kind = draw(5);
            if (kind < 2)
                make_gather(&m);
            else if (kind < 4)
                make_box(&m);
            else
                make_loop(&m);
        }
        put(&m, "return }\n");
        float guarded[64 + 16];
        for (int j = 0; j < 80; j++) guarded[j] = (float)j;
        Bench b;
        bench_open(&b, m.text, NULL);
        bench_buffer(&b, "x", guarded + 8, 64 * sizeof *guarded, draw(2));
        bench_int(&b, ends[draw(11)]);
        bench_int(&b, ends[draw(11)]);
        b.launch.sanitize = true;
        b.launch.budget = 30000;
        clean += bench_run(&b, draw(3) ? 3 : INT32_MAX, 1, 1);
        int touched = 0;
        for (int j = 0; j < 80; j++) touched += (j < 8 || j >= 72) && guarded[j] != (float)j;
        CHECK(touched == 0);
        if (touched) fprintf(stderr, "%s\n", m.text);
        bench_close(&b);
    }
    printf("150 kernels, %d without a report\n", clean);
}

/* More values than the limit allows: a message, not the machine's last byte. */
static void test_memory(void) {
    static Maker m;
    m.length = 0;
    put(&m, "kernel @k(%%x: *f32) {\n%%i = iota<0, 1048576>\n");
    for (int i = 0; i < 20; i++)
        put(&m, "%%p%d = ptr_add %%x, %%i ; %%q%d = ptr_add %%p%d, %d\n", i, i, i, i);
    for (int i = 0; i < 20; i++) put(&m, "%%v%d = load %%q%d, false\n", i, i);
    put(&m, "return }\n");
    Bench b;
    float x[4] = {0};
    bench_open(&b, m.text, NULL);
    bench_buffer(&b, "x", x, sizeof x, true);
    b.launch.sanitize = true;
    b.launch.memory_limit = (size_t)64 << 20;
    BENCH_FAILS(&b, 1, 1, 1, "[memory-limit]");
    bench_close(&b);
}

/* Two programs in turn on one place: who may, and who may not. */
static void race_case(const char *body, const char *words) {
    char text[2000];
    snprintf(text, sizeof text,
             "kernel @k(%%x, %%l: *i32) {\n%%pid = program_id<0> ; %%x1 = ptr_add %%x, 1 ; %%mine "
             "= ptr_add "
             "%%x, %%pid\n%s\nreturn }\n",
             body);
    int32_t x[16] = {0}, lock[2] = {0};
    Bench b;
    bench_open(&b, text, NULL);
    bench_buffer(&b, "x", x, sizeof x, true);
    bench_buffer(&b, "l", lock, sizeof lock, true);
    b.launch.sanitize = true;
    if (words)
        BENCH_FAILS(&b, 4, 1, 1, words);
    else
        BENCH_RUN(&b, 4, 1, 1);
    bench_close(&b);
}

static void test_races(void) {
    race_case("%v = load %mine ; store %mine, 3", NULL);
    race_case("%v = load %x1", NULL);
    race_case("store %x1, 3",
              "program (1, 0, 0) writes what program (0, 0, 0) wrote (index 1 of `x`");
    race_case("store %mine, 3 ; %v = load %x1",
              "program (1, 0, 0) writes what program (0, 0, 0) read (index 1 of `x`");
    race_case("%v = load %x ; store %mine, 3",
              "program (1, 0, 0) reads what program (0, 0, 0) wrote (index 0 of `x`");
    race_case("%u = atomic<add> %x1, 1", NULL);
    race_case("%u = atomic<add> %x1, 1 ; %v = load %x1", /* the other may add before the load */
              "program (1, 0, 0) updates by an atomic what program (0, 0, 0) read (index 1 of `x`");
    race_case("%c = atomic_cas %l, 0, 1 ; %u = atomic<add> %x1, 1 ; %v = load %x1 ; %w = "
              "atomic<xchg> %l, 0",
              NULL);
    race_case(
        "%u = atomic<add, sem=relaxed> %mine, 1 ; %v = load %x",
        "program (1, 0, 0) reads what program (0, 0, 0) updated by an atomic (index 0 of `x`");
    race_case("%v = load<volatile> %x1 ; %u = atomic<add> %x1, 1", NULL);
    race_case("store %x1, 3 ; %u = atomic<add> %l, 1", "[write-race]");
    race_case("%u = atomic<add> %l, 1 ; store %x1, 3", "[write-race]");
    race_case("%c = atomic_cas %l, 0, 1 ; %v = load %x1 ; %w = add %v, 1 ; store %x1, %w ; %u = "
              "atomic<xchg> %l, 0",
              NULL);
    race_case("%c = atomic_cas %l, 0, 1 ; %u = atomic<xchg> %l, 0 ; store %x1, 3", "[write-race]");
    /* bytes of one word are places of their own */
    race_case("%b = bitcast %x : i64 ; %w = cast %pid : i64 ; %c = add %b, %w ; %p = bitcast %c : "
              "*i8 ; store %p, 3",
              NULL);
    race_case("store %mine, 3 ; %b = bitcast %x : i64 ; %c = add %b, 5 ; %p = bitcast %c : *i8 ; "
              "%v = load %p",
              "[read-write-race]");
}

int main(void) {
    test_harm();
    test_memory();
    test_races();
    return check_done();
}
