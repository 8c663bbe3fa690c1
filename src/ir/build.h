/* SPDX-License-Identifier: Apache-2.0 */
/* build.h: making and changing IR.
 *
 * A Builder points at a place; ops go in before `before`, or at the end of the region. Simple ops have one-line makers:
 *
 *     Ref sum = ir_binary(&b, OP_ADD, x, y);
 *
 * Anything else in three steps, so that attributes are there when the type is inferred:
 *
 *     Op *op = ir_begin(&b, OP_REDUCE);
 *     ir_operand(&b, op, x);
 *     op_set(b.kernel, op, (Attr){.id = AT_AXIS, .number = 0});
 *     Ref r = ir_end(&b, op, NULL);            the first result, or REF_NONE
 *
 * Makers trust their caller: a type error here is an internal fault (ice), since the doors check first. */
#ifndef IR_BUILD_H
#define IR_BUILD_H
#include "ir/ir.h"

typedef struct Builder {
    Module *module;
    Kernel *kernel;
    Region *region;
    Op *before;  /* NULL: append */
    Range range; /* given to every op made */
} Builder;

Builder ir_builder(Kernel *k, Region *region);               /* appends to the region */
Builder ir_builder_before(Kernel *k, Op *op);                /* inserts before op, with its range */
Builder ir_builder_behind(Kernel *k, Op *op);                /* the same behind it */
Builder ir_builder_inside(const Builder *b, Region *region); /* appends to region, same range */

Op *ir_begin(Builder *b, Opcode code);
void ir_operand(Builder *b, Op *op, Ref operand); /* REF_NONE for an absent optional one */
void ir_operand_list(Builder *b, Op *op, int list, const Ref *operands, int count); /* list 0 or 1 */
Region *ir_region(Builder *b, Op *op);                                              /* adds a region */
Ref ir_argument(Kernel *k, Region *region, const Type *type, const char *name);
Ref ir_end(Builder *b, Op *op, const Type *given); /* infers, makes results, inserts */
/* For RES_REGION ops whose result types the caller knows (if; while). */
Ref ir_end_results(Builder *b, Op *op, int count, const Type *const *types);

/* --- makers --- */
/* Each puts an op in: two of them are never arguments of one call, whose order is the compiler's to choose, and with it
 * the order of the ops. */
Ref ir_int(Builder *b, Elem elem, int64_t value);
Ref ir_float(Builder *b, Elem elem, double value);
Ref ir_unary(Builder *b, Opcode code, Ref x);
Ref ir_binary(Builder *b, Opcode code, Ref x, Ref y);
Ref ir_binary_as(Builder *b, Opcode code, Ref x, Ref y, Elem elem); /* of both, cast to it */
Ref ir_ternary(Builder *b, Opcode code, Ref x, Ref y, Ref z);
Ref ir_compare(Builder *b, Word predicate, Ref x, Ref y);
Ref ir_cast(Builder *b, Ref x, Elem elem); /* x itself when it has that element already */
Ref ir_splat(Builder *b, Ref scalar, const Type *tile);
Ref ir_iota(Builder *b, int64_t begin, int64_t end);
Ref ir_expand(Builder *b, Ref x, int axis);
Ref ir_broadcast(Builder *b, Ref x, const Type *type);     /* x itself when it has that type already */
Ref ir_repeat(Builder *b, Ref x, int axis, int64_t times); /* a power of two, from 2 on */
Ref ir_reshape(Builder *b, Ref x, const Type *type);
Ref ir_permute(Builder *b, Ref x, const int64_t *dims, int count);
Ref ir_slice(Builder *b, Ref x, const Ref *offsets, const Type *type);
Ref ir_insert(Builder *b, Ref x, const Ref *offsets, Ref part);
Ref ir_reduce(Builder *b, Word combine, Ref x, int axis);
Ref ir_dot(Builder *b, Ref a, Ref c, Ref acc); /* a [.., M, K], c [.., K, N], acc [.., M, N] */
Ref ir_tensor(Builder *b, Ref base, const Ref *extents, const Ref *strides, int rank);
Ref ir_tload(Builder *b, Ref tensor, const Ref *offsets, Ref mask, const Type *type); /* offsets: as many as its rank */
Op *ir_tstore(Builder *b, Ref tensor, const Ref *offsets, Ref value, Ref mask);
Ref ir_buffer(Builder *b, const Type *type, const char *name);
Ref ir_bload(Builder *b, Ref buffer, const Ref *offsets, const Type *type);
Op *ir_bstore(Builder *b, Ref buffer, const Ref *offsets, Ref value);
/* region->args[0] is the loop variable, args[1..] the carried values. The caller fills the region and ends it with
 * ir_yield; results are the op's. */
