/* SPDX-License-Identifier: Apache-2.0 */
/* interp_core.h: what the files of the interpreter share; nobody else includes it.
 *
 * A kernel is prepared once: each op becomes a Step with its function (ops.def's eval column), its
 * regions Blocks of steps. A Process is one thread of control with its own values: the program of a
 * flat kernel, a role, a worker of an spmd region. A value is a Cell, counted by reference: loops
 * and yields hand cells on without copying; a cell that only its own value refers to is written
 * again when its op runs again, and large ones go back to the pool after their last use.
 *
 *     void eval_neg(Process *p, Step *s) {
 *         Operand x = operand(p, s, 0);
 *         Cell *out = define(p, s, 0);
 *         ...
 *     }
 *
 * Elements lie row-major in their own width (i1 a byte, pointers 8). Under `sanitize` a cell may
 * have a shadow, a byte an element, that says what is wrong with it. */
#ifndef IR_INTERP_INTERP_CORE_H
#define IR_INTERP_INTERP_CORE_H
#include "base/fiber.h"
#include "ir/element.h"
#include "ir/interp/interp.h"

typedef struct Interp Interp;
typedef struct Process Process;
typedef struct Step Step;
typedef struct RingState RingState;

/* --- values --- */
enum {
    SHADOW_UNWRITTEN = 1,
    SHADOW_WRAPPED = 2, /* signed arithmetic overflowed */
    SHADOW_KINDS = 3,
    SHADOW_SITE = 2, /* from this bit on: the number of the division by zero it comes from */
    SHADOW_SITES = 63
};
typedef struct Cell {
    int32_t refs;
    uint8_t size_class;
    bool released;       /* a view of a ring's slot that was given back */
    bool pinned;         /* storage of a slot or a buffer: shape ops must not share it */
    const RingState *of; /* views: the ring, and the item */
    int64_t item;
    void *data;
    uint8_t *shadow; /* NULL: all elements are sound */
    struct Cell *shadow_cell, *next;
    void *touched; /* of a buffer that workers share, sanitized: who was there (interp_race.c) */
} Cell;

typedef struct TensorValue {
    uint64_t base;
    int64_t extent[MAX_RANK], stride[MAX_RANK];
    bool unbounded[MAX_RANK]; /* nothing is outside along it; its extent is INT64_MAX */
} TensorValue;
typedef struct SlotValue {
    RingState *ring;
    int64_t item;
    bool producing;
} SlotValue;
typedef struct BarValue {
    int64_t count, pending, bytes, phase;
    int64_t bars; /* how many it is the first of */
} BarValue;

/* --- prepared code --- */
typedef struct Block {
    Step *steps; /* without the terminator */
    int count;
    Step *end; /* yield, test, return; NULL when the region has none */
    const Region *region;
} Block;
struct Step {
    const Op *op;
    void (*eval)(Process *p, Step *s);
    Block *blocks;
    int drop_count;
    Ref *drops;                 /* large values that nobody uses after this step */
    int64_t cost;               /* what it takes from the budget */
    struct ReportLink *reports; /* made here */
    int root;                   /* accesses: the parameter it goes through, from 1; 0 not known yet, -1 none */
    int index;                  /* ring, role: its number */
    void *plan;                 /* what the eval function computed from the types once */
};

/* --- rings --- */
/* Who works on a ring: how many processes of each role, found in the text. Role 0 is "none". */
typedef struct RingUse {
    Ref ring;
    int produce[MAX_ROLES + 1], consume[MAX_ROLES + 1];
    int producers, consumers;
} RingUse;
typedef struct Party {
    int64_t taken, given; /* producer: acquired, committed; consumer: waited, released */
} Party;
typedef struct RingItem {
    Cell **fields;
    int64_t item; /* whose data it holds, -1: none */
} RingItem;
struct RingState {
    const RingUse *use;
    const Step *step;
    const Type *type;
    const char *name;
    int64_t slots;
    bool once; /* life=kernel: one item in all */
    Party *producers, *consumers;
    RingItem *items;
};

