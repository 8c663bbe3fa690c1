/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_threads.c: regions of workers as they are written (`spmd` that `merge` left), each worker a coroutine.
 *
 *     static void threads(TwTeam *team, i32 worker) { .. }          one function for each region
 *
 *     u64 frame[3];  TW_KEEP(frame, n);  ..                         what it takes from around it
 *     tw_beside(launch, .., frame, threads, 128);
 *
 * Whatever a region uses of the values around it goes through the frame, and has a name of its own inside. */
#include "ir/threads.h"
#include "target/cpu/cpu_internal.h"

#include <string.h>

enum { WARP = 32, GROUP = 128 };

/* --- what it takes from around it --- */

typedef struct Taken {
    Emit *e;
    const Op *spmd;
    VEC(Ref) refs;
} Taken;

static bool is_inside(const Kernel *k, Ref ref, const Op *owner) {
    const Value *value = ir_value(k, ref);
    const Op *op = value->op ? value->op : value->region->owner;
    while (op && op != owner) op = op->parent ? op->parent->owner : NULL;
    return op != NULL;
}

static void take(Taken *t, Ref ref) {
    const Kernel *k = t->e->k;
    if (!ref_is_value(ref) || is_inside(k, ref, t->spmd)) return;
    for (size_t i = 0; i < t->refs.count; i++)
        if (t->refs.at[i] == ref) return;
    const Op *op = ir_value(k, ref)->op;
    if (cpu_is_tile(k, ref) && cpu_placed(&t->e->plan, ref)->storage == STORAGE_INLINE) {
        for (int i = 0; i < op->operand_count; i++) take(t, op->operands[i]);
        return;
    }
    *VEC_PUSH(&t->refs, t->e->arena) = ref;
}

static void take_operands(Op *op, void *user) {
    for (int i = 0; i < op->operand_count; i++) take(user, op->operands[i]);
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF) take(user, op->attrs[i].ref);
}

typedef struct Frame { /* lines before the region begins, and at the begin of its function */
    Emit *e;
    const char *name;
    CLines put, get;
    int count;
} Frame;

static const Expr *hand(Frame *f, const char *type, const Expr *x, const char *hint) {
    const char *name = cs_fresh(&f->e->p, hint);
    cs_line_of(&f->e->p, &f->put, f->e->p.depth, "TW_KEEP(%s + %d, (%s)%p);", f->name, f->count, type, x);
    cs_line_of(&f->e->p, &f->get, 1, "%s = *(%s *)(frame + %d);", cs_constant(&f->e->p, type, name), type, f->count);
    f->count++;
    return ex_name(f->e->arena, name);
}

/* The value inside, by its new name. */
static void hand_value(Frame *f, Ref ref) {
    Emit *e = f->e;
    const Type *type = ir_type(e->k, ref);
    const char *hint = ir_value(e->k, ref)->name;
    if (!hint) hint = "taken";
    if (type->kind == TY_TENSOR) {
        const Tensor *old = cpu_tensor(e, ref);
        Tensor *t = ARENA_NEW(e->arena, Tensor);
        *t = *old;
        t->base = hand(f, arena_printf(e->arena, "%s *", cs_memory_type(type->elem)), old->base, hint);
        for (int d = 0; d < type->rank; d++) {
            if (old->extent[d]) t->extent[d] = hand(f, "i64", old->extent[d], hint);
            if (old->stride[d]) t->stride[d] = hand(f, "i64", old->stride[d], hint);
        }
        map_put_number(&e->tensors, e->arena, ref, t);
        cs_bind(&e->p, ref, t->base);
        return;
    }
    const char *text;
    if (type->kind == TY_BAR)
        text = "TwBar *";
    else if (type->kind == TY_BUFFER || cpu_is_tile(e->k, ref))
        text = arena_printf(e->arena, "%s *", cpu_memory_text(e, ref));
    else
        text = cs_value_type(&e->p, type);
    cs_bind(&e->p, ref, hand(f, text, cpu_ref(e, ref), hint));
}

/* --- the function --- */

static void write_worker(Emit *e, const Op *spmd, int which) {
    const Region *region = spmd->regions[which];
    const char *rest = "worker";
    for (int d = region->arg_count - 1; d >= 0; d--) {
        int64_t extent = 1;
        ir_const_int(e->k, spmd->operands[d], &extent);
        const char *name = cs_name(&e->p, region->args[d]);
        if (d) {
            const char *more = cs_fresh(&e->p, "rest");
            cs_line(&e->p, "const i32 %s = %s %% %lld, %s = %s / %lld;", name, rest, (long long)extent, more, rest,
                    (long long)extent);
            rest = more;
        } else {
            cs_line(&e->p, "const i32 %s = %s;", name, rest);
        }
    }
    cpu_emit_ops(e, spmd->regions[which]);
}

