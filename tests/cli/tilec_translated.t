# What ThunderKittens' kernels do as a matter of course, and what stands here as it is written there.
#! Tiles of 16 rows, one a warp, among consumers of 64 rows each; a barrier of both that is one of them elsewhere.
$ cat > rows.tile.c <<'END'
> #include "kittens.h"
> typedef st_fl(16, 64) part;
> struct globals { gl(float, 1, 1, -1, 64, part) x, o; gl(float, 1, 1, 1, 64) w; };
> struct block { part t[8]; };
> struct scratch { sv_fl(64) w; };
> struct state { rt_fl(16, 64) bias; };
> static void common(lcsf_setup_args *a) { a->num_iters = a->task_iter ? -1 : cdiv(a->globals->x.rows, 128); }
> static void in(lcsf_load_args *a) {
>     if (warpgroup_laneid() == 0) {
>         tma_expect(a->inputs_arrived, a->input);
>         for (int i = 0; i < 8; i++) tma_load_async(&a->input->t[i], a->globals->x, at(8 * a->iter + i, 0), a->inputs_arrived);
>     }
> }
> static void out(lcsf_store_args *a) {
>     if (warpgroup_laneid() == 0) {
>         for (int i = 0; i < 8; i++) tma_store_async(a->globals->o, &a->output->t[i], at(8 * a->iter + i, 0));
>         tma_store_async_read_wait();
>         arrive(a->outputs_finished);
>     }
> }
> static void csetup(lcsf_consumer_setup_args *a) {
>     row_vec(rt_fl(16, 64)) w;
>     group8_load(&a->scratch->w, a->globals->w, at(0));
>     group8_sync(0);
>     warp_load(&w, &a->scratch->w);
>     warp_broadcast_col(&a->state->bias, &w);
> }
> static void compute(lcsf_compute_args *a) {
>     rt_fl(16, 64) t, first;
>     warp_load(&t, &a->input->t[warpid()]);
>     warp_load(&first, a->globals->x, at(warpid(), 0));
>     if (laneid() == 0) arrive(a->inputs_finished);
>     warp_add(&t, &t, &first);
>     warp_mul(&t, &t, &a->state->bias);
>     warpgroup_sync(warpgroup_groupid());
>     warp_store(&a->output->t[warpid()], &t);
>     __syncwarp();
>     if (laneid() == 0) arrive(a->outputs_arrived);
> }
> static void finish(lcsf_finish_args *a) { if (laneid() == 0) arrive(a->finish_finished); }
> lcsf_kernel(rows, .globals = struct globals, .input = struct block, .output = struct block, .scratch = struct scratch,
>     .consumer_state = struct state, .consumer_warps = 8, .input_stages = 2, .output_stages = 2, .producer_arrivals = 1,
>     .common_setup = common, .producer = {.load = in, .store = out}, .consumer = {csetup, compute, finish});
> END
$ cat > plain.tile.c <<'END'
> #include "kittens.h"
> struct globals { gl(float, 1, 1, -1, 64) x, o; gl(float, 1, 1, 1, 64) w; };
> tile_kernel(WARP_THREADS, 1) tile_grid(cdiv(g.x.rows, 16))
> void plain(struct globals g) {
>     rt_fl(16, 64) t, first;
>     row_vec(rt_fl(16, 64)) w;
>     load(&t, g.x, at(blockIdx.x, 0));
>     load(&first, g.x, at(blockIdx.x % 8, 0));
>     load(&w, g.w, at(0));
>     add(&t, &t, &first);
>     mul_col(&t, &t, &w);
>     store(g.o, &t, at(blockIdx.x, 0));
> }
> END
$ echo "--arg g.x=randn:f32[200,64] --arg g.w=randn:f32[64] --arg g.o=zeros:f32[200,64]" > rows.args
$ tilewright run plain.tile.c $(cat rows.args) --save g.o=o.npy
$ tilewright run rows.tile.c --target interp $(cat rows.args) --save g.o=written.npy; cmp o.npy written.npy
$ for target in cpu 'cuda --emulate'; do tilewright check rows.tile.c --target $target $(cat rows.args) --expect g.o=o.npy; done
g.o: f32[200, 64], max error 0: ok
g.o: f32[200, 64], max error 0: ok
$ sed 's/input->t.warpid().)/input->t[(warpid() * 3) % 8])/' rows.tile.c > r.tile.c; tilewright run r.tile.c $(cat rows.args) 2>&1 | head -1
r.tile.c:30:5: error: `warp_load` works with one warp; write warpgroup_ before it: here 4 warps work together [scope]
$ sed 's/input->t.warpid().)/input->t[warpid() + 1])/' rows.tile.c > r.tile.c; tilewright run r.tile.c $(cat rows.args) 2>&1 | head -1
r.tile.c:30:32: error: index 8 is out of range 0..7 [index-range]
$ sed 's/x, at(warpid(), 0)/x, at(warpid() % 4, 0)/' rows.tile.c > r.tile.c; tilewright run r.tile.c $(cat rows.args) --save g.o=other.npy; cmp -s o.npy other.npy || echo other rows
other rows
$ sed 's/    warpgroup_sync(warpgroup_groupid());/& group8_sync(0);/' rows.tile.c > r.tile.c; tilewright run r.tile.c $(cat rows.args) 2>&1 | head -1
r.tile.c:35:42: error: a whole role meets here at barrier 0, at which a warpgroup of it may still be meeting by itself; give each group a number of its own [barrier]
#! Loads ahead by a thread of a consumer; more stages than are waited for at first; loops that begin and end with a block's number; an array's name as a pointer; a product's operand overwritten behind it.
$ cat > roles.tile.c <<'END'
> #include "kittens.h"
> enum { STAGES = 4 };
> typedef st_bf(64, 64) tile;
> struct globals { gl(bf16, 1, 1, -1, 64, tile) q; gl(bf16, 1, 1, -1, 64, tile) k; gl(float, 1, 1, -1, 64) o; gl(float, 1, 1, 1, -1) scale; int late; };
> tile_grid(cdiv(g.q.rows, 128))
> __global__ __launch_bounds__(3 * WARPGROUP_THREADS, 1)
> void scores(struct globals g) {
>     tile q[2], k[STAGES];
>     tile *reused = q;
>     float scale;
>     int first = g.late * (blockIdx.x * 2), last = blockIdx.x == 0 ? 2 : 2 * blockIdx.x + 2;
>     semaphore q_here, full[STAGES], done[STAGES];
>     load(&scale, g.scale, at(blockIdx.x));
>     if (threadIdx.x == 0) {
>         init_semaphore(&q_here, 0, 1);
>         for (int i = 0; i < STAGES; i++) {
>             init_semaphore(&full[i], 0, 1);
>             init_semaphore(&done[i], 2, 0);
>         }
>         tma_expect_bytes(&q_here, sizeof(q));
>         for (int w = 0; w < 2; w++) tma_load_async(&q[w], g.q, at(blockIdx.x * 2 + w, 0), &q_here);
>         for (int i = 0; i < STAGES - 1; i++) {
>             tma_expect(&full[i], &k[i]);
>             tma_load_async(&k[i], g.k, at(first + i, 0), &full[i]);
>         }
>     }
>     __syncthreads();
>     if (warpgroup_groupid() == 2) {
>         if (warpgroup_warpid() == 0)
>             for (int j = first + STAGES - 1; j <= last; j++) {
>                 int i = j - first;
>                 warp_tma_expect(&full[i % STAGES], &k[i % STAGES]);
>                 warp_tma_load_async(&k[i % STAGES], g.k, at(j, 0), &full[i % STAGES]);
>                 wait(&done[(i - 1) % STAGES], (i - 1) / STAGES % 2);
>             }
>     } else {
>         rt_fl(16, 64) sum, s;
>         warp_zero(&sum);
>         wait(&q_here, 0);
>         for (int j = first; j <= last; j++) {
>             int i = j - first;
>             wait(&full[i % STAGES], i / STAGES % 2);
>             warpgroup_mm_ABt(&s, &q[warpgroup_groupid()], &k[i % STAGES]);
>             warpgroup_mma_async_wait();
>             warp_mul(&s, &s, scale);
>             warp_add(&sum, &sum, &s);
>             if (warpgroup_laneid() == 0) arrive(&done[i % STAGES]);
>         }
>         warpgroup_store(&reused[warpgroup_groupid()], &sum);
>         group8_sync(1);
>         warpgroup_load(&s, &reused[1 - warpgroup_groupid()]);
>         warp_add(&sum, &sum, &s);
>         warpgroup_store(g.o, &sum, at(blockIdx.x * 2 + warpgroup_groupid(), 0));
>     }
> }
> END
$ echo "--arg g.q=randn:bf16[256,64] --arg g.k=randn:bf16[512,64] --arg g.o=zeros:f32[256,64] --arg g.scale=randn:f32[2]" > roles.args
$ for late in 0 1; do for target in cpu 'cuda --emulate'; do tilewright check roles.tile.c --target $target $(cat roles.args) --arg g.late=$late | sed 's/max error.*: //' | grep g.o; done; done
g.o: f32[256, 64], ok
g.o: f32[256, 64], ok
g.o: f32[256, 64], ok
g.o: f32[256, 64], ok
$ sed 's/(i - 1) % STAGES/i % STAGES/; s/(i - 1) . STAGES % 2/(i \/ STAGES + 1) % 2/' roles.tile.c > r.tile.c; tilewright run r.tile.c $(cat roles.args) --arg g.late=0 2>&1 | head -1
r.tile.c:42:13: error: warpgroup 0 waits here for ever: 1 of 1 arrivals of phase 2 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
$ sed 's/reused.warpgroup_groupid()., &sum/reused[1 - warpgroup_groupid()], \&sum/' roles.tile.c > r.tile.c; tilewright run r.tile.c $(cat roles.args) --arg g.late=0 2>&1 | head -1
r.tile.c:43:13: error: warpgroup 1 reads `q`, and no barrier lies between that and warpgroup 0, which writes it; arrive behind the one, and wait for that in front of the other [roles]
#! Warpgroups that meet from different places of the text; a tile that a role above stores and one below writes; a number that one warp alone counts.
$ cat > meet.tile.c <<'END'
> #include "kittens.h"
> typedef st_fl(64, 64) tile;
> struct globals { gl(float, 1, 1, -1, 64, tile) x, o; };
> tile_grid(1)
> __global__ __launch_bounds__(4 * WARPGROUP_THREADS, 1)
> void meet(struct globals g) {
>     int trips = g.x.rows / 64, tic = 0;
>     tile in[2], mine, theirs, out;
>     semaphore full[2], empty[2], ready, stored;
>     if (threadIdx.x == 0) {
>         for (int i = 0; i < 2; i++) {
>             init_semaphore(&full[i], 0, 1);
>             init_semaphore(&empty[i], 2, 0);
>         }
>         init_semaphore(&ready, 1, 0);
>         init_semaphore(&stored, 1, 0);
>     }
>     __syncthreads();
>     if (warpgroup_groupid() == 2) {
>         if (warpgroup_warpid() == 0)
>             for (int i = 0; i < trips; i++, tic ^= 1) {
>                 wait(&empty[tic], (i / 2 + 1) % 2);
>                 warp_tma_expect(&full[tic], &in[tic]);
>                 warp_tma_load_async(&in[tic], g.x, at(i, 0), &full[tic]);
>             }
>     } else if (warpgroup_groupid() == 3) {
>         if (warpgroup_warpid() == 0)
>             for (int i = 0; i < trips; i++) {
>                 wait(&ready, i % 2);
>                 warp_tma_store_async(g.o, &out, at(i, 0));
>                 warp_tma_store_async_wait();
>                 if (laneid() == 0) arrive(&stored);
>             }
>     } else {
>         rt_fl(16, 64) r, other;
>         if (warpgroup_groupid() == 0)
>             for (int i = 0; i < trips; i++, tic ^= 1) {
>                 wait(&full[tic], i / 2 % 2);
>                 warpgroup_load(&r, &in[tic]);
>                 warp_mul(&r, &r, 2.0f);
>                 warpgroup_store(&mine, &r);
>                 group8_sync(10);
>                 warpgroup_load(&other, &theirs);
>                 warp_add(&r, &r, &other);
>                 wait(&stored, (i + 1) % 2);
>                 warpgroup_store(&out, &r);
>                 warpgroup_sync(4);
>                 if (warpgroup_laneid() == 0) arrive(&ready);
>                 group8_sync(11);
>                 if (warpgroup_laneid() == 0) arrive(&empty[tic]);
>             }
>         else
>             for (int i = 0; i < trips; i++, tic ^= 1) {
>                 wait(&full[tic], i / 2 % 2);
>                 warpgroup_load(&r, &in[tic]);
>                 warp_add(&r, &r, 1.0f);
>                 warpgroup_store(&theirs, &r);
>                 group8_sync(10);
>                 group8_sync(11);
>                 if (warpgroup_laneid() == 0) arrive(&empty[tic]);
>             }
>     }
> }
> END
$ echo "--arg g.x=randn:f32[320,64] --arg g.o=zeros:f32[320,64]" > meet.args
$ for target in cpu 'cuda --emulate'; do tilewright check meet.tile.c --target $target $(cat meet.args); done
g.x: f32[320, 64], max error 0: ok
g.o: f32[320, 64], max error 0: ok
g.x: f32[320, 64], max error 0: ok
g.o: f32[320, 64], max error 0: ok
$ sed 's/group8_sync(11);//' meet.tile.c > r.tile.c; tilewright run r.tile.c $(cat meet.args) 2>&1 | head -1
r.tile.c:43:17: error: warpgroup 0 reads `theirs`, and no barrier lies between that and warpgroup 1, which writes it; arrive behind the one, and wait for that in front of the other [roles]
$ sed '0,/group8_sync(11);/s///' meet.tile.c > r.tile.c; tilewright run r.tile.c $(cat meet.args) 2>&1 | head -1
r.tile.c:59:17: error: warpgroup 1 waits here for ever: 128 of 256 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
$ sed 's/warpgroup_store(&out, &r);//' meet.tile.c > r.tile.c; tilewright run r.tile.c $(cat meet.args) 2>&1 | head -1
r.tile.c:30:17: error: `out` is read before anything was written to it; give it a value first [unwritten]
$ sed '0,/^            }$/s//&\n        tic += 1;/' meet.tile.c > r.tile.c; tilewright run r.tile.c $(cat meet.args) 2>&1 | head -2
r.tile.c:26:9: error: `tic` is not written on every path that leads here; give it a value where it is declared [unwritten]
   26 |         tic += 1;
