/* SPDX-License-Identifier: Apache-2.0 */
/* test_tilec_complex.c: operations on complex tiles of Tile C against complex numbers of C, on interp and cpu: in registers
 * and shared memory, through arrays of complex tiles at run-time places, structs of them and parts. */
#include "check.h"
#include "tilewright.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

enum { R = 32, N = R * R };

static tw_context *cx;

typedef enum Form { MAP, PRODUCT, TURNED } Form;
typedef struct Case {
    const char *body; /* of a warp: from a and b to z */
    Form form;
    double complex (*of)(double complex a, double complex b); /* MAP */
    int turns;                                                /* PRODUCT: 1 A^T, 2 B^T, 4 onto a, 8 as bf16 */
} Case;

static double complex add(double complex a, double complex b) { return a + b; }
static double complex sub(double complex a, double complex b) { return a - b; }
static double complex mul(double complex a, double complex b) { return a * b; }
static double complex quotient(double complex a, double complex b) { return a / b; }
static double complex power(double complex a, double complex b) { return (void)b, cexp(a); }
static double complex turned_round(double complex a, double complex b) { return (void)b, conj(a); }
static double complex minus(double complex a, double complex b) { return (void)b, -a; }
static double complex by_real(double complex a, double complex b) { return a * creal(b); }
static double complex three(double complex a, double complex b) { return (void)b, a * 3; }
static double complex third(double complex a, double complex b) { return (void)b, a / 4; }
static double complex none(double complex a, double complex b) { return (void)a, (void)b, 0; }
static double complex same(double complex a, double complex b) { return (void)b, a; }

static const Case cases[] = {
    {"add(&z, &a, &b);", MAP, add, 0},
    {"sub(&z, &a, &b);", MAP, sub, 0},
    {"mul(&z, &a, &b);", MAP, mul, 0},
    {"copy(&z, &a); mul(&z, &z, &b);", MAP, mul, 0},
    {"div(&z, &a, &b);", MAP, quotient, 0},
    {"exp(&z, &a);", MAP, power, 0},
    {"conj(&z, &a);", MAP, turned_round, 0},
    {"neg(&z, &a);", MAP, minus, 0},
    {"mul(&z, &a, &b.real);", MAP, by_real, 0},
    {"mul(&z, &a, 3);", MAP, three, 0},
    {"div(&z, &a, 4);", MAP, third, 0},
    {"zero(&z);", MAP, none, 0},
    {"copy(&z.real, &a.real); copy(&z.imag, &a.imag);", MAP, same, 0},
    {"cst_fl(32, 32) s; store(&s, &a); load(&z, &s);", MAP, same, 0},
    {"cst_fl(32, 32) s[2]; store(&s[0], &b); store(&s[g.n], &a); load(&z, &s[g.n]); add(&z, &z, &b); load(&a, &s[1 - g.n]); sub(&z, &z, &a);",
     MAP, same, 0},
    {"struct { cst_fl(32, 32) u, v; } s[3]; store(&s[g.n].v, &a); store(&s[g.n].u, &b); load(&z, &s[1].v);", MAP, same, 0},
    {"cst_fl(32, 32) s; zero(&s); store(&s, &a); cst_fl(16, 32) *h = subtile(cst_fl(16, 32), &s, 1, 0); zero(h); "
     "load(h, g.a, at(1, 0)); load(&z, &s);", MAP, same, 0},
    {"transpose_sep(&z, &a);", TURNED, NULL, 0},
    {"copy(&z, &a); transpose_inplace(&z);", TURNED, NULL, 0},
    {"mm_AB(&z, &x, &y);", PRODUCT, NULL, 8},
    {"mm_AtB(&z, &x, &y);", PRODUCT, NULL, 8 | 1},
    {"mm_ABt(&z, &x, &y);", PRODUCT, NULL, 8 | 2},
    {"mm_AtBt(&z, &x, &y);", PRODUCT, NULL, 8 | 3},
    {"copy(&z, &a); mma_AB(&z, &x, &y);", PRODUCT, NULL, 8 | 4},
    {"mma_ABt(&z, &x, &y, &a);", PRODUCT, NULL, 8 | 4 | 2},
    {"zero(&z); mma_AtB(&z, &x, &y);", PRODUCT, NULL, 8 | 1},
};

