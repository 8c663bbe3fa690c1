/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_bench.h: IR text through the CUDA emitter and the emulator, beside the interpreter.
 *
 *     CudaBench b;
 *     cuda_bench_open(&b, text, "cuda:sm_90a", options);
 *     cuda_bench_array(&b, "x", EL_F32, 1000, true);      arguments in order; arrays random or zero
 *     cuda_bench_int(&b, 1000);
 *     cuda_bench_run(&b, 8, 1, 1);                        interpreter and emulator, each on its own
 * copy of the arrays double worst = cuda_bench_error(&b, 2, 1e-6);       largest error over |want|
 * + 1, in units of the bound cuda_bench_close(&b); */
#ifndef TESTS_CUDA_BENCH_H
#define TESTS_CUDA_BENCH_H
#include "base/embedded.h"
#include "base/numeric.h"
#include "check.h"
#include "ir/interp/interp.h"
#include "pass/pass.h"
#include "runtime/compile/scalars.h"
#include "target/cuda/cuda.h"
#include "target/cuda/emu/cuda_emu.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char cuda_bench_folder[] = "/tmp/tw_test_cuda_XXXXXX";
static int cuda_bench_count;
static const char *cuda_bench_header = ""; /* own.cuh, for texts that include it */

typedef struct CudaBenchArray {
    const char *name;
    Elem elem;
    int64_t count;
    void *memory[2]; /* of the interpreter, of the emulator */
} CudaBenchArray;

typedef struct CudaBench {
    Trap trap;
    Arena arena, scratch;
    SourceMap sources;
    Diag diag;
    PassContext cx;
    Kernel *source, *kernel;
    CudaPlan *plan;
    CudaBenchArray arrays[16]; /* by argument; name NULL: a scalar */
    InterpArg args[16];
    int arg_count;
    EmuReport report;
    uint64_t seed;
    bool (*launch)(const EmuLaunch *, Arena *, EmuReport *); /* NULL: emu_launch */
    bool passed;  /* the interpreter runs the kernel behind the passes: sums in the same order */
    bool alone;   /* blocks form no clusters, though the plan knows them */
    void *object; /* the compiled kernel */
} CudaBench;

static inline bool cuda_bench_have(const char *tool) {
    char command[256];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", tool);
    return system(command) == 0;
}

static inline void cuda_bench_write(const char *name, const char *text, size_t size) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", cuda_bench_folder, name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(text, 1, size, out) != size) exit(1);
    fclose(out);
}

/* Writes the preludes; once a program. */
static inline void cuda_bench_begin(void) {
    if (!mkdtemp(cuda_bench_folder)) exit(1);
    cuda_bench_write("own.cuh", cuda_bench_header, strlen(cuda_bench_header));
    for (const EmbeddedFile *f = embedded_files; f->path; f++) {
        if (strncmp(f->path, "cuda/", 5) != 0 && strncmp(f->path, "hip/", 4) != 0 && strncmp(f->path, "simt/", 5) != 0) continue;
        cuda_bench_write(strrchr(f->path, '/') + 1, f->text, f->size);
    }
}

static inline void cuda_bench_end(void) {
    char command[200];
    if (getenv("KEEP")) {
        fprintf(stderr, "kept: %s\n", cuda_bench_folder);
        return;
    }
    snprintf(command, sizeof command, "rm -rf %s", cuda_bench_folder);
    if (system(command)) exit(1);
}

static inline Kernel *cuda_bench_parse(CudaBench *b, const char *text) {
    Module *m = ir_module_new(&b->arena, &b->diag, &b->sources);
    bool good = ir_parse(m, source_add(&b->sources, "test.tir", text, strlen(text)));
    Kernel *k = good && m->kernels.count ? m->kernels.at[0] : NULL;
    if (!k || !ir_verify(k, k->form, &b->diag)) {
        fprintf(stderr, "%s\n", diag_render(&b->diag, &b->arena));
        exit(1);
    }
    return k;
}

