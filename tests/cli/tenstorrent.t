# requires: g++
# What Tenstorrent takes, and what it refuses: with the line, the rule and what to do.
#! Tiles that are loaded before a loop, as consumer state of a template, are there in the loop.
$ cat > rotary.tile.c <<'END'
> /* rotary on lcf, output stored from compute: there is no store role */
> #include "kittens.h"
> enum { D = 128, W = 2 };
> typedef st_bf(64, D/2) half_tile;
> struct globals { gl(bf16,-1,-1,-1,D,half_tile) o, x; gl(bf16,1,1,-1,D/2) sin, cos; };
> struct input_block { half_tile x1[W], x2[W]; };
> struct common_state { int seq, batch; };
> struct consumer_state { rt_fl(16, D/2) sin, cos; };
> static void common_setup(lcf_setup_args *a) {
>     int task = a->task_iter * gridDim.x + blockIdx.x;
>     int seqs = cdiv(a->globals->x.rows, 64*W);
>     if (task >= seqs * a->globals->x.batch) { a->num_iters = -1; return; }
>     a->common->seq = task % seqs; a->common->batch = task / seqs;
>     a->num_iters = a->globals->x.depth;
> }
> static void load_(lcf_load_args *a) {
>     if (warpgroup_laneid() == 0) {
>         tma_expect(a->inputs_arrived, a->input);
>         for (int i = 0; i < W; i++) {
>             tma_load_async(&a->input->x1[i], a->globals->x, at(a->common->batch, a->iter, a->common->seq*W+i, 0), a->inputs_arrived);
>             tma_load_async(&a->input->x2[i], a->globals->x, at(a->common->batch, a->iter, a->common->seq*W+i, 1), a->inputs_arrived);
>         }
>     }
> }
> static void csetup(lcf_consumer_setup_args *a) {
>     warpgroup_load(&a->state->sin, a->globals->sin, at(a->common->seq*W+warpgroup_groupid(), 0));
>     warpgroup_load(&a->state->cos, a->globals->cos, at(a->common->seq*W+warpgroup_groupid(), 0));
> }
> static void compute(lcf_compute_args *a) {
>     int id = warpgroup_groupid();
>     rt_fl(16, D/2) x1, x2, t1, t2;
>     warpgroup_load(&x1, &a->input->x1[id]); warpgroup_load(&x2, &a->input->x2[id]);
>     if (laneid() == 0) arrive(a->inputs_finished);
>     warpgroup_mul(&t1, &x1, &a->state->cos); warpgroup_mul(&t2, &x2, &a->state->cos);
>     warpgroup_mul(&x2, &x2, -1.f); warpgroup_mul(&x1, &x1, &a->state->sin); warpgroup_mul(&x2, &x2, &a->state->sin);
>     warpgroup_add(&t1, &t1, &x2); warpgroup_add(&t2, &t2, &x1);
>     warpgroup_store(a->globals->o, &t1, at(a->common->batch, a->iter, a->common->seq*W+id, 0));
>     warpgroup_store(a->globals->o, &t2, at(a->common->batch, a->iter, a->common->seq*W+id, 1));
> }
> lcf_kernel(rotary, .globals = struct globals, .input = struct input_block, .common = struct common_state,
>   .consumer_state = struct consumer_state, .consumer_warps = W*4, .input_stages = 3, .producer_arrivals = 1, .common_setup = common_setup,
>   .producer = {.load = load_}, .consumer = {csetup, compute});
> END
$ tilewright check rotary.tile.c --target tenstorrent --arg g.x=randn:bf16[1,2,128,128] --arg g.o=zeros:bf16[1,2,128,128] --arg g.sin=randn:bf16[128,64] --arg g.cos=randn:bf16[128,64]
note: ran on the functional model of a wormhole grid, 1 of 64 cores; no card is used
g.o: bf16[1, 2, 128, 128], max error 0.0156 at [0, 1, 19, 91] (-2.078125, interpreted -2.0625): ok
g.x: bf16[1, 2, 128, 128], max error 0: ok
g.sin: bf16[128, 64], max error 0: ok
g.cos: bf16[128, 64], max error 0: ok
#! Readers and writers are not ordered: a task does not read what it writes.
$ cat > order.py <<'END'
> import triton
> import triton.language as tl
>
>
> @triton.jit
> def read_back(x, y, C, B: tl.constexpr):
>     r = tl.arange(0, B)
>     at = r[:, None] * C + r[None, :]
>     tl.store(y + at, tl.load(x + at, mask=r[None, :] < C, other=0.0), mask=r[None, :] < C)
>     tl.store(x + at, tl.load(y + at, mask=r[None, :] < C, other=0.0) + 1.0, mask=r[None, :] < C)
>
>
> @triton.jit
> def twice(x, y, C, B: tl.constexpr):
>     r = tl.arange(0, B)
>     at = r[:, None] * C + r[None, :]
>     v = tl.load(x + at, mask=r[None, :] < C, other=0.0)
>     tl.store(y + at, v, mask=r[None, :] < C)
>     tl.store(y + at, v + 1.0, mask=r[None, :] < C - 7)
>
>
> @triton.jit
> def no_end(x, y, C, B: tl.constexpr):
>     r = tl.program_id(0) * B + tl.arange(0, B)
>     at = r[:, None] * C + r[None, :]
>     tl.store(y + at, tl.load(x + at), mask=r[None, :] < C)
>
>
> @triton.jit
> def largest(x, y, C, n, B: tl.constexpr):
>     r = tl.arange(0, B)
>     m = tl.full((B, B), -1.0, tl.float32)
>     for i in range(n):
>         m = tl.maximum(m, tl.load(x + (i * B + r)[:, None] * C + r[None, :], mask=r[None, :] < C, other=0.0))
>     tl.store(y + r[:, None] * C + r[None, :], m, mask=r[None, :] < C)
>
>
> @triton.jit
> def both(x, y, z, C, B: tl.constexpr):
>     r = tl.arange(0, B)
>     at = r[:, None] * C + r[None, :]
>     v = tl.load(x + at, mask=r[None, :] < C, other=0.0)
>     tl.store(y + at, v, mask=r[None, :] < C)
>     tl.store(z + at, v + 1.0, mask=r[None, :] < C)
> END
$ echo --target tenstorrent --arg x=randn:f32[64,64] --arg y=zeros:f32[64,64] --arg C=64 --arg B=32 --grid 1 > args
$ tilewright check order.py:read_back $(cat args)
order.py:9:5: error: not possible on Tenstorrent: loads, arithmetic and stores run on different processors, and this one stays in compute: `tload` in line 10 may concern its memory after it; read what the task writes only in another launch, and compute places from arguments and indices [not-on-tenstorrent]
    9 |     tl.store(y + at, tl.load(x + at, mask=r[None, :] < C, other=0.0), mask=r[None, :] < C)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
