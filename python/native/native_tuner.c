/* SPDX-License-Identifier: Apache-2.0 */
/* native_tuner.c: the type Tuner: a kernel with its configurations, of which triton's Autotuner is a subclass.
 *
 *     Tuner.__init__(function or None, arg_names, key_names)
 *     tuner[grid](*args, **kwargs)       the configuration that is known for this key, else Python's run
 *     tuner.remember(args, kwargs, config_kwargs, config)
 *
 * The key of a launch is what Triton's is: the values of the key arguments and the dtypes of all arguments that have
 * one. A launch whose key is known is a plain launch with the configuration's keywords, behind the configuration's own
 * hook; all else is Python's business. */
#include "native.h"

typedef struct Tuner {
    PyObject_HEAD PyObject *function; /* a Function, or NULL: Python's run does it all */
    PyObject *names;                  /* tuple: parameters */
    PyObject *keys;                   /* frozenset of names */
    PyObject *known;                  /* dict: key -> (keywords of the configuration, itself) */
    PyObject *last;                   /* the configuration of the last launch: best_config */
} Tuner;

typedef struct TunerBound {
    PyObject_HEAD PyObject *tuner, *grid;
} TunerBound;

static PyTypeObject *tuner_bound_type;
static PyObject *dtype_text, *warmup_text, *hook_text;

static int tuner_setup(PyObject *self, PyObject *args, PyObject *kwargs) {
    Tuner *t = (Tuner *)self;
    PyObject *function, *names, *keys;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "OO!O", &function, &PyTuple_Type, &names, &keys)) return -1;
    if (function != Py_None && !PyObject_TypeCheck(function, function_type)) {
        PyErr_SetString(PyExc_TypeError, "a tuner has a jit function, or None");
        return -1;
    }
    PyObject *set = PyFrozenSet_New(keys), *known = PyDict_New();
    if (!set || !known) {
        Py_XDECREF(set);
        Py_XDECREF(known);
        return -1;
    }
    replace(&t->function, function == Py_None ? NULL : Py_NewRef(function));
    replace(&t->names, Py_NewRef(names));
    replace(&t->keys, set);
    replace(&t->known, known);
    return 0;
}

/* One argument of the key: its value, if it is a key argument, and its dtype, if it has one. */
static bool add_to_key(const Tuner *t, PyObject *list, PyObject *name, PyObject *value) {
    int is_key = name ? PySet_Contains(t->keys, name) : 0;
    if (is_key < 0 || (is_key && (PyList_Append(list, name) < 0 || PyList_Append(list, value) < 0))) return false;
    if (PyLong_Check(value) || PyFloat_Check(value) || value == Py_None || PyUnicode_Check(value))
        return PyList_Append(list, (PyObject *)Py_TYPE(value)) == 0; /* 1, 1.0 and True are equal, and differ */
    PyObject *dtype = PyObject_GetAttr(value, dtype_text);
    if (!dtype) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
        PyErr_Clear();
        return true;
    }
    bool ok = PyList_Append(list, dtype) == 0;
    Py_DECREF(dtype);
    return ok;
}

/* A tuple that is equal for launches of one configuration. */
static PyObject *make_key(const Tuner *t, PyObject *args, PyObject *kwargs) {
    PyObject *list = PyList_New(0), *name, *value;
    Py_ssize_t count = PyTuple_Size(args), named = PyTuple_Size(t->names), at = 0;
    bool ok = list != NULL;
    for (Py_ssize_t i = 0; ok && i < count; i++)
        ok = add_to_key(t, list, i < named ? PyTuple_GetItem(t->names, i) : NULL, PyTuple_GetItem(args, i));
    while (ok && kwargs && PyDict_Next(kwargs, &at, &name, &value))
        ok = PyList_Append(list, name) == 0 && add_to_key(t, list, name, value);
    PyObject *key = ok ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return key;
}

