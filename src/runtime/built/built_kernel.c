/* built_kernel.c: see built_kernel.h.
 *
 * A launch of this process compiles a kernel again, with fewer wishes, when its arguments do not keep what the first
 * one requires (launch.c). A built kernel has all of these with it: the ways to compile it in the order in which a
 * launch would come to them, as far as their texts differ, up to the first that requires nothing. Ways that depend on
 * which argument was the odd one are left to the more general ones behind them. A target with several architectures has
 * all that for each. */
#include "runtime/built/built_kernel.h"

#include "runtime/compile/cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the ways to compile it --- */

static int find_code(Build *b, tw_kernel *k) {
    const char *text = b->kind->text(k);
    for (size_t i = 0; i < b->codes.count; i++)
        if (strcmp(b->texts.at[i], text) == 0) return (int)i;
    *VEC_PUSH(&b->codes, b->arena) = k;
    *VEC_PUSH(&b->texts, b->arena) = text;
    return (int)b->codes.count - 1;
}

static void add_variant(Build *b, BuildLaunch *launch, tw_kernel *k) {
    if (k->never) return; /* what it requires cannot be tested */
    BuildVariant v = {k, find_code(b, k), build_fits(k, b->arena)};
    for (size_t i = launch->from; i < launch->variants.count; i++)
        if (launch->variants.at[i].code == v.code && strcmp(launch->variants.at[i].fits, v.fits) == 0) return;
    *VEC_PUSH(&launch->variants, b->arena) = v;
}

static bool is_closed(const BuildLaunch *launch) { /* the last one of the architecture always runs */
    size_t count = launch->variants.count;
    return count > launch->from && !*launch->variants.at[count - 1].fits;
}

/* A kernel that hangs on the first one. */
static tw_kernel *add_kernel(Build *b) {
    tw_kernel *last = b->kernel;
    while (last->next) last = last->next;
    return last->next = kernel_new(b->kernel->origin);
}

static tw_status prepare(Build *b, tw_kernel *k) {
    tw_status status = kernel_prepare_launch(k, k->request->kernel);
    return status == TW_OK ? b->kind->check(k) : status;
}

static tw_status compile_variant(Build *b, tw_kernel *from, int generic, bool overlap, tw_kernel **out) {
    CompileRequest *request = arena_copy(&from->arena, from->request, sizeof *request);
    request->generic = generic;
    request->overlap = overlap;
    *out = add_kernel(b);
    tw_status status = kernel_compile_request(*out, request);
    return status == TW_OK ? prepare(b, *out) : status;
}

static tw_status compile_variants(Build *b, BuildLaunch *launch, tw_kernel *first) {
    tw_status status = prepare(b, first);
    if (!launch->kernel) launch->kernel = first;
    launch->from = launch->variants.count;
    if (status == TW_OK) add_variant(b, launch, first);
    for (int generic = REQUIRE_ALL; generic <= REQUIRE_NOTHING; generic++)
        for (int overlap = 0; overlap < 2; overlap++) {
            tw_kernel *k = NULL;
            if (status != TW_OK || is_closed(launch)) return status;
            if (generic == REQUIRE_ALL && !overlap) continue; /* the first */
            status = compile_variant(b, first, generic, overlap, &k);
            if (status == TW_OK && k->slot_count != launch->kernel->slot_count)
                ice(&b->context->trap, "variants of kernel %s differ in their parameters", first->name);
            if (status == TW_OK) add_variant(b, launch, k);
        }
    return status;
}

/* All launches of the kernel that was compiled. */
static tw_status compile_launches(Build *b, tw_kernel *k) {
    size_t count = k->sequence.launches > 1 ? (size_t)k->sequence.launches : 1;
    tw_status status = TW_OK;
    for (size_t l = 0; l < count && status == TW_OK; l++, k = k->next) {
        if (l == b->launches.count) *VEC_PUSH(&b->launches, b->arena) = (BuildLaunch){0};
        status = compile_variants(b, &b->launches.at[l], k);
    }
    return status;
}

static tw_status check_target(const Build *b, const tw_kernel *k) {
    if (k->target == b->kind->target) return TW_OK;
    return context_fail(b->context, TW_ERROR_UNSUPPORTED,
                        "kernel `%s`: objects are built for targets cpu and cuda; for target %s its emitted source can "
                        "be taken along and compiled with that target's own tools",
                        k->name, k->target->name);
}

/* --- files --- */

static tw_status cannot_write(tw_context *cx, const char *path, int why) {
    return context_fail(cx, TW_ERROR_IO, "%s cannot be written: %s", path, strerror(why));
}

static tw_status name_files(Build *b, const char *path) {
    static const char *const endings[] = {".o", ".h"};
    for (int i = 0; i < 2; i++) {
        struct stat info;
        b->places[i] = arena_printf(b->arena, "%s%s", path, endings[i]);
        b->parts[i] = arena_printf(b->arena, "%s.part", b->places[i]);
        if (stat(b->places[i], &info) == 0 && !S_ISREG(info.st_mode))
            return cannot_write(b->context, b->places[i], S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
    }
    return TW_OK;
}

/* Both, or none. */
static tw_status write_files(const Build *b, const char *header, const void *object, size_t size) {
    const char *const *places = b->places, *const *parts = b->parts;
    const void *data[] = {object, header};
    const size_t sizes[] = {size, strlen(header)};
    tw_status status = TW_OK;
    int made = 0;
    for (; made < 2 && status == TW_OK; made++)
        if (!file_replace(parts[made], data[made], sizes[made], 0666))
            status = cannot_write(b->context, places[made], errno);
    for (int i = 0; i < made; i++) {
        if (status == TW_OK && rename(parts[i], places[i]) != 0) status = cannot_write(b->context, places[i], errno);
        if (status != TW_OK) unlink(parts[i]);
    }
    return status;
}

tw_status build_kernel(tw_kernel *k, const char *name, const tw_build_options *options) {
    tw_context *cx = k->context;
    Build b = {.context = cx, .arena = context_texts(cx), .kernel = k, .isa = options->isa};
    tw_compile_options compile = *options->compile;
    compile.stage = TW_STAGE_EMIT;
    if (options->name && (!*options->name || strcmp(build_c_name(b.arena, options->name), options->name) != 0))
        return context_fail(cx, TW_ERROR_ARGUMENT, "`%s` is no name of a C function", options->name);
    const char *archs[BUILD_ARCHS] = {compile.target};
    int count = 1;
    b.kind = compile.target && target_find(compile.target, NULL) == &target_cuda ? &build_cuda : &build_cpu;
    tw_status status = name_files(&b, options->path);
    if (status == TW_OK && b.kind == &build_cuda) status = build_cuda_archs(&b, compile.target, archs, &count);
    const char *warnings = seat_find(cx)->warnings;
    for (int i = 0; i < count && status == TW_OK; i++) {
        tw_kernel *first = i ? add_kernel(&b) : k;
        compile.target = archs[i];
        status = kernel_compile(first, name, &compile);
        if (!i) warnings = seat_find(cx)->warnings;
        if (status == TW_OK) status = check_target(&b, first);
        if (status == TW_OK) status = compile_launches(&b, first);
    }
    if (status != TW_OK) return status;
    b.name = options->name ? options->name : build_c_name(b.arena, k->request->kernel->name);
    build_find_params(&b);
    void *object = NULL;
    size_t size = 0;
    const char *header = build_header(&b);
    status = b.kind->object(&b, &object, &size);
    if (status == TW_OK) status = write_files(&b, header, object, size);
    if (object) munmap(object, size);
    if (status == TW_OK) seat_find(cx)->warnings = warnings;
    return status;
}
