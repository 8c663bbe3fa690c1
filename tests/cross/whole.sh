#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# whole.sh: the compiler built for arm64, under qemu: it compiles kernels with a cross compiler, runs them, and builds objects, which a
# program of arm64 links and calls. Everything but the processor is as on such a machine. In `make test-long`.
#
#   tests/cross/whole.sh        needs aarch64-linux-gnu-gcc and qemu-aarch64
cd "$(dirname "$0")/../.." || exit 2
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed (apt-get install gcc-aarch64-linux-gnu qemu-user)"; exit 0; }
done
make -s -j"$(nproc)" CC=aarch64-linux-gnu-gcc HOST_CC=cc OBJCOPY=aarch64-linux-gnu-objcopy CFLAGS=-O1 WERROR=-Werror B=build/arm64 build/arm64/tilewright || exit 1
root=$PWD folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
# A cross compiler knows no processor of this machine.
cat >cc <<'END'
#!/bin/sh
for a; do shift; [ "$a" = -mcpu=native ] || set -- "$@" "$a"; done
exec aarch64-linux-gnu-gcc "$@"
END
chmod +x cc
export CC="$folder/cc" QEMU_LD_PREFIX=/usr/aarch64-linux-gnu TILEWRIGHT_CACHE_DIR="$folder/cache"
tilewright() { qemu-aarch64 "$root/build/arm64/tilewright" "$@"; }
add="$root/kernels/triton/add.py" softmax="$root/kernels/triton/softmax.py"
tilewright check "$add" --arg x_ptr=randn:f32[1000] --arg y_ptr=randn:f32[1000] --arg output_ptr=zeros:f32[1000] --arg n_elements=1000 -D BLOCK_SIZE=256 --grid 4 || exit 1
tilewright check "$root/kernels/tilelang/gemm_splitk.py" -DM=64 -DN=64 -DK=96 --arg A=randn:f16[64,96] --arg B=randn:f16[96,64] --arg C=zeros:f32[64,64] || exit 1
tilewright build "$add" --arg 'x_ptr=*f32' --arg 'y_ptr=*f32' --arg 'output_ptr=*f32' --arg n_elements=i32 -D BLOCK_SIZE=1024 --and "$softmax" \
    --arg 'out_ptr=*f32' --arg 'in_ptr=*f32' --arg in_stride=i32 --arg out_stride=i32 --arg n_cols=i32 -D BLOCK=128 -o all || exit 1
cp all.h add.h && cp all.h softmax.h
aarch64-linux-gnu-gcc -std=c11 -Wall -Wextra -Werror -I. "$root/examples/built/engine.c" all.a -lm -lpthread -o engine && qemu-aarch64 ./engine | tee said && grep -q "8 of 8" said || exit 1
echo "arm64: the compiler, kernels and an archive, under qemu"
