/* attention.tile.c: o = softmax(q k^T / sqrt(D)) v, a warpgroup for 64 queries; keys and values pass through shared
 * memory. q and o are [batch, heads, n, D], k and v [batch, kv_heads, m, D]; any n and m, any number of query heads to a
 * kv head. Also written: the logarithm (base 2) of each query's sum of weights, [batch, heads, n, 1], for a backward pass.
 *
 *     tilewright run attention.tile.c --arg g.q=randn:bf16[1,4,200,128] --arg g.k=randn:bf16[1,2,200,128] \
 *         --arg g.v=randn:bf16[1,2,200,128] --arg g.o=zeros:bf16[1,4,200,128] --arg g.l=zeros:f32[1,4,1,200]
 *
 * -D D=64, -D CAUSAL=1 (query i sees keys up to i), -D KEYS=64 (keys a step). */
#include "tile.h"

#ifndef D
#define D 128
#endif
#ifndef KEYS
#define KEYS 64
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif

enum { QUERIES = 64 };
typedef rt_fl(16, KEYS) scores; /* 16 rows a warp, 64 in all */
typedef rt_fl(16, D) sums;

struct globals {
    gl(bf16, -1, -1, -1, D) q, k, v, o;
    gl(float, -1, -1, 1, -1) l;
};

tile_kernel(WARPGROUP_THREADS, 1) tile_grid(cdiv(g.q.rows, QUERIES), g.q.depth, g.q.batch)
void attention(struct globals g) {
    int block = blockIdx.x, head = blockIdx.y, batch = blockIdx.z;
    int kv_head = head / (g.q.depth / g.k.depth), keys = g.k.rows;
    st_bf(KEYS, D) k, v;
    rt_bf(16, D) q;
    rt_bf(16, KEYS) weights;
    scores s;
    sums o;
    col_vec(scores) most, before, total;
    float scale = 1.44269504f / sqrtf(D); /* for exp2 */

    warpgroup_load(&q, g.q, at(batch, head, block, 0));
    warp_zero(&o);
    warp_zero(&total);
    warp_neg_infty(&most);
    int end = CAUSAL ? min(keys, (block + 1) * QUERIES) : keys;
    for (int j = 0; j < cdiv(end, KEYS); j++) {
        warpgroup_load(&k, g.k, at(batch, kv_head, j, 0));
        warpgroup_load(&v, g.v, at(batch, kv_head, j, 0));
        warpgroup_sync(1);
        warpgroup_mm_ABt(&s, &q, &k);
        warpgroup_mma_wait(0);
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
        warpgroup_mma_AB(&o, &weights, &v);
        warpgroup_mma_wait(0);
        warpgroup_sync(1); /* the next keys overwrite these */
    }
    warp_div_row(&o, &o, &total);
    warpgroup_store(g.o, &o, at(batch, head, block, 0));
    warp_log2(&total, &total);
    warp_add(&total, &total, &most);
    warpgroup_store(g.l, &total, at(batch, head, 0, block));
}
/* SPDX-License-Identifier: Apache-2.0 */
