/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_place.c: the places of Tile C: what a variable is, how it begins, and what is assigned to it.
 *
 * A variable is a Object: a scalar's current value, a tile's buffer, a struct's or array's parts. Pointers are places
 * too, but what they point to is known here: `a->common->row` names a place, not an address. A tile in the record of a
 * ring (input_block) keeps its indices, since they may differ from worker to worker. */
#include "front/tilec/tilec.h"

#include <string.h>

/* Numbers keep the array's name, by which loops find what they change; tiles get one of their own. */
static const char *element_name(Tc *tc, const TcType *type, const char *name, int64_t i) {
    while (type->kind == TC_ARRAY) type = type->of;
    bool number = type->kind == TC_SCALAR;
    return number ? name : arena_printf(tc->arena, "%s%lld", name ? name : "tile", (long long)i);
}

/* ---- storage ---- */

/* One buffer for a tile, or for an array of them. */
static void make_buffer(Tc *tc, Object *place) {
    int64_t extent[MAX_RANK];
    int rank = 0;
    const TcType *type = place->type;
    for (; type->kind == TC_ARRAY; type = type->of) extent[rank++] = type->count;
    const Type *tile = tc_value_type(tc, type);
    int arrays = rank;
    int64_t elements = ty_elements(tile);
    for (int d = 0; d < arrays; d++) elements *= extent[d]; /* 1024 each at most */
    if (elements > MAX_TILE_ELEMENTS) {
        TC_ERROR(tc, TC_ARRAY_LARGE, place->range, MAX_TILE_ELEMENTS, (long long)elements);
        for (int d = 0; d < arrays; d++) extent[d] = 1;
    }
    for (int d = 0; d < tile->rank; d++) extent[rank++] = tile->extent[d];
    Word scope = type->level == TC_SHARED ? SCOPE_SHARED : SCOPE_FRAGMENT;
    place->buffer = ir_buffer(&tc->b, ty_buffer(tc->module, type->elem, rank, extent, scope), place->name);
}

/* Tiles, or structs of nothing else, at places that indices name; depth: indices so far. */
static bool is_tile_array(const TcType *type, int depth) {
    for (; type->kind == TC_ARRAY; type = type->of) depth++;
    if (type->kind == TC_TILE) return depth && depth <= MAX_INDICES;
    bool all = type->kind == TC_STRUCT && type->field_count && depth;
    for (int i = 0; all && i < type->field_count; i++) all = is_tile_array(type->fields[i].type, depth);
    return all;
}

static bool is_joined(const Tc *tc, Range range) {
    for (size_t i = 0; i < tc->joined->count; i++)
        if (tc->joined->at[i].begin == range.begin && tc->joined->at[i].end == range.end) return true;
    return false;
}

bool tc_join_array(Tc *tc, const Object *array) {
    if (!is_tile_array(array->type, 0) || is_joined(tc, array->range)) return false;
    *VEC_PUSH(tc->joined, tc->arena) = array->range;
    tc->again = tc->failed = true;
    return true;
}

/* The tiles of an array in one buffer; of structs, a buffer for each field. */
static void join(Tc *tc, Object *place, Range range) {
    const TcType *leaf = place->type;
    while (leaf->kind == TC_ARRAY) leaf = leaf->of;
    if (leaf->kind == TC_TILE) {
        make_buffer(tc, place);
        return;
    }
    place->by_field = true;
    place->parts = ARENA_ARRAY(tc->arena, Object *, leaf->field_count);
    for (int i = 0; i < leaf->field_count; i++)
        place->parts[i] =
            tc_place(tc, tc_array_like(tc, place->type, leaf->fields[i].type), leaf->fields[i].name, range);
}

