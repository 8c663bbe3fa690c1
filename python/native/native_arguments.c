/* SPDX-License-Identifier: Apache-2.0 */
/* native_arguments.c: what one argument of a launch is: a number, a constant, or memory with its
 * dtype.
 *
 * Memory is anything with `data_ptr()` and `dtype` (torch tensors, triton.reinterpret's wrapper,
 * classes of the user), anything with Python's buffer protocol (numpy, array.array), with
 * `__cuda_array_interface__` (cupy, numba), and with DLPack; on the host or on a CUDA device. Nothing is copied. The
 * size that is handed on reaches to the end of the storage, not of the view: a kernel may walk there, and whether two
 * arguments overlap is decided by it. How a type is read is found once and remembered by the type; so is the number of
 * a dtype object. */
#include "native.h"

#include <string.h>

typedef enum Way { WAY_CONSTANT, WAY_NUMBER, WAY_TENSOR, WAY_BUFFER, WAY_CUDA, WAY_DLPACK } Way;
enum { MAX_TYPES = 64 };
static struct {
    PyTypeObject *type; /* held */
    Way way;
} types[MAX_TYPES];
static int type_count;

static PyObject *dtypes; /* dtype object or format -> number */
static PyObject *str_data_ptr, *str_dtype, *str_is_cpu, *str_untyped_storage, *str_nbytes, *str_dlpack,
    *str_dlpack_device, *str_cuda, *str_base, *str_setitem, *str_item;

static bool has(PyObject *object, PyObject *name) {
    PyObject *found = PyObject_GetAttr((PyObject *)Py_TYPE(object), name);
    if (!found) PyErr_Clear();
    Py_XDECREF(found);
    return found != NULL;
}

static Way way_of(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    for (int i = 0; i < type_count; i++)
        if (types[i].type == type) return types[i].way;
    Way way = WAY_CONSTANT;
    bool text = PyBytes_Check(object) || PyUnicode_Check(object);
    if (has(object, str_data_ptr))
        way = WAY_TENSOR;
    else if (has(object, str_cuda))
        way = WAY_CUDA; /* first: cupy's arrays show a buffer too, which they then refuse */
    else if (PyObject_CheckBuffer(object) && !text && has(object, str_setitem))
        way = WAY_BUFFER;
    else if (PyObject_CheckBuffer(object) && has(object, str_item))
        way = WAY_NUMBER; /* numpy's scalars have no items to set */
    else if (has(object, str_dlpack))
        way = WAY_DLPACK;
    if (type_count < MAX_TYPES) {
        types[type_count].type = (PyTypeObject *)Py_NewRef((PyObject *)type);
        types[type_count++].way = way;
    }
    return way;
}

/* The number of a dtype object (torch's, numpy's, tl's) or of a buffer's format; steals nothing. */
static int32_t dtype_of(PyObject *object, const char *name) {
    PyObject *known = PyDict_GetItemWithError(dtypes, object);
    if (known) return (int32_t)PyLong_AsLong(known);
    if (PyErr_Occurred()) return TW_DTYPE_ANY;
    PyObject *text = PyObject_CallFunctionObjArgs(session.dtype_name, object, NULL);
    if (!text) return TW_DTYPE_ANY;
    const char *words = PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    int32_t dtype = words ? tw_dtype_find(words) : TW_DTYPE_ANY;
    if (dtype == TW_DTYPE_ANY) {
        PyErr_Format(PyExc_TypeError, "argument `%s` has the dtype %S, which kernels do not know; convert it", name,
                     object);
    } else {
        PyObject *number = PyLong_FromLong(dtype);
        if (!number || PyDict_SetItem(dtypes, object, number) < 0) dtype = TW_DTYPE_ANY;
        Py_XDECREF(number);
    }
    Py_DECREF(text);
    return dtype;
}

static bool call_integer(PyObject *object, PyObject *method, unsigned long long *value) {
    PyObject *result = PyObject_CallMethodObjArgs(object, method, NULL);
    if (!result) return false;
    *value = PyLong_AsUnsignedLongLong(result);
    Py_DECREF(result);
    return !PyErr_Occurred();
}

