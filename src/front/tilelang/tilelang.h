/* tilelang.h: what the files of the TileLang door share.
 *
 * The door runs the kernel's Python as TileLang itself does: what is known on the host (sizes, tile shapes, dtypes,
 * helper arithmetic) is computed, what depends on the device becomes IR. So every expression gives a Val: a host value,
 * a traced scalar, or storage. tilelang.c finds kernels and lowers one; tilelang_expr.c evaluates expressions;
 * tilelang_stmt.c lowers statements; tilelang_calls.c is the table of `T.*` (tilelang.def). */
#ifndef FRONT_TILELANG_TILELANG_H
#define FRONT_TILELANG_TILELANG_H
#include "front/front.h"
#include "front/python/host_number.h"
#include "ir/build.h"
#include "syntax/py_ast.h"

typedef enum ValKind {
    VAL_NONE,   /* None */
    VAL_BOOL,   /* host, in i */
    VAL_INT,    /* host, in i */
    VAL_FLOAT,  /* host, in f */
    VAL_TEXT,   /* host, in text */
    VAL_TUPLE,  /* host, items */
    VAL_DTYPE,  /* an element type */
    VAL_MODULE, /* a dotted name that leads into tilelang: text = "T", "T.Kernel", "tilelang.jit" ... */
    VAL_DEF,    /* a function of the file: node */
    VAL_SCALAR, /* traced: ref */
    VAL_TENSOR, /* a global tensor: ref */
    VAL_BUFFER, /* alloc_*: ref */
    VAL_REGION, /* part of a tensor or buffer: ref, offsets and extents */
    VAL_WRONG   /* its statement had an error, which is told; what uses it stays silent */
} ValKind;

enum { MAX_TERMS = 6 };
typedef struct Linear { /* constant + sum of factor * variable; a variable is a traced integer */
    int64_t constant;
    int count;
    Ref var[MAX_TERMS];
    int64_t factor[MAX_TERMS];
} Linear;

typedef struct Val Val;
struct Val {
    ValKind kind;
    int64_t i;
    double f;
    const char *text;
    Elem elem; /* DTYPE; also of SCALAR, TENSOR, BUFFER, REGION */
    int count; /* TUPLE: items; TENSOR, BUFFER, REGION: rank */
    const Val *items;
    const PyNode *node;
    Ref ref;
    bool is_tensor; /* REGION: of a tensor, not of a buffer */
    int64_t
        shape[MAX_RANK];  /* TENSOR, BUFFER: extents of the whole; REGION: of the part, 0 = taken from the other side */
    Ref offset[MAX_RANK]; /* REGION */
    const Linear *at[MAX_RANK]; /* REGION: the offsets as sums; NULL: not known */
    const Linear *linear;       /* SCALAR, of 32 or 64 bits: NULL: a variable of its own */
};

typedef struct Scope {
    struct Scope *outer;
    Map names;    /* -> Val */
    bool repeats; /* the body of a loop, or of a run-time `if`: what it binds is gone behind it */
} Scope;

typedef struct Variable { /* of a loop or of the grid */
    Ref ref;
    int grid;          /* which dimension of the grid; -1: of a loop */
    bool starts, ends; /* are lo and hi known? */
    int64_t lo, hi;    /* its first and its last value */
} Variable;

typedef struct BlockIndex { /* of a tensor, by one variable of the grid */
    int grid, dim;
    int64_t step, base, extent; /* base + step * block, of a dimension of that extent */
    Range range;
} BlockIndex;

typedef struct Lang { /* one lowering */
    FrontUnit *unit;
    const FrontRequest *request; /* NULL while opening */
    Module *module;
    Arena *arena;
    Diag *diag;
    Kernel *kernel;
    Builder b;
    Scope *scope;
    int depth;      /* of statements and calls, bounded */
    int conditions; /* run-time ifs around here: what stands there may be guarded */
    Ref guard;      /* under which the expression is needed; REF_NONE: always */
    VEC(Variable) variables;
    VEC(BlockIndex) blocks;
    bool in_kernel; /* inside `with T.Kernel` */
    bool in_parallel;
    bool failed; /* in this statement */
} Lang;

typedef struct Param { /* an argument of a call, bound to a parameter of a builtin's row */
    Val val;
    Range range;
    bool given;
} Param;

/* --- tilelang.c --- */
Val *scope_find(Lang *l, const char *name);
void scope_set(Lang *l, const char *name, Val val);
/* Says something and returns false; the first thing said in a statement wins. */
bool lang_error(Lang *l, DiagId id, Range range, ...);
bool elem_from_text(const char *text, Elem *elem);
bool lang_bind_params(Lang *l, const PyNode *def, const Val *given, int given_count);

/* --- tilelang_expr.c --- */
bool eval(Lang *l, const PyNode *node, Val *out);
/* The same where the condition holds (or does not): elements of tiles outside of it are not read. */
bool eval_under(Lang *l, const PyNode *node, Ref condition, bool holds, Val *out);
bool truth(const Val *v, bool *out); /* of a host value */
bool binary(Lang *l, PyOp op, const Val *x, const Val *y, Range range, Val *out);
/* Two numbers in the type in which they meet. */
bool meet_scalars(Lang *l, const Val *x, const Val *y, Range range, Ref *left, Ref *right);
bool choose(Lang *l, Ref condition, const Val *x, const Val *y, Range range, Val *out);
bool to_scalar(Lang *l, const Val *val, Range range, Val *out);          /* a traced scalar from a host number */
bool convert(Lang *l, const Val *val, Elem elem, Range range, Ref *out); /* a scalar as an element of that type */
char *lang_text(Lang *l, const Val *val);
Val lang_int(int64_t i);
Val val_scalar(Lang *l, Ref ref);

/* --- tilelang_index.c --- */
bool index_storage(Lang *l, const Val *base, const PyNode *node, Val *out);
bool load_element(Lang *l, const Val *region, Range range, Val *out);
bool store_element(Lang *l, const Val *region, const Val *value, Range range);
bool is_element(const Val *region);                                                  /* a region of one element */
void linear_join(Lang *l, PyOp op, const Val *x, const Val *y, Val *out);            /* sets out->linear */
void add_variable(Lang *l, Ref ref, int grid, const int64_t *lo, const int64_t *hi); /* NULL: not known */
/* False, and said, when the elements lie outside of the tile whatever the variables are. */
bool check_inside(Lang *l, const Val *whole, int d, const Linear *at, int64_t extent, Range range);
bool check_grid(Lang *l); /* at the kernel's end: are the extents of the grid swapped? */

/* --- tilelang_stmt.c --- */
bool lower_body(Lang *l, const PyList *body);

/* --- tilelang_calls.c --- */
bool lang_knows_call(Lang *l, const PyNode *call); /* is it no `T.x(..)`, or one that there is? Else a message */
bool call_builtin(Lang *l, const PyNode *call, const char *name, Val *out);
/* The iterators and the launch are not values; statements ask for their arguments by the rows of the table. */
bool bind_call(Lang *l, const PyNode *call, const char *name, Param *params, int *extra_count, Val *extra);
enum { MAX_PARAMS = 12, MAX_EXTRA = 8 };
#endif
