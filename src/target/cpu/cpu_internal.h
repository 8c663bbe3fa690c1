/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_internal.h: what the files share that print C for the CPU, by the plan (cpu_plan.h).
 *
 *     cpu_expr.c    the C expression of one element of a tile, for given indices; loop nests
 *     cpu_box.c     boxes of global tensors: address, bounds, fill
 *     cpu_store.c   stores to them, and the fast and the slow version of a loop over boxes
 *     cpu_reduce.c  reduce and scan, in their stamped order
 *     cpu_reduce_rows.c  reduce along the last axis, in the loop that computes the tile
 *     cpu_dot.c     dot of tiles
 *     cpu_gemm.c    a product of global matrices
 *     cpu_turn.c    transposes, on the way into memory and between boxes
 *     cpu_atomic.c  atomics: elements, and lines of boxes
 *     cpu_loops.c   the other ops that need loops of their own: stores, sort ..
 *     cpu_emit.c    statements, control flow, the entry function */
#ifndef TARGET_CPU_CPU_INTERNAL_H
#define TARGET_CPU_CPU_INTERNAL_H
#include "target/cpu/cpu_plan.h"
#include "target/cpu/cpu_target.h"

/* A number whose expression stands elsewhere. */
typedef struct Known {
    bool is; /* is it one? */
    int64_t number;
} Known;
static inline bool known_is(Known known, int64_t number) { return known.is && known.number == number; }

/* A box of a global tensor: the C variables that describe it. */
typedef struct Box {
    const Type *tile;
    const Expr *pointer;          /* of the element at tile index 0 (wrapped dimensions left out) */
    const Expr *stride[MAX_RANK]; /* a tile axis' stride in elements */
    Known known[MAX_RANK];        /* what is known of it */
    bool unit;                    /* the last axis' stride is known to be 1 */
    bool checked[MAX_RANK];       /* the axis has bounds lo, hi */
    const Expr *lo[MAX_RANK], *hi[MAX_RANK];
    bool cut_low[MAX_RANK];        /* lo is a variable; else it is 0 */
    const Expr *indices[MAX_RANK]; /* NULL, or the array that says where the places of the axis lie */
    const char *index_type[MAX_RANK];
    const Expr *least[MAX_RANK], *most[MAX_RANK];              /* of those, inside the tensor */
    const Expr *begin[MAX_RANK], *end[MAX_RANK];               /* between which they lie inside; end NULL: all do */
    const Expr *wrap_offset[MAX_RANK], *wrap_extent[MAX_RANK]; /* NULL: not wrapped */
    const Expr *ok;                                            /* NULL, or a flag: the other dimensions lie inside */
    const Expr *full;  /* NULL: always; else a flag: no bound cuts, nothing wraps */
    const Expr *uncut; /* NULL: always; else what full says beside bounds */
    bool movable;      /* pointer and strides are variables: the box may be read from a copy */
} Box;

/* A global tensor, and what is known of the strides. */
typedef struct Tensor {
    const Expr *base, *extent[MAX_RANK], *stride[MAX_RANK]; /* extent NULL: unbounded */
    Known known[MAX_RANK];
} Tensor;

/* Parts of the prelude beside those of expressions. */
enum {
    PART_DOT = PART_OF_TARGET,
    PART_GEMM,
    PART_SORT,
    PART_SCAN,
    PART_INDICES,
    PART_TURN,
    PART_THREADS,
    PART_PRODUCTS,
    PARTS
};

typedef struct Emit {
    CPrinter p;
    Kernel *k;
    Arena *arena;
    Diag *diag;
    CpuPlan plan;
    int *uses;   /* by Ref (cs_count_uses) */
    Map boxes;   /* Op * -> Box * */
    Map tensors; /* Ref -> Tensor * */
    Map stored;  /* Op * of a tstore -> Expr *, a flag that says it has been done already */
    const Expr *pid[3];
    CLines helpers; /* functions that go before the kernel */
    Map helper_names;
    VEC(CpuAssert) asserts;
    VEC(Speech) prints;
    const OpList *aside; /* loads that are read from their copies in the loop that is being printed; NULL: none */
    const Op *workers; /* the region of workers that is being written; NULL: none */
    bool failed;
} Emit;

