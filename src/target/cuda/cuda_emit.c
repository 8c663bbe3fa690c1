/* cuda_emit.c: the .cu of a kernel: file, entry, control flow; cuda_emit.h says how values are
 * held.
 *
 *     // add: from add.py, by tilewright ..
 *     #include "tilewright.cuh"
 *     extern "C" __global__ void __launch_bounds__(128) add(f32 *x, ..) {
 *         const i32 at0 = tw_thread() * 4;
 *         ..
 *     }
 *     TW_KERNEL(add) */
#include "target/cuda/cuda_emit.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { TEXT_WIDTH = 110 }; /* columns of the emitted text */

/* --- holds --- */
Hold *emit_hold(Emit *e, Ref ref) {
    while (e->holds.count <= ref) VEC_PUSH(&e->holds, e->arena);
    return &e->holds.at[ref];
}

void emit_set(Emit *e, Ref ref, HoldKind kind, const char *text) { *emit_hold(e, ref) = (Hold){kind, text}; }

void emit_same(Emit *e, Ref ref, Ref other) {
    Hold hold = *emit_hold(e, other); /* first: the table may grow */
    *emit_hold(e, ref) = hold;
}

bool emit_is_tile(Emit *e, Ref ref) {
    if (!ref_is_value(ref)) return false;
    const Type *t = ir_type(e->k, ref);
    return t->kind == TY_TILE && t->rank > 0;
}

const Layout *emit_layout(Emit *e, Ref ref) { return emit_is_tile(e, ref) ? ir_value(e->k, ref)->layout : NULL; }

const char *emit_scalar(Emit *e, Ref ref) {
    if (ref_is_literal(ref)) return cs_literal(&e->p, ir_literal(e->k, ref));
    const Hold *hold = emit_hold(e, ref);
    if (hold->kind == HOLD_NONE && e->k->module->diag->errors) return "0"; /* nothing is kept anyway */
    if (hold->kind == HOLD_NONE) ice(e->k->module->trap, "cuda: %%%s is not there yet", cs_name(&e->p, ref));
    return hold->text;
}

const char *emit_array_type(Emit *e, const Type *type) {
    if (type->pointer || type->elem == EL_I1) return cs_value_type(&e->p, type);
    return cs_memory_type(type->elem);
}

const char *emit_declare(Emit *e, Ref ref) {
    const char *name = cs_name(&e->p, ref);
    cs_line(&e->p, "%s %s[%d];", emit_array_type(e, ir_type(e->k, ref)), name, emit_layout(e, ref)->registers);
    emit_set(e, ref, HOLD_ARRAY, name);
    return name;
}

void emit_forget(Emit *e, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->result_count; i++) emit_set(e, op->results[i], HOLD_NONE, NULL);
        for (int i = 0; i < op->region_count; i++) emit_forget(e, op->regions[i]);
    }
}

void emit_unroll_from(Emit *e, const char *variable, int from, int to, int step) {
    e->vector_bits = ll_log2(step);
    cs_loop(&e->p, "#pragma unroll", variable, from, to, step);
}

void emit_unroll(Emit *e, const char *variable, int count, int step) { emit_unroll_from(e, variable, 0, count, step); }

void emit_block(Emit *e) { cs_block(&e->p); }

bool emit_may_reuse(Emit *e, Ref ref, const Op *op) {
    if (!ref_is_value(ref) || e->uses[ref] != 1 || emit_hold(e, ref)->kind != HOLD_ARRAY) return false;
    const Value *v = ir_value(e->k, ref);
    if (!v->op) return v->region == op->parent;
    /* An op that only renames its operand's array does not own it. */
    bool renames =
        v->op->code == OP_EXPAND || v->op->code == OP_RESHAPE || v->op->code == OP_PERMUTE || v->op->code == OP_CONVERT;
    return v->op->parent == op->parent && !renames;
}

void emit_find(Emit *e, const Op *op, const char *subject, const char *format, ...) {
    if (map_find_number(&e->found, (uintptr_t)op)) return;
    map_put_number(&e->found, e->arena, (uintptr_t)op, NULL);
    va_list args;
    va_start(args, format);
    pass_find(e->cx, op->range, subject, "%s", arena_vprintf(e->arena, format, args));
    va_end(args);
}

