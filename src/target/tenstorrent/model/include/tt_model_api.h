/* SPDX-License-Identifier: Apache-2.0 */
/* tt_model_api.h: what passes between a compiled kernel and the model of the Tensix grid.
 *
 * Plain C, seen by both sides. A kernel is compiled as a shared object of its own against the
 * headers beside this file (api/dataflow/..., api/compute/...: the names of TT-Metalium); they are
 * thin inline wrappers that call through one TtModelApi. The model hands the table to the kernel's
 * entry point:
 *
 *     extern "C" void ENTRY(const TtModelApi *api);          made by tt_kernel.h around kernel_main
 *
 * `self` is the kernel that runs now; the model changes it at every switch, so wrappers read it
 * anew in each call and never keep it. Addresses are the 32-bit L1 addresses of the API; NoC
 * addresses are 64 bits. Calls that can be wrong in several spellings take their own name first,
 * for the message. */
#ifndef TT_MODEL_API_H
#define TT_MODEL_API_H
#include <stdint.h>

typedef struct TtKernel TtKernel;

/* name, number of DataFormat, bytes of a 32x32 tile */
#define TT_FORMATS(X)     \
    X(Float32, 0, 4096)   \
    X(Float16_b, 5, 2048) \
    X(Bfp8_b, 6, 1088)    \
    X(Int32, 8, 4096)     \
    X(UInt16, 9, 2048)    \
    X(UInt32, 24, 4096)

typedef enum TtFormat {
#define X(name, number, bytes) TT_##name = number,
    TT_FORMATS(X)
#undef X
} TtFormat;

/* SFPU operations: name, DST slots read, parameters. The parameters are float bits. */
#define TT_SFPU_OPS(X)    \
    X(abs, 1, 0)          \
    X(negative, 1, 0)     \
    X(relu, 1, 0)         \
    X(relu_max, 1, 1)     \
    X(relu_min, 1, 1)     \
    X(leaky_relu, 1, 1)   \
    X(clamp, 1, 2)        \
    X(floor, 1, 0)        \
    X(ceil, 1, 0)         \
    X(trunc, 1, 0)        \
    X(sign, 1, 0)         \
    X(square, 1, 0)       \
    X(exp, 1, 0)          \
    X(exp_approx, 1, 0)   \
    X(exp2, 1, 0)         \
    X(log, 1, 0)          \
    X(sqrt, 1, 0)         \
    X(rsqrt, 1, 0)        \
    X(recip, 1, 0)        \
    X(recip_legacy, 1, 0) \
    X(sigmoid, 1, 0)      \
    X(silu, 1, 0)         \
    X(tanh, 1, 0)         \
    X(gelu, 1, 0)         \
    X(gelu_fast, 1, 0)    \
    X(erf, 1, 0)          \
    X(sin, 1, 0)          \
    X(cos, 1, 0)          \
    X(power, 1, 1)        \
    X(add_unary, 1, 1)    \
    X(sub_unary, 1, 1)    \
    X(mul_unary, 1, 1)    \
    X(div_unary, 1, 1)    \
    X(rsub_unary, 1, 1)   \
    X(unary_max, 1, 1)    \
    X(unary_min, 1, 1)    \
    X(gtz, 1, 0)          \
    X(ltz, 1, 0)          \
    X(gez, 1, 0)          \
    X(lez, 1, 0)          \
    X(eqz, 1, 0)          \
    X(nez, 1, 0)          \
    X(fill, 0, 1)         \
    X(typecast, 1, 2)     \
    X(add_binary, 2, 0)   \
    X(sub_binary, 2, 0)   \
    X(mul_binary, 2, 0)   \
    X(div_binary, 2, 0)   \
    X(rsub_binary, 2, 0)  \
    X(power_binary, 2, 0) \
    X(binary_max, 2, 0)   \
    X(binary_min, 2, 0)   \
    X(lt_binary, 2, 0)    \
    X(gt_binary, 2, 0)    \
    X(le_binary, 2, 0)    \
    X(ge_binary, 2, 0)    \
    X(eq_binary, 2, 0)    \
    X(ne_binary, 2, 0)    \
    X(where, 3, 0)

