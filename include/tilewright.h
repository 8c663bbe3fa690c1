/* SPDX-License-Identifier: Apache-2.0
 * tilewright.h: the public C API of Tilewright, the tile-kernel compiler.
 *
 * From source text to numbers in five steps:
 *
 *     tw_context_create(NULL, &context);
 *     tw_module_load_file(context, "add.py", NULL, &module);          parse, list kernels
 *     tw_kernel_compile(module, "add_kernel", &options, &kernel);     for a target and arguments
 *     tw_kernel_launch(kernel, NULL, grid, args, count);
 *     tw_kernel_destroy, tw_module_destroy, tw_context_destroy
 *
 * Rules that hold for every entry:
 *   - Errors. An entry that can fail returns a tw_status; 0 is success. The message stands in
 *     tw_context_message(context). A NULL where an object is required gives TW_ERROR_ARGUMENT.
 *     After an error nothing is half done: out parameters are set to NULL, files are not written.
 *   - Ownership. What a tw_..._create, _load or _compile call gives must be destroyed by its
 *     caller; destroying NULL does nothing. Objects may be destroyed in any order: an object that
 *     others still need lives on until they are gone. Texts and pointers that a getter returns
 *     belong to the object and live as long as it does; a text of the context until the next call
 *     of that thread with that context. What the caller passes in is copied, unless the entry says
 *     otherwise.
 *   - Threads. Any thread may call any entry at any time, with a context, modules, kernels, buffers
 *     and streams that others use too; one call at a time is at work in a context, the others wait.
 *     Launches on host targets with launches of their own (`cpu`) do not: they run side by side, one
 *     kernel on many threads too. Messages are those of the calling thread. What is destroyed must
 *     not be in use by a call of another thread, and an array that a launch changes is the caller's
 *     to keep apart, as in any program with threads. Different contexts are independent. The library
 *     has no global state, never prints, never exits, and starts threads only inside a context.
 *   - Structs that start with struct_size: set them up with their _init function (or zero them
 *     and set struct_size = sizeof). Zero in any field means the default, so that fields can be
 *     added at the end.
 *   - Numbers of status codes and dtypes never change.
 *
 * Valid C99 and C++11. */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TW_API __attribute__((visibility("default")))
#else
#define TW_API
#endif

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 1
#define TW_VERSION_PATCH 0

/* "0.1.0", of the library that is linked. Any thread. Since 0.1. */
TW_API const char *tw_version(void);

/* --- status codes --- */

/* X(name, number, "text"). The one list of codes. */
#define TW_STATUS_LIST(X)                                                     \
    X(TW_OK, 0, "success")                                                    \
    X(TW_ERROR_SOURCE, 1, "the source has errors")                            \
    X(TW_ERROR_ARGUMENT, 2, "a wrong argument")                               \
    X(TW_ERROR_NOT_FOUND, 3, "no such thing")                                 \
    X(TW_ERROR_UNSUPPORTED, 4, "this target cannot do it")                    \
    X(TW_ERROR_UNAVAILABLE, 5, "a tool or device is missing on this machine") \
    X(TW_ERROR_MEMORY, 6, "out of memory")                                    \
    X(TW_ERROR_IO, 7, "a file could not be read or written")                  \
    X(TW_ERROR_TOOL, 8, "a tool that was started failed")                     \
    X(TW_ERROR_LAUNCH, 9, "the kernel stopped with an error")                 \
    X(TW_ERROR_INTERNAL, 10, "a fault of Tilewright itself")                  \
    X(TW_ERROR_CANCELLED, 11, "it was cancelled")                             \
    X(TW_ERROR_TIMEOUT, 12, "it took longer than its limit allows")

typedef enum tw_status {
#define TW_STATUS_ENUM(name, number, text) name = number,
    TW_STATUS_LIST(TW_STATUS_ENUM)
#undef TW_STATUS_ENUM
        TW_STATUS_LAST_ = 0x7fffffff
} tw_status;

/* "TW_ERROR_SOURCE"; "the source has errors". "unknown" for a number that is no code. Any thread. Since 0.1. */
TW_API const char *tw_status_name(tw_status status);
TW_API const char *tw_status_text(tw_status status);

/* --- dtypes --- */

/* X(name, number, "text", bytes). i1 takes one byte: 0 is false. f16, bf16 and fp8 are raw bits in memory. */
#define TW_DTYPE_LIST(X)            \
    X(TW_I1, 1, "i1", 1)            \
    X(TW_I8, 2, "i8", 1)            \
    X(TW_I16, 3, "i16", 2)          \
    X(TW_I32, 4, "i32", 4)          \
    X(TW_I64, 5, "i64", 8)          \
    X(TW_U8, 6, "u8", 1)            \
    X(TW_U16, 7, "u16", 2)          \
    X(TW_U32, 8, "u32", 4)          \
    X(TW_U64, 9, "u64", 8)          \
    X(TW_F16, 10, "f16", 2)         \
    X(TW_BF16, 11, "bf16", 2)       \
    X(TW_F32, 12, "f32", 4)         \
    X(TW_F64, 13, "f64", 8)         \
    X(TW_F8E4M3, 14, "f8e4m3", 1)   \
    X(TW_F8E5M2, 15, "f8e5m2", 1)   \
    X(TW_F8E4B8, 16, "f8e4b8", 1)   \
    X(TW_F8E5B16, 17, "f8e5b16", 1) \
    X(TW_F8E4B15, 18, "f8e4b15", 1)

typedef enum tw_dtype {
    TW_DTYPE_ANY = 0, /* not known yet: the argument decides */
#define TW_DTYPE_ENUM(name, number, text, bytes) name = number,
    TW_DTYPE_LIST(TW_DTYPE_ENUM)
#undef TW_DTYPE_ENUM
        TW_DTYPE_LAST_ = 0x7fffffff
} tw_dtype;

