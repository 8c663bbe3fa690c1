# Hints of an access: attributes in the IR, arguments of the text's functions, PTX's cache operators and eviction policies.
$ cat > hints.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def rows(x, y, z, n, B: tl.constexpr):
>     i = tl.program_id(0) * B + tl.arange(0, B)
>     a = tl.load(x + i, mask=i < n, other=1.0, eviction_policy='evict_first')
>     b = tl.load(y + i, mask=i < n, cache_modifier='.cg')
>     tl.store(z + i, a + b, mask=i < n, cache_modifier='.cs')
>
> @triton.jit
> def picked(x, at, z, B: tl.constexpr):
>     i = tl.arange(0, B)
>     v = tl.load(x + tl.load(at + i) * tl.load(at + B - 1 - i), eviction_policy='evict_last')
>     tl.store(z + tl.load(at), tl.load(x, cache_modifier='.ca') + tl.load(x + 1, cache_modifier='.cv'), eviction_policy='evict_first')
>     tl.store(z + 3 + i * 2, v, cache_modifier='.wt')
>
> @triton.jit
> def product(a, b, c, K, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
>     m = tl.program_id(0) * BM + tl.arange(0, BM)
>     n = tl.arange(0, BN)
>     k = tl.arange(0, BK)
>     acc = tl.zeros((BM, BN), tl.float32)
>     for first in range(0, K, BK):
>         x = tl.load(a + m[:, None] * stride + first + k[None, :], eviction_policy='evict_first')
>         w = tl.load(b + (first + k)[:, None] * BN + n[None, :], eviction_policy='evict_last')
>         acc = tl.dot(x, w, acc)
>     tl.store(c + m[:, None] * BN + n[None, :], acc.to(tl.float16), eviction_policy='evict_first')
>
> @triton.jit
> def wrong(x):
>     tl.store(x, tl.load(x, cache_modifier='.wb'), cache_modifier='.ca')
> END
$ tilewright ir hints.py:rows --target cuda --arg x=zeros:f32[1000] --arg y=zeros:f32[1000] --arg z=zeros:f32[1000] --arg n=1000 --arg B=512 | grep -E 'tload|tstore'
  %a#r0 = tload<fill=1.0, evict=first, along=0, vector=4, whole, hint=evict_first> %Tx, [%1] : f32[512]
  %b#r0 = tload<cache=cg, along=0, vector=4, whole, hint=cg> %Ty, [%1] : f32[512]
  tstore<cache=cs, along=0, vector=4, whole, hint=cs> %Tz, [%1], %2
$ tilewright emit hints.py:rows --target cuda --arg x=zeros:f32[1000] --arg y=zeros:f32[1000] --arg z=zeros:f32[1000] --arg n=1000 --arg B=512 -o . > /dev/null && grep 'TW_[CE]' rows.cu
        tw_ldg_hinted(4, (u32)i0 < (u32)n, a, x + i0, (f32)1.0f, TW_EVICT_FIRST);
        tw_ldg_hinted(4, (u32)i0 < (u32)n, b_1, y + i0, (f32)0.0f, TW_CG);
        tw_stg_hinted(4, (u32)i0 < (u32)n, z + i0, add, TW_CS);
$ tilewright emit hints.py:picked --target cuda --arg x=ones:f32[64] --arg at=ones:i32[32] --arg z=zeros:f32[70] --arg B=32 -o . > /dev/null && grep -o 'tw_.*TW_.*);' picked.cu
tw_ldg_hinted(1, true, &raw, v_ptr_add_1[0], raw, TW_EVICT_LAST);
tw_ldg_hinted(1, true, &raw_2, x + i0, raw_2, TW_CA);
tw_ldg_hinted(1, true, &raw_3, x + i0, raw_3, TW_CV);
tw_stg_hinted(1, true, ptr_add + i0, &word, TW_EVICT_FIRST);
tw_stg_hinted(1, (warp & 3) == 0, ptr_add_1 + i0 * 2, v, TW_WT);
$ tilewright emit hints.py:product --target cuda --arg a=ones:f16[256,256] --arg b=ones:f16[256,64] --arg c=zeros:f16[256,64] --arg K=256 --arg stride=256 --arg BM=64 --arg BN=64 --arg BK=64 -o . > /dev/null && tr -d '\n' < product.cu | grep -oE 'tw_(tma|cp|stg)[a-z_0-9]*\([^;]*TW_EVICT_[A-Z]*' | sed 's/(.*TW/ TW/' | sort -u
tw_tma_load_2d_hinted TW_EVICT_FIRST
tw_tma_load_2d_hinted TW_EVICT_LAST
tw_tma_multicast_2d_hinted TW_EVICT_LAST
tw_tma_store_2d_hinted TW_EVICT_FIRST
$ tilewright emit hints.py:product --target cuda:sm_80 --arg a=ones:f16[256,256] --arg b=ones:f16[256,64] --arg c=zeros:f16[256,64] --arg K=256 --arg stride=256 --arg BM=64 --arg BN=64 --arg BK=64 -o . > /dev/null && tr -d '\n' < product.cu | grep -oE 'tw_(tma|cp|stg)[a-z_0-9]*\([^;]*TW_EVICT_[A-Z]*' | sed 's/(.*TW/ TW/' | sort -u
tw_cp_async_hinted TW_EVICT_FIRST
tw_cp_async_hinted TW_EVICT_LAST
tw_stg_hinted TW_EVICT_FIRST
$ tilewright check hints.py:rows --target cuda --emulate --arg x=randn:f32[1000] --arg y=randn:f32[1000] --arg z=zeros:f32[1000] --arg n=1000 --arg B=512 --grid 2
x: f32[1000], max error 0: ok
y: f32[1000], max error 0: ok
z: f32[1000], max error 0: ok
$ tilewright check hints.py:picked --target cuda --emulate --arg x=randn:f32[64] --arg at=ones:i32[32] --arg z=zeros:f32[70] --arg B=32 --grid 1
x: f32[64], max error 0: ok
at: i32[32], max error 0: ok
z: f32[70], max error 0: ok
$ tilewright check hints.py:product --target cuda --emulate --arg a=randn:f16[256,256] --arg b=randn:f16[256,64] --arg c=zeros:f16[256,64] --arg K=256 --arg stride=256 --arg BM=64 --arg BN=64 --arg BK=64 --grid 4
a: f16[256, 256], max error 0: ok
b: f16[256, 64], max error 0: ok
c: f16[256, 64], max error 0.0156 at [6, 6] (31.5, interpreted 31.484375): ok
$ tilewright check hints.py:product --target cuda:sm_80 --emulate --arg a=randn:f16[256,256] --arg b=randn:f16[256,64] --arg c=zeros:f16[256,64] --arg K=256 --arg stride=256 --arg BM=64 --arg BN=64 --arg BK=64 --grid 4
a: f16[256, 256], max error 0: ok
b: f16[256, 64], max error 0: ok
c: f16[256, 64], max error 0.0156 at [6, 6] (31.5, interpreted 31.484375): ok
$ tilewright check hints.py:rows --target cpu --arg x=randn:f32[1000] --arg y=randn:f32[1000] --arg z=zeros:f32[1000] --arg n=1000 --arg B=512 --grid 2
x: f32[1000], max error 0: ok
y: f32[1000], max error 0: ok
z: f32[1000], max error 0: ok
$ tilewright run hints.py:wrong --arg x=zeros:f32[1] --grid 1
hints.py:32:43: error: tl.load wants one of '.ca', '.cg', '.cv', '.cs', here is the string '.wb' [argument]
   32 |     tl.store(x, tl.load(x, cache_modifier='.wb'), cache_modifier='.ca')
      |                                           ^~~~~
[1]
