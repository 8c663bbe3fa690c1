/* SPDX-License-Identifier: Apache-2.0 */
/* native_parts.c: descriptors of the host among the arguments of a launch, taken apart.
 *
 *     TensorDescriptor(base, shape, strides, block)  ->  base, shape.., strides.., block..
 *
 * The short way of structures.py, for launches in which descriptors are all that is made of other arguments. What it
 * does not know (numbers that are no ints, places outside of the array, a structure that no launch had before) it
 * leaves to the long one, which also says what is wrong. */
#include "native.h"

#include <stdio.h>
#include <string.h>

static PyObject *str_base, *str_shape, *str_strides, *str_block, *str_padding;

typedef struct Parts {
    PyObject *values; /* list: the arguments in parts */
    char key[4096];   /* structures by parameter, as JITFunction.parts is asked */
    size_t length;
} Parts;

static bool add_text(Parts *p, const char *text) {
    size_t size = strlen(text);
    if (p->length + size >= sizeof p->key) return false;
    memcpy(p->key + p->length, text, size + 1);
    p->length += size;
    return true;
}

static Py_ssize_t length_of(PyObject *list) {
    return PyList_Check(list) ? PyList_Size(list) : PyTuple_Check(list) ? PyTuple_Size(list) : -1;
}
static PyObject *item_of(PyObject *list, Py_ssize_t i) {
    return PyList_Check(list) ? PyList_GetItem(list, i) : PyTuple_GetItem(list, i);
}

static bool read_int(PyObject *item, int64_t *number) {
    int overflow = 0;
    if (!item || !PyLong_Check(item) || PyBool_Check(item)) return false;
    *number = PyLong_AsLongLongAndOverflow(item, &overflow);
    return !overflow;
}

/* Does what the descriptor says lie inside of its array? */
static bool lies_inside(PyObject *base, PyObject *shape, PyObject *strides, Py_ssize_t rank) {
    Memory memory = {.device = DEVICE_ANY};
    tw_arg number;
    int64_t last = 0, there, reach;
    bool empty = false;
    if (argument_take(base, "base", &number, &memory) != ARGUMENT_MEMORY) return false;
    there = (int64_t)(memory.size / tw_dtype_size(memory.dtype));
    if (memory.view.obj || memory.capsule) memory_release(&memory);
    for (Py_ssize_t d = 0; d < rank; d++) {
        int64_t extent, stride;
        if (!read_int(item_of(shape, d), &extent) || !read_int(item_of(strides, d), &stride)) return false;
        if (extent < 0 || stride < 0 || __builtin_mul_overflow(extent ? extent - 1 : 0, stride, &reach) ||
            __builtin_add_overflow(last, reach, &last))
            return false;
        empty |= !extent;
    }
    return empty || last < there;
}

static bool append_all(Parts *p, PyObject *list, Py_ssize_t rank) {
    for (Py_ssize_t d = 0; d < rank; d++)
        if (PyList_Append(p->values, item_of(list, d)) < 0) return false;
    return true;
}

/* Extents of blocks are constants, one object each for all launches. */
static bool append_block(Parts *p, PyObject *block, Py_ssize_t rank) {
    for (Py_ssize_t d = 0; d < rank; d++) {
        PyObject *known = session.block_constants ? PyDict_GetItemWithError(session.block_constants, item_of(block, d))
                                                  : NULL;
        if (!known || PyList_Append(p->values, known) < 0) return false;
    }
    return true;
}

/* False: it is left to Python. An error may be set. */
static bool take_descriptor(Parts *p, PyObject *value) {
    PyObject *base = PyObject_GetAttr(value, str_base), *shape = base ? PyObject_GetAttr(value, str_shape) : NULL,
             *strides = shape ? PyObject_GetAttr(value, str_strides) : NULL,
             *block = strides ? PyObject_GetAttr(value, str_block) : NULL,
             *padding = block ? PyObject_GetAttr(value, str_padding) : NULL;
    Py_ssize_t rank = padding ? length_of(shape) : -1;
    char text[32] = "";
    bool ok = rank > 0 && length_of(strides) == rank && length_of(block) == rank && PyUnicode_Check(padding) &&
              lies_inside(base, shape, strides, rank);
    if (ok) {
        bool nan = PyUnicode_CompareWithASCIIString(padding, "nan") == 0;
        snprintf(text, sizeof text, "<%d%s>", (int)rank, nan ? " nan" : "");
        ok = PyList_Append(p->values, base) == 0 && append_all(p, shape, rank) && append_all(p, strides, rank) &&
             append_block(p, block, rank) && add_text(p, text);
    }
    Py_XDECREF(base);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    Py_XDECREF(block);
    Py_XDECREF(padding);
    return ok;
}

/* Every argument, in parts or as it is. */
static bool take_all(const Call *c, Parts *p) {
    for (int i = 0; i < c->count; i++) {
        PyObject *value = c->values[i];
        bool whole = c->f->params[i].constant || c->tags[i] != TAG_CONSTANT || value == Py_None;
        if (!whole && (PyTuple_Check(value) || PyList_Check(value))) return false;
        if (!whole && PyObject_HasAttrString(value, "block_shape")) {
            if (!take_descriptor(p, value)) return false;
        } else if (PyList_Append(p->values, value) < 0 || !add_text(p, "."))
            return false;
    }
    return true;
}

/* The function that takes these parts, borrowed; NULL: there is none yet. */
static Function *find_function(const Function *f, const Parts *p) {
    PyObject *key = f->parts ? PyUnicode_FromString(p->key) : NULL;
    PyObject *found = key ? PyDict_GetItemWithError(f->parts, key) : NULL;
    Py_XDECREF(key);
    return found && PyObject_TypeCheck(found, function_type) ? (Function *)found : NULL;
}

static PyObject *given_options(const Call *c) {
    PyObject *options = PyDict_New();
    for (int i = 0; options && i < KEYWORDS; i++)
        if (c->values[c->count + i] && PyDict_SetItem(options, keyword_names[i], c->values[c->count + i]) < 0)
            Py_CLEAR(options);
    return options;
}

bool parts_launch(Call *c, PyObject *grid, Purpose purpose, PyObject **result) {
    Parts parts = {.values = PyList_New(0)};
    Function *function = parts.values && take_all(c, &parts) ? find_function(c->f, &parts) : NULL;
    PyObject *args = function ? PyList_AsTuple(parts.values) : NULL, *options = args ? given_options(c) : NULL;
    Py_XDECREF(parts.values);
    if (options) {
        Py_INCREF((PyObject *)function); /* a callback may forget it */
        *result = launch_run(function, grid, args, options, purpose);
        Py_DECREF((PyObject *)function);
    } else
        PyErr_Clear();
    Py_XDECREF(args);
    Py_XDECREF(options);
    return options != NULL;
}

bool parts_init(void) {
    str_base = PyUnicode_InternFromString("base");
    str_shape = PyUnicode_InternFromString("shape");
    str_strides = PyUnicode_InternFromString("strides");
    str_block = PyUnicode_InternFromString("block_shape");
    str_padding = PyUnicode_InternFromString("padding");
    return str_base && str_shape && str_strides && str_block && str_padding;
}
