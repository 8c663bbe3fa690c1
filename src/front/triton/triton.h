/* triton.h: what the files of the Triton door share.
 *
 * The door runs a kernel's text once, as Python would, on abstract values (Val): what Python knows
 * at compile time is a Python object (a *constexpr*: number, string, tuple, dtype, function,
 * module), everything else is an IR value with its type (VAL_TENSOR, which Triton calls a tensor
 * even when it is a scalar or a pointer). Operating on constexprs is Python's arithmetic; operating
 * on tensors appends IR ops. Calls of other jit functions are run in place.
 *
 *     pid = tl.program_id(0)            VAL_TENSOR i32
 *     offs = pid * BLOCK + tl.arange(0, BLOCK)     BLOCK is VAL_INT 1024, offs VAL_TENSOR i32[1024]
 *
 * Mistakes are reported and give VAL_ERROR, which every operation passes on in silence: so one run
 * finds several.
 *
 *     triton.c         open and lower: kernels, parameters
 *     triton_names.c   what a name means: imports, constants, functions, the -D of the user
 *     triton_import.c  names of other files
 *     triton_config.c  autotune and heuristics
 *     triton_live.c    names of the Python program around the kernel
 *     triton_value.c   Val: conversions, text, Python's arithmetic on constexprs
 *     triton_arith.c   operators on tensors: promotion, broadcast, casts
 *     triton_eval.c    expressions        triton_stmt.c  statements, jumps, calls in place
 *     triton_loop.c    loops              triton_branch.c  locals and run-time branches
 *     triton_call.c    binding arguments to parameters; the table of builtins (triton_builtins.def)
 *     triton_math.c triton_memory.c triton_shape.c ..   what the builtins do */
#ifndef FRONT_TRITON_TRITON_H
#define FRONT_TRITON_TRITON_H
#include "front/front.h"
#include "front/python/host_number.h"
#include "ir/build.h"
#include "syntax/py_ast.h"

typedef enum ValKind {
    VAL_ERROR,   /* reported already */
    VAL_UNBOUND, /* a local that has no value here; text says why */
    VAL_NONE,
    VAL_BOOL,
    VAL_INT,
    VAL_FLOAT,
    VAL_STR,
    VAL_TUPLE,      /* and list */
    VAL_AGGREGATE,  /* triton.aggregate: one item a field */
    VAL_BLOCK,      /* a block pointer: items as triton_block.c says */
    VAL_DESCRIPTOR, /* a tensor descriptor: the same */
    VAL_DICT,       /* plain Python only: items are key, value, key, value .. */
    VAL_DTYPE,
    VAL_MODULE, /* text: its dotted path; also a name inside a foreign module */
    VAL_BUILTIN,
    VAL_FUNCTION, /* a jit function */
    VAL_RANGE,    /* range(..), tl.range(..), tl.static_range(..) */
    VAL_HOST,     /* another object of the program around the kernel */
    VAL_TENSOR
} ValKind;

typedef struct Val Val;
typedef struct Builtin Builtin;
typedef struct Range3 Range3;
typedef struct Function Function;
typedef struct Host Host;
typedef struct Aggregate Aggregate;
struct Val {
    ValKind kind;
    int count; /* of items */
    union {
        const Val *self;           /* BUILTIN, FUNCTION: the object it is a method of, or NULL */
        const char *const *fields; /* TUPLE: names of its items, or NULL */
        const struct Aggregate *aggregate;
    };
    union {
        PyInt i; /* BOOL, INT */
        double f;
        const char *text; /* STR, MODULE, UNBOUND */
        const Val *items;
        const Type *dtype; /* a scalar or pointer type; a tile type for `x.type` */
        const Builtin *builtin;
        const Function *function;
        const Host *host;
        const Range3 *range;
        Ref ref;
    };
};

typedef struct Names Names; /* triton_names.c: the names around a function */

struct Function {
    const PyNode *node; /* its def */
    Names *names;
    void *handle; /* of the host, or NULL */
    bool host;    /* plain Python, run on constants */
};

struct Host {
    void *handle;
    const char *name; /* for messages */
};

struct Range3 {
    Val start, stop, step;
    bool is_static;
    int stages, unroll; /* 0: not given */
};

