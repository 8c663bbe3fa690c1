/* SPDX-License-Identifier: Apache-2.0 */
/* test_tilec_builtins.c: every operation of tilec_builtins.def on every element type, against numbers computed here; and
 * on every combination of operands: a kernel is compiled or refused with a message, never a fault of ours. */
#include "check.h"
#include "ir/element.h"
#include "tilewright.h"

#include <math.h>
#include <stdlib.h>

enum { TILE, ROWS_, COLS_, GROUP, ONE, THREAD, NUMBER, BLOCK, HINT };
#define ROWS ROWS_
#define COLS COLS_
typedef struct Row {
    const char *name;
    int scope;
    const char *operands;
} Row;
static const Row rows[] = {
#define BUILTIN(name, scope, operands, lower, parameter, doc) {name, scope, operands},
#include "front/tilec/tilec_builtins.def"
#undef BUILTIN
#undef ROWS
#undef COLS
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static const struct {
    const char *name;
    Elem elem;
    int dtype;
} types[] = {
    {"char", EL_I8, TW_I8},     {"unsigned char", EL_U8, TW_U8}, {"short", EL_I16, TW_I16},  {"unsigned short", EL_U16, TW_U16},
    {"int", EL_I32, TW_I32},    {"unsigned", EL_U32, TW_U32},    {"long", EL_I64, TW_I64},   {"unsigned long", EL_U64, TW_U64},
    {"float", EL_F32, TW_F32},  {"double", EL_F64, TW_F64},      {"bf16", EL_BF16, TW_BF16}, {"half", EL_F16, TW_F16},
    {"fp8e4m3", EL_F8E4M3, TW_F8E4M3}, {"fp8e5m2", EL_F8E5M2, TW_F8E5M2},
};
enum { TYPES = sizeof types / sizeof *types };
enum { R = 16, C = 32, N = R * C };

static tw_context *cx;
static char text[4000];

/* --- what an operation gives --- */

typedef struct Number { /* of one element, in both forms */
    int64_t i;
    double f;
} Number;

static Number get(Elem elem, const void *data, int i) {
    const char *at = (const char *)data + i * elem_info[elem].bytes;
    if (elem_is_float(elem)) return (Number){.f = elem_get_f64(elem, at)};
    return (Number){.i = elem_get_i64(elem, at)};
}

static void put(Elem elem, void *data, int i, Number x) {
    char *at = (char *)data + i * elem_info[elem].bytes;
    if (elem_is_float(elem)) elem_put_f64(elem, at, x.f);
    else elem_put_i64(elem, at, x.i);
}

/* f16 and smaller: the float operation, rounded. */
static double rounded(Elem elem, double x) { return elem == EL_F64 ? x : elem_round(elem, (float)x); }

static double real_operation(const char *name, double x, double y) {
    if (!strcmp(name, "add")) return x + y;
    if (!strcmp(name, "sub")) return x - y;
    if (!strcmp(name, "mul")) return x * y;
    if (!strcmp(name, "div")) return x / y;
    if (!strcmp(name, "max")) return fmax(x, y);
    if (!strcmp(name, "min")) return fmin(x, y);
    if (!strcmp(name, "exp")) return exp(x);
    if (!strcmp(name, "exp2")) return exp2(x);
    if (!strcmp(name, "log")) return log(x);
    if (!strcmp(name, "log2")) return log2(x);
    if (!strcmp(name, "abs")) return fabs(x);
    if (!strcmp(name, "neg")) return -x;
    if (!strcmp(name, "relu")) return x > 0 ? x : 0;
    if (!strcmp(name, "sqrt")) return sqrt(x);
    if (!strcmp(name, "rsqrt")) return 1 / sqrt(x);
    if (!strcmp(name, "tanh")) return tanh(x);
    if (!strcmp(name, "sin")) return sin(x);
    if (!strcmp(name, "cos")) return cos(x);
    if (!strcmp(name, "erf")) return erf(x);
    if (!strcmp(name, "floor")) return floor(x);
    if (!strcmp(name, "ceil")) return ceil(x);
    if (!strcmp(name, "lt")) return x < y;
    if (!strcmp(name, "le")) return x <= y;
    if (!strcmp(name, "gt")) return x > y;
    if (!strcmp(name, "ge")) return x >= y;
    if (!strcmp(name, "eq")) return x == y;
    if (!strcmp(name, "ne")) return x != y;
    if (!strcmp(name, "fill")) return 3;
    if (!strcmp(name, "zero")) return 0;
    if (!strcmp(name, "one")) return 1;
    if (!strcmp(name, "pos_infty")) return INFINITY;
    if (!strcmp(name, "neg_infty")) return -INFINITY;
    return NAN;
}

/* False: it has no meaning for integers, and is refused. */
static bool whole_operation(const char *name, bool is_unsigned, int64_t x, int64_t y, int64_t *out) {
    uint64_t a = (uint64_t)x, b = (uint64_t)y;
    bool less = is_unsigned ? a < b : x < y;
    if (!strcmp(name, "add")) *out = (int64_t)(a + b);
    else if (!strcmp(name, "sub")) *out = (int64_t)(a - b);
    else if (!strcmp(name, "mul")) *out = (int64_t)(a * b);
    else if (!strcmp(name, "div")) *out = !y ? 0 : is_unsigned ? (int64_t)(a / b) : y == -1 ? (int64_t)(0 - a) : x / y;
    else if (!strcmp(name, "max")) *out = less ? y : x;
    else if (!strcmp(name, "min")) *out = less ? x : y;
    else if (!strcmp(name, "abs")) *out = !is_unsigned && x < 0 ? (int64_t)(0 - a) : x;
    else if (!strcmp(name, "neg")) *out = (int64_t)(0 - a);
    else if (!strcmp(name, "relu")) *out = !is_unsigned && x < 0 ? 0 : x;
    else if (!strcmp(name, "bit_and")) *out = x & y;
    else if (!strcmp(name, "bit_or")) *out = x | y;
    else if (!strcmp(name, "bit_xor")) *out = x ^ y;
    else if (!strcmp(name, "bit_not")) *out = ~x;
    else if (!strcmp(name, "shift_left")) *out = (int64_t)(a << 3);
    else if (!strcmp(name, "shift_right")) *out = is_unsigned ? (int64_t)(a >> 3) : x >> 3;
    else if (!strcmp(name, "lt")) *out = less;
    else if (!strcmp(name, "le")) *out = less || x == y;
    else if (!strcmp(name, "gt")) *out = !less && x != y;
    else if (!strcmp(name, "ge")) *out = !less;
    else if (!strcmp(name, "eq")) *out = x == y;
    else if (!strcmp(name, "ne")) *out = x != y;
    else if (!strcmp(name, "fill")) *out = 3;
    else if (!strcmp(name, "zero")) *out = 0;
    else if (!strcmp(name, "one")) *out = 1;
    else return false;
    return true;
}

/* --- one kernel --- */

/* Compiles and launches; the message is the context's. */
static tw_status launch(const char *target, tw_buffer **buffers, size_t count) {
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    tw_arg args[4];
    for (size_t i = 0; i < count; i++) args[i] = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = buffers[i]};
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target;
    options.args = args;
    options.arg_count = count;
    options.verify_each = 1;
    tw_status status = tw_module_load_text(cx, "k.tile.c", text, strlen(text), NULL, &module);
    if (status == TW_OK) status = tw_kernel_compile(module, NULL, &options, &kernel);
    int64_t grid[3] = {1, 1, 1};
    if (status == TW_OK) status = tw_kernel_launch(kernel, NULL, grid, args, count);
    tw_kernel_destroy(kernel);
    tw_module_destroy(module);
    return status;
}

