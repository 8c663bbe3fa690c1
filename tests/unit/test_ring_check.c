/* SPDX-License-Identifier: Apache-2.0 */
/* test_ring_check.c: rings that are right are proved; rings broken on purpose are refuted, by name. */
#include "check.h"
#include "pass/ring/ring_check.h"

typedef enum Question { HANDED_OVER, BYTES_OF_RING, BYTES_OF_SLOT } Question;

/* As if TMA brought 64 bytes a put, and an acquire announced those of its slot, or of all that is put into the ring somewhere. */
typedef struct Copies {
    Kernel *k;
    Question question;
    const Op *acquire;
    int64_t bytes;
} Copies;

static void add_bytes(Op *op, void *user) {
    Copies *c = user;
    const Op *slot = op->code == OP_PUT ? ir_value(c->k, op->operands[0])->op : NULL;
    bool same = slot && (c->question == BYTES_OF_SLOT ? slot == c->acquire : slot->operands[0] == c->acquire->operands[0]);
    if (same) c->bytes += 64;
}

static void set_bytes(Op *op, void *user) {
    Copies *c = user;
    c->acquire = op;
    c->bytes = op->code == OP_PUT ? 64 : 0;
    if (op->code == OP_ACQUIRE) ir_walk(c->k->body, add_bytes, c);
    if (c->bytes) op_set(c->k, op, (Attr){.id = AT_COPIED, .number = c->bytes});
}

static void answer(const char *title, const char *text, Question question, RingVerdict want, const char *message) {
    Trap trap;
    Arena arena, scratch;
    SourceMap sources;
    Diag diag;
    arena_init(&arena, allocator_malloc, &trap);
    arena_init(&scratch, allocator_malloc, &trap);
    if (TRAP_ARM(&trap)) {
        source_init(&sources, &arena);
        diag_init(&diag, &arena, &sources);
        Module *m = ir_module_new(&arena, &diag, &sources);
        bool parsed = ir_parse(m, source_add(&sources, "t.ir", text, strlen(text)));
        CHECK(parsed);
        if (!parsed) fprintf(stderr, "%s: %s\n", title, diag_render(&diag, &arena));
        PassContext cx = {.module = m, .machine = machine_find("cuda:sm_90a"), .options = pass_options_default, .scratch = &scratch};
        Copies copies = {parsed ? m->kernels.at[0] : NULL, question, NULL, 0};
        if (parsed && question != HANDED_OVER) ir_walk(copies.k->body, set_bytes, &copies);
        RingVerdict got = parsed ? ring_check(&cx, copies.k) : want;
        char *rendered = diag_render(&diag, &arena);
        CHECK(got == want);
        CHECK(!message || strstr(rendered, message));
        if (got != want || (message && !strstr(rendered, message))) fprintf(stderr, "%s: verdict %d\n%s\n", title, got, rendered);
    } else {
        CHECK_TEXT(trap.message, "no trap");
    }
    arena_free(&arena);
    arena_free(&scratch);
}

static void verdict(const char *title, const char *text, RingVerdict want, const char *message) {
    answer(title, text, HANDED_OVER, want, message);
}

/* Two roles over one ring; what they do per item is put in. */
#define TWO(slots, load, compute)                                                                  \
    "kernel @k(%n: i32, %p: *f32, %c: i1) {\n"                                                     \
    "  %T = tensor %p, [%n], [1] ; %in = ring<from=load, to=compute, slots=" slots "> : {a: f32[16]}\n" \
    "  tasks %t in %n { role load { " load " } ; role compute { " compute " } } }\n"
#define FILL "%s = acquire %in ; %x = tload %T, [0] : f32[16] ; put %s.a, %x ; commit %in, %s"
#define DRAIN "%s = wait %in ; %a = get %s.a ; tstore %T, [0], %a ; release %in, %s"

