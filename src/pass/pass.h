/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h: what every pass is given, and the list of passes.
 *
 * A pass changes one kernel and says whether it did; mistakes of the user go to the module's diag, findings that
 * `tilewright explain` prints go to cx->findings. Scratch memory is reset by the runner after each pass. The order of
 * the passes is one straight-line function, pipeline.c. */
#ifndef PASS_PASS_H
#define PASS_PASS_H
#include "ir/build.h"
#include "pass/finding.h"
#include "pass/join.h"
#include "pass/machine.h"

/* What a variant may require of its arguments: anything that helps (rows of whole vectors, aligned addresses and
 * strides, unit strides); not whole vectors; unit strides only; what nearly every launch meets (sizes that are not
 * negative and fit in their types, one program a tile, arrays that do not overlap); all that but one program a tile;
 * nothing. */
enum { REQUIRE_ALL, REQUIRE_ALIGNED, REQUIRE_UNIT, REQUIRE_USUAL, REQUIRE_SIZES, REQUIRE_NOTHING };

/* Options of a compile, as `--set NAME=VALUE` or the API gave them; 0 / NULL is "the compiler chooses". */
typedef struct PassOptions {
    int num_warps;     /* 0: the source's, else 4 */
    int num_stages;    /* -1: the source's */
    int slots;         /* 0: num_stages, or more where that helps; else so many, if they fit */
    int roles;         /* -1 auto, 0 off, 1 on */
    int persist;       /* -1 auto, 0 off, 1 on */
    int workers;       /* 0 auto: consumer warpgroups */
    int cluster;       /* 0 auto, 1 none, 2: pairs of blocks that share loads */
    int rotate;        /* -1 auto, 0 off: products that run under the next trip's arithmetic */
    int join;          /* 0 auto: 65536 x rows + columns of tasks that become one (join.c) */
    int cores;         /* 0 all: 65536 x columns + rows of the cores that are used */
    int nest;          /* 0 auto: trips of a loop that become one, at most (nest.c) */
    int chunk;         /* 0 auto: pages along K that such trips load, or a number that divides it */
    int gang;          /* 0 auto: programs that run side by side in a block */
    int max_registers; /* of a thread; 0: as the assembler chooses */
    bool written; /* threads run as they are written */
    bool unproved; /* roles run as they are written even where nobody can tell whether their barriers are right */
    bool fuse;         /* multiply-adds become fma (default on) */
    bool lines;        /* #line in emitted CUDA text, and line information in the cubin */
    bool overlap;      /* arrays may overlap: nothing is wished of two of them */
    bool no_ones;      /* integer arguments of 1 are constants already: none of the others is wished to be 1 */
    int generic;       /* REQUIRE_ALL ..: a launch that fails a `require` runs the next more general variant */
    uint64_t odd;      /* parameters, as bits, of which no multiple is wished for: in some launch they are none */
} PassOptions;
extern const PassOptions pass_options_default;

typedef struct PassContext {
    Module *module;
    const Machine *machine;
    PassOptions options;
    Arena *scratch;
    VEC(Finding) findings; /* in the module's arena */
    JoinLimits join;       /* tasks that may become one */
    bool widened;          /* a sum that the source keeps in 16 bits is carried in f32 */
    struct Uncut *uncut;   /* machines with threads: a kernel with rings as it came to the pass `ring` (ring.h) */
} PassContext;

/* A finding for `explain`; its values are those of its row. */
void pass_find(PassContext *cx, Range range, FindingId id, ...);
void pass_find_list(PassContext *cx, Range range, FindingId id, va_list values);

/* PASS(name, form it takes, form it leaves, doc), in the order of the pipeline. Each is `bool pass_<name>(PassContext
 * *, Kernel *)`. */
#define PASS(name, takes, leaves, doc) bool pass_##name(PassContext *cx, Kernel *k);
#include "pass/passes.def"
#undef PASS

/* Has the kernel come as far as `who` (a pass, an emitter) needs it? If not, false with a message. Every emitter asks
 * this first. */
bool pass_takes_form(Kernel *k, Form form, const char *who);

/* Dots that a matrix unit does in parts, taken apart (dot_parts.c); part of `stamp`. */
void dots_take_apart(PassContext *cx, Kernel *k);

/* Called after each pass that changed the kernel. */
typedef void PassTrace(void *user, const char *pass, const Kernel *k, double seconds);
typedef struct PipelineRequest {
    const char *stop_after; /* NULL: all */
    const char *only;       /* NULL, or "a,b": just these */
    bool verify_each;
    PassTrace *trace; /* NULL, or called after every pass (changed or not) */
    void *trace_user;
} PipelineRequest;
/* False after errors (in the diag). */
bool pipeline_run(PassContext *cx, Kernel *k, const PipelineRequest *request);
#endif
