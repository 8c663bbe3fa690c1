/* SPDX-License-Identifier: Apache-2.0 */
/* native_objects.c: Python objects as the compiler sees them, and the callbacks that find them.
 *
 * A name in a kernel means what it means to Python: a cell of the closure, a global of the
 * function's module, a builtin. What the door knows by name (tl.load, tl.float32, the modules
 * themselves) is told by the identity of the object, so that any alias works: objects are
 * registered once, with their full name. Everything else is a constant, a jit function, a tuple, or
 * a host object whose attributes and calls on constants come back here. Each lookup of a value is
 * written down (Names.watched), so that a launch notices when the value has changed since. */
#include "native.h"

#include <string.h>

static PyObject *names;   /* id of an object -> (object, full name) */
static PyObject *by_name; /* full name -> object */
static PyObject *constexpr_type;

static PyObject *objects_register(PyObject *self, PyObject *args) {
    (void)self;
    PyObject *object, *name;
    if (!PyArg_ParseTuple(args, "OU", &object, &name)) return NULL;
    PyObject *id = PyLong_FromVoidPtr(object), *pair = id ? PyTuple_Pack(2, object, name) : NULL;
    bool ok = pair && PyDict_SetItem(names, id, pair) == 0 && PyDict_SetItem(by_name, name, object) == 0;
    Py_XDECREF(id);
    Py_XDECREF(pair);
    return ok ? Py_NewRef(Py_None) : NULL;
}

PyObject *object_unwrap(PyObject *object) {
    while (constexpr_type && Py_TYPE(object) == (PyTypeObject *)constexpr_type) {
        PyObject *value = PyObject_GetAttrString(object, "value");
        if (!value) {
            PyErr_Clear();
            return object;
        }
        Py_DECREF(value); /* the constexpr holds it */
        object = value;
    }
    return object;
}

/* The text of a str, kept alive. */
static const char *text_of(PyObject *string, PyObject *keep) {
    const char *text = PyUnicode_AsUTF8AndSize(string, NULL);
    return text && PyList_Append(keep, string) == 0 ? text : NULL;
}

static bool describe_function(Function *f, PyObject *keep, tw_object *out) {
    Py_ssize_t size = 0;
    if (!function_ready(f)) return false;
    out->kind = TW_OBJECT_FUNCTION;
    out->line = f->line;
    out->handle = f;
    bool ok = (out->text = text_of(f->name, keep)) && (out->file = text_of(f->file, keep)) &&
              (out->source = PyUnicode_AsUTF8AndSize(f->source, &size)) && PyList_Append(keep, f->source) == 0 &&
              PyList_Append(keep, (PyObject *)f) == 0;
    out->source_size = (size_t)size;
    return ok;
}

/* None, bool, int, float, str; false if it is none of these, or if an error is set. */
static bool describe_value(PyObject *object, PyObject *keep, tw_object *out) {
    tw_arg *value = &out->value;
    out->kind = TW_OBJECT_VALUE;
    if (object == Py_None) {
        value->kind = TW_ARG_NONE;
    } else if (object == Py_True || object == Py_False) {
        value->kind = TW_ARG_BOOL;
        value->value.i = object == Py_True;
    } else if (PyLong_Check(object)) {
        int overflow = 0;
        value->kind = TW_ARG_INT;
        value->value.i = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (overflow) {
            value->flags = TW_ARG_UNSIGNED;
            value->value.i = (int64_t)PyLong_AsUnsignedLongLong(object);
            if (PyErr_Occurred()) {
                PyErr_Clear();
                out->kind = TW_OBJECT_REFUSED;
                out->text = "the number does not fit 64 bits";
            }
        }
    } else if (PyFloat_Check(object)) {
        value->kind = TW_ARG_FLOAT;
        value->value.f = PyFloat_AsDouble(object);
    } else if (PyUnicode_Check(object)) {
        value->kind = TW_ARG_TEXT;
        value->value.text = text_of(object, keep);
        return value->value.text != NULL;
    } else
        return false;
    return true;
}

