/* SPDX-License-Identifier: Apache-2.0 */
/* tt_host.c: host.cpp and CMakeLists.txt: the program of a plan as calls of TT-Metalium's host API.
 *
 * The same TtPlan as plan.json's, in the order in which a host needs it: numbers that follow from the arguments,
 * tensors
 * as pages, the mapping of tasks to cores, circular buffers, kernels, arguments, launch, read-back, check. What every
 * host program does alike stands in its preludes (tilewright_host.h, tilewright_launch.h). */
#include "base/numeric.h"
#include "ir/element.h"
#include "target/tenstorrent/tt_emit.h"

#include <math.h>
#include <string.h>

typedef struct Host {
    Tt *tt;
    CPrinter p;
    Map numbers; /* value -> done */
} Host;

static const char *const formats[] = {[TT_Float32] = "Float32", [TT_Float16_b] = "Float16_b", [TT_Int32] = "Int32"};

static const Value *param_at(const Host *h, int i) { return ir_value(h->tt->k, h->tt->k->body->args[i]); }
static const char *param_name(Host *h, int i) { return cs_name(&h->p, h->tt->k->body->args[i]); }
static bool is_array(const Value *v) { return v->type->kind == TY_TENSOR || v->type->pointer; }
static const char *quoted(Host *h, const char *text) { return cs_string(h->tt->arena, text); }

/* As a .npy file writes it. */
static const char *npy_type(Elem elem) {
    static const char *const texts[] = {[EL_I1] = "|b1",  [EL_I8] = "|i1",  [EL_I16] = "<i2", [EL_I32] = "<i4",
                                        [EL_I64] = "<i8", [EL_U8] = "|u1",  [EL_U16] = "<u2", [EL_U32] = "<u4",
                                        [EL_U64] = "<u8", [EL_F16] = "<f2", [EL_BF16] = "<V2", [EL_F32] = "<f4",
                                        [EL_F64] = "<f8"};
    return (size_t)elem < sizeof texts / sizeof *texts && texts[elem] ? texts[elem] : "<V1";
}

/* --------------------------------------------------------------------------------------------------- numbers */

static const Expr *number_expr(Host *h, Ref ref);

static const Expr *part_expr(Host *h, const Op *op) {
    const Kernel *k = h->tt->k;
    const Value *tensor = ir_value(k, op->operands[0]);
    int d = (int)op_int(op, AT_DIM, 0);
    if (tensor->op && tensor->op->code == OP_TENSOR) {
        if (op->code == OP_BASE) return number_expr(h, op_operand(tensor->op, 0));
        return number_expr(h, op_list(tensor->op, op->code == OP_STRIDE).at[d]);
    }
    const char *name = param_name(h, tensor->index);
    if (op->code == OP_BASE) return ex_name(h->tt->arena, name);
    return ex(h->tt->arena, "arguments.%s.%s[%d]", name, op->code == OP_EXTENT ? "extent" : "stride", d);
}

/* The number, computed above where it is first asked for. */
static const Expr *number_expr(Host *h, Ref ref) {
    const Kernel *k = h->tt->k;
    if (!ref_is_value(ref)) return cs_ref(&h->p, ref);
    const Value *v = ir_value(k, ref);
    const Op *op = v->op;
    if (!op && v->region == k->grid) /* its arguments are the kernel's, by name */
        for (int i = 0; i < h->tt->plan->param_count; i++)
            if (v->name && param_at(h, i)->name && strcmp(param_at(h, i)->name, v->name) == 0)
                return ex_name(h->tt->arena, param_name(h, i));
    if (!op || !map_meets(&h->numbers, h->tt->arena, ref)) return ex_name(h->tt->arena, cs_name(&h->p, ref));
    const Expr *args[3] = {0}, *value;
    if (op->code == OP_NUM_PROGRAMS)
        value = ex(h->tt->arena, "(i32)arguments.grid[%d]", (int)op_int(op, AT_DIM, 0));
    else if (op->code == OP_EXTENT || op->code == OP_STRIDE || op->code == OP_BASE)
        value = part_expr(h, op);
    else {
        for (int i = 0; i < op->operand_count && i < 3; i++) args[i] = number_expr(h, op->operands[i]);
        value = cs_elementwise(&h->p, op, args);
    }
    cs_line(&h->p, "%s = %p;", cs_constant(&h->p, cs_value_type(&h->p, v->type), cs_name(&h->p, ref)), value);
    return ex_name(h->tt->arena, cs_name(&h->p, ref));
}

