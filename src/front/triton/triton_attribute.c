/* SPDX-License-Identifier: Apache-2.0 */
/* triton_attribute.c: `x.attr` in a Triton kernel: what dtypes, tensors, modules and constants know
 * about themselves.
 *
 *     x.dtype.element_ty, p.type.element_ty, x.shape, x.T, tl.float32.primitive_bitwidth
 *     x.dtype.is_fp16()        questions to a dtype are calls: tri_dtype_method */
#include "front/triton/triton.h"

#include <string.h>

static Val scalar_of(Lower *l, const Type *type) {
    return val_dtype(type->pointer ? ty_pointer(l->module, type->elem) : ty_scalar(l->module, type->elem));
}
static Val shape_of(Lower *l, const Type *type) {
    Val items[MAX_RANK];
    for (int d = 0; d < type->rank; d++) items[d] = val_int(type->extent[d]);
    return val_tuple(l, items, type->rank);
}

/* Triton's own name: "fp32", "int64", "pointer<fp16>". */
static const char *dtype_name(Lower *l, const Type *type) {
    const char *name = elem_is_float(type->elem) ? tri_dtype_brief(type->elem) : tri_dtype_name(type->elem);
    return type->pointer ? arena_printf(l->arena, "pointer<%s>", name) : name;
}

static const struct {
    Elem elem;
    int mantissa, bias;
} float_forms[] = {{EL_F16, 10, 15},   {EL_BF16, 7, 127}, {EL_F32, 23, 127},   {EL_F64, 52, 1023}, {EL_F8E4M3, 3, 7},
                   {EL_F8E5M2, 2, 15}, {EL_F8E4B8, 3, 8}, {EL_F8E5B16, 2, 16}, {EL_F8E4B15, 3, 15}};

static Val dtype_attribute(Lower *l, const Type *type, const char *attr, Range range) {
    if (strcmp(attr, "element_ty") == 0) {
        if (type->rank == 0)
            return val_dtype(ty_scalar(l->module, type->elem)); /* of a pointer: what it points to */
        return scalar_of(l, type);
    }
    if (strcmp(attr, "scalar") == 0) return scalar_of(l, type);
    if (strcmp(attr, "primitive_bitwidth") == 0 || strcmp(attr, "int_bitwidth") == 0)
        return val_int(type->pointer ? 64 : elem_info[type->elem].bits);
    if (strcmp(attr, "itemsize") == 0) return val_int(ty_elem_bytes(type));
    if (strcmp(attr, "name") == 0) return val_str(dtype_name(l, type));
    if (strcmp(attr, "numel") == 0) return val_int(ty_elements(type));
    for (size_t i = 0; !type->pointer && i < sizeof float_forms / sizeof *float_forms; i++) {
        if (float_forms[i].elem != type->elem) continue;
        if (strcmp(attr, "fp_mantissa_width") == 0) return val_int(float_forms[i].mantissa);
        if (strcmp(attr, "exponent_bias") == 0) return val_int(float_forms[i].bias);
    }
    if (strcmp(attr, "shape") == 0) return shape_of(l, type);
    if (strcmp(attr, "nbytes") == 0 && type->rank) return val_int(ty_elements(type) * ty_elem_bytes(type));
    if (strcmp(attr, "address_space") == 0 && type->pointer) return val_int(1);
    static const char *const known[] = {"element_ty",
                                        "scalar",
                                        "primitive_bitwidth",
                                        "int_bitwidth",
                                        "itemsize",
                                        "name",
                                        "numel",
                                        "fp_mantissa_width",
                                        "exponent_bias",
                                        "shape",
                                        "nbytes",
                                        "is_ptr",
                                        "is_int",
                                        "is_floating",
                                        "is_fp8",
                                        "is_fp16",
                                        "is_bf16",
                                        "is_fp32",
                                        "is_fp64",
                                        "is_block"};
    const char *near = text_nearest(attr, known, sizeof known / sizeof *known);
    return py_error(l, DIAG_EVAL_UNKNOWN, range, arena_printf(l->arena, "dtype.%s", attr),
                    near ? text_suggest(l->arena, ".", near)
                          : "; a dtype has element_ty, primitive_bitwidth, itemsize, name and "
                            "questions such as is_fp16()");
}

/* dtype.is_fp16() and its kin: the answer to a call of such a method. */
static bool dtype_question(const Type *type, const char *name, bool *answer) {
    Elem e = type->elem;
    bool number = !type->pointer;
    const struct {
        const char *name;
        bool answer;
    } table[] = {
        {"is_fp8", number && elem_is_float(e) && elem_info[e].bits == 8},
        {"is_fp16", number && e == EL_F16},
        {"is_bf16", number && e == EL_BF16},
        {"is_fp32", number && e == EL_F32},
        {"is_fp64", number && e == EL_F64},
        {"is_int1", number && e == EL_I1},
        {"is_bool", number && e == EL_I1},
        {"is_int8", number && e == EL_I8},
        {"is_int16", number && e == EL_I16},
        {"is_int32", number && e == EL_I32},
        {"is_int64", number && e == EL_I64},
        {"is_uint8", number && e == EL_U8},
        {"is_uint16", number && e == EL_U16},
        {"is_uint32", number && e == EL_U32},
        {"is_uint64", number && e == EL_U64},
        {"is_floating", number && elem_is_float(e)},
        {"is_standard_floating", number && elem_is_float(e) && elem_info[e].bits > 8},
        {"is_int", number && !elem_is_float(e)},
        {"is_int_signed", number && elem_is_signed(e)},
        {"is_int_unsigned", number && (e == EL_I1 || elem_info[e].cls == CLASS_UINT)},
        {"is_ptr", type->pointer},
        {"is_block", type->rank > 0},
        {"is_const", false},
        {"is_void", false},
        {"is_dtype", true},
        {"is_fp8e4nv", number && e == EL_F8E4M3},
        {"is_fp8e5", number && e == EL_F8E5M2},
        {"is_fp8e4b8", number && e == EL_F8E4B8},
        {"is_fp8e5b16", number && e == EL_F8E5B16},
        {"is_fp8e4b15", number && e == EL_F8E4B15},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0) {
            *answer = table[i].answer;
            return true;
        }
    return false;
}

