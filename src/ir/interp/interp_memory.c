/* SPDX-License-Identifier: Apache-2.0 */
/* interp_memory.c: is this access allowed?
 *
 * Every access must lie inside one of the launch's regions, and where the text shows which
 * parameter it goes through, inside that one's. Under `sanitize` it must also be aligned, and the
 * shadows of the region are kept and asked (interp_shadow.c). */
#include "ir/interp/interp_core.h"
#include "ir/roots.h"

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

void memory_open(Interp *in) {
    const InterpLaunch *launch = in->launch;
    in->home = ARENA_ARRAY(&in->arena, int, launch->arg_count);
    for (int i = 0; i < launch->arg_count; i++)
        in->home[i] = find_region(in, (uint64_t)(uintptr_t)launch->args[i].pointer, 1);
    if (launch->sanitize) in->shadows = ARENA_ARRAY(&in->arena, MemoryShadow, launch->region_count);
}

/* --- through which parameter --- */

/* The number of the only one, from 1; -1: it may be another, or none. */
static int find_root(Interp *in, Ref ref) {
    ArenaMark mark = arena_mark(&in->arena);
    int only = roots_only(in->kernel, &in->arena, ref);
    arena_reset(&in->arena, mark);
    return only < 0 ? -1 : only + 1;
}

/* --- saying what is wrong --- */

/* The nearest region, in words. */
static const char *describe_nearest(Interp *in, uint64_t address) {
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
    if (!nearest) return "there is no buffer";
    return arena_printf(&in->arena, "%llu bytes %s `%s`", (unsigned long long)best,
                        before ? "before the start of" : "past the end of", nearest->name);
}

static const char *describe(Interp *in, Step *s, uint64_t address, int bytes) {
    if (s->root <= 0) return describe_nearest(in, address);
    uint64_t base = (uint64_t)(uintptr_t)in->launch->args[s->root - 1].pointer;
    const char *name = ir_value(in->kernel, in->kernel->body->args[s->root - 1])->name;
    int home = in->home[s->root - 1];
    uint64_t end = base;
    if (home >= 0) {
        const InterpRegion *region = &in->launch->regions[home];
        end = (uint64_t)(uintptr_t)region->base + region->size;
    }
    int64_t distance = (int64_t)(address - base);
    int64_t index = distance / bytes - (distance < 0 && distance % bytes != 0);
    return arena_printf(&in->arena, "index %lld of `%s`, which has %llu elements", (long long)index,
                        name ? name : "a parameter", (unsigned long long)((end - base) / (uint64_t)bytes));
}

/* The region that an access may touch; -1: none. */
static int allowed_region(Interp *in, Step *s, uint64_t address, uint64_t bytes) {
    if (!s->root) s->root = find_root(in, s->op->operands[0]);
    int at = find_region(in, address, bytes);
    return at >= 0 && s->root > 0 && in->home[s->root - 1] != at ? -1 : at;
}

bool memory_allows(Process *p, Step *s, uint64_t address, uint64_t bytes) {
    return allowed_region(p->in, s, address, bytes) >= 0;
}

bool memory_access(Process *p, Step *s, uint64_t address, int bytes, MemoryUse use, const Type *type, int64_t element) {
    Interp *in = p->in;
    int at = allowed_region(in, s, address, (uint64_t)bytes);
    if (at < 0) {
        int each = ty_elem_bytes(type);
        EV_REPORT(p, s, DIAG_OUT_OF_BOUNDS, describe(in, s, address, type->pointer ? bytes : each), report_process(p),
                  report_element(in, type, element));
        return false;
    }
    if (!in->shadows) return true;
    uint64_t offset = address - (uint64_t)(uintptr_t)in->launch->regions[at].base;
    if (address % (uint64_t)bytes)
        EV_REPORT(p, s, DIAG_MISALIGNED, bytes, (unsigned long long)offset, in->launch->regions[at].name,
                  report_process(p), report_element(in, type, element));
    shadow_access(p, s, at, offset, bytes, use, type, element);
    return true;
}
