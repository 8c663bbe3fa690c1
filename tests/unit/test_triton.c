/* SPDX-License-Identifier: Apache-2.0 */
/* test_triton.c: the Triton door: IR of small kernels, Triton's typing rules, messages. */
#include "check.h"

#include "front/front.h"

#include <stdlib.h>

static Trap trap;
static Arena arena;

/* An argument: "*f32" array, "i32" etc. a number of that kind, "=5" an int, "=1.5" a float, "=x" a
 * text, "" absent. */
static FrontValue argument(const char *text) {
    FrontValue v = {.kind = FRONT_ABSENT};
    if (text[0] == '*') {
        v.kind = FRONT_ARRAY;
        for (int e = 0; e < EL_COUNT; e++)
            if (strcmp(elem_info[e].text, text + 1) == 0) v.elem = (Elem)e;
    } else if (text[0] == '=') {
        char *end;
        v.i = strtoll(text + 1, &end, 10);
        v.kind = FRONT_INT;
        if (*end == '\0') return v;
        v.f = strtod(text + 1, &end);
        v.kind = *end == '\0' ? FRONT_FLOAT : FRONT_TEXT;
        v.text = text + 1;
        if (strcmp(text, "=None") == 0) v.kind = FRONT_NONE;
        if (strcmp(text, "=True") == 0) v.kind = FRONT_BOOL, v.i = 1;
    }
    return v;
}

static Text said; /* by tl.static_print */
static void hear(void *user, const char *text, size_t length) {
    text_add_bytes(user, text, length);
}

/* The IR of a kernel of the text, or the messages. args: one word a parameter. */
static char *lower_named(const char *name, const char *text, const char *args,
                         const char *defines) {
    SourceMap sources;
    Diag diag;
    source_init(&sources, &arena);
    diag_init(&diag, &arena, &sources);
    FrontUnit unit = {.arena = &arena, .diag = &diag, .sources = &sources};
    unit.file = source_add(&sources, "k.py", text, strlen(text));
    unit.door = front_find("triton");
    FrontDefine define = {0};
    if (defines) {
        const char *equals = strchr(defines, '=');
        define.name = arena_string(&arena, defines, (size_t)(equals - defines));
        define.value = argument(equals);
        unit.defines = &define;
        unit.define_count = 1;
    }
    if (!unit.door->open(&unit)) return diag_render(&diag, &arena);
    const FrontKernel *kernel = &unit.kernels.at[0];
    for (size_t i = 0; name && i < unit.kernels.count; i++)
        if (strcmp(unit.kernels.at[i].name, name) == 0) kernel = &unit.kernels.at[i];
    FrontValue *values = ARENA_ARRAY(&arena, FrontValue, kernel->param_count + 1);
    for (int i = 0; i < kernel->param_count; i++) {
        size_t n = strcspn(args, " ");
        values[i] = argument(arena_string(&arena, args, n));
        args += n + (args[n] == ' ');
    }
    FrontRequest request = {
        .kernel = kernel, .args = values, .module = ir_module_new(&arena, &diag, &sources)};
    said = text_new(&arena);
    request.print = hear;
    request.print_user = &said;
    Kernel *k = unit.door->lower(&unit, &request);
    if (!k) return diag_render(&diag, &arena);
    char *ir = ir_print(k, &arena);
    return diag.messages.count ? arena_printf(&arena, "%s%s", diag_render(&diag, &arena), ir) : ir;
}

#define HEAD "import triton\nimport triton.language as tl\n"

/* A body with parameters p: *f32, q: *f16, r: *bf16, i: *i32, n: i32, s: f32, N: constexpr 8. */
static char *body(const char *lines) {
    char *text = arena_printf(
        &arena, HEAD "@triton.jit\ndef k(p, q, r, i, n, s, N: tl.constexpr):\n%s", lines);
    return lower_named(NULL, text, "*f32 *f16 *bf16 *i32 =5 =1.5 =8", NULL);
}

static char *read_kernel(const char *path) {
    FILE *in = fopen(path, "rb");
    char *text = ARENA_ARRAY(&arena, char, 1 << 16);
    CHECK(in != NULL);
    if (!in) return text;
    size_t size = fread(text, 1, (1 << 16) - 1, in);
    text[size] = '\0';
    fclose(in);
    return text;
}

