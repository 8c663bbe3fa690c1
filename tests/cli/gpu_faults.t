# What a user reads when the GPU, its driver or its compiler fail: a driver that fails as it is told (tests/gpu/fake_cuda.c)
# stands in for the real one. Each is a status with a message; nothing crashes.
# requires: cc
$ mkdir lib old none && cc -shared -fPIC -o lib/libcuda.so.1 "$ROOT/tests/gpu/fake_cuda.c" && cp lib/libcuda.so.1 lib/libnvrtc.so && cc -shared -fPIC -DOLD_DRIVER -o old/libcuda.so.1 "$ROOT/tests/gpu/fake_cuda.c"
$ cp "$ROOT/kernels/triton/add.py" . && cp "$ROOT/kernels/triton/matmul.py" .
$ cat > add <<'END'
> # FAKE.. -- OPTION..: add on the fake
> while [ "$1" != -- ]; do export "$1"; shift; done; shift
> LD_LIBRARY_PATH=${LIB:-lib} TILEWRIGHT_NVRTC=$PWD/lib/libnvrtc.so TILEWRIGHT_CACHE_DIR=$PWD/cache tilewright run add.py --target ${TARGET:-cuda} --arg x_ptr=ones:f32[64] --arg y_ptr=ones:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=64 --arg BLOCK_SIZE=64 --grid ${GRID:-1} "$@"
> END
#! All is well (the fake computes nothing), and what `targets` says of it.
$ sh add -- --save output_ptr=o.npy
$ LD_LIBRARY_PATH=lib TILEWRIGHT_NVRTC=$PWD/lib/libnvrtc.so tilewright targets | grep '^cuda '
cuda           one readable .cu, NVRTC or nvcc, the driver API; sm_80, sm_89, sm_90a, sm_100
#! Several devices: which one the command line uses can be chosen.
$ FAKE_COUNT=4 LD_LIBRARY_PATH=lib TILEWRIGHT_NVRTC=$PWD/lib/libnvrtc.so tilewright targets | grep -o 'the first of.*another)'
the first of 4 (CUDA_VISIBLE_DEVICES chooses another)
#! PTX beside the text: no device, but NVRTC.
$ cat > ptx <<'END'
> tilewright emit add.py --arg x_ptr=ones:f32[64] --arg y_ptr=ones:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=64 --arg BLOCK_SIZE=64 --assembly -o ptx.out "$@"
> END
$ TILEWRIGHT_NVRTC=$PWD/lib/libnvrtc.so sh ptx --target cuda | grep ptx$ && cat ptx.out/add_kernel.ptx
ptx.out/add_kernel.ptx
.version 9.0
$ TILEWRIGHT_NVRTC=$PWD/lib/libnvrtc.so FAKE_CUDA=nvrtcCompileProgram=6 sh ptx --target cuda
error: NVRTC refused the emitted code:
it refuses, as asked for
[1]
$ TILEWRIGHT_NVRTC=$PWD/none sh ptx --target cuda
error: NVRTC makes PTX: NVRTC is not here: TILEWRIGHT_NVRTC names .../none, where no libnvrtc.so can be opened
[1]
#! The places where NVRTC is looked for; without a driver `targets` still says what was found.
$ mkdir -p env/lib/python3.11/site-packages/nvidia/cu13/lib && cp lib/libnvrtc.so env/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13
$ found() { LD_LIBRARY_PATH=none env "$@" tilewright targets | grep -o 'NVRTC 13.0 (.*)' | sed "s,$PWD/,,"; }; found TILEWRIGHT_NVRTC=$PWD/lib; found TILEWRIGHT_NVRTC=$PWD/env/lib/python3.11/site-packages; found TILEWRIGHT_NVRTC=$PWD/env/lib/python3.11/site-packages/nvidia/cu13; found LD_LIBRARY_PATH=$PWD/lib; [ -e /usr/local/cuda/lib64/libnvrtc.so ] || found VIRTUAL_ENV=$PWD/env
NVRTC 13.0 (lib/libnvrtc.so)
NVRTC 13.0 (env/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13)
NVRTC 13.0 (env/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13)
NVRTC 13.0 (lib/libnvrtc.so)
NVRTC 13.0 (env/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13)
$ sh ptx --target cpu
error: kernel `add_kernel` has no assembler text: target cuda alone has one (PTX)
[1]
#! No GPU, no start, an old driver.
$ sh add FAKE_COUNT=0 --
error: the CUDA driver finds no GPU; use the emulator, or another target
hint: the emulator is asked for with --emulate
[1]
$ sh add FAKE_CUDA=cuInit=100 --
error: the CUDA driver does not start: CUDA_ERROR_NO_DEVICE: as asked for; use the emulator, or another target
hint: the emulator is asked for with --emulate
[1]
$ sh add FAKE_CUDA=cuDevicePrimaryCtxRetain=2 --
error: the GPU cannot be used: CUDA_ERROR_OUT_OF_MEMORY: as asked for
[1]
$ sh add LIB=old --
error: the CUDA driver has no cuTensorMapEncodeTiled; a newer driver is needed (CUDA 12.0 or later)
[1]
$ sh add FAKE_CUDA=cuModuleLoadData=209 FAKE_DRIVER=12020 --
error: the driver (12.2) cannot load what the compiler made for kernel `add_kernel`: it is older than the compiler; update it, or set TILEWRIGHT_NVRTC to the NVRTC of its version
[1]
$ sh add FAKE_CUDA=cuModuleLoadData=900 --
error: kernel `add_kernel` is loaded by its first launch, which cannot be captured in a graph; launch it once, with arguments of the same kind, before the capture
[1]
#! No compiler, one that refuses.
$ [ -e /usr/local/cuda/bin/nvcc ] && echo "error: no CUDA compiler: NVRTC is not here" || { T=$(command -v tilewright); LD_LIBRARY_PATH=lib TILEWRIGHT_NVRTC=$PWD/none PATH=/no CUDA_HOME= "$T" run add.py --target cuda --arg x_ptr=ones:f32[64] --arg y_ptr=ones:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=64 --arg BLOCK_SIZE=64 --grid 1 2>&1 | cut -c1-46; }
error: no CUDA compiler: NVRTC is not here
$ sh add FAKE_CUDA=nvrtcCompileProgram=6 TILEWRIGHT_CACHE_DIR= -- --set num_warps=2
error: NVRTC refused the emitted code:
it refuses, as asked for
[1]
$ sh add FAKE_UNKNOWN=--no-cache TILEWRIGHT_CACHE_DIR= -- --set num_warps=2 && echo "compiled without that option"
no array changed
compiled without that option
#! A GPU that is too old, that is not the one asked for, and those that other machines fit.
$ sh add FAKE_ARCH=75 --
error: kernel `add_kernel` is compiled for cuda:sm_90a, the GPU (no GPU at all) is sm_75; a GPU of sm_80 or later is needed
[1]
$ sh add FAKE_ARCH=80 TARGET=cuda:sm_90a --
error: kernel `add_kernel` is compiled for cuda:sm_90a, the GPU (no GPU at all) is sm_80; use target cuda:sm_80
hint: a target is chosen with --target NAME
[1]
$ sh add FAKE_ARCH=90 TARGET=cuda:sm_100 --
error: kernel `add_kernel` is compiled for cuda:sm_100, the GPU (no GPU at all) is sm_90; use target cuda:sm_90a
hint: a target is chosen with --target NAME
[1]
$ for arch in 80 86 89 100 120; do sh add FAKE_ARCH=$arch -- && echo runs on sm_$arch; done
no array changed
runs on sm_80
no array changed
runs on sm_86
no array changed
runs on sm_89
no array changed
runs on sm_100
no array changed
runs on sm_120
#! Too little memory, shared memory, registers.
$ sh add FAKE_CUDA=cuMemAlloc_v2=2@2 --
error: the GPU has no room for 256 bytes: 1000 of its 8589934592 are free; destroy buffers, or end other processes that use it
[1]
$ LD_LIBRARY_PATH=lib TILEWRIGHT_NVRTC=$PWD/lib/libnvrtc.so FAKE_SHARED=65536 tilewright run matmul.py --target cuda --arg a_ptr=zeros:f16[128,128] --arg b_ptr=zeros:f16[128,128] --arg c_ptr=zeros:f16[128,128] --arg M=128 --arg N=128 --arg K=128 --arg stride_am=128 --arg stride_ak=1 --arg stride_bk=128 --arg stride_bn=1 --arg stride_cm=128 --arg stride_cn=1 --arg BM=128 --arg BN=128 --arg BK=64 --grid 1
error: kernel `matmul_kernel` needs 196688 bytes of shared memory, a block of no GPU at all has 65536; use smaller tiles or fewer stages, or compile for a smaller machine (sm_89)
[1]
$ sh add FAKE_CUDA=cuLaunchKernel=701 --
error: launch of kernel `add_kernel` on 1 x 1 x 1 blocks (128 threads of 42 registers, 0 bytes of shared memory; a block has 65536 registers and 232448 bytes; fewer warps or smaller tiles need less): CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: as asked for
[1]
#! A kernel that traps, that touches what is not its own, that does not end; a stream that is not this device's.
$ sh add FAKE_CUDA=cuCtxSynchronize=719 --
error: kernel `add_kernel` (launch 1, 1 x 1 x 1 blocks) failed on the GPU: CUDA_ERROR_LAUNCH_FAILED: as asked for: it trapped: a device_assert (which prints its line), a tensor descriptor made in it whose base or strides are no multiples of 16 bytes, or a barrier used against its rules; the emulator finds the place; the context of the GPU is lost with it: its buffers cannot be read, and the process has to be started anew to use it
[1]
$ sh add FAKE_CUDA=cuCtxSynchronize=700 GRID=3 --
error: kernel `add_kernel` (launch 1, 3 x 1 x 1 blocks) failed on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS: as asked for: it touched memory that is no buffer's: the sanitizer (target interp) or the emulator finds the line; the context of the GPU is lost with it: its buffers cannot be read, and the process has to be started anew to use it
hint: the sanitizer is asked for with --sanitize
[1]
$ sh add FAKE_CUDA=cuLaunchKernel=719 --
error: kernel `add_kernel` (launch 1, 1 x 1 x 1 blocks) failed on the GPU: CUDA_ERROR_LAUNCH_FAILED: as asked for: it trapped: a device_assert (which prints its line), a tensor descriptor made in it whose base or strides are no multiples of 16 bytes, or a barrier used against its rules; the emulator finds the place; the context of the GPU is lost with it: its buffers cannot be read, and the process has to be started anew to use it
[1]
$ sh add FAKE_CUDA=cuMemcpyDtoH_v2=700 -- --save output_ptr=o.npy
error: something other than our kernels failed on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS: as asked for: it touched memory that is no buffer's: the sanitizer (target interp) or the emulator finds the line; the context of the GPU is lost with it: its buffers cannot be read, and the process has to be started anew to use it
hint: the sanitizer is asked for with --sanitize
[1]
$ sh add FAKE_CUDA=cuStreamQuery=600@4 TILEWRIGHT_GPU_TIMEOUT=0.1 --
error: kernel `add_kernel` (launch 1, 1 x 1 x 1 blocks) failed on the GPU: it has not ended after 0.1 seconds (TILEWRIGHT_GPU_TIMEOUT): it may run for ever; the GPU stays busy until this process ends; the context of the GPU is lost with it: its buffers cannot be read, and the process has to be started anew to use it
[1]
$ sh add FAKE_CUDA=cuCtxSynchronize=719@3 -- --time 2>&1 | sed 's/launch [0-9]*/launch N/g'
error: kernel `add_kernel` (launch N, 1 x 1 x 1 blocks) failed on the GPU: CUDA_ERROR_LAUNCH_FAILED: as asked for: it trapped: a device_assert (which prints its line), a tensor descriptor made in it whose base or strides are no multiples of 16 bytes, or a barrier used against its rules; the emulator finds the place; the context of the GPU is lost with it: its buffers cannot be read, and the process has to be started anew to use it
$ sh add FAKE_CUDA=cuLaunchKernel=719@3 CUDA_LAUNCH_BLOCKING=1 -- --time
error: kernel `add_kernel` (launch 3, 1 x 1 x 1 blocks) failed on the GPU: CUDA_ERROR_LAUNCH_FAILED: as asked for: it trapped: a device_assert (which prints its line), a tensor descriptor made in it whose base or strides are no multiples of 16 bytes, or a barrier used against its rules; the emulator finds the place; the context of the GPU is lost with it: its buffers cannot be read, and the process has to be started anew to use it
[1]
$ sh add FAKE_CUDA=cuLaunchKernel=201 --
error: launch of kernel `add_kernel` on 1 x 1 x 1 blocks: CUDA_ERROR_FAKED: as asked for
[1]
#! A grid that CUDA does not have.
$ sh add GRID=1,65536 --
error: the grid of kernel `add_kernel` is 1 x 65536 x 1; CUDA allows 65535 in the second and third extent; put the large one first
[1]
