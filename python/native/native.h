/* SPDX-License-Identifier: Apache-2.0 */
/* native.h: what the files of the Python extension `tilewright._native` share.
 *
 * The extension is a thin skin over include/tilewright.h: it holds one context, gives the compiler
 * the live Python objects it asks for, turns arguments into words, and finds the compiled kernel
 * for them without going through Python. No compiler logic is here or in Python.
 *
 *     native_session.c    the context, its lock, what kernels print, errors as Python exceptions
 *     native_objects.c    Python objects as the compiler sees them (tw_object), and the resolver
 *     native_arguments.c  one argument of a launch: number, constant, or memory with its dtype
 *     native_shape.c      its shape, where that is part of the kernel; outputs that a call makes (TileLang)
 *     native_cuda.c       the device of a launch, and its stream
 *     native_function.c   the type Function: a jit function and its parameters; kernel[grid]
 *     native_launch.c     binds, tags and hashes the arguments of a launch, finds its entry,
 * launches native_entry.c      the dispatch table: entries by tags and constants, compiled when
 * they are missing native_kernel.c     the type Kernel: one compiled kernel and its texts
 *     native_tuner.c      the type Tuner: the configuration of a launch, found by its key
 *     native_run.c        run(): a kernel of any door, out of a file
 *     native_module.c     the module's own functions
 *
 * Threads: all of this runs under the GIL, except the calls into the library, which run without it.
 * A context serves one thread at a time. There is one that launches, under its lock; to compile ahead
 * (Function.prepare) a thread takes a context of its own, and what it makes reaches the others through
 * the cache on disk. A Desk is a context with what belongs to the call that is under way with it;
 * `desk` is the one at which this thread works. */
#ifndef NATIVE_H
#define NATIVE_H
/* No PY_SSIZE_T_CLEAN, so no format with "#": what a module built with the headers of 3.13 calls for it,
 * 3.11 and 3.12 refuse. */
#include <patchlevel.h>
#if PY_VERSION_HEX >= 0x030B0000 && !defined(NATIVE_FULL_API)
#define Py_LIMITED_API 0x030B0000 /* the first one that has buffers */
#endif
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "tilewright.h"

/* What came after CPython 3.9. */
#if PY_VERSION_HEX < 0x030A0000
static inline PyObject *Py_NewRef(PyObject *object) {
    Py_INCREF(object);
    return object;
}
static inline PyObject *Py_XNewRef(PyObject *object) {
    Py_XINCREF(object);
    return object;
}
static inline int PyModule_AddObjectRef(PyObject *module, const char *name, PyObject *object) {
    Py_INCREF(object);
    int status = PyModule_AddObject(module, name, object);
    if (status < 0) Py_DECREF(object);
    return status;
}
#define Py_TPFLAGS_DISALLOW_INSTANTIATION 0
static inline void forbid_new(PyTypeObject *type) { type->tp_new = NULL; } /* what the flag does */
#else
static inline void forbid_new(PyTypeObject *type) { (void)type; }
#endif
#if PY_VERSION_HEX < 0x030B0000
static inline PyObject *PyType_GetName(PyTypeObject *type) {
    return PyObject_GetAttrString((PyObject *)type, "__name__");
}
#endif

/* Puts another reference into a place; the old one is given up last, when the place is good again. */
static inline void replace(PyObject **at, PyObject *object) {
    PyObject *old = *at;
    *at = object;
    Py_XDECREF(old);
}

/* --- native_session.c --- */

/* What the process shares. In a forked child contexts are made anew, and kernels are then compiled
 * (from the cache) again: `generation` says of which process a thing is. */