static double complex expected(const Case *c, const double complex *a, const double complex *b, int i) {
    int row = i / R, col = i % R;
    if (c->form == MAP) return c->of(a[i], b[i]);
    if (c->form == TURNED) return a[col * R + row];
    double complex sum = c->turns & 4 ? a[i] : 0;
    for (int k = 0; k < R; k++)
        sum += a[c->turns & 1 ? k * R + row : row * R + k] * b[c->turns & 2 ? col * R + k : k * R + col];
    return sum;
}

static void check_case(const Case *c, const char *target) {
    char text[2000];
    double complex a[N], b[N];
    tw_buffer *buffers[6];
    int64_t extent[2] = {R, R}, grid[3] = {1, 1, 1};
    uint64_t state = 7;
    snprintf(text, sizeof text,
             "#include \"tile.h\"\ntypedef struct { cgl(gl(float, 1, 1, -1, -1)) a, b, o; int n; } G;\n"
             "tile_kernel(32, 1) void f(G g) {\n    crt_fl(32, 32) a, b, z;\n    crt_bf(32, 32) x, y;\n"
             "    load(&a, g.a, at(0, 0)); load(&b, g.b, at(0, 0)); copy(&x, &a); copy(&y, &b);\n    %s\n    store(g.o, &z, at(0, 0));\n}\n",
             c->body);
    for (int i = 0; i < 6; i++) {
        CHECK(tw_buffer_create(cx, TW_F32, 2, extent, NULL, &buffers[i]) == TW_OK);
        for (int j = 0; j < N; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            ((float *)tw_buffer_data(buffers[i]))[j] = (float)((int)(state >> 40) % 64 - 32) / 16 + 0.03125f; /* exact in bf16 */
        }
    }
    for (int j = 0; j < N; j++) {
        a[j] = ((float *)tw_buffer_data(buffers[0]))[j] + I * ((float *)tw_buffer_data(buffers[1]))[j];
        b[j] = ((float *)tw_buffer_data(buffers[2]))[j] + I * ((float *)tw_buffer_data(buffers[3]))[j];
    }
    tw_arg args[7];
    for (int i = 0; i < 6; i++) args[i] = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = buffers[i]};
    args[6] = (tw_arg){.kind = TW_ARG_INT, .value.i = 1};
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target;
    options.args = args;
    options.arg_count = 7;
    options.verify_each = 1;
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    tw_status status = tw_module_load_text(cx, "k.tile.c", text, strlen(text), NULL, &module);
    if (status == TW_OK) status = tw_kernel_compile(module, NULL, &options, &kernel);
    if (status == TW_OK) status = tw_kernel_launch(kernel, NULL, grid, args, 7);
    if (status != TW_OK) fprintf(stderr, "%s: %s\n", c->body, tw_context_message(cx));
    CHECK(status == TW_OK);
    for (int i = 0; i < N && status == TW_OK; i++) {
        double complex want = expected(c, a, b, i);
        double complex got = ((float *)tw_buffer_data(buffers[4]))[i] + I * ((float *)tw_buffer_data(buffers[5]))[i];
        if (cabs(got - want) <= 2e-5 * (1 + cabs(want))) continue;
        fprintf(stderr, "%s on %s: element %d: %g + %gi, not %g + %gi\n", c->body, target, i, creal(got), cimag(got), creal(want), cimag(want));
        CHECK(!"a complex operation is wrong");
        break;
    }
    tw_kernel_destroy(kernel);
    tw_module_destroy(module);
    for (int i = 0; i < 6; i++) tw_buffer_destroy(buffers[i]);
}

int main(void) {
    if (tw_context_create(NULL, &cx) != TW_OK) return 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_case(&cases[i], "interp");
        check_case(&cases[i], "cpu");
    }
    tw_context_destroy(cx);
    return check_done();
}
