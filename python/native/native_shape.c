/* SPDX-License-Identifier: Apache-2.0 */
/* native_shape.c: arguments of TileLang's kernels, whose shapes are part of the kernel; the arrays that a call makes.
 *
 *     kernel = matmul(1024, 1024, 1024)      out_idx=[-1]: C is an output
 *     c = kernel(a, b)                       a and b must have the shapes that were compiled for
 *
 * Extents and strides belong to the key of an entry: the entry's buffers have them, and a launch only points these at
 * other memory. Of an output the compiled kernel states the shape; Python makes the array (make_output), of the kind of
 * the first array that was given. */
#include "native.h"

#include <string.h>

/* A sequence of integers as that many numbers; -1: an error is set. */
static int64_t read_sequence(PyObject *sequence, const char *name, int64_t *to) {
    Py_ssize_t count = PySequence_Check(sequence) ? PySequence_Size(sequence) : -1;
    if (count < 0 || count > TW_MAX_RANK) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "argument `%s`: arrays have 0 to %d axes", name, TW_MAX_RANK);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        to[i] = item ? PyLong_AsLongLong(item) : -1;
        Py_XDECREF(item);
    }
    return PyErr_Occurred() ? -1 : count;
}

static void fill_dense(Shape *s) {
    uint64_t stride = 1; /* one that is too large is refused by its span */
    for (int64_t d = s->rank; d-- > 0; stride *= s->extent[d] > 0 ? (uint64_t)s->extent[d] : 1)
        s->stride[d] = (int64_t)stride;
}

/* Python's buffers count strides in bytes. */
static bool read_view(const Memory *m, const char *name, Shape *s) {
    if (m->view.ndim > TW_MAX_RANK) {
        PyErr_Format(PyExc_TypeError, "argument `%s` has %d axes; arrays have at most %d", name, m->view.ndim,
                     TW_MAX_RANK);
        return false;
    }
    s->rank = m->view.ndim;
    for (int d = 0; m->view.shape && d < m->view.ndim; d++) s->extent[d] = m->view.shape[d];
    if (!m->view.shape) s->rank = 1, s->extent[0] = m->view.len / m->view.itemsize;
    fill_dense(s);
    for (int d = 0; m->view.shape && m->view.strides && d < m->view.ndim; d++) {
        if (m->view.strides[d] % m->view.itemsize) {
            PyErr_Format(PyExc_ValueError,
                         "argument `%s`: its strides are no multiples of its items of %zd bytes; pass a copy", name,
                         m->view.itemsize);
            return false;
        }
        s->stride[d] = m->view.strides[d] / m->view.itemsize;
    }
    return true;
}

/* `shape` as an attribute, `stride()` as torch has it, or `strides` in bytes; none: dense. */
static bool read_attributes(PyObject *object, const char *name, const Memory *m, Shape *s) {
    static PyObject *str_shape, *str_stride, *str_strides;
    if (!str_shape) str_shape = PyUnicode_InternFromString("shape");
    if (!str_stride) str_stride = PyUnicode_InternFromString("stride");
    if (!str_strides) str_strides = PyUnicode_InternFromString("strides");
    PyObject *shape = PyObject_GetAttr(object, str_shape);
    s->rank = shape ? read_sequence(shape, name, s->extent) : -1;
    Py_XDECREF(shape);
    if (s->rank < 0) {
        if (!shape) PyErr_Clear();
        if (!shape) PyErr_Format(PyExc_TypeError, "argument `%s` (%R) does not say its shape", name, Py_TYPE(object));
        return false;
    }
    fill_dense(s);
    int64_t each = 1, count = s->rank;
    PyObject *strides = PyObject_CallMethodObjArgs(object, str_stride, NULL);
    if (!strides) {
        PyErr_Clear();
        strides = PyObject_GetAttr(object, str_strides);
        each = (int64_t)tw_dtype_size(m->dtype);
    }
    if (!strides) PyErr_Clear();
    if (strides && strides != Py_None) count = read_sequence(strides, name, s->stride);
    for (int64_t d = 0; strides && strides != Py_None && d < count; d++) s->stride[d] /= each;
    Py_XDECREF(strides);
    if (count == s->rank) return true;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "argument `%s` has other strides than extents", name);
    return false;
}

