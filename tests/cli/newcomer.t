# What someone tries first, and tries wrong: each answer says what is wrong and what to write instead, at once.
$ cp $ROOT/kernels/triton/add.py . && echo "--arg x_ptr=randn:f32[100] --arg y_ptr=ones:f32[100] --arg output_ptr=zeros:f32[100] --arg n_elements=100 --arg BLOCK_SIZE=64" > args
#! Words.
$ tilewright | head -3
tilewright: compiles tile kernels written in Triton's language, TileLang's, or Tile C

  tilewright run        FILE[:KERNEL] [options]    compile a kernel and run it
$ tilewright > /dev/null
[1]
$ for command in run check emit ir explain list targets docs version help; do tilewright $command --help > /dev/null && tilewright help $command > /dev/null || echo "$command has no help"; done
$ tilewright --version | sed 's/[0-9.]*$/N/'
tilewright N
$ for words in rnu "run" "run add.py --gird 1" "run add.py --targt=cpu" "check -x" "help rnu" "docs tirton" "run add.py more.py" "list add.py --grid 1" "run --arg" "run add.py --arg x_ptr" "run add.py --arg =1"; do tilewright $words; done
error: unknown command `rnu`; did you mean `run`?
error: which file? tilewright run FILE[:KERNEL] [options]
error: unknown option `--gird`; did you mean `--grid`?
error: unknown option `--targt`; did you mean `--target`?
error: unknown option `-x`; `tilewright check --help` lists them
error: unknown command `rnu`; did you mean `run`?
error: there is no page `tirton`; there are ops, options, triton, tilelang and tile-c
error: `more.py` is one word too many
error: `--grid` does not go with `tilewright list`; it is an option of `run`, `check`, `bench`, `tune`
error: --arg needs a value: --arg NAME=SPEC
error: --arg takes NAME=SPEC, not `x_ptr`
error: --arg takes NAME=SPEC, not `=1`
[1]
#! Files.
$ : > empty.py; echo "x = 1" > plain.py; printf 'import triton\n@triton.jit\ndef k(p):\n    pass # caf\xe9\n' > latin.py; printf 'kernel' > unknown; mkdir folder.py
$ for file in nowhere.py . folder.py empty.py plain.py latin.py unknown add.py:addkernel add.py:nothing; do tilewright check $file; done
error: nowhere.py cannot be read: No such file or directory
error: . cannot be read: Is a directory
error: folder.py cannot be read: Is a directory
empty.py:1:1: error: empty.py has no function decorated with @triton.jit; add the decorator to the kernel [no-kernel]
    1 | 
      | ^
plain.py:1:1: error: plain.py has no function decorated with @triton.jit; add the decorator to the kernel [no-kernel]
    1 | x = 1
      | ^
latin.py:4:15: error: byte 0xe9 is not UTF-8; save the file as UTF-8 text [not-utf8]
    4 |     pass # caf?
      |               ^
