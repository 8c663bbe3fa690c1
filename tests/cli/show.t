# emit, ir, explain, docs.
$ cat > twice.ir <<'END'
> kernel @twice(%x: *f32, %n: i32) {
>   %i = iota<0, 8>
>   %m = cmp<lt> %i, %n
>   %p = ptr_add %x, %i
>   %a = load %p, %m
>   %b = add %a, %a
>   store %p, %b, %m
>   return
> }
> END
$ tilewright ir twice.ir
kernel @twice(%x: *f32, %n: i32) {
  require<least=0> %n
  %Tx = tensor %x, [%n], [1]
  %a = tload %Tx, [0] : f32[8]
  %b = add %a, %a
  tstore %Tx, [0], %b
}
$ tilewright ir twice.ir --print-after
// after source
kernel @twice(%x: *f32, %n: i32) {
  %i = iota<0, 8>
  %m = cmp<lt> %i, %n
  %p = ptr_add %x, %i
  %a = load %p, %m
  %b = add %a, %a
  store %p, %b, %m
}

// after access
kernel @twice(%x: *f32, %n: i32) {
  require<least=0> %n
  %Tx = tensor %x, [%n], [1]
  %a = tload %Tx, [0] : f32[8]
  %b = add %a, %a
  tstore %Tx, [0], %b
}
$ tilewright ir twice.ir --passes=fold
kernel @twice(%x: *f32, %n: i32) {
  %i = iota<0, 8>
  %m = cmp<lt> %i, %n
  %p = ptr_add %x, %i
  %a = load %p, %m
  %b = add %a, %a
  store %p, %b, %m
}
$ tilewright ir twice.ir --stop-after=fould
error: `fould` is not a pass; the passes are fold, ...
[1]
$ tilewright ir twice.ir --print-after=ring_of_fire
error: `ring_of_fire` is not a pass that ran
[1]
$ tilewright explain twice.ir --json
[
  {"finding": "load-box", "subject": "load", "file": "twice.ir", "line": 5, "column": 4, "text": "box f32[8] of x[n], strides [1], at [0]; outside 0; contiguous"},
  {"finding": "store-box", "subject": "store", "file": "twice.ir", "line": 7, "column": 3, "text": "box f32[8] of x[n], strides [1], at [0]; contiguous"},
  {"finding": "launch-requires", "subject": "launch", "file": "twice.ir", "line": 1, "column": 1, "requires": "n >= 0", "text": "requires n >= 0; else a general variant runs"},
  {"finding": "boxes", "subject": "access", "file": "twice.ir", "line": 1, "column": 1, "boxes": 2, "accesses": 2, "text": "2 of 2 accesses through pointers are boxes"},
  {"finding": "execution", "subject": "execution", "file": "twice.ir", "line": 1, "column": 1, "form": "flat", "why": "this machine gains nothing from loads that run ahead", "text": "flat: this machine gains nothing from loads that run ahead"}
]
$ tilewright explain twice.ir
twice.ir:5:4: load: box f32[8] of x[n], strides [1], at [0]; outside 0; contiguous
twice.ir:7:3: store: box f32[8] of x[n], strides [1], at [0]; contiguous
twice.ir:1:1: launch: requires n >= 0; else a general variant runs
twice.ir:1:1: access: 2 of 2 accesses through pointers are boxes
twice.ir:1:1: execution: flat: this machine gains nothing from loads that run ahead
$ tilewright emit twice.ir
/* Made by Tilewright from kernel @twice. */
#include "cpu.h"

void tw_run(TwLaunch *launch, i64 begin, i64 end, u8 *scratch) {
    const u64 *const args = launch->args;
    f32 *const x = (f32 *)args[0];
    const i32 n = (i32)args[1];
    for (i64 program = begin; program < end; program++) {
        const i32 pid0 = (i32)(program % launch->grid[0]);
        const i32 pid1 = (i32)(program / launch->grid[0] % launch->grid[1]);
        const i32 pid2 = (i32)(program / launch->grid[0] / launch->grid[1]);
        // 5: %a = load %p, %m
        const i64 Tx_e0 = n;
        const i64 a_in_hi0 = tw_min_i64(8, Tx_e0);
        f32 *a_in_p = x;
        const i32 a_in_full = a_in_hi0 == 8;
        // 6: %b = add %a, %a
        // 7: store %p, %b, %m
        const i64 b_out_hi0 = tw_min_i64(8, Tx_e0);
        f32 *const b_out_p = x;
        const i32 b_out_full = b_out_hi0 == 8;
        if (TW_UNLIKELY(!((tw_apart(a_in_p, a_in_p + 7 + 1, b_out_p, b_out_p + 7 + 1) || (a_in_p == b_out_p))))) {
            f32 *const a = (f32 *)(scratch + 0);
            TW_SHORT for (i64 i0 = 0; i0 < 8; i0++) {
                TW_RARE;
                const f32 a_1 = i0 < a_in_hi0 ? a_in_p[i0] : 0;
                a[i0] = a_1;
            }
            a_in_p = a;
        }
        if (a_in_full && b_out_full) {
            TW_SHORT TW_VECTOR for (i64 i0 = 0; i0 < 8; i0++) {
                const f32 a_2 = a_in_p[i0];
                const f32 b = (a_2 + a_2);
                b_out_p[i0] = b;
            }
        } else {
            TW_SHORT TW_VECTOR for (i64 i0 = 0; i0 < b_out_hi0; i0++) {
                const f32 a_3 = i0 < a_in_hi0 ? a_in_p[i0] : 0;
                const f32 b_1 = (a_3 + a_3);
                b_out_p[i0] = b_1;
            }
        }
    }
}
$ tilewright emit twice.ir -o out && ls out
out/twice.c
out/cpu.h
out/report.txt
cpu.h
report.txt
twice.c
$ tilewright emit twice.ir -o twice.ir/out
error: twice.ir/out cannot be made: Not a directory
[1]
$ tilewright emit twice.ir --target interp
error: target interp emits nothing
[1]
$ tilewright check twice.ir
twice compiles for cpu
$ tilewright docs ops | head -3
# Operations of Tile IR

