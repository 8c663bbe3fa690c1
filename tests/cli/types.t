# Arguments by type: what emit, ir and explain need to know, without an array.
$ cp "$ROOT/kernels/triton/add.py" "$ROOT/kernels/triton/softmax.py" . && cp "$ROOT/kernels/tilelang/add.py" tile.py
$ tilewright emit add.py --arg 'x_ptr=*f32' --arg 'y_ptr=*f32' --arg 'output_ptr=*f32' --arg n_elements=i32 -D BLOCK_SIZE=64 >by_type && tilewright emit add.py --arg x_ptr=zeros:f32[64] --arg y_ptr=zeros:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=8 -D BLOCK_SIZE=64 | cmp - by_type
$ tilewright ir add.py --arg 'x_ptr=*f16' --arg 'y_ptr=*bf16' --arg 'output_ptr=*f32' --arg n_elements=i64 -D BLOCK_SIZE=64 | head -1
kernel @add_kernel(%x_ptr: *f16, %y_ptr: *bf16, %output_ptr: *f32, %n_elements: i64) {
$ tilewright explain softmax.py --arg 'out_ptr=*f32' --arg 'in_ptr=*float16' --arg in_stride=int32 --arg out_stride=i32 --arg n_cols=i32 -D BLOCK=64 | tail -1
softmax.py:8:1: execution: flat: this machine gains nothing from loads that run ahead
$ tilewright ir tile.py --arg 'A=*f32' --arg 'B=*f32' --arg 'C=*f32' -D M=64 -D N=64 -D dtype=float32 | head -1
kernel @elementwise_add(%A, %B, %C: *f32) {
$ tilewright ir tile.py --arg 'A=*f16' -D M=64 -D N=64 -D dtype=float32 | head -1
tile.py:6:21: error: `A` is declared as tensor f32[64,64], the array that is passed is *f16; it must have that type and shape, without gaps [array-mismatch]
    6 | def elementwise_add(A: T.Tensor((M, N), dtype), B: T.Tensor((M, N), dtype), C: T.Tensor((M, N), dtype)):
      |                     ^~~~~~~~~~~~~~~~~~~~~~~~~~
#! What a type is no answer to.
$ tilewright ir add.py --arg 'x_ptr=*f33' --arg n_elements=i32
error: --arg x_ptr=*f33: the dtype is not known; there are i1, i8..i64, u8..u64, f16, bf16, f32, f64, f8e4m3, f8e5m2, f8e4b8, f8e5b16, f8e4b15
[1]
$ tilewright emit add.py --arg 'x_ptr=*f32' --arg 'y_ptr=*f32' --arg 'output_ptr=*f32' --arg n_elements=i32 --arg BLOCK_SIZE='*f32'
error: argument `BLOCK_SIZE`: kernel `add_kernel` takes a number there, and an array was given
[1]
$ tilewright emit add.py --arg 'x_ptr=f32' --arg 'y_ptr=*f32' --arg 'output_ptr=*f32' --arg n_elements=i32 --arg BLOCK_SIZE=64
add.py:24:17: error: tl.load takes a pointer, here is a float32[64]; add the offsets to a pointer argument [pointer]
   24 |     x = tl.load(x_ptr + offsets, mask=mask)
      |                 ^~~~~~~~~~~~~~~
hint: the kernel loads or stores through `x_ptr`, and a number was given; an array is --arg 'x_ptr=randn:f32[1024]'
[1]
$ tilewright run add.py --arg 'x_ptr=*f32' --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 -D BLOCK_SIZE=64 --grid 1
error: --arg x_ptr=*f32: a type is enough to compile, and a launch needs the number or the array itself; give a number, or an array such as rand:f32[1024]
[1]
$ tilewright check add.py --arg n_elements=i32
error: --arg n_elements=i32: a type is enough to compile, and a launch needs the number or the array itself; give a number, or an array such as rand:f32[1024]
[1]
