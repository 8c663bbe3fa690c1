# A part of a sum that is the same for the whole launch wraps in 32 bits, the sum does not; the rest of that part differs between programs.
import triton
import triton.language as tl

@triton.jit
def kernel(x4, y9, n22, n24, n13, n23, n25):
    pid = tl.program_id(0)
    r26_0 = tl.arange(0, 1)
    v27 = tl.zeros((1,), tl.int32)
    for k26 in range(n22):
        o26 = (n24 * n13 - n23) + pid * 13
        o26 = r26_0 * 1 + o26
        o26 += k26 * n25
        t26 = tl.load(x4 + o26)
        v27 += t26
    tl.store(y9 + pid * 1 + tl.arange(0, 1), v27)

# arguments: x4=i32[16384] plain 1 0 y9=i32[17] plain 3 0 n22=4 n24=2 n13=1073741824 n23=2147483630 n25=17 grid=1,1,1 --set variant=0
# SPDX-License-Identifier: Apache-2.0
