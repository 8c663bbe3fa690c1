/* SPDX-License-Identifier: Apache-2.0 */
/* scalars.c: small programs on integer scalars, run at launch: the kernel's own grid, and what a
 * `require` asks of.
 *
 * Compiling takes the references that are wanted and follows them back through pure integer ops
 * to parameters, parts of tensors, the grid and literals. The result is a straight list of steps
 * over registers: running it allocates nothing.
 *
 *     %nk = cdiv %K, 64        step 3: cdiv i32 r1 r2 -> r3 */
#include "runtime/compile/scalars.h"

#include "base/scalar_ops.h"
#include "ir/element.h"
#include "pass/fold/fold.h"

#include <string.h>

typedef struct Compiler {
    const Kernel *k;
    const RunParam *params;
    int param_count;
    Arena *arena;
    const char *why;
    VEC(ScalarStep) steps;
    Map done; /* Ref -> register + 1 */
} Compiler;

static int compile_ref(Compiler *c, Ref ref);

static int fail(Compiler *c, const Op *op) {
    c->why = op ? op_info[op->code].mnemonic : "a value that is no integer";
    return -1;
}

static int add_step(Compiler *c, ScalarStep step) {
    *VEC_PUSH(&c->steps, c->arena) = step;
    return (int)c->steps.count - 1;
}

/* The run-time parameter behind an argument of the kernel's body or, by name, of its grid region. */
static const RunParam *find_param(const Compiler *c, Ref ref) {
    const Value *value = ir_value(c->k, ref);
    for (int i = 0; i < c->param_count; i++)
        if (value->name && strcmp(c->params[i].name, value->name) == 0) return &c->params[i];
    return NULL;
}

/* Addresses are numbers of 64 bits. */
static Elem number_elem(const Type *type) { return type->pointer ? EL_U64 : type->elem; }

static int compile_argument(Compiler *c, Ref ref) {
    const RunParam *param = find_param(c, ref);
    if (!param || param->type->kind != TY_TILE) return fail(c, NULL);
    Elem elem = number_elem(param->type);
    if (elem_is_float(elem)) return fail(c, NULL);
    return add_step(c, (ScalarStep){.kind = STEP_SLOT, .elem = elem, .at = {param->slot}});
}

/* extent, stride or base of a tensor: of a parameter, or of a `tensor` op. */
static int compile_part(Compiler *c, const Op *op) {
    Ref tensor = op->operands[0];
    const Op *made = ir_value(c->k, tensor)->op;
    int d = (int)op_int(op, AT_DIM, 0);
    if (made) {
        if (made->code != OP_TENSOR) return fail(c, made);
        if (op->code == OP_BASE) return compile_ref(c, made->operands[0]);
        RefList list = op_list(made, op->code == OP_STRIDE);
        return d < list.count && list.at[d] ? compile_ref(c, list.at[d]) : fail(c, made);
    }
    const RunParam *param = find_param(c, tensor);
    if (!param || param->type->kind != TY_TENSOR) return fail(c, op);
    int rank = param->type->rank;
    int slot = param->slot + (op->code == OP_BASE ? 0 : op->code == OP_EXTENT ? 1 + d : 1 + rank + d);
    return add_step(c, (ScalarStep){.kind = STEP_SLOT, .elem = EL_I64, .at = {slot}});
}

static int compile_op(Compiler *c, const Op *op) {
    if (op->code == OP_NUM_PROGRAMS)
        return add_step(c, (ScalarStep){.kind = STEP_GRID, .elem = EL_I32, .at = {(int)op_int(op, AT_DIM, 0)}});
    if (!op_has(op->code, TRAIT_LAUNCH)) return fail(c, op);
    if (!op_has(op->code, TRAIT_ELEMENTWISE)) return compile_part(c, op);
    ScalarStep step = {.kind = STEP_OP, .code = op->code, .predicate = op_word(op, AT_PRED, CMP_EQ)};
    step.elem = number_elem(ir_type(c->k, op->results[0]));
    step.from = number_elem(ir_type(c->k, op->operands[op->operand_count - 1]));
    if (op->code == OP_PTR_ADD) step.number = elem_info[ir_type(c->k, op->results[0])->elem].bytes;
    if (elem_is_float(step.elem) || elem_is_float(step.from)) return fail(c, op);
    for (int i = 0; i < op->operand_count && i < 3; i++) {
        step.at[i] = compile_ref(c, op->operands[i]);
        if (step.at[i] < 0) return -1;
    }
    return add_step(c, step);
}

