# SPDX-License-Identifier: Apache-2.0
"""python -m tilewright script.py args.. | -m module args.. | -c code | pytest args..

Runs a program in which `import triton` means tilewright.triton and `import tilelang` tilewright.tilelang. Nothing is changed outside of this process and of the Python
processes that it starts.
"""
import os
import runpy
import sys

from . import stand_in


def main(argv):
    if not argv or argv[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if argv else 2
    stand_in.install()
    stand_in.pass_on()
    if argv[0] == "-c" and len(argv) > 1:
        sys.argv = ["-c", *argv[2:]]
        sys.path[0] = ""
        exec(compile(argv[1], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    elif argv[0] == "-m" and len(argv) > 1:
        sys.argv = argv[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
    elif os.path.exists(argv[0]):
        sys.argv = argv
        sys.path[0] = os.path.dirname(os.path.abspath(argv[0]))
        runpy.run_path(argv[0], run_name="__main__")
    elif not argv[0].endswith(".py") and argv[0].replace(".", "").replace("_", "").isalnum():
        sys.argv = argv
        sys.path[0] = os.getcwd()
        runpy.run_module(argv[0], run_name="__main__", alter_sys=True)
    else:
        print(f"tilewright: there is no file {argv[0]}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
