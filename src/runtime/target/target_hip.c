/* target_hip.c: the HIP target: emitted .hip for AMD's GPUs, and the same text without one, on the emulator. */
#include "runtime/device/emulated.h"
#include "target/hip/emu/hip_emu.h"
#include "target/hip/hip.h"
#include "target/simt/simt_json.h"

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
static bool hip_available(tw_context *cx, Arena *arena, const char **note) {
    (void)cx;
    (void)arena;
    *note = "this version emits and emulates, but does not launch on AMD's GPUs yet";
    return false;
}

static tw_status hip_build(tw_kernel *k) {
    return context_fail(k->context, TW_ERROR_UNAVAILABLE,
                        "target hip does not launch on AMD's GPUs yet: emit its text, or run it as hip-emulated");
}

const Target target_hip = {
    .name = "hip",
    .about = "one readable .hip for AMD's GPUs; gfx90a, gfx942, gfx1100",
    .machine = hip_machine,
    .emit = hip_code_emit,
    .build = hip_build,
    .available = hip_available,
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
