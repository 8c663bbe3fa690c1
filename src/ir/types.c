/* SPDX-License-Identifier: Apache-2.0 */
/* types.c: interned types, modules, kernels, values and literals. Equal types are equal pointers, because a type is
 * found by what its text says. */
#include "ir/ir.h"

#include "base/numeric.h"

#include <math.h>
#include <string.h>

Module *ir_module_new(Arena *arena, Diag *diag, SourceMap *sources) {
    Module *m = ARENA_NEW(arena, Module);
    *m = (Module){.arena = arena, .trap = arena->trap, .diag = diag, .sources = sources};
    return m;
}

Kernel *ir_kernel_new(Module *module, const char *name, Range range) {
    Kernel *k = ARENA_NEW(module->arena, Kernel);
    k->module = module;
    k->name = arena_string(module->arena, name, strlen(name));
    k->range = range;
    k->body = ARENA_NEW(module->arena, Region);
    VEC_PUSH(&k->values, module->arena); /* Ref 0 is "none" */
    *VEC_PUSH(&module->kernels, module->arena) = k;
    return k;
}

Kernel *ir_kernel_find(const Module *module, const char *name) {
    for (size_t i = 0; i < module->kernels.count; i++)
        if (strcmp(module->kernels.at[i]->name, name) == 0) return module->kernels.at[i];
    return NULL;
}

static void add_shape(Text *out, const Type *type) {
    if (type->rank == 0) return;
    for (int d = 0; d < type->rank; d++) text_add(out, "%c%lld", d ? ',' : '[', (long long)type->extent[d]);
    text_add_char(out, ']');
}

static void add_type(Text *out, const Type *type) {
    switch (type->kind) {
    case TY_TILE:
        text_add(out, "%s%s", type->pointer ? "*" : "", elem_info[type->elem].text);
        add_shape(out, type);
        break;
    case TY_TENSOR: text_add(out, "tensor<%s,%d>", elem_info[type->elem].text, type->rank); break;
    case TY_BUFFER:
        text_add(out, "buf<%s", elem_info[type->elem].text);
        add_shape(out, type);
        text_add(out, ", %s>", word_info[type->scope].text);
        break;
    case TY_RING:
        text_add_char(out, '{');
        for (int i = 0; i < type->field_count; i++) {
            text_add(out, "%s%s: ", i ? ", " : "", type->fields[i].name);
            add_type(out, type->fields[i].type);
        }
        text_add_char(out, '}');
        break;
    case TY_SLOT:
        text_add(out, "slot ");
        add_type(out, type->ring);
        break;
    case TY_BAR: text_add(out, "bar"); break;
    }
}

char *ty_text(const Type *type, Arena *arena) {
    Text out = text_new(arena);
    add_type(&out, type);
    return out.at;
}

/* What tells a type from another: what its text says, in numbers, which are found several times faster than a text is
 * written. Names of fields stand in no number: rings are few, and found by their text. */
static size_t write_key(const Type *type, int64_t key[2 + MAX_RANK]) {
    bool shape = type->kind == TY_TILE || type->kind == TY_BUFFER, scope = type->kind == TY_BUFFER;
    key[0] = type->kind | (int64_t)type->elem << 8 | (int64_t)type->pointer << 16 | (int64_t)type->rank << 24 |
             (int64_t)(scope ? type->scope : 0) << 32;
    key[1] = (int64_t)(uintptr_t)type->ring;
    for (int d = 0; shape && d < type->rank; d++) key[2 + d] = type->extent[d];
    return (size_t)(2 + (shape ? type->rank : 0)) * sizeof *key;
}

static const Type *intern(Module *m, Type type) {
    int64_t numbers[2 + MAX_RANK];
    ArenaMark mark = arena_mark(m->arena);
    bool ring = type.kind == TY_RING;
    const char *key = ring ? ty_text(&type, m->arena) : (const char *)numbers;
    size_t length = ring ? strlen(key) : write_key(&type, numbers);
    MapEntry *entry = map_find(&m->types, key, length);
    if (entry) {
        arena_reset(m->arena, mark);
        return entry->value;
    }
    Type *made = arena_copy(m->arena, &type, sizeof type);
    if (type.field_count) made->fields = arena_copy(m->arena, type.fields, (size_t)type.field_count * sizeof(Field));
    map_put(&m->types, m->arena, key, length, made);
    return made;
}

static Type shaped(TypeKind kind, Elem elem, int rank, const int64_t *extent) {
    Type type = {.kind = kind, .elem = elem, .rank = rank};
    for (int d = 0; extent && d < rank; d++) type.extent[d] = extent[d];
    return type;
}

const Type *ty_tile(Module *m, Elem elem, int rank, const int64_t *extent) {
    return intern(m, shaped(TY_TILE, elem, rank, extent));
}
const Type *ty_pointer_tile(Module *m, Elem elem, int rank, const int64_t *extent) {
    Type type = shaped(TY_TILE, elem, rank, extent);
    type.pointer = true;
    return intern(m, type);
}
const Type *ty_scalar(Module *m, Elem elem) { return ty_tile(m, elem, 0, NULL); }
const Type *ty_pointer(Module *m, Elem elem) { return ty_pointer_tile(m, elem, 0, NULL); }
const Type *ty_tensor(Module *m, Elem elem, int rank) { return intern(m, shaped(TY_TENSOR, elem, rank, NULL)); }
const Type *ty_buffer(Module *m, Elem elem, int rank, const int64_t *extent, Word scope) {
    Type type = shaped(TY_BUFFER, elem, rank, extent);
    type.scope = scope;
    return intern(m, type);
}
const Type *ty_ring(Module *m, int field_count, const Field *fields) {
    return intern(m, (Type){.kind = TY_RING, .field_count = field_count, .fields = fields});
}
const Type *ty_slot(Module *m, const Type *ring) { return intern(m, (Type){.kind = TY_SLOT, .ring = ring}); }
const Type *ty_bar(Module *m) { return intern(m, (Type){.kind = TY_BAR}); }

