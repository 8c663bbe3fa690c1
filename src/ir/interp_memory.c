/* interp_memory.c: is this access allowed?
 *
 * Every access must lie inside one of the launch's regions. Under `sanitize` a region also has
 * shadows: a bit a byte says whether an output was written yet, a number a byte which program wrote
 * it last. A write of what another program wrote plainly is a race; what atomics wrote is not
 * looked into further. */
#include "ir/interp_core.h"

enum { BY_ATOMIC = 0xFFFFFFFFu }; /* in the place of a program's number */

static int find_region(Interp *in, uint64_t address, uint64_t bytes) {
    const InterpRegion *regions = in->launch->regions;
    int last = in->last_region;
    for (int i = -1; i < in->launch->region_count; i++) {
        int at = i < 0 ? last : i;
        if (at >= in->launch->region_count) continue;
        uint64_t offset = address - (uint64_t)(uintptr_t)regions[at].base;
        if (offset <= regions[at].size && bytes <= regions[at].size - offset) {
            in->last_region = at;
            return at;
        }
    }
    return -1;
}

/* The nearest region, in words. */
static const char *describe(Interp *in, uint64_t address) {
    const InterpRegion *nearest = NULL;
    uint64_t best = UINT64_MAX;
    bool before = false;
    for (int i = 0; i < in->launch->region_count; i++) {
        const InterpRegion *region = &in->launch->regions[i];
        uint64_t base = (uint64_t)(uintptr_t)region->base, end = base + region->size;
        uint64_t distance = address < base ? base - address : address - end;
        if (address >= base && address < end) distance = 0;
        if (distance >= best) continue;
        best = distance;
        nearest = region;
        before = address < base;
    }
    if (!nearest) return "there is none";
    return arena_printf(&in->arena, "%llu bytes %s `%s`", (unsigned long long)best,
                        before ? "before the start of" : "past the end of", nearest->name);
}

static int check(Process *p, Step *s, uint64_t address, int bytes, const Type *type,
                 int64_t element) {
    int at = find_region(p->in, address, (uint64_t)bytes);
    if (at < 0)
        EV_REPORT(p, s, DIAG_OUT_OF_BOUNDS, describe(p->in, address), report_process(p),
                  report_element(p->in, type, element));
    return at;
}

static MemoryShadow *shadow_of(Interp *in, int region) {
    MemoryShadow *shadow = &in->shadows[region];
    const InterpRegion *r = &in->launch->regions[region];
    if (!shadow->writer) {
        shadow->writer = ARENA_ARRAY(&in->arena, uint32_t, r->size);
        if (!r->written) shadow->written = ARENA_ARRAY(&in->arena, uint8_t, r->size / 8 + 1);
    }
    return shadow;
}

bool memory_read(Process *p, Step *s, uint64_t address, int bytes, const Type *type,
                 int64_t element) {
    Interp *in = p->in;
    int at = check(p, s, address, bytes, type, element);
    if (at < 0) return false;
    const InterpRegion *region = &in->launch->regions[at];
    if (!in->shadows || region->written) return true;
    const uint8_t *written = shadow_of(in, at)->written;
    uint64_t offset = address - (uint64_t)(uintptr_t)region->base;
    for (uint64_t i = offset; i < offset + (uint64_t)bytes; i++)
        if (!(written[i / 8] >> (i % 8) & 1)) {
            EV_REPORT(p, s, DIAG_UNWRITTEN_MEMORY, region->name, report_process(p),
                      report_element(in, type, element));
            break;
        }
    return true;
}

bool memory_write(Process *p, Step *s, uint64_t address, int bytes, bool atomic, const Type *type,
                  int64_t element) {
    Interp *in = p->in;
    int at = check(p, s, address, bytes, type, element);
    if (at < 0) return false;
    if (!in->shadows) return true;
    const InterpRegion *region = &in->launch->regions[at];
    MemoryShadow *shadow = shadow_of(in, at);
    uint64_t offset = address - (uint64_t)(uintptr_t)region->base;
    uint32_t me = atomic ? BY_ATOMIC : p->writer;
    for (uint64_t i = offset; i < offset + (uint64_t)bytes; i++) {
        uint32_t other = shadow->writer[i];
        if (shadow->written) shadow->written[i / 8] |= (uint8_t)(1 << (i % 8));
        shadow->writer[i] = me;
        if (!other || other == p->writer || other == BY_ATOMIC) continue;
        EV_REPORT(p, s, DIAG_WRITE_RACE, (long long)p->writer - 1, (long long)other - 1,
                  (long long)i, region->name, report_element(in, type, element));
    }
    return true;
}
