#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hip_mix.py: what the inner loops of some kernels are made of on AMD's GPUs, and how much of its time the matrix pipe would be busy.

Nothing is measured: there is no GPU. The kernel is emitted and compiled by clang 19; the innermost loop with matrix instructions is taken
from the assembler text, all of its blocks once but those that only trips at a tensor's edge run (tw_at_edge). Its trips are played through a model of one SIMD unit: the waves that fit beside each other issue in their order, a vector instruction takes 4 clocks, the matrix pipe is busy as long
as the published peak says (PEAK), the LDS hands 128 bytes a clock to four units, memory answers after MEMORY clocks, s_waitcnt waits for
what it counts; waves of a block wait for each other at barriers. Of a kernel without products all of the text is taken, and the share is
that of the memory's bandwidth: a compute unit's part of it (HBM) against the clocks in which its units issue vector instructions. What stands in tests/golden/hip_mix.txt is the least share and
the most of everything else; the table of docs/hip.md is that file, and is compared with it.

    hip_mix.py [--bless]
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import compile_hip

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOUNDS = ROOT / "tests/golden/hip_mix.txt"
DOCUMENT, BEGIN, END = ROOT / "docs/hip.md", "<!-- tests/hip_mix.py --bless writes this -->\n", "<!-- end -->\n"
LDS_CLOCKS, LDS_LATENCY, MEMORY, TRIPS = 8, 64, 800, 24
# Floating-point operations of a SIMD unit's matrix pipe in a clock, factors of 16 bits: from the peaks that AMD publishes.
PEAK = {"gfx90a": 256, "gfx942": 512}
# Bytes of memory for a compute unit in a clock: 1.6 TB/s for 104 at 1.7 GHz, 5.3 TB/s for 304 at 2.1 GHz.
HBM = {"gfx90a": 9.05, "gfx942": 8.3}
ARRAYS = "a_ptr=bf16[4096,4096] b_ptr=bf16[4096,4096] c_ptr=bf16[4096,4096] M=4096 N=4096 K=4096 BM=256 BN=128 BK=32"
ATTENTION = " ".join(f"{x}_ptr=bf16[16,4096,128]" for x in "qkvo") + " scale=0.125 N=4096 stride_h=524288 stride_n=128 D=128 CAUSAL=false"
KINDS = ("matrix", "lds read", "lds write", "lane", "load", "vector", "barrier", "spill")
EDGE = ["at an edge"]
NAMES = ("percent of the matrix pipe (without one: of the memory)", "waves of a unit", *KINDS)
CASES = (
    ("matmul 4096, both along K", "matmul_nt.py", ARRAYS + " stride_am=4096 stride_bn=4096 stride_cm=4096", ("gfx90a", "gfx942")),
    ("matmul 4096, 128 x 128, loads ahead", "matmul_nt.py", ARRAYS.replace("BM=256", "BM=128") + " stride_am=4096 stride_bn=4096 stride_cm=4096",
     ("gfx90a", "gfx942")),
    ("matmul 4096, B across K", "matmul.py",
     ARRAYS + " stride_am=4096 stride_ak=1 stride_bk=4096 stride_bn=1 stride_cm=4096 stride_cn=1", ("gfx90a", "gfx942")),
    ("attention forward D128, 64 x 32", "attention.py", ATTENTION + " BM=64 BN=32", ("gfx942",)),
    ("attention forward D128", "attention.py", ATTENTION + " BM=128 BN=64", ("gfx90a", "gfx942")),
    ("softmax bf16 4096", "softmax.py", "out_ptr=bf16[1024,4096] in_ptr=bf16[1024,4096] in_stride=4096 out_stride=4096 n_cols=4096 BLOCK=4096",
     ("gfx90a", "gfx942")),
)


