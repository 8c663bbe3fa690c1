/* emu_core.h: the emulator's own structures; read emu.h first.
 *
 * Ordering. An *agent* is whatever touches shared memory: a thread, the cp.async copies of a
 * thread, its bulk stores, the wgmmas of a warpgroup, the TMA loads of an mbarrier. Each numbers
 * its steps with its own clock; an access is stamped (agent, clock). A thread's *view* says for
 * every agent up to which clock it is ordered before the thread (`seen`), and up to which clock its
 * generic stores are known to be fenced for the asynchronous side (`fenced`). Views are shared and
 * counted, because after a barrier all participants have the same one; what is a thread's own (its
 * clock, its completed copies) lies in the thread and is added when the view is published by a
 * release.
 *
 *     release (barrier arrival, mbarrier arrive, tw_sync_warp): emu_publish(gather, thread)
 *     acquire (barrier passed, mbarrier phase seen):            emu_adopt(thread, view)
 *
 * Shadow. Every byte of shared memory has a Cell: stamp and line of its last write, and the set of
 * reads since (emu_race.c).
 *
 * Clusters. The blocks of a cluster run as one: their threads are numbered through, block after
 * block, and so is their shared memory, `shared_stride` bytes a block. Kernels speak of their own
 * block; emu_own() is where its memory begins.
 *
 * Time. Asynchronous work is an Event that happens at a tick, or earlier if someone waits for it.
 * The scheduler (emu.c) resumes one ready thread per tick. */
#ifndef TARGET_CUDA_EMU_EMU_CORE_H
#define TARGET_CUDA_EMU_EMU_CORE_H
#include "base/fiber.h"
#include "base/text.h"
#include "base/vec.h"
#include "target/cuda/emu/emu.h"

enum {
    EMU_MAX_THREADS = 1024,
    EMU_MAX_SHARED = 232448,
    EMU_MAX_MBARS = 256,
    EMU_WARP = 32,
    EMU_GROUP = 128, /* threads of a warpgroup */
    EMU_NAMED_BARRIERS = 16,
    EMU_MAX_CLUSTER = 8,
};

typedef struct View {
    int users;
    struct View *next_free;
    uint32_t *seen, *fenced; /* [agent_count] */
} View;

/* Collects what several threads publish. */
typedef struct Gather {
    View *view; /* owned, NULL when empty */
    View *last; /* the shared part that was merged last: merging it again is skipped */
} Gather;

typedef enum Wait {
    WAIT_NOTHING, /* ready or running */
    WAIT_BARRIER,
    WAIT_MBAR,
    WAIT_WARP,
    WAIT_WGMMA,
    WAIT_REGISTERS,
    WAIT_CLUSTER,
    WAIT_EXITED,
} Wait;

typedef struct CopyAsync { /* one cp.async */
    uint32_t s;
    const void *from;
    uint8_t bytes;
    bool ok; /* else zeros */
} CopyAsync;
typedef struct CopyGroup { /* a committed group: number of its last copy + 1, and its stamp */
    uint32_t upto, clock;
} CopyGroup;

typedef struct TensorCode TensorCode;
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

typedef struct Thread {
    Emu *emu;
    Fiber *fiber;
    Trap *trap; /* on the fiber's stack */
    int id;
    Wait wait;
    int wait_line;
    uint32_t wait_what, wait_parity; /* barrier id, or mbarrier and parity */
    int last_line;                   /* where it was when steps were last counted; 0: nowhere yet */
    uint32_t polls;                  /* loads of global memory that wait */

    View *view;
    uint32_t clock, fenced; /* own stamp; own stores up to `fenced` are fenced */

    /* cp.async: copies are numbered from 0; copies.at[0] is number copies_base */
    VEC(CopyAsync) copies;
    VEC(CopyGroup) groups;
    uint32_t copies_base, copies_landed;
    uint32_t copy_clock, copy_done, copy_fenced; /* stamp of new ones; stamps waited for, and fenced */

    /* bulk stores: open group, from 1; groups whose reads were waited for; group and line of the last store */
    uint32_t bulk_clock, bulk_done, bulk_last;
    int bulk_line;
} Thread;

/* A collective instruction of a warp, while lanes are missing. */
typedef struct Warp {
    const char *what;
    int line;
    uint32_t arrived;
    int kind, count;
    uint64_t value[EMU_WARP], result[EMU_WARP];
    uint32_t address[EMU_WARP];
    unsigned *r[EMU_WARP]; /* ldmatrix, stmatrix */
    float *d[EMU_WARP];    /* mma */
    const unsigned *a[EMU_WARP], *b[EMU_WARP];
    Gather gather; /* tw_sync_warp */
    int registers;
} Warp;

