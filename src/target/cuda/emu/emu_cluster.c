/* SPDX-License-Identifier: Apache-2.0 */
/* emu_cluster.c: what blocks of a cluster do to each other: the cluster's barrier, arrivals at
 * mbarriers of another block, and that no block ends before the others are done with it.
 *
 * The last is found whichever way the schedule went: an arrival from elsewhere must be ordered
 * before the end of a thread of the block that it touches, by the cluster's barrier or by anything
 * else.
 *
 *     tw_mbar_arrive_at(empty, 1);   block 0 arrives in block 1
 *     tw_cluster_sync();             without it block 1 may be gone by then: a fault */
#include "target/cuda/emu/cuda_emu_core.h"

void emu_cluster_check(Emu *emu, int line, unsigned rank, const char *what) {
    if (rank >= (unsigned)emu->cluster)
        emu_fail(emu, CUDA_FAULT_CLUSTER, "%s at %s: block %u of a cluster of %d", what, emu_at(emu, line), rank,
                 emu->cluster);
    else if (cuda_emu(emu)->end[rank].exited == emu->block_threads)
        emu_fail(emu, CUDA_FAULT_CLUSTER,
                 "%s at %s: block %u of the cluster has ended; end the kernel with "
                 "tw_cluster_sync()",
                 what, emu_at(emu, line), rank);
}

void emu_mbar_arrive_at(Emu *emu, int line, unsigned bar, unsigned rank) {
    Thread *thread = emu->running;
    emu_cluster_check(emu, line, rank, "mbarrier arrive");
    int index = emu_mbar_use(emu, line, (int)rank, bar, "mbarrier arrive");
    if ((int)rank != block_of(emu, thread->id)) {
        cuda_emu(emu)->end[rank].touched[thread->id] = thread->clock;
        cuda_emu(emu)->end[rank].line[thread->id] = line;
    }
    emu_mbar_count(emu, line, index, 0, true);
}

/* Threads that have ended count as arrived. */
static void complete(Emu *emu) {
    if (!cuda_emu(emu)->cluster_arrived || cuda_emu(emu)->cluster_arrived + emu->exited < emu->threads) return;
    for (int i = 0; i < emu->threads; i++) {
        Thread *thread = &emu->thread[i];
        bool runs = thread == emu->running;
        if (!runs && thread->wait != WAIT_CLUSTER) continue;
        emu_adopt(emu, thread, cuda_emu(emu)->cluster_gather.view);
        if (!runs) emu_wake(emu, thread);
    }
    cuda_emu(emu)->cluster_arrived = 0;
    emu_gather_reset(emu, &cuda_emu(emu)->cluster_gather);
}

void emu_cluster_sync(Emu *emu, int line) {
    cuda_emu(emu)->cluster_arrived++;
    emu_publish(emu, &cuda_emu(emu)->cluster_gather, emu->running);
    if (cuda_emu(emu)->cluster_arrived + emu->exited == emu->threads)
        complete(emu);
    else
        emu_block(emu, WAIT_CLUSTER, line);
}

void emu_cluster_exit(Emu *emu, Thread *thread) {
    if (emu->cluster == 1) return;
    int block = block_of(emu, thread->id);
    BlockEnd *end = &cuda_emu(emu)->end[block];
    end->exited++;
    emu_publish(emu, &end->gather, thread);
    for (int i = 0; i < emu->threads && end->exited == emu->block_threads; i++)
        if (end->touched[i] > end->gather.view->seen[i]) {
            emu_fail(emu, CUDA_FAULT_CLUSTER,
                     "the block ends, but the arrival of %s at one of its mbarriers at %s is not "
                     "ordered before that; end the kernel with tw_cluster_sync()",
                     emu_agent(emu, i), emu_at(emu, end->line[i]));
            return;
        }
    emu->running = NULL; /* it does not take part */
    complete(emu);
    emu->running = thread;
}
