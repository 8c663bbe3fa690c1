/* random_triton.c: random Triton kernels, run on the interpreter and on other targets (differential.h).
 *
 * Every program is valid, so a message from the door is a failure too. For each variable the generator knows dtype and
 * shape, and of floats a bound of the magnitude and one of the error against exact evaluation in the written order:
 *     error 0      every operation behind it is defined bit by bit: the targets must agree in every bit
 *     error > 0    a sum or product whose order is the target's own, or an approximate function: they may differ by it
 * Sums and products of small whole numbers are exact in any order, so that reductions, scans and dots are mostly compared
 * in every bit as well. What could overflow in one order and not in another is not generated. */
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
} Gen;

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

enum { INPUT = 4096 };
static Array *input(Gen *g, int type) {
    Flavour flavour = (Flavour)draw(g, 3);
    Program *p = g->p;
    for (int a = 0; a < p->array_count; a++)
        if (p->arrays[a].name[0] == 'x' && p->arrays[a].dtype == dtypes[type].dtype && p->arrays[a].flavour == flavour) return &p->arrays[a];
    return new_array(g, 'x', type, INPUT, flavour);
}
static double bound_of(const Array *a) { return a->flavour == WILD ? INFINITY : a->flavour == PLAIN ? 2.5 : a->whole; }

static int64_t programs(const Gen *g) { return g->p->grid[0] * g->p->grid[1]; }

/* --- memory --- */

/* Writes the line(s) of an offset tile of v's shape, below `limit` for every program unless it may exceed it under a mask:
 * *largest is the largest offset. */
static void offsets(Gen *g, const Var *v, int id, int64_t *largest) {
    int64_t step = draw(g, 2) ? (int64_t)draw(g, 40) : 0, add = draw(g, 3) ? 0 : (int64_t)draw(g, 20);
    int64_t span = step * (programs(g) - 1) + add;
    switch (v->rank) {
    case 0: line(g, "o%d = pid * %lld + %lld", id, (long long)step, (long long)add); break;
    case 1: {
        int64_t n = v->ext[0], stride = n <= 512 && draw(g, 4) == 3 ? 2 + (int64_t)draw(g, 2) : 1;
        static const char *const forms[] = {"o%d = pid * %lld + tl.arange(0, %lld) * %lld + %lld",
                                            "o%d = pid * %lld + (%lld - 1 - tl.arange(0, %lld)) * %lld + %lld"};
        if (draw(g, 5) == 4)
            line(g, forms[1], id, (long long)step, (long long)n, (long long)n, (long long)stride, (long long)add);
        else if (stride == 1 && draw(g, 3) == 2)
            line(g, "o%d = pid * %lld + tl.arange(%lld, %lld)", id, (long long)step, (long long)add, (long long)(add + n));
        else
            line(g, forms[0], id, (long long)step, (long long)n, (long long)stride, (long long)add);
        span += (n - 1) * stride;
        break;
    }
    case 2: {
        int64_t m = v->ext[0], n = v->ext[1], rows = n, columns = 1;
        uint32_t form = draw(g, 4);
        if (form == 1) rows = n + 3;
        if (form == 2) rows = 1, columns = m;
        if (form == 3) rows = 0;
        if (rows * (m - 1) + columns * (n - 1) + span > INPUT - 64) rows = n, columns = 1;
        const char *runtime = draw(g, 3) == 2 ? scalar_argument(g, rows) : NULL;
        line(g, "rm%d = tl.arange(0, %lld)", id, (long long)m);
        line(g, "rn%d = tl.arange(0, %lld)", id, (long long)n);
        if (runtime)
            line(g, "o%d = pid * %lld + rm%d[:, None] * %s + rn%d[None, :] * %lld + %lld", id, (long long)step, id, runtime, id,
                 (long long)columns, (long long)add);
        else
            line(g, "o%d = pid * %lld + rm%d[:, None] * %lld + rn%d[None, :] * %lld + %lld", id, (long long)step, id, (long long)rows, id,
                 (long long)columns, (long long)add);
        span += rows * (m - 1) + columns * (n - 1);
        break;
    }
    default:
        line(g, "o%d = pid * %lld + tl.arange(0, %lld)[:, None, None] * %lld + tl.arange(0, %lld)[None, :, None] * %lld + "
                "tl.arange(0, %lld)[None, None, :]",
             id, (long long)step, (long long)v->ext[0], (long long)(v->ext[1] * v->ext[2]), (long long)v->ext[1], (long long)v->ext[2],
             (long long)v->ext[2]);
        span += elements(v) - 1;
    }
    *largest = span;
}

/* "" or ", mask=..": a mask of the offsets or of the rows and columns, or a truth value of that shape. */
static bool random_mask(Gen *g, const Var *v, int id, int64_t largest, char *text, size_t size) {
    text[0] = 0;
    const char *n = NULL;
    Filter truth = {.kinds = "b", .type = I1, .shape = v, .rank_most = 3};
    Var *c = NULL;
    switch (draw(g, v->rank == 2 ? 6 : 5)) {
    case 0: case 1: return false;
    case 2:
        snprintf(text, size, ", mask=o%d < %lld", id, (long long)draw(g, (uint32_t)largest + 2));
        return true;
    case 3:
        n = scalar_argument(g, (int64_t)draw(g, (uint32_t)largest + 2));
        if (!n) return false;
        snprintf(text, size, ", mask=o%d < %s", id, n);
        return true;
    case 4:
        c = some(g, truth);
        if (!c) return false;
        snprintf(text, size, ", mask=%s", c->name);
        return true;
    default:
        n = scalar_argument(g, (int64_t)draw(g, (uint32_t)v->ext[1] + 1));
        if (!n) return false;
        snprintf(text, size, ", mask=(rm%d[:, None] < %lld) & (rn%d[None, :] < %s)", id, (long long)draw(g, (uint32_t)v->ext[0] + 1), id, n);
        return true;
    }
}

static Var *make_full(Gen *g, int type, int rank, const int64_t *ext) {
    char shape[80], number[16];
    Var *v = new_var(g, type, rank, ext, 3, 0, false);
    if (!v) return NULL;
    shape_text(v, shape, sizeof shape);
    literal(g, type, number, sizeof number);
    v->whole = is_real(type) && literal_whole(number);
    if (draw(g, 2) && is_int(type) && rank == 1)
        line(g, "%s = tl.arange(0, %lld).to(tl.%s)", v->name, (long long)ext[0], dtypes[type].name);
    else if (type == I1)
        line(g, "%s = tl.full(%s, %s, tl.int32) > 0", v->name, shape, draw(g, 2) ? "1" : "0");
    else
        line(g, "%s = tl.full(%s, %s, tl.%s)", v->name, shape, number, dtypes[type].name);
    return v;
}

static Var *make_block_load(Gen *g, Array *a, int type, int rank, const int64_t *ext);