static const char *write_function(Emit *e, const Op *spmd, int which, const CLines *taken) {
    const char *name = cs_fresh(&e->p, "workers");
    CLines outer = e->p.lines;
    int depth = e->p.depth;
    const Op *around = e->workers;
    e->p.lines = (CLines){0};
    e->p.depth = 0;
    e->workers = spmd;
    cs_open(&e->p, "static void %s(TwTeam *team, i32 worker)", name);
    cs_line(&e->p, "TwLaunch *const launch = team->launch;");
    cs_line(&e->p, "u8 *const scratch = team->scratch;");
    cs_line(&e->p, "const i64 program = team->program;");
    cs_line(&e->p, "const u64 *const frame = team->frame;");
    for (int d = 0; d < 3; d++)
        cs_line(&e->p, d == 0   ? "const i32 pid0 = (i32)(program %% launch->grid[0]);"
                       : d == 1 ? "const i32 pid1 = (i32)(program / launch->grid[0] %% launch->grid[1]);"
                                : "const i32 pid2 = (i32)(program / launch->grid[0] / launch->grid[1]);");
    cs_append(&e->p, taken);
    write_worker(e, spmd, which);
    cs_close(&e->p);
    CLines mine = e->p.lines;
    for (size_t i = 0; i < mine.count; i++) *VEC_PUSH(&e->helpers, e->arena) = mine.at[i];
    e->p.lines = outer;
    e->p.depth = depth;
    e->workers = around;
    return name;
}

static void emit_spmd(Emit *e, Op *spmd) {
    Taken t = {.e = e, .spmd = spmd};
    int64_t workers = 1, extent;
    Word unit = op_word(spmd, AT_UNIT, UNIT_THREAD);
    cpu_needs(e, PART_THREADS);
    for (int d = 0; d < spmd->operand_count; d++)
        workers *= ir_const_int(e->k, spmd->operands[d], &extent) ? extent : 1;
    for (int r = 0; r < spmd->region_count; r++) ir_walk(spmd->regions[r], take_operands, &t);
    /* Names inside are others: what stands for a value outside comes back afterwards. */
    const Expr **values = ARENA_ARRAY(e->arena, const Expr *, e->p.value_count);
    memcpy(values, e->p.values, e->p.value_count * sizeof *values);
    size_t value_count = e->p.value_count;
    VEC(const Tensor *) tensors = {0};
    for (size_t i = 0; i < t.refs.count; i++)
        *VEC_PUSH(&tensors, e->arena) =
            ir_type(e->k, t.refs.at[i])->kind == TY_TENSOR ? cpu_tensor(e, t.refs.at[i]) : NULL;
    Frame f = {.e = e, .name = cs_fresh(&e->p, "frame")};
    for (size_t i = 0; i < t.refs.count; i++) hand_value(&f, t.refs.at[i]);
    const char *names[MAX_RANK];
    for (int r = 0; r < spmd->region_count && r < MAX_RANK; r++) names[r] = write_function(e, spmd, r, &f.get);
    memcpy(e->p.values, values, value_count * sizeof *values);
    for (size_t i = 0; i < t.refs.count; i++)
        if (tensors.at[i]) map_put_number(&e->tensors, e->arena, t.refs.at[i], (void *)tensors.at[i]);
    cs_open(&e->p, "if (1)");
    cs_line(&e->p, "u64 %s[%d];", f.name, f.count ? f.count : 1);
    cs_append(&e->p, &f.put);
    Text list = text_new(e->arena);
    for (int r = 0; r < spmd->region_count && r < MAX_RANK; r++) text_add(&list, "%s%s", r ? ", " : "", names[r]);
    cs_line(&e->p, "void (*const bodies[])(TwTeam *, i32) = {%s};", list.at);
    cs_line(&e->p, "TwTeam crew = {.launch = launch, .outer = %s, .workers = %lld, .threads = %d, .scratch = scratch, "
                   ".program = program, .frame = %s};",
            e->workers ? "team" : "0", (long long)workers,
            unit == UNIT_WARPGROUP ? GROUP : unit == UNIT_WARP ? WARP : 1, f.name);
    cs_line(&e->p, "if (!launch->beside(&crew, bodies, %d)) return;", spmd->region_count);
    cs_close(&e->p);
}

/* --- what workers do with each other --- */

static const Expr *bar_of(Emit *e, const Op *op, Ref number) {
    const Expr *bars = cs_ref(&e->p, op->operands[0]);
    return number ? ex(e->arena, "%p + %p", bars, cpu_ref(e, number)) : bars;
}

