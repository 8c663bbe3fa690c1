/* SPDX-License-Identifier: Apache-2.0 */
/* triton_cases.h: the cases of test_triton_run.c, which says what they see. */
/* clang-format off */

#define FIRST_ABOVE                                                                        \
    "@triton.jit\ndef first_above(x, n):\n    for i in range(n):\n        if i * i > x:\n" \
    "            return i * 10\n        if i == 7:\n            return 777\n    return -1\n"

#define PROMOTE(a, op, b, result)                                                                  \
    {"", "a = tl.zeros((4,), tl." a ")\nb = tl.zeros((4,), tl." b ")\ntl.static_assert((a " op      \
         " b).dtype == tl." result ")", ""}
#define WEAK(a, expression, result)                                                                \
    {"", "a = tl.zeros((4,), tl." a ")\ntl.static_assert((a " expression ").dtype == tl." result    \
         ")", ""}

static const Case runs[] = {
    /* --- the sign of a shift is the left operand's, before promotion; `:` behind the last axis --- */
    {"", "a = tl.full((), -8, tl.int16)\nb = tl.full((), 1, tl.uint16)\ntl.store(out, a >> b)\n"
         "tl.static_assert((a >> b).dtype == tl.uint16)\ntl.store(out + 1, a.to(tl.uint16) >> b)\n"
         "c = tl.full((), 248, tl.uint8)\ntl.store(out + 2, c >> tl.full((), 1, tl.int32))", "65532 32764 124"},
    {"", "tl.store(out[None, None, :], tl.full((1, 1), 3, tl.float64))", "3"},
    /* --- jumps --- */
    {"", "s = 0\nfor i in range(n):\n    if i == 5:\n        break\n    s += i\ntl.store(out, s)",
     "10"},
    {"",
     "s = 0\nfor i in range(10):\n    if i % 2 == 0:\n        continue\n    s += i\ntl.store(out, "
     "s)",
     "25"},
    {"",
     "c = 0\nwhile True:\n    c += 1\n    for j in range(100):\n        if j > c:\n            "
     "break\n"
     "        if j % 3 == 1:\n            continue\n        c += 1\n    if c > 50:\n        break\n"
     "tl.store(out, c)",
     "52"},
    {FIRST_ABOVE,
     "tl.store(out, first_above(20, n))\ntl.store(out + 1, first_above(1000, n))\n"
     "tl.store(out + 2, first_above(1000, 3))",
     "50 777 -1"},
    {"",
     "s = 0\nfor i in tl.static_range(6):\n    if i == n - 10:\n        break\n    s += i\n"
     "tl.store(out, s)",
     "1"},
    {"",
     "s = 1\nfor i in range(10, 0, -3):\n    s += i\n    if s > 20:\n        return\n"
     "    tl.store(out, s)\ntl.store(out + 1, 1)",
     "18 0"},
    {"",
     "if n > 5:\n    if x > 1.0:\n        return\n    y = 1\nelse:\n    y = 2\ntl.store(out, y)",
     "0"},
    {"",
     "if n > 5:\n    if x > 2.0:\n        return\n    y = 1\nelse:\n    y = 2\ntl.store(out, y)",
     "1"},
    {"",
     "for i in range(4):\n    for j in range(4):\n        if i * j == 6:\n            "
     "tl.store(out, i)\n"
     "            tl.store(out + 1, j)\n            return\n    tl.store(out + 2, i)\n"
     "tl.store(out + 3, 1)",
     "2 3 1 0"},
    {"",
     "i = 0\nwhile tl.load(p + i) < 10:\n    i += 1\n    if i == 4:\n        continue\n    if i == "
     "6:\n"
     "        break\n    tl.store(out + 1, i)\ntl.store(out, i)",
     "6 5"},
    /* a return that is never live; loops with jumps in one branch only */
    {"@triton.jit\ndef f(a, n):\n    for i in range(n):\n        if a > 20:\n            return a\n        for j in range(2):\n            if not (1 > -3):\n                return 5\n            a += 1\n    return a + 100\n@triton.jit\ndef g(a, N: tl.constexpr):\n    for i in range(3):\n        if N > 100:\n            return\n        a += i\n    return a\n",
     "tl.store(out, f(n, n))\ntl.store(out + 1, f(n, 2))\ntl.store(out + 2, g(n, N))", "22 116 15"},
    {"", "s = 0\nif n > 3:\n    for i in range(n):\n        if i == 4:\n            break\n        s += i\nelse:\n    s = 1\nif n > 30:\n    while s < 3:\n        if s == n:\n            break\n        s += 1\ntl.store(out, s)", "6"},
    /* --- loops --- */
    {"", "s = 0\nfor i in (tl.static_range if N <= 4 else range)(N):\n    s += i\ntl.store(out, s)",
     "28"},
    {"",
     "s = 0\nfor i in tl.range(2, n, 3, num_stages=2, loop_unroll_factor=1, flatten=True):\n    s "
     "+= i\ntl.store(out, s)",
     "26"},
    {"",
     "s = 0\nfor i in range(n.to(tl.int64) + 0):\n    s += 1\n    tl.store(out, "
     "i.dtype.primitive_bitwidth)\ntl.store(out + 1, s)",
     "64 12"},
    {"", "s = 0\nfor i in tl.static_range(10, 0, -4):\n    s = s * 10 + i\ntl.store(out, s)",
     "1062"},
    {"", "for i in range(n, 3, -4):\n    tl.store(out + i - 4, i)", "4 0 0 0 8 0 0 0 12"},
    {"",
     "s = 0\nfor i in range(0):\n    s += 1\nfor i in range(5, 2):\n    s += 1\ntl.store(out, s)",
     "0"},
    {"",
     "s = 0\nfor i, m in enumerate((3, 5, 7)):\n    s += i * m\nfor a, b in zip((1, 2), (10, "
     "20)):\n    s += a * b\ntl.store(out, s)",
     "69"},
    {"",
     "i = 3\nwhile i:\n    i -= 1\n    tl.store(out, i)\nwhile tl.condition(i < 4):\n    i += "
     "1\ntl.store(out + 1, i)",
     "0 4"},
    /* a loop carries tuples; an argument that is constant starts a variable */
    {"",
     "t = (0, 1.0)\nfor i in range(4):\n    t = (t[0] + i, t[1] * 2)\ntl.store(out, "
     "t[0])\ntl.store(out + 1, t[1])",
     "6 16"},
    {"@triton.jit\ndef down(m):\n    c = 0\n    while m > 0:\n        m -= 2\n        c += 1\n    "
     "return c\n",
     "tl.store(out, down(7))\ntl.store(out + 1, down(n))", "4 6"},
    /* --- branches --- */
    {"",
     "if n > 3 and x < 2.0:\n    y = 1\nelif n > 1:\n    y = 2\nelse:\n    y = 3\ntl.store(out, y)",
     "1"},
    {"", "if N > 100:\n    tl.nothing(undefined)\nelif N == 8 and not None:\n    tl.store(out, 5)",
     "5"},
    {"", "t = (1, 2.5)\nif n > 3:\n    t = (n, x)\ntl.store(out, t[0])\ntl.store(out + 1, t[1])",
     "12 1.5"},
    {"",
     "y = 4 if n > 3 else 5\nz = tl.cdiv(n, 5) if N else undefined\ntl.store(out, y)\ntl.store(out "
     "+ 1, z)",
     "4 3"},
    {"", "if 1 < n < 20 and 5 > N > 3 or N == 8:\n    tl.store(out, 1)", "1"},
    {"",
     "v = tl.arange(0, 4)\nif tl.sum(v, 0) == 6:\n    v = v + 1\ntl.store(out + tl.arange(0, 4), "
     "v)",
     "1 2 3 4"},
    /* --- functions --- */
    {"@triton.jit\ndef f(a, b=3, *rest, c: tl.constexpr = 2):\n    s = a * 1000 + b * 100 + c * "
     "10\n    for r in rest:\n        s += r\n    return s\n",
     "tl.store(out, f(1))\ntl.store(out + 1, f(1, 2, 3, 4, c=5))\nargs = (7, 8)\ntl.store(out + 2, "
     "f(*args))\ntl.store(out + 3, f(b=1, a=2))",
     "1320 1257 7820 2120"},
    {"@triton.jit\ndef f(a):\n    if a > 5:\n        return a, 1.0\n    else:\n        return a + "
     "1, 2.0\n",
     "a, b = f(n)\n(c, d), e = f(3), 9\ntl.store(out, a)\ntl.store(out + 1, b)\ntl.store(out + 2, "
     "c)\ntl.store(out + 3, d)\ntl.store(out + 4, e)",
     "12 1 4 2 9"},
    {"SCALE = tl.constexpr(3)\n@triton.jit\ndef g(a, s: tl.constexpr = SCALE):\n    return a * "
     "s\n@triton.jit\ndef f(fn: tl.constexpr, a):\n    SCALE = 100\n    return fn(a) + SCALE\n",
     "tl.store(out, f(g, n))", "136"},
    {"@triton.jit(noinline=True)\ndef f(a):\n    tl.store(a, 4)\n",
     "r = f(out)\ntl.store(out + 1, 1 if r is None else 2)", "4 1"},
    /* --- tuples --- */
    {"",
     "t = (1, 2, 3, 4)\ns = t[1:3] + t[::-2] + (len(t),) * 2\nfor i, v in enumerate(s):\n    "
     "tl.store(out + i, v)",
     "2 3 4 2 4 4"},
    {"",
     "a = [n, x]\nb = [v * 2 for v in a]\nc = [i for i in range(6) if i % 2]\nd = (*b, *c)\nfor i, "
     "v in enumerate(d):\n    tl.store(out + i, v)",
     "24 3 1 3 5"},
    {"",
     "s: tl.constexpr = (4, 2)\ntl.store(out, 1 if s == (4, 2) else 0)\ntl.store(out + 1, 1 if "
     "s[-1] in (2, 3) else 0)\ntl.store(out + 2, tl.zeros(s, tl.int32).shape[0])",
     "1 1 4"},
    {"", "a, (b, c) = 1, (2, 3)\na, b = b, a\ntl.store(out, a * 100 + b * 10 + c)", "213"},
    /* --- constants and objects --- */
    {"", "for r in tl.static_range(2):\n    tl.store(out + r, r)\ns = 0\nfor i in range(n):\n    for r in tl.static_range(3):\n        s += r\n"
         "tl.store(out + 2, s)\ntl.store(out + 3, r)", "0 1 36 2"},
    {"", "bits: tl.constexpr = 16\nt: tl.constexpr = tl.dtype(f'uint{bits}')\ntl.static_assert(t == tl.uint16 and isinstance(t, tl.dtype))\n"
         "tl.store(out, tl.full((), -1, tl.int16).to(t, bitcast=True))", "65535"},
    {"import triton.language.core as core\n", "b: core.constexpr = N // 4\ns = 0\nfor i in core.static_range(b):\n    s += core.full((), 5, tl.int32)\ntl.store(out, s)", "10"},
    {"", "a: tl.constexpr = n + 1\nb: tl.constexpr = tl.arange(0, 4)\ns = 0\nfor i in range(a):\n    c: tl.constexpr = i * 2\n    s += c\n"
         "tl.store(out + b, b + a)\ntl.store(out + 4, s)", "13 14 15 16 156"},
    {"", "if (m := n + 1) > 4:\n    tl.store(out, m)", "13"},
    {"",
     "K: tl.constexpr = N * 2 + 1\nname: tl.constexpr = f\"k{K}_{tl.float16}\"\ntl.static_assert(K "
     "== 17, f\"{K}\")\ntl.store(out, 1 if name == 'k17_float16' else 0)",
     "1"},
    {"",
     "y = x if p is None else n\ntl.store(out, y)\ntl.store(out + 1, 1 if p is not None else 0)",
     "12 1"},
    {"",
     "tl.store(out, 1 if hasattr(p, 'dtype') and not hasattr(p, 'none') else 0)\ntl.store(out + 1, "
     "getattr(N, 'none', 5))\ntl.store(out + 2, getattr(p, 'dtype').element_ty.itemsize)",
     "1 5 4"},
    {"",
     "tl.store(out, isinstance(n, tl.tensor) + 2 * isinstance(N, tl.constexpr) + 4 * isinstance(N, "
     "int) + 8 * isinstance(tl.int8, tl.dtype) + 16 * isinstance((1, 2), tl.tuple) + 32 * "
     "isinstance(x, (int, float)))",
     "31"},
    {"", "tl.store(out, max(N, 3) + min(2, 5, 1) + int(2.9) + len((1, 2)) + float('2'))", "15"},
    /* --- types --- */
    {"",
     "t = p.dtype.element_ty\ntl.store(out, t.primitive_bitwidth)\ntl.store(out + 1, 1 if "
     "t.is_int() and t == tl.int32 and p.type.is_ptr() else 0)\ntl.store(out + 2, 1 if "
     "out.type.element_ty.name == 'fp64' and t.name == 'int32' else 0)",
     "32 1 1"},
    {"",
     "v = tl.zeros((4, 8), tl.float16)\ntl.store(out, v.numel)\ntl.store(out + 1, "
     "v.T.shape[0])\ntl.store(out + 2, 1 if v.dtype.is_fp16() and v.type.is_block() and "
     "v.type.scalar == tl.float16 else 0)\ntl.store(out + 3, 1 if v.type == "
     "tl.block_type(tl.float16, [4, 8]) else 0)\ntl.store(out + 4, tl.int8.get_int_max_value())",
     "32 8 1 1 127"},
    {"",
     "q = out.to(tl.pi32_t) if p.dtype == tl.pi32_t else None\ntl.store(out, 1 if q is not None "
     "else 0)",
     "1"},
    /* --- promotion --- */
    PROMOTE("int32", "+", "bfloat16", "float32"),
    PROMOTE("int32", "+", "float16", "float16"),
    PROMOTE("float16", "+", "bfloat16", "float16"),
    PROMOTE("float8e5", "+", "float8e5", "float8e5"),
    PROMOTE("float8e5", "+", "float8e4nv", "float16"),
    PROMOTE("float8e5", "+", "bfloat16", "float32"),
    PROMOTE("float8e5", "+", "float16", "float16"),
    PROMOTE("int8", "+", "uint8", "uint8"),
    PROMOTE("int32", "+", "uint32", "uint32"),
    PROMOTE("int64", "+", "uint32", "int64"),
    PROMOTE("int1", "+", "int1", "int1"),
    PROMOTE("int1", "+", "int8", "int8"),
    PROMOTE("uint64", "*", "int64", "uint64"),
    PROMOTE("int16", "-", "int8", "int16"),
    PROMOTE("float64", "+", "float32", "float64"),
    PROMOTE("int64", "*", "float32", "float32"),
    PROMOTE("float16", "/", "float16", "float32"),
    PROMOTE("bfloat16", "/", "bfloat16", "float32"),
    PROMOTE("int32", "/", "int32", "float32"),
    PROMOTE("float64", "/", "float32", "float64"),
    PROMOTE("float16", "%", "float16", "float32"),
    PROMOTE("int64", "//", "int32", "int64"),
    PROMOTE("uint8", "//", "uint32", "uint32"),
    PROMOTE("int16", "%", "int32", "int32"),
    PROMOTE("int8", "&", "int32", "int32"),
    PROMOTE("uint16", "<<", "uint8", "uint16"),
    PROMOTE("bfloat16", "+", "bfloat16", "bfloat16"),
    WEAK("float16", "* 2.0", "float16"),
    WEAK("uint8", "+ 3", "uint8"),
    WEAK("int8", "+ 1.5", "float32"),
    WEAK("int1", "+ 1", "int32"),
    WEAK("bfloat16", "+ 1", "bfloat16"),
    WEAK("float16", "/ 2", "float32"),
    WEAK("int64", "+ 1", "int64"),
    WEAK("int8", "+ True", "int8"),
    WEAK("uint32", "* 4000000000", "uint32"),
    WEAK("float16", "+ x", "float32"),
    WEAK("bfloat16", "+ n", "float32"),
    WEAK("float16", "+ n", "float16"),
    WEAK("int8", "+ n", "int32"),
    WEAK("float32", "+ 1e39", "float32"),
    WEAK("int32", "+ 1e39", "float64"),
    WEAK("int32", "* 1e-40", "float64"),
    WEAK("int32", "* 1e-30", "float32"),
    /* comparisons, maximum, minimum, clamp are not weak: a number is a tensor first */
    {"", "h = tl.zeros((4,), tl.float16)\nm = tl.maximum(h, 0.0)\ntl.static_assert(m.dtype == tl.float32)\n"
         "u = tl.full((4,), 7, tl.uint32)\ntl.store(out + tl.arange(0, 4), (u < -1).to(tl.int32))",
     "1 1 1 1"},
    /* the type of a literal */
    {"", "a = 5\nb = 3000000000\nc = 5000000000\nd = 18000000000000000000\ne = 1.5\nf = 1e-40\ng = True\n"
         "tl.static_assert(a.dtype == tl.int32 and b.dtype == tl.uint32 and c.dtype == tl.int64)\n"
         "tl.static_assert(d.dtype == tl.uint64 and e.dtype == tl.float32 and f.dtype == tl.float64)\n"
         "tl.static_assert(g.dtype == tl.int1)\ntl.store(out, f)",
     "1e-40"},
    {"", "z = -0.0\ntl.store(out, z)\ntl.store(out + 1, -(x - x))", "0 -0"},
    /* constants are Python's, tensors are C's */
    {"", "a = -7\ntl.store(out, -7 // 2)\ntl.store(out + 1, a // 2)\ntl.store(out + 2, -7 % 4)\n"
         "tl.store(out + 3, a % 4)\ntl.store(out + 4, 7 / 2)\ntl.store(out + 5, 2 ** 10)\n"
         "tl.store(out + 6, a >> 1)\ntl.store(out + 7, (-5.5) // 2)",
     "-4 -3 1 -3 3.5 1024 -4 -3"},
    {"", "v = tl.full((4,), -5.5, tl.float32)\ntl.store(out + tl.arange(0, 4), v % 2)", "-1.5 -1.5 -1.5 -1.5"},
    /* one-bit integers wrap */
    {"", "t = n > 3\ntl.store(out, (t + t).to(tl.int32))\ntl.store(out + 1, (t * t).to(tl.int32))\n"
         "tl.store(out + 2, (t - t).to(tl.int32))\ntl.store(out + 3, (t + 1).to(tl.int32))",
     "0 1 0 2"},
    /* small integers wrap, shifts of unsigned ones are logical */
    {"", "a = tl.full((4,), 127, tl.int8)\nb = tl.full((4,), 200, tl.uint8)\ntl.store(out, tl.max(a + 1, 0))\n"
         "tl.store(out + 1, tl.max((b << 1), 0))\ntl.store(out + 2, tl.max(b >> 3, 0))\nc = -8\n"
         "tl.store(out + 3, c >> 1)",
     "-128 144 25 -4"},
    /* the left operand's sign decides what a shift moves in, whatever both are promoted to */
    {"", "a = tl.full((4,), -64, tl.int16)\nb = tl.full((4,), 3, tl.uint16)\n"
         "tl.store(out, tl.max(a >> b, 0))\ntl.store(out + 1, tl.max(a.to(tl.uint16) >> b.to(tl.int16), 0))",
     "65528 8184"},
    /* one element is as good as a scalar; None bounds are no bounds; `:` of a scalar is nothing */
    {"", "a = tl.arange(0, 1)\nif a == 0:\n    tl.store(out, 5)\nb = tl.arange(0, 4)[None, None:None:]\n"
         "tl.static_assert(b.shape == [1, 4])\ntl.static_assert(n[None, None, :].shape == [1, 1])",
     "5"},
    /* `and` and `or` of constants give the value, as Python's, and look no further */
    {"", "a: tl.constexpr = N and 3\nb: tl.constexpr = 0 or 4\nc: tl.constexpr = None or 0\ntl.store(out, a)\n"
         "tl.store(out + 1, b)\ntl.store(out + 2, c)\ntl.store(out + 3, 1 if not c else 0)",
     "3 4 0 1"},
    {"", "if N == 8 or undefined:\n    tl.store(out, 1)\nif N == 7 and undefined:\n    tl.store(out, 2)", "1"},
    /* constants of the module */
    {"A = tl.constexpr(4)\nB = A * 2 + 1\nT = tl.float16\n",
     "tl.store(out, B)\ntl.store(out + 1, tl.zeros((4,), T).dtype.primitive_bitwidth)\n"
     "tl.store(out + 2, math.e.to(tl.float64) * 0 + A)\ntl.store(out + 3, triton.cdiv(A, 3) + triton.next_power_of_2(9))",
     "9 16 4 18"},
    /* by tuple, each as of its line */
    {"A, B, C = 4, 5, 6\nPAIR = (7, (8, 9))\nD, [E, F] = PAIR\n",
     "tl.store(out, A * 100 + B * 10 + C)\ntl.store(out + 1, D * 100 + E * 10 + F)", "456 789"},
    {"A, B = 1, 2\nC = A\nA, B = B, A\nA *= 10\nB: int = B + 4\nA = A + C\n",
     "tl.store(out, A)\ntl.store(out + 1, B)\ntl.store(out + 2, C)", "21 5 1"},
    {"A = 1\nif A == 1:\n    B = 2\nelse:\n    B = 3\nif A > 1:\n    C = 4\nelif B == 2:\n    C = 5\nelse:\n    C = 6\n"
     "if somewhere():\n    D = 7\n",
     "tl.store(out, B)\ntl.store(out + 1, C)\ntl.store(out + 2, D)", "2 5 7"},
    {"OTHER, A = host.call(), 3\n", "tl.store(out, A)", "3"},
    {"import os\nif os.environ.get('TILEWRIGHT_NOT_SET', '0') == '1':\n    f = tl.exp\n    A = 1\nelse:\n    f = tl.abs\n    A = 2\n"
     "B = 3 if os.getenv('TILEWRIGHT_NOT_SET') is None else 4\nC = os.getenv('PATH') is not None\n",
     "tl.store(out, f(-n) + A)\ntl.store(out + 1, B)\ntl.store(out + 2, C)", "14 3 1"},
    /* the variable of a loop has the type that bounds and step promote to */
    {"", "s = 0\nfor i in range(0, n.to(tl.int64), tl.load(p + 2)):\n    tl.static_assert(i.dtype == tl.int64)\n"
         "    s += 1\nfor j in range(3):\n    tl.static_assert(j.dtype == tl.int32)\ntl.store(out, s)",
     "6"},
};

