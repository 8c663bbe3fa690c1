/* SPDX-License-Identifier: Apache-2.0 */
/* native_function.c: the type Function: a jit function with its source and parameters, and
 * kernel[grid] (Bound).
 *
 *     Function(name, file, source, first line, globals, closure, [(parameter, default, has default,
 * plain), ..]) f[grid](*args, num_warps=4, **kw)        launches f.source = text another source;
 * what was compiled is dropped
 *
 * triton.JITFunction is a subclass. With a list of outputs and a dict of options it is a shaped function, of TileLang:
 * shapes of arguments are part of what is compiled, and a launch makes the outputs and returns them. */
#include "native.h"

#include <string.h>
#include <time.h>

PyTypeObject *function_type;
static PyTypeObject *bound_type;

static bool learn_parameters(Function *f) {
    for (int i = 0; i < f->count; i++) {
        tw_param_info info = {.struct_size = sizeof info};
        if (tw_module_param_at(f->module, 0, (size_t)i, &info) != TW_OK) {
            PyErr_Format(PyExc_RuntimeError, "the source of `%U` has fewer parameters than the function", f->name);
            return false;
        }
        f->params[i].constant = info.kind == TW_PARAM_CONSTANT;
        f->params[i].typed = info.dtype != TW_DTYPE_ANY;
    }
    return true;
}

static void drop_params(Function *f) {
    for (int i = 0; i < f->count; i++) {
        Py_XDECREF(f->params[i].name);
        Py_XDECREF(f->params[i].fallback);
    }
    PyMem_Free(f->params);
    f->params = NULL;
    f->count = 0;
}

static bool set_params(Function *f, PyObject *list);

/* The row of a parameter as Python states it, or NULL. */
static PyObject *given_row(const Function *f, const char *name) {
    for (Py_ssize_t i = 0; i < PyList_Size(f->given); i++) {
        PyObject *row = PyList_GetItem(f->given, i);
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(row, 0), name) == 0) return row;
    }
    return NULL;
}

