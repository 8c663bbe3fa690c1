/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_expr.c: expressions of Tile C: what is read of places, names, operators, calls. What a place is stands in
 * tilec_place.c, what names a part of one in tilec_part.c. */
#include "front/tilec/tilec.h"

#include <float.h>
#include <math.h>
#include <string.h>

static Expr failure(Range range) { return (Expr){.kind = X_ERROR, .range = range}; }

static Expr scalar_expr(Scalar s, Range range) { return (Expr){.kind = X_SCALAR, .range = range, .scalar = s}; }
static Expr place_expr(Object *place, Range range) {
    return (Expr){.kind = X_PLACE, .range = range, .lvalue = {.place = place, .type = place->type}};
}

/* ---- reading ---- */

Expr tc_read(Tc *tc, Expr e) {
    if (e.kind != X_PLACE) return e;
    const TcType *type = e.lvalue.type;
    const Object *place = e.lvalue.place;
    if (type->kind == TC_POINTER) {
        if (place->broken) return failure(e.range);
        if (!place->target.place) return TC_FAIL(tc, TC_UNWRITTEN, e.range, place->name);
        return (Expr){.kind = X_POINTER, .range = e.range, .lvalue = place->target};
    }
    if (type->kind != TC_SCALAR) return e;
    Scalar value = tc_read_number(tc, &e.lvalue, e.range);
    return tc->failed ? failure(e.range) : scalar_expr(value, e.range);
}

bool tc_as_number(Tc *tc, Expr e, Scalar *out) {
    e = tc_read(tc, e);
    if (e.kind == X_SCALAR) {
        *out = e.scalar;
        return true;
    }
    if (e.kind != X_ERROR) TC_ERROR(tc, TC_NOT_NUMBER, e.range, e.kind == X_PLACE ? e.lvalue.type->name : "this");
    return false;
}

bool tc_number(Tc *tc, const CNode *node, Scalar *out) { return tc_as_number(tc, tc_expr(tc, node), out); }

/* ---- names ---- */

static const char *const dim3_names[] = {"blockIdx", "gridDim", "threadIdx", "blockDim", NULL};

bool tc_real_constant(const char *name, Elem *elem, double *value) {
    static const struct {
        const char *name;
        Elem elem;
        double value;
    } known[] = {{"INFINITY", EL_F32, INFINITY}, {"NAN", EL_F32, NAN},
                 {"FLT_MAX", EL_F32, FLT_MAX},   {"FLT_EPSILON", EL_F32, FLT_EPSILON},
                 {"M_PI", EL_F64, M_PI},         {"M_LOG2E", EL_F64, M_LOG2E}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, name) != 0) continue;
        *elem = known[i].elem;
        *value = known[i].value;
        return true;
    }
    return false;
}

static Expr name_expr(Tc *tc, const CNode *node) {
    const Symbol *symbol = tc_find(tc, node->name);
    if (symbol && symbol->kind == SYMBOL_PLACE) return place_expr(symbol->place, node->range);
    if (symbol && symbol->kind == SYMBOL_CONSTANT)
        return scalar_expr(symbol->type ? tc_convert(tc, tc_int(tc, symbol->number), symbol->type, node->range)
                                        : tc_int(tc, symbol->number),
                           node->range);
    if (symbol) return TC_FAIL(tc, TC_NOT_VALUE, node->range, node->name);
    Elem elem;
    double real;
    if (tc_real_constant(node->name, &elem, &real))
        return scalar_expr(tc_scalar(tc_scalar_type(elem), ir_float(&tc->b, elem, real), NULL), node->range);
    VEC(const char *) names = {0};
    for (size_t i = 0; i < tc->names.count; i++)
        if (tc->names.entries[i].value) *VEC_PUSH(&names, tc->arena) = tc->names.entries[i].key;
    return TC_FAIL(tc, TC_UNKNOWN_NAME, node->range, node->name, tc_near(tc, node->name, names.at, names.count));
}

