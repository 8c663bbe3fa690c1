/* test_tidy.c: what cs_tidy takes away from emitted text, and what it must leave. */
#include "check.h"
#include "target/cstyle/cstyle.h"

#include <string.h>

static const struct {
    const char *from, *to;
} cases[] = {
    /* parentheses that bind nothing */
    {"y = ((a + b));", "y = a + b;"},
    {"f((a + b), (c ? d : e));", "f(a + b, c ? d : e);"},
    {"x[(r + 1)] = (i64)(at0);", "x[r + 1] = (i64)at0;"},
    {"y = f((i32)((i64)n), 1);", "y = f((i32)(i64)n, 1);"},
    {"y = (a * b) + (c * d);", "y = a * b + c * d;"},
    {"y = (a + b) + c;", "y = a + b + c;"},
    {"if ((lane & 1)) {", "if (lane & 1) {"},
    {"on = (a + b) < (c) && (d) != e;", "on = a + b < c && d != e;"},
    /* and those that do, or that a reader needs */
    {"y = a + (b + c);", "y = a + (b + c);"},
    {"y = a - (b - c);", "y = a - (b - c);"},
    {"y = (a + b) * c;", "y = (a + b) * c;"},
    {"y = a * (b / c);", "y = a * (b / c);"},
    {"y = (r >> 2) + (r & 3) * 8;", "y = (r >> 2) + (r & 3) * 8;"},
    {"y = (i32)(a + b);", "y = (i32)(a + b);"},
    {"y = (u64)i < (u64)n;", "y = (u64)i < (u64)n;"},
    {"y = -(a + b);", "y = -(a + b);"},
    {"y = a - (-1);", "y = a - (-1);"},
    {"return (a + b) / c;", "return (a + b) / c;"},
    {"for (; q < 3 && (i >> q & 1); q++) {", "for (; q < 3 && (i >> q & 1); q++) {"},
    {"f(\"((a + 0))\", (a));", "f(\"((a + 0))\", (a));"},
    {"// ((a + 0))", "// ((a + 0))"},
    /* numbers */
    {"f(0 + 0 * 512 + (warp * 32 + lane) * 4);", "f((warp * 32 + lane) * 4);"},
    {"y = a + 0 + b * 1;", "y = a + b;"},
    {"y = a * 0 + b;", "y = a * 0 + b;"},
    {"y = 0 * k + b;", "y = 0 * k + b;"},
    {"y = (0 >> 3) * 8 + (2 & 3);", "y = 2;"},
    {"y = (warp & ~3 | 0);", "y = warp & ~3;"},
    {"y = a - 0.5f + 0x10;", "y = a - 0.5f + 0x10;"},
    {"y = (i64)0 + k;", "y = (i64)0 + k;"},
    {"y = 10 + a * 10;", "y = 10 + a * 10;"},
    /* a loop of one trip is a block, or nothing */
    {"#pragma unroll\nfor (int r = 0; r < 8; r += 8) {\n    const i64 i = at + (r >> 3) * 9;\n    f(x + r, i);\n}",
     "{\n    const i64 i = at;\n    f(x, i);\n}"},
    {"#pragma unroll\nfor (int r = 0; r < 1; r++) {\n    y[r] = x[r];\n}", "y[0] = x[0];"},
    {"#pragma unroll\nfor (int r = 0; r < 1; r++) {\n    // r[r] is r\n    f(\"r \\\" r\", r, \"r\", r); // r\n    y[r] = a / r;\n}",
     "// r[r] is r\nf(\"r \\\" r\", 0, \"r\", 0); // r\ny[0] = a / 0;"},
    {"#pragma unroll\nfor (int r = 0; r < 2; r++) {\n    y[r] = x[r];\n}",
     "#pragma unroll\nfor (int r = 0; r < 2; r++) y[r] = x[r];"},
    {"#pragma unroll\nfor (int r = 0; r < 1; r++) {\n    if (r & 1) continue;\n    y[r] = x[r];\n}",
     "#pragma unroll\nfor (int r = 0; r < 1; r++) {\n    if (r & 1) continue;\n    y[r] = x[r];\n}"},
    /* what nobody reads */
    {"const i32 a = task / 2;\nconst i32 b = tw_mul(a, 3);\nf(task);", "f(task);"},
    {"const i32 a = f(task);\nconst i32 b = 2, c = 3;\ng(c);", "const i32 a = f(task);\nconst i32 b = 2, c = 3;\ng(c);"},
    {"if (x) {\n    f();\n    // 7: a = b\n    const i32 a = x;\n}", "if (x) {\n    f();\n}"},
    /* casts of what is an i32 already */
    {"const i32 n = 2;\nconst i64 m = 3;\nf((i32)n + (i32)m + (i32)n[0]);",
     "const i32 n = 2;\nconst i64 m = 3;\nf(n + (i32)m + (i32)n[0]);"},
    {"{\n    {\n        a = b;\n    }\n    const int c = a;\n    f(c);\n}", "{\n    a = b;\n    const int c = a;\n    f(c);\n}"},
};

int main(void) {
    Trap trap;
    Arena arena;
    arena_init(&arena, allocator_malloc, &trap);
    if (!TRAP_ARM(&trap)) return 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = cs_tidy(&arena, cases[i].from, 0);
        CHECK_TEXT(got, arena_printf(&arena, "%s\n", cases[i].to));
    }
    /* long lines go on below, at the outermost place */
    CHECK_TEXT(cs_tidy(&arena, "    some_function(one_argument, other(second, third), fourth_argument);", 54),
               "    some_function(one_argument, other(second, third),\n            fourth_argument);\n");
    arena_free(&arena);
    return check_done();
}
