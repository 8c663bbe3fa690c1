"""A function in C and CUDA, on every element of a tile and in threads that the kernel names."""
import tilelang.language as T

SOURCE = """
#ifdef __CUDACC__
#define FN __device__ __forceinline__
typedef uint ext_word; /* nvcc has it of C's headers, NVRTC has none */
#else
#define FN static inline
typedef unsigned ext_word;
#endif
#define bx 1000 /* ends with this text: the kernel has a variable of that name */
FN float blend(float x, int k, double w) { return x * (float)w + (bx - 999) * k; }
FN int tag(signed char x) { return (int)((ext_word)x ^ 7); }
FN void widen(const unsigned char *in, short *out, int add, int n) {
    for (int i = 0; i < n; i++) out[2 * i] = (in[i] & 15) + add, out[2 * i + 1] = (in[i] >> 4) + add;
}
FN void grow(float *x) { x[0] += 1; x[2] *= 2; }
FN void count(double *x, int n) { for (int i = 0; i < n; i++) x[i] = 10 * i; }
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


@T.prim_func
def widened(A: T.Tensor((128,), "uint8"), B: T.Tensor((256,), "int16")):
    with T.Kernel(1, threads=32):
        tx = T.get_thread_binding()
        T.import_source(SOURCE)
        a = T.alloc_local((4,), "uint8")
        b = T.alloc_local((2, 4), "int16")
        for v in T.vectorized(4):
            a[v] = A[tx * 4 + v]
        T.call_extern("handle", "widen", T.access_ptr(a, "r"), T.access_ptr(b, "w"), T.cast(tx, "int32"), 4)
        for v in T.vectorized(8):
            B[tx * 8 + v] = b[v // 4, v % 4]


@T.prim_func
def grown(A: T.Tensor((32, 3), "float32")):
    with T.Kernel(1, threads=32):
        tx = T.get_thread_binding()
        T.import_source(SOURCE)
        a = T.alloc_local((4,), "float32")
        for v in T.serial(3):
            a[v + 1] = A[tx, v]
        T.call_extern("grow", T.address_of(a[1]), dtype="void")
        for v in T.serial(3):
            A[tx, v] = a[v + 1]


@T.prim_func
def counted(B: T.Tensor((8,), "float64")):
    with T.Kernel(1):
        x = T.alloc_local((8,), "float64")
        T.import_source(SOURCE)
        T.call_extern("count", T.access_ptr(x[2], "w", 5), 5, dtype="float64")
        x[0] = x[1] = x[7] = -1
        T.copy(x, B)
# SPDX-License-Identifier: Apache-2.0
