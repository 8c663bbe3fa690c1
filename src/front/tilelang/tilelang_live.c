/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_live.c: kernels inside a running Python program (FrontResolver): the annotations that Python has evaluated,
 * and objects of the host that stand for values of the language.
 *
 *     M = T.dynamic("m")                        an object with __tilelang__ == ("symbol", "m")
 *     A: T.Tensor((M, 2 * K), T.float16)        ("Tensor", shape, dtype, strides), by the name of the parameter
 *     M // 2                                    ("binary", "//", M, 2)
 *
 * Python evaluates annotations where the function is defined, in names that the function itself may not have; so what
 * it made of them counts, and their text only where there is nothing (or a text again). */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

/* The parts of an object of the language; false: it is none. */
static bool parts_of(const FrontResolver *host, void *handle, FrontObject *parts, const char **what) {
    FrontObject first = {0};
    *parts = (FrontObject){0};
    host->attribute(host->user, handle, "__tilelang__", parts);
    if (parts->kind != FRONT_OBJECT_TUPLE || !parts->count) return false;
    host->item(host->user, parts->handle, 0, &first);
    if (first.kind != FRONT_OBJECT_VALUE || first.value.kind != FRONT_TEXT) return false;
    *what = first.value.text;
    return true;
}

static Val part(Lower *l, const FrontObject *parts, size_t i, Range range) {
    const FrontResolver *host = l->unit->resolver;
    FrontObject object = {0};
    if (i >= parts->count) return val_none;
    host->item(host->user, parts->handle, i, &object);
    return py_live_value(l, &object, "it", range);
}

static bool find_operator(const char *text, PyOp *op) {
    static const struct {
        const char *text;
        PyOp op;
    } rows[] = {{"+", PY_OP_ADD},    {"-", PY_OP_SUB},    {"*", PY_OP_MUL}, {"/", PY_OP_DIV},
                {"//", PY_OP_FLOORDIV}, {"%", PY_OP_MOD}, {"<<", PY_OP_SHL}, {">>", PY_OP_SHR},
                {"&", PY_OP_BITAND}, {"|", PY_OP_BITOR},  {"^", PY_OP_BITXOR}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].text, text) == 0) {
            *op = rows[i].op;
            return true;
        }
    return false;
}

bool lang_live(Lower *l, const Host *object, Range range, Val *out) {
    FrontObject parts;
    const char *what;
    PyOp op;
    if (!parts_of(l->unit->resolver, object->handle, &parts, &what)) return false;
    Val a = part(l, &parts, 1, range), b = part(l, &parts, 2, range), c = part(l, &parts, 3, range);
    *out = val_failed(a) ? a : val_failed(b) ? b : val_failed(c) ? c : val_none;
    if (out->kind != VAL_NONE) return true;
    if (strcmp(what, "symbol") == 0 && a.kind == VAL_STR) {
        *out = lang_symbol(l, a.text);
    } else if (strcmp(what, "binary") == 0 && a.kind == VAL_STR && find_operator(a.text, &op)) {
        *out = lang_binary(l, op, b, c, range);
    } else if (strcmp(what, "Tensor") == 0) {
        Note note = {.shape = a, .strides = c, .range = range, .tf32 = lang_is_tf32(b), .packed = lang_packed(b)};
        *out = val_error;
        if (lang_elem_of(b, &note.elem))
            *out = lang_own(l, &lang_note_own, &note, sizeof note);
        else
            py_error(l, DIAG_TL_DTYPE, range, val_text(l, b));
    } else if (strcmp(what, "Emitter") == 0 && a.kind == VAL_TUPLE) {
        *out = py_apply(l, (Val){.kind = VAL_BUILTIN, .builtin = py_builtin(l, "TensorCoreIntrinEmitter", 'N')},
                        a.items, a.count, range);
    } else if (strcmp(what, "Layout") == 0) {
        *out = lang_own(l, &lang_layout_own, "", 1);
    } else
        return false;
    return true;
}

/* What Python made of a parameter's annotation; false: nothing, or a text. */
static bool annotation_of(const FrontUnit *unit, const char *name, FrontObject *out) {
    const FrontResolver *host = unit->resolver;
    FrontObject all = {0}, get = {0}, key = {.kind = FRONT_OBJECT_VALUE, .value = {.kind = FRONT_TEXT, .text = name}};
    *out = (FrontObject){0};
    if (!host) return false;
    host->attribute(host->user, unit->scope, "__annotations__", &all);
    if (all.kind == FRONT_OBJECT_HOST) host->attribute(host->user, all.handle, "get", &get);
    if (get.kind == FRONT_OBJECT_HOST) host->call(host->user, get.handle, &key, 1, out);
    bool nothing = out->kind == FRONT_OBJECT_VALUE; /* None, or the text of an annotation that was never evaluated */
    return out->kind != FRONT_OBJECT_UNKNOWN && out->kind != FRONT_OBJECT_REFUSED && !nothing;
}

