# Threads, roles and barriers that do not become one program: they run as they are written, and are checked before.
$ cp $ROOT/tests/gpu/written.py .
$ for t in "cpu" "cuda --emulate"; do tilewright check written.py:turns --target $t --arg counts=arange:i32[4] --arg A=arange:i32[2,128] --arg B=zeros:i32[2,128] | tail -1; done
B: i32[2, 128], max error 0: ok
B: i32[2, 128], max error 0: ok
$ for t in "cpu" "cuda --emulate"; do tilewright check written.py:steps --target $t --arg 'counts=full(3):i32[3,96]' --arg A=randn:f32[3,96] --arg B=zeros:f32[3,96] --arg H=zeros:f32[3,4] | tail -2; done
B: f32[3, 96], max error 0: ok
H: f32[3, 4], max error 0: ok
B: f32[3, 96], max error 0: ok
H: f32[3, 4], max error 0: ok
$ for k in pairs late; do for t in "cpu" "cuda --emulate"; do tilewright check written.py:$k --target $t --arg A=randn:f16[100,130] --arg B=randn:f16[130,72] --arg C=zeros:f32[100,72] | tail -1 | sed 's/ error.*: / /'; done; done
C: f32[100, 72], max ok
C: f32[100, 72], max ok
C: f32[100, 72], max ok
C: f32[100, 72], max ok
$ for t in "cpu" "cuda --emulate"; do tilewright check written.py:halves --target $t --arg A=randn:f16[100,130] --arg B=randn:f16[130,72] --arg C=zeros:f32[2,100,72] | tail -1 | sed 's/ error.*: / /'; done
C: f32[2, 100, 72], max ok
C: f32[2, 100, 72], max ok
$ for t in "cpu" "cuda --emulate"; do tilewright check written.py:single --target $t --arg A=randn:f32[128] --arg B=zeros:f32[128] | tail -1; done
B: f32[128], max error 0: ok
B: f32[128], max error 0: ok
#! What cannot be proved is said.
$ for t in "cpu" "cuda --emulate"; do tilewright check written.py:trade --target $t --arg A=randn:f32[64,64] --arg B=zeros:f32[64,64] --arg trips=4 --set unproved=on 2>&1 | tail -5; done
written.py:151:17: warning: it is not proved that these roles make progress and do not overwrite what others read: where `trips` is 1, warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles-unproved]
  151 |                 T.barrier_wait(back, i % 2)
      |                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~
A: f32[64, 64], max error 0: ok
B: f32[64, 64], max error 0: ok
written.py:151:17: warning: it is not proved that these roles make progress and do not overwrite what others read: where `trips` is 1, warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles-unproved]
  151 |                 T.barrier_wait(back, i % 2)
      |                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~
