# Kernels that name their threads, and roles by hand.
$ cat > exchange.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def turn(A: T.Tensor((3, 64), "float32"), B: T.Tensor((3, 64), "float32")):
>     with T.Kernel(3, threads=64) as bx:
>         tx = T.get_thread_binding()
>         s = T.alloc_shared((64,), "float32")
>         own = T.alloc_local((1,), "float32")
>         own[0] = A[bx, tx] * 2
>         s[tx] = own[0]
>         T.sync_threads()
>         B[bx, tx] = s[63 - tx] + T.shfl_xor(own[0], 1)
>
>
> @T.prim_func
> def split(A: T.Tensor((100,), "float16"), B: T.Tensor((50, 100), "float16"), C: T.Tensor((50,), "float32")):
>     with T.Kernel(T.ceildiv(50, 16), threads=(16, 4)) as bn:
>         tn, tk = T.get_thread_bindings()
>         a = T.alloc_local((8,), "float16")
>         b = T.alloc_local((8,), "float16")
>         sum = T.alloc_local((1,), "float32")
>         all = T.alloc_shared((16,), "float32")
>         if tk == 0:
>             all[tn] = 0
>         T.clear(sum)
>         for k in T.serial(T.ceildiv(100, 32)):
>             T.copy(A[k * 32 + tk * 8], a)
>             for v in T.vectorized(8):
>                 b[v] = B[bn * 16 + tn, k * 32 + tk * 8 + v]
>             for v in T.serial(8):
>                 sum[0] += T.cast(a[v], "float32") * T.cast(b[v], "float32")
>         T.atomic_add(all[tn], sum[0])
>         if tk == 0:
>             C[bn * 16 + tn] = all[tn]
>
>
> @T.prim_func
> def rows(A: T.Tensor((5, 96), "float32"), B: T.Tensor((5,), "float32")):
>     with T.Kernel(5, threads=96) as bx:
>         lane, warp = T.get_lane_idx(), T.get_warp_idx()
>         part = T.alloc_shared((3,), "float32")
>         x = T.alloc_var("float32")
>         x = T.warp_reduce_sum(A[bx, warp * 32 + lane])
>         if lane == 0:
>             part[warp] = x
>         T.sync_threads()
>         if warp == 0:
>             x = T.warp_reduce_sum(T.if_then_else(lane < 3, part[T.min(lane, 2)], 0.0))
>             if lane == 0:
>                 B[bx] = x
>
>
> @T.prim_func
> def columns(A: T.Tensor((8, 24), "float32"), B: T.Tensor((24,), "float32")):
>     with T.Kernel(1, threads=(24, 8)) as bx:
>         tx = T.thread_binding(0, 24, thread="threadIdx.x")
>         for ty in T.thread_binding(8, thread="threadIdx.y"):
>             most = T.alloc_local((1,), "float32")
>             with T.attr(T.comm_reducer(lambda x, y: T.max(x, y), [T.min_value("float32")]), "reduce_scope", 0):
>                 T.evaluate(T.tvm_thread_allreduce(1, A[ty, tx], True, most[0], ty, dtype="handle"))
>             B[tx] = most[0]
>
>
> @T.prim_func
> def bins(A: T.Tensor((96,), "int32"), B: T.Tensor((96,), "int32"), H: T.Tensor((8,), "int32")):
>     with T.Kernel(1, threads=96) as bx:
>         tx = T.get_thread_binding()
>         h = T.alloc_shared((8,), "int32")
>         place = T.alloc_var("int32")
>         T.fill(h, 0)
>         place = T.atomic_add(h[A[tx] & 7], 1, return_prev=True)
>         B[(A[tx] & 7) * 12 + place] = 1
>         if tx < 8:
>             H[tx] = h[tx]
> END
$ cat > sums.py <<'END'
> import array, sys
>
>
> def read(name, code):
>     data = open(name, "rb").read()
>     return array.array(code, data[10 + data[8] + 256 * data[9]:])
>
>
> a, b = read("a.npy", "f"), read("b.npy", "f")
> rows = len(b) if sys.argv[1] == "rows" else 1
> for i in range(len(b)):
>     if sys.argv[1] == "rows":
>         want = sum(float(x) for x in a[96 * i:96 * i + 96])
>     elif sys.argv[1] == "columns":
>         want = max(a[i::24])
>     else:
>         want = 2.0 * a[i // 64 * 64 + 63 - i % 64] + 2.0 * a[i ^ 1]
>     assert abs(b[i] - want) <= 1e-5 * max(1, sum(abs(x) for x in a[96 * i:96 * i + 96])), (i, b[i], want)
> print("right")
> END
$ for t in "interp" "cpu" "cuda --emulate"; do tilewright run exchange.py:turn --target $t --arg A=randn:f32[3,64] --arg B=zeros:f32[3,64] --save A=a.npy --save B=b.npy && python3 sums.py turn; done
right
right
right
$ for t in "interp" "cpu" "cuda --emulate"; do tilewright run exchange.py:rows --target $t --arg A=randn:f32[5,96] --arg B=zeros:f32[5] --save A=a.npy --save B=b.npy && python3 sums.py rows; done
right
right
right
$ for t in "interp" "cpu"; do tilewright run exchange.py:columns --target $t --arg A=randn:f32[8,24] --arg B=zeros:f32[24] --save A=a.npy --save B=b.npy && python3 sums.py columns; done
right
right
$ tilewright check exchange.py:split --arg A=ones:f16[100] --arg B=ones:f16[50,100] --arg C=zeros:f32[50]
A: f16[100], max error 0: ok
B: f16[50, 100], max error 0: ok
C: f32[50], max error 0: ok
$ tilewright check exchange.py:bins --arg A=arange:i32[96] --arg B=zeros:i32[96] --arg H=zeros:i32[8]
A: i32[96], max error 0: ok
B: i32[96], max error 0: ok
H: i32[8], max error 0: ok
$ tilewright ir exchange.py:turn --passes=fold,merge,raise | grep -c 'spmd\|parallel\|sync\|shfl'
0
[1]
$ cat > race.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def k(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
>     with T.Kernel(1, threads=64) as bx:
>         tx = T.get_thread_binding()
>         s = T.alloc_shared((64,), "int32")
>         T.fill(s, 0)
>         if tx < 40:
>             s[tx] = A[tx]
>             B[tx] = s[(tx + 1) % 64]
> END
$ tilewright run race.py --target interp --sanitize --arg A=arange:i32[64] --arg B=zeros:i32[64]
race.py:11:13: error: program (0, 0, 0), thread 1 writes what thread 0 read, element [1] of `s`, and no barrier lies between; let all threads meet before (T.sync_threads), give each its own place, or use an atomic (and 38 more here) [thread-race]
   11 |             s[tx] = A[tx]
      |             ^~~~~
[1]
$ cat > wrong.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def under(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
>     with T.Kernel(1, threads=64) as bx:
>         tx = T.get_thread_binding()
>         s = T.alloc_shared((64,), "float32")
>         if tx < 20:
>             T.copy(A[0], s)
>         B[tx] = s[tx]
>
>
> @T.prim_func
> def with_own(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64,), "float32")):
>     with T.Kernel(1, threads=64) as bx:
>         tx = T.get_thread_binding()
>         s = T.alloc_shared((64,), "float32")
>         T.copy(A[tx, 0], s)
>         B[tx] = s[tx]
>
>
> @T.prim_func
> def often(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
>     with T.Kernel(1, threads=64) as bx:
>         tx = T.get_thread_binding()
>         s = T.alloc_shared((64,), "int32")
>         T.fill(s, 0)
>         for i in T.serial(A[tx]):
>             s[tx] = s[63 - tx] + i
>             T.sync_threads()
>         B[tx] = s[tx]
>
>
> @T.prim_func
> def tile(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
>     with T.Kernel(1, threads=64) as bx:
>         tx = T.get_thread_binding()
>         x = T.alloc_local((8,), "float32")
>         y = T.alloc_fragment((1,), "float32")
>         T.fill(x, tx)
>         T.reduce_sum(x, y, dim=0)
>         B[tx] = y[0]
>
>
> @T.prim_func
> def dims(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
>     with T.Kernel(1, threads=64) as bx:
>         for tx in T.thread_binding(32, thread="threadIdx.x"):
>             B[tx] = A[tx]
> END
$ for k in under with_own tile dims; do tilewright check wrong.py:$k; done
wrong.py:9:12: error: the block does something as a whole here, under a condition that differs between threads; in a kernel that names its threads, tile operations stand where all threads come, with numbers that all threads share [threads]
    9 |         if tx < 20:
      |            ^~~~~~~
wrong.py:19:9: error: the block does this as a whole, with a number that differs between threads; in a kernel that names its threads, tile operations stand where all threads come, with numbers that all threads share [threads]
   19 |         T.copy(A[tx, 0], s)
      |         ^~~~~~~~~~~~~~~~~~~
wrong.py:42:22: error: T.reduce_sum works on tiles of the block, and in a kernel that names its threads each of them has one of these; use alloc_shared or alloc_fragment [types]
   42 |         T.reduce_sum(x, y, dim=0)
      |                      ^
wrong.py:49:19: error: T.Kernel has 64 threads along threadIdx.x; the loop runs over all of them [arguments]
   49 |         for tx in T.thread_binding(32, thread="threadIdx.x"):
      |                   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run wrong.py:often --target cpu --arg A=ones:i32[64] --arg B=zeros:i32[64]
no array changed
$ cat > roles.py <<'END'
> import tilelang.language as T
>
> M, N, K, S = 100, 72, 130, 2
>
>
> @T.prim_func
> def ring(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
>     with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=256) as (bx, by):
>         a = T.alloc_shared((S, 64, 32), "float16")
>         b = T.alloc_shared((S, 32, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         ready = T.alloc_barrier([128] * S)
>         free = T.alloc_barrier([128] * S)
>         with T.ws(0):
>             T.clear(c)
>         for k in range(T.ceildiv(K, 32)):
>             with T.ws(1):
>                 T.barrier_wait(free[k % S], (k // S + 1) % 2)
>                 T.tma_copy(A[by * 64, k * 32], a[k % S, :, :], barrier=ready[k % S])
>                 T.tma_copy(B[k * 32, bx * 64], b[k % S, :, :], barrier=ready[k % S])
>                 T.barrier_arrive(ready[k % S])
>             with T.ws(0):
>                 T.barrier_wait(ready[k % S], k // S % 2)
>                 T.wgmma_gemm(a[k % S, :, :], b[k % S, :, :], c)
>                 T.wait_wgmma(0)
>                 T.barrier_arrive(free[k % S])
>         with T.ws(0):
>             T.copy(c, C[by * 64, bx * 64])
> END
$ sed 's/(k \/\/ S + 1) % 2/k \/\/ S % 2/' roles.py > late.py
$ for t in "cpu" "cuda --emulate"; do tilewright check roles.py --target $t --arg A=ones:f16[100,130] --arg B=ones:f16[130,72] --arg C=zeros:f32[100,72] | tail -1; done
C: f32[100, 72], max error 0: ok
C: f32[100, 72], max error 0: ok
$ tilewright explain roles.py --target cuda --arg A=ones:f16[100,130] --arg B=ones:f16[130,72] --arg C=zeros:f32[100,72] | grep 'execution: \(roles\|skew\|flat\)' | head -1
roles.py:7:1: execution: roles: its dots are wide enough for a warp that only loads
#! Read before it is waited for; given back before it is read; overwritten before it is given back; handed over before it is there.
$ cat > early.sh <<'END'
> sed -n "$1" roles.py > moved; sed "$2" roles.py > early.py
> cmp -s roles.py early.py && echo "nothing was changed"
> for t in interp cpu "cuda --emulate"; do tilewright run early.py --target $t --arg A=ones:f16[100,130] --arg B=ones:f16[130,72] --arg C=zeros:f32[100,72] 2>&1 | head -1; done
> END
$ sh early.sh 24,25p '22r moved
> 24,25d'
early.py:19:17: error: warpgroup 1 writes `a`, and no barrier lies between that and warpgroup 0, which reads it; arrive behind the one, and wait for that in front of the other [roles]
early.py:19:17: error: warpgroup 1 writes `a`, and no barrier lies between that and warpgroup 0, which reads it; arrive behind the one, and wait for that in front of the other [roles]
early.py:19:17: error: warpgroup 1 writes `a`, and no barrier lies between that and warpgroup 0, which reads it; arrive behind the one, and wait for that in front of the other [roles]
$ sh early.sh 26p '23r moved
> 26d'
early.py:19:17: error: warpgroup 1 writes `a`, and no barrier lies between that and warpgroup 0, which reads it; arrive behind the one, and wait for that in front of the other [roles]
early.py:19:17: error: warpgroup 1 writes `a`, and no barrier lies between that and warpgroup 0, which reads it; arrive behind the one, and wait for that in front of the other [roles]
early.py:19:17: error: warpgroup 1 writes `a`, and no barrier lies between that and warpgroup 0, which reads it; arrive behind the one, and wait for that in front of the other [roles]
$ sh early.sh 18p '20r moved
> 18d'
early.py:24:17: error: warpgroup 0 reads `a`, and no barrier lies between that and warpgroup 1, which writes it; arrive behind the one, and wait for that in front of the other [roles]
early.py:24:17: error: warpgroup 0 reads `a`, and no barrier lies between that and warpgroup 1, which writes it; arrive behind the one, and wait for that in front of the other [roles]
early.py:24:17: error: warpgroup 0 reads `a`, and no barrier lies between that and warpgroup 1, which writes it; arrive behind the one, and wait for that in front of the other [roles]
$ sh early.sh 21p '18r moved
> 21d'
early.py:24:17: error: warpgroup 0 reads `a`, and no barrier lies between that and warpgroup 1, which writes it; arrive behind the one, and wait for that in front of the other [roles]
early.py:24:17: error: warpgroup 0 reads `a`, and no barrier lies between that and warpgroup 1, which writes it; arrive behind the one, and wait for that in front of the other [roles]
early.py:24:17: error: warpgroup 0 reads `a`, and no barrier lies between that and warpgroup 1, which writes it; arrive behind the one, and wait for that in front of the other [roles]
$ tilewright run late.py --target interp --arg A=ones:f16[100,130] --arg B=ones:f16[130,72] --arg C=zeros:f32[100,72]
late.py:14:14: error: deadlock: none of the 3 processes left can go on [deadlock]
   14 |         with T.ws(0):
      |              ^~~~~~~
late.py:14:14: note: program (0, 0, 0) waits here for its workers
   14 |         with T.ws(0):
      |              ^~~~~~~
late.py:23:17: note: program (0, 0, 0), worker 0 waits here for phase 0 to end: 128 arrivals and 0 bytes are missing
   23 |                 T.barrier_wait(ready[k % S], k // S % 2)
      |                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
late.py:18:17: note: program (0, 0, 0), worker 1 waits here for phase 0 to end: 128 arrivals and 0 bytes are missing
   18 |                 T.barrier_wait(free[k % S], k // S % 2)
      |                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run late.py --target cpu --arg A=ones:f16[100,130] --arg B=ones:f16[130,72] --arg C=zeros:f32[100,72]
late.py:23:17: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
   23 |                 T.barrier_wait(ready[k % S], k // S % 2)
      |                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
late.py:18:17: note: warpgroup 1 waits here
   18 |                 T.barrier_wait(free[k % S], k // S % 2)
      |                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ cat > sides.py <<'END'
> import tilelang.language as T
>
> M, N, K, S = 100, 72, 130, 2
>
>
> @T.prim_func
> def sides(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
>     with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=256) as (bx, by):
>         a = T.alloc_shared((S, 64, 32), "float16")
>         b = T.alloc_shared((S, 32, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         ready = T.alloc_barrier([128] * S)
>         free = T.alloc_barrier([128] * S)
>         tx = T.get_thread_binding()
>         if tx < 128:
>             T.set_max_nreg(240, 1)
>             T.clear(c)
>             for k in T.serial(T.ceildiv(K, 32)):
>                 T.barrier_wait(ready[k % S], k // S % 2)
>                 T.wgmma_gemm(a[k % S, :, :], b[k % S, :, :], c)
>                 T.wait_wgmma(0)
>                 T.barrier_arrive(free[k % S])
>             T.copy(c, C[by * 64, bx * 64])
>         else:
>             T.set_max_nreg(24, 0)
>             for k in T.serial(T.ceildiv(K, 32)):
>                 T.barrier_wait(free[k % S], (k // S + 1) % 2)
>                 T.tma_copy(A[by * 64, k * 32], a[k % S, :, :], barrier=ready[k % S])
>                 for i in T.serial(16):
>                     b[k % S, (tx - 128) // 64 * 16 + i, (tx - 128) % 64] = B[k * 32 + (tx - 128) // 64 * 16 + i, bx * 64 + (tx - 128) % 64]
>                 T.barrier_arrive(ready[k % S])
>
>
> @T.prim_func
> def whole(A: T.Tensor((100, 64), "float32"), B: T.Tensor((64,), "float32"), C: T.Tensor((64,), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         tx = T.get_thread_binding()
>         s = T.alloc_shared((64,), "float32")
>         u = T.alloc_shared((64,), "float32")
>         f = T.alloc_fragment((32, 64), "float32")
>         if tx < 32:
>             T.copy(A[3, 0], s)
>             for i in T.serial(2):
>                 s[tx * 2 + i] = s[tx * 2 + i] + tx
>         elif tx >= 64:
>             T.copy(A[10, 0], f)
>             T.reduce_sum(f, u, dim=0)
>             C[tx - 64] = u[tx - 64]
>         if tx < 64:
>             B[tx] = s[tx]
> END
$ for t in "cpu" "cuda --emulate"; do tilewright check sides.py:sides --target $t --arg A=ones:f16[100,130] --arg B=ones:f16[130,72] --arg C=zeros:f32[100,72] | tail -1; done
C: f32[100, 72], max error 0: ok
C: f32[100, 72], max error 0: ok
$ tilewright explain sides.py:sides --target cuda | grep 'execution: \(roles\|skew\|flat\)' | head -1
sides.py:7:1: execution: roles: its dots are wide enough for a warp that only loads
$ for t in "cpu" "cuda --emulate"; do tilewright check sides.py:whole --target $t --arg A=arange:f32[100,64] --arg B=zeros:f32[64] --arg C=zeros:f32[64]; done
A: f32[100, 64], max error 0: ok
B: f32[64], max error 0: ok
C: f32[64], max error 0: ok
A: f32[100, 64], max error 0: ok
B: f32[64], max error 0: ok
C: f32[64], max error 0: ok
$ sed 's/(k \/\/ S + 1) % 2/k \/\/ S % 2/' sides.py > stuck.py
$ tilewright check stuck.py:sides --arg A=ones:f16[100,130] --arg B=ones:f16[130,72] --arg C=zeros:f32[100,72]
stuck.py:19:17: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
   19 |                 T.barrier_wait(ready[k % S], k // S % 2)
      |                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
stuck.py:27:17: note: warpgroup 1 waits here
   27 |                 T.barrier_wait(free[k % S], k // S % 2)
      |                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
#! A loop as long as another one says, over an array of each thread: on GPUs each thread has it, and nothing goes through shared memory.
$ cat > bubble.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def bubble(X: T.Tensor((70, 9), "int32"), Y: T.Tensor((70, 9), "int32")):
>     with T.Kernel(2, threads=64) as bx:
>         tx = T.get_thread_binding()
>         a = T.alloc_local((9,), "int32")
>         for i in T.serial(9):
>             a[i] = X[bx * 64 + tx, i]
>         for i in T.serial(8):
>             for j in T.serial(8 - i):
>                 if a[j] > a[j + 1]:
>                     t = a[j]
>                     a[j] = a[j + 1]
>                     a[j + 1] = t
>         for i in T.serial(9):
>             Y[bx * 64 + tx, i] = a[i]
> END
$ for t in cpu "cuda --emulate"; do tilewright check bubble.py --target $t --arg 'X=randint(50):i32[70,9]' --arg Y=zeros:i32[70,9] | tail -1; done
Y: i32[70, 9], max error 0: ok
Y: i32[70, 9], max error 0: ok
$ tilewright explain bubble.py --target cuda --arg 'X=randint(50):i32[70,9]' --arg Y=zeros:i32[70,9] | grep -E 'written|bytes of shared memory' | head -3
bubble.py:12:22: merge: the threads run as they are written: a loop as long as another one says steps through an array of each thread
bubble.py:5:1: execution: flat, 64 threads, 0 bytes of shared memory
