/* SPDX-License-Identifier: Apache-2.0 */
/* test_shapes.c: the arrays of a launch against what the kernel's text says of them.
 *
 * For each door that states shapes, on each target: every array that is smaller, larger, of another rank, or laid
 * out otherwise is refused with both shapes, and nothing is written; what fits runs, and strided views are honoured
 * where the kernel takes strides. Arrays lie between guards of bytes that nobody may change. */
#include "check.h"
#include "tilewright.h"

#include <stdint.h>

enum { ROWS = 64, COLUMNS = 32, GUARD = 64 * 1024, SPACE = 256 * 1024 };

typedef struct Array {
    tw_buffer *buffer;
    unsigned char *block; /* guard, memory, guard */
    unsigned char *data;
} Array;

/* Which way an array of [ROWS, COLUMNS] is made; the first ones fit. */
typedef struct Form {
    const char *name;
    int rank;
    int64_t shape[4], strides[4]; /* strides[rank - 1] 0: dense */
    bool dense;                   /* the right shape, without gaps */
    bool view;                    /* the right shape, with other strides */
} Form;

static const Form forms[] = {
    {"dense", 2, {ROWS, COLUMNS}, {0}, true, false},
    {"rows with gaps", 2, {ROWS, COLUMNS}, {48, 1}, false, true},
    {"transposed", 2, {ROWS, COLUMNS}, {1, ROWS}, false, true},
    {"every second column", 2, {ROWS, COLUMNS}, {2 * COLUMNS, 2}, false, true},
    {"one row for all", 2, {ROWS, COLUMNS}, {0, 1}, false, true},
    {"rows from the end", 2, {ROWS, COLUMNS}, {-COLUMNS, 1}, false, true},
    {"tiny", 2, {8, 8}, {0}, false, false},
    {"short", 2, {ROWS - 1, COLUMNS}, {0}, false, false},
    {"narrow", 2, {ROWS, COLUMNS - 1}, {0}, false, false},
    {"long", 2, {ROWS + 1, COLUMNS}, {0}, false, false},
    {"wide", 2, {ROWS, COLUMNS + 1}, {0}, false, false},
    {"swapped", 2, {COLUMNS, ROWS}, {0}, false, false},
    {"no rows", 2, {0, COLUMNS}, {0}, false, false},
    {"no columns", 2, {ROWS, 0}, {0}, false, false},
    {"flat", 1, {ROWS * COLUMNS}, {0}, false, false},
    {"one row", 1, {COLUMNS}, {0}, false, false},
    {"a number", 0, {0}, {0}, false, false},
    {"a stack of two", 3, {2, ROWS, COLUMNS}, {0}, false, false},
    {"an empty stack", 3, {0, ROWS, COLUMNS}, {0}, false, false},
};
enum { FORMS = sizeof forms / sizeof *forms };

static Array make_array(tw_context *cx, int32_t dtype, const Form *f) {
    Array a = {.block = malloc(SPACE + 2 * GUARD)};
    memset(a.block, 0x5a, SPACE + 2 * GUARD);
    a.data = a.block + GUARD;
    tw_buffer_options options;
    tw_buffer_options_init(&options);
    options.data = a.data;
    options.size = SPACE;
    if (f->rank && f->strides[f->rank - 1]) options.strides = f->strides;
    CHECK(tw_buffer_create(cx, dtype, f->rank, f->shape, &options, &a.buffer) == TW_OK);
    if (tw_buffer_elements(a.buffer)) CHECK(tw_buffer_fill(a.buffer, "randint", 50, 7) == TW_OK);
    return a;
}

static bool guards_hold(const Array *a) {
    for (int i = 0; i < GUARD; i++)
        if (a->block[i] != 0x5a || a->data[SPACE + i] != 0x5a) return false;
    return true;
}

static void free_array(Array *a) {
    tw_buffer_destroy(a->buffer);
    free(a->block);
}

/* The elements of two arrays in row-major order. */
static bool same_elements(const Array *a, const Array *b, size_t bytes) {
    size_t size = (size_t)tw_buffer_elements(a->buffer) * bytes;
    unsigned char *x = malloc(size + 1), *y = malloc(size + 1);
    bool same = tw_buffer_read(a->buffer, x, size) == TW_OK && tw_buffer_read(b->buffer, y, size) == TW_OK &&
                memcmp(x, y, size) == 0;
    free(x);
    free(y);
    return same;
}