Object *tc_place(Tc *tc, const TcType *type, const char *name, Range range) {
    Object *place = ARENA_NEW(tc->arena, Object);
    *place = (Object){.type = type, .name = name, .semaphore = -1, .range = range};
    switch (type->kind) {
    case TC_SCALAR:
        place->value.type = type;
        *VEC_PUSH(&tc->cells, tc->arena) = place;
        break;
    case TC_POINTER: *VEC_PUSH(&tc->cells, tc->arena) = place; break;
    case TC_STRUCT:
        place->parts = ARENA_ARRAY(tc->arena, Object *, type->field_count);
        for (int i = 0; i < type->field_count; i++)
            place->parts[i] = tc_place(tc, type->fields[i].type, type->fields[i].name, range);
        break;
    case TC_ARRAY:
        if (type->of->kind == TC_SEMAPHORE && tc->by_workers) break;
        if (is_tile_array(type, 0) && is_joined(tc, range)) {
            join(tc, place, range);
            break;
        }
        place->parts = ARENA_ARRAY(tc->arena, Object *, type->count);
        for (int64_t i = 0; i < type->count; i++) {
            place->parts[i] = tc_place(tc, type->of, element_name(tc, type->of, name, i), range);
            place->parts[i]->is_element = true;
        }
        break;
    case TC_TILE: make_buffer(tc, place); break;
    case TC_SEMAPHORE:
        if (tc->by_workers) break;
        /* fall through */
    case TC_VOID:
        TC_ERROR(tc, TC_UNSUPPORTED, range, arena_printf(tc->arena, "variables of type %s", type->name),
                 "semaphores belong to the template's callbacks, or to kernels that call init_semaphore");
        break;
    default: break;
    }
    return place;
}

Object *tc_part(Object *place, const char *field) {
    for (int i = 0; i < place->type->field_count; i++)
        if (!strcmp(place->type->fields[i].name, field)) return place->parts[i];
    return NULL;
}

Lvalue tc_member(const Lvalue *lvalue, int field) {
    Lvalue part = *lvalue;
    part.place = lvalue->place->parts[field];
    part.type = lvalue->type->fields[field].type;
    return part;
}

Scalar tc_zero(Tc *tc, const TcType *type) {
    Ref ref = elem_is_float(type->elem) ? ir_float(&tc->b, type->elem, 0) : ir_int(&tc->b, type->elem, 0);
    return tc_scalar(type, ref, NULL);
}

void tc_set_zero(Tc *tc, Object *place) {
    const TcType *type = place->type;
    if (type->kind == TC_SCALAR) place->value = tc_zero(tc, type);
    for (int i = 0; type->kind == TC_STRUCT && i < type->field_count; i++) tc_set_zero(tc, place->parts[i]);
    bool elements = type->kind == TC_ARRAY && place->parts && !place->by_field;
    for (int64_t i = 0; elements && i < type->count; i++) tc_set_zero(tc, place->parts[i]);
}

void tc_lock(Object *place, const char *why) {
    const TcType *type = place->type;
    place->locked = why;
    for (int i = 0; type->kind == TC_STRUCT && i < type->field_count; i++) tc_lock(place->parts[i], why);
    bool elements = type->kind == TC_ARRAY && place->parts && !place->by_field;
    for (int64_t i = 0; elements && i < type->count; i++) tc_lock(place->parts[i], why);
}

bool tc_copy(Object *to, const Object *from) {
    const TcType *type = to->type;
    bool ok = type == from->type;
    if (type->kind == TC_SCALAR)
        to->value = from->value;
    else if (type->kind == TC_POINTER)
        to->target = from->target;
    else if (type->kind == TC_STRUCT && ok)
        for (int i = 0; i < type->field_count; i++) ok = tc_copy(to->parts[i], from->parts[i]) && ok;
    else if (type->kind == TC_ARRAY && ok && from->parts && to->parts && !to->by_field)
        for (int64_t i = 0; i < type->count; i++) ok = tc_copy(to->parts[i], from->parts[i]) && ok;
    else
        ok = false;
    return ok;
}

