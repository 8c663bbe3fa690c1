/* tt_compute.h: between the two halves of the compute emitter.
 *
 * Tile values are computed late: an op prints nothing, the `put` that needs it (or the sum that it
 * is carried into) computes the whole expression, a few pages at a time, in one section of DST:
 * acquire, calls, commit, wait, pack, release. A value that must lie in a CB in between (an operand
 * of matmul, reduce or a broadcast) is packed into an inner CB first. */
#ifndef TARGET_TENSTORRENT_TT_COMPUTE_H
#define TARGET_TENSTORRENT_TT_COMPUTE_H
#include "target/tenstorrent/tt_emit.h"

typedef enum Register { REG_SRCA, REG_SRCB, REG_PACK, REG_COUNT } Register;

/* What inits and format changes have set, as far as it is known. */
typedef struct Configured {
    const char *init;      /* NULL: not known */
    int format[REG_COUNT]; /* -1: not known */
} Configured;
/* What a stretch of code asks for. */
typedef struct Asked {
    const char *init; /* the first one */
    bool inits_differ;
    int cb[REG_COUNT]; /* the first one, -1: none */
    bool formats_differ[REG_COUNT];
    bool starts_with_matmul;
} Asked;

typedef struct Pop {
    int cb;
    const Op *after; /* NULL: at the end of the region */
} Pop;

/* Which pages compute may touch here: one bit a CB, for an item reserved, pushed by compute itself
 * and not yet waited for, or waited for. */
typedef struct Windows {
    uint64_t reserved, pushed, waited;
} Windows;

/* A value that got a home, and the homes that it had before: an inner region may have its own. */
typedef struct Homed {
    Ref value;
    int home, fpu_home;
} Homed;

typedef struct Compute Compute;
struct Compute {
    Role role; /* first: a Role of the kernel */
    Configured now;
    Asked asked;
    int *home, *fpu_home; /* the CB beside its ring that holds a value, by Ref; -1: none */
    VEC(Homed) homed;     /* in order */
    VEC(size_t) marks;    /* how many had one at the start of each open region */
    int *inner_cb[3];     /* CBs once made for a value: for moves, for the FPU, for partial sums */
    VEC(Pop) pops;        /* to be done at the end of the region, or after an op */
    VEC(Ref) held;        /* rings with an item waited for */
    Windows windows;      /* of the CBs, at this place of the text */
    VEC(Windows) entered; /* as they were at the start of each open region and loop */
    const Op *op;         /* at hand, for messages */
    Ref in_dst;           /* a value that lies in the open section of DST, or 0 */
    int spills;           /* printed so far */
    bool probing;         /* what is printed is thrown away */
    bool reduces;         /* a reduction's packer mask is on */
};

/* --- tt_section.c, tt_graph.c --- */
typedef struct Root {
    Ref value;
    Ref without;         /* a carried sum that the value adds to: left out */
    int cb;              /* packed into it */
    const char *adds_if; /* NULL, or a sum in L1: each page to its own place, added where this
                            condition holds */
    const Op *op;        /* for messages */
    bool to_dst;         /* not packed: all pages at once into open DST, adding to what is there */
} Root;
void section_root(Compute *c, const Root *root);
/* Would the root need inner CBs, or more DST than `pages` tiles of it leave? */
bool section_fits_dst(Compute *c, const Root *root, Ref in_dst, int64_t pages);
/* Finds the CB from which the FPU can read the value as it is. */
bool section_fpu_view(Compute *c, Ref value, int *cb, bool *turned);

/* --- tt_window.c --- */
typedef enum WindowCall { CB_RESERVE, CB_PUSH, CB_WAIT, CB_POP } WindowCall;
/* Prints the call for one item of the CB. */
void window_call(Compute *c, WindowCall call, int cb);
void window_read(Compute *c, int cb);  /* what is printed next reads an item's tiles */
void window_write(Compute *c, int cb); /* .. packs into the item reserved */
void window_enter(Compute *c);
void window_leave(Compute *c); /* the region or loop leaves the windows as it found them */

/* --- tt_emit_compute.c --- */
typedef void Printer(Compute *c, void *user);
/* A loop whose body asks for one init or format only gets it in front. open prints the header and "{". */
void compute_loop(Compute *c, Printer *open, Printer *body, void *user);
void compute_forget(Compute *c, size_t count); /* homes beyond the first so many */
void compute_init(Compute *c, const char *init);
void compute_format(Compute *c, Register reg, int cb);
/* Packs the value into an inner CB, ready to be read, until the end of the root or region that asked. */
int compute_spill(Compute *c, Ref value, bool for_fpu, const Op *op);
#endif
