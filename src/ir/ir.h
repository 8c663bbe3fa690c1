/* SPDX-License-Identifier: Apache-2.0 */
/* ir.h: Tile IR in memory.
 *
 * A Module owns types and kernels; all of it lives in one arena. A kernel is structured SSA: a region is a list of ops
 * closed by a terminator; an op has attributes, operands, results and regions; a use sees what was defined earlier in
 * its own or an outer region. There are no blocks, branches or phis, so dominance is position and cloning is a copy
 * with a map of references.
 *
 * An operand is a 32-bit Ref: a value, an interned literal, or 0 for "none". Types are interned: equal types are equal
 * pointers. Every op keeps the range of source text that it came from.
 *
 * Meaning of the ops: docs/ir.md; the table: ops.def, attrs.def, types.def. Building: build.h. */
#ifndef IR_IR_H
#define IR_IR_H
#include "base/diag.h"
#include "base/map.h"

/* --- element types (types.def) --- */
typedef enum Elem {
#define ELEM(id, text, bits, cls, doc) EL_##id,
#include "ir/types.def"
#undef ELEM
    EL_COUNT
} Elem;
typedef enum ElemClass { CLASS_BOOL, CLASS_INT, CLASS_UINT, CLASS_FLOAT } ElemClass;
typedef struct ElemInfo {
    const char *text;
    int bits;
    ElemClass cls;
    int bytes; /* in memory */
} ElemInfo;
extern const ElemInfo elem_info[EL_COUNT];
static inline bool elem_is_float(Elem e) { return elem_info[e].cls == CLASS_FLOAT; }
static inline bool elem_is_signed(Elem e) { return elem_info[e].cls == CLASS_INT; }
static inline bool elem_is_int(Elem e) { return elem_info[e].cls == CLASS_INT || elem_info[e].cls == CLASS_UINT; }

/* The nearest value of a float type, ties to even; f8 types saturate, the others overflow to infinity. */
double elem_round(Elem elem, double value);

/* --- enumerations and attributes (attrs.def) --- */
// clang-format off
typedef enum WordSet {
    WS_NONE, WS_CMP, WS_COMBINE, WS_ROUND, WS_NAN, WS_MATH, WS_SEM, WS_REACH, WS_CACHE, WS_EVICT, WS_SCOPE,
    WS_UNIT, WS_PREC, WS_INSTR, WS_KERNEL, WS_LIFE, WS_MOVER, WS_VIA, WS_HELD, WS_BY, WS_ORDER, WS_ROLE,
    WS_MEANS, WS_ARRIVE, WS_HALF, WS_ACROSS, WS_AMONG, WS_OWN, WS_FETCH, WS_ATOMIC, WS_HINT, WS_SYNC, WS_PROXY,
    WS_POLICY, WS_WALK,
    WS_COUNT
} WordSet;
// clang-format on
/* One enumeration constant a word, counting over all sets: CMP_LT, COMBINE_ADD, ... */
typedef enum Word {
    WORD_NONE,
#define WORD(set, id, text) set##_##id,
#include "ir/attrs.def"
    WORD_COUNT
} Word;
typedef struct WordInfo {
    WordSet set;
    const char *text;
} WordInfo;
extern const WordInfo word_info[WORD_COUNT];

typedef enum AttrSays { SAYS_VALUE, SAYS_STAMP, SAYS_HINT, SAYS_PLAN, SAYS_SCHEDULE } AttrSays;
typedef enum AttrKind { ATTR_FLAG, ATTR_INT, ATTR_INTS, ATTR_ENUM, ATTR_TEXT, ATTR_REF } AttrKind;
typedef enum AttrId {
    AT_NONE,
#define ATTR(id, text, kind, set, least, most, says, doc) AT_##id,
#include "ir/attrs.def"
    AT_COUNT
} AttrId;
typedef struct AttrInfo {
    const char *id, *text; /* "AXIS", "axis" */
    AttrKind kind;
    WordSet set;
    int64_t least, most; /* of a number */
    AttrSays says;
    const char *doc;
} AttrInfo;
extern const AttrInfo attr_info[AT_COUNT];
/* Does the attribute decide what the op computes? Ops that differ in others alone have equal results. */
bool attr_decides_value(AttrId id);

