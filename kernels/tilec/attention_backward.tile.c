/* attention_backward.tile.c: gradients of attention.tile.c's o = softmax(q k^T / sqrt(D)) v. Three kernels: `prepare` gives
 * delta, the sum of o do over each row; `keys` the gradients of k and v; `queries` that of q.
 *
 * q, o, do_ and dq are [batch, heads, n, D], k, v, dk and dv [batch, kv_heads, m, D]; l is what attention.tile.c wrote, the
 * logarithm (base 2) of each query's sum of weights; it and delta are [batch, heads, 1, n]. Any n and m, any number of query
 * heads to a kv head.
 *
 *     tilewright run attention_backward.tile.c:queries --arg g.q=randn:bf16[1,4,200,128] --arg g.k=randn:bf16[1,2,200,128] \
 *         --arg g.v=randn:bf16[1,2,200,128] --arg g.do_=randn:bf16[1,4,200,128] --arg g.l=zeros:f32[1,4,1,200] \
 *         --arg g.delta=zeros:f32[1,4,1,200] --arg g.dq=zeros:bf16[1,4,200,128]
 *
 * Eight warps keep 128 keys (or queries) with their gradients and go through the queries (keys) that see each other; of keys
 * the scores are transposed, a row a key, so that weights are left operands as they are. -D D=64, -D CAUSAL=1 (query i sees
 * keys up to i), -D QUERIES=64 and -D KEYS=128 (a step of `keys` and of `queries`). */
#include "tile.h"

#ifndef D
#define D 128
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif
#ifndef QUERIES
#define QUERIES 64
#endif
#ifndef KEYS
#define KEYS 128
#endif

enum { ROWS = 128 };
typedef rt_fl(16, D) sums;

struct rows { gl(bf16, -1, -1, -1, D) o, do_; gl(float, -1, -1, 1, -1) delta; };

tile_kernel(WARP_THREADS, 1) tile_grid(cdiv(g.o.rows, 16), g.o.depth, g.o.batch)
void prepare(struct rows g) {
    sums o, d;
    col_vec(sums) delta;
    load(&o, g.o, at(blockIdx.z, blockIdx.y, blockIdx.x, 0));
    load(&d, g.do_, at(blockIdx.z, blockIdx.y, blockIdx.x, 0));
    mul(&o, &o, &d);
    row_sum(&delta, &o);
    store(g.delta, &delta, at(blockIdx.z, blockIdx.y, 0, blockIdx.x));
}

struct key_globals {
    gl(bf16, -1, -1, -1, D) q, k, v, do_;
    gl(float, -1, -1, 1, -1) l, delta;
    gl(bf16, -1, -1, -1, D) dk, dv;
};

tile_kernel(256, 1) tile_grid(cdiv(g.k.rows, ROWS), g.k.depth, g.k.batch)
void keys(struct key_globals g) {
    int block = blockIdx.x, kv_head = blockIdx.y, batch = blockIdx.z, group = g.q.depth / g.k.depth;
    st_bf(ROWS, D) k, v;
    st_bf(QUERIES, D) q, grad;
    rt_fl(16, QUERIES) s, t; /* 16 rows a warp, 128 in all */
    rt_bf(16, QUERIES) weights;
    row_vec(rt_fl(16, QUERIES)) l, delta;
    sums dk, dv;
    float scale = 1 / sqrtf(D);

    group8_load(&k, g.k, at(batch, kv_head, block, 0));
    group8_load(&v, g.v, at(batch, kv_head, block, 0));
    warp_zero(&dk);
    warp_zero(&dv);
    int blocks = cdiv(g.q.rows, QUERIES), first = CAUSAL ? min(block * ROWS / QUERIES, blocks) : 0;
    int head = kv_head * group, i = first;
    for (int n = 0; n < group * (blocks - first); n++) { /* queries that are not there are 0, and so is what they give */
        group8_load(&q, g.q, at(batch, head, i, 0));
        group8_load(&grad, g.do_, at(batch, head, i, 0));
        group8_load(&l, g.l, at(batch, head, 0, i));
        group8_load(&delta, g.delta, at(batch, head, 0, i));
        group8_sync(1);

        group8_mm_ABt(&s, &k, &q);
        group8_mm_ABt(&t, &v, &grad);
        group8_mma_wait(0);
        warp_mul(&s, &s, 1.44269504f * scale);
        group8_sub_col(&s, &s, &l);
        warp_exp2(&s, &s);
        if (CAUSAL) group8_triu(&s, &s, block * ROWS - i * QUERIES, 0);
        warp_copy(&weights, &s);
        group8_mma_AB(&dv, &weights, &grad);

        group8_sub_col(&t, &t, &delta);
        warp_mul(&t, &t, &s);
        group8_mma_wait(0);
        warp_copy(&weights, &t);
        group8_mma_AB(&dk, &weights, &q);
        group8_mma_wait(0);
        group8_sync(1); /* the next queries overwrite these */
        bool last = ++i == blocks;
        head += last ? 1 : 0;
        i = last ? first : i;
    }
    warp_mul(&dk, &dk, scale);
    group8_store(g.dk, &dk, at(batch, kv_head, block, 0));
    group8_store(g.dv, &dv, at(batch, kv_head, block, 0));
}

struct query_globals {
    gl(bf16, -1, -1, -1, D) q, k, v, do_;
    gl(float, -1, -1, 1, -1) l, delta;
    gl(bf16, -1, -1, -1, D) dq;
};

tile_kernel(256, 1) tile_grid(cdiv(g.q.rows, ROWS), g.q.depth, g.q.batch)
void queries(struct query_globals g) {
    int block = blockIdx.x, head = blockIdx.y, batch = blockIdx.z, kv_head = head / (g.q.depth / g.k.depth);
    st_bf(ROWS, D) q, grad;
    st_bf(KEYS, D) k, v;
    rt_fl(16, KEYS) s, t;
    rt_bf(16, KEYS) weights;
    col_vec(sums) l, delta;
    sums dq;
    float scale = 1 / sqrtf(D);

    group8_load(&q, g.q, at(batch, head, block, 0));
    group8_load(&grad, g.do_, at(batch, head, block, 0));
    group8_load(&l, g.l, at(batch, head, 0, block));
    group8_load(&delta, g.delta, at(batch, head, 0, block));
    warp_zero(&dq);
    int end = CAUSAL ? min(g.k.rows, (block + 1) * ROWS) : g.k.rows;
    for (int j = 0; j < cdiv(end, KEYS); j++) {
        group8_load(&k, g.k, at(batch, kv_head, j, 0));
        group8_load(&v, g.v, at(batch, kv_head, j, 0));
        group8_sync(1);

        group8_mm_ABt(&s, &q, &k);
        group8_mm_ABt(&t, &grad, &v);
        group8_mma_wait(0);
        warp_right_fill(&s, &s, g.k.rows - j * KEYS, -INFINITY);
        if (CAUSAL) group8_tril(&s, &s, block * ROWS - j * KEYS, -INFINITY);
        warp_mul(&s, &s, 1.44269504f * scale);
        warp_sub_row(&s, &s, &l);
        warp_exp2(&s, &s);
        warp_sub_row(&t, &t, &delta);
        warp_mul(&t, &t, &s);
        warp_copy(&weights, &t);
        group8_mma_AB(&dq, &weights, &k);
        group8_mma_wait(0);
        group8_sync(1); /* the next keys overwrite these */
    }
    warp_mul(&dq, &dq, scale);
    group8_store(g.dq, &dq, at(batch, head, block, 0));
}
/* SPDX-License-Identifier: Apache-2.0 */
