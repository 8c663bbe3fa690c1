#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py: pages of `explain --html`, looked at in a browser: what they must show is there, no text reaches out of its
picture or lies on another one, wide and narrow, by day and by night something is drawn, and no page has a script or fetches anything.

    run.py [--bin DIR] [--keep DIR]        --keep leaves pages and screenshots there, to be looked at"""
import argparse
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MATMUL = "kernels/triton/matmul.py a_ptr=*bf16 b_ptr=*bf16 c_ptr=*bf16 M=i32 N=i32 K=i32 stride_am=i32 stride_ak=1 stride_bk=i32 stride_bn=1 stride_cm=i32 stride_cn=1 BM=128 BN=128 BK=64"
SOFTMAX = "kernels/tilelang/softmax.py M=128 N=1000"
# name, target, kernel and arguments, what the page has: headings, and texts behind `+`
CASES = [
    ("cuda", "cuda", MATMUL, ["Tiles on the grid", "Rings over time", "Registers: ", "Shared memory: ", "Roofline", "What was proved"]),
    # K is known: 2 * 128 * 128 * 4096 operations for 2 * (4096 * (128 + 128) + 128 * 128) bytes
    ("numbers", "cuda", MATMUL.replace(" K=i32", " K=4096"), ["+>63.0 operations for each byte that a program loads or stores. Programs"]),
    # rows lie in warps of their own; the two loads of X are one picture; no TMA
    ("hip", "hip", SOFTMAX, ["Registers: ", "+>w3 7.1<", "+>a loop moves it, in 2 places<", "+>vectors require "]),
    ("templates", "cuda", "kernels/tilec/attention_lcf.tile.c", ["Rings over time", "Registers: "]),
    ("tenstorrent", "tenstorrent", MATMUL, ["Tiles on the grid", "Rings over time", "The grid of Tensix cores", "Circular buffers", "What was proved"]),
    # a row is drawn on its matrix; the memory's words make way for the point
    ("rows", "cuda", "kernels/triton/softmax.py out_ptr=*f32 in_ptr=*f32 in_stride=i32 out_stride=i32 n_cols=1000 BLOCK=1024", ["Roofline", "+>at [row, 0]<"]),
    ("gather", "cuda", "kernels/triton/rows.py:embedding_kernel table_ptr=*f32 index_ptr=*i32 out_ptr=*f32 n=i32 width=i32 stride_t=i32 stride_o=i32 BM=16 BC=256",
     ["Tiles on the grid", "+>where an index vector says<", "+>at [pid0 * 16, pid1 * 256]<"]),
    ("ahead", "hip", MATMUL, ["Roofline", "+>at [(k + 1) * 64, pid_n * 128]<"]),
    ("cpu", "cpu", MATMUL, ["Tiles on the grid", "What was proved"]),
]
# Put behind a copy of the page, for its measures alone: the page itself has no script.
MEASURE = """<script>
const bad = [];
for (const svg of document.querySelectorAll('svg')) {
  const frame = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  for (const [text, at] of texts)
    if (at.left < frame.left - 1 || at.right > frame.right + 1 || at.top < frame.top - 1 || at.bottom > frame.bottom + 1) bad.push('out of its picture: ' + text);
  for (let i = 0; i < texts.length; i++) for (let j = 0; j < i; j++) {
    const a = texts[i][1], b = texts[j][1];
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) bad.push('on each other: ' + texts[i][0] + ' | ' + texts[j][0]);
  }
}
if (document.documentElement.scrollWidth > innerWidth) bad.push('wider than the window');
document.body.innerHTML = '<pre id=measured>' + bad.join('\\n') + '</pre>';
</script>"""
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]


def colours(png):
    """How many pixels of an 8-bit PNG have each colour: of every eighth row, unfiltered."""
    data, at, packed, width, channels = png.read_bytes(), 8, b"", 0, 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, _, _, mode = struct.unpack(">IIBB", data[at + 8:at + 18])
            channels = {2: 3, 6: 4}[mode]
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    raw, stride = zlib.decompress(packed), width * channels
    counts, above = {}, bytearray(stride)
    for row in range(len(raw) // (stride + 1)):
        filtered, line = raw[row * (stride + 1)], bytearray(raw[row * (stride + 1) + 1:(row + 1) * (stride + 1)])
        for i in range(stride) if filtered else ():
            a = line[i - channels] if i >= channels else 0
            b = above[i]
            c = above[i - channels] if i >= channels else 0
            near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, near)[filtered]) & 255
        above = line
        for i in range(0, stride, channels) if row % 8 == 0 else ():
            key = bytes(line[i:i + 3])
            counts[key] = counts.get(key, 0) + 1
    return counts


def browse(page, *more):
    done = subprocess.run([*CHROMIUM, *more, page.as_uri()], capture_output=True, text=True, timeout=120)
    return done.stdout


def mistakes(tilewright, case, folder):
    name, target, words, headings = case
    kernel, *arguments = shlex.split(words)
    done = subprocess.run([tilewright, "explain", kernel, "--target", target, "--html", *[w for a in arguments for w in ("--arg", a)]], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        return [done.stderr]
    page, measured = folder / f"{name}.html", folder / f"{name}-measured.html"
    page.write_text(done.stdout)
    measured.write_text(done.stdout.replace("</body>", MEASURE + "</body>"))
    wanted = [what[1:] if what[0] == "+" else f"<h2>{what}" for what in headings]
    bad = [f"no `{what}`" for what in wanted if what not in done.stdout]
    bad += [f"the page has {found}" for found in re.findall(r"<script|https?:|\bsrc=|@import|url\(", done.stdout)]
    for window in ["--window-size=1040,2600", "--window-size=500,2600"]:
        found = re.search(r'<pre id="measured">(.*?)</pre>', browse(measured, window, "--dump-dom"), re.S)
        lines = found.group(1).split("\n") if found and found.group(1) else [] if found else ["the browser measured nothing"]
        bad += [f"{window}: {line}" for line in lines]
    return bad


def shots(folder):
    """By day and by night: the paper, and enough of the colours of pictures."""
    bad = []
    for name, more, paper in (("day", [], b"\xff\xff\xff"), ("night", ["--blink-settings=preferredColorScheme=0"], b"\x14\x18\x1f")):
        shot = folder / f"{name}.png"
        browse(folder / "cuda.html", "--window-size=1040,2600", f"--screenshot={shot}", *more)
        counts = colours(shot) if shot.exists() else {}
        whole = sum(counts.values())
        if not counts or counts.get(paper, 0) < whole * 0.2:
            bad.append(f"{name}: the paper is not #{paper.hex()}: {sorted(counts.items(), key=lambda one: -one[1])[:3]}")
        for hue in ("8ecae6", "95d5a0", "ffb703"):
            if counts.get(bytes.fromhex(hue), 0) < whole * 0.001:
                bad.append(f"{name}: nothing is drawn in #{hue}")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build"), help="the folder of tilewright")
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    tilewright = str(pathlib.Path(options.bin).resolve() / "tilewright")
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(options.keep or made).resolve()
        folder.mkdir(exist_ok=True)
        bad = [f"{case[0]}: {what}" for case in CASES for what in mistakes(tilewright, case, folder)]
        bad += shots(folder)
    print("\n".join(bad) if bad else f"{len(CASES)} pages show what they should")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
