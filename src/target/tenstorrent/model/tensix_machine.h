/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h: the state of a run, shared by the files of the model.
 *
 * A machine has cores; a core has L1 and circular buffers; a kernel runs on one core, in a fiber.
 * API calls arrive with the kernel as `self`. A call that must wait describes what it waits for
 * (Wait) and yields; the scheduler asks whether it has come before it resumes. A call that finds a
 * mistake calls machine_fault, which reports and never comes back. */
#ifndef TARGET_TENSTORRENT_MODEL_TENSIX_MACHINE_H
#define TARGET_TENSTORRENT_MODEL_TENSIX_MACHINE_H
#include "base/fiber.h"
#include "base/vec.h"
#include "target/tenstorrent/model/tensix.h"
#include "target/tenstorrent/model/tensix_fpu.h"

enum { MAX_CBS = 64, TILE = FORMAT_TILE, PENDING = 256, SEMAPHORE_STEP = 16, SEMAPHORE_BASE = 0x2000 };

typedef struct Machine Machine;
typedef struct Core Core;

typedef struct Cb {
    const TensixCb *desc;
    uint32_t base; /* L1 offset of page 0 */
    uint32_t pushed, popped;
    uint32_t reserved, waited; /* pages beyond `pushed`, pages from `popped` on */
    uint32_t write_page, read_page;
    uint32_t packed; /* pages that pack_tile has filled since the last push */
    TtKernel *producer, *consumer;
    uint32_t pushed_line, reserved_line, waited_line; /* where that was last done; 0: not known */
    TtKernel *scratch; /* who has used its pages as plain memory, or NULL */
    uint64_t *pushed_at, *popped_at; /* by page; these and what follows: tensix_time.c */
    uint64_t page_stall, space_stall;
    uint32_t most_pages;
} Cb;

struct Core {
    TensixPoint logical, noc;
    uint8_t *l1;
    uint32_t origin; /* what kernels see as the address of L1 byte 0 */
    Cb cbs[MAX_CBS];
    uint64_t semaphore_at[TENSIX_SEMAPHORES];
};

typedef enum WaitKind { WAIT_NOTHING, WAIT_SPACE, WAIT_PAGES, WAIT_SEMAPHORE } WaitKind;
typedef struct Wait {
    WaitKind kind;
    uint32_t id; /* CB number, or L1 offset of the semaphore */
    uint32_t count;
    bool at_least;
} Wait;

/* A NoC transaction under way. */
typedef struct Pending {
    uint64_t order; /* among all of the run */
    bool write, multicast, with_self;
    uint64_t remote;
    uint32_t local, bytes; /* L1 offset on the kernel's core */
    uint32_t receivers;
    uint64_t done; /* tensix_time.c */
} Pending;

/* What the last init was told. */
typedef struct InitArgs {
    uint32_t a, b; /* CBs, TT_NO_CB for none */
    uint32_t columns, rows, inner;
} InitArgs;

typedef struct Compute {
    uint32_t dst[16][TILE]; /* fp32 bits in storage order; a 16-bit DST keeps the low half zero */
    bool written[16];
    bool reduced[16]; /* by reduce_tile, and nothing but the SFPU since */
    bool acquired, waited;
    uint32_t math_section, pack_section, committed;
    uint32_t init, init_flag;
    InitArgs init_args;
    const char *init_name;
    const TensixCb *formats[3]; /* which CB's format SrcA, SrcB and the packer have; NULL before startup */
    bool masked, l1_acc;
    uint32_t mask_dim, relu, relu_threshold;
    uint32_t tile[2][TILE];
    Source a, b;
    uint64_t free_at[2], committed_at[2], busy, tiles; /* tensix_time.c */
    uint32_t most_slots;
} Compute;

struct TtKernel {
    Machine *machine;
    Core *core;
    const TensixKernel *desc;
    const TensixPlacement *placement;
    Fiber *fiber;
    Wait wait;
    uint32_t last_line; /* of its text, where a loop was last seen; 0: nowhere yet */
    uint32_t call_line; /* of its last call; 0: not known */
    bool stopped;       /* by a fault */
    Pending *pending;
    uint32_t pending_count, atomics;
    uint32_t writes; /* since noc_async_write_barrier */
    Compute *compute;
    uint64_t clock[3], math_end[2], port, settled_at; /* tensix_time.c */
    uint64_t read_bytes, sent_bytes;
};

typedef struct Bank {
    VEC(uint32_t) used; /* bytes by window of time */
} Bank;