static Object *designated_part(Tc *tc, Object *place, const CNode *node, int64_t *at) {
    const TcType *type = place->type;
    if (node->name && type->kind == TC_STRUCT) {
        for (int i = 0; i < type->field_count; i++)
            if (!strcmp(type->fields[i].name, node->name)) {
                *at = i;
                return place->parts[i];
            }
        TC_ERROR(tc, TC_NO_MEMBER, node->range, type->name, node->name, "");
        return NULL;
    }
    if (!node->name && type->kind == TC_ARRAY) {
        if (!tc_constant(tc, node->kids[0], at, "an index in an initializer")) return NULL;
        if (*at >= 0 && *at < type->count && place->parts && !place->by_field) return place->parts[*at];
    }
    TC_ERROR(tc, TC_INITIALIZER, node->range, type->name);
    return NULL;
}

static void initialize_list(Tc *tc, Object *place, const CNode *list) {
    const TcType *type = place->type;
    int64_t limit = type->kind == TC_STRUCT ? type->field_count : type->kind == TC_ARRAY ? type->count : 0;
    tc_set_zero(tc, place);
    int64_t at = 0;
    bool nested = false; /* the last one named a part of a part */
    for (uint32_t i = 0; i < list->count; i++, at++) {
        const CNode *value = list->kids[i];
        if (nested && value->kind != C_DESIGNATED) {
            TC_ERROR(tc, TC_UNSUPPORTED, value->range, "a value behind a nested designator", "name its member too");
            return;
        }
        Object *part = at < limit && place->parts && !place->by_field ? place->parts[at] : NULL;
        while (value && value->kind == C_DESIGNATED) {
            nested = value != list->kids[i];
            part = designated_part(tc, nested ? part : place, value, &at);
            if (!part) return;
            value = value->kids[1];
        }
        if (!part || !value) {
            TC_ERROR(tc, TC_INITIALIZER, list->kids[i]->range, type->name);
            return;
        }
        tc_initialize(tc, part, value);
    }
}

/* To what the expression points to; the name of an array points to its elements. */
bool tc_aim(Object *pointer, const Expr *e) {
    if (e->kind != X_POINTER && e->kind != X_PLACE) return false;
    const TcType *of = pointer->type->of, *to = e->lvalue.type;
    bool elements = to->kind == TC_ARRAY && tc_same_type(of, to->of);
    if (!elements && (e->kind != X_POINTER || !tc_same_type(of, to))) return false;
    pointer->target = e->lvalue;
    return true;
}

void tc_initialize(Tc *tc, Object *place, const CNode *node) {
    if (node->kind == C_INITIALIZER) {
        if (place->type->kind == TC_SCALAR && node->count == 1)
            tc_initialize(tc, place, node->kids[0]);
        else
            initialize_list(tc, place, node);
        return;
    }
    Expr value = tc_expr(tc, node);
    if (value.kind == X_ERROR) {
        tc_set_zero(tc, place); /* one message is enough */
        place->broken = true;
        return;
    }
    if (place->type->kind == TC_POINTER) {
        value = tc_read(tc, value);
        place->broken = value.kind == X_ERROR || !tc_aim(place, &value);
        if (value.kind == X_ERROR) return;
        if (place->broken) {
            TC_ERROR(tc, TC_POINTER_INIT, node->range, place->type->name);
            return;
        }
        if (!value.lvalue.place->name) { /* fresh from shared_alloc */
            value.lvalue.place->name = place->name;
            if (value.lvalue.place->buffer) ir_name(tc->kernel, value.lvalue.place->buffer, place->name);
        }
        return;
    }
    if (place->type->kind == TC_SCALAR) {
        Scalar number;
        Lvalue target = {.place = place, .type = place->type};
        if (tc_as_number(tc, value, &number)) tc_assign(tc, &target, number, node->range);
        return;
    }
    if (tc_set_coord(tc, place, &value)) return;
    bool copied = value.kind == X_PLACE && !value.lvalue.index_count && tc_copy(place, value.lvalue.place);
    if (!copied) TC_ERROR(tc, TC_INITIALIZER, node->range, place->type->name);
}

/* ---- elements of arrays at a run-time index ---- */

typedef void Visit(Tc *tc, Object *part, Ref here, void *user);

