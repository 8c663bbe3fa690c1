#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# all.sh: what `make test` runs. Each group runs with what this machine has; what is missing is skipped, and the end of
# the output lists it with the command that would add it. The exit status is that of the groups that ran.
#
#   tests/all.sh [GROUP...]       just these groups
#   TILEWRIGHT_STRICT=1           a skipped group (but the GPU's) is a failure: what CI uses
#
# Two lanes go through the same list of groups, long ones first; each takes the next that the other has not taken, and shares
# it out over half of the processors. The virtual environment is made meanwhile. A line appears when its group ends: how long it
# took, and the time of all its processes together.
# shellcheck disable=SC2317
cd "$(dirname "$0")/.." || exit 2
wanted="$*"
# Python's modules are read once: torch alone takes 2.5 s a process else, and dozens import it.
export PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX="$PWD/build/pycache"
# A warning is a fault here; in the build of a user it is a warning. Lines are enough for debuggers: variables, too, would take the
# compiler a fifth longer.
export WERROR=-Werror CFLAGS="${CFLAGS--O2 -g1}"
processors=$(nproc 2>/dev/null || echo 2)
jobs=$(((processors + 1) / 2)) # of a lane
venv=.venv
mkdir -p build
results=build/test-results # a line for each group: ok, failed or skipped, its name, and what was missing
: >$results
taken=$(mktemp -d) || exit 2 # a folder for each group that a lane has taken
trap 'rm -rf "$taken"' EXIT
trap 'kill $venv_job $first_lane $second_lane 2>/dev/null; exit 130' INT TERM

have() { command -v "$1" >/dev/null 2>&1; }

wants() { # is one of these groups to run?
    [ -n "$wanted" ] || return 0
    for one in "$@"; do case " $wanted " in *" $one "*) return 0 ;; esac; done
    return 1
}

# group NAME "what is missing, or empty" "how to add it" COMMAND...
group() {
    name=$1 missing=$2 add=$3
    shift 3
    wants "$name" && mkdir "$taken/$name" 2>/dev/null || return
    if [ -n "$missing" ]; then
        echo "skipped $name: $missing; $add" >>$results
        return
    fi
    started=$(date +%s)
    (
        "$@" >build/test-"$name".log 2>&1
        status=$?
        times >build/test-"$name".times
        exit $status
    ) && end=ok || end=failed
    echo "$end $name" >>$results
    took="$(($(date +%s) - started)) s, $(awk -F '[ms ]' 'NR == 2 { printf "%d", $1 * 60 + $2 + $4 * 60 + $5 }' build/test-"$name".times) s of processors"
    if [ $end = ok ]; then
        echo "ok      $name ($took): $(tail -n 1 build/test-"$name".log)"
    else
        printf '%s\n' "FAILED  $name ($took), the end of build/test-$name.log:
$(tail -n 40 build/test-"$name".log)"
    fi
}

need() { # the first of the tools that is not there
    for tool in "$@"; do have "$tool" || { echo "$tool is not installed"; return; }; done
}

