# --sanitize: every kernel of kernels/triton is clean, its outputs unwritten before; and what explain says of their accesses.
$ K=$ROOT/kernels/triton; tilewright run $K/add.py --sanitize --arg x_ptr=randn:f32[1000] --arg y_ptr=ones:f32[1000] --arg output_ptr=empty:f32[1000] --arg n_elements=1000 --arg BLOCK_SIZE=256 --grid 4
output_ptr: f32[1000], 1000 of 1000 elements changed
$ K=$ROOT/kernels/triton; tilewright run $K/mul.py --sanitize --arg x_ptr=randn:f32[1000] --arg y_ptr=rand:f32[1000] --arg out_ptr=empty:f32[1000] --arg n=1000 --arg BLOCK=256 --grid 4
out_ptr: f32[1000], 1000 of 1000 elements changed
$ K=$ROOT/kernels/triton; tilewright run $K/fma.py --sanitize --arg x_ptr=randn:f32[1000] --arg y_ptr=rand:f32[1000] --arg z_ptr=rand:f32[1000] --arg out_ptr=empty:f32[1000] --arg n=1000 --arg BLOCK=256 --grid 4
out_ptr: f32[1000], 1000 of 1000 elements changed
$ K=$ROOT/kernels/triton; tilewright run $K/softmax.py --sanitize --arg out_ptr=empty:f32[9,100] --arg in_ptr=randn:f32[9,100] --arg in_stride=100 --arg out_stride=100 --arg n_cols=100 --arg BLOCK=128 --grid 9
out_ptr: f32[9, 100], 900 of 900 elements changed
$ K=$ROOT/kernels/triton; tilewright run $K/layernorm.py --sanitize --arg x_ptr=randn:f32[9,100] --arg y_ptr=empty:f32[9,100] --arg w_ptr=rand:f32[100] --arg b_ptr=rand:f32[100] --arg stride=100 --arg n_cols=100 --arg eps=0.00001 --arg BLOCK=128 --grid 9
y_ptr: f32[9, 100], 900 of 900 elements changed
$ K=$ROOT/kernels/triton; tilewright run $K/rmsnorm.py --sanitize --arg x_ptr=randn:f32[9,100] --arg y_ptr=empty:f32[9,100] --arg w_ptr=rand:f32[100] --arg stride=100 --arg n_cols=100 --arg eps=0.00001 --arg BLOCK=128 --grid 9
y_ptr: f32[9, 100], 900 of 900 elements changed
$ K=$ROOT/kernels/triton; tilewright run $K/row_sum.py --sanitize --arg x_ptr=randn:f32[9,100] --arg out_ptr=empty:f32[9] --arg stride=100 --arg n_cols=100 --arg BLOCK=32 --grid 9
out_ptr: f32[9], 9 of 9 elements changed
$ echo --arg M=50 --arg N=40 --arg K=30 --arg stride_am=30 --arg stride_ak=1 --arg stride_bk=40 --arg stride_bn=1 --arg stride_cm=40 --arg stride_cn=1 --arg BM=32 --arg BN=16 --arg BK=16 > sizes
$ K=$ROOT/kernels/triton; tilewright run $K/matmul.py:matmul_kernel --sanitize --arg a_ptr=randn:f32[50,30] --arg b_ptr=randn:f32[30,40] --arg c_ptr=empty:f32[50,40] $(cat sizes) --grid 6
c_ptr: f32[50, 40], 2000 of 2000 elements changed
$ K=$ROOT/kernels/triton; tilewright run $K/attention.py --sanitize --arg q_ptr=randn:f32[2,50,16] --arg k_ptr=randn:f32[2,50,16] --arg v_ptr=randn:f32[2,50,16] --arg o_ptr=empty:f32[2,50,16] --arg scale=0.25 --arg N=50 --arg stride_h=800 --arg stride_n=16 --arg BM=16 --arg BN=32 --arg D=16 --arg CAUSAL=true --grid 4,2
o_ptr: f32[2, 50, 16], 1600 of 1600 elements changed
$ K=$ROOT/kernels/triton; tilewright run $K/grouped_matmul.py --sanitize --arg a_ptr=randn:f32[20,20] --arg b_ptr=randn:f32[20,20] --arg c_ptr=empty:f32[20,20] --arg 'sizes_ptr=full(20):i32[1,3]' --arg starts_ptr=zeros:i32[1,3] --arg groups=1 --arg BM=16 --arg BN=16 --arg BK=16 --grid 3
c_ptr: f32[20, 20], 400 of 400 elements changed
$ tilewright run $ROOT/kernels/triton/matmul_nt.py --sanitize --arg a_ptr=randn:f32[50,30] --arg b_ptr=randn:f32[40,30] --arg c_ptr=empty:f32[50,40] --arg M=50 --arg N=40 --arg K=30 --arg stride_am=30 --arg stride_bn=30 --arg stride_cm=40 --arg BM=32 --arg BN=16 --arg BK=16 --grid 2,3
c_ptr: f32[50, 40], 2000 of 2000 elements changed
#! Which of their accesses were proved to be boxes, and which were not.
$ tilewright explain $ROOT/kernels/triton/matmul.py:matmul_kernel --arg a_ptr=zeros:f32[50,30] --arg b_ptr=zeros:f32[30,40] --arg c_ptr=zeros:f32[50,40] $(cat sizes) | sed 's|^[^:]*/||'
matmul.py:38:13: load: box f32[32,16] of a_ptr[M, K], strides [stride_am, 1], at [32*pid_m, 16*k]; outside 0; contiguous
matmul.py:39:13: load: box f32[16,16] of b_ptr[K, N], strides [stride_bk, 1], at [16*k, 16*pid_n]; outside 0; contiguous
matmul.py:45:5: store: box f32[32,16] of c_ptr[M, N], strides [stride_cm, 1], at [32*pid_m, 16*pid_n]; contiguous
matmul.py:20:1: launch: requires stride_ak = 1, stride_bn = 1, stride_cn = 1, N >= 0, M >= 0, K >= 0, 16*stride_bk in 32 bits, as many programs as tiles; else a general variant runs
matmul.py:20:1: access: 3 of 3 accesses through pointers are boxes
matmul.py:40:15: dot: f32[32,16] times f32[16,16] by fma
matmul.py:20:1: execution: flat: this machine gains nothing from loads that run ahead
$ tilewright explain $ROOT/kernels/triton/attention.py --arg q_ptr=randn:f32[2,50,16] --arg k_ptr=randn:f32[2,50,16] --arg v_ptr=randn:f32[2,50,16] --arg o_ptr=zeros:f32[2,50,16] --arg scale=0.25 --arg N=50 --arg stride_h=800 --arg stride_n=16 --arg BM=16 --arg BN=32 --arg D=16 --arg CAUSAL=true | sed 's|^[^:]*/||' | grep -v dot
attention.py:19:9: load: box f32[16,16] of q_ptr[unbounded, N, unbounded], strides [stride_h, stride_n, 1], at [program_id(1), start_m, 0]; outside 0; contiguous
attention.py:29:13: load: box f32[32,16] of k_ptr[unbounded, N, unbounded], strides [stride_h, stride_n, 1], at [program_id(1), 32*start_n, 0]; outside 0; contiguous
attention.py:39:13: load: box f32[32,16] of v_ptr[unbounded, N, unbounded], strides [stride_h, stride_n, 1], at [program_id(1), 32*start_n, 0]; outside 0; contiguous
attention.py:43:5: store: box f32[16,16] of o_ptr[unbounded, N, unbounded], strides [stride_h, stride_n, 1], at [program_id(1), start_m, 0]; contiguous
attention.py:8:1: launch: requires N >= 0; else a general variant runs
attention.py:8:1: access: 4 of 4 accesses through pointers are boxes
attention.py:8:1: execution: flat: this machine gains nothing from loads that run ahead
$ cat > gathers.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def gathers(x_ptr, i_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
>     offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     rows = tl.load(i_ptr + offs, mask=offs < n)
>     a = tl.load(x_ptr + rows, mask=offs < n)
>     b = tl.load(x_ptr + offs * offs, mask=offs < n)
>     c = tl.load(x_ptr + tl.minimum(offs, n - 1))
>     d = tl.load(x_ptr + (offs * m) % n)
>     page = tl.load(i_ptr + tl.program_id(0))
>     e = tl.load(x_ptr + page * BLOCK + tl.arange(0, BLOCK), mask=offs < n)
>     i = 0
>     f = tl.zeros((BLOCK,), tl.float32)
>     p = x_ptr + tl.arange(0, BLOCK)
>     while i < m:
>         f += tl.load(p)
>         p += tl.load(i_ptr + i)
>         i += 1
>     tl.store(out_ptr + (offs ^ 1), a + b + c + d + e + f, mask=offs < n)
> END
$ tilewright explain gathers.py --arg x_ptr=zeros:f32[99] --arg i_ptr=zeros:i32[99] --arg out_ptr=zeros:f32[99] --arg n=99 --arg m=3 --arg BLOCK=32
gathers.py:7:12: load: box i32[32] of i_ptr[n], strides [1], at [32*program_id(0)]; outside 0; contiguous
gathers.py:8:9: load: stays a gather: its indices are read from memory (line 7); a gather it is; rows that one number chooses can be read as boxes, one after the other
gathers.py:9:9: load: stays a gather: two tiles of indices are multiplied; multiply indices by numbers only
gathers.py:10:9: load: box f32[32] of x_ptr[n], strides [1], at [32*program_id(0)]; clamping of dimension 0 gave way: a store drops what it would show; outside 0; contiguous
gathers.py:11:9: load: stays a gather: it takes a remainder of indices that do not advance one by one; take the remainder before the index is multiplied by its stride
gathers.py:12:12: load: box i32 of i_ptr[unbounded], strides [1], at [program_id(0)]
gathers.py:13:9: load: box f32[32] of x_ptr[n - 32*program_id(0)], strides [1], at [0]; outside 0; contiguous; its base moves
gathers.py:18:14: load: box f32[32] of x_ptr[unbounded], strides [1], at [0]; contiguous; its base moves
gathers.py:19:14: load: box i32 of i_ptr[unbounded], strides [1], at [i]
gathers.py:21:5: store: stays a scatter: `xor` is not affine in the tile's indices; make indices from tl.arange by +, - and * with numbers
gathers.py:5:1: launch: requires n >= 0, n - 1 in 32 bits; else a general variant runs
gathers.py:5:1: access: 6 of 10 accesses through pointers are boxes
gathers.py:5:1: execution: flat: this machine gains nothing from loads that run ahead
