/* SPDX-License-Identifier: Apache-2.0 */
/* python_eval.c: runs a Python expression; gives a Val.
 *
 * What is known is computed here; what an operator, attribute, subscript or call means for run-time values and for the
 * domain's own things, the domain says. What kernels do not have (`await`, sets, ...) is refused by name. */
#include "front/python/python.h"

#include <stdlib.h>
#include <string.h>

/* --- errors --- */

Val py_error(Lower *l, DiagId id, Range range, ...) {
    va_list args;
    va_start(args, range);
    diag_vemit(l->diag, id, range, args);
    va_end(args);
    int shown = 0;
    for (const Frame *f = l->frame; f && f->caller && shown < 3; f = f->caller, shown++)
        diag_emit(l->diag, DIAG_EVAL_CALLED, f->call, py_function_name(f->function->node));
    return val_error;
}

Val py_unsupported(Lower *l, Range range, const char *what) {
    return py_error(l, DIAG_EVAL_UNSUPPORTED, range, what, l->domain->words.kernels);
}

Val py_need_constant(Lower *l, Range range, const char *what, Val v) {
    return py_error(l, DIAG_EVAL_NEED_CONSTANT, range, what, val_describe(l, v), l->domain->words.constant);
}

Val py_host(Lower *l, Range range, const char *path) {
    return py_error(l, DIAG_EVAL_HOST, range, path, l->domain->suggest_host(l, path), l->domain->words.language);
}

/* --- names --- */

static Val eval_constant(Lower *l, const PyNode *node) {
    switch (node->Constant.what) {
    case PY_NONE: return val_none;
    case PY_TRUE: return val_bool(true);
    case PY_FALSE: return val_bool(false);
    case PY_INT: return val_int((PyInt)node->Constant.integer);
    case PY_FLOAT: return val_float(node->Constant.real);
    case PY_STR: return val_str(node->Constant.text->at);
    case PY_BIGINT:
        return py_error(l, DIAG_EVAL_NUMBER_RANGE, node->range, node->Constant.text->at, "any integer type");
    case PY_ELLIPSIS:
    case PY_IMAGINARY:
    case PY_BYTES: break;
    }
    return py_unsupported(l, node->range, "this kind of constant");
}

typedef struct Binding {
    const char *name;
    const PyNode *first;
} Binding;

static void find_binding(void *user, PyNode *node) {
    Binding *b = user;
    if (!b->first && node->kind == PY_Name && node->Name.ctx == PY_STORE && strcmp(node->Name.id, b->name) == 0)
        b->first = node;
    if (!b->first) py_each_child(node, find_binding, b);
}

/* A local that is assigned, but in none of the code that these arguments leave. */
static bool is_assigned_elsewhere(Lower *l, const PyNode *node) {
    Binding b = {.name = node->Name.id};
    Place place;
    if (!l->frame || !l->frame->function) return false; /* a comprehension of the module has none */
    py_each_child(l->frame->function->node, find_binding, &b);
    if (!b.first || b.first->range.begin == node->range.begin ||
        !source_find(l->unit->sources, b.first->range.begin, &place))
        return false;
    py_error(
        l, DIAG_EVAL_UNBOUND, node->range, node->Name.id,
        arena_printf(l->arena,
                     "it is assigned at line %d%s, which does not run before this with these arguments"
                     FIX "assign it on "
                     "every path that leads here",
                     place.line, b.first->range.begin > node->range.begin ? ", below" : ""));
    return true;
}

static Val eval_name(Lower *l, const PyNode *node) {
    const char *id = node->Name.id;
    for (const Frame *f = l->frame; f; f = f->function ? f->function->around : NULL)
        for (size_t i = 0; i < f->locals.count; i++)
            if (strcmp(f->locals.at[i].name, id) == 0) {
                Val v = f->locals.at[i].val;
                if (v.kind != VAL_UNBOUND) return v;
                return py_error(l, DIAG_EVAL_UNBOUND, node->range, id, v.text);
            }
    Val v = names_lookup(l, id, node->range);
    if (v.kind != VAL_UNBOUND) return v;
    if (is_assigned_elsewhere(l, node)) return val_error;
    VEC(const char *) known = {0};
    for (size_t i = 0; l->frame && i < l->frame->locals.count; i++)
        *VEC_PUSH(&known, l->arena) = l->frame->locals.at[i].name;
    size_t count = 0;
    const char *const *around = names_all(l, &count);
    for (size_t i = 0; i < count; i++) *VEC_PUSH(&known, l->arena) = around[i];
    const char *near = text_nearest(id, known.at, known.count);
    if (near && strcmp(near, id) == 0) near = NULL; /* a name of other conditions */
    const char *language = l->domain->suggest(l, id);
    if (language) near = language;
    return l->domain->unknown(l, node, near);
}

