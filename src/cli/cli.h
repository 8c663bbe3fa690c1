/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h: what the files of the command line share. The command line is a user of the public API
 * like any other: it sees tilewright.h and nothing else of the library.
 *
 *     main.c            commands and options, one table each; help
 *     arguments.c       --arg NAME=SPEC: arrays and numbers
 *     expression.c      integer expressions: --grid 'cdiv(n, BLOCK)', shapes
 *     timing.c          compiles and launches, and their times
 *     command_run.c     run, check
 *     command_show.c    emit, ir, explain, list, targets, docs
 *     command_bench.c   bench
 *     probe.c           what a target of this machine can do at most
 *     command_tune.c    tune
 *     tuned.c           choices of constants and options in files
 *     command_build.c   build
 *     command_cache.c   cache
 *     command_manual.c  man, completion: made from the tables of table.h
 *     say.c             messages, memory, files
 *     color.c           colours of messages
 *     json.c            answers and messages for programs
 *     signals.c         Ctrl-C
 *     advice.c          what is added to the library's messages: options, a command to copy
 *     guarded.c         arrays between pages that fault
 *
 * Exit status: 0 it ran (and matched), 1 a mismatch or a mistake of the user, 2 our own fault. */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "tilewright.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct Pairs {
    tw_pair *at;
    size_t count;
} Pairs;

typedef struct Options {
    struct Options *next; /* `build`: of the kernel behind --and */
    const char *command;
    char **words; /* of the whole command, as typed */
    int word_count;
    char *file, *kernel; /* FILE[:KERNEL] */
    const char *target, *grid, *output, *passes, *stop_after, *print_after, *topic, *name, *isa, *limit;
    const char *bytes, *flops, *tuned;
    bool emulate, sanitize, time, time_passes, print_after_all, verify_each, assembly, include_anywhere, json, html;
    bool list, clear;
    uint64_t seed;
    double tolerance; /* < 0: by dtype */
    double seconds;   /* that `tune` may take */
    long config;      /* 0: none */
    Pairs defines, args, sets, saves, expects;
    Pairs overs, tries; /* values with commas between them */
    Pairs includes; /* names only: folders */
} Options;

typedef int Command(const Options *o);
Command command_run, command_check, command_emit, command_ir, command_explain, command_bench, command_tune,
    command_build, command_cache, command_list, command_targets, command_docs, command_man, command_completion;

/* --- color.c --- */
bool say_color(const char *when); /* always, never, auto: whether messages have colours; false: it is none of them */
void print_message(const char *text); /* to stderr, its words `error:`, `hint:` .. and its carets in colours */

/* --- say.c --- */
/* In a format, in front of the part that says what to do instead; it reads as "; ". */
#define FIX "\001"
int fail(const char *format, ...) __attribute__((format(printf, 1, 2))); /* prints "error: .."; gives 1 */
void fail_in(FILE *out, const char *text); /* without colours, into a file */
/* The context's message; gives the exit status for the code. */
int fail_status(const tw_context *cx, tw_status status);
/* "warning", "hint": a line of it. */
void remark(const char *severity, const char *format, ...) __attribute__((format(printf, 2, 3)));
void say_json(bool yes);                   /* from now on messages are JSON, an object a line */
bool says_json(void);
void say_speech(FILE *out, const char *text, size_t length); /* what a kernel prints; with JSON, each line on stderr */
void print_warnings(const tw_context *cx); /* of the last call */
void print_json_text(const char *text);    /* in quotes, as JSON writes it; NULL: null */
void fprint_json_text(FILE *out, const char *text);
void *get_memory(size_t size); /* zeroed; ends the program if there is none */
char *copy_bytes(const char *text, size_t length);
const char *nearest(const char *wrong, const char *const *names, size_t count); /* NULL: none is near */
/* Writes a file so that it is complete or not there. */
bool write_whole(const char *path, const void *data, size_t size);

