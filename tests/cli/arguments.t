#! What is believed of arguments: each kernel means the same whatever a launch brings.
$ cat > bound.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def k(x, o, n, B: tl.constexpr):
>     i = tl.program_id(0) * B + tl.arange(0, B)
>     tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)
> END
$ for t in cpu "cuda --emulate" "cuda:sm_80 --emulate" tenstorrent; do for n in -1 -2147483648 0 1; do tilewright check bound.py --target $t --arg x=ones:f32[64] --arg o=zeros:f32[64] --arg n=$n --arg B=32 --grid 2 2>/dev/null | grep -c "ok$"; done; done | sort -u
2
$ for t in cpu "cuda --emulate" "cuda:sm_80 --emulate"; do tilewright check bound.py --target $t --arg x=ones:f32[64] --arg o=zeros:f32[64] --arg n=2147483647 --arg B=32 --grid 2 | grep -c "ok$"; done | sort -u
2
$ tilewright run bound.py --target tenstorrent --arg x=ones:f32[64] --arg o=zeros:f32[64] --arg n=2147483647 --arg B=32 --grid 2
error: kernel `k`: argument `x`: the kernel's tensor spans bytes 0 to 8589934588 of an array of 256 bytes
[1]
$ tilewright explain bound.py --arg x=ones:f32[64] --arg o=zeros:f32[64] --arg n=64 --arg B=32 | grep launch
bound.py:5:1: launch: requires n >= 0; else a general variant runs
#! A product of arguments, and a step of a tile, are made in 32 bits by the source; a launch in which they do not fit there is right, too.
$ cat > product.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def k(x, o, p, q, r, B: tl.constexpr):
>     i = tl.arange(0, B)
>     tl.store(o + i, tl.load(x + (p * q + r) + i, mask=i * p + r < p * q + 40, other=7.0), mask=r + i < p * q + 40)
> END
$ tilewright explain product.py --arg x=ones:f32[64] --arg o=zeros:f32[64] --arg p=1 --arg q=2 --arg r=3 --arg B=32 | grep launch
product.py:5:1: launch: requires p >= 0, q >= 0, r >= 0, p*q + 40 in 32 bits, 31*p + r in 32 bits, p*q + r in 32 bits, r + 31 in 32 bits; else a general variant runs
$ for t in cpu "cuda --emulate"; do for pqr in "1 2 3" "65536 65536 5" "-2147483648 3 -2147483648" "46341 46341 2147479015"; do set -- $pqr; tilewright check product.py --target $t --arg x=arange:f32[128] --arg o=zeros:f32[64] --arg p=$1 --arg q=$2 --arg r=$3 --arg B=32 --grid 1 | grep -c "ok$"; done; done | sort -u
2
#! A tile that is not defined before a loop fills it.
$ cat > double_buffer.py <<'END'
> import tilelang
> import tilelang.language as T
>
> @T.prim_func
> def k(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
>     with T.Kernel(T.ceildiv(N, 32), T.ceildiv(M, 32)) as (bx, by):
>         As = T.alloc_shared((2, 32, 32), "float16")
>         Bs = T.alloc_shared((2, 32, 32), "float16")
>         Cl = T.alloc_fragment((32, 32), "float32")
>         T.clear(Cl)
>         T.copy(A[by * 32, 0], As[0, :, :])
>         T.copy(B[0, bx * 32], Bs[0, :, :])
>         for k in T.serial(T.ceildiv(K, 32)):
>             T.copy(A[by * 32, (k + 1) * 32], As[(k + 1) % 2, :, :])
>             T.copy(B[(k + 1) * 32, bx * 32], Bs[(k + 1) % 2, :, :])
>             T.gemm(As[k % 2, :, :], Bs[k % 2, :, :], Cl)
>         T.copy(Cl, C[by * 32, bx * 32])
> END
$ for t in cpu "cuda --emulate" "cuda:sm_80 --emulate"; do tilewright check double_buffer.py --target $t -D M=64 -D N=64 -D K=96 --arg A=randn:f16[64,96] --arg B=randn:f16[96,64] --arg C=zeros:f32[64,64] | grep -c "ok$"; done | sort -u
3
#! A pointer is no number.
$ sed 's/tl.program_id(0) \* B/tl.cdiv(x, x)/' bound.py > pointers.py
$ tilewright run pointers.py --arg x=ones:i32[64] --arg o=zeros:i32[64] --arg n=1 --arg B=32 --grid 1
pointers.py:6:9: error: `cdiv` has invalid operands of type a *int32 and a *int32; it divides integers [operands]
    6 |     i = tl.cdiv(x, x) + tl.arange(0, B)
      |         ^~~~~~~~~~~~~
[1]
#! What begins with a bracket is Python, among the names of the file: tuples, dtypes, functions; quoted, a word is a string.
$ cat > bracketed.py <<'END'
> import triton, triton.language as tl
> @triton.jit
> def double(x):
>     return x * 2
> @triton.jit
> def k(x, F: tl.constexpr, DT: tl.constexpr, SHAPE: tl.constexpr, WORD: tl.constexpr):
>     i = tl.arange(0, SHAPE[0])
>     v = F(tl.load(x + i)).to(DT)
>     if WORD == "none":
>         v += SHAPE[1][0]
>     tl.store(x + i, v)
> END
$ for word in none "('none')"; do tilewright ir bracketed.py:k --arg 'x=*f32' --arg 'F=(double)' --arg 'DT=(tl.float16)' --arg 'SHAPE=(4, (8, 9))' --arg "WORD=$word" | grep -oE "(mul|add|cast) .*"; done
mul %x_1, 2.0
cast %0 : f16[4]
cast %v : f32[4]
mul %x_1, 2.0
cast %0 : f16[4]
add %v, 8.0
cast %v_1 : f32[4]
$ tilewright ir bracketed.py:k --arg 'x=*f32' --arg 'F=(doubl)' --arg DT=tl.float16 --arg 'SHAPE=(4,' --arg WORD=a
an argument:1:2: error: `doubl` is not known; did you mean `double`? [unknown-name]
    1 | (doubl)
      |  ^~~~~
an argument:1:1: error: `(` was never closed; add the `)` [unclosed-bracket]
    1 | (4,
      | ^
[1]
