# What `check` allows a product of float32: much where it ran in tf32, which Triton takes unless told otherwise, and little
# where the source asks for more.
# requires: c++
$ cat > product.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def product(a, b, c, PRECISION: tl.constexpr):
>     i = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
>     tl.store(c + i, tl.dot(tl.load(a + i), tl.load(b + i), input_precision=PRECISION))
> END
$ echo 'tilewright check product.py --target cuda --emulate --arg a=randn:f32[32,32] --arg b=randn:f32[32,32] --arg c=zeros:f32[32,32] --grid 1 --seed 3 --arg PRECISION=$* | grep c:' > check
$ sh check tf32
c: f32[32, 32], max error 0.0161 at [8, 17] (-16.617527, interpreted -16.633625): ok
$ sh check tf32x3
c: f32[32, 32], max error 9.54e-06 at [17, 13] (-16.3509998, interpreted -16.3510094): ok
$ sh check ieee
c: f32[32, 32], max error 0: ok
$ sh check tf32 --tolerance 2e-5
c: f32[32, 32], max error 0.0161 at [8, 17] (-16.617527, interpreted -16.633625): MISMATCH in 964 of 1024 elements, allowed is 0.000378
