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
k.tile.c:8:45: error: `p` points to another thing behind this `if` than before; what a pointer points to is known when compiling: use it inside, or choose between numbers [pointer]
#! a pointer that a run-time loop changes
$ sh run.sh 'int a = 1, b = 2; struct S q = {.p = &a}, o = {.p = &b}; for (int i = 0; i < g.n; i++) { s += *q.p; q = o; }' 'struct S { int *p; int v; };'
k.tile.c:8:60: error: `p` points to another thing behind this run-time loop than before; what a pointer points to is known when compiling: use it inside, or choose between numbers [pointer]
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
k.tile.c:8:3: error: loops with constant bounds are unrolled; together they make more than 4096 iterations [unroll]
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
k.tile.c:8:15: error: columns of `rt` are 9223372036854775807, which is no multiple of 16; tiles are made of 16x16 squares (16x32 of one-byte elements): write 16 [tile-size]
$ sh run.sh 'rt(int, -9223372036854775807, 16) v;' ''
k.tile.c:8:11: error: rows of `rt` are -9223372036854775807, which is no multiple of 16; tiles are made of 16x16 squares (16x32 of one-byte elements): write 16 [tile-size]
#! coordinates beyond all extents
$ sh run.sh 'store(g.x, &t, at(0x7ffffffffffffff0, 0));' ''
k.tile.c:8:18: error: row coordinate 9223372036854775792 is out of range: coordinates count tiles, 16 elements each, and the extent is 9223372036854775807 [coordinates]
$ sh run.sh 's = warpid() * 9223372036854775807 + (g.n + laneid()) * 4611686018427387904;' ''
k.tile.c:8:3: error: only + and -, and * by a constant, may join a thread's number with a run-time value [thread-value]
#! a bound behind a pointer, which the body changes by name
$ sh run.sh 'int v = g.n, w = 7; int *p = &v; for (int i = 0; i < *p; i++) { v = 2; s++; }' ''
k.tile.c:8:36: error: Tile C cannot take this run-time loop yet; write for (int i = a; i < b; i += c) with a bound that the body leaves alone, without break, continue and return [unsupported]
$ sh run.sh 'int v = g.n, w = 7; int *p = &v; for (int i = 0; i < *p; i++) { w = 2; s++; } s += w;' ''
           5
