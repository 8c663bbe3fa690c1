#!/bin/sh
# all.sh: what `make test` runs. Each group runs with what this machine has; what is missing is skipped, and the end of
# the output lists it with the command that would add it. The exit status is that of the groups that ran.
#
#   tests/all.sh [GROUP...]       just these groups
#   TILEWRIGHT_STRICT=1           a skipped group (but the GPU's) is a failure: what CI uses
#
# The groups that use one processor (`beside`) run one after the other beside those that use them all, and the virtual
# environment is made meanwhile: a line appears when its group ends.
# shellcheck disable=SC2317
cd "$(dirname "$0")/.." || exit 2
wanted="$*"
jobs=$(nproc 2>/dev/null || echo 2)
venv=.venv
mkdir -p build
results=build/test-results # a line for each group: ok, failed or skipped, its name, and what was missing
: >$results
trap 'kill $venv_job $beside_job 2>/dev/null; exit 130' INT TERM

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
    wants "$name" || return
    if [ -n "$missing" ]; then
        echo "skipped $name: $missing; $add" >>$results
        return
    fi
    started=$(date +%s)
    if "$@" >build/test-"$name".log 2>&1; then
        echo "ok $name" >>$results
        echo "ok      $name ($(($(date +%s) - started)) s): $(tail -n 1 build/test-"$name".log)"
    else
        echo "failed $name" >>$results
        printf '%s\n' "FAILED  $name ($(($(date +%s) - started)) s), the end of build/test-$name.log:
$(tail -n 40 build/test-"$name".log)"
    fi
}

need() { # the first of the tools that is not there
    for tool in "$@"; do have "$tool" || { echo "$tool is not installed"; return; }; done
}