static void test_proved(void) {
    verdict("straight", TWO("1", FILL, DRAIN), RING_PROVED, NULL);
    verdict("loop", TWO("1", "for %i = 0, %n, 1 { " FILL " }", "for %i = 0, %n, 1 { " DRAIN " }"), RING_PROVED, NULL);
    verdict("bounds computed in each role",
            TWO("3", "%m = cdiv %n, 4 ; for %i = 0, %m, 1 { " FILL " }", "%q = cdiv %n, 4 ; for %i = 0, %q, 1 { " DRAIN " }"), RING_PROVED, NULL);
    verdict("if", TWO("2", "if %c { " FILL " }", "if %c { " DRAIN " }"), RING_PROVED, NULL);
    verdict("nested, and one item held through",
            TWO("2", FILL " ; for %i = 0, %n, 1 { for %j = 0, %i, 1 { " FILL " } }",
                "%h = wait %in ; release %in, %h ; for %i = 0, %n, 1 { for %j = 0, %i, 1 { " DRAIN " } }"), RING_PROVED, NULL);
    verdict("attention: K and V, Q held",
            "kernel @a(%n: i32, %p: *f32) { %T = tensor %p, [%n], [1]\n"
            "  %q = ring<slots=1> : {x: f32[16]} ; %k = ring<slots=1> : {x: f32[16]} ; %v = ring<slots=1> : {x: f32[16]}\n"
            "  tasks %t in %n {\n"
            "  role load { %z = tload %T, [0] : f32[16] ; %s = acquire %q ; put %s.x, %z ; commit %q, %s\n"
            "    for %i = 0, %n, 1 { %a = acquire %k ; put %a.x, %z ; commit %k, %a ; %b = acquire %v ; put %b.x, %z ; commit %v, %b } }\n"
            "  role compute { %s = wait %q ; %x = get %s.x\n"
            "    for %i = 0, %n, 1 { %a = wait %k ; release %k, %a ; %b = wait %v ; release %v, %b } ; release %q, %s } } }\n",
            RING_PROVED, NULL);
}

/* Two products in a row, the loop plain or turned; the load role fills `before`, then `behind`. */
#define PRODUCTS(slots, rotate, before, behind)                                                    \
    "kernel @a(%n: i32, %p: *f16) { %T = tensor %p, [%n, %n], [%n, 1] ; %q = splat 0.0 : f16[64,64]\n" \
    "  %k = ring<from=load, to=compute, slots=" slots "> : {x: f16[64,64]}\n"                       \
    "  %v = ring<from=load, to=compute, slots=" slots "> : {x: f16[64,64]}\n"                       \
    "  tasks %t in %n {\n"                                                                         \
    "  role load { %z = tload %T, [0, 0] : f16[64,64] ; for %i = 0, %n, 1 {\n"                     \
    "    %a = acquire %" before " ; put %a.x, %z ; commit %" before ", %a\n"                        \
    "    %b = acquire %" behind " ; put %b.x, %z ; commit %" behind ", %b } }\n"                    \
    "  role compute { %c0 = splat 0.0 : f32[64,64] ; %r = for" rotate " %i = 0, %n, 1 (%c = %c0) {\n" \
    "    %a = wait %k ; %x = get %a.x ; %s = dot<instr=wgmma> %q, %x, %c0 ; release %k, %a\n"      \
    "    %w = cast %s : f16[64,64] ; %d = mul %c, 0.5\n"                                           \
    "    %b = wait %v ; %y = get %b.x ; %o = dot<instr=wgmma> %w, %y, %d ; release %v, %b ; yield %o }\n" \
    "    %h = cast %r : f16[64,64] ; tstore %T, [0, 0], %h } } }\n"

static void test_rotated(void) {
    verdict("two products", PRODUCTS("1", "", "k", "v"), RING_PROVED, NULL);
    verdict("two products, turned", PRODUCTS("1", "<rotate>", "k", "v"), RING_PROVED, NULL);
    verdict("two products, turned, three slots", PRODUCTS("3", "<rotate>", "k", "v"), RING_PROVED, NULL);
    verdict("V before K", PRODUCTS("1", "", "v", "k"), RING_PROVED, NULL);
    verdict("V before K, turned: V(0) is held while K(1) is waited for", PRODUCTS("1", "<rotate>", "v", "k"), RING_REFUTED, "wait");
    verdict("V before K, turned, two slots", PRODUCTS("2", "<rotate>", "v", "k"), RING_PROVED, NULL);
}

