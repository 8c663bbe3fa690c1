# Dtypes of 4 bits: two in a byte, the even one in the lower half. 0x10 is 0, 1; 0x32 is 2, 3; 0xef is -1, -2 as int4.
$ cat > four.py <<'EOF'
> import tilelang.language as T
>
>
> @T.prim_func
> def ints(A: T.Tensor((1, 6), T.int4), B: T.Tensor((1, 6), "int32"), C: T.Tensor((1, 6), "uint4")):
>     with T.Kernel(1) as bx:
>         a = T.alloc_shared((1, 6), T.int4)
>         c = T.alloc_fragment((1, 6), "uint4")
>         T.copy(A, a)
>         for i, j in T.Parallel(1, 6):
>             B[i, j] = T.cast(a[i, j], "int32") * 10 + T.cast(A[i, 5 - j], "int32")
>             c[i, j] = T.cast(a[i, j], "int32") + 14
>         T.copy(c, C)
>
>
> @T.prim_func
> def floats(X: T.Tensor((12,), "float32"), Q: T.Tensor((12,), T.float4_e2m1fn), Y: T.Tensor((12,), "float32")):
>     with T.Kernel(1) as bx:
>         q = T.alloc_fragment((12,), T.float4_e2m1fn)
>         for i in T.Parallel(12):
>             q[i] = X[i] / 2 - 1.25
>         T.copy(q, Q)
>         T.copy(Q, Y)
>
>
> @T.prim_func
> def odd(A: T.Tensor((8, 8), T.int4), B: T.Tensor((8, 8), "int8")):
>     with T.Kernel(8) as bx:
>         T.copy(A[bx, 1:5], B[bx, 0:4])
>
>
> @T.prim_func
> def half(A: T.Tensor((8, 8), T.int4)):
>     with T.Kernel(8) as bx:
>         A[bx, 0] = 1
>
>
> @T.prim_func
> def uneven(A: T.Tensor((8, 7), T.int4)):
>     with T.Kernel(8) as bx:
>         T.clear(A)
> EOF
$ printf '\223NUMPY\001\000\166\000{"descr": "|i1", "fortran_order": False, "shape": (1, 3), }%58s\n' '' | tr '"' "'" > a.npy && printf '\020\062\357' >> a.npy
$ tilewright run four.py:ints --target interp --arg 'A=file:a.npy' --arg 'B=zeros:i32[1,6]' --arg 'C=zeros:u8[1,3]' --save B=b.npy --save C=c.npy > said && od -A n -t d4 -j 128 -w24 b.npy && od -A n -t x1 -j 128 c.npy
          -2           9          23          32          -9         -20
 fe 10 cd
$ tilewright check four.py:ints --arg 'A=file:a.npy' --arg 'B=zeros:i32[1,6]' --arg 'C=zeros:u8[1,3]' | sed 's,.*: ,,'
ok
ok
ok
$ tilewright check four.py:ints --target cuda --emulate --arg 'A=file:a.npy' --arg 'B=zeros:i32[1,6]' --arg 'C=zeros:u8[1,3]' | sed 's,.*: ,,'
ok
ok
ok
$ tilewright run four.py:floats --arg 'X=arange:f32[12]' --arg 'Q=zeros:u8[6]' --arg 'Y=zeros:f32[12]' --save Y=y.npy > said && od -A n -t f4 -j 128 -w48 y.npy
              -1              -1              -0               0               1               1               2               2               3               3               4               4
$ tilewright emit four.py:odd
four.py:29:9: error: boxes of a tensor of int4 begin at an even element and have an even number of them along the last dimension: two elements are a byte [types]
   29 |         T.copy(A[bx, 1:5], B[bx, 0:4])
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright emit four.py:half
four.py:35:9: error: an element of a tensor of int4 is half a byte; write a tile of them, and T.copy it [types]
   35 |         A[bx, 0] = 1
      |         ^~~~~~~~
[1]
$ tilewright emit four.py:uneven
four.py:39:24: error: a tensor of int4 has an even last extent: two elements are a byte [types]
   39 | def uneven(A: T.Tensor((8, 7), T.int4)):
      |                        ^~~~~~
[1]