Made from `src/ir/ops.def` by `make bless`; do not edit. Operands: `x` scalar or tile, `a` number, `w` integer or i1, `i` integer, `f` float, `c` i1, `p` pointer, `n` integer scalar, `t` tensor, `b` buffer, `r` ring, `s` slot, `k` barrier; equal letters share an element type; `?` may be absent, `*` any number, `[..]` a list. Traits: P pure, E elementwise, R reads, W writes, S synchronises or speaks, X ends a region, N has regions.
$ tilewright docs nothing
error: there is no page `nothing`; there are ops, options, ...
[1]
$ echo 'kernel @k() { %x = spmm 4 }' > bad.ir; tilewright ir bad.ir
bad.ir:1:20: error: `spmm` is no operation of Tile IR; did you mean `spmd`? [ir-unknown-op]
    1 | kernel @k() { %x = spmm 4 }
      |                    ^~~~
[1]
$ echo 'kernel @k(%n: i32) { print<message="n is"> %n ; return }' > print.ir; tilewright run print.ir --target interp --arg n=7 --grid 2
pid (0, 0, 0) idx () n is: 7
pid (1, 0, 0) idx () n is: 7
$ tilewright run print.ir --arg n=7 --grid 2
pid (0, 0, 0) idx () n is: 7
pid (1, 0, 0) idx () n is: 7
$ cat > assert.ir <<'END'
> kernel @k(%n: i32) {
>   %p = program_id<0>
>   %ok = cmp<lt> %p, %n
>   assert<message="too many programs"> %ok
>   return
> }
> END
$ tilewright run assert.ir --arg n=3 --grid 3
$ tilewright run assert.ir --arg n=3 --grid 2,2 --set threads=1
$ tilewright run assert.ir --arg n=1 --grid 2,2 --set threads=1
assert.ir:4:3: error: assertion failed (program (1, 0, 0)): too many programs [assertion]
    4 |   assert<message="too many programs"> %ok
      |   ^~~~~~
[1]
$ tilewright run assert.ir --arg n=1 --grid 2 --target interp
assert.ir:4:3: error: assertion failed (program (1, 0, 0), element []): too many programs [assertion]
    4 |   assert<message="too many programs"> %ok
      |   ^~~~~~
[1]
#! An emitter says which form it takes; a kernel that did not come so far is refused.
$ cp $ROOT/kernels/triton/add.py .
$ for passes in '--target cuda --stop-after access' '--target tenstorrent --passes fold' '--passes fold,layout' '--target cuda --passes access,ring'; do tilewright emit add.py --arg x_ptr=zeros:f32[64] --arg y_ptr=zeros:f32[64] --arg output_ptr=zeros:f32[64] --arg n_elements=64 --arg BLOCK_SIZE=64 $passes; echo $?; done
add.py:6:1: error: target cuda takes a kernel in schedule form, `add_kernel` is in access form; do not leave out the passes up to `schedule` [form]
    6 | def add_kernel(
      | ^~~~~~~~~~~~~~~
1
add.py:6:1: error: target tenstorrent takes a kernel in ring form, `add_kernel` is in source form; do not leave out the passes up to `ring` [form]
    6 | def add_kernel(
      | ^~~~~~~~~~~~~~~
1
add.py:6:1: error: layout takes a kernel in ring form, `add_kernel` is in source form; do not leave out the passes up to `ring` [form]
    6 | def add_kernel(
      | ^~~~~~~~~~~~~~~
1
add.py:6:1: error: target cuda takes a kernel in schedule form, `add_kernel` is in ring form; do not leave out the passes up to `schedule` [form]
    6 | def add_kernel(
      | ^~~~~~~~~~~~~~~
1
#! launch.cuh asks for all that was taken for granted: every value of a requirement, and of two bounds of one value the higher.
$ tilewright emit $ROOT/kernels/triton/matmul.py --target cuda --arg 'a_ptr=*f16' --arg 'b_ptr=*f16' --arg 'c_ptr=*f16' --arg M=i32 --arg N=i32 --arg K=i32 --arg stride_am=i32 --arg stride_ak=i32 --arg stride_bk=i32 --arg stride_bn=i32 --arg stride_cm=i32 --arg stride_cn=i32 --arg BM=128 --arg BN=128 --arg BK=64 -o mm >/dev/null; grep -o '((\(stride_.[kn]\|[MNK]\)) [^%]*) return' mm/launch.cuh | sort
((K) < 1LL) return
((M) < 1LL) return
((N) < 1LL) return
((stride_ak) != 1LL) return
((stride_bk) < 1LL) return
((stride_bn) != 1LL) return
((stride_cn) != 1LL) return
