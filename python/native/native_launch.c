/* SPDX-License-Identifier: Apache-2.0 */
/* native_launch.c: one launch: arguments bound to parameters, tagged and hashed; the entry found or
 * made; the grid read; the kernel run.
 *
 *     kernel[grid](x, y, out, n, BLOCK=1024)
 *
 * Nothing here depends on how many kernels there are; what it costs is a few attribute reads for
 * each tensor. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* --- arguments --- */

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static bool call_begin(Call *c, Function *f) {
    int n = f->count;
    c->f = f;
    c->structured = c->sanitize = false;
    c->count = n;
    c->many = NULL;
    c->values = c->few_values;
    c->tags = c->few_tags;
    c->args = c->few_args;
    c->memory = c->few_memory;
    if (n > FEW) {
        size_t each = sizeof(Memory) + sizeof(tw_arg) + sizeof(PyObject *) + 1;
        char *block = PyMem_Calloc((size_t)n * each + KEYWORDS * sizeof(PyObject *), 1);
        if (!block) return PyErr_NoMemory() != NULL;
        c->many = block;
        c->memory = (Memory *)block;
        c->args = (tw_arg *)(c->memory + n);
        c->values = (PyObject **)(c->args + n);
        c->tags = (uint8_t *)(c->values + n + KEYWORDS);
    }
    memset(c->values, 0, (size_t)(n + KEYWORDS) * sizeof *c->values);
    for (int i = 0; i < n; i++) {
        c->memory[i].view.obj = NULL;
        c->memory[i].capsule = NULL;
        c->memory[i].stream = NULL;
        c->memory[i].readonly = false;
        c->args[i].kind = TW_ARG_ABSENT;
    }
    return true;
}

static void call_end(Call *c) {
    for (int i = 0; i < c->count; i++)
        if (c->memory[i].view.obj || c->memory[i].capsule) memory_release(&c->memory[i]);
    PyMem_Free(c->many);
}

static int find_keyword(const Function *f, PyObject *name) {
    for (int i = 0; i < f->count; i++)
        if (f->params[i].name == name) return i;
    for (int i = 0; i < KEYWORDS; i++)
        if (keyword_names[i] == name) return f->count + i;
    for (int i = 0; i < f->count; i++)
        if (PyUnicode_Compare(f->params[i].name, name) == 0) return i;
    for (int i = 0; i < KEYWORDS; i++)
        if (PyUnicode_Compare(keyword_names[i], name) == 0) return f->count + i;
    return -1;
}

/* "'a', 'b'": the parameters, or those that a call leaves open. */
static PyObject *join_names(const Function *f, const Call *call) {
    PyObject *text = PyUnicode_FromString("");
    for (int i = 0, n = 0; text && i < f->count; i++) {
        if (f->params[i].output || f->params[i].hidden || (call && call->values[i])) continue;
        PyObject *longer = PyUnicode_FromFormat("%U%s'%U'", text, n++ ? ", " : "", f->params[i].name);
        Py_DECREF(text);
        text = longer;
    }
    return text;
}

/* A keyword that is none of the function's; returns false. */
static bool refuse_keyword(const Function *f, PyObject *key) {
    PyObject *names = join_names(f, NULL);
    if (names && f->shaped)
        PyErr_Format(PyExc_TypeError, "`%U` has no argument `%U`; it takes %U", f->name, key, names);
    else if (names)
        PyErr_Format(PyExc_KeyError,
                     "Keyword argument %U was specified but unrecognised; `%U` takes %U, and options such as num_warps",
                     key, f->name, names);
    Py_XDECREF(names);
    return false;
}

/* lenient: what is missing stays open. */
static bool bind(Call *c, PyObject *args, PyObject *kwargs, bool lenient) {
    Function *f = c->f;
    int missing = 0, places = 0;
    Py_ssize_t given = PyTuple_Size(args), at = 0, next = 0;
    PyObject *key, *value;
    for (int i = 0; i < f->count; i++) {
        if (f->params[i].output || f->params[i].hidden) continue;
        places++;
        if (next < given) c->values[i] = PyTuple_GetItem(args, next++);
    }
    if (given > places) {
        PyErr_Format(PyExc_TypeError, "too many positional arguments: %zd for the %d parameters of `%U`%s", given,
                     places, f->name, f->shaped && places < f->count ? ", which makes its outputs itself" : "");
        return false;
    }
    while (kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
        int i = find_keyword(f, key);
        if (i < 0 || (f->shaped && i >= f->count)) return refuse_keyword(f, key);
        if (i < f->count && c->values[i]) {
            PyErr_Format(PyExc_TypeError, "multiple values for argument '%U' of `%U`", key, f->name);
            return false;
        }
        c->values[i] = value;
    }
    for (int i = 0; i < f->count; i++) {
        if (!c->values[i]) c->values[i] = f->params[i].fallback;
        missing += !c->values[i] && !f->params[i].output && !f->params[i].hidden;
    }
    if (!missing || lenient) return true;
    PyObject *names = join_names(f, c);
    if (names)
        PyErr_Format(PyExc_TypeError,
                     missing == 1 ? "missing a required argument: %U of `%U`"
                                  : "missing required arguments: %U of `%U`",
                     names, f->name);
    Py_XDECREF(names);
    return false;
}

