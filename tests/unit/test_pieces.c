/* SPDX-License-Identifier: Apache-2.0 */
/* test_pieces.c: conversions that go through shared memory in pieces. Layouts of many kinds (bits in any order,
 * copies in several threads; tiles that are no powers of two; elements of 1 to 8 bytes), on machines whose shared
 * memory is too small by a factor of 1, 2, 4 .. 64: as many pieces as that takes and no more, equal bits, no race. */
#include "cuda_bench.h"
#include "ir/tile_layout.h"

static uint64_t seed = 7;

static int pick(int n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

typedef struct Shape {
    int rank;
    int64_t extent[3];
} Shape;

static int bits_of(const Shape *s) {
    int bits = 0;
    for (int d = 0; d < s->rank; d++) bits += ll_log2(s->extent[d]);
    return bits;
}

/* One basis of the text form: coordinates of an index. */
static void add_place(Text *text, const Shape *s, uint32_t index) {
    int shift = bits_of(s);
    if (!index) {
        text_add(text, " 0");
        return;
    }
    for (int d = 0; d < s->rank; d++) {
        int own = ll_log2(s->extent[d]);
        shift -= own;
        text_add(text, "%s%u", d ? "," : " (", index >> shift & ((1u << own) - 1));
    }
    text_add(text, ")");
}

/* Bits of the index in any order over warps, lanes and registers; what is left of lanes and warps holds copies. */
static void add_layout(Text *text, const char *name, const Shape *s, int warps) {
    int bits = bits_of(s), at = 0, lanes = 5, total = bits > lanes + ll_log2(warps) ? bits : lanes + ll_log2(warps);
    uint32_t basis[32] = {0};
    for (int i = 0; i < bits; i++) basis[i] = 1u << i;
    for (int i = total - 1; i > 0; i--) {
        int j = pick(i + 1);
        uint32_t other = basis[j];
        basis[j] = basis[i];
        basis[i] = other;
    }
    text_add(text, "  layout #%s = regs<", name);
    for (int d = 0; d < s->rank; d++) text_add(text, "%s%d", d ? "x" : "", 1 << ll_log2(s->extent[d]));
    for (int side = 0; side < 3; side++) {
        int count = side == 0 ? total - lanes - ll_log2(warps) : side == 1 ? lanes : ll_log2(warps);
        if (count) text_add(text, ", %s", side == 0 ? "reg" : side == 1 ? "lane" : "warp");
        for (int i = 0; i < count; i++) add_place(text, s, basis[at++]);
    }
    text_add(text, ">\n");
}

static void add_tensor(Text *text, const char *name, const char *base, const Shape *s) {
    text_add(text, "  %%%s = tensor %s, [", name, base);
    for (int d = 0; d < s->rank; d++) text_add(text, "%s%lld", d ? ", " : "", (long long)s->extent[d]);
    text_add(text, "], [");
    for (int d = 0; d < s->rank; d++) {
        long long stride = 1;
        for (int other = d + 1; other < s->rank; other++) stride *= s->extent[other];
        text_add(text, "%s%lld", d ? ", " : "", stride);
    }
    text_add(text, "]\n");
}

enum { EACH = 6, ROOM = 4096 };

/* Several conversions of one element type, each of another shape. */
static const char *write_kernel(Arena *arena, Elem elem, int warps, Shape *shapes) {
    static const Shape all[] = {{1, {4096}}, {2, {64, 64}}, {2, {128, 32}}, {2, {40, 100}}, {3, {8, 16, 32}}, {2, {2048, 2}}, {1, {3000}}};
    Text text = text_new(arena);
    text_add(&text, "kernel @k(%%x, %%z: *%s) <form=layout, warps=%d> {\n", elem_info[elem].text, warps);
    for (int i = 0; i < EACH; i++) {
        shapes[i] = all[pick(sizeof all / sizeof *all)];
        add_layout(&text, arena_printf(arena, "r%d", 2 * i), &shapes[i], warps);
        add_layout(&text, arena_printf(arena, "r%d", 2 * i + 1), &shapes[i], warps);
    }
    for (int i = 0; i < EACH; i++) {
        const char *zeros = shapes[i].rank == 1 ? "0" : shapes[i].rank == 2 ? "0, 0" : "0, 0, 0";
        Text type = text_new(arena);
        for (int d = 0; d < shapes[i].rank; d++) text_add(&type, "%s%lld", d ? "," : "", (long long)shapes[i].extent[d]);
        text_add(&text, "  %%p%d = ptr_add %%x, %d\n  %%q%d = ptr_add %%z, %d\n", i, i * ROOM, i, i * ROOM);
        add_tensor(&text, arena_printf(arena, "X%d", i), arena_printf(arena, "%%p%d", i), &shapes[i]);
        add_tensor(&text, arena_printf(arena, "Z%d", i), arena_printf(arena, "%%q%d", i), &shapes[i]);
        text_add(&text, "  %%a%d#r%d = tload %%X%d, [%s] : %s[%s]\n", i, 2 * i, i, zeros, elem_info[elem].text, type.at);
        text_add(&text, "  %%b%d#r%d = convert<via=shared> %%a%d\n  tstore %%Z%d, [%s], %%b%d\n", i, 2 * i + 1, i, i, zeros, i);
    }
    text_add(&text, "  return\n}\n");
    return text.at;
}

/* Does every conversion go in as many pieces as a machine with so much memory needs, and no more? */
static bool as_few_as_fit(const Kernel *k, int elem_bytes, const Shape *shapes, int64_t bytes) {
    int i = 0;
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op->code != OP_CONVERT) continue;
        int64_t whole = (int64_t)elem_bytes << bits_of(&shapes[i++]), wanted = 1;
        while (whole / wanted > bytes) wanted *= 2;
        if (op_int(op, AT_PIECES, 1) != wanted || op_int(op, AT_BYTES, 0) != whole / wanted) return false;
    }
    return i == EACH;
}

