# seed 91000165: crashed : wait status 0xb
import triton
import triton.language as tl

@triton.jit
def kernel(x0, y1):
    pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    v0 = tl.load(tl.make_block_ptr(x0, shape=(1,2,), strides=(2,1,), offsets=(-1,-1,), block_shape=(4,4,), order=(1,0,)), boundary_check=(0,1,))
    o1 = pid * 0 + tl.arange(0, 4)[:, None, None] * 16 + tl.arange(0, 4)[None, :, None] * 4 + tl.arange(0, 4)[None, None, :]
    v2 = tl.load(x0 + o1)
    tl.store(y1 + pid * 16 + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :], v0)

# arguments: x0=i32[16384] whole 1 0 y1=i32[32] plain 1 0 grid=1,1,1
# SPDX-License-Identifier: Apache-2.0
