/* SPDX-License-Identifier: Apache-2.0 */
/* built_cpu.c: what the entry of a kernel built for target cpu says of its codes: the functions that run them, the
 * words of their print statements and assertions. */
#include "runtime/built/built_kernel.h"

#include "runtime/target/cpu_tools.h"

#include <string.h>

static const char *say_assert(const Build *b, const tw_kernel *k, const CpuAssert *a) {
    Place place;
    Text plain = text_new(b->arena);
    if (source_find(k->sources, a->range.begin, &place)) {
        const char *slash = strrchr(place.file->name, '/');
        text_add(&plain, "%s:%d: ", slash ? slash + 1 : place.file->name, place.line);
    }
    text_add(&plain, "an assertion failed%s%s", *a->message ? ": " : "", a->message);
    return plain.at;
}

static int number_assert(Build *b, const char *text) {
    for (size_t i = 0; i < b->asserts.count; i++)
        if (strcmp(b->asserts.at[i], text) == 0) return (int)i;
    *VEC_PUSH(&b->asserts, b->arena) = text;
    return (int)b->asserts.count - 1;
}

/* Text between quotes, as C reads it. */
static void add_quoted(Text *t, const char *text) {
    text_add_char(t, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\' || c == '?' || c < 32 || c > 126)
            text_add(t, "\\%03o", c);
        else
            text_add_char(t, (char)c);
    }
    text_add_char(t, '"');
}

/* As the launcher calls them. */
static const char *float_name(Elem elem) {
    switch (elem) {
    case EL_F32: return "f32";
    case EL_F16: return "f16";
    case EL_BF16: return "bf16";
    case EL_F8E4M3: return "e4m3";
    case EL_F8E5M2: return "e5m2";
    case EL_F8E4B8: return "e4b8";
    case EL_F8E5B16: return "e5b16";
    case EL_F8E4B15: return "e4b15";
    default: return "f64";
    }
}

/* What the print statements of a code say, by number. */
static void print_speech(const CpuCode *code, size_t c, Text *t) {
    for (int p = 0; p < code->print_count; p++) {
        const Speech *s = &code->prints[p];
        for (int i = 0; i < s->count; i++) {
            text_add(t, "static const int64_t extents_%zu_%d_%d[] = {", c, p, i);
            for (int d = 0; d < s->types[i]->rank; d++) text_add(t, "%lld, ", (long long)s->types[i]->extent[d]);
            text_add(t, "0};\n");
        }
        text_add(t, "static const SpeechTile tiles_%zu_%d[] = {", c, p);
        for (int i = 0; i < s->count; i++) {
            SpeechTile tile = speech_tile(s->types[i]);
            text_add(t, "{'%c', %d, %d, extents_%zu_%d_%d, built_number, BUILT_%s}, ", tile.kind, tile.bytes,
                     tile.rank, c, p, i, float_name(s->types[i]->elem));
        }
        text_add(t, "{0}};\n");
    }
    text_add(t, "static const BuiltPrint prints_%zu[] = {", c);
    for (int p = 0; p < code->print_count; p++) {
        text_add(t, "{");
        add_quoted(t, code->prints[p].message ? code->prints[p].message : "");
        text_add(t, ", %d, %d, tiles_%zu_%d}, ", code->prints[p].hex, code->prints[p].count, c, p);
    }
    text_add(t, "{0}};\n");
}

static void print_codes(Build *b, int level_count, Text *t) {
    for (size_t c = 0; c < b->codes.count; c++) {
        const tw_kernel *k = b->codes.at[c];
        const CpuCode *code = cpu_code(k);
        Text numbers = text_new(b->arena), runs = text_new(b->arena);
        for (int i = 0; i < code->assert_count; i++)
            text_add(&numbers, "%d, ", number_assert(b, say_assert(b, k, &code->asserts[i])));
        for (int i = 0; i < level_count; i++) {
            text_add(&runs, "%stw_%s_%zu_%d", i ? ", " : "", b->name, c, i);
            text_add(t, "__attribute__((visibility(\"hidden\"))) BuiltRun tw_%s_%zu_%d;\n", b->name, c, i);
        }
        text_add(t, "static const unsigned short asserts_%zu[] = {%s0};\n", c, numbers.at);
        text_add(t, "static BuiltRun *const runs_%zu[] = {%s};\n", c, runs.at);
        print_speech(code, c, t);
        text_add(t, "static BuiltCode code_%zu = {runs_%zu, %lld, asserts_%zu, prints_%zu, 0};\n", c, c,
                 (long long)code->scratch_bytes, c, c);
    }
}

/* What is said of an assertion that failed, by its number outside. */
static void print_asserts(const Build *b, Text *t) {
    text_add(t, "static const char *own_error(i32 code) {\n    static const char *const asserts[] = {\n");
    for (size_t i = 0; i < b->asserts.count; i++) {
        text_add(t, "        ");
        add_quoted(t, b->asserts.at[i]);
        text_add(t, ",\n");
    }
    text_add(t,
             "        0};\n    return code >= TW_BUILT_ASSERT && code < TW_BUILT_ASSERT + %zu ? asserts[code - "
             "TW_BUILT_ASSERT] : 0;\n}\n",
             b->asserts.count);
}

const char *build_cpu_codes(Build *b, const char *level_list, int level_count) {
    Text t = text_new(b->arena);
    bool prints = false, workers = false;
    for (size_t c = 0; c < b->codes.count; c++) workers |= cpu_code(b->codes.at[c])->has_workers;
    text_add(&t, workers ? "#define BUILT_WORKERS 1\n" : "");
    text_add(&t, "#include \"launcher.h\"\n\n");
    print_codes(b, level_count, &t);
    for (size_t c = 0; c < b->codes.count; c++) prints |= cpu_code(b->codes.at[c])->print_count > 0;
    text_add(&t, "static const i32 levels[] = {%s};\nstatic const BuiltKernel kernel = {levels, %d, %d};\n", level_list,
             level_count, prints ? 1 : b->kernel->threads);
    print_asserts(b, &t);
    return t.at;
}
