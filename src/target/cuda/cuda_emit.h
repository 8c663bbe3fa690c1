/* cuda_emit.h: what the files of the CUDA emitter share.
 *
 * A tile in registers is a local array, one element a register of its layout: `f32 acc[128]`; loops
 * over the registers are unrolled, so the indices are constants. Floats smaller than f32 lie in
 * such arrays in their memory type, and are f32 between two arrays. A tile in shared memory is a
 * byte offset. Scalars are plain variables, equal in all threads, so that every branch and loop is
 * uniform.
 *
 *   cuda_emit.c         the file, the kernel, control flow
 *   simt_place.c        layouts as index expressions
 *   simt_elementwise.c  runs of elementwise ops as one loop
 *   simt_memory.c       global loads and stores
 *   simt_pairs.c        16-bit floats two a word
 *   simt_atomic.c       atomics
 *   simt_shared.c       shared memory: who lies where, barriers, tiles in and out, converts
 *   simt_stage.c        tiles in shared memory that any thread reads at any place
 *   simt_moves.c        join, split, cat, slice, flip, gather .., buffers
 *   simt_reduce.c       reductions
 *   simt_scan.c         scans, and reductions by a region over a tuple
 *   simt_sort.c         sorts and histograms
 *   simt_speech.c       assert and print
 *   cuda_dot.c          fma, mma.sync, wgmma
 *   cuda_ring.c         rings: mbarriers and TMA
 *   cuda_roles.c        tasks and roles
 *   cuda_parts.c        output tiles that leave panel by panel
 *   cuda_cluster.c      pairs of blocks that load for each other
 *   cuda_gang.c         programs side by side in a block
 *   cuda_rotate.c       loops turned so that a product runs under the next trip's arithmetic
 *   cuda_skew.c         loads that run ahead on the same threads: cp.async */
#ifndef TARGET_CUDA_CUDA_EMIT_H
#define TARGET_CUDA_CUDA_EMIT_H
#include "pass/layout/layout.h"
#include "pass/ring/ring.h"
#include "pass/ring/ring_gang.h"
#include "target/cstyle/cstyle.h"
#include "target/cuda/cuda.h"

typedef enum HoldKind {
    HOLD_NONE,
    HOLD_SCALAR, /* text: an expression; also a tile whose elements are all that scalar */
    HOLD_ARRAY,  /* text: the array */
    HOLD_WORDS,  /* text: an array of u32 that holds its elements, for a put (cuda_loose.c) */
    HOLD_PAIRS,  /* text: an array of u32, two elements each (simt_pairs.c) */
    HOLD_WIDE,   /* text: an array of f32 that a store rounds (simt_pairs.c) */
    HOLD_LOCAL,  /* text: a variable of the loop being written */
    HOLD_LATER,  /* nowhere yet: computed in the loop that uses it (simt_lean.c) */
    HOLD_SHARED, /* text: the byte offset */
    HOLD_SLOT    /* text: the slot's number; item: the number of the item */
} HoldKind;
typedef struct Hold {
    HoldKind kind;
    const char *text;
} Hold;

/* A ring as shared memory. */
typedef struct RingPlan {
    Ref ring;
    const char *name;
    /* constants of the text: offsets of the fields and of the barriers, bytes of a slot */
    const char *field_name[MAX_RING_FIELDS], *bytes_name, *full_name, *empty_name;
    int64_t offset, slot_bytes;
    int slots, hold;
    int64_t field_offset[MAX_RING_FIELDS];
    SharedTile field[MAX_RING_FIELDS];
    int64_t full, empty; /* byte offsets of the barriers; full[i] = full + 8 i */
    int full_count, empty_count;
    int ahead;      /* skew: items filled outside of a loop before they are waited for, where the text stands */
    bool by_tma;    /* puts are moved by TMA; else all are stores */
    int stores;     /* puts by the producer's threads */
    bool tma_store; /* a field goes out by TMA */
    int parts;      /* panels that go out one by one, two have room (cuda_parts.c); 0: the whole tile */
    Ref part_value; /* what is put */
    bool fused;     /* producer and consumer are the same threads: a buffer, no barriers */
    bool shared;    /* blocks of a cluster load parts of it for each other (cuda_cluster.c) */
    bool skewed;    /* and the producer runs ahead (cuda_skew.c) */
    bool each;      /* every program of a gang has a slot of its own (cuda_gang.c) */
    bool by_lane;   /* each thread gives a slot back, not one for its warp */
} RingPlan;

