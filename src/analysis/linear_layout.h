/* SPDX-License-Identifier: Apache-2.0 */
/* linear_layout.h: the algebra of layouts; ir/tile_layout.h says what one is.
 *
 * Making them (blocked, the fragments of matrix instructions, swizzled shared memory), changing them as ops change
 * tiles, looking an element up, and what it takes to get from one to another. Plain values, no memory: everything here
 * is a few dozen xors. */
#ifndef ANALYSIS_LINEAR_LAYOUT_H
#define ANALYSIS_LINEAR_LAYOUT_H
#include "ir/tile_layout.h"

/* --- making --- */
/* Each thread has `size[d]` neighbours, a warp lanes[d] threads, a block warps[d] warps, each
 * walked in `order` (minor dimension first); repeats become registers, what is too many becomes
 * zero bases. */
LinearLayout ll_blocked(int rank, const int64_t *extent, const int *size, const int *lanes, const int *warps,
                        const int *order);
/* A part of a matrix, repeated over rows x columns (at least its own): by along_rows x along_columns of those warps
 * that hold it, then by registers, columns first. whole: each of these has its columns side by side, else every
 * along_columns-th part. */
LinearLayout ll_repeat(const LinearLayout *part, int64_t rows, int64_t columns, int along_rows, int along_columns,
                       bool whole);
/* Rows x columns in shared memory, rows of `pitch` bytes swizzled in 16-byte chunks (128, 64, 32 or
 * 0 = plain); wider tiles are split into panels of `pitch` bytes. Extents are padded to powers of
 * two. */
LinearLayout ll_shared(int64_t rows, int64_t columns, int elem_bytes, int swizzle);

/* --- asking --- */
int ll_rank(const LinearLayout *layout); /* number of independent bases */
bool ll_surjective(const LinearLayout *layout);
bool ll_injective(const LinearLayout *layout);
/* Input bits that do not change the element: the owner of an element has zeroes there. */
LayoutPlace ll_free(const LinearLayout *layout);
/* Registers, from 0 on, that lie side by side along the dimension: 1, 2, 4 .. of so many bytes together, at most. */
int ll_run(const LinearLayout *layout, int dim, int elem_bytes, int most_bytes);
char *ll_text(const LinearLayout *layout, Arena *arena);

/* --- changing --- */
LinearLayout ll_slice(const LinearLayout *layout, int dim);   /* drops the dimension: the result of a reduction */
LinearLayout ll_squeeze(const LinearLayout *layout, int dim); /* the same with an extent of 1 in its place */
LinearLayout ll_expand(const LinearLayout *layout, int dim);  /* a new dimension of extent 1 */
LinearLayout ll_permute(const LinearLayout *layout, const int64_t *dims);
LinearLayout ll_reshape(const LinearLayout *layout, int rank, const int64_t *extent); /* all powers of two */

/* A new last dimension of extent 2, its bit the first register. */
LinearLayout ll_join(const LinearLayout *layout);
/* The dimension 2^bits times as long, the new bits the last registers. */
LinearLayout ll_widen(const LinearLayout *layout, int dim, int bits);
/* Each place of the dimension becomes 2^bits neighbours, the new bits the first registers; 2^bits neighbours become one
 * place. */
LinearLayout ll_lengthen(const LinearLayout *layout, int dim, int bits);
LinearLayout ll_shorten(const LinearLayout *layout, int dim, int bits);
/* The aligned part with these extents (powers of two), where the bits that go are registers; false if they are not. */
bool ll_cut(const LinearLayout *layout, const int64_t *extent, LinearLayout *part);
/* Is there exactly one input bit that moves bit `bit` of the dimension, and does it move nothing else? Which? */
bool ll_find_bit(const LinearLayout *layout, int dim, int bit, LayoutInput *input, int *at);

/* --- inverse and composition --- */
/* The smallest place that holds the element; false if none does. */
bool ll_find(const LinearLayout *layout, uint32_t index, LayoutPlace *place);
/* A map from places to places, by its bases. */
typedef struct PlaceMap {
    uint8_t count[LL_INPUTS];
    LayoutPlace basis[LL_INPUTS][LL_MAX_BITS];
} PlaceMap;
/* C with `to`(C(x)) = `from`(x); where there is a choice, a bit stays in its place. False if `to` lacks an element. */
bool ll_invert_and_compose(const LinearLayout *from, const LinearLayout *to, PlaceMap *map);
LayoutPlace placemap_apply(const PlaceMap *map, LayoutPlace place);

/* --- conversions --- */
typedef enum ConvertKind { CONVERT_NONE, CONVERT_REGISTERS, CONVERT_SHUFFLE, CONVERT_SHARED } ConvertKind;
typedef struct ConvertPlan {
    ConvertKind kind;
    PlaceMap map; /* destination place -> source place */
    int shuffles; /* SHUFFLE: exchanges of 32 bits a thread */
} ConvertPlan;
/* Tiles of bytes whose lanes trade words: four bytes of a thread that all come from one lane, two words at a time.
 *
 *     destination registers r, r^1, r^far, r^far^1     come from one lane: a word on its way
 *                           r^2, ..                    from another one, `away` from it
 *
 * and of the registers that hold them there, half of the lanes ask for others, `choice` away. So lanes of which one
 * bit (`side`) is 0 give one of the two words first, the others the other one, and each lane takes from the one that
 * gives what it asks for: its own word r first, or (`late`) r^2. One shuffle a word, two selections of bytes for two.
 * Example: the sum of wgmma as its left operand. */
typedef struct LaneTrade {
    uint32_t near, far;  /* source registers by which the bytes of a word differ .. */
    uint32_t far_to;     /* .. and the destination register of `far` */
    uint32_t choice;     /* source registers */
    uint32_t away, side; /* source lanes */
    uint32_t late;       /* lanes: those with an odd number of these bits */
} LaneTrade;
/* Can the lanes of the plan trade? */
bool ll_plan_trade(const ConvertPlan *plan, LaneTrade *trade);
/* The cheapest way there is; many shuffles may take longer than a pass through shared memory. */
ConvertPlan ll_plan_convert(const LinearLayout *source, const LinearLayout *target, int elem_bytes);

/* Registers that one access can move: as many as lie side by side at the map's offsets. bits[i] is
 * the register bit that stands for offset bit i (NULL: not asked for). */
int ll_vector(const PlaceMap *map, int elem_bytes, int max_bytes, int *bits);
/* Wavefronts of the worst phase when the lanes of a warp access `vector` elements each at map's offsets; 1 is
 * free of conflicts. */
int ll_bank_conflicts(Banks banks, const PlaceMap *map, int elem_bytes, int vector);
/* A shared layout through which `source` becomes `target` with the fewest conflicts, in accesses of so many bytes at
 * most. */
LinearLayout ll_choose_swizzle(Banks banks, int most_bytes, const LinearLayout *source, const LinearLayout *target,
                               int elem_bytes);
/* The same for a tile that goes through in pieces, which the last bits of the offset tell apart: they are those by
 * which registers differ on both sides, as far as there are such. Else a piece has elements of some threads only. */
LinearLayout ll_choose_pieces(Banks banks, int most_bytes, const LinearLayout *source, const LinearLayout *target,
                              int elem_bytes);
#endif
