# requires: g++
# Loops that do not end, or take longer than anyone waits: each simulator has a budget and says where everybody stands.
$ cat > loops.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def spin(x, n):
>     i = 0
>     while i < n:
>         i = i * 1
>     tl.store(x, i)
>
> @triton.jit
> def count(x, n):
>     i = 0
>     while i != n:
>         i += 2
>     tl.store(x, i)
>
> @triton.jit
> def lock(x, n):
>     while tl.atomic_cas(x, 0, 1) == 1:
>         pass
>     tl.store(x + 1, n)
>
> @triton.jit
> def tiles(x, n, B: tl.constexpr):
>     r = tl.arange(0, B)
>     i = 0
>     s = tl.zeros((B,), tl.float32)
>     while i < n:
>         v = tl.load(x + r)
>         s = s * 0.5 + tl.sum(v) + v
>         tl.store(x + r, s)
>     tl.store(x + r, s)
>
> @triton.jit
> def long(x, n):
>     s = 0
>     for i in range(n):
>         s = s * 3 + i
>     tl.store(x, s)
> END
#! A variable that never changes; one that steps over its end; a lock that nobody gives back; tiles; a count of 2^31.
$ tilewright run loops.py:spin --arg x=zeros:i32[4] --arg n=3 --grid 2 --target interp --max-steps 100000
loops.py:7:5: error: stopped after 100000 element operations (program (0, 0, 0)); allow more, or look for a loop that does not end [budget]
    7 |     while i < n:
      |     ^~~~~~~~~~~~
[1]
$ tilewright run loops.py:count --arg x=zeros:i32[4] --arg n=3 --grid 2 --sanitize --max-steps 100000
loops.py:14:5: error: stopped after 100000 element operations (program (0, 0, 0)); allow more, or look for a loop that does not end [budget]
   14 |     while i != n:
      |     ^~~~~~~~~~~~~
[1]
$ tilewright run loops.py:lock --arg x=ones:i32[4] --arg n=3 --grid 2 --sanitize --max-steps 100000
loops.py:20:5: error: stopped after 100000 element operations (program (0, 0, 0)); allow more, or look for a loop that does not end [budget]
   20 |     while tl.atomic_cas(x, 0, 1) == 1:
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run loops.py:tiles --arg x=ones:f32[64] --arg n=3 --arg B=64 --grid 1 --target interp --max-steps 100000
loops.py:32:18: error: stopped after 100000 element operations (program (0, 0, 0)); allow more, or look for a loop that does not end [budget]
   32 |         tl.store(x + r, s)
      |                  ^~~~~
[1]
$ tilewright run loops.py:long --arg x=zeros:i32[4] --arg n=2147483647 --grid 1 --target interp --max-steps 100000
loops.py:38:5: error: stopped after 100000 element operations (program (0, 0, 0)); allow more, or look for a loop that does not end [budget]
   38 |     for i in range(n):
      |     ^~~~~~~~~~~~~~~~~~
[1]
#! The emulator counts turns of loops, accesses and switches of threads.
$ tilewright run loops.py:spin --arg x=zeros:i32[4] --arg n=3 --grid 2 --target cuda --emulate --max-steps 100000000
error: kernel `spin` on the emulator: endless: kernel spin, block (0, 0, 0): the block has used 100 million steps since it last wrote anything new: a loop that does not end, or more work than option max_steps allows; thread 0 runs at spin.cu:...
  threads 0 wait for their turn; they were last seen at spin.cu:...
  threads 1-127 wait for their turn
[1]
$ tilewright run loops.py:count --arg x=zeros:i32[4] --arg n=3 --grid 2 --target cuda --emulate --max-steps 100000000
error: kernel `count` on the emulator: endless: kernel count, block (0, 0, 0): the block has used 100 million steps since it last wrote anything new: a loop that does not end, or more work than option max_steps allows; thread 0 runs at count.cu:...
  threads 0 wait for their turn; they were last seen at count.cu:...
  threads 1-127 wait for their turn
[1]
$ tilewright run loops.py:lock --arg x=ones:i32[4] --arg n=3 --grid 2 --target cuda --emulate --max-steps 100000000
error: kernel `lock` on the emulator: endless: kernel lock, block (0, 0, 0): the block has used 100 million steps since it last wrote anything new: a loop that does not end, or more work than option max_steps allows; thread 0 runs at lock.cu:...
  threads 0 wait for their turn; they were last seen at lock.cu:...
  threads 1-126 wait for their turn
  threads 127 wait for barrier 0 at lock.cu:...: 1 of 128 threads are there
[1]
$ tilewright run loops.py:tiles --arg x=ones:f32[64] --arg n=3 --arg B=64 --grid 1 --target cuda --emulate --max-steps 100000000
error: kernel `tiles` on the emulator: endless: kernel tiles, block (0, 0, 0): the block has used 100 million steps since it last wrote anything new: a loop that does not end, or more work than option max_steps allows; thread 31 runs at tiles.cu:...
...
[1]
$ tilewright run loops.py:long --arg x=zeros:i32[4] --arg n=2147483647 --grid 1 --target cuda:sm_80 --emulate --max-steps 100000000
error: kernel `long` on the emulator: endless: kernel long, block (0, 0, 0): the block has used 100 million steps since it last wrote anything new: a loop that does not end, or more work than option max_steps allows; thread 0 runs at long.cu:...
  threads 0 wait for their turn; they were last seen at long.cu:...
  threads 1-127 wait for their turn
