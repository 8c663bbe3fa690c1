/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_emit.c: statements, control flow and the entry function of an emitted CPU kernel.
 *
 * Scalars are C variables, tiles are what the plan made of them (cpu_plan.c). Control flow is C's
 * own: a loop's carried scalars are variables declared before it, its carried tiles blocks of
 * scratch; results are other names for them. */
#include "ir/build.h"
#include "ir/threads.h"
#include "pass/pass.h"
#include "target/cpu/cpu_internal.h"

/* Names that the emitter itself uses. */
static const char *const own_names[] = {
    "launch", "begin", "end",  "scratch", "program", "args",   "o",    "j",     "r",      "r0",
    "r1",     "r2",    "r3",   "r4",      "r5",      "r6",     "r7",   "r8",    "r9",     "best",
    "found",  "here",  "line", "column",  "i0",      "i1",     "i2",   "i3",    "i4",     "i5",
    "i6",     "i7",    "i8",   "i9",      "i10",     "i11",    "pid0", "pid1",  "pid2",   "half",
    "top",    "q",     "l",    "bests",   "founds",  "chains", "take", "equal", "values", NULL};

/* --- carried values --- */

/* Declares the variable or memory of a carried value, without a value. */
static void declare(Emit *e, Ref v) {
    if (cpu_is_tile(e->k, v))
        cpu_declare(e, v);
    else {
        const char *type = cs_value_type(&e->p, ir_type(e->k, v));
        cs_line(&e->p, "%s;", cs_variable(&e->p, type, cs_name(&e->p, v)));
    }
}

/* to = from, where no other copy of the same moment can get in the way. */
static void assign(Emit *e, Ref to, Ref from) {
    if (!cpu_is_tile(e->k, to))
        cs_line(&e->p, "%s = %p;", cs_name(&e->p, to), cpu_ref(e, from));
    else if (!cpu_shares_block(&e->plan, to, from))
        cpu_fill(e, cs_ref(&e->p, to), false, from);
}

/* The end of a round of a for: all carried values at once. What would be overwritten before it is read is set aside. */
static void carry_on(Emit *e, Op *yield, Region *body) {
    int n = yield->operand_count;
    const Expr **aside = ARENA_ARRAY(e->arena, const Expr *, n);
    for (int i = 0; i < n; i++) {
        Ref from = yield->operands[i], to = body->args[1 + i];
        int temp = cpu_place(&e->plan, yield)->temp[i];
        const Type *type = ir_type(e->k, from);
        if (temp >= 0) {
            aside[i] = cpu_memory(e, type, false, temp, "aside");
            cpu_fill(e, aside[i], false, from);
        } else if (!cpu_is_tile(e->k, to) && ref_is_value(from) && ir_value(e->k, from)->region == body && from != to) {
            aside[i] = cpu_fresh(e, "aside");
            const char *text = cs_constant(&e->p, cs_value_type(&e->p, type), aside[i]->text);
            cs_line(&e->p, "%s = %p;", text, cpu_ref(e, from));
        }
    }
    for (int i = 0; i < n; i++) {
        Ref from = yield->operands[i], to = body->args[1 + i];
        if (!aside[i] && from != to)
            assign(e, to, from);
        else if (aside[i] && cpu_is_tile(e->k, to)) {
            long long bytes = (long long)cpu_tile_bytes(ir_type(e->k, to), false);
            cs_line(&e->p, "__builtin_memcpy(%s, %p, %lld);", cs_name(&e->p, to), aside[i], bytes);
        } else if (aside[i])
            cs_line(&e->p, "%s = %p;", cs_name(&e->p, to), aside[i]);
    }
}

/* --- loops that may not end --- */