order.py:10:22: error: not possible on Tenstorrent: loads, arithmetic and stores run on different processors, and this one stays in compute: `tstore` in line 9 may concern its memory before it; read what the task writes only in another launch, and compute places from arguments and indices [not-on-tenstorrent]
   10 |     tl.store(x + at, tl.load(y + at, mask=r[None, :] < C, other=0.0) + 1.0, mask=r[None, :] < C)
      |                      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright check order.py:twice $(cat args)
note: ran on the functional model of a wormhole grid, 1 of 64 cores; no card is used
x: f32[64, 64], max error 0: ok
y: f32[64, 64], max error 0: ok
$ tilewright check order.py:no_end $(cat args)
note: ran on the functional model of a wormhole grid, 1 of 64 cores; no card is used
x: f32[64, 64], max error 0: ok
y: f32[64, 64], max error 0: ok
$ tilewright check order.py:largest $(cat args) --arg n=2
note: ran on the functional model of a wormhole grid, 1 of 64 cores; no card is used
x: f32[64, 64], max error 0: ok
y: f32[64, 64], max error 0: ok
$ tilewright check order.py:both $(cat args) --arg z=zeros:f32[64,64]
note: ran on the functional model of a wormhole grid, 1 of 64 cores; no card is used
x: f32[64, 64], max error 0: ok
y: f32[64, 64], max error 0: ok
z: f32[64, 64], max error 0: ok
#! indices of three axes
$ tilewright check "$ROOT/tests/fuzz/index_of_rank_3.py" --target tenstorrent --arg x=randn:f32[64] --arg y=zeros:f32[64] --grid 1 2>&1 | grep y:
y: f32[64], max error 0: ok
#! The chip lets a NaN lose or win by its sign: what asks to keep it is refused (docs/numerics.md).
$ cat > kept.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def kept(x, y, M: tl.constexpr):
>     r = tl.arange(0, M)
>     v = tl.load(x + r)
>     tl.store(y + r, tl.maximum(v, 2.0, propagate_nan=tl.PropagateNan.ALL))
>
> @triton.jit
> def tested(x, y, M: tl.constexpr):
>     r = tl.arange(0, M)
>     v = tl.load(x + r)
>     tl.store(y + r, tl.where(v != v, v, tl.maximum(v, 2.0)))
> END
$ tilewright emit kept.py:kept --target tenstorrent --arg x=ones:f32[32] --arg y=zeros:f32[32] --arg M=32
kept.py:8:21: error: not possible on Tenstorrent: a minimum or maximum that keeps NaN; test for it, as in tl.where(x != x, ..) [not-on-tenstorrent]
    8 |     tl.store(y + r, tl.maximum(v, 2.0, propagate_nan=tl.PropagateNan.ALL))
      |                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright check kept.py:tested --target tenstorrent --arg x='full(nan):f32[32]' --arg y=zeros:f32[32] --arg M=32 --grid 1
