/* SPDX-License-Identifier: Apache-2.0 */
/* front.h: the doors. A door turns source text into IR, in two steps:
 *
 *     open    parses the file and lists its kernels with their parameters (FrontUnit)
 *     lower   one kernel of the unit + what is known of its arguments -> a Kernel in
 *             FORM_SOURCE, verified
 *
 * Doors are rows of front.def; the runtime picks one by file name or content (front_choose) and
 * knows nothing else of them. Parameters have one order, that of FrontKernel.params: arguments
 * are given in it at compile and at launch. A parameter that lives on at run time appears under
 * the same name among the arguments of Kernel.body; a constant does not. Members of a struct
 * parameter are parameters of their own, named with dots ("g.x").
 *
 * Mistakes of the user go to the diag of the unit (open) or of the IR module (lower). */
#ifndef FRONT_FRONT_H
#define FRONT_FRONT_H
#include "ir/ir.h"

typedef enum FrontParamKind {
    FRONT_CONSTANT, /* known at compile time: tl.constexpr, a parameter of TileLang's outer function */
    FRONT_SCALAR,   /* a run-time number of type elem */
    FRONT_POINTER,  /* an array, passed as its address */
    FRONT_TENSOR,   /* an array, passed with extents and strides */
    FRONT_OPEN      /* Triton's bare parameter: an array gives FRONT_POINTER, a number FRONT_SCALAR */
} FrontParamKind;

typedef struct FrontParam {
    const char *name;
    FrontParamKind kind;
    int elem;          /* an Elem, or -1: the argument decides */
    int rank;          /* TENSOR; -1: the argument decides */
    bool optional;     /* has a default value */
    bool read_only;    /* POINTER, OPEN: nothing is written through it */
    bool likely_array; /* OPEN: the source loads or stores through it */
    Range range;
} FrontParam;

typedef struct FrontPair {
    const char *name, *value; /* as --arg and --set read them */
} FrontPair;
/* A choice of constants and compile options that the source offers (triton.autotune). */
typedef struct FrontConfig {
    const char *text; /* "BLOCK=128, num_warps=4" */
    const FrontPair *values, *options;
    size_t value_count, option_count;
} FrontConfig;

typedef struct FrontKernel {
    const char *name;
    Range range;
    int param_count;
    const FrontParam *params;
    bool has_grid; /* the source states its own grid */
    const FrontConfig *configs;
    size_t config_count;
    Range config_range;     /* where they are; none: there are none. Without a count: not readable */
    const char *config_why; /* what of them is not; NULL: the list is none */
    void *node;             /* the door's own */
} FrontKernel;

/* What is known of one argument, or the value of a definition. */
typedef enum FrontValueKind {
    FRONT_ABSENT, /* nothing: the default value, or a type alone */
    FRONT_NONE,   /* Python's None */
    FRONT_BOOL,
    FRONT_INT,
    FRONT_FLOAT,
    FRONT_TEXT,
    FRONT_ARRAY,
    FRONT_NUMBER, /* one of type elem, which a launch gives */
    FRONT_OBJECT /* a constant that only a live program has: dtype, function, tuple */
} FrontValueKind;
typedef struct FrontValue {
    FrontValueKind kind;
    bool runtime;     /* stays a run-time value, whatever it is */
    bool is_unsigned; /* INT: i are the bits of a number of 2^63 or more */
    int64_t i;        /* BOOL, INT */
    double f;         /* FLOAT */
    const struct FrontObject *object;
    const char *text;
    Elem elem;                                  /* ARRAY: of its elements; NUMBER */
    int rank;                                   /* ARRAY; -1: only the type of its elements is known */
    int64_t extent[MAX_RANK], stride[MAX_RANK]; /* ARRAY: what it has now; only a constant may depend on it */
} FrontValue;
typedef struct FrontDefine {
    const char *name;
    FrontValue value;
} FrontDefine;

/* What a name means in the program around a kernel, and who answers for it (tilewright.h says more:
 * tw_object, tw_resolver). */
typedef enum FrontObjectKind {
    FRONT_OBJECT_UNKNOWN,
    FRONT_OBJECT_VALUE,    /* value */
    FRONT_OBJECT_NAMED,    /* text: a full name */
    FRONT_OBJECT_FUNCTION, /* a jit function: text, file, line, source; handle is its scope */
    FRONT_OBJECT_TUPLE,    /* count items; as an argument of call, handle points to FrontObjects */
    FRONT_OBJECT_HOST,
    FRONT_OBJECT_REFUSED /* text says why */
} FrontObjectKind;
typedef struct FrontObject {
    FrontObjectKind kind;
    int line;
    size_t count;
    FrontValue value;
    const char *text, *file, *source;
    size_t source_size;
    void *handle;
    const char *keyword; /* of an argument of call; NULL: by position */
} FrontObject;
typedef struct FrontResolver { /* a failure comes back as REFUSED */
    void (*lookup)(void *user, void *scope, const char *name, FrontObject *out);
    void (*attribute)(void *user, void *object, const char *name, FrontObject *out);
    void (*item)(void *user, void *object, size_t index, FrontObject *out);
    void (*call)(void *user, void *object, const FrontObject *args, size_t count, FrontObject *out);
    void *user;
} FrontResolver;