/* blockIdx.x and its kin */
static Expr dim3_expr(Tc *tc, const CNode *node, int which) {
    int dim = !strcmp(node->name, "x") ? 0 : !strcmp(node->name, "y") ? 1 : !strcmp(node->name, "z") ? 2 : -1;
    if (dim < 0) return TC_FAIL(tc, TC_NO_MEMBER, node->range, dim3_names[which], node->name, "; it has x, y and z");
    const TcType *i32 = tc_scalar_type(EL_I32);
    if (which >= 2) {
        int64_t *lanes = ARENA_ARRAY(tc->arena, int64_t, tc->threads);
        for (int t = 0; t < tc->threads; t++) lanes[t] = dim ? 0 : t;
        Scalar number = tc_int(tc, which == 3 ? (dim ? 1 : tc->threads) : 0);
        if (which == 2) number.lanes = lanes;
        return scalar_expr(number, node->range);
    }
    Op *op = ir_begin(&tc->b, which == 0 ? OP_PROGRAM_ID : OP_NUM_PROGRAMS);
    op_set(tc->kernel, op, (Attr){.id = AT_DIM, .number = dim});
    return scalar_expr(tc_scalar(i32, ir_end(&tc->b, op, NULL), NULL), node->range);
}

/* g.x.rows: an extent of a global as int */
static Expr extent_expr(Tc *tc, const CNode *node, const Object *global) {
    static const char *const names[] = {"batch", "depth", "rows", "cols"};
    int dim = 0;
    while (dim < 4 && strcmp(names[dim], node->name) != 0) dim++;
    if (dim == 4)
        return TC_FAIL(tc, TC_NO_MEMBER, node->range, global->type->name, node->name,
                       "; it has batch, depth, rows and cols");
    if (global->type->dims[dim] > 0) return scalar_expr(tc_int(tc, global->type->dims[dim]), node->range);
    Op *op = ir_begin(&tc->b, OP_EXTENT);
    ir_operand(&tc->b, op, global->tensor);
    op_set(tc->kernel, op, (Attr){.id = AT_DIM, .number = dim - global->first_dim});
    Ref extent = ir_cast(&tc->b, ir_end(&tc->b, op, NULL), EL_I32);
    return scalar_expr(tc_scalar(tc_scalar_type(EL_I32), extent, NULL), node->range);
}

static Expr member_expr(Tc *tc, const CNode *node) {
    const CNode *base_node = node->kids[0];
    for (int i = 0; base_node->kind == C_IDENT && dim3_names[i]; i++)
        if (!strcmp(base_node->name, dim3_names[i]) && !tc_find(tc, base_node->name)) return dim3_expr(tc, node, i);
    Expr base = tc_expr(tc, base_node);
    if (base.kind == X_ERROR) return base;
    bool pointer = base.kind == X_POINTER || (base.kind == X_PLACE && base.lvalue.type->kind == TC_POINTER);
    if (pointer != (node->op == CT_ARROW))
        return TC_FAIL(tc, TC_MEMBER_FORM, node->range, pointer ? "->" : ".", pointer ? "a pointer" : "no pointer");
    base = tc_read(tc, base);
    if (base.kind == X_ERROR) return base;
    bool has_members = base.kind == X_PLACE || base.kind == X_POINTER;
    const TcType *type = has_members ? base.lvalue.type : NULL;
    if (type && type->kind == TC_GLOBAL) return extent_expr(tc, node, base.lvalue.place);
    if (!type || type->kind != TC_STRUCT)
        return TC_FAIL(tc, TC_NO_MEMBER, node->range, type ? type->name : "a number", node->name, "");
    for (int i = 0; i < type->field_count; i++)
        if (!strcmp(type->fields[i].name, node->name))
            return (Expr){.kind = X_PLACE, .range = node->range, .lvalue = tc_member(&base.lvalue, i)};
    const char **names = ARENA_ARRAY(tc->arena, const char *, type->field_count);
    for (int i = 0; i < type->field_count; i++) names[i] = type->fields[i].name;
    return TC_FAIL(tc, TC_NO_MEMBER, node->range, type->name, node->name,
                   tc_near(tc, node->name, names, (size_t)type->field_count));
}

