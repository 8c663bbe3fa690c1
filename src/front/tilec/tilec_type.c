/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_type.c: types, names and scopes of the Tile C door.
 *
 * Names live in one map; an inner declaration hides an outer one until its scope closes. A function
 * is inlined at its call, so scopes nest dynamically: a symbol carries the call (frame) that made
 * it, and only those of the current call and of the file are seen. Tags have keys of their own
 * ("struct x"). */
#include "front/tilec/tilec.h"
#include "ir/element.h"

#include <string.h>

static const TcType scalar_types[EL_COUNT] = {
#define ELEM(id, text, bits, cls, doc) [EL_##id] = {.kind = TC_SCALAR, .name = text, .elem = EL_##id},
#include "ir/types.def"
#undef ELEM
};
static const TcType void_type = {.kind = TC_VOID, .name = "void"};
static const TcType semaphore_type = {.kind = TC_SEMAPHORE, .name = "semaphore"};

static const struct {
    const char *name;
    Elem elem;
} scalar_names[] = {
#define SCALAR_TYPE(name, elem) {name, EL_##elem},
#include "front/tilec/tilec_types.def"
};
/* Names of the templates' argument structs, in the order of Tc.args_types. */
#define ARGS(ARG)                                                                            \
    ARG("setup_args") ARG("producer_setup_args") ARG("load_args") ARG("consumer_setup_args") \
    ARG("compute_args") ARG("finish_args") ARG("store_args")

const char *const tilec_plain_types[] = {
#define SCALAR_TYPE(name, elem) name,
#include "front/tilec/tilec_types.def"
#define STRUCT_TYPE(name, elem, members) name,
#include "front/tilec/tilec_types.def"
    "semaphore",
#define ARG(name) "lcf_" name, "lcsf_" name,
    ARGS(ARG)
#undef ARG
    NULL};

const TcType *tc_scalar_type(Elem elem) { return &scalar_types[elem]; }

const TcType *tc_template_type(const Tc *tc, const char *name) {
    for (size_t i = 0; i < sizeof tc->args_types / sizeof *tc->args_types; i++)
        if (tc->args_types[i] && !strcmp(tc->args_types[i]->name, name)) return tc->args_types[i];
    return NULL;
}

const TcType *tc_pointer_to(Tc *tc, const TcType *type) {
    TcType *pointer = ARENA_NEW(tc->arena, TcType);
    *pointer = (TcType){.kind = TC_POINTER, .of = type};
    pointer->name = arena_printf(tc->arena, "%s *", type->name);
    return pointer;
}

bool tc_same_type(const TcType *a, const TcType *b) {
    if (a == b) return true;
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case TC_SCALAR: return a->elem == b->elem;
    case TC_POINTER: return tc_same_type(a->of, b->of);
    case TC_ARRAY: return a->count == b->count && tc_same_type(a->of, b->of);
    case TC_TILE:
        return a->elem == b->elem && a->level == b->level && a->rank == b->rank && a->rows == b->rows &&
               a->cols == b->cols && a->repeated == b->repeated;
    case TC_GLOBAL: return a->elem == b->elem; /* the extents are those of the argument */
    case TC_STRUCT: return a->is_complex && b->is_complex && tc_same_type(a->fields[0].type, b->fields[0].type);
    default: return true;
    }
}

int64_t tc_bytes(const TcType *type) {
    int64_t sum = 0;
    switch (type->kind) {
    case TC_SCALAR: return elem_info[type->elem].bytes;
    case TC_TILE: return type->rows * type->cols * elem_info[type->elem].bytes;
    case TC_ARRAY: return type->count * tc_bytes(type->of);
    case TC_STRUCT:
        for (int i = 0; i < type->field_count; i++) sum += tc_bytes(type->fields[i].type);
        return sum;
    default: return 0;
    }
}

/* ---- names ---- */

Symbol *tc_find(Tc *tc, const char *name) {
    Symbol *symbol = map_get(&tc->names, name);
    while (symbol && symbol->frame && symbol->frame != tc->frame) symbol = symbol->hidden;
    return symbol;
}

Symbol *tc_bind(Tc *tc, const char *name, SymbolKind kind) {
    Symbol *symbol = ARENA_NEW(tc->arena, Symbol);
    *symbol = (Symbol){.kind = kind, .name = name, .frame = tc->frame};
    symbol->hidden = map_get(&tc->names, name);
    MapEntry *entry = map_put(&tc->names, tc->arena, name, strlen(name), symbol);
    symbol->index = (size_t)(entry - tc->names.entries);
    *VEC_PUSH(&tc->symbols, tc->arena) = symbol;
    return symbol;
}

