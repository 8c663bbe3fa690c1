#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# random_long.sh: many random programs of every door over all processors, against the interpreter (TileLang's and Tile C's
# against plain Python and C too).
#
#   tests/random_long.sh [COUNT [SEED [GENERATOR...]]]     20000 programs of each, seeds from the clock on, are the default
#
# Each runs on the interpreter behind the passes, every fifth on target cpu and on emulated CUDA too; random_tenstorrent's on the
# Tensix model; of random_order (Triton kernels whose accesses depend on each other) and the other families of such kernels a
# twentieth, on both forms of emulated CUDA; the .._options ones again under compile options at random.
# Failures come as they are found, made small, with the seed that repeats them (`build/tests/random_triton --seed N`); their texts
# stay in build/random. The end is one line: "101000 programs, 0 failed, seeds from 1 on". JOBS=N takes N processes instead
# of one for each processor.
cd "$(dirname "$0")/.." || exit 2
count=${1:-20000} seed=${2:-$(date +%s)}
[ $# -gt 2 ] && shift 2 || set -- random_triton random_ir random_tilelang random_roles random_tilec random_tenstorrent random_options random_tilec_options random_tenstorrent_options random_order random_rings random_rows random_corners random_carried
make -s all build/tests/random_triton build/tests/random_ir build/tests/random_tilec build/tests/random_tenstorrent || exit 2
mkdir -p build/random
cxx=$(command -v "${CXX:-g++}" || command -v clang++ || command -v c++)
status=0
logs=
echo "seeds from $seed on; failures stay in build/random"
for name; do
    program=build/tests/$name of=$count targets="passes --also cpu${cxx:+,cuda-emulated} --every 5"
    case $name in
    random_tilelang) program=tests/numeric/random_tilelang.py ;;
    random_roles) program="tests/numeric/random_tilelang.py --roles" targets="sanitize --also cpu,cpu-written${cxx:+,cuda-emulated,cuda-written,sm_80,hip-emulated} --every 20" ;;
    random_tenstorrent) targets=tenstorrent ;;
    random_options) program="build/tests/random_triton --options" targets=cuda-emulated,hip-emulated of=$((count / 20)) ;;
    random_tilec_options) program="build/tests/random_tilec --options" targets=cpu,cuda-emulated of=$((count / 20)) ;;
    random_tenstorrent_options) program="build/tests/random_tenstorrent --options" targets=tenstorrent ;;
    random_order | random_rings | random_rows | random_corners | random_carried) program="build/tests/random_triton --family ${name#random_}" targets=cuda-emulated,cuda-emulated:sm_80 of=$((count / 20)) ;;
    esac
    [ -n "$cxx" ] || case $targets in cuda-emulated* | tenstorrent) continue ;; esac
    logs="$logs build/$name.log"
    # shellcheck disable=SC2086
    tests/shards.sh "${JOBS:-0}" $program --count $of --seed "$seed" --out build/random --targets $targets >"build/$name.log" 2>&1 &
    tail -n +1 -f --pid=$! "build/$name.log" | sed "s/^/$name: /"
    wait $! || status=1
done
# shellcheck disable=SC2086
tail -qn 1 $logs | awk '{ n += $1; bad += $3 } END { printf "%d programs, %d failed, ", n, bad }'
echo "seeds from $seed on"
exit $status
