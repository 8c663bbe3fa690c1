"""Indices by // and %: tiles that are one number, or numbers from one on; and those that only look so: signs, ends, divisors that do not divide."""
import triton
import triton.language as tl


# check: x=randn:f32[4096] out=zeros:f32[8,32] N=4096 D=128 M=4096 --grid 8
# check: x=randn:f32[4096] out=zeros:f32[8,32] N=96 D=16 M=96 --grid 8
# check: x=randn:f32[4096] out=zeros:f32[8,32] N=77 D=128 M=77 --grid 8
# check: x=randn:f32[4096] out=zeros:f32[8,32] N=1 D=1 M=1 --grid 8
# check: x=randn:f32[4096] out=zeros:f32[8,32] N=64 D=48 M=64 --grid 8
@triton.jit
def scales(x, out, M, N: tl.constexpr, D: tl.constexpr):
    """A number for each D of N: one for the whole tile where D and N are multiples of it; M is known at run time only."""
    at = tl.program_id(0) * 32 + tl.arange(0, 32)
    y = tl.load(x + at % N // D) + tl.load(x + at % M // D)
    tl.store(out + at, y)


# check: x=randn:f16[64,64] w=randn:f16[64,64] out=zeros:f16[64,64] M=64 N=64 first=0 BM=32 BN=32 BK=16 --grid 2,2 --tolerance 0.02
# check: x=randn:f16[64,64] w=randn:f16[64,64] out=zeros:f16[64,64] M=64 N=40 first=0 BM=32 BN=32 BK=16 --grid 2,2 --tolerance 0.02
# check: x=randn:f16[64,64] w=randn:f16[64,64] out=zeros:f16[64,64] M=48 N=64 first=0 BM=32 BN=32 BK=16 --grid 2,2 --tolerance 0.02
# explain: M % 32 = 0
# explain: no indexed by a vector
@triton.jit
def promised(x, w, out, M, N, first, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows and columns that wrap around, promised to be consecutive: boxes where the launch says so."""
    pm, pn = tl.program_id(0), tl.program_id(1)
    rm, rn = first + pm * BM + tl.arange(0, BM), first + pn * BN + tl.arange(0, BN)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BM), BM)
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BN), BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, 64, BK):
        acc += tl.dot(tl.load(x + ram[:, None] * 64 + (k + rk)[None, :]), tl.load(w + (k + rk)[:, None] * 64 + rbn[None, :]))
    i, j = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN)
    tl.store(out + i[:, None] * 64 + j[None, :], acc.to(tl.float16))


# check: pages=randn:f32[12,16,8] table=randint(12):i32[16] out=zeros:f32[96,8] first=0 --grid 6
# check: pages=randn:f32[12,16,8] table=randint(12):i32[16] out=zeros:f32[96,8] first=16 --grid 6
# check: pages=randn:f32[12,16,8] table=randint(12):i32[16] out=zeros:f32[96,8] first=5 --grid 6
@triton.jit
def page_rows(pages, table, out, first):
    """The sixteen rows of a page: one number of the table, if the page begins where the tile does."""
    i, j = tl.arange(0, 16), tl.arange(0, 8)
    for n in range(0, 16, 16):
        row = first + tl.program_id(0) * 16 + n + i
        page = tl.load(table + row // 16)
        tl.store(out + (tl.program_id(0) * 16 + i)[:, None] * 8 + j[None, :], tl.load(pages + (page * 16 + row % 16)[:, None] * 8 + j[None, :]))


# check: x=randn:f32[256] out=zeros:f32[4,64] shift=-128 D=8 --grid 4
# check: x=randn:f32[256] out=zeros:f32[4,64] shift=-131 D=8 --grid 4
# check: x=randn:f32[256] out=zeros:f32[4,64] shift=-64 D=128 --grid 4
# check: x=randn:f32[256] out=zeros:f32[4,64] shift=-64 D=-64 --grid 4
# check: x=randn:f32[256] out=zeros:f32[4,64] shift=-2147483648 D=64 --grid 4
# check: x=randn:f32[256] out=zeros:f32[4,64] shift=2147483584 D=64 --grid 4
@triton.jit
def below_zero(x, out, shift, D):
    """Quotients turn around at 0, remainders have the sign of what is divided, and sums of 32 bits wrap around."""
    i = tl.arange(0, 64)
    at = shift + tl.program_id(0) * 64 + i
    y = tl.load(x + 128 + at // D % 64) + tl.load(x + 128 + at % 64) + tl.load(x + 64 + at % D % 64)
    tl.store(out + tl.program_id(0) * 64 + i, y)


# check: x=randn:f32[4096] out=zeros:f32[2,64] n=1073741824 --grid 2
# check: x=randn:f32[4096] out=zeros:f32[2,64] n=1073741823 --grid 2
# check: x=randn:f32[4096] out=zeros:f32[2,64] n=0 --grid 2
@triton.jit
def doubled(x, out, n):
    """2 * n need not fit in 32 bits, nor need it be positive there."""
    i = tl.arange(0, 64)
    at = n * 2 + tl.program_id(0) * 64 + i
    tl.store(out + tl.program_id(0) * 64 + i, tl.load(x + 2048 + at // 64 % 16) + tl.load(x + 2048 + at % 128))


# check: x=randn:f32[512] out=zeros:f32[4,32] --grid 4
@triton.jit
def bits(x, out):
    """The same by shifts and masks, of unsigned numbers, and of what was cut to fewer bits."""
    i = tl.arange(0, 32)
    at = tl.program_id(0) * 32 + i
    low = ((at - 64) & 31) + ((at - 64) >> 5) + 2
    wide = (at.to(tl.uint32) // 32).to(tl.int32) + (at.to(tl.uint32) % 64).to(tl.int32)
    small = (at.to(tl.int8) & 31).to(tl.int32)
    tl.store(out + at, tl.load(x + low) + tl.load(x + wide) + tl.load(x + small))


# check: q=randn:bf16[16,64] k=randn:bf16[6,8,16,8] table=randint(6):i32[4] out=zeros:f32[16,64] s0=1024 s1=128 s2=8 X=8 D=64 --grid 1 --tolerance 0.05
# check: q=randn:bf16[16,64] k=randn:bf16[6,16,16,4] table=randint(6):i32[4] out=zeros:f32[16,64] s0=1024 s1=64 s2=4 X=4 D=64 --grid 1 --tolerance 0.05
# check: q=randn:bf16[16,64] k=randn:bf16[6,8,17,9] table=randint(6):i32[4] out=zeros:f32[16,64] s0=1224 s1=153 s2=9 X=8 D=64 --grid 1 --tolerance 0.05
# explain: in runs of
@triton.jit
def key_pages(q, k, table, out, s0, s1, s2, X: tl.constexpr, D: tl.constexpr):
    """Keys of a cache [pages, D / X, 16, X]: X numbers lie side by side."""
    m, d = tl.arange(0, 16), tl.arange(0, D)
    a = tl.load(q + m[:, None] * D + d[None, :])
    for n in range(0, 64, 16):
        t = n + tl.arange(0, 16)
        page = tl.load(table + t // 16)
        keys = tl.load(k + (d // X * s1 + d % X)[:, None] + (page * s0 + t % 16 * s2)[None, :])
        tl.store(out + m[:, None] * 64 + t[None, :], tl.dot(a, keys))


# check: x=randn:f16[32,64] out=zeros:f16[32,64] N=64 n=64 --grid 4
# check: x=randn:f16[32,64] out=zeros:f16[32,64] N=40 n=40 --grid 4
# check: x=randn:f16[32,64] out=zeros:f16[32,64] N=37 n=64 --grid 4
# check: x=randn:f16[32,64] out=zeros:f16[32,64] N=1 n=1 --grid 4
# check: x=randn:f16[32,64] out=zeros:f16[32,64] N=64 n=0 --grid 4
# check: x=randn:f16[32,64] out=zeros:f16[32,64] N=-8 n=8 --grid 4
# explain: in runs of 8
# explain: N % 8 = 0
@triton.jit
def columns_wrap(x, out, N, n):
    """Columns that wrap around at N, and a mask that ends at n: vectors where both are multiples."""
    i, j = tl.arange(0, 32), tl.program_id(0) * 16 + tl.arange(0, 16)
    value = tl.load(x + i[:, None] * 64 + (j % N)[None, :], mask=(j < n)[None, :], other=-1.0)
    tl.store(out + i[:, None] * 64 + j[None, :], value)


# check: x=randn:f32[64,64] out=zeros:f32[64,64] s=64 W=16 --grid 2
# check: x=randn:f32[64,64] out=zeros:f32[64,64] s=48 W=12 --grid 2
# check: x=randn:f32[64,64] out=zeros:f32[64,64] s=47 W=5 --grid 2
@triton.jit
def scattered(x, out, s, W):
    """Runs that are written and added to: rows of W in a plane."""
    i, j = tl.arange(0, 8), tl.program_id(0) * 16 + tl.arange(0, 16)
    value = tl.load(x + i[:, None] * 64 + j[None, :])
    tl.store(out + i[:, None] * 256 + (j // W * s % 128 + j % W)[None, :], value)
    tl.atomic_add(out + 2048 + i[:, None] * 256 + (j // 4 * 8 + j % 4)[None, :], value)


# check: x=randn:f16[4,6,20,20] out=zeros:f16[4,6,20,20] H=20 W=20 s0=2400 s1=400 s2=20 --grid 50
# check: x=randn:f16[4,6,16,16] out=zeros:f16[4,6,16,16] H=16 W=16 s0=1536 s1=256 s2=16 --grid 32
@triton.jit
def pixels(x, out, H, W, s0, s1, s2):
    """Pixels of planes, by // and %, over six channels: moved by one, masked at the edge of the picture."""
    p = tl.program_id(0) * 32 + tl.arange(0, 32)
    c = tl.arange(0, 8)
    image, row, column = p // W // H, p // W % H, p % W - 1
    at = (image * s0 + row * s2)[:, None] + c[None, :] * s1
    value = tl.load(x + at + column[:, None], mask=(column >= 0)[:, None] & (c < 6)[None, :], other=0.0)
    tl.store(out + at + (p % W)[:, None], value, mask=(c < 6)[None, :])


# check: x=randn:f32[256] out=zeros:f32[256] n=3 d=50 --grid 4
# check: x=randn:f32[256] out=zeros:f32[256] n=4 d=64 --grid 4
# check: x=randn:f32[256] out=zeros:f32[256] n=0 d=50 --grid 4
# check: x=randn:f32[256] out=zeros:f32[256] n=-1 d=50 --grid 4
# check: x=randn:f32[256] out=zeros:f32[256] n=1 d=0 --grid 4
# check: x=randn:f32[256] out=zeros:f32[256] n=1 d=-7 --grid 4
# check: x=randn:f32[256] out=zeros:f32[256] n=-5 d=-7 --grid 4
# check: x=randn:f32[256] out=zeros:f32[256] n=70000 d=70000 --grid 4
# explain: launch: requires
@triton.jit
def below_quotient(x, out, n, d):
    """Masks that compare quotients: ranges of the rows, if a launch divides by more than 0, and what is counted is at least 1."""
    r = tl.program_id(0) * 64 + tl.arange(0, 64)
    value = tl.load(x + r, mask=r // d < n, other=-1.0)
    far = tl.load(x + r, mask=n <= r // d, other=-2.0)
    tl.store(out + r, value + far * 4 + (r // d).to(tl.float32) + (r % d).to(tl.float32) / 2)
# SPDX-License-Identifier: Apache-2.0
