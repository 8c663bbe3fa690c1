import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    rn = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(-9223372036854775808, tl.cdiv(K, BK)):
        x = tl.load(a_ptr + rm[:, None] * K + (k * BK + rk)[None, :])
        y = tl.load(b_ptr + (k * BK + rk)[:, None] * N + rn[None, :])
        y = tl.load(b_ptr + (k * BK + rk)[:, None] * N + rn[None, :])
        acc += tl.dot(x, y)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc)
