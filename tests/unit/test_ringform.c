/* SPDX-License-Identifier: Apache-2.0 */
/* test_ringform.c: questions to ring form (ir/ringform.h), also of kernels that no checker would let through. */
#include "check.h"
#include "ir/build.h"
#include "ir/ringform.h"

typedef struct Fixture {
    Trap trap;
    Arena arena;
    SourceMap sources;
    Diag diag;
} Fixture;

static Kernel *parse(Fixture *fx, const char *text) {
    source_init(&fx->sources, &fx->arena);
    diag_init(&fx->diag, &fx->arena, &fx->sources);
    Module *m = ir_module_new(&fx->arena, &fx->diag, &fx->sources);
    bool good = ir_parse(m, source_add(&fx->sources, "t.ir", text, strlen(text)));
    CHECK(good);
    if (!good) fprintf(stderr, "%s\n", diag_render(&fx->diag, &fx->arena));
    return good ? m->kernels.at[0] : NULL;
}

static void refused(Fixture *fx, const char *text, const char *message) {
    source_init(&fx->sources, &fx->arena);
    diag_init(&fx->diag, &fx->arena, &fx->sources);
    Module *m = ir_module_new(&fx->arena, &fx->diag, &fx->sources);
    CHECK(!ir_parse(m, source_add(&fx->sources, "t.ir", text, strlen(text))));
    CHECK(strstr(diag_render(&fx->diag, &fx->arena), message));
}

/* The n-th op of a code below the region, counted from 0. */
typedef struct Search {
    Opcode code;
    int n;
    Op *found;
} Search;

static void look(Op *op, void *user) {
    Search *s = user;
    if (op->code == s->code && s->n-- == 0) s->found = op;
}

static Op *nth(const Kernel *k, Opcode code, int n) {
    Search s = {code, n, NULL};
    ir_walk(k->body, look, &s);
    CHECK(s.found);
    return s.found;
}

static void test_flat(Fixture *fx) {
    Kernel *k = parse(fx, "kernel @k(%n: i32) { for %i = 0, %n, 1 { %x = add %i, 1 } }");
    CHECK(!tasks_of(k));
    CHECK(!role_around(nth(k, OP_ADD, 0)));
    CHECK(hand_over(nth(k, OP_ADD, 0)) == HAND_NONE);
    CHECK(hand_ring(k, nth(k, OP_ADD, 0)) == REF_NONE);
    CHECK(!hand_ring_op(k, nth(k, OP_ADD, 0)));
    CHECK(!hands_over(nth(k, OP_FOR, 0)));
}

/* Tasks without a role, and a template's tasks, whose roles stand in their second region. */
static void test_missing_roles(Fixture *fx) {
    Kernel *k = parse(fx, "kernel @k(%n: i32) { %r = ring : {x: f32}\n tasks %t in %n { %u = add %t, 1 } }");
    Op *tasks = tasks_of(k), *ring = nth(k, OP_RING, 0);
    CHECK(tasks && tasks_body(tasks) == tasks->regions[0]);
    CHECK(!role_first(tasks));
    CHECK(!role_find(tasks, ROLE_LOAD));
    CHECK(!role_find(tasks, WORD_NONE));
    CHECK(ring_producer(ring) == WORD_NONE);
    CHECK(ring_consumer(ring) == WORD_NONE);
    CHECK(!role_find(tasks, ring_producer(ring)));

    k = parse(fx, "kernel @k(%n: i32) { tasks %t while { %g = cmp<lt> %t, %n ; test %g, %t } do (%u) {\n"
                  "  role compute { } ; role store<on=compute> { } } }");
    tasks = tasks_of(k);
    CHECK(tasks_body(tasks) == tasks->regions[1]);
    CHECK(role_name(role_first(tasks)) == ROLE_COMPUTE);
    CHECK(!role_find(tasks, ROLE_LOAD));
    Op *store = role_next(role_first(tasks));
    CHECK(store && role_name(store) == ROLE_STORE && !role_next(store));
    CHECK(role_is_guest(store) && role_host(store) == ROLE_COMPUTE);
    CHECK(!role_is_guest(role_first(tasks)));
    CHECK_TEXT(role_text(store), "store");
    CHECK(role_around(store) == store);
    CHECK(!role_around(tasks));
}

