#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quick_cc.sh: the C compiler of QUICK_CC (gcc), as CC for tests of many kernels on target cpu: with -Og instead of -O3 a kernel
# takes half the time to compile. The matrix, the Python tests, the pages of the manual and `make test-long` compile as users do.
exec ${QUICK_CC:-gcc} "$@" -Og