static const Expr *plan_number(Host *h, int index) {
    const TtNumber *number = &h->tt->plan->numbers.at[index];
    Arena *arena = h->tt->arena;
    switch (number->kind) {
    case NUMBER_ADDRESS: return ex_name(arena, param_name(h, number->arg));
    case NUMBER_EXTENT:
        return ex(arena, "arguments.%s.extent[%d]", param_name(h, number->arg), number->dim);
    case NUMBER_STRIDE:
        return ex(arena, "arguments.%s.stride[%d]", param_name(h, number->arg), number->dim);
    case NUMBER_VALUE: break;
    }
    return number_expr(h, number->value);
}

/* ------------------------------------------------------------------------------------------------- arguments */

static void add_arguments(Host *h) {
    CPrinter *p = &h->p;
    cs_line(p, "// The kernel's arguments, under their names in the source.");
    cs_open(p, "struct Arguments");
    for (int i = 0; i < h->tt->plan->param_count; i++) {
        const Value *v = param_at(h, i);
        cs_line(p, "%s %s;", is_array(v) ? "TwArray" : cs_register_type(p, v->type->elem), param_name(h, i));
    }
    cs_line(p, "std::array<i64, 3> grid;");
    cs_close_with(p, "};");
    cs_blank(p);
}

static void unpack_arguments(Host *h) {
    CPrinter *p = &h->p;
    cs_line(p, "// What follows from the arguments.");
    for (int i = 0; i < h->tt->plan->param_count; i++) {
        const Value *v = param_at(h, i);
        const char *name = param_name(h, i), *type = is_array(v) ? cs_memory_type(v->type->elem) : NULL;
        if (type)
            cs_line(p, "[[maybe_unused]] %s *const %s = arguments.%s.data<%s>();", type, name, name, type);
        else
            cs_line(p, "[[maybe_unused]] const %s %s = arguments.%s;", cs_register_type(p, v->type->elem), name, name);
    }
}

/* Kernels that have a grid of their own launch that. */
static void add_grid(Host *h) {
    const Region *grid = h->tt->k->grid;
    for (int i = 0; grid && i < grid->last->operand_count; i++)
        cs_line(&h->p, "arguments.grid[%d] = %p;", i, number_expr(h, grid->last->operands[i]));
}

/* What the compiler took for granted. Addresses of the host's arrays do not matter: pages are made of them. */
static void add_requires(Host *h) {
    static const struct {
        AttrId attr;
        const char *test, *text;
    } kinds[] = {{AT_EQ, "%p != %lld", "be %lld"},
                 {AT_LEAST, "%p < %lld", "be at least %lld"},
                 {AT_MULT, "%p %% %lld != 0", "be a multiple of %lld"}};
    for (const Op *op = h->tt->k->body->first; op; op = op->next)
        for (size_t kind = 0; op->code == OP_REQUIRE && kind < 3; kind++) {
            if (!op_attr(op, kinds[kind].attr)) continue;
            long long number = op_int(op, kinds[kind].attr, 0);
            for (int i = 0; i < op->operand_count; i++) {
                const Type *type = ir_type(h->tt->k, op->operands[i]);
                if (type->kind != TY_TILE || type->pointer) continue;
                const Expr *x = number_expr(h, op->operands[i]);
                const char *what = arena_printf(h->tt->arena, kinds[kind].text, number);
                const char *line = arena_printf(h->tt->arena,
                                                "if (%s) tw_fail(\"%%s must %s: the kernel was compiled for that\");",
                                                kinds[kind].test, what);
                cs_line(&h->p, line, x, number, ex_plain(h->tt->arena, x));
            }
        }
}

