/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_names.c: the modules `tilelang` and `tilelang.language` as a kernel sees them, and dtypes. */
#include "front/tilelang/tilelang.h"

#include <string.h>

static const struct {
    const char *text;
    Elem elem;
} dtypes[] = {{"bool", EL_I1},
              {"int8", EL_I8},
              {"int16", EL_I16},
              {"int32", EL_I32},
              {"int64", EL_I64},
              {"uint8", EL_U8},
              {"uint16", EL_U16},
              {"uint32", EL_U32},
              {"uint64", EL_U64},
              {"float16", EL_F16},
              {"half", EL_F16},
              {"bfloat16", EL_BF16},
              {"float32", EL_F32},
              {"tfloat32", EL_F32},
              {"ptr", EL_I64}, /* an address, for T.make_tensor */
              {"int4", EL_I8}, /* what holds one: tilelang_packed.c */
              {"uint4", EL_U8},
              {"float4_e2m1fn", EL_F16},
              {"float", EL_F32},
              {"int", EL_I32},
              {"short", EL_I16},
              {"long", EL_I64},
              {"uint", EL_U32},
              {"float64", EL_F64},
              {"double", EL_F64},
              {"float8_e4m3", EL_F8E4M3},
              {"float8_e4m3fn", EL_F8E4M3},
              {"e4m3_float8", EL_F8E4M3},
              {"float8_e5m2", EL_F8E5M2},
              {"e5m2_float8", EL_F8E5M2}};

bool lang_elem(const char *text, Elem *elem) {
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].text, text) == 0) {
            *elem = dtypes[i].elem;
            return true;
        }
    return false;
}

const char *lang_elem_name(Elem elem) {
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].elem == elem) return dtypes[i].text;
    return elem_info[elem].text;
}

bool lang_elem_of(Val v, Elem *elem) {
    if (v.kind == VAL_DTYPE) {
        *elem = v.dtype->elem;
        return true;
    }
    if (v.kind == VAL_BUILTIN) /* int, float */
        return strchr(v.builtin->kinds, 'P') && lang_elem(v.builtin->name, elem);
    if (v.kind == VAL_MODULE && strncmp(v.text, "torch.", 6) == 0) return lang_elem(v.text + 6, elem);
    return v.kind == VAL_STR && lang_elem(v.text, elem);
}

Val lang_dtype_of(Lower *l, const Storage *of) {
    if (of->packed) return val_str(lang_packed_name(of->packed));
    return of->tf32 ? val_str("tfloat32") : val_dtype(ty_scalar(l->module, of->elem));
}

bool lang_is_tf32(Val dtype) { return dtype.kind == VAL_STR && strcmp(dtype.text, "tfloat32") == 0; }

const char *lang_module_path(const char *path) { return path; }

bool lang_is_library(const char *path) {
    static const char *const roots[] = {"tilelang", "tvm", "torch", NULL};
    for (const char *const *root = roots; *root; root++) {
        size_t n = strlen(*root);
        if (strncmp(path, *root, n) == 0 && (!path[n] || path[n] == '.')) return true;
    }
    return false;
}

Val lang_unknown_op(Lower *l, const char *name, Range range) {
    VEC(const char *) all = {0};
    for (size_t i = 0; i < l->domain->builtin_count; i++)
        if (strchr(l->domain->builtins[i].kinds, 'T')) *VEC_PUSH(&all, l->arena) = l->domain->builtins[i].name;
    const char *near = text_nearest(name, all.at, all.count);
    return py_error(l, DIAG_TL_UNKNOWN_OP, range, name,
                    text_suggest(l->arena, "T.", near));
}

/* Names of T that are neither a row of the table nor a dtype, and that other rows take. */
static bool is_word(const char *attr) { return strcmp(attr, "GemmWarpPolicy") == 0; }

bool lang_is_language(const Lower *l, const PyNode *func, const char *name) {
    if (func->kind != PY_Attribute || strcmp(func->Attribute.attr, name) != 0) return false;
    const char *path = names_path(l->names, func->Attribute.value, l->arena);
    return path && strcmp(path, "tilelang.language") == 0;
}

/* --- what programs ask of the device --- */

enum { LEVEL = 90 }; /* without a GPU to ask: what people write for */

