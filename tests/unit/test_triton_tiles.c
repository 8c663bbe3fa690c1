/* SPDX-License-Identifier: Apache-2.0 */
/* test_triton_tiles.c: Triton's memory, casts, shapes, products, random numbers and mathematics
 * against answers worked out by hand, on the interpreter and the CPU target. */
#include "triton_answers.h"

#define K(n)    "k = tl.arange(0, " #n ")\n"
#define LOAD(n) K(n) "v = tl.load(x + k)\n"
#define AT(m, n) \
    "r = tl.arange(0, " #m ")\nc = tl.arange(0, " #n ")\nat = r[:, None] * " #n " + c[None, :]\n"
#define GRID(m, n)      AT(m, n) "v = tl.load(x + at)\n"
#define IS(what, dtype) "tl.static_assert(" what ".dtype == tl." dtype ")\n"

static const TritonCase memory[] = {
    {ROW("masks and other",
         "x f32 1 2 3 4; z f32 = 1 2 0 0; w f32 = 1 9 3 9; y f32 5*7 = 1 2 7 7 7",
         K(4) "tl.store(z + k, tl.load(x + k, mask=k < 2))\n"
              "tl.store(w + k, tl.load(x + k, mask=k % 2 == 0, other=9))\n"
              "tl.store(y + k, tl.load(x + k), k < 2)")},
    {ROW("a mask repeats along rows", "x f32 1 2 3 4 5 6; z f32 = 1 0 3 4 0 6",
         AT(2, 3) "tl.store(z + at, tl.load(x + at, mask=(c != 1)[None, :]))")},
    {ROW("other repeats along columns", "x f32 1 2 3 4 5 6; z f32 = 1 10 10 4 11 11",
         AT(2, 3) "tl.store(z + at, tl.load(x + at, mask=c[None, :] < 1, other=r[:, None] + 10))")},
    {ROW("options of load and store", "x f32 1 2; z f32 = 1 2",
         K(2) "v = tl.load(x + k, cache_modifier='.cg', eviction_policy='evict_first', "
              "volatile=True)\n"
              "tl.store(z + k, v, cache_modifier='.wb', eviction_policy='evict_last')")},
    {ROW("scalars", "x f32 3 5; z f32 = 5 3",
         "tl.store(z, tl.load(x + 1))\ntl.store(z + 1, tl.load(x, mask=True, other=1))")},
    {ROW("booleans live in bytes",
         "i i32 256 2 0 -1; f f32 0.5 2 0 0.9; z i1 = 0 1 0 1; y i1 = 0 1 0 0; n i32 = 0 1 0 1",
         K(4) "tl.store(z + k, tl.load(i + k))\ntl.store(y + k, tl.load(f + k))\nb = tl.load(z + "
              "k)\n" IS("b", "int1") "tl.store(n + k, b.to(tl.int32))")},
    {ROW("other without mask", "x f32 1", "tl.load(x, other=1.0)"), .refused = "give a mask too"},
    {ROW("a mask of integers", "x f32 1 2", K(2) "tl.load(x + k, mask=k)"),
     .refused = "boolean (int1)"},
    {ROW("a value wider than the places", "x f32 1 2", K(2) "tl.store(x, k)"),
     .refused = "broadcast"},
    {ROW("an unknown modifier", "x f32 1", "tl.load(x, cache_modifier='.zz')"), .refused = "'.ca'"},
    {ROW("boundary_check of plain pointers", "x f32 1", "tl.load(x, boundary_check=(0,))"),
     .refused = "belong to block pointers"},
    {ROW("pointers and integers", "x f32 1 2 3; z f32 = 3 2; a i64 = 8",
         "p = x + 2\nn = p.to(tl.int64)\nq = n.to(tl.pointer_type(tl.float32))\ntl.store(z, "
         "tl.load(q))\n"
         "tl.store(z + 1, tl.load(p - 1))\ntl.store(a, (x + 2).to(tl.int64) - x.to(tl.int64))")},
    {ROW("pointers to other types", "x i32 1065353216 0; z f32 = 1",
         "tl.store(z, tl.load(x.to(tl.pointer_type(tl.float32))))")},
    {ROW("unsigned offsets are not negative", "x f32 1 2 3; z f32 = 3; u u8 2",
         "tl.store(z, tl.load(x + tl.load(u)))")},

    {ROW("atomics give the old value",
         "x i32 1 2 3 = 11 12 13; z i32 = 1 2 3; y i32 5 5 = 5 9; w i32 = 5 5",
         K(3) "tl.store(z + k, tl.atomic_add(x + k, 10))\nj = tl.arange(0, 2)\n"
              "tl.store(w + j, tl.atomic_max(y + j, 9, mask=j == 1, sem='relaxed', scope='cta'), "
              "mask=j == 1)\n"
              "tl.store(w, 5)")},
    {ROW("atomics of floats",
         "x f32 -1 2 -3 = -1 5 -2; y f32 -1 2 3 = -4 2 -2; f f16 1 = 3.5; n i32 2",
         K(3) "tl.atomic_max(x + k, tl.where(k == 1, 5.0, -2.0))\n"
              "tl.atomic_min(y + k, tl.where(k == 0, -4.0, tl.where(k == 1, 7.0, -2.0)))\n"
              "tl.atomic_add(f, 2.5)")},
    {ROW("atomic bits", "x i32 12 12 12 = 8 14 6",
         "tl.atomic_and(x, 10)\ntl.atomic_or(x + 1, 10)\ntl.atomic_xor(x + 2, 10)")},
    {ROW("exchange and compare", "x i32 7 8 9 = 70 80 9; z i32 = 7 8 9",
         "tl.store(z, tl.atomic_xchg(x, 70))\ntl.store(z + 1, tl.atomic_cas(x + 1, 8, 80))\n"
         "tl.store(z + 2, tl.atomic_cas(x + 2, 8, 80, sem='acq_rel'))")},
    {ROW("programs add up", "x i32 0 = 28; y f32 0 = 28",
         "p = tl.program_id(0)\ntl.atomic_add(x, p)\ntl.atomic_add(y, p.to(tl.float32))"),
     .grid = 8},
    {ROW("atomics on int16", "x i16 1", "tl.atomic_add(x, 1)"), .refused = "cannot work on int16"},
    {ROW("atomic bits of floats", "x f32 1", "tl.atomic_or(x, 1.0)"),
     .refused = "cannot work on float32"},
    {ROW("a wrong order", "x i32 1", "tl.atomic_add(x, 1, sem='seq')"), .refused = "'relaxed'"},
};

