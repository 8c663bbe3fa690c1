# Which files a source may read, and how much text it may make of them.
# requires: python3
$ mkdir -p own/below other && echo '#define INSIDE 1' > own/below/in.h && echo 'secret line' > other/out.h && ln -s ../other/out.h own/link.h && mkfifo own/pipe.h
$ cd own && for name in below/in.h below/../below/in.h ../other/out.h "$PWD/../other/out.h" link.h pipe.h below /etc/passwd /proc/self/environ /dev/zero; do printf '#include "%s"\n#if INSIDE\n#error read\n#endif\n' "$name" > a.tile.c; timeout 5 tilewright list a.tile.c 2>&1 | grep -c 'secret\|root:\|PATH' ; timeout 5 tilewright list a.tile.c 2>&1 | sed -n 's/.*\[\(.*\)\]$/\1/p'; done
0
error-directive
0
error-directive
0
no-header
0
no-header
0
no-header
0
no-header
0
no-header
0
no-header
0
no-header
0
no-header
#! Folders that the user names are read, and with --include-anywhere all.
$ cd own && printf '#include "out.h"\n' > a.tile.c && tilewright list a.tile.c -I ../other 2>&1 | head -2
../other/out.h:1:1: error: `secret` is no type here; declare it with typedef, or write `struct secret` [unknown-type]
    1 | secret line
$ cd own && printf '#include "../other/out.h"\n' > a.tile.c && tilewright list a.tile.c --include-anywhere 2>&1 | head -2
../other/out.h:1:1: error: `secret` is no type here; declare it with typedef, or write `struct secret` [unknown-type]
    1 | secret line
#! An imported Python file may come from the package's folders, not from beside them.
$ mkdir -p top/pack && touch top/pack/__init__.py && echo 'FAR = 7' > top/far.py && echo 'NEAR = 5' > top/pack/near.py && echo 'AWAY = 3' > away.py && printf 'import triton\nimport triton.language as tl\nfrom .near import NEAR\nfrom far import FAR\n@triton.jit\ndef k(x):\n    tl.store(x, NEAR + FAR)\n' > top/pack/k.py && tilewright run top/pack/k.py --arg x=zeros:i32[1] --grid 1
x: i32[1], 1 of 1 elements changed
$ sed 's/from far/from ...away/; s/FAR/AWAY/g' top/pack/k.py > top/pack/far.py && tilewright run top/pack/far.py --arg x=zeros:i32[1] --grid 1 2>&1 | sed -n 's/.*\[\(.*\)\]$/\1/p'
operands
#! Includes and macros that double are stopped, in time and memory.
$ python3 -c "
> for i in range(1, 30): print(f'#ifndef D{i}\n#define D{i}\n#include \"bomb.tile.c\"\n#include \"bomb.tile.c\"\n#undef D{i}\n#else')
> print('int x;' + '\n#endif' * 29)" > bomb.tile.c
$ (ulimit -v 300000; timeout 5 tilewright list bomb.tile.c)
bomb.tile.c:1:1: error: the text, its macros and includes make more than 1048576 tokens; do macros or includes double at each step? [macro-too-large]
    1 | #ifndef D1
      | ^
[1]
$ python3 -c "
> print('#define M0 x')
> for i in range(1, 60): print(f'#define M{i} M{i-1} M{i-1}')
> print('int M59;')" > macros.tile.c
$ (ulimit -v 300000; timeout 5 tilewright list macros.tile.c)
macros.tile.c:61:5: error: the text, its macros and includes make more than 1048576 tokens; do macros or includes double at each step? [macro-too-large]
   61 | int M59;
      |     ^~~
macros.tile.c:61:5: error: expected `;` behind the declaration, found `x` [syntax]
   61 | int M59;
      |     ^~~
macros.tile.c:60:9: note: it comes from the macro defined here
   60 | #define M59 M58 M58
      |         ^~~
[1]
$ python3 -c "print('x = 1;' * 20000000)" > large.py; (ulimit -v 200000; timeout 5 tilewright list large.py)
error: large.py is larger than 64 MiB; split it
[1]
$ python3 -c "print('(' * 100000)" > deep.py; timeout 5 tilewright list deep.py 2>&1 | sed -n 's/.*\[\(.*\)\]$/\1/p' | head -1; python3 -c "print('int x = ' + '(' * 100000)" > deep.tile.c; timeout 5 tilewright list deep.tile.c 2>&1 | sed -n 's/.*\[\(.*\)\]$/\1/p' | head -1; python3 -c "print('kernel @k() {' + 'if true {' * 100000)" > deep.ir; timeout 5 tilewright list deep.ir 2>&1 | sed -n 's/.*\[\(.*\)\]$/\1/p' | head -1
too-deep
too-deep
ir-syntax
#! A package may import from itself, and modules may take all of each other's names.
$ mkdir -p round && printf 'from round import near\nfrom round import k\nfrom .a import *\n' > round/__init__.py && echo 'from .b import *' > round/a.py && printf 'from .a import *\nTWO = 2\n' > round/b.py && echo 'NEAR = 5' > round/near.py && printf 'import triton\nimport triton.language as tl\nfrom round import near, TWO\n@triton.jit\ndef k(x):\n    tl.store(x, near.NEAR + TWO)\n' > round/k.py && tilewright run round/k.py --arg x=zeros:i32[1] --grid 1 --save x=x.npy && tail -c 4 x.npy | od -An -td4
           7
$ sed 's/TWO/THREE/' round/k.py > round/j.py && tilewright run round/j.py --arg x=zeros:i32[1] --grid 1 2>&1 | sed -n 's/.*\[\(.*\)\]$/\1/p'
operands
#! Names and texts that # and ## double count by their bytes.
$ python3 -c "
> for i in range(40): print(f'#define P{i}(x) Q(x, x)\n#define S{i}(x) x')
> print('#define Q(a, b) a##b\nint ' + ''.join(f'P{i}(' for i in range(40)) + 'x' * 99 + ')' * 40 + ';')" > paste.tile.c
$ (ulimit -v 300000; timeout 5 tilewright list paste.tile.c) 2>&1 | grep -c macro-too-large
1
$ python3 -c "
> print('#define T(x)' + ' #x' * 5000 + '\nchar *y = T(' + 'word ' * 50000 + ');')" > texts.tile.c
$ (ulimit -v 300000; timeout 5 tilewright list texts.tile.c) 2>&1 | grep -c macro-too-large
1
#! Constants of a module that double a wrong one: it is computed, and said, once. A message does not grow with what it quotes.
$ python3 -c "
> print('import triton, triton.language as tl\nA0 = \"ab\"')
> for i in range(1, 60): print(f'A{i} = A{i-1} + A{i-1}')
> print('@triton.jit\ndef k(x):\n    tl.static_print(A59)\n    tl.store(x, 1)')" > doubled.py
$ (ulimit -v 300000; timeout 5 tilewright emit doubled.py --arg x=zeros:i32[1]) 2>&1 | sed -n 's/ error:.*\[/ [/p'
doubled.py:17:7: [too-long]
$ python3 -c "print('import triton, triton.language as tl\n@triton.jit\ndef k(x):\n    tl.store(x, 1' + '0' * 1000000 + ')')" > digits.py
$ tilewright emit digits.py --arg x=zeros:i32[1] 2>&1 | wc -c | awk '{ print $1 < 6000 }'
1
