/* SPDX-License-Identifier: Apache-2.0 */
/* triton_values.h: what the generator of random Triton kernels knows (random_triton.c): dtypes, the variables of the program with shape,
 * bound and error, how an operand is found among them, and the arguments of the kernel. */
#ifndef TESTS_TRITON_VALUES_H
#define TESTS_TRITON_VALUES_H
#include "differential.h"

#include <ctype.h>

/* --- dtypes --- */

typedef struct Dtype {
    const char *name;
    int dtype;
    char kind; /* i signed, u unsigned, f float, 8 a float that is only stored, b truth */
    int bits;
    double unit, largest; /* relative rounding error; largest finite number */
} Dtype;
enum { I32, F32, I64, F16, BF16, I8, U8, I16, U16, U32, U64, F64, F8E5, F8E4, I1, DTYPES };
static const Dtype dtypes[DTYPES] = {
    {"int32", TW_I32, 'i', 32, 0, 0},
    {"float32", TW_F32, 'f', 32, 0x1p-24, 3e38},
    {"int64", TW_I64, 'i', 64, 0, 0},
    {"float16", TW_F16, 'f', 16, 0x1p-11, 65000},
    {"bfloat16", TW_BF16, 'f', 16, 0x1p-8, 3e38},
    {"int8", TW_I8, 'i', 8, 0, 0},
    {"uint8", TW_U8, 'u', 8, 0, 0},
    {"int16", TW_I16, 'i', 16, 0, 0},
    {"uint16", TW_U16, 'u', 16, 0, 0},
    {"uint32", TW_U32, 'u', 32, 0, 0},
    {"uint64", TW_U64, 'u', 64, 0, 0},
    {"float64", TW_F64, 'f', 64, 0x1p-53, 1e308},
    {"float8e5", TW_F8E5M2, '8', 8, 0x1p-3, 57344},
    {"float8e4nv", TW_F8E4M3, '8', 8, 0x1p-4, 448},
    {"int1", TW_I1, 'b', 1, 0, 0},
};
static bool is_real(int t) { return dtypes[t].kind == 'f' || dtypes[t].kind == '8'; }
static bool is_int(int t) { return dtypes[t].kind == 'i' || dtypes[t].kind == 'u'; }

/* --- features of the door --- */

enum { BLOCK_POINTERS, REDUCE, SCAN, SORT, TOPK, HISTOGRAM, GATHER, FEATURES };
static const struct {
    const char *name, *use;
} features[FEATURES] = {
    {"block pointers", "tl.load(tl.make_block_ptr(x, shape=(8,), strides=(1,), offsets=(0,), block_shape=(8,), order=(0,)), boundary_check=(0,))"},
    {"tl.reduce", "tl.reduce(v, 0, combine)"},
    {"tl.associative_scan", "tl.associative_scan(v, 0, combine)"},
    {"tl.sort", "tl.sort(v)"},
    {"tl.topk", "tl.topk(v, 4)"},
    {"tl.histogram", "tl.histogram(v, 4)"},
    {"tl.gather", "tl.gather(v, v & 7, 0)"},
};
static bool known[FEATURES];

static void find_features(void) {
    tw_context *cx = NULL;
    int64_t n = 8;
    if (tw_context_create(NULL, &cx) != TW_OK) exit(2);
    for (int f = 0; f < FEATURES; f++) {
        char text[1000];
        tw_module *m = NULL;
        tw_kernel *k = NULL;
        tw_compile_options options;
        tw_arg arg = {.kind = TW_ARG_BUFFER};
        snprintf(text, sizeof text,
                 "import triton\nimport triton.language as tl\n@triton.jit\ndef combine(a, b):\n    return a + b\n"
                 "@triton.jit\ndef k(x):\n    v = tl.load(x + tl.arange(0, 8))\n    w = %s\n    tl.store(x, tl.max(w, 0))\n",
                 features[f].use);
        tw_compile_options_init(&options);
        options.target = "interp";
        options.args = &arg;
        options.arg_count = 1;
        known[f] = tw_buffer_create(cx, TW_I32, 1, &n, NULL, &arg.value.buffer) == TW_OK &&
                  tw_module_load_text(cx, "probe.py", text, strlen(text), NULL, &m) == TW_OK &&
                  tw_kernel_compile(m, "k", &options, &k) == TW_OK;
        if (!known[f]) printf("without %s\n", features[f].name);
        tw_kernel_destroy(k);
        tw_module_destroy(m);
        tw_buffer_destroy(arg.value.buffer);
    }
    tw_context_destroy(cx);
}