/* --- subscripts --- */

/* A bound or index: a constant, also one that went through a plain variable. */
static bool eval_index(Lower *l, const PyNode *node, PyInt *value) {
    Val v = py_eval(l, node);
    int64_t number;
    if (val_failed(v)) return false;
    if (v.kind == VAL_INT || v.kind == VAL_BOOL) {
        *value = v.i;
        return true;
    }
    if (v.kind == VAL_TENSOR && ir_const_int(l->kernel, v.ref, &number)) {
        *value = number;
        return true;
    }
    py_need_constant(l, node->range, "the index of a tuple", v);
    return false;
}

/* Python's rule for a bound of a slice. */
static PyInt clamp_bound(PyInt bound, int count, bool backward) {
    if (bound < 0) bound += count;
    PyInt low = backward ? -1 : 0, high = backward ? count - 1 : count;
    return bound < low ? low : bound > high ? high : bound;
}

static Val tuple_slice(Lower *l, Val v, const PyNode *slice) {
    PyInt step = 1, from, to;
    int count = val_count(v);
    if (slice->Slice.step && !eval_index(l, slice->Slice.step, &step)) return val_error;
    if (step == 0) return py_error(l, DIAG_EVAL_STEP_ZERO, slice->range);
    bool backward = step < 0;
    PyInt low = backward ? count - 1 : 0, high = backward ? -1 : count;
    if (slice->Slice.lower) {
        if (!eval_index(l, slice->Slice.lower, &from)) return val_error;
        low = clamp_bound(from, count, backward);
    }
    if (slice->Slice.upper) {
        if (!eval_index(l, slice->Slice.upper, &to)) return val_error;
        high = clamp_bound(to, count, backward);
    }
    Vals items = {0};
    for (PyInt i = low; backward ? i > high : i < high; i += step) *VEC_PUSH(&items, l->arena) = val_items(v)[i];
    return v.kind == VAL_LIST ? val_list(l, items.at, (int)items.count)
                              : (Val){.kind = VAL_TUPLE, .items = items.at, .count = (int)items.count};
}

static Val tuple_subscript(Lower *l, Val v, const PyNode *node) {
    const PyNode *slice = node->Subscript.slice;
    if (slice->kind == PY_Slice) return tuple_slice(l, v, slice);
    PyInt index;
    if (!eval_index(l, slice, &index)) return val_error;
    PyInt i = index < 0 ? index + val_count(v) : index;
    if (i < 0 || i >= val_count(v)) return py_error(l, DIAG_EVAL_TUPLE_INDEX, node->range, (int)index, val_count(v));
    return val_items(v)[i];
}

static Val dict_subscript(Lower *l, Val v, const PyNode *node);

static Val eval_subscript(Lower *l, const PyNode *node) {
    Val v = py_eval(l, node->Subscript.value);
    if (val_failed(v)) return v;
    if (v.kind == VAL_TENSOR || v.kind == VAL_OWN) return l->domain->subscript(l, v, node);
    if (v.kind == VAL_TUPLE || v.kind == VAL_LIST) return tuple_subscript(l, v, node);
    if (v.kind == VAL_DICT) return dict_subscript(l, v, node);
    if (v.kind == VAL_HOST) { /* a dict or object of the program around */
        Val key = py_eval(l, node->Subscript.slice);
        return val_failed(key) ? key : py_live_method(l, v.host, "__getitem__", &key, 1, node->range);
    }
    if (l->domain->host_in_kernels) return l->domain->subscript(l, v, node);
    return py_error(l, DIAG_EVAL_SUBSCRIPT, node->range, val_describe(l, v));
}

/* --- operators --- */

