/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_mutants.c: faults put into emitted kernels are found by the emulator, each by its name; the kernels as they
 * were emitted are clean. A mutant replaces one piece of the text: a barrier or a fence less, other bytes, an arrival
 * that does not come, an index that is off. Between them the kernels use what emitted code uses: TMA, mbarrier rings,
 * wgmma and register reallocation with roles; cp.async groups with wgmma and with ldmatrix; barriers of the block and
 * named ones; two products in a row in flight, workers in turns, programs side by side; outputs panel by panel; clusters with multicast; conversions, reductions and scans through shared memory; bounds of global arrays. */
#include "cuda_bench.h"

enum {
    ROLES,
    TWO_WORKERS,
    CLUSTER,
    ALONE,
    PARTS,
    TURNED,
    LEADS,
    GANG,
    SKEW,
    SKEW_MMA,
    SUM,
    NORM,
    SCAN,
    ORDER,
    ADDED,
    STAGED,
    LOOSE,
    COPIED,
    ADDS,
    KERNELS
};

#define MATMUL(rows) MATMUL_OF(rows, "64")
#define MATMUL_OF(rows, columns)                                                                                      \
    "kernel @mm(%A, %B, %C: tensor<f16,2>, %nk: i32) {\n"                                                             \
    "  %pm = program_id<0> ; %pn = program_id<1> ; %m = mul %pm, " rows " ; %n = mul %pn, " columns "\n"              \
    "  %z = splat 0.0 : f32[" rows "," columns "]\n"                                                                  \
    "  %acc = for<stages=3> %k = 0, %nk, 1 (%c = %z) {\n"                                                             \
    "    %kk = mul %k, 64 ; %a = tload %A, [%m, %kk] : f16[" rows ",64] ; %b = tload %B, [%kk, %n] : f16[64," columns \
    "]\n"                                                                                                             \
    "    %d = dot %a, %b, %c ; yield %d }\n"                                                                          \
    "  %h = cast %acc : f16[" rows "," columns "] ; tstore %C, [%m, %n], %h }\n"

