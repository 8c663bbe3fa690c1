# Rows that an index vector chooses: the same on every target; what Tenstorrent does not read row by row goes element by element.
# requires: c++
$ cat > rows.ir <<'END'
> kernel @rows(%X, %Y: *f32, %I: *i32, %R, %n: i32) {
>   %TX = tensor %X, [%R, 32], [32, 1] ; %TY = tensor %Y, [%n, 32], [32, 1] ; %TI = tensor %I, [%n], [1]
>   %v = tload %TI, [0] : i32[32]
>   %x = tload<fill=-1.0> %TX, [%v, 0] : f32[32,32]
>   tstore %TY, [0, 0], %x
> }
> END
$ echo --arg X=randn:f32[20,32] --arg Y=zeros:f32[30,32] --arg 'I=randint(25):i32[30]' --arg R=20 --arg n=30 --grid 1 > arguments
$ tilewright check rows.ir $(cat arguments) --target cpu | grep Y:
Y: f32[30, 32], max error 0: ok
$ tilewright check rows.ir $(cat arguments) --target cuda --emulate | grep Y:
Y: f32[30, 32], max error 0: ok
$ tilewright explain rows.ir --target cuda | grep ':[45]:'
rows.ir:3:4: load: box i32[32] of I[n], strides [1], at [0]; outside 0; contiguous
rows.ir:4:4: load: box f32[32,32] of X[R, 32], strides [32, 1], at [v, 0]; dimension 0 is indexed by a vector; outside -1; contiguous
rows.ir:5:3: store: box f32[32,32] of Y[n, 32], strides [32, 1], at [0, 0]; contiguous
rows.ir:3:4: load: vectors of 4 bytes
rows.ir:4:4: load: vectors of 16 bytes
rows.ir:5:3: store: vectors of 16 bytes
$ tilewright check rows.ir $(cat arguments) --target tenstorrent 2>&1 | grep Y:
Y: f32[30, 32], max error 0: ok
$ sed 's/%v = tload %TI, \[0\] : i32\[32\]/%i = iota<0, 32> ; %v = rem %i, 7/' rows.ir > pure.ir
$ tilewright check pure.ir $(cat arguments) --target tenstorrent 2>&1 | grep Y:
Y: f32[30, 32], max error 0: ok
$ sed 's/f32\[32,32\]/f32[16,32]/; s/i32\[32\]/i32[16]/' rows.ir > half.ir
$ tilewright check half.ir $(cat arguments) --target tenstorrent 2>&1 | grep Y:
Y: f32[30, 32], max error 0: ok
$ sed 's/\[%v, 0\]/[0, %v]/' rows.ir > columns.ir
$ tilewright check columns.ir $(cat arguments) --target tenstorrent 2>&1 | grep Y:
Y: f32[30, 32], max error 0: ok
$ sed 's/tstore %TY, \[0, 0\]/tstore %TY, [%v, 0]/' rows.ir > scatter.ir
$ tilewright check scatter.ir $(echo $(cat arguments) | sed "s/randint(25)/arange/") --target tenstorrent 2>&1 | grep Y:
Y: f32[30, 32], max error 0: ok
$ sed 's/f32/bf16/' rows.ir | sed 's/: f32\[32,32\]/: bf16[32,32]/' > narrow.ir
$ tilewright check narrow.ir $(sed "s/f32/bf16/g" arguments) --target tenstorrent:blackhole 2>&1 | grep Y:
Y: bf16[30, 32], max error 0: ok
$ sed 's/i32/i64/; s/i32\[/i64[/' rows.ir > wide.ir
$ tilewright run wide.ir --arg X=randn:f32[20,32] --arg Y=zeros:f32[30,32] --arg 'I=full(-5000000000):i64[30]' --arg R=20 --arg n=30 --grid 1 --target tenstorrent
error: kernel `rows`: argument `I` holds -5000000000; on Tenstorrent numbers of rows must fit 32 bits
[1]
$ sed 's/f32\[32,32\]/f32[16,32]/' rows.ir > short.ir
$ tilewright run short.ir $(cat arguments) --target interp
short.ir:4:4: error: `tload`: along dimension 0 the box has 16 places, the index vector is i32[32] [ir-invalid]
    4 |   %x = tload<fill=-1.0> %TX, [%v, 0] : f32[16,32]
      |    ^~~~~~~~~
[1]
$ sed 's/fill=-1.0/wrap=[0]/' rows.ir > wraps.ir
$ tilewright run wraps.ir $(cat arguments) --target interp
wraps.ir:4:4: error: `tload`: an index vector does not wrap; take its `mod` instead [ir-invalid]
    4 |   %x = tload<wrap=[0]> %TX, [%v, 0] : f32[32,32]
      |    ^~~~~~~~~
[1]
$ cat > unwritten.ir <<'END'
> kernel @unwritten(%X, %Y: tensor<f32,2>) {
>   %u = undef : i32[4] ; %i = iota<0, 4> ; %low = cmp<lt> %i, 2 ; %v = select %low, %i, %u ; %m = expand<1> %low
>   %a = tload %X, [%v, 0], %m : f32[4,8] ; tstore %Y, [0, 0], %a
>   %b = tload %X, [%v, 0] : f32[4,8] ; tstore %Y, [0, 0], %b
> }
> END
$ tilewright run unwritten.ir --arg X=randn:f32[8,8] --arg Y=zeros:f32[8,8] --grid 1 --sanitize
unwritten.ir:4:4: error: this uses a value that nothing wrote (program (0, 0, 0), element [2]); give it a value first (and 15 more here) [unwritten-read]
    4 |   %b = tload %X, [%v, 0] : f32[4,8] ; tstore %Y, [0, 0], %b
      |    ^~~~~~~~~
[1]
