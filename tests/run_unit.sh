#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_unit.sh: runs one unit test, quietly unless it fails; says how long it took.
started=$(date +%s)
if "$1" >"$1.log" 2>&1; then
    echo "$(basename "$1"): $(tail -n 1 "$1.log") ($(($(date +%s) - started)) s)"
else
    status=$?
    cat "$1.log"
    echo "FAILED: $1 (status $status)"
    exit 255
fi
