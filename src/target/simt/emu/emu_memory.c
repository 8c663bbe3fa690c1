/* SPDX-License-Identifier: Apache-2.0 */
/* emu_memory.c: loads, stores and atomics of threads, with their bounds and alignment.
 *
 * Global memory is the host's own, used in place; only what the launch registered may be touched.
 * Shared memory is poisoned when a block starts (NaN in every float format). */
#include "target/simt/emu/emu_core.h"

#include "base/numeric.h"

#include <string.h>

static const EmuAllocation *find_allocation(Emu *emu, uint64_t at, uint64_t bytes) {
    size_t count = emu->launch->allocation_count;
    if (!count) return NULL;
    const EmuAllocation *a = &emu->allocations[emu->last_allocation];
    if (at - (uint64_t)(uintptr_t)a->base < a->bytes) return a;
    size_t low = 0, high = count; /* the last one that begins at or before `at` */
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if ((uint64_t)(uintptr_t)emu->allocations[middle].base <= at)
            low = middle;
        else
            high = middle;
    }
    a = &emu->allocations[low];
    uint64_t base = (uint64_t)(uintptr_t)a->base;
    if (base > at && base - at >= bytes) return NULL;
    emu->last_allocation = low;
    return a;
}

void emu_check_global(Emu *emu, int line, const void *p, uint64_t bytes, uint32_t align, const char *what) {
    uint64_t at = (uint64_t)(uintptr_t)p;
    emu_spend(emu, STEPS_OF_ACCESS, line);
    if (at % align)
        emu_fail(emu, EMU_FAULT_ALIGN, "%s of %llu bytes of global memory at %s: address %#llx is no multiple of %u",
                 what, (unsigned long long)bytes, emu_at(emu, line), (unsigned long long)at, align);
    if (!bytes) return;
    const EmuAllocation *a = find_allocation(emu, at, bytes);
    if (!a)
        emu_fail(emu, EMU_FAULT_GLOBAL, "%s of %llu bytes of global memory at %s: address %#llx is in no allocation",
                 what, (unsigned long long)bytes, emu_at(emu, line), (unsigned long long)at);
    int64_t offset = (int64_t)(at - (uint64_t)(uintptr_t)a->base);
    if (offset < 0 || (uint64_t)offset > a->bytes || a->bytes - (uint64_t)offset < bytes)
        emu_fail(emu, EMU_FAULT_GLOBAL,
                 "%s of %llu bytes of global memory at %s: byte %lld of `%s`, which has %llu "
                 "bytes; mask it",
                 what, (unsigned long long)bytes, emu_at(emu, line), (long long)offset, a->name ? a->name : "?",
                 (unsigned long long)a->bytes);
}

void emu_check_shared(Emu *emu, int line, uint32_t s, uint64_t bytes, uint32_t align, const char *what) {
    uint32_t size = emu->launch->shared_bytes;
    if (s > size || size - s < bytes)
        emu_fail(emu, EMU_FAULT_SHARED, "%s of shared bytes %u-%llu at %s: the block has %u bytes of shared memory",
                 what, s, (unsigned long long)(s + bytes - 1), emu_at(emu, line), size);
    if (s % align)
        emu_fail(emu, EMU_FAULT_ALIGN, "%s of %s at %s: the offset is no multiple of %u", what,
                 emu_bytes(emu, emu_own(emu) + s, (uint32_t)bytes), emu_at(emu, line), align);
}

EmuAccess emu_thread_access(Emu *emu, int line, const char *what) {
    Thread *thread = emu->running;
    return (EmuAccess){.thread = thread,
                       .agent = thread->id,
                       .line = line,
                       .clock = thread->clock,
                       .kind = CELL_GENERIC,
                       .what = what};
}

void emu_load_global(Emu *emu, int line, void *to, const void *from, int bytes) {
    emu_check_global(emu, line, from, (uint64_t)bytes, (uint32_t)bytes, "load");
    EmuAccess access = emu_thread_access(emu, line, "reads");
    emu_touch_global(emu, &access, from, (uint64_t)bytes, false);
    memcpy(to, from, (size_t)bytes);
}

