#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py: kernels that `tilewright build` makes: what they compute is what the library computes, bit for bit; they link
into C and C++ and run where there is nothing else.

    tests/built/run.py [--bin DIR] [--tsan]
"""
import argparse
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GUARDED = '''import triton
import triton.language as tl


@triton.jit
def guarded(x, n):
    i = tl.arange(0, 64)
    one = tl.load(x + i, mask=i < n)
    tl.device_assert(n <= 64, "n \\"fits\\"\\\\?")
    tl.store(x + i, one + 1, mask=i < n)
'''
HAND = '''import tilelang
import tilelang.language as T


@tilelang.jit
def hand(N=256, B=64):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(N // B, threads=2 * B) as b:
            t = T.get_thread_binding()
            s = T.alloc_shared((B,), "float32")
            full = T.alloc_barrier(B)
            free = T.alloc_barrier(B)
            for k in range(4):
                if t < B:
                    T.barrier_wait(free, (k + 1) % 2)
                    s[t] = X[b * B + t] + T.cast(k, "float32")
                    T.barrier_arrive(full)
                else:
                    T.barrier_wait(full, k % 2)
                    Y[b * B + t - B] += s[2 * B - 1 - t]
                    T.barrier_arrive(free)

    return main
'''
POINTERS = ["a_ptr", "b_ptr", "c_ptr"]
NUMBERS = ["M", "N", "K", "stride_am", "stride_ak", "stride_bk", "stride_bn", "stride_cm", "stride_cn"]
# name: file, and the rest of the command
KERNELS = {
    "add": ("triton/add.py", "x_ptr=*f32 y_ptr=*f32 output_ptr=*f32 n_elements=i32 BLOCK_SIZE=1024", "baseline,v3,v4"),
    "softmax": ("triton/softmax.py", "out_ptr=*f32 in_ptr=*f32 in_stride=i32 out_stride=i32 n_cols=i32 BLOCK=128", "baseline,v3"),
    "matmul": ("triton/matmul.py", " ".join([f"{p}=*f32" for p in POINTERS] + [f"{n}=i32" for n in NUMBERS]) + " BM=32 BN=32 BK=32", "baseline,v3"),
    "tl_add": ("tilelang/add.py", "-DM=64 -DN=64 -Ddtype=float32", "v3,baseline"),
    "splitk": ("tilelang/gemm_splitk.py", "-DM=64 -DN=64 -DK=96", "baseline"),
    "tc_matmul": ("tilec/matmul.tile.c", "", "baseline"),
    "guarded": (None, "x=*f32 n=i32", "baseline"),
    "says": (None, "x=*f32 h=*f16 n=i64", "baseline"),
    "hand": (None, "--set=written=on", "baseline"),
}
CUDA = {
    "cuda_add": KERNELS["add"][:2],
    "cuda_matmul": ("triton/matmul.py", KERNELS["matmul"][1].replace("*f32", "*bf16").replace("BM=32 BN=32 BK=32", "BM=128 BN=128 BK=64")),
    "cuda_splitk": KERNELS["splitk"][:2],
}
HIP = {
    "hip_add": (KERNELS["add"][0], KERNELS["add"][1].replace("=1024", "=64")),
    "hip_matmul": ("triton/matmul_nt.py", "a_ptr=*bf16 b_ptr=*bf16 c_ptr=*f32 M=i32 N=i32 K=i32 stride_am=i32 stride_bn=i32 stride_cm=i32 BM=32 BN=32 BK=64"),
    "hip_splitk": KERNELS["splitk"][:2],
}
SAYS = '''import triton
import triton.language as tl


@triton.jit
def says(x, h, n):
    i = tl.arange(0, 2)
    tl.device_print("x", tl.load(x + i), tl.load(h + i))
    tl.device_print("n", n, hex=True)
    tl.device_print("end: ")
'''
CPLUSPLUS = '''#include "add.h"
#include "tl_add.h"
#include <vector>
int main() {
    std::vector<float> x(100, 1.5f), y(100, 2.0f), z(100);
    int32_t status = add(x.data(), x.size(), y.data(), y.size(), z.data(), z.size(), 100, 1, 1, 1, nullptr);
    for (float one : z) status += one != 3.5f;
    return status + (tl_add(x.data(), x.size(), y.data(), 4096, z.data(), 4096, nullptr) != TW_BUILT_SMALL);
}
'''


PYTHON = '''
import array
import sys
sys.path.insert(0, ".")
import kernels
x, y, z = (array.array("f", [start + i for i in range(1000)]) for start in (0, 1, 0))
kernels.add(x, y, z)
print(f"999 + 1000 = {z[999]:g}")
for wrong in ((x, y, z[:10]), (x, y, bytearray(4000))):
    try:
        kernels.add(*wrong)
    except (ValueError, TypeError) as error:
        print(error)
'''


class Failure(Exception):
    pass


def call(command, folder, environment=None, status=0):
    done = subprocess.run([str(word) for word in command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=300)
    if done.returncode != status:
        raise Failure(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


TSAN = """#!/bin/sh
case " $* " in *" -c "*) exec %s -fsanitize=thread "$@" ;; *) exec %s "$@" ;; esac
"""


def under_tsan(tilewright, folder, cc):
    """Kernels and launcher with the sanitizer's eyes in them: a compiler that adds it to objects, and to nothing that is loaded here."""
    wrapper = pathlib.Path(folder, "tsan-cc")
    wrapper.write_text(TSAN % (cc, cc))
    wrapper.chmod(0o755)
    os.mkdir(os.path.join(folder, "tsan"))
    for name in KERNELS:
        build(tilewright, folder, name, f"tsan/{name}", "baseline", dict(os.environ, CC=str(wrapper)))
    call([cc, "-std=gnu11", "-O1", "-fsanitize=thread", f"-I{folder}/tsan", f"-I{HERE}", "-o", "checked", HERE / "cases.c",
          *[f"tsan/{name}.o" for name in KERNELS], "-lm", "-lpthread"], folder)
    print(call(["./checked"], folder).splitlines()[0], "(under ThreadSanitizer)")