/* --- json.c --- */
typedef struct Json {
    FILE *out;
    bool more, keyed; /* a value stands before, in this bracket; a key does */
} Json;
void json_start(Json *j, FILE *out);
void json_open(Json *j, char bracket);
void json_close(Json *j, char bracket);
void json_key(Json *j, const char *key);
void json_text(Json *j, const char *text); /* NULL: null */
void json_integer(Json *j, int64_t number);
void json_number(Json *j, double number); /* null where JSON has none */
void json_bool(Json *j, bool value);
void json_null(Json *j);
void json_raw(Json *j, const char *from, const char *to); /* that is JSON, with its key if it has one */
void json_shape(Json *j, const tw_buffer *b); /* its dtype and shape, as keys of an object */
void json_remark(FILE *out, const char *severity, const char *text, const char *fix);
/* The messages of the last call on standard error, each with its notes; how many. */
size_t json_diagnostics(const tw_context *cx);

/* --- signals.c --- */
void signals_prepare(void); /* at the start of the program */
/* From now on signals that ask for the end cancel this context's calls first; NULL: there is none any more. */
void signals_watch(tw_context *cx);
void signals_hold(bool hold); /* around the writing of a file: the end waits for it */
void die_if_asked(void);      /* by the signal that came meanwhile */

/* --- guarded.c --- */
typedef struct Guarded Guarded;
Guarded *guarded_new(size_t size, const char *name); /* zeroed; NULL: no memory */
void *guarded_data(const Guarded *g);
void guarded_free(Guarded *g); /* NULL does nothing */
/* Has the kernel written beside an array? 0, or a message and 1. */
int guarded_check(const char *kernel);
/* A launch of that kernel begins (NULL: has ended), in native code or in one that tests each access:
 * faults become messages. */
void guarded_watch(const char *kernel, bool native);

/* --- expression.c --- */
typedef struct Name {
    const char *name;
    int64_t value;
} Name;
typedef struct Names {
    Name *at;
    size_t count;
} Names;
/* The value of one expression of `where` ("--grid 2,x"), up to a top-level `,` or `]` or the end; *rest is behind it.
 * False, with a message. */
bool evaluate(const char *where, const char *text, const Names *names, int64_t *value, const char **rest);

/* --- tuned.c --- */
typedef struct Choice { /* of constants and options of a kernel, for a target */
    Pairs values, options;
    double us;
} Choice;
/* The choice that a file has for a kernel ("add.add_kernel") on a target; false: none, or a message and *status. */
bool tuned_find(const char *path, const char *kernel, const char *target, Choice *choice, int *status);
int tuned_write(const char *path, const char *kernel, const char *target, const Choice *choice);
char *tuned_name(const char *file, const char *kernel); /* as files of choices call it */
void choice_free(Choice *choice);

/* --- arguments.c --- */
typedef struct Argument {
    tw_param_info info;
    const char *spec;  /* NULL: not given */
    tw_arg value;      /* buffers: those of the target */
    Guarded *memory;   /* arrays: of value's buffer, where it lies on the host */
    tw_buffer *host;   /* arrays: what was put in; after reading back: what came out */
    tw_buffer *before; /* arrays: a copy from before the launch; NULL until asked for */
} Argument;
typedef struct Session {
    tw_context *context;
    bool borrows; /* another session's */
    tw_module *module;
    tw_kernel *kernel;
    size_t index; /* of the kernel in the module */
    Argument *arguments;
    size_t count;
    tw_arg *values; /* arguments[i].value */
    Names names;    /* integers among the arguments and -D */
    Pairs sets;     /* --set, and what the configuration says */
    Choice tuned;   /* what a file of choices says */
    double bytes;   /* of all arrays */
    FILE *speech;   /* where the kernel's own words go; NULL: nowhere */
    bool explains;  /* a refused compile says what was found until then */
    bool native;    /* the kernel runs as code of this machine: nothing tests its accesses */
    bool coarse;    /* matrix products of the kernel that ran keep fewer than 24 significant bits */
    bool widened;   /* it carries sums in 32 bits that the source keeps in 16 */
} Session;