static void test_protocol(void) {
    verdict("missing release", TWO("2", FILL, "%s = wait %in ; %a = get %s.a"), RING_REFUTED, "never released on this path");
    verdict("missing release in a loop", TWO("2", "for %i = 0, %n, 1 { " FILL " }", "for %i = 0, %n, 1 { %s = wait %in }"), RING_REFUTED, "never released");
    verdict("missing commit", TWO("2", "%s = acquire %in", DRAIN), RING_REFUTED, "never committed");
    verdict("double commit", TWO("2", FILL " ; commit %in, %s", DRAIN), RING_REFUTED, "was committed before");
    verdict("double release", TWO("2", FILL, DRAIN " ; release %in, %s"), RING_REFUTED, "was released before");
    verdict("field missing", TWO("2", "%s = acquire %in ; commit %in, %s", DRAIN), RING_REFUTED, "its field `a` was not written");
    verdict("put twice", TWO("2", "%s = acquire %in ; %x = tload %T, [0] : f32[16] ; put %s.a, %x ; put %s.a, %x ; commit %in, %s", DRAIN), RING_REFUTED, "written twice");
    verdict("overwrite: put after commit", TWO("2", FILL " ; put %s.a, %x", DRAIN), RING_REFUTED, "written between its acquire and its commit");
    verdict("read after release", TWO("2", FILL, "%s = wait %in ; release %in, %s ; %a = get %s.a"), RING_REFUTED, "may have overwritten it");
    verdict("use of a view after release", TWO("2", FILL, "%s = wait %in ; %a = get %s.a ; release %in, %s ; tstore %T, [0], %a"), RING_REFUTED,
            "may have overwritten it");
    verdict("use of a view of a view after release",
            TWO("2", FILL, "%s = wait %in ; %a = get %s.a ; %b = expand<0> %a ; release %in, %s ; %d = reduce<max, axis=1> %b"), RING_REFUTED,
            "may have overwritten it");
    verdict("a view carried out of its loop", TWO("2", "for %i = 0, %n, 1 { " FILL " }",
            "%z = splat 0.0 : f32[16] ; %l = for %i = 0, %n, 1 (%w = %z) { %s = wait %in ; %a = get %s.a ; release %in, %s ; yield %a } ; tstore %T, [0], %l"),
            RING_REFUTED, "may have overwritten it");
    verdict("a copy may outlive its slot", TWO("2", FILL, "%s = wait %in ; %a = get<copy> %s.a ; release %in, %s ; tstore %T, [0], %a"), RING_PROVED, NULL);
    verdict("out of order", TWO("3", FILL " ; %s2 = acquire %in ; put %s2.a, %x ; commit %in, %s2", "%s = wait %in ; %u = wait %in ; release %in, %u ; release %in, %s"),
            RING_REFUTED, "out of order");
    verdict("two producers",
            "kernel @k(%n: i32, %x: f32) { %in = ring<slots=2> : {a: f32}\n tasks %t in %n { role load { %s = acquire %in ; put %s.a, %x ; commit %in, %s }\n"
            " role prepare { %s = acquire %in ; put %s.a, %x ; commit %in, %s } ; role store { %s = wait %in ; release %in, %s ; %u = wait %in ; release %in, %u } } }",
            RING_REFUTED, "a ring has one producer");
    verdict("nobody empties", TWO("2", FILL, ""), RING_REFUTED, "needs one role that fills it and one that empties it");
}

