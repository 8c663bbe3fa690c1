/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_host.c: launch.cuh, a function that launches an emitted kernel with CUDA's runtime alone: it tests what the
 * kernel was compiled for, encodes the tensor maps and chooses the blocks, as our own launcher does. Who includes it
 * and compiles it by nvcc needs nothing else of us.
 *
 *     #include "launch.cuh"
 *     attention_kernel_launch(q, k, v, o, scale, N, stride_h, stride_n, {3, 8, 1}, stream);
 *
 * Numbers are computed on the host as the IR says. A kernel whose numbers need an op that has no text here has no such
 * file (NULL). */
#include "target/cuda/cuda.h"
#include "target/cstyle/cstyle.h"

typedef struct Host {
    const Kernel *k;
    const CudaPlan *plan;
    Text t;
    bool lacks; /* a number that this file cannot compute */
} Host;

/* The operator between two integers, or the name of the function that takes them. */
static const char *operation(Opcode code) {
    switch (code) {
    case OP_ADD: return "+";
    case OP_SUB: return "-";
    case OP_MUL: return "*";
    case OP_AND: return "&";
    case OP_MIN: return "tw_host_min";
    case OP_MAX: return "tw_host_max";
    case OP_CDIV: return "tw_host_cdiv";
    case OP_DIV: return "tw_host_div";
    default: return NULL;
    }
}

static const char *name_of(Host *h, Ref ref) {
    const char *name = ir_value(h->k, ref)->name;
    if (!name) h->lacks = true;
    return name ? name : "";
}

static void add_number(Host *h, Ref ref) {
    int64_t number;
    const Value *v = ref_is_value(ref) ? ir_value(h->k, ref) : NULL;
    const Op *op = v ? v->op : NULL;
    const char *sign = op ? operation(op->code) : NULL;
    bool infix = sign && !sign[1];
    if (ir_const_int(h->k, ref, &number)) {
        text_add(&h->t, "%lld", (long long)number);
    } else if (v && !op) {
        text_add(&h->t, v->type->pointer ? "(i64)%s" : "%s", name_of(h, ref));
    } else if (op && op->code == OP_NUM_PROGRAMS) {
        text_add(&h->t, "grid.%c", "xyz"[op_int(op, AT_DIM, 0)]);
    } else if (op && (op->code == OP_EXTENT || op->code == OP_STRIDE)) {
        text_add(&h->t, "%s_%c%d", name_of(h, op->operands[0]), op->code == OP_EXTENT ? 'n' : 's',
                 (int)op_int(op, AT_DIM, 0));
    } else if (op && op->code == OP_BASE) {
        text_add(&h->t, "(i64)%s", name_of(h, op->operands[0]));
    } else if (op && op->code == OP_PTR_ADD) {
        add_number(h, op->operands[0]);
        text_add(&h->t, " + ");
        add_number(h, op->operands[1]);
        text_add(&h->t, " * %d", elem_info[v->type->elem].bytes);
    } else if (op && op->code == OP_CAST && elem_is_int(v->type->elem)) {
        text_add(&h->t, "(%s)(", elem_info[v->type->elem].text);
        add_number(h, op->operands[0]);
        text_add(&h->t, ")");
    } else if (sign && elem_is_int(v->type->elem)) { /* it wraps as the kernel's own does */
        text_add(&h->t, infix ? "(%s)((i64)(" : "(%s)(%s((i64)(", elem_info[v->type->elem].text, sign);
        add_number(h, op->operands[0]);
        text_add(&h->t, infix ? ") %s (i64)(" : "), (i64)(", sign);
        add_number(h, op->operands[1]);
        text_add(&h->t, infix ? "))" : ")))");
    } else
        h->lacks = true;
}

static void add_parameters(Host *h) {
    for (int i = 0; i < h->k->body->arg_count; i++) {
        Ref arg = h->k->body->args[i];
        const Type *type = ir_type(h->k, arg);
        const char *name = name_of(h, arg), *elem = cs_memory_type(type->elem);
        if (type->kind == TY_TENSOR || type->pointer)
            text_add(&h->t, "%s *%s, ", elem, name);
        else
            text_add(&h->t, "%s %s, ", elem_info[type->elem].text[0] == 'i' && elem_info[type->elem].bits == 1
                                           ? "bool"
                                           : elem_info[type->elem].text, name);
        for (int d = 0; type->kind == TY_TENSOR && d < type->rank; d++) text_add(&h->t, "i64 %s_n%d, ", name, d);
        for (int d = 0; type->kind == TY_TENSOR && d < type->rank; d++) text_add(&h->t, "i64 %s_s%d, ", name, d);
    }
    if (h->plan->made) text_add(&h->t, "TensorMap *made_maps, i32 map_places, ");
    text_add(&h->t, "dim3 grid, cudaStream_t stream = 0");
}