bool lang_live_is_tensor(const FrontUnit *unit, const char *name, const PyNode *text) {
    FrontObject note, parts;
    const char *what;
    if (!annotation_of(unit, name, &note)) return lang_is_tensor_note(text);
    return note.kind == FRONT_OBJECT_HOST && parts_of(unit->resolver, note.handle, &parts, &what) &&
           strcmp(what, "Tensor") == 0;
}

bool lang_live_eager(const FrontUnit *unit) {
    FrontObject eager = {0};
    unit->resolver->attribute(unit->resolver->user, unit->scope, "eager", &eager);
    return eager.kind == FRONT_OBJECT_VALUE && eager.value.kind == FRONT_BOOL && eager.value.i;
}

Val lang_param_note(Lower *l, const PyNode *arg) {
    FrontObject note;
    const PyNode *text = arg->arg.annotation;
    if (annotation_of(l->unit, arg->arg.arg, &note))
        return py_live_value(l, &note, arg->arg.arg, text ? text->range : arg->range);
    return text ? py_eval(l, text) : val_none;
}

static bool whole_number(const FrontObject *object, int64_t *value) {
    if (object->kind != FRONT_OBJECT_VALUE || object->value.kind != FRONT_INT) return false;
    *value = object->value.i;
    return true;
}

/* The size in an extent that the array says: it stands there alone, or in a sum or product with numbers. */
static void solve(Lower *l, const FrontObject *extent, int64_t value, int depth) {
    const FrontResolver *host = l->unit->resolver;
    FrontObject parts, name = {0}, side[2] = {{0}, {0}};
    const char *what;
    int64_t known;
    if (depth > 16 || extent->kind != FRONT_OBJECT_HOST) return;
    if (!parts_of(host, extent->handle, &parts, &what) || parts.count < 2) return;
    host->item(host->user, parts.handle, 1, &name);
    if (name.kind != FRONT_OBJECT_VALUE || name.value.kind != FRONT_TEXT) return;
    if (strcmp(what, "symbol") == 0) {
        Val v = lang_symbol(l, name.value.text);
        Symbol *symbol = (Symbol *)lang_thing(v, &lang_symbol_own);
        if (symbol && !symbol->known) symbol->known = true, symbol->value = value;
    }
    if (strcmp(what, "binary") != 0 || parts.count < 4) return;
    for (size_t i = 0; i < 2; i++) host->item(host->user, parts.handle, 2 + i, &side[i]);
    int other = whole_number(&side[0], &known) ? 1 : 0; /* the side that is no number */
    if (!whole_number(&side[1 - other], &known)) return;
    switch (name.value.text[0]) {
    case '+': value -= known; break;
    case '-': value = other ? known - value : value + known; break;
    case '*':
        if (!known || value % known) return;
        value /= known;
        break;
    default: return;
    }
    solve(l, &side[other], value, depth + 1);
}

/* Sizes in shapes are what the arrays have there; those that stand alone first, before any shape is computed from them.
 */
void lang_live_symbols(Lower *l, const FrontKernel *kernel, const FrontValue *args) {
    const FrontResolver *host = l->unit->resolver;
    for (int round = 0; round < 2; round++)
        for (int p = 0; p < kernel->param_count; p++) {
            FrontObject note, parts, shape = {0}, dtype = {0}, inner;
            const char *what;
            if (args[p].kind != FRONT_ARRAY || !annotation_of(l->unit, kernel->params[p].name, &note)) continue;
            if (note.kind != FRONT_OBJECT_HOST || !parts_of(host, note.handle, &parts, &what)) continue;
            if (parts.count < 3) continue;
            host->item(host->user, parts.handle, 1, &shape);
            host->item(host->user, parts.handle, 2, &dtype);
            if (shape.kind != FRONT_OBJECT_TUPLE || (int)shape.count != args[p].rank) continue;
            const char *dot = dtype.kind == FRONT_OBJECT_NAMED ? strrchr(dtype.text, '.') : NULL;
            bool halved = dot && lang_packed(val_str(dot + 1));
            for (size_t d = 0; d < shape.count; d++) {
                FrontObject extent = {0};
                host->item(host->user, shape.handle, d, &extent);
                if (extent.kind != FRONT_OBJECT_HOST || !parts_of(host, extent.handle, &inner, &what)) continue;
                if ((strcmp(what, "symbol") == 0) == (round == 0))
                    solve(l, &extent, args[p].extent[d] * (halved && d + 1 == shape.count ? 2 : 1), 0);
            }
        }
}