size_t tc_open_scope(Tc *tc) { return tc->symbols.count; }

void tc_close_scope(Tc *tc, size_t mark) {
    while (tc->symbols.count > mark) {
        const Symbol *symbol = VEC_LAST(&tc->symbols);
        tc->names.entries[symbol->index].value = symbol->hidden;
        tc->symbols.count--;
    }
}

const char *tc_near(Tc *tc, const char *wrong, const char *const *names, size_t count) {
    const char *nearest = text_nearest(wrong, names, count);
    return text_suggest(tc->arena, "", nearest);
}

/* ---- constants ---- */

/* What sizeof gives: as in C for numbers; tiles are whole. 0: a struct of both, or something whose
 * size means nothing here. */
static int64_t size_of(const TcType *type, int64_t *align) {
    int64_t sum = 0, most = 1, one;
    bool tiles = false, numbers = false;
    switch (type->kind) {
    case TC_SCALAR: return *align = elem_info[type->elem].bytes;
    case TC_TILE: *align = 1024; return tc_bytes(type);
    case TC_ARRAY: return size_of(type->of, align) * type->count;
    case TC_STRUCT:
        for (int i = 0; i < type->field_count; i++) {
            int64_t size = size_of(type->fields[i].type, &one);
            if (!size) return 0;
            tiles |= one == 1024;
            numbers |= one != 1024;
            if (one != 1024) sum = (sum + one - 1) / one * one;
            sum += size;
            if (one > most) most = one;
        }
        *align = most;
        if (tiles && numbers) return 0;
        return tiles ? sum : (sum + most - 1) / most * most;
    default: return 0;
    }
}

static bool constant_name(void *user, const CNode *node, CConst *out) {
    Tc *tc = user;
    if (node->kind == C_SIZEOF) {
        const CNode *kid = node->kids[0];
        bool is_type = kid->kind >= C_TYPE_NAME && kid->kind <= C_TYPE_ARRAY;
        const TcType *type = is_type ? tc_type(tc, kid) : tc_place_type(tc, kid);
        if (!type) type = tc_type_of(tc, kid);
        int64_t align, size = type ? size_of(type, &align) : 0;
        *out = (CConst){size, true};
        return size > 0;
    }
    if (node->kind != C_IDENT) return false;
    const Symbol *symbol = tc_find(tc, node->name);
    if (!symbol || symbol->kind != SYMBOL_CONSTANT) return false;
    bool real = symbol->type && elem_is_float(symbol->type->elem);
    if (real) return false;
    *out = (CConst){symbol->number, symbol->type && !elem_is_signed(symbol->type->elem)};
    return true;
}

bool tc_constant(Tc *tc, const CNode *node, int64_t *out, const char *what) {
    CConst value;
    const CNode *wrong = node;
    if (c_eval(node, constant_name, tc, &value, &wrong)) {
        *out = value.value;
        return true;
    }
    TC_ERROR(tc, TC_NOT_CONSTANT, wrong->range, what);
    return false;
}

/* ---- types ---- */

static const TcType *named_type(Tc *tc, const CNode *node) {
    const Symbol *symbol = tc_find(tc, node->name);
    if (symbol && symbol->kind == SYMBOL_TYPE) return symbol->type;
    if (!strcmp(node->name, "void")) return &void_type;
    if (!strcmp(node->name, "semaphore")) return &semaphore_type;
    for (size_t i = 0; i < sizeof scalar_names / sizeof *scalar_names; i++)
        if (!strcmp(scalar_names[i].name, node->name)) return tc_scalar_type(scalar_names[i].elem);
    const TcType *args = tc_template_type(tc, node->name);
    if (args) return args;
    TC_ERROR(tc, TC_TEMPLATE_ONLY, node->range, node->name);
    return NULL;
}

static const TcType *define_struct(Tc *tc, const CNode *node) {
    TcField *fields = ARENA_ARRAY(tc->arena, TcField, node->count);
    for (uint32_t i = 0; i < node->count; i++) {
        fields[i] = (TcField){node->kids[i]->name, tc_type(tc, node->kids[i]->kids[0]), node->kids[i]->range};
        if (!fields[i].type) return NULL;
    }
    TcType *type = ARENA_NEW(tc->arena, TcType);
    *type = (TcType){.kind = TC_STRUCT, .fields = fields, .field_count = (int)node->count};
    type->name = node->name ? arena_printf(tc->arena, "struct %s", node->name) : "struct";
    return type;
}

