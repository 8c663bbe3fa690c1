/* SPDX-License-Identifier: Apache-2.0 */
/* python.h: one evaluator of Python for the doors whose kernels are Python (triton, tilelang).
 *
 * A door runs a kernel's text once, as Python would, on abstract values (Val): what Python knows at compile time is a
 * Python object (number, string, tuple, dtype, function, module), everything else is an IR value with its type
 * (VAL_TENSOR) or a thing of the door's own (VAL_OWN). Operating on objects is Python's arithmetic; operating on IR
 * values appends IR ops, and what such an operation means is the door's: a door is a Domain. Calls of functions of the
 * program are run in place.
 *
 *     pid = tl.program_id(0)                       VAL_TENSOR i32
 *     offs = pid * BLOCK + tl.arange(0, BLOCK)     BLOCK is VAL_INT 1024, offs VAL_TENSOR i32[1024]
 *
 * Mistakes are reported and give VAL_ERROR, which every operation passes on in silence: so one run finds several.
 *
 *     python_value.c    Val: text, truth, equality, Python's arithmetic    python_format.c  f-strings
 *     python_names.c    what a name means: imports, constants, functions, the -D of the user
 *     python_import.c   names of other files
 *     python_live.c     names of the Python program around the kernel
 *     python_structure.c  arguments that are made of others
 *     python_eval.c     expressions        python_stmt.c  statements, jumps, functions
 *     python_loop.c     loops              python_branch.c  locals and run-time branches
 *     python_call.c     binding arguments to parameters
 *     python_builtins.c Python's own functions (python_builtins.def)
 *     python_objects.c  lists, dicts and strings, and their methods */
#ifndef FRONT_PYTHON_PYTHON_H
#define FRONT_PYTHON_PYTHON_H
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
    VAL_TUPLE, /* in a kernel of Triton also a list */
    VAL_LIST,  /* plain Python only: it can change */
    VAL_DICT,  /* the same; its list is key, value, key, value .. */
    VAL_DTYPE,
    VAL_MODULE, /* text: its dotted path; also a name inside a foreign module */
    VAL_BUILTIN,
    VAL_FUNCTION, /* of the program */
    VAL_RANGE,    /* range(..) and its kin */
    VAL_HOST,     /* another object of the program around the kernel */
    VAL_OWN,      /* a thing of the domain: own says which, items what it is made of */
    VAL_TENSOR    /* an IR value */
} ValKind;

typedef struct Val Val;
typedef struct Builtin Builtin;
typedef struct Range3 Range3;
typedef struct Function Function;
typedef struct Host Host;
typedef struct List List;
typedef struct Own { /* what a domain's values of one sort have in common */
    const char *of;    /* messages call it that, and then its text: "an aggregate of"; NULL: the text alone */
    bool whole;        /* a thing, not made of items */
} Own;
struct Val {
    ValKind kind;
    int count; /* of items */
    union {
        const Val *self;           /* BUILTIN, FUNCTION: the object it is a method of, or NULL */
        const char *const *fields; /* TUPLE: names of its items, or NULL */
        const Own *own;
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
        const void *thing; /* OWN that is whole */
        List *list;        /* LIST, DICT */
        Ref ref;
    };
};

typedef struct Names Names; /* python_names.c: the names around a function */

struct Function {
    const PyNode *node; /* its def, or a lambda */
    Names *names;
    struct Frame *around; /* the function that it was made in, whose names it sees; or NULL */
    void *handle; /* of the host, or NULL */
    bool host;    /* plain Python, run on constants */
};

struct Host {
    void *handle;
    const char *name; /* for messages */
    bool wrapped;     /* the door's kernels see it in a wrapper of its own, whose `value` it is (tl.constexpr) */
};

struct Range3 {
    Val start, stop, step;
    bool is_static;
    bool staged;        /* stages counts, also when it is 0 */
    int stages, unroll; /* 0: not given */
};

