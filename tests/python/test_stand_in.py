# SPDX-License-Identifier: Apache-2.0
"""python -m tilewright: `import triton` means ours, in that process and in the Python processes that it starts."""
import os
import pathlib
import subprocess
import sys

import numpy as np

import tilewright

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
import triton, triton.language as tl, tilewright.triton
from triton.language.extra import libdevice
import triton.language.extra.cuda.libdevice
from triton.runtime.driver import driver
assert triton is tilewright.triton and tl is tilewright.triton.language and sys.modules["triton.language"] is tl
print(__name__, sys.argv[1:], driver.active.get_current_target().backend)
"""


def run(*args, cwd=None):
    package = str(pathlib.Path(tilewright.__file__).resolve().parents[1])
    environment = dict(os.environ, PYTHONPATH=package)
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, cwd=cwd, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_script_module_and_code(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    said = "__main__ ['a', 'b'] cpu\n"
    assert run("-m", "tilewright", str(tmp_path / "program.py"), "a", "b") == said
    assert run("-m", "tilewright", "-m", "program", "a", "b", cwd=tmp_path) == said
    assert run("-m", "tilewright", "-c", PROGRAM, "a", "b") == said


def test_the_distribution_is_there_too():
    code = "import importlib.metadata as m; print(m.version('triton'), m.version('numpy') == __import__('numpy').__version__)"
    assert run("-m", "tilewright", "-c", code) == "3.6.0 True\n"


def test_a_child_process_too(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "parent.py").write_text("import subprocess, sys\n"
                                        "done = subprocess.run([sys.executable, 'program.py', 'child'], capture_output=True, text=True)\n"
                                        "print(done.stdout + done.stderr, end='')\n")
    assert run("-m", "tilewright", "parent.py", cwd=tmp_path) == "__main__ ['child'] cpu\n"
    (tmp_path / "sitecustomize.py").write_text("print('customized')\n")  # one that would have run without us
    (tmp_path / "parent.py").write_text("import os\nos.environ['PYTHONPATH'] += os.pathsep + os.getcwd()\n" +
                                        (tmp_path / "parent.py").read_text())
    assert run("-m", "tilewright", "parent.py", cwd=tmp_path) == "customized\n__main__ ['child'] cpu\n"


def test_other_processes_are_left_alone():
    code = "import importlib.util as u, os; print(u.find_spec('triton'), os.environ.get('TILEWRIGHT_PACKAGE'))"
    if not os.environ.get("TILEWRIGHT_PACKAGE"):
        assert "tilewright" not in run("-c", code)


def test_pytest_under_it(tmp_path):
    (tmp_path / "test_it.py").write_text("def test_it():\n    import triton, tilewright.triton\n    assert triton is tilewright.triton\n")
    assert "1 passed" in run("-m", "tilewright", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path))


def test_the_vector_add_of_a_tutorial(torch, tmp_path):
    """kernels/triton/add.py, as it stands, on torch's tensors of the CPU."""
    driver = tmp_path / "driver.py"
    driver.write_text(f"""
import importlib.util, torch
spec = importlib.util.spec_from_file_location("add", {str(ROOT / "kernels" / "triton" / "add.py")!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for n in (0, 1, 1000, 98432):
    x, y = torch.rand(n), torch.rand(n)
    assert torch.equal(module.add(x, y), x + y), n
print("right")
""")
    assert run("-m", "tilewright", str(driver)) == "right\n"


def test_import_is_quick():
    code = "import time; t = time.process_time(); import tilewright.triton; print(time.process_time() - t)"
    assert min(float(run("-c", code)) for _ in range(3)) < 0.5


def test_numpy_alone():
    """Neither torch nor numpy is imported by the package."""
    code = "import sys, tilewright.triton; print([name for name in ('torch', 'numpy') if name in sys.modules])"
    assert run("-c", code) == "[]\n" and np.__version__