/* Is more than `least` of the value required elsewhere? */
static bool is_weaker(const Kernel *k, Ref value, int64_t least) {
    for (const Op *op = k->body->first; op; op = op->next)
        for (int i = 0; op->code == OP_REQUIRE && i < op->operand_count; i++)
            if (op->operands[i] == value && op_attr(op, AT_LEAST) && op_int(op, AT_LEAST, 0) > least) return true;
    return false;
}

/* What the compiler took for granted, each value in a line of its own; a launch for which it does not hold is
 * refused. */
static void add_requires(Host *h) {
    for (const Op *op = h->k->body->first; op; op = op->next) {
        if (op->code != OP_REQUIRE) continue;
        int64_t multiple = op_int(op, AT_ALIGN, op_int(op, AT_MULT, 0));
        bool least = op_attr(op, AT_LEAST), equal = op_attr(op, AT_EQ);
        if (!multiple && !least && !equal) continue; /* arrays that do not overlap: said above the function */
        int64_t number = op_int(op, least ? AT_LEAST : AT_EQ, 0);
        for (int i = 0; i < op->operand_count; i++) {
            if (least && is_weaker(h->k, op->operands[i], number)) continue;
            text_add(&h->t, "    if ((");
            add_number(h, op->operands[i]);
            if (multiple)
                text_add(&h->t, ") %% %lld != 0", (long long)multiple);
            else
                text_add(&h->t, ") %s %lldLL", least ? "<" : "!=", (long long)number);
            text_add(&h->t, ") return cudaErrorInvalidValue;\n");
        }
    }
}

static const char *map_type(Elem elem) {
    static const char *const types[EL_COUNT] = {
        [EL_I1] = "UINT8",   [EL_I8] = "UINT8",     [EL_U8] = "UINT8",     [EL_I16] = "UINT16",
        [EL_U16] = "UINT16", [EL_I32] = "INT32",    [EL_U32] = "UINT32",   [EL_I64] = "INT64",
        [EL_U64] = "UINT64", [EL_F16] = "FLOAT16",  [EL_BF16] = "BFLOAT16", [EL_F32] = "FLOAT32",
        [EL_F64] = "FLOAT64"};
    return types[elem] ? types[elem] : "UINT8";
}

/* cuTensorMapEncodeTiled's numbers: contiguous dimension first; an extent without a bound is as large as can be. */
static void add_map(Host *h, const CudaMap *map) {
    Text *t = &h->t;
    int bytes = elem_info[map->elem].bytes;
    int64_t step = bytes;
    text_add(t, "    TensorMap %s;\n    {\n        const cuuint64_t dims[] = {", map->name);
    for (int d = 0; d < map->rank; d++) {
        if (d) text_add(t, ", ");
        if (map->made || map->extent[d] < 0)
            text_add(t, "%d", map->made ? map->box[d] : INT32_MAX);
        else
            text_add(t, "(cuuint64_t)("), add_number(h, h->plan->wanted.at[map->extent[d]]), text_add(t, ")");
    }
    text_add(t, "};\n        const cuuint64_t strides[] = {");
    for (int d = 1; d < map->rank; d++) {
        if (d > 1) text_add(t, ", ");
        step *= map->box[d - 1];
        if (map->made)
            text_add(t, "%lld", (long long)step);
        else
            text_add(t, "(cuuint64_t)("), add_number(h, h->plan->wanted.at[map->stride[d]]),
                text_add(t, ") * %d", bytes);
    }
    text_add(t, "%s};\n        const cuuint32_t box[] = {", map->rank > 1 ? "" : "0");
    for (int d = 0; d < map->rank; d++) text_add(t, "%s%d", d ? ", " : "", map->box[d]);
    text_add(t, "};\n        if (!tw_host_encode(&%s, CU_TENSOR_MAP_DATA_TYPE_%s, %d, (void *)(", map->name,
             map_type(map->elem), map->rank);
    if (map->made)
        text_add(t, "made_maps");
    else
        add_number(h, h->plan->wanted.at[map->base]);
    text_add(t, "), dims, strides, box, CU_TENSOR_MAP_SWIZZLE_");
    text_add(t, map->swizzle ? "%dB" : "NONE", map->swizzle);
    text_add(t, "))\n            return cudaErrorInvalidValue;\n    }\n");
}