typedef struct Local {
    const char *name;
    Val val;
    int nest; /* Lower.nest where it was bound */
} Local;
typedef VEC(Local) Locals;
typedef VEC(Ref) Refs;
typedef VEC(Val) Vals;
struct List {
    Vals vals;
    int nest;           /* Lower.nest where it was made */
    const char *broken; /* why nobody knows what it holds; NULL: it is whole */
};
typedef VEC(List *) Lists;

/* A function being run. */
typedef struct Frame Frame;
struct Frame {
    Frame *caller;
    const Function *function;
    Range call; /* where it was called */
    Locals locals;
    int loops;       /* around the place */
    int closed;      /* loops around these that no jump leaves */
    bool constructs; /* an __init__: fields of `self` may be set */
};

/* What open leaves for lower. */
typedef struct Tree {
    PyNode *module;
    Names *names;
    Map live;  /* functions of the host that have been parsed, by handle */
    Map files; /* imported files that have been parsed */
} Tree;

typedef struct Domain Domain;
typedef struct Lower {
    const Domain *domain;
    void *own; /* the door's own state */
    FrontUnit *unit;
    Names *names; /* around the function being run */
    Map scopes;   /* names of live functions, by handle */
    Map files;    /* names of imported files */
    Map signatures; /* of builtins, read */
    Arena *arena;
    Diag *diag;
    Module *module; /* NULL while only constants are computed */
    Kernel *kernel;
    Builder b;
    Frame *frame; /* NULL at module level */
    Lists *changed; /* by the statement that may fail in silence; NULL: nobody asks */
    int nest;     /* run-time loops and branches around the place */
    int branches; /* the branches among them */
    int64_t steps;
    bool exhausted; /* too many steps, and said so */
    const FrontRequest *request; /* NULL while only constants are computed */
    int depth;
} Lower;

enum { PYTHON_MAX_STEPS = 230000, PYTHON_MAX_DEPTH = 200, PYTHON_MAX_TUPLE = 4096, PYTHON_MAX_TEXT = 65536 };

/* --- calls --- */
typedef struct Call {
    const Builtin *builtin;
    Range range;
    const Val *args;     /* one a parameter of the signature; defaults filled in */
    const Range *ranges; /* where each stands, or the call's */
} Call;
struct Builtin {
    const char *name;
    const char *kinds;     /* where the name lives: P Python, Y its math, I its itertools; others are the domain's */
    const char *signature; /* Python's own: "x, axis=None" */
    Val (*lower)(Lower *l, const Call *call);
    int code; /* an Opcode or Word for rows that share a function */
    const char *doc;
};

/* --- the domain --- */

/* Its words in messages that all doors have. */
typedef struct DomainWords {
    const char *kernels;  /* "Triton kernels" */
    const char *language; /* "tl.*" */
    const char *device;   /* how a function becomes one that kernels may call: "decorate it with @triton.jit" */
    const char *constant; /* how a number comes to be known: ", or pass it as a tl.constexpr parameter" */
    const char *pass;     /* the same, of an argument */
    const char *cast;     /* ".to(...)" */
    const char *cast_f32; /* ".to(tl.float32)" */
    const char *loops;    /* what loops run over */
    const char *unroll;   /* what to do about too many steps */
    const char *change;   /* about a constant that changes in a loop */
    const char *element;  /* about an assignment to an element */
    const char *attribute; /* and to an attribute */
} DomainWords;

struct Domain {
    DomainWords words;
    const Builtin *builtins; /* its own; one of its rows of a kind wins over Python's */
    size_t builtin_count;
    bool host_in_kernels; /* plain Python is run inside of kernels, too: lists, dicts, lambdas, functions */
    bool carries;         /* names are variables, which run-time loops and branches hand on; else they are bindings */
    bool imported;        /* the file is no program: what it does as `__main__` only, it does not do */
    bool forgives;        /* a value of plain Python that cannot be computed is a mistake where it is used */
    DiagId asserted; /* its message about an assert that does not hold */
    /* Instead of a construct of Python that kernels do not have; NULL: nothing better is known. */
    const char *(*instead)(PyKind kind);

