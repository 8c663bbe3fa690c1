#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""random_templates.py: random products on Tile C's template, and by roles with semaphores of their own, each against C's sums.

    random_templates.py --count 20 --seed 1 --targets interp,cpu      20 kernels from seed 1 on
    random_templates.py --seed 17                                     one of them again, its text kept in build/random
    --also cuda-emulated --every 4                                    these targets for every fourth kernel too
    --shard 0/4                                                       those that the first of four processes takes

Drawn are the way common_setup finds a task, 1 to 4 consumers and what each of them takes (rows, columns, operands of its
own), tiles of K an item, stages, branches and run-time places in compute, parts of tiles and several of them as one, sums
of their own, barriers of all consumers, how finish stores, grids, sizes, K of 0. Numbers
are small integers, so that sums are exact: results must be equal. The interpreter runs the text as it is written."""
import argparse
import itertools
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGETS = {"interp": "interp", "cpu": "cpu", "cuda-emulated": "cuda --emulate", "sm_80": "cuda:sm_80 --emulate",
           "cpu-written": "cpu --set written=on", "cuda-written": "cuda --emulate --set written=on"}

SETUPS = {  # what sets row, col and num_iters
    "return": """    int task = a->task_iter * gridDim.x + blockIdx.x;
    if (task >= rows * cols) {
        a->num_iters = -1;
        return;
    }
    a->common->row = task / cols;
    a->common->col = task % cols;
    a->num_iters = trips;""",
    "choice": """    int task = a->task_iter == 0 ? blockIdx.y * gridDim.x + blockIdx.x : -1;
    a->common->row = task < 0 ? 0 : task % rows;
    a->common->col = task < 0 ? 0 : task / rows;
    a->num_iters = task < 0 || a->common->col >= cols ? -1 : trips;""",
    "while": """    int task = a->task_iter * gridDim.x + blockIdx.x, row = 0;
    while (task >= cols) {
        task -= cols;
        row++;
    }
    a->common->row = row;
    a->common->col = task;
    a->num_iters = row < rows ? trips : -1;""",
    "switch": """    int task = a->task_iter * gridDim.x + blockIdx.x;
    a->common->row = task / cols;
    switch (task % cols) {
    case 0: a->common->col = 0; break;
    default: a->common->col = task % cols;
    }
    if (task < rows * cols) a->num_iters = trips;
    else a->num_iters = -1;""",
}


COMPLEX = [  # the same of complex numbers: a tile is two
    ("typedef st_bf(", "typedef cst_bf("), ("gl(bf16, 1, 1, -1, -1, tile)", "cgl(gl(bf16, 1, 1, -1, -1))"), ("gl(float, 1, 1, -1, -1)", "cgl(gl(float, 1, 1, -1, -1))"),
    ("rt_fl(16, 64) acc", "crt_fl(16, 64) acc"), ("globals->o.", "globals->o.real."), ("globals->x.c", "globals->x.real.c")]


class Kernel:
    def __init__(self, seed):
        r = random.Random(seed)
        self.form = r.choice(["template", "template", "roles"])
        self.setup, self.workers, self.split = r.choice(list(SETUPS)), r.randint(1, 4), r.choice(["rows", "columns", "own"])
        self.per, self.stages = r.randint(1, 3), r.randint(1, 3)
        self.body, self.finish = r.choice(["plain", "branch", "place", "registers"]), r.choice(["direct", "block", "scaled"])
        bodies = random.Random(seed + 2)  # later kinds: the kernels of the seeds before them stay what they were
        if bodies.random() < 0.5:
            self.body = bodies.choice(["parts", "halves", "group", "warps"])
        self.transposed, self.carried, self.ahead = r.random() < 0.4, r.random() < 0.5, r.random() < 0.5
        if self.body == "group" and (self.form == "roles" or self.workers in (1, 3)):
            self.body = "warps"
        if self.workers == 1 and not self.transposed and bodies.random() < 0.5:
            self.body = "beside"
        self.complex = self.form == "template" and self.body in ("plain", "place", "branch") and self.finish != "block" and bodies.random() < 0.5
        self.m, self.n, self.k = r.choice([40, 130, 200]), r.choice([50, 128, 250]), r.choice([0, 20, 64, 150, 200])
        if self.split == "own":
            self.n = self.m
        if self.form == "roles" and self.workers == 4:
            self.workers = 3
        self.x_tiles = 1 if self.split == "columns" else self.workers
        self.y_tiles = 1 if self.split == "rows" else self.workers
        self.rows, self.cols = math.ceil(self.m / (64 * self.x_tiles)), math.ceil(self.n / (64 * self.y_tiles))
        self.grid = f"{self.rows},{self.cols}" if self.setup == "choice" or self.form == "roles" else str(r.choice([1, 2, self.rows * self.cols]))
        self.seed = seed

    def head(self):
        return f"""#include "tile.h"
