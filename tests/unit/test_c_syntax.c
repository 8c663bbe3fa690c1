/* SPDX-License-Identifier: Apache-2.0 */
/* test_c_syntax.c: lexer, preprocessor and parser of Tile C's C grammar: trees as text, messages as
 * the user reads them, and bounded work on hostile input. */
#include "check.h"
#include "syntax/c_parse.h"

#include <stdlib.h>

typedef struct Fixture {
    Arena arena;
    Trap trap;
    SourceMap sources;
    Diag diag;
} Fixture;

static const char *const types[] = {"bf16", "half", "lcf_load_args", NULL};
static const char *const tile_types[] = {"st_bf", "st_fl", "rt_fl", "gl", NULL};
static const char *const specifiers[] = {"tile_kernel", "__shared__", "__global__", NULL};
static const char *const templates[] = {"lcf_kernel", NULL};
static const char *const headers[] = {"tile.h", NULL};

static const SourceFile *find_header(void *user, const SourceFile *from, const char *name,
                                     bool angled) {
    static const struct {
        const char *name, *text;
    } files[] = {
        {"sizes.h", "#pragma once\nenum { R = 16 };\n#define DOUBLE(x) ((x) * 2)\n"},
        {"loop.h", "#include \"loop.h\"\n"},
        {"open.h", "#if 1\n"},
        {"close.h", "#endif\n"},
    };
    SourceMap *sources = &((Fixture *)user)->sources;
    (void)from, (void)angled;
    for (size_t i = 0; i < sources->files.count; i++)
        if (!strcmp(sources->files.at[i]->name, name)) return sources->files.at[i];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!strcmp(files[i].name, name))
            return source_add(sources, name, files[i].text, strlen(files[i].text));
    return NULL;
}

static CNode *parse_text(Fixture *fx, const char *text, size_t size) {
    source_init(&fx->sources, &fx->arena);
    diag_init(&fx->diag, &fx->arena, &fx->sources);
    SourceFile *file = source_add(&fx->sources, "k.tile.c", text, size);
    CDefine defines[] = {{"STAGES", "4"}};
    CRequest request = {.arena = &fx->arena,
                        .sources = &fx->sources,
                        .diag = &fx->diag,
                        .vocabulary = {types, tile_types, specifiers, templates, headers},
                        .find_header = find_header,
                        .user = fx,
                        .defines = defines,
                        .define_count = 1};
    return c_parse(&request, file);
}

static const char *tree(Fixture *fx, const char *text) {
    CNode *unit = parse_text(fx, text, strlen(text));
    if (fx->diag.errors) fprintf(stderr, "%s", diag_render(&fx->diag, &fx->arena));
    CHECK(fx->diag.errors == 0);
    return c_dump(&fx->arena, unit, NULL);
}

static const char *messages(Fixture *fx, const char *text) {
    parse_text(fx, text, strlen(text));
    return diag_render(&fx->diag, &fx->arena);
}

/* Only the first line of the first message, without the place. */
static const char *first_message(Fixture *fx, const char *text) {
    parse_text(fx, text, strlen(text));
    return fx->diag.messages.count ? fx->diag.messages.at[0].text : "";
}