    /* Names. */
    const char *(*module_path)(const char *path); /* the module that an import means */
    bool (*is_library)(const char *path);         /* a module that no file of the user's can be */
    /* A def of a file: one of the language's? Else it is plain Python; on_constants: which a kernel may call, too. */
    bool (*is_device)(const Names *names, const PyNode *def, Arena *arena);
    bool (*on_constants)(const Names *names, const PyNode *def, Arena *arena);
    /* What a def inside of a function is (its value as a function comes in); false: it is not run. */
    bool (*define)(Lower *l, const PyNode *def, Val *function);
    Val (*module_attribute)(Lower *l, const char *path, const char *attr, Range range); /* UNBOUND: not its own */
    const char *(*suggest)(Lower *l, const char *id);      /* "tl.load" for `load`, or NULL */
    Val (*unknown)(Lower *l, const PyNode *name, const char *near); /* reports; near: a name like it, or NULL */
    const char *(*suggest_host)(Lower *l, const char *path); /* what to write for an unknown name of a module */
    const Type *(*dtype_named)(Module *m, const char *name);
    const char *(*elem_name)(Elem elem);
    const char *(*dtype_path)(Lower *l, const Type *dtype); /* its full name in a running program */

    /* Values. */
    Val (*binary)(Lower *l, PyOp op, Val a, Val b, Range range); /* as the program writes it */
    Val (*compare)(Lower *l, PyOp op, Val a, Val b, Range range);
    Val (*unary)(Lower *l, PyOp op, Val a, Range range);
    Val (*both)(Lower *l, Val a, Val b, Range range); /* of two run-time booleans */
    /* `and`, `or` from its part `from` on, which is a run-time value; `yes if condition else no`. */
    Val (*logic)(Lower *l, const PyNode *node, uint32_t from, Val first);
    Val (*choose)(Lower *l, Ref condition, const PyNode *yes, const PyNode *no, Range range);
    Val (*truth)(Lower *l, Val v, Range range); /* as a condition: a bool, or a scalar i1 */
    Val (*number)(Lower *l, const Call *c, char to); /* int ('i'), float ('f') of a run-time value; UNBOUND: none */
    Val (*to_value)(Lower *l, Val v, Range range); /* a number as a run-time value */
    Val (*assigned)(Lower *l, Val v, Range range); /* what a plain assignment makes of a value */
    Val (*alike)(Lower *l, Val v, Val like, bool narrow, Range range); /* v in the form of another, where it can be */
    Val (*attribute)(Lower *l, Val v, const char *attr, Range range);
    Val (*subscript)(Lower *l, Val v, const PyNode *node);
    /* v.name(..), a call of a module's name: false if it is not the domain's. */
    bool (*method)(Lower *l, Val v, const PyNode *call, Val *out);
    bool (*call)(Lower *l, Val function, const PyNode *call, Val *out);
    bool (*same)(Val a, Val b); /* constants that are one key of a dict to it: a dtype and its name. NULL: none */
    int (*is_instance)(Val v, Val cls);                 /* of a class of its own: 1 or 0; -1: not known */
    const char *(*describe)(Lower *l, Val v);           /* the text of one of its own values */
    const char *(*title)(Lower *l, const Builtin *builtin); /* a row's name as kernels write it: "tl.load" */
    /* A call that the lowering of the row reads itself; false: it is bound and lowered. */
    bool (*call_raw)(Lower *l, const Builtin *builtin, const PyNode *call, Val *out);
    /* Another object of a running program, which stands for a value of the domain's; false: it does not. NULL: none. */
    bool (*live)(Lower *l, const Host *object, Range range, Val *out);
    /* A class of a running program, called; false: it is none of the domain's. */
    bool (*call_class)(Lower *l, const Host *cls, const PyNode *call, Val *out);

