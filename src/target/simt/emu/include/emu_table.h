/* SPDX-License-Identifier: Apache-2.0 */
/* emu_table.h: the seam between an emitted kernel compiled for the host and the emulator.
 *
 * Kernel and emulator see each other only through these plain C structs: the host prelude
 * (emulated_simt.cuh) turns every call of the prelude's legend into a call of the table, with the line of
 * the text it stands on. TW_KERNEL(name) makes `extern "C" void tw_emu_name(EmuBind *,
 * void **params)`, which the emulator runs once per thread, each on its own fiber; `bind->now` is
 * the thread that runs. Read by C and C++. */
#ifndef EMU_TABLE_H
#define EMU_TABLE_H
#ifdef __cplusplus
extern "C" {
#endif

/* Shared memory does not start at address 0, as on the device, so that offsets and addresses cannot
 * be confused. */
enum { EMU_SHARED_BASE = 1024 };

typedef enum EmuType {
    EMU_I8,
    EMU_U8,
    EMU_I16,
    EMU_U16,
    EMU_I32,
    EMU_U32,
    EMU_I64,
    EMU_U64,
    EMU_F16,
    EMU_BF16,
    EMU_E4M3,
    EMU_E5M2,
    EMU_F32,
    EMU_F64,
    EMU_TF32,
    EMU_TYPE_COUNT
} EmuType;
typedef enum EmuAtomic { EMU_ADD, EMU_MIN, EMU_MAX, EMU_AND, EMU_OR, EMU_XOR, EMU_XCHG, EMU_CAS } EmuAtomic;
typedef enum EmuShuffle { EMU_SHFL_IDX, EMU_SHFL_XOR, EMU_SHFL_UP, EMU_SHFL_DOWN } EmuShuffle;

typedef struct EmuNow {
    int thread, threads; /* of the block */
    int lanes;           /* of a warp */
    int rank, cluster;   /* of the block among those that run beside it; how many these are */
    int block[3], blocks[3];
} EmuNow;

typedef struct Emu Emu;
typedef struct EmuBind EmuBind;

/* What every machine with lanes has; a target's own calls follow in a struct that begins with this one. `line`: of the
 * kernel's text. `s`: offset into shared memory. */
typedef struct EmuTable {
    void (*load_global)(Emu *, int line, void *to, const void *from, int bytes);
    void (*store_global)(Emu *, int line, void *to, const void *from, int bytes);
    /* Old value to *old; for EMU_CAS *expect is compared. */
    void (*atomic)(Emu *, int line, int op, int type, void *p, const void *value, const void *expect, void *old);
    void (*combine)(Emu *, int line, int op, int type, void *p, const void *values, int count); /* a vector at once */
    void (*poll)(Emu *, int line); /* a load that may spin: lets others run */
    void (*load_shared)(Emu *, int line, void *to, unsigned s, int bytes);
    void (*store_shared)(Emu *, int line, unsigned s, const void *from, int bytes);
    void *(*shared_at)(Emu *, int line, unsigned s); /* its address, for an atomic */
    void (*atomic_shared)(Emu *, int line, int op, int type, unsigned s, const void *value);

    unsigned long long (*shuffle)(Emu *, int line, int kind, unsigned long long value, int n);
    unsigned long long (*ballot)(Emu *, int line, int vote);
    int (*elect)(Emu *, int line);
    void (*sync_warp)(Emu *, int line);
    void (*barrier)(Emu *, int line, int id, int threads, int wait); /* threads 0: the whole block */
    unsigned (*narrow)(int type, double x);                          /* bits of f16, bf16, e4m3, e5m2 */
    double (*widen)(int type, unsigned bits);
    void (*turn)(Emu *, int line); /* loops have turned `turns` times */
    void (*trap)(Emu *, int line, const char *text);
    void (*print)(Emu *, const char *format, ...);
} EmuTable;

struct EmuBind {
    const EmuTable *call;
    Emu *emu;
    unsigned turns; /* of loops, until the next call of `turn` */
    EmuNow now;
};
typedef void (*EmuEntry)(EmuBind *, void **params);

#ifdef __cplusplus
}
#endif
#endif
