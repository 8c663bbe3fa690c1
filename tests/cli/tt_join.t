# requires: g++
# Neighbouring tasks of a core that load the same become one on Tenstorrent: for a launch that has many, or by option join.
$ cp "$ROOT/kernels/triton/matmul.py" "$ROOT/kernels/triton/attention.py" .
$ cat > product.sh <<'END'
> M=$1 N=$2 K=$3 B=$4 BK=$5 what=$6; shift 6
> tilewright $what matmul.py:matmul_kernel --target tenstorrent --arg a_ptr=randn:bf16[$M,$K] --arg b_ptr=randn:bf16[$K,$N] --arg c_ptr=zeros:bf16[$M,$N] --arg M=$M --arg N=$N --arg K=$K --arg stride_am=$K --arg stride_ak=1 --arg stride_bk=$N --arg stride_bn=1 --arg stride_cm=$N --arg stride_cn=1 --arg BM=$B --arg BN=$B --arg BK=$BK --grid $(( (M + B - 1) / B * ((N + B - 1) / B) )) "$@" 2>&1
> END
#! 2048 x 2048 x 2048 on 8 x 8 cores: A and B are read once, whatever the blocks, in 1.15 times the cycles of the products.
$ for b in 32 64 128 256; do sh product.sh 2048 2048 2048 $b 64 run --set model=count | grep -E '^DRAM|^cycles,'; done
DRAM: 16777216 bytes read, 8388608 written; between cores 117454848, of them multicast 16779264 bytes sent once
cycles, estimated: 295333; the busiest math unit needs 262656, DRAM 87381: 1.12 times the larger
DRAM: 16777216 bytes read, 8388608 written; between cores 117454848, of them multicast 16779264 bytes sent once
cycles, estimated: 295333; the busiest math unit needs 262656, DRAM 87381: 1.12 times the larger
DRAM: 16777216 bytes read, 8388608 written; between cores 117454848, of them multicast 16779264 bytes sent once
cycles, estimated: 295333; the busiest math unit needs 262656, DRAM 87381: 1.12 times the larger
DRAM: 16777216 bytes read, 8388608 written; between cores 117454848, of them multicast 16779264 bytes sent once
cycles, estimated: 295333; the busiest math unit needs 262656, DRAM 87381: 1.12 times the larger
#! And on 8 x 8 cores of a larger chip: tasks are joined for the cores that are used.
$ sh product.sh 2048 2048 2048 32 64 run --target tenstorrent:blackhole --set core_grid=8x8 --set model=count | grep -E '^DRAM|^cycles,'
DRAM: 16777216 bytes read, 8388608 written; between cores 117454848, of them multicast 24120192 bytes sent once
cycles, estimated: 289654; the busiest math unit needs 262656, DRAM 66930: 1.10 times the larger
$ sh product.sh 2048 2048 2048 64 64 run --set model=count --set join=1x1 | grep -E '^DRAM'
DRAM: 67108864 bytes read, 8388608 written; between cores 469876736, of them multicast 67125248 bytes sent once
#! Extents that are no multiples of what is joined: the last group stores what the last tasks would.
$ for set in 2x3 3x1 1x4 8x8; do sh product.sh 300 200 70 32 32 check --set join=$set | grep c_ptr; done
c_ptr: bf16[300, 200], max error 0.125 at [5, 124] (-18, interpreted -17.875): ok
c_ptr: bf16[300, 200], max error 0.125 at [5, 124] (-18, interpreted -17.875): ok
c_ptr: bf16[300, 200], max error 0.125 at [5, 124] (-18, interpreted -17.875): ok
c_ptr: bf16[300, 200], max error 0.125 at [5, 124] (-18, interpreted -17.875): ok
$ sh product.sh 512 512 64 32 32 check --set seed=3 | grep c_ptr
c_ptr: bf16[512, 512], max error 0.25 at [371, 166] (-32.75, interpreted -32.5): ok
#! Attention: keys and values are read once for all blocks of a core.
$ cat > attention.sh <<'END'
> Z=$1 N=$2 CAUSAL=$3 what=$4; shift 4
> tilewright $what attention.py --target tenstorrent --arg q_ptr=randn:bf16[$Z,$N,64] --arg k_ptr=randn:bf16[$Z,$N,64] --arg v_ptr=randn:bf16[$Z,$N,64] --arg o_ptr=zeros:bf16[$Z,$N,64] --arg scale=0.125 --arg N=$N --arg stride_h=$((N * 64)) --arg stride_n=64 --arg BM=32 --arg BN=64 --arg D=64 --arg CAUSAL=$CAUSAL --grid $(( (N + 31) / 32 )),$Z "$@" 2>&1
> END
$ sh attention.sh 8 1024 false run --set model=count | grep ^DRAM
DRAM: 3145728 bytes read, 1048576 written; between cores 14687232, of them multicast 2098176 bytes sent once
$ sh attention.sh 2 100 false check --set join=1x3 | grep o_ptr
o_ptr: bf16[2, 100, 64], max error 0.00391 at [1, 3, 18] (-0.53515625, interpreted -0.5390625): ok
#! Causal, too, where later blocks see more of them: rows whose own block has seen all keep what they have.
$ for n in 1024 2048; do sh attention.sh 8 $n true run --set model=count | grep ^DRAM; done
DRAM: 3145728 bytes read, 1048576 written; between cores 14687232, of them multicast 2098176 bytes sent once
DRAM: 6291456 bytes read, 2097152 written; between cores 29374464, of them multicast 4196352 bytes sent once
$ for set in 1x1 1x2 1x3 1x8; do sh attention.sh 2 250 true check --set join=$set --set seed=3 | grep o_ptr; done
o_ptr: bf16[2, 250, 64], max error 0.0156 at [0, 5, 55] (2.125, interpreted 2.109375): ok
o_ptr: bf16[2, 250, 64], max error 0.0156 at [0, 5, 55] (2.125, interpreted 2.109375): ok
o_ptr: bf16[2, 250, 64], max error 0.0156 at [0, 5, 55] (2.125, interpreted 2.109375): ok
o_ptr: bf16[2, 250, 64], max error 0.0156 at [0, 5, 55] (2.125, interpreted 2.109375): ok
$ sh attention.sh 3 31 true check --set join=1x2 | grep o_ptr
o_ptr: bf16[3, 31, 64], max error 0.0156 at [0, 5, 55] (2.125, interpreted 2.109375): ok
$ cp "$ROOT/kernels/tilelang/attention.py" grouped.py; for set in 1x1 1x4; do tilewright check grouped.py --target tenstorrent -D Z=1 -D H=4 -D G=2 -D M=200 -D N=264 -D D=64 -D causal=True -D dtype=bfloat16 -D block_M=32 --arg Q=randn:bf16[1,4,200,64] --arg K=randn:bf16[1,2,264,64] --arg V=randn:bf16[1,2,264,64] --arg O=zeros:bf16[1,4,200,64] --set join=$set | grep O:; done
note: ran on the functional model of a wormhole grid, 28 of 64 cores; no card is used
O: bf16[1, 4, 200, 64], max error 0.00391 at [0, 0, 21, 60] (0.546875, interpreted 0.55078125): ok
note: ran on the functional model of a wormhole grid, 8 of 64 cores; no card is used
O: bf16[1, 4, 200, 64], max error 0.00391 at [0, 0, 21, 60] (0.546875, interpreted 0.55078125): ok
#! Where it cannot be it is an error, at its line; so is what no number of tasks is.
$ sh attention.sh 2 100 true check --set join=2x1
attention.py:8:1: error: join=2x1: tasks cannot become one along the last but one task index; leave out option join: tasks can where the index only moves boxes by their own length, and something is loaded that does not depend on it [not-joined]
    8 | def attention_kernel(
      | ^~~~~~~~~~~~~~~~~~~~~
[1]
$ for set in 9x1 0x1 4 x; do sh product.sh 64 64 64 32 32 check --set join=$set; done
error: option join takes rows x columns, each up to 8, as 4x4, not `9x1`
error: option join takes rows x columns, each up to 8, as 4x4, not `0x1`
error: option join takes rows x columns, each up to 8, as 4x4, not `4`
error: option join takes rows x columns, each up to 8, as 4x4, not `x`
[1]
#! Sizes that are known say it when they are compiled.
$ tilewright explain "$ROOT/kernels/tilelang/gemm.py" --target tenstorrent -D M=2048 -D N=2048 -D K=256 -D dtype=bfloat16 | grep -E 'neighbouring'
.../kernels/tilelang/gemm.py:9:5: execution: 4 x 4 neighbouring tasks are one, which loads what they share once
