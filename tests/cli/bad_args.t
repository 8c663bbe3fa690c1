# Arguments that are wrong: missing, extra, of a wrong kind, files that lie.
$ cp "$ROOT/kernels/triton/add.py" "$ROOT/kernels/tilelang/gemm.py" "$ROOT/kernels/tilec/micro_add.tile.c" .
$ echo add.py --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 --arg BLOCK_SIZE=8 --grid 1 > rest
$ tilewright run $(cat rest)
error: kernel `add_kernel` lacks arguments: x_ptr (an array); for example:
  tilewright run add.py --arg 'y_ptr=ones:f32[8]' --arg 'output_ptr=zeros:f32[8]' --arg n_elements=8 --arg BLOCK_SIZE=8 --grid 1 --arg 'x_ptr=randn:f32[65536]'
[1]
$ tilewright run $(cat rest) --arg x_ptr=ones:f32[8] --arg extra=3
error: kernel `add_kernel` has no argument `extra`; it has x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE
[1]
$ tilewright run $(cat rest) --arg x_ptr=ones:f32[8] --arg n_element=3
error: kernel `add_kernel` has no argument `n_element`; did you mean `n_elements`?
[1]
$ tilewright run $(cat rest) --arg x_ptr=ones:f32[8] --arg n_elements=3
error: --arg n_elements is given twice
[1]
$ tilewright run add.py --arg x_ptr=ones:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 --grid 1
error: kernel `add_kernel` lacks arguments: BLOCK_SIZE (a constant); for example:
  tilewright run add.py --arg 'x_ptr=ones:f32[8]' --arg 'y_ptr=ones:f32[8]' --arg 'output_ptr=zeros:f32[8]' --arg n_elements=8 --grid 1 --arg BLOCK_SIZE=128
[1]
$ tilewright run $(cat rest) --arg x_ptr=3
add.py:24:17: error: tl.load takes a pointer, here is an int32[8]; add the offsets to a pointer argument [pointer]
   24 |     x = tl.load(x_ptr + offsets, mask=mask)
      |                 ^~~~~~~~~~~~~~~
hint: the kernel loads or stores through `x_ptr`, and a number was given; an array is --arg 'x_ptr=randn:f32[1024]'
[1]
$ tilewright run $(cat rest) --arg x_ptr=word
error: --arg x_ptr=word: the kernel loads or stores through it: an array is expected, as in randn:f32[1024]
[1]
$ tilewright run add.py --arg x_ptr=ones:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=ones:f32[8] --arg BLOCK_SIZE=8 --grid 1
add.py:21:12: error: `<` has invalid operands of type an int32[8] and a *float32; a pointer takes `+` and `-` with integers, and comparison with pointers [operands]
   21 |     mask = offsets < n_elements
      |            ^~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run add.py --arg x_ptr=ones:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 --arg BLOCK_SIZE=ones:f32[8] --grid 1
error: argument `BLOCK_SIZE`: kernel `add_kernel` takes a number there, and an array was given
[1]
$ tilewright run add.py --arg x_ptr=ones:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 --arg BLOCK_SIZE=8.5 --grid 1
add.py:18:42: error: tl.arange wants an integer known at compile time, here is 8.5 [argument]
   18 |     offsets = block_start + tl.arange(0, BLOCK_SIZE)
      |                                          ^~~~~~~~~~
[1]
$ tilewright run add.py --arg x_ptr=ones:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=99999999999999999999 --arg BLOCK_SIZE=8 --grid 1
error: --arg n_elements=99999999999999999999: the number does not fit 64 bits
[1]
$ tilewright run add.py --arg x_ptr=ones:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 --arg BLOCK_SIZE=1073741824 --grid 1
add.py:18:29: error: a tile [1073741824] is too large; at most 1048576 elements [tile-size]
   18 |     offsets = block_start + tl.arange(0, BLOCK_SIZE)
      |                             ^~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run add.py --arg x_ptr=ones:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 --arg BLOCK_SIZE=-8 --grid 1
add.py:18:29: error: tl.arange(0, -8) is empty or outside of int32; the end must be above the start [arange]
   18 |     offsets = block_start + tl.arange(0, BLOCK_SIZE)
      |                             ^~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run $(cat rest) --arg x_ptr=ones:f32
