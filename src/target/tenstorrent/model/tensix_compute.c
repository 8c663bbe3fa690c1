/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_compute.c: what a compute kernel asks of the FPU: DST and its hand-over, inits, operands.
 *
 * The three threads of the hardware (unpack, math, pack) run here as one, in program order. DST has
 * two halves (one section in full-sync mode): math acquires and commits them in turn, the packer
 * waits for and releases them. A slot that nobody wrote since acquire reads as zero for the FPU
 * (minus infinity for a maximum).
 *
 * Each op checks that it was initialised (inits share hidden state, so the last one must be this
 * op's), that its source registers are configured for the CB's format, and that its tiles are
 * inside the window waited for. */
#include "target/tenstorrent/model/tensix_time.h"

#include <string.h>

static Compute *compute_of(TtKernel *self, const char *call) {
    if (!self->compute) machine_fault(self, "%s: only compute kernels may call this", call);
    return self->compute;
}

static FpuMode mode_of(const TtKernel *self) {
    return (FpuMode){self->machine->program->dst_fp32, self->machine->program->fidelity};
}

/* ---- DST ---- */

static void tile_regs(TtKernel *self, uint32_t step) {
    static const char *const names[] = {"tile_regs_acquire", "tile_regs_commit", "tile_regs_wait", "tile_regs_release"};
    Compute *c = compute_of(self, names[step]);
    uint32_t sections = self->machine->program->dst_full_sync ? 1 : 2;
    uint32_t slots = tensix_dst_slots(self->machine->program->dst_fp32, sections == 1);
    uint32_t section = step < TT_WAIT ? c->math_section : c->pack_section;
    switch (step) {
    case TT_ACQUIRE:
        if (c->acquired) machine_fault(self, "tile_regs_acquire: DST is already acquired");
        if (c->committed == sections)
            machine_fault(self, "tile_regs_acquire: would wait for ever, all of DST is committed and the "
                                "packer has released nothing");
        c->acquired = true;
        memset(&c->written[c->math_section * slots], 0, slots * sizeof c->written[0]);
        break;
    case TT_COMMIT:
        if (!c->acquired) machine_fault(self, "tile_regs_commit without tile_regs_acquire");
        c->acquired = false;
        c->committed++;
        c->math_section = (c->math_section + 1) % sections;
        break;
    case TT_WAIT:
        if (c->waited) machine_fault(self, "tile_regs_wait: the packer already has DST");
        if (!c->committed)
            machine_fault(self, "tile_regs_wait: would wait for ever, nothing is committed "
                                "(tile_regs_commit)");
        c->waited = true;
        break;
    case TT_RELEASE:
        if (!c->waited) machine_fault(self, "tile_regs_release without tile_regs_wait");
        c->waited = false;
        c->committed--;
        c->pack_section = (c->pack_section + 1) % sections;
        break;
    }
    time_dst(self, step, section);
}

static uint32_t slot_index(TtKernel *self, const char *call, uint32_t section, uint32_t slot) {
    const TensixProgram *p = self->machine->program;
    uint32_t slots = tensix_dst_slots(p->dst_fp32, p->dst_full_sync);
    if (slot >= slots)
        machine_fault(self, "%s: DST slot %u; there are %u (%s, %s-sync)", call, slot, slots,
                      p->dst_fp32 ? "32-bit" : "16-bit", p->dst_full_sync ? "full" : "half");
    return section * slots + slot;
}

uint32_t *compute_slot(TtKernel *self, const char *call, uint32_t slot, bool *fresh) {
    Compute *c = compute_of(self, call);
    if (!c->acquired) machine_fault(self, "%s: DST is not acquired (tile_regs_acquire)", call);
    uint32_t index = slot_index(self, call, c->math_section, slot);
    *fresh = !c->written[index];
    if (*fresh) memset(c->dst[index], 0, sizeof c->dst[index]);
    c->written[index] = true;
    c->reduced[index] = false;
    if (slot >= c->most_slots) c->most_slots = slot + 1;
    return c->dst[index];
}

bool *compute_reduced(TtKernel *self, const char *call, uint32_t slot) {
    return &self->compute->reduced[slot_index(self, call, self->compute->math_section, slot)];
}

const uint32_t *compute_packed_slot(TtKernel *self, const char *call, uint32_t slot) {
    Compute *c = compute_of(self, call);
    if (!c->waited)
        machine_fault(self, "%s: the packer does not have DST (%s)", call,
                      c->committed ? "tile_regs_wait is missing" : "tile_regs_commit and tile_regs_wait come first");
    uint32_t index = slot_index(self, call, c->pack_section, slot);
    if (!c->written[index]) machine_fault(self, "%s: nobody wrote DST slot %u since tile_regs_acquire", call, slot);
    if (c->masked && !c->reduced[index])
        machine_fault(self, "%s: the packer is masked for a reduction, and slot %u holds none; call reduce_uninit",
                      call, slot);
    return c->dst[index];
}

/* ---- configuration ---- */

static void configure(TtKernel *self, uint32_t which, uint32_t cb) {
    Compute *c = compute_of(self, "reconfig_data_format");
    const TensixCb *desc = cb_find(self, "reconfig_data_format", cb)->desc;
    c->formats[which >> 1] = desc;
    time_setup(self);
}

static void init(TtKernel *self, const char *name, uint32_t code, uint32_t flag) {
    Compute *c = compute_of(self, name);
    c->init = code;
    c->init_flag = flag;
    c->init_name = name;
    time_setup(self);
}

static void init_args(TtKernel *self, uint32_t a, uint32_t b, uint32_t columns, uint32_t rows, uint32_t inner) {
    compute_of(self, "an init")->init_args = (InitArgs){a, b, columns, rows, inner};
}

void compute_check_init(TtKernel *self, const char *call, uint32_t code) {
    const Compute *c = compute_of(self, call);
    if (c->init != code)
        machine_fault(self, "%s: its init must be the last one before it; the last was %s", call,
                      c->init_name ? c->init_name : "none at all");
}

void compute_check_init_args(TtKernel *self, const char *call, InitArgs args) {
    const Compute *c = compute_of(self, call);
    const InitArgs *was = &c->init_args;
    if (was->a != args.a || was->b != args.b)
        machine_fault(self, "%s: CB %u%s; its init, %s, was for CB %u%s", call, args.a != was->a ? args.a : args.b,
                      args.a != was->a ? "" : " as second operand", c->init_name, args.a != was->a ? was->a : was->b,
                      args.a != was->a ? "" : " there");
    if (was->columns != args.columns || was->rows != args.rows || was->inner != args.inner)
        machine_fault(self, "%s: a block of %u columns, %u rows, %u inner; its init, %s, was for %u, %u, %u", call,
                      args.columns, args.rows, args.inner, c->init_name, was->columns, was->rows, was->inner);
}

static void reduce_mask(TtKernel *self, uint32_t on, uint32_t dim) {
    Compute *c = compute_of(self, "reduce_uninit");
    c->masked = on;
    c->mask_dim = dim;
}

void compute_check_format(TtKernel *self, const char *call, uint32_t which, uint32_t cb) {
    static const char *const names[] = {"SrcA", "SrcB", "the packer"};
    static const char *const fixes[] = {"reconfig_data_format_srca", "reconfig_data_format_srcb",
                                        "pack_reconfig_data_format"};
    const Compute *c = compute_of(self, call);
    const TensixCb *desc = cb_find(self, call, cb)->desc, *has = c->formats[which >> 1];
    if (!has) machine_fault(self, "%s: compute_kernel_hw_startup must come first", call);
    if (has->format != desc->format)
        machine_fault(self, "%s: CB %u has another data format than CB %u, for which %s is set; call %s", call, cb,
                      has->id, names[which >> 1], fixes[which >> 1]);
    if (which != TT_PACK && has->unpack_to_dest != desc->unpack_to_dest)
        machine_fault(self, "%s: CB %u %s, unlike CB %u, for which %s is set; call %s", call, cb,
                      desc->unpack_to_dest ? "is unpacked to DST" : "goes to a source register", has->id,
                      names[which >> 1], fixes[which >> 1]);
    if (desc->page_bytes != tensix_tile_bytes(desc->format))
        machine_fault(self, "%s: CB %u has pages of %u bytes, a tile of its format has %u", call, cb, desc->page_bytes,
                      tensix_tile_bytes(desc->format));
}

/* ---- operands ---- */

/* Fp32 is cut to the 19 bits of a source register, or to bf16 before a 16-bit DST. */
static uint32_t source_mask(const TtKernel *self) {
    return self->machine->program->dst_fp32 ? 0xffffe000u : 0xffff0000u;
}

const uint32_t *compute_unpack(TtKernel *self, const char *call, uint32_t which, uint32_t cb, uint32_t tile) {
    Compute *c = compute_of(self, call);
    compute_check_format(self, call, which, cb);
    const TensixCb *desc = cb_find(self, call, cb)->desc;
    uint32_t *bits = c->tile[which >> 1];
    const uint8_t *page = cb_front_page(self, call, cb, tile, 1);
    if (format_is_integer(desc->format)) machine_fault(self, "%s: the FPU does not take integers (CB %u)", call, cb);
    if (self->machine->program->counts) return bits;
    format_decode(desc->format, page, bits);
    uint32_t mask = source_mask(self);
    for (int i = 0; i < TILE; i++) bits[i] &= mask;
    return bits;
}

/* A 32-bit DST has no NaN and no subnormals from the FPU's moves. */
static uint32_t move_bits(uint32_t bits, bool fp32) {
    if (!fp32) return bits;
    if ((bits >> 23 & 255) == 0) return 0;
    if ((bits >> 23 & 255) == 255) return bits & 0xff800000u;
    return bits;
}

void compute_enter_dst(const TtKernel *self, uint32_t bits[TILE]) {
    for (int i = 0; i < TILE; i++) bits[i] = move_bits(bits[i] & source_mask(self), self->machine->program->dst_fp32);
}

/* A tile on its way to DST: through a source register, or straight for CBs with unpack_to_dest, which the unpacker of
 * SrcA does. */
static const uint32_t *unpack_for_move(TtKernel *self, const char *call, uint32_t which, uint32_t cb, uint32_t tile) {
    const TensixCb *desc = cb_find(self, call, cb)->desc;
    Compute *c = compute_of(self, call);
    uint32_t *bits = c->tile[which >> 1];
    bool fp32 = self->machine->program->dst_fp32;
    if (desc->unpack_to_dest) {
        if (!fp32) machine_fault(self, "%s: CB %u unpacks to DST, which needs a 32-bit DST", call, cb);
        compute_check_format(self, call, TT_SRCA, cb);
        const uint8_t *page = cb_front_page(self, call, cb, tile, 1);
        if (!self->machine->program->counts) format_decode(desc->format, page, bits);
        return bits;
    }
    compute_unpack(self, call, which, cb, tile);
    if (!self->machine->program->counts) compute_enter_dst(self, bits);
    return bits;
}

static uint32_t page_bytes(const TtKernel *self, uint32_t cb) { return self->core->cbs[cb].desc->page_bytes; }
/* Of two tiles that two unpackers bring at once. */
static uint32_t later_bytes(const TtKernel *self, uint32_t a, uint32_t b) {
    return page_bytes(self, a) > page_bytes(self, b) ? page_bytes(self, a) : page_bytes(self, b);
}

static void copy_tile(TtKernel *self, uint32_t cb, uint32_t tile, uint32_t dst) {
    const char *call = "copy_tile";
    bool fresh;
    compute_check_init(self, call, TT_INIT(TT_FAMILY_COPY, 0, 0, 0));
    compute_check_init_args(self, call, (InitArgs){cb, TT_NO_CB, 1, 1, 1});
    uint32_t *out = compute_slot(self, call, dst, &fresh);
    const uint32_t *in = unpack_for_move(self, call, TT_SRCA, cb, tile);
    time_move(self, page_bytes(self, cb));
    if (!self->machine->program->counts) memcpy(out, in, TILE * sizeof *out);
}

static void transpose(TtKernel *self, uint32_t cb, uint32_t tile, uint32_t dst) {
    const char *call = "transpose_tile";
    bool fresh;
    compute_check_init(self, call, TT_INIT(TT_FAMILY_TRANSPOSE, 0, 0, 0));
    compute_check_init_args(self, call, (InitArgs){cb, TT_NO_CB, 1, 1, 1});
    uint32_t *out = compute_slot(self, call, dst, &fresh);
    const uint32_t *in = unpack_for_move(self, call, TT_SRCA, cb, tile);
    time_move(self, page_bytes(self, cb));
    for (uint32_t r = 0; r < 32 && !self->machine->program->counts; r++)
        for (uint32_t c = 0; c < 32; c++) out[format_index(r, c)] = in[format_index(c, r)];
}

/* Which element of a tile stands at (r, c) when one row, column or value of it is broadcast. */
static uint32_t bcast_index(uint32_t bcast, uint32_t r, uint32_t c, uint32_t row) {
    switch (bcast) {
    case TT_BCAST_ROW: return format_index(row, c);
    case TT_BCAST_COL: return format_index(r, 0);
    case TT_BCAST_SCALAR: return 0;
    default: return format_index(r, c);
    }
}

static void spread(uint32_t out[TILE], const uint32_t in[TILE], uint32_t bcast, uint32_t row) {
    for (uint32_t r = 0; r < 32; r++)
        for (uint32_t c = 0; c < 32; c++) out[format_index(r, c)] = in[bcast_index(bcast, r, c, row)];
}

static void unary_bcast(TtKernel *self, uint32_t bcast, uint32_t cb, uint32_t tile, uint32_t dst) {
    const char *call = "unary_bcast";
    bool fresh;
    compute_check_init(self, call, TT_INIT(TT_FAMILY_UNARY_BCAST, 0, 0, bcast));
    compute_check_init_args(self, call, (InitArgs){cb, TT_NO_CB, 1, 1, 1});
    uint32_t *out = compute_slot(self, call, dst, &fresh);
    const uint32_t *in = unpack_for_move(self, call, TT_SRCB, cb, tile);
    time_move(self, page_bytes(self, cb));
    if (!self->machine->program->counts) spread(out, in, bcast, 0);
}

/* ---- the FPU ---- */

static void binary(TtKernel *self, const char *name, uint32_t op, uint32_t bcast, uint32_t a, uint32_t b,
                   uint32_t tile_a, uint32_t tile_b, uint32_t dst, uint32_t bcast_row) {
    Compute *c = compute_of(self, name);
    bool fresh;
    compute_check_init(self, name, TT_INIT(TT_FAMILY_BINARY, op, bcast, TT_REUSE_NONE));
    compute_check_init_args(self, name, (InitArgs){a, b, 1, 1, 1});
    if (bcast_row >= 32) machine_fault(self, "%s: row %u of a tile of 32", name, bcast_row);
    uint32_t *out = compute_slot(self, name, dst, &fresh);
    fpu_load(&c->a, compute_unpack(self, name, TT_SRCA, a, tile_a));
    const uint32_t *second = compute_unpack(self, name, TT_SRCB, b, tile_b);
    time_binary(self, later_bytes(self, a, b), op == TT_MUL);
    if (self->machine->program->counts) return;
    if (bcast) {
        spread(c->tile[0], second, bcast, bcast_row);
        second = c->tile[0];
    }
    fpu_load(&c->b, second);
    if (op == TT_MUL)
        fpu_mul(out, &c->a, &c->b, mode_of(self));
    else
        fpu_add(out, &c->a, &c->b, op == TT_SUB, c->init_flag, mode_of(self));
}

/* DST, cut to bf16, replaces one source; the result replaces DST. */
static void binary_reuse(TtKernel *self, const char *name, uint32_t op, uint32_t reuse, uint32_t cb, uint32_t tile,
                         uint32_t dst) {
    Compute *c = compute_of(self, name);
    bool fresh;
    compute_check_init(self, name, TT_INIT(TT_FAMILY_BINARY, op, TT_BCAST_NONE, reuse));
    compute_check_init_args(self, name, (InitArgs){cb, TT_NO_CB, 1, 1, 1});
    uint32_t *out = compute_slot(self, name, dst, &fresh);
    if (fresh) machine_fault(self, "%s: nobody wrote DST slot %u since tile_regs_acquire", name, dst);
    bool first = reuse == TT_REUSE_SRCA;
    fpu_load(first ? &c->b : &c->a, compute_unpack(self, name, first ? TT_SRCB : TT_SRCA, cb, tile));
    time_binary(self, page_bytes(self, cb), op == TT_MUL);
    if (self->machine->program->counts) return;
    for (int i = 0; i < TILE; i++) out[i] &= 0xffff0000u;
    fpu_load(first ? &c->a : &c->b, out);
    memset(out, 0, TILE * sizeof *out);
    if (op == TT_MUL)
        fpu_mul(out, &c->a, &c->b, mode_of(self));
    else
        fpu_add(out, &c->a, &c->b, op == TT_SUB, false, mode_of(self));
}

static void load_right(TtKernel *self, const char *name, uint32_t cb, uint32_t tile) {
    Compute *c = self->compute;
    const uint32_t *bits = compute_unpack(self, name, TT_SRCA, cb, tile);
    if (self->machine->program->counts) return;
    if (c->init_flag) { /* transposed */
        uint32_t *turned = c->tile[1];
        for (uint32_t r = 0; r < 32; r++)
            for (uint32_t k = 0; k < 32; k++) turned[format_index(r, k)] = bits[format_index(k, r)];
        bits = turned;
    }
    fpu_load(&c->a, bits);
}

static void matmul(TtKernel *self, const char *name, uint32_t block, uint32_t a, uint32_t b, uint32_t tile_a,
                   uint32_t tile_b, uint32_t dst, uint32_t transpose, uint32_t columns, uint32_t rows,
                   uint32_t stride_a) {
    Compute *c = compute_of(self, name);
    bool fresh;
    compute_check_init(self, name, TT_INIT(TT_FAMILY_MATMUL, block, 0, 0));
    compute_check_init_args(self, name, (InitArgs){a, b, columns, rows, stride_a});
    if (block && transpose != c->init_flag)
        machine_fault(self, "%s: transpose is %u; its init, %s, said %u", name, transpose, c->init_name, c->init_flag);
    /* Both unpackers work at once; each tile of a block is unpacked once. */
    uint32_t bytes_a = rows * page_bytes(self, a), bytes_b = columns * page_bytes(self, b);
    time_matmul(self, bytes_a > bytes_b ? bytes_a : bytes_b, rows * columns);
    for (uint32_t j = 0; j < columns; j++) {
        load_right(self, name, b, tile_b + j);
        for (uint32_t i = 0; i < rows; i++) {
            uint32_t *out = compute_slot(self, name, dst + i * columns + j, &fresh);
            const uint32_t *left = compute_unpack(self, name, TT_SRCB, a, tile_a + i * stride_a);
            self->machine->report->tiles_multiplied++;
            if (self->machine->program->counts) continue;
            fpu_load(&c->b, left);
            fpu_matmul(out, &c->a, &c->b, mode_of(self));
        }
    }
}

static void reduce(TtKernel *self, uint32_t pool, uint32_t dim, uint32_t cb, uint32_t scaler, uint32_t tile,
                   uint32_t scaler_tile, uint32_t dst) {
    const char *call = "reduce_tile";
    Compute *c = compute_of(self, call);
    bool fresh, swapped = dim == TT_REDUCE_ROW && pool != TT_POOL_MAX;
    compute_check_init(self, call, TT_INIT(TT_FAMILY_REDUCE, 0, pool, dim));
    compute_check_init_args(self, call, (InitArgs){cb, scaler, 1, 1, 1});
    uint32_t *out = compute_slot(self, call, dst, &fresh);
    *compute_reduced(self, call, dst) = true;
    const uint32_t *data = compute_unpack(self, call, swapped ? TT_SRCB : TT_SRCA, cb, tile);
    time_reduce(self, page_bytes(self, cb));
    const uint32_t *factor = compute_unpack(self, call, swapped ? TT_SRCA : TT_SRCB, scaler, scaler_tile);
    if (self->machine->program->counts) return;
    if (pool != TT_POOL_MAX) {
        fpu_load(&c->a, data);
        fpu_load(&c->b, factor);
        fpu_sum(out, &c->a, &c->b, dim, mode_of(self));
        return;
    }
    if (factor[0] != 0x3f800000u) machine_fault(self, "%s: the scaler of a maximum must be 1.0 (CB %u)", call, scaler);
    for (int i = 0; fresh && i < TILE; i++) out[i] = 0xff800000u;
    fpu_max(out, data, dim);
}

void compute_bind(TtModelApi *api) {
    api->configure = configure;
    api->init = init;
    api->init_args = init_args;
    api->reduce_mask = reduce_mask;
    api->tile_regs = tile_regs;
    api->copy_tile = copy_tile;
    api->transpose = transpose;
    api->unary_bcast = unary_bcast;
    api->binary = binary;
    api->binary_reuse = binary_reuse;
    api->matmul = matmul;
    api->reduce = reduce;
}
