/* SPDX-License-Identifier: Apache-2.0 */
/* triton.h: what the files of the Triton door share.
 *
 * The door is a domain of the evaluator in front/python: its run-time values are tensors (VAL_TENSOR, also of scalars
 * and pointers), its own things block pointers, tensor descriptors and aggregates.
 *
 *     triton.c         open and lower: kernels, parameters
 *     triton_domain.c  the door as a domain of the Python evaluator
 *     triton_names.c   the modules triton and triton.language
 *     triton_config.c  autotune and heuristics
 *     triton_arith.c   operators on tensors: promotion, broadcast, casts
 *     triton_want.c    what lowerings ask of arguments; the table of builtins (triton_builtins.def)
 *     triton_math.c triton_memory.c triton_shape.c ..   what the builtins do */
#ifndef FRONT_TRITON_TRITON_H
#define FRONT_TRITON_TRITON_H
#include "front/python/python.h"

typedef struct Heuristic {
    const char *name;
    const PyNode *node; /* a lambda or the name of a function */
} Heuristic;

/* A kernel: FrontKernel.node. */
typedef struct Entry {
    PyNode *function;
    VEC(Heuristic) heuristics;
} Entry;


/* Lower.own */
typedef struct TritonState {
    int regions; /* functions given to reduce, scan and map around the place */
} TritonState;
static inline TritonState *tri_state(const Lower *l) { return l->own; }

/* --- triton_domain.c --- */
extern const Domain tri_domain;

/* --- triton_dtype.c --- */
/* The dtype of that name (float32, fp32, bf16, ...), or NULL. */
const Type *tri_dtype_named(Module *m, const char *name);
const char *tri_dtype_name(Elem elem);  /* "float32" */
const char *tri_dtype_brief(Elem elem); /* "fp32" */

/* --- triton_names.c --- */
const char *tri_module_path(const char *path);
bool tri_is_library(const char *path);
bool tri_is_jit(const Names *names, const PyNode *function, Arena *arena);
bool tri_on_constants(const Names *names, const PyNode *function, Arena *arena);
Val tri_module_attribute(Lower *l, const char *path, const char *attr, Range range);
const char *tri_suggest_name(Lower *l, const char *id);
/* For `triton.NAME`: "did you mean ..? Else ", or "". */
const char *tri_suggest_host(Lower *l, const char *path);

/* --- triton_config.c --- */
void tri_read_decorators(FrontUnit *unit, Entry *entry, FrontKernel *kernel);

/* --- the door's own things: VAL_OWN --- */
extern const Own tri_block, tri_descriptor;
typedef struct Aggregate Aggregate;

/* --- triton_aggregate.c --- */
bool tri_is_aggregate(Val v);
const Aggregate *tri_aggregate_of(Lower *l, const Host *host); /* NULL: the object is no such class */
Val tri_aggregate_make(Lower *l, const Aggregate *a, const PyNode *call);
Val tri_aggregate_attribute(Lower *l, Val v, const char *attr, Range range);
const char *tri_aggregate_text(Lower *l, Val v);
Val tri_aggregate_replace(Lower *l, const PyNode *call);
/* self.field = value in a constructor; false: it is none. */
bool tri_aggregate_set(Lower *l, const PyNode *target, Val value);

/* --- triton_arith.c --- */
/* A constexpr number becomes a scalar of the type that Triton gives it; a tensor stays. */
Val tri_to_tensor(Lower *l, Val v, Range range);
Val tri_binary(Lower *l, PyOp op, Val a, Val b, Range range);
/* As the program writes it: with its assertion where overflow is one. */
Val tri_binary_written(Lower *l, PyOp op, Val a, Val b, Range range);
Val tri_compare(Lower *l, PyOp op, Val a, Val b, Range range);
Val tri_unary(Lower *l, PyOp op, Val a, Range range);
Val tri_cast(Lower *l, Val v, const Type *dtype, Range range);
Val tri_bitcast(Lower *l, Val v, const Type *dtype, Range range);
/* Both tensors to their common element type (Triton's rules) and rank. weak: numbers adapt to the other side. */
typedef enum Promote { PROMOTE_WEAK = 1, PROMOTE_DIVIDE = 2 } Promote;
bool tri_promote(Lower *l, Val *a, Val *b, int mode, Range range);
/* Equal rank and fitting extents, or an error that shows both shapes. */
bool tri_align(Lower *l, Val *a, Val *b, Range range);
bool tri_fits(Lower *l, const Type *tile, Range range); /* not too many elements, or reported */
Val tri_broadcast_to(Lower *l, Val v, int rank, const int64_t *extent, Range range);
Val tri_truth(Lower *l, Val v, Range range); /* as the condition of if: a bool constexpr, or a scalar i1 */

/* --- triton_shape.c --- */
Val tri_reshape(Lower *l, Val v, int rank, const int64_t *extent, Range range);
Val tri_slice(Lower *l, Val v, int axis, int64_t from, int64_t extent); /* along one axis */
Val tri_along(Lower *l, Opcode code, Val v, int axis);                  /* an op with one operand and an axis */
Val tri_expand(Lower *l, Val v, int axis);                              /* a new extent of 1 */
Val tri_only_element(Lower *l, Val v);                                  /* of a tile of one: a scalar */
Val tri_full(Lower *l, int rank, const int64_t *extent, Val value, const Type *dtype, Range range);