/* --- processes --- */
typedef enum WaitKind { WAIT_NOTHING, WAIT_EMPTY, WAIT_FULL, WAIT_SYNC, WAIT_BAR, WAIT_CHILDREN } WaitKind;
typedef struct Barrier { /* one use of sync by some processes */
    int64_t arrived, needed, generation;
    int64_t clock; /* of those that took part, behind it */
} Barrier;
typedef struct Wait {
    WaitKind kind;
    Step *step;
    RingState *ring;
    int party;
    Barrier *barrier;
    BarValue *bar;
    struct Team *team;
    int64_t number; /* generation or parity */
} Wait;
/* What the processes of one worker of a ring form, or of one program, have in common. */
typedef struct Instance {
    RingState **rings; /* by the ring's number */
    int64_t worker;
    int64_t program[3];
} Instance;
/* The workers of one spmd region. */
typedef struct Team {
    int64_t size, lane_threads; /* threads that one worker stands for */
    bool threads;               /* messages call them that */
    int64_t clock;              /* of the latest barrier */
    int64_t running;
    Map barriers; /* by group and id */
    Map shared;   /* buffers made inside, by the value's number */
    Map exchanges; /* by warp: what its workers show each other (shfl) */
} Team;
struct Process {
    Interp *in;
    Cell **cells; /* by Ref */
    Instance *instance;
    Step *role; /* NULL: not a role */
    Team *team;
    int64_t lane, clock; /* its number; of the latest barrier that it took part in */
    int64_t party;          /* its number among those that work on a ring for its role */
    int64_t task[MAX_RANK]; /* indices for messages: the program, or the task */
    int task_rank;
    bool in_task;
    uint32_t writer; /* this program's number among all, from 1 */
    Fiber *fiber;    /* NULL: runs on the caller's stack */
    Trap trap;
    Wait wait;
    bool done;
    Block *code;   /* what its fiber runs */
    Process *next; /* idle */
};

/* What is known of the bytes of a region (interp_shadow.c). */
typedef struct MemoryShadow {
    struct ShadowPage **pages; /* NULL: never touched */
} MemoryShadow;

/* A division by zero whose result nobody has relied on yet. */
typedef struct DivisionSite {
    Step *step;
    int64_t element; /* the first one, of the latest program */
} DivisionSite;

/* A kind of mistake at a place of the source: said once, counted. */
typedef struct Report {
    DiagId id;
    Range range;
    int64_t count;
    size_t message; /* its place in the diag, from 1; 0: it was not kept */
} Report;
/* The reports of a step; a line that became several steps has one. */
typedef struct ReportLink {
    Report *report;
    struct ReportLink *next;
} ReportLink;

/* A copy under way (async_copy with a barrier). */
typedef struct Landing {
    Cell *staged, *buffer, *bar;
    const Type *type; /* of the buffer */
    int64_t bytes;
} Landing;

enum { CELL_CLASSES = 40 };
struct Interp {
    const InterpLaunch *launch;
    const Kernel *kernel;
    Arena arena;
    Trap trap;
    Diag *diag;
    Cell **literals;
    Block body;
    Cell *free[CELL_CLASSES];
    int ring_count, role_count;
    RingUse *uses;
    VEC(Process *) processes;
    VEC(Landing) landings;
    MemoryShadow *shadows;
    uint8_t *data; /* by Ref: made from tiles that were read; numbers, not indices */
    int *home;     /* by parameter: the region its pointer lies in, or -1 */
    Map syncs;     /* by program: whom it is ordered behind */
    int site_count;
    DivisionSite sites[SHADOW_SITES + 1]; /* from 1 */
    VEC(Report *) reports;
    size_t printed;      /* bytes */
    size_t memory_limit; /* bytes of values and shadows; 0: none */
    int last_region;
    uint64_t random;
    int64_t budget;   /* left */
    int64_t work;     /* of the program so far, in steps */
    int until_look;   /* steps until `cancel` is looked at */
    Process *idle;    /* ended ones, for the next */
    Process *current; /* whose fiber runs */
    bool by_task;     /* `tasks in`: there is no program of its own */
    bool fibers;      /* roles or spmd regions: coroutines are needed */
    bool failed;
};

typedef struct Operand {
    const Type *type;
    Elem elem; /* as stored */
    Cell *cell;
    void *data;
} Operand;

