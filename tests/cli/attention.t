# Attention as CUDA on the emulator against the interpreter: the turned loop of the forward pass, tasks in pairs, workers in
# turns, programs side by side; the backward kernels. What the compiler says of them.
# requires: c++
$ cp -r "$ROOT/kernels" .
$ cat > attention.sh <<'END'
> # COMMAND KERNEL D GRID OPTION..
> command=$1 kernel=$2 d=$3; shift 3
> case $kernel in
> attention.py) arrays="o_ptr=empty:bf16[2,300,$d]" ;;
> *dq*) arrays="do_ptr=randn:bf16[2,300,$d] lse_ptr=full(8):f32[2,300] delta_ptr=randn:f32[2,300] dq_ptr=empty:bf16[2,300,$d]" ;;
> *) arrays="do_ptr=randn:bf16[2,300,$d] lse_ptr=full(8):f32[2,300] delta_ptr=randn:f32[2,300] dk_ptr=empty:bf16[2,300,$d] dv_ptr=empty:bf16[2,300,$d]" ;;
> esac
> for x in q k v; do arrays="$arrays ${x}_ptr=randn:bf16[2,300,$d]"; done
> for x in $arrays scale=0.125 N=300 stride_h=$((300 * d)) stride_n=$d D=$d; do set -- "$@" --arg "$x"; done
> tilewright $command kernels/triton/$kernel --target cuda --set num_warps=8 "$@" 2>&1 | grep -E '(o|dk|dv|dq)_ptr: |in flight|take turns|side by side|order|mask|error'
> END
$ sh attention.sh explain attention.py 128 --arg BM=128 --arg BN=64 --arg CAUSAL=true
kernels/triton/attention.py:34:13: mask: one test a tile; elements are masked only where it fails
kernels/triton/attention.py:8:1: execution: 2 workers in compute, persistent, order longest
kernels/triton/attention.py:40:15: dot: stays in flight under the next trip's arithmetic
kernels/triton/attention.py:8:1: execution: the two workers of compute take turns with the matrix units
$ sh attention.sh check attention.py 128 --arg BM=128 --arg BN=64 --arg CAUSAL=true --emulate --grid 3,2
q_ptr: bf16[2, 300, 128], max error 0: ok
k_ptr: bf16[2, 300, 128], max error 0: ok
v_ptr: bf16[2, 300, 128], max error 0: ok
o_ptr: bf16[2, 300, 128], max error 0.000977 at [1, 251, 43] (-0.224609375, interpreted -0.225585938): ok
$ sh attention.sh check attention.py 128 --arg BM=64 --arg BN=64 --arg CAUSAL=true --emulate --grid 5,2
q_ptr: bf16[2, 300, 128], max error 0: ok
k_ptr: bf16[2, 300, 128], max error 0: ok
v_ptr: bf16[2, 300, 128], max error 0: ok
o_ptr: bf16[2, 300, 128], max error 0.000977 at [1, 251, 43] (-0.224609375, interpreted -0.225585938): ok
$ sh attention.sh check attention.py 64 --arg BM=64 --arg BN=64 --arg CAUSAL=false --emulate --grid 5,2
q_ptr: bf16[2, 300, 64], max error 0: ok
k_ptr: bf16[2, 300, 64], max error 0: ok
v_ptr: bf16[2, 300, 64], max error 0: ok
o_ptr: bf16[2, 300, 64], max error 0.000977 at [1, 275, 46] (0.143554688, interpreted 0.142578125): ok
$ sh attention.sh check attention_backward.py:attention_dkdv_kernel 64 --arg BM1=64 --arg BN1=128 --arg CAUSAL=true --emulate --grid 3,2
q_ptr: bf16[2, 300, 64], max error 0: ok
k_ptr: bf16[2, 300, 64], max error 0: ok
v_ptr: bf16[2, 300, 64], max error 0: ok
do_ptr: bf16[2, 300, 64], max error 0: ok
lse_ptr: f32[2, 300], max error 0: ok
delta_ptr: f32[2, 300], max error 0: ok
dk_ptr: bf16[2, 300, 64], max error 0.000122 at [0, 181, 62] (-0.0225830078, interpreted -0.0224609375): ok
dv_ptr: bf16[2, 300, 64], max error 0.00195 at [0, 22, 27] (0.416015625, interpreted 0.41796875): ok
$ sh attention.sh check attention_backward.py:attention_dq_kernel 64 --arg BM2=128 --arg BN2=64 --arg CAUSAL=true --emulate --grid 3,2
q_ptr: bf16[2, 300, 64], max error 0: ok
k_ptr: bf16[2, 300, 64], max error 0: ok
v_ptr: bf16[2, 300, 64], max error 0: ok
do_ptr: bf16[2, 300, 64], max error 0: ok
lse_ptr: f32[2, 300], max error 0: ok
delta_ptr: f32[2, 300], max error 0: ok
dq_ptr: bf16[2, 300, 64], max error 0.000122 at [1, 173, 5] (0.0200195312, interpreted 0.0198974609): ok
#! The plan changes no bit: turned or not, with 1 or 3 slots, with and without roles.
$ for plan in "--set rotate=on" "--set rotate=off" "--set num_stages=1" "--set roles=off"; do sh attention.sh run attention.py 64 --arg BM=128 --arg BN=64 --arg CAUSAL=true --emulate --grid 3,2 $plan --save o_ptr=o.npy; cksum < o.npy; done | sort -u | wc -l
1
#! Programs of one warpgroup run side by side: with fewer trips than a neighbour, without a program; at other numbers; not at all.
$ sh attention.sh explain attention.py 64 --set num_warps=4 --arg BM=64 --arg BN=64 --arg CAUSAL=true
kernels/triton/attention.py:34:13: mask: one test a tile; elements are masked only where it fails
kernels/triton/attention.py:8:1: execution: 1 worker in compute, persistent, order longest
kernels/triton/attention.py:40:15: dot: stays in flight under the next trip's arithmetic
kernels/triton/attention.py:8:1: execution: 3 neighbouring programs run side by side in a block and share what the loop loads
$ sh attention.sh check attention.py 64 --set num_warps=4 --arg BM=64 --arg BN=64 --arg CAUSAL=true --emulate --grid 5,2
q_ptr: bf16[2, 300, 64], max error 0: ok
k_ptr: bf16[2, 300, 64], max error 0: ok
v_ptr: bf16[2, 300, 64], max error 0: ok
o_ptr: bf16[2, 300, 64], max error 0.00195 at [1, 69, 31] (-0.443359375, interpreted -0.44140625): ok
$ for plan in "--set gang=1" "--set gang=2" "--set gang=3" "--set gang=3 --set variant=2" "--set persist=off"; do sh attention.sh run attention.py 64 --set num_warps=4 --arg BM=64 --arg BN=64 --arg CAUSAL=true --emulate --grid 5,2 $plan --save o_ptr=o.npy; cksum < o.npy; done | sort -u | wc -l
1
$ sh attention.sh explain attention.py 64 --set gang=3 --arg BM=128 --arg BN=64 --arg CAUSAL=true | grep side
kernels/triton/attention.py:8:1: execution: programs do not run side by side: a program has more than one warpgroup
#! Slots that threads fill (rows of 113 elements are not aligned) and threads read (f32 times f32, the second product) are given back by each of them.
$ for x in q k v o; do echo --arg ${x}_ptr=randn:f32[1,80,113]; done > odd; echo --arg scale=0.125 --arg N=80 --arg stride_h=9040 --arg stride_n=113 --arg D=113 --arg BM=64 --arg BN=32 --arg CAUSAL=false >> odd
$ tilewright emit kernels/triton/attention.py --target cuda $(cat odd) -o odd_cu > files; grep -oE 'tw_mbar_init\(ring_[a-z]_empty.*|.*tw_mbar_arrive\(ring_[a-z]_empty.*' odd_cu/attention_kernel.cu | sed 's/^ *//; s/_slot//'
tw_mbar_init(ring_q_empty, 128);
tw_mbar_init(ring_k_empty + i * 8, 128);
tw_mbar_init(ring_v_empty + i * 8, 128);
tw_mbar_arrive(ring_k_empty + ring_k * 8);
tw_mbar_arrive(ring_v_empty + ring_v * 8);
tw_mbar_arrive(ring_q_empty);
