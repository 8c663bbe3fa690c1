/* SPDX-License-Identifier: Apache-2.0 */
/* tt_emit.h: what the files of the Tenstorrent emitter share.
 *
 *   tt_numbers.c       single numbers that compute has as tiles
 *   tt_moves.c         elements that change places inside a tile
 *   tt_parts.c         parts of tiles that are whole pages
 *   tt_integers.c      whole numbers that compute works out of data
 *   tt_casts.c         casts to floats of 8 bits
 *   tt_plan.c          roles, fields and their pages, circular buffers, kernel arguments
 *   tt_exact.c         reductions of f32 in steps, since source registers cut them
 *   tt_buffer.c        DRAM buffers
 *   tt_shards.c        those that lie in L1, and tasks that follow their shards
 *   tt_constant.c      what is the same for all tasks, and comes once
 *   tt_stream.c        outputs that are handed over in parts
 *   tt_share.c         loads that cores share
 *   tt_uneven.c        loops whose trips differ between those cores
 *   tt_index.c         tiles of indices: with which items of a ring they come
 *   tt_layout.c        pages of tiles and tensors, what is known of offsets and of padding
 *   tt_program.c       steps: the typed calls of a kernel (tt_program.h)
 *   tt_role.c          what all three kernels have: scalars, loops, branches, arguments
 *   tt_emit_data.c     the load role as the reader, the store role as the writer
 *   tt_rows.c          rows that an index vector chooses, as the reader fetches them
 *   tt_index_text.c    elements of tiles of indices, and of loads and stores that go element by element, as C
 *   tt_emit_compute.c  the compute role: hand-overs, when values are computed
 *   tt_carried.c       tiles that its loops carry
 *   tt_graph.c         one expression over tiles: calls, their order, DST slots
 *   tt_section.c       its steps: a few pages at a time through DST
 *   tt_setup.c         inits and formats of the compute kernel
 *   tt_lint.c          proof that the kernels keep the rules of a core
 *   tt_text.c          the kernels as C++
 *   tt_json.c          plan.json
 *   tt_host.c          host.cpp, CMakeLists.txt
 *
 * A function that finds something this target cannot do says so through tt_refuse and goes on with
 * something harmless; tt_emit looks at the count of errors in the end. */
#ifndef TARGET_TENSTORRENT_TT_EMIT_H
#define TARGET_TENSTORRENT_TT_EMIT_H
#include "ir/ringform.h"
#include "target/cstyle/cstyle.h"
#include "target/tenstorrent/tt.h"
#include "target/tenstorrent/tt_program.h"

enum { PAGE_SIDE = 32, PAGE_ELEMENTS = 1024 };

typedef struct TtField {
    Ref ring;
    int number; /* of the ring's fields */
    const char *name;
    const Type *type;
    TtPaging paging;
    int cb;     /* that copy_tile and the packer use; -1: none */
    int fpu_cb; /* that matmul and reduce use; the same one unless it must be exact and is Float32 */
    bool moved, multiplied;
    const Op *load; /* the tload that fills it, or NULL */
    bool plain;     /* element by element (tt_index_text.c) */
    bool stays;     /* the same for all tasks: it comes once (tt_constant.c) */
    bool streams;   /* an output whose pages are handed over as they are made (tt_stream.c) */
} TtField;

/* A tile that depends on indices alone (a mask, a ramp): the reader writes its pages (tt_index.c). */
typedef struct TtIndexTile {
    Ref value; /* i1 or float */
    int cb;
    const Op *user;    /* the first, for messages */
    const Op *wait;    /* in compute: its item comes with the item of this wait; NULL: one for each task */
    const Op *acquire; /* in load: where that item is made */
    bool stays;        /* the same for all tasks: there is one */
} TtIndexTile;

/* A loop of the reader, and compute's own, whose end differs between cores that share its loads (tt_uneven.c). */
typedef struct TtUneven {
    const Op *load, *compute;
    Ref index; /* of the task, by which they differ */
    TtShare share;
} TtUneven;

/* What an index vector is read from, and where it lies in L1 then. */
typedef struct TtFetch {
    const Op *load;
    int cb;
} TtFetch;
typedef VEC(TtFetch) TtFetched;

/* A page of what lies outside of tensors. */
typedef struct TtFill {
    TtFormat format;
    uint32_t bits; /* an element */
    int cb;
} TtFill;