/* A shaped function has the parameters that the door finds: sizes and outputs that the body names, too. */
static bool adopt_parameters(Function *f) {
    PyObject *list = PyList_New(0);
    tw_param_info info = {.struct_size = sizeof info};
    bool hidden[MAX_PARAMS] = {0};
    for (size_t i = 0; list && i < MAX_PARAMS && tw_module_param_at(f->module, 0, i, &info) == TW_OK; i++) {
        PyObject *row = given_row(f, info.name);
        hidden[i] = !row;
        row = row ? Py_NewRef(row) : Py_BuildValue("(sOOO)", info.name, Py_None, Py_False, Py_True);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    if (!list) return false;
    drop_params(f);
    bool ok = set_params(f, list) && learn_parameters(f);
    Py_DECREF(list);
    for (int i = 0; ok && i < f->count; i++) {
        Param *p = &f->params[i];
        p->hidden = hidden[i] && p->constant;
        int output = f->outputs ? PySequence_Contains(f->outputs, p->name) : 0;
        ok = output >= 0;
        p->output = output == 1 || (hidden[i] && !p->constant);
    }
    return ok;
}

/* What the arguments are made of; the texts live as long as f. */
static bool read_structures(const Function *f, tw_pair *pairs, size_t *count) {
    *count = 0;
    for (Py_ssize_t i = 0; f->structures && i < PyList_Size(f->structures); i++) {
        PyObject *row = PyList_GetItem(f->structures, i);
        if (!row || !PyTuple_Check(row) || i >= MAX_PARAMS) {
            PyErr_SetString(PyExc_TypeError, "structures are a list of pairs, one a parameter");
            return false;
        }
        if (!PyArg_ParseTuple(row, "ss", &pairs[i].name, &pairs[i].value)) return false;
        ++*count;
    }
    return true;
}

bool function_ready(const Function *f) {
    if (f->ready) return true;
    PyErr_SetString(PyExc_RuntimeError, "this function was never set up: its __init__ has not run to its end");
    return false;
}

bool function_load(Function *f, Names *names, tw_module **module) {
    Py_ssize_t size = 0;
    const char *text = PyUnicode_AsUTF8AndSize(f->source, &size),
               *file = text ? PyUnicode_AsUTF8AndSize(f->file, NULL) : NULL;
    if (!file) return false;
    tw_resolver resolver = object_resolver;
    resolver.user = names;
    tw_module_options options;
    tw_module_options_init(&options);
    options.door = f->shaped ? "tilelang" : "triton";
    options.resolver = &resolver;
    options.scope = f;
    options.first_line = f->line;
    tw_pair structures[MAX_PARAMS];
    options.structures = structures;
    if (!read_structures(f, structures, &options.structure_count) || !session_enter()) return false;
    tw_status status = tw_module_load_text(desk->context, file, text, (size_t)size, &options, module);
    return session_leave_with(status, (PyObject *)f);
}

static bool open_module(Function *f) {
    entries_forget(f);
    f->generation = session.generation;
    f->names = (Names){f, PyList_New(0), f->shaped ? NULL : PyDict_New()};
    if (!f->names.keep || (!f->shaped && !f->names.watched)) return false;
    return function_load(f, &f->names, &f->module) && (f->shaped ? adopt_parameters(f) : learn_parameters(f));
}

/* Threads that compile ahead and the one that launches may come here at once: one parses, for all of them. */
bool function_open(Function *f) {
    unsigned long me = PyThread_get_thread_ident();
    if (!function_ready(f)) return false;
    while (f->opener && f->opener != me) {
        Py_BEGIN_ALLOW_THREADS;
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        Py_END_ALLOW_THREADS;
        if (PyErr_CheckSignals() < 0) return false;
    }
    if (f->module && f->generation == session.generation) return true;
    if (!session_open()) return false;
    Desk *own = desk;
    unsigned long outer = f->opener;
    f->opener = me;
    desk = &main_desk;
    bool ok = open_module(f);
    desk = own;
    f->opener = outer;
    return ok;
}

static bool set_params(Function *f, PyObject *list) {
    Py_ssize_t count = PyList_Size(list);
    if (count < 0) return false;
    if (count > MAX_PARAMS) {
        PyErr_Format(PyExc_ValueError, "a kernel has at most %d parameters", MAX_PARAMS);
        return false;
    }
    f->params = PyMem_Calloc((size_t)count + 1, sizeof *f->params);
    if (!f->params) return PyErr_NoMemory() != NULL;
    for (; f->count < count; f->count++) {
        PyObject *name, *fallback, *row = PyList_GetItem(list, f->count);
        int plain, given;
        if (!row) return false;
        if (!PyTuple_Check(row)) {
            PyErr_SetString(PyExc_TypeError, "a parameter is a tuple");
            return false;
        }
        if (!PyArg_ParseTuple(row, "UOpp", &name, &fallback, &given, &plain)) return false;
        Param *p = &f->params[f->count];
        p->name = Py_NewRef(name);
        PyUnicode_InternInPlace(&p->name);
        p->fallback = given ? Py_NewRef(fallback) : NULL;
        p->plain = plain;
    }
    return true;
}

static int function_setup(PyObject *self, PyObject *args, PyObject *kwargs) {
    Function *f = (Function *)self;
    PyObject *name, *file, *source, *globals, *closure, *params, *structures = NULL, *outputs = NULL, *options = NULL;
    int line;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "UUUiO!OO!|O!O!O!", &name, &file, &source, &line, &PyDict_Type, &globals, &closure,
                          &PyList_Type, &params, &PyList_Type, &structures, &PyList_Type, &outputs, &PyDict_Type,
                          &options))
        return -1;
    if (closure != Py_None && !PyDict_Check(closure)) {
        PyErr_SetString(PyExc_TypeError, "a closure is a dict of cells, or None");
        return -1;
    }
    if (f->params || f->name) {
        PyErr_SetString(PyExc_RuntimeError, "a function is set up once");
        return -1;
    }
    f->name = Py_NewRef(name);
    f->file = Py_NewRef(file);
    f->source = Py_NewRef(source);
    f->line = line;
    f->globals = Py_NewRef(globals);
    f->closure = closure == Py_None ? NULL : Py_NewRef(closure);
    f->structures = Py_XNewRef(structures);
    f->shaped = outputs != NULL;
    f->outputs = Py_XNewRef(outputs);
    f->options = Py_XNewRef(options);
    f->given = PySequence_List(params);
    f->ready = f->given && set_params(f, params);
    return f->ready ? 0 : -1;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg) {
    Function *f = (Function *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(f->globals);
    Py_VISIT(f->closure);
    Py_VISIT(f->parts);
    Py_VISIT(f->given);
    Py_VISIT(f->names.keep);
    Py_VISIT(f->names.watched);
    for (int i = 0; i < f->count; i++) Py_VISIT(f->params[i].fallback);
    for (size_t i = 0; i < f->capacity; i++)
        if (f->entries[i]) Py_VISIT(f->entries[i]->result);
    return 0;
}

static int function_clear(PyObject *self) {
    Function *f = (Function *)self;
    entries_forget(f);
    Py_CLEAR(f->globals);
    Py_CLEAR(f->closure);
    Py_CLEAR(f->parts);
    Py_CLEAR(f->given);
    for (int i = 0; i < f->count; i++) Py_CLEAR(f->params[i].fallback);
    return 0;
}

static void function_dealloc(PyObject *self) {
    Function *f = (Function *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    function_clear(self);
    drop_params(f);
    Py_XDECREF(f->given);
    Py_XDECREF(f->outputs);
    Py_XDECREF(f->options);
    Py_XDECREF(f->name);
    Py_XDECREF(f->file);
    Py_XDECREF(f->source);
    Py_XDECREF(f->structures);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *get_source(PyObject *self, void *closure) {
    (void)closure;
    return function_ready((Function *)self) ? Py_NewRef(((Function *)self)->source) : NULL;
}

static int set_source(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (!function_ready((Function *)self)) return -1;
    if (!value || !PyUnicode_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "a source is a str");
        return -1;
    }
    if (!entries_may_go((Function *)self, 0)) return -1;
    entries_forget((Function *)self);
    session.sources++;
    replace(&((Function *)self)->source, Py_NewRef(value));
    return 0;
}

static PyObject *get_hooked(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((Function *)self)->hooked);
}

static int set_flag(bool *flag, PyObject *value) {
    int truth = value ? PyObject_IsTrue(value) : 0;
    if (truth < 0) return -1;
    *flag = truth;
    return 0;
}

static int set_hooked(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    return set_flag(&((Function *)self)->hooked, value);
}

static PyObject *get_debug(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((Function *)self)->debug);
}