static Val eval_compare(Lower *l, const PyNode *node) {
    Val left = py_eval(l, node->Compare.left), all = val_none;
    for (uint32_t i = 0; i < node->Compare.ops->count; i++) {
        Val right = py_eval(l, node->Compare.comparators->at[i]);
        Val one = l->domain->compare(l, node->Compare.ops->at[i], left, right, node->range);
        if (val_failed(one)) return one;
        if (one.kind == VAL_BOOL && !one.i) return one;
        bool both = all.kind == VAL_TENSOR && one.kind == VAL_TENSOR;
        all = both ? l->domain->both(l, all, one, node->range) : all.kind == VAL_TENSOR ? all : one;
        left = right;
    }
    return all;
}

/* `and`, `or`: constants decide at once; from the first run-time value on it is the domain's. */
static Val eval_bool(Lower *l, const PyNode *node) {
    bool is_or = node->BoolOp.op == PY_OP_OR;
    Val last = val_none;
    for (uint32_t i = 0; i < node->BoolOp.values->count; i++) {
        last = py_eval(l, node->BoolOp.values->at[i]);
        if (val_failed(last)) return last;
        if (!val_is_const(last)) return l->domain->logic(l, node, i, last);
        if (val_truth(last) == is_or) return last;
    }
    return last;
}

static Val eval_conditional(Lower *l, const PyNode *node) {
    const PyNode *test = node->IfExp.test;
    Val condition = l->domain->truth(l, py_eval(l, test), test->range);
    if (val_failed(condition)) return condition;
    if (condition.kind == VAL_BOOL) return py_eval(l, condition.i ? node->IfExp.body : node->IfExp.orelse);
    return l->domain->choose(l, condition.ref, node->IfExp.body, node->IfExp.orelse, node->range);
}

static Val eval_list(Lower *l, const PyList *list, bool tuple) {
    Vals items = {0};
    for (uint32_t i = 0; i < list->count; i++) {
        const PyNode *node = list->at[i];
        bool star = node->kind == PY_Starred;
        Val v = py_eval(l, star ? node->Starred.value : node);
        if (val_failed(v)) return val_error;
        if (star && py_on_host(l)) v = py_iterable(l, v, node->range);
        if (star && v.kind != VAL_TUPLE)
            return val_failed(v) ? v : py_error(l, DIAG_EVAL_OPERAND, node->range, "*", val_describe(l, v), "");
        for (int k = 0; star && k < v.count; k++) *VEC_PUSH(&items, l->arena) = v.items[k];
        if (!star) *VEC_PUSH(&items, l->arena) = v;
    }
    return tuple ? (Val){.kind = VAL_TUPLE, .items = items.at, .count = (int)items.count}
                 : val_list(l, items.at, (int)items.count);
}

/* The generators from `at` on, then the element; false after a mistake. */
static bool run_generators(Lower *l, const PyNode *node, uint32_t at, Vals *items) {
    const PyList *generators = node->kind == PY_DictComp ? node->DictComp.generators : node->ListComp.generators;
    if (at == generators->count) {
        bool pair = node->kind == PY_DictComp;
        Val key = pair ? py_eval(l, node->DictComp.key) : val_none;
        Val v = py_eval(l, pair ? node->DictComp.value : node->ListComp.elt);
        if (pair) *VEC_PUSH(items, l->arena) = key;
        *VEC_PUSH(items, l->arena) = v;
        return !val_failed(key) && !val_failed(v);
    }
    const PyNode *generator = generators->at[at], *iter = generator->comprehension.iter;
    Val over = py_iterable(l, py_eval(l, iter), iter->range);
    if (val_failed(over)) return false;
    for (int i = 0; i < over.count; i++) {
        bool wanted = true;
        if (!py_step(l, node->range)) return false;
        py_assign(l, generator->comprehension.target, over.items[i]);
        for (uint32_t k = 0; k < generator->comprehension.ifs->count && wanted; k++) {
            const PyNode *test = generator->comprehension.ifs->at[k];
            Val truth = py_eval(l, test);
            if (val_failed(truth)) return false;
            if (!val_is_const(truth)) {
                py_need_constant(l, test->range, "the condition of a comprehension",
                          truth);
                return false;
            }
            wanted = val_truth(truth);
        }
        if (wanted && !run_generators(l, node, at + 1, items)) return false;
    }
    return true;
}

