/* SPDX-License-Identifier: Apache-2.0 */
/* python_python.c: Python's own functions on what is known at compile time: isinstance, list,
 * enumerate, zip, getattr, hasattr; and types made by calls.
 *
 *     for i, size in enumerate((M, N)): ..      a loop over a tuple is unrolled
 *     if isinstance(x, tl.tensor): ..           decided while compiling */
#include "front/python/python.h"

#include <errno.h>
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
        if (text_same(builtin->name, name) && strchr(builtin->kinds, kind)) return builtin;
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
    if (v.kind == VAL_HOST && l->domain->host_in_kernels) v = py_live_dict(l, v, range);
    if (v.kind == VAL_TUPLE || v.kind == VAL_ERROR) return v;
    if (v.kind == VAL_LIST) return val_tuple(l, val_items(v), val_count(v));
    if (v.kind == VAL_DTYPE && l->domain->same) v = val_str(l->domain->elem_name(v.dtype->elem)); /* it is its name */
    if (v.kind == VAL_DICT || (v.kind == VAL_STR && py_on_host(l))) { /* the keys; the letters */
        Vals items = {0};
        for (int i = 0; v.kind == VAL_DICT && i < val_count(v); i += 2) *VEC_PUSH(&items, l->arena) = val_items(v)[i];
        for (const char *s = v.kind == VAL_STR ? v.text : ""; *s; s++)
            *VEC_PUSH(&items, l->arena) = val_str(arena_string(l->arena, s, 1));
        return (Val){.kind = VAL_TUPLE, .items = items.at, .count = (int)items.count};
    }
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

/* list; tuple (code 1) */
Val py_lower_list(Lower *l, const Call *c) {
    Val v = py_iterable(l, c->args[0], c->ranges[0]);
    return val_failed(v) || c->builtin->code ? v : val_list(l, v.items, v.count);
}

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

/* What is said of a run-time number there, and who takes one. */
static const char *math_argument(Lower *l, const char *name) {
    const char *instead = l->domain->suggest(l, name);
    return instead ? arena_printf(l->arena, "an argument of Python's math (`%s` takes others)", instead)
                   : "an argument of Python's math";
}

Val py_lower_math(Lower *l, const Call *c) {
    for (int i = 0; i < (c->builtin->code == 'p' ? 2 : 1); i++)
        if (!val_is_number(c->args[i]))
            return py_need_constant(l, c->ranges[i], math_argument(l, c->builtin->name), c->args[i]);
    double x = val_as_double(c->args[0]), r = 0;
    switch (c->builtin->code) {
    case 's': r = sqrt(x); break;
    case '2': r = log2(x); break;
    case 'l': r = log(x); break;
    case 'e': r = exp(x); break;
    case 'p': r = pow(x, val_as_double(c->args[1])); break;
    case '0': r = log10(x); break;
    case 'n': r = sin(x); break;
    case 'o': r = cos(x); break;
    case 't': r = tanh(x); break;
    case 'a': r = fabs(x); break;
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
    if (py_is_class(cls, "tuple") || py_is_class(cls, "list")) {
        bool other = py_on_host(l) && (py_is_class(cls, "list") ? v.kind == VAL_TUPLE : v.kind == VAL_LIST);
        return !other && (v.kind == VAL_TUPLE || v.kind == VAL_LIST);
    }
    if (py_is_class(cls, "dict")) return v.kind == VAL_DICT;
    if (py_is_class(cls, "NoneType")) return v.kind == VAL_NONE;
    return l->domain->is_instance(v, cls);
}

Val py_lower_isinstance(Lower *l, const Call *c) {
    Val cls = val_frozen(l, c->args[1]);
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

/* --- numbers --- */

static bool parse_float(const char *text, double *value) {
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    while (*end == ' ') end++;
    return end != text && *end == '\0' && !strpbrk(text, "xX(");
}

Val py_lower_number(Lower *l, const Call *c) {
    Val v = c->args[0];
    char to = (char)c->builtin->code;
    if (to == 'b' && val_is_const(v)) return val_bool(val_truth(v));
    double parsed;
    if (v.kind == VAL_STR && to == 'f' && parse_float(v.text, &parsed)) return val_float(parsed);
    if (v.kind == VAL_STR && to == 'i' && parse_float(v.text, &parsed) && fabs(parsed) < 0x1p53 &&
        v.text[strspn(v.text, " +-0123456789")] == 0)
        return val_int((PyInt)parsed);
    if (val_is_number(v)) {
        if (to == 'f') return val_float(val_as_double(v));
        if (v.kind != VAL_FLOAT) return val_int(v.i);
        if (fabs(v.f) < 0x1p126) return val_int((PyInt)v.f);
    }
    const char *want = to == 'f' ? "a number or a string such as 'inf', known at compile time (use "
                                   ".to(tl.float32) on tensors)"
                                 : "a number known at compile time (use .to(...) on tensors)";
    return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], py_title(l, c->builtin), want, val_describe(l, v));
}

