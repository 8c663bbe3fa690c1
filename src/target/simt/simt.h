/* SPDX-License-Identifier: Apache-2.0 */
/* simt.h: text for machines whose threads are lanes of warps: what their emitters share.
 *
 * A tile in registers is a local array, one element a register of its layout: `f32 acc[128]`; loops
 * over the registers are unrolled, so the indices are constants. Floats smaller than f32 lie in
 * such arrays in their memory type, and are f32 between two arrays. A tile in shared memory is a
 * byte offset. Scalars are plain variables, equal in all threads, so that every branch and loop is
 * uniform.
 *
 * The text is written in the functions of a prelude (tw_lds, tw_shfl_xor, tw_sync ..), which each
 * target has for itself. What a target does in its own way (matrix instructions, rings, copies
 * that run beside the threads) it does in the functions of its SimtTarget, which the files here call.
 *
 *   simt_emit.c         ops, one by one
 *   simt_entry.c        what stands around them: name, parameters, the thread's place
 *   simt_hold.c         where values are held
 *   simt_flow.c         loops, branches, and what they carry
 *   simt_place.c        layouts as index expressions
 *   simt_elementwise.c  runs of elementwise ops as one loop
 *   simt_lean.c         tiles that are too large for the registers
 *   simt_memory.c       global loads and stores
 *   simt_pairs.c        16-bit floats two a word
 *   simt_atomic.c       atomics
 *   simt_sync.c         barriers and waits
 *   simt_shared.c       shared memory: tiles in and out, converts
 *   simt_stage.c        tiles in shared memory that any thread reads at any place
 *   simt_moves.c        join, split, cat, slice, flip, gather .., buffers
 *   simt_reduce.c       reductions
 *   simt_scan.c         scans, and reductions by a region over a tuple
 *   simt_sort.c         sorts and histograms
 *   simt_dot.c          products: fma, and what stands around matrix instructions
 *   simt_speech.c       assert and print
 *   simt_purpose.c      what index arithmetic is for, as comments
 *   simt_threads.c      code of single threads, as it is written
 *   simt_workers.c      warps and warpgroups side by side, as they are written */
#ifndef TARGET_SIMT_SIMT_H
#define TARGET_SIMT_SIMT_H
#include "pass/layout/layout.h"
#include "pass/schedule/scratch.h"
#include "target/cstyle/cstyle.h"
#include "target/simt/simt_param.h"

typedef enum HoldKind {
    HOLD_NONE,
    HOLD_SCALAR, /* by: an expression; also a tile whose elements are all that scalar */
    HOLD_ARRAY,  /* by: the array */
    HOLD_WORDS,  /* by: an array of u32 that holds its elements, for a put */
    HOLD_TRADED, /* by: an array of u32 that lanes have traded, for a matrix instruction (shared_take_traded) */
    HOLD_PAIRS,  /* by: an array of u32, two elements each (simt_pairs.c) */
    HOLD_WIDE,   /* by: an array of f32 that a store rounds (simt_pairs.c) */
    HOLD_LOCAL,  /* by: a variable of the loop being written, or what would be its value */
    HOLD_LATER,  /* nowhere yet: computed in the loop that uses it (simt_lean.c) */
    HOLD_SHARED, /* by: the byte offset */
    HOLD_SLOT    /* by: the slot's number */
} HoldKind;
typedef struct Hold {
    HoldKind kind;
    const Expr *by;
} Hold;

typedef struct Emit Emit;
typedef struct Dot Dot;
typedef struct RingPlan RingPlan;
typedef struct Purposes Purposes;

