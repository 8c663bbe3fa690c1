/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_emu_core.h: what CUDA adds to the emulator (simt/emu/emu_core.h): copies that run beside the threads, mbarriers,
 * matrix instructions, clusters, registers that warps hand to each other.
 *
 * Agents beside the threads: the cp.async copies and the bulk stores of a thread (its sides), the wgmmas of a
 * warpgroup, the TMA loads of an mbarrier.
 *
 *     release (mbarrier arrive):     emu_publish(gather, thread)
 *     acquire (mbarrier phase seen): emu_adopt_mbar(thread, mbar, parity) */
#ifndef TARGET_CUDA_EMU_CUDA_EMU_CORE_H
#define TARGET_CUDA_EMU_CUDA_EMU_CORE_H
#include "target/cuda/emu/cuda_emu.h"
#include "target/cuda/emu/include/cuda_table.h"
#include "target/simt/emu/emu_core.h"

enum {
    EMU_MAX_MBARS = 256,
    EMU_WARP = 32,
    EMU_GROUP = 128, /* threads of a warpgroup */
};
enum { SIDE_COPIES, SIDE_BULK }; /* Thread.side */
enum {
    WAIT_MBAR = WAIT_OWN,
    WAIT_WGMMA,
    WAIT_REGISTERS,
    WAIT_CLUSTER
}; /* Thread.wait; of WAIT_MBAR wait_detail is the parity */

typedef struct CopyAsync { /* one cp.async */
    uint32_t s;
    const void *from;
    uint8_t bytes;
    uint8_t taken; /* the rest: zeros */
} CopyAsync;
typedef struct CopyGroup { /* a committed group: number of its last copy + 1, and its stamp */
    uint32_t upto, clock;
} CopyGroup;

typedef struct TensorCode { /* what the 128 bytes of a TensorMap hold */
    uint32_t magic;
    uint8_t type, rank, swizzle;
    uint64_t base;
    uint64_t dims[5], strides[4];
    uint16_t box[5];
} TensorCode;
_Static_assert(sizeof(TensorCode) <= 128, "fits a TensorMap");
typedef struct ShownMap { /* a map in global memory as TMA sees it, and the thread that showed it */
    const void *map;
    TensorCode code;
    int thread;
} ShownMap;
typedef struct BulkStore { /* one TMA or bulk store */
    EmuCopy copy;
    int line, thread;
    uint32_t s, bytes;
    void *to; /* 1-D; with a map: NULL */
    const TensorCode *map;
    int at[5];
    uint8_t *staged; /* NULL until shared memory was read */
    bool written;
    uint32_t group; /* of its thread */
} BulkStore;

typedef struct CudaThread {
    /* cp.async: copies are numbered from 0; copies.at[0] is number copies_base */
    VEC(CopyAsync) copies;
    VEC(CopyGroup) groups;
    uint32_t copies_base, copies_landed;
    /* bulk stores: group and line of the last one */
    uint32_t bulk_last;
    int bulk_line;
} CudaThread;

/* Operands of a warp's matrix instruction, while lanes are missing, and its registers. */
typedef struct CudaWarp {
    unsigned *r[EMU_WARP]; /* ldmatrix, stmatrix */
    float *d[EMU_WARP];    /* mma */
    const unsigned *a[EMU_WARP], *b[EMU_WARP];
    int registers;
} CudaWarp;

typedef struct Mbar {
    uint32_t s, count;
    int64_t pending, bytes; /* arrivals and bytes still missing in this phase */
    uint32_t phase;
    int in_flight; /* copies that will complete on it */
    int init_line, init_thread;
    bool fenced; /* tw_fence_mbar_init by the thread that made it */
    Gather gather;
    View *done[2];                     /* published by the last complete phase of each parity */
    View *adopt_from[2], *adopt_to[2]; /* last result of adopting done[i] */
} Mbar;

typedef enum WorkKind {
    WORK_LOAD,        /* a TMA or bulk load lands and completes on mbar */
    WORK_STORE_READ,  /* a store reads shared memory */
    WORK_STORE_WRITE, /* and writes global memory */
    WORK_COPY_ASYNC,  /* cp.async copies of a thread land */
    WORK_COPY_ARRIVE, /* and arrive on mbar */
} WorkKind;
typedef struct Work { /* of an Event */
    WorkKind kind;
    struct Work *next_free;
    uint32_t s, bytes, mbar, phase;
    const void *from;
    const TensorCode *map; /* NULL: 1-D from `from` */
    int at[5];
    BulkStore *store;
    int thread;
    uint32_t upto, clock; /* copies of the thread up to this number; their stamp */
} Work;

