/* SPDX-License-Identifier: Apache-2.0 */
/* tile_layout.h: where the elements of a tile live. In layout form every tile value has a Layout.
 *
 * In registers: a linear map over F2 sends hardware bits to the bits of a tile index: L(a ^ b) = L(a) ^ L(b), so the
 * images of single bits (its bases) are the whole of it. Inputs, minor first: register, lane, warp, block. The tile
 * index is one number, the last dimension in its lowest bits. The direction is hardware to tile, because one element
 * may live in many places (replication: a zero basis) but one place holds one element.
 *
 *     4x4 tile, register (0,1), lane (0,2) (1,0), warp (2,0):
 *     basis[LL_REGISTER] = {1}, basis[LL_LANE] = {2, 4}, basis[LL_WARP] = {8}
 *     L(register 1, lane 3, warp 1) = (3,3)
 *
 * Extents that are no power of two are padded up to one; what lies in the padding is undefined.
 *
 * In shared memory: a matrix in swizzled panels (SharedTile). A ring's slots hold one such matrix a field.
 *
 * The text form (docs/ir.md) names each layout once, at the kernel's top, and says behind the name of each value which
 * one it has: `%x#r0 = add %a, %b`. What follows from the type is not written. */
#ifndef IR_TILE_LAYOUT_H
#define IR_TILE_LAYOUT_H
#include "ir/ir.h"

typedef enum LayoutInput { LL_REGISTER, LL_LANE, LL_WARP, LL_BLOCK, LL_INPUTS, LL_OFFSET = LL_REGISTER } LayoutInput;
enum { LL_MAX_BITS = 24 };

/* A layout of shared memory (linear_layout.h) has one input, the element offset, kept in the place of the registers. */
typedef struct LinearLayout {
    int rank;
    uint8_t log2[MAX_RANK];   /* bits of each dimension of the tile */
    uint8_t count[LL_INPUTS]; /* bits of each input */
    uint32_t basis[LL_INPUTS][LL_MAX_BITS];
} LinearLayout;

/* A place: one number an input. */
typedef struct LayoutPlace {
    uint32_t at[LL_INPUTS];
} LayoutPlace;

/* Shared memory is served by so many banks of so many bytes each, once a wavefront. */
typedef struct Banks {
    int count, bytes;
} Banks;

/* A matrix in shared memory: panels of `width` bytes a row, one panel after the other, 16-byte chunks swizzled over the
 * width. Element (r, c) of the stored matrix lies at
 *     swizzle((c / per) * panel + r * width + (c % per) * elem_bytes),    per = width / elem_bytes */
enum {
    WIDEST_PANEL = 128, /* and halves and quarters of it. That is what `width` means in a text, on every machine */
    PLAIN_PANEL = 16,   /* of one chunk, which stays where it is: no swizzle */
    PATTERN_ROWS = 8    /* after so many rows the swizzle repeats */
};
typedef struct SharedTile {
    int64_t rows, columns;           /* of the stored matrix: all leading extents together, the last extent */
    int64_t rows_held, columns_held; /* that have room: rounded up for the instruction that reads them */
    int elem_bytes, width;           /* width: WIDEST_PANEL, a half, a quarter; PLAIN_PANEL */
    int64_t panel, bytes;            /* of one panel, of all */
    int64_t zero_rows, zero_columns; /* the instruction reads so many along K: what lies beyond the tile must be 0 */
    bool turned;                     /* the value is the transpose of what is stored */
} SharedTile;

typedef enum LayoutHome { HOME_REGISTERS, HOME_SHARED, HOME_SLOTS } LayoutHome;
typedef struct Layout {
    LayoutHome home;
    LinearLayout map;         /* REGISTERS */
    int registers;            /* a thread's, those wholly in the padding left out */
    SharedTile tile;          /* SHARED */
    const SharedTile *fields; /* SLOTS: of a ring, one a field */
} Layout;

/* --- linear maps: what every user of one asks; the algebra is analysis/linear_layout.h --- */
int ll_log2(int64_t extent); /* bits that hold 0 .. extent-1 */
LinearLayout ll_empty(int rank, const int64_t *extent);
void ll_push(LinearLayout *layout, LayoutInput input, uint32_t basis);
/* Bit position of a dimension in the tile index, and the mask of its bits. */
int ll_shift(const LinearLayout *layout, int dim);
uint32_t ll_mask(const LinearLayout *layout, int dim);
int ll_index_bits(const LinearLayout *layout);
uint32_t ll_apply(const LinearLayout *layout, LayoutPlace place);
uint32_t ll_coord(const LinearLayout *layout, uint32_t index, int dim);
bool ll_equal(const LinearLayout *a, const LinearLayout *b);
/* Registers a thread needs when the tile has these extents: 1 + the last that holds an element under some lane, in
 * fours. */
int ll_registers(const LinearLayout *layout, const int64_t *extent);

/* --- tiles in shared memory --- */
/* Rows, columns and element of the matrix that a tile of this type is stored as; neither width nor room. */
SharedTile shared_tile_of(const Type *type, bool turned);
void shared_tile_room(SharedTile *tile, int64_t rows, int64_t columns);

/* --- layouts and types --- */
/* Registers of 32 bits that a thread holds of the tile; 0: it is none, or lies elsewhere. */
int64_t layout_words(const Kernel *k, Ref value);
/* A layout as it was read, or another type's: with what follows from this type filled in. */
const Layout *layout_for(const Layout *layout, const Type *type, Arena *arena);
/* What is wrong with it for a tile of this type; NULL: nothing. All that the emitters take for granted of one value:
 * each bit of the index is moved by one bit of one input, no register repeats, all elements have room. */
const char *layout_fault(const Layout *layout, const Type *type, Arena *arena);

/* --- text --- */
/* `regs<128x64, reg (0,1) (0,2), lane (0,4) .., warp (2,0)>`, `shared<128x64, width=128>` */
char *layout_text(const Layout *layout, const Type *type, Arena *arena);
/* Reads one from `*at` and goes behind it; false with the reason. Its type fills in the rest (layout_for). */
bool layout_read(const char **at, Layout *layout, const char **why);
#endif
