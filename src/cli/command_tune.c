/* SPDX-License-Identifier: Apache-2.0 */
/* command_tune.c: `tune` finds the fastest constants and options of a kernel for the arguments that are given.
 *
 * Candidates are the products of what --try lists, or the configurations of the source. Each goes through the passes
 * first, and a cost model (tw_kernel_work) says how long it may take: those that it likes best are tried first, so that
 * a short time is well spent. In rounds, candidates are compiled, as many at once as there are
 * processors, and then launched, one at a time: on the host both would want the same processors. All of that happens in
 * processes of their own (child.c), so that one that crashes or never ends is one that failed. The one whose shortest
 * launch is the shortest is the best: others run on the machine too. One that takes three times as long is given up
 * after three launches. When the time is up, the best so far is the answer. */
#include "cli/cli.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CANDIDATES = 1000 };

typedef struct Candidate {
    Choice choice;
    Outcome outcome;
    Child child;
    bool failed, built;
    char *said; /* what it said as it failed */
} Candidate;

typedef struct Tuning {
    const Options *o;
    Candidate *at;
    size_t count, timed, failed;
    Candidate *best;
    double end;        /* when the time is up */
    bool shown;        /* how far it is, on a terminal */
    Candidate **order; /* those that the cost model likes best come first */
} Tuning;

/* Ctrl-C ends the search, once something has been timed: the best so far is the answer. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    if (interrupted) signal(number, SIG_DFL), raise(number); /* it does not come to an end by itself */
    interrupted = 1;
}

static bool is_over(double end) { return interrupted || seconds_now() >= end; }

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
    if (t->count > MOST_CANDIDATES)
        return fail("--try makes more than %d candidates" FIX "give fewer", MOST_CANDIDATES);
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
                 : fail("there is nothing to try: the kernel has no configurations" FIX
                        "say what to try with --try, as in "
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

static void show(const Tuning *t) {
    if (!t->shown) return;
    fprintf(stderr, "\r\033[Ktuning: %zu of %zu timed", t->timed, t->count);
    if (t->failed) fprintf(stderr, ", %zu failed", t->failed);
    if (t->best) {
        fprintf(stderr, ", best %.3f us (", t->best->outcome.timing.least * 1e6);
        say_pairs(stderr, &t->best->choice);
        fputc(')', stderr);
    }
}

/* --- what is done in processes of their own --- */

/* The passes alone: how long it takes by the cost model. */
static int predict(const Options *own, Outcome *out) {
    Session s;
    int64_t grid[3];
    bool own_grid = false;
    tw_work_info work = {.struct_size = sizeof work};
    int status = session_open(&s, own, false);
    if (!status) status = session_compile(&s, own, own->target, TW_STAGE_IR);
    for (size_t i = 0; !status && i < s.count; i++) s.values[i] = s.arguments[i].value;
    if (!status && own->grid) status = session_grid(&s, own, grid, &own_grid);
    if (!status && tw_kernel_work(s.kernel, own->grid ? grid : NULL, s.values, s.count, &work) == TW_OK)
        out->predicted = work.seconds;
    session_close(&s);
    return status;
}

static int build(const Options *own, Outcome *out) {
    Session s;
    (void)out;
    int status = session_open(&s, own, true);
    if (!status) status = session_compile(&s, own, own->target, TW_STAGE_BUILD);
    session_close(&s);
    return status;
}

static int time_it(const Options *own, Outcome *out) {
    Session s;
    int status = session_open(&s, own, true);
    s.speech = NULL;
    if (!status) status = compile_for(&s, own, own->target);
    if (!status) status = launch_on(&s, own, own->target, &out->timing);
    session_close(&s);
    return status;
}

/* --- the search --- */

static void take(Tuning *t, Candidate *c) {
    bool was = c->failed;
    Outcome out = c->outcome;
    free(c->said);
    c->failed = child_take(&c->child, &out, &c->said) != 0;
    if (!c->failed) c->outcome = out;
    t->failed += c->failed && !was;
}

/* One thing for some candidates, as many at once as there are processors, until the time `end`. */
static void for_all(Tuning *t, ChildWork *work, Candidate **at, size_t count, double end) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t next = 0, running = 0, most = processors > 0 ? (size_t)processors : 1;
    for (; next < count || running;) {
        bool late = is_over(end);
        while (!late && next < count && running < most) {
            Options own = with_candidate(t->o, at[next]);
            running += child_start(&at[next]->child, work, &own, &at[next]->outcome);
            free_candidate(&own);
            next++;
        }
        if (late) next = count;
        size_t ended = 0;
        for (size_t i = 0; i < next; i++) {
            Child *child = &at[i]->child;
            if (!child->pid) continue;
            if (late) child_stop(child);
            if (!child_ended(child, late)) continue;
            ended++;
            if (late)
                child_drop(child);
            else
                take(t, at[i]), at[i]->built = !at[i]->failed;
        }
        running -= ended;
        show(t);
        if (running && !ended) usleep(2000);
    }
}

