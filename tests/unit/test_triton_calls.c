/* SPDX-License-Identifier: Apache-2.0 */
/* test_triton_calls.c: every function of the Triton door, called with what it was not made for.
 *
 * The rows of triton_builtins.def are called by every name they have (tl.f, tl.math.f, x.f, ..), with operands of all
 * kinds: pointers where numbers belong, tuples, None, strings, functions, descriptors, scalars and tiles of rank 0 and of
 * one element, huge, negative and fractional constants, shapes that hold 0, negative and odd extents. Once with the same
 * kind everywhere, then one odd operand among those that belong there, then at random. A call compiles, or is refused at its line; a fault of ours or a crash fails the test,
 * which names the kernel. What compiles is emitted for CUDA and for the CPU too.
 *
 * TILEWRIGHT_SEED starts elsewhere, TILEWRIGHT_CASES calls each name more often. */
#include "check.h"
#include "tilewright.h"

#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Row {
    const char *name, *kinds, *signature;
} Row;
static const Row rows[] = {
#define TL(name, kinds, signature, lowering, code, doc) {#name, kinds, signature},
#include "front/triton/triton_builtins.def"
#undef TL
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char head[] =
    "import math\nimport itertools\nimport triton\nimport triton.language as tl\n"
    "from triton.language.extra import libdevice\nfrom triton.language import target_info\n\n"
    "@triton.jit\ndef f(a, b):\n    return a + b\n\n"
    "@triton.jit\ndef k(x, y, n, r, C: tl.constexpr):\n"
    "    i = tl.arange(0, 8)\n    p = x + i\n    v = tl.load(p)\n    b = i > 2\n    g = tl.load(y + i)\n"
    "    m = tl.zeros((16, 16), tl.float16)\n    q = tl.zeros((16, 16), tl.float32)\n    o = tl.arange(0, 1)\n"
    "    s = tl.load(y)\n    u = i.to(tl.uint8)\n    w = i.to(tl.int64)\n    e = v.to(tl.float8e5)\n"
    "    z = tl.full((), 3, tl.int32)\n    t = (i, v)\n"
    "    d = tl.make_tensor_descriptor(x, [32, 32], [32, 1], [8, 8])\n"
    "    c = tl.make_block_ptr(x, (32,), (1,), (0,), (8,), (0,))\n";

static const char *const operands[] = {
    "x",      "y",      "p",       "n",       "r",     "i",       "v",         "b",        "g",      "m",     "q",        "o",
    "s",      "u",      "w",       "e",       "z",     "t",       "d",         "c",        "f",      "C",     "None",     "True",
    "0",      "1",      "2",       "-1",      "16",    "3",       "1.5",       "2**40",    "10**30", "-2**63", "1e400",    "float('nan')",
    "'abc'",  "''",     "()",      "(8,)",    "(0,)",  "(-4,)",   "(3, 5)",    "(16, 16)", "[8]",    "[]",    "(v, i)",   "((8,), 2)",
    "(n, n)", "(x, p)", "(2**40,)", "(1.5,)", "(None,)", "('a',)", "tl.float32", "tl.int8", "tl.constexpr(4)", "tl", "k", "range(3)",
    "[1, 2]", "i[:, None]", "v[None, :]", "(1, 0)", "(0, 0)", "'sum'", "'float32'", "x.dtype", "v.shape", "tl.program_id(0)", "p[:, None]", "(1 << 20,)",
};
enum { OPERANDS = sizeof operands / sizeof *operands };

static uint64_t state = 1;
static uint32_t draw(uint32_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 20) % below;
}

typedef struct Shared { /* between the child that compiles and the test */
    char text[4000];
    long calls, compiled, refused;
} Shared;
static Shared *shared;

