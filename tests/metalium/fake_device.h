/* SPDX-License-Identifier: Apache-2.0 */
/* fake_device.h: between the fake of the host API, in C++, and the model that runs its programs, in C. */
#ifndef TESTS_FAKE_DEVICE_H
#define TESTS_FAKE_DEVICE_H
#include <stdint.h>
#ifdef __cplusplus
#include <cstring>
extern "C" {
#endif
typedef struct FakeCore {
    unsigned x, y;
} FakeCore;
typedef struct FakeCb {
    unsigned id, format, page_bytes, pages;
    int unpack_to_dest;
} FakeCb;
typedef struct FakeBuffer {
    unsigned address, page_bytes, pages;
    uint8_t *data;
    int in_l1;
    const unsigned *places; /* of each page in shards: core x, y, and byte of its L1; else NULL */
} FakeBuffer;
typedef struct FakeKernel {
    int processor; /* 0: reader, 1: writer, 2: compute */
    const char *file, *compile_args;
    const uint32_t *common;
    unsigned common_count;
    const uint32_t *const *args; /* by core */
    unsigned arg_count;
} FakeKernel;
typedef struct FakeProgram {
    int arch, dst_fp32, full_sync;
    unsigned fidelity;
    uint64_t seed;
    const FakeCore *cores;
    unsigned core_count;
    const FakeCb *cbs;
    unsigned cb_count;
    const FakeBuffer *buffers;
    unsigned buffer_count;
    const FakeKernel *kernels;
    unsigned kernel_count;
    const uint32_t *semaphores;
    unsigned semaphore_count;
} FakeProgram;
int fake_arch(void); /* of FAKE_ARCH */
void fake_grid(int arch, unsigned *x, unsigned *y);
void fake_noc_point(int arch, unsigned *x, unsigned *y);
unsigned fake_address(int arch, unsigned last, unsigned pages, unsigned page_bytes); /* behind the last buffer; 0: the first */
unsigned fake_l1_end(int arch);
unsigned fake_l1_share(int arch, unsigned pages, unsigned page_bytes); /* of each core, for a buffer there */
const char *fake_execute(const FakeProgram *program); /* NULL, or what went wrong */
#ifdef __cplusplus
}
#endif
#endif
