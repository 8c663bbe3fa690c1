/* test_cuda_mutants.c: faults put into an emitted kernel are found by the emulator, each by its name; the kernel as it was
 * emitted is clean. The kernel is the 16-bit matmul with roles: TMA, an mbarrier ring, wgmma, an output through shared
 * memory. A mutant replaces one piece of its text. */
#include "cuda_bench.h"

static const char matmul[] =
    "kernel @mm(%A, %B, %C: tensor<f16,2>, %nk: i32) {\n"
    "  %pm = program_id<0> ; %pn = program_id<1> ; %m = mul %pm, 64 ; %n = mul %pn, 64 ; %z = splat 0.0 : f32[64,64]\n"
    "  %acc = for<stages=3> %k = 0, %nk, 1 (%c = %z) {\n"
    "    %kk = mul %k, 64 ; %a = tload %A, [%m, %kk] : f16[64,64] ; %b = tload %B, [%kk, %n] : f16[64,64]\n"
    "    %d = dot %a, %b, %c ; yield %d }\n"
    "  %h = cast %acc : f16[64,64] ; tstore %C, [%m, %n], %h }\n";

/* The text with the n-th occurrence of a piece replaced; NULL when there is none. */
static char *replaced(Arena *arena, const char *text, const char *from, const char *to, int n) {
    const char *at = strstr(text, from);
    while (at && n-- > 0) at = strstr(at + 1, from);
    return at ? arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) : NULL;
}

static void mutant(const char *title, const char *from, const char *to, int n, EmuFault want) {
    CudaBench b;
    PassOptions options = pass_options_default;
    options.roles = 1;
    options.num_stages = 3;
    bool open = cuda_bench_open(&b, matmul, "cuda:sm_90a", options);
    CHECK(open);
    if (open) {
        cuda_bench_tensor(&b, "A", EL_F16, true, 2, 128, 256);
        cuda_bench_tensor(&b, "B", EL_F16, true, 2, 256, 128);
        cuda_bench_tensor(&b, "C", EL_F16, false, 2, 128, 128);
        cuda_bench_int(&b, 4);
        char *text = from ? replaced(&b.arena, b.plan->text, from, to, n) : (char *)b.plan->text;
        CHECK(text || (fprintf(stderr, "%s: `%s` is not in\n%s\n", title, from, b.plan->text), 0));
        if (text) {
            b.plan->text = text;
            void *entry = cuda_bench_compile(&b);
            CHECK(entry);
            bool clean = entry && cuda_bench_emulate(&b, entry, (int64_t[]){2, 2, 1});
            CHECK(clean == (want == EMU_FAULT_NONE));
            CHECK(b.report.fault == want || (fprintf(stderr, "%s: %s\n", title, b.report.text), 0));
        }
    }
    cuda_bench_close(&b);
}

int main(void) {
    if (!cuda_bench_have("c++")) {
        printf("skipped: no C++ compiler\n");
        return 0;
    }
    cuda_bench_begin();
    mutant("as emitted", NULL, NULL, 0, EMU_FAULT_NONE);
    mutant("output stored before the last tile's is read: a barrier less", "tw_fence_async();\n            tw_bar_sync(1, 128);", "tw_fence_async();", 0, EMU_FAULT_RACE);
    mutant("no fence before the TMA store", "tw_fence_async();", "", 0, EMU_FAULT_PROXY);
    mutant("slots are never given back", "if (held >= 0 && lane == 0) tw_mbar_arrive", "if (0) tw_mbar_arrive", 0, EMU_FAULT_DEADLOCK);
    mutant("too many bytes expected", ", 16384)", ", 16400)", 0, EMU_FAULT_BYTES);
    mutant("too few bytes expected", ", 16384)", ", 8192)", 0, EMU_FAULT_BYTES);
    mutant("the load's phase restarts", "in_phase ^ 1", "0", 0, EMU_FAULT_DEADLOCK);
    cuda_bench_end();
    return check_done();
}