enum {{ W = {self.workers}, PER = {self.per}, X = {self.x_tiles}, Y = {self.y_tiles}, STAGES = {self.stages} }};
typedef st_bf(64, 64) tile;
struct globals {{ gl(bf16, 1, 1, -1, -1, tile) x, y; gl(float, 1, 1, -1, -1) o; }};
"""

    def where(self, row, col):
        at_row = row if self.split == "columns" else f"{row} * W + w"
        at_col = col if self.split == "rows" else f"{col} * W + w"
        return f"at({at_row}, {at_col})"

    def loads(self, slot, item, row, col, semaphore, indent):
        y = f"{col} * Y + i, {item} * PER + p" if self.transposed else f"{item} * PER + p, {col} * Y + i"
        text = f"""for (int p = 0; p < PER; p++) {{
    for (int i = 0; i < X; i++) tma_load_async(&{slot[0]}[p][i], g.x, at({row} * X + i, {item} * PER + p), {semaphore});
    for (int i = 0; i < Y; i++) tma_load_async(&{slot[1]}[p][i], g.y, at({y}), {semaphore});
}}
"""
        return "".join(" " * indent + line + "\n" for line in text.splitlines())

    def products(self, slot, acc, item, indent):
        op = "warpgroup_mma_ABt" if self.transposed else "warpgroup_mma_AB"
        x, y = "0" if self.split == "columns" else "w", "0" if self.split == "rows" else "w"

        def one(p):
            return f"{op}({acc}, &{slot[0]}[{p}][{x}], &{slot[1]}[{p}][{y}]);"

        left, right = f"&{slot[0]}[p][{x}]", f"&{slot[1]}[p][{y}]"
        part = (f"subtile(st_bf(64, 32), {right}, 0, h)" if self.transposed else f"subtile(st_bf(32, 64), {right}, h, 0)")
        turned = "warpgroup_mma_ABt" if self.transposed else "warpgroup_mma_AB"
        minus = "warpgroup_mm_ABt" if self.transposed else "warpgroup_mm_AB"
        text = {"plain": f"for (int p = 0; p < PER; p++) {one('p')}",
                "place": f"for (int p = 0; p < PER; p++) {{\n    int q = ({item} + p) % PER;\n    {one('q')}\n}}",
                "branch": f"if ({item} % 2) {{\n    for (int p = 0; p < PER; p++) {one('p')}\n    warpgroup_mma_wait(0);\n    warp_mul({acc}, {acc}, 1.0f);\n}} else {{\n"
                          f"    for (int p = PER - 1; p >= 0; p--) {one('p')}\n}}",
                # K in two halves of a tile
                "parts": f"for (int p = 0; p < PER; p++)\n    for (int h = 0; h < 2; h++) {turned}({acc}, subtile(st_bf(64, 32), {left}, 0, h), {part});",
                # which half comes first is known when the kernel runs
                "halves": f"for (int p = 0; p < PER; p++)\n    for (int i = 0; i < 2; i++) {{\n        int h = ({item} + i) % 2;\n"
                          f"        rt_bf(16, 32) half;\n        warpgroup_load(&half, subtile(st_bf(64, 32), {left}, 0, h));\n"
                          f"        {turned}({acc}, &half, {part});\n        warpgroup_mma_wait(0);\n    }}",
                # a sum of its own, added by maps of warps
                "warps": f"for (int p = 0; p < PER; p++) {{\n    rt_fl(16, 64) sum;\n    {minus}(&sum, {left}, {right});\n    warpgroup_mma_wait(0);\n"
                         f"    warp_mul(&sum, &sum, 2.0f);\n    warp_mul(&sum, &sum, 0.5f);\n    warp_add({acc}, {acc}, &sum);\n}}",
                # all consumers load and add what is theirs
                "group": f"for (int p = 0; p < PER; p++) {{\n    rt_bf(16, 64) all;\n    warpgroup_load(&all, {left});\n    warpgroup_sync(w + 1);\n    {op}({acc}, &all, {right});\n    warpgroup_mma_wait(0);\n"
                         f"    group{4 * self.workers}_sync(9);\n}}",
                # the columns of its tiles of y as one tile
                "beside": "for (int p = 0; p < PER; p++) " + one("p"),
                # (x + 0 i) (y + y i): the real part, and the imaginary one, which is the same
                "complex": f"for (int p = 0; p < PER; p++) {{\n    crt_fl(16, 64) z;\n    crt_bf(16, 64) u;\n    crt_bf(16, 64) v;\n" + f"    {one('p')}\n}}",
                # all tiles of K as one
                "beside": f"warpgroup_mma_AB({acc}, tile_view(st_bf(64, 64 * PER), {slot[0]}), tile_view(st_bf(64 * PER, 64), {slot[1]}));",
                "registers": f"for (int p = 0; p < PER; p++) {{\n    rt_bf(16, 64) left;\n    warpgroup_load(&left, &{slot[0]}[p][{x}]);\n"
                             f"    {op}({acc}, &left, &{slot[1]}[p][{y}]);\n    warpgroup_mma_wait(0);\n}}"}[self.body] + "\nwarpgroup_mma_wait(0);"
        return "".join(" " * indent + line + "\n" for line in text.splitlines())

    def template(self):
        place = self.where("a->common->row", "a->common->col")
        store = {"direct": f"    warpgroup_store(a->globals->o, &a->state->acc, {place});\n",
                 "scaled": "    if (a->num_iters > 1) warp_mul(&a->state->acc, &a->state->acc, 2.0f);\n"
                           "    if (a->num_iters > 1) warp_mul(&a->state->acc, &a->state->acc, 0.5f);\n"
                           f"    warpgroup_store(a->globals->o, &a->state->acc, {place});\n",
                 "block": "    warpgroup_store(&a->finish->o[w], &a->state->acc);\n    warpgroup_sync(w + 1);\n"
                          f"    if (warpgroup_laneid() == 0) tma_store_async(a->globals->o, &a->finish->o[w], {place});\n"
                          "    tma_store_async_read_wait();\n"}[self.finish]
        loads = self.loads(("a->input->x", "a->input->y"), "a->iter", "a->common->row", "a->common->col", "a->inputs_arrived", 8).replace("g.", "a->globals->")
        block = ".finish = struct finish, " if self.finish == "block" else ""
        return self.head() + f"""struct input {{ tile x[PER][X], y[PER][Y]; }};
