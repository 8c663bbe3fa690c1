/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h: what the compiler needs to know about a chip, as data: machine.def has a row a machine, in named fields.
 * Nothing else in src/pass, src/analysis or src/ir asks for a target's name or knows a number of a chip, and nobody
 * takes a name apart: what a name would tell is a field. */
#ifndef PASS_MACHINE_H
#define PASS_MACHINE_H
#include "ir/ir.h"
#include "ir/tile_layout.h"

/* Sets of matrix instructions (matrix.def). */
enum { MATRIX_FMA = 1, MATRIX_MMA = 2, MATRIX_MMA_F8 = 4, MATRIX_WGMMA = 8, MATRIX_TENSIX = 16,
       MATRIX_MFMA = 32, MATRIX_MFMA_F8 = 64, MATRIX_WMMA = 128 };

/* What one instruction of a thread combines into global memory, for which elements; others take a loop around
 * compare-and-swap. */
enum { ATOMIC_OF_INT = 1 /* of 32 and 64 bits */, ATOMIC_OF_F32 = 2, ATOMIC_OF_F64 = 4, ATOMIC_OF_HALF = 8 };
enum { BLOCK_THREADS = 1024 }; /* of a block, at most, on every machine that has them */

typedef struct MachineAtomics {
    unsigned add, rank, bits, swap; /* add; min and max; and, or, xor; xchg */
} MachineAtomics;

/* What was timed on the machine; plans are made with it (docs/performance.md). */
typedef struct MachineCost {
    int copy_clocks;   /* from the issue of a copy until it has landed and its slot is free again */
    int most_slots;    /* of a ring: one more gained nothing .. */
    int most_alone;    /* .. with one worker, where two blocks may share a multiprocessor */
    int enough_slots;  /* one more than these gained less than panels one after the other cost */
    int pair_columns;  /* of a product, at most, for pairs of blocks that load for each other to pay .. */
    int pair_slots;    /* .. with at least so many slots .. */
    int pair_tasks;    /* .. in launches of so many tasks for each multiprocessor .. */
    int pair_along;    /* .. that are even, or so many along their index: both blocks do an odd last one */
    int gang_programs; /* that run side by side in a block, at most */
    int grouped_rows;  /* of tiles that are walked together for the L2, when the source does not say */
    int crowd_warps;   /* of blocks that load for themselves, which hide what threads do between tile and product .. */
    int crowd_most;    /* .. and more than these hide no more .. */
    int crowd_percent; /* .. where tiles that a trip holds take at most this much of a thread's registers .. */
    int crowd_registers; /* .. with so many of a thread beside what a trip of its loop holds */
    int beside_sums;     /* registers of a thread that copies and multiplies, beside those of its sums .. */
    int beside_rows;     /* .. and of one that copies and reduces, beside what it holds of rows */
    int flight_bytes;    /* that a block which only adds rows up should have on their way */
    int load_warps;      /* of a load role, at most, whose threads copy; 0: one group of warps .. */
    int issue_clocks;    /* .. and from a copy of a warp to its next .. */
    int search_clocks;   /* .. where its rows are found anew in each trip */
    int long_product;    /* elements along K from which products take longer than an exponential an element */
    int pair_registers;  /* of a thread, at least, where two blocks that load by themselves share a multiprocessor */
    int other_registers; /* that a thread needs beside its tiles: addresses, partial results */
    int lead_registers;  /* .. the same where products are issued a trip early: two slots more, and their descriptors */
    int held_registers; /* of a thread, that tiles which live through a trip may take with what is loaded ahead of it */
    int sum_registers;   /* of a thread, that the sum of a product may take, else more warps have it; 0: any number */
    int joined_registers; /* .. and the sums of products which run beside each other */
    int ahead_registers;  /* the same of a thread whose copies run ahead: what tells it where they are */
    int fetch_registers;  /* that one load may take which comes a trip ahead .. */
    int fetch_elements;   /* .. and those of one that is more than a row, for the loop that computes with it .. */
    bool fetch_late;      /* .. issued behind what waits for this trip's, since waits count loads in their order .. */
    bool puts_late;       /* loads that run ahead and are no copies wait in registers: they are stored into their slots
                             when the trip ends that issues them; else at once */
    int loose_registers;  /* .. and loads, together, that wait for the words around rows which are not aligned */
    int loose_trips;      /* that such words are copied ahead */
    int again_elements;  /* of a vector that is read again where it is used, not moved there: a load that hits the cache
                             costs less than the barriers on the way .. */
    int again_registers; /* .. of a thread, if it is no vector of indices .. */
    int again_loads;  /* .. or, out of a slot, if its loads are smaller than a bank is wide: by so many of a thread */
    int short_rows;   /* of a product, at most, for a trip to be over before memory answers */
    int apart_loads;  /* of a tile by a thread: from so many on, finding each address anew costs more than a register */
    int single_loads; /* elements that a thread loads one by one in a trip: from so many on, all at once gains */
    bool places_anew; /* behind loops with products: the compiler would keep places of elements through them, and spill
                         what the products need .. */
    bool trips_anew;  /* .. and in each trip of them: it would keep every address that a trip finds of its lane */
    int fma_steps;    /* along K, side by side: what the next ones read is under way */
    int flat_blocks; /* of flat kernels with products, that should share a multiprocessor: one multiplies while another
                        waits at its barriers; 0: whatever fits */
    bool weighs_flat; /* a kernel whose loads run ahead stays flat where so more blocks share a multiprocessor */
    bool apart_steps; /* a product's steps along K stay a loop: unrolled, the compiler reads the operands of all of them
                         ahead of the first, and spills what has no register */
    int early_registers; /* that a product's sums and its operands of two steps may take: then those of the next step
                            are read under this one; 0: they are read when they are needed */
    int lane_warps;   /* from so many on, each lane takes what one warp has; a thread that takes all needs more
                             registers than the block has to spare */
    int barrier_shuffles; /* exchanges between lanes that take as long as two barriers */
    int strip_from;       /* elements of a tile in a thread: from so many on, trips that can go in strips do .. */
    int strip;            /* .. of so many; 0: none does */
    bool sweeps;          /* blocks that run one after the other should be neighbours in memory */
} MachineCost;