/* The element of an array; `at` is where the index stands in the text. */
static Expr element_of(Tc *tc, Expr base, Scalar index, Range range, Range at) {
    Lvalue *lv = &base.lvalue;
    const TcType *type = lv->type, *leaf = type;
    int64_t constant;
    bool known = tc_is_constant(tc, index, &constant);
    if (!tc_in_range(tc, index, type->count - 1, at)) return failure(range);
    base.kind = X_PLACE;
    base.range = range;
    bool one = lv->place->block || lv->place->buffer || lv->place->by_field || lv->index_count;
    while (leaf->kind == TC_ARRAY) leaf = leaf->of;
    one = one || leaf->kind == TC_SEMAPHORE;
    if (!one && known) return place_expr(lv->place->parts[constant], range);
    if (!one && tc_join_array(tc, lv->place)) return failure(range);
    if ((!one && leaf->kind != TC_SCALAR) || lv->index_count == MAX_INDICES)
        return TC_FAIL(tc, TC_NOT_CONSTANT, at, "the index of an array of structs or pointers");
    lv->index[lv->index_count++] = index;
    lv->type = type->of;
    return base;
}

Expr tc_first_element(Tc *tc, Expr array) {
    return element_of(tc, array, tc_int(tc, 0), array.range, array.range);
}

static Expr index_expr(Tc *tc, const CNode *node) {
    Expr base = tc_read(tc, tc_expr(tc, node->kids[0]));
    Scalar index;
    if (base.kind == X_ERROR || !tc_number(tc, node->kids[1], &index)) return failure(node->range);
    const TcType *type = base.kind == X_PLACE || base.kind == X_POINTER ? base.lvalue.type : NULL;
    if (!type || (type->kind != TC_ARRAY && type->kind != TC_TILE))
        return TC_FAIL(tc, TC_NOT_ARRAY, node->kids[0]->range, "");
    if (elem_is_float(index.type->elem)) return TC_FAIL(tc, TC_INTEGERS_ONLY, node->kids[1]->range, "[]");
    if (type->kind == TC_TILE) return tc_element_expr(tc, base, index, node);
    return element_of(tc, base, index, node->range, node->kids[1]->range);
}

/* ---- operators ---- */

bool tc_has_effects(Tc *tc, const CNode *node) {
    if (!node) return false;
    bool step = (node->kind == C_UNARY || node->kind == C_POSTFIX) && (node->op == CT_INC || node->op == CT_DEC);
    bool function = node->kind == C_CALL && node->kids[0]->kind == C_IDENT && tc_find(tc, node->kids[0]->name);
    if (step || function || node->kind == C_ASSIGN) return true;
    for (uint32_t i = 0; i < node->count; i++)
        if (tc_has_effects(tc, node->kids[i])) return true;
    return false;
}

static Scalar select_scalar(Tc *tc, Scalar c, Scalar a, Scalar b, Range range) {
    const TcType *type = a.type->elem == b.type->elem ? a.type : tc_common_type(a, b);
    a = tc_convert(tc, a, type, range);
    b = tc_convert(tc, b, type, range);
    if (!c.lanes) {
        if (a.lanes != b.lanes) {
            TC_ERROR(tc, TC_THREAD_MIXED, range, "a run-time condition cannot choose between numbers of threads");
            return a;
        }
        return tc_scalar(type, ir_ternary(&tc->b, OP_SELECT, c.ref, a.ref, b.ref), a.lanes);
    }
    int64_t base_a = 0, base_b = 0, base_c = 0;
    bool literals = ir_const_int(tc->kernel, a.ref, &base_a) && ir_const_int(tc->kernel, b.ref, &base_b);
    if (!literals && a.ref == b.ref)
        base_a = base_b = 0;
    else if (!literals || !ir_const_int(tc->kernel, c.ref, &base_c)) {
        TC_ERROR(tc, TC_THREAD_MIXED, range, "threads cannot choose between run-time values");
        return a;
    }
    int64_t *lanes = ARENA_ARRAY(tc->arena, int64_t, tc->threads);
    for (int t = 0; t < tc->threads; t++) {
        int64_t x = base_a + (a.lanes ? a.lanes[t] : 0), y = base_b + (b.lanes ? b.lanes[t] : 0);
        lanes[t] = base_c + c.lanes[t] ? x : y;
    }
    return tc_scalar(type, literals ? tc_zero(tc, type).ref : a.ref, lanes);
}