void emu_store_global(Emu *emu, int line, void *to, const void *from, int bytes) {
    emu_check_global(emu, line, to, (uint64_t)bytes, (uint32_t)bytes, "store");
    EmuAccess access = emu_thread_access(emu, line, "writes");
    emu_touch_global(emu, &access, to, (uint64_t)bytes, true);
    memcpy(to, from, (size_t)bytes);
}

void emu_load_shared(Emu *emu, int line, void *to, unsigned s, int bytes) {
    emu_check_shared(emu, line, s, (uint64_t)bytes, (uint32_t)bytes, "load");
    s += emu_own(emu);
    EmuAccess access = emu_thread_access(emu, line, "reads");
    emu_touch_read(emu, &access, s, (uint32_t)bytes);
    memcpy(to, emu->shared + s, (size_t)bytes);
}

void emu_store_shared(Emu *emu, int line, unsigned s, const void *from, int bytes) {
    emu_check_shared(emu, line, s, (uint64_t)bytes, (uint32_t)bytes, "store");
    s += emu_own(emu);
    EmuAccess access = emu_thread_access(emu, line, "writes");
    emu_touch_write(emu, &access, s, (uint32_t)bytes);
    memcpy(emu->shared + s, from, (size_t)bytes);
}

/* ---- numbers ---- */
uint32_t emu_type_bytes(int type) {
    switch (type) {
    case EMU_I8:
    case EMU_U8:
    case EMU_E4M3:
    case EMU_E5M2: return 1;
    case EMU_I16:
    case EMU_U16:
    case EMU_F16:
    case EMU_BF16: return 2;
    case EMU_I32:
    case EMU_U32:
    case EMU_F32:
    case EMU_TF32: return 4;
    case EMU_I64:
    case EMU_U64:
    case EMU_F64: return 8;
    default: return 0;
    }
}

unsigned emu_narrow(int type, double x) {
    switch (type) {
    case EMU_F16: return f16_from_f64(x);
    case EMU_BF16: return bf16_from_f64(x);
    case EMU_E4M3: return f8e4m3_from_f64(x);
    case EMU_E5M2: return f8e5m2_from_f64(x);
    default: return f32_bits((float)x);
    }
}

double emu_widen(int type, unsigned bits) {
    switch (type) {
    case EMU_F16: return f16_to_f32((uint16_t)bits);
    case EMU_BF16: return bf16_to_f32((uint16_t)bits);
    case EMU_E4M3: return f8e4m3_to_f32((uint8_t)bits);
    case EMU_E5M2: return f8e5m2_to_f32((uint8_t)bits);
    case EMU_I8: return (int8_t)bits;
    case EMU_U8: return (uint8_t)bits;
    case EMU_TF32: return f32_from_bits(bits & ~0x1FFFu); /* the tensor core does not look at the rest */
    default: return f32_from_bits(bits);
    }
}

static bool is_float(int type) { return type >= EMU_F16; }

static bool is_signed(int type) { return type == EMU_I8 || type == EMU_I16 || type == EMU_I32 || type == EMU_I64; }

static uint64_t combine_bits(int op, int type, uint64_t old, uint64_t value, uint64_t expect) {
    int shift = 64 - 8 * (int)emu_type_bytes(type);
    /* Shifted to the top, numbers of any width compare as 64-bit ones. */
    bool less = is_signed(type) ? (int64_t)(value << shift) < (int64_t)(old << shift) : value < old;
    switch (op) {
    case EMU_ADD: return old + value;
    case EMU_MIN: return less ? value : old;
    case EMU_MAX: return less ? old : value;
    case EMU_AND: return old & value;
    case EMU_OR: return old | value;
    case EMU_XOR: return old ^ value;
    case EMU_CAS: return old == expect ? value : old;
    default: return value;
    }
}

static double combine_floats(int op, double old, double value) {
    if (op == EMU_ADD) return old + value;
    if (old != old) return value; /* NaN loses */
    if (op == EMU_MIN) return value < old ? value : old;
    return value > old ? value : old;
}

