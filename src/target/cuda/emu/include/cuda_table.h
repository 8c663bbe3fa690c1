/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_table.h: what an emitted CUDA kernel asks of the emulator beyond what any SIMT kernel does (emu_table.h, which is
 * included before). Read by C and C++. */
#ifndef CUDA_TABLE_H
#define CUDA_TABLE_H
#ifdef __cplusplus
extern "C" {
#endif

typedef enum EmuCopy { EMU_LOAD, EMU_STORE, EMU_STORE_ADD } EmuCopy;

typedef enum EmuMapField { EMU_MAP_BASE, EMU_MAP_EXTENT, EMU_MAP_STRIDE } EmuMapField;

/* One wgmma: d = a b + (accumulate ? d : 0). */
typedef struct EmuWgmma {
    int n, type; /* columns of d; EmuType of a and b */
    int a_mn_major, b_mn_major;
    float *d;          /* n / 2 accumulators */
    const unsigned *a; /* four registers, or NULL: a_desc */
    unsigned long long a_desc, b_desc;
    int accumulate;
} EmuWgmma;

typedef struct CudaTable {
    EmuTable simt; /* first */
    void (*cluster_sync)(Emu *, int line);
    void (*setmaxnreg)(Emu *, int line, int registers, int increase);

    void (*mbar_init)(Emu *, int line, unsigned bar, unsigned count);
    void (*mbar_arrive)(Emu *, int line, unsigned bar, unsigned bytes, int arrive); /* bytes are expected */
    void (*mbar_arrive_at)(Emu *, int line, unsigned bar, unsigned rank);
    void (*mbar_wait)(Emu *, int line, unsigned bar, unsigned parity);
    void (*fence_mbar_init)(Emu *, int line);
    void (*fence_async)(Emu *, int line);

    /* mask: the blocks of the cluster that get the box; 0: the own one */
    void (*tma)(Emu *, int line, int copy, int rank, const void *map, const int *at, unsigned s, unsigned bar,
                unsigned mask);
    /* a field of the map at s in shared memory (d: which dimension, or which stride); a map in global memory */
    void (*map_set)(Emu *, int line, unsigned s, int field, int d, unsigned long long value);
    void (*map_fence)(Emu *, int line, const void *map);
    void (*bulk)(Emu *, int line, int copy, unsigned s, void *p, unsigned bytes, unsigned bar);
    void (*bulk_commit)(Emu *, int line);
    void (*bulk_wait)(Emu *, int line, int pending, int read_only);
    void (*cp_async)(Emu *, int line, unsigned s, const void *p, int bytes, int taken);
    void (*cp_async_commit)(Emu *, int line);
    void (*cp_async_wait)(Emu *, int line, int pending);
    void (*cp_async_arrive)(Emu *, int line, unsigned bar);

    void (*ldmatrix)(Emu *, int line, unsigned *r, unsigned s, int count, int trans);
    void (*stmatrix)(Emu *, int line, unsigned s, const unsigned *r, int count, int trans);
    void (*mma)(Emu *, int line, int type, float *d, const unsigned *a, const unsigned *b);
    void (*wgmma)(Emu *, int line, const EmuWgmma *);
    void (*wgmma_fence)(Emu *, int line);
    void (*wgmma_commit)(Emu *, int line);
    void (*wgmma_wait)(Emu *, int line, int pending);
    void (*wgmma_settle)(Emu *, int line, float *d, int count);
} CudaTable;

#ifdef __cplusplus
}
#endif
#endif
