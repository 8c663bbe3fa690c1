/* SPDX-License-Identifier: Apache-2.0 */
/* test_ir_text.c: printer, parser and verifier of Tile IR. */
#include "check.h"
#include "ir/build.h"

/* Parses, prints; the print must be `want` (or the text itself), and print(parse(print)) must be the same. */
static void round_trip(const char *text, const char *want) {
    Trap trap;
    Arena arena;
    SourceMap sources;
    Diag diag;
    arena_init(&arena, allocator_malloc, &trap);
    if (TRAP_ARM(&trap)) {
        const char *now = text;
        for (int pass = 0; pass < 2; pass++) {
            source_init(&sources, &arena);
            diag_init(&diag, &arena, &sources);
            Module *m = ir_module_new(&arena, &diag, &sources);
            if (!ir_parse(m, source_add(&sources, "t.ir", now, strlen(now)))) {
                CHECK_TEXT(diag_render(&diag, &arena), "");
                break;
            }
            Text all = text_new(&arena);
            for (size_t i = 0; i < m->kernels.count; i++) text_add(&all, "%s", ir_print(m->kernels.at[i], &arena));
            CHECK_TEXT(all.at, want);
            now = all.at;
        }
    } else {
        CHECK_TEXT(trap.message, "no trap");
    }
    arena_free(&arena);
}

static void refused(const char *text, const char *want) {
    Trap trap;
    Arena arena;
    SourceMap sources;
    Diag diag;
    arena_init(&arena, allocator_malloc, &trap);
    if (TRAP_ARM(&trap)) {
        source_init(&sources, &arena);
        diag_init(&diag, &arena, &sources);
        Module *m = ir_module_new(&arena, &diag, &sources);
        CHECK(!ir_parse(m, source_add(&sources, "t.ir", text, strlen(text))));
        char *got = diag_render(&diag, &arena);
        if (!strstr(got, want)) CHECK_TEXT(got, want);
        check_count++;
    } else {
        CHECK_TEXT(trap.message, "no trap");
    }
    arena_free(&arena);
}

static const char matmul[] =
    "kernel @mm(%A, %B, %C: *f16, %M, %N, %K, %sa, %sb, %sc: i32) <warps=4> {\n"
    "  %nm = cdiv %M, 128\n"
    "  %nn = cdiv %N, 256\n"
    "  %nk = cdiv %K, 64\n"
    "  %np = num_programs<0>\n"
    "  %TA = tensor %A, [%M, %K], [%sa, 1]\n"
    "  %TB = tensor %B, [%K, %N], [%sb, 1]\n"
    "  %TC = tensor %C, [%M, %N], [%sc, 1]\n"
    "  %in = ring<from=load, to=compute, slots=3, hold=2> : {a: f16[128,64], b: f16[64,256]}\n"
    "  %out = ring<from=compute, to=store, slots=1> : {c: f16[128,256]}\n"
    "  tasks %pid in %np <order=code, persist> {\n"
    "    %pm = div %pid, %nn\n"
    "    %pn = rem %pid, %nn\n"
    "    %m = mul %pm, 128\n"
    "    %n = mul %pn, 256\n"
    "    role load {\n"
    "      for %k = 0, %nk, 1 {\n"
    "        %kk = mul %k, 64\n"
    "        %s = acquire %in\n"
    "        %a = tload %TA, [%m, %kk] : f16[128,64]\n"
    "        put %s.a, %a\n"
    "        %b = tload<fill=0.5> %TB, [%kk, %n] : f16[64,256]\n"
    "        put %s.b, %b\n"
    "        commit %in, %s\n"
    "      }\n"
    "    }\n"
    "    role compute<workers=2, by=m> {\n"
    "      %z = splat 0.0 : f32[128,256]\n"
    "      %acc = for %k = 0, %nk, 1 (%c = %z) {\n"
    "        %s = wait %in\n"
    "        %a = get %s.a\n"
    "        %b = get %s.b\n"
    "        %c1 = dot %a, %b, %c\n"
    "        release %in, %s\n"
    "        yield %c1\n"
    "      }\n"
    "      %h = cast %acc : f16[128,256]\n"
    "      %o = acquire %out\n"
    "      put %o.c, %h\n"
    "      commit %out, %o\n"
    "    }\n"
    "    role store<on=compute> {\n"
    "      %o = wait %out\n"
    "      %h = get %o.c\n"
    "      tstore %TC, [%m, %n], %h\n"
    "      release %out, %o\n"
    "    }\n"
    "  }\n"
    "}\n";

