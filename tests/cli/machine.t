# What the machine lacks, or will not allow; each with what to do about it, and nothing half-written.
$ cp "$ROOT/kernels/triton/add.py" "$ROOT/kernels/tilec/micro_add.tile.c" .
$ echo add.py --arg x_ptr=arange:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 --arg BLOCK_SIZE=8 > add
$ T=$(command -v tilewright); env -u CC PATH=/no "$T" run $(cat add) --grid 1
error: target cpu needs a C compiler, and none of gcc, clang, cc is in PATH; install gcc or clang, set CC to one, or use target interp
hint: a target is chosen with --target NAME
[1]
$ T=$(command -v tilewright); env -u CC PATH=/no "$T" run $(cat add) --grid 1 --target interp
output_ptr: f32[8], 8 of 8 elements changed
$ T=$(command -v tilewright); env -u CC PATH=/no "$T" emit $(cat add) -o out && ls out
out/add_kernel.c
out/cpu.h
out/report.txt
add_kernel.c
cpu.h
report.txt
$ T=$(command -v tilewright); env -u CC -u CXX PATH=/no "$T" targets
cpu            C through the system's compiler, threads over the grid
               not here: target cpu needs a C compiler, and none of gcc, clang, cc is in PATH; install gcc or clang, set CC to one, or use target interp
cuda           one readable ...
...
cuda-emulated  the CUDA target's text on the host, thread by thread, with races and deadlocks reported
               not here: the emulator needs a C++17 compiler, and none of g++, clang++, c++ is in PATH; install g++ or clang++, or set CXX to one
hip            one readable ...
...
hip-emulated   the HIP target's text on the host, thread by thread, with races and deadlocks reported
               not here: the emulator needs a C++17 compiler, and none of g++, clang++, c++ is in PATH; install g++ or clang++, or set CXX to one
interp         the IR interpreter, which defines what a kernel means; sanitized it is the safe way to run one
               here: built in
tenstorrent    reader, compute and writer kernels for TT-Metalium, run on a functional model of the Tensix grid
               not here: target tenstorrent needs a C++ compiler, and none of g++, clang++, c++ is in PATH; install g++ or clang++, set CXX to one, or use target interp
$ CC=/no/cc tilewright run $(cat add) --grid 1
error: CC is set to `/no/cc`, which is not a program in PATH; set CC to a C compiler (gcc or clang), or unset it
[1]
$ CC=/bin/false tilewright run $(cat add) --grid 1
error: the C compiler `/bin/false` refused the emitted code:

the C compiler `/bin/false` fails the self-test of what kernels are written in; set CC to gcc or clang, or use target interp
hint: a target is chosen with --target NAME
[1]
$ CC=/bin/true tilewright run $(cat add) --grid 1 --save output_ptr=x.npy
error: the compiled kernel could not be loaded: .../kernel.so: cannot open shared object file: No such file or directory
the C compiler `/bin/true` fails the self-test of what kernels are written in; set CC to gcc or clang, or use target interp
hint: a target is chosen with --target NAME
[1]
$ CC='gcc -fno-such-option' tilewright run $(cat add) --grid 1 --save output_ptr=x.npy
error: the C compiler `gcc` refused the emitted code:
gcc: error: unrecognized command-line option '-fno-such-option'

the C compiler `gcc` fails the self-test of what kernels are written in; set CC to gcc or clang, or use target interp
hint: a target is chosen with --target NAME
[1]
$ CC='gcc -Dvector_size(n)=unused' tilewright run $(cat add) --grid 1 2>&1 | grep -o 'vector types of GNU C are needed: set CC to gcc or clang' | head -n 1
vector types of GNU C are needed: set CC to gcc or clang
$ T=$(command -v tilewright); env -u CXX PATH=/no "$T" run $(cat add) --grid 1 --target tenstorrent
error: target tenstorrent needs a C++ compiler, and none of g++, clang++, c++ is in PATH; install g++ or clang++, set CXX to one, or use target interp
hint: a target is chosen with --target NAME
[1]
$ CXX=/no/c++ tilewright run $(cat add) --grid 1 --target tenstorrent
error: CXX is set to `/no/c++`, which is not a program in PATH; set CXX to a C++ compiler (g++ or clang++), or unset it
[1]
#! No GPU. (Where there is one, the words are printed for it.)
$ [ -e /dev/nvidia0 ] && echo "error: there is no CUDA driver here (libcuda.so.1); install NVIDIA's driver, or use the emulator" || tilewright run $(cat add) --grid 1 --target cuda || true
error: there is no CUDA driver here (libcuda.so.1); install NVIDIA's driver, or use the emulator
hint: the emulator is asked for with --emulate
$ tilewright run $(cat add) --grid 1 --target cuda:sm_70
error: target cuda knows no architecture `sm_70`; it knows cuda:sm_80, cuda:sm_89, cuda:sm_90a, cuda:sm_100 (sm_90a is Hopper and the default; sm_80, sm_89 and sm_100 run on later GPUs too)
[1]
$ T=$(command -v tilewright); env -u CXX PATH=/no "$T" run $(cat add) --grid 1 --target cuda --emulate
error: the emulator needs a C++17 compiler, and none of g++, clang++, c++ is in PATH; install g++ or clang++, or set CXX to one
[1]
$ T=$(command -v tilewright); env -u CXX PATH=/no "$T" emit $(cat add) --target cuda -o cu | head -n 1
cu/add_kernel.cu
#! What a target cannot do yet.
$ printf 'import triton\nimport triton.language as tl\n\n@triton.jit\ndef sums(x_ptr, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    tl.store(x_ptr + i, tl.sort(tl.load(x_ptr + i) * i))\n' > sums.py
$ for t in cpu interp; do tilewright run sums.py --arg x_ptr=ones:f32[64] --arg BLOCK=64 --grid 1 --target $t; done
x_ptr: f32[64], 63 of 64 elements changed
x_ptr: f32[64], 63 of 64 elements changed
$ tilewright run sums.py --arg x_ptr=ones:f32[64] --arg BLOCK=64 --grid 1 --target cuda --emulate
x_ptr: f32[64], 63 of 64 elements changed
$ tilewright run sums.py --arg x_ptr=ones:f32[64] --arg BLOCK=64 --grid 1 --target tenstorrent
sums.py:7:25: error: not possible on Tenstorrent: `sort` of a tile; the units of a core compute element by element, products, sums and maxima of rows and columns; write it with those, or use target cpu [not-on-tenstorrent]
    7 |     tl.store(x_ptr + i, tl.sort(tl.load(x_ptr + i) * i))
      |                         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a target is chosen with --target NAME