static int level_of(const Lower *l) { return l->request && l->request->cuda_level ? l->request->cuda_level : LEVEL; }

Val lang_lower_capability(Lower *l, const Call *c) {
    Val parts[2] = {val_int(level_of(l) / 10), val_int(level_of(l) % 10)};
    (void)c;
    return val_tuple(l, parts, 2);
}

Val lang_lower_properties(Lower *l, const Call *c) {
    (void)l, (void)c;
    return (Val){.kind = VAL_MODULE, .text = "torch.cuda.properties"};
}

Val lang_lower_yes(Lower *l, const Call *c) {
    (void)l;
    return val_bool(c->builtin->code);
}

Val lang_lower_fp8(Lower *l, const Call *c) {
    Val kind = c->args[0];
    if (kind.kind == VAL_STR && strcmp(kind.text, "e5m2") == 0) return val_dtype(ty_scalar(l->module, EL_F8E5M2));
    return val_dtype(ty_scalar(l->module, EL_F8E4M3));
}

Val lang_module_attribute(Lower *l, const char *path, const char *attr, Range range) {
    Elem elem;
    if (strcmp(path, "tilelang.language") == 0) {
        const Builtin *builtin = py_builtin(l, attr, 'T');
        if (builtin) return (Val){.kind = VAL_BUILTIN, .builtin = builtin};
        if (lang_is_tf32(val_str(attr)) || lang_packed(val_str(attr))) return val_str(attr); /* a type says less */
        if (lang_elem(attr, &elem)) return val_dtype(ty_scalar(l->module, elem));
        if (is_word(attr)) return (Val){.kind = VAL_MODULE, .text = arena_printf(l->arena, "T.%s", attr)};
        return lang_unknown_op(l, attr, range);
    }
    static const struct {
        const char *path; /* a module, or with a dot behind it one and what lies below */
        char kind;
    } modules[] = {{"tilelang", 'H'},          {"tilelang.math", 'H'},  {"tilelang.utils.", 'H'},
                   {"tilelang.language.fp8", 'H'}, {"tilelang.layout", 'Z'}, {"tilelang.carver.arch.", 'A'},
                   {"torch.cuda", 'C'},        {"tvm.tir", 'V'},        {"tvm.tirx", 'V'},
                   {"tilelang.tvm.tir", 'V'},  {"tilelang.tvm.tirx", 'V'},
                   {"tilelang.tools.cuda.iket", 'K'}, {"tilelang.intrinsics.", 'N'},
                   {"tilelang.cuda.intrinsics.", 'N'}, {"tilelang.rocm.", 'N'}};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        size_t n = strlen(modules[i].path);
        bool below = modules[i].path[n - 1] == '.';
        bool here = below ? strncmp(path, modules[i].path, n - 1) == 0 && strchr(".", path[n - 1])
                          : strcmp(path, modules[i].path) == 0;
        const Builtin *builtin = here ? py_builtin(l, attr, modules[i].kind) : NULL;
        if (!builtin && here && modules[i].kind == 'V') builtin = py_builtin(l, attr, 'T');
        if (builtin) return (Val){.kind = VAL_BUILTIN, .builtin = builtin};
    }
    if (strcmp(path, "torch.version") == 0 && strcmp(attr, "hip") == 0) return val_none;
    if (strcmp(path, "torch.cuda.properties") == 0) {
        if (strcmp(attr, "major") == 0) return val_int(level_of(l) / 10);
        if (strcmp(attr, "minor") == 0) return val_int(level_of(l) % 10);
        if (strcmp(attr, "multi_processor_count") == 0) return val_int(LANG_PROCESSORS);
    }
    return (Val){.kind = VAL_UNBOUND};
}

Val lang_dtype_attribute(Lower *l, const Type *dtype, const char *attr) {
    Elem e = dtype->elem;
    (void)l;
    if (strcmp(attr, "bits") == 0) return val_int(elem_info[e].bits);
    if (strcmp(attr, "itemsize") == 0 || strcmp(attr, "bytes") == 0) return val_int((elem_info[e].bits + 7) / 8);
    if (strcmp(attr, "lanes") == 0) return val_int(1);
    if (strcmp(attr, "name") == 0) return val_str(lang_elem_name(e));
    return (Val){.kind = VAL_UNBOUND};
}