/* for (type k = first; k < end; k++), in parts unless it is short. */
static void open_for(Emit *e, const Op *op, const char *type, const Expr *k, const Expr *first, const Expr *end) {
    if (cpu_is_short(e->k, op)) {
        cs_open(&e->p, "for (%s %p = %p; %p < %p; %p++)", type, k, first, k, end, k);
        return;
    }
    const Expr *until = cpu_fresh(e, "until");
    cs_open(&e->p, "for (%s %p = %p; %p < %p;)", type, k, first, k, end);
    cs_line(&e->p, "const %s %p = TW_UNTIL(%p, %p, %lld);", type, until, k, end,
            (long long)cpu_trips_between_looks(e->k, op->regions[0]));
    cs_open(&e->p, "for (; %p < %p; %p++)", k, until, k);
}

static void close_for(Emit *e, const Op *op, const Expr *k, const Expr *end) {
    cs_close(&e->p);
    if (cpu_is_short(e->k, op)) return;
    cs_line(&e->p, "if (%p < %p && tw_stopped(launch)) return;", k, end);
    cs_close(&e->p);
}

static void emit_for(Emit *e, Op *op) {
    const Gemm *gemm = cpu_gemm(&e->plan, op);
    if (gemm) {
        cpu_emit_gemm(e, gemm);
        return;
    }
    Region *body = op->regions[0];
    for (int i = 0; i < op->result_count; i++) {
        Ref arg = body->args[1 + i];
        declare(e, arg);
        assign(e, arg, op->operands[3 + i]);
        cs_bind(&e->p, op->results[i], cs_ref(&e->p, arg));
    }
    const Type *type = ir_type(e->k, body->args[0]);
    const char *t = elem_info[type->elem].text;
    const Expr *k = cs_ref(&e->p, body->args[0]), *lo = cpu_ref(e, op->operands[0]), *hi = cpu_ref(e, op->operands[1]);
    const Expr *step = cpu_ref(e, op->operands[2]), *count = k, *end = hi;
    int64_t by = 0;
    if (ir_const_int(e->k, op->operands[2], &by) && by == 1) {
        open_for(e, op, t, k, lo, hi);
    } else {
        count = cpu_fresh(e, "trip"), end = cpu_fresh(e, "trips");
        cs_line(&e->p, "const i64 %p = tw_trips(%p, %p, %p);", end, lo, hi, step);
        open_for(e, op, "i64", count, &expr_zero, end);
        cs_line(&e->p, "const %s %p = %p;", t, k, ex(e->arena, "(%s)(%p + %p * %p)", t, lo, count, step));
    }
    cpu_emit_ops(e, body);
    carry_on(e, body->last, body);
    close_for(e, op, count, end);
}

static void emit_while(Emit *e, Op *op) {
    Region *test = op->regions[0], *body = op->regions[1];
    for (int i = 0; i < op->result_count; i++) {
        declare(e, test->args[i]);
        declare(e, body->args[i]);
        assign(e, test->args[i], op->operands[i]);
        cs_bind(&e->p, op->results[i], cs_ref(&e->p, body->args[i]));
    }
    const char *turn = cs_fresh(&e->p, "turn");
    cs_line(&e->p, "u32 %s = 0;", turn);
    cs_open(&e->p, "for (;;)");
    cpu_emit_ops(e, test);
    for (int i = 0; i < op->result_count; i++) assign(e, body->args[i], test->last->operands[1 + i]);
    cs_line(&e->p, "if (!%p) break;", cpu_ref(e, test->last->operands[0]));
    cs_line(&e->p, "if (TW_UNLIKELY(++%s %% %lldu == 0) && tw_stopped(launch)) return;", turn,
            (long long)cpu_trips_between_looks(e->k, body));
    cpu_emit_ops(e, body);
    for (int i = 0; i < op->result_count; i++) assign(e, test->args[i], body->last->operands[i]);
    cs_close(&e->p);
}

