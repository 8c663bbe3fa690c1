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
19:FN int tag(signed char x) { return (int)((ext_word)x ^ 7); }
26:TW_FN i32 tw_call_tag_i32_i8(i8 x0) { return tag(x0); }
27:#undef FN
28:#undef FN
29:#undef bx
53:        add[0] = tw_add(tw_call_tag_i32_i8(load[0]), tw_call_tag_i32_i8(load_1[0]));
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
#! Functions on arrays: what they read and write are tiles of the kernel's.
$ tilewright run externs.py:widened --target cpu --arg A=arange:u8[128] --arg B=zeros:i16[256] --save B=o.npy > said && od -A n -t d2 -j 128 -w16 -N 32 o.npy && tail -c 16 o.npy | od -A n -t d2 -w16
      0      0      1      0      2      0      3      0
      5      1      6      1      7      1      8      1
     43     38     44     38     45     38     46     38
$ tilewright run externs.py:grown --target cpu --arg A=arange:f32[32,3] --save A=o.npy > said && od -A n -t f4 -j 128 -w24 -N 24 o.npy
               1               1               4               4               4              10
$ tilewright run externs.py:counted --target cpu --arg B=zeros:f64[8] --save B=o.npy > said && od -A n -t f8 -j 128 -w32 o.npy
                       -1                       -1                        0                       10
                       20                       30                       40                       -1
$ tilewright emit externs.py:grown --target cuda -o . --arg A=arange:f32[32,3] > said && sed -n '/tw_call_grow_b3_f32_1(u64 x0/,/}$/p' grown.cu
TW_FN u64 tw_call_grow_b3_f32_1(u64 x0, u64 x1) {
    union { u64 words[2]; f32 each[3]; } __attribute__((aligned(16))) a0 = {{x0, x1}};
    grow(a0.each);
    return a0.words[1];
}
$ for op in 'callee=f,takes="r4:u8 w4:f16",part=1' 'callee=f,takes="r9:u8 w4:f16"' 'callee=f,takes="r4:i1 w4:f16"'; do printf 'kernel @k(%%p: *u64) {\n  %%x = load %%p\n  %%y = extern<%s> %%x : u64\n  store %%p, %%y\n  return\n}\n' "$op" > bad.ir; tilewright emit bad.ir --target cuda --arg p=zeros:u64[4] 2>&1 | head -1; done
bad.ir:3:4: error: `extern`: `takes` does not fit its operands, or `part` is no word that it writes, or its result is not u64 [ir-syntax]
bad.ir:3:4: error: `extern`: `takes` does not fit its operands, or `part` is no word that it writes, or its result is not u64 [ir-syntax]
bad.ir:3:4: error: `extern`: `takes` does not fit its operands, or `part` is no word that it writes, or its result is not u64 [ir-syntax]
#! Where there is no compiler for them they are refused, at the user's line.
$ tilewright check $(cat tagged)
externs.py:37:30: error: `tag` is a function in C or CUDA, which target interp does not run; write it with operations of the language, or use target cpu or cuda [extern]
   37 |             B[i * 32 + tx] = T.call_extern("tag", A[i * 32 + tx], dtype="int32") + T.call_pure_extern("int32", "tag", A[tx])
      |                              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
externs.py:37:84: error: `tag` is a function in C or CUDA, which target interp does not run; write it with operations of the language, or use target cpu or cuda [extern]
   37 |             B[i * 32 + tx] = T.call_extern("tag", A[i * 32 + tx], dtype="int32") + T.call_pure_extern("int32", "tag", A[tx])
      |                                                                                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a target is chosen with --target NAME