typedef struct Session {
    unsigned generation;
    int hooks;                 /* launch hooks of the whole program */
    unsigned sources;          /* counts texts of functions that were replaced */
    PyObject *make_error;      /* f(status name, message, diagnostics, function, cause, note) -> exception */
    PyObject *dtype_name;      /* f(dtype object) -> name that tw_dtype_find knows, or None */
    PyObject *before_compile;  /* f(Function, tags, constants, options dict, device, warmup) -> a note for
                                 make_kernel; None: it is not to be compiled */
    PyObject *make_kernel;     /* f(Function, Kernel, options dict, note) -> what a launch returns */
    PyObject *kernel_ready;    /* f(what make_kernel gave), once it can be launched */
    PyObject *default_device;  /* f() -> the CUDA device of tensors that do not say where they lie, or None */
    PyObject *library_options; /* f(keywords dict, target, debug) -> (target, dict of the library's options) */
    PyObject *plain_globals;   /* truth: kernels may use globals that are no constexpr */
    PyObject *block_constants; /* dict: int -> tl.constexpr of it */
    PyObject *source_of;       /* f(function of the program) -> a Function of its text, or None */
    PyObject *cache_dir;       /* str: where compiled kernels are kept; NULL: where the library says */
} Session;
extern Session session;

typedef struct Desk {
    tw_context *context;   /* made at the first use */
    PyThreadState *saved;  /* of the thread that is inside the library */
    PyObject *note;        /* borrowed: what before_compile gave for the compile under way; NULL: none is */
    PyObject *interrupt;   /* what a signal handler raised while a call took long: it ends the call */
    PyObject *cause;       /* an exception that a resolver's callback met */
    tw_stream *stream;     /* stands for the stream of the launch under way */
    const char *compiling; /* "cuda", "cpu", or NULL: nothing is being compiled */
    PyObject *cache_dir;   /* of the context, where it is not the library's own choice */
    struct Desk *next;     /* among those that nobody works at, or that somebody does */
} Desk;
extern Desk main_desk; /* the one that launches */
extern _Thread_local Desk *desk;

bool session_take_desk(void);    /* for this thread alone, instead of the main one; false: error set */
void session_leave_desk(void);   /* back to the main one */
void session_cancel_desks(void); /* ends what is under way at all but the main one */
/* The context keeps what it compiles where session.cache_dir says; false: error set. */
bool session_follow_cache(void);
bool session_open(void);      /* false: a Python error is set */
bool session_enter(void);     /* gives up the GIL and takes the lock; false: error set */
bool session_try_enter(void); /* the same, and no error: an object that dies in a callback is left alone */
void session_leave(void);     /* the other way round */
/* The same behind a call that may have failed: false, with the call's messages as a Python exception. They are read
 * before another thread can make a call. */
bool session_leave_with(tw_status status, PyObject *function);
void session_reenter_python(void); /* inside the library, for a callback: takes the GIL */
void session_leave_python(void);
bool session_init(void);

/* --- native_objects.c --- */

/* Whose names a module asks for, and where what it was told is kept. */
typedef struct Names {
    struct Function *function;
    PyObject *keep; /* list: what texts point into */
    PyObject
        *watched; /* dict of (dict or cell, name, value): globals that compiled kernels rely on; NULL: nobody asks */
} Names;
/* An object as the compiler sees it. Texts and handles stay valid as long as `keep` (a list) lives;
 * owner is the function for which it is asked. false: error set. */
bool object_describe(PyObject *object, PyObject *keep, tw_object *out);
extern const tw_resolver object_resolver; /* user: Names */
bool objects_init(PyObject *module);
/* The value inside a tl.constexpr, or the object itself (borrowed from it). */
PyObject *object_unwrap(PyObject *object);

/* --- native_arguments.c --- */

enum { DEVICE_HOST = -1, DEVICE_ANY = -2 }; /* else the number of a CUDA device */
typedef struct Shape {
    int64_t rank, extent[TW_MAX_RANK], stride[TW_MAX_RANK]; /* strides count elements */
} Shape;
#define MEMORY_ENDLESS ((size_t)1 << 46) /* the size of what names an address and no storage */
typedef struct Memory {
    void *data;
    void *stream;   /* that its contents are made on, where it says so */
    int32_t device; /* DEVICE_HOST, DEVICE_ANY: it does not say */
    size_t size;    /* bytes from data to the end of its storage */
    int32_t dtype;
    bool readonly;     /* its owner says so */
    Py_buffer view;    /* held while view.obj */
    PyObject *capsule; /* DLPack's, held */
    Shape shape;       /* read where the function is a shaped one */
} Memory;

