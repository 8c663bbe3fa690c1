# What a loop of rows loads ahead does not wait for what is loaded before the loop: that is loaded behind the first rows, unless the loop's header needs it or something writes in between.
$ cat > rows.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def weighed(x, w, y, sums, rows, B: tl.constexpr, KEPT: tl.constexpr, WRITES: tl.constexpr):
>     i = tl.arange(0, B)
>     scale = tl.load(w + i).to(tl.float32)
>     total = tl.load(sums + i) if KEPT else tl.zeros((B,), tl.float32)
>     if WRITES:
>         tl.store(sums + i, total)
>     for row in range(0, rows):
>         v = tl.load(x + row * B + i).to(tl.float32) * scale
>         total += v
>         tl.store(y + row * B + i, (v / tl.sum(v * v, axis=0)).to(tl.bfloat16))
>     tl.store(sums + i, total)
> END
$ cat > args <<'END'
> --target cuda --arg x=randn:bf16[7,1024] --arg w=randn:bf16[1024] --arg y=zeros:bf16[7,1024] --arg sums=ones:f32[1024] --arg rows=7 --arg B=1024 --set num_warps=8
> END
$ tilewright ir rows.py $(cat args) --arg KEPT=false --arg WRITES=false > rows.ir && grep -B2 'later=' rows.ir | grep -oE ' = (tload|cast|for)|later=.'
 = tload
 = cast
 = for
later=2
$ tilewright emit rows.py $(cat args) --arg KEPT=false --arg WRITES=false -o . > /dev/null && grep -oE 'tw_(cp_async|cp_async_commit|sync_warp|ldg)\(|for \(i32' weighed.cu | head -5
tw_cp_async(
tw_cp_async_commit(
tw_sync_warp(
tw_ldg(
for (i32
$ tilewright ir rows.py $(cat args) --arg KEPT=true --arg WRITES=false | grep -o 'later=[0-9]*'
later=2
$ tilewright ir rows.py $(cat args) --arg KEPT=true --arg WRITES=true | grep -o 'later=[0-9]*'
later=1
$ for kept in false true; do for writes in false true; do tilewright check rows.py --emulate $(cat args) --arg KEPT=$kept --arg WRITES=$writes --grid 1 | grep -c ok; done; done
4
4
4
4
$ sed 's/later=[0-9]*/later=9/' rows.ir > far.ir && tilewright emit far.ir --target cuda -o . 2>&1 | grep error
far.ir:33:8: error: `for`: `later` counts the loads and elementwise ops directly before a loop that loads ahead, in a kernel without products, none of which its header needs [ir-invalid]
