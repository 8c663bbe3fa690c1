/* attention_backward.tile.c: gradients of attention.tile.c's o = softmax(q k^T / sqrt(D)) v. Two kernels: `prepare` gives
 * delta, the sum of o do over each row; `attention_backward` the gradients.
 *
 * q, o, do_ and dq are [batch, heads, n, D], k, v, dk and dv [batch, kv_heads, m, D]; l is what attention.tile.c wrote, the
 * logarithm (base 2) of each query's sum of weights, and it and delta are [batch, heads, 1, n]. dq is added to, so it begins
 * as zeros; gradients are float. Any n and m, any number of query heads to a kv head.
 *
 *     tilewright run attention_backward.tile.c:attention_backward --arg g.q=randn:bf16[1,4,200,128] .. --arg g.dv=zeros:f32[1,2,200,128]
 *
 * A warpgroup keeps 64 keys with their gradients and goes through the queries that see them: scores are transposed, a row
 * a key, so that weights are left operands as they are. -D D=64, -D CAUSAL=1 (query i sees keys up to i). */
#include "tile.h"

#ifndef D
#define D 128
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif

enum { QUERIES = 64, KEYS = 64 };
typedef rt_fl(16, QUERIES) scores; /* 16 keys a warp, 64 in all */
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

struct globals {
    gl(bf16, -1, -1, -1, D) q, k, v, do_;
    gl(float, -1, -1, 1, -1) l, delta;
    gl(float, -1, -1, -1, D) dq, dk, dv;
};

tile_kernel(WARPGROUP_THREADS, 1) tile_grid(cdiv(g.k.rows, KEYS), g.k.depth, g.k.batch)
void attention_backward(struct globals g) {
    int block = blockIdx.x, kv_head = blockIdx.y, batch = blockIdx.z, group = g.q.depth / g.k.depth;
    st_bf(KEYS, D) k, v;
    st_bf(QUERIES, D) q, grad;
    st_bf(KEYS, QUERIES) steps;
    scores s, t;
    rt_bf(16, QUERIES) weights;
    row_vec(scores) l, delta;
    sums dk, dv, dq;
    float scale = 1 / sqrtf(D);

    warpgroup_load(&k, g.k, at(batch, kv_head, block, 0));
    warpgroup_load(&v, g.v, at(batch, kv_head, block, 0));
    warp_zero(&dk);
    warp_zero(&dv);
    int first = CAUSAL ? block * KEYS / QUERIES : 0, blocks = cdiv(g.q.rows, QUERIES);
    for (int h = 0; h < group; h++) {
        int head = kv_head * group + h;
        for (int i = first; i < blocks; i++) {
            warpgroup_load(&q, g.q, at(batch, head, i, 0));
            warpgroup_load(&grad, g.do_, at(batch, head, i, 0));
            warpgroup_load(&l, g.l, at(batch, head, 0, i));
            warpgroup_load(&delta, g.delta, at(batch, head, 0, i));
            warpgroup_sync(1);

            warpgroup_mm_ABt(&s, &k, &q);
            warpgroup_mm_ABt(&t, &v, &grad);
            warpgroup_mma_wait(0);
            warp_mul(&s, &s, 1.44269504f * scale);
            warpgroup_sub_col(&s, &s, &l);
            warp_exp2(&s, &s);
            if (CAUSAL) warpgroup_triu(&s, &s, block * KEYS - i * QUERIES, 0); /* keys up to the query */
            warpgroup_right_fill(&s, &s, g.q.rows - i * QUERIES, 0);
            warp_copy(&weights, &s);
            warpgroup_mma_AB(&dv, &weights, &grad);

            warpgroup_sub_col(&t, &t, &delta);
            warp_mul(&t, &t, &s);
            warp_mul(&t, &t, scale);
            warpgroup_mma_wait(0);
            warp_copy(&weights, &t);
            warpgroup_store(&steps, &weights);
            warpgroup_mma_AB(&dk, &weights, &q);
            warpgroup_sync(1);
            warpgroup_mm_AtB(&dq, &steps, &k);
            warpgroup_mma_wait(0);
            warpgroup_store_add(g.dq, &dq, at(batch, head, i, 0));
            warpgroup_sync(1); /* the next queries overwrite these */
        }
    }
    warpgroup_store(g.dk, &dk, at(batch, kv_head, block, 0));
    warpgroup_store(g.dv, &dv, at(batch, kv_head, block, 0));
}
