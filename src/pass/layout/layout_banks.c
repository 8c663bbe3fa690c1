/* SPDX-License-Identifier: Apache-2.0 */
/* layout_banks.c: bank conflicts of tiles in shared memory, counted from the layout.
 *
 * An access of a warp is served in phases of as many lanes as fill all banks once (32 banks of 4 bytes: 8 lanes of 16
 * bytes each, 32 of 4); a phase takes as many wavefronts as there are different words in its fullest bank.
 * 1 is free of conflicts. Nothing is derived here: the lanes of one warp are put at the addresses that the emitted text
 * computes, and the words are counted.
 *
 *     f32[32,32], lane = row, rows of 128 bytes        32 wavefronts without the swizzle of 16-byte chunks, 4 with it
 *     16-byte chunks of rows of 128 bytes, swizzled     1: what ldmatrix and wgmma read */
#include "pass/layout/layout.h"

#include <string.h>

uint32_t layout_tile_offset(const SharedTile *tile, int64_t row, int64_t column) {
    int64_t per = tile->width / tile->elem_bytes;
    uint32_t plain = (uint32_t)(column / per * tile->panel + row * tile->width + column % per * tile->elem_bytes);
    return plain ^ ((plain >> 3) & (uint32_t)(tile->width - 16) & 0x70);
}

enum { MOST_BANKS = 64, MOST_LANES = 64 };

int layout_wavefronts(Banks banks, const uint32_t *offset, int lanes, int bytes) {
    int phase = bytes > banks.bytes ? banks.bytes * banks.count / bytes : banks.count, worst = 1;
    for (int first = 0; first < lanes; first += phase) {
        uint32_t words[MOST_BANKS][MOST_BANKS], each = (uint32_t)banks.bytes;
        int count[MOST_BANKS] = {0};
        for (int lane = first; lane < lanes && lane < first + phase; lane++)
            for (uint32_t word = offset[lane] / each; word <= (offset[lane] + (uint32_t)bytes - 1) / each; word++) {
                int bank = (int)(word % (uint32_t)banks.count), i = 0;
                while (i < count[bank] && words[bank][i] != word) i++;
                if (i == count[bank] && i < MOST_BANKS) words[bank][count[bank]++] = word;
                if (count[bank] > worst) worst = count[bank];
            }
    }
    return worst;
}

int layout_tile_conflicts(Banks banks, const Layout *layout, const Type *type, const SharedTile *tile, int vector) {
    int worst = 1, last = type->rank - 1;
    for (int r = 0; r < layout->registers; r += vector) {
        uint32_t offset[MOST_LANES];
        int lanes = 0;
        for (uint32_t lane = 0; lane < 1u << layout->map.count[LL_LANE] && lane < MOST_LANES; lane++) {
            uint32_t index = ll_apply(&layout->map, (LayoutPlace){{(uint32_t)r, lane, 0, 0}});
            int64_t row = 0;
            bool inside = true;
            for (int d = 0; d < type->rank; d++) {
                int64_t at = ll_coord(&layout->map, index, d);
                inside = inside && at < type->extent[d];
                if (d < last) row = row * type->extent[d] + at;
            }
            if (inside) offset[lanes++] = layout_tile_offset(tile, row, ll_coord(&layout->map, index, last));
        }
        int found = layout_wavefronts(banks, offset, lanes, vector * tile->elem_bytes);
        if (found > worst) worst = found;
    }
    return worst;
}
