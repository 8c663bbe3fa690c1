/* SPDX-License-Identifier: Apache-2.0 */
/* native_entry.c: the dispatch table of a jit function: one entry for each combination of tags and
 * constants.
 *
 * An entry is compiled from its tags and constants alone, never from the arguments of the launch
 * that first needed it, so that the order of launches changes nothing. Facts about arguments beyond
 * the tags (multiples of 16, overlap) are no part of the key: the library tests them at launch. An
 * entry holds buffers that are pointed at the arguments' memory, so that a launch allocates nothing
 * in the library. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* Keyword arguments of a launch that are no parameters; what they mean says Python (runtime/options.py). */
static const char *const keywords[] = {
    "num_warps",
    "num_stages",
    "enable_fp_fusion",
    "num_ctas",
    "maxnreg",
    "debug",
    "sanitize_overflow",
    "launch_cooperative_grid",
    "launch_pdl",
    "ptx_options",
    "ir_override",
    "extern_libs",
    "clc",
    "arch",
    "enable_reflect_ftz",
    "allow_fp8e4nv",
    "max_num_imprecise_acc_default",
    "default_dot_input_precision",
    "instrumentation_mode",
    "waves_per_eu",
    "matrix_instr_nonkdim",
    "kpack",
    "schedule_hint",
    "cluster_dims",
    "warp_size",
};
_Static_assert(sizeof keywords / sizeof *keywords == KEYWORDS, "KEYWORDS counts them");
PyObject *keyword_names[KEYWORDS];

/* --- keys --- */

