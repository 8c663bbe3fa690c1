/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang.h: what the files of the TileLang door share.
 *
 * The door is a domain of the evaluator in front/python, and runs the kernel's Python as TileLang itself does: what is
 * known on the host (sizes, tile shapes, dtypes, helper functions) is computed, what depends on the device becomes IR.
 * A run-time number is a VAL_TENSOR; the door's own things are storage (tensors, tiles, variables), boxes of storage,
 * symbols (sizes that arguments give), element loops, annotations and layouts.
 *
 *     tilelang.c         which kernels a file has; one kernel as IR     tilelang_param.c  its parameters
 *     tilelang_domain.c  the domain                                     tilelang_names.c  the module T, dtypes
 *     tilelang_math.c    operators and functions on numbers             tilelang_index.c  elements and boxes
 *     tilelang_loop.c    loops, the launch, assignment                  tilelang_eager.c  sizes and outputs of the body
 *     tilelang_thread.c  threads that a kernel names                    tilelang_hopper.c  roles and barriers
 *     tilelang_warp.c    what threads tell each other
 *     tilelang_live.c    kernels inside a running Python program
 *     tilelang_copy.c tilelang_gemm.c tilelang_reduce.c tilelang_atomic.c tilelang_storage.c tilelang_view.c
 *     tilelang_persistent.c tilelang_scheduler.c tilelang_im2col.c tilelang_packed.c tilelang_extern.c
 *                        what the rows of the table (tilelang.def) do */
#ifndef FRONT_TILELANG_TILELANG_H
#define FRONT_TILELANG_TILELANG_H
#include "front/python/python.h"

enum { MAX_TERMS = 6, LANG_PROCESSORS = 132 /* of the chips that people have */ };
typedef struct Linear { /* constant + sum of factor * variable; a variable is a run-time integer */
    int64_t constant;
    int count;
    Ref var[MAX_TERMS];
    int64_t factor[MAX_TERMS];
} Linear;

typedef enum Packed { PACKED_NOT, PACKED_I4, PACKED_U4, PACKED_F4 } Packed; /* dtypes of 4 bits */

typedef enum StorageKind { STORE_TENSOR, STORE_TILE, STORE_VARIABLE } StorageKind;
typedef struct Storage {
    StorageKind kind;
    Ref ref;
    Elem elem;
    int rank;
    int64_t shape[MAX_RANK];
    int64_t stride[MAX_RANK];   /* of a tensor */
    bool strided;               /* these are its own: it may have gaps */
    bool tf32;                  /* T.tfloat32: a float32 whose products may be rounded to 11 bits */
    Packed packed;              /* elem is what holds one of its numbers */
    Elem byte;                  /* of a packed tensor: int8 or uint8, of which two numbers are one */
    Word reduces;               /* T.alloc_reducer: how; 0: it is none */
    const struct Storage *base; /* of a view of a tile in another shape or type; NULL: it is none */
    bool own;                   /* each thread has one */
    bool emitted;               /* registers of an emitter, which are a tile of the block */
} Storage;

typedef struct Box { /* part of storage */
    const Storage *of;
    bool slice; /* written with `:`; else an element, or the head of a box whose extents its use settles */
    int64_t shape[MAX_RANK];
    Ref offset[MAX_RANK];
    const Linear *at[MAX_RANK]; /* the offsets as sums; NULL: not known */
} Box;

typedef struct Symbol { /* T.const, T.dynamic: a size that an argument's shape gives */
    const char *name;
    bool known;
    bool missed; /* it was said that nobody gives it */
    int64_t value;
} Symbol;

typedef struct ElementLoop { /* T.Parallel(..); T.grid(..) */
    bool in_order; /* T.grid: one iteration after the other */
    int count;
    Val extent[MAX_RANK];
    Range range;
} ElementLoop;

typedef struct Note { /* T.Tensor(shape, dtype): of a parameter */
    Val shape, strides;
    Elem elem;
    bool tf32;
    Packed packed;
    Range range; /* of the shape */
} Note;

typedef struct Variable { /* of a loop or of the grid */
    Ref ref;
    int grid;          /* which dimension of the grid; -1: of a loop */
    bool starts, ends; /* are lo and hi known? */
    int64_t lo, hi, step; /* its first and its last value, and from one to the next */
} Variable;

