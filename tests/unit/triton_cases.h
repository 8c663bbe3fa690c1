/* triton_cases.h: the cases of test_triton_run.c, which says what they see. */

#define FIRST_ABOVE                                                                        \
    "@triton.jit\ndef first_above(x, n):\n    for i in range(n):\n        if i * i > x:\n" \
    "            return i * 10\n        if i == 7:\n            return 777\n    return -1\n"

static const Case runs[] = {
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
};

static const Case ones[] = {
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
    {"", "with n:\n    pass", "`with` is not supported"},
    {"", "x.y = 3", "assignment to an attribute is not supported"},
    {"", "lambda: 3", "`lambda` is not supported"},
    {"", "break", "`break` or `continue` outside of a loop"},
};