static Var *make_load(Gen *g, int type, int rank, const int64_t *ext) {
    if (g->calls || type == I1) return make_full(g, type, rank, ext);
    Array *a = input(g, type);
    if (!a) return make_full(g, type, rank, ext);
    if (rank > 0 && draw(g, 8) == 7 && known[BLOCK_POINTERS]) return make_block_load(g, a, type, rank, ext);
    char mask[120], other[60] = "", number[16];
    int64_t largest;
    double bound = bound_of(a);
    bool whole = a->flavour == WHOLE;
    int id = g->next++;
    Var shape = {.rank = rank};
    for (int d = 0; d < rank; d++) shape.ext[d] = ext[d];
    Filter index = {.kinds = "iu", .type = -1, .shape = &shape, .rank_most = 3};
    Var *at = draw(g, 6) == 5 ? some(g, index) : NULL;
    if (at) {
        line(g, "o%d = %s.to(tl.int32) & 127", id, at->name);
        largest = 127;
        if (rank == 2) line(g, "rm%d = tl.arange(0, %lld)\n%*srn%d = tl.arange(0, %lld)", id, (long long)ext[0], 4 * g->indent, "", id, (long long)ext[1]);
    } else {
        offsets(g, &shape, id, &largest);
    }
    if (random_mask(g, &shape, id, largest, mask, sizeof mask) && draw(g, 3)) {
        if (dtypes[type].kind != '8') snprintf(other, sizeof other, ", other=%s", literal(g, type, number, sizeof number));
        if (*other && !literal_whole(number)) whole = false;
        bound = bound < 3 ? 3 : bound;
    }
    Var *v = new_var(g, type, rank, ext, bound, 0, whole);
    if (v) line(g, "%s = tl.load(%s + o%d%s%s)", v->name, a->name, id, mask, other);
    return v;
}

/* A box of a larger array through a block pointer, partly outside of it. */
static Var *make_block_load(Gen *g, Array *a, int type, int rank, const int64_t *ext) {
    char shape[80] = "", strides[80] = "", at[80] = "", block[80] = "", order[40] = "", check[40] = "";
    int64_t have[3], stride = 1, steps[3];
    for (int d = rank - 1; d >= 0; d--) {
        have[d] = 1 + (int64_t)draw(g, (uint32_t)(ext[d] + 3));
        steps[d] = stride;
        stride *= have[d];
    }
    if (stride > INPUT) return make_full(g, type, rank, ext);
    for (int d = 0; d < rank; d++) {
#define TO(text) text + strlen(text), sizeof text - strlen(text)
        snprintf(TO(shape), "%lld,", (long long)have[d]);
        snprintf(TO(strides), "%lld,", (long long)steps[d]);
        snprintf(TO(at), "%d,", (int)draw(g, 4) - 1);
        snprintf(TO(block), "%lld,", (long long)ext[d]);
        snprintf(TO(order), "%d,", rank - 1 - d);
        snprintf(TO(check), "%d,", d);
#undef TO
    }
    bool whole = a->flavour == WHOLE;
    Var *v = new_var(g, type, rank, ext, bound_of(a), 0, whole);
    if (v)
        line(g, "%s = tl.load(tl.make_block_ptr(%s, shape=(%s), strides=(%s), offsets=(%s), block_shape=(%s), order=(%s)), boundary_check=(%s)%s)",
             v->name, a->name, shape, strides, at, block, order, check, draw(g, 2) ? ", padding_option=\"zero\"" : "");
    return v;
}

/* A value of that type and shape: an old one, or a new one. */
static Var *value(Gen *g, int type, int rank, const int64_t *ext, bool bounded) {
    Var shape = {.rank = rank};
    for (int d = 0; d < rank; d++) shape.ext[d] = ext[d];
    Filter f = {.kinds = "iuf8b", .type = type, .shape = &shape, .rank_most = 3, .bounded = bounded};
    Var *v = draw(g, 3) < 2 ? some(g, f) : NULL;
    if (v) return v;
    v = make_load(g, type, rank, ext);
    if (v && bounded && is_real(type) && isinf(v->bound)) v = make_full(g, type, rank, ext);
    return v;
}

static void store_linear(Gen *g, const Var *v, const char *array, const char *mask) {
    long long n = (long long)elements(v), e0 = v->rank ? v->ext[0] : 1, e1 = v->rank > 1 ? v->ext[1] : 1, e2 = v->rank > 2 ? v->ext[2] : 1;
    switch (v->rank) {
    case 0: line(g, "tl.store(%s + pid, %s)", array, v->name); break;
    case 1: line(g, "tl.store(%s + pid * %lld + tl.arange(0, %lld), %s%s)", array, n, e0, v->name, mask); break;
    case 2:
        line(g, "tl.store(%s + pid * %lld + tl.arange(0, %lld)[:, None] * %lld + tl.arange(0, %lld)[None, :], %s%s)", array, n, e0, e1, e1,
             v->name, mask);
        break;
    default:
        line(g, "tl.store(%s + pid * %lld + tl.arange(0, %lld)[:, None, None] * %lld + tl.arange(0, %lld)[None, :, None] * %lld + "
                "tl.arange(0, %lld)[None, None, :], %s%s)",
             array, n, e0, e1 * e2, e1, e2, e2, v->name, mask);
    }
}

/* Own array, own place a program; 16 elements behind the end must stay. */
static void store(Gen *g, const Var *v) {
    if (g->calls) return;
    int type = v->type == I1 ? I32 : v->type;
    Array *a = new_array(g, 'y', type, programs(g) * elements(v) + 16, PLAIN);
    if (!a) return;
    a->error = 2 * v->error;
    char mask[60] = "";
    if (v->rank == 1 && draw(g, 4) == 3) {
        const char *n = scalar_argument(g, (int64_t)draw(g, (uint32_t)v->ext[0] + 1));
        if (n) snprintf(mask, sizeof mask, ", mask=tl.arange(0, %lld) < %s", (long long)v->ext[0], n);
    }
    store_linear(g, v, a->name, mask);
}

static void store_and_load(Gen *g) {
    Var *v = some(g, (Filter){.type = -1, .rank_least = 1, .rank_most = 2});
    if (!v || g->calls) return;
    Array *a = new_array(g, 's', v->type, programs(g) * elements(v) + 16, PLAIN);
    Var *w = a ? like(g, v, v->bound, v->error, v->whole) : NULL;
    if (!w) return;
    a->error = 2 * v->error;
    store_linear(g, v, a->name, "");
    if (draw(g, 2)) line(g, "tl.debug_barrier()");
    long long n = (long long)elements(v);
    if (v->rank == 1)
        line(g, "%s = tl.load(%s + pid * %lld + (%lld - tl.arange(0, %lld)))", w->name, a->name, n, n - 1, n);
    else
        line(g, "%s = tl.load(%s + pid * %lld + tl.arange(0, %lld)[:, None] + tl.arange(0, %lld)[None, :] * %lld)", w->name, a->name, n,
             (long long)v->ext[0], (long long)v->ext[1], (long long)v->ext[0]);
}

