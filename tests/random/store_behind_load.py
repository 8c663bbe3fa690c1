# A turn stores where other threads of the turn before still load.
import triton
import triton.language as tl

@triton.jit
def kernel(x0, x1, s2, n0, n1, n2):
    pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    o0 = pid * 10 + (64 - 1 - tl.arange(0, 64)) * 3 + 0
    v1 = tl.load(x0 + o0, mask=o0 < n0, other=5)
    o2 = pid * 0 + tl.arange(8, 10)
    v3 = tl.load(x1 + o2, mask=o2 < 5)
    w4_0 = v1
    w4_1 = v1
    for i4 in range(n1):
        v8 = tl.cast(v1, tl.int64)
        tl.store(s2 + pid * 64 + tl.arange(0, 64), w4_0)
        v9 = tl.load(s2 + pid * 64 + (63 - tl.arange(0, 64)))
        if pid > 0:
            continue
        w4_0 = v9
        w4_1 = v9

# arguments: x0=i16[16384] whole 4 0 x1=f8e5m2[16384] wild 2 0 s2=i16[272] plain 1 0 n0=115 n1=2 n2=0 grid=2,2,1
# SPDX-License-Identifier: Apache-2.0