struct finish {{ st_fl(64, 64) o[W]; }};
struct common {{ int row, col; }};
struct state {{ rt_fl(16, 64) acc; }};
static void setup(lcf_setup_args *a) {{
    int rows = cdiv(a->globals->o.rows, 64 * X), cols = cdiv(a->globals->o.cols, 64 * Y), trips = cdiv(a->globals->x.cols, 64 * PER);
{SETUPS[self.setup]}
}}
static void load_item(lcf_load_args *a) {{
    if (warpgroup_laneid() == 0) {{
        tma_expect(a->inputs_arrived, a->input);
{loads}    }}
}}
static void begin(lcf_consumer_setup_args *a) {{ warp_zero(&a->state->acc); }}
static void compute(lcf_compute_args *a) {{
    int w = warpgroup_groupid();
{self.products(("a->input->x", "a->input->y"), "&a->state->acc", "a->iter", 4)}    if (laneid() == 0) arrive(a->inputs_finished);
}}
static void end(lcf_finish_args *a) {{
    int w = warpgroup_groupid();
{store}    if (laneid() == 0) arrive(a->finish_finished);
}}
lcf_kernel(product, .globals = struct globals, .input = struct input, {block}.common = struct common, .consumer_state = struct state,
    .consumer_warps = 4 * W, .input_stages = STAGES, .producer_arrivals = 1, .common_setup = setup, .producer = {{.load = load_item}},
    .consumer = {{begin, compute, end}});
