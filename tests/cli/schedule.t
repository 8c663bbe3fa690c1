# The pass `schedule` decides who runs when and where everything lies: its text is what is emitted, and `explain` says the same
# number. What does not fit goes down by degrees: fewer slots, output tiles in panels, no roles.
# requires: c++
$ cp "$ROOT/kernels/triton/matmul.py" .
$ cat > mm.sh <<'END'
> # COMMAND OPTION..: rows of 511 elements, which TMA cannot load
> command=$1; shift
> tilewright $command matmul.py --target cuda --arg a_ptr=randn:bf16[256,511] --arg b_ptr=randn:bf16[511,256] --arg c_ptr=zeros:bf16[256,256] --arg M=256 --arg N=256 --arg K=511 --arg stride_am=511 --arg stride_ak=1 --arg stride_bk=256 --arg stride_bn=1 --arg stride_cm=256 --arg stride_cn=1 --arg BM=128 --arg BN=128 --arg BK=64 --set num_warps=8 "$@"
> END
$ sh mm.sh explain --set variant=2 | grep -E 'field a|ring: '
matmul.py:38:13: load: field a of ring in (load to compute)
matmul.py:38:13: ring: 3 slots were asked for, 2 fit into 232448 bytes
matmul.py:38:13: ring: 2 slots of 32768 bytes at 0, by stores
matmul.py:45:5: ring: 1 slot of 32768 bytes at 65536, a buffer of one role
$ sh mm.sh ir --set variant=2 --print-after=schedule | grep -oE 'ring<.*>|kernel @.*threads.*>|role.*>' | sed 's/(.*)//'
kernel @matmul_kernel <form=schedule, warps=8, threads=512, shared=206848, blocks=1>
ring<from=load, to=compute, slots=2, asked=3, hold=2, at=0, bytes=32768, by=stores, fields=[0,16384], barriers=[98304,98320], arrivals=[256,8]>
ring<from=compute, to=compute, slots=1, at=65536, bytes=32768, by=buffer, fields=[0]>
role load<id=2, warps=8, regs=120, first=8>
role compute<id=1, warps=8, workers=2, by=m, regs=136, first=0>
$ sh mm.sh emit --set variant=2 -o out > /dev/null; grep -oE '// ring .*' out/matmul_kernel.cu
// ring in, 2 slots
// ring out, 1 slot
$ sh mm.sh check --set variant=2 --emulate --grid 4 | grep c_ptr
c_ptr: bf16[256, 256], max error 0.125 at [13, 56] (26.75, interpreted 26.875): ok
#! An epilogue that needs shared memory for itself: the output leaves in panels; where loads would not run ahead beside them, it has
#! no ring; at last the second slot goes.
$ cat > flipped.py <<'END'
> import triton
> import triton.language as tl
>
>
> @triton.jit
> def flipped(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
>     rm = tl.program_id(0) * BM + tl.arange(0, BM)
>     rn = tl.program_id(1) * BN + tl.arange(0, BN)
>     acc = tl.zeros((BM, BN), tl.float32)
>     for k in range(0, tl.cdiv(K, BK)):
>         rk = k * BK + tl.arange(0, BK)
>         x = tl.load(a + rm[:, None] * K + rk[None, :], mask=rk[None, :] < K, other=0.0)
>         y = tl.load(b + rk[:, None] * N + rn[None, :], mask=rk[:, None] < K, other=0.0)
>         acc = tl.dot(x, y, acc)
>     acc = tl.flip(acc, 0)
>     tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))
> END
$ cat > flipped.sh <<'END'
> command=$1 n=$2 k=$3; shift 3
> tilewright $command flipped.py --target cuda --arg a=randn:f16[256,192] --arg b=randn:f16[192,$n] --arg c=zeros:f16[256,$n] --arg N=$n --arg K=192 --arg BM=128 --arg BN=$n --arg BK=$k --set num_warps=8 "$@"
> END
$ sh flipped.sh explain 256 32 | grep -E 'ring: |execution: |one after'
flipped.py:6:1: execution: roles: its dots are wide enough for a warp that only loads
flipped.py:6:1: execution: 1 worker in compute, persistent, order grouped
flipped.py:12:13: ring: 3 slots were asked for, 2 fit into 232448 bytes
flipped.py:12:13: ring: 2 slots of 24576 bytes at 0, by TMA
flipped.py:16:5: ring: 1 slot of 32768 bytes at 49152, a buffer of one role
flipped.py:16:5: store: by TMA, 4 boxes of 128 bytes a row, one after the other
flipped.py:6:1: execution: roles, 384 threads, 214016 bytes of shared memory
$ sh flipped.sh check 256 32 --emulate --grid 2,1 | grep -E '^c'
c: f16[256, 256], max error 0.0156 at [32, 152] (18.734375, interpreted 18.71875): ok
$ sh flipped.sh explain 256 64 | grep -E 'ring: |execution: |one after'
flipped.py:6:1: execution: roles: its dots are wide enough for a warp that only loads
flipped.py:6:1: execution: 1 worker in compute, persistent, order grouped
flipped.py:12:13: ring: 3 slots were asked for, 2 fit into 232448 bytes
flipped.py:12:13: ring: 2 slots of 49152 bytes at 0, by TMA
flipped.py:6:1: execution: roles, 384 threads, 230400 bytes of shared memory
$ sh flipped.sh check 256 64 --emulate --grid 2,1 | grep -E '^c'
c: f16[256, 256], max error 0.0156 at [32, 152] (18.734375, interpreted 18.71875): ok
$ sh flipped.sh explain 256 128 | grep -E 'ring: |execution: |one after'
flipped.py:6:1: execution: roles: its dots are wide enough for a warp that only loads
flipped.py:6:1: execution: 1 worker in compute, persistent, order grouped
flipped.py:12:13: ring: 3 slots were asked for, 1 fit into 232448 bytes
flipped.py:12:13: ring: 1 slot of 98304 bytes at 0, by TMA
flipped.py:6:1: execution: roles, 384 threads, 230400 bytes of shared memory
$ sh flipped.sh check 256 128 --emulate --grid 2,1 | grep -E '^c'
c: f16[256, 256], max error 0.0156 at [32, 152] (18.734375, interpreted 18.71875): ok
#! 32 warps compute: a block has no threads left that only load, and loads run ahead in those of the others.
$ tilewright explain "$ROOT/kernels/tilec/attention.tile.c" --target cuda --set num_warps=32 --arg 'g.q=zeros:bf16[1,2,70,128]' --arg 'g.k=zeros:bf16[1,2,70,128]' --arg 'g.v=zeros:bf16[1,2,70,128]' --arg 'g.o=zeros:bf16[1,2,70,128]' --arg 'g.l=zeros:f32[1,2,1,70]' | grep -o 'execution: [a-z]*: .*'
execution: skew: all threads of a block compute