/* Those that are not known to the model come last. */
static int by_prediction(const void *a, const void *b) {
    const Candidate *x = *(Candidate *const *)a, *y = *(Candidate *const *)b;
    double s = x->outcome.predicted, t = y->outcome.predicted;
    if (s > 0 && t > 0 && s != t) return s > t ? 1 : -1;
    if ((s > 0) != (t > 0)) return s > 0 ? -1 : 1;
    return (x > y) - (x < y);
}

/* A kernel that does not end is stopped: in its process there is nothing else. A first launch may have a variant to
 * compile. */
static void time_candidate(Tuning *t, Candidate *c) {
    enum { SHARE = 6, LEAST = 1, TIMES = 20 };
    double left = t->end - seconds_now(), limit = left / 2;
    if (t->best) limit = t->o->seconds / SHARE + TIMES * t->best->outcome.timing.least;
    if (t->best && limit > left) limit = left;
    c->outcome.timing.give_up = t->best ? 3 * t->best->outcome.timing.least : 0;
    c->outcome.timing.limit = limit > LEAST ? limit : LEAST;
    Options own = with_candidate(t->o, c);
    bool started = child_start(&c->child, time_it, &own, &c->outcome);
    free_candidate(&own);
    if (!started) return;
    enum { MICROSECONDS = 2000 };
    while (!child_ended(&c->child, false) && !interrupted) usleep(MICROSECONDS);
    if (interrupted) {
        if (c->child.pid) child_stop(&c->child), child_ended(&c->child, true);
        child_drop(&c->child);
        return;
    }
    take(t, c);
    if (c->failed) return;
    t->timed++;
    if (!t->best || c->outcome.timing.least < t->best->outcome.timing.least) t->best = c;
}

static void search(Tuning *t) {
    enum { ROUND = 8, SHARE = 4 }; /* a quarter of the time, at most, is for the model */
    t->order = get_memory((t->count + 1) * sizeof(Candidate *));
    for (size_t i = 0; i < t->count; i++) t->order[i] = &t->at[i];
    if (t->count > 1) for_all(t, predict, t->order, t->count, seconds_now() + t->o->seconds / SHARE);
    qsort(t->order, t->count, sizeof(Candidate *), by_prediction);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t first = processors < 1 ? 1 : processors > ROUND ? ROUND : (size_t)processors, round = first;
    for (size_t from = 0; from < t->count && !interrupted && (!t->best || !is_over(t->end)); from += round) {
        Candidate *some[ROUND];
        size_t count = 0;
        round = t->best ? ROUND : first;
        for (size_t i = from; i < t->count && i < from + round; i++)
            if (!t->order[i]->failed) t->order[i]->built = false, some[count++] = t->order[i];
        for_all(t, build, some, count, t->best ? t->end : INFINITY);
        for (size_t i = 0; i < count && !interrupted && (!t->best || !is_over(t->end)); i++) {
            if (some[i]->built) time_candidate(t, some[i]);
            show(t);
        }
    }
}

/* --- the answer --- */

static int by_time(const void *a, const void *b) {
    const Candidate *x = *(const Candidate *const *)a, *y = *(const Candidate *const *)b;
    double s = x->outcome.timing.least, t = y->outcome.timing.least;
    return s != t ? (s > t) - (s < t) : (x > y) - (x < y);
}

