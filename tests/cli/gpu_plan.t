# What `explain` says of the 16-bit matmuls of all three doors on CUDA: roles, TMA and wgmma, so that nothing runs flat
# unnoticed; and what it says where it does.
$ cp -r "$ROOT/kernels" .
$ echo 'grep -oE "execution: [a-z]+[,: ].*|by TMA|by cp.async|by wgmma|by mma|by fma|order [a-z]+" | grep -v workers | sort | uniq -c | sed "s/, [0-9]* bytes.*//"' > words
$ echo --arg M=4096 --arg N=4096 --arg K=4096 --arg stride_am=4096 --arg stride_ak=1 --arg stride_bk=4096 --arg stride_bn=1 --arg stride_cm=4096 --arg stride_cn=1 --arg BM=128 --arg BN=128 --arg BK=64 > sizes
$ tilewright explain kernels/triton/matmul.py --target cuda --arg a_ptr=zeros:f16[4096,4096] --arg b_ptr=zeros:f16[4096,4096] --arg c_ptr=zeros:f16[4096,4096] $(cat sizes) | sh words
      4 by TMA
      1 by wgmma
      1 execution: roles, 384 threads
      1 execution: roles: its dots are wide enough for a warp that only loads
      1 order grouped
$ tilewright explain kernels/triton/matmul.py --target cuda --arg a_ptr=zeros:bf16[4096,4096] --arg b_ptr=zeros:bf16[4096,4096] --arg c_ptr=zeros:bf16[4096,4096] $(cat sizes) | sh words
      4 by TMA
      1 by wgmma
      1 execution: roles, 384 threads
      1 execution: roles: its dots are wide enough for a warp that only loads
      1 order grouped
$ tilewright explain kernels/tilelang/gemm.py --target cuda -D M=4096 -D N=4096 -D K=4096 -D block_M=128 -D block_N=128 | sh words
      4 by TMA
      1 by wgmma
      1 execution: roles, 384 threads
      1 execution: roles: its dots are wide enough for a warp that only loads
      1 order grouped
$ tilewright explain kernels/tilelang/gemm.py --target cuda -D M=4096 -D N=4096 -D K=4096 -D dtype=bfloat16 | sh words
      4 by TMA
      1 by wgmma
      1 execution: roles, 256 threads
      1 execution: roles: its dots are wide enough for a warp that only loads
      1 order grouped
$ tilewright explain kernels/tilec/matmul.tile.c --target cuda | sh words
      4 by TMA
      1 by wgmma
      1 execution: roles, 384 threads
      1 execution: roles: its dots are wide enough for a warp that only loads
      1 order grouped
$ tilewright explain kernels/tilec/matmul.tile.c --target cuda -D ELEM=half -D TILE=st_hf | sh words
      4 by TMA
      1 by wgmma
      1 execution: roles, 384 threads
      1 execution: roles: its dots are wide enough for a warp that only loads
      1 order grouped
#! With the options that turn it off, on a machine without TMA, and with f32.
$ tilewright explain kernels/tilelang/gemm.py --target cuda -D M=4096 -D N=4096 -D K=4096 --set roles=off | sh words
      1 by TMA
      3 by cp.async
      1 by wgmma
      1 execution: skew 2, 128 threads
      1 execution: skew: roles are off
      1 order row
$ tilewright explain kernels/tilelang/gemm.py --target cuda -D M=4096 -D N=4096 -D K=4096 --set num_stages=0 | sh words
      1 by wgmma
      1 execution: flat, 128 threads
      1 execution: flat: num_stages is 0
$ tilewright explain kernels/tilelang/gemm.py --target cuda:sm_80 -D M=4096 -D N=4096 -D K=4096 | sh words
      3 by cp.async
      1 by mma
      1 execution: skew 2, 128 threads
      1 execution: skew: this machine has no warp that only loads
      1 order row
$ tilewright explain kernels/triton/matmul.py --target cuda --arg a_ptr=zeros:f32[4096,4096] --arg b_ptr=zeros:f32[4096,4096] --arg c_ptr=zeros:f32[4096,4096] $(cat sizes) | sh words
      1 by TMA
      3 by cp.async
      1 by mma
      1 execution: skew 1, 128 threads
      1 execution: skew: its dots are too small for a warp that only loads
      1 order grouped
#! The emitted text agrees with what was said.
$ tilewright emit kernels/tilelang/gemm.py --target cuda -D M=4096 -D N=4096 -D K=4096 -o cu > files; grep -c 'tma\|wgmma\|mbar' cu/matmul.cu | sed 's/^[1-9][0-9]*/some/'
some
$ tilewright explain kernels/tilelang/gemm.py --target tenstorrent -D M=4096 -D N=4096 -D K=4096 2>&1 | grep -oE 'f16 tensor .* as bf16|execution: roles|by tensix' | sort | uniq -c
      1 by tensix
      1 execution: roles
      1 f16 tensor `A` travels as bf16
      1 f16 tensor `B` travels as bf16
      1 f16 tensor `C` travels as bf16