def inner_loop(text):
    """The instructions of the loop, from its header on."""
    loops, block = {}, []
    for line in text.split("\n"):
        label = re.match(r"(?:\.LBB(\d+_\d+):|; %bb\.\d+:)", line)
        if label:
            header = re.search(r"Header=BB(\d+_\d+)", line)
            own = label[1] if "Loop Header" in line else None
            name = own or (header[1] if header else None)
            block = []
            if name:
                before, after = loops.setdefault(name, ([], []))
                (after if own or after else before).append(block)
        elif line.strip() == "; at an edge":
            block.append(EDGE)
        elif re.match(r"\s+[a-z]", line) and not line.lstrip().startswith("."):
            block.append(line.split(";")[0].split())
    flat = [[i for b in after + before if EDGE not in b for i in b] for before, after in loops.values()]
    return max(flat, key=lambda all: sum("mfma" in i[0] for i in all), default=[])


def whole_text(text):
    """The instructions of the kernel."""
    body = text[text.index("; %bb.0:"):text.index("\t.section\t.rodata")]
    return [line.split(";")[0].split() for line in body.split("\n") if re.match(r"\s+[a-z]", line)]


def kind_of(name):
    if "mfma" in name:
        return "matrix"
    if name.startswith("ds_"):
        return "lds read" if "read" in name or "load" in name else "lds write" if "write" in name or "store" in name else "lane"
    if name.startswith(("global_", "flat_", "buffer_")):
        return "store" if "store" in name else "load"
    if name.startswith("scratch_"):
        return "spill"
    return "wait" if name == "s_waitcnt" else "barrier" if name == "s_barrier" else "vector" if name[0] == "v" else "scalar"


def matrix_clocks(name, arch):
    m, n, k = (int(x) for x in re.search(r"_(\d+)x(\d+)x(\d+)", name).groups())
    return 2 * m * n * k // PEAK[arch]


