/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_beside.h: workers of a CPU kernel that run side by side, as coroutines of the thread that runs the program
 * (src/target/cpu/prelude/workers.h is the kernel's part). */
#ifndef RUNTIME_TARGET_CPU_BESIDE_H
#define RUNTIME_TARGET_CPU_BESIDE_H
#include <stdbool.h>
#include <stdint.h>

#ifndef BESIDE_API
#define BESIDE_API /* as FIBER_API */
#endif
typedef struct TwTeam TwTeam;
typedef void WorkerBody(TwTeam *team, int32_t worker);

/* One body for all workers, or one for each of them. False: they wait for each other for ever, or memory is short. */
BESIDE_API bool cpu_run_beside(TwTeam *team, WorkerBody *const *bodies, int32_t count);
BESIDE_API void cpu_turn(TwTeam *team); /* called by a worker: lets others run */
#endif