void emit_refuse(Emit *e, const Op *op, const char *what) {
    diag_emit(e->k->module->diag, DIAG_CUDA_REFUSED, op->range, op_info[op->code].mnemonic, what);
}

/* --- control flow --- */
static bool region_has(Emit *e, const Region *region, bool (*asked)(Emit *e, const Op *op)) {
    for (const Op *op = region->first; op; op = op->next) {
        if (asked(e, op)) return true;
        for (int i = 0; i < op->region_count; i++)
            if (region_has(e, op->regions[i], asked)) return true;
    }
    return false;
}

/* Rings have barriers of their own, but for those between roles on the same threads. */
static bool uses_shared(Emit *e, const Op *op) {
    if (op->code == OP_PUT || op->code == OP_GET)
        return ring_find(e, ir_value(e->k, op->operands[0])->op->operands[0])->fused; /* skewed: its own barriers too */
    return map_find_number(&e->offsets, (uintptr_t)op) != NULL;
}

Pending emit_pending(const Emit *e) {
    return (Pending){e->reads_pending, e->writes_pending, e->async_pending, e->stores_pending,
                     e->bulk_pending,  e->scratch_read,   e->loaded,        e->stored,
                     e->combined,      e->in_flight,      e->by_threads};
}

void emit_pending_set(Emit *e, Pending p) {
    e->reads_pending = p.reads, e->writes_pending = p.writes, e->async_pending = p.async;
    e->stores_pending = p.stores, e->bulk_pending = p.bulk, e->scratch_read = p.scratch_read;
    e->loaded = p.loaded, e->stored = p.stored, e->combined = p.combined;
    e->in_flight = p.in_flight, e->by_threads = p.by_threads;
}

void emit_pending_add(Emit *e, Pending p) {
    if (e->scratch_read != p.scratch_read) e->scratch_read = NULL;
    e->reads_pending |= p.reads, e->writes_pending |= p.writes, e->async_pending |= p.async;
    e->stores_pending |= p.stores, e->bulk_pending |= p.bulk;
    e->loaded |= p.loaded, e->stored |= p.stored, e->combined |= p.combined;
    e->in_flight |= p.in_flight, e->by_threads |= p.by_threads;
}

/* Notes all accesses of the region. */
static void mark_region(Emit *e, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        memory_mark(e, op);
        for (int i = 0; i < op->region_count; i++) mark_region(e, op->regions[i]);
    }
}

/* What an earlier trip of the loop may have left pending. */
void emit_enter_loop(Emit *e, const Op *op) {
    for (int i = 0; i < op->region_count; i++) {
        if (region_has(e, op->regions[i], uses_shared)) {
            e->reads_pending = e->writes_pending = true;
            e->scratch_read = NULL;
        }
        mark_region(e, op->regions[i]);
    }
}

/* Copies a value (scalar or tile) into a carried variable. */
static void copy_to(Emit *e, Ref target, Ref source, const char *to) {
    const Layout *layout = emit_layout(e, target);
    if (!layout) {
        cs_line(&e->p, "%s = %s;", to, emit_scalar(e, source));
        return;
    }
    const Hold *hold = emit_hold(e, source);
    if (ref_is_value(source) && hold->kind == HOLD_ARRAY && strcmp(hold->text, to) == 0) return;
    const Type *type = ir_type(e->k, target);
    emit_unroll(e, "r", layout->registers, 1);
    const char *text = ref_is_value(source) && hold->kind == HOLD_ARRAY
                           ? arena_printf(e->arena, "%s[%s]", hold->text, place_operand(e, source, layout, "r"))
                           : elementwise_packed(e, type->elem, elementwise_operand(e, source, layout, "r"));
    cs_line(&e->p, "%s[r] = %s;", to, text);
    cs_close(&e->p);
}

void emit_copy(Emit *e, Ref target, Ref source) { copy_to(e, target, source, emit_hold(e, target)->text); }

/* Is every element of the value +0? */
static bool is_zero(Emit *e, Ref ref) {
    const Op *op = ref_is_value(ref) ? ir_value(e->k, ref)->op : NULL;
    if (op && (op->code == OP_SPLAT || op->code == OP_BROADCAST)) return is_zero(e, op->operands[0]);
    if (!ref_is_literal(ref)) return false;
    const Literal *literal = ir_literal(e->k, ref);
    return elem_is_float(literal->type->elem) ? literal->f == 0 && !signbit(literal->f) : !literal->i;
}

