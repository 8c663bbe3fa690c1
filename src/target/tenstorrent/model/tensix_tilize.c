/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_tilize.c: row-major data into tiles and back.
 *
 * A block is 32 rows of 32 * columns elements, occupying `columns` pages of its CB. Tilize and
 * untilize_block take DST for themselves; untilize_dest packs what a kernel has left in DST. */
#include "target/tenstorrent/model/tensix_machine.h"

#include <string.h>

static uint32_t element_bytes(TtKernel *self, const char *call, uint32_t cb) {
    uint32_t bytes = tensix_tile_bytes(cb_find(self, call, cb)->desc->format);
    if (bytes != 4 * TILE && bytes != 2 * TILE)
        machine_fault(self, "%s: CB %u has a block format, which has no row-major form", call, cb);
    return bytes / TILE;
}

/* Tile number `column` out of, or into, 32 rows of `columns` tiles. */
static void gather_tile(uint8_t *tile, const uint8_t *rows, uint32_t columns, uint32_t column, uint32_t bytes) {
    for (uint32_t r = 0; r < 32; r++)
        for (uint32_t c = 0; c < 32; c += 16)
            memcpy(tile + format_index(r, c) * bytes, rows + ((r * columns + column) * 32 + c) * bytes, 16 * bytes);
}
static void scatter_tile(uint8_t *rows, const uint8_t *tile, uint32_t columns, uint32_t column, uint32_t bytes) {
    for (uint32_t r = 0; r < 32; r++)
        for (uint32_t c = 0; c < 32; c += 16)
            memcpy(rows + ((r * columns + column) * 32 + c) * bytes, tile + format_index(r, c) * bytes, 16 * bytes);
}

static void start_block(TtKernel *self, const char *call, uint32_t family, uint32_t cb, uint32_t columns,
                        uint32_t out) {
    compute_check_init(self, call, TT_INIT(family, 0, 0, 0));
    compute_check_init_args(self, call, (InitArgs){cb, out, columns, 1, 1});
    if (self->compute->acquired || self->compute->committed)
        machine_fault(self, "%s: takes DST for itself; release it first", call);
    compute_check_format(self, call, TT_SRCA, cb);
    compute_check_format(self, call, TT_PACK, out);
}

/* A tile through the unpacker, DST and packer, onto a page. */
static void through_dst(TtKernel *self, const char *call, uint32_t in, const uint8_t *tile, uint32_t out,
                        uint8_t *page) {
    uint32_t *bits = self->compute->dst[0];
    format_decode(cb_find(self, call, in)->desc->format, tile, bits);
    compute_enter_dst(self, bits);
    pack_page(self, bits, out, page);
}

static void tilize_block(TtKernel *self, uint32_t cb, uint32_t tiles, uint32_t out) {
    const char *call = "tilize_block";
    start_block(self, call, TT_FAMILY_TILIZE, cb, tiles, out);
    uint32_t bytes = element_bytes(self, call, cb);
    const uint8_t *rows = cb_front_page(self, call, cb, 0, tiles);
    uint8_t *to = cb_back_page(self, call, out, 0, tiles), tile[4 * TILE];
    for (uint32_t t = 0; t < tiles; t++) {
        gather_tile(tile, rows, tiles, t, bytes);
        through_dst(self, call, cb, tile, out, to + t * cb_find(self, call, out)->desc->page_bytes);
    }
}

static void untilize_block(TtKernel *self, uint32_t cb, uint32_t columns, uint32_t rows, uint32_t out) {
    const char *call = "pack_untilize_block";
    start_block(self, call, TT_FAMILY_UNTILIZE, cb, columns, out);
    uint32_t bytes = element_bytes(self, call, out);
    uint8_t tile[4 * TILE];
    for (uint32_t r = 0; r < rows; r++) {
        const uint8_t *from = cb_front_page(self, call, cb, r * columns, columns);
        uint8_t *to = cb_back_page(self, call, out, r * columns, columns);
        for (uint32_t c = 0; c < columns; c++) {
            through_dst(self, call, cb, from + c * cb_find(self, call, cb)->desc->page_bytes, out, tile);
            scatter_tile(to, tile, columns, c, bytes);
        }
    }
}

static void untilize_dest(TtKernel *self, uint32_t columns, uint32_t out) {
    const char *call = "pack_untilize_dest";
    uint8_t tile[4 * TILE];
    for (uint32_t c = 0; c < columns; c++) {
        const uint32_t *bits = compute_packed_slot(self, call, c);
        compute_check_format(self, call, TT_PACK, out);
        pack_page(self, bits, out, tile);
        scatter_tile(cb_back_page(self, call, out, 0, columns), tile, columns, c, element_bytes(self, call, out));
    }
}

void tilize_bind(TtModelApi *api) {
    api->tilize_block = tilize_block;
    api->untilize_block = untilize_block;
    api->untilize_dest = untilize_dest;
}
