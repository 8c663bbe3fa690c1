/* SPDX-License-Identifier: Apache-2.0 */
/* tt.h: the Tenstorrent target: a kernel in ring form becomes reader.cpp, compute.cpp, writer.cpp
 * and plan.json, and runs on the model of the Tensix grid.
 *
 *     TtPlan *plan = tt_emit(&cx, kernel, &tt_options_default);   NULL after errors (in the module's diag)
 *     plan->source[TENSIX_READER]     kernel text; compiled through tt_wrapper, which adds the compile-time arguments
 *     tt_launch(plan, entries, ...)   tilizes the arguments, runs the kernels, brings the results back
 *
 * A role becomes a kernel, a field of a ring a circular buffer (CB) of slots x pages, a box of a
 * global tensor a run of DRAM pages. Which core runs which tasks: tilewright_launch.h, on which the
 * emitted host program rests too. docs/plan.md
 * describes plan.json. The plan lives in the module's arena and points to nothing of the IR;
 * numbers that the launcher computes are named by their Ref. */
#ifndef TARGET_TENSTORRENT_TT_H
#define TARGET_TENSTORRENT_TT_H
#include "base/cancel.h"
#include "pass/pass.h"
#include "target/tenstorrent/model/tensix.h"
#include "target/tenstorrent/prelude/tilewright_launch.h"

struct TtCode;
typedef enum TtWish { WISH_AUTO, WISH_ON, WISH_OFF } TtWish;
/* Memory of the kernel's own, under a parameter that no argument gives. */
typedef struct TtSpace {
    const char *name;
    Elem elem;
    int rank;
    const int64_t *extent;
} TtSpace;

typedef struct TtOptions {
    TensixArch arch;
    uint32_t fidelity; /* 1 to 4 */
    /* What annotations and options ask for; 0 and NULL: nothing. */
    TwPolicy policy;
    TwOrder order;
    uint32_t block;         /* of block_linear */
    TwPoint first, size;    /* of the cores to be used; none: all */
    uint32_t cores;         /* at most */
    uint32_t chunk;         /* tiles along K in flight */
    TtWish multicast;       /* cores share loads */
    const char *depths;     /* "in:3,out:2": slots of the CBs of a ring */
    const char *sharding;   /* "A=height,B=interleaved" */
    int launch, launches; /* of a kernel that is several, one after the other: which one this is */
    const TtSpace *spaces;
    int space_count;
    /* Tests: changes the kernels (TtCode, tt_program.h) before they are looked at. */
    void (*change)(struct TtCode *code, void *user);
    void *change_user;
} TtOptions;
extern const TtOptions tt_options_default;

typedef TwPaging TtPaging;
typedef TwLayout TtLayout;
_Static_assert((int)TW_RANKS == (int)MAX_RANK, "ranks of tensors");

/* A buffer of the program: one tensor as its loads, or its stores, see it. */
typedef struct TtBuffer {
    const char *name;
    int arg; /* the parameter in whose memory it lies */
    bool output;
    bool in_l1; /* of the cores, page after page; else in DRAM */
    Elem elem;
    TtFormat format;
    TtLayout layout;
    double fill; /* of everything outside the tensor */
    int base, extent[MAX_RANK], stride[MAX_RANK]; /* numbers (TtPlan.numbers) */
    bool open[MAX_RANK];                          /* no extent is given: as far as the argument's memory goes */
} TtBuffer;

uint32_t tt_page_bytes(const TtBuffer *buffer);
uint32_t tt_fill_bits(const TtBuffer *buffer); /* an element of fill, as its format has it */

/* Which cores of the rectangle get the pages of a CB from one of them; see tt_share.c. */
typedef enum TtShare { SHARE_NONE, SHARE_ROW, SHARE_COLUMN } TtShare;

typedef struct TtCb {
    TensixCb desc;
    const char *name; /* cb_a */
    Word from, to;    /* roles */
    const char *what; /* "field a of ring in", "partial sums of acc" */
    uint32_t item_pages, slots;
    TtShare share;
} TtCb;

/* What the launcher computes from the arguments. */
typedef enum TtNumberKind { NUMBER_ADDRESS, NUMBER_EXTENT, NUMBER_STRIDE, NUMBER_VALUE } TtNumberKind;
typedef struct TtNumber {
    TtNumberKind kind;
    int arg, dim; /* of a tensor parameter */
    Ref value;    /* VALUE: of the kernel's IR, made of parameters and the grid */
} TtNumber;

