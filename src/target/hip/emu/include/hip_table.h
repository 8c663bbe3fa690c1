/* hip_table.h: what an emitted kernel for AMD's GPUs asks of the emulator beyond what any SIMT kernel does (emu_table.h, which is
 * included before). Read by C and C++. */
#ifndef HIP_TABLE_H
#define HIP_TABLE_H
#ifdef __cplusplus
extern "C" {
#endif

typedef struct HipTable {
    EmuTable simt; /* first */
} HipTable;

#ifdef __cplusplus
}
#endif
#endif
