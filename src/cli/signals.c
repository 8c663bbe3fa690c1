/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c: Ctrl-C and its kin.
 *
 * A signal that asks for the end ends the process at once, by that signal, unless something outside of
 * it would stay: a compiler that the library has started, a folder that it works in, a file that is
 * half written. Then the call under way is cancelled, lets go of it within moments, and main ends the
 * process (die_if_asked). A signal more changes nothing; should the call hang, the clock ends it. */
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { LAST_WAIT_SECONDS = 5 };

static tw_context *volatile context;    /* of the session */
static volatile sig_atomic_t holding;   /* files that are being written */
static volatile sig_atomic_t asked_for; /* the signal */

static void die_by(int number) {
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

static void on_signal(int number) {
    tw_context *cx = context;
    bool kept = holding;
    asked_for = number;
    if (cx && tw_context_cancel(cx)) kept = true;
    if (kept)
        alarm(LAST_WAIT_SECONDS);
    else
        die_by(number);
}

void signals_prepare(void) {
    /* A file opened later must not become standard output; reading alone, it stays one that cannot be written. */
    for (int file = 0; file <= 2; file++)
        if (fcntl(file, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) _exit(1);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of the write */
}

void signals_watch(tw_context *cx) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    context = cx;
    for (size_t i = 0; cx && i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now = {.sa_handler = on_signal}, before;
        sigemptyset(&now.sa_mask);
        /* What the caller told us to ignore (nohup, a job in the background) stays ignored. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &now, NULL);
    }
}

void signals_hold(bool hold) {
    holding = holding + (hold ? 1 : -1);
    if (!holding) die_if_asked();
}

void die_if_asked(void) {
    if (asked_for) die_by(asked_for);
}
