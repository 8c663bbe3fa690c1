/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_format.c: see tensix_format.h. A Bfp8_b page has 64 exponents, one per row of a face, then
 * 1024 bytes of sign and 7-bit magnitude m: the value is m * 2^(exponent - 133). */
#include "target/tenstorrent/model/tensix_format.h"

#include <string.h>

bool format_is_integer(TtFormat format) { return format == TT_Int32 || format == TT_UInt32 || format == TT_UInt16; }

static uint32_t decode_bfp8(uint8_t byte, uint8_t exponent) {
    uint32_t m = byte & 127;
    int e = exponent;
    if (!m) return 0;
    while (!(m & 64)) m <<= 1, e--;
    if (e <= 0) return 0;
    return (uint32_t)(byte >> 7) << 31 | (uint32_t)e << 23 | (m & 63) << 17;
}

void format_decode(TtFormat format, const uint8_t *page, uint32_t bits[FORMAT_TILE]) {
    switch (format) {
    case TT_Float32:
    case TT_Int32:
    case TT_UInt32: memcpy(bits, page, FORMAT_TILE * 4); break;
    case TT_Float16_b:
    case TT_UInt16:
        for (int i = 0; i < FORMAT_TILE; i++) {
            uint16_t half;
            memcpy(&half, page + i * 2, 2);
            bits[i] = format == TT_UInt16 ? half : (uint32_t)half << 16;
        }
        break;
    case TT_Bfp8_b:
        for (int i = 0; i < FORMAT_TILE; i++) bits[i] = decode_bfp8(page[64 + i], page[i / 16]);
        break;
    }
}

/* Rounded to 7 significant bits, ties away from zero. */
static void split_bfp8(uint32_t bits, int *exponent, uint32_t *magnitude) {
    *exponent = (int)(bits >> 23 & 255);
    *magnitude = 0;
    if (!*exponent) return;
    *magnitude = (((bits & 0x7fffff) | 0x800000) + (1u << 16)) >> 17;
    if (*magnitude == 128) *magnitude = 64, ++*exponent;
}

static void encode_bfp8(const uint32_t bits[FORMAT_TILE], uint8_t *page) {
    for (int row = 0; row < 64; row++) {
        int e[16], shared = 0;
        uint32_t m[16];
        for (int i = 0; i < 16; i++) {
            split_bfp8(bits[row * 16 + i], &e[i], &m[i]);
            if (e[i] > shared) shared = e[i];
        }
        page[row] = (uint8_t)(shared > 255 ? 255 : shared);
        for (int i = 0; i < 16; i++) {
            int d = shared - e[i];
            if (d) m[i] = d > 8 ? 0 : (m[i] + (1u << (d - 1))) >> d;
            page[64 + row * 16 + i] = (uint8_t)(m[i] ? m[i] | bits[row * 16 + i] >> 31 << 7 : 0);
        }
    }
}

void format_encode(TtFormat format, const uint32_t bits[FORMAT_TILE], uint8_t *page) {
    switch (format) {
    case TT_Float32:
    case TT_Int32:
    case TT_UInt32: memcpy(page, bits, FORMAT_TILE * 4); break;
    case TT_Float16_b:
    case TT_UInt16:
        for (int i = 0; i < FORMAT_TILE; i++) {
            uint16_t half = (uint16_t)(format == TT_UInt16 ? bits[i] : format_bf16_away(bits[i]) >> 16);
            memcpy(page + i * 2, &half, 2);
        }
        break;
    case TT_Bfp8_b: encode_bfp8(bits, page); break;
    }
}
