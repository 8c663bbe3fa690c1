# Templates that become no flat program run as they are written: roles side by side, rings as tiles and barriers, proved.
$ cat > swap.tile.c <<'EOF'
> #include "tile.h"
> typedef st_bf(64, 64) tile;
> struct globals { gl(bf16, 1, 1, -1, -1, tile) x, o; };
> struct input_block { tile x[2]; };
> struct scratch_block { tile t[2]; };
> struct common_state { int row; };
> struct consumer_state { rt_fl(16, 64) sum; };
> static void common_setup(lcf_setup_args *a) {
>     int task = a->task_iter * gridDim.x + blockIdx.x;
>     if (task * 128 >= a->globals->x.rows) { a->num_iters = -1; return; }
>     a->common->row = task * 2;
>     a->num_iters = a->globals->x.rows > 1000 ? 0 : cdiv(a->globals->x.cols, 64);
> }
> static void load_(lcf_load_args *a) {
>     if (warpgroup_laneid() == 0) {
>         tma_expect(a->inputs_arrived, a->input);
>         for (int i = 0; i < 2; i++) tma_load_async(&a->input->x[i], a->globals->x, at(a->common->row + i, a->iter), a->inputs_arrived);
>     }
> }
> static void setup_(lcf_consumer_setup_args *a) { warp_zero(&a->state->sum); }
> static void compute_(lcf_compute_args *a) {
>     int id = warpgroup_groupid();
>     rt_fl(16, 64) mine, other;
>     warpgroup_load(&mine, &a->input->x[id]);
>     if (a->iter % 2 == 0) warpgroup_mul(&mine, &mine, id + 2);
>     warpgroup_store(&a->scratch->t[id], &mine);
>     group8_sync(1);
>     warpgroup_load(&other, &a->scratch->t[1 - id]);
>     warp_add(&a->state->sum, &a->state->sum, &mine);
>     warp_sub(&a->state->sum, &a->state->sum, &other);
>     group8_sync(1);
>     if (laneid() == 0) arrive(a->inputs_finished);
> }
> static void finish_(lcf_finish_args *a) {
>     warpgroup_store(a->globals->o, &a->state->sum, at(a->common->row + warpgroup_groupid(), 0));
>     if (laneid() == 0) arrive(a->finish_finished);
> }
> lcf_kernel(swap, .globals = struct globals, .input = struct input_block, .scratch = struct scratch_block, .common = struct common_state,
>     .consumer_state = struct consumer_state, .consumer_warps = 8, .input_stages = 3, .producer_arrivals = 1,
>     .common_setup = common_setup, .producer = {.load = load_}, .consumer = {setup_, compute_, finish_});
> EOF
#! consumers that exchange tiles in each trip; more tasks than one a program, trips that are no multiple of the stages
$ for t in interp cpu "cuda --emulate"; do tilewright check swap.tile.c --grid 2 --target $t --arg g.x=randn:bf16[300,450] --arg g.o=zeros:bf16[300,64] | tail -1 | grep -o ok; done
ok
ok
ok
$ tilewright explain swap.tile.c --target cuda --arg g.x=zeros:bf16[300,450] --arg g.o=zeros:bf16[300,64] | grep 'roles: \|merge: '
swap.tile.c:38:1: roles: 3 workers make progress, see each hand-over once and overwrite nothing that is read: proved in 7 orders, loops of unknown ends for up to 8 trips
swap.tile.c:38:1: merge: 3 workers run side by side as they are written
#! without the first barrier, and without the second
$ sed '0,/    group8_sync(1);/{/    group8_sync(1);/d}' swap.tile.c > a.tile.c; tilewright run a.tile.c --target cpu --arg g.x=randn:bf16[300,450] --arg g.o=zeros:bf16[300,64] 2>&1 | grep 'error\|here'
a.tile.c:26:5: error: warpgroup 1 writes `t`, and no barrier lies between that and warpgroup 0, which reads it; arrive behind the one, and wait for that in front of the other [roles]
a.tile.c:27:5: note: warpgroup 0 reads it here
a.tile.c:30:5: note: warpgroup 0 waits here
a.tile.c:14:1: note: before: warpgroup 2 arrives, and phase 0 ends here
a.tile.c:14:1: note: then warpgroup 2 passes here
a.tile.c:14:1: note: then warpgroup 2 arrives, and phase 0 ends here
a.tile.c:21:1: note: then warpgroup 0 passes here
a.tile.c:30:5: note: then warpgroup 0 arrives here
a.tile.c:21:1: note: then warpgroup 1 passes here
$ sed '/sum, &other);/{n;d}' swap.tile.c > b.tile.c; tilewright run b.tile.c --target cpu --arg g.x=randn:bf16[300,450] --arg g.o=zeros:bf16[300,64] 2>&1 | grep error
b.tile.c:28:5: error: warpgroup 0 reads `t`, and no barrier lies between that and warpgroup 1, which writes it; arrive behind the one, and wait for that in front of the other [roles]
#! a ring that does not fit: who takes how much
$ sed 's/input_stages = 3/input_stages = 16/' swap.tile.c > c.tile.c; tilewright emit c.tile.c --target cuda --arg g.x=randn:bf16[300,450] --arg g.o=zeros:bf16[300,64] 2>&1 | grep 'error\|bytes:'
c.tile.c:38:1: error: the kernel needs 279552 bytes of shared memory, even without loads that run ahead; a block of sm_90a has 232448; 262144 of them hold a tile of the `buf` here; make it smaller [shared-memory]
c.tile.c:38:1: note: 262144 bytes: `x`
c.tile.c:38:1: note: 16384 bytes: `t`
c.tile.c:38:1: note: 128 bytes: bar
c.tile.c:38:1: note: 128 bytes: bar
#! any template, if that is asked for: merged elsewhere, with a ring of output blocks
$ tilewright check $ROOT/kernels/tilec/matmul.tile.c -D NB=1 -D MB=3 -D STAGES=2 --set written=on --target cpu --arg g.A=randn:bf16[200,130] --arg g.B=randn:bf16[130,100] --arg g.C=zeros:bf16[200,100] | tail -1
g.C: bf16[200, 100], max error 0: ok
$ tilewright check $ROOT/kernels/tilec/rotary_lcsf.tile.c --set written=on --target cpu --arg g.x=randn:bf16[1,2,100,128] --arg g.cos=rand:f32[100,64] --arg g.sin=rand:f32[100,64] --arg g.o=zeros:bf16[1,2,100,128] | tail -1
g.o: bf16[1, 2, 100, 128], max error 0: ok
#! roles of a kernel's own that share tiles made inside of them, and meet at barriers of the block: in no one order
$ cat > roles.tile.c <<'EOF'
> #include "tile.h"
> typedef st_fl(64, 64) tile;
> struct globals { gl(float, 1, 1, -1, -1, tile) x, o; };
> tile_kernel(2 * WARPGROUP_THREADS, 1) tile_grid(1)
> void exchange(struct globals g) {
>     tile s[2];
>     semaphore a, b;
>     if (threadIdx.x == 0) { init_semaphore(&a, 1, 0); init_semaphore(&b, 1, 0); }
>     __syncthreads();
>     int id = warpgroup_groupid();
>     rt_fl(16, 64) t, u;
>     warpgroup_load(&t, g.x, at(id, 0));
>     if (id == 0) for (int k = 0; k < 2; k++) { if (warpgroup_laneid() == 0) arrive(&a); wait(&b, k % 2); }
>     if (id == 1) for (int k = 0; k < 2; k++) { wait(&a, k % 2); if (warpgroup_laneid() == 0) arrive(&b); }
>     warpgroup_store(&s[id], &t);
>     __syncthreads();
>     warpgroup_load(&u, &s[1 - id]);
>     warpgroup_add(&t, &t, &u);
>     warpgroup_store(g.o, &t, at(id, 0));
> }
> EOF
$ for t in cpu "cuda --emulate"; do tilewright check roles.tile.c --target $t --arg g.x=randn:f32[128,64] --arg g.o=zeros:f32[128,64] | tail -1 | grep -o ok; done
ok
ok
$ sed '/&s\[id\], &t/{n;d}' roles.tile.c > d.tile.c; tilewright run d.tile.c --target cpu --arg g.x=randn:f32[128,64] --arg g.o=zeros:f32[128,64] 2>&1 | grep 'error\|reads it here'
d.tile.c:15:5: error: warpgroup 0 writes `s`, and no barrier lies between that and warpgroup 1, which reads it; arrive behind the one, and wait for that in front of the other [roles]
d.tile.c:16:5: note: warpgroup 1 reads it here
#! products read their tiles in the ring's slots; what an instruction cannot read there, or what may be gone by then, is copied
$ cat > said <<'EOF'
> tilewright explain "$@" --set written=on --target cuda | sed -n 's/^[^ ]* \(dot: .* operand\|execution: .* bytes\)/\1/p' | sort -u
> EOF
$ for d in 64 128; do sh said $ROOT/kernels/tilec/attention_lcf.tile.c -D D=$d; done
dot: the right operand is read where it lies in `k`
dot: the right operand is read where it lies in `v`
execution: flat, 512 threads, 51200 bytes of shared memory
dot: the right operand is read where it lies in `k`
dot: the right operand is read where it lies in `v`
execution: flat, 512 threads, 100352 bytes of shared memory
$ sh said $ROOT/kernels/tilec/matmul.tile.c -D NB=2 -D STAGES=3
dot: the left operand is read where it lies in `a`
dot: the right operand is read where it lies in `b`
execution: flat, 512 threads, 135168 bytes of shared memory
$ tilewright check $ROOT/kernels/tilec/matmul.tile.c -D NB=2 -D STAGES=3 --set written=on --target cuda --emulate --grid 2 --arg g.A=randn:bf16[200,130] --arg g.B=randn:bf16[130,260] --arg g.C=zeros:bf16[200,260] | tail -1 | grep -o ok
ok
$ sh said $ROOT/kernels/tilec/mamba2.tile.c:mamba2
dot: the left operand is read where it lies in `q`
dot: the left operand is read where it lies in `v0`
dot: the right operand is read where it lies in `k`
dot: the right operand is read where it lies in `state0`
dot: the right operand is read where it lies in `v`
execution: flat, 512 threads, 103424 bytes of shared memory
#! the same without roles, on machines whose lanes fetch operands; what is read back from the text means the same
$ cat > lanes.ir <<'EOF'
> kernel @flat(%A, %B: tensor<f16,2>, %C: tensor<f32,2>, %n: i32) {
>   grid { yield 1 }
>   %a = buf : buf<f16[2,64,64], shared> ; %b = buf : buf<f16[2,2,64,64], shared>
>   %z = splat 0.0 : f32[64,128]
>   %sum = for %i = 0, %n, 1 (%s = %z) {
>     %at = rem %i, 2 ; %k = mul %i, 64
>     %x = tload %A, [0, %k] : f16[64,64] ; %x1 = reshape %x : f16[1,64,64] ; bstore %a, [%at, 0, 0], %x1
>     %y = tload %B, [%k, 0] : f16[64,64] ; %y1 = reshape %y : f16[1,1,64,64] ; bstore %b, [%at, 0, 0, 0], %y1
>     %u = tload %B, [%k, 64] : f16[64,64] ; %u1 = reshape %u : f16[1,1,64,64] ; bstore %b, [%at, 1, 0, 0], %u1
>     %p = bload %a, [%at, 0, 0] : f16[64,64]
>     %q = bload %b, [%at, 0, 0, 0] : f16[1,2,64,64] ; %q1 = reshape %q : f16[2,64,64] ; %q2 = permute<dims=[1,0,2]> %q1 ; %q3 = reshape %q2 : f16[64,128]
>     %t = dot %p, %q3, %s
>     yield %t
>   }
>   tstore %C, [0, 0], %sum
>   return
> }
> EOF
$ for t in cuda cuda:sm_80 hip:gfx942; do tilewright ir lanes.ir --passes fold,merge,access,contract,repeat,swap,stamp,ring,layout,schedule --target $t > s.ir; grep -c 'bload<box' s.ir; tilewright check s.ir --target $t --emulate --arg A=randn:f16[60,200] --arg B=randn:f16[200,120] --arg C=zeros:f32[60,120] --arg n=4 | tail -1 | grep -o ok; done
1
ok
1
ok
1
ok
