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