/* --- what the generator knows --- */

typedef struct Var {
    char name[16];
    int type, rank;
    int64_t ext[3];
    double bound, error; /* of floats; bound INFINITY: anything, NaN too */
    bool whole, hidden;
} Var;

typedef struct Lines {
    char text[40000];
    size_t length;
} Lines;

enum { MOST_VARS = 300, MOST_HELPERS = 6 };
typedef struct Gen {
    Choices *c;
    Program *p;
    Lines *out;               /* of the function being written */
    Lines body, head, helper[4];
    Var vars[MOST_VARS];
    int count, first;         /* visible: first .. count-1 */
    int next, indent, depth, helpers, calls; /* calls: depth of helpers; without pointers there */
    int statements_left;
    double trips;             /* how often the statement runs at most */
    uint32_t combines;        /* combine functions used */
    int small;                /* the family has the function small, to this type; 0: it has not */
    int spice;                /* triton_order.h: what the program may do */
} Gen;

typedef struct Family { /* of whole kernels */
    const char *name;
    void (*write)(Gen *g);
    uint32_t each; /* one of so many programs */
} Family;

static uint32_t draw(Gen *g, uint32_t n) { return pick(g->c, n); }

static void line(Gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(Gen *g, const char *format, ...) {
    Lines *out = g->out;
    va_list args;
    va_start(args, format);
    size_t room = sizeof out->text - out->length;
    if (room > 2000) {
        out->length += (size_t)snprintf(out->text + out->length, room, "%*s", 4 * g->indent, "");
        out->length += (size_t)vsnprintf(out->text + out->length, sizeof out->text - out->length, format, args);
        out->length += (size_t)snprintf(out->text + out->length, sizeof out->text - out->length, "\n");
    }
    va_end(args);
}

static int64_t elements(const Var *v) {
    int64_t n = 1;
    for (int d = 0; d < v->rank; d++) n *= v->ext[d];
    return n;
}
static bool same_shape(const Var *a, const Var *b) {
    if (a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->ext[d] != b->ext[d]) return false;
    return true;
}

/* A value of that type, shape and size; the caller writes the line that makes it. NULL: it could overflow. */
static Var *new_var(Gen *g, int type, int rank, const int64_t *ext, double bound, double error, bool whole) {
    if (g->count >= MOST_VARS) return NULL;
    if (is_real(type)) {
        if (bound > dtypes[type].largest / 2) bound = INFINITY;
        if (error > 0 && isinf(bound)) return NULL;
        if (bound * dtypes[type].unit > 0.5) whole = false;
    } else {
        bound = INFINITY, error = 0, whole = false;
    }
    Var *v = &g->vars[g->count++];
    *v = (Var){.type = type, .rank = rank, .bound = bound, .error = error, .whole = whole};
    for (int d = 0; d < rank; d++) v->ext[d] = ext[d];
    snprintf(v->name, sizeof v->name, "v%d", g->next++);
    return v;
}
static Var *like(Gen *g, const Var *v, double bound, double error, bool whole) {
    return new_var(g, v->type, v->rank, v->ext, bound, error, whole);
}

/* --- finding operands --- */

typedef struct Filter {
    const char *kinds; /* NULL: any but 8 and b */
    int type;          /* -1: any */
    const Var *shape;  /* NULL: any */
    int rank_least, rank_most;
    bool exact, bounded;
} Filter;
static const Filter any = {.type = -1, .rank_most = 3};

static bool fits(const Var *v, const Filter *f) {
    char kind = dtypes[v->type].kind;
    if (v->hidden || (f->type >= 0 && v->type != f->type)) return false;
    if (f->kinds ? !strchr(f->kinds, kind) : f->type < 0 && (kind == '8' || kind == 'b')) return false;
    if (f->shape && !same_shape(v, f->shape)) return false;
    if (v->rank < f->rank_least || v->rank > f->rank_most) return false;
    if (f->exact && v->error > 0) return false;
    return !(f->bounded && is_real(v->type) && isinf(v->bound));
}

/* 0 is the latest. */
static Var *some(Gen *g, Filter f) {
    uint32_t n = 0;
    for (int i = g->first; i < g->count; i++) n += fits(&g->vars[i], &f);
    if (!n) return NULL;
    uint32_t k = draw(g, n);
    for (int i = g->count - 1; i >= g->first; i--)
        if (fits(&g->vars[i], &f) && k-- == 0) return &g->vars[i];
    return NULL;
}

static void random_shape(Gen *g, int *rank, int64_t *ext, int64_t most) {
    static const int extents[] = {4, 8, 1, 2, 3, 16, 5, 7, 32, 17, 33, 64, 100, 128};
    static const int ranks[] = {1, 2, 1, 2, 2, 3};
    *rank = ranks[draw(g, 6)];
    int64_t n = 1;
    for (int d = 0; d < *rank; d++) {
        ext[d] = extents[draw(g, 14)];
        while (n * ext[d] > most) ext[d] = (ext[d] + 1) / 2;
        n *= ext[d];
    }
}

static const char *literal(Gen *g, int type, char *room, size_t size) {
    static const char *const reals[] = {"1.0", "2.0", "0.5", "-3.0", "0.0", "0.1", "1.5"};
    static const char *const ints[] = {"1", "2", "3", "0", "7", "5", "-1", "-3"};
    snprintf(room, size, "%s", is_real(type) ? reals[draw(g, 7)] : ints[draw(g, dtypes[type].kind == 'i' ? 8 : 6)]);
    return room;
}
static bool literal_whole(const char *text) { return strcmp(text, "0.5") != 0 && strcmp(text, "0.1") != 0 && strcmp(text, "1.5") != 0; }

static void shape_text(const Var *v, char *room, size_t size) {
    size_t n = (size_t)snprintf(room, size, "(");
    for (int d = 0; d < v->rank; d++) n += (size_t)snprintf(room + n, size - n, "%lld,", (long long)v->ext[d]);
    snprintf(room + n, size - n, ")");
}

/* --- arguments --- */

static const char *scalar_argument(Gen *g, int64_t value) {
    Program *p = g->p;
    for (int s = 0; s < p->scalar_count; s++)
        if (!p->scalars[s].is_float && p->scalars[s].i == value) return p->scalars[s].name;
    if (p->scalar_count == MOST_SCALARS) return NULL;
    Scalar *s = &p->scalars[p->scalar_count];
    snprintf(s->name, sizeof s->name, "n%d", p->scalar_count++);
    s->i = value;
    return s->name;
}

static Array *new_array(Gen *g, char letter, int type, int64_t count, Flavour flavour) {
    Program *p = g->p;
    if (p->array_count == MOST_ARRAYS) return NULL;
    Array *a = &p->arrays[p->array_count];
    snprintf(a->name, sizeof a->name, "%c%d", letter, p->array_count++);
    a->dtype = dtypes[type].dtype;
    a->count = count;
    a->flavour = flavour;
    a->whole = 1 + (int)draw(g, 4);
    return a;
}

enum { INPUT = 16384 }; /* the largest tile, and what programs step */
static Array *input(Gen *g, int type) {
    Flavour flavour = (Flavour)draw(g, 3);
    Program *p = g->p;
    for (int a = 0; a < p->array_count; a++)
        if (p->arrays[a].name[0] == 'x' && p->arrays[a].dtype == dtypes[type].dtype && p->arrays[a].flavour == flavour) return &p->arrays[a];
    return new_array(g, 'x', type, INPUT, flavour);
}
static double bound_of(const Array *a) { return a->flavour == WILD ? INFINITY : a->flavour == PLAIN ? 2.5 : a->whole; }

static int64_t programs(const Gen *g) { return g->p->grid[0] * g->p->grid[1]; }
#endif
