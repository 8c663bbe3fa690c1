# A store that begins one element off, in a loop: its vectors may lie across the end of the array, though that is a multiple of their length.
$ cat > shifted.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def shifted(x, y, n, B: tl.constexpr):
>     i = tl.arange(0, B)
>     for first in range(0, n, B):
>         at = first + i
>         v = tl.load(x + at, mask=at < n)
>         tl.store(x + at + 1, v, mask=at < n - 1)
>         tl.store(y + at, v * 2, mask=at < n)
> END
$ cat > args <<'END'
> --target cuda --arg x=randn:f32[9000] --arg y=zeros:f32[9000] --arg n=9000 --arg B=4096 --set num_warps=1
> END
$ tilewright emit shifted.py $(cat args) -o . > /dev/null && grep -oE 'tw_st[a-z_]*\(4' shifted.cu
tw_store_row_asked(4
tw_stg_if(4
$ tilewright check shifted.py --emulate $(cat args) --grid 1
x: f32[9000], max error 0: ok
y: f32[9000], max error 0: ok
