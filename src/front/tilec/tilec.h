/* SPDX-License-Identifier: Apache-2.0 */
/* tilec.h: what the files of the Tile C door share; nobody else includes it.
 *
 * The door walks the tree of a kernel once and emits IR as it goes: functions are inlined, pointers
 * are known at compile time and name the places they point to, scalars become SSA values, tiles
 * become buffers that `raise` turns into values. Threads never appear in the IR: what depends on
 * the thread's number (laneid(), warpgroup_groupid()) is a table of constants, one a thread, and
 * `if` over such a value narrows the set of active threads. So arrivals and bytes can be counted
 * exactly, and a tile operation reached by half a warp is seen.
 *
 *     tilec.c           the door: kernels and parameters of a file, entry of lowering
 *     tilec_type.c      types, names and scopes; tilec_tiletype.c  those of tiles, vectors and globals
 *     tilec_number.c    arithmetic on numbers, also those that depend on the thread
 *     tilec_place.c     places: variables, their parts, initializers, assignment
 *     tilec_expr.c      expressions; tilec_part.c  what names a part of a tile
 *     tilec_stmt.c      statements, branches, calls
 *     tilec_loop.c      loops, and what is kept of variables around control flow
 *     tilec_typeof.c    the type of an expression that is not computed
 *     tilec_flow.c      jumps and choices that only the run decides
 *     tilec_tile.c      tiles and vectors: what is read and written of them, through indices, views and parts
 *     tilec_builtin.c   the operations of tilec_builtins.def: which row a call is, and who must reach it
 *     tilec_step.c      .. of one warp each that several warps do together
 *     tilec_move.c      .. between memories      tilec_map.c   .. element by element, broadcasts, masks
 *     tilec_axis.c      .. along rows, columns   tilec_mma.c   .. products     tilec_math.c  .. of numbers
 *     tilec_complex.c   .. of complex tiles
 *     tilec_sync.c      .. semaphores, waits and what they protect; tilec_semaphore.c  those of the kernel's own
 *     tilec_trace.c     what threads do at tiles, in order; tilec_race.c  .. whether they wait for each other
 *     tilec_descriptor.c  what lcf_kernel(..) says; tilec_template.c  its roles and rings */
#ifndef FRONT_TILEC_TILEC_H
#define FRONT_TILEC_TILEC_H
#include "front/front.h"
#include "ir/build.h"
#include "syntax/c_parse.h"

/* ---- types ---- */

typedef enum TcKind {
    TC_VOID,
    TC_SCALAR,
    TC_POINTER,
    TC_ARRAY,
    TC_STRUCT,
    TC_TILE,
    TC_GLOBAL,
    TC_SEMAPHORE,
    TC_DIM3
} TcKind;
typedef enum TcLevel { TC_SHARED, TC_REGISTER } TcLevel;

typedef struct TcType TcType;
typedef struct TcField {
    const char *name;
    const TcType *type;
    Range range;
} TcField;
struct TcType {
    TcKind kind;
    const char *name; /* as messages print it */
    Elem elem;        /* SCALAR, TILE, GLOBAL */
    const TcType *of; /* POINTER, ARRAY */
    int64_t count;    /* ARRAY */
    int field_count;  /* STRUCT */
    const TcField *fields;
    bool is_coord;   /* STRUCT: b, d, r, c, as at(..) gives them */
    bool is_complex; /* STRUCT: real and imag, of which operations make complex numbers */
    TcLevel level; /* TILE */
    int rank;      /* TILE: 2, or 1 for a vector, whose length is cols */
    bool repeated; /* register vector: every warp has the same one (row_vec), not a part each (col_vec) */
    int64_t rows, cols;
    int64_t dims[4]; /* GLOBAL: -1 for run time */
};

/* ---- values ---- */

/* A number: ref + lanes[thread]. ref is a literal or a value that is the same for all threads;
 * lanes, if not NULL, has one constant a thread. A Scalar whose ref is REF_NONE was never written. */
typedef struct Scalar {
    const TcType *type;
    Ref ref;
    const int64_t *lanes;
    bool open; /* perhaps unwritten */
    bool lost; /* perhaps unwritten where a jump lands that was taken before */
} Scalar;
static inline Scalar tc_scalar(const TcType *type, Ref ref, const int64_t *lanes) {
    return (Scalar){type, ref, lanes, false, false};
}