void emit_carried(Emit *e, Ref ref, Ref initial) {
    if (emit_layout(e, ref) && initial && is_zero(e, initial)) {
        const char *name = cs_name(&e->p, ref);
        cs_line(&e->p, "%s %s[%d] = {};", emit_array_type(e, ir_type(e->k, ref)), name, emit_layout(e, ref)->registers);
        emit_set(e, ref, HOLD_ARRAY, name);
        return;
    }
    if (emit_layout(e, ref)) {
        emit_declare(e, ref);
        if (initial) copy_to(e, ref, initial, emit_hold(e, ref)->text);
        return;
    }
    const char *name = cs_name(&e->p, ref), *type = cs_value_type(&e->p, ir_type(e->k, ref));
    if (initial)
        cs_line(&e->p, "%s = %s;", cs_variable(&e->p, type, name), emit_scalar(e, initial));
    else
        cs_line(&e->p, "%s;", cs_variable(&e->p, type, name));
    emit_set(e, ref, HOLD_SCALAR, name);
}

/* All of targets = sources at once: through temporaries if one is still read by a later copy. */
void emit_copies(Emit *e, const Ref *targets, const Ref *sources, int count) {
    bool clash = false;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (i != j && ref_is_value(sources[i]) && emit_hold(e, sources[i])->text &&
                strcmp(emit_hold(e, sources[i])->text, emit_hold(e, targets[j])->text) == 0)
                clash = true;
    if (!clash) {
        for (int i = 0; i < count; i++) copy_to(e, targets[i], sources[i], emit_hold(e, targets[i])->text);
        return;
    }
    emit_block(e);
    const char **names = ARENA_ARRAY(e->arena, const char *, count);
    for (int i = 0; i < count; i++) {
        const Type *type = ir_type(e->k, targets[i]);
        names[i] = cs_fresh(&e->p, "next");
        const Layout *layout = emit_layout(e, targets[i]);
        if (layout)
            cs_line(&e->p, "%s %s[%d];", emit_array_type(e, type), names[i], layout->registers);
        else
            cs_line(&e->p, "%s;", cs_variable(&e->p, cs_value_type(&e->p, type), names[i]));
        copy_to(e, targets[i], sources[i], names[i]);
    }
    for (int i = 0; i < count; i++) {
        const Layout *layout = emit_layout(e, targets[i]);
        const char *to = emit_hold(e, targets[i])->text;
        if (layout) emit_unroll(e, "r", layout->registers, 1);
        cs_line(&e->p, layout ? "%s[r] = %s[r];" : "%s = %s;", to, names[i]);
        if (layout) cs_close(&e->p);
    }
    cs_close(&e->p);
}

static bool is_dot(Emit *e, const Op *op) {
    (void)e;
    return op->code == OP_DOT;
}

static bool has_dot(const Region *region) {
    for (const Op *op = region->first; op; op = op->next)
        if (op->code == OP_DOT) return true;
    return false;
}

static const Op *dot_of(const Op *loop) {
    const Op *dot = loop->regions[0]->first;
    while (dot->code != OP_DOT) dot = dot->next;
    return dot;
}

const char *emit_goes_on(Emit *e, const Op *loop, const char *at) {
    const char *hi = emit_scalar(e, loop->operands[1]), *by = emit_scalar(e, loop->operands[2]);
    int64_t step = 0;
    if (ir_const_int(e->k, loop->operands[2], &step))
        return arena_printf(e->arena, step < 0 ? "%s > %s" : "%s < %s", at, hi);
    return arena_printf(e->arena, "%s > 0 ? %s < %s : %s < 0 && %s > %s", by, at, hi, by, at, hi);
}