typedef struct Local {
    const char *name;
    Val val;
} Local;
typedef VEC(Local) Locals;
typedef VEC(Ref) Refs;

/* A function being run. */
typedef struct Frame Frame;
struct Frame {
    Frame *caller;
    const Function *function;
    Range call; /* where it was called */
    Locals locals;
    int loops;       /* around the place */
    bool constructs; /* an __init__: fields of `self` may be set */
};

typedef struct Heuristic {
    const char *name;
    const PyNode *node; /* a lambda or the name of a function */
} Heuristic;

/* A kernel: FrontKernel.node. */
typedef struct Entry {
    PyNode *function;
    VEC(Heuristic) heuristics;
} Entry;

/* What open leaves for lower. */
typedef struct Tree {
    PyNode *module;
    Names *names;
    Map live;  /* functions of the host that have been parsed, by handle */
    Map files; /* imported files that have been parsed */
} Tree;

typedef struct Lower {
    FrontUnit *unit;
    Names *names; /* around the function being run */
    Map scopes;   /* names of live functions, by handle */
    Map files;    /* names of imported files */
    Arena *arena;
    Diag *diag;
    Module *module; /* NULL while only constants are computed */
    Kernel *kernel;
    Builder b;
    Frame *frame; /* NULL at module level */
    int64_t steps;
    bool exhausted; /* too many steps, and said so */
    int regions;    /* functions given to reduce, scan and map around the place */
    bool specialize_ones;
    const FrontRequest *request; /* NULL while only constants are computed */
    int depth;
} Lower;

enum { TRITON_MAX_STEPS = 230000, TRITON_MAX_DEPTH = 200, TRITON_MAX_TUPLE = 4096, TRITON_MAX_TEXT = 65536 };

/* --- errors --- */
Val tri_error(Lower *l, DiagId id, Range range, ...);
static inline bool tri_val_failed(Val v) { return v.kind == VAL_ERROR; }

/* --- triton_value.c --- */
/* Is it made of other values (v.items, v.count)? */
static inline bool tri_val_has_items(Val v) {
    return v.kind == VAL_TUPLE || v.kind == VAL_AGGREGATE || v.kind == VAL_BLOCK || v.kind == VAL_DESCRIPTOR;
}
static const Val val_none = {.kind = VAL_NONE}, val_error = {.kind = VAL_ERROR};
Val tri_val_bool(bool value);
Val tri_val_int(PyInt value);
Val tri_val_float(double value);
Val tri_val_str(const char *text);
Val tri_val_tensor(Ref ref);
Val tri_val_dtype(const Type *type);
/* What the user gave for a constant or with -D; a text that names a dtype ("float16", "tl.float16") is that dtype. */
Val tri_val_given(Lower *l, const FrontValue *value);
Val tri_val_tuple(Lower *l, const Val *items, int count);
bool tri_val_is_const(Val v);  /* a number, None, string, dtype, function, or a tuple of such */
bool tri_val_is_number(Val v); /* BOOL, INT, FLOAT */
bool tri_val_same(Val a, Val b);
bool tri_val_truth(Val v);       /* of a constexpr, as bool() says */
double tri_val_as_double(Val v); /* of a number */
const char *tri_val_text(Lower *l, Val v);
const char *tri_type_text(Lower *l, const Type *type);
const char *tri_val_describe(Lower *l, Val v); /* "float32[128]" or "3" for messages */
const Type *tri_val_type(const Lower *l, Val v);
/* The dtype of that name (float32, fp32, bf16, ...), or NULL. */
const Type *tri_dtype_named(Module *m, const char *name);
const char *tri_dtype_name(Elem elem);  /* "float32" */
const char *tri_dtype_brief(Elem elem); /* "fp32" */
/* Python on constexprs. */
Val tri_const_binary(Lower *l, PyOp op, Val a, Val b, Range range);
Val tri_const_compare(Lower *l, PyOp op, Val a, Val b, Range range);
Val tri_const_unary(Lower *l, PyOp op, Val a, Range range);

