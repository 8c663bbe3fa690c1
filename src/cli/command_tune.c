/* command_tune.c: `tune` finds the fastest constants and options of a kernel for the arguments that are given.
 *
 * Candidates are the products of what --try lists, or the configurations of the source. They are compiled ahead, as
 * many at once as there are processors, each by a process of its own that fills the cache; then each is launched, one
 * at a time: on the host both would want the same processors. The one whose shortest launch is the shortest is the
 * best: others run on the machine too. One that takes three times as long is given up after three launches; what does
 * not compile is passed over. When the time is up, the best so far is the answer. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_CANDIDATES = 1000 };

typedef struct Candidate {
    Choice choice;
    Timing timing;
    bool failed;
} Candidate;

typedef struct Tuning {
    const Options *o;
    Candidate *at;
    size_t count, timed, failed;
    const Candidate *best;
    double end; /* when the time is up */
    bool shown; /* how far it is, on a terminal */
} Tuning;

/* --- candidates --- */

static bool is_parameter(const tw_module *module, size_t kernel, const char *name) {
    tw_param_info info = {.struct_size = sizeof info};
    for (size_t i = 0; tw_module_param_at(module, kernel, i, &info) == TW_OK; i++)
        if (strcmp(info.name, name) == 0) return true;
    return false;
}

static void push_copy(Pairs *pairs, const char *name, const char *value) {
    tw_pair one = {copy_bytes(name, strlen(name)), copy_bytes(value, strlen(value))};
    Pairs more = pairs_join(pairs, &(Pairs){&one, 1});
    free(pairs->at);
    *pairs = more;
}

static int list_tries(Tuning *t, const Session *s) {
    const Pairs *tries = &t->o->tries;
    t->count = combination_count(tries);
    if (t->count > MOST_CANDIDATES) return fail("--try makes more than %d candidates; give fewer", MOST_CANDIDATES);
    t->at = get_memory(t->count * sizeof *t->at);
    for (size_t i = 0; i < t->count; i++) {
        Pairs one;
        combination_take(tries, i, &one);
        for (size_t p = 0; p < one.count; p++) {
            bool value = is_parameter(s->module, s->index, one.at[p].name);
            push_copy(value ? &t->at[i].choice.values : &t->at[i].choice.options, one.at[p].name, one.at[p].value);
        }
        combination_free(&one);
    }
    return 0;
}

static int list_configs(Tuning *t, const Session *s) {
    tw_config_info info = {.struct_size = sizeof info};
    tw_status status;
    size_t count = 0;
    t->at = get_memory(MOST_CANDIDATES * sizeof *t->at);
    while (count < MOST_CANDIDATES && (status = tw_module_config_at(s->module, s->index, count, &info)) == TW_OK) {
        Candidate *c = &t->at[count++];
        for (size_t i = 0; i < info.value_count; i++)
            push_copy(&c->choice.values, info.values[i].name, info.values[i].value);
        for (size_t i = 0; i < info.option_count; i++)
            push_copy(&c->choice.options, info.options[i].name, info.options[i].value);
    }
    t->count = count;
    if (status == TW_ERROR_UNSUPPORTED) return fail_status(s->context, status);
    return count ? 0
                 : fail("there is nothing to try: the kernel has no configurations; say what to try with --try, as in "
                        "--try BLOCK=64,128,256 --try num_warps=4,8");
}

/* The file's kernel, and its candidates. */
static int list_candidates(Tuning *t, char **name) {
    Session s = {0};
    tw_status status = tw_context_create(NULL, &s.context);
    if (status != TW_OK) return fail("%s", tw_status_text(status));
    int code = 0;
    status = load_source(s.context, t->o, &s.module);
    if (status != TW_OK) code = fail_status(s.context, status);
    if (!code) code = session_choose(&s, t->o);
    if (!code) *name = copy_bytes(tw_module_kernel_name(s.module, s.index),
                                  strlen(tw_module_kernel_name(s.module, s.index)));
    if (!code) code = t->o->tries.count ? list_tries(t, &s) : list_configs(t, &s);
    tw_module_destroy(s.module);
    tw_context_destroy(s.context);
    return code;
}

