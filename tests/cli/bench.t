# Times over shapes beside what the machine can do; the fastest constants, kept in a file that other commands read.
$ cat > scale.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128})], key=["n"])
> @triton.jit
> def scale(x, n, BLOCK: tl.constexpr):
>     tl.static_assert(BLOCK != 32)
>     i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     tl.device_assert(BLOCK < 4096)
>     tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
> END
$ tilewright bench scale.py --arg x=ones:f32[n] --over n=100,1000 --over BLOCK=64,128 --grid 'cdiv(n, BLOCK)' --flops n --target interp | sed 's/ [0-9][0-9.]*/ #/g; s/  */ /g'
 median us least us GB/s GFLOP/s of bound
n=100 BLOCK=64 # # # # -
n=100 BLOCK=128 # # # # -
n=1000 BLOCK=64 # # # # -
n=1000 BLOCK=128 # # # # -
$ tilewright bench scale.py --arg x=ones:f32[n] --over n=1000 --arg BLOCK=64 --grid 'cdiv(n, BLOCK)' --bytes '8*n' --json | python3 -c 'import json, sys; row, = json.load(sys.stdin); print(row["over"], row["bytes"], row["bound_by"], row["copy_bytes_per_second"] > 1e8, abs(row["bound_us"] / 1e6 * row["copy_bytes_per_second"] - 8000) < 1)'
{'n': '1000'} 8000 copy True True
$ tilewright bench scale.py --arg x=ones:f32[n] --over n=1000 --arg BLOCK=64 --grid 1 --target interp --flops 'n,n'
error: --flops n,n: one number of at least 0 is expected
[1]
$ tilewright tune scale.py --arg x=ones:f32[n] --arg n=1000 --grid 'cdiv(n, BLOCK)' --target interp --json | python3 -c 'import json, sys; a = json.load(sys.stdin); print([(c["values"], c["options"], c["least_us"] > 0) for c in a["candidates"]], a["best"] in (0, 1))'
[({'BLOCK': '64'}, {'num_warps': '2'}, True), ({'BLOCK': '128'}, {}, True)] True
$ tilewright tune scale.py --arg x=ones:f32[n] --arg n=10 --grid 1 --target interp --try BLOCK=32,64 --try seed=1 -o tuned.json | sed 's/^ *[0-9.]* us/# us/'
# us  BLOCK=64 seed=1
      failed     BLOCK=32 seed=1: scale.py:7:5: error: the assertion does not hold [static-assert]