struct Machine {
    const TensixProgram *program;
    const TensixLimits *limits;
    TensixReport *report;
    size_t report_length;
    uint32_t faults;
    TtModelApi api;
    Arena *arena;
    Bank banks[16];
    Core *cores;
    uint32_t shards_from; /* of each L1: tensors in shards lie from here on */
    TtKernel *kernels;
    uint32_t kernel_count;
    uint64_t order;
    uint64_t random; /* state of the orders that a seed chooses; 0: none */
    uint64_t steps;      /* since a page of DRAM was last written; machine_spend */
    uint64_t renewals;   /* how often that was */
    uint32_t turns;      /* of loops, until the next call of `turn` */
    bool looks, is_over; /* the kernel comes back for a look at `cancel`; the budget, or the wish, is */
    bool no_memory;      /* and so it is over */
};

/* tensix_sched.c */
/* Reports a mistake of the kernel, which will not run again. */
void machine_note(TtKernel *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Leaves a kernel that was reported, for good; called on its own fiber, as is machine_fault, which does both. */
_Noreturn void machine_park(TtKernel *self);
_Noreturn void machine_fault(TtKernel *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
void machine_wait(TtKernel *self, Wait wait);
/* Counts work in steps, about as much as it takes here: a budget ends loops that do not end. */
enum { STEPS_OF_TURN = 32, STEPS_OF_CB = 4096 };
void machine_spend(TtKernel *self, uint64_t steps);
void machine_renew(Machine *machine); /* a page of DRAM was written */
Core *machine_core_at(Machine *machine, uint32_t noc_x, uint32_t noc_y);

/* tensix_cb.c */
void cb_bind(TtModelApi *api);
bool cb_is_free(const Cb *cb, uint32_t pages);
bool cb_is_filled(const Cb *cb, uint32_t pages);
Cb *cb_find(TtKernel *self, const char *call, uint32_t id);
/* The bytes of tile `index` in the waited window, or of page `index` in the reserved one. */
const uint8_t *cb_front_page(TtKernel *self, const char *call, uint32_t id, uint32_t index, uint32_t pages);
uint8_t *cb_back_page(TtKernel *self, const char *call, uint32_t id, uint32_t index, uint32_t pages);
/* Whether bytes of L1 lie outside circular buffers or in a window that may be read or written. On
 * false, `what` says which pages and why. A CB that nobody uses as one is plain memory. */
bool cb_range_open(TtKernel *self, uint32_t offset, uint32_t bytes, bool write, char what[160]);
/* " (pushed in reader.cpp:37)", or nothing. */
const char *cb_pushed_by(const Cb *cb, char text[100]);
/* Unwritten memory carries a mark. */
void cb_mark_unwritten(uint8_t *at, uint32_t bytes);
bool cb_has_unwritten(const uint8_t *at, uint32_t bytes);

/* tensix_noc.c */
void noc_bind(TtModelApi *api);
/* Lets a transaction land, the oldest one or by the seed's choice; false when nothing is under way. */
bool noc_land_one(Machine *machine);
uint64_t machine_random(Machine *machine, uint64_t below);
bool noc_is_set(const TtKernel *self, const Wait *wait);
void noc_check_push(TtKernel *self, const Cb *cb, uint32_t pages);
void noc_check_pop(TtKernel *self, const Cb *cb, uint32_t pages);
void noc_check_end(TtKernel *self);

/* tensix_compute.c: DST, its hand-over, and the operands of the FPU */
void compute_bind(TtModelApi *api);
/* The tile of a slot for the math side, `fresh` set when nobody wrote it since acquire. */
uint32_t *compute_slot(TtKernel *self, const char *call, uint32_t slot, bool *fresh);
/* Whether it holds a reduction, or what the SFPU made of one. */
bool *compute_reduced(TtKernel *self, const char *call, uint32_t slot);
const uint32_t *compute_packed_slot(TtKernel *self, const char *call, uint32_t slot);
void compute_check_init(TtKernel *self, const char *call, uint32_t code);
void compute_check_init_args(TtKernel *self, const char *call, InitArgs args);
/* `which`: TT_SRCA, TT_SRCB or TT_PACK must be set for the CB's format. */
void compute_check_format(TtKernel *self, const char *call, uint32_t which, uint32_t cb);
/* A tile of a CB as fp32 bits, as the unpacker delivers it to a source register. */
const uint32_t *compute_unpack(TtKernel *self, const char *call, uint32_t which, uint32_t cb, uint32_t tile);
/* What numbers become when they move through a source register into DST. */
void compute_enter_dst(const TtKernel *self, uint32_t bits[TILE]);

/* tensix_pack.c, tensix_tilize.c, tensix_sfpu.c */
void pack_bind(TtModelApi *api);
void tilize_bind(TtModelApi *api);
void sfpu_bind(TtModelApi *api);
void pack_page(TtKernel *self, const uint32_t dst[TILE], uint32_t cb, uint8_t *page);
#endif
