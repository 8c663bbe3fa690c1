# T.sync_grid: what stands behind it is a launch of its own. Shares of the sum of 0..255, 32640.
$ cat > sync.py <<'END'
> import tilelang.language as T
>
> @T.prim_func
> def normal(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), "float32"), S: T.Tensor((8,), "float32")):
>     with T.Kernel(8, threads=32) as b:
>         base = b * 32
>         a = T.alloc_fragment((32,), "float32")
>         s = T.alloc_fragment((1,), "float32")
>         T.copy(A[base], a)
>         T.reduce_sum(a, s, dim=0)
>         S[b] = s[0]
>         T.sync_grid()
>         parts = T.alloc_fragment((8,), "float32")
>         all = T.alloc_fragment((1,), "float32")
>         out = T.alloc_fragment((32,), "float32")
>         T.copy(S, parts)
>         T.reduce_sum(parts, all, dim=0)
>         for i in T.Parallel(32):
>             out[i] = A[base + i] / all[0]
>         T.copy(out, B[base])
>
> @T.prim_func
> def carried(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), "float32")):
>     with T.Kernel(8, threads=32) as b:
>         a = T.alloc_fragment((32,), "float32")
>         T.copy(A[b * 32], a)
>         T.sync_grid()
>         T.copy(a, B[b * 32])
>
> @T.prim_func
> def loaded(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), "float32")):
>     with T.Kernel(8, threads=32) as b:
>         first = A[b]
>         A[b] = 0
>         T.sync_grid()
>         B[b] = first
>
> @T.prim_func
> def deep(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), "float32")):
>     with T.Kernel(8, threads=32) as b:
>         for i in T.serial(3):
>             A[b] = i
>             T.sync_grid()
>             B[b] = A[(b + 1) % 8]
> END
$ tilewright run sync.py:normal --target cpu --arg A=arange:f32[256] --arg B=zeros:f32[256] --arg S=zeros:f32[8] --save B=b.npy --save S=s.npy > said && od -A n -t f4 -j 128 -w32 s.npy && od -A n -t f4 -j 1144 -w8 b.npy
             496            1520            2544            3568            4592            5616            6640            7664
    0.0077818627       0.0078125
$ tilewright check sync.py:normal --target cuda --emulate --arg A=arange:f32[256] --arg B=zeros:f32[256] --arg S=zeros:f32[8]
A: f32[256], max error 0: ok
B: f32[256], max error 0: ok
S: f32[8], max error 0: ok
#! What tiles and names hold does not pass it.
$ for k in carried loaded deep; do tilewright check sync.py:$k --arg A=arange:f32[256] --arg B=zeros:f32[256]; done
sync.py:26:9: error: `a` on both sides of T.sync_grid, a tile or variable, is not supported in a TileLang kernel; what tiles and variables hold does not pass it; keep it in a tensor (T.alloc_global((..), dtype) before T.Kernel makes one), or take another name [unsupported]
   26 |         T.copy(A[b * 32], a)
      |         ^~~~~~~~~~~~~~~~~~~~
sync.py:33:9: error: `first` on both sides of T.sync_grid, computed from what memory holds, is not supported in a TileLang kernel; what tiles and variables hold does not pass it; keep it in a tensor (T.alloc_global((..), dtype) before T.Kernel makes one), or take another name [unsupported]
   33 |         first = A[b]
      |         ^~~~~~~~~~~~
sync.py:43:13: error: T.sync_grid in a loop, under a condition or in a function is not supported in a TileLang kernel; put it under `with T.Kernel(...)` itself, or write two kernels [unsupported]
   43 |             T.sync_grid()
      |             ^~~~~~~~~~~~~
[1]
