/* SPDX-License-Identifier: Apache-2.0 */
/* test_python.c: plain Python around kernels (src/front/python): lists and dicts that change, functions inside of
 * functions, generators, `in`, calls with `*` and `**`, Python's own functions. Each case is a function of no
 * parameters; a kernel prints what it gives, as Python would, or there is a message. */
#include "check.h"

#include "front/front.h"

static Trap trap;
static Arena arena;

static void hear(void *user, const char *text, size_t length) { text_add_bytes(user, text, length); }

/* What the kernel prints, or the first message. */
static const char *evaluated(const char *body) {
    SourceMap sources;
    Diag diag;
    source_init(&sources, &arena);
    diag_init(&diag, &arena, &sources);
    FrontUnit unit = {.arena = &arena, .diag = &diag, .sources = &sources};
    const char *text = arena_printf(&arena,
                                    "import math, itertools\nimport triton, triton.language as tl\n%s\nX = f()\n"
                                    "@triton.jit\ndef k():\n    tl.static_print(X, end='')\n",
                                    body);
    unit.file = source_add(&sources, "k.py", text, strlen(text));
    unit.door = front_find("triton");
    if (!unit.door->open(&unit)) return diag.messages.at[0].text;
    FrontRequest request = {.kernel = &unit.kernels.at[0], .module = ir_module_new(&arena, &diag, &sources)};
    Text said = text_new(&arena);
    request.print = hear;
    request.print_user = &said;
    if (!unit.door->lower(&unit, &request)) return diag.messages.count ? diag.messages.at[0].text : "no message";
    return said.at;
}

static void gives(const char *body, const char *want) {
    const char *got = evaluated(body);
    if (strcmp(got, want) != 0) printf("%s\n  gives: %s\n  not:   %s\n", body, got, want);
    CHECK(strcmp(got, want) == 0);
}

static void refuses(const char *body, const char *part) {
    const char *got = evaluated(body);
    if (!strstr(got, part)) printf("%s\n  gives: %s\n  not:   %s\n", body, got, part);
    CHECK(strstr(got, part) != NULL);
}

static void test_lists(void) {
    gives("def f():\n    a = []\n    for i in range(4): a.append(i * i)\n    return a", "(0, 1, 4, 9)");
    gives("def f():\n    a = [1, 2]\n    b = a\n    b.append(3)\n    return a", "(1, 2, 3)");
    gives("def f():\n    a = [1, 2]\n    b = a.copy()\n    b.append(3)\n    return len(a), len(b)", "(2, 3)");
    gives("def f():\n    a = [3, 1, 2]\n    a.insert(0, 9)\n    a.insert(-1, 8)\n    a.insert(99, 7)\n    return a",
          "(9, 3, 1, 8, 2, 7)");
    gives("def f():\n    a = [1, 2, 3]\n    x = a.pop()\n    y = a.pop(0)\n    return x, y, a", "(3, 1, (2,))");
    gives("def f():\n    a = [1, 2, 3]\n    a[1] = 5\n    a[-1] += 4\n    return a", "(1, 5, 7)");
    gives("def f():\n    a = [0] * 3\n    a.extend((1, 2))\n    a.reverse()\n    return a + [7]", "(2, 1, 0, 0, 0, 7)");
    gives("def f(): return [1, 2, 3, 4][1:3], (1, 2, 3)[::-1]", "((2, 3), (3, 2, 1))");
    gives("def f():\n    a, *b, c = [1, 2, 3, 4]\n    return a, b, c", "(1, (2, 3), 4)");
    gives("def f(): return [1, 2] == [1, 2], [1] == (1,), 3 in [1, 3], 4 not in [1, 3]", "(True, False, True, True)");
    gives("def f(): return sorted([3, 1, 2]), sorted((3, 1, 2), reverse=True), list(reversed((1, 2)))",
          "((1, 2, 3), (3, 2, 1), (2, 1))");
    refuses("def f():\n    a = [1]\n    a[3] = 1\n    return a", "index 3 is outside");
    refuses("def f():\n    a = []\n    a.append(a)\n    return a", "deep in each other");
    refuses("def f():\n    a = []\n    while True: a.append(1)\n    return a", "more than");
}