error: --arg x_ptr=ones:f32: extents in brackets are expected, as in f32[128, 64]
[1]
$ tilewright run $(cat rest) --arg x_ptr=rnad:f32[8]
error: --arg x_ptr=rnad:f32[8]: arrays are randn, rand, randint(N), zeros, ones, empty, arange, full(V) and file:X.npy
[1]
$ tilewright run $(cat rest) --arg x_ptr=full:f32[8]
error: --arg x_ptr=full:f32[8]: a value is expected, as in full(1.5):f32[1024]
[1]
$ tilewright run $(cat rest) --arg 'x_ptr=full(:f32[8]'
error: --arg x_ptr=full(:f32[8]: a number in parentheses is expected, as in full(1.5)
[1]
$ tilewright run $(cat rest) --arg 'x_ptr=full(1.5:f32[8]'
error: --arg x_ptr=full(1.5:f32[8]: a number in parentheses is expected, as in full(1.5)
[1]
$ tilewright run $(cat rest) --arg x_ptr=ones:float[8]
output_ptr: f32[8], 8 of 8 elements changed
$ tilewright run $(cat rest) --arg x_ptr=ones:f32[-8]
error: --arg x_ptr=ones:f32[-8]: extent -8 is negative
[1]
$ tilewright run $(cat rest) --arg x_ptr=ones:f32[8]]
error: --arg x_ptr=ones:f32[8]]: extents in brackets are expected, as in f32[128, 64]
[1]
$ tilewright run $(cat rest) --arg x_ptr=ones:f32[8,]
error: --arg x_ptr=ones:f32[8,]: a number or a name is expected
[1]
$ tilewright run $(cat rest) --arg x_ptr=ones:f32[1,1,1,1,1,1,1,1,8]
error: --arg x_ptr=ones:f32[1,1,1,1,1,1,1,1,8]: an array has at most 8 extents
[1]
$ tilewright run $(cat rest) --arg x_ptr=ones:f32[4000000000,4000000000,4000000000]
error: --arg x_ptr=ones:f32[4000000000,4000000000,4000000000]: it takes 2.56e+20 GB, with the copies that are kept 7.68e+20 GB; this machine has ... GB
[1]
$ tilewright run $(cat rest) --arg x_ptr=zeros:f32[1000000000000000]
error: --arg x_ptr=zeros:f32[1000000000000000]: it takes 4e+06 GB, with the copies that are kept 1.2e+07 GB; this machine has ... GB
[1]
$ tilewright run $(cat rest) --arg x_ptr=file:
error: --arg x_ptr=file:: the name of a file is expected, as in file:x.npy
[1]
$ tilewright run $(cat rest) --arg x_ptr=file:none.npy
error: --arg x_ptr=file:none.npy: none.npy cannot be read: No such file or directory
[1]
$ tilewright run $(cat rest) --arg x_ptr=file:.
error: --arg x_ptr=file:.: . cannot be read: Is a directory
[1]
$ tilewright run $(cat rest) --arg =3
error: --arg takes NAME=SPEC, not `=3`
[1]
$ tilewright run $(cat rest) --arg x_ptr
error: --arg takes NAME=SPEC, not `x_ptr`
[1]
#! A declared tensor takes an array of its type and shape.
$ tilewright run gemm.py -D M=8 -D N=8 -D K=8 --arg A=randn:f32[8,8] --arg B=randn:f16[8,8] --arg C=zeros:f16[8,8]
gemm.py:9:14: error: `A` is declared as tensor f16[8,8], the array that is passed is tensor f32[8,8]; it must have that type and shape, without gaps [array-mismatch]
    9 |     def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
      |              ^~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run gemm.py -D M=8 -D N=8 -D K=8 --arg A=randn:f16[8,9] --arg B=randn:f16[8,8] --arg C=zeros:f16[8,8]
gemm.py:9:14: error: `A` is declared as tensor f16[8,8], the array that is passed is tensor f16[8,9]; it must have that type and shape, without gaps [array-mismatch]
    9 |     def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
      |              ^~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run gemm.py -D M=8 -D N=8 --arg A=randn:f16[8,8] --arg B=randn:f16[8,8] --arg C=zeros:f16[8,8]
error: kernel `matmul` lacks arguments: K (a constant); for example:
  tilewright run gemm.py -D M=8 -D N=8 --arg 'A=randn:f16[8,8]' --arg 'B=randn:f16[8,8]' --arg 'C=zeros:f16[8,8]' --arg K=128
[1]
$ tilewright run gemm.py -D M=8 -D N=8 -D K=-8 --arg A=randn:f16[8,8] --arg B=randn:f16[8,8] --arg C=zeros:f16[8,8]
gemm.py:9:26: error: an extent must be known here and not negative, this one is -8; give sizes as definitions or constants [extent]
    9 |     def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
      |                          ^~~~~~
