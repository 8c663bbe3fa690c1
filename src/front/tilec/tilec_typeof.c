/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_typeof.c: the type of an expression that is not computed: the side of `?:` that a constant
 * condition does not take has a part in the type of the other one.
 *
 *     (N > 4 ? 1 : 0.5f) / 2       is 0.5 for N = 8, since both sides are float
 *
 * Nothing is said and nothing is made here; what cannot be told gives NULL. */
#include "front/tilec/tilec.h"

#include <string.h>

static const TcType *joined(Tc *tc, const CNode *a, const CNode *b) {
    const TcType *x = tc_type_of(tc, a), *y = tc_type_of(tc, b);
    if (!x || !y) return NULL;
    return tc_common_type(tc_scalar(x, REF_NONE, NULL), tc_scalar(y, REF_NONE, NULL));
}

const TcType *tc_place_type(Tc *tc, const CNode *node) {
    const Symbol *symbol;
    const TcType *type;
    Elem elem;
    double real;
    switch (node->kind) {
    case C_IDENT:
        symbol = tc_find(tc, node->name);
        if (!symbol && tc_real_constant(node->name, &elem, &real)) return tc_scalar_type(elem);
        if (symbol && symbol->kind == SYMBOL_CONSTANT && !symbol->type) return tc_int(tc, symbol->number).type;
        return symbol && (symbol->kind == SYMBOL_PLACE || symbol->kind == SYMBOL_CONSTANT) ? symbol->type : NULL;
    case C_MEMBER:
        type = tc_place_type(tc, node->kids[0]);
        if (type && type->kind == TC_POINTER) type = type->of;
        if (type && type->kind == TC_GLOBAL) return tc_scalar_type(EL_I32);
        for (int i = 0; type && type->kind == TC_STRUCT && i < type->field_count; i++)
            if (!strcmp(type->fields[i].name, node->name)) return type->fields[i].type;
        return type ? NULL : tc_scalar_type(EL_I32); /* blockIdx.x and its kin */
    case C_INDEX:
        type = tc_place_type(tc, node->kids[0]);
        if (type && type->kind == TC_POINTER) type = type->of;
        if (type && type->kind == TC_TILE) return tc_scalar_type(type->elem); /* t[i][j]: the row knows it, too */
        if (type && type->kind == TC_SCALAR && node->kids[0]->kind == C_INDEX) return type;
        return type && type->kind == TC_ARRAY ? type->of : NULL;
    case C_UNARY:
        type = node->op == CT_STAR ? tc_place_type(tc, node->kids[0]) : NULL;
        return type && type->kind == TC_POINTER ? type->of : NULL;
    default: return NULL;
    }
}

/* Of an operation on numbers. */
static const TcType *operation_type(Tc *tc, const CNode *node) {
    const Builtin *row = tc_number_builtin(node->kids[0]->name, (int)node->count - 1);
    if (!row) return NULL;
    if (node->count == 1 || row->lower == bi_scalar_isnan) return tc_scalar_type(EL_I32); /* numbers of threads */
    if (row->lower == bi_scalar_convert) return tc_scalar_type((Elem)row->parameter);
    if (row->lower == bi_scalar_binary) return joined(tc, node->kids[1], node->kids[2]);
    const TcType *first = joined(tc, node->kids[1], node->kids[1]);
    if (row->parameter >> 8) return tc_scalar_type(EL_F32);
    bool kept = first && (first->elem == EL_F32 || (row->parameter == OP_ABS && !elem_is_float(first->elem)));
    return !first ? NULL : kept ? first : tc_scalar_type(EL_F64);
}

static const TcType *call_type(Tc *tc, const CNode *node) {
    const CNode *callee = node->kids[0];
    if (callee->kind != C_IDENT) return NULL;
    const Symbol *symbol = tc_find(tc, callee->name);
    if (symbol && symbol->kind == SYMBOL_FUNCTION) return tc_type(tc, symbol->node->kids[0]);
    return operation_type(tc, node);
}

const TcType *tc_type_of(Tc *tc, const CNode *node) {
    const TcType *type = NULL, *i32 = tc_scalar_type(EL_I32);
    switch (node->kind) {
    case C_INT: return tc_scalar_type(tc_literal_elem(node));
    case C_FLOAT: return tc_scalar_type(node->flags & C_FLAG_SINGLE ? EL_F32 : EL_F64);
    case C_SIZEOF: return tc_scalar_type(EL_U64);
    case C_CAST: type = tc_type(tc, node->kids[0]); break;
    case C_CALL: type = call_type(tc, node); break;
    case C_ASSIGN:
    case C_POSTFIX: return tc_type_of(tc, node->kids[0]);
    case C_COMMA: return tc_type_of(tc, node->kids[1]);
    case C_CONDITIONAL: return joined(tc, node->kids[1], node->kids[2]);
    case C_BINARY:
        switch (node->op) {
        case CT_LT:
        case CT_GT:
        case CT_LE:
        case CT_GE:
        case CT_EQ:
        case CT_NE:
        case CT_AND_AND:
        case CT_OR_OR: return i32;
        case CT_SHL:
        case CT_SHR: return joined(tc, node->kids[0], node->kids[0]);
        default: return joined(tc, node->kids[0], node->kids[1]);
        }
    case C_UNARY:
        if (node->op == CT_NOT) return i32;
        if (node->op != CT_STAR) return joined(tc, node->kids[0], node->kids[0]);
        type = tc_place_type(tc, node);
        break;
    default: type = tc_place_type(tc, node); break;
    }
    return type && type->kind == TC_SCALAR ? type : NULL;
}