typedef struct BlockIndex { /* of a tensor, by one variable of the grid */
    int grid, dim;
    int64_t step, base, extent; /* base + step * block, of a dimension of that extent */
    Range range;
} BlockIndex;

typedef struct Found {         /* FrontKernel.node */
    const PyNode *const *path; /* the functions around the kernel, outermost first, and the kernel */
    int depth;                 /* how many these are */
    int constants;             /* parameters of the kernel that come first: those of the functions around it */
    bool eager;                /* @tilelang.jit with the tensors in its body */
} Found;

typedef struct Emitted { /* a name that a kernel gives to the registers of an emitter (tilelang_emitter.c) */
    const char *name;
    const void *emitter;
    char tile; /* a, b, c */
} Emitted;

typedef struct LangState { /* Lower.own */
    const Found *found;
    int level;      /* how many of its functions have been entered */
    bool reached;   /* the kernel has been lowered */
    int idle;       /* loops around here that never run */
    Ref guard;      /* under which the expression is needed; REF_NONE: always */
    bool launched;  /* inside `with T.Kernel` */
    int launches;   /* that were met so far; the one that is asked for is lowered, the others are passed over */
    int spaces;     /* T.alloc_global so far */
    bool elements;  /* inside T.Parallel */
    Map linears;    /* of run-time integers: Ref -> Linear */
    Map safe;       /* T.annotate_safe_value: a tensor's Ref -> Ref, what it reads outside */
    Map symbols;    /* sizes that arguments give: name -> Symbol */
    VEC(Variable) variables;
    VEC(BlockIndex) blocks;
    /* tilelang_thread.c: */
    int threads;              /* dimensions of the threads that the kernel names; 0: it names none */
    int64_t thread_extent[3]; /* the first one fastest */
    Ref thread[3];            /* the thread's number along each */
    Op *region;               /* over all of them .. */
    Builder around;           /* .. and where that stands */
    const Val *reducer;       /* of the `with T.attr(..)` around here */
    VEC(const char *) imports; /* T.import_source so far */
    Storage *random; /* numbers of T.rng_init; NULL: it was not met */
    VEC(Emitted) emitted;
    /* tilelang_hopper.c: */
    int64_t block_threads, arriving; /* threads of the block; those that come here */
} LangState;
static inline LangState *lang_state(const Lower *l) { return l->own; }

extern const Own lang_storage_own, lang_box_own, lang_symbol_own, lang_loop_own, lang_note_own, lang_layout_own;
extern const Own lang_reducer_own; /* T.comm_reducer: its function */
extern const Own lang_persistent_own; /* T.Persistent(..) */
extern const Own lang_scheduler_own; /* T.PersistentTileScheduler(..) */
extern const Own lang_emitter_own; /* TensorCoreIntrinEmitter(..) */
extern const Own lang_fresh_own; /* a variable that has no name yet */
extern const Domain lang_domain;

/* The thing of a value, or NULL. */
static inline const void *lang_thing(Val v, const Own *own) { return val_is_own(v, own) ? v.thing : NULL; }
static inline const Storage *lang_storage(Val v) { return lang_thing(v, &lang_storage_own); }
static inline const Box *lang_box(Val v) { return lang_thing(v, &lang_box_own); }
Val lang_own(Lower *l, const Own *own, const void *thing, size_t size); /* copies it */
Val lang_plain(Val v);                               /* a symbol that is known is a number */
bool lang_missing(Lower *l, Val v, Range range); /* a symbol that is not: said once */

/* --- tilelang_names.c --- */
bool lang_elem(const char *text, Elem *elem);           /* "float16" */
bool lang_elem_of(Val v, Elem *elem);                   /* of a dtype, its name, torch.float16 */
const char *lang_elem_name(Elem elem);
Val lang_dtype_of(Lower *l, const Storage *of); /* as x.dtype says it */
bool lang_is_tf32(Val dtype); /* T.tfloat32, which is float32 otherwise */
const char *lang_module_path(const char *path);
bool lang_is_library(const char *path);
Val lang_module_attribute(Lower *l, const char *path, const char *attr, Range range);
Val lang_unknown_op(Lower *l, const char *name, Range range);
Val lang_dtype_attribute(Lower *l, const Type *dtype, const char *attr);
bool lang_is_language(const Lower *l, const PyNode *func, const char *name); /* is it `T.name`, whatever T is called? */

