/* SPDX-License-Identifier: Apache-2.0 */
/* shard.h: the cases of a test dealt out to several processes, and random numbers that do not depend on who runs a case.
 *
 *     Shard shard = SHARD_ALL;                        all cases; or, from `--shard 2/8`:
 *     if (!shard_read(&shard, value)) return 2;
 *     for (each case)
 *         if (shard_takes(&shard)) { state = shard_state(&shard, seed); run(); }
 *
 * tests/shards.sh runs all the shards of a program side by side and adds up what they say. */
#ifndef TESTS_SHARD_H
#define TESTS_SHARD_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Shard {
    int index, count;
    int64_t cases; /* seen so far, of all shards */
} Shard;

#define SHARD_ALL ((Shard){0, 1, 0})

static inline bool shard_read(Shard *s, const char *text) {
    char more;
    s->cases = 0;
    return sscanf(text, "%d/%d%c", &s->index, &s->count, &more) == 2 && s->index >= 0 && s->index < s->count;
}

/* The next case: is it ours? */
static inline bool shard_takes(Shard *s) { return s->cases++ % s->count == s->index; }

/* Where random numbers start for the case that shard_takes saw last (splitmix64; never 0). */
static inline uint64_t shard_state(const Shard *s, uint64_t seed) {
    uint64_t z = seed * UINT64_C(0xD1342543DE82EF95) + (uint64_t)s->cases * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) | 1;
}
#endif