static void emit_if(Emit *e, Op *op) {
    for (int i = 0; i < op->result_count; i++) declare(e, op->results[i]);
    for (int r = 0; r < op->region_count; r++) {
        Region *branch = op->regions[r];
        bool empty = branch->first == branch->last && !op->result_count;
        if (r && empty) break;
        if (r)
            cs_reopen(&e->p, "else");
        else
            cs_open(&e->p, "if (%p)", cpu_ref(e, op->operands[0]));
        cpu_emit_ops(e, branch);
        for (int i = 0; i < op->result_count; i++) assign(e, op->results[i], branch->last->operands[i]);
    }
    cs_close(&e->p);
}

/* --- statements --- */

static void emit_part(Emit *e, Op *op) {
    const Tensor *t = cpu_tensor(e, op->operands[0]);
    int d = (int)op_int(op, AT_DIM, 0);
    const Expr *extent = t->extent[d] ? t->extent[d] : cs_number(e->arena, EL_I64, INT64_MAX);
    cs_bind(&e->p, op->results[0], op->code == OP_BASE ? t->base : op->code == OP_EXTENT ? extent : t->stride[d]);
}

/* An inlinable op at its place: a scalar is computed; a tile only if the plan put it into memory. */
static void emit_pure(Emit *e, Op *op) {
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result);
    const Placed *placed = cpu_placed(&e->plan, result);
    if (op->code == OP_TLOAD && type->rank == 0)
        cpu_scalar_tload(e, op);
    else if (type->rank == 0)
        cpu_emit_scalar(e, op);
    else if (placed->roots.count || op->result_count > 1) {
        if (op->code == OP_TLOAD) cpu_box(e, op);
        for (int i = 0; i < op->result_count && placed->storage == STORAGE_MEMORY; i++) {
            cpu_declare(e, op->results[i]);
            cpu_fill(e, cs_ref(&e->p, op->results[i]), cpu_placed(&e->plan, op->results[i])->wide, op->results[i]);
        }
    }
}

static void emit_buffer(Emit *e, Op *op) {
    Ref result = op->results[0];
    const Value *value = ir_value(e->k, result);
    if (threads_are_around(op)) { /* each thread has it for itself */
        const char *name = cs_name(&e->p, result);
        cs_line(&e->p, "%s %s[%lld];", cs_memory_type(value->type->elem), name, (long long)ty_elements(value->type));
        return;
    }
    cs_bind(&e->p, result, cpu_memory(e, value->type, false, cpu_placed(&e->plan, result)->block, value->name));
}

void cpu_emit_op(Emit *e, Op *op) {
    switch (op->code) {
    case OP_PROGRAM_ID: cs_bind(&e->p, op->results[0], e->pid[op_int(op, AT_DIM, 0)]); return;
    case OP_NUM_PROGRAMS:
        cs_bind(&e->p, op->results[0], ex(e->arena, "launch->grid[%d]", (int)op_int(op, AT_DIM, 0)));
        return;
    case OP_TENSOR: cpu_emit_tensor(e, op); return;
    case OP_EXTENT:
    case OP_STRIDE:
    case OP_BASE: emit_part(e, op); return;
    case OP_SCAN: cpu_emit_scan(e, op); return;
    case OP_SORT: cpu_emit_sort(e, op); return;
    case OP_HISTOGRAM: cpu_emit_histogram(e, op); return;
    case OP_DOT: cpu_emit_dot(e, op); return;
    case OP_CAT:
    case OP_INSERT: cpu_emit_pieces(e, op); return;
    case OP_SCATTER: cpu_emit_scatter(e, op); return;
    case OP_STORE: cpu_emit_store(e, op); return;
    case OP_TSTORE: cpu_emit_tstore(e, op); return;
    case OP_BSTORE: cpu_emit_bstore(e, op); return;
    case OP_ATOMIC:
    case OP_ATOMIC_CAS: cpu_emit_atomic(e, op); return;
    case OP_TATOMIC: cpu_emit_tatomic(e, op); return;
    case OP_FENCE: cs_line(&e->p, "__atomic_thread_fence(5);"); return;
    case OP_BUF: emit_buffer(e, op); return;
    case OP_FOR: emit_for(e, op); return;
    case OP_WHILE: emit_while(e, op); return;
    case OP_IF: emit_if(e, op); return;
    case OP_ASSERT: cpu_emit_assert(e, op); return;
    case OP_ASSUME:
    case OP_REQUIRE:
    case OP_RETURN: return;
    case OP_SYNC:
        if (op_word(op, AT_UNIT, UNIT_BLOCK) == UNIT_GRID)
            cpu_unsupported(e, op, "programs of a grid cannot wait for each other here");
        break;
    case OP_ASYNC_COPY: cpu_unsupported(e, op, "copies that land later run on interp only"); return;
    case OP_PRINT: cpu_emit_print(e, op); return;
    case OP_MAP: cpu_emit_map(e, op); return;
    default: break;
    }
    if (cpu_emit_worker_op(e, op)) return;
    if (cpu_is_inlinable(e->k, op))
        emit_pure(e, op);
    else if (op->code == OP_REDUCE)
        cpu_emit_reduce(e, op);
    else
        cpu_unsupported(e, op, "this target has no code for it");
}

