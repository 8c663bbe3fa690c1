/* SPDX-License-Identifier: Apache-2.0 */
/* layout_state.h: what the files of the pass `layout` share.
 *
 *   layout.c         the walk over the kernel, elementwise ops, accesses, dots, control flow
 *   layout_want.c    a value in another layout: computed again, or converted
 *   layout_moves.c   ops that move elements of a tile or combine along an axis
 *   layout_left.c    left operands that products take from registers
 *   layout_index.c   tiles of indices, pointers and masks: computed again, not moved
 *   layout_tma.c     loads and stores that TMA does
 *   layout_access.c  vectors and copies of the others, ways of conversions
 *   layout_wave.c    copies of a warp that go to shared memory side by side
 *   layout_near.c    loads that test by themselves which lanes are inside
 *   layout_named.c   rows that an index vector names
 *   layout_take.c    tiles that are stored from where a product reads them
 *   layout_view.c    tiles of buffers that a product reads where they lie
 *   layout_hold.c    how flat kernels hold tiles in registers
 *   layout_check.c   what emitters rely on, of a kernel that was read from text, or that this pass has made
 *
 * lay_natural says where a value would like to live; lay_want gives a value in a layout, making a
 * `convert` (or computing a floating value again) where it is elsewhere; lay_set decides. */
#ifndef PASS_LAYOUT_LAYOUT_STATE_H
#define PASS_LAYOUT_LAYOUT_STATE_H
#include "pass/layout/layout_choose.h"

typedef struct Natural {
    enum { UNSEEN, ASKED, KNOWN } state;
    const Layout *layout; /* NULL: the value floats */
    int asked_at;         /* UNSEEN, but looked at when so many layouts (less 1) were known: it floated then */
} Natural;

typedef struct LayoutState {
    PassContext *cx;
    Kernel *k;
    Facts facts;
    int warps;
    const Op *role;
    VEC(Natural) natural; /* index = Ref */
    Map made;             /* value and layout -> that value in that layout */
    bool failed;
    int cycles;      /* times that natural met a value it was being asked for */
    int known;       /* values that natural knows a layout of */
    const int *uses; /* of the values that came, by Ref */
    size_t value_count;
} LayoutState;

/* --- layout.c --- */
bool lay_is_tile(const Kernel *k, Ref ref);
bool lay_powers(const Type *type); /* all extents are powers of two */
const Layout *lay_in_registers(LayoutState *st, LinearLayout map, const Type *type);
const Layout *lay_in_shared(LayoutState *st, SharedTile tile);
/* The layout in which an operand of this type broadcasts into a result that has `map`. */
LinearLayout lay_fit(const LinearLayout *map, const Type *operand);
/* The same for operand i of an op whose tile has `map`; an index vector lives in the slice along its axis. */
LinearLayout lay_operand(const Kernel *k, const Op *op, int i, const LinearLayout *map);
/* Can the machine do the dot here with the instruction that it is stamped with? If not, false with a message. */
bool lay_dot_fits(LayoutState *st, const Op *dot);
const Layout *lay_default(LayoutState *st, const Type *type);
const Layout *lay_natural(LayoutState *st, Ref ref);
void lay_set(LayoutState *st, Ref ref, const Layout *layout);
void lay_refuse(LayoutState *st, const Op *op);

/* --- layout_want.c --- */
Ref lay_want(LayoutState *st, Ref ref, const Layout *layout, const Op *user);
/* All operands where `layout` says, extents of 1 squeezed. */
void lay_want_operands(LayoutState *st, Op *op, const Layout *layout);
/* Does the region lie in the role that is being placed? Without roles every one does. */
bool lay_inside_role(const LayoutState *st, const Region *region);

/* --- layout_left.c --- */
/* May the left operand of a dot stay in registers, where `from` has it? */
bool lay_stays_in_registers(LayoutState *st, const Op *dot, const Matrix *row, const Layout *from);
/* Where lanes of a warp can bring it for that, by trading words with each other; NULL: they cannot. */
const Layout *lay_traded(LayoutState *st, const Op *dot, const Matrix *row, const Layout *from);
/* Where lanes that fetch operands keep a left one through the loop of the dot, if they have the registers; NULL: no. */
const Layout *lay_kept_left(LayoutState *st, const Op *dot);
/* Where the result (of a ring's `get`, a `repeat`) should be of which a dot's left operand is made, and nothing else;
 * NULL: it is not. */
const Layout *lay_left(LayoutState *st, const Op *op);
/* The same of a `get` before the loops whose products take it, where they are too narrow to read it in place. */
const Layout *lay_held_left(LayoutState *st, const Op *get);