/* Bytes from data to the end of the tensor's storage. Objects without a storage state none: only
 * their address is known, and they are taken to reach as far as any other argument might. */
static bool storage_size(PyObject *object, unsigned long long data, size_t *size) {
    PyObject *storage = PyObject_CallMethodObjArgs(object, str_untyped_storage, NULL);
    unsigned long long start = 0, bytes = 0;
    if (!storage && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        *size = data ? MEMORY_ENDLESS : 0;
        return true;
    }
    bool ok = storage && call_integer(storage, str_data_ptr, &start) && call_integer(storage, str_nbytes, &bytes);
    Py_XDECREF(storage);
    *size = start <= data && data <= start + bytes ? (size_t)(start + bytes - data) : 0;
    return ok;
}

static bool place_of(PyObject *object, const char *name, int32_t *device) {
    PyObject *answer = PyObject_GetAttr(object, str_is_cpu);
    *device = answer ? DEVICE_HOST : DEVICE_ANY;
    Py_XDECREF(answer);
    if (!answer) PyErr_Clear();
    return answer == Py_False ? cuda_device_of(object, name, device) : true;
}

/* What was asked of a tensor before, so that a launch with the same one asks less. A weak reference
 * tells that it is the same object still; its address, which is read anew each time, that it has
 * the same memory. */
enum { MEMO = 4096 };
static struct {
    PyObject *tensor; /* a weak reference */
    unsigned long long data;
    size_t size;
    int32_t device;
} memo[MEMO];

static bool take_tensor(PyObject *object, const char *name, Memory *m) {
    unsigned long long data = 0;
    if (!call_integer(object, str_data_ptr, &data)) return false;
    PyObject *dtype = PyObject_GetAttr(object, str_dtype);
    if (!dtype) return false;
    m->dtype = dtype_of(dtype, name);
    Py_DECREF(dtype);
    m->data = (void *)(uintptr_t)data;
    if (m->dtype == TW_DTYPE_ANY) return false;
    size_t at = (uintptr_t)object / 16 * UINT64_C(0x9e3779b97f4a7c15) >> 52;
    if (memo[at].tensor && memo[at].data == data && PyWeakref_GetObject(memo[at].tensor) == object) {
        m->size = memo[at].size;
        m->device = memo[at].device;
        return true;
    }
    if (!place_of(object, name, &m->device) || !storage_size(object, data, &m->size)) return false;
    if (!data && m->size) {
        PyErr_Format(PyExc_TypeError, "argument `%s` has no memory: its data_ptr() is 0", name);
        return false;
    }
    PyObject *reference = PyWeakref_NewRef(object, NULL);
    if (!reference) PyErr_Clear(); /* a type without weak references: asked each time */
    replace(&memo[at].tensor, reference);
    memo[at].data = data;
    memo[at].size = m->size;
    memo[at].device = m->device;
    return true;
}

/* The end of what a buffer's owner holds: numpy's views name the array they look into as `base`. */
static bool widen_to_base(PyObject *object, Memory *m) {
    PyObject *base = PyObject_GetAttr(object, str_base);
    if (!base) {
        PyErr_Clear();
        return true;
    }
    Py_buffer whole;
    bool view = base != Py_None && PyObject_CheckBuffer(base);
    if (view && PyObject_GetBuffer(base, &whole, PyBUF_STRIDES) == 0) {
        char *end = (char *)whole.buf + whole.len, *data = m->data;
        if ((char *)whole.buf <= data && data <= end && (size_t)(end - data) > m->size) m->size = (size_t)(end - data);
        PyBuffer_Release(&whole);
    }
    PyErr_Clear();
    Py_DECREF(base);
    return true;
}