static int set_debug(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    return set_flag(&((Function *)self)->debug, value);
}

static PyObject *get_parts(PyObject *self, void *closure) {
    PyObject *parts = ((Function *)self)->parts;
    (void)closure;
    return Py_NewRef(parts ? parts : Py_None);
}

static int set_parts(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (!value || !PyDict_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "the functions that take parts are a dict");
        return -1;
    }
    replace(&((Function *)self)->parts, Py_NewRef(value));
    return 0;
}

/* launch(grid, args, kwargs, purpose) -> what the make_kernel of the session gave */
static PyObject *function_launch(PyObject *self, PyObject *args) {
    PyObject *grid, *positional, *named;
    int purpose;
    if (!PyArg_ParseTuple(args, "OO!O!i", &grid, &PyTuple_Type, &positional, &PyDict_Type, &named, &purpose))
        return NULL;
    if (purpose < PURPOSE_LAUNCH || purpose > PURPOSE_EMIT) {
        PyErr_SetString(PyExc_ValueError,
                        "a launch is 0, a warmup 1, a sanitized launch 2, a compile ahead 3, texts 4");
        return NULL;
    }
    return launch_run((Function *)self, grid, positional, named, (Purpose)purpose);
}

/* emit(args, kwargs, target or None) -> Kernel with the texts for these arguments */
static PyObject *function_emit(PyObject *self, PyObject *args) {
    PyObject *positional, *named, *result = NULL;
    const char *target;
    if (!PyArg_ParseTuple(args, "O!O!z", &PyTuple_Type, &positional, &PyDict_Type, &named, &target)) return NULL;
    PyObject *place = Py_BuildValue("(z)", target);
    if (place) result = launch_run((Function *)self, place, positional, named, PURPOSE_EMIT);
    Py_XDECREF(place);
    return result;
}

