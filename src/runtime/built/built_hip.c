/* SPDX-License-Identifier: Apache-2.0 */
/* built_hip.c: what kernels built for AMD's GPUs have of their own: each code runs on its own architecture alone. */
#include "runtime/built/built_kernel.h"

static tw_status check(tw_kernel *k) {
    (void)k;
    return TW_OK;
}

static void add_numbers(const tw_kernel *k, Text *t) {
    (void)k;
    text_add(t, "    const i32 cluster = 1;\n");
}

const BuildKind build_hip = {
    .target = &target_hip,
    .archs = "gfx90a,gfx942,gfx1100",
    .last_type = "void *",
    .last = "stream",
    .about = "Launches the kernel on `stream`, a hipStream_t of the calling thread's current device, and does not\n"
             " * wait for it. Arrays are addresses in that GPU's memory.",
    .begin = "",
    .choose = BUILD_GPU_CHOOSE,
    .define = "#define BUILT_HIP 1\n",
    .way = build_gpu_way,
    .text = build_gpu_text,
    .check = check,
    .make = build_gpu_object,
    .image = hip_image,
    .numbers = add_numbers,
};