/* --------------------------------------------------------------------------------------------------- tensors */

static const char *int_list(Host *h, const int64_t *at, int count) {
    Text t = text_new(h->tt->arena);
    for (int i = 0; i < count; i++) text_add(&t, "%s%lld", i ? ", " : "", (long long)at[i]);
    return t.at;
}

/* Do its elements travel as they are, in DRAM, and is what is read never written? */
static bool is_exact(const TtPlan *plan, const TtBuffer *b) {
    for (size_t i = 0; i < plan->buffers.count; i++)
        if (plan->buffers.at[i].arg == b->arg && plan->buffers.at[i].output != b->output) return false;
    return (b->elem == EL_F32 || b->elem == EL_BF16) && !b->in_l1;
}

static void add_tensor(Host *h, int i) {
    CPrinter *p = &h->p;
    static const char *const pagings[] = {"PAGE_ANY", "PAGE_TILE", "PAGE_VECTOR", "PAGE_COLUMN", "PAGE_ROW",
                                          "PAGE_PLAIN"};
    const TtBuffer *b = &h->tt->plan->buffers.at[i];
    const TtLayout *layout = &b->layout;
    const char *array = param_name(h, b->arg), *type = cs_memory_type(b->elem);
    bool plain = layout->paging == PAGE_PLAIN;
    const Expr *extents[MAX_RANK], *strides[MAX_RANK], *base = plan_number(h, b->base);
    for (int d = 0; d < layout->rank; d++) {
        strides[d] = plan_number(h, b->stride[d]);
        extents[d] = b->open[d] ? NULL : plan_number(h, b->extent[d]);
    }
    cs_block(p);
    cs_line(p, "TwImage &image = tensors[%d].image;", i);
    cs_line(p, "image.name = %s;", quoted(h, b->name));
    cs_line(p, "image.layout = TwLayout{%s, %d, {%s}, {%s}, %d, %d};", pagings[layout->paging], layout->rank,
            int_list(h, layout->grain, layout->rank), int_list(h, layout->unit, layout->rank), layout->row,
            layout->column);
    cs_line(p, "image.output = %s;", b->output ? "true" : "false");
    cs_line(p, "image.element_bytes = sizeof(%s);", type);
    cs_line(p, "image.page_bytes = %u; // %s", tt_page_bytes(b), plain ? "memory as it is" : formats[b->format]);
    cs_line(p, "image.memory = arguments.%s.data<uint8_t>();", array);
    cs_line(p, "image.memory_bytes = arguments.%s.byte_count();", array);
    cs_line(p, "image.base = reinterpret_cast<uint8_t *>(%p);", base);
    for (int d = 0; d < layout->rank; d++) {
        if (b->open[d])
            cs_line(p, "image.open[%d] = true; // as far as the memory goes", d);
        else
            cs_line(p, "image.extent[%d] = %p;", d, extents[d]);
        cs_line(p, "image.stride[%d] = %p;", d, strides[d]);
    }
    cs_line(p, "tensors[%d].place();", i);
    cs_open(p, "if (arguments.%s.tensor)", array);
    cs_line(p, "tensors[%d].bind(arguments.%s, %s);", i, array, is_exact(h->tt->plan, b) ? "true" : "false");
    cs_reopen(p, "else");
    cs_line(p, "tensors[%d].make_pages();", i);
    if (plain)
        cs_line(p, "tw_plain_in(&image);");
    else if (b->output)
        cs_line(p, "tw_mark_untouched(&image);");
    else
        cs_line(p, "tensors[%d].fill(0x%08xu, %d, tw%s_to_page<%s>);", i, tt_fill_bits(b),
                b->format == TT_Float16_b ? 2 : 4, b->format == TT_Int32 ? "_index" : "", type);
    cs_line(p, "tensors[%d].create(device.get()%s);", i, b->in_l1 ? ", metal::BufferType::L1" : "");
    cs_close(p);
    cs_close(p);
}

