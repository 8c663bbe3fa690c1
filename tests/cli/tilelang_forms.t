# Tensors with strides of their own, arguments that are lists, what programs ask of the device, marks. Numbers worked out by hand.
$ cat > forms.py <<'EOF'
> import torch
> import tilelang
> import tilelang.language as T
> from tilelang.tools.cuda import iket
> from tvm import tir
>
>
> def gaps(r, s):
>     @T.prim_func
>     def main(A: T.StridedTensor((2, 3), (r, s), "float32"), B: T.Tensor((3, 2), "float32")):
>         with T.Kernel(1) as bx:
>             for i, j in T.Parallel(2, 3):
>                 B[j, i] = A[i, j] + s
>
>     return main
>
>
> def sizes(ns, kind="float32"):
>     width = {T.float32: 4, T.float16: 2}[kind]
>     major, minor = torch.cuda.get_device_capability()
>     bits = int("".join(c for c in kind if c.isdigit())) + int("".join(c for c in T.int8 if c.isdigit())) - 8
>
>     @T.prim_func
>     def main(A: T.Tensor((len(ns),), "int32")):
>         with T.Kernel(1) as bx, iket.range("all"):
>             for i, n in enumerate(ns):
>                 iket.mark("one")
>                 A[i] = n * width + (major >= 8) + bits + tir.const(0, "int32")
>
>     return main
>
>
> def rounded(dtype="tfloat32"):
>     @T.prim_func
>     def main(A: T.Tensor((16, 16), dtype), C: T.Tensor((16, 16), "float32")):
>         with T.Kernel(1) as bx:
>             a = T.alloc_shared((16, 16), dtype)
>             c = T.alloc_fragment((16, 16), "float32")
>             T.copy(A, a)
>             T.gemm(a, a, c, clear_accum=True)
>             T.copy(c, C)
>
>     return main
> EOF
$ tilewright run forms.py:gaps --arg r=3 --arg s=1 --arg 'A=arange:f32[2,3]' --arg 'B=zeros:f32[3,2]' --save B=o.npy > said && od -A n -t f4 -j 128 -w8 o.npy
               1               4
               2               5
               3               6
$ tilewright run forms.py:gaps --arg r=4 --arg s=1 --arg 'A=arange:f32[2,3]' --arg 'B=zeros:f32[3,2]'
forms.py:10:14: error: `A` is declared with strides 4, 1; the array that is passed has 3, 1 [arguments]
   10 |     def main(A: T.StridedTensor((2, 3), (r, s), "float32"), B: T.Tensor((3, 2), "float32")):
      |              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run forms.py:sizes --arg 'ns=[1, 2, 5]' --arg 'A=zeros:i32[3]' --save A=o.npy > said && od -A n -t d4 -j 128 -w12 o.npy
          37          41          53
$ tilewright run forms.py:sizes -D 'ns=(7, 8)' --arg kind=float16 --arg 'A=zeros:i32[2]' --save A=o.npy > said && od -A n -t d4 -j 128 -w12 o.npy
          31          33
