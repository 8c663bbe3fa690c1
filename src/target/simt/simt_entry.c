/* SPDX-License-Identifier: Apache-2.0 */
/* simt_entry.c: what stands around the statements of a kernel on any machine with lanes: the file, the entry with its
 * name and parameters, the words that its text needs for itself, the thread's place in its block.
 *
 *     // add: from add.py, by tilewright ..
 *     #include "tilewright.cuh"
 *     extern "C" __global__ void __launch_bounds__(128) add(f32 *x, ..) {
 *         const i32 at0 = tw_thread() * 4;
 *         ..
 *     }
 *     TW_KERNEL(add) */
#include "target/simt/simt.h"

#include <string.h>

const char *const entry_words[] = {"r",     "i",     "j",      "kk",   "lane",  "warp",     "grid0", "grid1", "grid2",
                                   "swept", "cell",  "raw",    "word", "other", "other_at", "mine",  "all",   "all_at",
                                   "from",  "piece", "zero",   "i0",   "i1",    "i2",       "i3",    "i4",    "i5",
                                   "i6",    "i7",    "i8",     "i9",   "i10",   "i11",      "got0",  "old",   "low",
                                   "high",  "swap",  "number", "bin",  "q",     "b",        NULL};

const char *entry_name(CPrinter *p, const char *name) {
    static const char ending[] = "_kernel";
    size_t length = strlen(name), end = sizeof ending - 1;
    bool ends = length > end && strcmp(name + length - end, ending) == 0;
    return cs_fresh(p, ends ? name : arena_printf(p->arena, "%.32s%s", name, ending));
}

void entry_plan(Emit *e, SimtPlan *plan, const char *execution) {
    const Kernel *k = e->k;
    plan->execution = execution;
    plan->threads = (int)kernel_int(k, AT_THREADS, 0);
    plan->blocks = (int)kernel_int(k, AT_BLOCKS, 1);
    plan->shared_bytes = kernel_int(k, AT_SHARED, 0);
    plan->persist = e->persist;
    plan->sweep = (int)kernel_int(k, AT_SWEEP, 0);
    plan->name = entry_name(&e->p, k->name);
}

/* --- parameters --- */
void entry_param(Emit *e, SimtParams *list, ExprList *text, SimtParam param, const char *type, const char *name) {
    *VEC_PUSH(text, e->arena) = ex_atom(e->arena, cs_variable(&e->p, type, name));
    *VEC_PUSH(list, e->k->module->arena) = param;
}

static void tensor_param(Emit *e, SimtParams *list, ExprList *text, int arg, const Type *type, const char *name) {
    entry_param(e, list, text, (SimtParam){SIMT_POINTER, arg, 0, type->elem},
                arena_printf(e->arena, "%s *", cs_memory_type(type->elem)), name);
    for (int d = 0; d < type->rank; d++)
        entry_param(e, list, text, (SimtParam){SIMT_EXTENT, arg, d, EL_I64}, "i64",
                    arena_printf(e->arena, "%s_n%d", name, d));
    for (int d = 0; d < type->rank; d++)
        entry_param(e, list, text, (SimtParam){SIMT_STRIDE, arg, d, EL_I64}, "i64",
                    arena_printf(e->arena, "%s_s%d", name, d));
}

void entry_params(Emit *e, SimtParams *list, ExprList *text) {
    for (int i = 0; i < e->k->body->arg_count; i++) {
        Ref arg = e->k->body->args[i];
        const Type *type = ir_type(e->k, arg);
        const char *name = cs_name(&e->p, arg);
        if (type->kind == TY_TENSOR)
            tensor_param(e, list, text, i, type, name);
        else
            entry_param(e, list, text, (SimtParam){type->pointer ? SIMT_POINTER : SIMT_SCALAR, i, 0, type->elem},
                        type->pointer ? cs_value_type(&e->p, type) : cs_memory_type(type->elem), name);
    }
}

void entry_grid(Emit *e, SimtParams *list, ExprList *text) {
    int sweep = (int)kernel_int(e->k, AT_SWEEP, 0);
    if (sweep) entry_param(e, list, text, (SimtParam){SIMT_SWEPT, 0, sweep, EL_I32}, "i32", "swept");
    for (int d = 0; e->persist && d < 3; d++)
        entry_param(e, list, text, (SimtParam){SIMT_GRID, 0, d, EL_I32}, "i32", arena_printf(e->arena, "grid%d", d));
}