static void add_tensors(Host *h) {
    const TtPlan *plan = h->tt->plan;
    cs_blank(&h->p);
    cs_line(&h->p, "// Tensors as pages: plan.json says how they lie.");
    cs_line(&h->p, "std::array<TwTensor, %zu> tensors;", plan->buffers.count);
    for (size_t i = 0; i < plan->buffers.count; i++) add_tensor(h, (int)i);
    for (size_t i = 0; i < plan->buffers.count; i++)
        for (size_t j = 0; j < i; j++)
            if (plan->buffers.at[i].output && plan->buffers.at[j].output)
                cs_line(&h->p,
                        "if (tw_overlap(&tensors[%zu].image, &tensors[%zu].image)) tw_fail(\"two outputs overlap\");",
                            i,
                        j);
}

/* ------------------------------------------------------------------------------------------- cores and program */

static void add_mapping(Host *h) {
    const TtPlan *plan = h->tt->plan;
    CPrinter *p = &h->p;
    static const char *const policies[] = {"TW_AUTO", "TW_CONTIGUOUS", "TW_STRIDED", "TW_RECT", "TW_BLOCK_LINEAR"};
    TwGrid asked = tt_grid(plan);
    const Expr *extents[MAX_RANK];
    for (int i = 0; i < plan->task_rank; i++) extents[i] = plan_number(h, plan->tasks[i]);
    cs_blank(p);
    cs_line(p, "// Which core runs which tasks.");
    cs_line(p, "const CoreCoord size = device->compute_with_storage_grid_size();");
    cs_line(p, "TwGrid grid{};");
    cs_line(p, "grid.policy = %s;", policies[asked.policy]);
    if (asked.policy == TW_BLOCK_LINEAR) cs_line(p, "grid.block = %u;", asked.block);
    if (asked.most) cs_line(p, "grid.most = %u;", asked.most);
    cs_line(p, "grid.shares = %s;", plan->shares ? "true" : "false");
    if (plan->turns) cs_line(p, "grid.turns = true;");
    if (plan->options.size.x) {
        cs_line(p, "grid.first = TwPoint{%u, %u};", asked.first.x, asked.first.y);
        cs_line(p, "grid.size = TwPoint{%u, %u};", asked.size.x, asked.size.y);
        cs_line(p, "if (%u > size.x || %u > size.y) tw_fail(\"the device has fewer cores than the plan asks for\");",
                asked.first.x + asked.size.x, asked.first.y + asked.size.y);
    } else
        cs_line(p, "grid.size = TwPoint{(u32)size.x, (u32)size.y};");
    cs_line(p, "grid.noc = tw_noc_point;");
    cs_line(p, "grid.device = device.get();");
    for (int i = 0; i < plan->task_rank; i++) cs_line(p, "if (%p <= 0) return;", extents[i]);
    Text list = text_new(h->tt->arena);
    for (int i = 0; i < plan->task_rank; i++)
        text_add(&list, "%s(u64)%s", i ? ", " : "", ex_plain(h->tt->arena, extents[i]));
    cs_line(p, "const uint64_t extents[] = {%s};", list.at);
    cs_line(p, "std::vector<TwPoint> points(grid.size.x * grid.size.y);");
    cs_line(p, "std::vector<std::array<u32, TW_CORE_WORDS>> words(points.size());");
    cs_line(p, "TwMapping map{};");
    cs_line(p, "map.cores = points.data();");
    cs_line(p, "map.words = reinterpret_cast<u32(*)[TW_CORE_WORDS]>(words.data());");
    cs_line(p, "tw_map(&grid, extents, %d, &map);", plan->task_rank);
    cs_line(p, "std::vector<CoreRange> ranges;");
    cs_line(p, "for (u32 i = 0; i < map.count; ++i) ranges.push_back(CoreRange(CoreCoord(points[i].x, points[i].y)));");
    cs_line(p, "const CoreRangeSet cores(std::move(ranges));");
}

