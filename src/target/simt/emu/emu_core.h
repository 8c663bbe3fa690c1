/* SPDX-License-Identifier: Apache-2.0 */
/* emu_core.h: the emulator's own structures; read emu.h first.
 *
 * Ordering. An *agent* is whatever touches shared memory: a thread, what a thread has started and what runs on beside
 * it (its *sides*: copies, say), and others that a target has. Each numbers its steps with its own clock; an access is
 * stamped (agent, clock). A thread's *view* says for every agent up to which clock it is ordered before the thread
 * (`seen`), and up to which clock its generic stores are known to be fenced for units that see only what was
 * (`fenced`). Views are shared and counted, because after a barrier all participants have the same one; what is a
 * thread's own (its clock, its completed sides) lies in the thread and is added when the view is published by a
 * release.
 *
 *     release (barrier arrival, tw_sync_warp): emu_publish(gather, thread)
 *     acquire (barrier passed):                emu_adopt(thread, view)
 *
 * Shadow. Every byte of shared memory has a Cell: stamp and line of its last write, and the set of reads since
 * (emu_race.c).
 *
 * Blocks side by side. A target may run some blocks as one (CUDA's clusters): their threads are numbered through, block
 * after block, and so is their shared memory, `shared_stride` bytes a block. Kernels speak of their own block;
 * emu_own() is where its memory begins.
 *
 * Time. Asynchronous work is an Event that happens at a tick. The scheduler (emu.c) resumes one ready thread per
 * tick. */
#ifndef TARGET_SIMT_EMU_EMU_CORE_H
#define TARGET_SIMT_EMU_EMU_CORE_H
#include "base/fiber.h"
#include "base/text.h"
#include "base/vec.h"
#include "target/simt/emu/emu.h"

enum {
    EMU_MAX_THREADS = 1024,
    EMU_LEAST_LANES = 32,
    EMU_MAX_LANES = 64,
    EMU_NAMED_BARRIERS = 16,
    EMU_MAX_CLUSTER = 8,
    EMU_SIDES = 2, /* of a thread */
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
    WAIT_WARP,
    WAIT_EXITED,
    WAIT_OWN, /* and what follows: a target's */
} Wait;

/* What a thread has started and what runs on beside it. */
typedef struct Side {
    uint32_t clock, done, fenced; /* stamp of new work; stamps waited for, and fenced */
} Side;

typedef struct Thread {
    Emu *emu;
    Fiber *fiber;
    Trap *trap; /* on the fiber's stack */
    int id;
    int wait; /* Wait */
    int wait_line;
    uint32_t wait_what, wait_detail; /* barrier id, or what a target makes of it */
    int last_line;                   /* where it was when steps were last counted; 0: nowhere yet */
    uint32_t polls;                  /* loads of global memory that wait */

    View *view;
    uint32_t clock, fenced; /* own stamp; own stores up to `fenced` are fenced */
    Side side[EMU_SIDES];
} Thread;

/* A collective instruction of a warp, while lanes are missing. */
typedef struct Warp {
    const char *what;
    int line;
    uint64_t arrived;
    int kind, count;
    uint64_t value[EMU_MAX_LANES], result[EMU_MAX_LANES];
    uint32_t address[EMU_MAX_LANES];
    Gather gather; /* tw_sync_warp */
} Warp;

typedef struct NamedBarrier {
    int expected, arrived;
    int line;
    Gather gather;
    uint64_t member[EMU_MAX_THREADS / EMU_LEAST_LANES]; /* who arrived, per warp */
} NamedBarrier;

/* Asynchronous work, and when it happens; earlier if someone waits for it. */
typedef struct Event {
    int line;
    uint64_t due;
    void *work; /* the target's */
} Event;

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
    CELL_COPY,   /* copied beside the threads, as if a thread had stored it */
    CELL_ASYNC,  /* by a unit that sees only what was fenced */
    CELL_OBJECT, /* where something lives that only its own instructions may touch: EmuTarget.object */
} CellKind;

typedef struct ReadNode { /* the set `rest` and one read more */
    uint32_t rest, agent, clock, line;
} ReadNode;
typedef struct ReadKey {
    uint32_t set, agent, clock, result;
} ReadKey;