/* The line of what it said that names the mistake. */
static void print_why(FILE *out, const Candidate *c) {
    const char *line = c->said, *found = strstr(c->said, "error: ");
    for (const char *at = c->said; found && at < found; at++)
        if (*at == '\n') line = at + 1;
    fprintf(out, "      failed     ");
    say_pairs(out, &c->choice);
    fprintf(out, ": %.*s\n", (int)strcspn(line, "\n"), line);
}

/* Do all say the same, as where arguments are missing? */
static bool say_alike(const Tuning *t) {
    for (size_t i = 0; i < t->count; i++)
        if (!t->at[i].failed || strcmp(t->at[i].said, t->at[0].said) != 0) return false;
    return true;
}

/* None ran. Of one alone, and to a program, all is said, and what all of them say, once; of others a line each. */
static int fail_all(const Tuning *t) {
    bool whole = t->o->json || t->count == 1;
    if (!t->failed) return fail("no candidate was tried: there are no processes of their own to be had");
    if (t->count > 1 && say_alike(t)) {
        print_message(t->at[0].said);
        return t->o->json ? 1 : fail("none of %zu candidates ran", t->count);
    }
    for (size_t i = 0; i < t->count; i++)
        if (t->at[i].failed && whole)
            print_message(t->at[i].said);
        else if (t->at[i].failed)
            print_why(stderr, &t->at[i]);
    return whole ? 1 : fail("none of %zu candidates ran", t->count);
}

static void print_answer(const Tuning *t) {
    const Candidate **rows = get_memory(t->timed * sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->at[i].outcome.timing.launches) rows[count++] = &t->at[i];
    qsort(rows, count, sizeof *rows, by_time);
    for (size_t i = 0; i < count; i++) {
        printf("%12.3f us  ", rows[i]->outcome.timing.least * 1e6);
        say_pairs(stdout, &rows[i]->choice);
        putchar('\n');
    }
    for (size_t i = 0; i < t->count; i++)
        if (t->at[i].failed) print_why(stdout, &t->at[i]);
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

/* What a candidate said: objects, a line each. */
static void json_said(Json *j, const char *said) {
    json_key(j, "messages");
    json_open(j, '[');
    for (const char *line = said, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        if (*line == '{') json_raw(j, line, end);
    }
    json_close(j, ']');
}

static void json_answer(const Tuning *t, const char *kernel) {
    Json j;
    json_start(&j, stdout);
    json_open(&j, '{');
    json_key(&j, "kernel"), json_text(&j, kernel);
    json_key(&j, "target"), json_text(&j, t->o->target);
    json_key(&j, "best");
    if (t->best)
        json_integer(&j, t->best - t->at);
    else
        json_null(&j);
    json_key(&j, "candidates");
    json_open(&j, '[');
    for (size_t i = 0; i < t->count; i++) {
        json_open(&j, '{');
        json_pairs(&j, "values", &t->at[i].choice.values);
        json_pairs(&j, "options", &t->at[i].choice.options);
        json_key(&j, "failed"), json_bool(&j, t->at[i].failed);
        if (t->at[i].outcome.predicted > 0)
            json_key(&j, "predicted_us"), json_number(&j, t->at[i].outcome.predicted * 1e6);
        json_timing(&j, &t->at[i].outcome.timing);
        if (t->at[i].failed) json_said(&j, t->at[i].said);
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
    struct sigaction stop = {.sa_handler = on_interrupt}, before = {.sa_handler = SIG_IGN};
    sigemptyset(&stop.sa_mask);
    bool heard = sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN;
    if (heard) sigaction(SIGINT, &stop, NULL);
    if (!status) search(&t);
    if (t.shown) fputs("\r\033[K", stderr);
    if (heard) signal(SIGINT, SIG_DFL);
    if (interrupted && !t.best) raise(SIGINT);
    bool tried = !status;
    if (tried && !t.best) status = fail_all(&t);
    if (tried && o->json)
        json_answer(&t, kernel);
    else if (!status)
        print_answer(&t);
    if (!status && o->output) {
        Choice best = t.best->choice;
        char *name = tuned_name(o->file, kernel);
        best.us = t.best->outcome.timing.least * 1e6;
        status = tuned_write(o->output, name, o->target, &best);
        free(name);
    }
    for (size_t i = 0; i < t.count; i++) choice_free(&t.at[i].choice), free(t.at[i].said);
    free(t.order);
    free(t.at);
    free(kernel);
    return status;
}
