# requires: g++
# Trips of a loop that adds up become longer ones on Tenstorrent: as long as costs least, or by option nest.
$ cp "$ROOT/kernels/triton/matmul.py" "$ROOT/kernels/tilelang/gemm.py" .
$ cat > steps.sh <<'END'
> what=$1; steps=$2; shift 2
> tilewright $what gemm.py --target tenstorrent -D M=512 -D N=512 -D K=1024 -D dtype=bfloat16 -D block_M=64 -D block_N=64 -D block_K=$steps -D num_stages=2 --arg A=zeros:bf16[512,1024] --arg B=zeros:bf16[1024,512] --arg C=zeros:bf16[512,512] "$@" 2>&1
> END
#! A trip of 32 elements along K waits for memory: longer ones take half of the cycles, and are chosen whatever the source says.
$ sh steps.sh run 32 --set model=count --set nest=1 | grep ^cycles,
cycles, estimated: 33701; the busiest math unit needs 8832, DRAM 9102: 3.70 times the larger
$ for steps in 32 64 128; do sh steps.sh run $steps --set model=count | grep ^cycles,; sh steps.sh explain $steps | grep source.s; done
cycles, estimated: 16805; the busiest math unit needs 8832, DRAM 9102: 1.85 times the larger
gemm.py:16:22: loop: 8 of the source's trips at a time, about 12740 cycles a task (1: 35273, 2: 20105, 4: 13716, 8: 12740, 16: 13788); sums of 4 pages stay in DST
cycles, estimated: 16805; the busiest math unit needs 8832, DRAM 9102: 1.85 times the larger
gemm.py:16:22: loop: 4 of the source's trips at a time, about 12740 cycles a task (1: 20105, 2: 13716, 4: 12740, 8: 13788, 16: 17384); sums of 4 pages stay in DST
cycles, estimated: 16805; the busiest math unit needs 8832, DRAM 9102: 1.85 times the larger
gemm.py:16:22: loop: 2 of the source's trips at a time, about 12740 cycles a task (1: 13716, 2: 12740, 4: 13788, 8: 17384); sums of 4 pages stay in DST
#! Half of what is on its way at once is the most that an item may be.
$ for chunk in 2 4 32; do sh steps.sh emit 32 --set chunk=$chunk -o out > /dev/null; grep -o '"cb_in_A.*"slots": [0-9]*' out/plan.json | sed 's/"from.*"item/"item/'; done
"cb_in_A_shared", "holds": "field A_shared of ring in", "item_pages": 2, "slots": 2
"cb_in_A_shared", "holds": "field A_shared of ring in", "item_pages": 4, "slots": 2
"cb_in_A_shared", "holds": "field A_shared of ring in", "item_pages": 16, "slots": 4
#! Operands that are converted, scaled along K and masked, two sums, and a sum of rows; trips that are known, and not.
$ cat > mixed.py <<'END'
> import triton
> import triton.language as tl
> @triton.jit
> def mixed(a, b, d, s, bias, c, N, K, stop, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
>     m = tl.program_id(0) * BM + tl.arange(0, BM)
>     n = tl.program_id(1) * BN + tl.arange(0, BN)
>     sum = tl.zeros((BM, BN), tl.float32)
>     other = tl.zeros((BM, BN), tl.float32)
>     rows = tl.zeros((BM,), tl.float32)
>     for k in range(0, K, BK):
>         r = k + tl.arange(0, BK)
>         x = tl.load(a + m[:, None] * K + r[None, :])
>         y = tl.load(b + r[:, None] * N + n[None, :]).to(tl.float32) * tl.load(s + r)[:, None] * 0.5
>         y = tl.where(r[:, None] < stop, y, 0.0)
>         z = tl.load(d + n[:, None] * K + r[None, :])
>         sum += tl.dot(x, y.to(tl.bfloat16))
>         other = tl.dot(x, z.T, other)
>         rows += tl.sum(x.to(tl.float32), axis=1)
>     tl.store(c + m[:, None] * N + n[None, :], sum + other * 2.0 + rows[:, None] + tl.load(bias + n)[None, :])
> END
$ cat > mixed.sh <<'END'
> K=$1; shift
> tilewright check mixed.py --target tenstorrent --arg a=randn:bf16[64,$K] --arg "b=randint(5):i8[$K,96]" --arg d=randn:bf16[96,$K] --arg s=randn:f32[$K] --arg bias=randn:f32[96] --arg c=zeros:f32[64,96] --arg N=96 --arg stop=$((K * 3 / 4)) --arg BM=32 --arg BN=32 --arg BK=32 --grid 2,3 "$@" 2>&1 | grep -E '^c:|error:'
> END
$ sh mixed.sh 96 --arg K=96
c: f32[64, 96], max error 0.031 at [22, 45] (6.49450636, interpreted 6.46349335): ok
$ sed -i 's/ K, stop/ K: tl.constexpr, stop/' mixed.py; for nest in 1 0 16; do sh mixed.sh 256 --arg K=256 --set nest=$nest; done
c: f32[64, 96], max error 0.0458 at [39, 43] (-13.3972626, interpreted -13.4430885): ok
c: f32[64, 96], max error 0.0458 at [39, 43] (-13.3972626, interpreted -13.4430885): ok
c: f32[64, 96], max error 0.0458 at [39, 43] (-13.3972664, interpreted -13.4430885): ok
$ tilewright explain mixed.py --target tenstorrent --arg 'a=*bf16' --arg 'b=*i8' --arg 'd=*bf16' --arg 's=*f32' --arg 'bias=*f32' --arg 'c=*f32' --arg N=i32 --arg stop=i32 --arg K=256 --arg BM=32 --arg BN=32 --arg BK=32 | grep source.s
mixed.py:10:5: loop: 4 of the source's trips at a time, about 8109 cycles a task (1: 18580, 2: 10464, 4: 8110, 8: 8344); sums of 3 pages are added to in L1
#! No multiple of a trip, or fewer elements than one: what is behind the last of them is zero.
$ cat > ragged.sh <<'END'
> K=$1; shift
> tilewright check matmul.py:matmul_kernel --target tenstorrent --arg a_ptr=randn:bf16[50,$K] --arg b_ptr=randn:bf16[$K,40] --arg c_ptr=zeros:bf16[50,40] --arg M=50 --arg N=40 --arg K=$K --arg stride_am=$K --arg stride_ak=1 --arg stride_bk=40 --arg stride_bn=1 --arg stride_cm=40 --arg stride_cn=1 --arg BM=32 --arg BN=32 --arg BK=32 --grid 4 "$@" 2>&1 | grep -E '^c_ptr|error:'
> END
$ for K in 0 1 33 96 200; do for nest in 0 2 3; do sh ragged.sh $K --set nest=$nest; done; done
c_ptr: bf16[50, 40], max error 0: ok
c_ptr: bf16[50, 40], max error 0: ok
c_ptr: bf16[50, 40], max error 0: ok
c_ptr: bf16[50, 40], max error 0.000977 at [4, 6] (-0.168945312, interpreted -0.16796875): ok
c_ptr: bf16[50, 40], max error 0.000977 at [4, 6] (-0.168945312, interpreted -0.16796875): ok
c_ptr: bf16[50, 40], max error 0.000977 at [4, 6] (-0.168945312, interpreted -0.16796875): ok
c_ptr: bf16[50, 40], max error 0.0625 at [5, 4] (-9.0625, interpreted -9): ok
c_ptr: bf16[50, 40], max error 0.0625 at [5, 4] (-9.0625, interpreted -9): ok
c_ptr: bf16[50, 40], max error 0.0625 at [5, 4] (-9.0625, interpreted -9): ok
c_ptr: bf16[50, 40], max error 0.125 at [10, 7] (29.375, interpreted 29.25): ok
c_ptr: bf16[50, 40], max error 0.125 at [10, 7] (29.375, interpreted 29.25): ok
c_ptr: bf16[50, 40], max error 0.125 at [10, 7] (29.375, interpreted 29.25): ok
c_ptr: bf16[50, 40], max error 0.125 at [2, 9] (-29.375, interpreted -29.25): ok
c_ptr: bf16[50, 40], max error 0.125 at [2, 9] (-29.375, interpreted -29.25): ok
c_ptr: bf16[50, 40], max error 0.125 at [2, 9] (-29.375, interpreted -29.25): ok
$ sh ragged.sh 64 --set nest=17
error: option nest takes an integer from 0 to 16, not `17`
#! A sum along the axis that got longer: the order that it was given was that of the shorter one.
$ cat > sums.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def main(X: T.Tensor((64, 2048), "float32"), Y: T.Tensor((64, ), "float32")):
>     with T.Kernel(2, threads=128) as bx:
>         x = T.alloc_fragment((32, 32), "float32")
>         y = T.alloc_fragment((32, ), "float32")
>         T.clear(y)
>         for k in T.Pipelined(64, num_stages=2):
>             T.copy(X[bx * 32:(bx + 1) * 32, k * 32:(k + 1) * 32], x)
>             T.reduce_sum(x, y, dim=1, clear=False)
>         T.copy(y, Y[bx * 32:(bx + 1) * 32])
> END
$ tilewright ir sums.py --target tenstorrent --stop-after nest > nested.ir; grep -c 'f32\[32,32\]' nested.ir; tilewright ir nested.ir | grep reduce
0
    %4 = reduce<add, axis=1, order=[6,5,4,3,2,1,0]> %x
$ tilewright check sums.py --target tenstorrent --arg X=ones:f32[64,2048] --arg Y=zeros:f32[64] 2>&1 | grep ^Y
Y: f32[64], max error 0: ok
