#! Launches on an AMD GPU, whose runtime and compiler are opened when they are wanted: what stands in for them here (tests/gpu/fake_hip.c)
#! compiles with the host's compiler and runs on the emulator, so that arguments, grids, copies, waits and errors take the way of a real one.
# requires: cc g++
$ mkdir lib none && cc -shared -fPIC -I"$ROOT/src" -I"$ROOT/include" -o lib/libamdhip64.so "$ROOT/tests/gpu/fake_hip.c" "$ROOT/build/libinside.a" -ldl -lm -lpthread && cp lib/libamdhip64.so lib/libhiprtc.so
$ cp "$ROOT/kernels/triton/add.py" "$ROOT/kernels/triton/matmul_nt.py" .
$ cat > hip <<'END'
> # FAKE.. -- COMMAND..: a command of tilewright, with the fake
> while [ "$1" != -- ]; do export "$1"; shift; done; shift
> LD_LIBRARY_PATH=$PWD/${LIB:-lib} TILEWRIGHT_HIPRTC=$PWD/lib TILEWRIGHT_CACHE_DIR=$PWD/${CACHE:-cache} tilewright "$@"
> END
$ cat > add <<'END'
> said=
> while [ "$1" != -- ]; do said="$said $1"; shift; done; shift
> sh hip $said -- "${VERB:-check}" add.py --target ${TARGET:-hip} --arg x_ptr=randn:f32[640] --arg y_ptr=ones:f32[640] --arg output_ptr=zeros:f32[640] --arg n_elements=600 --arg BLOCK_SIZE=64 --grid 10 "$@"
> END
$ sh hip -- targets | grep -A1 '^hip '
hip            one readable .hip for AMD's GPUs, hipRTC or clang, HIP's runtime; gfx90a, gfx942, gfx1100
               here: no AMD GPU at all (gfx942, 304 CUs, 8192 MiB), driver of HIP 6.2 (.../lib/libamdhip64.so), hipRTC 6.2 (.../lib/libhiprtc.so)
$ sh hip FAKE_COUNT=4 -- targets | grep -o 'the first of.*another)'
the first of 4 (HIP_VISIBLE_DEVICES chooses another)
#! Kernels run: masks, several blocks, two axes, matrix instructions; on waves of 64, and on the chip that is there.
$ sh add FAKE_TALKS=1 -- 2>&1
hip: 10 x 1 x 1 blocks of 256, 0 bytes, stream 0
x_ptr: f32[640], max error 0: ok
y_ptr: f32[640], max error 0: ok
output_ptr: f32[640], max error 0: ok
$ sh add FAKE_ARCH=gfx1100 -- | tail -1
output_ptr: f32[640], max error 0: ok
$ matmul() { sh hip FAKE_TALKS=1 "$@" -- check matmul_nt.py --target hip --arg a_ptr=randn:bf16[96,128] --arg b_ptr=randn:bf16[64,128] --arg c_ptr=zeros:bf16[96,64] --arg M=96 --arg N=64 --arg K=128 --arg stride_am=128 --arg stride_bn=128 --arg stride_cm=64 --arg BM=32 --arg BN=32 --arg BK=64 --grid 3,2 2>&1; }; matmul; matmul FAKE_ARCH=gfx1100 | tail -1
hip: 3 x 2 x 1 blocks of ... bytes, stream 0
a_ptr: bf16[96, 128], max error 0: ok
b_ptr: bf16[64, 128], max error 0: ok
c_ptr: bf16[96, 64], max error ...: ok
c_ptr: bf16[96, 64], max error ...: ok
#! The second time the code comes out of the cache; without one it is made in memory.
$ sh add FAKE_HIP=hiprtcCompileProgram=6 -- | tail -1
output_ptr: f32[640], max error 0: ok
$ sh add CACHE=/dev/null -- 2>&1 | tail -1
output_ptr: f32[640], max error 0: ok
#! What can be missing, or fail.
$ VERB=run sh add LIB=none --
error: there is no HIP driver here (libamdhip64.so); install AMD's ROCm, or use the emulator
hint: the emulator is asked for with --emulate
[1]
$ sh add FAKE_HIP=hipInit=100 --
error: the HIP driver does not start: hipErrorNoDevice: as asked for; use the emulator, or another target
hint: the emulator is asked for with --emulate
[1]
$ sh add FAKE_COUNT=0 --
error: the HIP driver finds no GPU; use the emulator, or another target
hint: the emulator is asked for with --emulate
[1]
$ sh add FAKE_ARCH=gfx906 --
error: kernel `add_kernel` is compiled for hip:gfx942, the GPU (no AMD GPU at all) is gfx906; a GPU of gfx90a, gfx942 or gfx1100 is needed
[1]
$ TARGET=hip:gfx942 sh add FAKE_ARCH=gfx90a --
error: kernel `add_kernel` is compiled for hip:gfx942, the GPU (no AMD GPU at all) is gfx90a; use target hip:gfx90a
hint: a target is chosen with --target NAME
[1]
$ sh add CACHE=c2 FAKE_HIP=hiprtcCompileProgram=6 --
error: hipRTC refused the emitted code:
it refuses, as asked for
[1]
$ sh add FAKE_HIP=hipModuleLoadData=209 --
error: the driver (6.2) cannot load what the compiler made for kernel `add_kernel`: it is older than the compiler; update it, or set TILEWRIGHT_HIPRTC to the hipRTC of its version
[1]
$ sh add FAKE_HIP=hipMalloc=2 --
error: the GPU has no room for 2560 bytes: 1000 of its 8589934592 are free; destroy buffers, or end other processes that use it
[1]
$ sh add FAKE_HIP=hipModuleLaunchKernel=1 --
error: launch of kernel `add_kernel` on 10 x 1 x 1 blocks: hipErrorFaked: as asked for
[1]
$ sh add FAKE_HIP=hipDeviceSynchronize=719 --
error: kernel `add_kernel` (launch 1, 10 x 1 x 1 blocks) failed on the GPU: hipErrorLaunchFailure: as asked for: it trapped: a device_assert (which prints its line), a tensor descriptor made in it whose base or strides are no multiples of 16 bytes, or a barrier used against its rules; the emulator finds the place; the context of the GPU is lost with it: its buffers cannot be read, and the process has to be started anew to use it
[1]
#! A kernel that does what it must not is the device's fault, told with its name.
$ cat > far.py <<'END'
> import triton, triton.language as tl
> @triton.jit
> def far(x, y, N: tl.constexpr):
>     i = tl.arange(0, N)
>     tl.store(y + i, tl.load(x + i + 1000000))
> END
$ sh hip -- run far.py --target hip --arg x=ones:f32[64] --arg y=zeros:f32[64] --arg N=64 --grid 1 2>&1
hip: global-bounds: kernel launched, block (0, 0, 0), thread 0: load of 4 bytes of global memory at kernel.hip:13: byte ... of `memory of the device`, which has 256 bytes; mask it
error: kernel `far` (launch 1, 1 x 1 x 1 blocks) failed on the GPU: hipErrorLaunchFailure: as asked for: it trapped: a device_assert (which prints its line), a tensor descriptor made in it whose base or strides are no multiples of 16 bytes, or a barrier used against its rules; the emulator finds the place; the context of the GPU is lost with it: its buffers cannot be read, and the process has to be started anew to use it
[1]
#! More threads along an axis than HIP counts.
$ VERB=run sh add -- --grid 2147483647
error: the grid of kernel `add_kernel` is 2147483647 x 1 x 1, of 256 threads each; HIP allows 4294967295 threads along an extent; use larger tiles, or two extents
[1]
