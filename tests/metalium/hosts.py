#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hosts.py: emitted host programs, compiled against the fake of the host API (fake_metalium.hpp) and run.

For each case: `tilewright run` on the model saves the arrays; `tilewright emit` writes the program, whose plan.json must keep
docs/plan.schema.json; the kernels must fit the types of the public API (kernel_api.h); host.cpp is compiled with warnings as errors and run on the same inputs; what it reads back must be the model's
bits. tests/shards.sh splits the cases.

    hosts.py [--shard I/N]
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MATMUL = "M=100 N=72 K=150 stride_am=150 stride_ak=1 stride_bk=72 stride_bn=1 stride_cm=72 stride_cn=1"
# file, chip, arrays, numbers, constants, grid, order in which writes land, or that only types are looked at
CASES = [
    ("triton/matmul.py:matmul_kernel", "wormhole", "a_ptr=randn:bf16[100,150] b_ptr=randn:bf16[150,72] c_ptr=zeros:bf16[100,72]",
     MATMUL, "BM=32 BN=32 BK=32", "12", "7"),
    ("tilelang/seed_gemm.py", "blackhole", "A=randn:f16[96,64] B=randn:f16[64,96] C=zeros:f16[96,96]", "", "M=96 N=96 K=64", "", "0"),
    ("triton/softmax.py:softmax_kernel", "wormhole", "in_ptr=randn:f32[50,77] out_ptr=zeros:f32[50,77]",
     "in_stride=77 out_stride=77 n_cols=77", "BLOCK=128", "50", "0"),
    ("tilec/micro_add.tile.c", "blackhole", "g.x=randn:f32[16,32] g.o=zeros:f32[16,32]", "", "", "", "0"),
    ("triton/rows.py:embedding_kernel", "wormhole", "table_ptr=randn:f32[40,64] index_ptr=randint(40):i64[50] out_ptr=zeros:f32[50,64]",
     "n=50 width=64 stride_t=64 stride_o=64", "BM=32 BC=64", "2,1", "0"),
    ("triton/cross_entropy.py:cross_entropy_kernel", "blackhole",
     "logits_ptr=randn:f32[50,77] target_ptr=randint(77):i64[50] loss_ptr=zeros:f32[50] lse_ptr=zeros:f32[50]",
     "stride=77 n_cols=77 ignored=-100", "BLOCK=64", "50", "3"),
    ("tilelang/chunk_scan.py", "wormhole", "", "", "Z=1 L=128 H=4 G=2 P=64 N=64 dtype=bfloat16", "", "only types"),
    ("triton/paged_attention.py", "blackhole",
     "q_ptr=randn:bf16[2,64,4,64] k_ptr=randn:bf16[20,16,2,64] v_ptr=randn:bf16[20,16,2,64] o_ptr=zeros:bf16[2,64,4,64] "
     "pages_ptr=randint(20):i32[2,16] lengths_ptr=full(128):i32[2]",
     "scale=0.088 Q=64 most=16 stride_qs=16384 stride_qn=256 stride_qh=64 stride_kp=2048 stride_kn=128 stride_kh=64",
     "SHARE=2 PAGE=16 BM=64 BN=32 D=64", "", "only types"),
    ("tilelang/attention.py", "wormhole", "", "", "Z=1 H=2 G=1 M=128 N=128 D=64 causal=True dtype=bfloat16", "", "only types"),
    ("tilelang/gemm_splitk.py", "blackhole", "A=randn:bf16[96,100] B=randn:bf16[100,64] C=zeros:f32[96,64]", "", "M=96 N=64 K=100 dtype=bfloat16 parts=2", "", "4"),
    ("tilelang/gemm_splitk.py", "wormhole", "A=randn:bf16[96,100] B=randn:bf16[100,64] C=zeros:f32[96,64]", "", "M=96 N=64 K=100 dtype=bfloat16 parts=2 atomic=True", "", "9"),
    ("triton/rows.py:scatter_add_kernel", "wormhole", "x_ptr=randn:f32[150,77] index_ptr=randint(9):i32[150] out_ptr=zeros:f32[9,77]",
     "n=150 width=77 stride_x=77 stride_o=77", "BM=32 BC=64", "5,2", "6"),
    ("triton/int4_matmul.py", "blackhole", "a_ptr=randn:bf16[50,64] packed_ptr=randint(2147483647):i32[8,40] scale_ptr=rand:bf16[2,40] c_ptr=zeros:bf16[50,40]",
     "M=50 N=40 K=64 stride_a=64 stride_c=40", "GROUP=32 BM=32 BN=32 BK=32", "4", "2"),
    ("tilelang/layernorm.py", "blackhole", "", "", "M=64 N=128 dtype=float32", "", "only types"),
]
PLACED = [
    ("triton/matmul.py:matmul_kernel", "blackhole", "a_ptr=randn:bf16[128,96] b_ptr=randn:bf16[96,160] c_ptr=zeros:bf16[128,160]",
     MATMUL.replace("M=100 N=72 K=150", "M=128 N=160 K=96").replace("150", "96").replace("72", "160"), "BM=64 BN=64 BK=32", "6", "5"),
    ("triton/softmax.py:softmax_kernel", "wormhole", "in_ptr=randn:f32[64,96] out_ptr=zeros:f32[64,96]",
     "in_stride=96 out_stride=96 n_cols=96", "BLOCK=128", "64", "0"),
]
CASES.append((*CASES[0][:4], CASES[0][4] + " sharding=a_ptr=l1,c_ptr=dram,b_ptr=l1", *CASES[0][5:]))
RAGGED = CASES[:1]
CASES += PLACED