static const Case ones[] = {
    {"", "tl.static_assert(one == 1 and isinstance(one, int))\nfor i in range(3):\n    one += i\ntl.store(out, one)", "4"},
    {"", "v = tl.arange(0, 4) * one\ntl.static_assert(v.dtype == tl.int32)\nif one:\n    tl.store(out, 1)\n"
         "else:\n    undefined\ntl.store(out + 1, one.dtype.primitive_bitwidth)", "1 32"},
    {"",
     "tl.store(out, -7 // one)\ntl.store(out + 1, -7 % (one + 1))\ntl.store(out + 2, "
     "one.to(tl.int64))",
     "-7 1 1"},
};

static const Case refused[] = {
    {"@triton.jit\ndef f(x):\n    return f(x)\n", "f(n)", "`f` calls itself"},
    {"", "t = (1, 2)\nt[n]", "the index of a tuple must be known at compile time"},
    {"", "a = N\nfor i in range(3):\n    a = a * 1.5",
     "`a` is an int32 before the loop and a float32 at its end"},
    {"", "a: tl.constexpr = 2\nfor i in range(3):\n    a = i",
     "`a` is the constant 2 before the loop"},
    {"",
     "if n > 1:\n    v = tl.zeros((4,), tl.int32)\nelse:\n    v = tl.zeros((8,), tl.int32)\nv + 1",
     "`v` is an int32[4] in one branch of the `if` and an int32[8]"},
    {"", "if n > 1:\n    v = 1\ntl.store(out, v)",
     "`v` has no value here: it is assigned in only one branch"},
    {"", "for i in range(n):\n    v = 1\ntl.store(out, v)",
     "`v` has no value here: it is first assigned inside a loop"},
    {"", "for i in range(n):\n    v = 1\ntl.store(out, i)", "`i` has no value here"},
    {"@triton.jit\ndef f(x):\n    if x > 1:\n        return 1\n", "f(n)",
     "the returns of the function differ: an int32 and None"},
    {"@triton.jit\ndef f(x):\n    if x > 1:\n        return 1\n    return 1.5\n", "f(n)",
     "the returns of the function differ: an int32 and a float32"},
    {"", "if n and x > 1.0:\n    pass", "`and` takes booleans, here is an int32"},
    {"", "if tl.arange(0, 4) > 1:\n    pass", "a condition must be a scalar, here is an int1[4]"},
    {"", "for i in range(0, 4, 0):\n    pass", "the step of a range cannot be 0"},
    {"", "for i in range(x):\n    pass", "a bound of range must be an integer, here is a float32"},
    {"", "tl.zeros((n,), tl.int32)", "a shape of positive integers known at compile time, here is"},
    {"", "tl.store(out, nn)", "`nn` is not known; did you mean `n`?"},
    {"", "tl.stor(out, n)", "`tl.stor` is not known; did you mean `tl.store`?"},
    {"@triton.jit\ndef f(a, b):\n    return a\n", "f(1)", "`f` needs the argument `b`"},
    {"@triton.jit\ndef f(a, b):\n    return a\n", "f(1, 2, 3)",
     "`f` takes at most 2 positional arguments"},
    {"@triton.jit\ndef f(a, block):\n    return a\n", "f(1, blok=3)",
     "`f` has no parameter `blok`; did you mean `block`?"},
    {"", "tl.arange(0, 4) + tl.arange(0, 8)", "the shapes of int32[4] and int32[8] do not fit"},
    {"", "tl.load(p + tl.arange(0, 4), mask=tl.arange(0, 4))",
     "a mask must be boolean (int1), here is an int32[4]"},
    {"", "with n:\n    pass", "`with` enters a context manager of the program around the kernel, here is an int32"},
    {"", "x.y = 3", "assignment to an attribute is not part of a kernel"},
    {"", "lambda: 3", "`lambda` is not part of a kernel"},
    {"", "break", "`break` or `continue` outside of a loop"},
    {"", "tl.zeros((4,), tl.float8e5) + tl.zeros((4,), tl.int32)", "float8e5[4] and int32[4] have no common type"},
    {"", "tl.zeros((4,), tl.int32) // tl.zeros((4,), tl.uint32)", "Cannot use /, // and % with int32[4] and uint32[4] because they have different signedness"},
    {"", "tl.zeros((4,), tl.int1) % tl.zeros((4,), tl.int8)", "with int1[4] and int8[4] because they have different signedness"},
    {"", "tl.zeros((4,), tl.uint8) + 300", "300 is out of range for uint8"},
    {"", "tl.zeros((4,), tl.uint8) + -1", "-1 is out of range for uint8"},
    {"", "tl.zeros((4,), tl.int8) * 128", "128 is out of range for int8"},
    {"", "x // 2", "`//` has invalid operands of type a float32 and 2"},
    {"", "x & 2", "`&` has invalid operands of type a float32 and 2"},
    {"", "n ** 2", "`**` has invalid operands of type an int32 and 2"},
    {"", "n @ n", "`@` has invalid operands of type an int32 and an int32"},
    {"", "tl.exp(tl.zeros((4,), tl.float16))", "tl.exp takes float32 or float64, here is float16[4]"},
    {"", "y = 2 if n > 1 else 2.5", "the sides of the conditional expression differ: an int32 and a float32"},
    {"", "1 // 0", "a constant is divided by zero"},
    {"", "tl.store(out, 2 ** 200)", "the result of `**` is too large"},
    {"A = B + 1\nB = A + 1\n", "tl.store(out, A)", "`B` is not known"},
    {"A = 1\nfor i in range(3):\n    A += i\n", "tl.store(out, A)", "the module sets `A` in a loop"},
    {"while True:\n    if True:\n        A, B = 1, 2\n", "tl.store(out, B)", "the module sets `B` in a loop"},
    {"A = 1\nif somewhere():\n    A = 2\n", "tl.store(out, A)", "the module sets `A` under a condition"},
    {"if somewhere():\n    A = 2\nelse:\n    A = 3\n", "tl.store(out, A)", "the module sets `A` under a condition"},
    {"A, B = 1, 2, 3\n", "tl.store(out, A)", "`A` is not known"},
    {"", "if N == 7:\n    a = 1\ntl.store(out, a)", "`a` has no value here: it is assigned at line"},
    {"", "a += 1", "`a` is not known"},
    {"", "tl.store(out, b)\nb = 1", "`b` has no value here: it is assigned at line"},
    {"", "x = tl.float32(1.0)", "to convert x write x.to(tl.float32), for a number tl.full([], x, tl.float32)"},
    {"A, *B = 1, 2, 3\n", "tl.store(out, A)", "`A` is not known"},
    {"def host(x):\n    return x\n", "host(n)", "`host` is a host function; decorate it with @triton.jit"},
    {"import torch\n", "torch.zeros(3)", "`torch.zeros` is host code"},
};
