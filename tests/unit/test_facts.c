/* SPDX-License-Identifier: Apache-2.0 */
/* test_facts.c: what is known of numbers and of tiles of numbers, case by case.
 *
 * A kernel is parsed, and questions are asked about values by their names: what they are multiples
 * of, whether they are never negative, and what form they have as functions of a tile's indices. */
#include "check.h"
#include "analysis/affine.h"
#include "analysis/facts.h"

#include <stdlib.h>

static const char text[] =
    "kernel @k(%X: *f16, %ld, %n: i32, %u: u32, %w: i64) {\n"
    "  assume<mult=16> %ld ; assume<align=16> %X\n"
    "  %pid = program_id<0> ; %s = mul %pid, 128 ; %i = iota<0, 128> ; %o = add %s, %i\n"
    "  %t = mul %s, %ld ; %c = add %s, 24 ; %d = sub %s, 16 ; %h = shl %pid, 3 ; %p = ptr_add %X, "
    "%t\n"
    "  %q = ptr_add %X, %c ; %a = div %s, 2 ; %b = sub %n, 1 ; %m = mod %b, 7 ; %r = rem %b, 7 ; "
    "%mx = max %b, 0\n"
    "  %ui = cast %u : i64 ; %us = bitcast %u : i32 ; %uc = cast %u : i32 ; %nw = cast %w : i32\n"
    "  %pos = cmp<ge> %n, 0 ; assume %pos ; %g = add %n, %pid\n"
    "  %j = iota<0, 64> ; %k0 = program_id<1> ; %k32 = mul %k0, 32 ; %rm = mul %pid, 64 ; %row = "
    "add %rm, %j\n"
    "  %r0 = expand<1> %row ; %j1 = expand<0> %j ; %f0 = mul %r0, %ld ; %f1 = add %f0, %k32 ; %f2 "
    "= add %f1, %j1\n"
    "  %half = div %row, 64 ; %rest = rem %row, 64 ; %odd = div %row, 3 ; %flat = reshape %f2 : "
    "i32[4096]\n"
    "  %sq = mul %row, %row ; %neg = sub %n, %row\n"
    "  for %up = 0, %n, 4 { %u4 = mul %up, 4 }\n"
    "  for %go = 0, %n, 1 { %g3 = mul %go, 3 ; %gm = add %g3, %n ; %gn = mul %go, %n ; %gq = rem %go, 7 ; %gr = add %g3, %gq }\n"
    "  for %down = 9, -1, -3 { %d2 = mul %down, 2 }\n"
    "  for %below = 9, -5, -3 { %b2 = mul %below, 2 }\n"
    "  %m48 = mul %pid, 48 ; %m36 = mul %n, -36 ; %m12 = sub %m48, %m36 ; %zero = mul %m48, 0\n"
    "  %u48 = mul %u, 48 ; %n48 = cast %m48 : i16 ; %w48 = cast %m48 : i64 ; %big = mul %w48, 6148914691236517205\n"
    "  for %by = 96, %n, 72 { %b3 = shl %by, 1 }\n"
    "  %p64 = cast %pid : i64 ; %r64 = cast %ld : i64 ; %x64 = mul %p64, %r64\n"
    "  %pd = div %p64, %x64 ; %rd4 = div %r64, 4 ; %rdx = div %r64, %x64 ; %xd = div %x64, 4 ; %rr = rem %r64, %x64\n"
    "  return }\n";

static Kernel *kernel;

static void find_name(Op *op, void *user) {
    const char **name = user;
    for (int i = 0; i < op->region_count; i++)
        for (int j = 0; j < op->regions[i]->arg_count; j++) {
            Ref r = op->regions[i]->args[j];
            if (strcmp(ir_value(kernel, r)->name, name[0]) == 0)
                name[1] = (const char *)(uintptr_t)r;
        }
    for (int i = 0; i < op->result_count; i++) {
        const char *own = ir_value(kernel, op->results[i])->name;
        if (own && strcmp(own, name[0]) == 0) name[1] = (const char *)(uintptr_t)op->results[i];
    }
}

