# Element loops whatever is inside: they become tiles, or run in order and say why; a machine of tiles alone refuses them for that reason.
$ cat > forms.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def forms(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), I: T.Tensor((M,), "int32"), C: T.Tensor((M, N), "float32"),
>           R: T.Tensor((N, M), "float32"), S: T.Tensor((M,), "float32"), Q: T.Tensor((M, N), "float32")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_shared((M, K), "float32")
>         c = T.alloc_fragment((M, N), "float32")
>         s = T.alloc_fragment((M,), "float32")
>         r = T.alloc_shared((N, M), "float32")
>         v = T.alloc_local((1,), "float32")
>         T.copy(A, a)
>         for i, j in T.Parallel(M, N):
>             c[i, j] = 0
>             for k in T.serial(K):
>                 c[i, j] += a[i, k] * B[k, j]
>         for i in T.Parallel(M):
>             v[0] = 0
>             for k in range(K):
>                 if k < I[i]:
>                     v[0] = v[0] + a[i, k]
>                 else:
>                     v[0] = T.max(v[0], a[i, k])
>             s[i] = v[0]
>         for i, j in T.Parallel(M, N):
>             if (i + j) % 3 != 1:
>                 r[N - 1 - j, i] = c[i, j]
>             else:
>                 r[N - 1 - j, i] = a[(i + j) % M, i % K] + A[i, i]
>         for i, j in T.Parallel(M, N):
>             if j == N - 1:
>                 s[i] = s[i] + c[i, j]
>             if I[i] >= 0:
>                 Q[I[i], j] = c[M - 1 - i, j] + j
>         T.copy(c, C)
>         T.copy(r, R)
>         for i in T.Parallel(M):
>             S[i] = s[i]
> END
$ echo 'for t in "cpu" "cuda --emulate" "cuda:sm_80 --emulate" "interp --set passes=on"; do tilewright check forms.py --target $t --verify-each -D M=$1 -D N=$2 -D K=$3 --arg "A=randint(4):f32[$1,$3]" --arg "B=randint(4):f32[$3,$2]" --arg "I=arange:i32[$1]" --arg "C=zeros:f32[$1,$2]" --arg "R=zeros:f32[$2,$1]" --arg "S=zeros:f32[$1]" --arg "Q=zeros:f32[$1,$2]" | grep -vc "max error 0: ok"; done' > all
$ sh all 16 16 8
0
0
0
0
[1]
$ sh all 33 9 17
0
0
0
0
[1]
$ sh all 1 1 1
0
0
0
0
[1]
$ tilewright explain forms.py -D M=16 -D N=16 -D K=8 --target cuda | grep -c 'element loop'
0
[1]
$ tilewright ir forms.py -D M=16 -D N=16 -D K=8 --target cuda --stop-after raise | grep -c 'parallel\|bstore\|bload'
0
[1]
$ tilewright ir forms.py -D M=16 -D N=16 -D K=8 --target cuda --stop-after raise | grep -o '= dot %a, .*'
= dot %a, %7, %c
$ cat > shift.py <<'END'
> import tilelang.language as T
>
>
> @T.prim_func
> def shift(A: T.Tensor((32,), "float32")):
>     with T.Kernel(1) as bx:
>         for i in T.Parallel(31):
>             A[i + 1] = A[i] + 1.0
> END
$ tilewright explain shift.py --target cuda | grep 'element loop'
shift.py:8:24: raise: the element loop runs element by element: the loop writes this memory at other places too, and its iterations have no order
$ tilewright check shift.py --target cuda --emulate --arg A=randn:f32[32]
A: f32[32], max error 0: ok
$ tilewright emit shift.py --target tenstorrent
shift.py:8:24: error: this element loop does not become operations on tiles, and tenstorrent has no others: the loop writes this memory at other places too, and its iterations have no order; keep each iteration to cells of its own, or use target cpu [element-loop]
    8 |             A[i + 1] = A[i] + 1.0
      |                        ^~~~~~~~~~
hint: a target is chosen with --target NAME
[1]
