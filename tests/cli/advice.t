# What the messages of the passes that make one program of workers, and of roles, advise is done to the letter: then it is so, and right.
$ cat > base.tile.c <<'EOF'
> #include "tile.h"
> typedef st_bf(64, 64) tile;
> struct globals { gl(bf16, 1, 1, -1, -1, tile) x, y, o; };
> struct input_block { tile x[2]; tile y; };
> struct common_state { int row; };
> struct consumer_state { rt_fl(16, 64) acc; };
> static void common_setup(lcf_setup_args *a) {
>     int task = a->task_iter * gridDim.x + blockIdx.x;
>     if (task >= cdiv(a->globals->o.rows, 128)) {
>         a->num_iters = -1;
>         return;
>     }
>     a->common->row = task * 2;
>     a->num_iters = cdiv(a->globals->x.cols, 64);
> }
> static void load_(lcf_load_args *a) {
>     if (warpgroup_laneid() == 0) {
>         tma_expect(a->inputs_arrived, a->input);
>         for (int i = 0; i < 2; i++) tma_load_async(&a->input->x[i], a->globals->x, at(a->common->row + i, a->iter), a->inputs_arrived);
>         tma_load_async(&a->input->y, a->globals->y, at(a->iter, 0), a->inputs_arrived);
>     }
> }
> static void setup_(lcf_consumer_setup_args *a) {
>     warp_zero(&a->state->acc);
> }
> static void compute_(lcf_compute_args *a) {
>     warpgroup_mma_AB(&a->state->acc, &a->input->x[warpgroup_groupid()], &a->input->y);
>     warpgroup_mma_wait(0);
>     if (laneid() == 0) arrive(a->inputs_finished);
> }
> static void finish_(lcf_finish_args *a) {
>     warpgroup_store(a->globals->o, &a->state->acc, at(a->common->row + warpgroup_groupid(), 0));
>     if (laneid() == 0) arrive(a->finish_finished);
> }
> lcf_kernel(dense, .globals = struct globals, .input = struct input_block, .common = struct common_state,
>     .consumer_state = struct consumer_state, .consumer_warps = 8, .input_stages = 2, .producer_arrivals = 1,
>     .common_setup = common_setup, .producer = {.load = load_}, .consumer = {setup_, compute_, finish_});
> EOF
$ cat > try <<'EOF'
> A="--arg g.x=randn:bf16[256,128] --arg g.y=randn:bf16[128,64] --arg g.o=zeros:bf16[256,64]"
> tilewright explain "$1" --target cpu $A | grep -oE "(the workers run|[0-9]+ workers and).*" | sed 's/the workers run .* whole tiles: //'
> tilewright check "$1" --target cpu $A | grep -c ok$
> EOF
$ cat > finish.sed <<'EOF'
> s/^struct common_state/struct finish_block { tile c[2]; };\n&/
> s/    warpgroup_store(a->globals->o.*/    warpgroup_store(\&a->finish->c[warpgroup_groupid()], \&a->state->acc);\n    warpgroup_sync(warpgroup_groupid() + 4);\n    if (warpgroup_laneid() == 0) tma_store_async(a->globals->o, \&a->finish->c[warpgroup_groupid()], at(a->common->row + warpgroup_groupid(), 0));\n    tma_store_async_read_wait();/
> s/.common = /.finish = struct finish_block, &/
> EOF
$ sh try base.tile.c; sed -f finish.sed base.tile.c > finish.tile.c; sh try finish.tile.c
2 workers and their rings became one program a task
3
2 workers and their rings became one program a task
3
#! tasks: numbered, compared with their number, -1 where it is reached
$ sed 's/task >= cdiv(a->globals->o.rows, 128)/task * 128 >= a->globals->o.rows/' base.tile.c > a.tile.c; sh try a.tile.c
common_setup does not say how many tasks there are; number them as task_iter * gridDim.x + blockIdx.x, compare that with their number, and set num_iters to -1 where it is reached
3
$ sed 's/task \* 128 >= a->globals->o.rows/task >= cdiv(a->globals->o.rows, 128)/' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
#! num_iters: made from extents
$ sed 's/num_iters = cdiv(a->globals->x.cols, 64)/num_iters = cdiv(a->globals->x.cols, 64) - a->common->row + task * 2/' base.tile.c > a.tile.c; sh try a.tile.c
num_iters must be negative only where no work is left; make it from extents
3
$ sed 's/ - a->common->row + task \* 2//' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
#! tiles of the input block: numbered as they lie in memory, loaded once, each by a load of its own, from one global
$ sed 's/at(a->common->row + i, a->iter)/at(a->common->row + 1 - i, a->iter)/' base.tile.c > a.tile.c; sh try a.tile.c
the tiles of field `x` do not lie side by side in memory as they do in the block; number them as they lie there
3
$ sed 's/row + 1 - i/row + i/' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
$ sed -e 's/^        tma_load_async(&a->input->y, /        tma_load_async(\&a->input->x[0], a->globals->x, at(a->common->row, a->iter), a->inputs_arrived);\n&/' -e 's/tma_expect(a->inputs_arrived, a->input);/tma_expect_bytes(a->inputs_arrived, sizeof(struct input_block) + sizeof(tile));/' base.tile.c > a.tile.c; sh try a.tile.c
this tile of the input block is loaded twice; load each tile once
3
$ sed -e '/input->x\[0\]/d' -e 's/ + sizeof(tile)//' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
$ sed 's/input->x\[i\], a->globals->x, at(a->common->row + i, a->iter)/input->x[(i + a->iter) % 2], a->globals->x, at(a->common->row + (i + a->iter) % 2, a->iter)/' base.tile.c > a.tile.c; sh try a.tile.c
the tile that is loaded must be picked by a constant index; write a load for each tile
3
$ sed 's/for (int i = 0; i < 2; i++) tma_load_async.*/tma_load_async(\&a->input->x[0], a->globals->x, at(a->common->row, a->iter), a->inputs_arrived);\n        tma_load_async(\&a->input->x[1], a->globals->x, at(a->common->row + 1, a->iter), a->inputs_arrived);/' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
$ sed -e 's/x, y, o; }/x, y, o; gl(bf16, 1, 1, -1, -1, tile) z; }/' -e 's/for (int i = 0; i < 2; i++) tma_load_async.*/tma_load_async(\&a->input->x[0], a->globals->x, at(a->common->row, a->iter), a->inputs_arrived);\n        tma_load_async(\&a->input->x[1], a->globals->z, at(a->common->row + 1, a->iter), a->inputs_arrived);/' base.tile.c > a.tile.c; sed 's/g.o=/g.z=randn:bf16[256,128] --arg &/' try > try_z; sh try_z a.tile.c
a field of the input block must be filled by plain loads from one global; load all its tiles from the same one, without masks
4
$ sed 's/globals->z/globals->x/' a.tile.c > b.tile.c; sh try_z b.tile.c
2 workers and their rings became one program a task
4
#! tiles that the workers read: their own, by their number alone, along one dimension; B for all of them
$ sed 's/x\[warpgroup_groupid()\]/x[1 - warpgroup_groupid()]/' base.tile.c > a.tile.c; sh try a.tile.c
only the worker's number, or a constant, may pick a tile of the block; index it by that number alone
3
$ sed 's/x\[1 - warpgroup_groupid()\]/x[warpgroup_groupid()]/' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
$ sed -e 's/tile x\[2\]/tile x[3]/' -e 's/i < 2/i < 3/' base.tile.c > a.tile.c; sh try a.tile.c
each of the 2 workers must use its own tile of the block; index the tiles by the worker's number
3
$ sed -e 's/tile x\[3\]/tile x[2]/' -e 's/i < 3/i < 2/' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
$ sed -e 's/tile x\[2\]/tile x[2][2]/' -e 's/        for (int i = 0; i < 2; i++)/        for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++)/' -e 's/a->input->x\[i\]/a->input->x[i][j]/' -e 's/x\[warpgroup_groupid()\]/x[warpgroup_groupid()][warpgroup_groupid()]/' base.tile.c > a.tile.c; sh try a.tile.c
the worker's number picks the tile more than once; let it index one dimension
3
$ sed -e 's/tile x\[2\]\[2\]/tile x[2]/' -e 's/ for (int j = 0; j < 2; j++)//' -e 's/\[i\]\[j\]/[i]/' -e 's/\(\[warpgroup_groupid()\]\)\[warpgroup_groupid()\]/\1/' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
$ sed -e 's/tile y; }/tile y[2]; }/' -e 's/        tma_load_async(&a->input->y, a->globals->y, at(a->iter, 0)/        for (int i = 0; i < 2; i++) tma_load_async(\&a->input->y[i], a->globals->y, at(a->iter + i, 0)/' -e 's/&a->input->y)/\&a->input->y[warpgroup_groupid()])/' base.tile.c > a.tile.c; sh try a.tile.c
B must be the same for all workers; let only A differ by worker
3
$ sed 's/y\[warpgroup_groupid()\]/y[0]/' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
#! what the workers store: rows that follow each other; the finish block once, by their number alone
$ sed 's/at(a->common->row + warpgroup_groupid(), 0)/at(a->common->row + 1 - warpgroup_groupid(), 0)/' base.tile.c > a.tile.c; sh try a.tile.c
the boxes of the workers do not lie above each other; let the worker's number pick rows that follow each other
3
$ sed 's/row + 1 - warpgroup/row + warpgroup/' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
$ sed 's/c\[warpgroup_groupid()\]/c[1 - warpgroup_groupid()]/' finish.tile.c > a.tile.c; sh try a.tile.c
only the worker's number may pick the tile that is written; index it by that number alone
3
$ sed 's/c\[1 - warpgroup_groupid()\]/c[warpgroup_groupid()]/' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
$ sed 's/^    warpgroup_store(&a->finish.*/&\n    warpgroup_sync(warpgroup_groupid() + 4);\n&/' finish.tile.c > a.tile.c; sh try a.tile.c
a field of the finish block must be written once; combine what is written in registers first
3
$ awk '!/warpgroup_store\(&a->finish/ || !n++' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
#! roles: what all threads must reach is moved out of the `if`
$ sed 's/    warpgroup_mma_wait(0);/&\n    if (warpgroup_groupid() == 1) warp_mul(\&a->state->acc, \&a->state->acc, 2.0f);/' base.tile.c > a.tile.c; tilewright check a.tile.c 2>&1 | grep -o "error.*"
error: `warp_mul` must be reached by all threads of the role; move it out of the `if` over thread numbers [scope]
$ sed 's/    if (warpgroup_groupid() == 1) warp_mul/    warp_mul/' a.tile.c > b.tile.c; sh try b.tile.c
2 workers and their rings became one program a task
3
$ cat > roles <<'EOF'
> tilewright check "$1" --target cpu --arg g.q=randn:bf16[1,1,64,64] --arg g.k=randn:bf16[1,1,300,64] --arg g.v=randn:bf16[1,1,300,64] --arg g.o=zeros:bf16[1,1,64,64] 2>&1 | grep -oE "error: .*roles.*|error: .*bytes.*|ok$" | sort | uniq -c | sed 's/^ *//'
> EOF
$ cp $ROOT/kernels/tilec/attention_roles.tile.c r.tile.c; sh roles r.tile.c
4 ok
#! an arrival before the wait; fewer arrivals, or a barrier that counts them all
$ sed 's/if (warpgroup_laneid() == 0) arrive(&empty\[stage\]);//' r.tile.c > a.tile.c; tilewright explain a.tile.c --target cpu --arg g.q=zeros:bf16[1,1,64,64] --arg g.k=zeros:bf16[1,1,300,64] --arg g.v=zeros:bf16[1,1,300,64] --arg g.o=zeros:bf16[1,1,64,64] 2>&1 | grep -o "error.*"
error: warpgroup 0 waits here for ever: 1 of 1 arrivals of phase 1 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
$ sed 's/^            warpgroup_mma_AB(&o, &weights, .*/&\n            warpgroup_mma_wait(0);\n            if (warpgroup_laneid() == 0) arrive(\&empty[stage]);/' a.tile.c > b.tile.c; sh roles b.tile.c
4 ok
$ sed 's/if (warpgroup_laneid() == 0) arrive/arrive/' r.tile.c > a.tile.c; tilewright explain a.tile.c --target cpu --arg g.q=zeros:bf16[1,1,64,64] --arg g.k=zeros:bf16[1,1,300,64] --arg g.v=zeros:bf16[1,1,300,64] --arg g.o=zeros:bf16[1,1,64,64] 2>&1 | grep -o "error.*"
error: 128 threads arrive at a barrier that counts 2; let fewer arrive, or count them where the barrier is made [roles]
$ sed 's/  arrive(&empty/  if (warpgroup_laneid() == 0) arrive(\&empty/' a.tile.c > b.tile.c; sh roles b.tile.c
4 ok
$ sed 's/init_semaphore(&empty\[i\], WORKERS, 0)/init_semaphore(\&empty[i], WORKERS * 128, 0)/' a.tile.c > b.tile.c; sh roles b.tile.c
4 ok
#! arrive behind the one, and wait for that in front of the other
$ sed 's/            wait(&full\[stage\], j/            if (keys > 200) wait(\&full[stage], j/' r.tile.c > a.tile.c; tilewright explain a.tile.c --target cpu --arg g.q=zeros:bf16[1,1,64,64] --arg g.k=zeros:bf16[1,1,300,64] --arg g.v=zeros:bf16[1,1,300,64] --arg g.o=zeros:bf16[1,1,64,64] 2>&1 | grep -o "error.*"
error: warpgroup 0 reads `k`, and no barrier lies between that and warpgroup 2, which writes it; arrive behind the one, and wait for that in front of the other [roles]
$ sed 's/if (keys > 200) wait/wait/' a.tile.c > b.tile.c; sh roles b.tile.c
4 ok
#! tma_expect with all tiles that are loaded
$ sed 's/tma_expect(&full\[s\], &k\[s\], &v\[s\]);/tma_expect(\&full[s], \&k[s]);/' r.tile.c > a.tile.c; sh roles a.tile.c
1 error: `full` expects 0 bytes an iteration and gets 8192; a GPU would hang; call tma_expect with it and all tiles that are loaded, in front of the loads [bytes]
$ sed 's/tma_expect(&full\[s\], &k\[s\]);/tma_expect(\&full[s], \&k[s], \&v[s]);/' a.tile.c > b.tile.c; sh roles b.tile.c
4 ok
