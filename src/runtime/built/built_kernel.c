/* SPDX-License-Identifier: Apache-2.0 */
/* built_kernel.c: see built_kernel.h.
 *
 * A launch of this process compiles a kernel again, with fewer wishes, when its arguments do not keep what the first
 * one requires (launch.c). A built kernel has all of these with it: the ways to compile it in the order in which a
 * launch would come to them, as far as their texts differ, up to the first that requires nothing. Ways that depend on
 * which argument was the odd one are left to the more general ones behind them. A target with several architectures has
 * all that for each. */
#include "runtime/built/built_kernel.h"

#include <string.h>

/* --- the ways to compile it --- */

static int find_code(Build *b, tw_kernel *k) {
    const char *text = b->kind->text(b, k);
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

/* --- the kernel --- */

static const BuildKind *const kinds[] = {&build_cpu, &build_cuda, &build_hip, &build_folder};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const BuildKind *find_kind(const Target *target) {
    for (int i = 0; i < KINDS; i++)
        if (kinds[i]->target == target) return kinds[i];
    return NULL;
}

static tw_status no_kind(const Build *b, const char *name, const Target *target) {
    Text known = text_new(b->arena);
    for (int i = 0; i < KINDS; i++) text_add(&known, "%s%s", i ? ", " : "", kinds[i]->target->name);
    return context_fail(b->context, TW_ERROR_UNSUPPORTED, "kernel `%s` cannot be built for target %s; it can for %s",
                        name, target->name, known.at);
}

static tw_status check_name(Build *b, const char *name) {
    if (!*name || strcmp(build_c_name(b->arena, name), name) != 0)
        return context_fail(b->context, TW_ERROR_ARGUMENT, "`%s` is no name of a C function" FIX "give it another name",
                            name);
    if (build_is_taken(name))
        return context_fail(b->context, TW_ERROR_ARGUMENT,
                            "the C library has a function `%s`, which the program could not call any more" FIX
                            "give the "
                            "kernel's another name",
                            name);
    return TW_OK;
}

static tw_status compile_all(Build *b, tw_kernel *k, const char *name, const tw_build_options *options) {
    tw_compile_options compile = *options->compile;
    const char *archs[BUILD_ARCHS] = {compile.target};
    int count = 1;
    tw_status status = b->kind && b->kind->archs ? build_archs(b, compile.target, archs, &count) : TW_OK;
    const char *warnings = seat_find(b->context)->warnings;
    compile.stage = TW_STAGE_EMIT;
    for (int i = 0; i < count && status == TW_OK; i++) {
        tw_kernel *first = i ? add_kernel(b) : k;
        compile.target = archs[i];
        status = kernel_compile(first, name, &compile);
        if (!i) warnings = seat_find(b->context)->warnings;
        if (status == TW_OK && !b->kind) status = no_kind(b, first->name, first->target);
        if (status == TW_OK && b->kind->make) status = compile_launches(b, first);
    }
    if (status == TW_OK) seat_find(b->context)->warnings = warnings;
    return status;
}

tw_status build_kernel(Build *b, tw_kernel *k, const char *name, const tw_build_options *options) {
    tw_context *cx = k->context;
    const char *target = options->compile->target;
    *b = (Build){.context = cx, .arena = context_texts(cx), .kernel = k, .isa = options->isa, .name = options->name};
    b->kind = find_kind(target ? target_find(target, NULL) : &target_cpu);
    tw_status status = b->name ? check_name(b, b->name) : TW_OK;
    if (status == TW_OK) status = compile_all(b, k, name, options);
    if (status != TW_OK) return status;
    if (!b->name) b->name = build_c_name(b->arena, k->request->kernel->name);
    if (!b->kind->make) return TW_OK;
    if (!options->name) status = check_name(b, b->name);
    const char *warnings = seat_find(cx)->warnings;
    build_find_params(b);
    b->header = build_declaration(b);
    if (status == TW_OK) status = b->kind->make(b, &b->object, &b->size);
    if (status == TW_OK) seat_find(cx)->warnings = warnings;
    return status;
}
