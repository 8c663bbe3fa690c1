#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py: nothing brings the process down, and nothing stays behind it.

    tests/process/run.py [--bin DIR] [strays] [signals] [moments] [folders]

Each part is a file here with a main(tilewright, folder, say) that gives the number of cases and of failures.
"""
import argparse
import os
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
PARTS = ("strays", "signals", "moments", "folders")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build"))
    parser.add_argument("parts", nargs="*", default=PARTS, metavar="PART")
    options = parser.parse_args()
    failed = total = 0
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"no part {part}; there are {', '.join(PARTS)}")
        start = time.time()
        with tempfile.TemporaryDirectory() as folder:
            count, wrong = __import__(part).main(os.path.join(options.bin, "tilewright"), folder, lambda text: print(text, flush=True))
        print(f"{part}: {count} cases, {wrong} failed, {time.time() - start:.1f} s", flush=True)
        total += count
        failed += wrong
    print(f"{total} cases, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
