/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu.c: the CUDA emulator on hand-written kernels (tests/emu/emu_cases.h). */
#include "base/embedded.h"

#include "../emu/emu_cases.h"
#include "pass/machine.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

static char folder[] = "/tmp/tw_test_emu_XXXXXX";
static void *object;
static Arena arena;
static Trap trap;

/* ---- compiling ---- */
static bool have(const char *tool) {
    char command[256];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", tool);
    return system(command) == 0;
}

static void write_prelude(void) {
    for (const EmbeddedFile *f = embedded_files; f->path; f++) {
        if (strncmp(f->path, "cuda/", 5) != 0 && strncmp(f->path, "simt/", 5) != 0) continue;
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, strrchr(f->path, '/') + 1);
        FILE *out = fopen(path, "wb");
        CHECK(out && fwrite(f->text, 1, f->size, out) == f->size);
        if (out) fclose(out);
    }
}

static bool compile(const char *compiler) {
    char command[1000];
    snprintf(command, sizeof command,
             "%s " EMU_CXXFLAGS " -Itests/emu -I%s tests/emu/all.cu -o %s/all.so", compiler, folder,
             folder);
    return system(command) == 0;
}

/* ---- the backend ---- */
static void *backend_allocate(size_t bytes) {
    return aligned_alloc(256, (bytes + 511) / 256 * 256);
}

static void backend_free(void *p) {
    free(p);
}

static const char *backend_encode(void *map, const EmuTensor *tensor) {
    return emu_tensormap_encode(map, tensor);
}

static bool backend_launch(const char *kernel, EmuLaunch l, void **params) {
    l.kernel = kernel;
    l.file = arena_printf(&arena, "%s.cu", kernel);
    l.params = params;
    l.shared_most = (uint32_t)machine_find("cuda:sm_90a")->ring_bytes;
    *(void **)&l.entry = dlsym(object, arena_printf(&arena, "tw_emu_%s", kernel));
    CHECK(l.entry != NULL);
    return l.entry && emu_launch(&l, &arena, &last);
}

static void test_tensormap(void) {
    EmuTensor t = {.type = EMU_F16,
                   .rank = 2,
                   .base = map_a,
                   .dims = {64, 64},
                   .strides = {128},
                   .box = {64, 64},
                   .swizzle = 128};
    CHECK(!emu_tensormap_encode(map_a, &t));
    EmuTensor wide = t, odd = t, moved = t, rank = t;
    wide.box[0] = 128;
    odd.strides[0] = 136;
    moved.base = map_a + 8;
    rank.rank = 6;
    CHECK_TEXT(emu_tensormap_encode(map_a, &wide),
               "a swizzled box must be exactly as wide as its swizzle");
    CHECK_TEXT(emu_tensormap_encode(map_a, &odd),
               "a stride must be a multiple of 16 bytes, below 2^40");
    CHECK_TEXT(emu_tensormap_encode(map_a, &moved), "the base must be a multiple of 16 bytes");
    CHECK_TEXT(emu_tensormap_encode(map_a, &rank), "the rank must be 1 to 5");
    EmuTensor most = t, more = t;
    most.dims[1] = (uint64_t)1 << 31, more.dims[1] = most.dims[1] + 1;
    CHECK(!emu_tensormap_encode(map_a, &most));
    CHECK_TEXT(emu_tensormap_encode(map_a, &more), "an extent must be 1 to 2^31");
}

/* ---- memory that runs out, at every allocation in turn ---- */
static long allocations_left;
static void *failing_resize(void *user, void *block, size_t old_size, size_t new_size) {
    if (new_size && allocations_left-- == 0) return NULL;
    return allocator_malloc.resize(user, block, old_size, new_size);
}

static void test_memory(void) {
    Arena whole = arena;
    Trap failed;
    Buffer x = buffer("x", EMU_F32, 3000, true), s = buffer("sums", EMU_F32, 3, false);
    EmuAllocation a[] = {x.allocation, s.allocation};
    int n = 1000, mutant = 1; /* one that is reported: texts are made, threads are left hanging */
    void *params[] = {&x.allocation.base, &s.allocation.base, &n, &mutant};
    volatile bool ran = false;
    volatile long count = 0;
    for (; !ran && count < 1000; count++) {
        allocations_left = LONG_MAX;
        arena_init(&arena, (Allocator){failing_resize, NULL}, &failed);
        if (TRAP_ARM(&failed)) {
            void *entry = dlsym(object, "tw_emu_block_sum");
            EmuLaunch l = {.grid = {3, 1, 1},
                           .threads = 128,
                           .shared_bytes = 16,
                           .shared_most = 16,
                           .allocations = a,
                           .allocation_count = 2,
                           .kernel = "block_sum",
                           .file = "block_sum.cu",
                           .params = params};
            *(void **)&l.entry = entry;
            allocations_left = count;
            emu_launch(&l, &arena, &last);
            ran = true;
        } else {
            CHECK(failed.code == TRAP_OUT_OF_MEMORY);
        }
        arena_free(&arena);
    }
    CHECK(ran && count > 3);
    arena = whole;
    free(x.allocation.base), free(s.allocation.base);
}

/* The same text must compile for the device. */
static void test_nvcc(void) {
    if (!have("nvcc")) {
        printf("skipped: nvcc is not here, so the kernels of tests/emu were not compiled for the "
               "device\n");
        return;
    }
    char command[1000];
    snprintf(command, sizeof command,
             "nvcc -arch=sm_90a -cubin --fmad=false -Itests/emu -I%s tests/emu/all.cu -o "
             "%s/all.cubin >%s/nvcc.log 2>&1",
             folder, folder, folder);
    CHECK(system(command) == 0);
}

int main(void) {
    const char *compiler = getenv("CXX") ? getenv("CXX") : "c++";
    CHECK(mkdtemp(folder) != NULL);
    arena_init(&arena, allocator_malloc, &trap);
    if (!TRAP_ARM(&trap)) {
        fprintf(stderr, "trap: %s\n", trap.message);
        return 1;
    }
    test_tensormap();
    write_prelude();
    if (!have(compiler)) {
        printf("skipped: no C++ compiler (%s), so nothing was emulated\n", compiler);
    } else {
        double start = seconds();
        CHECK(compile(compiler));
        printf("compiled in %.2f s\n", seconds() - start);
        char path[200];
        snprintf(path, sizeof path, "%s/all.so", folder);
        object = dlopen(path, RTLD_NOW);
        if (!object) fprintf(stderr, "%s\n", dlerror());
        CHECK(object != NULL);
        if (object) {
            run_cases();
            test_memory();
            dlclose(object);
        }
        if (!getenv("TILEWRIGHT_EVERY")) test_nvcc(); /* nothing of ours runs there */
    }
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
    arena_free(&arena);
    return check_done();
}