static Tag tag_number(const Param *p, const tw_arg *arg) {
    if (p->typed) return TAG_NUMBER;
    if (arg->kind == TW_ARG_FLOAT) return TAG_FLOAT;
    if (arg->kind == TW_ARG_BOOL) return TAG_BOOL;
    if (arg->flags & TW_ARG_UNSIGNED) return TAG_U64;
    if (arg->value.i == 1 && !p->plain) return TAG_ONE;
    return arg->value.i >= INT32_MIN && arg->value.i <= INT32_MAX ? TAG_I32 : TAG_I64;
}

/* Made of other arguments: a tuple, or a descriptor of the host. */
static bool is_structured(PyObject *value) {
    if (value == Py_None || PyUnicode_Check(value)) return false;
    return PyTuple_Check(value) || PyList_Check(value) || PyObject_HasAttrString(value, "block_shape");
}

/* The environment (knobs write it there) asks for it, or the launch, or, where that says nothing, the function.
 * -1: an error is set. */
static int wants_debug(const Call *c) {
    PyObject *asked = c->values[c->count + KEYWORD_DEBUG];
    int wish = asked && asked != Py_None ? PyObject_IsTrue(asked) : c->f->debug;
    if (wish != 0) return wish;
    const char *text = getenv("TRITON_DEBUG");
    return text && *text && !strchr("0fFnN", *text) && strcmp(text, "off") != 0;
}

/* Tags, arguments and the hash. */
static bool classify(Call *c) {
    Function *f = c->f;
    uint64_t hash = 0;
    for (int i = 0; i < c->count; i++) {
        const Param *p = &f->params[i];
        PyObject *value = c->values[i];
        if (!value || p->output) { /* open, or made by the launch */
            c->values[i] = NULL;
            c->tags[i] = TAG_CONSTANT;
            continue;
        }
        PyObject *inner = object_unwrap(value);
        ArgumentKind kind = ARGUMENT_CONSTANT;
        if (!p->constant && inner == value) {
            kind = argument_take(value, PyUnicode_AsUTF8AndSize(p->name, NULL), &c->args[i], &c->memory[i]);
            if (kind == ARGUMENT_ERROR) return false;
        }
        if (kind == ARGUMENT_MEMORY && f->shaped) {
            if (!shape_read(value, PyUnicode_AsUTF8AndSize(p->name, NULL), &c->memory[i])) return false;
            hash = mix(hash, shape_hash(&c->memory[i].shape));
        }
        if (kind == ARGUMENT_CONSTANT && !p->constant && !f->shaped && inner == value && is_structured(value)) {
            c->structured = true; /* another function is launched: nothing is looked up by this hash */
            c->tags[i] = TAG_CONSTANT;
            continue;
        }
        if (kind == ARGUMENT_MEMORY)
            c->tags[i] = (uint8_t)(TAG_POINTER + c->memory[i].dtype);
        else if (kind == ARGUMENT_NUMBER)
            c->tags[i] = (uint8_t)tag_number(p, &c->args[i]);
        else
            c->tags[i] = TAG_CONSTANT;
        if (c->tags[i] == TAG_CONSTANT) {
            c->values[i] = inner;
            hash = mix(hash, entry_hash_constant(inner));
        }
        hash = mix(hash, c->tags[i]);
    }
    if (!cuda_place_call(c)) return false;
    hash = mix(hash, (uint64_t)(c->device + 1));
    for (int i = c->count; i < c->count + KEYWORDS; i++)
        if (c->values[i]) hash = mix(hash, entry_hash_constant(c->values[i]) + (uint64_t)(i - c->count));
    int debug = f->shaped ? 1 : wants_debug(c); /* T.device_assert is always there */
    if (debug < 0) return false;
    c->debug = debug > 0;
    c->hash = mix(mix(hash, c->debug), c->sanitize);
    return true;
}

/* Have the globals that compiled kernels rely on kept their values? A function that is another one
 * now makes the kernels be compiled again; a constant that has changed is an error, as in Triton. */