/* What a target does in its own way; NULL where it has nothing of the kind. */
typedef struct SimtTarget {
    const char *name;    /* in messages */
    const char *prelude; /* the header that its texts include */
    const CDialect *dialect;
    const char *const *words; /* that its own text calls its variables, beside entry_words; NULL at the end */
    /* An op that only it can write: rings, tasks, stores from shared memory, tensors that are `made`; false: it
     * cannot. */
    bool (*op)(Emit *e, const Op *op);
    void (*multiply)(Dot *d); /* by an instruction that its machines have (simt_dot.h) */
    /* A load of a box that it does by itself; false: it is one by the lanes. */
    bool (*load)(Emit *e, const Op *load);
    /* What says, for those who count instructions, that a branch is another way than leaving tiles as they are: those
     * of blocks at an edge. NULL: nothing. */
    const char *at_edge;
    bool (*loop)(Emit *e, const Op *loop); /* a whole loop; false: it is an ordinary one */
    /* What stands before a loop, at the begin of the trip of value `at`, before what is carried on to the next trip,
     * and behind the loop; a target has all four or none. */
    void *(*loop_begin)(Emit *e, const Op *loop);
    void (*trip_begin)(Emit *e, const Op *loop, void *state, const char *at);
    void (*trip_end)(Emit *e, const Op *loop, void *state);
    void (*loop_end)(Emit *e, const Op *loop, void *state);
    /* What runs in step with a branch (NULL: nothing), before the branch and around each of its two sides; all three or
     * none. */
    const void *(*branch_begin)(Emit *e, const Op *branch);
    void (*side_begin)(Emit *e, const void *state, int side);
    void (*side_end)(Emit *e, const void *state, int side);
    /* Before a barrier: what the threads wrote, to shared or to global memory, is shown to units beside them. */
    void (*fence)(Emit *e, bool global);
    void (*stored)(Emit *e, const Op *op); /* behind a store by threads; NULL: nothing stands there */
    void (*wait_for_dot)(Emit *e);         /* the dot in flight has read its operands */
    void (*wait_for_stores)(Emit *e);      /* stores that run beside the threads are done */
    /* Loads that are copies (simt_copy.c): those of a turn are issued; all have landed, but those of the `turns` last
     * ones of the loads' loop (NULL: outside of one), of which the last is that of value `last`, if it is there. */
    void (*copies_issued)(Emit *e);
    void (*copies_land)(Emit *e, const Op *loop, int turns, const Expr *last_is_there);
} SimtTarget;

/* A part of a coordinate that has a variable. */
typedef struct ThreadPlace {
    const Expr *place;
    const char *name;
} ThreadPlace;

/* A tile that waits in registers for the end of the trip (simt_skew.c): the array, the variable that has its place. */
typedef struct LatePut {
    const Op *put;
    const char *tile, *place;
} LatePut;

struct Emit {
    const SimtTarget *target;
    PassContext *cx;
    Kernel *k;
    Arena *arena;
    CPrinter p;
    Facts facts;
    CLines *top; /* places: written before the statements of the role */
    int top_depth;
    VEC(Hold) holds; /* by Ref */
    int *uses;
    int *uses_inside;   /* of the run of ops that is being written; else 0 */
    int lanes;          /* of a warp */
    const Expr *thread; /* the thread's number in its group: warp * 32 + lane */
    const Op *role;     /* NULL: flat */
    const Op *threads;  /* the region of single threads that is being written, or NULL */
    ThreadGroup group;
    const Expr *barrier;     /* number of the group's own barrier; NULL: that of the whole block */
    bool anew; /* lane and places are found anew behind some loop: they are no constants */
    VEC(ThreadPlace) places; /* what lanes and warps decide of coordinates, as variables */
    Map found;               /* ops with a finding */
    Map overs;               /* divisors of whole tiles -> their TwOver */
    Purposes *purposes;      /* simt_purpose.c */
    VEC(Ref) computed;       /* variables of the loop being written (simt_lean.c) */
    bool shows;              /* the next barrier of the op being written comes behind a fence (simt_sync.c) */
    int vector_bits;         /* register bits that are 0 in the loop being written, which steps over vectors */
    int coarse_bits;         /* and those that a coordinate being written leaves out anyway */
    bool lean;               /* tiles are too large for the registers: simt_lean.c */
    bool persist;
    bool wrote; /* threads may have written global memory that others read behind a barrier */
    const Op *end; /* where the run of ops being written ends */
    /* rings (simt_ring.h) */
    VEC(RingPlan) rings;
    const Op *ahead;        /* skew: where the load role stands */
    const Op *skew_loop;    /* the loop being written, whose loads run ahead */
    const Op *covered;      /* the loop of its loads, whose turn is written behind a product (`covers`) .. */
    const char *covered_at; /* .. and the variable of the loop being written */
    VEC(LatePut) late;      /* what the trip being written has loaded, and stores into slots when it ends */
    const char *late_turn;  /* .. if it has this turn */
    bool keeps;             /* its loads are being written */
    Map rows_of;            /* load -> how its rows are called (simt_copy.c) */
};

