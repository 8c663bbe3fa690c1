# T.rng_init and T.rng_rand: cuRAND's Philox. The words of the sequence 0 of seed 42, by the algorithm written down again in Python.
$ cat > draws.py <<'END'
> import tilelang
> import tilelang.language as T
> @T.prim_func
> def words(A: T.Tensor((256,), "uint32"), F: T.Tensor((64,), "float32"), D: T.Tensor((64,), "float64")):
>     with T.Kernel(2, threads=32) as bx:
>         tx = T.get_thread_binding()
>         T.rng_init(42, 0, (bx * 32 + tx) * 4)
>         for i in T.serial(4):
>             A[(bx * 32 + tx) * 4 + i] = T.rng_rand()
>         F[bx * 32 + tx] = T.rng_rand_float()
>         D[bx * 32 + tx] = T.rng_rand_float(bit=64)
>
> @T.prim_func
> def alone(A: T.Tensor((100,), "uint32")):
>     with T.Kernel(2, threads=1) as bx:
>         T.rng_init(42, 0, bx * 64)
>         for i, j in T.Parallel(1, 64):
>             if bx * 64 + j < 100:
>                 A[bx * 64 + j] = T.rng_rand()
>
> @T.prim_func
> def many(A: T.Tensor((100,), "uint32")):
>     with T.Kernel(1, threads=32) as bx:
>         T.rng_init(42)
>         for i in T.Parallel(100):
>             A[i] = T.rng_rand()
>
> @T.prim_func
> def without(A: T.Tensor((100,), "uint32")):
>     with T.Kernel(1, threads=32) as bx:
>         A[T.get_thread_binding()] = T.rng_rand()
>
> @T.prim_func
> def normal(A: T.Tensor((100,), "float32")):
>     with T.Kernel(1, threads=32) as bx:
>         T.rng_init(42)
>         A[T.get_thread_binding()] = T.rng_rand_float(dist="normal")
>
> @T.prim_func
> def other(A: T.Tensor((100,), "float32")):
>     with T.Kernel(1, threads=32) as bx:
>         T.rng_init(42, generator="curandStateXORWOW_t")
>         A[T.get_thread_binding()] = T.rng_rand_float()
> END
$ cat > words.py <<'END'
> def word(seed, sequence, n):
>     c, k, M = [n // 4, 0, sequence, 0], [seed, 0], 0xffffffff
>     for _ in range(10):
>         p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
>         c = [(q >> 32) ^ c[1] ^ k[0], q & M, (p >> 32) ^ c[3] ^ k[1], p & M]
>         k = [(k[0] + 0x9E3779B9) & M, (k[1] + 0xBB67AE85) & M]
>     return c[n % 4]
>
> import struct, sys
> data = open(sys.argv[1], "rb").read()[128:]
> kind = sys.argv[2]
> if kind == "words":
>     print(all(x == word(42, 0, n) for n, (x,) in enumerate(struct.iter_unpack("<I", data))))
> else:
>     numbers = [x for (x,) in struct.iter_unpack("<" + kind, data)]
>     print(len(numbers), all(0 < x <= 1 for x in numbers), max(abs(x - word(42, 0, 4 * t + (5 if kind == "d" else 4)) * 2 ** -32) for t, x in enumerate(numbers)) < 1e-7 if kind == "f" else len(set(numbers)))
> END
$ for t in "cpu" "cuda --emulate"; do tilewright run draws.py:words --target $t --arg A=zeros:u32[256] --arg F=zeros:f32[64] --arg D=zeros:f64[64] --save A=a.npy --save F=f.npy --save D=d.npy > said; python3 words.py a.npy words; python3 words.py f.npy f; python3 words.py d.npy d; done
True
64 True True
64 True 64
True
64 True True
64 True 64
$ tilewright run draws.py:alone --target cpu --arg A=zeros:u32[100] --save A=a.npy > said; python3 words.py a.npy words
True
$ for k in "many u" "without u" "normal f" "other f"; do set -- $k; tilewright check draws.py:$1 --arg "A=zeros:${2}32[100]"; done
draws.py:25:18: error: a random number in T.Parallel, whose iterations have no order, is not supported in a TileLang kernel; loop over the thread's own elements with T.serial [unsupported]
   25 |         for i in T.Parallel(100):
      |                  ^~~~~~~~~~~~~~~
draws.py:31:37: error: T.rng_init(seed, sequence, offset) stands before the first random number [arguments]
   31 |         A[T.get_thread_binding()] = T.rng_rand()
      |                                     ^~~~~~~~~~~~
draws.py:37:59: error: T.rng_rand_float with a distribution other than "uniform" is planned and not there yet; make it from uniform numbers, as T.sqrt(-2 * T.log(u)) * T.cos(6.2831853 * v) [planned]
   37 |         A[T.get_thread_binding()] = T.rng_rand_float(dist="normal")
      |                                                           ^~~~~~~~
draws.py:42:34: error: a generator other than curandStatePhilox4_32_10_t is planned and not there yet; leave it out: the one that is there is Philox [planned]
   42 |         T.rng_init(42, generator="curandStateXORWOW_t")
      |                                  ^~~~~~~~~~~~~~~~~~~~~
[1]
