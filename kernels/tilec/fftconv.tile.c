/* fftconv.tile.c: long convolution by Fourier transform: o = x * k along sequences of N numbers, circular, the filter given
 * as its spectrum. A warpgroup takes TILES tiles of a channel, one after the other; fft.tile.h has the transform.
 *
 *     x, o [batch, channels, R, R]    sequences of N = R R numbers
 *     kf [channels, 64, 64]           kf[c, k1, k2] is the spectrum at the frequency k1 + R k2
 *     f, finv, tw [64, 64]            exp(-2 pi i k n / R), its conjugate over R, exp(-2 pi i k n / N)
 *
 *     tilewright run fftconv.tile.c --arg g.x=randn:bf16[2,3,64,64] --arg g.kf.real=randn:bf16[3,64,64] .. \
 *         --arg g.f.real=.. --arg g.o=zeros:bf16[2,3,64,64]
 *
 * All bf16, complex arrays as two. -D N=1024 or 4096; any batch, any channels. Of 1024 R is 32, and four sequences share a
 * tile of 64 x 64: kf and tw stand there four times, f and finv twice, on the diagonal, with zeros beside. */
#include "fft.tile.h"

#ifndef TILES
#define TILES 4
#endif
#ifndef BLOCKS
#define BLOCKS 1 /* on a multiprocessor */
#endif

tile_kernel(WARPGROUP_THREADS, BLOCKS) tile_grid(cdiv(g.x.batch, TILES * PER_TILE), g.x.depth)
void fftconv(struct globals g) {
    int channel = blockIdx.y, first = blockIdx.x * TILES, end = min(first + TILES, cdiv(g.x.batch, PER_TILE));
    factors s;
    real_tile x;
    complex_tile tmp;
    sums z;
    warpgroup_load(&s.f, g.f, at(0, 0));
    warpgroup_load(&s.finv, g.finv, at(0, 0));
    warpgroup_load(&s.tw, g.tw, at(0, 0));
    warpgroup_load(&s.kf, g.kf, at(channel, 0, 0));
    for (int i = first; i < end; i++) {
        for (int p = 0; p < PER_TILE; p++) warpgroup_load(PART(&x, p), g.x, at(i * PER_TILE + p, channel, 0, 0));
        warpgroup_sync(4);
        convolve(&z, &s, &x, &tmp);
        warpgroup_sync(4);
        warpgroup_store(&x, &z.real);
        warpgroup_sync(4);
        for (int p = 0; p < PER_TILE; p++) warpgroup_store(g.o, PART(&x, p), at(i * PER_TILE + p, channel, 0, 0));
        warpgroup_sync(4);
    }
}
/* SPDX-License-Identifier: Apache-2.0 */