static void test_trees(Fixture *fx) {
    CHECK_TEXT(
        tree(fx,
             "typedef st_bf(64, 2*32) tile;\n"
             "typedef struct { gl(float, -1, -1, -1, -1, tile) x, o; int n[2][3]; } globals;\n"),
        "unit\n"
        "  typedef tile\n"
        "    tile st_bf\n"
        "      int 64\n"
        "      binary *\n"
        "        int 2\n"
        "        int 32\n"
        "  typedef globals\n"
        "    struct\n"
        "      field x\n"
        "        tile gl\n"
        "          type float\n"
        "          unary -\n"
        "            int 1\n"
        "          unary -\n"
        "            int 1\n"
        "          unary -\n"
        "            int 1\n"
        "          unary -\n"
        "            int 1\n"
        "          type tile\n"
        "      field o\n"
        "        tile gl\n"
        "          type float\n"
        "          unary -\n"
        "            int 1\n"
        "          unary -\n"
        "            int 1\n"
        "          unary -\n"
        "            int 1\n"
        "          unary -\n"
        "            int 1\n"
        "          type tile\n"
        "      field n\n"
        "        array\n"
        "          array\n"
        "            type int\n"
        "            int 3\n"
        "          int 2\n");
    CHECK_TEXT(tree(fx, "#include <tile.h>\n"
                        "tile_kernel(32, 1) void f(const struct g *p, unsigned long long n) {\n"
                        "    __shared__ st_fl(16, 32) s;\n"
                        "    load(&s, p->x, at(0, 1));\n"
                        "    for (int i = 0; i < n; i++) if (i % 2) continue; else break;\n"
                        "    return;\n"
                        "}\n"),
               "unit\n"
               "  function f\n"
               "    type void\n"
               "    parameters\n"
               "      parameter p\n"
               "        pointer\n"
               "          struct g const\n"
               "      parameter n\n"
               "        type unsigned long long\n"
               "    block\n"
               "      declaration\n"
               "        variable s\n"
               "          tile st_fl\n"
               "            int 16\n"
               "            int 32\n"
               "          -\n"
               "          specifier __shared__\n"
               "      expression\n"
               "        call\n"
               "          ident load\n"
               "          unary &\n"
               "            ident s\n"
               "          member -> x\n"
               "            ident p\n"
               "          call\n"
               "            ident at\n"
               "            int 0\n"
               "            int 1\n"
               "      for\n"
               "        declaration\n"
               "          variable i\n"
               "            type int\n"
               "            int 0\n"
               "        binary <\n"
               "          ident i\n"
               "          ident n\n"
               "        postfix ++\n"
               "          ident i\n"
               "        if\n"
               "          binary %\n"
               "            ident i\n"
               "            int 2\n"
               "          continue\n"
               "          break\n"
               "      return\n"
               "        -\n"
               "    specifier tile_kernel\n"
               "      int 32\n"
               "      int 1\n");
    CHECK_TEXT(tree(fx, "struct in { st_bf(64, 64) a[2]; };\n"
                        "lcf_kernel(mm, .input = struct in, .stages = STAGES, .consumer = {setup, "
                        ".load = f});\n"),
               "unit\n"
               "  type-only\n"
               "    struct in\n"
               "      field a\n"
               "        array\n"
               "          tile st_bf\n"
               "            int 64\n"
               "            int 64\n"
               "          int 2\n"
               "  template lcf_kernel\n"
               "    ident mm\n"
               "    designated input\n"
               "      -\n"
               "      struct in\n"
               "    designated stages\n"
               "      -\n"
               "      int 4\n"
               "    designated consumer\n"
               "      -\n"
               "      initializer\n"
               "        ident setup\n"
               "        designated load\n"
               "          -\n"
               "          ident f\n");
}