typedef struct Object Object;
enum { MAX_INDICES = 4 };
/* A place or a part of it; indices of tiles that share a buffer, or a ring's slot, may be run-time values. */
typedef struct Lvalue {
    Object *place;
    const TcType *type; /* differs from the place's behind indices, tile_view, subtile and elements */
    bool is_view;
    int run; /* so many of the last index's tiles, one above the other; 0: one */
    int index_count;
    Scalar index[MAX_INDICES];
    int part_count; /* subtile: the first element of the part, a number a dimension of the tile */
    Scalar part[2];
} Lvalue;

typedef enum ExprKind { X_ERROR, X_VOID, X_SCALAR, X_PLACE, X_POINTER, X_COORD } ExprKind;
typedef struct Expr {
    ExprKind kind;
    Range range;
    Scalar scalar; /* SCALAR */
    Lvalue lvalue; /* PLACE; POINTER: what it points to */
    int coord_count;
    Scalar coords[4];
} Expr;

/* ---- places ---- */

typedef struct Block Block;
struct Tc;
struct Object {
    const TcType *type;
    const char *name;
    const char *locked; /* why it may not be assigned, or NULL */
    Range range;        /* of its declaration */
    Object **parts;     /* STRUCT: fields; ARRAY: elements, unless they share a buffer */
    bool is_element;    /* SCALAR: of an array */
    bool by_field;      /* ARRAY of structs that share buffers: parts are the structs' fields, each an array */
    Scalar value;       /* SCALAR */
    Lvalue target;      /* POINTER; target.place NULL: unset */
    bool broken;        /* .. for a mistake that was said */
    Ref buffer;         /* TILE, and ARRAY of tiles with a run-time index: the storage */
    bool written;       /* TILE: something was stored in it */
    Ref tensor;         /* GLOBAL */
    int first_dim;      /* GLOBAL: leading extents that are 1 and not in the tensor */
    int semaphore;      /* SEMAPHORE: index into Tc.semaphores; -1 */
    Block *block;       /* a field of a ring's record: tile or array of tiles */
    int field;          /* its number */
};

/* A ring's record in use: input_block inside load and compute, finish_block inside finish. */
struct Block {
    const char *what;     /* "input", "output", "finish" */
    const Object *place;  /* with its fields */
    Ref ring, slot;       /* slot: REF_NONE when none is held */
    const Region *region; /* where the slot was taken: it is given back there too */
    bool can_put, can_get;
};

typedef struct Semaphore {
    const char *name;
    bool active; /* may be used in this callback */
    const Region *region;
    int64_t wanted, arrivals;
    int64_t bytes_expected, bytes_loaded;
    void (*complete)(struct Tc *tc, Range range); /* called with the last arrival; may be NULL */
    const Block *block; /* that is handed on then; may be NULL */
} Semaphore;
enum {
    SEM_INPUTS_ARRIVED,
    SEM_INPUTS_FINISHED,
    SEM_OUTPUTS_ARRIVED,
    SEM_OUTPUTS_FINISHED,
    SEM_FINISH_FINISHED,
    SEM_COUNT
};

/* ---- names ---- */

typedef enum SymbolKind { SYMBOL_TYPE, SYMBOL_CONSTANT, SYMBOL_PLACE, SYMBOL_FUNCTION } SymbolKind;
typedef struct Symbol Symbol;
struct Symbol {
    SymbolKind kind;
    const char *name;
    int frame;      /* 0: the file; else the call that declared it */
    Symbol *hidden; /* what the name meant before */
    size_t index;   /* of its entry in Tc.names */
    const TcType *type;
    int64_t number;
    Object *place;
    const CNode *node; /* FUNCTION */
};

/* ---- lowering of one kernel ---- */