const Type *ty_with_elem(Module *m, const Type *type, Elem elem) {
    Type copy = *type;
    copy.elem = elem;
    copy.pointer = false;
    return intern(m, copy);
}
const Type *ty_with_shape(Module *m, const Type *type, int rank, const int64_t *extent) {
    Type copy = shaped(type->kind, type->elem, rank, extent);
    copy.pointer = type->pointer;
    copy.scope = type->scope;
    return intern(m, copy);
}

int64_t ty_elements(const Type *type) {
    int64_t n = 1;
    for (int d = 0; d < type->rank; d++) n *= type->extent[d];
    return n;
}

bool ty_same_shape(const Type *a, const Type *b) {
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->extent[d] == b->extent[d];
    return same;
}
int ty_elem_bytes(const Type *type) { return type->pointer ? 8 : elem_info[type->elem].bytes; }

const Type *ty_broadcast(Module *m, const Type *a, const Type *b) {
    if (a->kind != TY_TILE || b->kind != TY_TILE) return NULL;
    if (b->rank == 0) return a;
    if (a->rank == 0) return ty_with_shape(m, a, b->rank, b->extent);
    if (a->rank != b->rank) return NULL;
    int64_t extent[MAX_RANK];
    for (int d = 0; d < a->rank; d++) {
        if (a->extent[d] != b->extent[d] && a->extent[d] != 1 && b->extent[d] != 1) return NULL;
        extent[d] = a->extent[d] == 1 ? b->extent[d] : a->extent[d];
    }
    return ty_with_shape(m, a, a->rank, extent);
}

double elem_round(Elem elem, double value) {
    static const FloatFormat *const formats[EL_COUNT] = {
        [EL_F16] = &format_f16,        [EL_BF16] = &format_bf16,     [EL_F8E4M3] = &format_f8e4m3,
        [EL_F8E5M2] = &format_f8e5m2,  [EL_F8E4B8] = &format_f8e4b8, [EL_F8E5B16] = &format_f8e5b16,
        [EL_F8E4B15] = &format_f8e4b15};
    if (elem == EL_F32) return (float)value;
    const FloatFormat *format = formats[elem];
    return format ? float_widen(format, float_narrow(format, value, false)) : value;
}

/* One literal an exact (type, bits). */
static Ref intern_literal(Kernel *k, Literal literal) {
    Arena *arena = k->module->arena;
    struct {
        const Type *type;
        int64_t bits;
    } key = {literal.type, literal.i};
    MapEntry *entry = map_find(&k->literal_map, (const char *)&key, sizeof key);
    if (entry) return (Ref)(uintptr_t)entry->value;
    Ref ref = (Ref)k->literals.count | REF_LITERAL;
    *VEC_PUSH(&k->literals, arena) = literal;
    map_put(&k->literal_map, arena, (const char *)&key, sizeof key, (void *)(uintptr_t)ref);
    return ref;
}

Ref ir_literal_int(Kernel *k, const Type *scalar, int64_t value) {
    int bits = elem_info[scalar->elem].bits;
    if (scalar->elem == EL_I1)
        value = value != 0;
    else if (bits < 64 && !scalar->pointer) {
        uint64_t wrapped = (uint64_t)value << (64 - bits);
        value = elem_is_signed(scalar->elem) ? (int64_t)wrapped >> (64 - bits) : (int64_t)(wrapped >> (64 - bits));
    }
    return intern_literal(k, (Literal){.type = scalar, .i = value});
}

Ref ir_literal_float(Kernel *k, const Type *scalar, double value) {
    value = elem_round(scalar->elem, value);
    if (isnan(value)) value = (double)NAN; /* one literal, whatever its bits */
    return intern_literal(k, (Literal){.type = scalar, .f = value});
}

const Type *ir_box_of(const Kernel *k, const Op *bload) {
    const Type *type = ir_type(k, bload->results[0]);
    const Attr *box = op_attr(bload, AT_BOX);
    return box ? ty_with_shape(k->module, type, box->list.count, box->list.at) : type;
}

bool ir_is_beside(const Kernel *k, const Op *bload) {
    const Type *type = ir_type(k, bload->results[0]), *box = ir_box_of(k, bload);
    return op_attr(bload, AT_BOX) && box->extent[box->rank - 1] != type->extent[type->rank - 1];
}

bool ir_fills_zero(const Kernel *k, const Op *load) {
    const Attr *fill = op_attr(load, AT_FILL);
    return !fill || ir_is_zero(k, fill->ref);
}

bool ir_is_zero(const Kernel *k, Ref r) {
    const Op *op = ref_is_value(r) ? ir_value(k, r)->op : NULL;
    if (op && (op->code == OP_SPLAT || op->code == OP_BROADCAST)) return ir_is_zero(k, op->operands[0]);
    return ref_is_literal(r) && ir_literal(k, r)->i == 0;
}

bool ir_const_int(const Kernel *k, Ref r, int64_t *value) {
    if (!ref_is_literal(r)) return false;
    const Literal *literal = ir_literal(k, r);
    if (literal->type->pointer || elem_is_float(literal->type->elem)) return false;
    *value = literal->i;
    return true;
}
