/* SPDX-License-Identifier: Apache-2.0 */
/* native_cuda.c: where arguments lie, and on which stream a launch on a CUDA device goes.
 *
 * A tensor lies on the host, on a CUDA device, or does not say (a class of the user with data_ptr()
 * and dtype alone). All tensors of a launch lie in one place, which decides the target; those that do
 * not say follow the others, or else the active driver. Launches go to torch's current stream of the
 * device; without torch to the stream that an argument's __cuda_array_interface__ names, else to the
 * default one. One wrapped stream of the library stands for all of them. */
#include "native.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static PyObject *raw_stream; /* torch._C._cuda_getCurrentRawStream */

/* A borrowed module that has been imported already, or NULL. */
static PyObject *loaded_module(const char *name) {
    PyObject *modules = PySys_GetObject("modules");
    return modules ? PyDict_GetItemString(modules, name) : NULL;
}

/* The number behind torch.device's words: device.type and device.index. */
bool cuda_device_of(PyObject *object, const char *name, int32_t *device) {
    PyObject *where = PyObject_GetAttrString(object, "device");
    PyObject *type = where ? PyObject_GetAttrString(where, "type") : NULL;
    PyObject *index = type ? PyObject_GetAttrString(where, "index") : NULL;
    bool ok = false;
    if (index && PyUnicode_Check(type) && PyUnicode_CompareWithASCIIString(type, "cuda") == 0) {
        *device = index == Py_None ? 0 : (int32_t)PyLong_AsLong(index);
        ok = !PyErr_Occurred();
    } else if (where) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError,
                     "argument `%s` lies on the device %S; kernels run on the CPU and on CUDA "
                     "devices",
                     name, where);
    }
    Py_XDECREF(index);
    Py_XDECREF(type);
    Py_XDECREF(where);
    return ok;
}

static const char *place_name(int32_t device, char text[24]) {
    if (device == DEVICE_HOST) return "the CPU";
    PyOS_snprintf(text, 24, "cuda:%d", (int)device);
    return text;
}

static bool refuse_mixture(const Call *c, int first, int other) {
    char x[24], y[24];
    PyErr_Format(PyExc_TypeError,
                 "argument `%U` lies on %s, argument `%U` on %s; all tensors of a launch lie on one "
                 "device",
                 c->f->params[other].name, place_name(c->memory[other].device, x), c->f->params[first].name,
                 place_name(c->memory[first].device, y));
    return false;
}

/* An object that names an address and no storage may name any: a page that is nobody's is told instead of read. */
static bool is_mapped(const Memory *m) {
    if (m->size < MEMORY_ENDLESS) return true;
    uintptr_t page = (uintptr_t)m->data & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    return msync((void *)page, 1, MS_ASYNC) == 0 || errno != ENOMEM;
}

static bool refuse_unmapped(const Call *c) {
    for (int i = 0; i < c->count; i++) {
        if (c->tags[i] <= TAG_POINTER || is_mapped(&c->memory[i])) continue;
        PyErr_Format(PyExc_TypeError, "argument `%U` names the address %p, where this process has no memory",
                     c->f->params[i].name, c->memory[i].data);
        return false;
    }
    return true;
}

/* The device where the tensors lie, before their addresses are looked at. */
static bool find_place(Call *c) {
    int first = -1, empty = -1; /* an array without elements lies nowhere, if others lie somewhere */
    bool any = false;
    for (int i = 0; i < c->count; i++) {
        if (c->tags[i] <= TAG_POINTER) continue;
        any = true;
        if (c->memory[i].device == DEVICE_ANY) continue;
        if (c->memory[i].size == 0) {
            empty = empty < 0 ? i : empty;
            continue;
        }
        if (first < 0) first = i;
        if (c->memory[i].device != c->memory[first].device) return refuse_mixture(c, first, i);
    }
    if (first < 0) first = empty;
    c->device = first >= 0 ? c->memory[first].device : DEVICE_HOST;
    if (first >= 0 || !any || !session.default_device) return true;
    PyObject *answer = PyObject_CallNoArgs(session.default_device);
    if (answer && answer != Py_None) c->device = (int32_t)PyLong_AsLong(answer);
    Py_XDECREF(answer);
    return !PyErr_Occurred();
}

bool cuda_place_call(Call *c) {
    return find_place(c) && (c->device != DEVICE_HOST || refuse_unmapped(c));
}

int32_t cuda_home(const void *address) {
    int32_t device = -1;
    if (session_open() && session_try_enter()) {
        tw_target_device_of(desk->context, "cuda", address, &device);
        session_leave();
    }
    return device < 0 ? 0 : device; /* without a driver the launch says what is missing */
}

bool cuda_current_stream(int32_t device, void **stream) {
    *stream = NULL;
    if (!raw_stream) {
        PyObject *torch = loaded_module("torch._C");
        if (!torch) return true;
        raw_stream = PyObject_GetAttrString(torch, "_cuda_getCurrentRawStream");
        if (!raw_stream) {
            PyErr_Clear(); /* a torch without CUDA */
            return true;
        }
    }
    PyObject *number = PyLong_FromLong(device);
    PyObject *handle = number ? PyObject_CallFunctionObjArgs(raw_stream, number, NULL) : NULL;
    Py_XDECREF(number);
    if (!handle) return false;
    *stream = PyLong_AsVoidPtr(handle);
    Py_DECREF(handle);
    return !PyErr_Occurred();
}

bool cuda_stream_of(const Call *c, void **stream) {
    if (!cuda_current_stream(c->device, stream)) return false;
    for (int i = 0; !*stream && !raw_stream && i < c->count; i++)
        if (c->tags[i] > TAG_POINTER) *stream = c->memory[i].stream;
    return true;
}
