/* SPDX-License-Identifier: Apache-2.0 */
/* test_base.c: arena, vec, map, text, source, diag, cancel. */
#include "base/cancel.h"
#include "base/diag.h"
#include "base/map.h"
#include "check.h"

#include <stdlib.h>
#include <time.h>

static void *limited(void *user, void *block, size_t old_size, size_t new_size) {
    int *left = user;
    if (new_size && (*left)-- <= 0) return NULL;
    return allocator_malloc.resize(NULL, block, old_size, new_size);
}

static void test_out_of_memory(void) {
    int left = 2;
    Trap trap;
    Arena arena;
    arena_init(&arena, (Allocator){limited, &left}, &trap);
    volatile int made = 0;
    if (TRAP_ARM(&trap)) {
        for (;; made++) memset(arena_alloc(&arena, 10000), 1, 10000);
    } else {
        CHECK(trap.code == TRAP_OUT_OF_MEMORY);
        CHECK(made >= 2);
    }
    arena_free(&arena);
    CHECK(arena.total == 0);
}

/* A block grows where it lies as long as nothing stands behind it; what is new of it is 0, whatever was there before. */
static void test_grow(Arena *arena) {
    ArenaMark mark = arena_mark(arena);
    memset(arena_alloc(arena, 4096), 1, 4096);
    arena_reset(arena, mark);
    char *at = arena_grow(arena, NULL, 0, 40), *longer;
    memcpy(at, "content", 8);
    CHECK(arena_grow(arena, at, 40, 200) == at && at[199] == 0 && strcmp(at, "content") == 0);
    char *behind = arena_alloc(arena, 1);
    longer = arena_grow(arena, at, 200, 400);
    CHECK(longer != at && longer > behind && strcmp(longer, "content") == 0 && longer[399] == 0);
    enum { MB = 1 << 20 };
    char *large = arena_grow(arena, longer, 400, 8 * MB); /* more than its block has */
    CHECK(strcmp(large, "content") == 0 && large[8 * MB - 1] == 0);
    arena_reset(arena, mark);
}

static void test_containers(Arena *arena) {
    VEC(int) numbers = {0};
    for (int i = 0; i < 1000; i++) *VEC_PUSH(&numbers, arena) = i;
    CHECK(numbers.count == 1000 && numbers.at[999] == 999);

    Map map = {0};
    for (int i = 0; i < 1000; i++) {
        char *key = arena_printf(arena, "key%d", i);
        map_set(&map, arena, key, &numbers.at[i]);
        map_put_number(&map, arena, (uint64_t)i, &numbers.at[i]);
    }
    CHECK(map.count == 2000);
    CHECK(map_get(&map, "key77") == &numbers.at[77]);
    CHECK(map_find_number(&map, 5)->value == &numbers.at[5]);
    CHECK(map_get(&map, "nothing") == NULL);
    CHECK(strcmp(map.entries[0].key, "key0") == 0);

    const char *names[] = {"load", "store", "arange"};
    Text json = text_new(arena);
    text_add_json(&json,
                  "\"\\\n\x7f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80|\xff|\xc0\xaf|\xe0\x80\x80|"
                  "\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82");
    CHECK_TEXT(json.at,
               "\"\\\"\\\\\\u000a\x7f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80|"
               "\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|"
               "\\ufffd\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\"");
    CHECK_TEXT(text_nearest("laod", names, 3), "load");
    CHECK(text_nearest("completely_else", names, 3) == NULL);

    ArenaMark mark = arena_mark(arena);
    size_t before = arena->total;
    arena_alloc(arena, 1 << 20);
    arena_reset(arena, mark);
    CHECK(arena->total == before);
}

/* The fix of a message is its own, or what an argument brought; quoted text is left as it is. */
static void test_fixes(Arena *arena) {
    static const struct {
        const char *format, *message, *whole, *fix;
    } cases[] = {
        {"%s", "no way", "no way", ""},
        {"%s", "no way" FIX "write it", "no way; write it", "write it"},
        {"%s" FIX "use cpu", "no way" FIX "write it" FIX "use cpu", "no way; write it; use cpu", "use cpu"},
        {"%s" FIX "give %s%s", "no" FIX "give n" FIX "did you mean m?", "no; give n; did you mean m?", "give n; did you mean m?"},
        {"`%s` is bad" FIX "delete it", "`\001` is bad" FIX "delete it", "`\001` is bad; delete it", "delete it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *fix;
        CHECK_TEXT(text_open_fix(arena, cases[i].format, arena_string(arena, cases[i].message, strlen(cases[i].message)), &fix),
                   cases[i].whole);
        CHECK_TEXT(fix, cases[i].fix);
    }
}

static void test_diagnostics(Arena *arena) {
    SourceMap sources;
    Diag diag;
    source_init(&sources, arena);
    diag_init(&diag, arena, &sources);
    SourceFile *file = source_add(&sources, "k.py", "a = 1\n\tbäd = x\n", 16);
    diag_emit(&diag, DIAG_TOO_LARGE, (Range){file->base + 7, file->base + 11});
    diag_emit(&diag, DIAG_TOO_LARGE, (Range){file->base + 7, file->base + 11});
    diag_emit(&diag, DIAG_NOTE_HERE, (Range){0, 0}, "dropped with its message");
    CHECK(diag.errors == 1);
    CHECK_TEXT(diag_render(&diag, arena), "k.py:2:2: error: the text is larger than 64 MiB; split it [too-large]\n"
                                          "    2 | \tbäd = x\n"
                                          "      | \t^~~\n");
}

static int32_t stop_when_asked(void *user) {
    int *questions = user;
    return ++*questions >= 2;
}

/* Asking, forgetting, and the host's own question, which comes rarely. */
static void test_cancel(void) {
    Cancel c = {0};
    int questions = 0;
    CHECK(!cancel_is_asked(NULL) && !cancel_look(NULL) && !cancel_look(&c));
    CHECK(!cancel_ask(&c) && cancel_is_asked(&c) && cancel_look(&c));
    cancel_begin(&c);
    CHECK(!cancel_look(&c));
    cancel_hold(&c);
    CHECK(cancel_ask(&c));
    cancel_release(&c);
    CHECK(!cancel_ask(&c));
    cancel_begin(&c);
    c.poll = stop_when_asked;
    c.user = &questions;
    for (int i = 0; i < 1000; i++) CHECK(!cancel_look(&c));
    CHECK(questions == 0);
    struct timespec nap = {0, 10000000};
    int looks = 0;
    for (; looks < 1000 && !cancel_look(&c); looks++) nanosleep(&nap, NULL);
    CHECK(questions == 2 && looks >= 5 && cancel_is_asked(&c));
}

int main(void) {
    Trap trap;
    Arena arena;
    test_out_of_memory();
    test_cancel();
    arena_init(&arena, allocator_malloc, &trap);
    if (!TRAP_ARM(&trap)) return 2;
    test_grow(&arena);
    test_containers(&arena);
    test_fixes(&arena);
    test_diagnostics(&arena);
    arena_free(&arena);
    return check_done();
}