static bool tuner_ready(const Tuner *t) {
    if (t->known) return true;
    PyErr_SetString(PyExc_RuntimeError, "this tuner was never set up: its __init__ has not run");
    return false;
}

static PyObject *tuner_remember(PyObject *self, PyObject *args) {
    Tuner *t = (Tuner *)self;
    PyObject *positional, *named, *words, *config;
    if (!tuner_ready(t) || !PyArg_ParseTuple(args, "O!O!O!O", &PyTuple_Type, &positional, &PyDict_Type, &named,
                                             &PyDict_Type, &words, &config))
        return NULL;
    PyObject *key = make_key(t, positional, named), *pair = key ? PyTuple_Pack(2, words, config) : NULL;
    bool ok = pair && PyDict_SetItem(t->known, key, pair) == 0;
    if (!ok && pair && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear(); /* an argument that cannot be hashed: Python's run it is, each time */
        ok = true;
    }
    Py_XDECREF(key);
    Py_XDECREF(pair);
    return ok ? Py_NewRef(Py_None) : NULL;
}

static PyObject *tuner_forget(PyObject *self, PyObject *ignored) {
    (void)ignored;
    if (!tuner_ready((Tuner *)self)) return NULL;
    PyDict_Clear(((Tuner *)self)->known);
    Py_CLEAR(((Tuner *)self)->last);
    return Py_NewRef(Py_None);
}

static PyObject *tuner_subscript(PyObject *self, PyObject *grid) {
    if (!tuner_ready((Tuner *)self)) return NULL;
    TunerBound *b = PyObject_New(TunerBound, tuner_bound_type);
    if (!b) return NULL;
    b->tuner = Py_NewRef(self);
    b->grid = Py_NewRef(grid);
    return (PyObject *)b;
}

