# --sanitize: each wrong access at the kernel's own line.
$ cat > wrong.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def outside(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     x = tl.load(x_ptr + offs)
>     tl.store(out_ptr + offs, x, mask=offs < n)
>
> @triton.jit
> def before(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     x = tl.load(x_ptr + offs, mask=offs < n)
>     tl.store(out_ptr + offs - 1, x, mask=offs < n)
>
> @triton.jit
> def race(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.arange(0, BLOCK)
>     x = tl.load(x_ptr + offs, mask=offs < n)
>     tl.store(out_ptr + offs, x + tl.program_id(0), mask=offs < n)
>
> @triton.jit
> def wraps(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.arange(0, BLOCK) + n * 100000000
>     x = tl.load(x_ptr + offs - n * 100000000)
>     tl.store(out_ptr + tl.arange(0, BLOCK), x)
>
> @triton.jit
> def divides(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.arange(0, BLOCK)
>     tl.store(out_ptr + offs, n // (offs - 3))
>
> @triton.jit
> def right(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     x = tl.load(x_ptr + offs, mask=offs < n)
>     tl.store(out_ptr + offs, x, mask=offs < n)
> END
$ echo --arg x_ptr=randn:f32[100] --arg out_ptr=zeros:f32[100] --arg n=100 --arg BLOCK=64 --grid 2 > args
$ tilewright run wrong.py:right $(cat args) --target interp --sanitize
out_ptr: f32[100], 100 of 100 elements changed
$ tilewright run wrong.py:outside $(cat args) --target interp --sanitize
wrong.py:7:9: error: this access is out of bounds: index 100 of `x_ptr`, which has 100 elements (program (1, 0, 0), element [36]); mask it, or pass a larger buffer (and 27 more here) [out-of-bounds]
    7 |     x = tl.load(x_ptr + offs)
      |         ^~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run wrong.py:before $(cat args) --target interp --sanitize
wrong.py:14:5: error: this access is out of bounds: index -1 of `out_ptr`, which has 100 elements (program (0, 0, 0), element [0]); mask it, or pass a larger buffer [out-of-bounds]
   14 |     tl.store(out_ptr + offs - 1, x, mask=offs < n)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run wrong.py:race $(cat args) --target interp --sanitize
wrong.py:20:5: error: program (1, 0, 0) writes what program (0, 0, 0) wrote (index 0 of `out_ptr`, element [0]); give each program its own places, or use an atomic (and 63 more here) [write-race]
   20 |     tl.store(out_ptr + offs, x + tl.program_id(0), mask=offs < n)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run wrong.py:wraps $(cat args) --target interp --sanitize
wrong.py:25:9: error: the offset of this access comes from arithmetic that overflowed (program (0, 0, 0), element [0]); widen the numbers to 64 bits before they are multiplied or added (and 127 more here) [offset-overflow]
   25 |     x = tl.load(x_ptr + offs - n * 100000000)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
wrong.py:26:5: error: program (1, 0, 0) writes what program (0, 0, 0) wrote (index 0 of `out_ptr`, element [0]); give each program its own places, or use an atomic (and 63 more here) [write-race]
   26 |     tl.store(out_ptr + tl.arange(0, BLOCK), x)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run wrong.py:divides $(cat args) --target interp --sanitize
wrong.py:31:30: error: integer division by zero (program (0, 0, 0), element [3]); the result is taken as 0, a remainder as the dividend (and 1 more here) [division-by-zero]
   31 |     tl.store(out_ptr + offs, n // (offs - 3))
      |                              ^~~~~~~~~~~~~~~
wrong.py:31:5: error: program (1, 0, 0) writes what program (0, 0, 0) wrote (index 0 of `out_ptr`, element [0]); give each program its own places, or use an atomic (and 63 more here) [write-race]
   31 |     tl.store(out_ptr + offs, n // (offs - 3))
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run wrong.py:right $(cat args) --sanitize
out_ptr: f32[100], 100 of 100 elements changed
#! After a report nothing is saved.
$ tilewright run wrong.py:right $(cat args) --target interp --sanitize --save out_ptr=right.npy && ls *.npy
right.npy
$ tilewright run wrong.py:race $(cat args) --target interp --sanitize --save out_ptr=race.npy
wrong.py:20:5: error: program (1, 0, 0) writes what program (0, 0, 0) wrote (index 0 of `out_ptr`, element [0]); give each program its own places, or use an atomic (and 63 more here) [write-race]
   20 |     tl.store(out_ptr + offs, x + tl.program_id(0), mask=offs < n)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ cat > unwritten.py <<'END'
> import tilelang.language as T
>
> @T.prim_func
> def unwritten(A: T.Tensor((16, 16), "float32")):
>     with T.Kernel(1) as bx:
>         S = T.alloc_shared((16, 16), "float32")
>         T.copy(S, A)
> END
$ tilewright run unwritten.py --arg A=zeros:f32[16,16] --target interp --sanitize
unwritten.py:7:9: error: this uses a value that nothing wrote (program (0, 0, 0), element [0, 0]); give it a value first (and 255 more here) [unwritten-read]
    7 |         T.copy(S, A)
      |         ^~~~~~~~~~~~
[1]
$ tilewright run unwritten.py --arg A=zeros:f32[16,16]
unwritten.py:7:9: error: this buffer is read before anything is written to it; fill or copy into it first [read-before-write]
    7 |         T.copy(S, A)
      |         ^~~~~~~~~~~~
[1]
$ cat > unwritten.tile.c <<'END'
> #include "tile.h"
> typedef struct { gl(float, -1, -1, -1, -1) x; } globals;
> tile_kernel(WARP_THREADS, 1) tile_grid(1)
> void unwritten(globals g) {
>     st_fl(16, 32) *s = shared_alloc(st_fl(16, 32));
>     rt_fl(16, 32) r;
>     load(&r, s);
>     store(g.x, &r, at(0, 0));
> }
> END
$ tilewright run unwritten.tile.c --arg g.x=zeros:f32[16,32] --target interp --sanitize
unwritten.tile.c:7:5: error: `s` is read before anything was written to it; give it a value first [unwritten]
    7 |     load(&r, s);
      |     ^~~~~~~~~~~
[1]
$ ls
args
right.npy
unwritten.py
unwritten.tile.c
wrong.py
