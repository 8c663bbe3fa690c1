# Objects and headers: what `build` takes and what it refuses. What it makes is run by tests/built.
# requires: gcc
$ cp "$ROOT/kernels/triton/add.py" . && cp "$ROOT/kernels/tilelang/add.py" tile.py && echo add.py --arg x_ptr=*f32 --arg y_ptr=*f32 --arg output_ptr=*f32 --arg n_elements=i32 -D BLOCK_SIZE=64 > add
$ tilewright build $(cat add) --isa baseline -o one && ls
one.o
one.h
add
add.py
one.h
one.o
tile.py
$ sed -n '1,3p;/^int32_t/p;/_error/p' one.h
/* Made by Tilewright 0.1.0. */
#ifndef TW_BUILT_add_kernel_H
#define TW_BUILT_add_kernel_H
 * its source failed first; TW_BUILT_MEMORY, _STUCK and _PARALLEL: parts of it may have run. NAME_error(number) is the text. */
int32_t add_kernel(const float *x_ptr, size_t x_ptr_count, const float *y_ptr, size_t y_ptr_count, float *output_ptr, size_t output_ptr_count, int32_t n_elements, int64_t grid_x, int64_t grid_y, int64_t grid_z, const tw_built_options *options);
const char *add_kernel_error(int32_t result);
$ tilewright build tile.py -DM=8 -DN=8 -Ddtype=float16 --isa baseline --name add_f16 -o two && sed -n '/ \*   /p;/^int32_t/p' two.h
two.o
two.h
 *   A            bits of f16; [8, 8], row-major without gaps
 *   B            bits of f16; [8, 8], row-major without gaps
 *   C            bits of f16; [8, 8], row-major without gaps
int32_t add_f16(const uint16_t *A, size_t A_count, const uint16_t *B, size_t B_count, uint16_t *C, size_t C_count, const tw_built_options *options);
#! Constants of another kernel make another function.
$ tilewright build $(cat add) --isa baseline --name 'add 64' -o three
error: `add 64` is no name of a C function; give it another name
hint: a built function is named by --name NAME
[1]
$ tilewright build $(cat add) --isa v9 -o three
error: `v9` is no instruction set to build for on this machine; there are v4, v3, baseline
[1]
$ tilewright build $(cat add) --isa baseline, -o three
error: `` is no instruction set to build for on this machine; there are v4, v3, baseline
[1]
$ tilewright build $(cat add)
error: where to? -o OUT writes OUT.o and OUT.h
[1]
$ tilewright build add.py -o three
error: kernel `add_kernel` lacks arguments: x_ptr (an array), y_ptr (an array), output_ptr (an array), n_elements (a number), BLOCK_SIZE (a constant); for example:
  tilewright build add.py -o three --arg 'x_ptr=*f32' --arg 'y_ptr=*f32' --arg 'output_ptr=*f32' --arg n_elements=i32 --arg BLOCK_SIZE=128