static void atomic(Gen *g) {
    static const int types[] = {I32, U32, I64, U64, F32};
    static const char *const names[] = {"add", "max", "min", "and", "or", "xor"};
    static const char *const sems[] = {"", ", sem=\"relaxed\"", ", sem=\"acq_rel\", scope=\"gpu\""};
    int type = types[draw(g, 5)];
    Var *v = some(g, (Filter){.type = type, .rank_most = 2, .exact = true, .bounded = true});
    if (!v || g->calls) return;
    if (type == F32 && (!v->whole || v->bound * (double)(elements(v) * programs(g)) * g->trips > 0x1p22)) return;
    Array *a = new_array(g, 'a', type, 64, WHOLE);
    if (!a) return;
    uint32_t op = draw(g, type == F32 ? 1 : 6);
    Filter index = {.kinds = "iu", .type = -1, .shape = v, .rank_most = 3};
    Var *at = some(g, index);
    char where[80] = "pid & 31";
    if (at) snprintf(where, sizeof where, "(%s.to(tl.int32) & 31)", at->name);
    else if (v->rank == 1) snprintf(where, sizeof where, "(tl.arange(0, %lld) & 31)", (long long)v->ext[0]);
    else if (v->rank == 2) return;
    line(g, "tl.atomic_%s(%s + %s, %s%s)", names[op], a->name, where, v->name, sems[draw(g, 3)]);
}

/* --- element by element --- */

/* How an operand of type `type` is written beside v: a variable of its shape or one that broadcasts, or a literal. */
typedef struct Operand {
    char text[60];
    double bound, error;
    bool whole;
    Var shape; /* of the result */
} Operand;

static bool operand(Gen *g, const Var *v, bool literals, Operand *o) {
    *o = (Operand){.shape = *v};
    uint32_t form = draw(g, 8);
    const Var *w = NULL;
    if (form == 7 && v->rank == 2) { /* a row or a column */
        bool row = draw(g, 2);
        Var want = {.rank = 1, .ext = {row ? v->ext[1] : v->ext[0]}};
        w = some(g, (Filter){.type = v->type, .shape = &want, .rank_most = 1});
        if (w) snprintf(o->text, sizeof o->text, row ? "%s[None, :]" : "%s[:, None]", w->name);
    } else if (form == 6) {
        w = some(g, (Filter){.type = v->type, .rank_most = 0});
        if (w) snprintf(o->text, sizeof o->text, "%s", w->name);
    }
    if (!w && form == 5 && literals) {
        literal(g, v->type, o->text, sizeof o->text);
        o->bound = 3;
        o->whole = literal_whole(o->text);
        return true;
    }
    if (!w) {
        w = value(g, v->type, v->rank, v->ext, false);
        if (!w) return false;
        snprintf(o->text, sizeof o->text, "%s", w->name);
    }
    o->bound = w->bound, o->error = w->error, o->whole = w->whole;
    return true;
}

static Var copy_of(const Var *v) { return *v; } /* vars may not move, but new ones are made while an old one is used */

static void binary(Gen *g) {
    Var *found = some(g, any);
    Operand o;
    if (!found) return;
    Var v = copy_of(found);
    if (!operand(g, &v, true, &o)) return;
    const char *t = dtypes[v.type].name;
    if (is_int(v.type)) {
        static const char *const forms[] = {"%s = (%s + %s)", "%s = (%s - %s)", "%s = (%s * %s)", "%s = tl.minimum(%s, %s)",
                                            "%s = tl.maximum(%s, %s)", "%s = (%s & %s)", "%s = (%s | %s)", "%s = (%s ^ %s)",
                                            "%s = (%s // %s)", "%s = (%s %% %s)", "%s = (%s << %s)", "%s = (%s >> %s)"};
        char text[160], shift[80];
        uint32_t op = draw(g, 12);
        if (op >= 10) { /* amounts within the width: beyond it Triton says nothing */
            if (isalpha((unsigned char)o.text[0])) snprintf(shift, sizeof shift, "(%s & %d)", o.text, dtypes[v.type].bits - 1);
            else snprintf(shift, sizeof shift, "%d", (int)draw(g, (uint32_t)dtypes[v.type].bits));
            memcpy(o.text, shift, sizeof o.text - 1);
        }
        if ((op == 8 || op == 9) && strcmp(o.text, "0") == 0) return;
        Var *r = like(g, &v, 0, 0, false);
        if (!r) return;
        snprintf(text, sizeof text, forms[op], r->name, v.name, o.text);
        line(g, "%s.to(tl.%s)", text, t);
        return;
    }
    double bound, error, unit = dtypes[v.type].unit;
    bool whole = v.whole && o.whole, loose = v.error > 0 || o.error > 0;
    Var *r;
    switch (draw(g, 6)) {
    case 0: case 1:
        bound = v.bound + o.bound, error = v.error + o.error + (loose ? bound * unit : 0);
        r = like(g, &v, bound, error, whole);
        if (r) line(g, "%s = (%s %c %s).to(tl.%s)", r->name, v.name, draw(g, 2) ? '-' : '+', o.text, t);
        break;
    case 2:
        bound = v.bound * o.bound;
        error = loose ? v.error * o.bound + o.error * v.bound + v.error * o.error + bound * unit : 0;
        r = like(g, &v, bound, error, whole);
        if (r) line(g, "%s = (%s * %s).to(tl.%s)", r->name, v.name, o.text, t);
        break;
    case 3:
        r = like(g, &v, fmax(v.bound, o.bound), fmax(v.error, o.error), whole);
        if (r) line(g, "%s = tl.%s(%s, %s).to(tl.%s)", r->name, draw(g, 2) ? "maximum" : "minimum", v.name, o.text, t);
        break;
    case 4: /* the divisor at least 1, so that errors do not grow */
        if (isinf(v.bound) || isinf(o.bound) || v.type == F16 || v.type == BF16) break;
        r = like(g, &v, v.bound, v.error + v.bound * o.error + 4 * v.bound * unit, false);
        if (r) line(g, "%s = (%s / (tl.abs(%s) + 1.0)).to(tl.%s)", r->name, v.name, isalpha((unsigned char)o.text[0]) ? o.text : v.name, t);
        break;
    default: {
        Var *z = value(g, v.type, v.rank, v.ext, false);
        if (!z || v.type == F16 || v.type == BF16 || loose || z->error > 0 || !isalpha((unsigned char)o.text[0])) break;
        Var zz = copy_of(z);
        r = like(g, &v, v.bound * o.bound + zz.bound, 0, whole && zz.whole);
        if (r) line(g, "%s = tl.fma(%s, %s, %s)", r->name, v.name, o.text, zz.name);
    }
    }
}

