# SPDX-License-Identifier: Apache-2.0
"""TILEWRIGHT_RECORD: what was launched, as arguments of the command line."""
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = """
import numpy as np, triton, triton.language as tl
@triton.jit
def scale(x, y, n, f, BLOCK: tl.constexpr, MODE: tl.constexpr, NONE: tl.constexpr = None):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    if MODE == "a 'b'":
        v = v * 2
    tl.store(y + i, v * f, mask=i < n)
x, y = np.ones(1000, np.float16), np.zeros(1000, np.float32)
for n in 1000, 999, 1:
    scale[(4,)](x, y, n, 0.5, BLOCK=256, MODE="a 'b'", num_warps=8)
"""


def test_what_is_launched_is_a_line_for_the_command_line(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    subprocess.run([sys.executable, "-m", "tilewright", "script.py"], cwd=tmp_path, check=True,
                   env=dict(os.environ, PYTHONPATH=os.path.abspath(os.environ.get("PYTHONPATH", ROOT)), TILEWRIGHT_RECORD=str(tmp_path / "launches.txt")))
    lines = [shlex.split(line) for line in (tmp_path / "launches.txt").read_text().splitlines()]
    assert [line[0] for line in lines] == [f"{tmp_path}/script.py:scale"] * 2  # 1000 and 999 are one kernel
    assert lines[0][1:] == shlex.split("""--arg x=*f16 --arg y=*f32 --arg n=i32 --arg f=f32 --arg BLOCK=256 --arg "MODE=a 'b'" --arg NONE=none --set num_warps=8""")
    assert "n=1" in lines[1]
    for line in lines:
        done = subprocess.run([ROOT / "build/tilewright", "emit", *line, "--target", "cuda", "-o", tmp_path / "out"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "256 threads" in (tmp_path / "out/scale.cu").read_text()
