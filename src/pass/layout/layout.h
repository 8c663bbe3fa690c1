/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h: what the pass `layout` leaves behind, for SIMT emitters.
 *
 * After the pass every tile value has a Layout (ir/tile_layout.h): in registers (where each thread's elements are), or
 * in shared memory (the operand of a matrix instruction, a field of a ring). A `convert` changes the layout of a value
 * and nothing else. Values of rank 0 are uniform and have none.
 *
 *     %a#r0 = tload ..  : f16[128,64]    registers: 16-byte vectors along the contiguous dimension
 *     %s#s0 = convert %a                 shared: 128 rows of 128 bytes, swizzled
 *     %d#r1 = dot %s, %t, %c             registers: the accumulator of wgmma */
#ifndef PASS_LAYOUT_LAYOUT_H
#define PASS_LAYOUT_LAYOUT_H
#include "analysis/facts.h"
#include "pass/matrix.h"
#include "pass/pass.h"
#include "analysis/linear_layout.h"

/* Who runs a region: the threads over which layouts are spread. */
typedef struct ThreadGroup {
    int first_warp, warps;
} ThreadGroup;
/* Of a role, or (NULL) of a kernel without roles. */
ThreadGroup layout_group(const PassContext *cx, const Kernel *k, const Op *role);
/* Of the role in which the op stands. */
/* Of a worker that has a region of its own. */
ThreadGroup layout_group_of_worker(const PassContext *cx, const Op *spmd, int region);
ThreadGroup layout_group_of(const PassContext *cx, const Kernel *k, const Op *op);
/* All warps of a block. */
int layout_warps(const PassContext *cx, const Kernel *k);

/* Elements along its contiguous dimension that one access of a tload, tstore or tatomic moves, from
 * what is known of base, strides and offsets; asks for what is missing where the facts may wish. */
int layout_vector(const Machine *machine, Facts *f, const Op *access, const Type *tile, const LinearLayout *map);
/* The same of a store, if the kernel asks of each vector whether its address is a multiple (`tests`). */
int layout_vector_tested(const Machine *machine, Facts *f, const Op *access, const Type *tile, const LinearLayout *map);
/* The dimension of the tile along which memory is contiguous; -1: none is known to be. */
int layout_vector_dim(Facts *f, const Op *access, const TensorParts *parts, const Type *tile);
enum { LEAST_COPY = 4 }; /* bytes of an asynchronous copy of a thread, on every machine that has them */
/* Does the load take rows that lie side by side, but nowhere in particular? The elements in one of the words that are
 * shifted together (the prelude's tw_load_any); else 0. */
enum { LOOSE_WORD = 16 };
int layout_loose(const Machine *machine, Facts *f, const Op *load, const Type *tile, const Layout *layout);
/* Boxes that are loaded, changed and stored again (layout_own.c). Does the store write the box that the load of the
 * same region reads? Have two elements of the box two places in memory, known or wished for? */
bool layout_same_box(const Kernel *k, const Op *load, const Op *store);
bool layout_lies_once(Facts *f, const Op *access, const Type *box);
/* Wishes that of a store whose box is loaded before it in its region. */
void layout_wish_own(Facts *f, const Op *store);
/* Takes `held` away where values are not, or no longer, read in a way that allows it. */
void layout_hold_less(Kernel *k);
/* How an access to a box moves it, as the pass has written it to the op. */
typedef struct Access {
    int along;  /* dimension of the tile that vectors run along; -1: element by element, bounds and all */
    int vector; /* elements of one */
    bool whole; /* each is inside the tensor or outside, never both */
    bool tests; /* each is asked whether it is aligned */
} Access;
Access access_of(const Op *access);
/* Who brings what is put into a slot: the load that made it, if that leaves it to its put; else the threads. */
Word layout_put_mover(const Kernel *k, const Op *put);
/* The tensor of a load by TMA whose map the kernel makes (`made`); NULL: the launch has made it. */
Op *layout_made(const Kernel *k, const Op *load);
/* Does TMA fill all that is put into slots in the region, by maps of the launch? Of a kernel in ring form: will it, by
 * what layout decides? */
bool layout_fills_by_tma(PassContext *cx, Kernel *k, const Region *region);
/* How threads bring what is put into a slot, by what layout and schedule will decide of a kernel in ring form. */
typedef struct Copies {
    int64_t count; /* of vectors and words, all threads together; 0: TMA brings it, or nothing is loaded */
    int64_t words; /* bytes of those around rows that are not aligned, which wait beside the slot */
} Copies;
Copies layout_copies(PassContext *cx, Kernel *k, const Op *put);
/* What it takes to get a value from one layout of registers to another; `via` says which way it goes. */
ConvertPlan convert_plan(const Kernel *k, const Op *convert);
int convert_bytes(const Type *type); /* of an element on its way */
/* Do the lanes trade words of four bytes (`via=trade`)? For the left operands of products alone. */
bool convert_trades(const Kernel *k, const Op *convert, LaneTrade *trade);
/* The function of two words of 16-bit floats that does an elementwise op on both halves, with the bits that f32 would
 * have rounded to: "add"; NULL: there is none. The same where all of its tiles are `held=pairs`. */
const char *layout_pair_name(const Kernel *k, const Op *op);
const char *layout_pair_function(const Kernel *k, const Op *op);

SharedTile layout_shared_tile(const Type *type, int rows_multiple);
/* The same for operand `which` (0, 1) of a dot; turned: the operand is the transpose of the stored type. */
SharedTile layout_operand_tile(const Type *type, const Matrix *row, int which, bool turned);
/* How a field of a ring is stored. */
const SharedTile *layout_field(const Kernel *k, Ref ring, int field);
/* Bank conflicts, counted (layout_banks.c): where an element of the tile lies; wavefronts of one
 * access of `bytes` by each of the lanes (at most 64) at these offsets; the worst over the registers
 * of a layout that is moved to or from the tile in vectors. */
uint32_t layout_tile_offset(const SharedTile *tile, int64_t row, int64_t column);
int layout_wavefronts(Banks banks, const uint32_t *offset, int lanes, int bytes);
int layout_tile_conflicts(Banks banks, const Layout *layout, const Type *type, const SharedTile *tile, int vector);
/* The grid, over the sum of a dot, of those warps that run its matrix instruction together, as the pass has written
 * it. */
void layout_dot_grid(const Op *dot, int *along_m, int *along_n);

/* --- layout_check.c --- */
/* Of a kernel in layout form: is every value where its users look for it? Says what is wrong. */
bool layout_check(PassContext *cx, Kernel *k);
#endif
