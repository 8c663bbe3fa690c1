/* machine.h: what the compiler needs to know about a chip, as data: machine.def has a row a machine, in named fields.
 * Nothing else in src/pass, src/analysis or src/ir asks for a target's name or knows a number of a chip, and nobody
 * takes a name apart: what a name would tell is a field. */
#ifndef PASS_MACHINE_H
#define PASS_MACHINE_H
#include "ir/ir.h"

/* Sets of matrix instructions. */
enum { MATRIX_FMA = 1, MATRIX_MMA = 2, MATRIX_MMA_F8 = 4, MATRIX_WGMMA = 8, MATRIX_TENSIX = 16 };

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
    bool has_threads;   /* SIMT: layout runs */
    bool roles_always;  /* every global access goes through a ring (Tenstorrent) */
    bool roles_allowed; /* may run roles side by side */
    bool skew_allowed;  /* may run loads ahead in one loop */
    bool has_tma;
    unsigned matrix;      /* MATRIX_..: the matrix instructions that it has, by their sets in matrix.def */
    bool async_proxy;     /* copies and products that run by themselves see what threads wrote only behind a fence */
    bool gives_registers; /* a warpgroup can give registers to another */
    int64_t ring_bytes;   /* shared memory or L1 of a block: rings and scratch */
    int lanes;            /* threads of a warp */
    int vector_bytes;     /* of one load of a thread */
} Machine;

/* NULL when unknown. */
const Machine *machine_find(const char *name);
const Machine *machine_at(int index); /* NULL past the last */
/* The row of a target's architecture. */
const Machine *machine_of_arch(const char *target, const char *arch);
/* The row that serves a device of this level best; NULL: none runs on it. */
const Machine *machine_of_level(const char *target, int level);
/* Does code for the machine run on a device of this level? */
bool machine_runs_on(const Machine *machine, int level);
#endif