static void emit_for(Emit *e, const Op *op) {
    if (rotate_emit(e, op)) {
        gang_end_loop(e, op);
        return;
    }
    Region *body = op->regions[0];
    int count = op->operand_count - 3;
    for (int i = 0; i < count; i++) emit_carried(e, body->args[i + 1], op->operands[i + 3]);
    const char *k = cs_name(&e->p, body->args[0]);
    const char *type = cs_value_type(&e->p, ir_type(e->k, body->args[0]));
    const char *lo = emit_scalar(e, op->operands[0]), *hi = emit_scalar(e, op->operands[1]);
    int64_t step = 0;
    bool known = ir_const_int(e->k, op->operands[2], &step);
    Pending before = emit_pending(e);
    emit_enter_loop(e, op);
    const Op *other = skew_match(e, op);
    if (other) skew_begin(e, op, other);
    bool staged = loose_begin(e, op);
    const Op *late = roles_late_release(e, op);
    if (late) {
        e->late_release = late;
        e->late = cs_fresh(&e->p, "held");
        e->dot_reads = dot_reads_scratch(e, dot_of(op)); /* that of the trip before */
        /* A loop without a trip would make the compiler wait for every wgmma by itself (C7514). */
        cs_open(&e->p, "if (%s)", emit_goes_on(e, op, lo));
        cs_line(&e->p, "i32 %s = -1;", e->late);
    }
    if (has_dot(body)) cs_raw(&e->p, "#pragma unroll 1");
    if (known && step == 1) {
        cs_open(&e->p, "for (%s %s = %s; %s < %s; %s++)", type, k, lo, k, hi, k);
    } else {
        /* The count of trips first: k + step may lie beyond the type. */
        const char *n = cs_fresh(&e->p, "trip");
        const char *by = emit_scalar(e, op->operands[2]);
        cs_open(&e->p, "for (i64 %s = %s; %s; %s += %s)", n, lo, emit_goes_on(e, op, n), n, by);
        cs_line(&e->p, "const %s %s = (%s)%s;", type, k, type, n);
    }
    emit_set(e, body->args[0], HOLD_SCALAR, k);
    if (other) skew_step(e, op, other, k);
    if (staged) loose_step(e, op, k);
    emit_region(e, body);
    if (staged) loose_next(e);
    if (other) skew_turn_end(e, op, other);
    emit_copies(e, body->args + 1, body->last->operands, count);
    cs_close(&e->p);
    emit_pending_add(e, before); /* there may have been no trip, and no barrier of it */
    if (other) skew_end(e, other);
    if (late) {
        roles_end_late(e, late, emit_hold(e, dot_of(op)->operands[2])->text);
        e->dot_reads = false;
        cs_close(&e->p);
        e->late_release = NULL;
        e->late = NULL;
    }
    for (int i = 0; i < count; i++) emit_same(e, op->results[i], body->args[i + 1]);
    gang_end_loop(e, op);
}

static void emit_while(Emit *e, const Op *op) {
    Region *test = op->regions[0], *body = op->regions[1];
    int count = op->operand_count;
    for (int i = 0; i < count; i++) {
        emit_carried(e, test->args[i], op->operands[i]);
        emit_same(e, body->args[i], test->args[i]);
    }
    emit_enter_loop(e, op);
    cs_open(&e->p, "for (;;)");
    emit_region(e, test);
    emit_copies(e, test->args, test->last->operands + 1, count);
    cs_line(&e->p, "if (!%s) break;", emit_scalar(e, test->last->operands[0]));
    Pending at_break = emit_pending(e);
    emit_region(e, body);
    emit_copies(e, test->args, body->last->operands, count);
    cs_close(&e->p);
    emit_pending_set(e, at_break);
    for (int i = 0; i < count; i++) emit_same(e, op->results[i], test->args[i]);
}

static void emit_if(Emit *e, const Op *op) {
    for (int i = 0; i < op->result_count; i++) emit_carried(e, op->results[i], REF_NONE);
    cs_open(&e->p, "if (%s)", emit_scalar(e, op->operands[0]));
    Pending before = emit_pending(e), after = before;
    for (int i = 0; i < op->region_count; i++) {
        if (i) {
            if (!op->regions[1]->first || (op->regions[1]->first == op->regions[1]->last && !op->result_count)) break;
            cs_reopen(&e->p, "else");
        }
        emit_pending_set(e, before);
        emit_region(e, op->regions[i]);
        if (op->regions[i]->last) emit_copies(e, op->results, op->regions[i]->last->operands, op->result_count);
        emit_pending_add(e, after);
        after = emit_pending(e);
    }
    cs_close(&e->p);
}

