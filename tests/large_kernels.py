#!/usr/bin/env python3
"""large_kernels.py: Triton kernels of many statements, to see that compile time grows with them and not with their square.

    large_kernels.py FOLDER        writes FOLDER/loads.py and the others, prints their names
"""
import pathlib
import sys

HEAD = """import triton
import triton.language as tl


@triton.jit
def kernel(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.load(x + o)
"""
KERNELS = {
    "loads": "".join(f"    s = s + tl.load(x + o + {i}, mask=o < n)\n" for i in range(500)),
    "stores": "".join(f"    tl.store(y + o + {i}, s + {i}.0)\n" for i in range(500)),
    "many_stores": "".join(f"    tl.store(y + o + {i}, s + {i}.0)\n" for i in range(20000)),
    "many_copies": "".join(f"    tl.store(y + o + {i}, tl.load(x + o + {i}))\n" for i in range(5000)),
    "copies": "".join(f"    tl.store(y + o + {i}, tl.load(x + o + {i}))\n" for i in range(500)),
    "steps": "    for i in tl.static_range(2000):\n        s = tl.where(o > i, s + i, s * 2)\n",
    "twice": "    s = s * s + s\n" * 200,
    "indices": "".join(f"    o = (o + {i}) % n + o // {i + 2}\n" for i in range(200)),
    "reduces": "".join(f"    s = s - tl.max(s * {i}.5, 0)\n" for i in range(200)),
    "loops": "".join(f"    for i{i} in range(n):\n        s = s + i{i}\n" for i in range(200)),
    "ifs": "".join(f"{'    ' * i}if n > {i}:\n{'    ' * i}    s = s + {i}.0\n" for i in range(1, 65)),
}

for name, body in KERNELS.items():
    (pathlib.Path(sys.argv[1]) / f"{name}.py").write_text(HEAD + body + "    tl.store(y + o, s)\n")
print(*KERNELS)