static void unary(Gen *g) {
    Var *found = some(g, any);
    if (!found) return;
    Var v = copy_of(found);
    uint32_t op = draw(g, 12);
    if (is_int(v.type)) {
        static const char *const forms[] = {"%s = -%s", "%s = ~%s", "%s = tl.abs(%s)"};
        Var *r = like(g, &v, 0, 0, false);
        if (!r) return;
        char text[80];
        op %= 3;
        if (op == 2 && dtypes[v.type].kind == 'u') op = 1;
        snprintf(text, sizeof text, forms[op], r->name, v.name);
        line(g, "%s", text);
        return;
    }
    double unit = dtypes[v.type].unit, b = v.bound, e = v.error;
    bool wide = v.type == F32 || v.type == F64;
    static const char *const names[] = {"-%s", "tl.abs(%s)", "tl.floor(%s)", "tl.ceil(%s)", "tl.exp(%s)", "tl.exp2(%s)", "tl.sqrt(tl.abs(%s) + 1.0)",
                                        "tl.sin(%s)", "tl.cos(%s)", "tl.sigmoid(%s)", "tl.log(tl.abs(%s) + 1.0)", "tl.math.rsqrt(tl.abs(%s) + 1.0)"};
    double bounds[] = {b, b, b + 1, b + 1, exp(b), exp2(b), sqrt(b) + 1, 1, 1, 1, b, 1};
    if (op >= 2 && !wide) op = 0;
    if (op >= 2 && op <= 3 && e > 0) op = 1;
    if (op >= 4 && !(b < (op <= 5 ? 8 : 1000))) op = 0;
    double bound = bounds[op], error = op < 4 ? e : (op <= 5 ? bound * e : e) + bound * unit * 8 + b * unit * (op >= 7 ? 8 : 0) * (op <= 5 ? bound : 1);
    Var *r = like(g, &v, bound, error, v.whole && op < 2);
    if (!r) return;
    char text[100];
    snprintf(text, sizeof text, names[op], v.name);
    line(g, "%s = %s", r->name, text);
}

static Var *comparison(Gen *g, const Var *shape) {
    static const char *const tests[] = {"<", ">", "==", "!=", "<=", ">="};
    Operand o;
    Var *found = some(g, (Filter){.type = -1, .shape = shape, .rank_most = 3, .exact = true});
    if (!found) return NULL;
    Var v = copy_of(found);
    if (!operand(g, &v, false, &o) || o.error > 0) return NULL;
    Var *r = new_var(g, I1, v.rank, v.ext, 0, 0, false);
    if (!r) return NULL;
    uint32_t form = draw(g, 8);
    Var *c = form == 7 ? some(g, (Filter){.kinds = "b", .type = I1, .shape = r, .rank_most = 3}) : NULL;
    if (c && c != r) line(g, "%s = (%s %s %s) %c %s", r->name, v.name, tests[draw(g, 6)], o.text, "&|^"[draw(g, 3)], c->name);
    else line(g, "%s = %s %s %s", r->name, v.name, tests[draw(g, 6)], o.text);
    return r;
}

static void where(Gen *g) {
    Var *found = some(g, any);
    Operand o;
    if (!found) return;
    Var v = copy_of(found);
    Filter truth = {.kinds = "b", .type = I1, .shape = &v, .rank_most = 3};
    Var *c = some(g, truth);
    if (!c) c = comparison(g, &v);
    if (!c) return;
    char name[16];
    memcpy(name, c->name, sizeof name);
    if (!operand(g, &v, true, &o)) return;
    Var *r = like(g, &v, fmax(v.bound, o.bound), fmax(v.error, o.error), v.whole && o.whole);
    if (r) line(g, "%s = tl.where(%s, %s, %s)", r->name, name, v.name, o.text);
}

static void cast(Gen *g) {
    Var *found = some(g, (Filter){.kinds = "iuf8b", .type = -1, .rank_most = 3});
    if (!found) return;
    Var v = copy_of(found);
    int to = (int)draw(g, DTYPES);
    if (v.error > 0 && dtypes[to].kind != 'f') to = F32;
    bool bits = is_int(v.type) && to != I1 && dtypes[to].bits == dtypes[v.type].bits && draw(g, 3) == 2;
    if (dtypes[v.type].kind == '8') to = dtypes[to].kind == '8' ? v.type : F32;
    double bound = is_real(v.type) && !bits ? v.bound : INFINITY, unit = dtypes[to].unit;
    if (dtypes[to].kind == '8' && bound > dtypes[to].largest / 2) bound = INFINITY;
    bool was_truth = v.type == I1;
    Var *r = new_var(g, to, v.rank, v.ext, was_truth ? 1 : bound, v.error > 0 ? v.error + v.bound * unit : 0, (v.whole || was_truth) && is_real(to));
    if (!r) return;
    if (bits) line(g, "%s = %s.to(tl.%s, bitcast=True)", r->name, v.name, dtypes[to].name);
    else if (draw(g, 3) == 2) line(g, "%s = tl.cast(%s, tl.%s)", r->name, v.name, dtypes[to].name);
    else line(g, "%s = %s.to(tl.%s)", r->name, v.name, dtypes[to].name);
}

/* --- shapes --- */

static void reshape(Gen *g) {
    Var *found = some(g, (Filter){.kinds = "iuf8b", .type = -1, .rank_least = 1, .rank_most = 3});
    if (!found) return;
    Var v = copy_of(found), s = v;
    char shape[80], text[160];
    uint32_t op = draw(g, 9);
    switch (op) {
    case 0:
        if (v.rank < 2) return;
        s.ext[v.rank - 2] = v.ext[v.rank - 1], s.ext[v.rank - 1] = v.ext[v.rank - 2];
        snprintf(text, sizeof text, v.rank == 2 ? "tl.trans(%s)" : "tl.permute(%s, (0, 2, 1))", v.name);
        break;
    case 1:
        s.rank = 1, s.ext[0] = elements(&v);
        snprintf(text, sizeof text, draw(g, 2) ? "tl.ravel(%s)" : "tl.reshape(%s, (%lld,))", v.name, (long long)s.ext[0]);
        break;
    case 2: { /* another factorisation */
        int64_t n = elements(&v), f = 1 + (int64_t)draw(g, 8);
        while (n % f) f--;
        s.rank = 2, s.ext[0] = draw(g, 2) ? f : n / f, s.ext[1] = n / s.ext[0];
        shape_text(&s, shape, sizeof shape);
        snprintf(text, sizeof text, draw(g, 2) ? "tl.reshape(%s, %s)" : "%s.reshape(%s)", v.name, shape);
        break;
    }
    case 3: {
        if (v.rank == 3) return;
        int axis = (int)draw(g, (uint32_t)v.rank + 1);
        for (int d = v.rank; d > axis; d--) s.ext[d] = s.ext[d - 1];
        s.ext[axis] = 1, s.rank++;
        snprintf(text, sizeof text, "tl.expand_dims(%s, %d)", v.name, axis);
        break;
    }
    case 4:
        for (int d = 0; d < s.rank; d++)
            if (s.ext[d] == 1) s.ext[d] = 1 + (int64_t)draw(g, 5);
        if (elements(&s) > 2048) return;
        shape_text(&s, shape, sizeof shape);
        snprintf(text, sizeof text, "tl.broadcast_to(%s, %s)", v.name, shape);
        break;
    case 5: { /* flip wants a power of two in Triton; any extent here */
        int axis = (int)draw(g, (uint32_t)v.rank);
        if (v.type == I1 || dtypes[v.type].kind == '8') return;
        snprintf(text, sizeof text, "tl.flip(%s, %d)", v.name, axis);
        break;
    }
    case 6: {
        if (v.rank == 3 || elements(&v) > 1024) return;
        Var *w = value(g, v.type, v.rank, v.ext, false);
        if (!w) return;
        s.ext[s.rank++] = 2;
        s.bound = fmax(v.bound, w->bound), s.error = fmax(v.error, w->error), s.whole = v.whole && w->whole;
        snprintf(text, sizeof text, "tl.join(%s, %s)", v.name, w->name);
        break;
    }
    case 7: {
        if (v.rank < 2 || v.ext[v.rank - 1] != 2) return;
        s.rank--;
        Var *a = new_var(g, s.type, s.rank, s.ext, v.bound, v.error, v.whole), *b = new_var(g, s.type, s.rank, s.ext, v.bound, v.error, v.whole);
        if (a && b) line(g, "%s, %s = tl.split(%s)", a->name, b->name, v.name);
        return;
    }
    default: {
        if (v.rank != 1 || elements(&v) > 1024 || v.type == I1) return;
        Var *w = value(g, v.type, v.rank, v.ext, false);
        if (!w) return;
        s.ext[0] *= 2;
        s.bound = fmax(v.bound, w->bound), s.error = fmax(v.error, w->error), s.whole = v.whole && w->whole;
        snprintf(text, sizeof text, "tl.cat(%s, %s, can_reorder=False)", v.name, w->name);
    }
    }
    Var *r = new_var(g, s.type, s.rank, s.ext, s.bound, s.error, s.whole);
    if (r) line(g, "%s = %s", r->name, text);
}