#define BLOCK(m, n) "p = tl.make_block_ptr(x, (2, 3), (3, 1), (" #m ", " #n "), (2, 2), (1, 0))\n"
#define SQUARE      "d = tl.arange(0, 2)\nsq = d[:, None] * 2 + d[None, :]\n"
static const TritonCase boxes[] = {
    {ROW("a block pointer", "x f32 1 2 3 4 5 6; z f32 = 2 3 5 6",
         BLOCK(0, 1) SQUARE "tl.store(z + sq, tl.load(p))")},
    {ROW("behind the edge",
         "x f32 1 2 3 4 5 6; z f32 = 3 0 6 0; w f32 = 6 nan nan nan; y f32 = 0 4 0 0",
         BLOCK(0, 2) SQUARE
         "tl.store(z + sq, tl.load(p, boundary_check=(0, 1)))\n"
         "p = tl.advance(p, (1, 0))\n"
         "tl.store(w + sq, tl.load(p, boundary_check=(0, 1), padding_option='nan'))\n"
         "p = p.advance([0, -3])\n"
         "tl.store(y + sq, tl.load(p, boundary_check=[1, 0], padding_option='zero'))")},
    {ROW("a block pointer in a loop", "x f32 1 2 3 4 5 6; z f32 = 6 15; n 3",
         "p = tl.make_block_ptr(x, shape=(2, n), strides=(n, 1), offsets=(0, 0), block_shape=(2, "
         "2), order=(1, 0))\n"
         "s = tl.zeros((2, 2), tl.float32)\nfor i in range(0, n, 2):\n"
         "    s += tl.load(p, boundary_check=(1,))\n    p = tl.advance(p, (0, 2))\n"
         "tl.store(z + tl.arange(0, 2), tl.sum(s, 1))")},
    {ROW("stores through a block pointer", "x f32 6*9 = 9 9 1 9 9 7; i i32 2 3 = 2 3",
         "p = tl.make_block_ptr(x, (2, 3), (3, 1), (0, 2), (2, 2), (1, 0))\n" SQUARE
         "tl.store(p, tl.where(sq == 0, 1, tl.where(sq == 2, 7, 5)), boundary_check=(0, 1))\n"
         "tl.static_assert(p.dtype.element_ty == tl.float32)")},
    {ROW("transposed strides", "x i32 1 2 3 4 5 6; z i32 = 1 4 2 5; s 3",
         "p = tl.make_block_ptr(x, (3, 2), (1, s), (0, 0), (2, 2), (0, 1))\n" SQUARE
         "tl.store(z + sq, tl.load(p, boundary_check=(0, 1)))")},
    {ROW("one dimension", "x f16 1 2 3; z f16 = 3 0",
         "p = tl.make_block_ptr(x, (3,), (1,), (2,), (2,), (0,))\n"
         "tl.store(z + tl.arange(0, 2), tl.load(p, boundary_check=(0,)))")},
    {ROW("booleans as bytes", "x i1 1 0 1; z i8 = 1 0 1",
         "p = tl.make_block_ptr(x, (3,), (1,), (0,), (3,), (0,))\nv = tl.load(p)\n" IS(
             "v", "int8") "tl.store(z + tl.arange(0, 3), v)")},
    {ROW("NaN of integers", "x i32 1 2 3 4 5 6",
         BLOCK(0, 2) "tl.load(p, boundary_check=(0, 1), padding_option='nan')"),
     .refused = "'zero' for integers"},
    {ROW("a mask on a block pointer", "x f32 1 2 3 4 5 6", BLOCK(0, 0) "tl.load(p, mask=True)"),
     .refused = "boundary_check and padding_option"},
    {ROW("64-bit offsets", "x f32 1 2 3 4 5 6; j i64 1",
         "p = tl.make_block_ptr(x, (2, 3), (3, 1), (0, tl.load(j)), (2, 2), (1, 0))"),
     .refused = ".to(tl.int32)"},
    {ROW("an order that is none", "x f32 1 2",
         "p = tl.make_block_ptr(x, (2,), (1,), (0,), (2,), (1,))"),
     .refused = "permutation"},

    {ROW(
        "a descriptor",
        "x f64 1 2 3 4 5 6; z f32 = 2 3 5 6; w f32 = 6 0 0 0; y f64 6*9 = 9 9 1 9 9 3",
        "d = tl.make_tensor_descriptor(x, [2, 3], [3, 1], [2, 2])\n"
        "e = tl.make_tensor_descriptor(y, shape=[2, 3], strides=[3, 1], block_shape=[2, 2])\n"
        "h = tl.arange(0, 2)\nsq = h[:, None] * 2 + h[None, :]\n"
        "tl.store(z + sq, d.load([0, 1]))\ntl.store(w + sq, tl.load_tensor_descriptor(d, [1, 2]))\n"
        "e.store([0, 2], sq + 1)\ntl.static_assert(d.dtype == tl.float64)\n"
        "tl.static_assert(d.block_shape[1] == 2)\ntl.static_assert(d.block_type.shape[0] == 2)")},
    {ROW("padding of a descriptor", "x f64 1 2 3; z f32 = 3 nan",
         "d = tl.make_tensor_descriptor(x, [3], [1], [2], padding_option='nan')\n"
         "tl.store(z + tl.arange(0, 2), d.load([2]))")},
    {ROW("descriptors in a loop", "x f64 1 2 3 4 5 6; z f32 = 21; n 3",
         "d = tl.make_tensor_descriptor(x, [2, n], [n, 1], [2, 2])\ns = tl.zeros((2, 2), "
         "tl.float64)\n"
         "for i in range(0, n, 2):\n    s += d.load([0, i])\ntl.store(z, tl.sum(s))")},
    {ROW("rows by index",
         "x f64 1 2 3 4 5 6; i i32 1 0 5; z f32 = 5 6 2 3 0 0; y f64 6*9 = 9 20 30 9 0 10",
         "d = tl.make_tensor_descriptor(x, [2, 3], [3, 1], [1, 2])\n"
         "e = tl.make_tensor_descriptor(y, [2, 3], [3, 1], [1, 2])\n"
         "rows = tl.load(i + tl.arange(0, 3))\n" AT(
             3, 2) "tl.store(z + at, d.gather(rows, 1))\ne.scatter(at * 10, rows, 1)")},
    {ROW("atomics of a descriptor",
         "x i64 1 2 3 4 = 11 12 3 4; y u64 12 12 = 8 8; f f64 1 1 = 1.5 1.5",
         "d = tl.make_tensor_descriptor(x, [4], [1], [2])\nd.atomic_add([0], tl.full((2,), 10, "
         "tl.int64))\n"
         "d.atomic_max([2], tl.full((2,), 3, tl.int64))\n"
         "e = tl.make_tensor_descriptor(y, [2], [1], [2])\ne.atomic_and([0], tl.full((2,), 10, "
         "tl.uint64))\n"
         "g = tl.make_tensor_descriptor(f, [2], [1], [2])\ng.atomic_add([0], tl.full((2,), 0.5, "
         "tl.float64))")},
    {ROW("a narrow descriptor", "x f32 1 2",
         "tl.make_tensor_descriptor(x, [2, 2], [2, 1], [2, 2])"),
     .refused = "at least 16 bytes in the last dimension, but got 2 * 4 = 8 bytes; make it 4 elements"},
    {ROW("a last stride that is not 1", "x f32 1 2; s 2",
         "tl.make_tensor_descriptor(x, [2], [s], [2])"),
     .refused = "constant 1"},
};