/* What a kernel's text says of the shape of one array. */
typedef struct FrontShape {
    bool stated;
    bool dense; /* row-major, without gaps; else strides come with the array */
    bool strided; /* no: they are these */
    int rank;
    int64_t extent[MAX_RANK]; /* -1: any */
    int64_t stride[MAX_RANK]; /* of one that is strided */
} FrontShape;

/* Memory that belongs to one run of a kernel, and that no argument gives (T.alloc_global): a pointer parameter of its
 * name, which none of FrontKernel.params has. */
typedef struct FrontSpace {
    const char *name;
    Elem elem;
    int rank;
    int64_t extent[MAX_RANK];
} FrontSpace;
/* What a kernel of the source is made of beside the IR of one launch. */
typedef struct FrontSequence {
    int launches; /* one after the other, with the same arguments; each is lowered by itself */
    VEC(FrontSpace) spaces; /* of all of them together */
} FrontSequence;

typedef struct FrontUnit FrontUnit;
typedef struct FrontRequest {
    const FrontKernel *kernel;
    const FrontValue *args; /* kernel->param_count of them */
    Module *module;         /* where the IR goes */
    bool specialize_ones;   /* an open integer argument of 1 is a constant */
    int cuda_level;         /* for a CUDA target, ten times major plus minor; else 0 */
    bool asserts;           /* `assert` and device_assert are there */
    bool overflow;          /* and + - * of integers below 64 bits that do not fit their type are such ones */
    int num_warps;          /* 0: not stated */
    FrontShape *shapes;     /* by parameter; filled by the door where the text states one. May be NULL */
    int launch;             /* which of its launches; 0 is the first */
    FrontSequence *sequence; /* filled by the door; NULL: kernels of one launch, without spaces */
    /* What the source says while it is compiled (tl.static_print); NULL: it is dropped. */
    void (*print)(void *user, const char *text, size_t length);
    void *print_user;
} FrontRequest;

typedef struct FrontDoor {
    const char *name, *doc;
    bool (*open)(FrontUnit *unit);                                  /* false after errors */
    Kernel *(*lower)(FrontUnit *unit, const FrontRequest *request); /* NULL after errors */
    /* Looks the kernel's names up while arguments are missing; false after errors. NULL: lower needs no arguments. */
    bool (*resolve)(FrontUnit *unit, const FrontKernel *kernel, Arena *arena, Diag *diag);
} FrontDoor;

/* Computes constants of a Triton kernel that are absent and that its heuristics give; false after
 * a mistake. Kernels of other doors have none. */
bool triton_complete(FrontUnit *unit, const FrontKernel *kernel, FrontValue *args, Arena *arena, Diag *diag);

struct FrontUnit {
    const FrontDoor *door;
    const SourceFile *file;
    Arena *arena;
    Diag *diag;
    SourceMap *sources;
    const FrontDefine *defines; /* the user's definitions: names from outside the source */
    int define_count;
    bool *define_used; /* beside them: the source asked for it. NULL: nobody wants to know */
    /* A file named by an import or #include, relative to the file that names it; NULL when it
     * cannot be read. May be NULL itself: then nothing can be imported. */
    const SourceFile *(*import)(void *user, const SourceFile *from, const char *path);
    void *import_user;
    /* What arguments are made of, by parameter (tw_module_options says how); Triton only. */
    const FrontPair *structures;
    size_t structure_count;
    /* With a resolver the file is one function of a running program, with that scope. */
    const FrontResolver *resolver;
    void *scope;
    VEC(FrontKernel) kernels; /* filled by open, in source order */
    void *tree;               /* the door's own */
};

/* DOOR(name, doc, resolve): defines `bool <name>_open(FrontUnit *)` and `Kernel *<name>_lower(FrontUnit *,
 * const FrontRequest *)`. */
bool triton_resolve(FrontUnit *unit, const FrontKernel *kernel, Arena *arena, Diag *diag);
bool tilelang_resolve(FrontUnit *unit, const FrontKernel *kernel, Arena *arena, Diag *diag);
#define DOOR(name, doc, resolve)       \
    bool name##_open(FrontUnit *unit); \
    Kernel *name##_lower(FrontUnit *unit, const FrontRequest *request);
#include "front/front.def"
#undef DOOR

/* The user's definition of a name, which is used from now on; NULL: there is none. */
const FrontValue *front_define(FrontUnit *unit, const char *name);
const FrontDoor *front_at(int index); /* NULL past the last */
const FrontDoor *front_find(const char *name);
/* The door of a text by the end of its name (.tile.c, .ir, .py) and, for .py and unknown ends, by
 * its content; NULL when nothing tells. */
const FrontDoor *front_choose(const char *name, const char *text);
/* What a door knows, as Markdown, from its own table: "triton", "tilelang", "tile-c"; NULL for another topic. */
char *front_manual(const char *topic, Arena *arena);
/* The rows of the Triton door's table, for hosts that offer the same names; false past the last.
 * kinds: see triton_builtins.def. */
typedef struct FrontBuiltin {
    const char *name, *kinds, *form, *doc;
    bool refused;
} FrontBuiltin;
bool front_builtin(size_t index, FrontBuiltin *out);
#endif
