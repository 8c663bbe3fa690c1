#!/bin/sh
# sanitizer.sh: the numeric tests on a device under compute-sanitizer: memcheck, then racecheck.
#
#   tests/gpu/sanitizer.sh [BUILD FOLDER [ROWS OF THE MATRIX]]      rows: part of a title, as `matrix --only` takes it
#
# Every case runs once, at its smallest shapes; a report of either tool is a failure. Says so and does nothing where
# compute-sanitizer is not installed.
b=${1:-build} only=${2:-}
tool=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [ -z "$tool" ]; then
    echo "skipped: compute-sanitizer is not installed"
    exit 0
fi
logs=$(mktemp -d) || exit 2
trap 'rm -rf "$logs"' EXIT
status=0
check() { # TOOL PROGRAM ARGUMENT...
    kind=$1
    shift
    rm -f "$logs"/*
    tests/shards.sh 0 "$tool" --tool "$kind" --target-processes all --log-file "$logs/%p.log" "$@" >"$logs/output" 2>&1 ||
        { echo "$kind: $* failed"; grep -v '^=' "$logs/output" | tail -n 20; status=1; }
    found=$(cat "$logs"/*.log | grep -E 'SUMMARY' | grep -Ev ': 0 (errors|hazards)' | head -n 5)
    if [ -n "$found" ]; then
        echo "$kind: $*: $found"
        grep -hE -A12 'Invalid|Error:|Warning:|hazard' "$logs"/*.log | head -n 60
        status=1
    else
        echo "$kind: $(basename "$1"): $(tail -n 1 "$logs/output"), $(ls "$logs"/*.log | wc -l) processes without a report"
    fi
}
for kind in memcheck racecheck; do
    check $kind "$b/tests/ops" --target cuda
    check $kind "$b/tests/matrix" --targets cuda --random 0 --only "$only" --seed 1
done
exit $status