static void add_arguments(Host *h) {
    Text *t = &h->t;
    const SimtParams *params = &h->plan->params;
    bool grid = false, swept = false;
    for (size_t i = 0; i < params->count; i++) {
        grid |= params->at[i].kind == SIMT_GRID;
        swept |= params->at[i].kind == SIMT_SWEPT;
    }
    if (grid) text_add(t, "    i32 extents[3] = {(i32)grid.x, (i32)grid.y, (i32)grid.z};\n");
    if (swept) text_add(t, "    i32 swept = 0; // the axes of the grid are in its own order\n");
    text_add(t, "    void *arguments[] = {");
    for (size_t i = 0; i < params->count; i++) {
        const SimtParam *p = &params->at[i];
        const char *name = p->kind <= SIMT_STRIDE ? name_of(h, h->k->body->args[p->arg]) : "";
        text_add(t, i ? ", " : "");
        switch (p->kind) {
        case SIMT_SCALAR:
        case SIMT_POINTER: text_add(t, "&%s", name); break;
        case SIMT_EXTENT: text_add(t, "&%s_n%d", name, p->dim); break;
        case SIMT_STRIDE: text_add(t, "&%s_s%d", name, p->dim); break;
        case SIMT_GRID: text_add(t, "&extents[%d]", p->dim); break;
        case SIMT_SWEPT: text_add(t, "&swept"); break;
        case SIMT_ROOM: text_add(t, p->dim ? "&map_places" : "&made_maps"); break;
        case SIMT_OWN: text_add(t, "&%s", h->plan->maps.at[p->dim].name); break;
        }
    }
    text_add(t, "%s};\n", params->count ? "" : "nullptr");
}

static void add_launch(Host *h) {
    const CudaPlan *plan = h->plan;
    Text *t = &h->t;
    bool pairs = plan->cluster && !plan->waves; /* with `waves` blocks may be alone, too */
    text_add(t, "    cudaLaunchConfig_t config = {};\n    config.gridDim = grid;\n    config.blockDim = %d;\n"
                "    config.dynamicSmemBytes = %lld;\n    config.stream = stream;\n",
             plan->threads, (long long)plan->shared_bytes);
    text_add(t, "    cudaError_t status = cudaFuncSetAttribute((const void *)%s, "
                "cudaFuncAttributeMaxDynamicSharedMemorySize, "
                "%lld);\n    if (status != cudaSuccess) return status;\n",
             plan->name, (long long)plan->shared_bytes);
    if (pairs)
        text_add(t, "    cudaLaunchAttribute cluster = {};\n    cluster.id = cudaLaunchAttributeClusterDimension;\n"
                    "    cluster.val.clusterDim = {%d, 1, 1};\n    config.attrs = &cluster;\n    "
                    "config.numAttrs = 1;\n",
                 plan->cluster);
    if (plan->persist)
        text_add(t, "    // as many blocks as run at once walk over the programs of the grid\n"
                    "    int device = 0, processors = 0, at_once = 0;\n    cudaGetDevice(&device);\n"
                    "    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);\n"
                    "    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, (const "
                    "void *)%s, %d, %lld);\n"
                    "    if (status != cudaSuccess) return status;\n"
                    "    const i64 programs = (i64)grid.x * grid.y * grid.z, most = (i64)processors * at_once / %d;\n"
                    "    config.gridDim = dim3((unsigned)(tw_host_min(programs, most) * %d));\n",
                 plan->name, plan->threads, (long long)plan->shared_bytes, pairs ? plan->cluster : 1,
                 pairs ? plan->cluster : 1);
    text_add(t, "    return cudaLaunchKernelExC(&config, (const void *)%s, arguments);\n}\n", plan->name);
}

char *cuda_host(const PassContext *cx, const Kernel *k, const CudaPlan *plan) {
    Host h = {k, plan, text_new(k->module->arena), false};
    text_add(&h.t,
             "// launches %s with CUDA's runtime alone: #include it into a .cu, and compile by\n"
             "//     nvcc -gencode arch=%s,code=%s -std=c++17 --fmad=false -I.\n"
             "// Arrays that the kernel writes must not overlap others. "
             "cudaErrorInvalidValue: an argument is not what this\n"
             "// kernel was compiled for (plan.json, \"requires\").\n"
             "#pragma once\n#include \"%s.cu\"\n#include \"host.cuh\"\n\nstatic inline cudaError_t %s_launch(",
             plan->name, cx->machine->assembly_arch, cx->machine->arch, k->name, plan->name);
    add_parameters(&h);
    text_add(&h.t, ") {\n");
    add_requires(&h);
    for (size_t i = 0; i < plan->maps.count; i++) add_map(&h, &plan->maps.at[i]);
    add_arguments(&h);
    add_launch(&h);
    return h.lacks ? NULL : h.t.at;
}
