# Threads that exchange elements of arrays of their own, in loops: they run as they are written, with a barrier a loop, and bring their arrays in vectors.
$ cp $ROOT/tests/gpu/exchanged.py .
$ for t in "cpu" "cuda --emulate"; do for n in 64 192 512; do tilewright check exchanged.py:walsh --target $t --arg A=randn:f32[3,$n] --arg n=$n --arg O=zeros:f32[3,$n] | tail -1; done; done
O: f32[3, 64], max error 0: ok
O: f32[3, 192], max error 0: ok
O: f32[3, 512], max error 0: ok
O: f32[3, 64], max error 0: ok
O: f32[3, 192], max error 0: ok
O: f32[3, 512], max error 0: ok
$ tilewright explain exchanged.py:walsh --target cuda --arg A=empty:f32[3,512] --arg n=512 --arg O=empty:f32[3,512] | grep merge:
exchanged.py:17:18: merge: the threads run as they are written: a loop exchanges elements of arrays that each thread has for itself
$ tilewright emit exchanged.py:walsh --target cuda --arg A=empty:f32[3,512] --arg n=512 --arg O=empty:f32[3,512] | sed '/^TW_KERNEL/q' | grep -o 'tw_sync()\|tw_ldg_or([0-9]\|tw_stg_if([0-9]'
tw_sync()
tw_ldg_or(4
tw_ldg_or(1
tw_sync()
tw_stg_if(4
tw_stg_if(1
tw_sync()