/* One 32-bit word that every kernel can read with get_common_arg_val. */
typedef enum TtArgKind {
    ARG_SCALAR, /* a parameter: integers as they are, floats as the bits of an f32 */
    ARG_EXTENT, /* extent, stride of a tensor parameter */
    ARG_STRIDE,
    ARG_GRID,    /* extent of the source's grid */
    ARG_ADDRESS, /* of a DRAM buffer */
    ARG_PAGES    /* its pages along a dimension */
} TtArgKind;
typedef struct TtArg {
    TtArgKind kind;
    const char *name;
    int index, dim; /* of the parameter or buffer; dimension */
    Elem elem;      /* SCALAR */
} TtArg;

enum { TT_KERNELS = 3 }; /* indexed by TensixProcessor */

typedef struct TtPlan {
    const char *name;
    const char *file[TT_KERNELS]; /* "reader.cpp"; of a second launch "reader_2.cpp" */
    const char *source[TT_KERNELS];
    const char *compile_args[TT_KERNELS]; /* "2, 2048, 2, 4096" */
    const char *json, *cmake; /* plan.json, CMakeLists.txt */
    const char *host[3];      /* host.cpp: what stands in front, this launch (of each plan), and main */
    TtOptions options;
    bool full_sync; /* DST in one section of 8 tiles instead of two of 4 */
    bool ordered;   /* kernels ask which task a turn is (tw_task) */
    bool turns;     /* cores take turns at atomic updates */
    bool shares;    /* some CB is shared: tasks lie on a rectangle (tilewright_launch.h) */
    VEC(TtCb) cbs;
    VEC(TtBuffer) buffers;
    VEC(TtArg) args;
    VEC(const char *) notes;
    int task_rank;
    int tasks[MAX_RANK]; /* numbers: extents, whose product is split over the cores */
    VEC(TtNumber) numbers;
    int param_count;
    bool *in_l1;         /* by parameter: its tensors lie in the cores' L1 */
    uint32_t word_count; /* runtime arguments of a core */
} TtPlan;
/* Which core runs which tasks of a launch; extents: of the task indices, none 0; most: cores at most, 0 for all. */
TwMapping tt_map(const TtPlan *plan, const uint64_t *extents, uint32_t most, Arena *arena);

TwGrid tt_grid(const TtPlan *plan); /* what it says of cores and tasks */
TtPlan *tt_emit(PassContext *cx, Kernel *k, const TtOptions *options);
/* The names of the files: "reader.cpp", .. by TensixProcessor; and what the compiler is given to
 * make an entry point tt_entry(kernel) out of the file. */
const char *tt_file_name(int kernel);
const char *tt_entry_name(int kernel);
const char *tt_prelude_name(int kernel); /* what the file includes */
char *tt_wrapper(const TtPlan *plan, int kernel, Arena *arena);

/* --- launch --- */

typedef struct TtValue {
    uint64_t word;                  /* the bits of a number, or an address */
    int64_t bytes;                  /* of the memory behind a pointer or tensor, from its address on; -1: not known */
    const int64_t *extent, *stride; /* of a tensor, in elements */
} TtValue;

typedef struct TtLaunch {
    const TtPlan *plan;
    TensixEntry *entry[TT_KERNELS];
    const TtValue *args;   /* param_count of them */
    const int64_t *values; /* of plan->numbers, where the kind is VALUE */
    int64_t grid[3];       /* the source's */
    uint32_t cores;        /* at most; 0: the whole grid */
    Arena *arena;          /* for pages; its allocator gives the model its memory */
    uint64_t steps;        /* budget of the model; 0: the default */
    uint64_t seed;         /* of the orders that the model chooses */
    bool counts;           /* only: the results stay as they are */
    Cancel *cancel;        /* who may end it early; NULL: nobody */
} TtLaunch;
typedef struct TtResult {
    TensixReport report;
    uint32_t cores; /* that had tasks */
    uint64_t tasks;
    const char *problem; /* why it failed, else NULL */
    bool argument;       /* it is one of an argument: nothing ran */
    /* In the launch's arena, for tt_report: */
    TwMapping map;
    const TensixCoreReport *cores_ran; /* as in map */
    const TensixCbReport *cbs;         /* as in the plan */
} TtResult;
/* False with `problem` set: an argument that does not fit, or a report of the model. Memory is then as it was. */
bool tt_launch(const TtLaunch *launch, TtResult *result);

/* --- tt_report.c --- */
/* Who computes what; `known`: extents of the task indices, 0 where only a launch knows. */
char *tt_explain(const TtPlan *plan, const int64_t *known, Arena *arena);
char *tt_report(const TtPlan *plan, const TtResult *result, Arena *arena); /* what was moved,
    and how long it would take */
#endif