static void add_cbs(Host *h) {
    const TtPlan *plan = h->tt->plan;
    CPrinter *p = &h->p;
    cs_blank(p);
    cs_line(p, "metal::Program program;");
    for (size_t i = 0; i < plan->cbs.count; i++) {
        const TtCb *cb = &plan->cbs.at[i];
        cs_line(p, "// %s: %s", cb->name, cb->what);
        cs_line(p, "metal::CreateCircularBuffer(program, cores,");
        cs_line(p, "                         metal::CircularBufferConfig(%u, {{%u, "
                   "tt::DataFormat::%s}}).set_page_size(%u, %u));",
                cb->desc.pages * cb->desc.page_bytes, cb->desc.id, formats[cb->desc.format], cb->desc.id,
                cb->desc.page_bytes);
    }
    if (plan->shares || plan->turns) {
        cs_line(p, "for (u32 i = 0; i < TW_SEMAPHORES; ++i)");
        cs_line(p, "    if (metal::CreateSemaphore(program, cores, 0) != i) tw_fail(\"semaphores are not numbered "
                   "from 0\");");
    }
}

static void add_data_kernel(Host *h, int kernel, const char *name, int processor, int noc) {
    CPrinter *p = &h->p;
    cs_line(p, "std::vector<u32> %s_args;", name);
    for (size_t i = 0; i < h->tt->accessors[kernel].count; i++)
        cs_line(p, "metal::TensorAccessorArgs(*tensors[%d].buffer).append_to(%s_args);",
                h->tt->accessors[kernel].at[i], name);
    cs_line(p, "const metal::KernelHandle %s = metal::CreateKernel(program, folder + \"/%s\", cores,", name,
            h->tt->plan->file[kernel]);
    cs_line(p,
            "    metal::DataMovementConfig{.processor = metal::DataMovementProcessor::RISCV_%d, .noc = "
            "metal::NOC::NOC_%d, "
            ".compile_args = %s_args,",
            processor, noc, name);
    cs_line(p, "                           .compiler_include_paths = {folder}});");
}

static void add_kernels(Host *h) {
    static const char *const fidelities[] = {"LoFi", "HiFi2", "HiFi3", "HiFi4"};
    const TtPlan *plan = h->tt->plan;
    CPrinter *p = &h->p;
    cs_blank(p);
    add_data_kernel(h, TENSIX_READER, "reader", 1, 0);
    add_data_kernel(h, TENSIX_WRITER, "writer", 0, 1);
    cs_line(p, "std::vector<metal::UnpackToDestMode> unpack(NUM_CIRCULAR_BUFFERS, metal::UnpackToDestMode::Default);");
    for (size_t i = 0; i < plan->cbs.count; i++)
        if (plan->cbs.at[i].desc.unpack_to_dest)
            cs_line(p, "unpack[%u] = metal::UnpackToDestMode::UnpackToDestFp32;", plan->cbs.at[i].desc.id);
    cs_line(p, "const metal::KernelHandle compute = metal::CreateKernel(program, folder + \"/%s\", cores,",
            plan->file[TENSIX_COMPUTE]);
    cs_line(p,
            "    metal::ComputeConfig{.math_fidelity = metal::MathFidelity::%s, .fp32_dest_acc_en = true, "
            ".dst_full_sync_en = %s,",
            fidelities[plan->options.fidelity - 1], plan->full_sync ? "true" : "false");
    cs_line(p, "                      .unpack_to_dest_mode = unpack, .compiler_include_paths = {folder}});");
}

