/* SPDX-License-Identifier: Apache-2.0 */
/* command_bench.c: `bench` times a kernel over shapes and on targets, beside what the machine can do: how fast it
 * copies, and how many operations a second its products do, both measured here (probe.c). A launch takes at least
 * as long as its bytes by the one, or its operations by the other; `of bound` is that time's share of the measured.
 *
 * Bytes are those of all arrays, each once, unless --bytes says it; operations are what --flops says. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 8, MOST_ROWS = 1000 };

typedef struct Bench {
    const Options *o;
    const char *target;
    Peaks peaks; /* of the target */
    bool header;
    Json json;
} Bench;

/* How many values a list "1,2,3" has, and the i-th as a text of its own. */
static size_t list_count(const char *list) {
    size_t count = 1;
    for (; *list; list++) count += *list == ',';
    return count;
}

static char *list_item(const char *list, size_t i) {
    for (; i; i--) list += strcspn(list, ",") + 1;
    return copy_bytes(list, strcspn(list, ","));
}

size_t combination_count(const Pairs *axes) {
    size_t count = 1;
    for (size_t a = 0; a < axes->count && count <= MOST_ROWS; a++) count *= list_count(axes->at[a].value);
    return count;
}

void combination_take(const Pairs *axes, size_t number, Pairs *out) {
    out->count = axes->count;
    out->at = get_memory((axes->count + 1) * sizeof *out->at);
    for (size_t a = axes->count; a-- > 0;) { /* the last one varies fastest */
        size_t many = list_count(axes->at[a].value);
        out->at[a] = (tw_pair){axes->at[a].name, list_item(axes->at[a].value, number % many)};
        number /= many;
    }
}

void combination_free(Pairs *pairs) {
    for (size_t i = 0; i < pairs->count; i++) free((char *)(uintptr_t)pairs->at[i].value);
    free(pairs->at);
    *pairs = (Pairs){0};
}

Pairs pairs_join(const Pairs *first, const Pairs *second) {
    Pairs all = {get_memory((first->count + second->count + 1) * sizeof *all.at), first->count + second->count};
    if (first->count) memcpy(all.at, first->at, first->count * sizeof *all.at);
    if (second->count) memcpy(all.at + first->count, second->at, second->count * sizeof *all.at);
    return all;
}

/* --- rows --- */

/* What an option says, or -1 where it is not given; status where it is wrong. */
static double amount(const Session *s, const char *option, const char *text, int *status) {
    char where[200];
    const char *rest;
    int64_t value = -1;
    if (!text) return -1;
    snprintf(where, sizeof where, "%s %s", option, text);
    if (!evaluate(where, text, &s->names, &value, &rest))
        *status = 1;
    else if (*rest || value < 0)
        *status = fail("%s: one number of at least 0 is expected", where);
    return (double)value;
}

static double array_bytes(const Session *s) {
    double bytes = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->arguments[i].host)
            bytes += (double)tw_buffer_elements(s->arguments[i].host) *
                     (double)tw_dtype_size(tw_buffer_dtype(s->arguments[i].host));
    return bytes;
}

static int32_t product_dtype(const Session *s) {
    for (size_t i = 0; i < s->count; i++) {
        int32_t dtype = s->arguments[i].host ? tw_buffer_dtype(s->arguments[i].host) : 0;
        if (dtype == TW_F16 || dtype == TW_BF16 || dtype == TW_F32) return dtype;
    }
    return TW_F32;
}

typedef struct Row {
    const Pairs *shape;
    Timing timing;
    double bytes, flops; /* flops < 0: not said */
    double bound;        /* seconds; 0: not known */
    const char *by;      /* "copy", "peak" */
} Row;

static void find_bound(const Bench *b, Row *row) {
    double copy = b->peaks.copy > 0 ? row->bytes / b->peaks.copy : 0;
    double compute = b->peaks.flops > 0 && row->flops > 0 ? row->flops / b->peaks.flops : 0;
    row->bound = copy > compute ? copy : compute;
    row->by = row->bound <= 0 ? "" : copy > compute ? "copy" : "peak";
}

