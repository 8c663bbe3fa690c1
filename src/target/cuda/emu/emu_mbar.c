/* SPDX-License-Identifier: Apache-2.0 */
/* emu_mbar.c: mbarriers, and registers that warps give back and take. */
#include "target/cuda/emu/cuda_emu_core.h"

/* ---- registers ---- */
void emu_setmaxnreg(Emu *emu, int line, int registers, int increase) {
    CudaWarp *warp = cuda_warp(emu, line, "setmaxnreg");
    if (registers % 8 || registers < 24 || registers > 256)
        emu_fail(emu, CUDA_FAULT_REGISTERS, "setmaxnreg %d at %s: the count must be a multiple of 8 in 24..256",
                 registers, emu_at(emu, line));
    if (increase ? registers < warp->registers : registers > warp->registers)
        emu_fail(emu, CUDA_FAULT_REGISTERS, "setmaxnreg.%s %d at %s: the warp has %d registers a thread",
                 increase ? "inc" : "dec", registers, emu_at(emu, line), warp->registers);
    if (!emu_collective(emu, line, "setmaxnreg", registers, increase)) return;
    int more = (registers - warp->registers) * EMU_WARP;
    int *free = &cuda_emu(emu)->free_registers[block_of(emu, emu->running->id)];
    while (more > *free) {
        emu->running->wait_what = (uint32_t)registers;
        emu_block(emu, WAIT_REGISTERS, line);
    }
    *free -= more;
    warp->registers = registers;
    if (more < 0)
        for (int i = 0; i < emu->threads; i++)
            if (emu->thread[i].wait == WAIT_REGISTERS) emu_wake(emu, &emu->thread[i]);
    emu_collective_done(emu);
}

/* ---- mbarriers ---- */
void emu_mbar_init(Emu *emu, int line, unsigned bar, unsigned count) {
    Thread *thread = emu->running;
    emu_check_shared(emu, line, bar, 8, 8, "tw_mbar_init");
    bar += emu_own(emu);
    if (count < 1 || count >= 1u << 20)
        emu_fail(emu, EMU_FAULT_BARRIER, "tw_mbar_init at %s: the count is %u, must be 1 to 2^20 - 1",
                 emu_at(emu, line), count);
    if (cuda_emu(emu)->mbar_at[bar / 8] || cuda_emu(emu)->mbar_count == emu->cluster * EMU_MAX_MBARS)
        emu_fail(emu, EMU_FAULT_BARRIER, "tw_mbar_init at %s: %s", emu_at(emu, line),
                 cuda_emu(emu)->mbar_at[bar / 8] ? "there is an mbarrier already" : "too many mbarriers");
    EmuAccess access = {.thread = thread,
                        .agent = thread->id,
                        .line = line,
                        .clock = thread->clock,
                        .kind = CELL_OBJECT,
                        .what = "makes an mbarrier at"};
    emu_touch_write(emu, &access, bar, 8);
    cuda_emu(emu)->mbar[cuda_emu(emu)->mbar_count] =
        (Mbar){.s = bar, .count = count, .pending = count, .init_line = line, .init_thread = thread->id};
    cuda_emu(emu)->mbar_at[bar / 8] = (uint16_t)++cuda_emu(emu)->mbar_count;
}

void emu_fence_mbar_init(Emu *emu, int line) {
    (void)line;
    for (int i = 0; i < cuda_emu(emu)->mbar_count; i++)
        if (cuda_emu(emu)->mbar[i].init_thread == emu->running->id) cuda_emu(emu)->mbar[i].fenced = true;
}

int emu_mbar_use(Emu *emu, int line, int block, uint32_t bar, const char *what) {
    emu_check_shared(emu, line, bar, 8, 8, what);
    bar += (uint32_t)block * emu->shared_stride;
    int index = cuda_emu(emu)->mbar_at[bar / 8] - 1;
    if (index < 0)
        emu_fail(emu, EMU_FAULT_BARRIER, "%s at %s: no mbarrier was made at %s", what, emu_at(emu, line),
                 emu_bytes(emu, bar, 8));
    const Cell *cell = &emu->cell[bar];
    if (!emu_seen(emu, emu->running, cell->agent, cell->clock))
        emu_fail(emu, EMU_FAULT_RACE,
                 "%s at %s uses the mbarrier at %s, whose tw_mbar_init by %s at %s is not "
                 "ordered before it; put %s between them",
                 what, emu_at(emu, line), emu_bytes(emu, bar, 8), emu_agent(emu, cell->agent), emu_at(emu, cell->line),
                 emu->cluster > 1 ? "tw_cluster_sync()" : "tw_sync()");
    return index;
}

