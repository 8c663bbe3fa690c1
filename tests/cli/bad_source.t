# Sources that are wrong: several errors a run, each with its place, the line, a caret, the rule and the fix.
$ cat > syntax.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def k(x_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.arange(0, BLOCK
>     x = tl.load(x_ptr + offs, mask=offs < n))
>     y = = 3
>     if x
>         pass
> END
$ tilewright run syntax.py
syntax.py:7:5: error: `,` or `)` is expected before a name; write a comma or an operator between two expressions [missing-comma]
    7 |     x = tl.load(x_ptr + offs, mask=offs < n))
      |     ^
syntax.py:6:21: note: `(` was opened here
    6 |     offs = tl.arange(0, BLOCK
      |                     ^
syntax.py:8:9: error: an expression is expected here, but `=` stands there [syntax]
    8 |     y = = 3
      |         ^
syntax.py:9:9: error: the header of `if` ends with `:`; write it before the end of the line [missing-colon]
    9 |     if x
      |         ^
[1]
$ cat > names.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def k(x_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.arrange(0, BLOCK)
>     x = tl.lod(x_ptr + offs, mask=offs < n)
>     y = tl.expp(tl.load(x_ptr))
>     z = undefined + 1
>     tl.store(x_ptr, 1.0, maks=True)
> END
$ echo --arg x_ptr=zeros:f32[64] --arg n=64 --arg BLOCK=64 --grid 1 > args
$ tilewright run names.py $(cat args)
names.py:6:12: error: `tl.arrange` is not known; did you mean `tl.arange`? [unknown-name]
    6 |     offs = tl.arrange(0, BLOCK)
      |            ^~~~~~~~~~
names.py:7:9: error: `tl.lod` is not known; did you mean `tl.load`? [unknown-name]
    7 |     x = tl.lod(x_ptr + offs, mask=offs < n)
      |         ^~~~~~
names.py:8:9: error: `tl.expp` is not known; did you mean `tl.exp`? [unknown-name]
    8 |     y = tl.expp(tl.load(x_ptr))
      |         ^~~~~~~
names.py:9:9: error: `undefined` is not known; assign it, define it in this file, or give it as a definition [unknown-name]
    9 |     z = undefined + 1
      |         ^~~~~~~~~
names.py:10:26: error: `store` has no parameter `maks`; did you mean `mask`? [arity]
   10 |     tl.store(x_ptr, 1.0, maks=True)
      |                          ^~~~~~~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ cat > shapes.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def k(x_ptr, n, BLOCK: tl.constexpr):
>     a = tl.zeros((16, 32), tl.float32)
>     c = tl.dot(a, a)
>     d = a + tl.zeros((8, 8), tl.float32)
>     e = tl.reshape(a, (4, 4))
>     tl.store(x_ptr + tl.arange(0, BLOCK), a)
>     tl.load(n)
> END
$ tilewright run shapes.py $(cat args)
shapes.py:7:9: error: tl.dot of float32[16, 32] and float32[16, 32] does not fit: [M, K] and [K, N] are needed [dot]
    7 |     c = tl.dot(a, a)
      |         ^~~~~~~~~~~~
shapes.py:8:9: error: the shapes of float32[16, 32] and float32[8, 8] do not fit; extents must be equal or 1; add axes with [:, None], or use tl.broadcast_to [shapes]
    8 |     d = a + tl.zeros((8, 8), tl.float32)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
shapes.py:9:9: error: float32[16, 32] does not reshape to float32[4, 4]; both must have the same number of elements [shapes]
    9 |     e = tl.reshape(a, (4, 4))
      |         ^~~~~~~~~~~~~~~~~~~~~
shapes.py:10:43: error: float32[16, 32] does not broadcast to float32[64]; only extents of 1 are repeated [shapes]
   10 |     tl.store(x_ptr + tl.arange(0, BLOCK), a)
      |                                           ^
shapes.py:11:13: error: tl.load takes a pointer, here is an int32; add the offsets to a pointer argument [pointer]
   11 |     tl.load(n)
      |             ^
hint: the kernel loads or stores through `n`, and a number was given; an array is --arg 'n=randn:f32[1024]'
[1]
$ cat > syntax_lang.py <<'END'
> import tilelang.language as T
>
> @T.prim_func
> def k(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16")):
>     with T.Kernel(2, 2) as (bx, by)
>         for i, j in T.Parallel(32, 32):
>             B[i, j] = A[i, j] +
>         T.copy(A, B))
> END
$ tilewright run syntax_lang.py
syntax_lang.py:8:21: error: `)` closes nothing; delete it, or write the `(` that it belongs to [unmatched-bracket]
    8 |         T.copy(A, B))
      |                     ^
syntax_lang.py:5:36: error: the header of `with` ends with `:`; write it before the end of the line [missing-colon]
    5 |     with T.Kernel(2, 2) as (bx, by)
      |                                    ^
syntax_lang.py:7:32: error: an expression is expected here, but the end of the line stands there [syntax]
    7 |             B[i, j] = A[i, j] +
      |                                ^
[1]
$ cat > names_lang.py <<'END'
> import tilelang.language as T
>
> @T.prim_func
> def k(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float61")):
>     with T.Kernel(2, 2) as (bx, by):
>         S = T.alloc_shred((32, 32), "float16")
>         F = T.alloc_fragment((16, 32), "float32")
>         T.copyy(A[0, 0], F)
>         T.copy(A[0, 0], S)
>         for i, j in T.Paralel(32, 32):
>             F[i, j] = nope
>         for i, j in T.Parallel(16, 32):
>             F[i, j] = nope
> END
$ tilewright run names_lang.py --arg A=zeros:f16[64,64] --arg B=zeros:f16[64,64]
names_lang.py:4:63: error: `"float61"` is no dtype; write one such as "float16", "bfloat16" or "float32" [dtype]
    4 | def k(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float61")):
      |                                                               ^~~~~~~~~
names_lang.py:6:13: error: `T.alloc_shred` is not known here; did you mean `T.alloc_shared`? [unknown-operation]
    6 |         S = T.alloc_shred((32, 32), "float16")
      |             ^~~~~~~~~~~~~
names_lang.py:8:9: error: `T.copyy` is not known here; did you mean `T.copy`? [unknown-operation]
    8 |         T.copyy(A[0, 0], F)
      |         ^~~~~~~
names_lang.py:10:21: error: `T.Paralel` is not known here; did you mean `T.Parallel`? [unknown-operation]
   10 |         for i, j in T.Paralel(32, 32):
      |                     ^~~~~~~~~
names_lang.py:13:23: error: `nope` is not defined; a size or option of the kernel is given as a definition, nope=VALUE [unknown-name]
   13 |             F[i, j] = nope
      |                       ^~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ cat > shapes_lang.py <<'END'
> import tilelang.language as T
>
> @T.prim_func
> def k(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16")):
>     with T.Kernel(2, 2) as (bx, by):
>         S = T.alloc_shared((32, 32), "float16")
>         F = T.alloc_fragment((16, 32), "float32")
>         T.copy(A[0, 0], S)
>         T.copy(S, F)
>         T.gemm(S, S, F)
>         for i, j in T.Parallel(32, 32):
>             B[i, j] = A[i, j, 0]
> END
$ tilewright run shapes_lang.py --arg A=zeros:f16[64,64] --arg B=zeros:f16[64,64]
shapes_lang.py:9:9: error: `T.copy`: the shapes tile f16[32,32] and tile f32[16,32] do not fit; both boxes must have the same extents, 1s apart [shape-mismatch]
    9 |         T.copy(S, F)
      |         ^~~~~~~~~~~~
shapes_lang.py:10:9: error: `T.gemm`: the shapes f16[32,32] and f16[32,32] and tile f32[16,32] do not fit; [M, K] times [K, N] gives [M, N] (after transpose_A, transpose_B) [shape-mismatch]
   10 |         T.gemm(S, S, F)
      |         ^~~~~~~~~~~~~~~
shapes_lang.py:12:23: error: tensor f16[64,64] has 2 dimensions, 3 indices are given [index]
   12 |             B[i, j] = A[i, j, 0]
      |                       ^~~~~~~~~~
[1]
$ cat > syntax.tile.c <<'END'
> #include "tile.h"
> typedef struct { gl(float, -1, -1, -1, -1) x, o; } globals;
> tile_kernel(WARP_THREADS, 1) tile_grid(1)
> void k(globals g) {
>     st_fl(16, 32) *s = shared_alloc(st_fl(16, 32);
>     rt_fl(16, 32) r
>     load(s, g.x, at(0, 0));
>     int q = 3 +;
>     rt_flo(16, 32) w;
> }
> END
$ tilewright run syntax.tile.c
syntax.tile.c:5:50: error: expected `)` behind the arguments, found `;` [syntax]
    5 |     st_fl(16, 32) *s = shared_alloc(st_fl(16, 32);
      |                                                  ^
syntax.tile.c:6:20: error: expected `;` behind the declaration, found `load` [syntax]
    6 |     rt_fl(16, 32) r
      |                    ^
syntax.tile.c:8:16: error: expected an expression here, found `;` [syntax]
    8 |     int q = 3 +;
      |                ^
syntax.tile.c:9:5: error: `rt_flo` is no type here; the nearest is `rt_fl`; declare it with typedef, or write `struct rt_flo` [unknown-type]
    9 |     rt_flo(16, 32) w;
      |     ^~~~~~
[1]
$ cat > names.tile.c <<'END'
> #include "tile.h"
> #include "nowhere.h"
> typedef struct { gl(float, -1, -1, -1, -1) x, o; } globals;
> tile_kernel(WARP_THREADS, 1) tile_grid(1)
> void k(globals g) {
>     st_fl(16, 32) *s = shared_aloc(st_fl(16, 32));
>     rt_fl(16, 32) r;
>     laod(&r, g.x, at(0, 0));
>     load(&r, g.y, at(0, 0));
>     load(&r, g.x, at(0, 0, 0, 0, 0));
> }
> END
$ tilewright run names.tile.c
names.tile.c:2:10: error: cannot find `nowhere.h`; headers are searched beside the including file, then in the folders for headers, and must lie in them [no-header]
    2 | #include "nowhere.h"
      |          ^~~~~~~~~~~
[1]
$ sed -i /nowhere/d names.tile.c; tilewright run names.tile.c
names.tile.c:5:24: error: `shared_aloc` is no operation of Tile C and no function of this file; did you mean `shared_alloc`? [unknown-op]
    5 |     st_fl(16, 32) *s = shared_aloc(st_fl(16, 32));
      |                        ^~~~~~~~~~~
names.tile.c:7:5: error: `laod` is no operation of Tile C and no function of this file; did you mean `load`? [unknown-op]
    7 |     laod(&r, g.x, at(0, 0));
      |     ^~~~
names.tile.c:8:14: error: struct has no member `y` [no-member]
    8 |     load(&r, g.y, at(0, 0));
      |              ^~~
names.tile.c:9:19: error: at(..) takes 1 to 4 coordinates (batch, depth, row, column; the last ones count), here are 5 [coordinates]
    9 |     load(&r, g.x, at(0, 0, 0, 0, 0));
      |                   ^~~~~~~~~~~~~~~~~
[1]
$ cat > shapes.tile.c <<'END'
> #include "tile.h"
> typedef struct { gl(float, -1, -1, -1, -1) x, o; } globals;
> tile_kernel(WARP_THREADS, 1) tile_grid(1)
> void k(globals g) {
>     rt_fl(16, 32) r;
>     rt_fl(16, 48) w;
>     rt_fl(17, 3) odd;
>     load(&r, g.x, at(0, 0));
>     load(&w, g.x, at(0, 0));
>     add(&r, &w, &r);
>     int q = r;
> }
> END
$ tilewright run shapes.tile.c
shapes.tile.c:7:11: error: rows of `rt_fl` are 17, which is no multiple of 16; tiles are made of 16x16 squares (16x32 of one-byte elements); write 32 [tile-size]
    7 |     rt_fl(17, 3) odd;
      |           ^~
shapes.tile.c:10:5: error: `add` needs tiles of one shape, here 16 x 32 and 16 x 48 [shapes]
   10 |     add(&r, &w, &r);
      |     ^~~~~~~~~~~~~~~
shapes.tile.c:11:13: error: register tile of f32[16, 32] is not a number; change tiles by operations such as add(&d, &a, &b) [not-a-number]
   11 |     int q = r;
      |             ^
[1]
#! Texts that are no sources; depth and length.
$ : > empty.py; : > empty.tile.c; : > empty.ir; for f in empty.py empty.tile.c empty.ir; do tilewright run $f; done
empty.py:1:1: error: empty.py has no function decorated with @triton.jit; add the decorator to the kernel [no-kernel]
    1 | 
      | ^
empty.tile.c:1:1: error: `empty.tile.c` has no kernel; mark a function with tile_kernel(WARP_THREADS, 1) or describe a template with lcf_kernel(..) [no-kernel]
    1 | 
      | ^
error: empty.ir holds no kernel
[1]
$ head -c 4000 /dev/zero > zero.py; head -c 4000 /dev/zero > zero.tile.c; head -c 4000 /dev/zero > zero.ir; for f in zero.py zero.tile.c zero.ir; do tilewright run $f 2>&1 | head -n 1; done
zero.py:1:1: error: the text holds a NUL byte, which Python source has none of; delete it, or save the file as UTF-8 text [nul-byte]
zero.tile.c:1:1: error: byte 0x00 has no meaning in C outside strings and comments; remove it [stray-character]
error: zero.ir holds no kernel
$ printf '\xff\xfe\x00garbage\x80\xc3(\n' > g.py; cp g.py g.tile.c; cp g.py g.ir; for f in g.py g.tile.c g.ir; do tilewright run $f 2>&1 | head -n 3; done
g.py:1:1: error: the file is UTF-16 or UTF-32; only UTF-8 is read; save it as UTF-8 [encoding]
    1 | ???garbage??(
      | ^
g.tile.c:1:1: error: byte 0xff has no meaning in C outside strings and comments; remove it [stray-character]
    1 | ???garbage??(
      | ^
g.ir:1:1: error: `kernel @name(...)` is expected here [ir-syntax]
    1 | ???garbage??(
      | ^
$ p=$(printf '(%.0s' {1..10000}); printf 'import triton\n@triton.jit\ndef k(x):\n    y = %s1\n' "$p" > deep.py; printf 'import tilelang.language as T\n@T.prim_func\ndef k(A: T.Tensor((1,), "float32")):\n    y = %s1\n' "$p" > deep_lang.py; printf '#include "tile.h"\nvoid k(void) { int y = %s1; }\n' "$p" > deep.tile.c; printf 'kernel @k() {\n%s\n' "${p//\(/if true { }" > deep.ir; for f in deep.py deep_lang.py deep.tile.c deep.ir; do tilewright run $f; done
deep.py:4:209: error: expressions are nested more than 200 deep; give parts of it a name [too-deep]
    4 | ...((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((...
      |                                                                ^
deep_lang.py:4:209: error: expressions are nested more than 200 deep; give parts of it a name [too-deep]
    4 | ...((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((...
      |                                                                ^
deep.tile.c:2:223: error: nested deeper than 200 levels; split it with a variable or a function [too-deep]
    2 | ...((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((...
      |                                                                ^
deep.ir:2:641: error: regions are nested deeper than 64 [ir-syntax]
    2 | ...if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { if true { ...
      |                                                                ^~
[1]
$ { cat "$ROOT/kernels/triton/add.py"; yes '# and so on' | head -c 50000000; } > big.py; tilewright run big.py; { cat "$ROOT/kernels/tilec/micro_add.tile.c"; yes '// and so on' | head -c 50000000; } > big.tile.c; tilewright check big.tile.c; rm big.*
error: kernel `add_kernel` lacks arguments: x_ptr (an array), y_ptr (an array), output_ptr (an array), n_elements (a number), BLOCK_SIZE (a constant); for example:
  tilewright run big.py --arg 'x_ptr=randn:f32[65536]' --arg 'y_ptr=randn:f32[65536]' --arg 'output_ptr=randn:f32[65536]' --arg n_elements=128 --arg BLOCK_SIZE=128 --grid 1
micro_tk compiles for cpu
$ { printf 'import triton\n@triton.jit\ndef k(x):\n    y = '; head -c 50000000 /dev/zero | tr '\0' x; printf ' = = 1\n'; } > wide.py; tilewright run wide.py 2>&1 | cut -c 1-72; rm wide.py
wide.py:4:50000012: error: an expression is expected here, but `=` stand
    4 | ...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx = =
      |                                                                ^
#! ThunderKittens' C++ spelling is answered with ours
$ cat > cxx.tile.c <<'EOF'
> #include "tile.h"
> typedef struct { gl(float, 1, 1, -1, -1) x; } G;
> typedef rt_fl(16, 16) tile;
> tile_kernel(32, 1) void f(G g) {
>     rt_fl<16, 32> a;
>     rt_fl<16, 32>::col_vec v;
>     tile::row_vec w;
>     kittens::warp::zero(t);
>     warpgroup::add(t, t, t);
>     load(&t, g.x, {0, g.x.rows / 2});
>     group<8>::sync(1);
>     everyone::sync(0);
>     mma_async_wait<1>();
>     shared_allocator al((int *)&x[0]);
>     tile &r = t;
>     int z = q < 4 ? 1 : q > (2);
> }
> EOF
$ tilewright check cxx.tile.c 2>&1 | grep error
cxx.tile.c:5:5: error: Tile C does not have C++ template arguments `<..>`; write `rt_fl(16, 32)` [unsupported]
cxx.tile.c:6:5: error: Tile C does not have C++ names `a::b`; write `col_vec(rt_fl(16, 32))` [unsupported]
cxx.tile.c:7:5: error: Tile C does not have C++ names `a::b`; write `row_vec(tile)` [unsupported]
cxx.tile.c:8:5: error: Tile C does not have C++ names `a::b`; write `warp_zero` [unsupported]
cxx.tile.c:9:5: error: Tile C does not have C++ names `a::b`; write `warpgroup_add` [unsupported]
cxx.tile.c:10:19: error: Tile C does not have `{..}` as an argument; write `at(0, g.x.rows/2)` [unsupported]
cxx.tile.c:11:5: error: Tile C does not have C++ names `a::b`; write `group8_sync` [unsupported]
cxx.tile.c:12:5: error: Tile C does not have C++ names `a::b`; write `block_sync` [unsupported]
cxx.tile.c:13:5: error: Tile C does not have C++ template arguments `<..>`; write `mma_async_wait(1)` [unsupported]
cxx.tile.c:14:5: error: Tile C does not have an allocator; write shared_alloc(type), or declare the tile [unsupported]
cxx.tile.c:15:10: error: Tile C does not have C++ references; write a pointer [unsupported]
#! One cause, one message, wherever what follows it stands: structs that are classes are read to their end.
$ cat > cxx.tile.c <<'EOF'
> #include "tile.h"
> struct globals { gl<float, 1, 1, -1, -1> x; }
> template<int N> struct layout {
>     using tile = st_bf<64, N>;
>     template<typename T> struct input { T a[2]; };
> };
> struct matmul_template {
>     static constexpr int NUM_CONSUMER_WARPS = 8;
>     using layout = matmul_layout<2, 4>;
>     __device__ static inline void common_setup(common_setup_args<layout> args) { args.num_iters = 1; }
>     struct producer {
>         __device__ static void setup(producer_setup_args<layout> args) { warpgroup::decrease_registers<40>(); }
>     };
> };
> struct vector { int x; vector() : x(0) {} vector operator+(const vector &o) const { return {x + o.x}; } };
> enum class mode { a, b };
> constexpr float scale = 0.5f;
> static constexpr int M = 4 * 2;
> static_assert(sizeof(int) == 4, "int");
> static int twice(int a = 3) { return a; }
> tile_kernel(WARP_THREADS, 1) void k(struct globals g) {
>     extern __shared__ alignment_dummy __shm[];
>     st_fl<16, 32> (&s) = al.allocate<st_fl<16, 32>>();
>     rt_fl(16, 32)::col_vec v;
>     auto f = [&](int i) { return i + 1; };
>     apply(&t, &t, [](int i, int j, float x) { return x; });
>     int i = static_cast<int>(3.5f), j = 0;
>     float *p = nullptr;
>     int *q = new int[4];
>     delete[] q;
> }
> EOF
$ tilewright check cxx.tile.c 2>&1 | grep error
cxx.tile.c:2:18: error: Tile C does not have C++ template arguments `<..>`; write `gl(float, 1, 1, -1, -1)` [unsupported]
cxx.tile.c:2:46: error: expected `;` behind the struct, found `template` [syntax]
cxx.tile.c:3:1: error: Tile C does not have a C++ template; write an enum constant, or a definition from outside [unsupported]
cxx.tile.c:8:5: error: Tile C does not have templates as structs; write the callbacks as functions, and name them in lcf_kernel(name, .globals = .., ..) [unsupported]
cxx.tile.c:15:24: error: Tile C does not have structs with functions, constants or types in them; write those outside of it [unsupported]
cxx.tile.c:16:6: error: Tile C does not have `enum class`; write `enum`; its constants need no prefix [unsupported]
cxx.tile.c:17:1: error: Tile C does not have C++'s `constexpr`; write `#define scale 0.5f` [unsupported]
cxx.tile.c:18:8: error: Tile C does not have C++'s `constexpr`; write `enum { M = 4 * 2 };` [unsupported]
cxx.tile.c:20:24: error: Tile C does not have default arguments; leave it out, and give all arguments in calls [unsupported]
cxx.tile.c:22:5: error: Tile C does not have `extern __shared__`; leave it out: shared tiles are declared where they are used [unsupported]
cxx.tile.c:23:5: error: Tile C does not have C++ references; write `st_fl(16, 32) s;` [unsupported]
cxx.tile.c:24:18: error: Tile C does not have C++ names `a::b`; write `col_vec(rt_fl(16, 32))` [unsupported]
cxx.tile.c:25:5: error: Tile C does not have C++ lambdas; write a function [unsupported]
cxx.tile.c:26:19: error: Tile C does not have C++ lambdas; write a function [unsupported]
cxx.tile.c:27:13: error: Tile C does not have C++ casts; write `(int)(..)` [unsupported]
cxx.tile.c:28:16: error: Tile C does not have C++'s `nullptr`; write 0 [unsupported]
cxx.tile.c:29:14: error: Tile C does not have C++'s `new`; declare an array [unsupported]
cxx.tile.c:30:5: error: Tile C does not have C++'s `delete`; leave it out: arrays end with their block [unsupported]
$ cat > more.tile.c <<'EOF'
> #include "tile.h"
> enum class mode { a, b };
> typedef st_bf(64, 64) tile;
> tile_kernel(WARP_THREADS, 1) void k(int n) {
>     for (int x : a) mul(&t, &t, x);
>     if constexpr (1 > 0) add(&t, &t, &t);
>     if (int n = 3; n > 2) mul(&t, &t, n);
>     if (mode::a == b) zero(&t);
>     try { add(&t, &t, &t); } catch (...) { }
>     load(&t, s.subtile<16, 32>({1, 0}));
>     tma::load_async<dim::ROW, cache_policy::NORMAL>(t, g.x, {0, 0}, 1);
>     std::cout << "hi";
>     decltype(t) u;
>     int r = tile::rows;
> }
> EOF
$ tilewright check more.tile.c 2>&1 | grep error
more.tile.c:2:6: error: Tile C does not have `enum class`; write `enum`; its constants need no prefix [unsupported]
more.tile.c:5:10: error: Tile C does not have `for` over the elements of something; write for (int i = 0; i < n; i++) and take element i [unsupported]
more.tile.c:6:8: error: Tile C does not have `if constexpr`; write `if`: one whose condition is a constant takes that side alone [unsupported]
more.tile.c:7:9: error: Tile C does not have declarations in a condition; declare it before the statement [unsupported]
more.tile.c:8:9: error: Tile C does not have C++ names `a::b`; write `a` [unsupported]
more.tile.c:9:5: error: Tile C does not have C++ exceptions; leave them out: nothing throws [unsupported]
more.tile.c:10:23: error: Tile C does not have C++ template arguments `<..>`; write `subtile(st_bf(16, 32), &s, row, column)` [unsupported]
more.tile.c:11:5: error: Tile C does not have C++ names `a::b`; write `tma_load_async` [unsupported]
more.tile.c:12:5: error: Tile C does not have C++ names `a::b`; write `printf("..", ..)` [unsupported]
more.tile.c:13:5: error: Tile C does not have C++'s `decltype`; write the type [unsupported]
more.tile.c:14:13: error: Tile C does not have C++ names `a::b`; write the number [unsupported]
$ cat > tiles.tile.c <<'EOF'
> #include "tile.h"
> struct globals { gl(float, 1, 1, -1, -1) x; };
> tile_kernel(WARP_THREADS, 1) void k(struct globals g) {
>     rt_fl(16, 32) t;
>     t = 0.f;
>     t = t + t;
>     t *= 2.f;
>     int n = g.x.rows();
> }
> EOF
$ tilewright check tiles.tile.c 2>&1 | grep error
tiles.tile.c:5:5: error: register tile of f32[16, 32] cannot be assigned; tiles are written by operations; write `zero(&t)` [not-assignable]
tiles.tile.c:6:5: error: register tile of f32[16, 32] cannot be assigned; tiles are written by operations; write `add(&t, .., ..)` [not-assignable]
tiles.tile.c:7:5: error: register tile of f32[16, 32] cannot be assigned; tiles are written by operations; write `mul(&t, &t, ..)` [not-assignable]
tiles.tile.c:8:13: error: Tile C cannot take functions of a value yet; write `.rows` without parentheses [unsupported]
