/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_tiletype.c: the types of Tile C that take arguments: tiles, vectors and globals.
 *
 *     st_bf(64, 64)   rt_fl(16, 32)   sv_fl(64)   rv(int, 16)   col_vec(rt_fl(16, 32))   gl(float, 1, 1, -1, -1)
 *     cst_bf(64, 64)  crt_fl(16, 64)  csv_fl(64)  cgl(gl(bf16, 1, -1, 64, 64))   complex: a pair, .real and .imag
 *
 * A register tile is a warp's; among the warps of a group it has the rows of all of them (tilec_tile.c). */
#include "front/tilec/tilec.h"

#include <string.h>

static const struct {
    const char *name;
    TcLevel level;
    Elem elem;
} tile_names[] = {
#define TILE_TYPE(name, level, elem) {name, TC_##level, EL_##elem},
#include "front/tilec/tilec_types.def"
};
static const struct {
    const char *name;
    TcLevel level;
    Elem elem;
} vector_names[] = {
#define VECTOR_TYPE(name, level, elem) {name, TC_##level, EL_##elem},
#include "front/tilec/tilec_types.def"
};
static const struct {
    const char *name, *what, *fix;
} later_names[] = {
#define LATER_TYPE(name, what, fix) {name, what, fix},
#include "front/tilec/tilec_types.def"
};

const char *const tilec_tile_types[] = {
#define TILE_TYPE(name, level, elem)   name, "c" name,
#define VECTOR_TYPE(name, level, elem) name, "c" name,
#define LATER_TYPE(name, what, fix)    name,
#include "front/tilec/tilec_types.def"
    "gl", "st", "rt", "sv", "rv", "row_vec", "col_vec", "cgl", "cst", "crt", "csv", "crv", NULL};

static bool is_type(const CNode *node) { return node->kind >= C_TYPE_NAME && node->kind <= C_TYPE_ARRAY; }

static const TcType no_type = {.kind = TC_VOID, .name = "this"};

static bool good_element(Tc *tc, const CNode *node, Elem elem) {
    if (elem == EL_I1) TC_ERROR(tc, TC_BAD_ELEMENT, node->range, "bool"); /* what 1 + 1 is, no tile operation says */
    return elem != EL_I1;
}

/* Names of ThunderKittens' register layouts: the compiler chooses its own. */
static bool is_layout(const CNode *node) {
    static const char *const names[] = {"row_l", "col_l", "align_l", "ortho_l", "naive_l"};
    for (size_t i = 0; node->kind == C_IDENT && i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], node->name)) return true;
    return false;
}

/* Arguments of a tile type without a layout at its end. */
static int argument_count(const CNode *node, TcLevel level) {
    bool layout = level == TC_REGISTER && node->count && is_layout(node->kids[node->count - 1]);
    return (int)node->count - layout;
}

static const char *level_name(TcLevel level) { return level == TC_SHARED ? "shared" : "register"; }

static const TcType *tile_type(Tc *tc, const CNode *node, TcLevel level, Elem elem, int first) {
    int64_t size[2];
    if (!good_element(tc, node, elem)) return NULL;
    if (argument_count(node, level) != first + 2) {
        TC_ERROR(tc, TC_TYPE_ARGUMENTS, node->range, node->name, "rows and columns", first + 2, node->count);
        return NULL;
    }
    for (int i = 0; i < 2; i++)
        if (!tc_constant(tc, node->kids[first + i], &size[i], "the size of a tile")) return NULL;
    for (int i = 0; i < 2; i++) {
        /* Tiles are made of 16x16 squares; one-byte elements of 16x32. */
        int step = i == 1 && elem_info[elem].bytes == 1 ? 32 : 16;
        if (size[i] <= 0 || size[i] % step) {
            TC_ERROR(tc, TC_TILE_SIZE, node->kids[first + i]->range, i ? "columns" : "rows", node->name,
                     (long long)size[i], step,
                     (long long)((size[i] > 0 && size[i] < 4096 ? size[i] / step + 1 : 1) * step));
            return NULL;
        }
    }
    if (size[0] > 4096 || size[1] > 4096 || size[0] * size[1] > MAX_TILE_ELEMENTS / 4) {
        TC_ERROR(tc, TC_TILE_LARGE, node->range, (long long)size[0], (long long)size[1]);
        return NULL;
    }
    TcType *type = ARENA_NEW(tc->arena, TcType);
    *type = (TcType){.kind = TC_TILE, .level = level, .elem = elem, .rank = 2, .rows = size[0], .cols = size[1]};
    type->name = arena_printf(tc->arena, "%s tile of %s[%lld, %lld]", level_name(level), elem_info[elem].text,
                              (long long)size[0], (long long)size[1]);
    return type;
}

