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
    Cancel *cancel;                        /* may be NULL */
    const char *temporary;                 /* its TMPDIR; NULL: ours */
    void (*note)(void *user, pid_t group); /* it runs as this group; 0: it has ended. May be NULL */
    void *user;
} ProcessWatch;

/* argv[0] is looked up in PATH. Standard output and error go to `output`, cut to capacity - 1
 * bytes and closed by a NUL. watch may be NULL. */
ProcessResult process_run(const char *const *argv, int timeout_seconds, const ProcessWatch *watch, char *output,
                          size_t capacity);
/* Starts a program as a process group of its own; temporary: its TMPDIR, or NULL for ours; input and
 * output -1: /dev/null. */
bool process_spawn(const char *const *argv, const char *temporary, int input, int output, pid_t *pid);
/* Waits for its end at most that long; false: it goes on. */
bool process_reap(pid_t pid, int milliseconds, int *status);
/* The file that a program's name means in PATH; false when there is none. */
bool process_find(const char *name, char *path, size_t capacity);
#endif
