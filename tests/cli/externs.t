# T.import_source and T.call_extern: functions in C and CUDA, on numbers. Results worked out by hand.
$ cp "$ROOT/tests/gpu/externs.py" . && echo externs.py:blended --arg A=arange:f32[50,60] --arg B=zeros:f32[50,60] > blended && echo externs.py:tagged --arg A=arange:i8[64] --arg B=zeros:i32[64] > tagged
$ tilewright run $(cat blended) --target cpu --save B=o.npy > said && od -A n -t f4 -j 128 -w24 -N 24 o.npy && tail -c 24 o.npy | od -A n -t f4 -w24
               0               4               8              12              16              20
            9035            9039            9043            9047            9051            9055
$ tilewright run $(cat tagged) --target cpu --save B=o.npy > said && od -A n -t d4 -j 128 -w32 -N 32 o.npy && tail -c 32 o.npy | od -A n -t d4 -w32
          14          12          10           8           6           4           2           0
          94          92          90          88          86          84          82          80
$ tilewright run externs.py:turned --target cpu --arg A=arange:i32[8] --arg B=zeros:i32[8] --save B=o.npy > said && od -A n -t d4 -j 128 -w32 o.npy
           7           6           5           4           3           2           1           0
$ tilewright emit $(cat tagged) --target cuda -o . > said && grep -n 'tag(\|#undef\|tw_call' tagged.cu
12:FN int tag(signed char x) { return x ^ 7; }
14:TW_FN i32 tw_call_tag_i32_i8(i8 x0) { return tag(x0); }
15:#undef FN
16:#undef FN
17:#undef bx
39:        add[0] = tw_add(tw_call_tag_i32_i8(load[0]), tw_call_tag_i32_i8(load_1[0]));
$ tilewright ir $(cat blended) | grep -o 'extern<.*\|FN float blend[^{]*)'
FN float blend(float x, int k, double w)
extern<callee=blend> %3, %5, 3.0:f64 : f32[32,60]
$ tilewright ir $(cat blended) > again.ir && tilewright run again.ir --target cpu --arg A=arange:f32[50,60] --arg B=zeros:f32[50,60] --save B=o.npy > said && od -A n -t f4 -j 128 -w24 -N 24 o.npy
               0               4               8              12              16              20
$ for op in 'extern<callee="f(); g"> %x : f32[4]' 'extern<callee=f> %x, none, %x : f32[4]' 'extern<callee=f> %p : f32' 'extern<callee=f> %x : f16[4]'; do printf 'kernel @k(%%p: *f32) {\n  %%t = tensor %%p, [4], [1]\n  %%x = tload %%t, [0] : f32[4]\n  %%y = %s\n  return\n}\n' "$op" > bad.ir; tilewright emit bad.ir --target cuda --arg p=zeros:f32[4] 2>&1 | head -1; done
bad.ir:4:4: error: `extern`: `callee` must be an identifier [ir-syntax]
bad.ir:4:4: error: `extern`: its arguments have a gap before operand 3 [ir-syntax]
bad.ir:4:4: error: `extern`: *f32: functions take and give integers of 8 to 64 bits, f32 and f64 [ir-syntax]
bad.ir:4:4: error: `extern`: f16[4]: functions take and give integers of 8 to 64 bits, f32 and f64 [ir-syntax]
#! Where there is no compiler for them they are refused, at the user's line.
$ tilewright check $(cat tagged)
externs.py:30:30: error: `tag` is a function in C or CUDA, which target interp does not run; write it with operations of the language, or use target cpu or cuda [extern]
   30 |             B[i * 32 + tx] = T.call_extern("tag", A[i * 32 + tx], dtype="int32") + T.call_pure_extern("int32", "tag", A[tx])
      |                              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
externs.py:30:84: error: `tag` is a function in C or CUDA, which target interp does not run; write it with operations of the language, or use target cpu or cuda [extern]
   30 |             B[i * 32 + tx] = T.call_extern("tag", A[i * 32 + tx], dtype="int32") + T.call_pure_extern("int32", "tag", A[tx])
      |                                                                                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a target is chosen with --target NAME
