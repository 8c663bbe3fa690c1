# --sanitize: one kernel a kind of mistake, through calls, block pointers and descriptors too; and texts that mean harm.
$ cat > kinds.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def neighbour(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     left = tl.load(x_ptr + offs - 1, mask=(offs > 0) & (offs < n), other=0.0)
>     tl.store(x_ptr + offs, left, mask=offs < n)
>
> @triton.jit
> def mixed(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     tl.atomic_add(out_ptr, 1.0)
>     tl.store(out_ptr + 1, tl.load(out_ptr))
>
> @triton.jit
> def relaxed(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     tl.atomic_add(out_ptr + tl.program_id(0), 1.0, sem="relaxed")
>     tl.store(x_ptr + tl.program_id(0), tl.load(out_ptr))
>
> @triton.jit
> def counts(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.arange(0, BLOCK)
>     tl.atomic_add(out_ptr + offs % 8, tl.load(x_ptr + offs))
>
> @triton.jit
> def locked(x_ptr, out_ptr, lock_ptr, BLOCK: tl.constexpr):
>     while tl.atomic_cas(lock_ptr, 0, 1) == 1:
>         pass
>     offs = tl.arange(0, BLOCK)
>     tl.store(out_ptr + offs, tl.load(out_ptr + offs) + tl.load(x_ptr + offs))
>     tl.atomic_xchg(lock_ptr, 0)
>
> @triton.jit
> def early(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     tl.store(out_ptr + offs, tl.load(out_ptr + offs, mask=offs < n) + 1, mask=offs < n)
>
> @triton.jit
> def masked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     d = tl.load(x_ptr + offs, mask=offs < n, other=0.0).to(tl.int32) * 0 + (offs < n).to(tl.int32)
>     tl.store(out_ptr + offs, 100 // d, mask=offs < n)
>
> @triton.jit
> def modulo(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     tl.store(out_ptr + offs, offs % (n - 100), mask=offs < n)
>
> @triton.jit
> def other(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.arange(0, BLOCK)
>     tl.store(out_ptr + offs, tl.load(x_ptr + n + offs))
>
> @triton.jit
> def crooked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     bytes = (x_ptr.to(tl.int64, bitcast=True) + 2).to(tl.pointer_type(tl.float32), bitcast=True)
>     tl.store(out_ptr + tl.program_id(0), tl.load(bytes + tl.program_id(0)))
>
> @triton.jit
> def wild(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     p = (tl.program_id(0).to(tl.int64) * 1234567).to(tl.pointer_type(tl.float32), bitcast=True)
>     tl.store(p + tl.arange(0, BLOCK), 1.0)
>     tl.atomic_add(p, 1.0)
>
> @triton.jit
> def far(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
>     tl.store(out_ptr + offs, 1.0, mask=offs + n * 30000000 < n)
>
> @triton.jit
> def endless(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     while tl.load(x_ptr) < 1e9:
>         tl.device_print("again")
>
> @triton.jit
> def inner(p, i):
>     return tl.load(p + i)
>
> @triton.jit
> def outer(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     for i in tl.static_range(3):
>         tl.store(out_ptr + tl.program_id(0), inner(x_ptr, 99 + i))
>
> @triton.jit
> def block(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     b = tl.make_block_ptr(x_ptr, (n + 8,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
>     x = tl.load(b, boundary_check=(0,))
>     o = tl.make_block_ptr(out_ptr, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
>     tl.store(o, x, boundary_check=(0,))
>
> @triton.jit
> def described(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
>     d = tl.make_tensor_descriptor(x_ptr, (n // 10 + 1, 10), (10, 1), (4, 16))
>     x = d.load((tl.program_id(0) * 4, 0))
>     tl.store(out_ptr + tl.program_id(0), tl.sum(x))
> END
$ echo --arg x_ptr=randn:f32[100] --arg out_ptr=empty:f32[100] --arg n=100 --arg BLOCK=64 --grid 2 --sanitize > args
$ tilewright run kinds.py:neighbour $(cat args)
kinds.py:7:12: error: program (1, 0, 0) reads what program (0, 0, 0) wrote (index 63 of `x_ptr`, element [0]); programs run in no order; use two kernels, two arrays, or an atomic that orders them [read-write-race]
    7 |     left = tl.load(x_ptr + offs - 1, mask=(offs > 0) & (offs < n), other=0.0)
      |            ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:mixed $(cat args | sed s/empty/zeros/)
kinds.py:12:5: error: program (1, 0, 0) updates by an atomic what program (0, 0, 0) read (index 0 of `out_ptr`, element []); use atomics for both [atomic-race]
   12 |     tl.atomic_add(out_ptr, 1.0)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~
kinds.py:13:5: error: program (1, 0, 0) writes what program (0, 0, 0) wrote (index 1 of `out_ptr`, element []); give each program its own places, or use an atomic [write-race]
   13 |     tl.store(out_ptr + 1, tl.load(out_ptr))
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:relaxed $(cat args | sed s/empty/zeros/)
kinds.py:18:40: error: program (1, 0, 0) reads what program (0, 0, 0) updated by an atomic (index 0 of `out_ptr`, element []); use atomics for both [atomic-race]
   18 |     tl.store(x_ptr + tl.program_id(0), tl.load(out_ptr))
      |                                        ^~~~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:counts $(cat args | sed s/empty/zeros/)
out_ptr: f32[100], 8 of 100 elements changed
$ tilewright run kinds.py:locked --arg x_ptr=randn:f32[64] --arg out_ptr=zeros:f32[64] --arg lock_ptr=zeros:i32[1] --arg BLOCK=64 --grid 9 --sanitize
out_ptr: f32[64], 64 of 64 elements changed
$ tilewright run kinds.py:early $(cat args)
kinds.py:36:30: error: this reads index 0 of `out_ptr`, which nothing wrote (program (0, 0, 0), element [0]); write it first (and 99 more here) [unwritten-read]
   36 |     tl.store(out_ptr + offs, tl.load(out_ptr + offs, mask=offs < n) + 1, mask=offs < n)
      |                              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:masked $(cat args)
out_ptr: f32[100], 100 of 100 elements changed
$ tilewright run kinds.py:modulo $(cat args)
kinds.py:47:30: error: integer division by zero (program (0, 0, 0), element [0]); the result is taken as 0, a remainder as the dividend (and 99 more here) [division-by-zero]
   47 |     tl.store(out_ptr + offs, offs % (n - 100), mask=offs < n)
      |                              ^~~~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:other $(cat args)
kinds.py:52:30: error: this access is out of bounds: index 100 of `x_ptr`, which has 100 elements (program (0, 0, 0), element [0]); mask it, or pass a larger buffer (and 127 more here) [out-of-bounds]
   52 |     tl.store(out_ptr + offs, tl.load(x_ptr + n + offs))
      |                              ^~~~~~~~~~~~~~~~~~~~~~~~~
kinds.py:52:5: error: program (1, 0, 0) writes what program (0, 0, 0) wrote (index 0 of `out_ptr`, element [0]); give each program its own places, or use an atomic (and 63 more here) [write-race]
   52 |     tl.store(out_ptr + offs, tl.load(x_ptr + n + offs))
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:crooked $(cat args)
kinds.py:57:42: error: this access of 4 bytes is at byte 2 of `x_ptr`, which is no multiple of them (program (0, 0, 0), element []); align the pointer before it is cast (and 1 more here) [misaligned]
   57 |     tl.store(out_ptr + tl.program_id(0), tl.load(bytes + tl.program_id(0)))
      |                                          ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:wild $(cat args)
kinds.py:62:5: error: this access is out of bounds: ... bytes ... of `...` (program (0, 0, 0), element [0]); mask it, or pass a larger buffer (and 127 more here) [out-of-bounds]
   62 |     tl.store(p + tl.arange(0, BLOCK), 1.0)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
kinds.py:63:5: error: this access is out of bounds: ... bytes ... of `...` (program (0, 0, 0), element []); mask it, or pass a larger buffer (and 1 more here) [out-of-bounds]
   63 |     tl.atomic_add(p, 1.0)
      |     ^~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:far $(cat args)
kinds.py:68:5: error: the mask of this access comes from arithmetic that overflowed (program (0, 0, 0), element [0]); widen the numbers to 64 bits before they are multiplied or added (and 127 more here) [offset-overflow]
   68 |     tl.store(out_ptr + offs, 1.0, mask=offs + n * 30000000 < n)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
kinds.py:68:5: error: this access is out of bounds: index 100 of `out_ptr`, which has 100 elements (program (1, 0, 0), element [36]); mask it, or pass a larger buffer (and 27 more here) [out-of-bounds]
   68 |     tl.store(out_ptr + offs, 1.0, mask=offs + n * 30000000 < n)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:endless $(cat args) --max-steps 20
pid (0, 0, 0) again
pid (0, 0, 0) again
kinds.py:72:11: error: stopped after 20 element operations (program (0, 0, 0)); allow more, or look for a loop that does not end [budget]
   72 |     while tl.load(x_ptr) < 1e9:
      |           ^~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:outer $(cat args)
kinds.py:77:12: error: this access is out of bounds: index 100 of `x_ptr`, which has 100 elements (program (0, 0, 0), element []); mask it, or pass a larger buffer (and 3 more here) [out-of-bounds]
   77 |     return tl.load(p + i)
      |            ^~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:block $(cat args)
kinds.py:87:9: error: this access is out of bounds: index 100 of `x_ptr`, which has 100 elements (program (1, 0, 0), element [36]); mask it, or pass a larger buffer (and 7 more here) [out-of-bounds]
   87 |     x = tl.load(b, boundary_check=(0,))
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
#! Without --sanitize the first one ends the launch, at the same element.
$ tilewright run kinds.py:block $(cat args | sed s/--sanitize//) --target interp
kinds.py:87:9: error: this access is out of bounds: index 100 of `x_ptr`, which has 100 elements (program (1, 0, 0), element [36]); mask it, or pass a larger buffer [out-of-bounds]
   87 |     x = tl.load(b, boundary_check=(0,))
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run kinds.py:described $(cat args) --grid 3
kinds.py:94:9: error: this access is out of bounds: index 100 of `x_ptr`, which has 100 elements (program (2, 0, 0), element [2, 0]); mask it, or pass a larger buffer (and 9 more here) [out-of-bounds]
   94 |     x = d.load((tl.program_id(0) * 4, 0))
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
#! The same through the environment, for programs that know nothing of it.
$ TILEWRIGHT_SANITIZE=1 tilewright run kinds.py:early --arg x_ptr=randn:f32[100] --arg out_ptr=empty:f32[100] --arg n=100 --arg BLOCK=64 --grid 2 2>&1 | head -1
kinds.py:36:30: error: this reads index 0 of `out_ptr`, which nothing wrote (program (0, 0, 0), element [0]); write it first (and 99 more here) [unwritten-read]
#! Texts that mean harm: much memory, much work, a grid without end.
$ cat > harm.ir <<'END'
> kernel @big(%x: *f32) {
>   for %i = 0, 1000000000, 1 {
>     for %j = 0, 1000000000, 1 {
>       %t = iota<0, 1048576> ; %p = ptr_add %x, %t ; %v = load %p ; store %p, %v } }
>   return }
> kernel @many(%x: *f32) {
>   %p = program_id<0> ; %q = ptr_add %x, %p ; store %q, 1.0
>   return }
> END
$ tilewright run harm.ir:big --arg x=zeros:f32[4] --grid 1 --sanitize --max-steps 10000000
harm.ir:4:54: error: this access is out of bounds: index 4 of `x`, which has 4 elements (program (0, 0, 0), element [4]); mask it, or pass a larger buffer (and 2097143 more here) [out-of-bounds]
    4 |       %t = iota<0, 1048576> ; %p = ptr_add %x, %t ; %v = load %p ; store %p, %v } }
      |                                                      ^~~~~~~~
harm.ir:4:68: error: this access is out of bounds: index 4 of `x`, which has 4 elements (program (0, 0, 0), element [4]); mask it, or pass a larger buffer (and 2097143 more here) [out-of-bounds]
    4 |       %t = iota<0, 1048576> ; %p = ptr_add %x, %t ; %v = load %p ; store %p, %v } }
      |                                                                    ^~~~~
harm.ir:4:32: error: stopped after 10000000 element operations (program (0, 0, 0)); allow more, or look for a loop that does not end [budget]
    4 |       %t = iota<0, 1048576> ; %p = ptr_add %x, %t ; %v = load %p ; store %p, %v } }
      |                                ^~~~~~~~~~~
[1]
$ tilewright run harm.ir:many --arg x=zeros:f32[4] --grid 2147483647 --sanitize --max-steps 1000000
harm.ir:7:46: error: this access is out of bounds: index 4 of `x`, which has 4 elements (program (4, 0, 0), element []); mask it, or pass a larger buffer (and 124995 more here) [out-of-bounds]
    7 |   %p = program_id<0> ; %q = ptr_add %x, %p ; store %q, 1.0
      |                                              ^~~~~
harm.ir:6:1: error: stopped after 1000000 element operations (program (125000, 0, 0)); allow more, or look for a loop that does not end [budget]
    6 | kernel @many(%x: *f32) {
      | ^~~~~~~~~~~~
[1]
$ tilewright run harm.ir:many --arg x=zeros:f32[4] --grid 65536,65536 --sanitize
harm.ir:6:1: error: the interpreter does not run a grid of 2^31 programs or more [interp-limit]
    6 | kernel @many(%x: *f32) {
      | ^~~~~~~~~~~~
[1]
$ tilewright run harm.ir:many --arg x=zeros:f32[4] --grid 1 --sanitize --max-steps x
error: option max_steps takes an integer, not `x`
[1]
#! What is computed at compile time stays small too.
$ cat > grows.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def grows(x_ptr, KIND: tl.constexpr):
>     t: tl.constexpr = (1, 2) if KIND < 2 else "text"
>     for i in tl.static_range(100000):
>         if KIND == 0:
>             t = t + t
>         elif KIND == 1:
>             t = (t, t)
>         else:
>             t = f"{t}{t}"
>     tl.store(x_ptr, len(t))
> END
$ tilewright run grows.py --arg x_ptr=zeros:f32[1] --arg KIND=0 --grid 1 --sanitize
grows.py:9:17: error: this holds more than 4096 items, or tuples more than 200 deep in each other; compute less at compile time [too-long]
    9 |             t = t + t
      |                 ^~~~~
grows.py:8:12: error: the kernel takes more than 230000 steps to unroll; use range instead of tl.static_range [too-long]
    8 |         if KIND == 0:
      |            ^~~~~~~~~
[1]
$ tilewright run grows.py --arg x_ptr=zeros:f32[1] --arg KIND=1 --grid 1 --sanitize
grows.py:11:17: error: this holds more than 4096 items, or tuples more than 200 deep in each other; compute less at compile time [too-long]
   11 |             t = (t, t)
      |                 ^~~~~~
grows.py:11:13: error: the kernel takes more than 230000 steps to unroll; use range instead of tl.static_range [too-long]
   11 |             t = (t, t)
      |             ^~~~~~~~~~
[1]
$ tilewright run grows.py --arg x_ptr=zeros:f32[1] --arg KIND=2 --grid 1 --sanitize
grows.py:13:17: error: this text is longer than 65536 bytes; compute less at compile time [too-long]
   13 |             t = f"{t}{t}"
      |                 ^~~~~~~~~
grows.py:10:22: error: the kernel takes more than 230000 steps to unroll; use range instead of tl.static_range [too-long]
   10 |         elif KIND == 1:
      |                      ^
[1]
