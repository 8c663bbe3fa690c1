/* cpu_internal.h: what the files of the CPU emitter share.
 *
 *     cpu_plan.c    where every tile lives: nowhere (computed where it is used), or in scratch
 *     cpu_blocks.c  how scratch is shared out
 *     cpu_expr.c    the C expression of one element of a tile, for given indices; loop nests
 *     cpu_merge.c   axes that share a loop
 *     cpu_box.c     boxes of global tensors: address, bounds, fill
 *     cpu_store.c   stores to them, and the fast and the slow version of a loop over boxes
 *     cpu_reduce.c  reduce and scan, in their stamped order
 *     cpu_reduce_rows.c  reduce along the last axis, in the loop that computes the tile
 *     cpu_dot.c     dot of tiles
 *     cpu_gemm.c    loops of dots over boxes, as one product of global matrices
 *     cpu_turn.c    transposes, on the way into memory and between boxes
 *     cpu_atomic.c  atomics: elements, and lines of boxes
 *     cpu_loops.c   the other ops that need loops of their own: stores, sort ..
 *     cpu_emit.c    statements, control flow, the entry function
 *
 * A tile that is INLINE costs nothing by itself: its expression is evaluated inside the loops of
 * its *roots*, the ops that need loops. So a chain of elementwise ops between loads and a store
 * is one loop. A tile is put into MEMORY when evaluating it where it is used would be wrong
 * (memory changed in between) or wasteful (many roots). */
#ifndef TARGET_CPU_CPU_INTERNAL_H
#define TARGET_CPU_CPU_INTERNAL_H
#include "target/cpu/cpu_target.h"
#include "target/cstyle/cstyle.h"

typedef enum Storage { STORAGE_NONE, STORAGE_SCALAR, STORAGE_INLINE, STORAGE_MEMORY } Storage;

/* A piece of the per-thread scratch, in use from position `start` to `end` of the plan (both included). */
typedef struct Block {
    int64_t bytes, offset;
    int start, end;
} Block;

typedef struct OpList {
    Op **at;
    size_t count, capacity;
} OpList;

typedef struct Placed { /* one value */
    Storage storage;
    int block;  /* MEMORY, and INLINE loads that may have to fall back to it; -1: none */
    bool wide;  /* MEMORY holds register form: f32 for a small float */
    bool cheap; /* computing it again costs little, even if a box is read again */
    int weight;
    OpList users; /* ops that have it as operand */
    OpList roots; /* ops in whose loops it is evaluated */
} Placed;

typedef struct OpPlace { /* one op */
    int first, last;     /* positions: of itself, of the last op inside it */
    int *temp;           /* blocks that only this op uses, one an operand; -1: none */
    int room;            /* a block for a panel of a dot */
} OpPlace;

/* A box that only a dot reads, maybe transposed or of a smaller float: which of its axes are the
 * operand's rows and columns. */
typedef struct DotBox {
    Op *load;
    int rows, columns;
} DotBox;

/* One operand of a product of global matrices: the box of every round. */
typedef struct GemmSide {
    Op *load;
    int line, k; /* axes of the box: along M or N, and along K */
} GemmSide;

/* A loop that only adds dots of boxes to one sum (cpu_gemm.c). */
typedef struct Gemm {
    Op *loop, *dot;
    GemmSide a, b;
    Op *store;        /* that takes the sum as it is; NULL: none */
    bool skip;        /* what lies behind the edges of the tensors is not looked at */
    int slot;         /* of the panels kept between programs; -1: they are not kept */
    int rows, panels; /* blocks: gathered rows of a, packed panels of b */
    int lines[2];     /* of a, of b: where the lines lie that an index vector chooses; -1: there is none */
    int64_t room_k;   /* rows that the panels have room for */
} Gemm;
enum { MOST_AHEAD = 4 };
/* The first bytes of the scratch, zero when a thread begins a launch. */
enum { GEMM_SLOTS = 4, GEMM_SLOT_BYTES = 64 };

typedef struct CpuPlan {
    Kernel *k;
    Arena *arena;
    Placed *placed;          /* by Ref */
    Map places;              /* Op * -> OpPlace * */
    OpList order;            /* all ops, in order of position */
    VEC(int) writers;        /* of memory, among the ops up to each position */
    struct Analysis *affine; /* of offsets (analysis/affine.h) */
    Map gemms;               /* Op * of the loop, and of the dot -> Gemm * */
    int slots;               /* of panels that are kept */
    VEC(Block) blocks;
    bool locks;      /* lines are combined under locks (cpu_atomic.c) */
    int64_t scratch; /* bytes a thread needs */
    struct Search *search;
} CpuPlan;