static const char control[] =
    "kernel @c(%X: tensor<f32,2>, %p: *i8, %n: i64) {\n"
    "  grid {\n"
    "    %e = extent<0> %X\n"
    "    %g = cast %e : i32\n"
    "    yield %g, 1\n"
    "  }\n"
    "  %0 = add %n, -1\n"
    "  %1 = add 7:u64, 8:u64\n"
    "  %r, %q = while (%a = %0, %b = 0.1) {\n"
    "    %c = cmp<lt> %a, 10\n"
    "    test %c, %a, %b\n"
    "  } do (%d, %f) {\n"
    "    %d1 = add %d, 1\n"
    "    yield %d1, %f\n"
    "  }\n"
    "  %c = cmp<eq> %r, 3\n"
    "  %v = if %c {\n"
    "    yield 1.5\n"
    "  } {\n"
    "    yield %q\n"
    "  }\n"
    "  %b = buf : buf<f32[8], shared>\n"
    "  parallel %i, %j in 4, 2 {\n"
    "    %x = mul %i, 2\n"
    "    %y = add %x, %j\n"
    "    bstore %b, [%y], %v\n"
    "  }\n"
    "  %t = bload %b, [0] : f32[8]\n"
    "  %s, %at = reduce<region, axis=0> %t, %t (%x: f32, %i: f32, %y: f32, %j: f32) {\n"
    "    %m = max<nan=keep> %x, %y\n"
    "    yield %m, %j\n"
    "  }\n"
    "  %mx = reduce<argmax, axis=0> %t\n"
    "  %pp = ptr_add %p, %n\n"
    "  %l = load<evict=first> %pp, true, 5\n"
    "  store %pp, %l\n"
    "  spmd %w in 2 <unit=warpgroup> {\n"
    "    sync<unit=block>\n"
    "  }\n"
    "  assert<message=\"all \\\"good\\\"?\"> %c\n"
    "  tasks %it while {\n"
    "    %go = cmp<lt> %it, 3\n"
    "    test %go, %it\n"
    "  } do (%m) {\n"
    "    role load {\n"
    "      print<message=it> %m, %s\n"
    "    }\n"
    "  }\n"
    "}\n";

static void test_round_trips(void) {
    round_trip(matmul, matmul);
    round_trip(control, control);
    /* names of the doors: parts of an argument, letters beyond ASCII; the last part of what put and get name is a field */
    static const char dotted[] = "kernel @m\303\266(%args.0, %d.shape.1: i32, %\316\261: f32) {\n"
                                 "  %x.y_1 = add %args.0, %d.shape.1\n"
                                 "  %\316\262 = neg %\316\261\n"
                                 "}\n";
    round_trip(dotted, dotted);
    refused("kernel @f(%a.: i32) { }", "`:` is expected");
    refused("kernel @f(%a.0: i32) { %b = neg %a }", "a");
    refused("kernel @a.b() { }", "`(` is expected");
    round_trip("kernel @e() { return }", "kernel @e() {\n}\n");
    round_trip("// hello\nkernel @f(%x: f32) { %y = add %x, 1.0 ; %x_1 = neg %y ; %5 = neg %x_1 @3:4 }\n",
               "kernel @f(%x: f32) {\n  %y = add %x, 1.0\n  %x_1 = neg %y\n  %0 = neg %x_1\n}\n");
    round_trip("kernel @g() { %a = splat -inf : f32[3] ; %b = splat nan : bf16[2,2] ; %c = splat 1e-07 : f64[1] }",
               "kernel @g() {\n  %a = splat -inf : f32[3]\n  %b = splat nan : bf16[2,2]\n  %c = splat 1e-07 : f64[1]\n}\n");
}

