/* SPDX-License-Identifier: Apache-2.0 */
/* command_run.c: `run` launches a kernel; `check` also compares what it wrote with the
 * interpreter, or with given arrays. With --json either says it as one object. */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int save_arrays(Session *s, const Options *o) {
    for (size_t i = 0; i < o->saves.count; i++) {
        Argument *a = session_argument(s, o->saves.at[i].name);
        if (!a) return 1;
        signals_hold(true);
        tw_status status = tw_buffer_save_npy(a->host, o->saves.at[i].value);
        signals_hold(false);
        if (status != TW_OK) return fail_status(s->context, status);
    }
    return 0;
}

/* Names are checked before anything runs, so that nothing is computed for an answer that cannot be given. */
static int check_names(Session *s, const char *option, const Pairs *pairs) {
    for (size_t i = 0; i < pairs->count; i++) {
        const Argument *a = session_argument(s, pairs->at[i].name);
        if (!a) return 1;
        if (a->value.kind != TW_ARG_ABSENT && !a->host)
            return fail("%s %s: it is not an array", option, pairs->at[i].name);
    }
    return 0;
}

static int check_saves(Session *s, const Options *o) {
    for (size_t i = 0; i < o->saves.count; i++) {
        const char *name = o->saves.at[i].name, *path = o->saves.at[i].value, *slash = strrchr(path, '/');
        struct stat there;
        if (!*path) return fail("--save %s=: the name of a file is expected, as in --save %s=%s.npy", name, name, name);
        if (stat(path, &there) == 0 && S_ISDIR(there.st_mode))
            return fail("--save %s=%s: it is a folder" FIX "name a file in it", name, path);
        char *folder = slash ? copy_bytes(path, slash == path ? 1 : (size_t)(slash - path)) : copy_bytes(".", 1);
        int status = 0;
        if (stat(folder, &there) != 0 || !S_ISDIR(there.st_mode))
            status = fail("--save %s=%s: there is no folder %s" FIX "make it first", name, path, folder);
        else if (access(folder, W_OK) != 0)
            status = fail("--save %s=%s: %s cannot be written to: %s", name, path, folder, strerror(errno));
        free(folder);
        if (status) return status;
    }
    return check_names(s, "--save", &o->saves);
}

static int check_expects(Session *s, const Options *o) {
    for (size_t i = 0; i < o->expects.count; i++)
        if (access(o->expects.at[i].value, R_OK) != 0)
            return fail("--expect %s=%s: it cannot be read: %s", o->expects.at[i].name, o->expects.at[i].value,
                        strerror(errno));
    return check_names(s, "--expect", &o->expects);
}

static void print_shape(const tw_buffer *b) {
    printf("%s[", tw_dtype_name(tw_buffer_dtype(b)));
    for (int d = 0; d < tw_buffer_rank(b); d++) printf("%s%lld", d ? ", " : "", (long long)tw_buffer_shape(b)[d]);
    printf("]");
}

/* The arrays that the launch changed, one line each. */
static void print_changes(Session *s) {
    bool arrays = false, any = false;
    for (size_t i = 0; i < s->count; i++) {
        Argument *a = &s->arguments[i];
        tw_difference d = {.struct_size = sizeof d};
        arrays |= a->host != NULL;
        if (!a->host || tw_buffer_compare(a->host, a->before, 0, 0, &d) != TW_OK || !d.different) continue;
        printf("%s: ", a->info.name);
        print_shape(a->host);
        printf(", %lld of %lld elements changed\n", (long long)d.different, (long long)d.elements);
        any = true;
    }
    if (arrays && !any) printf("no array changed\n");
}

/* Kernel, target and times: how an answer in JSON begins. */
static void open_answer(Json *j, const Session *s, const Options *o, const Timing *timing) {
    json_start(j, stdout);
    json_open(j, '{');
    json_key(j, "kernel"), json_text(j, tw_kernel_name(s->kernel));
    json_key(j, "target"), json_text(j, tw_kernel_target(s->kernel));
    json_key(j, "emulated"), json_bool(j, o->emulate);
    json_timing(j, timing);
}

static void close_answer(Json *j) {
    json_close(j, '}');
    putchar('\n');
}

