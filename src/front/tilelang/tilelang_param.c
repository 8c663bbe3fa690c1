/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_param.c: parameters of a kernel: tensors of a stated shape, and numbers.
 *
 *     A: T.Tensor((M, K), "float16")      an address; its shape is part of the kernel, other arrays are refused
 *     scale: T.float32                    a number
 *
 * A size that is a symbol (T.dynamic, T.const) is what the array has there. */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

const PyNode *lang_default(const PyNode *arguments, uint32_t index) {
    const PyList *args = arguments->arguments.args, *defaults = arguments->arguments.defaults;
    uint32_t first = args->count - defaults->count;
    return index >= first ? defaults->at[index - first] : NULL;
}

bool lang_is_tensor_note(const PyNode *annotation) {
    if (!annotation || (annotation->kind != PY_Subscript && annotation->kind != PY_Call)) return false;
    const PyNode *of = annotation->kind == PY_Call ? annotation->Call.func : annotation->Subscript.value;
    const char *name = of->kind == PY_Attribute ? of->Attribute.attr : of->kind == PY_Name ? of->Name.id : "";
    return strstr(name, "Tensor") || strstr(name, "Buffer");
}

/* The shape and the dtype as the text has them; NULL: it does not. */
static void note_parts(const PyNode *note, const PyNode **shape, const PyNode **dtype) {
    const PyList *parts = note->kind == PY_Call                       ? note->Call.args
                          : note->Subscript.slice->kind == PY_Tuple   ? note->Subscript.slice->Tuple.elts
                                                                      : NULL;
    *shape = parts && parts->count ? parts->at[0] : NULL;
    *dtype = parts && parts->count > 1 ? parts->at[parts->count - 1] : NULL;
    for (uint32_t i = 0; note->kind == PY_Call && i < note->Call.keywords->count; i++) {
        const PyNode *keyword = note->Call.keywords->at[i];
        if (!keyword->keyword.arg) continue;
        if (strcmp(keyword->keyword.arg, "shape") == 0) *shape = keyword->keyword.value;
        if (strcmp(keyword->keyword.arg, "dtype") == 0) *dtype = keyword->keyword.value;
    }
}

/* "float16", T.float16; "": something else */
static const char *dtype_text(const PyNode *dtype) {
    if (dtype && dtype->kind == PY_Constant && dtype->Constant.what == PY_STR) return dtype->Constant.text->at;
    return dtype && dtype->kind == PY_Attribute ? dtype->Attribute.attr : "";
}

int lang_peek_elem(const PyNode *annotation) {
    const PyNode *shape, *dtype = NULL;
    Elem elem;
    if (annotation) note_parts(annotation, &shape, &dtype);
    if (!dtype) return -1;
    const char *text = dtype_text(dtype);
    return lang_elem(text, &elem) && !lang_packed(val_str(text)) ? (int)elem : -1;
}

/* --- symbols --- */

typedef struct Search {
    Lower *l;
    const FrontKernel *kernel;
    const FrontValue *args;
    const PyNode *def;
} Search;

typedef struct Meaning { /* what a name of a function is given */
    Arena *arena;
    const char *name;
    const PyNode *value;
    int count;
} Meaning;

static void note_meaning(void *user, const char *name, const PyNode *value) {
    Meaning *m = user;
    if (strcmp(name, m->name) == 0) m->value = value, m->count++;
}

static void look_for_meaning(void *user, PyNode *node) {
    Meaning *m = user;
    if (node->kind == PY_Assign) py_each_binding(node, m->arena, note_meaning, m);
    py_each_child(node, look_for_meaning, m);
}

/* An expression that is only a name for another one, as that one. */
static const PyNode *meant(const Search *s, const PyNode *node) {
    for (int deep = 0; node->kind == PY_Name && deep < 8; deep++) {
        Meaning m = {.arena = s->l->arena, .name = node->Name.id};
        py_each_child(s->def, look_for_meaning, &m);
        bool plain =
            m.count == 1 && (m.value->kind == PY_Name || m.value->kind == PY_Tuple || m.value->kind == PY_List);
        if (!plain) break;
        node = m.value;
    }
    return node;
}