static void test_progress(void) {
    verdict("too few slots", TWO("1", FILL " ; %s2 = acquire %in ; put %s2.a, %x ; commit %in, %s2", "%s = wait %in ; %u = wait %in ; release %in, %s ; release %in, %u"),
            RING_REFUTED, "1 slots, 1 acquired, 1 committed");
    verdict("hold above slots", "kernel @k(%n: i32, %x: f32) { %in = ring<slots=1, hold=2> : {a: f32}\n tasks %t in %n {"
                                " role load { %s = acquire %in ; put %s.a, %x ; commit %in, %s } ; role compute { %s = wait %in ; release %in, %s } } }",
            RING_REFUTED, "holds 2 at once");
    verdict("hold 2, and the slot comes back in between",
            "kernel @k(%n: i32, %z: f32) { %k = ring<slots=2, hold=2> : {x: f32} ; %v = ring<slots=1> : {x: f32}\n tasks %t in %n {\n"
            " role load { %a = acquire %k ; put %a.x, %z ; commit %k, %a ; %a2 = acquire %k ; put %a2.x, %z ; commit %k, %a2\n"
            "   %b = acquire %v ; put %b.x, %z ; commit %v, %b ; %a3 = acquire %k ; put %a3.x, %z ; commit %k, %a3 }\n"
            " role compute { %a = wait %k ; release %k, %a ; %b = wait %v ; %a2 = wait %k ; release %k, %a2 ; release %v, %b ; %a3 = wait %k ; release %k, %a3 } } }",
            RING_PROVED, NULL);
    verdict("hold 2 with no slot to spare",
            "kernel @k(%n: i32, %z: f32) { %k = ring<slots=2, hold=2> : {x: f32} ; %v = ring<slots=1> : {x: f32}\n tasks %t in %n {\n"
            " role load { %a = acquire %k ; put %a.x, %z ; commit %k, %a ; %a2 = acquire %k ; put %a2.x, %z ; commit %k, %a2\n"
            "   %b = acquire %v ; put %b.x, %z ; commit %v, %b }\n"
            " role compute { %b = wait %v ; %a = wait %k ; release %k, %a ; %a2 = wait %k ; release %k, %a2 ; release %v, %b } } }",
            RING_REFUTED, "ring-deadlock");
    verdict("loops of one bound, one behind the other, each with its own ring",
            "kernel @k(%n: i32, %z: f32) { %f = ring<slots=1> : {x: f32} ; %g = ring<slots=1> : {x: f32}\n tasks %t in %n {\n"
            " role load { for %i = 0, %n, 1 { %a = acquire %f ; put %a.x, %z ; commit %f, %a } }\n"
            " role compute { for %i = 0, %n, 1 { %a = wait %f ; release %f, %a } ; for %i = 0, %n, 1 { %b = acquire %g ; put %b.x, %z ; commit %g, %b } }\n"
            " role store { for %i = 0, %n, 1 { %b = wait %g ; release %g, %b } } } }",
            RING_PROVED, NULL);
    verdict("other trip count", TWO("2", "for %i = 0, %n, 1 { " FILL " }", "%m = add %n, 1 ; for %i = 0, %m, 1 { " DRAIN " }"), RING_REFUTED, "wait");
    verdict("condition in one role only", TWO("2", "if %c { " FILL " }", DRAIN), RING_REFUTED, NULL);
    verdict("one item too many a task: the phase of the next is lost", TWO("4", FILL " ; %s2 = acquire %in ; put %s2.a, %x ; commit %in, %s2", DRAIN), RING_REFUTED,
            "the next one would begin in another phase");
    verdict("wait cycle",
            "kernel @k(%n: i32, %x: f32) { %f = ring<slots=1> : {a: f32} ; %g = ring<slots=1> : {a: f32}\n tasks %t in %n {\n"
            " role load { %s = wait %g ; release %g, %s ; %u = acquire %f ; put %u.a, %x ; commit %f, %u }\n"
            " role compute { %s = wait %f ; release %f, %s ; %u = acquire %g ; put %u.a, %x ; commit %g, %u } } }",
            RING_REFUTED, "the roles wait for each other for ever");
    verdict("K K V V against K V, one slot",
            "kernel @a(%n: i32, %z: f32) { %k = ring<slots=1> : {x: f32} ; %v = ring<slots=1> : {x: f32}\n tasks %t in %n {\n"
            " role load { for %i = 0, %n, 1 { %a = acquire %k ; put %a.x, %z ; commit %k, %a ; %a2 = acquire %k ; put %a2.x, %z ; commit %k, %a2\n"
            "   %b = acquire %v ; put %b.x, %z ; commit %v, %b ; %b2 = acquire %v ; put %b2.x, %z ; commit %v, %b2 } }\n"
            " role compute { for %i = 0, %n, 1 { %a = wait %k ; %b = wait %v ; release %k, %a ; release %v, %b ; %a2 = wait %k ; %b2 = wait %v ; release %k, %a2 ; release %v, %b2 } } } }",
            RING_REFUTED, "ring-deadlock");
    verdict("one-slot self-ring that acquires before it releases",
            "kernel @s(%n: i32, %z: f32) { %r = ring<slots=1> : {x: f32}\n tasks %t in %n { role compute {\n"
            " %a = acquire %r ; put %a.x, %z ; commit %r, %a ; %b = wait %r ; %c = acquire %r ; put %c.x, %z ; commit %r, %c ; release %r, %b ; %d = wait %r ; release %r, %d } } }",
            RING_REFUTED, "acquire r");
    verdict("self-ring with two slots", "kernel @s(%n: i32, %z: f32) { %r = ring<slots=2> : {x: f32}\n tasks %t in %n { role compute {\n"
            " %a = acquire %r ; put %a.x, %z ; commit %r, %a ; %b = wait %r ; %c = acquire %r ; put %c.x, %z ; commit %r, %c ; release %r, %b ; %d = wait %r ; release %r, %d } } }",
            RING_PROVED, NULL);
    verdict("capacity", "kernel @c(%n: i32, %p: *f32) { %T = tensor %p, [%n], [1] ; %in = ring<slots=4> : {a: f32[65536]}\n tasks %t in %n {"
            " role load { %s = acquire %in ; %x = tload %T, [0] : f32[65536] ; put %s.a, %x ; commit %in, %s } ; role compute { %s = wait %in ; release %in, %s } } }",
            RING_REFUTED, "the rings need 1048576 bytes, this target has 232448: `in` 4 x 262144 bytes");
    verdict("loops that do not match, but fit", TWO("2", "for %i = 0, 2, 1 { " FILL " }", DRAIN " ; %s2 = wait %in ; release %in, %s2"), RING_BOUNDED, NULL);
}

