#!/bin/sh
# sanitizer.sh: the numeric tests on a device under compute-sanitizer.
#
#   tests/gpu/sanitizer.sh [BUILD FOLDER [TOOL..]]       memcheck and racecheck, unless tools are named
#
# Every case of the matrix and of the operations runs once on the device, as many at a time as there are processors. A report of a
# tool is a failure, as is a case that fails or takes more than 110 s in its shard, so that a tool ends within four minutes. Says so and does nothing where
# compute-sanitizer is not installed.
b=${1:-build}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- memcheck racecheck
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
    began=$(date +%s)
    rm -f "$logs"/*
    # The first call of CUDA comes late where many programs start at once: the tool must not give them up.
    tests/shards.sh 0 timeout 110 "$tool" --tool "$kind" --target-processes all --launch-timeout 110 --log-file "$logs/%p.log" "$@" \
        >"$logs/output" 2>&1 || { echo "$kind: $* failed"; tail -n 20 "$logs/output"; grep -h Error "$logs"/*.log | sort | uniq -c | head -n 5; status=1; }
    found=$(cat "$logs"/*.log | grep 'SUMMARY' | grep -Ev 'SUMMARY: 0 (errors|hazards)' | head -n 5)
    if [ -n "$found" ]; then
        echo "$kind: $*: $found"
        grep -hE -A12 'Invalid|Error:|Warning:|hazard' "$logs"/*.log | head -n 60
        status=1
    else
        echo "$kind, $(basename "$1"): $(tail -n 1 "$logs/output"); $(grep -l 'SUMMARY: 0' "$logs"/*.log | wc -l) summaries without a report, $(($(date +%s) - began)) s"
    fi
}
for kind; do
    check "$kind" "$b/tests/ops" --target cuda
    check "$kind" "$b/tests/matrix" --bin "$b" --targets cuda --random 0 --seed 1
done
exit $status