typedef uint32_t Ref;
enum { REF_NONE = 0 };
#define REF_LITERAL 0x80000000u

typedef struct IntList {
    int count;
    const int64_t *at;
} IntList;
typedef struct Attr {
    AttrId id;
    union {
        int64_t number; /* INT; FLAG: 1 */
        Word word;      /* ENUM */
        IntList list;   /* INTS */
        const char *text;
        Ref ref;
    };
} Attr;

/* --- types --- */
enum { MAX_RANK = 12, MAX_TILE_ELEMENTS = 1 << 20, MAX_MAP_OPERANDS = 64, MAX_MAP_RESULTS = 16 };
/* Of ring form, which the checker holds it to; a Tensix core has 32 circular buffers. A kernel has one role of each
 * name. */
enum { MAX_RINGS = 32, MAX_RING_FIELDS = 32, MAX_ROLES = ROLE_STORE - ROLE_LOAD + 1, MAX_SLOTS = 1024 };
typedef enum TypeKind { TY_TILE, TY_TENSOR, TY_BUFFER, TY_RING, TY_SLOT, TY_BAR } TypeKind;
typedef struct Type Type;
typedef struct Field {
    const char *name;
    const Type *type; /* a tile or scalar */
} Field;
struct Type {
    TypeKind kind;
    Elem elem;                /* TILE, TENSOR, BUFFER; of a pointer: what it points to */
    bool pointer;             /* TILE: the elements are pointers */
    int rank;                 /* TILE (0 = scalar), TENSOR, BUFFER */
    int64_t extent[MAX_RANK]; /* TILE, BUFFER */
    Word scope;               /* BUFFER: SCOPE_SHARED ... */
    int field_count;          /* RING */
    const Field *fields;
    const Type *ring; /* SLOT: its ring */
};

/* --- values, ops, regions --- */
typedef struct Op Op;
typedef struct Region Region;
typedef struct Kernel Kernel;
typedef struct Module Module;
struct Layout; /* tile_layout.h: where the elements of a tile live */

typedef struct Value {
    const Type *type;
    Op *op;                      /* that defines it; NULL for arguments of a region */
    Region *region;              /* whose argument it is; NULL for results */
    int index;                   /* among the results or arguments */
    const char *name;            /* without %; may be NULL. The printer makes names unique. */
    const struct Layout *layout; /* layout form only: of a tile, or of the fields of a ring */
} Value;

typedef struct Literal {
    const Type *type; /* a scalar */
    union {
        int64_t i; /* integers, also unsigned (bits), and i1 (0 or 1) */
        double f;  /* exactly representable in the type */
    };
} Literal;

typedef enum Opcode {
    OP_NONE,
#define OP(id, mnemonic, operands, result, traits, attrs, eval, doc) OP_##id,
#include "ir/ops.def"
#undef OP
    OP_COUNT
} Opcode;

// clang-format off
typedef enum ResultRule {
    RES_NONE, RES_GIVEN, RES_SAME, RES_BOOL, RES_I32, RES_I64, RES_FIRST, RES_LAST, RES_IOTA, RES_PTR_ADD,
    RES_EXPAND, RES_PERMUTE, RES_JOIN, RES_SPLIT, RES_CAT, RES_GATHER, RES_REDUCE, RES_MAP, RES_ASM, RES_HISTOGRAM,
    RES_POINTEE, RES_TENSOR, RES_POINTER, RES_BAR, RES_SLOT, RES_FIELD, RES_REGION
} ResultRule;
// clang-format on

typedef enum Trait {
    TRAIT_PURE = 1,
    TRAIT_ELEMENTWISE = 2,
    TRAIT_READS = 4,
    TRAIT_WRITES = 8,
    TRAIT_SYNC = 16,
    TRAIT_TERMINATOR = 32,
    TRAIT_REGIONS = 64,
    TRAIT_LAUNCH = 128
} Trait;