void cpu_plan(CpuPlan *plan, Kernel *k, Arena *arena);
void cpu_share_blocks(CpuPlan *plan); /* when it is known what lives in memory */
OpPlace *cpu_place(const CpuPlan *plan, const Op *op);
static inline Placed *cpu_placed(const CpuPlan *plan, Ref r) { return &plan->placed[r]; }
/* Is every element of `whole` computed from the element of `part` at the same place, if from `part` at all? */
bool cpu_same_place(const CpuPlan *plan, Ref whole, Ref part);
/* A walk over values that looks at each of them once: is this the first time since the begin? */
void cpu_search_init(CpuPlan *plan);
void cpu_search_begin(const CpuPlan *plan);
bool cpu_search_meets(const CpuPlan *plan, Ref v);
bool cpu_is_inlinable(const Kernel *k, const Op *op);
bool cpu_writes_memory(const Op *op);                     /* itself, or an op inside it */
bool cpu_shares_block(const CpuPlan *plan, Ref a, Ref b); /* both MEMORY, in one place */
/* Bytes of a tile in memory, or in register form. */
int64_t cpu_tile_bytes(const Type *type, bool wide);
bool cpu_is_wide_elem(const Type *type); /* memory and register form differ */

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
    Map calls; /* functions that the text calls, for the headers that it needs */
    VEC(CpuAssert) asserts;
    VEC(Speech) prints;
    bool uses_dot, uses_gemm, uses_sort, uses_scan, uses_indices, uses_turn;
    int ahead; /* boxes that are prefetched for the next program */
    bool failed;
} Emit;

/* --- cpu_expr.c --- */
typedef struct Ix {
    const Expr *x;
    int depth; /* how many loops must be open for it */
    /* Of axes that share a loop (nest_merge): the first one's x is the number of the place among those of all, the
     * others' is NULL; `alone` is an axis' own index, behind `alone_depth` loops. */
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
/* Axes that nothing in these tiles tells apart share a loop; before anything is added. */
void nest_merge(Emit *e, Nest *nest, const Ref *tiles, int count);
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
/* The axis of a box of rank 2 that has an index vector, -1: none; false: both have one. */
bool cpu_box_vector(const Kernel *k, const Op *op, int *axis);
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
/* Asks for the boxes that the tile is made of as the next program will want them. */
void cpu_prefetch(Emit *e, Ref tile);

/* --- cpu_reduce.c --- */
void cpu_emit_reduce(Emit *e, Op *op);
void cpu_emit_scan(Emit *e, Op *op);

/* --- cpu_reduce_rows.c --- */
bool cpu_reduces_rows(const Kernel *k, const Op *op);
void cpu_emit_reduce_rows(Emit *e, Op *op);

/* --- cpu_loops.c --- */
void cpu_emit_store(Emit *e, Op *op);
void cpu_emit_bstore(Emit *e, Op *op);
void cpu_emit_pieces(Emit *e, Op *op);                    /* cat, insert */
const Type *cpu_sort_keys(const Kernel *k, const Op *op); /* the temporary it needs */
void cpu_emit_sort(Emit *e, Op *op);
void cpu_emit_histogram(Emit *e, Op *op);
void cpu_emit_assert(Emit *e, Op *op);
void cpu_emit_print(Emit *e, Op *op);
void cpu_emit_map(Emit *e, Op *op);

/* --- cpu_atomic.c --- */
void cpu_emit_atomic(Emit *e, Op *op);
void cpu_emit_tatomic(Emit *e, Op *op);
bool cpu_atomic_lines(const Kernel *k, const Op *op); /* does it go row by row, with its values in memory? */
Op *cpu_line_box(const CpuPlan *plan, const Op *op);  /* the load whose rows it takes from where they lie; NULL: none */
bool cpu_locks_lines(const CpuPlan *plan);            /* do all atomics? */

/* --- cpu_gemm.c --- */
void cpu_find_gemms(CpuPlan *plan);                         /* after the ops have positions */
Gemm *cpu_gemm(const CpuPlan *plan, const Op *loop_or_dot); /* NULL: it is none */
void cpu_emit_gemm(Emit *e, const Gemm *g);
bool cpu_dot_box(const CpuPlan *plan, const Op *dot, int operand, DotBox *box); /* false: none */

/* --- cpu_turn.c --- */
bool cpu_is_plain_box(const Kernel *k, const Op *box); /* without mask, index vectors, wrapped dimensions */
/* The axis of a box along which elements are known to lie side by side; -1: none. */
int cpu_unit_axis(const Kernel *k, const Op *box);
bool cpu_box_is_turned(const Kernel *k, const Op *box); /* a tload or tstore: that is not its last axis */
bool cpu_is_turn(const Kernel *k, const Op *op);        /* a permute that moves the last axis */
/* The tload whose elements the value is, in another order: axis d of the value is the load's axes[d]; NULL: none. */
Op *cpu_moved_box(const CpuPlan *plan, Ref v, int *axes);
bool cpu_fill_turned(Emit *e, const Expr *pointer, bool wide, Ref tile); /* false: nothing was done */
extern const int cpu_same_axes[MAX_RANK];                                /* 0, 1, 2 .. */
/* Does the load have all that the other box has? Axis d of that one is the load's axes[d]. NULL: always. */
const Expr *cpu_box_covers(Emit *e, const Box *load, const int *axes, const Box *other);
/* What must hold for cpu_store_turned; NULL: it cannot be. */
const Expr *cpu_store_turns(Emit *e, const Op *store);
void cpu_store_turned(Emit *e, const Op *store);
bool cpu_store_from_rows(Emit *e, const Op *store); /* of a value in memory; false: nothing was done */

/* --- cpu_dot.c --- */
void cpu_emit_dot(Emit *e, Op *op);
/* Behind an operand that is copied: from which byte on, and how many, stand the places of its lines. */
int64_t cpu_lines_offset(const Type *type);
int64_t cpu_lines_bytes(const Type *type);

/* --- cpu_emit.c --- */
void cpu_emit_op(Emit *e, Op *op);
void cpu_emit_ops(Emit *e, Region *region); /* all but the terminator */
#endif