/* Equal as constants: 1, 1.0 and True differ, as do 0.0 and -0.0. */
bool entry_same_constant(PyObject *a, PyObject *b) {
    if (a == b) return true;
    if (!a || !b || Py_TYPE(a) != Py_TYPE(b)) return false;
    if (PyFloat_Check(a)) {
        double x = PyFloat_AsDouble(a), y = PyFloat_AsDouble(b);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    if (PyTuple_Check(a) || PyList_Check(a)) {
        Py_ssize_t n = PySequence_Size(a);
        bool same = n == PySequence_Size(b) && Py_EnterRecursiveCall(" while constants of kernels are compared") == 0;
        if (!same) {
            PyErr_Clear();
            return false;
        }
        for (Py_ssize_t i = 0; same && i < n; i++) {
            PyObject *x = PySequence_GetItem(a, i), *y = PySequence_GetItem(b, i);
            same = x && y && entry_same_constant(x, y);
            Py_XDECREF(x);
            Py_XDECREF(y);
        }
        Py_LeaveRecursiveCall();
        return same;
    }
    int same = PyObject_RichCompareBool(a, b, Py_EQ);
    if (same < 0) PyErr_Clear();
    return same == 1;
}

/* Python hashes tuples in tuples by recursion without an end, and crashes. */
static bool is_deep(PyObject *object, int left) {
    if (!PyTuple_Check(object)) return false;
    for (Py_ssize_t i = 0; left && i < PyTuple_Size(object); i++)
        if (is_deep(PyTuple_GetItem(object, i), left - 1)) return true;
    return !left;
}

uint64_t entry_hash_constant(PyObject *object) {
    Py_hash_t hash = is_deep(object, 100) ? 0 : PyObject_Hash(object);
    if (hash == -1 && PyErr_Occurred()) {
        PyErr_Clear(); /* lists and their kind: told apart by comparison alone */
        hash = 0;
    }
    return (uint64_t)hash;
}

static bool same_key(const Entry *e, const Call *c) {
    if (e->hash != c->hash || e->device != c->device || e->debug != c->debug || e->sanitize != c->sanitize)
        return false;
    for (int i = 0; i < c->count; i++) /* of an output the kernel says what it is */
        if (e->tags[i] != c->tags[i] && !c->f->params[i].output) return false;
    for (int i = 0; i < c->count + KEYWORDS; i++)
        if ((i >= c->count || c->tags[i] == TAG_CONSTANT) && !entry_same_constant(e->constants[i], c->values[i]))
            return false;
    for (int i = 0; e->shapes && i < c->count; i++)
        if (c->tags[i] > TAG_POINTER && !shape_same(&e->shapes[i], &c->memory[i].shape)) return false;
    return true;
}

Entry *entry_find(const Function *f, const Call *c) {
    if (!f->capacity) return NULL;
    for (size_t i = c->hash & (f->capacity - 1); f->entries[i]; i = (i + 1) & (f->capacity - 1))
        if (same_key(f->entries[i], c)) return f->entries[i];
    return NULL;
}

static void place(Entry **table, size_t capacity, Entry *e) {
    size_t i = e->hash & (capacity - 1);
    while (table[i]) i = (i + 1) & (capacity - 1);
    table[i] = e;
}

static bool add_entry(Function *f, Entry *e) {
    if (f->used * 2 >= f->capacity) {
        size_t capacity = f->capacity ? f->capacity * 2 : 8;
        Entry **table = PyMem_Calloc(capacity, sizeof *table);
        if (!table) return PyErr_NoMemory() != NULL;
        for (size_t i = 0; i < f->capacity; i++)
            if (f->entries[i]) place(table, capacity, f->entries[i]);
        PyMem_Free(f->entries);
        f->entries = table;
        f->capacity = capacity;
    }
    place(f->entries, f->capacity, e);
    f->used++;
    return true;
}

void entry_drop(Entry *e, int count, bool usable) {
    if (!e || --e->references > 0) return;
    if (e->buffers && usable && session_try_enter()) {
        for (int i = 0; i < count; i++) tw_buffer_destroy(e->buffers[i]);
        session_leave();
    }
    for (int i = 0; e->constants && i < count + KEYWORDS; i++) Py_XDECREF(e->constants[i]);
    Py_XDECREF(e->kernel);
    Py_XDECREF(e->result);
    PyMem_Free(e->buffers);
    PyMem_Free(e->shapes);
    PyMem_Free(e->constants);
    PyMem_Free(e->tags);
    PyMem_Free(e);
}

bool entries_may_go(const Function *f, int mine) {
    if (f->users <= mine) return true;
    PyErr_Format(PyExc_RuntimeError, "`%U`, or what it uses, changes while it is being compiled or launched", f->name);
    return false;
}

/* Forgets all that was compiled: the source has changed, or the process is a forked child. */
void entries_forget(Function *f) {
    bool usable = f->generation == session.generation;
    Entry **entries = f->entries;
    size_t capacity = f->capacity;
    tw_module *module = f->module;
    f->entries = NULL;
    f->capacity = f->used = 0;
    f->module = NULL;
    for (size_t i = 0; i < capacity; i++) entry_drop(entries[i], f->count, usable);
    PyMem_Free(entries);
    if (usable && module && session_try_enter()) {
        tw_module_destroy(module);
        session_leave();
    }
    Py_CLEAR(f->names.keep);
    Py_CLEAR(f->names.watched);
}

/* --- compile --- */

/* The argument that stands for all arguments with this tag. */
static tw_arg sample(const Function *f, const Entry *e, int i) {
    tw_arg arg = {.kind = TW_ARG_INT, .value.i = 2};
    switch (e->tags[i]) {
    case TAG_ONE: arg.value.i = 1; break;
    case TAG_I64: arg.value.i = INT64_C(1) << 40; break;
    case TAG_U64:
        arg.value.i = INT64_MIN;
        arg.flags = TW_ARG_UNSIGNED;
        break;
    case TAG_FLOAT: arg = (tw_arg){.kind = TW_ARG_FLOAT, .value.f = 0.5}; break;
    case TAG_BOOL: arg = (tw_arg){.kind = TW_ARG_BOOL}; break;
    default:
        if (e->tags[i] > TAG_POINTER) arg = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = e->buffers[i]};
    }
    if (f->params[i].plain) arg.flags |= TW_ARG_RUNTIME;
    return arg;
}

