# Tile C's numbers, loops, pointers and tiles of integers, as C has them; each kernel prints the number that it computes in `s`.
$ cat > run.sh <<'EOF'
> printf '#include "tile.h"\ntypedef struct { gl(int, 1, 1, -1, -1) x; int n; } G;\n%s\ntile_kernel(32, 1) void f(G g) {\n  rt(int, 16, 16) t, u;\n  int s = 0;\n  zero(&t);\n  %s\n  add(&t, &t, s);\n  store(g.x, &t, at(0, 0));\n}\n' "$2" "$1" > k.tile.c
> for t in interp cpu; do tilewright run k.tile.c --target $t --grid 1 --arg g.x=zeros:i32[16,16] --arg g.n=3 --save g.x=o.npy 2>&1 | head -n 1; [ -e o.npy ] && od -An -t d4 -j 128 -N 4 o.npy; rm -f o.npy; done | uniq
> EOF
#! a bound that the body changes
$ sh run.sh 'int n = 4; for (int i = 0; i < n; i++) { n = 2; s++; }' ''
           2
#! a bound that the body changes through a pointer
$ sh run.sh 'int n = 4; int *p = &n; for (int i = 0; i < n; i++) { *p = 3; s++; }' ''
           3
#! a step that changes
$ sh run.sh 'int by = 1; for (int i = 0; i < 8; i += by) { by++; s++; }' ''
           3
#! a bound with an effect
$ sh run.sh 'int n = 6; for (int i = 0; i < n--; i++) s++;' ''
           3
#! a step of two parts
$ sh run.sh 'int j = 0; for (int i = 0; i < 4; i++, j += 2) s += j;' ''
          12
#! the comparison of a loop is unsigned as soon as one side is
$ sh run.sh 'unsigned m = g.n; for (int i = -1; i < m; i++) s++;' ''
           0
#! an unsigned variable goes round
$ sh run.sh 'for (unsigned i = 3; i < 4; i--) s++;' ''
           4
#! a pointer that stays
$ sh run.sh 'int a = 1; struct S q = {.p = &a}; if (g.n > 1) { q = (struct S){.p = &a, .v = 7}; *q.p += 5; } s = *q.p + q.v * 10;' 'struct S { int *p; int v; };'
          76
#! a pointer that a run-time `if` changes
$ sh run.sh 'int a = 1, b = 2; struct S q = {.p = &a}; if (g.n > 1) q = (struct S){.p = &b}; s = *q.p;' 'struct S { int *p; int v; };'
k.tile.c:8:45: error: `p` points to another thing behind this `if` than before; what a pointer points to is known when compiling; use it inside, or choose between numbers [pointer]
#! a pointer that a run-time loop changes
$ sh run.sh 'int a = 1, b = 2; struct S q = {.p = &a}, o = {.p = &b}; for (int i = 0; i < g.n; i++) { s += *q.p; q = o; }' 'struct S { int *p; int v; };'
k.tile.c:8:60: error: `p` points to another thing behind this run-time loop than before; what a pointer points to is known when compiling; use it inside, or choose between numbers [pointer]
#! an array is passed by its address
$ sh run.sh 'four a = {1, 2, 3, 4}; set(a); s = a[0];' 'typedef int four[4]; static void set(four x) { x[0] = 9; }'
           9
#! both sides of ?: make its type
$ sh run.sh 's = (int)((1 ? 1 : 2.0) / 2 * 10);' ''
           5
#! hexadecimal numbers are unsigned before they are long
$ sh run.sh 's = 0xffffffff + 1 == 0;' ''
           1
#! constants of the file have the type that they say
$ sh run.sh 's = (int)(half / 4 * 100) + (U - 6 > 0) + c * 1000;' 'const float half = 2; const unsigned U = 5; const signed char c = 300;'
       44051
#! sizeof of an expression, which is not computed
$ sh run.sh 'st_bf(16, 32) k[3]; st_fl(16, 16) *p = shared_alloc(st_fl(16, 16)); s = sizeof(k[1]) + sizeof(k) + sizeof(*p) + sizeof(s++) + sizeof(1.0f) + s;' ''
        5128
#! the pairs of CUDA, as literals too; coordinates that are kept
$ sh run.sh 'int2 a = {3, 4}; a = (int2){a.y, a.x}; float4 f = {.w = 2}; s = a.x * 10 + a.y + (int)(f.w + f.x);' ''
          45
