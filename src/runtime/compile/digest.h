/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h: SHA-256, for names of cache entries and for noticing broken ones.
 *
 *     Digest d;
 *     digest_begin(&d);
 *     digest_add_text(&d, "cpu");          length included, so "ab" "c" differs from "a" "bc"
 *     digest_end(&d, bytes);               32 of them */
#ifndef RUNTIME_COMPILE_DIGEST_H
#define RUNTIME_COMPILE_DIGEST_H
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_BYTES = 32, DIGEST_HEX = 65 };
typedef struct Digest {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
    size_t used;
} Digest;

void digest_begin(Digest *d);
void digest_add(Digest *d, const void *data, size_t size);
void digest_add_text(Digest *d, const char *text); /* NULL counts as "" */
void digest_end(Digest *d, unsigned char bytes[DIGEST_BYTES]);
void digest_end_hex(Digest *d, char hex[DIGEST_HEX]);
#endif
