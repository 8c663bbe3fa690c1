/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c: SHA-256 as FIPS 180-4 defines it. */
#include "runtime/compile/digest.h"

#include <string.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void eat_block(Digest *d, const unsigned char *block) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, d->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t e = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25), choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t one = s[7] + e + choice + constants[i] + w[i];
        uint32_t a = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
        uint32_t two = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++) d->state[i] += s[i];
}

void digest_begin(Digest *d) {
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    *d = (Digest){.used = 0};
    memcpy(d->state, first, sizeof first);
}

void digest_add(Digest *d, const void *data, size_t size) {
    const unsigned char *at = data;
    d->length += size;
    while (size) {
        size_t n = 64 - d->used < size ? 64 - d->used : size;
        memcpy(d->block + d->used, at, n);
        d->used += n, at += n, size -= n;
        if (d->used == 64) eat_block(d, d->block), d->used = 0;
    }
}

void digest_add_text(Digest *d, const char *text) {
    uint64_t length = text ? strlen(text) : 0;
    unsigned char prefix[8];
    for (int i = 0; i < 8; i++) prefix[i] = (unsigned char)(length >> 8 * i);
    digest_add(d, prefix, sizeof prefix);
    digest_add(d, text, length);
}

void digest_end(Digest *d, unsigned char bytes[DIGEST_BYTES]) {
    uint64_t bits = d->length * 8;
    unsigned char tail[72] = {0x80};
    size_t padding = (d->used < 56 ? 56 : 120) - d->used;
    for (int i = 0; i < 8; i++) tail[padding + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
    digest_add(d, tail, padding + 8);
    for (int i = 0; i < DIGEST_BYTES; i++) bytes[i] = (unsigned char)(d->state[i / 4] >> (24 - 8 * (i % 4)));
}

void digest_end_hex(Digest *d, char hex[DIGEST_HEX]) {
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[DIGEST_BYTES];
    digest_end(d, bytes);
    for (int i = 0; i < DIGEST_BYTES; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[DIGEST_HEX - 1] = 0;
}