/* Two rings whose fields have the same names, one of them in a nested loop; ops of the header between the roles. */
static void test_two_rings(Fixture *fx) {
    Kernel *k = parse(fx, "kernel @k(%n: i32, %x: f32) {\n"
                          "  %p = ring<from=load, to=compute> : {a: f32, b: f32}\n"
                          "  %q = ring<from=load, to=compute> : {b: f32, a: f32}\n"
                          "  tasks %t in %n {\n"
                          "    %h = add %t, 1\n"
                          "    role load { %s = acquire %p ; put %s.a, %x ; put %s.b, %x ; commit %p, %s\n"
                          "      for %i = 0, %n, 1 { for %j = 0, %i, 1 {\n"
                          "        %u = acquire %q ; put %u.a, %x ; put %u.b, %x ; commit %q, %u } } }\n"
                          "    %g = add %h, 1\n"
                          "    role compute { %s = wait %p ; for %i = 0, %n, 1 { %v = get %s.b\n"
                          "        for %j = 0, %i, 1 { %u = wait %q ; %w = get %u.b ; release %q, %u } }\n"
                          "      release %p, %s } } }");
    Ref p = nth(k, OP_RING, 0)->results[0], q = nth(k, OP_RING, 1)->results[0];
    const Op *tasks = tasks_of(k), *load = role_find(tasks, ROLE_LOAD), *compute = role_find(tasks, ROLE_COMPUTE);
    CHECK(role_first(tasks) == load && role_next(load) == compute && !role_next(compute));
    CHECK(role_find(tasks, ring_producer(nth(k, OP_RING, 1))) == load);
    CHECK(role_find(tasks, ring_consumer(nth(k, OP_RING, 1))) == compute);
    CHECK(hand_ring(k, nth(k, OP_PUT, 1)) == p);
    CHECK(hand_ring(k, nth(k, OP_PUT, 2)) == q);
    CHECK(hand_ring(k, nth(k, OP_GET, 0)) == p);
    CHECK(hand_ring(k, nth(k, OP_GET, 1)) == q);
    CHECK(hand_ring(k, nth(k, OP_RELEASE, 0)) == q);
    CHECK(hand_ring_op(k, nth(k, OP_GET, 1)) == nth(k, OP_RING, 1));
    CHECK(hand_begin(k, nth(k, OP_PUT, 3)) == nth(k, OP_ACQUIRE, 1));
    CHECK(hand_begin(k, nth(k, OP_GET, 0)) == nth(k, OP_WAIT, 0));
    CHECK(hand_field(nth(k, OP_PUT, 0)) == 0);
    CHECK(hand_field(nth(k, OP_PUT, 2)) == 1);
    CHECK(hand_field(nth(k, OP_GET, 0)) == 1);
    CHECK(hand_field(nth(k, OP_GET, 1)) == 0);
    CHECK(ring_field_find(ir_type(k, q), "c") == -1);
    CHECK(role_around(nth(k, OP_PUT, 3)) == load);
    CHECK(role_around(nth(k, OP_GET, 1)) == compute);
    CHECK(!role_around(nth(k, OP_ADD, 1)));

    const Op *outer = nth(k, OP_FOR, 2), *inner = nth(k, OP_FOR, 3); /* of compute */
    CHECK(hands_over(outer) && hands_over_items(outer));
    CHECK(hands_over_by(outer, HAND_WAIT, q) && !hands_over_by(outer, HAND_WAIT, p));
    CHECK(hands_over_by(inner, HAND_RELEASE, REF_NONE) && !hands_over_by(inner, HAND_ACQUIRE, REF_NONE));
    CHECK(hands_over_by(load, HAND_COMMIT, p) && !hands_over_by(compute, HAND_COMMIT, p));
    CHECK(hands_over(nth(k, OP_GET, 0)) && !hands_over_items(nth(k, OP_GET, 0)));
    CHECK(!hands_over(nth(k, OP_ADD, 0)));
    CHECK(hand_is_producers(HAND_PUT) && !hand_is_producers(HAND_GET) && !hand_is_producers(HAND_SKIP));
}

/* A slot comes from an acquire or a wait, a ring from a `ring` of the kernel: nothing else hands them on. */
static void test_slots_are_named(Fixture *fx) {
    refused(fx, "kernel @k(%n: i32, %c: i1) { %p = ring : {a: f32}\n tasks %t in %n { role compute {\n"
                "  %s = if %c { %u = wait %p ; yield %u } { %v = wait %p ; yield %v } } } }", "must be a scalar or tile");
    refused(fx, "kernel @k(%n: i32) { %p = ring : {a: f32}\n tasks %t in %n { role compute {\n"
                "  %s = wait %p ; for %i = 0, %n, 1 (%u = %s) { yield %u } } } }", "must be a scalar or tile");
    refused(fx, "kernel @k(%n: i32, %p: {a: f32}) { tasks %t in %n { role compute { %s = wait %p ; release %p, %s } } }", "a kernel takes scalars, pointers and tensors");
    refused(fx, "kernel @k(%n: i32) { tasks %t in %n { role compute { %p = ring : {a: f32} } } }", "a ring stands in the kernel's own region");
}

int main(void) {
    Fixture fx;
    arena_init(&fx.arena, allocator_malloc, &fx.trap);
    if (TRAP_ARM(&fx.trap)) {
        test_flat(&fx);
        test_missing_roles(&fx);
        test_two_rings(&fx);
        test_slots_are_named(&fx);
    } else {
        CHECK_TEXT(fx.trap.message, "no trap");
    }
    arena_free(&fx.arena);
    return check_done();
}