/* All numbers that a[i][j] can be, each with the condition that it is this one; false after an error. */
static bool visit_elements(Tc *tc, Object *array, const Lvalue *at, int depth, Ref here, Range range, Visit *visit,
                           void *user) {
    if (depth == at->index_count) {
        visit(tc, array, here, user);
        return true;
    }
    Ref index = tc_uniform(tc, at->index[depth], range);
    if (!index) return false;
    int64_t known;
    bool constant = ir_const_int(tc->kernel, index, &known);
    Elem elem = ir_type(tc->kernel, index)->elem;
    for (int64_t i = 0; i < array->type->count; i++) {
        if (constant && known != i) continue;
        Ref equal = constant ? here : ir_compare(&tc->b, CMP_EQ, index, ir_int(&tc->b, elem, i));
        if (!constant && here) equal = ir_binary(&tc->b, OP_AND, here, equal);
        if (!visit_elements(tc, array->parts[i], at, depth + 1, equal, range, visit, user)) return false;
    }
    return true;
}

typedef struct Found {
    Ref value;
    bool written, by_thread; /* some element is */
} Found;

static void read_one(Tc *tc, Object *part, Ref here, void *user) {
    Found *found = user;
    Ref value = tc_ref_or_zero(tc, part->value);
    found->written |= part->value.ref != REF_NONE;
    found->by_thread |= part->value.lanes != NULL;
    found->value = found->value && here ? ir_ternary(&tc->b, OP_SELECT, here, value, found->value) : value;
}

static Scalar read_dynamic(Tc *tc, const Lvalue *at, Range range) {
    Found found = {0};
    if (visit_elements(tc, at->place, at, 0, REF_NONE, range, read_one, &found)) {
        if (found.by_thread)
            TC_ERROR(tc, TC_THREAD_MIXED, range, "numbers of threads in an array are read at constant places");
        else if (!found.written)
            TC_ERROR(tc, TC_UNWRITTEN, range, at->place->name);
    }
    return tc_scalar(at->type, found.value, NULL);
}

static void write_one(Tc *tc, Object *part, Ref here, void *user) {
    const Scalar *value = user;
    Ref old = tc_ref_or_zero(tc, part->value);
    part->value = tc_scalar(part->type, here ? ir_ternary(&tc->b, OP_SELECT, here, value->ref, old) : value->ref, NULL);
}

/* ---- numbers read and assigned ---- */

Scalar tc_read_number(Tc *tc, const Lvalue *lvalue, Range range) {
    const Object *place = lvalue->place;
    if (tc_is_element(lvalue)) return tc_scalar(lvalue->type, tc_read_element(tc, lvalue, range), NULL);
    if (lvalue->index_count) return read_dynamic(tc, lvalue, range);
    if (place->value.ref == REF_NONE)
        TC_ERROR(tc, TC_UNWRITTEN, range, place->name);
    else if (place->value.open)
        TC_ERROR(tc, TC_MAYBE_UNWRITTEN, range, place->name);
    else if (tc->noting)
        *VEC_PUSH(&tc->read, tc->arena) = place;
    return place->value;
}

void tc_assign(Tc *tc, const Lvalue *target, Scalar value, Range range) {
    Object *place = target->place;
    if (place->locked) {
        TC_ERROR(tc, TC_LOCKED, range, place->name, place->locked);
        return;
    }
    value = tc_convert(tc, value, target->type, range);
    if (tc_is_element(target) || target->index_count) {
        value = tc_scalar(target->type, tc_uniform(tc, value, range), NULL);
        if (!value.ref) return;
        if (tc_is_element(target))
            tc_write_element(tc, target, value.ref, range);
        else
            visit_elements(tc, place, target, 0, REF_NONE, range, write_one, &value);
        return;
    }
    place->value = value;
    Ref ref = place->value.ref;
    bool unnamed = ref_is_value(ref) && !ir_value(tc->kernel, ref)->name;
    if (unnamed) ir_name(tc->kernel, ref, place->name);
}
