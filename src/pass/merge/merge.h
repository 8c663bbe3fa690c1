/* SPDX-License-Identifier: Apache-2.0 */
/* merge.h: between the parts of `merge`: tasks to programs (merge_tasks.c) or a loop (merge_loop.c), tiles of a
 * ring's record (merge_views.c), workers and roles to one flat program on whole tiles (merge_workers.c), one after
 * the other (elide.c), or as they are (merge_keep.c). */
#ifndef PASS_MERGE_MERGE_H
#define PASS_MERGE_MERGE_H
#include "analysis/affine.h"
#include "pass/pass.h"

/* A field of a ring's record, seen as one tile: which of its dimensions count its rows and which
 * its columns, outermost first. [2,64,64] of two tiles above each other: rows 0 1, columns 2. Side
 * by side: rows 1, columns 0 2. */
typedef struct DimList {
    int count;
    int dim[MAX_RANK];
} DimList;
typedef struct RingField {
    Ref ring;
    int number; /* of the ring's fields */
    const char *name;
    const Type *type;
    bool laid; /* rows and cols are known */
    DimList rows, cols;
    VEC(const Op *) puts;
    Ref value;    /* the whole field, merged, of the current item */
    bool stacked; /* its outermost row dimension counts workers; in a field that they use turned, its
                     outermost column dimension (across) */
    bool across;
} RingField;

/* A tile that is a part of a field: each dimension of the field is fixed, or belongs to a dimension of the tile. */
typedef enum Fixed { FIXED_NOT, FIXED_CONST, FIXED_WORKER } Fixed;
typedef struct View {
    RingField *field;
    Fixed fixed[MAX_RANK];
    int64_t at[MAX_RANK]; /* of FIXED_CONST */
    int rank;
    DimList dims[MAX_RANK];
} View;

typedef struct Merge {
    PassContext *cx;
    Kernel *k;
    Arena *arena;
    Builder b; /* where the flat program grows: before `tasks` */
    Op *tasks;
    Op *load, *compute;  /* roles */
    Op *store;           /* lcsf: the role that stores what compute gave it */
    const Op *load_loop; /* the load role's loop over items */
    const Region *work;  /* what one consumer does: the body of spmd, or of the role */
    Ref worker;          /* spmd's argument, or REF_NONE */
    int64_t workers;
    VEC(RingField *) fields;
    Map views;     /* Ref of the old program -> View */
    Map derived;   /* Ref of the old program: reshape or permute of a computed tile, on its way into a
                    put */
    RefMap map;    /* old -> new; a scalar that depends on the worker: its value for worker 0 */
    bool *stacked; /* by new Ref: tiles of all workers above each other */
    size_t stacked_count;
    bool *by_worker; /* by old Ref: depends on the worker's number */
    Map done;        /* stores already made with another */
    Analysis affine; /* of the old program */
    bool failed;
    bool wrong;        /* and that is a mistake of the kernel, however it is run */
    const Op *resists; /* the first op that did not become one of whole tiles, */
    const char *why;
} Merge;