/* The names that stand alone in the shape of a parameter are what its array has there. */
static void learn_shape(Search *s, const char *id, const PyNode *note) {
    const PyNode *shape, *dtype;
    note_parts(note, &shape, &dtype);
    if (!shape) return;
    shape = meant(s, shape);
    bool tuple = shape->kind == PY_Tuple || shape->kind == PY_List;
    uint32_t count = tuple ? shape->Tuple.elts->count : 1;
    const PyNode *const *items = tuple ? (const PyNode *const *)shape->Tuple.elts->at : &shape;
    for (int p = 0; p < s->kernel->param_count; p++) {
        const FrontValue *array = &s->args[p];
        if (strcmp(s->kernel->params[p].name, id) != 0 || array->kind != FRONT_ARRAY) continue;
        if (array->rank != (int)count) continue;
        for (uint32_t d = 0; d < count; d++) {
            const PyNode *size = meant(s, items[d]);
            if (size->kind != PY_Name || map_get(&lang_state(s->l)->symbols, size->Name.id)) continue;
            Symbol *symbol = ARENA_NEW(s->l->arena, Symbol);
            int64_t each = d == count - 1 && lang_packed(val_str(dtype_text(dtype))) ? 2 : 1;
            *symbol = (Symbol){.name = size->Name.id, .known = true, .value = array->extent[d] * each};
            map_set(&lang_state(s->l)->symbols, s->l->arena, symbol->name, symbol);
        }
    }
}

static void search(void *user, PyNode *node) {
    Search *s = user;
    if (node->kind == PY_arg && lang_is_tensor_note(node->arg.annotation))
        learn_shape(s, node->arg.arg, node->arg.annotation);
    if (node->kind == PY_AnnAssign && node->AnnAssign.target->kind == PY_Name &&
        lang_is_tensor_note(node->AnnAssign.annotation))
        learn_shape(s, node->AnnAssign.target->Name.id, node->AnnAssign.annotation);
    py_each_child(node, search, s);
}

void lang_find_symbols(Lower *l, const FrontKernel *kernel, const FrontValue *args, const PyNode *def) {
    Search s = {l, kernel, args, def};
    py_each_child(def, search, &s);
}

/* --- tensors --- */

int lang_place_of(const Lower *l, const char *name) {
    const FrontKernel *kernel = l->request->kernel;
    int p = kernel->param_count - 1;
    while (p >= 0 && strcmp(kernel->params[p].name, name) != 0) p--;
    return p;
}

Val lang_lower_tensor(Lower *l, const Call *c) {
    Note note = {.shape = lang_plain(c->args[0]), .strides = c->builtin->code ? c->args[1] : val_none, .elem = EL_F32,
                 .range = c->ranges[0]};
    int dtype = c->builtin->code ? 2 : 1;
    if (!c->builtin->code && c->args[2].kind != VAL_NONE && l->kernel) return lang_tensor_of(l, c);
    note.tf32 = lang_is_tf32(c->args[dtype]), note.packed = lang_packed(c->args[dtype]);
    if (val_failed(note.shape) || !lang_want_elem(l, c, dtype, &note.elem)) return val_error;
    return lang_own(l, &lang_note_own, &note, sizeof note);
}

static bool is_sequence(Val v) { return v.kind == VAL_TUPLE || v.kind == VAL_LIST; }

bool lang_fits_memory(Lower *l, const Storage *tensor, Range range) {
    int64_t longest = 1; /* as the strides need it, a dimension of 0 apart */
    for (int d = 0; d < tensor->rank; d++)
        if (__builtin_mul_overflow(longest, tensor->shape[d] ? tensor->shape[d] : 1, &longest) ||
            longest > INT64_MAX / 8) {
            lang_types(l, range, "a tensor of so many elements does not fit the address space"
                                 FIX "give smaller sizes");
            return false;
        }
    return true;
}

/* The extents; an unknown symbol becomes what the array has. */
static bool read_extents(Lower *l, Val shape, const FrontValue *array, Range range, Packed packed, Storage *out) {
    Val one = shape;
    if (!is_sequence(shape)) shape = val_tuple(l, &one, 1);
    out->rank = val_count(shape);
    if (out->rank < 1 || out->rank > MAX_RANK) {
        py_error(l, DIAG_TL_ANNOTATION, range);
        return false;
    }
    for (int d = 0; d < out->rank; d++) {
        Val extent = val_items(shape)[d];
        Symbol *symbol = (Symbol *)lang_thing(extent, &lang_symbol_own);
        if (symbol && !symbol->known && array->kind == FRONT_ARRAY && array->rank == out->rank)
            symbol->known = true, symbol->value = array->extent[d] * (packed && d == out->rank - 1 ? 2 : 1);
        extent = lang_plain(extent);
        if (lang_missing(l, extent, range)) return false;
        if (extent.kind != VAL_INT || extent.i < 0 || extent.i > INT64_MAX) {
            if (!val_failed(extent)) py_error(l, DIAG_TL_EXTENT, range, lang_extent_text(l, extent));
            return false;
        }
        out->shape[d] = (int64_t)extent.i;
    }
    return lang_fits_memory(l, out, range);
}

