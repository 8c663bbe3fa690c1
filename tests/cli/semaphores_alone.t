# A warpgroup that loads for itself, one of its threads ahead by a semaphore; loops whose step moves more than one number.
$ cat > ahead.tile.c <<'EOF'
> #include "tile.h"
> typedef st_bf(64, 64) tile;
> struct globals { gl(bf16, 1, 1, -1, -1, tile) a, b, c; };
> tile_kernel(WARPGROUP_THREADS, 1) tile_grid(cdiv(g.c.cols, 64), cdiv(g.c.rows, 64))
> void ahead(struct globals g) {
>     int row = blockIdx.y, col = blockIdx.x, trips = cdiv(g.a.cols, 64), here = 0, there = 1;
>     tile a[2], b[2];
>     rt_fl(16, 64) sum;
>     semaphore full;
>     if (threadIdx.x == 0) {
>         init_semaphore(&full, 1, 0);
>         tma_expect(&full, &a[0], &b[0]);
>         tma_load_async(&a[0], g.a, at(row, 0), &full);
>         tma_load_async(&b[0], g.b, at(0, col), &full);
>     }
>     __syncthreads();
>     warp_zero(&sum);
>     for (int k = 0; k < trips; k++, here ^= 1, there ^= 1) {
>         wait(&full, here);
>         __syncthreads();
>         if (threadIdx.x == 0 && k + 1 < trips) {
>             tma_expect(&full, &a[there], &b[there]);
>             tma_load_async(&a[there], g.a, at(row, k + 1), &full);
>             tma_load_async(&b[there], g.b, at(k + 1, col), &full);
>         }
>         warpgroup_mma_AB(&sum, &a[here], &b[here]);
>         warpgroup_mma_wait(0);
>         __syncthreads();
>     }
>     warpgroup_store(g.c, &sum, at(row, col));
> }
> EOF
$ cat > all <<'END'
> for t in interp cpu "cuda --emulate"; do tilewright check $1 --target $t --arg g.a=randn:bf16[100,200] --arg g.b=randn:bf16[200,90] --arg g.c=zeros:bf16[100,90] 2>&1 | grep -o 'g.c.*: ok\|error:.*' | sed 's/max error [^:]*: //' | head -1; done
> END
$ sh all ahead.tile.c
g.c: bf16[100, 90], ok
g.c: bf16[100, 90], ok
g.c: bf16[100, 90], ok
#! no wait; one arrival too many is wanted; the tile that is being read; the last one not loaded
$ sed 's/wait(&full, here);//' ahead.tile.c > a.tile.c; sh all a.tile.c
error: `a` is still being loaded; write wait(&full, phase) before this [missing-wait]
error: `a` is still being loaded; write wait(&full, phase) before this [missing-wait]
error: `a` is still being loaded; write wait(&full, phase) before this [missing-wait]
$ sed 's/init_semaphore(&full, 1, 0)/init_semaphore(\&full, 2, 0)/' ahead.tile.c > b.tile.c; sh all b.tile.c
error: deadlock: none of the 2 processes left can go on [deadlock]
error: warpgroup 0 waits here for ever: 1 of 2 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
error: warpgroup 0 waits here for ever: 1 of 2 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
$ sed 's/a\[there\], g.a/a[here], g.a/' ahead.tile.c > c.tile.c; sh all c.tile.c
error: `a` is still being loaded; write wait(&full, phase) before this [missing-wait]
error: `a` is still being loaded; write wait(&full, phase) before this [missing-wait]
error: `a` is still being loaded; write wait(&full, phase) before this [missing-wait]
$ sed 's/k + 1 < trips/k + 2 < trips/' ahead.tile.c > d.tile.c; sh all d.tile.c
error: deadlock: none of the 2 processes left can go on [deadlock]
error: warpgroup 0 waits here for ever: 1 of 1 arrivals of phase 1 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
error: warpgroup 0 waits here for ever: 1 of 1 arrivals of phase 1 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
#! a slot and a phase that go round by an `if`, in roles: it is known which barrier it is, so they are proved
$ sed -e 's/int s = j % STAGES;/if (s == STAGES) { s = 0; phase ^= 1; }/' -e 's|wait(&empty\[s\], (j / STAGES + 1) % 2)|wait(\&empty[s], phase ^ 1)|' -e 's/for (int j = 0; j < trips; j++) {/for (int j = 0, s = 0, phase = 0; j < trips; j++, s++) {/' -e 's/int stage = j % STAGES;/if (s == STAGES) { s = 0; phase ^= 1; }/' -e 's|wait(&full\[stage\], j / STAGES % 2)|wait(\&full[s], phase)|' -e 's/\[stage\]/[s]/g' -e 's/scores s;/scores x;/' -e 's/&s, &q/\&x, \&q/' -e 's/&s, &s/\&x, \&x/g' -e 's/&most, &s)/\&most, \&x)/' -e 's/&total, &s,/\&total, \&x,/' -e 's/&weights, &s)/\&weights, \&x)/' $ROOT/kernels/tilec/attention_roles.tile.c > round.tile.c
$ tilewright check round.tile.c --target cpu --arg g.q=randn:bf16[1,2,130,64] --arg g.k=randn:bf16[1,1,330,64] --arg g.v=randn:bf16[1,1,330,64] --arg g.o=zeros:bf16[1,2,130,64] 2>&1 | grep -o 'ok$\|warning' | sort | uniq -c
      4 ok
$ sed 's/init_semaphore(&full, 1, 0)/init_semaphore(\&full, 1, 9223372036854775807)/' ahead.tile.c > far.tile.c; tilewright check far.tile.c
far.tile.c:11:9: error: a semaphore waits for 1 to 1024 arrivals a phase, not for 1 + 9223372036854775807; write how many threads arrive at it [arrivals]
   11 |         init_semaphore(&full, 1, 9223372036854775807);
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ sed 's/init_semaphore(&full, 1, 0)/init_semaphore(\&full, 3, -2)/' ahead.tile.c > below.tile.c; tilewright check below.tile.c
below.tile.c:11:9: error: a semaphore waits for 1 to 1024 arrivals a phase, not for 3 + -2; write how many threads arrive at it [arrivals]
   11 |         init_semaphore(&full, 3, -2);
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
