/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_plan.h: what is decided of a kernel before any of its C is printed; the other files only ask.
 *
 *     cpu_plan.c        where every tile lives: nowhere (computed where it is used), or in scratch
 *     cpu_blocks.c      how scratch is shared out
 *     cpu_plan_gemm.c   loops of dots over boxes that are one product of global matrices
 *     cpu_plan_forms.c  which form single ops take
 *     cpu_plan_store.c  which form stores and fills take, and what is read in their loops
 *     cpu_plan_merge.c  axes that share a loop
 *
 * A tile that is INLINE costs nothing by itself: its expression is evaluated inside the loops of
 * its *roots*, the ops that need loops. So a chain of elementwise ops between loads and a store
 * is one loop. A tile is put into MEMORY when evaluating it where it is used would be wrong
 * (memory changed in between) or wasteful (many roots). */
#ifndef TARGET_CPU_CPU_PLAN_H
#define TARGET_CPU_CPU_PLAN_H
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

/* --- forms of single ops --- */

/* How a reduce combines the elements along its axis. */
typedef enum ReduceForm {
    REDUCE_ROWS,       /* along the last axis, in the loop that computes the tile, several elements at once */
    REDUCE_HALVES,     /* all bits of the index from high to low */
    REDUCE_NEIGHBOURS, /* from low to high */
    REDUCE_STEPS,      /* in another order that is stamped, a loop for each bit */
    REDUCE_IN_TURN,    /* one after the other */
    REDUCE_CHAINS,     /* argmin and argmax along the last axis: several chains side by side, joined in the end */
    REDUCE_COLUMNS     /* along another one: lines side by side */
} ReduceForm;
enum { MOST_AT_ONCE = 8 };
typedef struct ReducePlan {
    ReduceForm form;
    int at_once; /* ROWS: elements of one step; CHAINS: how many */
} ReducePlan;

typedef enum ScanForm {
    SCAN_NOTHING, /* lines of one element */
    SCAN_VECTORS, /* each line by vectors (prelude/scan.h): any order gives the same */
    SCAN_IN_TURN  /* element after element, lines side by side */
} ScanForm;
typedef struct ScanPlan {
    ScanForm form;
    int lanes;        /* VECTORS: of one vector */
    int side_by_side; /* IN_TURN: lines of one group .. */
    int64_t grouped;  /* .. and how many lines are in groups */
} ScanPlan;

typedef enum StoreForm {
    STORE_WHOLE,    /* a fast loop for boxes that are full, and a tested one */
    STORE_CUT,      /* the fast one goes as far as the box that is written: long rows */
    STORE_TURNED,   /* from box to box, by squares */
    STORE_FROM_ROWS /* by squares from a value in memory */
} StoreForm;
typedef struct StorePlan {
    StoreForm form;
    OpList loads;       /* boxes that its loop reads .. */
    bool *same_place;   /* .. each only at the place that is written */
    const Op *turned;   /* TURNED: the load, .. */
    int axes[MAX_RANK]; /* .. and which of its axes is axis d */
    int inner;          /* the axis of the innermost loop */
} StorePlan;

typedef struct AtomicPlan {
    bool lines; /* row by row, with its values in memory or in a box */
    Op *load;   /* whose rows are taken from where they lie; NULL: none */
    bool soon;  /* the next row, which an index vector names, is asked for before */
} AtomicPlan;

/* A box that only a dot reads, maybe transposed or of a smaller float: which of its axes are the
 * operand's rows and columns. */
typedef struct DotBox {
    Op *load;
    int rows, columns;
} DotBox;

typedef struct TensorPlan {
    bool cut[MAX_RANK]; /* extents that are cut off where no index is: what is left behind an offset must not wrap */
} TensorPlan;

typedef enum OperandForm {
    OPERAND_THERE, /* in memory as the dot reads it */
    OPERAND_FILLED,
    OPERAND_STAYS, /* a box: where it lies, if the launch shows that it is whole, else gathered */
    OPERAND_BOX,   /* a box, gathered */
    OPERAND_LINES  /* gathered: an index vector chooses its lines */
} OperandForm;
typedef struct DotPlan {
    OperandForm form[3]; /* of the sum: THERE or FILLED */
    DotBox box[2];       /* of those that are some */
} DotPlan;

typedef struct OpPlace { /* one op */
    int first, last;     /* positions: of itself, of the last op inside it */
    int *temp;           /* blocks that only this op uses, one an operand; -1: none */
    int room;            /* a block for a panel of a dot */
    union {              /* by its code; of those that have one */
        ReducePlan reduce;
        ScanPlan scan;
        StorePlan store;
        AtomicPlan atomic;
        DotPlan dot;
        TensorPlan tensor;
    };
    OpList ahead;    /* loads whose boxes are asked for as the next program will want them .. */
    int first_ahead; /* .. the number of the first one among all */
} OpPlace;

/* One operand of a product of global matrices: the box of every round. */
typedef struct GemmSide {
    Op *load;
    int line, k; /* axes of the box: along M or N, and along K */
} GemmSide;

/* A loop that only adds dots of boxes to one sum (cpu_plan_gemm.c). */
typedef struct Gemm {
    Op *loop, *dot;
    GemmSide a, b;
    Op *store;        /* that takes the sum as it is; NULL: none */
    bool pairs;       /* of bf16, as the machine may have products of them (prelude/dot.h) */
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
    bool rows;       /* a reduce by rows stands in the body: boxes may be asked for ahead */
    int aheads;      /* boxes that are, at most MOST_AHEAD */
    bool locks;      /* lines are combined under locks (cpu_atomic.c) */
    int64_t scratch; /* bytes a thread needs */
    struct Search *search;
} CpuPlan;

