/* SPDX-License-Identifier: Apache-2.0 */
/* tensix.h: a grid of Tensix cores, modelled well enough to run compiled TT-Metalium kernels.
 *
 * The caller describes a program (cores, circular buffers, semaphores, DRAM buffers, kernels with
 * their entry points and arguments) and runs it:
 *
 *     TensixProgram p = {.arch = TENSIX_WORMHOLE, .dst_fp32 = true, .fidelity = 4, ...};
 *     TensixReport report;
 *     if (!tensix_run(&p, allocator_malloc, &report)) show(report.text);
 *
 * Kernel files are compiled by the host C++ compiler against the headers in include/ (see
 * tt_kernel.h there for the wrapper) and looked up with dlsym; output pages land in the memory of
 * the DRAM buffers. A run is deterministic: one fiber per kernel and core, resumed in order.
 * Arithmetic follows the hardware bit by bit where its rules are known (moves, FPU, packing), and
 * is correctly rounded for SFPU functions. Wrong programs never crash the model as long as they go
 * through the API: what is wrong stops its kernel and is told in the report, as are deadlocks (each
 * waiter with what it waits for) and pages left behind. Raw pointers made from L1 addresses work
 * where the system maps memory below 4 GiB (Linux); a kernel that follows a wild one faults like
 * any program. */
#ifndef TARGET_TENSTORRENT_MODEL_TENSIX_H
#define TARGET_TENSTORRENT_MODEL_TENSIX_H
#include "base/arena.h"
#include "base/cancel.h"
#include "target/tenstorrent/model/include/tt_model_api.h"

#include <stdbool.h>

typedef enum TensixArch { TENSIX_WORMHOLE, TENSIX_BLACKHOLE } TensixArch;

/* What an architecture offers; the emitter plans with the same figures. */
typedef struct TensixLimits {
    const char *name;
    uint32_t cbs;                   /* circular buffers per core */
    uint32_t dram_banks;            /* pages go round-robin over them */
    uint32_t dram_alignment;        /* of page sizes, and of reads modulo this */
    uint32_t l1_bytes, l1_reserved; /* circular buffers share what is between */
    uint32_t grid_x, grid_y;        /* the largest grid of cores */
    uint32_t bank_bytes;            /* a cycle, of a DRAM bank */
} TensixLimits;
enum { TENSIX_L1_ALIGNMENT = 16, TENSIX_MAX_ARGS = 341, TENSIX_SEMAPHORES = 16 };

const TensixLimits *tensix_limits(TensixArch arch);

typedef struct TensixPoint {
    uint32_t x, y;
} TensixPoint;
/* The coordinates by which kernels name a core on the NoC. */
TensixPoint tensix_noc_point(TensixArch arch, TensixPoint logical);

/* Number of DST slots a kernel may use between acquire and commit. */
uint32_t tensix_dst_slots(bool dst_fp32, bool full_sync);
uint32_t tensix_tile_bytes(TtFormat format); /* 0 for a format that the model does not know */

typedef struct TensixCb {
    uint32_t id;
    TtFormat format;
    uint32_t page_bytes, pages;
    bool unpack_to_dest; /* Float32 or Int32 that copy_tile and transpose move straight to DST */
} TensixCb;

/* Where a page of a buffer in shards lies: the core, by its number in the program, and the place in its L1. */
typedef struct TensixPlace {
    uint32_t core, offset;
} TensixPlace;

/* An interleaved buffer: page p in bank p modulo the number of banks, from `address` on; or one in shards. */
typedef struct TensixBuffer {
    const char *name;
    uint32_t address; /* a multiple of dram_alignment; see tensix_next_address */
    uint32_t page_bytes, pages;
    uint8_t *data; /* pages one after the other; read and written by the run */
    bool in_l1;    /* page p in the L1 of core p modulo their number */
    const TensixPlace *places; /* of each page, where it lies in shards, from `address` on; else NULL */
} TensixBuffer;
/* The first address after a buffer in DRAM, where the next one may lie; starts with 0 for none. */
uint32_t tensix_next_address(TensixArch arch, const TensixBuffer *after);
/* Bytes of each core's L1 that a buffer there takes; buffers lie at its end, the first one last. */
uint32_t tensix_l1_share(TensixArch arch, uint32_t pages, uint32_t page_bytes);

