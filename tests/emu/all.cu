/* all.cu: every kernel of this folder in one translation unit, so that a test compiles once. Each takes a last
 * parameter `mutant`: 0 is the right kernel, any other number leaves out or breaks one thing. */
#include "tilewright.cuh"
#include "vector_add.cu"
#include "block_sum.cu"
#include "ring_matmul.cu"
#include "wide_matmul.cu"
#include "pipelined_matmul.cu"
#include "gather_matmul.cu"
#include "wgmma_forms.cu"
#include "numbers.cu"
#include "tma_shapes.cu"
#include "mma_forms.cu"
#include "handoff.cu"