"""

    def roles(self):
        """The same with a ring of its own: phases computed from the trip, or carried along."""
        step = "            if (++s == STAGES) {\n                s = 0;\n                phase ^= 1;\n            }\n" if self.carried else ""
        slot = "" if self.carried else "            int s = t % STAGES, phase = t / STAGES % 2;\n"
        ring = ("x[s]", "y[s]")
        meet = "            warpgroup_sync(w + 1);\n" if self.body in ("registers", "halves") else ""  # one arrives for warps that read by themselves
        first = "        for (int t = 0; t < trips; t++) {\n"
        return self.head() + f"""tile_kernel((W + 1) * WARPGROUP_THREADS, 1) tile_grid(cdiv(g.o.rows, 64 * X), cdiv(g.o.cols, 64 * Y))
void product(struct globals g) {{
    int row = blockIdx.x, col = blockIdx.y, trips = cdiv(g.x.cols, 64 * PER){', s = 0, phase = 0' if self.carried else ''};
    tile x[STAGES][PER][X], y[STAGES][PER][Y];
    semaphore full[STAGES], empty[STAGES];
    if (threadIdx.x == 0)
        for (int i = 0; i < STAGES; i++) {{
            init_semaphore(&full[i], 1, 0);
            init_semaphore(&empty[i], W, 0);
        }}
    __syncthreads();
    if (warpgroup_groupid() == W) {{
{first}{slot}            wait(&empty[s], phase ^ 1);
            if (warpgroup_laneid() == 0) {{
                tma_expect(&full[s], &x[s], &y[s]);
{self.loads(ring, "t", "row", "col", "&full[s]", 16)}            }}
{step}        }}
    }} else {{
        int w = warpgroup_groupid();
        rt_fl(16, 64) acc;
        warp_zero(&acc);
{first}{slot}            wait(&full[s], phase);
{self.products(ring, "&acc", "t", 12)}{meet}            if (warpgroup_laneid() == 0) arrive(&empty[s]);
{step}        }}
        warpgroup_store(g.o, &acc, {self.where("row", "col")});
    }}
}}
"""

    def bytes(self):
        return 8192 * (1 + self.complex) * self.per * self.stages * (self.x_tiles + self.y_tiles) + 16384 * self.workers * (self.finish == "block")

    def text(self):
        text = self.template() if self.form == "template" else self.roles()
        for real, pair in COMPLEX if self.complex else ():
            text = text.replace(real, pair)
        return text

    def wanted(self, x, y):
        """o[i][j]; of operands of their own only the blocks that some consumer has."""
        lines = y if self.transposed else list(zip(*y)) if self.k else [()] * self.n
        own = 64 * self.workers
        return [sum(a * b for a, b in zip(row, line)) if self.split != "own" or i % own // 64 == j % own // 64 else 0
                for i, row in enumerate(x) for j, line in enumerate(lines)]


def write_bf16(path, rows, cols, numbers):
    head = f"{{'descr': '<u2', 'fortran_order': False, 'shape': ({rows}, {cols}), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    data = b"".join(struct.pack("<f", v)[2:] for line in numbers for v in line)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def read_f32(path):
    data = path.read_bytes()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - begin) // 4}f", data[begin:])


def combine(a, b, sign):
    return [x + sign * y for x, y in zip(a, b)]


def run(kernel, targets, folder):
    r = random.Random(kernel.seed + 1)
    size = {"x": (kernel.m, kernel.k), "y": (kernel.n, kernel.k) if kernel.transposed else (kernel.k, kernel.n)}
    parts = [".real", ".imag"] if kernel.complex else [""]
    arrays = {name + part: [[r.randint(-4, 4) for _ in range(size[name][1])] for _ in range(size[name][0])] for part in parts for name in "xy"}
    source = folder / f"template{kernel.seed}.tile.c"
    files = {name: folder / f"{name}{kernel.seed}.npy" for name in [*arrays, *("o" + part for part in parts)]}
    source.write_text(kernel.text())
    for name, rows in arrays.items():
        write_bf16(files[name], *size[name[0]], rows)
    want = {"o" + part: kernel.wanted(arrays["x" + parts[0]], arrays["y" + part]) for part in parts}
    if kernel.complex:
        want["o.real"] = combine(want["o.real"], kernel.wanted(arrays["x.imag"], arrays["y.imag"]), -1)
        want["o.imag"] = combine(want["o.imag"], kernel.wanted(arrays["x.imag"], arrays["y.real"]), 1)
    failed = False
    for target in targets:
        as_written = target == "cuda-written" or (target.startswith("cuda") and kernel.form == "roles")
        if as_written and kernel.bytes() > 220000:  # its ring is as it says
            continue
        grid = [] if kernel.form == "roles" else ["--grid", kernel.grid]
        command = [str(ROOT / "build/tilewright"), "run", str(source), "--target", *TARGETS[target].split(), *grid]
        for name in arrays:
            command += ["--arg", f"g.{name}=file:{files[name]}:bf16"]
        for name in want:
            command += ["--arg", f"g.{name}=zeros:f32[{kernel.m},{kernel.n}]", "--save", f"g.{name}={files[name]}"]
        done = subprocess.run(command, capture_output=True, text=True)
        said = done.stderr.strip().splitlines()[:1] if done.returncode else []
        for name, numbers in want.items() if not done.returncode else ():
            got = read_f32(files[name])
            wrong = [i for i in range(len(numbers)) if got[i] != numbers[i]]
            if len(got) != len(numbers) or wrong:
                said = [f"{len(wrong)} of {len(numbers)} elements of {name} differ, [{wrong[0] // kernel.n}, {wrong[0] % kernel.n}] is {got[wrong[0]]}, "
                        f"wanted {numbers[wrong[0]]}"]
        if said or done.returncode:
            failed = True
            print(f"seed {kernel.seed} on {target}: {said[0] if said else 'failed'}\n  {' '.join(command)}", flush=True)
    for file in [*files.values()] + ([] if failed else [source]):
        file.unlink(missing_ok=True)
    return not failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--targets", default="interp,cpu")
    parser.add_argument("--also", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--seconds", type=float, help="go on for so long, whatever the count")
    parser.add_argument("--out", default="build/random", help="where failures stay")
    parser.add_argument("--large", action="store_true", help="as the other generators have it; sizes are as they are")
    options = parser.parse_args()
    take, shards = (int(part) for part in options.shard.split("/"))
    folder, begin = ROOT / options.out, time.time()
    folder.mkdir(parents=True, exist_ok=True)
    tried = failed = 0
    for i in itertools.count(take, shards):
        if time.time() - begin > options.seconds if options.seconds else i >= options.count:
            break
        targets = options.targets.split(",") + (options.also.split(",") if options.also and i % options.every == 0 else [])
        tried += 1
        failed += not run(Kernel(options.seed + i), targets, folder)
    print(f"{tried} kernels, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    os.environ.setdefault("TILEWRIGHT_CACHE_LIMIT", "1000000000")
    sys.exit(main())
