/* SPDX-License-Identifier: Apache-2.0 */
/* native_module.c: the module tilewright._native: its init and the functions that are not methods.
 *
 *     version()         "0.1.0"
 *     builtins()        [(name, places, signature, about, refused), ..]: from these
 * `triton.language` is made dtypes()          [(name, bytes), ..] targets()         [(name, about,
 * available, note), ..] document(page)    a page of the manual configure(**kw)   the Python
 * functions that the extension calls (see Session) */
#include "native.h"

static PyObject *get_version(PyObject *self, PyObject *ignored) {
    (void)self, (void)ignored;
    return PyUnicode_FromString(tw_version());
}

static PyObject *get_builtins(PyObject *self, PyObject *ignored) {
    (void)self, (void)ignored;
    PyObject *list = session_open() ? PyList_New(0) : NULL;
    tw_builtin_info info = {.struct_size = sizeof info};
    for (size_t i = 0; list && tw_builtin_info_at(desk->context, i, &info) == TW_OK; i++) {
        PyObject *row = Py_BuildValue("(ssssO)", info.name, info.places, info.signature, info.about,
                                      info.refused ? Py_True : Py_False);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *get_dtypes(PyObject *self, PyObject *ignored) {
    (void)self, (void)ignored;
    static const struct {
        const char *name;
        int bytes;
    } rows[] = {
#define X(id, number, text, bytes) {text, bytes},
        TW_DTYPE_LIST(X)
#undef X
    };
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < sizeof rows / sizeof *rows; i++) {
        PyObject *row = Py_BuildValue("(si)", rows[i].name, rows[i].bytes);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *get_targets(PyObject *self, PyObject *ignored) {
    (void)self, (void)ignored;
    PyObject *list = session_open() ? PyList_New(0) : NULL;
    tw_target_info info = {.struct_size = sizeof info};
    for (size_t i = 0; list; i++) {
        if (!session_enter()) return NULL;
        tw_status status = tw_target_info_at(desk->context, i, &info);
        session_reenter_python();
        PyObject *row = NULL;
        if (status == TW_OK)
            row = Py_BuildValue("(ssOs)", info.name, info.about, info.available ? Py_True : Py_False, info.note);
        session_leave_python();
        session_leave();
        if (status != TW_OK) break;
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *get_document(PyObject *self, PyObject *args) {
    (void)self;
    const char *name, *text = NULL;
    if (!PyArg_ParseTuple(args, "s", &name) || !session_open() || !session_enter()) return NULL;
    tw_status status = tw_document(desk->context, name, &text);
    session_reenter_python();
    PyObject *page = status == TW_OK ? PyUnicode_FromString(text) : NULL;
    session_leave_python();
    return session_leave_with(status, NULL) ? page : NULL;
}

static PyObject *configure(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"make_error",     "dtype_name", "make_kernel",  "plain_globals",   "default_device",
                            "before_compile", "cache_dir",  "kernel_ready", "library_options", "block_constants",
                            "source_of",      NULL};
    enum { COUNT = sizeof names / sizeof *names - 1 };
    PyObject *given[COUNT] = {NULL};
    PyObject **to[COUNT] = {&session.make_error,    &session.dtype_name,     &session.make_kernel,
                            &session.plain_globals, &session.default_device, &session.before_compile,
                            &session.cache_dir,     &session.kernel_ready,   &session.library_options,
                            &session.block_constants, &session.source_of};
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOOOOUOOO!O", names, &given[0], &given[1], &given[2], &given[3],
                                     &given[4], &given[5], &given[6], &given[7], &given[8], &PyDict_Type, &given[9],
                                     &given[10]))
        return NULL;
    for (int i = 0; i < COUNT; i++)
        if (given[i]) replace(to[i], Py_NewRef(given[i]));
    return Py_NewRef(Py_None);
}

static PyObject *get_compiling(PyObject *self, PyObject *ignored) {
    (void)self, (void)ignored;
    if (!desk->compiling) return Py_NewRef(Py_None);
    return PyUnicode_FromString(desk->compiling);
}

static PyObject *cancel_ahead(PyObject *self, PyObject *ignored) {
    (void)self, (void)ignored;
    session_cancel_desks();
    return Py_NewRef(Py_None);
}

static PyObject *count_hook(PyObject *self, PyObject *args) {
    int change;
    (void)self;
    if (!PyArg_ParseTuple(args, "i", &change)) return NULL;
    session.hooks += change;
    return Py_NewRef(Py_None);
}

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void) {
    static PyMethodDef methods[] = {
        {"version", get_version, METH_NOARGS, "the library's version"},
        {"builtins", get_builtins, METH_NOARGS, "what a Triton kernel can call"},
        {"dtypes", get_dtypes, METH_NOARGS, "names and sizes of the dtypes"},
        {"targets", get_targets, METH_NOARGS, "the targets, and whether they can run here"},
        {"document", get_document, METH_VARARGS, "a page of the manual"},
        {"compiling", get_compiling, METH_NOARGS, "\"cuda\" or \"cpu\" while a kernel is compiled for it, else None"},
        {"run_file", (PyCFunction)(void (*)(void))run_file, METH_VARARGS | METH_KEYWORDS,
         "run_file(path, kernel, grid, args, options, target, sanitize, emulate): launches a kernel of a file"},
        {"cancel_ahead", cancel_ahead, METH_NOARGS, "ends all compiles ahead that are under way"},
        {"count_hook", count_hook, METH_VARARGS,
         "count_hook(1 or -1): while there are launch hooks, run_hooked sees every launch"},
        {"configure", (PyCFunction)(void (*)(void))configure, METH_VARARGS | METH_KEYWORDS,
         "the Python functions that the extension calls"},
        {0}};
    static struct PyModuleDef def = {
        PyModuleDef_HEAD_INIT, "tilewright._native", "Tilewright's library", -1, methods, NULL, NULL, NULL, NULL};
    PyObject *module = PyModule_Create(&def);
    if (!module) return NULL;
    if (session_init() && objects_init(module) && arguments_init() && parts_init() && entry_init() &&
        kernel_init(module) && function_init(module) && tuner_init(module))
        return module;
    Py_DECREF(module);
    if (!PyErr_Occurred()) PyErr_NoMemory();
    return NULL;
}