static void test_expressions(Fixture *fx) {
    CHECK_TEXT(
        tree(fx, "int v = a ? b = 1, c : -(float)d[1]++ << 2 + 3u * 'A' == 0x1.8p1f && !e;\n"),
        "unit\n"
        "  variable v\n"
        "    type int\n"
        "    conditional\n"
        "      ident a\n"
        "      comma\n"
        "        assign =\n"
        "          ident b\n"
        "          int 1\n"
        "        ident c\n"
        "      binary &&\n"
        "        binary ==\n"
        "          binary <<\n"
        "            unary -\n"
        "              cast\n"
        "                type float\n"
        "                postfix ++\n"
        "                  index\n"
        "                    ident d\n"
        "                    int 1\n"
        "            binary +\n"
        "              int 2\n"
        "              binary *\n"
        "                int 3 unsigned\n"
        "                int 65\n"
        "          float 3 single\n"
        "        unary !\n"
        "          ident e\n");
    CHECK_TEXT(
        tree(fx,
             "struct p q = (struct p){.x[1] = 2, [3].y = 4};\nchar *s = \"a\\n\" \"\\x41\\\\\";\n"),
        "unit\n"
        "  variable q\n"
        "    struct p\n"
        "    compound\n"
        "      struct p\n"
        "      initializer\n"
        "        designated x\n"
        "          -\n"
        "          designated\n"
        "            int 1\n"
        "            int 2\n"
        "        designated\n"
        "          int 3\n"
        "          designated y\n"
        "            -\n"
        "            int 4\n"
        "  variable s\n"
        "    pointer\n"
        "      type char\n"
        "    string \"a\\x0aA\\\\\"\n");
    /* A typedef is hidden by a variable of an inner scope: T * x is then a product. */
    CHECK(strstr(tree(fx, "typedef int T; void f(void) { int T = 1, x = 2; T * x; }"), "binary *"));
    CHECK(strstr(tree(fx, "typedef int T; void f(void) { { int T; } T * x; }"), "variable x"));
}

static void test_preprocessor(Fixture *fx) {
    CHECK_TEXT(
        tree(fx, "#include \"sizes.h\"\n#include \"sizes.h\"\n"
                 "#define CAT(a, b) a ## b\n#define STR(x) #x\n#define V(f, ...) f(__VA_ARGS__)\n"
                 "#define X X\n"
                 "#if defined(R) || STAGES > 3 && (1 ? 2 : 0/1)\n"
                 "int CAT(va, lue) = DOUBLE(R + 1); char *s = STR(a \"b\"); int t = V(g, 1, (2, "
                 "3)), X;\n"
                 "#elif 1/0\nwhat is this @\n#else\n'\n#endif\n"),
        "unit\n"
        "  type-only\n"
        "    enum\n"
        "      enumerator R\n"
        "        int 16\n"
        "  variable value\n"
        "    type int\n"
        "    binary *\n"
        "      binary +\n"
        "        ident R\n"
        "        int 1\n"
        "      int 2\n"
        "  variable s\n"
        "    pointer\n"
        "      type char\n"
        "    string \"a \\\"b\\\"\"\n"
        "  variable t\n"
        "    type int\n"
        "    call\n"
        "      ident g\n"
        "      int 1\n"
        "      comma\n"
        "        int 2\n"
        "        int 3\n"
        "  variable X\n"
        "    type int\n"
        "    -\n");
    CHECK_TEXT(messages(fx, "#define A B + 1\n#define B A\nint x = A;\n"),
               "k.tile.c:3:9: error: macro `A` expands to itself (A -> B -> A); rename the macro "
               "or what it stands "
               "for [macro-loop]\n"
               "    3 | int x = A;\n"
               "      |         ^\n"
               "k.tile.c:1:9: note: the macro is defined here\n"
               "    1 | #define A B + 1\n"
               "      |         ^\n");
    CHECK_TEXT(messages(fx, "#define PAIR(a, b) ((a) + (b)\nint x = PAIR(1, 2);\n"),
               "k.tile.c:2:19: error: expected `)` behind the expression, found `;` [syntax]\n"
               "    2 | int x = PAIR(1, 2);\n"
               "      |                   ^\n");
    CHECK_TEXT(messages(fx, "#define BAD +;\nint x = BAD;\n"),
               "k.tile.c:2:9: error: expected an expression here, found `;` [syntax]\n"
               "    2 | int x = BAD;\n"
               "      |         ^~~\n"
               "k.tile.c:1:9: note: it comes from the macro defined here\n"
               "    1 | #define BAD +;\n"
               "      |         ^~~\n");
    CHECK(strstr(first_message(fx, "#define F(a, b) a\nint x = F(1);\n"),
                 "takes 2 arguments, here are 1"));
    CHECK(strstr(first_message(fx, "#define F(a) a\nint x = F(1;\n"), "never end"));
    CHECK(strstr(first_message(fx, "#include \"loop.h\"\n"), "`loop.h` include itself"));
    CHECK(strstr(first_message(fx, "#include \"none.h\"\n"), "cannot find `none.h`"));
    CHECK(strstr(first_message(fx, "#include \"open.h\"\n#endif\n"), "never closed"));
    CHECK(strstr(first_message(fx, "#if 1\n#include \"close.h\"\n#endif\n"),
                 "without an open `#if`"));
    CHECK(strstr(first_message(fx, "#if 1 +\n#endif\n"), "found the end of the line"));
    CHECK(strstr(first_message(fx, "#if 1/0\n#endif\n"), "integer constant"));
    CHECK(strstr(first_message(fx, "#error use -D N\n"), "#error use - D N"));
    CHECK(strstr(first_message(fx, "#define A 1\n#define A 2\n"), "defined again"));
    CHECK(strstr(first_message(fx, "#wrong\n"), "`#wrong` is no directive"));
    CHECK(strstr(first_message(fx, "#define J(a) a ## +\nint x = J(y);\n"),
                 "`y+` is no single token"));
    CHECK(strstr(first_message(fx, "#pragma omp\nint x;\n"), "ignored"));
}

