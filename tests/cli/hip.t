#! AMD's GPUs: what is emitted, what is refused, and what runs on the host.
# requires: g++
$ tilewright emit $ROOT/kernels/triton/add.py --target hip:gfx1100 --arg x_ptr=zeros:f32[64] --arg y_ptr=zeros:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=64 --arg BLOCK_SIZE=64 -o out | head -2
out/add_kernel.hip
out/plan.json
$ tilewright emit $ROOT/kernels/triton/add.py --target hip:gfx803 -o out
error: target hip knows no architecture `gfx803`; it knows hip:gfx90a, hip:gfx942, hip:gfx1100 (gfx90a and gfx942 are CDNA 2 and 3, gfx1100 is RDNA 3; gfx942 is the default)
[1]
#! functions that C's library has for few are our own
$ cat > far.py <<'END'
> import triton, triton.language as tl
> from triton.language.extra import libdevice
> @triton.jit
> def far(x, y, N: tl.constexpr):
>     i = tl.arange(0, N)
>     v = tl.abs(tl.load(x + i)) + 0.1
>     w = libdevice.lgamma(v) + libdevice.tgamma(v) + libdevice.j0(v) + libdevice.j1(v) + libdevice.y0(v) + libdevice.y1(v)
>     w += libdevice.erfc(v) + libdevice.pow(v, 3.5) + libdevice.normcdf(v) + libdevice.rcbrt(v) + libdevice.rhypot(v, w)
>     tl.store(y + i, w + libdevice.erfinv(0.1 * v) + libdevice.cyl_bessel_i0(v) + libdevice.sinpi(v) + libdevice.erfcx(v))
> END
$ tilewright check far.py --target hip --emulate --arg x=randn:f64[256] --arg y=zeros:f64[256] --arg N=256 --grid 1 | sed 's/error .*:/error ..:/'
x: f64[256], max error ..: ok
y: f64[256], max error ..: ok
#! what the chip, or AMD's library in it, does not do is named
$ cat > ask.py <<'END'
> import triton, triton.language as tl
> @triton.jit
> def say(x, N: tl.constexpr):
>     i = tl.arange(0, N)
>     tl.device_print("x", tl.load(x + i))
> @triton.jit
> def ask(x, N: tl.constexpr):
>     i = tl.arange(0, N)
>     v = tl.inline_asm_elementwise("add.f32 $0, $1, 1.0;", "=f,f", [tl.load(x + i)], dtype=tl.float32, is_pure=True, pack=1)
>     tl.store(x + i, v)
> END
$ tilewright emit ask.py:say --target hip --arg x=zeros:f32[64] --arg N=64
ask.py:5:5: error: the hip target cannot do `print` here: target hip does not print yet: that takes the vendor's device library; use target cpu or interp for this kernel [target-refused]
    5 |     tl.device_print("x", tl.load(x + i))
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a target is chosen with --target NAME
[1]
$ tilewright emit ask.py:ask --target hip:gfx1100 --arg x=zeros:f32[64] --arg N=64
ask.py:9:9: error: this is assembly of NVIDIA GPUs (PTX), which target hip does not run; write it with operations of the language or of libdevice, or run the kernel on a GPU [assembly]
    9 |     v = tl.inline_asm_elementwise("add.f32 $0, $1, 1.0;", "=f,f", [tl.load(x + i)], dtype=tl.float32, is_pure=True, pack=1)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ cat > big.py <<'END'
