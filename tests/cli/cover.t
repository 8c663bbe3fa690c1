# A loop that loads for itself and begins with a product: the product is issued, then the copies of the trips ahead, then it is waited for.
$ cat > rows.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def picked(x, at, w, y, K, B: tl.constexpr, BK: tl.constexpr):
>     i = tl.arange(0, B)
>     rk = tl.arange(0, BK)
>     rows = tl.program_id(0) * B + i
>     picks = tl.load(at + rows)
>     acc = tl.zeros((B, B), tl.float32)
>     for k in range(0, K, BK):
>         a = tl.load(x + picks[:, None] * K + k + rk[None, :], mask=(picks >= 0)[:, None], other=0.0)
>         b = tl.load(w + (k + rk)[:, None] * B + i[None, :])
>         acc = tl.dot(a, b, acc)
>     tl.store(y + rows[:, None] * B + i[None, :], acc.to(tl.float16))
> END
$ cat > args <<'END'
> --arg x=randn:f16[2,256] --arg at=zeros:i32[128] --arg w=randn:f16[256,64] --arg y=zeros:f16[128,64] --arg K=256 --arg B=64 --arg BK=64 --set roles=off
> END
$ tilewright ir rows.py --target cuda $(cat args) > rows.ir && grep -E 'ahead=|dot' rows.ir
      %acc_1#r2 = for<unroll=1, twin=1, ahead=2, sync=within> %k = 0, %0, 1 (%acc_2#r2 = %acc) {
        %acc_3#r2 = dot<instr=wgmma, grid=[1,1], covers, width=64> %a, %b, %acc_2
$ tilewright emit rows.py --target cuda $(cat args) -o . > /dev/null && sed -n '/unroll 1$/,/settle/p' picked.cu | grep -oE 'tw_(sync|wgmma_[a-z]+|cp_async[a-z_]*)\('
tw_cp_async_wait(
tw_sync(
tw_wgmma_fence(
tw_wgmma_commit(
tw_cp_async(
tw_cp_async(
tw_cp_async_commit(
tw_wgmma_wait(
tw_wgmma_settle(
$ tilewright check rows.py --target cuda --emulate $(cat args) --grid 2
x: f16[2, 256], max error 0: ok
at: i32[128], max error 0: ok
w: f16[256, 64], max error 0: ok
y: f16[128, 64], max error 0: ok
$ sed 's/ahead=[0-9]*, //' rows.ir > behind.ir && tilewright emit behind.ir --target cuda -o . 2>&1 | grep error
behind.ir:44:10: error: `dot`: a product `covers` the loads of its loop where it comes first, runs beside the threads, and they are copies that run ahead, or where it is the last one and they come through registers [ir-invalid]
