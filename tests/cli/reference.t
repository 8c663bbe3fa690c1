# The reference: target interp and `check` run a kernel as its language made it, before any pass.
$ echo "$ROOT/kernels/tilelang/gemm_elements.py -D M=33 -D N=50 -D K=40 -D dtype=float16 --arg A=randn:f16[33,40] --arg B=randn:f16[40,50] --arg C=zeros:f16[33,50]" > gemm
$ echo "$ROOT/kernels/tilec/matmul.tile.c -D MB=1 -D NB=1 --arg g.A=randn:bf16[64,64] --arg g.B=randn:bf16[64,64] --arg g.C=zeros:bf16[64,64]" > template
$ for k in gemm template; do tilewright ir $(cat $k) --target interp > as_made.ir; tilewright ir $(cat $k) --print-after=source | tail -n +2 | cmp - as_made.ir && echo equal; done
equal
equal
$ tilewright ir $(cat gemm) --target interp | grep -c parallel
4
$ tilewright ir $(cat template) --target interp | grep -cE '^ *(spmd|role|ring|%[a-z]* = ring)'
4
$ tilewright ir $(cat gemm) --target interp --set passes=on | grep -c parallel
0
[1]
$ tilewright ir $(cat gemm) --target interp --stop-after raise | grep -c parallel
0
[1]
$ tilewright explain $(cat gemm) --target interp
...gemm_elements.py:6:1: reference: runs as its language made it, before any pass; option passes=on runs it behind them
$ tilewright check $(cat gemm) --target interp --set passes=on
A: f16[33, 40], max error 0: ok
B: f16[40, 50], max error 0: ok
C: f16[33, 50], max error 0.0469 at [15, 5] (-17.1875, interpreted -17.140625): ok
$ tilewright check $(cat template) --target interp --set passes=on
g.A: bf16[64, 64], max error 0: ok
g.B: bf16[64, 64], max error 0: ok
g.C: bf16[64, 64], max error 0: ok
#! What is written keeps its sum in 16 bits; targets carry it in 32, and `check` knows.
$ tilewright check $ROOT/kernels/tilelang/gemm_elements.py -D M=3 -D N=50 -D K=3000 -D dtype=float16 --arg A=randn:f16[3,3000] --arg B=randn:f16[3000,50] --arg C=zeros:f16[3,50]
A: f16[3, 3000], max error 0: ok
B: f16[3000, 50], max error 0: ok
C: f16[3, 50], max error 1.12 at [1, 4] (94.5, interpreted 93.375): ok