typedef struct Door {
    const char *file, *text;
    bool strided;   /* takes strides with the array */
    bool any_rows;  /* states columns alone */
} Door;

static const Door doors[] = {
    {"copy.py",
     "import tilelang.language as T\n"
     "@T.prim_func\n"
     "def copy(A: T.Tensor((64, 32), \"%s\"), B: T.Tensor((64, 32), \"%s\")):\n"
     "    with T.Kernel(2, threads=128) as bx:\n"
     "        t = T.alloc_fragment((32, 32), \"%s\")\n"
     "        T.copy(A[bx * 32, 0], t)\n"
     "        T.copy(t, B[bx * 32, 0])\n",
     false, false},
    {"copy.tile.c",
     "#include \"tile.h\"\n"
     "typedef struct { gl(%s, 1, 1, 64, 32) A, B; } globals;\n"
     "tile_kernel(32) tile_grid(1, 2) void copy(globals g) {\n"
     "    rt(%s, 32, 32) t;\n"
     "    load(&t, g.A, at(0, 0, blockIdx.y, 0));\n"
     "    store(g.B, &t, at(0, 0, blockIdx.y, 0));\n"
     "}\n",
     true, false},
    {"copy.tile.c",
     "#include \"tile.h\"\n"
     "typedef struct { gl(%s, 1, 1, -1, 32) A, B; } globals;\n"
     "tile_kernel(32) tile_grid(1, 2) void copy(globals g) {\n"
     "    rt(%s, 32, 32) t;\n"
     "    load(&t, g.A, at(0, 0, blockIdx.y, 0));\n"
     "    store(g.B, &t, at(0, 0, blockIdx.y, 0));\n"
     "}\n",
     true, true},
};

typedef struct Way {
    const char *target;
    int32_t emulate, sanitize;
} Way;
static const Way ways[] = {{"interp", 0, 0}, {"cpu", 0, 1}, {"cpu", 0, 0}, {"cuda", 1, 0}, {"tenstorrent", 0, 0}};

static const char *element_name(const Door *door, int32_t dtype) {
    static const struct {
        int32_t dtype;
        const char *tilelang, *tile_c;
    } names[] = {{TW_I1, "bool", NULL},         {TW_I8, "int8", NULL},     {TW_I16, "int16", NULL},
                 {TW_I32, "int32", NULL},       {TW_I64, "int64", NULL},   {TW_U8, "uint8", NULL},
                 {TW_U16, "uint16", NULL},      {TW_U32, "uint32", NULL},  {TW_U64, "uint64", NULL},
                 {TW_F16, "float16", "half"},   {TW_F32, "float32", "float"}, {TW_F64, "float64", NULL},
                 {TW_BF16, "bfloat16", "bf16"}, {TW_F8E4M3, "float8_e4m3", NULL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].dtype == dtype) return door->strided ? names[i].tile_c : names[i].tilelang;
    return NULL;
}

/* Does a kernel of that door take an array of that form? */
static bool should_fit(const Door *door, const Form *f) {
    if (f->dense || (f->view && door->strided)) return true;
    return door->any_rows && f->rank <= 2 && f->rank > 0 && f->shape[f->rank - 1] == COLUMNS;
}

static void launch_with(tw_context *cx, tw_kernel *k, const Door *door, const Way *way, int32_t dtype, const Form *in,
                        const Form *out) {
    Array a = make_array(cx, dtype, in), b = make_array(cx, dtype, out);
    if (tw_buffer_elements(b.buffer)) CHECK(tw_buffer_fill(b.buffer, "zeros", 0, 0) == TW_OK);
    unsigned char *before = malloc(SPACE);
    memcpy(before, b.data, SPACE);
    tw_arg args[] = {{TW_ARG_BUFFER, 0, {.buffer = a.buffer}}, {TW_ARG_BUFFER, 0, {.buffer = b.buffer}}};
    tw_status status = tw_kernel_launch(k, NULL, NULL, args, 2);
    const char *message = tw_context_message(cx);
    bool fits = should_fit(door, in) && should_fit(door, out), good;
    bool shared = out->view && !out->strides[0]; /* rows that share memory: programs that write them race */
    if (!fits) {
        good = status == TW_ERROR_ARGUMENT && memcmp(before, b.data, SPACE) == 0 &&
               strstr(message, ": kernel `copy`") && strstr(message, tw_dtype_name(dtype)) &&
               strstr(message, "the array given is");
    } else if (status == TW_OK) {
        bool whole = in->rank == out->rank && in->shape[0] == out->shape[0];
        good = shared || !whole || same_elements(&a, &b, tw_dtype_size(dtype));
    } else { /* a layout that a target has no form for is refused in words */
        bool race = way->sanitize && shared && strstr(message, "[write-race]");
        good = race || ((in->view || out->view) && *message && memcmp(before, b.data, SPACE) == 0 &&
                        strcmp(way->target, "cpu") != 0);
    }
    CHECK(guards_hold(&a) && guards_hold(&b));
    CHECK(good);
    if (!good)
        fprintf(stderr, "%s on %s%s: %s to %s of %s: status %d %s\n", door->file, way->target,
                way->sanitize ? " sanitized" : "", in->name, out->name, tw_dtype_name(dtype), status, message);
    free(before);
    free_array(&a);
    free_array(&b);
}

