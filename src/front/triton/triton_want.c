/* SPDX-License-Identifier: Apache-2.0 */
/* triton_want.c: what the lowerings of Triton's builtins ask of their arguments, the table of these builtins, and what
 * messages call them. */
#include "front/triton/triton.h"

#include <string.h>

const Builtin tri_builtins[] = {
#define TL(name, kinds, signature, function, code, doc) {#name, kinds, signature, function, code, doc},
#include "front/triton/triton_builtins.def"
#undef TL
};

const Builtin *tri_builtin_find(const char *name, char kind) {
    for (const Builtin *b = tri_builtins; b < tri_builtins + TRI_BUILTIN_COUNT; b++)
        if (text_same(b->name, name) && strchr(b->kinds, kind)) return b;
    return NULL;
}

const char *tri_title(Lower *l, const Builtin *builtin) {
    static const struct {
        char kind;
        const char *before;
    } places[] = {{'T', "tl."},
                  {'M', "tl.math."},
                  {'D', "."},
                  {'P', ""},
                  {'Y', "math."},
                  {'H', "triton."},
                  {'I', "itertools."},
                  {'L', "libdevice."},
                  {'G', "tl.target_info."},
                  {'C', "tl.extra.cuda."},
                  {'m', "."}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strchr(builtin->kinds, places[i].kind))
            return arena_printf(l->arena, "%s%s", places[i].before, builtin->name);
    return builtin->name;
}

bool tri_want_dtype(Lower *l, const Call *c, int arg, const Type **dtype) {
    Val v = c->args[arg];
    if (v.kind == VAL_DTYPE && v.dtype->rank == 0) {
        *dtype = v.dtype;
        return true;
    }
    return py_complain(l, c, arg, "a dtype such as tl.float32");
}

bool tri_want_shape(Lower *l, const Call *c, int arg, int *rank, int64_t *extent) {
    Val v = c->args[arg];
    if (v.kind == VAL_TUPLE && v.count == 1 && v.items[0].kind == VAL_TUPLE) v = v.items[0]; /* f(x, (a, b)) */
    Val one = v;
    if (v.kind != VAL_TUPLE) v = (Val){.kind = VAL_TUPLE, .items = &one, .count = 1};
    if (v.count > MAX_RANK) {
        py_error(l, DIAG_TRI_RANK, c->ranges[arg], MAX_RANK);
        return false;
    }
    int64_t elements = 1;
    for (int d = 0; d < v.count; d++) {
        if (!py_constant_int(l, v.items[d], &extent[d]) || extent[d] < 1)
            return py_complain(l, c, arg, "a shape of positive integers known at compile time");
        if (extent[d] > MAX_TILE_ELEMENTS / elements) {
            py_error(l, DIAG_TRI_TILE_SIZE, c->ranges[arg], val_text(l, v), MAX_TILE_ELEMENTS);
            return false;
        }
        elements *= extent[d];
    }
    *rank = v.count;
    return true;
}

bool tri_want_tensor(Lower *l, const Call *c, int arg, Val *v) {
    if (c->args[arg].kind != VAL_TENSOR && !val_is_number(c->args[arg]))
        return py_complain(l, c, arg, "a tensor or number");
    *v = tri_to_tensor(l, c->args[arg], c->ranges[arg]);
    return !val_failed(*v);
}

bool tri_want_axis(Lower *l, const Call *c, int arg, int rank, int *axis) {
    int64_t value;
    if (!py_want_int(l, c, arg, &value)) return false;
    if (value < -rank || value >= rank) {
        py_error(l, DIAG_TRI_AXIS, c->ranges[arg], (int)value, rank);
        return false;
    }
    *axis = (int)(value < 0 ? value + rank : value);
    return true;
}