/* The full name of a registered object, borrowed; NULL: it has none, or an error is set. */
static PyObject *registered_name(PyObject *object) {
    PyObject *id = PyLong_FromVoidPtr(object), *pair = id ? PyDict_GetItemWithError(names, id) : NULL;
    Py_XDECREF(id);
    return pair ? PyTuple_GetItem(pair, 1) : NULL;
}

/* Numbers and texts that are more than that: members of an enumeration, dtypes that are texts. */
static bool may_be_named(PyObject *object) {
    return object != Py_None && !PyLong_CheckExact(object) && !PyBool_Check(object) && !PyFloat_CheckExact(object) &&
           !PyUnicode_CheckExact(object);
}

bool object_describe(PyObject *object, PyObject *keep, tw_object *out) {
    memset(out, 0, sizeof *out);
    object = object_unwrap(object);
    PyObject *name = may_be_named(object) ? registered_name(object) : NULL;
    if (PyErr_Occurred()) return false;
    if (!name && describe_value(object, keep, out)) return true;
    if (PyErr_Occurred()) return false;
    out->handle = object;
    if (PyList_Append(keep, object) < 0) return false;
    if (name) {
        out->kind = TW_OBJECT_NAMED;
        out->text = text_of(name, keep);
        return out->text != NULL;
    }
    if (PyObject_TypeCheck(object, function_type)) return describe_function((Function *)object, keep, out);
    if (PyDictViewSet_Check(object) || PyObject_TypeCheck(object, &PyDictValues_Type)) { /* items(), keys(), values() */
        PyObject *list = PySequence_List(object);
        bool kept = list && PyList_Append(keep, list) == 0;
        Py_XDECREF(list);
        if (!kept) return false;
        out->handle = object = list;
    }
    if (PyTuple_Check(object) || PyList_Check(object)) {
        out->kind = TW_OBJECT_TUPLE;
        out->count = (size_t)PySequence_Size(object);
        return true;
    }
    out->kind = TW_OBJECT_HOST;
    return true;
}

/* --- the resolver --- */

/* Keeps an exception for the message to come. */
static void keep_cause(void) {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    Py_XDECREF(kind);
    Py_XDECREF(trace);
    replace(&desk->cause, value);
}

/* KeyboardInterrupt, SystemExit: no mistake of the kernel; they end the call and go on their way. */
static bool is_interrupt(PyObject *error) { return error && PyObject_IsInstance(error, PyExc_Exception) == 0; }

static tw_status refuse(tw_object *out, PyObject *keep) {
    keep_cause();
    if (is_interrupt(desk->cause)) {
        replace(&desk->interrupt, desk->cause);
        desk->cause = NULL;
        tw_context_cancel(desk->context);
        memset(out, 0, sizeof *out);
        out->kind = TW_OBJECT_REFUSED;
        out->text = "Python was interrupted";
        return TW_OK;
    }
    PyObject *kind = desk->cause ? PyType_GetName(Py_TYPE(desk->cause)) : NULL;
    PyObject *words = kind ? PyUnicode_FromFormat("%U: %S", kind, desk->cause) : NULL;
    Py_XDECREF(kind);
    memset(out, 0, sizeof *out);
    out->kind = TW_OBJECT_REFUSED;
    out->text = words ? text_of(words, keep) : NULL;
    Py_XDECREF(words);
    PyErr_Clear();
    if (!out->text) out->text = "Python raised an exception";
    return TW_OK;
}

/* The value of a cell or global, borrowed; NULL: there is none. */
static PyObject *find_name(Function *f, PyObject *id, PyObject **where) {
    PyObject *cell = f->closure ? PyDict_GetItemWithError(f->closure, id) : NULL;
    if (cell) {
        PyObject *value = PyObject_GetAttrString(cell, "cell_contents");
        Py_XDECREF(value); /* the cell holds it */
        if (!value) PyErr_Clear();
        *where = cell;
        return value;
    }
    *where = f->globals;
    return f->globals ? PyDict_GetItemWithError(f->globals, id) : NULL;
}

