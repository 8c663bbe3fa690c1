# Places that 32 bits hold are added in 32: what lies outside stays outside where the sum wraps around, and in front of 0.
# requires: c++
$ cat > at.ir <<'END'
> kernel @at(%X, %Y: *f32, %first, %n, %row, %stride: i32) {
>   require<least=0> %n
>   %S = tensor %X, [none, %n], [%stride, 1] ; %T = tensor %Y, [128], [1]
>   %x = tload<fill=7.0> %S, [%row, %first] : f32[128]
>   tstore %T, [0], %x
> }
> END
$ tilewright emit at.ir --target cuda 2>/dev/null | grep -E 'i[01] = (row|tw_add)|X \+'
        const i32 i0 = row;
        const i32 i1 = tw_add(first_1, at0);
        tw_ldg_or(1, (u32)i1 < (u32)n, x, X + tw_mul_wide(i0, stride) + i1, (f32)7.0f);
$ for first in 0 -5 150 2147483600 -2147483648 2147483647; do for stride in 200 -200; do tilewright check at.ir --arg X=randn:f32[2,200] --arg Y=zeros:f32[128] --arg first=$first --arg n=200 --arg row=$((stride > 0)) --arg stride=$stride --grid 1 --target cuda --emulate | grep Y:; done; done
Y: f32[128], max error 0: ok
Y: f32[128], max error 0: ok
Y: f32[128], max error 0: ok
Y: f32[128], max error 0: ok
Y: f32[128], max error 0: ok
Y: f32[128], max error 0: ok
Y: f32[128], max error 0: ok
Y: f32[128], max error 0: ok
Y: f32[128], max error 0: ok
Y: f32[128], max error 0: ok
Y: f32[128], max error 0: ok
Y: f32[128], max error 0: ok
