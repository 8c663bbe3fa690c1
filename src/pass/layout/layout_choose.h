/* layout_choose.h: layouts that accesses and dots ask for (layout_choose.c), for the pass `layout`. */
#ifndef PASS_LAYOUT_LAYOUT_CHOOSE_H
#define PASS_LAYOUT_LAYOUT_CHOOSE_H
#include "pass/layout/layout.h"

/* 16-byte vectors along the contiguous dimension, then lanes, then warps, then registers. */
LinearLayout choose_blocked(const Type *type, int warps, int contiguous);
/* The accumulator of wgmma, m x n, over all warps: those left over hold the same once more. */
LinearLayout choose_wgmma(int64_t m, int64_t n, int along_m, int along_n, int warps);
LinearLayout choose_accumulator(const PassContext *cx, const Kernel *k, const Op *dot, int warps);
/* How a field of a ring is stored: by type and by the instructions that read it. */
SharedTile choose_field(const PassContext *cx, const Kernel *k, Ref ring, const char *field);
/* The dimension of the tile along which memory is contiguous; the last one, and a wish for it, when
 * nothing is known. */
int choose_contiguous(Facts *f, const Op *access, const Type *tile);
#endif
