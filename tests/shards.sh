#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shards.sh: one test program as several processes, and the sum of what they say.
#
#   tests/shards.sh COUNT PROGRAM [ARGUMENT...]      PROGRAM ARGUMENT... --shard 0/COUNT .. COUNT-1/COUNT, side by side
#
# COUNT 0 means one for each processor. Lines come as they are said, those of different shards in any order. The last line
# of each shard is "N things, M failed"; ours is the same with both added up. The exit status is 0 when all of them is, and
# there was anything at all.
count=$1
shift
[ "$count" -gt 0 ] || count=$(nproc 2>/dev/null || echo 2)
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
for i in $(seq 0 $((count - 1))); do
    { "$@" --shard "$i/$count" 2>&1; echo $? >"$folder/$i.status"; } | tee "$folder/$i.log" | grep --line-buffered -Ev '^[0-9]+ [a-z]+, [0-9]+ failed$' &
done
wait
status=0
for i in $(seq 0 $((count - 1))); do
    [ "$(cat "$folder/$i.status" 2>/dev/null)" = 0 ] || { echo "shard $i/$count ended with status $(cat "$folder/$i.status" 2>/dev/null)"; status=1; }
done
for i in $(seq 0 $((count - 1))); do tail -n 1 "$folder/$i.log"; done |
    awk '/^[0-9]+ [a-z]+, [0-9]+ failed$/ { n += $1; what = $2; bad += $3; ended++ } END { printf "%d %s %d failed\n", n, what, bad; exit ended != '"$count"' || !n }' || status=1
exit $status