static Ref named(const char *name) {
    const char *found[2] = {name, NULL};
    for (int i = 0; i < kernel->body->arg_count; i++)
        if (strcmp(ir_value(kernel, kernel->body->args[i])->name, name) == 0)
            return kernel->body->args[i];
    ir_walk(kernel->body, find_name, found);
    if (!found[1]) {
        fprintf(stderr, "no value %s\n", name);
        exit(1);
    }
    return (Ref)(uintptr_t)found[1];
}

/* By how much values grow from trip to trip of the loop that they stand in. */
static void test_growth(Arena *arena) {
    static const struct {
        const char *name, *loop; /* the loop by its variable */
        bool known;
        int64_t growth;
    } cases[] = {
        {"u4", "up", true, 16}, {"up", "up", true, 4}, {"n", "up", true, 0},    {"d2", "down", true, -6},
        {"s", "up", true, 0},   {"gm", "go", true, 3}, {"gn", "go", false, 0}, {"gr", "go", false, 0},
    };
    Analysis a;
    affine_init(&a, kernel, arena, true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Op *loop = ir_value(kernel, named(cases[i].loop))->region->owner;
        int64_t growth = 0;
        bool known = affine_growth(&a, loop, named(cases[i].name), &growth);
        CHECK(known == cases[i].known && (!known || growth == cases[i].growth));
        if (known != cases[i].known) fprintf(stderr, "%s in %s: %d %lld\n", cases[i].name, cases[i].loop, known, (long long)growth);
    }
}