/* "f32"; "any" for TW_DTYPE_ANY and numbers that are none. Any thread. Since 0.1. */
TW_API const char *tw_dtype_name(int32_t dtype);
/* The dtype of a name, numpy's and torch's names ("float32", "int8", "bool") included; TW_DTYPE_ANY when unknown. */
TW_API int32_t tw_dtype_find(const char *name);
/* Bytes of an element in memory; 0 for TW_DTYPE_ANY. */
TW_API size_t tw_dtype_size(int32_t dtype);

#define TW_MAX_RANK 8

/* --- context --- */

typedef struct tw_context tw_context;
typedef struct tw_module tw_module;
typedef struct tw_kernel tw_kernel;
typedef struct tw_buffer tw_buffer;
typedef struct tw_stream tw_stream;

/* Where all memory of a context comes from. resize(user, NULL, 0, n) allocates n bytes aligned
 * for any type, resize(user, p, n, 0) frees and returns NULL, resize(user, p, n, m) grows or
 * shrinks; NULL means "no memory" and leaves the old block as it was. Called by one thread at a time. */
typedef struct tw_allocator {
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void *user;
} tw_allocator;

typedef struct tw_context_options {
    size_t struct_size;
    const tw_allocator *allocator; /* NULL: malloc */
    const char *cache_dir;         /* NULL: $TILEWRIGHT_CACHE_DIR, else $XDG_CACHE_HOME/tilewright, else
                              ~/.cache/tilewright; "" : no cache on disk */
    int32_t threads;               /* 0: $TILEWRIGHT_THREADS, else one a processor of the affinity mask */
    int32_t tool_timeout;          /* seconds that a started compiler may take; 0: 120 */
    void (*print)(void *user, const char *text, size_t length); /* what kernels print when
                              they run or are compiled (tl.static_print); NULL: it is dropped. Called from the thread
                              that launches or compiles, or from that of an asynchronous stream. Must not call into the
                              same context */
    void *print_user;
    int32_t (*poll)(void *user); /* asked about every 50 ms while a call takes long, from the thread
                                    of the call: not 0 cancels it, as tw_context_cancel does. May be
                                    NULL. Must not call into the same context. Since 0.1 */
    void *poll_user;
} tw_context_options;

TW_API void tw_context_options_init(tw_context_options *options);

/* Makes a context. options may be NULL. Errors: TW_ERROR_MEMORY, TW_ERROR_ARGUMENT; there is no
 * context to hold a message then. Any thread. Since 0.1. */
TW_API tw_status tw_context_create(const tw_context_options *options, tw_context **out);
TW_API void tw_context_destroy(tw_context *context);

/* Where compiled kernels are kept from now on; dir as in tw_context_options. Errors: TW_ERROR_ARGUMENT,
 * TW_ERROR_MEMORY. Since 0.1. */
TW_API tw_status tw_context_set_cache_dir(tw_context *context, const char *dir);

/* What the context's cache holds. */
typedef struct tw_cache_info {
    size_t struct_size;
    const char *dir; /* "": there is none */
    int64_t entries, bytes;
    int64_t limit; /* bytes behind which what was used longest ago is removed: $TILEWRIGHT_CACHE_LIMIT ("500M", "2G"),
                      else 4 GiB */
} tw_cache_info;
typedef struct tw_cache_entry {
    size_t struct_size;
    const char *name;   /* a digest and what kind of file it is */
    int64_t bytes, age; /* seconds since it was last used, to a day */
} tw_cache_entry;

/* The number of bytes that "500M", "2G" or "1000000" means (K, M, G, T: powers of 1024); -1: it is no size. Any thread.
 * Since 0.1. */
TW_API int64_t tw_size_parse(const char *text);

/* Errors: TW_ERROR_ARGUMENT. Since 0.1. */
TW_API tw_status tw_cache_describe(tw_context *context, tw_cache_info *info);
/* Calls `each` for every entry, in no order; it must not call into the same context. Since 0.1. */
TW_API tw_status tw_cache_list(tw_context *context, void (*each)(void *user, const tw_cache_entry *entry), void *user);
/* Removes what was used longest ago, until at most so many bytes remain; 0: everything. Kernels that are loaded, of
 * this process or another, are not concerned. Errors: TW_ERROR_ARGUMENT (bytes < 0). Since 0.1. */
TW_API tw_status tw_cache_shrink(tw_context *context, int64_t bytes);

/* Ends the calls that are under way with this context, soon: they return TW_ERROR_CANCELLED; compilers
 * that they started are killed, their folders removed; a launch that runs in a stream ends too. Arrays
 * hold what was written so far. A call that has ended meanwhile, and those that follow, are not
 * concerned. 1: a call still holds something outside of the process (a compiler, a folder) and lets go
 * of it before it returns; 0: none does, and the process could end here. The one entry that waits for
 * no other call, and that a signal handler may call too, as long as the context lives. Since 0.1. */
TW_API int32_t tw_context_cancel(tw_context *context);

/* What went wrong in this thread's last call with this context or an object of it; "" if it succeeded.
 * For errors in a source these are the diagnostics as a user reads them: place, line, caret, rule and
 * fix. Valid until the thread's next call. */
TW_API const char *tw_context_message(const tw_context *context);
/* Warnings and notes of the last load or compile, also when it succeeded; "" if there are none. */
TW_API const char *tw_context_warnings(const tw_context *context);

typedef struct tw_diagnostic {
    size_t struct_size;
    const char *severity; /* "error", "warning", "performance"; "note": it belongs to what stands before it */
    const char *code;     /* a name that stays: "unknown-name", "out-of-bounds"; of an error that has no place: "" */
    const char *text;     /* what is wrong, the rule, the fix; without place and source line */
    const char *file;     /* NULL: it has no place */
    int32_t line, column; /* from 1; columns count code points */
    int32_t length;       /* how many bytes of the line it is about; at least 1 */
    int64_t needed;       /* where something does not suffice: how much is needed of it .. */
    int64_t available;    /* .. and how much there is; else both are 0 */
    const char *fix;      /* the end of text that says what to write instead; "": it says none by itself */
} tw_diagnostic;

