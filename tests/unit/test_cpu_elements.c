/* test_cpu_elements.c: every elementwise op on every element type, and every conversion, on the
 * CPU target against the interpreter, every bit. The kernels are written here: a line of text for
 * each op and type. */
#include "cpu_cases.h"

#include <stdarg.h>
#include <stdbool.h>

enum { LANES = 129 };

typedef struct Writer {
    char *text;
    size_t length, capacity;
    int stored; /* tiles written to the output so far */
} Writer;

static void put(Writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Writer *w, const char *format, ...) {
    va_list args;
    if (w->capacity - w->length < 1000) w->text = realloc(w->text, w->capacity += 65536);
    va_start(args, format);
    w->length += (size_t)vsnprintf(w->text + w->length, w->capacity - w->length, format, args);
    va_end(args);
}

/* Stores value `name` of type t behind what was stored before; the output must be an array of t. */
static void store(Writer *w, const char *name, const char *t, const char *out) {
    int n = w->stored++;
    put(w, "  %%o%d = add %%i, %d ; %%q%d = ptr_add %%%s, %%o%d ; store %%q%d, %s\n", n,
        (n % 30) * LANES, n, out, n, n, name);
    (void)t;
}

static void begin(Writer *w, const char *params) {
    w->length = 0;
    w->stored = 0;
    put(w, "kernel @k(%s) {\n  %%i = iota<0, %d> ; %%j = add %%i, 7\n", params, LANES);
}

static void load(Writer *w, const char *name, const char *pointer, const char *index) {
    put(w, "  %%p_%s = ptr_add %%%s, %%%s ; %%%s = load %%p_%s\n", name, pointer, index, name,
        name);
}

static void check(tw_context *cx, Writer *w, const char *name, double tolerance) {
    put(w, "  return }\n");
    Case c = {.name = name, .text = w->text, .tolerance = tolerance};
    case_check(cx, &c);
}

static void test_integers(tw_context *cx, Writer *w, const char *t) {
    static const char *const binary[] = {"add", "sub",  "mul", "div",  "rem", "floordiv",
                                         "mod", "cdiv", "min", "max",  "and", "or",
                                         "xor", "shl",  "shr", "mulhi"};
    static const char *const unary[] = {"neg", "abs", "not", "popc", "clz"};
    static const char *const compares[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    char params[100], name[40];
    snprintf(params, sizeof params, "%%x, %%y, %%z: *%s, %%b: *i1", t);
    begin(w, params);
    load(w, "u", "x", "i");
    load(w, "v", "y", "j");
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) {
        put(w, "  %%r%zu = %s %%u, %%v\n", i, binary[i]);
        snprintf(name, sizeof name, "%%r%zu", i);
        store(w, name, t, "z");
    }
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++) {
        put(w, "  %%s%zu = %s %%u\n", i, unary[i]);
        snprintf(name, sizeof name, "%%s%zu", i);
        store(w, name, t, "z");
    }
    for (size_t i = 0; i < sizeof compares / sizeof *compares; i++) {
        put(w, "  %%c%zu = cmp<%s> %%u, %%v ; %%n%zu = not %%c%zu ; %%m%zu = xor %%c%zu, %%n%zu\n",
            i, compares[i], i, i, i, i, i);
        snprintf(name, sizeof name, "%%c%zu", i);
        store(w, name, t, "b");
    }
    put(w, "  %%sel = select %%c0, %%u, %%v\n");
    store(w, "%sel", t, "z");
    snprintf(name, sizeof name, "integers, %s", t);
    check(cx, w, name, 0);
}

static void test_floats(tw_context *cx, Writer *w, const char *t) {
    static const char *const binary[] = {"add", "sub",           "mul",          "div",
                                         "rem", "floordiv",      "mod",          "min",
                                         "max", "min<nan=keep>", "max<nan=keep>"};
    static const char *const unary[] = {"neg",  "abs",   "sqrt",  "floor",
                                        "ceil", "trunc", "round", "rint"};
    static const char *const compares[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    char params[100], name[40];
    snprintf(params, sizeof params, "%%x, %%y, %%z: *%s, %%b: *i1, %%s: %s", t, t);
    begin(w, params);
    load(w, "u", "x", "i");
    load(w, "v", "y", "j");
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) {
        put(w, "  %%r%zu = %s %%u, %%v\n", i, binary[i]);
        snprintf(name, sizeof name, "%%r%zu", i);
        store(w, name, t, "z");
    }
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++) {
        put(w, "  %%s%zu = %s %%u\n", i, unary[i]);
        snprintf(name, sizeof name, "%%s%zu", i);
        store(w, name, t, "z");
    }
    for (size_t i = 0; i < sizeof compares / sizeof *compares; i++) {
        put(w, "  %%c%zu = cmp<%s> %%u, %%v\n", i, compares[i]);
        snprintf(name, sizeof name, "%%c%zu", i);
        store(w, name, t, "b");
    }
    put(w, "  %%nn = isnan %%u\n");
    store(w, "%nn", t, "b");
    put(w, "  %%f = fma %%u, %%v, %%s ; %%g = mul %%u, %%s ; %%h = select %%c0, %%f, %%g\n");
    store(w, "%f", t, "z");
    store(w, "%h", t, "z");
    snprintf(name, sizeof name, "floats, %s", t);
    check(cx, w, name, 0);
}

