/* SPDX-License-Identifier: Apache-2.0 */
/* api_build.c: public entries: kernels that are built ahead of time. */
#include "runtime/api/api.h"

#include "runtime/built/built_kernel.h"

#include <string.h>
#include <sys/mman.h>

typedef struct BuildCall {
    const tw_build_item *items; /* the callers' options and compile options are taken over, one for each */
    tw_build_options *options;
    tw_compile_options *compile;
    size_t count, at; /* at: the item that is at work */
    const char *path; /* of an archive; NULL: of an object, which the options say */
    tw_kernel **kernels;
    Build *builds;
} BuildCall;

static const char *take_item(tw_context *cx, BuildCall *c, size_t i) {
    const tw_build_item *item = &c->items[i];
    if (!item->module) return "an item has no module";
    if (item->module->context != cx) return "the modules of all items are of one context";
    if (!api_take_options(&c->options[i], sizeof *c->options, item->options)) return api_bad_struct;
    const char *wrong = api_take_compile_options(&c->compile[i], c->options[i].compile);
    c->options[i].compile = &c->compile[i];
    const char *path = c->path ? c->path : c->options[i].path;
    return !wrong && (!path || !*path) ? "path says where the files go" : wrong;
}

/* Two functions of one name, or one and another's NAME_error. */
static tw_status check_names(tw_context *cx, const BuildCall *c) {
    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < c->count; j++) {
            const char *a = c->builds[i].name, *b = c->builds[j].name;
            size_t length = strlen(a);
            bool same = i < j && strcmp(a, b) == 0;
            bool error = strncmp(a, b, length) == 0 && strcmp(b + length, "_error") == 0;
            if (same || error)
                return context_fail(cx, TW_ERROR_ARGUMENT,
                                    "two functions would be called `%s`" FIX "give one of the kernels another name", b);
        }
    return TW_OK;
}

static tw_status make_body(tw_context *cx, void *user) {
    BuildCall *c = user;
    Text warnings = text_new(context_texts(cx));
    for (c->at = 0; c->at < c->count; c->at++) {
        const tw_build_item *item = &c->items[c->at];
        tw_kernel *k = c->kernels[c->at] = kernel_new(item->module);
        Build *b = &c->builds[c->at];
        tw_status status = build_kernel(b, k, item->kernel, &c->options[c->at]);
        if (status == TW_OK && c->path && !b->kind->make)
            status = context_fail(cx, TW_ERROR_UNSUPPORTED,
                                  "kernel `%s` is a folder of sources for target %s, and cannot be part of an archive",
                                  k->name, b->kind->target->name);
        if (status != TW_OK) return status;
        text_add(&warnings, "%s", seat_find(cx)->warnings);
    }
    seat_find(cx)->warnings = warnings.at;
    c->at = 0;
    if (!c->path) return build_write(c->builds, c->options);
    tw_status status = check_names(cx, c);
    return status == TW_OK ? build_write_all(cx, c->builds, c->count, c->path) : status;
}

static tw_status build_body(tw_context *cx, void *user) {
    BuildCall *c = user;
    const char *wrong = NULL;
    Arena *arena = context_texts(cx);
    c->options = ARENA_ARRAY(arena, tw_build_options, c->count);
    c->compile = ARENA_ARRAY(arena, tw_compile_options, c->count);
    c->kernels = ARENA_ARRAY(arena, tw_kernel *, c->count);
    c->builds = ARENA_ARRAY(arena, Build, c->count);
    for (c->at = 0; c->at < c->count && !wrong; c->at++) wrong = take_item(cx, c, c->at);
    if (!wrong) return make_body(cx, c);
    c->at--;
    return api_misuse(cx, wrong);
}

static tw_status run_build(tw_context *cx, BuildCall *c, size_t *failed) {
    tw_status status = api_guarded(cx, build_body, c);
    for (size_t i = 0; i < c->count && c->builds; i++) {
        if (c->builds[i].object) munmap(c->builds[i].object, c->builds[i].size);
        tw_kernel_destroy(c->kernels[i]);
    }
    if (failed) *failed = c->at < c->count ? c->at : 0;
    return status;
}

tw_status tw_build(tw_module *m, const char *name, const tw_build_options *options) {
    if (!m || !options) return api_absent(API_CONTEXT_OF(m));
    const tw_build_item item = {m, name, options};
    return run_build(m->context, &(BuildCall){.items = &item, .count = 1}, NULL);
}

tw_status tw_build_all(tw_context *cx, const tw_build_item *items, size_t count, const char *path, size_t *failed) {
    if (failed) *failed = 0;
    if (!cx || !items || !path) return api_absent(cx);
    if (!count || !*path) return api_misuse(cx, count ? "path says where the files go" : "there are no items");
    return run_build(cx, &(BuildCall){.items = items, .count = count, .path = path}, failed);
}