[1]
#! A negative or small bound ends at once.
$ tilewright run loops.py:spin --arg x=ones:i32[4] --arg n=-1 --grid 1 --target cuda --emulate
x: i32[4], 1 of 4 elements changed
$ tilewright run loops.py:long --arg x=ones:i32[4] --arg n=-5 --grid 1 --target cuda --emulate
x: i32[4], 1 of 4 elements changed
#! The model of Tenstorrent names each kernel of a core.
$ cat > sums.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def long(x, y, n, M: tl.constexpr):
>     r = tl.arange(0, M)
>     c = tl.arange(0, M)
>     s = tl.zeros((M, M), tl.float32)
>     for i in range(n):
>         s += tl.load(x + r[:, None] * M + c[None, :], mask=(r[:, None] < M) & (c[None, :] < M), other=0.0)
>     tl.store(y + r[:, None] * M + c[None, :], s, mask=(r[:, None] < M) & (c[None, :] < M))
>
> @triton.jit
> def idle(x, y, n, M: tl.constexpr):
>     r = tl.arange(0, M)
>     c = tl.arange(0, M)
>     k = 1
>     for i in range(n):
>         k = k * 3 + i
>     s = tl.load(x + r[:, None] * M + c[None, :], mask=(r[:, None] < M) & (c[None, :] < M), other=0.0) + k.to(tl.float32)
>     tl.store(y + r[:, None] * M + c[None, :], s, mask=(r[:, None] < M) & (c[None, :] < M))
> END
$ tilewright run sums.py:long --arg x=ones:f32[32,32] --arg y=zeros:f32[32,32] --arg n=2147483647 --arg M=32 --grid 1 --target tenstorrent --max-steps 300000000
error: kernel `long` on the functional model: endless: the kernels have used 300 million steps since they last wrote to DRAM: a loop that does not end, or more work than option max_steps allows
    core (0,0) reader kernel reader.cpp:...: runs; a loop of it was last seen in line ...
    core (0,0) writer kernel writer.cpp:...: cb_wait_front(16, 1): CB 16 holds 0 of 2 pages (pushed ...
    core (0,0) compute kernel compute.cpp:...: cb_wait_front(0, 1): CB 0 holds 1 of 3 pages (pushed ...
[1]
$ tilewright run sums.py:idle --arg x=ones:f32[32,32] --arg y=zeros:f32[32,32] --arg n=2147483647 --arg M=32 --grid 1 --target tenstorrent --max-steps 300000000
error: kernel `idle` on the functional model: endless: the kernels have used 302 million steps since they last wrote to DRAM: a loop that does not end, or more work than option max_steps allows
    core (0,0) writer kernel writer.cpp:...: cb_wait_front(16, 1): CB 16 holds 0 of 2 pages (pushed ...
    core (0,0) compute kernel compute.cpp:...: runs; a loop of it was last seen in line ...
[1]
$ tilewright run sums.py:long --arg x=ones:f32[32,32] --arg y=zeros:f32[32,32] --arg n=-1 --arg M=32 --grid 1 --target tenstorrent
note: ran on the functional model of a wormhole grid, 1 of 64 cores; no card is used
DRAM: 0 bytes read, 4096 written; between cores 0, of them multicast 0 bytes sent once
cycles, estimated: 888; the busiest math unit needs 168, DRAM 14: 5.29 times the larger
tiles: 0 products, 2 packed; DST: 1 of 4 slots
cb_in            0 of 3 pages; waits at most 0 cycles for pages, 0 for space
cb_out           1 of 2 pages; waits at most 480 cycles for pages, 0 for space
cb_zeros         0 of 1 pages; waits at most 0 cycles for pages, 0 for space
cb_sum_s         1 of 1 pages; waits at most 200 cycles for pages, 0 for space
tasks of each core, row by row:
       x0
  y0   0 
cycles/tiles of each core:
       x0    
  y0   888/2 
no array changed
#! Tensors that no memory holds (a stride of 0 makes any extent possible) are refused before a page of them is made; strides are any numbers.
$ cat > wide.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def wide(x, y, rows, columns, step, across, M: tl.constexpr):
>     r = tl.arange(0, M)
>     s = tl.zeros((M, M), tl.float32)
>     for i in range(0, columns, M):
>         c = i + tl.arange(0, M)
>         s += tl.load(x + r[:, None] * step + c[None, :] * across, mask=(r[:, None] < rows) & (c[None, :] < columns), other=0.0)
>     c = tl.arange(0, M)
>     tl.store(y + r[:, None] * M + c[None, :], s, mask=(r[:, None] < M) & (c[None, :] < M))
> END
$ for numbers in "20000000 32 1" "2000000000 32 1" "9223372036854775807 32 1" "32 32 4611686018427387904" "32 9223372036854775807 1" "32 32 -9223372036854775807"; do set -- $numbers; timeout 10 tilewright run wide.py --target tenstorrent --arg x=ones:f32[32] --arg y=zeros:f32[32,32] --arg columns=$1 --arg rows=$2 --arg step=$3 --arg across=0 --arg M=32 --grid 1 2>&1 | cut -c1-140; done
error: kernel `wide`: argument `x`: the kernel's tensor has more than 2^18 pages
error: kernel `wide`: argument `x`: the kernel's tensor has more than 2^18 pages
error: kernel `wide`: argument `x`: the kernel's tensor has more than 2^18 pages
error: kernel `wide`: argument `x`: the kernel's tensor spans more bytes than there are addresses
error: kernel `wide`: argument `x`: the kernel's tensor spans more bytes than there are addresses
error: kernel `wide`: argument `x`: the kernel's tensor spans more bytes than there are addresses
