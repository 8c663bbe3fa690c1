/* SPDX-License-Identifier: Apache-2.0 */
/* test_tilec_races.c: mutants of kernels/tilec that some warps of a GPU would not survive: each is refused where it stands;
 * and the same kernels, and what is right though it looks like a mutant, are taken. */
#include "check.h"
#include "front/front.h"

#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    Arena arena;
    Trap trap;
    SourceMap sources;
    Diag diag;
} Fixture;

enum { LARGEST = 1 << 16 };

/* Lowers the file with the nth `from` replaced: "" if it is taken, else what is said. */
static const char *lower(Fixture *fx, const char *name, const char *from, const char *to, int nth) {
    const char *path = arena_printf(&fx->arena, "kernels/tilec/%s.tile.c", name);
    FILE *file = fopen(path, "r");
    if (!file) return "the file is missing";
    char *text = arena_alloc(&fx->arena, LARGEST);
    text[fread(text, 1, LARGEST - 1, file)] = 0;
    fclose(file);
    char *at = strstr(text, from);
    for (int i = 1; at && i < nth; i++) at = strstr(at + 1, from);
    if (!at) return "the line to replace is not there";
    const char *changed = arena_printf(&fx->arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    source_init(&fx->sources, &fx->arena);
    diag_init(&fx->diag, &fx->arena, &fx->sources);
    FrontUnit unit = {.arena = &fx->arena, .diag = &fx->diag, .sources = &fx->sources, .door = front_find("tilec")};
    unit.file = source_add(&fx->sources, path, changed, strlen(changed));
    if (!unit.door->open(&unit)) return diag_render(&fx->diag, &fx->arena);
    for (size_t i = 0; i < unit.kernels.count; i++) {
        FrontRequest request = {.kernel = &unit.kernels.at[i]};
        request.module = ir_module_new(&fx->arena, &fx->diag, &fx->sources);
        if (!unit.door->lower(&unit, &request)) return diag_render(&fx->diag, &fx->arena);
    }
    return "";
}

typedef struct Mutant {
    const char *file, *from, *to;
    int nth;
    const char *want; /* "": it is right */
} Mutant;

#define ARRIVE_IN "if (laneid() == 0) arrive(a->inputs_finished);"
#define EMPTY     "if (warpgroup_laneid() == 0) arrive(&empty[stage]);"

static const Mutant mutants[] = {
    /* as they are */
    {"matmul", "#include", "#include", 1, ""},
    {"attention", "#include", "#include", 1, ""},
    {"attention_roles", "#include", "#include", 1, ""},
    {"attention_lcf", "#include", "#include", 1, ""},
    {"attention_backward", "#include", "#include", 1, ""},
    {"attention_warp", "#include", "#include", 1, ""},
    {"mamba2", "#include", "#include", 1, ""},
    {"rotary", "#include", "#include", 1, ""},
    {"rotary_lcsf", "#include", "#include", 1, ""},
    {"linear_attention", "#include", "#include", 1, ""},
    {"layernorm", "#include", "#include", 1, ""},
    {"micro_add", "#include", "#include", 1, ""},

    /* shared tiles that are read before all warps have written them, and overwritten while some still read */
    {"attention", "        warpgroup_sync(1);\n", "", 1, "`k` is read here, and may not be written by all warps yet; write warpgroup_sync(id) between the two"},
    {"attention", "        warpgroup_sync(1);", "if (j > 0) warpgroup_sync(1);", 1, "`k` is read here, and may not be written"},
    {"attention", "        warpgroup_sync(1);", "if (keys > 100) warpgroup_sync(1);", 1, "`k` is read here, and may not be written"},
    {"attention", "        warpgroup_sync(1); /*", "/*", 1, "`k` is written here, and may not be read by all warps yet"},
    {"attention", "        warpgroup_sync(1); /*", "if (j + 1 < cdiv(end, KEYS)) warpgroup_sync(1); /*", 1, "`k` is written here"},
    {"attention_backward", "        group8_sync(1);\n", "", 1, "`q` is read here, and may not be written by all warps yet; write group8_sync(id)"},
    {"attention_backward", "        group8_sync(1); /* the next q", "/* ", 1, "`q` is written here, and may not be read by all warps yet"},
    {"attention_backward", "        group8_sync(1);\n", "", 2, "`k` is read here"},
    {"attention_backward", "        group8_sync(1); /* the next k", "/* ", 1, "`k` is written here"},
    {"mamba2", "    warpgroup_sync(w + 4);\n", "", 1, "`state0` is read here, and may not be written by all warps yet"},
    {"mamba2", "    warpgroup_sync(w + 4);\n", "", 2, "`state0` is written here, and may not be read by all warps yet"},
    {"matmul", "    warpgroup_sync(id + 4);\n", "", 1, "`c` is read here, and may not be written by all warps yet"},
    {"matmul", "&a->finish->c[id][i]", "&a->finish->c[1 - id][i]", 1, "write group8_sync(id) between the two"},

    /* what is under way */
    {"matmul", "    warpgroup_mma_wait(0);\n", "    if (a->iter > 2) warpgroup_mma_wait(0);\n", 1, "`inputs_finished` arrives too early: a product still reads the input block"},
    {"attention", "        warpgroup_mma_wait(0);\n", "", 1, "`s` is still in use by a product"},
    {"attention", "        warpgroup_mma_wait(0);\n", "", 2, "`v` is still in use by a product"},
    {"mamba2", "    warpgroup_mma_wait(0);\n", "", 2, "`scores` is still in use by a product"},
    {"rotary_lcsf", "        tma_store_async_read_wait();\n", "", 1, "`outputs_finished` arrives too early: a store still reads the output block"},
    {"rotary_lcsf", "        tma_store_async_read_wait();\n", "if (a->iter > 0) tma_store_async_read_wait();\n", 1, "`outputs_finished` arrives too early"},
    {"attention_roles", "            warpgroup_mma_wait(0);\n            " EMPTY, "            " EMPTY "\n            warpgroup_mma_wait(0);", 1, "`empty` arrives too early: a product still reads `v`"},

    /* one that arrives for another */
    {"matmul", ARRIVE_IN, "if (warpgroup_groupid() == 0 && laneid() == 0) arrive(a->inputs_finished, 2);", 1, "`inputs_finished` arrives too early: other warps may still be at work on the input block"},
    {"attention_lcf", ARRIVE_IN, "if (warpgroup_groupid() == 0 && laneid() == 0) arrive(a->inputs_finished, 2);", 1, "other warps may still be at work on the input block"},
    {"rotary_lcsf", ARRIVE_IN, "if (threadIdx.x == 0) arrive(a->inputs_finished, 8);", 1, "other warps may still be at work on the input block"},
    {"matmul", "if (laneid() == 0) arrive(a->finish_finished)", "if (id == 0 && laneid() == 0) arrive(a->finish_finished, 2)", 1, "`finish_finished` arrives too early: other warps may still be at work on the finish block"},
    {"rotary_lcsf", "    warpgroup_sync(w + 4);\n    if (laneid() == 0) arrive(a->outputs_arrived);", "    if (warpgroup_laneid() == 0) arrive(a->outputs_arrived, 4);", 1, "`outputs_arrived` arrives too early: other warps may still be at work on the output block"},
    {"rotary_lcsf", "    warpgroup_sync(w + 4);\n    " ARRIVE_IN, "    group8_sync(2);\n    if (threadIdx.x == 0) arrive(a->inputs_finished, 8);", 1, ""},
    {"rotary_lcsf", "    warpgroup_sync(w + 4);\n    " ARRIVE_IN, "    warpgroup_sync(w + 4);\n    if (warpgroup_laneid() == 0) arrive(a->inputs_finished, 4);", 1, ""},
    {"rotary_lcsf", "    warpgroup_sync(w + 4);\n    if (laneid() == 0) arrive(a->outputs_arrived);", "    if (laneid() == 0) arrive(a->outputs_arrived);", 1, ""},

    /* barriers and semaphores */
    {"matmul", "warpgroup_sync(id + 4)", "warpgroup_sync(4)", 1, "barrier 4 is used by warpgroup 1 and by warpgroup 0"},
    {"matmul", "warpgroup_sync(id + 4)", "warpgroup_sync(id + 12)", 1, "barrier 13 belongs to the template: its producers meet there"},
    {"matmul", "warpgroup_sync(id + 4)", "warpgroup_sync(id + 14)", 1, "barrier 14 belongs to the template: its consumers meet there"},
    {"matmul", "warpgroup_sync(id + 4)", "warpgroup_sync(id + 15)", 1, "barrier 15 belongs to the template: all of its warps meet there"},
    {"matmul", "warpgroup_sync(id + 4)", "warpgroup_sync(id + 11)", 1, ""},
    {"matmul", "    warpgroup_zero(&a->state->acc);", "    warpgroup_zero(&a->state->acc); group8_sync(4);", 1, ""},
    {"matmul", "    warpgroup_sync(id + 4);", "    warpgroup_sync(id + 4); group8_sync(4);", 1, "a whole role meets here at barrier 4, at which a warpgroup of it may still be meeting by itself"},
    {"attention", "warpgroup_sync(1)", "warpgroup_sync(0)", 1, ""},
    {"attention_roles", "    __syncthreads();\n", "", 1, "`empty` may not be set up yet when other threads get here; write __syncthreads()"},
    {"attention_roles", "at(batch, kv_head, j, 0), &full[s]);", "at(batch, kv_head, j, 0), &full[0]);", 1, "the bytes of this load are expected at another one of `full`"},

    /* blocks that are handed on in part */
    {"matmul", "&a->input->b[i]", "&a->input->b[0]", 1, "a part of `b` of the input block is never written"},
    {"matmul", "a->finish->c[id])", "a->finish->c[0])", 1, "a part of `c` of the finish block is never written"},
    {"matmul", "c_tile c[MB][NB];", "c_tile c[MB][NB], more;", 1, "`more` of the finish block is never written"},
    {"rotary_lcsf", "&a->output->half[w][1], &t->c", "&a->output->half[0][1], &t->c", 1, "a part of `half` of the output block is never written"},
};

static void test_mutants(Fixture *fx) {
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        const Mutant *m = &mutants[i];
        const char *got = lower(fx, m->file, m->from, m->to, m->nth);
        bool as_wanted = *m->want ? strstr(got, m->want) != NULL : !*got;
        if (!as_wanted) fprintf(stderr, "%s: %s -> %s\nwanted: %s\n%s\n", m->file, m->from, m->to, m->want, got);
        CHECK(as_wanted);
    }
}