def lds_clocks(name):
    """Of a wave's access, as one of four units sees it."""
    size = re.search(r"_b(\d+)|_u?(\d+)", name)
    bits = int(next((g for g in size.groups() if g), 32)) if size else 32
    two = 2 if re.match(r"ds_(read|write)2", name) else 1
    return 4 * max(1, LDS_CLOCKS * bits * two // 128)


def play(loop, arch, waves, together):
    """The share of the clocks in which the matrix pipe is busy until one of the waves, `together` of a block, is done."""
    vector = matrix = lds = busy = 0
    state = [{"at": 0, "next": 0, "vm": [], "lgkm": [], "block": i // together, "barrier": False} for i in range(waves)]
    while all(s["next"] < TRIPS * len(loop) for s in state):
        s = min((s for s in state if not s["barrier"]), key=lambda s: s["at"])  # of several, the oldest
        words = loop[s["next"] % len(loop)]
        kind = kind_of(words[0])
        if kind == "barrier":
            s["barrier"], s["next"] = True, s["next"] + 1
            block = [other for other in state if other["block"] == s["block"]]
            if all(other["barrier"] for other in block):
                last = max(other["at"] for other in block)
                for other in block:
                    other["at"], other["barrier"] = last + 1, False
            continue
        ready = max(vector, matrix) if kind == "matrix" else vector if kind == "vector" else 0
        if ready > s["at"]:  # what waits keeps nobody else from issuing
            s["at"] = ready
            continue
        s["next"] += 1
        if kind == "matrix":
            clocks = matrix_clocks(words[0], arch)
            matrix, busy = s["at"] + clocks, busy + clocks
        if kind in ("matrix", "vector"):
            vector = s["at"] = s["at"] + 4
        elif kind.startswith("l") and kind != "load":
            lds = max(s["at"], lds) + lds_clocks(words[0])
            s["lgkm"].append(lds + LDS_LATENCY)
            s["at"] += 4
        elif kind in ("load", "store", "spill"):
            s["vm"].append(s["at"] + MEMORY)
            s["at"] += 4
        elif kind == "wait":
            for counter, left in re.findall(r"(vm|lgkm)cnt\((\d+)\)", " ".join(words)):
                while len(s[counter]) > int(left):
                    s["at"] = max(s["at"], s[counter].pop(0))
            s["at"] += 1
        else:
            s["at"] += 1
    return 100 * busy // max(matrix, *(s["at"] for s in state)) if busy else 0  # of what is issued, to its end


def of_memory(text, arch, threads, bytes_of_block):
    """The share of the memory's bandwidth that is left when a block's waves have issued their vector instructions."""
    vector = 4 * sum(kind_of(words[0]) == "vector" for words in text) * threads / 256
    memory = bytes_of_block / HBM[arch]
    return int(100 * memory / max(memory, vector))


def measure(kernel, arguments, arch):
    with tempfile.TemporaryDirectory() as folder:
        words = compile_hip.compile_all.words(arguments)
        command = [compile_hip.TOOL, "emit", f"kernels/triton/{kernel}", "--target", f"hip:{arch}", *words, "-o", folder]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        source, = pathlib.Path(folder).glob("*.hip")
        text = subprocess.run([compile_hip.CLANG, *compile_hip.FLAGS, f"--offload-arch={arch}", "-S", "-o", "-", str(source)], check=True,
                              capture_output=True, text=True).stdout
        plan = compile_hip.json.loads((pathlib.Path(folder) / "plan.json").read_text())
    registers = int(re.search(r"\.vgpr_count:\s*(\d+)", text)[1])
    by_registers, by_lds = 512 // max(8, -(-registers // 8) * 8), 65536 // max(1, plan["shared_bytes"]) * plan["threads"] // 256
    loop, counts = inner_loop(text), {}
    multiplies = any("mfma" in words[0] for words in loop)
    loop = loop if multiplies else whole_text(text)
    for words in loop:
        counts[kind_of(words[0])] = counts.get(kind_of(words[0]), 0) + 1
    waves = max(1, min(by_registers, by_lds, 8))
    share = play(loop, arch, waves, max(1, plan["threads"] // 256)) if multiplies else of_memory(loop, arch, plan["threads"], 2 * 2 * 4096)
    return [share, waves, *(counts.get(k, 0) for k in KINDS)]


def table(bounds):
    """What docs/hip.md says of the inner loops."""
    lines = [f"| | matrix instructions | LDS reads, writes | loads | other vector instructions | barriers | spills | waves of a unit | matrix pipe busy |",
             "|---|---|---|---|---|---|---|---|---|"]
    for title, (percent, waves, matrix, read, write, _, load, vector, barrier, spill) in bounds.items():
        arch, name = title.split(" ", 1)
        if matrix:
            lines.append(f"| {name}, {arch} | {matrix} | {read}, {write} | {load} | {vector} | {barrier} | {spill} | {waves} | {percent} % |")
    return "\n".join(lines) + "\n"


def main():
    bounds = {}
    for line in BOUNDS.read_text().splitlines() if BOUNDS.exists() else []:
        if line and not line.startswith("#"):
            numbers, title = line.split("  ", 1)
            bounds[title] = [int(n) for n in numbers.split()]
    found = {f"{arch} {title}": measure(kernel, text, arch) for title, kernel, text, archs in CASES for arch in archs}
    failed = 0
    for title, row in found.items():
        print(title + ":", ", ".join(f"{n} {name}" for n, name in zip(row, NAMES)))
        bound = bounds.get(title, [101] + [0] * len(KINDS))
        if "--bless" not in sys.argv and (row[0] < bound[0] or row[1] < bound[1] or any(f > b for f, b in zip(row[2:], bound[2:]))):
            print(f"FAILED {title}: allowed are", ", ".join(f"{n} {name}" for n, name in zip(bound, NAMES)))
            failed += 1
    if "--bless" in sys.argv:
        BOUNDS.write_text("# Inner loops on AMD's GPUs (tests/hip_mix.py --bless): " + ", ".join(NAMES) + ".\n" +
                          "".join(f"{' '.join(str(n) for n in row)}  {title}\n" for title, row in found.items()))
        bounds = found
    page = DOCUMENT.read_text()
    before, rest = page.split(BEGIN, 1)
    wanted = before + BEGIN + table(bounds) + END + rest.split(END, 1)[1]
    if page != wanted and "--bless" not in sys.argv:
        print(f"FAILED {DOCUMENT.relative_to(ROOT)}: its table is not {BOUNDS.relative_to(ROOT)} (--bless writes it)")
        failed += 1
    elif page != wanted:
        DOCUMENT.write_text(wanted)
    print(f"{len(found)} loops, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