with_clang() { make -s -j"$jobs" B=build/clang CC=clang-14 CFLAGS="-O0" all && echo "builds without a warning"; }
sanitized() { TILEWRIGHT_CASES=100 TILEWRIGHT_EVERY=12 make -s -j"$jobs" B=build/asan SAN=1 CFLAGS="-O0 -g1 -Wno-clobbered" unit; }
make_venv() { # and what the tests need in it, once
    { [ -x $venv/bin/python ] || python3 -m venv $venv; } >build/test-venv.log 2>&1 &&
        add_to_venv requirements.txt >>build/test-venv.log 2>&1 &&
        add_to_venv requirements-torch.txt >build/test-torch-venv.log 2>&1
    echo >$venv_made
}
in_venv() { [ "$venv/$1.done" -nt "tests/$1" ]; }
add_to_venv() { in_venv "$1" || { $venv/bin/pip install -q --no-compile --disable-pip-version-check -r "tests/$1" && touch "$venv/$1.done"; }; }
python_tests() { # with torch, or without it: "not torch", "torch"
    make -s -j"$jobs" python PYTHON=$venv/bin/python && PYTHONPATH=build/python $venv/bin/python -m pytest -q -p no:cacheprovider -m "$1" tests/python
}
python_install() { # as a user would
    rm -rf build/installed && $venv/bin/pip install -q --disable-pip-version-check --no-build-isolation --no-deps --no-index --target build/installed . &&
        PYTHONPATH=build/installed $venv/bin/python tests/python/installed.py
}
python_rules() { python3 tests/check_tree.py; }
transcripts() { python3 tests/run.py; }
golden() { python3 tests/golden/cuda.py; }
python_grammar() { make -s build/tests/pytree && python3.11 tests/syntax/compare_errors.py build/tests/pytree && python3.11 tests/syntax/compare_ast.py build/tests/pytree --every 3; }
numeric() { make -s build/tests/matrix && tests/shards.sh "$jobs" build/tests/matrix --targets "$1" --random "$2" --seed "${TILEWRIGHT_SEED:-1}"; }
property() { make -s build/tests/property && tests/shards.sh "$jobs" build/tests/property --targets "$1" --draws "$2" --seed "${TILEWRIGHT_SEED:-1}"; }
# 120 random programs (60 of Triton, 40 of the IR, 20 of TileLang) side by side, and those that once failed; every tenth on emulated CUDA too
random_programs() {
    make -s build/tests/random_triton build/tests/random_ir || return 1
    tests/shards.sh "$jobs" build/tests/random_triton --targets "cpu${cxx:+,cuda-emulated}" --replay tests/random/*.py || return 1
    tests/shards.sh "$jobs" python3 tests/numeric/random_tilelang.py --targets "cpu${cxx:+,cuda-emulated}" --replay tests/random/tilelang/*.py || return 1
    tests/shards.sh "$jobs" python3 tests/numeric/tilelang_kernels.py --targets interp,cpu ${cxx:+--also cuda-emulated --every 5} || return 1
    for kind in "build/tests/random_triton 60" "build/tests/random_ir 40" "tests/numeric/random_tilelang.py 20"; do
        # shellcheck disable=SC2086
        set -- $kind
        # shellcheck disable=SC2086
        tests/shards.sh "$jobs" "$1" --seed "${TILEWRIGHT_SEED:-1}" --count "$2" --targets passes,cpu ${cxx:+--also cuda-emulated --every 10} || return 1
    done
    for family in order rings rows corners carried; do
        [ -z "$cxx" ] || tests/shards.sh "$jobs" build/tests/random_triton --family $family --seed "${TILEWRIGHT_SEED:-1}" --count 6 --targets cuda-emulated --also cuda-emulated:sm_80 --every 2 || return 1
    done
    [ -z "$cxx" ] || tests/shards.sh "$jobs" build/tests/random_ir --family rings --seed "${TILEWRIGHT_SEED:-1}" --count 12 --targets cuda-emulated
}
# Tile C: all products on the interpreter, some on the other targets; random programs the same way
tile_c() {
    make -s build/tests/tilec_products build/tests/tilec_kernels build/tests/random_tilec && tests/shards.sh "$jobs" build/tests/tilec_products --targets interp &&
        tests/shards.sh "$jobs" build/tests/tilec_kernels --targets "interp,cpu${cxx:+,emulated}" &&
        tests/shards.sh "$jobs" build/tests/tilec_products --targets "cpu${cxx:+,emulated,tenstorrent}" --every 60 &&
        tests/shards.sh "$jobs" build/tests/random_tilec --seed "${TILEWRIGHT_SEED:-1}" --count 1000 --targets passes &&
        tests/shards.sh "$jobs" build/tests/random_tilec --seed "${TILEWRIGHT_SEED:-1}" --count 12 --targets cpu ${cxx:+--also cuda-emulated --every 4}
}
# the prelude's numbers, the matrix, programs that once failed, and 60 random ones in the shapes that this target is for
tenstorrent() {
    "$cxx" -std=c++17 -O1 -ffp-contract=off -Isrc/target/tenstorrent/prelude tests/numeric/tensix_scalar_check.cpp -o build/tensix_scalar_check && build/tensix_scalar_check &&
        make -s build/libinside.a && tests/shards.sh "$jobs" python3 tests/metalium/hosts.py &&
        numeric tenstorrent 1 && make -s build/tests/random_tenstorrent &&
        tests/shards.sh "$jobs" build/tests/random_tenstorrent --targets tenstorrent --replay tests/random/tenstorrent/*.py &&
        tests/shards.sh "$jobs" build/tests/random_tenstorrent --seed "${TILEWRIGHT_SEED:-1}" --count 60 --targets tenstorrent
}
# every ninth kernel for AMD's GPUs compiled for its chip; some kernels and random programs on the emulator, waves of 64 and of 32
hip() {
    make -s all build/tests/matrix build/tests/random_triton && python3 tests/compile_hip.py --every 9 &&
        tests/shards.sh "$jobs" build/tests/matrix --targets hip,rdna --only "by rows of n" --seed "${TILEWRIGHT_SEED:-1}" &&
        tests/shards.sh "$jobs" build/tests/random_triton --seed "${TILEWRIGHT_SEED:-1}" --count 6 --targets hip-emulated --also hip-emulated:gfx1100 --every 2
}
neon() { make -s all && python3 tests/cross/neon.py; }
# the prelude of CPU kernels without FMA, and for vectors that this machine may not have (those are only compiled)
machines() {
    prelude="-std=gnu11 -O2 -ffp-contract=off -fno-math-errno -Wno-psabi -Isrc/target/cpu/prelude tests/numeric/prelude_check.c"
    gcc $prelude -march=x86-64-v4 -mavx512bf16 -c -o build/prelude_512.o &&
        gcc $prelude -march=sapphirerapids -Wall -Wextra -c -o build/prelude_amx.o &&
        gcc $prelude -march=native -DTW_PAIRS -o build/prelude_pairs -lm && build/prelude_pairs &&
        gcc $prelude -march=native -DTW_PAIRS -DTW_AMX_TWIN -o build/prelude_tiles -lm && build/prelude_tiles &&
        gcc $prelude -march=x86-64 -o build/prelude_128 -lm && build/prelude_128
}
wild() { make -s all && python3 tests/wild/scheduled.py && python3 tests/wild/run.py --targets "cpu${cxx:+,cuda}"; }
built() { make -s all && python3 tests/built/run.py; }
process() { make -s all && python3 tests/process/run.py; }
ops() { make -s build/tests/ops && tests/shards.sh "$jobs" build/tests/ops; }
device() { make -s check-gpu; }

cxx=$(for c in "${CXX:-g++}" g++ clang++ c++; do have "$c" && echo "$c" && break; done)
no_cxx=$([ -n "$cxx" ] || echo "no C++ compiler is installed")

beside() {
    group grammar "$(need python3.11)" "apt-get install python3.11" python_grammar
    group neon "$(need python3 aarch64-linux-gnu-gcc qemu-aarch64)" "apt-get install gcc-aarch64-linux-gnu qemu-user" neon
    group machines "$(need gcc)" "apt-get install gcc" machines
    wants python torch install nvrtc || return
    while [ -n "$venv_job" ] && [ ! -e $venv_made ]; do sleep 1; done
    no_venv=$(need python3)
    [ -n "$no_venv" ] || in_venv requirements.txt || no_venv="the virtual environment could not be made (build/test-venv.log)"
    no_python=${no_venv:-$([ -e "$($venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] || echo "Python's headers are not installed")}
    no_torch=${no_python:-$(in_venv requirements-torch.txt || echo "torch could not be installed (build/test-torch-venv.log)")}
    group python "$no_python" "apt-get install python3-dev python3-venv" python_tests "not torch"
    group torch "$no_torch" "apt-get install python3-dev python3-venv, and see the log" python_tests "torch"
    group install "$no_python" "apt-get install python3-dev python3-venv" python_install
    group nvrtc "$no_venv" "apt-get install python3-venv" env TILEWRIGHT_NVRTC_VENV=$venv python3 tests/compile_all.py
}

venv_made=build/test-venv.made
rm -f $venv_made
if have python3 && wants python torch install nvrtc; then make_venv & venv_job=$!; fi

# What both sides use is built before they part; without it there is nothing to test.
make -s -j"$jobs" all build/libinside.a >build/test-build.log 2>&1 || { cat build/test-build.log; echo "failed: the build"; exit 1; }
beside & beside_job=$!
group unit "" "" make -s -j"$jobs" unit
group sanitized "" "" sanitized
group clang "$(need clang-14)" "apt-get install clang-14" with_clang
group tree "$(need python3)" "apt-get install python3" python_rules
group transcripts "$(need python3)${no_cxx}" "apt-get install python3 g++" transcripts
group golden "$(need python3)" "apt-get install python3" golden
group interp "" "" numeric interp 1
group cpu "" "" numeric cpu 1
group ops "" "" ops
group wild "$(need python3)" "apt-get install python3" wild
group built "$(need python3 gcc readelf)" "apt-get install python3 gcc binutils" built
group process "$(need python3 gcc)${no_cxx}" "apt-get install python3 gcc g++" process
group emulated "$no_cxx" "apt-get install g++" numeric emulated 0
group hip "$(need python3 clang-19)${no_cxx}" "apt-get install clang-19 lld-19 g++" hip
group tenstorrent "$no_cxx" "apt-get install g++" tenstorrent
group property "" "" property interp,cpu 6
group tilec "" "" tile_c
group random "$(need python3)" "apt-get install python3" random_programs
group plans "$no_cxx" "apt-get install g++" property emulated,tenstorrent 1
wait $beside_job
group gpu "$([ -e /dev/nvidia0 ] || echo 'no NVIDIA GPU is in this machine')" "run \`make check-gpu\` on one that has" device

echo "$(grep -c '^ok ' $results) groups passed"
skipped=$(sed -n 's/^skipped /  /p' $results)
failed=$(sed -n 's/^failed//p' $results | tr -d '\n')
[ -z "$skipped" ] || printf 'skipped:\n%s\n' "$skipped"
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
[ -z "$TILEWRIGHT_STRICT" ] || ! grep -v '^skipped gpu:' $results | grep -q '^skipped ' || { echo "failed: a group was skipped, and TILEWRIGHT_STRICT is set"; exit 1; }
