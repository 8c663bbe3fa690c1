# requires: g++
# Every argument of TileLang's annotations for Tenstorrent changes the plan as it says, or is an error with its line: by an option of the same name, too.
$ cat > gemm.py <<'END'
> import tilelang.language as T
> from tilelang.tt import annotate_tt_schedule, annotate_tt_sharding
> @annotate_tt_schedule(WORDS)
> @annotate_tt_sharding({SHARDS})
> @T.prim_func
> def gemm(A: T.Tensor((256, 128), "bfloat16"), B: T.Tensor((128, 256), "bfloat16"), C: T.Tensor((256, 256), "bfloat16")):
>     with T.Kernel(8, 8) as (bx, by):
>         a = T.alloc_shared((32, 64), "bfloat16")
>         b = T.alloc_shared((64, 32), "bfloat16")
>         c = T.alloc_fragment((32, 32), "float32")
>         T.clear(c)
>         for k in T.Pipelined(2):
>             T.copy(A[by * 32, k * 64], a)
>             T.copy(B[k * 64, bx * 32], b)
>             T.gemm(a, b, c)
>         T.copy(c, C[by * 32, bx * 32])
> END
$ cat > plan.py <<'END'
> import json, sys
> plan = json.load(open("out/plan.json"))
> tasks = plan["tasks"]
> cbs = {cb["name"][3:]: (cb["slots"], cb["multicast"]) for cb in plan["circular_buffers"] if cb["name"][3:5] in ("in", "ou")}
> print(" ", *(f"{name}={tasks[name]}" for name in ("policy", "order", "block", "first_core", "cores", "most_cores") if name in tasks), *(f"{name}:{slots} {share}" for name, (slots, share) in cbs.items()))
> for buffer in plan["buffers"]:
>     if buffer["memory"] != "dram" or "shards" in buffer: print("  ", buffer["name"], buffer["direction"], buffer["memory"], *(f"{name}={value}" for name, value in buffer.get("shards", {}).items()))
> END
$ cat > try.sh <<'END'
> sed -e "s/WORDS/$1/" -e "s/SHARDS/$2/" gemm.py > one.py; rm -rf out; shift 2
> tilewright emit one.py --target tenstorrent "$@" -o out > /dev/null 2> said && python3 plan.py || sed -n 1,3p said; ls out 2> /dev/null | grep -c plan.json
> END
#! What is there without a word.
$ sh try.sh "" ""
  policy=rect order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 row in_b:3 column out:2 none
1
#! Each word.
$ for words in 'policy="contiguous"' 'policy="strided"' 'policy="strided", stride=(0, 12)' 'policy="rect"' 'policy="rect", rect=(1, 2, 4, 5)' 'policy="block_linear", block=3' 'order="column_major"' 'order="z_order"' 'chunk_k_tiles=6' 'core_grid=(4, 2)' 'cb_depths={"in": 5, "out": 1}' 'cb_depths="in:2"' 'multicast=False' 'multicast=True'; do echo "$words"; sh try.sh "$words" ""; done
policy="contiguous"
  policy=contiguous order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 none in_b:3 none out:2 none
1
policy="strided"
  policy=strided order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 none in_b:3 none out:2 none
1
policy="strided", stride=(0, 12)
  policy=strided order=row_major first_core=[0, 0] cores=[8, 8] most_cores=12 in_a:3 none in_b:3 none out:2 none
1
policy="rect"
  policy=rect order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 row in_b:3 column out:2 none
1
policy="rect", rect=(1, 2, 4, 5)
  policy=rect order=row_major first_core=[2, 1] cores=[5, 4] most_cores=0 in_a:3 row in_b:3 column out:2 none
1
policy="block_linear", block=3
  policy=block_linear order=row_major block=3 first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 none in_b:3 none out:2 none
1
order="column_major"
  policy=rect order=column_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 row in_b:3 column out:2 none
1
order="z_order"
  policy=rect order=z_order first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 row in_b:3 column out:2 none
1
chunk_k_tiles=6
  policy=rect order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 row in_b:3 column out:2 none
1
core_grid=(4, 2)
  policy=rect order=row_major first_core=[0, 0] cores=[4, 2] most_cores=0 in_a:3 row in_b:3 column out:2 none
1
cb_depths={"in": 5, "out": 1}
  policy=rect order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:5 row in_b:5 column out:1 none
1
cb_depths="in:2"
  policy=rect order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:2 row in_b:2 column out:2 none
1
multicast=False
  policy=contiguous order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 none in_b:3 none out:2 none
1
multicast=True
  policy=rect order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 row in_b:3 column out:2 none
1
#! Where tensors lie.
$ for shards in '"A": {"memory": "l1"}, "B": {"memory": "dram"}' '"A": "height"' '"A": {"layout": "block", "grid": (4, 2)}, "C": {"layout": "width", "order": "column_major"}'; do echo "$shards"; sh try.sh "" "$shards"; done
"A": {"memory": "l1"}, "B": {"memory": "dram"}
  policy=rect order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 row in_b:3 column out:2 none
   A input l1