/* parameters() -> [(name, is a constant, is an output), ..], as the compiler sees them */
static PyObject *function_parameters(PyObject *self, PyObject *ignored) {
    (void)ignored;
    Function *f = (Function *)self;
    PyObject *list = function_open(f) ? PyList_New(0) : NULL;
    for (int i = 0; list && i < f->count; i++) {
        const Param *p = &f->params[i];
        PyObject *row =
            Py_BuildValue("(OOO)", p->name, p->constant ? Py_True : Py_False, p->output ? Py_True : Py_False);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *function_forget(PyObject *self, PyObject *ignored) {
    (void)ignored;
    if (!entries_may_go((Function *)self, 0)) return NULL;
    entries_forget((Function *)self);
    return Py_NewRef(Py_None);
}

static PyObject *function_results(PyObject *self, PyObject *ignored) {
    (void)ignored;
    Function *f = (Function *)self;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < f->capacity; i++)
        if (f->entries[i] && f->entries[i]->result && PyList_Append(list, f->entries[i]->result) < 0) Py_CLEAR(list);
    return list;
}

/* lower(result, target or None) -> Kernel with the IR after each pass, for a result that a launch gave */
static PyObject *function_lower(PyObject *self, PyObject *args) {
    Function *f = (Function *)self;
    PyObject *result;
    const char *target;
    if (!PyArg_ParseTuple(args, "Oz", &result, &target)) return NULL;
    for (size_t i = 0; i < f->capacity; i++) {
        Entry *e = f->entries[i];
        if (!e || e->result != result) continue;
        f->users++;
        PyObject *kernel = entry_lower(f, e, target);
        f->users--;
        return kernel;
    }
    PyErr_SetString(PyExc_RuntimeError, "the function's source has changed since this kernel was compiled");
    return NULL;
}

/* names() -> [(dict or cell, name, value), ..]: the names of the program that compiled kernels rely on */
static PyObject *function_names(PyObject *self, PyObject *ignored) {
    (void)ignored;
    const Function *f = (Function *)self;
    return f->names.watched ? PyDict_Values(f->names.watched) : PyList_New(0);
}

/* kernel[grid] */
typedef struct Bound {
    PyObject_HEAD PyObject *function, *grid;
} Bound;

static PyObject *function_subscript(PyObject *self, PyObject *grid) {
    Bound *b = PyObject_New(Bound, bound_type);
    if (!b) return NULL;
    b->function = Py_NewRef(self);
    b->grid = Py_NewRef(grid);
    return (PyObject *)b;
}

static void bound_dealloc(PyObject *self) {
    Bound *b = (Bound *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(b->function);
    Py_DECREF(b->grid);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *bound_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    Bound *b = (Bound *)self;
    Function *f = (Function *)b->function;
    if (f->hooked || session.hooks)
        return PyObject_CallMethod(b->function, "run_hooked", "OOO", b->grid, args, kwargs ? kwargs : Py_None);
    return launch_run(f, b->grid, args, kwargs, PURPOSE_LAUNCH);
}

bool function_init(PyObject *module) {
    static PyMethodDef methods[] = {
        {"launch", function_launch, METH_VARARGS,
         "launch(grid, args, kwargs, purpose): 0 launches, 1 compiles, 2 launches sanitized, 3 compiles into the cache "
         "on disk, 4 emits texts for the target in the place of the grid"},
        {"forget", function_forget, METH_NOARGS, "drops all compiled kernels"},
        {"results", function_results, METH_NOARGS, "all that launches have returned so far"},
        {"lower", function_lower, METH_VARARGS,
         "lower(result, target): the Kernel behind a result, with its IR after each pass"},
        {"emit", function_emit, METH_VARARGS,
         "emit(args, kwargs, target or None) -> Kernel with the texts for these arguments"},
        {"parameters", function_parameters, METH_NOARGS, "[(name, is a constant, is an output), ..]"},
        {"names", function_names, METH_NOARGS, "the names of the program that compiled kernels rely on"},
        {0}};
    static PyGetSetDef getters[] = {{"source", get_source, set_source, "the text that is compiled", NULL},
                                    {"debug", get_debug, set_debug, "asserts stop a launch", NULL},
                                    {"parts", get_parts, set_parts, "functions that take arguments in parts", NULL},
                                    {"hooked", get_hooked, set_hooked, "run_hooked sees every launch", NULL},
                                    {0}};
    static PyType_Slot slots[] = {
        {Py_tp_init, function_setup},          {Py_tp_dealloc, function_dealloc}, {Py_tp_traverse, function_traverse},
        {Py_tp_clear, function_clear},         {Py_tp_methods, methods},          {Py_tp_getset, getters},
        {Py_mp_subscript, function_subscript}, {Py_tp_doc, "a jit function"},     {0, NULL}};
    static PyType_Spec spec = {"tilewright._native.Function", sizeof(Function), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    static PyType_Slot bound_slots[] = {{Py_tp_dealloc, bound_dealloc},
                                        {Py_tp_call, bound_call},
                                        {Py_tp_doc, "a jit function with its grid"},
                                        {0, NULL}};
    static PyType_Spec bound_spec = {"tilewright._native.Bound", sizeof(Bound), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, bound_slots};
    function_type = (PyTypeObject *)PyType_FromSpec(&spec);
    bound_type = (PyTypeObject *)PyType_FromSpec(&bound_spec);
    if (bound_type) forbid_new(bound_type);
    return function_type && bound_type && PyModule_AddObjectRef(module, "Function", (PyObject *)function_type) == 0 &&
           PyModule_AddObjectRef(module, "Bound", (PyObject *)bound_type) == 0;
}
