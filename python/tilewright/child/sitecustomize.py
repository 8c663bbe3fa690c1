# SPDX-License-Identifier: Apache-2.0
"""Run at the start of Python processes that `python -m tilewright` starts: `import triton` means the same there. Then the
sitecustomize that would have been run without us is run.
"""
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
if os.environ.get("TILEWRIGHT_PACKAGE"):
    sys.path.append(os.environ["TILEWRIGHT_PACKAGE"])
    from tilewright import stand_in
    stand_in.install()

sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != _here]
_self = sys.modules.pop("sitecustomize", None)
if importlib.util.find_spec("sitecustomize"):
    import sitecustomize  # noqa: F401
elif _self:
    sys.modules["sitecustomize"] = _self  # who imports us wants to find us there