/* The options of a run with a candidate; what was joined is the caller's to free. */
static Options with_candidate(const Options *o, const Candidate *c) {
    Options own = *o;
    own.tuned = ""; /* what was chosen before is no part of it */
    own.args = pairs_join(&o->args, &c->choice.values);
    own.sets = pairs_join(&o->sets, &c->choice.options);
    return own;
}

static void free_candidate(Options *own) {
    free(own->args.at);
    free(own->sets.at);
}

/* --- progress --- */

static void say_pairs(FILE *out, const Choice *choice) {
    const char *between = "";
    const Pairs *both[] = {&choice->values, &choice->options};
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < both[b]->count; i++, between = " ")
            fprintf(out, "%s%s=%s", between, both[b]->at[i].name, both[b]->at[i].value);
}

static void show(const Tuning *t, size_t compiled) {
    if (!t->shown) return;
    fprintf(stderr, "\r\033[Ktuning: %zu of %zu timed, %zu compiled", t->timed, t->count, compiled);
    if (t->failed) fprintf(stderr, ", %zu failed", t->failed);
    if (t->best) {
        fprintf(stderr, ", best %.3f us (", t->best->timing.least * 1e6);
        say_pairs(stderr, &t->best->choice);
        fputc(')', stderr);
    }
}

/* --- compiling ahead --- */

/* In a process of its own: nothing that it says or breaks reaches this one. It ends with the one that started it,
 * however that ends, and takes its compiler and folder along. */
static int compile_quietly(const Tuning *t, const Candidate *c, pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent) return 1;
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, 1), dup2(nowhere, 2);
    Session s;
    Options own = with_candidate(t->o, c);
    int status = session_open(&s, &own, true);
    if (!status) status = session_compile(&s, &own, own.target, TW_STAGE_BUILD);
    session_close(&s);
    return status;
}

static void compile_ahead(Tuning *t) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pid_t *children = get_memory(t->count * sizeof *children);
    size_t next = 0, ended = 0, running = 0;
    while (ended < t->count) {
        while (next < t->count && running < (size_t)(processors > 0 ? processors : 1) && seconds_now() < t->end) {
            fflush(NULL);
            pid_t parent = getpid(), child = fork();
            if (child == 0) _exit(compile_quietly(t, &t->at[next], parent));
            children[next++] = child;
            if (child > 0) running++;
        }
        if (!running) break; /* the time is up, or processes are not to be had */
        bool late = seconds_now() >= t->end;
        for (size_t i = 0; late && i < next; i++)
            if (children[i] > 0) kill(children[i], SIGTERM);
        int how = 0;
        pid_t child = waitpid(-1, &how, late ? 0 : WNOHANG);
        if (child < 0 && errno != EINTR) break;
        if (child == 0) usleep(2000);
        for (size_t i = 0; child > 0 && i < next; i++)
            if (children[i] == child) {
                t->at[i].failed = !WIFEXITED(how) || WEXITSTATUS(how) != 0;
                t->failed += t->at[i].failed;
                children[i] = 0;
                ended++, running--;
                show(t, ended);
            }
    }
    free(children);
}

/* --- timing --- */

/* A launch may take the time that is left, but never less than this: compiling may have used it up. */
#define LEAST_SECONDS 1.0

static int time_candidate(Tuning *t, Candidate *c) {
    Session s;
    Options own = with_candidate(t->o, c);
    if (t->best) c->timing.give_up = 3 * t->best->timing.least;
    c->timing.limit = t->end - seconds_now();
    if (c->timing.limit < LEAST_SECONDS) c->timing.limit = LEAST_SECONDS;
    int status = session_open(&s, &own, true);
    s.speech = NULL;
    if (!status) status = compile_for(&s, &own, own.target);
    if (!status) status = launch_on(&s, &own, own.target, &c->timing);
    session_close(&s);
    free_candidate(&own);
    return status;
}

