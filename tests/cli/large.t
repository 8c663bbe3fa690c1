# Kernels of many statements: none takes a time that grows with their square (some once took minutes), or with 2 to their number
# (for ever).
# requires: python3
$ arguments='--arg x=zeros:f32[4096] --arg y=zeros:f32[4096] --arg n=4 --arg B=64'; for name in $(python3 "$ROOT/tests/large_kernels.py" .); do timeout 30 tilewright emit $name.py --target cpu $arguments >/dev/null 2>&1; echo $name $?; done
loads 0
stores 0
many_stores 0
many_copies 0
copies 0
steps 0
twice 0
twice_sums 0
twice_scalars 0
twice_offsets 0
twice_places 0
twice_masks 0
twice_pointers 0
twice_loaded 0
twice_carried 0
twice_in_loop 0
twice_products 0
twice_bounds 0
twice_shapes 0
twice_ifs 0
indices 0
reduces 0
loops 0
ifs 0
$ tilewright emit deep.py --target cpu --arg x=zeros:f32[4096] --arg y=zeros:f32[4096] --arg n=4 --arg B=64 2>&1 | head -4
deep.py:10:13: error: this value is made in more than 10000 steps, each from the one before; make it in a loop that is not unrolled [too-deep]
   10 |         s = s * 1.5 + i
      |             ^~~~~~~~~~~
$ for target in cuda tenstorrent; do for name in twice* indices steps; do timeout 20 tilewright explain ${name%.py}.py --target $target --arg x=zeros:f32[4096] --arg y=zeros:f32[4096] --arg n=4 --arg B=64 >/dev/null 2>&1; test $? -le 1 || echo "$name on $target: $?"; done; done
#! Stores of a Tile C kernel: each reads its tile out of a buffer.
$ python3 -c "
> print('#include \"kittens.h\"\ntypedef struct { gl(float, 1, 1, -1, -1, st_fl(16, 16)) o; } G;')
> print('tile_grid(1) __global__ __launch_bounds__(32, 1) void k(const __grid_constant__ G g) {\n    rt_fl(16, 16) x;\n    zero(&x);')
> for i in range(9000): print(f'    add(&x, &x, 1.f);\n    store(g.o, &x, at({i}, 0));')
> print('}')" > stores.tile.c
$ timeout 10 tilewright emit stores.tile.c --target cpu --arg g.o=zeros:f32[144000,16] >/dev/null
#! The same on the other targets, and from a value that is not carried from store to store: refused or made, in time.
$ python3 -c "
> print('#include \"kittens.h\"\ntypedef struct { gl(float, 1, 1, -1, -1, st_fl(16, 16)) x, o; } G;')
> print('tile_grid(1) __global__ __launch_bounds__(32, 1) void k(const __grid_constant__ G g) {\n    rt_fl(16, 16) x, y;\n    load(&x, g.x, at(0, 0));')
> for i in range(9000): print(f'    add(&y, &x, {i}.f);\n    store(g.o, &y, at({i}, 0));')
> print('}')" > apart.tile.c
$ for target in cuda tenstorrent; do timeout 15 tilewright emit apart.tile.c --target $target >/dev/null 2>&1; echo $?; done
0
1
#! Element loops of many statements on one buffer, each from the one before: refused for its depth or made; printed after every pass.
$ cat > elements.py <<'END'
> import sys
> count, statement = int(sys.argv[1]), sys.argv[2]
> print('import tilelang.language as T\n@T.prim_func\ndef k(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64,), "float32")):\n'
>       '    with T.Kernel(1) as bx:\n        a = T.alloc_fragment((64, 64), "float32")\n        c = T.alloc_fragment((64,), "float32")\n'
>       '        T.copy(A, a)\n        T.clear(c)\n        for i, j in T.Parallel(64, 64):')
> for n in range(count): print(' ' * 12 + statement.replace('N', str(n)))
> print('        for i in T.Parallel(64):\n            c[i] = c[i] + a[i, 3]\n        T.copy(c, B)')
> END
$ python3 elements.py 5000 'a[i, j] = a[i, j] * 1.5 + N.0' > chain.py; timeout 5 tilewright ir chain.py 2>&1 >/dev/null | head -1
chain.py:5009:23: error: this value is made in more than 10000 steps, each from the one before; make it in a loop that is not unrolled [too-deep]
$ python3 elements.py 1500 'c[i] = c[i] + a[i, j] * N.0' > sums.py; timeout 10 tilewright emit sums.py --target cpu > /dev/null
$ python3 elements.py 3000 'a[i, j] = a[i, j] * 1.5 + N.0' > half.py; timeout 10 tilewright ir half.py --target cpu --print-after > /dev/null
