/* SPDX-License-Identifier: Apache-2.0 */
/* workers.h: workers of a region that run side by side, as coroutines on one thread: barriers, shuffles, mbarriers.
 *
 * A worker runs until it has to wait, then gives its turn away (TwLaunch.turn); the host goes on with the next one, and
 * ends them all if none can go on (TwLaunch.beside). */
#ifndef TILEWRIGHT_WORKERS_H
#define TILEWRIGHT_WORKERS_H

/* Where workers meet: barriers by number, the block, warpgroups, warps, and warps at a shuffle. */
enum { TW_MEET_BLOCK = 16, TW_MEET_GROUP = 17, TW_MEET_WARP = 32, TW_MEET_SHUFFLE = 64, TW_MEETS = 96 };
typedef struct TwMeet {
    i32 arrived;
    u32 generation;
} TwMeet;
typedef struct TwTeam {
    TwLaunch *launch;
    struct TwTeam *outer; /* whose worker runs this one; 0: none */
    void *host;           /* the host's own */
    i32 moved;            /* has a worker done something that others may wait for? The host asks, and clears it */
    i32 workers, threads; /* how many; threads of each */
    u8 *scratch;
    i64 program;
    const u64 *frame; /* what the region takes from around it */
    TwMeet meets[TW_MEETS];
    u64 shown[2][1024];
} TwTeam;
typedef struct TwBar {
    i64 count, pending, bytes, phase;
} TwBar;

#define TW_KEEP(to, x) (*(__typeof__(x) *)(to) = (x))

static __attribute__((unused)) void tw_moved(TwTeam *team) {
    for (; team; team = team->outer) team->moved = 1;
}

static __attribute__((unused)) void tw_meet(TwTeam *team, i32 place, i32 needed) {
    TwMeet *m = &team->meets[place];
    m->arrived += team->threads;
    if (m->arrived >= needed) {
        m->arrived = 0;
        m->generation++;
        tw_moved(team);
        return;
    }
    for (u32 seen = m->generation; m->generation == seen;) team->launch->turn(team);
}

/* Those of a group of that many, perhaps the last, of fewer. */
TW_FN void tw_meet_group(TwTeam *team, i32 first, i32 worker, i32 size) {
    i32 group = worker * team->threads / size, left = team->workers * team->threads - group * size;
    tw_meet(team, first + group, left < size ? left : size);
}

static __attribute__((unused)) u64 tw_shuffle(TwTeam *team, i32 worker, u64 bits, i64 from) {
    i32 warp = worker / 32, left = team->workers - warp * 32, size = left < 32 ? left : 32;
    u32 round = team->meets[TW_MEET_SHUFFLE + warp].generation & 1;
    team->shown[round][worker] = bits;
    tw_meet(team, TW_MEET_SHUFFLE + warp, size);
    return from >= 0 && from / 32 == warp && from % 32 < size ? team->shown[round][from] : bits;
}

static __attribute__((unused)) void tw_bar_count(TwTeam *team, TwBar *bar, i64 arrivals, i64 bytes) {
    bar->pending -= arrivals;
    bar->bytes += bytes;
    tw_moved(team);
    if (bar->pending > 0 || bar->bytes) return;
    bar->pending = bar->count;
    bar->phase++;
}

static __attribute__((unused)) void tw_bar_wait(TwTeam *team, const TwBar *bar, i64 parity) {
    while ((*(const volatile i64 *)&bar->phase & 1) == (parity & 1)) team->launch->turn(team);
}
#endif
