/* SPDX-License-Identifier: Apache-2.0 */
/* guarded.h: arrays of a target whose last element lies against a page that nobody may touch, so that emitted code which reads
 * or writes whole vectors behind an array is found. Those of the host's memory; others are made by the library. */
#ifndef TESTS_GUARDED_H
#define TESTS_GUARDED_H
#include "tilewright.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { GUARDED_PAGE = 4096, GUARDED_LINE = 64, GUARDED_GAP = 16 * GUARDED_PAGE, GUARDED_MOST = 256 };

static struct {
    void *data;
    unsigned char *map;
    size_t size;
} guarded_maps[GUARDED_MOST];

/* Without a place among them, or on a device, it is an array of the library's own. */
static inline tw_status guarded_create(tw_context *cx, int32_t dtype, int32_t rank, const int64_t *shape, const char *target,
                                       tw_buffer **out) {
    tw_buffer_options options;
    tw_buffer_options_init(&options);
    options.target = target;
    int at = 0;
    while (at < GUARDED_MOST && guarded_maps[at].map) at++;
    bool device = target && strncmp(target, "cuda", 4) == 0 && !strstr(target, "emulated");
    size_t bytes = tw_dtype_size(dtype);
    for (int d = 0; d < rank; d++) bytes *= (size_t)shape[d];
    size_t lines = (bytes + GUARDED_LINE - 1) / GUARDED_LINE * GUARDED_LINE;
    size_t pages = (lines + GUARDED_PAGE - 1) / GUARDED_PAGE * GUARDED_PAGE, size = pages + 2 * GUARDED_GAP;
    unsigned char *map = MAP_FAILED;
    if (!device && at < GUARDED_MOST) map = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map != MAP_FAILED) {
        if (pages) mprotect(map + GUARDED_GAP, pages, PROT_READ | PROT_WRITE);
        options.target = NULL;
        options.data = guarded_maps[at].data = map + GUARDED_GAP + pages - lines;
        options.size = bytes;
        guarded_maps[at].map = map;
        guarded_maps[at].size = size;
    }
    return tw_buffer_create(cx, dtype, rank, shape, &options, out);
}

static inline void guarded_destroy(tw_buffer *b) {
    for (int i = 0; b && i < GUARDED_MOST; i++) {
        if (!guarded_maps[i].map || guarded_maps[i].data != tw_buffer_data(b)) continue;
        munmap(guarded_maps[i].map, guarded_maps[i].size);
        guarded_maps[i].map = NULL;
    }
    tw_buffer_destroy(b);
}
#endif