/* A choice between two expressions of which only one may run. */
typedef struct Choice {
    Object *value;
    const CNode *sides[2]; /* NULL: the side's own number */
} Choice;

static void choose_side(Tc *tc, int side, void *user) {
    const Choice *choice = user;
    Scalar value = tc_int(tc, side == 0);
    if (choice->sides[side] && !tc_number(tc, choice->sides[side], &value)) return;
    if (choice->value->type->elem == EL_I1) value = tc_truth(tc, value, tc->b.range);
    tc_assign(tc, &(Lvalue){.place = choice->value, .type = choice->value->type}, value, tc->b.range);
}

static Expr effects_expr(Tc *tc, Scalar c, const TcType *type, const CNode *yes, const CNode *no, Range range) {
    if (!type || c.lanes)
        return TC_FAIL(tc, TC_UNSUPPORTED, range, "assignments and calls inside this `?:`, `&&` or `||`",
                       "write an `if`");
    size_t cells = tc->cells.count;
    Choice choice = {tc_place(tc, type, "choice", range), {yes, no}};
    tc_choose(tc, c.ref, choose_side, &choice, range);
    tc->cells.count = cells;
    return tc->failed ? failure(range) : scalar_expr(choice.value->value, range);
}

static Expr conditional_expr(Tc *tc, const CNode *node) {
    Scalar c, a, b;
    int64_t constant;
    if (!tc_number(tc, node->kids[0], &c)) return failure(node->range);
    c = tc_truth(tc, c, node->kids[0]->range);
    if (tc_is_constant(tc, c, &constant)) { /* the other side still has its part in the type */
        Expr e = tc_read(tc, tc_expr(tc, node->kids[constant ? 1 : 2]));
        const TcType *other = e.kind == X_SCALAR ? tc_type_of(tc, node->kids[constant ? 2 : 1]) : NULL;
        if (!other) return e;
        const TcType *type = tc_common_type(e.scalar, tc_scalar(other, REF_NONE, NULL));
        return scalar_expr(tc_convert(tc, e.scalar, type, node->range), node->range);
    }
    if (tc_has_effects(tc, node->kids[1]) || tc_has_effects(tc, node->kids[2])) {
        const TcType *x = tc_type_of(tc, node->kids[1]), *y = tc_type_of(tc, node->kids[2]);
        const TcType *type = NULL;
        if (x && y) type = tc_common_type(tc_scalar(x, REF_NONE, NULL), tc_scalar(y, REF_NONE, NULL));
        return effects_expr(tc, c, type, node->kids[1], node->kids[2], node->range);
    }
    if (!tc_number(tc, node->kids[1], &a) || !tc_number(tc, node->kids[2], &b)) return failure(node->range);
    return scalar_expr(select_scalar(tc, c, a, b, node->range), node->range);
}

/* a && b, a || b: a second operand without effects may be computed always. */
static Expr logical_expr(Tc *tc, const CNode *node) {
    Scalar a, b;
    int64_t constant;
    bool is_or = node->op == CT_OR_OR;
    if (!tc_number(tc, node->kids[0], &a)) return failure(node->range);
    a = tc_truth(tc, a, node->kids[0]->range);
    if (tc_is_constant(tc, a, &constant)) {
        if ((constant != 0) == is_or)
            return scalar_expr(tc_scalar(a.type, ir_int(&tc->b, EL_I1, is_or), NULL), node->range);
        if (!tc_number(tc, node->kids[1], &b)) return failure(node->range);
        return scalar_expr(tc_truth(tc, b, node->range), node->range);
    }
    if (tc_has_effects(tc, node->kids[1]))
        return effects_expr(tc, a, tc_scalar_type(EL_I1), is_or ? NULL : node->kids[1], is_or ? node->kids[1] : NULL,
                            node->range);
    if (!tc_number(tc, node->kids[1], &b)) return failure(node->range);
    b = tc_truth(tc, b, node->kids[1]->range);
    Scalar yes = tc_scalar(a.type, ir_int(&tc->b, EL_I1, 1), NULL);
    Scalar no = tc_scalar(a.type, ir_int(&tc->b, EL_I1, 0), NULL);
    if (a.lanes || b.lanes)
        return scalar_expr(is_or ? select_scalar(tc, a, yes, b, node->range) : select_scalar(tc, a, b, no, node->range),
                           node->range);
    return scalar_expr(tc_scalar(a.type, ir_binary(&tc->b, is_or ? OP_OR : OP_AND, a.ref, b.ref), NULL), node->range);
}

