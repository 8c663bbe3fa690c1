/* SPDX-License-Identifier: Apache-2.0 */
/* peak.c: the largest of scaled numbers is the scaled largest of the numbers.
 *
 * Contract: access form in and out, stamps kept; runs where options.fuse allows one rounding for two. Inside a
 * loop, on machines with threads: a large tile of products with one scalar (plus 0.0, where a mask added that;
 * or only such a sum) of which the maximum along an axis is taken, and which else at most one difference under
 * an exponential reads, is not made: the maximum is that of the unscaled numbers, of whole ones as whole numbers,
 * times the scalar, and the difference is one fma. That stands behind a scalar test, that the scalar is above 0
 * and finite and that every `if` on the way (the masks of `guard`) took its first region; else all is as it was.
 *
 *     %x = cast %n ; %t = mul %x, %s ; %r = reduce<max> %t ; %m = max %c, %r ; %d = sub %t, %m ; exp2 %d
 *  -> %c = (%s > 0.0) and (%s < inf)
 *     %m, %d = if %c { %r = reduce<max> %n ; %m = max %c, (cast %r) * %s ; %x = cast %n ; yield %m, fma %x, %s, -%m }
 *              else { %x = cast %n ; %t = mul %x, %s ; .. ; yield %m, %d }
 *
 * The maximum keeps every bit but the sign of a zero: rounding keeps order, and of an x that is no number its
 * product is none either. The difference is rounded once instead of twice. */
#include <math.h>

#include "pass/fold/fold.h"
#include "pass/pass.h"

/* A smaller tile is not enough work to pay for a test; more masks in a row, or steps from a maximum to a difference,
 * are none that a program has. */
enum { PEAK_ELEMENTS = 4096, MAX_STEPS = 6, MAX_PATH = 12 };

typedef struct Peak {
    PassContext *cx;
    Kernel *k;
    UserIndex users;
    Op *steps[MAX_STEPS]; /* what makes the tile, last first: ifs, and the product where it stands before them */
    int count;
    Op *product;
    Ref x, scale; /* its factors; scale: REF_NONE if it only adds 0.0 */
    Op *cast;     /* that makes x of whole numbers, for the product alone; else NULL */
    Op *reduce, *difference;
    Op *path[MAX_PATH]; /* from the one to the other, and what is made of it at once */
    int length;
} Peak;

static Op *maker(const Peak *p, Ref r) { return ref_is_value(r) ? ir_value(p->k, r)->op : NULL; }

static bool is_inside(const Op *op, const Op *owner) {
    for (const Region *r = op->parent; r && r->owner; r = r->owner->parent)
        if (r->owner == owner) return true;
    return false;
}

static bool is_in_loop(const Op *op) {
    for (const Op *owner = op->parent->owner; owner; owner = owner->parent->owner)
        if (owner->code == OP_FOR) return true;
    return false;
}

/* Do nothing but the ops of `owner` use it? */
static bool is_used_inside(const Peak *p, Ref r, const Op *owner) {
    for (int i = p->users.start[r]; i < p->users.start[r + 1]; i++)
        if (!is_inside(p->users.list[i], owner)) return false;
    return true;
}

static bool is_zero(const Peak *p, Ref r) {
    const Op *splat = maker(p, r);
    if (splat && splat->code == OP_SPLAT) r = splat->operands[0];
    return ref_is_literal(r) && ir_literal(p->k, r)->f == 0;
}

static bool is_pure_region(const Region *region) {
    for (const Op *op = region->first; op; op = op->next)
        if (op->code != OP_YIELD && (!op_has(op->code, TRAIT_PURE) || op->region_count)) return false;
    return true;
}