static uint64_t state = 1;
static uint64_t draw(void) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return state * 2685821657736338717u >> 20;
}

static tw_buffer *make_tile(int type, bool positive) {
    tw_buffer *buffer = NULL;
    int64_t extent[2] = {R, C};
    CHECK(tw_buffer_create(cx, types[type].dtype, 2, extent, NULL, &buffer) == TW_OK);
    Elem elem = types[type].elem;
    for (int i = 0; i < N; i++) {
        double x = ((double)(draw() % 4001) - 2000) / 500;
        if (positive && x <= 0) x = 0.25 - x;
        int64_t whole = i % 7 == 0 ? (int64_t)(draw() * draw()) : (int64_t)(draw() % 20) - 10;
        put(elem, tw_buffer_data(buffer), i, (Number){elem_wrap(elem, whole), rounded(elem, x)});
    }
    return buffer;
}

static bool is_map(const Row *row) {
    int64_t ignored;
    return (row->scope == TILE || row->scope == ROWS_) && row->operands[0] == 'a' && strspn(row->operands, "ax") == strlen(row->operands) && strlen(row->operands) < 4 &&
           (!isnan(real_operation(row->name, 0.5, 0.5)) || whole_operation(row->name, false, 1, 1, &ignored));
}

static void check_map(const Row *row, int t, const char *target) {
    Elem elem = types[t].elem;
    bool real = elem_is_float(elem), is_unsigned = !real && !elem_is_signed(elem);
    int count = (int)strlen(row->operands);
    bool by_number = row->operands[count - 1] == 'x';
    snprintf(text, sizeof text,
             "#include \"tile.h\"\ntypedef struct { gl(%1$s, 1, 1, -1, -1) a, b, o; } G;\n"
             "tile_kernel(32, 1) void f(G g) {\n    rt(%1$s, 16, 32) x, y, z;\n"
             "    load(&x, g.a, at(0, 0));\n    load(&y, g.b, at(0, 0));\n    %2$s(&z%3$s%4$s);\n"
             "    store(g.o, &z, at(0, 0));\n}\n",
             types[t].name, row->name, count > 1 ? (row->operands[1] == 'x' ? ", 3" : ", &x") : "", count < 3 ? "" : by_number ? ", 3" : ", &y");
    tw_buffer *buffers[3] = {make_tile(t, real), make_tile(t, false), make_tile(t, false)};
    tw_status status = launch(target, buffers, 3);
    double infinite = real_operation(row->name, 1, 1);
    int64_t whole;
    bool meaning = real ? !isnan(infinite) && (!isinf(infinite) || isinf(elem_round(elem, infinite))) : whole_operation(row->name, is_unsigned, 1, 1, &whole);
    bool good = meaning ? status == TW_OK : status == TW_ERROR_SOURCE && strstr(tw_context_message(cx), "has no meaning for elements of");
    if (!good) fprintf(stderr, "%s on %s, %s: %s\n%s\n", row->name, types[t].name, target, tw_status_name(status), tw_context_message(cx));
    CHECK(good);
    for (int i = 0; i < N && good && meaning; i++) {
        Number x = get(elem, tw_buffer_data(buffers[0]), i), y = get(elem, tw_buffer_data(buffers[1]), i);
        Number z = get(elem, tw_buffer_data(buffers[2]), i), want = {0, 0};
        if (by_number) y = (Number){3, 3};
        want.f = rounded(elem, real_operation(row->name, x.f, y.f));
        if (!real) whole_operation(row->name, is_unsigned, x.i, y.i, &want.i);
        /* libm's functions and rsqrt: a unit or two in the last place */
        double unit = elem == EL_F64 ? 1e-14 : elem == EL_F32 ? 5e-7 : elem == EL_F16 ? 2e-3 : elem == EL_BF16 ? 1.6e-2 : 0.26;
        bool same = real ? z.f == want.f || (isnan(z.f) && isnan(want.f)) || fabs(z.f - want.f) <= unit * fmax(1e-3, fabs(want.f))
                         : z.i == elem_wrap(elem, want.i);
        if (same) continue;
        fprintf(stderr, "%s on %s, %s: element %d: x %g %lld, y %g %lld: %g %lld, not %g %lld\n", row->name, types[t].name, target, i,
                x.f, (long long)x.i, y.f, (long long)y.i, z.f, (long long)z.i, want.f, (long long)elem_wrap(elem, want.i));
        CHECK(!"a tile operation is wrong");
        break;
    }
    for (int i = 0; i < 3; i++) tw_buffer_destroy(buffers[i]);
}