static const TcType *struct_type(Tc *tc, const CNode *node) {
    char *key = arena_printf(tc->arena, "struct %s", node->name ? node->name : "");
    if (!(node->flags & C_FLAG_DEFINED)) {
        const Symbol *symbol = tc_find(tc, key);
        if (!symbol) TC_ERROR(tc, TC_UNKNOWN_STRUCT, node->range, node->name);
        return symbol ? symbol->type : NULL;
    }
    /* One specifier is one type, however many declarators share it. */
    char *place = arena_printf(tc->arena, "struct@%u", node->range.begin);
    const Symbol *known = tc_find(tc, place);
    if (known) return known->type;
    const TcType *type = define_struct(tc, node);
    if (!type) return NULL;
    tc_bind(tc, place, SYMBOL_TYPE)->type = type;
    if (node->name) tc_bind(tc, key, SYMBOL_TYPE)->type = type;
    return type;
}

static const TcType *enum_type(Tc *tc, const CNode *node) {
    int64_t next = 0;
    bool over = false; /* the next one does not fit 64 bits */
    for (uint32_t i = 0; i < node->count; i++) {
        const CNode *one = node->kids[i];
        if (over && !one->kids[0]) {
            TC_ERROR(tc, TC_UNSUPPORTED, one->range, "enum constants that do not fit 64 bits", "write its value");
            return NULL;
        }
        if (one->kids[0] && !tc_constant(tc, one->kids[0], &next, "the value of an enum constant")) return NULL;
        const Symbol *known = tc_find(tc, one->name);
        if (!known || known->kind != SYMBOL_CONSTANT || known->number != next)
            tc_bind(tc, one->name, SYMBOL_CONSTANT)->number = next;
        over = __builtin_add_overflow(next, 1, &next);
    }
    return tc_scalar_type(EL_I32);
}

static const TcType *array_of(Tc *tc, const TcType *of, int64_t count, const CNode *size) {
    if (count < 1 || count > 1024) {
        TC_ERROR(tc, TC_ARRAY_SIZE, size->range, (long long)count);
        return NULL;
    }
    TcType *type = ARENA_NEW(tc->arena, TcType);
    *type = (TcType){.kind = TC_ARRAY, .of = of, .count = count};
    type->name = arena_printf(tc->arena, "array of %lld %s", (long long)count, of->name);
    return type;
}

const TcType *tc_array_like(Tc *tc, const TcType *array, const TcType *of) {
    if (array->kind != TC_ARRAY) return of;
    TcType *type = ARENA_NEW(tc->arena, TcType);
    *type = *array;
    type->of = tc_array_like(tc, array->of, of);
    return type;
}

static const TcType *array_type(Tc *tc, const CNode *node) {
    const TcType *of = tc_type(tc, node->kids[0]);
    int64_t count = 0;
    if (!of) return NULL;
    if (!node->kids[1]) {
        TC_ERROR(tc, TC_UNSUPPORTED, node->range, "arrays without a size", "write the number of elements");
        return NULL;
    }
    if (!tc_constant(tc, node->kids[1], &count, "the size of an array")) return NULL;
    return array_of(tc, of, count, node->kids[1]);
}

const TcType *tc_type(Tc *tc, const CNode *node) {
    const TcType *of;
    switch (node->kind) {
    case C_TYPE_NAME: return named_type(tc, node);
    case C_TYPE_TILE: return tc_parametric_type(tc, node);
    case C_TYPE_STRUCT: return struct_type(tc, node);
    case C_TYPE_ENUM: return enum_type(tc, node);
    case C_TYPE_ARRAY: return array_type(tc, node);
    case C_TYPE_POINTER: of = tc_type(tc, node->kids[0]); return of ? tc_pointer_to(tc, of) : NULL;
    default: return NULL;
    }
}

static const struct {
    const char *name;
    int value;
} constants[] = {{"WARP_THREADS", 32}, {"WARPGROUP_THREADS", 128}, {"WARPGROUP_WARPS", 4}, {"true", 1}, {"false", 0}};

