# Many values: 70 that a loop hands on in turn, more tiles in a loop than a ring holds.
# requires: c++
$ { printf 'import triton\nimport triton.language as tl\n\n@triton.jit\ndef turn(x, n):\n'
>   for i in $(seq 0 69); do echo "    a$i = tl.load(x + $i)"; done
>   printf '    for k in range(n):\n        first = a0\n'
>   for i in $(seq 0 68); do echo "        a$i = a$((i + 1))"; done
>   echo '        a69 = first'
>   for i in $(seq 0 69); do echo "    tl.store(x + $i, a$i)"; done; } > turn.py
$ tilewright check turn.py --target cpu --arg x=arange:i32[70] --arg n=3 --grid 1
x: i32[70], max error 0: ok
$ tilewright check turn.py --target cuda --emulate --arg x=arange:i32[70] --arg n=3 --grid 1
x: i32[70], max error 0: ok
$ tilewright check turn.py --target tenstorrent --arg x=arange:i32[70] --arg n=3 --grid 1
turn.py:6:10: error: this is ring 1, of 70 tiles a slot; a kernel has at most 32 rings of at most 32 tiles; load fewer tiles in one loop [ring-count]
    6 |     a0 = tl.load(x + 0)
      |          ^~~~~~~~~~~~~~
[1]
$ cat > tiles.sh <<'END'
> # N COMMAND..: sums of N tiles, times a matrix
> n=$1; shift
> { printf 'import triton\nimport triton.language as tl\n\n@triton.jit\ndef tiles(x, w, out, n):\n    r = tl.arange(0, 32)\n    at = r[:, None] * 32 + r[None, :]\n    acc = tl.zeros((32, 32), tl.float32)\n    for k in range(n):\n'
>   for i in $(seq 1 $n); do echo "        x$i = tl.load(x + (k * $n + $i - 1) * 1024 + at)"; done
>   printf '        acc = tl.dot(x1'; for i in $(seq 2 $n); do printf " + x$i"; done
>   printf ', tl.load(w + k * 1024 + at), acc)\n    tl.store(out + at, acc)\n'; } > tiles.py
> tilewright "$@" tiles.py --target cuda --arg x=randn:bf16[3,$n,32,32] --arg w=randn:bf16[3,32,32] --arg out=zeros:f32[32,32] --arg n=3
> END
$ for n in 17 33; do sh tiles.sh $n explain | grep -E 'execution: (flat|skew|roles):'; sh tiles.sh $n check --emulate --grid 1 | sed 's/max error .*: ok/ok/'; done
tiles.py:5:1: execution: skew: its dots are too small for a warp that only loads
x: bf16[3, 17, 32, 32], ok
w: bf16[3, 32, 32], ok
out: f32[32, 32], ok
tiles.py:5:1: execution: skew: its dots are too small for a warp that only loads
x: bf16[3, 33, 32, 32], ok
w: bf16[3, 32, 32], ok
out: f32[32, 32], ok
$ cat > products.sh <<'END'
> # N SIDE COMMAND..: N products in a loop, each of loads of its own
> n=$1; m=$2; shift 2
> { printf "import triton\nimport triton.language as tl\n\n@triton.jit\ndef products(x, w, out, n):\n    r = tl.arange(0, $m)\n    at = r[:, None] * $m + r[None, :]\n    acc = tl.zeros(($m, $m), tl.float32)\n    for k in range(n):\n"
>   for i in $(seq 0 $((n - 1))); do echo "        acc = tl.dot(tl.load(x + (k * $n + $i) * $m * $m + at), tl.load(w + (k * $n + $i) * $m * $m + at), acc)"; done
>   printf '    tl.store(out + at, acc)\n'; } > products.py
> tilewright "$@" products.py --target cuda --arg x=randn:bf16[3,$n,$m,$m] --arg w=randn:bf16[3,$n,$m,$m] --arg out=zeros:f32[$m,$m] --arg n=3
> END
$ for n in '36 16' '30 64'; do sh products.sh $n explain | grep -E 'execution: (flat|skew|roles):|stays' | cut -d: -f4- | sort | uniq -c; sh products.sh $n check --emulate --grid 1 | sed 's/max error .*: ok/ok/'; done
      1  execution: skew: its dots are too small for a warp that only loads
      8  load: stays in compute: there would be more than 32 rings
      1  store: stays in compute: there would be more than 32 rings
x: bf16[3, 36, 16, 16], ok
w: bf16[3, 36, 16, 16], ok
out: f32[16, 16], ok
      1  execution: roles: its dots are wide enough for a warp that only loads
     34  load: stays in compute: rings and scratch together do not fit into shared memory
x: bf16[3, 30, 64, 64], ok
w: bf16[3, 30, 64, 64], ok
out: f32[64, 64], ok
