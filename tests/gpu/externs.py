"""A function in C and CUDA, on every element of a tile and in threads that the kernel names."""
import tilelang.language as T

SOURCE = """
#ifdef __CUDACC__
#define FN __device__ __forceinline__
#else
#define FN static inline
#endif
#define bx 1000 /* ends with this text: the kernel has a variable of that name */
FN float blend(float x, int k, double w) { return x * (float)w + (bx - 999) * k; }
FN int tag(signed char x) { return x ^ 7; }
"""


@T.prim_func
def blended(A: T.Tensor((50, 60), "float32"), B: T.Tensor((50, 60), "float32")):
    with T.Kernel(2, threads=128) as bx:
        T.import_source(SOURCE)
        for i, j in T.Parallel(32, 60):
            B[bx * 32 + i, j] = T.call_extern("float32", "blend", A[bx * 32 + i, j], j, T.float64(3)) - bx


@T.prim_func
def tagged(A: T.Tensor((64,), "int8"), B: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32):
        tx = T.get_thread_binding()
        for i in T.serial(2):
            T.import_source(SOURCE)
            B[i * 32 + tx] = T.call_extern("tag", A[i * 32 + tx], dtype="int32") + T.call_pure_extern("int32", "tag", A[tx])


@T.prim_func
def turned(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
    with T.Kernel(1, threads=32):
        T.import_source(SOURCE)
        for i in T.Parallel(8):
            B[i] = A[T.call_extern("int32", "tag", T.cast(i, "int8"))]
# SPDX-License-Identifier: Apache-2.0