static void emit_bar(Emit *e, const Op *op) {
    const char *name = cs_name(&e->p, op->results[0]);
    long long bars = (long long)op_int(op, AT_BARS, 1), count = (long long)op_int(op, AT_ARRIVALS, 1);
    cpu_needs(e, PART_THREADS);
    cs_line(&e->p, "TwBar %s[%lld];", name, bars);
    cs_line(&e->p, "for (int i = 0; i < %lld; i++) %s[i] = (TwBar){%lld, %lld, 0, 0};", bars, name, count, count);
}

static void emit_sync(Emit *e, const Op *op) {
    const Op *spmd = e->workers;
    Word unit = op_word(op, AT_UNIT, UNIT_BLOCK);
    int64_t id = op_int(op, AT_ID, -1);
    if (!spmd) return; /* one worker: nobody to wait for */
    if (id >= 0 && op_attr(op, AT_ARRIVALS))
        cs_line(&e->p, "tw_meet(team, %lld, %lld);", (long long)id, (long long)op_int(op, AT_ARRIVALS, 0));
    else if (id >= 0)
        cs_line(&e->p, "tw_meet(team, %lld, team->workers * team->threads);", (long long)id);
    else if (unit == UNIT_BLOCK)
        cs_line(&e->p, "tw_meet(team, TW_MEET_BLOCK, team->workers * team->threads);");
    else if (op_word(spmd, AT_UNIT, UNIT_THREAD) == UNIT_THREAD)
        cs_line(&e->p, unit == UNIT_WARP ? "tw_meet_group(team, TW_MEET_WARP, worker, %d);"
                                         : "tw_meet_group(team, TW_MEET_GROUP, worker, %d);",
                unit == UNIT_WARP ? WARP : GROUP);
}

static void emit_shuffle(Emit *e, const Op *op) {
    Ref result = op->results[0];
    const char *type = cs_value_type(&e->p, ir_type(e->k, result)), *name = cs_name(&e->p, result);
    const char *bits = cs_fresh(&e->p, "bits");
    cs_line(&e->p, "u64 %s = 0;", bits);
    cs_line(&e->p, "TW_KEEP(&%s, (%s)%p);", bits, type, cpu_ref(e, op->operands[0]));
    cs_line(&e->p, "%s = tw_shuffle(team, worker, %s, (i64)%p);", bits, bits, cpu_ref(e, op->operands[1]));
    cs_line(&e->p, "%s = *(%s *)&%s;", cs_constant(&e->p, type, name), type, bits);
}

/* No other worker comes in between. */
static void emit_batomic(Emit *e, Op *op) {
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result);
    const char *name = cs_name(&e->p, result);
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    const char *slot = cs_fresh(&e->p, "cell");
    cs_line(&e->p, "%s *const %s = &%p;", cs_memory_type(type->elem), slot, cpu_cell(e, op));
    const Expr *old = cs_unpack(&e->p, type->elem, ex(e->arena, "*%s", slot));
    cs_line(&e->p, "%s = %p;", cs_constant(&e->p, cs_value_type(&e->p, type), name), old);
    const Expr *value = cpu_ref(e, op_operand(op, 1));
    const Expr *now = kind == COMBINE_XCHG
                          ? value
                          : cs_combine(&e->p, kind, type->elem, false, ex_name(e->arena, name), value);
    cs_line(&e->p, "*%s = %p;", slot, cpu_pack(e, type->elem, now));
}

bool cpu_emit_worker_op(Emit *e, Op *op) {
    const char *team = e->workers ? "team" : "0";
    switch (op->code) {
    case OP_SPMD: emit_spmd(e, op); return true;
    case OP_SYNC: emit_sync(e, op); return true;
    case OP_SHFL: emit_shuffle(e, op); return true;
    case OP_BATOMIC: emit_batomic(e, op); return true;
    case OP_BAR: emit_bar(e, op); return true;
    case OP_BAR_ARRIVE:
        cs_line(&e->p, "tw_bar_count(%s, %p, %lld, 0);", team, bar_of(e, op, op_operand(op, 1)),
                (long long)op_int(op, AT_ARRIVALS, 1));
        return true;
    case OP_BAR_EXPECT:
        cs_line(&e->p, "tw_bar_count(%s, %p, 1, (i64)%p);", team, bar_of(e, op, op_operand(op, 2)),
                cpu_ref(e, op->operands[1]));
        return true;
    case OP_BAR_WAIT:
        if (e->workers) {
            cs_line(&e->p, "tw_bar_wait(team, %p, (i64)%p);", bar_of(e, op, op_operand(op, 2)),
                    cpu_ref(e, op->operands[1]));
            return true;
        }
        cs_open(&e->p, "if (((%p)->phase & 1) == ((i64)%p & 1))", bar_of(e, op, op_operand(op, 2)),
                cpu_ref(e, op->operands[1])); /* nobody runs beside who could arrive */
        cs_line(&e->p, "launch->lost(launch);");
        cs_line(&e->p, "return;");
        cs_close(&e->p);
        return true;
    default: return false;
    }
}