static void test_refusals(void) {
    refused("kernel @e(%x: i32) { %y = ad %x, 1 }", "`ad` is no operation of Tile IR; did you mean `add`?");
    refused("kernel @e() { %y = add %x, 1 }", "`%x` is not defined before this use");
    refused("kernel @e(%x: i32, %y: f32) { %z = add %x, %y }", "operands must have one element type, here i32 and f32");
    refused("kernel @e(%x: i32) { for %i = 0, 4, 1 { %a = add %x, %i } ; %b = neg %a }", "`%a` is not defined");
    refused("kernel @e() { %x = iota<0, 4> ; %y = iota<0, 3> ; %z = add %x, %y }", "do not broadcast");
    refused("kernel @e(%x: f32) { %r = for %i = 0, 4, 1 (%a = %x) { yield } }", "0 values are handed on, 1 are expected");
    refused("kernel @e() { ", "`}` is missing");
    refused("kernel @e(%p: *f32) { %v = tload %p, [0] : f32[4] }", "operand 1 must be a tensor, it is *f32");
    refused("kernel @e() { %a = splat 0.0 : f32[1048577] }", "an extent must be in 1 .. 2^20");
    refused("kernel @e() { role load { } }", "a role stands directly in `tasks`");
    refused("kernel @e() { %a, %b = iota<0, 4> }", "has 1 results, 2 are named");
    refused("kernel @e() { %a = splat 1 : i8[4,4] ; %z = splat 0.0 : f32[4,4] ; %d = dot %a, %a, %z }", "products of integers are summed in integers");
    refused("kernel @e() { %a = splat 1.0 : f16[4,4] ; %z = splat 0 : i32[4,4] ; %d = dot %a, %a, %z }", "those of floats in floats");
}

/* --- attributes out of range --- */

static const char many[] =
    "kernel @m(%X: tensor<f32,3>, %p: *f32, %n: i32) <warps=4, stages=2> {\n"
    "  %id = program_id<0> ; %np = num_programs<1> ; %e = extent<2> %X ; %st = stride<1> %X ; %i = iota<0, 8>\n"
    "  %t = tload<dims=[0, 2], wrap=[0]> %X, [0, %id, 0] : f32[4,8] ; %x = expand<0> %i ; %f = flip<axis=1> %t\n"
    "  %c = cat<axis=0> %t, %t ; %r = reduce<add, axis=1, order=[2, 1, 0]> %t ; %s = scan<add, axis=1> %t ; %o = sort<axis=0> %t\n"
    "  %h = histogram<16> %i\n"
    "  %v = rem %i, 3 ; %tv = tload<dims=[0, 2]> %X, [%i, %id, %v] : f32[8,8] ; tstore<dims=[0, 1]> %X, [%i, %v, %id], %tv\n"
    "  tstore<dims=[0, 2]> %X, [0, 0, 0], %t ; tatomic<add, dims=[1, 2]> %X, [0, 0, 0], %t ; sync<unit=block, id=1, count=32>\n"
    "  assume<mult=4> %n ; require<align=16> %p ; require<least=1> %n ; assume<contiguous=4> %i\n"
    "}\n";

static int tried;
typedef struct Spoil {
    Kernel *k;
    Diag *diag;
} Spoil;

static void spoil_number(Spoil *s, Op *op, AttrId id, int64_t number) {
    const AttrInfo *info = &attr_info[id];
    if (number >= info->least && number <= info->most) return;
    const Attr *old = op_attr(op, id);
    Attr kept = old ? *old : (Attr){0};
    int64_t list[] = {number, number / 2, 0};
    Attr bad = {.id = id, .number = number};
    if (info->kind == ATTR_INTS) bad.list = (IntList){1 + tried % 3, list};
    op_set(s->k, op, bad);
    CHECK(!ir_verify(s->k, s->k->form, s->diag));
    if (old) op_set(s->k, op, kept);
    else op_drop(op, id);
    tried++;
}

static void spoil_op(Op *op, void *user) {
    static const int64_t numbers[] = {INT64_MIN, INT32_MIN, -2, -1, 0, 8, 9, 64, 1025, INT32_MAX, (int64_t)INT32_MAX + 1, INT64_MAX};
    for (int id = 1; id < AT_COUNT; id++) {
        bool number = attr_info[id].kind == ATTR_INT || attr_info[id].kind == ATTR_INTS;
        for (size_t n = 0; number && op_allows_attr(op->code, (AttrId)id) && n < sizeof numbers / sizeof *numbers; n++)
            spoil_number(user, op, (AttrId)id, numbers[n]);
    }
}