/* A product whose tasks run in pairs along %m or %n; `nk` is the trip count of both roles. */
#define PAIRED(plan, a, b, nk, more)                                                               \
    "kernel @mm(%A, %B, %C: tensor<f16,2>, %nk: i32, %c: i1) { %nm = cdiv %nk, 2\n"               \
    "  %in = ring<from=load, to=compute, slots=3> : {a: f16[64,64], b: f16[64,64]}\n"             \
    "  tasks %m, %n in %nm, %nm <persist, " plan "> { %row = mul %m, 64 ; %col = mul %n, 64\n"     \
    "    role load { for %k = 0, " nk ", 1 { %kk = mul %k, 64 ; %s = acquire %in\n"                \
    "      %x = tload %A, [%row, %kk] : f16[64,64] ; put" a " %s.a, %x\n"                          \
    "      %y = tload %B, [%kk, %col] : f16[64,64] ; put" b " %s.b, %y ; commit %in, %s } }\n"     \
    "    role compute { %z = splat 0.0 : f32[64,64] ; %r = for %k = 0, " nk ", 1 (%o = %z) {\n"    \
    "      %s = wait %in ; %x = get %s.a ; %y = get %s.b ; %d = dot %x, %y, %o ; release %in, %s ; yield %d }\n" \
    "      " more " ; %h = cast %r : f16[64,64] ; tstore %C, [%row, %col], %h } } }\n"
#define NOTHING "%w = add %row, 1"