static Val make_dict(Lower *l, const Vals *pairs, Range range) {
    Val dict = val_list(l, NULL, 0);
    dict.kind = VAL_DICT;
    for (size_t i = 0; i + 1 < pairs->count; i += 2)
        if (!py_set_item(l, dict, pairs->at[i], pairs->at[i + 1], range)) return val_error;
    return dict;
}

/* [f(x) for x in a_tuple if c], {k: v for ..}: over constants; outside of functions in a frame of its own. A generator
 * is what it would give. */
static Val eval_comprehension(Lower *l, const PyNode *node) {
    Vals items = {0};
    Frame *frame = l->frame;
    if (!frame) l->frame = ARENA_NEW(l->arena, Frame);
    bool good = run_generators(l, node, 0, &items);
    l->frame = frame;
    if (!good) return val_error;
    return node->kind == PY_DictComp ? make_dict(l, &items, node->range)
                                     : val_list(l, items.at, (int)items.count);
}

/* Plain Python only. */
static Val eval_dict(Lower *l, const PyNode *node) {
    Vals pairs = {0};
    for (uint32_t i = 0; i < node->Dict.keys->count; i++) {
        const PyNode *key = node->Dict.keys->at[i];
        Val v = py_eval(l, node->Dict.values->at[i]), k = key ? py_eval(l, key) : val_none;
        if (val_failed(k) || val_failed(v)) return val_error;
        if (!key && v.kind != VAL_DICT)
            return py_error(l, DIAG_EVAL_OPERAND, node->range, "**", val_describe(l, v), "");
        for (int n = 0; !key && n < val_count(v); n++) *VEC_PUSH(&pairs, l->arena) = val_items(v)[n];
        if (!key) continue;
        *VEC_PUSH(&pairs, l->arena) = k;
        *VEC_PUSH(&pairs, l->arena) = v;
    }
    return make_dict(l, &pairs, node->range);
}

static Val dict_subscript(Lower *l, Val v, const PyNode *node) {
    return py_item(l, v, py_eval(l, node->Subscript.slice), node->range);
}

Val py_item(Lower *l, Val of, Val key, Range range) {
    if (val_failed(key)) return key;
    if (of.kind == VAL_LIST) {
        PyInt i = key.kind == VAL_INT && key.i < 0 ? key.i + val_count(of) : key.i;
        if (key.kind != VAL_INT) return py_need_constant(l, range, "the index of a list", key);
        if (i < 0 || i >= val_count(of)) return py_error(l, DIAG_EVAL_TUPLE_INDEX, range, (int)key.i, val_count(of));
        return val_items(of)[i];
    }
    int at = py_find_key(l, of, key);
    if (at >= 0) return val_items(of)[at + 1];
    return py_error(l, DIAG_EVAL_UNKNOWN, range, val_text(l, key), "");
}

static Val eval_joined(Lower *l, const PyNode *node) {
    Text out = text_new(l->arena);
    for (uint32_t i = 0; i < node->JoinedStr.values->count; i++) {
        const PyNode *part = node->JoinedStr.values->at[i];
        bool field = part->kind == PY_FormattedValue;
        Val v = py_eval(l, field ? part->FormattedValue.value : part), spec = val_str("");
        if (field && part->FormattedValue.format_spec) spec = py_eval(l, part->FormattedValue.format_spec);
        if (val_failed(v) || val_failed(spec)) return val_error;
        if (!val_is_const(v))
            return py_need_constant(l, part->range, "a field of an f-string", v);
        const char *text = val_format(l, v, val_text(l, spec), field ? (int)part->FormattedValue.conversion : 0);
        if (!text) return py_error(l, DIAG_EVAL_FORMAT, part->range, val_text(l, spec), val_describe(l, v));
        text_add(&out, "%s", text);
    }
    return val_str(out.at);
}

/* os.environ.get(name, otherwise): modules choose constants by it, and would by the same environment if Python ran
 * them. */
static bool ask_environment(Lower *l, const char *path, const PyNode *node, Val *answer) {
    const PyList *args = node->Call.args;
    if (strcmp(path, "os.environ.get") != 0 && strcmp(path, "os.getenv") != 0) return false;
    if (args->count < 1 || args->count > 2 || node->Call.keywords->count) return false;
    Val name = py_eval(l, args->at[0]), otherwise = args->count == 2 ? py_eval(l, args->at[1]) : val_none;
    const char *value = name.kind == VAL_STR ? getenv(name.text) : NULL;
    *answer = name.kind != VAL_STR ? val_error
              : value              ? val_str(arena_string(l->arena, value, strlen(value)))
                                   : otherwise;
    return name.kind == VAL_STR;
}