A: f32[64, 64], max error 0: ok
B: f32[64, 64], max error 0: ok
$ tilewright explain written.py:halves --target cuda | grep 'roles:\|merge:'
written.py:112:12: roles: 3 workers make progress, see each hand-over once and overwrite nothing that is read: proved in 7 orders, loops of unknown ends for up to 6 trips
written.py:112:12: merge: 3 workers run side by side as they are written
#! Workers that share a region, each with its number: one each.
$ cat > shared.ir <<'END'
> kernel @k(%x: tensor<f32,2>, %y: tensor<f32,2>) {
>   grid { yield 1 }
>   %s = buf : buf<f32[2,32,32], shared>
>   %full = bar<bars=2, count=128>
>   spmd %w in 2 <unit=warpgroup> {
>     %at = mul %w, 32
>     %t = tload %x, [%at, 0] : f32[32,32]
>     %r = reshape %t : f32[1,32,32]
>     bstore %s, [%w, 0, 0], %r
>     bar_arrive<count=128> %full, %w
>     %o = sub 1, %w
>     bar_wait %full, 0, %o
>     %u = bload %s, [%o, 0, 0] : f32[1,32,32]
>     %v = reshape %u : f32[32,32]
>     %z = add %t, %v
>     tstore %y, [%at, 0], %z
>   }
> }
> END
$ for t in "cpu" "cuda --emulate"; do tilewright check shared.ir --target $t --arg x=randn:f32[64,32] --arg y=zeros:f32[64,32] | tail -1; done
y: f32[64, 32], max error 0: ok
y: f32[64, 32], max error 0: ok
$ cat > warps.ir <<'END'
> kernel @k(%x: tensor<f32,1>) {
>   grid { yield 1 }
>   spmd %w in 3 <unit=warp> {
>     %a = mul %w, 32
>     %t = tload %x, [%a] : f32[32]
>     %u = add %t, 1.0
>     tstore %x, [%a], %u
>     spmd %i in 32 <unit=thread> { %q = add %a, %i ; %v = tload %x, [%q] : f32 ; %z = mul %v, 2.0 ; tstore %x, [%q], %z }
>   }
> }
> END
$ for t in "cpu" "cuda --emulate"; do tilewright check warps.ir --target $t --arg x=arange:f32[96] | tail -1; done
x: f32[96], max error 0: ok
x: f32[96], max error 0: ok
$ cat > tiles.ir <<'END'
> kernel @k(%x: tensor<f32,1>, %n: i32) {
>   grid { yield 1 }
>   spmd %t in 64 <unit=thread> {
>     %c = cmp<lt> %t, %n
>     if %c {
>       %a = tload %x, [%t] : f32[32]
>       sync
>       tstore %x, [%t], %a
>     }
>   }
> }
> END
$ tilewright emit tiles.ir --target cuda
tiles.ir:6:8: error: these threads do not become operations on tiles, and cuda:sm_90a runs no others: the block does this as a whole, and a condition differs between threads; use target interp, or let all threads meet at the same places [threads]
    6 |       %a = tload %x, [%t] : f32[32]
      |        ^~~~~~~~~