/* What a parameter of this name is made for. */
static const char *usual(const char *name, size_t length) {
    static const struct {
        const char *name, *operand;
    } known[] = {
        {"pointer", "p"},      {"base", "x"},          {"ptr", "p"},         {"desc", "d"},      {"mask", "b"},     {"condition", "b"},
        {"shape", "(8,)"},     {"*shape", "(8,)"},     {"dtype", "tl.float32"}, {"axis", "0"},   {"dim", "0"},      {"dims", "(0,)"},
        {"*dims", "(0,)"},     {"start", "0"},         {"end", "8"},         {"cmp", "1"},       {"val", "1.0"},    {"offsets", "[0, 0]"},
        {"strides", "(1,)"},   {"block_shape", "(8,)"}, {"order", "(0,)"},   {"combine_fn", "f"}, {"index", "i"},   {"num_bins", "8"},
        {"seed", "n"},         {"offset", "i"},        {"n_rounds", "10"},   {"acc", "q"},       {"fn", "f"},       {"k", "2"},
        {"sem", "'relaxed'"},  {"scope", "'gpu'"},     {"bitcast", "False"}, {"a", "v"},         {"b", "v"},        {"size", "8"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == length && memcmp(known[i].name, name, length) == 0) return known[i].operand;
    return "v";
}

/* Parameters without a default, and those with one; what each is made for. */
enum { MOST_PARAMETERS = 24 };
static void read_parameters(const char *signature, int *needed, int *all, const char *made_for[MOST_PARAMETERS]) {
    *needed = *all = 0;
    int depth = 0;
    const char *from = signature;
    for (const char *at = signature;; at++) {
        depth += (*at == '(') - (*at == ')');
        if (*at && (*at != ',' || depth)) continue;
        while (*from == ' ') from++;
        bool given = memchr(from, '=', (size_t)(at - from)) || memchr(from, '*', (size_t)(at - from));
        size_t length = (size_t)(at - from), equals = strcspn(from, "=");
        if (at > from && *all < MOST_PARAMETERS) {
            made_for[*all] = usual(from, equals < length ? equals : length);
            ++*all, *needed += !given;
        }
        if (!*at) break;
        from = at + 1;
    }
}

static const char *prefix_of(char kind) {
    switch (kind) {
    case 'T': return "tl.";
    case 'M': return "tl.math.";
    case 'H': return "triton.";
    case 'P': return "";
    case 'Y': return "math.";
    case 'I': return "itertools.";
    case 'G': return "target_info.";
    case 'L': return "libdevice.";
    case 'C': return "tl.extra.cuda.";
    default: return NULL; /* a method */
    }
}

static tw_status compile(tw_context *cx, tw_module *m, const char *target, int stage) {
    tw_compile_options options;
    tw_compile_options_init(&options);
    int64_t n = 2048;
    tw_buffer *x = NULL, *y = NULL;
    tw_buffer_create(cx, TW_F32, 1, &n, NULL, &x);
    tw_buffer_create(cx, TW_I32, 1, &n, NULL, &y);
    tw_arg args[] = {{TW_ARG_BUFFER, 0, {.buffer = x}}, {TW_ARG_BUFFER, 0, {.buffer = y}}, {TW_ARG_INT, 0, {.i = 7}},
                     {TW_ARG_FLOAT, 0, {.f = 0.5}},     {TW_ARG_INT, 0, {.i = 4}}};
    options.target = target;
    options.stage = stage;
    options.args = args;
    options.arg_count = 5;
    options.verify_each = 1;
    tw_kernel *k = NULL;
    tw_status status = tw_kernel_compile(m, "k", &options, &k);
    tw_kernel_destroy(k);
    tw_buffer_destroy(x);
    tw_buffer_destroy(y);
    return status;
}

static bool is_good(tw_context *cx, tw_status status) {
    if (status == TW_OK) return true;
    const char *message = tw_context_message(cx);
    if ((status == TW_ERROR_SOURCE || status == TW_ERROR_UNSUPPORTED) && strstr(message, "k.py:")) return true;
    fprintf(stderr, "%s: %s\n", tw_status_name(status), message);
    return false;
}

/* In the child. */
static bool try_call(const char *call) {
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_context_options options;
    tw_context_options_init(&options);
    options.cache_dir = "";
    snprintf(shared->text, sizeof shared->text, "%s    a = %s\n    tl.store(y, 1)\n", head, call);
    if (tw_context_create(&options, &cx) != TW_OK) return false;
    tw_status status = tw_module_load_text(cx, "k.py", shared->text, strlen(shared->text), NULL, &m);
    if (status == TW_OK) status = compile(cx, m, "interp", TW_STAGE_IR);
    bool good = is_good(cx, status);
    static const char *const targets[] = {"cpu", "cuda"};
    for (int i = 0; i < 2 && status == TW_OK && good; i++) good = is_good(cx, compile(cx, m, targets[i], TW_STAGE_EMIT));
    shared->calls++;
    shared->compiled += status == TW_OK;
    shared->refused += status != TW_OK;
    if (!good) fprintf(stderr, "%s", shared->text);
    tw_module_destroy(m);
    tw_context_destroy(cx);
    return good;
}

static void call_text(char *text, size_t size, const Row *row, char kind, int count, const char *const *given) {
    const char *prefix = prefix_of(kind);
    int first = prefix ? 0 : 1;
    size_t n = prefix ? (size_t)snprintf(text, size, "%s%s(", prefix, row->name)
                      : (size_t)snprintf(text, size, "(%s).%s(", count ? given[0] : "v", row->name);
    for (int i = first; i < count; i++) n += (size_t)snprintf(text + n, size - n, "%s%s", i > first ? ", " : "", given[i]);
    snprintf(text + n, size - n, ")");
}

/* All calls of a row: all operands alike, one that is odd among those that belong there, and at random. */
static bool try_row(const Row *row, int random) {
    const char *made_for[MOST_PARAMETERS], *given[MOST_PARAMETERS + 1];
    int needed, all;
    bool good = true;
    char call[1000];
    read_parameters(row->signature, &needed, &all, made_for);
    for (const char *kind = row->kinds; *kind; kind++) {
        for (int i = 0; i < OPERANDS; i++) {
            for (int j = 0; j < all; j++) given[j] = operands[i];
            call_text(call, sizeof call, row, *kind, needed ? needed : all, given);
            good = try_call(call) && good;
        }
        for (int odd = 0; odd < all; odd++)
            for (int i = 0; i < random; i++) {
                memcpy(given, made_for, sizeof made_for);
                given[odd] = operands[draw(OPERANDS)];
                call_text(call, sizeof call, row, *kind, odd < needed ? needed : odd + 1, given);
                good = try_call(call) && good;
            }
        for (int i = 0; i < random; i++) {
            for (int j = 0; j <= all; j++) given[j] = operands[draw(OPERANDS)];
            call_text(call, sizeof call, row, *kind, needed + (int)draw((uint32_t)(all - needed + 2)), given);
            good = try_call(call) && good;
        }
    }
    return good;
}

int main(void) {
    const char *seed = getenv("TILEWRIGHT_SEED"), *cases = getenv("TILEWRIGHT_CASES");
    uint64_t first = seed ? strtoull(seed, NULL, 0) : 1;
    int random = cases ? (atoi(cases) + 49) / 50 : 2; /* a case is a dozen calls of each name */
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    for (int i = 0; i < ROWS; i++) {
        if (!check_chosen()) continue;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(300);
            state = (first * 1000 + (uint64_t)i) * 0x9E3779B97F4A7C15u | 1;
            _exit(!try_row(&rows[i], random));
        }
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        if (!WIFEXITED(status)) fprintf(stderr, "%s: it crashed (wait status 0x%x):\n%s", rows[i].name, (unsigned)status, shared->text);
    }
    printf("%ld calls of %d functions, %ld compiled, %ld refused\n", shared->calls, (int)ROWS, shared->compiled, shared->refused);
    CHECK(shared->compiled > shared->calls / 50);
    return check_done();
}
