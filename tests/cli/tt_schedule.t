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
"cb_in_a" 2 "row"
"cb_out" 1 "none"
{"rank": 2, "policy": "rect", "order": "column_major", "first_core": [0, 0], "cores": [8, 8], "most_cores": 0},
const u32 task = tw_task(tw_column_major(turn, rows, columns), first_task, columns, rows, row_tasks, plane_tasks);
$ for set in "" policy=contiguous policy=strided "policy=block_linear --set block=3" "policy=rect --set order=z_order --set core_grid=3x2" "policy=contiguous --set order=column_major" "policy=strided --set order=z_order --set seed=3" "chunk=2 --set seed=5" multicast=off
> do tilewright run matmul.py:matmul_kernel $(cat args) --grid 28 ${set:+--set $set} --save c_ptr=c.npy 2>/dev/null >/dev/null; cksum c.npy; done | sort -u | wc -l
1
$ for set in policy=spiral order=match_shard "policy=strided --set multicast=on" block=3 core_grid=9x1 core_grid=3 core_grid=9223372036854775807x1 chunk=3 cb_depths=x:1 cb_depths=in:0 sharding=q=interleaved sharding=a_ptr=l1,a_ptr=dram sharding=a_ptr=tall 'sharding=a_ptr=height;memory=dram' 'sharding=a_ptr=l1;grid=2x2' 'sharding=a_ptr=block;grid=9x1' 'sharding=a_ptr=block;grid=2' 'sharding=a_ptr=width;order=z_order' 'sharding=a_ptr=width,a_ptr=row_major' 'sharding=a_ptr;memory=sram' "sharding=a_ptr=block --set order=match_shard" 'sharding=c_ptr=block;grid=2x2 --set order=match_shard --set core_grid=4x4' 'sharding=c_ptr=block --set order=match_shard --set policy=strided' 'sharding=c_ptr=block --set order=match_shard --set cores=4'
> do tilewright emit matmul.py:matmul_kernel $(cat args) --set $set -o refused 2>&1 | grep error | sed 's/.*error: //'; done; ls refused 2>&1
option policy takes auto, contiguous, strided, rect or block_linear, not `spiral`
not possible on Tenstorrent: order match_shard: no tensor is in shards, tasks follow none; leave the order out [not-on-tenstorrent]
not possible on Tenstorrent: multicast=on: cores share loads on a rectangle only; use policy rect [not-on-tenstorrent]
not possible on Tenstorrent: block=3 with policy="auto"; it is for policy="block_linear"; leave block out [not-on-tenstorrent]
not possible on Tenstorrent: cores 0..8 x 0..0, where a wormhole has 8 x 8; ask for fewer [not-on-tenstorrent]
option core_grid takes columns x rows, as 8x8, not `3`
option core_grid takes columns x rows, as 8x8, not `9223372036854775807x1`
not possible on Tenstorrent: a chunk of 3 tiles along K; a step of the loop takes 2 of them; give a multiple [not-on-tenstorrent]
not possible on Tenstorrent: a chunk of 3 tiles along K; a step of the loop takes 2 of them; give a multiple [not-on-tenstorrent]
not possible on Tenstorrent: a depth of `x`, which is no ring of the kernel; name one that `explain` shows [not-on-tenstorrent]
not possible on Tenstorrent: the depth `in:0`; write a ring and its slots, from 1 to 64, as in:3 [not-on-tenstorrent]
not possible on Tenstorrent: sharding of `q`, which is no parameter of the kernel; name one that is [not-on-tenstorrent]
not possible on Tenstorrent: `a_ptr` both in DRAM and in L1; say one of them [not-on-tenstorrent]
not possible on Tenstorrent: `a_ptr` laid out with `tall`; tensors lie interleaved, tile after tile along rows, in DRAM or in the cores' L1, or there in shards; write interleaved, l1, or height, width or block, with grid=columns x rows and order=row_major or column_major behind it [not-on-tenstorrent]
not possible on Tenstorrent: `a_ptr` both in DRAM and in L1; say one of them [not-on-tenstorrent]
not possible on Tenstorrent: a grid or an order of the shards of `a_ptr`, which is in none; write height, width or block, too [not-on-tenstorrent]
not possible on Tenstorrent: shards of `a_ptr` on 9 x 1 cores, where a wormhole has 8 x 8; ask for fewer [not-on-tenstorrent]
not possible on Tenstorrent: `a_ptr` laid out with `grid=2`; tensors lie interleaved, tile after tile along rows, in DRAM or in the cores' L1, or there in shards; write interleaved, l1, or height, width or block, with grid=columns x rows and order=row_major or column_major behind it [not-on-tenstorrent]
not possible on Tenstorrent: `a_ptr` laid out with `order=z_order`; tensors lie interleaved, tile after tile along rows, in DRAM or in the cores' L1, or there in shards; write interleaved, l1, or height, width or block, with grid=columns x rows and order=row_major or column_major behind it [not-on-tenstorrent]
not possible on Tenstorrent: `a_ptr` both interleaved and in shards; say one of them [not-on-tenstorrent]
not possible on Tenstorrent: `a_ptr` laid out with `memory=sram`; tensors lie interleaved, tile after tile along rows, in DRAM or in the cores' L1, or there in shards; write interleaved, l1, or height, width or block, with grid=columns x rows and order=row_major or column_major behind it [not-on-tenstorrent]
not possible on Tenstorrent: order match_shard: the boxes of no tensor in shards move with the tasks as its shards do; leave the order out [not-on-tenstorrent]
not possible on Tenstorrent: order match_shard, and other cores; tasks lie where the shards of `c_ptr` do; leave one of them out [not-on-tenstorrent]
not possible on Tenstorrent: order match_shard, and another policy than rect; tasks lie where the shards of `c_ptr` do; leave one of them out [not-on-tenstorrent]
not possible on Tenstorrent: order match_shard, and a number of cores; tasks lie where the shards of `c_ptr` do; leave one of them out [not-on-tenstorrent]
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
DRAM: 67584 bytes read, 57344 written; between cores 368820, of them multicast 90156 bytes sent once
2369398975 40128 c.npy
DRAM: 43008 bytes read, 57344 written; between cores 393396, of them multicast 90156 bytes sent once
2369398975 40128 c.npy
DRAM: 0 bytes read, 0 written; between cores 493748, of them multicast 90156 bytes sent once
2369398975 40128 c.npy
#! In shards: each core of a grid holds a part in its L1, reads its own from there, and tasks lie where the shards do if that is asked for.
$ tilewright emit matmul.py:matmul_kernel $(cat args) --set 'sharding=a_ptr=height,b_ptr=width;grid=5x2;order=column_major,c_ptr=block;grid=3x2' --set order=match_shard -o sharded > /dev/null; grep -o '"shards": {[^}]*}' sharded/plan.json; grep -o '"tasks": .*' sharded/plan.json; grep TwSharded sharded/reader.cpp; grep -E 'tw_write_page|TwSharded' sharded/writer.cpp; grep -E 'create_shards|grid.follows' sharded/host.cpp
"shards": {"cut": "height", "order": "row_major", "first_core": [0, 0], "cores": [8, 8]}
"shards": {"cut": "width", "order": "column_major", "first_core": [0, 0], "cores": [5, 2]}
"shards": {"cut": "block", "order": "row_major", "first_core": [0, 0], "cores": [3, 2]}
"tasks": {"rank": 2, "policy": "rect", "order": "match_shard", "follows": 0, "turned": false, "first_core": [0, 0], "cores": [8, 8], "most_cores": 0},
    const TwSharded<2048, 1, 8, false, 3, 11> a_ptr_pages{a_ptr_address, a_ptr_n1, a_ptr_shard_rows, a_ptr_shard_columns};
    const TwSharded<2048, 10, 2, true, 3, 11> b_ptr_pages{b_ptr_address, b_ptr_n1, b_ptr_shard_rows, b_ptr_shard_columns};
    const TwSharded<2048, 3, 3, false, 3, 11> c_ptr_pages{c_ptr_address, c_ptr_n1, c_ptr_shard_rows, c_ptr_shard_columns};
            if (page != TW_OUTSIDE) tw_write_page(page, c_ptr_pages, from);
            tensors[0].create_shards(device.get(), TwShards{TW_HEIGHT, false, {0, 0}, {8, 8}});
            tensors[1].create_shards(device.get(), TwShards{TW_WIDTH, true, {0, 0}, {5, 2}});
            tensors[2].create_shards(device.get(), TwShards{TW_BLOCK, false, {0, 0}, {3, 2}});
    grid.follows = TwShards{TW_HEIGHT, false, {0, 0}, {8, 8}};