/* The messages of the last call one by one, in the order of tw_context_message and tw_context_warnings. An error that
 * is about no source is one of them, without a place. TW_ERROR_NOT_FOUND past the last. Does not count as a call:
 * messages stay as they are. Since 0.1. */
TW_API tw_status tw_context_diagnostic_at(const tw_context *context, size_t index, tw_diagnostic *diagnostic);

/* What the compiler had proved and chosen when the last compile was refused, as tw_kernel_explain gives it for one that
 * was not; "" otherwise. Since 0.1. */
TW_API const char *tw_context_findings(const tw_context *context);
/* The same as tw_kernel_explain_json gives it; "[]" and a line end if there are none. Since 0.1. */
TW_API const char *tw_context_findings_json(const tw_context *context);

/* --- targets --- */

typedef struct tw_target_info {
    size_t struct_size;
    const char *name;  /* for tw_compile_options.target */
    const char *about; /* one line */
    int32_t available; /* can run here: 1 or 0 */
    const char *note;  /* the tool or device that would run it, or what is missing and how to get it */
} tw_target_info;

/* The targets, in a fixed order. TW_ERROR_NOT_FOUND past the last. info->struct_size must be set. Since 0.1. */
TW_API tw_status tw_target_info_at(tw_context *context, size_t index, tw_target_info *info);

/* On which device of a target the memory at an address lies: from 0; -1: on none (the host's memory, or
 * none at all). Errors: TW_ERROR_NOT_FOUND, TW_ERROR_UNAVAILABLE. Since 0.1. */
TW_API tw_status tw_target_device_of(tw_context *context, const char *target, const void *address, int32_t *device);

typedef struct tw_option_info {
    size_t struct_size;
    const char *name;   /* for tw_pair.name of tw_compile_options.options */
    const char *values; /* "auto|on|off", "integer" */
    const char *about;
} tw_option_info;

/* The compile options (the command line's --set), in a fixed order. TW_ERROR_NOT_FOUND past the last. Since 0.1. */
TW_API tw_status tw_option_info_at(tw_context *context, size_t index, tw_option_info *info);

/* A page of the manual, made from the library's own tables, as Markdown: "ops" (the IR),
 * "options", and what each language knows: "triton", "tilelang", "tile-c". Belongs to the context,
 * until the next call. Errors: TW_ERROR_NOT_FOUND. Since 0.1. */
TW_API tw_status tw_document(tw_context *context, const char *name, const char **text);

typedef struct tw_builtin_info {
    size_t struct_size;
    const char *name;
    const char *places;    /* a letter each: T triton.language, M triton.language.math, H triton,
                              P Python itself, L libdevice, m a method of tensors */
    const char *signature; /* Python's own: "x, axis=None" */
    const char *about;
    int32_t refused; /* known, and refused by name */
} tw_builtin_info;

/* What a Triton kernel can call, in a fixed order: from this a host makes the modules that kernels
 * import. TW_ERROR_NOT_FOUND past the last. Since 0.1. */
TW_API tw_status tw_builtin_info_at(tw_context *context, size_t index, tw_builtin_info *info);

/* --- arguments --- */

typedef enum tw_arg_kind {
    TW_ARG_ABSENT = 0, /* not given: the parameter's default */
    TW_ARG_NONE = 1,   /* Python's None */
    TW_ARG_BOOL = 2,
    TW_ARG_INT = 3,
    TW_ARG_FLOAT = 4,
    TW_ARG_TEXT = 5,       /* a string; from C one in brackets is Python, where the kernel is: "(64, 32)" */
    TW_ARG_BUFFER = 6,
    TW_ARG_OBJECT = 7,     /* a constant of another kind: a dtype, a function, a tuple; compile only */
    TW_ARG_ARRAY_TYPE = 8, /* an array of the dtype value.i, and nothing else is known of it; compile only. Since 0.1 */
    TW_ARG_NUMBER_TYPE = 9 /* a number of the dtype value.i that a launch gives; compile only. Since 0.1 */
} tw_arg_kind;

enum {
    TW_ARG_RUNTIME = 1, /* never made a constant, whatever its value (see specialize_ones) */
    TW_ARG_UNSIGNED = 2 /* INT: value.i are the bits of a number of 2^63 or more */
};

/* One argument; at compile it says what to specialise for (type of an open parameter, value of a
 * constant), at launch it is the value. */
typedef struct tw_arg {
    int32_t kind;  /* tw_arg_kind */
    int32_t flags; /* TW_ARG_RUNTIME, TW_ARG_UNSIGNED, or 0 */
    union {
        int64_t i; /* BOOL, INT; ARRAY_TYPE, NUMBER_TYPE: a tw_dtype */
        double f;
        const char *text;
        tw_buffer *buffer;
        const struct tw_object *object;
    } value;
} tw_arg;

/* --- names of a host program --- */

/* A kernel inside a running Python program names things of that program. A tw_resolver answers
 * for them: then the text of a module is one function, and what it does not bind itself is asked
 * for, lazily, only where code is live. */
