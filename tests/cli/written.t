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
$ for t in "cpu" "cuda --emulate"; do tilewright check written.py:trade --target $t --arg A=randn:f32[64,64] --arg B=zeros:f32[64,64] --arg trips=4 2>&1 | tail -5; done
written.py:157:22: warning: it is not proved that these roles make progress and do not overwrite what others read: loops around barriers have several ends that are not known before the kernel runs [roles-unproved]
  157 |             for i in T.serial(trips // 2):
      |                      ^~~~~~~~~~~~~~~~~~~~
A: f32[64, 64], max error 0: ok
B: f32[64, 64], max error 0: ok
written.py:157:22: warning: it is not proved that these roles make progress and do not overwrite what others read: loops around barriers have several ends that are not known before the kernel runs [roles-unproved]
  157 |             for i in T.serial(trips // 2):
      |                      ^~~~~~~~~~~~~~~~~~~~
A: f32[64, 64], max error 0: ok
B: f32[64, 64], max error 0: ok
$ tilewright explain written.py:halves --target cuda | grep 'roles:\|merge:'
written.py:112:12: roles: 3 workers make progress, see each hand-over once and overwrite nothing that is read: proved in 7 orders, loops of unknown ends for up to 6 trips
written.py:112:12: merge: 3 workers run side by side as they are written
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
58: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 0 are missing, and nobody is left who could arrive [roles]
70: note: warpgroup 1 waits here
$ sh mutant.sh '/T.barrier_arrive(free\[1\])/d'
62: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 1 are missing, and nobody is left who could arrive [roles]
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
58: error: the phase that this waits for may have ended, and the next one as well, before anybody looks: a hand-over is lost; who arrives has to wait for who takes it [roles]
73: note: before: warpgroup 1 arrives, and phase 0 ends here
$ sh mutant.sh 's/ready = T.alloc_barrier(\[128\]/ready = T.alloc_barrier([64]/'
74: error: 128 threads arrive at a barrier that counts 64 [roles]
58: note: warpgroup 0 waits here
$ sh mutant.sh 's/ready = T.alloc_barrier(\[128\]/ready = T.alloc_barrier([256]/'
58: error: warpgroup 0 waits here for ever: 128 of 256 arrivals of phase 0 are missing, and nobody is left who could arrive [roles]
70: note: warpgroup 1 waits here
$ sh mutant.sh 's/\( *\)T.barrier_arrive(ready\[k % 2\])/&\n&/'
58: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 2 are missing, and nobody is left who could arrive [roles]
70: note: warpgroup 1 waits here
$ sh mutant.sh 's/\( *\)T.barrier_arrive(free\[0\])/&\n\1T.barrier_arrive(ready[1])/'
63: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 2 are missing, and nobody is left who could arrive [roles]
71: note: warpgroup 1 waits here
$ sh mutant.sh 's/\( *\)T.barrier_wait(ready\[0\], k % 2)/\1if M > bx:\n    &/'
63: error: warpgroup 0 waits here for ever: 128 of 128 arrivals of phase 0 are missing, and nobody is left who could arrive [roles]
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
70: warning: it is not proved that these roles make progress and do not overwrite what others read: the parity is not known before the kernel runs [roles-unproved]