typedef VEC(Range) Ranges;
typedef enum TcTouch { /* who reads or writes what of a shared tile */
    TOUCH_ANY,      /* any warp, all of it */
    TOUCH_ROWS,     /* each warp its rows */
    TOUCH_PIECES,   /* each thread pieces of memory */
    TOUCH_ELEMENTS, /* each thread elements */
    TOUCH_SAME,     /* each warp all of it, and the same */
    TOUCH_ONE       /* one thread all of it */
} TcTouch;
typedef struct TcExpected { /* of a semaphore of the kernel's own: bytes that are still to come */
    Object *place;
    Ref number;
    int64_t bytes;
    Range range;
    const Region *region;
} TcExpected;
typedef struct TcEarly { /* a shared tile that is read above all that writes it */
    const Object *place;
    Range range;
} TcEarly;
typedef struct Tc {
    Arena *arena;
    Diag *diag;
    const FrontRequest *request; /* NULL while opening */
    Module *module;
    Kernel *kernel;
    Builder b;
    const CNode *unit_tree;
    bool failed;

    Map names;
    VEC(Symbol *) symbols;
    int frame, frames; /* current call, calls so far */
    int call_depth;
    VEC(const CNode *) calls; /* functions being inlined */
    VEC(Object *) cells;      /* scalars and pointers that can change, in order of declaration */

    int threads;        /* of the block */
    const bool *active; /* one a thread */
    int unit;           /* warps that share a register tile: 1; 4 (a warpgroup: 64 rows for 16); all of the block */
    Ref worker;         /* the warpgroup's number in a role of several, or REF_NONE */
    int worker_count;
    bool by_workers;    /* warpgroups run side by side and meet at semaphores of the kernel's own */
    Builder *outside;   /* .. before their region */
    TcExpected expected;
    VEC(TcEarly) early;

    Object *result; /* of the function being inlined; NULL for void */
    enum TcJump { JUMP_NONE, JUMP_RETURN, JUMP_BREAK, JUMP_CONTINUE, JUMP_KINDS } jump; /* what follows is dead */
    Object *flags[JUMP_KINDS]; /* numbers that are 1 once such a jump was taken at run time (tilec_flow.c) */
    bool falls_off;            /* some way through the function being inlined ends without `return` */
    const bool *role; /* the threads of the role: those a tile operation must be reached by */
    int unrolled;     /* iterations made by unrolling so far */
    bool noting;      /* numbers that are read go to `read` */
    VEC(const Object *) read;
    Map events;              /* what was noted behind an op, or at the beginning of a region (tilec_trace.c) */
    struct TcEvent *touched; /* the last access of a tile */
    enum TcTouch touch;      /* how the threads share the operation that is being lowered */
    bool by_all, follows;    /* .. all workers do; .. it goes on with what the product before makes */
    int call_count;          /* operations so far */
    struct TcBarrier {       /* of the source's numbers: */
        int group;           /* 1 + the warpgroup whose it is; 0: none's yet */
        bool of_all;         /* a whole role meets there */
        Range range, range_of_all;
    } barriers[16];
    const bool *initialiser; /* threads that set up semaphores, until all have met behind it; NULL: all know */
    Ranges *joined;              /* arrays of tiles that share a buffer; kept from one attempt to the next */
    bool again;                  /* one more was found: lower once more */
    Semaphore semaphores[SEM_COUNT];
    const TcType *args_types[8]; /* of the template's callbacks (tilec_template.c) */
    Block input, output, finish;
    const Op *items[3]; /* loops over them */
    int item_count;
    int loop_depth;
} Tc;

/* Says what is wrong; the lowering fails. TC_FAIL is also an X_ERROR. */
#define TC_ERROR(tc, id, range, ...) ((tc)->failed = true, diag_emit((tc)->diag, DIAG_##id, (range), __VA_ARGS__))
#define TC_FAIL(tc, id, where, ...)  (TC_ERROR(tc, id, where, __VA_ARGS__), (Expr){.kind = X_ERROR, .range = (where)})

/* tilec.c */
/* The kernel's parameters that a value of the type stands for; path: their name in the kernel. */
Object *tc_parameters(Tc *tc, const TcType *type, const char *name, const char *path);
/* How many warps the kernel would like: a power of two, since tiles are spread over them by bits. */
void tc_wish_warps(Tc *tc, int warps);

/* tilec_tiletype.c */
extern const char *const tilec_tile_types[];
const TcType *tc_parametric_type(Tc *tc, const CNode *node); /* NULL after an error */

/* tilec_type.c */
extern const char *const tilec_plain_types[];
const TcType *tc_scalar_type(Elem elem);
const TcType *tc_type(Tc *tc, const CNode *node); /* NULL after an error */
const TcType *tc_declared_type(Tc *tc, const CNode *variable); /* an array's size may come from its initializer */
const TcType *tc_pointer_to(Tc *tc, const TcType *type);
const TcType *tc_array_like(Tc *tc, const TcType *array, const TcType *of); /* the same array of something else */
bool tc_same_type(const TcType *a, const TcType *b);
int64_t tc_bytes(const TcType *type);
bool tc_constant(Tc *tc, const CNode *node, int64_t *out, const char *what);
void tc_declare_file(Tc *tc);
Symbol *tc_find(Tc *tc, const char *name);
Symbol *tc_bind(Tc *tc, const char *name, SymbolKind kind);
size_t tc_open_scope(Tc *tc);
void tc_close_scope(Tc *tc, size_t mark);
const TcType *tc_template_type(const Tc *tc, const char *name); /* lcf_load_args.. inside that template */
const char *tc_near(Tc *tc, const char *wrong, const char *const *names, size_t count);