typedef struct Origin {
    const char *text, *machine;
    int roles, cluster;
} Origin;
static const Origin origins[KERNELS] = {
    [ROLES] = {MATMUL("64"), "cuda:sm_90a", 1, 0},
    [TWO_WORKERS] = {MATMUL("128"), "cuda:sm_90a", 1, 0},
    [CLUSTER] = {MATMUL("64"), "cuda:sm_90a", 1, 2},
    [ALONE] = {MATMUL("64"), "cuda:sm_90a", 1, 2}, /* the same text, launched without clusters */
    [PARTS] = {MATMUL_OF("64", "256"), "cuda:sm_90a", 1, 0},
    [TURNED] =
        {"kernel @turned(%A, %B, %C: tensor<f16,2>, %nk: i32) {\n"
         "  %pm = program_id<0> ; %m = mul %pm, 128 ; %z = splat 0.0 : f32[128,128] ; %y = splat 0.0 : f32[128,64]\n"
         "  %q = tload %A, [%m, 0] : f16[128,128]\n"
         "  %acc = for<stages=2> %j = 0, %nk, 1 (%c = %z) {\n"
         "    %n = mul %j, 64 ; %k = tload %B, [%n, 0] : f16[64,128] ; %t = permute<dims=[1,0]> %k ; %s = dot %q, %t, "
         "%y\n"
         "    %e = mul %s, 0.125 ; %p = cast %e : f16[128,64] ; %v = tload %B, [%n, 0] : f16[64,128]\n"
         "    %h = mul %c, 0.5 ; %d = dot %p, %v, %h ; yield %d }\n"
         "  %o = cast %acc : f16[128,128] ; tstore %C, [%m, 0], %o }\n",
         "cuda:sm_90a", 1, 0},
    [LEADS] =
        {"kernel @leads(%A, %B, %C: tensor<f16,2>, %nk: i32) {\n"
         "  %pm = program_id<0> ; %m = mul %pm, 64 ; %z = splat 0.0 : f32[64,64] ; %y = splat 0.0 : f32[64,32]\n"
         "  %k = tload %A, [%m, 0] : f16[64,64] ; %v = tload %A, [%m, 64] : f16[64,64]\n"
         "  %a, %b = for<stages=4> %j = 0, %nk, 1 (%c = %z, %e = %z) {\n"
         "    %n = mul %j, 32 ; %q = tload %B, [%n, 0] : f16[32,64] ; %qt = permute<dims=[1,0]> %q ; %s = dot %k, %qt, "
         "%y\n"
         "    %g = tload %B, [%n, 64] : f16[32,64] ; %gt = permute<dims=[1,0]> %g ; %t = dot %v, %gt, %y\n"
         "    %p = mul %s, 0.125 ; %ph = cast %p : f16[64,32] ; %x = dot %ph, %g, %c\n"
         "    %d = mul %p, %t ; %dh = cast %d : f16[64,32] ; %w = dot %dh, %q, %e ; yield %x, %w }\n"
         "  %o = add %a, %b ; %h = cast %o : f16[64,64] ; tstore %C, [%m, 0], %h }\n",
         "cuda:sm_90a", 1, 0},
    [GANG] =
        {"kernel @gang(%A, %B, %C: tensor<f16,2>, %nk: i32) {\n"
         "  %pm = program_id<0> ; %m = mul %pm, 64 ; %z = splat 0.0 : f32[64,128] ; %y = splat 0.0 : f32[64,64]\n"
         "  %q = tload %A, [%m, 0] : f16[64,128] ; %twice = mul %pm, 2 ; %next = add %twice, 1 ; %hi = min %next, %nk\n"
         "  %acc = for<stages=2> %j = 0, %hi, 1 (%c = %z) {\n"
         "    %n = mul %j, 64 ; %k = tload %B, [%n, 0] : f16[64,128] ; %t = permute<dims=[1,0]> %k ; %s = dot %q, %t, "
         "%y\n"
         "    %e = mul %s, 0.125 ; %p = cast %e : f16[64,64] ; %v = tload %B, [%n, 0] : f16[64,128]\n"
         "    %h = mul %c, 0.5 ; %d = dot %p, %v, %h ; yield %d }\n"
         "  %o = cast %acc : f16[64,128] ; tstore %C, [%m, 0], %o }\n",
         "cuda:sm_90a", 1, 0},
    [SKEW] = {MATMUL("64"), "cuda:sm_90a", 0, 0},
    [SKEW_MMA] = {MATMUL("64"), "cuda:sm_80", -1, 0},
    [SUM] = {"kernel @sum(%x: tensor<f32,2>, %y: tensor<f32,1>) {\n"
             "  %p = program_id<0> ; %t = tload %x, [%p, 0] : f32[1,1000] ; %r = reshape %t : f32[1000]\n"
             "  %s = reduce<add, axis=0> %r ; %v = splat %s : f32[1] ; tstore %y, [%p], %v }\n",
             "cuda:sm_90a", -1, 0},
    [NORM] = {"kernel @norm(%x: tensor<f32,2>, %y: tensor<f32,1>) {\n"
              "  %p = program_id<0> ; %t = tload %x, [%p, 0] : f32[1,1024] ; %r = reshape %t : f32[1024]\n"
              "  %m = reduce<max, axis=0> %r ; %b = splat %m : f32[1024] ; %d = sub %r, %b\n"
              "  %s = reduce<add, axis=0> %d ; %v = splat %s : f32[1] ; tstore %y, [%p], %v }\n",
              "cuda:sm_90a", -1, 0},
    [SCAN] = {"kernel @scan(%x: tensor<f32,2>, %y: tensor<f32,2>) {\n"
              "  %p = program_id<0> ; %t = tload %x, [%p, 0] : f32[4,256] ; %s = scan<add, axis=1> %t\n"
              "  %u = permute<dims=[1,0]> %s ; %w = tload %x, [0, 0] : f32[256,4] ; %v = add %u, %w ; tstore %y, [0, "
              "0], %v }\n",
              "cuda:sm_90a", -1, 0},
    [ADDED] = {"kernel @mm(%A, %B, %C: tensor<f16,2>, %nk: i32) {\n"
               "  %pm = program_id<0> ; %pn = program_id<1> ; %m = mul %pm, 64 ; %n = mul %pn, 64 ; %z = splat 0.0 : "
               "f32[64,64]\n"
               "  %acc = for<stages=3> %k = 0, %nk, 1 (%c = %z) {\n"
               "    %kk = mul %k, 64 ; %a = tload %A, [%m, %kk] : f16[64,64] ; %b = tload %B, [%kk, %n] : f16[64,64]\n"
               "    %d = dot %a, %b, %c ; %w = tload %B, [%n, %kk] : f16[64,64] ; %g = cast %w : f32[64,64] ; %s = add "
               "%d, %g ; yield %s }\n"
               "  %h = cast %acc : f16[64,64] ; tstore %C, [%m, %n], %h }\n",
               "cuda:sm_90a", 1, 0},
    [STAGED] = {"kernel @mm(%A, %B, %C: tensor<f16,2>, %nk: i32) {\n"
                "  %pm = program_id<0> ; %pn = program_id<1> ; %m = mul %pm, 64 ; %n = mul %pn, 64 ; %z = splat 0.0 : "
                "f32[64,64]\n"
                "  %acc = for<stages=3> %k = 0, %nk, 1 (%c = %z) {\n"
                "    %kk = mul %k, 64 ; %a = tload %A, [%m, %kk] : f16[64,64] ; %b = tload %B, [%kk, %n] : f16[64,64]\n"
                "    %h = mul %b, 0.5 ; %d = dot %a, %h, %c ; yield %d }\n"
                "  %h = cast %acc : f16[64,64] ; tstore %C, [%m, %n], %h }\n",
                "cuda:sm_90a", 1, 0},
    [COPIED] = {"kernel @mm(%A, %B, %C: tensor<f16,2>, %nk: i32) {\n" /* A begins in the middle of 16 bytes: cp.async */
                "  %pm = program_id<0> ; %pn = program_id<1> ; %m = mul %pm, 64 ; %n = mul %pn, 64 ; %z = splat 0.0 : "
                "f32[64,64]\n"
                "  %acc = for<stages=3> %k = 0, %nk, 1 (%c = %z) {\n"
                "    %kk = mul %k, 64 ; %ka = add %kk, 4 ; %a = tload %A, [%m, %ka] : f16[64,64] ; %b = tload %B, "
                "[%kk, %n] : f16[64,64]\n"
                "    %d = dot %a, %b, %c ; yield %d }\n"
                "  %h = cast %acc : f16[64,64] ; tstore %C, [%m, %n], %h }\n",
                "cuda:sm_90a", 1, 0},
    [ADDS] = {"kernel @adds(%x: tensor<f32,2>, %y: tensor<f32,2>) {\n"
              "  %p = program_id<0> ; %r = mul %p, 32 ; %t = tload %x, [%r, 0] : f32[32,64] ; tatomic<add> %y, [0, 0], %t }\n",
              "cuda:sm_90a", -1, 0},
    [LOOSE] = {MATMUL("64"), "cuda:sm_90a", 1, 0},
    [ORDER] = {"kernel @order(%x: tensor<f32,2>, %y: tensor<f32,2>) {\n"
               "  %t = tload %x, [0, 0] : f32[4,256] ; tstore %y, [0, 0], %t ; %w = tload %y, [0, 0] : f32[256,4]\n"
               "  %v = add %w, 1.0 ; tstore %y, [0, 8], %v }\n",
               "cuda:sm_90a", -1, 0},
};