typedef struct Emit {
    PassContext *cx;
    Kernel *k;
    Arena *arena;
    CudaPlan *plan;
    CPrinter p;
    Facts facts;
    CLines *top; /* places: written before the statements of the role */
    int top_depth;
    VEC(Hold) holds; /* by Ref */
    int *uses;
    const Op *role; /* NULL: flat */
    ThreadGroup group;
    int barrier_id; /* of the group; 0: the whole block */
    Gang gang;
    bool in_gang;          /* the role being written runs once a program of the gang, `gang` is its number */
    Map places;            /* layout, dimension -> variable */
    Map found;             /* ops with a finding */
    VEC(const Op *) early; /* loads that an earlier one has taken along */
    Map pairs;             /* values that are held two a word (simt_pairs.c) */
    Map overs;             /* divisors of whole tiles -> their TwOver */
    VEC(Ref) computed;     /* variables of the loop being written (simt_lean.c) */
    Map forms;             /* wgmma forms defined */
    CLines forms_lines;
    /* shared memory */
    Map offsets; /* op -> its buffer's offset + 1 */
    int64_t shared_bytes;
    VEC(RingPlan) rings;
    /* since the last barrier of the group */
    bool reads_pending, writes_pending, async_pending, stores_pending;
    bool dot_reads;                    /* a dot in flight reads shared memory, which no barrier ends */
    const Op *scratch_read;            /* whose scratch alone was read; NULL: anything may have been */
    uint64_t loaded, stored, combined; /* parameters that global memory was reached through, as
                                          bits (memory_roots): by loads, stores, atomics */
    uint64_t in_flight;                /* those that TMA stores of the task may not have reached yet, barrier or not */
    uint64_t by_threads;               /* those that threads of the task have written, which TMA has to be told */
    Map roots;                         /* pointer -> its parameters, as bits */
    int vector_bits;                   /* register bits that are 0 in the loop being written, which steps over vectors
                      */
    int coarse_bits;                   /* and those that a coordinate being written leaves out anyway */
    bool lean;                         /* tiles are too large for the registers: simt_lean.c */
    bool persist;
    int cluster; /* blocks of one, if a launch has them; 0: none */
    int share;   /* the task index along which it runs */
    /* rings */
    Map map_of;                     /* access -> its tensor map */
    bool bulk_pending, bulk_issued; /* a TMA store may read on; the role has issued one */
    const Op *ahead;                /* skew: where the load role stands */
    const Op *skew_loop;            /* the loop being written, whose loads run ahead */
    int skew_distance;
    const Op *staged;       /* the loop being written, whose words are copied ahead (cuda_loose.c) */
    const char *staged_at;  /* variable: where those of this trip lie */
    const Op *late_release; /* in the loop being written: comes one item late */
    const char *late;       /* variable: the slot that is still held, or -1 */
    const Op *end;          /* where the run of ops being written ends */
} Emit;