static bool runs(Elem elem, int warps, int64_t bytes) {
    Machine machine = *machine_find("cuda:sm_90a");
    machine.ring_bytes = bytes;
    Trap trap;
    Arena arena;
    Shape shapes[EACH];
    arena_init(&arena, allocator_malloc, &trap);
    const char *text = write_kernel(&arena, elem, warps, shapes);
    CudaBench b;
    bool good = cuda_bench_open_on(&b, text, &machine, pass_options_default, cuda_emit);
    int elem_bytes = elem_info[elem].bytes;
    good = good && as_few_as_fit(b.kernel, elem_bytes, shapes, bytes);
    if (good && getenv("SHOW")) fputs(b.plan->text, stderr);
    if (good) {
        cuda_bench_array(&b, "x", elem, EACH * ROOM, true);
        cuda_bench_array(&b, "z", elem, EACH * ROOM, false);
        good = cuda_bench_run(&b, 1, 1, 1) &&
               memcmp(b.arrays[1].memory[0], b.arrays[1].memory[1], (size_t)(EACH * ROOM * elem_bytes)) == 0;
    }
    if (!good) fprintf(stderr, "%d warps, %lld bytes:\n%s", warps, (long long)bytes, text);
    cuda_bench_close(&b);
    arena_free(&arena);
    return good;
}

int main(void) {
    static const Elem elems[] = {EL_F16, EL_F32, EL_I64, EL_I8};
    cuda_bench_begin();
    if (cuda_bench_have("c++")) {
        for (size_t i = 0; i < sizeof elems / sizeof *elems; i++)
            for (int j = 0; j < 3; j++)
                if (check_chosen()) CHECK(runs(elems[i], 1 << pick(4), 1024 << pick(3)));
    } else {
        printf("skipped: no C++ compiler\n");
    }
    cuda_bench_end();
    return check_done();
}