/* Any attribute of any op with a number outside of its range is refused; put right again the kernel is well-formed. */
static void test_ranges(void) {
    static const char *const texts[] = {matmul, control, many};
    Trap trap;
    Arena arena;
    SourceMap sources;
    Diag diag;
    arena_init(&arena, allocator_malloc, &trap);
    if (!TRAP_ARM(&trap)) {
        CHECK_TEXT(trap.message, "no trap");
        return;
    }
    for (int i = 0; i < 3; i++) {
        source_init(&sources, &arena);
        diag_init(&diag, &arena, &sources);
        Module *m = ir_module_new(&arena, &diag, &sources);
        CHECK(ir_parse(m, source_add(&sources, "t.ir", texts[i], strlen(texts[i]))));
        Spoil spoil = {m->kernels.at[0], &diag};
        CHECK_TEXT(diag_render(&diag, &arena), "");
        ir_walk(spoil.k->body, spoil_op, &spoil);
        CHECK(ir_verify(spoil.k, spoil.k->form, &diag));
        kernel_set(spoil.k, (Attr){.id = AT_WARPS, .number = INT64_MAX});
        CHECK(!ir_verify(spoil.k, spoil.k->form, &diag));
    }
    CHECK(tried > 300);
    arena_free(&arena);
}

/* Every attribute on every op that does not take it is refused (ops.def is the table), and on a kernel. */
static int strange;

static void spoil_strange(Op *op, void *user) {
    static const int64_t zero[] = {0};
    Spoil *s = user;
    for (int id = 1; id < AT_COUNT; id++) {
        if (op_allows_attr(op->code, (AttrId)id)) continue;
        Attr bad = {.id = (AttrId)id};
        switch (attr_info[id].kind) {
        case ATTR_INTS: bad.list = (IntList){1, zero}; break;
        case ATTR_TEXT: bad.text = "x"; break;
        case ATTR_ENUM:
            for (int w = 1; w < WORD_COUNT && !bad.word; w++)
                if (word_info[w].set == attr_info[id].set) bad.word = (Word)w;
            break;
        case ATTR_REF: bad.ref = ir_literal_int(s->k, ty_scalar(s->k->module, EL_I32), 0); break;
        default: bad.number = 1;
        }
        op_set(s->k, op, bad);
        CHECK(!ir_verify(s->k, s->k->form, s->diag));
        op_drop(op, (AttrId)id);
        strange++;
    }
}

static void test_strange(void) {
    static const char *const texts[] = {matmul, control, many};
    Trap trap;
    Arena arena;
    SourceMap sources;
    Diag diag;
    arena_init(&arena, allocator_malloc, &trap);
    if (!TRAP_ARM(&trap)) {
        CHECK_TEXT(trap.message, "no trap");
        return;
    }
    for (int i = 0; i < 3; i++) {
        source_init(&sources, &arena);
        diag_init(&diag, &arena, &sources);
        Module *m = ir_module_new(&arena, &diag, &sources);
        CHECK(ir_parse(m, source_add(&sources, "t.ir", texts[i], strlen(texts[i]))));
        Spoil spoil = {m->kernels.at[0], &diag};
        ir_walk(spoil.k->body, spoil_strange, &spoil);
        CHECK(ir_verify(spoil.k, spoil.k->form, &diag));
        kernel_set(spoil.k, (Attr){.id = AT_SLOTS, .number = 1});
        CHECK(!ir_verify(spoil.k, spoil.k->form, &diag));
    }
    CHECK(strange > 1000);
    arena_free(&arena);
}