void entry_hold(Emit *e) {
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

/* --- the file --- */
enum { TEXT_WIDTH = 110 }; /* columns of the emitted text */

/* Lane and warp, where these lines use them. */
static void write_thread(Emit *e, const CLines *top, const CLines *body) {
    bool lane = cs_mentions(top, "lane") || cs_mentions(body, "lane");
    bool warp = cs_mentions(top, "warp") || cs_mentions(body, "warp");
    bool uniform = kernel_int(e->k, AT_UNIFORM, 0);
    const Expr *of_warp = ex(e->arena, uniform ? "tw_warp()" : "tw_thread() >> %d", ll_log2(e->lanes));
    if (lane && warp && !e->anew) {
        cs_line(&e->p, "const i32 lane = tw_lane(), warp = %p;", of_warp);
        return;
    }
    if (lane) cs_line(&e->p, e->anew ? "i32 lane = tw_lane();" : "const i32 lane = tw_lane();");
    if (warp)
        cs_line(&e->p, "const i32 warp = %p;", of_warp);
}

/* What the compiler is told of a block's threads and of the blocks of a multiprocessor. */
static const Expr *launch_bounds(Emit *e, const EntryFile *file) {
    int64_t blocks = kernel_int(e->k, AT_BLOCKS, 0); /* 0: not said */
    if (file->registers) return ex(e->arena, "__maxnreg__(%lld)", (long long)file->registers);
    if (!blocks) return ex(e->arena, "__launch_bounds__(%d)", file->plan->threads);
    return ex(e->arena, "__launch_bounds__(%d, %lld)", file->plan->threads, (long long)blocks);
}

/* What nvcc finds in the headers of C, and NVRTC has none of: texts in CUDA take it for granted. */
static const char words_of_c[] =
    "#ifdef __CUDACC_RTC__\n"
    "typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t; typedef unsigned short "
    "uint16_t;\n"
    "typedef int int32_t; typedef unsigned uint32_t; typedef long long int64_t; typedef unsigned long long uint64_t;\n"
    "typedef unsigned short ushort; typedef unsigned uint; typedef unsigned long ulong;\n"
    "#endif";

const char *entry_file(Emit *e, const EntryFile *file) {
    CLines body = e->p.lines;
    Place place = {0};
    e->p.lines = (CLines){0};
    e->p.depth = 0;
    source_find(e->k->module->sources, e->k->range.begin, &place);
    Text from = text_new(e->arena);
    if (place.file) text_add(&from, " of ");
    if (place.file) cs_add_quoted(&from, place.file->name, strlen(place.file->name));
    cs_line(&e->p, "// %s%s: %s, %d threads, %lld bytes of shared memory", e->k->name, from.at,
            file->plan->execution, file->plan->threads, (long long)file->plan->shared_bytes);
    cs_raw(&e->p, arena_printf(e->arena, "#include \"%s\"", e->target->prelude));
    cs_blank(&e->p);
    const char *externs = cs_externs(e->arena, e->k);
    if (externs) {
        if (kernel_text(e->k, AT_IMPORTS)) cs_raw(&e->p, words_of_c);
        cs_raw(&e->p, externs);
        cs_blank(&e->p);
    }
    if (file->before && file->before->count) {
        cs_append(&e->p, file->before);
        cs_blank(&e->p);
    }
    cs_open(&e->p, "extern \"C\" __global__ void %p %s(%p)", launch_bounds(e, file), file->plan->name,
            ex_list(e->arena, file->params->at, (int)file->params->count));
    if (file->names_thread) write_thread(e, file->top, &body);
    cs_append(&e->p, file->top);
    cs_append(&e->p, &body);
    cs_close(&e->p);
    cs_line(&e->p, "TW_KERNEL(%s)", file->plan->name);
    return cs_layout(e->arena, &e->p.lines, TEXT_WIDTH, e->p.directives);
}

/* --- findings --- */
void entry_requirements(Emit *e) {
    Text t = text_new(e->arena);
    for (const Op *op = e->k->body->first; op; op = op->next) {
        int64_t by = op_int(op, AT_ALIGN, op_int(op, AT_MULT, 0));
        if (op->code != OP_REQUIRE || by <= 1) continue;
        for (int i = 0; i < op->operand_count; i++) {
            if (!ref_is_value(op->operands[i])) continue; /* an argument that another wish made a number */
            text_add(&t, "%s", t.length ? ", " : "");
            finding_name(e->k, op->operands[i], &t);
            text_add(&t, " %% %lld = 0", (long long)by);
        }
    }
    if (t.length) pass_find(e->cx, e->k->range, FIND_LAUNCH_VECTORS,
                            e->cx->machine->has_tma ? "vectors and TMA" : "vectors", t.at);
}