static const TcType *make_vector(Tc *tc, TcLevel level, Elem elem, int64_t length, bool repeated) {
    TcType *type = ARENA_NEW(tc->arena, TcType);
    *type = (TcType){.kind = TC_TILE, .level = level, .elem = elem, .rank = 1, .rows = 1, .cols = length};
    type->repeated = repeated && level == TC_REGISTER;
    type->name = arena_printf(tc->arena, "%s vector of %s[%lld]", level_name(level), elem_info[elem].text,
                              (long long)length);
    return type;
}

static const TcType *vector_type(Tc *tc, const CNode *node, TcLevel level, Elem elem, int first) {
    int64_t length;
    if (!good_element(tc, node, elem)) return NULL;
    if (argument_count(node, level) != first + 1) {
        TC_ERROR(tc, TC_TYPE_ARGUMENTS, node->range, node->name, "a length", first + 1, node->count);
        return NULL;
    }
    if (!tc_constant(tc, node->kids[first], &length, "the length of a vector")) return NULL;
    if (length <= 0 || length % 16 || length > MAX_TILE_ELEMENTS / 32) {
        long long near = length > 0 && length < MAX_TILE_ELEMENTS / 32 ? (length / 16 + 1) * 16 : 16;
        TC_ERROR(tc, TC_VECTOR_SIZE, node->kids[first]->range, node->name, (long long)length, near);
        return NULL;
    }
    return make_vector(tc, level, elem, length, false);
}

/* A pair of equal types, of which operations make complex numbers. */
static const TcType *complex_of(Tc *tc, const TcType *real, Range range) {
    if (!real) return NULL;
    TcField *fields = ARENA_ARRAY(tc->arena, TcField, 2);
    fields[0] = (TcField){"real", real, range};
    fields[1] = (TcField){"imag", real, range};
    TcType *type = ARENA_NEW(tc->arena, TcType);
    *type = (TcType){.kind = TC_STRUCT, .is_complex = true, .fields = fields, .field_count = 2};
    type->name = arena_printf(tc->arena, "complex %s", real->name);
    return type;
}

/* row_vec(tile type): a value for each column; col_vec: one for each row */
static const TcType *vector_of_tile(Tc *tc, const CNode *node) {
    bool typed = node->count == 1 && is_type(node->kids[0]);
    const TcType *tile = typed ? tc_type(tc, node->kids[0]) : NULL;
    if (typed && !tile) return NULL;
    bool pair = tile && tile->is_complex;
    if (pair) tile = tile->fields[0].type;
    if (!tile || tile->kind != TC_TILE || tile->rank != 2) {
        TC_ERROR(tc, TC_TYPE_ARGUMENTS, node->range, node->name, "a tile type", 1, node->count);
        return NULL;
    }
    bool row = !strcmp(node->name, "row_vec");
    const TcType *vector = make_vector(tc, tile->level, tile->elem, row ? tile->cols : tile->rows, row);
    return pair ? complex_of(tc, vector, node->range) : vector;
}