gemm.py:9:54: error: an extent must be known here and not negative, this one is -8; give sizes as definitions or constants [extent]
    9 |     def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
      |                                                      ^~~~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright run gemm.py -D M=8 -D N=8 -D K=8 -D dtype=float17 --arg A=randn:f16[8,8] --arg B=randn:f16[8,8] --arg C=zeros:f16[8,8]
gemm.py:9:34: error: `"float17"` is no dtype; write one such as "float16", "bfloat16" or "float32" [dtype]
    9 |     def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
      |                                  ^~~~~
gemm.py:9:62: error: `"float17"` is no dtype; write one such as "float16", "bfloat16" or "float32" [dtype]
    9 |     def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
      |                                                              ^~~~~
gemm.py:9:90: error: `"float17"` is no dtype; write one such as "float16", "bfloat16" or "float32" [dtype]
    9 |     def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
      |                                                                                          ^~~~~
gemm.py:11:59: error: `"float17"` is no dtype; write one such as "float16", "bfloat16" or "float32" [dtype]
   11 |             A_shared = T.alloc_shared((block_M, block_K), dtype)
      |                                                           ^~~~~
gemm.py:12:59: error: `"float17"` is no dtype; write one such as "float16", "bfloat16" or "float32" [dtype]
   12 |             B_shared = T.alloc_shared((block_K, block_N), dtype)
      |                                                           ^~~~~
[1]
$ tilewright run gemm.py -D M=8 -D N=8 -D K=8 --arg A=randn:f16[8,8] --arg B=randn:f16[8,8]
error: kernel `matmul` lacks arguments: C (an array); for example:
  tilewright run gemm.py -D M=8 -D N=8 -D K=8 --arg 'A=randn:f16[8,8]' --arg 'B=randn:f16[8,8]' --arg 'C=randn:f16[8,8]'
[1]
$ tilewright run micro_add.tile.c --arg g.x=ones:f16[16,32] --arg g.o=zeros:f32[16,32]
error: argument `g.x`: kernel `micro_tk` declares an array of f32, the array given is of f16
[1]
$ tilewright run micro_add.tile.c --arg g.x=ones:f32[16,32]
error: kernel `micro_tk` lacks arguments: g.o (an array); for example:
  tilewright run micro_add.tile.c --arg 'g.x=ones:f32[16,32]' --arg 'g.o=randn:f32[1,1,128,128]'
