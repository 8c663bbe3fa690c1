# TensorCoreIntrinEmitter: the product of a block written instruction by instruction is the same as T.gemm's.
$ cat > emitted.py <<'END'
> import tilelang
> import tilelang.language as T
> from tilelang.cuda.intrinsics.macro.mma_macro_generator import TensorCoreIntrinEmitter
>
>
> @tilelang.jit
> def emitted(M, N, K, dtype="float16", total="float32", ta=False, tb=True, wm=16, wn=16, chunk=32, flat=False):
>     e = TensorCoreIntrinEmitter(a_dtype=dtype, b_dtype=dtype, accum_dtype=total, a_transposed=ta, b_transposed=tb, block_row_warps=2,
>                                 block_col_warps=2, warp_row_tiles=wm, warp_col_tiles=wn, chunk=chunk)
>     bm, bn, mx, my = 2 * wm, 2 * wn, e.micro_size_x, e.micro_size_y
>
>     @T.prim_func
>     def main(A: T.Tensor((K, M) if ta else (M, K), dtype), B: T.Tensor((N, K) if tb else (K, N), dtype), C: T.Tensor((M, N), total)):
>         with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
>             a_shared = T.alloc_shared((chunk, bm) if ta else (bm, chunk), dtype)
>             b_shared = T.alloc_shared((bn, chunk) if tb else (chunk, bn), dtype)
>             c_shared = T.alloc_shared((bm // mx, bn // my, mx, my), total)
>             a = T.alloc_local((e.warp_rows * e.local_size_a,), dtype)
>             b = T.alloc_local((e.warp_cols * e.local_size_b,), dtype)
>             c = T.alloc_local((e.warp_rows * e.warp_cols * e.local_size_out,), total)
>             T.clear(c)
>             for ko in T.Pipelined(T.ceildiv(K, chunk), num_stages=2):
>                 T.copy(A[ko * chunk, by * bm] if ta else A[by * bm, ko * chunk], a_shared)
>                 T.copy(B[bx * bn, ko * chunk] if tb else B[ko * chunk, bx * bn], b_shared)
>                 for ki in T.serial(0, chunk // e.micro_size_k):
>                     e.ldmatrix_a(a, a_shared, ki)
>                     e.ldmatrix_b(b, b_shared, ki=ki)
>                     e.mma(a, b, c)
>             if flat:
>                 e.stmatrix(c, C, pid_m=by, pid_n=bx)
>             else:
>                 e.stmatrix(c, c_shared)
>                 for i, j in T.Parallel(bm, bn):
>                     C[by * bm + i, bx * bn + j] = c_shared[i // mx, j // my, i % mx, j % my]
>
>     return main
>
>
> @tilelang.jit
> def plain(M, N, K, dtype="float16", total="float32"):
>
>     @T.prim_func
>     def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), total)):
>         with T.Kernel(1):
>             a = T.alloc_shared((M, K), dtype)
>             b = T.alloc_shared((N, K), dtype)
>             c = T.alloc_fragment((M, N), total)
>             T.copy(A, a)
>             T.copy(B, b)
>             T.clear(c)
>             T.gemm(a, b, c, transpose_B=True)
>             T.copy(c, C)
>
>     return main
> END
#! Integers, so that the order of the sums is none of the result.
$ sizes="-D M=50 -D N=41 -D K=70"; arrays="--arg A=arange:i8[50,70] --arg B=arange:i8[41,70] --arg C=zeros:i32[50,41]"; tilewright run emitted.py:plain $sizes -D dtype=int8 -D total=int32 $arrays --target interp --save C=want.npy > said; for t in interp cpu "cuda --emulate" "cuda:sm_80 --emulate"; do for flat in false true; do tilewright run emitted.py:emitted $sizes -D dtype=int8 -D total=int32 -D flat=$flat $arrays --target $t --save C=got.npy > said && cmp got.npy want.npy && echo same; done; done
same
same
same
same
same
same
same
same
#! Halves, each operand either way round, tiles of 8 columns.
$ for form in "-D ta=false -D tb=true --arg A=randn:f16[50,70] --arg B=randn:f16[41,70]" "-D ta=true -D tb=false --arg A=randn:f16[70,50] --arg B=randn:f16[70,41]" "-D wm=32 -D wn=8 -D tb=false --arg A=randn:f16[50,70] --arg B=randn:f16[70,41]"; do for t in cpu "cuda --emulate"; do tilewright check emitted.py:emitted -D M=50 -D N=41 -D K=70 $form --arg C=zeros:f32[50,41] --target $t | grep '^C'; done; done
C: f32[50, 41], max error ...: ok
C: f32[50, 41], max error ...: ok
C: f32[50, 41], max error ...: ok
C: f32[50, 41], max error ...: ok
C: f32[50, 41], max error ...: ok
C: f32[50, 41], max error ...: ok
#! What it is not.
$ cat > mistakes.py <<'END'
> import tilelang
> import tilelang.language as T
> from tilelang.cuda.intrinsics.macro.mma_macro_generator import TensorCoreIntrinEmitter, MatrixCoreIntrinEmitter
>
>
> @tilelang.jit
> def mistaken(what):
>     if what == 4:
>         MatrixCoreIntrinEmitter(chunk=16)
>     e = TensorCoreIntrinEmitter(block_row_warps=1, block_col_warps=1, warp_row_tiles=16, warp_col_tiles=16, chunk=16, reduce_k=2 if what == 0 else 1)
>
>     @T.prim_func
>     def main(A: T.Tensor((16, 16), "float16"), C: T.Tensor((16, 16), "float16")):
>         with T.Kernel(1, threads=32):
>             s = T.alloc_shared((16, 16), "float16")
>             a = T.alloc_local((8,), "float16")
>             c = T.alloc_local((8,), "float16")
>             T.copy(A, s)
>             if what == 1:
>                 e.ldmatrix_x4(a, s, 0)
>             e.ldmatrix_a(a, s, 1 if what == 2 else 0)
>             if what == 3:
>                 C[0, 0] = a[3]
>             e.mma(a, a, c)
>             e.stmatrix(c, C)
>
>     return main
> END
$ for what in 0 1 2 3 4; do tilewright emit mistakes.py --target cpu -D what=$what --arg A=zeros:f16[16,16] --arg C=zeros:f16[16,16]; done
mistakes.py:21:13: error: `e` has no value here: an emitter with reduce_k, num_elems_per_byte or a transform of its operands is planned and not there yet; write T.gemm: the instruction is chosen here [unbound]
   21 |             e.ldmatrix_a(a, s, 1 if what == 2 else 0)
      |             ^
mistakes.py:24:13: error: `e` has no value here: an emitter with reduce_k, num_elems_per_byte or a transform of its operands is planned and not there yet; write T.gemm: the instruction is chosen here [unbound]
   24 |             e.mma(a, a, c)
      |             ^
mistakes.py:25:13: error: `e` has no value here: an emitter with reduce_k, num_elems_per_byte or a transform of its operands is planned and not there yet; write T.gemm: the instruction is chosen here [unbound]
   25 |             e.stmatrix(c, C)
      |             ^
mistakes.py:20:17: error: `ldmatrix_x4` of an emitter of instructions is not supported in a TileLang kernel; there are ldmatrix_a, ldmatrix_b, mma and stmatrix, and its sizes; T.gemm needs none of them [unsupported]
   20 |                 e.ldmatrix_x4(a, s, 0)
      |                 ^~~~~~~~~~~~~~~~~~~~~~
mistakes.py:21:13: error: the emitter takes [16, 16] of it, which tile f16[16,16] does not have [types]
   21 |             e.ldmatrix_a(a, s, 1 if what == 2 else 0)
      |             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mistakes.py:23:27: error: an emitter fills these registers, and which element of the block's tile each one is has no meaning here; write T.gemm into a fragment, whose elements T.Parallel reaches [index]
   23 |                 C[0, 0] = a[3]
      |                           ^~~~
mistakes.py:24:13: error: this buffer is read before anything is written to it; fill or copy into it first [read-before-write]
   24 |             e.mma(a, a, c)
      |             ^~~~~~~~~~~~~~
[1]
