/* cuda_emit.c: the .cu of a kernel: file, entry, parameters; its statements are simt_emit.c's.
 *
 *     // add: from add.py, by tilewright ..
 *     #include "tilewright.cuh"
 *     extern "C" __global__ void __launch_bounds__(128) add(f32 *x, ..) {
 *         const i32 at0 = tw_thread() * 4;
 *         ..
 *     }
 *     TW_KERNEL(add) */
#include "pass/schedule/schedule.h"
#include "target/cuda/cuda_emit.h"

enum { TEXT_WIDTH = 110 }; /* columns of the emitted text */

/* What CUDA's own text calls its variables, beside those of entry_words. */
static const char *const own_words[] = {"task",       "turn",   "turns", "pair",  "pairs",     "part",       "rank",
                                        "blocks",     "across", "strip", "half",  "paired",    "width",      "at",
                                        "mirror",     "beyond", "tasks", "group", "in_group",  "group_rows", "gang",
                                        "neighbours", "side",   "sides", "first", "each",      "longest",    "fa",
                                        "fb",         "some",   "wm",    "wn",    "TensorMap", NULL};

static const char *params_text(Emit *e) {
    CudaPlan *plan = cuda_of(e)->plan;
    Text t = text_new(e->arena);
    entry_params(e, &plan->params, &t);
    for (size_t i = 0; i < plan->maps.count; i++)
        entry_param(e, &plan->params, &t, (SimtParam){SIMT_OWN, 0, (int)i, EL_U8}, "const __grid_constant__ TensorMap",
                    plan->maps.at[i].name);
    entry_grid(e, &plan->params, &t);
    return t.at;
}

/* How many blocks should share a multiprocessor; one that is lean takes what it needs. */
static const char *blocks_text(const Emit *e) {
    int64_t blocks = kernel_int(e->k, AT_BLOCKS, e->lean ? 1 : 0);
    return blocks ? arena_printf(e->arena, ", %lld", (long long)blocks) : "";
}

/* The file around the kernel's lines, `top` before them. */
static const char *whole_text(Emit *e, const Op *tasks, const CLines *top) {
    const CudaPlan *plan = cuda_of(e)->plan;
    const CLines *forms = &cuda_of(e)->forms_lines;
    CLines body = e->p.lines;
    Place place = {0};
    e->p.lines = (CLines){0};
    e->p.depth = 0;
    const char *params = params_text(e);
    source_find(e->k->module->sources, e->k->range.begin, &place);
    cs_line(&e->p, "// %s%s%s: %s, %d threads, %lld bytes of shared memory", e->k->name, place.file ? " of " : "",
            place.file ? place.file->name : "", plan->execution, plan->threads, (long long)plan->shared_bytes);
    cs_raw(&e->p, "#include \"tilewright.cuh\"");
    cs_blank(&e->p);
    cs_append(&e->p, forms);
    if (forms->count) cs_blank(&e->p);
    const Expr *bounds = ex_atom(e->arena, arena_printf(e->arena, "%d%s", plan->threads, blocks_text(e)));
    cs_open(&e->p, "extern \"C\" __global__ void __launch_bounds__(%p) %s(%p)", bounds, plan->name,
            ex_atom(e->arena, params));
    if (!tasks) entry_thread(e, top, &body);
    cs_append(&e->p, top);
    cs_append(&e->p, &body);
    cs_close(&e->p);
    cs_line(&e->p, "TW_KERNEL(%s)", plan->name);
    return cs_layout(e->arena, &e->p.lines, TEXT_WIDTH, e->p.directives);
}

CudaPlan *cuda_emit(PassContext *cx, Kernel *k) {
    if (!pass_takes_form(k, FORM_SCHEDULE, "target cuda") || !schedule_check(cx, k)) return NULL;
    Arena *arena = k->module->arena;
    CudaEmit cuda = {.plan = ARENA_NEW(arena, CudaPlan)};
    Emit *e = &cuda.emit;
    emit_begin(e, &cuda_target, cx, k);
    Op *tasks = tasks_of(k);
    cs_init(&e->p, arena, k, &dialect_cuda);
    e->p.directives = cx->options.lines;
    cs_reserve(&e->p, entry_words);
    cs_reserve(&e->p, own_words);
    e->persist = tasks && op_flag(tasks, AT_PERSIST);
    cuda.plan->execution = tasks ? "roles" : "flat";
    cuda.plan->threads = (int)kernel_int(k, AT_THREADS, 0);
    cuda.plan->shared_bytes = kernel_int(k, AT_SHARED, 0);
    cuda.plan->persist = e->persist;
    cuda.plan->name = entry_name(&e->p, k->name);
    e->lean = kernel_int(k, AT_LEAN, 0);
    gang_read(e, tasks);
    if (tasks) {
        cluster_read(e, tasks);
        ring_read(e);
    }
    CLines top = {0};
    entry_hold(e);
    e->top = &top;
    e->top_depth = 1;
    e->p.depth = 1;
    emit_region(e, k->body);
    if (k->module->diag->errors) return NULL;
    cuda.plan->text = whole_text(e, tasks, &top);
    entry_requirements(e);
    pass_find(cx, k->range, FIND_BLOCK, cuda.plan->execution, cuda.plan->threads, (long long)cuda.plan->shared_bytes);
    return cuda.plan;
}
