/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h: the objects behind the public API, and what the files of the runtime share.
 *
 *     api.c        the public entries: checks, the one setjmp frame, getters
 *     context.c    contexts, memory of objects; seat.c what one keeps for each thread: messages
 *     compile.c    source -> door -> passes -> target; live.c names and values of the host
 *     launch.c     arguments -> words -> target; sequence.c several in a row; queue.c launches that go on alone
 *     scalars.c    small integer programs evaluated at launch: the kernel's own grid
 *     buffer.c     arrays; npy.c their files; random.c their contents
 *     options.c    --set NAME=VALUE
 *     target.h     what a target is; target.c the table; target_*.c the rows
 *     pool.c       threads; process.c other programs; cache.c files kept between runs
 *     toolchain.c  the host's compilers
 *
 * Memory: every object has an arena of its own and dies with it. A function called below api.c's
 * frame may run out of memory at any allocation and never comes back then, so it must not hold an
 * open file or child process while it allocates; what outlives the call (a library handle, a
 * mapping) is stored in its object first.
 *
 * Threads: a call holds the context's lock (api_guarded), and with it all objects of the context. Launches of targets
 * that allow it run beside other calls (api_beside), once a second thread has been seen: what they change belongs to
 * their thread's Seat, and what they read of a kernel stays as it is once it is compiled. */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H
#include "base/cancel.h"
#include "front/front.h"
#include "pass/pass.h"
#include "runtime/api/seat.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct Target Target;
typedef struct Pool Pool;
typedef struct Queue Queue;

struct tw_context {
    Allocator allocator;           /* safe to call from any thread */
    Allocator host;                /* the caller's, which is called by one thread at a time: under `allocating` */
    pthread_mutex_t allocating;
    pthread_mutex_t lock;          /* recursive; see above */
    Trap trap;                     /* of the call that holds the lock */
    atomic_int references;         /* itself, and every object made from it */
    _Atomic(Seat *) seats;         /* only grows */
    Seat first;                    /* of the thread that made it */
    atomic_bool shared;            /* more than one thread calls it; never taken back */
    int32_t (*poll)(void *user);   /* may be NULL */
    void *poll_user;
    Arena arena;           /* lives as long as the context */
    const char *cache_dir; /* NULL: none */
    bool no_cache;         /* none was found, though nobody said that there shall be none */
    bool cache_told;       /* that kernels are not kept; once is enough */
    int threads, tool_timeout;
    void (*print)(void *user, const char *text, size_t length); /* may be NULL */
    void *print_user;
    Pool *pool;            /* made with the first kernel that needs it */
    pthread_mutex_t pool_busy; /* a launch runs on it, or its scratch grows */
    Queue *queues;         /* launches that go on by themselves */
    Arena launch_scratch;  /* of a launch that is under way; api_guarded frees what a fault leaves in it */
    void *target_state[16]; /* of the targets, by their place in the table */
};

struct tw_module {
    tw_context *context;
    int references; /* itself, and a compile that is under way */
    Arena arena;
    SourceMap sources;
    Diag diag;
    FrontUnit unit;
    const char **import_folders; /* that the caller named, and how the text's own and they are really called */
    const char **import_roots;
    size_t import_folder_count, import_root_count;
    Map import_known; /* real path -> SourceFile */
    bool import_anywhere;
    double parse_seconds;
};

struct tw_buffer {
    tw_context *context;
    const Target *target; /* NULL: host memory */
    int device;           /* of the target */
    void *data;
    void *block; /* of host memory that is owned, as allocated: data begins at a line of the cache */
    size_t size; /* bytes from the lowest to one past the highest element */
    bool owned;
    bool unwritten; /* nothing may read it before a kernel wrote it: the sanitizer's business */
    Elem elem;
    int rank;
    int64_t shape[TW_MAX_RANK], strides[TW_MAX_RANK];
};

struct tw_stream {
    tw_context *context;
    const Target *target;
    void *native; /* of the target's own kind; NULL: its default queue */
    bool wrapped;
    Queue *queue; /* of host targets: launches do not wait; NULL: they do */
};

typedef struct Artifact {
    const char *name, *text;
    size_t size;
} Artifact;

typedef struct StepRecord {
    const char *name, *ir;
    double seconds;
    bool changed;
} StepRecord;

/* A parameter that lives on at run time. */
typedef struct RunParam {
    const char *name;
    int source; /* index among the module's parameters: which argument it takes */
    const Type *type;
    int space;  /* which of the kernel's spaces it is; -1: an argument */
    int slot;                 /* first of its words */
    const FrontShape *stated; /* what the source says of the array's shape; NULL: nothing */
} RunParam;

typedef struct ScalarProgram ScalarProgram;
typedef struct CompileRequest CompileRequest;

typedef struct SpaceSet { /* memory of runs that come one after the other */
    void *queue;
    tw_buffer **at; /* as in FrontSequence.spaces */
    bool whole;     /* false: some are not there, because there was no memory */
} SpaceSet;