static const char *word_text(Host *h, const TtArg *arg) {
    Arena *arena = h->tt->arena;
    const char *param = arg->kind <= ARG_STRIDE ? param_name(h, arg->index) : NULL, *number = NULL;
    switch (arg->kind) {
    case ARG_SCALAR:
        if (elem_is_float(arg->elem)) return arena_printf(arena, "tw_as_u32(%s)", param);
        number = param;
        break;
    case ARG_EXTENT: number = arena_printf(arena, "arguments.%s.extent[%d]", param, arg->dim); break;
    case ARG_STRIDE: number = arena_printf(arena, "arguments.%s.stride[%d]", param, arg->dim); break;
    case ARG_GRID: number = arena_printf(arena, "arguments.grid[%d]", arg->index); break;
    case ARG_ADDRESS: number = arena_printf(arena, "(i64)tensors[%d].buffer->address()", arg->index); break;
    case ARG_PAGES: number = arena_printf(arena, "tensors[%d].image.pages[%d]", arg->index, arg->dim); break;
    }
    bool is_signed = arg->kind == ARG_SCALAR ? elem_is_signed(arg->elem) : arg->kind <= ARG_GRID;
    return arena_printf(arena, "tw_word(%s, %s, %s)", quoted(h, arg->name), number, is_signed ? "true" : "false");
}

static void add_words(Host *h) {
    const TtPlan *plan = h->tt->plan;
    CPrinter *p = &h->p;
    cs_blank(p);
    cs_line(p, "const std::vector<u32> common = {");
    for (size_t i = 0; i < plan->args.count; i++) cs_line(p, "    %s,", word_text(h, &plan->args.at[i]));
    cs_line(p, "};");
    cs_open(p, "for (const metal::KernelHandle kernel : {reader, writer, compute})");
    cs_line(p, "if (!common.empty()) metal::SetCommonRuntimeArgs(program, kernel, common);");
    cs_line(p, "for (u32 i = 0; i < map.count; ++i)");
    cs_line(p,
            "    metal::SetRuntimeArgs(program, kernel, CoreCoord(points[i].x, points[i].y), "
            "std::vector<u32>(words[i].begin(), words[i].begin() + %u));",
            plan->word_count);
    cs_close(p);
}

static void add_run(Host *h) {
    const TtPlan *plan = h->tt->plan;
    CPrinter *p = &h->p;
    cs_blank(p);
    cs_line(p, "auto &queue = device->mesh_command_queue();");
    cs_line(p, "for (TwTensor &tensor : tensors)");
    cs_line(p, "    if (!tensor.bound) metal::distributed::EnqueueWriteMeshBuffer(queue, tensor.buffer, tensor.pages, "
               "false);");
    cs_line(p, "metal::distributed::MeshWorkload workload;");
    cs_line(p, "workload.add_program(metal::distributed::MeshCoordinateRange(device->shape()), std::move(program));");
    cs_line(p, "metal::distributed::EnqueueMeshWorkload(queue, workload, true);");
    for (size_t i = 0; i < plan->buffers.count; i++) {
        const TtBuffer *b = &plan->buffers.at[i];
        if (!b->output) continue;
        cs_open(p, "if (!tensors[%zu].bound)", i);
        cs_line(p, "metal::distributed::EnqueueReadMeshBuffer(queue, tensors[%zu].pages, tensors[%zu].buffer, true);",
                i, i);
        if (b->layout.paging == PAGE_PLAIN)
            cs_line(p, "tensors[%zu].plain_back();", i);
        else
            cs_line(p, "tensors[%zu].back(tw_from_page<%s>);", i, cs_memory_type(b->elem));
        cs_close(p);
    }
}

/* ------------------------------------------------------------------------------------------------------- main */

static const TtSpace *space_of(const Host *h, int param) {
    const TtOptions *o = &h->tt->plan->options;
    const char *name = param_at(h, param)->name;
    for (int i = 0; i < o->space_count; i++)
        if (name && strcmp(o->spaces[i].name, name) == 0) return &o->spaces[i];
    return NULL;
}

static const char *launch_name(int launch, Arena *arena) {
    return launch ? arena_printf(arena, "launch_%d", launch + 1) : "launch";
}

