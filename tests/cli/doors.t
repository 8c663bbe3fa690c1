# Every kernel of kernels/ through its own door, on the interpreter and on the CPU.
$ cp -r "$ROOT/kernels" .
$ echo kernels/triton/add.py --arg x_ptr=randn:f32[1000] --arg y_ptr=randn:f32[1000] --arg output_ptr=zeros:f32[1000] --arg n_elements=1000 --arg BLOCK_SIZE=256 > add
$ echo kernels/triton/fma.py --arg x_ptr=randn:f16[1000] --arg y_ptr=randn:f16[1000] --arg z_ptr=randn:f16[1000] --arg out_ptr=zeros:f16[1000] --arg n=1000 --arg BLOCK=256 > fma
$ echo kernels/triton/softmax.py --arg out_ptr=zeros:f32[5,77] --arg in_ptr=randn:f32[5,77] --arg in_stride=77 --arg out_stride=77 --arg n_cols=77 --arg BLOCK=128 > softmax
$ echo kernels/triton/matmul.py --arg a_ptr=randn:bf16[77,93] --arg b_ptr=randn:bf16[93,50] --arg c_ptr=zeros:bf16[77,50] --arg M=77 --arg N=50 --arg K=93 --arg stride_am=93 --arg stride_ak=1 --arg stride_bk=50 --arg stride_bn=1 --arg stride_cm=50 --arg stride_cn=1 --arg BM=64 --arg BN=64 --arg BK=32 > matmul
$ echo kernels/tilelang/gemm.py -D M=77 -D N=50 -D K=93 --arg A=randn:f16[77,93] --arg B=randn:f16[93,50] --arg C=zeros:f16[77,50] > gemm
$ echo kernels/tilec/matmul.tile.c --arg g.A=randn:bf16[77,93] --arg g.B=randn:bf16[93,50] --arg g.C=zeros:bf16[77,50] > lcf
$ tilewright check $(cat add) --grid 'cdiv(n_elements, BLOCK_SIZE)'
x_ptr: f32[1000], max error 0: ok
y_ptr: f32[1000], max error 0: ok
output_ptr: f32[1000], max error 0: ok
$ tilewright check $(cat fma) --grid 'triton.cdiv(n, BLOCK)'
x_ptr: f16[1000], max error 0: ok
y_ptr: f16[1000], max error 0: ok
z_ptr: f16[1000], max error 0: ok
out_ptr: f16[1000], max error 0: ok
$ tilewright check $(cat softmax) --grid 5
out_ptr: f32[5, 77], max error 3.73e-09 at [0, 44] (0.0569889881, interpreted 0.0569889918): ok
in_ptr: f32[5, 77], max error 0: ok
$ tilewright check $(cat matmul) --grid 'cdiv(M, BM) * cdiv(N, BN)'
a_ptr: bf16[77, 93], max error 0: ok
b_ptr: bf16[93, 50], max error 0: ok
c_ptr: bf16[77, 50], max error 0: ok
$ tilewright check $(cat gemm)
A: f16[77, 93], max error 0: ok
B: f16[93, 50], max error 0: ok
C: f16[77, 50], max error 0: ok
$ tilewright check kernels/tilelang/gemm_elements.py -D M=50 -D N=70 -D K=33 -D dtype=float32 --arg A=randn:f32[50,33] --arg B=randn:f32[33,70] --arg C=zeros:f32[50,70]
A: f32[50, 33], max error 0: ok
B: f32[33, 70], max error 0: ok
C: f32[50, 70], max error 3.81e-06 at [29, 16] (9.70343113, interpreted 9.70342731): ok
$ tilewright check kernels/tilelang/add.py -D M=50 -D N=70 -D dtype=bfloat16 --arg A=randn:bf16[50,70] --arg B=randn:bf16[50,70] --arg C=zeros:bf16[50,70]
A: bf16[50, 70], max error 0: ok
B: bf16[50, 70], max error 0: ok
C: bf16[50, 70], max error 0: ok
$ tilewright check kernels/tilelang/seed_gemm.py -D M=50 -D N=50 -D K=33 --arg A=randn:f16[50,33] --arg B=randn:f16[33,50] --arg C=zeros:f16[50,50]
A: f16[50, 33], max error 0: ok
B: f16[33, 50], max error 0: ok
C: f16[50, 50], max error 0.0312 at [4, 39] (-16.9375, interpreted -16.90625): ok
$ tilewright check kernels/tilelang/seed_add.py -D M=50 -D N=50 --arg A=randn:f16[50,50] --arg B=randn:f16[50,50] --arg C=zeros:f16[50,50]
A: f16[50, 50], max error 0: ok
B: f16[50, 50], max error 0: ok
C: f16[50, 50], max error 0: ok
$ tilewright check kernels/tilelang/seed_row_sum.py -D M=50 -D N=37 --arg A=randn:f16[50,37] --arg B=zeros:f16[50]
A: f16[50, 37], max error 0: ok
B: f16[50], max error 0: ok
$ tilewright check $(cat lcf)
g.A: bf16[77, 93], max error 0: ok
g.B: bf16[93, 50], max error 0: ok
g.C: bf16[77, 50], max error 0: ok
$ tilewright check kernels/tilec/micro_add.tile.c --arg g.x=randn:f32[9,20] --arg g.o=zeros:f32[9,20]
g.x: f32[9, 20], max error 0: ok
g.o: f32[9, 20], max error 0: ok
$ tilewright check kernels/tilec/micro_add_grid.tile.c --arg g.x=randn:f32[3,2,16,32] --arg g.o=zeros:f32[3,2,16,32]
g.x: f32[3, 2, 16, 32], max error 0: ok
g.o: f32[3, 2, 16, 32], max error 0: ok
#! The seeds' grids swap M and N: said, and not computed, where the extents differ.
$ tilewright run kernels/tilelang/seed_gemm.py -D M=64 -D N=128 -D K=32 --arg A=randn:f16[64,32] --arg B=randn:f16[32,128] --arg C=zeros:f16[64,128]
kernels/tilelang/seed_gemm.py:21:34: error: over the grid index 1 runs up to 96 here, and the tensor ends at 64: whole blocks lie outside; exchange the extents of T.Kernel, or the names behind `as`, which look swapped [block-outside]
   21 |                 A_tile[i, j] = A[by * 32 + i, k * 32 + j]
      |                                  ^~~~~~~~~~~