/* --- ops --- */
static void emit_program_id(Emit *e, const Op *op) {
    if (!e->uses[op->results[0]]) return;
    static const char axis[3] = {'x', 'y', 'z'};
    int dim = (int)op_int(op, AT_DIM, 0);
    const char *name = cs_name(&e->p, op->results[0]), *text;
    if (op->code == OP_NUM_PROGRAMS)
        text = e->persist ? arena_printf(e->arena, "grid%d", dim) : arena_printf(e->arena, "tw_blocks_%c()", axis[dim]);
    else
        text = arena_printf(e->arena, "tw_block_%c()", axis[dim]);
    cs_line(&e->p, "const i32 %s = %s;", name, text);
    emit_set(e, op->results[0], HOLD_SCALAR, name);
}

static void emit_tensor_part(Emit *e, const Op *op) {
    TensorText t = memory_tensor(e, op->operands[0]);
    int dim = (int)op_int(op, AT_DIM, 0);
    const char *text = op->code == OP_BASE ? t.base : op->code == OP_EXTENT ? t.extent[dim] : t.stride[dim];
    if (!text) text = op->code == OP_EXTENT ? "0x7fffffffffffffffll" : "1";
    if (op->code != OP_BASE) text = arena_printf(e->arena, "((i64)%s)", text);
    emit_set(e, op->results[0], HOLD_SCALAR, text);
}

/* The same registers under another shape; the one element of a tile as a scalar. */
static void emit_shape(Emit *e, const Op *op) {
    Ref x = op->operands[0], result = op->results[0];
    if (!emit_is_tile(e, result) && emit_is_tile(e, x)) {
        const char *text = elementwise_operand(e, x, emit_layout(e, x), "0");
        emit_set(e, result, HOLD_SCALAR, text);
    } else if (ref_is_literal(x)) {
        emit_set(e, result, HOLD_SCALAR, emit_scalar(e, x));
    } else {
        emit_same(e, result, x);
    }
}

/* The region once an element, its values as variables of the loop. */
static void emit_map(Emit *e, const Op *op) {
    const Layout *layout = emit_layout(e, op->results[0]);
    const Region *body = op->regions[0];
    for (int i = 0; layout && i < op->result_count; i++) emit_declare(e, op->results[i]);
    for (int i = 0; !layout && i < op->result_count; i++) emit_carried(e, op->results[i], REF_NONE);
    if (layout)
        emit_unroll(e, "r", layout->registers, 1);
    else
        emit_block(e);
    for (int i = 0; i < op->operand_count; i++)
        emit_set(e, body->args[i], HOLD_SCALAR,
                 layout ? elementwise_operand(e, op->operands[i], layout, "r") : emit_scalar(e, op->operands[i]));
    emit_region(e, body);
    for (int i = 0; i < op->result_count; i++) {
        const char *text = emit_scalar(e, body->last->operands[i]), *to = emit_hold(e, op->results[i])->text;
        if (layout)
            cs_line(&e->p, "%s[r] = %s;", to, elementwise_packed(e, ir_type(e->k, op->results[i])->elem, text));
        else
            cs_line(&e->p, "%s = %s;", to, text);
    }
    cs_close(&e->p);
}