static void test_errors(Fixture *fx) {
    /* Several errors in one run, each with its place. */
    CHECK_TEXT(messages(fx, "int f(void) {\n    int x = ;\n    y = 3\n    z = 4;\n    return "
                            "(1;\n}\nstt_bf(4, 4) q;\n"),
               "k.tile.c:2:13: error: expected an expression here, found `;` [syntax]\n"
               "    2 |     int x = ;\n"
               "      |             ^\n"
               "k.tile.c:3:10: error: expected `;` behind the expression, found `z` [syntax]\n"
               "    3 |     y = 3\n"
               "      |          ^\n"
               "k.tile.c:5:14: error: expected `)` behind the expression, found `;` [syntax]\n"
               "    5 |     return (1;\n"
               "      |              ^\n"
               "k.tile.c:7:1: error: `stt_bf` is no type here; the nearest is `st_bf`; declare it "
               "with typedef, or "
               "write `struct stt_bf` [unknown-type]\n"
               "    7 | stt_bf(4, 4) q;\n"
               "      | ^~~~~~\n");
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"int x; /* never", "comment never ends"},
        {"char *s = \"abc\n;", "string does not end on its line"},
        {"int x = 'a;\n", "character constant does not end"},
        {"int x = 08;", "octal digits"},
        {"int x = 1z;", "suffixes are"},
        {"int x = 99999999999999999999;", "64 bits"},
        {"int x = 0x;", "no digits"},
        {"int x = '\\q';", "unknown escape"},
        {"int x = $;", "`$` has no meaning"},
        {"union u { int a; };", "does not have a union"},
        {"struct s { int a : 3; };", "bit-fields"},
        {"int (*f)(int);", "function pointers"},
        {"void f(int, ...);", "functions with `...`"},
        {"void f(void) { goto out; }", "`goto`"},
        {"void f(void) { out: ; }", "labels"},
        {"void f(void) { int x = ({ 1; }); }", "statement expressions"},
        {"void f(void) { asm(\"nop\"); }", "inline assembly"},
        {"template <int N> void f(void);", "a C++ template"},
        {"using tile = int;", "write `typedef int tile;`"},
        {"using namespace kittens;", "leave it out"},
        {"st_bf<64, 64> x;", "write `st_bf(64, 64)`"},
        {"void f(void) { x = tile_view(st_bf<64, 64>, y); }", "write `st_bf(64, 64)`"},
        {"st_bf x;", "expected `(` and the arguments of `st_bf`"},
        {"void f(int &x);", "C++ references"},
        {"long float x;", "`long float` is no type"},
        {"unsigned unsigned x;", "`unsigned unsigned` is no type"},
        {"int;", "declares nothing"},
        {"void f(void) { if (x { } }", "expected `)` behind the condition"},
        {"void f(void) { else ; }", "an `if` before `else`"},
        {"void f(void) {", "expected `}` at the end of the block, found the end of the file"},
        {"foo bar;", "`foo` is no type here"},
        {"void f(void) { foo bar; }", "`foo` is no type here"},
        {"ab\\\ncd x;", "cuts a word in two"},
        {"int x = sizeof(int;", "operand of sizeof"},
        {"int x = f(1,);", "an argument behind `,`"},
        {"int x = \"ab\" \"\\400\";", "unknown escape"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = messages(fx, cases[i].text);
        if (!strstr(got, cases[i].want)) fprintf(stderr, "case: %s\n%s", cases[i].text, got);
        CHECK(strstr(got, cases[i].want) != NULL);
    }
    static const char *const once[] = { /* nothing follows from the first cause */
        "void f(int n) { if (n) n = (n)) 2; else n = 3; }",
        "struct s { none a; }; void f(struct s x) { x.a = (none){1, 2}; none b; }",
    };
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        const char *got = messages(fx, once[i]), *first = strstr(got, "error:");
        CHECK(first && !strstr(first + 1, "error:"));
    }
}

