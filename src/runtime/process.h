/* process.h: running another program: no shell, no input, a time limit, its output captured.
 *
 *     const char *argv[] = {"gcc", "--version", NULL};
 *     char output[4096];
 *     ProcessResult r = process_run(argv, 10, output, sizeof output);
 *
 * Nothing is allocated, so it may be called below the API's frame. */
#ifndef RUNTIME_PROCESS_H
#define RUNTIME_PROCESS_H
#include <stdbool.h>
#include <stddef.h>

typedef struct ProcessResult {
    bool started;
    bool timed_out; /* it was killed, with all it had started */
    int exit_code;  /* 0 .. 255; -1: not started, killed, or timed out */
    int signal;     /* that ended it; 0: none */
} ProcessResult;

/* argv[0] is looked up in PATH. Standard output and error go to `output`, cut to capacity - 1
 * bytes and closed by a NUL. */
ProcessResult process_run(const char *const *argv, int timeout_seconds, char *output,
                          size_t capacity);
/* The file that a program's name means in PATH; false when there is none. */
bool process_find(const char *name, char *path, size_t capacity);
#endif
