# Assembly of the source: into the text of CUDA as it stands, refused by name elsewhere.
$ cat > asm.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def halves(x, z, N: tl.constexpr):
>     k = tl.arange(0, N)
>     y = tl.inline_asm_elementwise("and.b32 $0, $1, 0x7fff7fff; // $$ 100%", "=r, r", [tl.load(x + k)], dtype=tl.float16, is_pure=True, pack=2)
>     tl.store(z + k, y)
>
> @triton.jit
> def both(x, z, N: tl.constexpr):
>     k = tl.arange(0, N)
>     v = tl.load(x + k)
>     s, d = tl.inline_asm_elementwise("{ add.f32 $0, $2, $3; sub.f32 $1, $2, $3; }", "=f,=&f,0,f", [v, v * 2], dtype=(tl.float32, tl.float32), is_pure=False, pack=1)
>     tl.store(z + k, s + d)
>
> @triton.jit
> def numbers(x, z, N: tl.constexpr, MASK: tl.constexpr):
>     k = tl.arange(0, N)
>     y = tl.inline_asm_elementwise("lop3.b32 $0, $2, $1, $4, $3; // $$", "=r,n,r,n,r", [MASK, tl.load(x + k), 234, k], dtype=tl.int32, is_pure=True, pack=1)
>     tl.store(z + k, y)
>
> @triton.jit
> def who_and_when(z, times):
>     start = tl.extra.cuda.globaltimer()
>     tl.store(z + tl.program_id(0), tl.extra.cuda.smid())
>     tl.store(times + tl.program_id(0), tl.extra.cuda.globaltimer() - start)
> END
$ tilewright emit asm.py:who_and_when --target cuda --arg z=zeros:i32[128] --arg times=zeros:i64[128] -o . > /dev/null && grep tw_asm who_and_when.cu
    tw_asm_act("mov.u64 %0, %%globaltimer;", tw_list("=l"(start_asm_act)), tw_list());
    tw_asm_act("mov.u32 %0, %%smid;", tw_list("=r"(asm_act)), tw_list());
    tw_asm_act("mov.u64 %0, %%globaltimer;", tw_list("=l"(asm_act_1)), tw_list());
$ tilewright emit asm.py:numbers --target cuda --arg x=zeros:i32[128] --arg z=zeros:i32[128] --arg N=128 --arg MASK=983055 -o . > /dev/null && grep tw_asm numbers.cu
    tw_asm("lop3.b32 %0, %1, 983055, %2, 234; // $", tw_list("=r"(y_asm[0])), tw_list("r"((u32)y_cast[0]), "r"((u32)y_cast_1[0])));
$ tilewright ir asm.py:halves --target cuda --arg x=zeros:f16[256] --arg z=zeros:f16[256] --arg N=256 | grep asm
  %12#r3 = asm<code="and.b32 $0, $1, 0x7fff7fff; // $$ 100%", constraints="=r, r"> %11
$ tilewright emit asm.py:halves --target cuda --arg x=zeros:f16[256] --arg z=zeros:f16[256] --arg N=256 -o . > /dev/null && grep tw_asm halves.cu
    tw_asm("and.b32 %0, %1, 0x7fff7fff; // $ 100%%", tw_list("=r"(y_asm[0])), tw_list("r"((u32)y_or[0])));
$ tilewright emit asm.py:both --target cuda --arg x=zeros:f32[128] --arg z=zeros:f32[128] --arg N=128 -o . > /dev/null && grep -B2 -A1 tw_asm both.cu
    f32 d[1];
    s[0] = (f32)v[0];
    tw_asm_act("{ add.f32 %0, %0, %2; sub.f32 %1, %0, %2; }", tw_list("+f"(s[0]), "=&f"(d[0])), tw_list("f"((f32)mul[0])));
    tw_sync();
$ tilewright run asm.py:halves --target cpu --arg x=zeros:f16[256] --arg z=zeros:f16[256] --arg N=256 --grid 1
asm.py:7:9: error: this is assembly of NVIDIA GPUs (PTX), which target cpu does not run; write it with operations of the language or of libdevice, or run the kernel on a GPU [assembly]
    7 |     y = tl.inline_asm_elementwise("and.b32 $0, $1, 0x7fff7fff; // $$ 100%", "=r, r", [tl.load(x + k)], dtype=tl.float16, is_pure=True, pack=2)
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright check asm.py:halves --target interp --arg x=zeros:f16[256] --arg z=zeros:f16[256] --arg N=256 --grid 1 2>&1 | head -1
asm.py:7:9: error: this is assembly of NVIDIA GPUs (PTX), which target interp does not run; write it with operations of the language or of libdevice, or run the kernel on a GPU [assembly]
$ tilewright run asm.py:halves --target cuda --emulate --arg x=zeros:f16[256] --arg z=zeros:f16[256] --arg N=256 --grid 1 2>&1 | head -1
asm.py:7:9: error: this is assembly of NVIDIA GPUs (PTX), which target cuda-emulated does not run; write it with operations of the language or of libdevice, or run the kernel on a GPU [assembly]
$ tilewright run asm.py:halves --sanitize --arg x=zeros:f16[256] --arg z=zeros:f16[256] --arg N=256 --grid 1 2>&1 | head -1
asm.py:7:9: error: this is assembly of NVIDIA GPUs (PTX), which target interp does not run; write it with operations of the language or of libdevice, or run the kernel on a GPU [assembly]
