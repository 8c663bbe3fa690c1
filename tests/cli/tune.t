# Configurations of triton.autotune, heuristics, and names from other files of the folder.
$ cat > tune.py <<'END'
> import math
> import triton
> import triton.language as tl
>
> SIZES = [64, 128]
>
> def more(warps):
>     return [triton.Config({"BLOCK": 256}, num_warps=warps)]
>
> @triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w, num_stages=2, pre_hook=lambda a: None)
>                           for b in SIZES for w in (2, 4) if b > 64 or w == 2] + more(8), key=["n"])
> @triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0,
>                     "LOG": lambda args: int(math.log2(triton.next_power_of_2(args["n"]))),
>                     "HAS": lambda args: args["y"] is not None})
> @triton.jit
> def k(x, y, n, want, BLOCK: tl.constexpr, EVEN: tl.constexpr, LOG: tl.constexpr, HAS: tl.constexpr):
>     i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     tl.device_assert(BLOCK * 10000 + LOG * 100 + EVEN * 10 + HAS == want)
>     tl.store(x + i, 1.0, mask=i < n)
>
> @triton.autotune(configs=torch.load("configs"), key=[])
> @triton.heuristics({"B": lambda args: torch.cuda.mem_get_info()[0]})
> @triton.jit
> def hard(x, A: tl.constexpr, B: tl.constexpr):
>     tl.store(x, A + B)
> END
$ tilewright list tune.py
k(x, y, n, want, BLOCK: constant, EVEN: constant?, LOG: constant?, HAS: constant?)
  --config 1: BLOCK=64, num_warps=2, num_stages=2
  --config 2: BLOCK=128, num_warps=2, num_stages=2
  --config 3: BLOCK=128, num_warps=4, num_stages=2
  --config 4: BLOCK=256, num_warps=8
hard(x, A: constant, B: constant?)
  note: tune.py:21:26: the configurations of `hard` are computed in a way that cannot be followed here: `torch` is not known; assign it, define it in this file, or give it as a definition; give the constants yourself, or write them as a list of triton.Config
$ tilewright run tune.py:k --config 2 --arg x=zeros:f32[n] --arg want=1280810 --arg y=none --arg n=256 --grid 'cdiv(n, BLOCK)' --target interp
x: f32[256], 256 of 256 elements changed
$ tilewright run tune.py:k --config 4 --arg x=zeros:f32[n] --arg want=2560801 --arg y=zeros:f32[1] --arg n=250 --grid 'cdiv(n, BLOCK)' --target interp
x: f32[250], 250 of 250 elements changed
$ tilewright run tune.py:k --arg want=0 --arg x=zeros:f32[256] --arg y=none --arg n=256 --grid 1 --target interp
error: kernel `k` lacks arguments: BLOCK (a constant); for example:
  tilewright run tune.py:k --arg want=0 --arg 'x=zeros:f32[256]' --arg y=none --arg n=256 --grid 1 --target interp --arg BLOCK=128
hint: --config N takes constants from the kernel's configurations (`tilewright list` shows them)
[1]
$ tilewright run tune.py:k --config 5 --arg x=zeros:f32[256] --arg y=none --arg n=256 --grid 1
error: kernel `k` has 4 configurations
[1]
$ tilewright run tune.py:k --config 1 --arg BLOCK=64 --arg x=zeros:f32[256] --arg y=none --arg n=256 --grid 1
error: --arg BLOCK is given, and configuration 1 sets it; leave one out
[1]
$ tilewright run tune.py:k --config one --arg x=zeros:f32[256]
error: --config takes a number from 1, not `one`
[1]
$ tilewright run tune.py:hard --config 1 --arg x=zeros:f32[2] --grid 1
error: tune.py:21:26: the configurations of `hard` are computed in a way that cannot be followed here: `torch` is not known; assign it, define it in this file, or give it as a definition; give the constants yourself, or write them as a list of triton.Config
hint: a definition is given with -D NAME=VALUE
hint: a constant is given with --arg NAME=VALUE
[1]
$ tilewright run tune.py:hard --arg A=1 --arg x=zeros:f32[2] --grid 1
tune.py:22:26: error: the constant `B` comes from a heuristic that is more than arithmetic on arguments; give it yourself: B=VALUE [heuristic]
   22 | @triton.heuristics({"B": lambda args: torch.cuda.mem_get_info()[0]})
      |                          ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a constant is given with --arg NAME=VALUE
[1]
$ tilewright run tune.py:hard --arg A=1 --arg B=2 --arg x=zeros:f32[2] --grid 1 --target interp
x: f32[2], 1 of 2 elements changed
$ mkdir ops
$ cat > helpers.py <<'END'
> import triton
> import triton.language as tl
> from .ops.act import relu
>
> FACTOR = tl.constexpr(3)
>
> @triton.jit
> def scale(x):
>     return relu(x) * FACTOR
>
> @triton.constexpr_function
> def log2_of(n):
>     k = 0
>     while n > 1:
>         n = n // 2
>         k += 1
>     return k
>
> @triton.jit
> def bad(x):
>     return x + nothing
> END
$ cat > ops/act.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def relu(x):
>     return tl.maximum(x, 0)
> END
$ echo 'OTHER = 5' > stars.py
$ cat > main.py <<'END'
> import triton
> import triton.language as tl
> import helpers
> import ops.act as act
> from helpers import scale as by_name, log2_of, bad
> from stars import *
> from elsewhere import missing
>
> @triton.jit
> def k(x, n, WRONG: tl.constexpr):
>     tl.device_assert(by_name(n) == 36)
>     tl.device_assert(helpers.scale(-n) + helpers.FACTOR == 3)
>     tl.device_assert(act.relu(n) + OTHER == 17)
>     tl.static_assert(log2_of(1024) == 10)
>     if WRONG == 1:
>         bad(n)
>     if WRONG == 2:
>         missing(n)
>     if WRONG == 3:
>         helpers.nowhere(n)
>     tl.store(x, 1.0)
> END
$ tilewright run main.py --arg x=zeros:f32[1] --arg n=12 --arg WRONG=0 --grid 1 --target interp
x: f32[1], 1 of 1 elements changed
$ tilewright run main.py --arg x=zeros:f32[1] --arg n=12 --arg WRONG=1 --grid 1 --target interp
helpers.py:21:16: error: `nothing` is not known; assign it, define it in this file, or give it as a definition [unknown-name]
   21 |     return x + nothing
      |                ^~~~~~~