static bool make_buffers(Entry *e, int count) {
    tw_status status = TW_OK;
    if (!session_enter()) return false;
    for (int i = 0; i < count && status == TW_OK; i++) {
        if (e->tags[i] <= TAG_POINTER || e->buffers[i]) continue;
        int64_t none = 0, dtype = e->tags[i] - TAG_POINTER;
        const Shape *shape = e->shapes ? &e->shapes[i] : NULL;
        tw_buffer_options options;
        tw_buffer_options_init(&options);
        if (shape) {
            options.strides = shape->stride;
            options.size = (size_t)shape_span(shape) * tw_dtype_size((int32_t)dtype);
        }
        if (e->device >= 0) {
            options.target = "cuda";
            options.device = e->device;
        }
        options.data = e; /* no element is there: the launch says where they are */
        status = tw_buffer_create(desk->context, (int32_t)dtype, shape ? (int32_t)shape->rank : 1,
                                  shape ? shape->extent : &none, &options, &e->buffers[i]);
    }
    return session_leave_with(status, NULL);
}

static PyObject *options_dict(const Entry *e, int count) {
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && i < KEYWORDS; i++)
        if (e->constants[count + i] && PyDict_SetItem(dict, keyword_names[i], e->constants[count + i]) < 0)
            Py_CLEAR(dict);
    return dict;
}

enum { MOST_PAIRS = KEYWORDS + 1 }; /* and asserts */

/* The target and the options for the keywords of the launch. Their texts live as long as what is returned; NULL: error
 * set. */
static PyObject *library_options(const Function *f, const Entry *e, tw_compile_options *options, tw_pair *pairs) {
    PyObject *given = f->shaped ? NULL : options_dict(e, f->count), *name, *text, *target, *found, *told = NULL;
    const char *place = options->target ? options->target : "cpu";
    if (f->shaped)
        told = f->options ? Py_BuildValue("(sO)", place, f->options) : Py_BuildValue("(s{})", place);
    else if (given)
        told = PyObject_CallFunction(session.library_options, "OsO", given, place, e->debug ? Py_True : Py_False);
    Py_XDECREF(given);
    if (!told) return NULL;
    bool ok = PyArg_ParseTuple(told, "UO!", &target, &PyDict_Type, &found);
    ok = ok && (options->target = PyUnicode_AsUTF8AndSize(target, NULL)) && PyDict_Size(found) < MOST_PAIRS;
    for (Py_ssize_t at = 0; ok && PyDict_Next(found, &at, &name, &text);) {
        tw_pair *pair = &pairs[options->option_count++];
        ok = (pair->name = PyUnicode_AsUTF8AndSize(name, NULL)) && (pair->value = PyUnicode_AsUTF8AndSize(text, NULL));
    }
    pairs[options->option_count++] = (tw_pair){"asserts", e->debug ? "on" : "off"};
    options->options = pairs;
    if (!ok) Py_CLEAR(told);
    if (!ok && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "options of the library are texts");
    return told;
}

/* What the library warns of, as Python does it; false: it became an exception. */
static bool warn(const char *text) {
    static const char label[] = "warning: ";
    if (!text || !*text) return true;
    if (strncmp(text, label, sizeof label - 1) == 0) text += sizeof label - 1;
    PyObject *words = PyUnicode_FromString(text), *line = words ? PyObject_CallMethod(words, "rstrip", NULL) : NULL;
    const char *shown = line ? PyUnicode_AsUTF8AndSize(line, NULL) : NULL;
    bool ok = shown && PyErr_WarnEx(PyExc_RuntimeWarning, shown, 1) == 0;
    Py_XDECREF(line);
    Py_XDECREF(words);
    return ok;
}

static void destroy_kernel(tw_kernel *kernel) {
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (session_try_enter()) {
        tw_kernel_destroy(kernel);
        session_leave();
    }
    PyErr_Restore(kind, value, trace);
}

/* What is made of an entry. */
typedef struct Order {
    tw_module *module;
    PyObject *keep; /* list: what texts of constants point into */
    int stage;
    bool keep_ir;
    const char *target; /* NULL: where its arrays lie */
} Order;

