/* native_function.c: the type Function: a jit function, its parameters, and the table of its compiled kernels.
 *
 *     f[grid](*args, num_warps=4, **kw)        what a launch costs is this file
 *
 * A launch binds arguments to parameters, gives each a tag (constant, 1, int32, int64, uint64, float, bool, None, pointer of a
 * dtype), hashes tags and constants, and finds the Entry compiled for them; or compiles one, from the tags and constants
 * alone. Other facts about arguments (multiples of 16, overlap) are no part of the key: the library tests them at launch.
 * Entries hold buffers that are pointed at the arguments' memory, so that a launch allocates nothing in the library. */
#include "native.h"

#include <string.h>

PyTypeObject *function_type;
static PyTypeObject *bound_type;

typedef enum Tag {
    TAG_CONSTANT,
    TAG_ONE,
    TAG_NUMBER, /* the parameter's annotation says which */
    TAG_I32,
    TAG_I64,
    TAG_U64,
    TAG_FLOAT,
    TAG_BOOL,
    TAG_POINTER /* + dtype */
} Tag;

/* Keyword arguments of a launch that are no parameters. `option` is the library's name for it, where it has one. */
static const struct {
    const char *name, *option;
} keywords[] = {
    {"num_warps", "num_warps"},
    {"num_stages", "num_stages"},
    {"enable_fp_fusion", "fuse"},
    {"num_ctas", NULL},
    {"maxnreg", NULL},
    {"debug", NULL},
    {"sanitize_overflow", NULL},
    {"launch_cooperative_grid", NULL},
    {"launch_pdl", NULL},
    {"ptx_options", NULL},
    {"ir_override", NULL},
    {"extern_libs", NULL},
    {"clc", NULL},
    {"arch", NULL},
    {"enable_reflect_ftz", NULL},
    {"allow_fp8e4nv", NULL},
    {"max_num_imprecise_acc_default", NULL},
    {"default_dot_input_precision", NULL},
    {"instrumentation_mode", NULL},
    {"waves_per_eu", NULL},
    {"matrix_instr_nonkdim", NULL},
    {"kpack", NULL},
    {"schedule_hint", NULL},
    {"cluster_dims", NULL},
    {"warp_size", NULL},
};
enum { KEYWORDS = sizeof keywords / sizeof *keywords, MAX_PARAMS = 256, FEW = 24 };
static PyObject *keyword_names[KEYWORDS];

struct Entry {
    uint64_t hash;
    int references;
    tw_kernel *raw;
    PyObject *kernel;     /* the Kernel, which owns raw */
    PyObject *result;     /* what Python made of it */
    tw_buffer **buffers;  /* by parameter; NULL for numbers */
    uint8_t *tags;        /* by parameter */
    PyObject **constants; /* parameters, then keywords; NULL: not given, or no constant */
};

/* One launch under way. */
typedef struct Call {
    Function *f;
    int count;
    PyObject **values; /* borrowed; parameters, then keywords */
    uint8_t *tags;
    tw_arg *args;
    Memory *memory;
    uint64_t hash;
    PyObject *few_values[FEW + KEYWORDS];
    uint8_t few_tags[FEW];
    tw_arg few_args[FEW];
    Memory few_memory[FEW];
    void *many; /* where parameters are more than FEW */
} Call;