typedef struct OpInfo {
    const char *id, *mnemonic;
    const char *operands; /* ops.def's mini-language */
    ResultRule result;
    const char *traits; /* letters of ops.def */
    const char *attrs;  /* "(AXIS | NAN BITS)" */
    const char *doc;
} OpInfo;
extern const OpInfo op_info[OP_COUNT];
bool word_compares(Word predicate, int64_t x, int64_t y); /* x < y for CMP_LT, and so on */
bool op_has(Opcode code, Trait trait);              /* E implies P */
bool op_allows_attr(Opcode code, AttrId id);        /* OP_NONE: of a kernel */
bool op_attr_is_positional(Opcode code, AttrId id); /* written without its name */
AttrId op_missing_attr(Opcode code, const Op *op);  /* the first positional one that the op lacks, or AT_NONE */

struct Op { /* what walks look at first: they wait for memory, not for work */
    Opcode code;
    int operand_count, result_count, region_count, attr_count;
    Op *next;
    Region *parent;
    Ref *operands; /* flat, an absent optional operand is REF_NONE */
    Attr *attrs;
    Ref *results;
    Region **regions;
    Op *previous;
    Op *previous_fact, *next_fact; /* of its region; see Region */
    int list_count[2];             /* lengths of the bracketed lists, in order */
    Range range;
};

struct Region {
    Op *first, *last;
    Op *first_fact; /* its `assume`s and `require`s, in no order: they are asked for often */
    Op *owner;      /* NULL for a kernel's own regions */
    int arg_count;
    Ref *args;
};

typedef enum Form { FORM_SOURCE, FORM_TILE, FORM_ACCESS, FORM_RING, FORM_LAYOUT, FORM_SCHEDULE } Form;

struct Kernel {
    Module *module;
    const char *name;
    Range range;
    Region *body; /* its arguments are the kernel's parameters: scalars, pointers, tensors, named as in the source */
    Region
        *grid; /* NULL, or: computes the grid from the same-named parameters (its own arguments); yields 1 to 3 i32 */
    int attr_count;
    Attr *attrs;           /* WARPS, STAGES: what the source or the launch asked for */
    VEC(Value) values;     /* index = Ref; 0 unused */
    VEC(Literal) literals; /* index = Ref & ~REF_LITERAL */
    Map literal_map;
    bool has_tasks; /* some were made: a flat kernel is not looked through for them by every pass */
    Form form;
};

struct Module {
    Arena *arena;
    Trap *trap;
    Diag *diag;
    SourceMap *sources;
    Map types;
    VEC(Kernel *) kernels;
};

Module *ir_module_new(Arena *arena, Diag *diag, SourceMap *sources);
Kernel *ir_kernel_new(Module *module, const char *name, Range range);
Kernel *ir_kernel_find(const Module *module, const char *name);

/* --- types: interned --- */
const Type *ty_scalar(Module *m, Elem elem);
const Type *ty_pointer(Module *m, Elem elem);
const Type *ty_tile(Module *m, Elem elem, int rank, const int64_t *extent);
const Type *ty_pointer_tile(Module *m, Elem elem, int rank, const int64_t *extent);
const Type *ty_tensor(Module *m, Elem elem, int rank);
const Type *ty_buffer(Module *m, Elem elem, int rank, const int64_t *extent, Word scope);
const Type *ty_ring(Module *m, int field_count, const Field *fields);
const Type *ty_slot(Module *m, const Type *ring);
const Type *ty_bar(Module *m);
/* The same shape (tile or buffer) with another element; with other extents. */
const Type *ty_with_elem(Module *m, const Type *type, Elem elem);
const Type *ty_with_shape(Module *m, const Type *type, int rank, const int64_t *extent);
int64_t ty_elements(const Type *type); /* product of the extents */
bool ty_same_shape(const Type *a, const Type *b);
int ty_elem_bytes(const Type *type); /* 8 for pointers */
static inline bool ty_is_scalar(const Type *t) { return t->kind == TY_TILE && t->rank == 0; }
static inline bool ty_is_number(const Type *t) { return t->kind == TY_TILE && !t->pointer; }
/* The type that an elementwise op gives two shapes; NULL when they do not fit. Scalars and extents of 1 at equal rank
 * broadcast; the element type is a's. */
const Type *ty_broadcast(Module *m, const Type *a, const Type *b);
char *ty_text(const Type *type, Arena *arena);

