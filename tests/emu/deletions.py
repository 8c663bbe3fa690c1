#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deletions.py: every barrier, fence, wait and arrival of emitted kernels is left out once; the emulator must notice.

    tests/emu/deletions.py [--bin build] [--only TEXT]

The kernels are compiled by this very file as CXX, which takes one call out of the text and hands it to the C++ compiler. What may go
unnoticed is listed with its reason; anything else that does is a gap of the emulator, or a line that emitted code does not need."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALL = re.compile(r"tw_(sync|sync_warp|bar_\w+|fence_\w+|mbar_\w+|wgmma_(fence|commit|wait|settle)|cp_async_(commit|wait|arrive)|bulk_\w+|cluster_sync)\([^;]*\);")
MAY = [
    (r"tw_wgmma_settle", "keeps other registers from moving across a wait"),
    (r"tw_mbar_wait\(.*== 0\)", "was waited for before: keeps instructions in their order"),
    (r"tw_wgmma_fence", "the fence of the product before it stands behind the same registers"),
    (r"tw_fence_mbar_init", "no copy completes on these mbarriers"),
    (r"tw_fence_async", "a buffer that leaves by plain stores, or that nobody reads before the next fence"),
    (r"tw_sync\(\);|tw_bar_sync", "the first barrier of a task, whose memory nobody has touched yet; or that of a block alone"),
]
SIZES = "M=192 N=128 K=576 stride_am=576 stride_ak=1 stride_bk=128 stride_bn=1 stride_cm=128 stride_cn=1 BM=64 BN=64 BK=64"
MATMUL = f"kernels/triton/matmul.py a_ptr=randn:bf16[192,576] b_ptr=randn:bf16[576,128] c_ptr=zeros:bf16[192,128] {SIZES} --grid 6 --set slots=3"
TILES = " ".join(f"{name}=randn:bf16[1,900,64]" for name in ("q_ptr", "k_ptr", "v_ptr", "o_ptr"))
ATTENTION = f"kernels/triton/attention.py {TILES} scale=0.125 N=900 stride_h=57600 stride_n=64 BM=128 BN=64 D=64 CAUSAL=True --grid 8,1 --set slots=2"
WRITTEN = "kernels/tilec/attention_lcf.tile.c -D WORKERS=1 -D STAGES=2 g.q=randn:bf16[1,1,64,64] g.k=randn:bf16[1,1,200,64] g.v=randn:bf16[1,1,200,64] g.o=zeros:bf16[1,1,64,64] --grid 1 --set written=on"
KERNELS = {
    "roles": (MATMUL, 0),
    "cluster": (MATMUL + " --set cluster=2", 1),
    "skew": (MATMUL + " --set roles=off", 2),
    "attention": (ATTENTION + " --set num_warps=8", 5),
    "written": (WRITTEN, 2, "fence_async|wgmma_[cw]|mbar_[wa]"),
    "sort": ("tests/wild/rows.py:topk_rows x=randn:f32[9,1000] v=zeros:f32[9,8] N=1000 K=8 BLOCK=1024 --grid 9", 0),
}


def compile_without():
    """As CXX: `kernel.cu` among the arguments loses what DELETE says."""
    begin, end = map(int, os.environ["DELETE"].split())
    for word in sys.argv[1:]:
        if word.endswith("kernel.cu"):
            text = pathlib.Path(word).read_text()
            pathlib.Path(os.environ["SEEN"]).write_text(text)
            pathlib.Path(word).write_text(text[:begin] + ";" * (end > begin) + text[end:])
    os.execvp("c++", ["c++", *sys.argv[1:]])


def check(tilewright, arguments, begin, end):
    """Status, output, and the text before anything was taken out."""
    with tempfile.TemporaryDirectory() as folder:
        seen = pathlib.Path(folder) / "seen.cu"
        environment = dict(os.environ, CXX=os.path.abspath(__file__), TILEWRIGHT_CACHE_DIR=folder, DELETE=f"{begin} {end}", SEEN=str(seen))
        done = subprocess.run([tilewright, "check", *arguments, "--target", "cuda", "--emulate"], cwd=ROOT, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr, seen.read_text() if seen.exists() else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build"))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    bad = total = 0
    for name, (words, most, *calls) in KERNELS.items():
        if options.only not in name:
            continue
        arguments = re.sub(r"(?<!--set)(?<!-D) ([\w.]+=)", r" --arg \1", words).split()
        tilewright = os.path.join(options.bin, "tilewright")
        status, output, text = check(tilewright, arguments, 0, 0)
        if status:
            sys.exit(f"{name}: not clean as it was emitted\n{output}")
        places = [m.span() for m in CALL.finditer(text) if not text[text.rfind("\n", 0, m.start()) + 1:m.start()].lstrip().startswith("//") and all(re.search(some, m[0]) for some in calls)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda place: check(tilewright, arguments, *place)[0], places))
        missed = [text[begin:end] for (begin, end), status in zip(places, results) if not status]
        wrong = [call for call in missed if not any(re.search(pattern, call) for pattern, _ in MAY)]
        total += len(places)
        if wrong or len(missed) > most:
            bad += 1
            print(f"{name}: unnoticed:", *missed, sep="\n    ")
    print(f"{total} calls left out of emitted kernels, {bad} kernels with more unnoticed than known")
    sys.exit(bad > 0)


if os.environ.get("DELETE"):
    compile_without()
main()
