#!/usr/bin/env python3
"""compile_all.py: every kernel of the table, emitted for CUDA, compiles for sm_90a by itself.

Each case is emitted into a folder (`tilewright emit --target cuda`) and compiled there by NVRTC; some also by plain nvcc,
which is slow. A spilled register or a warning is a failure. NVRTC comes from the tests' virtual environment;
TILEWRIGHT_NVRTC names another library.
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
BY_NVCC = ("triton softmax f32", "triton matmul f16, 3 stages", "tile c matmul")


def arrays(dtype, **shapes):
    return [word for name, shape in shapes.items() for word in ("--arg", f"{name}=zeros:{dtype}[{shape}]")]


def cases():
    """Yields (title, kernel file, arguments)."""
    for dtype in ("f32", "bf16"):
        yield f"triton add {dtype}", "kernels/triton/add.py", arrays(dtype, x_ptr="4096", y_ptr="4096", output_ptr="4096") + [
            "--arg", "n_elements=4096", "--arg", "BLOCK_SIZE=1024"]
    yield "triton softmax f32", "kernels/triton/softmax.py", arrays("f32", in_ptr="8,1000", out_ptr="8,1000") + [
        "--arg", "n_cols=1000", "--arg", "in_stride=1000", "--arg", "out_stride=1000", "--arg", "BLOCK=1024"]
    for dtype, stages in (("f32", 2), ("f16", 3), ("bf16", 1)):
        strides = "stride_am=256 stride_ak=1 stride_bk=256 stride_bn=1 stride_cm=256 stride_cn=1 M=256 N=256 K=256 BM=128 BN=128 BK=64"
        yield f"triton matmul {dtype}, {stages} stages", "kernels/triton/matmul.py", arrays(
            dtype, a_ptr="256,256", b_ptr="256,256", c_ptr="256,256") + [
            word for pair in strides.split() for word in ("--arg", pair)] + ["--set", f"num_stages={stages}"]
    strides = "M=256 N=256 K=256 stride_am=256 stride_bn=256 stride_cm=256 BM=128 BN=128 BK=64"
    for dtype, total in (("f32", "f32"), ("f8e4m3", "f32"), ("f16", "f16")):
        yield f"triton matmul_nt {dtype}", "kernels/triton/matmul_nt.py", arrays(dtype, a_ptr="256,256", b_ptr="256,256") + arrays(
            total, c_ptr="256,256") + [word for pair in strides.split() for word in ("--arg", pair)]
    yield "triton ops", "tests/gpu/ops.py", arrays("f32", x_ptr="1024", y_ptr="4096") + arrays("i32", z_ptr="1024") + ["--arg", "n=1000"]
    sizes = ["-D", "M=256", "-D", "N=256", "-D", "K=256"]
    shapes = dict(A="256,256", B="256,256", C="256,256")
    yield "tilelang gemm f16", "kernels/tilelang/gemm.py", arrays("f16", **shapes) + sizes + ["-D", "dtype=float16"]
    yield "tilelang gemm as printed", "kernels/tilelang/seed_gemm.py", arrays("f16", **shapes) + sizes
    yield "tile c matmul", "kernels/tilec/matmul.tile.c", arrays("bf16", **{"g.A": "256,256", "g.B": "256,256", "g.C": "256,256"})


def find_nvrtc():
    if os.environ.get("TILEWRIGHT_NVRTC"):
        return os.environ["TILEWRIGHT_NVRTC"]
    pattern = os.path.join(os.environ.get("TILEWRIGHT_NVRTC_VENV", ".venv"), "lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*")
    found = [path for path in glob.glob(str(ROOT / pattern)) if "alt" not in path]
    return found[0] if found else None


def run(command, **more):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, **more)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def nvrtc_compile(library, source):
    """None, or what NVRTC says."""
    folder = os.path.dirname(library)
    for builtins in glob.glob(os.path.join(folder, "libnvrtc-builtins.so*")):
        ctypes.CDLL(builtins, mode=ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(library)
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None)
    options = [b"--gpu-architecture=sm_90a", b"-std=c++17", b"--fmad=false", b"-I" + str(source.parent).encode()]
    status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value or 1)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    text = log.value.decode("utf-8", "replace")
    return text if status or "warning" in text else None


def compile_case(case, nvrtc):
    title, file, arguments = case
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        status, output = run([TOOL, "emit", file, "--target", "cuda", "-o", folder] + arguments)
        if status:
            return [f"{title}: emit failed\n{output}"]
        sources = sorted(pathlib.Path(folder).glob("*.cu"))
        if not sources:
            errors.append(f"{title}: nothing was emitted")
        for source in sources:
            wrong = nvrtc_compile(nvrtc, source) if nvrtc else None
            if wrong:
                errors.append(f"{title}: NVRTC on {source.name}\n{wrong}")
            if not shutil.which("nvcc") or (nvrtc and title not in BY_NVCC):
                continue
            status, output = run(["nvcc", "-arch=sm_90a", "-std=c++17", "-cubin", "--fmad=false", "-Xptxas", "-v", "-o", f"{folder}/k.cubin", str(source)])
            spilled = [int(n) for n in re.findall(r"(\d+) bytes spill", output)]
            if status or any(spilled) or "warning" in output:
                errors.append(f"{title}: nvcc on {source.name}\n{output}")
    return errors


def main():
    nvrtc = find_nvrtc()
    if not nvrtc and not shutil.which("nvcc"):
        print("neither NVRTC nor nvcc is here")
        return 1
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = list(pool.map(lambda case: compile_case(case, nvrtc), cases()))
    errors = [error for result in results for error in result]
    print("\n".join(errors))
    print(f"{len(results)} kernels, {len(errors)} failed ({'nvcc' if shutil.which('nvcc') else ''} {'NVRTC' if nvrtc else ''})")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