void cpu_plan(CpuPlan *plan, Kernel *k, Arena *arena);
void cpu_share_blocks(CpuPlan *plan); /* when it is known what lives in memory */
OpPlace *cpu_place(const CpuPlan *plan, const Op *op);
static inline const Placed *cpu_placed(const CpuPlan *plan, Ref r) { return &plan->placed[r]; }
static inline Op *cpu_def_of(const CpuPlan *plan, Ref r) { return ir_value(plan->k, r)->op; }
static inline int cpu_first_of(const CpuPlan *plan, const Op *op) { return cpu_place(plan, op)->first; }
static inline int cpu_last_of(const CpuPlan *plan, const Op *op) { return cpu_place(plan, op)->last; }
bool cpu_is_tile(const Kernel *k, Ref r);          /* a value that is no scalar */
bool cpu_is_inside(const Op *op, const Op *outer); /* or the op itself */
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

/* --- cpu_plan_gemm.c --- */
void cpu_find_gemms(CpuPlan *plan);                                             /* after the ops have positions */
Gemm *cpu_gemm(const CpuPlan *plan, const Op *loop_or_dot);                     /* NULL: it is none */
bool cpu_dot_box(const CpuPlan *plan, const Op *dot, int operand, DotBox *box); /* false: none */

/* --- cpu_plan_forms.c --- */
extern const int cpu_same_axes[MAX_RANK];              /* 0, 1, 2 .. */
bool cpu_is_plain_box(const Kernel *k, const Op *box); /* without mask, index vectors, wrapped dimensions */
/* The axis of a box along which elements are known to lie side by side; -1: none. */
int cpu_unit_axis(const Kernel *k, const Op *box);
bool cpu_box_is_turned(const Kernel *k, const Op *box); /* a tload or tstore: that is not its last axis */
bool cpu_is_turn(const Kernel *k, const Op *op);        /* a permute that moves the last axis */
/* The tload whose elements the value is, in another order: axis d of the value is the load's axes[d]; NULL: none. */
Op *cpu_moved_box(const CpuPlan *plan, Ref v, int *axes);
/* The axis of such a value along which the box's elements lie side by side, -1: none; is another one, along which they
 * are wanted side by side, worth a turn? */
int cpu_moved_unit(const Kernel *k, const Op *box, const int *axes);
bool cpu_moves_worth_it(const Kernel *k, const Op *load, const int *axes, int unit);
/* The axis of a box of rank 2 that has an index vector, -1: none; false: both have one. */
bool cpu_box_vector(const Kernel *k, const Op *op, int *axis);
/* Behind an operand that is copied: from which byte on, and how many, stand the places of its lines. */
int64_t cpu_lines_offset(const Type *type);
int64_t cpu_lines_bytes(const Type *type);
/* What lies around the axis along which a reduce, scan or sort goes. */
typedef struct AxisShape {
    int64_t outer, n, inner;
} AxisShape;
AxisShape cpu_axis_shape(const Kernel *k, const Op *op);
void cpu_choose_forms(CpuPlan *plan);                     /* when it is known what lives in memory */
bool cpu_loop_is_short(int64_t extent);                   /* C compilers may unroll it wholly */
const Type *cpu_sort_keys(const Kernel *k, const Op *op); /* the temporary it needs */
/* Must others than the threads of the launch see the atomic as one step? */
bool cpu_is_for_all(const Op *op);
bool cpu_atomic_lines(const Kernel *k, const Op *op); /* does it go row by row? */
Op *cpu_line_box(const CpuPlan *plan, const Op *op);  /* the load whose rows it takes from where they lie; NULL: none */
bool cpu_locks_lines(const CpuPlan *plan);            /* do all atomics? */
int64_t cpu_trips_between_looks(const Kernel *k, Region *body); /* at whether the launch is still wanted */
bool cpu_is_short(const Kernel *k, const Op *loop);             /* it never looks */

/* --- cpu_plan_store.c --- */
/* The inline tloads that evaluating the tiles meets; `top`: of a tile in memory, too. */
OpList cpu_loads_of(const CpuPlan *plan, const Ref *tiles, int count, bool top);
StorePlan cpu_store_plan(const CpuPlan *plan, const Op *store);
bool cpu_may_move(const CpuPlan *plan, const Op *load); /* may a store read a copy of its box in its place? */
void cpu_look_ahead(CpuPlan *plan);                     /* when forms are chosen */
/* How a tile gets into memory; `own`: its own, else what it has there is copied, or computed. `wide`: as registers
 * hold it. */
typedef enum FillForm { FILL_LOOP, FILL_TURNED_BOX, FILL_TURNED_ROWS } FillForm;
typedef struct FillPlan {
    FillForm form;
    const Op *load;     /* BOX */
    Ref rows;           /* ROWS: the value that is turned */
    int axes[MAX_RANK]; /* of those, which is axis d */
} FillPlan;
FillPlan cpu_fill_plan(const CpuPlan *plan, Ref tile, bool own, bool wide);

/* --- cpu_plan_merge.c --- */
/* Does a reshape leave axes as they are, but for extents of 1, which come and go? Which axis of the result axis d of
 * the operand is; -1: it has an extent of 1. Else the operand is read at the number of a place. */
bool cpu_reshape_axes(const Type *from, const Type *to, int *axis);
/* Which neighbouring axes of the tiles' elementwise loops something tells apart: axis d and the next one. */
void cpu_axes_apart(const CpuPlan *plan, const Type *shape, const Ref *tiles, int count, bool *apart);
#endif
