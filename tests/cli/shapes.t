# Arrays of another shape than the kernel states, on every target.
$ cat > copy.tile.c <<'END'
> #include "tile.h"
> typedef struct { gl(float, 1, 1, 64, 64) x, y; } globals;
> tile_kernel(32) tile_grid(2, 2) void copy(globals g) {
>     rt_fl(32, 32) t;
>     load(&t, g.x, at(0, 0, blockIdx.y, blockIdx.x));
>     store(g.y, &t, at(0, 0, blockIdx.y, blockIdx.x));
> }
> END
$ for how in "" --sanitize "--target interp" "--target cuda --emulate" "--target tenstorrent"
> do tilewright run copy.tile.c --arg g.x=randn:f32[32,48] --arg g.y=zeros:f32[64,64] $how; done
error: argument `g.x`: kernel `copy` declares f32[64, 64], the array given is f32[32, 48]
error: argument `g.x`: kernel `copy` declares f32[64, 64], the array given is f32[32, 48]
error: argument `g.x`: kernel `copy` declares f32[64, 64], the array given is f32[32, 48]
error: argument `g.x`: kernel `copy` declares f32[64, 64], the array given is f32[32, 48]
error: argument `g.x`: kernel `copy` declares f32[64, 64], the array given is f32[32, 48]
[1]
$ tilewright check copy.tile.c --arg g.x=randn:f32[64,64] --arg g.y=zeros:f32[64,63] --sanitize
error: argument `g.y`: kernel `copy` declares f32[64, 64], the array given is f32[64, 63]
[1]
$ tilewright run copy.tile.c --arg g.x=randn:f32[64,64] --arg g.y=zeros:f32[1,1,64,64]
g.y: f32[1, 1, 64, 64], 4096 of 4096 elements changed
$ cat > copy.py <<'END'
> import tilelang.language as T
> @T.prim_func
> def copy(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
>     with T.Kernel(2, threads=128) as bx:
>         t = T.alloc_fragment((32, 64), "float32")
>         T.copy(A[bx * 32, 0], t)
>         T.copy(t, B[bx * 32, 0])
> END
$ tilewright run copy.py --arg A=randn:f32[8,8] --arg B=zeros:f32[8,8]
copy.py:3:10: error: `A` is declared as tensor f32[64,64], the array that is passed is tensor f32[8,8]; it must have that type and shape, without gaps [array-mismatch]
    3 | def copy(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
      |          ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
copy.py:3:44: error: `B` is declared as tensor f32[64,64], the array that is passed is tensor f32[8,8]; it must have that type and shape, without gaps [array-mismatch]
    3 | def copy(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
      |                                            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run copy.py --arg A=randn:f32[64,64] --arg B=zeros:f32[64,64]
B: f32[64, 64], 4096 of 4096 elements changed