static int by_time(const void *a, const void *b) {
    const Candidate *x = *(const Candidate *const *)a, *y = *(const Candidate *const *)b;
    double s = x->timing.least, t = y->timing.least;
    return s != t ? (s > t) - (s < t) : (x > y) - (x < y);
}

/* --- the answer --- */

static void print_answer(const Tuning *t) {
    const Candidate **rows = get_memory(t->timed * sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->at[i].timing.launches) rows[count++] = &t->at[i];
    qsort(rows, count, sizeof *rows, by_time);
    for (size_t i = 0; i < count; i++) {
        printf("%12.3f us  ", rows[i]->timing.least * 1e6);
        say_pairs(stdout, &rows[i]->choice);
        putchar('\n');
    }
    printf("%zu of %zu timed, %zu failed; the best:", t->timed, t->count, t->failed);
    for (size_t i = 0; i < t->best->choice.values.count; i++)
        printf(" --arg %s=%s", t->best->choice.values.at[i].name, t->best->choice.values.at[i].value);
    for (size_t i = 0; i < t->best->choice.options.count; i++)
        printf(" --set %s=%s", t->best->choice.options.at[i].name, t->best->choice.options.at[i].value);
    putchar('\n');
    free(rows);
}

static void json_pairs(Json *j, const char *key, const Pairs *pairs) {
    json_key(j, key);
    json_open(j, '{');
    for (size_t i = 0; i < pairs->count; i++) json_key(j, pairs->at[i].name), json_text(j, pairs->at[i].value);
    json_close(j, '}');
}

static void json_answer(const Tuning *t, const char *kernel) {
    Json j;
    json_start(&j, stdout);
    json_open(&j, '{');
    json_key(&j, "kernel"), json_text(&j, kernel);
    json_key(&j, "target"), json_text(&j, t->o->target);
    json_key(&j, "best"), json_integer(&j, t->best - t->at);
    json_key(&j, "candidates");
    json_open(&j, '[');
    for (size_t i = 0; i < t->count; i++) {
        json_open(&j, '{');
        json_pairs(&j, "values", &t->at[i].choice.values);
        json_pairs(&j, "options", &t->at[i].choice.options);
        json_key(&j, "failed"), json_bool(&j, t->at[i].failed);
        json_timing(&j, &t->at[i].timing);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    putchar('\n');
}

int command_tune(const Options *o) {
    Tuning t = {.o = o, .end = seconds_now() + o->seconds};
    t.shown = isatty(2) && !o->json;
    char *kernel = NULL;
    int status = list_candidates(&t, &kernel);
    if (!status) compile_ahead(&t);
    if (!status && t.failed == t.count) t.failed = 0, t.at[0].failed = false; /* so that the reason is said */
    int why = 0;
    /* Without a good one it may take twice as long: compiling may have used up all of the time. */
    for (size_t i = 0; i < t.count && !status && seconds_now() < t.end + (t.best ? 0 : o->seconds); i++) {
        Candidate *c = &t.at[i];
        if (c->failed) continue;
        c->failed = (why = time_candidate(&t, c)) != 0;
        t.failed += c->failed;
        t.timed += !c->failed;
        if (!c->failed && (!t.best || c->timing.least < t.best->timing.least)) t.best = c;
        show(&t, t.count);
    }
    if (!status && !t.best) status = why;
    if (t.shown) fputs("\r\033[K", stderr);
    if (!status && o->json)
        json_answer(&t, kernel);
    else if (!status)
        print_answer(&t);
    if (!status && o->output) {
        Choice best = t.best->choice;
        char *name = tuned_name(o->file, kernel);
        best.us = t.best->timing.least * 1e6;
        status = tuned_write(o->output, name, o->target, &best);
        free(name);
    }
    for (size_t i = 0; i < t.count; i++) choice_free(&t.at[i].choice);
    free(t.at);
    free(kernel);
    return status;
}
