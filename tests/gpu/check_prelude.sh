#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_prelude.sh: compares the device prelude with the emulator on a GPU, fragments register by register (check_prelude.c).
# Needs nvcc and cuda.h; says so and does nothing without them.
set -e
b=${1:-build}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ ! -x "$nvcc" ]; then
    echo "skipped: the prelude on the device (nvcc is not installed)"
    exit 0
fi
cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
"$nvcc" -arch=sm_90a -std=c++17 -cubin --fmad=false -Isrc/target/cuda/prelude -Isrc/target/simt/prelude -Itests/emu tests/emu/all.cu -o "$b/all.cubin"
${CC:-cc} -std=c11 -D_GNU_SOURCE -Isrc -Itests/unit -I"$cuda/include" -I"$cuda/targets/x86_64-linux/include" tests/gpu/check_prelude.c \
    "$b/libinside.a" -L"$cuda/lib64/stubs" -L"$cuda/targets/x86_64-linux/lib/stubs" -lcuda -lm -ldl -lpthread -o "$b/check_prelude"
"$b/check_prelude" "$b/all.cubin"
