/* SPDX-License-Identifier: Apache-2.0 */
/* target_hip.c: the HIP target: emitted .hip for AMD's GPUs, hipRTC (else clang) to a code object kept in the cache,
 * HIP's runtime (runtime/device/gpu.h); and the same text without any of it, on the emulator. */
#include "runtime/device/emulated.h"
#include "runtime/device/gpu.h"
#include "runtime/host/process.h"
#include "target/hip/emu/hip_emu.h"
#include "target/hip/hip.h"
#include "target/simt/simt_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const Machine *hip_machine(tw_context *cx, const char *arch) {
    return simt_code_machine(cx, "hip", arch, "gfx942",
                             "gfx90a and gfx942 are CDNA 2 and 3, gfx1100 is RDNA 3; gfx942 is the default");
}

static bool hip_code_emit(tw_kernel *k) {
    SimtCode *code = ARENA_NEW(&k->arena, SimtCode);
    code->simt_plan = hip_emit(&k->pass, k->ir);
    if (!code->simt_plan) return false;
    k->code = code;
    simt_code_show(k, ".hip", simt_json(&k->pass, k->ir, code->simt_plan, NULL));
    return true;
}

/* --- on the device --- */
/* ROCm's own clang, or one of Debian's that knows the chips. */
static bool find_clang(char *path, size_t capacity) {
    static const char *const names[] = {"amdclang++", "clang++-19", "clang++-20"};
    const char *root = getenv("ROCM_PATH");
    struct stat info;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (process_find(names[i], path, capacity)) return true;
    return snprintf(path, capacity, "%s/llvm/bin/clang++", root && *root ? root : "/opt/rocm") > 0 &&
           stat(path, &info) == 0;
}

/* What both compilers are told. */
static int hiprtc_options(const tw_kernel *k, const char *arch, char text[64], const char *options[GPU_OPTIONS]) {
    int count = 0;
    snprintf(text, 64, "--offload-arch=%s", arch);
    options[count++] = text;
    options[count++] = "-O3";
    options[count++] = "-std=c++17";
    options[count++] = "-ffp-contract=off";
    if (k->pass.options.lines) options[count++] = "-gline-tables-only";
    return count;
}

static int clang_options(const tw_kernel *k, const char *arch, char text[64], const char *options[GPU_OPTIONS]) {
    static const char *const alone[] = {"-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpulib",
                                        "-nogpuinc"};
    int count = hiprtc_options(k, arch, text, options);
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) options[count++] = alone[i];
    return count;
}

static const GpuVendor vendor_hip = {
    .target = "hip",
    .driver = {.title = "HIP",
               .hip = true,
               .library = "libamdhip64.so",
               .more = {"libamdhip64.so.7", "libamdhip64.so.6", "/opt/rocm/lib/libamdhip64.so"},
               .absent = "install AMD's ROCm",
               .least = "ROCm 6.0 or later",
               .blocking = "HIP_LAUNCH_BLOCKING",
               .visible = "HIP_VISIBLE_DEVICES",
               .units = "CUs",
               .major = 10000000,
               .minor = 100000,
               .attribute = {.units = 63, .shared_bytes = 74}},
    .rtc = {.title = "hipRTC",
            .hip = true,
            .variable = "TILEWRIGHT_HIPRTC",
            .library = "libhiprtc.so",
            .names = {"libhiprtc.so.7", "libhiprtc.so.6"},
            .roots = {"ROCM_PATH", "HIP_PATH"},
            .folders = {"/opt/rocm/lib", "/opt/rocm-*/lib"},
            .packages = {"_rocm_sdk_core/lib", "torch/lib"},
            .absent = "install ROCm's, or set TILEWRIGHT_HIPRTC to its folder",
            .least = "hipRTC of ROCm 6 or later"},
    .source_ending = ".hip",
    .code_ending = ".hsaco",
    .options = hiprtc_options,
    .tool = "clang",
    .find_tool = find_clang,
    .tool_options = clang_options,
    .needed = "a GPU of gfx90a, gfx942 or gfx1100 is needed",
    .smaller = "",
    .most_threads = UINT32_MAX,
};

tw_status hip_image(tw_kernel *k, bool assembly, const char **image, size_t *size) {
    return gpu_image(k, &vendor_hip, k->pass.machine->arch, assembly, image, size);
}

static const TargetMemory hip_memory = GPU_MEMORY;

const Target target_hip = {
    .name = "hip",
    .about = "one readable .hip for AMD's GPUs, hipRTC or clang, HIP's runtime; gfx90a, gfx942, gfx1100",
    .vendor = &vendor_hip,
    .machine = hip_machine,
    .native = gpu_native,
    .emit = hip_code_emit,
    .build = gpu_build,
    .launch = gpu_launch,
    .synchronize = gpu_synchronize,
    .query = gpu_query,
    .destroy = gpu_destroy,
    .available = gpu_available,
    .memory = &hip_memory,
    .shutdown = gpu_shutdown,
    .emulated = "hip-emulated",
};

/* --- on the emulator --- */
static const Emulated emulated = {.name = "hip-emulated", .ending = ".hip", .run = hip_emu_launch};

static tw_status build(tw_kernel *k) {
    simt_code_params(k, k->code, NULL);
    return emulated_build(k, &emulated);
}

static tw_status launch(tw_kernel *k, const LaunchCall *call) { return emulated_launch(k, &emulated, call); }

const Target target_hip_emulated = {
    .name = "hip-emulated",
    .about = "the HIP target's text on the host, thread by thread, with races and deadlocks reported",
    .machine = hip_machine,
    .emit = hip_code_emit,
    .build = build,
    .launch = launch,
    .destroy = emulated_destroy,
    .available = emulated_available,
};
