# Mistakes that Python lets one make: names, kinds of numbers, words of the language.
$ cat > slips.py <<'END'
> import tilelang.language as T
>
> @T.prim_func
> def loop_float(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         for i in T.serial(3.5):
>             C[0, i] = 0
>
> @T.prim_func
> def shape_float(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         x = T.alloc_shared((64 / 2, 4), "float16")
>
> @T.prim_func
> def unknown_method(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         C[0, 0] = A[0, 0].to("float32")
>
> @T.prim_func
> def shadow_T(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         T = 3
>         T.clear(c)
>
> @T.prim_func
> def missing_T(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         copy(A, a)
>
> @T.prim_func
> def kw_only(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         T.copy(src=A, dest=a)
>
> @T.prim_func
> def typo_op(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         T.coppy(A, a)
>
> @T.prim_func
> def cond_assign(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         if bx == 0:
>             v = 1
>         C[0, 0] = v
>
> @T.prim_func
> def use_before(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         C[0, 0] = zz
>         zz = 1
>
> @T.prim_func
> def for_tile(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         for x in c:
>             pass
>
> @T.prim_func
> def wrong_dim(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         T.clear(c)
>         T.reduce_sum(c, s, dim=2)
>
> @T.prim_func
> def deleted(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         del a
>
> @T.prim_func
> def tried(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         try:
>             C[0, 0] = 1
>         except Exception:
>             pass
>
> @T.prim_func
> def called(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         f = lambda x: x + 1
>         C[0, 0] = f(C[0, 0], 2)
>
> @T.prim_func
> def break_out(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         break
>
> @T.prim_func
> def two_idx(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
>     with T.Kernel(1, threads=128) as bx:
>         a = T.alloc_shared((64, 64), "float16")
>         c = T.alloc_fragment((64, 64), "float32")
>         s = T.alloc_fragment((64,), "float32")
>         C[0][1] = 3
>
> END
$ for k in loop_float shape_float unknown_method shadow_T missing_T kw_only typo_op cond_assign use_before for_tile wrong_dim deleted tried called break_out two_idx; do tilewright check slips.py:$k --arg A=randn:f16[64,64] --arg C=zeros:f32[64,64]; done
slips.py:9:18: error: a loop counts integers, and 3.5 is none; write `//`, or T.cast it to an integer [types]
    9 |         for i in T.serial(3.5):
      |                  ^~~~~~~~~~~~~
slips.py:18:28: error: an extent must be known here and not negative, this one is 32.0, no integer, as `//` would give; give sizes as definitions or constants [extent]
   18 |         x = T.alloc_shared((64 / 2, 4), "float16")
      |                            ^~~~~~~~~~~
hint: a definition is given with -D NAME=VALUE
slips.py:26:19: error: the attribute `to` of tensor f16[1,1] is not supported in a TileLang kernel; T.cast(x, "float32") converts a number, T.copy a tile [unsupported]
   26 |         C[0, 0] = A[0, 0].to("float32")
      |                   ^~~~~~~~~~
slips.py:35:9: error: the attribute `clear` of 3 is not supported in a TileLang kernel; tensors and tiles have `shape` and `dtype`, numbers `dtype` and `astype` [unsupported]
   35 |         T.clear(c)
      |         ^~~~~~~
slips.py:43:9: error: `copy` is not defined; a size or option of the kernel is given as a definition, copy=VALUE; did you mean `T.copy`? [unknown-name]
   43 |         copy(A, a)
      |         ^~~~
hint: a definition is given with -D NAME=VALUE
slips.py:51:23: error: `copy` has no parameter `dest`; did you mean `dst`? [arity]
   51 |         T.copy(src=A, dest=a)
      |                       ^~~~~~
slips.py:59:9: error: `T.coppy` is not known here; did you mean `T.copy`? [unknown-operation]
   59 |         T.coppy(A, a)
      |         ^~~~~~~
slips.py:69:19: error: `v` has no value here: it is assigned in only one branch of an `if`; give it a value before [unbound]
   69 |         C[0, 0] = v
      |                   ^
slips.py:77:19: error: `zz` has no value here: it is assigned at line 78, below, which does not run before this with these arguments; assign it on every path that leads here [unbound]
   77 |         C[0, 0] = zz
      |                   ^~
slips.py:86:18: error: this iterable is not supported in a TileLang kernel; loop over T.Parallel, T.Pipelined, T.serial, range or a list [unsupported]
   86 |         for x in c:
      |                  ^
slips.py:96:9: error: dim is outside of tile f32[64,64] [arguments]
   96 |         T.reduce_sum(c, s, dim=2)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~
slips.py:104:9: error: `del` is not part of a kernel; leave it out; a value that is not used costs nothing [unsupported]
  104 |         del a
      |         ^~~~~
slips.py:112:9: error: `try` is not part of a kernel; nothing in a kernel raises; test with `if` [unsupported]
  112 |         try:
      |         ^~~~
slips.py:124:30: error: `lambda` takes at most 1 positional arguments; it is `lambda(x)` [arity]
  124 |         C[0, 0] = f(C[0, 0], 2)
      |                              ^
slips.py:132:9: error: `break` or `continue` outside of a loop is not supported in TileLang kernels here [unsupported]
  132 |         break
      |         ^~~~~
slips.py:140:9: error: tensor f32[64,64] has 2 dimensions, 1 indices are given [index]
  140 |         C[0][1] = 3
      |         ^~~~
[1]
