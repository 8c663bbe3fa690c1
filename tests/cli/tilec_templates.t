# Tile C's manual, and templates beyond the matmul: scratch, vectors in a ring's record, tasks of another form, an output ring.
$ cat > dense.tile.c <<'EOF'
> #include "tile.h"
> typedef st_bf(64, 64) tile;
> struct globals { gl(bf16, 1, 1, -1, -1, tile) x, w, o; gl(float, 1, 1, 1, -1) bias; };
> struct input_block { tile x[2]; sv_fl(64) bias; };
> struct scratch_block { tile w[2]; };
> struct common_state { int row; };
> struct consumer_state { rt_fl(16, 64) acc; rt_bf(16, 64) x; row_vec(rt_fl(16, 64)) bias; };
> static void common_setup(lcf_setup_args *a) {
>     int task = a->task_iter * gridDim.x + blockIdx.x;
>     a->common->row = task * 2;
>     a->num_iters = task * 128 < a->globals->x.rows ? 1 : -1;
> }
> static void load_(lcf_load_args *a) {
>     if (warpgroup_laneid() == 0) {
>         tma_expect(a->inputs_arrived, a->input);
>         for (int i = 0; i < 2; i++) tma_load_async(&a->input->x[i], a->globals->x, at(a->common->row + i, 0), a->inputs_arrived);
>         tma_load_async(&a->input->bias, a->globals->bias, at(0), a->inputs_arrived);
>     }
> }
> static void setup_(lcf_consumer_setup_args *a) {
>     warpgroup_load(&a->scratch->w[warpgroup_groupid()], a->globals->w, at(0, 0));
>     warpgroup_sync(warpgroup_groupid());
>     warp_zero(&a->state->acc);
> }
> static void compute_(lcf_compute_args *a) {
>     warpgroup_mma_AB(&a->state->acc, &a->input->x[warpgroup_groupid()], &a->scratch->w[warpgroup_groupid()]);
>     warpgroup_mma_wait(0);
>     warpgroup_load(&a->state->bias, &a->input->bias);
>     warpgroup_add_col(&a->state->acc, &a->state->acc, &a->state->bias);
>     if (laneid() == 0) arrive(a->inputs_finished);
> }
> static void finish_(lcf_finish_args *a) {
>     warpgroup_store(a->globals->o, &a->state->acc, at(a->common->row + warpgroup_groupid(), 0));
>     if (laneid() == 0) arrive(a->finish_finished);
> }
> lcf_kernel(dense, .globals = struct globals, .input = struct input_block, .scratch = struct scratch_block, .common = struct common_state,
>     .consumer_state = struct consumer_state, .consumer_warps = 8, .input_stages = 2, .producer_arrivals = 1,
>     .common_setup = common_setup, .producer = {.load = load_}, .consumer = {setup_, compute_, finish_});
> EOF
#! scratch that every worker has a part of; one task a program, in a form that is no grid
$ tilewright check dense.tile.c --target cpu --arg g.x=randn:bf16[300,64] --arg g.w=randn:bf16[64,64] --arg g.o=zeros:bf16[300,64] --arg g.bias=randn:f32[64] | grep -c ok
4
$ tilewright explain dense.tile.c --target cpu --arg g.x=zeros:bf16[300,64] --arg g.w=zeros:bf16[64,64] --arg g.o=zeros:bf16[300,64] --arg g.bias=zeros:f32[64] | grep -o "the workers run one after the other"
the workers run one after the other
#! the sanitizer sees nothing wrong with it
$ tilewright run dense.tile.c --sanitize --arg g.x=randn:bf16[130,64] --arg g.w=randn:bf16[64,64] --arg g.o=zeros:bf16[130,64] --arg g.bias=randn:f32[64]
g.o: bf16[130, 64], 8320 of 8320 elements changed
#! numbers of a warpgroup in what common_setup leaves, behind an early return; vectors that every warp has; one arrival a warpgroup
$ sed -e 's/    a->common->row = task \* 2;/    if (task * 128 >= a->globals->x.rows) { a->num_iters = -1; return; }\n    int id = warpgroup_groupid() == 2 ? 0 : warpgroup_groupid();\n    a->common->row = task * 2 + id;/' -e 's/a->common->row + warpgroup_groupid()/a->common->row/' -e 's/    warpgroup_store(a->globals->o/    if (a->common->row * 64 < a->globals->x.rows) &/' -e 's/warpgroup_add_col/warp_add_col/' -e 's/warpgroup_load(&a->state->bias/warp_load(\&a->state->bias/' -e 's/if (laneid() == 0)/warpgroup_sync(warpgroup_groupid()); if (warpgroup_laneid() == 0)/' -e 's/.input_stages/.consumer_arrivals = 2, &/' dense.tile.c > e.tile.c
$ for t in interp cpu "cuda --emulate"; do tilewright check e.tile.c --target $t --arg g.x=randn:bf16[300,64] --arg g.w=randn:bf16[64,64] --arg g.o=zeros:bf16[300,64] --arg g.bias=randn:f32[64] 2>&1 | grep -c ok; done
4
4
4
#! an output block belongs to lcsf, which needs a store
$ sed 's/.scratch = struct scratch_block/.output = struct input_block, &/' dense.tile.c > a.tile.c; tilewright check a.tile.c --arg g.x=randn:bf16[64,64] --arg g.w=randn:bf16[64,64] --arg g.o=zeros:bf16[64,64] --arg g.bias=randn:f32[64] 2>&1 | grep -o 'error.*'
error: `output` is no part of the template's descriptor; an output ring needs lcsf_kernel [descriptor]
$ sed 's/lcf_/lcsf_/' dense.tile.c > b.tile.c; tilewright check b.tile.c --arg g.x=randn:bf16[64,64] --arg g.w=randn:bf16[64,64] --arg g.o=zeros:bf16[64,64] --arg g.bias=randn:f32[64] 2>&1 | grep -o 'error.*'
error: the template's descriptor has no producer.store [descriptor]
#! a store that is still reading when its block is given back; too few arrivals
$ sed 's/^        tma_store_async_read_wait();//' $ROOT/kernels/tilec/rotary_lcsf.tile.c > c.tile.c; tilewright check c.tile.c --arg g.x=randn:bf16[1,1,64,128] --arg g.cos=rand:f32[64,64] --arg g.sin=rand:f32[64,64] --arg g.o=zeros:bf16[1,1,64,128] 2>&1 | grep -o 'error.*'
error: `outputs_finished` arrives too early: a store still reads the output block; add tma_store_async_read_wait() before it [missing-wait]
$ sed 's/if (laneid() == 0) arrive(a->outputs_arrived);//' $ROOT/kernels/tilec/rotary_lcsf.tile.c > d.tile.c; tilewright check d.tile.c --arg g.x=randn:bf16[1,1,64,128] --arg g.cos=rand:f32[64,64] --arg g.sin=rand:f32[64,64] --arg g.o=zeros:bf16[1,1,64,128] 2>&1 | grep -o 'error.*'
error: `outputs_arrived` gets 0 arrivals an iteration where 8 are declared; a GPU would hang; change the arrivals, or producer_arrivals / consumer_arrivals (which finish has too) [arrivals]
#! a template's tasks are all done, whatever grid a launch asks for; a grid of none does nothing
$ for t in interp cpu "cuda --emulate"; do for g in 1 3 9,2; do tilewright check $ROOT/kernels/tilec/matmul.tile.c --target $t --grid $g --arg g.A=randn:bf16[256,96] --arg g.B=randn:bf16[96,512] --arg g.C=zeros:bf16[256,512] 2>&1 | grep -c ok; done; done | sort | uniq -c
      9 3
$ tilewright run $ROOT/kernels/tilec/matmul.tile.c --grid 0 --arg g.A=randn:bf16[256,96] --arg g.B=randn:bf16[96,512] --arg g.C=zeros:bf16[256,512]
warning: no program runs: the grid is 0 x 1 x 1
no array changed
