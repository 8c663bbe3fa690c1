/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_map.c: the numbers of a tensor map at launch; see cuda.h. Used by the driver and by the emulator. */
#include "target/cuda/cuda.h"

CudaMapValue cuda_map_value(const CudaMap *map, const int64_t *numbers) {
    CudaMapValue value = {.elem = map->elem, .rank = map->rank, .swizzle = map->swizzle};
    int bytes = elem_info[map->elem].bytes;
    for (int d = 0; map->made && d < map->rank; d++) {
        value.box[d] = (uint32_t)map->box[d];
        value.dims[d] = value.box[d];
        if (d) value.strides[d - 1] = (d > 1 ? value.strides[d - 2] : (uint64_t)bytes) * value.dims[d - 1];
    }
    if (map->made) return value;
    value.base = (uint64_t)numbers[map->base];
    for (int d = 0; d < map->rank; d++) {
        value.dims[d] = map->extent[d] < 0 ? INT32_MAX : (uint64_t)numbers[map->extent[d]];
        value.box[d] = (uint32_t)map->box[d];
        if (d) value.strides[d - 1] = (uint64_t)numbers[map->stride[d]] * (uint64_t)bytes;
    }
    return value;
}

const char *cuda_map_wrong(const CudaMapValue *value) {
    for (int d = 0; d < value->rank; d++)
        if (value->dims[d] > (uint64_t)1 << 31)
            return "an extent of the tensor is above 2^31, which TMA does not load by";
    return NULL;
}

/* CUtensorMapDataType */
int cuda_map_type(Elem elem) {
    enum { U8 = 0, U16 = 1, U32 = 2, I32 = 3, U64 = 4, I64 = 5, F16 = 6, F32 = 7, F64 = 8, BF16 = 9 };
    static const int types[EL_COUNT] = {
        [EL_I1] = U8,    [EL_I8] = U8,   [EL_U8] = U8,   [EL_I16] = U16,   [EL_U16] = U16,
        [EL_I32] = I32,  [EL_U32] = U32, [EL_I64] = I64, [EL_U64] = U64,   [EL_F16] = F16,
        [EL_BF16] = BF16, [EL_F32] = F32, [EL_F64] = F64, [EL_F8E4M3] = U8, [EL_F8E5M2] = U8};
    return types[elem];
}

/* CUtensorMapSwizzle */
int cuda_map_swizzle(int bytes) { return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0; }
