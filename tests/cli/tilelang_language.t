# What TileLang's language has around and inside of kernels: host Python, factories, the eager style, variables, while and
# break, if and loops in element loops, atomics, views, scans, sizes from arrays. Numbers worked out by hand.
$ cat > lang.py <<'END'
> import math
> import tilelang
> import tilelang.language as T
>
>
> @T.macro
> def twice(x):
>     return x + x
>
>
> def blocks(n, size):
>     return [(i, min(size, n - i)) for i in range(0, n, size)]
>
>
> def factory(n, dtype="float32"):
>     scale = {"float32": 2, "float16": 4}[dtype]
>
>     @tilelang.jit
>     def inner(block=4):
>         parts = blocks(n, block)
>         total = sum(size for _, size in parts)
>         assert total == n, f"{total} of {n}"
>
>         @T.prim_func
>         def main(A: T.Tensor((n,), dtype=dtype), B: T.Tensor([n], dtype)):
>             with T.Kernel(len(parts), threads=32) as bx:
>                 for i in T.Parallel(block):
>                     B[bx * block + i] = twice(A[bx * block + i]) * scale + T.dtype(dtype).bits // 32
>
>         return main
>
>     return inner
>
>
> @T.prim_func
> def collatz(A: T.Tensor((6,), "int32"), B: T.Tensor((6,), "int32")):
>     with T.Kernel(6) as bx:
>         n = T.alloc_var("int32")
>         steps = T.alloc_var("int32", 0)
>         n = A[bx]
>         while True:
>             if n <= 1:
>                 break
>             steps += 1
>             if n % 2 == 0:
>                 n = n // 2
>                 continue
>             n = 3 * n + 1
>         B[bx] = steps
>
>
> @T.prim_func
> def band(A: T.Tensor((6, 6), "int32")):
>     with T.Kernel(1) as bx:
>         S = T.alloc_shared((6, 6), "int32")
>         for i, j in T.Parallel(6, 6):
>             S[i, j] = 0
>             if i == j:
>                 S[i, j] = 9
>             elif j < i:
>                 for k in T.serial(j, i):
>                     S[i, j] += k
>         T.copy(S, A)
>
>
> @T.prim_func
> def count(A: T.Tensor((8,), "int32"), B: T.Tensor((4,), "int32"), C: T.Tensor((2, 1, 4), "int32"), D: T.Tensor((2,), "int32")):
>     with T.Kernel(2) as bx:
>         for i in T.Parallel(4):
>             T.atomic_add(B[A[bx * 4 + i]], 1)
>         S = T.alloc_shared((4,), "int32")
>         T.fill(S, bx + 1)
>         T.atomic_add(C[0, 0, 0], S)
>         T.atomic_max(C[1, 0, 0:4], S)
>         D[bx] = T.atomic_add(B[3], 10, return_prev=True)
>
>
> @T.prim_func
> def shapes(A: T.Tensor((2, 6), "float32"), B: T.Tensor((3, 4), "float32"), C: T.Tensor((3,), "float32")):
>     with T.Kernel(1) as bx:
>         S = T.alloc_shared((2, 6), "float32")
>         T.copy(A, S)
>         V = T.reshape(S, (3, 4))
>         V[1, 0] = 100.0
>         T.cumsum(V, dim=1)
>         W = T.alloc_fragment((3, 4), "float32")
>         W[:, :] = V
>         W[0:1, 0:4] = 7.0
>         T.copy(W, B)
>         m = T.alloc_fragment((3,), "float32")
>         T.reduce_absmax(W, m)
>         for i in T.Parallel(3):
>             C[i] = T.clamp(m[i], -1, 20) + T.cast(T.reinterpret(m[i], "int32") >> 23, "float32")
>
>
> @tilelang.jit
> def add(A, B, block: int = 4):
>     M, N = T.const("M, N")
>     A: T.Tensor((M, N), T.float32)
>     B: T.Tensor((M, N), T.float32)
>     C = T.empty((M, N), T.float32)
>     with T.Kernel(T.ceildiv(N, block), M) as (bx, by):
>         for j in T.Parallel(block):
>             C[by, bx * block + j] = A[by, bx * block + j] + B[by, bx * block + j]
>     return C
>
>
> def sized():
>     m = T.dynamic("m")
>
>     @T.prim_func
>     def main(A: T.Tensor((m, 2), "int32"), rows: T.int32):
>         with T.Kernel(T.ceildiv(rows, 2)) as bx:
>             for i, j in T.Parallel(2, 2):
>                 A[bx * 2 + i, j] = bx * 10 + m
>
>     return main
> END
$ tilewright list lang.py
factory(n: constant, dtype: constant?, block: constant?, A, B)
collatz(A, B)
band(A)
count(A, B, C, D)
shapes(A, B, C)
add(A, B, block: constant?, M: constant?, N: constant?, C)
sized(A, rows, m: constant?)
$ tilewright run lang.py:factory --target interp --arg 'n=6' --arg 'A=arange:f32[6]' --arg 'B=zeros:f32[6]' --save B=o.npy > said && od -A n -t f4 -j 128 -w24 o.npy
               1               5               9              13              17              21