note: ran on the functional model of a wormhole grid, 1 of 64 cores; no card is used
x: f32[32], max error 0: ok
y: f32[32], max error 0: ok
#! Numbers are computed by small processors without a library of functions: what they lack is refused by name.
$ cat > number.py <<'END'
> import triton
> import triton.language as tl
> @triton.jit
> def kernel(y, C, a):
>     r = tl.arange(0, 32)
>     at = r[:, None] * C + r[None, :]
>     x = tl.load(y + at, mask=r[None, :] < C)
>     tl.store(y + at, x * tl.exp(a), mask=r[None, :] < C)
> END
$ tilewright check number.py --target tenstorrent --arg 'y=randn:f32[32,32]' --arg C=32 --arg a=0.5 --grid 1
note: ran on the functional model of a wormhole grid, 1 of 64 cores; no card is used
y: f32[32, 32], max error 0: ok
#! A matmul of a block a core on 8 x 8 cores: A and B are read once, and sent along rows and columns; without that, 8 times each.
$ cat > gemm.sh <<'END'
> tilewright run $ROOT/kernels/tilelang/gemm.py --target tenstorrent -D M=2048 -D N=2048 -D K=2048 -D dtype=bfloat16 -D block_M=256 -D block_N=256 -D block_K=64 -D num_stages=2 --arg A=zeros:bf16[2048,2048] --arg B=zeros:bf16[2048,2048] --arg C=zeros:bf16[2048,2048] --set model=count "$@" 2>&1 | grep -E 'DRAM|cycles'
> END
$ sh gemm.sh
DRAM: 16777216 bytes read, 8388608 written; between cores 117454848, of them multicast 16779264 bytes sent once
cycles, estimated: 296613; the busiest math unit needs 272896, DRAM 87381: 1.09 times the larger
cb_in_A_shared   16 of 32 pages; waits at most 4157 cycles for pages, 150420 for space
cb_in_B_shared   16 of 32 pages; waits at most 0 cycles for pages, 0 for space
cb_out           64 of 128 pages; waits at most 278693 cycles for pages, 0 for space
cb_zeros         0 of 1 pages; waits at most 0 cycles for pages, 0 for space
cb_sum_C_local   64 of 64 pages; waits at most 704 cycles for pages, 0 for space
cycles/tiles of each core:
$ sh gemm.sh --set multicast=off
DRAM: 134217728 bytes read, 8388608 written; between cores 0, of them multicast 0 bytes sent once
cycles, estimated: 498057; the busiest math unit needs 272896, DRAM 495160: 1.01 times the larger
cb_in_A_shared   32 of 32 pages; waits at most 226894 cycles for pages, 87105 for space
cb_in_B_shared   32 of 32 pages; waits at most 0 cycles for pages, 0 for space
cb_out           64 of 128 pages; waits at most 495670 cycles for pages, 0 for space
cb_zeros         0 of 1 pages; waits at most 0 cycles for pages, 0 for space
cb_sum_C_local   64 of 64 pages; waits at most 704 cycles for pages, 0 for space
cycles/tiles of each core:
#! Causal attention of a block a core: Q, K and V (64 KiB each) are read once, though cores of a head need different numbers of keys.
$ cat > causal.sh <<'END'
> tilewright run $ROOT/kernels/triton/attention.py --target tenstorrent --arg q_ptr=randn:bf16[2,256,64] --arg k_ptr=randn:bf16[2,256,64] --arg v_ptr=randn:bf16[2,256,64] --arg o_ptr=zeros:bf16[2,256,64] --arg scale=0.125 --arg N=256 --arg stride_h=16384 --arg stride_n=64 --arg D=64 --arg BM=32 --arg BN=64 --arg CAUSAL=true --grid 8,2 --set model=count "$@" 2>&1 | grep DRAM:
> END
$ sh causal.sh
DRAM: 196608 bytes read, 65536 written; between cores 917952, of them multicast 131136 bytes sent once
$ sh causal.sh --set multicast=off
DRAM: 720896 bytes read, 65536 written; between cores 0, of them multicast 0 bytes sent once
#! Kernels of a row a program run 32 rows a task: ragged rows and columns, one row, weights that all rows share, sums in loops.
$ cat > rows.sh <<'END'
> kernel=$1; rows=$2; cols=$3; type=$4; shift 4
> tilewright check $ROOT/kernels/triton/$kernel.py --arg stride=$cols --arg n_cols=$cols --arg x_ptr=randn:$type[$rows,$cols] --grid $rows "$@" 2>&1 | grep -E '^(y|out)_ptr|error:' | sed 's/, max error.*: ok/: ok/'
> END
$ sh rows.sh layernorm 50 100 f32 --target tenstorrent --arg y_ptr=zeros:f32[50,100] --arg w_ptr=randn:f32[100] --arg b_ptr=randn:f32[100] --arg eps=1e-5 --arg BLOCK=128
y_ptr: f32[50, 100]: ok
$ sh rows.sh layernorm 64 64 bf16 --target tenstorrent:blackhole --arg y_ptr=zeros:bf16[64,64] --arg w_ptr=randn:bf16[64] --arg b_ptr=randn:bf16[64] --arg eps=1e-5 --arg BLOCK=64
y_ptr: bf16[64, 64]: ok
$ sh rows.sh rmsnorm 33 70 bf16 --target tenstorrent --arg y_ptr=zeros:bf16[33,70] --arg w_ptr=randn:bf16[70] --arg eps=1e-6 --arg BLOCK=128
y_ptr: bf16[33, 70]: ok
$ sh rows.sh rmsnorm 1 32 f32 --target tenstorrent --arg y_ptr=zeros:f32[1,32] --arg w_ptr=randn:f32[32] --arg eps=1e-6 --arg BLOCK=32
y_ptr: f32[1, 32]: ok
$ sh rows.sh row_sum 100 300 f32 --target tenstorrent --arg out_ptr=zeros:f32[100] --arg BLOCK=128
out_ptr: f32[100]: ok
$ sh rows.sh row_sum 5 0 f32 --target tenstorrent --arg out_ptr=zeros:f32[5] --arg BLOCK=64
out_ptr: f32[5]: ok
#! Source registers cut f32 to 11 bits: maxima and minima are found in steps, exactly; sums of loaded numbers in two parts.
$ cat > ends.py <<'EOF'
> import triton
> import triton.language as tl
> @triton.jit
> def ends(x, most, least, C, B: tl.constexpr):
>     r = tl.program_id(0)
>     c = tl.arange(0, B)
>     tl.store(most + r, tl.max(tl.load(x + r * C + c, mask=c < C, other=-float("inf")), axis=0))
>     tl.store(least + r, tl.min(tl.load(x + r * C + c, mask=c < C, other=float("inf")), axis=0))
> EOF
$ tilewright check ends.py --target tenstorrent --arg x=randn:f32[50,77] --arg most=zeros:f32[50] --arg least=zeros:f32[50] --arg C=77 --arg B=128 --grid 50 2>/dev/null
x: f32[50, 77], max error 0: ok
most: f32[50], max error 0: ok
least: f32[50], max error 0: ok
#! What has no lowering is refused by its own name, at its own line; so are old values of atomic updates, and memory that is updated and read.
$ cat > refused.py <<'END'
> import triton
> import triton.language as tl
>
>
> @triton.jit
> def gathered(x, y, B: tl.constexpr):
>     r = tl.arange(0, B)
>     at = r[:, None] * B + r[None, :]
>     tl.store(y + at, tl.gather(tl.load(x + at), (r[:, None] * 7 + r[None, :] * 3) % B, axis=1))
>
>
> @triton.jit
> def counted(x, y, B: tl.constexpr):
>     r = tl.arange(0, B)
>     at = r[:, None] * B + r[None, :]
>     tl.store(y + at, tl.load(x + at) * tl.load(x + tl.program_id(0)))
>
>
> @triton.jit
> def taken(x, y, B: tl.constexpr):
>     tl.store(y + tl.program_id(0), tl.atomic_add(x, 1.0))
>
>
> @triton.jit
> def both(x, y, B: tl.constexpr):
>     r = tl.arange(0, B)
>     tl.atomic_add(y + r, tl.load(x + r) + tl.load(y + r))
>
>
> @triton.jit
> def chased(x, y, B: tl.constexpr):
>     r = tl.arange(0, B)
>     tl.store(y + r, tl.load(tl.load(x.to(tl.pointer_type(tl.int64))).to(tl.pointer_type(tl.float32)) + r))
>
>
> @triton.jit
> def large(x, y, B: tl.constexpr):
>     r = tl.arange(0, B)
>     at = r[:, None] * B + r[None, :]
>     tl.store(y + r, tl.sum(tl.where(tl.load(x + at) > 0, 1000 * r[None, :], 0), 1).to(tl.float32))
> END
$ tilewright check refused.py:counted --target tenstorrent --arg x=ones:f32[64,64] --arg y=zeros:f32[64,64] --arg B=64 --grid 1
note: ran on the functional model of a wormhole grid, 1 of 64 cores; no card is used
x: f32[64, 64], max error 0: ok
y: f32[64, 64], max error 0: ok
$ for k in gathered taken both chased large; do tilewright emit refused.py:$k --target tenstorrent --arg x=ones:f32[64,64] --arg y=zeros:f32[64,64] --arg B=64; done
refused.py:9:22: error: not possible on Tenstorrent: `gather` of a tile; the units of a core compute element by element, products, sums and maxima of rows and columns; write it with those, or use target cpu [not-on-tenstorrent]
    9 |     tl.store(y + at, tl.gather(tl.load(x + at), (r[:, None] * 7 + r[None, :] * 3) % B, axis=1))
      |                      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a target is chosen with --target NAME