static void complete_phase(Emu *emu, int index) {
    Mbar *mbar = &cuda_emu(emu)->mbar[index];
    uint32_t parity = mbar->phase & 1;
    emu_mbar_publish_phase(emu, mbar, agent_mbar(emu, index));
    mbar->phase++;
    mbar->pending = mbar->count;
    for (int i = 0; i < emu->threads; i++) {
        Thread *thread = &emu->thread[i];
        if (thread->wait == WAIT_MBAR && thread->wait_what == mbar->s && thread->wait_detail == parity)
            emu_wake(emu, thread);
    }
}

/* After arrivals or bytes changed. */
static void settle(Emu *emu, int index, int line) {
    Mbar *mbar = &cuda_emu(emu)->mbar[index];
    if (mbar->pending > 0) return;
    if (mbar->bytes < 0)
        emu_fail(emu, CUDA_FAULT_BYTES,
                 "%lld bytes more than expected are copied in phase %u of the mbarrier at %s (%s); "
                 "the bytes of "
                 "tw_mbar_arrive_expect must be those of all copies of the phase",
                 -(long long)mbar->bytes, mbar->phase, emu_bytes(emu, mbar->s, 8), emu_at(emu, line));
    else if (mbar->bytes == 0)
        complete_phase(emu, index);
}

void emu_mbar_arrive(Emu *emu, int line, unsigned bar, unsigned bytes, int arrive) {
    int block = block_of(emu, emu->running->id);
    emu_mbar_count(emu, line, emu_mbar_use(emu, line, block, bar, "mbarrier arrive"), bytes, arrive != 0);
}

void emu_mbar_count(Emu *emu, int line, int index, unsigned bytes, bool arrive) {
    Mbar *mbar = &cuda_emu(emu)->mbar[index];
    if (bytes >= 1u << 20 || mbar->bytes + (int64_t)bytes >= 1 << 20)
        emu_fail(emu, CUDA_FAULT_BYTES, "an mbarrier cannot expect %lld bytes (%s); the limit is 2^20 - 1",
                 (long long)mbar->bytes + bytes, emu_at(emu, line));
    mbar->bytes += bytes;
    if (!arrive) return;
    if (mbar->pending == 0)
        emu_fail(emu, CUDA_FAULT_ARRIVALS,
                 "arrives at %s on the mbarrier at %s, whose phase %u already has its %u arrivals "
                 "(%lld bytes are still "
                 "missing)",
                 emu_at(emu, line), emu_bytes(emu, mbar->s, 8), mbar->phase, mbar->count, (long long)mbar->bytes);
    mbar->pending--;
    emu_publish(emu, &mbar->gather, emu->running);
    settle(emu, index, line);
}

void emu_mbar_wait(Emu *emu, int line, unsigned bar, unsigned parity) {
    Thread *thread = emu->running;
    if (parity > 1)
        emu_fail(emu, EMU_FAULT_BARRIER, "waits for parity %u at %s; a parity is 0 or 1", parity, emu_at(emu, line));
    int index = emu_mbar_use(emu, line, block_of(emu, thread->id), bar, "mbarrier wait");
    Mbar *mbar = &cuda_emu(emu)->mbar[index];
    if ((mbar->phase & 1) == parity) {
        thread->wait_what = mbar->s;
        thread->wait_detail = parity;
        emu_block(emu, WAIT_MBAR, line);
    }
    emu_adopt_mbar(emu, thread, mbar, (int)parity);
}

void emu_mbar_complete_bytes(Emu *emu, const Work *load, int line) {
    Mbar *mbar = &cuda_emu(emu)->mbar[load->mbar];
    mbar->in_flight--;
    mbar->bytes -= load->bytes;
    if (mbar->phase != load->phase)
        emu_fail(emu, CUDA_FAULT_BYTES,
                 "the %u bytes copied by %s land after phase %u of the mbarrier at %s was "
                 "complete: it expected fewer "
                 "bytes than were copied",
                 load->bytes, emu_at(emu, line), load->phase, emu_bytes(emu, mbar->s, 8));
    else
        settle(emu, (int)load->mbar, line);
}

void emu_mbar_complete_copies(Emu *emu, const Work *copies, int line) {
    Mbar *mbar = &cuda_emu(emu)->mbar[copies->mbar];
    mbar->in_flight--;
    if (mbar->pending == 0) {
        emu_fail(emu, CUDA_FAULT_ARRIVALS,
                 "tw_cp_async_arrive at %s is one arrival too many for phase %u of the mbarrier at %s",
                 emu_at(emu, line), mbar->phase, emu_bytes(emu, mbar->s, 8));
        return;
    }
    if (!mbar->gather.view) mbar->gather.view = emu_view_new(emu, NULL);
    mbar->gather.view->seen[agent_copies(emu, copies->thread)] = copies->clock;
    mbar->pending--;
    settle(emu, (int)copies->mbar, line);
}
