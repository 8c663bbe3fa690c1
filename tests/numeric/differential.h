/* SPDX-License-Identifier: Apache-2.0 */
/* differential.h: random programs on several targets against the interpreter, and the search for a small one that fails.
 *
 * A generator draws every decision through `pick`; the decisions of a program are a list of numbers. A seed makes a fresh
 * list; a failing list is shortened (parts dropped, numbers lowered, 0 being the simplest answer everywhere) while the
 * program that it stands for still fails in the same way, so that no generator needs a minimiser of its own.
 *
 * Each program runs in a child process: crashes and endless loops are failures like any other.
 *
 *     static void generate(Choices *c, Program *p);        fills text, arrays, scalars, grid
 *     int main(int argc, char **argv) { return differential_main(argc, argv, "random_triton", generate); }
 *
 *     random_triton --count 200 --seed 1 --targets cpu     200 programs from seed 1 on
 *     random_triton --count 2000 --targets passes          on the interpreter, behind the passes
 *     random_triton --seed 17                              one of them again, printed and made small
 *     random_triton --seconds 3600 --out DIR               goes on; each small failure is a file of DIR
 *     random_triton --replay FILE...                       such files again: tests/random/ has those that once failed
 *     random_triton --family order --count 50              only programs of that kind, where a generator has several
 *     random_triton --count 200 --shard 0/4                those of the 200 that the first of four processes takes
 *     random_tenstorrent --count 50 --refusals             prints what the target refuses, too
 *
 * An array may be a view of another one (in the files: NAME@N+SHIFT, of the N-th array from 1 on). Its error bound: 0 means that every bit must agree (but NaN is NaN and -0 is 0). */
#ifndef TESTS_DIFFERENTIAL_H
#define TESTS_DIFFERENTIAL_H
#include "base/numeric.h"
#include "guarded.h"
#include "shard.h"
#include "tilewright.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- decisions --- */

enum { MOST_CHOICES = 20000 };
typedef struct Choices {
    uint32_t at[MOST_CHOICES];
    int count, next;
    uint64_t state; /* 0: a list is replayed, and behind its end every answer is 0 */
} Choices;

static uint32_t pick(Choices *c, uint32_t n) {
    uint32_t value = 0;
    if (n == 0) n = 1;
    if (c->next < c->count) {
        value = c->at[c->next++] % n;
    } else if (c->state && c->count < MOST_CHOICES) {
        c->state ^= c->state >> 12, c->state ^= c->state << 25, c->state ^= c->state >> 27;
        value = (uint32_t)(c->state * 2685821657736338717u >> 33) % n;
        c->at[c->count++] = value;
        c->next = c->count;
    }
    return value;
}

/* --- programs --- */

typedef enum Flavour { WHOLE, PLAIN, WILD } Flavour; /* small integers; about normal; every bit pattern that hurts */
typedef struct Array {
    char name[16];
    int dtype;
    int64_t count;
    Flavour flavour;
    double error;  /* largest allowed difference */
    int whole;     /* WHOLE: numbers of -whole .. whole */
    int of;        /* a view of that array before it, from 1 on; 0: it has memory of its own */
    int64_t shift; /* where the view begins, in elements */
} Array;
typedef struct Scalar {
    char name[16];
    bool is_float;
    int64_t i;
    double f;
} Scalar;
enum { MOST_ARRAYS = 40, MOST_SCALARS = 40, MOST_SETS = 16, TEXT = 200000 };
typedef struct Program {
    const char *file; /* its name chooses the door */
    char text[TEXT];
    size_t length;
    Array arrays[MOST_ARRAYS];
    Scalar scalars[MOST_SCALARS];
    int array_count, scalar_count;
    int64_t grid[3];
    tw_pair sets[MOST_SETS];
    int set_count;
    char sharding[120]; /* the value of that option, if it is drawn */
    const char *refusals; /* what the door may refuse it for: "[unsupported] [unroll]"; or NULL */
    bool spoiled;      /* perhaps no program at all: what the interpreter refuses for one of these, all must refuse */
    int64_t want[4096]; /* what the last array must hold, as computed without us; integers */
    int want_count;
} Program;
typedef void Generator(Choices *c, Program *p);