/* What an op asks beyond the range. */
static void test_attributes(void) {
    refused("kernel @e() <slots=2> { }", "a kernel has no such attribute");
    refused("kernel @e(%n: i32) { for<warps=4> %i = 0, %n, 1 { } }", "`for` has no such attribute");
    refused("kernel @e(%n: i32) { %r = ring<stages=2> : {x: f32} }", "`ring` has no such attribute");
    refused("kernel @e(%n: i32) { tasks %t in %n <cluster=2, share=0> { } }", "`tasks` has no such attribute");
    refused("kernel @e(%n: i32) { tasks %t in %n <order=longest, dim=0> { } }", "`tasks` has no such attribute");
    refused("kernel @e() { %r = ring : {x: f32, y: f32, x: f32} }", "there is a field `x` already");
    refused("kernel @e(%n: i32) { %r = ring : {x: f32} ; tasks %t in %n { role load { %s = wait %r ; %y = get %s.y } } }", "`get`: the ring has no field `y`");
    refused("kernel @e(%n: i32) { %y = get %n.y }", "operand 1 must be a slot");
    refused("kernel @e(%n: i32) { tasks %t in %n { role load { } ; role work { } } }", "`role` is one of: load, prepare, compute, store");
    refused("kernel @e(%n: i32) { %r = ring<from=loads> : {x: f32} }", "`from` is one of: load, prepare, compute, store");
    refused("kernel @e(%n: i32) { tasks %t in %n { role store<on=worker> { } } }", "`on` is one of: load, prepare, compute, store");
    refused("kernel @e(%n: i32) { tasks %t in %n { role load { } ; role load { } } }", "there is a role `load` already");
    refused("kernel @e(%n: i32) { tasks %t in %n { role store<on=compute> { } } }", "`on` names another role of these tasks");
    refused("kernel @e(%n: i32) { tasks %t in %n { role store<on=store> { } } }", "`on` names another role of these tasks");
    refused("kernel @e(%n: i32) { tasks %t in %n { role load<on=compute> { } ; role compute<on=store> { } ; role store { } } }", "one that has workers of its own");
    refused("kernel @e(%n: i32) { tasks %t in %n { role load { } } ; tasks %u in %n { role load { } } }", "a kernel has one, in its own region");
    refused("kernel @e(%n: i32) { for %i = 0, %n, 1 { tasks %t in %n { role load { } } } }", "a kernel has one, in its own region");
    refused("kernel @e() { %x = program_id<3> }", "a grid has 3 dimensions");
    refused("kernel @e() { %x = program_id }", "`dim` must be given");
    refused("kernel @e(%X: tensor<f32,2>) { %x = tload<dims=[1, 0]> %X, [0, 0] : f32[4,4] }", "2 of the tensor's 2 dimensions, in their order");
    refused("kernel @e(%X: tensor<f32,2>) { %x = tload<dims=[0]> %X, [0, 0] : f32[4,4] }", "`dims` must name 2");
    refused("kernel @e(%X: tensor<f32,2>) { %x = tload<dims=[2147483647]> %X, [0, 0] : f32[7] }", "`dims` must be in 0 .. 11");
    refused("kernel @e(%X: tensor<f32,2>) { %x = tload<wrap=[0, 0]> %X, [0, 0] : f32[4] }", "`wrap` must name dimensions of the tensor, each once");
    refused("kernel @e(%X: tensor<f32,2>) { %v = iota<0, 4> ; %x = tload %X, [%v, 0] : f32[5,8] }", "along dimension 0 the box has 5 places, the index vector is i32[4]");
    refused("kernel @e(%X: tensor<f32,2>) { %v = iota<0, 4> ; %x = tload %X, [%v, 0] : f32[8] }", "the box has no axis along dimension 0: its offset there must be a scalar, it is i32[4]");
    refused("kernel @e(%X: tensor<f32,2>) { %v = iota<0, 4> ; %x = tload<wrap=[0]> %X, [%v, 0] : f32[4,8] }", "an index vector does not wrap; take its `mod` instead");
    refused("kernel @e(%X: tensor<f32,2>) { %v = splat 0 : i32[4,1] ; %x = tload %X, [%v, 0] : f32[4,8] }", "operand 2 must be an integer scalar or an index vector, it is i32[4,1]");
    refused("kernel @e(%X: tensor<f32,2>) { %v = splat 0.0 : f32[4] ; %x = tload %X, [%v, 0] : f32[4,8] }", "operand 2 must be an integer scalar or an index vector");
    refused("kernel @e(%X: tensor<f32,2>) { %v = splat true : i1[4] ; %z = splat 0.0 : f32[4,8] ; tstore %X, [%v, 0], %z }", "operand 2 must be an integer scalar or an index vector");
    refused("kernel @e(%X: tensor<f32,2>) { %v = iota<0, 3> ; %z = splat 0.0 : f32[4,8] ; tatomic<add> %X, [%v, 0], %z }", "along dimension 0 the box has 4 places");
    refused("kernel @e() { %v = iota<0, 4> ; %z = splat 0.0 : f32[4,8] ; %s = slice %z, [%v, 0] : f32[4,8] }", "operand 2 must be an integer scalar, it is i32[4]");
    refused("kernel @e(%X: tensor<f32,2>, %f: i32) { %x = tload<fill=%f> %X, [0, 0] : f32[4] }", "`fill` must be a scalar of type f32");
    refused("kernel @e(%x: f32) { %t = splat %x : f32[8] ; %r = reduce<add, axis=0, order=[0, 1, 1]> %t }", "each of the 3 bits");
    refused("kernel @e(%x: f32) { %t = splat %x : f32[8] ; %r = reduce<and, axis=0> %t }", "`and` combines bits, not f32");
    refused("kernel @e(%x: f32) { %t = splat %x : f32[8] ; %r = reduce<xchg, axis=0> %t }", "it does not combine by `xchg`");
    refused("kernel @e(%p: *f32) { %r = atomic<argmax> %p, 1.0 }", "it does not combine by `argmax`");
    refused("kernel @e(%x: f32) { %y = math<pow> %x }", "`pow` takes 2 operands");
    refused("kernel @e(%x: f32) { %y = and %x, %x }", "operand 1 must be an integer or i1");
    refused("kernel @e(%p: *f32) { %y = mul %p, %p }", "operand 1 must be a number");
    refused("kernel @e() { %i = iota<0, 4> ; for %j = %i, %i, %i { } }", "its bounds must be scalars");
    refused("kernel @e() { %i = iota<0, 4> ; parallel %j in %i { } }", "must be an integer scalar");
}