$ tilewright run lang.py:factory --target cpu --arg 'n=6' --arg 'A=arange:f32[6]' --arg 'B=zeros:f32[6]' --save B=o.npy > said && od -A n -t f4 -j 128 -w24 o.npy
               1               5               9              13              17              21
$ tilewright run lang.py:factory --arg n=6 --arg block=3 --arg dtype=float16 --arg 'A=arange:f16[6]' --arg 'B=zeros:f16[6]'
B: f16[6], 5 of 6 elements changed
$ tilewright run lang.py:factory --arg n=6 --arg dtype=float64 --arg 'A=arange:f64[6]' --arg 'B=zeros:f64[6]'
lang.py:28:68: error: `scale` has no value here: `float64` is not known [unbound]
   28 |                     B[bx * block + i] = twice(A[bx * block + i]) * scale + T.dtype(dtype).bits // 32
      |                                                                    ^~~~~
[1]
$ tilewright run lang.py:collatz --target interp --arg 'A=arange:i32[6]' --arg 'B=zeros:i32[6]' --save B=o.npy > said && od -A n -t d4 -j 128 -w24 o.npy
           0           0           1           7           2           5
$ tilewright run lang.py:collatz --target cpu --arg 'A=arange:i32[6]' --arg 'B=zeros:i32[6]' --save B=o.npy > said && od -A n -t d4 -j 128 -w24 o.npy
           0           0           1           7           2           5
$ tilewright run lang.py:band --target interp --arg 'A=zeros:i32[6,6]' --save A=o.npy > said && od -A n -t d4 -j 128 -w24 o.npy
           9           0           0           0           0           0
           0           9           0           0           0           0
           1           1           9           0           0           0
           3           3           2           9           0           0
           6           6           5           3           9           0
          10          10           9           7           4           9
$ tilewright run lang.py:count --target interp --arg 'A=arange:i32[8]' --arg 'B=zeros:i32[4]' --arg 'C=zeros:i32[2,1,4]' --arg 'D=zeros:i32[2]' --save B=o.npy > said && od -A n -t d4 -j 128 -w24 o.npy
           1           1           1          21
$ tilewright run lang.py:count --target interp --arg 'A=arange:i32[8]' --arg 'B=zeros:i32[4]' --arg 'C=zeros:i32[2,1,4]' --arg 'D=zeros:i32[2]' --save C=o.npy > said && od -A n -t d4 -j 128 -w24 o.npy
           3           3           3           3           2           2
           2           2
$ tilewright run lang.py:count --target interp --arg 'A=arange:i32[8]' --arg 'B=zeros:i32[4]' --arg 'C=zeros:i32[2,1,4]' --arg 'D=zeros:i32[2]' --save D=o.npy > said && od -A n -t d4 -j 128 -w24 o.npy
           1          11
$ tilewright run lang.py:shapes --target interp --arg 'A=arange:f32[2,6]' --arg 'B=zeros:f32[3,4]' --arg 'C=zeros:f32[3]' --save B=o.npy > said && od -A n -t f4 -j 128 -w24 o.npy
               7               7               7               7             100             105
             111             118               8              17              27              38
$ tilewright run lang.py:shapes --target interp --arg 'A=arange:f32[2,6]' --arg 'B=zeros:f32[3,4]' --arg 'C=zeros:f32[3]' --save C=o.npy > said && od -A n -t f4 -j 128 -w24 o.npy
             136             153             152