typedef enum tw_object_kind {
    TW_OBJECT_UNKNOWN = 0,  /* no such name */
    TW_OBJECT_VALUE = 1,    /* value: NONE, BOOL, INT, FLOAT or TEXT, a constant */
    TW_OBJECT_NAMED = 2,    /* text: its full name, which the door knows: "triton.language.load",
                               "triton.language.float32", "builtins.range", "math" */
    TW_OBJECT_FUNCTION = 3, /* a jit function: text its name, file, line, source (dedented, from
                               the first decorator or `def` on); handle is the scope of its
                               globals and closure */
    TW_OBJECT_TUPLE = 4,    /* count items, asked for by item; also lists. As an argument of call,
                               handle points to that many tw_objects */
    TW_OBJECT_HOST = 5,     /* any other object: attributes may be asked for, calls with constants
                               made */
    TW_OBJECT_REFUSED = 6   /* exists and may not be used; text says why */
} tw_object_kind;

typedef struct tw_object {
    int32_t kind; /* tw_object_kind */
    int32_t line; /* FUNCTION: of the first line of source */
    size_t count; /* TUPLE */
    tw_arg value;
    const char *text, *file, *source;
    size_t source_size; /* 0: up to its NUL */
    void *handle;
    const char *keyword; /* of an argument of call: its name; NULL: by position */
} tw_object;

/* Each returns a status; with another one than TW_OK, out->text may say what went wrong. out is
 * zeroed before the call. Texts stay valid until the module is destroyed. They are called while a
 * module is loaded, a kernel compiled, or launched for the first time with arguments that need
 * more general code; they must not call into the same context. */
typedef struct tw_resolver {
    /* a name inside the function with that scope */
    tw_status (*lookup)(void *user, void *scope, const char *name, tw_object *out);
    tw_status (*attribute)(void *user, void *object, const char *name, tw_object *out);
    tw_status (*item)(void *user, void *object, size_t index, tw_object *out); /* of a TUPLE */
    /* a host function on constants */
    tw_status (*call)(void *user, void *object, const tw_object *args, size_t count, tw_object *out);
    void *user;
} tw_resolver;

/* --- modules --- */

typedef struct tw_pair {
    const char *name, *value;
} tw_pair;

typedef struct tw_module_options {
    size_t struct_size;
    const char *door;       /* the language of the source: "triton", "tilelang", "tilec", "irtext";
                               NULL: by name and content */
    const tw_pair *defines; /* names that the source sees as constants (-D NAME=VALUE): numbers,
                               true, false, none, or a string */
    size_t define_count;
    const tw_resolver *resolver; /* NULL, or who knows the names around the text, which is one
                                    function then (Triton, TileLang) */
    void *scope;                 /* of that function, for the resolver */
    int32_t first_line;          /* number of the text's first line in messages; 0: 1 */
    /* What arguments of a Triton kernel are made of, by parameter; without a row it is one value.
     * A value is `.`, a tuple `(` values `)` with commas between them and `name:` before an item
     * of a named tuple, a tensor descriptor `<rank>` or `<rank nan>`. Each `.` is a parameter of
     * its own then, named with dots ("x.0", "x.name"); a descriptor has base, shape.0 .., strides.0
     * .. and block.0 .. (constants). */
    const tw_pair *structures;
    size_t structure_count;
    /* Files that the text names (#include, import) are read from the folder of its own file and below, and from these;
     * include_anywhere: from everywhere. Since 0.1. */
    const char *const *include_folders;
    size_t include_count;
    int32_t include_anywhere;
} tw_module_options;

TW_API void tw_module_options_init(tw_module_options *options);

/* Reads and parses a source. The name of a text is used in messages and to choose the door:
 * `.tile.c` Tile C, `.ir` IR text, else by what the text imports and decorates. options may be
 * NULL. Errors: TW_ERROR_IO, TW_ERROR_SOURCE (message: the diagnostics), TW_ERROR_NOT_FOUND (no
 * such door), TW_ERROR_MEMORY. Since 0.1. */
TW_API tw_status tw_module_load_file(tw_context *context, const char *path, const tw_module_options *options,
                                     tw_module **out);
TW_API tw_status tw_module_load_text(tw_context *context, const char *name, const char *text, size_t size,
                                     const tw_module_options *options, tw_module **out);
TW_API void tw_module_destroy(tw_module *module);

/* Kernels in source order. Out of range: NULL, 0. Since 0.1. */
TW_API size_t tw_module_kernel_count(const tw_module *module);
TW_API const char *tw_module_kernel_name(const tw_module *module, size_t kernel);
/* The index of a kernel, or tw_module_kernel_count if there is none of that name. */
TW_API size_t tw_module_kernel_find(const tw_module *module, const char *name);
/* 1 if the source states the grid itself, so that a launch needs none. */
TW_API int32_t tw_module_kernel_has_grid(const tw_module *module, size_t kernel);
TW_API size_t tw_module_param_count(const tw_module *module, size_t kernel);

typedef enum tw_param_kind {
    TW_PARAM_CONSTANT = 1, /* known at compile time; ignored at launch */
    TW_PARAM_SCALAR = 2,
    TW_PARAM_POINTER = 3,
    TW_PARAM_TENSOR = 4, /* an array with its extents and strides */
    TW_PARAM_OPEN = 5    /* the argument decides: a buffer makes it a pointer, a number a scalar */
} tw_param_kind;

typedef struct tw_param_info {
    size_t struct_size;
    const char *name;
    int32_t kind;  /* tw_param_kind */
    int32_t dtype; /* TW_DTYPE_ANY if the argument decides */
    int32_t rank;  /* of a tensor; -1 if the argument decides */
    int32_t optional;
    int32_t likely_array; /* TW_PARAM_OPEN: the source loads or stores through it. Since 0.1 */
} tw_param_info;

/* Parameter i of a kernel: arguments are given in this order. TW_ERROR_NOT_FOUND out of range. Since 0.1. */
TW_API tw_status tw_module_param_at(const tw_module *module, size_t kernel, size_t i, tw_param_info *info);

/* A choice of constants and options that the source offers for a kernel (triton.autotune). */
typedef struct tw_config_info {
    size_t struct_size;
    const char *text;      /* "BLOCK=128, num_warps=4" */
    const tw_pair *values; /* constants by name; values as in tw_module_options.defines */
    size_t value_count;
    const tw_pair *options; /* for tw_compile_options.options */
    size_t option_count;
} tw_config_info;