/* --- keys --- */

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Equal as constants: 1, 1.0 and True differ, as do 0.0 and -0.0. */
static bool same_constant(PyObject *a, PyObject *b) {
    if (a == b) return true;
    if (!a || !b || Py_TYPE(a) != Py_TYPE(b)) return false;
    if (PyFloat_Check(a)) {
        double x = PyFloat_AsDouble(a), y = PyFloat_AsDouble(b);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    if (PyTuple_Check(a) || PyList_Check(a)) {
        Py_ssize_t n = PySequence_Size(a);
        bool same = n == PySequence_Size(b);
        for (Py_ssize_t i = 0; same && i < n; i++) {
            PyObject *x = PySequence_GetItem(a, i), *y = PySequence_GetItem(b, i);
            same = x && y && same_constant(x, y);
            Py_XDECREF(x);
            Py_XDECREF(y);
        }
        return same;
    }
    int same = PyObject_RichCompareBool(a, b, Py_EQ);
    if (same < 0) PyErr_Clear();
    return same == 1;
}

static uint64_t hash_constant(PyObject *object) {
    Py_hash_t hash = PyObject_Hash(object);
    if (hash == -1 && PyErr_Occurred()) {
        PyErr_Clear(); /* lists and their kind: told apart by comparison alone */
        hash = 0;
    }
    return (uint64_t)hash;
}

static bool same_key(const Entry *e, const Call *c) {
    if (e->hash != c->hash || memcmp(e->tags, c->tags, (size_t)c->count) != 0) return false;
    for (int i = 0; i < c->count + KEYWORDS; i++)
        if ((i >= c->count || c->tags[i] == TAG_CONSTANT) && !same_constant(e->constants[i], c->values[i])) return false;
    return true;
}

static Entry *find_entry(const Function *f, const Call *c) {
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

static void drop_entry(Entry *e, int count, bool usable) {
    if (!e || --e->references > 0) return;
    for (int i = 0; e->buffers && usable && i < count; i++) tw_buffer_destroy(e->buffers[i]);
    for (int i = 0; e->constants && i < count + KEYWORDS; i++) Py_XDECREF(e->constants[i]);
    Py_XDECREF(e->kernel);
    Py_XDECREF(e->result);
    PyMem_Free(e->buffers);
    PyMem_Free(e->constants);
    PyMem_Free(e->tags);
    PyMem_Free(e);
}

/* Forgets all that was compiled: the source has changed, or the process is a forked child. */
static void forget(Function *f) {
    bool usable = f->generation == session.generation;
    Entry **entries = f->entries;
    size_t capacity = f->capacity;
    tw_module *module = f->module;
    f->entries = NULL;
    f->capacity = f->used = 0;
    f->module = NULL;
    for (size_t i = 0; i < capacity; i++) drop_entry(entries[i], f->count, usable);
    PyMem_Free(entries);
    if (usable && module) tw_module_destroy(module);
    Py_CLEAR(f->keep);
    Py_CLEAR(f->watched);
}

/* --- the module --- */

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

static bool open_module(Function *f) {
    if (f->module && f->generation == session.generation) return true;
    if (!session_open()) return false;
    forget(f);
    f->generation = session.generation;
    f->keep = PyList_New(0);
    f->watched = PyDict_New();
    Py_ssize_t size = 0;
    const char *text = PyUnicode_AsUTF8AndSize(f->source, &size), *file = PyUnicode_AsUTF8AndSize(f->file, NULL);
    if (!f->keep || !f->watched || !text || !file) return false;
    tw_resolver resolver = object_resolver;
    resolver.user = f;
    tw_module_options options;
    tw_module_options_init(&options);
    options.door = "triton";
    options.resolver = &resolver;
    options.scope = f;
    options.first_line = f->line;
    if (!session_enter()) return false;
    tw_status status = tw_module_load_text(session.context, file, text, (size_t)size, &options, &f->module);
    session_leave();
    if (status != TW_OK) return session_fail(status, (PyObject *)f) != NULL;
    return learn_parameters(f);
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
    for (int i = 0; i < count; i++) {
        if (e->tags[i] <= TAG_POINTER) continue;
        int64_t none = 0;
        tw_buffer_options options;
        tw_buffer_options_init(&options);
        options.data = e; /* no element is there: the launch says where they are */
        if (tw_buffer_create(session.context, e->tags[i] - TAG_POINTER, 1, &none, &options, &e->buffers[i]) != TW_OK) {
            session_fail(TW_ERROR_ARGUMENT, NULL);
            return false;
        }
    }
    return true;
}

/* The library's options that keywords of the launch set; texts live in `texts`. */
static size_t library_options(const Entry *e, int count, tw_pair *pairs, char (*texts)[24]) {
    size_t n = 0;
    for (int i = 0; i < KEYWORDS; i++) {
        PyObject *value = e->constants[count + i];
        if (!keywords[i].option || !value || value == Py_None) continue;
        if (PyBool_Check(value))
            strcpy(texts[n], value == Py_True ? "on" : "off");
        else if (PyLong_Check(value))
            PyOS_snprintf(texts[n], sizeof texts[n], "%lld", PyLong_AsLongLong(value));
        else
            continue;
        pairs[n] = (tw_pair){keywords[i].name, texts[n]};
        pairs[n].name = keywords[i].option;
        n++;
    }
    return n;
}

/* Compiles for an entry's tags and constants. */
static tw_kernel *compile(Function *f, Entry *e, int stage, bool keep_ir) {
    tw_arg args[MAX_PARAMS] = {0};
    tw_object *objects = PyMem_Calloc((size_t)f->count + 1, sizeof *objects);
    tw_pair pairs[KEYWORDS];
    char texts[KEYWORDS][24];
    tw_kernel *kernel = NULL;
    if (!objects) return (tw_kernel *)PyErr_NoMemory();
    bool ok = true;
    for (int i = 0; ok && i < f->count; i++) {
        if (e->tags[i] != TAG_CONSTANT) {
            args[i] = sample(f, e, i);
            continue;
        }
        ok = object_describe(e->constants[i], f->keep, &objects[i]);
        args[i] = objects[i].kind == TW_OBJECT_VALUE ? objects[i].value
                                                     : (tw_arg){.kind = TW_ARG_OBJECT, .value.object = &objects[i]};
    }
    if (ok) {
        tw_compile_options options;
        tw_compile_options_init(&options);
        options.args = args;
        options.arg_count = (size_t)f->count;
        options.options = pairs;
        options.option_count = library_options(e, f->count, pairs, texts);
        options.stage = stage;
        options.keep_ir = keep_ir;
        options.specialize_ones = 1;
        Py_CLEAR(session.cause);
        ok = session_enter();
        if (ok) {
            tw_status status = tw_kernel_compile(f->module, NULL, &options, &kernel);
            session_leave();
            if (status != TW_OK) session_fail(status, (PyObject *)f);
        }
    }
    PyMem_Free(objects);
    return kernel;
}

static PyObject *options_dict(const Entry *e, int count) {
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && i < KEYWORDS; i++)
        if (e->constants[count + i] && PyDict_SetItem(dict, keyword_names[i], e->constants[count + i]) < 0) Py_CLEAR(dict);
    return dict;
}

static Entry *make_entry(Call *c) {
    Function *f = c->f;
    Entry *e = PyMem_Calloc(1, sizeof *e);
    if (!e) return (Entry *)PyErr_NoMemory();
    e->references = 1;
    e->hash = c->hash;
    e->tags = PyMem_Calloc((size_t)c->count + 1, 1);
    e->buffers = PyMem_Calloc((size_t)c->count + 1, sizeof *e->buffers);
    e->constants = PyMem_Calloc((size_t)(c->count + KEYWORDS), sizeof *e->constants);
    bool ok = e->tags && e->buffers && e->constants;
    if (!ok) PyErr_NoMemory();
    for (int i = 0; ok && i < c->count + KEYWORDS; i++)
        if (c->values[i] && (i >= c->count || c->tags[i] == TAG_CONSTANT)) e->constants[i] = Py_NewRef(c->values[i]);
    if (ok) memcpy(e->tags, c->tags, (size_t)c->count);
    ok = ok && make_buffers(e, c->count);
    tw_kernel *raw = ok ? compile(f, e, TW_STAGE_RUN, false) : NULL;
    if (raw) {
        e->raw = raw;
        e->kernel = kernel_make(raw);
        PyObject *options = e->kernel ? options_dict(e, c->count) : NULL;
        e->result = options && session.make_kernel
                        ? PyObject_CallFunctionObjArgs(session.make_kernel, (PyObject *)f, e->kernel, options, NULL)
                        : NULL;
        Py_XDECREF(options);
    }
    if (e->result && add_entry(f, e)) return e;
    drop_entry(e, c->count, true);
    return NULL;
}

/* --- arguments --- */

static bool call_begin(Call *c, Function *f) {
    int n = f->count;
    c->f = f;
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

static bool bind(Call *c, PyObject *args, PyObject *kwargs) {
    Function *f = c->f;
    Py_ssize_t given = PyTuple_Size(args), at = 0;
    PyObject *key, *value;
    if (given > f->count) {
        PyErr_Format(PyExc_TypeError, "too many positional arguments: %zd for the %d parameters of `%U`", given, f->count, f->name);
        return false;
    }
    for (Py_ssize_t i = 0; i < given; i++) c->values[i] = PyTuple_GetItem(args, i);
    while (kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
        int i = find_keyword(f, key);
        if (i < 0) {
            PyErr_Format(PyExc_KeyError, "Keyword argument %U was specified but unrecognised", key);
            return false;
        }
        if (i < f->count && c->values[i]) {
            PyErr_Format(PyExc_TypeError, "multiple values for argument '%U' of `%U`", key, f->name);
            return false;
        }
        c->values[i] = value;
    }
    for (int i = 0; i < f->count; i++) {
        if (!c->values[i]) c->values[i] = f->params[i].fallback;
        if (!c->values[i]) {
            PyErr_Format(PyExc_TypeError, "missing a required argument: '%U' of `%U`", f->params[i].name, f->name);
            return false;
        }
    }
    return true;
}

static Tag tag_number(const Param *p, const tw_arg *arg) {
    if (p->typed) return TAG_NUMBER;
    if (arg->kind == TW_ARG_FLOAT) return TAG_FLOAT;
    if (arg->kind == TW_ARG_BOOL) return TAG_BOOL;
    if (arg->flags & TW_ARG_UNSIGNED) return TAG_U64;
    if (arg->value.i == 1 && !p->plain) return TAG_ONE;
    return arg->value.i >= INT32_MIN && arg->value.i <= INT32_MAX ? TAG_I32 : TAG_I64;
}

/* Tags, arguments and the hash. */
static bool classify(Call *c) {
    Function *f = c->f;
    uint64_t hash = 0;
    for (int i = 0; i < c->count; i++) {
        const Param *p = &f->params[i];
        PyObject *value = c->values[i];
        PyObject *inner = object_unwrap(value);
        ArgumentKind kind = ARGUMENT_CONSTANT;
        if (!p->constant && inner == value) {
            kind = argument_take(value, PyUnicode_AsUTF8AndSize(p->name, NULL), &c->args[i], &c->memory[i]);
            if (kind == ARGUMENT_ERROR) return false;
        }
        if (kind == ARGUMENT_MEMORY)
            c->tags[i] = (uint8_t)(TAG_POINTER + c->memory[i].dtype);
        else if (kind == ARGUMENT_NUMBER)
            c->tags[i] = (uint8_t)tag_number(p, &c->args[i]);
        else
            c->tags[i] = TAG_CONSTANT;
        if (c->tags[i] == TAG_CONSTANT) {
            c->values[i] = inner;
            hash = mix(hash, hash_constant(inner));
        }
        hash = mix(hash, c->tags[i]);
    }
    for (int i = c->count; i < c->count + KEYWORDS; i++)
        if (c->values[i]) hash = mix(hash, hash_constant(c->values[i]) + (uint64_t)(i - c->count));
    c->hash = hash;
    return true;
}

/* Have the globals that compiled kernels rely on kept their values? A function that is another one now makes the kernels be
 * compiled again; a constant that has changed is an error, as in Triton. */
static bool globals_kept(Function *f) {
    Py_ssize_t at = 0;
    PyObject *key, *row;
    while (f->watched && PyDict_Next(f->watched, &at, &key, &row)) {
        PyObject *where = PyTuple_GetItem(row, 0), *id = PyTuple_GetItem(row, 1), *old = PyTuple_GetItem(row, 2), *now;
        if (PyDict_Check(where))
            now = PyDict_GetItemWithError(where, id);
        else {
            now = PyObject_GetAttrString(where, "cell_contents");
            Py_XDECREF(now);
        }
        if (now == old) continue;
        PyErr_Clear();
        PyObject *before = object_unwrap(old), *after = now ? object_unwrap(now) : NULL;
        if (same_constant(before, after)) continue;
        if (PyObject_TypeCheck(before, function_type) && after) {
            forget(f);
            return true;
        }
        PyErr_Format(PyExc_RuntimeError, "Global variable %U has changed since we compiled this kernel, from %R to %R", id, before,
                     after ? after : Py_None);
        return false;
    }
    return true;
}

/* --- launch --- */

static PyObject *bound_dict(const Call *c) {
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && i < c->count; i++)
        if (PyDict_SetItem(dict, c->f->params[i].name, c->values[i]) < 0) Py_CLEAR(dict);
    return dict;
}

static bool read_grid(const Call *c, PyObject *grid, int64_t out[3]) {
    PyObject *made = NULL;
    out[0] = out[1] = out[2] = 1;
    if (PyCallable_Check(grid)) {
        PyObject *dict = bound_dict(c);
        grid = made = dict ? PyObject_CallFunctionObjArgs(grid, dict, NULL) : NULL;
        Py_XDECREF(dict);
        if (!grid) return false;
    }
    bool ok = true;
    bool sequence = PyTuple_Check(grid) || PyList_Check(grid);
    Py_ssize_t count = sequence ? PySequence_Size(grid) : 1;
    if (count < 1 || count > 3) {
        PyErr_Format(PyExc_ValueError, "a grid has 1 to 3 extents, not %zd", count);
        ok = false;
    }
    for (Py_ssize_t i = 0; ok && i < count; i++) {
        PyObject *item = sequence ? PySequence_GetItem(grid, i) : Py_NewRef(grid);
        PyObject *number = item ? PyNumber_Index(object_unwrap(item)) : NULL;
        out[i] = number ? PyLong_AsLongLong(number) : 0;
        ok = number && !PyErr_Occurred();
        Py_XDECREF(number);
        Py_XDECREF(item);
    }
    Py_XDECREF(made);
    return ok;
}

static PyObject *launch(Call *c, Entry *e, PyObject *grid) {
    int64_t extents[3];
    if (!read_grid(c, grid, extents)) return NULL;
    e->references++;
    PyObject *result = NULL;
    if (session_enter()) {
        for (int i = 0; i < c->count; i++)
            if (e->buffers[i]) {
                tw_buffer_rebind(e->buffers[i], c->memory[i].data, c->memory[i].size);
                c->args[i] = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = e->buffers[i]};
            }
        tw_status status = tw_kernel_launch(e->raw, NULL, extents, c->args, (size_t)c->count);
        session_leave();
        result = status == TW_OK ? Py_NewRef(e->result) : session_fail(status, (PyObject *)c->f);
    }
    drop_entry(e, c->count, true);
    return result;
}