[1]
$ tilewright run micro_add.tile.c --arg g.x=7 --arg g.o=zeros:f32[16,32]
error: argument `g.x`: kernel `micro_tk` takes an array there, and none was given
[1]
$ tilewright run micro_add.tile.c --arg g.x=ones:f32[2,2,2,2,2] --arg g.o=zeros:f32[16,32]
error: argument `g.x`: kernel `micro_tk` declares f32[any, any, any, any], the array given is f32[2, 2, 2, 2, 2]
[1]
#! Files that are none, or lie.
$ npy() { printf '\x93NUMPY\x01\x00%b%s\n' "\\x$(printf %02x $((${#1} + 1)))\\x00" "$1"; head -c "$2" /dev/zero; }; npy "{'descr': '<f4', 'fortran_order': False, 'shape': (8,), }" 32 > right.npy; npy "{'descr': '<f4', 'fortran_order': False, 'shape': (8,), }" 30 > short.npy; npy "{'descr': '<f4', 'fortran_order': False, 'shape': (8,), }" 40 > long.npy; npy "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }" 32 > huge.npy; npy "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }" 32 > digits.npy; npy "{'descr': '<f4', 'fortran_order': False, 'shape': (-8,), }" 32 > minus.npy; npy "{'descr': '>f4', 'fortran_order': False, 'shape': (8,), }" 32 > big.npy; npy "{'descr': '|O', 'fortran_order': False, 'shape': (8,), }" 32 > object.npy; npy "{'descr': '<f4', 'shape': (8,), }" 32 > key.npy; npy "{'descr': '<f4', 'fortran_order': False, 'shape': (8,)" 32 > open.npy; head -c 64 right.npy > cut.npy; : > empty.npy; head -c 1000 /dev/zero > zeros.npy; printf '\x93NUMPY\x01\x00\xff\xff{' > header.npy; printf '\x93NUMPY\x07\x00\x08\x00{}      ' > version.npy; npy "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (8,), }" 32 > record.npy; npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 8), }" 32 > rank.npy; npy "{'descr': '<c8', 'fortran_order': False, 'shape': (8,), }" 64 > complex.npy; npy "{'descr': '<U1', 'fortran_order': False, 'shape': (8,), }" 32 > words.npy; npy "{'descr': '<M8', 'fortran_order': False, 'shape': (8,), }" 64 > time.npy; npy "{'descr': '<f4', 'fortran_order': 3, 'shape': (8,), }" 32 > order.npy; printf 'PK\x03\x04....' > archive.npy; printf '\x80\x04....' > pickle.npy; npy "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 4), }" 64 > columns.npy
$ for f in right columns short long huge digits minus big object key open cut empty zeros header version record rank complex words time order archive pickle; do tilewright run $(cat rest) --arg x_ptr=file:$f.npy; done
output_ptr: f32[8], 8 of 8 elements changed
output_ptr: f32[8], 8 of 8 elements changed
error: --arg x_ptr=file:short.npy: short.npy ends early: 8 elements of f32 are 32 bytes, and it has 30
error: --arg x_ptr=file:long.npy: long.npy goes on behind its last element: 8 elements of f32 are 32 bytes, and it has 40
error: --arg x_ptr=file:huge.npy: huge.npy says that it holds more elements than any memory does
error: --arg x_ptr=file:digits.npy: digits.npy is no .npy file that can be read: an extent of its shape does not fit 64 bits
error: --arg x_ptr=file:minus.npy: minus.npy is no .npy file that can be read: an extent of its shape is no number from 0
error: --arg x_ptr=file:big.npy: big.npy: its items ('>f4') are big endian; save x.astype(x.dtype.newbyteorder('<'))
error: --arg x_ptr=file:object.npy: object.npy: its items ('|O') are Python objects; make an array of numbers of them
error: --arg x_ptr=file:key.npy: key.npy is no .npy file that can be read: its header lacks one of descr, fortran_order and shape
error: --arg x_ptr=file:open.npy: open.npy is no .npy file that can be read: its header is not closed
error: --arg x_ptr=file:cut.npy: cut.npy is no .npy file that can be read: it ends inside of its header
error: --arg x_ptr=file:empty.npy: empty.npy is no .npy file that can be read: it is empty
error: --arg x_ptr=file:zeros.npy: zeros.npy is no .npy file that can be read: it does not begin with \x93NUMPY, as numpy.save writes it
error: --arg x_ptr=file:header.npy: header.npy is no .npy file that can be read: it ends inside of its header
error: --arg x_ptr=file:version.npy: version.npy is no .npy file that can be read: its format is of a version other than 1.0, 2.0 and 3.0
error: --arg x_ptr=file:record.npy: record.npy is no .npy file that can be read: its items are records (a structured dtype); save one field
error: --arg x_ptr=file:rank.npy: rank.npy is no .npy file that can be read: it has more than 8 extents; reshape it
error: --arg x_ptr=file:complex.npy: complex.npy: its items ('<c8') are complex numbers; save real and imaginary parts by themselves
error: --arg x_ptr=file:words.npy: words.npy: its items ('<U1') are strings; make an array of numbers of them
error: --arg x_ptr=file:time.npy: time.npy: its items ('<M8') are times; convert them to int64
error: --arg x_ptr=file:order.npy: order.npy is no .npy file that can be read: its fortran_order is neither True nor False
error: --arg x_ptr=file:archive.npy: archive.npy is no .npy file that can be read: it is an archive (.npz, or of torch.save); save one array with numpy.save
error: --arg x_ptr=file:pickle.npy: pickle.npy is no .npy file that can be read: it is a pickle; save the array with numpy.save
[1]
$ tilewright run $(cat rest) --arg x_ptr=file:right.npy:f16
error: --arg x_ptr=file:right.npy:f16: right.npy: its items are f32 ('<f4'), and f16 is asked for; convert them, or ask for f32
[1]
$ tilewright run $(cat rest) --arg x_ptr=file:right.npy:f31
error: --arg x_ptr=file:right.npy:f31: right.npy:f31 cannot be read: No such file or directory
[1]
$ tilewright check $(cat rest) --arg x_ptr=ones:f32[8] --expect output_ptr=zeros.npy
error: zeros.npy is no .npy file that can be read: it does not begin with \x93NUMPY, as numpy.save writes it
[1]
$ tilewright check $(cat rest) --arg x_ptr=ones:f32[8] --expect output_ptr=huge.npy
error: huge.npy says that it holds more elements than any memory does
[1]
#! An array without its dtype and extents, where a parameter is one.
$ tilewright run "$ROOT/kernels/tilelang/add.py" -D N=1024 --arg A=randn --arg B=zeros --arg C=zeros
error: --arg A=randn: the kernel takes an array there, with its dtype and extents, as in randn:f32[1024]
[1]