/* Configuration i of a kernel. TW_ERROR_NOT_FOUND past the last; TW_ERROR_UNSUPPORTED when the
 * source computes them in a way that cannot be followed (message). Since 0.1. */
TW_API tw_status tw_module_config_at(tw_module *module, size_t kernel, size_t i, tw_config_info *info);

/* Fills in constants that are absent and that the source computes from the other arguments
 * (triton.heuristics). count: as many as there are parameters. A compile does the same. Texts
 * belong to the module. Errors: TW_ERROR_SOURCE (message), TW_ERROR_ARGUMENT. Since 0.1. */
TW_API tw_status tw_module_complete_args(tw_module *module, size_t kernel, tw_arg *args, size_t count);

/* --- buffers --- */

/* An array in memory, with element type, shape and strides (in elements). */
typedef struct tw_buffer_options {
    size_t struct_size;
    const char *target;     /* whose memory; NULL: the host's */
    void *data;             /* NULL: new memory, zeroed; else memory of that target that the caller owns and
                    keeps  alive as long as the buffer */
    size_t size;            /* bytes that data holds; checked against shape and strides */
    const int64_t *strides; /* NULL: row-major, dense. Only with data. */
    int32_t device;         /* which of the target's devices, from 0 (CUDA's own count) */
} tw_buffer_options;

TW_API void tw_buffer_options_init(tw_buffer_options *options);

/* Makes a buffer; rank 0 to TW_MAX_RANK, extents >= 0. options may be NULL. Errors:
 * TW_ERROR_ARGUMENT, TW_ERROR_MEMORY, TW_ERROR_NOT_FOUND (target), TW_ERROR_UNAVAILABLE. Since
 * 0.1. */
TW_API tw_status tw_buffer_create(tw_context *context, int32_t dtype, int32_t rank, const int64_t *shape,
                                  const tw_buffer_options *options, tw_buffer **out);
TW_API void tw_buffer_destroy(tw_buffer *buffer);

/* Points a buffer of rank 1 over memory of the caller at other memory of the same kind: its extent
 * becomes size / tw_dtype_size. For hosts that launch often: nothing is allocated. Errors:
 * TW_ERROR_ARGUMENT (it owns its memory, or has another rank). Since 0.1. */
TW_API tw_status tw_buffer_rebind(tw_buffer *buffer, void *data, size_t size);

/* The same for a buffer of any rank: shape and strides stay, and data holds as many bytes as before. Errors:
 * TW_ERROR_ARGUMENT (it owns its memory). Since 0.1. */
TW_API tw_status tw_buffer_point(tw_buffer *buffer, void *data);

/* Getters, never failing. data is an address of the target's memory. */
TW_API void *tw_buffer_data(const tw_buffer *buffer);
TW_API int32_t tw_buffer_dtype(const tw_buffer *buffer);
TW_API int32_t tw_buffer_rank(const tw_buffer *buffer);
TW_API const int64_t *tw_buffer_shape(const tw_buffer *buffer);
TW_API const int64_t *tw_buffer_strides(const tw_buffer *buffer);
TW_API int64_t tw_buffer_elements(const tw_buffer *buffer);

/* Copies all elements, row-major and dense on the caller's side, after all launches so far. size
 * must be elements * tw_dtype_size. Errors: TW_ERROR_ARGUMENT, TW_ERROR_UNAVAILABLE. Since 0.1. */
TW_API tw_status tw_buffer_read(tw_buffer *buffer, void *to, size_t size);
TW_API tw_status tw_buffer_write(tw_buffer *buffer, const void *from, size_t size);

/* Fills a host buffer. kind: "zeros", "ones", "full" (value), "arange" (value + i), "rand"
 * (uniform in [0, 1)), "randn" (standard normal), "randint" (integers of [0, value)), "empty"
 * (zeros that a sanitized launch may not read before it wrote them). Random numbers are a function of seed and
 * element index alone (SplitMix64; normal ones by Box and Muller with a logarithm and cosine of
 * our own), equal in every bit on every machine. Values are rounded to the dtype. Errors:
 * TW_ERROR_ARGUMENT (unknown kind, the nearest known one named; not a host buffer). Since 0.1. */
TW_API tw_status tw_buffer_fill(tw_buffer *buffer, const char *kind, double value, uint64_t seed);

/* Reads and writes NumPy .npy files (version 1.0 to 3.0, C or Fortran order, little endian).
 * dtype TW_DTYPE_ANY takes the file's; another one reinterprets items of the same size (bf16 and
 * fp8 come as V2 and V1, or u2 and u1). A file that lies about its size is refused. Writing is
 * atomic: the file is complete or not there. Errors: TW_ERROR_IO, TW_ERROR_ARGUMENT,
 * TW_ERROR_MEMORY. Since 0.1. */
TW_API tw_status tw_buffer_load_npy(tw_context *context, const char *path, int32_t dtype, tw_buffer **out);
TW_API tw_status tw_buffer_save_npy(tw_buffer *buffer, const char *path);

/* How two host buffers of one shape differ. Both are read as float64; two NaNs are equal, as are equal infinities. */
typedef struct tw_difference {
    size_t struct_size;
    int64_t elements;  /* compared */
    int64_t different; /* with |got - want| > absolute + relative * |want| */
    double max_error;  /* largest |got - want|; infinity where only one is NaN or infinite */
    int64_t at;        /* flat row-major index of it; -1 if there are no elements */
    double got, want;  /* both values there */
    double max_want;   /* largest finite |want| */
} tw_difference;

