#! A tile that one role writes once and another reads once, with no barrier between: it gets one, with a warning.
$ cat > lost.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def lost(A: T.Tensor((256, 64), "float32"), B: T.Tensor((64,), "float32"), C: T.Tensor((64,), "float32")):
>     with T.Kernel(1, threads=256) as bx:
>         a = T.alloc_shared((64, 64), "float32")
>         s = T.alloc_shared((64,), "float32")
>         f = T.alloc_fragment((64, 64), "float32")
>         g = T.alloc_fragment((64,), "float32")
>         h = T.alloc_fragment((64,), "float32")
>         ready = T.alloc_barrier(128)
>         free = T.alloc_barrier(128)
>         tx = T.get_thread_binding()
>         if tx < 128:
>             T.clear(g)
>             for k in T.serial(4):
>                 T.barrier_wait(ready, k % 2)
>                 T.copy(a, f)
>                 T.reduce_sum(f, g, dim=0, clear=False)
>                 T.barrier_arrive(free)
>             for i in T.Parallel(64):
>                 s[i] = g[i]
>             T.copy(g, B)
>         else:
>             T.clear(h)
>             for k in T.serial(4):
>                 T.barrier_wait(free, (k + 1) % 2)
>                 T.copy(A[k * 64, 0], a)
>                 T.barrier_arrive(ready)
>             for i in T.Parallel(64):
>                 h[i] = s[i] * 2
>             T.copy(h, C)
> END
$ cat > lost.sh <<'END'
> for t in interp cpu "cuda --emulate"; do tilewright run $1 --target $t --arg A=ones:f32[256,64] --arg B=zeros:f32[64] --arg C=zeros:f32[64] --save C=c.npy 2>&1 | head -1; tail -c 8 c.npy 2>/dev/null | od -An -f; done
> END
$ sh lost.sh lost.py
lost.py:32:24: warning: warpgroup 1 reads `s`, which warpgroup 0 writes once, and no barrier lies between: here one does; write it down: an arrival behind the one, and a wait for that in front of the other [roles-ordered]
             512             512
lost.py:32:24: warning: warpgroup 1 reads `s`, which warpgroup 0 writes once, and no barrier lies between: here one does; write it down: an arrival behind the one, and a wait for that in front of the other [roles-ordered]
             512             512
lost.py:32:24: warning: warpgroup 1 reads `s`, which warpgroup 0 writes once, and no barrier lies between: here one does; write it down: an arrival behind the one, and a wait for that in front of the other [roles-ordered]
             512             512
#! Where it is done in each trip of a loop, or something else writes the tile, another hand-over may be meant: an error.
$ sed '22s/.*/            for i, n in T.grid(64, 2):/; 23s/.*/                s[i] = g[i] + n/' lost.py > loop.py; rm c.npy; sh lost.sh loop.py
loop.py:23:17: error: warpgroup 0 writes `s`, and no barrier lies between that and warpgroup 1, which reads it; arrive behind the one, and wait for that in front of the other [roles]
loop.py:23:17: error: warpgroup 0 writes `s`, and no barrier lies between that and warpgroup 1, which reads it; arrive behind the one, and wait for that in front of the other [roles]
loop.py:23:17: error: warpgroup 0 writes `s`, and no barrier lies between that and warpgroup 1, which reads it; arrive behind the one, and wait for that in front of the other [roles]
$ sed '16s/.*/            T.clear(s)\n            T.clear(g)/' lost.py > twice.py; sh lost.sh twice.py
twice.py:24:17: error: warpgroup 0 writes `s`, and no barrier lies between that and warpgroup 1, which reads it; arrive behind the one, and wait for that in front of the other [roles]
twice.py:24:17: error: warpgroup 0 writes `s`, and no barrier lies between that and warpgroup 1, which reads it; arrive behind the one, and wait for that in front of the other [roles]
twice.py:24:17: error: warpgroup 0 writes `s`, and no barrier lies between that and warpgroup 1, which reads it; arrive behind the one, and wait for that in front of the other [roles]
#! Small tiles lie closer together where nothing fits otherwise.
$ cat > close.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def close(A: T.Tensor((225, 256), "float32"), B: T.Tensor((225, 256), "float32"), C: T.Tensor((3, 64), "float32")):
>     with T.Kernel(1, threads=256):
>         tx = T.get_thread_binding()
>         a = T.alloc_shared((225, 256), "float32")
>         s, t, u = T.alloc_shared((64,), "float32"), T.alloc_shared((64,), "float32"), T.alloc_shared((64,), "float32")
>         for i in T.serial(225):
>             a[i, tx] = A[i, tx]
>         if tx < 64:
>             s[tx] = A[0, tx]
>             t[tx] = A[1, tx] + 1
>             u[tx] = A[2, tx] + 2
>         T.sync_threads()
>         for i in T.serial(225):
>             B[i, tx] = a[224 - i, 255 - tx]
>         if tx < 64:
>             C[0, tx] = s[63 - tx]
>             C[1, tx] = t[63 - tx]
>             C[2, tx] = u[63 - tx]
> END
$ tilewright check close.py --target cuda --set written=on --emulate --arg A=randn:f32[225,256] --arg B=zeros:f32[225,256] --arg C=zeros:f32[3,64]
A: f32[225, 256], max error 0: ok
B: f32[225, 256], max error 0: ok
C: f32[3, 64], max error 0: ok
$ tilewright emit close.py --target cuda --set written=on | grep -o '[0-9]* bytes of shared memory'
231168 bytes of shared memory