/* Types of every kind, made anew in two orders and by every door: their texts are equal where they are one, and nowhere else. */
static void test_types(void) {
    enum { MOST = EL_COUNT * 2 * 40 };
    static const int64_t shapes[][3] = {{1, 1, 1}, {8, 1, 1}, {1, 8, 1}, {8, 16, 1}, {16, 8, 2}};
    const Type *made[MOST];
    const char *texts[MOST];
    Trap trap;
    Arena arena;
    SourceMap sources;
    Diag diag;
    int count = 0, pairs = 0;
    arena_init(&arena, allocator_malloc, &trap);
    if (TRAP_ARM(&trap)) {
        source_init(&sources, &arena);
        diag_init(&diag, &arena, &sources);
        Module *m = ir_module_new(&arena, &diag, &sources);
        for (int turn = 0; turn < 2; turn++)
            for (int n = 0; n < EL_COUNT; n++) {
                Elem e = (Elem)(turn ? EL_COUNT - 1 - n : n);
                const Type *field = ty_scalar(m, e);
                const Type *ring = ty_ring(m, 2, (Field[]){{"a", field}, {n % 2 ? "b" : "a1", ty_pointer(m, e)}});
                const Type *some[] = {field, ty_pointer(m, e), ring, ty_slot(m, ring), ty_ring(m, 1, (Field[]){{"a", field}}), ty_bar(m)};
                for (size_t i = 0; i < sizeof some / sizeof *some; i++) made[count++] = some[i];
                for (int rank = 1; rank <= 3; rank++) made[count++] = ty_tensor(m, e, rank);
                for (int i = 0; i < 5; i++) {
                    const Type *tile = ty_tile(m, e, 1 + i % 3, shapes[i]), *buffer = ty_buffer(m, e, 1 + i % 3, shapes[i], i % 2 ? SCOPE_SHARED : SCOPE_LOCAL);
                    made[count++] = tile;
                    made[count++] = buffer;
                    made[count++] = ty_pointer_tile(m, e, 1 + i % 3, shapes[i]);
                    made[count++] = ty_with_elem(m, tile, EL_F32);
                    made[count++] = ty_with_elem(m, buffer, EL_I8);
                    made[count++] = ty_with_shape(m, tile, 2, shapes[3]);
                }
            }
        CHECK(count <= MOST);
        for (int i = 0; i < count; i++) texts[i] = ty_text(made[i], &arena);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < i; j++) {
                bool equal = strcmp(texts[i], texts[j]) == 0;
                if (equal != (made[i] == made[j])) CHECK_TEXT(texts[i], "one type with one text");
                pairs += equal;
            }
        CHECK(pairs > count);
    } else {
        CHECK_TEXT(trap.message, "no trap");
    }
    arena_free(&arena);
}

int main(void) {
    test_types();
    test_round_trips();
    test_refusals();
    test_ranges();
    test_strange();
    test_attributes();
    return check_done();
}