[1]
$ tilewright run kernels/tilelang/seed_add.py -D M=128 -D N=64 --arg A=randn:f16[128,64] --arg B=randn:f16[128,64] --arg C=zeros:f16[128,64]
kernels/tilelang/seed_add.py:10:32: error: over the grid index 2 runs up to 96 here, and the tensor ends at 64: whole blocks lie outside; exchange the extents of T.Kernel, or the names behind `as`, which look swapped [block-outside]
   10 |                 A[by * 32 + i, bx * 32 + j] + B[by * 32 + i, bx * 32 + j]
      |                                ^~~~~~~~~~~
[1]
#! No element, and one.
$ tilewright run kernels/tilelang/gemm.py -D M=0 -D N=50 -D K=93 --arg A=randn:f16[0,93] --arg B=randn:f16[93,50] --arg C=zeros:f16[0,50]
warning: no program runs: the grid is 1 x 0 x 1
no array changed
$ tilewright check kernels/tilelang/gemm.py -D M=7 -D N=5 -D K=0 --arg A=randn:f16[7,0] --arg B=randn:f16[0,5] --arg C=ones:f16[7,5] | tail -n 1
C: f16[7, 5], max error 0: ok
$ tilewright check kernels/tilec/matmul.tile.c --arg g.A=randn:bf16[1,1] --arg g.B=randn:bf16[1,1] --arg g.C=zeros:bf16[1,1] | tail -n 1
g.C: bf16[1, 1], max error 0: ok
#! groups of more rows than an order of tasks can say
$ tilewright check kernels/tilec/matmul.tile.c -D GROUP=2147483647 --verify-each --target cuda --emulate --arg g.A=randn:bf16[77,93] --arg g.B=randn:bf16[93,50] --arg g.C=zeros:bf16[77,50] | tail -n 1
g.C: bf16[77, 50], max error 0: ok
#! The same seed gives the same numbers on every target; another seed gives others.
$ tilewright run $(cat gemm) --seed 5 --save C=a.npy; tilewright run $(cat gemm) --seed 5 --target interp --save C=b.npy; cmp a.npy b.npy && echo equal
equal
$ tilewright run $(cat gemm) --seed 6 --save C=c.npy; cmp -s a.npy c.npy || echo different
different
$ tilewright check $(cat gemm) --seed 5 --expect C=a.npy
C: f16[77, 50], max error 0: ok
$ tilewright check $(cat gemm) --seed 6 --expect C=a.npy
C: f16[77, 50], max error 32 at [26, 29] (31.953125, expected 0): MISMATCH in 2842 of 3850 elements, allowed is 0.0634
[1]
#! What the compiler proved, and every step.
$ tilewright explain $(cat matmul)
kernels/triton/matmul.py:38:13: load: box bf16[64,32] of a_ptr[M, K], strides [stride_am, 1], at [64*pid_m, 32*k]; outside 0; contiguous
kernels/triton/matmul.py:39:13: load: box bf16[32,64] of b_ptr[K, N], strides [stride_bk, 1], at [32*k, 64*pid_n]; outside 0; contiguous
kernels/triton/matmul.py:45:5: store: box bf16[64,64] of c_ptr[M, N], strides [stride_cm, 1], at [64*pid_m, 64*pid_n]; contiguous
kernels/triton/matmul.py:20:1: launch: requires stride_ak = 1, stride_bn = 1, stride_cn = 1, N >= 0, M >= 0, K >= 0, 32*stride_bk in 32 bits, as many programs as tiles; else a general variant runs
kernels/triton/matmul.py:20:1: access: 3 of 3 accesses through pointers are boxes
kernels/triton/matmul.py:40:15: dot: bf16[64,32] times bf16[32,64] by fma
kernels/triton/matmul.py:20:1: execution: flat: this machine gains nothing from loads that run ahead
$ tilewright explain $(cat gemm)
kernels/tilelang/gemm.py:17:17: load: box f16[64,64] of A[77, 93], strides [93, 1], at [64*by, 64*k]; outside 0; contiguous
kernels/tilelang/gemm.py:18:17: load: box f16[64,64] of B[93, 50], strides [50, 1], at [64*k, 64*bx]; outside 0; contiguous
kernels/tilelang/gemm.py:23:13: store: box f16[64,64] of C[77, 50], strides [50, 1], at [64*by, 64*bx]; contiguous
kernels/tilelang/gemm.py:19:17: dot: f16[64,64] times f16[64,64] by fma
kernels/tilelang/gemm.py:9:5: execution: flat: this machine gains nothing from loads that run ahead
$ tilewright explain $(cat lcf)
kernels/tilec/matmul.tile.c:118:1: merge: 2 workers and their rings became one program a task
kernels/tilec/matmul.tile.c:85:13: load: box bf16[128,64] of g.A, at [128*(first + (a value)), 64*iter]; outside 0
kernels/tilec/matmul.tile.c:87:13: load: box bf16[64,256] of g.B, at [64*iter, 256*(a value)]; outside 0
kernels/tilec/matmul.tile.c:113:13: store: box bf16[128,256] of g.C, at [128*(first + (a value)), 256*(a value)]
kernels/tilec/matmul.tile.c:99:5: dot: bf16[128,64] times bf16[64,256] by fma
kernels/tilec/matmul.tile.c:118:1: execution: flat: this machine gains nothing from loads that run ahead
$ tilewright ir $(cat gemm) --stop-after=fold
kernel @matmul(%A, %B, %C: *f16) <warps=4> {
  grid {
    yield 1, 2
  }
  %0 = tensor %A, [77, 93], [93, 1]
  %1 = tensor %B, [93, 50], [50, 1]
  %2 = tensor %C, [77, 50], [50, 1]
  %bx = program_id<0>
  %by = program_id<1>
  %A_shared = buf : buf<f16[64,64], shared>
  %B_shared = buf : buf<f16[64,64], shared>
  %C_local = buf : buf<f32[64,64], fragment>
  %3 = splat 0.0 : f32[64,64]
  bstore %C_local, [0, 0], %3
  %4 = mul %by, 64
  %5 = mul %bx, 64
  for<stages=3> %k = 0, 2, 1 {
    %6 = mul %k, 64
    %7 = tload %0, [%4, %6] : f16[64,64]
    bstore %A_shared, [0, 0], %7
    %8 = tload %1, [%6, %5] : f16[64,64]
    bstore %B_shared, [0, 0], %8
    %9 = bload %A_shared, [0, 0] : f16[64,64]
    %10 = bload %B_shared, [0, 0] : f16[64,64]
    %11 = bload %C_local, [0, 0] : f32[64,64]
    %12 = dot %9, %10, %11
    bstore %C_local, [0, 0], %12
  }
  parallel %i, %j in 64, 64 {
    %13 = bload %C_local, [%i, %j] : f32
    %14 = max %13, 0.0
    bstore %C_local, [%i, %j], %14
  }
  %15 = bload %C_local, [0, 0] : f32[64,64]
  %16 = cast %15 : f16[64,64]
  tstore %2, [%4, %5], %16
}
$ tilewright ir $(cat gemm) --print-after=raise
// after raise
kernel @matmul(%A, %B, %C: *f16) <warps=4> {
  grid {
    yield 1, 2
  }
  %0 = tensor %A, [77, 93], [93, 1]
  %1 = tensor %B, [93, 50], [50, 1]
  %2 = tensor %C, [77, 50], [50, 1]
  %bx = program_id<0>
  %by = program_id<1>
  %C_local = splat 0.0 : f32[64,64]
  %3 = mul %by, 64
  %4 = mul %bx, 64
  %C_local_1 = for<stages=3> %k = 0, 2, 1 (%C_local_2 = %C_local) {
    %5 = mul %k, 64
    %A_shared = tload %0, [%3, %5] : f16[64,64]
    %B_shared = tload %1, [%5, %4] : f16[64,64]
    %C_local_3 = dot %A_shared, %B_shared, %C_local_2
    yield %C_local_3
  }
  %C_local_2 = max %C_local_1, 0.0
  %6 = cast %C_local_2 : f16[64,64]
  tstore %2, [%3, %4], %6
}
$ tilewright run $(cat gemm) --time-passes
parse ... ms
source ... ms
fold ... ms
...
build ... ms
total ... ms   (front end and passes)
C: f16[77, 50], 1960 of 3850 elements changed
$ tilewright run $(cat gemm) --time
time: ... us (median of ... launches; least ... us)
$ tilewright emit $(cat gemm) -o out && ls out
out/matmul.c
out/cpu.h
out/dot.h
out/tiles.h
out/gemm.h
out/turn.h
out/report.txt
cpu.h
dot.h
gemm.h
matmul.c
report.txt
tiles.h
turn.h
$ head -n 2 out/matmul.c
/* Made by Tilewright from kernel @matmul. */
#include "cpu.h"
