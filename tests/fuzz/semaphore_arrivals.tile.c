/* attention_roles.tile.c: o = softmax(q k^T / sqrt(D)) v without a template: the last warpgroup brings keys and values
 * through STAGES slots, WORKERS others keep 64 queries each; they meet at semaphores that the kernel has set up itself.
 * q and o are [batch, heads, n, D], k and v [batch, kv_heads, m, D]; any n and m.
 *
 *     tilewright run attention_roles.tile.c --arg g.q=randn:bf16[1,4,200,64] --arg g.k=randn:bf16[1,2,200,64] \
 *         --arg g.v=randn:bf16[1,2,200,64] --arg g.o=zeros:bf16[1,4,200,64]
 *
 * -D D=128, -D CAUSAL=1, -D KEYS=64, -D WORKERS=3, -D STAGES=3. */
#include "tile.h"

#ifndef D
#define D 64
#endif
#ifndef KEYS
#define KEYS 64
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef STAGES
#define STAGES 2
#endif

enum { QUERIES = 64 };
typedef st_bf(KEYS, D) kv_tile;
typedef rt_fl(16, KEYS) scores; /* 16 rows a warp, 64 in all */
typedef rt_fl(16, D) sums;

struct globals { gl(bf16, -1, -1, -1, D, kv_tile) q, k, v, o; };

tile_kernel((WORKERS + 1) * WARPGROUP_THREADS, 1) tile_grid(cdiv(g.q.rows, QUERIES * WORKERS), g.q.depth, g.q.batch)
void attention(struct globals g) {
    int first = blockIdx.x * WORKERS, head = blockIdx.y, batch = blockIdx.z, kv_head = head / (g.q.depth / g.k.depth);
    int keys = g.k.rows, trips = cdiv(CAUSAL ? min(keys, (first + WORKERS) * QUERIES) : keys, KEYS);
    kv_tile k[STAGES], v[STAGES];
    semaphore full[STAGES], empty[STAGES];
    if (threadIdx.x == 0)
        for (int i = 0; i < STAGES; i++) {
            init_semaphore(&full[i], 1, 0);        /* the expect of the thread that loads */
            init_semaphore(&empty[i], WORKERS, 9223372036854775807); /* a thread of each worker */
        }
    __syncthreads();

    if (warpgroup_groupid() == WORKERS) {
        producer_registers();
        if (warpgroup_laneid() == 0)
            for (int j = 0; j < warp_copy; j++) {
                int s = j % STAGES;
                wait(&empty[s], (j / STAGES + 1) % 2);
                tma_expect(&full[s], &k[s], &v[s]);
                tma_load_async(&k[s], g.k, at(batch, kv_head, j, 0), &full[s]);
                tma_load_async(&v[s], g.v, at(batch, kv_head, j, 0), &full[s]);
            }
    } else {
        int block = first + warpgroup_groupid();
        float scale = 1.44269504f / sqrtf(D); /* for exp2 */
        rt_bf(16, D) q;
        rt_bf(16, KEYS) weights;
        scores s;
        sums o;
        col_vec(scores) most, before, total;
        consumer_registers(WORKERS);
        warpgroup_load(&q, g.q, at(batch, head, block, 0));
        warp_zero(&o);
        warp_zero(&total);
        warp_neg_infty(&most);
        for (int j = 0; j < trips; j++) {
            int stage = j % STAGES;
            wait(&full[stage], j / STAGES % 2);
            warpgroup_mm_ABt(&s, &q, &k[stage]);
            warpgroup_mma_wait(0);
            warp_right_fill(&s, &s, keys - j * KEYS, -INFINITY);
            warp_right_fill(&s, &s, keys - j * KEYS, -INFINITY);
            if (CAUSAL) warpgroup_tril(&s, &s, block * QUERIES - j * KEYS, -INFINITY);

            warp_copy(&before, &most);
            warp_row_max(&most, &s);
            warp_mul(&most, &most, scale);
            warp_max(&most, &most, &before);
            warp_sub(&before, &before, &most);
            warp_exp2(&before, &before);
            warp_mul(&s, &s, scale);
            warp_sub_row(&s, &s, &most);
            warp_exp2(&s, &s);
            warp_mul(&total, &total, &before);
            warp_row_sum(&total, &s, &total);
            warp_mul_row(&o, &o, &before);
            warp_copy(&weights, &s);
            warpgroup_mma_AB(&o, &weights, &v[stage]);
            warpgroup_mma_wait(0);
            if (warpgroup_laneid() == 0) arrive(&empty[stage]);
        }
        warp_div_row(&o, &o, &total);
        warpgroup_store(g.o, &o, at(batch, head, block, 0));
    }
}
/* SPDX-License-Identifier: Apache-2.0 */
