/* built_kernel.c: see built_kernel.h.
 *
 * A launch of this process compiles a kernel again, with fewer wishes, when its arguments do not keep what the first
 * one requires (launch.c). A built kernel has all of these with it: the ways to compile it in the order in which a
 * launch would come to them, as far as their texts differ, up to the first that requires nothing. Ways that depend on
 * which argument was the odd one are left to the more general ones behind them. */
#include "runtime/built/built_kernel.h"

#include "runtime/compile/cache.h"
#include "runtime/target/cpu_tools.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the ways to compile it --- */

static int find_code(Build *b, const tw_kernel *k) {
    for (size_t i = 0; i < b->codes.count; i++)
        if (strcmp(cpu_code(b->codes.at[i])->text, cpu_code(k)->text) == 0) return (int)i;
    *VEC_PUSH(&b->codes, b->arena) = k;
    return (int)b->codes.count - 1;
}

static void add_variant(Build *b, BuildLaunch *launch, tw_kernel *k) {
    if (k->never) return; /* what it requires cannot be tested */
    BuildVariant v = {k, find_code(b, k), build_fits(k, b->arena)};
    for (size_t i = 0; i < launch->variants.count; i++)
        if (launch->variants.at[i].code == v.code && strcmp(launch->variants.at[i].fits, v.fits) == 0) return;
    *VEC_PUSH(&launch->variants, b->arena) = v;
}

static bool is_closed(const BuildLaunch *launch) { /* the last one always runs */
    size_t count = launch->variants.count;
    return count && !*launch->variants.at[count - 1].fits;
}

static tw_status compile_variant(Build *b, tw_kernel *from, int generic, bool overlap, tw_kernel **out) {
    tw_kernel *last = b->kernel;
    CompileRequest *request = arena_copy(&from->arena, from->request, sizeof *request);
    request->generic = generic;
    request->overlap = overlap;
    while (last->next) last = last->next;
    last->next = kernel_new(from->origin);
    *out = last->next;
    tw_status status = kernel_compile_request(*out, request);
    return status == TW_OK ? kernel_prepare_launch(*out, request->kernel) : status;
}

static tw_status compile_variants(Build *b, BuildLaunch *launch, tw_kernel *first) {
    tw_status status = kernel_prepare_launch(first, first->request->kernel);
    launch->kernel = first;
    if (status == TW_OK) add_variant(b, launch, first);
    for (int generic = REQUIRE_ALL; generic <= REQUIRE_NOTHING; generic++)
        for (int overlap = 0; overlap < 2; overlap++) {
            tw_kernel *k = NULL;
            if (status != TW_OK || is_closed(launch)) return status;
            if (generic == REQUIRE_ALL && !overlap) continue; /* the first */
            status = compile_variant(b, first, generic, overlap, &k);
            if (status == TW_OK && k->slot_count != first->slot_count)
                ice(&b->context->trap, "variants of kernel %s differ in their parameters", first->name);
            if (status == TW_OK) add_variant(b, launch, k);
        }
    return status;
}

static tw_status check_buildable(const tw_kernel *k) {
    if (k->target != &target_cpu)
        return context_fail(k->context, TW_ERROR_UNSUPPORTED,
                            "kernel `%s`: objects are built for target cpu; for target %s its emitted source can be "
                            "taken along and compiled with that target's own tools",
                            k->name, k->target->name);
    for (; k; k = k->next)
        if (cpu_code(k)->has_workers)
            return context_fail(k->context, TW_ERROR_UNSUPPORTED,
                                "kernel `%s` has workers that run side by side as they are written, which a built "
                                "kernel has no launcher for; launch it with the library",
                                k->name);
    return TW_OK;
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
    tw_status status = name_files(&b, options->path);
    if (status == TW_OK) status = kernel_compile(k, name, &compile);
    if (status == TW_OK) status = check_buildable(k);
    const char *warnings = seat_find(cx)->warnings;
    int launches = k->sequence.launches > 1 ? k->sequence.launches : 1;
    tw_kernel *at = k;
    for (int l = 0; l < launches && status == TW_OK; l++, at = at->next) {
        BuildLaunch *launch = VEC_PUSH(&b.launches, b.arena);
        *launch = (BuildLaunch){0};
        status = compile_variants(&b, launch, at);
    }
    if (status != TW_OK) return status;
    b.name = options->name ? options->name : build_c_name(b.arena, k->request->kernel->name);
    build_find_params(&b);
    void *object = NULL;
    size_t size = 0;
    const char *header = build_header(&b);
    status = build_object(&b, &object, &size);
    if (status == TW_OK) status = write_files(&b, header, object, size);
    if (object) munmap(object, size);
    if (status == TW_OK) seat_find(cx)->warnings = warnings;
    return status;
}
