/* SPDX-License-Identifier: Apache-2.0 */
// host.cuh: what launch.cuh needs on the host: integer arithmetic as kernels have it, and the encoder of tensor maps,
// which is asked of the runtime, so that nothing but it is linked.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

static inline i64 tw_host_min(i64 x, i64 y) { return x < y ? x : y; }
static inline i64 tw_host_max(i64 x, i64 y) { return x > y ? x : y; }
static inline i64 tw_host_div(i64 x, i64 y) { return y ? x / y : 0; }
static inline i64 tw_host_cdiv(i64 x, i64 y) { return y ? (x + y - 1) / y : 0; }

static inline bool tw_host_encode(void *map, CUtensorMapDataType type, unsigned rank, void *base, const cuuint64_t *dims,
                                  const cuuint64_t *strides, const cuuint32_t *box, CUtensorMapSwizzle swizzle) {
    typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                               const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                               CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    const cuuint32_t steps[5] = {1, 1, 1, 1, 1};
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found) != cudaSuccess
        || found != cudaDriverEntryPointSuccess) return false;
    return ((Encode)entry)((CUtensorMap *)map, type, rank, base, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                           swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
        == CUDA_SUCCESS;
}
