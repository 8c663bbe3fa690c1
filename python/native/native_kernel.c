/* SPDX-License-Identifier: Apache-2.0 */
/* native_kernel.c: the type Kernel: one compiled kernel, as Python sees it: its name and the texts
 * that the compiler made.
 *
 *     kernel.name              "add_kernel"
 *     kernel.artifacts()       {"add_kernel.c": "..."}
 *     kernel.target            "cpu", "cuda:sm_90a"
 *     kernel.resources()       {"registers": .., "local_bytes": .., "shared_bytes": .., ..}
 *     kernel.writes(0)         may it write through that parameter?
 *     kernel.explain()         what the compiler proved and chose
 *     kernel.passes()          [("source", seconds, IR text or None), ..] */
#include "native.h"

#include <string.h>

static PyTypeObject *kernel_type;

PyObject *kernel_make(tw_kernel *kernel) {
    Kernel *k = PyObject_New(Kernel, kernel_type);
    if (!k) {
        tw_kernel_destroy(kernel);
        return NULL;
    }
    k->kernel = kernel;
    k->generation = session.generation;
    return (PyObject *)k;
}

static void kernel_dealloc(PyObject *self) {
    Kernel *k = (Kernel *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (k->generation == session.generation && session_try_enter()) {
        tw_kernel_destroy(k->kernel);
        session_leave();
    }
    PyObject_Free(self);
    Py_DECREF(type);
}

static bool alive(const Kernel *k) {
    if (k->generation == session.generation) return true;
    PyErr_SetString(PyExc_RuntimeError, "this kernel was compiled before the process forked; launch it again");
    return false;
}

static PyObject *get_name(PyObject *self, void *closure) {
    (void)closure;
    return alive((Kernel *)self) ? PyUnicode_FromString(tw_kernel_name(((Kernel *)self)->kernel)) : NULL;
}

static PyObject *get_target(PyObject *self, void *closure) {
    (void)closure;
    return alive((Kernel *)self) ? PyUnicode_FromString(tw_kernel_target(((Kernel *)self)->kernel)) : NULL;
}

static PyObject *get_resources(PyObject *self, PyObject *ignored) {
    (void)ignored;
    tw_resource_info r = {.struct_size = sizeof r};
    if (!alive((Kernel *)self)) return NULL;
    tw_kernel_resources(((Kernel *)self)->kernel, &r);
    return Py_BuildValue("{s:i,s:i,s:i,s:i,s:i}", "registers", r.registers, "local_bytes", r.local_bytes,
                         "shared_bytes", r.shared_bytes, "threads", r.threads, "max_threads", r.max_threads);
}

static PyObject *get_writes(PyObject *self, PyObject *number) {
    size_t param = alive((Kernel *)self) ? PyLong_AsSize_t(number) : 0;
    return PyErr_Occurred() ? NULL : PyBool_FromLong(tw_kernel_writes(((Kernel *)self)->kernel, param));
}

static PyObject *get_shape(PyObject *self, PyObject *number) {
    size_t param = alive((Kernel *)self) ? PyLong_AsSize_t(number) : 0;
    tw_shape_info info = {.struct_size = sizeof info};
    if (PyErr_Occurred()) return NULL;
    if (tw_kernel_shape_at(((Kernel *)self)->kernel, param, &info) != TW_OK) return Py_NewRef(Py_None);
    PyObject *shape = PyTuple_New(info.rank);
    for (int d = 0; shape && d < info.rank; d++) {
        PyObject *extent = PyLong_FromLongLong(info.extents[d]);
        if (!extent || PyTuple_SetItem(shape, d, extent) < 0) Py_CLEAR(shape);
    }
    return shape ? Py_BuildValue("(sN)", tw_dtype_name(info.dtype), shape) : NULL;
}

static PyObject *get_artifacts(PyObject *self, PyObject *ignored) {
    (void)ignored;
    const Kernel *k = (Kernel *)self;
    PyObject *all = alive(k) ? PyDict_New() : NULL;
    for (size_t i = 0; all && i < tw_kernel_artifact_count(k->kernel); i++) {
        size_t size = 0;
        const char *text = tw_kernel_artifact_text(k->kernel, i, &size);
        const char *name = tw_kernel_artifact_name(k->kernel, i);
        bool bytes = strlen(name) > 6 && strcmp(name + strlen(name) - 6, ".cubin") == 0;
        PyObject *words = bytes ? PyBytes_FromStringAndSize(text, (Py_ssize_t)size)
                                : PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
        if (!words || PyDict_SetItemString(all, name, words) < 0) Py_CLEAR(all);
        Py_XDECREF(words);
    }
    return all;
}

static PyObject *get_assembly(PyObject *self, PyObject *ignored) {
    (void)ignored;
    const char *text = NULL;
    if (!alive((Kernel *)self) || !session_enter()) return NULL;
    tw_status status = tw_kernel_assembly(((Kernel *)self)->kernel, &text);
    if (!session_leave_with(status, NULL)) return NULL;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *get_explain(PyObject *self, PyObject *ignored) {
    (void)ignored;
    const char *text = alive((Kernel *)self) ? tw_kernel_explain(((Kernel *)self)->kernel) : NULL;
    return PyErr_Occurred() ? NULL : PyUnicode_FromString(text ? text : "");
}

static PyObject *get_passes(PyObject *self, PyObject *ignored) {
    (void)ignored;
    const Kernel *k = (Kernel *)self;
    PyObject *all = alive(k) ? PyList_New(0) : NULL;
    tw_pass_info info = {.struct_size = sizeof info};
    for (size_t i = 0; all && tw_kernel_pass_at(k->kernel, i, &info) == TW_OK; i++) {
        PyObject *row = Py_BuildValue("(sdz)", info.name, info.seconds, info.ir);
        if (!row || PyList_Append(all, row) < 0) Py_CLEAR(all);
        Py_XDECREF(row);
    }
    return all;
}

bool kernel_init(PyObject *module) {
    static PyMethodDef methods[] = {{"artifacts", get_artifacts, METH_NOARGS, "the texts of the target, by name"},
                                    {"resources", get_resources, METH_NOARGS, "what it takes of a device"},
                                    {"writes", get_writes, METH_O, "may it write through parameter i?"},
                                    {"shape", get_shape, METH_O, "(dtype, extents) that parameter i states, or None"},
                                    {"assembly", get_assembly, METH_NOARGS, "the assembler text: PTX of a CUDA kernel"},
                                    {"explain", get_explain, METH_NOARGS, "what the compiler proved and chose"},
                                    {"passes", get_passes, METH_NOARGS, "(name, seconds, IR or None) of each step"},
                                    {0}};
    static PyGetSetDef getters[] = {{"name", get_name, NULL, "the kernel's name", NULL},
                                    {"target", get_target, NULL, "what it is compiled for", NULL},
                                    {0}};
    static PyType_Slot slots[] = {{Py_tp_dealloc, kernel_dealloc},
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, getters},
                                  {Py_tp_doc, "a compiled kernel"},
                                  {0, NULL}};
    static PyType_Spec spec = {"tilewright._native.Kernel", sizeof(Kernel), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    kernel_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (kernel_type) forbid_new(kernel_type);
    return kernel_type && PyModule_AddObjectRef(module, "Kernel", (PyObject *)kernel_type) == 0;
}