typedef struct NamedBarrier {
    int expected, arrived;
    int line;
    Gather gather;
    uint32_t member[EMU_MAX_THREADS / EMU_WARP]; /* who arrived, per warp */
} NamedBarrier;

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

typedef enum EventKind {
    EVENT_LOAD,        /* a TMA or bulk load lands and completes on mbar */
    EVENT_STORE_READ,  /* a store reads shared memory */
    EVENT_STORE_WRITE, /* and writes global memory */
    EVENT_COPY_ASYNC,  /* cp.async copies of a thread land */
    EVENT_COPY_ARRIVE, /* and arrive on mbar */
} EventKind;
typedef struct Event {
    EventKind kind;
    int line;
    uint64_t due;
    uint32_t s, bytes, mbar, phase;
    const void *from;
    const TensorCode *map; /* NULL: 1-D from `from` */
    int at[5];
    BulkStore *store;
    int thread;
    uint32_t upto, clock; /* copies of the thread up to this number; their stamp */
} Event;

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

typedef struct Cell {
    uint32_t clock;
    uint16_t agent;
    uint16_t line;
    uint32_t reads; /* a read set, emu_race.c; 0: none */
    uint32_t kind;  /* CellKind */
} Cell;
typedef struct GlobalCell {      /* of a byte of global memory */
    uint32_t epoch;              /* of another one: untouched */
    uint32_t clock, line, reads; /* line 0: not written */
    uint16_t agent;
    bool atomic;
} GlobalCell;
typedef enum CellKind {
    CELL_UNTOUCHED,
    CELL_GENERIC,
    CELL_ATOMIC, /* a generic write that other atomics need not be ordered with */
    CELL_COPY,
    CELL_ASYNC,
    CELL_MBAR
} CellKind;

typedef struct ReadNode { /* the set `rest` and one read more */
    uint32_t rest, agent, clock, line;
} ReadNode;
typedef struct ReadKey {
    uint32_t set, agent, clock, result;
} ReadKey;

/* What is needed to see that a block does not end before others are done with it: the threads of
 * it that have ended, what these had seen, and who arrived at its mbarriers from elsewhere, when. */
typedef struct BlockEnd {
    int exited;
    Gather gather;
    uint32_t *touched; /* [threads]: stamp of the last arrival by a thread of another block */
    int *line;
} BlockEnd;

struct Emu {
    const EmuLaunch *launch;
    Arena arena, lasting; /* of a block, and of the launch. Their trap is the running fiber's or the
                             scheduler's. */
    Trap trap;            /* of the scheduler */
    TrapCode lost;        /* a thread's trap was thrown */
    EmuBind bind;
    EmuReport report;
    Text text, output;
    EmuAllocation *allocations; /* sorted */
    size_t last_allocation;
    GlobalCell **global; /* by allocation; NULL: not followed */
    uint32_t epoch;      /* a number of the block */

    int threads, warps, groups; /* of the cluster */
    int cluster, block_threads; /* blocks of a cluster, threads of a block */
    uint32_t shared_stride;     /* bytes from block to block, a multiple of 1024 */
    int first_block;            /* x of the cluster's first block */
    Thread *thread;
    Warp *warp;
    Warpgroup *group;
    Thread *running; /* NULL in the scheduler */
    uint16_t *ready; /* ring of ready threads */
    int ready_head, ready_count, exited;
    uint64_t steps, most_steps; /* since the block last wrote where it had not written; see emu_spend */
    uint64_t results;           /* how often that was, in this block */
    bool looks;                 /* the thread comes back for a look at launch->cancel, and goes on */
    uint64_t tick, random;
    int free_registers[EMU_MAX_CLUSTER];

    uint8_t *shared;
    Cell *cell;
    uint16_t *mbar_at; /* per 8 bytes of shared memory: index + 1 */
    NamedBarrier barrier[EMU_MAX_CLUSTER][EMU_NAMED_BARRIERS];
    int cluster_arrived; /* threads at the cluster's barrier */
    Gather cluster_gather;
    BlockEnd end[EMU_MAX_CLUSTER];
    Mbar *mbar;
    int mbar_count;
    VEC(Event) events;
    uint64_t next_due;

    /* agents: threads, their cp.async, their bulk stores, warpgroups, mbarriers */
    int agent_count;
    View *free_views;
    bool uses_copies;            /* any cp.async yet */
    View *fence_from, *fence_to; /* last result of a fence that also covers cp.async */