Val py_lower_text(Lower *l, const Call *c) { return val_str(val_text(l, c->args[0])); }

Val py_lower_gcd(Lower *l, const Call *c) {
    int64_t a, b;
    if (!py_want_int(l, c, 0, &a) || !py_want_int(l, c, 1, &b)) return val_error;
    PyInt x = a < 0 ? -(PyInt)a : a, y = b < 0 ? -(PyInt)b : b, product = x * y;
    while (y) {
        PyInt rest = x % y;
        x = y;
        y = rest;
    }
    return val_int(c->builtin->code == 0 ? x : x ? product / x : 0);
}

Val py_lower_round(Lower *l, const Call *c) {
    Val v = c->args[0];
    if (v.kind == VAL_INT || v.kind == VAL_BOOL) return val_int(v.i);
    if (v.kind != VAL_FLOAT || !(fabs(v.f) < 0x1p126)) {
        py_complain(l, c, 0, "a finite number known at compile time");
        return val_error;
    }
    return val_int((PyInt)nearbyint(v.f));
}

Val py_lower_abs(Lower *l, const Call *c) {
    Val v = c->args[0];
    if (v.kind == VAL_FLOAT) return val_float(fabs(v.f));
    if (v.kind != VAL_INT && v.kind != VAL_BOOL) {
        py_complain(l, c, 0, "a number known at compile time");
        return val_error;
    }
    return v.i < 0 ? val_unary(l, PY_OP_USUB, v, c->range) : val_int(v.i);
}

Val py_lower_bit_length(Lower *l, const Call *c) {
    int bits = 0;
    (void)l;
    for (PyInt i = c->args[0].i < 0 ? -c->args[0].i : c->args[0].i; i; i >>= 1) bits++;
    return val_int(bits);
}

Val py_lower_divmod(Lower *l, const Call *c) {
    Val parts[2] = {val_binary(l, PY_OP_FLOORDIV, c->args[0], c->args[1], c->range)};
    if (val_failed(parts[0])) return val_error;
    parts[1] = val_binary(l, PY_OP_MOD, c->args[0], c->args[1], c->range);
    return val_failed(parts[1]) ? val_error : val_tuple(l, parts, 2);
}

/* --- over items --- */

/* sum, math.prod: also of run-time values, where the domain has the operator */
Val py_lower_sum(Lower *l, const Call *c) {
    bool product = c->builtin->code == '*';
    Val over = py_iterable(l, c->args[0], c->ranges[0]), all = product ? val_int(1) : c->args[1];
    for (int i = 0; !val_failed(over) && !val_failed(all) && i < over.count; i++)
        all = l->domain->binary(l, product ? PY_OP_MUL : PY_OP_ADD, all, over.items[i], c->range);
    return val_failed(over) ? over : all;
}