typedef struct Mutant {
    int kernel;
    const char *title, *from, *to;
    int n; /* which occurrence of `from` */
    EmuFault want;
} Mutant;

#define RELEASE "if (held >= 0 && lane == 0) tw_mbar_arrive"
static const Mutant mutants[] = {
    {ROLES, "output stored before the last tile's is read: a barrier less", "tw_bar_sync(1, 128);", "", 1,
     EMU_FAULT_RACE},
    {ROLES, "no fence before the TMA store", "tw_fence_async();", "", 0, EMU_FAULT_PROXY},
    {ROLES, "slots are never given back", RELEASE, "if (0) tw_mbar_arrive", 0, EMU_FAULT_DEADLOCK},
    {ROLES, "one warp does not give its slot back", RELEASE, "if (held >= 0 && lane == 0 && warp != 2) tw_mbar_arrive",
     0, EMU_FAULT_DEADLOCK},
    {ROLES, "every lane gives the slot back", RELEASE, "if (held >= 0) tw_mbar_arrive", 0, EMU_FAULT_RACE},
    {ROLES, "too many bytes expected", ", 16384)", ", 16400)", 0, CUDA_FAULT_BYTES},
    {ROLES, "too few bytes expected", ", 16384)", ", 8192)", 0, CUDA_FAULT_BYTES},
    {ROLES, "the load's phase restarts", "in_phase ^ 1", "0", 0, EMU_FAULT_DEADLOCK},
    {ROLES, "a slot is filled before it is empty", "tw_mbar_wait(in_empty + in_slot_1 * 8, in_phase ^ 1);", "", 0,
     CUDA_FAULT_ARRIVALS},
    {ROLES, "a slot is read before it is full", "tw_mbar_wait(in_full + in_slot * 8, in_phase);", "", 0,
     EMU_FAULT_RACE},
    {ROLES, "a slot is given back while its dot runs", "tw_wgmma_wait(1);", "", 0, EMU_FAULT_RACE},
    {ROLES, "the last dot is not waited for", "tw_wgmma_wait(0);", "", 0, CUDA_FAULT_MATRIX},
    {ROLES, "the last dot's registers are read as they were before", "tw_wgmma_settle(c);", "", 0, CUDA_FAULT_MATRIX},
    {ROLES, "a dot without its fence", "tw_wgmma_fence();", "", 0, CUDA_FAULT_MATRIX},
    {ROLES, "the barriers are used before they are made", "tw_sync();", "", 0, EMU_FAULT_BARRIER},
    {ROLES, "a named barrier for more threads than come", "tw_bar_sync(1, 128);", "tw_bar_sync(1, 160);", 0,
     EMU_FAULT_DEADLOCK},
    {ROLES, "the kernel ends before its stores", "tw_bulk_wait(0);", "{}", 0, CUDA_FAULT_UNWAITED},
    {ROLES, "an output buffer that is still being stored", "tw_bulk_wait_read(0);", "{}", 0, EMU_FAULT_RACE},
    {ROLES, "a slot behind the last one", "tw_desc_k(in_a + in_slot * in_bytes",
     "tw_desc_k(in_a + (in_slot + 4) * in_bytes", 0, EMU_FAULT_SHARED},
    {ROLES, "an output tile at an odd place", "tw_tma_store_2d(&map_C, n, m, out_h)",
     "tw_tma_store_2d(&map_C, n, m, out_h - 64)", 0, EMU_FAULT_ALIGN},
    {TWO_WORKERS, "more registers than the block has", "tw_setmaxnreg_dec(24);", "tw_setmaxnreg_dec(160);", 0,
     EMU_FAULT_DEADLOCK},
    {TWO_WORKERS, "registers given up by those who take", "tw_setmaxnreg_inc(240);", "tw_setmaxnreg_inc(64);", 0,
     CUDA_FAULT_REGISTERS},
    {CLUSTER, "barriers of the other block are used before they are made",
     "if (blocks > 1) tw_cluster_sync();\n    else ", "", 0, EMU_FAULT_RACE},
    {CLUSTER, "a block ends while the other may still arrive in it", "if (blocks > 1) tw_cluster_sync(); //", "//", 0,
     CUDA_FAULT_CLUSTER},
    {CLUSTER, "a half goes to one block only", "in_full + in_slot_1 * 8, 3);", "in_full + in_slot_1 * 8, 1);", 0,
     CUDA_FAULT_BYTES},
    {CLUSTER, "a half goes to a block that does not exist", "in_full + in_slot_1 * 8, 3);",
     "in_full + in_slot_1 * 8, 7);", 0, CUDA_FAULT_CLUSTER},
    {CLUSTER, "the other block's half is not expected", ", 16384)", ", 12288)", 0, CUDA_FAULT_BYTES},
    {CLUSTER, "more than both halves is expected", ", 16384)", ", 20480)", 0, CUDA_FAULT_BYTES},
    {CLUSTER, "slots are given back to the own block only",
     "lane < blocks) tw_mbar_arrive_at(in_empty + held * 8, lane)", "lane == 0) tw_mbar_arrive(in_empty + held * 8)", 0,
     EMU_FAULT_DEADLOCK},
    {CLUSTER, "both arrivals come to the own block", "tw_mbar_arrive_at(in_empty + held * 8, lane)",
     "tw_mbar_arrive_at(in_empty + held * 8, rank)", 0, EMU_FAULT_RACE},
    {CLUSTER, "the consumers of one block are enough", "tw_mbar_init(in_empty + i * 8, 4 * blocks);",
     "tw_mbar_init(in_empty + i * 8, 4);", 0, EMU_FAULT_RACE},
    {CLUSTER, "both blocks send the same half", "rank * 4096", "0", 0, EMU_FAULT_RACE},
    {CLUSTER, "one block does a task less", "pair < pairs;", "pair < pairs - rank;", 0, EMU_FAULT_DEADLOCK},
    {ALONE, "a block alone loads one half", "tw_tma_load_2d(in_a + in_slot_1 * in_bytes + 4096",
     "if (0) tw_tma_load_2d(in_a", 0, CUDA_FAULT_BYTES},
    {ALONE, "a block alone waits for another one's consumers", "4 * blocks);", "8);", 0, EMU_FAULT_DEADLOCK},
    {ALONE, "a block alone gives slots back to another one", "lane < blocks) tw_mbar", "lane < 2) tw_mbar", 0,
     CUDA_FAULT_CLUSTER},
    {ALONE, "a block alone does every other task", "pair += tw_blocks_x() / blocks", "pair += tw_blocks_x() * 2", 0,
     EMU_FAULT_DEADLOCK},
    {PARTS, "a panel is written while the one before last may be read",
     "if (warp == 0 && lane == 0) tw_bulk_wait_read(0);", "", 0, EMU_FAULT_RACE},
    {PARTS, "a panel is stored before all have written it", "tw_bar_sync(1, 128);", "", 0, EMU_FAULT_RACE},
    {PARTS, "a panel is stored without the fence", "tw_fence_async();", "", 0, EMU_FAULT_PROXY},
    {PARTS, "both panels in one place", "out_h + part % 2 * 8192", "out_h", 0, EMU_FAULT_RACE},
    {TURNED, "the second product is scaled while it runs", "tw_wgmma_wait(0);", "", 1, CUDA_FAULT_MATRIX},
    {TURNED, "the last product is not waited for", "tw_wgmma_wait(0);", "", 2, CUDA_FAULT_MATRIX},
    {TURNED, "nobody has the first turn", "if (warp >> 2) tw_bar_arrive(14, 256);", "", 0, EMU_FAULT_DEADLOCK},
    {TURNED, "the turn is not handed on", "tw_bar_arrive(15 - (warp >> 2), 256);", "", 0, EMU_FAULT_DEADLOCK},
    {TURNED, "a worker hands on a turn that it did not wait for", "tw_bar_sync(14 + (warp >> 2), 256);", "", 0,
     EMU_FAULT_BARRIER},
    {LEADS, "the first trip's products are read while they run", "tw_wgmma_wait(0);", "", 0, CUDA_FAULT_MATRIX},
    {LEADS, "the products of the trip before still run when their slots are given back", "tw_wgmma_wait(2);", "", 0,
     CUDA_FAULT_MATRIX},
    {LEADS, "slots are given back while they are read",
     "tw_wgmma_wait(2);\n                    tw_wgmma_settle(c);\n                    tw_wgmma_settle(e);\n", "", 0,
     EMU_FAULT_RACE},
    {LEADS, "the next trip's products are read while they run", "tw_wgmma_wait(2);", "", 1, CUDA_FAULT_MATRIX},
    {LEADS, "only the first of them is waited for", "tw_wgmma_wait(2);", "tw_wgmma_wait(3);", 1, CUDA_FAULT_MATRIX},
    {LEADS, "the last products are not waited for", "tw_wgmma_wait(0);", "", 2, CUDA_FAULT_MATRIX},
    {LEADS, "this trip's slot is given back for that of the trip before", "ring_q_empty + was * 8", "ring_q_empty + now * 8",
     0, EMU_FAULT_DEADLOCK},
    {LEADS, "slots of the trip before are kept", "if (was >= 0 && lane == 0) tw_mbar_arrive", "if (0) tw_mbar_arrive", 0,
     EMU_FAULT_DEADLOCK},
    {LEADS, "the next trip's item is not waited for", "tw_mbar_wait(ring_q_full + ring_q_slot_1 * 8, ring_q_phase);", "", 0,
     EMU_FAULT_RACE},
    {GANG, "a shorter program does not pass by its neighbours' items", "n < longest; n++", "n < 0; n++", 0,
     EMU_FAULT_DEADLOCK},
    {GANG, "a worker without a program does not pass by the items", "n < longest; n++", "n < 0; n++", 1,
     EMU_FAULT_DEADLOCK},
    {GANG, "a worker without a program keeps its own slot", "if (lane == 0) tw_mbar_arrive(ring_q_empty + gang * 8);", "",
     1, EMU_FAULT_DEADLOCK},
    {GANG, "only the first program's trips are loaded", "longest = each ? tw_max(longest, hi) : hi;",
     "longest = each ? longest : hi;", 1, EMU_FAULT_DEADLOCK},
    {GANG, "a shared slot is given back by one worker for all", "tw_mbar_init(ring_k_empty + i * 8, 12);",
     "tw_mbar_init(ring_k_empty + i * 8, 4);", 0, EMU_FAULT_RACE},
    {GANG, "all programs use one output tile", "out_o + gang * out_bytes", "out_o", 0, EMU_FAULT_RACE},
    {GANG, "all programs meet at one barrier", "tw_bar_sync(1 + gang, 128);", "tw_bar_sync(1, 128);", 0,
     EMU_FAULT_DIVERGENT},
    {SKEW, "cp.async read without the wait", "tw_cp_async_wait(1);", "", 0, EMU_FAULT_RACE},
    {SKEW, "the wait leaves one group too many", "tw_cp_async_wait(1);", "tw_cp_async_wait(2);", 0, EMU_FAULT_RACE},
    {SKEW, "cp.async landed, and no fence before wgmma", "tw_fence_async();", "", 0, EMU_FAULT_PROXY},
    {SKEW, "cp.async landed, and no barrier", "tw_fence_async();\n            tw_sync();", "tw_fence_async();", 0,
     EMU_FAULT_RACE},
    {SKEW, "a row too far", "A + i0 * A_s0", "A + (i0 + 128) * A_s0", 0, EMU_FAULT_GLOBAL},
    {SKEW_MMA, "ldmatrix without the wait", "tw_cp_async_wait(1);", "", 0, EMU_FAULT_RACE},
    {SKEW_MMA, "ldmatrix without the barrier", "tw_cp_async_wait(1);\n            tw_sync();", "tw_cp_async_wait(1);",
     0, EMU_FAULT_RACE},
    {SKEW_MMA, "output written over a slot", "tw_sync();\n        // h to shared memory", "// h to shared memory", 0,
     EMU_FAULT_NONE}, /* it has memory of its own: no barrier is needed */
    {SKEW_MMA, "output read before it is written", "tw_sync();\n        f16 h_1", "f16 h_1", 0, EMU_FAULT_RACE},
    {SKEW_MMA, "ldmatrix between two rows of 16 bytes", "kk + (lane >> 4) * 8", "kk + (lane >> 4) * 8 + 1", 0,
     EMU_FAULT_ALIGN},
    {SUM, "partial sums read before they are written", "tw_sync();", "", 2, EMU_FAULT_RACE},
    {SUM, "partial sums over the tile that others still read", "tw_sync();", "", 1, EMU_FAULT_RACE},
    {SUM, "the row's end is not looked at", "(u64)i1 < (u64)x_n1 && at1 + (r >> 2) * 512 < 1000", "true", 0,
     EMU_FAULT_GLOBAL},
    {SUM, "a partial sum behind the scratch", "tw_thread() * 4, &", "tw_thread() * 4 + 8192, &", 0, EMU_FAULT_SHARED},
    {SUM, "a loop without end", "const i32 p = tw_block_x();",
     "const i32 p = tw_block_x(); for (f32 w = 0; w == 0;) { tw_ldg(1, &w, x); w = 0; }", 0, EMU_FAULT_ENDLESS},
    {ADDED, "a slot that threads have read is given back without the fence",
     "tw_fence_async();\n                tw_sync_warp();", "tw_sync_warp();", 0, EMU_FAULT_PROXY},
    {ADDED, "a slot is given back before the other lanes have read", "tw_fence_async();\n                tw_sync_warp();",
     "tw_fence_async();", 0, EMU_FAULT_RACE},
    {STAGED, "an operand is written under the product that reads it",
     "tw_wgmma_wait(0);\n                    tw_bar_sync(1, 128);", "tw_bar_sync(1, 128);", 0, EMU_FAULT_RACE},
    {LOOSE, "a slot filled by stores is full without the fence", "tw_fence_async();", "", 1, EMU_FAULT_PROXY},
    {LOOSE, "a slot filled by stores is full before all have stored", "tw_mbar_init(in_full + i * 8, 128);",
     "tw_mbar_init(in_full + i * 8, 96);", 0, EMU_FAULT_RACE},
    {LOOSE, "one lane does not say that it has stored", "tw_mbar_arrive(in_full",
     "if (lane != 5) tw_mbar_arrive(in_full", 0, EMU_FAULT_DEADLOCK},
    {COPIED, "what threads copied is read by wgmma without the fence", "tw_fence_async();", "", 0, EMU_FAULT_PROXY},
    {COPIED, "the slot is full before its copies have landed", "tw_cp_async_arrive(", "tw_mbar_arrive(", 0,
     EMU_FAULT_RACE},
    {COPIED, "one warp does not say that its copies have landed", "tw_cp_async_arrive(",
     "if (warp != 2) tw_cp_async_arrive(", 0, EMU_FAULT_DEADLOCK},
    {COPIED, "an arrival for TMA beside those of the threads", "tw_mbar_init(in_full + i * 8, 128);",
     "tw_mbar_init(in_full + i * 8, 129);", 0, EMU_FAULT_DEADLOCK},
    {COPIED, "a slot is full without the last warp's copies", "tw_mbar_init(in_full + i * 8, 128);",
     "tw_mbar_init(in_full + i * 8, 96);", 0, EMU_FAULT_RACE},
    {ADDS, "a vector that is added to the middle of another", "y_s0 + i1,", "y_s0 + i1 + 1,", 0, EMU_FAULT_ALIGN},
    {ADDS, "a vector that is added behind the last row", "y + (i64)at0", "y + (i64)(at0 + 256)", 0, EMU_FAULT_GLOBAL},
    {SKEW, "the copies of a trip are in no group", "tw_cp_async_commit();", "", 1, EMU_FAULT_RACE},
    {ORDER, "a load through global memory that does not wait for the store before it", "tw_sync();", "", 0,
     EMU_FAULT_RACE},
    {NORM, "a sum's scratch over that of the maximum", "16 + tw_thread() * 4", "0 + tw_thread() * 4", 0,
     EMU_FAULT_RACE},
    {NORM, "each lane writes its warp's maximum", "lane == 0", "true", 0, EMU_FAULT_RACE},
    {SCAN, "a barrier less before a tile is read back", "tw_sync();", "", 0, EMU_FAULT_RACE},
};

