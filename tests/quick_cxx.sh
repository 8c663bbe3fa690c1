#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quick_cxx.sh: the C++ compiler of QUICK_CXX (g++), as CXX for tests of many emulated kernels: the emulator's headers, which all kernels
# begin with, are compiled once for each set of flags and kept in QUICK_HEADERS, which GCC finds beside them.
cxx=${QUICK_CXX:-g++}
for source; do :; done
case $source in *.cu | *.hip) ;; *) exec "$cxx" "$@" ;; esac
room=${source%/*}
header=$(sed -n '/^#/{s/^#include "\(.*\)"$/\1/p;q}' "$source")
flags= skip=
for word; do
    case $skip$word in
    -o) skip=1 ;;
    -shared | "-I$room" | "$source") ;;
    1*) skip= ;;
    *) flags="$flags $word" ;;
    esac
done
flags=${flags#* -x c++ }
if [ -n "$header" ]; then
    kept=$QUICK_HEADERS/$({ echo "$flags" && cat "$room"/*.cuh "$room"/*.h; } 2>/dev/null | cksum | tr ' ' -).gch
    # shellcheck disable=SC2086
    [ -e "$kept" ] || { mkdir -p "$QUICK_HEADERS" && "$cxx" -x c++-header $flags "-I$room" -o "$kept.$$" "$room/$header" && mv "$kept.$$" "$kept"; }
    ln -s "$kept" "$room/$header.gch"
fi
exec "$cxx" "$@"
