/* SPDX-License-Identifier: Apache-2.0 */
/* test_tt_mutants.c: kernels that break the rules of a core are found, with their own line and the rule.
 *
 * Texts: every call of the emitted kernels of two programs (a matmul whose loads cores share, a softmax of f32) is left out once, and
 * calls that hand something over are made twice; each such kernel must fail on the model, under one of several orders of landing, with
 * the name and line of the kernel in the message. All mutants of a kernel are one text with a switch, so that they compile at once.
 * Typed calls: every step of the same programs is left out once; the linter must refuse it. */
#include "check.h"
#include "tt_harness.h"
#include "target/tenstorrent/tt_program.h"

static const char softmax[] =
    "kernel @s(%X, %Y: tensor<f32,2>) {\n"
    " %M = extent<0> %X ; %nm = cdiv %M, 32\n"
    " %in = ring<from=load, to=compute, slots=2> : {x: f32[32,64]} ; %out = ring<from=compute, to=store, slots=2> : {y: f32[32,64]}\n"
    " tasks %m in %nm {\n %m0 = mul %m, 32\n"
    "  role load { %s = acquire %in ; %x = tload %X, [%m0, 0] : f32[32,64] ; put %s.x, %x ; commit %in, %s }\n"
    "  role compute { %s = wait %in ; %x = get %s.x ; %t = reduce<max, axis=1> %x ; %t2 = reshape %t : f32[32,1]\n"
    "   %d = sub %x, %t2 ; %e = exp %d ; %n = reduce<add, axis=1> %e ; %n2 = reshape %n : f32[32,1] ; %y = div %e, %n2\n"
    "   release %in, %s ; %q = acquire %out ; put %q.y, %y ; commit %out, %q }\n"
    "  role store { %q = wait %out ; %y = get %q.y ; tstore %Y, [%m0, 0], %y ; release %out, %q }\n }\n}\n";

enum { PROGRAMS = 2, MOST_MUTANTS = 400, SEEDS = 8 };
static const char *const texts[PROGRAMS] = {tt_matmul, softmax};

/* Calls whose absence the model must see; the others compute numbers, or are made twice without harm. */
static const char *const needed[] = {"cb_", "tile_regs_", "noc_async_read", "tw_read_page", "noc_async_write_barrier", "tw_share", "tw_write_scaler",
                                     "copy_tile", "matmul_", "reduce_", "unary_bcast_init", "pack_tile", "compute_kernel_hw_startup",
                                     "exp_tile_init", "sub_binary_tile_init", "div_binary_tile_init", "add_", "reconfig_", "pack_reconfig"};
static const char *const twice[] = {"cb_push_back", "cb_pop_front", "tile_regs_", "pack_tile("};

typedef struct Mutant {
    int program, kernel, number, line;
    bool doubled;
    char text[120];
} Mutant;
static Mutant mutants[MOST_MUTANTS];
static int mutant_count;

static bool begins(const char *line, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strncmp(line, names[i], strlen(names[i])) == 0) return true;
    return false;
}

static void note_mutant(int program, int kernel, int line, bool doubled, const char *text, size_t length) {
    Mutant *m = &mutants[mutant_count];
    *m = (Mutant){program, kernel, mutant_count, line, doubled, ""};
    snprintf(m->text, sizeof m->text, "%.*s", (int)length, text);
    if (++mutant_count == MOST_MUTANTS) abort();
}

/* The kernel with a switch: each line that is a call may be left out or made twice. */
static char *with_switch(Arena *arena, int program, int kernel, const char *text) {
    Text out = text_new(arena);
    int number = 1;
    for (const char *line = text; *line; number++) {
        size_t length = strcspn(line, "\n"), indent = strspn(line, " ");
        const char *call = line + indent;
        size_t size = length - indent;
        bool is_call = size > 2 && call[size - 1] == ';' && memchr(call, '(', size);
        if (strncmp(call, "void kernel_main", 16) == 0)
            text_add(&out, "extern \"C\" { __attribute__((visibility(\"default\"))) int tw_mutant_%d_%d = -1; } ", program, kernel);
        if (is_call && begins(call, twice, sizeof twice / sizeof *twice)) {
            text_add(&out, "if (tw_mutant_%d_%d == %d) { %.*s } ", program, kernel, mutant_count, (int)size, call);
            note_mutant(program, kernel, number, true, call, size);
        }
        if (is_call && begins(call, needed, sizeof needed / sizeof *needed)) {
            text_add(&out, "if (tw_mutant_%d_%d != %d) ", program, kernel, mutant_count);
            note_mutant(program, kernel, number, false, call, size);
        }
        text_add(&out, "%.*s\n", (int)size, call);
        line += length + (line[length] == '\n');
    }
    return out.at;
}

/* Both programs take tensors: three of bf16, two of f32. */
static bool run(TtJob *job, int program, const KernelSet *set, uint64_t seed, TtResult *result) {
    static uint16_t matrices[3][96 * 96];
    static float rows[2][96 * 64];
    static const int64_t square[2] = {96, 96}, strides[2] = {96, 1}, wide[2] = {96, 64}, wide_strides[2] = {64, 1};
    TtValue args[3];
    for (int i = 0; i < 3; i++) {
        bool is_square = program == 0;
        args[i] = (TtValue){is_square ? (uint64_t)(uintptr_t)matrices[i] : (uint64_t)(uintptr_t)rows[i % 2],
                            is_square ? (int64_t)sizeof matrices[0] : (int64_t)sizeof rows[0], is_square ? square : wide,
                            is_square ? strides : wide_strides};
    }
    for (int i = 0; i < 96 * 64; i++) rows[0][i] = (float)(i * 7 % 13 - 6) / 8;
    return tt_job_run_seeded(job, set, args, (const int64_t[]){1, 1, 1}, program, seed, result); /* rows: all on one core */
}

