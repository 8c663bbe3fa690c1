#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The CPU target's C on another machine: NEON, through the cross compiler and qemu-user.

    neon.py [TILEWRIGHT]

Each kernel runs on the interpreter, which saves its arrays; then its emitted C is compiled for AArch64 together with a
small driver and run under qemu on the same inputs. All bytes of the output must be equal.
Needs aarch64-linux-gnu-gcc and qemu-aarch64 (tests/all.sh skips it, visibly, where they are not)."""
import ast, os, struct, subprocess, sys, tempfile

FLAGS = ["-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w",
         "-fno-strict-aliasing", "-fno-strict-overflow", "-static"]

DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include "cpu.h"
void tw_run(TwLaunch *launch, i64 begin, i64 end, u8 *scratch);
/* driver PROGRAMS OUT-INDEX FILE OFFSET .. : each array read behind its header; the one of that index is written back */
int main(int argc, char **argv) {
    u64 args[16];
    long size[16];
    int count = (argc - 3) / 2;
    for (int i = 0; i < count; i++) {
        FILE *in = fopen(argv[3 + 2 * i], "rb");
        fseek(in, 0, SEEK_END);
        size[i] = ftell(in) - atol(argv[4 + 2 * i]);
        fseek(in, atol(argv[4 + 2 * i]), SEEK_SET);
        char *data = malloc(size[i] + 64);
        if (fread(data, 1, size[i], in) != (size_t)size[i]) return 2;
        fclose(in);
        args[i] = (u64)data;
    }
    TwLaunch launch = {.args = args, .grid = {atoi(argv[1]), 1, 1}};
    tw_run(&launch, 0, atoi(argv[1]), aligned_alloc(64, 1 << 24));
    int out = atoi(argv[2]);
    FILE *to = fopen("out.bin", "wb");
    fwrite((void *)args[out], 1, size[out], to);
    return fclose(to);
}
"""

# name, text, [(argument, spec)], output, programs
KERNELS = [
    ("add", """kernel @k(%x, %y, %z: *f32) {
  %p = program_id<0> ; %b = mul %p, 100 ; %i = iota<0, 100> ; %o = add %b, %i ; %m = cmp<lt> %o, 777
  %px = ptr_add %x, %o ; %a = load %px, %m ; %py = ptr_add %y, %o ; %c = load %py, %m ; %s = add %a, %c
  %pz = ptr_add %z, %o ; store %pz, %s, %m ; return }""",
     [("x", "randn:f32[777]"), ("y", "randn:f32[777]"), ("z", "zeros:f32[777]")], "z", 8),
    ("casts", """kernel @k(%x: *f32, %h: *f16, %b: *bf16, %z: *f32) {
  %i = iota<0, 333> ; %px = ptr_add %x, %i ; %a = load %px ; %c = cast %a : f16[333] ; %ph = ptr_add %h, %i ; store %ph, %c
  %d = cast %a : bf16[333] ; %pb = ptr_add %b, %i ; store %pb, %d ; %e = cast %a : f8e4m3[333] ; %f = cast %e : f32[333]
  %g = cast %c : f32[333] ; %g2 = cast %d : f32[333] ; %j = add %f, %g ; %k = add %j, %g2 ; %n = cast %a : i32[333]
  %n2 = cast %n : f32[333] ; %l = add %k, %n2 ; %pz = ptr_add %z, %i ; store %pz, %l ; return }""",
     [("x", "randn:f32[333]"), ("h", "zeros:f16[333]"), ("b", "zeros:bf16[333]"), ("z", "zeros:f32[333]")], "z", 1),
    ("reduce", """kernel @k(%x, %z: *f32) {
  %i = iota<0, 1071> ; %px = ptr_add %x, %i ; %a = load %px ; %t = reshape %a : f32[17,63]
  %s = reduce<add, axis=1> %t ; %m = reduce<max, axis=1> %t ; %w = reduce<argmin, axis=1> %t ; %f = cast %w : f32[17]
  %c = reduce<add, axis=0> %t ; %r = iota<0, 17> ; %q = iota<0, 63>
  %p0 = ptr_add %z, %r ; store %p0, %s ; %o1 = add %r, 17 ; %p1 = ptr_add %z, %o1 ; store %p1, %m
  %o2 = add %r, 34 ; %p2 = ptr_add %z, %o2 ; store %p2, %f ; %o3 = add %q, 51 ; %p3 = ptr_add %z, %o3 ; store %p3, %c
  return }""", [("x", "randn:f32[1071]"), ("z", "zeros:f32[114]")], "z", 1),
    ("sort and scan", """kernel @k(%x, %z: *f32) {
  %i = iota<0, 300> ; %px = ptr_add %x, %i ; %a = load %px ; %s = sort<axis=0> %a ; %t = reshape %a : f32[10,30]
  %u = sort<axis=0, desc> %t ; %v = scan<max, axis=1> %t ; %w = scan<add, axis=1, reverse> %t
  %b = cast %a : i32[300] ; %c = scan<add, axis=0> %b ; %d = cast %c : f32[300]
  %p0 = ptr_add %z, %i ; store %p0, %s ; %u1 = reshape %u : f32[300] ; %o1 = add %i, 300 ; %p1 = ptr_add %z, %o1
  store %p1, %u1 ; %v1 = reshape %v : f32[300] ; %o2 = add %i, 600 ; %p2 = ptr_add %z, %o2 ; store %p2, %v1
  %w1 = reshape %w : f32[300] ; %o3 = add %i, 900 ; %p3 = ptr_add %z, %o3 ; store %p3, %w1
  %o4 = add %i, 1200 ; %p4 = ptr_add %z, %o4 ; store %p4, %d ; return }""",
     [("x", "randn:f32[300]"), ("z", "zeros:f32[1500]")], "z", 1),
    ("dot", """kernel @k(%x, %y: *bf16, %z: *f32) {
  %i = iota<0, 561> ; %px = ptr_add %x, %i ; %a0 = load %px ; %a = reshape %a0 : bf16[17,33]
  %j = iota<0, 1254> ; %py = ptr_add %y, %j ; %b0 = load %py ; %b = reshape %b0 : bf16[33,38]
  %c = splat 0.5 : f32[17,38] ; %d = dot %a, %b, %c ; %e = reshape %d : f32[646] ; %k = iota<0, 646>
  %pz = ptr_add %z, %k ; store %pz, %e ; return }""",
     [("x", "randn:bf16[561]"), ("y", "randn:bf16[1254]"), ("z", "zeros:f32[646]")], "z", 1),
    ("atomics", """kernel @k(%x, %z: *i32) {
  %p = program_id<0> ; %i = iota<0, 64> ; %px = ptr_add %x, %i ; %a = load %px ; %m = rem %a, 16 ; %b = and %m, 15
  %pz = ptr_add %z, %b ; %o = atomic<add> %pz, %a ; %o2 = atomic<max> %pz, %p ; return }""",
     [("x", "arange:i32[64]"), ("z", "zeros:i32[16]")], "z", 3),
]


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(" ".join(command) + "\n" + done.stdout + done.stderr)
    return done.stdout