/* --- triton_names.c --- */
Names *tri_names_collect(FrontUnit *unit, const SourceFile *file, const PyNode *module, Arena *arena);
/* The names of a live function: all are asked of the host. */
Names *tri_names_live(FrontUnit *unit, void *scope, Arena *arena);
/* What a name of the module means: a constant, function, module, builtin; VAL_UNBOUND when there is none. */
Val tri_names_lookup(Lower *l, const char *name, Range range);
Val tri_names_attribute(Lower *l, const char *path, const char *attr, Range range);
/* "triton.jit" for whatever the file calls it; NULL if the node is no dotted name. */
const char *tri_names_path(const Names *names, const PyNode *node, Arena *arena);
const char *tri_names_suggest(Lower *l, const char *wrong); /* "; did you mean `x`?" or "" */
/* For `triton.NAME`: "did you mean ..? Else ", or "". */
const char *tri_names_suggest_host(Lower *l, const char *path);
/* Every name around the function being run, for suggestions. */
const char *const *tri_names_all(Lower *l, size_t *count);
/* A constant outside of any function, with those names. */
Val tri_eval_outside(Lower *l, Names *names, const PyNode *node);
bool tri_names_is_jit(const Names *names, const PyNode *function, Arena *arena);

/* The expression that a name of the file is assigned, or NULL. */
const PyNode *tri_names_node(const Names *names, const char *id);

/* --- triton_config.c --- */
void tri_read_decorators(FrontUnit *unit, Entry *entry, FrontKernel *kernel);

/* --- triton_structure.c --- */
/* What is done at a leaf of an argument: path is its name ("a.0"); constant: of a block shape. */
typedef Val (*TriLeaf)(void *user, const char *path, bool constant);
const char *tri_structure_of(const FrontUnit *unit, const char *parameter); /* or NULL */
/* Visits the leaves in order; false if the text is none. */
bool tri_structure_leaves(const char *text, const char *name, Arena *arena, TriLeaf leaf, void *user);
/* The argument, from what leaf gives; the text has been visited before. */
Val tri_structure_value(Lower *l, const char *text, const char *name, Range range, TriLeaf leaf, void *user);

/* --- triton_import.c --- */
/* The names of a module that a file names, or NULL if no file of the user's is it. */
Names *tri_import(Lower *l, const SourceFile *from, const char *dotted);

/* --- triton_live.c --- */
/* An object of the host as a value; name is what messages call it. UNBOUND when there is none. */
Val tri_live_value(Lower *l, const FrontObject *object, const char *name, Range range);
Val tri_live_lookup(Lower *l, void *scope, const char *name, Range range);
Val tri_live_attribute(Lower *l, const Host *of, const char *attr, Range range);
Val tri_live_call(Lower *l, const Host *function, const PyNode *call);
/* Calls a method of a host object on constants. */
Val tri_live_method(Lower *l, const Host *of, const char *name, const Val *args, int count, Range range);
/* The full name of a dotted name, NULL if it is none. */
const char *tri_live_path(const FrontUnit *unit, void *scope, const PyNode *node, Arena *arena);

/* The strings of a tuple that is an attribute of an object; NULL if there is none. */
const char *const *tri_live_names(Lower *l, void *handle, const char *attr, size_t *count);

/* --- triton_aggregate.c --- */
const Aggregate *tri_aggregate_of(Lower *l, const Host *host); /* NULL: the object is no such class */
Val tri_aggregate_make(Lower *l, const Aggregate *a, const PyNode *call);
Val tri_aggregate_attribute(Lower *l, Val v, const char *attr, Range range);
const char *tri_aggregate_field(Val v, int index); /* its name */
Val tri_aggregate_replace(Lower *l, const PyNode *call);
/* self.field = value in a constructor; false: it is none. */
bool tri_aggregate_set(Lower *l, const PyNode *target, Val value);

/* --- triton_format.c --- */
/* A constant as a field of an f-string; NULL: the format is not one for it. */
const char *tri_format(Lower *l, Val v, const char *spec, int conversion);

/* --- triton_arith.c --- */
bool tri_need_ir(Lower *l, Range range); /* false, reported, while only constants are computed */
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
static inline const Type *tri_ref_type(const Lower *l, Ref ref) { return ir_type(l->kernel, ref); }