static void json_changes(Session *s, const Options *o, const Timing *timing) {
    Json j;
    open_answer(&j, s, o, timing);
    json_key(&j, "arrays");
    json_open(&j, '[');
    for (size_t i = 0; i < s->count; i++) {
        Argument *a = &s->arguments[i];
        tw_difference d = {.struct_size = sizeof d};
        if (!a->host || tw_buffer_compare(a->host, a->before, 0, 0, &d) != TW_OK) continue;
        json_open(&j, '{');
        json_key(&j, "name"), json_text(&j, a->info.name);
        json_shape(&j, a->host);
        json_key(&j, "elements"), json_integer(&j, d.elements);
        json_key(&j, "changed"), json_integer(&j, d.different);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    close_answer(&j);
}

static void print_timing(const Timing *timing) {
    if (timing->launches)
        printf("time: %.3f us (median of %d launches; least %.3f us)\n", timing->median * 1e6, timing->launches,
               timing->least * 1e6);
}

/* Targets that report on a launch do it here; what the user sets comes behind, and wins. */
static void ask_for_report(Session *s) {
    memmove(s->sets.at + 1, s->sets.at, s->sets.count++ * sizeof *s->sets.at);
    s->sets.at[0] = (tw_pair){"report", "on"};
}

int command_run(const Options *o) {
    Session s;
    Timing timing = {0};
    int status = session_open(&s, o, true);
    if (!status) ask_for_report(&s);
    if (!status) status = check_saves(&s, o);
    if (!status) status = compile_for(&s, o, o->target);
    if (!status) status = launch_on(&s, o, o->target, o->time ? &timing : NULL);
    if (!status && !o->json) print_timing(&timing);
    if (!status) status = save_arrays(&s, o);
    if (!status && o->json)
        json_changes(&s, o, &timing);
    else if (!status && !o->saves.count && !o->time)
        print_changes(&s);
    session_close(&s);
    return status;
}

/* --- check --- */

/* What two right implementations may differ by, relative to the largest magnitude of the array
 * (or 1): a few units in the last place of sums of some thousand terms. Tenstorrent's matrix unit
 * and a GPU's tf32 keep 11 significant bits of each factor, a GPU's sums of fp8 products 14 bits; f16
 * travels as bf16 on Tenstorrent. A sum that the source keeps in 16 bits, and the target in 32, is
 * rounded by the interpreter in every step: 64 units for some thousand terms. */
static double default_tolerance(const Session *s, const Options *o, int32_t dtype) {
    bool tensix = strncmp(o->target, "tenstorrent", 11) == 0;
    switch (dtype) {
    case TW_F64: return s->coarse ? 4e-3 : 1e-11;
    case TW_F32: return tensix || s->coarse ? 4e-3 : 2e-5;
    case TW_F16: return s->widened ? 3.2e-2 : tensix ? 1.6e-2 : s->coarse ? 5e-3 : 2e-3;
    case TW_BF16: return s->widened ? 0.26 : 1.6e-2;
    case TW_F8E4M3:
    case TW_F8E4B8:
    case TW_F8E4B15: return 0.13;
    case TW_F8E5M2:
    case TW_F8E5B16: return 0.26;
    default: return 0;
    }
}

static void print_place(const tw_buffer *b, int64_t at) {
    int64_t index[TW_MAX_RANK];
    for (int d = tw_buffer_rank(b); d-- > 0;) {
        index[d] = at % tw_buffer_shape(b)[d];
        at /= tw_buffer_shape(b)[d];
    }
    printf("[");
    for (int d = 0; d < tw_buffer_rank(b); d++) printf("%s%lld", d ? ", " : "", (long long)index[d]);
    printf("]");
}

/* An array beside what was wanted. */
typedef struct Comparison {
    const char *name, *with; /* "expected" */
    const tw_buffer *got;
    tw_difference d;
    double bound;
    bool ok;
} Comparison;

static void print_comparison(const Comparison *c) {
    const tw_difference *d = &c->d;
    printf("%s: ", c->name);
    print_shape(c->got);
    if (d->elements == 0) {
        printf(", empty: ok\n");
        return;
    }
    printf(", max error %.3g", d->max_error);
    if (d->max_error > 0) {
        printf(" at ");
        print_place(c->got, d->at);
        printf(" (%.9g, %s %.9g)", d->got, c->with, d->want);
    }
    if (c->ok)
        printf(": ok\n");
    else
        printf(": MISMATCH in %lld of %lld elements, allowed is %.3g\n", (long long)d->different,
               (long long)d->elements, c->bound);
}

static void json_comparison(Json *j, const Comparison *c) {
    json_open(j, '{');
    json_key(j, "name"), json_text(j, c->name);
    json_shape(j, c->got);
    json_key(j, "ok"), json_bool(j, c->ok);
    json_key(j, "compared_with"), json_text(j, c->with);
    json_key(j, "elements"), json_integer(j, c->d.elements);
    json_key(j, "different"), json_integer(j, c->ok ? 0 : c->d.different);
    json_key(j, "max_error"), json_number(j, c->d.max_error);
    json_key(j, "allowed"), json_number(j, c->bound);
    json_key(j, "at"), json_integer(j, c->d.at);
    json_key(j, "got"), json_number(j, c->d.got);
    json_key(j, "want"), json_number(j, c->d.want);
    json_close(j, '}');
}

/* 0: they match; 1: they do not, or cannot be compared. j NULL: in words. */
static int compare_arrays(Session *s, const Options *o, Json *j, const char *name, tw_buffer *got, tw_buffer *want,
                          const char *with) {
    Comparison c = {.name = name, .with = with, .got = got, .d = {.struct_size = sizeof c.d}};
    tw_status status = tw_buffer_compare(got, want, 0, 0, &c.d);
    if (status != TW_OK) return fail("%s: %s", name, tw_context_message(s->context));
    double relative = o->tolerance >= 0 ? o->tolerance : default_tolerance(s, o, tw_buffer_dtype(got));
    c.bound = relative * (c.d.max_want > 1 ? c.d.max_want : 1);
    c.ok = c.d.elements == 0 || c.d.max_error <= c.bound;
    if (!c.ok) tw_buffer_compare(got, want, c.bound, 0, &c.d);
    if (j)
        json_comparison(j, &c);
    else
        print_comparison(&c);
    return !c.ok;
}

static bool same_shape(const tw_buffer *a, const tw_buffer *b) {
    bool same = tw_buffer_rank(a) == tw_buffer_rank(b);
    for (int d = 0; same && d < tw_buffer_rank(a); d++) same = tw_buffer_shape(a)[d] == tw_buffer_shape(b)[d];
    return same;
}

static void print_misshapen(const Argument *a, const tw_buffer *want, const char *file) {
    printf("%s: ", a->info.name);
    print_shape(a->host);
    printf(", and %s holds ", file);
    print_shape(want);
    printf(": MISMATCH of the shapes\n");
}

static void json_misshapen(Json *j, const Argument *a, const tw_buffer *want) {
    json_open(j, '{');
    json_key(j, "name"), json_text(j, a->info.name);
    json_shape(j, a->host);
    json_key(j, "ok"), json_bool(j, false);
    json_key(j, "expected");
    json_open(j, '{');
    json_shape(j, want);
    json_close(j, '}');
    json_close(j, '}');
}

static int compare_expected(Session *s, const Options *o, Json *j) {
    int status = 0;
    for (size_t i = 0; i < o->expects.count; i++) {
        Argument *a = session_argument(s, o->expects.at[i].name);
        if (!a) return 1;
        tw_buffer *want = NULL;
        tw_status loaded = tw_buffer_load_npy(s->context, o->expects.at[i].value, tw_buffer_dtype(a->host), &want);
        if (loaded != TW_OK) loaded = tw_buffer_load_npy(s->context, o->expects.at[i].value, TW_DTYPE_ANY, &want);
        if (loaded != TW_OK) return fail_status(s->context, loaded);
        if (!same_shape(a->host, want)) {
            if (j)
                json_misshapen(j, a, want);
            else
                print_misshapen(a, want, o->expects.at[i].value);
            tw_buffer_destroy(want);
            status = 1;
            continue;
        }
        status |= compare_arrays(s, o, j, a->info.name, a->host, want, "expected");
        tw_buffer_destroy(want);
    }
    return status;
}

/* The arrays as they are after a run; the session gets others in their place. */
static tw_buffer **take_results(Session *s, int *status) {
    tw_buffer **taken = get_memory(s->count * sizeof *taken);
    for (size_t i = 0; i < s->count; i++) {
        Argument *a = &s->arguments[i];
        if (!a->host) continue;
        tw_buffer *other = NULL;
        tw_status made = tw_buffer_create(s->context, tw_buffer_dtype(a->host), tw_buffer_rank(a->host),
                                          tw_buffer_shape(a->host), NULL, &other);
        if (made != TW_OK) {
            *status = fail_status(s->context, made);
            return taken;
        }
        if (a->value.value.buffer == a->host) a->value.value.buffer = other;
        taken[i] = a->host;
        a->host = other;
    }
    return taken;
}

static void free_results(Session *s, tw_buffer **taken) {
    for (size_t i = 0; taken && i < s->count; i++) tw_buffer_destroy(taken[i]);
    free(taken);
}

static int compare_results(Session *s, const Options *o, Json *j, tw_buffer **want) {
    int status = 0;
    for (size_t i = 0; i < s->count; i++)
        if (want[i])
            status |= compare_arrays(s, o, j, s->arguments[i].info.name, s->arguments[i].host, want[i], "interpreted");
    return status;
}

/* What the interpreter makes of the arrays; NULL: it found a mistake, which is said. The target's kernel
 * stays what it is. */
static tw_buffer **interpret(Session *s, const Options *o, int *status) {
    tw_kernel *kernel = s->kernel;
    FILE *speech = s->speech;
    s->kernel = NULL;
    s->speech = NULL; /* it speaks when it runs on the target */
    *status = compile_for(s, o, "interp");
    if (!*status) *status = launch_on(s, o, "interp", NULL);
    tw_kernel_destroy(s->kernel);
    s->kernel = kernel;
    s->speech = speech;
    return *status ? NULL : take_results(s, status);
}

/* The interpreter runs before the target: it tests each access, so what it finds is said at the kernel's
 * own line, and native code does no damage. */
static int run_and_compare(Session *s, const Options *o) {
    tw_buffer **want = NULL;
    Timing timing = {0};
    Json json, *j = o->json ? &json : NULL;
    int status = compile_for(s, o, o->target);
    if (!status && !o->expects.count) want = interpret(s, o, &status);
    if (!status) status = launch_on(s, o, o->target, o->time ? &timing : NULL);
    if (!status) status = save_arrays(s, o);
    s->coarse = tw_kernel_product_bits(s->kernel) < 24;
    s->widened = tw_kernel_widens(s->kernel);
    bool compares = !status;
    if (compares && j) {
        open_answer(j, s, o, &timing);
        json_key(j, "arrays");
        json_open(j, '[');
    } else if (compares)
        print_timing(&timing);
    if (compares) status = want ? compare_results(s, o, j, want) : compare_expected(s, o, j);
    if (compares && j) {
        json_close(j, ']');
        json_key(j, "ok"), json_bool(j, !status);
        close_answer(j);
    }
    free_results(s, want);
    return status;
}

static void say_compiles(const Session *s, const Options *o) {
    Json j;
    if (!o->json) {
        printf("%s compiles for %s\n", tw_kernel_name(s->kernel), o->target);
        return;
    }
    open_answer(&j, s, o, &(Timing){0});
    json_key(&j, "ok"), json_bool(&j, true);
    close_answer(&j);
}

int command_check(const Options *o) {
    Session s;
    int status = session_open(&s, o, true);
    if (!status) status = check_expects(&s, o);
    if (!status) status = check_saves(&s, o);
    bool arrays = false;
    for (size_t i = 0; i < s.count; i++) arrays |= s.arguments[i].host != NULL;
    if (!status && !o->args.count && !arrays) {
        status = session_compile(&s, o, o->target, TW_STAGE_EMIT);
        if (!status) say_compiles(&s, o);
    } else if (!status) {
        status = run_and_compare(&s, o);
    }
    session_close(&s);
    return status;
}
