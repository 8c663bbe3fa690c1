# A trip whose tiles no thread can hold goes in strips, where it works element by element and stores to memory of its own; where it does not, it stays whole.
$ cat > rows.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def scaled(x, w, y, n, each, B: tl.constexpr, SUMS: tl.constexpr, TWICE: tl.constexpr):
>     i = tl.arange(0, B)
>     row = tl.program_id(0)
>     for first in range(0, n, B):
>         at = first + i
>         inside = at < n
>         v = tl.load(x + row * n + at, mask=inside, other=3.0)
>         s = tl.load(w + at // each, mask=inside)
>         if SUMS:
>             v -= tl.sum(v, axis=0)
>         tl.store(y + row * n + at, v * s, mask=inside)
>         if TWICE:
>             tl.store(y + row * n + at + 1, v, mask=at < n - 1)
> END
$ cat > args <<'END'
> --target cuda --arg x=randn:f32[2,5000] --arg w=randn:f32[8] --arg y=zeros:f32[2,5000] --arg n=5000 --arg each=640 --arg B=4096 --set num_warps=1
> END
$ tilewright explain rows.py $(cat args) --arg SUMS=false --arg TWICE=false | grep -o 'loop: .*'
loop: a trip goes in 4 strips of 1024 elements: a thread cannot hold its tiles
$ tilewright ir rows.py $(cat args) --arg SUMS=false --arg TWICE=false --stop-after strip | sed -n '/for %first/,$p'
  for %first = 0, %0, 1 {
    %1 = mul %first, 4096
    for<unroll=1> %strip = 0, 4, 1 {
      %2 = mul %strip, 1024
      %3 = iota<0, 1024>
      %i_1 = add %2, %3
      %at = add %1, %i_1
      %inside = cmp<lt> %at, %n
      %4 = cast %2 : i64
      %5 = cast %1 : i64
      %6 = add %5, %4
      %v = tload<fill=3.0> %Tx, [%row, %6] : f32[1024]
      %7 = div %at, %each
      %8 = ptr_add %w, %7
      %s = load %8, %inside
      %9 = mul %v, %s
      %10 = cast %2 : i64
      %11 = cast %1 : i64
      %12 = add %11, %10
      tstore %Ty, [%row, %12], %9
    }
  }
}
$ tilewright check rows.py --emulate $(cat args) --arg SUMS=false --arg TWICE=false --grid 2
x: f32[2, 5000], max error 0: ok
w: f32[8], max error 0: ok
y: f32[2, 5000], max error 0: ok
$ tilewright check rows.py --emulate $(cat args) --arg SUMS=false --arg TWICE=false --set overlap=on --grid 2 | grep -c ok
3
$ tilewright explain rows.py $(cat args) --arg SUMS=true --arg TWICE=false | grep -c 'loop: .*strips'
0
[1]
$ tilewright explain rows.py $(cat args) --arg SUMS=false --arg TWICE=true | grep -c 'loop: .*strips'
0
[1]
$ tilewright explain rows.py $(cat args) --arg SUMS=false --arg TWICE=false --set overlap=on | grep -c 'loop: .*strips'
0
[1]
$ tilewright explain rows.py $(cat args) --arg SUMS=false --arg TWICE=false --set num_warps=2 | grep -c 'loop: .*strips'
0
[1]
$ tilewright explain rows.py $(cat args) --arg SUMS=false --arg TWICE=false --target cpu | grep -c 'loop: .*strips'
0
[1]