    VEC(ReadNode) nodes;
    ReadKey *keys;
    size_t key_count, key_capacity;
};

/* agents */
static inline int agent_copies(const Emu *emu, int thread) { return emu->threads + thread; }
static inline int agent_bulk(const Emu *emu, int thread) { return 2 * emu->threads + thread; }
static inline int agent_group(const Emu *emu, int group) { return 3 * emu->threads + group; }
static inline int agent_mbar(const Emu *emu, int mbar) { return 3 * emu->threads + emu->groups + mbar; }

/* blocks of the cluster */
static inline int block_of(const Emu *emu, int thread) { return thread / emu->block_threads; }
/* Where the shared memory of the running thread's block begins. */
static inline uint32_t emu_own(const Emu *emu) {
    return (uint32_t)block_of(emu, emu->running->id) * emu->shared_stride;
}

/* emu_report.c */
/* Ends the launch. In a thread it does not return; in the scheduler it does, and the scheduler stops. */
void emu_fail(Emu *emu, EmuFault fault, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Texts for messages, in the launch's arena. */
const char *emu_at(Emu *emu, int line);                      /* matmul.cu:12 */
const char *emu_bytes(Emu *emu, uint32_t s, uint32_t bytes); /* shared bytes 512-527 (b + 0) */
const char *emu_agent(Emu *emu, int agent);                  /* thread 3; wgmma of warpgroup 1 of block 1 */
void emu_report_endless(Emu *emu);
void emu_report_deadlock(Emu *emu);

/* emu.c */
uint64_t emu_random(Emu *emu);
/* The calling thread waits until emu_wake. */
void emu_block(Emu *emu, Wait wait, int line);
void emu_wake(Emu *emu, Thread *thread);
/* A new event, due at a random later tick. */
Event *emu_schedule(Emu *emu, EventKind kind, int line);

/* emu_order.c */
View *emu_view_new(Emu *emu, const View *copy_of);
View *emu_view_keep(View *view);
void emu_view_drop(Emu *emu, View *view);
void emu_publish(Emu *emu, Gather *gather, Thread *thread);
void emu_gather_reset(Emu *emu, Gather *gather);
void emu_adopt(Emu *emu, Thread *thread, View *view);
void emu_adopt_mbar(Emu *emu, Thread *thread, Mbar *mbar, int parity);
void emu_mbar_publish_phase(Emu *emu, Mbar *mbar, int agent);
void emu_fence_own(Emu *emu, Thread *thread);
void emu_adopt_wgmma(Emu *emu, int group, uint32_t clock);
void emu_meet(Emu *emu, GroupOp *op, const Thread *thread);
bool emu_seen(const Emu *emu, const Thread *thread, int agent, uint32_t clock);
bool emu_seen_fenced(const Emu *emu, const Thread *thread, int agent, uint32_t clock);

/* emu_race.c: who touches shared memory, and on whose behalf */
typedef struct Access {
    const Thread *thread; /* whose view decides, or NULL: `view` does */
    const View *view;
    int agent, line; /* the stamp's agent */
    uint32_t clock;
    CellKind kind;    /* of what it writes; CELL_ASYNC also asks that stores before it were fenced */
    const char *what; /* "reads", "the TMA load writes" .. */
} Access;
/* Called by threads only, so a fault does not return. */
void emu_touch_read(Emu *emu, const Access *access, uint32_t s, uint32_t bytes);
void emu_touch_write(Emu *emu, const Access *access, uint32_t s, uint32_t bytes);
void emu_touch_global(Emu *emu, const Access *access, const void *p, uint64_t bytes,
                      bool write); /* right behind emu_check_global */

/* emu_memory.c: bounds and alignment; called by threads only. s: in the block, as the kernel gave it */
void emu_check_shared(Emu *emu, int line, uint32_t s, uint64_t bytes, uint32_t align, const char *what);
void emu_check_global(Emu *emu, int line, const void *p, uint64_t bytes, uint32_t align, const char *what);

/* emu_sync.c */
void emu_mbar_complete_bytes(Emu *emu, const Event *load);
void emu_mbar_complete_copies(Emu *emu, const Event *copies);
/* The mbarrier at `bar` of a block of the cluster, checked to exist and to be visible to the thread. */
int emu_mbar_use(Emu *emu, int line, int block, uint32_t bar, const char *what);

/* emu_cluster.c */
void emu_cluster_sync(Emu *, int line);
void emu_mbar_arrive_at(Emu *, int line, unsigned bar, unsigned rank);
/* A thread has ended: the cluster's barrier may be complete, and its block at its end. */
void emu_cluster_exit(Emu *emu, Thread *thread);
/* Is there such a block, and has it not ended? */
void emu_cluster_check(Emu *emu, int line, unsigned rank, const char *what);

/* emu_copy.c */
void emu_event_happen(Emu *emu, const Event *event);
void emu_thread_exit_check(Emu *emu, Thread *thread);

/* emu_wgmma.c */
void emu_wgmma_exit_check(Emu *emu, Thread *thread);

/* emu_tensormap.c */
struct TensorCode { /* what the 128 bytes of a TensorMap hold */
    uint32_t magic;
    uint8_t type, rank, swizzle;
    uint64_t base;
    uint64_t dims[5], strides[4];
    uint16_t box[5];
};
_Static_assert(sizeof(TensorCode) <= 128, "fits a TensorMap");
uint32_t emu_box_bytes(const TensorCode *map); /* 0 when the map is not one of ours */
/* Bytes from the first to the last element of the box that lies inside the tensor, and the address
 * of the first; 0 when none does. */
/* Of a row of the box, the part inside the tensor: how many bytes, where, and how many of the row come before it. */
uint32_t emu_box_row(const TensorCode *map, const int *at, uint32_t row, uint64_t *global, uint32_t *before);
uint64_t emu_box_span(const TensorCode *map, const int *at, uint64_t *first);
/* Moves the box at coordinates `at` between global memory and `box`, whose first byte has shared offset s. */
void emu_box_move(const TensorCode *map, const int *at, uint8_t *box, uint32_t s, EmuCopy copy);

/* functions of the table, by file */
void emu_load_global(Emu *, int line, void *to, const void *from, int bytes);
void emu_store_global(Emu *, int line, void *to, const void *from, int bytes);
void emu_atomic(Emu *, int line, int op, int type, void *p, const void *v, const void *expect, void *old);
/* *p = *p op *value; the old value to *old unless NULL. */
void emu_apply(int op, int type, void *p, const void *value, const void *expect, void *old);
uint32_t emu_type_bytes(int type);
void emu_poll(Emu *, int line);
void emu_turn(Emu *, int line);
/* Counts the work of a block in steps, about as much as it takes here: a budget ends loops that do not
 * end. What is written for the first time renews it. */
enum { STEPS_OF_TURN = 32, STEPS_OF_ACCESS = 512, STEPS_OF_SWITCH = 1024 };
void emu_spend(Emu *emu, uint64_t steps, int line);
void emu_load_shared(Emu *, int line, void *to, unsigned s, int bytes);
void emu_store_shared(Emu *, int line, unsigned s, const void *from, int bytes);
void emu_atomic_shared(Emu *, int line, int op, int type, unsigned s, const void *value);

unsigned long long emu_shuffle(Emu *, int line, int kind, unsigned long long value, int n);
unsigned emu_ballot(Emu *, int line, int vote);
int emu_elect(Emu *, int line);
void emu_sync_warp(Emu *, int line);
void emu_barrier(Emu *, int line, int id, int threads, int wait);
void emu_setmaxnreg(Emu *, int line, int registers, int increase);
/* Arrives at a collective, operands already left in the Warp; true in the lane that came last. The
 * others return after it called emu_collective_done. */
bool emu_collective(Emu *emu, int line, const char *what, int kind, int count);
void emu_collective_done(Emu *emu);

void emu_mbar_init(Emu *, int line, unsigned bar, unsigned count);
void emu_mbar_arrive(Emu *, int line, unsigned bar, unsigned bytes, int arrive);
/* One arrival, and so many bytes more to come, at an mbarrier that is there. */
void emu_mbar_count(Emu *emu, int line, int index, unsigned bytes, bool arrive);
void emu_mbar_wait(Emu *, int line, unsigned bar, unsigned parity);
void emu_fence_mbar_init(Emu *, int line);
void emu_fence_async(Emu *, int line);

void emu_tma(Emu *, int line, int copy, int rank, const void *map, const int *at, unsigned s, unsigned bar,
             unsigned mask);
void emu_bulk(Emu *, int line, int copy, unsigned s, void *p, unsigned bytes, unsigned bar);
void emu_bulk_commit(Emu *, int line);
void emu_bulk_wait(Emu *, int line, int pending, int read_only);
void emu_cp_async(Emu *, int line, unsigned s, const void *p, int bytes, int ok);
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

unsigned emu_narrow(int type, double x);
double emu_widen(int type, unsigned bits);
#endif