static PyObject *run(Function *f, PyObject *grid, PyObject *args, PyObject *kwargs, bool warmup) {
    Call call;
    if (!open_module(f) || !globals_kept(f) || !open_module(f) || !call_begin(&call, f)) return NULL;
    PyObject *result = NULL;
    if (bind(&call, args, kwargs) && classify(&call)) {
        Entry *e = find_entry(f, &call);
        if (!e) e = make_entry(&call);
        if (e) result = warmup ? Py_NewRef(e->result) : launch(&call, e, grid);
    }
    call_end(&call);
    return result;
}

/* --- the type --- */

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
        PyObject *name, *fallback;
        int plain, given;
        if (!PyArg_ParseTuple(PyList_GetItem(list, f->count), "UOpp", &name, &fallback, &given, &plain)) return false;
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
    PyObject *name, *file, *source, *globals, *closure, *params;
    int line;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "UUUiO!OO!", &name, &file, &source, &line, &PyDict_Type, &globals, &closure, &PyList_Type, &params))
        return -1;
    if (f->params) {
        PyErr_SetString(PyExc_RuntimeError, "a function is set up once");
        return -1;
    }
    f->name = Py_NewRef(name);
    f->file = Py_NewRef(file);
    f->source = Py_NewRef(source);
    f->line = line;
    f->globals = Py_NewRef(globals);
    f->closure = closure == Py_None ? NULL : Py_NewRef(closure);
    return set_params(f, params) ? 0 : -1;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg) {
    Function *f = (Function *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(f->globals);
    Py_VISIT(f->closure);
    Py_VISIT(f->keep);
    Py_VISIT(f->watched);
    for (int i = 0; i < f->count; i++) Py_VISIT(f->params[i].fallback);
    for (size_t i = 0; i < f->capacity; i++)
        if (f->entries[i]) Py_VISIT(f->entries[i]->result);
    return 0;
}

static int function_clear(PyObject *self) {
    Function *f = (Function *)self;
    forget(f);
    Py_CLEAR(f->globals);
    Py_CLEAR(f->closure);
    for (int i = 0; i < f->count; i++) Py_CLEAR(f->params[i].fallback);
    return 0;
}

static void function_dealloc(PyObject *self) {
    Function *f = (Function *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    function_clear(self);
    for (int i = 0; i < f->count; i++) Py_XDECREF(f->params[i].name);
    PyMem_Free(f->params);
    Py_XDECREF(f->name);
    Py_XDECREF(f->file);
    Py_XDECREF(f->source);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *get_source(PyObject *self, void *closure) {
    (void)closure;
    return Py_NewRef(((Function *)self)->source);
}

static int set_source(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (!value || !PyUnicode_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "a source is a str");
        return -1;
    }
    forget((Function *)self);
    replace(&((Function *)self)->source, Py_NewRef(value));
    return 0;
}

static PyObject *get_hooked(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((Function *)self)->hooked);
}

static int set_hooked(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    ((Function *)self)->hooked = value && PyObject_IsTrue(value) == 1;
    return 0;
}

/* launch(grid, args, kwargs, warmup) -> what the make_kernel of the session gave */
static PyObject *function_launch(PyObject *self, PyObject *args) {
    PyObject *grid, *positional, *named;
    int warmup;
    if (!PyArg_ParseTuple(args, "OO!O!p", &grid, &PyTuple_Type, &positional, &PyDict_Type, &named, &warmup)) return NULL;
    return run((Function *)self, grid, positional, named, warmup);
}

static PyObject *function_forget(PyObject *self, PyObject *ignored) {
    (void)ignored;
    forget((Function *)self);
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

/* lower(result) -> Kernel with the IR after each pass, for a result that a launch gave */
static PyObject *function_lower(PyObject *self, PyObject *result) {
    Function *f = (Function *)self;
    for (size_t i = 0; i < f->capacity; i++) {
        Entry *e = f->entries[i];
        if (!e || e->result != result) continue;
        tw_kernel *kernel = compile(f, e, TW_STAGE_EMIT, true);
        return kernel ? kernel_make(kernel) : NULL;
    }
    PyErr_SetString(PyExc_RuntimeError, "the function's source has changed since this kernel was compiled");
    return NULL;
}

/* kernel[grid] */
typedef struct Bound {
    PyObject_HEAD
    PyObject *function, *grid;
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
    if (f->hooked)
        return PyObject_CallMethod(b->function, "run_hooked", "OOO", b->grid, args, kwargs ? kwargs : Py_None);
    return run(f, b->grid, args, kwargs, false);
}

bool function_init(PyObject *module) {
    static PyMethodDef methods[] = {
        {"launch", function_launch, METH_VARARGS, "launch(grid, args, kwargs, warmup)"},
        {"forget", function_forget, METH_NOARGS, "drops all compiled kernels"},
        {"results", function_results, METH_NOARGS, "all that launches have returned so far"},
        {"lower", function_lower, METH_O, "the Kernel behind a result, with its IR after each pass"},
        {0}};
    static PyGetSetDef getters[] = {{"source", get_source, set_source, "the text that is compiled", NULL},
                                    {"hooked", get_hooked, set_hooked, "run_hooked sees every launch", NULL},
                                    {0}};
    static PyType_Slot slots[] = {{Py_tp_init, function_setup},
                                  {Py_tp_dealloc, function_dealloc},
                                  {Py_tp_traverse, function_traverse},
                                  {Py_tp_clear, function_clear},
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, getters},
                                  {Py_mp_subscript, function_subscript},
                                  {Py_tp_doc, "a jit function"},
                                  {0, NULL}};
    static PyType_Spec spec = {"tilewright._native.Function", sizeof(Function), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    static PyType_Slot bound_slots[] = {
        {Py_tp_dealloc, bound_dealloc}, {Py_tp_call, bound_call}, {Py_tp_doc, "a jit function with its grid"}, {0, NULL}};
    static PyType_Spec bound_spec = {"tilewright._native.Bound", sizeof(Bound), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, bound_slots};
    for (int i = 0; i < KEYWORDS; i++)
        if (!(keyword_names[i] = PyUnicode_InternFromString(keywords[i].name))) return false;
    function_type = (PyTypeObject *)PyType_FromSpec(&spec);
    bound_type = (PyTypeObject *)PyType_FromSpec(&bound_spec);
    return function_type && bound_type && PyModule_AddObjectRef(module, "Function", (PyObject *)function_type) == 0 &&
           PyModule_AddObjectRef(module, "Bound", (PyObject *)bound_type) == 0;
}
