# Functions with several T.Kernel: launches one after the other, with memory that they share (T.alloc_global). Numbers
# worked out by hand: rows of 0..11 sum to 6, 22, 38, their prefix sums 6, 28, 66.
$ cat > launches.py <<'EOF'
> import tilelang
> import tilelang.language as T
>
>
> @T.macro
> def sums(A, W, rows, n):
>     with T.Kernel(rows, threads=32) as bx:
>         s = T.alloc_fragment((1, n), "float32")
>         r = T.alloc_fragment((1,), "float32")
>         T.copy(A[bx, 0], s)
>         T.reduce_sum(s, r, dim=1)
>         W[bx] = r[0]
>
>
> @tilelang.jit
> def prefix(rows=3, n=4, keep=False):
>     @T.macro
>     def join(W, B):
>         with T.Kernel(1, threads=32) as bx:
>             s = T.alloc_fragment((rows,), "float32")
>             T.copy(W, s)
>             T.cumsum(s)
>             T.copy(s, B)
>
>     @T.prim_func
>     def main(A: T.Tensor((rows, n), "float32"), B: T.Tensor((rows,), "float32")):
>         W = T.alloc_global((rows,), "float32")
>         sums(A, W, rows, n)
>         join(W, B)
>
>     @T.prim_func
>     def other(A: T.Tensor((rows, n), "float32"), B: T.Tensor((rows,), "float32")):
>         sums(A, B, rows, n)
>
>     return other if keep else main
>
>
> @tilelang.jit
> def eager(A, block: int = 2):
>     M, N = T.const("M, N")
>     A: T.Tensor((M, N), T.float32)
>     B = T.empty((M, N), T.float32)
>     C = T.empty((M, N), T.float32)
>     with T.Kernel(M) as bx:
>         for j in T.Parallel(N):
>             B[bx, j] = A[bx, j] + 1
>     with T.Kernel(N, M) as (bx, by):
>         C[by, bx] = B[M - 1 - by, bx] * 2
>     return B, C
> EOF
$ tilewright list launches.py
prefix(rows: constant?, n: constant?, keep: constant?, A, B)
prefix.other(rows: constant?, n: constant?, keep: constant?, A, B)
eager(A, block: constant?, M: constant?, N: constant?, B, C)
$ tilewright run launches.py:prefix --target interp --arg 'A=arange:f32[3,4]' --arg 'B=zeros:f32[3]' --save B=o.npy > said && od -A n -t f4 -j 128 -w12 o.npy
               6              28              66
$ tilewright run launches.py:prefix --arg 'A=arange:f32[3,4]' --arg 'B=zeros:f32[3]' --save B=o.npy > said && od -A n -t f4 -j 128 -w12 o.npy
               6              28              66
$ tilewright check launches.py:prefix --target cuda --emulate --arg 'A=arange:f32[3,4]' --arg 'B=zeros:f32[3]'
A: f32[3, 4], max error 0: ok
B: f32[3], max error 0: ok
$ tilewright run launches.py:prefix --target interp --sanitize --arg 'A=arange:f32[3,4]' --arg 'B=zeros:f32[3]'
B: f32[3], 3 of 3 elements changed
$ tilewright run launches.py:prefix.other --arg keep=true --arg 'A=arange:f32[3,4]' --arg 'B=zeros:f32[3]' --save B=o.npy > said && od -A n -t f4 -j 128 -w12 o.npy
               6              22              38
$ tilewright run launches.py:eager --arg 'A=arange:f32[2,3]' --arg 'B=zeros:f32[2,3]' --arg 'C=zeros:f32[2,3]' --save C=o.npy
$ od -A n -t f4 -j 128 -w12 o.npy
               8              10              12
               2               4               6
$ tilewright emit launches.py:eager -D M=2 -D N=3 -o out | grep eager
out/eager.c
out/eager_2.c
$ tilewright ir launches.py:eager -D M=2 -D N=3 --stop-after fold | grep kernel
kernel @eager(%A, %B, %C: *f32) {
kernel @eager_2(%A, %B, %C: *f32) {
$ tilewright run launches.py:eager --arg 'A=arange:f32[2,3]' --arg 'B=zeros:f32[2,3]' --arg 'C=zeros:f32[2,3]' --grid 2
error: kernel `eager` is 2 launches, each with a grid of its own; leave the grid out
[1]
$ tilewright emit launches.py:eager --target tenstorrent -D M=32 -D N=32 -o out | grep -E '_2|host'
out/host.cpp
out/tilewright_host.h
out/reader_2.cpp
out/compute_2.cpp
out/writer_2.cpp
out/plan_2.json
$ tilewright check launches.py:eager --target tenstorrent --arg 'A=arange:f32[2,3]' --arg 'B=zeros:f32[2,3]' --arg 'C=zeros:f32[2,3]'
note: ran on the functional model of a wormhole grid, 6 of 64 cores; no card is used
A: f32[2, 3], max error 0: ok
B: f32[2, 3], max error 0: ok
C: f32[2, 3], max error 0: ok
$ cat > wrong.py <<'EOF'
> import tilelang.language as T
>
>
> @T.prim_func
> def inner(A: T.Tensor((4,), "float32")):
>     with T.Kernel(2) as bx:
>         with T.Kernel(2) as by:
>             A[by] = 1
>
>
> @T.prim_func
> def late(A: T.Tensor((4,), "float32")):
>     with T.Kernel(4) as bx:
>         W = T.alloc_global((4,), "float32")
>         A[bx] = W[bx]
>
>
> @T.prim_func
> def maybe(A: T.Tensor((4,), "float32"), n: T.int32):
>     if n > 2:
>         with T.Kernel(4) as bx:
>             A[bx] = 1
> EOF
$ tilewright emit wrong.py:inner
wrong.py:7:14: error: T.Kernel inside T.Kernel is not supported in a TileLang kernel; launches stand one behind the other in the function [unsupported]
    7 |         with T.Kernel(2) as by:
      |              ^~~~~~~~~~~
[1]
$ tilewright emit wrong.py:late
wrong.py:14:13: error: T.alloc_global here is not supported in a TileLang kernel; all blocks share it; put it in the function, before `with T.Kernel(...)` [unsupported]
   14 |         W = T.alloc_global((4,), "float32")
      |             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright emit wrong.py:maybe
wrong.py:21:14: error: T.Kernel under a run-time condition or loop is not supported in a TileLang kernel; launches stand one behind the other in the function [unsupported]
   21 |         with T.Kernel(4) as bx:
      |              ^~~~~~~~~~~
[1]
