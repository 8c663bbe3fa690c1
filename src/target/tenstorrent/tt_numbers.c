/* SPDX-License-Identifier: Apache-2.0 */
/* tt_numbers.c: single numbers that compute cannot have under a name: they become tiles.
 *
 *     reduced      reduce of a vector is one number. It becomes a tile [1, 1], and so does what is computed of it:
 *                  %m = reduce<max, axis=0> %x : f32      ->  %m = expand<1> (reduce<max, axis=1> (expand<0> %x)) :
 *                                                         f32[1, 1]
 *                  %d = sub %x, %m                        ->  %d = sub %x, (%m as wide as %x)
 *     a function   of a number (exp, sqrt), which the small processors do not have: the same
 *     read         from memory: reader and writer read it for themselves (tt_index_text.c). For arithmetic on tiles the
 *                  reader hands it to compute as a page that is full of it; for trips and conditions as a word
 *     (tt_role.c)
 *
 * And sums along an axis whose last page is padded with something else than what adds nothing: a mask of what is
 * inside. */
#include "ir/build.h"
#include "ir/ringform.h"
#include "target/tenstorrent/tt_emit.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------------ from memory */

bool tt_is_read(Tt *tt, Ref value) {
    if (!ref_is_value(value)) return false;
    const Value *v = ir_value(tt->k, value);
    if (!ty_is_scalar(v->type) || v->type->pointer || !v->op || v->op->region_count) return false;
    if (v->op->code == OP_TLOAD || v->op->code == OP_LOAD) return true;
    if (!op_has(v->op->code, TRAIT_ELEMENTWISE)) return false;
    const MapEntry *known = map_find_number(&tt->is_read, value);
    if (known) return known->value != NULL;
    bool any = false;
    for (int i = 0; i < v->op->operand_count && !any; i++) any = tt_is_read(tt, v->op->operands[i]);
    map_put_number(&tt->is_read, tt->arena, value, any ? tt : NULL);
    return any;
}

/* Numbers of memory that loops and branches of compute need: the reader hands each over as two words. */
static int number_cb(Role *role, const Op *load) {
    Tt *tt = role->tt;
    const MapEntry *known = map_find_number(&tt->number_cbs, load->results[0]);
    if (known) return (int)(intptr_t)known->value;
    int cb = tt_add_cb(tt, "number", ROLE_LOAD, ROLE_COMPUTE, "a number that the reader found in memory", TT_Int32,
                       1, 2,
                       load->range);
    map_put_number(&tt->number_cbs, tt->arena, load->results[0], (void *)(intptr_t)cb);
    return cb;
}
void tt_tell_number(Role *role, const Op *load) {
    int cb = number_cb(role, load);
    role_hand(role, CB_RESERVE, cb);
    role_line(role, "tw_tell(get_write_ptr(%s), %s);", role_cb(role, cb), cs_name(&role->p, load->results[0]));
    role_hand(role, CB_PUSH, cb);
}
void tt_hear_number(Role *role, const Op *load) {
    int cb = number_cb(role, load);
    const char *type = cs_register_type(&role->p, ir_type(role->tt->k, load->results[0])->elem);
    if (role_around(load))
        tt_refuse(role->tt, load, "a number of memory on which a loop or branch inside of a loop depends; "
                                  "compute learns such numbers once for each task" FIX "load it in front of the loop");
    role_hand(role, CB_WAIT, cb);
    role_line(role, "const %s %s = tw_hear<%s>(read_tile_value(%s, 0, 0), read_tile_value(%s, 0, 1));", type,
              cs_name(&role->p, load->results[0]), type, role_cb(role, cb), role_cb(role, cb));
    role_hand(role, CB_POP, cb);
}

/* Numbers of memory that compute needs under a name are read, and told, by the reader. */
void tt_need_told(Role *role) {
    Tt *tt = role->tt;
    for (size_t i = 1; i < tt->k->values.count; i++) {
        const Op *op = ir_value(tt->k, (Ref)i)->op;
        if (tt->compute_needs[i] && op && (op->code == OP_TLOAD || op->code == OP_LOAD)) role_need(role, (Ref)i);
    }
}

/* -------------------------------------------------------------------------------------------- numbers as tiles */

typedef struct Lift {
    Tt *tt;
    Region *compute;
    bool *tile; /* by Ref: a number that becomes a tile */
    size_t count;
    RefMap map; /* the tile */
    bool changed;
} Lift;