static void test_kernels(void) {
    CHECK_TEXT(lower_named("add_kernel", read_kernel("kernels/triton/add.py"),
                           "*f32 *f32 *f32 =1000 =1024", NULL),
               "kernel @add_kernel(%x_ptr, %y_ptr, %output_ptr: *f32, %n_elements: i32) {\n"
               "  %pid = program_id<0>\n"
               "  %block_start = mul %pid, 1024\n"
               "  %0 = iota<0, 1024>\n"
               "  %offsets = add %block_start, %0\n"
               "  %mask = cmp<lt> %offsets, %n_elements\n"
               "  %1 = ptr_add %x_ptr, %offsets\n"
               "  %x = load %1, %mask\n"
               "  %2 = ptr_add %y_ptr, %offsets\n"
               "  %y = load %2, %mask\n"
               "  %output = add %x, %y\n"
               "  %3 = ptr_add %output_ptr, %offsets\n"
               "  store %3, %output, %mask\n"
               "}\n");
    CHECK_TEXT(lower_named(NULL, read_kernel("kernels/triton/fma.py"),
                           "*bf16 *bf16 *bf16 *bf16 =5 =64", NULL),
               "kernel @fma_kernel(%x_ptr, %y_ptr, %z_ptr, %out_ptr: *bf16, %n: i32) {\n"
               "  %0 = program_id<0>\n"
               "  %1 = mul %0, 64\n"
               "  %2 = iota<0, 64>\n"
               "  %offs = add %1, %2\n"
               "  %inside = cmp<lt> %offs, %n\n"
               "  %3 = ptr_add %x_ptr, %offs\n"
               "  %x = load %3, %inside\n"
               "  %4 = ptr_add %y_ptr, %offs\n"
               "  %y = load %4, %inside\n"
               "  %5 = ptr_add %z_ptr, %offs\n"
               "  %z = load %5, %inside\n"
               "  %6 = ptr_add %out_ptr, %offs\n"
               "  %7 = mul %x, %y\n"
               "  %8 = add %7, %z\n"
               "  store %6, %8, %inside\n"
               "}\n");
    CHECK_TEXT(
        lower_named(NULL, read_kernel("kernels/triton/softmax.py"), "*f16 *f16 =9 =9 =9 =16", NULL),
        "kernel @softmax_kernel(%out_ptr, %in_ptr: *f16, %in_stride, %out_stride, %n_cols: i32) {\n"
        "  %row = program_id<0>\n"
        "  %cols = iota<0, 16>\n"
        "  %inside = cmp<lt> %cols, %n_cols\n"
        "  %0 = mul %row, %in_stride\n"
        "  %1 = ptr_add %in_ptr, %0\n"
        "  %2 = ptr_add %1, %cols\n"
        "  %x = load %2, %inside, -inf\n"
        "  %3 = cast %x : f32[16]\n"
        "  %4 = cast %x : f32[16]\n"
        "  %5 = reduce<max, axis=0> %4\n"
        "  %shifted = sub %3, %5\n"
        "  %numerator = exp<approx> %shifted\n"
        "  %6 = reduce<add, axis=0> %numerator\n"
        "  %y = div<approx> %numerator, %6\n"
        "  %7 = mul %row, %out_stride\n"
        "  %8 = ptr_add %out_ptr, %7\n"
        "  %9 = ptr_add %8, %cols\n"
        "  %10 = cast %y : f16[16]\n"
        "  store %9, %10, %inside\n"
        "}\n");
    char *matmul = lower_named(NULL, read_kernel("kernels/triton/matmul.py"),
                               "*f16 *f16 *f16 =9 =9 =9 =9 =1 =9 =1 =9 =1 =32 =64 =16", NULL);
    CHECK(strstr(matmul, "  %acc_1, %a_ptrs_1, %b_ptrs_1 = for %k = 0, %16, 1 (%acc_2 = %acc, "
                         "%a_ptrs_2 = %a_ptrs, "
                         "%b_ptrs_2 = %b_ptrs) {\n") != NULL);
    CHECK(strstr(matmul, "    %acc_3 = dot %a, %b, %acc_2\n") &&
          strstr(matmul, "  %rows = min %0, 8\n"));
    matmul = lower_named(NULL, read_kernel("kernels/triton/matmul.py"),
                         "*f32 *f32 *f32 =9 =9 =9 =9 =1 =9 =1 =9 =1 =32 =64 =16", NULL);
    CHECK(strstr(matmul, "    %acc_3 = dot<prec=tf32> %a, %b, %acc_2\n") != NULL);
}

