/* SPDX-License-Identifier: Apache-2.0 */
/* process.h: running another program: no shell, no input, a time limit, its output captured.
 *
 *     const char *argv[] = {"gcc", "--version", NULL};
 *     char output[4096];
 *     ProcessResult r = process_run(argv, 10, NULL, output, sizeof output);
 *
 * Nothing is allocated, so it may be called below the API's frame. */
#ifndef RUNTIME_HOST_PROCESS_H
#define RUNTIME_HOST_PROCESS_H
#include "base/cancel.h"

#include <stddef.h>
#include <sys/types.h>

typedef struct ProcessResult {
    bool started;
    bool timed_out, cancelled; /* it was killed, with all it had started */
    int exit_code;             /* 0 .. 255; -1: not started, or killed */
    int signal;                /* that ended it; 0: none */
} ProcessResult;

/* Who looks after it while it runs. */
typedef struct ProcessWatch {
    Cancel *cancel;        /* may be NULL */
    const char *temporary; /* its TMPDIR; NULL: ours */
    int guard;             /* a socket that is told a line: the number of its process group before it runs, nothing
                            * when it has ended; -1: nobody */
} ProcessWatch;

typedef struct ProcessStart {
    const char *const *argv;
    const char *temporary; /* its TMPDIR; NULL: ours */
    int input, output;     /* -1: /dev/null */
    int guard;             /* as above; open until the program runs: when it closes without a line, none runs */
} ProcessStart;

/* argv[0] is looked up in PATH. Standard output and error go to `output`, cut to capacity - 1
 * bytes and closed by a NUL. watch may be NULL. */
ProcessResult process_run(const char *const *argv, int timeout_seconds, const ProcessWatch *watch, char *output,
                          size_t capacity);
/* Starts a program as a process group of its own. */
bool process_spawn(const ProcessStart *start, pid_t *pid);
/* Waits for its end at most that long; false: it goes on. */
bool process_reap(pid_t pid, int milliseconds, int *status);
/* The file that a program's name means in PATH; false when there is none. */
bool process_find(const char *name, char *path, size_t capacity);
#endif
