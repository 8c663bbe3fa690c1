/* SPDX-License-Identifier: Apache-2.0 */
/* check_prelude.c: the kernels of tests/emu on a GPU (sm_90a), with the same references as on the
 * emulator: the device prelude does what its legend says, and the emulator's fragments, descriptors
 * and swizzles are the chip's.
 *
 *     nvcc -arch=sm_90a -cubin --fmad=false -Isrc/target/cuda/prelude -Isrc/target/simt/prelude -Itests/emu tests/emu/all.cu
 * -o build/all.cubin
 *     cc -std=c11 -D_GNU_SOURCE -Isrc -Itests/unit -I$CUDA/include tests/gpu/check_prelude.c
 * build/libinside.a \ -lcuda -lm -o build/check_prelude && build/check_prelude build/all.cubin
 *
 * With a number behind the cubin, only that one of the tensor maps that a kernel makes: a fault of the chip ends the
 * context, and with it all that would have come behind. */
#define DEVICE 1
#include "../emu/emu_cases.h"

#include <cuda.h>

static CUmodule module;

static bool ok(CUresult result, const char *what) {
    const char *text = "?";
    if (result == CUDA_SUCCESS) return true;
    cuGetErrorString(result, &text);
    fprintf(stderr, "%s: %s\n", what, text);
    CHECK(result == CUDA_SUCCESS);
    return false;
}

static void *backend_allocate(size_t bytes) {
    CUdeviceptr p = 0;
    ok(cuMemAllocManaged(&p, bytes, CU_MEM_ATTACH_GLOBAL), "cuMemAllocManaged");
    return (void *)p;
}

static void backend_free(void *p) {
    ok(cuMemFree((CUdeviceptr)p), "cuMemFree");
}

static const char *backend_encode(void *map, const EmuTensor *t) {
    static const CUtensorMapDataType types[EMU_TYPE_COUNT] = {
        [EMU_F16] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        [EMU_BF16] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        [EMU_F32] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    };
    CUtensorMapSwizzle swizzle = t->swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                 : t->swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                 : t->swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                    : CU_TENSOR_MAP_SWIZZLE_NONE;
    cuuint64_t dims[5], strides[4];
    cuuint32_t steps[] = {1, 1, 1, 1, 1};
    for (int d = 0; d < t->rank; d++) dims[d] = t->dims[d];
    for (int d = 0; d + 1 < t->rank; d++) strides[d] = t->strides[d];
    CUresult result = cuTensorMapEncodeTiled(
        map, types[t->type], (cuuint32_t)t->rank, t->base, dims, strides, t->box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return ok(result, "cuTensorMapEncodeTiled") ? NULL : "the driver refuses the tensor map";
}

static bool backend_launch(const char *kernel, EmuLaunch l, void **params) {
    CUfunction function;
    last = (EmuReport){.text = "", .output = ""};
    if (!ok(cuModuleGetFunction(&function, module, kernel), kernel)) return false;
    ok(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          (int)l.shared_bytes),
       kernel);
    ok(cuLaunchKernel(function, l.grid[0], l.grid[1], l.grid[2], l.threads, 1, 1, l.shared_bytes,
                      NULL, params, NULL),
       kernel);
    if (ok(cuCtxSynchronize(), kernel)) return true;
    last.fault = EMU_FAULT_TRAP;
    last.text = "the launch failed";
    return false;
}

int main(int argc, char **argv) {
    CUdevice device;
    CUcontext context;
    if (argc < 2 || argc > 3) return 1;
    if (!ok(cuInit(0), "cuInit") || !ok(cuDeviceGet(&device, 0), "cuDeviceGet")) return 1;
    if (!ok(cuDevicePrimaryCtxRetain(&context, device), "context") ||
        !ok(cuCtxSetCurrent(context), "context"))
        return 1;
    if (!ok(cuModuleLoad(&module, argv[1]), "cuModuleLoad")) return 1;
    if (argc == 2)
        run_cases();
    else if (atoi(argv[2]) >= 0 && atoi(argv[2]) < MADE_COUNT)
        run_made_maps(atoi(argv[2]), 1, 0);
    else
        return 1;
    return check_done();
}
