/* SPDX-License-Identifier: Apache-2.0 */
/* native_run.c: run_file: a kernel of any door (Triton, TileLang, Tile C, IR), out of a file, on arrays of the program.
 *
 *     run_file(path, kernel or None, grid or None, {name: number, text, None, or (array, shape, strides)},
 *              {option: text}, target, sanitize, emulate)
 *
 * What `tilewright run` does on the command line; tilewright.run is its face in Python. Strides count elements. */
#include "native.h"

#include <string.h>

typedef struct Run {
    tw_module *module;
    tw_kernel *kernel;
    size_t index; /* of the kernel */
    int count;
    tw_arg args[MAX_PARAMS];
    Memory memory[MAX_PARAMS];
    tw_buffer *buffers[MAX_PARAMS];
    const char *target;
    int sanitize, emulate;
} Run;

static bool read_numbers(PyObject *tuple, const char *name, int64_t *to) {
    Py_ssize_t count = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (count < 0 || count > TW_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "argument `%s`: arrays have at most %d axes", name, TW_MAX_RANK);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) to[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    return !PyErr_Occurred();
}

/* Elements of the array that lie below its first one; -1, with an error: more than memory can hold. */
static int64_t elements_below(int count, const int64_t *extents, const int64_t *steps, const char *name) {
    int64_t below = 0, reach;
    for (int d = 0; d < count; d++) {
        if (extents[d] < 1) return 0;
        if (steps[d] >= 0) continue;
        if (__builtin_mul_overflow(extents[d] - 1, -steps[d], &reach) || __builtin_add_overflow(below, reach, &below)) {
            PyErr_Format(PyExc_ValueError, "argument `%s`: its strides reach beyond all memory", name);
            return -1;
        }
    }
    return below;
}

static bool take_array(Run *run, int i, const char *name, PyObject *triple) {
    PyObject *array, *shape, *strides;
    int64_t extents[TW_MAX_RANK], steps[TW_MAX_RANK];
    tw_arg number;
    if (!PyArg_ParseTuple(triple, "OO!O!", &array, &PyTuple_Type, &shape, &PyTuple_Type, &strides)) return false;
    ArgumentKind kind = argument_take(array, name, &number, &run->memory[i]);
    if (kind == ARGUMENT_ERROR || !read_numbers(shape, name, extents) || !read_numbers(strides, name, steps))
        return false;
    if (PyTuple_Size(shape) != PyTuple_Size(strides)) {
        PyErr_Format(PyExc_ValueError, "argument `%s` has %zd extents and %zd strides", name, PyTuple_Size(shape),
                     PyTuple_Size(strides));
        return false;
    }
    if (kind != ARGUMENT_MEMORY) {
        PyErr_Format(PyExc_TypeError, "argument `%s` is no array", name);
        return false;
    }
    const Memory *m = &run->memory[i];
    int64_t below = elements_below((int)PyTuple_Size(shape), extents, steps, name);
    if (below < 0) return false;
    if (below && !m->view.obj) {
        PyErr_Format(PyExc_ValueError,
                     "argument `%s` has a negative stride, and says not where its memory begins; "
                     "pass a copy",
                     name);
        return false;
    }
    tw_buffer_options options;
    tw_buffer_options_init(&options);
    size_t before = (size_t)below * tw_dtype_size(m->dtype);
    options.data = (char *)m->data - before; /* the library wants the lowest of its bytes */
    options.size = m->size + before;
    options.strides = steps;
    if (m->device >= 0) {
        options.target = "cuda";
        options.device = m->device;
    }
    if (!session_enter()) return false;
    tw_status status =
        tw_buffer_create(desk->context, m->dtype, (int32_t)PyTuple_Size(shape), extents, &options, &run->buffers[i]);
    run->args[i] = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = run->buffers[i]};
    return session_leave_with(status, NULL);
}

static bool take_value(Run *run, int i, const char *name, PyObject *value) {
    if (PyTuple_Check(value)) return take_array(run, i, name, value);
    if (value == Py_None) {
        run->args[i] = (tw_arg){.kind = TW_ARG_NONE};
        return true;
    }
    if (PyUnicode_Check(value)) {
        run->args[i] = (tw_arg){.kind = TW_ARG_TEXT, .value.text = PyUnicode_AsUTF8AndSize(value, NULL)};
        return run->args[i].value.text != NULL;
    }
    ArgumentKind kind = argument_take(value, name, &run->args[i], &run->memory[i]);
    if (kind != ARGUMENT_NUMBER && kind != ARGUMENT_ERROR)
        PyErr_Format(PyExc_TypeError, "argument `%s` is neither a number nor an array, a text or None", name);
    return kind == ARGUMENT_NUMBER;
}

/* Which kernel of the module: by name, or the only one. */
static bool find_kernel(Run *run, const char *name) {
    size_t count = tw_module_kernel_count(run->module);
    for (run->index = 0; run->index < count; run->index++)
        if (!name || strcmp(tw_module_kernel_name(run->module, run->index), name) == 0) break;
    if (run->index < count && (name || count == 1)) return true;
    run->index = 0; /* the compile says which there are */
    return true;
}