Op *ir_for(Builder *b, Ref lo, Ref hi, Ref step, const Ref *initial, int count, const char *name);
Op *ir_if(Builder *b, Ref condition, int count, const Type *const *types); /* two regions, to be filled */
void ir_yield(Builder *b, const Ref *values, int count);
void ir_return(Builder *b);
void ir_name(Kernel *k, Ref value, const char *name); /* a hint for the printer; ignored for literals */

/* --- changing --- */
void ir_insert_op(Region *region, Op *before, Op *op); /* links it in */
void ir_remove(Op *op);                                /* unlinks it */
void ir_move(Op *op, Region *region, Op *before);
void ir_replace_all(Kernel *k, Ref from, Ref to); /* in every operand and attribute of the kernel */
bool ir_op_uses(const Op *op, Ref value);         /* does it, or an op inside of it? */
/* The first op whose value is made in more than `most` steps, each from what the one before made; NULL: none is. */
const Op *ir_find_deep(const Kernel *k, Arena *scratch, int most);
/* Uses of every value, index = Ref; in the arena. */
int *ir_count_uses(const Kernel *k, Arena *arena);
/* Who uses each value, as operand: users of `r` are list[start[r]] up to list[start[r + 1]], in the order of the text,
 * each once. */
typedef struct UserIndex {
    const int *start;
    Op *const *list;
} UserIndex;
UserIndex ir_index_users(const Kernel *k, Arena *arena);
/* Calls visit for every op of the region and below, in order; op may be removed by visit. */
void ir_walk(Region *region, void (*visit)(Op *op, void *user), void *user);
/* The ops of one kind of the region and below, in order: for those who change what they would walk through. */
typedef VEC(Op *) FoundOps;
FoundOps ir_list(const Region *region, Opcode code, Arena *arena);

/* A map of references for cloning; refs without an entry stand for themselves. */
typedef struct RefMap {
    Arena *arena;
    Map map;
} RefMap;
Ref refmap_get(const RefMap *map, Ref from);
void refmap_set(RefMap *map, Ref from, Ref to);
/* ir_replace_all of all its entries in one walk: for passes that replace many. */
void ir_replace_map(Kernel *k, const RefMap *map);
void ir_replace_in_op(Op *op, const RefMap *map); /* in its own operands and attributes */
/* The kernel's ops and values as they are, and back to them, once: for a pass that may have to take back what others
 * did. References are the same afterwards; values that were made in between belong to no op. */
typedef struct KernelCopy KernelCopy;
KernelCopy *ir_keep(const Kernel *k);
void ir_take_back(Kernel *k, const KernelCopy *copy);
/* The op, which has no regions, on other operands; `given`: the type of its result, if it has one that is given. */
Ref ir_like(Builder *b, const Op *op, const Ref *operands, const Type *given);
/* Copies op with its regions to the builder's place, operands through the map, results entered into it. */
Op *ir_clone(Builder *b, const Op *op, RefMap *map);
void ir_clone_region(Builder *b, const Region *from, RefMap *map); /* all ops, terminator included */
#endif
