/* SPDX-License-Identifier: Apache-2.0 */
/* built_object.c: a built kernel as one relocatable object: for target cpu each code compiled for each instruction set,
 * and the entry; for GPUs the entry alone, which has the codes as images in it.
 *
 * Names that several files of it share are hidden and begin with tw_NAME; the pool's is weak and shared by all built
 * kernels that carry the same launcher (launcher.h). So objects of several kernels go into one program. */
#include "runtime/built/built_kernel.h"

#include "runtime/target/cpu_tools.h"

#include <string.h>

typedef struct Isa {
    const char *name, *flag;
    int level; /* what the launcher finds the processor to have, at least */
} Isa;

/* From the widest to what every machine of the kind has. */
static const Isa isas[] = {
#if defined(__x86_64__)
    {"v4", "-march=x86-64-v4", 4},
    {"v3", "-march=x86-64-v3", 3},
    {"baseline", "-march=x86-64", 1},
#elif defined(__aarch64__)
    {"baseline", "-march=armv8-a", 1},
#else
    {"baseline", "-O3", 1},
#endif
};
enum { ISAS = sizeof isas / sizeof *isas };

static tw_status choose_isas(Build *b, bool chosen[ISAS]) {
    Text known = text_new(b->arena);
    const char *names[ISAS];
    for (int i = 0; i < ISAS; i++) {
        names[i] = isas[i].name;
        chosen[i] = !b->isa;
        text_add(&known, "%s%s", i ? ", " : "", names[i]);
    }
    for (const char *at = b->isa; at;) {
        size_t length = strcspn(at, ",");
        int found = -1;
        for (int i = 0; i < ISAS; i++)
            if (text_equal(at, length, isas[i].name)) found = i;
        if (found < 0)
            return context_fail(b->context, TW_ERROR_NOT_FOUND,
                                "`%.*s` is no instruction set to build for on this machine; there are %s", (int)length,
                                at, known.at);
        chosen[found] = true;
        at = at[length] ? at + length + 1 : NULL;
    }
    return TW_OK;
}

/* --- files --- */

typedef VEC(ToolFile) FileList;

static void add_file(Build *b, FileList *files, const char *name, const char *text, bool source) {
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->at[i].path, name) == 0) return;
    *VEC_PUSH(files, b->arena) = (ToolFile){name, text, strlen(text), source};
}

/* The launcher's texts; what they are tells their shared state from that of others. */
static const char *add_launcher(Build *b, FileList *files) {
    static const char *const names[] = {"launcher.h",         "launcher_gpu.h",    "arguments.h",
                                        "built.h",            "base/allocator.h",   "base/scalar_ops.h",
                                        "base/speech_line.h", "runtime/launch/pool.c",
                                        "runtime/launch/pool.h", "base/fiber.c", "base/fiber.h",
                                        "runtime/target/cpu_beside.c", "runtime/target/cpu_beside.h"};
    Digest d;
    char hex[DIGEST_HEX];
    digest_begin(&d);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const EmbeddedFile *file = cpu_embedded("cpu/include/", names[i]);
        digest_add_text(&d, file->text);
        add_file(b, files, names[i], file->text, false);
    }
    digest_end_hex(&d, hex);
    add_file(b, files, "cpu.h", cpu_embedded("cpu/prelude/", "cpu.h")->text, false);
    add_file(b, files, "convert.h", cpu_embedded("cpu/prelude/", "convert.h")->text, false);
    return arena_printf(b->arena, "-DBUILT_SHARED=tw_built_%.12s", hex);
}

static void add_code(Build *b, FileList *files, const char *name, const char *text) {
    ToolFile own[CPU_FILES];
    int count = cpu_files(name, text, own);
    for (int i = 0; i < count; i++) add_file(b, files, own[i].path, own[i].text, false);
}

/* --- commands --- */

typedef VEC(ToolRun) RunList;

static void add_run(Build *b, RunList *runs, const char *const *words, const char *input, const char *output) {
    const char **inputs = ARENA_ARRAY(b->arena, const char *, 2);
    inputs[0] = input;
    *VEC_PUSH(runs, b->arena) = (ToolRun){words, inputs, output};
}