1 of 2 timed, 1 failed; the best: --arg BLOCK=64 --set seed=1
$ sed 's/"us": [0-9.e+]*/"us": #/' tuned.json
{"kernels": {"scale.scale": [{"key": null, "target": "interp", "values": {"BLOCK": 64}, "options": {"seed": 1}, "us": #}]}}
$ tilewright run scale.py --arg x=ones:f32[n] --arg n=100 --grid 'cdiv(n, BLOCK)' --target interp --tuned tuned.json
x: f32[100], 100 of 100 elements changed
$ TILEWRIGHT_TUNED=tuned.json tilewright ir scale.py --target interp --arg 'x=*f32' --arg n=i32 | grep -c 'iota<0, 64>'
1
$ tilewright run scale.py --arg x=ones:f32[n] --arg n=100 --grid 1 --tuned tuned.json
error: tuned.json has no choice for kernel `scale.scale` on target cpu; make one with `tilewright tune`
[1]
#! What the command says itself comes first; rows of other targets and kernels stay.
$ tilewright tune scale.py --arg x=ones:f32[n] --arg n=10 --grid 1 --try BLOCK=16 -o tuned.json > out && tilewright run scale.py --arg x=ones:f32[n] --arg n=100 --arg BLOCK=8192 --grid 1 --target interp --tuned tuned.json
scale.py:9:5: error: assertion failed (program (0, 0, 0), element []) [assertion]
    9 |     tl.device_assert(BLOCK < 4096)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ python3 -c 'import json; print([(row["target"], row["values"]) for row in json.load(open("tuned.json"))["kernels"]["scale.scale"]])'
[('interp', {'BLOCK': 64}), ('cpu', {'BLOCK': 16})]
$ tilewright tune scale.py --arg x=ones:f32[n] --arg n=10 --grid 1 --try BLOCK=32 --target interp
scale.py:7:5: error: the assertion does not hold [static-assert]
    7 |     tl.static_assert(BLOCK != 32)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ echo '{"kernels": {"scale.scale": [{]}}' > broken.json; tilewright run scale.py --arg x=ones:f32[n] --arg n=10 --grid 1 --tuned broken.json
error: broken.json is no file of choices: an object with "kernels" is expected, as `tilewright tune -o` writes it
[1]
$ tilewright tune scale.py --arg x=ones:f32[n] --arg n=10 --grid 1 --seconds 0
error: --seconds takes a number above 0, not `0`
[1]
#! One that never ends and one that strays are candidates that failed; what they do, they do in processes of their own.
$ cat > hang.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def hang(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
>     o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     x = tl.load(x_ptr + o, mask=o < n, other=0.0)
>     if BLOCK == 64:
>         k = n
>         while k > 0:
>             k = k + tl.load(x_ptr).to(tl.int32) * 0
>         x += k
>     if BLOCK == 128:
>         x += tl.load(x_ptr + 1000000 + o)
>     tl.store(y_ptr + o, x * 2, mask=o < n)
> END
$ tilewright tune hang.py --arg 'x_ptr=ones:f32[n]' --arg 'y_ptr=zeros:f32[n]' --arg n=1000 --grid 'cdiv(n, BLOCK)' --try BLOCK=64,128,256 --seconds 30 | sed 's/[0-9.]* us/# us/; s/[0-9.]* s$/# s/; s/ *$//'
       # us  BLOCK=256
      failed     BLOCK=64: error: stopped: a launch took longer than # s
      failed     BLOCK=128: ...
1 of 3 timed, 2 failed; the best: --arg BLOCK=256
$ tilewright tune hang.py --arg 'x_ptr=ones:f32[n]' --arg 'y_ptr=zeros:f32[n]' --arg n=1000 --grid 'cdiv(n, BLOCK)' --try BLOCK=64,128 --seconds 2 --json > out 2> err; echo $?; python3 -c 'import json; a = json.load(open("out")); print(a["best"], [(c["values"], c["failed"], len(c["messages"])) for c in a["candidates"]], [json.loads(line)["severity"] for line in open("err")])'
1
None [({'BLOCK': '64'}, True, 1), ({'BLOCK': '128'}, True, 1)] ['error', 'error']
#! Ctrl-C, once one is timed and another one hangs: the best so far is the answer, and is kept.
$ cat > interrupt.py <<'END'
> import os, pty, sys
> child, terminal = pty.fork()
> if not child:
>     os.execvp(sys.argv[1], sys.argv[1:])
> seen, pressed = b"", False
> while True:
>     try:
>         more = os.read(terminal, 4096)
>     except OSError:
>         more = b""
>     if not more:
>         break
>     seen += more
>     if b"1 of 2 timed" in seen and not pressed:
>         pressed = os.write(terminal, bytes([3]))
> print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen.decode().split("; ")[-1].strip())
> END
$ python3 interrupt.py tilewright tune hang.py --arg 'x_ptr=ones:f32[n]' --arg 'y_ptr=zeros:f32[n]' --arg n=1000 --grid 'cdiv(n, BLOCK)' --try BLOCK=64,256 --seconds 50 -o best.json && grep -o '"BLOCK": [0-9]*' best.json
0 the best: --arg BLOCK=256
"BLOCK": 256
#! The cost model says what to try first: few programs for many.
$ tilewright tune scale.py --arg x=ones:f32[n] --arg n=1000000 --grid 'cdiv(n, BLOCK)' --try BLOCK=16,2048,128 --seconds 0.001 --json | python3 -c 'import json, sys; a = json.load(sys.stdin); print(len(a["candidates"]), sum("least_us" in c for c in a["candidates"]))'
3 1
$ tilewright tune scale.py --arg x=ones:f32[n] --arg n=1000000 --grid 'cdiv(n, BLOCK)' --try BLOCK=16,2048,128 --json | python3 -c 'import json, sys; print([c["values"]["BLOCK"] for c in sorted(json.load(sys.stdin)["candidates"], key=lambda c: c["predicted_us"])])'
['2048', '128', '16']
$ tilewright bench scale.py --over n=64,,128
error: `--over n=64,,128` lacks a value; write them as in `--over n=64,128`
[1]
$ tilewright tune scale.py --try BLOCK=
error: `--try BLOCK=` lacks a value; write them as in `--try BLOCK=64,128`
[1]