/* x * s, x * s + 0.0, x + 0.0, with a scalar s? */
static bool take_product(Peak *p, Op *op) {
    const Type *type = ir_type(p->k, op->results[0]);
    bool scaled = op->code == OP_MUL || op->code == OP_FMA;
    if ((!scaled && op->code != OP_ADD) || (op->code == OP_FMA && !is_zero(p, op->operands[2]))) return false;
    for (int i = 0; i < 2; i++) {
        Ref x = op->operands[i], other = op->operands[1 - i];
        if (!ref_is_value(x) || ir_type(p->k, x) != type) continue;
        if (scaled ? !ty_is_scalar(ir_type(p->k, other)) : !is_zero(p, other)) continue;
        p->product = op;
        p->x = x;
        p->scale = scaled ? other : REF_NONE;
        return true;
    }
    return false;
}

/* Whole numbers become floats where they are scaled, behind their maximum: else a thread would hold both. */
static bool take_cast(Peak *p, const Region *home) {
    Op *cast = maker(p, p->x);
    p->cast = NULL;
    if (!cast || cast->code != OP_CAST || ir_type(p->k, cast->operands[0])->elem != EL_I32) return true;
    if (cast->parent != home) return true;
    for (int i = p->users.start[p->x]; i < p->users.start[p->x + 1]; i++) {
        bool ours = p->users.list[i] == p->product;
        for (int s = 0; s < p->count; s++) ours |= is_inside(p->users.list[i], p->steps[s]);
        if (!ours) return true;
    }
    if (p->count == MAX_STEPS) return false;
    p->steps[p->count++] = p->cast = cast;
    return true;
}

/* What the tile is made by, back to the product; all of it in `home` or in the first region of the last `if`. */
static bool take_steps(Peak *p, Ref tile, const Region *home) {
    p->count = 0;
    for (Op *op = maker(p, tile); op && p->count < MAX_STEPS; op = maker(p, tile)) {
        const Op *last = p->count ? p->steps[p->count - 1] : NULL;
        bool before = op->parent == home;
        if (!before && (!last || op->parent != last->regions[0])) return false;
        if (last && !is_used_inside(p, tile, last)) return false;
        if (op->code != OP_IF) {
            if (before) p->steps[p->count++] = op;
            return take_product(p, op) && take_cast(p, home);
        }
        if (!before || op->result_count != 1 || !is_pure_region(op->regions[0]) || !is_pure_region(op->regions[1]))
            return false;
        p->steps[p->count++] = op;
        tile = op->regions[0]->last->operands[0];
    }
    return false;
}

/* The difference that only exponentials read, of which `home` has no other; false: something else uses the tile. */
static bool take_difference(Peak *p, Ref tile) {
    p->difference = NULL;
    for (int i = p->users.start[tile]; i < p->users.start[tile + 1]; i++) {
        Op *op = p->users.list[i];
        if (op == p->reduce) continue;
        if (op->code != OP_SUB || op->operands[0] != tile || op->operands[1] == tile) return false;
        if (op->parent != p->reduce->parent || p->difference || ir_type(p->k, op->results[0]) != ir_type(p->k, tile))
            return false;
        p->difference = op;
        Ref made = op->results[0];
        for (int u = p->users.start[made]; u < p->users.start[made + 1]; u++)
            if (p->users.list[u]->code != OP_EXP && p->users.list[u]->code != OP_EXP2) return false;
    }
    return true;
}

static bool feeds(const Op *op, const Op *user) {
    for (int i = 0; i < user->operand_count; i++)
        for (int r = 0; r < op->result_count; r++)
            if (user->operands[i] == op->results[r]) return true;
    return false;
}

/* The ops from the maximum to the difference that this needs, both of them among them, first first. */
static bool take_path(Peak *p) {
    p->length = 0;
    if (p->difference) p->path[p->length++] = p->difference;
    for (Op *op = p->difference; op && op != p->reduce;) {
        op = op->previous;
        bool needed = op == p->reduce;
        for (int i = 0; op && i < p->length; i++) needed |= feeds(op, p->path[i]);
        if (!op) return false; /* it stands before the maximum */
        if (!needed) continue;
        if (p->length == MAX_PATH || !op_has(op->code, TRAIT_PURE) || op->region_count || op->result_count != 1)
            return false;
        p->path[p->length++] = op;
    }
    if (!p->difference) p->path[p->length++] = p->reduce;
    for (int i = 0, j = p->length - 1; i < j; i++, j--) {
        Op *other = p->path[i];
        p->path[i] = p->path[j];
        p->path[j] = other;
    }
    return true;
}

