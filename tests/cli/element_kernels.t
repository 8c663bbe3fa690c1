# Kernels of element loops: a convolution by indices, rotary embeddings, rows that numbers choose, counts, the largest of a row, a step of a sort.
$ cat > conv.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def conv(X: T.Tensor((2, 9, 7, 8), "float16"), W: T.Tensor((72, 16), "float16"), O: T.Tensor((2 * 9 * 7, 16), "float32")):
>     with T.Kernel(T.ceildiv(126, 32)) as bx:
>         a = T.alloc_shared((32, 24), "float16")
>         b = T.alloc_shared((24, 16), "float16")
>         c = T.alloc_fragment((32, 16), "float32")
>         T.clear(c)
>         for k in T.Pipelined(3, num_stages=2):
>             for i, j in T.Parallel(32, 24):
>                 kk = k * 24 + j
>                 m = bx * 32 + i
>                 h = m % 63 // 7 + kk // 24 - 1
>                 w = m % 7 + kk // 8 % 3 - 1
>                 a[i, j] = T.if_then_else(h >= 0 and w >= 0 and h < 9 and w < 7, X[m // 63, h, w, kk % 8], 0.0)
>             T.copy(W[k * 24, 0], b)
>             T.gemm(a, b, c)
>         T.copy(c, O[bx * 32, 0])
> END
$ cat > mix.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def mix(X: T.Tensor((40, 32), "float32"), C: T.Tensor((40, 16), "float32"), I: T.Tensor((40,), "int32"), R: T.Tensor((40, 32), "float32"), E: T.Tensor((40, 32), "float32"),
>         H: T.Tensor((16,), "int32"), M: T.Tensor((40,), "int32"), S: T.Tensor((64,), "float32")):
>     with T.Kernel(1) as bx:
>         x = T.alloc_shared((40, 32), "float32")
>         r = T.alloc_shared((40, 32), "float32")
>         h = T.alloc_shared((16,), "int32")
>         best = T.alloc_fragment((40,), "float32")
>         at = T.alloc_fragment((40,), "int32")
>         s = T.alloc_shared((64,), "float32")
>         T.copy(X, x)
>         T.clear(h)
>         # rotary
>         for i, j in T.Parallel(40, 16):
>             r[i, 2 * j] = x[i, 2 * j] * C[i, j] - x[i, 2 * j + 1]
>             r[i, 2 * j + 1] = x[i, 2 * j] + x[i, 2 * j + 1] * C[i, j]
>         T.copy(r, R)
>         # rows to where numbers say
>         for i, j in T.Parallel(40, 32):
>             if I[i] >= 0:
>                 E[I[i], j] = x[i, 31 - j]
>         # counts
>         for i in T.Parallel(40):
>             h[I[i] % 16] += 1
>         for i in T.Parallel(16):
>             H[i] = h[i]
>         # the largest of each row, and where it is
>         for i in T.Parallel(40):
>             best[i] = -1000
>             at[i] = 0
>             for j in T.serial(32):
>                 if x[i, j] > best[i]:
>                     best[i] = x[i, j]
>                     at[i] = j
>         for i in T.Parallel(40):
>             M[i] = at[i]
>         # a step of a bitonic sort
>         for i in T.Parallel(64):
>             s[i] = x[i // 32, i % 32]
>         for d in T.serial(3):
>             for i in T.Parallel(64):
>                 if i % 2 == 0:
>                     if s[i] > s[i + 1]:
>                         S[i] = s[i + 1]
>                         S[i + 1] = s[i]
>                     else:
>                         S[i] = s[i]
>                         S[i + 1] = s[i + 1]
> END
$ echo 'file=$1 ; shift ; for t in "cpu" "cuda --emulate" "cuda:sm_80 --emulate" "interp --set passes=on"; do tilewright check $file --target $t --verify-each "$@" | grep -vc "max error 0: ok"; done ; true' > all
$ sh all conv.py --arg 'X=randint(4):f16[2,9,7,8]' --arg 'W=randint(4):f16[72,16]' --arg O=zeros:f32[126,16]
0
0
0
0
$ sh all mix.py --arg 'X=randint(50):f32[40,32]' --arg 'C=randint(4):f32[40,16]' --arg 'I=arange:i32[40]' --arg R=zeros:f32[40,32] --arg E=zeros:f32[40,32] --arg H=zeros:i32[16] --arg M=zeros:i32[40] --arg S=zeros:f32[64]
0
0
0
0
$ tilewright explain conv.py --target cuda | grep -o 'X.unbounded.*in runs of 8'
X[unbounded, unbounded, unbounded], strides [56, 8, 1], at [k, (a vector), (a vector)]; dimension 1 is indexed by a vector that `floordiv` makes; dimension 2 is indexed by a vector that `floordiv` makes, in runs of 8
$ tilewright explain mix.py --target cuda | grep 'element loop'
[1]
