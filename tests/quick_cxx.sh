#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quick_cxx.sh: the C++ compiler of QUICK_CXX (g++), as CXX for tests of many emulated kernels, Tenstorrent's too: with -O0, as what
# the compiler saves outweighs what the runs cost. And the emulator's headers, which all kernels begin with, are compiled once for each
# set of flags and kept in QUICK_HEADERS, which GCC finds beside them.
cxx=${QUICK_CXX:-g++}
source= flags= skip=
for word; do
    case $skip$word in
    -o) skip=1 ;;
    */kernel.cu | */kernel.hip) source=$word ;; # in a folder of its own
    */entry_compute.cpp) exec "$cxx" "$@" -O0 ;;
    -shared | -nostdlib | -I* | -l*) ;;
    1*) skip= ;;
    *) flags="$flags $word" ;;
    esac
done
[ -n "$source" ] || exec "$cxx" "$@"
room=${source%/*} header=
while read -r line; do
    case $line in '#include "'*) header=${line#*\"} header=${header%\"*} ;; '#'*) ;; *) continue ;; esac
    break
done <"$source"
flags="${flags#* -x c++ } -O0"
if [ -n "$header" ]; then
    key=$({ echo "$flags" && cat "$room"/*.cuh "$room"/*.h; } 2>/dev/null | cksum)
    kept=$QUICK_HEADERS/${key% *}-${key#* }.gch
    # shellcheck disable=SC2086
    [ -e "$kept" ] || { mkdir -p "$QUICK_HEADERS" && "$cxx" -x c++-header $flags "-I$room" -o "$kept.$$" "$room/$header" && mv "$kept.$$" "$kept"; }
    [ ! -e "$kept" ] || ln -s "$kept" "$room/$header.gch"
fi
exec "$cxx" "$@" -O0
