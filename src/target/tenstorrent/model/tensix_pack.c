/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_pack.c: the packer: DST into pages of a reserved window.
 *
 * On the way: what a reduction left undefined is masked to zero (until reduce_uninit), ReLU,
 * rounding to the CB's format, and, with L1 accumulation, the sum with what the page holds. */
#include "base/numeric.h"
#include "target/tenstorrent/model/tensix_time.h"

#include <string.h>

static bool masked_out(const Compute *c, uint32_t index) {
    if (!c->masked) return false;
    uint32_t face = index / 256, row = face / 2 * 16 + index % 256 / 16;
    uint32_t column = face % 2 * 16 + index % 16;
    return (c->mask_dim != TT_REDUCE_ROW && row) || (c->mask_dim != TT_REDUCE_COL && column);
}

static uint32_t relu(const Compute *c, uint32_t bits) {
    float x = f32_from_bits(bits), t = f32_from_bits(c->relu_threshold << 16);
    switch (c->relu) {
    case TT_RELU_ZERO: return x > 0 ? bits : 0;
    case TT_RELU_MIN: return x > t ? bits : 0;
    case TT_RELU_MAX: return x > t ? f32_bits(t) : x > 0 ? bits : 0;
    default: return bits;
    }
}

/* A 16-bit DST is packed without NaN, subnormals and minus zero. */
static uint32_t clean(uint32_t bits) {
    if ((bits & 0x7fffffff) > 0x7f800000) return bits & 0xff800000u;
    return (bits & 0x7f800000u) == 0 ? 0 : bits;
}

void pack_page(TtKernel *self, const uint32_t dst[TILE], uint32_t cb, uint8_t *page) {
    Compute *c = self->compute;
    TtFormat format = cb_find(self, "pack_tile", cb)->desc->format;
    uint32_t *bits = c->tile[0], *old = c->tile[1];
    bool integer = format_is_integer(format), fp32 = self->machine->program->dst_fp32;
    self->machine->report->tiles_packed++;
    if (self->machine->program->counts) {
        memset(page, 0, tensix_tile_bytes(format));
        return;
    }
    for (uint32_t i = 0; i < TILE; i++) {
        uint32_t x = masked_out(c, i) ? 0 : dst[i];
        if (!integer) {
            if (!fp32) x = clean(x);
            x = relu(c, x);
        } else if (!fp32) {
            x >>= 16; /* a 16-bit DST holds UInt16 in its 16 bits */
        }
        bits[i] = x;
    }
    if (!c->l1_acc) {
        format_encode(format, bits, page);
        return;
    }
    if (format != TT_Float32 && format != TT_Float16_b)
        machine_fault(self, "pack_tile: L1 accumulation is for Float32 and Float16_b (CB %u)", cb);
    if (cb_has_unwritten(page, tensix_tile_bytes(format)))
        machine_fault(self, "pack_tile: L1 accumulation onto a page of CB %u that nobody wrote", cb);
    format_decode(format, page, old);
    for (uint32_t i = 0; i < TILE; i++) {
        uint32_t x = format == TT_Float16_b ? format_bf16_away(bits[i]) : bits[i];
        uint32_t sum = f32_bits(f32_from_bits(old[i]) + f32_from_bits(x));
        bits[i] = format == TT_Float16_b ? format_bf16_even(sum) : sum;
    }
    format_encode(format, bits, page);
}

static void pack_tile(TtKernel *self, uint32_t dst, uint32_t cb, uint32_t page) {
    const char *call = "pack_tile";
    const uint32_t *bits = compute_packed_slot(self, call, dst);
    compute_check_format(self, call, TT_PACK, cb);
    if (page == TT_NEXT_PAGE) page = cb_find(self, call, cb)->packed++;
    pack_page(self, bits, cb, cb_back_page(self, call, cb, page, 1));
    time_pack(self, self->core->cbs[cb].desc->page_bytes);
    self->compute->tiles++;
}

static Compute *packer_of(TtKernel *self, const char *call) {
    if (!self->compute) machine_fault(self, "%s: only compute kernels may call this", call);
    return self->compute;
}

static void pack_l1_acc(TtKernel *self, uint32_t on) { packer_of(self, "pack_reconfig_l1_acc")->l1_acc = on; }

static void pack_relu(TtKernel *self, uint32_t mode, uint32_t threshold) {
    Compute *c = packer_of(self, "pack_relu_config");
    c->relu = mode;
    c->relu_threshold = threshold;
}

void pack_bind(TtModelApi *api) {
    api->pack_tile = pack_tile;
    api->pack_l1_acc = pack_l1_acc;
    api->pack_relu = pack_relu;
}
