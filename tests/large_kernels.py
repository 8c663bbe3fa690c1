#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
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
    # Values that are made from themselves twice, of every kind: what walks them must not walk them 2^40 times.
    "twice_sums": "    for i in tl.static_range(40):\n        s = s + s * s\n",
    "twice_scalars": "    a = n * 3\n    for i in tl.static_range(40):\n        a = a + a * a\n    y += a\n",
    "twice_offsets": "    for i in tl.static_range(40):\n        o = o + o * n\n",
    "twice_places": "    p = tl.program_id(0)\n    for i in tl.static_range(40):\n        p = p + p * n\n    o += p\n",
    "twice_masks": "    m = o < n\n    for i in tl.static_range(40):\n        m = m & (m | (s > i))\n    s = tl.where(m, s, 0)\n"
                   "    tl.store(y + o, s, mask=m)\n",
    "twice_pointers": "    q = x + o\n    for i in tl.static_range(40):\n        q = tl.where(s > i, q + i, q)\n    s += tl.load(q)\n",
    "twice_loaded": "    k = tl.load(x + o).to(tl.int32)\n    for i in tl.static_range(40):\n        k = k + k * k\n    s += tl.load(x + k)\n",
    "twice_carried": "    q = o\n    for t in range(n):\n        s += tl.load(x + q)\n        for i in tl.static_range(40):\n            q = q + q\n",
    "twice_in_loop": "    for t in range(n):\n        v = tl.load(x + t * B + tl.arange(0, B))\n        for i in tl.static_range(40):\n"
                     "            v = v + v * v\n        s += v\n",
    "twice_products": "    t = tl.reshape(s, [8, 8])\n    for k in range(n):\n        a = tl.load(x + k * 64 + tl.arange(0, 8)[:, None] * 8 +"
                      " tl.arange(0, 8)[None, :])\n        for i in tl.static_range(40):\n            a = a + a * a\n"
                      "        t += tl.dot(a, a)\n    s = tl.reshape(t, [B])\n",
    "twice_bounds": "    e = n\n    for i in tl.static_range(40):\n        e = min(e + e, e * e)\n    for t in range(e):\n        s += t\n",
    "twice_shapes": "    for i in tl.static_range(40):\n        s = tl.reshape(tl.trans(tl.reshape(s, [8, 8])), [B]) + s\n",
    "twice_ifs": "    a = n\n    for i in tl.static_range(30):\n        if a > i:\n            a = a + a\n        else:\n            a = a * a\n    o += a\n",
    "indices": "".join(f"    o = (o + {i}) % n + o // {i + 2}\n" for i in range(200)),
    "reduces": "".join(f"    s = s - tl.max(s * {i}.5, 0)\n" for i in range(200)),
    "loops": "".join(f"    for i{i} in range(n):\n        s = s + i{i}\n" for i in range(200)),
    "ifs": "".join(f"{'    ' * i}if n > {i}:\n{'    ' * i}    s = s + {i}.0\n" for i in range(1, 65)),
}
REFUSED = {"deep": "    for i in tl.static_range(20000):\n        s = s * 1.5 + i\n"}  # written, not printed

for name, body in {**KERNELS, **REFUSED}.items():
    (pathlib.Path(sys.argv[1]) / f"{name}.py").write_text(HEAD + body + "    tl.store(y + o, s)\n")
print(*KERNELS)
