# Faults of kernels on a GPU (run by `make check-gpu-faults`): each ends in a message that names kernel and launch, and the process lives.
$ cat > bad.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def trap(x, n):
>     i = tl.arange(0, 64)
>     v = tl.load(x + i)
>     tl.device_assert(v < n, "too large")
>     tl.store(x + i, v)
>
> @triton.jit
> def stray(x, n):
>     i = tl.arange(0, 64)
>     tl.store(x + i + n.to(tl.int64) * 1000000007, 1.0)
>
> @triton.jit
> def forever(x, n):
>     i = 0
>     while i < n:
>         i = tl.atomic_add(x, 0.0).to(tl.int32)
>     tl.store(x, i + 1.0)
> END
$ tilewright run bad.py:trap --target cuda --arg x=ones:f32[64] --arg n=1 --grid 2 2>&1 | grep '^error' | sed 's/CUDA_ERROR_[A-Z_]*: [^:]*/ERROR/'
error: kernel `trap` (launch 1, 2 x 1 x 1 blocks) failed on the GPU: ERROR: it trapped: ...
$ tilewright run bad.py:trap --target cuda --arg x=ones:f32[64] --arg n=1 --grid 2 2>&1 | grep -m1 -o 'bad.py:8: .*'
bad.py:8: assertion failed: too large
$ tilewright run bad.py:stray --target cuda --arg x=ones:f32[64] --arg n=1000 --grid 3
error: kernel `stray` (launch 1, 3 x 1 x 1 blocks) failed on the GPU: CUDA_ERROR_ILLEGAL_ADDRESS: ...
[1]
$ TILEWRIGHT_GPU_TIMEOUT=2 timeout 30 tilewright run bad.py:forever --target cuda --arg x=zeros:f32[64] --arg n=1 --grid 1
error: kernel `forever` (launch 1, 1 x 1 x 1 blocks) failed on the GPU: it has not ended after 2 seconds ...
[1]
#! The next process finds the GPU as it was.
$ tilewright run bad.py:trap --target cuda --arg x=zeros:f32[64] --arg n=1 --grid 2
no array changed
#! More memory than any GPU has.
$ cat > large.c <<'END'
> #include "tilewright.h"
> #include <stdio.h>
> int main(void) {
>     tw_context *cx = NULL;
>     tw_buffer *buffer = NULL;
>     tw_buffer_options options;
>     int64_t n = (int64_t)1 << 44, few = 64;
>     tw_buffer_options_init(&options);
>     options.target = "cuda";
>     tw_context_create(NULL, &cx);
>     if (tw_buffer_create(cx, TW_F32, 1, &n, &options, &buffer) == TW_ERROR_MEMORY) puts(tw_context_message(cx));
>     puts(tw_buffer_create(cx, TW_F32, 1, &few, &options, &buffer) == TW_OK ? "a small one is there" : "no small one either");
>     tw_buffer_destroy(buffer);
>     tw_context_destroy(cx);
> }
> END
$ cc -I"$ROOT/include" -o large large.c "$(dirname "$(command -v tilewright)")/libtilewright.a" -lm -ldl -lpthread -rdynamic && ./large
the GPU has no room for 70368744177664 bytes: ...
a small one is there