static bool globals_kept(Function *f) {
    Py_ssize_t at = 0;
    PyObject *key, *row;
    while (f->names.watched && PyDict_Next(f->names.watched, &at, &key, &row)) {
        PyObject *where = PyTuple_GetItem(row, 0), *id = PyTuple_GetItem(row, 1), *old = PyTuple_GetItem(row, 2), *now;
        if (PyDict_Check(where))
            now = PyDict_GetItemWithError(where, id);
        else {
            now = PyObject_GetAttrString(where, "cell_contents");
            Py_XDECREF(now);
        }
        PyObject *after = now ? object_unwrap(now) : NULL;
        if (after == old) continue;
        PyErr_Clear();
        if (entry_same_constant(old, after)) continue;
        if (PyObject_TypeCheck(old, function_type) && after) {
            if (!entries_may_go(f, 1)) return false;
            entries_forget(f);
            return true;
        }
        PyErr_Format(
            PyExc_RuntimeError,
            now != after
                ? "Global variable %U has changed since we compiled this kernel, from constexpr[%R] to constexpr[%R]"
                : "Global variable %U has changed since we compiled this kernel, from %R to %R",
            id, old, after ? after : Py_None);
        return false;
    }
    return true;
}

/* --- launch --- */

/* The arguments by name, as a function of the grid sees them. */
static PyObject *bound_dict(const Call *c, bool plain) {
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && i < c->count; i++)
        if (PyDict_SetItem(dict, c->f->params[i].name, plain ? object_unwrap(c->values[i]) : c->values[i]) < 0)
            Py_CLEAR(dict);
    return dict;
}

/* What the function of the grid put into its dict are arguments from now on. */
static void take_changes(Call *c, PyObject *meta) {
    for (int i = 0; meta && i < c->count; i++) {
        PyObject *now = PyDict_GetItemWithError(meta, c->f->params[i].name);
        if (now && now != object_unwrap(c->values[i])) c->values[i] = now;
    }
}

/* A grid that is a function is called before anything is read off the arguments, since it may change them (resize a
 * tensor, put another one into its dict): *meta is that dict, and lives as long as the call. */
static PyObject *call_grid(Call *c, PyObject *grid, PyObject **meta) {
    if (!PyCallable_Check(grid)) return Py_NewRef(grid);
    *meta = bound_dict(c, true);
    grid = *meta ? PyObject_CallFunctionObjArgs(grid, *meta, NULL) : NULL;
    if (grid) take_changes(c, *meta);
    return grid;
}

static bool read_grid(const Call *c, PyObject *grid, bool made, int64_t out[3]) {
    out[0] = out[1] = out[2] = 1;
    bool ok = true;
    bool sequence = PyTuple_Check(grid) || PyList_Check(grid);
    Py_ssize_t count = sequence ? PySequence_Size(grid) : 1;
    if (count < 1 || count > 3) {
        PyErr_Format(PyExc_ValueError, "the grid of kernel `%U` has %zd; a grid has 1 to 3 extents", c->f->name, count);
        ok = false;
    }
    for (Py_ssize_t i = 0; ok && i < count; i++) {
        PyObject *item = sequence ? PySequence_GetItem(grid, i) : Py_NewRef(grid);
        PyObject *number = item ? PyNumber_Index(object_unwrap(item)) : NULL;
        if (item && !number && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            PyErr_Format(
                PyExc_TypeError,
                "the grid of kernel `%U` has the extent %R; extents are integers, and a grid is 1 to 3 of them%s",
                c->f->name, item, made ? " (the function that was given returned it)" : "");
        }
        out[i] = number ? PyLong_AsLongLong(number) : 0;
        if (number && PyErr_Occurred()) {
            PyErr_Clear();
            PyErr_Format(PyExc_ValueError, "the grid of kernel `%U` has the extent %S; each must lie in 0 .. 2^31-1",
                         c->f->name, number);
        }
        ok = number && !PyErr_Occurred();
        Py_XDECREF(number);
        Py_XDECREF(item);
    }
    return ok;
}

static bool may_write(const Call *c, const Entry *e) {
    for (int i = 0; i < c->count; i++) {
        if (c->tags[i] <= TAG_POINTER || !c->memory[i].readonly) continue;
        const char *name = PyUnicode_AsUTF8AndSize(c->f->params[i].name, NULL);
        if (!name || !memory_may_be_written(&c->memory[i], e->raw, (size_t)i, name)) return false;
    }
    return true;
}

