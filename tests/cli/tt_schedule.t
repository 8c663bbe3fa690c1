# requires: g++
# How tasks are dealt out on Tenstorrent, and how deep its circular buffers are: options and annotations change the plan as they say, no bit of the result, or are errors.
$ cp "$ROOT/kernels/triton/matmul.py" .
$ echo --target tenstorrent --arg a_ptr=randn:bf16[100,70] --arg b_ptr=randn:bf16[70,200] --arg c_ptr=zeros:bf16[100,200] --arg M=100 --arg N=200 --arg K=70 --arg stride_am=70 --arg stride_ak=1 --arg stride_bk=200 --arg stride_bn=1 --arg stride_cm=200 --arg stride_cn=1 --arg BM=32 --arg BN=32 --arg BK=64 > args
$ cat > plan.sh <<'END'
> tilewright emit matmul.py:matmul_kernel $(cat args) "$@" -o out > /dev/null && grep -E '"tasks"|"cb_in_a"|"cb_out"' out/plan.json | sed -e 's/.*"tasks": //' -e 's/.*"name": \("[a-z_]*"\).*"slots": \([0-9]*\).*multicast": \("[a-z]*"\).*/\1 \2 \3/' && grep -o 'const u32 task = .*' out/writer.cpp
> END
$ sh plan.sh
"cb_in_a" 3 "row"
"cb_out" 2 "none"
{"rank": 2, "policy": "rect", "order": "row_major", "first_core": [0, 0], "cores": [8, 8], "most_cores": 0},
const u32 task = tw_task(turn, first_task, columns, rows, row_tasks, plane_tasks);
$ sh plan.sh --set policy=strided --set order=z_order --set core_grid=4x2
"cb_in_a" 3 "none"
"cb_out" 2 "none"
{"rank": 2, "policy": "strided", "order": "z_order", "first_core": [0, 0], "cores": [4, 2], "most_cores": 0},
const u32 task = tw_z_order(tw_task(turn, first_task, columns, rows, row_tasks, plane_tasks), (u32)tiles_m, (u32)tiles_n);
$ sh plan.sh --set policy=block_linear --set block=3 --set cores=5
"cb_in_a" 3 "none"
"cb_out" 2 "none"
{"rank": 2, "policy": "block_linear", "order": "row_major", "block": 3, "first_core": [0, 0], "cores": [8, 8], "most_cores": 5},
const u32 task = tw_task(turn, first_task, columns, rows, row_tasks, plane_tasks);
$ sh plan.sh --set policy=rect --set order=column_major --set chunk=8 --set cb_depths=out:1
"cb_in_a" 4 "row"
"cb_out" 1 "none"
{"rank": 2, "policy": "rect", "order": "column_major", "first_core": [0, 0], "cores": [8, 8], "most_cores": 0},
const u32 task = tw_task(tw_column_major(turn, rows, columns), first_task, columns, rows, row_tasks, plane_tasks);
$ for set in "" policy=contiguous policy=strided "policy=block_linear --set block=3" "policy=rect --set order=z_order --set core_grid=3x2" "policy=contiguous --set order=column_major" "policy=strided --set order=z_order --set seed=3" "chunk=2 --set seed=5" multicast=off
> do tilewright run matmul.py:matmul_kernel $(cat args) --grid 28 ${set:+--set $set} --save c_ptr=c.npy 2>/dev/null >/dev/null; cksum c.npy; done | sort -u | wc -l
1
$ for set in policy=spiral order=match_shard "policy=strided --set multicast=on" block=3 core_grid=9x1 core_grid=3 core_grid=9223372036854775807x1 chunk=3 cb_depths=x:1 cb_depths=in:0 sharding=a_ptr=height sharding=q=interleaved sharding=a_ptr=l1,a_ptr=dram
> do tilewright emit matmul.py:matmul_kernel $(cat args) --set $set -o refused 2>&1 | grep error | sed 's/.*error: //'; done; ls refused 2>&1
option policy takes auto, contiguous, strided, rect or block_linear, not `spiral`
not possible on Tenstorrent: order match_shard: no tensor is sharded, tasks follow none; leave the order out [not-on-tenstorrent]
not possible on Tenstorrent: multicast=on: cores share loads on a rectangle only; use policy rect [not-on-tenstorrent]
not possible on Tenstorrent: block=3 with policy="auto"; it is for policy="block_linear"; leave block out [not-on-tenstorrent]
not possible on Tenstorrent: cores 0..8 x 0..0, where a wormhole has 8 x 8; ask for fewer [not-on-tenstorrent]
option core_grid takes columns x rows, as 8x8, not `3`
option core_grid takes columns x rows, as 8x8, not `9223372036854775807x1`
not possible on Tenstorrent: a chunk of 3 tiles along K; a step of the loop takes 2 of them; give a multiple [not-on-tenstorrent]
not possible on Tenstorrent: a chunk of 3 tiles along K; a step of the loop takes 2 of them; give a multiple [not-on-tenstorrent]
not possible on Tenstorrent: a depth of `x`, which is no ring of the kernel; name one that `explain` shows [not-on-tenstorrent]
not possible on Tenstorrent: the depth `in:0`; write a ring and its slots, from 1 to 64, as in:3 [not-on-tenstorrent]
not possible on Tenstorrent: a tensor that is laid out as `height`; tensors lie interleaved, tile after tile along rows, in DRAM or in the cores' L1; write interleaved or l1, or leave it out [not-on-tenstorrent]
not possible on Tenstorrent: sharding of `q`, which is no parameter of the kernel; name one that is [not-on-tenstorrent]
not possible on Tenstorrent: `a_ptr` both in DRAM and in L1; say one of them [not-on-tenstorrent]
ls: cannot access 'refused': No such file or directory
[2]
#! Tensors lie in DRAM, or in the cores' L1: the plan, the host program and what is counted say so, and no bit differs.
$ tilewright emit matmul.py:matmul_kernel $(cat args) --set sharding=a_ptr=l1,c_ptr=interleaved -o l1 > /dev/null; grep -o '"name": "[abc]_ptr".*"memory": "[a-z0-9]*"' l1/plan.json | sed 's/, .*"memory"/ "memory"/'; grep -o '"compile_args": .[^]]*' l1/plan.json; grep -c 'BufferType::L1' l1/host.cpp
"name": "a_ptr" "memory": "l1"
"name": "b_ptr" "memory": "dram"
"name": "c_ptr" "memory": "dram"
"compile_args": [0, 2048, 2, 2048
"compile_args": [
"compile_args": [2, 2048
1
$ for set in sharding=a_ptr=dram sharding=a_ptr=l1 "sharding=a_ptr=l1,b_ptr=l1,c_ptr=l1 --set seed=4"; do tilewright run matmul.py:matmul_kernel $(cat args) --grid 28 --set $set --save c_ptr=c.npy 2>&1 | grep ^DRAM; cksum c.npy; done
DRAM: 67584 bytes read, 57344 written; between cores 369000, of them multicast 90200 bytes sent once
2369398975 40128 c.npy
DRAM: 43008 bytes read, 57344 written; between cores 393576, of them multicast 90200 bytes sent once
2369398975 40128 c.npy
DRAM: 0 bytes read, 0 written; between cores 493928, of them multicast 90200 bytes sent once
2369398975 40128 c.npy
#! TileLang's annotations say the same.
$ cat > gemm.py <<'EOF'
> import tilelang.language as T
> from tilelang.tt import annotate_tt_schedule
> @annotate_tt_schedule(policy="block_linear", block=2, order="column_major", chunk_k_tiles=4, core_grid=(4, 4))
> @T.prim_func
> def gemm(A: T.Tensor((128, 128), "bfloat16"), B: T.Tensor((128, 128), "bfloat16"), C: T.Tensor((128, 128), "bfloat16")):
>     with T.Kernel(4, 4) as (bx, by):
>         a = T.alloc_shared((32, 32), "bfloat16")
>         b = T.alloc_shared((32, 32), "bfloat16")
>         c = T.alloc_fragment((32, 32), "float32")
>         T.clear(c)
>         for k in T.Pipelined(4):
>             T.copy(A[by * 32, k * 32], a)
>             T.copy(B[k * 32, bx * 32], b)
>             T.gemm(a, b, c)
>         T.copy(c, C[by * 32, bx * 32])
> EOF
$ tilewright emit gemm.py --target tenstorrent -o tl > /dev/null && grep -E '"tasks"|"slots": 4' tl/plan.json | sed 's/, "holds.*//'
    {"id": 0, "name": "cb_in_a"
    {"id": 1, "name": "cb_in_b"
  "tasks": {"rank": 2, "policy": "block_linear", "order": "column_major", "block": 2, "first_core": [0, 0], "cores": [4, 4], "most_cores": 0},
$ tilewright check gemm.py --target tenstorrent --arg A=randn:bf16[128,128] --arg B=randn:bf16[128,128] --arg C=zeros:bf16[128,128] 2>&1 | grep C:
C: bf16[128, 128], max error 0.125 at [2, 70] (-16.375, interpreted -16.25): ok
$ sed -i 's/, core_grid=(4, 4)/, rect=(0, 0, 2, 2)/' gemm.py && tilewright emit gemm.py --target tenstorrent -o tl2; ls tl2
gemm.py:5:1: error: not possible on Tenstorrent: rect=.. with policy="block_linear"; it places the cores of policy="rect"; leave rect out [not-on-tenstorrent]
    5 | def gemm(A: T.Tensor((128, 128), "bfloat16"), B: T.Tensor((128, 128), "bfloat16"), C: T.Tensor((128, 128), "bfloat16")):
      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
ls: cannot access 'tl2': No such file or directory
[2]
$ sed -e '/annotate_tt_schedule(/d' -e 's/^@T.prim_func/@annotate_tt_sharding({"A": {"layout": "interleaved", "memory": "l1"}, "C": {"memory": "dram"}})\n@T.prim_func/' -e 's/import annotate_tt_schedule/import annotate_tt_sharding/' gemm.py > sharded.py; tilewright emit sharded.py --target tenstorrent -o tl3 > /dev/null && grep -o '"compile_args": .[^]]*' tl3/plan.json
"compile_args": [0, 2048, 2, 2048
"compile_args": [
"compile_args": [2, 2048
$ sed -i 's/"layout": "interleaved", "memory": "l1"/"layout": "height"/' sharded.py; tilewright emit sharded.py --target tenstorrent -o tl4; ls tl4
sharded.py:5:1: error: not possible on Tenstorrent: a tensor that is laid out as `height`; tensors lie interleaved, tile after tile along rows, in DRAM or in the cores' L1; write interleaved or l1, or leave it out [not-on-tenstorrent]
    5 | def gemm(A: T.Tensor((128, 128), "bfloat16"), B: T.Tensor((128, 128), "bfloat16"), C: T.Tensor((128, 128), "bfloat16")):
      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
ls: cannot access 'tl4': No such file or directory
[2]