/* The exponential of the difference and its sums go along, so that one row's exponentials run under another's maximum:
 * assemblers mix what stands in one block of code. */
static void take_sums(Peak *p) {
    Ref made = p->difference ? p->difference->results[0] : REF_NONE;
    if (!made || p->users.start[made + 1] - p->users.start[made] != 1) return;
    Op *exp = p->users.list[p->users.start[made]];
    if (exp->parent != p->reduce->parent || p->length == MAX_PATH) return;
    p->path[p->length++] = exp;
    for (int from = p->length - 1; from < p->length; from++) {
        Ref weights = p->path[from]->results[0];
        for (int i = p->users.start[weights]; i < p->users.start[weights + 1]; i++) {
            Op *sum = p->users.list[i];
            bool plain = sum->operand_count == 1 && sum->result_count == 1 && !sum->region_count;
            bool one = sum->code == OP_REDUCE || (sum->code == OP_RESHAPE && sum->next->code == OP_REDUCE);
            if (plain && one && sum->parent == exp->parent && p->length < MAX_PATH) p->path[p->length++] = sum;
        }
    }
}

/* What has to hold, as one scalar in front of the builder; REF_NONE: nothing has to. False: it never holds. */
static bool build_test(const Peak *p, Builder *b, Ref *test) {
    *test = REF_NONE;
    if (p->scale && ref_is_literal(p->scale)) {
        double s = ir_literal(p->k, p->scale)->f;
        if (!(s > 0) || isinf(s)) return false;
    } else if (p->scale) {
        Ref above = ir_compare(b, CMP_GT, p->scale, ir_float(b, EL_F32, 0));
        Ref finite = ir_compare(b, CMP_LT, p->scale, ir_float(b, EL_F32, INFINITY));
        *test = ir_binary(b, OP_AND, above, finite);
    }
    for (int i = 0; i < p->count; i++)
        if (p->steps[i]->code == OP_IF) {
            Ref holds = p->steps[i]->operands[0];
            *test = *test ? ir_binary(b, OP_AND, holds, *test) : holds;
        }
    return true;
}

/* The largest of the unscaled numbers, scaled as each of them was. */
static Ref build_largest(const Peak *p, Builder *b) {
    Ref largest = ir_like(b, p->reduce, p->cast ? &p->cast->operands[0] : &p->x, NULL), operands[3];
    if (p->cast) largest = ir_cast(b, largest, EL_F32);
    for (int i = 0; i < p->product->operand_count; i++) {
        Ref is = p->product->operands[i];
        operands[i] = is == p->x ? largest : is == p->scale ? is : ir_float(b, EL_F32, 0);
    }
    return ir_like(b, p->product, operands, NULL);
}

static Ref build_difference(const Peak *p, Builder *b, const RefMap *map) {
    RefMap none = {.arena = p->cx->scratch};
    Ref x = p->cast ? ir_clone(b, p->cast, &none)->results[0] : p->x;
    Ref from = refmap_get(map, p->difference->operands[1]);
    if (!p->scale) return ir_binary(b, OP_SUB, x, from);
    return ir_ternary(b, OP_FMA, x, p->scale, ir_unary(b, OP_NEG, from));
}

static void build_fast(const Peak *p, Builder *b, RefMap *map) {
    for (int i = 0; i < p->length; i++) {
        Ref made = p->path[i]->results[0];
        if (p->path[i] == p->reduce)
            refmap_set(map, made, build_largest(p, b));
        else if (p->path[i] == p->difference)
            refmap_set(map, made, build_difference(p, b, map));
        else
            ir_clone(b, p->path[i], map);
    }
}