static const Object *locked_part(const Object *place) {
    const TcType *type = place->type;
    const Object *found = place->locked ? place : NULL;
    for (int i = 0; !found && type->kind == TC_STRUCT && i < type->field_count; i++)
        found = locked_part(place->parts[i]);
    return found;
}

/* x++, --x, x op= y and x = y */
/* `t = a + b`, `t *= x`: as an operation. */
static const char *operation_of(Tc *tc, const CNode *node) {
    static const struct {
        CTok assign, op;
        const char *name;
    } ops[] = {{CT_ADD_ASSIGN, CT_PLUS, "add"},
               {CT_SUB_ASSIGN, CT_MINUS, "sub"},
               {CT_MUL_ASSIGN, CT_STAR, "mul"},
               {CT_DIV_ASSIGN, CT_SLASH, "div"}};
    const char *to = node->kids[0]->kind == C_IDENT ? node->kids[0]->name : "..";
    const CNode *value = node->kind == C_ASSIGN ? node->kids[1] : NULL;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (node->op == ops[i].assign) return arena_printf(tc->arena, "%s(&%s, &%s, ..)", ops[i].name, to, to);
        if (value && node->op == CT_ASSIGN && value->kind == C_BINARY && value->op == ops[i].op)
            return arena_printf(tc->arena, "%s(&%s, .., ..)", ops[i].name, to);
    }
    bool zero = value && ((value->kind == C_INT && !value->number) || (value->kind == C_FLOAT && value->real == 0));
    return arena_printf(tc->arena, zero ? "zero(&%s)" : "copy(&%s, ..)", to);
}

static Expr assign_expr(Tc *tc, const CNode *node) {
    static const struct {
        CTok assign, op;
    } compound[] = {{CT_ADD_ASSIGN, CT_PLUS},  {CT_SUB_ASSIGN, CT_MINUS},   {CT_MUL_ASSIGN, CT_STAR},
                    {CT_DIV_ASSIGN, CT_SLASH}, {CT_REM_ASSIGN, CT_PERCENT}, {CT_AND_ASSIGN, CT_AMP},
                    {CT_OR_ASSIGN, CT_PIPE},   {CT_XOR_ASSIGN, CT_CARET},   {CT_SHL_ASSIGN, CT_SHL},
                    {CT_SHR_ASSIGN, CT_SHR},   {CT_INC, CT_PLUS},           {CT_DEC, CT_MINUS}};
    Expr left = tc_expr(tc, node->kids[0]);
    if (left.kind == X_ERROR) return left;
    const TcType *type = left.kind == X_PLACE ? left.lvalue.type : NULL;
    bool place = type && (!left.lvalue.index_count || type->kind == TC_SCALAR);
    if (place && type->kind == TC_STRUCT && node->op == CT_ASSIGN) {
        const Object *locked = locked_part(left.lvalue.place);
        if (locked) return TC_FAIL(tc, TC_LOCKED, node->range, locked->name, locked->locked);
        tc_initialize(tc, left.lvalue.place, node->kids[1]);
        return left;
    }
    if (place && type->kind == TC_POINTER && node->op == CT_ASSIGN) {
        tc_initialize(tc, left.lvalue.place, node->kids[1]);
        return left;
    }
    if (place && type->kind == TC_TILE) return TC_FAIL(tc, TC_TILE_ASSIGN, node->range, type->name,
                       operation_of(tc, node));
    if (!place || type->kind != TC_SCALAR)
        return TC_FAIL(tc, TC_NOT_ASSIGNABLE, node->range, place ? type->name : "this value");
    Scalar value = tc_int(tc, 1), old = value;
    if (node->kind == C_ASSIGN && !tc_number(tc, node->kids[1], &value)) return failure(node->range);
    if (node->op != CT_ASSIGN) {
        size_t i = 0;
        while (compound[i].assign != node->op) i++;
        old = tc_read_number(tc, &left.lvalue, node->range);
        if (tc->failed) return failure(node->range);
        value = tc_binary(tc, compound[i].op, old, value, node->range);
    }
    tc_assign(tc, &left.lvalue, value, node->range);
    if (node->kind == C_POSTFIX) return scalar_expr(old, node->range);
    return scalar_expr(tc_convert(tc, value, type, node->range), node->range);
}