static int compile_ref(Compiler *c, Ref ref) {
    if (ref_is_literal(ref)) {
        const Literal *l = ir_literal(c->k, ref);
        if (elem_is_float(number_elem(l->type))) return fail(c, NULL);
        return add_step(c, (ScalarStep){.kind = STEP_LITERAL, .number = l->i});
    }
    MapEntry *known = map_find_number(&c->done, ref);
    if (known) return (int)(uintptr_t)known->value - 1;
    const Value *value = ir_value(c->k, ref);
    if (value->type->kind == TY_TENSOR && !value->op) { /* stands for its address */
        const RunParam *param = find_param(c, ref);
        return param ? add_step(c, (ScalarStep){.kind = STEP_SLOT, .elem = EL_U64, .at = {param->slot}})
                     : fail(c, NULL);
    }
    if (value->type->kind != TY_TILE || value->type->rank) return fail(c, value->op);
    int at = value->op ? compile_op(c, value->op) : compile_argument(c, ref);
    if (at >= 0) map_put_number(&c->done, c->arena, ref, (void *)(uintptr_t)(at + 1));
    return at;
}

ScalarProgram *scalars_compile(const Kernel *k, const Ref *wanted, int count, const RunParam *params, int param_count,
                               Arena *arena, const char **why) {
    Compiler c = {.k = k, .params = params, .param_count = param_count, .arena = arena};
    ScalarProgram *program = ARENA_NEW(arena, ScalarProgram);
    program->result_count = count;
    program->results = ARENA_ARRAY(arena, int, count);
    for (int i = 0; i < count; i++) {
        program->results[i] = compile_ref(&c, wanted[i]);
        if (program->results[i] < 0) {
            *why = c.why;
            return NULL;
        }
    }
    program->count = (int)c.steps.count;
    program->steps = c.steps.at;
    program->registers = ARENA_ARRAY(arena, int64_t, program->count);
    return program;
}

static int64_t compare(const ScalarStep *step, int64_t x, int64_t y) {
    switch (step->predicate) {
#define CASE(NAME, name) \
    case CMP_##NAME: return scalar_is_##name(x, y, elem_is_signed(step->from));
        SCALAR_COMPARE(CASE)
#undef CASE
    default: return 0;
    }
}

static int64_t run_step(const ScalarStep *step, const int64_t *r) {
    int64_t x = r[step->at[0]], y = r[step->at[1]], out = 0;
    switch (step->code) {
#define CASE(NAME, name) \
    case OP_##NAME: return scalar_##name(x, elem_info[step->elem].bits, elem_is_signed(step->elem));
        SCALAR_UNARY(CASE)
#undef CASE
    case OP_CMP: return compare(step, x, y);
    case OP_PTR_ADD: return (int64_t)((uint64_t)x + (uint64_t)y * (uint64_t)step->number);
    case OP_SELECT: return x ? y : r[step->at[2]];
    default: fold_int(step->code, step->elem, x, y, &out); return out;
    }
}

void scalars_run(const ScalarProgram *program, const uint64_t *slots, const int64_t grid[3], int64_t *results) {
    scalars_run_in(program, program->registers, slots, grid, results);
}

void scalars_run_in(const ScalarProgram *program, int64_t *r, const uint64_t *slots, const int64_t grid[3],
                    int64_t *results) {
    for (int i = 0; i < program->count; i++) {
        const ScalarStep *step = &program->steps[i];
        switch (step->kind) {
        case STEP_LITERAL: r[i] = step->number; break;
        case STEP_SLOT: r[i] = elem_get_i64(step->elem, &slots[step->at[0]]); break;
        case STEP_GRID: r[i] = grid[step->at[0]]; break;
        case STEP_OP: r[i] = run_step(step, r); break;
        }
    }
    for (int i = 0; i < program->result_count; i++) results[i] = r[program->results[i]];
}
