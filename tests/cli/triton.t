# Triton's annotations and questions to the target: tl.const, target_info.
$ cat > const.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def pick(a, b, flag):
>     if flag:
>         return a
>     return b
>
> @triton.jit
> def k(src: tl.const, dst, n, WAY: tl.constexpr):
>     i = tl.arange(0, 4)
>     x = tl.load(src + i)
>     if WAY == 1:
>         tl.store(src + i, x)
>     if WAY == 2:
>         tl.atomic_add(pick(src, dst, n > 1) + i, x)
>     q = dst
>     for j in range(n):
>         if j == 5:
>             q = src
>         q += 4
>     if WAY == 3:
>         tl.store(q + i, x)
>     tl.store(dst + i, x + 1)
>
> @triton.jit
> def machine(dst):
>     if tl.target_info.is_cuda():
>         tl.store(dst, 10 + tl.target_info.cuda_capability_geq(9))
>     else:
>         tl.store(dst, 1 + tl.target_info.is_hip())
> END
$ tilewright run const.py:k --arg src=ones:f32[4] --arg dst=zeros:f32[4] --arg n=1 --arg WAY=0 --grid 1 --target interp
dst: f32[4], 4 of 4 elements changed
$ tilewright run const.py:k --arg src=ones:f32[4] --arg dst=zeros:f32[4] --arg n=1 --arg WAY=1 --grid 1 --target interp
const.py:15:9: error: this writes through `src`, which is annotated tl.const. Cannot store to a constant pointer; drop the annotation, or write elsewhere [pointer]
   15 |         tl.store(src + i, x)
      |         ^~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run const.py:k --arg src=ones:f32[4] --arg dst=zeros:f32[4] --arg n=1 --arg WAY=2 --grid 1 --target interp
const.py:17:9: error: this writes through `src`, which is annotated tl.const. Cannot store to a constant pointer; drop the annotation, or write elsewhere [pointer]
   17 |         tl.atomic_add(pick(src, dst, n > 1) + i, x)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run const.py:k --arg src=ones:f32[4] --arg dst=zeros:f32[4] --arg n=1 --arg WAY=3 --grid 1 --target interp
const.py:24:9: error: this writes through `src`, which is annotated tl.const. Cannot store to a constant pointer; drop the annotation, or write elsewhere [pointer]
   24 |         tl.store(q + i, x)
      |         ^~~~~~~~~~~~~~~~~~
[1]
$ tilewright ir const.py:machine --arg dst=zeros:i32[1]
kernel @machine(%dst: *i32) {
  %Tdst = tensor %dst, [none], [1]
  tstore %Tdst, [0], 1
}
$ tilewright ir const.py:machine --arg dst=zeros:i32[1] --target cuda --passes fold
kernel @machine(%dst: *i32) {
  store %dst, 11
}
$ tilewright ir const.py:machine --arg dst=zeros:i32[1] --target cuda:sm_80 --passes fold
kernel @machine(%dst: *i32) {
  store %dst, 10
}
$ cat > built.py <<'END'
> import triton
> import triton.language as tl
>
>
> def configs():
>     out = []
>     for block in (64, 128):
>         options = {"BLOCK": block}
>         options.update(dict(SHIFT=block // 64))
>         out.append(triton.Config(options, num_warps=4 if block > 64 else 2))
>     print("made", len(out))
>     return [c for c in out]
>
>
> @triton.autotune(configs=configs(), key=["n"])
> @triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
> @triton.jit
> def k(x, n, BLOCK: tl.constexpr, SHIFT: tl.constexpr, EVEN: tl.constexpr):
>     i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     tl.store(x + i, i + SHIFT, mask=i < n)
> END
$ tilewright list built.py
k(x, n, BLOCK: constant, SHIFT: constant, EVEN: constant?)
  --config 1: BLOCK=64, SHIFT=1, num_warps=2
  --config 2: BLOCK=128, SHIFT=2, num_warps=4
$ tilewright check built.py --config 2 --arg 'x=zeros:i32[200]' --arg n=200 --grid 2
x: i32[200], max error 0: ok