def npy(path):
    """Where the elements begin, and their bytes."""
    data = open(path, "rb").read()
    length = struct.unpack("<H", data[8:10])[0] if data[6] == 1 else struct.unpack("<I", data[8:12])[0]
    start = (10 if data[6] == 1 else 12) + length
    ast.literal_eval(data[start - length:start].decode().strip())
    return start, data[start:]


def check(tilewright, name, text, args, output, programs):
    with tempfile.TemporaryDirectory() as folder:
        open(os.path.join(folder, "k.ir"), "w").write(text)
        open(os.path.join(folder, "driver.c"), "w").write(DRIVER)
        common = [a for key, spec in args for a in ("--arg", f"{key}={spec}")]
        # Inputs as they are before the launch: saved by a grid of no programs.
        saves = [a for key, _ in args for a in ("--save", f"{key}={key}.npy")]
        run([tilewright, "run", "k.ir", "--target", "interp", "--grid", "0", *common, *saves], folder)
        run([tilewright, "run", "k.ir", "--target", "interp", "--grid", str(programs), *common, "--save",
             f"{output}=want.npy"], folder)
        run([tilewright, "emit", "k.ir", *common, "-o", "emitted"], folder)
        run(["aarch64-linux-gnu-gcc", *FLAGS, "-Iemitted", "driver.c", "emitted/k.c", "-o", "k", "-lm"], folder)
        files = [a for key, _ in args for a in (f"{key}.npy", str(npy(os.path.join(folder, f"{key}.npy"))[0]))]
        out = [key for key, _ in args].index(output)
        run(["qemu-aarch64", "./k", str(programs), str(out), *files], folder)
        got = open(os.path.join(folder, "out.bin"), "rb").read()
        want = npy(os.path.join(folder, "want.npy"))[1]
        if got != want:
            wrong = [i for i in range(0, len(want), 4) if got[i:i + 4] != want[i:i + 4]]
            raise RuntimeError(f"{len(wrong)} of {len(want) // 4} elements differ, the first at {wrong[0] // 4}")


def main():
    tilewright = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/tilewright")
    failed = 0
    for kernel in KERNELS:
        try:
            check(tilewright, *kernel)
        except RuntimeError as error:
            failed += 1
            print(f"{kernel[0]}: {error}")
    print(f"{len(KERNELS)} kernels on AArch64, {failed} failed")
    return failed != 0


sys.exit(main())