/* --- tilelang_math.c --- */
Val lang_binary(Lower *l, PyOp op, Val x, Val y, Range range);
Val lang_compare(Lower *l, PyOp op, Val x, Val y, Range range);
Val lang_unary(Lower *l, PyOp op, Val x, Range range);
Val lang_both(Lower *l, Val a, Val b, Range range);
Val lang_logic(Lower *l, const PyNode *node, uint32_t from, Val first);
Val lang_choose(Lower *l, Ref condition, const PyNode *yes, const PyNode *no, Range range);
Val lang_truth(Lower *l, Val v, Range range);
Val lang_scalar(Lower *l, Val v, Range range); /* a run-time number from a host number or element */
bool lang_convert(Lower *l, Val v, Elem elem, Range range, Ref *out); /* a number as an element of that type */
/* Two numbers in the type in which they meet. */
bool lang_meet(Lower *l, Val x, Val y, Range range, Ref *left, Ref *right);
Val lang_select(Lower *l, Ref condition, Val x, Val y, Range range);
Val lang_if_then_else(Lower *l, const PyNode *call); /* only the side that is taken reads its elements */
Val lang_types(Lower *l, Range range, const char *text);
bool lang_equal(Val a, Val b); /* Python's ==; a dtype equals its name */

/* --- tilelang_index.c --- */
Val lang_index(Lower *l, const Storage *storage, const PyNode *node);
bool lang_is_element(const Box *box);
Ref lang_tload(Lower *l, const Storage *tensor, const Ref *offset, const Type *type);
Val lang_load(Lower *l, const Box *box, Range range);
/* An element of a tile that is no view; of the thread's own, if each has one. */
Ref lang_load_element(Lower *l, const Storage *tile, const Ref *offset);
void lang_store_element(Lower *l, const Storage *tile, const Ref *offset, Ref value);
bool lang_store(Lower *l, const Box *box, Val value, Range range);
Val lang_variable_load(Lower *l, const Storage *variable, Range range);
bool lang_variable_store(Lower *l, const Storage *variable, Val value, Range range);
void lang_linear_join(Lower *l, PyOp op, Val x, Val y, Val out);                       /* what out is as a sum */
void lang_add_variable(Lower *l, Ref ref, int grid, const int64_t *lo, const int64_t *hi); /* NULL: not known */
/* False, and said, when the elements lie outside of the tile whatever the variables are. */
bool lang_inside(Lower *l, const Storage *tile, int d, const Linear *at, int64_t extent, Range range);
bool lang_check_grid(Lower *l); /* at the kernel's end: are the extents of the grid swapped? */
const char *lang_shape_text(Lower *l, const Storage *of, const int64_t *shape);

/* --- tilelang_copy.c --- */
/* Whole storage as a box; a head element takes its extents from `other` (or NULL), aligned at the last axis. */
bool lang_as_box(Lower *l, const Call *c, int arg, const Val *other, Box *out);
bool lang_as_tile(Lower *l, const Call *c, int arg, Box *out); /* the same, and no tensor */
bool lang_check_box(Lower *l, const Box *box, Range range);    /* its size, and that it lies inside */
const Type *lang_box_type(Lower *l, const Box *box, Elem elem, int rank); /* without leading extents of 1 */
int lang_leading_ones(const Box *box);
Ref lang_load_box(Lower *l, const Box *box, int rank);
void lang_store_box(Lower *l, const Box *box, Ref value);
bool lang_move(Lower *l, Val from, Val to, Range range);  /* `to[..] = from`, of boxes */
bool lang_fill(Lower *l, Val to, Val value, Range range); /* the same with a number */
/* A word that must be one of a list "a, b, c"; T.GemmWarpPolicy.FullRow counts as its last part. */
bool lang_word(Lower *l, const Call *c, int arg, const char *what, const char *words);
bool lang_want_elem(Lower *l, const Call *c, int arg, Elem *elem);
bool lang_flag(Lower *l, const Call *c, int arg, bool otherwise, bool *out);
bool lang_in_kernel(Lower *l, const Call *c); /* false, and said, outside of T.Kernel */