refused.py:21:36: error: not possible on Tenstorrent: the old value of an atomic update; cores take turns at memory, and only their writers see it; leave the old value alone, or use target cpu [not-on-tenstorrent]
   21 |     tl.store(y + tl.program_id(0), tl.atomic_add(x, 1.0))
      |                                    ^~~~~~~~~~~~~~~~~~~~~
hint: a target is chosen with --target NAME
refused.py:27:43: error: not possible on Tenstorrent: a load of memory that the kernel updates atomically; what other tasks have added by then is not known; load it in another launch [not-on-tenstorrent]
   27 |     tl.atomic_add(y + r, tl.load(x + r) + tl.load(y + r))
      |                                           ^~~~~~~~~~~~~~
refused.py:33:37: error: not possible on Tenstorrent: an address that is made of a number; arrays are pages in the chip's memory, and only arguments say which; pass the array as an argument, or use target cpu [not-on-tenstorrent]
   33 |     tl.store(y + r, tl.load(tl.load(x.to(tl.pointer_type(tl.int64))).to(tl.pointer_type(tl.float32)) + r))
      |                                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
refused.py:33:29: error: not possible on Tenstorrent: an address that is made of a number; arrays are pages in the chip's memory, and only arguments say which; pass the array as an argument, or use target cpu [not-on-tenstorrent]
   33 |     tl.store(y + r, tl.load(tl.load(x.to(tl.pointer_type(tl.int64))).to(tl.pointer_type(tl.float32)) + r))
      |                             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a target is chosen with --target NAME