/* --- triton_attribute.c --- */
Val tri_attribute(Lower *l, Val v, const char *attr, Range range); /* UNBOUND: it has none */
/* The answer to dtype.is_fp16() and its kin; UNBOUND if there is no such question. */
Val tri_dtype_method(Lower *l, const Type *type, const char *name);

/* --- triton_resolve.c --- */
/* Fills in likely_array. */
void tri_find_arrays(PyNode *function, FrontParam *params, size_t count, Arena *arena);

/* --- triton_const.c --- */
void tri_check_const(Lower *l, const FrontKernel *wanted); /* reports writes through tl.const */

/* --- triton_want.c, triton_builtins.def --- */
extern const Builtin tri_builtins[];
enum {
    TRI_BUILTIN_COUNT = 0
#define TL(name, kinds, signature, function, code, doc) +1
#include "front/triton/triton_builtins.def"
#undef TL
};
const Builtin *tri_builtin_find(const char *name, char kind);
/* Its name as kernels write it: "tl.load", "len", ".to". */
const char *tri_title(Lower *l, const Builtin *builtin);

/* What a builtin's lowering asks of its arguments; each reports and returns false when it is not so. */
bool tri_want_dtype(Lower *l, const Call *c, int arg, const Type **dtype);
bool tri_want_shape(Lower *l, const Call *c, int arg, int *rank, int64_t *extent);
bool tri_want_tensor(Lower *l, const Call *c, int arg, Val *v); /* a number becomes a scalar */
bool tri_want_wide_pair(Lower *l, const Call *c, Val *x, Val *y); /* two floats of libdevice, of one type and shape */
bool tri_want_axis(Lower *l, const Call *c, int arg, int rank, int *axis);

/* --- triton_region.c --- */
/* Operands of an op on single elements, at one shape; a single tensor is a tuple of one. */
typedef struct TriTiles {
    Val v[MAX_MAP_OPERANDS];
    int count;
    bool single;
} TriTiles;
bool tri_tiles_broadcast(Lower *l, const Call *c, TriTiles *tiles); /* all to their common shape */
/* Each of n elements becomes `pack` tiles of n / pack: every pack-th element; and back, at a shape. */
void tri_tiles_unpack(Lower *l, TriTiles *tiles, int pack, int64_t n, Range range);
void tri_tiles_pack(Lower *l, TriTiles *tiles, int pack, const Type *shape, Range range);

/* --- triton_dot.c --- */
bool tri_dot_fits(const Type *a, const Type *b); /* [.., M, K] and [.., K, N]? */
/* The product of operands that fit, of one element type, added to argument acc_arg; attr of the op, or NULL. */
Val tri_dot(Lower *l, const Call *c, Val a, Val b, int acc_arg, Elem out, const Attr *attr);

/* --- triton_memory.c --- */
bool tri_memory_hints(Lower *l, const Call *c, int cache, int evict, Op *op); /* from arguments */
bool tri_atomic_fits(Word combine, Elem elem);                                /* can memory do it? */

/* --- triton_block.c, triton_descriptor.c: boxes of tensors --- */
bool tri_box_base(Lower *l, const Call *c, Val *base); /* argument 0, a scalar pointer */
/* A list of scalar integers as a tuple of run-time values; offsets are int32. */
bool tri_box_numbers(Lower *l, Val list, Range range, const char *what, bool offsets, Val *tuple);
bool tri_box_shape(Lower *l, const Call *c, int arg, int rank, Val *tuple); /* of constants */
bool tri_box_padding(Lower *l, const Call *c, int arg, Elem elem, bool *nan);
const Type *tri_box_type(Lower *l, Val base, Val block);
Ref tri_box_tensor(Lower *l, Val base, Val shape, Val strides, unsigned checked);
void tri_box_offsets(Val offsets, Ref at[MAX_RANK]);
/* A block pointer with extents and strides of the widths that those of another one have, where nothing is lost: numbers
 * of the source are int64, arguments int32. narrow: numbers may become int32. Other values stay as they are. */
Val tri_block_like(Lower *l, Val v, Val like, bool narrow, Range range);
Ref tri_box_load(Lower *l, Ref tensor, Val offsets, const Type *type, bool nan);
Val tri_block_load(Lower *l, const Call *c);
Val tri_block_store(Lower *l, const Call *c);
Val tri_block_attribute(Lower *l, Val v, const char *attr, Range range);
/* A descriptor that the host made, from values of the kernel. */
Val tri_descriptor_given(Lower *l, Val base, Val shape, Val strides, Val block, bool nan, Range range);
Val tri_descriptor_attribute(Lower *l, Val v, const char *attr, Range range);

#define TL(name, kinds, signature, function, code, doc) Val function(Lower *l, const Call *call);
#include "front/triton/triton_builtins.def"
#undef TL
#endif