/* tilec_number.c */
Scalar tc_int(Tc *tc, int64_t value);
bool tc_is_constant(const Tc *tc, Scalar s, int64_t *value); /* the same for all active threads, and a literal */
/* 0 .. most, as far as constants and counted loops tell; *outside: a value that it takes and that is not. */
bool tc_inside(const Tc *tc, Scalar index, int64_t most, int64_t *outside);
bool tc_in_range(Tc *tc, Scalar index, int64_t most, Range range); /* the same; false, and said */
Scalar tc_convert(Tc *tc, Scalar s, const TcType *type, Range range);
Scalar tc_binary(Tc *tc, CTok op, Scalar a, Scalar b, Range range);
const TcType *tc_common_type(Scalar a, Scalar b); /* C's usual arithmetic conversions */
Scalar tc_truth(Tc *tc, Scalar s, Range range);   /* as i1 */
/* One IR value: thread parts become multiples of the worker's number. REF_NONE after an error. */
Ref tc_uniform(Tc *tc, Scalar s, Range range);

/* tilec_expr.c */
Expr tc_expr(Tc *tc, const CNode *node);
Expr tc_read(Tc *tc, Expr e); /* the number in a variable, what a pointer points to; others unchanged */
Expr tc_first_element(Tc *tc, Expr array); /* what a pointer to its elements points to */
bool tc_number(Tc *tc, const CNode *node, Scalar *out);
bool tc_as_number(Tc *tc, Expr e, Scalar *out); /* what it reads; false after an error */
Elem tc_literal_elem(const CNode *node);        /* of an integer literal */
bool tc_real_constant(const char *name, Elem *elem, double *value); /* INFINITY and its kin */
bool tc_has_effects(Tc *tc, const CNode *node); /* assigns, or calls a function of the file */

/* tilec_part.c */
Expr tc_at_expr(Tc *tc, const CNode *node);
Expr tc_as_coord(Tc *tc, Expr e);                             /* what a `coord` holds; others unchanged */
bool tc_set_coord(Tc *tc, const Object *place, const Expr *e); /* false: no coord, or no at(..) */
Expr tc_shared_alloc_expr(Tc *tc, const CNode *node);
Expr tc_view_expr(Tc *tc, const CNode *node);
Expr tc_part_expr(Tc *tc, const CNode *node, const char *name);
Expr tc_element_expr(Tc *tc, Expr base, Scalar index, const CNode *node);

/* tilec_place.c */
Object *tc_place(Tc *tc, const TcType *type, const char *name, Range range);
Object *tc_part(Object *place, const char *field); /* of a struct; NULL if there is none */
Lvalue tc_member(const Lvalue *lvalue, int field);  /* of a struct, which may be one of an array's */
void tc_lock(Object *place, const char *why);      /* with all its parts */
bool tc_copy(Object *to, const Object *from);      /* numbers and pointers; false if there is a tile inside */
Scalar tc_zero(Tc *tc, const TcType *type);
void tc_set_zero(Tc *tc, Object *place); /* all its numbers */
Scalar tc_read_number(Tc *tc, const Lvalue *lvalue, Range range); /* the lowering fails if there is none */
/* The tiles of the array shall share a buffer: the kernel is lowered once more. False: they cannot. */
bool tc_join_array(Tc *tc, const Object *array);
void tc_initialize(Tc *tc, Object *place, const CNode *initializer);
bool tc_aim(Object *pointer, const Expr *e); /* false: it points to something else, or to nothing */
void tc_assign(Tc *tc, const Lvalue *target, Scalar value, Range range);

/* tilec_typeof.c */
const TcType *tc_type_of(Tc *tc, const CNode *node);    /* of a number; NULL: not known */
const TcType *tc_place_type(Tc *tc, const CNode *node); /* of a place of any type */

/* tilec_stmt.c */
void tc_body(Tc *tc, const CNode *block); /* of a kernel */
void tc_statement(Tc *tc, const CNode *node, bool tail);
void tc_list(Tc *tc, CNode *const *list, uint32_t count, bool tail);
bool tc_contains(const CNode *node, CKind a, CKind b, bool into_loops);
Expr tc_call_function(Tc *tc, const CNode *function, const CNode *call);
/* Inlines a callback with one pointer argument. */
void tc_call_with(Tc *tc, const CNode *function, Object *argument, Range range);