typedef enum ArgumentKind {
    ARGUMENT_ERROR, /* a Python error is set */
    ARGUMENT_NUMBER,
    ARGUMENT_CONSTANT,
    ARGUMENT_MEMORY
} ArgumentKind;
/* Classifies a run-time argument; fills number or memory. */
ArgumentKind argument_take(PyObject *object, const char *name, tw_arg *number, Memory *memory);
/* false, with an error: its owner wants it to stay as it is, and the kernel writes to that parameter. */
bool memory_may_be_written(const Memory *memory, const tw_kernel *kernel, size_t param, const char *name);
void memory_release(Memory *memory);
bool arguments_init(void);

/* --- native_kernel.c --- */

typedef struct Kernel {
    PyObject_HEAD tw_kernel *kernel;
    unsigned generation;
} Kernel;
PyObject *kernel_make(tw_kernel *kernel); /* takes it over */
bool kernel_init(PyObject *module);

/* --- native_function.c --- */

typedef struct Entry Entry;
typedef struct Param {
    PyObject *name, *fallback; /* fallback NULL: must be given */
    bool plain;                /* do_not_specialize */
    bool constant;             /* tl.constexpr */
    bool typed;                /* its annotation fixes the type */
    bool hidden;               /* given by name alone, or not at all: a size of the body */
    bool output;               /* made by the call, which returns it */
} Param;
typedef struct Function {
    PyObject_HEAD PyObject *name, *file, *source, *globals, *closure; /* closure: a dict of name -> cell, or NULL */
    bool ready;                                                       /* its __init__ has run to its end */
    int users;                                                        /* launches and compiles that are under way */
    int line;
    int count;
    Param *params;
    bool shaped;                  /* of TileLang: shapes are part of the kernel, and it knows its grid */
    PyObject *options;            /* dict of the library's options, texts; of shaped functions. Or NULL */
    PyObject *outputs;            /* list: names of parameters that a call makes; of shaped functions. Or NULL */
    PyObject *given;              /* list: parameters as Python states them */
    bool hooked;                  /* Python's run_hooked must see every launch */
    bool debug;                   /* jit(debug=True): asserts stop a launch */
    unsigned long opener;         /* the thread that parses the source now; 0: none */
    tw_module *module;            /* of the main desk's context */
    unsigned generation, sources; /* the session's when it was compiled */
    Names names;                  /* of the module */
    PyObject *parts;              /* dict: what arguments are made of -> the Function that takes them, or NULL */
    PyObject *structures;         /* list of (parameter, structure), or NULL: tw_module_options */
    Entry **entries;              /* open addressing, a power of two; NULL: free */
    size_t capacity, used;
} Function;
extern PyTypeObject *function_type;
bool function_ready(const Function *f); /* false, with an error: made without its __init__ */
bool function_open(Function *f);        /* parses the source, if that has not been done */
/* The source in the context of this thread's desk; false: error set. */
bool function_load(Function *f, Names *names, tw_module **module);
bool function_init(PyObject *module);

/* --- native_tuner.c: launches of a tuned kernel --- */
bool tuner_init(PyObject *module);

/* --- native_entry.c: what is compiled for which arguments --- */

/* What a parameter is compiled for. */
typedef enum Tag {
    TAG_CONSTANT,
    TAG_ONE,
    TAG_NUMBER, /* the parameter's annotation says which */
    TAG_I32,
    TAG_I64,
    TAG_U64,
    TAG_FLOAT,
    TAG_BOOL,
    TAG_POINTER /* + dtype */
} Tag;

enum { KEYWORDS = 25, MAX_PARAMS = 256, FEW = 24 };
enum { KEYWORD_DEBUG = 5 };               /* its place among them */
extern PyObject *keyword_names[KEYWORDS]; /* arguments of a launch that are no parameters */

struct Entry {
    uint64_t hash;
    bool debug, sanitize;
    int references;
    int32_t device; /* of CUDA; DEVICE_HOST */
    tw_kernel *raw;
    PyObject *kernel;     /* the Kernel, which owns raw */
    PyObject *result;     /* what Python made of it */
    tw_buffer **buffers;  /* by parameter; NULL for numbers */
    uint8_t *tags;        /* by parameter */
    PyObject **constants; /* parameters, then keywords; NULL: not given, or no constant */
    Shape *shapes;        /* by parameter; of shaped functions. Or NULL */
};