void emu_apply(int op, int type, void *p, const void *value, const void *expect, void *old) {
    uint64_t was = 0, with = 0, expected = 0;
    size_t bytes = emu_type_bytes(type);
    memcpy(&was, p, bytes);
    memcpy(&with, value, bytes);
    if (expect) memcpy(&expected, expect, bytes);
    uint64_t now;
    if (!is_float(type) || op > EMU_MAX) {
        now = combine_bits(op, type, was, with, expected);
    } else if (type == EMU_F64) {
        now = f64_bits(combine_floats(op, f64_from_bits(was), f64_from_bits(with)));
    } else if (type == EMU_F32 && op == EMU_ADD) {
        now = f32_bits(f32_from_bits((uint32_t)was) + f32_from_bits((uint32_t)with));
    } else {
        double x = emu_widen(type, (unsigned)was), y = emu_widen(type, (unsigned)with);
        now = emu_narrow(type, combine_floats(op, x, y));
    }
    memcpy(p, &now, bytes);
    if (old) memcpy(old, &was, bytes);
}

/* The units that add f32 in global memory take subnormals as zero and give none; those of shared memory do not. */
static uint32_t flushed(uint32_t bits) { return bits & 0x7F800000u ? bits : bits & 0x80000000u; }

static void add_flushed(void *p, const void *value, void *old) {
    uint32_t was, with;
    memcpy(&was, p, 4);
    memcpy(&with, value, 4);
    uint32_t now = flushed(f32_bits(f32_from_bits(flushed(was)) + f32_from_bits(flushed(with))));
    memcpy(p, &now, 4);
    if (old) memcpy(old, &was, 4);
}

void *emu_shared_at(Emu *emu, int line, unsigned s) {
    (void)line;
    return emu->shared + emu_own(emu) + s;
}

/* An address of the block's shared memory is as good as one of global memory. */
static bool combine_shared(Emu *emu, int line, int op, int type, void *p, const void *value, const void *expect,
                           void *old) {
    const uint8_t *begin = emu->shared + emu_own(emu), *at = p;
    uint32_t bytes = emu_type_bytes(type);
    if (at < begin || at >= begin + emu->shared_stride) return false;
    uint32_t s = (uint32_t)(at - begin);
    emu_check_shared(emu, line, s, bytes, bytes, "atomic");
    EmuAccess access = emu_thread_access(emu, line, "combines into");
    access.kind = CELL_ATOMIC;
    emu_touch_write(emu, &access, s + emu_own(emu), bytes);
    emu_apply(op, type, p, value, expect, old);
    return true;
}

void emu_atomic(Emu *emu, int line, int op, int type, void *p, const void *value, const void *expect, void *old) {
    uint32_t bytes = emu_type_bytes(type);
    if (combine_shared(emu, line, op, type, p, value, expect, old)) return;
    emu_check_global(emu, line, p, bytes, bytes, "atomic");
    EmuAccess access = emu_thread_access(emu, line, "combines into");
    access.kind = CELL_ATOMIC;
    emu_touch_global(emu, &access, p, bytes, true);
    if (type == EMU_F32 && op == EMU_ADD)
        add_flushed(p, value, old);
    else
        emu_apply(op, type, p, value, expect, old);
}

void emu_combine(Emu *emu, int line, int op, int type, void *p, const void *values, int count) {
    uint32_t bytes = emu_type_bytes(type), all = bytes * (uint32_t)count;
    emu_check_global(emu, line, p, all, all, "vector of atomics");
    for (uint32_t at = 0; at < all; at += bytes)
        emu_atomic(emu, line, op, type, (char *)p + at, (const char *)values + at, NULL, NULL);
}

void emu_atomic_shared(Emu *emu, int line, int op, int type, unsigned s, const void *value) {
    emu_check_shared(emu, line, s, emu_type_bytes(type), emu_type_bytes(type), "atomic");
    combine_shared(emu, line, op, type, emu_shared_at(emu, line, s), value, NULL, NULL);
}