/* --- combinations of operands --- */

/* Every operation with these operands in a kernel of one warp or of four: it compiles, or says why not. */
static void check_operands(const Row *row, const char *prefix, const char *operands, int t) {
    static const struct {
        char letter;
        const char *text;
    } words[] = {{'g', "g.a"}, {'s', "s"}, {'r', "&r"}, {'x', "3"}, {'f', "1.5f"}, {'c', "at(0, 0)"}, {'l', "laneid()"}, {'b', "g"}, {'n', "g.n"},
                 {'u', "&u"}, {'v', "&v"}, {'p', "&p"}, {'C', "&z"}, {'S', "&y"}};
    char list[200] = "";
    for (const char *o = operands; *o; o++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (words[i].letter == *o) snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "", words[i].text);
    snprintf(text, sizeof text,
             "#include \"tile.h\"\ntypedef struct { gl(%1$s, 1, 1, -1, -1) a; int n; } G;\n"
             "tile_kernel(%2$d, 1) void f(G g) {\n    st(%1$s, 64, 64) *s = shared_alloc(st(%1$s, 64, 64));\n    rt(%1$s, %3$d, 64) r;\n    sv(%1$s, 64) u; rv(%1$s, %3$d) v; int p = 0;\n    crt(%1$s, %3$d, 64) z; cst(%1$s, 64, 64) y;\n    %4$szero(&u); %4$szero(&v); %4$szero(&z); %4$szero(&y);\n"
             "    %4$szero(s);\n    %4$szero(&r);\n    %5$s%6$s(%7$s);\n    %4$sstore(g.a, &r, at(0, 0));\n}\n",
             types[t].name, *prefix ? 128 : 32, *prefix ? 16 : 64, prefix, strcmp(prefix, "warpgroup_") ? "" : prefix, row->name, list);
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    int64_t extent[2] = {64, 64}, grid[3] = {1, 1, 1};
    tw_buffer *buffer = NULL;
    tw_buffer_create(cx, types[t].dtype, 2, extent, NULL, &buffer);
    tw_arg args[2] = {{.kind = TW_ARG_BUFFER, .value.buffer = buffer}, {.kind = TW_ARG_INT, .value.i = 2}};
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = "interp";
    options.args = args;
    options.arg_count = 2;
    options.verify_each = 1;
    tw_status status = tw_module_load_text(cx, "k.tile.c", text, strlen(text), NULL, &module);
    if (status == TW_OK) status = tw_kernel_compile(module, NULL, &options, &kernel);
    if (status == TW_OK) status = tw_kernel_launch(kernel, NULL, grid, args, 2);
    tw_kernel_destroy(kernel);
    if (status == TW_OK) { /* the passes can take it as well */
        options.target = "cpu";
        options.stage = TW_STAGE_EMIT;
        kernel = NULL;
        status = tw_kernel_compile(module, NULL, &options, &kernel);
        tw_kernel_destroy(kernel);
    }
    bool good = status == TW_OK || status == TW_ERROR_SOURCE || status == TW_ERROR_UNSUPPORTED;
    if (!good) fprintf(stderr, "%s\n%s\n%s\n", tw_status_name(status), tw_context_message(cx), text);
    CHECK(good);
    tw_module_destroy(module);
    tw_buffer_destroy(buffer);
}

