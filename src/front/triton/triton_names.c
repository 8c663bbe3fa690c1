/* SPDX-License-Identifier: Apache-2.0 */
/* triton_names.c: the modules `triton` and `triton.language` as a kernel sees them, under whatever name its file gives
 * them. */
#include "front/triton/triton.h"

#include <string.h>

const char *tri_module_path(const char *path) {
    /* Projects hand Triton on through modules of their own: `from vllm.triton_utils import tl, triton`. */
    if (strncmp(path, "triton", 6) != 0) {
        const char *last = strrchr(path, '.');
        if (last && strcmp(last, ".tl") == 0) return "triton.language";
        if (last && strcmp(last, ".triton") == 0) return "triton";
    }
    return path;
}

bool tri_is_library(const char *path) {
    return strncmp(path, "triton", 6) == 0 && (!path[6] || path[6] == '.');
}

bool tri_is_jit(const Names *names, const PyNode *function, Arena *arena) {
    return names_decorated(names, function, "triton.jit", arena) ||
           names_decorated(names, function, "triton.runtime.jit", arena);
}

bool tri_on_constants(const Names *names, const PyNode *function, Arena *arena) {
    return names_decorated(names, function, "triton.constexpr_function", arena);
}

static bool is_one_of(const char *text, const char *const *list) {
    for (; *list; list++)
        if (strcmp(*list, text) == 0) return true;
    return false;
}

static const char *suggest(Lower *l, const char *wrong) {
    VEC(const char *) all = {0};
    for (int i = 0; i < TRI_BUILTIN_COUNT; i++)
        if (strchr(tri_builtins[i].kinds, 'T')) *VEC_PUSH(&all, l->arena) = tri_builtins[i].name;
    for (int e = 0; e < EL_COUNT; e++) *VEC_PUSH(&all, l->arena) = tri_dtype_name((Elem)e);
    const char *nearest = text_nearest(wrong, all.at, all.count);
    return text_suggest(l->arena, "tl.", nearest);
}

const char *tri_suggest_host(Lower *l, const char *path) {
    VEC(const char *) all = {0};
    if (strncmp(path, "triton.", 7) != 0 || strchr(path + 7, '.')) return "";
    for (int i = 0; i < TRI_BUILTIN_COUNT; i++)
        if (strchr(tri_builtins[i].kinds, 'H')) *VEC_PUSH(&all, l->arena) = tri_builtins[i].name;
    const char *nearest = text_nearest(path + 7, all.at, all.count);
    return nearest ? arena_printf(l->arena, "did you mean `triton.%s`? Else ", nearest) : "";
}

/* A name of triton.language, or of a module below it. */
static Val language_attribute(Lower *l, const char *path, const char *attr, Range range) {
    static const char *const modules[] = {"math", "extra",     "core", "standard",    "random",
                                          "cuda", "libdevice", "hip",  "target_info", NULL};
    static const char *const classes[] = {"tensor",
                                          "dtype",
                                          "tuple",
                                          "const",
                                          "base_value",
                                          "void",
                                          "slice",
                                          "PropagateNan",
                                          "tensor_descriptor",
                                          "tensor_descriptor_base",
                                          "constexpr_type",
                                          "tuple_type",
                                          "tensor_descriptor_type",
                                          NULL};
    bool libdevice = strstr(path, "libdevice") != NULL;
    bool math = strcmp(path, "triton.language.math") == 0;
    bool info = strcmp(path, "triton.language.target_info") == 0;
    bool cuda = strcmp(path, "triton.language.extra.cuda") == 0;
    if (strcmp(attr, "TRITON_MAX_TENSOR_NUMEL") == 0) return val_int(MAX_TILE_ELEMENTS);
    if (strcmp(path, "triton.language.PropagateNan") == 0) /* Triton's own numbers */
        return val_int(strcmp(attr, "ALL") == 0 ? 0xFFFF : 0);
    const Builtin *builtin = tri_builtin_find(attr, libdevice ? 'L' : math ? 'M' : info ? 'G' : cuda ? 'C' : 'T');
    if (!builtin && math) builtin = tri_builtin_find(attr, 'L'); /* as in older releases */
    if (builtin) return (Val){.kind = VAL_BUILTIN, .builtin = builtin};
    if (!libdevice && (is_one_of(attr, modules) || is_one_of(attr, classes)))
        return (Val){.kind = VAL_MODULE, .text = arena_printf(l->arena, "%s.%s", path, attr)};
    if (l->module) {
        const Type *dtype = tri_dtype_named(l->module, strcmp(attr, "pi32_t") == 0 ? "*i32" : attr);
        if (dtype) return val_dtype(dtype);
    }
    if (libdevice || math) {
        VEC(const char *) all = {0};
        for (int i = 0; i < TRI_BUILTIN_COUNT; i++)
            if (strpbrk(tri_builtins[i].kinds, libdevice ? "L" : "ML"))
                *VEC_PUSH(&all, l->arena) = tri_builtins[i].name;
        const char *near = text_nearest(attr, all.at, all.count);
        const char *where = libdevice ? "libdevice" : "tl.math";
        return py_error(l, DIAG_EVAL_UNKNOWN, range, arena_printf(l->arena, "%s.%s", where, attr),
                        near ? text_suggest(l->arena, arena_printf(l->arena, "%s.", where), near)
                              : "; the page `triton` of the manual lists what there is");
    }
    return py_error(l, DIAG_EVAL_UNKNOWN, range, arena_printf(l->arena, "tl.%s", attr), suggest(l, attr));
}

Val tri_module_attribute(Lower *l, const char *path, const char *attr, Range range) {
    if (strncmp(path, "triton.language", 15) == 0 && (path[15] == '\0' || path[15] == '.'))
        return language_attribute(l, path, attr, range);
    if (strcmp(path, "triton") == 0) {
        if (strcmp(attr, "language") == 0) return (Val){.kind = VAL_MODULE, .text = "triton.language"};
        const Builtin *builtin = tri_builtin_find(attr, 'H');
        if (builtin) return (Val){.kind = VAL_BUILTIN, .builtin = builtin};
    }
    /* What a stand-in for Triton's driver says of itself. */
    if (strcmp(path, "triton.runtime.driver.active.target") == 0 && strcmp(attr, "backend") == 0)
        return val_str("cpu");
    return (Val){.kind = VAL_UNBOUND};
}

const char *tri_suggest_name(Lower *l, const char *id) {
    bool known = tri_builtin_find(id, 'T') || (l->module && tri_dtype_named(l->module, id));
    return known ? arena_printf(l->arena, "tl.%s", id) : NULL;
}