static void test_door(tw_context *cx, const Door *door, const Way *way, int32_t dtype) {
    char text[1000];
    const char *name = element_name(door, dtype);
    snprintf(text, sizeof text, door->text, name, name, name);
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = way->target, options.emulate = way->emulate, options.sanitize = way->sanitize;
    tw_status status = tw_module_load_text(cx, door->file, text, strlen(text), NULL, &m);
    if (status == TW_OK) status = tw_kernel_compile(m, NULL, &options, &k);
    CHECK(status == TW_OK);
    if (status != TW_OK) fprintf(stderr, "%s %s\n%s\n", way->target, tw_context_message(cx), text);
    for (int i = 0; k && i < FORMS; i++) {
        launch_with(cx, k, door, way, dtype, &forms[i], &forms[0]);
        if (i) launch_with(cx, k, door, way, dtype, &forms[0], &forms[i]);
    }
    tw_kernel_destroy(k);
    tw_module_destroy(m);
}

/* What a user reads. */
static void test_messages(tw_context *cx) {
    static const Form row = {"row", 2, {1, COLUMNS}, {0}, false, false};
    static const struct {
        int door, form;
        const char *message;
    } cases[] = {
        {0, 6, "argument `A`: kernel `copy` declares f32[64, 32], the array given is f32[8, 8]"},
        {0, 2,
         "argument `A`: kernel `copy` takes row-major arrays without gaps, the array given is f32[64, 32] with strides 1, "
         "64; pass a copy"},
        {0, 16, "argument `A`: kernel `copy` declares f32[64, 32], the array given is f32[]"},
        {1, 15, "argument `g.A`: kernel `copy` declares f32[64, 32], the array given is f32[32]"},
        {1, 17, "argument `g.A`: kernel `copy` declares f32[64, 32], the array given is f32[2, 64, 32]"},
        {2, 8, "argument `g.A`: kernel `copy` declares f32[any, 32], the array given is f32[64, 31]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Door *door = &doors[cases[i].door];
        char text[1000];
        const char *name = element_name(door, TW_F32);
        snprintf(text, sizeof text, door->text, name, name, name);
        tw_module *m = NULL;
        tw_kernel *k = NULL;
        tw_compile_options options;
        tw_compile_options_init(&options);
        options.target = "interp";
        CHECK(tw_module_load_text(cx, door->file, text, strlen(text), NULL, &m) == TW_OK);
        CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_OK);
        Array a = make_array(cx, TW_F32, &forms[cases[i].form]), b = make_array(cx, TW_F32, &row);
        tw_arg args[] = {{TW_ARG_BUFFER, 0, {.buffer = a.buffer}}, {TW_ARG_BUFFER, 0, {.buffer = b.buffer}}};
        int64_t grid[3];
        CHECK(tw_kernel_launch(k, NULL, NULL, args, 2) == TW_ERROR_ARGUMENT);
        CHECK_TEXT(tw_context_message(cx), cases[i].message);
        CHECK(tw_kernel_grid(k, args, 2, grid) == TW_ERROR_ARGUMENT); /* the same arrays, the same answer */
        CHECK_TEXT(tw_context_message(cx), cases[i].message);
        free_array(&a);
        free_array(&b);
        tw_kernel_destroy(k);
        tw_module_destroy(m);
    }
}