static void test_clusters(void) {
    verdict("pairs along m share b", PAIRED("cluster=2, along=0", "", "<share=0>", "%nk", NOTHING), RING_PROVED, NULL);
    verdict("pairs along n share a", PAIRED("cluster=2, along=1", "<share=1>", "", "%nk", NOTHING), RING_PROVED, NULL);
    verdict("pairs that share nothing", PAIRED("cluster=2, along=1", "", "", "%nk", NOTHING), RING_PROVED, NULL);
    verdict("a's address has the index of the pairs", PAIRED("cluster=2, along=0", "<share=0>", "", "%nk", NOTHING), RING_REFUTED,
            "field `a` cannot be shared");
    verdict("shared along another index", PAIRED("cluster=2, along=0", "", "<share=1>", "%nk", NOTHING), RING_REFUTED, "field `b` cannot be shared");
    verdict("one block has more items", PAIRED("cluster=2, along=0", "", "<share=0>", "%m", NOTHING), RING_REFUTED, "the trip count of a loop");
    verdict("as many items in both", PAIRED("cluster=2, along=0", "", "<share=0>", "%n", NOTHING), RING_PROVED, NULL);
    verdict("the last task would print twice", PAIRED("cluster=2, along=0", "", "<share=0>", "%nk", "print<message=\"x\"> %row"), RING_REFUTED,
            "a task does more than to store");
    verdict("the last task would read its own output", PAIRED("cluster=2, along=0", "", "<share=0>", "%nk", "%w = tload %C, [%row, %col] : f16[64,64]"),
            RING_REFUTED, "a task does more than to store");
    verdict("clusters of three", PAIRED("cluster=3, along=0", "", "<share=0>", "%nk", NOTHING), RING_REFUTED, "a cluster has 2 blocks");
    verdict("an index that is not there", PAIRED("cluster=2, along=2", "", "", "%nk", NOTHING), RING_REFUTED, "a cluster has 2 blocks");
}

/* What the checker has no room for it refuses: it proves nothing of what it does not see. */
static void test_most(void) {
    char many[4000];
    size_t n = (size_t)snprintf(many, sizeof many, "kernel @k(%%n: i32) {\n");
    for (int i = 0; i < 33; i++) n += (size_t)snprintf(many + n, sizeof many - n, "  %%r%d = ring<from=load, to=compute, slots=1> : {a: f32[16]}\n", i);
    snprintf(many + n, sizeof many - n, "  tasks %%t in %%n { role load { } ; role compute { } } }\n");
    verdict("33 rings", many, RING_REFUTED, "this is ring 33, of 1 tiles a slot; a kernel has at most 32 rings");
    n = (size_t)snprintf(many, sizeof many, "kernel @k(%%n: i32) { %%r = ring<from=load, to=compute, slots=1> : {");
    for (int i = 0; i < 33; i++) n += (size_t)snprintf(many + n, sizeof many - n, "%sa%d: f32[16]", i ? ", " : "", i);
    snprintf(many + n, sizeof many - n, "}\n  tasks %%t in %%n { role load { } ; role compute { } } }\n");
    verdict("33 fields", many, RING_REFUTED, "this is ring 1, of 33 tiles a slot");
}

/* Two roles over one ring, whose loops are the same or only look so. */
#define SAME(title, load, compute) verdict(title, TWO("2", load, compute), RING_PROVED, NULL)
#define OTHER(title, load, compute) verdict(title, TWO("2", load, compute), RING_REFUTED, NULL)
#define WHILE(m, step, body) "%e = while (%i = 0) { %g = cmp<lt> %i, " m " ; test %g, %i } do (%i) { " body " ; %j = add %i, " step " ; yield %j }"
#define GROWS(from, step, body) "%e = for %i = 0, %n, 1 (%m = " from ") { for %j = 0, %m, 1 { " body " } ; %o = add %m, " step " ; yield %o }"
#define SUM(step, body) "%m = for %i = 0, %n, 1 (%o = 0) { %u = add %o, " step " ; yield %u } ; for %j = 0, %m, 1 { " body " }"
#define TRIPS(value, body) "%m = " value " ; for %j = 0, %m, 1 { " body " }"

#define TESTS(test, body) "%e = while (%i = 0) { " test " ; %g = cmp<lt> %i, %n ; test %g, %i } do (%i) { " body " ; %j = add %i, 1 ; yield %j }"