/* Compiles for an entry's tags and constants. */
static tw_kernel *compile(Function *f, Entry *e, const Order *order) {
    tw_arg args[MAX_PARAMS] = {0};
    tw_object *objects = PyMem_Calloc((size_t)f->count + 1, sizeof *objects);
    tw_pair pairs[MOST_PAIRS];
    PyObject *texts = NULL;
    tw_kernel *kernel = NULL;
    if (!objects) return (tw_kernel *)PyErr_NoMemory();
    bool ok = true;
    for (int i = 0; ok && i < f->count; i++) {
        if (e->tags[i] != TAG_CONSTANT) {
            args[i] = sample(f, e, i);
            continue;
        }
        if (!e->constants[i]) continue; /* absent */
        ok = object_describe(e->constants[i], order->keep, &objects[i]);
        /* A number for a parameter that is no constant by itself would live at run time. */
        int kind = objects[i].value.kind;
        bool number = kind == TW_ARG_BOOL || kind == TW_ARG_INT || kind == TW_ARG_FLOAT;
        args[i] = objects[i].kind == TW_OBJECT_VALUE && (f->params[i].constant || !number)
                      ? objects[i].value
                      : (tw_arg){.kind = TW_ARG_OBJECT, .value.object = &objects[i]};
    }
    if (ok) {
        tw_compile_options options;
        tw_compile_options_init(&options);
        bool on_cuda = e->device >= 0;
        options.target = on_cuda ? "cuda" : getenv("TILEWRIGHT_TARGET"); /* NULL: the CPU */
        const char *emulate = getenv("TILEWRIGHT_EMULATE");
        if (!on_cuda && emulate && *emulate && strcmp(emulate, "0") != 0 && !e->sanitize) {
            options.target = "cuda"; /* its text, on the host */
            options.emulate = 1;
        }
        if (order->target) {
            options.target = order->target;
            options.emulate = 0;
        }
        options.device = on_cuda && !order->target ? e->device : 0;
        options.sanitize = e->sanitize && !order->target; /* the text for a target is a plain one */
        options.args = args;
        options.arg_count = (size_t)f->count;
        options.stage = order->stage;
        options.keep_ir = order->keep_ir;
        options.specialize_ones = 1;
        Py_CLEAR(desk->cause);
        texts = library_options(f, e, &options, pairs);
        ok = texts && session_follow_cache() && session_enter();
        if (ok) {
            desk->compiling = on_cuda ? "cuda" : "cpu";
            tw_status status = TW_OK;
            if (on_cuda && !desk->stream && order->stage == TW_STAGE_RUN)
                status = tw_stream_wrap(desk->context, "cuda", NULL, &desk->stream);
            if (status == TW_OK) status = tw_kernel_compile(order->module, NULL, &options, &kernel);
            desk->compiling = NULL;
            char *warnings = status == TW_OK ? strdup(tw_context_warnings(desk->context)) : NULL;
            session_leave_with(status, (PyObject *)f);
            if (!warn(warnings) && kernel) { /* the user wants warnings as exceptions */
                destroy_kernel(kernel);
                kernel = NULL;
            }
            free(warnings);
        }
    }
    Py_XDECREF(texts);
    PyMem_Free(objects);
    return kernel;
}

/* What Python knows of a compile before it begins: a note for make_kernel; None: a hook says no. */
static PyObject *announce(Function *f, const Entry *e, PyObject *options, bool warmup) {
    if (f->shaped) return Py_NewRef(Py_True);
    PyObject *constants = PyTuple_New(f->count);
    for (int i = 0; constants && i < f->count; i++)
        PyTuple_SetItem(constants, i, Py_NewRef(e->constants[i] ? e->constants[i] : Py_None));
    PyObject *note = constants && options
                         ? PyObject_CallFunction(session.before_compile, "ONOOiO", (PyObject *)f,
                                                 PyBytes_FromStringAndSize((const char *)e->tags, (Py_ssize_t)f->count),
                                                 constants, options, (int)e->device, warmup ? Py_True : Py_False)
                         : NULL;
    Py_XDECREF(constants);
    return note;
}