$ tilewright run lang.py:add --target interp --arg 'A=arange:f32[2,5]' --arg 'B=ones:f32[2,5]' --arg 'C=zeros:f32[2,5]' --save C=o.npy > said && od -A n -t f4 -j 128 -w24 o.npy
               1               2               3               4               5               6
               7               8               9              10
$ tilewright run lang.py:add --target cpu --arg 'A=arange:f32[2,5]' --arg 'B=ones:f32[2,5]' --arg 'C=zeros:f32[2,5]' --save C=o.npy > said && od -A n -t f4 -j 128 -w24 o.npy
               1               2               3               4               5               6
               7               8               9              10
$ tilewright ir lang.py:add
lang.py:99:17: error: `M` has no value; give it as an argument or a definition, M=VALUE [missing-constant]
   99 |     A: T.Tensor((M, N), T.float32)
      |                 ^~~~~~
lang.py:102:19: error: `N` has no value; give it as an argument or a definition, N=VALUE [missing-constant]
  102 |     with T.Kernel(T.ceildiv(N, block), M) as (bx, by):
      |                   ^~~~~~~~~~~~~~~~~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright run lang.py:sized --target interp --arg 'A=zeros:i32[5,2]' --arg 'rows=5' --save A=o.npy > said && od -A n -t d4 -j 128 -w24 o.npy
           5           5           5           5          15          15
          15          15          25          25
$ tilewright run lang.py:sized --target cpu --arg 'A=zeros:i32[5,2]' --arg 'rows=5' --save A=o.npy > said && od -A n -t d4 -j 128 -w24 o.npy
           5           5           5           5          15          15
          15          15          25          25
$ cat > bad.py <<'END'
> import tilelang
> import tilelang.language as T
>
>
> def get(n):
>     return host_table[n]
>
>
> @tilelang.jit
> def f(n, kind="plain"):
>     size = get(n)
>     if kind == "never":
>         return None
>     if kind == "wrong":
>         raise ValueError(f"no kernel for {n}")
>
>     @T.prim_func
>     def main(A: T.Tensor((n,), "float32")):
>         with T.Kernel(1) as bx:
>             seen = []
>             if kind == "size":
>                 A[0] = size
>             if kind == "list":
>                 for i in T.serial(4):
>                     seen.append(i)
>             if kind == "planned":
>                 T.annotate_ws_schedule(0)
>             if kind == "chip":
>                 x = T.alloc_tmem([64, 64], "float32")
>             if kind == "jump":
>                 for i in T.Parallel(4):
>                     if i > 2:
>                         break
>                     A[i] = 1.0
>             if kind == "twice":
>                 with T.Kernel(2) as by:
>                     A[by] = 1.0
>             if kind == "tile":
>                 s = T.alloc_shared((4,), "float32")
>                 T.atomic_add(s[0], 1.0)
>             if kind == "slice":
>                 T.copy(A[0:bx], A[4:8])
>             A[0] = 1.0
>
>     return main
> END
$ tilewright run bad.py --arg n=8 --arg kind=size --arg 'A=zeros:f32[8]'
bad.py:22:24: error: `size` has no value here: `host_table` is not defined; a size or option of the kernel is given as a definition, host_table=VALUE [unbound]
   22 |                 A[0] = size
      |                        ^~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright run bad.py --arg n=8 --arg kind=list --arg 'A=zeros:f32[8]'
bad.py:25:21: error: this list changes inside of a run-time loop or branch, and Python runs that text once; change it outside, or make a new one inside [changed]
   25 |                     seen.append(i)
      |                     ^~~~~~~~~~~~~~
[1]
$ tilewright run bad.py --arg n=8 --arg kind=planned --arg 'A=zeros:f32[8]'
bad.py:27:17: error: T.annotate_ws_schedule is planned and not there yet; leave roles out: they are chosen here [planned]
   27 |                 T.annotate_ws_schedule(0)
      |                 ^~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run bad.py --arg n=8 --arg kind=chip --arg 'A=zeros:f32[8]'
bad.py:29:21: error: `T.alloc_tmem` belongs to another chip: Blackwell (sm_100) [other-chip]
   29 |                 x = T.alloc_tmem([64, 64], "float32")
      |                     ^~~~~~~~~~~~