/* T.StridedTensor's own; an unknown symbol becomes what the array has. */
static bool read_strides(Lower *l, Val strides, const FrontValue *array, Range range, Storage *out) {
    if (strides.kind == VAL_NONE) return true;
    out->strided = true;
    if (!is_sequence(strides) || val_count(strides) != out->rank) {
        py_error(l, DIAG_TL_ARGUMENTS, range, "T.StridedTensor takes a stride for each extent");
        return false;
    }
    __int128 reach = 0;
    for (int d = 0; d < out->rank; d++) {
        Val stride = val_items(strides)[d];
        Symbol *symbol = (Symbol *)lang_thing(stride, &lang_symbol_own);
        if (symbol && !symbol->known && array->kind == FRONT_ARRAY && array->rank == out->rank)
            symbol->known = true, symbol->value = array->stride[d];
        stride = lang_plain(stride);
        if (lang_missing(l, stride, range)) return false;
        if (stride.kind != VAL_INT || stride.i < 0 || stride.i > INT64_MAX / 16) {
            if (!val_failed(stride))
                py_error(l, DIAG_TL_ARGUMENTS, range, "a stride is a known integer that is not negative");
            return false;
        }
        out->stride[d] = (int64_t)stride.i;
        reach += (__int128)stride.i * (out->shape[d] ? out->shape[d] - 1 : 0);
    }
    if (reach > INT64_MAX / 16) {
        lang_types(l, range, "a tensor that reaches so far does not fit the address space" FIX "give smaller strides");
        return false;
    }
    return true;
}

/* Two numbers of 4 bits are a byte of the array: the tensor becomes one of bytes, `logical` is what the kernel sees. */
static bool pack_tensor(Lower *l, Packed packed, const FrontValue *array, Range range, Storage *tensor,
                        Storage *logical) {
    int last = tensor->rank - 1;
    bool is_signed = array->kind == FRONT_ARRAY ? array->elem == EL_I8 : packed == PACKED_I4;
    if (tensor->shape[last] % 2) {
        lang_types(l, range, arena_printf(l->arena, "a tensor of %s has an even last extent: two elements are a byte",
                                          lang_packed_name(packed)));
        return false;
    }
    *logical = *tensor;
    logical->packed = packed;
    logical->byte = tensor->elem = is_signed ? EL_I8 : EL_U8;
    tensor->shape[last] /= 2;
    return true;
}

static bool check_array(Lower *l, const PyNode *name, const char *id, const Storage *tensor, const FrontValue *array) {
    int64_t stride = 1, elements = 1;
    if (array->kind != FRONT_ARRAY || (array->rank < 0 && array->elem == tensor->elem)) return true;
    bool same = array->elem == tensor->elem && array->rank == tensor->rank;
    for (int d = 0; d < tensor->rank; d++) elements *= tensor->shape[d] ? 1 : 0;
    for (int d = tensor->rank - 1; same && d >= 0; stride *= tensor->shape[d], d--) {
        int64_t want = tensor->strided ? tensor->stride[d] : stride;
        same = array->extent[d] == tensor->shape[d] &&
               (array->stride[d] == want || tensor->shape[d] == 1 || !elements);
    }
    if (same) return true;
    if (tensor->strided && array->rank == tensor->rank) {
        Text text = text_new(l->arena);
        text_add(&text, "`%s` is declared with strides", id);
        for (int d = 0; d < tensor->rank; d++) text_add(&text, "%s %lld", d ? "," : "", (long long)tensor->stride[d]);
        text_add(&text, "; the array that is passed has");
        for (int d = 0; d < tensor->rank; d++) text_add(&text, "%s %lld", d ? "," : "", (long long)array->stride[d]);
        bool extents = memcmp(array->extent, tensor->shape, (size_t)tensor->rank * sizeof *tensor->shape) == 0;
        if (extents && array->elem == tensor->elem) {
            py_error(l, DIAG_TL_ARGUMENTS, name->range, text.at);
            return false;
        }
    }
    Storage got = {.kind = STORE_TENSOR, .elem = array->elem, .rank = array->rank};
    bool strides = array->elem == tensor->elem && array->rank == tensor->rank &&
                   memcmp(array->extent, tensor->shape, sizeof *array->extent * (size_t)array->rank) == 0;
    const char *passed = array->rank < 0 ? arena_printf(l->arena, "*%s", elem_info[array->elem].text)
                                         : lang_shape_text(l, &got, array->extent);
    py_error(l, DIAG_TL_ARRAY, name->range, id, lang_shape_text(l, tensor, tensor->shape),
             arena_printf(l->arena, "%s%s", passed, strides ? " with other strides" : ""));
    return false;
}