/* Of use to the launcher alone. */
static bool is_for_launcher(const Emit *e, const Op *op) {
    bool scalar = op->result_count == 1 && op_has(op->code, TRAIT_PURE) && !op->region_count &&
                  ty_is_scalar(ir_type(e->k, op->results[0]));
    return op->code == OP_REQUIRE || (scalar && !e->uses[op->results[0]]);
}

void cpu_emit_ops(Emit *e, Region *region) {
    for (Op *op = region->first; op && !op_has(op->code, TRAIT_TERMINATOR); op = op->next) {
        if (is_for_launcher(e, op)) continue;
        cs_place(&e->p, op->range);
        cpu_emit_op(e, op);
    }
}

/* --- entry --- */

static const Expr *scalar_argument(Emit *e, const Type *type, int slot) {
    const Expr *word = ex(e->arena, "args[%d]", slot);
    Elem elem = type->elem;
    if (type->pointer) return ex(e->arena, "(%s)%p", cs_value_type(&e->p, type), word);
    if (elem == EL_F32) return ex(e->arena, "tw_as_f32((u32)%p)", word);
    if (elem == EL_F64) return ex(e->arena, "tw_as_f64(%p)", word);
    return cs_unpack(&e->p, elem, ex(e->arena, "(%s)%p", cs_memory_type(elem), word));
}

static void emit_parameter(Emit *e, Ref arg, int *slot) {
    const Type *type = ir_type(e->k, arg);
    const char *name = cs_name(&e->p, arg);
    if (type->kind != TY_TENSOR) {
        const char *text = cs_constant(&e->p, cs_value_type(&e->p, type), name);
        cs_line(&e->p, "%s = %p;", text, scalar_argument(e, type, *slot));
        ++*slot;
        return;
    }
    Tensor *t = ARENA_NEW(e->arena, Tensor);
    t->base = cs_ref(&e->p, arg);
    cs_line(&e->p, "%s *const %s = (%s *)args[%d];", cs_memory_type(type->elem), name, cs_memory_type(type->elem),
            *slot);
    for (int d = 0; d < type->rank; d++) {
        t->extent[d] = cpu_fresh(e, "%s_e%d", name, d);
        t->stride[d] = cpu_fresh(e, "%s_s%d", name, d);
        cs_line(&e->p, "const i64 %p = (i64)args[%d], %p = (i64)args[%d];", t->extent[d], *slot + 1 + d, t->stride[d],
                *slot + 1 + type->rank + d);
    }
    *slot += 1 + 2 * type->rank;
    map_put_number(&e->tensors, e->arena, arg, t);
}