bool shape_read(PyObject *object, const char *name, Memory *m) {
    memset(&m->shape, 0, sizeof m->shape);
    bool ok = m->view.obj ? read_view(m, name, &m->shape) : read_attributes(object, name, m, &m->shape);
    for (int64_t d = 0; ok && d < m->shape.rank; d++) {
        if (m->shape.extent[d] >= 0) continue;
        PyErr_Format(PyExc_TypeError, "argument `%s` has an extent below 0", name);
        ok = false;
    }
    bool empty = false;
    for (int64_t d = 0; ok && d < m->shape.rank; d++) empty |= m->shape.extent[d] == 0;
    if (empty) fill_dense(&m->shape);
    uint64_t stride = 1; /* a dense array by any name */
    for (int64_t d = m->shape.rank; ok && !empty && d-- > 0; stride *= (uint64_t)m->shape.extent[d])
        if (m->shape.extent[d] == 1) m->shape.stride[d] = (int64_t)stride; /* never used: it may say anything */
    if (ok && shape_span(&m->shape) < 0) {
        PyErr_Format(PyExc_ValueError, "argument `%s`: its strides reach beyond all memory", name);
        ok = false;
    }
    return ok;
}

uint64_t shape_hash(const Shape *s) {
    uint64_t hash = (uint64_t)s->rank + 1;
    for (int64_t d = 0; d < s->rank; d++)
        hash = (hash ^ (uint64_t)s->extent[d] ^ (uint64_t)s->stride[d] << 20) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* -1: more than memory can hold. */
int64_t shape_span(const Shape *s) {
    int64_t span = 1, reach;
    for (int64_t d = 0; d < s->rank; d++) {
        if (!s->extent[d]) return 0;
        int64_t step = s->stride[d] < 0 ? -s->stride[d] : s->stride[d];
        if (step < 0 || __builtin_mul_overflow(s->extent[d] - 1, step, &reach) ||
            __builtin_add_overflow(span, reach, &span) || span > INT64_MAX / 16)
            return -1;
    }
    return span;
}

/* --- outputs --- */

bool outputs_plan(Function *f, Entry *e) {
    bool ok = true;
    for (int i = 0; ok && i < f->count; i++) {
        if (!f->params[i].output || e->buffers[i]) continue;
        tw_shape_info info = {.struct_size = sizeof info};
        ok = tw_kernel_shape_at(e->raw, (size_t)i, &info) == TW_OK;
        if (!ok) {
            PyErr_Format(PyExc_TypeError, "output `%U` of `%U` is no tensor of a stated shape", f->params[i].name,
                         f->name);
            break;
        }
        Shape *s = &e->shapes[i];
        s->rank = info.rank;
        memcpy(s->extent, info.extents, sizeof s->extent);
        for (int d = 0; ok && d < info.rank; d++) ok = info.extents[d] >= 0;
        if (!ok) {
            PyErr_Format(PyExc_TypeError, "output `%U` of `%U` has an extent that only the launch knows",
                         f->params[i].name, f->name);
            break;
        }
        fill_dense(s);
        e->tags[i] = (uint8_t)(TAG_POINTER + info.dtype);
    }
    return ok;
}

/* An output as Python makes it: f.make_output(dtype, shape, the first array that was given, or None). */
static PyObject *make_one(Call *c, const Entry *e, int i, PyObject *like) {
    const Shape *s = &e->shapes[i];
    PyObject *shape = PyTuple_New((Py_ssize_t)s->rank);
    for (int64_t d = 0; shape && d < s->rank; d++) {
        PyObject *extent = PyLong_FromLongLong(s->extent[d]);
        if (!extent || PyTuple_SetItem(shape, (Py_ssize_t)d, extent) < 0) Py_CLEAR(shape);
    }
    if (!shape) return NULL;
    PyObject *made = PyObject_CallMethod((PyObject *)c->f, "make_output", "sOO",
                                         tw_dtype_name(e->tags[i] - TAG_POINTER), shape, like);
    Py_DECREF(shape);
    const char *name = PyUnicode_AsUTF8AndSize(c->f->params[i].name, NULL);
    if (!made || !name) return made;
    ArgumentKind kind = argument_take(made, name, &c->args[i], &c->memory[i]);
    bool fits = kind == ARGUMENT_MEMORY && shape_read(made, name, &c->memory[i]) &&
                shape_same(&c->memory[i].shape, s) && c->memory[i].dtype == e->tags[i] - TAG_POINTER;
    if (!fits && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "make_output gave another array for `%s` than it was asked for", name);
    if (!fits) Py_CLEAR(made);
    return made;
}

PyObject *outputs_make(Call *c, const Entry *e) {
    const Function *f = c->f;
    PyObject *like = Py_None, *list = PyList_New(0);
    for (int i = f->count; i-- > 0;)
        if (!f->params[i].output && c->tags[i] > TAG_POINTER) like = c->values[i];
    for (int i = 0; list && i < f->count; i++) {
        if (!f->params[i].output) continue;
        PyObject *made = make_one(c, e, i, like);
        if (!made || PyList_Append(list, made) < 0) Py_CLEAR(list);
        Py_XDECREF(made);
    }
    if (!list || PyList_Size(list) > 1) return list;
    PyObject *only = PyList_Size(list) ? Py_NewRef(PyList_GetItem(list, 0)) : Py_NewRef(Py_None);
    Py_DECREF(list);
    return only;
}
