#!/bin/sh
# random_long.sh: many random programs of every door over all processors, against the interpreter (TileLang's and Tile C's
# against plain Python and C too).
#
#   tests/random_long.sh [COUNT [SEED [GENERATOR...]]]     20000 programs of each, seeds from the clock on, are the default
#
# Each runs on target cpu and on the interpreter behind the passes, every tenth on emulated CUDA too; random_tenstorrent's on the
# Tensix model. Failures come as they are found, made small, with the seed that repeats them (`build/tests/random_triton --seed
# N`); their texts stay in build/random. The end is one line: "100000 programs, 0 failed, seeds from 1 on". JOBS=N takes N
# processes instead of one for each processor.
cd "$(dirname "$0")/.." || exit 2
count=${1:-20000} seed=${2:-$(date +%s)}
[ $# -gt 2 ] && shift 2 || set -- random_triton random_ir random_tilelang random_tilec random_tenstorrent
make -s all build/tests/random_triton build/tests/random_ir build/tests/random_tilec build/tests/random_tenstorrent || exit 2
mkdir -p build/random
cxx=$(command -v "${CXX:-g++}" || command -v clang++ || command -v c++)
status=0
logs=
echo "seeds from $seed on; failures stay in build/random"
for name; do
    targets=cpu,passes program=build/tests/$name
    case $name in
    random_tilelang) targets=cpu program=tests/numeric/random_tilelang.py ;; # compares with Python, and runs the interpreter itself
    random_tenstorrent) targets=tenstorrent ;;
    esac
    logs="$logs build/$name.log"
    [ $targets = tenstorrent ] || also=${cxx:+--also cuda-emulated --every 10}
    # shellcheck disable=SC2086
    tests/shards.sh "${JOBS:-0}" $program --count "$count" --seed "$seed" --out build/random --targets $targets $also >"build/$name.log" 2>&1 &
    tail -n +1 -f --pid=$! "build/$name.log" | sed "s/^/$name: /"
    wait $! || status=1
    also=
done
# shellcheck disable=SC2086
tail -qn 1 $logs | awk '{ n += $1; bad += $3 } END { printf "%d programs, %d failed, ", n, bad }'
echo "seeds from $seed on"
exit $status
