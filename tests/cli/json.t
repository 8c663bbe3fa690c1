# Answers and messages for programs: JSON on standard output, what goes wrong on standard error, an object a line.
$ cat > k.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def k(x, n, B: tl.constexpr):
>     i = tl.arange(0, B)
>     tl.device_print("n", n)
>     tl.store(x + i, 1.5, mask=i < n)
>
> @triton.jit
> def callee(x):
>     return x + nothing
>
> @triton.jit
> def wrong(x):
>     tl.store(x, callee(1))
>     tl.lod(x)
> END
$ tilewright run k.py:k --json --arg x=zeros:f32[4] --arg n=3 --arg B=4 --grid 1 2>speech
{"kernel": "k", "target": "cpu", "emulated": false, "arrays": [{"name": "x", "dtype": "f32", "shape": [4], "elements": 4, "changed": 3}]}
$ cat speech
{"severity": "print", "code": "", "text": "pid (0, 0, 0) idx () n: 3", "fix": "", "file": null, "notes": []}
$ tilewright run k.py:k --json --time --arg x=zeros:f32[4] --arg n=3 --arg B=4 --grid 1 2>speech | python3 -c 'import json, sys; a = json.load(sys.stdin); print(0 < a["least_us"] <= a["median_us"], a["launches"] > 1)'
True True
$ tilewright check k.py:k --json --arg x=zeros:f32[4] --arg n=3 --arg B=4 --grid 1 2>speech
{"kernel": "k", "target": "cpu", "emulated": false, "arrays": [{"name": "x", "dtype": "f32", "shape": [4], "ok": true, "compared_with": "interpreted", "elements": 4, "different": 0, "max_error": 0, "allowed": 3e-05, "at": 0, "got": 1.5, "want": 1.5}], "ok": true}
$ tilewright run k.py:k --arg x=zeros:f32[4] --arg n=2 --arg B=4 --grid 1 --save x=two.npy
pid (0, 0, 0) idx () n: 2
$ tilewright check k.py:k --json --arg x=zeros:f32[4] --arg n=3 --arg B=4 --grid 1 --expect x=two.npy 2>speech
{"kernel": "k", "target": "cpu", "emulated": false, "arrays": [{"name": "x", "dtype": "f32", "shape": [4], "ok": false, "compared_with": "expected", "elements": 4, "different": 1, "max_error": 1.5, "allowed": 3e-05, "at": 2, "got": 1.5, "want": 0}], "ok": false}
[1]
$ tilewright check k.py:k --json --arg x=zeros:f32[3] --arg n=3 --arg B=4 --grid 1 --expect x=two.npy 2>speech
{"kernel": "k", "target": "cpu", "emulated": false, "arrays": [{"name": "x", "dtype": "f32", "shape": [3], "ok": false, "expected": {"dtype": "f32", "shape": [4]}}], "ok": false}
[1]
$ tilewright check k.py:wrong --json --arg x=zeros:f32[1] --grid 1
{"severity": "error", "code": "unknown-name", "text": "`nothing` is not known; assign it, define it in this file, or give it as a definition", "fix": "assign it, define it in this file, or give it as a definition", "file": "k.py", "line": 12, "column": 16, "length": 7, "notes": [{"severity": "note", "code": "called", "text": "in the call of `callee`", "fix": "", "file": "k.py", "line": 16, "column": 17, "length": 9}]}
{"severity": "error", "code": "unknown-name", "text": "`tl.lod` is not known; did you mean `tl.load`?", "fix": "did you mean `tl.load`?", "file": "k.py", "line": 17, "column": 5, "length": 6, "notes": []}
{"severity": "hint", "code": "", "text": "a definition is given with -D NAME=VALUE", "fix": "", "file": null, "notes": []}
[1]
$ tilewright run k.py:k --json --arg x=zeros:f32[1]
{"severity": "error", "code": "", "text": "kernel `k` lacks arguments: n (a number), B (a constant); for example:\u000a  tilewright run k.py:k --json --arg 'x=zeros:f32[1]' --arg n=128 --arg B=128 --grid 1", "fix": "for example:\u000a  tilewright run k.py:k --json --arg 'x=zeros:f32[1]' --arg n=128 --arg B=128 --grid 1", "file": null, "notes": []}
[1]
$ tilewright explain k.py:k --jsn --json
{"severity": "error", "code": "", "text": "unknown option `--jsn`; did you mean `--json`?", "fix": "did you mean `--json`?", "file": null, "notes": []}
[1]
$ printf 'import triton\n@triton.jit\ndef k(x):\n\treturn\n        return\n' > tabs.py
$ tilewright check tabs.py --json
{"severity": "error", "code": "tabs", "text": "tabs and spaces are mixed so that the indentation depends on the width of a tab; use spaces only", "fix": "use spaces only", "file": "tabs.py", "line": 5, "column": 9, "length": 1, "notes": []}
[1]
$ : names of files are any bytes, and JSON is UTF-8
$ cp k.py "$(printf 'b\377"\n\355\240\200.py')"
$ for odd in b*.py; do tilewright check "$odd:wrong" --json --arg x=zeros:f32[1] --grid 1 2>&1 | head -1; done
{"severity": "error", "code": "unknown-name", "text": "`nothing` is not known; assign it, define it in this file, or give it as a definition", "fix": "assign it, define it in this file, or give it as a definition", "file": "b\ufffd\u0022\u000a\ufffd\ufffd\ufffd.py", "line": 12, "column": 16, "length": 7, "notes": [{"severity": "note", "code": "called", "text": "in the call of `callee`", "fix": "", "file": "b\ufffd\u0022\u000a\ufffd\ufffd\ufffd.py", "line": 16, "column": 17, "length": 9}]}
$ for odd in b*.py; do tilewright explain "$odd:k" --json --arg 'x=*f32' --arg n=i32 -D B=4 2>/dev/null; done | python3 -c 'import json, sys; print(ascii({f["file"] for f in json.load(sys.stdin)}))'
{'b\ufffd"\n\ufffd\ufffd\ufffd.py'}
