/* A lane compared with a number that is no integer. */
#include "kittens.h"
typedef struct {
    gl(float, -1, -1, -1, -1, st_fl(16, 32)) x;
} globals;

tile_grid(1) __global__ __launch_bounds__(WARP_THREADS, 1)
void lane_float(const __grid_constant__ globals g) {
    if (laneid() == 0.5) __syncthreads();
}