Val py_call(Lower *l, Val f, const PyNode *node) {
    Val answer;
    switch (f.kind) {
    case VAL_ERROR: return f;
    case VAL_BUILTIN: return py_call_builtin(l, f.builtin, f.self, node);
    case VAL_FUNCTION: return py_call_function(l, f.function, f.self, node);
    case VAL_HOST: return py_live_call(l, f.host, node);
    case VAL_MODULE:
        if (l->domain->call(l, f, node, &answer)) return answer;
        if (!l->kernel && ask_environment(l, f.text, node, &answer)) return answer;
        return py_host(l, node->Call.func->range, f.text);
    default:
        if (l->domain->call(l, f, node, &answer)) return answer;
        return py_error(l, DIAG_EVAL_NOT_CALLABLE, node->Call.func->range, val_describe(l, f), "");
    }
}

static Val eval_call(Lower *l, const PyNode *node) {
    const PyNode *func = node->Call.func;
    if (func->kind != PY_Attribute) return py_call(l, py_eval(l, func), node);
    Val v = py_eval(l, func->Attribute.value);
    Val answer;
    if (!val_failed(v) && l->domain->method(l, v, node, &answer)) return answer;
    return py_call(l, py_attribute(l, v, func->Attribute.attr, func->range), node);
}

/* What of Python has no place in a kernel, and what to write instead. */
static Val refuse_construct(Lower *l, const PyNode *node) {
    static const struct {
        PyKind kind;
        const char *what, *instead;
    } rows[] = {{PY_Lambda, "`lambda`", "define a function at module level"},
                {PY_Dict, "a dict", "use a tuple, or one name a value"},
                {PY_Set, "a set", "use a tuple"},
                {PY_SetComp, "a comprehension that gives no list", "write it with [ ]"},
                {PY_DictComp, "a comprehension that gives no list", "write it with [ ]"},
                {PY_GeneratorExp, "a comprehension that gives no list", "write it with [ ]"},
                {PY_Await, "`await`", NULL},
                {PY_Yield, "`yield`", "return a tuple"},
                {PY_YieldFrom, "`yield`", "return a tuple"},
                {PY_Starred, "`*` here", "it stands in calls and tuples"}};
    const char *what = "this expression", *instead = NULL, *better = l->domain->instead((PyKind)node->kind);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == (PyKind)node->kind) what = rows[i].what, instead = rows[i].instead;
    if (better) instead = better;
    return py_error(l, DIAG_EVAL_INSTEAD, node->range, what,
                    instead ? instead : "compute it outside and pass it as an argument");
}

static Val eval_node(Lower *l, const PyNode *node) {
    switch ((PyKind)node->kind) {
    case PY_Constant: return eval_constant(l, node);
    case PY_Name: return eval_name(l, node);
    case PY_Attribute: return py_attribute(l, py_eval(l, node->Attribute.value), node->Attribute.attr, node->range);
    case PY_ListComp: return eval_comprehension(l, node);
    case PY_Dict:
    case PY_DictComp:
    case PY_GeneratorExp:
    case PY_Lambda:
        if (!py_on_host(l)) return refuse_construct(l, node);
        return node->kind == PY_Dict     ? eval_dict(l, node)
               : node->kind == PY_Lambda ? py_closure(l, node)
                                         : eval_comprehension(l, node);
    case PY_Subscript: return eval_subscript(l, node);
    case PY_Call: return eval_call(l, node);
    case PY_BinOp: {
        Val left = py_eval(l, node->BinOp.left), right = py_eval(l, node->BinOp.right);
        return l->domain->binary(l, node->BinOp.op, left, right, node->range);
    }
    case PY_UnaryOp: return l->domain->unary(l, node->UnaryOp.op, py_eval(l, node->UnaryOp.operand), node->range);
    case PY_Compare: return eval_compare(l, node);
    case PY_BoolOp: return eval_bool(l, node);
    case PY_IfExp: return eval_conditional(l, node);
    case PY_Tuple: return eval_list(l, node->Tuple.elts, true);
    case PY_List: return eval_list(l, node->List.elts, false);
    case PY_JoinedStr: return eval_joined(l, node);
    case PY_NamedExpr: {
        Val v = py_eval(l, node->NamedExpr.value);
        py_assign(l, node->NamedExpr.target, v);
        return v;
    }
    default: return refuse_construct(l, node);
    }
}