/* The test of a while runs once more than its body. */
static void test_whiles(void) {
    verdict("both in the test", TWO("2", TESTS(FILL, ""), TESTS(DRAIN, "")), RING_PROVED, NULL);
    verdict("filled in the test, emptied in the body", TWO("2", TESTS(FILL, ""), TESTS("", DRAIN)), RING_REFUTED, NULL);
    verdict("filled in the body, emptied in the test", TWO("2", TESTS("", FILL), TESTS(DRAIN, "")), RING_REFUTED, NULL);
    verdict("filled in the test, emptied in the body and behind", TWO("2", TESTS(FILL, ""), TESTS("", DRAIN) " ; %t2 = wait %in ; release %in, %t2"),
            RING_PROVED, NULL);
    verdict("a slot held from the test into the body", TWO("2", TESTS("%s = acquire %in", ""), TESTS(DRAIN, "")), RING_REFUTED, "never committed");
}

/* Bounds whose difference no 64-bit number holds, and programs too long to be tried. */
static void test_extremes(void) {
    verdict("one item for all tasks", TWO("2, life=kernel", FILL, DRAIN), RING_REFUTED, "one item for all tasks");
    verdict("the longest loop", TWO("2", "for %i = -9223372036854775808, 9223372036854775807, 1 { " FILL " }",
                                    "for %i = -9223372036854775808, 9223372036854775807, 1 { " DRAIN " }"), RING_PROVED, NULL);
    verdict("the longest step", TWO("2", "for %i = 0, 2147483647, 2147483647 { " FILL " }", DRAIN), RING_BOUNDED, NULL);
    verdict("nests that do not match, and are too long to be tried",
            TWO("8", "for %i = 0, 60, 1 { for %j = 0, 60, 1 { for %k = 0, 60, 1 { " FILL " } } }",
                "for %i = 0, 60, 1 { for %j = 0, 3600, 1 { " DRAIN " } }"), RING_BOUNDED, NULL);
}

static void test_numbers(void) {
    SAME("while", WHILE("%n", "1", FILL), WHILE("%n", "1", DRAIN));
    OTHER("while, other ends", WHILE("%n", "1", FILL), WHILE("7", "1", DRAIN));
    OTHER("while, other steps", WHILE("%n", "1", FILL), WHILE("%n", "2", DRAIN));
    SAME("while, one role carries more", WHILE("%n", "1", FILL),
         "%v, %e = while (%w = 0.0, %i = 0) { %g = cmp<lt> %i, %n ; test %g, %w, %i } do (%w, %i) { " DRAIN
         " ; %y = add %w, 1.0 ; %j = add %i, 1 ; yield %y, %j }");
    SAME("trips that grow", GROWS("0", "1", FILL), GROWS("0", "1", DRAIN));
    OTHER("trips that grow faster", GROWS("0", "1", FILL), GROWS("0", "2", DRAIN));
    OTHER("trips that begin with more", GROWS("0", "1", FILL), GROWS("1", "1", DRAIN));
    SAME("trips that grow, one role carries more", GROWS("0", "1", FILL),
         "%v, %e = for %i = 0, %n, 1 (%w = 0.0, %m = 0) { for %j = 0, %m, 1 { " DRAIN " } ; %o = add %m, 1 ; yield %w, %o }");
    SAME("trips that a loop counts", SUM("1", FILL), SUM("1", DRAIN));
    OTHER("trips that a loop counts otherwise", SUM("1", FILL), SUM("2", DRAIN));
    SAME("trips that an if chooses", TRIPS("if %c { yield 3 } { yield 4 }", FILL), TRIPS("if %c { yield 3 } { yield 4 }", DRAIN));
    OTHER("trips that an if chooses otherwise", TRIPS("if %c { yield 3 } { yield 4 }", FILL), TRIPS("if %c { yield 3 } { yield 5 }", DRAIN));
    OTHER("other widths", "%w = cast %n : i8 ; " TRIPS("cast %w : i32", FILL), "%w = cast %n : i16 ; " TRIPS("cast %w : i32", DRAIN));
    SAME("trips from memory", "%h = tload %T, [0] : f32 ; " TRIPS("cast %h : i32", FILL), "%h = tload %T, [0] : f32 ; " TRIPS("cast %h : i32", "%s = wait %in ; release %in, %s"));
    OTHER("trips from memory that is written", "%h = tload %T, [0] : f32 ; " TRIPS("cast %h : i32", FILL), "%h = tload %T, [0] : f32 ; " TRIPS("cast %h : i32", DRAIN));
}