#define SQ                                                                                       \
    "r = tl.arange(0, 2)\nq = r[:, None] * 2 + r[None, :]\na = tl.load(x + q)\nb = tl.load(y + " \
    "q)\n"
static const TritonCase products[] = {
    {ROW(
        "dot", "x f32 1 2 3 4; y f32 5 6 7 8; z f32 = 19 22 43 50; w f32 = 20 23 44 51",
        SQ
        "tl.store(z + q, tl.dot(a, b))\n"
        "tl.store(w + q, tl.dot(a, b, tl.full((2, 2), 1.0, tl.float32), input_precision='ieee'))")},
    {ROW("precisions of dot", "x f32 1 2 3 4; y f32 5 6 7 8; z f32 = 95 110 215 250",
         SQ "s = tl.dot(a, b, allow_tf32=True)\ns += tl.dot(a, b, allow_tf32=False)\n"
            "s = tl.dot(a, b, s, input_precision='tf32x3', max_num_imprecise_acc=0)\n"
            "s += tl.dot(a, b, input_precision='bf16x3') + tl.dot(a, b, input_precision='bf16x6')\n"
            "tl.store(z + q, s)")},
    {ROW("dots of small types",
         "x i8 100 2 3 4; y i8 100 6 7 8; z i32 = 10014 616 328 50; h f16 = 19 22 43 50; e f32 = "
         "19 22 43 50; u f32 1 2 3 4; v f32 5 6 7 8",
         SQ "p = tl.dot(a, b)\n" IS(
             "p",
             "int32") "tl.store(z + q, p)\n"
                      "f = tl.load(u + q)\ng = tl.load(v + q)\n"
                      "p = tl.dot(f.to(tl.float16), g.to(tl.float16), out_dtype=tl.float16)\n" IS(
                          "p",
                          "float16") "tl.store(h + q, p)\np = tl.dot(f.to(tl.bfloat16), "
                                     "g.to(tl.bfloat16))\n" IS("p",
                                                               "float32") "p = "
                                                                          "tl.dot(f.to(tl."
                                                                          "float8e4nv), "
                                                                          "g.to(tl.float8e5).to(tl."
                                                                          "float8e4nv)) * 0 + "
                                                                          "p\ntl.store(e + q, p)")},
    {ROW("imprecise sums", "x f32 1 2 3 4; y f32 5 6 7 8; z f32 = 57 66 129 150",
         SQ "u = a.to(tl.float8e4nv)\nv = b.to(tl.float8e4nv)\ns = tl.dot(u, v, max_num_imprecise_acc=2)\n"
            "s = tl.dot(u, v, s, max_num_imprecise_acc=0)\n"
            "tl.store(z + q, tl.dot(a.to(tl.float16), b.to(tl.float16), s, max_num_imprecise_acc=-7))")},
    {ROW("imprecise sums over more than K", "x f32 1 2 3 4; y f32 5 6 7 8",
         SQ "tl.dot(a.to(tl.float8e5), b.to(tl.float8e5), max_num_imprecise_acc=3)"),
     .refused = "max_num_imprecise_acc (3) must be <= K (2)"},
    {ROW("fewer than no imprecise sums", "x f32 1 2 3 4; y f32 5 6 7 8",
         SQ "tl.dot(a.to(tl.float8e5), b.to(tl.float8e4nv), max_num_imprecise_acc=-1)"),
     .refused = "max_num_imprecise_acc (-1) must be <= K (2) and not negative"},
    {ROW("8-bit floats of two kinds", "x f32 1 2 3 4; y f32 5 6 7 8; z f32 = 19 22 43 50",
         SQ "tl.store(z + q, tl.dot(a.to(tl.float8e5), b.to(tl.float8e4b8)))")},
    {ROW("float64", "x f64 1 2 3 4; y f64 5 6 7 8; z f64 = 19 22 43 50",
         SQ "p = tl.dot(a, b)\n" IS("p", "float64") "tl.store(z + q, p)")},
    {ROW("stacks",
         "x f32 1 2 3 4 1 0 0 1; y f32 5 6 7 8 1 2 3 4; z f32 = 19 22 43 50 1 2 3 4; w f32 = 19 22 "
         "43 50 1 2 3 4",
         "r = tl.arange(0, 2)\nq = r[:, None, None] * 4 + r[None, :, None] * 2 + r[None, None, :]\n"
         "a = tl.load(x + q)\nb = tl.load(y + q)\ntl.store(z + q, tl.dot(a, b))\n"
         "p = tl.dot(a.reshape(2, 1, 2, 2), b.reshape(2, 1, 2, 2))\ntl.store(w + q, p.reshape(2, "
         "2, 2))")},
    {ROW("extents that are no powers of two", "x f32 1 2 3; y f32 1 2 3; z f32 = 14",
         K(3) "p = tl.dot(tl.load(x + k)[None, :], tl.load(y + k)[:, None])\ntl.store(z, "
              "p.item())")},
    {ROW("shapes of a dot", "x f32 6*1", GRID(2, 3) "tl.dot(v, v)"),
     .refused = "float32[2, 3] and float32[2, 3]"},
    {ROW("types of a dot", "x f32 4*1; y f16 4*1", SQ "tl.dot(a, b)"),
     .refused = "operands of one type"},
    {ROW("both precisions", "x f32 4*1; y f32 4*1",
         SQ "tl.dot(a, b, input_precision='ieee', allow_tf32=False)"),
     .refused = "are both given"},
    {ROW("bfloat16 sums", "x f16 4*1; y f16 4*1", SQ "tl.dot(a, b, out_dtype=tl.bfloat16)"),
     .refused = "does not accumulate"},
};

