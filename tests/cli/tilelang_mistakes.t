# Mistakes that people make in TileLang, and what is said of them: their line, their names, what to do about it.
$ cat > mistakes.py <<'END'
> import math
> import numpy as np
> import tilelang
> import tilelang.language as T
>
>
> @T.prim_func
> def shape_unknown(A: T.Tensor((m, 4), "float32")):
>     with T.Kernel(1) as bx:
>         A[0, 0] = 1
>
>
> @T.prim_func
> def gemm_shapes(A: T.Tensor((64, 32), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_shared((64, 32), "float16")
>         b = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         T.copy(A, a)
>         T.copy(B, b)
>         T.gemm(a, b, c)
>         T.copy(c, C)
>
>
> @T.prim_func
> def copy_shapes(A: T.Tensor((64, 32), "float16")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_shared((32, 64), "float16")
>         T.copy(A[0:64, 0:32], a)
>
>
> @T.prim_func
> def too_few_indices(A: T.Tensor((64, 32), "float16")):
>     with T.Kernel(1) as bx:
>         A[0] = 1
>
>
> @T.prim_func
> def typo_kwarg(A: T.Tensor((16, 16), "float16")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_shared((16, 16), "float16")
>         c = T.alloc_fragment((16, 16), "float32")
>         T.gemm(a, a, c, trans_B=True)
>
>
> @T.prim_func
> def stages(A: T.Tensor((16, 16), "float16"), n: T.int32):
>     with T.Kernel(1) as bx:
>         for i in T.Pipelined(4, num_stages=n):
>             A[0, 0] = 1
>
>
> @T.prim_func
> def alloc_outside(A: T.Tensor((16, 16), "float16")):
>     a = T.alloc_shared((16, 16), "float16")
>     with T.Kernel(1) as bx:
>         T.copy(A, a)
>
>
> @T.prim_func
> def rebind(A: T.Tensor((16,), "int32")):
>     with T.Kernel(1) as bx:
>         n = A[0]
>         for i in T.serial(4):
>             n = n + A[i]
>         A[1] = n
>
>
> @T.prim_func
> def float_index(A: T.Tensor((16,), "float32"), x: T.float32):
>     with T.Kernel(1) as bx:
>         A[x] = 1
>
>
> @T.prim_func
> def int_div(A: T.Tensor((16,), "int32"), B: T.Tensor((16,), "int32")):
>     with T.Kernel(1) as bx:
>         for i in T.Parallel(16):
>             A[i] = A[i] / B[i]
>
>
> @T.prim_func
> def names_of_grid(A: T.Tensor((16,), "int32")):
>     with T.Kernel(4, 2) as (bx, by, bz):
>         A[bx] = by
>
>
> @T.prim_func
> def threads(A: T.Tensor((16,), "int32")):
>     with T.Kernel(4, threads=2048) as bx:
>         A[bx] = 1
>
>
> @T.prim_func
> def huge_tile(A: T.Tensor((16,), "int32")):
>     with T.Kernel(4) as bx:
>         a = T.alloc_shared((4096, 4096), "float32")
>         A[bx] = 1
>
>
> @T.prim_func
> def no_kernel(A: T.Tensor((16,), "int32")):
>     for i in T.Parallel(16):
>         A[i] = 1
>
>
> @T.prim_func
> def reduce_out(A: T.Tensor((16, 8), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_fragment((16, 8), "float32")
>         r = T.alloc_fragment((8,), "float32")
>         T.copy(A, a)
>         T.reduce_sum(a, r, dim=1)
>
>
> @T.prim_func
> def reduce_tensor(A: T.Tensor((16, 8), "float32")):
>     with T.Kernel(1) as bx:
>         r = T.alloc_fragment((16,), "float32")
>         T.reduce_sum(A, r, dim=1)
>
>
> @T.prim_func
> def atomic_i8max(A: T.Tensor((16, 8), "int8")):
>     with T.Kernel(1) as bx:
>         T.atomic_max(A[0, 0], 1)
>
>
> @T.prim_func
> def assign_tile(A: T.Tensor((16, 8), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_fragment((16, 8), "float32")
>         T.copy(A, a)
>         b = a + 1
>
>
> @T.prim_func
> def string_cond(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         if A[bx] > "x":
>             A[bx] = 1
>
>
> @T.prim_func
> def undefined(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         T.clear(B)
>
>
> @T.prim_func
> def return_value(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         A[bx] = 1
>     return 3
>
>
> @T.prim_func
> def param_no_type(A, B: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         B[bx] = A[bx]
>
>
> @T.prim_func
> def neg_slice(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_shared((4,), "float32")
>         T.copy(A[8:4], a)
>
>
> @T.prim_func
> def slice_step(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_shared((4,), "float32")
>         T.copy(A[0:16:4], a)
>
>
> @T.prim_func
> def list_append(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         xs = []
>         for i in T.serial(4):
>             xs.append(i)
>         A[0] = len(xs)
>
>
> @T.prim_func
> def numpy(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         A[0] = np.sqrt(A[1])
>
>
> @T.prim_func
> def math_exp(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         A[0] = math.exp(A[1])
>
>
> @T.prim_func
> def print_fmt(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         print(f"{A[0]}")
>
>
> @T.prim_func
> def tensor_bool(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_shared((4,), "float32")
>         if a:
>             A[0] = 1
>
>
> @T.prim_func
> def break_parallel(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         for i in T.Parallel(16):
>             if i > 3:
>                 break
>             A[i] = 1
>
>
> @T.prim_func
> def cumsum_shape(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_shared((16,), "float32")
>         b = T.alloc_shared((8,), "float32")
>         T.cumsum(a, b)
>
>
> @T.prim_func
> def view_size(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_shared((16,), "float32")
>         b = T.view(a, (16,), "float16")
>
>
> @T.prim_func
> def fill_number(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         T.fill(3, A)
>
>
> @T.prim_func
> def reducer_use(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_fragment((16,), "float32")
>         T.reducer_update(a[0], 1.0)
>
>
> @T.prim_func
> def persistent_names(A: T.Tensor((16, 4), "float32")):
>     with T.Kernel(4) as bx:
>         for i in T.Persistent([16, 4], 4, bx):
>             A[i, 0] = 1
>
> END
$ tilewright emit mistakes.py:shape_unknown
mistakes.py:8:32: error: `m` is not defined; a size or option of the kernel is given as a definition, m=VALUE [unknown-name]
    8 | def shape_unknown(A: T.Tensor((m, 4), "float32")):
      |                                ^
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright emit mistakes.py:gemm_shapes
mistakes.py:21:9: error: `T.gemm`: the shapes f16[64,32] and f16[64,64] and tile f32[64,64] do not fit; [M, K] times [K, N] gives [M, N] (after transpose_A, transpose_B) [shape-mismatch]
   21 |         T.gemm(a, b, c)
      |         ^~~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:copy_shapes
mistakes.py:29:9: error: `T.copy`: the shapes tensor f16[64,32] and tile f16[32,64] do not fit; both boxes must have the same extents, 1s apart [shape-mismatch]
   29 |         T.copy(A[0:64, 0:32], a)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:too_few_indices
mistakes.py:35:9: error: tensor f16[64,32] has 2 dimensions, 1 indices are given [index]
   35 |         A[0] = 1
      |         ^~~~
[1]
$ tilewright emit mistakes.py:typo_kwarg
mistakes.py:43:25: error: `gemm` has no parameter `trans_B`; it is `gemm(A, B, C, transpose_A=False, transpose_B=False, policy=None, clear_accum=False, k_pack=None, wg_wait=None, mbar=None)` [arity]
   43 |         T.gemm(a, a, c, trans_B=True)
      |                         ^~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:stages
mistakes.py:49:44: error: num_stages must be a known integer [arguments]
   49 |         for i in T.Pipelined(4, num_stages=n):
      |                                            ^
[1]
$ tilewright emit mistakes.py:alloc_outside
mistakes.py:55:9: error: T.alloc_shared outside of T.Kernel is not supported in a TileLang kernel; put it under `with T.Kernel(...)` [unsupported]
   55 |     a = T.alloc_shared((16, 16), "float16")
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:rebind
mistakes.py:65:13: error: `n` has a value from outside of this loop, and what is bound here is gone behind it; take another name, or keep what changes in a variable, T.alloc_var(dtype) [rebound]
   65 |             n = n + A[i]
      |             ^
[1]
$ tilewright emit mistakes.py:float_index
mistakes.py:72:11: error: an index must be an integer; T.cast(x, "int32") makes one [index]
   72 |         A[x] = 1
      |           ^
[1]
$ tilewright emit mistakes.py:int_div
mistakes.py:79:20: error: `/` on integers; write `//` for an integer, or T.cast one side to a float [types]
   79 |             A[i] = A[i] / B[i]
      |                    ^~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:names_of_grid
mistakes.py:84:28: error: 3 names for 2 extents; write as many names as extents [arguments]
   84 |     with T.Kernel(4, 2) as (bx, by, bz):
      |                            ^~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:threads
mistakes.py:90:10: error: T.Kernel takes threads from 1 to 1024 [arguments]
   90 |     with T.Kernel(4, threads=2048) as bx:
      |          ^~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:huge_tile
mistakes.py:97:28: error: a tile has at most 2^20 elements; use smaller blocks [types]
   97 |         a = T.alloc_shared((4096, 4096), "float32")
      |                            ^~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:no_kernel
mistakes.py:102:1: error: the kernel never launches; put its body under `with T.Kernel(...) as ...:` [no-launch]
  102 | def no_kernel(A: T.Tensor((16,), "int32")):
      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:reduce_out
mistakes.py:113:9: error: `T.reduce_sum`: the shapes f32[16] and tile f32[8] do not fit; the output drops the reduced dimension or keeps it as 1 [shape-mismatch]
  113 |         T.reduce_sum(a, r, dim=1)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:reduce_tensor
mistakes.py:120:22: error: T.reduce_sum works on tiles (alloc_shared, alloc_fragment); copy the tensor's box into one first [types]
  120 |         T.reduce_sum(A, r, dim=1)
      |                      ^
[1]
$ tilewright emit mistakes.py:atomic_i8max
mistakes.py:126:9: error: T.atomic_max cannot work on int8 in memory; use a type of at least 16 bits [types]
  126 |         T.atomic_max(A[0, 0], 1)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:assign_tile
mistakes.py:134:13: error: tile f32[16,8] is no number; index one element of it, or use a tile operation [types]
  134 |         b = a + 1
      |             ^~~~~
[1]
$ tilewright emit mistakes.py:string_cond
mistakes.py:140:12: error: the string 'x' is no number [types]
  140 |         if A[bx] > "x":
      |            ^~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:undefined
mistakes.py:147:17: error: `B` is not defined; a size or option of the kernel is given as a definition, B=VALUE [unknown-name]
  147 |         T.clear(B)
      |                 ^
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright emit mistakes.py:return_value
mistakes.py:154:5: error: a value that a kernel returns is not supported in a TileLang kernel; write it to a tensor; `C = T.empty(shape, dtype)` makes one that may be returned [unsupported]
  154 |     return 3
      |     ^~~~~~~~
[1]
$ tilewright emit mistakes.py:param_no_type
mistakes.py:160:17: error: an int32 cannot be indexed; a tensor is declared as such: `A: T.Tensor(shape, dtype)` [index]
  160 |         B[bx] = A[bx]
      |                 ^~~~~
[1]
$ tilewright emit mistakes.py:neg_slice
mistakes.py:167:18: error: a slice of -4 elements; its end lies behind its start [index]
  167 |         T.copy(A[8:4], a)
      |                  ^~~
[1]
$ tilewright emit mistakes.py:slice_step
mistakes.py:174:18: error: a slice with a step is not supported in a TileLang kernel; take whole boxes [unsupported]
  174 |         T.copy(A[0:16:4], a)
      |                  ^~~~~~
[1]
$ tilewright emit mistakes.py:list_append
mistakes.py:182:13: error: this list changes inside of a run-time loop or branch, and Python runs that text once; change it outside, or make a new one inside [changed]
  182 |             xs.append(i)
      |             ^~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:numpy
mistakes.py:189:16: error: `numpy.sqrt` is host code and cannot be used inside a kernel; `T.sqrt` is there; use T.* or pass the value as an argument [host-value]
  189 |         A[0] = np.sqrt(A[1])
      |                ^~~~~~~
[1]
$ tilewright emit mistakes.py:math_exp
mistakes.py:195:25: error: an argument of Python's math (`T.exp` takes others) must be known at compile time, here it is tensor f32[1]; compute it from constants, or give it as a definition [need-constant]
  195 |         A[0] = math.exp(A[1])
      |                         ^~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright emit mistakes.py:print_fmt
mistakes.py:201:17: error: a field of an f-string must be known at compile time, here it is tensor f32[1]; compute it from constants, or give it as a definition [need-constant]
  201 |         print(f"{A[0]}")
      |                 ^~~~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright emit mistakes.py:tensor_bool
mistakes.py:208:12: error: tile f32[4] is no number; index one element of it, or use a tile operation [types]
  208 |         if a:
      |            ^
[1]
$ tilewright emit mistakes.py:break_parallel
mistakes.py:217:17: error: a jump out of this kind of loop (put what follows under an `if`) is not supported in TileLang kernels here [unsupported]
  217 |                 break
      |                 ^~~~~
[1]
$ tilewright emit mistakes.py:cumsum_shape
mistakes.py:226:9: error: `T.cumsum`: the shapes tile f32[16] and tile f32[8] do not fit; the output has the shape of the input [shape-mismatch]
  226 |         T.cumsum(a, b)
      |         ^~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:view_size
mistakes.py:233:13: error: `T.view`: the shapes tile f32[16] and tile f16[16] do not fit; both take the same number of bytes [shape-mismatch]
  233 |         b = T.view(a, (16,), "float16")
      |             ^~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:fill_number
mistakes.py:239:9: error: T.fill needs a tensor or a tile here, not 3 [types]
  239 |         T.fill(3, A)
      |         ^~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:reducer_use
mistakes.py:246:26: error: T.reducer_update takes what T.alloc_reducer gives [types]
  246 |         T.reducer_update(a[0], 1.0)
      |                          ^~~~
[1]
$ tilewright emit mistakes.py:persistent_names
mistakes.py:252:13: error: 1 name for 2 extents; write as many names as extents [arguments]
  252 |         for i in T.Persistent([16, 4], 4, bx):
      |             ^
[1]
