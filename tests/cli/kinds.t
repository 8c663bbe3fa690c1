# Every kind of mistake in a Triton kernel: place, caret, rule and fix; several a run.
$ cat > e.py <<'END'
> import triton
> import triton.language as tl
>
>
> @triton.jit
> def unknown(x_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.arange(0, BLOCK)
>     m = ofs < n
>     x = tl.laod(x_ptr + offs, mask=m)
>     y = triton.cdivv(n, 2)
>     z = x.too(tl.float16)
>     w = x.dtpye
>     v = tl.float33
>     tl.store(x_ptr + offs, x)
>
>
> @triton.jit
> def helper(a, b):
>     return a + b
>
>
> @triton.jit
> def arity(x_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.arange(0)
>     a = tl.arange(0, 1, 2, 3)
>     b = helper(1)
>     c = helper(1, 2, 3)
>     d = helper(1, c=2)
>     e = helper(1, 2, b=3)
>     f = tl.load()
>     g = tl.zeros((4,), dtype=tl.float32, shape=(3,))
>
>
> @triton.jit
> def dtypes(x_ptr, n, BLOCK: tl.constexpr):
>     i = tl.arange(0, BLOCK)
>     f = i.to(tl.float32)
>     h = i.to(tl.float16)
>     a = f & i
>     b = f << 2
>     c = ~f
>     d = tl.exp(i)
>     e = tl.exp(h)
>     g = i // f
>     u = i.to(tl.uint32) // i
>     s = x_ptr + x_ptr
>     t = x_ptr * 2
>     v = i.to(tl.float8e5) + i
>     w = i.to(tl.uint8) + 300
>     y = i.to(tl.uint8) - (-1)
>     z = tl.dot(f[:, None], i[None, :])
>
>
> @triton.jit
> def shapes(x_ptr, n, BLOCK: tl.constexpr):
>     a = tl.zeros((4, 8), tl.float32)
>     b = tl.zeros((8, 4), tl.float32)
>     c = a + b
>     d = tl.dot(a, a)
>     e = tl.reshape(a, (4, 9))
>     f = tl.broadcast_to(a, (4, 4))
>     g = tl.where(a > 0, a, b)
>     h = tl.trans(a, (0, 0))
>     i = tl.sum(a, axis=2)
>     j = tl.cat(a, b)
>     k = tl.join(a, b)
>     tl.store(x_ptr + tl.arange(0, 4), a)
>     tl.load(x_ptr + tl.arange(0, 4), mask=tl.arange(0, 8) < 3)
>     l = a[:, :, :, 0]
>     m = tl.split(a)
>     o = tl.expand_dims(a, 5)
>
>
> @triton.jit
> def constants(x_ptr, n, BLOCK: tl.constexpr):
>     a = tl.arange(0, n)
>     b = tl.zeros((n, 4), tl.float32)
>     c = tl.sum(b, axis=n)
>     for i in tl.static_range(n):
>         pass
>     d: tl.constexpr = n
>     tl.static_assert(n > 3)
>     e = tl.program_id(d)
>     f = tl.zeros((4,), n)
>     g = tl.program_id(3)
>
>
> @triton.jit
> def even(n):
>     return odd(n - 1)
>
>
> @triton.jit
> def odd(n):
>     return even(n - 1)
>
>
> @triton.jit
> def recursion(x_ptr, n, BLOCK: tl.constexpr):
>     tl.store(x_ptr, even(n))
>
>
> @triton.jit
> def loops(x_ptr, n, BLOCK: tl.constexpr):
>     acc = 0
>     for i in range(n):
>         acc += 1.5
>     t = tl.zeros((4,), tl.float32)
>     for i in range(n):
>         t = t[:, None]
>     while n > 0:
>         k = i
>         t = t.to(tl.float16)
>     p = x_ptr
>     for i in range(n):
>         p = p + tl.arange(0, 4)
>     print(k)
>     for i in range(0, n, 0):
>         pass
>     for i in [1, 2, 3]:
>         acc = i
>     for a, b in range(n):
>         pass
>
>
> @triton.jit
> def masks(x_ptr, n, BLOCK: tl.constexpr):
>     offs = tl.arange(0, BLOCK)
>     x = tl.load(x_ptr + offs, mask=offs)
>     y = tl.load(x_ptr + offs, mask=1.5)
>     z = tl.load(x_ptr + offs, other=0.0)
>     tl.store(x_ptr + offs, x, mask=offs)
>     tl.atomic_add(x_ptr + offs, x, mask=offs)
>     tl.where(offs, 1, 2)
>     if offs:
>         pass
>     if offs > 2:
>         pass
>     while offs > 2:
>         pass
>     w = 1 if offs > 2 else 2
>     q = offs > 1 and offs < 3
>     r = 1 < offs < 3
> END
$ tilewright run e.py:unknown --target interp --arg x_ptr=zeros:f32[64] --arg n=4 --arg BLOCK=16 --grid 1
e.py:8:9: error: `ofs` is not known; did you mean `offs`? [unknown-name]
    8 |     m = ofs < n
      |         ^~~
e.py:9:9: error: `tl.laod` is not known; did you mean `tl.load`? [unknown-name]
    9 |     x = tl.laod(x_ptr + offs, mask=m)
      |         ^~~~~~~
e.py:10:9: error: `triton.cdivv` is host code and cannot be used inside a kernel; did you mean `triton.cdiv`? Else use tl.* or pass the value as an argument [host-value]
   10 |     y = triton.cdivv(n, 2)
      |         ^~~~~~~~~~~~
e.py:13:9: error: `tl.float33` is not known; did you mean `tl.float32`? [unknown-name]
   13 |     v = tl.float33
      |         ^~~~~~~~~~
[1]
$ tilewright run e.py:arity --target interp --arg x_ptr=zeros:f32[64] --arg n=4 --arg BLOCK=16 --grid 1
e.py:24:12: error: `arange` needs the argument `end`; it is `arange(start, end)` [arity]
   24 |     offs = tl.arange(0)
      |            ^~~~~~~~~~~~
e.py:25:25: error: `arange` takes at most 2 positional arguments; it is `arange(start, end)` [arity]
   25 |     a = tl.arange(0, 1, 2, 3)
      |                         ^
e.py:26:9: error: `helper` needs the argument `b`; it is `helper(a, b)` [arity]
   26 |     b = helper(1)
      |         ^~~~~~~~~
e.py:27:22: error: `helper` takes at most 2 positional arguments; it is `helper(a, b)` [arity]
   27 |     c = helper(1, 2, 3)
      |                      ^
e.py:28:19: error: `helper` has no parameter `c`; it is `helper(a, b)` [arity]
   28 |     d = helper(1, c=2)
      |                   ^~~
e.py:29:22: error: the argument `b` of `helper` is given twice [arity]
   29 |     e = helper(1, 2, b=3)
      |                      ^~~
e.py:30:9: error: `load` needs the argument `pointer`; it is `load(pointer, mask=None, other=None, boundary_check=(), padding_option='', cache_modifier='', eviction_policy='', volatile=False)` [arity]
   30 |     f = tl.load()
      |         ^~~~~~~~~
e.py:31:42: error: the argument `shape` of `zeros` is given twice [arity]
   31 |     g = tl.zeros((4,), dtype=tl.float32, shape=(3,))
      |                                          ^~~~~~~~~~
[1]
$ tilewright run e.py:dtypes --target interp --arg x_ptr=zeros:f32[64] --arg n=4 --arg BLOCK=16 --grid 1
e.py:39:9: error: `&` has invalid operands of type a float32[16] and an int32[16]; it takes integers; cast with .to(tl.int32), or bitcast=True for the bits [operands]
   39 |     a = f & i
      |         ^~~~~
e.py:40:9: error: `<<` has invalid operands of type a float32[16] and 2; it takes integers; cast with .to(tl.int32), or bitcast=True for the bits [operands]
   40 |     b = f << 2
      |         ^~~~~~
e.py:41:9: error: `~` does not take a float32[16]; it flips the bits of integers; cast with .to(tl.int32) [operands]
   41 |     c = ~f
      |         ^~
e.py:42:16: error: tl.exp takes float32 or float64, here is int32[16]; cast with .to(tl.float32) [operands]
   42 |     d = tl.exp(i)
      |                ^
e.py:43:16: error: tl.exp takes float32 or float64, here is float16[16]; cast with .to(tl.float32) [operands]
   43 |     e = tl.exp(h)
      |                ^
e.py:44:9: error: `//` has invalid operands of type an int32[16] and a float32[16]; it divides integers; use `/`, then tl.floor [operands]
   44 |     g = i // f
      |         ^~~~~~
e.py:45:9: error: Cannot use /, // and % with uint32[16] and int32[16] because they have different signedness; cast one with .to(...) [operands]
   45 |     u = i.to(tl.uint32) // i
      |         ^~~~~~~~~~~~~~~~~~~~
e.py:46:9: error: `+` has invalid operands of type a *float32 and a *float32; a pointer takes `+` and `-` with integers, and comparison with pointers [operands]
   46 |     s = x_ptr + x_ptr
      |         ^~~~~~~~~~~~~
e.py:47:9: error: `*` has invalid operands of type a *float32 and 2; a pointer takes `+` and `-` with integers, and comparison with pointers [operands]
   47 |     t = x_ptr * 2
      |         ^~~~~~~~~
e.py:48:9: error: float8e5[16] and int32[16] have no common type; cast one with .to(...) [operands]
   48 |     v = i.to(tl.float8e5) + i
      |         ^~~~~~~~~~~~~~~~~~~~~
e.py:49:9: error: 300 is out of range for uint8; cast the tensor, or use another number [number-range]
   49 |     w = i.to(tl.uint8) + 300
      |         ^~~~~~~~~~~~~~~~~~~~
e.py:50:9: error: -1 is out of range for uint8; cast the tensor, or use another number [number-range]
   50 |     y = i.to(tl.uint8) - (-1)
      |         ^~~~~~~~~~~~~~~~~~~~~
e.py:51:9: error: tl.dot needs operands of one type, here are float32[16, 1] and int32[1, 16]; cast one with .to(...) [dot]
   51 |     z = tl.dot(f[:, None], i[None, :])
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[1]
$ tilewright run e.py:shapes --target interp --arg x_ptr=zeros:f32[64] --arg n=4 --arg BLOCK=16 --grid 1
e.py:58:9: error: the shapes of float32[4, 8] and float32[8, 4] do not fit; extents must be equal or 1; add axes with [:, None], or use tl.broadcast_to [shapes]
   58 |     c = a + b
      |         ^~~~~
e.py:59:9: error: tl.dot of float32[4, 8] and float32[4, 8] does not fit: [M, K] and [K, N] are needed [dot]
   59 |     d = tl.dot(a, a)
      |         ^~~~~~~~~~~~
e.py:60:9: error: float32[4, 8] does not reshape to float32[4, 9]; both must have the same number of elements [shapes]
   60 |     e = tl.reshape(a, (4, 9))
      |         ^~~~~~~~~~~~~~~~~~~~~
e.py:61:9: error: float32[4, 8] does not broadcast to float32[4, 4]; only extents of 1 are repeated [shapes]
   61 |     f = tl.broadcast_to(a, (4, 4))
      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~
e.py:62:9: error: the shapes of float32[4, 8] and float32[8, 4] do not fit; extents must be equal or 1; add axes with [:, None], or use tl.broadcast_to [shapes]
   62 |     g = tl.where(a > 0, a, b)
      |         ^~~~~~~~~~~~~~~~~~~~~
e.py:63:9: error: (0, 0) is no permutation of the 2 axes [axis]
   63 |     h = tl.trans(a, (0, 0))
      |         ^~~~~~~~~~~~~~~~~~~
e.py:64:24: error: invalid axis 2; the tensor has 2, counted from 0, or from its end with -1 [axis]
   64 |     i = tl.sum(a, axis=2)
      |                        ^
e.py:65:9: error: the shapes of float32[4, 8] and float32[8, 4] do not fit; extents must be equal or 1; add axes with [:, None], or use tl.broadcast_to [shapes]
   65 |     j = tl.cat(a, b)
      |         ^~~~~~~~~~~~
e.py:66:9: error: the shapes of float32[4, 8] and float32[8, 4] do not fit; extents must be equal or 1; add axes with [:, None], or use tl.broadcast_to [shapes]
   66 |     k = tl.join(a, b)
      |         ^~~~~~~~~~~~~
e.py:67:39: error: float32[4, 8] does not broadcast to float32[4]; only extents of 1 are repeated [shapes]
   67 |     tl.store(x_ptr + tl.arange(0, 4), a)
      |                                       ^
e.py:68:5: error: the shapes of *float32[4] and int1[8] do not fit; extents must be equal or 1; add axes with [:, None], or use tl.broadcast_to [shapes]
   68 |     tl.load(x_ptr + tl.arange(0, 4), mask=tl.arange(0, 8) < 3)
      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
e.py:69:20: error: unsupported tensor index: a tensor is indexed with `:` and None only; use tl.load for elements, tl.where to choose [index]
   69 |     l = a[:, :, :, 0]
      |                    ^
e.py:70:18: error: tl.split wants a last extent of 2, here is a float32[4, 8] [argument]
   70 |     m = tl.split(a)
      |                  ^
e.py:71:27: error: invalid axis 5; the tensor has 3, counted from 0, or from its end with -1 [axis]
   71 |     o = tl.expand_dims(a, 5)
      |                           ^
[1]
$ tilewright run e.py:constants --target interp --arg x_ptr=zeros:f32[64] --arg n=4 --arg BLOCK=16 --grid 1
e.py:76:22: error: tl.arange wants an integer known at compile time, here is an int32; pass it as a tl.constexpr parameter [argument]
   76 |     a = tl.arange(0, n)
      |                      ^
e.py:77:18: error: tl.zeros wants a shape of positive integers known at compile time, here is the tuple (int32, 4) [argument]
   77 |     b = tl.zeros((n, 4), tl.float32)
      |                  ^~~~~~
e.py:79:14: error: a bound of tl.static_range must be known at compile time, here it is an int32; compute it from constants, or pass it as a tl.constexpr parameter [need-constant]
   79 |     for i in tl.static_range(n):
      |              ^~~~~~~~~~~~~~~~~~
e.py:82:22: error: the condition of tl.static_assert must be known at compile time, here it is an int1; compute it from constants, or pass it as a tl.constexpr parameter [need-constant]
   82 |     tl.static_assert(n > 3)
      |                      ^~~~~
e.py:83:23: error: tl.program_id wants an integer known at compile time, here is an int32; pass it as a tl.constexpr parameter [argument]
   83 |     e = tl.program_id(d)
      |                       ^
e.py:84:24: error: tl.zeros wants a dtype such as tl.float32, here is an int32 [argument]
   84 |     f = tl.zeros((4,), n)
      |                        ^
e.py:85:23: error: program_id axis must be 0, 1, or 2 but got 3 [axis]
   85 |     g = tl.program_id(3)
      |                       ^
[1]
$ tilewright run e.py:recursion --target interp --arg x_ptr=zeros:f32[64] --arg n=4 --arg BLOCK=16 --grid 1
e.py:95:12: error: `even` calls itself; kernels have no recursion; use a loop [recursion]
   95 |     return even(n - 1)
      |            ^~~~~~~~~~~
e.py:90:12: note: in the call of `odd`
   90 |     return odd(n - 1)
      |            ^~~~~~~~~~
e.py:100:21: note: in the call of `even`
  100 |     tl.store(x_ptr, even(n))
      |                     ^~~~~~~
[1]
$ tilewright run e.py:loops --target interp --arg x_ptr=zeros:f32[64] --arg n=4 --arg BLOCK=16 --grid 1
e.py:106:5: error: `acc` is an int32 before the loop and a float32 at its end; it must keep its type; start it with that type, or cast with .to(...) [loop-type]
  106 |     for i in range(n):
      |     ^~~~~~~~~~~~~~~~~~
e.py:109:5: error: `t` is a float32[4] before the loop and a float32[4, 1] at its end; it must keep its type; start it with that type, or cast with .to(...) [loop-type]
  109 |     for i in range(n):
      |     ^~~~~~~~~~~~~~~~~~
e.py:112:13: error: `i` has no value here: it is first assigned inside a loop; give it a value before the loop [unbound]
  112 |         k = i
      |             ^
e.py:111:5: error: `t` is a float32[4] before the loop and a float16[4] at its end; it must keep its type; start it with that type, or cast with .to(...) [loop-type]
  111 |     while n > 0:
      |     ^~~~~~~~~~~~
e.py:115:5: error: `p` is a *float32 before the loop and a *float32[4] at its end; it must keep its type; start it with that type, or cast with .to(...) [loop-type]
  115 |     for i in range(n):
      |     ^~~~~~~~~~~~~~~~~~
e.py:117:11: error: `k` has no value here: it is first assigned inside a loop; give it a value before the loop [unbound]
  117 |     print(k)
      |           ^
e.py:118:14: error: the step of a range cannot be 0 [loop]
  118 |     for i in range(0, n, 0):
      |              ^~~~~~~~~~~~~~
e.py:122:9: error: a loop variable that is no plain name is not supported in Triton kernels here [unsupported]
  122 |     for a, b in range(n):
      |         ^~~~
[1]
$ tilewright run e.py:masks --target interp --arg x_ptr=zeros:f32[64] --arg n=4 --arg BLOCK=16 --grid 1
e.py:129:36: error: a mask must be boolean (int1), here is an int32[16]; compare to get one [mask]
  129 |     x = tl.load(x_ptr + offs, mask=offs)
      |                                    ^~~~
e.py:130:36: error: a mask must be boolean (int1), here is a float32; compare to get one [mask]
  130 |     y = tl.load(x_ptr + offs, mask=1.5)
      |                                    ^~~
e.py:131:37: error: `other` fills what a mask leaves out; give a mask too [mask]
  131 |     z = tl.load(x_ptr + offs, other=0.0)
      |                                     ^~~
e.py:135:8: error: a condition must be a scalar, here is an int32[16]; use tl.where for elementwise choice [condition]
  135 |     if offs:
      |        ^~~~
e.py:137:8: error: a condition must be a scalar, here is an int1[16]; use tl.where for elementwise choice [condition]
  137 |     if offs > 2:
      |        ^~~~~~~~
e.py:139:11: error: a condition must be a scalar, here is an int1[16]; use tl.where for elementwise choice [condition]
  139 |     while offs > 2:
      |           ^~~~~~~~
e.py:141:14: error: a condition must be a scalar, here is an int1[16]; use tl.where for elementwise choice [condition]
  141 |     w = 1 if offs > 2 else 2
      |              ^~~~~~~~
[1]
#! What is no text at all, or not ours.
$ head -c 3000 /dev/zero > zeros.py; printf 'import triton\n' | iconv -t UTF-16 > utf16.py; printf 'import triton\n' | iconv -t UTF-16BE > utf16be.py; printf '# vim: set fileencoding=koi8-r :\nx = 1\n' > koi.py; printf '# coding: latin-1\nx = "caf\xe9"\n' > latin.py; printf 'x = "caf\xe9"\n' > bare.py; printf '# coding: nonsense\nx = 1\n' > nonsense.py; printf '\x7fELF\x02\x01\x01\x00\xde\xad\xbe\xef' > elf.py; : > empty.py
$ for f in zeros utf16 utf16be koi latin bare nonsense elf empty; do tilewright run $f.py --grid 1 2>&1 | head -1; done
zeros.py:1:1: error: the text holds a NUL byte, which Python source has none of; delete it, or save the file as UTF-8 text [nul-byte]
utf16.py:1:1: error: the file is UTF-16 or UTF-32; only UTF-8 is read; save it as UTF-8 [encoding]
utf16be.py:1:1: error: the file is UTF-16 or UTF-32; only UTF-8 is read; save it as UTF-8 [encoding]
koi.py:1:25: error: the file declares the encoding `koi8-r`; only UTF-8 is read; save it as UTF-8 and declare that [encoding]
latin.py:2:9: error: byte 0xe9 is not UTF-8; save the file as UTF-8 text [not-utf8]
bare.py:1:9: error: byte 0xe9 is not UTF-8; save the file as UTF-8 text [not-utf8]
nonsense.py:1:11: error: the file declares the encoding `nonsense`; only UTF-8 is read; save it as UTF-8 and declare that [encoding]
elf.py:1:8: error: the text holds a NUL byte, which Python source has none of; delete it, or save the file as UTF-8 text [nul-byte]
empty.py:1:1: error: empty.py has no function decorated with @triton.jit; add the decorator to the kernel [no-kernel]
$ tilewright run . --grid 1
error: . cannot be read: Is a directory
[1]
$ tilewright run nowhere.py --grid 1
error: nowhere.py cannot be read: No such file or directory
[1]
$ mkfifo pipe.py; timeout 5 tilewright run pipe.py --grid 1
error: pipe.py cannot be read: Invalid argument
[1]
$ head -c 200000 /dev/urandom > noise.py; tilewright run noise.py --grid 1 > noise.txt 2>&1; echo $?; cp noise.py noise.ir; tilewright run noise.ir --grid 1 > noise.txt 2>&1; echo $?; cp noise.py noise.tile.c; tilewright run noise.tile.c --grid 1 > noise.txt 2>&1; echo $?
1
1
1
#! Deep and long: bounded, with a message.
$ python3 - <<'END'
> n = 10000
> kernel = "import triton\n@triton.jit\ndef k(x):\n    y = "
> texts = {
>     "parentheses": kernel + "(" * n + "1" + ")" * n, "open": "x = " + "[" * n, "minus": kernel + "-" * n * 10 + "1",
>     "not": "x = " + "not " * n * 10 + "1", "sum": kernel + "+".join("1" * n * 10), "power": "x = " + "**".join("1" * n),
>     "blocks": "".join("    " * i + "if x:\n" for i in range(200)) + "    " * 200 + "pass", "lambda": "x = " + "lambda: " * n + "1",
>     "elif": kernel + "1\n    if x:\n        pass\n" + "".join("    elif x == %d:\n        pass\n" % i for i in range(n)),
>     "attribute": "x = a" + ".b" * n * 10, "call": "x = a" + "()" * n * 10, "fields": "x = " + "f'{" * 3000 + "1" + "}'" * 3000,
>     "choice": "x = " + "1 if 1 else " * n + "1", "line": "x = '" + "a" * 1000000 + "'\ny = = 1  # " + "b" * 1000000,
>     "mistakes": "x = = 1\n" * n * 10, "names": kernel + "1\n" + "".join("    a%d = b%d\n" % (i, i) for i in range(n)),
> }
> for name in texts: open(name + ".py", "w").write(texts[name] + "\n")
> open("tile.tile.c", "w").write("void k(int x) { int y = " + "(" * n + "1" + ")" * n + "; }\n")
> open("deep.ir", "w").write("kernel @k(%n: i32) {\n" + "%c = cmp<lt> %n, 3\n" + "if %c {\n" * n + "} {}\n" * n + "}\n")
> END
$ for f in parentheses open minus not sum power blocks lambda elif attribute call fields choice line mistakes names; do echo "$f: $(tilewright run $f.py --target interp --arg x=1 --grid 1 2>&1 | head -1)"; done
parentheses: parentheses.py:4:209: error: expressions are nested more than 200 deep; give parts of it a name [too-deep]
open: open.py:1:205: error: expressions are nested more than 200 deep; give parts of it a name [too-deep]
minus: minus.py:4:409: error: expressions are nested more than 400 deep; give parts of it a name [too-deep]
not: not.py:1:1605: error: expressions are nested more than 400 deep; give parts of it a name [too-deep]
sum: sum.py:4:9: error: the expression has more than 1000 levels; give parts of it a name [too-deep]
power: power.py:1:1205: error: expressions are nested more than 400 deep; give parts of it a name [too-deep]
blocks: blocks.py:101:401: error: blocks are nested more than 100 deep; move inner ones into functions [too-deep]
lambda: lambda.py:1:3205: error: expressions are nested more than 400 deep; give parts of it a name [too-deep]
elif: elif.py:18009:5: error: the expression has more than 1000 levels; give parts of it a name [too-deep]
attribute: attribute.py:1:5: error: the expression has more than 1000 levels; give parts of it a name [too-deep]
call: call.py:1:5: error: the expression has more than 1000 levels; give parts of it a name [too-deep]
fields: fields.py:1:1210: error: expressions are nested more than 200 deep; give parts of it a name [too-deep]
choice: choice.py:1:4805: error: expressions are nested more than 400 deep; give parts of it a name [too-deep]
line: line.py:2:5: error: an expression is expected here, but `=` stands there [syntax]
mistakes: mistakes.py:1:5: error: an expression is expected here, but `=` stands there [syntax]
names: names.py:5:10: error: `b0` is not known; assign it, define it in this file, or give it as a definition [unknown-name]
$ tilewright run tile.tile.c 2>&1 | head -1
tile.tile.c:1:224: error: nested deeper than 200 levels; split it with a variable or a function [too-deep]
$ tilewright run deep.ir --arg n=1 --grid 1 2>&1 | head -1
deep.ir:67:1: error: regions are nested deeper than 64 [ir-syntax]
$ tilewright run mistakes.py --grid 1 2>&1 | tail -1
error: 1 more not shown; mend these first
#! 50 MB.
$ yes 'x = tl.load(p + offsets, mask=mask, other=0.0)  # a line of a kernel' | head -c 52428800 > big.py; tilewright run big.py --grid 1
big.py:55189:8: error: the text has more than 1048576 words; split the file [too-large]
55189 | x = tl.load(p + offsets, mask=mask, other=0.0)  # a line of a kernel
      |        ^~~~
[1]
$ yes '{ "a": 1 }' | head -c 52428800 > big.ir; tilewright run big.ir --grid 1
big.ir:1:1: error: `kernel @name(...)` is expected here [ir-syntax]
    1 | { "a": 1 }
      | ^
[1]
$ head -c 52428800 /dev/zero | tr '\0' '(' > big.tile.c; tilewright run big.tile.c --grid 1 2>&1 | cut -c1-120
big.tile.c:1:1: error: the text, its macros and includes make more than 1048576 tokens; do macros or includes double at 
    1 | ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
      | ^
$ cat > text.py <<'END'
> import triton
> import triton.language as tl
>
> @triton.jit
> def text(x_ptr, S: tl.constexpr):
>     x = tl.load(x_ptr)
>     tl.store(x_ptr, x + S)
> END
$ tilewright check text.py --arg 'x_ptr=zeros:f32[4]' --arg 'S="one"' --grid 1
text.py:7:21: error: `+` has invalid operands of type a float32 and the string '"one"' [operands]
    7 |     tl.store(x_ptr, x + S)
      |                     ^~~~~
[1]