/* gl(T, batch, depth, rows, cols [, tile types]) */
static const TcType *global_type(Tc *tc, const CNode *node) {
    if (node->count < 5) {
        TC_ERROR(tc, TC_TYPE_ARGUMENTS, node->range, "gl", "an element type and four extents", 5, node->count);
        return NULL;
    }
    const TcType *elem = is_type(node->kids[0]) ? tc_type(tc, node->kids[0]) : &no_type;
    if (!elem) return NULL;
    if (elem->kind != TC_SCALAR) {
        TC_ERROR(tc, TC_BAD_ELEMENT, node->kids[0]->range, elem->name);
        return NULL;
    }
    TcType *type = ARENA_NEW(tc->arena, TcType);
    *type = (TcType){.kind = TC_GLOBAL, .elem = elem->elem};
    type->name = arena_printf(tc->arena, "gl of %s", elem_info[elem->elem].text);
    for (int i = 0; i < 4; i++) {
        if (!tc_constant(tc, node->kids[1 + i], &type->dims[i], "an extent of gl")) return NULL;
        if (type->dims[i] == 0 || type->dims[i] < -1) {
            TC_ERROR(tc, TC_GLOBAL_EXTENT, node->kids[1 + i]->range, (long long)type->dims[i]);
            return NULL;
        }
    }
    for (uint32_t i = 5; i < node->count; i++)
        if (is_type(node->kids[i]) && !tc_type(tc, node->kids[i])) return NULL; /* which tiles travel, their use says */
    return type;
}

/* cgl(gl type) */
static const TcType *complex_global(Tc *tc, const CNode *node) {
    const TcType *of = node->count == 1 && is_type(node->kids[0]) ? tc_type(tc, node->kids[0]) : &no_type;
    if (of && of->kind == TC_GLOBAL) return complex_of(tc, of, node->range);
    if (of) TC_ERROR(tc, TC_TYPE_ARGUMENTS, node->range, "cgl", "the gl(..) type of its parts", 1, node->count);
    return NULL;
}

/* st(T, ..), rt, sv, rv: 0 to 3; -1: another name */
static int any_element_name(const char *name) {
    static const char *const any[] = {"st", "rt", "sv", "rv"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, any[i])) return i;
    return -1;
}

static const TcType *real_type(Tc *tc, const CNode *node, const char *name) {
    int any = any_element_name(name);
    if (any >= 0) {
        bool typed = node->count && is_type(node->kids[0]);
        const TcType *elem = typed ? tc_type(tc, node->kids[0]) : NULL;
        if (elem && elem->kind == TC_SCALAR)
            return any < 2 ? tile_type(tc, node, any ? TC_REGISTER : TC_SHARED, elem->elem, 1)
                           : vector_type(tc, node, any == 3 ? TC_REGISTER : TC_SHARED, elem->elem, 1);
        if (!typed || elem)
            TC_ERROR(tc, TC_TYPE_ARGUMENTS, node->range, node->name,
                     any < 2 ? "an element type, rows and columns" : "an element type and a length", any < 2 ? 3 : 2,
                     node->count);
        return NULL;
    }
    for (size_t i = 0; i < sizeof tile_names / sizeof *tile_names; i++)
        if (!strcmp(tile_names[i].name, name)) return tile_type(tc, node, tile_names[i].level, tile_names[i].elem, 0);
    for (size_t i = 0; i < sizeof vector_names / sizeof *vector_names; i++)
        if (!strcmp(vector_names[i].name, name))
            return vector_type(tc, node, vector_names[i].level, vector_names[i].elem, 0);
    for (size_t i = 0; i < sizeof later_names / sizeof *later_names; i++)
        if (!strcmp(later_names[i].name, name))
            TC_ERROR(tc, TC_UNSUPPORTED, node->range, later_names[i].what, later_names[i].fix);
    return NULL;
}

const TcType *tc_parametric_type(Tc *tc, const CNode *node) {
    if (!strcmp(node->name, "gl")) return global_type(tc, node);
    if (!strcmp(node->name, "row_vec") || !strcmp(node->name, "col_vec")) return vector_of_tile(tc, node);
    if (!strcmp(node->name, "cgl")) return complex_global(tc, node);
    if (node->name[0] == 'c') return complex_of(tc, real_type(tc, node, node->name + 1), node->range);
    return real_type(tc, node, node->name);
}