typedef struct KernelVariant { /* of a kernel, compiled with fewer wishes */
    tw_kernel *kernel;
    atomic_bool ready; /* false: there is none yet, or memory did not suffice for it */
} KernelVariant;

struct tw_kernel {
    tw_context *context;
    const Target *target;
    const char *arch; /* behind the colon of the target's name; NULL: the target chooses */
    int device;       /* of the target, on which it runs */
    Arena arena;
    Diag diag;
    SourceMap *sources; /* of the module, which lives as long as the kernel */
    tw_module *origin;  /* the module */
    Module *module;
    Kernel *ir; /* after the passes */
    const char *name;
    PassContext pass;
    int threads;         /* --set threads */
    bool no_asserts;     /* --set asserts=off */
    bool overflow;       /* integers that overflow are assertions that fail */
    int vector_bits;     /* widest vectors of CPU code; 0: the machine's */
    bool bf16_wide;      /* --set bf16_pairs=off */
    bool cooperative;    /* all its programs run at once */
    bool launch_pdl;     /* may begin before the launch before it ends */
    int cores, fidelity; /* --set cores, fidelity: Tenstorrent */
    /* Tenstorrent, --set policy and so on: as TtOptions has them; 0 and NULL: nothing said. */
    int tt_policy, tt_order, tt_block, tt_grid, tt_chunk, tt_multicast;
    const char *tt_depths, *tt_sharding;
    bool counts;       /* Tenstorrent: the model computes nothing */
    bool report;       /* Tenstorrent: a launch says what was moved and how long it would take */
    uint64_t seed;       /* --set seed: the interpreter's orders */
    int product_bits;    /* tw_kernel_product_bits */
    FrontShape *shapes;  /* by parameter of the source */
    const bool *written; /* by parameter of the source: the kernel may write through it */
    bool with_passes;    /* --set passes: the interpreter */
    int64_t max_steps;   /* --set max_steps: budget of a simulated launch; 0: the default */
    bool sanitize, emulate;
    VEC(Artifact) artifacts;
    VEC(StepRecord) steps;
    const char *explain, *explain_json, *explain_html; /* the page: NULL until it is asked for */
    /* launch */
    int source_count; /* parameters of the source */
    const char **source_names;
    int param_count;
    RunParam *params;
    int slot_count;
    size_t frame_words;        /* that a Frame of it takes (frame.h) */
    uint64_t *slots;           /* the words of the current launch that holds the lock */
    tw_buffer **buffers;       /* by parameter; NULL for numbers */
    const ScalarProgram *grid; /* NULL: the launch must say it */
    int grid_rank;
    bool own_grid; /* a grid that the launch says only says whether anything runs */
    struct Requirements *requirements;  /* what the compiled code wants of the arguments; NULL: nothing */
    bool never;                         /* a requirement that cannot be tested: the general variant it is */
    KernelVariant generic, overlapping; /* those that want less, and nothing of two arrays; .. */
    KernelVariant odd;             /* .. no multiples of some parameters; each is made when a launch first needs it */
    bool never_joined;             /* those do not compile */
    KernelVariant joined[MOST_JOINED][MOST_JOINED]; /* in which so many tasks and one are one (pass/join.h) */
    FrontSequence sequence;        /* its launches and what they share */
    tw_kernel *next, *head;        /* the launch behind this one; the first of them, whose spaces they take */
    VEC(SpaceSet) spaces;   /* of the head: one for each queue that it runs in */
    tw_buffer **space;             /* of the head: those of the current run */
    tw_resource_info resources;    /* filled by the target's build */
    const CompileRequest *request; /* what was asked for, to make that variant */
    void *code;                    /* the target's */
};