static const TritonCase shapes[] = {
    {ROW("join, split, interleave",
         "x f32 1 2 3; y f32 4 5 6; z f32 = 1 4 2 5 3 6; w f32 = 5 7 9; u f32 = 1 4 2 5 3 6; s f32 "
         "= 1 2",
         LOAD(3) "b = tl.load(y + k)\nj = tl.join(v, b)\n"
                 "tl.store(z + k[:, None] * 2 + tl.arange(0, 2)[None, :], j)\n"
                 "p, q = tl.split(j)\ntl.store(w + k, p + q)\ntl.store(u + tl.arange(0, 6), "
                 "tl.interleave(v, b))\n"
                 "one = tl.join(tl.load(x), tl.load(x + 1))\ntl.store(s + tl.arange(0, 2), one)\n"
                 "c, d = tl.split(one)\ntl.device_assert(c < d)")},
    {ROW("cat and flip", "x f32 1 2 3; y f32 4 5; z f32 = 1 2 3 4 5; w f32 = 3 2 1",
         LOAD(3) "tl.store(z + tl.arange(0, 5), tl.cat(v, tl.load(y + tl.arange(0, 2)), "
                 "can_reorder=True))\n"
                 "tl.store(w + k, tl.flip(v))")},
    {ROW(
        "flip and cat along axes",
        "x i32 1 2 3 4 5 6; z i32 = 4 5 6 1 2 3; w i32 = 3 2 1 6 5 4; y i32 = 1 2 3 1 2 3 4 5 6 4 "
        "5 6",
        GRID(2, 3) "tl.store(z + at, tl.flip(v, 0))\ntl.store(w + at, v.flip(dim=-1))\n"
                   "tl.store(y + r[:, None] * 6 + tl.arange(0, 6)[None, :], tl.cat(v, v, dim=1))")},
    {ROW("transposition", "x f32 1 2 3 4 5 6; z f32 = 1 4 2 5 3 6; w f32 = 1 4 2 5 3 6",
         GRID(2, 3) "t = c[:, None] * 2 + r[None, :]\ntl.store(z + t, tl.trans(v))\n"
                    "tl.store(w + t, tl.permute(v, (1, 0)))\ntl.static_assert(v.T.shape[0] == 3)")},
    {ROW("permutation of three axes", "x i32 0 1 2 3 4 5; z i32 = 0 3 1 4 2 5",
         K(6) "v = tl.load(x + k).reshape(2, 3, 1)\np = tl.permute(v, 1, 2, 0)\n"
              "tl.static_assert(p.shape[0] == 3 and p.shape[1] == 1)\ntl.store(z + k, "
              "tl.ravel(p))")},
    {ROW("shapes given in many ways", "x i32 0 1 2 3 4 5; z i32 = 0 1 2 3 4 5",
         LOAD(6) "a = tl.reshape(v, (2, 3))\nb = tl.view(a, [3, 2])\nc = b.reshape([6])\nd = "
                 "tl.expand_dims(c, (0, -1))\n"
                 "tl.static_assert(len(d.shape) == 3 and d.shape[1] == 6)\ne = "
                 "tl.squeeze(tl.squeeze(d, 0), 1)\n"
                 "f = tl.unsqueeze(e, 0)\ntl.store(z + k[None, :], f)")},
    {ROW("one element", "x f32 3 7; z f32 = 7 1",
         "v = tl.load(x + 1 + tl.arange(0, 1))\ntl.store(z, v.item())\n"
         "if v > 5.0:\n    tl.store(z + 1, 1.0)")},
    {ROW("swizzle2d", "z i32 = 0 2 4 1 3 5 6 7 8",
         AT(3, 3) "i, j = tl.swizzle2d(r[:, None], c[None, :], 3, 3, 2)\n"
                  "tl.store(z + i * 3 + j, at)")},
    {ROW("broadcasts", "x i32 1 2; z i32 = 1 1 1 2 2 2; w i32 = 7 7",
         "r = tl.arange(0, 2)\nv = tl.load(x + r)\nb = tl.broadcast_to(v[:, None], (2, 3))\n"
         "tl.store(z + r[:, None] * 3 + tl.arange(0, 3)[None, :], b)\n"
         "p, q = tl.broadcast(tl.full((), 7, tl.int32), v)\ntl.store(w + r, p)")},
    {ROW("a shape that does not fit", "x i32 1 2", LOAD(2) "tl.reshape(v, (3,))"),
     .refused = "int32[2] does not reshape"},
    {ROW("split of three", "x i32 1 2 3", LOAD(3) "tl.split(v)"), .refused = "last extent of 2"},
};

