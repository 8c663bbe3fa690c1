# A part of a sum wraps in 32 bits, the sum does not; taken apart, the part was wrong.
import triton
import triton.language as tl

@triton.jit
def kernel(x0, x1, x2, x3, x4, x5, x6, x7, y8, n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15):
    pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    rm0 = tl.arange(0, 1)
    rn0 = tl.arange(0, 16)
    o0 = pid * 36 + rm0[:, None] * n0 + rn0[None, :] * 1 + 3
    v1 = tl.load(x0 + o0)
    o2 = pid * 0 + tl.arange(0, 17) * 1 + 11
    v3 = tl.load(x1 + o2)
    r4_0 = tl.arange(0, 1)
    o4 = 18 + pid * 0
    o4 = ((r4_0 - 5) // 2) * -1 + o4
    v5 = tl.load(x2 + o4, mask=(((r4_0 - 6) % 5) < (n2)) & ((r4_0) >= (n1)), other=2)
    rm6 = tl.arange(0, 1)
    rn6 = tl.arange(0, 16)
    o6 = pid * 0 + rm6[:, None] * n0 + rn6[None, :] * 1 + 0
    v7 = tl.load(x3 + o6, mask=o6 < 0, other=0)
    v8 = (v1 - v7).to(tl.int16)
    v9 = (v7 & v8).to(tl.int16)
    rm10 = tl.arange(0, 1)
    rn10 = tl.arange(0, 16)
    o10 = pid * 0 + rm10[:, None] * n0 + rn10[None, :] * 1 + 0
    v11 = tl.load(x4 + o10)
    v12 = (v7 - v11).to(tl.int16)
    v13 = (v7 ^ v11).to(tl.int16)
    r14_0 = tl.arange(0, 16)[:, None]
    r14_1 = tl.arange(0, 16)[None, :]
    v15 = tl.zeros((16,16,), tl.int32)
    for k14 in range(n4):
        o14 = (n0 * n8 + n7) + pid * 2
        o14 = r14_0 * n5 + o14
        o14 = ((r14_1 + 0) % n6) * 16 + o14
        o14 += k14 * n9
        t14 = tl.load(x5 + o14, mask=((r14_1.to(tl.int64)) == (n4)), other=4)
        v15 += tl.where(((r14_1) <= (n11 * n0)), t14 * 3, 7)
    v16 = (v15 * v15).to(tl.int32)
    rm17 = tl.arange(0, 8)
    rn17 = tl.arange(0, 1)
    o17 = pid * 36 + rm17[:, None] * 1 + rn17[None, :] * 1 + 0
    v18 = tl.load(x6 + o17)
    v19 = tl.sum(v12, axis=0).to(tl.int16)
    r20_0 = tl.arange(0, 32)[:, None]
    r20_1 = tl.arange(0, 32)[None, :]
    o20 = (n13 * n2 - n12) + pid * 0
    o20 = r20_0 * 3 + o20
    o20 = r20_1 * -1 + o20
    v21 = tl.load(x7 + o20, mask=((r20_0) <= (n14 * n7)) | (((n15 * n14 + n15)) <= ((r20_0 - 1) // 3)), other=3)
    tl.store(y8 + pid * 1024 + tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :], v21, mask=((r20_0) < (n0)))

# arguments: x0=i16[16384] plain 2 0 x1=f8e5m2[16384] wild 1 0 x2=i64[16384] plain 4 0 x3=i16[16384] wild 2 0 x4=i16[16384] whole 4 0 x5=i32[16384] plain 3 0 x6=i8[16384] plain 2 0 x7=i32[16384] wild 1 0 y8=i32[2064] plain 1 0 n0=1 n1=4 n2=1073741824 n3=0 n4=4 n5=3 n6=11 n7=13 n8=0 n9=-3 n10=-2147483645 n11=1 n12=2147483579 n13=2 n14=0 n15=-17 grid=1,2,1 --set variant=4
# SPDX-License-Identifier: Apache-2.0
