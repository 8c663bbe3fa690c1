# run and check: arguments, grids, files, mistakes.
$ tilewright version
tilewright 0.1.0
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=arange:f32[n_elements]' --arg 'y_ptr=ones:f32[1000]' --arg 'output_ptr=zeros:f32[1000]' --arg n_elements=1000 --arg BLOCK_SIZE=256 --grid 'cdiv(n_elements, BLOCK_SIZE)'
output_ptr: f32[1000], 1000 of 1000 elements changed
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=arange:f32[5]' --arg 'y_ptr=full(2.5):f32[5]' --arg 'output_ptr=zeros:f32[5]' --arg n_elements=5 --arg BLOCK_SIZE=256 --grid 1 --save output_ptr=out.npy --target interp
$ od -A n -t f4 -j 128 out.npy
             2.5             3.5             4.5             5.5
             6.5
$ tilewright check "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=randn:bf16[77]' --arg 'y_ptr=randn:bf16[77]' --arg 'output_ptr=zeros:bf16[77]' --arg n_elements=77 --arg BLOCK_SIZE=64 --grid 2 --seed 3
x_ptr: bf16[77], max error 0: ok
y_ptr: bf16[77], max error 0: ok
output_ptr: bf16[77], max error 0: ok
$ tilewright check "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=arange:f32[5]' --arg 'y_ptr=full(2.5):f32[5]' --arg 'output_ptr=zeros:f32[5]' --arg n_elements=4 --arg BLOCK_SIZE=256 --grid 1 --expect output_ptr=out.npy
output_ptr: f32[5], max error 6.5 at [4] (0, expected 6.5): MISMATCH in 1 of 5 elements, allowed is 0.00013
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=file:out.npy' --arg 'y_ptr=file:out.npy:f32' --arg 'output_ptr=zeros:f32[5]' --arg n_elements=5 --arg BLOCK_SIZE=256 --grid 1 --save output_ptr=twice.npy && od -A n -t f4 -j 128 twice.npy
               5               7               9              11
              13
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=randn:f32[5]' --arg BLOCK_SIZE=256 --grid 1
error: kernel `add_kernel` lacks arguments: y_ptr (an array), output_ptr (an array), n_elements (a number); for example:
  tilewright run ...kernels/triton/add.py:add_kernel --arg 'x_ptr=randn:f32[5]' --arg BLOCK_SIZE=256 --grid 1 --arg 'y_ptr=randn:f32[65536]' --arg 'output_ptr=randn:f32[65536]' --arg n_elements=128
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_pt=randn:f32[5]'
error: kernel `add_kernel` has no argument `x_pt`; did you mean `x_ptr`?
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:ad_kernel"
error: .../kernels/triton/add.py holds no kernel `ad_kernel`; did you mean `add_kernel`?
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=randn:f33[5]'
error: --arg x_ptr=randn:f33[5]: the dtype is not known; there are i1, i8..i64, u8..u64, f16, bf16, f32, f64, f8e4m3, f8e5m2, f8e4b8, f8e5b16, f8e4b15
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=randn:f32[5'
error: --arg x_ptr=randn:f32[5: extents in brackets are expected, as in f32[128, 64]
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=randn:f32[M]'
error: --arg x_ptr=randn:f32[M]: `M` is not an integer argument; give it with --arg or -D
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=arange:f32[5]' --arg 'y_ptr=ones:f32[5]' --arg 'output_ptr=zeros:f32[5]' --arg n_elements=5 --arg BLOCK_SIZE=256
error: kernel `add_kernel` does not state its grid; say it with --grid, as in --grid 'cdiv(n, BLOCK)'
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=arange:f32[5]' --arg 'y_ptr=ones:f32[5]' --arg 'output_ptr=zeros:f32[5]' --arg n_elements=5 --arg BLOCK_SIZE=256 --grid 'cdiv(n, BLOCK_SIZE)'
error: --grid cdiv(n, BLOCK_SIZE): `n` is not an integer argument; give it with --arg or -D
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=arange:f32[5]' --arg 'y_ptr=ones:f32[5]' --arg 'output_ptr=zeros:f32[5]' --arg n_elements=5 --arg BLOCK_SIZE=256 --grid 2147483648
error: the grid of kernel `add_kernel` is 2147483648 x 1 x 1; each extent must lie in 0 .. 2^31-1
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=arange:f32[5]' --arg 'y_ptr=ones:f32[5]' --arg 'output_ptr=zeros:f32[5]' --arg n_elements=5 --arg BLOCK_SIZE=256 --grid 1 --save output_ptr=/no/such/folder/x.npy
error: --save output_ptr=/no/such/folder/x.npy: there is no folder /no/such/folder; make it first
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --target gpu
error: there is no target `gpu`; the targets are cpu, ...
[1]
$ tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=arange:f32[5]' --arg 'y_ptr=ones:f32[5]' --arg 'output_ptr=zeros:f32[5]' --arg n_elements=5 --arg BLOCK_SIZE=256 --grid 1 --set num_warp=4
error: there is no option `num_warp`; did you mean `num_warps`?
[1]
$ CC=no-such-cc tilewright run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=arange:f32[5]' --arg 'y_ptr=ones:f32[5]' --arg 'output_ptr=zeros:f32[5]' --arg n_elements=5 --arg BLOCK_SIZE=128 --grid 1
error: CC is set to `no-such-cc`, which is not a program in PATH; set CC to a C compiler (gcc or clang), or unset it
[1]
$ T=$(command -v tilewright); env -u CC PATH=/no "$T" run "$ROOT/kernels/triton/add.py:add_kernel" --arg 'x_ptr=arange:f32[5]' --arg 'y_ptr=ones:f32[5]' --arg 'output_ptr=zeros:f32[5]' --arg n_elements=5 --arg BLOCK_SIZE=128 --grid 1
error: target cpu needs a C compiler, and none of gcc, clang, cc is in PATH; install gcc or clang, set CC to one, or use target interp
hint: a target is chosen with --target NAME
[1]
$ tilewright run nowhere.py
error: nowhere.py cannot be read: No such file or directory
[1]
$ echo hello > hello.txt; tilewright run hello.txt
error: hello.txt: what language is this? Name it .py (Triton, TileLang), .tile.c (Tile C) or .ir (IR text)
[1]
$ tilewright
tilewright: compiles tile kernels written in Triton's language, TileLang's, or Tile C

  tilewright run        FILE[:KERNEL] [options]    compile a kernel and run it
  tilewright check      FILE[:KERNEL] [options]    run a kernel and compare with the interpreter, or with given arrays; without --arg only compile
  tilewright emit       FILE[:KERNEL] [options]    print or write the generated source, plan and report
  tilewright ir         FILE[:KERNEL] [options]    print the IR
  tilewright explain    FILE[:KERNEL] [options]    say what the compiler proved and chose
  tilewright bench      FILE[:KERNEL] [options]    time a kernel over shapes and targets, beside what the machine can do
  tilewright tune       FILE[:KERNEL] [options]    find the fastest constants and options of a kernel
  tilewright build      FILE[:KERNEL] [options]    compile kernels into an object or archive and a C header, to be linked into programs
  tilewright cache                                 say what the cache of compiled kernels holds, or make it hold less
  tilewright list       FILE                       list the kernels of a file, their parameters and configurations
  tilewright targets                               list the targets, and what runs them here
  tilewright docs       [TOPIC]                    print a page of the manual: ops, options, triton, tilelang, tile-c
  tilewright man                                   print the man page: `tilewright man > tilewright.1`
  tilewright completion bash|zsh                   print what a shell needs to complete commands and options
  tilewright version                               print the version
  tilewright help       [COMMAND]                  print this, or the options of a command

`tilewright COMMAND --help` lists the options of a command.
Exit status: 0 it ran and matched, 1 a mismatch or a mistake, 2 a fault of Tilewright.
[1]
$ tilewright rnu
error: unknown command `rnu`; did you mean `run`?
[1]
$ tilewright run --tagret cpu
error: unknown option `--tagret`; did you mean `--target`?
[1]
$ tilewright emit --grid 4
error: `--grid` does not go with `tilewright emit`; it is an option of `run`, `check`, `bench`, `tune`
[1]
$ tilewright targets --help
tilewright targets: list the targets, and what runs them here

  --json                  print it as JSON, and what goes wrong too, an object a line
  --color WHEN            colours of messages: always, never, or auto (on terminals, unless NO_COLOR is set)
  --help                  print this
$ ls
hello.txt
out.npy
twice.npy