/* The text with the n-th occurrence of a piece replaced; NULL when there is none. */
static char *replaced(Arena *arena, const char *text, const char *from, const char *to, int n) {
    const char *at = strstr(text, from);
    while (at && n-- > 0) at = strstr(at + 1, from);
    return at ? arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) : NULL;
}

static void add_arguments(CudaBench *b, int kernel) {
    /* TURNED: two tasks a block; CLUSTER: an odd number of tasks along the index of its pairs */
    int rows = kernel == TURNED                       ? 512
               : kernel == GANG                       ? 896
               : kernel == TWO_WORKERS                ? 256
               : kernel == CLUSTER || kernel == ALONE ? 192
                                                      : 128;
    int columns = kernel == PARTS ? 512 : 128;
    switch (kernel) {
    case SUM:
    case NORM:
        cuda_bench_tensor(b, "x", EL_F32, true, 2, 3, 1000);
        cuda_bench_tensor(b, "y", EL_F32, false, 1, 3);
        return;
    case LOOSE: /* rows on no multiple of 16 bytes */
        cuda_bench_tensor(b, "A", EL_F16, true, 2, 128, 253);
        cuda_bench_tensor(b, "B", EL_F16, true, 2, 253, 127);
        cuda_bench_tensor(b, "C", EL_F16, false, 2, 128, 127);
        cuda_bench_int(b, 4);
        return;
    case ADDS:
    case ORDER:
        cuda_bench_tensor(b, "x", EL_F32, true, 2, 256, 256);
        cuda_bench_tensor(b, "y", EL_F32, false, 2, 256, 256);
        return;
    case SCAN:
        cuda_bench_tensor(b, "x", EL_F32, true, 2, 256, 256);
        cuda_bench_tensor(b, "y", EL_F32, false, 2, 256, 4);
        return;
    default:
        cuda_bench_tensor(b, "A", EL_F16, true, 2, rows, 256);
        cuda_bench_tensor(b, "B", EL_F16, true, 2, 256, columns);
        cuda_bench_tensor(b, "C", EL_F16, false, 2, rows, columns);
        cuda_bench_int(b, kernel == GANG ? 6 : kernel == LEADS ? 8 : 4); /* more trips than slots; GANG: zeros follow */
    }
}