/* --- interp_value.c: cells --- */
Cell *cell_new(Interp *in, size_t bytes); /* not cleared */
/* Before so many bytes more are taken: stops the launch at its limit. */
void interp_limit(Interp *in, size_t more);
void cell_release(Interp *in, Cell *cell);
static inline Cell *cell_retain(Cell *cell) {
    cell->refs++;
    return cell;
}
/* The shadow of a cell of so many elements; made, all sound, when it has none. */
uint8_t *cell_shadow(Interp *in, Cell *cell, int64_t elements);
void cell_drop_shadow(Interp *in, Cell *cell);
size_t value_bytes(const Type *type);
/* Fills with what nobody should rely on: NaN, -1, true. */
void value_poison(void *data, const Type *type);
/* The cell of an operand; reports a view that is used after its release. */
void ev_bad_use(Process *p, Step *s, Ref ref); /* a value that is not there, or no longer */
static inline Cell *ev_use(Process *p, Step *s, Ref ref) {
    if (ref_is_literal(ref)) return p->in->literals[ref & ~REF_LITERAL];
    Cell *cell = p->cells[ref];
    if (!cell || cell->released) ev_bad_use(p, s, ref);
    return cell;
}
static inline Operand ev_operand_of(Process *p, Step *s, Ref ref) {
    Cell *cell = ev_use(p, s, ref);
    const Type *type = ir_type(p->in->kernel, ref);
    return (Operand){type, elem_stored(type), cell, cell->data};
}
static inline Operand ev_operand(Process *p, Step *s, int i) { return ev_operand_of(p, s, s->op->operands[i]); }
int64_t ev_scalar(Process *p, Step *s, Ref ref); /* an integer or i1 */
/* The cell of the i-th result (of a value), ready to be written whole. */
Cell *ev_define_ref(Process *p, Ref ref);
static inline Cell *ev_define(Process *p, Step *s, int i) { return ev_define_ref(p, s->op->results[i]); }
void ev_assign(Process *p, Ref ref, Cell *cell); /* takes over a reference */
/* Binds an integer to a value, such as a loop variable. */
void ev_bind(Process *p, Ref ref, int64_t x);

/* --- interp_prepare.c --- */
void interp_prepare(Interp *in, const Region *region);

/* --- eval_control.c --- */
void ev_run(Process *p, Block *block);
/* The i-th of count things in an order that the seed chooses; 0 keeps the order. */
typedef struct Permutation {
    uint64_t offset, stride, count;
} Permutation;
Permutation permutation_new(Interp *in, uint64_t count);
static inline uint64_t permutation_at(const Permutation *q, uint64_t i) {
    return (uint64_t)((q->offset + (unsigned __int128)i * q->stride) % q->count);
}

/* --- interp_process.c --- */
uint64_t interp_random(Interp *in);
void interp_set_trap(Interp *in, Trap *trap);
Process *process_new(Interp *in, Instance *instance);
void process_free(Process *p);
void process_start(Process *p); /* on a stack of its own, beside the others */
/* Returns when the wait is over; a deadlock does not come back. */
void process_wait(Process *p, Wait wait);
void process_pause(Process *p);          /* the seed may let others go first */
void processes_run(Interp *in);          /* until all are done */
void processes_end(Interp *in);          /* drops those that are not */
_Noreturn void process_stop(Interp *in); /* the launch ends; why was reported */

/* --- interp_report.c --- */
/* Once a place and kind, with the row's arguments behind the step; then the launch stops unless it sanitizes. */
#define EV_REPORT(p, s, id, ...)                                                         \
    do {                                                                                 \
        Report *report_ = report_begin((p)->in, (s), (id));                              \
        if (report_) {                                                                   \
            size_t before_ = (p)->in->diag->messages.count;                              \
            diag_emit((p)->in->diag, (id), (s)->op->range, __VA_ARGS__);                 \
            if ((p)->in->diag->messages.count > before_) report_->message = before_ + 1; \
        }                                                                                \
        report_after(p);                                                                 \
    } while (0)
_Noreturn void ev_refuse(Process *p, Step *s, const char *what); /* "the interpreter does not run .." */
Report *report_begin(Interp *in, Step *s, DiagId id);            /* NULL: said before, and counted */
void report_after(Process *p);
void report_counts(Interp *in);                          /* at the end: how often each was met */
const char *report_process(Process *p);                  /* "program (1, 0, 0)", "role `load`, task (3)" */
const char *report_program(Interp *in, uint32_t writer); /* the same, by the number of a writer */
const char *report_element(Interp *in, const Type *type, int64_t index); /* "[3, 5]" */
_Noreturn void report_deadlock(Interp *in, Process *alone);              /* NULL: all that are left */

/* --- eval_elementwise.c --- */
/* How operands lie under the shape of a result: extents merged where possible, strides in elements,
 * 0 where an operand repeats. */
