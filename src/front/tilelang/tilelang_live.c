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
        Note note = {.shape = a, .strides = c, .range = range};
        *out = val_error;
        if (lang_elem_of(b, &note.elem))
            *out = lang_own(l, &lang_note_own, &note, sizeof note);
        else
            py_error(l, DIAG_TL_DTYPE, range, val_text(l, b));
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

/* Sizes that stand alone in a shape are what the array has there; known before any shape is computed from them. */
void lang_live_symbols(Lower *l, const FrontKernel *kernel, const FrontValue *args) {
    const FrontResolver *host = l->unit->resolver;
    for (int p = 0; p < kernel->param_count; p++) {
        FrontObject note, parts, shape = {0}, extent, name;
        const char *what;
        if (args[p].kind != FRONT_ARRAY || !annotation_of(l->unit, kernel->params[p].name, &note)) continue;
        if (note.kind != FRONT_OBJECT_HOST || !parts_of(host, note.handle, &parts, &what) || parts.count < 2) continue;
        host->item(host->user, parts.handle, 1, &shape);
        if (shape.kind != FRONT_OBJECT_TUPLE || (int)shape.count != args[p].rank) continue;
        for (size_t d = 0; d < shape.count; d++) {
            extent = name = (FrontObject){0};
            host->item(host->user, shape.handle, d, &extent);
            if (extent.kind != FRONT_OBJECT_HOST || !parts_of(host, extent.handle, &parts, &what)) continue;
            if (strcmp(what, "symbol") != 0 || parts.count < 2) continue;
            host->item(host->user, parts.handle, 1, &name);
            if (name.kind != FRONT_OBJECT_VALUE || name.value.kind != FRONT_TEXT) continue;
            Val v = lang_symbol(l, name.value.text);
            Symbol *symbol = (Symbol *)lang_thing(v, &lang_symbol_own);
            if (symbol && !symbol->known) symbol->known = true, symbol->value = args[p].extent[d];
        }
    }
}