static int *switch_of(const KernelSet *set, const TtJob *job, int program, int kernel) {
    char symbol[40];
    snprintf(symbol, sizeof symbol, "tw_mutant_%d_%d", program, kernel);
    return dlsym(set->library[job->number[kernel] % BATCHES], symbol);
}

static void try_mutant(const Mutant *m, TtJob *job, const KernelSet *set) {
    static TtResult result;
    int *chosen = switch_of(set, job, m->program, m->kernel);
    char place[40];
    bool found = false;
    *chosen = m->number;
    for (uint64_t seed = 0; seed < SEEDS && !found; seed++) {
        bool good = run(job, m->program, set, seed, &result);
        snprintf(place, sizeof place, "%s:", tt_file_name(m->kernel));
        found = !good && strstr(result.problem, ".cpp:") && (strstr(result.problem, "deadlock") || strstr(result.problem, place));
    }
    *chosen = -1;
    if (!found)
        fprintf(stderr, "not found: program %d, %s:%d %s: %s\n%s\n", m->program, tt_file_name(m->kernel), m->line,
                m->doubled ? "twice" : "without", m->text, result.problem ? result.problem : "it runs");
    CHECK(found);
}

/* ------------------------------------------------------------------------------------------------- typed calls */

typedef struct Change {
    int kernel, left; /* the step to be left out: so many behind the first */
    int more;         /* pages of a part that one too many, or too few, is handed on of: instead */
    TtStepKind kind;
    bool done;
} Change;

static bool matters(const TtStep *step) {
    switch (step->kind) {
    case STEP_CB:
    case STEP_BARRIER:
    case STEP_ASK:
    case STEP_SHARE:
    case STEP_SHOW:
    case STEP_TAKE:
    case STEP_POINTER:
    case STEP_SETUP:
    case STEP_DST:
    case STEP_STARTUP: return true;
    case STEP_MOVE: return step->as.unit == UNIT_COPY;
    default: return false;
    }
}

static void leave_out(TtBlock *block, Change *c) {
    for (size_t i = 0; i < block->count && !c->done; i++) {
        TtStep *step = &block->at[i];
        leave_out(&step->body, c);
        if (c->done || !matters(step) || (c->more && !step->part) || c->left--) continue;
        c->kind = step->kind;
        c->done = true;
        step->part += (uint32_t)c->more;
        if (c->more) return;
        step->kind = STEP_LINE;
        step->text = ";";
    }
}

static void change(TtCode *code, void *user) {
    Change *c = user;
    leave_out(&code[c->kernel].start, c);
    leave_out(&code[c->kernel].body, c);
}

static int test_linter(void) {
    int count = 0, parts = 0;
    for (int run = 0; run < PROGRAMS * 3; run++) /* without a step; with a page more or less in a part */
        for (int kernel = 0; kernel < TT_KERNELS; kernel++)
            for (int at = 0;; at++) {
                static TtJob job;
                int program = run % PROGRAMS, more = run < PROGRAMS ? 0 : run < 2 * PROGRAMS ? 1 : -1;
                Change c = {.kernel = kernel, .left = at, .more = more};
                TtOptions options = {.fidelity = 4, .change = change, .change_user = &c};
                tt_job_start(&job, texts[program], "", 2, options);
                bool found = strstr(job.messages, "could not be proved to keep the rules of a core") != NULL;
                if (c.done && !found) fprintf(stderr, "program %d, %s: step %d, of kind %d\n", program, tt_file_name(kernel), at, c.kind);
                if (c.done) CHECK(found);
                tt_job_end(&job);
                if (!c.done) break;
                count++;
                parts += more != 0;
            }
    CHECK(parts > 0);
    return count;
}

int main(void) {
    static TtJob jobs[PROGRAMS];
    static KernelSet set;
    static TtResult result;
    const char *compiler = cxx_compiler();
    int steps = test_linter();
    CHECK(steps >= 70);
    if (!compiler) return printf("skipped: no C++ compiler\n"), check_done();
    bool good = kernels_start(&set);
    for (int i = 0; i < PROGRAMS && good; i++) {
        tt_job_start(&jobs[i], texts[i], "", 2, tt_options_default);
        if (!jobs[i].plan) fprintf(stderr, "%s\n", jobs[i].messages);
        good = jobs[i].plan != NULL;
        for (int k = 0; k < TT_KERNELS && good; k++) jobs[i].plan->source[k] = with_switch(&jobs[i].arena, i, k, jobs[i].plan->source[k]);
        if (good) tt_job_add(&jobs[i], &set);
    }
    good = good && kernels_build(&set, compiler);
    CHECK(good);
    for (int i = 0; i < PROGRAMS && good; i++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            bool clean = run(&jobs[i], i, &set, seed, &result);
            if (!clean) fprintf(stderr, "as emitted: %s\n", result.problem);
            CHECK(clean);
        }
    for (int i = 0; i < mutant_count && good; i++) try_mutant(&mutants[i], &jobs[mutants[i].program], &set);
    CHECK(mutant_count >= 70);
    printf("%d mutants of texts, %d of typed calls\n", mutant_count, steps);
    for (int i = 0; i < PROGRAMS; i++) tt_job_end(&jobs[i]);
    kernels_end(&set);
    return check_done();
}