static Expr unary_expr(Tc *tc, const CNode *node) {
    if (node->op == CT_INC || node->op == CT_DEC) return assign_expr(tc, node);
    Expr e = tc_expr(tc, node->kids[0]);
    if (e.kind == X_ERROR) return e;
    if (node->op == CT_AMP) {
        if (e.kind != X_PLACE) return TC_FAIL(tc, TC_NOT_ASSIGNABLE, node->range, "the address of a value");
        e.kind = X_POINTER;
        e.range = node->range;
        return e;
    }
    e = tc_read(tc, e);
    if (node->op == CT_STAR) {
        bool array = (e.kind == X_POINTER || e.kind == X_PLACE) && e.lvalue.type->kind == TC_ARRAY;
        if (array) return tc_first_element(tc, e);
        if (e.kind != X_POINTER) return TC_FAIL(tc, TC_NOT_POINTER, node->range, "`*`");
        e.kind = X_PLACE;
        return e;
    }
    Scalar s;
    if (!tc_as_number(tc, e, &s)) return failure(node->range);
    switch (node->op) {
    case CT_NOT:
        return scalar_expr(tc_binary(tc, CT_EQ, tc_truth(tc, s, node->range), tc_int(tc, 0), node->range), node->range);
    case CT_MINUS:
        if (elem_is_float(s.type->elem)) {
            bool literal = ref_is_literal(s.ref);
            Ref ref = literal ? ir_float(&tc->b, s.type->elem, -ir_literal(tc->kernel, s.ref)->f)
                              : ir_unary(&tc->b, OP_NEG, s.ref);
            return scalar_expr(tc_scalar(s.type, ref, NULL), node->range);
        }
        return scalar_expr(tc_binary(tc, CT_MINUS, tc_int(tc, 0), s, node->range), node->range);
    case CT_TILDE: return scalar_expr(tc_binary(tc, CT_CARET, s, tc_int(tc, -1), node->range), node->range);
    default: return scalar_expr(s, node->range); /* + */
    }
}

static Expr cast_expr(Tc *tc, const CNode *node) {
    const TcType *type = tc_type(tc, node->kids[0]);
    Scalar s;
    if (!type) return failure(node->range);
    if (type->kind == TC_VOID) {
        Expr e = tc_expr(tc, node->kids[1]);
        return e.kind == X_ERROR ? e : (Expr){.kind = X_VOID, .range = node->range};
    }
    if (type->kind != TC_SCALAR)
        return TC_FAIL(tc, TC_UNSUPPORTED, node->range, arena_printf(tc->arena, "casts to %s", type->name),
                       "use tile_view(type, tile) to see a tile as another");
    if (!tc_number(tc, node->kids[1], &s)) return failure(node->range);
    return scalar_expr(tc_convert(tc, s, type, node->range), node->range);
}