[1]
#! Folders.
$ tilewright emit micro_add.tile.c -o /proc/out
error: /proc/out cannot be made: No such file or directory
[1]
$ tilewright emit micro_add.tile.c -o micro_add.tile.c
error: micro_add.tile.c is not a folder; -o needs one
[1]
$ tilewright emit micro_add.tile.c -o ''
error: -o needs the name of a folder
[1]
$ tilewright emit micro_add.tile.c -o no/such/folder
error: no/such/folder cannot be made: No such file or directory
[1]
$ mkdir -p half/report.txt; tilewright emit micro_add.tile.c -o half; ls half
error: half/report.txt cannot be written: Is a directory
report.txt
$ tilewright emit micro_add.tile.c > /dev/full
error: the output could not be written
[1]
$ tilewright targets > /dev/full
error: the output could not be written
[1]
$ mkdir x.npy; tilewright run $(cat add) --grid 1 --save output_ptr=x.npy; ls
error: --save output_ptr=x.npy: it is a folder; name a file in it
add
add.py
cu
half
micro_add.tile.c
out
sums.py
x.npy
#! The cache: none, one that cannot be written, one that lies, one that many use.
$ TILEWRIGHT_CACHE_DIR= tilewright run $(cat add) --grid 1
output_ptr: f32[8], 8 of 8 elements changed
$ TILEWRIGHT_CACHE_DIR=/proc/no tilewright run $(cat add) --grid 1
warning: compiled kernels are not kept: the cache folder /proc/no cannot be made [cache]
output_ptr: f32[8], 8 of 8 elements changed
$ TILEWRIGHT_CACHE_DIR=/dev/null tilewright run $(cat add) --grid 1
warning: compiled kernels are not kept: the cache folder /dev/null is not a folder [cache]
output_ptr: f32[8], 8 of 8 elements changed
$ env -u TILEWRIGHT_CACHE_DIR -u XDG_CACHE_HOME HOME=/no/home "$(command -v tilewright)" run $(cat add) --grid 1
output_ptr: f32[8], 8 of 8 elements changed
$ export TILEWRIGHT_CACHE_DIR=$PWD/lies; tilewright run $(cat add) --grid 1; for f in $(find lies -type f); do head -c 1000 /dev/zero > $f; done; tilewright run $(cat add) --grid 1; for f in $(find lies -type f); do truncate -s -1000 $f; done; tilewright run $(cat add) --grid 1; for f in $(find lies -type f); do : > $f; done; tilewright run $(cat add) --grid 1
output_ptr: f32[8], 8 of 8 elements changed
output_ptr: f32[8], 8 of 8 elements changed
output_ptr: f32[8], 8 of 8 elements changed
output_ptr: f32[8], 8 of 8 elements changed
$ export TILEWRIGHT_CACHE_DIR=$PWD/many; for i in 1 2 3 4 5 6; do tilewright run $(cat add) --grid 1 & done; wait; find many -type f | wc -l; stat -c %a many
output_ptr: f32[8], 8 of 8 elements changed
output_ptr: f32[8], 8 of 8 elements changed
output_ptr: f32[8], 8 of 8 elements changed
output_ptr: f32[8], 8 of 8 elements changed
output_ptr: f32[8], 8 of 8 elements changed
output_ptr: f32[8], 8 of 8 elements changed
3
700
$ ls
add
add.py
cu
half
lies
many
micro_add.tile.c
out
sums.py
x.npy