typedef struct Tt {
    PassContext *cx;
    Kernel *k;
    Arena *arena;
    TtPlan *plan;
    const Op *tasks;
    const Op *role[TT_KERNELS]; /* NULL: absent */
    VEC(TtField) fields;
    VEC(TtIndexTile) index_tiles;
    VEC(TtUneven) uneven;
    TtFetched fetches;
    VEC(TtFill) fills;
    VEC(Ref) buffer_tensors; /* of plan->buffers */
    VEC(const Op *) buffer_accesses; /* the first one of each */
    TtPaging *paging;        /* of rank-1 tiles, by Ref */
    Map number_cbs;          /* of numbers that the reader tells compute */
    bool counts;             /* sums of products of integers */
    Map task_tiles;          /* index tiles that are the same for a whole task */
    Map kept;                /* values that are computed where they stand, once */
    Map is_read;             /* numbers: do they follow from memory? (tt_numbers.c) */
    bool *compute_needs;     /* by Ref: numbers that loops and branches of compute need */
    Map is_index, is_narrow; /* value -> Tt: yes; NULL: no (tt_layout.c) */
    Map padding;             /* value -> its number; NULL: none is known */
    bool *plain_stores;      /* by parameter: are stores to it element by element? */
    bool updates;            /* memory, atomically: cores take turns */
    Map to_bytes;            /* values that are rounded to floats of 8 bits (tt_casts.c) */
    TtCode code[TT_KERNELS];
    VEC(int) accessors[TT_KERNELS]; /* buffers, in the order of their compile-time arguments */
    int scaler_cb;           /* a page whose face rows 0 are 1.0, for reductions; -1: none */
} Tt;

