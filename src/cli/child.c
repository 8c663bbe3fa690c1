/* SPDX-License-Identifier: Apache-2.0 */
/* child.c: work in processes of their own: what one says goes to a file that has no name, what it finds out comes back
 * through a pipe, and what it breaks is its own. It ends with the one that started it, however that ends, and takes its
 * compiler and folder along. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

/* From now on this process ends with that one; false: it has. */
static bool ends_with(pid_t parent) {
#ifdef __linux__
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return false;
#endif
    return getppid() == parent;
}

static int work_quietly(ChildWork *work, const Options *o, Outcome out, FILE *said, int result) {
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, 1);
    dup2(fileno(said), 2);
    say_color("never"); /* a part of it may stand in a table */
    int status = work(o, &out);
    if (write(result, &out, sizeof out) != (ssize_t)sizeof out && !status) status = 1;
    return status;
}

bool child_start(Child *c, ChildWork *work, const Options *o, const Outcome *out) {
    int ends[2];
    *c = (Child){.said = tmpfile(), .limit = out->timing.limit};
    if (!c->said || pipe(ends) != 0) {
        if (c->said) fclose(c->said);
        return false;
    }
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        if (!ends_with(parent)) _exit(1);
        close(ends[0]);
        int status = work_quietly(work, o, *out, c->said, ends[1]);
        fflush(NULL);
        _exit(status);
    }
    close(ends[1]);
    c->result = ends[0];
    c->pid = pid > 0 ? pid : 0;
    if (pid < 0) child_drop(c);
    return pid > 0;
}

bool child_ended(Child *c, bool wait) {
    int got;
    do got = waitpid(c->pid, &c->how, wait ? 0 : WNOHANG);
    while (got < 0 && errno == EINTR);
    return got != 0;
}

void child_stop(Child *c) { kill(c->pid, SIGTERM); }

void child_drop(Child *c) {
    close(c->result);
    fclose(c->said);
    *c = (Child){0};
}

/* Why the system ended it. */
static void say_end(const Child *c) {
    char text[160];
    int number = WTERMSIG(c->how);
    if (number == SIGALRM)
        snprintf(text, sizeof text, "stopped: a launch took longer than %.1f s", c->limit);
    else
        snprintf(text, sizeof text, "its process was ended by signal %d (%s)", number, strsignal(number));
    fail_in(c->said, text);
}

int child_take(Child *c, Outcome *out, char **said) {
    Outcome found;
    bool whole = read(c->result, &found, sizeof found) == (ssize_t)sizeof found;
    int status = WIFEXITED(c->how) ? WEXITSTATUS(c->how) : 1;
    if (whole) *out = found;
    *said = NULL;
    if (!whole && !status) status = 1;
    if (status) {
        fseek(c->said, 0, SEEK_END);
        if (WIFSIGNALED(c->how)) say_end(c);
        long size = ftell(c->said);
        *said = get_memory((size_t)(size > 0 ? size : 0) + 1);
        rewind(c->said);
        if (size > 0 && fread(*said, 1, (size_t)size, c->said) != (size_t)size) **said = 0;
    }
    child_drop(c);
    return status;
}