Val tri_dtype_method(Lower *l, const Type *type, const char *name) {
    bool answer;
    if (dtype_question(type, name, &answer)) return val_bool(answer);
    bool integer = !type->pointer && elem_is_int(type->elem), is_signed = elem_is_signed(type->elem);
    int bits = elem_info[type->elem].bits;
    PyInt half = (PyInt)1 << (bits - 1);
    if (integer && strcmp(name, "get_int_max_value") == 0) return val_int(is_signed ? half - 1 : 2 * half - 1);
    if (integer && strcmp(name, "get_int_min_value") == 0) return val_int(is_signed ? -half : 0);
    if (type->rank && strcmp(name, "get_block_shapes") == 0) return shape_of(l, type);
    if (!type->pointer && strcmp(name, "kind") == 0) /* Triton's order: bool < int < float */
        return val_int(type->elem == EL_I1 ? 0 : elem_is_float(type->elem) ? 2 : 1);
    if (strcmp(name, "codegen_name") == 0) return val_str(tri_dtype_name(type->elem));
    return (Val){.kind = VAL_UNBOUND};
}

static Val tensor_attribute(Lower *l, Val v, const char *attr, Range range) {
    const Type *type = val_type(l, v);
    if (strcmp(attr, "dtype") == 0) return scalar_of(l, type);
    if (strcmp(attr, "type") == 0) return val_dtype(type);
    if (strcmp(attr, "shape") == 0) return shape_of(l, type);
    if (strcmp(attr, "numel") == 0) return val_int(ty_elements(type));
    if (strcmp(attr, "T") == 0) {
        if (type->rank != 2) return py_error(l, DIAG_TRI_TRANSPOSE, range, val_type_text(l, type));
        return val_tensor(ir_permute(&l->b, v.ref, (int64_t[]){1, 0}, 2));
    }
    const Builtin *builtin = tri_builtin_find(attr, 'm');
    if (!builtin) {
        VEC(const char *) all = {0};
        for (int i = 0; i < TRI_BUILTIN_COUNT; i++)
            if (strchr(tri_builtins[i].kinds, 'm')) *VEC_PUSH(&all, l->arena) = tri_builtins[i].name;
        const char *near = text_nearest(attr, all.at, all.count);
        return py_error(l, DIAG_EVAL_UNKNOWN, range, arena_printf(l->arena, ".%s", attr),
                        near ? text_suggest(l->arena, ".", near)
                              : "; a tensor has dtype, shape, type, numel, T and methods such as "
                                ".to(..) and .sum(..)");
    }
    return (Val){.kind = VAL_BUILTIN, .builtin = builtin, .self = arena_copy(l->arena, &v, sizeof v)};
}

/* What `.type` of a constant is: only isinstance looks at it. */
static const char constexpr_type[] = "triton.language.constexpr_type";

Val tri_attribute(Lower *l, Val v, const char *attr, Range range) {
    switch (v.kind) {
    case VAL_DTYPE:
        if (strcmp(attr, "value") == 0) return v; /* tl.constexpr's own */
        return dtype_attribute(l, v.dtype, attr, range);
    case VAL_TENSOR: return tensor_attribute(l, v, attr, range);
    case VAL_OWN:
        if (v.own == &tri_block) return tri_block_attribute(l, v, attr, range);
        return v.own == &tri_descriptor ? tri_descriptor_attribute(l, v, attr, range)
                                        : tri_aggregate_attribute(l, v, attr, range);
    case VAL_BOOL:
    case VAL_INT:
    case VAL_FLOAT: {
        if (strcmp(attr, "value") == 0) return v;
        if (strcmp(attr, "type") == 0) return (Val){.kind = VAL_MODULE, .text = constexpr_type};
        /* Triton makes a number argument of 1 a constant, on which `.to` fails; here it works. */
        Val tensor = tri_to_tensor(l, v, range);
        return val_failed(tensor) ? tensor : tensor_attribute(l, tensor, attr, range);
    }
    case VAL_STR:
    case VAL_NONE:
        if (strcmp(attr, "value") == 0) return v;
        if (strcmp(attr, "type") == 0) return (Val){.kind = VAL_MODULE, .text = constexpr_type};
        break;
    default: break;
    }
    return (Val){.kind = VAL_UNBOUND};
}