[1]
$ tilewright run bad.py --arg n=8 --arg kind=jump --arg 'A=zeros:f32[8]'
bad.py:33:25: error: a jump out of this kind of loop (put what follows under an `if`) is not supported in TileLang kernels here [unsupported]
   33 |                         break
      |                         ^~~~~
[1]
$ tilewright run bad.py --arg n=8 --arg kind=twice --arg 'A=zeros:f32[8]'
bad.py:36:22: error: T.Kernel inside T.Kernel is not supported in a TileLang kernel; launches stand one behind the other in the function [unsupported]
   36 |                 with T.Kernel(2) as by:
      |                      ^~~~~~~~~~~
[1]
$ tilewright run bad.py --arg n=8 --arg kind=tile --arg 'A=zeros:f32[8]'
bad.py:40:17: error: this buffer is read before anything is written to it; fill or copy into it first [read-before-write]
   40 |                 T.atomic_add(s[0], 1.0)
      |                 ^~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run bad.py --arg n=8 --arg kind=slice --arg 'A=zeros:f32[8]'
bad.py:42:26: error: a slice whose extent is not a constant is not supported in a TileLang kernel; write it as `start : start + 16`, with its extent as the constant [unsupported]
   42 |                 T.copy(A[0:bx], A[4:8])
      |                          ^~~~
[1]
$ tilewright run bad.py --arg n=8 --arg kind=never --arg 'A=zeros:f32[8]'
bad.py:18:5: error: the functions around this kernel do not come to it with these arguments and definitions; give others [no-kernel]
   18 |     def main(A: T.Tensor((n,), "float32")):
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright run bad.py --arg n=8 --arg kind=wrong --arg 'A=zeros:f32[8]'
bad.py:15:9: error: the program raises: no kernel for 8 for these arguments and definitions; give others [raise]
   15 |         raise ValueError(f"no kernel for {n}")
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright run bad.py --arg n=8 --arg 'A=zeros:f32[8]'
A: f32[8], 1 of 8 elements changed
$ cat > around.py <<'END'
> import tilelang.language as T
>
>
> def check(n):
>     assert n % 4 == 0, "n in fours"
>
>
> def fill(xs, n):
>     xs.append(n)
>     xs.append(unknown(n))
>
>
> def f(n, kind="x"):
>     xs = [1]
>     ys = [2]
>     zs = xs
>     check(n)
>     if kind == "append":
>         xs.append(unknown(n))
>     if kind == "helper":
>         fill(xs, n)
>     if kind == "element":
>         xs[0] = unknown(n)
>     ref = unknown(ys)
>
>     @T.prim_func
>     def main(A: T.Tensor((n,), "float32")):
>         with T.Kernel(1) as bx:
>             A[0] = zs[0] + ys[0]
>
>     return main
> END
$ tilewright run around.py --arg n=8 --arg kind=x --arg 'A=zeros:f32[8]'
A: f32[8], 1 of 8 elements changed
$ tilewright run around.py --arg n=8 --arg kind=append --arg 'A=zeros:f32[8]'
around.py:29:20: error: `list` has no value here: `unknown` is not defined; a size or option of the kernel is given as a definition, unknown=VALUE [unbound]
   29 |             A[0] = zs[0] + ys[0]
      |                    ^~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright run around.py --arg n=8 --arg kind=helper --arg 'A=zeros:f32[8]'
around.py:29:20: error: `list` has no value here: `unknown` is not defined; a size or option of the kernel is given as a definition, unknown=VALUE [unbound]
   29 |             A[0] = zs[0] + ys[0]
      |                    ^~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright run around.py --arg n=8 --arg kind=element --arg 'A=zeros:f32[8]'
around.py:29:20: error: `list` has no value here: `unknown` is not defined; a size or option of the kernel is given as a definition, unknown=VALUE [unbound]
   29 |             A[0] = zs[0] + ys[0]
      |                    ^~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright run around.py --arg n=6 --arg 'A=zeros:f32[6]'
around.py:5:5: error: this assert does not hold for the sizes given: n in fours; give others as arguments or definitions [assert]
    5 |     assert n % 4 == 0, "n in fours"
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
around.py:17:5: note: in the call of `check`
   17 |     check(n)
      |     ^~~~~~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ cat > grid.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def g(A: T.Tensor((3, 4), "int32")):