#! What a launch must keep for vectors and TMA; variant 5 is for all that do not.
$ for v in 0 5; do echo variant $v; tilewright explain kernels/triton/matmul.py --target cuda --arg a_ptr=zeros:f16[4096,4096] --arg b_ptr=zeros:f16[4096,4096] --arg c_ptr=zeros:f16[4096,4096] $(cat sizes) --set variant=$v | grep -oE "launch: vectors.*|(load|store): by TMA" | sort; done
variant 0
launch: vectors and TMA require stride_cm % 8 = 0, c_ptr % 16 = 0, N % 8 = 0, stride_bk % 8 = 0, b_ptr % 16 = 0, stride_am % 8 = 0, a_ptr % 16 = 0; else a variant without them runs (option variant=1 and up)
load: by TMA
load: by TMA
store: by TMA
variant 5
#! Barriers that the source writes itself: proved and dropped where one worker uses them, refused beside copies that land later.
$ echo 'kernel @k(%x: tensor<f32,1>) { %b = bar<count=1> ; bar_arrive %b ; bar_wait %b, 0 ; %t = tload %x, [0] : f32[32] ; tstore %x, [0], %t }' > bar.ir; tilewright emit bar.ir --target cuda 2>&1 | head -n 1
// k of bar.ir: flat, 128 threads, 0 bytes of shared memory
$ echo 'kernel @k(%x: tensor<f32,1>) { %b = bar<count=1> ; %s = buf : buf<f32[32], shared> ; bar_expect %b, 128 ; async_copy %x, [0], %s, %b ; bar_wait %b, 0 ; %t = bload %s, [0] : f32[32] ; tstore %x, [0], %t }' > bar.ir; tilewright emit bar.ir --target cuda 2>&1 | head -n 1
bar.ir:1:107: error: the cuda target cannot do `async_copy` here: barriers, asynchronous copies and scopes of workers that the source writes itself are not merged into tiles here (a template, or operations on whole tiles, are); use target cpu or interp for this kernel [target-refused]
#! A GPU's tensor cores round factors of f32 to tf32, as Triton does by default; check knows.
$ cat > product.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def product(x, y, EXACT: tl.constexpr):
>     at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
>     a = tl.load(x + at)
>     tl.store(y + at, tl.dot(a, a, input_precision="ieee" if EXACT else "tf32"))
> END
$ tilewright explain product.py --arg x=randn:f32[16,16] --arg y=zeros:f32[16,16] --arg EXACT=false --target cuda | grep times
product.py:8:22: dot: f32[16,16] times f32[16,16] by mma, rounded to tf32
$ tilewright check product.py --arg x=randn:f32[16,16] --arg y=zeros:f32[16,16] --arg EXACT=false --target cuda-emulated --grid 1
x: f32[16, 16], max error 0: ok
y: f32[16, 16], max error 0.00836 at [7, 11] (10.2764664, interpreted 10.2848291): ok
$ tilewright check product.py --arg x=randn:f32[16,16] --arg y=zeros:f32[16,16] --arg EXACT=true --target cuda-emulated --grid 1 --tolerance 1e-6
x: f32[16, 16], max error 0: ok
y: f32[16, 16], max error 0: ok
#! A tile that is multiplied from both sides, in two ways, with an odd extent: every use finds its zeros behind the tile's end.
$ cat > both.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def both(x, y, N: tl.constexpr):
>     at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
>     a = tl.load(x + at)
>     tl.store(y + at, tl.dot(a, a, input_precision="ieee"))
>     tl.store(y + N * N + at, tl.dot(a, a))
>     tl.store(y + 2 * N * N + at, tl.dot(tl.trans(a), a))
> END
$ for t in f32 f16; do tilewright check both.py --arg "x=randint(5):$t[20,20]" --arg y=zeros:f32[3,20,20] --arg N=20 --target cuda --emulate --grid 1 | grep y:; done
y: f32[3, 20, 20], max error 0: ok
y: f32[3, 20, 20], max error 0: ok
#! Rows of NaN alone, and of -0.0, with an extent that is padded: the padding shows in no result.
$ cat > rows.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def rows(x, y, z):
>     at, row = tl.arange(0, 4)[:, None] * 5 + tl.arange(0, 5)[None, :], tl.arange(0, 4)
>     v = tl.load(x + at)
>     tl.store(y + row, tl.max(v, 1))
>     tl.store(y + 4 + row, tl.min(v, 1))
>     tl.store(y + 8 + row, 1 / tl.sum(v, 1))
>     tl.store(z + row, tl.argmax(v, 1))
>     tl.store(z + 4 + row, tl.argmin(v, 1, tie_break_left=False))
> END
$ for v in nan -0.0 inf; do tilewright check rows.py --arg "x=full($v):f32[4,5]" --arg y=zeros:f32[12] --arg z=zeros:i32[8] --target cuda --emulate --grid 1 | grep -v x:; done
y: f32[12], max error 0: ok
z: i32[8], max error 0: ok
y: f32[12], max error 0: ok
z: i32[8], max error 0: ok
y: f32[12], max error 0: ok
z: i32[8], max error 0: ok
#! The same in wgmma, whose left operand is read in parts of 64 rows: it needs more room than as the right one.
$ cat > wide.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def wide(x, y, z):
>     m, n, k = tl.arange(0, 64), tl.arange(0, 80), tl.arange(0, 48)
>     a = tl.load(x + m[:, None] * 48 + k[None, :])
>     b = tl.load(y + k[:, None] * 80 + n[None, :])
>     c = tl.dot(a, b)
>     c += tl.max(b, 0).to(tl.float32)[None, :]
>     d = tl.dot(tl.trans(b), tl.trans(a))
>     tl.store(z + m[:, None] * 80 + n[None, :], c + tl.trans(d))
> END
$ tilewright check wide.py --arg "x=randint(4):f16[64,48]" --arg "y=randint(4):f16[48,80]" --arg z=zeros:f32[64,80] --target cuda --emulate --grid 1 | grep z:
z: f32[64, 80], max error 0: ok
