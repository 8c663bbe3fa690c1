/* SPDX-License-Identifier: Apache-2.0 */
/* tt_harness.h: emits kernels in ring form for Tenstorrent, compiles them all at once, runs them on
 * the model. */
#ifndef TESTS_TT_HARNESS_H
#define TESTS_TT_HARNESS_H
#include "base/numeric.h"
#include "ir/element.h"
#include "tensix_harness.h"
#include "runtime/compile/scalars.h"
#include "target/tenstorrent/tt.h"

#include <math.h>

/* A matmul of blocks of 32 x 32; cores share its loads. */
static const char tt_matmul[] __attribute__((unused)) =
    "kernel @t(%A, %B, %C: tensor<bf16,2>) {\n"
    " %M = extent<0> %A ; %N = extent<1> %B ; %K = extent<1> %A ; %nm = cdiv %M, 32 ; %nn = cdiv %N, 32 ; %nk = cdiv %K, 32\n"
    " %in = ring<from=load, to=compute, slots=2> : {a: bf16[32,32], b: bf16[32,32]}\n"
    " %out = ring<from=compute, to=store, slots=2> : {c: bf16[32,32]}\n"
    " tasks %m, %n in %nm, %nn {\n %m0 = mul %m, 32 ; %n0 = mul %n, 32\n"
    "  role load { for %k = 0, %nk, 1 { %k0 = mul %k, 32 ; %s = acquire %in\n"
    "    %a = tload %A, [%m0, %k0] : bf16[32,32] ; put %s.a, %a ; %b = tload %B, [%k0, %n0] : bf16[32,32] ; put %s.b, %b\n"
    "    commit %in, %s } }\n"
    "  role compute { %z = splat 0.0 : f32[32,32]\n %c = for %k = 0, %nk, 1 (%p = %z) {\n"
    "    %s = wait %in ; %a = get %s.a ; %b = get %s.b ; %d = dot<instr=tensix> %a, %b, %p ; release %in, %s ; yield %d }\n"
    "    %h = cast %c : bf16[32,32] ; %q = acquire %out ; put %q.c, %h ; commit %out, %q }\n"
    "  role store { %q = wait %out ; %h = get %q.c ; tstore %C, [%m0, %n0], %h ; release %out, %q }\n }\n}\n";

/* One compile: everything of it lives in its arena. */
typedef struct TtJob {
    Trap trap;
    Arena arena, scratch;
    SourceMap sources;
    Diag diag;
    const Kernel *kernel;
    TtPlan *plan;   /* NULL: refused, see messages */
    char *messages; /* as the user reads them */
    int number[TT_KERNELS];
    ScalarProgram *numbers; /* values of the plan's numbers */
    RunParam *params;
    uint64_t *slots;
    int64_t *values;
} TtJob;

/* The text with $T and $S replaced. */
static inline char *tt_expand(Arena *arena, const char *text, const char *type, int slots) {
    Text t = text_new(arena);
    for (const char *s = text; *s; s++) {
        if (*s == '$' && s[1] == 'T')
            text_add(&t, "%s", type), s++;
        else if (*s == '$' && s[1] == 'S')
            text_add(&t, "%d", slots), s++;
        else
            text_add_char(&t, *s);
    }
    return t.at;
}

/* Prepares the numbers that a launch computes, as the runtime does. */
static inline void tt_job_numbers(TtJob *job, const Kernel *k) {
    int count = k->body->arg_count, slot = 0, wanted = (int)job->plan->numbers.count;
    job->params = ARENA_ARRAY(&job->arena, RunParam, count);
    for (int i = 0; i < count; i++) {
        const Value *v = ir_value(k, k->body->args[i]);
        job->params[i] = (RunParam){.name = v->name, .type = v->type, .slot = slot};
        slot += v->type->kind == TY_TENSOR ? 1 + 2 * v->type->rank : 1;
    }
    job->slots = ARENA_ARRAY(&job->arena, uint64_t, slot);
    job->values = ARENA_ARRAY(&job->arena, int64_t, wanted);
    Ref *refs = ARENA_ARRAY(&job->arena, Ref, wanted);
    for (int i = 0; i < wanted; i++) {
        const TtNumber *n = &job->plan->numbers.at[i];
        refs[i] = n->kind == NUMBER_VALUE ? n->value : k->body->args[n->arg];
    }
    const char *why = NULL;
    job->numbers = scalars_compile(k, refs, wanted, job->params, count, &job->arena, &why);
    if (!job->numbers) fprintf(stderr, "numbers: %s\n", why);
}