/* tilec_loop.c */
typedef struct Saved { /* of one cell */
    Scalar value;
    Lvalue target;
} Saved;
Saved *tc_save(Tc *tc);
void tc_restore(Tc *tc, const Saved *values, size_t count);
bool tc_same_target(const Lvalue *a, const Lvalue *b);
Ref tc_ref_or_zero(Tc *tc, Scalar s);
void tc_lower_loop(Tc *tc, const CNode *node); /* for, while, do */
typedef void TcBody(Tc *tc, Scalar index, void *user);
/* for index = lo, hi, step: body; scalars of `names` (all, with "*" in it) are carried if the body changes them. */
void tc_loop(Tc *tc, Ref lo, Ref hi, Ref step, const char *name, const Map *names, TcBody *body, void *user);
void tc_assigned_names(Tc *tc, const CNode *node, Map *out); /* also through the functions it calls */

/* tilec_flow.c */
typedef struct TcLoopFlags { /* what break and continue mean outside */
    Object *stop, *skip;
} TcLoopFlags;
TcLoopFlags tc_enter_loop(Tc *tc, bool is_switch);
void tc_leave_loop(Tc *tc, TcLoopFlags outer);
void tc_note_jump(Tc *tc);                    /* the jump that ends this way of a run-time choice, as a flag */
bool tc_may_have_jumped(Tc *tc, Scalar *out); /* is what follows dead? false: no; jump is set if it is for sure */
void tc_reset_flag(Tc *tc, enum TcJump jump);
typedef void TcSide(Tc *tc, int side, void *user);
/* if (condition) side 0 else side 1: IR for both, numbers that differ become its results. */
void tc_choose(Tc *tc, Ref condition, TcSide *side, void *user, Range range);
Object *tc_new_flag(Tc *tc, bool value, Range range);
void tc_settle_flags(Tc *tc, bool jumped);
/* Behind the place where a jump leads to: what it passed over may be unwritten. jumped: only by jumps one gets there,
 * so that it is no matter what other ways have not written. */
void tc_close_ways(Tc *tc, bool jumped);
/* Behind two ways: a pointer, or what is the same on both. */
bool tc_joins_by_itself(Tc *tc, Object *cell, const struct Saved *a, const struct Saved *b, Range range);
void tc_switch(Tc *tc, const CNode *node);

/* tilec_tile.c */
/* What an lvalue names of its buffer or field: at the offsets, so much along each dimension; the first
 * `fixed` dimensions are indices. */
typedef struct TcBox {
    const Type *whole;
    int fixed;
    bool is_whole;
    Ref at[MAX_RANK];
    int64_t extent[MAX_RANK];
} TcBox;
const Type *tc_value_type(Tc *tc, const TcType *tile);                  /* of all warps that share it */
void tc_check_early(Tc *tc); /* at the end: has any role written it? */
Ref tc_read_tile(Tc *tc, const Lvalue *tile, Range range);              /* REF_NONE after an error */
void tc_write_tile(Tc *tc, const Lvalue *tile, Ref value, Range range); /* converts the element type */
Ref tc_read_element(Tc *tc, const Lvalue *element, Range range);
void tc_write_element(Tc *tc, const Lvalue *element, Ref value, Range range);
bool tc_is_element(const Lvalue *lvalue); /* of a tile or vector */
bool tc_same_shape(Tc *tc, const char *name, const TcType *a, const TcType *b, Range range);
bool tc_offsets(Tc *tc, const Object *global, const Expr *coords, const Type *tile, Ref *out);