    /* Statements. */
    /* To a name: it may store instead, or refuse; false: the name means the value from here on. NULL: always. */
    bool (*bind)(Lower *l, const PyNode *target, Val value);
    bool (*assign)(Lower *l, const PyNode *target, Val value); /* to an element or attribute */
    bool (*augmented)(Lower *l, const PyNode *node);           /* the same, for `+=` and its kin; NULL: none */
    void (*annotated)(Lower *l, const PyNode *node);           /* x: t = v */
    void (*assertion)(Lower *l, const PyNode *node, Val test, const char *text);
    bool (*stays_constant)(Lower *l, const char *name);        /* a number that loops do not make a variable */
    bool (*returned)(Lower *l, Val v, const PyNode *node);      /* may the kernel return that? Else it is reported */
    /* `with` and `for` over things of its own: false if it is none. NULL: it has none. */
    bool (*with)(Lower *l, const PyNode *node);
    bool (*loop)(Lower *l, const PyNode *node, Val over);
    /* Around the body of a counted loop, where its variable is known; what begin gives comes to end. NULL: nothing. */
    int (*loop_begin)(Lower *l, Ref variable, const Ref bounds[3]);
    void (*loop_end)(Lower *l, int begun);
    bool (*loop_bounds)(Lower *l, const Range3 *range, Range where, Ref bounds[3]);
};

/* --- errors --- */
Val py_error(Lower *l, DiagId id, Range range, ...);
Val py_unsupported(Lower *l, Range range, const char *what);
Val py_host(Lower *l, Range range, const char *path); /* host code has no place here */
Val py_need_constant(Lower *l, Range range, const char *what, Val v);
static inline bool val_failed(Val v) { return v.kind == VAL_ERROR; }

/* --- python_value.c --- */
/* Is it made of other values (v.items, v.count)? */
static inline bool val_has_items(Val v) { return v.kind == VAL_TUPLE || (v.kind == VAL_OWN && !v.own->whole); }
/* Of what has items, a list and a dict (its keys and values in turn). */
int val_count(Val v);
const Val *val_items(Val v);
Val val_list(Lower *l, const Val *items, int count); /* a list; a tuple in kernels that have none */
/* Lists and dicts as they are now, as tuples: what a kernel without lists sees of them. */
Val val_frozen(Lower *l, Val v);
bool val_equal(Val a, Val b); /* Python's == */
/* Of one sort, if they are the domain's? */
static inline bool val_like(Val a, Val b) {
    return a.kind == b.kind && (a.kind != VAL_OWN || a.own == b.own || (a.own->of && a.own->of == b.own->of));
}
static inline bool val_is_own(Val v, const Own *own) { return v.kind == VAL_OWN && v.own == own; }
static const Val val_none = {.kind = VAL_NONE}, val_error = {.kind = VAL_ERROR};
Val val_bool(bool value);
Val val_int(PyInt value);
Val val_float(double value);
Val val_str(const char *text);
Val val_tensor(Ref ref);
Val val_dtype(const Type *type);
/* What the user gave for a constant or with -D; where Python is run only around kernels, a text that names a dtype
 * ("float16", "tl.float16") is that dtype. */
Val val_given(Lower *l, const FrontValue *value);
Val val_tuple(Lower *l, const Val *items, int count);
bool val_is_const(Val v);  /* a number, None, string, dtype, function, or a tuple of such */
bool val_is_number(Val v); /* BOOL, INT, FLOAT */
bool val_same(Val a, Val b);
bool val_truth(Val v);       /* of a constant, as bool() says */
double val_as_double(Val v); /* of a number */
const char *val_text(Lower *l, Val v);
const char *val_type_text(Lower *l, const Type *type);
const char *val_describe(Lower *l, Val v); /* "float32[128]" or "3" for messages */
const Type *val_type(const Lower *l, Val v);
static inline const Type *val_ref_type(const Lower *l, Ref ref) { return ir_type(l->kernel, ref); }
/* Python on constants. */
Val val_binary(Lower *l, PyOp op, Val a, Val b, Range range);
Val val_compare(Lower *l, PyOp op, Val a, Val b, Range range);
Val val_unary(Lower *l, PyOp op, Val a, Range range);

/* --- python_format.c --- */
/* A constant as a field of an f-string; NULL: the format is not one for it. */
const char *val_format(Lower *l, Val v, const char *spec, int conversion);

/* --- python_names.c --- */
Names *names_collect(FrontUnit *unit, const Domain *domain, const SourceFile *file, const PyNode *module, Arena *arena);
/* A door's run of a kernel, with the names of its file. Constants are computed afresh: their types belong to the
 * module. */
