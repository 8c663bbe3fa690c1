/* SPDX-License-Identifier: Apache-2.0 */
/* test_passes.c: golden tests of the passes, one file each in tests/pass.
 *
 * A file has sections that start with a line `---- name`:
 *
 *     ---- run fold,access machine=cpu roles=1 stages=3 slots=4 cluster=2 workers=2 persist=0 rotate=0 warps=8 generic=3 odd=4 join=2x3 nest=4 chunk=8
 * nofuse kernel @add(..) { .. }                      the input
 *     ---- ir                                     the kernel afterwards
 *     ---- findings                               what explain would print, as line: subject: text
 *     ---- canonical                              ring_canonical's text
 *     ---- diagnostics                            what the user would read
 *
 * Only the sections present are compared. With BLESS=1 in the environment they are rewritten. */
#include "check.h"
#include "pass/pass.h"
#include "pass/ring/ring.h"

#include <dirent.h>
#include <stdlib.h>

typedef struct Section {
    char title[200];
    Text body;
} Section;

typedef struct Case {
    char path[400];
    Section sections[8];
    int count;
} Case;

static bool read_case(Case *c, Arena *arena) {
    FILE *file = fopen(c->path, "rb");
    if (!file) return false;
    char line[4000];
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "---- ", 5) == 0 && c->count < 8) {
            Section *s = &c->sections[c->count++];
            snprintf(s->title, sizeof s->title, "%.*s", (int)strcspn(line + 5, "\n"), line + 5);
            s->body = text_new(arena);
        } else if (c->count) {
            text_add(&c->sections[c->count - 1].body, "%s", line);
        }
    }
    fclose(file);
    return c->count > 0;
}

static void write_case(const Case *c) {
    FILE *file = fopen(c->path, "wb");
    if (!file) return;
    for (int i = 0; i < c->count; i++) {
        const char *body = c->sections[i].body.at;
        fprintf(file, "---- %s\n%s", c->sections[i].title, body);
        size_t length = strlen(body);
        if (length && body[length - 1] != '\n') fputc('\n', file);
    }
    fclose(file);
}

static void set_options(PassContext *cx, char *words, PipelineRequest *request) {
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        if (value) *value++ = 0;
        if (strcmp(word, "run") == 0) continue;
        if (strcmp(word, "machine") == 0)
            cx->machine = machine_find(value);
        else if (strcmp(word, "roles") == 0)
            cx->options.roles = atoi(value);
        else if (strcmp(word, "stages") == 0)
            cx->options.num_stages = atoi(value);
        else if (strcmp(word, "slots") == 0)
            cx->options.slots = atoi(value);
        else if (strcmp(word, "cluster") == 0)
            cx->options.cluster = atoi(value);
        else if (strcmp(word, "workers") == 0)
            cx->options.workers = atoi(value);
        else if (strcmp(word, "persist") == 0)
            cx->options.persist = atoi(value);
        else if (strcmp(word, "rotate") == 0)
            cx->options.rotate = atoi(value);
        else if (strcmp(word, "warps") == 0)
            cx->options.num_warps = atoi(value);
        else if (strcmp(word, "generic") == 0)
            cx->options.generic = atoi(value);
        else if (strcmp(word, "odd") == 0)
            cx->options.odd = strtoull(value, NULL, 0);
        else if (strcmp(word, "join") == 0) /* 2x3 */
            cx->options.join = atoi(value) << 16 | atoi(strchr(value, 'x') + 1);
        else if (strcmp(word, "nest") == 0)
            cx->options.nest = atoi(value);
        else if (strcmp(word, "chunk") == 0)
            cx->options.chunk = atoi(value);
        else if (strcmp(word, "nofuse") == 0)
            cx->options.fuse = false;
        else
            request->only = word;
    }
}

