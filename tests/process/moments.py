# SPDX-License-Identifier: Apache-2.0
"""moments.py: killed before and behind every call to the system that matters while a compiler is started, runs and has ended.

A library laid under the command counts these calls, in the child that is about to become the compiler too, and kills the command at
one of them. Whichever it is: no process and no folder stays. The calls are counted until one run comes through, so none is left out.
"""
import itertools
import os
import pathlib
import shutil
import signal
import subprocess

import signals

LAID_UNDER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t command;
static long left;

__attribute__((constructor)) static void begin(void) {
    const char *moment = getenv("TILEWRIGHT_TEST_MOMENT");
    left = moment ? atol(moment) : -1;
    command = getpid();
    unsetenv("LD_PRELOAD"); /* it alone, not its compilers */
}

static void moment(void) {
    if (left-- == 0) kill(command, SIGKILL);
}

#define COUNTED(result, name, parameters, arguments)                              \
    result name parameters {                                                      \
        static result (*real) parameters;                                         \
        if (!real) real = (result(*) parameters)dlsym(RTLD_NEXT, #name);          \
        moment();                                                                 \
        result r = real arguments;                                                \
        moment();                                                                 \
        return r;                                                                 \
    }

COUNTED(int, execve, (const char *path, char *const argv[], char *const variables[]), (path, argv, variables))
COUNTED(int, setpgid, (pid_t pid, pid_t group), (pid, group))
COUNTED(int, mkdir, (const char *path, mode_t mode), (path, mode))
COUNTED(char *, mkdtemp, (char *path), (path))
COUNTED(int, rmdir, (const char *path), (path))
COUNTED(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
COUNTED(int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends))
COUNTED(ssize_t, send, (int to, const void *data, size_t size, int flags), (to, data, size, flags))
COUNTED(int, pipe2, (int ends[2], int flags), (ends, flags))
"""
COMPILERS = {
    "hangs": "#!/bin/sh\nmktemp >/dev/null\nsleep 100 &\necho >>\"$TILEWRIGHT_TEST_STARTED\"\nsleep 100\n",
    "fails": "#!/bin/sh\necho x >\"$TMPDIR/put_aside\"\necho >>\"$TILEWRIGHT_TEST_STARTED\"\nexit 1\n",
}


def sweep(t, library, name, script):
    compiler = t.root / f"cc_{name}"
    compiler.write_text(script)
    compiler.chmod(0o755)
    for moment in itertools.count():
        started = t.root / f"started_{name}_{moment}"
        process = t.start(signals.PLAIN, [], "1", {"CC": str(compiler), "LD_PRELOAD": str(library), "TILEWRIGHT_TEST_MOMENT": str(moment),
                                                   "TILEWRIGHT_TEST_STARTED": str(started)})
        # One whose moment does not come hangs in its compiler, or says that it failed.
        while process.poll() is None and not (name == "hangs" and started.exists()):
            signals.await_that(lambda: process.poll() is not None or (name == "hangs" and started.exists()), 1)
        try:
            process.wait(0.3)
        except subprocess.TimeoutExpired:
            pass
        through = process.returncode != -signal.SIGKILL
        if through and process.returncode is not None:
            process.communicate()
            return moment
        t.end(f"a compiler that {name}, killed at moment {moment}", process, [signal.SIGKILL])
        if through:
            return moment
    return 0


def main(tilewright, folder, say):
    t = signals.Test(tilewright, folder, say)
    source, library = pathlib.Path(folder) / "moments.c", pathlib.Path(folder) / "moments.so"
    source.write_text(LAID_UNDER)
    if not shutil.which("cc") or subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"],
                                                stderr=subprocess.DEVNULL).returncode:
        say("skipped: moments: no C compiler that makes shared libraries")
        return 0, 0
    if "Sanitizer" in os.environ.get("LD_PRELOAD", ""):
        say("skipped: moments: another library is laid under already")
        return 0, 0
    for name, script in COMPILERS.items():
        if sweep(t, library, name, script) < 20:
            t.wrong += 1
            say(f"a compiler that {name}: the calls were not counted")
    return t.count, t.wrong