/* --- cpu_expr.c --- */
typedef struct Ix {
    const Expr *x;
    int depth; /* how many loops must be open for it */
    /* Of axes that share a loop (cpu_plan_merge.c): the first one's x is the number of the place among those of all,
     * the others' is NULL; `alone` is an axis' own index, behind `alone_depth` loops. */
    const Expr *alone;
    int alone_depth;
} Ix;
static inline Ix ix(const Expr *x, int depth) { return (Ix){.x = x, .depth = depth}; }
static inline Ix ix_zero(void) { return ix(&expr_zero, 0); }
static inline bool ix_is_merged(Ix i) { return !i.x; }
static inline bool ix_is_zero(Ix i) { return i.x && ex_is_int(i.x, 0); }
static inline int deeper(int a, int b) { return a > b ? a : b; }
typedef struct Nest {
    int rank;
    int order[MAX_RANK]; /* the axis of each loop, from the outermost on */
    int64_t extent[MAX_RANK];
    Ix index[MAX_RANK];
    const Expr *lo[MAX_RANK], *hi[MAX_RANK]; /* NULL: 0 .. extent */
    CLines body[MAX_RANK + 1];               /* statements of each depth */
    CLines after;                            /* statements behind the innermost loop */
    Map memo;
    bool fast; /* boxes are full and their last stride is 1 .. */
    bool cut;  /* .. as far as the box goes that is written */
    bool rare; /* runs seldom: not worth vectors, nor the time to make them */
} Nest;

void nest_begin(Emit *e, Nest *nest, const Type *shape);
void nest_inner(Nest *nest, int axis); /* its loop is the innermost one; before anything is added */
void nest_add(Emit *e, Nest *nest, int depth, const char *format, ...) __attribute__((format(printf, 4, 5)));
void nest_end(Emit *e, Nest *nest, bool vector);
/* The element of the tile at these indices, in register form; statements go into the nest. */
Ix cpu_element(Emit *e, Nest *nest, Ref tile, const Ix *index);
/* The same for an operand whose extents of 1 are repeated. */
Ix cpu_operand(Emit *e, Nest *nest, Ref ref, const Ix *index);
void cpu_emit_scalar(Emit *e, Op *op); /* an inlinable op whose results are scalars */
/* ref[linear index] as an lvalue. */
const Expr *cpu_slot(Emit *e, const Type *type, const Expr *pointer, const Ix *index, int *depth);
/* Of the number of a place, row by row: the index along an axis that has `behind` places in each of its own. */
const Expr *cpu_digit(Emit *e, const Expr *number, int64_t behind, int64_t extent, bool first);
/* A new constant in the body at that depth. */
Ix cpu_name(Emit *e, Nest *nest, const char *type, const Expr *x, int depth, const char *hint);
/* A constant of that type from its bits in memory form. */
Ix cpu_name_bits(Emit *e, Nest *nest, const Type *type, const Expr *bits, int depth, const char *hint);
/* What a load reads where the condition holds, else the other value, as bits in memory form. */
const Expr *cpu_guarded(Emit *e, Elem elem, const Expr *condition, const Expr *bits, const Expr *other);
const Expr *cpu_pack(Emit *e, Elem elem, const Expr *value);    /* register -> memory form */
const Expr *cpu_pack_for(Emit *e, Ref tile, const Expr *value); /* register -> the form its MEMORY has */
/* Evaluates a tile into memory; `pointer` must hold its type in memory form or, if wide, in register form. */
void cpu_fill(Emit *e, const Expr *pointer, bool wide, Ref tile);
/* In memory form, every element tested; rarely: small code. */
void cpu_fill_tested(Emit *e, const Expr *pointer, Ref tile, bool rarely);
bool cpu_unsupported(Emit *e, const Op *op, const char *why);
const Expr *cpu_fresh(Emit *e, const char *hint, ...) __attribute__((format(printf, 2, 3))); /* a new name */
/* `T *const name = (T *)(scratch + offset);` for a block; returns the name. */
const Expr *cpu_memory(Emit *e, const Type *type, bool wide, int block, const char *hint);
/* Of an element in the memory of a buffer or tile. */
const char *cpu_memory_text(Emit *e, Ref ref);
void cpu_declare(Emit *e, Ref tile); /* the memory of a MEMORY value */
/* As cs_ref and cs_zero, but that a 0 of a float knows its bits. */
const Expr *cpu_ref(Emit *e, Ref ref);
const Expr *cpu_zero(Emit *e, const Type *type);

