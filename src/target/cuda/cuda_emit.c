/* cuda_emit.c: the .cu of a kernel: file, entry, parameters; its statements are simt_emit.c's.
 *
 *     // add: from add.py, by tilewright ..
 *     #include "tilewright.cuh"
 *     extern "C" __global__ void __launch_bounds__(128) add(f32 *x, ..) {
 *         const i32 at0 = tw_thread() * 4;
 *         ..
 *     }
 *     TW_KERNEL(add) */
#include "target/cuda/cuda_emit.h"

#include <string.h>

enum { TEXT_WIDTH = 110 }; /* columns of the emitted text */

static void add_param(Emit *e, Text *t, CudaParam param, const char *type, const char *name) {
    text_add(t, "%s%s%s%s", cuda_of(e)->plan->params.count ? ", " : "", type, type[strlen(type) - 1] == '*' ? "" : " ",
             name);
    *VEC_PUSH(&cuda_of(e)->plan->params, e->k->module->arena) = param;
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
    for (size_t i = 0; i < cuda_of(e)->plan->maps.count; i++)
        add_param(e, t, (CudaParam){CUDA_MAP, 0, (int)i, EL_U8}, "const __grid_constant__ TensorMap",
                  cuda_of(e)->plan->maps.at[i].name);
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
        const Expr *x = ex_name(e->arena, name);
        emit_set(e, arg, HOLD_SCALAR, packed ? cs_unpack(&e->p, type->elem, x) : x);
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

/* How many blocks should share a multiprocessor; one that is lean takes what it needs. */
static const char *blocks_text(const Emit *e) {
    int64_t blocks = kernel_int(e->k, AT_BLOCKS, e->lean ? 1 : 0);
    return blocks ? arena_printf(e->arena, ", %lld", (long long)blocks) : "";
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
    if (t.length) pass_find(e->cx, e->k->range, FIND_LAUNCH_VECTORS, t.at);
}

static bool is_dot(Emit *e, const Op *op) {
    (void)e;
    return op->code == OP_DOT;
}

/* Lane and warp, where they are used. */
static void write_thread(Emit *e, const CLines *top, const CLines *body) {
    bool lane = cs_mentions(top, "lane") || cs_mentions(body, "lane");
    bool warp = cs_mentions(top, "warp") || cs_mentions(body, "warp");
    bool uniform = emit_region_has(e, e->k->body, is_dot); /* it costs a shuffle */
    const char *of_warp = uniform ? "tw_warp()" : "tw_thread() >> 5";
    if (lane && warp)
        cs_line(&e->p, "const i32 lane = tw_lane(), warp = %s;", of_warp);
    else if (lane)
        cs_line(&e->p, "const i32 lane = tw_lane();");
    else if (warp)
        cs_line(&e->p, "const i32 warp = %s;", of_warp);
}

/* The file around the kernel's lines, `top` before them. */
static const char *whole_text(Emit *e, const Op *tasks, const CLines *top) {
    const CudaPlan *plan = cuda_of(e)->plan;
    const CLines *forms = &cuda_of(e)->forms_lines;
    CLines body = e->p.lines;
    Text params = text_new(e->arena);
    Place place = {0};
    e->p.lines = (CLines){0};
    e->p.depth = 0;
    add_params(e, &params);
    source_find(e->k->module->sources, e->k->range.begin, &place);
    cs_line(&e->p, "// %s%s%s: %s, %d threads, %lld bytes of shared memory", e->k->name, place.file ? " of " : "",
            place.file ? place.file->name : "", plan->execution, plan->threads, (long long)plan->shared_bytes);
    cs_raw(&e->p, "#include \"tilewright.cuh\"");
    cs_blank(&e->p);
    cs_append(&e->p, forms);
    if (forms->count) cs_blank(&e->p);
    cs_open(&e->p, "extern \"C\" __global__ void __launch_bounds__(%d%s) %s(%s)", plan->threads, blocks_text(e),
            plan->name, params.at);
    if (!tasks) write_thread(e, top, &body);
    cs_append(&e->p, top);
    cs_append(&e->p, &body);
    cs_close(&e->p);
    cs_line(&e->p, "TW_KERNEL(%s)", plan->name);
    return cs_layout(e->arena, &e->p.lines, TEXT_WIDTH, e->p.directives);
}

CudaPlan *cuda_emit(PassContext *cx, Kernel *k) {
    if (!pass_takes_form(k, FORM_SCHEDULE, "target cuda")) return NULL;
    Arena *arena = k->module->arena;
    CudaEmit cuda = {.plan = ARENA_NEW(arena, CudaPlan)};
    Emit *e = &cuda.emit;
    *e = (Emit){.target = &cuda_target, .cx = cx, .k = k, .arena = arena};
    Op *tasks = find_tasks(k);
    e->facts = facts_new(k, false);
    e->uses = cs_count_uses(k, arena);
    cs_init(&e->p, arena, k, &dialect_cuda);
    e->p.directives = cx->options.lines;
    cs_reserve(&e->p, own_words);
    e->group = layout_group(cx, k, NULL);
    e->persist = tasks && op_flag(tasks, AT_PERSIST);
    cuda.plan->execution = tasks ? "roles" : "flat";
    cuda.plan->threads = (int)kernel_int(k, AT_THREADS, 0);
    cuda.plan->shared_bytes = kernel_int(k, AT_SHARED, 0);
    cuda.plan->persist = e->persist;
    cuda.plan->name = entry_name(&e->p, k->name);
    e->lean = !tasks && lean_wanted(e);
    if (!tasks) pairs_plan(e);
    gang_read(e, tasks);
    if (tasks) {
        cluster_read(e, tasks);
        ring_read(e);
    }
    CLines top = {0};
    hold_params(e);
    e->top = &top;
    e->top_depth = 1;
    e->p.depth = 1;
    emit_region(e, k->body);
    if (k->module->diag->errors) return NULL;
    cuda.plan->text = whole_text(e, tasks, &top);
    find_requirements(e);
    pass_find(cx, k->range, FIND_BLOCK, cuda.plan->execution, cuda.plan->threads, (long long)cuda.plan->shared_bytes);
    return cuda.plan;
}