main.py:16:9: note: in the call of `bad`
   16 |         bad(n)
      |         ^~~~~~
hint: a definition is given with -D NAME=VALUE
[1]
$ tilewright run main.py --arg x=zeros:f32[1] --arg n=12 --arg WRONG=2 --grid 1 --target interp
main.py:18:9: error: `elsewhere.missing` is host code and cannot be used inside a kernel; no file beside this one or in its package has it; use tl.* or pass the value as an argument [host-value]
   18 |         missing(n)
      |         ^~~~~~~
[1]
$ tilewright run main.py --arg x=zeros:f32[1] --arg n=12 --arg WRONG=3 --grid 1 --target interp
main.py:20:9: error: `helpers.nowhere` is not known [unknown-name]
   20 |         helpers.nowhere(n)
      |         ^~~~~~~~~~~~~~~
[1]
#! A lambda that calls a function of the file.
$ cat > calls.py <<'END'
> import triton
> import triton.language as tl
>
> def pick(args, least):
>     return max(least, 64 if args["n"] > 50 else 32)
>
> def endless(args):
>     return endless(args)
>
> @triton.heuristics({"BLOCK": lambda args: pick(args, 16)})
> @triton.jit
> def k(x, n, BLOCK: tl.constexpr):
>     tl.store(x, BLOCK)
>
> @triton.heuristics({"BLOCK": lambda args: endless(args)})
> @triton.jit
> def never(x, n, BLOCK: tl.constexpr):
>     tl.store(x, BLOCK)
> END
$ tilewright ir calls.py:k --arg x=zeros:f32[1] --arg n=60 | grep -c 64.0
1
$ tilewright ir calls.py:never --arg x=zeros:f32[1] --arg n=60
calls.py:15:30: error: the constant `BLOCK` comes from a heuristic that is more than arithmetic on arguments; give it yourself: BLOCK=VALUE [heuristic]
   15 | @triton.heuristics({"BLOCK": lambda args: endless(args)})
      |                              ^~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a constant is given with --arg NAME=VALUE
[1]
#! Combinations by itertools, dicts by comprehension; what cannot be followed is shown at its own place.
$ cat > product.py <<'END'
> import itertools
> import triton
> import triton.language as tl
>
> def pairs():
>     return [triton.Config({name: value for name, value in zip(["A", "B"], both)}) for both in itertools.product([1, 2], repeat=2)]
>
> @triton.autotune(configs=pairs(), key=[])
> @triton.jit
> def k(x, A: tl.constexpr, B: tl.constexpr):
>     tl.store(x, A + B)
>
> @triton.autotune(configs=[triton.Config({"A": a}) for a in open("sizes")], key=[])
> @triton.jit
> def l(x, A: tl.constexpr):
>     tl.store(x, A)
> END
$ tilewright list product.py
k(x, A: constant, B: constant)
  --config 1: A=1, B=1
  --config 2: A=1, B=2
  --config 3: A=2, B=1
  --config 4: A=2, B=2
l(x, A: constant)
  note: product.py:13:60: the configurations of `l` are computed in a way that cannot be followed here: `open` is not known; ...
#! What all candidates lack is said once, with the whole line to type; what a file of choices says wrong, with the file.
$ cat > plus.py <<'EOF'
> import triton, triton.language as tl
> @triton.jit
> def plus(x, y, n, BLOCK: tl.constexpr):
>     i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
> EOF
$ tilewright tune plus.py --try BLOCK=64,128
error: kernel `plus` lacks arguments: x (an array), y (an array), n (a number); for example:
  tilewright tune plus.py --try BLOCK=64,128 --arg 'x=randn:f32[65536]' --arg 'y=randn:f32[65536]' --arg n=128 --grid 1
error: none of 2 candidates ran
[1]
$ echo '{"kernels": {"plus.plus": [{"key": null, "target": "cpu", "values": {"BLOCK": 64}, "options": {"num_warp": 4}, "us": 1}]}}' > bad.json
$ tilewright run plus.py --arg x=ones:f32[64] --arg y=ones:f32[64] --arg n=64 --grid 1 --tuned bad.json
error: there is no option `num_warp`; did you mean `num_warps`?
hint: `num_warp` is of the choice for kernel `plus` in bad.json
[1]
$ sed -i 's/"BLOCK"/"BLOK"/' bad.json; TILEWRIGHT_TUNED=bad.json tilewright run plus.py --arg x=ones:f32[64] --arg y=ones:f32[64] --arg n=64 --grid 1
error: kernel `plus` has no argument `BLOK`; did you mean `BLOCK`?
hint: `BLOK` is of the choice for kernel `plus` in bad.json
[1]