/* Option --place: arrays of numbers that tiles hold go to the device before the launch, and come back behind it. */
static void add_placed(Host *h, bool is_before) {
    Text names = text_new(h->tt->arena);
    for (int i = 0; i < h->tt->plan->param_count; i++) {
        const Value *v = param_at(h, i);
        const char *name = param_name(h, i), *word = quoted(h, v->name ? v->name : name);
        if (!is_array(v) || space_of(h, i) || (v->type->elem != EL_F32 && v->type->elem != EL_BF16)) continue;
        text_add(&names, "%s%s", names.length ? ", " : "", word);
        if (is_before)
            cs_line(&h->p, "TwPlaced<%s> placed_%s(command, %s, device.get(), arguments.%s);",
                    cs_memory_type(v->type->elem), name, word, name);
        else
            cs_line(&h->p, "placed_%s.fetch(device.get(), arguments.%s);", name, name);
    }
    if (is_before) cs_line(&h->p, "command.check_places({%s});", names.at);
}

static void add_main(Host *h) {
    const TtPlan *plan = h->tt->plan;
    CPrinter *p = &h->p;
    cs_open(p, "int main(int count, char **words)");
    cs_open(p, "try");
    cs_line(p, "const TwCommand command(count, words);");
    cs_line(p, "Arguments arguments{};");
    for (int i = 0; i < plan->param_count; i++) {
        const Value *v = param_at(h, i);
        const char *name = param_name(h, i), *word = quoted(h, v->name ? v->name : name);
        Elem elem = v->type->elem;
        const TtSpace *space = space_of(h, i);
        if (space)
            cs_line(p, "arguments.%s = tw_space(\"%s\", %d, {%s}); // the kernel's own memory", name, npy_type(elem),
                    elem_info[elem].bytes, int_list(h, space->extent, space->rank));
        else if (is_array(v))
            cs_line(p, "arguments.%s = command.array(%s, \"%s\"%s);", name, word, npy_type(elem),
                    v->type->kind == TY_TENSOR ? arena_printf(h->tt->arena, ", %d", v->type->rank) : "");
        else if (elem_is_float(elem))
            cs_line(p, "arguments.%s = %s;", name,
                    elem == EL_F32 ? arena_printf(h->tt->arena, "command.real(%s)", word)
                                   : arena_printf(h->tt->arena, "tw_f32(tw_%s(command.real(%s)))",
                                                  elem_info[elem].text, word));
        else
            cs_line(p, "arguments.%s = (%s)command.integer(%s);", name, cs_register_type(p, elem), word);
    }
    cs_line(p, "arguments.grid = command.grid();");
    cs_line(p, "const auto device = metal::distributed::MeshDevice::create_unit_mesh(0);");
    add_placed(h, true);
    for (int i = 0; i < (plan->options.launches ? plan->options.launches : 1); i++)
        cs_line(p, "%s(device, arguments);", launch_name(i, h->tt->arena));
    add_placed(h, false);
    cs_line(p, "device->close();");
    cs_line(p, "bool good = true;");
    for (int i = 0; i < plan->param_count; i++) {
        const Value *v = param_at(h, i);
        const char *name = param_name(h, i);
        bool is_written = plan->options.launches > 1; /* by another one of them */
        for (size_t j = 0; j < plan->buffers.count; j++)
            is_written |= plan->buffers.at[j].arg == i && plan->buffers.at[j].output;
        if (!is_array(v) || !is_written || space_of(h, i)) continue;
        cs_line(p, "good &= command.finish<%s>(%s, arguments.%s);", cs_memory_type(v->type->elem),
                quoted(h, v->name ? v->name : name), name);
    }
    cs_line(p, "return good ? 0 : 1;");
    cs_reopen(p, "catch (const std::exception &problem)");
    cs_line(p, "std::fprintf(stderr, \"%%s\\n\", problem.what());");
    cs_line(p, "return 1;");
    cs_close(p);
    cs_close(p);
}

