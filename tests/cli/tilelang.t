# Names of a file, and what a kernel of TileLang says of sizes.
$ cat > tuple.py <<'END'
> import triton
> import triton.language as tl
>
> BLOCK, (SHIFT, KIND) = 64, (3, "x")
> N = M = 5
>
>
> @triton.jit
> def k(x, y):
>     i = tl.arange(0, BLOCK)
>     tl.store(y + i, tl.load(x + i) + SHIFT + N * M)
> END
$ tilewright check tuple.py --arg x=arange:f32[64] --arg y=zeros:f32[64] --grid 1
x: f32[64], max error 0: ok
y: f32[64], max error 0: ok
$ cat > blocks.py <<'END'
> import tilelang
> import tilelang.language as T
>
> M, N = 100, 130
>
>
> @tilelang.jit
> def f(N, blk=32):
>     assert N % blk == 0, "N must be a multiple of blk"
>
>     @T.prim_func
>     def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
>         with T.Kernel(N // blk) as bx:
>             s = T.alloc_shared((blk,), "float32")
>             T.copy(A[bx * blk], s)
>             for i in T.Parallel(blk):
>                 B[bx * blk + i] = s[blk - 1 - i]
>     return main
> END
$ tilewright check blocks.py --arg N=40 --arg A=randn:f32[40] --arg B=zeros:f32[40]
blocks.py:9:5: error: this assert does not hold for the sizes given: N must be a multiple of blk; give others as arguments or definitions [assert]
    9 |     assert N % blk == 0, "N must be a multiple of blk"
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright check blocks.py --arg N=40 --arg blk=20 --arg A=randn:f32[40] --arg B=zeros:f32[40]
A: f32[40], max error 0: ok
B: f32[40], max error 0: ok
$ tilewright check blocks.py --target cuda --emulate --arg N=64 --arg A=randn:f32[64] --arg B=zeros:f32[64]
A: f32[64], max error 0: ok
B: f32[64], max error 0: ok
$ sed -i 's/blk - 1 - i/blk - i/' blocks.py
$ tilewright check blocks.py --arg N=64 --arg A=randn:f32[64] --arg B=zeros:f32[64]
blocks.py:17:37: error: index 1 takes 1 .. 32 here, and of tile f32[32] it may be 0 .. 31; shorten the loop or box, enlarge the tile, or guard a read with T.if_then_else(condition, element, other) [index-outside]
   17 |                 B[bx * blk + i] = s[blk - i]
      |                                     ^~~~~~~
[1]
$ sed -i 's/s\[blk - i\]/T.if_then_else(i > 0, s[blk - i], 0.0)/' blocks.py
$ tilewright check blocks.py --arg N=64 --arg A=randn:f32[64] --arg B=zeros:f32[64]
A: f32[64], max error 0: ok
B: f32[64], max error 0: ok
$ tilewright check blocks.py --arg N=9223372036854775776 --arg A=randn:f32[64] --arg B=zeros:f32[64]
blocks.py:12:26: error: a tensor of so many elements does not fit the address space; give smaller sizes [types]
   12 |     def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
      |                          ^~~~
blocks.py:12:56: error: a tensor of so many elements does not fit the address space; give smaller sizes [types]
   12 |     def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
      |                                                        ^~~~
blocks.py:13:14: error: an extent of 288230376151711743 does not fit 32 bits; give smaller sizes [arguments]
   13 |         with T.Kernel(N // blk) as bx:
      |              ^~~~~~~~~~~~~~~~~~
[1]
