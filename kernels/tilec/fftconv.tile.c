/* fftconv.tile.c: long convolution by Fourier transform: o = x * k along sequences of N numbers, circular, the filter given
 * as its spectrum. A warpgroup takes TILES tiles of a channel, one after the other; fft.tile.h has the transform.
 *
 *     x, o [batch, channels, R, R]    sequences of N = R R numbers
 *     kf [channels, R, R]             kf[c, k1, k2] is the spectrum at the frequency k1 + R k2
 *     f, finv, tw [R, R]              exp(-2 pi i k n / R), its conjugate over R, exp(-2 pi i k n / N)
 *
 *     tilewright run fftconv.tile.c --arg g.x=randn:bf16[2,3,64,64] --arg g.kf.real=randn:bf16[3,64,64] .. \
 *         --arg g.f.real=.. --arg g.o=zeros:bf16[2,3,64,64]
 *
 * All bf16, complex arrays as two. -D N=1024 (R 32; four sequences share a tile) or 4096; any batch, any channels. */
#include "fft.tile.h"

#ifndef TILES
#define TILES 4
#endif

tile_kernel(WARPGROUP_THREADS, 1) tile_grid(cdiv(g.x.batch, TILES * PER_TILE), g.x.depth)
void fftconv(struct globals g) {
    int channel = blockIdx.y;
    factors s;
    real_tile x;
    complex_tile tmp;
    sums z;
    if (PER_TILE > 1) {
        warpgroup_zero(&s.f);
        warpgroup_zero(&s.finv);
        warpgroup_sync(4);
    }
    for (int p = 0; p < PER_TILE; p += DIAGONAL) {
        warpgroup_load(PART(cst_bf, &s.f, p), g.f, at(0, 0));
        warpgroup_load(PART(cst_bf, &s.finv, p), g.finv, at(0, 0));
    }
    for (int p = 0; p < PER_TILE; p++) {
        warpgroup_load(PART(cst_bf, &s.tw, p), g.tw, at(0, 0));
        warpgroup_load(PART(cst_bf, &s.kf, p), g.kf, at(channel, 0, 0));
    }
    for (int i = 0; i < TILES; i++) {
        int first = (blockIdx.x * TILES + i) * PER_TILE;
        for (int p = 0; p < PER_TILE; p++) warpgroup_load(PART(st_bf, &x, p), g.x, at(first + p, channel, 0, 0));
        warpgroup_sync(4);
        convolve(&z, &s, &x, &tmp);
        warpgroup_sync(4);
        warpgroup_store(&x, &z.real);
        warpgroup_sync(4);
        for (int p = 0; p < PER_TILE; p++) warpgroup_store(g.o, PART(st_bf, &x, p), at(first + p, channel, 0, 0));
        warpgroup_sync(4);
    }
}
