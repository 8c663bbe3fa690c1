/* SPDX-License-Identifier: Apache-2.0 */
/* simt_code.h: what devices and emulators of all machines with lanes share of a compiled kernel: the parameters of a
 * launch, the blocks of its grid, the machines of a target, the preludes. */
#ifndef RUNTIME_DEVICE_SIMT_CODE_H
#define RUNTIME_DEVICE_SIMT_CODE_H
#include "base/embedded.h"
#include "runtime/target/target.h"
#include "target/simt/simt_param.h"

enum { GPU_LABEL = 48 };

/* A target with more of a kernel has these fields at its begin, under their own names too (CudaCode). The pointers of
 * `params` never change, so that a launch only refreshes numbers. */
#define SIMT_CODE_FIELDS                                                                                               \
    SimtPlan *simt_plan;                                                                                               \
    void **params;                                                                                                     \
    int32_t grid[3];                                                                                                   \
    int32_t swept;                                                                                                     \
    void *library, *entry;  /* of the emulator */                                                                      \
    char label[GPU_LABEL];  /* the kernel's name, cut to this */                                                       \
    struct GpuModuleTag *module; /* of the device, as the next two */                                                  \
    struct GpuFunctionTag *function;                                                                                   \
    struct GpuDevice *device; /* whose they are */                                                                     \
    int blocks;               /* persistent kernels: how many the device holds at once */
typedef struct SimtCode {
    SIMT_CODE_FIELDS
} SimtCode;

/* The row of an architecture of the target (NULL: `usual`); NULL, with a message that ends with `about`. */
const Machine *simt_code_machine(tw_context *cx, const char *target, const char *arch, const char *usual,
                                 const char *about);
/* Artifacts: the kernel's text, plan.json, the preludes. */
void simt_code_show(tw_kernel *k, const char *ending, const char *json);
/* code->params; what is the target's own `own` gives. */
void simt_code_params(tw_kernel *k, SimtCode *code, void *(*own)(SimtCode *code, const SimtParam *param));
/* The grid of a launch, as its parameters have it. */
void simt_code_refresh(SimtCode *code, const LaunchCall *call);
/* The blocks of a launch that runs one program each: the grid, swept along another axis where it should and can be. */
void simt_code_blocks(SimtCode *code, const int64_t grid[3], unsigned blocks[3]);
enum { SIMT_LATER_BLOCKS = 65535 }; /* along the second and third axis of a launch, at most */
/* Embedded files that kernels of a target include (its own, and those of all machines with lanes) whose folder
 * ("prelude", "include") is named; index from 0. */
const EmbeddedFile *simt_code_header(const char *target, const char *folder, int index);
const char *simt_code_header_name(const EmbeddedFile *file);
#endif