/* --- cpu_box.c --- */
Box *cpu_box(Emit *e, Op *op); /* declares it on first use */
/* The same, for an axis as long as that expression instead of the tile's extent; not kept. */
Box *cpu_long_box(Emit *e, Op *op, int axis, const Expr *size);
Box *cpu_find_box(Emit *e, const Op *op);
const Tensor *cpu_tensor(Emit *e, Ref tensor);
/* Between which indices of the axis the box lies inside of its tensor. */
const Expr *cpu_box_low(const Box *box, int axis);
const Expr *cpu_box_high(Emit *e, const Box *box, int axis);
const Expr *cpu_if_ok(Emit *e, const Box *box, const Expr *number); /* 0 if other dimensions lie outside */
/* The indices of a box's axis as gemm.h takes them, written to the scratch from that byte on; 0: it has none. */
const Expr *cpu_box_lines(Emit *e, const Box *box, int axis, int64_t offset);
void cpu_emit_tensor(Emit *e, Op *op);
/* The element at tile indices, as an lvalue; its rows are named in the nest. */
const Expr *cpu_box_element(Emit *e, Nest *nest, const Box *box, const Ix *index, int *depth);
/* Bounds of a nest that writes to the box: it does what lies inside, and leaves out the rest. */
void cpu_box_bounds(Emit *e, Nest *nest, const Box *box);
Ix cpu_box_load(Emit *e, Nest *nest, const Op *op, const Ix *index);
const Expr *cpu_box_fill(Emit *e, const Op *load); /* what a load has outside, in register form */
void cpu_scalar_tload(Emit *e, Op *op);

/* --- cpu_store.c --- */
void cpu_emit_tstore(Emit *e, Op *op);
/* What must hold for the fast version of a nest that evaluates these tiles and stores to `store`
 * (may be NULL); NULL: nothing. */
const Expr *cpu_fast_condition(Emit *e, const Ref *tiles, int count, const Op *store);
/* Reading the load's box while writing the other one is right: they are apart, or the same element by element. */
const Expr *cpu_apart(Emit *e, const Box *load, const Box *store, bool same_place);
void cpu_set_aside(Emit *e, const OpList *loads); /* copies what is loaded; movable boxes lie there from then on */
/* Asks for the boxes that the op's loop reads as the next program will want them. */
void cpu_ask_ahead(Emit *e, const Op *op);

/* --- cpu_reduce.c --- */
void cpu_emit_reduce(Emit *e, Op *op);
void cpu_emit_scan(Emit *e, Op *op);

/* --- cpu_reduce_rows.c --- */
void cpu_emit_reduce_rows(Emit *e, Op *op, int at_once);

/* --- cpu_loops.c --- */
void cpu_emit_store(Emit *e, Op *op);
void cpu_emit_bstore(Emit *e, Op *op);
const Expr *cpu_cell(Emit *e, const Op *op); /* the element of a buffer that an op of a scalar names */
void cpu_emit_pieces(Emit *e, Op *op); /* cat, insert */
void cpu_emit_sort(Emit *e, Op *op);
void cpu_emit_scatter(Emit *e, Op *op);
void cpu_emit_histogram(Emit *e, Op *op);
void cpu_emit_assert(Emit *e, Op *op);
void cpu_emit_print(Emit *e, Op *op);
void cpu_emit_map(Emit *e, Op *op);

/* --- cpu_atomic.c --- */
void cpu_emit_atomic(Emit *e, Op *op);
void cpu_emit_tatomic(Emit *e, Op *op);

/* --- cpu_gemm.c --- */
void cpu_emit_gemm(Emit *e, const Gemm *g);

/* --- cpu_turn.c --- */
void cpu_fill_turned(Emit *e, const Expr *pointer, const Type *tile, const FillPlan *plan);
/* Does the load have all that the other box has? Axis d of that one is the load's axes[d]. NULL: always. */
const Expr *cpu_box_covers(Emit *e, const Box *load, const int *axes, const Box *other);
const Expr *cpu_store_turns(Emit *e, const Op *store, const StorePlan *plan); /* what must hold for cpu_store_turned */
void cpu_store_turned(Emit *e, const Op *store, const StorePlan *plan);
void cpu_store_from_rows(Emit *e, const Op *store);

/* --- cpu_dot.c --- */
void cpu_emit_dot(Emit *e, Op *op);
/* --- cpu_threads.c --- */
bool cpu_emit_worker_op(Emit *e, Op *op); /* regions of workers, and what they do with each other; false: it is none */

/* --- cpu_emit.c --- */
void cpu_needs(Emit *e, int part); /* of the prelude */
void cpu_emit_op(Emit *e, Op *op);
void cpu_emit_ops(Emit *e, Region *region); /* all but the terminator */
#endif
