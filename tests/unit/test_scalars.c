/* SPDX-License-Identifier: Apache-2.0 */
/* test_scalars.c: what the launch computes of integers and addresses is what the interpreter computes.
 *
 * Every op that the table says can be computed at launch, on every integer type and on awkward numbers; the analysis
 * that promises a launch can compute a value (fact_at_launch) and the program that computes it know the same ops. */
#include "analysis/facts.h"
#include "interp_bench.h"
#include "ir/element.h"
#include "runtime/compile/scalars.h"

#include <inttypes.h>

/* One launch of @k(%X: *i64, %a, %b: T, ..) that stores %w; the program for %w must give the same number. */
static void compare(const char *text, int64_t a, int64_t b) {
    Bench bench;
    int64_t stored = 0, computed = 0;
    uint64_t slots[3] = {(uint64_t)(uintptr_t)&stored, (uint64_t)a, (uint64_t)b};
    bench_open(&bench, text, NULL);
    const Kernel *k = bench.kernel;
    bench_buffer(&bench, "X", &stored, sizeof stored, true);
    bench_int(&bench, a);
    bench_int(&bench, b);
    bool ran = bench_run(&bench, 5, 1, 1);
    CHECK(ran);
    if (!ran) fprintf(stderr, "%s\n", bench_errors(&bench));
    RunParam params[3];
    for (int i = 0; i < 3; i++)
        params[i] = (RunParam){.name = ir_value(k, k->body->args[i])->name, .type = ir_type(k, k->body->args[i]), .slot = i};
    Ref wanted = REF_NONE;
    for (const Op *op = k->body->first; op; op = op->next)
        if (op->code == OP_STORE) wanted = op_operand(op, 1);
    const char *why = NULL;
    ScalarProgram *program = scalars_compile(k, &wanted, 1, params, 3, &bench.arena, &why);
    CHECK(program != NULL);
    if (!program) fprintf(stderr, "%s: %s\n", text, why);
    if (program) scalars_run(program, slots, (int64_t[3]){5, 1, 1}, &computed);
    CHECK(computed == stored);
    if (computed != stored)
        fprintf(stderr, "%s\n  a = %" PRId64 ", b = %" PRId64 ": launch %" PRId64 ", interpreter %" PRId64 "\n", text, a, b, computed,
                stored);
    if (!strstr(text, "num_programs")) CHECK(fact_at_launch(k, wanted));
    bench_close(&bench);
}

static void test_ops(void) {
    static const int64_t numbers[] = {0, 1, -1, 2, 7, -8, 31, 33, 100, -100, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    static const Elem elems[] = {EL_I32, EL_I64, EL_U32, EL_I8, EL_U8, EL_U64};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    int ops = 0;
    for (Opcode code = 1; code < OP_COUNT; code++) {
        if (!op_has(code, TRAIT_LAUNCH) || !op_has(code, TRAIT_ELEMENTWISE)) continue;
        ops++;
        for (size_t e = 0; e < sizeof elems / sizeof *elems; e++) {
            char text[512], made[200];
            const char *name = op_info[code].mnemonic, *type = elem_info[elems[e]].text;
            switch (code) {
            case OP_CMP: snprintf(made, sizeof made, "%%v = cmp<lt> %%a, %%b"); break;
            case OP_SELECT: snprintf(made, sizeof made, "%%c = cmp<gt> %%a, %%b ; %%v = select %%c, %%a, %%b"); break;
            case OP_CAST: snprintf(made, sizeof made, "%%n = cast %%a : i16 ; %%v = cast %%n : u32"); break;
            case OP_PTR_ADD:
                snprintf(made, sizeof made, "%%p = ptr_add %%X, %%a ; %%q = ptr_add %%X, %%b ; %%v = cmp<lt> %%p, %%q");
                break;
            case OP_NEG:
            case OP_ABS:
            case OP_NOT: snprintf(made, sizeof made, "%%v = %s %%a", name); break;
            default: snprintf(made, sizeof made, "%%v = %s %%a, %%b", name); break;
            }
            snprintf(text, sizeof text, "kernel @k(%%X: *i64, %%a, %%b: %s) { %s ; %%w = cast %%v : i64 ; store %%X, %%w }", type, made);
            for (int n = 0; n < NUMBERS * NUMBERS; n++)
                compare(text, elem_wrap(elems[e], numbers[n / NUMBERS]), elem_wrap(elems[e], numbers[n % NUMBERS]));
        }
    }
    CHECK(ops >= 20);
}

/* Which of two addresses, logic of conditions, and the grid. */
static void test_choices(void) {
    compare("kernel @k(%X: *i64, %a, %b: i64) { %y = ptr_add %X, %b ; %c = cmp<ne> %a, 0 ; %p = select %c, %y, %X\n"
            "  %d = cmp<eq> %p, %y ; %n = not %d ; %w = cast %n : i64 ; store %X, %w }", 1, 8);
    compare("kernel @k(%X: *i64, %a, %b: i64) { %y = ptr_add %X, %b ; %c = cmp<ne> %a, 0 ; %p = select %c, %y, %X\n"
            "  %d = cmp<eq> %p, %y ; %n = not %d ; %w = cast %n : i64 ; store %X, %w }", 0, 8);
    compare("kernel @k(%X: *i64, %a, %b: i64) { %n = num_programs<0> ; %m = mul %n, 3 ; %w = cast %m : i64 ; store %X, %w }", 0, 0);
}

int main(void) {
    test_ops();
    test_choices();
    return check_done();
}