def matches(value, schema, root, where):
    """The part of JSON Schema that docs/plan.schema.json uses."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if wanted and not any(isinstance(value, kinds[kind]) and (kind == "boolean") == isinstance(value, bool) for kind in wanted):
        return [f"{where}: {value!r} is no {wanted}"]
    errors = []
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        errors.append(f"{where}: {value!r} is not one of {schema.get('enum', schema.get('const'))}")
    if isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        errors.append(f"{where}: {value} is out of range")
    if isinstance(value, dict):
        errors += [f"{where}: `{name}` is missing" for name in schema.get("required", ()) if name not in value]
        for name, member in value.items():
            if name in schema.get("properties", {}):
                errors += matches(member, schema["properties"][name], root, f"{where}.{name}")
            elif schema.get("additionalProperties", True) is False:
                errors.append(f"{where}: `{name}` is not in the schema")
    if isinstance(value, list):
        for i, item in enumerate(value):
            errors += matches(item, schema.get("items", {}), root, f"{where}[{i}]")
    return errors


def check_types(program, plan, folder):
    """Compiles the kernels, text only, against declarations of the API."""
    errors = []
    for name, kernel in plan["kernels"].items():
        stubs = folder / f"stubs_{name}"
        side = "compute" if name == "compute" else "dataflow"
        prelude = (program / f"tilewright_{side}.h").read_text()
        for header in re.findall(r'#include "(api/[^"]*)"', prelude):
            (stubs / header).parent.mkdir(parents=True, exist_ok=True)
            (stubs / header).write_text(f'#include "{ROOT}/tests/metalium/kernel_api.h"\n')
        words = ", ".join(map(str, kernel["compile_args"])) or "0"
        done = subprocess.run([os.environ.get("CXX", "g++"), "-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-Wno-int-to-pointer-cast",
                               *(["-DSTUB_DATAFLOW"] if side == "dataflow" else []), f"-DKERNEL_COMPILE_TIME_ARGS={words}", "-I", stubs,
                               program / kernel["file"]], capture_output=True, text=True)
        if done.returncode:
            errors.append(f"{kernel['file']} does not fit the API: {done.stderr[:1500]}")
    return errors


def run(*words, env=None):
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def refused(host, words, grid, arch, name, why):
    """What the program says of a tensor that it cannot use where it is."""
    done = subprocess.run([host, *words, *([f"grid={grid}"] if grid else []), "--place", name], capture_output=True, text=True,
                          env={**os.environ, "FAKE_ARCH": arch})
    return [] if done.returncode == 1 and why in done.stderr else [f"--place {name}: {done.returncode}, {done.stderr}"]


def body_of(path):
    data = path.read_bytes()
    return data[10 + int.from_bytes(data[8:10], "little"):]


def check(case, folder, b):
    source, arch, arrays, numbers, constants, grid, seed = case
    arrays = dict(word.split("=") for word in arrays.split())
    numbers = dict(word.split("=") for word in numbers.split())
    common = [ROOT / "kernels" / source, "--target", f"tenstorrent:{arch}"]
    for name, value in {**arrays, **numbers}.items():
        common += ["--arg", f"{name}={value}"]
    for word in constants.split():
        option = "--set" if word.startswith("sharding=") else "-D" if source.startswith("tilelang") else "--arg"
        common += [option, word]
    grids = ["--grid", grid] if grid else []
    saves = [word for name in arrays for word in ("--save", f"{name}={folder}/{name}.right.npy")]
    if seed != "only types":
        run(b / "tilewright", "run", *common, *grids, *saves)
    program = folder / "program"
    run(b / "tilewright", "emit", *common, "-o", program)
    plans = [json.loads(path.read_text()) for path in sorted(program.glob("plan*.json"))]
    plan, schema, errors = plans[0], json.loads((ROOT / "docs/plan.schema.json").read_text()), []
    for each in plans:
        errors += matches(each, schema, schema, "plan") + check_types(program, each, folder)
    if seed == "only types":
        return errors
    run(ROOT / "tests/metalium/build.sh", program, env={"B": str(b)})
    outputs = {buffer["parameter"] for each in plans for buffer in each["buffers"] if buffer["direction"] == "output"}
    written = [name for name, spec in arrays.items() if spec.startswith("zeros")]
    for name in arrays:  # what is written starts as zeros, as the model's did
        right = folder / f"{name}.right.npy"
        data, size = right.read_bytes(), len(body_of(right))
        (folder / f"{name}.npy").write_bytes(data[:-size] + bytes(size) if name in written else data)
    words = [f"{name}={folder}/{name}.npy" for name in arrays] + [f"{name}={value}" for name, value in numbers.items()]
    saved = [word for name in written for word in ("--save", f"{name}={folder}/{name}.got.npy")]
    run(program / "host", *words, *([f"grid={grid}"] if grid else []), *saved, env={"FAKE_ARCH": arch, "FAKE_SEED": seed})
    for name in written:
        if body_of(folder / f"{name}.got.npy") != body_of(folder / f"{name}.right.npy"):
            errors.append(f"{name} differs from what the model computes")
    if case in PLACED:  # on the device before the launch, used where they are
        places = [word for name in arrays for word in ("--place", name)]
        for name in written:
            (folder / f"{name}.got.npy").unlink()
        run(program / "host", *words, *([f"grid={grid}"] if grid else []), *saved, *places, env={"FAKE_ARCH": arch, "FAKE_SEED": seed})
        for name in written:
            if body_of(folder / f"{name}.got.npy") != body_of(folder / f"{name}.right.npy"):
                errors.append(f"{name} differs where tensors lie on the device")
    elif case in RAGGED:
        errors += refused(program / "host", words, grid, arch, list(arrays)[0], "leaves part of a tile")
        errors += refused(program / "host", words, grid, arch, "nobody", "no array of f32 or bf16")
    if not outputs:
        errors.append("nothing is written")
    return errors


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--bin", default=str(ROOT / "build"))
    args = parser.parse_args()
    shard, shards = map(int, args.shard.split("/"))
    failed, count = 0, 0
    for case in CASES[shard::shards]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                errors = check(case, pathlib.Path(folder), pathlib.Path(args.bin).resolve())
            except RuntimeError as problem:
                errors = [str(problem)]
        count += 1
        failed += bool(errors)
        for error in errors:
            print(f"{case[0]} on {case[1]}: {error}")
    print(f"{count} programs, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