static const char *usage_text(Host *h) {
    Text t = text_new(h->tt->arena);
    for (int i = 0; i < h->tt->plan->param_count; i++) {
        const Value *v = param_at(h, i);
        if (space_of(h, i)) continue;
        text_add(&t, " %s=%s", v->name ? v->name : param_name(h, i),
                 is_array(v) ? arena_printf(h->tt->arena, "%s.npy", v->name ? v->name : "array") : "1");
    }
    if (!h->tt->k->grid) text_add(&t, " grid=1,1,1");
    return t.at;
}

/* The lines so far, which are then forgotten. */
static const char *take_lines(Host *h) {
    const char *text = cs_text(h->tt->arena, &h->p.lines);
    h->p.lines.count = 0;
    return text;
}

void tt_host_text(Tt *tt) {
    static const CDialect dialect = {"host", true, false, true, ".bits", "bool", false, false};
    static const char *const words[] = {
        "arguments", "tensors", "image",    "grid",   "map",    "points", "words",  "ranges",  "size",  "extents",
            "cores",
        "program",   "reader",  "writer",   "compute", "unpack", "common", "queue",  "workload", "tensor", "kernel",
            "device",
        "folder",    "command", "count",    "good",   "main",   "launch", "metal",  "i",       "problem", NULL};
    Host h = {.tt = tt};
    CPrinter *p = &h.p;
    cs_init(p, tt->arena, tt->k, &dialect);
    cs_reserve(p, words);
    add_arguments(&h);
    const char *arguments = take_lines(&h);
    cs_open(p, "static void %s(const std::shared_ptr<metal::distributed::MeshDevice> &device, Arguments "
               "&arguments)",
            launch_name(tt->plan->options.launch, tt->arena));
    cs_line(p, "const std::string folder = TW_KERNEL_FOLDER;");
    unpack_arguments(&h);
    add_grid(&h);
    add_requires(&h);
    add_tensors(&h);
    add_mapping(&h);
    add_cbs(&h);
    add_kernels(&h);
    add_words(&h);
    add_run(&h);
    cs_close(p);
    cs_blank(p);
    tt->plan->host[1] = take_lines(&h);
    add_main(&h);
    tt->plan->host[2] = take_lines(&h);
    Text out = text_new(tt->arena);
    text_add(&out,
             "// host.cpp: runs kernel `%s` on a Tenstorrent device (%s), with TT-Metalium v0.77.\n//\n//     "
             "./%s%s\n//\n"
             "// Made by Tilewright; plan.json says the same as data.\n#include \"tilewright_host.h\"\n\n"
             "#ifndef TW_KERNEL_FOLDER\n#define TW_KERNEL_FOLDER \".\" // of reader.cpp, compute.cpp, writer.cpp and "
             "their "
             "preludes\n#endif\n\nnamespace metal = tt::tt_metal;\n\n",
             tt->plan->name, tensix_limits(tt->plan->options.arch)->name, tt->plan->name, usage_text(&h));
    text_add(&out, "%s", arguments);
    tt->plan->host[0] = out.at;
}

char *tt_cmake_text(const Tt *tt) {
    return arena_printf(tt->arena,
                        "# CMakeLists.txt: the host program of kernel `%s`; kernels are compiled by TT-Metalium at "
                        "run time.\n"
                        "cmake_minimum_required(VERSION 3.22)\nproject(%s LANGUAGES CXX)\n\nset(CMAKE_CXX_STANDARD "
                        "20)\n"
                        "set(CMAKE_CXX_STANDARD_REQUIRED ON)\nif(NOT TARGET TT::Metalium)\n    "
                        "find_package(TT-Metalium REQUIRED)\n"
                        "endif()\n\nadd_executable(%s host.cpp)\ntarget_compile_definitions(%s PRIVATE "
                        "TW_KERNEL_FOLDER=\"${CMAKE_CURRENT_SOURCE_DIR}\")\ntarget_link_libraries(%s PRIVATE "
                        "TT::Metalium)\n",
                        tt->plan->name, tt->plan->name, tt->plan->name, tt->plan->name, tt->plan->name);
}
