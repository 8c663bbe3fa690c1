/* SPDX-License-Identifier: Apache-2.0 */
/* test_layout_check.c: kernels in layout form that somebody has changed by hand are refused with the rule they break.
 *
 * The texts are those of the golden tests (tests/pass/layout_*.ir), with one thing changed. Each is read, goes through the
 * passes that are left and, where nothing is wrong with it, to the emitter, which must take it. */
#include "check.h"
#include "pass/pass.h"
#include "target/cuda/cuda.h"

typedef struct Spoilt {
    const char *file;     /* tests/pass/layout_FILE.ir */
    const char *from, *to; /* the first place in the text; "": nothing is changed */
    const char *want;     /* of the message; NULL: it is still good */
} Spoilt;

static const Spoilt cases[] = {
    {"matmul", "", "", NULL},
    {"matmul_ahead", "", "", NULL},
    {"attention", "", "", NULL},
    {"softmax", "", "", NULL},
    {"gather", "", "", NULL},
    {"transposed", "", "", NULL},
    {"odd", "", "", NULL},
    {"lean", "", "", NULL},
    {"indexed", "", "", NULL},
    /* who multiplies what */
    {"matmul", "grid=[2,1]", "grid=[1,2]", "its sum must live as"},
    {"matmul", "grid=[2,1]", "grid=[2]", "lie as `grid=[2,1]` over its sum"},
    {"matmul", ", grid=[2,1]", "", "lie as `grid=[2,1]` over its sum"},
    /* a layout by itself */
    {"transposed", "regs<64x64, reg (0,1)", "regs<64x63, reg (0,1)", "the extents of a layout are powers of two"},
    {"transposed", "regs<64x64, reg (0,1)", "regs<64x64, reg (0,64)", "the place lies outside of the layout's extents"},
    {"transposed", "regs<64x64, reg (0,1)", "regs<64x64, reg (0,2)", "two bits of a place move an element along the same bit"},
    {"transposed", "regs<64x64, reg (0,1)", "regs<64x64, reg (0,3)", "moves an element along two bits of its index"},
    {"transposed", "regs<64x64, reg (0,1)", "regs<64x64, reg 0", "a register of the layout repeats another one"},
    {"transposed", "regs<64x64, reg (0,1) (0,2)", "regs<64x64, reg (0,1)", "does not hold every element"},
    {"transposed", "regs<64x64, reg (0,1)", "regs<4096, reg (1)", "`)` is expected here"},
    {"transposed", "%a#r0 = tload", "%a#r1 = tload", "the layout has 128 elements along dimension 0, the tile has 64"},
    {"transposed", "%a#r0 = tload", "%a#r9 = tload", "the kernel has no layout of this name"},
    {"transposed", "%a#r0 = tload", "%a = tload", "in layout form every tile has a layout"},
    {"transposed", "%m = mul", "%m#r0 = mul", "only tiles have a layout"},
    {"transposed", "form=layout, ", "", "a layout stands in layout form only"},
    {"transposed", "warp (4,0) (8,0)>", "warp (4,0) (8,0) 0>", "a layout here is spread over 32 lanes and 4 warps"},
    {"transposed", "shared<64x64, width=128>", "shared<64x64, width=96>", "`width` must be 16, 32, 64 or 128"},
    {"transposed", "shared<64x64, width=128>", "shared<48x64, width=128>", "there must be room for 64x64 elements"},
    {"transposed", "shared<64x64, width=128>", "shared<64x64, width=128, zero=64x999>", "`zero` must lie between the tile and the room"},
    {"matmul", "b: f16[64,256]#s1}", "b: f16[64,256]}", "all fields of a ring have a layout, or none"},
    {"matmul", "b: f16[64,256]#s1}", "b: f16[64,256]#r0}", "lives in shared memory"},
    /* between values */
    {"transposed", "shared<64x64, width=128>", "shared<64x64, width=64>", "operand 1 must be stored as shared<64x64, width=128"},
    {"transposed", "%a_1#s0 = convert<vector=8> %a", "%a_1#r0 = convert<via=nothing> %a", "operand 1 must lie in shared memory"},
    {"transposed", "%h#r3 = cast %t", "%h#r1 = cast %t", "its tiles must live in the same places"},
    {"transposed", "%t#r3 = permute", "%t#r1 = permute", "its result must live where its operand says"},
    {"transposed", "%bt#s2 = permute", "%bt#s1 = permute", "there must be room for 64x128"},
    {"transposed", "%C, [%n, %m], %h_1", "%C, [%n, %m], %h", "vectors of 8 elements"},
    {"matmul", "%acc#r0 = for", "%acc#r1 = for", "no layout of this name"},
    {"attention", "instr=wgmma", "instr=fma", "its sum must live as"},
    /* accesses */
    {"transposed", "%a#r0 = tload<along=1, vector=8, whole>", "%a#r0 = tload<along=1, vector=4, whole>", NULL},
    {"transposed", "%a#r0 = tload<along=1, vector=8, whole>", "%a#r0 = tload", NULL},
    {"transposed", "%a#r0 = tload<along=1, vector=8, whole>", "%a#r0 = tload<along=1, vector=16, whole>", "at most 8"},
    {"transposed", "%a#r0 = tload<along=1, vector=8, whole>", "%a#r0 = tload<along=0, vector=8, whole>", "cannot move this"},
    {"transposed", "%a#r0 = tload<along=1, vector=8, whole>", "%a#r0 = tload<by=tma>", "TMA cannot bring this"},
    {"transposed", "%a#r0 = tload<along=1, vector=8, whole>", "%a#r0 = tload<by=async, along=1, vector=8, whole>",
     "threads cannot copy this straight into a slot"},
    /* index vectors: in the slice of the tile, and vectors along other dimensions */
    {"indexed", "%TX, [%v_1, 0]", "%TX, [%v, 0]", "its tiles must live in the same places"},
    {"indexed", "%TY, [%v_1, 64]", "%TY, [%v, 64]", "its tiles must live in the same places"},
    {"indexed", "%TS, [%v, 3, 0]", "%TS, [%v_1, 3, 0]", "its tiles must live in the same places"},
    {"indexed", "%b#r2 = tload %TX", "%b#r2 = tload<along=1, vector=2> %TX", "at most 1"},
    {"indexed", "tatomic<add, dims=[0,2], along=1, vector=4, whole>", "tatomic<max, dims=[0,2], along=1, vector=4, whole>", "at most 1"},
    {"indexed", "tatomic<add, dims=[0,2], along=1, vector=4, whole>", "tatomic<add, dims=[0,2], along=1, vector=2, whole>", NULL},
    {"indexed", "tatomic<add, dims=[0,2], along=1, vector=4, whole>", "tatomic<add, dims=[0,2], along=1, vector=4>", "atomics add whole vectors"},
    {"indexed", "fill=1.0, along=1", "fill=1.0, along=0", "cannot move this"},
    {"indexed", "require<mult=8> %C", "require<mult=4> %C", "at most 4"},
    {"indexed", "tload<fill=1.0, along=1, vector=8, whole, held=pairs>", "tload<fill=1.0, by=tma>", "TMA cannot bring this"},
    {"transposed", "require<mult=8> %11", "require<mult=1> %11", "some of them partly outside"},
    {"matmul", "require<align=16> %A", "require<align=8> %A", "TMA cannot bring this"},
    {"transposed", "tstore<along=1, vector=8, whole>", "tstore<by=tma>", "TMA cannot store this"},
    {"transposed", "via=shared", "via=shuffle", "it goes via shared"},
    {"transposed", "convert<via=shared>", "convert", "it goes via shared"},
    {"transposed", "convert<vector=8> %a", "convert<vector=4> %a", NULL},
    {"transposed", "convert<vector=8> %a", "convert<vector=16> %a", "`vector` is at most 8 here"},
    {"matmul", "put<vector=2>", "put<vector=4>", "`vector` is at most 2 here"},
    {"softmax", "cast<held=wide>", "cast<held=pairs>", "held in pairs"},
    {"softmax", "sub %x", "sub<held=pairs> %x", "held in pairs"},
    {"softmax", ", held=pairs", "", NULL},
    /* views of buffers: their rows and panels, and nobody is told before the product that it has been read */
    {"view", "", "", NULL},
    {"view", "%t#r0 = dot", "bar_arrive %empty, %at\n      %t#r0 = dot", "between the read and the product others"},
    {"view", "%t#r0 = dot", "%x0#r2 = splat 1.0 : f16[1,64,64]\n      bstore %a, [%at, 0, 0], %x0\n      %t#r0 = dot", "between the read and the product others"},
    {"view", "%t#r0 = dot", "bar_wait %full, %phase, %at\n      %t#r0 = dot", NULL},
    {"view", "bload %a, [%at, 0, 0]", "bload %a, [%at, 4, 0]", "its first row is no multiple of 8"},
    {"view", "bload %a, [%at, 0, 0]", "bload %a, [%at, 0, %i]", "its first column lies inside of a panel"},
    {"view", "%a#s0 = buf", "%a = buf", "has its rows and its panels, and the buffer a layout"},
    {"view", "%x#s0 = bload", "%x#s1 = bload", "has its rows and its panels, and the buffer a layout"},
    {"view", "shared<128x64, width=128>", "shared<128x64, width=64>", "all of its rows below each other"},
    {"view", "bstore<vector=8>", "bstore<vector=16>", "`vector` is at most 8 here"},
    {"view", "bstore<vector=8>", "bstore<vector=4>", NULL},
    {"view_wide", "", "", NULL},
    {"view_wide", "box=[2,64,64]> %b", "box=[2,32,128]> %b", "does not lie in"},
    {"view_wide", "bload<box=[2,64,64]> %b", "bload %b", "does not lie in"},
    {"view_wide", "box=[2,64,64]> %a", "box=[128,64]> %a", "`box` is one of matrices, shown as one"},
    {"view_wide", "box=[2,64,64]> %a", "box=[3,64,64]> %a", "with its matrices below each other, nor side by side"},
    {"transposed", "<form=layout, ", "<form=layout, lean, ", "`lean` is for kernels of loads"},
};

