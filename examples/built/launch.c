/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c: what a built kernel costs: its first launch in a process, the first that wants threads, and each one
 * afterwards. add.h and add.o are made as docs/embedding.md says, with --isa left out. */
#define _POSIX_C_SOURCE 200809L
#include "add.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MANY = 1 << 18, BLOCK = 1024 };
static float x[MANY], y[MANY], z[MANY];

static double now(void) { /* us */
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int launch(int32_t count) {
    return add_kernel(x, MANY, y, MANY, z, MANY, count, (count + BLOCK - 1) / BLOCK, 1, 1, NULL);
}

int main(void) {
    enum { ROUNDS = 20, LAUNCHES = 10000 };
    memset(x, 1, sizeof x), memset(y, 1, sizeof y), memset(z, 1, sizeof z); /* their pages are there */
    double start = now(), least = 1e30;
    int32_t result = launch(64);
    double one = now();
    result |= launch(MANY);
    double threads = now();
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now();
        for (int i = 0; i < LAUNCHES; i++) result |= launch(64);
        double each = (now() - begin) / LAUNCHES;
        if (each < least) least = each;
    }
    printf("the first launch %.1f us, the first with threads %.1f us, then %.3f us for 64 numbers\n", one - start,
           threads - one, least);
    return result;
}