static void test_casts(tw_context *cx, Writer *w, const char *from) {
    static const char *const to[] = {"i1",  "i8",     "i16",    "i32",    "i64",     "u8",
                                     "u16", "u32",    "u64",    "f16",    "bf16",    "f32",
                                     "f64", "f8e4m3", "f8e5m2", "f8e4b8", "f8e5b16", "f8e4b15"};
    enum { TYPES = sizeof to / sizeof *to };
    char name[40];
    w->length = 0;
    w->stored = 0;
    put(w, "kernel @k(%%x: *%s", from);
    for (int i = 0; i < TYPES; i++) put(w, ", %%z%d: *%s", i, to[i]);
    put(w, ") {\n  %%i = iota<0, 600>\n");
    load(w, "u", "x", "i");
    for (int i = 0; i < TYPES; i++) {
        bool to_float = i >= 9;
        if (strcmp(from, to[i]) == 0) continue;
        put(w, "  %%r%d = cast %%u : %s[600] ; %%w%d = ptr_add %%z%d, %%i ; store %%w%d, %%r%d\n",
            i, to[i], i, i, i, i);
        if (!to_float || from[0] != 'f') continue;
        put(w,
            "  %%k%d = cast<round=rz> %%u : %s[600] ; %%l%d = add %%i, 1000 ; %%m%d = ptr_add "
            "%%z%d, %%l%d ; store %%m%d, %%k%d\n",
            i, to[i], i, i, i, i, i, i);
    }
    snprintf(name, sizeof name, "casts from %s", from);
    check(cx, w, name, 0);
}

/* All bits of the 8- and 16-bit floats survive, and the bits are what bitcast shows. */
static void test_bits(tw_context *cx, Writer *w) {
    begin(w, "%h: *f16, %b: *bf16, %e: *f8e4m3, %g: *f8e5m2, %f: *f32, %u: *u16, %v: *u8, %w: "
             "*u32, %d: *f64, %q: *i64");
    put(w, "  %%k = iota<0, 4096> ; %%k16 = cast %%k : u16[4096] ; %%x16 = mul %%k16, 17 ; %%k8 = "
           "cast %%k : u8[4096]\n");
    put(w, "  %%hh = bitcast %%x16 : f16[4096] ; %%ph = ptr_add %%h, %%k ; store %%ph, %%hh\n");
    put(w, "  %%bb = bitcast %%x16 : bf16[4096] ; %%pb = ptr_add %%b, %%k ; store %%pb, %%bb\n");
    put(w, "  %%ee = bitcast %%k8 : f8e4m3[4096] ; %%pe = ptr_add %%e, %%k ; store %%pe, %%ee\n");
    put(w, "  %%gg = bitcast %%k8 : f8e5m2[4096] ; %%pg = ptr_add %%g, %%k ; store %%pg, %%gg\n");
    put(w, "  %%pf = ptr_add %%f, %%k ; %%ff = load %%pf ; %%fb = bitcast %%ff : u32[4096] ; %%pw "
           "= ptr_add %%w, %%k ; store %%pw, %%fb\n");
    put(w, "  %%pd = ptr_add %%d, %%k ; %%dd = load %%pd ; %%db = bitcast %%dd : i64[4096] ; %%pq "
           "= ptr_add %%q, %%k ; store %%pq, %%db\n");
    put(w, "  %%f1 = cast %%hh : f32[4096] ; %%f2 = cast %%f1 : f8e4m3[4096] ; %%f3 = bitcast %%f2 "
           ": u8[4096] ; %%pv = ptr_add %%v, %%k ; store %%pv, %%f3\n");
    check(cx, w, "bits", 0);
}

int main(void) {
    static const char *const integers[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
    static const char *const floats[] = {"f16",    "bf16",   "f32",     "f64",    "f8e4m3",
                                         "f8e5m2", "f8e4b8", "f8e5b16", "f8e4b15"};
    tw_context *cx = NULL;
    Writer w = {0};
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        test_integers(cx, &w, integers[i]);
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) test_floats(cx, &w, floats[i]);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) test_casts(cx, &w, integers[i]);
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) test_casts(cx, &w, floats[i]);
    test_casts(cx, &w, "i1");
    test_bits(cx, &w);
    free(w.text);
    tw_context_destroy(cx);
    return check_done();
}