one_at_a_time() { # NAME COMMAND...: not both lanes
    until mkdir "$taken/making-$1" 2>/dev/null; do sleep 1; done
    making=$1
    shift
    "$@"
    made=$?
    rmdir "$taken/making-$making"
    return $made
}
unit() { make -s JOBS="$jobs" unit; }
# The library's second build is both by another compiler and under ASan and UBSan; where there is no clang, by the same one. The
# tests do not run below this make: kernels are compiled as they are for the plain build, and some are in the cache from there.
sanitizers=build/sanitized
sanitized_build() {
    if have clang-14; then set -- CC=clang-14 CFLAGS="-O0 -g1"; else set -- CFLAGS="-O0 -g1 -Wno-clobbered"; fi
    make -s -j"$jobs" B=$sanitizers SAN=1 "$@" all units
}
sanitized() {
    one_at_a_time sanitized sanitized_build &&
        ls tests/unit/test_*.c | sed "s|tests/unit/\(.*\)\.c|$sanitizers/tests/\1|" |
        TILEWRIGHT_CASES=100 TILEWRIGHT_EVERY=12 xargs -P "$jobs" -n 1 tests/run_unit.sh
}
# without a warning, and into a compiler that makes the same IR: the order of arguments is each C compiler's own
with_clang() { one_at_a_time sanitized sanitized_build && $sanitizers/tests/test_passes; }
# threads that share a context, its kernels and the cache
threads() { make -s -j"$jobs" build/tsan/test_threads && TSAN_OPTIONS=halt_on_error=1 build/tsan/test_threads; }
make_venv() { # and what the tests need in it, once
    { [ -x $venv/bin/python ] || python3 -m venv $venv; } >build/test-venv.log 2>&1 &&
        add_to_venv requirements.txt >>build/test-venv.log 2>&1 &&
        add_to_venv requirements-torch.txt >build/test-torch-venv.log 2>&1
    echo >$venv_made
}
in_venv() { [ "$venv/$1.done" -nt "tests/$1" ]; }
add_to_venv() { in_venv "$1" || { $venv/bin/pip install -q --no-compile --disable-pip-version-check -r "tests/$1" && touch "$venv/$1.done"; }; }
# Kernels of target cpu and of emulators that are many, compiled quickly; the group `cpu`, the Python tests and the pages among
# the transcripts compile kernels of target cpu as users do.
quickly() { (QUICK_CC=${CC:-gcc} CC=$PWD/tests/quick_cc.sh && export QUICK_CC CC && quick_headers "$@"); }
quick_headers() {
    case $("$cxx" --version 2>/dev/null) in
    *"Free Software Foundation"*) (QUICK_CXX=$cxx QUICK_HEADERS=$PWD/build/quick_headers CXX=$PWD/tests/quick_cxx.sh && export QUICK_CXX QUICK_HEADERS CXX && "$@") ;;
    *) "$@" ;;
    esac
}
python_package() { one_at_a_time package make -s -j"$jobs" python PYTHON=$venv/bin/python; }
# With torch, or without it: "not torch", "torch". Threads of torch that wait for work burn half of the time.
python_tests() {
    python_package && OMP_NUM_THREADS=1 PYTHONPATH=build/python $venv/bin/python -m pytest -q -p no:cacheprovider -m "$1" tests/python
}
python_install() { # as a user would
    rm -rf build/installed && $venv/bin/pip install -q --disable-pip-version-check --no-build-isolation --no-deps --no-index --target build/installed . &&
        PYTHONPATH=build/installed $venv/bin/python tests/python/installed.py
}
python_rules() { python3 tests/check_tree.py; }
transcripts() { python3 tests/run.py; }
golden() { python3 tests/golden/cuda.py; }
python_grammar() { python3.11 tests/syntax/compare_errors.py build/tests/pytree && python3.11 tests/syntax/compare_ast.py build/tests/pytree --every 3; }
numeric() { tests/shards.sh "$jobs" build/tests/matrix --targets "$1" --random "$2" --seed "${TILEWRIGHT_SEED:-1}"; }
property() { tests/shards.sh "$jobs" build/tests/property --targets "$1" --draws "$2" --seed "${TILEWRIGHT_SEED:-1}"; }
# 120 random programs (60 of Triton, 40 of the IR, 20 of TileLang) side by side, and those that once failed; every tenth on emulated CUDA too
random_programs() {
    tests/shards.sh "$jobs" build/tests/random_triton --targets "cpu${cxx:+,cuda-emulated}" --replay tests/random/*.py || return 1
    tests/shards.sh "$jobs" python3 tests/numeric/random_tilelang.py --targets "sanitize,cpu${cxx:+,cuda-emulated}" --replay tests/random/tilelang/*.py || return 1
    tests/shards.sh "$jobs" python3 tests/numeric/tilelang_kernels.py --targets interp,cpu ${cxx:+--also cuda-emulated --every 5} || return 1
    for kind in "build/tests/random_triton 60" "build/tests/random_ir 40" "tests/numeric/random_tilelang.py 20"; do
        # shellcheck disable=SC2086
        set -- $kind
        # shellcheck disable=SC2086
        tests/shards.sh "$jobs" "$1" --seed "${TILEWRIGHT_SEED:-1}" --count "$2" --targets passes,cpu ${cxx:+--also cuda-emulated --every 10} || return 1
    done
    # shellcheck disable=SC2086
    tests/shards.sh "$jobs" python3 tests/numeric/random_tilelang.py --roles --seed "${TILEWRIGHT_SEED:-1}" --count 24 --targets sanitize,cpu ${cxx:+--also cuda-emulated,cuda-written --every 2} || return 1
    for family in order rings rows corners carried; do
        [ -z "$cxx" ] || tests/shards.sh "$jobs" build/tests/random_triton --family $family --seed "${TILEWRIGHT_SEED:-1}" --count 6 --targets cuda-emulated --also cuda-emulated:sm_80 --every 2 || return 1
    done
    [ -z "$cxx" ] || tests/shards.sh "$jobs" build/tests/random_triton --options --seed "${TILEWRIGHT_SEED:-1}" --count 6 --targets passes,cuda-emulated || return 1
    [ -z "$cxx" ] || tests/shards.sh "$jobs" build/tests/random_ir --family rings --seed "${TILEWRIGHT_SEED:-1}" --count 12 --targets cuda-emulated
}
# Tile C: all products on the interpreter, some on the other targets; random programs the same way
tile_c() {
    tests/shards.sh "$jobs" build/tests/tilec_products --targets interp &&
        tests/shards.sh "$jobs" build/tests/tilec_kernels --targets "interp,cpu${cxx:+,emulated}" &&
        tests/shards.sh "$jobs" build/tests/tilec_products --targets "cpu${cxx:+,emulated,tenstorrent}" --every 60 &&
        tests/shards.sh "$jobs" build/tests/random_tilec --seed "${TILEWRIGHT_SEED:-1}" --count 1000 --targets passes &&
        tests/shards.sh "$jobs" build/tests/random_tilec --seed "${TILEWRIGHT_SEED:-1}" --count 12 --targets cpu ${cxx:+--also cuda-emulated --every 4} &&
        tests/shards.sh "$jobs" python3 tests/numeric/random_templates.py --seed "${TILEWRIGHT_SEED:-1}" --count 24 --targets interp ${cxx:+--also cpu,cuda-emulated --every 12}
}
# the prelude's numbers, host programs, some of the runs that docs/tenstorrent.md speaks of, the matrix, programs that once failed, and 80 random ones in the shapes that this target is for, half of them under options at random
tenstorrent() {
    "$cxx" -std=c++17 -O1 -ffp-contract=off -Isrc/target/tenstorrent/prelude tests/numeric/tensix_scalar_check.cpp -o build/tensix_scalar_check && build/tensix_scalar_check &&
        tests/shards.sh "$jobs" python3 tests/metalium/hosts.py &&
        tests/shards.sh "$jobs" python3 tests/metalium/kernels.py --every 29 &&
        tests/shards.sh "$jobs" python3 tests/metalium/kernels.py --only attention_f8 --every 4 &&
        numeric tenstorrent 1 &&
        tests/shards.sh "$jobs" build/tests/random_tenstorrent --targets tenstorrent --replay tests/random/tenstorrent/*.py &&
        tests/shards.sh "$jobs" build/tests/random_tenstorrent --seed "${TILEWRIGHT_SEED:-1}" --count 40 --targets tenstorrent &&
        tests/shards.sh "$jobs" build/tests/random_tenstorrent --options --seed "${TILEWRIGHT_SEED:-1}" --count 40 --targets tenstorrent
}
# every kernel of compile_all.py for AMD's GPUs compiled for its chip; some kernels and random programs on the emulator, waves of 64 and of 32
hip() {
    python3 tests/compile_hip.py && python3 tests/hip_mix.py &&
        tests/shards.sh "$jobs" build/tests/matrix --targets hip,rdna --only "by rows of n" --seed "${TILEWRIGHT_SEED:-1}" &&
        tests/shards.sh "$jobs" build/tests/random_triton --seed "${TILEWRIGHT_SEED:-1}" --count 6 --targets hip-emulated --also hip-emulated:gfx1100 --every 2
}
neon() { python3 tests/cross/neon.py; }
# the prelude of CPU kernels without FMA, and for vectors that this machine may not have (those are only compiled)
machines() {
    prelude="-std=gnu11 -O2 -ffp-contract=off -fno-math-errno -Wno-psabi -Isrc/target/cpu/prelude tests/numeric/prelude_check.c"
    gcc $prelude -march=x86-64-v4 -mavx512bf16 -c -o build/prelude_512.o &&
        gcc $prelude -march=sapphirerapids -Wall -Wextra -c -o build/prelude_amx.o &&
        gcc $prelude -march=native -DTW_PAIRS -o build/prelude_pairs -lm && build/prelude_pairs &&
        gcc $prelude -march=native -DTW_PAIRS -DTW_AMX_TWIN -o build/prelude_tiles -lm && build/prelude_tiles &&
        gcc $prelude -march=x86-64 -o build/prelude_128 -lm && build/prelude_128
}
scheduled() { python3 tests/wild/scheduled.py; }
wild() { python3 tests/wild/run.py --targets "cpu${cxx:+,cuda}"; }
pages() { python3 tests/draw/run.py; }
built() { make -s -j"$jobs" build/libinside.a && python3 tests/built/run.py; }
library() { python3 tests/library.py; }
process() { python3 tests/process/run.py; }
ops() { tests/shards.sh "$jobs" build/tests/ops; }
device() { make -s check-gpu; }

cxx=$(for c in "${CXX:-g++}" g++ clang++ c++; do have "$c" && echo "$c" && break; done)
no_cxx=$([ -n "$cxx" ] || echo "no C++ compiler is installed")

await_venv() { # and what it lacks
    while [ -n "$venv_job" ] && [ ! -e $venv_made ]; do sleep 1; done
    no_venv=$(need python3)
    [ -n "$no_venv" ] || in_venv requirements.txt || no_venv="the virtual environment could not be made (build/test-venv.log)"
    no_python=${no_venv:-$([ -e "$($venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] || echo "Python's headers are not installed")}
    no_torch=${no_python:-$(in_venv requirements-torch.txt || echo "torch could not be installed (build/test-torch-venv.log)")}
}

lane() {
    group unit "" "" quick_headers unit
    group sanitized "" "" quick_headers sanitized
    group transcripts "$(need python3)${no_cxx}" "apt-get install python3 g++" quickly transcripts
    group wild "$(need python3)" "apt-get install python3" quickly wild
    group tilec "" "" quickly tile_c
    if wants python torch install nvrtc; then
        await_venv
        group torch "$no_torch" "apt-get install python3-dev python3-venv, and see the log" python_tests "torch"
        group python "$no_python" "apt-get install python3-dev python3-venv" python_tests "not torch"
        group install "$no_python" "apt-get install python3-dev python3-venv" python_install
        group nvrtc "$no_venv" "apt-get install python3-venv" env TILEWRIGHT_NVRTC_VENV=$venv python3 tests/compile_all.py
    fi
    group random "$(need python3)" "apt-get install python3" quickly random_programs
    group tenstorrent "$no_cxx" "apt-get install g++" quick_headers tenstorrent
    group hip "$(need python3 clang-19)${no_cxx}" "apt-get install clang-19 lld-19 g++" quick_headers hip
    group plans "$no_cxx" "apt-get install g++" quick_headers property emulated,tenstorrent 1
    group emulated "$no_cxx" "apt-get install g++" quick_headers numeric emulated 0
    group pages "$(need python3 chromium)" "apt-get install python3 chromium" pages
    group built "$(need python3 gcc readelf)" "apt-get install python3 gcc binutils" built
    group library "$(need python3 gcc nm)" "apt-get install python3 gcc binutils" library
    group process "$(need python3 gcc)${no_cxx}" "apt-get install python3 gcc g++" process
    group cpu "" "" numeric cpu 1
    group ops "" "" quickly ops
    group threads "$(need gcc)" "apt-get install gcc" threads
    group clang "$(need clang-14)" "apt-get install clang-14" with_clang
    group scheduled "$(need python3)" "apt-get install python3" quick_headers scheduled
    group interp "" "" numeric interp 1
    group property "" "" quickly property interp,cpu 6
    group grammar "$(need python3.11)" "apt-get install python3.11" python_grammar
    group machines "$(need gcc)" "apt-get install gcc" machines
    group neon "$(need python3 aarch64-linux-gnu-gcc qemu-aarch64)" "apt-get install gcc-aarch64-linux-gnu qemu-user" neon
    group golden "$(need python3)" "apt-get install python3" golden
    group tree "$(need python3)" "apt-get install python3" python_rules
}

venv_made=build/test-venv.made
rm -f $venv_made
if have python3 && wants python torch install nvrtc; then
    in_venv requirements.txt && in_venv requirements-torch.txt || cat <<END
pip fetches into $venv, once: torch, NVRTC, numpy, pytest and what they need (tests/requirements*.txt), about 300 MB and 1 GB on disk;
several times that where its index has no torch for the CPU alone. What cannot be fetched is skipped.
END
    make_venv & venv_job=$!
fi

# What the groups use is built before the lanes part, so that no two of them make the same; without it there is nothing to test.
make -s -j"$processors" all tests >build/test-build.log 2>&1 || { cat build/test-build.log; echo "failed: the build"; exit 1; }
lane & first_lane=$!
lane & second_lane=$!
wait $first_lane $second_lane
group gpu "$([ -e /dev/nvidia0 ] || echo 'no NVIDIA GPU is in this machine')" "run \`make check-gpu\` on one that has" device

echo "$(grep -c '^ok ' $results) groups passed"
skipped=$(sed -n 's/^skipped /  /p' $results)
failed=$(sed -n 's/^failed//p' $results | tr -d '\n')
[ -z "$skipped" ] || printf 'skipped:\n%s\n' "$skipped"
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
[ -z "$TILEWRIGHT_STRICT" ] || ! grep -v '^skipped gpu:' $results | grep -q '^skipped ' || { echo "failed: a group was skipped, and TILEWRIGHT_STRICT is set"; exit 1; }