/* --- simt_emit.c --- */
/* An emitter at its begin: nothing is written, nothing held. */
void emit_begin(Emit *e, const SimtTarget *target, PassContext *cx, Kernel *k);
/* All statements of the kernel, what is computed once into `top`; false after errors. */
bool emit_kernel(Emit *e, CLines *top);
void emit_region(Emit *e, const Region *region);        /* all ops but the terminator */
void emit_ops(Emit *e, const Op *first, const Op *end); /* those from first to the one before end */
void emit_op(Emit *e, const Op *op);

/* --- simt_entry.c --- */
extern const char *const entry_words[]; /* what the text calls its own variables; NULL at the end */
/* A kernel may be called `printf`, `exp` or `static`; the entry's name is none of a library or of the language. */
const char *entry_name(CPrinter *p, const char *kernel);
/* Parameters, to the list and to the text: one; those of the source's arguments; the grid's, if the kernel asks. */
void entry_param(Emit *e, SimtParams *list, ExprList *text, SimtParam param, const char *type, const char *name);
void entry_params(Emit *e, SimtParams *list, ExprList *text);
void entry_grid(Emit *e, SimtParams *list, ExprList *text);
void entry_hold(Emit *e); /* the arguments, as the statements read them */
/* What the schedule says of the launch, and the entry's name. */
void entry_plan(Emit *e, SimtPlan *plan, const char *execution);
/* The file around the statements. */
typedef struct EntryFile {
    const SimtPlan *plan;
    const ExprList *params;     /* their declarations */
    int64_t registers;          /* of a thread, at most; 0: not said */
    const CLines *before, *top; /* lines at file scope (NULL: none); at the begin of the entry */
    bool names_thread;          /* lane and warp are variables of the whole entry, not of its roles */
} EntryFile;
const char *entry_file(Emit *e, const EntryFile *file);
void entry_requirements(Emit *e); /* says what vectors ask of a launch */

/* --- simt_flow.c --- */
void emit_for(Emit *e, const Op *op);
void emit_while(Emit *e, const Op *op);
void emit_if(Emit *e, const Op *op);
void emit_carried(Emit *e, Ref ref, Ref initial); /* declares a variable that a loop or if sets */
void emit_copies(Emit *e, const Ref *targets, const Ref *sources, int count); /* all at once */
/* The condition that a for makes a trip at this value of its variable; the step's sign may be known at run time
 * only. */
const Expr *emit_goes_on(Emit *e, const Op *loop, const Expr *at);
/* Where the variable of a for is some trips after `at`, as an i64 for emit_goes_on: it does not wrap. */
const Expr *emit_trips_on(Emit *e, const Op *loop, const Expr *at, const Expr *trips);