static inline bool cuda_bench_open_on(CudaBench *b, const char *text, const Machine *machine,
                                      PassOptions options, CudaPlan *(*emit)(PassContext *, Kernel *)) {
    memset(b, 0, sizeof *b);
    arena_init(&b->arena, allocator_malloc, &b->trap);
    arena_init(&b->scratch, allocator_malloc, &b->trap);
    if (!TRAP_ARM(&b->trap)) {
        fprintf(stderr, "trap: %s\n", b->trap.message);
        exit(1);
    }
    source_init(&b->sources, &b->arena);
    diag_init(&b->diag, &b->arena, &b->sources);
    b->source = cuda_bench_parse(b, text);
    b->kernel = cuda_bench_parse(b, text);
    b->cx = (PassContext){.module = b->kernel->module,
                          .machine = machine,
                          .options = options,
                          .scratch = &b->scratch};
    PipelineRequest request = {.verify_each = true};
    bool good = pipeline_run(&b->cx, b->kernel, &request);
    b->plan = good ? emit(&b->cx, b->kernel) : NULL;
    if (!b->plan) fprintf(stderr, "%s\n", diag_render(&b->diag, &b->arena));
    return b->plan != NULL;
}

static inline bool cuda_bench_open(CudaBench *b, const char *text, const char *machine,
                                   PassOptions options) {
    return cuda_bench_open_on(b, text, machine_find(machine), options, cuda_emit);
}

static inline void cuda_bench_close(CudaBench *b) {
    for (int i = 0; i < b->arg_count; i++)
        for (int j = 0; j < 2; j++) free(b->arrays[i].memory[j]);
    if (b->object) dlclose(b->object);
    arena_free(&b->scratch);
    arena_free(&b->arena);
}

static inline double cuda_bench_random(CudaBench *b) {
    double sum = 0;
    for (int i = 0; i < 6; i++) {
        b->seed = b->seed * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(b->seed >> 11) * 0x1p-53;
    }
    return (sum - 3) * 1.4;
}

static inline const FloatFormat *cuda_bench_format(Elem elem) {
    if (elem == EL_F8E4B8 || elem == EL_F8E5B16) return elem == EL_F8E4B8 ? &format_f8e4b8 : &format_f8e5b16;
    return elem == EL_F16 ? &format_f16 : elem == EL_BF16 ? &format_bf16 : &format_f32;
}

static inline void cuda_bench_put(void *memory, Elem elem, int64_t i, double x) {
    if (!elem_is_float(elem)) {
        int64_t n = (int64_t)x;
        memcpy((char *)memory + i * elem_info[elem].bytes, &n, (size_t)elem_info[elem].bytes);
        return;
    }
    if (elem == EL_F64) {
        ((double *)memory)[i] = x;
        return;
    }
    uint32_t bits = float_narrow(cuda_bench_format(elem), x, false);
    memcpy((char *)memory + i * elem_info[elem].bytes, &bits, (size_t)elem_info[elem].bytes);
}

static inline double cuda_bench_get(const void *memory, Elem elem, int64_t i) {
    int64_t n = 0;
    memcpy(&n, (const char *)memory + i * elem_info[elem].bytes, (size_t)elem_info[elem].bytes);
    if (!elem_is_float(elem)) return elem_info[elem].bytes == 4 ? (double)(int32_t)n : (double)n;
    if (elem == EL_F64) return ((const double *)memory)[i];
    return float_widen(cuda_bench_format(elem), (uint32_t)n);
}

static inline void cuda_bench_array(CudaBench *b, const char *name, Elem elem, int64_t count,
                                    bool random) {
    CudaBenchArray *a = &b->arrays[b->arg_count];
    *a = (CudaBenchArray){.name = name, .elem = elem, .count = count};
    size_t bytes = (size_t)count * (size_t)elem_info[elem].bytes;
    for (int j = 0; j < 2; j++) {
        a->memory[j] = aligned_alloc(256, (bytes + 511) / 256 * 256);
        memset(a->memory[j], 0, bytes);
    }
    if (!b->seed) b->seed = 12345;
    for (int64_t i = 0; random && i < count; i++) {
        double x = cuda_bench_random(b);
        if (!elem_is_float(elem)) x = floor(x * 10);
        for (int j = 0; j < 2; j++) cuda_bench_put(a->memory[j], elem, i, x);
    }
    memset(&b->args[b->arg_count], 0, sizeof b->args[0]);
    b->arg_count++;
}

