# T.gemm_sp: whatever 4 bits a group are, targets agree with the interpreter (tests/python says what the numbers are).
$ cat > sparse.py <<'EOF'
> import tilelang.language as T
> from tilelang.cuda.intrinsics.sparse_layout import get_e_factor
>
>
> @T.prim_func
> def product(A: T.Tensor((64, 64), "float16"), E: T.Tensor((64, 128 // get_e_factor("float16", "int16")), "int16"),
>             B: T.Tensor((128, 40), "float16"), C: T.Tensor((64, 40), "float32")):
>     with T.Kernel(2, threads=128) as bx:
>         a = T.alloc_shared((32, 32), "float16")
>         e = T.alloc_shared((32, 4), "int16")
>         b = T.alloc_shared((64, 40), "float16")
>         c = T.alloc_fragment((32, 40), "float32")
>         T.clear(c)
>         for k in T.Pipelined(2, num_stages=2):
>             T.copy(A[bx * 32, k * 32], a)
>             T.copy(E[bx * 32, k * 4], e)
>             T.copy(B[k * 64, 0], b)
>             T.gemm_sp(a, e, b, c)
>         T.copy(c, C[bx * 32, 0])
>
>
> @T.prim_func
> def wrong(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 40), "float32")):
>     with T.Kernel(1, threads=128):
>         a = T.alloc_shared((64, 64), "float16")
>         e = T.alloc_shared((64, 4), "int16")
>         b = T.alloc_shared((128, 40), "float16")
>         c = T.alloc_fragment((64, 40), "float32")
>         T.copy(A, a)
>         T.clear(e)
>         T.clear(b)
>         T.gemm_sp(a, e, b, c, clear_accum=True)
>         T.copy(c, C)
> EOF
$ tilewright check sparse.py:product --arg 'A=randn:f16[64,64]' --arg 'E=arange:i16[64,8]' --arg 'B=randn:f16[128,40]' --arg 'C=zeros:f32[64,40]' | sed 's/, max.*:/:/'
A: f16[64, 64]: ok
E: i16[64, 8]: ok
B: f16[128, 40]: ok
C: f32[64, 40]: ok
$ tilewright check sparse.py:product --target cuda --emulate --arg 'A=randn:f16[64,64]' --arg 'E=arange:i16[64,8]' --arg 'B=randn:f16[128,40]' --arg 'C=zeros:f32[64,40]' | sed 's/, max.*:/:/'
A: f16[64, 64]: ok
E: i16[64, 8]: ok
B: f16[128, 40]: ok
C: f32[64, 40]: ok
$ tilewright emit sparse.py:wrong
sparse.py:32:9: error: `T.gemm_sp`: the shapes f16[64,64] and i16[64,4] do not fit; a number of the places is for 16 columns of the dense matrix, which has twice the columns of what is kept [shape-mismatch]
   32 |         T.gemm_sp(a, e, b, c, clear_accum=True)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
