/* fft.tile.h: what the FFT convolutions with and without the template share: the arrays, the factors in shared memory, and
 * the way there and back of one tile of 64 x R numbers, by a warpgroup. See fftconv.tile.c.
 *
 * A transform of N = R R numbers is a product with the R x R matrix F, F[k, n] = exp(-2 pi i k n / R), from the left, one
 * with the twiddles tw[k, n] = exp(-2 pi i k n / N), number by number, and one with F from the right. The inverse is the
 * same with conjugates of all, over N. */
#include "tile.h"

#ifndef N
#define N 4096
#endif
#if N == 4096
enum { R = 64 };
#define RIGHT left
#elif N == 1024
enum { R = 32 }; /* two channels above each other in a tile */
#define RIGHT right
#else
#error "N is 1024 or 4096"
#endif

typedef st_bf(64, R) real_tile;
typedef cst_bf(64, R) complex_tile;
typedef crt_fl(16, R) sums; /* 16 rows a warp, 64 in all */
typedef crt_bf(16, R) spectrum;
typedef struct {
    complex_tile kf, tw;
    cst_bf(64, 64) left; /* F; of two channels twice, on the diagonal */
#if N == 1024
    cst_bf(R, R) right;
#endif
} factors;

struct globals {
    gl(bf16, -1, 1, -1, R, real_tile) x;
    cgl(gl(bf16, 1, 1, -1, R)) kf;
    cgl(gl(bf16, 1, 1, 64, 64)) f;
    cgl(gl(bf16, 1, 1, 64, R)) tw;
    gl(bf16, -1, 1, -1, R, real_tile) o;
};

/* z = a F, or a conj(F); minus: what of it enters with its sign changed, of a the imaginary part, else the real one */
static void transform(sums *z, spectrum *a, rt_bf(16, R) *minus, factors *s, int inverse) {
    warpgroup_mm_AB(&z->real, &a->real, &s->RIGHT.real);
    warpgroup_mma_AB(&z->real, inverse ? &a->imag : minus, &s->RIGHT.imag);
    warpgroup_mm_AB(&z->imag, &a->imag, &s->RIGHT.real);
    warpgroup_mma_AB(&z->imag, inverse ? minus : &a->real, &s->RIGHT.imag);
    warpgroup_mma_wait(0);
}

/* z = the convolution of the tile's sequences, in z.real; tmp is the warpgroup's own */
static void convolve(sums *z, factors *s, real_tile *x, complex_tile *tmp) {
    spectrum a;
    rt_bf(16, R) minus;
    rt_fl(16, R) part;
    sums b;
    warpgroup_mm_AB(&z->real, &s->left.real, x);
    warpgroup_mm_AB(&z->imag, &s->left.imag, x);
    warpgroup_mma_wait(0);
    warpgroup_load(&b, &s->tw);
    warp_mul(z, z, &b);
    warp_copy(&a, z);
    warp_neg(&part, &z->imag);
    warp_copy(&minus, &part);
    transform(z, &a, &minus, s, 0);

    warpgroup_load(&b, &s->kf);
    warp_mul(z, z, &b);
    warp_copy(&a, z);
    warp_neg(&part, &z->real);
    warp_copy(&minus, &part);
    transform(z, &a, &minus, s, 1);

    warpgroup_load(&b, &s->tw); /* z conj(tw) */
    warp_mul(&part, &z->imag, &b.real);
    warp_mul(&z->imag, &z->imag, &b.imag);
    warp_fma(&z->imag, &z->real, &b.real, &z->imag);
    warpgroup_store(&tmp->real, &z->imag);
    warp_mul(&z->real, &z->real, &b.imag);
    warp_sub(&part, &part, &z->real);
    warpgroup_store(&tmp->imag, &part);
    warpgroup_sync(warpgroup_groupid() + 4);
    warpgroup_mm_AB(&z->real, &s->left.real, &tmp->real); /* Re(conj(F) tmp) */
    warpgroup_mma_AB(&z->real, &s->left.imag, &tmp->imag);
    warpgroup_mma_wait(0);
    warp_mul(&z->real, &z->real, 1.0f / N);
}
/* SPDX-License-Identifier: Apache-2.0 */
