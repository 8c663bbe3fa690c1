/* machine.h: what the passes need to know about a target, as data (machine.def). Nothing else in src/pass or src/ir
 * asks for a target's name. */
#ifndef PASS_MACHINE_H
#define PASS_MACHINE_H
#include "ir/ir.h"

typedef struct Machine {
    const char *name;   /* "cuda:sm_90a", "cpu", "tenstorrent", "interp" */
    bool has_threads;   /* SIMT: layout runs */
    bool roles_always;  /* every global access goes through a ring (Tenstorrent) */
    bool roles_allowed; /* may run roles side by side */
    bool skew_allowed;  /* may run loads ahead in one loop */
    bool has_tma, has_wgmma, has_mma;
    bool has_fp8;       /* its matrix instructions multiply f8e4m3 and f8e5m2 */
    int64_t ring_bytes; /* shared memory or L1 for rings */
    int reduce_lanes;   /* lanes of a float reduction's order: 16 on the CPU, 32 on SIMT */
    int vector_bytes;   /* of one load */
    bool dot_chains;    /* dot([A1 A2], [B1; B2], c) == dot(A2, B2, dot(A1, B1, c)), bit for bit */
    Word plain_dot;     /* the instruction of a dot that no matrix unit takes */
} Machine;

/* NULL when unknown. */
const Machine *machine_find(const char *name);
const Machine *machine_at(int index); /* NULL past the last */
#endif