/* What a target adds. Functions may be NULL where they have nothing to do. */
typedef struct EmuTarget {
    const EmuTable *table;
    const char *side[EMU_SIDES];    /* what the sides of a thread are called: "cp.async of " */
    const char *const *fault_names; /* of its own faults, from EMU_FAULT_OF_TARGET on */
    const char *object;             /* what lives in a CELL_OBJECT: "an mbarrier" */
    const char *fence; /* a CELL_ASYNC without a fence: what is missing after the access before it, and the rule */
    bool (*possible)(Emu *emu);                   /* a launch that it cannot run: fails */
    int (*agents)(Emu *emu);                      /* beside the threads and their sides */
    void (*start)(Emu *emu);                      /* blocks begin */
    void (*check_exit)(Emu *emu, Thread *thread); /* a thread ends: may it? */
    void (*exited)(Emu *emu, Thread *thread);     /* it has */
    void (*check_end)(Emu *emu);                  /* all have, with events to come */
    void (*happen)(Emu *emu, const Event *event);
    const char *(*agent)(Emu *emu, int agent); /* what one of its agents is called */
    void (*say_wait)(Emu *emu, const Thread *thread);
    EmuFault (*deadlock)(Emu *emu, const char **why); /* what it is rather, if it can tell */
} EmuTarget;

struct Emu {
    const EmuTarget *target;
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

    int lanes;                  /* of a warp */
    int threads, warps;         /* of all blocks that run */
    int cluster, block_threads; /* blocks that run side by side, threads of a block */
    uint32_t shared_stride;     /* bytes from block to block, a multiple of 1024 */
    int first_block;            /* x of the first block that runs */
    Thread *thread;
    Warp *warp;
    Thread *running; /* NULL in the scheduler */
    uint16_t *ready; /* ring of ready threads */
    int ready_head, ready_count, exited;
    uint64_t steps, most_steps; /* since the block last wrote where it had not written; see emu_spend */
    uint64_t results;           /* how often that was, in this block */
    bool looks;                 /* the thread comes back for a look at launch->cancel, and goes on */
    uint64_t tick, random;

    uint8_t *shared;
    Cell *cell;
    NamedBarrier *barrier; /* EMU_NAMED_BARRIERS of each block */
    VEC(Event) events;
    uint64_t next_due;

    int agent_count;
    View *free_views;

    VEC(ReadNode) nodes;
    ReadKey *keys;
    size_t key_count, key_capacity;
};

/* agents: the threads, the sides of each, then the target's from emu_agents on */
static inline int agent_side(const Emu *emu, int side, int thread) { return (1 + side) * emu->threads + thread; }
static inline int emu_agents(const Emu *emu) { return (1 + EMU_SIDES) * emu->threads; }

static inline int block_of(const Emu *emu, int thread) { return thread / emu->block_threads; }
/* Where the shared memory of the running thread's block begins. */
static inline uint32_t emu_own(const Emu *emu) {
    return (uint32_t)block_of(emu, emu->running->id) * emu->shared_stride;
}
static inline int lane_of(const Emu *emu) { return emu->running->id % emu->lanes; }
static inline Warp *warp_of(Emu *emu) { return &emu->warp[emu->running->id / emu->lanes]; }
/* The first thread of the running one's warp. */
static inline int first_of_warp(const Emu *emu) { return emu->running->id / emu->lanes * emu->lanes; }

/* emu.c */
/* Runs a launch in `emu`, which is zero, the first part of a target's own state. True when nothing was found; the texts
 * lie in the arena. */
bool emu_run(Emu *emu, const EmuTarget *target, const EmuLaunch *launch, Arena *arena, EmuReport *report);
uint64_t emu_random(Emu *emu);
/* The calling thread waits until emu_wake. */
void emu_block(Emu *emu, int wait, int line);
void emu_wake(Emu *emu, Thread *thread);
/* Work that happens at a random later tick. */
void emu_schedule(Emu *emu, int line, void *work);

