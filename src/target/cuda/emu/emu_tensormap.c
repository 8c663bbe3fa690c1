/* SPDX-License-Identifier: Apache-2.0 */
/* emu_tensormap.c: tensor maps, and the boxes that TMA moves by them.
 *
 * A box is stored densely, dimension 0 fastest; with a swizzle, 16-byte chunks move within their
 * line by the absolute shared address. Elements outside the tensor read as zero and are not
 * written.
 *
 * A map that a thread puts together in shared memory and copies to global memory is seen by TMA as it was when the
 * thread said so (tw_map_fence): what was written there since, or never shown, is a fault. */
#include "target/cuda/emu/cuda_emu_core.h"

#include <string.h>

enum { MAP_MAGIC = 0x54574D31, MAP_BYTES = 128 };

/* What is wrong with its base, extents or strides; NULL: nothing. (The driver encodes extents up to 2^32; a load by a
 * map with more than 2^31 is an illegal instruction on an H200.) */
static const char *find_wrong(const TensorCode *map) {
    if (map->base % 16) return "the base must be a multiple of 16 bytes";
    for (int d = 0; d < map->rank; d++) {
        if (map->dims[d] < 1 || map->dims[d] > (uint64_t)1 << 31) return "an extent must be 1 to 2^31";
        if (d && (map->strides[d - 1] % 16 || map->strides[d - 1] >= (uint64_t)1 << 40))
            return "a stride must be a multiple of 16 bytes, below 2^40";
    }
    return NULL;
}

const char *emu_tensormap_encode(void *out, const EmuTensor *t) {
    uint32_t size = emu_type_bytes(t->type);
    if (!size) return "the element type is not one that TMA knows";
    if (t->rank < 1 || t->rank > 5) return "the rank must be 1 to 5";
    TensorCode map = {.magic = MAP_MAGIC,
                      .type = (uint8_t)t->type,
                      .rank = (uint8_t)t->rank,
                      .swizzle = (uint8_t)t->swizzle,
                      .base = (uint64_t)(uintptr_t)t->base};
    for (int d = 0; d < t->rank; d++) {
        if (t->box[d] < 1 || t->box[d] > 256) return "a box extent must be 1 to 256";
        map.dims[d] = t->dims[d];
        map.box[d] = (uint16_t)t->box[d];
        if (d) map.strides[d - 1] = t->strides[d - 1];
    }
    const char *wrong = find_wrong(&map);
    if (wrong) return wrong;
    uint32_t inner = t->box[0] * size;
    if (inner % 16) return "the box must be a multiple of 16 bytes wide";
    if (t->swizzle != 0 && t->swizzle != 32 && t->swizzle != 64 && t->swizzle != 128)
        return "the swizzle must be 0, 32, 64 or 128 bytes";
    if (t->swizzle && inner != (uint32_t)t->swizzle) return "a swizzled box must be exactly as wide as its swizzle";
    memset(out, 0, MAP_BYTES);
    memcpy(out, &map, sizeof map);
    return NULL;
}

/* ---- maps that a kernel makes ---- */
void emu_map_set(Emu *emu, int line, unsigned s, int field, int d, unsigned long long value) {
    TensorCode map;
    emu_check_shared(emu, line, s, MAP_BYTES, MAP_BYTES, "a change of a tensor map");
    EmuAccess access = emu_thread_access(emu, line, "changes the tensor map in");
    emu_touch_read(emu, &access, emu_own(emu) + s, MAP_BYTES);
    emu_touch_write(emu, &access, emu_own(emu) + s, MAP_BYTES);
    memcpy(&map, emu->shared + emu_own(emu) + s, sizeof map);
    if (map.magic != MAP_MAGIC || d < 0 || d >= map.rank - (field == EMU_MAP_STRIDE))
        emu_fail(emu, CUDA_FAULT_TENSORMAP, "the change at %s: there is no tensor map with such a dimension in %s",
                 emu_at(emu, line), emu_bytes(emu, emu_own(emu) + s, MAP_BYTES));
    if (field == EMU_MAP_BASE) map.base = value;
    if (field == EMU_MAP_EXTENT) map.dims[d] = value;
    if (field == EMU_MAP_STRIDE) map.strides[d] = value;
    memcpy(emu->shared + emu_own(emu) + s, &map, sizeof map);
}

static ShownMap *find_shown(CudaEmu *cuda, const void *map) {
    for (size_t i = 0; i < cuda->shown.count; i++)
        if (cuda->shown.at[i].map == map) return &cuda->shown.at[i];
    return NULL;
}