static void tuner_bound_dealloc(PyObject *self) {
    TunerBound *b = (TunerBound *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(b->tuner);
    Py_DECREF(b->grid);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* The keywords of a launch whose configuration is known, a new reference; NULL without an error: it is not. */
static PyObject *known_keywords(Tuner *t, PyObject *args, PyObject *kwargs, PyObject **config) {
    PyObject *key = make_key(t, args, kwargs);
    if (!key) return NULL;
    PyObject *pair = PyDict_GetItemWithError(t->known, key);
    Py_DECREF(key);
    if (!pair) {
        if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Clear(); /* not to be hashed */
        return NULL;
    }
    PyObject *words = PyTuple_GetItem(pair, 0);
    *config = PyTuple_GetItem(pair, 1);
    if (t->last != *config) {
        replace(&t->last, Py_NewRef(*config));
        if (PyObject_SetAttrString((PyObject *)t, "best_config", *config) < 0) return NULL;
    }
    if (!kwargs || PyDict_Size(kwargs) == 0) return Py_NewRef(words);
    PyObject *all = PyDict_Copy(kwargs);
    if (all && PyDict_Update(all, words) < 0) Py_CLEAR(all);
    return all;
}

/* The hook of the configuration sees all arguments by name, and may change the objects among them. */
static bool call_hook(const Tuner *t, PyObject *config, PyObject *grid, PyObject *args, PyObject *all) {
    PyObject *hook = PyObject_GetAttr(config, hook_text);
    if (!hook || hook == Py_None) {
        Py_XDECREF(hook);
        return hook != NULL;
    }
    PyObject *dict = PyDict_New(), *answer = NULL;
    bool ok = dict != NULL;
    Py_ssize_t count = PyTuple_Size(args), named = PyTuple_Size(t->names);
    for (Py_ssize_t i = 0; ok && i < count && i < named; i++)
        ok = PyDict_SetItem(dict, PyTuple_GetItem(t->names, i), PyTuple_GetItem(args, i)) == 0;
    ok = ok && PyDict_SetItemString(dict, "grid", grid) == 0 && PyDict_SetItem(dict, warmup_text, Py_False) == 0 &&
         PyDict_Update(dict, all) == 0;
    if (ok) answer = PyObject_CallFunctionObjArgs(hook, dict, NULL);
    Py_XDECREF(dict);
    Py_DECREF(hook);
    Py_XDECREF(answer);
    return answer != NULL;
}

static PyObject *tuner_bound_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    TunerBound *b = (TunerBound *)self;
    Tuner *t = (Tuner *)b->tuner;
    Function *f = (Function *)t->function;
    if (f && !f->hooked && !session.hooks) {
        PyObject *config = NULL, *all = known_keywords(t, args, kwargs, &config);
        if (PyErr_Occurred()) return NULL;
        if (all) {
            PyObject *result =
                call_hook(t, config, b->grid, args, all) ? launch_run(f, b->grid, args, all, PURPOSE_LAUNCH) : NULL;
            Py_DECREF(all);
            return result;
        }
    }
    PyObject *run = PyObject_GetAttrString(b->tuner, "run"), *named = kwargs ? PyDict_Copy(kwargs) : PyDict_New(),
             *result = NULL;
    if (run && named && PyDict_SetItemString(named, "grid", b->grid) == 0 &&
        PyDict_SetItem(named, warmup_text, Py_False) == 0)
        result = PyObject_Call(run, args, named);
    Py_XDECREF(run);
    Py_XDECREF(named);
    return result;
}

static int tuner_traverse(PyObject *self, visitproc visit, void *arg) {
    Tuner *t = (Tuner *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(t->function);
    Py_VISIT(t->names);
    Py_VISIT(t->keys);
    Py_VISIT(t->known);
    Py_VISIT(t->last);
    return 0;
}

static int tuner_clear(PyObject *self) {
    Tuner *t = (Tuner *)self;
    Py_CLEAR(t->function);
    Py_CLEAR(t->names);
    Py_CLEAR(t->keys);
    Py_CLEAR(t->known);
    Py_CLEAR(t->last);
    return 0;
}

static void tuner_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    tuner_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

bool tuner_init(PyObject *module) {
    static PyMethodDef methods[] = {{"remember", tuner_remember, METH_VARARGS,
                                     "remember(args, kwargs, config): launches like this one take the configuration"},
                                    {"forget", tuner_forget, METH_NOARGS, "drops what was remembered"},
                                    {0}};
    static PyType_Slot slots[] = {{Py_tp_init, tuner_setup},
                                  {Py_tp_dealloc, tuner_dealloc},
                                  {Py_tp_traverse, tuner_traverse},
                                  {Py_tp_clear, tuner_clear},
                                  {Py_tp_methods, methods},
                                  {Py_mp_subscript, tuner_subscript},
                                  {Py_tp_doc, "a kernel with configurations"},
                                  {0, NULL}};
    static PyType_Spec spec = {"tilewright._native.Tuner", sizeof(Tuner), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    static PyType_Slot bound_slots[] = {{Py_tp_dealloc, tuner_bound_dealloc},
                                        {Py_tp_call, tuner_bound_call},
                                        {Py_tp_doc, "a tuned kernel with its grid"},
                                        {0, NULL}};
    static PyType_Spec bound_spec = {"tilewright._native.TunerBound", sizeof(TunerBound), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, bound_slots};
    PyTypeObject *tuner_type = (PyTypeObject *)PyType_FromSpec(&spec);
    tuner_bound_type = (PyTypeObject *)PyType_FromSpec(&bound_spec);
    if (tuner_bound_type) forbid_new(tuner_bound_type);
    dtype_text = PyUnicode_InternFromString("dtype");
    warmup_text = PyUnicode_InternFromString("warmup");
    hook_text = PyUnicode_InternFromString("pre_hook");
    return tuner_type && tuner_bound_type && dtype_text && warmup_text && hook_text &&
           PyModule_AddObjectRef(module, "Tuner", (PyObject *)tuner_type) == 0;
}
