#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sanitizer.sh: the numeric tests on a device under compute-sanitizer.
#
#   tests/gpu/sanitizer.sh [BUILD FOLDER [WORD..]]       words: memcheck, racecheck; ops, matrix, kernels, wild, property, random
#
# Without words both tools run over all: every operation on every type, every case of the matrix, the kernels of kernels/ under the
# plans of tests/gpu/kernels.txt, each kernel of tests/wild under one plan, options drawn at random, random programs; as many at a
# time as there are processors. A report of a tool is a failure, as is a case that fails, a shard that takes more than 110 s, and a
# memcheck that does not see a store far outside. Says so and does nothing where compute-sanitizer is not installed.
#
# racecheck sees what threads load, store and copy by cp.async in shared memory, not TMA and wgmma: the emulator watches those. An
# order through two mbarriers is one (a waits for b, c for a), which it knows with --racecheck-indirect-barrier-dependency alone.
b=${1:-build}
[ $# -gt 0 ] && shift
words=" $* "
asked() { # WORD, and those that mean the same when none of them is there
    word=$1
    shift
    for other; do case $words in *" $other "*) other=; break ;; esac; done
    case $words in *" $word "*) return 0 ;; esac
    [ -n "$other" ]
}
tool=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [ -z "$tool" ]; then
    echo "skipped: compute-sanitizer is not installed"
    exit 0
fi
logs=$(mktemp -d) || exit 2
trap 'rm -rf "$logs"' EXIT
status=0
check() { # PART PROGRAM ARGUMENT...
    part=$1
    shift
    asked "$part" ops matrix kernels wild property random || return 0
    began=$(date +%s)
    rm -f "$logs"/*
    # The first call of CUDA comes late where many programs start at once: the tool must not give them up.
    tests/shards.sh 0 timeout 110 "$tool" --tool "$kind" $more --target-processes all --launch-timeout 110 --log-file "$logs/%p.log" "$@" \
        >"$logs/output" 2>&1 || { echo "$kind, $part: failed"; tail -n 20 "$logs/output"; status=1; }
    all=$(ls "$logs" | grep -c '\.log$')
    clean=$(grep -lE 'SUMMARY: 0 (errors|hazards)' "$logs"/*.log 2>/dev/null | wc -l)
    echo "$kind, $part: $(tail -n 1 "$logs/output"); $clean of $all logs without a report, $(($(date +%s) - began)) s"
    [ "$all" -gt 0 ] && [ "$clean" -eq "$all" ] && return 0
    grep -hE -A12 'Invalid|Error:|Warning:' "$logs"/*.log | head -n 60
    status=1
}
for kind in memcheck racecheck; do
    asked "$kind" memcheck racecheck || continue
    more=
    if [ "$kind" = racecheck ]; then
        more=--racecheck-indirect-barrier-dependency
    else
        printf 'import triton\nimport triton.language as tl\n@triton.jit\ndef stray(x):\n    tl.store(x + 1000000007, 1.0)\n' >"$logs/stray.py"
        "$tool" --target-processes all sh -c "$b/tilewright run $logs/stray.py --target cuda --arg x=ones:f32[64] --grid 1" 2>&1 | grep -q 'Invalid __global__ write' ||
            { echo "memcheck does not see a store far outside"; status=1; }
    fi
    check ops "$b/tests/ops" --target cuda
    check matrix "$b/tests/matrix" --bin "$b" --targets cuda --random 0 --seed 1
    check kernels python3 tests/wild/run.py --bin "$b" --kernels tests/gpu/kernels.txt --targets device
    check wild python3 tests/wild/run.py --bin "$b" --targets device
    check property "$b/tests/property" --targets cuda --draws 1
    check random "$b/tests/random_triton" --targets cuda --count 32 --seed 1 --out "$b/random"
done
exit $status