/* --- along an axis --- */

static Var without_axis(const Var *v, int axis, bool keep) {
    Var s = *v;
    if (keep) {
        s.ext[axis] = 1;
        return s;
    }
    s.rank--;
    for (int d = axis; d < s.rank; d++) s.ext[d] = s.ext[d + 1];
    return s;
}

enum { COMBINE_SUM, COMBINE_MAX, COMBINE_PAIR, COMBINE_LINEAR };
static const char *const combine_text[] = {
    "@triton.jit\ndef combine_sum(a, b):\n    return a + b\n\n",
    "@triton.jit\ndef combine_max(a, b):\n    return tl.maximum(a, b).to(a.dtype)\n\n",
    "@triton.jit\ndef combine_pair(a, i, b, j):\n    less = (a < b) | ((a == b) & (i < j))\n    return tl.where(less, a, b), tl.where(less, i, j)\n\n",
    "@triton.jit\ndef combine_linear(a, x, b, y):\n    return a * b, x * b + y\n\n",
};

static void reduce(Gen *g) {
    Var *found = some(g, (Filter){.type = -1, .rank_least = 1, .rank_most = 3});
    if (!found) return;
    Var v = copy_of(found);
    int axis = (int)draw(g, (uint32_t)v.rank);
    bool keep = draw(g, 4) == 3;
    Var s = without_axis(&v, axis, keep);
    double n = (double)v.ext[axis], unit = dtypes[v.type].unit;
    const char *t = dtypes[v.type].name, *kept = keep ? ", keep_dims=True" : "";
    Var *r;
    uint32_t op = draw(g, 9);
    if (op == 7 && !is_int(v.type)) op = 0;
    if (!known[REDUCE] && (op == 6 || op == 8)) op = 0;
    if ((op == 3 || op == 4 || op == 8) && v.error > 0) op = 1;
    switch (op) {
    case 0: case 5: case 6: {
        bool exact = !is_real(v.type) || (v.whole && n * v.bound * unit <= 0.25);
        double error = exact ? 0 : n * v.error + n * n * v.bound * unit * 2;
        if (is_real(v.type) && isinf(v.bound)) return;
        r = new_var(g, v.type, s.rank, s.ext, n * v.bound, error, exact);
        if (!r) return;
        if (op == 6) {
            g->combines |= 1u << COMBINE_SUM;
            line(g, "%s = tl.reduce(%s, %d, combine_sum%s).to(tl.%s)", r->name, v.name, axis, kept, t);
        } else
            line(g, "%s = tl.sum(%s, axis=%d%s).to(tl.%s)", r->name, v.name, axis, kept, t);
        break;
    }
    case 1: case 2:
        r = new_var(g, v.type, s.rank, s.ext, v.bound, v.error, v.whole);
        if (!r) return;
        if (known[REDUCE] && op == 2 && draw(g, 3) == 2 && !(is_real(v.type) && isinf(v.bound))) {
            g->combines |= 1u << COMBINE_MAX;
            line(g, "%s = tl.reduce(%s, %d, combine_max%s).to(tl.%s)", r->name, v.name, axis, kept, t);
        } else
            line(g, "%s = tl.%s(%s, axis=%d%s).to(tl.%s)", r->name, op == 1 ? "max" : "min", v.name, axis, kept, t);
        break;
    case 3: case 4:
        r = new_var(g, I32, s.rank, s.ext, 0, 0, false);
        if (r) line(g, "%s = tl.%s(%s, axis=%d%s)", r->name, op == 3 ? "argmax" : "argmin", v.name, axis, kept);
        break;
    case 7:
        r = new_var(g, v.type, s.rank, s.ext, 0, 0, false);
        if (r) line(g, "%s = tl.xor_sum(%s, axis=%d%s).to(tl.%s)", r->name, v.name, axis, kept, t);
        break;
    default: {
        if (is_real(v.type) && isinf(v.bound)) return;
        Var *i = value(g, I32, v.rank, v.ext, false);
        if (!i || keep) return;
        char index[16];
        memcpy(index, i->name, sizeof index);
        r = new_var(g, v.type, s.rank, s.ext, v.bound, 0, v.whole);
        Var *j = new_var(g, I32, s.rank, s.ext, 0, 0, false);
        g->combines |= 1u << COMBINE_PAIR;
        if (r && j) line(g, "%s, %s = tl.reduce((%s, %s), %d, combine_pair)", r->name, j->name, v.name, index, axis);
    }
    }
}