>     with T.Kernel(1) as bx:
>         n = T.alloc_var("int32", 0)
>         for i, j in T.grid(3, 4):
>             if i != 1:
>                 n += 1
>             A[i, j] = n
>         for i in T.vectorized(2):
>             A[0, i] = -1
>         T.print(n, "n")
> END
$ tilewright run grid.py --target interp --arg 'A=zeros:i32[3,4]' --save A=o.npy && od -A n -t d4 -j 128 -w16 o.npy
pid (0, 0, 0) idx () n: 8
          -1          -1           3           4
           4           4           4           4
           5           6           7           8
$ tilewright check grid.py --arg 'A=zeros:i32[3,4]' | tail -1
A: i32[3, 4], max error 0: ok
$ cat > nan.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def top(A: T.Tensor((2, 4), "float32"), B: T.Tensor((2,), "float32"), C: T.Tensor((2,), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_fragment((2, 4), "float32")
>         m = T.alloc_fragment((2,), "float32")
>         for i, j in T.Parallel(2, 4):
>             a[i, j] = T.if_then_else(i == j, T.log(A[i, j] - 100), A[i, j])
>         T.reduce_max(a, m)
>         T.copy(m, B)
>         T.reduce_max(a, m, nan_propagate=True)
>         T.copy(m, C)
> END
$ tilewright run nan.py --arg 'A=arange:f32[2,4]' --arg 'B=zeros:f32[2]' --arg 'C=zeros:f32[2]' --save B=o.npy > said && od -A n -t f4 -j 128 -w24 o.npy
               3               7
$ tilewright run nan.py --arg 'A=arange:f32[2,4]' --arg 'B=zeros:f32[2]' --arg 'C=zeros:f32[2]' --save C=o.npy > said && od -A n -t f4 -j 128 -w24 o.npy
             nan             nan
#! Where nobody has written to a tile there is nothing to fold into.
$ cat > folds.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def folds(A: T.Tensor((3, 4), "float32"), B: T.Tensor((2, 3), "float32")):
>     with T.Kernel(1):
>         a = T.alloc_fragment((3, 4), "float32")
>         b = T.alloc_fragment((3,), "float32")
>         T.copy(A, a)
>         for i, j in T.Parallel(3, 4):
>             a[i, j] = -1 - a[i, j]
>         T.reduce_max(a, b, dim=1, clear=False)
>         T.copy(b, B[0, 0])
>         T.reduce_sum(a, b, dim=1, clear=False)
>         T.copy(b, B[1, 0])
> END
$ for t in interp cpu; do tilewright run folds.py --target $t --arg A=arange:f32[3,4] --arg B=zeros:f32[2,3] --save B=b.npy && od -A n -t f4 -j 128 -w12 b.npy; done
folds.py:12:9: warning: `T.reduce_max` with clear=False, and nobody has written to the tile that it folds into: it takes what the source has; write clear=True, or T.fill the tile before [unwritten-fold]
   12 |         T.reduce_max(a, b, dim=1, clear=False)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
              -1              -5              -9
             -11             -31             -51
folds.py:12:9: warning: `T.reduce_max` with clear=False, and nobody has written to the tile that it folds into: it takes what the source has; write clear=True, or T.fill the tile before [unwritten-fold]
   12 |         T.reduce_max(a, b, dim=1, clear=False)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
              -1              -5              -9
             -11             -31             -51
#! Loops that nothing leaves, and division by a zero that is known here.
$ cat > never.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def endless(A: T.Tensor((4,), "int32")):
>     with T.Kernel(1):
>         while 1 < 2:
>             A[0] = A[0] + 1
>
>
> @T.prim_func
> def zero(A: T.Tensor((4,), "int32")):
>     with T.Kernel(1):
>         for i in T.Parallel(4):
>             A[i] = A[i] // 0 + i % 0
> END
$ tilewright check never.py:endless
never.py:7:15: error: this always holds, and nothing in the loop leaves it; test what the loop changes, or `break` under an `if` [endless]
    7 |         while 1 < 2:
      |               ^~~~~
[1]
$ tilewright check never.py:zero
never.py:15:20: error: a whole number is divided by zero [divide-by-zero]
   15 |             A[i] = A[i] // 0 + i % 0
      |                    ^~~~~~~~~
never.py:15:32: error: a whole number is divided by zero [divide-by-zero]
   15 |             A[i] = A[i] // 0 + i % 0
      |                                ^~~~~
[1]
