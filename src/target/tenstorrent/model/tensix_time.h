/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_time.h: clocks beside the functional model: what a run would take, in cycles. Nothing of it changes a result.
 * */
#ifndef TARGET_TENSTORRENT_MODEL_TENSIX_TIME_H
#define TARGET_TENSTORRENT_MODEL_TENSIX_TIME_H
#include "target/tenstorrent/model/tensix_machine.h"

/* Clocks of a compute kernel; the others have the first. */
enum { TIME_UNPACK, TIME_MATH, TIME_PACK };

uint64_t time_end(const TtKernel *k);
/* Pages of a CB: before they are reserved or waited for is known that they are there. */
void time_reserve(TtKernel *self, Cb *cb, uint32_t pages);
void time_push(TtKernel *self, Cb *cb, uint32_t pages);
void time_wait(TtKernel *self, Cb *cb, uint32_t pages);
void time_pop(TtKernel *self, Cb *cb, uint32_t pages);
/* A NoC transaction begins (bank -1: to or from a core); when it is done. */
uint64_t time_transfer(TtKernel *self, bool write, int bank, uint32_t bytes);
void time_until(TtKernel *self, uint64_t done);
/* The semaphore at an L1 offset was set at a time, or by a kernel now; somebody waited for it. */
void time_signal(Core *core, uint32_t offset, uint64_t at);
void time_signal_now(TtKernel *self, Core *core, uint32_t offset);
void time_await(TtKernel *self, uint32_t offset);
/* Compute: so many bytes are unpacked for it. */
void time_setup(TtKernel *self);
void time_matmul(TtKernel *self, uint32_t bytes, uint32_t products);
void time_move(TtKernel *self, uint32_t bytes);
void time_binary(TtKernel *self, uint32_t bytes, bool multiplies);
void time_reduce(TtKernel *self, uint32_t bytes);
void time_sfpu(TtKernel *self, uint32_t op);
void time_dst(TtKernel *self, uint32_t step, uint32_t section);
void time_pack(TtKernel *self, uint32_t bytes);
void time_report(Machine *machine); /* at the end */
#endif
