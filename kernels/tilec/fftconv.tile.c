/* fftconv.tile.c: long convolution by Fourier transform: o = x * k along sequences of N numbers, circular, the filter given
 * as its spectrum. A warpgroup takes TILES tiles of a channel (of N = 1024, of two), one after the other; fft.tile.h has the
 * transform.
 *
 *     x, o [batch, 1, channels R, R]  sequences of N = R R numbers
 *     kf [channels R, R]              kf[c R + k1, k2] is the spectrum of channel c at the frequency k1 + R k2
 *     f [64, 64], tw [64, R]          exp(-2 pi i k n / R), exp(-2 pi i k n / N)
 *
 *     tilewright run fftconv.tile.c --arg g.x=randn:bf16[2,1,192,64] --arg g.kf.real=randn:bf16[192,64] .. \
 *         --arg g.f.real=.. --arg g.o=zeros:bf16[2,1,192,64]
 *
 * All bf16, complex arrays as two. -D N=1024 or 4096; any batch, any channels. Of 1024 R is 32: f stands twice on the diagonal,
 * with zeros beside, tw twice above each other. */
#include "fft.tile.h"

#ifndef TILES
#define TILES 4
#endif
#ifndef BLOCKS
#define BLOCKS 1 /* on a multiprocessor */
#endif

tile_kernel(WARPGROUP_THREADS, BLOCKS) tile_grid(cdiv(g.x.batch, TILES), cdiv(g.x.rows, 64))
void fftconv(struct globals g) {
    int channel = blockIdx.y, first = blockIdx.x * TILES, end = min(first + TILES, g.x.batch);
    factors s;
    real_tile x;
    complex_tile tmp;
    sums z;
    warpgroup_load(&s.left, g.f, at(0, 0));
#if N == 1024
    warpgroup_load(&s.right, g.f, at(0, 0));
#endif
    warpgroup_load(&s.tw, g.tw, at(0, 0));
    warpgroup_load(&s.kf, g.kf, at(channel, 0));
    for (int i = first; i < end; i++) {
        warpgroup_load(&x, g.x, at(i, 0, channel, 0));
        warpgroup_sync(4);
        convolve(&z, &s, &x, &tmp);
        warpgroup_sync(4);
        warpgroup_store(g.o, &z.real, at(i, 0, channel, 0));
    }
}
/* SPDX-License-Identifier: Apache-2.0 */
