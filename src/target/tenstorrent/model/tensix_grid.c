/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_grid.c: the figures of the two architectures, and how names and addresses are laid out.
 *
 * DRAM: 288 GB/s at 1 GHz on Wormhole, 512 GB/s at 1.35 GHz on Blackhole, over all banks.
 * L1 sizes, banks and alignments are the hardware's. Of L1, l1_reserved bytes belong to firmware,
 * kernel code and semaphores (about 104 KiB with the default settings); the rest is for circular
 * buffers. */
#include "target/tenstorrent/model/tensix.h"

const TensixLimits *tensix_limits(TensixArch arch) {
    static const TensixLimits limits[] = {
        [TENSIX_WORMHOLE] = {"wormhole", 32, 12, 32, 1464 * 1024, 104 * 1024, 8, 8, 24},
        [TENSIX_BLACKHOLE] = {"blackhole", 64, 8, 64, 1536 * 1024, 104 * 1024, 13, 10, 47},
    };
    return &limits[arch];
}

TensixPoint tensix_noc_point(TensixArch arch, TensixPoint logical) {
    if (arch == TENSIX_WORMHOLE) return (TensixPoint){18 + logical.x, 18 + logical.y};
    /* Columns 8 and 9 of a Blackhole hold no Tensix cores. */
    return (TensixPoint){logical.x < 7 ? 1 + logical.x : 3 + logical.x, 2 + logical.y};
}

uint32_t tensix_dst_slots(bool dst_fp32, bool full_sync) { return (dst_fp32 ? 4u : 8u) << (full_sync ? 1 : 0); }

uint32_t tensix_tile_bytes(TtFormat format) {
    switch (format) {
#define X(name, number, bytes) \
    case TT_##name: return bytes;
        TT_FORMATS(X)
#undef X
    }
    return 0;
}

uint32_t tensix_next_address(TensixArch arch, const TensixBuffer *after) {
    /* Low addresses of a bank belong to the system. */
    if (!after) return 1u << 20;
    const TensixLimits *limits = tensix_limits(arch);
    uint32_t rows = (after->pages + limits->dram_banks - 1) / limits->dram_banks;
    uint32_t end = after->address + rows * after->page_bytes;
    return (end + limits->dram_alignment - 1) / limits->dram_alignment * limits->dram_alignment;
}

uint32_t tensix_l1_share(TensixArch arch, uint32_t pages, uint32_t page_bytes) {
    const TensixLimits *limits = tensix_limits(arch);
    uint32_t cores = limits->grid_x * limits->grid_y;
    uint32_t step = (page_bytes + limits->dram_alignment - 1) / limits->dram_alignment * limits->dram_alignment;
    return (pages + cores - 1) / cores * step;
}