static bool is_lifted(const Lift *l, Ref ref) { return ref_is_value(ref) && ref < l->count && l->tile[ref]; }
static void mark(Lift *l, Ref ref) {
    if (!ref_is_value(ref) || ref >= l->count || l->tile[ref]) return;
    l->tile[ref] = l->changed = true;
}
static bool is_number(const Kernel *k, Ref ref) {
    const Type *type = ir_type(k, ref);
    return type->kind == TY_TILE && ty_is_scalar(type) && !type->pointer;
}

static void find_region(Lift *l, const Region *region) {
    const Kernel *k = l->tt->k;
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_FOR)
            for (int i = 0; i < op->result_count; i++) {
                Ref carried = op->regions[0]->args[i + 1], next = op->regions[0]->last->operands[i];
                if (!is_number(k, op->results[i])) continue;
                if (!is_lifted(l, next) && !is_lifted(l, op->operands[3 + i]) && !is_lifted(l, carried)) continue;
                mark(l, carried);
                mark(l, op->results[i]);
            }
        for (int i = 0; i < op->region_count; i++)
            if (op->code != OP_TASKS || i == op->region_count - 1) find_region(l, op->regions[i]);
        if (op->result_count != 1 || op->region_count || !is_number(k, op->results[0])) continue;
        bool made = op->code == OP_REDUCE || (op_has(op->code, TRAIT_ELEMENTWISE) && !tt_has_scalar(k, op) &&
                                              elem_is_float(ir_type(k, op->results[0])->elem));
        for (int i = 0; i < op->operand_count && op_has(op->code, TRAIT_ELEMENTWISE) && !made; i++)
            made = is_lifted(l, op->operands[i]);
        if (made) mark(l, op->results[0]);
    }
}

static const Type *one_type(Lift *l, const Type *type) {
    return ty_with_shape(l->tt->k->module, type, 2, (const int64_t[]){1, 1});
}

/* The tile of a number, as wide as `like` where that is given. */
static Ref as_tile(Lift *l, Builder *b, Ref ref, const Type *like) {
    const Kernel *k = l->tt->k;
    const Type *type = ir_type(k, ref);
    Ref tile = is_lifted(l, ref) ? refmap_get(&l->map, ref) : ir_splat(b, ref, one_type(l, type));
    if (!like || !like->rank) return tile;
    const Type *whole = ty_with_shape(k->module, type, like->rank, like->extent);
    if (like->rank == 1) {
        const Type *row = ty_with_shape(k->module, type, 2, (const int64_t[]){1, like->extent[0]});
        return ir_reshape(b, ir_broadcast(b, tile, row), whole);
    }
    if (like->rank > 2) {
        int64_t ones[MAX_RANK];
        for (int d = 0; d < like->rank; d++) ones[d] = 1;
        tile = ir_reshape(b, tile, ty_with_shape(k->module, type, like->rank, ones));
    }
    return ir_broadcast(b, tile, whole);
}

static void lift_reduce(Lift *l, Builder *b, const Op *op) {
    Ref row = ir_expand(b, op->operands[0], 0), one = ir_reduce(b, op_word(op, AT_COMBINE, COMBINE_ADD), row, 1);
    const Attr *nan = op_attr(op, AT_NAN);
    if (nan) op_set(l->tt->k, ir_value(l->tt->k, one)->op, *nan);
    refmap_set(&l->map, op->results[0], ir_expand(b, one, 1));
}

static void lift_op(Lift *l, Op *op, bool is_inside) {
    Kernel *k = l->tt->k;
    bool lifts = op->result_count == 1 && !op->region_count && is_lifted(l, op->results[0]);
    /* What stands in front of the roles is made again in compute. */
    Builder b = is_inside ? ir_builder_before(k, op) : ir_builder_before(k, l->compute->first);
    if (lifts && op->code == OP_REDUCE) {
        lift_reduce(l, &b, op);
    } else if (lifts) {
        Ref operands[4];
        for (int i = 0; i < op->operand_count && i < 4; i++) operands[i] = as_tile(l, &b, op->operands[i], NULL);
        const Type *type = one_type(l, ir_type(k, op->results[0]));
        refmap_set(&l->map, op->results[0], ir_like(&b, op, operands, type));
    }
    if (lifts || !is_inside) return;
    if (op->code == OP_SPLAT) {
        if (is_lifted(l, op->operands[0]))
            ir_replace_all(k, op->results[0], as_tile(l, &b, op->operands[0], ir_type(k, op->results[0])));
        return;
    }
    bool is_yield = op->code == OP_YIELD && op->parent->owner->code == OP_FOR;
    for (int i = 0; i < op->operand_count; i++) {
        bool is_carried = is_yield ? is_lifted(l, op->parent->owner->results[i])
                                   : op->code == OP_FOR && i >= 3 && is_lifted(l, op->results[i - 3]);
        if (!is_carried && !is_lifted(l, op->operands[i])) continue;
        if (is_carried || op->code == OP_PUT)
            op->operands[i] = as_tile(l, &b, op->operands[i], NULL);
        else if (op_has(op->code, TRAIT_ELEMENTWISE))
            op->operands[i] = as_tile(l, &b, op->operands[i], ir_type(k, op->results[0]));
    }
    for (int i = 0; op->code == OP_FOR && i < op->result_count; i++) {
        Ref both[2] = {op->results[i], op->regions[0]->args[i + 1]};
        for (int j = 0; j < 2 && is_lifted(l, both[j]); j++) {
            ir_value(k, both[j])->type = one_type(l, ir_type(k, both[j]));
            refmap_set(&l->map, both[j], both[j]);
        }
    }
}