static void check_combinations(const Row *row, int t) {
    static const char letters[] = "gsrxfclbnuvpCS";
    enum { LETTERS = sizeof letters - 1 };
    char operands[5];
    for (int group = 0; group < 2; group++)
        for (int length = 0; length <= 4; length++) {
            int all = 1;
            for (int i = 0; i < length; i++) all *= LETTERS;
            int step = all > 800 ? all / 30 + 1 : all > 100 ? 15 : 1; /* of the longer ones a sample */
            for (int n = all > 100 ? (int)(draw() % (uint64_t)step) : 0; n < all; n += step) {
                int rest = n;
                for (int i = 0; i < length; i++, rest /= LETTERS) operands[i] = letters[rest % LETTERS];
                operands[length] = 0;
                if (check_chosen()) check_operands(row, group ? "warpgroup_" : "", operands, t);
            }
        }
}

int main(void) {
    const char *cases = getenv("TILEWRIGHT_CASES"); /* many: every type in every combination; few: one type each */
    int every = !cases ? 5 : atoi(cases) > 1000 ? 1 : TYPES;
    if (tw_context_create(NULL, &cx) != TW_OK) return 2;
    for (int r = 0; r < ROW_COUNT; r++) {
        for (int t = 0; t < TYPES && is_map(&rows[r]); t++) check_map(&rows[r], t, "interp");
        for (int t = r % every; t < TYPES; t += every) check_combinations(&rows[r], t);
    }
    for (int r = 0; r < ROW_COUNT; r++) /* the compiler of the cpu target takes its time: a type each */
        if (is_map(&rows[r])) check_map(&rows[r], r % TYPES, "cpu");
    tw_context_destroy(cx);
    return check_done();
}
