# SPDX-License-Identifier: Apache-2.0
"""tilewright.command: the command `tilewright` of an installed package: the program that lies in its folder `bin`."""
import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tilewright")
    if not os.path.exists(program):
        sys.exit(f"tilewright: {program} is missing; install the package again (pip install --force-reinstall tilewright)")
    os.execv(program, ["tilewright", *sys.argv[1:]])