Lower py_lower_begin(const Domain *domain, void *own, FrontUnit *unit, const FrontRequest *request);
/* The names of a live function: all are asked of the host. */
Names *names_live(FrontUnit *unit, const Domain *domain, void *scope, Arena *arena);
/* What a name of the module means: a constant, function, module, builtin; VAL_UNBOUND when there is none. */
Val names_lookup(Lower *l, const char *name, Range range);
Val names_attribute(Lower *l, const char *path, const char *attr, Range range);
/* "triton.jit" for whatever the file calls it; NULL if the node is no dotted name. */
const char *names_path(const Names *names, const PyNode *node, Arena *arena);
/* Is the def decorated with that name, or with a call of it? */
bool names_decorated(const Names *names, const PyNode *def, const char *path, Arena *arena);
bool names_are_live(const Names *names); /* those of a running program? */
/* What to say of a name of a module of the user's; NULL: it is none. */
const char *names_suggest_file(Lower *l, const char *path);
/* Every name around the function being run, for suggestions. */
const char *const *names_all(Lower *l, size_t *count);
bool names_certain(const Names *names, const char *id); /* does the file give it a value, under no condition? */
/* The expression that a name of the file is assigned, or NULL. */
const PyNode *names_node(const Names *names, const char *id);

/* --- python_random.c --- */
/* Enciphers the counter; false after a message. */
bool py_philox(Lower *l, Val counter[4], Val k0, Val k1, int64_t rounds);

/* --- python_structure.c --- */
/* What is done at a leaf of an argument: path is its name ("a.0"); constant: of a block shape. */
typedef Val (*StructureLeaf)(void *user, const char *path, bool constant);
/* A descriptor of the host, from base, shape, strides and block shape. */
typedef Val (*StructureBox)(Lower *l, Val base, Val shape, Val strides, Val block, bool nan, Range range);
const char *structure_of(const FrontUnit *unit, const char *parameter); /* or NULL */
/* Visits the leaves in order; false if the text is none. */
bool structure_leaves(const char *text, const char *name, Arena *arena, StructureLeaf leaf, void *user);
/* The argument, from what leaf gives; the text has been visited before. */
Val structure_value(Lower *l, const char *text, const char *name, Range range, StructureLeaf leaf, StructureBox box,
                    void *user);

/* --- python_import.c --- */
/* The names of a module that a file names, or NULL if no file of the user's is it. */
Names *names_import(Lower *l, const SourceFile *from, const char *dotted);

/* --- python_live.c --- */
/* An object of the host as a value; name is what messages call it. UNBOUND when there is none. */
/* A plain function of the program as one that is run here, from its text; other values as they are. */
Val py_live_function(Lower *l, Val v, Range range);
Val py_live_peek(Lower *l, Val v, Range range); /* the same, if its text is there */
Val py_live_value(Lower *l, const FrontObject *object, const char *name, Range range);
Val py_live_lookup(Lower *l, void *scope, const char *name, Range range);
Val py_live_attribute(Lower *l, const Host *of, const char *attr, Range range);
Val py_live_call(Lower *l, const Host *function, const PyNode *call);
/* Calls a method of a host object on constants. */
Val py_live_dict(Lower *l, Val v, Range range); /* a dict of the program as one of ours; else v itself */
Val py_live_method(Lower *l, const Host *of, const char *name, const Val *args, int count, Range range);
/* The full name of a dotted name, NULL if it is none. */
const char *py_live_path(const FrontUnit *unit, void *scope, const PyNode *node, Arena *arena);
/* The strings of a tuple that is an attribute of an object; NULL if there is none. */
const char *const *py_live_names(Lower *l, void *handle, const char *attr, size_t *count);