/* Writes down that compiled kernels rely on this value. */
static bool watch(const Names *owner, PyObject *where, PyObject *id, PyObject *value) {
    if (PyModule_Check(value) || !owner->watched) return true;
    PyObject *key = Py_BuildValue("(nO)", (Py_ssize_t)(intptr_t)where, id),
             *row = PyTuple_Pack(3, where, id, object_unwrap(value)); /* its value may change */
    bool ok = key && row && PyDict_SetItem(owner->watched, key, row) == 0;
    Py_XDECREF(key);
    Py_XDECREF(row);
    return ok;
}

static tw_status describe_or_refuse(PyObject *value, PyObject *keep, tw_object *out) {
    return value && object_describe(value, keep, out) ? TW_OK : refuse(out, keep);
}

static tw_status lookup_builtin(PyObject *id, PyObject *keep, tw_object *out) {
    PyObject *module = PyImport_ImportModule("builtins"), *value = module ? PyObject_GetAttr(module, id) : NULL;
    Py_XDECREF(module);
    if (!value) {
        PyErr_Clear();
        out->kind = TW_OBJECT_UNKNOWN;
        return TW_OK;
    }
    tw_status status = describe_or_refuse(value, keep, out);
    if (status == TW_OK && out->kind == TW_OBJECT_HOST) {
        PyObject *full = PyUnicode_FromFormat("builtins.%U", id);
        out->text = full ? text_of(full, keep) : NULL;
        Py_XDECREF(full);
        out->kind = TW_OBJECT_NAMED;
        if (!out->text) status = refuse(out, keep);
    }
    Py_DECREF(value);
    return status;
}

/* A global that is a plain value may change behind the kernel's back; Triton asks that it be wrapped. */
static bool is_plain(const Function *f, PyObject *value, const tw_object *out) {
    if (f->shaped || object_unwrap(value) != value) return false;
    bool data = out->kind == TW_OBJECT_VALUE || out->kind == TW_OBJECT_TUPLE;
    int allowed = session.plain_globals ? PyObject_IsTrue(session.plain_globals) : 0;
    if (allowed < 0) PyErr_Clear();
    return data && allowed != 1;
}

static tw_status find(const Names *owner, Function *f, const char *name, tw_object *out) {
    PyObject *id = PyUnicode_FromString(name), *where = NULL;
    memset(out, 0, sizeof *out);
    if (!id) return refuse(out, owner->keep);
    PyObject *value = find_name(f, id, &where);
    tw_status status = value ? describe_or_refuse(value, owner->keep, out) : lookup_builtin(id, owner->keep, out);
    if (value && is_plain(f, value, out)) {
        PyObject *words =
            PyUnicode_FromFormat("Cannot access global variable `%U`, the plain value %R: a kernel sees values that "
                                 "cannot change: write `%U = tl.constexpr(..)`, or pass it as an argument",
                                 id, value, id);
        memset(out, 0, sizeof *out);
        out->kind = TW_OBJECT_REFUSED;
        out->text = words ? text_of(words, owner->keep) : "a global that is no tl.constexpr";
        Py_XDECREF(words);
    } else if (value && !watch(owner, where, id, value))
        status = refuse(out, owner->keep);
    Py_DECREF(id);
    return status;
}

static tw_status resolve_name(void *user, void *scope, const char *name, tw_object *out) {
    const Names *owner = user;
    session_reenter_python();
    tw_status status = find(owner, scope ? scope : owner->function, name, out);
    session_leave_python();
    return status;
}

static tw_status resolve_attribute(void *user, void *object, const char *name, tw_object *out) {
    const Names *owner = user;
    session_reenter_python();
    /* A plain function of the program, as one that is compiled. */
    bool source = session.source_of && strcmp(name, "__source__") == 0;
    PyObject *value =
        source ? PyObject_CallFunctionObjArgs(session.source_of, object, NULL) : PyObject_GetAttrString(object, name);
    tw_status status = TW_OK;
    memset(out, 0, sizeof *out);
    if (!value && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        out->kind = TW_OBJECT_UNKNOWN;
    } else
        status = describe_or_refuse(value, owner->keep, out);
    Py_XDECREF(value);
    session_leave_python();
    return status;
}