/* An entry without its kernel; NULL: error set. */
static Entry *new_entry(const Call *c) {
    Entry *e = PyMem_Calloc(1, sizeof *e);
    if (!e) return (Entry *)PyErr_NoMemory();
    e->references = 1;
    e->hash = c->hash;
    e->device = c->device;
    e->debug = c->debug;
    e->sanitize = c->sanitize;
    e->tags = PyMem_Calloc((size_t)c->count + 1, 1);
    e->buffers = PyMem_Calloc((size_t)c->count + 1, sizeof *e->buffers);
    e->constants = PyMem_Calloc((size_t)(c->count + KEYWORDS), sizeof *e->constants);
    if (c->f->shaped) e->shapes = PyMem_Calloc((size_t)c->count + 1, sizeof *e->shapes);
    bool ok = e->tags && e->buffers && e->constants && (e->shapes || !c->f->shaped);
    if (!ok) PyErr_NoMemory();
    for (int i = 0; ok && e->shapes && i < c->count; i++)
        if (c->tags[i] > TAG_POINTER) e->shapes[i] = c->memory[i].shape;
    for (int i = 0; ok && i < c->count + KEYWORDS; i++)
        if (c->values[i] && (i >= c->count || c->tags[i] == TAG_CONSTANT)) e->constants[i] = Py_NewRef(c->values[i]);
    if (ok) memcpy(e->tags, c->tags, (size_t)c->count);
    if (ok && make_buffers(e, c->count)) return e;
    entry_drop(e, c->count, true);
    return NULL;
}

Entry *entry_make(Call *c, bool warmup) {
    Function *f = c->f;
    Entry *e = new_entry(c);
    if (!e) return NULL;
    PyObject *options = options_dict(e, c->count);
    PyObject *note = options ? announce(f, e, options, warmup) : NULL;
    desk->note = note;
    Order order = {.module = f->module, .keep = f->names.keep, .stage = TW_STAGE_RUN};
    tw_kernel *raw = note && note != Py_None ? compile(f, e, &order) : NULL;
    desk->note = NULL;
    if (raw) {
        e->raw = raw;
        e->kernel = kernel_make(raw);
        if (e->kernel && f->shaped) {
            if (outputs_plan(f, e) && make_buffers(e, f->count)) e->result = Py_NewRef(e->kernel);
        } else if (e->kernel)
            e->result =
                PyObject_CallFunctionObjArgs(session.make_kernel, (PyObject *)f, e->kernel, options, note, NULL);
    }
    Py_XDECREF(note);
    Py_XDECREF(options);
    if (e->result && add_entry(f, e)) {
        bool tells = session.kernel_ready && !f->shaped;
        PyObject *told =
            tells ? PyObject_CallFunctionObjArgs(session.kernel_ready, e->result, NULL) : Py_NewRef(Py_None);
        Py_XDECREF(told);
        return told ? e : NULL; /* the entry stays: it is as good as it was */
    }
    entry_drop(e, c->count, true);
    return NULL;
}

PyObject *entry_lower(Function *f, Entry *e, const char *target) {
    Order order = {f->module, f->names.keep, TW_STAGE_EMIT, true, target};
    tw_kernel *kernel = compile(f, e, &order);
    return kernel ? kernel_make(kernel) : NULL;
}

PyObject *entry_emit(Call *c, const char *target) {
    Entry *e = new_entry(c);
    PyObject *kernel = e ? entry_lower(c->f, e, target) : NULL;
    entry_drop(e, c->count, true);
    return kernel;
}

bool entry_prepare(Call *c) {
    if (!session_take_desk()) return false;
    Names names = {c->f, PyList_New(0), NULL};
    Order order = {.keep = names.keep, .stage = TW_STAGE_BUILD};
    Entry *e = names.keep ? new_entry(c) : NULL;
    bool ok = e && function_load(c->f, &names, &order.module);
    tw_kernel *kernel = ok ? compile(c->f, e, &order) : NULL;
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (session_enter()) {
        tw_kernel_destroy(kernel);
        tw_module_destroy(order.module);
        for (int i = 0; e && i < c->count; i++) tw_buffer_destroy(e->buffers[i]);
        session_leave();
    }
    if (e) memset(e->buffers, 0, (size_t)c->count * sizeof *e->buffers);
    entry_drop(e, c->count, false);
    Py_XDECREF(names.keep);
    PyErr_Restore(kind, value, trace);
    session_leave_desk();
    return kernel != NULL;
}

bool entry_init(void) {
    for (int i = 0; i < KEYWORDS; i++)
        if (!(keyword_names[i] = PyUnicode_InternFromString(keywords[i]))) return false;
    return true;
}