/* Errors: TW_ERROR_ARGUMENT (shapes differ, both named; not host buffers). Since 0.1. */
TW_API tw_status tw_buffer_compare(const tw_buffer *got, const tw_buffer *want, double absolute, double relative,
                                   tw_difference *difference);

/* --- kernels --- */

enum {
    TW_STAGE_RUN = 0,  /* compile until it can be launched */
    TW_STAGE_EMIT = 1, /* emitted texts and plan; no tool or device is needed */
    TW_STAGE_IR = 2,   /* the passes alone */
    TW_STAGE_BUILD = 3 /* as RUN, and nothing is loaded into a device: what the target's compiler makes lies in the
                          cache on disk, for the compile with RUN that follows, of any context. Since 0.1 */
};

typedef struct tw_compile_options {
    size_t struct_size;
    const char *target; /* NULL: "cpu". "cuda:sm_90a" names an architecture */
    const tw_arg *args; /* in the order of the kernel's parameters; may be fewer */
    size_t arg_count;
    const tw_pair *options; /* see tw_option_info_at: num_warps, num_stages, roles .. */
    size_t option_count;
    const char *passes;      /* NULL: all; "fold,access": just these */
    const char *stop_after;  /* NULL, or the last pass to run */
    int32_t stage;           /* TW_STAGE_... */
    int32_t emulate;         /* run a GPU target's emitted text on the host */
    int32_t sanitize;        /* target "interp": report out-of-bounds, unwritten reads and races */
    int32_t verify_each;     /* check the IR after every pass */
    int32_t keep_ir;         /* keep the text of the IR after every pass, for tw_kernel_pass_at */
    int32_t specialize_ones; /* an integer argument of 1 whose parameter states no type becomes a
                                constant, as Triton does it */
    int32_t device;          /* which of the target's devices it is built for and runs on, from 0; its buffers
                       lie there too */
} tw_compile_options;

TW_API void tw_compile_options_init(tw_compile_options *options);

/* Compiles one kernel (name NULL: the only one of the module). Errors: TW_ERROR_NOT_FOUND
 * (kernel, target, option: the nearest name is in the message), TW_ERROR_ARGUMENT (a constant or
 * type is missing), TW_ERROR_SOURCE, TW_ERROR_UNSUPPORTED, TW_ERROR_UNAVAILABLE (no compiler, no
 * device), TW_ERROR_TOOL, TW_ERROR_MEMORY. Since 0.1. */
TW_API tw_status tw_kernel_compile(tw_module *module, const char *name, const tw_compile_options *options,
                                   tw_kernel **out);
TW_API void tw_kernel_destroy(tw_kernel *kernel);

TW_API const char *tw_kernel_name(const tw_kernel *kernel);

/* "cpu", "cuda:sm_90a": what it was compiled for. Since 0.1. */
TW_API const char *tw_kernel_target(const tw_kernel *kernel);

/* What a built kernel takes of a device; all 0 on targets that have no such things. */
typedef struct tw_resource_info {
    size_t struct_size;
    int32_t registers;    /* of a thread */
    int32_t local_bytes;  /* of a thread, in memory: spilled registers and indexed arrays */
    int32_t shared_bytes; /* of a block */
    int32_t threads;      /* of a block */
    int32_t max_threads;  /* that a block of this kernel could have */
} tw_resource_info;

/* Errors: TW_ERROR_ARGUMENT. Since 0.1. */
TW_API tw_status tw_kernel_resources(const tw_kernel *kernel, tw_resource_info *info);

/* How many significant bits its matrix products keep: 11 where the source lets float32 factors run in tf32
 * and the target does, 14 where a GPU's tensor cores add up products of 8-bit floats, else 24. Since 0.1. */
TW_API int32_t tw_kernel_product_bits(const tw_kernel *kernel);

/* Does it carry in float32 a running sum that the source keeps in 16 bits? 1 or 0. The interpreter
 * runs the source as it stands and rounds in every step, so the two differ by that. Since 0.1. */
TW_API int32_t tw_kernel_widens(const tw_kernel *kernel);

/* May the kernel write through parameter i of its module (a store, an atomic)? 1 or 0. A host asks
 * before it hands over memory that must stay as it is. Since 0.1. */
TW_API int32_t tw_kernel_writes(const tw_kernel *kernel, size_t param);

/* What the source says of the array at a parameter (TileLang's tensors, T.empty's too; Tile C's gl). */
typedef struct tw_shape_info {
    size_t struct_size;
    int32_t dtype;
    int32_t rank;
    int64_t extents[TW_MAX_RANK]; /* -1: any */
    int32_t dense;                /* row-major without gaps, or it is refused: 1 or 0 */
} tw_shape_info;

/* The shape of parameter i of the kernel's module, for a host that makes the outputs. Errors: TW_ERROR_NOT_FOUND (no
 * such parameter, or the source states no shape), TW_ERROR_ARGUMENT. Since 0.1. */
TW_API tw_status tw_kernel_shape_at(const tw_kernel *kernel, size_t param, tw_shape_info *info);

/* What a compile made: emitted sources, plan, report, and for CUDA the cubin once it is built (bytes,
 * no text); by name. Out of range: NULL. Since 0.1. */
TW_API size_t tw_kernel_artifact_count(const tw_kernel *kernel);
TW_API const char *tw_kernel_artifact_name(const tw_kernel *kernel, size_t i);
TW_API const char *tw_kernel_artifact_text(const tw_kernel *kernel, size_t i, size_t *size);

/* The assembler text of an emitted kernel, made when it is first asked for: PTX for target cuda, by
 * NVRTC; no device is needed. It becomes an artifact too (NAME.ptx). Errors: TW_ERROR_UNSUPPORTED
 * (the target has none), TW_ERROR_UNAVAILABLE (no NVRTC), TW_ERROR_TOOL. Since 0.1. */
TW_API tw_status tw_kernel_assembly(tw_kernel *kernel, const char **text);

