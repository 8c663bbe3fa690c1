"""C[p] = A[p] @ B[p] for problems of different sizes in one launch, whose matrices lie anywhere: their addresses, sizes and strides are read from tables.

A program takes every P-th tile of all. Rows of A and B begin at multiples of 16 bytes, as the hints say; sizes are those of whole tiles (the
first kernel) or any (the second, by descriptors; B is stored by columns)."""
import torch
import triton
import triton.language as tl


@triton.jit
def table_matmul_kernel(
    memory,     # in which all of them lie
    addresses,  # of A, B and C of each problem
    sizes,      # M, N, K of each problem
    strides,    # from a row to the next: of A, B and C
    problems,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    tile = tl.program_id(0)
    before = 0
    for p in range(problems):
        columns = tl.cdiv(tl.load(sizes + p * 3 + 1), BN)
        tiles = tl.cdiv(tl.load(sizes + p * 3), BM) * columns
        K = tl.load(sizes + p * 3 + 2)
        while tile < before + tiles:
            a = tl.load(addresses + p * 3).to(tl.pointer_type(memory.dtype.element_ty))
            b = tl.load(addresses + p * 3 + 1).to(tl.pointer_type(memory.dtype.element_ty))
            c = tl.load(addresses + p * 3 + 2).to(tl.pointer_type(memory.dtype.element_ty))
            stride_a = tl.load(strides + p * 3)
            stride_b = tl.load(strides + p * 3 + 1)
            stride_c = tl.load(strides + p * 3 + 2)
            rm = (tile - before) // columns * BM + tl.arange(0, BM)
            rn = (tile - before) % columns * BN + tl.arange(0, BN)
            rk = tl.arange(0, BK)
            x = a + rm[:, None] * stride_a + rk[None, :]
            y = b + rk[:, None] * stride_b + rn[None, :]
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for _ in range(tl.cdiv(K, BK)):
                x = tl.multiple_of(x, [1, 16])
                y = tl.multiple_of(y, [1, 16])
                acc = tl.dot(tl.load(x), tl.load(y), acc)
                x += BK
                y += BK * stride_b
            z = c + rm[:, None] * stride_c + rn[None, :]
            tl.store(z, acc.to(memory.dtype.element_ty))
            tile += tl.num_programs(0)
        before += tiles


@triton.jit
def table_matmul_box_kernel(
    memory, addresses, sizes, strides, problems,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    tile = tl.program_id(0)
    before = 0
    for p in range(problems):
        M, N, K = tl.load(sizes + p * 3), tl.load(sizes + p * 3 + 1), tl.load(sizes + p * 3 + 2)
        columns = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * columns
        if tile < before + tiles:
            a = tl.load(addresses + p * 3).to(tl.pointer_type(memory.dtype.element_ty))
            b = tl.load(addresses + p * 3 + 1).to(tl.pointer_type(memory.dtype.element_ty))
            c = tl.load(addresses + p * 3 + 2).to(tl.pointer_type(memory.dtype.element_ty))
            da = tl.make_tensor_descriptor(a, [M, K], [tl.load(strides + p * 3), 1], [BM, BK])
            db = tl.make_tensor_descriptor(b, [N, K], [tl.load(strides + p * 3 + 1), 1], [BN, BK])
            dc = tl.make_tensor_descriptor(c, [M, N], [tl.load(strides + p * 3 + 2), 1], [BM, BN])
            while tile < before + tiles:
                m = (tile - before) // columns * BM
                n = (tile - before) % columns * BN
                acc = tl.zeros((BM, BN), dtype=tl.float32)
                for k in range(0, K, BK):
                    acc = tl.dot(da.load([m, k]), db.load([n, k]).T, acc)
                dc.store([m, n], acc.to(memory.dtype.element_ty))
                tile += tl.num_programs(0)
        before += tiles


def tables(problems, device):
    """Of a list of (A, B, C)."""
    addresses = torch.tensor([x.data_ptr() for each in problems for x in each], dtype=torch.int64, device=device)
    sizes = torch.tensor([[c.shape[0], c.shape[1], a.shape[1]] for a, b, c in problems], dtype=torch.int32, device=device).reshape(-1)
    strides = torch.tensor([x.stride(0) for each in problems for x in each], dtype=torch.int32, device=device)
    return addresses, sizes, strides


def table_matmul(memory, problems, programs=64, BM=64, BN=64, BK=32, boxes=False, **options):
    kernel = table_matmul_box_kernel if boxes else table_matmul_kernel
    kernel[(programs,)](memory, *tables(problems, memory.device), len(problems), BM=BM, BN=BN, BK=BK, **options)
# SPDX-License-Identifier: Apache-2.0