static tw_status resolve_item(void *user, void *object, size_t index, tw_object *out) {
    const Names *owner = user;
    session_reenter_python();
    PyObject *value = PySequence_GetItem(object, (Py_ssize_t)index);
    tw_status status = describe_or_refuse(value, owner->keep, out);
    Py_XDECREF(value);
    session_leave_python();
    return status;
}

/* What the compiler hands back, as Python; a new reference. */
static PyObject *to_python(const tw_object *object) {
    if (object->kind == TW_OBJECT_TUPLE) {
        const tw_object *items = object->handle;
        PyObject *tuple = PyTuple_New((Py_ssize_t)object->count);
        for (size_t i = 0; tuple && i < object->count; i++) {
            PyObject *item = to_python(&items[i]);
            if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) < 0) Py_CLEAR(tuple);
        }
        return tuple;
    }
    if (object->handle) return Py_NewRef((PyObject *)object->handle);
    if (object->kind == TW_OBJECT_NAMED) {
        PyObject *found = PyDict_GetItemString(by_name, object->text);
        if (found) return Py_NewRef(found);
        PyErr_Format(PyExc_TypeError, "%s has no object in Python", object->text);
        return NULL;
    }
    switch (object->value.kind) {
    case TW_ARG_BOOL: return PyBool_FromLong(object->value.value.i != 0);
    case TW_ARG_INT:
        if (object->value.flags & TW_ARG_UNSIGNED) return PyLong_FromUnsignedLongLong((uint64_t)object->value.value.i);
        return PyLong_FromLongLong(object->value.value.i);
    case TW_ARG_FLOAT: return PyFloat_FromDouble(object->value.value.f);
    case TW_ARG_TEXT: return PyUnicode_FromString(object->value.value.text);
    default: return Py_NewRef(Py_None);
    }
}

static tw_status resolve_call(void *user, void *object, const tw_object *args, size_t count, tw_object *out) {
    const Names *owner = user;
    session_reenter_python();
    size_t places = 0; /* arguments by position come first */
    while (places < count && !args[places].keyword) places++;
    PyObject *tuple = PyTuple_New((Py_ssize_t)places), *named = PyDict_New(), *value = NULL;
    bool ok = tuple && named;
    for (size_t i = 0; ok && i < count; i++) {
        PyObject *arg = to_python(&args[i]);
        if (arg && args[i].keyword) {
            ok = PyDict_SetItemString(named, args[i].keyword, arg) == 0;
            Py_DECREF(arg);
        } else
            ok = arg && PyTuple_SetItem(tuple, (Py_ssize_t)i, arg) == 0;
    }
    if (ok) value = PyObject_Call(object, tuple, named);
    tw_status status = describe_or_refuse(value, owner->keep, out);
    Py_XDECREF(tuple);
    Py_XDECREF(named);
    Py_XDECREF(value);
    session_leave_python();
    return status;
}

const tw_resolver object_resolver = {resolve_name, resolve_attribute, resolve_item, resolve_call, NULL};

static PyObject *set_constexpr(PyObject *self, PyObject *type) {
    (void)self;
    replace(&constexpr_type, Py_NewRef(type));
    return Py_NewRef(Py_None);
}

bool objects_init(PyObject *module) {
    static PyMethodDef methods[] = {
        {"register", objects_register, METH_VARARGS, "register(object, name): the full name by which kernels know it"},
        {"set_constexpr", set_constexpr, METH_O, "the class whose instances stand for their value"},
        {0}};
    names = PyDict_New();
    by_name = PyDict_New();
    return names && by_name && PyModule_AddFunctions(module, methods) == 0;
}
