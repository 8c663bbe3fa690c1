/* python_python.c: Python's own functions on what is known at compile time: isinstance, list,
 * enumerate, zip, getattr, hasattr; and types made by calls.
 *
 *     for i, size in enumerate((M, N)): ..      a loop over a tuple is unrolled
 *     if isinstance(x, tl.tensor): ..           decided while compiling */
#include "front/python/python.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const Builtin python_builtins[] = {
#define PYTHON(name, kinds, signature, function, code, doc) {#name, kinds, signature, function, code, doc},
#include "front/python/python_builtins.def"
#undef PYTHON
};
static const size_t python_builtin_count = sizeof python_builtins / sizeof *python_builtins;

const Builtin *py_builtin_at(const Lower *l, size_t index) {
    size_t own = l->domain->builtin_count;
    if (index < own) return &l->domain->builtins[index];
    return index - own < python_builtin_count ? &python_builtins[index - own] : NULL;
}

const Builtin *py_builtin(const Lower *l, const char *name, char kind) {
    const Builtin *builtin;
    for (size_t i = 0; (builtin = py_builtin_at(l, i)); i++)
        if (strchr(builtin->kinds, kind) && strcmp(builtin->name, name) == 0) return builtin;
    return NULL;
}

const char *py_title(Lower *l, const Builtin *builtin) {
    bool own = builtin >= l->domain->builtins && builtin < l->domain->builtins + l->domain->builtin_count;
    if (own) return l->domain->title(l, builtin);
    const char *before = *builtin->kinds == 'Y' ? "math." : *builtin->kinds == 'I' ? "itertools." : "";
    return arena_printf(l->arena, "%s%s", before, builtin->name);
}

/* The parts of Python's own `math` that are constants. */
static bool math_constant(const char *attr, Val *value) {
    static const struct {
        const char *name;
        double value;
    } table[] = {{"pi", 3.14159265358979323846},
                 {"e", 2.71828182845904523536},
                 {"tau", 6.28318530717958647692},
                 {"inf", INFINITY},
                 {"nan", NAN}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, attr) == 0) {
            *value = val_float(table[i].value);
            return true;
        }
    return false;
}

Val py_library_attribute(Lower *l, const char *path, const char *attr) {
    static const struct {
        const char *module;
        char kind;
    } modules[] = {{"builtins", 'P'}, {"math", 'Y'}, {"itertools", 'I'}};
    Val value;
    if (strcmp(path, "math") == 0 && math_constant(attr, &value)) return value;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        const Builtin *builtin = strcmp(path, modules[i].module) == 0 ? py_builtin(l, attr, modules[i].kind) : NULL;
        if (builtin) return (Val){.kind = VAL_BUILTIN, .builtin = builtin};
    }
    return (Val){.kind = VAL_UNBOUND};
}

Val py_iterable(Lower *l, Val v, Range range) {
    if (v.kind == VAL_TUPLE || v.kind == VAL_ERROR) return v;
    const Range3 *r = v.kind == VAL_RANGE ? v.range : NULL;
    if (!r || r->start.kind != VAL_INT || r->stop.kind != VAL_INT || r->step.kind != VAL_INT)
        return py_error(l, DIAG_EVAL_ITERABLE, range, val_describe(l, v));
    VEC(Val) items = {0};
    for (PyInt i = r->start.i; r->step.i > 0 ? i < r->stop.i : i > r->stop.i; i += r->step.i) {
        if (items.count >= PYTHON_MAX_TUPLE) return py_error(l, DIAG_EVAL_ITERABLE, range, "a range of so many items");
        *VEC_PUSH(&items, l->arena) = val_int(i);
    }
    return (Val){.kind = VAL_TUPLE, .items = items.at, .count = (int)items.count};
}

Val py_lower_list(Lower *l, const Call *c) { return py_iterable(l, c->args[0], c->ranges[0]); }

Val py_lower_enumerate(Lower *l, const Call *c) {
    Val over = py_iterable(l, c->args[0], c->ranges[0]);
    int64_t start;
    if (val_failed(over) || !py_want_int(l, c, 1, &start)) return val_error;
    Val *items = ARENA_ARRAY(l->arena, Val, over.count);
    for (int i = 0; i < over.count; i++) {
        Val pair[2] = {val_int(start + i), over.items[i]};
        items[i] = val_tuple(l, pair, 2);
    }
    return (Val){.kind = VAL_TUPLE, .items = items, .count = over.count};
}

Val py_lower_zip(Lower *l, const Call *c) {
    Val lists = c->args[0];
    int shortest = lists.count ? PYTHON_MAX_TUPLE : 0;
    Val *columns = ARENA_ARRAY(l->arena, Val, lists.count);
    for (int k = 0; k < lists.count; k++) {
        columns[k] = py_iterable(l, lists.items[k], c->range);
        if (val_failed(columns[k])) return val_error;
        if (columns[k].count < shortest) shortest = columns[k].count;
    }
    Val *rows = ARENA_ARRAY(l->arena, Val, shortest);
    for (int i = 0; i < shortest; i++) {
        Val *row = ARENA_ARRAY(l->arena, Val, lists.count);
        for (int k = 0; k < lists.count; k++) row[k] = columns[k].items[i];
        rows[i] = (Val){.kind = VAL_TUPLE, .items = row, .count = lists.count};
    }
    return (Val){.kind = VAL_TUPLE, .items = rows, .count = shortest};
}