def arguments(words):
    return [part for word in words.split() for part in ([word] if word.startswith("-") else ["--arg", word])]


def run_cuda(tilewright, folder, cc):
    """Kernels for GPUs, by a driver and a compiler that stand in for NVIDIA's."""
    fake = os.path.join(folder, "fake")
    os.mkdir(fake)
    call([cc, "-shared", "-fPIC", "-o", "fake/libcuda.so.1", ROOT / "tests/gpu/fake_cuda.c"], folder)
    shutil.copy(f"{fake}/libcuda.so.1", f"{fake}/libnvrtc.so")
    for name, (file, words) in CUDA.items():
        call([tilewright, "build", ROOT / "kernels" / file, *arguments(words), "--target", "cuda", "--isa", "sm_80,sm_90a", "--name", name,
              "-o", name], folder, dict(os.environ, TILEWRIGHT_NVRTC=fake))
        if symbols(folder, name) != {name, f"{name}_error"}:
            raise Failure(f"{name}.o defines {symbols(folder, name)}")
    call([cc, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}", "-o", "cuda", HERE / "cuda_cases.c", "cuda_add.o", "cuda_matmul.o", "cuda_splitk.o",
          "-ldl", "-lpthread"], folder)
    print(call(["/usr/bin/env", "-i", f"LD_LIBRARY_PATH={fake}", "./cuda"], folder).strip())
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        call(["/usr/bin/env", "-i", "./cuda", "none"], folder)


