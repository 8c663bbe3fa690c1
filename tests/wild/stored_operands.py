"""Tiles that a loop stores and multiplies: a product reads them in shared memory, and the store takes them from there, under the product."""
import triton
import triton.language as tl


# A state from trip to trip, stored before each, and what a trip adds to it, stored as well.
# explain: a product reads its tile in shared memory, and it is stored from there
# check: k=rand:f16[200,64] w=full(0.01):f16[200,64] u=randn:f16[200,64] h=empty:f16[256,64] new=empty:f16[200,64] n=200 --grid 1 --tolerance 0.02
# check: k=rand:f16[128,64] w=full(0.01):f16[128,64] u=randn:f16[128,64] h=empty:f16[128,64] new=empty:f16[128,64] n=128 --grid 1 --tolerance 0.02
@triton.jit
def states(k, w, u, h, new, n):
    r = tl.arange(0, 64)
    state = tl.zeros((64, 64), tl.float32)
    for i in range(0, tl.cdiv(n, 64)):
        t = i * 64 + r
        o = t[:, None] * 64 + r[None, :]
        inside = t[:, None] < n
        tl.store(h + o, state.to(tl.float16))
        W = tl.load(w + o, mask=inside, other=0.0)
        U = tl.load(u + o, mask=inside, other=0.0)
        K = tl.load(k + t[None, :] * 64 + r[:, None], mask=t[None, :] < n, other=0.0)
        added = U - tl.dot(W, state.to(tl.float16))
        tl.store(new + o, added.to(tl.float16), mask=inside)
        state = tl.dot(K, (added * 0.25).to(tl.float16), state * 0.5)


# What is loaded between the store and the product is what was stored: the store stays before it.
# check: w=full(0.01):f16[128,64] h=zeros:f16[64,64] o=empty:f32[128,64] --grid 1 --tolerance 0.02
@triton.jit
def read_back(w, h, o):
    r = tl.arange(0, 64)
    at = r[:, None] * 64 + r[None, :]
    state = tl.full((64, 64), 1.0, tl.float32)
    for i in range(0, 2):
        rows = (i * 64 + r)[:, None] * 64 + r[None, :]
        W = tl.load(w + rows)
        x = (state * 0.5).to(tl.float16)
        tl.store(h + at, x)
        again = tl.load(h + r[:, None] + r[None, :] * 64)
        state = tl.dot(W, x, again.to(tl.float32))
        tl.store(o + rows, state)


# The product's sum is what is stored next, to the same array: the stores keep their order.
# check: w=full(0.01):f16[128,64] h=empty:f16[64,64] --grid 1 --tolerance 0.02
@triton.jit
def stored_twice(w, h):
    r = tl.arange(0, 64)
    at = r[:, None] * 64 + r[None, :]
    state = tl.full((64, 64), 1.0, tl.float32)
    for i in range(0, 2):
        W = tl.load(w + (i * 64 + r)[:, None] * 64 + r[None, :])
        x = (state * 0.5).to(tl.float16)
        tl.store(h + at, x)
        state = tl.dot(W, x, state)
        tl.store(h + at, state.to(tl.float16))
# SPDX-License-Identifier: Apache-2.0