/* A dense tensor; extents follow. */
static inline void cuda_bench_tensor(CudaBench *b, const char *name, Elem elem, bool random,
                                     int rank, ...) {
    int64_t extent[MAX_RANK], total = 1;
    va_list list;
    va_start(list, rank);
    for (int d = 0; d < rank; d++) extent[d] = va_arg(list, int);
    va_end(list);
    InterpArg *arg = &b->args[b->arg_count];
    for (int d = 0; d < rank; d++) total *= extent[d];
    cuda_bench_array(b, name, elem, total, random);
    for (int d = rank - 1, stride = 1; d >= 0; d--) {
        arg->extent[d] = extent[d];
        arg->stride[d] = stride;
        stride *= (int)extent[d];
    }
}

static inline void cuda_bench_int(CudaBench *b, int64_t x) {
    b->arrays[b->arg_count] = (CudaBenchArray){0};
    b->args[b->arg_count++] = (InterpArg){.bits = (uint64_t)x};
}

static inline bool cuda_bench_interpret(CudaBench *b, const int64_t grid[3]) {
    InterpArg args[16];
    InterpRegion regions[16];
    int count = 0;
    for (int i = 0; i < b->arg_count; i++) {
        const CudaBenchArray *a = &b->arrays[i];
        args[i] = b->args[i];
        if (!a->name) continue;
        args[i].pointer = a->memory[0];
        regions[count++] = (InterpRegion){
            a->name, a->memory[0], (size_t)a->count * (size_t)elem_info[a->elem].bytes, true};
    }
    InterpLaunch launch = {.kernel = b->passed ? b->kernel : b->source,
                           .args = args,
                           .arg_count = b->arg_count,
                           .regions = regions,
                           .region_count = count,
                           .arena = &b->arena,
                           .diag = &b->diag};
    memcpy(launch.grid, grid, sizeof launch.grid);
    bool good = interp_run(&launch);
    if (!good) fprintf(stderr, "%s\n", diag_render(&b->diag, &b->arena));
    return good;
}

/* These kernels are small: what the compiler saves outweighs what the run costs. */
#define CUDA_BENCH_CXXFLAGS EMU_CXXFLAGS " -O0"

/* Everything that the compiled text depends on: the flags and the preludes, which are read once, and itself. */
static inline uint64_t cuda_bench_key(const char *text) {
    static const char flags[] = CUDA_BENCH_CXXFLAGS EMU_LIBRARIES;
    static uint64_t preludes;
    if (!preludes) {
        preludes = hash_bytes(flags, sizeof flags, 1);
        for (const EmbeddedFile *f = embedded_files; f->path; f++)
            if (strncmp(f->path, "cuda/", 5) == 0 || strncmp(f->path, "hip/", 4) == 0 || strncmp(f->path, "simt/", 5) == 0) preludes = hash_bytes(f->text, f->size, preludes);
    }
    uint64_t key = hash_bytes(cuda_bench_header, strlen(cuda_bench_header), preludes);
    return hash_bytes(text, strlen(text), key);
}

/* Half of a small kernel's compile is its header: GCC finds it compiled, once for all tests, beside it; other compilers do
 * not look there. */