/* --- context.c --- */
void *context_alloc(tw_context *cx, size_t size); /* zeroed; throws through the context's trap */
void context_free(tw_context *cx, void *block, size_t size);
void context_hold(tw_context *cx); /* one reference more */
void context_drop(tw_context *cx); /* one reference less */
/* For entries that destroy an object: all others keep off, and what runs with it has ended. */
void context_lock(tw_context *cx);
void context_unlock(tw_context *cx); /* and context_drop */
/* Sets the message and gives the status back, so that failing is one statement. */
tw_status context_fail(tw_context *cx, tw_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with a code for those who read no text, and, where something does not suffice, how much is needed of it and
 * how much there is. */
tw_status context_refuse(tw_context *cx, tw_status status, const char *code, int64_t needed, int64_t available,
                         const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The diagnostics as message (if there are errors) or as warnings. */
tw_status context_diagnose(tw_context *cx, const Diag *diag, tw_status on_error);
Pool *context_pool(tw_context *cx);

/* --- compile.c --- */
struct CompileRequest { /* copied into the kernel's arena */
    const FrontKernel *kernel;
    const FrontValue *args; /* kernel->param_count of them */
    const char *target;
    const tw_pair *options;
    size_t option_count;
    const char *passes, *stop_after;
    int stage, device;
    bool emulate, sanitize, verify_each, keep_ir, specialize_ones;
    int launch;   /* of those that the kernel is made of */
    int generic;  /* of PassOptions */
    bool overlap; /* of PassOptions */
    uint64_t odd; /* of PassOptions */
    int join;     /* of PassOptions */
};
/* Files that the text of a module may name (import.c). */
void import_init(tw_module *m, const char *name, const tw_module_options *options);
const SourceFile *import_file(void *user, const SourceFile *from, const char *path);
tw_status module_open(tw_module *m, const char *name, const char *text, size_t size, const tw_module_options *options);
void module_drop(tw_module *m); /* one reference less */
/* Absent constants that the source computes, as arguments. */
tw_status module_complete(tw_module *m, const FrontKernel *kernel, tw_arg *args);
tw_status kernel_compile(tw_kernel *k, const char *name, const tw_compile_options *options);
tw_status kernel_compile_request(tw_kernel *k, const CompileRequest *request);
void kernel_add_artifact(tw_kernel *k, const char *name, const char *text);
void kernel_add_bytes(tw_kernel *k, const char *name, const void *bytes, size_t size);
/* A kernel without content; throws. Freed by tw_kernel_destroy. */
tw_kernel *kernel_new(tw_module *m);

/* --- live.c --- */
FrontValue live_value(Arena *arena, const tw_arg *arg);
tw_arg live_argument(const FrontValue *value); /* of a constant; ABSENT for others */
void live_object(Arena *arena, const tw_object *from, FrontObject *to);
const FrontResolver *live_resolver(Arena *arena, const tw_resolver *host);

/* --- launch.c --- */
tw_status kernel_prepare_launch(tw_kernel *k, const FrontKernel *source);
/* The assembler text, made when it is first asked for; it is an artifact from then on. */
tw_status kernel_assembly(tw_kernel *k, const char **text);
/* The page of pictures, made when it is first asked for. */
const char *kernel_page(tw_kernel *k);
tw_status kernel_own_grid(tw_kernel *k, const tw_arg *args, size_t count, int64_t grid[3]);
/* What a launch would do (estimate.c); nothing is read of arrays but their extents, wherever they lie. */
struct Work kernel_program_work(tw_kernel *k); /* of one program, with the numbers that it was compiled for */
tw_status kernel_work(tw_kernel *k, const int64_t *grid, const tw_arg *args, size_t count, tw_work_info *info);
/* What is asked for, and what a launch beside other calls lacks. */
typedef struct LaunchRequest {
    tw_launch_options how;
    const tw_arg *args;
    size_t count;
    bool beside;        /* the lock is not held */
    tw_kernel *reached; /* of a kernel of several launches: the first that has not run */
    tw_kernel *lacking; /* whose variant must be compiled first, under the lock (kernel_add_variant); NULL: none */
    int fit;
    uint64_t odd;
    JoinSize join;
} LaunchRequest;
tw_status kernel_launch(tw_kernel *k, LaunchRequest *request);
tw_status kernel_add_variant(LaunchRequest *request);
/* May its launches run beside other calls? */
bool kernel_runs_beside(const tw_kernel *k);

/* --- sequence.c: kernels of several launches --- */
/* Compiles the launches behind the first one; what is known of a kernel is then known of all of them together. */
tw_status sequence_compile(tw_kernel *k);
tw_status sequence_launch(tw_kernel *k, LaunchRequest *request);
void sequence_destroy(tw_kernel *k);

/* --- buffer.c --- */
tw_status buffer_make(tw_context *cx, int32_t dtype, int32_t rank, const int64_t *shape,
                      const tw_buffer_options *options, tw_buffer **out);
tw_status buffer_copy(tw_buffer *b, void *host, size_t size, bool read);
tw_status buffer_fill(tw_buffer *b, const char *kind, double value, uint64_t seed);
tw_status buffer_compare(const tw_buffer *got, const tw_buffer *want, double absolute, double relative,
                         tw_difference *out);
char *buffer_lowest(const tw_buffer *buffer);       /* address of its lowest byte */
bool buffer_is_dense(const tw_buffer *buffer);      /* row-major, without gaps */
void buffer_show(const tw_buffer *buffer, Text *t); /* "f32[8, 8]" */
Elem elem_of_dtype(int32_t dtype);
int32_t dtype_of_elem(Elem elem);
/* --- npy.c --- */
tw_status npy_load(tw_context *cx, const char *path, int32_t dtype, tw_buffer **out);
tw_status npy_save(const tw_buffer *buffer, const char *path);
/* --- random.c --- */
double random_uniform(uint64_t seed, uint64_t index); /* [0, 1), 53 bits */
double random_normal(uint64_t seed, uint64_t index);
#endif