static void test_multiples(Facts *f) {
    static const struct {
        const char *name;
        int64_t divisor;
    } cases[] = {{"s", 128}, {"ld", 16}, {"t", 2048}, {"c", 8},   {"d", 16},
                 {"h", 8},   {"p", 16},  {"q", 16},   {"a", 64},  {"n", 1},
                 {"u4", 16}, {"d2", 2},  {"X", 16},   {"k32", 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t got = fact_divisor(f, named(cases[i].name));
        CHECK(got == cases[i].divisor);
        if (got != cases[i].divisor) fprintf(stderr, "%s: %lld\n", cases[i].name, (long long)got);
    }
}

/* Divisors that are no powers of two: gone where a number may have been cut off, and where they outgrow 64 bits. */
static void test_any_multiples(void) {
    static const struct {
        const char *name;
        int64_t divisor;
    } cases[] = {{"m48", 48}, {"m36", 36}, {"m12", 12}, {"zero", 0}, {"u48", 16}, {"n48", 16},
                 {"w48", 48}, {"big", 16}, {"by", 24},  {"b3", 48},  {"s", 128},  {"n", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t got = fact_multiple(kernel, named(cases[i].name));
        CHECK(got == cases[i].divisor);
        if (got != cases[i].divisor) fprintf(stderr, "%s: %lld\n", cases[i].name, (long long)got);
    }
}

static void test_naturals(Facts *f) {
    static const char *const yes[] = {"pid", "s", "c",  "a",    "mx", "ui",
                                      "n",   "g", "up", "down", "u", "m"};
    static const char *const no[] = {"d", "b", "r", "uc", "nw", "w", "ld", "below"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        CHECK(fact_nonnegative(f, named(yes[i])));
        if (!fact_nonnegative(f, named(yes[i]))) fprintf(stderr, "%s\n", yes[i]);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        CHECK(!fact_nonnegative(f, named(no[i])));
        if (fact_nonnegative(f, named(no[i]))) fprintf(stderr, "%s\n", no[i]);
    }
    CHECK(fact_stated_least(kernel, named("n")) == 0);
}

/* Quotients and remainders of 32 bits are of 32 bits, but for -2^31 div -1. */
static void test_widths(void) {
    static const char *const yes[] = {"ld", "p64", "r64", "pd", "rd4", "rr"}, *const no[] = {"x64", "rdx", "xd"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) CHECK(fact_is_32_bits(kernel, named(yes[i])));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) CHECK(!fact_is_32_bits(kernel, named(no[i])));
}

/* (pid*64 + i) * ld + 32*k0 + j: base 64*ld*pid + 32*k0, strides (ld, 1). */
static void test_forms(Arena *arena) {
    Analysis a;
    affine_init(&a, kernel, arena, true);
    Poly pid = poly_ref(arena, named("pid")), ld = poly_ref(arena, named("ld")),
         one = poly_int(arena, 1);
    const Affine *f = affine_of(&a, named("f2"));
    CHECK(f->known && f->rank == 2 && !f->base);
    Poly start = poly_add(arena, poly_scale(arena, poly_mul(arena, pid, ld), 64),
                          poly_scale(arena, poly_ref(arena, named("k0")), 32));
    CHECK(poly_equal(f->start, start) && poly_equal(f->axis[0].step, ld) &&
          poly_equal(f->axis[1].step, one));
    f = affine_of(&a, named("half"));
    CHECK(f->known && affine_is_uniform(f) && poly_equal(f->start, pid));
    f = affine_of(&a, named("rest"));
    CHECK(f->known && poly_is_zero(f->start) && poly_equal(f->axis[0].step, one));
    f = affine_of(&a, named("neg"));
    CHECK(f->known && poly_equal(f->axis[0].step, poly_int(arena, -1)));
    CHECK(affine_of(&a, named("odd"))->why == WHY_NOT_AFFINE);
    CHECK(affine_of(&a, named("sq"))->why == WHY_PRODUCT);
    CHECK(affine_of(&a, named("flat"))->why == WHY_RESHAPE);
    CHECK(poly_fits_i32(&a, pid) && !poly_fits_i32(&a, poly_scale(arena, pid, 2)));
    CHECK(!poly_fits_i32(&a, poly_add(arena, poly_ref(arena, named("n")), one)));
    CHECK(a.wishes.count == 0);
}

/* --- how far places go --- */
static const char places[] =
    "(%X: *i64, %n, %h: i32, %w: i64) {\n"
    "  require<least=0> %n, %h ; %np = num_programs<0> ; %np1 = num_programs<1> ; %TX = tensor %X, [none], [1]\n"
    "  tasks %a, %b in %np, %np1 {\n"
    "    role compute {\n"
    "      %a64 = cast %a : i64 ; %y = mul %a64, 64 ; %n64 = cast %n : i64 ; %b64 = cast %b : i64\n"
    "      for %k = 0, %n, 1 {\n"
    "        %k64 = cast %k : i64 ; %x = mul %k64, 512 ; %sum = add %x, %y ; %less = sub %y, %x ; %down = mul %k64, -16777216\n"
    "        %r = rem %a, %h ; %r64 = cast %r : i64 ; %rest = mul %r64, 16777216\n"
    "        %q = div %a, %h ; %q64 = cast %q : i64 ; %part = mul %q64, 16777216\n"
    "        %prod = mul %b64, %n64 ; %off = sub %prod, 100 ; %narrow = cast %sum : i32 ; %again = cast %narrow : i64\n"
    "        %any = add %w, %x ; %read = tload %TX, [0] : i64 ; %far = add %read, %x\n"
    "        %big = mul %x, 1073741824 ; %huge = mul %big, 1073741824\n"
    "      }\n"
    "      for %j = %n, -1, -1 { %j64 = cast %j : i64 ; %back = mul %j64, 512 }\n"
    "    }\n"
    "  }\n"
    "}\n";

typedef struct Launch {
    int64_t n, h, np, np1;
} Launch;

static int64_t value_at(Ref x, const Launch *l) {
    int64_t number;
    if (ir_const_int(kernel, x, &number)) return number;
    const Value *v = ir_value(kernel, x);
    if (!v->op) return strcmp(v->name, "n") == 0 ? l->n : l->h;
    int64_t first = v->op->operand_count ? value_at(v->op->operands[0], l) : 0;
    switch (v->op->code) {
    case OP_NUM_PROGRAMS: return op_int(v->op, AT_DIM, 0) ? l->np1 : l->np;
    case OP_CAST: return first;
    case OP_ADD: return first + value_at(v->op->operands[1], l);
    case OP_SUB: return first - value_at(v->op->operands[1], l);
    case OP_MUL: return first * value_at(v->op->operands[1], l);
    default: CHECK(false); return 0;
    }
}

/* `require`s beside the kernel's own, and whether the launch keeps all of them. */
static int requires(const Launch *l, bool *kept) {
    int count = 0;
    *kept = true;
    for (const Op *op = kernel->body->first_fact; op; op = op->next_fact)
        for (int i = 0; op->operand_count == 1 && i < 1; i++) {
            count++;
            *kept &= value_at(op->operands[0], l) >= op_int(op, AT_LEAST, 0);
        }
    return count;
}

static void test_places(Module *module, SourceMap *sources, const char *name, bool ends, int count, Launch fits, Launch breaks) {
    const char *whole = arena_printf(module->arena, "kernel @places_%zu%s", module->kernels.count, places);
    bool good = ir_parse(module, source_add(sources, "places.ir", whole, strlen(whole))), kept;
    CHECK(good);
    if (!good) return;
    kernel = module->kernels.at[module->kernels.count - 1];
    Facts asks = facts_new(kernel, true), wishes = asks, none = facts_new(kernel, false);
    asks.only_asks = true;
    Ref x = named(name);
    bool known = fact_is_32_bits(kernel, x);
    CHECK(fact_wish_32_bits(&none, x) == known);
    CHECK(fact_wish_32_bits(&asks, x) == ends);
    CHECK(requires(&fits, &kept) == 0);
    for (int turn = 0; turn < 2; turn++) { /* what is asked for again is asked for once */
        CHECK(fact_wish_32_bits(&wishes, x) == ends);
        CHECK(requires(&fits, &kept) == count);
        CHECK(kept);
        requires(&breaks, &kept);
        CHECK(kept == !count);
    }
}

static void test_ends(Module *module, SourceMap *sources) {
    Launch small = {100, 3, 100, 100};
    struct {
        const char *name;
        bool ends;
        int count;
        Launch fits, breaks;
    } cases[] = {
        {"x", true, 1, {1 << 22, 1, 1, 1}, {(1 << 22) + 1, 1, 1, 1}}, /* 512 * (2^22 - 1) fits, 2^31 does not */
        {"x", true, 1, {0, 1, 1, 1}, {INT32_MAX, 1, 1, 1}},
        {"sum", true, 1, {1 << 22, 1, 8, 1}, {1 << 22, 1, 9, 1}},
        {"sum", true, 1, {1, 1, 1 << 25, 1}, {1, 1, (1 << 25) + 1, 1}},
        {"less", true, 2, {(1 << 22) + 1, 1, 1, 1}, {(1 << 22) + 2, 1, 1, 1}}, /* its least end */
        {"less", true, 2, {1, 1, 1 << 25, 1}, {1, 1, (1 << 25) + 1, 1}},       /* its most */
        {"down", true, 2, {129, 1, 1, 1}, {130, 1, 1, 1}},
        {"rest", true, 1, {1, 128, 1 << 30, 1}, {1, 129, 1, 1}},
        {"part", true, 1, {1, 5, 128, 1}, {1, 5, 129, 1}},
        {"prod", true, 1, {1 << 16, 1, 1, 1 << 15}, {1 << 16, 1, 1, (1 << 15) + 1}},
        {"off", true, 2, {1 << 16, 1, 1, 1 << 15}, {1 << 16, 1, 1, (1 << 15) + 2}},
        {"again", true, 0, small, small}, {"any", false, 0, small, small},  {"far", false, 0, small, small},
        {"huge", false, 0, small, small}, {"back", false, 0, small, small}, {"k", true, 0, small, small},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_places(module, sources, cases[i].name, cases[i].ends, cases[i].count, cases[i].fits, cases[i].breaks);
}

int main(void) {
    Trap trap;
    Arena arena;
    SourceMap sources;
    Diag diag;
    if (!TRAP_ARM(&trap)) return 1;
    arena_init(&arena, allocator_malloc, &trap);
    source_init(&sources, &arena);
    diag_init(&diag, &arena, &sources);
    Module *module = ir_module_new(&arena, &diag, &sources);
    bool good = ir_parse(module, source_add(&sources, "facts.ir", text, strlen(text)));
    CHECK(good);
    if (!good) {
        fprintf(stderr, "%s", diag_render(&diag, &arena));
        return 1;
    }
    kernel = module->kernels.at[0];
    Facts facts = facts_new(kernel, false);
    test_multiples(&facts);
    test_any_multiples();
    test_naturals(&facts);
    test_widths();
    test_forms(&arena);
    test_growth(&arena);
    test_ends(module, &sources);
    arena_free(&arena);
    return check_done();
}
