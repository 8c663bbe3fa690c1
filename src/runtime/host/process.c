/* SPDX-License-Identifier: Apache-2.0 */
/* process.c: see process.h. The child gets a process group of its own, so that a time limit ends its children too. It
 * is started by vfork and not by posix_spawn, since it has something to say before it becomes the program. */
#include "runtime/host/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

/* What the child does before it becomes the program. It runs in our memory (vfork), while we wait. */
typedef struct Birth {
    const ProcessStart *start;
    const char *path;
    char *const *variables;
    volatile int fault; /* why it did not become the program; 0: it did */
} Birth;

/* Numbers of files below 3 are about to mean something else. */
static int out_of_the_way(int file) { return file >= 0 && file < 3 ? fcntl(file, F_DUPFD_CLOEXEC, 3) : file; }

static void put_in_place(int file, int to, int mode) {
    int from = file >= 0 ? file : open("/dev/null", mode | O_CLOEXEC);
    if (from != to)
        dup2(from, to);
    else
        fcntl(to, F_SETFD, 0);
    if (file < 0 && from != to && from >= 3) close(from);
}

/* Says our own group, in digits, to the guard. */
static void tell_group(int guard) {
    char word[24], *at = word + sizeof word;
    *--at = '\n';
    for (long rest = (long)getpid(); rest; rest /= 10) *--at = (char)('0' + rest % 10);
    if (guard >= 0 && send(guard, at, (size_t)(word + sizeof word - at), MSG_NOSIGNAL) < 0) return; /* it is gone */
}

/* Only what a signal handler may do too, as malloc and its kin may be held by another thread. */
static _Noreturn void become(Birth *b) {
    int input = out_of_the_way(b->start->input), output = out_of_the_way(b->start->output);
    int guard = out_of_the_way(b->start->guard);
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) != 0) continue;
        /* a host that ignores these does not mean its compilers */
        bool plain = number == SIGPIPE || number == SIGCHLD || number == SIGXFSZ;
        if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && !plain)) continue;
        action = (struct sigaction){.sa_handler = SIG_DFL};
        sigaction(number, &action, NULL);
    }
    setpgid(0, 0);
    put_in_place(input, 0, O_RDONLY);
    put_in_place(output, 1, O_WRONLY);
    put_in_place(output, 2, O_WRONLY);
    tell_group(guard);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(b->path, (char *const *)(uintptr_t)b->start->argv, b->variables); /* it does not change the strings */
    b->fault = errno;
    _exit(127);
}

/* The child in our memory must meet no signal handler of ours and no cancelled thread. */
static pid_t give_birth(Birth *b) {
    sigset_t all, before;
    int cancels;
    sigfillset(&all);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancels);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = vfork();
    if (pid == 0) become(b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_setcancelstate(cancels, NULL);
    return pid;
}

bool process_spawn(const ProcessStart *start, pid_t *pid) {
    char variable[4200], *list[MOST_VARIABLES], path[PATH_MAX];
    char **variables = start->temporary ? with_tmpdir(start->temporary, variable, sizeof variable, list) : environ;
    if (!process_find(start->argv[0], path, sizeof path)) return false;
    Birth birth = {.start = start, .path = path, .variables = variables};
    *pid = give_birth(&birth);
    if (*pid > 0 && birth.fault)
        while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR) {}
    return *pid > 0 && !birth.fault;
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
    static const ProcessWatch nobody = {.guard = -1};
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
    ProcessStart start = {argv, watch->temporary, .input = -1, .output = ends[1], .guard = watch->guard};
    result.started = process_spawn(&start, &pid);
    close(ends[1]);
    if (result.started) {
        int status = 0;
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
    }
    if (watch->guard >= 0 && send(watch->guard, "\n", 1, MSG_NOSIGNAL) < 0) {} /* it is gone */
    close(ends[0]);
    return result;
}
