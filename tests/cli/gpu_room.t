# Tiles that are large for shared memory: outputs leave the ring, then slots go, conversions go in pieces, then rings leave; what
# still does not fit is refused with the place that needs most. The numbers stay right.
# requires: c++
$ cp -r "$ROOT/kernels" .
$ cat > mm.sh <<'END'
> # COMMAND TARGET INPUT OUTPUT BM BN BK OPTION..
> command=$1 target=$2 in=$3 out=$4 m=$5 n=$6 k=$7; shift 7
> tilewright $command kernels/triton/matmul.py --target $target --arg a_ptr=randn:$in[$m,$k] --arg b_ptr=randn:$in[$k,$n] --arg c_ptr=zeros:$out[$m,$n] --arg M=$m --arg N=$n --arg K=$k --arg stride_am=$k --arg stride_ak=1 --arg stride_bk=$n --arg stride_bn=1 --arg stride_cm=$n --arg stride_cn=1 --arg BM=$m --arg BN=$n --arg BK=$k "$@" 2>&1 | grep -E 'ring: |execution: (flat|skew|roles)|from registers|c_ptr:|error'
> END
$ sh mm.sh explain cuda f16 f32 256 256 64
kernels/triton/matmul.py:45:5: store: from registers: a buffer of 262144 bytes beside two slots of every load does not fit into 232448
kernels/triton/matmul.py:20:1: execution: roles: its dots are wide enough for a warp that only loads
kernels/triton/matmul.py:38:13: ring: 3 slots of 65536 bytes at 0, by TMA
kernels/triton/matmul.py:20:1: execution: roles, 384 threads, 196656 bytes of shared memory
$ sh mm.sh check cuda f16 f32 256 256 64 --emulate --grid 1
a_ptr: f16[256, 64], max error 0: ok
b_ptr: f16[64, 256], max error 0: ok
c_ptr: f32[256, 256], max error 9.54e-06 at [15, 66] (-23.627306, interpreted -23.6272964): ok
$ sh mm.sh explain cuda f16 f16 256 256 128
kernels/triton/matmul.py:45:5: store: from registers: a buffer of 131072 bytes beside two slots of every load does not fit into 232448
kernels/triton/matmul.py:20:1: execution: roles: its dots are wide enough for a warp that only loads
kernels/triton/matmul.py:38:13: ring: 3 slots were asked for, 1 fit into 232448 bytes
kernels/triton/matmul.py:38:13: ring: 1 slot of 131072 bytes at 0, by TMA
kernels/triton/matmul.py:20:1: execution: roles, 384 threads, 197632 bytes of shared memory
$ sh mm.sh check cuda f16 f16 256 256 128 --emulate --grid 1
a_ptr: f16[256, 128], max error 0: ok
b_ptr: f16[128, 256], max error 0: ok
c_ptr: f16[256, 256], max error 0.0156 at [52, 230] (-17.140625, interpreted -17.125): ok
$ sh mm.sh explain cuda:sm_80 f16 f16 128 256 128
kernels/triton/matmul.py:45:5: store: from registers: a buffer of 65536 bytes beside two slots of every load does not fit into 166912
kernels/triton/matmul.py:20:1: execution: skew: this machine has no warp that only loads
kernels/triton/matmul.py:38:13: ring: 3 slots were asked for, 1 fit into 166912 bytes
kernels/triton/matmul.py:38:13: ring: 1 slot of 98304 bytes at 0, by cp.async, ahead
kernels/triton/matmul.py:20:1: execution: skew 0, 128 threads, 163840 bytes of shared memory
$ sh mm.sh check cuda:sm_80 f16 f16 128 256 128 --emulate --grid 1
a_ptr: f16[128, 128], max error 0: ok
b_ptr: f16[128, 256], max error 0: ok
c_ptr: f16[128, 256], max error 0.0156 at [52, 230] (-17.140625, interpreted -17.125): ok
$ sh mm.sh explain cuda f16 f16 512 512 128
kernels/triton/matmul.py:45:5: store: from registers: a buffer of 524288 bytes beside two slots of every load does not fit into 232448
kernels/triton/matmul.py:20:1: execution: flat: its slots take 262144 bytes, the machine has 232448
kernels/triton/matmul.py:40:15: error: the kernel needs 262144 bytes of shared memory, even without loads that run ahead; a block of sm_90a has 232448; 131072 of them hold a tile of the `convert` here; make it smaller [shared-memory]
#! Every number of warps that Triton knows.
$ for w in 1 2 4 8 16 32; do sh mm.sh check cuda f16 f32 32 64 32 --emulate --grid 1 --set num_warps=$w | sed 's/max error .*: ok/ok/'; done
a_ptr: f16[32, 32], ok
b_ptr: f16[32, 64], ok
c_ptr: f32[32, 64], ok
a_ptr: f16[32, 32], ok
b_ptr: f16[32, 64], ok
c_ptr: f32[32, 64], ok
a_ptr: f16[32, 32], ok
b_ptr: f16[32, 64], ok
c_ptr: f32[32, 64], ok
a_ptr: f16[32, 32], ok
b_ptr: f16[32, 64], ok
c_ptr: f32[32, 64], ok
a_ptr: f16[32, 32], ok
b_ptr: f16[32, 64], ok
c_ptr: f32[32, 64], ok
a_ptr: f16[32, 32], ok
b_ptr: f16[32, 64], ok
c_ptr: f32[32, 64], ok
$ tilewright explain kernels/triton/add.py --target cuda --arg x_ptr=zeros:f32[64] --arg y_ptr=zeros:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=64 --arg BLOCK_SIZE=64 --set num_warps=64
error: option num_warps takes an integer from 1 to 32, not `64`
[1]
$ tilewright explain kernels/triton/add.py --target cuda --arg x_ptr=zeros:f32[64] --arg y_ptr=zeros:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=64 --arg BLOCK_SIZE=64 --set num_warps=3
kernels/triton/add.py:24:9: load: box f32[64] of x_ptr[n_elements], strides [1], at [block_start]; outside 0; contiguous
kernels/triton/add.py:25:9: load: box f32[64] of y_ptr[n_elements], strides [1], at [block_start]; outside 0; contiguous
kernels/triton/add.py:31:5: store: box f32[64] of output_ptr[n_elements], strides [1], at [block_start]; contiguous
kernels/triton/add.py:6:1: launch: requires n_elements >= 0; else a general variant runs
kernels/triton/add.py:6:1: access: 3 of 3 accesses through pointers are boxes
kernels/triton/add.py:6:1: execution: flat: no loop loads boxes for a dot that could run ahead of it
kernels/triton/add.py:6:1: error: num_warps must be a power of two, it is 3; use 1, 2, 4, 8, 16 or 32 [num-warps]
    6 | def add_kernel(
      | ^~~~~~~~~~~~~~~
[1]
