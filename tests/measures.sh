#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# measures.sh: what the compiler itself takes, as numbers: run by `make measures`, judged by people (machines differ).
#   memory   the largest resident set of our process, without the compiler that it starts, over the kernels of kernels/
#   front    door and passes of each kernel, median of 5 (bound: 5 ms; of TileLang a gemm 3 ms, attention 10 ms)
#   large    kernels of many statements (tests/large_kernels.py) to C text (bound: 1 s each; many_stores, which has 20,000 of them: 2 s)
#   cold     `tilewright run` of vector add with an empty cache, to running code, median of 5 (bound: 150 ms)
cd "$(dirname "$0")/.." || exit 2
bin=${1:-build}/tilewright
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
export TILEWRIGHT_CACHE_DIR="$folder/cache"
add="kernels/triton/add.py --arg x_ptr=ones:f32[4096] --arg y_ptr=ones:f32[4096] --arg output_ptr=zeros:f32[4096] --arg n_elements=4096 --arg BLOCK_SIZE=1024 --grid 4"
softmax="kernels/triton/softmax.py --arg in_ptr=randn:f32[64,256] --arg out_ptr=zeros:f32[64,256] --arg in_stride=256 --arg out_stride=256 --arg n_cols=256 --arg BLOCK=256 --grid 64"
matmul="kernels/triton/matmul.py --arg a_ptr=randn:f32[128,128] --arg b_ptr=randn:f32[128,128] --arg c_ptr=zeros:f32[128,128] --arg M=128 --arg N=128 --arg K=128 --arg stride_am=128 --arg stride_ak=1 --arg stride_bk=128 --arg stride_bn=1 --arg stride_cm=128 --arg stride_cn=1 --arg BM=64 --arg BN=64 --arg BK=64 --grid 4"
gemm="kernels/tilelang/gemm.py -D M=128 -D N=128 -D K=128 --arg A=randn:f16[128,128] --arg B=randn:f16[128,128] --arg C=zeros:f16[128,128]"
attention="kernels/tilelang/attention.py --arg Z=1 --arg H=2 --arg G=1 --arg M=128 --arg N=128 --arg D=64 --arg Q=randn:f16[1,2,128,64] --arg K=randn:f16[1,2,128,64] --arg V=randn:f16[1,2,128,64] --arg O=zeros:f16[1,2,128,64]"
tilec="kernels/tilec/matmul.tile.c --arg g.A=randn:bf16[128,128] --arg g.B=randn:bf16[128,128] --arg g.C=zeros:bf16[128,128]"

# The peak of a process. What it starts counts as well, so it has to find its kernel in the cache.
peak() { # COMMAND..: kilobytes
    cat >"$folder/peak.py" <<'END'
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
_, _, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
END
    python3 "$folder/peak.py" "$@"
}
median() { sort -n | sed -n "$((($1 + 1) / 2))p"; }

echo "memory, front end and passes of the kernels (bounds: 50 MB, 5 ms)"
for name in add softmax matmul gemm attention tilec; do
    eval "what=\$$name"
    # shellcheck disable=SC2086
    "$bin" run $what --target cpu >/dev/null || exit 1
    # shellcheck disable=SC2086
    kilobytes=$(peak "$bin" run $what --target cpu)
    for _ in 1 2 3 4 5; do
        # shellcheck disable=SC2086
        "$bin" run $what --target cpu --time-passes | awk '$1 == "total" { print $2 }'
    done >"$folder/times"
    printf '%-10s %6.1f MB %8s ms\n' "$name" "$(echo "$kilobytes" | awk '{ print $1 / 1024 }')" "$(median 5 <"$folder/times")"
done
echo "large kernels, from the command line to C text (bound: 1000 ms)"
for name in $(python3 tests/large_kernels.py "$folder"); do
    begin=$(date +%s%N)
    "$bin" emit "$folder/$name.py" --target cpu --arg x=zeros:f32[4096] --arg y=zeros:f32[4096] --arg n=4 --arg B=64 >/dev/null || exit 1
    printf '%-10s %6d ms\n' "$name" $((($(date +%s%N) - begin) / 1000000))
done
echo "cold vector add, from the command line to the end, with an empty cache (bound: 150 ms)"
for _ in 1 2 3 4 5; do
    rm -rf "$folder/cache"
    begin=$(date +%s%N)
    # shellcheck disable=SC2086
    "$bin" run $add --target cpu >/dev/null || exit 1
    echo $((($(date +%s%N) - begin) / 1000000))
done >"$folder/times"
echo "$(median 5 <"$folder/times") ms"