/* --- layout_index.c --- */
/* A result of rank 2 and more that is made of indices, element by element, from what floats and from vectors? */
bool index_is_sum(LayoutState *st, const Op *op);
/* A short vector from memory, perhaps under arithmetic: reading it again, each thread what it needs, is cheaper than
 * two barriers and a way through shared memory. */
bool index_is_vector(LayoutState *st, Ref ref);
/* Is it so on its way to this layout? */
bool index_is_read_again(LayoutState *st, Ref ref, const Layout *layout);
/* A tile from memory that has no room in shared memory on its way to the layout is read there again, too. */
bool index_is_too_large(LayoutState *st, Ref ref, const Layout *layout);
/* A tile that lies in a slot of a ring is taken from there again. */
bool index_is_got(LayoutState *st, Ref ref, const Layout *layout);
/* Says that a tile of indices is about to be moved. */
void index_note_move(LayoutState *st, Ref ref, const Op *user);

/* --- layout_tma.c --- */
/* What is known, and may be wished for. */
Facts lay_facts(const PassContext *cx, Kernel *k);
/* How the field of the slot's ring is stored. */
SharedTile tma_field(LayoutState *st, const Op *hand_over);
bool tma_fills(const SharedTile *tile); /* does what is copied into it leave nothing to be written as zeros? */
/* Can TMA do it, into a tile or from it? Of a field that is got: the store. */
bool tma_may_load(LayoutState *st, const Op *load, SharedTile *tile);
Op *tma_may_store(LayoutState *st, const Op *get, SharedTile *tile);
/* If it can, it does: the load or the view lives in shared memory, and the access says who moves it. */
bool tma_place_load(LayoutState *st, Op *load);
bool tma_place_store(LayoutState *st, const Op *get);

/* --- layout_moves.c --- */
/* Does this file place the op? */
bool moves_is(const LayoutState *st, const Op *op);
const Layout *moves_natural(LayoutState *st, const Op *op, int index);
void moves_place(LayoutState *st, Op *op);

/* --- layout_access.c: how boxes and conversions are moved --- */
/* The best that is known to be possible; may threads, moving it so, copy the load straight into a slot of its ring? */
bool lay_leaves_gaps(const Machine *machine, const Layout *layout, const Type *type, int dim);
/* Where a load whose numbers are stored as wider ones puts them instead of `own` (layout_widen.c); NULL: there. */
const Layout *lay_widened(LayoutState *st, const Op *load, const Layout *own);
/* .. and a load of short rows that an index vector names (layout_named.c). */
const Layout *lay_named(LayoutState *st, const Op *load, const Layout *own);
Access access_best(LayoutState *st, const Op *access);
/* Registers of an access that may be inside of the tensor in some thread; 0: all. */
int access_live(const LayoutState *st, const Op *access);
bool access_has_vectors(const LayoutState *st, const Op *op); /* is it one that vectors move at all? */
bool access_may_load_singly(const Kernel *k, const Op *op, Access a);
bool access_may_copy(LayoutState *st, const int *uses, const Op *load, Access a);

/* --- layout_near.c --- */
/* Do all elements of the load lie near the first one of its box, known or wished for? */
bool near_holds(const Machine *machine, Facts *f, const Op *load);

/* --- layout_wave.c --- */
void wave_decide(LayoutState *st); /* when fields have their layouts */
/* Is the load, by such vectors, one of words that a warp's lanes copy side by side (`wave_copy_bytes`)? */
bool wave_fits(LayoutState *st, const int *uses, const Op *load, Access a);

int access_best_row(LayoutState *st, const Op *op); /* of a put, a get, a convert to or from shared memory */
int access_best_compare(const LayoutState *st, const Op *compare); /* elements that one comparison is that of */
/* Can a tile of this type go from one layout to the other by trading words? */
bool lay_may_trade(const Layout *from, const Layout *to, const Type *type, LaneTrade *trade);
/* WORD_NONE: to or from shared memory */
Word access_best_via(const Machine *machine, const Kernel *k, const Op *convert);
void lay_take_stored(LayoutState *st); /* layout_take.c */
/* --- layout_view.c --- */
void view_take(LayoutState *st); /* operands of products that are read where they lie, before anything is placed */
SharedTile view_buffer(const Type *type);
SharedTile view_tile(const Kernel *k, const Op *view);
/* Why the view cannot be what the instruction reads; NULL: it can. May the product read what the load reads? */
const char *view_fault(const Facts *f, const Op *view, const Matrix *row, int which, bool turned);
bool view_is_quiet(const Op *load, const Op *reader);

void access_decide(LayoutState *st); /* writes it to all of them; facts without wishes */

/* --- layout_hold.c: how flat kernels hold tiles --- */
bool hold_may_be_lean(const Kernel *k);
bool hold_is_right(const Kernel *k, const Op *op); /* what the op reads and makes is held as it can be */
void hold_decide(LayoutState *st);
#endif