/* The structs that are there without a declaration: int2, .., coord. */
static void declare_structs(Tc *tc) {
    static const struct {
        const char *name;
        Elem elem;
        const char *members;
    } known[] = {
#define STRUCT_TYPE(name, elem, members) {name, EL_##elem, members},
#include "front/tilec/tilec_types.def"
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int count = (int)strlen(known[i].members);
        TcField *fields = ARENA_ARRAY(tc->arena, TcField, count);
        const TcType *number = tc_scalar_type(known[i].elem);
        for (int f = 0; f < count; f++)
            fields[f] = (TcField){arena_string(tc->arena, known[i].members + f, 1), number, {0, 0}};
        TcType *type = ARENA_NEW(tc->arena, TcType);
        *type = (TcType){.kind = TC_STRUCT, .name = known[i].name, .fields = fields, .field_count = count};
        type->is_coord = !strcmp(known[i].name, "coord");
        tc_bind(tc, known[i].name, SYMBOL_TYPE)->type = type;
    }
}

/* `int t[] = {1, 2, 3}`: the initializer says how many. */
const TcType *tc_declared_type(Tc *tc, const CNode *variable) {
    const CNode *type = variable->kids[0], *list = variable->kids[1];
    if (type->kind != C_TYPE_ARRAY || type->kids[1] || !list || list->kind != C_INITIALIZER) return tc_type(tc, type);
    const TcType *of = tc_type(tc, type->kids[0]);
    for (uint32_t i = 0; i < list->count; i++)
        if (list->kids[i]->kind == C_DESIGNATED) return tc_type(tc, type); /* says that a size is needed */
    return of ? array_of(tc, of, list->count, list) : NULL;
}

/* A constant of the file: an integer that sizes may use, or what the kernel begins with. */
static void declare_constant(Tc *tc, const CNode *node) {
    bool is_const = (node->kids[0]->flags & C_FLAG_CONST) && node->kids[1];
    const CNode *of = node->kids[0], *wrong;
    while (of->kind == C_TYPE_ARRAY) of = of->kids[0];
    is_const = is_const || ((of->flags & C_FLAG_CONST) && node->kids[1]);
    if (!is_const) {
        TC_ERROR(tc, TC_UNSUPPORTED, node->range, "variables outside functions",
                 "make it const, or use a parameter of the kernel");
        return;
    }
    const TcType *type = tc_declared_type(tc, node);
    CConst value;
    if (!type) return;
    bool whole = type->kind == TC_SCALAR && !elem_is_float(type->elem);
    if (whole && c_eval(node->kids[1], constant_name, tc, &value, &wrong)) {
        Symbol *symbol = tc_bind(tc, node->name, SYMBOL_CONSTANT);
        symbol->number = type->elem == EL_I1 ? value.value != 0 : elem_wrap(type->elem, value.value);
        symbol->type = type;
        return;
    }
    const TcType *leaf = type;
    while (leaf->kind == TC_ARRAY) leaf = leaf->of;
    if (leaf->kind != TC_SCALAR && leaf->kind != TC_STRUCT) {
        TC_ERROR(tc, TC_INITIALIZER, node->range, type->name);
        return;
    }
    if (whole) {
        TC_ERROR(tc, TC_NOT_CONSTANT, wrong->range, "a constant of the file");
        return;
    }
    Symbol *symbol = tc_bind(tc, node->name, SYMBOL_PLACE);
    symbol->type = type;
    symbol->place = ARENA_NEW(tc->arena, Object); /* while the file is opened, nobody reads it */
    *symbol->place = (Object){.type = type, .name = node->name, .semaphore = -1};
    if (!tc->kernel) return;
    symbol->place = tc_place(tc, type, node->name, node->range);
    tc_initialize(tc, symbol->place, node->kids[1]);
    tc_lock(symbol->place, "it is const");
}

void tc_declare_file(Tc *tc) {
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        tc_bind(tc, constants[i].name, SYMBOL_CONSTANT)->number = constants[i].value;
    declare_structs(tc);
    for (uint32_t i = 0; i < tc->unit_tree->count; i++) {
        const CNode *node = tc->unit_tree->kids[i];
        switch (node->kind) {
        case C_TYPE_ONLY: tc_type(tc, node->kids[0]); break;
        case C_TYPEDEF: {
            const TcType *type = tc_type(tc, node->kids[0]);
            if (type) tc_bind(tc, node->name, SYMBOL_TYPE)->type = type;
            break;
        }
        case C_FUNCTION:
            if (node->kids[2]) tc_bind(tc, node->name, SYMBOL_FUNCTION)->node = node;
            break;
        case C_STATIC_ASSERT: {
            int64_t holds = 0;
            if (tc_constant(tc, node->kids[0], &holds, "the condition of _Static_assert") && !holds)
                TC_ERROR(tc, TC_STATIC_ASSERT, node->range, node->name);
            break;
        }
        case C_VARIABLE: declare_constant(tc, node); break;
        default: break;
        }
    }
}