$ for set in 'sharding=a_ptr=height' 'sharding=a_ptr=height --set order=match_shard' 'sharding=a_ptr=block,b_ptr=block;order=column_major,c_ptr=width;grid=3x3 --set order=match_shard --set seed=5' 'sharding=c_ptr=block --set order=match_shard' 'sharding=a_ptr=height;grid=1x4,b_ptr=width;grid=7x1,c_ptr=block --set seed=2'; do tilewright run matmul.py:matmul_kernel $(cat args) --grid 28 --set $set --save c_ptr=c.npy 2>&1 | grep -E '^DRAM|^shards'; cksum c.npy; done
DRAM: 43008 bytes read, 57344 written; between cores 387252, of them multicast 90156 bytes sent once
shards: 6144 bytes read by the cores that hold them, 18432 by others
2369398975 40128 c.npy
DRAM: 172032 bytes read, 57344 written; between cores 0, of them multicast 0 bytes sent once
shards: 172032 bytes read by the cores that hold them, 0 by others
2369398975 40128 c.npy
DRAM: 0 bytes read, 0 written; between cores 321536, of them multicast 0 bytes sent once
shards: 22528 bytes read by the cores that hold them, 321536 by others
2369398975 40128 c.npy
DRAM: 67584 bytes read, 0 written; between cores 368820, of them multicast 90156 bytes sent once
shards: 0 bytes read by the cores that hold them, 0 by others
2369398975 40128 c.npy
DRAM: 0 bytes read, 0 written; between cores 381108, of them multicast 90156 bytes sent once
shards: 55296 bytes read by the cores that hold them, 12288 by others
2369398975 40128 c.npy
#! Rows of a kernel lie where its shards do, unasked: nothing leaves its core.
$ for set in model=full 'sharding=in_ptr=height,out_ptr=height' 'sharding=in_ptr=height;grid=2x8;order=column_major,out_ptr=height;grid=2x8;order=column_major'; do tilewright run "$ROOT/kernels/triton/softmax.py:softmax_kernel" --target tenstorrent --arg in_ptr=randn:f32[500,77] --arg out_ptr=zeros:f32[500,77] --arg in_stride=77 --arg out_stride=77 --arg n_cols=77 --arg BLOCK=128 --grid 500 --set $set --save out_ptr=o.npy 2>&1 | grep -E '^DRAM|^shards|shard lies'; cksum o.npy; done
DRAM: 196608 bytes read, 196608 written; between cores 0, of them multicast 0 bytes sent once
853274147 154128 o.npy
DRAM: 0 bytes read, 0 written; between cores 0, of them multicast 0 bytes sent once
shards: 196608 bytes read by the cores that hold them, 0 by others
rows,columns of tasks of each core, where its shard lies:
853274147 154128 o.npy
DRAM: 0 bytes read, 0 written; between cores 0, of them multicast 0 bytes sent once
shards: 196608 bytes read by the cores that hold them, 0 by others
rows,columns of tasks of each core, where its shard lies:
853274147 154128 o.npy
#! What is in shards is refused where no page is moved, or where there is no height.
$ cp "$ROOT/kernels/triton/add.py" .; tilewright emit add.py --target tenstorrent --arg x_ptr=randn:f32[50000] --arg y_ptr=randn:f32[50000] --arg output_ptr=zeros:f32[50000] --arg n_elements=50000 --arg BLOCK_SIZE=1024 --set sharding=x_ptr=height -o never 2>&1 | grep -A1 error
add.py:24:9: error: not possible on Tenstorrent: `x_ptr` cut along its height; here it has one dimension; write width [not-on-tenstorrent]
   24 |     x = tl.load(x_ptr + offsets, mask=mask)