/* --- simt_hold.c --- */
/* A finding for `explain`, once an op however often it is written. */
void emit_find(Emit *e, const Op *op, FindingId id, ...);
void emit_refuse(Emit *e, const Op *op, const char *what);
Hold *emit_hold(Emit *e, Ref ref);           /* until the next call: the table may grow */
void emit_same(Emit *e, Ref ref, Ref other); /* held as the other one */
void emit_set(Emit *e, Ref ref, HoldKind kind, const Expr *by);
void emit_set_name(Emit *e, Ref ref, HoldKind kind, const char *name);
const Layout *emit_layout(Emit *e, Ref ref); /* NULL for scalars */
bool emit_is_tile(Emit *e, Ref ref);
const Expr *emit_scalar(Emit *e, Ref ref);              /* of a value of rank 0, or a literal */
const char *emit_array_type(Emit *e, const Type *type); /* of an element in an array */
/* Declares an array for the value and holds it there. */
const char *emit_declare(Emit *e, Ref ref);
/* What the region computes is computed anew: for a body that is written more than once. */
void emit_forget(Emit *e, const Region *region);
void emit_unroll(Emit *e, const char *variable, int count, int step); /* opens `for (..)` */
/* A loop even with one trip: something in it says `continue`. */
void emit_unroll_real(Emit *e, const char *variable, int count, int step);
void emit_unroll_from(Emit *e, const char *variable, int from, int to, int step);
void emit_block(Emit *e); /* opens a plain block */
/* Whether a value lives in an array that nobody else reads later, so that it may be overwritten at `op`. */
bool emit_may_reuse(Emit *e, Ref ref, const Op *op);

/* --- simt_place.c --- */
extern const Expr place_r; /* the register of the loop that is being written */
extern const Expr place_lane, place_warp;
/* bits of `variable` sent to masks[i]; 0 when all are zero */
const Expr *place_bits(Arena *arena, const Expr *variable, int count, const uint32_t *masks);
/* The coordinate of register `r` along a dimension. */
const Expr *place_coord(Emit *e, const Layout *layout, int dim, const Expr *r);
/* Lanes and warps part alone (a variable), registers part alone. */
const Expr *place_thread(Emit *e, const LinearLayout *map, int dim);
const Expr *place_register(Emit *e, const LinearLayout *map, int dim, const Expr *r);
/* The places so far are found again, of a lane that no compiler knows (`anew`); so they are where a trip begins that
 * finds them anew (`trips_anew`): those that it needs are known when it is written. */
void place_anew(Emit *e);
CLines place_trip_begin(Emit *e, const Op *loop);
void place_trip_end(Emit *e, const Op *loop, CLines before);
/* The register of `operand` that stands where register r of `result` is; they may differ in extents of 1. */
const Expr *place_operand(Emit *e, Ref operand, const Layout *result, const Expr *r);
/* The same for a vector that has an element for each place along an axis of the tile. */
const Expr *place_along(Emit *e, Ref vector, const Layout *tile, int axis, const Expr *r);
/* The one bit of register, lane or warp that moves bit `bit` of the place along an axis. */
void place_axis_bit(Emit *e, const Layout *layout, int axis, int bit, LayoutInput *input, int *at);
/* Whose two elements are that differ in a bit of such an input, for comments. */
const char *place_between(LayoutInput input);
/* Says for `explain` where the elements along an axis lie: who combines them, and through what. */
void place_say_axis(Emit *e, const Op *op, const Layout *layout, int axis);
/* A condition that is true in the one thread that owns what this thread holds; NULL: always. */
const Expr *place_owner(Emit *e, const LinearLayout *map);
/* Whether register r lies inside the tile along the dimension; NULL: always. */
const Expr *place_inside(Emit *e, const Layout *layout, const Type *type, int dim, const Expr *r);

/* --- simt_elementwise.c --- */
bool elementwise_is(const Op *op);
/* Writes the run that begins at op; the last op of it. */
const Op *elementwise_run(Emit *e, const Op *op);
void elementwise_scalar(Emit *e, const Op *op);
/* The element of a tile (or the scalar) at register r of `result`, as a register value. */
const Expr *elementwise_operand(Emit *e, Ref ref, const Layout *result, const Expr *r);
const Expr *elementwise_packed(Emit *e, Elem elem, const Expr *x); /* cs_pack, without a detour */

/* An elementwise op of tiles at register r; the type of a variable that keeps it: "const f32". */
const Expr *elementwise_at(Emit *e, const Op *op, const Layout *layout, const Expr *r);
/* Whether that names the operand: a comparison of whole vectors does not. */
bool elementwise_reads(Emit *e, const Op *op, const Layout *layout, int operand);
const char *elementwise_type(Emit *e, const Type *type);