/* --- triton_shape.c --- */
Val tri_reshape(Lower *l, Val v, int rank, const int64_t *extent, Range range);
Val tri_slice(Lower *l, Val v, int axis, int64_t from, int64_t extent); /* along one axis */
Val tri_along(Lower *l, Opcode code, Val v, int axis);                  /* an op with one operand and an axis */
Val tri_expand(Lower *l, Val v, int axis);                              /* a new extent of 1 */
Val tri_only_element(Lower *l, Val v);                                  /* of a tile of one: a scalar */
Val tri_full(Lower *l, int rank, const int64_t *extent, Val value, const Type *dtype, Range range);

/* --- triton_eval.c --- */
Val tri_eval(Lower *l, const PyNode *node);
bool tri_step(Lower *l, Range range); /* counts work; false, reported once, beyond TRITON_MAX_STEPS */
Val tri_call(Lower *l, Val function, const PyNode *call); /* evaluates the arguments of a Call node */

/* --- triton_attribute.c --- */
Val tri_attribute(Lower *l, Val v, const char *attr, Range range);
/* The answer to dtype.is_fp16() and its kin; UNBOUND if there is no such question. */
Val tri_dtype_method(Lower *l, const Type *type, const char *name);

/* --- triton_resolve.c --- */
/* Fills in likely_array. */
void tri_find_arrays(PyNode *function, FrontParam *params, size_t count, Arena *arena);

/* --- triton_const.c --- */
void tri_check_const(Lower *l, const FrontKernel *wanted); /* reports writes through tl.const */

/* --- triton_python.c --- */
/* What a loop or comprehension over constants runs through, as a tuple. */
Val tri_iterable(Lower *l, Val v, Range range);

/* --- triton_stmt.c --- */
/* Runs a jit function on bound arguments (one a parameter, in order). */
Val tri_run_function(Lower *l, const Function *function, const Val *args, Range call);
/* Runs a constructor; what became of its first parameter. */
Val tri_run_constructor(Lower *l, const Function *function, const Val *args, Range call);
void tri_run_kernel(Lower *l, const Function *function, const Val *args);
void tri_assign(Lower *l, const PyNode *target, Val value);
bool tri_is_constexpr_annotation(Lower *l, const PyNode *annotation);
/* --- triton_branch.c --- */
/* An op with one region, filled by running an expression; used for `a if c else b`. */
Val tri_choose(Lower *l, Ref condition, const PyNode *yes, const PyNode *no, Range range);

/* --- triton_call.c, triton_builtins.def --- */
typedef struct Call {
    const Builtin *builtin;
    Range range;
    const Val *args;     /* one a parameter of the signature; defaults filled in */
    const Range *ranges; /* where each stands, or the call's */
} Call;
struct Builtin {
    const char *name;
    const char *kinds;     /* letters of triton_builtins.def */
    const char *signature; /* Python's own: "x, axis=None" */
    Val (*lower)(Lower *l, const Call *call);
    int code; /* an Opcode or Word for rows that share a function */
    const char *doc;
};
extern const Builtin tri_builtins[];
extern const size_t tri_builtin_count;
const Builtin *tri_builtin_find(const char *name, char kind);
Val tri_call_builtin(Lower *l, const Builtin *builtin, const Val *self, const PyNode *call);
Val tri_call_function(Lower *l, const Function *function, const Val *self, const PyNode *call);
/* The same, and what the constructor made of self. */
Val tri_construct(Lower *l, const Function *init, const Val *self, const PyNode *call);
/* Calls a jit function or a builtin on values, by position. */
Val tri_apply(Lower *l, Val function, const Val *args, int count, Range call);

/* Its name as kernels write it: "tl.load", "len", ".to". */
const char *tri_title(Lower *l, const Builtin *builtin);

/* What a builtin's lowering asks of its arguments; each reports and returns false when it is not so. */
bool tri_want_int(Lower *l, const Call *c, int arg, int64_t *value); /* a constexpr integer */
bool tri_want_bool(Lower *l, const Call *c, int arg, bool *value);   /* a constexpr truth */
bool tri_want_dtype(Lower *l, const Call *c, int arg, const Type **dtype);
bool tri_want_text(Lower *l, const Call *c, int arg, const char **text); /* NULL for None */
bool tri_want_shape(Lower *l, const Call *c, int arg, int *rank, int64_t *extent);
bool tri_want_tensor(Lower *l, const Call *c, int arg, Val *v); /* a number becomes a scalar */
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