typedef struct tw_pass_info {
    size_t struct_size;
    const char *name; /* "parse"; "source" is the door's result; "emit" and "build" are the target's steps */
    double seconds;
    int32_t changed;
    const char *ir; /* with keep_ir, where a pass changed something; else NULL */
} tw_pass_info;

/* What each step did, in order. TW_ERROR_NOT_FOUND past the last. Since 0.1. */
TW_API tw_status tw_kernel_pass_at(const tw_kernel *kernel, size_t i, tw_pass_info *info);

/* What the compiler proved and chose, one line a finding, with source places. Since 0.1. */
TW_API const char *tw_kernel_explain(const tw_kernel *kernel);
/* The same for programs: a JSON array of objects with "finding" (a name that stays, as "ring-placed"), "subject",
 * "file", "line", "column", the finding's own values by name, and "text". Since 0.1. */
TW_API const char *tw_kernel_explain_json(const tw_kernel *kernel);
/* The same as one HTML page with pictures: tiles on the grid, layouts, rings, cores, roofline; no scripts, nothing to
 * fetch. Made when it is first asked for; belongs to the kernel. Errors: TW_ERROR_ARGUMENT, TW_ERROR_MEMORY. Since 0.1.
 * */
TW_API tw_status tw_kernel_explain_html(tw_kernel *kernel, const char **text);

/* 1 if the kernel computes its own grid. */
TW_API int32_t tw_kernel_has_grid(const tw_kernel *kernel);
/* The kernel's own grid for these arguments. Errors: TW_ERROR_ARGUMENT. Since 0.1. */
TW_API tw_status tw_kernel_grid(tw_kernel *kernel, const tw_arg *args, size_t arg_count, int64_t grid[3]);

/* What a launch does, counted from the kernel behind the passes: no device and no compiler is needed. */
typedef struct tw_work_info {
    size_t struct_size;
    double programs;
    double bytes;    /* that they load and store, each by itself: what they share counts for each */
    double products; /* operations of products of matrices .. */
    double others;   /* .. and of other arithmetic with floats */
    double seconds;  /* by a coarse model of the target: good for comparing variants of one kernel */
} tw_work_info;

/* grid as in tw_kernel_launch; of arrays only the extents count, and they may lie anywhere. For any stage. Errors:
 * TW_ERROR_ARGUMENT. Since 0.1. */
TW_API tw_status tw_kernel_work(tw_kernel *kernel, const int64_t *grid, const tw_arg *args, size_t arg_count,
                                tw_work_info *info);

/* Runs the kernel on grid[0] x grid[1] x grid[2] programs (each 0 .. 2^31-1; grid NULL: the
 * kernel's own; templates of Tile C share out their tasks, all are done on any grid but an empty
 * one). Arguments are in the order of the module's parameters; constants are ignored.
 * Buffers must lie in the target's memory, and have the shape that the source states (TileLang's
 * tensors, which are also row-major without gaps; extents of Tile C's gl). Other extents of a tensor,
 * and its strides, come from the buffer, right-aligned: extents of 1 in front may be missing or too
 * many. Host targets have finished when it returns; a device may go on until
 * tw_stream_synchronize or tw_buffer_read. A launch allocates nothing, but for the memory that a
 * kernel shares between several launches of its own (TileLang's T.alloc_global), once for each
 * stream; such a kernel takes no grid. stream NULL: the context's own. Errors: TW_ERROR_ARGUMENT (a
 * missing, extra or mistyped argument, or one of another shape, by name), TW_ERROR_LAUNCH (an
 * assertion failed, a report of the sanitizer; the message says where), TW_ERROR_UNAVAILABLE. Since
 * 0.1. */
TW_API tw_status tw_kernel_launch(tw_kernel *kernel, tw_stream *stream, const int64_t *grid, const tw_arg *args,
                                  size_t arg_count);

/* How a launch runs. Zero in any field is the default. */
typedef struct tw_launch_options {
    size_t struct_size;
    tw_stream *stream;   /* as in tw_kernel_launch */
    const int64_t *grid; /* as in tw_kernel_launch */
    int32_t threads;     /* target cpu: at most so many; 1: the calling thread alone (an asynchronous stream's own).
                            The context's threads run one launch at a time: one that finds them busy runs on its own
                            thread alone, and waits for nobody */
    int32_t timeout_ms;  /* ends it after that time, with TW_ERROR_TIMEOUT; arrays hold what was written so far. 0: it
                            may take any time. Targets with queues of their own (cuda) have none */
    /* Target cpu: just these programs of the grid, x fastest; programs 0: all of them. */
    int64_t first, programs;
    /* Target cpu: the caller's own threads: runs part(work, i) for every i in 0 .. count-1, each once, in any order and
     * on any threads, and returns when all of them have. count is at most `threads`, or 64. NULL: the context's. */
    void (*parallel)(void *user, int32_t count, void (*part)(void *work, int32_t i), void *work);
    void *parallel_user;
} tw_launch_options;

TW_API void tw_launch_options_init(tw_launch_options *options);

/* tw_kernel_launch, with more to say; options may be NULL. Errors: as there; TW_ERROR_TIMEOUT, TW_ERROR_UNSUPPORTED
 * (the target has no such choice), TW_ERROR_ARGUMENT (programs that the grid does not have). Since 0.1. */
TW_API tw_status tw_kernel_launch_with(tw_kernel *kernel, const tw_launch_options *options, const tw_arg *args,
                                       size_t arg_count);

/* --- kernels built ahead of time --- */