static const char *const *code_words(Build *b, const tw_kernel *k, const char *isa, const char *name) {
    const char **list = ARENA_ARRAY(b->arena, const char *, TOOL_FLAGS);
    cpu_flags(k, cpu_code(k), CPU_OBJECT, list);
    int n = 0;
    while (list[n]) n++;
    list[n++] = isa, list[n++] = "-fvisibility=hidden", list[n++] = "-c";
    list[n++] = arena_printf(b->arena, "-Dtw_run=%s", name);
    return list;
}

static void add_entry(Build *b, FileList *files, RunList *runs, const char *codes, const char *shared) {
    static const char *const flags[] = {
        "-std=gnu11", "-O2", "-w", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-pthread", "-c"};
    enum { FLAGS = sizeof flags / sizeof *flags };
    const char **words = ARENA_ARRAY(b->arena, const char *, FLAGS + 3);
    memcpy(words, flags, sizeof flags);
    words[FLAGS] = isas[ISAS - 1].flag, words[FLAGS + 1] = shared;
    add_file(b, files, "entry.c", build_entry(b, codes), false);
    add_run(b, runs, words, "entry.c", "entry.o");
}

static tw_status make_cpu(Build *b, void **bytes, size_t *size) {
    bool chosen[ISAS];
    Toolchain cc;
    FileList files = {0};
    RunList runs = {0};
    VEC(const char *) objects = {0};
    Text levels = text_new(b->arena);
    int level_count = 0;
    tw_status status = choose_isas(b, chosen);
    if (status == TW_OK) status = cpu_choose_compiler(b->context, b->arena, &cc);
    if (status != TW_OK) return status;
    const char *shared = add_launcher(b, &files);
    for (int i = 0; i < ISAS; i++) {
        if (!chosen[i]) continue;
        text_add(&levels, "%s%d", level_count ? ", " : "", isas[i].level);
        for (size_t c = 0; c < b->codes.count; c++) {
            const tw_kernel *k = b->codes.at[c];
            const char *input = arena_printf(b->arena, "code_%zu.c", c);
            const char *name = arena_printf(b->arena, "tw_%s_%zu_%d", b->name, c, level_count);
            const char *output = arena_printf(b->arena, "%s.o", name);
            add_code(b, &files, input, cpu_code(k)->text);
            add_run(b, &runs, code_words(b, k, isas[i].flag, name), input, output);
            *VEC_PUSH(&objects, b->arena) = output;
        }
        level_count++;
    }
    add_entry(b, &files, &runs, build_cpu_codes(b, levels.at, level_count), shared);
    *VEC_PUSH(&objects, b->arena) = "entry.o";
    *VEC_PUSH(&objects, b->arena) = NULL;
    static const char *const join_words[] = {"-r", "-nostdlib", NULL};
    *VEC_PUSH(&runs, b->arena) = (ToolRun){join_words, objects.at, "kernel.o"};
    return toolchain_make(b->context, &cc, files.at, (int)files.count, runs.at, (int)runs.count, bytes, size);
}

tw_status build_entry_object(Build *b, const char *codes, void **bytes, size_t *size) {
    Toolchain cc;
    FileList files = {0};
    RunList runs = {0};
    tw_status status = cpu_choose_compiler(b->context, b->arena, &cc);
    if (status != TW_OK) return status;
    add_entry(b, &files, &runs, codes, add_launcher(b, &files));
    return toolchain_make(b->context, &cc, files.at, (int)files.count, runs.at, (int)runs.count, bytes, size);
}

static const char *cpu_text(const Build *b, tw_kernel *k) {
    (void)b;
    return cpu_code(k)->text;
}

static tw_status check_cpu(tw_kernel *k) {
    (void)k;
    return TW_OK;
}

static void add_cpu_way(Text *t, int code, const char *fits) {
    text_add(t, "    if (%s) return built_launch(&kernel, &code_%d, w, g, options);\n", fits, code);
}

const BuildKind build_cpu = {
    .target = &target_cpu,
    .last_type = "const tw_built_options *",
    .last = "options",
    .about = "Runs the kernel; back when it is done.",
    .begin = "    if (!built_options_ok(options)) return TW_BUILT_OPTIONS;\n",
    .choose = "    status = TW_BUILT_REQUIRE;\n",
    .way = add_cpu_way,
    .text = cpu_text,
    .check = check_cpu,
    .make = make_cpu,
};
