// launches attention_kernel with CUDA's runtime alone: #include it into a .cu, and compile by
//     nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 --fmad=false -I.
// Arrays that the kernel writes must not overlap others. cudaErrorInvalidValue: an argument is not what this
// kernel was compiled for (plan.json, "requires").
#pragma once
#include "attention_kernel.cu"
#include "host.cuh"

static inline cudaError_t attention_kernel_launch(bf16 *q_ptr, bf16 *k_ptr, bf16 *v_ptr, bf16 *o_ptr, f32 scale, i32 N, i32 stride_h, i32 stride_n, dim3 grid, cudaStream_t stream = 0) {
    if (((i64)o_ptr) % 16 != 0) return cudaErrorInvalidValue;
    if (((i64)v_ptr) % 16 != 0) return cudaErrorInvalidValue;
    if (((i64)k_ptr) % 16 != 0) return cudaErrorInvalidValue;
    if ((stride_n) % 8 != 0) return cudaErrorInvalidValue;
    if ((N) < 1LL) return cudaErrorInvalidValue;
    if ((stride_n) < 1LL) return cudaErrorInvalidValue;
    if ((stride_h) % 8 != 0) return cudaErrorInvalidValue;
    if ((stride_h) < 1LL) return cudaErrorInvalidValue;
    if (((i64)q_ptr) % 16 != 0) return cudaErrorInvalidValue;
    TensorMap map_o_ptr;
    {
        const cuuint64_t dims[] = {2147483647, (cuuint64_t)(N), 2147483647};
        const cuuint64_t strides[] = {(cuuint64_t)(stride_n) * 2, (cuuint64_t)(stride_h) * 2};
        const cuuint32_t box[] = {64, 128, 1};
        if (!tw_host_encode(&map_o_ptr, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, (void *)((i64)o_ptr), dims, strides, box, CU_TENSOR_MAP_SWIZZLE_128B))
            return cudaErrorInvalidValue;
    }
    TensorMap map_q_ptr;
    {
        const cuuint64_t dims[] = {2147483647, (cuuint64_t)(N), 2147483647};
        const cuuint64_t strides[] = {(cuuint64_t)(stride_n) * 2, (cuuint64_t)(stride_h) * 2};
        const cuuint32_t box[] = {64, 128, 1};
        if (!tw_host_encode(&map_q_ptr, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, (void *)((i64)q_ptr), dims, strides, box, CU_TENSOR_MAP_SWIZZLE_128B))
            return cudaErrorInvalidValue;
    }
    TensorMap map_k_ptr;
    {
        const cuuint64_t dims[] = {2147483647, (cuuint64_t)(N), 2147483647};
        const cuuint64_t strides[] = {(cuuint64_t)(stride_n) * 2, (cuuint64_t)(stride_h) * 2};
        const cuuint32_t box[] = {64, 64, 1};
        if (!tw_host_encode(&map_k_ptr, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, (void *)((i64)k_ptr), dims, strides, box, CU_TENSOR_MAP_SWIZZLE_128B))
            return cudaErrorInvalidValue;
    }
    TensorMap map_v_ptr;
    {
        const cuuint64_t dims[] = {2147483647, (cuuint64_t)(N), 2147483647};
        const cuuint64_t strides[] = {(cuuint64_t)(stride_n) * 2, (cuuint64_t)(stride_h) * 2};
        const cuuint32_t box[] = {64, 64, 1};
        if (!tw_host_encode(&map_v_ptr, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, (void *)((i64)v_ptr), dims, strides, box, CU_TENSOR_MAP_SWIZZLE_128B))
            return cudaErrorInvalidValue;
    }
    i32 extents[3] = {(i32)grid.x, (i32)grid.y, (i32)grid.z};
    void *arguments[] = {&q_ptr, &k_ptr, &v_ptr, &o_ptr, &scale, &N, &stride_h, &stride_n, &map_o_ptr, &map_q_ptr, &map_k_ptr, &map_v_ptr, &extents[0], &extents[1], &extents[2]};
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = 384;
    config.dynamicSmemBytes = 196736;
    config.stream = stream;
    cudaError_t status = cudaFuncSetAttribute((const void *)attention_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 196736);
    if (status != cudaSuccess) return status;
    // as many blocks as run at once walk over the programs of the grid
    int device = 0, processors = 0, at_once = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, (const void *)attention_kernel, 384, 196736);
    if (status != cudaSuccess) return status;
    const i64 programs = (i64)grid.x * grid.y * grid.z, most = (i64)processors * at_once / 1;
    config.gridDim = dim3((unsigned)(tw_host_min(programs, most) * 1));
    return cudaLaunchKernelExC(&config, (const void *)attention_kernel, arguments);
}
