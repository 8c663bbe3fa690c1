# Semaphores of a kernel's own: mistakes that would hang a GPU, each a change of kernels/tilec/attention_roles.tile.c.
$ cat > mutant <<'END'
> kernel="$ROOT/kernels/tilec/attention_roles.tile.c"
> sed "$1" "$kernel" > m.tile.c
> cmp -s m.tile.c "$kernel" && echo "nothing changed"
> for target in interp cpu; do
>     tilewright run m.tile.c --target $target --arg g.q=randn:bf16[1,1,64,64] --arg g.k=randn:bf16[1,1,300,64] --arg g.v=randn:bf16[1,1,300,64] --arg g.o=zeros:bf16[1,1,64,64] 2>&1 | head -1
> done
> END
$ sh mutant 's/init_semaphore(&empty\[i\], WORKERS, 0)/init_semaphore(\&empty[i], WORKERS + 1, 0)/'
m.tile.c:34:1: error: deadlock: none of the 4 processes left can go on [deadlock]
m.tile.c:72:13: error: warpgroup 0 waits here for ever: 1 of 1 arrivals of phase 1 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
$ sh mutant 's|wait(&empty\[s\], (j / STAGES + 1) % 2)|wait(\&empty[s], j / STAGES % 2)|'
m.tile.c:34:1: error: deadlock: none of the 4 processes left can go on [deadlock]
m.tile.c:72:13: error: warpgroup 0 waits here for ever: 1 of 1 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
$ sh mutant 's|wait(&full\[stage\], j / STAGES % 2)|wait(\&full[stage], 1)|'
m.tile.c:34:1: error: deadlock: none of the 4 processes left can go on [deadlock]
m.tile.c:72:13: error: warpgroup 0 waits here for ever: 1 of 1 arrivals of phase 1 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
$ sh mutant 's/if (warpgroup_laneid() == 0) arrive(&empty\[stage\]);//'
m.tile.c:34:1: error: deadlock: none of the 4 processes left can go on [deadlock]
m.tile.c:72:13: error: warpgroup 0 waits here for ever: 1 of 1 arrivals of phase 1 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
$ sh mutant 's/if (warpgroup_laneid() == 0) arrive/arrive/'
m.tile.c:34:1: error: deadlock: none of the 4 processes left can go on [deadlock]
m.tile.c:93:13: error: 128 threads arrive at a barrier that counts 2; let fewer arrive, or count them where the barrier is made [roles]
$ sh mutant 's/tma_expect(&full\[s\], &k\[s\], &v\[s\]);/tma_expect(\&full[s], \&k[s]);/'
m.tile.c:55:17: error: `full` expects 0 bytes an iteration and gets 8192; a GPU would hang; call tma_expect with it and all tiles that are loaded, in front of the loads [bytes]
m.tile.c:55:17: error: `full` expects 0 bytes an iteration and gets 8192; a GPU would hang; call tma_expect with it and all tiles that are loaded, in front of the loads [bytes]
$ sh mutant 's/tma_load_async(&v\[s\], g.v, at(batch, kv_head, j, 0), &full\[s\]);//'
m.tile.c:53:17: error: `full` expects 8192 bytes an iteration and gets 0; a GPU would hang; call tma_expect with it and all tiles that are loaded, in front of the loads [bytes]
m.tile.c:53:17: error: `full` expects 8192 bytes an iteration and gets 0; a GPU would hang; call tma_expect with it and all tiles that are loaded, in front of the loads [bytes]
$ sh mutant 's/init_semaphore(&full\[i\], 1, 0);//'
m.tile.c:53:28: error: Tile C cannot take a semaphore that no init_semaphore(&s, arrivals, 0) has set up yet; call it before, by one thread [unsupported]
m.tile.c:53:28: error: Tile C cannot take a semaphore that no init_semaphore(&s, arrivals, 0) has set up yet; call it before, by one thread [unsupported]
$ sh mutant 's/    __syncthreads();/    if (warpgroup_groupid() == 0) __syncthreads();/'
m.tile.c:34:1: error: deadlock: none of the 4 processes left can go on [deadlock]
m.tile.c:45:35: error: warpgroup 0 waits here for ever: 256 of 384 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
$ sh mutant 's/warpgroup_groupid() == WORKERS) {/warpid() == 1) {/'
m.tile.c:66:9: error: `warpgroup_load` must be reached by all threads of the role; move it out of the `if` over thread numbers [scope]
m.tile.c:66:9: error: `warpgroup_load` must be reached by all threads of the role; move it out of the `if` over thread numbers [scope]
#! the wait under a condition; no wait before the tiles are overwritten; given back before they are read; by one for another; expected twice
$ sh mutant 's/            wait(&full\[stage\], j/            if (keys > 200) wait(\&full[stage], j/'
g.o: bf16[1, 1, 64, 64], 4096 of 4096 elements changed
m.tile.c:73:13: error: warpgroup 0 reads `k`, and no barrier lies between that and warpgroup 2, which writes it; arrive behind the one, and wait for that in front of the other [roles]
$ sh mutant 's/wait(&empty\[s\], .*;/;/'
m.tile.c:34:1: error: deadlock: none of the 3 processes left can go on [deadlock]
m.tile.c:72:13: error: warpgroup 0 waits here for ever: 1 of 1 arrivals of phase 2 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
$ sh mutant 's/            warpgroup_mm_ABt(&s, &q, &k\[stage\]);/            if (warpgroup_laneid() == 0) arrive(\&empty[stage]);\n&/; s/^            if (warpgroup_laneid() == 0) arrive(&empty\[stage\]);$//'
g.o: bf16[1, 1, 64, 64], 4096 of 4096 elements changed
m.tile.c:54:17: error: warpgroup 2 writes `k`, and no barrier lies between that and warpgroup 0, which reads it; arrive behind the one, and wait for that in front of the other [roles]
$ sh mutant 's/if (warpgroup_laneid() == 0) arrive(&empty\[stage\]);/if (warpgroup_groupid() == 0) { if (warpgroup_laneid() == 0) arrive(\&empty[stage], 2); }/'
g.o: bf16[1, 1, 64, 64], 4096 of 4096 elements changed
m.tile.c:54:17: error: warpgroup 2 writes `k`, and no barrier lies between that and warpgroup 1, which reads it; arrive behind the one, and wait for that in front of the other [roles]
$ sh mutant 's/tma_expect(&full\[s\], &k\[s\], &v\[s\]);/&&/'
m.tile.c:53:52: error: `full` expects 16384 bytes an iteration and gets 0; a GPU would hang; call tma_expect with it and all tiles that are loaded, in front of the loads [bytes]
m.tile.c:53:52: error: `full` expects 16384 bytes an iteration and gets 0; a GPU would hang; call tma_expect with it and all tiles that are loaded, in front of the loads [bytes]
#! More slots than a buffer can have.
$ cp $ROOT/kernels/tilec/attention_roles.tile.c many.tile.c; tilewright emit many.tile.c --target cuda -D STAGES=1024 2>&1 | head -1
many.tile.c:38:5: error: an array of tiles has at most 1048576 elements in all, here 4194304; make it shorter, or its tiles smaller [array-size]