$ sh run.sh 'coord c = at(1, g.n), d = at(c.r, c.c + 1); c = at(c.b, c.d, 0, 0); zero(&u); load(&u, g.x, c); row_of(g.x, &u, c); s = d.r * 100 + d.c * 10 + c.r;' 'static void row_of(gl(int, 1, 1, -1, -1) x, rt(int, 16, 16) *t, coord c) { store(x, t, c); store(x, t, at(c.r, c.c)); }'
         140
#! a name of one's own goes first
$ sh run.sh 'int2 a = {.z = 6}; int coord = 2; s = a.z + coord;' 'typedef struct { int z; } int2;'
           8
#! CUDA's conversions: bf16 keeps eight bits
$ sh run.sh 's = (int)__bfloat162float(__float2bfloat16(257.0f)) + (int)(__expf(0.0f) + __logf(1.0f));' ''
         257
#! what is set before each return, and what is set behind all of them
$ sh run.sh 's = last(g.n) * 10 + last(5);' 'static int last(int n) { int a, b; if (n > 4) b = 1; else if (n > 3) b = 2; else { a = 7; return a; } a = b + 1; return a; }'
          72
#! sizeof is unsigned, with padding
$ sh run.sh 's = sizeof(struct Z) - 9 > 0 ? sizeof(struct Z) : 1;' 'struct Z { char c; int i; };'
           8
#! threads do not go on alone
$ sh run.sh 'for (int i = 0; i < 4; i++) { if (laneid() == 0) continue; s++; }' ''
k.tile.c:8:37: error: an `if` over thread numbers may not return, break or continue, nor mix in run-time values [thread-value]
#! a pointer to another type
$ sh run.sh 'int a = 1; set(&a); s = a;' 'static void set(float *x) { *x = 1.5f; }'
k.tile.c:8:18: error: this does not fit parameter `x` of type f32 * [argument]
#! a value behind a nested designator
$ sh run.sh 'struct T a = {.q.p = 3, 5}; s = a.k;' 'struct Q { int p, r; }; struct T { int k; struct Q q; int z; };'
k.tile.c:8:27: error: Tile C cannot take a value behind a nested designator yet; name its member too [unsupported]
#! an endless loop
$ sh run.sh 'for (;;) s++;' ''
k.tile.c:8:3: error: this `for` never ends: no condition, break or return in it can become true [loop]
#! one on integers
$ sh run.sh 'one(&u); store(g.x, &u, at(0, 0)); load(&u, g.x, at(0, 0)); add(&t, &t, &u);' ''
           1
#! relu on integers
$ sh run.sh 'one(&u); sub(&u, &u, 3); relu(&u, &u); add(&t, &t, &u); s = 4;' ''
           4
#! infinities on integers
$ sh run.sh 'pos_infty(&u);' ''
k.tile.c:8:3: error: `pos_infty` has no meaning for elements of i32; use a tile of a type that has infinities, as float and bf16 [element-type]
#! exp on integers
$ sh run.sh 'one(&u); exp(&u, &u);' ''
k.tile.c:8:12: error: `exp` has no meaning for elements of i32; use a tile of float, bf16 or half [element-type]
#! a tile of more columns than there are numbers
$ sh run.sh 'rt(int, 16, 9223372036854775807) v;' ''
k.tile.c:8:15: error: columns of `rt` are 9223372036854775807, which is no multiple of 16; tiles are made of 16x16 squares (16x32 of one-byte elements); write 16 [tile-size]
$ sh run.sh 'rt(int, -9223372036854775807, 16) v;' ''
k.tile.c:8:11: error: rows of `rt` are -9223372036854775807, which is no multiple of 16; tiles are made of 16x16 squares (16x32 of one-byte elements); write 16 [tile-size]
#! coordinates beyond all extents
$ sh run.sh 'store(g.x, &t, at(0x7ffffffffffffff0, 0));' ''
k.tile.c:8:18: error: row coordinate 9223372036854775792 is out of range: coordinates count tiles, 16 elements each, and the extent is 9223372036854775807 [coordinates]
$ sh run.sh 's = warpid() * 9223372036854775807 + (g.n + laneid()) * 4611686018427387904;' ''
k.tile.c:8:3: error: only + and -, and * by a constant, may join a thread's number with a run-time value [thread-value]
#! a bound behind a pointer, which the body changes by name
$ sh run.sh 'int v = g.n, w = 7; int *p = &v; for (int i = 0; i < *p; i++) { v = 2; s++; }' ''
           2