Val py_lower_product(Lower *l, const Call *c) {
    Val lists = c->args[0];
    int total = 1, width = lists.count;
    int64_t repeat = 1;
    if (!py_want_int(l, c, 1, &repeat)) return val_error;
    Val *columns = ARENA_ARRAY(l->arena, Val, width);
    for (int k = 0; k < width; k++) {
        columns[k] = py_iterable(l, lists.items[k], c->range);
        if (val_failed(columns[k])) return val_error;
    }
    if (repeat < 0 || repeat > PYTHON_MAX_TUPLE || repeat * width > PYTHON_MAX_TUPLE)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[1], py_title(l, c->builtin), "a small repeat",
                        val_describe(l, c->args[1]));
    for (int64_t k = 0; k < repeat * width; k++)
        if (__builtin_mul_overflow(total, columns[k % width].count, &total) || total > PYTHON_MAX_TUPLE)
            return py_error(l, DIAG_EVAL_ARGUMENT, c->range, py_title(l, c->builtin), "fewer combinations",
                            "too many");
    int each = (int)repeat * width;
    Val *rows = ARENA_ARRAY(l->arena, Val, total);
    for (int i = 0; i < total; i++) {
        Val *row = ARENA_ARRAY(l->arena, Val, each);
        for (int k = each, rest = i; k-- > 0;) {
            const Val *column = &columns[k % width];
            row[k] = column->items[rest % column->count];
            rest /= column->count;
        }
        rows[i] = (Val){.kind = VAL_TUPLE, .items = row, .count = each};
    }
    return (Val){.kind = VAL_TUPLE, .items = rows, .count = total};
}

/* getattr (code 0), hasattr (code 1): a miss is found in silence. */
Val py_lower_getattr(Lower *l, const Call *c) {
    bool ask = c->builtin->code == 1;
    Val of = c->args[0], name = c->args[1];
    if (name.kind != VAL_STR)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[1], py_title(l, c->builtin), "a name as a string",
                        val_describe(l, name));
    bool otherwise = !ask && c->args[2].kind != VAL_UNBOUND;
    if (!ask && !otherwise) return py_attribute(l, of, name.text, c->range);
    Diag silent, *loud = l->diag;
    diag_init(&silent, l->arena, l->unit->sources);
    l->diag = &silent;
    Val v = py_attribute(l, of, name.text, c->range);
    l->diag = loud;
    if (ask) return val_bool(!val_failed(v));
    return val_failed(v) ? c->args[2] : v;
}

Val py_lower_math(Lower *l, const Call *c) {
    for (int i = 0; i < (c->builtin->code == 'p' ? 2 : 1); i++)
        if (!val_is_number(c->args[i]))
            return py_need_constant(l, c->ranges[i], "an argument of Python's math",
                             c->args[i]);
    double x = val_as_double(c->args[0]), r = 0;
    switch (c->builtin->code) {
    case 's': r = sqrt(x); break;
    case '2': r = log2(x); break;
    case 'l': r = log(x); break;
    case 'e': r = exp(x); break;
    case 'p': r = pow(x, val_as_double(c->args[1])); break;
    case 'c':
    case 'f':
        r = c->builtin->code == 'c' ? ceil(x) : floor(x);
        if (fabs(r) < 0x1p126) return val_int((PyInt)r);
        break;
    }
    if (!isfinite(r)) return py_error(l, DIAG_EVAL_TOO_LARGE, c->range, c->builtin->name);
    return val_float(r);
}

/* --- classes --- */

bool py_is_class(Val cls, const char *name) {
    if (cls.kind == VAL_BUILTIN) return strcmp(cls.builtin->name, name) == 0;
    if (cls.kind != VAL_MODULE) return false;
    const char *dot = strrchr(cls.text, '.');
    return strcmp(dot ? dot + 1 : cls.text, name) == 0;
}

/* 1 or 0; -1 for a class that is not known here. */
static int is_instance(const Lower *l, Val v, Val cls) {
    if (py_is_class(cls, "int")) return v.kind == VAL_INT || v.kind == VAL_BOOL;
    if (py_is_class(cls, "float")) return v.kind == VAL_FLOAT;
    if (py_is_class(cls, "bool")) return v.kind == VAL_BOOL;
    if (py_is_class(cls, "str")) return v.kind == VAL_STR;
    if (py_is_class(cls, "tuple") || py_is_class(cls, "list")) return v.kind == VAL_TUPLE;
    if (py_is_class(cls, "NoneType")) return v.kind == VAL_NONE;
    return l->domain->is_instance(v, cls);
}

Val py_lower_isinstance(Lower *l, const Call *c) {
    Val cls = c->args[1];
    const Val *classes = cls.kind == VAL_TUPLE ? cls.items : &cls;
    int count = cls.kind == VAL_TUPLE ? cls.count : 1;
    bool found = false;
    for (int i = 0; i < count; i++) {
        int answer = is_instance(l, c->args[0], classes[i]);
        if (answer < 0)
            return py_unsupported(l, c->ranges[1],
                                  arena_printf(l->arena, "`isinstance` with %s", val_describe(l, classes[i])));
        found = found || answer;
    }
    return val_bool(found);
}