void emu_map_fence(Emu *emu, int line, const void *map) {
    CudaEmu *cuda = cuda_emu(emu);
    TensorCode code;
    emu_check_global(emu, line, map, MAP_BYTES, 64, "a tensor map");
    memcpy(&code, map, sizeof code);
    const char *wrong = code.magic == MAP_MAGIC ? find_wrong(&code) : "it is none";
    if (wrong) emu_fail(emu, CUDA_FAULT_TENSORMAP, "the tensor map shown at %s: %s", emu_at(emu, line), wrong);
    ShownMap *shown = find_shown(cuda, map);
    if (!shown) shown = VEC_PUSH(&cuda->shown, &emu->arena);
    *shown = (ShownMap){.map = map, .code = code, .thread = emu->running->id};
}

bool emu_map_shown(Emu *emu, int line, const void *map, const char *what) {
    bool global = false;
    for (size_t i = 0; i < emu->launch->allocation_count; i++) {
        const EmuAllocation *a = &emu->launch->allocations[i];
        global |= (uintptr_t)map - (uintptr_t)a->base < a->bytes;
    }
    if (!global) return false; /* a parameter */
    const ShownMap *shown = find_shown(cuda_emu(emu), map);
    if (!shown || shown->thread != emu->running->id || memcmp(&shown->code, map, sizeof shown->code) != 0)
        emu_fail(emu, CUDA_FAULT_TENSORMAP,
                 "%s at %s: its tensor map was written, and not shown to TMA by this thread; tw_map_fence() behind the "
                 "writes",
                 what, emu_at(emu, line));
    return true;
}

uint32_t emu_box_bytes(const TensorCode *map) {
    if (map->magic != MAP_MAGIC) return 0;
    uint32_t bytes = emu_type_bytes(map->type);
    for (int d = 0; d < map->rank; d++) bytes *= map->box[d];
    return bytes;
}

uint64_t emu_box_span(const TensorCode *map, const int *at, uint64_t *first) {
    uint32_t size = emu_type_bytes(map->type);
    uint64_t low = map->base, high = map->base;
    for (int d = 0; d < map->rank; d++) {
        uint64_t stride = d ? map->strides[d - 1] : size;
        int64_t begin = at[d] < 0 ? 0 : at[d], end = (int64_t)at[d] + map->box[d];
        if (end > (int64_t)map->dims[d]) end = (int64_t)map->dims[d];
        if (begin >= end) return 0;
        low += (uint64_t)begin * stride;
        high += (uint64_t)(end - 1) * stride;
    }
    *first = low;
    return high + size - low;
}

static uint32_t swizzled(uint32_t s, uint32_t width) { return width ? s ^ ((s >> 3) & (width - 16)) : s; }

/* Moves `count` bytes that lie in one 16-byte chunk. */
static void move(EmuCopy copy, int type, uint8_t *global, uint8_t *local, uint32_t count) {
    if (copy == EMU_LOAD)
        memcpy(local, global, count);
    else if (copy == EMU_STORE)
        memcpy(global, local, count);
    else
        for (uint32_t i = 0; i < count; i += emu_type_bytes(type))
            emu_apply(EMU_ADD, type, global + i, local + i, NULL, NULL);
}

uint32_t emu_box_row(const TensorCode *map, const int *at, uint32_t row, uint64_t *global, uint32_t *before) {
    uint32_t size = emu_type_bytes(map->type);
    int64_t first = at[0] < 0 ? -(int64_t)at[0] : 0, last = (int64_t)map->dims[0] - at[0];
    if (last > map->box[0]) last = map->box[0];
    uint64_t place = map->base + (uint64_t)((int64_t)at[0] * size);
    bool inside = first < last;
    for (int d = 1; d < map->rank; d++) {
        int64_t c = (int64_t)at[d] + row % map->box[d];
        row /= map->box[d];
        inside = inside && c >= 0 && c < (int64_t)map->dims[d];
        place += (uint64_t)c * map->strides[d - 1];
    }
    *before = (uint32_t)(first * size);
    *global = place + *before;
    return inside ? (uint32_t)(last - first) * size : 0;
}

void emu_box_move(const TensorCode *map, const int *at, uint8_t *box, uint32_t s, EmuCopy copy) {
    uint32_t inner = map->box[0] * emu_type_bytes(map->type), rows = emu_box_bytes(map) / inner;
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t global;
        uint32_t low, count = emu_box_row(map, at, row, &global, &low), high = low + count;
        if (!count) low = high = inner;
        for (uint32_t b = 0; b < inner; b += 16) {
            uint8_t *chunk =
                box + (swizzled(EMU_SHARED_BASE + s + row * inner + b, map->swizzle) - EMU_SHARED_BASE - s);
            uint32_t begin = low > b ? low : b, end = high < b + 16 ? high : b + 16;
            if (copy == EMU_LOAD && (begin > b || end < b + 16)) memset(chunk, 0, 16);
            if (begin < end)
                move(copy, map->type, (uint8_t *)(uintptr_t)(global + (begin - low)), chunk + (begin - b), end - begin);
        }
    }
}
