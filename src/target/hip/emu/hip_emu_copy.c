/* SPDX-License-Identifier: Apache-2.0 */
/* hip_emu_copy.c: loads that go straight to the LDS, a word a lane, and waits that count them.
 *
 * From its issue until the thread has waited for it the bytes belong to the copy: who reads or writes them meanwhile,
 * without that wait and a barrier behind it, is a race. They move at a random later tick, or when they are waited
 * for. A wait lets the last copies fly on, however many there are: the chip counts them in their order. */
#include "target/hip/emu/hip_emu_core.h"

#include <string.h>

enum { SIDE_COPIES, WORD = 4 };

typedef struct Landing {
    int thread;
    uint32_t upto; /* copies */
} Landing;

static uint32_t issued(const HipThread *own) { return own->landed + (uint32_t)own->copies.count; }

static void land(Emu *emu, HipThread *own, uint32_t upto) {
    size_t count = upto > own->landed ? upto - own->landed : 0;
    for (size_t i = 0; i < count; i++) {
        const HipCopy *copy = &own->copies.at[i];
        memset(emu->shared + copy->s, 0, WORD);
        if (copy->from) memcpy(emu->shared + copy->s, copy->from, WORD);
    }
    memmove(own->copies.at, own->copies.at + count, (own->copies.count - count) * sizeof *own->copies.at);
    own->copies.count -= count;
    own->landed += (uint32_t)count;
}

void hip_emu_copy(Emu *emu, int line, unsigned s, const void *p) {
    Thread *thread = emu->running;
    HipThread *own = &hip_emu(emu)->thread[thread->id];
    emu_check_shared(emu, line, s, WORD, WORD, "a copy");
    s += emu_own(emu);
    EmuAccess access = {.thread = thread,
                        .agent = agent_side(emu, SIDE_COPIES, thread->id),
                        .line = line,
                        .clock = thread->side[SIDE_COPIES].clock++,
                        .kind = CELL_COPY,
                        .what = "starts a copy into"};
    emu_touch_write(emu, &access, s, WORD);
    if (p) {
        emu_check_global(emu, line, p, WORD, WORD, "a copy");
        access.what = "reads by a copy";
        emu_touch_global(emu, &access, p, WORD, false);
    }
    *VEC_PUSH(&own->copies, &emu->arena) = (HipCopy){s, p};
    Landing *landing = ARENA_NEW(&emu->arena, Landing);
    *landing = (Landing){thread->id, issued(own)};
    emu_schedule(emu, line, landing);
}

void hip_emu_copies_wait(Emu *emu, int line, int left) {
    (void)line;
    Side *side = &emu->running->side[SIDE_COPIES];
    HipThread *own = &hip_emu(emu)->thread[emu->running->id];
    uint32_t all = issued(own), upto = all > (uint32_t)left ? all - (uint32_t)left : 0;
    land(emu, own, upto);
    if (upto > side->done) side->done = upto; /* stamps count from 1 */
}

void hip_emu_happen(Emu *emu, const Event *event) {
    const Landing *landing = event->work;
    land(emu, &hip_emu(emu)->thread[landing->thread], landing->upto);
}