static PyObject *launch(Call *c, Entry *e, PyObject *grid, bool made) {
    int64_t extents[3];
    void *stream = NULL;
    bool shaped = c->f->shaped;
    if (!may_write(c, e) || (!shaped && !read_grid(c, grid, made, extents))) return NULL;
    if (e->device >= 0 && !cuda_stream_of(c, &stream)) return NULL;
    e->references++;
    PyObject *result = NULL, *outputs = shaped ? outputs_make(c, e) : NULL;
    if ((outputs || !shaped) && session_enter()) {
        tw_status status = TW_OK;
        for (int i = 0; i < c->count && status == TW_OK; i++)
            if (e->buffers[i]) {
                status = shaped ? tw_buffer_point(e->buffers[i], c->memory[i].data)
                                : tw_buffer_rebind(e->buffers[i], c->memory[i].data, c->memory[i].size);
                c->args[i] = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = e->buffers[i]};
            }
        tw_stream *queue = e->device >= 0 ? desk->stream : NULL;
        if (queue) tw_stream_rebind(queue, stream);
        if (status == TW_OK)
            status = tw_kernel_launch(e->raw, queue, shaped ? NULL : extents, c->args, (size_t)c->count);
        if (session_leave_with(status, (PyObject *)c->f)) result = Py_NewRef(shaped ? outputs : e->result);
    }
    Py_XDECREF(outputs);
    entry_drop(e, c->count, true);
    return result;
}

/* Arguments are taken apart, by Python where that is more than native_parts.c knows, and the function that takes the
 * parts is launched. */
static PyObject *launch_structured(Call *c, PyObject *args, PyObject *kwargs, PyObject *grid, PyObject *meta,
                                   Purpose purpose) {
    /* Anew: to be a tl.constexpr says more than its value. */
    memset(c->values, 0, (size_t)(c->count + KEYWORDS) * sizeof *c->values);
    if (!bind(c, args, kwargs, false)) return NULL;
    take_changes(c, meta);
    PyObject *result = NULL;
    if (parts_launch(c, grid, purpose, &result)) return result;
    PyObject *dict = bound_dict(c, false), *options = PyDict_New();
    bool ok = dict && options;
    for (int i = 0; ok && i < KEYWORDS; i++)
        if (c->values[c->count + i]) ok = PyDict_SetItem(options, keyword_names[i], c->values[c->count + i]) == 0;
    if (ok)
        result = PyObject_CallMethod((PyObject *)c->f, "launch_structured", "OOOi", grid, dict, options, (int)purpose);
    Py_XDECREF(dict);
    Py_XDECREF(options);
    return result;
}

/* What was compiled is still what the source and its names say, and the source is parsed. */
static bool refresh(Function *f) {
    if (f->sources != session.sources) { /* a function that it calls has another text */
        if (!entries_may_go(f, 1)) return false;
        entries_forget(f);
    }
    f->sources = session.sources;
    return function_open(f) && globals_kept(f) && function_open(f);
}

static PyObject *run(Function *f, PyObject *grid, PyObject *args, PyObject *kwargs, Purpose purpose) {
    Call call;
    if (!refresh(f) || !call_begin(&call, f)) return NULL;
    PyObject *result = NULL, *meta = NULL;
    bool launches = purpose == PURPOSE_LAUNCH || purpose == PURPOSE_SANITIZE;
    call.sanitize = purpose == PURPOSE_SANITIZE;
    bool ok = bind(&call, args, kwargs, f->shaped && !launches);
    PyObject *extents = !ok ? NULL : launches && !f->shaped ? call_grid(&call, grid, &meta) : Py_NewRef(grid);
    ok = extents && classify(&call);
    if (ok && call.sanitize && call.device >= 0) {
        PyErr_Format(PyExc_ValueError,
                     "kernel `%U` is sanitized on the host: pass arrays that lie there (tensor.cpu())", f->name);
    } else if (ok && call.structured) {
        result = launch_structured(&call, args, kwargs, extents, meta, purpose);
    } else if (ok) {
        Entry *e = purpose == PURPOSE_EMIT ? NULL : entry_find(f, &call);
        if (purpose == PURPOSE_EMIT) {
            const char *target;
            if (PyArg_ParseTuple(grid, "z", &target)) result = entry_emit(&call, target);
        } else if (purpose == PURPOSE_PREPARE) {
            if (e || entry_prepare(&call)) result = Py_NewRef(Py_None);
        } else {
            if (!e) e = entry_make(&call, purpose == PURPOSE_WARMUP);
            if (!e && !PyErr_Occurred())
                result = Py_NewRef(Py_None); /* a hook keeps it from being compiled */
            else if (e)
                result = purpose == PURPOSE_WARMUP ? Py_NewRef(e->result) : launch(&call, e, extents, meta != NULL);
        }
    }
    call_end(&call);
    Py_XDECREF(extents);
    Py_XDECREF(meta);
    return result;
}

PyObject *launch_run(Function *f, PyObject *grid, PyObject *args, PyObject *kwargs, Purpose purpose) {
    f->users++;
    PyObject *result = run(f, grid, args, kwargs, purpose);
    f->users--;
    return result;
}
