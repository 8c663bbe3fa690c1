/* fft.tile.h: what the FFT convolutions with and without the template share: the arrays, the factors in shared memory, and
 * the way there and back of one tile of 64 x 64 numbers, by a warpgroup. See fftconv.tile.c.
 *
 * A transform of N = R R numbers is a product with the R x R matrix F, F[k, n] = exp(-2 pi i k n / R), from the left, one
 * with the twiddles tw[k, n] = exp(-2 pi i k n / N), number by number, and one with F from the right. */
#include "tile.h"

#ifndef N
#define N 4096
#endif
#if N == 4096
#define PART(tile, p) (tile)
enum { R = 64, PER_TILE = 1 };
#elif N == 1024
#define PART(tile, p) subtile(st_bf(R, R), tile, (p) / 2, (p) % 2)
enum { R = 32, PER_TILE = 4 }; /* four sequences share a tile */
#else
#error "N is 1024 or 4096"
#endif

typedef st_bf(64, 64) real_tile;
typedef cst_bf(64, 64) complex_tile;
typedef crt_fl(16, 64) sums; /* 16 rows a warp, 64 in all */
typedef crt_bf(16, 64) spectrum;
typedef struct { complex_tile kf, f, finv, tw; } factors;

struct globals {
    gl(bf16, -1, -1, R, R, real_tile) x;
    cgl(gl(bf16, 1, -1, 64, 64)) kf; /* of a whole tile */
    cgl(gl(bf16, 1, 1, 64, 64)) f, finv, tw;
    gl(bf16, -1, -1, R, R, real_tile) o;
};

/* z = the convolution of the tile's sequences, in z.real; tmp is the warpgroup's own */
static void convolve(sums *z, factors *s, real_tile *x, complex_tile *tmp) {
    spectrum a, b;
    warpgroup_mm_AB(&z->real, &s->f.real, x);
    warpgroup_mm_AB(&z->imag, &s->f.imag, x);
    warpgroup_mma_wait(0);
    warp_copy(&a, z);
    warpgroup_load(&b, &s->tw);
    warp_mul(&a, &a, &b);
    warpgroup_mm_AB(z, &a, &s->f);
    warpgroup_mma_wait(0);

    warp_copy(&a, z);
    warpgroup_load(&b, &s->kf);
    warp_mul(&a, &a, &b);

    warpgroup_mm_AB(z, &a, &s->finv);
    warpgroup_mma_wait(0);
    warp_copy(&a, z);
    warp_conj(&a, &a); /* a conj(tw) is conj(conj(a) tw) */
    warpgroup_load(&b, &s->tw);
    warp_mul(&a, &a, &b);
    warpgroup_store(tmp, &a); /* conj(x); of the last product only the real part: Re(F x) = Re F Re x + Im F Im conj(x) */
    warpgroup_sync(warpgroup_groupid() + 4);
    warpgroup_mm_AB(&z->real, &s->finv.real, &tmp->real);
    warpgroup_mma_AB(&z->real, &s->finv.imag, &tmp->imag);
    warpgroup_mma_wait(0);
}
/* SPDX-License-Identifier: Apache-2.0 */