Val py_lower_any(Lower *l, const Call *c) {
    Val over = py_iterable(l, c->args[0], c->ranges[0]);
    bool any = c->builtin->code == 1;
    for (int i = 0; !val_failed(over) && i < over.count; i++) {
        if (!val_is_const(over.items[i])) return py_need_constant(l, c->range, "what is asked here", over.items[i]);
        if (val_truth(over.items[i]) == any) return val_bool(any);
    }
    return val_failed(over) ? over : val_bool(!any);
}

Val py_lower_minmax(Lower *l, const Call *c) {
    Val args = c->args[0];
    if (args.count == 1 && !val_is_number(args.items[0])) args = py_iterable(l, args.items[0], c->ranges[0]);
    if (val_failed(args)) return args;
    if (args.count == 0) return py_error(l, DIAG_EVAL_MISSING, c->range, c->builtin->name, "an argument");
    Val best = args.items[0];
    for (int i = 1; i < args.count; i++) {
        Val better = val_compare(l, (PyOp)c->builtin->code, args.items[i], best, c->range);
        if (val_failed(better)) return better;
        if (better.i) best = args.items[i];
    }
    return best;
}

Val py_lower_len(Lower *l, const Call *c) {
    Val v = c->args[0];
    if (v.kind == VAL_TUPLE || v.kind == VAL_LIST) return val_int(val_count(v));
    if (v.kind == VAL_DICT) return val_int(val_count(v) / 2);
    if (v.kind == VAL_STR) return val_int((PyInt)strlen(v.text));
    if (v.kind == VAL_RANGE) {
        v = py_iterable(l, v, c->ranges[0]);
        return val_failed(v) ? v : val_int(v.count);
    }
    return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], "len", "a tuple", val_describe(l, v));
}

/* sorted; reversed (code 1) */
Val py_lower_sorted(Lower *l, const Call *c) {
    Val over = py_iterable(l, c->args[0], c->ranges[0]);
    bool turn = c->builtin->code == 1;
    if (val_failed(over) || (!turn && !py_want_bool(l, c, 1, &turn))) return val_error;
    Val *items = arena_copy(l->arena, over.items, (size_t)over.count * sizeof *items);
    for (int i = 1; c->builtin->code == 0 && i < over.count; i++) /* equal ones keep their order */
        for (int k = i; k > 0; k--) {
            Val below = val_compare(l, turn ? PY_OP_GT : PY_OP_LT, items[k], items[k - 1], c->range), swap = items[k];
            if (val_failed(below) || !py_step(l, c->range)) return val_error;
            if (!below.i) break;
            items[k] = items[k - 1];
            items[k - 1] = swap;
        }
    for (int i = 0; c->builtin->code == 1 && i < over.count; i++) items[i] = over.items[over.count - 1 - i];
    return val_list(l, items, over.count);
}

Val py_lower_range(Lower *l, const Call *c) {
    Range3 *range = ARENA_NEW(l->arena, Range3);
    bool one = c->args[1].kind == VAL_NONE;
    range->start = one ? val_int(0) : c->args[0];
    range->stop = one ? c->args[0] : c->args[1];
    range->step = c->args[2].kind == VAL_NONE ? val_int(1) : c->args[2];
    if (range->step.kind == VAL_INT && range->step.i == 0) return py_error(l, DIAG_EVAL_STEP_ZERO, c->range);
    return (Val){.kind = VAL_RANGE, .range = range};
}

/* dict(a=1): from names */
Val py_lower_dict(Lower *l, const Call *c) {
    if (py_on_host(l)) return c->args[0];
    return py_error(l, DIAG_EVAL_INSTEAD, c->range, "a dict", "use a tuple, or one name a value");
}

Val py_lower_print(Lower *l, const Call *c) {
    Text out = text_new(l->arena);
    for (int i = 0; i < c->args[0].count; i++)
        text_add(&out, "%s%s", i ? " " : "", val_text(l, c->args[0].items[i]));
    text_add_char(&out, '\n');
    if (l->request && l->request->print) l->request->print(l->request->print_user, out.at, out.length);
    return val_none;
}