/* --- cuda_emit.c --- */
void emit_region(Emit *e, const Region *region);        /* all ops but the terminator */
void emit_ops(Emit *e, const Op *first, const Op *end); /* those from first to the one before end */
void emit_carried(Emit *e, Ref ref, Ref initial);       /* declares a variable that a loop or if sets */
void emit_copy(Emit *e, Ref target, Ref source);        /* into such a variable */
void emit_copies(Emit *e, const Ref *targets, const Ref *sources, int count); /* all at once */
/* What the next barrier stands for. Where two ways meet, it is all that either left. */
typedef struct Pending {
    bool reads, writes, async, stores, bulk;
    const Op *scratch_read;
    uint64_t loaded, stored, combined, in_flight, by_threads;
} Pending;
Pending emit_pending(const Emit *e);
void emit_pending_set(Emit *e, Pending p);
void emit_pending_add(Emit *e, Pending p);
/* The condition that a for makes a trip at this value of its variable; the step's sign may be known at run time only. */
const char *emit_goes_on(Emit *e, const Op *loop, const char *at);
void emit_enter_loop(Emit *e, const Op *op); /* what an earlier trip may have left pending */
void emit_op(Emit *e, const Op *op);
/* A finding for `explain`, once an op however often it is written. */
void emit_find(Emit *e, const Op *op, const char *subject, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void emit_refuse(Emit *e, const Op *op, const char *what);
Hold *emit_hold(Emit *e, Ref ref);           /* until the next call: the table may grow */
void emit_same(Emit *e, Ref ref, Ref other); /* held as the other one */
void emit_set(Emit *e, Ref ref, HoldKind kind, const char *text);
const Layout *emit_layout(Emit *e, Ref ref); /* NULL for scalars */
bool emit_is_tile(Emit *e, Ref ref);
const char *emit_scalar(Emit *e, Ref ref);              /* of a value of rank 0, or a literal */
const char *emit_array_type(Emit *e, const Type *type); /* of an element in an array */
/* Declares an array for the value and holds it there. */
const char *emit_declare(Emit *e, Ref ref);
/* What the region computes is computed anew: for a body that is written more than once. */
void emit_forget(Emit *e, const Region *region);
void emit_unroll(Emit *e, const char *variable, int count, int step); /* opens `for (..)` */
void emit_unroll_from(Emit *e, const char *variable, int from, int to, int step);
void emit_block(Emit *e); /* opens a plain block */
/* Whether a value lives in an array that nobody else reads later, so that it may be overwritten at `op`. */
bool emit_may_reuse(Emit *e, Ref ref, const Op *op);

/* --- simt_place.c --- */
/* bits of `variable` sent to masks[i]; "0" when all are zero */
char *place_bits(Arena *arena, const char *variable, int count, const uint32_t *masks);
/* The coordinate of register `r` (an expression) along a dimension. */
char *place_coord(Emit *e, const Layout *layout, int dim, const char *r);
/* Lanes and warps part alone (a variable), registers part alone. */
const char *place_thread(Emit *e, const LinearLayout *map, int dim);
char *place_register(Emit *e, const LinearLayout *map, int dim, const char *r);
/* The register of `operand` that stands where register r of `result` is; they may differ in extents of 1. */
char *place_operand(Emit *e, Ref operand, const Layout *result, const char *r);
/* Says for `explain` where the elements along an axis lie: who combines them, and through what. */
void place_say_axis(Emit *e, const Op *op, const Layout *layout, int axis);
/* A condition that is true in the one thread that owns what this thread holds; NULL: always. */
char *place_owner(Emit *e, const LinearLayout *map);
/* Whether register r lies inside the tile along the dimension; NULL: always. */
char *place_inside(Emit *e, const Layout *layout, const Type *type, int dim, const char *r);

/* --- simt_elementwise.c --- */
bool elementwise_is(const Op *op);
/* Writes the run that begins at op; the last op of it. */
const Op *elementwise_run(Emit *e, const Op *op);
void elementwise_scalar(Emit *e, const Op *op);
/* The element of a tile (or the scalar) at register r of `result`, as a register value. */
const char *elementwise_operand(Emit *e, Ref ref, const Layout *result, const char *r);
const char *elementwise_packed(Emit *e, Elem elem, const char *text); /* cs_pack, without a detour */

/* An elementwise op of tiles at register r; the type of a variable that keeps it: "const f32". */
const char *elementwise_at(Emit *e, const Op *op, const Layout *layout, const char *r);
/* Whether that text names the operand: a comparison of whole vectors does not. */
bool elementwise_reads(Emit *e, const Op *op, const Layout *layout, int operand);
const char *elementwise_type(Emit *e, const Type *type);

/* --- simt_pairs.c --- */
void pairs_plan(Emit *e); /* who is held so; of flat kernels */
/* Declares such an array for the value and holds it there; NULL: it is not held so. */
const char *pairs_declare(Emit *e, Ref value);
/* An elementwise op of such values that makes one: whether it is, and its loop over the words. */
bool pairs_are(Emit *e, const Op *op);
void pairs_emit(Emit *e, const Op *op);
const char *pairs_element(Emit *e, Ref value, const char *at); /* as f32 */
const char *pairs_fill(Emit *e, const Op *load);
/* Address of the words of `vector` elements from r on. */
const char *pairs_stored(Emit *e, Ref value, int vector);

/* --- simt_lean.c --- */
bool lean_wanted(Emit *e);
void lean_put_off(Emit *e, const Op *first, const Op *last);
/* The element at register r of the loop being written, after what it takes as variables of that
 * loop; the end of the loop forgets them. */
const char *lean_element(Emit *e, Ref value, const char *r);
void lean_close(Emit *e);
void lean_after_reduce(Emit *e, const Op *reduce);

/* --- simt_memory.c --- */
void memory_tload(Emit *e, const Op *op);
void memory_tstore(Emit *e, const Op *op);
void memory_load(Emit *e, const Op *op);
void memory_store(Emit *e, const Op *op);
void memory_tatomic(Emit *e, const Op *op);
/* Notes what an access reaches global memory through; what must be ordered before it writes. */
void memory_mark(Emit *e, const Op *op);
void memory_before_write(Emit *e, const Op *op);
void memory_before_tma(Emit *e, const Op *op); /* a store, between the barrier and its issue */
/* Is the load's only use a put that can copy straight from global to shared memory? Then the load writes nothing. */
bool memory_defers(Emit *e, Ref value);
void memory_copy(Emit *e, const Op *load, const SharedTile *tile, const char *offset);
typedef struct TensorText {
    const char *base, *extent[MAX_RANK], *stride[MAX_RANK]; /* extent NULL: unbounded; stride NULL: 1 */
    int rank;
} TensorText;
TensorText memory_tensor(Emit *e, Ref tensor);

/* --- cuda_loose.c --- */
/* A loop of a load role whose rows are not aligned copies their words into shared memory some trips
 * ahead: what that takes; before the loop (false: it does not); at the begin of the trip of value
 * `at`; at its end. */
int64_t loose_scratch(Emit *e, const Op *loop);
bool loose_begin(Emit *e, const Op *loop);
void loose_step(Emit *e, const Op *loop, const char *at);
void loose_next(Emit *e);

/* --- simt_shared.c --- */
void shared_plan(Emit *e);
void shared_refuse(Emit *e); /* it does not fit: who needs most of it, and what can be done */
void shared_sync(Emit *e);   /* a barrier of the group, with a fence where the async proxy reads on */
void shared_before_write(Emit *e);
void shared_before_read(Emit *e);
/* The same for scratch of the op. */
void shared_before_scratch(Emit *e, const Op *op);
void shared_after_scratch(Emit *e, const Op *op);
int64_t shared_offset(Emit *e, const Op *op);
void shared_convert(Emit *e, const Op *op);
/* Registers to a shared tile at `offset` (an expression), and back. */
/* The same for the registers of part `part` of so many; part 0 lies at the offset. */
void shared_store_part(Emit *e, Ref value, const SharedTile *tile, const char *offset, int parts);
void shared_store_tile(Emit *e, Ref value, const SharedTile *tile, const char *offset);
void shared_load_tile(Emit *e, Ref value, const SharedTile *tile, const char *offset);
void shared_zero_tail(Emit *e, const SharedTile *tile, const char *offset);
char *shared_at(Emit *e, const SharedTile *tile, const char *offset, const char *row, const char *column);
/* Bytes of scratch that the op needs while it runs. */
int64_t shared_scratch(Emit *e, const Op *op);

/* --- simt_stage.c --- */
int64_t stage_bytes(const Type *type);
/* Row-major index of the coordinates in the type; where it lies; coordinates of register r; whether
 * they are inside (and `also` holds). */
const char *stage_flat(Emit *e, const Type *type, const char *const *at);
const char *stage_at(Emit *e, const Type *type, int64_t offset, const char *flat);
void stage_coords(Emit *e, const Layout *layout, int rank, const char **at);
char *stage_inside(Emit *e, const Layout *layout, const Type *type, char *also);
/* The value at register r of its layout, as an array holds it. */
const char *stage_element(Emit *e, Ref value, const Layout *layout, const char *r);
/* The whole value into a staged tile of type `whole`, shifted (NULL: not). */
void stage_store(Emit *e, Ref value, const Type *whole, int64_t offset, const char *const *shift);
/* In a loop over r: register r of the (declared) result from the coordinates of the staged tile. */
void stage_load(Emit *e, Ref result, const Type *whole, int64_t offset, const char *const *at);

/* --- simt_moves.c --- */
bool moves_emit(Emit *e, const Op *op); /* false: no such op */
bool moves_stages_reshape(Emit *e, const Op *op);
int64_t moves_scratch(Emit *e, const Op *op);

/* --- simt_atomic.c --- */
void atomic_emit(Emit *e, const Op *op);
int64_t atomic_scratch(Emit *e, const Op *op);
void atomic_fence(Emit *e, const Op *op);
/* For boxes: what comes before, and one element. */
void atomic_begin(Emit *e, const Op *op);
void atomic_element(Emit *e, const Op *op, Elem elem, const char *pointer, const char *value);

/* --- simt_scan.c --- */
void scan_emit(Emit *e, const Op *op);
int64_t scan_scratch(Emit *e, const Op *op);
void fold_emit(Emit *e, const Op *op); /* a reduction by a region */
int64_t fold_scratch(Emit *e, const Op *op);

/* --- simt_sort.c --- */
void sort_emit(Emit *e, const Op *op);
int64_t sort_scratch(Emit *e, const Op *op);
void histogram_emit(Emit *e, const Op *op);

/* --- simt_speech.c --- */
void speech_assert(Emit *e, const Op *op);
void speech_print(Emit *e, const Op *op);

/* --- simt_reduce.c --- */
void reduce_emit(Emit *e, const Op *op);
int64_t reduce_scratch(Emit *e, const Op *op);

/* --- cuda_dot.c --- */
void dot_emit(Emit *e, const Op *op);
bool dot_reads_scratch(Emit *e, const Op *op); /* shared memory that is no ring's */
/* Is the cast done by the dot that it feeds? One instruction rounds and packs two numbers. */
bool dot_rounds(Emit *e, const Op *cast);
/* wgmma into an f32 accumulator can be issued and waited for later. */
bool dot_is_async(Emit *e, const Op *op);
/* wgmma in pieces: issued into an accumulator of its own (its name); onto an array that holds the
 * sum, the left operand packed before (NULL: it lies in shared memory). */
const char *dot_issue(Emit *e, const Op *op);
void dot_issue_onto(Emit *e, const Op *op, const char *accumulator, const char *left);
const char *dot_declare_left(Emit *e, const Op *op);
void dot_pack_left(Emit *e, const Op *op, const char *words);

/* --- cuda_ring.c --- */
/* `other` bytes of shared memory are needed beside the rings; slots are taken away until all fits. */
void ring_plan(Emit *e, int64_t other);
void ring_op(Emit *e, const Op *op);
bool ring_is(const Op *op);
void ring_wait_again(Emit *e, const Op *wait); /* for the item that was waited for last */
RingPlan *ring_find(Emit *e, Ref ring);
int ring_wanted(Emit *e, Ref value); /* the place of a number among those that the launcher computes */
/* Does one thread run the whole role? It does if it only issues TMA. */
bool ring_role_is_single(Emit *e, const Op *role);
const char *ring_counter(Emit *e, const RingPlan *r, const char *what);
int ring_field(Emit *e, const RingPlan *ring, const char *name); /* its number */
const char *ring_barrier(Emit *e, const char *base, const char *slot);
bool ring_counts(const Emit *e, const RingPlan *r); /* does the role count slots, not only phases? */

/* --- cuda_roles.c --- */
bool roles_load_by_threads(const Emit *e); /* does a ring take stores, not only TMA? */
void roles_tasks(Emit *e, const Op *tasks);
/* --- cuda_parts.c --- */
void parts_plan(Emit *e, RingPlan *r, const Op *tasks); /* decides whether the ring's tile goes in parts */
void parts_open(Emit *e, const RingPlan *r);            /* the loop over them, up to the store of one */
/* --- cuda_cluster.c --- */
void cluster_plan(Emit *e, const Op *tasks); /* after the rings */
typedef enum ClusterHalf { HALF_NONE, HALF_PANELS, HALF_ROWS } ClusterHalf;
void cluster_begin(Emit *e, const Op *tasks); /* what the text calls its numbers */
/* How the blocks of a cluster divide the load of a put; HALF_NONE: each has its own. */
ClusterHalf cluster_half(Emit *e, const Op *put, const SharedTile *tile);
/* Of index d: its extent in the numbering of tasks, and its place from that numbering. */
const char *cluster_extent(Emit *e, const Op *tasks, int d);
const char *cluster_place(Emit *e, const Op *tasks, int d, const char *index);
/* The warp gives a slot back; condition: NULL or what must hold. */
void cluster_arrive(Emit *e, const RingPlan *r, const char *condition, const char *slot);
/* What the role needs of the task's header, or only what `value` is made of. */
void roles_header(Emit *e, const Op *tasks, const Op *role, Ref value);

/* --- cuda_gang.c --- */
/* Fills in e->gang from the plan; says why where it cannot be followed. */
void gang_plan(Emit *e, Op *tasks);
bool gang_is(const Emit *e);
const char *gang_extent(Emit *e, const Op *tasks, int dim); /* of the tasks along an index */
const char *gang_index(Emit *e, const Op *tasks, int dim);  /* and the name of a task's */
void gang_begin(Emit *e, const Op *tasks);                  /* before the roles */
void gang_task(Emit *e, const Op *tasks, const Op *role);   /* header and body of a role's task */
void gang_end_loop(Emit *e, const Op *loop);                /* trips of longer programs of the gang pass by */

/* --- cuda_skew.c --- */
/* The loop of the load role that belongs to a loop of the role being written, or NULL; around and in that loop: */
const Op *skew_match(Emit *e, const Op *loop);
void skew_begin(Emit *e, const Op *loop, const Op *other);
void skew_step(Emit *e, const Op *loop, const Op *other, const char *at);
void skew_turn_end(Emit *e, const Op *loop, const Op *other);
void skew_end(Emit *e, const Op *other);
void skew_catch_up(Emit *e, const Op *wait); /* outside such a loop: the item is loaded now */

/* --- cuda_rotate.c --- */
bool rotate_emit(Emit *e, const Op *loop); /* false: not a loop that is turned */
/* Around a role's tasks: whose turn it is first; false: its workers do not take turns. */
bool rotate_begin(Emit *e, const Op *role);
void rotate_end(Emit *e);

/* The release of a loop whose dot may stay in flight, or NULL; what ends such a loop. */
const Op *roles_late_release(Emit *e, const Op *loop);
void roles_end_late(Emit *e, const Op *release, const char *accumulator);
#endif