typedef enum TtSfpu {
#define X(name, inputs, parameters) TT_SFPU_##name,
    TT_SFPU_OPS(X)
#undef X
        TT_SFPU_COUNT
} TtSfpu;

enum { TT_ADD, TT_SUB, TT_MUL }; /* what the FPU does with two sources */
enum { TT_BCAST_NONE, TT_BCAST_COL, TT_BCAST_ROW, TT_BCAST_SCALAR };
enum { TT_REUSE_NONE, TT_REUSE_SRCA, TT_REUSE_SRCB }; /* which source DST replaces */
enum { TT_POOL_SUM, TT_POOL_AVG, TT_POOL_MAX };
enum { TT_REDUCE_ROW, TT_REDUCE_COL, TT_REDUCE_SCALAR };
enum { TT_ACQUIRE, TT_COMMIT, TT_WAIT, TT_RELEASE };
enum { TT_RELU_NONE, TT_RELU_ZERO, TT_RELU_MIN, TT_RELU_MAX };
enum { TT_SRCA = 1, TT_SRCB = 2, TT_PACK = 4 }; /* whose format is configured */
#define TT_NEXT_PAGE 0xffffffffu                /* pack to the next page of the window */
#define TT_NO_CB     0xffffffffu

/* What an init programs. An op is refused unless the last init was for the same thing: inits share
 * the hardware's micro-op and address state. */
#define TT_INIT(family, a, b, c) ((uint32_t)(family) << 24 | (a) << 16 | (b) << 8 | (c))
enum {
    TT_FAMILY_NONE,
    TT_FAMILY_COPY,
    TT_FAMILY_BINARY, /* operation, broadcast, reuse */
    TT_FAMILY_MATMUL, /* block? */
    TT_FAMILY_REDUCE, /* pool, dimension */
    TT_FAMILY_TRANSPOSE,
    TT_FAMILY_UNARY_BCAST, /* broadcast */
    TT_FAMILY_TILIZE,
    TT_FAMILY_UNTILIZE,
    TT_FAMILY_SFPU /* the operation, or the first of those that share an init */
};

