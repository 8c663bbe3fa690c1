/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_move.c: tiles and vectors between global memory, shared memory and registers.
 *
 *     load(&t, g.x, at(r, c))    tload, a box of the tensor; rows and columns outside are 0
 *     store(g.x, &t, at(r, c))   tstore, outside is dropped
 *     copy(&d, &s)               converts the element type
 *
 * What load_async brings is read behind load_async_wait: it is here already, but a GPU would not have it. */
#include "front/tilec/tilec.h"

/* What coordinates count. */
static const Type *unit_type(Tc *tc, const Call *call, const TcType *tile) {
    const Type *all = tc_value_type(tc, tile);
    int64_t part[2] = {all->extent[0] / tc->unit, all->rank > 1 ? all->extent[1] : 0};
    return call->by_warp ? ty_tile(tc->module, all->elem, all->rank, part) : all;
}

Expr bi_load_global(Tc *tc, const Call *call) {
    const Lvalue *tile = &call->args[0].lvalue, *global = &call->args[1].lvalue;
    const Type *type = tc_value_type(tc, tile->type), *box = ty_with_elem(tc->module, type, global->type->elem);
    Ref at[4];
    if (!tc_offsets(tc, global->place, &call->args[2], unit_type(tc, call, tile->type), at)) return tc_nothing(call);
    tc_write_tile(tc, tile, ir_tload(&tc->b, global->place->tensor, at, REF_NONE, box), call->range);
    if (call->row->parameter == 1) tc_note_load(tc, call->range);
    return tc_nothing(call);
}

Expr bi_load_number(Tc *tc, const Call *call) {
    const Lvalue *global = &call->args[1].lvalue;
    const Type *box = ty_scalar(tc->module, global->type->elem);
    Ref at[4];
    if (!tc_offsets(tc, global->place, &call->args[2], box, at)) return tc_nothing(call);
    Ref value = ir_tload(&tc->b, global->place->tensor, at, REF_NONE, box);
    Scalar number = tc_scalar(tc_scalar_type(global->type->elem), value, NULL);
    tc_assign(tc, &call->args[0].lvalue, number, call->range);
    return tc_nothing(call);
}

Expr bi_store_number(Tc *tc, const Call *call) {
    const Lvalue *global = &call->args[0].lvalue;
    const Type *box = ty_scalar(tc->module, global->type->elem);
    Scalar number = tc_convert(tc, call->args[1].scalar, tc_scalar_type(global->type->elem), call->range);
    Ref at[4], value = tc_uniform(tc, number, call->range);
    if (!value || !tc_offsets(tc, global->place, &call->args[2], box, at)) return tc_nothing(call);
    ir_tstore(&tc->b, global->place->tensor, at, value, REF_NONE);
    return tc_nothing(call);
}

Expr bi_store_global(Tc *tc, const Call *call) {
    const Lvalue *global = &call->args[0].lvalue, *tile = &call->args[1].lvalue;
    Ref at[4], value = tc_read_tile(tc, tile, call->range);
    if (!value || !tc_offsets(tc, global->place, &call->args[2], unit_type(tc, call, tile->type), at))
        return tc_nothing(call);
    ir_tstore(&tc->b, global->place->tensor, at, ir_cast(&tc->b, value, global->type->elem), REF_NONE);
    return tc_nothing(call);
}

void tc_combine(Tc *tc, const Object *global, const Ref *at, Ref value, Word combine) {
    Op *op = ir_begin(&tc->b, OP_TATOMIC);
    ir_operand(&tc->b, op, global->tensor);
    ir_operand_list(&tc->b, op, 0, at, 4 - global->first_dim);
    ir_operand(&tc->b, op, value);
    ir_operand(&tc->b, op, REF_NONE);
    op_set(tc->kernel, op, (Attr){.id = AT_COMBINE, .word = combine});
    op_set(tc->kernel, op, (Attr){.id = AT_SEM, .word = SEM_RELAXED});
    ir_end(&tc->b, op, NULL);
}

bool tc_can_combine(Tc *tc, const Call *call, Elem elem) {
    bool known = elem_info[elem].bits >= 16 || elem_is_int(elem);
    if (!known) TC_ERROR(tc, TC_FLOATS_ONLY, call->range, call->name, elem_info[elem].text, "float, bf16, half or int");
    return known;
}

Expr bi_store_combine(Tc *tc, const Call *call) {
    const Lvalue *global = &call->args[0].lvalue, *tile = &call->args[1].lvalue;
    Elem elem = global->type->elem;
    if (!tc_can_combine(tc, call, elem)) return tc_nothing(call);
    Ref at[4], value = tc_read_tile(tc, tile, call->range);
    if (!value || !tc_offsets(tc, global->place, &call->args[2], tc_value_type(tc, tile->type), at))
        return tc_nothing(call);
    tc_combine(tc, global->place, at, ir_cast(&tc->b, value, elem), (Word)call->row->parameter);
    return tc_nothing(call);
}

Expr bi_copy(Tc *tc, const Call *call) {
    const Lvalue *to = &call->args[0].lvalue, *from = &call->args[1].lvalue;
    if (tc_same_shape(tc, call->name, to->type, from->type, call->range))
        tc_write_tile(tc, to, tc_read_tile(tc, from, call->range), call->range);
    return tc_nothing(call);
}

/* ---- transposes ---- */

Expr bi_same(Tc *tc, const Call *call) {
    (void)tc;
    Expr tile = call->args[0];
    tile.kind = X_POINTER;
    tile.range = call->range;
    return tile;
}

Expr bi_transpose(Tc *tc, const Call *call) {
    const Lvalue *to = &call->args[0].lvalue, *from = &call->args[call->row->parameter ? 0 : 1].lvalue;
    const Type *a = tc_value_type(tc, to->type), *b = tc_value_type(tc, from->type);
    if (a->extent[0] != b->extent[1] || a->extent[1] != b->extent[0])
        return TC_FAIL(tc, TC_TRANSPOSE, call->range, call->name, (long long)b->extent[0], (long long)b->extent[1],
                       (long long)a->extent[0], (long long)a->extent[1]);
    Ref value = tc_read_tile(tc, from, call->range);
    if (value) tc_write_tile(tc, to, ir_permute(&tc->b, value, (int64_t[]){1, 0}, 2), call->range);
    return call->row->parameter ? bi_same(tc, call) : tc_nothing(call);
}