/* n copies of `piece` between head and tail */
static char *repeated(Fixture *fx, const char *head, const char *piece, int n, const char *tail) {
    Text text = text_new(&fx->arena);
    text_add(&text, "%s", head);
    for (int i = 0; i < n; i++) text_add(&text, "%s", piece);
    text_add(&text, "%s", tail);
    return text.at;
}

static void test_bounds(Fixture *fx) {
    static const struct {
        const char *head, *piece, *tail;
    } deep[] = {
        {"int x = ", "(", ""},
        {"int x = ", "-", "1;"},
        {"int x = 1", "+1", ";"},
        {"int x = ", "1?", "1;"},
        {"int x = ", "a=", "1;"},
        {"void f(void) ", "{", ""},
        {"void f(void) {", "if(1) ", ";}"},
        {"int x = a", "[0]", ";"},
        {"int x = a", ".b", ";"},
        {"int x = ", "{", ""},
        {"struct s ", "{ struct ", ""},
        {"int ", "*", "x;"},
        {"int x = ", "(int)", "1;"},
        {"int x", "[1]", ";"},
        {"int x = {", ".a", "=1};"},
        {"int x = ", "sizeof ", "1;"},
        {"int x = ", "f(", ""},
        {"void f(void) {", "for(;;) ", ";}"},
        {"", "st_bf(", ""},
        {"int x = ", "1?1:", "1;"},
    };
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        const char *text = repeated(fx, deep[i].head, deep[i].piece, 10000, deep[i].tail);
        parse_text(fx, text, strlen(text));
        CHECK(fx->diag.errors > 0);
        CHECK(strstr(diag_render(&fx->diag, &fx->arena), "nested deeper") || i == 11);
    }
    /* Macros that double at each step stop at the limit. */
    Text doubling = text_new(&fx->arena);
    text_add(&doubling, "#define M0 x\n");
    for (int i = 1; i < 64; i++) text_add(&doubling, "#define M%d M%d M%d\n", i, i - 1, i - 1);
    text_add(&doubling, "int y = M63;\n");
    CHECK(strstr(first_message(fx, doubling.at), "more than 1048576 tokens"));
    const char *nested =
        repeated(fx, "#define I(x) x\nint y = ", "I(", 300, repeated(fx, "1", ")", 300, ";\n"));
    CHECK(strstr(first_message(fx, nested), "nested deeper") != NULL);
    /* Every prefix of a file, and every file with one byte spoilt, is parsed without harm. */
    const char *sample =
        "#include \"sizes.h\"\n#define F(a, ...) g(a, #a, __VA_ARGS__ ## 1)\n#if R == 16\n"
        "tile_kernel(32, 1) void f(struct g *p) { st_fl(R, 32) s = {.a = 1, [2] = 0x2p1}; "
        "do { F(s, 1); } while (p->x[0] ? 1 : 'c'); }\n#endif\nlcf_kernel(m, .a = struct g);\n";
    size_t size = strlen(sample);
    char *spoilt = arena_string(&fx->arena, sample, size);
    for (size_t i = 0; i < size; i++) {
        ArenaMark mark = arena_mark(&fx->arena);
        parse_text(fx, sample, i);
        spoilt[i] = "(\"#}\x80,"[i % 6];
        parse_text(fx, spoilt, size);
        spoilt[i] = sample[i];
        arena_reset(&fx->arena, mark);
    }
    CHECK(!strcmp(spoilt, sample));
}

