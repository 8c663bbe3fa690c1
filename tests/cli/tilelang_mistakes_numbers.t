# Mistakes with atomics, conversions and loops of TileLang, as tilelang_mistakes.t has them of the rest.
$ cat > mistakes.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def load_order(A: T.Tensor((4,), "int32"), B: T.Tensor((4,), "int32")):
>     with T.Kernel(1) as bx:
>         B[0] = T.atomic_load(A[0], memory_order="release")
>
>
> @T.prim_func
> def store_tile(A: T.Tensor((4,), "int32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_shared((4,), "int32")
>         T.atomic_store(a[0], 1)
>
>
> @T.prim_func
> def load_box(A: T.Tensor((4,), "int32"), B: T.Tensor((4,), "int32")):
>     with T.Kernel(1) as bx:
>         B[0] = T.atomic_load(A[0:2])
>
>
> @T.prim_func
> def or_of_floats(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_fragment((16,), "float32")
>         T.clear(a)
>         T.atomic_or(a, A)
>
>
> @T.prim_func
> def narrow_max(A: T.Tensor((16,), "float8_e4m3fn")):
>     with T.Kernel(1) as bx:
>         T.atomic_max(A[0], 1.0)
>
>
> @T.prim_func
> def cast_toward_zero(A: T.Tensor((16,), "float32"), B: T.Tensor((16,), "float8_e4m3fn")):
>     with T.Kernel(1) as bx:
>         for i in T.Parallel(16):
>             B[i] = T.cast(A[i], "float8_e4m3fn", round="rz")
>
>
> @T.prim_func
> def cast_how(A: T.Tensor((16,), "float32"), B: T.Tensor((16,), "float16")):
>     with T.Kernel(1) as bx:
>         for i in T.Parallel(16):
>             B[i] = T.cast(A[i], "float16", round="nearest")
>
>
> @T.prim_func
> def round_how(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         for i in T.Parallel(16):
>             A[i] = T.round(A[i], "up")
>
>
> @T.prim_func
> def while_two(A: T.Tensor((16,), "int32")):
>     with T.Kernel(1) as bx:
>         with T.While(A[0] == 0, A[1] == 0):
>             A[0] = 1
>
>
> @T.prim_func
> def read_unwritten(A: T.Tensor((16,), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_fragment((16,), "float32")
>         T.print(a, msg="empty")
>         T.copy(a, A)
>
>
> @T.prim_func
> def reducer_batch(A: T.Tensor((64,), "float32")):
>     with T.Kernel(1) as bx:
>         sums = T.alloc_reducer((64,), "float32", op="sum")
>         T.clear(sums)
>         T.finalize_reducer(sums, A, batch=3)
> END
$ tilewright emit mistakes.py:load_order
mistakes.py:7:49: error: T.atomic_load does not support memory_order="release"; write "relaxed", "acquire" or "seq_cst" [types]
    7 |         B[0] = T.atomic_load(A[0], memory_order="release")
      |                                                 ^~~~~~~~~
[1]
$ tilewright emit mistakes.py:store_tile
mistakes.py:14:24: error: T.atomic_store on a tile is not supported in a TileLang kernel; it works on tensors; a tile belongs to its block: read and write it, as in x[i] += y [unsupported]
   14 |         T.atomic_store(a[0], 1)
      |                        ^~~~
[1]
$ tilewright emit mistakes.py:load_box
mistakes.py:20:30: error: T.atomic_load takes an element, as in x[i] [types]
   20 |         B[0] = T.atomic_load(A[0:2])
      |                              ^~~~~~
[1]
$ tilewright emit mistakes.py:or_of_floats
mistakes.py:28:9: error: T.atomic_or combines bits, not float32; T.reinterpret them as integers first [types]
   28 |         T.atomic_or(a, A)
      |         ^~~~~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:narrow_max
mistakes.py:34:9: error: T.atomic_max cannot work on float8_e4m3 in memory; use a type of at least 16 bits [types]
   34 |         T.atomic_max(A[0], 1.0)
      |         ^~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:cast_toward_zero
mistakes.py:41:56: error: T.cast with `sat`, `rbits` or another `round` than "rn" is planned and not there yet; leave it out: T.cast rounds to nearest; T.clamp before it keeps a number in a range [planned]
   41 |             B[i] = T.cast(A[i], "float8_e4m3fn", round="rz")
      |                                                        ^~~~
[1]
$ tilewright emit mistakes.py:cast_how
mistakes.py:48:50: error: "nearest" is no way to round; write one of rn [option]
   48 |             B[i] = T.cast(A[i], "float16", round="nearest")
      |                                                  ^~~~~~~~~
[1]
$ tilewright emit mistakes.py:round_how
mistakes.py:55:34: error: "up" is no rounding mode; write one of ties-away-from-zero, ties-to-even [option]
   55 |             A[i] = T.round(A[i], "up")
      |                                  ^~~~
[1]
$ tilewright emit mistakes.py:while_two
mistakes.py:61:14: error: T.While takes one condition; join several with `and` [arguments]
   61 |         with T.While(A[0] == 0, A[1] == 0):
      |              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:read_unwritten
mistakes.py:70:9: error: this buffer is read before anything is written to it; fill or copy into it first [read-before-write]
   70 |         T.copy(a, A)
      |         ^~~~~~~~~~~~
[1]
$ tilewright emit mistakes.py:reducer_batch
mistakes.py:78:43: error: batch=3 does not fit a reducer of 64 elements; it must evenly divide the output's elements [types]
   78 |         T.finalize_reducer(sums, A, batch=3)
      |                                           ^
[1]
#! Blocks may reach over the end of a tensor, and lie behind it: they read 0 there and write nothing.
$ cat > behind.py <<'END'
> import tilelang.language as T
>
> M = T.dynamic("m")
>
>
> @T.prim_func
> def element(A: T.Tensor((16, M), "float32"), B: T.Tensor((16, M), "float32")):
>     with T.Kernel(1):
>         B[0, 0] = A[16, 0]
>
>
> @T.prim_func
> def box(A: T.Tensor((16, M), "float32"), B: T.Tensor((16, M), "float32")):
>     with T.Kernel(1):
>         s = T.alloc_shared((16, 2), "float32")
>         T.copy(A[20:36, 0:2], s)
>         T.copy(s, B[0, 0])
>
>
> @T.prim_func
> def right(A: T.Tensor((16, M), "float32"), B: T.Tensor((16, M), "float32")):
>     with T.Kernel(1):
>         s = T.alloc_shared((4, 2), "float32")
>         T.copy(A[14:18, 0:2], s)
>         T.copy(s, B[0, 0])
>         B[1, 0] = T.if_then_else(M > 1, A[1, 1], 0) + (A[2, 1] if M > 1 else 7)
>         if M > 1:
>             B[1, 1] = A[1, 1]
>         if A[0, 0] > 1:
>             B[99, 0] = 1
> END
$ for k in element box right; do tilewright run behind.py:$k --arg A=ones:f32[16,1] --arg B=zeros:f32[16,1] --save B=b.npy && od -A n -t f4 -j 128 -w16 -N 16 b.npy; done
               0               0               0               0
               0               0               0               0
               1               7               0               0
