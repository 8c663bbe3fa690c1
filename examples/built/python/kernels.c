/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c: a Python module that carries built kernels and nothing else: `kernels.add(x, y, out)` on objects with
 * buffers of float32 (numpy's arrays, array.array("f"), memoryview). Where it runs neither Tilewright nor a compiler is
 * needed.
 *
 *     tilewright build kernels/triton/add.py ... -o add && ar rcs libkernels.a add.o
 *     cc -shared -fPIC -I. $(python3-config --includes) \
 *        examples/built/python/kernels.c libkernels.a -lm -lpthread -o kernels.so
 *     python3 -c 'import kernels'
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "add.h"

/* A buffer of float32 without gaps; false: a Python error is set. */
static int get_floats(PyObject *object, Py_buffer *view, int flags) {
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags) < 0) return 0;
    if (view->format && strcmp(view->format, "f") == 0) return 1;
    PyBuffer_Release(view);
    PyErr_SetString(PyExc_TypeError, "a buffer of float32 is expected");
    return 0;
}

static PyObject *call_add(PyObject *module, PyObject *args) {
    enum { BLOCK = 1024 };
    PyObject *objects[3];
    Py_buffer views[3];
    int32_t result = 0;
    int have = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOO", &objects[0], &objects[1], &objects[2])) return NULL;
    while (have < 3 && get_floats(objects[have], &views[have], have == 2 ? PyBUF_WRITABLE : 0)) have++;
    if (have == 3) {
        size_t count[3];
        for (int i = 0; i < 3; i++) count[i] = (size_t)views[i].len / sizeof(float);
        if (count[0] != count[2] || count[1] != count[2] || count[2] > INT32_MAX) {
            PyErr_SetString(PyExc_ValueError, "x, y and out must have the same length, below 2^31");
        } else {
            int64_t blocks = ((int64_t)count[2] + BLOCK - 1) / BLOCK;
            Py_BEGIN_ALLOW_THREADS
            result = add_kernel(views[0].buf, count[0], views[1].buf, count[1], views[2].buf, count[2],
                                (int32_t)count[2], blocks, 1, 1, NULL);
            Py_END_ALLOW_THREADS
            if (result) PyErr_SetString(PyExc_RuntimeError, add_kernel_error(result));
        }
    }
    while (have--) PyBuffer_Release(&views[have]);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {{"add", call_add, METH_VARARGS, "add(x, y, out): out = x + y"}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "kernels", .m_size = 0, .m_methods = methods};

PyMODINIT_FUNC PyInit_kernels(void) { return PyModule_Create(&definition); }