> import tilelang.language as T
> @T.prim_func
> def big(A: T.Tensor((256, 256), "float32"), B: T.Tensor((256, 256), "float32"), C: T.Tensor((256, 256), "float32")):
>     with T.Kernel(1, threads=256) as bx:
>         a = T.alloc_shared((256, 64), "float32")
>         b = T.alloc_shared((64, 256), "float32")
>         c = T.alloc_fragment((256, 256), "float32")
>         T.clear(c)
>         for k in T.Pipelined(4, num_stages=3):
>             T.copy(A[0, k * 64], a)
>             T.copy(B[k * 64, 0], b)
>             T.gemm(a, b, c)
>         T.copy(c, C)
> @T.prim_func
> def mine(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
>     with T.Kernel(1, threads=64) as bx:
>         for i in T.Parallel(64):
>             B[i] = T.call_extern("float32", "mine", A[i])
> END
$ tilewright emit big.py:big --target hip:gfx90a
big.py:12:13: error: the kernel needs 131072 bytes of shared memory, even without loads that run ahead; a block of gfx90a has 65536; 65536 of them hold a tile of the `convert` here; make it smaller [shared-memory]
   12 |             T.gemm(a, b, c)
      |             ^~~~~~~~~~~~~~~
big.py:12:13: note: 65536 bytes: `a`
   12 |             T.gemm(a, b, c)
      |             ^~~~~~~~~~~~~~~
big.py:12:13: note: 65536 bytes: `b`
   12 |             T.gemm(a, b, c)
      |             ^~~~~~~~~~~~~~~
[1]
$ tilewright emit big.py:mine --target hip
big.py:18:20: error: `mine` is a function in C or CUDA, which target hip does not run; write it with operations of the language, or use target cpu or cuda [extern]
   18 |             B[i] = T.call_extern("float32", "mine", A[i])
      |                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a target is chosen with --target NAME
[1]
$ tilewright emit $ROOT/kernels/tilec/matmul.tile.c -D NB=8 -D OUT=float -D OUT_TILE=st_fl --target hip --arg g.A=zeros:bf16[512,512] --arg g.B=zeros:bf16[512,512] --arg g.C=zeros:f32[512,512] 2>&1 | grep -v '|'
.../kernels/tilec/matmul.tile.c:99:5: error: the kernel needs 81920 bytes of shared memory, even without loads that run ahead; a block of gfx942 has 65536; 65536 of them hold a tile of the `convert` here; make it smaller [shared-memory]
.../kernels/tilec/matmul.tile.c:99:5: note: 65536 bytes: `b`
.../kernels/tilec/matmul.tile.c:99:5: note: 16384 bytes: `a`
#! roles that a source writes itself: one after the other in the threads that compute
$ tilewright explain $ROOT/kernels/tilec/attention_roles.tile.c --target hip --arg g.q=zeros:bf16[1,2,256,64] --arg g.k=zeros:bf16[1,2,256,64] --arg g.v=zeros:bf16[1,2,256,64] --arg g.o=zeros:bf16[1,2,256,64] | grep execution
.../kernels/tilec/attention_roles.tile.c:34:1: execution: skew: this machine has no warp that only loads
.../kernels/tilec/attention_roles.tile.c:34:1: execution: 1 worker in compute, one task a launch, order row
.../kernels/tilec/attention_roles.tile.c:34:1: execution: skew 2, 512 threads, 65536 bytes of shared memory
$ tilewright explain $ROOT/kernels/triton/matmul_nt.py --target hip:gfx1100 --arg a_ptr=zeros:bf16[256,256] --arg b_ptr=zeros:bf16[256,256] --arg c_ptr=zeros:bf16[256,256] --arg M=256 --arg N=256 --arg K=256 --arg stride_am=256 --arg stride_bn=256 --arg stride_cm=256 --arg BM=128 --arg BN=128 --arg BK=64 --set roles=on --set slots=3 | grep execution
.../kernels/triton/matmul_nt.py:7:1: execution: skew: this machine has no warp that only loads
.../kernels/triton/matmul_nt.py:7:1: execution: without effect here: roles=on
.../kernels/triton/matmul_nt.py:7:1: execution: 1 worker in compute, one task a launch, order row
.../kernels/triton/matmul_nt.py:7:1: execution: skew 1, 256 threads, 65536 bytes of shared memory
$ LD_LIBRARY_PATH= tilewright run $ROOT/kernels/triton/add.py --target hip --arg x_ptr=ones:f32[64] --arg y_ptr=ones:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=64 --arg BLOCK_SIZE=64 --grid 1
error: there is no HIP driver here (libamdhip64.so); install AMD's ROCm, or use the emulator
hint: the emulator is asked for with --emulate
[1]
$ tilewright check $ROOT/kernels/triton/add.py --target hip --emulate --arg x_ptr=randn:f32[64] --arg y_ptr=ones:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=60 --arg BLOCK_SIZE=64 --grid 1
x_ptr: f32[64], max error 0: ok
y_ptr: f32[64], max error 0: ok
output_ptr: f32[64], max error 0: ok
$ tilewright emit $ROOT/kernels/triton/matmul_nt.py --target hip --arg a_ptr=zeros:f32[256,256] --arg b_ptr=zeros:f32[256,256] --arg c_ptr=zeros:f32[256,256] --arg M=256 --arg N=256 --arg K=256 --arg stride_am=256 --arg stride_bn=256 --arg stride_cm=256 --arg BM=256 --arg BN=128 --arg BK=64 -o out
.../kernels/triton/matmul_nt.py:24:15: error: the kernel needs 98304 bytes of shared memory, even without loads that run ahead; a block of gfx942 has 65536; 65536 of them hold a tile of the `convert` here; make it smaller [shared-memory]
   24 |         acc = tl.dot(a, b, acc)
      |               ^~~~~~~~~~~~~~~~~
.../kernels/triton/matmul_nt.py:24:15: note: 65536 bytes: `a`
   24 |         acc = tl.dot(a, b, acc)
      |               ^~~~~~~~~~~~~~~~~
.../kernels/triton/matmul_nt.py:24:15: note: 32768 bytes: `b`
   24 |         acc = tl.dot(a, b, acc)
      |               ^~~~~~~~~~~~~~~~~
[1]
$ tilewright explain $ROOT/kernels/triton/matmul_nt.py --target hip --arg a_ptr=zeros:bf16[256,256] --arg b_ptr=zeros:bf16[256,256] --arg c_ptr=zeros:bf16[256,256] --arg M=256 --arg N=256 --arg K=256 --arg stride_am=256 --arg stride_bn=256 --arg stride_cm=256 --arg BM=128 --arg BN=128 --arg BK=64 --set roles=on | grep -E "execution|mfma|ahead"
.../kernels/triton/matmul_nt.py:24:15: dot: bf16[128,64] times bf16[64,128] by mfma_32x32
.../kernels/triton/matmul_nt.py:7:1: execution: flat: second slots would take the memory of other blocks, which hide more
.../kernels/triton/matmul_nt.py:7:1: execution: without effect here: roles=on
.../kernels/triton/matmul_nt.py:22:13: load: fetched a trip ahead, and held in registers
.../kernels/triton/matmul_nt.py:23:13: load: fetched a trip ahead, and held in registers
.../kernels/triton/matmul_nt.py:24:15: dot: mfma_32x32, 2 x 2 warps
.../kernels/triton/matmul_nt.py:7:1: execution: flat, 256 threads, 32768 bytes of shared memory
#! a warp of 64 lanes: a block has 16 of them, whoever wishes for more
$ tilewright check $ROOT/kernels/triton/add.py --target hip --emulate --set num_warps=32 --arg x_ptr=randn:f32[64] --arg y_ptr=ones:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=60 --arg BLOCK_SIZE=64 --grid 1
x_ptr: f32[64], max error 0: ok
y_ptr: f32[64], max error 0: ok
output_ptr: f32[64], max error 0: ok
$ cat > threads.py <<'END'
> import tilelang.language as T
> @T.prim_func
> def turned(A: T.Tensor((1024,), "float32"), B: T.Tensor((1024,), "float32")):
>     with T.Kernel(1, threads=1024) as bx:
>         tx = T.get_thread_binding()
>         s = T.alloc_shared((1024,), "float32")
>         s[tx] = A[tx]
>         T.sync_threads()
>         B[tx] = s[1023 - tx]
> END
$ tilewright check threads.py --target hip --emulate --set written=on --arg A=randn:f32[1024] --arg B=zeros:f32[1024]
A: f32[1024], max error 0: ok
B: f32[1024], max error 0: ok
#! a load that no copy of words can do (its fill is not 0) comes through registers, in the ring of the other
$ cat > mixed.py <<'END'
> import triton, triton.language as tl
> @triton.jit
> def mixed(x, y, z, K, N: tl.constexpr):
>     i = tl.arange(0, N)
>     j = tl.arange(0, 32)
>     acc = tl.zeros((N, N), dtype=tl.float32)
>     for k in range(0, K, 32):
>         a = tl.load(x + i[:, None] * 96 + (k + j)[None, :], mask=(k + j)[None, :] < K, other=0.0)
>         b = tl.load(y + i[:, None] * 96 + (k + j)[None, :], mask=(k + j)[None, :] < K, other=1.0)
>         acc = tl.dot(a, tl.trans(b), acc)
>     tl.store(z + i[:, None] * N + i[None, :], acc)
> END
$ tilewright explain mixed.py --target hip --arg x=zeros:f16[6144] --arg y=zeros:f16[6144] --arg z=zeros:f32[4096] --arg K=90 --arg N=64 --set slots=2 | grep -E "ring|stays|ahead"
mixed.py:11:5: store: stays in compute: its buffer would take the memory of another block
mixed.py:8:13: load: field a of ring in (load to compute)
mixed.py:9:13: load: field b of ring in (load to compute)
mixed.py:8:13: ring: 2 slots of 8192 bytes at 0, by copies of whole warps, ahead
mixed.py:7:5: loop: its loads run 1 trip ahead, 4 copies of a warp a trip; a trip begins when at most 0 are under way
mixed.py:9:13: load: a trip ahead through registers: stored into its slot when the trip ends that issues it
$ tilewright check mixed.py --target hip --emulate --arg x=randn:f16[6144] --arg y=randn:f16[6144] --arg z=zeros:f32[4096] --arg K=90 --arg N=64 --set slots=2 --grid 1
x: f16[6144], max error 0: ok
y: f16[6144], max error 0: ok
z: f32[4096], max error 1.34e-05 at [383] (20.8269978, interpreted 20.8269844): ok
$ for slots in 1 2 3 4; do for chip in gfx942 gfx1100; do for flag in off on; do tilewright run mixed.py --target hip:$chip --emulate --arg x=randn:f16[6144] --arg y=randn:f16[6144] --arg z=zeros:f32[4096] --arg K=90 --arg N=64 --set slots=$slots --set roles=$flag --grid 1 --save z=$chip-$slots-$flag.npy > /dev/null; cmp $chip-1-off.npy $chip-$slots-$flag.npy; done; done; done
#! RDNA 3 has no copies at all: rows that are not aligned, tiles of odd extents
$ sed 's/\* 96/* 95/; s/arange(0, 32)/arange(0, 16)/; s/, K, 32)/, K, 16)/' mixed.py > odd.py
$ tilewright explain odd.py --target hip:gfx1100 --arg x=zeros:f16[6144] --arg y=zeros:f16[6144] --arg z=zeros:f32[4096] --arg K=90 --arg N=64 --set slots=4 | grep -E "ring|ahead"
odd.py:8:13: load: field a of ring in (load to compute)
odd.py:9:13: load: field b of ring in (load to compute)
odd.py:8:13: ring: 2 slots, 4 were asked for: what comes through registers waits there while a trip computes
odd.py:8:13: ring: 2 slots of 4096 bytes at 0, through registers, ahead
odd.py:8:13: load: a trip ahead through registers: stored into its slot when the trip ends that issues it
odd.py:9:13: load: a trip ahead through registers: stored into its slot when the trip ends that issues it
$ tilewright check odd.py --target hip:gfx1100 --emulate --arg x=randn:f16[6144] --arg y=randn:f16[6144] --arg z=zeros:f32[4096] --arg K=90 --arg N=64 --set slots=4 --grid 1
x: f16[6144], max error 0: ok
y: f16[6144], max error 0: ok
z: f32[4096], max error 1.14e-05 at [1702] (24.0190907, interpreted 24.0191021): ok
#! RDNA 3: a barrier of the LDS alone, until the kernel has written global memory
$ tilewright emit odd.py --target hip:gfx1100 --arg x='*f16' --arg y='*f16' --arg z='*f32' --arg K=i32 --arg N=64 --set slots=2 -o odd > /dev/null; grep -c 'tw_sync_shared();' odd/mixed.hip; grep -c 'tw_sync();' odd/mixed.hip
4
0
[1]
$ cat > wrote.py <<'END'
> import triton, triton.language as tl
> @triton.jit
> def wrote(x, y, z, N: tl.constexpr):
>     at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
>     a = tl.load(x + at)
>     tl.store(y + at, a)
>     tl.debug_barrier()
>     tl.store(z + at, tl.dot(a, tl.load(y + at)))
> END
$ tilewright emit wrote.py --target hip:gfx1100 --arg x='*f16' --arg y='*f16' --arg z='*f32' --arg N=32 -o wrote > /dev/null; grep -c 'tw_sync_shared();' wrote/wrote.hip; grep -c 'tw_sync();' wrote/wrote.hip
0
4
#! the sum of a product that another one is made of: the waves' grid is chosen before anything is moved between them, and stands
$ cat > chained.py <<'END'
> import triton, triton.language as tl
> @triton.jit
> def small(x):
>     return (x.to(tl.int32) & 3).to(tl.float16)
> @triton.jit
> def chained(x0, s5):
>     pid = tl.program_id(0)
>     r = tl.arange(0, 64)
>     c = tl.arange(0, 64)
>     h = tl.arange(0, 64)
>     acc = tl.zeros((64, 64), tl.float32)
>     w0 = tl.arange(0, 16)
>     t1 = tl.load(x0 + (pid * 16 + r)[:, None] * 192 + h[None, :])
>     for k0 in range(0, 1):
>         t2 = tl.load(x0 + (pid * 16 + h)[:, None] * 48 + (k0 * 16 + w0)[None, :])
>         t3 = tl.load(x0 + (k0 * 16 + w0)[:, None] * 64 + c[None, :])
>         p0 = small(tl.dot(t1, t2))
>         acc = tl.dot(p0, t3, small(acc).to(tl.float32))
>     acc = small(acc).to(tl.float32)
>     tl.store(s5 + (r + pid * 64)[:, None] * 64 + c[None, :], acc)
> END
$ tilewright ir chained.py --target hip --arg 'x0=*f16' --arg 's5=*f32' --set num_warps=2 --verify-each | grep -c 'dot<.*grid'
2
#! the general way of a load that is bounded otherwise: words of rows that are not aligned, whose vectors are not whole
$ tilewright emit $ROOT/kernels/tilelang/gemm_splitk.py -DM=64 -DN=64 -DK=96 --target hip:gfx942 --set variant=2 | grep -c tw_load_row_anywhere
4
#! rows that lie on no multiple of a vector: a variant that loads them from anywhere
$ tilewright check $ROOT/kernels/triton/matmul_nt.py --target hip --emulate --arg a_ptr=randn:f16[33,21] --arg b_ptr=randn:f16[18,21] --arg c_ptr=zeros:f16[33,18] --arg M=33 --arg N=18 --arg K=21 --arg stride_am=21 --arg stride_bn=21 --arg stride_cm=18 --arg BM=32 --arg BN=32 --arg BK=32 --grid 2,1 --tolerance 1e-2 | sed 's/error .*:/error ..:/'
a_ptr: f16[33, 21], max error ..: ok
b_ptr: f16[18, 21], max error ..: ok
c_ptr: f16[33, 18], max error ..: ok
