/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_tools.c: see cpu_tools.h. */
#include "runtime/target/cpu_tools.h"

#include "runtime/compile/cache.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if defined(__aarch64__)
#define NATIVE "-mcpu=native"
#define OWN    "-mno-outline-atomics", /* those are functions of libgcc, which is not linked */
#else
#define NATIVE "-march=native"
#define OWN
#endif
#define FLAGS                                                                                          \
    "-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w", "-fPIC",  \
        "-fno-strict-aliasing", "-fno-strict-overflow", OWN "-pipe"
/* Without start files and libraries the link is twice as fast; what the compiler calls on its own
 * (memcpy) the process has. */
#define LIBRARY NATIVE, "-shared", "-nostdlib"
const char *const cpu_plain_flags[] = {FLAGS, LIBRARY, NULL};
static const char *const libm_flags[] = {FLAGS, LIBRARY, "-Wl,--no-as-needed", "-lm", NULL};
static const char *const object_flags[] = {FLAGS, NULL};
static const char *const product_flags[] = {FLAGS, NATIVE, "-c", "-ffunction-sections", NULL};
static const char *const prelude_names[] = {"cpu.h",   "convert.h", "integer.h", "functions.h", "vmath.h",   "dot.h",
                                            "tiles.h", "gemm.h",    "sort.h",    "scan.h",      "indices.h", "turn.h",
                                            "special.h", "workers.h"};
enum { PRELUDES = sizeof prelude_names / sizeof *prelude_names };
_Static_assert((int)CPU_FILES > (int)PRELUDES, "a text and all its preludes");

/* What keeps the compiler from wider vectors; AVX-512 and AVX are optional on x86. */
static const char *narrow_flag(int vector_bits) {
#if defined(__x86_64__)
    if (vector_bits && vector_bits < 512) return vector_bits < 256 ? "-mno-avx" : "-mno-avx512f";
#endif
    (void)vector_bits;
    return NULL;
}

/* Behind that the compiler's time grows with the square: a text of 400 kB takes 17 s, without its dearest passes 4. */
enum { LONG_TEXT = 200000 };

/* What is the same for a kernel and the products that it is linked with. */
static int add_kind(const tw_kernel *k, const char **list, int n) {
    if (k->bf16_wide) list[n++] = "-DTW_BF16_WIDE";
    list[n] = narrow_flag(k->vector_bits);
    return n + (list[n] != NULL);
}

/* Without AVX, fma is a function of libm. */
const char *const *cpu_flags(const tw_kernel *k, const CpuCode *code, CpuForm form, const char **list) {
    bool object = form == CPU_OBJECT, libm = code->uses_libm || narrow_flag(k->vector_bits);
    const char *const *all = object ? object_flags : libm ? libm_flags : cpu_plain_flags;
    int n = 0;
    /* What a source brings must be declared: C would take it for a function that gives an int. And a function of it is
     * meant, not one of that name that the process has. */
    for (; all[n]; n++) {
        bool quiet = code->has_externs && strcmp(all[n], "-w") == 0;
        list[n] = quiet ? "-Werror=implicit-function-declaration" : all[n];
    }
    if (code->has_externs && !object) list[n++] = "-Wl,-Bsymbolic";
    if (form == CPU_APART) {
        list[n++] = "-DTW_PRODUCTS_APART";
        list[n++] = "-Wl,--gc-sections"; /* of them it takes what it calls */
    }
    if (strlen(code->text) > LONG_TEXT) {
        list[n++] = "-O1";
        list[n++] = "-ftree-vectorize";
    }
    list[add_kind(k, list, n)] = NULL;
    return list;
}

const EmbeddedFile *cpu_embedded(const char *folder, const char *name) {
    size_t length = strlen(folder);
    for (const EmbeddedFile *file = embedded_files; file->path; file++)
        if (strncmp(file->path, folder, length) == 0 && strcmp(file->path + length, name) == 0) return file;
    return NULL;
}

static const EmbeddedFile *prelude(const char *name) { return cpu_embedded("cpu/prelude/", name); }

/* --- compiler --- */

static const char *const candidates[] = {"gcc", "clang", "cc", NULL};
const ToolKind cpu_compiler = {"C", "CC", candidates, "target cpu", ", or use target interp"};

CpuState *cpu_state(tw_context *cx) {
    void **slot = &cx->target_state[target_index(&target_cpu)];
    if (!*slot) *slot = ARENA_NEW(&cx->arena, CpuState);
    return *slot;
}

/* What the processor can do, as /proc/cpuinfo says it for the first one. */
static void add_processor(Digest *d) {
    char text[16384];
    int64_t n = file_read("/proc/cpuinfo", text, sizeof text - 1);
    if (n <= 0) return;
    text[n] = 0;
    static const char *const keys[] = {"model name", "flags", "Features", "CPU part", "CPU implementer"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *line = strstr(text, keys[i]);
        if (line) digest_add(d, line, strcspn(line, "\n"));
    }
}

