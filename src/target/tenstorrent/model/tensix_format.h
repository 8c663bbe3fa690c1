/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_format.h: tiles in memory and their numbers.
 *
 * Inside the model a tile is 1024 fp32 bit patterns in storage order: four faces of 16x16,
 * row-major inside a face. (A 16-bit number occupies the upper half, integers are as they are.) */
#ifndef TARGET_TENSTORRENT_MODEL_TENSIX_FORMAT_H
#define TARGET_TENSTORRENT_MODEL_TENSIX_FORMAT_H
#include "target/tenstorrent/model/include/tt_model_api.h"

#include <stdbool.h>

enum { FORMAT_TILE = 1024 };

/* Storage index of row r, column c. */
static inline uint32_t format_index(uint32_t r, uint32_t c) {
    return r / 16 * 512 + c / 16 * 256 + r % 16 * 16 + c % 16;
}

bool format_is_integer(TtFormat format);
/* A tile page into bits, exactly. */
void format_decode(TtFormat format, const uint8_t *page, uint32_t bits[FORMAT_TILE]);
/* Bits into a tile page, as the packer rounds them. */
void format_encode(TtFormat format, const uint32_t bits[FORMAT_TILE], uint8_t *page);

/* fp32 bits to the nearest bf16, in the upper half: ties away from zero, and ties to even. */
static inline uint32_t format_bf16_away(uint32_t bits) { return (bits + 0x8000u) & 0xffff0000u; }
static inline uint32_t format_bf16_even(uint32_t bits) { return (bits + 0x7fffu + (bits >> 16 & 1)) & 0xffff0000u; }
#endif