/* --- tilelang_storage.c --- */
bool lang_want_shape(Lower *l, const Call *c, int arg, Storage *out); /* an integer, or a tuple or list of them */

/* --- tilelang_packed.c --- */
Packed lang_packed(Val dtype);
const char *lang_packed_name(Packed packed);
Ref lang_narrow(Lower *l, Packed packed, Ref x); /* a number, or a tile of them, rounded to the dtype */
/* Boxes and elements of a packed tensor; false after a message. */
bool lang_packed_load_box(Lower *l, const Box *box, const Type *type, Range range, Ref *out);
bool lang_packed_store_box(Lower *l, const Box *box, Ref value, Range range);
Ref lang_packed_load(Lower *l, const Storage *of, const Ref *at);

/* --- tilelang_view.c --- */
Ref lang_recast(Lower *l, Ref x, const Type *type); /* the bytes of a tile as another one of as many */
Ref lang_view_load(Lower *l, const Storage *view, const Ref *offset); /* an element of a view of a tile */
void lang_view_store(Lower *l, const Storage *view, const Ref *offset, Ref value);
Val lang_tensor_of(Lower *l, const Call *c);

/* --- tilelang_loop.c --- */
bool lang_loop_names(Lower *l, const PyNode *target, const char **names, int count);
const char *lang_extent_text(Lower *l, Val extent); /* what is wrong with it */
bool lang_check_extent(Lower *l, Val extent, Range range, int64_t *out); /* of a loop or the grid, from 0 on */
void lang_run_closed(Lower *l, const PyNode *node); /* the body of a loop that no jump leaves, and its yield */
void lang_forget_names(Lower *l, size_t before, const char *const *names, int count); /* behind the body */
bool lang_for(Lower *l, const PyNode *node, Val over);
bool lang_with(Lower *l, const PyNode *node);
bool lang_bind(Lower *l, const PyNode *target, Val value);
bool lang_assign(Lower *l, const PyNode *target, Val value);
bool lang_augmented(Lower *l, const PyNode *node);
bool lang_loop_bounds(Lower *l, const Range3 *range, Range where, Ref bounds[3]);
int lang_loop_begin(Lower *l, Ref variable, const Ref bounds[3]);
void lang_loop_end(Lower *l, int begun);

/* --- tilelang_thread.c --- */
/* Around the body of T.Kernel: a region of threads, if it names them. */
void lang_threads_begin(Lower *l, const PyNode *with, Val threads);
void lang_threads_end(Lower *l);
bool lang_need_threads(Lower *l, const Call *c); /* false, and said, outside of such a region */
Val lang_linear_thread(Lower *l, Range range);   /* the thread's number in the block, the first dimension fastest */
/* The place of an element in its buffer, which has the threads in front if each has its own; how many indices. */
int lang_own_offsets(const Lower *l, const Storage *of, const Ref *offset, Ref *out);
const Type *lang_own_type(Lower *l, const Storage *of, Word scope); /* of that buffer */
bool lang_own_fits(Lower *l, const Storage *of, Range range);       /* false, and said, if it has too many elements */
bool lang_move_own(Lower *l, const Box *from, const Box *to, Range range); /* boxes, element by element */
bool lang_loops_alone(Lower *l, const PyNode *loop); /* T.Parallel over elements of the thread's own tiles? */
bool lang_fill_own(Lower *l, const Box *box, Ref value, Range range);
Val lang_update_shared(Lower *l, const Call *c, const Box *to, Word kind, bool previous);
/* Annotations for Tenstorrent (tilelang_annotate.c): decorators, or what a running program says of the kernel. */
bool lang_is_annotation(const Lower *l, const PyNode *decorator);
void lang_annotate(Lower *l, const PyNode *def); /* they become attributes of the kernel */
bool lang_with_attr(Lower *l, const PyNode *node, const PyNode *call); /* tilelang_warp.c */