[1]
$ for t in hip tenstorrent; do tilewright emit $(cat tagged) --target $t 2>&1 | head -1; done
externs.py:30:30: error: `tag` is a function in C or CUDA, which target hip does not run; write it with operations of the language, or use target cpu or cuda [extern]
externs.py:30:30: error: `tag` is a function in C or CUDA, which target tenstorrent does not run; write it with operations of the language, or use target cpu or cuda [extern]
$ tilewright run $(cat tagged) --target cuda --emulate 2>&1 | head -1
externs.py:30:30: error: `tag` is a function in C or CUDA, which target cuda-emulated does not run; write it with operations of the language, or use target cpu or cuda [extern]
$ tilewright run $(cat tagged) --sanitize 2>&1 | head -1
externs.py:30:30: error: `tag` is a function in C or CUDA, which target interp does not run; write it with operations of the language, or use target cpu or cuda [extern]
#! The function that the source brings is meant, whatever the process calls so; one that nobody declares is not guessed at.
$ cat > mistakes.py <<'END'
> import tilelang.language as T
>
> @T.prim_func
> def own(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         T.import_source("float tgammaf(float x) { return 2 * x; }")
>         for i in T.Parallel(8):
>             B[i] = T.call_extern("float32", "tgammaf", A[i])
>
> @T.prim_func
> def undeclared(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         for i in T.Parallel(8):
>             B[i] = T.call_extern("float32", "nowhere", A[i])
>
> @T.prim_func
> def address(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         x = T.alloc_local((8,), "float32")
>         T.call_extern("fill", T.access_ptr(x, "w"), 8, dtype="float32")
>         T.copy(x, B)
>
> @T.prim_func
> def unwanted(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         T.evaluate(T.call_extern("int32", "say", A[0]))
>
> @T.prim_func
> def silent(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         T.call_extern("handle", "say", A[0])
>
> @T.prim_func
> def narrow(A: T.Tensor((8,), "float16"), B: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         for i in T.Parallel(8):
>             B[i] = T.call_extern("float32", "f", A[i])
>
> @T.prim_func
> def many(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         B[0] = T.call_extern("float32", "f", A[0], 1, 2, 3)
>
> @T.prim_func
> def spelled(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         B[0] = T.call_extern("float32", "f(0); g", A[0])
> END
$ tilewright run mistakes.py:own --target cpu --arg A=arange:f32[8] --arg B=zeros:f32[8] --save B=o.npy > said && od -A n -t f4 -j 128 -w32 o.npy
               0               2               4               6               8              10              12              14
$ tilewright run mistakes.py:undeclared --target cpu --arg A=arange:f32[8] --arg B=zeros:f32[8] 2>&1 | grep -o 'error: .* refused the emitted code\|function .nowhere'
error: the C compiler ... refused the emitted code
function ...nowhere
$ for k in address unwanted silent many spelled; do tilewright run mistakes.py:$k --target cpu --arg A=arange:f32[8] --arg B=zeros:f32[8]; done
mistakes.py:20:9: error: an address as an argument of T.call_extern is not supported in a TileLang kernel; a function takes numbers and gives one: what it does to memory is not known here, so write that part in the kernel [unsupported]
   20 |         T.call_extern("fill", T.access_ptr(x, "w"), 8, dtype="float32")
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mistakes.py:26:20: error: T.call_extern whose result nobody takes is not supported in a TileLang kernel; a function takes numbers and gives one: what it does to memory is not known here, so write that part in the kernel [unsupported]
   26 |         T.evaluate(T.call_extern("int32", "say", A[0]))
      |                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mistakes.py:31:9: error: T.call_extern of a function that gives no number is not supported in a TileLang kernel; a function takes numbers and gives one: what it does to memory is not known here, so write that part in the kernel [unsupported]
   31 |         T.call_extern("handle", "say", A[0])
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mistakes.py:42:16: error: T.call_extern without arguments or with more than three is not supported in a TileLang kernel; give the function one to three numbers [unsupported]
   42 |         B[0] = T.call_extern("float32", "f", A[0], 1, 2, 3)
      |                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mistakes.py:47:16: error: T.call_extern(dtype, name, x, ..): the name is one identifier, in quotes [arguments]
   47 |         B[0] = T.call_extern("float32", "f(0); g", A[0])
      |                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run mistakes.py:narrow --target cpu --arg A=arange:f16[8] --arg B=zeros:f32[8]
mistakes.py:37:20: error: a function in C or CUDA takes and gives integers of 8 to 64 bits, float32 and float64, here float16; T.cast to one of these [types]
   37 |             B[i] = T.call_extern("float32", "f", A[i])
      |                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