/* emu_report.c */
/* Ends the launch. In a thread it does not return; in the scheduler it does, and the scheduler stops. */
void emu_fail(Emu *emu, EmuFault fault, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Texts for messages, in the launch's arena. */
const char *emu_at(Emu *emu, int line);                      /* matmul.cu:12 */
const char *emu_bytes(Emu *emu, uint32_t s, uint32_t bytes); /* shared bytes 512-527 (b + 0) */
const char *emu_agent(Emu *emu, int agent);                  /* thread 3; wgmma of warpgroup 1 of block 1 */
const char *emu_of_block(Emu *emu, int block);               /* " of block 1", where there are several */
void emu_report_endless(Emu *emu);
void emu_report_deadlock(Emu *emu);

/* emu_order.c */
View *emu_view_new(Emu *emu, const View *copy_of);
View *emu_view_keep(View *view);
void emu_view_drop(Emu *emu, View *view);
void emu_view_replace(Emu *emu, View **place, View *kept);
void emu_view_merge(const Emu *emu, View *into, const View *from);
void emu_view_add_own(const Emu *emu, View *view, const Thread *thread);
void emu_publish(Emu *emu, Gather *gather, Thread *thread);
void emu_gather_reset(Emu *emu, Gather *gather);
void emu_adopt(Emu *emu, Thread *thread, View *view);
bool emu_seen(const Emu *emu, const Thread *thread, int agent, uint32_t clock);
bool emu_seen_fenced(const Emu *emu, const Thread *thread, int agent, uint32_t clock);

/* emu_race.c: who touches shared memory, and on whose behalf */
typedef struct EmuAccess {
    const Thread *thread; /* whose view decides, or NULL: `view` does */
    const View *view;
    int agent, line; /* the stamp's agent */
    uint32_t clock;
    CellKind kind;    /* of what it writes; CELL_ASYNC also asks that stores before it were fenced */
    const char *what; /* "reads", "the TMA load writes" .. */
} EmuAccess;
/* Called by threads only, so a fault does not return. */
void emu_touch_read(Emu *emu, const EmuAccess *access, uint32_t s, uint32_t bytes);
void emu_touch_write(Emu *emu, const EmuAccess *access, uint32_t s, uint32_t bytes);
void emu_touch_global(Emu *emu, const EmuAccess *access, const void *p, uint64_t bytes,
                      bool write); /* right behind emu_check_global */

/* emu_memory.c: bounds and alignment; called by threads only. s: in the block, as the kernel gave it */
EmuAccess emu_thread_access(Emu *emu, int line, const char *what); /* by the running thread */
void emu_check_shared(Emu *emu, int line, uint32_t s, uint64_t bytes, uint32_t align, const char *what);
void emu_check_global(Emu *emu, int line, const void *p, uint64_t bytes, uint32_t align, const char *what);

/* emu_warp.c */
/* Arrives at a collective, operands already left in the Warp; true in the lane that came last. The
 * others return after it called emu_collective_done. */
bool emu_collective(Emu *emu, int line, const char *what, int kind, int count);
void emu_collective_done(Emu *emu);

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
void emu_combine(Emu *, int line, int op, int type, void *p, const void *values, int count);
void *emu_shared_at(Emu *, int line, unsigned s);
void emu_atomic_shared(Emu *, int line, int op, int type, unsigned s, const void *value);

unsigned long long emu_shuffle(Emu *, int line, int kind, unsigned long long value, int n);
unsigned long long emu_ballot(Emu *, int line, int vote);
int emu_elect(Emu *, int line);
void emu_sync_warp(Emu *, int line);
void emu_barrier(Emu *, int line, int id, int threads, int wait);

unsigned emu_narrow(int type, double x);
double emu_widen(int type, unsigned bits);
void emu_trap(Emu *, int line, const char *text);
void emu_print(Emu *, const char *format, ...);

/* The table's neutral part, for a target's own. */
#define EMU_SIMT_CALLS                                                                                              \
    .load_global = emu_load_global, .store_global = emu_store_global, .atomic = emu_atomic, .poll = emu_poll,       \
    .load_shared = emu_load_shared, .store_shared = emu_store_shared, .combine = emu_combine,                       \
    .atomic_shared = emu_atomic_shared, .shared_at = emu_shared_at, .shuffle = emu_shuffle, .ballot = emu_ballot,   \
    .elect = emu_elect,                                                                                             \
    .sync_warp = emu_sync_warp, .barrier = emu_barrier, .narrow = emu_narrow, .widen = emu_widen, .turn = emu_turn, \
    .trap = emu_trap, .print = emu_print
#endif