int cpu_files(const char *name, const char *text, ToolFile files[CPU_FILES]) {
    bool wanted[PRELUDES] = {false};
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < PRELUDES; i++) {
            char line[40];
            snprintf(line, sizeof line, "#include \"%s\"", prelude_names[i]);
            bool asked = strstr(text, line) != NULL;
            for (int j = 0; j < PRELUDES && !asked; j++)
                asked = wanted[j] && strstr(prelude(prelude_names[j])->text, line);
            more = more || (asked && !wanted[i]);
            wanted[i] = wanted[i] || asked;
        }
    }
    int count = 0;
    for (int i = 0; i < PRELUDES; i++) {
        const EmbeddedFile *file = prelude(prelude_names[i]);
        if (wanted[i]) files[count++] = (ToolFile){prelude_names[i], file->text, file->size, false};
    }
    files[count++] = (ToolFile){name, text, strlen(text), true};
    return count;
}

void cpu_key(const Toolchain *cc, const char *const *flags, const ToolFile *files, int count,
             char hex[DIGEST_HEX]) {
    Digest d;
    digest_begin(&d);
    digest_add_text(&d, "cpu");
    digest_add_text(&d, tw_version());
    for (int i = 0; i < count; i++) digest_add_text(&d, files[i].text);
    if (cc)
        toolchain_digest(cc, flags, &d);
    else
        for (int i = 0; flags[i]; i++) digest_add_text(&d, flags[i]);
    add_processor(&d);
    digest_end_hex(&d, hex);
}

bool cpu_products(const tw_kernel *k, const Toolchain *cc, char path[CACHE_PATH]) {
    static const char text[] = "#define TW_PRODUCTS_HERE\n#include \"gemm.h\"\n";
    const char *flags[TOOL_FLAGS];
    ToolFile files[CPU_FILES];
    char hex[DIGEST_HEX];
    int n = 0, count = cpu_files("products.c", text, files);
    for (; product_flags[n]; n++) flags[n] = product_flags[n];
    flags[add_kind(k, flags, n)] = NULL;
    cpu_key(cc, flags, files, count, hex);
    return toolchain_object(k->context, cc, flags, files, count, hex, path);
}

/* The compiler makes prelude/selftest.h, which must find all well. Done before the first kernel is
 * compiled; the digest of the last one that passed stays with the context, and the compiled test
 * in the cache. */
static tw_status test_compiler(tw_context *cx, const Toolchain *cc) {
    ToolFile files[CPU_FILES];
    char hex[DIGEST_HEX], *passed = cpu_state(cx)->passed;
    int room[32] = {0}, count = cpu_files("selftest.c", prelude("selftest.h")->text, files);
    cpu_key(cc, cpu_plain_flags, files, count, hex);
    if (strcmp(passed, hex) == 0) return TW_OK;
    void *library = NULL;
    tw_status status = toolchain_build(cx, cc, cpu_plain_flags, files, count, hex, &library);
    if (status == TW_ERROR_IO || status == TW_ERROR_MEMORY) return status; /* not the compiler's fault */
    if (status != TW_OK)
        return context_fail(cx, status,
                            "%s\nthe C compiler `%s` fails the self-test of what kernels are "
                            "written in" FIX "set CC to gcc or clang, or use target interp",
                            context_said(cx), cc->words[0]);
    int (*test)(int *room) = NULL;
    void *symbol = dlsym(library, "tw_self_test");
    memcpy(&test, &symbol, sizeof test);
    int wrong = test ? test(room) : -1;
    dlclose(library);
    if (wrong)
        return context_fail(cx, TW_ERROR_UNAVAILABLE,
                            "the C compiler `%s` makes wrong code of vector types (check %d of the "
                            "self-test)" FIX "set CC to gcc or clang, or use target interp",
                            cc->words[0], wrong);
    memcpy(passed, hex, DIGEST_HEX);
    return TW_OK;
}

/* Where the disk is what failed, another one would fail too. */
tw_status cpu_choose_compiler(tw_context *cx, Arena *arena, Toolchain *cc) {
    CpuState *state = cpu_state(cx);
    Text failures = text_new(arena);
    for (int from = state->first; toolchain_find(cx, arena, &cpu_compiler, from, cc); from = cc->candidate + 1) {
        tw_status status = test_compiler(cx, cc);
        if (status == TW_OK || status == TW_ERROR_IO || cc->candidate == TOOL_GIVEN) {
            if (status == TW_OK && cc->candidate != TOOL_GIVEN) state->first = cc->candidate;
            return status;
        }
        text_add(&failures, "%s%s", failures.length ? "\n" : "", context_said(cx));
    }
    if (!failures.length) return TW_ERROR_UNAVAILABLE;
    return context_fail(cx, TW_ERROR_UNAVAILABLE, "%s\nno other C compiler is in PATH" FIX "install gcc or clang",
                        failures.at);
}
