#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# random_long.sh: many random programs of every door over all processors, against the interpreter (TileLang's and Tile C's
# against plain Python and C too), and broken texts of every door under ASan and UBSan.
#
#   tests/random_long.sh [COUNT [SEED [GENERATOR...]]]     20000 programs of each, seeds from the clock on, are the default
#   tests/random_long.sh 480s [SEED [GENERATOR...]]        as many as there is time for: builds, 100000 texts a door, and equal
#                                                          shares of what is left for the generators
#
# Most programs run on the interpreter behind the passes, every so many also on the slow targets: cpu, emulated CUDA of both
# forms, emulated HIP; those of Tenstorrent on the Tensix model. Where every program is compiled for emulators, a twentieth of COUNT
# runs. `table` below says it for each generator.
#
# A failure is made small (not against the clock); its text stays in build/random, and one line says what repeats it:
#
#   random_order: seed 17: differs on cuda-emulated: ..      again: build/tests/random_triton --family order --targets cuda-emulated --seed 17
#
# All that was said is build/NAME.log. The end is one line: "101000 programs, 0 failed, seeds from 1 on". JOBS=N takes N processes
# instead of one for each processor.
cd "$(dirname "$0")/.." || exit 2
count=${1:-20000} seed=${2:-$(date +%s)} begin=$(date +%s)
case $count in *s) limit=${count%s} count=1000000000 ;; *) limit= ;; esac

cxx=$(command -v "${CXX:-g++}" || command -v clang++ || command -v c++)
slow=cpu${cxx:+,cuda-emulated,cuda-emulated:sm_80,hip-emulated}
slow_tilelang=cpu${cxx:+,cuda-emulated,sm_80,hip-emulated}
emulated=${cxx:+cuda-emulated,cuda-emulated:sm_80,hip-emulated}
triton=build/tests/random_triton tilelang=tests/numeric/random_tilelang.py tilec=build/tests/random_tilec
# name, a share of COUNT, program, targets
table() {
    cat <<END
fuzz 1 build/asan/tests/test_fuzz
random_triton 1 $triton --targets passes --also $slow --every 5
random_ir 1 build/tests/random_ir --targets passes --also $slow --every 5
random_tilelang 1 $tilelang --targets passes --also $slow_tilelang --every 5
random_tilec 1 $tilec --targets passes --also $slow --every 5
random_templates 20 tests/numeric/random_templates.py --targets interp,cpu --also cpu-written${cxx:+,cuda-emulated,cuda-written} --every 5
random_roles 1 $tilelang --roles --targets sanitize --also cpu-written,${cxx:+cuda-written,}$slow_tilelang --every 20
random_threads 1 $tilelang --threads --targets passes --also cpu-written,${cxx:+cuda-written,}$slow_tilelang --every 20
END
    [ -n "$cxx" ] || return
    cat <<END
random_tenstorrent 1 build/tests/random_tenstorrent --targets tenstorrent
random_tenstorrent_options 1 build/tests/random_tenstorrent --options --targets tenstorrent
random_options 20 $triton --options --targets $emulated
random_tilec_options 20 $tilec --options --targets cpu,cuda-emulated,hip-emulated
random_ir_rings 20 build/tests/random_ir --family rings --targets $emulated
END
    for family in order rings rows corners carried; do echo "random_$family 20 $triton --family $family --targets $emulated --also cpu --every 5"; done
}
[ $# -gt 2 ] && shift 2 || set -- $(table | cut -d' ' -f1)

rest=$# status=0 logs=
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
make -s -j"$jobs" all build/tests/random_triton build/tests/random_ir build/tests/random_tilec build/tests/random_tenstorrent || exit 2
case " $* " in *" fuzz "*) make -s -j"$jobs" B=build/asan SAN=1 CFLAGS="-O1 -g" build/asan/tests/test_fuzz || exit 2 ;; esac
mkdir -p build/random
echo "seeds from $seed on; failures stay in build/random; built in $(($(date +%s) - begin)) s"
for name; do
    row=$(table | sed -n "s/^$name //p")
    [ -n "$row" ] || { echo "there is no generator $name; there are: $(table | cut -d' ' -f1 | tr '\n' ' ')"; exit 2; }
    program=${row#* } of="--count $((count / ${row%% *}))"
    [ -z "$limit" ] || of="--large --seconds $(((limit + begin - $(date +%s)) / rest))"
    [ "$name" != fuzz ] || of="--texts 100000"
    rest=$((rest - 1)) logs="$logs build/$name.log"
    started=$(date +%s)
    # shellcheck disable=SC2086
    tests/shards.sh "$jobs" $program $of --seed "$seed" $([ "$name" = fuzz ] || echo --out build/random) >"build/$name.log" 2>&1 || status=1
    # shellcheck disable=SC2016
    grep -aE '^seed [0-9]+: |, kept as |^shard .* ended ' "build/$name.log" | sed -E -e 's/^(.{300}).*/\1 ../' -e "s|^seed ([0-9]+): .*|&      again: $program --seed \1|" -e "s|^.*, kept as (.*)|&      again: $program --replay \1|" -e "s/^/$name: /"
    echo "$name: $(tail -n 1 "build/$name.log"), $(($(date +%s) - started)) s"
done
# shellcheck disable=SC2086
tail -qn 1 $logs | awk '{ n += $1; bad += $3 } END { printf "%d programs, %d failed, ", n, bad }'
echo "seeds from $seed on"
exit $status