static void scan(Gen *g) {
    Var *found = some(g, (Filter){.type = -1, .rank_least = 1, .rank_most = 3, .bounded = true});
    if (!found) return;
    Var v = copy_of(found);
    int axis = (int)draw(g, (uint32_t)v.rank);
    double n = (double)v.ext[axis], unit = dtypes[v.type].unit;
    const char *t = dtypes[v.type].name, *back = draw(g, 3) == 2 ? ", reverse=True" : "";
    uint32_t op = draw(g, 5);
    if (is_real(v.type) && op > 0) op = op == 4 ? 4 : 0;
    if (!known[SCAN] && op >= 3) op = 0;
    bool exact = !is_real(v.type) || (v.whole && n * v.bound * unit <= 0.25);
    if (op == 4) { /* running maximum */
        Var *r = like(g, &v, v.bound, v.error, v.whole);
        g->combines |= 1u << COMBINE_MAX;
        if (r) line(g, "%s = tl.associative_scan(%s, %d, combine_max%s).to(tl.%s)", r->name, v.name, axis, back, t);
    } else if (op == 3) {
        Var *w = value(g, v.type, v.rank, v.ext, false);
        if (!w) return;
        char name[16];
        memcpy(name, w->name, sizeof name);
        Var *r = like(g, &v, 0, 0, false), *s = like(g, &v, 0, 0, false);
        g->combines |= 1u << COMBINE_LINEAR;
        if (r && s) line(g, "%s, %s = tl.associative_scan((%s, %s), %d, combine_linear%s)", r->name, s->name, v.name, name, axis, back);
    } else {
        Var *r = like(g, &v, n * v.bound, exact ? 0 : n * v.error + n * n * v.bound * unit * 2, exact);
        if (r) line(g, "%s = tl.%s(%s, axis=%d%s).to(tl.%s)", r->name, op == 1 ? "cumprod" : "cumsum", v.name, axis, back, t);
    }
}

/* sort, top k, histogram, gather */
static void arrange(Gen *g) {
    Var *found = some(g, (Filter){.type = -1, .rank_least = 1, .rank_most = 2, .exact = true});
    if (!found) return;
    Var v = copy_of(found);
    int last = v.rank - 1;
    Var s = v, *r;
    uint32_t op = draw(g, 4);
    static const int needed[] = {SORT, TOPK, HISTOGRAM, GATHER};
    if (!known[needed[op]]) return;
    switch (op) {
    case 0:
        r = like(g, &v, v.bound, 0, v.whole);
        if (r) line(g, "%s = tl.sort(%s%s)", r->name, v.name, draw(g, 2) ? ", descending=True" : "");
        break;
    case 1:
        s.ext[last] = 1;
        while (s.ext[last] * 2 <= v.ext[last] && draw(g, 2)) s.ext[last] *= 2;
        r = new_var(g, s.type, s.rank, s.ext, v.bound, 0, v.whole);
        if (r) line(g, "%s = tl.topk(%s, %lld)", r->name, v.name, (long long)s.ext[last]);
        break;
    case 2:
        if (v.type != I32 || v.rank != 1) return;
        s.ext[0] = 1 + (int64_t)draw(g, 40);
        r = new_var(g, I32, 1, s.ext, 0, 0, false);
        if (r) line(g, "%s = tl.histogram(%s & 31, %lld)", r->name, v.name, (long long)s.ext[0]);
        break;
    default: {
        int axis = (int)draw(g, (uint32_t)v.rank);
        s.ext[axis] = 1 + (int64_t)draw(g, 9);
        Var *i = value(g, I32, s.rank, s.ext, false);
        if (!i) return;
        char name[16];
        memcpy(name, i->name, sizeof name);
        r = new_var(g, v.type, s.rank, s.ext, v.bound, 0, v.whole);
        if (r) line(g, "%s = tl.gather(%s, ((%s %% %lld) + %lld) %% %lld, %d)", r->name, v.name, name, (long long)v.ext[axis],
                    (long long)v.ext[axis], (long long)v.ext[axis], axis);
    }
    }
}

/* --- dot --- */

static void dot(Gen *g) {
    static const int types[] = {F16, F32, BF16, I8, F32, F16};
    static const int extents[] = {16, 32, 8, 4, 1, 17, 33, 20, 64, 5};
    int type = types[draw(g, 6)];
    int64_t batch = draw(g, 8) == 7 ? 1 + (int64_t)draw(g, 3) : 0, m = extents[draw(g, 10)], n = extents[draw(g, 10)], k = extents[draw(g, 10)];
    if (m * n > 1500) m = 16;
    int rank = batch ? 3 : 2, at = batch ? 1 : 0;
    int64_t a_ext[3] = {batch}, b_ext[3] = {batch}, c_ext[3] = {batch};
    a_ext[at] = m, a_ext[at + 1] = k, b_ext[at] = k, b_ext[at + 1] = n, c_ext[at] = m, c_ext[at + 1] = n;
    Var *found = value(g, type, rank, a_ext, true);
    if (!found) return;
    Var a = copy_of(found);
    found = value(g, type, rank, b_ext, true);
    if (!found) return;
    Var b = copy_of(found), z = {.whole = true};
    int out = type == I8 ? I32 : F32;
    if (draw(g, 2)) {
        found = value(g, out, rank, c_ext, true);
        if (found) z = copy_of(found);
    }
    double terms = (double)k, bound = terms * a.bound * b.bound + z.bound, unit = 0x1p-24;
    bool whole = a.whole && b.whole && z.whole, exact = type == I8 || (whole && bound * unit <= 0.25);
    double error = exact ? 0 : terms * (a.error * b.bound + b.error * a.bound + a.error * b.error) + z.error + (terms + 2) * bound * unit * 2;
    Var *r = new_var(g, out, rank, c_ext, bound, error, exact && type != I8);
    if (!r) return;
    const char *how = type != F32 ? "" : a.bound * 0x1p-10 < 1 && b.bound * 0x1p-10 < 1 && exact && draw(g, 2) ? "" : ", input_precision=\"ieee\"";
    const char *kind = type == I8 ? ", out_dtype=tl.int32" : "";
    if (z.name[0]) line(g, "%s = tl.dot(%s, %s, %s%s%s)", r->name, a.name, b.name, z.name, how, kind);
    else line(g, "%s = tl.dot(%s, %s%s%s)", r->name, a.name, b.name, how, kind);
}