/* Extents of 1 in front of an array say nothing; a tensor of no elements is one. */
static void test_leading_ones(tw_context *cx) {
    static const Form ones = {"ones", 4, {1, 1, ROWS, COLUMNS}, {0}, false, false};
    static const char empty[] = "import tilelang.language as T\n"
                                "@T.prim_func\n"
                                "def empty(A: T.Tensor((0, 32), \"float32\")):\n"
                                "    with T.Kernel(1, threads=32) as bx:\n"
                                "        t = T.alloc_fragment((32,), \"float32\")\n"
                                "        T.clear(t)\n";
    char text[1000];
    snprintf(text, sizeof text, doors[1].text, "float", "float");
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    CHECK(tw_module_load_text(cx, doors[1].file, text, strlen(text), NULL, &m) == TW_OK);
    CHECK(tw_kernel_compile(m, NULL, NULL, &k) == TW_OK);
    Array a = make_array(cx, TW_F32, &ones), b = make_array(cx, TW_F32, &forms[0]);
    tw_arg args[] = {{TW_ARG_BUFFER, 0, {.buffer = a.buffer}}, {TW_ARG_BUFFER, 0, {.buffer = b.buffer}}};
    CHECK(tw_buffer_fill(b.buffer, "zeros", 0, 0) == TW_OK);
    CHECK(tw_kernel_launch(k, NULL, NULL, args, 2) == TW_OK && same_elements(&a, &b, 4));
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    m = NULL, k = NULL;
    Array none = make_array(cx, TW_F32, &(Form){"none", 2, {0, COLUMNS}, {0}, false, false});
    CHECK(tw_module_load_text(cx, "empty.py", empty, strlen(empty), NULL, &m) == TW_OK);
    CHECK(tw_kernel_compile(m, NULL, NULL, &k) == TW_OK);
    args[0].value.buffer = none.buffer;
    CHECK(tw_kernel_launch(k, NULL, NULL, args, 1) == TW_OK);
    CHECK_TEXT(tw_context_message(cx), "");
    args[0].value.buffer = a.buffer;
    CHECK(tw_kernel_launch(k, NULL, NULL, args, 1) == TW_ERROR_ARGUMENT);
    free_array(&none);
    free_array(&a);
    free_array(&b);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
}

/* Arrays that the kernel cannot take, whatever their shape. */
static void test_strangers(tw_context *cx) {
    tw_context *other = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    char text[1000];
    snprintf(text, sizeof text, doors[0].text, "float32", "float32", "float32");
    CHECK(tw_context_create(NULL, &other) == TW_OK);
    CHECK(tw_module_load_text(cx, doors[0].file, text, strlen(text), NULL, &m) == TW_OK);
    CHECK(tw_kernel_compile(m, NULL, NULL, &k) == TW_OK);
    Array a = make_array(cx, TW_F32, &forms[0]), b = make_array(other, TW_F32, &forms[0]);
    tw_arg args[] = {{TW_ARG_BUFFER, 0, {.buffer = a.buffer}}, {TW_ARG_BUFFER, 0, {.buffer = b.buffer}}};
    CHECK(tw_kernel_launch(k, NULL, NULL, args, 2) == TW_ERROR_ARGUMENT);
    CHECK_TEXT(tw_context_message(cx), "argument `B` of kernel `copy` was made from another context");
    args[1].kind = TW_ARG_NONE; /* no address stands for a tensor that has a shape */
    CHECK(tw_kernel_launch(k, NULL, NULL, args, 2) == TW_ERROR_ARGUMENT);
    CHECK_TEXT(tw_context_message(cx), "argument `B` of kernel `copy` must be an array");
    free_array(&a);
    free_array(&b);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    tw_context_destroy(other);
}

int main(void) {
    tw_context *cx = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    test_messages(cx);
    test_leading_ones(cx);
    test_strangers(cx);
    for (size_t d = 0; d < sizeof doors / sizeof *doors; d++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) test_door(cx, &doors[d], &ways[w], TW_F32);
    static const int32_t more[] = {TW_I1,  TW_I8,  TW_I16,  TW_I32, TW_I64,    TW_U8,
                                   TW_U16, TW_U32, TW_U64,  TW_F16, TW_BF16,   TW_F64,
                                   TW_F8E4M3};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) test_door(cx, &doors[0], &ways[0], more[i]);
    test_door(cx, &doors[0], &ways[2], TW_BF16);
    test_door(cx, &doors[1], &ways[2], TW_BF16);
    tw_context_destroy(cx);
    return check_done();
}