static void print_row(Bench *b, const Row *row) {
    double seconds = row->timing.median;
    if (!b->header) {
        if (b->peaks.copy > 0)
            printf("%s: copies %.1f GB/s (of arrays larger than caches), products of %s %.1f GFLOP/s, measured here\n",
                   b->target, b->peaks.copy * 1e-9, tw_dtype_name(b->peaks.dtype), b->peaks.flops * 1e-9);
        printf("%-32s %12s %12s %9s %11s %10s\n", "", "median us", "least us", "GB/s", "GFLOP/s", "of bound");
        b->header = true;
    }
    char name[200] = "";
    for (size_t i = 0; i < row->shape->count; i++)
        snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s=%s", i ? " " : "", row->shape->at[i].name,
                 row->shape->at[i].value);
    printf("%-32s %12.3f %12.3f %9.2f", name, seconds * 1e6, row->timing.least * 1e6, row->bytes / seconds * 1e-9);
    if (row->flops >= 0)
        printf(" %11.2f", row->flops / seconds * 1e-9);
    else
        printf(" %11s", "-");
    if (row->bound > 0)
        printf(" %4.0f%% %s\n", 100 * row->bound / seconds, row->by);
    else
        printf(" %10s\n", "-");
}

static void json_row(Bench *b, const Session *s, const Row *row) {
    Json *j = &b->json;
    json_open(j, '{');
    json_key(j, "kernel"), json_text(j, tw_kernel_name(s->kernel));
    json_key(j, "target"), json_text(j, tw_kernel_target(s->kernel));
    json_key(j, "over");
    json_open(j, '{');
    for (size_t i = 0; i < row->shape->count; i++)
        json_key(j, row->shape->at[i].name), json_text(j, row->shape->at[i].value);
    json_close(j, '}');
    json_timing(j, &row->timing);
    json_key(j, "bytes"), json_number(j, row->bytes);
    if (row->flops >= 0) json_key(j, "flops"), json_number(j, row->flops);
    if (b->peaks.copy > 0) {
        json_key(j, "copy_bytes_per_second"), json_number(j, b->peaks.copy);
        json_key(j, "peak_flops_per_second"), json_number(j, b->peaks.flops);
        json_key(j, "bound_us"), json_number(j, row->bound * 1e6);
        json_key(j, "bound_by"), json_text(j, row->by);
    }
    json_close(j, '}');
}

static int bench_shape(Bench *b, const Pairs *shape) {
    Session s;
    Options o = *b->o;
    Row row = {.shape = shape};
    o.args = pairs_join(&b->o->args, shape);
    o.target = b->target;
    int status = session_open(&s, &o, true);
    s.speech = NULL;
    if (!status) status = compile_for(&s, &o, o.target);
    if (!status && !b->peaks.known) status = measure_peaks(&o, product_dtype(&s), &b->peaks);
    if (!status) status = launch_on(&s, &o, o.target, &row.timing);
    if (!status) {
        row.bytes = o.bytes ? amount(&s, "--bytes", o.bytes, &status) : array_bytes(&s);
        row.flops = amount(&s, "--flops", o.flops, &status);
    }
    if (!status) {
        find_bound(b, &row);
        if (o.json)
            json_row(b, &s, &row);
        else
            print_row(b, &row);
    }
    session_close(&s);
    free(o.args.at);
    return status;
}

int command_bench(const Options *o) {
    Bench b = {.o = o};
    size_t rows = combination_count(&o->overs);
    if (o->overs.count > MOST_AXES || rows > MOST_ROWS)
        return fail("--over makes more than %d rows" FIX "give fewer values", MOST_ROWS);
    int status = 0;
    json_start(&b.json, stdout);
    if (o->json) json_open(&b.json, '[');
    for (size_t t = 0; t < list_count(o->target) && !status; t++) {
        char *target = list_item(o->target, t);
        b.target = target;
        b.header = false;
        b.peaks = (Peaks){0};
        for (size_t i = 0; i < rows && !status; i++) {
            Pairs shape;
            combination_take(&o->overs, i, &shape);
            status = bench_shape(&b, &shape);
            combination_free(&shape);
        }
        free(target);
    }
    if (o->json) {
        json_close(&b.json, ']');
        putchar('\n');
    }
    return status;
}