typedef struct Machine {
    const char *name; /* "cuda:sm_90a", "cpu", "tenstorrent", "interp" */

    /* --- the devices that run it: targets whose devices have a level (CUDA: ten times major plus minor) --- */
    const char *target;        /* "cuda" */
    const char *arch;          /* "sm_90a"; NULL: the target's own table has them */
    const char *assembly_arch; /* "compute_90a" */
    int level;                 /* its code runs on devices of this level and later .. */
    bool level_only;           /* .. or on this level alone */
    int level_best; /* devices from `level` up to this one have no better row, unless one with a higher `level` */

    /* --- how a kernel may run --- */
    bool runs_workers; /* that a kernel writes as threads, warps or warpgroups: by threads, or by coroutines */
    bool counts_phases; /* barriers in shared memory that count arrivals and have phases */
    bool has_threads;   /* SIMT: layout runs */
    bool f8_pairs;      /* one instruction converts two numbers from or to floats of 8 bits */
    bool roles_always;  /* every global access goes through a ring (Tenstorrent) */
    bool roles_allowed; /* may run roles side by side */
    bool skew_allowed;  /* may run loads ahead in one loop */
    unsigned matrix;    /* MATRIX_..: the sets of matrix instructions that it has */
    int vector_bytes;   /* of one load or store of a thread, at most: so long are runs of indices looked for (runs.h) */

    /* --- threads of a block --- */
    int lanes;        /* threads of a warp */
    int group_warps;  /* warps of a warpgroup: roles have whole ones */
    int sector_bytes; /* of global memory that are written at once, whole or not */
    int atomic_bytes; /* of one addition of floats to global memory, element by element; 0: an element */
    MachineAtomics atomics;
    int unit_warps;       /* that a multiprocessor runs at once, at most; 0: nothing is said of that */
    int registers;        /* of a multiprocessor .. */
    int thread_registers; /* .. of one thread, at most .. */
    int role_registers;   /* .. of one that was given those of others, at most .. */
    int register_step;    /* .. given in steps of so many; 0: they stay where they are */
    int issue_registers;  /* that a thread keeps which only issues copies .. */
    int move_registers;   /* .. which waits for copies and passes them on .. */
    int copy_registers;   /* .. which copies rows, and holds the addresses of .. */
    int copy_rows;        /* .. so many of them .. */
    int carry_registers;  /* .. and which carries what it moves itself */
    int named_barriers;   /* of a block */

    /* --- memory of a block, and ways into it --- */
    int core_rows, core_columns; /* of a grid of cores that share what they load .. */
    int load_bytes;              /* .. a cycle from memory, all of them together .. */
    int load_banks;              /* .. out of so many banks, page after page */
    int64_t ring_bytes; /* shared memory or L1: rings and scratch */
    int64_t unit_bytes; /* that the blocks of a multiprocessor have together; 0: the same */
    int block_bytes;    /* that a multiprocessor sets aside for each block, beside ring_bytes */
    Banks banks;        /* of it */
    bool thread_copies;  /* copies of a thread go into shared memory past its registers, each where the thread says */
    bool barrier_waits;  /* a barrier waits for loads that are under way, unless it is one of shared memory alone */
    int wave_copy_bytes; /* copies of a warp go to shared memory side by side, so many bytes a lane; 0: they do not */
    int counted_loads;   /* copies are waited for by how many loads of the warp may still be under way, so many at most;
                            0: in groups */
    bool bounded_access; /* a load, a store has a base that all lanes share; 2^31 bytes behind it and farther it brings
                            0, stores nothing */
    int tile_align;     /* where tiles begin in it that swizzle, or that an engine reads .. */
    int barrier_bytes;  /* .. and so large is each barrier that copies arrive at */
    bool async_proxy;   /* copies and products that run by themselves see what threads wrote only behind a fence */
    bool has_tma;       /* boxes of tensors are copied by an engine .. */
    int box_extent;     /* .. so long along a dimension, at most .. */
    int box_rank;       /* .. of tensors of so many dimensions, at most .. */
    int box_align;      /* .. from addresses, strides and starts of rows that are multiples of so many bytes */
    int cluster_blocks; /* that can load for each other, at most */

    /* --- of the data sheet, for the roofline; no plan is made with them. 0: it names no one chip --- */
    int sheet_matrix; /* GFLOP/s of products of 16-bit factors, without sparsity .. */
    int sheet_gflops; /* .. of float32 without matrix units .. */
    int sheet_gbytes; /* .. and GB/s of its memory */

    MachineCost cost;
} Machine;

/* Shared memory that the blocks of a multiprocessor have together. */
int64_t machine_unit_bytes(const Machine *machine);
/* Shared memory that each of so many blocks of a multiprocessor can have. */
int64_t machine_room(const Machine *machine, int blocks);

/* NULL when unknown. */
const Machine *machine_find(const char *name);
const Machine *machine_at(int index); /* NULL past the last */
/* The row of a target's architecture. */
const Machine *machine_of_arch(const char *target, const char *arch);
/* The row that serves a device of this level best; NULL: none runs on it. */
const Machine *machine_of_level(const char *target, int level);
/* Does code for the machine run on a device of this level? */
bool machine_runs_on(const Machine *machine, int level);
/* Shared memory beside so many areas, each of which begins where tiles begin: what alignment and barriers may take. */
int64_t machine_spare_bytes(const Machine *machine, int areas);
#endif