static inline void tt_job_start(TtJob *job, const char *text, const char *type, int slots,
                                TtOptions options) {
    memset(job, 0, sizeof *job);
    arena_init(&job->arena, allocator_malloc, &job->trap);
    arena_init(&job->scratch, allocator_malloc, &job->trap);
    if (!TRAP_ARM(&job->trap)) {
        fprintf(stderr, "%s\n", job->trap.message);
        abort();
    }
    source_init(&job->sources, &job->arena);
    diag_init(&job->diag, &job->arena, &job->sources);
    Module *m = ir_module_new(&job->arena, &job->diag, &job->sources);
    char *expanded = tt_expand(&job->arena, text, type, slots);
    if (ir_parse(m, source_add(&job->sources, "t.ir", expanded, strlen(expanded))) &&
        ir_verify(m->kernels.at[0], FORM_RING, &job->diag)) {
        PassContext cx = {.module = m, .machine = machine_find("tenstorrent"), .options = pass_options_default, .scratch = &job->scratch};
        job->kernel = m->kernels.at[0];
        m->kernels.at[0]->form = FORM_RING; /* as written: the emitter does without the pass's proof */
        job->plan = tt_emit(&cx, m->kernels.at[0], &options);
        if (job->plan) tt_job_numbers(job, m->kernels.at[0]);
    }
    job->messages = diag_render(&job->diag, &job->arena);
}

static inline void tt_job_end(TtJob *job) {
    arena_free(&job->arena);
    arena_free(&job->scratch);
}

/* Writes the job's files into the set's folder, once for equal texts. */
static inline void tt_job_add(TtJob *job, KernelSet *set) {
    for (int i = 0; i < TT_KERNELS; i++) {
        const char *text = job->plan->source[i];
        char path[200];
        unsigned long long hash = (unsigned long long)hash_bytes(text, strlen(text), 1);
        snprintf(path, sizeof path, "%s/%016llx_%s", set->folder, hash, tt_file_name(i));
        if (access(path, R_OK) != 0 && !write_text(path, text, strlen(text))) abort();
        job->number[i] = kernels_add(set, path, job->plan->compile_args[i]);
        set->at[job->number[i]].prelude = tt_prelude_name(i);
    }
}

static inline bool tt_job_run_seeded(TtJob *job, const KernelSet *set, const TtValue *args,
                                     const int64_t grid[3], uint32_t cores, uint64_t seed,
                                     TtResult *result) {
    Trap trap;
    Arena arena;
    arena_init(&arena, allocator_malloc, &trap);
    bool good = false;
    static char problem[4000];
    if (TRAP_ARM(&trap)) {
        TtLaunch launch = {.plan = job->plan,
                           .args = args,
                           .values = job->values,
                           .cores = cores,
                           .seed = seed,
                           .arena = &arena};
        for (int i = 0; i < job->plan->param_count; i++) {
            const RunParam *param = &job->params[i];
            job->slots[param->slot] = args[i].word;
            for (int d = 0; param->type->kind == TY_TENSOR && d < param->type->rank; d++) {
                job->slots[param->slot + 1 + d] = (uint64_t)args[i].extent[d];
                job->slots[param->slot + 1 + param->type->rank + d] = (uint64_t)args[i].stride[d];
            }
        }
        scalars_run(job->numbers, job->slots, grid, job->values);
        for (int i = 0; i < TT_KERNELS; i++) launch.entry[i] = kernels_entry(set, job->number[i]);
        memcpy(launch.grid, grid, sizeof launch.grid);
        good = tt_launch(&launch, result);
        if (!good) {
            snprintf(problem, sizeof problem, "%s", result->problem);
            result->problem = problem;
        }
    }
    arena_free(&arena);
    return good;
}
static inline bool tt_job_run(TtJob *job, const KernelSet *set, const TtValue *args,
                              const int64_t grid[3], uint32_t cores, TtResult *result) {
    return tt_job_run_seeded(job, set, args, grid, cores, 0, result);
}
#endif
