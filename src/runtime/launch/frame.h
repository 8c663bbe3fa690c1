/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h: the memory in which one launch binds and tests its arguments. A kernel has one of its own, for launches that
 * hold the context's lock; others lie in the memory of their thread's seat, or of a queue. */
#ifndef RUNTIME_LAUNCH_FRAME_H
#define RUNTIME_LAUNCH_FRAME_H
#include "runtime/launch/requirements.h"

typedef struct Frame {
    uint64_t *slots;     /* the words of all parameters (runtime.h) */
    tw_buffer **buffers; /* by parameter; NULL for numbers */
    int64_t *registers;  /* of the scalar programs */
    int64_t *values;     /* operands of the requirements */
    MemorySpan *spans;   /* by parameter, of those that stand in a DISJOINT */
} Frame;

/* Words that a frame of the kernel takes, and the frame in that many of them. */
size_t frame_words(const tw_kernel *k);
Frame frame_in(const tw_kernel *k, uint64_t *words);

/* A number as the word of its parameter. */
tw_status frame_bind_number(const tw_kernel *k, const Frame *f, const RunParam *param, const tw_arg *arg);
/* Extents and strides of a tensor, right-aligned: an array of lower rank has extents of 1 in front, one of higher rank
 * must have them. False: it has others. */
bool frame_bind_extents(const RunParam *param, const tw_buffer *b, uint64_t *words);
#endif