void emit_op(Emit *e, const Op *op) {
    switch (op->code) {
    case OP_PROGRAM_ID:
    case OP_NUM_PROGRAMS: emit_program_id(e, op); return;
    case OP_EXTENT:
    case OP_STRIDE:
    case OP_BASE: emit_tensor_part(e, op); return;
    case OP_TENSOR:
    case OP_ASSUME:
    case OP_REQUIRE:
    case OP_RETURN:
    case OP_TEST:
    case OP_YIELD: return;
    case OP_UNDEF: emit_set(e, op->results[0], HOLD_SCALAR, cs_zero(ir_type(e->k, op->results[0]))); return;
    case OP_EXPAND:
    case OP_PERMUTE: emit_shape(e, op); return;
    case OP_RESHAPE:
        if (!moves_emit(e, op)) emit_shape(e, op);
        return;
    case OP_CONVERT: shared_convert(e, op); return;
    case OP_FOR: emit_for(e, op); return;
    case OP_WHILE: emit_while(e, op); return;
    case OP_IF: emit_if(e, op); return;
    case OP_TLOAD: memory_tload(e, op); return;
    case OP_TSTORE: memory_tstore(e, op); return;
    case OP_LOAD: memory_load(e, op); return;
    case OP_STORE: memory_store(e, op); return;
    case OP_TATOMIC: memory_tatomic(e, op); return;
    case OP_ATOMIC:
    case OP_ATOMIC_CAS: atomic_emit(e, op); return;
    case OP_SCAN: scan_emit(e, op); return;
    case OP_SORT: sort_emit(e, op); return;
    case OP_HISTOGRAM: histogram_emit(e, op); return;
    case OP_MAP: emit_map(e, op); return;
    case OP_REDUCE: reduce_emit(e, op); return;
    case OP_DOT: dot_emit(e, op); return;
    case OP_TASKS: roles_tasks(e, op); return;
    case OP_FENCE: atomic_fence(e, op); return;
    case OP_SYNC: shared_sync(e); return;
    case OP_ASSERT: speech_assert(e, op); return;
    case OP_PRINT: speech_print(e, op); return;
    default:
        if (ring_is(op))
            ring_op(e, op);
        else if (op->code == OP_PARALLEL)
            emit_refuse(e, op, "an element loop is taken apart by the pass `raise`, which did not run");
        else if (!moves_emit(e, op))
            emit_refuse(e, op,
                        "barriers, asynchronous copies and scopes of workers that the source "
                        "writes itself are not merged into tiles here (a template, or operations "
                        "on whole tiles, are)");
    }
}

static bool is_silent(const Op *op) {
    switch (op->code) {
    case OP_TENSOR:
    case OP_ASSUME:
    case OP_REQUIRE:
    case OP_RETURN:
    case OP_YIELD:
    case OP_TEST:
    case OP_TASKS:
    case OP_RING:
    case OP_EXPAND:
    case OP_RESHAPE:
    case OP_PERMUTE:
    case OP_EXTENT:
    case OP_STRIDE:
    case OP_BASE: return true;
    default: return false;
    }
}

void emit_region(Emit *e, const Region *region) { emit_ops(e, region->first, NULL); }

void emit_ops(Emit *e, const Op *first, const Op *end) {
    const Op *outer = e->end;
    for (const Op *op = first; op && op != end; op = op->next) {
        e->end = end;
        if (e->k->module->diag->errors) break;
        if (dot_rounds(e, op)) continue;
        if (elementwise_is(op)) {
            op = elementwise_run(e, op);
            continue;
        }
        if (!is_silent(op)) cs_place(&e->p, op->range);
        emit_op(e, op);
    }
    e->end = outer;
}

/* --- the file --- */
static void add_param(Emit *e, Text *t, CudaParam param, const char *type, const char *name) {
    text_add(t, "%s%s%s%s", e->plan->params.count ? ", " : "", type, type[strlen(type) - 1] == '*' ? "" : " ", name);
    *VEC_PUSH(&e->plan->params, e->k->module->arena) = param;
}

static void add_params(Emit *e, Text *t) {
    for (int i = 0; i < e->k->body->arg_count; i++) {
        Ref arg = e->k->body->args[i];
        const Type *type = ir_type(e->k, arg);
        const char *name = cs_name(&e->p, arg);
        if (type->kind == TY_TENSOR) {
            add_param(e, t, (CudaParam){CUDA_POINTER, i, 0, type->elem},
                      arena_printf(e->arena, "%s *", cs_memory_type(type->elem)), name);
            for (int d = 0; d < type->rank; d++)
                add_param(e, t, (CudaParam){CUDA_EXTENT, i, d, EL_I64}, "i64",
                          arena_printf(e->arena, "%s_n%d", name, d));
            for (int d = 0; d < type->rank; d++)
                add_param(e, t, (CudaParam){CUDA_STRIDE, i, d, EL_I64}, "i64",
                          arena_printf(e->arena, "%s_s%d", name, d));
            continue;
        }
        const char *text = type->pointer ? cs_value_type(&e->p, type) : cs_memory_type(type->elem);
        add_param(e, t, (CudaParam){type->pointer ? CUDA_POINTER : CUDA_SCALAR, i, 0, type->elem}, text, name);
    }
    for (size_t i = 0; i < e->plan->maps.count; i++)
        add_param(e, t, (CudaParam){CUDA_MAP, 0, (int)i, EL_U8}, "const __grid_constant__ TensorMap",
                  e->plan->maps.at[i].name);
    for (int d = 0; e->persist && d < 3; d++)
        add_param(e, t, (CudaParam){CUDA_GRID, 0, d, EL_I32}, "i32", arena_printf(e->arena, "grid%d", d));
}