/* tilec_builtin.c */
typedef enum TcScope { SCOPE_ANY, SCOPE_WARP, SCOPE_GROUP, SCOPE_BLOCK } TcScope;
typedef struct Builtin Builtin;
enum { MAX_ARGUMENTS = 8 };
typedef struct Call {
    const Builtin *row;
    TcScope scope;
    int warps; /* SCOPE_GROUP: as the prefix says */
    Range range;
    const char *name; /* as written */
    bool by_warp; /* each warp moves its part to or from a place of its own: offsets count those parts */
    int count;
    Expr args[MAX_ARGUMENTS];
} Call;
struct Builtin {
    const char *name;
    int scope;
    const char *operands;
    Expr (*lower)(Tc *tc, const Call *call);
    int parameter;
    const char *doc;
};
bool tc_is_builtin(const char *name);
Expr tc_call_builtin(Tc *tc, const CNode *call);
const Builtin *tc_number_builtin(const char *name, int count); /* of so many numbers; NULL: none */
enum { /* kinds of masks */
    MASK_CAUSAL, MASK_CAUSAL_T, MASK_TRIL, MASK_TRIU, MASK_LEFT, MASK_RIGHT, MASK_UPPER, MASK_LOWER, MASK_UPPER_RIGHT
};
/* What the table does with the call's operands. */
Expr tc_dispatch(Tc *tc, const Call *call);
/* d +- A B, or d = A B: form is the row's parameter (1 A^T, 2 B^T, 4 overwrite); onto: never overwrites. */
bool tc_multiply(Tc *tc, const Call *call, int form, bool onto, bool negative);
static inline Expr tc_nothing(const Call *call) { return (Expr){.kind = X_VOID, .range = call->range}; }
#define BUILTIN(name, scope, operands, lower, parameter, doc) Expr bi_##lower(Tc *tc, const Call *call);
#include "front/tilec/tilec_builtins.def"
#undef BUILTIN

/* tilec_step.c */
/* A move of one warp where several share a tile, whose place steps with the warp, becomes one of all of them. */
bool tc_steps_by_warp(Tc *tc, Call *call);

/* tilec_move.c */
void tc_combine(Tc *tc, const Object *global, const Ref *at, Ref value, Word combine); /* atomically into the box */
bool tc_can_combine(Tc *tc, const Call *call, Elem elem);

/* tilec_trace.c: what is noted for tilec_race.c */
typedef struct TcEvent TcEvent;
TcTouch tc_touch_of(const Tc *tc, const Call *call);
const TcEvent *tc_note_touch(Tc *tc, const Lvalue *tile, bool writes, const TcBox *box, Range range);
/* by_rows: each warp reads its own rows of a */
void tc_note_product(Tc *tc, const TcEvent *a, const TcEvent *b, const TcEvent *d, bool by_rows, Range range);
void tc_note_load(Tc *tc, Range range);  /* the tile touched last is under way */
void tc_note_store(Tc *tc, Range range); /* .. is being stored */
void tc_note_sync(Tc *tc, bool by_all, const Scalar *number, Range range); /* number: of the barrier, or NULL */
void tc_note_taken(Tc *tc, const Block *block);
void tc_note_given(Tc *tc, const Block *block, const char *semaphore, Range range);
void tc_note_arrivals(Tc *tc, const Block *block, Range range);
void tc_note_own_load(Tc *tc, const Object *semaphore, Ref which, Range range); /* the tile touched last */
void tc_note_own(Tc *tc, bool arrives, const Object *semaphore, Ref which, Range range);
void tc_rename_events(Tc *tc, const Ref *map);

/* tilec_race.c */
void tc_check_races(Tc *tc);

/* tilec_sync.c: the rules that the operations keep */
void tc_check_read(Tc *tc, const Lvalue *tile, Range range); /* its block is open */
void tc_check_write(Tc *tc, const Lvalue *tile, Range range);
void tc_begin_semaphore(Tc *tc, int index, int64_t wanted, const Block *block, void (*complete)(Tc *tc, Range range));
void tc_end_semaphore(Tc *tc, int index, Range range);
Ref tc_hand_over(Tc *tc, Opcode code, Ref ring, Ref slot); /* acquire, commit, wait, release */

/* tilec_semaphore.c */
bool tc_has_semaphores(const CNode *body);
bool tc_is_own_semaphore(const Expr *e);
bool tc_splits_workers(Tc *tc, Scalar condition, bool *sides[2]);
int tc_count_workers(const Tc *tc, const bool *mask);
Ref tc_worker_is(Tc *tc, const bool *mask);
Expr tc_arrive_own(Tc *tc, const Call *call);
Expr tc_expect_own(Tc *tc, const Call *call, int64_t bytes);
void tc_loaded_own(Tc *tc, const Call *call, const Expr *semaphore, int64_t bytes);
void tc_end_expected(Tc *tc); /* all have come, or an error */

/* tilec_template.c */
extern const char *const tilec_templates[];
const CNode *tc_descriptor(const CNode *node, const char *name); /* value of .name, or NULL */
void tc_lower_template(Tc *tc, const CNode *node);
#endif
