/* attention_warp.tile.c: o = softmax(q k^T / sqrt(D)) v, one warp for 16 queries, everything in registers; the smallest
 * attention that Tile C can say. q and o are [batch, heads, n, D], k and v [batch, kv_heads, m, D]; any n and m, any
 * number of query heads to a kv head.
 *
 *     tilewright run attention_warp.tile.c --arg g.q=randn:bf16[1,4,200,64] --arg g.k=randn:bf16[1,2,200,64] \
 *         --arg g.v=randn:bf16[1,2,200,64] --arg g.o=zeros:bf16[1,4,200,64]
 *
 * -D D=128, -D CAUSAL=1 (query i sees keys up to i), -D KEYS=32 (keys a step). */
#include "tile.h"

#ifndef D
#define D 64
#endif
#ifndef KEYS
#define KEYS 32
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif

enum { QUERIES = 16 };
typedef rt_fl(QUERIES, KEYS) scores;
typedef rt_fl(QUERIES, D) sums;

struct globals {
    gl(bf16, -1, -1, -1, D) q, k, v, o;
};

tile_kernel(WARP_THREADS, 1) tile_grid(cdiv(g.q.rows, QUERIES), g.q.depth, g.q.batch)
void attention_warp(struct globals g) {
    int block = blockIdx.x, head = blockIdx.y, batch = blockIdx.z;
    int kv_head = head / (g.q.depth / g.k.depth), keys = g.k.rows;
    rt_bf(QUERIES, D) q;
    rt_bf(KEYS, D) k, v;
    rt_bf(QUERIES, KEYS) weights;
    scores s;
    sums o;
    col_vec(scores) most, before, total;

    load(&q, g.q, at(batch, head, block, 0));
    zero(&o);
    zero(&total);
    neg_infty(&most);
    int end = CAUSAL ? min(keys, (block + 1) * QUERIES) : keys;
    for (int j = 0; j < cdiv(end, KEYS); j++) {
        load(&k, g.k, at(batch, kv_head, j, 0));
        load(&v, g.v, at(batch, kv_head, j, 0));
        mm_ABt(&s, &q, &k);
        mul(&s, &s, 1.44269504f / sqrtf(D)); /* exp2 below */
        right_fill(&s, &s, keys - j * KEYS, -INFINITY);
        if (CAUSAL) tril(&s, &s, block * QUERIES - j * KEYS, -INFINITY);

        copy(&before, &most);
        row_max(&most, &s, &most);
        sub(&before, &before, &most);
        exp2(&before, &before);
        sub_row(&s, &s, &most);
        exp2(&s, &s);
        mul(&total, &total, &before);
        row_sum(&total, &s, &total);
        mul_row(&o, &o, &before);
        copy(&weights, &s);
        mma_AB(&o, &weights, &v);
    }
    div_row(&o, &o, &total);
    store(g.o, &o, at(batch, head, block, 0));
}
/* SPDX-License-Identifier: Apache-2.0 */