/* --- references --- */
static inline bool ref_is_literal(Ref r) { return (r & REF_LITERAL) != 0; }
static inline bool ref_is_value(Ref r) { return r != REF_NONE && !ref_is_literal(r); }
static inline Value *ir_value(const Kernel *k, Ref r) { return &k->values.at[r]; }
static inline const Literal *ir_literal(const Kernel *k, Ref r) { return &k->literals.at[r & ~REF_LITERAL]; }
static inline const Type *ir_type(const Kernel *k, Ref r) {
    return ref_is_literal(r) ? ir_literal(k, r)->type : ir_value(k, r)->type;
}
Ref ir_literal_int(Kernel *k, const Type *scalar, int64_t value);  /* wrapped to the type */
Ref ir_literal_float(Kernel *k, const Type *scalar, double value); /* rounded to the type */
/* True and the value if the reference is a literal integer (or i1). */
bool ir_const_int(const Kernel *k, Ref r, int64_t *value);
bool ir_is_zero(const Kernel *k, Ref r); /* is it, or each element of it, 0? All bits: -0.0 is another number */
/* The box of its buffer that a bload reads; are the matrices of it side by side in what the op gives? */
const Type *ir_box_of(const Kernel *k, const Op *bload);
bool ir_is_beside(const Kernel *k, const Op *bload);
bool ir_fills_zero(const Kernel *k, const Op *load); /* is what it reads outside of its tensor 0? */

/* --- attributes of an op (or of a kernel) --- */
const Attr *op_attr(const Op *op, AttrId id); /* NULL when absent */
int64_t op_int(const Op *op, AttrId id, int64_t otherwise);
Word op_word(const Op *op, AttrId id, Word otherwise);
const char *op_text(const Op *op, AttrId id); /* NULL when absent */
bool op_flag(const Op *op, AttrId id);
bool op_is_transpose(const Op *op);        /* a permute of two axes that turns them */
void op_set(Kernel *k, Op *op, Attr attr); /* adds or replaces */
void op_drop(Op *op, AttrId id);
const Attr *kernel_attr(const Kernel *k, AttrId id); /* NULL when absent */
int64_t kernel_int(const Kernel *k, AttrId id, int64_t otherwise);
const char *kernel_text(const Kernel *k, AttrId id); /* NULL when absent */
void kernel_set(Kernel *k, Attr attr);

/* --- operands by group (ops.def's mini-language) --- */
/* The operand of the n-th group that is no list; list n of the op. */
Ref op_operand(const Op *op, int group);
typedef struct RefList {
    int count;
    Ref *at;
} RefList;
RefList op_list(const Op *op, int list);

/* --- boxes of tensors: tload, tstore, tatomic --- */
/* The dimension of the tensor that an axis of the box runs along; the axis that runs along a dimension, -1: none. */
int box_dim(const Op *op, int tensor_rank, int box_rank, int axis);
int box_axis(const Op *op, int tensor_rank, int box_rank, int dim);
bool box_wraps(const Op *op, int dim); /* is the index along that dimension taken modulo the extent? */
/* The number of an index vector that is outside of every tensor: of one without an extent, too. */
#define INDEX_OUTSIDE INT64_MIN
/* Is an offset an index vector? Then it is no box in memory: its places may lie anywhere, in any order, twice. */
bool box_is_indexed(const Kernel *k, const Op *op);

/* --- text: printer and parser (print.c, parse.c), verifier (verify.c) --- */
char *ir_print(const Kernel *k, Arena *arena);
/* Parses every kernel of the file into the module; false after errors (in the module's diag). */
bool ir_parse(Module *m, const SourceFile *file);
/* Checks types, dominance, terminators, forms; false with a diagnostic (an internal one when a pass made it). */
bool ir_verify(const Kernel *k, Form form, Diag *diag);
/* Computes result types from operands, attributes and (GIVEN) given; false with the reason in *why. */
bool ir_infer(Kernel *k, const Op *op, const Type *given, const Type **results, int *result_count, const char **why);
/* The table as a Markdown page. */
char *ir_manual(Arena *arena);
#endif
