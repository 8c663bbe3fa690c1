# The layout form is a text like others: printed, changed by hand, read again. What it says is what runs; what cannot be is refused.
$ cat > product.ir <<'END'
> kernel @product(%A, %B, %C: tensor<f16,2>) <warps=1> {
>   %a = tload %A, [0, 0] : f16[16,16] ; %b = tload %B, [0, 0] : f16[16,16] ; %bt = permute<dims=[1,0]> %b
>   %z = splat 0.0 : f32[16,16] ; %d = dot %a, %bt, %z ; %h = cast %d : f16[16,16]
>   tstore %C, [0, 0], %h
> }
> END
$ tilewright ir product.ir --target cuda --stop-after layout > laid.ir
$ grep '#' laid.ir
  layout #r0 = regs<16x16, reg (0,1) (0,2) (0,4), lane (0,8) (1,0) (2,0) (4,0) (8,0)>
  layout #r1 = regs<16x16, reg (0,1) (8,0) (0,8), lane (0,2) (0,4) (1,0) (2,0) (4,0)>
  layout #s0 = shared<16x16, width=32>
  layout #s1 = shared<16x16, width=32, turned>
  %a#r0 = tload<along=1, vector=8, whole> %A, [0, 0] : f16[16,16]
  %b#r0 = tload<along=1, vector=8, whole> %B, [0, 0] : f16[16,16]
  %z#r1 = splat 0.0 : f32[16,16]
  %a_1#s0 = convert<vector=8> %a
  %b_1#s0 = convert<vector=8> %b
  %bt#s1 = permute<dims=[1,0]> %b_1
  %d#r1 = dot<instr=mma, grid=[1,1]> %a_1, %bt, %z
  %h#r1 = cast %d : f16[16,16]
  %h_1#r0 = convert<via=shared> %h
$ echo --arg A=randn:f16[16,16] --arg B=randn:f16[16,16] --arg C=empty:f16[16,16] --grid 1 > arguments
$ sed 's/lane (0,8) (1,0) (2,0) (4,0) (8,0)/lane (8,0) (4,0) (0,8) (2,0) (1,0)/; s/%a#r0 = tload<along=1, vector=8, whole>/%a#r0 = tload/' laid.ir > other.ir
$ diff laid.ir other.ir
2c2
<   layout #r0 = regs<16x16, reg (0,1) (0,2) (0,4), lane (0,8) (1,0) (2,0) (4,0) (8,0)>
---
>   layout #r0 = regs<16x16, reg (0,1) (0,2) (0,4), lane (8,0) (4,0) (0,8) (2,0) (1,0)>
35c35
<   %a#r0 = tload<along=1, vector=8, whole> %A, [0, 0] : f16[16,16]
---
>   %a#r0 = tload %A, [0, 0] : f16[16,16]
[1]
$ tilewright check other.ir $(cat arguments) --target cuda --emulate
A: f16[16, 16], max error 0: ok
B: f16[16, 16], max error 0: ok
C: f16[16, 16], max error 0: ok
$ sed 's/lane (0,8) (1,0)/lane (0,8) (0,8)/' laid.ir > wrong.ir
$ tilewright emit wrong.ir --target cuda
wrong.ir:35:4: error: `tload`: two bits of a place move an element along the same bit of its index [ir-invalid]
   35 |   %a#r0 = tload<along=1, vector=8, whole> %A, [0, 0] : f16[16,16]
      |    ^~~~~~~~~~~~
[1]
$ sed 's/%d#r[0-9] = dot/%d#r0 = dot/' laid.ir > wrong.ir
$ tilewright emit wrong.ir --target cuda
wrong.ir:41:4: error: `dot`: its sum must live as mma leaves it [ir-invalid]
   41 |   %d#r0 = dot<instr=mma, grid=[1,1]> %a_1, %bt, %z
      |    ^~~~~~~~~~
[1]
$ tilewright emit laid.ir --target cpu
laid.ir:1:1: error: kernel `product` is in layout form, which is for machines with threads, and cpu has none; take its text from before the pass `layout` [layout-threads]
    1 | kernel @product(%A, %B, %C: tensor<f16,2>) <form=layout, warps=1> {
      | ^~~~~~~~~~~~~~~
[1]
