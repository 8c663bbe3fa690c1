/* SPDX-License-Identifier: Apache-2.0 */
/* room.h: a private empty folder in which a compiler works, and which outlives nobody.
 *
 *     Room room;
 *     if (!room_open(&room, cache_dir, context_cancel(cx))) ..        no place for one, or the call is cancelled
 *     .. write room.path/kernel.c ..
 *     ProcessResult r = room_run(&room, argv, 120, output, sizeof output);
 *     room_close(&room);                                       removes it
 *
 * While a room is open, the call holds something outside of the process (cancel.h). And a guard stands
 * beside us: a shell that listens to us, and when we are gone without a word (a kill, a crash, a signal
 * that the host leaves to the system) ends the compiler with all it started, and removes the folder.
 * It stands before there is a folder, and a compiler tells it of itself before it runs: no moment is left out.
 * Where there is no shell there is no guard; folders that stayed are swept an hour later. Nothing is
 * allocated. */
#ifndef RUNTIME_HOST_ROOM_H
#define RUNTIME_HOST_ROOM_H
#include "base/cancel.h"
#include "runtime/compile/cache.h"
#include "runtime/host/process.h"

#include <sys/types.h>

typedef struct Room {
    char path[CACHE_PATH];
    Cancel *cancel; /* may be NULL */
    int guard;      /* our end of the talk with it; -1: none */
    pid_t guard_pid;
} Room;

/* Inside of dir if that is given and can be used, else in $TMPDIR or /tmp. */
bool room_open(Room *room, const char *dir, Cancel *cancel);
/* As process_run; ends early when the call is cancelled. */
ProcessResult room_run(Room *room, const char *const *argv, int timeout_seconds, char *output, size_t capacity);
/* Does a megabyte not fit any more? (A compiler that failed is then tried again elsewhere.) */
bool room_is_full(const Room *room);
void room_close(Room *room);
#endif