static Ref number_of(Lower *l, int64_t n) { return ir_int(&l->b, n <= INT32_MAX ? EL_I32 : EL_I64, n); }

void lang_make_tensor(Lower *l, Storage *tensor, Ref pointer) {
    Ref extents[MAX_RANK], strides[MAX_RANK];
    int64_t stride = 1;
    for (int d = tensor->rank - 1; d >= 0; stride *= tensor->shape[d], d--) {
        if (!tensor->strided) tensor->stride[d] = stride;
        extents[d] = number_of(l, tensor->shape[d]);
        strides[d] = number_of(l, tensor->stride[d]);
    }
    tensor->ref = ir_tensor(&l->b, pointer, extents, strides, tensor->rank);
}

void lang_declare_tensor(Lower *l, Storage *tensor, const char *id) {
    lang_make_tensor(l, tensor, ir_argument(l->kernel, l->kernel->body, ty_pointer(l->module, tensor->elem), id));
}

void lang_tensor_param(Lower *l, const PyNode *name, const char *id, Val v, int place) {
    const Note *note = lang_thing(v, &lang_note_own);
    const FrontValue *array = &l->request->args[place];
    FrontShape *stated = l->request->shapes ? &l->request->shapes[place] : NULL;
    Storage tensor = {.kind = STORE_TENSOR};
    Range range = name->kind == PY_arg && name->arg.annotation ? name->arg.annotation->range : name->range;
    l->b.range = name->range;
    if (!note && !val_failed(v)) py_error(l, DIAG_TL_ANNOTATION, range);
    if (note) tensor.elem = note->elem, tensor.tf32 = note->tf32, range = note->range;
    Storage logical = tensor;
    bool good = note && read_extents(l, note->shape, array, range, note->packed, &tensor);
    if (good && note->packed) good = pack_tensor(l, note->packed, array, range, &tensor, &logical);
    good = good && read_strides(l, note->strides, array, range, &tensor) && check_array(l, name, id, &tensor, array);
    if (!good) {
        py_set_local(l, id, val_error);
        return;
    }
    if (stated) {
        *stated = (FrontShape){
            .stated = true, .dense = !tensor.strided, .strided = tensor.strided, .rank = tensor.rank};
        memcpy(stated->extent, tensor.shape, sizeof stated->extent);
        memcpy(stated->stride, tensor.stride, sizeof stated->stride);
    }
    lang_declare_tensor(l, &tensor, id);
    if (note->packed) logical.ref = tensor.ref, tensor = logical;
    py_set_local(l, id, lang_own(l, &lang_storage_own, &tensor, sizeof tensor));
}

void lang_scalar_param(Lower *l, const PyNode *arg, int place) {
    const FrontValue *value = &l->request->args[place];
    Elem elem = value->kind == FRONT_FLOAT ? EL_F32 : EL_I32;
    Val note = lang_param_note(l, arg);
    if (note.kind != VAL_NONE) {
        if (!val_failed(note) && (!lang_elem_of(note, &elem) || lang_packed(note))) {
            py_error(l, DIAG_TL_DTYPE, arg->range, val_text(l, note));
            note = val_error;
        }
        if (val_failed(note)) {
            py_set_local(l, arg->arg.arg, val_error);
            return;
        }
    }
    l->b.range = arg->range;
    Ref ref = ir_argument(l->kernel, l->kernel->body, ty_scalar(l->module, elem), arg->arg.arg);
    py_set_local(l, arg->arg.arg, val_tensor(ref));
}
