# SPDX-License-Identifier: Apache-2.0
"""Where there is no C compiler: installing says so in one line, and so does a launch."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAUNCH = """
import numpy as np, tilewright.triton as triton, tilewright.triton.language as tl
@triton.jit
def kernel(x):
    tl.store(x, 12345)
try:
    kernel[(1,)](np.zeros(1, np.int32))
except RuntimeError as error:
    print(error)
"""


def test_an_install_without_a_compiler(tmp_path):
    empty = {**{name: value for name, value in os.environ.items() if name != "CC"}, "PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--build-lib", str(tmp_path / "lib"), "--build-temp",
                           str(tmp_path / "temp"), "--force"], cwd=ROOT, capture_output=True, text=True, env=empty)
    said = [line for line in done.stderr.splitlines() if line.startswith("tilewright")]
    assert done.returncode != 0 and said == ["tilewright is built with a C compiler, and cc or gcc or clang is not in PATH; install one "
                                             "(apt-get install gcc make)"], done.stderr
    assert "Traceback" not in done.stderr


def test_a_launch_without_a_compiler(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(LAUNCH)
    empty = {**{name: value for name, value in os.environ.items() if name != "CC"}, "PATH": str(tmp_path),
             "TILEWRIGHT_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=empty)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1 and "C compiler" in done.stdout and "install gcc or clang" in done.stdout, done.stdout
    assert "--" not in done.stdout