/* --- simt_pairs.c --- */
/* Declares such an array for the value and holds it there; NULL: it is not held so. */
const char *pairs_declare(Emit *e, Ref value);
/* An elementwise op of such values that makes one: whether it is, and its loop over the words. */
bool pairs_are(const Op *op);
void pairs_emit(Emit *e, const Op *op);
const Expr *pairs_element(Emit *e, Ref value, const Expr *at); /* as f32 */
const Expr *pairs_fill(Emit *e, const Op *load);
/* Address of the words of `vector` elements from r on. */
const Expr *pairs_stored(Emit *e, Ref value, int vector);
/* Elements 2 r and 2 r + 1 of a value, or of what it is made of where that is `packed`, in one word; all of them as an
 * array of words. */
const Expr *pairs_made(Emit *e, Ref x, const Layout *at);
void pairs_make(Emit *e, Ref value);

/* --- simt_bytes.c --- */
/* A cast from or to floats of 8 bits that does two numbers at once: whether it is, and its loop. */
bool bytes_are(Emit *e, const Op *op);
void bytes_emit(Emit *e, const Op *op);

/* --- simt_lean.c --- */
void lean_put_off(Emit *e, const Op *first, const Op *last);
/* The element at register r of the loop being written, after what it takes as variables of that
 * loop; the end of the loop forgets them. */
const Expr *lean_element(Emit *e, Ref value, const Expr *r);
void lean_close(Emit *e);
void lean_after_reduce(Emit *e, const Op *reduce);

/* --- simt_workers.c --- */
void workers_emit(Emit *e, const Op *spmd);
bool workers_meet(Emit *e, const Op *sync); /* a barrier of several workers; false: it is none */

/* --- simt_threads.c --- */
void threads_region(Emit *e, const Op *spmd);
/* Inside of one: an op that a thread does in another way than a block; false: it is none. */
bool threads_emit(Emit *e, const Op *op);
/* A loop that brings a thread's own array from global memory or there, in vectors (simt_own.c); false: it is none. */
bool own_loop(Emit *e, const Op *loop);

/* --- simt_memory.c --- */
void memory_tload(Emit *e, const Op *op);
void memory_tstore(Emit *e, const Op *op);
void memory_load(Emit *e, const Op *op);
void memory_store(Emit *e, const Op *op);
void memory_tatomic(Emit *e, const Op *op);
typedef struct TensorText {
    const Expr *base, *extent[MAX_RANK], *stride[MAX_RANK]; /* extent NULL: unbounded; stride NULL: 1 */
    int rank;
} TensorText;
TensorText memory_tensor(Emit *e, Ref tensor);

/* --- simt_sync.c --- */
/* What the schedule has marked on the op: before it (an atomic: before it reaches global memory), before it writes its
 * scratch, or a loop copies ahead (`sync=within`); a barrier that it has in any case. */
void sync_before(Emit *e, const Op *op);
void sync_before_access(Emit *e, const Op *op);
void sync_within(Emit *e, const Op *op);
void sync_step(Emit *e);
bool sync_shows(const Op *op); /* do its barriers come behind a fence? */
/* Before each of the rounds in which an op writes its scratch: the first is `sync_before`. */
void sync_round(Emit *e, const Op *op, bool *begun);

/* --- simt_shared.c --- */
int64_t shared_offset(Emit *e, const Op *op);
void shared_convert(Emit *e, const Op *op);
void shared_take_traded(Emit *e, Ref value, const char *words); /* what lanes have traded, as A's words */
/* Registers to a shared tile at `offset` (an expression), as the op that puts them there says (`vector`), and back: the
 * result of the op that gets them. */
void shared_store_tile(Emit *e, const Op *put, Ref value, const SharedTile *tile, const Expr *offset);
void shared_load_tile(Emit *e, const Op *get, const SharedTile *tile, const Expr *offset);
/* The same for the registers of part `part` of so many; part 0 lies at the offset. */
void shared_store_part(Emit *e, const Op *put, Ref value, const SharedTile *tile, const Expr *offset, int parts);
void shared_zero_tail(Emit *e, const SharedTile *tile, const Expr *offset);
const Expr *shared_at(Emit *e, const SharedTile *tile, const Expr *offset, const Expr *row, const Expr *column);

