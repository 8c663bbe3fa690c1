# Atomics on 16 bits: the largest and least of numbers worked out by hand, on every target that runs here.
$ cat > narrow.py <<'END'
> import tilelang.language as T
> @T.prim_func
> def f16(A: T.Tensor((256,), "float16"), C: T.Tensor((4,), "float16")):
>     with T.Kernel(2, threads=128) as bx:
>         for i in T.Parallel(128):
>             T.atomic_max(C[i % 2], A[bx * 128 + i])
>             T.atomic_min(C[2 + i % 2], A[bx * 128 + i])
> @T.prim_func
> def bf16(A: T.Tensor((256,), "bfloat16"), C: T.Tensor((4,), "bfloat16")):
>     with T.Kernel(2, threads=128) as bx:
>         for i in T.Parallel(128):
>             T.atomic_max(C[i % 2], A[bx * 128 + i])
>             T.atomic_min(C[2 + i % 2], A[bx * 128 + i])
> @T.prim_func
> def i16(A: T.Tensor((256,), "int16"), C: T.Tensor((4,), "int16")):
>     with T.Kernel(2, threads=128) as bx:
>         for i in T.Parallel(128):
>             T.atomic_max(C[i % 2], A[bx * 128 + i])
>             T.atomic_add(C[2 + i % 2], A[bx * 128 + i])
> END
$ for t in cpu "cuda --emulate" "hip --emulate"; do for k in f16 bf16 i16; do tilewright run narrow.py:$k --target $t --arg A=arange:$k[256] --arg C=ones:$k[4] --save C=c.npy > said && tail -c 8 c.npy | od -A n -t x2; done; done
 5bf0 5bf8 0000 3c00
 437e 437f 0000 3f80
 00fe 00ff 3f81 4001
 5bf0 5bf8 0000 3c00
 437e 437f 0000 3f80
 00fe 00ff 3f81 4001
 5bf0 5bf8 0000 3c00
 437e 437f 0000 3f80
 00fe 00ff 3f81 4001
$ tilewright check narrow.py:bf16 --target cuda:sm_80 --emulate --arg A=randn:bf16[256] --arg C=zeros:bf16[4]
A: bf16[256], max error 0: ok
C: bf16[4], max error 0: ok