typedef struct tw_build_options {
    size_t struct_size;
    const tw_compile_options *compile; /* target (cpu, cuda, hip, tenstorrent), arguments, options; TW_ARG_ARRAY_TYPE
                                          and TW_ARG_NUMBER_TYPE are enough for the arguments. NULL: none. stage is
                                          ignored */
    const char *path;                  /* PATH.o and PATH.h are written; target tenstorrent: files in the folder PATH */
    const char *name;                  /* of the C function; NULL: the kernel's, `_` in place of what C does not take */
    const char *isa;                   /* instruction sets, with commas between them, the best of which is chosen when
                                          the kernel runs: "baseline", on x86-64 also "v3" (AVX2, FMA) and "v4"
                                          (AVX-512); NULL: all. GPUs: architectures, as in "sm_90a,sm_80"; NULL: these
                                          two, of target hip all that it knows, or the target's own where its name has
                                          one */
    void (*wrote)(void *user, const char *path); /* is told each file, when all are there; may be NULL. Must not call
                                          into the same context */
    void *wrote_user;
} tw_build_options;

TW_API void tw_build_options_init(tw_build_options *options);

/* Compiles a kernel (name NULL: the only one of the module) into a relocatable, position-independent object and a C
 * header with one typed function for it, NAME, and NAME_error for its results. The function checks its arguments and
 * chooses among the ways in which the kernel was compiled as tw_kernel_launch does. The object needs the C library,
 * libm and threads; neither this library, nor a compiler, nor files, and several of them can be linked into one
 * program. For target cuda it holds cubins, and PTX for later GPUs, for target hip code objects; it opens the GPU's
 * driver when it is first called, and launches on a stream of the caller's. For target tenstorrent a folder is written:
 * kernels, host program and CMakeLists.txt for TT-Metalium. Errors: as tw_kernel_compile; TW_ERROR_UNSUPPORTED (another
 * target), TW_ERROR_NOT_FOUND (instruction set, architecture), TW_ERROR_ARGUMENT (name is no name of a C function, or
 * one of the C library's), TW_ERROR_UNAVAILABLE (no compiler for the GPU), TW_ERROR_IO. After an error no file is
 * written. Since 0.1. */
TW_API tw_status tw_build(tw_module *module, const char *name, const tw_build_options *options);

typedef struct tw_build_item { /* a kernel of several, as in tw_build; `path` and `wrote` have no part in it */
    tw_module *module;
    const char *kernel;
    const tw_build_options *options;
} tw_build_item;

/* tw_build of several kernels, of modules of one context, into an archive PATH.a and one header PATH.h. A program that
 * links it gets the kernels that it calls. `failed` (may be NULL): which item an error is about. Errors: as tw_build;
 * TW_ERROR_ARGUMENT (two functions of one name), TW_ERROR_UNSUPPORTED (target tenstorrent). Since 0.1. */
TW_API tw_status tw_build_all(tw_context *context, const tw_build_item *items, size_t count, const char *path,
                              size_t *failed);

/* --- streams --- */

/* A queue of launches of one target, in order; on CUDA the default stream of each kernel's device: a
 * wait waits for all devices in use. On host targets it is always empty. Since 0.1. */
TW_API tw_status tw_stream_create(tw_context *context, const char *target, tw_stream **out);
/* Waits for the launches of an asynchronous stream. */
TW_API void tw_stream_destroy(tw_stream *stream);

typedef struct tw_stream_options {
    size_t struct_size;
    int32_t asynchronous; /* target cpu: a launch on it returns when its arguments are checked, and runs on the stream's
                             own thread when those before it have ended. When one fails, those behind it do not run,
                             until tw_stream_synchronize has told of it. Kernels and buffers may be destroyed: that
                             waits, as do tw_buffer_read, _write, _fill, _compare and _save_npy. Memory of the
                             caller must live. Other host targets: a launch has ended when it returns */
} tw_stream_options;

TW_API void tw_stream_options_init(tw_stream_options *options);

/* tw_stream_create, with more to say; options may be NULL. Errors: TW_ERROR_NOT_FOUND, TW_ERROR_MEMORY. Since 0.1. */
TW_API tw_status tw_stream_open(tw_context *context, const char *target, const tw_stream_options *options,
                                tw_stream **out);
/* How many launches have not ended, without waiting; of a target with queues of its own (cuda) 1 for any number.
 * Errors: TW_ERROR_ARGUMENT, TW_ERROR_LAUNCH. Since 0.1. */
TW_API tw_status tw_stream_query(tw_stream *stream, int64_t *pending);
/* Ends the launch that runs, soon, and drops those behind it; tw_stream_synchronize then says TW_ERROR_CANCELLED.
 * Arrays hold what was written so far. Where nothing is under way nothing happens. Errors:
 * TW_ERROR_UNSUPPORTED (a target with queues of its own). Since 0.1. */
TW_API tw_status tw_stream_cancel(tw_stream *stream);
/* A queue that the caller has made with the target's own means (a CUstream of the primary context
 * of the kernel's device; NULL is its default one) and keeps alive as long as the stream. A launch on it makes the
 * driver's launch and nothing else: it can be captured in a CUDA graph. Errors: TW_ERROR_NOT_FOUND,
 * TW_ERROR_UNSUPPORTED (a target that has no queues), TW_ERROR_MEMORY. Since 0.1. */
TW_API tw_status tw_stream_wrap(tw_context *context, const char *target, void *native, tw_stream **out);
/* Makes it stand for another queue of the caller. For hosts that launch often: nothing is
 * allocated. Errors: TW_ERROR_ARGUMENT (it is no wrapped one). Since 0.1. */
TW_API tw_status tw_stream_rebind(tw_stream *stream, void *native);
/* Waits until all is done. Errors of earlier launches appear here: TW_ERROR_LAUNCH; the message names
 * the kernels that can have failed. A kernel that fails on a GPU takes the context with it: from then
 * on every call on that GPU says so. With TILEWRIGHT_GPU_TIMEOUT=SECONDS in the environment a wait is
 * given up after that time, with the same effect. Since 0.1. */
TW_API tw_status tw_stream_synchronize(tw_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