[1]
$ for t in hip tenstorrent; do tilewright emit $(cat tagged) --target $t 2>&1 | head -1; done
externs.py:37:30: error: `tag` is a function in C or CUDA, which target hip does not run; write it with operations of the language, or use target cpu or cuda [extern]
externs.py:37:30: error: `tag` is a function in C or CUDA, which target tenstorrent does not run; write it with operations of the language, or use target cpu or cuda [extern]
$ tilewright run $(cat tagged) --target cuda --emulate 2>&1 | head -1
externs.py:37:30: error: `tag` is a function in C or CUDA, which target cuda-emulated does not run; write it with operations of the language, or use target cpu or cuda [extern]
$ tilewright run $(cat tagged) --sanitize 2>&1 | head -1
externs.py:37:30: error: `tag` is a function in C or CUDA, which target interp does not run; write it with operations of the language, or use target cpu or cuda [extern]
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
>         T.call_extern("fill", T.access_ptr(B[0], "w", 8), 8, dtype="float32")
>
> @T.prim_func
> def much(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         x = T.alloc_local((8,), "float32")
>         T.copy(A, x)
>         T.call_extern("fill", T.access_ptr(x, "rw"), 8, dtype="float32")
>         T.copy(x, B)
>
> @T.prim_func
> def behind(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         x = T.alloc_local((8,), "float32")
>         T.call_extern("fill", T.access_ptr(x, "w", 9), 9, dtype="float32")
>         T.copy(x, B)
>
> @T.prim_func
> def device(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
>     with T.Kernel(1):
>         T.import_source("__device__ float twice(float x) { return 2 * x; }")
>         for i in T.Parallel(8):
>             B[i] = T.call_extern("float32", "twice", A[i])
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
$ for k in address much behind device unwanted silent many spelled; do tilewright run mistakes.py:$k --target cpu --arg A=arange:f32[8] --arg B=zeros:f32[8]; done
mistakes.py:19:9: error: an address in a tensor as an argument of T.call_extern is not supported in a TileLang kernel; give it what T.alloc_local made, or an element of that with T.access_ptr, and copy to and from there [unsupported]
   19 |         T.call_extern("fill", T.access_ptr(B[0], "w", 8), 8, dtype="float32")
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mistakes.py:26:9: error: a function on tiles reads at most 24 bytes of them, together with numbers that are not known here; call it for smaller tiles [types]
   26 |         T.call_extern("fill", T.access_ptr(x, "rw"), 8, dtype="float32")
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mistakes.py:33:9: error: a function reads and writes at most 1024 elements of a tile, and none behind its end [arguments]
   33 |         T.call_extern("fill", T.access_ptr(x, "w", 9), 9, dtype="float32")
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mistakes.py:41:20: error: `twice` stands in a text in CUDA (`__device__`), which target cpu does not compile; import a text in C, or use target cuda [extern]
   41 |             B[i] = T.call_extern("float32", "twice", A[i])
      |                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
hint: a target is chosen with --target NAME
mistakes.py:46:20: error: T.call_extern whose result nobody takes is not supported in a TileLang kernel; a function takes numbers and gives one: what it does to memory is not known here, so write that part in the kernel [unsupported]
   46 |         T.evaluate(T.call_extern("int32", "say", A[0]))
      |                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mistakes.py:51:9: error: T.call_extern of a function that gives no number is not supported in a TileLang kernel; a function takes numbers and gives one: what it does to memory is not known here, so write that part in the kernel [unsupported]
   51 |         T.call_extern("handle", "say", A[0])
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mistakes.py:62:16: error: T.call_extern without arguments or with more than three is not supported in a TileLang kernel; give the function one to three numbers [unsupported]
   62 |         B[0] = T.call_extern("float32", "f", A[0], 1, 2, 3)
      |                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
mistakes.py:67:16: error: T.call_extern(dtype, name, x, ..): the name is one identifier, in quotes [arguments]
   67 |         B[0] = T.call_extern("float32", "f(0); g", A[0])
      |                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run mistakes.py:narrow --target cpu --arg A=arange:f16[8] --arg B=zeros:f32[8]
mistakes.py:57:20: error: a function in C or CUDA takes and gives integers of 8 to 64 bits, float32 and float64, here float16; T.cast to one of these [types]
   57 |             B[i] = T.call_extern("float32", "f", A[i])
      |                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
