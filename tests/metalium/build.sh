#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build.sh DIR: compiles DIR/host.cpp, as `tilewright emit` wrote it, against the fake of the host API into DIR/host.
# Warnings are errors. Needs build/libinside.a.
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
b=${B:-$root/build}
folder=$(cd "$1" && pwd)
${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -I"$root/src" -I"$root/tests/unit" -I"$b/gen" -c "$root/tests/metalium/fake_device.c" -o "$folder/fake_device.o"
${CXX:-g++} -std=c++20 -O1 -Wall -Werror -DTW_KERNEL_FOLDER="\"$folder\"" -I"$root/tests/metalium" -o "$folder/host" \
    "$folder/host.cpp" "$folder/fake_device.o" "$b/libinside.a" -lm -ldl -lpthread