/* Loads the file with what the options say of it. */
tw_status load_source(tw_context *cx, const Options *o, tw_module **module);
int session_choose(Session *s, const Options *o); /* which kernel of the module */
/* Context, module, kernel, arguments; 0 or the exit status. `data`: arrays get their contents. */
int session_open(Session *s, const Options *o, bool data);
int session_open_in(Session *s, const Options *o, bool data, tw_context *shared); /* which is closed after it */
int session_compile(Session *s, const Options *o, const char *target, int stage);
/* What a compile for the target is told. */
void session_compile_options(Session *s, const Options *o, const char *target, int stage, tw_compile_options *options);
/* What is said of a compile that failed; the exit status. */
int session_fail(Session *s, const Options *o, tw_status status);
void session_close(Session *s);
/* Arrays to the target's memory (or fresh copies), and back to argument->host. */
int session_upload(Session *s, const char *target);
int session_download(Session *s);
bool has_memory(const char *target); /* do its kernels run on memory of their own? */
int session_grid(Session *s, const Options *o, int64_t grid[3], bool *own);
Argument *session_argument(Session *s, const char *name); /* NULL, with a message */

/* --- timing.c --- */
typedef struct Timing { /* of launches; seconds */
    double median, least;
    int launches;   /* 0: nothing was timed */
    double give_up; /* it is enough when the third launch took longer than this; 0: never */
    double limit;   /* a launch that takes longer is ended, where the target cannot by SIGALRM; 0: never */
} Timing;
double seconds_now(void);
/* Compiles for the target, and asks for what a launch needs. */
int compile_for(Session *s, const Options *o, const char *target);
/* Launches what was compiled for the target, and brings the arrays back. timing NULL: once. */
int launch_on(Session *s, const Options *o, const char *target, Timing *timing);
void json_timing(Json *j, const Timing *timing); /* its keys, where something was timed */

/* --- child.c: processes of `tune` --- */
typedef struct Outcome { /* of one; what it gives back */
    double predicted; /* seconds, by the cost model; 0: it does not know */
    Timing timing;
} Outcome;
typedef struct Child {
    int pid;    /* 0: none */
    int result; /* of a pipe */
    int how;    /* it ended, as waitpid says it */
    double limit;
    FILE *said; /* its messages */
} Child;
typedef int ChildWork(const Options *o, Outcome *out);
/* Does the work in a process of its own, on a copy of *out; false: there is no process to be had. */
bool child_start(Child *c, ChildWork *work, const Options *o, const Outcome *out);
bool child_ended(Child *c, bool wait);
void child_stop(Child *c);
/* Of one that ended: its outcome and its exit status; where that is not 0, what it said, which is the caller's to
 * free. */
int child_take(Child *c, Outcome *out, char **said);
void child_drop(Child *c);

/* --- command_bench.c: products of lists "NAME=1,2,3" --- */
size_t combination_count(const Pairs *axes);
void combination_take(const Pairs *axes, size_t number, Pairs *out); /* one value each */
void combination_free(Pairs *pairs);
Pairs pairs_join(const Pairs *first, const Pairs *second); /* `at` is the caller's to free */

/* --- probe.c --- */
typedef struct Peaks {
    bool known;
    double copy;   /* bytes a second, read and written; 0: the target is a model */
    double flops;  /* operations a second of products .. */
    int32_t dtype; /* .. of these */
} Peaks;
int measure_peaks(const Options *o, int32_t dtype, Peaks *peaks);

/* --- advice.c --- */
void print_hints(const char *message);    /* which options a message of the library speaks of */
void print_array_hints(const Session *s); /* for a compile that failed: numbers where arrays seem to be meant */
bool lacks_arguments(const Session *s);
int fail_missing(Session *s, const Options *o); /* names them all, with a command to copy; gives 1 */

void print_pass_times(const Session *s);
#endif