/* --- python_eval.c --- */
Val py_eval(Lower *l, const PyNode *node);
/* A constant outside of any function, with those names. */
Val py_eval_outside(Lower *l, Names *names, const PyNode *node);
bool py_step(Lower *l, Range range); /* counts work; false, reported once, beyond PYTHON_MAX_STEPS */
Val py_call(Lower *l, Val function, const PyNode *call); /* evaluates the arguments of a Call node */
Val py_attribute(Lower *l, Val v, const char *attr, Range range);
/* Is plain Python run here? */
static inline bool py_on_host(const Lower *l) { return !l->kernel || l->domain->host_in_kernels; }
bool py_need_ir(Lower *l, Range range); /* false, reported, while only constants are computed */

/* --- python_builtins.c --- */
const Builtin *py_builtin(const Lower *l, const char *name, char kind); /* of the domain, else of Python; or NULL */
const Builtin *py_builtin_at(const Lower *l, size_t index);             /* all of them in order; NULL past the last */
const char *py_title(Lower *l, const Builtin *builtin);                 /* "tl.load", "len", "math.sqrt" */
bool py_is_class(Val cls, const char *name); /* the last part of its name */
/* A method of a list, dict, string or tuple; UNBOUND: it has none of that name. */
Val py_host_method(Lower *l, Val v, const char *name);
Val py_item(Lower *l, Val of, Val key, Range range); /* of a list or dict */
/* Sets an element; false, reported, if it cannot be. */
int py_find_key(const Lower *l, Val dict, Val key); /* its place among the keys and values; -1: it is none */
bool py_set_item(Lower *l, Val of, Val key, Val value, Range range);
/* What a loop or comprehension over constants runs through, as a tuple. */
Val py_iterable(Lower *l, Val v, Range range);
/* math.pi and its kin, math's and itertools' functions, Python's own by its full name; UNBOUND: there is none. */
Val py_library_attribute(Lower *l, const char *path, const char *attr);

/* --- python_stmt.c --- */
Val py_closure(Lower *l, const PyNode *node); /* the function of an inner def or lambda */
/* Runs a function on bound arguments (one a parameter, in order). */
Val py_run_function(Lower *l, const Function *function, const Val *args, Range call);
/* Runs a constructor; what became of its first parameter. */
Val py_run_constructor(Lower *l, const Function *function, const Val *args, Range call);
static inline const PyNode *py_arguments(const PyNode *f) {
    return f->kind == PY_Lambda ? f->Lambda.args : f->FunctionDef.args;
}
static inline const char *py_function_name(const PyNode *f) {
    return f->kind == PY_Lambda ? "lambda" : f->FunctionDef.name;
}
void py_run_kernel(Lower *l, const Function *function, const Val *args);
void py_assign(Lower *l, const PyNode *target, Val value);

/* --- python_branch.c --- */
/* An op with one region, filled by running an expression; used for `a if c else b`. */
Val py_choose(Lower *l, Ref condition, const PyNode *yes, const PyNode *no, Range range);

/* --- python_call.c --- */
Val py_call_builtin(Lower *l, const Builtin *builtin, const Val *self, const PyNode *call);
Val py_call_function(Lower *l, const Function *function, const Val *self, const PyNode *call);
/* The same, and what the constructor made of self. */
Val py_construct(Lower *l, const Function *init, const Val *self, const PyNode *call);
/* Calls a function or a builtin on values, by position. */
Val py_apply(Lower *l, Val function, const Val *args, int count, Range call);
/* The same; names: by which keyword each is given, or NULL. */
Val py_apply_named(Lower *l, Val function, const Val *args, const char *const *names, int count, Range call);
/* What a builtin's lowering asks of its arguments; each reports and returns false when it is not so. */
bool py_complain(Lower *l, const Call *c, int arg, const char *what);  /* false */
bool py_constant_int(Lower *l, Val v, int64_t *value);                 /* also one that went through a plain variable */
bool py_want_int(Lower *l, const Call *c, int arg, int64_t *value);    /* a constant integer */
bool py_want_bool(Lower *l, const Call *c, int arg, bool *value);      /* a constant truth */
bool py_want_text(Lower *l, const Call *c, int arg, const char **text); /* NULL for None */

#define PYTHON(name, kinds, signature, function, code, doc) Val function(Lower *l, const Call *call);
#include "front/python/python_builtins.def"
#undef PYTHON
#endif