/* false: one of what was given is no parameter */
static bool refuse_unknown(const Run *run, PyObject *given) {
    PyObject *name, *value, *known = PyUnicode_FromString("");
    tw_param_info info = {.struct_size = sizeof info};
    Py_ssize_t at = 0;
    for (size_t i = 0; known && tw_module_param_at(run->module, run->index, i, &info) == TW_OK; i++) {
        PyObject *longer = PyUnicode_FromFormat("%U%s`%s`", known, i ? ", " : "", info.name);
        Py_DECREF(known);
        known = longer;
    }
    while (known && PyDict_Next(given, &at, &name, &value)) {
        PyObject *quoted = PyUnicode_FromFormat("`%U`", name);
        int found = quoted ? PyUnicode_Contains(known, quoted) : -1;
        Py_XDECREF(quoted);
        if (found == 1) continue;
        if (found == 0)
            PyErr_Format(PyExc_TypeError, "kernel `%s` has no parameter `%U`; it has %U",
                         tw_module_kernel_name(run->module, run->index), name, known);
        break;
    }
    Py_XDECREF(known);
    return false;
}

static bool take_arguments(Run *run, PyObject *given) {
    Py_ssize_t used = 0;
    tw_param_info info = {.struct_size = sizeof info};
    for (; run->count < MAX_PARAMS && tw_module_param_at(run->module, run->index, (size_t)run->count, &info) == TW_OK;
         run->count++) {
        PyObject *value = PyDict_GetItemString(given, info.name);
        used += value != NULL;
        if (value && !take_value(run, run->count, info.name, value)) return false;
    }
    return used == PyDict_Size(given) || refuse_unknown(run, given);
}

static bool compile_and_launch(Run *run, const char *name, PyObject *options, const int64_t *grid) {
    tw_pair pairs[64];
    size_t count = 0;
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(options, &at, &key, &value)) {
        if (count == 64 || !PyUnicode_Check(key) || !PyUnicode_Check(value)) {
            PyErr_SetString(PyExc_TypeError, "options are names with texts");
            return false;
        }
        pairs[count++] = (tw_pair){PyUnicode_AsUTF8AndSize(key, NULL), PyUnicode_AsUTF8AndSize(value, NULL)};
        if (!pairs[count - 1].name || !pairs[count - 1].value) return false;
    }
    tw_compile_options compile;
    tw_compile_options_init(&compile);
    compile.target = run->target;
    compile.args = run->args;
    compile.arg_count = (size_t)run->count;
    compile.options = pairs;
    compile.option_count = count;
    compile.sanitize = run->sanitize;
    compile.emulate = run->emulate;
    if (!session_follow_cache() || !session_enter()) return false;
    if (!session_leave_with(tw_kernel_compile(run->module, name, &compile, &run->kernel), NULL)) return false;
    tw_param_info info = {.struct_size = sizeof info};
    for (int i = 0; i < run->count; i++)
        if (tw_module_param_at(run->module, run->index, (size_t)i, &info) == TW_OK &&
            !memory_may_be_written(&run->memory[i], run->kernel, (size_t)i, info.name))
            return false;
    if (!session_enter()) return false;
    return session_leave_with(tw_kernel_launch(run->kernel, NULL, grid, run->args, (size_t)run->count), NULL);
}

static void run_end(Run *run) {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (session_enter()) {
        tw_kernel_destroy(run->kernel);
        for (int i = 0; i < MAX_PARAMS; i++) tw_buffer_destroy(run->buffers[i]);
        tw_module_destroy(run->module);
        session_leave();
    }
    for (int i = 0; i < MAX_PARAMS; i++) memory_release(&run->memory[i]);
    PyErr_Restore(kind, value, trace);
}

PyObject *run_file(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"path", "kernel", "grid", "args", "options", "target", "sanitize", "emulate", NULL};
    const char *path, *kernel;
    PyObject *grid, *given, *options;
    int64_t extents[TW_MAX_RANK] = {1, 1, 1};
    Run *run = PyMem_Calloc(1, sizeof *run);
    (void)self;
    if (!run) return PyErr_NoMemory();
    bool ok =
        PyArg_ParseTupleAndKeywords(args, kwargs, "szOO!O!zpp", names, &path, &kernel, &grid, &PyDict_Type, &given,
                                    &PyDict_Type, &options, &run->target, &run->sanitize, &run->emulate) &&
        session_open();
    if (ok && grid != Py_None && (!PyTuple_Check(grid) || PyTuple_Size(grid) < 1 || PyTuple_Size(grid) > 3)) {
        PyErr_SetString(PyExc_ValueError, "a grid has 1 to 3 extents");
        ok = false;
    }
    if (ok && grid != Py_None) ok = read_numbers(grid, "grid", extents);
    if (ok && (ok = session_enter())) {
        tw_status status = tw_module_load_file(desk->context, path, NULL, &run->module);
        ok = session_leave_with(status, NULL);
    }
    ok = ok && find_kernel(run, kernel) && take_arguments(run, given) &&
         compile_and_launch(run, kernel, options, grid == Py_None ? NULL : extents);
    run_end(run);
    PyMem_Free(run);
    return ok ? Py_NewRef(Py_None) : NULL;
}