static inline void cuda_bench_precompile(const char *text) {
    char header[40], kept[400], link[400], command[1400], here[300];
    const char *include = strstr(text, "#include \"");
    if (!include || sscanf(include, "#include \"%39[^\"]", header) != 1 || strcmp(header, "own.cuh") == 0 || !getcwd(here, sizeof here)) return;
    snprintf(link, sizeof link, "%s/%s.gch", cuda_bench_folder, header);
    snprintf(kept, sizeof kept, "%s/build/emulated/%016llx.gch", here, (unsigned long long)cuda_bench_key(header));
    if (access(link, F_OK) == 0) return;
    snprintf(command, sizeof command, "c++ %s -x c++-header -I%s %s/%s -o %s.%d && mv %s.%d %s", strstr(CUDA_BENCH_CXXFLAGS, "-std"),
             cuda_bench_folder, cuda_bench_folder, header, kept, (int)getpid(), kept, (int)getpid(), kept);
    if (access(kept, R_OK) == 0 || system(command) == 0)
        if (symlink(kept, link)) return; /* then without */
}

/* Compiles the plan's text for the host, unless an earlier run (of the sanitized build, say) did; the entry, or NULL. */
static inline void *cuda_bench_compile(CudaBench *b) {
    char path[300], made[64], command[2400];
    if (mkdir("build/emulated", 0700) && errno != EEXIST) return NULL;
    snprintf(made, sizeof made, "build/emulated/%016llx.so", (unsigned long long)cuda_bench_key(b->plan->text));
    if (access(made, R_OK) != 0) {
        snprintf(path, sizeof path, "%s/%s_%d.cu", cuda_bench_folder, b->plan->name, ++cuda_bench_count);
        FILE *out = fopen(path, "wb");
        if (!out) return NULL;
        fputs(b->plan->text, out);
        fclose(out);
        cuda_bench_precompile(b->plan->text);
        snprintf(command, sizeof command, "c++ " CUDA_BENCH_CXXFLAGS " -I%s %s -o %s.so " EMU_LIBRARIES " && mv %s.so %s.%d && mv %s.%d %s", cuda_bench_folder,
                 path, path, path, made, (int)getpid(), made, (int)getpid(), made);
        if (system(command)) {
            fprintf(stderr, "%s does not compile\n", path);
            return NULL;
        }
    }
    b->object = dlopen(made, RTLD_NOW | RTLD_LOCAL);
    snprintf(command, sizeof command, "tw_emu_%s", b->plan->name);
    return b->object ? dlsym(b->object, command) : NULL;
}

static inline EmuType cuda_bench_type(Elem elem) {
    return elem == EL_F16    ? EMU_F16
           : elem == EL_BF16 ? EMU_BF16
           : elem == EL_F32  ? EMU_F32
           : elem_info[elem].bytes == 1 ? EMU_U8
                                        : EMU_I32;
}