1
"A": "height"
  policy=rect order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 row in_b:3 column out:2 none
   A input l1 cut=height order=row_major first_core=[0, 0] cores=[8, 8]
1
"A": {"layout": "block", "grid": (4, 2)}, "C": {"layout": "width", "order": "column_major"}
  policy=rect order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:3 row in_b:3 column out:2 none
   A input l1 cut=block order=row_major first_core=[0, 0] cores=[4, 2]
   C output l1 cut=width order=column_major first_core=[0, 0] cores=[8, 8]
1
$ sh try.sh 'order="match_shard"' '"C": {"layout": "block", "grid": (4, 4), "order": "column_major"}'
  policy=rect order=match_shard first_core=[0, 0] cores=[4, 4] most_cores=0 in_a:3 row in_b:3 column out:2 none
   C output l1 cut=block order=column_major first_core=[0, 0] cores=[4, 4]
1
#! Options win over annotations.
$ sh try.sh 'policy="strided", cb_depths={"in": 5}, multicast=False' '"A": "height"' --set policy=rect --set multicast=on --set cb_depths=in:2 --set sharding=A=l1
  policy=rect order=row_major first_core=[0, 0] cores=[8, 8] most_cores=0 in_a:2 row in_b:2 column out:2 none
   A input l1
1
#! What is no word, or contradicts another.
$ for words in 'policy="round"' 'order="rows"' 'chunk_k_tiles=0' 'chunk_k_tiles=3' 'core_grid=(9, 1)' 'core_grid=4' 'rect=(0, 0, 4)' 'policy="strided", rect=(0, 0, 2, 2)' 'policy="strided", stride=(1, 4)' 'stride=(0, 4)' 'block=4' 'cb_depths={"around": 2}' 'cb_depths={"in": 0}' 'cb_depths=3' 'multicast=2' 'policy="contiguous", multicast=True' 'order="match_shard"' 'depth=3'; do echo "$words"; sh try.sh "$words" "" | grep -v '^ '; done
policy="round"
one.py:3:30: error: round is no policy; write one of "contiguous", "strided", "rect", "block_linear" [option]
0
order="rows"
one.py:3:29: error: rows is no order; write one of "row_major", "column_major", "z_order", "match_shard" [option]
0
chunk_k_tiles=0
one.py:3:37: error: `chunk_k_tiles`: 0 is no integer from 1 to 16 [annotation]
0
chunk_k_tiles=3
one.py:13:13: error: not possible on Tenstorrent: a chunk of 3 tiles along K; a step of the loop takes 2 of them; give a multiple [not-on-tenstorrent]
0
core_grid=(9, 1)
one.py:6:1: error: not possible on Tenstorrent: cores 0..8 x 0..0, where a wormhole has 8 x 8; ask for fewer [not-on-tenstorrent]
0
core_grid=4
one.py:3:33: error: `core_grid`: 4 is no tuple of 2 integers from 1 to 1024 [annotation]
0
rect=(0, 0, 4)
one.py:3:28: error: `rect`: (0, 0, 4) is no tuple of 4 integers from 0 to 1024 [annotation]
0
policy="strided", rect=(0, 0, 2, 2)
one.py:6:1: error: not possible on Tenstorrent: rect=.. with policy="strided"; it places the cores of policy="rect"; leave rect out [not-on-tenstorrent]
0
policy="strided", stride=(1, 4)
one.py:6:1: error: not possible on Tenstorrent: stride=(1, 4): tasks would be left out; core i begins with task i, and the step is the number of cores; write (0, cores) [not-on-tenstorrent]
0
stride=(0, 4)
one.py:6:1: error: not possible on Tenstorrent: stride=.. with policy="auto"; it is for policy="strided"; leave stride out [not-on-tenstorrent]
0
block=4
one.py:6:1: error: not possible on Tenstorrent: block=4 with policy="auto"; it is for policy="block_linear"; leave block out [not-on-tenstorrent]
0
cb_depths={"around": 2}
one.py:6:1: error: not possible on Tenstorrent: a depth of `around`, which is no ring of the kernel; name one that `explain` shows [not-on-tenstorrent]
0
cb_depths={"in": 0}
one.py:6:1: error: not possible on Tenstorrent: the depth `in:0`; write a ring and its slots, from 1 to 64, as in:3 [not-on-tenstorrent]
0
cb_depths=3
one.py:3:33: error: `cb_depths`: 3 is no dict of rings and slots: {"in": 3, "out": 2} [annotation]
0
multicast=2
one.py:3:33: error: `multicast`: 2 is neither True nor False [annotation]
0
policy="contiguous", multicast=True
one.py:6:1: error: not possible on Tenstorrent: multicast=on: cores share loads on a rectangle only; use policy rect [not-on-tenstorrent]
0
order="match_shard"
one.py:6:1: error: not possible on Tenstorrent: order match_shard: no tensor is in shards, tasks follow none; leave the order out [not-on-tenstorrent]
0
depth=3
one.py:3:29: error: `annotate_tt_schedule`: there is no argument `depth`; there are policy, order, chunk_k_tiles, block, rect, stride, core_grid, cb_depths and multicast [annotation]
0
$ for shards in '"D": "l1"' '"A": "tall"' '"A": {"layout": "sharded"}' '"A": {"layout": "column_major"}' '"A": {"memory": "sram"}' '"A": {"layout": "height", "memory": "dram"}' '"A": {"grid": (2, 2)}' '"A": {"layout": "block", "grid": (9, 9)}' '"A": {"layout": "block", "grid": 4}' '"A": {"layout": "block", "order": "z_order"}' '"A": {"faces": 2}'; do echo "$shards"; sh try.sh "" "$shards" | grep -v '^ '; done
"D": "l1"
one.py:4:23: error: `annotate_tt_sharding`: D is no tensor among the parameters of `gemm` [annotation]
0
"A": "tall"
one.py:4:23: error: tall is no layout; write one of row_major column_major interleaved sharded height width block [option]
0
"A": {"layout": "sharded"}
one.py:6:1: error: not possible on Tenstorrent: `A` laid out with `layout=sharded`; tensors lie interleaved, tile after tile along rows, in DRAM or in the cores' L1, or there in shards; write interleaved, l1, or height, width or block, with grid=columns x rows and order=row_major or column_major behind it [not-on-tenstorrent]
0
"A": {"layout": "column_major"}
one.py:6:1: error: not possible on Tenstorrent: `A` laid out with `layout=column_major`; tensors lie interleaved, tile after tile along rows, in DRAM or in the cores' L1, or there in shards; write interleaved, l1, or height, width or block, with grid=columns x rows and order=row_major or column_major behind it [not-on-tenstorrent]
0
"A": {"memory": "sram"}
one.py:4:23: error: sram is no memory; write one of dram l1 [option]
0
"A": {"layout": "height", "memory": "dram"}
one.py:6:1: error: not possible on Tenstorrent: `A` both in DRAM and in L1; say one of them [not-on-tenstorrent]
0
"A": {"grid": (2, 2)}
one.py:6:1: error: not possible on Tenstorrent: a grid or an order of the shards of `A`, which is in none; write height, width or block, too [not-on-tenstorrent]
0
"A": {"layout": "block", "grid": (9, 9)}
one.py:6:1: error: not possible on Tenstorrent: shards of `A` on 9 x 9 cores, where a wormhole has 8 x 8; ask for fewer [not-on-tenstorrent]
0
"A": {"layout": "block", "grid": 4}
one.py:4:23: error: 4 is no grid; write one of the pairs of two integers from 1 to 1024 [option]
0
"A": {"layout": "block", "order": "z_order"}
one.py:4:23: error: z_order is no order; write one of row_major column_major [option]
0
"A": {"faces": 2}
one.py:4:23: error: `annotate_tt_sharding`: there is no faces; there are "layout", "memory", "order" and "grid" [annotation]
0
#! No word changes a bit.
$ for words in '' 'policy="strided"' 'policy="rect", rect=(1, 2, 4, 5)' 'policy="block_linear", block=3, order="column_major"' 'order="z_order"' 'chunk_k_tiles=2' 'core_grid=(4, 2), cb_depths={"in": 1, "out": 1}' 'multicast=False'; do sed -e "s/WORDS/$words/" -e 's/SHARDS//' gemm.py > one.py; tilewright run one.py --target tenstorrent --arg A=randn:bf16[256,128] --arg B=randn:bf16[128,256] --arg C=zeros:bf16[256,256] --set seed=9 --set join=1x1 --save C=c.npy > /dev/null 2>&1 || echo failed; cksum < c.npy; rm c.npy; done | uniq -c | awk '{print $1}'
8
$ for shards in '' '"A": {"memory": "l1"}, "C": {"memory": "l1"}' '"A": "height", "B": "width", "C": "block"' '"A": {"layout": "block", "grid": (4, 2)}, "C": {"layout": "width", "order": "column_major"}'; do sed -e "s/WORDS//" -e "s/SHARDS/$shards/" gemm.py > one.py; tilewright run one.py --target tenstorrent --arg A=randn:bf16[256,128] --arg B=randn:bf16[128,256] --arg C=zeros:bf16[256,256] --set seed=9 --set join=1x1 --save C=c.npy > /dev/null 2>&1 || echo failed; cksum < c.npy; rm c.npy; done | uniq -c | awk '{print $1}'
4