static void emit_entry(Emit *e) {
    cs_open(&e->p, "void tw_run(TwLaunch *launch, i64 begin, i64 end, u8 *scratch)");
    cs_line(&e->p, "const u64 *const args = launch->args;");
    int slot = 0;
    for (int i = 0; i < e->k->body->arg_count; i++) emit_parameter(e, e->k->body->args[i], &slot);
    if (e->plan.rows) cs_line(&e->p, "const u8 *ahead[%d] = {0};", MOST_AHEAD);
    cs_open(&e->p, "for (i64 program = begin; program < end; program++)");
    cs_line(&e->p, "const i32 pid0 = (i32)(program %% launch->grid[0]);");
    cs_line(&e->p, "const i32 pid1 = (i32)(program / launch->grid[0] %% launch->grid[1]);");
    cs_line(&e->p, "const i32 pid2 = (i32)(program / launch->grid[0] / launch->grid[1]);");
    for (int d = 0; d < 3; d++) e->pid[d] = ex(e->arena, "pid%d", d);
    cpu_emit_ops(e, e->k->body);
    cs_close(&e->p);
    cs_close(&e->p);
}

/* --- what the text needs of the prelude --- */

typedef struct Part {
    const char *header; /* NULL: cpu.h, which all include */
    bool libm;
} Part;
static const Part parts[PARTS] = {
    [PART_FMA] = {NULL, true},
    [PART_CONVERT] = {"convert.h", false},
    [PART_INTEGER] = {"integer.h", false},
    [PART_VMATH] = {"vmath.h", false},
    [PART_FUNCTIONS] = {"functions.h", true},
    [PART_DOT] = {"dot.h", true},
    [PART_GEMM] = {"gemm.h", true},
    [PART_SORT] = {"sort.h", false},
    [PART_SCAN] = {"scan.h", false},
    [PART_INDICES] = {"indices.h", false},
    [PART_TURN] = {"turn.h", false},
    [PART_THREADS] = {"workers.h", false},
    [PART_PRODUCTS] = {NULL, true}, /* of dot.h and gemm.h: what can be linked */
};

void cpu_needs(Emit *e, int part) { e->p.expr.parts |= 1u << part; }

bool cpu_emit(Kernel *k, Arena *arena, CpuCode *code) {
    if (!pass_takes_form(k, FORM_RING, "target cpu")) return false;
    Emit *e = ARENA_NEW(arena, Emit);
    e->k = k;
    e->arena = arena;
    e->diag = k->module->diag;
    cs_init(&e->p, arena, k, &dialect_c);
    cs_reserve(&e->p, own_names);
    cpu_plan(&e->plan, k, arena);
    e->uses = cs_count_uses(k, arena);
    emit_entry(e);
    Text out = text_new(arena);
    bool libm = false;
    text_add(&out, "/* Made by Tilewright from kernel @%s. */\n#include \"cpu.h\"\n", k->name);
    for (int part = 0; part < PARTS; part++) {
        if (!(e->p.expr.parts >> part & 1)) continue;
        if (parts[part].header) text_add(&out, "#include \"%s\"\n", parts[part].header);
        libm |= parts[part].libm;
    }
    const char *externs = cs_externs(arena, k);
    if (externs) text_add(&out, "\n%s", externs);
    text_add(&out, "\n%s%s%s", cs_text(arena, &e->helpers), e->helpers.count ? "\n" : "", cs_text(arena, &e->p.lines));
    *code = (CpuCode){.text = out.at,
                      .uses_libm = libm || externs,
                      .has_externs = externs != NULL,
                      .has_products = e->p.expr.parts >> PART_PRODUCTS & 1,
                      .scratch_bytes = e->plan.scratch,
                      .asserts = e->asserts.at,
                      .assert_count = (int)e->asserts.count,
                      .prints = e->prints.at,
                      .print_count = (int)e->prints.count,
                      .has_workers = e->p.expr.parts >> PART_THREADS & 1};
    return !e->failed;
}