/* One launch under way. */
typedef struct Call {
    Function *f;
    int count;
    PyObject **values; /* borrowed; parameters, then keywords */
    uint8_t *tags;
    tw_arg *args;
    Memory *memory;
    uint64_t hash;
    bool debug;      /* asserts stop it */
    bool sanitize;   /* what it does wrong stops it, with its line (docs/sanitize.md) */
    bool structured; /* an argument is a tuple or a descriptor: Python takes it apart */
    int32_t device;  /* the place of its tensors: DEVICE_HOST, or CUDA's number */
    PyObject *few_values[FEW + KEYWORDS];
    uint8_t few_tags[FEW];
    tw_arg few_args[FEW];
    Memory few_memory[FEW];
    void *many; /* where parameters are more than FEW */
} Call;

/* --- native_cuda.c: devices and streams --- */

bool cuda_device_of(PyObject *object, const char *name, int32_t *device); /* of object.device */
bool cuda_place_call(Call *c);                                            /* where its tensors lie; false: error set */
bool cuda_current_stream(int32_t device, void **stream);                  /* torch's; NULL without it */
int32_t cuda_home(const void *address);                                   /* the device that it belongs to */
bool cuda_stream_of(const Call *c, void **stream);                        /* for its launch */

bool entry_same_constant(PyObject *a, PyObject *b);
uint64_t entry_hash_constant(PyObject *object);
Entry *entry_find(const Function *f, const Call *c);
/* Compiles; NULL: an error is set, or (without one) a hook said not to. */
Entry *entry_make(Call *c, bool warmup);
void entry_drop(Entry *e, int count, bool usable);
void entries_forget(Function *f);
bool entries_may_go(const Function *f,
                    int mine); /* false, with an error: another thread (or a callback) is using them */
/* A Kernel with the IR after each pass, emitted for a target; NULL: its own. */
PyObject *entry_lower(Function *f, Entry *e, const char *target);
/* Compiles into the cache on disk, in a context of this thread's own; false: error set. */
bool entry_prepare(Call *c);
/* A Kernel with the texts for a target and the IR after each pass; nothing is built. NULL: error set. */
PyObject *entry_emit(Call *c, const char *target);
bool entry_init(void);

/* --- native_launch.c: from arguments to an entry, and its launch --- */

/* What is done with the arguments of a launch. Emitted is for a target, which stands in the place of the grid:
 * (name,), or (None,) for where the arguments lie; the result is a Kernel, and nothing is built or has to run here. */
typedef enum Purpose { PURPOSE_LAUNCH, PURPOSE_WARMUP, PURPOSE_SANITIZE, PURPOSE_PREPARE, PURPOSE_EMIT } Purpose;
PyObject *launch_run(Function *f, PyObject *grid, PyObject *args, PyObject *kwargs, Purpose purpose);

/* --- native_shape.c: arguments whose shape is part of the kernel --- */

bool shape_read(PyObject *object, const char *name, Memory *memory); /* false: error set */
uint64_t shape_hash(const Shape *shape);
static inline bool shape_same(const Shape *a, const Shape *b) {
    for (int64_t d = 0; a->rank == b->rank && d < a->rank; d++)
        if (a->extent[d] != b->extent[d] || a->stride[d] != b->stride[d]) return false;
    return a->rank == b->rank;
}
int64_t shape_span(const Shape *shape); /* elements from its first to its last, the ends included */
/* The arrays that the kernel states and the call makes, as buffers of the entry; false: error set. */
bool outputs_plan(Function *f, Entry *e);
/* They are made, and taken as arguments: what the call returns, or NULL. */
PyObject *outputs_make(Call *c, const Entry *e);

/* --- native_parts.c: descriptors of the host --- */

/* Launches with their parts, if all that is made of other arguments are descriptors as a launch had them before; false:
 * Python has to take them apart. */
bool parts_launch(Call *c, PyObject *grid, Purpose purpose, PyObject **result);
bool parts_init(void);

/* --- native_run.c --- */

PyObject *run_file(PyObject *self, PyObject *args, PyObject *kwargs);
#endif