/* Keeps why the template cannot become one flat program, the first reason. Always false. */
bool merge_fail(Merge *m, const Op *op, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* b - a, if that is a number (merge_workers.c). */
bool merge_distance(Merge *m, Ref a, Ref b, int64_t *distance);

/* elide.c: loops over one range as one: what they carry side by side, their bodies one behind the other. */
Op *merge_fuse_loops(Kernel *k, Arena *arena, Op **loops, int count, Builder *b);

/* merge_roles.c: warpgroups that meet at barriers become one program; did they? */
bool merge_roles(PassContext *cx, Kernel *k);
/* merge_threads.c: regions of threads become element loops; did any? */
bool merge_threads(PassContext *cx, Kernel *k);
/* merge_written.c: regions of threads, and workers, that stay as they are written. */
void merge_written(PassContext *cx, Kernel *k, Op *spmd, const char *why, Range where);
void merge_workers_written(PassContext *cx, Kernel *k, const Op *spmd);
bool merge_may_write(const PassContext *cx, const Kernel *k, const Op *spmd);
/* Why threads had better run as they are written, and where that is seen; NULL: they need not. A thread writes an array
 * of its own element by element, in a loop whose length another one makes (a butterfly, a sort), or in one that shows
 * the elements to others: as tiles each step would be a way of whole arrays through shared memory. */
const char *merge_had_better(const PassContext *cx, const Kernel *k, const Op *spmd, Range *where);
/* Tiles that workers share, and make inside, are made in front of them. */
void merge_share_outside(PassContext *cx, Kernel *k);
/* Workers that share a region get one each, with their number known; the op as it is then. */
Op *merge_workers_apart(PassContext *cx, Kernel *k, Op *spmd);
/* merge_barriers.c: barriers of a program that one worker runs are proved, and go; did any? */
bool merge_barriers(PassContext *cx, Kernel *k);

/* The merged value of an old operand; views are cut from their field there (merge_workers.c). */
bool merge_value_of(Merge *m, const Op *user, Ref old, Ref *out);
void merge_bind(Merge *m, Ref old, Ref made, bool stacked);
bool merge_is_stacked(const Merge *m, Ref made); /* is it a tile of all workers, one above the other? */
void merge_set_stacked(Merge *m, Ref made);
const Type *merge_stacked_type(const Merge *m, const Type *type);
/* How much it grows from worker to worker; false: that is no constant. */
bool merge_worker_step(Merge *m, Ref r, int64_t *step);

/* merge_stack.c */
Ref merge_stack_same(Merge *m, Ref value);
bool merge_plain(Merge *m, const Op *op); /* pure ops */
bool merge_splat(Merge *m, const Op *op);

/* merge_tasks.c: `tasks while` becomes the programs of a grid; the header's values are in m->map afterwards. */
bool merge_tasks(Merge *m);

/* merge_shared.c: which buffers need a copy for each worker, if these run one after the other; false: they exchange. */
typedef VEC(Op *) SharedBuffers;
bool merge_shared(Merge *m, const Op *spmd, const Op *items, SharedBuffers *copies);

/* merge_loop.c: the tasks as a loop: the header's values and what else is carried, of a trip. */
enum { MERGE_MOST_VALUES = 64 };
typedef struct TaskLoop {
    Op *op;
    Builder inside;
    const Ref *values, *carried;
    int carried_count;
} TaskLoop;
TaskLoop merge_open_tasks(Merge *m, Builder *b, const Ref *carried, int count);
void merge_close_tasks(Merge *m, TaskLoop *loop, const Ref *carried);
void merge_task_grid(Merge *m); /* as many programs as share them out */
bool merge_tasks_end(Merge *m); /* else a reason why they never do, or why they cannot be a loop */

/* merge_keep.c: roles and rings as they are written: workers side by side, tiles and barriers. */
bool merge_keep(Merge *m);

/* elide.c: the workers one after the other, every hand-over a plain copy. */
bool merge_elide(Merge *m);

/* merge_views.c */
bool merge_find_fields(Merge *m);                            /* fields, their puts, views of them, and their layout */
RingField *merge_field(const Merge *m, const Op *hand_over); /* that a put or get names */
const View *merge_view(const Merge *m, Ref old);
/* The box of the merged field that a view is, as it lies there. */
typedef struct FieldBox {
    int64_t row, col, rows, cols;
    bool turned; /* the view is its transposition */
} FieldBox;
/* False if it is no box of it. */
bool merge_place(const Merge *m, const View *view, FieldBox *box);
/* Distance in rows or columns of the merged field between neighbours along a dimension; 0 if it is
 * in the other list. */
int64_t merge_stride(const RingField *field, const DimList *list, int dim);
int64_t merge_extent(const RingField *field, const DimList *list);
#endif
