/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_code.h: what the device and the emulator share of a compiled CUDA kernel: emission, the
 * parameters of a launch, the numbers of its tensor maps, the preludes. */
#ifndef RUNTIME_DEVICE_CUDA_CODE_H
#define RUNTIME_DEVICE_CUDA_CODE_H
#include "runtime/compile/scalars.h"
#include "runtime/device/simt_code.h"
#include "target/cuda/cuda.h"

typedef struct CudaCode {
    union {
        struct {
            SIMT_CODE_FIELDS
        };
        SimtCode simt;
    };
    CudaPlan *plan;
    /* made by cuda_code_prepare */
    ScalarProgram *program; /* computes plan->wanted */
    int64_t *numbers;
    CudaMapBytes *maps;
    CudaMapValue *values; /* what the maps were encoded from */
    bool encoded;
    void *room; /* in which blocks make maps (plan->made), and its places */
    int32_t places;
} CudaCode;

const Machine *cuda_code_machine(tw_context *cx, const char *arch);
bool cuda_code_emit(tw_kernel *k); /* k->code, artifacts */
tw_status cuda_code_prepare(tw_kernel *k);
size_t cuda_code_place_bytes(const CudaCode *code); /* of a place for the maps of a block; 0: it makes none */
/* Encodes the maps anew where their numbers changed; `encode` gives NULL or what is wrong. */
tw_status cuda_code_refresh(tw_kernel *k, const LaunchCall *call,
                            const char *(*encode)(void *user, CudaMapBytes *map, const CudaMapValue *value),
                            void *user);
/* Blocks of a cluster of the launch that was refreshed for, on so many multiprocessors; 1: none. */
int cuda_code_cluster(const CudaCode *code, int multiprocessors);
#endif
