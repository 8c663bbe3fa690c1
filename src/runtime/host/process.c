/* SPDX-License-Identifier: Apache-2.0 */
/* process.c: see process.h. The child gets a process group of its own, so that a time limit ends its children too. */
#include "runtime/host/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int64_t milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool process_find(const char *name, char *path, size_t capacity) {
    struct stat info;
    if (strchr(name, '/')) {
        int n = snprintf(path, capacity, "%s", name);
        return n > 0 && (size_t)n < capacity && access(name, X_OK) == 0;
    }
    const char *list = getenv("PATH");
    for (const char *at = list ? list : "/usr/local/bin:/usr/bin:/bin"; at;) {
        const char *end = strchr(at, ':');
        int length = end ? (int)(end - at) : (int)strlen(at);
        int n = snprintf(path, capacity, "%.*s/%s", length ? length : 1, length ? at : ".", name);
        if (n > 0 && (size_t)n < capacity && access(path, X_OK) == 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode))
            return true;
        at = end ? end + 1 : NULL;
    }
    return false;
}

enum { MOST_VARIABLES = 4096 };

/* Our environment with that as TMPDIR; where it does not fit, as it is. */
static char **with_tmpdir(const char *temporary, char *variable, size_t size, char **list) {
    int count = 0;
    int length = snprintf(variable, size, "TMPDIR=%s", temporary);
    if (length < 0 || (size_t)length >= size) return environ;
    list[count++] = variable;
    for (char **at = environ; at && *at; at++) {
        if (strncmp(*at, "TMPDIR=", 7) == 0) continue;
        if (count == MOST_VARIABLES - 1) return environ;
        list[count++] = *at;
    }
    list[count] = NULL;
    return list;
}

bool process_spawn(const char *const *argv, const char *temporary, int input, int output, pid_t *pid) {
    char variable[4200], *list[MOST_VARIABLES];
    char **variables = temporary ? with_tmpdir(temporary, variable, sizeof variable, list) : environ;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    sigset_t none, plain;
    sigemptyset(&none);
    sigemptyset(&plain); /* a host that ignores these does not mean its compilers */
    sigaddset(&plain, SIGPIPE);
    sigaddset(&plain, SIGCHLD);
    sigaddset(&plain, SIGXFSZ);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &plain);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    /* Ends of pipes are closed by exec itself; dup2 of a number to itself keeps it open. */
    if (input >= 0)
        posix_spawn_file_actions_adddup2(&actions, input, 0);
    else
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    for (int to = 1; to <= 2; to++)
        if (output >= 0)
            posix_spawn_file_actions_adddup2(&actions, output, to);
        else
            posix_spawn_file_actions_addopen(&actions, to, "/dev/null", O_WRONLY, 0);
    /* posix_spawnp does not change the strings; its type only looks so. */
    bool ok = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv, variables) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return ok;
}

/* Why a run is over. */
typedef enum End { END_ITSELF, END_LATE, END_CANCELLED } End;

/* Reads until the end or the deadline. What does not fit is dropped. */
static End drain(int from, int64_t deadline, Cancel *cancel, char *output, size_t capacity) {
    size_t used = 0;
    char spare[4096];
    for (;;) {
        if (cancel_look(cancel)) return END_CANCELLED;
        int64_t left = deadline - milliseconds();
        if (left <= 0) return END_LATE;
        struct pollfd wait = {.fd = from, .events = POLLIN};
        int ready = poll(&wait, 1, left > CANCEL_LOOK_MS ? CANCEL_LOOK_MS : (int)left);
        if (ready < 0 && errno != EINTR) return END_ITSELF;
        if (ready <= 0) continue;
        bool room = used + 1 < capacity;
        ssize_t n = read(from, room ? output + used : spare, room ? capacity - 1 - used : sizeof spare);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return END_ITSELF;
        if (room) {
            used += (size_t)n;
            output[used] = 0;
        }
    }
}

/* Waits for the end until the deadline; one that nobody can tell of counts as the end. */
static End await(pid_t pid, int64_t deadline, Cancel *cancel, int *status) {
    for (;;) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid) return END_ITSELF;
        if (got < 0 && errno != EINTR) {
            *status = 0;
            return END_ITSELF;
        }
        if (cancel_look(cancel)) return END_CANCELLED;
        if (milliseconds() >= deadline) return END_LATE;
        struct timespec nap = {0, 500000};
        nanosleep(&nap, NULL);
    }
}

bool process_reap(pid_t pid, int limit, int *status) {
    return await(pid, milliseconds() + limit, NULL, status) == END_ITSELF;
}

ProcessResult process_run(const char *const *argv, int timeout_seconds, const ProcessWatch *watch, char *output,
                          size_t capacity) {
    static const ProcessWatch nobody;
    if (!watch) watch = &nobody;
    ProcessResult result = {.exit_code = -1};
    output[0] = 0;
    int ends[2];
    if (cancel_is_asked(watch->cancel)) {
        result.cancelled = true;
        return result;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) return result;
    int64_t deadline = milliseconds() + (int64_t)timeout_seconds * 1000;
    pid_t pid = 0;
    result.started = process_spawn(argv, watch->temporary, -1, ends[1], &pid);
    close(ends[1]);
    if (result.started) {
        int status = 0;
        if (watch->note) watch->note(watch->user, pid);
        End end = drain(ends[0], deadline, watch->cancel, output, capacity);
        if (end == END_ITSELF) end = await(pid, deadline, watch->cancel, &status);
        result.timed_out = end == END_LATE;
        result.cancelled = end == END_CANCELLED;
        if (end != END_ITSELF) {
            kill(-pid, SIGKILL);
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
        } else if (WIFEXITED(status))
            result.exit_code = WEXITSTATUS(status);
        else if (WIFSIGNALED(status))
            result.signal = WTERMSIG(status);
        if (watch->note) watch->note(watch->user, 0);
    }
    close(ends[0]);
    return result;
}