static void test_dicts(void) {
    gives("def f():\n    d = {}\n    for i in range(3): d[i] = i + 1\n    d[1] += 5\n    return d.items()",
          "((0, 1), (1, 7), (2, 3))");
    gives("def f():\n    d = {'a': 1, 'b': 2}\n    return 'a' in d, 'c' in d, d.get('c', 9), d.pop('a'), len(d)",
          "(True, False, 9, 1, 1)");
    gives("def f():\n    d = {**{'a': 1}, 'b': 2, 'a': 3}\n    return list(d), list(d.values())", "((a, b), (3, 2))");
    gives("def f():\n    d = {k: v for k, v in zip('xy', (1, 2))}\n    d.update({'z': 3})\n    return [k for k in d]",
          "(x, y, z)");
    gives("def f():\n    d = dict(a=1)\n    d.setdefault('a', 5)\n    d.setdefault('b', 6)\n    return d.values()", "(1, 6)");
    refuses("def f(): return {'a': 1}['b']", "`b` is not known");
}

static void test_functions(void) {
    gives("def f():\n    def add(n):\n        def g(x): return x + n\n        return g\n    return add(3)(4), add(5)(1)",
          "(7, 6)");
    gives("def f():\n    k = 2\n    g = lambda x, y=10: x * k + y\n    k = 3\n    return g(1), g(1, y=2)", "(13, 5)");
    gives("def f():\n    def g(a, *rest, b=1, **more): return a, rest, b, list(more.items())\n    return g(1, 2, 3, b=4, c=5)",
          "(1, (2, 3), 4, ((c, 5),))");
    gives("def f():\n    def g(a, b): return a - b\n    return g(*[5, 2]), g(**{'b': 1, 'a': 9})", "(3, 8)");
    gives("def fact(n): return 1 if n < 2 else n * fact(n - 1)\ndef f(): return fact(10)", "3628800");
    gives("def f():\n    n = 0\n    while True:\n        n += 1\n        if n % 7 == 0 and n > 20: break\n    return n", "21");
    gives("def f():\n    import math as m\n    return m.gcd(12, 18), m.ceil(2.5)", "(6, 3)");
    refuses("def f():\n    if 1 < 2: raise ValueError('no such size')\n    return 1", "raises: no such size");
    refuses("def f():\n    def g(n): return g(n)\n    return g(1)", "deep");
    refuses("L = []\nfor i in range(3): L.append(i)\ndef f(): return L", "which is not run here");
    refuses("L = {}\nL[1] = 2\ndef f(): return L", "which is not run here");
}

static void test_functions_of_python(void) {
    gives("def f(): return sum(i for i in range(5)), sum([1, 2], 10), math.prod((2, 3, 4))", "(10, 13, 24)");
    gives("def f(): return any(x > 2 for x in (1, 3)), all([]), all(x for x in (1, 0))", "(True, True, False)");
    gives("def f(): return max(3, 7, 5), min([4, 2]), abs(-3), divmod(-7, 2), round(2.5), round(3.5)",
          "(7, 2, 3, (-4, 1), 2, 4)");
    gives("def f(): return int('3' in '123'), str(12) + 'x', float('inf') > 1, bool([])", "(1, 12x, True, False)");
    gives("def f(): return 'a,b'.split(','), '-'.join(['x', 'y']), 'AbC'.lower(), 'abc'.startswith(('b', 'ab'))",
          "((a, b), x-y, abc, True)");
    gives("def f(): return isinstance([1], list), isinstance((1,), list), isinstance({}, dict)", "(True, False, True)");
    gives("def f(): return [a * b for a in (1, 2) for b in (3, 4) if a != b]", "(3, 4, 6, 8)");
    gives("def f(): return list(itertools.product((1, 2), 'ab'))", "((1, a), (1, b), (2, a), (2, b))");
}

int main(void) {
    arena_init(&arena, allocator_malloc, &trap);
    if (TRAP_ARM(&trap)) {
        test_lists();
        test_dicts();
        test_functions();
        test_functions_of_python();
    }
    arena_free(&arena);
    return check_done();
}
