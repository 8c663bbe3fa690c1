/* SPDX-License-Identifier: Apache-2.0 */
/* test_warm.c: a warm launch allocates nothing and touches no text.
 *
 * The C library's own malloc, free, strlen, strcmp, memchr, vsnprintf and their like are replaced in this program by ones that count;
 * launches of kernels through each door, with arrays and numbers of new values, must leave every count at 0. (Under a
 * sanitizer, which replaces them itself, only the context's allocator is counted.) */
#include "check.h"
#include "tilewright.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_long calls; /* of anything below, by any thread */
static atomic_bool counting;
static void count_one(void) {
    if (atomic_load_explicit(&counting, memory_order_relaxed)) atomic_fetch_add(&calls, 1);
}

#define REPLACED (!CHECK_SANITIZED)
#if REPLACED
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
void *malloc(size_t size) {
    count_one();
    return __libc_malloc(size);
}
void *calloc(size_t n, size_t size) {
    count_one();
    return __libc_calloc(n, size);
}
void *realloc(void *block, size_t size) {
    count_one();
    return __libc_realloc(block, size);
}
void free(void *block) {
    count_one();
    __libc_free(block);
}
/* Byte by byte through volatile, so that no compiler makes a call of itself out of the loop. */
size_t strlen(const char *s) {
    const volatile char *p = s;
    count_one();
    while (*p) p++;
    return (size_t)(p - (const volatile char *)s);
}
int strcmp(const char *a, const char *b) {
    const volatile unsigned char *p = (const volatile unsigned char *)a, *q = (const volatile unsigned char *)b;
    count_one();
    while (*p && *p == *q) p++, q++;
    return *p - *q;
}
int strncmp(const char *a, const char *b, size_t n) {
    const volatile unsigned char *p = (const volatile unsigned char *)a, *q = (const volatile unsigned char *)b;
    count_one();
    for (; n && *p && *p == *q; n--) p++, q++;
    return n ? *p - *q : 0;
}
int vsnprintf(char *restrict to, size_t size, const char *restrict format, va_list args) {
    static int (*real)(char *, size_t, const char *, va_list);
    void *symbol = real ? NULL : dlsym(RTLD_NEXT, "vsnprintf");
    count_one();
    if (symbol) memcpy(&real, &symbol, sizeof real);
    return real(to, size, format, args);
}
#endif

static void *counted_resize(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user, (void)old_size;
    count_one();
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}

/* Launches the kernel with numbers that change; true if nothing was counted. */
static void warm(tw_kernel *k, const char *name, tw_arg *args, size_t count, size_t number, const int64_t *grid) {
    CHECK(tw_kernel_launch(k, NULL, grid, args, count) == TW_OK);
    CHECK(tw_kernel_launch(k, NULL, grid, args, count) == TW_OK);
    tw_status status = TW_OK;
    atomic_store(&calls, 0);
    atomic_store(&counting, true);
    for (int i = 0; i < 100 && status == TW_OK; i++) {
        args[number].value.i = 900 + i;
        status = tw_kernel_launch(k, NULL, grid, args, count);
    }
    atomic_store(&counting, false);
    CHECK(status == TW_OK);
    if (calls) fprintf(stderr, "%s: %ld calls in 100 launches\n", name, (long)calls);
    CHECK(calls == 0);
}

static void test_vector_add(tw_context *cx, const char *target) {
    static const char text[] = "import triton\nimport triton.language as tl\n"
                               "@triton.jit\ndef k(x_ptr, y_ptr, n, B: tl.constexpr):\n"
                               "    o = tl.program_id(0) * B + tl.arange(0, B)\n"
                               "    tl.store(y_ptr + o, tl.load(x_ptr + o, mask=o < n) + 1.0, mask=o < n)\n";
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_buffer *x = NULL, *y = NULL;
    int64_t n = 1000, grid[3] = {8, 1, 1};
    CHECK(tw_buffer_create(cx, TW_F32, 1, &n, NULL, &x) == TW_OK && tw_buffer_create(cx, TW_F32, 1, &n, NULL, &y) == TW_OK);
    CHECK(tw_module_load_text(cx, "k.py", text, strlen(text), NULL, &m) == TW_OK);
    tw_arg args[] = {{TW_ARG_BUFFER, 0, {.buffer = x}}, {TW_ARG_BUFFER, 0, {.buffer = y}}, {TW_ARG_INT, 0, {.i = 1000}}, {TW_ARG_INT, 0, {.i = 128}}};
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target, options.args = args, options.arg_count = 4;
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_OK);
    if (k) warm(k, target, args, 4, 2, grid);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    tw_buffer_destroy(x);
    tw_buffer_destroy(y);
}

/* Tensors with extents, scratch memory, a grid of the kernel's own. */
static void test_tensors(tw_context *cx) {
    static const char text[] = "kernel @k(%X: tensor<f32,2>, %Y: tensor<f32,2>, %n: i32) {\n"
                               "  grid { %r = extent<0> %X ; %g = cast %r : i32 ; yield %g }\n"
                               "  %p = program_id<0> ; %a = tload %X, [%p, 0] : f32[64] ; %s = reduce<add, axis=0> %a\n"
                               "  %b = div %a, %s ; %f = flip<axis=0> %b ; %c = scan<add, axis=0> %f ; tstore %Y, [%p, 0], %c\n}\n";
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_buffer *x = NULL, *y = NULL;
    int64_t shape[2] = {30, 60};
    CHECK(tw_buffer_create(cx, TW_F32, 2, shape, NULL, &x) == TW_OK && tw_buffer_create(cx, TW_F32, 2, shape, NULL, &y) == TW_OK);
    CHECK(tw_buffer_fill(x, "rand", 0, 1) == TW_OK);
    tw_status status = tw_module_load_text(cx, "k.ir", text, strlen(text), NULL, &m);
    if (status == TW_OK) status = tw_kernel_compile(m, NULL, NULL, &k);
    if (status != TW_OK) fprintf(stderr, "%s\n", tw_context_message(cx));
    CHECK(status == TW_OK);
    tw_arg args[] = {{TW_ARG_BUFFER, 0, {.buffer = x}}, {TW_ARG_BUFFER, 0, {.buffer = y}}, {TW_ARG_INT, 0, {.i = 1}}};
    if (k) warm(k, "tensors", args, 3, 2, NULL);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    tw_buffer_destroy(x);
    tw_buffer_destroy(y);
}

int main(void) {
    tw_allocator allocator = {counted_resize, NULL};
    for (int threads = 1; threads <= 2; threads++) {
        tw_context *cx = NULL;
        tw_context_options options;
        tw_context_options_init(&options);
        options.allocator = &allocator;
        options.threads = threads;
        CHECK(tw_context_create(&options, &cx) == TW_OK);
        test_vector_add(cx, "cpu");
        test_tensors(cx);
        tw_context_destroy(cx);
    }
    /* The counters count: else all of the above says nothing. */
    atomic_store(&calls, 0);
    atomic_store(&counting, true);
    char *volatile block = malloc(3);
    free(block);
    atomic_store(&counting, false);
    CHECK(calls == (REPLACED ? 2 : 0));
    return check_done();
}
