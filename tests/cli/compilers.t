# Which C compiler target cpu takes. Without CC: gcc, clang, cc in turn; one that is missing, fails or makes wrong code is passed over.
$ cp "$ROOT/kernels/triton/add.py" . && echo add.py --arg x_ptr=arange:f32[8] --arg y_ptr=ones:f32[8] --arg output_ptr=zeros:f32[8] --arg n_elements=8 --arg BLOCK_SIZE=8 --grid 1 > add
$ mkdir one two three four five && printf '#!/bin/sh\necho clang works >>used\nPATH=/usr/bin:/bin exec gcc "$@"\n' >one/clang && chmod +x one/clang && cp one/clang two && cp one/clang three/cc
$ printf '#!/bin/sh\necho gcc fails >>used\necho broken >&2\nexit 1\n' >two/gcc; cp two/gcc four; echo 'int tw_self_test(int *room) { return 3; }' >wrong.c; chmod +x two/gcc four/gcc
$ printf '#!/bin/sh\necho gcc lies >>used\nwhile [ "$1" != -o ]; do shift; done\nPATH=/usr/bin:/bin exec gcc -shared -o "$2" %s/wrong.c\n' "$PWD" >three/gcc; chmod +x three/gcc; cp three/gcc five; cp two/gcc five/clang
$ try() { rm -rf used cache; T=$(command -v tilewright); /usr/bin/env -u CC TILEWRIGHT_CACHE_DIR=$PWD/cache PATH=$1 "$T" run $(cat add); status=$?; /bin/cat used; return $status; }; declare -f try >try.sh
$ . ./try.sh; try $PWD/one
output_ptr: f32[8], 8 of 8 elements changed
clang works
clang works
$ . ./try.sh; try $PWD/two
output_ptr: f32[8], 8 of 8 elements changed
gcc fails
clang works
clang works
$ . ./try.sh; try $PWD/three
output_ptr: f32[8], 8 of 8 elements changed
gcc lies
clang works
clang works
$ . ./try.sh; try $PWD/four
error: the C compiler `gcc` refused the emitted code:
broken

the C compiler `gcc` fails the self-test of what kernels are written in; set CC to gcc or clang, or use target interp
no other C compiler is in PATH; install gcc or clang
hint: a target is chosen with --target NAME
gcc fails
[1]
$ . ./try.sh; try $PWD/five
error: the C compiler `gcc` makes wrong code of vector types (check 3 of the self-test); set CC to gcc or clang, or use target interp
the C compiler `clang` refused the emitted code:
broken

the C compiler `clang` fails the self-test of what kernels are written in; set CC to gcc or clang, or use target interp
no other C compiler is in PATH; install gcc or clang
hint: a target is chosen with --target NAME
gcc lies
gcc fails
[1]
#! One that CC names is never passed over.
$ CC=$PWD/three/gcc tilewright run $(cat add)
error: the C compiler `...three/gcc` makes wrong code of vector types (check 3 of the self-test); set CC to gcc or clang, or use target interp
hint: a target is chosen with --target NAME
[1]
$ CC=$PWD/three/cc tilewright run $(cat add)
output_ptr: f32[8], 8 of 8 elements changed