static char *show_findings(const PassContext *cx, Arena *arena) {
    Text out = text_new(arena);
    for (size_t i = 0; i < cx->findings.count; i++) {
        const Finding *f = &cx->findings.at[i];
        Place place = {0};
        source_find(cx->module->sources, f->range.begin, &place);
        text_add(&out, "%d: %s: %s\n", place.line, f->subject, f->text);
    }
    return out.at;
}

static void run_case(Case *c, Arena *arena) {
    SourceMap sources;
    Diag diag;
    source_init(&sources, arena);
    diag_init(&diag, arena, &sources);
    Module *m = ir_module_new(arena, &diag, &sources);
    PassContext cx = {.module = m, .machine = machine_find("cpu"), .options = pass_options_default};
    Arena scratch;
    arena_init(&scratch, arena->allocator, arena->trap);
    cx.scratch = &scratch;
    PipelineRequest request = {.verify_each = true};
    char words[200];
    snprintf(words, sizeof words, "%s", c->sections[0].title);
    set_options(&cx, words, &request);
    Text *text = &c->sections[0].body;
    Kernel *k = NULL;
    if (ir_parse(m, source_add(&sources, "k.ir", text->at, text->length))) {
        k = m->kernels.at[0];
        pipeline_run(&cx, k, &request);
    }
    for (int i = 1; i < c->count; i++) {
        Section *s = &c->sections[i];
        char *got = "";
        if (strcmp(s->title, "ir") == 0 && k) got = ir_print(k, arena);
        if (strcmp(s->title, "findings") == 0) got = show_findings(&cx, arena);
        if (strcmp(s->title, "canonical") == 0 && k) got = ring_canonical(k, arena);
        if (strcmp(s->title, "diagnostics") == 0) got = diag_render(&diag, arena);
        if (getenv("BLESS")) {
            s->body = text_new(arena);
            text_add(&s->body, "%s", got);
            continue;
        }
        if (strcmp(got, s->body.at) != 0) fprintf(stderr, "%s: section %s\n", c->path, s->title);
        CHECK_TEXT(got, s->body.at);
    }
    bool wants_errors = false;
    for (int i = 1; i < c->count; i++)
        wants_errors |= strcmp(c->sections[i].title, "diagnostics") == 0;
    if (!wants_errors) CHECK_TEXT(diag_render(&diag, arena), "");
    arena_free(&scratch);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every conversion of a finding's text has a name. */
static void test_findings(void) {
    static const struct {
        const char *names, *text;
    } rows[] = {
#define FINDING(id, subject, names, text) {names, text},
#include "pass/findings.def"
#undef FINDING
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int names = *rows[i].names != 0, values = 0;
        for (const char *at = rows[i].names; *at; at++) names += *at == ' ';
        for (const char *at = rows[i].text; *at; at++) values += *at == '%';
        if (names != values) fprintf(stderr, "%s: %d names\n", rows[i].text, names);
        CHECK(names == values && values <= MAX_FINDING_VALUES);
    }
}

int main(int argc, char **argv) {
    const char *folder = "tests/pass", *only = argc > 1 ? argv[1] : NULL;
    char *names[500];
    int count = 0;
    DIR *dir = opendir(folder);
    CHECK(dir != NULL);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 3, ".ir") != 0 || count == 500) continue;
        if (!only || strstr(entry->d_name, only)) names[count++] = strdup(entry->d_name);
    }
    if (dir) closedir(dir);
    qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 0; i < count; i++) {
        Trap trap;
        Arena arena;
        arena_init(&arena, allocator_malloc, &trap);
        if (TRAP_ARM(&trap)) {
            Case *c = ARENA_NEW(&arena, Case);
            snprintf(c->path, sizeof c->path, "%s/%s", folder, names[i]);
            CHECK(read_case(c, &arena));
            run_case(c, &arena);
            if (getenv("BLESS")) write_case(c);
        } else {
            fprintf(stderr, "%s: ", names[i]);
            CHECK_TEXT(trap.message, "no trap");
        }
        arena_free(&arena);
        free(names[i]);
    }
    CHECK(count > 0);
    test_findings();
    return check_done();
}