/* A product as people write it: pointers advanced in a loop over K, with masks. */
static void matmul(Gen *g) {
    if (g->calls || g->depth > 1) return;
    static const int extents[] = {16, 32, 8, 17, 64, 5};
    int type = draw(g, 2) ? F16 : F32, id = g->next++;
    int64_t m = extents[draw(g, 6)], n = extents[draw(g, 6)], bk = extents[draw(g, 4)], k = (int64_t)draw(g, 70);
    if (m * n > 1500) m = 8;
    if (m * k > INPUT || n * k > INPUT) return;
    Array *a = new_array(g, 'm', type, m * k + 1, WHOLE), *b = a ? new_array(g, 'm', type, k * n + 1, WHOLE) : NULL;
    const char *runtime = scalar_argument(g, k);
    if (!b || !runtime) return;
    int64_t ext[2] = {m, n};
    line(g, "rm%d = tl.arange(0, %lld)\n%*srn%d = tl.arange(0, %lld)\n%*srk%d = tl.arange(0, %lld)", id, (long long)m, 4 * g->indent, "", id,
         (long long)n, 4 * g->indent, "", id, (long long)bk);
    line(g, "pa%d = %s + rm%d[:, None] * %s + rk%d[None, :]", id, a->name, id, runtime, id);
    line(g, "pb%d = %s + rk%d[:, None] * %lld + rn%d[None, :]", id, b->name, id, (long long)n, id);
    line(g, "acc%d = tl.zeros((%lld, %lld), tl.float32)", id, (long long)m, (long long)n);
    line(g, "for k%d in range(0, %s(%s, %lld)):", id, draw(g, 2) ? "tl.cdiv" : "triton.cdiv", runtime, (long long)bk);
    g->indent++;
    line(g, "la%d = tl.load(pa%d, mask=rk%d[None, :] < %s - k%d * %lld, other=0.0)", id, id, id, runtime, id, (long long)bk);
    line(g, "lb%d = tl.load(pb%d, mask=rk%d[:, None] < %s - k%d * %lld, other=0.0)", id, id, id, runtime, id, (long long)bk);
    line(g, draw(g, 2) ? "acc%d += tl.dot(la%d, lb%d)" : "acc%d = tl.dot(la%d, lb%d, acc%d)", id, id, id, id);
    line(g, "pa%d += %lld\n%*spb%d += %lld", id, (long long)bk, 4 * g->indent, "", id, (long long)(bk * n));
    g->indent--;
    Var *r = new_var(g, F32, 2, ext, (double)(k * a->whole * b->whole), 0, true);
    if (r) line(g, "%s = acc%d", r->name, id);
}

/* --- control --- */

static void statements(Gen *g, int most);

static void body(Gen *g, int most, double trips) {
    double before = g->trips;
    g->trips *= trips;
    g->depth++, g->indent++;
    statements(g, most);
    g->indent--, g->depth--;
    g->trips = before;
}

typedef struct Carried {
    Var old, update;
    char name[16];
    bool sum;
} Carried;

/* Loops: some carried values are sums, whose final size is known; others become anything exact of that type. */
static void loop(Gen *g) {
    if (g->depth >= 2) return;
    int trips = (int)draw(g, 5), count = 1 + (int)draw(g, 2), mark, id = g->next++;
    bool is_while = draw(g, 4) == 3, is_static = !is_while && draw(g, 5) == 4;
    Carried carried[2];
    for (int i = 0; i < count; i++) {
        Carried *c = &carried[i];
        Filter f = any;
        Var *v = some(g, f);
        if (!v) return;
        c->old = copy_of(v);
        c->sum = draw(g, 2) == 0;
        if (!c->sum && v->error > 0) c->sum = true;
        snprintf(c->name, sizeof c->name, "w%d_%d", id, i);
        line(g, "%s = %s", c->name, c->old.name);
    }
    char high[24];
    const char *runtime = !is_static && draw(g, 2) && !g->calls ? scalar_argument(g, trips) : NULL;
    snprintf(high, sizeof high, "%d", trips);
    if (runtime) snprintf(high, sizeof high, "%s", runtime);
    mark = g->count;
    if (is_while) {
        line(g, "i%d = 0", id);
        line(g, "while i%d < %s:", id, high);
    } else if (is_static)
        line(g, "for i%d in tl.static_range(%s):", id, high);
    else if (draw(g, 3) == 2)
        line(g, "for i%d in tl.range(0, %s, num_stages=%d):", id, high, 1 + (int)draw(g, 3));
    else if (draw(g, 3) == 2)
        line(g, "for i%d in range(3, %s * 2 + 3, 2):", id, high);
    else
        line(g, "for i%d in range(%s):", id, high);
    if (!is_static) {
        Var *v = new_var(g, I32, 0, NULL, 0, 0, false);
        if (v) snprintf(v->name, sizeof v->name, "i%d", id);
    }
    for (int i = 0; i < count; i++) {
        if (carried[i].sum) continue;
        Var *v = like(g, &carried[i].old, INFINITY, 0, false);
        if (v) memcpy(v->name, carried[i].name, sizeof v->name);
    }
    body(g, 4, trips);
    g->indent++;
    for (int i = 0; i < count; i++) {
        Carried *c = &carried[i];
        Var *x = some(g, (Filter){.type = c->old.type, .shape = &c->old, .rank_most = 3, .exact = !c->sum});
        c->update = x ? copy_of(x) : c->old;
        if (c->sum && (c->update.error > 0 || c->old.error > 0)) {
            double bound = c->old.bound + trips * c->update.bound;
            if (isinf(bound) || bound > dtypes[c->old.type].largest / 2) c->update = c->old, c->sum = false; /* stays as it was */
        }
        if (c->sum) line(g, draw(g, 2) ? "%s = (%s + %s).to(tl.%s)" : "%s = (%s + %s).to(tl.%s)", c->name, c->name, c->update.name, dtypes[c->old.type].name);
        else if (strcmp(c->update.name, c->old.name) != 0 || !is_static) line(g, "%s = %s", c->name, c->update.name);
        else line(g, "pass");
    }
    if (is_while) line(g, "i%d += 1", id);
    g->indent--;
    g->count = mark;
    for (int i = 0; i < count; i++) {
        Carried *c = &carried[i];
        double bound = c->old.bound + trips * c->update.bound, error = c->old.error + trips * c->update.error;
        if (error > 0) error += trips * bound * dtypes[c->old.type].unit;
        bool fixed = strcmp(c->update.name, c->old.name) == 0;
        Var *v = c->sum    ? like(g, &c->old, bound, error, c->old.whole && c->update.whole)
                 : fixed ? like(g, &c->old, c->old.bound, c->old.error, c->old.whole)
                         : like(g, &c->old, INFINITY, 0, false);
        if (v) memcpy(v->name, c->name, sizeof v->name);
    }
}

static void condition(Gen *g, char *text, size_t size) {
    Var *s = some(g, (Filter){.kinds = "iu", .type = -1, .rank_most = 0});
    uint32_t form = draw(g, 4);
    const char *n = scalar_argument(g, (int64_t)draw(g, 4));
    if (s && form > 1) snprintf(text, size, "%s %s %d", s->name, form == 2 ? ">" : "==", (int)draw(g, 5));
    else if (form == 1 && n && !g->calls) snprintf(text, size, "%s < %d", n, (int)draw(g, 4));
    else if (!g->calls) snprintf(text, size, "pid > %d", (int)draw(g, 2));
    else text[0] = 0;
}

static void branch(Gen *g) {
    char test[60];
    if (g->depth >= 2) return;
    Var *found = some(g, any);
    condition(g, test, sizeof test);
    if (!found || !test[0]) return;
    Var v = copy_of(found), a = v, b = v;
    int id = g->next++, mark = g->count;
    bool both = draw(g, 2);
    if (!both) line(g, "w%d = %s", id, v.name);
    Filter f = {.type = v.type, .shape = &v, .rank_most = 3};
    line(g, "if %s:", test);
    body(g, 3, 1);
    Var *x = some(g, f);
    if (x) a = copy_of(x);
    line(g, "    w%d = %s", id, a.name);
    g->count = mark;
    if (both) {
        line(g, "else:");
        body(g, 2, 1);
        x = some(g, f);
        if (x) b = copy_of(x);
        line(g, "    w%d = %s", id, b.name);
        g->count = mark;
    }
    Var *r = like(g, &v, fmax(a.bound, b.bound), fmax(a.error, b.error), a.whole && b.whole);
    if (r) snprintf(r->name, sizeof r->name, "w%d", id);
    else line(g, "w%d = 0", id);
}