static void build_slow(const Peak *p, Builder *b, RefMap *map) {
    for (int i = p->count - 1; i >= 0; i--) ir_clone(b, p->steps[i], map);
    for (int i = 0; i < p->length; i++) ir_clone(b, p->path[i], map);
}

/* Does an op beside the path use it? */
static bool is_wanted(const Peak *p, Ref r) {
    for (int i = p->users.start[r]; i < p->users.start[r + 1]; i++) {
        bool inside = false;
        for (int j = 0; j < p->length; j++) inside |= p->users.list[i] == p->path[j];
        if (!inside) return true;
    }
    return false;
}

static void rewrite(Peak *p, Builder *b, Ref test) {
    const Type *types[MAX_PATH];
    Ref wanted[MAX_PATH], first[MAX_PATH], second[MAX_PATH];
    int count = 0;
    for (int i = 0; i < p->length; i++) {
        Ref r = p->path[i]->results[0];
        if (!is_wanted(p, r)) continue;
        types[count] = ir_type(p->k, r);
        wanted[count++] = r;
    }
    RefMap fast = {.arena = p->cx->scratch}, slow = {.arena = p->cx->scratch}, made = {.arena = p->cx->scratch};
    Op *tested = test ? ir_if(b, test, count, types) : NULL;
    Builder in = tested ? ir_builder_inside(b, tested->regions[0]) : *b;
    build_fast(p, &in, &fast);
    for (int i = 0; i < count; i++) first[i] = refmap_get(&fast, wanted[i]);
    if (tested) {
        Builder other = ir_builder_inside(b, tested->regions[1]);
        build_slow(p, &other, &slow);
        for (int i = 0; i < count; i++) second[i] = refmap_get(&slow, wanted[i]);
        ir_yield(&in, first, count);
        ir_yield(&other, second, count);
    }
    for (int i = 0; i < count; i++) {
        Ref is = tested ? tested->results[i] : first[i];
        ir_name(p->k, is, ir_value(p->k, wanted[i])->name);
        refmap_set(&made, wanted[i], is);
    }
    ir_replace_map(p->k, &made);
    /* Now, or the copies would be found equal to what they were made of. */
    for (int i = p->length - 1; i >= 0; i--) ir_remove(p->path[i]);
    for (int i = 0; i < p->count; i++) ir_remove(p->steps[i]);
}

static bool visit(Peak *p, Op *reduce) {
    if (reduce->operand_count != 1 || op_word(reduce, AT_COMBINE, COMBINE_ADD) != COMBINE_MAX ||
        op_word(reduce, AT_NAN, NAN_DROP) != NAN_DROP || !ref_is_value(reduce->operands[0]))
        return false;
    Ref tile = reduce->operands[0], test;
    const Type *type = ir_type(p->k, tile);
    if (type->elem != EL_F32 || ty_elements(type) < PEAK_ELEMENTS || !is_in_loop(reduce)) return false;
    p->users = ir_index_users(p->k, p->cx->scratch);
    p->reduce = reduce;
    if (!take_steps(p, tile, reduce->parent) || !take_difference(p, tile) || !take_path(p)) return false;
    take_sums(p);
    Builder b = ir_builder_before(p->k, reduce);
    if (!build_test(p, &b, &test)) return false;
    rewrite(p, &b, test);
    pass_find(p->cx, reduce->range, FIND_PEAK_BEFORE_SCALE);
    return true;
}

bool pass_peak(PassContext *cx, Kernel *k) {
    if (!cx->machine->has_threads || !cx->options.fuse) return false;
    Peak p = {.cx = cx, .k = k};
    bool changed = false;
    FoundOps reduces = ir_list(k->body, OP_REDUCE, cx->scratch);
    for (size_t i = 0; i < reduces.count; i++) changed |= visit(&p, reduces.at[i]);
    if (changed) fold_tidy(k, cx->scratch);
    return changed;
}