hint: a target is chosen with --target NAME
[1]
$ tilewright emit written.py:late --target cuda:sm_80 2>&1 | head -1 | cut -c1-120
written.py:83:17: error: roles that wait for each other do not become one program here, and cuda:sm_80 runs them in no o
#! Where threads that leave a loop early are waited for, each target says so.
$ cat > counts.py <<'END'
> import array
>
> header = b"{'descr': '<i4', 'fortran_order': False, 'shape': (3, 96), }"
> header += b" " * (-(len(header) + 11) % 64) + b"\n"
> open("counts.npy", "wb").write(b"\x93NUMPY\x01\x00" + bytes([len(header), 0]) + header + array.array("i", [i % 2 for i in range(288)]).tobytes())
> END
$ python3 counts.py; for t in "cpu" "cuda --emulate" "interp"; do tilewright run written.py:steps --target $t --arg counts=file:counts.npy --arg A=ones:f32[3,96] --arg B=zeros:f32[3,96] --arg H=zeros:f32[3,4] 2>&1 | head -1 | cut -c1-100; done
error: kernel `steps`: workers of a program wait for each other for ever; target interp says where
error: kernel `steps` on the emulator: deadlock: kernel steps, block (0, 0, 0): every thread waits:
written.py:32:13: error: deadlock: none of the 49 processes left can go on [deadlock]
#! Mutants of the kernel `pairs`.
$ cat > mutant.sh <<'END'
> sed "/^def pairs/,/^def late/{$1}" written.py > mutant.py
> cmp -s written.py mutant.py && echo "nothing was changed"
> tilewright emit mutant.py:pairs --target cuda 2>&1 >/dev/null | grep 'error\|warning\|note' | sed 's/^mutant.py:\([0-9]*\):[0-9]*: /\1: /' | cut -c1-180 | head -${2:-2}
> END
$ sh mutant.sh 's/(k \/\/ 2 + 1) % 2/k \/\/ 2 % 2/'
58: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
70: note: warpgroup 1 waits here
$ sh mutant.sh '/T.barrier_arrive(free\[1\])/d'
62: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 1 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
69: note: warpgroup 1 waits here
$ sh mutant.sh '/T.barrier_wait(ready\[1\]/d' 9
62: error: warpgroup 0 reads `a`, and no barrier lies between that and warpgroup 1, which writes it; arrive behind the one, and wait for that in front of the other [roles]
70: note: warpgroup 1 writes it here
69: note: warpgroup 1 waits here
69: note: before: warpgroup 1 passes here
73: note: then warpgroup 1 arrives, and phase 0 ends here
69: note: then warpgroup 1 passes here
73: note: then warpgroup 1 arrives, and phase 0 ends here
58: note: then warpgroup 0 passes here
61: note: then warpgroup 0 arrives, and phase 0 ends here
$ sh mutant.sh '/T.barrier_wait(free/d'
58: error: the phase that this waits for may have ended, and the next one as well, before anybody looks: a hand-over is lost; let who arrives wait for who takes it [roles]
73: note: before: warpgroup 1 arrives, and phase 0 ends here
$ sh mutant.sh 's/ready = T.alloc_barrier(\[128\]/ready = T.alloc_barrier([64]/'
74: error: 128 threads arrive at a barrier that counts 64; let fewer arrive, or count them where the barrier is made [roles]
58: note: warpgroup 0 waits here
$ sh mutant.sh 's/ready = T.alloc_barrier(\[128\]/ready = T.alloc_barrier([256]/'
58: error: warpgroup 0 waits here for ever: 128 of 256 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
70: note: warpgroup 1 waits here
$ sh mutant.sh 's/\( *\)T.barrier_arrive(ready\[k % 2\])/&\n&/'
58: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 2 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
70: note: warpgroup 1 waits here
$ sh mutant.sh 's/\( *\)T.barrier_arrive(free\[0\])/&\n\1T.barrier_arrive(ready[1])/'
63: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 2 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
71: note: warpgroup 1 waits here
$ sh mutant.sh 's/\( *\)T.barrier_wait(ready\[0\], k % 2)/\1if M > bx:\n    &/'
63: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
71: note: warpgroup 1 waits here
$ sh mutant.sh 's/\( *\)T.barrier_arrive(free\[0\])/\1T.barrier_wait(ready[1], k % 2)\n&/;/^ *T.wgmma_gemm(a\[0/{h;d};/T.barrier_arrive(free\[1\])/G'
72: error: warpgroup 1 writes `a`, and no barrier lies between that and warpgroup 0, which reads it; arrive behind the one, and wait for that in front of the other [roles]
66: note: warpgroup 0 reads it here
$ sh mutant.sh 's/\( *\)T.wgmma_gemm(a\[[01]/\1T.sync_threads(3, 128)\n&/;s/\( *\)T.tma_copy/\1T.sync_threads(3, 128)\n&/'
73: error: two warpgroups meet at barrier 3, each for itself; give each a number of its own [roles]
59: note: the other one
$ sh mutant.sh 's/\( *\)T.wgmma_gemm(a\[1/\1T.sync_threads(0, 128)\n&/'
63: error: barrier 0 is that of the whole block, and other roles do not come here; take 1 to 15 [roles]
$ sh mutant.sh 's/k \/\/ 2 + 1/B[0, 0] > 0/'
70: error: it is not proved that these roles make progress and do not overwrite what others read: the parity is not known before the kernel runs; make it from the trips of a loop, 
#! Trips from memory, each role's own: the mistake is found wherever there are many. (Without it all of that is proved.)
$ cat > counted.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def main(A: T.Tensor((3, 255, 32), "float16"), B: T.Tensor((3, 64, 64), "float32"), C: T.Tensor((3, 64, 64), "float32"), O: T.Tensor((3, 256, 64), "float32"), counts: T.Tensor((3,), "int32")):
>     with T.Kernel(3, threads=512) as bx:
>         a = T.alloc_shared((2, 64, 32), "float16")
>         o = T.alloc_shared((2, 64, 64), "float32")
>         x, y = T.alloc_fragment((64, 64), "float32"), T.alloc_fragment((64, 64), "float32")
>         ready, free = T.alloc_barrier([128] * 2), T.alloc_barrier([128] * 2)
>         made, taken = T.alloc_barrier([128] * 2), T.alloc_barrier([128] * 2)
>         with T.ws(0):
>             for k in T.serial((counts[bx] & 3) + 1):
>                 T.barrier_wait(made[k % 2], k // 2 % 2)
>                 T.copy(o[k % 2, :, :], O[bx, k * 64, 0])
>                 T.barrier_arrive(taken[k % 2])
>         with T.ws(1):
>             T.fill(x, 0)
>             for k in T.serial(T.ceildiv((counts[bx] & 3) + 1 - 1, 2)):
>                 T.barrier_wait(ready[1], k % 2)
>                 T.gemm(a[1, :, :], a[1, :, :], x, transpose_B=True)
>                 T.barrier_arrive(free[1])
>                 T.barrier_wait(taken[1], (k + 1) % 2)
>                 for i, j in T.Parallel(64, 64):
>                     o[1, i, j] = x[i, j] * 2 + i
>                 T.barrier_arrive(made[1])
>             T.copy(x, B[bx, 0, 0])
>         with T.ws(2):
>             T.fill(y, 0)
>             for k in T.serial(T.ceildiv((counts[bx] & 3) + 1, 2)):
>                 T.barrier_wait(ready[0], k % 2)
>                 T.gemm(a[0, :, :], a[0, :, :], y, transpose_B=True)
>                 T.barrier_arrive(free[0])
>                 T.barrier_wait(taken[0], (k + 1) % 2)
>                 for i, j in T.Parallel(64, 64):
>                     o[0, i, j] = y[i, j] * 3 + i
>                 T.barrier_arrive(made[0])
>             T.copy(y, C[bx, 0, 0])
>         with T.ws(3):
>             for k in T.serial((counts[bx] & 3) + 1):
>                 T.barrier_wait(free[k % 2], (k // 2 + 1) % 2)
>                 T.tma_copy(A[bx, k * 64, 0], a[k % 2, :, :], barrier=ready[k % 2])
>                 T.barrier_arrive(ready[k % 2])
> END
$ tilewright explain counted.py | grep 'roles:' | cut -c1-120
counted.py:12:14: roles: 4 workers make progress, see each hand-over once and overwrite nothing that is read: proved in 
$ for t in "cpu" "cuda --emulate"; do tilewright check counted.py --target $t --arg 'A=randint(4):f16[3,255,32]' --arg B=zeros:f32[3,64,64] --arg C=zeros:f32[3,64,64] --arg O=zeros:f32[3,256,64] --arg counts=arange:i32[3] | grep O:; done
O: f32[3, 256, 64], max error 0: ok
O: f32[3, 256, 64], max error 0: ok
$ for line in 14 20 23 31 34 41; do sed ${line}d counted.py > mutant.py; tilewright emit mutant.py --target cuda 2>&1 >/dev/null | head -1 | sed 's/^mutant.py:\([0-9]*\):[0-9]*: /\1: /' | cut -c1-250; done
33: error: warpgroup 2 waits here for ever: 128 of 128 arrivals of phase 1 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
40: error: warpgroup 3 waits here for ever: 128 of 128 arrivals of phase 1 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
24: error: warpgroup 1 writes `o`, and no barrier lies between that and warpgroup 0, which reads it; arrive behind the one, and wait for that in front of the other [roles]
40: error: warpgroup 3 waits here for ever: 128 of 128 arrivals of phase 1 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
35: error: warpgroup 2 writes `o`, and no barrier lies between that and warpgroup 0, which reads it; arrive behind the one, and wait for that in front of the other [roles]
14: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase [roles]
#! One that reads another number than the others: for some launches it is right, for others not.
$ sed '40s/(counts\[bx\] & 3) + 1/counts[0] % 4 + 1/' counted.py > mutant.py; tilewright emit mutant.py --target cuda 2>&1 >/dev/null | head -1
mutant.py:14:17: error: it is not proved that these roles make progress and do not overwrite what others read: where a number in `counts` is 1 and a number in `counts` is 0, warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 0 are missing, and nobody is left who could arrive; arrive before this, or wait for another phase; with the compile option `unproved` on they run all the same [roles-unproved]
$ sed '40s/(counts\[bx\] & 3) + 1/counts[0] % 4 + 1/' counted.py > mutant.py; tilewright emit mutant.py --target cuda --set unproved=on 2>&1 >/dev/null | head -1 | cut -c1-120
mutant.py:14:17: warning: it is not proved that these roles make progress and do not overwrite what others read: where a