static Expr call_expr(Tc *tc, const CNode *node) {
    const CNode *callee = node->kids[0];
    if (callee->kind == C_MEMBER && node->count == 1)
        return TC_FAIL(tc, TC_UNSUPPORTED, node->range, "functions of a value",
                       arena_printf(tc->arena, "write `.%s` without parentheses", callee->name));
    if (callee->kind != C_IDENT)
        return TC_FAIL(tc, TC_UNSUPPORTED, callee->range, "calls through a value", "call a function by its name");
    const Symbol *symbol = tc_find(tc, callee->name);
    if (symbol && symbol->kind == SYMBOL_FUNCTION) return tc_call_function(tc, symbol->node, node);
    if (!strcmp(callee->name, "at")) return tc_at_expr(tc, node);
    if (!strcmp(callee->name, "shared_alloc")) return tc_shared_alloc_expr(tc, node);
    if (!strcmp(callee->name, "tile_view")) return tc_view_expr(tc, node);
    bool part = !strcmp(callee->name, "subtile") || !strcmp(callee->name, "subvec");
    if (part) return tc_part_expr(tc, node, callee->name);
    return tc_call_builtin(tc, node);
}

/* int, or the first of unsigned, long, unsigned long that holds the number and has its suffix */
Elem tc_literal_elem(const CNode *node) {
    bool is_long = node->flags & C_FLAG_LONG, is_unsigned = node->flags & C_FLAG_UNSIGNED;
    if (is_unsigned) return is_long || node->number > UINT32_MAX ? EL_U64 : EL_U32;
    if (node->number > INT64_MAX) return EL_U64;
    bool any = node->flags & C_FLAG_NOT_DECIMAL; /* 0xffffffff is unsigned */
    if (any && !is_long && node->number > INT32_MAX && node->number <= UINT32_MAX) return EL_U32;
    return is_long || node->number > INT32_MAX ? EL_I64 : EL_I32;
}

Expr tc_expr(Tc *tc, const CNode *node) {
    Range outer = tc->b.range;
    tc->b.range = node->range;
    Expr e = failure(node->range);
    Scalar a, b;
    switch (node->kind) {
    case C_INT: {
        Elem elem = tc_literal_elem(node);
        e = scalar_expr(tc_scalar(tc_scalar_type(elem), ir_int(&tc->b, elem, (int64_t)node->number), NULL),
                        node->range);
        break;
    }
    case C_FLOAT: {
        Elem elem = node->flags & C_FLAG_SINGLE ? EL_F32 : EL_F64;
        e = scalar_expr(tc_scalar(tc_scalar_type(elem), ir_float(&tc->b, elem, node->real), NULL), node->range);
        break;
    }
    case C_IDENT: e = name_expr(tc, node); break;
    case C_MEMBER: e = member_expr(tc, node); break;
    case C_INDEX: e = index_expr(tc, node); break;
    case C_CALL: e = call_expr(tc, node); break;
    case C_UNARY: e = unary_expr(tc, node); break;
    case C_POSTFIX:
    case C_ASSIGN: e = assign_expr(tc, node); break;
    case C_BINARY:
        if (node->op == CT_AND_AND || node->op == CT_OR_OR)
            e = logical_expr(tc, node);
        else if (tc_number(tc, node->kids[0], &a) && tc_number(tc, node->kids[1], &b))
            e = scalar_expr(tc_binary(tc, node->op, a, b, node->range), node->range);
        break;
    case C_CONDITIONAL: e = conditional_expr(tc, node); break;
    case C_CAST: e = cast_expr(tc, node); break;
    case C_COMMA:
        tc_expr(tc, node->kids[0]);
        e = tc_expr(tc, node->kids[1]);
        break;
    case C_COMPOUND: {
        const TcType *type = tc_type(tc, node->kids[0]);
        if (!type) break;
        Object *place = tc_place(tc, type, "literal", node->range);
        tc_initialize(tc, place, node->kids[1]);
        e = place_expr(place, node->range);
        break;
    }
    case C_SIZEOF: {
        int64_t size;
        if (tc_constant(tc, node, &size, "sizeof of an expression"))
            e = scalar_expr(tc_scalar(tc_scalar_type(EL_U64), ir_int(&tc->b, EL_U64, size), NULL), node->range);
        break;
    }
    default:
        e = TC_FAIL(tc, TC_UNSUPPORTED, node->range, arena_printf(tc->arena, "a %s here", c_kind_name(node->kind)),
                    "write a number or a tile");
    }
    tc->b.range = outer;
    return e;
}