static inline bool cuda_bench_emulate(CudaBench *b, void *entry, const int64_t grid[3]) {
    EmuAllocation memory[16];
    CudaMapBytes maps[8];
    RunParam run[16];
    uint64_t words[16 * 17];
    int64_t numbers[64];
    void *params[80];
    int count = 0, slot = 0;
    for (int i = 0; i < b->arg_count; i++) {
        const CudaBenchArray *a = &b->arrays[i];
        const Value *v = ir_value(b->kernel, b->kernel->body->args[i]);
        run[i] = (RunParam){.name = v->name, .source = i, .type = v->type, .slot = slot};
        words[slot++] = a->name ? (uint64_t)(uintptr_t)a->memory[1] : b->args[i].bits;
        int rank = v->type->kind == TY_TENSOR ? v->type->rank : 0;
        for (int d = 0; d < rank; d++) words[slot++] = (uint64_t)b->args[i].extent[d];
        for (int d = 0; d < rank; d++) words[slot++] = (uint64_t)b->args[i].stride[d];
        if (a->name)
            memory[count++] = (EmuAllocation){a->name, a->memory[1],
                                              (uint64_t)(a->count * elem_info[a->elem].bytes)};
    }
    const char *why = NULL;
    ScalarProgram *program =
        scalars_compile(b->kernel, b->plan->wanted.at, (int)b->plan->wanted.count, run,
                        b->arg_count, &b->arena, &why);
    if (!program) {
        fprintf(stderr, "the launcher cannot compute %s\n", why);
        return false;
    }
    scalars_run(program, words, grid, numbers);
    for (size_t i = 0; i < b->plan->maps.count; i++) {
        CudaMapValue v = cuda_map_value(&b->plan->maps.at[i], numbers);
        EmuTensor t = {.type = cuda_bench_type(v.elem),
                       .rank = v.rank,
                       .base = (void *)v.base,
                       .swizzle = v.swizzle};
        memcpy(t.dims, v.dims, sizeof t.dims);
        memcpy(t.strides, v.strides, sizeof t.strides);
        memcpy(t.box, v.box, sizeof t.box);
        const char *broken = emu_tensormap_encode(&maps[i], &t);
        if (broken) {
            fprintf(stderr, "tensor map %d: %s\n", (int)i, broken);
            return false;
        }
    }
    int32_t grid32[3] = {(int32_t)grid[0], (int32_t)grid[1], (int32_t)grid[2]};
    for (size_t i = 0; i < b->plan->params.count; i++) {
        const SimtParam *p = &b->plan->params.at[i];
        int at = p->kind == SIMT_OWN || p->kind == SIMT_GRID ? 0 : run[p->arg].slot;
        if (p->kind == SIMT_EXTENT) at += 1 + p->dim;
        if (p->kind == SIMT_STRIDE) at += 1 + run[p->arg].type->rank + p->dim;
        params[i] = p->kind == SIMT_OWN    ? (void *)&maps[p->dim]
                    : p->kind == SIMT_GRID ? (void *)&grid32[p->dim]
                                           : &words[at];
    }
    EmuLaunch launch = {.kernel = b->plan->name,
                        .file = "test.cu",
                        .threads = (uint32_t)b->plan->threads,
                        .lanes = (uint32_t)b->cx.machine->lanes,
                        .shared_bytes = (uint32_t)b->plan->shared_bytes,
                        .shared_most = (uint32_t)b->cx.machine->ring_bytes,
                        .params = params,
                        .allocations = memory,
                        .allocation_count = (size_t)count,
                        .seed = 7};
    *(void **)&launch.entry = entry;
    int64_t programs = grid[0] * grid[1] * grid[2];
    for (int d = 0; d < 3; d++) launch.grid[d] = (uint32_t)grid[d];
    if (b->plan->persist)
        launch.grid[0] = programs < 3 ? (uint32_t)programs : 3, launch.grid[1] = launch.grid[2] = 1;
    launch.cluster = b->alone ? 0 : (uint32_t)b->plan->cluster; /* a launch may choose */
    if (launch.cluster) launch.grid[0] *= launch.cluster;
    bool good = programs == 0 || (b->launch ? b->launch : emu_launch)(&launch, &b->arena, &b->report);
    if (!good) fprintf(stderr, "%s\n", b->report.text);
    return good;
}

static inline bool cuda_bench_run(CudaBench *b, int64_t x, int64_t y, int64_t z) {
    int64_t grid[3] = {x, y, z};
    void *entry = cuda_bench_compile(b);
    return entry && cuda_bench_interpret(b, grid) && cuda_bench_emulate(b, entry, grid);
}

/* The largest |got - want| / (bound * (1 + |want|)) over an argument's elements. */
static inline double cuda_bench_error(CudaBench *b, int arg, double bound) {
    const CudaBenchArray *a = &b->arrays[arg];
    double worst = 0;
    for (int64_t i = 0; i < a->count; i++) {
        double want = cuda_bench_get(a->memory[0], a->elem, i),
               got = cuda_bench_get(a->memory[1], a->elem, i);
        double error = fabs(got - want) / (bound * (1 + fabs(want)));
        if (want != want && got != got) continue;
        if (!(error <= worst)) {
            worst = error;
            if (!(error <= 1))
                fprintf(stderr, "  %s[%lld]: got %g, want %g\n", a->name, (long long)i, got, want);
        }
        if (worst > 1 || error != error) return error != error ? 1e30 : worst;
    }
    return worst;
}
#endif