void tt_refuse(Tt *tt, const Op *op, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* --- tt_annotations.c --- */
/* What the source asks for, where no option says otherwise; words that mean nothing are refused. */
void tt_take_annotations(Tt *tt);
/* Checks it against the kernel and the chip. */
void tt_settle_schedule(Tt *tt);
const char *tt_policy_name(const TtPlan *plan); /* as plan.json and the report say it */
const char *tt_order_name(const TtPlan *plan);
/* How many slots the options give the CBs of a ring that has so many; 0: an error was said. */
int64_t tt_slots(Tt *tt, const TtField *field, const Op *ring, int64_t slots);

/* --- tt_shards.c --- */
void tt_take_sharding(Tt *tt, const char *text); /* of an option or annotation */
/* Checks shards against the buffers; lets tasks follow those of one, if that is asked for or nothing else is. */
void tt_follow_shards(Tt *tt, bool order_is_free);
const char *tt_cut_name(const TwShards *shards); /* as options and plan.json have it */

/* --- tt_numbers.c --- */
void tt_lift_numbers(Tt *tt);
void tt_neutralize_padding(Tt *tt, const Op *op); /* of a sum, maximum or product */
Ref tt_inside_of(struct Builder *b, const Type *type, int axis); /* 1 for each element of a tile, 0 in its padding */
typedef struct Role Role;
void tt_need_told(Role *role); /* what the reader must read for compute */
void tt_tell_number(Role *role, const Op *load);
void tt_hear_number(Role *role, const Op *load);
bool tt_is_read(Tt *tt, Ref value); /* is it a number that follows from memory? */

/* --- tt_moves.c --- */
void tt_make_moves(Tt *tt);

/* --- tt_parts.c --- */
typedef struct TtPart { /* a slice or insert of whole pages */
    const Op *op;
    Ref whole, part;
    int64_t rows, columns; /* pages of the whole */
    int64_t row, column;   /* where the part begins */
} TtPart;
bool tt_part_pages(const Tt *tt, Ref value, TtPart *part); /* is it one? */
void tt_simplify_parts(Tt *tt);

/* --- tt_integers.c --- */
void tt_change_integers(Tt *tt);

/* --- tt_casts.c --- */
void tt_round_casts(Tt *tt);

/* --- tt_exact.c --- */
Ref tt_high_part(struct Builder *b, Ref x, bool in_srca); /* of f32: the bits that products take of a source register */
void tt_refine_reductions(Tt *tt);

/* --- tt_plan.c --- */
/* An access that neither reader nor writer can do, with the reason of the pass that left it; NULL: the
 * kernel has no roles at all. */
void tt_refuse_access(Tt *tt, const Op *op);
const char *tt_gather_reason(Tt *tt, const Op *load); /* why a load follows no boxes */
void tt_plan_roles(Tt *tt);
void tt_plan_fields(Tt *tt);
int tt_add_cb(Tt *tt, const char *name, Word from, Word to, const char *what, TtFormat format, int64_t item_pages,
              int64_t slots, Range range); /* index into plan->cbs */
int tt_add_scaler(Tt *tt, Range range);
TtField *tt_field(Tt *tt, const Op *put_or_get);
/* Calls visit for the ops of a region and below. */
typedef void TtVisitor(Tt *tt, const Op *op);
void tt_each(Tt *tt, const Region *region, TtVisitor *visit);
/* The number of the argument word. */
int tt_arg(Tt *tt, TtArgKind kind, const char *name, int index, int dim, Elem elem);
void tt_check_limits(Tt *tt);

int tt_add_number(Tt *tt, TtNumber number); /* index into plan->numbers */
int tt_add_value(Tt *tt, Ref value);

/* --- tt_buffer.c --- */
/* The DRAM buffer of a tload or tstore whose tile has the field's paging; -1 after an error. */
int tt_buffer(Tt *tt, const Op *access, TtPaging paging);
/* The one of an access that goes element by element. */
int tt_plain_buffer(Tt *tt, const Op *access);
/* Why a load does not come in whole pages, which is then said in the plan's notes; NULL: it does. Which stores do
 * not. */
const char *tt_plain_load(Tt *tt, const Op *load, TtPaging paging);
void tt_plan_plain_stores(Tt *tt);
bool tt_is_plain_store(const Tt *tt, const Op *store); /* as that planned */

/* The CB with a page of what lies outside of the buffer's tensor. */
int tt_fill_cb(Tt *tt, int buffer);
/* All buffers of loads and stores, and CBs of what loads need beside them, before kernels are built. */
void tt_plan_buffers(Tt *tt);

/* --- tt_constant.c --- */
void tt_plan_constants(Tt *tt);
bool tt_is_constant_tile(Tt *tt, Ref value); /* of indices */

/* --- tt_stream.c --- */
void tt_plan_streams(Tt *tt);

/* --- tt_share.c --- */
unsigned tt_task_uses(const Tt *tt, Ref number); /* of task indices: bits; all of them: nobody knows */
void tt_plan_shares(Tt *tt);

/* --- tt_uneven.c --- */
bool tt_add_uneven(Tt *tt, const Op *loop, Ref index, TtShare share); /* false: it cannot be shared */
/* Computes how many trips the group makes of a loop, and names that number; NULL: as many as each core by itself. */
const char *role_all_trips(Role *role, const Op *loop);

/* --- tt_index.c --- */
void tt_plan_index_tiles(Tt *tt);
const Op *tt_acquire_of(Tt *tt, const Op *wait); /* where the reader makes the item; NULL: not known */
/* The loop of the load role that does what this loop of the compute role does, for one index tile. */
const Op *tt_matching_loop(const TtIndexTile *tile, const Op *loop);

/* --- tt_layout.c --- */
bool tt_format(Elem elem, TtFormat *format); /* false: no such tiles */
bool tt_holds(Elem elem);                    /* as numbers of 8 bits, that bf16 holds exactly */
TtPaging tt_paging(const Tt *tt, Ref value);
/* Pages as rows and columns; an axis in front of the last two multiplies the rows. */
void tt_page_grid(const Type *type, TtPaging paging, int64_t *rows, int64_t *columns);
int64_t tt_pages(const Type *type, TtPaging paging);
TtLayout tt_layout(int rank, const int *dims, const Type *tile, TtPaging paging);
/* The tensor dimension of each axis of the tile. */
void tt_access_dims(const Tt *tt, const Op *access, int dims[MAX_RANK]);
/* What stands in the padding of a tile's pages; false: not one known number. */
bool tt_padding(Tt *tt, Ref value, double *number);
/* The value behind ops that change neither bits nor pages: widening casts, and new extents of 1. */
Ref tt_same_pages(const Tt *tt, Ref value);
/* Is it a tile made of indices and scalars only? */
bool tt_is_index(Tt *tt, Ref value);
/* Every value of it is exact in bf16. */
bool tt_is_narrow(Tt *tt, Ref value);

/* --- tt_role.c --- */
struct Role {
    Tt *tt;
    int kernel;   /* TensixProcessor */
    CPrinter p;   /* names, and lines in the end (tt_text.c) */
    Text head;    /* declarations at the top of kernel_main */
    TtBlock open; /* steps whose bodies are being built, the innermost last */
    const Op *op; /* at hand, for messages */
    Map declared;
    bool *needed;                            /* scalars, by Ref */
    void (*visit)(Role *role, const Op *op); /* all but scalars and control */
    /* Compute only, else NULL: */
    void (*loop)(Role *role, const Op *loop); /* a loop */
    void (*before)(Role *role);               /* in front of the loop over tasks, and behind it */
    void (*behind)(Role *role);
    void (*start)(Role *role);               /* of a task */
    void (*finish)(Role *role);              /* at its end */
    size_t (*enter)(Role *role);             /* at the start of a region; its mark goes to leave */
    void (*after)(Role *role, const Op *op); /* behind each op */
    void (*leave)(Role *role, size_t mark);
};
void role_init(Role *role, Tt *tt, int kernel);
void role_need(Role *role, Ref scalar);                /* marks it and what it is made of */
void role_build(Role *role);                           /* the whole kernel */
void role_ops(Role *role, const Region *region);       /* one by one */
void role_region(Role *role, const Region *region);    /* between enter and leave */
void role_open_for(Role *role, const Op *loop, const char *trips); /* for (..) {; trips: NULL, or other than its own */
const char *role_trips(Role *role, const Op *loop);    /* how many it makes */
void role_scalar(Role *role, const Op *op);            /* one line, if something needs it */
const char *role_no_trips(Role *role, const Op *loop); /* the condition that it makes none */
bool role_always_runs(const Kernel *k, const Op *loop);
bool tt_has_scalar(const Kernel *k, const Op *op);         /* can the small processors compute it? */
const char *role_scalar_text(Role *role, const Op *op); /* of one that is made */
void role_scalar_yield(Role *role, const Op *loop); /* carried scalars at its end */
const char *role_ref(Role *role, Ref scalar);       /* text of a scalar */
const char *role_literal(Role *role, Ref literal);  /* of one that is known; NULL for none */
/* Of an elementwise op, from the texts of its operands: names, literals or in parentheses. */
const char *role_elementwise(Role *role, const Op *op, const char *const *texts);
const char *role_arg(Role *role, TtArgKind kind, const char *hint, int index, int dim);
const char *role_accessor(Role *role, int buffer);
const char *role_elements(Role *role, int buffer); /* of a plain buffer, with a page of it in L1 */
const char *role_turn(Role *role); /* this core's turn among those that update memory atomically */
const char *role_fill(Role *role, int buffer); /* where a page of its fill lies in L1 */
const char *role_share(Role *role, TtShare share); /* the group of cores along a row or column */
/* Declares how many it has, and this core's place: row_members, row_place. */
void role_members(Role *role, TtShare share);
const char *role_cb(Role *role, int cb);               /* declares its constant */
bool role_is_scalar_op(const Kernel *k, const Op *op); /* prints as one C expression */

/* --- tt_program.c --- */
void role_step(Role *role, TtStep step);
void role_open(Role *role, TtStep step); /* steps go into its body from here on */
void role_close(Role *role);
void role_line(Role *role, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A STEP_FOR or STEP_IF. */
void role_open_text(Role *role, TtStepKind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
void role_open_count(Role *role, const char *name, int64_t end, int step); /* for (name = 0; name < end; += step) { */
void role_place(Role *role, Range range);
void role_hand(Role *role, TtHand hand, int cb);

/* --- tt_index_text.c --- */
void tt_make_index_tile(Role *role, const TtIndexTile *tile);
/* The numbers that an index tile of compute is made of; those of an index vector of this role. */
void tt_need_indices(Role *role, const TtIndexTile *tile, Map *seen);
void tt_need_vector(Role *role, Ref vector, Map *seen);
void tt_need_access(Role *role, const Op *access, Map *seen); /* that goes element by element */
const char *tt_number_text(Role *role, const Op *load);
void tt_read_elements(Role *role, const Op *load, const TtField *field, int cb);
/* Of a field, or (NULL) of a value that the writer makes itself; also an atomic update. */
void tt_write_elements(Role *role, const Op *store, const TtField *field);
/* The element `i` of an index vector of this role; what it loads is in L1 (tt_rows.c). */
const char *tt_vector_element(Role *role, const Op *user, Ref vector, const char *i);

/* --- tt_rows.c --- */
/* The dimension of the tensor whose places an index vector of the load gives; -1: none. */
int tt_indexed_dim(const Tt *tt, const Op *access);
const char *tt_odd_vector(Tt *tt, const Op *access); /* why the reader cannot fetch its index vector in pages; NULL */
void tt_plan_fetches(Tt *tt); /* CBs and buffers of what index vectors are read from */
/* Brings what the index vector of the load is read from to L1, and waits for it; and gives that up. */
TtFetched tt_fetch_indices(Role *role, const Op *load);
void tt_drop_indices(Role *role, const TtFetched *fetched);
const char *tt_fetched(Role *role, const Op *load); /* where an index vector lies in L1 */
/* The pages of an index vector, or of a box, in front of `to`; tt_emit_data.c. */
void tt_read_box(Role *role, const Op *load, const TtField *field, int cb);

/* --- tt_carried.c --- */
/* Is value i that the loop carries a sum, x + e or dot onto x, and neither x nor it used otherwise? */
bool tt_is_sum(const Tt *tt, const Op *loop, int i);

/* --- tt_emit_data.c, tt_emit_compute.c: from a role to its steps --- */
Role *tt_build_reader(Tt *tt);
Role *tt_build_writer(Tt *tt);
Role *tt_build_compute(Tt *tt);

/* --- tt_setup.c, tt_lint.c, tt_text.c, tt_json.c: over the steps --- */
void tt_settle_setup(Tt *tt, TtCode *code);
int tt_register_format(const Tt *tt, TtRegister reg, int cb);
void tt_lint(Tt *tt);
char *tt_kernel_text(Role *role);
char *tt_json(const Tt *tt);
void tt_host_text(Tt *tt);
char *tt_cmake_text(const Tt *tt);
#endif