static void hold_params(Emit *e) {
    for (int i = 0; i < e->k->body->arg_count; i++) {
        Ref arg = e->k->body->args[i];
        const Type *type = ir_type(e->k, arg);
        const char *name = cs_name(&e->p, arg);
        if (type->kind == TY_TENSOR) continue;
        if (!type->pointer) ex_note_type(&e->p.expr, name, cs_memory_type(type->elem));
        bool packed =
            !type->pointer && (type->elem == EL_I1 || (elem_is_float(type->elem) && elem_info[type->elem].bits < 32));
        emit_set(e, arg, HOLD_SCALAR, packed ? cs_unpack(&e->p, type->elem, name) : name);
    }
}

/* What the emitter's own loops and scratch variables are called. */
static const char *const own_words[] = {
    "r",        "i",          "j",      "kk",         "lane",  "warp",   "grid0",    "grid1",     "grid2",
    "task",     "turn",       "turns",  "pair",       "pairs", "part",   "rank",     "blocks",    "across",
    "strip",    "half",       "paired", "width",      "at",    "mirror", "beyond",   "tasks",     "group",
    "in_group", "group_rows", "gang",   "neighbours", "side",  "sides",  "first",    "each",      "longest",
    "fa",       "fb",         "cell",   "raw",        "word",  "other",  "other_at", "mine",      "all",
    "all_at",   "from",       "some",   "piece",      "zero",  "wm",     "wn",       "i0",        "i1",
    "i2",       "i3",         "i4",     "i5",         "i6",    "i7",     "got0",     "TensorMap", "old",
    "low",      "high",       "swap",   "number",     "bin",   "q",      "b",        NULL};

static Op *find_tasks(const Kernel *k) {
    Op *op = k->body->first;
    while (op && op->code != OP_TASKS) op = op->next;
    return op;
}

/* A kernel may be called `printf`, `exp` or `static`; with this ending it is no name of a library or of the language. */
static const char *entry_name(CPrinter *p, const char *name) {
    static const char ending[] = "_kernel";
    size_t length = strlen(name), end = sizeof ending - 1;
    bool ends = length > end && strcmp(name + length - end, ending) == 0;
    return cs_fresh(p, ends ? name : arena_printf(p->arena, "%.32s%s", name, ending));
}

/* How many blocks should share a multiprocessor: one that is lean or has roles takes what it needs,
 * but two that wait for loads of their own threads, where the registers allow it. */
static const char *blocks_text(const Emit *e, const Op *tasks) {
    if (!tasks) return e->lean ? ", 1" : "";
    bool two = e->plan->threads <= 256 && 2 * e->shared_bytes <= e->cx->machine->ring_bytes;
    return roles_load_by_threads(e) && two ? ", 2" : ", 1";
}

/* What vectors and TMA ask of a launch. */
static void find_requirements(Emit *e) {
    Text t = text_new(e->arena);
    for (const Op *op = e->k->body->first; op; op = op->next) {
        int64_t by = op_int(op, AT_ALIGN, op_int(op, AT_MULT, 0));
        if (op->code != OP_REQUIRE || by <= 1) continue;
        for (int i = 0; i < op->operand_count; i++) {
            const char *name = ir_value(e->k, op->operands[i])->name;
            text_add(&t, "%s%s %% %lld = 0", t.length ? ", " : "", name ? name : "(a value)", (long long)by);
        }
    }
    if (t.length)
        pass_find(e->cx, e->k->range, "launch",
                  "vectors and TMA require %s; else a variant without them runs (option variant=1 "
                  "and up)",
                  t.at);
}