static bool take_buffer(PyObject *object, const char *name, Memory *m) {
    if (PyObject_GetBuffer(object, &m->view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_BufferError)) return false;
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "argument `%s` (%R) shows no buffer that kernels can read", name,
                     Py_TYPE(object));
        return false;
    }
    m->device = DEVICE_HOST;
    PyObject *dtype = PyObject_GetAttr(object, str_dtype);
    if (!dtype) {
        PyErr_Clear();
        dtype = PyUnicode_FromString(m->view.format ? m->view.format : "B");
    }
    m->dtype = dtype ? dtype_of(dtype, name) : TW_DTYPE_ANY;
    if (m->dtype != TW_DTYPE_ANY && (Py_ssize_t)tw_dtype_size(m->dtype) != m->view.itemsize) {
        PyErr_Format(PyExc_TypeError, "argument `%s` has the dtype %S in items of %zd bytes, which kernels do not know",
                     name, dtype, m->view.itemsize);
        m->dtype = TW_DTYPE_ANY;
    }
    Py_XDECREF(dtype);
    m->data = m->view.buf;
    m->readonly = m->view.readonly;
    Py_ssize_t reach = m->view.itemsize;
    bool dense = !m->view.shape || !m->view.strides; /* ctypes gives none, though asked */
    if (dense) reach = m->view.len;
    for (int d = 0; !dense && d < m->view.ndim && reach; d++) {
        Py_ssize_t extent = m->view.shape[d], stride = m->view.strides[d];
        if (!extent)
            reach = 0;
        else if (stride > 0)
            reach += (extent - 1) * stride;
    }
    m->size = (size_t)reach;
    return m->dtype != TW_DTYPE_ANY && widen_to_base(object, m);
}

/* DLPack's structures (https://dmlc.github.io/dlpack): what a capsule named "dltensor" points to, and the newer one. */
typedef struct DlTensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DlTensor;
typedef struct DlManagedTensor { /* owner and deleter follow: the capsule's own business */
    DlTensor tensor;
} DlManagedTensor;
typedef struct DlManagedTensorVersioned { /* of a capsule named "dltensor_versioned" */
    uint32_t major, minor;
    void *owner;
    void (*deleter)(void *self);
    uint64_t flags; /* bit 0: read only */
    DlTensor tensor;
} DlManagedTensorVersioned;

enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_CUDA_HOST = 3, DLPACK_CUDA_MANAGED = 13 };

/* DLPack's numbers: the kind of device, and which; objects that do not say lie on the host. */
static long dlpack_device(PyObject *object, long *which) {
    PyObject *pair = PyObject_CallMethodObjArgs(object, str_dlpack_device, NULL);
    PyObject *kind = pair ? PySequence_GetItem(pair, 0) : NULL, *index = pair ? PySequence_GetItem(pair, 1) : NULL;
    long number = kind ? PyLong_AsLong(kind) : DLPACK_CPU;
    *which = index ? PyLong_AsLong(index) : 0;
    PyErr_Clear();
    Py_XDECREF(index);
    Py_XDECREF(kind);
    Py_XDECREF(pair);
    return number;
}

/* The capsule; a device's contents are ordered before what comes next on the launch's stream. */
static PyObject *call_dlpack(PyObject *object) {
    long device = 0;
    if (dlpack_device(object, &device) != DLPACK_CUDA) return PyObject_CallMethodObjArgs(object, str_dlpack, NULL);
    void *stream = NULL;
    PyObject *method = cuda_current_stream((int32_t)device, &stream) ? PyObject_GetAttr(object, str_dlpack) : NULL;
    PyObject *none = PyTuple_New(0), *named = NULL, *capsule = NULL;
    if (method && none) named = Py_BuildValue("{s:n}", "stream", stream ? (Py_ssize_t)stream : 1);
    if (named) capsule = PyObject_Call(method, none, named);
    Py_XDECREF(named);
    Py_XDECREF(none);
    Py_XDECREF(method);
    return capsule;
}

