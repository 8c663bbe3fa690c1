#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compile_all.py: the kernels of the tree, emitted for CUDA, compile by themselves, within bounds.

Each case is emitted into a folder (`tilewright emit --target cuda:ARCH -o FOLDER`) and compiled there by NVRTC; some also by
plain nvcc, which is slow. A warning is a failure. So is a kernel that takes more than tests/golden/cuda_resources.txt
allows it: registers a thread (8 more are let through: ptxas gives them out in eights), bytes of spilled registers, bytes
of shared memory. NVRTC comes from the tests' virtual environment; TILEWRIGHT_NVRTC names another library.

    compile_all.py [--bless] [WORD..]      --bless writes what is measured as the new bounds; WORD: just titles with it
"""
import concurrent.futures
import ctypes
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = str(ROOT / "build/tilewright")
BOUNDS = ROOT / "tests/golden/cuda_resources.txt"
BY_NVCC = ("triton softmax f32", "triton matmul f16, 3 stages", "tile c matmul")
OLDER = ("sm_80", "sm_89", "sm_100")  # beside sm_90a, for the cases that say so
SLACK = 8


def words(text):
    """'x=f32[4] n=4 -D K=1 ..' as options: arrays are zeros, the rest as it stands."""
    out = []
    for word in text.split():
        name, _, value = word.partition("=")
        if out and out[-1] in ("-D", "--set") or word in ("-D", "--set"):
            out.append(word)
        else:
            out += ["--arg", f"{name}=zeros:{value}" if value.endswith("]") else word]
    return out


def cases():
    """Yields (title, kernel file, arguments, also for older machines)."""
    for dtype in ("f32", "bf16"):
        for name, inputs in (("add", "x_ptr y_ptr output_ptr n_elements BLOCK_SIZE"), ("mul", "x_ptr y_ptr out_ptr n BLOCK"),
                             ("fma", "x_ptr y_ptr z_ptr out_ptr n BLOCK")):
            *arrays, n, block = inputs.split()
            text = " ".join(f"{a}={dtype}[4096]" for a in arrays) + f" {n}=4096 {block}=1024"
            yield f"triton {name} {dtype}", f"kernels/triton/{name}.py", text, name == "add"
    for dtype, columns in (("f32", 1000), ("f32", 8192), ("bf16", 4096)):
        block = 1 << (columns - 1).bit_length()
        rows = f"n_cols={columns} BLOCK={block}"
        both = f"in_ptr={dtype}[8,{columns}] out_ptr={dtype}[8,{columns}] in_stride={columns} out_stride={columns} {rows}"
        yield f"triton softmax {dtype}" + (f" {columns}" if columns != 1000 else ""), "kernels/triton/softmax.py", both, columns == 1000
        if columns == 1000:
            continue
        own = f"x_ptr={dtype}[8,{columns}] y_ptr={dtype}[8,{columns}] w_ptr={dtype}[{columns}] stride={columns} {rows} eps=1e-5"
        yield f"triton rmsnorm {dtype} {columns}", "kernels/triton/rmsnorm.py", own, False
        yield f"triton layernorm {dtype} {columns}", "kernels/triton/layernorm.py", own + f" b_ptr={dtype}[{columns}]", False
    yield "triton row sum", "kernels/triton/row_sum.py", "x_ptr=f32[8,16384] out_ptr=f32[8] stride=16384 n_cols=16384 BLOCK=4096", False
    sizes = "M=256 N=256 K=256 stride_am=256 stride_ak=1 stride_bk=256 stride_bn=1 stride_cm=256 stride_cn=1"
    for dtype, stages, tile in (("f32", 2, "128 128 64"), ("f16", 3, "128 128 64"), ("bf16", 1, "128 128 64"), ("f16", 4, "128 256 64"),
                                ("bf16", 3, "16 128 128"), ("f16", 3, "64 64 32")):
        m, n, k = tile.split()
        text = f"a_ptr={dtype}[256,256] b_ptr={dtype}[256,256] c_ptr={dtype}[256,256] {sizes} BM={m} BN={n} BK={k} --set num_stages={stages}"
        usual = tile == "128 128 64"
        yield f"triton matmul {dtype}, {stages} stages" + ("" if usual else f", {m}x{n}x{k}"), "kernels/triton/matmul.py", text, usual
    odd = "M=1000 N=777 K=1234 stride_am=1234 stride_ak=1 stride_bk=777 stride_bn=1 stride_cm=777 stride_cn=1 BM=128 BN=128 BK=32"
    pairs = "M=512 N=512 K=512 stride_am=512 stride_ak=1 stride_bk=512 stride_bn=1 stride_cm=512 stride_cn=1 BM=128 BN=256 BK=64"
    yield "triton matmul bf16, clusters", "kernels/triton/matmul.py", (
        f"a_ptr=bf16[512,512] b_ptr=bf16[512,512] c_ptr=bf16[512,512] {pairs} --set num_warps=8 --set slots=4 --set cluster=2"), False
    yield "triton matmul f16, odd strides", "kernels/triton/matmul.py", f"a_ptr=f16[1000,1234] b_ptr=f16[1234,777] c_ptr=f16[1000,777] {odd}", True
    odd = odd.replace("BM=128 BN=128 BK=32", "BM=64 BN=64 BK=64 --set num_warps=4 --set num_stages=3 --set variant=2")
    yield "triton matmul bf16, odd strides, shifted", "kernels/triton/matmul.py", (
        f"a_ptr=bf16[1000,1234] b_ptr=bf16[1234,777] c_ptr=bf16[1000,777] {odd}"), False
    sizes = "M=256 N=256 K=256 stride_am=256 stride_bn=256 stride_cm=256 BM=128 BN=128 BK=64"
    for dtype, total in (("f32", "f32"), ("f8e4m3", "f32"), ("f16", "f16")):
        yield f"triton matmul_nt {dtype}", "kernels/triton/matmul_nt.py", (
            f"a_ptr={dtype}[256,256] b_ptr={dtype}[256,256] c_ptr={total}[256,256] {sizes}"), dtype == "f8e4m3"
    for d, causal in ((64, "false"), (64, "true"), (128, "false"), (128, "true")):
        arrays = " ".join(f"{x}_ptr=bf16[2,256,{d}]" for x in "qkvo")
        text = f"{arrays} scale=0.125 N=256 stride_h={256 * d} stride_n={d} D={d} BM=128 BN=64 CAUSAL={causal}"
        yield f"triton attention D{d}{', causal' if causal == 'true' else ''}", "kernels/triton/attention.py", text, d == 64
        if d == 64:
            yield f"triton attention D{d}{', causal' if causal == 'true' else ''}, side by side", "kernels/triton/attention.py", (
                text.replace("BM=128 BN=64", "BM=64 BN=128")), False
    for kernel, outputs, tile in (("dkdv", "kv", "BM1=64 BN1=128"), ("dq", "q", "BM2=128 BN2=128")):
        arrays = [f"{x}_ptr=bf16[2,256,128]" for x in ("q", "k", "v", "do", *("d" + o for o in outputs))]
        text = f"{' '.join(arrays)} lse_ptr=f32[2,256] delta_ptr=f32[2,256] scale=0.125 N=256 stride_h=32768 stride_n=128 D=128 CAUSAL=true {tile}"
        yield f"triton attention backward {kernel}", f"kernels/triton/attention_backward.py:attention_{kernel}_kernel", (
            text + " --set num_warps=8 --set num_stages=2"), False
    yield "triton ops", "tests/gpu/ops.py", "x_ptr=f32[1024] y_ptr=f32[4096] z_ptr=i32[1024] n=1000", True
    sizes = "-D M=256 -D N=256 -D K=256"
    shapes = "A=f16[256,256] B=f16[256,256] C=f16[256,256]"
    yield "tilelang gemm f16", "kernels/tilelang/gemm.py", f"{shapes} {sizes} -D dtype=float16", True
    yield "tilelang gemm as printed", "kernels/tilelang/seed_gemm.py", f"{shapes} {sizes}", False
    yield "tilelang row sum as printed", "kernels/tilelang/seed_row_sum.py", "-D M=256 -D N=256", False
    yield "tilelang functions of the source", "tests/gpu/externs.py:tagged", "A=i8[64] B=i32[64]", False
    yield "tilelang functions on arrays", "tests/gpu/externs.py:widened", "A=u8[128] B=i16[256]", False
    yield "tile c matmul", "kernels/tilec/matmul.tile.c", "g.A=bf16[256,256] g.B=bf16[256,256] g.C=bf16[256,256]", False
    heads = "g.q=bf16[1,2,256,64] g.k=bf16[1,2,256,64] g.v=bf16[1,2,256,64] g.o=bf16[1,2,256,64]"
    yield "tile c attention", "kernels/tilec/attention.tile.c", f"{heads} g.l=f32[1,2,1,256] -D D=64", False
    yield "tile c attention, template", "kernels/tilec/attention_lcf.tile.c", heads, False
    yield "tile c linear attention", "kernels/tilec/linear_attention.tile.c", f"{heads} g.slope=f32[2]", False
    yield "tile c rotary, template", "kernels/tilec/rotary_lcsf.tile.c", (
        "g.x=bf16[2,4,100,128] g.cos=f32[100,64] g.sin=f32[100,64] g.o=bf16[2,4,100,128]"), False


def find_nvrtc():
    if os.environ.get("TILEWRIGHT_NVRTC"):
        return os.environ["TILEWRIGHT_NVRTC"]
    pattern = os.path.join(os.environ.get("TILEWRIGHT_NVRTC_VENV", ".venv"), "lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*")
    found = [path for path in glob.glob(str(ROOT / pattern)) if "alt" not in path]
    return found[0] if found else None


def run(command, **more):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, **more)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def nvrtc_compile(library, source, arch):
    """Whether NVRTC takes it, and what it says."""
    folder = os.path.dirname(library)
    for builtins in glob.glob(os.path.join(folder, "libnvrtc-builtins.so*")):
        ctypes.CDLL(builtins, mode=ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(library)
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None)
    options = [f"--gpu-architecture={arch}", "-std=c++17", "--fmad=false", "-I" + str(source.parent), "--ptxas-options=-v"]
    given = [option.encode() for option in options]
    status = nvrtc.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value or 1)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return status == 0, log.value.decode("utf-8", "replace")


def nvcc_compile(source, arch):
    status, output = run(["nvcc", f"-arch={arch}", "-std=c++17", "-cubin", "--fmad=false", "-Xptxas", "-v", "-o", str(source) + ".cubin", str(source)])
    return status == 0, output


def resources(text, log):
    """(registers, spilled bytes, shared bytes): what ptxas says, and what the first line of the emitted text says."""
    registers = max(int(n) for n in re.findall(r"Used (\d+) registers", log))
    spilled = sum(int(n) for n in re.findall(r"(\d+) bytes spill stores", log))
    return registers, spilled, int(re.search(r"(\d+) bytes of shared memory", text).group(1))


def read_bounds():
    bounds = {}
    for line in BOUNDS.read_text().splitlines() if BOUNDS.exists() else []:
        if line and not line.startswith("#"):
            title, arch, *numbers = (part.strip() for part in line.split("|"))
            bounds[title, arch] = tuple(int(n) for n in numbers)
    return bounds


def write_bounds(measured):
    rows = [f"{title:42} | {arch:6} | {r:3} | {s:5} | {b:6}" for (title, arch), (r, s, b) in sorted(measured.items())]
    head = ["# What each emitted kernel may take: registers a thread, bytes of spilled registers, bytes of shared memory.",
            "# Written by `python3 tests/compile_all.py --bless`."]
    BOUNDS.write_text("\n".join(head + rows) + "\n")


def compile_case(title, file, text, arch, nvrtc):
    """([error..], resources or None)"""
    with tempfile.TemporaryDirectory() as folder:
        status, output = run([TOOL, "emit", file, "--target", f"cuda:{arch}", "-o", folder] + words(text))
        if status:
            return [f"{title}, {arch}: emit failed\n{output}"], None
        source = next(pathlib.Path(folder).glob("*.cu"))
        by_nvcc = shutil.which("nvcc") and (not nvrtc or (title in BY_NVCC and arch == "sm_90a"))
        errors, used = [], None
        for compiler in ([lambda: nvrtc_compile(nvrtc, source, arch)] if nvrtc else []) + ([lambda: nvcc_compile(source, arch)] if by_nvcc else []):
            good, log = compiler()
            if not good or "warning" in log or "C75" in log:
                errors.append(f"{title}, {arch}: {source.name}\n{log}")
            elif not used:
                used = resources(source.read_text(), log)
        return errors, used


def over(title, arch, used, bounds):
    allowed = bounds.get((title, arch))
    if not allowed:
        return [f"{title}, {arch}: no bounds; look at what it takes (registers, spills, shared: {used}) and run tests/compile_all.py --bless"]
    names = ("registers", "bytes of spilled registers", "bytes of shared memory")
    return [f"{title}, {arch}: {got} {name}, the bound is {most} (tests/golden/cuda_resources.txt; --bless sets it anew)"
            for name, got, most, more in zip(names, used, allowed, (SLACK, 0, 0)) if got > most + more]


def main():
    bless = "--bless" in sys.argv
    wanted = [word for word in sys.argv[1:] if word != "--bless"]
    nvrtc = find_nvrtc()
    if not nvrtc and not shutil.which("nvcc"):
        print("neither NVRTC nor nvcc is here")
        return 1
    jobs = [(title, file, text, arch) for title, file, text, older in cases() for arch in ("sm_90a",) + (OLDER if older and nvrtc else ())
            if all(word in title for word in wanted)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = list(pool.map(lambda job: compile_case(*job, nvrtc), jobs))
    bounds, measured, errors = read_bounds(), {}, []
    for (title, _, _, arch), (wrong, used) in zip(jobs, results):
        errors += wrong
        if used:
            measured[title, arch] = used
            errors += [] if bless else over(title, arch, used, bounds)
    if bless:
        write_bounds({**(bounds if wanted or not nvrtc else {}), **measured})
    print("\n".join(errors))
    print(f"{len(jobs)} kernels, {len(errors)} failed ({'nvcc' if shutil.which('nvcc') else ''} {'NVRTC' if nvrtc else ''})")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
