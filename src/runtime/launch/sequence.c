/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.c: kernels that are several launches, one after the other (a TileLang function with more than one T.Kernel).
 *
 * Each launch is a kernel of its own, compiled from the same source with the same arguments; the first one is what the
 * caller holds, and leads to the others. Memory that they share (FrontSequence.spaces) belongs to the first. Runs in
 * one queue come one after the other and share a set of it; another queue gets its own when it is first seen, so that
 * a launch that has been seen allocates nothing. */
#include "runtime/runtime.h"

#include "runtime/target/target.h"

#include <string.h>

/* --- compile --- */

static bool has_artifact(const tw_kernel *k, const char *name) {
    for (size_t i = 0; i < k->artifacts.count; i++)
        if (strcmp(k->artifacts.at[i].name, name) == 0) return true;
    return false;
}

static bool is_shared(const tw_kernel *k, const Artifact *a) {
    for (size_t i = 0; i < k->artifacts.count; i++) {
        const Artifact *b = &k->artifacts.at[i];
        if (strcmp(a->name, b->name) == 0 && a->size == b->size && memcmp(a->text, b->text, a->size) == 0) return true;
    }
    return false;
}

/* What is known of a launch is shown by the first one: files, steps, findings. */
static void tell_all(tw_kernel *k, const tw_kernel *other) {
    for (size_t i = 0; i < other->artifacts.count; i++) {
        Artifact a = other->artifacts.at[i];
        if (is_shared(k, &a)) continue; /* the prelude */
        const char *dot = strrchr(a.name, '.');
        if (has_artifact(k, a.name)) /* plan.json, plan_2.json */
            a.name = arena_printf(&k->arena, "%.*s_%d%s", (int)(dot ? dot - a.name : (int)strlen(a.name)), a.name,
                                  other->request->launch + 1, dot ? dot : "");
        *VEC_PUSH(&k->artifacts, &k->arena) = a;
    }
    for (size_t i = 0; i < other->steps.count; i++) *VEC_PUSH(&k->steps, &k->arena) = other->steps.at[i];
    k->explain = arena_printf(&k->arena, "%s%s", k->explain, other->explain);
    Text json = text_new(&k->arena);
    size_t before = k->pass.findings.count;
    for (size_t i = 0; i < other->pass.findings.count; i++)
        *VEC_PUSH(&k->pass.findings, &k->arena) = other->pass.findings.at[i];
    findings_json(&json, k->pass.findings.at, k->pass.findings.count, k->sources);
    k->pass.findings.count = before;
    k->explain_json = json.at;
    if (other->product_bits < k->product_bits) k->product_bits = other->product_bits;
}

tw_status sequence_compile(tw_kernel *k) {
    tw_kernel *last = k;
    for (int i = 1; i < k->sequence.launches; i++) {
        CompileRequest *request = arena_copy(&k->arena, k->request, sizeof *request);
        request->launch = i;
        last->next = kernel_new(k->origin);
        last = last->next;
        last->head = k;
        tw_status status = kernel_compile_request(last, request);
        if (status != TW_OK) return status;
    }
    if (k->target->sequence && k->code) k->target->sequence(k);
    for (const tw_kernel *other = k->next; other; other = other->next) tell_all(k, other);
    return TW_OK;
}

/* --- memory --- */

static tw_status make_spaces(tw_kernel *k, tw_buffer **at) {
    for (size_t i = 0; i < k->sequence.spaces.count; i++) {
        const FrontSpace *space = &k->sequence.spaces.at[i];
        tw_buffer_options options = {
            .struct_size = sizeof options, .target = k->target->name, .device = k->target->memory ? k->device : 0};
        tw_status status = buffer_make(k->context, dtype_of_elem(space->elem), space->rank, space->extent, &options,
                                       &at[i]);
        if (status == TW_ERROR_MEMORY && !options.device && !k->target->memory) {
            Text shown = text_new(context_texts(k->context));
            buffer_show(at[i], &shown);
            return context_fail(k->context, status, "out of memory: kernel `%s` states %s for itself, %zu bytes",
                                k->name, shown.at, at[i]->size);
        }
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

static void drop_spaces(const tw_kernel *k, SpaceSet *set) {
    for (size_t i = 0; i < k->sequence.spaces.count; i++) tw_buffer_destroy(set->at[i]), set->at[i] = NULL;
    set->whole = false;
}

/* The spaces for a run in that queue. What an attempt without memory left, also one that ended in a throw, goes
 * first. */
static tw_status take_spaces(tw_kernel *k, const tw_stream *stream) {
    void *queue = stream && stream->queue ? stream->queue : stream ? stream->native : NULL;
    size_t count = k->sequence.spaces.count, at = 0;
    if (!count) return TW_OK;
    while (at < k->spaces.count && k->spaces.at[at].queue != queue) at++;
    if (at == k->spaces.count) {
        tw_buffer **made = ARENA_ARRAY(&k->arena, tw_buffer *, count);
        *VEC_PUSH(&k->spaces, &k->arena) = (SpaceSet){queue, made, false};
    }
    SpaceSet *set = &k->spaces.at[at];
    if (!set->whole) {
        drop_spaces(k, set);
        tw_status status = make_spaces(k, set->at);
        if (status != TW_OK) {
            drop_spaces(k, set);
            return status;
        }
        set->whole = true;
    }
    for (size_t i = 0; i < count; i++) set->at[i]->unwritten = k->sanitize;
    k->space = set->at;
    return TW_OK;
}

void sequence_destroy(tw_kernel *k) {
    for (size_t s = 0; s < k->spaces.count; s++) drop_spaces(k, &k->spaces.at[s]);
}

/* --- launch --- */

tw_status sequence_launch(tw_kernel *k, LaunchRequest *request) {
    const tw_launch_options *how = &request->how;
    if ((how->grid || how->first || how->programs) && k->next)
        return context_fail(k->context, TW_ERROR_ARGUMENT,
                            "kernel `%s` is %d launches, each with a grid of its own" FIX "leave the grid out", k->name,
                            k->sequence.launches);
    tw_status status = take_spaces(k, how->stream);
    if (!request->reached) request->reached = k;
    while (request->reached && status == TW_OK) {
        status = kernel_launch(request->reached, request);
        if (request->lacking) break;
        request->reached = request->reached->next;
    }
    return status;
}