static bool take_dlpack(PyObject *object, const char *name, Memory *m) {
    m->capsule = call_dlpack(object);
    if (!m->capsule) return false;
    const DlManagedTensor *managed = NULL;
    const DlManagedTensorVersioned *newer = NULL;
    if (PyCapsule_IsValid(m->capsule, "dltensor_versioned"))
        newer = PyCapsule_GetPointer(m->capsule, "dltensor_versioned");
    else
        managed = PyCapsule_GetPointer(m->capsule, "dltensor");
    if (!managed && !(newer && newer->major == 1)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "argument `%s`: its __dlpack__ gives %R, no capsule named dltensor", name,
                     m->capsule);
        return false;
    }
    const DlTensor *t = newer ? &newer->tensor : &managed->tensor;
    if (newer) m->readonly = newer->flags & 1;
    static const char *const codes[] = {"int%d", "uint%d", "float%d", "", "bfloat%d", "", "bool"};
    char text[16] = "";
    if (t->code < sizeof codes / sizeof *codes) PyOS_snprintf(text, sizeof text, codes[t->code], t->bits);
    m->dtype = t->lanes == 1 ? tw_dtype_find(text) : TW_DTYPE_ANY;
    m->device = t->device_type == DLPACK_CUDA || t->device_type == DLPACK_CUDA_MANAGED ? t->device_id : DEVICE_HOST;
    if (m->device == DEVICE_HOST && t->device_type != DLPACK_CPU && t->device_type != DLPACK_CUDA_HOST) {
        PyErr_Format(PyExc_TypeError,
                     "argument `%s` lies on a device (DLPack's number %d); kernels run on the CPU "
                     "and on CUDA devices",
                     name, t->device_type);
        return false;
    }
    if (m->dtype == TW_DTYPE_ANY) {
        PyErr_Format(PyExc_TypeError, "argument `%s` has a dtype that kernels do not know (DLPack's code %d, %d bits)",
                     name, t->code, t->bits);
        return false;
    }
    int64_t reach = 1, dense = 1;
    for (int d = t->ndim; d-- > 0;) {
        int64_t stride = t->strides ? t->strides[d] : dense;
        if (!t->shape[d]) reach = INT64_MIN / 2;
        if (stride > 0 && reach > 0) reach += (t->shape[d] - 1) * stride;
        dense *= t->shape[d];
    }
    m->data = (char *)t->data + t->byte_offset;
    m->size = reach > 0 ? (size_t)reach * tw_dtype_size(m->dtype) : 0;
    return true;
}

/* __cuda_array_interface__: {"data": (address, read only), "typestr": "<f4", "shape", "strides": bytes
 * or None, "stream": None, 1 (the default one), 2, or a handle}. It does not say which device: the
 * address does. */
static bool read_interface(PyObject *dict, const char *name, Memory *m) {
    PyObject *pair = PyDict_GetItemString(dict, "data"), *shape = PyDict_GetItemString(dict, "shape"),
             *strides = PyDict_GetItemString(dict, "strides"), *stream = PyDict_GetItemString(dict, "stream");
    if (!pair || !PyTuple_Check(pair) || !shape || !PyTuple_Check(shape)) {
        PyErr_Format(PyExc_TypeError, "argument `%s`: its __cuda_array_interface__ has no data or shape", name);
        return false;
    }
    m->data = PyLong_AsVoidPtr(PyTuple_GetItem(pair, 0));
    m->readonly = PyTuple_Size(pair) > 1 && PyTuple_GetItem(pair, 1) == Py_True;
    int64_t each = (int64_t)tw_dtype_size(m->dtype), reach = each, dense = each;
    for (Py_ssize_t d = PyTuple_Size(shape); d-- > 0;) {
        int64_t extent = PyLong_AsLongLong(PyTuple_GetItem(shape, d));
        int64_t stride = strides && PyTuple_Check(strides) ? PyLong_AsLongLong(PyTuple_GetItem(strides, d)) : dense;
        if (!extent) reach = INT64_MIN / 2;
        if (stride > 0 && reach > 0) reach += (extent - 1) * stride;
        dense *= extent;
    }
    m->size = reach > 0 ? (size_t)reach : 0;
    if (stream && PyLong_Check(stream)) {
        m->stream = PyLong_AsVoidPtr(stream);
        if (m->stream == (void *)1) m->stream = NULL; /* the default one */
    }
    return !PyErr_Occurred();
}

static bool take_cuda(PyObject *object, const char *name, Memory *m) {
    PyObject *dict = PyObject_GetAttr(object, str_cuda), *dtype = PyObject_GetAttr(object, str_dtype);
    PyErr_Clear();
    if (!dtype && dict && PyDict_Check(dict)) {
        dtype = PyDict_GetItemString(dict, "typestr");
        Py_XINCREF(dtype);
    }
    bool ok = dict && PyDict_Check(dict) && dtype;
    if (!ok) PyErr_Format(PyExc_TypeError, "argument `%s` has no __cuda_array_interface__", name);
    m->dtype = ok ? dtype_of(dtype, name) : TW_DTYPE_ANY;
    ok = m->dtype != TW_DTYPE_ANY && read_interface(dict, name, m);
    if (ok) m->device = cuda_home(m->data);
    Py_XDECREF(dtype);
    Py_XDECREF(dict);
    return ok;
}