def run_hip(tilewright, folder, cc, library):
    """The same for AMD's: three kernels in one archive; what stands in for the driver runs them."""
    if not shutil.which("g++"):
        return print("hip: no C++ compiler is here for the emulator")
    fake = os.path.join(folder, "fake_hip")
    os.mkdir(fake)
    call([cc, "-shared", "-fPIC", f"-I{ROOT}/src", f"-I{ROOT}/include", "-o", "fake_hip/libamdhip64.so", ROOT / "tests/gpu/fake_hip.c", library, "-ldl", "-lm",
          "-lpthread"], folder)
    shutil.copy(f"{fake}/libamdhip64.so", f"{fake}/libhiprtc.so")
    words = ["--target", "hip", "--isa", "gfx1100,gfx942"]
    for name, (file, rest) in HIP.items():
        words += [*(["--and"] if "hip_add" in words else []), ROOT / "kernels" / file, *arguments(rest), "--name", name]
    call([tilewright, "build", *words, "-o", "hip_all"], folder, dict(os.environ, TILEWRIGHT_HIPRTC=fake))
    call([cc, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}", "-o", "hip", HERE / "hip_cases.c", "hip_all.a", "-ldl", "-lpthread"], folder)
    for arch in ("gfx942:sramecc+:xnack-", "gfx1100"):
        print(call(["/usr/bin/env", "-i", f"LD_LIBRARY_PATH={fake}", f"FAKE_ARCH={arch}", "./hip"], folder).strip())
    try:
        ctypes.CDLL("libamdhip64.so")
    except OSError:
        call(["/usr/bin/env", "-i", "./hip", "none"], folder)


ALL = """#include "lib/all.h"
int main(void) {
    static float x[1024];
    int32_t status = lean_and_mean_kernel_of_many_letters(x, 1024, x, 1024, x, 1024, 1024, 1, 1, 1, NULL);
    return status ? status : softmax_of_all(x, 128, x, 128, 128, 128, 128, 1, 1, 1, NULL);
}
"""


def several(tilewright, folder, cc):
    """One command, several kernels: an archive of which a program takes what it calls; the same bytes each time; nothing where one is wrong."""
    file, words, _ = KERNELS["add"]
    add = [ROOT / "kernels" / file, *arguments(words), "--name", "lean_and_mean_kernel_of_many_letters"]
    file, words, _ = KERNELS["softmax"]
    softmax = [ROOT / "kernels" / file, *arguments(words), "--name"]
    os.mkdir(os.path.join(folder, "lib"))
    command = [tilewright, "build", *add, "--isa", "baseline", "--and", *softmax, "softmax_of_all", "--and", *softmax, "unused"]
    said = call([*command, "-o", "lib/all.a"], folder)
    if said != "lib/all.a\nlib/all.h\n":
        raise Failure(f"build of several kernels says {said}")
    call([*command, "-o", "lib/again"], folder)
    if pathlib.Path(folder, "lib/all.a").read_bytes() != pathlib.Path(folder, "lib/again.a").read_bytes():
        raise Failure("an archive is another one when it is made again")
    pathlib.Path(folder, "all.c").write_text(ALL)
    call([cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "all.c", "-Llib", "-l:all.a", "-lm", "-lpthread", "-o", "all"], folder)
    call(["/usr/bin/env", "-i", "./all"], folder)
    if "unused" in call(["readelf", "-sW", "all"], folder) or "softmax_of_all" not in call(["readelf", "-sW", "all"], folder):
        raise Failure("a program takes more of an archive than it calls, or less")
    listed = call(["ar", "t", "lib/all.a"], folder)
    if listed.split() != ["lean_and_mean_kernel_of_many_letters.o", "softmax_of_all.o", "unused.o"]:
        raise Failure(f"the archive has {listed}")
    call(["ar", "d", "lib/all.a", "unused.o"], folder)
    for wrong, why in (([*add, "--and", *add], "two functions would be called"), ([*add, "--and", *softmax, "lean_and_mean_kernel_of_many_letters_error"], "two functions"),
                       ([*add[:-1], "expf"], "the C library has"), ([*add, "--and", *softmax, "x", "--target", "tenstorrent"], "folder of sources"),
                       ([*add, "--target", "interp"], "it can for cpu, cuda, hip, tenstorrent"), ([*add, "--and", ROOT / "kernels/triton/softmax.py"], "lacks arguments"),
                       ([*add, "--and"], "which file"), ([*add, "--name", "size_t"], "no name of a C function")):
        said = call([tilewright, "build", *wrong, "-o", "lib/wrong"], folder, status=1)
        if why not in said or list(pathlib.Path(folder, "lib").glob("wrong*")):
            raise Failure(f"build {wrong} leaves {list(pathlib.Path(folder, 'lib').glob('wrong*'))} and says {said}")
    said = call([tilewright, "build", *add, "--target", "tenstorrent", "-o", "tensix"], folder)
    if not {"reader.cpp", "compute.cpp", "writer.cpp", "host.cpp", "CMakeLists.txt", "plan.json"} <= set(os.listdir(os.path.join(folder, "tensix"))) or \
            sorted(said.split()) != sorted(f"tensix/{name}" for name in os.listdir(os.path.join(folder, "tensix"))):
        raise Failure(f"a folder of target tenstorrent: {said}")
    call([tilewright, "build", *add, "--target", "tenstorrent", "-o", "all.c"], folder, status=1)


def build(tilewright, folder, name, out=None, isa=None, environment=None):
    file, words, default = KERNELS[name]
    options = arguments(words)
    x86 = os.uname().machine == "x86_64"
    call([tilewright, "build", ROOT / "kernels" / file if file else f"{name}.py", *options, "--isa", isa or (default if x86 else "baseline"),
          "--name", name, "-o", out or name], folder, environment)


def symbols(folder, name):
    """The names of an object that others can link: those that are not hidden."""
    table = call(["readelf", "-sW", f"{name}.o"], folder)
    rows = [line.split() for line in table.splitlines()]
    return {row[7] for row in rows if len(row) > 7 and row[4] in ("GLOBAL", "WEAK") and row[6] != "UND" and row[5] == "DEFAULT"}


def run_examples(tilewright, folder, cc):
    """The programs of examples/built, each by the tool that it is for; those that are not here are named."""
    here, skipped = ROOT / "examples" / "built", []
    triton = [ROOT / "kernels/triton/add.py", *"--arg x_ptr=*f32 --arg y_ptr=*f32 --arg output_ptr=*f32 --arg n_elements=i32 -DBLOCK_SIZE=1024".split()]
    rows = [ROOT / "kernels/triton/softmax.py", *"--arg out_ptr=*f32 --arg in_ptr=*f32 --arg in_stride=i32 --arg out_stride=i32 --arg n_cols=i32 -DBLOCK=128".split()]
    os.mkdir(os.path.join(folder, "engine"))
    for name, words in (("add", triton), ("softmax", rows)):
        call([tilewright, "build", *words, "--isa", "baseline", "-o", f"engine/{name}"], folder)
    call([cc, "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{folder}/engine", here / "engine.c", "engine/add.o", "engine/softmax.o", "-o", "engine/run", "-lm", "-lpthread"], folder)
    if "8 of 8 requests right" not in call(["/usr/bin/env", "-i", "PATH=", "engine/run"], folder):
        raise Failure("engine.c: not all requests are right")
    if shutil.which("cmake"):
        call(["cmake", "-S", here / "cmake", "-B", "cmake", f"-DTILEWRIGHT={tilewright}"], folder)
        call(["cmake", "--build", "cmake"], folder)
        if "999 + 1000 = 1999" not in call(["/usr/bin/env", "-i", "cmake/app"], folder):
            raise Failure("app.cpp prints something else")
    else:
        skipped.append("cmake")
    if shutil.which("cargo"):
        shutil.copytree(here / "rust", os.path.join(folder, "examples/built/rust"))
        os.symlink(ROOT / "kernels", os.path.join(folder, "kernels"))
        call(["cargo", "build", "--quiet", "--offline"], os.path.join(folder, "examples/built/rust"), dict(os.environ, TILEWRIGHT=tilewright))
        if "999 + 1000 = 1999" not in call(["/usr/bin/env", "-i", "examples/built/rust/target/debug/built"], folder):
            raise Failure("main.rs prints something else")
    else:
        skipped.append("cargo")
    call([cc, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{folder}/engine", here / "launch.c", "engine/add.o", "-o", "engine/launch", "-lm", "-lpthread"], folder)
    print(call(["/usr/bin/env", "-i", "engine/launch"], folder).strip())
    more = run_python_module(folder, cc) + run_alone(folder, cc)
    print("examples run" + more + "".join(f"; no {tool} is here" for tool in skipped))


def run_python_module(folder, cc):
    """An extension of Python that links an archive of kernels; without Python's headers it is passed over."""
    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        return "; Python's headers are not here"
    call(["ar", "rcs", "libkernels.a", "engine/add.o", "engine/softmax.o"], folder)
    call([cc, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", f"-I{folder}/engine", f"-I{include}",
          ROOT / "examples/built/python/kernels.c", "libkernels.a", "-lm", "-lpthread", "-o", "kernels.so"], folder)
    said = call(["/usr/bin/env", "-i", sys.executable, "-c", PYTHON], folder)
    if said != "999 + 1000 = 1999\nx, y and out must have the same length, below 2^31\na buffer of float32 is expected\n":
        raise Failure(f"the Python module says {said}")
    return "; a Python module too"


def run_alone(folder, cc):
    """The engine, linked statically, where there is no other file at all."""
    os.mkdir(os.path.join(folder, "empty"))
    call([cc, "-std=c11", "-static", f"-I{folder}/engine", ROOT / "examples/built/engine.c", "engine/add.o", "engine/softmax.o",
          "-o", "empty/engine", "-lm", "-lpthread"], folder)
    shut = ["unshare", "--user", "--map-root-user", "chroot", os.path.join(folder, "empty"), "/engine"]
    can = shutil.which("unshare") and subprocess.run([*shut[:3], "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    said = call(shut if can else ["/usr/bin/env", "-i", "empty/engine"], folder)
    if "8 of 8 requests right" not in said:
        raise Failure(f"in an empty root the engine says {said}")
    return "; in an empty root" if can else "; no empty root can be made here"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=str(ROOT / "build"))
    parser.add_argument("--tsan", action="store_true", help="run the cases under ThreadSanitizer, once more")
    options = parser.parse_args()
    tilewright = os.path.join(os.path.abspath(options.bin), "tilewright")
    cc = os.environ.get("CC") or next(c for c in ("gcc", "clang", "cc") if shutil.which(c))
    cxx = os.environ.get("CXX") or next((c for c in ("g++", "clang++", "c++") if shutil.which(c)), None)
    libraries = ["-lm", "-lpthread"]
    start = time.time()
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "guarded.py").write_text(GUARDED)
        pathlib.Path(folder, "says.py").write_text(SAYS)
        pathlib.Path(folder, "hand.py").write_text(HAND)
        pathlib.Path(folder, "plus.cpp").write_text(CPLUSPLUS)
        for name in KERNELS:
            build(tilewright, folder, name)
        size = os.path.getsize(os.path.join(folder, "add.o"))
        print(f"{len(KERNELS)} kernels built in {time.time() - start:.1f} s; add.o with three instruction sets: {size} bytes")
        if size > 100000:
            raise Failure("add.o is larger than 100 KB")
        for name in KERNELS:
            if symbols(folder, name) != {name, f"{name}_error"}:
                raise Failure(f"{name}.o defines {symbols(folder, name)}")
        os.mkdir(os.path.join(folder, "again"))
        build(tilewright, folder, "softmax", "again/softmax")
        for ending in (".o", ".h"):
            if pathlib.Path(folder, "softmax" + ending).read_bytes() != pathlib.Path(folder, "again/softmax" + ending).read_bytes():
                raise Failure(f"softmax{ending} is not the same when it is built again")
        objects = [f"{name}.o" for name in KERNELS]
        strict = [cc, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-I{HERE}"]
        call([*strict, "-o", "alone", HERE / "cases.c", *objects, *libraries], folder)
        call([*strict, "-DWITH_LIBRARY", f"-I{ROOT}/include", "-o", "compared", HERE / "cases.c", HERE / "reference.c", *objects,
              os.path.join(os.path.abspath(options.bin), "libtilewright.a"), *libraries, "-ldl"], folder)
        compared = call(["./compared"], folder, dict(os.environ, ROOT=str(ROOT)))
        alone = call(["/usr/bin/env", "-i", "PATH=", "./alone"], folder)
        print("\n".join(line for line in alone.splitlines() if " us" in line or "checks" in line))
        lines = [[line for line in text.splitlines() if len(line) == 45] for text in (compared, alone)]
        if lines[0] != lines[1] or len(lines[0]) < 10:
            raise Failure(f"the library's process and one without it differ:\n{compared}\n{alone}")
        for line in ("-std=c99 -pedantic", "-std=c11"):
            call([cc, *line.split(), "-Wall", "-Wextra", "-Werror", "-x", "c", "-fsyntax-only", *[f"{name}.h" for name in KERNELS]], folder)
        if cxx:
            call([cxx, "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", "plus", "plus.cpp", "add.o", "tl_add.o", *libraries], folder)
            call(["/usr/bin/env", "-i", "./plus"], folder)
        call([cc, "-shared", "-o", "libkernels.so", *objects, *libraries], folder)
        several(tilewright, folder, cc)
        run_cuda(tilewright, folder, cc)
        inside = os.path.join(os.path.abspath(options.bin), "libinside.a")
        run_hip(tilewright, folder, cc, inside)
        run_examples(tilewright, folder, cc)
        if options.tsan:
            under_tsan(tilewright, folder, cc)
    print(f"built kernels: all well, {time.time() - start:.1f} s")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(failure)
        sys.exit(1)