typedef struct Accumulator { /* registers that a wgmma owns, from its issue until they are settled */
    int registers, settled;  /* `settled`: threads that have theirs back */
    float *home[EMU_GROUP];  /* where each thread keeps them; NULL: it has them back */
    float *value;            /* [EMU_GROUP][registers] */
    uint32_t group;          /* last wgmma group that writes it, and its line */
    int line;
} Accumulator;

typedef enum GroupOpKind { OP_FENCE, OP_WGMMA, OP_COMMIT, OP_WAIT } GroupOpKind;
typedef struct GroupOp { /* one wgmma-class instruction, as the first thread issued it */
    GroupOpKind kind;
    int line, issued, pending;
    EmuWgmma wgmma;
    uint32_t group;
    Accumulator *accumulator;
    uint32_t *a;            /* [EMU_GROUP][4] */
    uint32_t own;           /* where the shared memory of its block begins */
    View *meet, *meet_last; /* what all issuing threads have seen; the view merged first */
    int meet_first;
} GroupOp;

typedef struct Warpgroup {
    VEC(GroupOp) ops;    /* instructions since the last wait; ops.at[0] has number first */
    VEC(GroupOp) flying; /* wgmmas issued by all, not complete */
    uint64_t first;
    uint64_t issued[EMU_GROUP];                     /* instructions ever issued, per thread */
    uint32_t group;                                 /* open wgmma group, from 1 */
    uint32_t done;                                  /* groups complete */
    bool fence;                                     /* since registers were last handed back */
    VEC(Accumulator *) accumulators, waited, spare; /* in flight; complete; to be used again */
} Warpgroup;

/* What is needed to see that a block does not end before others are done with it: the threads of
 * it that have ended, what these had seen, and who arrived at its mbarriers from elsewhere, when. */
typedef struct BlockEnd {
    int exited;
    Gather gather;
    uint32_t *touched; /* [threads]: stamp of the last arrival by a thread of another block */
    int *line;
} BlockEnd;

/* The state of a launch: the neutral one first. */
typedef struct CudaEmu {
    Emu emu;
    int groups; /* warpgroups of all blocks that run */
    CudaThread *thread;
    CudaWarp *warp;
    Warpgroup *group;
    int free_registers[EMU_MAX_CLUSTER];
    uint16_t *mbar_at; /* per 8 bytes of shared memory: index + 1 */
    Mbar *mbar;
    int mbar_count;
    int cluster_arrived; /* threads at the cluster's barrier */
    Gather cluster_gather;
    BlockEnd end[EMU_MAX_CLUSTER];
    VEC(ShownMap) shown;
    bool uses_copies;            /* any cp.async yet */
    View *fence_from, *fence_to; /* last result of a fence that also covers cp.async */
    Work *free_work;
} CudaEmu;
static inline CudaEmu *cuda_emu(const Emu *emu) { return (CudaEmu *)emu; }
static inline CudaThread *cuda_thread(const Emu *emu, const Thread *thread) {
    return &cuda_emu(emu)->thread[thread->id];
}

/* agents */
static inline int agent_copies(const Emu *emu, int thread) { return agent_side(emu, SIDE_COPIES, thread); }
static inline int agent_bulk(const Emu *emu, int thread) { return agent_side(emu, SIDE_BULK, thread); }
static inline int agent_group(const Emu *emu, int group) { return emu_agents(emu) + group; }
static inline int agent_mbar(const Emu *emu, int mbar) { return emu_agents(emu) + cuda_emu(emu)->groups + mbar; }

/* cuda_emu.c */
/* The running thread's warp, for an instruction that warps of 32 lanes have; with others it is a fault. */
CudaWarp *cuda_warp(Emu *emu, int line, const char *what);
/* A new piece of work, due at a random later tick; what it takes is filled in. */
void emu_later(Emu *emu, int line, Work work);

/* emu_proxy.c: orderings that only CUDA has */
void emu_adopt_mbar(Emu *emu, Thread *thread, Mbar *mbar, int parity);
void emu_mbar_publish_phase(Emu *emu, Mbar *mbar, int agent);
void emu_adopt_wgmma(Emu *emu, int group, uint32_t clock);
void emu_meet(Emu *emu, GroupOp *op, const Thread *thread);