static void test_places(Fixture *fx) {
    const char *text = "#define TWO (1 + 1)\nint x =\n    TWO * f(y);\n";
    CNode *unit = parse_text(fx, text, strlen(text));
    CHECK_TEXT(c_dump(&fx->arena, unit, &fx->sources), "unit @2:1\n"
                                                       "  variable x @2:1\n"
                                                       "    type int @2:1\n"
                                                       "    binary * @3:5\n"
                                                       "      binary + @3:5\n"
                                                       "        int 1 @3:5\n"
                                                       "        int 1 @3:5\n"
                                                       "      call @3:11\n"
                                                       "        ident f @3:11\n"
                                                       "        ident y @3:13\n");
    const CNode *product = unit->kids[0]->kids[1];
    CHECK(product->kids[0]->macro.begin != 0 && product->kids[1]->macro.begin == 0);
    CHECK(product->range.end - product->range.begin == strlen("TWO * f(y)"));
}

/* What the parser keeps of a text, in bytes a byte of it; not under sanitizers, whose red zones are most of it. */
enum { SANITIZED = CHECK_SANITIZED };
/* What an arena has given out: its blocks without what the last one has left. */
static size_t taken(Arena *arena) {
    size_t blocks = arena->total, left = 0;
    for (arena_alloc(arena, 16); arena->total == blocks; arena_alloc(arena, 16)) left += 16;
    return blocks - left;
}

static void test_memory(Fixture *fx) {
    static const struct {
        const char *text;
        int times;
        double most;
    } cases[] = {
        {"    warp_mul(acc, acc, scale_of(row + i));  /* rescaled, then summed */\n", 40000, 50},
        {"    for (int i = 0; i < n; i++) total += weights[i] * values[i + offset];\n", 30000, 50},
        {"    x = x + (y * 3 - z[2]);\n", 60000, 50},
        {"x=x+(y*3-z[2]);", 60000, 100}, /* a token for every byte */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t length = strlen(cases[c].text);
        Text text = text_new(&fx->arena);
        text_add(&text, "void f(int x) {\n");
        for (int i = 0; i < cases[c].times; i++) text_add(&text, "%s", cases[c].text);
        text_add(&text, "}\n");
        size_t before = taken(&fx->arena);
        parse_text(fx, text.at, text.length);
        double bytes = (double)(taken(&fx->arena) - before) / ((double)length * cases[c].times);
        if (bytes > cases[c].most) fprintf(stderr, "%.1f bytes a byte of `%s`\n", bytes, cases[c].text);
        CHECK(fx->diag.errors == 0 && bytes <= cases[c].most);
        arena_free(&fx->arena);
    }
}

int main(void) {
    static Fixture fx;
    arena_init(&fx.arena, allocator_malloc, &fx.trap);
    if (!TRAP_ARM(&fx.trap)) return 2;
    test_trees(&fx);
    test_expressions(&fx);
    test_preprocessor(&fx);
    test_errors(&fx);
    test_bounds(&fx);
    test_places(&fx);
    if (!SANITIZED) test_memory(&fx); /* which sees red zones there */
    arena_free(&fx.arena);
    return check_done();
}