/* What tl.static_print says of an expression, x being float16[8], b bfloat16[8], f float32[8], j
 * int32[8]. */
static char *shown(const char *expression) {
    char *text = body(
        arena_printf(&arena,
                     "    o = tl.arange(0, N)\n    x = tl.load(q + o)\n    b = tl.load(r + o)\n"
                     "    f = tl.load(p + o)\n    j = tl.load(i + o)\n    u = j.to(tl.uint8)\n"
                     "    m = j < 3\n    tl.static_print(%s)\n",
                     expression));
    if (said.length) return arena_string(&arena, said.at, said.length - 1);
    char *mark = strstr(text, "error: ");
    if (!mark) return text;
    size_t n = strcspn(mark, "\n");
    char *line = arena_string(&arena, mark, n);
    char *tag = strstr(line, " [");
    for (char *next = tag; next; next = strstr(next + 1, " [")) tag = next;
    if (tag) *tag = '\0';
    return line;
}

static void test_types(void) {
    static const char *const table[][2] = {
        /* promotion */
        {"x + b", "float16[8]"},
        {"j + b", "float32[8]"},
        {"j + x", "float16[8]"},
        {"f + x", "float32[8]"},
        {"x * 2.0", "float16[8]"},
        {"x / 2", "float32[8]"},
        {"x % 2.0", "float32[8]"},
        {"j / 2", "float32[8]"},
        {"j // 2", "int32[8]"},
        {"u + 3", "uint8[8]"},
        {"u + j.to(tl.int8)", "uint8[8]"},
        {"j + j.to(tl.uint32)", "uint32[8]"},
        {"j.to(tl.int64) + j.to(tl.uint32)", "int64[8]"},
        {"j.to(tl.int8) + 1.5", "float32[8]"},
        {"m + 1", "int32[8]"},
        {"m + m", "int1[8]"},
        {"x + s", "float32[8]"},
        {"x + n", "float16[8]"},
        {"u + 300", "error: 300 is out of range for uint8; cast the tensor, or use another number"},
        {"u - -1", "error: -1 is out of range for uint8; cast the tensor, or use another number"},
        {"u // j", "error: Cannot use /, // and % with uint8[8] and int32[8] because they have "
                   "different signedness; cast one with .to(...)"},
        {"tl.expand_dims(j, (0, -3))",
         "error: duplicate axes, normalized axes = [0, 0]; name each axis once"},
        {"tl.expand_dims(j, -3)",
         "error: invalid axis -3; the tensor has 2, counted from 0, or from its end with -1"},
        {"tl.program_id(3)", "error: program_id axis must be 0, 1, or 2 but got 3"},
        /* numbers that are not weak */
        {"tl.maximum(x, 0.0)", "float32[8]"},
        {"tl.maximum(b, b)", "float32[8]"},
        {"tl.where(m, x, 0.0)", "float16[8]"},
        {"x < 0.5", "int1[8]"},
        {"1e-40 * n", "float64"},
        /* constants */
        {"-7 // 2", "-4"},
        {"-7 % 3", "2"},
        {"7 / 2", "3.5"},
        {"2 ** 10 | 1", "1025"},
        {"N * 2 if N > 4 else 0", "16"},
        {"(1, 2.5, None)[1:]", "(2.5, None)"},
        {"float('-inf')", "-inf"},
        {"triton.cdiv(10, 4)", "3"},
        {"triton.next_power_of_2(5)", "8"},
        {"f'{N} wide'", "8 wide"},
        {"x.dtype", "float16"},
        {"p.dtype.element_ty", "float32"},
        {"p.dtype.element_ty == tl.float32 and x.dtype.is_fp16()", "True"},
        {"f[:, None].shape", "(8, 1)"},
        {"j is None", "False"},
        {"len((1, 2))", "2"},
        {"max(N, 3, 20)", "20"},
        {"0xFFFFFFFFFFFFFFFF + 1", "18446744073709551616"},
        /* shapes */
        {"f[:, None] + f[None, :]", "float32[8, 8]"},
        {"f[:, None] + f", "float32[8, 8]"},
        {"p + o[:, None] * 4 + o[None, :]", "*float32[8, 8]"},
        {"tl.broadcast_to(f[None, :], (4, 8))", "float32[4, 8]"},
        {"tl.reshape(f, 2, 4)", "float32[2, 4]"},
        {"tl.trans(tl.reshape(f, (2, 4)))", "float32[4, 2]"},
        {"f[None, :].T", "float32[8, 1]"},
        {"tl.expand_dims(f, (0, 2))", "float32[1, 8, 1]"},
        {"tl.zeros([3, 5], tl.bfloat16)", "bfloat16[3, 5]"},
        {"tl.full((4,), 1.5, tl.float16)", "float16[4]"},
        {"tl.arange(0, 6)", "int32[6]"},
        /* reductions */
        {"tl.sum(x)", "float16"},
        {"tl.sum(u, axis=0)", "uint32"},
        {"tl.sum(m)", "uint32"},
        {"tl.sum(j.to(tl.int8))", "int32"},
        {"tl.max(x, 0)", "float32"},
        {"tl.max(f[:, None] + f, axis=1, keep_dims=True)", "float32[8, 1]"},
        {"tl.max(f, 0, return_indices=True)", "(float32, int32)"},
        {"tl.argmax(f, 0)", "int32"},
        {"tl.sum(f[:, None] + f, keep_dims=True)", "float32[1, 1]"},
        /* the rest */
        {"tl.exp(f)", "float32[8]"},
        {"tl.exp(x)",
         "error: tl.exp takes float32 or float64, here is float16[8]; cast with .to(tl.float32)"},
        {"tl.dot(x[:, None] + x, x[:, None] * x)", "float32[8, 8]"},
        {"tl.dot(x[:, None] + x, x[:, None] * x, out_dtype=tl.float16)", "float16[8, 8]"},
        {"tl.dot(x[:, None], x[:, None])", "error: tl.dot of float16[8, 1] and float16[8, 1] does "
                                           "not fit: [M, K] and [K, N] are needed"},
        {"tl.dot(x[:, None], f[None, :])",
         "error: tl.dot needs operands of one type, here are float16[8, 1] and float32[1, 8]; cast "
         "one with .to(...)"},
        {"j.to(tl.float32, bitcast=True)", "float32[8]"},
        {"N.to(tl.int64)", "int64"},
        {"p.to(tl.int64)", "int64"},
        {"n.to(tl.int64).to(tl.pointer_type(tl.float16))", "*float16"},
        {"0 < n < 5", "int1"},
        {"m and m", "int1[8]"},
        {"n and m", "error: `and` takes booleans, here is an int32; compare with `!= 0`, or use "
                    "`&`, `|`, `~` for bits"},
        {"tl.program_id(axis=1)", "int32"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *got = shown(table[i][0]);
        if (strcmp(got, table[i][1]) != 0) fprintf(stderr, "for %s:\n", table[i][0]);
        CHECK_TEXT(got, table[i][1]);
    }
}

/* The IR of some lines, without the frame of the kernel. */
static char *ops(const char *lines) {
    char *text = body(lines);
    char *begin = strstr(text, "{\n");
    if (strncmp(text, "kernel", 6) != 0 || !begin) return text;
    begin += 2;
    begin[strlen(begin) - 2] = '\0';
    return begin;
}

static void test_control(void) {
    CHECK_TEXT(ops("    if N > 4:\n        tl.store(p, 1.0)\n    else:\n        tl.nonsense()\n"),
               "  store %p, 1.0\n");
    CHECK_TEXT(ops("    x = 0.0\n    if n > 4:\n        x = s\n    tl.store(p, x)\n"),
               "  %0 = cmp<gt> %n, 4\n"
               "  %x = if %0 {\n    yield %s\n  } {\n    yield 0.0\n  }\n"
               "  store %p, %x\n");
    CHECK_TEXT(ops("    x = s if n > 4 else 0.0\n    tl.store(p, x)\n"),
               "  %0 = cmp<gt> %n, 4\n"
               "  %x = if %0 {\n    yield %s\n  } {\n    yield 0.0\n  }\n"
               "  store %p, %x\n");
    CHECK_TEXT(ops("    if n > 4:\n        return\n    tl.store(p, s)\n"),
               "  %0 = cmp<gt> %n, 4\n"
               "  if %0 {\n  } {\n    store %p, %s\n  }\n");
    CHECK_TEXT(ops("    a = 0.0\n    for k in tl.range(0, n, num_stages=3):\n        a += s\n      "
                   "  t = a\n    tl.store(p, a)\n"),
               "  %a = for<stages=3> %k = 0, %n, 1 (%a_1 = 0.0) {\n"
               "    %a_2 = add %a_1, %s\n    yield %a_2\n  }\n"
               "  store %p, %a\n");
    CHECK_TEXT(ops("    for k in range(10, 0, -3):\n        tl.store(i + k, k)\n"),
               "  for %k = 0, 10, 3 {\n"
               "    %0 = add 0, 10\n    %k_1 = sub %0, %k\n    %1 = ptr_add %i, %k_1\n    store "
               "%1, %k_1\n  }\n");
    CHECK_TEXT(ops("    for k in tl.static_range(2):\n        tl.store(p + k, s)\n"),
               "  %0 = ptr_add %p, 0\n  store %0, %s\n  %1 = ptr_add %p, 1\n  store %1, %s\n");
    CHECK_TEXT(
        ops("    k = n\n    while k > 0:\n        k -= 2\n    tl.store(i, k)\n"),
        "  %k = while (%k_1 = %n) {\n    %0 = cmp<gt> %k_1, 0\n    test %0, %k_1\n  } do (%k_1) {\n"
        "    %k_2 = sub %k_1, 2\n    yield %k_2\n  }\n"
        "  store %i, %k\n");
    CHECK_TEXT(lower_named(
                   "k",
                   HEAD "@triton.jit\ndef clip(x, low: tl.constexpr = 0):\n    if x < low:\n       "
                        " return low\n"
                        "    return x\n"
                        "@triton.jit\ndef k(p, n):\n    tl.store(p, clip(n) + clip(x=n, low=-4))\n",
                   "*i32 =5", NULL),
               "kernel @k(%p: *i32, %n: i32) {\n"
               "  %0 = cmp<lt> %n, 0\n"
               "  %1 = if %0 {\n    yield 0\n  } {\n    yield %n\n  }\n"
               "  %2 = cmp<lt> %n, -4\n"
               "  %3 = if %2 {\n    yield -4\n  } {\n    yield %n\n  }\n"
               "  %4 = add %1, %3\n"
               "  store %p, %4\n"
               "}\n");
}

static void test_names(void) {
    const char *text =
        "import triton as t\nfrom triton import language as lang\nfrom triton.language import "
        "load\n"
        "W = lang.constexpr(4)\nHALF = W // 2\nfrom vllm.utils import tl\nimport torch\n"
        "@t.jit\ndef k(p):\n    lang.store(p + HALF, load(p + W) + tl.load(p))\n";
    CHECK_TEXT(lower_named(NULL, text, "*f32", NULL),
               "kernel @k(%p: *f32) {\n  %0 = ptr_add %p, 2\n  %1 = ptr_add %p, 4\n  %2 = load "
               "%1\n  %3 = load %p\n"
               "  %4 = add %2, %3\n  store %0, %4\n}\n");
    CHECK(strstr(lower_named(NULL, text, "*f32", "W=10"), "ptr_add %p, 5") != NULL);
    /* parameters: annotated types, defaults, None */
    CHECK_TEXT(
        lower_named(NULL,
                    HEAD
                    "@triton.jit\ndef k(p: '*fp32', a: tl.int64, b, c=3, M: tl.constexpr = None):\n"
                    "    if M is None:\n        tl.store(p, a + b + c)\n",
                    " =1 =4294967296", NULL),
        "kernel @k(%p: *f32, %a, %b: i64) {\n  %0 = add %a, %b\n  %1 = add %0, 3\n  %2 = cast %1 : "
        "f32\n"
        "  store %p, %2\n}\n");
}

static void test_messages(void) {
    static const char *const table[][2] = {
        {"    x = tl.lod(p)\n",
         "k.py:5:9: error: `tl.lod` is not known; did you mean `tl.load`? [unknown-name]\n"
         "    5 |     x = tl.lod(p)\n      |         ^~~~~~\n"},
        {"    x = tl.load(pp)\n",
         "k.py:5:17: error: `pp` is not known; did you mean `p`? [unknown-name]\n"
         "    5 |     x = tl.load(pp)\n      |                 ^~\n"},
        {"    x = tl.load(p, maks=n)\n",
         "k.py:5:20: error: `load` has no parameter `maks`; did you mean `mask`? [arity]\n"
         "    5 |     x = tl.load(p, maks=n)\n      |                    ^~~~~~\n"},
        {"    x = tl.load(p, n)\n",
         "k.py:5:20: error: a mask must be boolean (int1), here is an int32; compare to get one "
         "[mask]\n"
         "    5 |     x = tl.load(p, n)\n      |                    ^\n"},
        {"    x = tl.arange(0, n)\n",
         "k.py:5:22: error: tl.arange wants an integer known at compile time, here is an int32; "
         "pass it as a tl.constexpr parameter [argument]\n"
         "    5 |     x = tl.arange(0, n)\n      |                      ^\n"},
        {"    x = tl.arange(0, 8) + tl.arange(0, 4)\n    y = x + 1\n",
         "k.py:5:9: error: the shapes of int32[8] and int32[4] do not fit; extents must be equal "
         "or 1; add axes with "
         "[:, None], or use tl.broadcast_to [shapes]\n"
         "    5 |     x = tl.arange(0, 8) + tl.arange(0, 4)\n      |         "
         "^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"},
        {"    a = 0\n    for k in range(n):\n        a += s\n",
         "k.py:6:5: error: `a` is an int32 before the loop and a float32 at its end; it must keep "
         "its type; start it with "
         "that type, or cast with .to(...) [loop-type]\n"
         "    6 |     for k in range(n):\n      |     ^~~~~~~~~~~~~~~~~~\n"},
        {"    for k in range(n):\n        a = s\n    tl.store(p, a)\n",
         "k.py:7:17: error: `a` has no value here: it is first assigned inside a loop; give it a "
         "value before the loop "
         "[unbound]\n    7 |     tl.store(p, a)\n      |                 ^\n"},
        {"    tl.extra.libdevice.brev(n)\n    [k for k in n]\n",
         "k.py:5:5: error: `brev` cannot be used inside a kernel: C's math library has no such function; write it with "
         "tl operations [host-value]\n"
         "    5 |     tl.extra.libdevice.brev(n)\n      |     ^~~~~~~~~~~~~~~~~~~~~~~\n"
         "k.py:6:17: error: a tuple or a range of constants is expected here, it is an int32 "
         "[loop]\n    6 |     [k for k in n]\n      |                 ^\n"},
        {"    tl.static_assert(N % 16 == 0, f'N = {N}')\n",
         "k.py:5:5: error: the assertion does not hold: N = 8 [static-assert]\n"
         "    5 |     tl.static_assert(N % 16 == 0, f'N = {N}')\n"
         "      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"},
        {"    tl.store(n, s)\n",
         "k.py:5:14: error: tl.store takes a pointer, here is an int32; add "
         "the offsets to a pointer argument [pointer]\n"
         "    5 |     tl.store(n, s)\n      |              ^\n"},
        {"    for k in tl.static_range(100000000):\n        tl.store(p, s)\n",
         "k.py:6:18: error: the kernel takes more than 230000 steps to unroll; use range instead "
         "of tl.static_range [too-long]\n    6 |         tl.store(p, s)\n      |                  ^\n"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        CHECK_TEXT(body(table[i][0]), table[i][1]);
    CHECK_TEXT(
        lower_named(
            "k",
            HEAD
            "@triton.jit\ndef f(x):\n    return x @ 3\n@triton.jit\ndef k(p):\n    f(tl.load(p))\n",
            "*i32", NULL),
        "k.py:5:12: error: `@` has invalid operands of type an int32 and 3; products of matrices "
        "are "
        "tl.dot(a, b) [operands]\n"
        "    5 |     return x @ 3\n      |            ^~~~~\n"
        "k.py:8:5: note: in the call of `f`\n    8 |     f(tl.load(p))\n      |     "
        "^~~~~~~~~~~~~\n");
    CHECK(strstr(lower_named(
                     "k",
                     HEAD
                     "@triton.jit\ndef f(x):\n    return f(x)\n@triton.jit\ndef k(p):\n    f(p)\n",
                     "*i32", NULL),
                 "`f` calls itself") != NULL);
    CHECK(strstr(lower_named(NULL, "x = 1\n", "", NULL),
                 "has no function decorated with @triton.jit") != NULL);
    CHECK(strstr(lower_named(NULL, "def f(:\n", "", NULL), "`(` was never closed") != NULL);
}

int main(void) {
    arena_init(&arena, allocator_malloc, &trap);
    if (TRAP_ARM(&trap)) {
        test_kernels();
        test_types();
        test_control();
        test_names();
        test_messages();
    } else {
        CHECK_TEXT(trap.message, "no trap");
    }
    arena_free(&arena);
    return check_done();
}