/* --- tilelang_grid.c --- */
int lang_parts(const Lower *l, const PyList *body); /* of the body of T.Kernel, between T.sync_grid */
bool lang_run_part(Lower *l, const PyList *body, int part);

/* --- tilelang_random.c --- */
bool lang_draws(Lower *l, const PyNode *node); /* does something there take random numbers? */

/* --- tilelang_hopper.c --- */
extern const Own lang_barrier_own, lang_pointer_own;
typedef struct Pointer { /* T.access_ptr(element, "r", n) */
    Box box;          /* of the element that it points to */
    bool element;     /* which the source names; else the first one of a whole tile */
    int64_t count;    /* how many elements it is for; 0: all from there on */
    const char *mode; /* "r", "w", "rw" */
} Pointer;
Val lang_barrier_at(Lower *l, Val v, const PyNode *node); /* one of several */
bool lang_with_ws(Lower *l, const PyNode *node, const PyNode *call);

/* --- tilelang_extern.c --- */
void lang_import(Lower *l, const char *text); /* functions in C or CUDA */
bool lang_check_externs(Lower *l); /* at the kernel's end: does somebody want what they give? */

/* --- tilelang_eager.c --- */
Val lang_symbol(Lower *l, const char *name); /* a size by its name: a number where it is known */
void lang_annotated(Lower *l, const PyNode *node);
bool lang_bind_output(Lower *l, const PyNode *target, Val note); /* a name given to T.empty; false: it is no output */

/* --- tilelang_param.c --- */
const PyNode *lang_default(const PyNode *arguments, uint32_t index);
bool lang_is_tensor_note(const PyNode *annotation); /* T.Tensor(..) behind a parameter? */
int lang_peek_elem(const PyNode *annotation);       /* its dtype, where the text says it; -1 */
void lang_find_symbols(Lower *l, const FrontKernel *kernel, const FrontValue *args, const PyNode *def);
int lang_place_of(const Lower *l, const char *name); /* of a parameter, among the request's; -1: there is none */
void lang_make_tensor(Lower *l, Storage *tensor, Ref pointer); /* at an address; row-major if it is not strided */
bool lang_fits_memory(Lower *l, const Storage *tensor, Range range); /* false, and said: it has too many elements */
void lang_declare_tensor(Lower *l, Storage *tensor, const char *id); /* an argument of the kernel */
/* A tensor parameter becomes an argument of the kernel and a name. place: in the request. */
void lang_tensor_param(Lower *l, const PyNode *name, const char *id, Val note, int place);
void lang_scalar_param(Lower *l, const PyNode *arg, int place);

/* --- tilelang_live.c --- */
bool lang_live(Lower *l, const Host *object, Range range, Val *out);
bool lang_live_eager(const FrontUnit *unit); /* is the function of the host in the eager style? */
bool lang_live_is_tensor(const FrontUnit *unit, const char *name, const PyNode *text);
Val lang_param_note(Lower *l, const PyNode *arg); /* what its annotation says, live or in the text; NONE: it has none */
void lang_live_symbols(Lower *l, const FrontKernel *kernel, const FrontValue *args);

/* --- tilelang_persistent.c --- */
void lang_run_persistent(Lower *l, const PyNode *node, const void *loop);

/* --- tilelang_scheduler.c --- */
Val lang_scheduler_attribute(Lower *l, const void *scheduler, const char *attr, Range range);
Val lang_scheduler_method(Lower *l, const void *scheduler, const char *name, const PyNode *call);

/* --- tilelang_emitter.c --- */
void lang_emitters_begin(Lower *l, const PyNode *with); /* of the body of T.Kernel: which names are its registers? */
void lang_bind_emitted(Lower *l, const char *id, const Storage *made); /* a tile gets its name */
Val lang_emitter_attribute(Lower *l, const void *emitter, const char *attr, Range range);
Val lang_emitter_method(Lower *l, const void *emitter, const char *name, const PyNode *call);

/* --- tilelang.c --- */
bool lang_define(Lower *l, const PyNode *def, Val *function);

#define BUILTIN(name, kinds, signature, function, code, doc) Val function(Lower *l, const Call *call);
#include "front/tilelang/tilelang.def"
#undef BUILTIN
#endif