$ sed 's/x_ptr + offsets, mask=mask/x_ptr + offsets, mask=offsets % 3 == 1/' add.py > third.py; tilewright emit third.py --target tenstorrent --arg x_ptr=randn:f32[50000] --arg y_ptr=randn:f32[50000] --arg output_ptr=zeros:f32[50000] --arg n_elements=50000 --arg BLOCK_SIZE=1024 --set sharding=x_ptr=width,y_ptr=width -o never 2>&1 | grep -A1 error; ls never
third.py:24:9: error: not possible on Tenstorrent: `x_ptr` in shards, which this access moves element by element; leave it interleaved [not-on-tenstorrent]
   24 |     x = tl.load(x_ptr + offsets, mask=offsets % 3 == 1)
ls: cannot access 'never': No such file or directory
[2]
#! L1 that does not suffice is told before anything runs.
$ tilewright run "$ROOT/kernels/triton/softmax.py:softmax_kernel" --target tenstorrent --arg in_ptr=zeros:f32[8192,1024] --arg out_ptr=zeros:f32[8192,1024] --arg in_stride=1024 --arg out_stride=1024 --arg n_cols=1024 --arg BLOCK=1024 --grid 8192 --set 'sharding=in_ptr=height;grid=2x2'
error: kernel `softmax_kernel`: argument `in_ptr` takes 8388608 bytes of each core's L1, and the circular buffers and other tensors leave 460800; leave it in DRAM
[1]
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
$ tilewright emit gemm.py --target tenstorrent -o tl > /dev/null && grep -E '"tasks"|cb_in_' tl/plan.json | sed 's/, "holds.*"slots": \([0-9]*\).*/ \1/'
    {"id": 0, "name": "cb_in_a" 2
    {"id": 1, "name": "cb_in_b" 2
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
$ sed -i 's/"layout": "interleaved", "memory": "l1"/"layout": "height", "grid": (2, 4), "order": "column_major"/' sharded.py; tilewright emit sharded.py --target tenstorrent -o tl4 > /dev/null && grep -o '"shards": {[^}]*}' tl4/plan.json; sed -i 's/"memory": "dram"/"layout": "block", "memory": "dram"/' sharded.py; tilewright emit sharded.py --target tenstorrent -o tl5; ls tl5
"shards": {"cut": "height", "order": "column_major", "first_core": [0, 0], "cores": [2, 4]}
sharded.py:5:1: error: not possible on Tenstorrent: `C` both in DRAM and in L1; say one of them [not-on-tenstorrent]
    5 | def gemm(A: T.Tensor((128, 128), "bfloat16"), B: T.Tensor((128, 128), "bfloat16"), C: T.Tensor((128, 128), "bfloat16")):
      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
ls: cannot access 'tl5': No such file or directory
[2]