/* Loops in a row over one ring, and what an item of each is full with. */
#define ROW(how, body) "for %i = 0, " how ", 1 { " body " }"
static void test_bytes(void) {
    static const char *const rows[] = {
        TWO("2", ROW("%n", FILL), ROW("%n", DRAIN)),
        TWO("2", ROW("%n", FILL) " ; " ROW("%n", FILL), ROW("%n", DRAIN) " ; " ROW("%n", DRAIN)),
        TWO("2", ROW("0", FILL) " ; " ROW("%n", FILL) " ; " ROW("0", FILL), ROW("0", DRAIN) " ; " ROW("%n", DRAIN) " ; " ROW("0", DRAIN)),
        TWO("3", FILL " ; " ROW("%n", FILL) " ; if %c { " ROW("%n", FILL) " }", DRAIN " ; " ROW("%n", DRAIN) " ; if %c { " ROW("%n", DRAIN) " }"),
        TWO("2", ROW("%n", ROW("%n", FILL) " ; " ROW("3", FILL)), ROW("%n", ROW("%n", DRAIN) " ; " ROW("3", DRAIN))),
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        verdict("loops in a row", rows[i], RING_PROVED, NULL);
        answer("bytes of the slot", rows[i], BYTES_OF_SLOT, RING_PROVED, NULL);
        answer("bytes of the ring", rows[i], BYTES_OF_RING, i ? RING_REFUTED : RING_PROVED, i ? "announced bytes" : NULL);
    }
}

/* Arrivals at the full barrier: of which threads, behind what. */
#define ARRIVALS(full, role, by, commit)                                                                                              \
    "kernel @k(%n: i32, %p: *f32) { %T = tensor %p, [%n], [1]\n"                                                                       \
    "  %in = ring<from=load, to=compute, slots=2, arrivals=[" full ",1]> : {a: f32[16], b: f32[16]}\n"                                  \
    "  tasks %t in %n { role load<" role "> { for %i = 0, %n, 1 { %s = acquire %in ; %x = tload<by=" by "> %T, [0] : f32[16] ; put %s.a, %x\n" \
    "    %y = tload<by=tma> %T, [0] : f32[16] ; put %s.b, %y ; " commit " %in, %s } }\n"                                                \
    "    role compute { for %i = 0, %n, 1 { %s = wait %in ; release %in, %s } } } }\n"
static void test_arrivals(void) {
    verdict("TMA, one thread", ARRIVALS("1", "warps=4, elect", "tma", "commit"), RING_PROVED, NULL);
    verdict("stores", ARRIVALS("128", "warps=4", "lanes", "commit"), RING_PROVED, NULL);
    verdict("copies", ARRIVALS("128", "warps=4", "async", "commit<arrive=copies>"), RING_PROVED, NULL);
    verdict("copies, and stores of other items", ARRIVALS("256", "warps=4", "async", "commit<arrive=both>"), RING_PROVED, NULL);
    verdict("more threads than arrive", ARRIVALS("128", "warps=4, elect", "tma", "commit"), RING_REFUTED, "1 arrivals, its full barrier counts 128");
    verdict("fewer", ARRIVALS("64", "warps=4", "lanes", "commit"), RING_REFUTED, "128 arrivals, its full barrier counts 64");
    verdict("each arrives twice", ARRIVALS("128", "warps=4", "async", "commit<arrive=both>"), RING_REFUTED, "256 arrivals");
    verdict("nobody waits for the copies", ARRIVALS("128", "warps=4", "async", "commit"), RING_REFUTED, "without an arrival behind its copies");
    verdict("nobody waits for the stores", ARRIVALS("128", "warps=4", "lanes", "commit<arrive=copies>"), RING_REFUTED,
            "without an arrival behind its stores");
}

int main(void) {
    test_arrivals();
    test_proved();
    test_bytes();
    test_numbers();
    test_whiles();
    test_extremes();
    test_rotated();
    test_protocol();
    test_progress();
    test_clusters();
    test_most();
    return check_done();
}