/* --- simt_stage.c --- */
/* A tile in shared memory that any thread reads at any place: dense; a buffer that products read lies in panels. */
typedef struct Stage {
    const Type *type;
    int64_t offset;
    const SharedTile *tile; /* NULL: dense */
} Stage;
Stage stage_of_buffer(Emit *e, Ref buffer);
const Expr *stage_place(Emit *e, const Stage *stage, const Expr *const *at);
/* Row-major index of the coordinates in the type; where it lies; coordinates of register r; whether
 * they are inside (and `also` holds). */
const Expr *stage_flat(Emit *e, const Type *type, const Expr *const *at);
const Expr *stage_rows(Emit *e, const Type *type, const Expr *const *at); /* without the last of them */
const Expr *stage_at(Emit *e, const Type *type, int64_t offset, const Expr *flat);
void stage_coords(Emit *e, const Layout *layout, int rank, const Expr **at);
const Expr *stage_inside(Emit *e, const Layout *layout, const Type *type, const Expr *also);
/* The value at register r of its layout, as an array holds it. */
const Expr *stage_element(Emit *e, Ref value, const Layout *layout, const Expr *r);
/* The whole value into a staged tile, shifted (NULL: not), so many elements at once. */
void stage_store(Emit *e, Ref value, const Stage *whole, const Expr *const *shift, int vector);
/* In a loop over r: so many registers of the (declared) result from the coordinates of the staged tile. */
void stage_load(Emit *e, Ref result, const Stage *whole, const Expr *const *at, int vector);

/* --- simt_moves.c --- */
bool moves_emit(Emit *e, const Op *op); /* false: no such op */
/* Where a box of a buffer begins: inside of it. */
void moves_offsets(Emit *e, RefList offsets, const Type *whole, const Type *box, const Expr **at);

/* --- simt_atomic.c --- */
void atomic_emit(Emit *e, const Op *op);
/* A scalar one, by the thread that is there, at `place` (NULL: where its operand points); the old value to `old`,
 * unless NULL. */
void atomic_by_thread(Emit *e, const Op *op, const Expr *place, const char *old);
const char *atomic_reach(const Op *op); /* what names of functions end in: "", "_system" */
void atomic_fence(Emit *e, const Op *op);
/* Every thread that holds an element of the op's result gets it from its owner: array, of registers. */
void atomic_hand_on(Emit *e, const Op *op, const char *array);
/* For boxes: what comes before, and one element. */
void atomic_begin(Emit *e, const Op *op);
void atomic_element(Emit *e, const Op *op, Elem elem, const Expr *pointer, const Expr *value);

/* --- simt_scan.c --- */
void scan_emit(Emit *e, const Op *op);
void fold_emit(Emit *e, const Op *op); /* a reduction by a region */

/* --- simt_sort.c --- */
void sort_emit(Emit *e, const Op *op);
void histogram_emit(Emit *e, const Op *op);

/* --- simt_dot.c --- */
void dot_emit(Emit *e, const Op *op);

/* --- simt_speech.c --- */
void speech_assert(Emit *e, const Op *op);
void speech_print(Emit *e, const Op *op);

/* --- simt_purpose.c --- */
void purpose_begin(Emit *e);
/* A comment before the lines that follow: what an index is for; nothing of other values. */
void purpose_say(Emit *e, Ref value);
/* Where the boxes of a copy begin that runs beside the threads (of accesses by lanes: purpose_box, simt_box.h). */
void purpose_boxes(Emit *e, const Op *op, Ref value, int boxes, int columns, long long bytes);
const char *purpose_name(Emit *e, Ref value);  /* as the source calls it, or what it comes from; NULL: it has no name */
const char *purpose_tile(Emit *e, Ref value);  /* .. or "the tile" */
const char *purpose_array(Emit *e, Ref value); /* the parameter that a tensor or a pointer begins with */

/* --- simt_reduce.c --- */
void reduce_emit(Emit *e, const Op *op);

#endif