/* ---- kernels of their own ---- */

static const char *body(Fixture *fx, const char *text) {
    source_init(&fx->sources, &fx->arena);
    diag_init(&fx->diag, &fx->arena, &fx->sources);
    FrontUnit unit = {.arena = &fx->arena, .diag = &fx->diag, .sources = &fx->sources, .door = front_find("tilec")};
    const char *whole = arena_printf(&fx->arena,
                                     "#include \"tile.h\"\n"
                                     "typedef struct { gl(float, 1, 1, -1, -1) x, o; int n; } G;\n"
                                     "tile_kernel(128, 1) void f(G g) {\n"
                                     "st_fl(64, 64) s, t[3]; rt_fl(16, 64) r, q; sv_fl(64) v; col_vec(rt_fl(16, 64)) w;\n%s\n}\n",
                                     text);
    unit.file = source_add(&fx->sources, "k.tile.c", whole, strlen(whole));
    if (!unit.door->open(&unit)) return diag_render(&fx->diag, &fx->arena);
    FrontRequest request = {.kernel = &unit.kernels.at[0]};
    request.module = ir_module_new(&fx->arena, &fx->diag, &fx->sources);
    return unit.door->lower(&unit, &request) ? "" : diag_render(&fx->diag, &fx->arena);
}

static const struct {
    const char *text, *want;
} bodies[] = {
    /* rows of a warp's own need no barrier; those of another layout do */
    {"warpgroup_load(&r, g.x, at(0)); warpgroup_store(&s, &r); warpgroup_load(&q, &s); warpgroup_store(&s, &q);", ""},
    {"warpgroup_load(&r, g.x, at(0)); warpgroup_store(&s, &r); warpgroup_store(g.o, &s, at(0));", "`s` is read here, and may not be written"},
    {"warpgroup_load(&s, g.x, at(0)); warpgroup_store(g.o, &s, at(0));", ""},
    {"warpgroup_load(&s, g.x, at(0)); warpgroup_load(&r, &s);", "`s` is read here, and may not be written"},
    {"warpgroup_zero(&s); warpgroup_add(&s, &s, 1); warpgroup_mul(&s, &s, &s);", ""},
    {"warpgroup_zero(&s); warpgroup_transpose_inplace(&s);", "`s` is read here, and may not be written"},
    {"s[0][0] = 1; warpgroup_sync(1); if (threadIdx.x == 0) s[0][1] = s[0][0];", ""},
    {"if (threadIdx.x == 0) s[0][0] = 1; float y = s[0][0];", "`s` is read here, and may not be written"},
    /* two of an array, and one of them twice */
    {"warpgroup_load(&t[0], g.x, at(0)); warpgroup_sync(1);\n"
     "for (int i = 0; i < g.n; i++) { warpgroup_load(&t[(i + 1) % 2], g.x, at(i)); warpgroup_load(&r, &t[i % 2]); warpgroup_sync(1); }", ""},
    {"warpgroup_load(&t[0], g.x, at(0)); warpgroup_sync(1);\n"
     "for (int i = 0; i < g.n; i++) { warpgroup_load(&t[(i + 2) % 2], g.x, at(i)); warpgroup_load(&r, &t[i % 2]); warpgroup_sync(1); }",
     "`t` is read here, and may not be written"},
    {"for (int i = 0; i < g.n; i++) { warpgroup_load(&t[i % 3], g.x, at(i)); warpgroup_sync(1); warpgroup_load(&r, &t[i % 3]); }", ""},
    {"for (int i = 0; i < g.n; i++) { warpgroup_load(&t[0], g.x, at(i)); warpgroup_sync(1); warpgroup_load(&r, &t[0]); }",
     "is written here, and may not be read"},
    /* load_async: a barrier before the wait is none */
    {"warpgroup_load_async(&s, g.x, at(0)); load_async_wait(0); warpgroup_sync(1); warpgroup_load(&r, &s);", ""},
    {"warpgroup_load_async(&s, g.x, at(0)); warpgroup_sync(1); load_async_wait(0); warpgroup_load(&r, &s);", "`s` is read here, and may not be written"},
    {"warpgroup_load_async(&s, g.x, at(0)); if (g.n) load_async_wait(0); warpgroup_sync(1); warpgroup_load(&r, &s);", "`s` is still being loaded"},
    {"warpgroup_load_async(&t[0], g.x, at(0));\n"
     "for (int i = 0; i < g.n; i++) { warpgroup_load_async(&t[(i + 1) % 3], g.x, at(i)); load_async_wait(1); warpgroup_sync(1); warpgroup_load(&r, &t[i % 3]); }\n"
     "load_async_wait(0);", ""},
    {"warpgroup_load_async(&t[0], g.x, at(0));\n"
     "for (int i = 0; i < g.n; i++) { warpgroup_load_async(&t[(i + 1) % 3], g.x, at(i)); load_async_wait(2); warpgroup_sync(1); warpgroup_load(&r, &t[i % 3]); }",
     "`t` is still being loaded"},
    /* a store's source */
    {"warpgroup_load(&s, g.x, at(0)); warpgroup_sync(1); if (warpgroup_laneid() == 0) tma_store_async(g.o, &s, at(0));\n"
     "tma_store_async_read_wait(); warpgroup_sync(1); warpgroup_zero(&s);", ""},
    {"warpgroup_load(&s, g.x, at(0)); warpgroup_sync(1); if (warpgroup_laneid() == 0) tma_store_async(g.o, &s, at(0));\n"
     "warpgroup_sync(1); warpgroup_zero(&s);", "`s` is still being stored; write tma_store_async_read_wait()"},
    {"warpgroup_load(&s, g.x, at(0)); warpgroup_sync(1); if (warpgroup_laneid() == 0) tma_store_async(g.o, &s, at(0));\n"
     "tma_store_async_read_wait(); warpgroup_zero(&s);", "`s` is written here, and may not be read"},
    /* a thread of the only warpgroup loads */
    {"semaphore m; if (threadIdx.x == 0) { init_semaphore(&m, 1, 0); tma_expect(&m, &s); tma_load_async(&s, g.x, at(0), &m); }\n"
     "__syncthreads(); wait(&m, 0); warpgroup_load(&r, &s);", ""},
    {"semaphore m; if (threadIdx.x == 0) { init_semaphore(&m, 1, 0); tma_expect(&m, &s); tma_load_async(&s, g.x, at(0), &m); }\n"
     "__syncthreads(); warpgroup_load(&r, &s); wait(&m, 0);", "`s` is still being loaded; write wait(&m, phase) before this"},
    {"semaphore m; if (threadIdx.x == 0) { init_semaphore(&m, 1, 0); tma_expect(&m, &s); tma_load_async(&s, g.x, at(0), &m); }\n"
     "wait(&m, 0); warpgroup_load(&r, &s);", "`m` may not be set up yet when other threads get here"},
    {"semaphore m; if (threadIdx.x == 0) { init_semaphore(&m, 1, 0); tma_expect(&m, &s); tma_load_async(&s, g.x, at(0), &m); }\n"
     "__syncthreads(); if (g.n > 3) wait(&m, 0); warpgroup_load(&r, &s);", "`s` is still being loaded"},
    /* vectors */
    {"warpgroup_load(&w, g.x, at(0)); warpgroup_store(&v, &w); warpgroup_load(&w, &v);", ""},
    {"warpgroup_load(&v, g.x, at(0)); warpgroup_load(&w, &v);", "`v` is read here, and may not be written"},
};

static void test_bodies(Fixture *fx) {
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const char *got = body(fx, bodies[i].text);
        bool as_wanted = *bodies[i].want ? strstr(got, bodies[i].want) != NULL : !*got;
        if (!as_wanted) fprintf(stderr, "%s\nwanted: %s\n%s\n", bodies[i].text, bodies[i].want, got);
        CHECK(as_wanted);
    }
}

int main(void) {
    static Fixture fx;
    arena_init(&fx.arena, allocator_malloc, &fx.trap);
    if (!TRAP_ARM(&fx.trap)) {
        fprintf(stderr, "%s\n", fx.trap.message);
        return 2;
    }
    test_mutants(&fx);
    test_bodies(&fx);
    arena_free(&fx.arena);
    return check_done();
}