typedef struct TtModelApi {
    TtKernel *self;
    uint32_t *turns, *line; /* of loops, until the next call of `turn`; the last one's place */
    uint32_t *call;         /* the line of the last call (tt_lines.h) */
    void (*turn)(TtKernel *);

    /* Arguments and place */
    uint32_t (*arg)(TtKernel *, uint32_t index, uint32_t common);
    uint32_t (*logical)(TtKernel *, uint32_t axis); /* 0 x, 1 y */

    /* Circular buffers */
    void (*cb_reserve_back)(TtKernel *, uint32_t cb, uint32_t pages);
    void (*cb_push_back)(TtKernel *, uint32_t cb, uint32_t pages);
    void (*cb_wait_front)(TtKernel *, uint32_t cb, uint32_t pages);
    void (*cb_pop_front)(TtKernel *, uint32_t cb, uint32_t pages);
    uint32_t (*cb_write_ptr)(TtKernel *, uint32_t cb);
    uint32_t (*cb_read_ptr)(TtKernel *, uint32_t cb);
    uint32_t (*cb_tile_size)(TtKernel *, uint32_t cb);
    uint32_t (*cb_format)(TtKernel *, uint32_t cb);
    uint32_t (*cb_word)(TtKernel *, uint32_t cb, uint32_t page, uint32_t word); /* of a page waited for */

    /* NoC */
    uint64_t (*page_address)(TtKernel *, uint32_t base, uint32_t page_bytes, uint32_t page,
                             uint32_t offset, uint32_t in_l1);
    uint64_t (*core_address)(TtKernel *, uint32_t x, uint32_t y, uint32_t l1);
    uint64_t (*own_address)(TtKernel *, uint32_t l1);
    uint64_t (*rect_address)(TtKernel *, uint32_t xs, uint32_t ys, uint32_t xe, uint32_t ye,
                             uint32_t l1);
    void (*noc_read)(TtKernel *, uint64_t from, uint32_t to, uint32_t bytes);
    void (*noc_write)(TtKernel *, uint32_t from, uint64_t to, uint32_t bytes);
    void (*noc_write_multicast)(TtKernel *, uint32_t from, uint64_t to, uint32_t bytes,
                                uint32_t receivers, uint32_t with_self);
    void (*noc_read_barrier)(TtKernel *);
    void (*noc_write_barrier)(TtKernel *);
    void (*noc_writes_flushed)(TtKernel *);
    void (*noc_atomic_barrier)(TtKernel *);
    uint32_t (*semaphore)(TtKernel *, uint32_t id);
    void (*semaphore_set)(TtKernel *, uint32_t l1, uint32_t value);
    void (*semaphore_wait)(TtKernel *, uint32_t l1, uint32_t value, uint32_t at_least);
    void (*semaphore_inc)(TtKernel *, uint64_t at, uint32_t by);

    /* Compute: configuration */
    void (*configure)(TtKernel *, uint32_t which,
                      uint32_t cb); /* formats, as reconfig_data_format */
    void (*init)(TtKernel *, const char *name, uint32_t code, uint32_t flag);
    /* Behind an init that takes arguments; its op must come with the same ones. */
    void (*init_args)(TtKernel *, uint32_t a, uint32_t b, uint32_t columns, uint32_t rows,
                      uint32_t inner);
    void (*reduce_mask)(TtKernel *, uint32_t on, uint32_t dim);
    void (*pack_l1_acc)(TtKernel *, uint32_t on);
    void (*pack_relu)(TtKernel *, uint32_t mode, uint32_t threshold);
    /* Compute: DST and the FPU */
    void (*tile_regs)(TtKernel *, uint32_t step);
    void (*copy_tile)(TtKernel *, uint32_t cb, uint32_t tile, uint32_t dst);
    void (*binary)(TtKernel *, const char *name, uint32_t op, uint32_t bcast, uint32_t a,
                   uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst, uint32_t bcast_row);
    void (*binary_reuse)(TtKernel *, const char *name, uint32_t op, uint32_t reuse, uint32_t cb,
                         uint32_t tile, uint32_t dst);
    void (*matmul)(TtKernel *, const char *name, uint32_t block, uint32_t a, uint32_t b,
                   uint32_t tile_a, uint32_t tile_b, uint32_t dst, uint32_t transpose,
                   uint32_t columns, uint32_t rows, uint32_t stride_a);
    void (*reduce)(TtKernel *, uint32_t pool, uint32_t dim, uint32_t cb, uint32_t scaler,
                   uint32_t tile, uint32_t scaler_tile, uint32_t dst);
    void (*transpose)(TtKernel *, uint32_t cb, uint32_t tile, uint32_t dst);
    void (*unary_bcast)(TtKernel *, uint32_t bcast, uint32_t cb, uint32_t tile, uint32_t dst);
    /* Compute: the SFPU, in place in DST */
    void (*sfpu)(TtKernel *, const char *name, uint32_t init, uint32_t op, const uint32_t *slots,
                 uint32_t out, uint32_t p0, uint32_t p1);
    /* Compute: results and layouts */
    void (*pack_tile)(TtKernel *, uint32_t dst, uint32_t cb, uint32_t page);
    void (*tilize_block)(TtKernel *, uint32_t cb, uint32_t tiles, uint32_t out);
    void (*untilize_block)(TtKernel *, uint32_t cb, uint32_t columns, uint32_t rows, uint32_t out);
    void (*untilize_dest)(TtKernel *, uint32_t columns, uint32_t out);
} TtModelApi;

#endif
