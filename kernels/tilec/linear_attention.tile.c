/* linear_attention.tile.c: causal linear attention with a decay of each head's own:
 *
 *     o[i] = sum over j <= i of exp(-slope (i - j)) (q[i] . k[j]) v[j]
 *
 * q, k, v and o are [batch, heads, n, D], slope [heads]; any n.
 *
 *     tilewright run linear_attention.tile.c --arg g.q=randn:bf16[1,2,100,64] --arg g.k=randn:bf16[1,2,100,64] \
 *         --arg g.v=randn:bf16[1,2,100,64] --arg g.slope=rand:f32[2] --arg g.o=zeros:bf16[1,2,100,64]
 *
 * A warp goes through a head in chunks of CHUNK positions: inside a chunk as attention without softmax, across chunks
 * through the state, the sum of k[j] v[j]^T so far, which the chunk finds decayed to its beginning. */
#include "tile.h"

#ifndef D
#define D 64
#endif
enum { CHUNK = 16 };

typedef rt_fl(CHUNK, CHUNK) scores;
typedef rt_fl(CHUNK, D) sums;

struct globals {
    gl(bf16, -1, -1, -1, D) q, k, v;
    gl(float, 1, 1, 1, -1) slope;
    gl(bf16, -1, -1, -1, D) o;
};

/* exp(-slope (first + step i)), one value a position of the chunk */
static void decay(col_vec(scores) *v, float slope, int first, int step) {
    indices(v);
    mul(v, v, -slope * step);
    add(v, v, -slope * first);
    exp(v, v);
}

tile_kernel(WARP_THREADS, 1) tile_grid(g.q.depth, g.q.batch)
void linear_attention(struct globals g) {
    int head = blockIdx.x, batch = blockIdx.y;
    rt_bf(CHUNK, D) q, k, v;
    rt_bf(CHUNK, CHUNK) weights;
    rt_bf(D, D) state_b;
    rt_fl(D, D) state;
    scores s, fade, rows;
    sums o, part;
    col_vec(scores) from_state, to_state;
    float slope;

    load(&slope, g.slope, at(head));
    decay(&from_state, slope, 1, 1);            /* the state is that of the position before the chunk */
    decay(&to_state, slope, CHUNK - 1, -1);     /* k[j] v[j]^T at the chunk's last position */
    row_indices(&rows);                         /* exp(-slope (i - j)) inside the chunk */
    col_indices(&fade);
    sub(&fade, &fade, &rows);
    mul(&fade, &fade, slope);
    tril(&fade, &fade, 0, -INFINITY);
    exp(&fade, &fade);
    zero(&state);

    for (int c = 0; c < cdiv(g.q.rows, CHUNK); c++) {
        load(&q, g.q, at(batch, head, c, 0));
        load(&k, g.k, at(batch, head, c, 0));
        load(&v, g.v, at(batch, head, c, 0));

        mm_ABt(&s, &q, &k);
        mul(&s, &s, &fade);
        copy(&weights, &s);
        copy(&state_b, &state);
        mm_AB(&part, &q, &state_b);
        mul_row(&o, &part, &from_state);
        mma_AB(&o, &weights, &v);
        store(g.o, &o, at(batch, head, c, 0));

        copy(&part, &k);
        mul_row(&part, &part, &to_state);
        copy(&k, &part);
        mul(&state, &state, expf(-slope * CHUNK));
        mma_AtB(&state, &k, &v);
    }
}
/* SPDX-License-Identifier: Apache-2.0 */
