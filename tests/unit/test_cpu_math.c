/* SPDX-License-Identifier: Apache-2.0 */
/* test_cpu_math.c: the functions of prelude/vmath.h, through kernels of the CPU target, against
 * libm's double: largest errors in ulp over a million floats of all sizes, and the edge cases. */
#include "check.h"
#include "tilewright.h"

#include <math.h>
#include <stdint.h>

enum { N = 1 << 20, BLOCK = 4096 };

static const char text[] =
    "kernel @f(%x: *f32, %a: *f32, %b: *f32, %c: *f32, %d: *f32, %e: *f32, %g: *f32) {\n"
    "  %p = program_id<0> ; %o = mul %p, 4096 ; %i = iota<0, 4096> ; %j = add %i, %o\n"
    "  %xp = ptr_add %x, %j ; %v = load %xp\n"
    "  %r0 = exp %v ; %p0 = ptr_add %a, %j ; store %p0, %r0\n"
    "  %r1 = exp2 %v ; %p1 = ptr_add %b, %j ; store %p1, %r1\n"
    "  %r2 = log %v ; %p2 = ptr_add %c, %j ; store %p2, %r2\n"
    "  %r3 = log2 %v ; %p3 = ptr_add %d, %j ; store %p3, %r3\n"
    "  %r4 = tanh %v ; %p4 = ptr_add %e, %j ; store %p4, %r4\n"
    "  %r5 = erf %v ; %p5 = ptr_add %g, %j ; store %p5, %r5\n}\n";

typedef struct Function {
    const char *name;
    double (*exact)(double);
    double bound; /* ulp */
} Function;
static const Function functions[] = {{"exp", exp, 1.1},   {"exp2", exp2, 1.1}, {"log", log, 1.1},
                                     {"log2", log2, 1.7}, {"tanh", tanh, 1.5}, {"erf", erf, 1.3}};

/* |got - want| in units of want's last place as a float. */
static double error_of(float got, double want) {
    float near = (float)want;
    if (isnan(want)) return isnan(got) ? 0 : INFINITY;
    if (isinf(near) || isinf(got))
        return near == got || fabsf(got) == 0x1.fffffep127f ? 0 : INFINITY;
    if (want == 0) return got == 0 && !signbit(got) == !signbit(want) ? 0 : INFINITY;
    int exponent = ilogb(want);
    return fabs((double)got - want) / ldexp(1, (exponent < -126 ? -126 : exponent) - 23);
}

int main(void) {
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_arg args[7] = {{0}};
    int64_t shape[1] = {N}, grid[3] = {N / BLOCK, 1, 1};
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    CHECK(tw_module_load_text(cx, "math.ir", text, strlen(text), NULL, &m) == TW_OK);
    for (int i = 0; i < 7; i++) {
        args[i].kind = TW_ARG_BUFFER;
        CHECK(tw_buffer_create(cx, TW_F32, 1, shape, NULL, &args[i].value.buffer) == TW_OK);
    }
    float *x = tw_buffer_data(args[0].value.buffer);
    static const float edges[] = {0.0f,    -0.0f,     INFINITY, -INFINITY, NAN,     1.0f,
                                  -1.0f,   0x1p-149f, 88.72f,   88.73f,    -87.4f,  -103.97f,
                                  -104.0f, -1e30f,    1e30f,    128.0f,    127.99f, -149.0f,
                                  -150.0f, 0x1p-126f, 0.625f,   20.0f,     4.0f,    -4.0f};
    for (uint32_t i = 0; i < N; i++) {
        uint32_t bits = i * 4096u + i % 4093u; /* all exponents and signs */
        memcpy(&x[i], &bits, 4);
        if (i % 2) x[i] = ((float)i / N - 0.5f) * 40.0f; /* where functions change */
    }
    memcpy(x, edges, sizeof edges);
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.args = args, options.arg_count = 7;
    tw_status status = tw_kernel_compile(m, NULL, &options, &k);
    if (status == TW_OK) status = tw_kernel_launch(k, NULL, grid, args, 7);
    if (status != TW_OK) fprintf(stderr, "%s\n", tw_context_message(cx));
    CHECK(status == TW_OK);
    for (int f = 0; f < 6 && status == TW_OK; f++) {
        const float *y = tw_buffer_data(args[f + 1].value.buffer);
        double worst = 0;
        int at = 0;
        for (int i = 0; i < N; i++) {
            double error = error_of(y[i], functions[f].exact(x[i]));
            if (error > worst) worst = error, at = i;
        }
        if (worst > functions[f].bound)
            fprintf(stderr, "%s(%.9g) = %.9g, exactly %.9g: %.2f ulp\n", functions[f].name, x[at],
                    y[at], functions[f].exact(x[at]), worst);
        CHECK(worst <= functions[f].bound);
    }
    tw_kernel_destroy(k);
    for (int i = 0; i < 7; i++) tw_buffer_destroy(args[i].value.buffer);
    tw_module_destroy(m);
    tw_context_destroy(cx);
    return check_done();
}