/* --- attributes --- */

Val py_attribute(Lower *l, Val v, const char *attr, Range range) {
    switch (v.kind) {
    case VAL_ERROR: return v;
    case VAL_MODULE: return names_attribute(l, v.text, attr, range);
    case VAL_HOST:
        if (v.host->wrapped && strcmp(attr, "value") == 0) {
            Host *inside = arena_copy(l->arena, v.host, sizeof *v.host);
            inside->wrapped = false;
            v.host = inside;
            return v;
        }
        return py_live_attribute(l, v.host, attr, range);
    case VAL_TUPLE:
        for (int i = 0; v.fields && i < v.count; i++)
            if (strcmp(v.fields[i], attr) == 0) return v.items[i];
        break;
    default: break;
    }
    Val host = py_on_host(l) ? py_host_method(l, v, attr) : (Val){.kind = VAL_UNBOUND};
    if (host.kind != VAL_UNBOUND) return host;
    Val found = l->domain->attribute(l, v, attr, range);
    return found.kind == VAL_UNBOUND ? py_error(l, DIAG_EVAL_ATTRIBUTE, range, val_describe(l, v), attr) : found;
}

/* --- the walk --- */

bool py_need_ir(Lower *l, Range range) {
    if (l->kernel) return true;
    py_error(l, DIAG_EVAL_NOT_CONSTANT, range);
    return false;
}

/* No frame, and no IR. */
Val py_eval_outside(Lower *l, Names *names, const PyNode *node) {
    Frame *frame = l->frame;
    Kernel *kernel = l->kernel;
    Names *inside = l->names;
    l->frame = NULL;
    l->kernel = NULL;
    l->names = names;
    Val v = py_eval(l, node);
    l->frame = frame;
    l->kernel = kernel;
    l->names = inside;
    return py_on_host(l) ? v : val_frozen(l, v);
}

bool py_step(Lower *l, Range range) {
    if (++l->steps <= PYTHON_MAX_STEPS) return true;
    if (!l->exhausted) py_error(l, DIAG_EVAL_STEPS, range, PYTHON_MAX_STEPS, l->domain->words.unroll);
    l->exhausted = true;
    return false;
}

/* Takes the items of v, and of what lies in it, from *left; false: there are too many, or they lie
 * too deep in each other. */
static bool is_small(Val v, int *left, int depth) {
    if (!val_has_items(v) && v.kind != VAL_LIST && v.kind != VAL_DICT) return true;
    *left -= val_count(v);
    if (depth == 0 || *left < 0) return false;
    for (int i = 0; i < val_count(v); i++)
        if (!is_small(val_items(v)[i], left, depth - 1)) return false;
    return true;
}

/* What a kernel computes at compile time stays small, whatever its text says. */
static Val bounded(Lower *l, Val v, Range range) {
    int left = PYTHON_MAX_TUPLE;
    if ((v.kind == VAL_LIST || v.kind == VAL_DICT) && v.list->broken)
        return py_error(l, DIAG_EVAL_UNBOUND, range, v.kind == VAL_LIST ? "list" : "dict", v.list->broken);
    if (v.kind == VAL_STR && strnlen(v.text, PYTHON_MAX_TEXT) == PYTHON_MAX_TEXT)
        return py_error(l, DIAG_EVAL_LONG_TEXT, range, PYTHON_MAX_TEXT);
    if (!is_small(v, &left, PYTHON_MAX_DEPTH))
        return py_error(l, DIAG_EVAL_MANY_ITEMS, range, PYTHON_MAX_TUPLE, PYTHON_MAX_DEPTH);
    return v;
}

Val py_eval(Lower *l, const PyNode *node) {
    if (!py_step(l, node->range)) return val_error;
    if (l->depth >= PYTHON_MAX_DEPTH) return py_error(l, DIAG_EVAL_DEPTH, node->range, PYTHON_MAX_DEPTH);
    Range outer = l->b.range;
    l->b.range = node->range;
    l->depth++;
    Val v = eval_node(l, node);
    l->depth--;
    l->b.range = outer;
    return bounded(l, v, node->range);
}