bool memory_may_be_written(const Memory *memory, const tw_kernel *kernel, size_t param, const char *name) {
    if (!memory->readonly || !tw_kernel_writes(kernel, param)) return true;
    PyErr_Format(PyExc_ValueError,
                 "argument `%s` is read-only, and kernel `%s` writes to it; pass a copy, or "
                 "an array that may be written",
                 name, tw_kernel_name(kernel));
    return false;
}

void memory_release(Memory *m) {
    if (m->view.obj) PyBuffer_Release(&m->view);
    m->view.obj = NULL;
    Py_CLEAR(m->capsule); /* an unused capsule frees what it holds */
}

/* numpy's scalars, as the Python number that they are. */
static PyObject *plain_number(PyObject *object) {
    static const char method[] = "item";
    return PyObject_CallMethod(object, method, NULL);
}

ArgumentKind argument_take(PyObject *object, const char *name, tw_arg *number, Memory *memory) {
    if (object == Py_None) return ARGUMENT_CONSTANT;
    if (object == Py_True || object == Py_False) {
        *number = (tw_arg){.kind = TW_ARG_BOOL, .value.i = object == Py_True};
        return ARGUMENT_NUMBER;
    }
    if (PyLong_Check(object)) {
        int overflow = 0;
        *number = (tw_arg){.kind = TW_ARG_INT, .value.i = PyLong_AsLongLongAndOverflow(object, &overflow)};
        if (!overflow) return ARGUMENT_NUMBER;
        number->flags = TW_ARG_UNSIGNED;
        number->value.i = (int64_t)PyLong_AsUnsignedLongLong(object);
        if (!PyErr_Occurred()) return ARGUMENT_NUMBER;
        PyErr_Clear();
        PyErr_Format(PyExc_OverflowError, "argument `%s` does not fit 64 bits", name);
        return ARGUMENT_ERROR;
    }
    if (PyFloat_Check(object)) {
        *number = (tw_arg){.kind = TW_ARG_FLOAT, .value.f = PyFloat_AsDouble(object)};
        return ARGUMENT_NUMBER;
    }
    bool ok = false;
    switch (way_of(object)) {
    case WAY_TENSOR: ok = take_tensor(object, name, memory); break;
    case WAY_BUFFER: ok = take_buffer(object, name, memory); break;
    case WAY_CUDA: ok = take_cuda(object, name, memory); break;
    case WAY_DLPACK: ok = take_dlpack(object, name, memory); break;
    case WAY_NUMBER: {
        PyObject *plain = plain_number(object);
        ArgumentKind kind = ARGUMENT_ERROR;
        if (plain && Py_TYPE(plain) != Py_TYPE(object)) kind = argument_take(plain, name, number, memory);
        Py_XDECREF(plain);
        return kind;
    }
    default: return ARGUMENT_CONSTANT;
    }
    return ok ? ARGUMENT_MEMORY : ARGUMENT_ERROR;
}

bool arguments_init(void) {
    struct {
        PyObject **at;
        const char *text;
    } strings[] = {{&str_data_ptr, "data_ptr"},
                   {&str_dtype, "dtype"},
                   {&str_is_cpu, "is_cpu"},
                   {&str_untyped_storage, "untyped_storage"},
                   {&str_nbytes, "nbytes"},
                   {&str_dlpack, "__dlpack__"},
                   {&str_cuda, "__cuda_array_interface__"},
                   {&str_dlpack_device, "__dlpack_device__"},
                   {&str_base, "base"},
                   {&str_setitem, "__setitem__"},
                   {&str_item, "item"}};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (!(*strings[i].at = PyUnicode_InternFromString(strings[i].text))) return false;
    dtypes = PyDict_New();
    return dtypes != NULL;
}