/* emu_mbar.c */
void emu_mbar_complete_bytes(Emu *emu, const Work *load, int line);
void emu_mbar_complete_copies(Emu *emu, const Work *copies, int line);
/* The mbarrier at `bar` of a block of the cluster, checked to exist and to be visible to the thread. */
int emu_mbar_use(Emu *emu, int line, int block, uint32_t bar, const char *what);
/* One arrival, and so many bytes more to come, at an mbarrier that is there. */
void emu_mbar_count(Emu *emu, int line, int index, unsigned bytes, bool arrive);

/* emu_cluster.c */
/* A thread has ended: the cluster's barrier may be complete, and its block at its end. */
void emu_cluster_exit(Emu *emu, Thread *thread);
/* Is there such a block, and has it not ended? */
void emu_cluster_check(Emu *emu, int line, unsigned rank, const char *what);

/* emu_copy.c */
void emu_work_happen(Emu *emu, const Event *event);
void emu_thread_exit_check(Emu *emu, Thread *thread);

/* emu_wgmma.c */
void emu_wgmma_exit_check(Emu *emu, Thread *thread);

/* emu_tensormap.c */
uint32_t emu_box_bytes(const TensorCode *map); /* 0 when the map is not one of ours */
/* Bytes from the first to the last element of the box that lies inside the tensor, and the address
 * of the first; 0 when none does. */
/* Of a row of the box, the part inside the tensor: how many bytes, where, and how many of the row come before it. */
uint32_t emu_box_row(const TensorCode *map, const int *at, uint32_t row, uint64_t *global, uint32_t *before);
uint64_t emu_box_span(const TensorCode *map, const int *at, uint64_t *first);
/* Moves the box at coordinates `at` between global memory and `box`, whose first byte has shared offset s. */
void emu_box_move(const TensorCode *map, const int *at, uint8_t *box, uint32_t s, EmuCopy copy);

/* Is the map in global memory (else it is a parameter)? A fault if the running thread has not shown it to TMA. */
bool emu_map_shown(Emu *emu, int line, const void *map, const char *what);

/* functions of the table, by file */
void emu_cluster_sync(Emu *, int line);
void emu_mbar_arrive_at(Emu *, int line, unsigned bar, unsigned rank);
void emu_setmaxnreg(Emu *, int line, int registers, int increase);
void emu_mbar_init(Emu *, int line, unsigned bar, unsigned count);
void emu_mbar_arrive(Emu *, int line, unsigned bar, unsigned bytes, int arrive);
void emu_mbar_wait(Emu *, int line, unsigned bar, unsigned parity);
void emu_fence_mbar_init(Emu *, int line);
void emu_fence_async(Emu *, int line);

void emu_tma(Emu *, int line, int copy, int rank, const void *map, const int *at, unsigned s, unsigned bar,
             unsigned mask);
void emu_map_set(Emu *, int line, unsigned s, int field, int d, unsigned long long value);
void emu_map_fence(Emu *, int line, const void *map);
void emu_bulk(Emu *, int line, int copy, unsigned s, void *p, unsigned bytes, unsigned bar);
void emu_bulk_commit(Emu *, int line);
void emu_bulk_wait(Emu *, int line, int pending, int read_only);
void emu_cp_async(Emu *, int line, unsigned s, const void *p, int bytes, int taken);
void emu_cp_async_commit(Emu *, int line);
void emu_cp_async_wait(Emu *, int line, int pending);
void emu_cp_async_arrive(Emu *, int line, unsigned bar);

void emu_ldmatrix(Emu *, int line, unsigned *r, unsigned s, int count, int trans);
void emu_stmatrix(Emu *, int line, unsigned s, const unsigned *r, int count, int trans);
void emu_mma(Emu *, int line, int type, float *d, const unsigned *a, const unsigned *b);
void emu_wgmma(Emu *, int line, const EmuWgmma *op);
void emu_wgmma_fence(Emu *, int line);
void emu_wgmma_commit(Emu *, int line);
void emu_wgmma_wait(Emu *, int line, int pending);
void emu_wgmma_settle(Emu *, int line, float *d, int count);

/* emu_matrix.c: element e of a 32-bit register of a fragment. */
double emu_element(int type, unsigned reg, int e);
/* *d = sum (+ *d): a float, or for 8-bit integers the bits of an i32. */
void emu_accumulate(int type, float *d, bool add, double sum);
#endif
