/* process.c: see process.h. The child gets a process group of its own, so that a time limit ends
 * its children too. */
#include "runtime/process.h"

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
    for (const char *at = list && *list ? list : "/usr/local/bin:/usr/bin:/bin"; at;) {
        const char *end = strchr(at, ':');
        int length = end ? (int)(end - at) : (int)strlen(at);
        int n = snprintf(path, capacity, "%.*s/%s", length ? length : 1, length ? at : ".", name);
        if (n > 0 && (size_t)n < capacity && access(path, X_OK) == 0 && stat(path, &info) == 0 &&
            S_ISREG(info.st_mode))
            return true;
        at = end ? end + 1 : NULL;
    }
    return false;
}

static bool start(const char *const *argv, int output, int other_end, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, output, 2);
    posix_spawn_file_actions_addclose(&actions, output);
    posix_spawn_file_actions_addclose(&actions, other_end);
    /* posix_spawnp does not change the strings; its type only looks so. */
    bool ok = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv,
                           environ) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return ok;
}

/* Reads until the end or the deadline; true at the end. What does not fit is dropped. */
static bool drain(int from, int64_t deadline, char *output, size_t capacity) {
    size_t used = 0;
    char spare[4096];
    for (;;) {
        int64_t left = deadline - milliseconds();
        struct pollfd wait = {.fd = from, .events = POLLIN};
        int ready = left > 0 ? poll(&wait, 1, left > 1000 ? 1000 : (int)left) : 0;
        if (ready < 0 && errno != EINTR) return true;
        if (ready <= 0) {
            if (milliseconds() >= deadline) return false;
            continue;
        }
        bool room = used + 1 < capacity;
        ssize_t n =
            read(from, room ? output + used : spare, room ? capacity - 1 - used : sizeof spare);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return true;
        if (room) {
            used += (size_t)n;
            output[used] = 0;
        }
    }
}

/* Waits for the end until the deadline; true if it came. */
static bool reap(pid_t pid, int64_t deadline, int *status) {
    for (;;) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid) return true;
        if (got < 0 && errno != EINTR) {
            *status = 0;
            return true;
        }
        if (milliseconds() >= deadline) return false;
        struct timespec nap = {0, 500000};
        nanosleep(&nap, NULL);
    }
}

ProcessResult process_run(const char *const *argv, int timeout_seconds, char *output,
                          size_t capacity) {
    ProcessResult result = {.exit_code = -1};
    output[0] = 0;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return result;
    int64_t deadline = milliseconds() + (int64_t)timeout_seconds * 1000;
    pid_t pid = 0;
    result.started = start(argv, ends[1], ends[0], &pid);
    close(ends[1]);
    if (result.started) {
        int status = 0;
        bool ended = drain(ends[0], deadline, output, capacity) && reap(pid, deadline, &status);
        if (!ended) {
            result.timed_out = true;
            kill(-pid, SIGKILL);
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
        } else if (WIFEXITED(status))
            result.exit_code = WEXITSTATUS(status);
        else if (WIFSIGNALED(status))
            result.signal = WTERMSIG(status);
    }
    close(ends[0]);
    return result;
}