/* A function of a few values that gives one or two. */
static void helper(Gen *g) {
    if (g->calls >= 2 || g->helpers >= MOST_HELPERS) return;
    Var given[3];
    int count = 1 + (int)draw(g, 3), results = 1 + (int)draw(g, 2), id = g->next++;
    for (int i = 0; i < count; i++) {
        Var *v = some(g, any);
        if (!v) return;
        given[i] = copy_of(v);
    }
    if (g->count + count >= MOST_VARS) return;
    Lines *out = g->out;
    int first = g->first, mark = g->count, indent = g->indent, depth = g->depth;
    g->out = &g->helper[g->calls++];
    g->out->length = 0;
    g->helpers++;
    g->indent = 1, g->depth = 1, g->first = g->count;
    char params[300] = "", args[300] = "";
    for (int i = 0; i < count; i++) {
        Var *v = &g->vars[g->count++];
        *v = given[i];
        snprintf(v->name, sizeof v->name, "p%d", i);
        snprintf(params + strlen(params), sizeof params - strlen(params), "%s%s", i ? ", " : "", v->name);
        snprintf(args + strlen(args), sizeof args - strlen(args), "%s%s", i ? ", " : "", given[i].name);
    }
    statements(g, 4);
    Var made[2];
    for (int i = 0; i < results; i++) made[i] = copy_of(some(g, any) ? &g->vars[g->count - 1] : &g->vars[g->first]);
    for (int i = 0; i < results; i++)
        if (dtypes[made[i].type].kind == '8' || dtypes[made[i].type].kind == 'b') made[i] = g->vars[g->first];
    if (results == 2) line(g, "return %s, %s", made[0].name, made[1].name);
    else line(g, "return %s", made[0].name);
    size_t room = sizeof g->head.text - g->head.length;
    if (room > g->out->length + 200)
        g->head.length += (size_t)snprintf(g->head.text + g->head.length, room, "@triton.jit\ndef f%d(%s):\n%s\n", id, params, g->out->text);
    g->calls--;
    g->out = out, g->first = first, g->count = mark, g->indent = indent, g->depth = depth;
    Var *r[2] = {NULL, NULL};
    for (int i = 0; i < results; i++) r[i] = like(g, &made[i], made[i].bound, made[i].error, made[i].whole);
    if (results == 2 && r[0] && r[1]) line(g, "%s, %s = f%d(%s)", r[0]->name, r[1]->name, id, args);
    else if (r[0]) line(g, "%s = f%d(%s)", r[0]->name, id, args);
}

static void swap(Gen *g) {
    Var *found = some(g, any);
    if (!found) return;
    Var v = copy_of(found);
    Var *w = value(g, v.type, v.rank, v.ext, false);
    if (!w) return;
    Var o = copy_of(w);
    Var *a = like(g, &v, o.bound, o.error, o.whole), *b = like(g, &v, v.bound, v.error, v.whole);
    if (!a || !b) return;
    if (draw(g, 2)) line(g, "%s, %s = %s, %s", a->name, b->name, o.name, v.name);
    else {
        line(g, "%s, %s = (%s, %s)", a->name, b->name, v.name, o.name);
        line(g, "%s, %s = %s, %s", a->name, b->name, b->name, a->name);
    }
}

static void load_statement(Gen *g) {
    int rank;
    int64_t ext[3];
    int type = (int)draw(g, DTYPES - 1);
    random_shape(g, &rank, ext, 1024);
    if (draw(g, 10) == 9) rank = 0;
    make_load(g, type, rank, ext);
}

static void compare_statement(Gen *g) { comparison(g, NULL); }

static void store_statement(Gen *g) {
    Var *v = some(g, (Filter){.kinds = "iuf8b", .type = -1, .rank_most = 3});
    if (v) store(g, v);
}

typedef struct Statement {
    void (*write)(Gen *g);
    int weight;
} Statement;
static const Statement table[] = {
    {binary, 10}, {load_statement, 5}, {unary, 4}, {where, 4}, {cast, 6}, {compare_statement, 2}, {reshape, 5}, {reduce, 5}, {scan, 3}, {dot, 3},
    {loop, 4}, {branch, 3}, {helper, 3}, {atomic, 1}, {store_statement, 1}, {store_and_load, 1}, {swap, 1}, {matmul, 1}, {arrange, 2},
};

static void statements(Gen *g, int most) {
    int total = 0, done = 0;
    size_t before = g->out->length;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) total += table[i].weight;
    for (; done < most && g->statements_left > 0 && draw(g, 8) != 0; done++) {
        int at = (int)draw(g, (uint32_t)total);
        size_t i = 0;
        while (at >= table[i].weight) at -= table[i++].weight;
        g->statements_left--;
        table[i].write(g);
    }
    if (before == g->out->length && g->depth) line(g, "pass");
}

static void generate(Choices *c, Program *p) {
    static Gen room;
    Gen *g = &room;
    memset(g, 0, sizeof *g);
    g->c = c, g->p = p, g->out = &g->body, g->indent = 1, g->statements_left = 40, g->trips = 1;
    p->file = "random.py";
    p->grid[0] = 1 + draw(g, 3), p->grid[1] = 1 + (draw(g, 4) == 3), p->grid[2] = 1;
    if (draw(g, 3) == 2) p->sets[p->set_count++] = (tw_pair){"fuse", "off"};
    line(g, "pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)");
    if (draw(g, 8) == 7) line(g, "if pid > 1:\n        return");
    load_statement(g);
    load_statement(g);
    statements(g, 16);
    int stored = 0;
    for (int i = g->count - 1; i >= 0 && stored < 5; i--)
        if (!g->vars[i].hidden && draw(g, 8)) store(g, &g->vars[i]), stored++; /* 0: one less */
    add_text(p, "import triton\nimport triton.language as tl\n\n");
    for (uint32_t i = 0; i < sizeof combine_text / sizeof *combine_text; i++)
        if (g->combines >> i & 1) add_text(p, "%s", combine_text[i]);
    add_text(p, "%s@triton.jit\ndef kernel(", g->head.text);
    for (int a = 0; a < p->array_count; a++) add_text(p, "%s%s", a ? ", " : "", p->arrays[a].name);
    for (int s = 0; s < p->scalar_count; s++) add_text(p, ", %s", p->scalars[s].name);
    add_text(p, "):\n%s", g->body.text);
}

int main(int argc, char **argv) {
    find_features();
    return differential_main(argc, argv, "random_triton", generate);
}