static void lift_region(Lift *l, Region *region, bool is_inside) {
    for (Op *op = region->first, *next; op; op = next) {
        next = op->next;
        lift_op(l, op, is_inside);
        if (op->code == OP_TASKS) lift_region(l, tasks_body(op), false);
        for (int i = 0; i < op->region_count && (is_inside || op == l->tt->role[TENSIX_COMPUTE]); i++)
            lift_region(l, op->regions[i], true);
    }
}

/* What was replaced and is used no more. */
static void drop_unused(Lift *l, Region *region) {
    int *uses = ir_count_uses(l->tt->k, l->tt->arena);
    for (Op *op = region->last, *before; op; op = before) {
        before = op->previous;
        for (int i = 0; i < op->region_count; i++) drop_unused(l, op->regions[i]);
        bool old = op->result_count == 1 && (is_lifted(l, op->results[0]) || op->code == OP_SPLAT) &&
            !uses[op->results[0]];
        if (!old || op->region_count) continue;
        for (int i = 0; i < op->operand_count; i++)
            if (ref_is_value(op->operands[i])) uses[op->operands[i]]--;
        ir_remove(op);
    }
}

void tt_lift_numbers(Tt *tt) {
    Op *compute = (Op *)tt->role[TENSIX_COMPUTE];
    if (!compute) return;
    Lift l = {.tt = tt, .compute = compute->regions[0], .count = tt->k->values.count, .map = {.arena = tt->arena}};
    l.tile = ARENA_ARRAY(tt->arena, bool, l.count);
    l.changed = true;
    for (bool any = false; l.changed; any = true) {
        l.changed = false;
        find_region(&l, tt->k->body);
        if (!l.changed && !any) return;
    }
    lift_region(&l, tt->k->body, false);
    drop_unused(&l, compute->regions[0]);
}

/* ------------------------------------------------------------------------------------------------------ padding */

/* 1 for each element of the tile: the reader writes 0 where there is none (tt_index_text.c). */
Ref tt_inside_of(Builder *b, const Type *type, int axis) {
    Ref places = ir_iota(b, 0, type->extent[axis]);
    for (int d = 0; d < type->rank; d++)
        if (d != axis) places = ir_expand(b, places, d);
    places = ir_broadcast(b, places, ty_with_elem(b->module, type, EL_I32));
    return ir_compare(b, CMP_GE, places, ir_splat(b, ir_int(b, EL_I32, 0), ir_type(b->kernel, places)));
}

static void neutralize(Tt *tt, Op *op, int operand, int axis, double neutral) {
    Ref x = op->operands[operand];
    const Type *type = ir_type(tt->k, x);
    double number = NAN;
    if (type->extent[axis] % PAGE_SIDE == 0 || !elem_is_float(type->elem)) return;
    if (tt_padding(tt, x, &number) && number == neutral) return;
    Builder b = ir_builder_before(tt->k, op);
    Ref other = ir_splat(&b, ir_float(&b, type->elem, neutral), type);
    op->operands[operand] = ir_ternary(&b, OP_SELECT, tt_inside_of(&b, type, axis), x, other);
}

void tt_neutralize_padding(Tt *tt, const Op *at) {
    Op *op = (Op *)at;
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    if (op->code == OP_REDUCE && op->operand_count == 1 && ir_type(tt->k, op->operands[0])->rank == 2 &&
        (kind == COMBINE_ADD || kind == COMBINE_MAX))
        neutralize(tt, op, 0, (int)op_int(op, AT_AXIS, 0), kind == COMBINE_ADD ? 0 : -INFINITY);
    if (op->code != OP_DOT) return;
    int rank = ir_type(tt->k, op->operands[0])->rank;
    neutralize(tt, op, 0, rank - 1, 0);
    neutralize(tt, op, 1, rank - 2, 0);
}