$ sh run.sh 'int v = g.n, w = 7; int *p = &v; for (int i = 0; i < *p; i++) { w = 2; s++; } s += w;' ''
           5
#! loops of any form, as long as only the run knows
$ sh run.sh 'int n = g.n; while (n > 0) { s += n; n--; } do s += 100; while (s < 250);' ''
         306
$ sh run.sh 'int i = 0; for (;;) { if (i == g.n) break; s += i++; }' ''
           3
$ sh run.sh 'int i; for (i = 0; i < g.n; i += 2) s += 10; s += i;' ''
          24
$ sh run.sh 'for (int i = g.n * 10; i > 0; i -= 7) { if (i % 2) continue; s += i; }' ''
          48
$ sh run.sh 'for (int i = 0; i < 100; i++) { if (i % g.n == 1) continue; if (i > 20) break; s += i; }' ''
         140
$ sh run.sh 'for (int i = 0; i < 4; i++) { if (i == g.n) break; s += 1; for (int j = 0; j < i; j++) { if (j == g.n - 2) continue; s += 10; } }' ''
          23
#! returns out of loops and branches
$ sh run.sh 's = find(g.n) * 100 + find(50);' 'static int find(int n) { for (int i = 0; i < 20; i++) { if (i * i > n) { if (i > 4) continue; return i; } } return -1; }'
         199
$ sh run.sh 's = way(g.n) + 10 * way(g.n + 1) + 100 * way(g.n - 2);' 'static int way(int n) { int a; if (n == 3) { a = 4; } else if (n > 3) return 5; else { a = 1; } a++; return a; }'
         255
$ sh run.sh 's = lost(g.n);' 'static int lost(int n) { while (n) { if (n == 9) return 1; n--; } }'
k.tile.c:8:7: error: `lost` gives no value back on this path [return]
#! switch, with and without fall
$ sh run.sh 'for (int i = 0; i < g.n + 2; i++) { switch (i) { case 0: s += 1; break; case 1: s += 10; case 2: s += 100; break; default: s += 1000; } }' ''
        2211
$ sh run.sh 'switch (3) { case 1: s = 1; case 3: s = 3; case 4: s += 4; break; case 5: s = 9; } switch (g.n) { default: s += 1000; break; case 3: { if (g.n > 2) break; s = 0; } }' ''
           7
$ sh run.sh 'for (int i = 0; i < 9; i++) { switch (i % g.n) { case 1: continue; case 2: s += 10; } s++; }' ''
          36
#! arrays at run-time places, tables, structs by value
$ sh run.sh 'int a[4] = {1, 2, 3, 4}; a[g.n] += 5; for (int i = 0; i < g.n; i++) s += a[i] * tab[i + 1]; s += a[g.n] * 1000; ' 'static const int tab[] = {9, 7, 5, 3};'
        9026
$ sh run.sh 'int a[2][3]; for (int i = 0; i < 2; i++) for (int j = 0; j < g.n; j++) a[i][j] = i * 10 + j; s = a[g.n - 2][g.n - 1];' ''
          12
$ sh run.sh 'P p = make(g.n, 4), q = p; q.x++; p = twice(q); s = p.x * 10 + p.y;' 'typedef struct { int x, y; } P; static P make(int x, int y) { P p = {x, y}; return p; } static P twice(P p) { if (p.x > 2) return (P){p.x * 2, p.y}; p.y = 0; return p; }'
          84
$ sh run.sh 'const int a[2] = {1, 2}; a[g.n] = 1;' ''
k.tile.c:8:28: error: `a` cannot be assigned: it is const [not-assignable]
#! calls and assignments of which only one may run
$ sh run.sh 'int k = 0; s = g.n > 2 ? one(&k) : two(&k); s += k; if (g.n > 5 && one(&k)) s = 0; if (g.n < 5 || one(&k)) s += k;' 'static int one(int *p) { *p += 10; return 1; } static int two(int *p) { *p += 1000; return 2; }'
          21
#! C's functions of numbers
$ sh run.sh 's = (int)(sqrtf(16.0f) * 100 + fmaxf(2, expf(0.0f)) + powf(2, g.n) + (INFINITY > 3 ? 1000 : 0) + fabs(-3.5) + abs(-g.n));' ''
        1416
#! jumps that lead nowhere
$ sh run.sh 'break;' ''
k.tile.c:8:3: error: `break` stands in no loop or `switch` [jump]
$ sh run.sh 'switch (g.n) { case 1: continue; }' ''
k.tile.c:8:26: error: `continue` stands in no loop [jump]
