# Kernels and arguments whose names mean something in C, C++, CUDA or our own preludes; and names outside ASCII.
$ cat > names.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def static(new, double, int, float: tl.constexpr):
>     template = tl.program_id(0) * float + tl.arange(0, float)
>     typename = tl.load(new + template, mask=template < int, other=0.0)
>     i0 = typename * 2.0
>     union = i0 + 1.0
>     tl.store(double + template, union, mask=template < int)
>
> @triton.jit
> def main(threadIdx, blockIdx, launch, args: tl.constexpr):
>     scratch = tl.program_id(0) * args + tl.arange(0, args)
>     i64 = tl.load(threadIdx + scratch, mask=scratch < launch, other=0.0)
>     f32 = i64 * 2.0
>     u8 = f32 + 1.0
>     tl.store(blockIdx + scratch, u8, mask=scratch < launch)
>
> @triton.jit
> def printf(u64, grid, program, begin: tl.constexpr):
>     end = tl.program_id(0) * begin + tl.arange(0, begin)
>     pid0 = tl.load(u64 + end, mask=end < program, other=0.0)
>     NULL = tl.exp(pid0)
>     smem = tl.sum(NULL, axis=0)
>     warp = NULL / smem
>     tl.store(grid + end, warp, mask=end < program)
>
> @triton.jit
> def größe(xé, yé, né, B: tl.constexpr):
>     ö = tl.program_id(0) * B + tl.arange(0, B)
>     tl.store(yé + ö, tl.load(xé + ö, mask=ö < né), mask=ö < né)
>
> @triton.jit
> def tw_run(cb_in0, cb_out0, kernel_main, get_arg_val: tl.constexpr):
>     noc = tl.program_id(0) * get_arg_val + tl.arange(0, get_arg_val)
>     tile = tl.load(cb_in0 + noc, mask=noc < kernel_main, other=0.0)
>     tl.store(cb_out0 + noc, tile + 1.0, mask=noc < kernel_main)
> END
$ for t in interp cpu cuda-emulated tenstorrent; do tilewright check names.py:static --arg new=randn:f32[100] --arg double=zeros:f32[100] --arg int=100 --arg float=64 --grid 2 --target $t 2>&1 | tail -n 1; done
double: f32[100], max error 0: ok
double: f32[100], max error 0: ok
double: f32[100], max error 0: ok
double: f32[100], max error 0: ok
$ for t in interp cpu cuda-emulated tenstorrent; do tilewright check names.py:main --arg threadIdx=randn:f32[100] --arg blockIdx=zeros:f32[100] --arg launch=100 --arg args=64 --grid 2 --target $t 2>&1 | tail -n 1; done
blockIdx: f32[100], max error 0: ok
blockIdx: f32[100], max error 0: ok
blockIdx: f32[100], max error 0: ok
blockIdx: f32[100], max error 0: ok
$ for t in interp cpu cuda-emulated tenstorrent; do tilewright check names.py:größe --arg xé=randn:f32[100] --arg yé=zeros:f32[100] --arg né=100 --arg B=64 --grid 2 --target $t 2>&1 | tail -n 1; done
yé: f32[100], max error 0: ok
yé: f32[100], max error 0: ok
yé: f32[100], max error 0: ok
yé: f32[100], max error 0: ok
$ for t in interp cpu cuda-emulated tenstorrent; do tilewright check names.py:tw_run --arg cb_in0=randn:f32[100] --arg cb_out0=zeros:f32[100] --arg kernel_main=100 --arg get_arg_val=64 --grid 2 --target $t 2>&1 | tail -n 1; done
cb_out0: f32[100], max error 0: ok
cb_out0: f32[100], max error 0: ok
cb_out0: f32[100], max error 0: ok
cb_out0: f32[100], max error 0: ok
$ for t in interp cpu cuda-emulated; do tilewright check names.py:printf --arg u64=randn:f32[100] --arg grid=zeros:f32[100] --arg program=100 --arg begin=64 --grid 2 --target $t | tail -n 1 | sed 's/, max.*:/:/'; done
grid: f32[100]: ok
grid: f32[100]: ok
grid: f32[100]: ok
