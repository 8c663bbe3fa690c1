#!/bin/sh
# random_long.sh: many random programs (seven of ten Triton, three IR text) over all processors, against the interpreter.
#
#   tests/random_long.sh [COUNT [SEED]]        10000 programs, seeds from the clock on, are the default
#
# Each runs on target cpu, every tenth on emulated CUDA too. Failures come as they are found, made small, with the seed
# that repeats them (`build/tests/random_triton --seed N`); their texts stay in build/random. The end is one line:
# "10000 programs, 0 failed, seeds from 1 on". JOBS=N takes N processes instead of one for each processor.
cd "$(dirname "$0")/.." || exit 2
count=${1:-10000} seed=${2:-$(date +%s)}
triton=$((count * 7 / 10))
make -s all build/tests/random_triton build/tests/random_ir || exit 2
mkdir -p build/random
cxx=$(command -v "${CXX:-g++}" || command -v clang++ || command -v c++)
status=0
echo "seeds from $seed on; failures stay in build/random"
for kind in "random_triton $triton" "random_ir $((count - triton))"; do
    # shellcheck disable=SC2086
    set -- $kind
    # shellcheck disable=SC2086
    tests/shards.sh "${JOBS:-0}" build/tests/"$1" --count "$2" --seed "$seed" --out build/random --targets cpu \
        ${cxx:+--also cuda-emulated --every 10} >"build/$1.log" 2>&1 &
    tail -n +1 -f --pid=$! "build/$1.log" | sed "s/^/$1: /"
    wait $! || status=1
done
if [ -n "$cxx" ]; then # accesses that depend on each other: on both forms of CUDA
    tests/shards.sh "${JOBS:-0}" build/tests/random_triton --family order --count $((count / 20)) --seed "$seed" --out build/random \
        --targets cuda-emulated,cuda-emulated:sm_80 >build/random_order.log 2>&1 || status=1
    sed "s/^/order: /" build/random_order.log
fi
tail -qn 1 build/random_triton.log build/random_ir.log |
    awk '{ n += $1; bad += $3 } END { printf "%d programs, %d failed, ", n, bad }'
echo "seeds from $seed on"
exit $status
