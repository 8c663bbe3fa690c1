/* SPDX-License-Identifier: Apache-2.0 */
/* test_room.c: rings under pressure. Kernels with rings of every worth, on machines with less and less shared memory: each
 * has a plan that fits and was proved, or is refused with the numbers; more memory never means a plan worth less; and all
 * plans give the same bits. */
#include "cuda_bench.h"
#include "ir/ringform.h"

/* A product with a tile beside it in the loop, one before the loop and an output: four rings. */
static const char bias[] =
    "kernel @bias(%A, %B: tensor<f16,2>, %W: tensor<f32,2>, %Q: tensor<f16,2>, %C: tensor<f16,2>) <warps=4> {\n"
    "  %m = program_id<0> ; %r = mul %m, 64 ; %K = extent<1> %A ; %K32 = cast %K : i32 ; %nk = cdiv %K32, 64\n"
    "  %q = tload %Q, [%r, 0] : f16[64,64] ; %p = tload %B, [0, 0] : f16[64,128] ; %z = splat 0.0 : f32[64,128] ; %d = dot %q, %p, %z\n"
    "  %acc = for %k = 0, %nk, 1 (%c = %d) {\n"
    "    %kk = mul %k, 64 ; %a = tload %A, [%r, %kk] : f16[64,64] ; %b = tload %B, [%kk, 0] : f16[64,128] ; %c1 = dot %a, %b, %c\n"
    "    %w = tload %W, [%kk, 0] : f32[64,128] ; %c2 = add %c1, %w ; yield %c2 }\n"
    "  %h = cast %acc : f16[64,128] ; tstore %C, [%r, 0], %h ; return }\n";

/* Two products in a row, as attention has them: rings for q, k, v and the output. */
static const char two[] =
    "kernel @two(%A, %B: tensor<f16,2>, %W: tensor<f32,2>, %Q: tensor<f16,2>, %C: tensor<f16,2>) <warps=4> {\n"
    "  %m = program_id<0> ; %r = mul %m, 64 ; %K = extent<0> %B ; %K32 = cast %K : i32 ; %nk = cdiv %K32, 64\n"
    "  %q = tload %Q, [%r, 0] : f16[64,64] ; %z = splat 0.0 : f32[64,128]\n"
    "  %acc = for %k = 0, %nk, 1 (%c = %z) {\n"
    "    %kk = mul %k, 64 ; %a = tload %A, [0, %kk] : f16[64,64] ; %y = splat 0.0 : f32[64,64] ; %s = dot %q, %a, %y\n"
    "    %e = mul %s, 0.125 ; %h = cast %e : f16[64,64] ; %b = tload %B, [%kk, 0] : f16[64,128] ; %c1 = dot %h, %b, %c ; yield %c1 }\n"
    "  %o = cast %acc : f16[64,128] ; tstore %C, [%r, 0], %o ; return }\n";

static bool open_with(CudaBench *b, const char *text, const char *name, Machine *machine, int64_t bytes) {
    PassOptions options = pass_options_default;
    options.num_stages = 4;
    *machine = *machine_find(name);
    machine->ring_bytes = bytes;
    return cuda_bench_open_on(b, text, machine, options, cuda_emit);
}

/* Slots count, up to what was asked for, and the more the more their ring is worth. What comes once a task has a second
 * slot where memory is left that a second block would not use, so more memory may well mean one slot for it. */
static int64_t worth_of(const Kernel *k) {
    int64_t worth = 0;
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op->code != OP_RING) continue;
        int64_t slots = op_int(op, AT_SLOTS, 1);
        bool loads = ring_producer(op) == ROLE_LOAD;
        bool once = loads && !ring_taking_loop(role_find(tasks_of(k), ROLE_LOAD)->regions[0], op->results[0]);
        worth += once ? 100 : loads ? 100 * (slots > 1 ? 10 : 1) + slots : 1;
    }
    return worth;
}

static void fill(CudaBench *b) {
    cuda_bench_tensor(b, "A", EL_F16, true, 2, 128, 256);
    cuda_bench_tensor(b, "B", EL_F16, true, 2, 256, 128);
    cuda_bench_tensor(b, "W", EL_F32, true, 2, 256, 128);
    cuda_bench_tensor(b, "Q", EL_F16, true, 2, 128, 64);
    cuda_bench_tensor(b, "C", EL_F16, false, 2, 128, 128);
}

/* From much memory to none; `every`: that often the kernel runs. */
static void squeeze(const char *text, const char *machine_name, int every) {
    enum { OUT = 128 * 128 * 2 };
    static char first[OUT];
    int64_t before = INT64_MAX, last = 0;
    int plans = 0, ran = 0;
    for (int64_t bytes = 200 << 10; bytes > 0; bytes -= 4 << 10) {
        CudaBench b;
        Machine machine;
        bool good = open_with(&b, text, machine_name, &machine, bytes);
        if (!good) {
            const char *message = diag_render(&b.diag, &b.arena);
            CHECK(strstr(message, "bytes of shared memory") != NULL);
            cuda_bench_close(&b);
            break;
        }
        int64_t worth = worth_of(b.kernel);
        CHECK(b.plan->shared_bytes <= bytes);
        if (worth > before) fprintf(stderr, "%s: %lld bytes are worth more than the next more\n", machine_name, (long long)bytes);
        CHECK(worth <= before);
        bool other = b.plan->shared_bytes != last;
        plans += other;
        before = worth, last = b.plan->shared_bytes;
        if (other && plans % every == 0) {
            fill(&b);
            bool right = cuda_bench_run(&b, 2, 1, 1) && cuda_bench_error(&b, 4, 4e-3) <= 1;
            if (!right) fprintf(stderr, "%s: wrong with %lld bytes\n", machine_name, (long long)bytes);
            CHECK(right);
            if (ran++) CHECK(memcmp(first, b.arrays[4].memory[1], OUT) == 0);
            else memcpy(first, b.arrays[4].memory[1], OUT);
        }
        cuda_bench_close(&b);
    }
    CHECK(plans > 3 && ran > 1);
}

int main(void) {
    cuda_bench_begin();
    if (cuda_bench_have("c++")) {
        squeeze(bias, "cuda:sm_90a", 3);
        squeeze(bias, "cuda:sm_80", 3);
        squeeze(two, "cuda:sm_90a", 3);
        squeeze(two, "cuda:sm_80", 3);
    } else {
        printf("skipped: no C++ compiler\n");
    }
    cuda_bench_end();
    return check_done();
}