static const TritonCase numbers[] = {
    {ROW("casts between floats",
         "x f32 1.0001 65520 -0.0 3.0e38; z f16 = 1 inf 0 inf; w bf16 = 1 65536 0 3.0e38; y f16 = "
         "1 65504 0 65504",
         LOAD(4) "tl.store(z + k, v.to(tl.float16))\ntl.store(w + k, v.to(tl.bfloat16))\n"
                 "tl.store(y + k, v.to(tl.float16, fp_downcast_rounding='rtz'))"),
     .within = 4e-3},
    {ROW(
        "8-bit floats saturate",
        "x f32 500 -1e9 0.3 inf nan; z u8 = 126 254 42 126 127; w u8 = 96 251 53 123 126",
        K(5) "v = tl.load(x + k)\ntl.store(z + k, v.to(tl.float8e4nv).to(tl.uint8, bitcast=True))\n"
             "tl.store(w + k, v.to(tl.float8e5).to(tl.uint8, bitcast=True))")},
    {ROW(
        "8-bit floats with one zero",
        "x f32 500 -1e9 -0.0 1 nan; z u8 = 127 255 0 64 128; w u8 = 100 255 0 64 128; y u8 = 127 "
        "255 128 120 127",
        K(5) "v = tl.load(x + k)\ntl.store(z + k, v.to(tl.float8e4b8).to(tl.uint8, bitcast=True))\n"
             "tl.store(w + k, v.to(tl.float8e5b16).to(tl.uint8, bitcast=True))\n"
             "tl.store(y + k, v.to(tl.float8e4b15).to(tl.uint8, bitcast=True))")},
    {ROW("casts to integers",
         "x f32 2.9 -2.9 300 -1; z i32 = 2 -2 300 -1; w i1 = 1 1 1 1; y u8 = 255 254 44; j i32 -1 "
         "254 300",
         LOAD(4) "tl.store(z + k, v.to(tl.int32))\ntl.store(w + k, v.to(tl.int1))\n"
                 "h = tl.arange(0, 3)\ntl.store(y + h, tl.load(j + h).to(tl.uint8))")},
    {ROW("bits", "x f32 1 -2; z i32 = 1065353216 -1073741824; w f32 = 1 -2",
         LOAD(2) "b = v.to(tl.int32, bitcast=True)\ntl.store(z + k, b)\n"
                 "tl.store(w + k, tl.cast(b, tl.float32, bitcast=True))")},
    {ROW("bits of another width", "x f32 1", "tl.load(x).to(tl.int16, bitcast=True)"),
     .refused = "widths must be equal"},
    {ROW("a rounding that is none", "x f32 1",
         "tl.load(x).to(tl.float16, fp_downcast_rounding='up')"),
     .refused = "'rtne' or 'rtz'"},

    {ROW("maxima and NaN",
         "x f32 1 nan; y f32 2 3; z f32 = 2 3; w f32 = 1 3; p f32 = 2 nan; c f32 = 1.5 1.5; d f32 "
         "= 1.5 nan",
         LOAD(2) "u = tl.load(y + k)\ntl.store(z + k, tl.maximum(v, u))\ntl.store(w + k, "
                 "tl.minimum(v, u))\n"
                 "tl.store(p + k, tl.maximum(u, v, propagate_nan=tl.PropagateNan.ALL))\n"
                 "tl.store(c + k, tl.clamp(v, 1.5, 2.5))\n"
                 "tl.store(d + k, tl.clamp(v, 1.5, 2.5, propagate_nan=tl.PropagateNan.ALL))")},
    {ROW("numbers beside maximum are not weak", "x f16 1 -1; z f32 = 1 0; b bf16 1 -1; w f32 = 1 0",
         LOAD(2) "m = tl.maximum(v, 0.0)\n" IS(
             "m", "float32") "tl.store(z + k, m)\n"
                             "m = tl.maximum(tl.load(b + k), tl.load(b + k) * 0)\n" IS(
                                 "m", "float32") "tl.store(w + k, m)")},
    {ROW("a literal below an unsigned tensor", "x u32 5 7; z i1 = 1 1",
         LOAD(2) "tl.store(z + k, v < -1)")},
    {ROW("upper halves", "x u32 4294967295 65536; z u32 = 4294967294 1; y i64 -1 5; w i64 = -2 0",
         LOAD(2) "tl.store(z + k, tl.umulhi(v, v))\nj = tl.load(y + k)\ntl.store(w + k, "
                 "tl.umulhi(j, j))")},
    {ROW(
        "cdiv, fma, fdiv", "x i32 7 8; z i32 = 3 3; f f32 3; w f32 = 7 1.5 0.25",
        LOAD(2) "tl.store(z + k, tl.cdiv(v, 3))\ng = tl.load(f)\ntl.store(w, tl.fma(g, 2.0, 1.0))\n"
                "tl.store(w + 1, tl.fdiv(g, 2.0))\ntl.store(w + 2, tl.math.div_rn(g, 12.0))")},
    {ROW("functions",
         "x f32 0.5; z f32 = 1.6487213 1.4142135 -0.6931472 -1 0.7071068 1.4142135 0.4794255 "
         "0.8775826 0.5204999 0 1 0.6224593",
         "v = tl.load(x)\ntl.store(z, tl.exp(v))\ntl.store(z + 1, tl.exp2(v))\ntl.store(z + 2, "
         "tl.log(v))\n"
         "tl.store(z + 3, tl.log2(v))\ntl.store(z + 4, tl.sqrt(v))\ntl.store(z + 5, "
         "tl.math.rsqrt(v))\n"
         "tl.store(z + 6, v.sin())\ntl.store(z + 7, tl.cos(v))\ntl.store(z + 8, tl.erf(v))\n"
         "tl.store(z + 9, tl.floor(v))\ntl.store(z + 10, tl.ceil(v))\ntl.store(z + 11, "
         "tl.sigmoid(v))"),
     .within = 1e-6},
    {ROW("libdevice",
         "x f32 0.5 -2.5; z f32 = 0.4621172 0.4812118 0.5493061 3.1622777 1.7724539 0.5 -1 4 "
         "0.70710678 -3 -2; i i32 = -1 1 0 -3 -2 2",
         "v = tl.load(x)\nu = tl.load(x + 1)\ntl.store(z, libdevice.tanh(v))\ntl.store(z + 1, "
         "libdevice.asinh(v))\n"
         "tl.store(z + 2, libdevice.atanh(v))\ntl.store(z + 3, libdevice.exp10(v))\ntl.store(z + "
         "4, libdevice.tgamma(v))\n"
         "tl.store(z + 5, libdevice.remainder(u, 3.0))\ntl.store(z + 6, libdevice.logb(v))\n"
         "tl.store(z + 7, libdevice.ldexp(v, 3))\ntl.store(z + 8, libdevice.pow(v, 0.5))\n"
         "tl.store(z + 9, libdevice.round(u))\ntl.store(z + 10, libdevice.rint(u))\n"
         "tl.store(i, libdevice.ilogb(v))\ntl.store(i + 1, libdevice.signbit(u))\n"
         "tl.store(i + 2, libdevice.isinf(u).to(tl.int32))\ntl.store(i + 3, "
         "libdevice.float2int_rd(u))\n"
         "tl.store(i + 4, libdevice.float2int_rz(u))\ntl.store(i + 5, "
         "libdevice.popc(libdevice.float2int_rn(u * 2 + 8)))"),
     .within = 1e-6},
    {ROW("two of libdevice, of one type", "x f32 -2 0.5; n i32 3 -2; z f32 = -8 4; w f64 = 4 0.25; y f32 = 4 0.25; u f32 = 2 2.0615528",
         LOAD(2) "tl.store(z + k, libdevice.pow(v, tl.load(n + k)))\ntl.store(w + k, libdevice.pow(v.to(tl.float64), 2))\n"
                 "tl.store(y + k, libdevice.pow(v, tl.full((2,), 2, tl.bfloat16)))\ntl.store(u + k, libdevice.hypot(v, k * 2))"),
     .within = 1e-6},
    {ROW("two of libdevice that are too small", "x f16 1", "v = tl.load(x)\nlibdevice.pow(v, v)"),
     .refused = "float32 or float64, here is float16"},
    {ROW("toward zero", "x f32 2 -7 1; z f32 = 0.66666662693 -2.33333325386 0.333333313465; w f32 = 1.41421353817 2.64575123787 1; "
                        "r f32 = 0.5 -0.142857134342 1; p f32 = 0 -4.89999961853 0",
         LOAD(3) "tl.store(z + k, libdevice.div_rz(v, 3.0))\ntl.store(w + k, libdevice.sqrt_rz(tl.abs(v)))\n"
                 "tl.store(r + k, libdevice.rcp_rz(v))\ntl.store(p + k, libdevice.mul_rz(v, 0.7), mask=k == 1)"),
     .within = 1e-9},
    {ROW("toward zero in 64 bits", "x f64 1", "libdevice.div_rz(tl.load(x), 3.0)"), .refused = "float32"},
    {ROW("bits in libdevice", "x i32 1 0 48; z i32 = 31 32 26; w i32 = 1 0 5; y i32 = 1 0 2",
         LOAD(3) "tl.store(z + k, libdevice.clz(v))\ntl.store(w + k, libdevice.ffs(v))\ntl.store(y "
                 "+ k, libdevice.popc(v))")},
    {ROW("64-bit integers toward zero", "x i64 -9007199254740992 4611686018427387904; z f64 = "
                                        "-9007199254740994 4611686018427387392",
         LOAD(2) "tl.store(z + k, libdevice.ll2double_rz(v - 3))")},
    {ROW("exp of float16", "x f16 1", "tl.exp(tl.load(x))"), .refused = "float32 or float64"},
    {ROW("libdevice beyond libm", "x f32 1", "libdevice.jn(2, tl.load(x))"),
     .refused = "libdevice.jn"},
    {ROW("dot_scaled", "z f32 = 48 nan 3 nan",
         "a = tl.full((2, 32), 0x38, tl.uint8)\nb = tl.full((16, 2), 0x33, tl.uint8)\n" /* 1 and 1.5 */
         "r = tl.arange(0, 2)\ns = tl.where(r == 0, 127, 123)[:, None].to(tl.int8)\n"
         "t = tl.where(r == 0, 127, 255)[:, None].to(tl.uint8)\n"
         "c = tl.dot_scaled(a, s, 'e4m3', b, t, 'e2m1')\n" IS("c", "float32")
         "tl.store(z + r[:, None] * 2 + r[None, :], c)")},
    {ROW("formats of dot_scaled", "x u8 1", "tl.dot_scaled(tl.zeros((16, 32), tl.uint8), None, 'e3m2', "
         "tl.zeros((32, 16), tl.uint8), None, 'e4m3')"), .refused = "the format 'e2m1'"},
#define ASM(code, constraints, rest) \
    "tl.inline_asm_elementwise('" code "', '" constraints "', [tl.arange(0, 6)], " rest ")"
    {ROW("assembly", "x f32 1", ASM("mov.b32 $0, $1;", "=r,r", "tl.int32, True, 1")),
     .refused = "assembly of NVIDIA GPUs (PTX), which target interp does not run"},
    {ROW("a register too few", "x f32 1", ASM("mov.b32 $0, $1;", "=r", "tl.int32, True, 1")),
     .refused = "a `$` that is no register"},
    {ROW("no register for an argument", "x f32 1", ASM("mov.b32 $0, 1;", "=r", "tl.int32, True, 1")),
     .refused = "a register for this argument is missing"},
    {ROW("a register too many", "x f32 1", ASM("nop", "=r,r,r", "tl.int32, True, 1")),
     .refused = "more inputs than the arguments fill"},
    {ROW("an output too many", "x f32 1", ASM("nop", "=r,=r,r", "tl.int32, True, 1")),
     .refused = "more outputs"},
    {ROW("a wide result", "x f32 1", ASM("nop", "=r,r", "tl.int64, True, 1")),
     .refused = "register $0 (`r`) has 32 bits, the result puts 64 into it"},
    {ROW("a pack that does not divide", "x f32 1", ASM("nop", "=r,r", "tl.int32, True, 4")),
     .refused = "pack must divide"},
    {ROW("an unknown register", "x f32 1", ASM("nop", "=x,r", "tl.int32, True, 1")),
     .refused = "one of h, r, l, f, d"},
    {ROW("a name as register", "x f32 1", ASM("mov $x, $1;", "=r,r", "tl.int32, True, 1")),
     .refused = "`$$` a dollar"},
    {ROW("a constant that is none", "x f32 1", ASM("add.s32 $0, $1, 1;", "=r,n", "tl.int32, True, 1")),
     .refused = "input $1 is `n`, a constant; here is an int32[6]"},
    {ROW("no dtype", "x f32 1", ASM("nop", "=r,r", "(), True, 1")), .refused = "dtype is a dtype"},
#undef ASM
    {ROW("PDL is nothing here", "x f32 1; z f32 = 1",
         "tl.extra.cuda.gdc_wait()\nv = tl.load(x)\ntl.extra.cuda.gdc_launch_dependents()\ntl.store(z, v)")},

    /* the known answers of Philox-4x32-10 and 4x64-10 */
    {ROW("Philox",
         "z u32 = 0x6627e8d5 0xe169c58d 0xbc57ac4c 0x9b00dbd8 0x408f276d 0x41c83b0e 0xa20bc7c6 "
         "0x6d5451fd 0xd16cfe09 0x94fdcceb 0x5001e420 0x24126ea1",
         "a, b, c, d = tl.philox(0, 0, 0, 0, 0)\ntl.store(z, a)\ntl.store(z + 1, b)\ntl.store(z + "
         "2, c)\ntl.store(z + 3, d)\n"
         "f = tl.full((), 0xffffffff, tl.uint32)\na, b, c, d = tl.philox_impl(f, f, f, f, f, f)\n"
         "tl.store(z + 4, a)\ntl.store(z + 5, b)\ntl.store(z + 6, c)\ntl.store(z + 7, d)\n"
         "a, b, c, d = tl.philox(0x299f31d0a4093822, 0x243f6a88, 0x85a308d3, 0x13198a2e, "
         "0x03707344)\n"
         "tl.store(z + 8, a)\ntl.store(z + 9, b)\ntl.store(z + 10, c)\ntl.store(z + 11, d)")},
    {ROW("Philox of 64 bits", "z u32 = 0x16554d9e 0xca36314c 0xd7e772ce 0xe186176b",
         "o = tl.full((), 0, tl.uint64)\na, b, c, d = tl.philox_impl(o, o, o, o, o, o)\n"
         "tl.store(z, (a >> 32).to(tl.uint32))\ntl.store(z + 1, a.to(tl.uint32))\n"
         "tl.store(z + 2, (c >> 32).to(tl.uint32))\ntl.store(z + 3, c.to(tl.uint32))")},
    {ROW("random numbers",
         "z u32 = 0x6627e8d5; f f32 = 0.7980929; g f32 = 0.04655153; w u32 = 1 1 1",
         K(3) "tl.store(z, tl.randint(0, 0))\ntl.store(f, tl.rand(0, 0))\ntl.store(g, tl.randn(0, "
              "0) * 1.0)\n"
              "r = tl.rand(7, k)\na, b, c, d = tl.rand4x(7, k)\n"
              "tl.store(w + k, ((r == a) & (r >= 0) & (b < 1) & (c != d)).to(tl.uint32))"),
     .within = 2e-6},
};

static void run(tw_context *cx, const TritonCase *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        triton_case(cx, &cases[i], "interp");
        if (!cases[i].refused) triton_case(cx, &cases[i], "cpu");
    }
}

int main(void) {
    tw_context *cx = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    run(cx, memory, sizeof memory / sizeof *memory);
    run(cx, boxes, sizeof boxes / sizeof *boxes);
    run(cx, products, sizeof products / sizeof *products);
    run(cx, shapes, sizeof shapes / sizeof *shapes);
    run(cx, numbers, sizeof numbers / sizeof *numbers);
    tw_context_destroy(cx);
    return check_done();
}