#include "drawn_options.h"

static void add_text(Program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends to a text of `size` bytes; what does not fit is cut off. */
static void append(char *text, size_t size, size_t *length, const char *format, va_list args) {
    size_t room = size - *length;
    int n = vsnprintf(text + *length, room, format, args);
    *length += (size_t)n < room ? (size_t)n : room - 1;
}
static void add_text(Program *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    append(p->text, sizeof p->text, &p->length, format, args);
    va_end(args);
}

/* --- data --- */

static uint64_t mix(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static bool is_float_type(int dtype) {
    return dtype == TW_F16 || dtype == TW_BF16 || dtype == TW_F32 || dtype == TW_F64 || dtype == TW_F8E4M3 ||
           dtype == TW_F8E5M2;
}

static void put_float(int dtype, double x, void *to) {
    float f = (float)x;
    uint16_t h = dtype == TW_F16 ? f16_from_f64(x) : bf16_from_f64(x);
    uint8_t b = dtype == TW_F8E4M3 ? f8e4m3_from_f64(x) : f8e5m2_from_f64(x);
    switch (dtype) {
    case TW_F64: memcpy(to, &x, 8); break;
    case TW_F32: memcpy(to, &f, 4); break;
    case TW_F16:
    case TW_BF16: memcpy(to, &h, 2); break;
    default: memcpy(to, &b, 1); break;
    }
}

static void fill(tw_buffer *buffer, const Array *a, uint64_t seed) {
    static const double special[] = {0.0,    -0.0,   INFINITY,     -INFINITY,     NAN,          1e-40,
                                     -1e-40, 5e-324, 3.4028234e38, -3.4e38,       65504,        65520,
                                     448,    57344,  2147483648.0, -2147483648.0, 4294967296.0, 9.3e18,
                                     1e-8,   6e-8,   0.5,          1.5,           2.5,          -0.5};
    char *data = tw_buffer_data(buffer);
    size_t size = tw_dtype_size(a->dtype);
    for (int64_t i = 0; i < a->count; i++) {
        uint64_t bits = mix(&seed);
        char *to = data + (size_t)i * size;
        double normal = ((double)(bits % 40001) - 20000) / 8192.0;
        int64_t small = (int64_t)(bits % (uint64_t)(2 * a->whole + 1)) - a->whole;
        if (is_float_type(a->dtype)) {
            if (a->flavour == WILD && bits >> 40 & 1)
                normal = special[(bits >> 44) % (sizeof special / sizeof *special)];
            put_float(a->dtype, a->flavour == WHOLE ? (double)small : normal, to);
            continue;
        }
        uint64_t value = a->flavour == WHOLE ? (uint64_t)small : a->flavour == PLAIN ? bits >> 13 & 127 : bits * 5;
        if (a->flavour == WILD) {
            if ((bits >> 50) % 5 == 0) value = 0;
            if ((bits >> 50) % 7 == 0) value = UINT64_MAX;
            if ((bits >> 50) % 11 == 0) value = UINT64_C(1) << (8 * size - 1);
            if ((bits >> 50) % 13 == 0) value = (UINT64_C(1) << (8 * size - 1)) - 1;
        }
        if (a->dtype == TW_I1) value &= 1;
        memcpy(to, &value, size);
    }
}

static double number_at(int dtype, const char *data, int64_t i) {
    const char *at = data + (size_t)i * tw_dtype_size(dtype);
    double d;
    float f;
    uint16_t h;
    switch (dtype) {
    case TW_F64: memcpy(&d, at, 8); return d;
    case TW_F32: memcpy(&f, at, 4); return f;
    case TW_F16: memcpy(&h, at, 2); return f16_to_f32(h);
    case TW_BF16: memcpy(&h, at, 2); return bf16_to_f32(h);
    case TW_F8E4M3: return f8e4m3_to_f32(*(const uint8_t *)at);
    case TW_F8E5M2: return f8e5m2_to_f32(*(const uint8_t *)at);
    case TW_I64: {
        int64_t v;
        memcpy(&v, at, 8);
        return (double)v;
    }
    case TW_U64: {
        uint64_t v;
        memcpy(&v, at, 8);
        return (double)v;
    }
    case TW_I32: {
        int32_t v;
        memcpy(&v, at, 4);
        return v;
    }
    case TW_U32: {
        uint32_t v;
        memcpy(&v, at, 4);
        return v;
    }
    case TW_I16: {
        int16_t v;
        memcpy(&v, at, 2);
        return v;
    }
    case TW_U16: memcpy(&h, at, 2); return h;
    case TW_I8: return *(const int8_t *)at;
    default: return *(const uint8_t *)at;
    }
}

static bool same(const Array *a, const char *got, const char *want, int64_t i) {
    size_t size = tw_dtype_size(a->dtype);
    if (memcmp(got + (size_t)i * size, want + (size_t)i * size, size) == 0) return true;
    if (!is_float_type(a->dtype)) return false;
    double x = number_at(a->dtype, got, i), y = number_at(a->dtype, want, i);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return x == y || fabs(x - y) <= a->error;
}

/* --- one program on one target --- */

typedef enum Kind { PASSED, NO_DOOR, NO_TARGET, NO_LAUNCH, DIFFERS, CRASHED, HUNG } Kind;
static const char *const kind_names[] = {
    "passed", "refused by the door", "not compiled", "launch failed", "differs", "crashed", "hung"};
typedef struct Outcome { /* in memory that the child shares */
    Kind kind;
    char target[32];
    char message[3000];
    bool refused; /* PASSED, as far as a target did not refuse it */
} Outcome;

static void say(Outcome *o, Kind kind, const char *target, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void say(Outcome *o, Kind kind, const char *target, const char *format, ...) {
    va_list args;
    va_start(args, format);
    o->kind = kind;
    snprintf(o->target, sizeof o->target, "%s", target);
    vsnprintf(o->message, sizeof o->message, format, args);
    va_end(args);
}

typedef struct Run {
    tw_buffer *host[MOST_ARRAYS]; /* the data before, then after the launch */
    tw_buffer *there[MOST_ARRAYS];
} Run;

static size_t bytes_of(const Array *a) { return (size_t)a->count * tw_dtype_size(a->dtype); }

/* A view shows what the launch has left in the array that it is of. */
static bool make_array(tw_context *cx, const Program *p, int index, const char *target, Run *run) {
    const Array *a = &p->arrays[index];
    if (a->of && !run->there[a->of - 1] && !make_array(cx, p, a->of - 1, target, run)) return false;
    if (run->there[index]) return true;
    if (tw_buffer_create(cx, a->dtype, 1, &a->count, NULL, &run->host[index]) != TW_OK) return false;
    if (a->of) {
        tw_buffer_options options;
        tw_buffer_options_init(&options);
        options.target = target;
        options.data = (char *)tw_buffer_data(run->there[a->of - 1]) + (size_t)a->shift * tw_dtype_size(a->dtype);
        options.size = bytes_of(a);
        return tw_buffer_create(cx, a->dtype, 1, &a->count, &options, &run->there[index]) == TW_OK;
    }
    if (guarded_create(cx, a->dtype, 1, &a->count, target, &run->there[index]) != TW_OK) return false;
    fill(run->host[index], a, (uint64_t)index + 1);
    return tw_buffer_write(run->there[index], tw_buffer_data(run->host[index]), bytes_of(a)) == TW_OK;
}

/* Tenstorrent takes some programs only, and some arguments; it says why not. A block of AMD's GPUs has less shared memory. */
static bool may_refuse(const char *target, tw_status status, const char *message) {
    if (strncmp(target, "hip", 3) == 0) return message && (strstr(message, "[shared-memory]") || strstr(message, "[ring-capacity]"));
    return strcmp(target, "tenstorrent") == 0 &&
           (status == TW_ERROR_SOURCE || status == TW_ERROR_UNSUPPORTED || status == TW_ERROR_ARGUMENT);
}

/* Is the word behind the message one of the program's? */
static bool may_refuse_for(const Program *p, const char *message) {
    char word[40];
    const char *open = p->refusals ? strstr(message, " [") : NULL, *end = open ? strchr(open, ']') : NULL;
    if (!end || end - open >= (long)sizeof word) return false;
    snprintf(word, sizeof word, "%.*s", (int)(end - open), open + 1);
    return strstr(p->refusals, word) != NULL;
}

static void compare_wanted(const Program *p, const Run *got, Outcome *o) {
    const Array *array = &p->arrays[p->array_count - 1];
    const char *data = p->want_count ? tw_buffer_data(got->host[p->array_count - 1]) : NULL;
    for (int i = 0; i < p->want_count && o->kind == PASSED; i++)
        if (number_at(array->dtype, data, i) != (double)p->want[i])
            say(o, DIFFERS, "interp", "%s: element %d is %.17g, computed %lld", array->name, i,
                number_at(array->dtype, data, i), (long long)p->want[i]);
}

/* Target "passes" is the interpreter behind the passes: it finds their mistakes in a hundredth of the time that a compiler takes. */
static bool run_on(tw_context *cx, tw_module *m, const Program *p, const char *name, Run *run, Outcome *o) {
    bool behind = strcmp(name, "passes") == 0;
    const char *target = behind ? "interp" : name;
    tw_arg args[MOST_ARRAYS + MOST_SCALARS] = {{0}};
    size_t count = tw_module_param_count(m, 0);
    for (size_t i = 0; i < count && i < MOST_ARRAYS + MOST_SCALARS; i++) {
        tw_param_info info = {.struct_size = sizeof info};
        tw_module_param_at(m, 0, i, &info);
        for (int a = 0; a < p->array_count; a++) {
            const Array *array = &p->arrays[a];
            if (strcmp(info.name, array->name) != 0) continue;
            if (!make_array(cx, p, a, target, run))
                return say(o, NO_LAUNCH, target, "%s", tw_context_message(cx)), false;
            args[i].kind = TW_ARG_BUFFER;
            args[i].value.buffer = run->there[a];
        }
        for (int s = 0; s < p->scalar_count; s++) {
            const Scalar *scalar = &p->scalars[s];
            if (strcmp(info.name, scalar->name) != 0) continue;
            args[i].kind = scalar->is_float ? TW_ARG_FLOAT : TW_ARG_INT;
            if (scalar->is_float)
                args[i].value.f = scalar->f;
            else
                args[i].value.i = scalar->i;
        }
    }
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target;
    options.args = args;
    options.arg_count = count;
    tw_pair sets[MOST_SETS + 1];
    bool as_written = strcmp(name, "interp") == 0; /* it runs what the text says, not a plan */
    for (int s = 0; s < p->set_count; s++)
        if (!as_written || strcmp(p->sets[s].name, "fuse") == 0) sets[options.option_count++] = p->sets[s];
    if (behind) sets[options.option_count++] = (tw_pair){"passes", "on"};
    options.options = sets;
    options.verify_each = 1;
    tw_kernel *k = NULL;
    Kind kind = NO_TARGET;
    tw_status status = tw_kernel_compile(m, NULL, &options, &k);
    if (status == TW_OK) kind = NO_LAUNCH, status = tw_kernel_launch(k, NULL, p->grid, args, count);
    bool said = status == TW_ERROR_SOURCE || (p->spoiled && status == TW_ERROR_LAUNCH);
    if (may_refuse(target, status, tw_context_message(cx)) || (said && may_refuse_for(p, tw_context_message(cx)))) {
        o->refused = true;
        snprintf(o->message, sizeof o->message, "%s", tw_context_message(cx));
    } else if (status != TW_OK)
        say(o, status == TW_ERROR_SOURCE ? NO_DOOR : kind, name, "%s: %s", tw_status_name(status),
            tw_context_message(cx));
    for (int a = 0; a < p->array_count && status == TW_OK; a++)
        if (run->there[a])
            status = tw_buffer_read(run->there[a], tw_buffer_data(run->host[a]), bytes_of(&p->arrays[a]));
    tw_kernel_destroy(k);
    return status == TW_OK;
}

static void free_run(Run *run) {
    for (int a = 0; a < MOST_ARRAYS; a++) {
        tw_buffer_destroy(run->host[a]);
        guarded_destroy(run->there[a]);
    }
}

static void compare_runs(const Program *p, const char *target, const Run *got, const Run *want, Outcome *o) {
    for (int a = 0; a < p->array_count && o->kind == PASSED; a++) {
        const Array *array = &p->arrays[a];
        if (!got->host[a] || !want->host[a]) continue;
        const char *x = tw_buffer_data(got->host[a]), *y = tw_buffer_data(want->host[a]);
        int64_t different = 0, first = -1;
        for (int64_t i = 0; i < array->count; i++)
            if (!same(array, x, y, i)) different++, first = first < 0 ? i : first;
        if (different)
            say(o, DIFFERS, target,
                "%s: %lld of %lld elements differ, first %lld: %.17g, interpreter %.17g (allowed: %.3g)", array->name,
                (long long)different, (long long)array->count, (long long)first, number_at(array->dtype, x, first),
                number_at(array->dtype, y, first), array->error);
    }
}

/* The compiler's self-test stays here from one program to the next. */
static char cache[] = "/tmp/tilewright-random-XXXXXX";

/* In the child: everything, into *o. */
static void run_program(const Program *p, const char *targets, Outcome *o) {
    tw_context_options options;
    tw_context *cx = NULL;
    tw_module *m = NULL;
    Run want = {{0}, {0}};
    tw_context_options_init(&options);
    options.cache_dir = cache;
    if (tw_context_create(&options, &cx) != TW_OK) exit(1);
    bool runs = false;
    if (tw_module_load_text(cx, p->file, p->text, p->length, NULL, &m) != TW_OK) {
        if (may_refuse_for(p, tw_context_message(cx)))
            o->refused = true;
        else
            say(o, NO_DOOR, "interp", "%s", tw_context_message(cx));
    } else if ((runs = run_on(cx, m, p, "interp", &want, o)) || (p->spoiled && o->refused)) {
        if (runs) compare_wanted(p, &want, o);
        char list[200], *save = NULL;
        snprintf(list, sizeof list, "%s", targets);
        for (char *target = strtok_r(list, ",", &save); target && o->kind == PASSED;
             target = strtok_r(NULL, ",", &save)) {
            Run got = {{0}, {0}};
            bool ran = run_on(cx, m, p, target, &got, o);
            if (ran && runs)
                compare_runs(p, target, &got, &want, o);
            else if (ran)
                say(o, DIFFERS, target, "it runs what the interpreter refuses: %.120s", o->message);
            free_run(&got);
        }
    }
    free_run(&want);
    tw_module_destroy(m);
    tw_context_destroy(cx);
}

static Outcome *shared;
static int seconds_each = 60;

static void try_program(const Program *p, const char *targets) {
    memset(shared, 0, sizeof *shared);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm((unsigned)seconds_each);
        run_program(p, targets, shared);
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        say(shared, HUNG, "", "more than %d s", seconds_each);
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        say(shared, CRASHED, "", "wait status 0x%x", (unsigned)status);
}

/* --- making a failure small --- */

/* Failing in the same way: kind, target and, of refusals, the message without its place and the names in it. */
static void signature(const Outcome *o, char *to, size_t size) {
    char words[80] = "";
    const char *error = strstr(o->message, "error: ");
    if (o->kind != DIFFERS && error)
        snprintf(words, sizeof words, "%.*s", (int)strcspn(error, "`'0123456789\n"), error);
    snprintf(to, size, "%d %s %s", (int)o->kind, o->target, words);
}

typedef struct Search {
    Generator *generate;
    Program *program; /* room */
    const char *targets;
    char wanted[200];
    int tries;
} Search;

static bool still_fails(Search *s, Choices *c) {
    char now[200];
    c->next = 0;
    c->state = 0;
    memset(s->program, 0, sizeof *s->program);
    s->generate(c, s->program);
    c->count = c->next < c->count ? c->next : c->count;
    s->tries--;
    try_program(s->program, s->targets);
    signature(shared, now, sizeof now);
    return shared->kind != PASSED && strcmp(now, s->wanted) == 0;
}

static void shrink(Search *s, Choices *best) {
    static Choices trial;
    for (bool again = true; again && s->tries > 0;) {
        again = false;
        for (int size = 64; size >= 1; size /= 2)
            for (int at = best->count - size; at >= 0 && s->tries > 0; at -= size) {
                if (at + size > best->count) continue;
                trial = *best;
                memmove(trial.at + at, trial.at + at + size, (size_t)(trial.count - at - size) * sizeof *trial.at);
                trial.count -= size;
                if (still_fails(s, &trial)) *best = trial, again = true;
            }
        for (int at = 0; at < best->count && s->tries > 0; at++) {
            if (best->at[at] == 0) continue;
            trial = *best;
            trial.at[at] = 0;
            bool less = still_fails(s, &trial);
            if (!less && best->at[at] > 1) {
                trial = *best;
                trial.at[at] /= 2;
                less = still_fails(s, &trial);
            }
            if (less) *best = trial, again = true;
        }
    }
    s->tries = 1;
    trial = *best;
    still_fails(s, &trial); /* leaves program and message as they are reported */
}

/* --- the program --- */

static const char *const flavours[] = {"whole", "plain", "wild"};

static const char *remark(const Program *p) { return strstr(p->file, ".py") ? "#" : "//"; }

static void print_program(FILE *out, const Program *p) {
    fprintf(out, "%s\n%s arguments:", p->text, remark(p));
    for (int i = 0; i < p->array_count; i++) {
        const Array *a = &p->arrays[i];
        fprintf(out, " %s", a->name);
        if (a->of) fprintf(out, "@%d+%lld", a->of, (long long)a->shift);
        fprintf(out, "=%s[%lld] %s %d %.3g", tw_dtype_name(a->dtype), (long long)a->count, flavours[a->flavour],
                a->whole, a->error);
    }
    for (int i = 0; i < p->scalar_count; i++) {
        const Scalar *s = &p->scalars[i];
        if (s->is_float)
            fprintf(out, " %s=%#g", s->name, s->f);
        else
            fprintf(out, " %s=%lld", s->name, (long long)s->i);
    }
    fprintf(out, " grid=%lld,%lld,%lld", (long long)p->grid[0], (long long)p->grid[1], (long long)p->grid[2]);
    for (int i = 0; i < p->set_count; i++) fprintf(out, " --set %s=%s", p->sets[i].name, p->sets[i].value);
    fprintf(out, "\n");
}

/* What print_program wrote. The texts of --set stay in p->text. */
static bool read_program(const char *path, Program *p) {
    memset(p, 0, sizeof *p);
    FILE *in = fopen(path, "r");
    if (!in) return false;
    p->length = fread(p->text, 1, sizeof p->text - 1, in);
    fclose(in);
    p->file = path;
    char *at = strstr(p->text, "arguments:"), *save = NULL;
    if (!at) return false;
    while (at > p->text && at[-1] != '\n') at--;
    p->length = (size_t)(at - p->text);
    *at++ = 0;
    at = strstr(at, "arguments:");
    at[strcspn(at, "\n")] = 0;
    strtok_r(at, " ", &save);
    for (char *word; (word = strtok_r(NULL, " \n", &save));) {
        char *value = strchr(word, '='), *bracket = strchr(word, '[');
        if (strcmp(word, "--set") == 0) {
            char *pair = strtok_r(NULL, " \n", &save), *equals = pair ? strchr(pair, '=') : NULL;
            if (!equals || p->set_count == MOST_SETS) return false;
            *equals = 0;
            p->sets[p->set_count++] = (tw_pair){pair, equals + 1};
            continue;
        }
        if (!value) return false;
        *value++ = 0;
        if (strcmp(word, "grid") == 0) {
            long long g[3];
            if (sscanf(value, "%lld,%lld,%lld", &g[0], &g[1], &g[2]) != 3) return false;
            for (int d = 0; d < 3; d++) p->grid[d] = g[d];
        } else if (bracket) {
            Array *a = &p->arrays[p->array_count++];
            char *view = strchr(word, '@');
            long long shift = 0;
            if (view && (sscanf(view, "@%d+%lld", &a->of, &shift) != 2 || a->of < 1 || a->of >= p->array_count))
                return false;
            a->shift = shift;
            if (view) *view = 0;
            snprintf(a->name, sizeof a->name, "%s", word);
            *bracket = 0;
            a->count = strtoll(bracket + 1, NULL, 10);
            for (a->dtype = 1; a->dtype < 64 && strcmp(tw_dtype_name(a->dtype), value) != 0;) a->dtype++;
            char *flavour = strtok_r(NULL, " \n", &save), *whole = strtok_r(NULL, " \n", &save),
                 *error = strtok_r(NULL, " \n", &save);
            if (!error || a->dtype == 64) return false;
            for (int f = 0; f < 3; f++)
                if (strcmp(flavour, flavours[f]) == 0) a->flavour = (Flavour)f;
            a->whole = atoi(whole);
            a->error = atof(error);
        } else {
            Scalar *scalar = &p->scalars[p->scalar_count++];
            snprintf(scalar->name, sizeof scalar->name, "%s", word);
            scalar->is_float = strpbrk(value, ".n") != NULL;
            scalar->i = strtoll(value, NULL, 10);
            scalar->f = atof(value);
        }
    }
    return true;
}

static const char *wanted_family;       /* of programs, by its generator's name for it; NULL: all of them */
static const char *const *family_names; /* those that the generator has, up to NULL; NULL: it has none */

static bool choose_family(const char *name, const char *wanted) {
    for (const char *const *known = family_names; known && *known; known++)
        if (strcmp(*known, wanted) == 0) return wanted_family = wanted, true;
    fprintf(stderr, "%s: there is no family %s; there are:", name, wanted);
    for (const char *const *known = family_names; known && *known; known++) fprintf(stderr, " %s", *known);
    fprintf(stderr, "\n");
    return false;
}

typedef struct Wish {
    uint64_t seed;
    int count; /* of all shards */
    Shard shard;
    double seconds;
    const char *targets, *out, *also; /* also: targets of every `every`-th program too */
    int every;
    bool print, small;
    char **replay; /* these files, if there are any */
    int replays;
    bool refusals; /* are printed */
    bool options;  /* of the compiler are drawn too */
} Wish;

static bool read_wish(int argc, char **argv, const char *name, Wish *w) {
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(option, "--print") == 0) {
            w->print = true;
            continue;
        }
        if (strcmp(option, "--refusals") == 0) {
            w->refusals = true;
            continue;
        }
        if (strcmp(option, "--options") == 0) {
            w->options = true;
            continue;
        }
        if (strcmp(option, "--large") == 0) {
            w->small = false;
            continue;
        }
        if (strcmp(option, "--replay") == 0) {
            w->replay = argv + i + 1;
            for (i++; i < argc && strncmp(argv[i], "--", 2) != 0;) i++;
            w->replays = (int)(argv + i - w->replay);
            i--;
            continue;
        }
        if (strcmp(option, "--seed") == 0)
            w->seed = strtoull(value, NULL, 0);
        else if (strcmp(option, "--count") == 0)
            w->count = atoi(value);
        else if (strcmp(option, "--seconds") == 0)
            w->seconds = atof(value), w->count = 1 << 30;
        else if (strcmp(option, "--targets") == 0)
            w->targets = value;
        else if (strcmp(option, "--also") == 0)
            w->also = value;
        else if (strcmp(option, "--every") == 0)
            w->every = atoi(value) > 0 ? atoi(value) : 1;
        else if (strcmp(option, "--out") == 0)
            w->out = value;
        else if (strcmp(option, "--shard") == 0 && shard_read(&w->shard, value)) {
        } else if (strcmp(option, "--timeout") == 0)
            seconds_each = atoi(value);
        else if (strcmp(option, "--family") == 0) {
            if (!choose_family(name, value)) return false;
        } else
            return fprintf(stderr, "%s: unknown option %s\n", name, option), false;
        i++;
    }
    return true;
}

static void report(const Wish *w, const char *name, uint64_t seed, const Program *p) {
    printf("seed %llu: %s%s%s: %s\n", (unsigned long long)seed, kind_names[shared->kind], *shared->target ? " on " : "",
           shared->target, shared->message);
    print_program(stdout, p);
    if (!w->out) return;
    char path[600];
    snprintf(path, sizeof path, "%s/%s-%llu%s", w->out, name, (unsigned long long)seed, strrchr(p->file, '.'));
    FILE *out = fopen(path, "w");
    if (!out) return;
    fprintf(out, "%s seed %llu: %s %s: ", remark(p), (unsigned long long)seed, kind_names[shared->kind],
            shared->target);
    for (const char *s = shared->message; *s; s++) fputc(*s == '\n' ? '|' : *s, out);
    fputc('\n', out);
    print_program(out, p);
    fclose(out);
}

/* Every `every`-th seed, by a number that no count of shards has a part in. */
static bool also_this(const Wish *w, uint64_t seed) { return w->also && mix(&seed) % (uint64_t)w->every == 0; }

static bool passes(const Wish *w, const char *name, Generator *generate, uint64_t seed) {
    static Choices choices;
    static Program program;
    char targets[200];
    memset(&program, 0, sizeof program);
    choices = (Choices){.state = seed * UINT64_C(0x9E3779B97F4A7C15) | 1};
    generate(&choices, &program);
    if (w->print) print_program(stdout, &program);
    snprintf(targets, sizeof targets, "%s%s%s", w->targets, also_this(w, seed) ? "," : "",
             also_this(w, seed) ? w->also : "");
    try_program(&program, targets);
    if (shared->refused && w->refusals) printf("seed %llu refused: %s\n", (unsigned long long)seed, shared->message);
    if (shared->kind == HUNG) { /* or the machine had much else to do: the clock on the wall says nothing of that */
        seconds_each *= 3;
        try_program(&program, targets);
        seconds_each /= 3;
    }
    if (shared->kind == PASSED) return true;
    if (w->small) {
        bool slow = strstr(shared->target, "emulated") || strstr(shared->target, "cuda");
        Search s = {generate, &program, targets, "", shared->kind == HUNG ? 10 : slow ? 60 : 400};
        static Outcome first;
        first = *shared;
        signature(shared, s.wanted, sizeof s.wanted);
        shrink(&s, &choices);
        if (shared->kind == PASSED) { /* it does not happen each time: what was seen counts */
            *shared = first;
            printf("seed %llu: passed when it was run again\n", (unsigned long long)seed);
        }
    }
    report(w, name, seed, &program);
    return false;
}

static bool replays(const Wish *w, const char *path) {
    static Program program;
    bool read = read_program(path, &program);
    if (read) try_program(&program, w->targets);
    if (read && shared->kind == PASSED && !shared->refused) return true;
    const char *what = !read ? "not a program" : shared->refused ? "refused" : kind_names[shared->kind];
    printf("%s: %s: %s\n", path, what, read ? shared->message : "");
    return false;
}

static Generator *without_options;
static void with_options(Choices *c, Program *p) {
    without_options(c, p);
    draw_options(c, p);
}

static int differential_main(int argc, char **argv, const char *name, Generator *generate) {
    Wish w = {.seed = 1, .count = 1, .targets = "cpu", .every = 1, .small = true, .shard = SHARD_ALL};
    if (!read_wish(argc, argv, name, &w)) return 2;
    if (w.options) without_options = generate, generate = with_options;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !mkdtemp(cache)) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    time_t end = time(NULL) + (time_t)w.seconds;
    int failures = 0, done = 0, refused = 0;
    if (!w.replay) printf("seeds from %llu on, targets %s\n", (unsigned long long)w.seed, w.targets);
    for (int i = 0; i < w.replays; i++)
        if (shard_takes(&w.shard)) done++, failures += !replays(&w, w.replay[i]);
    for (int n = 0; !w.replay && n < w.count && (w.seconds == 0 || time(NULL) < end); n++) {
        if (!shard_takes(&w.shard)) continue;
        failures += !passes(&w, name, generate, w.seed + (uint64_t)n);
        refused += shared->refused;
        if (++done % 100 == 0) printf("so far %d programs, %d failed\n", done, failures);
    }
    if (refused) printf("%d refused\n", refused);
    printf("%d programs, %d failed\n", done, failures);
    char cleanup[100];
    snprintf(cleanup, sizeof cleanup, "rm -rf %s", cache);
    return system(cleanup) != 0 || failures != 0;
}
#endif