typedef enum TensixProcessor {
    TENSIX_READER, /* RISCV_1 on NoC 0 */
    TENSIX_WRITER, /* RISCV_0 on NoC 1 */
    TENSIX_COMPUTE
} TensixProcessor;

typedef void TensixEntry(const TtModelApi *api);

typedef struct TensixPlacement {
    uint32_t core; /* index into the program's cores */
    const uint32_t *args;
    uint32_t arg_count;
} TensixPlacement;

typedef struct TensixKernel {
    const char *name; /* for messages */
    TensixProcessor processor;
    TensixEntry *entry;
    const TensixPlacement *placements;
    uint32_t placement_count;
    const uint32_t *common_args;
    uint32_t common_arg_count;
} TensixKernel;

typedef struct TensixProgram {
    TensixArch arch;
    bool dst_fp32, dst_full_sync;
    uint32_t fidelity;        /* 1 LoFi, 2 HiFi2, 3 HiFi3, 4 HiFi4 */
    const TensixPoint *cores; /* logical coordinates */
    uint32_t core_count;
    const TensixCb *cbs; /* the same on every core, at the same addresses */
    uint32_t cb_count;
    const uint32_t *semaphores; /* initial values, the same ids on every core */
    uint32_t semaphore_count;
    const TensixBuffer *buffers;
    uint32_t buffer_count;
    const TensixKernel *kernels;
    uint32_t kernel_count;
    uint64_t steps; /* budget between two writes to DRAM; 0: TENSIX_STEPS */
    uint64_t seed;  /* of the order in which NoC writes land; 0: as they were sent */
    bool counts;    /* only: all is checked and counted, no number is computed, and pages hold zeros */
    Cancel *cancel; /* who may end it early; NULL: nobody */
    struct TensixCoreReport *core_reports; /* core_count of them, or NULL */
    struct TensixCbReport *cb_reports;     /* cb_count of them, or NULL */
} TensixProgram;
#define TENSIX_STEPS (1ull << 34) /* some 10 to 60 seconds of the host */

/* Times are estimates (tensix_time.c), in cycles. */
typedef struct TensixCoreReport {
    uint64_t cycles, busy; /* until its last kernel ended; of its math unit */
    uint64_t tiles;        /* packed */
    uint64_t read_bytes, sent_bytes; /* from DRAM; to other cores */
} TensixCoreReport;
typedef struct TensixCbReport { /* the largest of all cores */
    uint32_t most_pages;
    uint64_t page_stall, space_stall; /* its consumer waited for pages, its producer for space */
} TensixCbReport;
typedef struct TensixReport {
    uint64_t dram_read_bytes, dram_written_bytes, core_to_core_bytes;
    uint64_t tiles_multiplied, tiles_packed; /* matmul steps of one tile each; packed tiles */
    uint64_t multicast_bytes;                /* sent once each, however many receive them */
    uint64_t own_shard_bytes, far_shard_bytes; /* read from shards: a core's own, another one's */
    uint64_t cycles;                         /* estimated; until the last kernel ended */
    uint64_t compute_bound, dram_bound;      /* cycles of the busiest math unit; of all DRAM banks together */
    uint32_t dst_slots;                      /* used at once, at most */
    bool out_of_memory, endless;             /* why it ended; neither: a mistake of a kernel */
    uint32_t strayed;                        /* among those: 1 + the buffer of which a page was wanted that it lacks */
    char text[12000];                        /* empty when all is well; cut at its end */
} TensixReport;

/* True when every kernel ran to its end and nothing was wrong. */
bool tensix_run(const TensixProgram *program, Allocator allocator, TensixReport *report);
#endif