static char *golden(const char *name, Arena *arena) {
    FILE *file = fopen(arena_printf(arena, "tests/pass/layout_%s.ir", name), "rb");
    enum { ROOM = 1 << 20 };
    char *text = arena_alloc_array(arena, ROOM, 1);
    size_t size = file ? fread(text, 1, ROOM - 1, file) : 0;
    text[size] = 0;
    if (file) fclose(file);
    char *at = strstr(text, "---- ir\n"), *end = at ? strstr(at + 8, "\n---- ") : NULL;
    if (end) end[1] = 0;
    return at ? at + 8 : NULL;
}

static void run_case(const Spoilt *s, Arena *arena, Arena *scratch) {
    char *text = golden(s->file, arena), *at = text ? strstr(text, s->from) : NULL;
    if (!at) fprintf(stderr, "%s: `%s` is not in it\n", s->file, s->from);
    CHECK(at != NULL);
    if (!at) return;
    text = arena_printf(arena, "%.*s%s%s", (int)(at - text), text, s->to, at + strlen(s->from));
    SourceMap sources;
    Diag diag;
    source_init(&sources, arena);
    diag_init(&diag, arena, &sources);
    Module *m = ir_module_new(arena, &diag, &sources);
    const char *machine = strcmp(s->file, "matmul_ahead") == 0 || strcmp(s->file, "odd") == 0 ? "cuda:sm_80" : "cuda:sm_90a";
    PassContext cx = {.module = m, .machine = machine_find(machine), .options = pass_options_default, .scratch = scratch};
    PipelineRequest request = {.verify_each = true};
    bool good = ir_parse(m, source_add(&sources, "k.ir", text, strlen(text))) && pipeline_run(&cx, m->kernels.at[0], &request) &&
                cuda_emit(&cx, m->kernels.at[0]);
    const char *message = diag_render(&diag, arena);
    if (!s->want) CHECK_TEXT(message, "");
    CHECK(good == !s->want);
    if (s->want && !strstr(message, s->want)) CHECK_TEXT(message, s->want);
}

int main(void) {
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Trap trap;
        Arena arena, scratch;
        arena_init(&arena, allocator_malloc, &trap);
        arena_init(&scratch, allocator_malloc, &trap);
        if (TRAP_ARM(&trap))
            run_case(&cases[i], &arena, &scratch);
        else
            CHECK_TEXT(trap.message, "no trap");
        arena_free(&scratch);
        arena_free(&arena);
    }
    return check_done();
}