refused.py:40:21: error: not possible on Tenstorrent: integers that are computed from data, a sum of integers beyond 256, where compute has floats, exact within 2^24; compute them in floats, or use target cpu [not-on-tenstorrent]
   40 |     tl.store(y + r, tl.sum(tl.where(tl.load(x + at) > 0, 1000 * r[None, :], 0), 1).to(tl.float32))
      |                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a target is chosen with --target NAME
[1]
#! Places that follow no boxes are read one by one; elements beyond an array are the kernel's mistake, with the array's name.
$ cat > odd.py <<'END'
> import triton
> import triton.language as tl
>
>
> @triton.jit
> def pick(x, y, B: tl.constexpr):
>     r = tl.arange(0, B)
>     at = r[:, None] * B + r[None, :]
>     tl.store(y + at, tl.load(x + at * 5 // 3))
>
>
> @triton.jit
> def odd(x, y, B: tl.constexpr):
>     r = tl.arange(0, B)
>     at = r[:, None] * B + r[None, :]
>     tl.store(y + at, tl.load(x + at, mask=(r[:, None] + r[None, :]) % 3 == 0, other=0.0))
> END
$ tilewright check odd.py:pick --target tenstorrent --arg x=randn:f32[1706] --arg y=zeros:f32[32,32] --arg B=32 --grid 1
note: ran on the functional model of a wormhole grid, 1 of 64 cores; no card is used
x: f32[1706], max error 0: ok
y: f32[32, 32], max error 0: ok
$ tilewright run odd.py:odd --target tenstorrent --arg x=randn:f32[64] --arg y=zeros:f32[32,32] --arg B=32 --grid 1
error: kernel `odd` touched memory that is no buffer's (the sanitizer finds the line): core (0,0) reader kernel reader.cpp:20: an address of page 1 of buffer x, which has 1 pages
[1]
#! Cores take turns at atomic updates, in the order of tasks, so that sums of floats have the same bits on one core and on all: many tasks at one cell, two updates
#! of one array, rows that memory chooses, a number of its own, extents of 0 and 1.
$ cat > update.py <<'END'
> import triton
> import triton.language as tl
>
>
> @triton.jit
> def counted(x, h, most, n, B: tl.constexpr):
>     i = tl.program_id(0) * B + tl.arange(0, B)
>     v = tl.load(x + i, mask=i < n, other=0)
>     tl.atomic_add(h + v, 1, mask=i < n)
>     tl.atomic_max(most, tl.max(v.to(tl.float32), 0))
>
>
> @triton.jit
> def met(x, s, C, B: tl.constexpr):
>     i = tl.arange(0, B)
>     v = tl.load(x + tl.program_id(0) * C + i, mask=i < C, other=0.0)
>     tl.atomic_add(s + i, v, mask=i < C)
>     if tl.program_id(0) % 3 == 1:
>         tl.atomic_add(s + i, v * v, mask=i < C)
> END
$ cat > update.sh <<'END'
> for chip in wormhole blackhole; do for cores in 1 0 5; do tilewright check update.py:$1 --target tenstorrent:$chip --set cores=$cores "${@:2}" 2>&1 | grep -vE '^note: ran|max error 0: ok'; done; done; true
> END
$ for n in 3000 2999 1 0; do bash update.sh counted --arg 'x=randint(7):i32[3000]' --arg h=zeros:i32[7] --arg most=zeros:f32[1] --arg n=$n --arg B=256 --grid 12; done
$ bash update.sh met --arg x=randn:f32[100,77] --arg s=randn:f32[77] --arg C=77 --arg B=128 --grid 100
$ bash update.sh met --arg x=randn:bf16[9,1] --arg s=randn:bf16[1] --arg C=1 --arg B=32 --grid 9
$ tilewright check update.py:met --target tenstorrent --set policy=rect --arg x=randn:f32[3,5] --arg s=zeros:f32[5] --arg C=5 --arg B=32 --grid 3
update.py:14:1: error: not possible on Tenstorrent: policy rect with atomic updates, at which cores take turns; write strided, or leave it out [not-on-tenstorrent]
   14 | def met(x, s, C, B: tl.constexpr):
      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
#! Integers of memory are read by the processors that move data, exactly; those that follow from data are floats within 2^24.
$ cat > whole.py <<'END'
> import triton
> import triton.language as tl
>
>
> @triton.jit
> def moved(x, y, n, k, B: tl.constexpr):
>     i = tl.program_id(0) * B + tl.arange(0, B)
>     v = tl.load(x + i, mask=i < n, other=7)
>     tl.store(y + i, (v * 3 + k) // 5 - (v & 12) + tl.where(v > 4, i, 2), mask=i < n)
>
>
> @triton.jit
> def found(x, place, count, C, R: tl.constexpr, B: tl.constexpr):
>     r = tl.program_id(0) * R + tl.arange(0, R)
>     i = tl.arange(0, B)
>     v = tl.load(x + r[:, None] * C + i[None, :], mask=i[None, :] < C, other=-float("inf"))
>     tl.store(place + r, tl.min(tl.where(v == tl.max(v, 1)[:, None], i[None, :], B), 1))
>     tl.store(count + r, tl.sum((v > 0).to(tl.int32), 1) * 2 - 1)
>
>
> @triton.jit
> def narrowed(x, y, z, n, B: tl.constexpr):
>     i = tl.program_id(0) * B + tl.arange(0, B)
>     v = tl.load(x + i, mask=i < n, other=0.0)
>     tl.store(y + i, (v * 100.0).to(tl.int8), mask=i < n)
>     tl.store(z + i, v.to(tl.float8e5), mask=i < n)
> END
$ cat > whole.sh <<'END'
> for chip in wormhole blackhole; do tilewright check whole.py:$1 --tolerance 0 --target tenstorrent:$chip "${@:2}" 2>&1 | grep -vE '^note: ran|max error 0: ok'; done; true
> END
$ for t in i64 i32 i16 u8; do bash whole.sh moved --arg "x=randint(120):$t[300]" --arg y=zeros:$t[300] --arg n=299 --arg k=-3 --arg B=128 --grid 3; done
$ bash whole.sh moved --arg 'x=randint(2147483647):i32[300]' --arg y=zeros:i32[300] --arg n=299 --arg k=-3 --arg B=128 --grid 3
$ bash whole.sh found --arg x=randn:f32[64,77] --arg place=zeros:i32[64] --arg count=zeros:i64[64] --arg C=77 --arg R=32 --arg B=128 --grid 2
$ bash whole.sh narrowed --arg x=randn:f32[1000] --arg y=zeros:i8[1000] --arg z=zeros:f8e5m2[1000] --arg n=999 --arg B=128 --grid 8
$ bash whole.sh narrowed --arg 'x=full(nan):f32[64]' --arg y=zeros:i8[64] --arg z=zeros:f8e5m2[64] --arg n=33 --arg B=32 --grid 2
#! Two launches of one kernel, and memory between them; a second one by updates.
$ cat > split.sh <<'END'
> tilewright check $ROOT/kernels/tilelang/gemm_splitk.py --target tenstorrent -D M=100 -D N=72 -D K=150 -D parts=2 -D dtype=bfloat16 --arg A=randn:bf16[100,150] --arg B=randn:bf16[150,72] --arg C=zeros:f32[100,72] "$@" 2>&1 | grep -vE '^note: ran' | sed 's/, max error.*: ok/: ok/'
> END
$ sh split.sh; sh split.sh -D atomic=True
A: bf16[100, 150]: ok
B: bf16[150, 72]: ok
C: f32[100, 72]: ok
A: bf16[100, 150]: ok
B: bf16[150, 72]: ok
C: f32[100, 72]: ok
#! A maximum over the trips of a loop is exact, too, if anything but a difference is made of it.
$ cat > most.py <<'END'
> import triton
> import triton.language as tl
> @triton.jit
> def most(x, y, N, BM: tl.constexpr, BN: tl.constexpr):
>     r = tl.program_id(0) * BM + tl.arange(0, BM)
>     m = tl.full((BM,), -float("inf"), dtype=tl.float32)
>     for s in range(0, N, BN):
>         m = tl.maximum(m, tl.max(tl.load(x + r[:, None] * N + (s + tl.arange(0, BN))[None, :]), axis=1))
>     tl.store(y + r, m)
> END
$ tilewright check most.py --target tenstorrent --arg x=randn:f32[64,256] --arg y=zeros:f32[64] --arg N=256 --arg BM=32 --arg BN=64 --grid 2 | grep y:
note: ran on the functional model of a wormhole grid, 2 of 64 cores; no card is used
y: f32[64], max error 0: ok
#! Weights and the mask of a row are the same for all tasks: a core reads, or makes, them once (64 x 2 x 2 pages of 2048 bytes, and x).
$ tilewright run $ROOT/kernels/triton/layernorm.py --target tenstorrent --arg stride=64 --arg n_cols=64 --arg x_ptr=randn:bf16[8192,64] --grid 8192 --arg y_ptr=zeros:bf16[8192,64] --arg w_ptr=randn:bf16[64] --arg b_ptr=randn:bf16[64] --arg eps=1e-5 --arg BLOCK=64 --set model=count 2>&1 | grep -E '^DRAM|cb_in_w|cb_index'
DRAM: 1572864 bytes read, 1048576 written; between cores 0, of them multicast 0 bytes sent once
cb_in_w          2 of 2 pages; waits at most 12992 cycles for pages, 0 for space
cb_index0        2 of 2 pages; waits at most 0 cycles for pages, 0 for space
$ cat > truth.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def truth(O: T.Tensor((3, 8), "bool")):
>     with T.Kernel(3) as bx:
>         t = T.alloc_fragment((8,), "bool")
>         T.clear(t)
>         for i in T.Parallel(8):
>             O[bx, i] = t[i]
> END
$ tilewright check truth.py --target tenstorrent --arg O=ones:i1[3,8] | head -1
truth.py:10:13: error: not possible on Tenstorrent: an access to elements of i1; the processors that move them have numbers of 8 to 32 bits, and integers of 64; write it otherwise, or use another target, such as cpu [not-on-tenstorrent]
   10 |             O[bx, i] = t[i]
      |             ^~~~~~~~