$ tilewright run forms.py:sizes --arg 'ns=[1, 2' --arg 'A=zeros:i32[3]'
an argument:1:1: error: `[` was never closed; add the `]` [unclosed-bracket]
    1 | [1, 2
      | ^
[1]
$ tilewright ir forms.py:rounded --stop-after fold | grep dot
  %6 = dot<prec=tf32> %3, %4, %5
$ tilewright ir forms.py:rounded --arg dtype=float32 --stop-after fold | grep dot
  %6 = dot %3, %4, %5
$ tilewright check forms.py:rounded --target cuda --emulate --arg 'A=randn:f32[16,16]' --arg 'C=zeros:f32[16,16]' | tail -1 | sed 's,.*: ,,'
ok
#! A macro that a function made, and that names threads: the kernel names them, too.
$ cat > made.py <<'END'
> import tilelang
> import tilelang.language as T
>
> @tilelang.jit
> def turned(n, fast=True):
>     def made(add):
>         @T.macro
>         def store(A, B):
>             tx = T.get_thread_binding()
>             B[tx] = A[n - 1 - tx] + add
>         return store
>
>     @T.prim_func
>     def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
>         with T.Kernel(1, threads=n):
>             if fast:
>                 made(1)(A, B)
>             else:
>                 made(2)(A, B)
>     return main
> END
$ tilewright run made.py --target cpu --arg n=32 --arg A=arange:f32[32] --arg B=zeros:f32[32] --save B=m.npy > said && od -A n -t f4 -j 128 -w32 -N 32 m.npy
              32              31              30              29              28              27              26              25
#! tvm's constants by the name that tilelang has for tvm.
$ cat > halved.py <<'END'
> import tilelang.language as T
> from tilelang import tvm as tvm
>
> def half(x, dtype):
>     return x * tvm.tirx.const(0.5, dtype)
>
> @T.prim_func
> def halved(A: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         for i in T.Parallel(8):
>             A[i] = half(A[i], "float32")
> END
$ tilewright run halved.py --target cpu --arg A=arange:f32[8] --save A=m.npy > said && od -A n -t f4 -j 128 -w32 m.npy
               0             0.5               1             1.5               2             2.5               3             3.5
#! A slot that leaves by TMA, and is filled again by copies that run ahead: the store has read it before.
$ cat > columns.py <<'EOF'
> import tilelang.language as T
> STAGES = 2
> @T.prim_func
> def columns(A: T.Tensor((1, 8, 8, 32), "float32"), B: T.Tensor((64, 288), "float32")):
>     with T.Kernel(1, threads=128):
>         s = T.alloc_shared((64, 32), "float32")
>         for c in T.Pipelined(9, num_stages=STAGES):
>             T.im2col(A, s, 0, c, 3, 1, 1, 1)
>             T.copy(s, B[0:64, c * 32 : c * 32 + 32])
> EOF
$ tilewright emit columns.py --target cuda | grep -c "tma_store_2d"
1
$ for n in 2 3; do sed "s/STAGES = 2/STAGES = $n/" columns.py > columns_$n.py; tilewright check columns_$n.py --target cuda --emulate --arg 'A=randn:f32[1,8,8,32]' --arg 'B=zeros:f32[64,288]'; done
A: f32[1, 8, 8, 32], max error 0: ok
B: f32[64, 288], max error 0: ok
A: f32[1, 8, 8, 32], max error 0: ok
B: f32[64, 288], max error 0: ok
#! A box that begins where an array says: its end is the same number and a constant.
$ cat > begins.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def begins(A: T.Tensor((50,), "float32"), O: T.Tensor((2,), "int32"), B: T.Tensor((2, 8), "float32")):
>     with T.Kernel(2) as bx:
>         s = T.alloc_shared((50,), "float32")
>         k = T.alloc_var("int32", 3)
>         T.copy(A, s)
>         T.copy(s[O[bx] * 2 + k:O[bx] * 2 + k + 8], B[bx, 0])
>
>
> @T.prim_func
> def differs(A: T.Tensor((50,), "float32"), O: T.Tensor((2,), "int32"), B: T.Tensor((2, 8), "float32")):
>     with T.Kernel(1):
>         T.copy(A[O[0]:O[1] + 8], B[0, 0])
>
>
> @T.prim_func
> def changes(A: T.Tensor((50,), "float32"), O: T.Tensor((2,), "int32"), B: T.Tensor((2, 8), "float32")):
>     with T.Kernel(1):
>         k = T.alloc_var("int32", 3)
>         first = k
>         k = k + 1
>         T.copy(A[first:k + 8], B[0, 0])
> END
$ for t in interp cpu; do tilewright run begins.py:begins --target $t --arg A=arange:f32[50] --arg O=arange:i32[2] --arg B=zeros:f32[2,8] --save B=b.npy > said && od -A n -t f4 -j 128 -w32 b.npy; done
               3               4               5               6               7               8               9              10
               5               6               7               8               9              10              11              12
               3               4               5               6               7               8               9              10
               5               6               7               8               9              10              11              12
$ for k in differs changes; do tilewright emit begins.py:$k --target cpu --arg A=arange:f32[50] --arg O=arange:i32[2] --arg B=zeros:f32[2,8] 2>&1 | head -1; done
begins.py:16:18: error: a slice whose extent is not a constant is not supported in a TileLang kernel; write it as `start : start + 16`, with its extent as the constant [unsupported]
begins.py:25:18: error: a slice whose extent is not a constant is not supported in a TileLang kernel; write it as `start : start + 16`, with its extent as the constant [unsupported]
#! What all threads arrive at in front of the roles, the roles may wait for.
$ cat > arrivals.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def arrivals(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
>     with T.Kernel(1, threads=256):
>         s = T.alloc_shared((64,), "float32")
>         t = T.alloc_shared((64,), "float32")
>         p = T.alloc_barrier(arrive_count=256)
>         q = T.alloc_barrier(arrive_count=256)
>         full = T.alloc_barrier(arrive_count=128)
>         tx = T.get_thread_binding()
>         T.copy(A, s)
>         T.barrier_arrive(p)
>         T.fill(t, 2)
>         T.barrier_arrive(q)
>         if tx < 128:
>             T.barrier_wait(p, 0)
>             T.barrier_wait(full, 0)
>             f = T.alloc_fragment((64,), "float32")
>             T.copy(t, f)
>             T.copy(f, B)
>         else:
>             T.barrier_wait(q, 0)
>             for i in T.Parallel(64):
>                 t[i] = s[i] * 3 + t[i]
>             T.barrier_arrive(full)
> END
$ for t in interp cpu "cuda --emulate" "cpu --set written=on" "cuda --emulate --set written=on"; do tilewright run arrivals.py --target $t --arg A=arange:f32[64] --arg B=zeros:f32[64] --save B=b.npy > said && od -A n -t f4 -j 128 -w16 -N 16 b.npy; done
               2               5               8              11
               2               5               8              11
               2               5               8              11
               2               5               8              11
               2               5               8              11
