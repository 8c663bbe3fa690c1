# --sanitize: what a kernel promises of its numbers is looked at in each program.
$ cat > promises.py <<'END'
> import triton
> import triton.language as tl
>
>
> @triton.jit
> def kernel(x, n, BLOCK: tl.constexpr):
>     n = tl.multiple_of(n, 16)
>     pid = tl.program_id(0)
>     tl.assume(pid < 2)
>     offs = pid * BLOCK + tl.arange(0, BLOCK)
>     tl.store(x + offs, offs, mask=offs < n)
> END
$ tilewright run promises.py --sanitize --arg x=zeros:i32[64] --arg n=32 -D BLOCK=16 --grid 2
x: i32[64], 31 of 64 elements changed
$ tilewright run promises.py --sanitize --arg x=zeros:i32[64] --arg n=60 -D BLOCK=16 --grid 4
promises.py:7:9: error: what is promised here does not hold (program (0, 0, 0)): 60 is no multiple of 16; compiled code may rely on it (and 3 more here) [promise]
    7 |     n = tl.multiple_of(n, 16)
      |         ^~~~~~~~~~~~~~~~~~~~~
promises.py:9:5: error: what is promised here does not hold (program (2, 0, 0)): the condition is false; compiled code may rely on it (and 1 more here) [promise]
    9 |     tl.assume(pid < 2)
      |     ^~~~~~~~~~~~~~~~~~
[1]