[1]
$ tilewright build $(cat add) -o three --target interp
error: kernel `add_kernel` cannot be built for target interp; it can for cpu, cuda, hip, tenstorrent
[1]
$ tilewright build $(cat add) -o three --target hip --isa gfx942,sm_80
error: target hip knows no architecture `sm_80`; ...
[1]
$ tilewright build $(cat add) -o three --name exp
error: the C library has a function `exp`, which the program could not call any more; give the kernel's another name
hint: a built function is named by --name NAME
[1]
$ tilewright build $(cat add) -o three --and $(cat add)
error: two functions would be called `add_kernel`; give one of the kernels another name
hint: a built function is named by --name NAME
[1]
$ tilewright build $(cat add) -o three --and add.py --name other
error: kernel `add_kernel` lacks arguments: ...
...
[1]
$ tilewright build $(cat add) -o three --and
error: which file? tilewright build FILE[:KERNEL] [options]
[1]
$ tilewright run add.py --and add.py
error: `--and` does not go with `tilewright run`; it is an option of `build`
[1]
$ tilewright build $(cat add) -o three --target cuda --isa sm_90a,sm_12
error: target cuda knows no architecture `sm_12`; it knows cuda:sm_80, cuda:sm_89, cuda:sm_90a, cuda:sm_100 (sm_90a is Hopper and the default; sm_80, sm_89 and sm_100 run on later GPUs too)
[1]
$ TILEWRIGHT_NVRTC=/nowhere tilewright build $(cat add) -o three --target cuda
error: ...NVRTC is not here: TILEWRIGHT_NVRTC names /nowhere, where no libnvrtc.so can be opened...
[1]
$ tilewright build $(cat add) -o three --target vax
error: there is no target `vax`; the targets are cpu, cuda, cuda-emulated, ...interp, tenstorrent
[1]
$ tilewright build $(cat add) --isa baseline -o nowhere/three
error: nowhere/three.o cannot be written: No such file or directory
[1]
$ mkdir four.h && tilewright build $(cat add) --isa baseline -o four
error: four.h cannot be written: Is a directory
[1]
$ CC=false tilewright build $(cat add) -o three
error: the C compiler `false` refused the emitted code:

the C compiler `false` fails the self-test of what kernels are written in; set CC to gcc or clang, or use target interp
hint: a target is chosen with --target NAME
[1]
$ ls
add
add.py
four.h
one.h
one.o
tile.py
two.h
two.o
#! Several kernels are an archive; OUT.o is OUT.
$ tilewright build $(cat add) --isa baseline -o five.o --and $(cat add) --name add_again && ar t five.a && grep -c '^int32_t add' five.h && rm five.*
five.a
five.h
add_kernel.o
add_again.o
2
#! What was there stays when it cannot be made again.
$ cp one.o kept.o && CC=false tilewright build $(cat add) -o one || cmp one.o kept.o
error: the C compiler `false` refused the emitted code:

the C compiler `false` fails the self-test of what kernels are written in; set CC to gcc or clang, or use target interp
hint: a target is chosen with --target NAME
#! A kernel that was compiled before is launched without a compiler; another one is not.
$ echo add.py --arg x_ptr=arange:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 --grid 1 > run
$ export TILEWRIGHT_CACHE_DIR=$PWD/cache && tilewright run $(cat run) -D BLOCK_SIZE=8 && T=$(command -v tilewright) && /usr/bin/env -i TILEWRIGHT_CACHE_DIR=$PWD/cache PATH=/nowhere $T run $(cat run) -D BLOCK_SIZE=8
output_ptr: f32[8], 8 of 8 elements changed
output_ptr: f32[8], 8 of 8 elements changed
$ T=$(command -v tilewright) && /usr/bin/env -i TILEWRIGHT_CACHE_DIR=$PWD/cache PATH= $T run $(cat run) -D BLOCK_SIZE=16
error: target cpu needs a C compiler, and none of gcc, clang, cc is in PATH; install gcc or clang, set CC to one, or use target interp
hint: a target is chosen with --target NAME
[1]
$ T=$(command -v tilewright) && /usr/bin/env -i TILEWRIGHT_CACHE_DIR=$PWD/cache CC=gone PATH=/nowhere $T run $(cat run) -D BLOCK_SIZE=8
error: CC is set to `gone`, which is not a program in PATH; set CC to a C compiler (gcc or clang), or unset it
[1]
#! One that is there makes its own.
$ mkdir other && printf '#!/bin/sh\necho used >>used\nPATH=/usr/bin:/bin exec gcc "$@"\n' >other/gcc && chmod +x other/gcc && T=$(command -v tilewright) && /usr/bin/env -i TILEWRIGHT_CACHE_DIR=$PWD/cache PATH=$PWD/other $T run $(cat run) -D BLOCK_SIZE=8; cat used
output_ptr: f32[8], 8 of 8 elements changed
used
used