error: unknown: what language is this? Name it .py (Triton, TileLang), .tile.c (Tile C) or .ir (IR text)
error: add.py holds no kernel `addkernel`; did you mean `add_kernel`?
error: add.py holds no kernel `nothing`; it holds add_kernel
[1]
$ sed 's/$/\r/' add.py > windows.py; printf '\xef\xbb\xbf' | cat - add.py > mark.py; sed 's/^    /\t/' add.py > tabs.py; cp add.py text.txt; cp add.py -- -dash.py
$ for file in windows.py mark.py tabs.py text.txt; do tilewright run $file $(cat args) --grid 2; done; tilewright run $(cat args) --grid 2 -- -dash.py; tilewright list -- -dash.py; tilewright list -- --help
output_ptr: f32[100], 100 of 100 elements changed
output_ptr: f32[100], 100 of 100 elements changed
output_ptr: f32[100], 100 of 100 elements changed
output_ptr: f32[100], 100 of 100 elements changed
output_ptr: f32[100], 100 of 100 elements changed
add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: constant)
error: --help cannot be read: No such file or directory
[1]
#! Grids.
$ for grid in 0 -1 99999999999 1.5 1e3 n 'cdiv(n_element,BLOCK_SIZE)' 1,2,3,4 1, ''; do tilewright run add.py $(cat args) --grid "$grid"; done
warning: no program runs: the grid is 0 x 1 x 1
no array changed
error: the grid of kernel `add_kernel` is -1 x 1 x 1; each extent must lie in 0 .. 2^31-1
error: the grid of kernel `add_kernel` is 99999999999 x 1 x 1; each extent must lie in 0 .. 2^31-1
error: --grid 1.5: a whole number in plain digits is expected
error: --grid 1e3: a whole number in plain digits is expected
error: --grid n: `n` is not an integer argument; give it with --arg or -D
error: --grid cdiv(n_element,BLOCK_SIZE): `n_element` is not an integer argument; did you mean `n_elements`?
error: --grid 1,2,3,4: a grid has at most 3 extents
error: --grid 1,: a number or a name is expected
error: --grid : a number or a name is expected
[1]
$ tilewright run add.py $(cat args)
error: kernel `add_kernel` does not state its grid; say it with --grid, as in --grid 'cdiv(n, BLOCK)'
[1]
#! Arrays.
$ echo "--arg y_ptr=ones:f32[100] --arg output_ptr=zeros:f32[100] --arg n_elements=100 --arg BLOCK_SIZE=64 --grid 2" > rest
$ for spec in 'randn:f32[-5]' 'randn:f32[1e3]' 'randn:f32[n]' 'randn:f32[100,]' 'randn:f32[100' 'randn:f32' 'randn' 'random:f32[100]' 'randn:fp33[100]' 'abc' '' 'torch.zeros(100)' 'file:' 'file:nowhere.npy' 'file:add.py' 'full:f32[100]'; do tilewright run add.py $(cat rest) --arg "x_ptr=$spec"; done
error: --arg x_ptr=randn:f32[-5]: extent -5 is negative
error: --arg x_ptr=randn:f32[1e3]: a whole number in plain digits is expected
error: --arg x_ptr=randn:f32[n]: `n` is not an integer argument; give it with --arg or -D
error: --arg x_ptr=randn:f32[100,]: a number or a name is expected
error: --arg x_ptr=randn:f32[100: extents in brackets are expected, as in f32[128, 64]
error: --arg x_ptr=randn:f32: extents in brackets are expected, as in f32[128, 64]
error: --arg x_ptr=randn: the kernel loads or stores through it: an array is expected, as in randn:f32[1024]
error: --arg x_ptr=random:f32[100]: arrays are randn, rand, randint(N), zeros, ones, empty, arange, full(V) and file:X.npy
error: --arg x_ptr=randn:fp33[100]: the dtype is not known; there are i1, i8..i64, u8..u64, f16, bf16, f32, f64, f8e4m3, f8e5m2, f8e4b8, f8e5b16, f8e4b15
error: --arg x_ptr=abc: the kernel loads or stores through it: an array is expected, as in randn:f32[1024]
error: --arg x_ptr=: the kernel loads or stores through it: an array is expected, as in randn:f32[1024]
error: --arg x_ptr=torch.zeros(100): the kernel loads or stores through it: an array is expected, as in randn:f32[1024]
error: --arg x_ptr=file:: the name of a file is expected, as in file:x.npy
error: --arg x_ptr=file:nowhere.npy: nowhere.npy cannot be read: No such file or directory
error: --arg x_ptr=file:add.py: add.py is no .npy file that can be read: it does not begin with \x93NUMPY, as numpy.save writes it
error: --arg x_ptr=full:f32[100]: a value is expected, as in full(1.5):f32[1024]
[1]
$ tilewright run add.py $(cat rest) --arg x_ptr=randn:f32[1000000000000]
error: --arg x_ptr=randn:f32[1000000000000]: it takes 4e+03 GB, with the copies that are kept 1.2e+04 GB; this machine has ... GB
[1]
$ tilewright run add.py $(cat rest) --arg x_ptr=5
add.py:24:17: error: tl.load takes a pointer, here is an int32[64]; add the offsets to a pointer argument [pointer]
   24 |     x = tl.load(x_ptr + offsets, mask=mask)
      |                 ^~~~~~~~~~~~~~~
hint: the kernel loads or stores through `x_ptr`, and a number was given; an array is --arg 'x_ptr=randn:f32[1024]'
[1]
$ tilewright run add.py $(cat rest) --arg x_ptr=ones:fp32[100] --arg n_elements=3
error: --arg n_elements is given twice
[1]
#! What is saved and expected.
$ tilewright run add.py $(cat args) --grid 2 --save output_ptr=sum.npy --save x_ptr=x.npy && tilewright check add.py $(cat args) --grid 2 --expect output_ptr=sum.npy
output_ptr: f32[100], max error 0: ok
$ for save in output_ptr=nowhere/x.npy output_ptr=folder.py output_ptr= output_ptr out=x.npy n_elements=x.npy output_ptr=/proc/x.npy; do tilewright run add.py $(cat args) --grid 2 --save $save; done; ls *.npy
error: --save output_ptr=nowhere/x.npy: there is no folder nowhere; make it first
error: --save output_ptr=folder.py: it is a folder; name a file in it
error: --save output_ptr=: the name of a file is expected, as in --save output_ptr=output_ptr.npy
error: --save takes NAME=FILE.npy, not `output_ptr`
error: kernel `add_kernel` has no argument `out`; it has x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE
error: --save n_elements: it is not an array
error: .../proc... cannot be written...
sum.npy
x.npy
$ tilewright run add.py --arg x_ptr=ones:f32[10,10] --arg y_ptr=ones:f32[10,10] --arg output_ptr=zeros:f32[10,10] --arg n_elements=100 --arg BLOCK_SIZE=64 --grid 2 --save output_ptr=square.npy
$ for expect in output_ptr=square.npy output_ptr=nowhere.npy output_pt=sum.npy BLOCK_SIZE=sum.npy; do tilewright check add.py $(cat args) --grid 2 --expect $expect; done
output_ptr: f32[100], and square.npy holds f32[10, 10]: MISMATCH of the shapes
error: --expect output_ptr=nowhere.npy: it cannot be read: No such file or directory
error: kernel `add_kernel` has no argument `output_pt`; did you mean `output_ptr`?
error: --expect BLOCK_SIZE: it is not an array
[1]
$ tilewright run add.py $(cat args) --grid 2 --expect output_ptr=sum.npy
error: `--expect` does not go with `tilewright run`; it is an option of `check`
[1]
#! Names are looked up before arguments are asked for, also in functions that the kernel calls, here and in other files; not where constants may leave code out.
$ cat > helpers.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def twice(x):
>     return x * tl.nonsense(2)
> END
$ cat > wrong.py <<'END'
> import triton
> import triton.language as tl
> from helpers import twice
>
> @triton.jit
> def half(x):
>     y = x / 2
>     return tl.adds(y, 1)
>
> @triton.jit
> def kernel(p, n, NEW: tl.constexpr, BLOCK: tl.constexpr):
>     i = tl.arange(0, BLOCK)
>     if NEW:
>         tl.not_yet(i)
>     x = tl.lod(p + i, mask=i < n)
>     tl.store(p + i, half(twice(x)) + undefined)
> END
$ tilewright check wrong.py
wrong.py:15:9: error: `tl.lod` is not known; did you mean `tl.load`? [unknown-name]
   15 |     x = tl.lod(p + i, mask=i < n)
      |         ^~~~~~
wrong.py:8:12: error: `tl.adds` is not known; did you mean `tl.add`? [unknown-name]
    8 |     return tl.adds(y, 1)
      |            ^~~~~~~
helpers.py:6:16: error: `tl.nonsense` is not known [unknown-name]
    6 |     return x * tl.nonsense(2)
      |                ^~~~~~~~~~~
wrong.py:16:38: error: `undefined` is not known; assign it, define it in this file, or give it as a definition [unknown-name]
   16 |     tl.store(p + i, half(twice(x)) + undefined)
      |                                      ^~~~~~~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright check wrong.py --arg 'p=randn:f32[64]' --arg n=64 --arg NEW=false --arg BLOCK=64 --grid 1
wrong.py:15:9: error: `tl.lod` is not known; did you mean `tl.load`? [unknown-name]
   15 |     x = tl.lod(p + i, mask=i < n)
      |         ^~~~~~
wrong.py:16:38: error: `undefined` is not known; assign it, define it in this file, or give it as a definition [unknown-name]
   16 |     tl.store(p + i, half(twice(x)) + undefined)
      |                                      ^~~~~~~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ printf 'import tilelang.language as T\ndef make(M, N):\n    @T.prim_func\n    def main(A: T.Tensor((M, N), "float32")):\n        with T.Kernel(1) as b:\n            T.cpoy(A, A)\n            T.claer(A)\n    return main\n' > wrong_lang.py; tilewright check wrong_lang.py
wrong_lang.py:6:13: error: `T.cpoy` is not known here; did you mean `T.copy`? [unknown-operation]
    6 |             T.cpoy(A, A)
      |             ^~~~~~
wrong_lang.py:7:13: error: `T.claer` is not known here; did you mean `T.clear`? [unknown-operation]
    7 |             T.claer(A)
      |             ^~~~~~~
[1]
#! Missing arguments come together, with a command to copy, which works.
$ tilewright run add.py --arg 'x_ptr=randn:f32[8]'
error: kernel `add_kernel` lacks arguments: y_ptr (an array), output_ptr (an array), n_elements (a number), BLOCK_SIZE (a constant); for example:
  tilewright run add.py --arg 'x_ptr=randn:f32[8]' --arg 'y_ptr=randn:f32[65536]' --arg 'output_ptr=randn:f32[65536]' --arg n_elements=128 --arg BLOCK_SIZE=128 --grid 1
[1]
$ tilewright check -- add.py
error: kernel `add_kernel` lacks arguments: x_ptr (an array), y_ptr (an array), output_ptr (an array), n_elements (a number), BLOCK_SIZE (a constant); for example:
  tilewright check --arg 'x_ptr=randn:f32[65536]' --arg 'y_ptr=randn:f32[65536]' --arg 'output_ptr=randn:f32[65536]' --arg n_elements=128 --arg BLOCK_SIZE=128 --grid 1 -- add.py
[1]
$ for kernel in add fma mul row_sum softmax layernorm rmsnorm matmul; do eval "$(tilewright check $ROOT/kernels/triton/$kernel.py 2>&1 | sed -n 's/^  //p')" > out 2>&1 && echo "$kernel: ok" || cat out; done
add: ok
fma: ok
mul: ok
row_sum: ok
softmax: ok
layernorm: ok
rmsnorm: ok
matmul: ok
$ tilewright emit add.py
error: kernel `add_kernel` lacks arguments: x_ptr (an array), y_ptr (an array), output_ptr (an array), n_elements (a number), BLOCK_SIZE (a constant); for example:
  tilewright emit add.py --arg 'x_ptr=*f32' --arg 'y_ptr=*f32' --arg 'output_ptr=*f32' --arg n_elements=i32 --arg BLOCK_SIZE=128
[1]
#! Names say what is usually meant.
$ printf 'import triton\nimport triton.language as tl\n@triton.jit\ndef k(x_ptr, label_ptr, row_idx_ptr, eps, scale, stride_xm, stride_xk, n, HAS_BIAS: tl.constexpr, num_stages: tl.constexpr, BLOCK: tl.constexpr):\n    pass\n' > usual.py; tilewright check usual.py
error: kernel `k` lacks arguments: x_ptr (an array), label_ptr (an array), row_idx_ptr (an array), eps (a number), scale (a number), stride_xm (a number), stride_xk (a number), n (a number), HAS_BIAS (a constant), num_stages (a constant), BLOCK (a constant); for example:
  tilewright check usual.py --arg 'x_ptr=randn:f32[65536]' --arg 'label_ptr=randint(128):i64[65536]' --arg 'row_idx_ptr=randint(128):i32[65536]' --arg eps=1e-5 --arg scale=0.5 --arg stride_xm=128 --arg stride_xk=1 --arg n=128 --arg HAS_BIAS=false --arg num_stages=2 --arg BLOCK=128 --grid 1
[1]
#! Modules of a package import each other by its name; constants may depend on the environment.
$ mkdir -p pack/ops && touch pack/__init__.py pack/ops/__init__.py && printf 'import os\nimport triton\nimport triton.language as tl\nif os.environ.get("FAST", "0") == "1":\n    factor = 3\nelse:\n    factor = 2\n@triton.jit\ndef times(x):\n    return x * factor\n' > pack/ops/act.py && printf 'import triton\nimport triton.language as tl\nfrom pack.ops.act import times\nfrom other.pack import more\n@triton.jit\ndef k(p):\n    tl.store(p, times(tl.load(p)))\n@triton.jit\ndef other(p):\n    tl.store(p, more(tl.load(p)))\n' > pack/ops/kernels.py
$ tilewright run pack/ops/kernels.py:k --arg p=ones:f32[1] --grid 1 --save p=two.npy && FAST=1 tilewright run pack/ops/kernels.py:k --arg p=ones:f32[1] --grid 1 --save p=three.npy && tail -c 4 two.npy | od -An -tf4 && tail -c 4 three.npy | od -An -tf4; (cd pack/ops && tilewright run kernels.py:k --arg p=ones:f32[1] --grid 1)
               2
               3
p: f32[1], 1 of 1 elements changed
$ tilewright check pack/ops/kernels.py:other --arg p=ones:f32[1] --grid 1
pack/ops/kernels.py:10:17: error: `other.pack.more` is host code and cannot be used inside a kernel; no file beside this one or in its package has it; use tl.* or pass the value as an argument [host-value]
   10 |     tl.store(p, more(tl.load(p)))
      |                 ^~~~
[1]
#! -D also fills constants; one that nothing uses is said.
$ tilewright run add.py $(sed 's/--arg BLOCK_SIZE=64/-D BLOCK_SIZE=64/' args) --grid 2
output_ptr: f32[100], 100 of 100 elements changed
$ tilewright run add.py $(cat args) --grid 2 -D BLOCK_SIZ=32 -D n_elements=4 -D OTHER
warning: the definition of `BLOCK_SIZ` is not used by kernel `add_kernel`; did you mean `BLOCK_SIZE`? [unused-definition]
warning: the definition of `n_elements` is not used by kernel `add_kernel`; it is an argument of the kernel, and no constant; give it as an argument [unused-definition]
warning: the definition of `OTHER` is not used by kernel `add_kernel` [unused-definition]
output_ptr: f32[100], 100 of 100 elements changed
$ tilewright run add.py $(sed 's/--arg BLOCK_SIZE=64/-D BLOCKSIZE=64/' args) --grid 2
error: kernel `add_kernel` lacks arguments: BLOCK_SIZE (a constant); for example:
  tilewright run add.py --arg 'x_ptr=randn:f32[100]' --arg 'y_ptr=ones:f32[100]' --arg 'output_ptr=zeros:f32[100]' --arg n_elements=100 -D BLOCKSIZE=64 --grid 2 --arg BLOCK_SIZE=128
hint: a definition of `BLOCKSIZE` is given; did you mean `BLOCK_SIZE`?
[1]
$ tilewright emit $ROOT/kernels/tilec/micro_add.tile.c -D NOT_THERE=1 | head -1
warning: the definition of `NOT_THERE` is not used by kernel `micro_tk` [unused-definition]
/* Made by Tilewright from kernel @micro_tk. */
#! What the source prints while it is compiled comes once.
$ printf 'import triton\nimport triton.language as tl\n@triton.jit\ndef k(p, N: tl.constexpr):\n    tl.static_print("N is", N)\n    tl.static_print(1, 2, sep="+", end=" = 3\\n")\n    tl.store(p, N)\n' > says.py; for command in check run; do tilewright $command says.py --arg p=zeros:i32[1] --arg N=3 --grid 1; done; tilewright emit says.py --arg p=zeros:i32[1] --arg N=3 2> said | head -1; cat said
N is 3
1+2 = 3
p: i32[1], max error 0: ok
N is 3
1+2 = 3
p: i32[1], 1 of 1 elements changed
/* Made by Tilewright from kernel @k. */
N is 3
1+2 = 3
#! explain tells what was found until a target refused.
$ printf 'import triton\nimport triton.language as tl\n@triton.jit\ndef k(p, N: tl.constexpr):\n    i = tl.arange(0, N)\n    tl.store(p + i, tl.sort(tl.load(p + i)))\n' > scan.py; tilewright explain scan.py --arg p=randn:f32[64] --arg N=64 --target tenstorrent
scan.py:6:29: load: box f32[64] of p[unbounded], strides [1], at [0]; contiguous
scan.py:6:5: store: box f32[64] of p[unbounded], strides [1], at [0]; contiguous
scan.py:4:1: access: 2 of 2 accesses through pointers are boxes
scan.py:4:1: execution: roles: compute cannot reach memory on this machine
scan.py:6:29: load: field p of ring in (load to compute)
scan.py:6:29: ring: 2 slots of 256 bytes
scan.py:6:5: store: field p of ring out (compute to store)
scan.py:6:5: ring: 2 slots of 256 bytes
scan.py:4:1: execution: 1 worker in compute, persistent, order code
scan.py:6:21: error: not possible on Tenstorrent: `sort` of a tile; the units of a core compute element by element, products, sums and maxima of rows and columns; write it with those, or use target cpu [not-on-tenstorrent]
    6 |     tl.store(p + i, tl.sort(tl.load(p + i)))
      |                     ^~~~~~~~~~~~~~~~~~~~~~~
hint: a target is chosen with --target NAME
[1]
#! A kernel that does nothing.
$ printf 'import triton\nimport triton.language as tl\n@triton.jit\ndef k(p, N: tl.constexpr):\n    x = tl.load(p + tl.arange(0, N))\n' > idle.py; tilewright run idle.py --arg p=randn:f32[64] --arg N=64 --grid 1
no array changed
#! Arrays whose type and shape the source states: the line to copy has them, and a command that launches nothing needs none.
$ cp $ROOT/kernels/tilelang/softmax.py softmax.py
$ tilewright check softmax.py
error: kernel `softmax` lacks arguments: M (a constant), N (a constant), X (an array), Y (an array); for example:
  tilewright check softmax.py --arg M=128 --arg N=128 --arg 'X=randn:f16[128,128]' --arg 'Y=randn:f16[128,128]'
[1]
$ sh -c "$(tilewright check softmax.py 2>&1 | sed 1d)"
X: f16[128, 128], max error 0: ok
Y: f16[128, 128], max error 0: ok
$ tilewright explain softmax.py --arg N=64
error: kernel `softmax` lacks arguments: M (a constant); for example:
  tilewright explain softmax.py --arg N=64 --arg M=128
[1]
$ sh -c "$(tilewright explain softmax.py --arg N=64 2>&1 | sed 1d)" | head -1
softmax.py:27:67: load: box f16[4,128] of X[128, 64], strides [64, 1], at [4*bx, 128*k]; outside 0; contiguous
