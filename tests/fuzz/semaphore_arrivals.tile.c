/* semaphore_arrivals.tile.c: the sum of both numbers of init_semaphore overflowed. */
#include "tile.h"
typedef st_bf(64, 64) tile;
struct globals { gl(bf16, 1, 1, -1, -1, tile) a, c; };

tile_kernel(WARPGROUP_THREADS, 1) tile_grid(1, 1)
void alone(struct globals g) {
    tile a;
    semaphore full;
    if (threadIdx.x == 0) {
        init_semaphore(&full, 1, 9223372036854775807);
        tma_expect(&full, &a);
        tma_load_async(&a, g.a, at(0, 0), &full);
    }
    __syncthreads();
    wait(&full, 0);
    warpgroup_store(g.c, &a, at(0, 0));
}