typedef struct Walk {
    int rank, count;
    int64_t extent[MAX_RANK];
    int64_t stride[4][MAX_RANK];
    int64_t rows; /* product of all extents but the last */
} Walk;
Walk walk_new(Interp *in, const Type *shape, int count, const Type *const *types);
void walk_row(const Walk *w, int64_t row, int64_t *offsets);    /* of the operands at the row's start */
int64_t walk_offset(const Walk *w, int operand, int64_t index); /* of one element of the shape */
/* What two elements combine to, in reductions and atomics; kind is one of COMBINE_. */
int64_t combine_i64(Elem elem, Word kind, int64_t x, int64_t y);
float combine_f32(Elem elem, Word kind, bool keep_nan, float x, float y);
double combine_f64(Word kind, bool keep_nan, double x, double y);

/* --- eval_shape.c --- */
/* Copies a box of elements; strides in elements. */
void box_copy(void *to, const int64_t *to_stride, const void *from, const int64_t *from_stride, int rank,
              const int64_t *extent, int bytes);
void row_major(const Type *type, int64_t *stride);
/* Where a box begins inside something of that shape, in elements; stops with a report when it does not lie in it. */
int64_t box_offset(Process *p, Step *s, RefList at, const Type *whole, const Type *box);
/* The box between a cell of shape `whole` at the offset and a cell of shape `box`, with shadows. */
void box_move(Interp *in, Cell *whole_cell, const Type *whole, int64_t offset, Cell *box_cell, const Type *box,
              bool into_whole);
/* Out of the whole, to elements so far apart. */
void box_gather(Interp *in, Cell *whole_cell, const Type *whole, int64_t offset, Cell *box_cell, const Type *box,
                const int64_t *strides);

/* --- eval_memory.c --- */
/* The box that tload or async_copy reads, row-major into the cell. */
void memory_load_box(Process *p, Step *s, const Type *box, Ref mask, Cell *out);
/* What is at the place combines with the value; the old one goes to `old`, unless that is NULL. */
void memory_combine(Word kind, Elem elem, void *place, const void *value, void *old);

/* --- interp_memory.c: is the access allowed? --- */
typedef enum MemoryUse {
    MEMORY_READ,
    MEMORY_WRITE,
    MEMORY_POLL,    /* a volatile read: others may write meanwhile */
    MEMORY_UPDATE,  /* an atomic that reads and writes */
    MEMORY_EXCHANGE /* one that writes, whatever was there */
} MemoryUse;
/* May all these bytes be touched? Says nothing where not. */
bool memory_allows(Process *p, Step *s, uint64_t address, uint64_t bytes);
bool memory_access(Process *p, Step *s, uint64_t address, int bytes, MemoryUse use, const Type *type, int64_t element);
void memory_open(Interp *in); /* before the first program */

/* --- interp_shadow.c --- */
void shadow_access(Process *p, Step *s, int region, uint64_t offset, int bytes, MemoryUse use, const Type *type,
                   int64_t element);

/* --- interp_sanitize.c --- */
void sanitize_elementwise(Process *p, Step *s, const Walk *walk, const Operand *operands, Cell *out);
/* Reports elements that the step must not rely on. */
void sanitize_use(Process *p, Step *s, const Operand *x);
/* The same for one element that an active lane uses; a number that wrapped is wrong in an address
 * and in a mask, but not as a value. */
typedef enum ElementUse { USE_ADDRESS, USE_MASK, USE_VALUE } ElementUse;
void sanitize_element(Process *p, Step *s, const Operand *x, int64_t at, ElementUse use);

/* --- eval_buffer.c --- */
/* Arrivals and bytes come in on an mbarrier; a phase ends when nothing is missing. */
void bar_count(BarValue *bar, int64_t arrivals, int64_t bytes);

/* --- interp_race.c --- */
typedef enum RaceUse { RACE_READ, RACE_WRITE, RACE_ATOMIC } RaceUse;
/* Reports a worker that touches the element of a buffer without a barrier behind what another one did there; value:
 * what it writes. */
void race_access(Process *p, Step *s, Cell *buffer, int64_t at, RaceUse use, const void *value);

/* --- eval_ring.c --- */
bool ring_ready(const Wait *wait);
int64_t ring_item(const Wait *wait); /* that it waits for */
const char *ring_counters(Interp *in, const RingState *ring);
/* The worker is done: reports items left over, and empties its rings. */
void ring_end(Interp *in, Instance *instance);

/* --- every eval function of ops.def --- */
#define OP(id, mnemonic, operands, result, traits, attrs, eval, doc) void eval_##eval(Process *p, Step *s);
#include "ir/ops.def"
#undef OP
#endif
