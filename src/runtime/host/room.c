/* SPDX-License-Identifier: Apache-2.0 */
/* room.c: see room.h. */
#include "runtime/host/room.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROOM_LIFE_SECONDS = 3600, ROOM_BYTES = 1 << 20 };

/* --- removing --- */

/* Empties a folder and the folders in it; closes it. */
static void empty_folder(int folder, int depth) {
    DIR *list = fdopendir(folder);
    if (!list) {
        close(folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(list));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (unlinkat(folder, entry->d_name, 0) == 0 || depth == 0) continue;
        int inner = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0) empty_folder(inner, depth - 1);
        unlinkat(folder, entry->d_name, AT_REMOVEDIR);
    }
    closedir(list);
}

static void remove_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) empty_folder(folder, 4);
    rmdir(path);
}

/* Rooms that stayed, where a guard could not help. */
static void sweep_rooms(const char *dir) {
    DIR *list = opendir(dir);
    if (!list) return;
    time_t now = time(NULL);
    for (struct dirent *entry; (entry = readdir(list));) {
        if (strncmp(entry->d_name, "room-", 5) != 0) continue;
        char path[CACHE_PATH];
        struct stat info;
        int n = snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (n > 0 && (size_t)n < sizeof path && lstat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
            now - info.st_mtime > ROOM_LIFE_SECONDS)
            remove_folder(path);
    }
    closedir(list);
}

/* --- the guard --- */

/* It is told the group of processes that runs in the room (an empty word: none), and at last `done`.
 * When the talk ends otherwise, we are gone. */
static const char guard_script[] =
    "group=; while read -r word; do case $word in done) exit 0;; *) group=$word;; esac; done; "
    "test -n \"$group\" && kill -s KILL -- \"-$group\"; rm -rf -- \"$0\"";

static void post_guard(Room *room) {
    const char *argv[] = {"/bin/sh", "-c", guard_script, room->path, NULL};
    int ends[2];
    room->guard = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    ProcessStart start = {argv, .input = ends[1], .output = -1, .guard = -1};
    bool posted = process_spawn(&start, &room->guard_pid);
    close(ends[1]);
    if (posted)
        room->guard = ends[0];
    else
        close(ends[0]);
}

static void dismiss_guard(Room *room) {
    int status;
    if (room->guard < 0) return;
    if (send(room->guard, "done\n", 5, MSG_NOSIGNAL) < 0) {} /* it is gone */
    close(room->guard);
    room->guard = -1;
    if (!process_reap(room->guard_pid, 2000, &status)) {
        kill(room->guard_pid, SIGKILL);
        process_reap(room->guard_pid, 2000, &status);
    }
}

/* --- rooms --- */

/* The guard stands first, so that no moment has a folder that nobody looks after. */
static bool try_room(Room *room, const char *dir) {
    char absolute[CACHE_PATH];
    uint64_t number;
    if (!path_absolute(dir, absolute) || access(absolute, W_OK | X_OK) != 0 || getentropy(&number, sizeof number) != 0)
        return false;
    int n = snprintf(room->path, sizeof room->path, "%s/room-%016llx", absolute, (unsigned long long)number);
    if (n < 0 || (size_t)n >= sizeof room->path) return false;
    post_guard(room);
    if (mkdir(room->path, 0700) == 0) return true;
    dismiss_guard(room);
    return false;
}

static bool find_place(Room *room, const char *dir) {
    if (dir && cache_make_dir(dir)) {
        sweep_rooms(dir);
        if (try_room(room, dir)) return true;
    }
    const char *temporary = getenv("TMPDIR");
    return (temporary && *temporary && try_room(room, temporary)) || try_room(room, "/tmp");
}

bool room_open(Room *room, const char *dir, Cancel *cancel) {
    *room = (Room){.cancel = cancel, .guard = -1};
    cancel_hold(cancel);
    if (!cancel_is_asked(cancel) && find_place(room, dir)) return true;
    cancel_release(cancel);
    return false;
}

ProcessResult room_run(Room *room, const char *const *argv, int timeout_seconds, char *output, size_t capacity) {
    /* What a compiler puts aside lies in the room too, and goes with it. */
    ProcessWatch watch = {.cancel = room->cancel, .temporary = room->path, .guard = room->guard};
    return process_run(argv, timeout_seconds, &watch, output, capacity);
}

bool room_is_full(const Room *room) {
    char path[CACHE_PATH], part[4096];
    int n = snprintf(path, sizeof path, "%s/probe", room->path);
    int to =
        n > 0 && (size_t)n < sizeof path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (to < 0) return true;
    memset(part, 1, sizeof part);
    bool full = false;
    for (int i = 0; i < ROOM_BYTES / (int)sizeof part && !full; i++) full = !file_write_all(to, part, sizeof part);
    if (close(to) != 0) full = true;
    unlink(path);
    return full;
}

void room_close(Room *room) {
    remove_folder(room->path);
    dismiss_guard(room);
    room->path[0] = 0;
    cancel_release(room->cancel);
}