/* Lane and warp, where they are used. */
static void write_thread(Emit *e, const CLines *top, const CLines *body) {
    bool lane = cs_mentions(top, "lane") || cs_mentions(body, "lane");
    bool warp = cs_mentions(top, "warp") || cs_mentions(body, "warp");
    const char *of_warp = region_has(e, e->k->body, is_dot) ? "tw_warp()" : "tw_thread() >> 5"; /* it costs a shuffle */
    if (lane && warp)
        cs_line(&e->p, "const i32 lane = tw_lane(), warp = %s;", of_warp);
    else if (lane)
        cs_line(&e->p, "const i32 lane = tw_lane();");
    else if (warp)
        cs_line(&e->p, "const i32 warp = %s;", of_warp);
}

/* The file around the kernel's lines, `top` before them. */
static const char *whole_text(Emit *e, const Op *tasks, const CLines *top) {
    CLines body = e->p.lines;
    Text params = text_new(e->arena);
    Place place = {0};
    e->p.lines = (CLines){0};
    e->p.depth = 0;
    add_params(e, &params);
    source_find(e->k->module->sources, e->k->range.begin, &place);
    cs_line(&e->p, "// %s%s%s: %s, %d threads, %lld bytes of shared memory", e->k->name, place.file ? " of " : "",
            place.file ? place.file->name : "", e->plan->execution, e->plan->threads, (long long)e->shared_bytes);
    cs_raw(&e->p, "#include \"tilewright.cuh\"");
    cs_blank(&e->p);
    cs_append(&e->p, &e->forms_lines);
    if (e->forms_lines.count) cs_blank(&e->p);
    cs_open(&e->p, "extern \"C\" __global__ void __launch_bounds__(%d%s) %s(%s)", e->plan->threads,
            blocks_text(e, tasks), e->plan->name, params.at);
    if (!tasks) write_thread(e, top, &body);
    cs_append(&e->p, top);
    cs_append(&e->p, &body);
    cs_close(&e->p);
    cs_line(&e->p, "TW_KERNEL(%s)", e->plan->name);
    return cs_layout(e->arena, &e->p.lines, TEXT_WIDTH, e->p.directives);
}

CudaPlan *cuda_emit(PassContext *cx, Kernel *k) {
    if (!pass_takes_form(k, FORM_SCHEDULE, "target cuda")) return NULL;
    Arena *arena = k->module->arena;
    Emit e = {.cx = cx, .k = k, .arena = arena, .plan = ARENA_NEW(arena, CudaPlan)};
    Op *tasks = find_tasks(k);
    e.facts = facts_new(k, false);
    e.uses = cs_count_uses(k, arena);
    cs_init(&e.p, arena, k, &dialect_cuda);
    e.p.directives = cx->options.lines;
    cs_reserve(&e.p, own_words);
    e.group = layout_group(cx, k, NULL);
    e.persist = tasks && op_flag(tasks, AT_PERSIST);
    e.plan->execution = tasks ? "roles" : "flat";
    e.plan->threads = 32 * layout_warps(cx, k);
    e.plan->persist = e.persist;
    e.plan->name = entry_name(&e.p, k->name);
    e.lean = !tasks && lean_wanted(&e);
    if (!tasks) pairs_plan(&e);
    shared_plan(&e);
    gang_plan(&e, tasks);
    e.plan->threads = 32 * layout_warps(cx, k); /* it may have let programs run one by one */
    if (tasks) {
        ring_plan(&e, e.shared_bytes);
        if (k->module->diag->errors) return NULL;
        shared_plan(&e);
    }
    if (e.shared_bytes > cx->machine->ring_bytes) {
        if (tasks && !cx->options.no_rings)
            cx->too_large = e.shared_bytes; /* the flat kernel may fit */
        else
            shared_refuse(&e);
        return NULL;
    }
    CLines top = {0};
    hold_params(&e);
    e.top = &top;
    e.top_depth = 1;
    e.p.depth = 1;
    emit_region(&e, k->body);
    if (k->module->diag->errors) return NULL;
    e.plan->shared_bytes = e.shared_bytes;
    e.plan->text = whole_text(&e, tasks, &top);
    find_requirements(&e);
    pass_find(cx, k->range, "execution", "%s, %d threads, %lld bytes of shared memory", e.plan->execution,
              e.plan->threads, (long long)e.shared_bytes);
    return e.plan;
}
