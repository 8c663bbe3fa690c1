/* tt_harness.h: emits kernels in ring form for Tenstorrent, compiles them all at once, runs them on the model. */
#ifndef TESTS_TT_HARNESS_H
#define TESTS_TT_HARNESS_H
#include "base/numeric.h"
#include "tensix_harness.h"
#include "target/tenstorrent/tt.h"

#include <math.h>

/* One compile: everything of it lives in its arena. */
typedef struct TtJob {
    Trap trap;
    Arena arena, scratch;
    SourceMap sources;
    Diag diag;
    TtPlan *plan;    /* NULL: refused, see messages */
    char *messages;  /* as the user reads them */
    int number[TT_KERNELS];
} TtJob;

/* The text with $T and $S replaced. */
static inline char *tt_expand(Arena *arena, const char *text, const char *type, int slots) {
    Text t = text_new(arena);
    for (const char *s = text; *s; s++) {
        if (*s == '$' && s[1] == 'T') text_add(&t, "%s", type), s++;
        else if (*s == '$' && s[1] == 'S') text_add(&t, "%d", slots), s++;
        else text_add_char(&t, *s);
    }
    return t.at;
}

static inline void tt_job_start(TtJob *job, const char *text, const char *type, int slots, TtOptions options) {
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
    if (ir_parse(m, source_add(&job->sources, "t.ir", expanded, strlen(expanded))) && ir_verify(m->kernels.at[0], FORM_RING, &job->diag)) {
        PassContext cx = {m, machine_find("tenstorrent"), pass_options_default, &job->scratch, {0}};
        job->plan = tt_emit(&cx, m->kernels.at[0], &options);
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
    }
}

static inline bool tt_job_run(TtJob *job, const KernelSet *set, const TtValue *args, const int32_t grid[3], uint32_t cores, TtResult *result) {
    Trap trap;
    Arena arena;
    arena_init(&arena, allocator_malloc, &trap);
    bool good = false;
    static char problem[4000];
    if (TRAP_ARM(&trap)) {
        TtLaunch launch = {.plan = job->plan, .args = args, .cores = cores, .arena = &arena};
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
#endif