static void try_mutant(const Mutant *m) {
    CudaBench b;
    PassOptions options = pass_options_default;
    options.roles = origins[m->kernel].roles;
    options.cluster = origins[m->kernel].cluster;
    options.slots = m->kernel == PARTS ? 6 : m->kernel == LEADS ? 4 : 3; /* more than fit beside a whole tile */
    if (m->kernel == LOOSE) options.generic = REQUIRE_UNIT;
    bool open = cuda_bench_open(&b, origins[m->kernel].text, origins[m->kernel].machine, options);
    CHECK(open);
    if (open) {
        add_arguments(&b, m->kernel);
        b.alone = m->kernel == ALONE;
        const char *before = b.plan->text;
        char *text = m->from ? replaced(&b.arena, before, m->from, m->to, m->n) : (char *)before;
        CHECK(text || (fprintf(stderr, "%s: `%s` is not in\n%s\n", m->title, m->from, before), 0));
        if (text) {
            b.plan->text = text;
            void *entry = cuda_bench_compile(&b);
            static const int64_t grids[KERNELS][3] = {
                [ROLES] = {2, 2, 1},    [TWO_WORKERS] = {2, 2, 1}, [CLUSTER] = {3, 2, 1}, [ALONE] = {3, 2, 1},
                [PARTS] = {2, 2, 1},    [TURNED] = {4, 1, 1}, [LEADS] = {2, 1, 1},      [GANG] = {14, 1, 1},   [SKEW] = {2, 2, 1},
                [SKEW_MMA] = {2, 2, 1}, [SUM] = {3, 1, 1},         [NORM] = {3, 1, 1},    [SCAN] = {1, 1, 1},
                [ORDER] = {1, 1, 1},    [ADDED] = {2, 2, 1},       [STAGED] = {2, 2, 1},  [LOOSE] = {2, 2, 1},
                [COPIED] = {2, 2, 1},   [ADDS] = {2, 1, 1}};
            CHECK(entry);
            bool clean = entry && cuda_bench_emulate(&b, entry, grids[m->kernel]);
            CHECK(clean == (m->want == EMU_FAULT_NONE) || (fprintf(stderr, "%s: in\n%s\n", m->title, text), 0));
            CHECK(b.report.fault == m->want || (fprintf(stderr, "%s: %s\n", m->title, b.report.text), 0));
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
    for (int i = 0; i < KERNELS; i++) try_mutant(&(Mutant){.kernel = i, .title = "as emitted"});
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++)
        if (check_chosen()) try_mutant(&mutants[i]);
    cuda_bench_end();
    return check_done();
}
