/* triton_eval.c: runs a Python expression of a Triton kernel; gives a Val.
 *
 *     x[:, None] + tl.arange(0, N)      subscript: expand; call: iota; `+`: promotion, then `add`
 *
 * What Triton's language does not have (lambda, comprehension, dict, ...) is refused by name. */
#include "front/triton/triton.h"

#include <stdlib.h>
#include <string.h>

static Val eval_constant(Lower *l, const PyNode *node) {
    switch (node->Constant.what) {
    case PY_NONE: return val_none;
    case PY_TRUE: return tri_val_bool(true);
    case PY_FALSE: return tri_val_bool(false);
    case PY_INT: return tri_val_int((PyInt)node->Constant.integer);
    case PY_FLOAT: return tri_val_float(node->Constant.real);
    case PY_STR: return tri_val_str(node->Constant.text->at);
    case PY_BIGINT:
        return tri_error(l, DIAG_TRI_NUMBER_RANGE, node->range, node->Constant.text->at, "any integer type");
    case PY_ELLIPSIS:
    case PY_IMAGINARY:
    case PY_BYTES: break;
    }
    return tri_error(l, DIAG_TRI_UNSUPPORTED, node->range, "this kind of constant");
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
    if (!l->frame || !l->frame->function) return false; /* a lambda has none */
    py_each_child(l->frame->function->node, find_binding, &b);
    if (!b.first || b.first->range.begin == node->range.begin ||
        !source_find(l->unit->sources, b.first->range.begin, &place))
        return false;
    tri_error(
        l, DIAG_TRI_UNBOUND, node->range, node->Name.id,
        arena_printf(l->arena,
                     "it is assigned at line %d%s, which does not run before this with these arguments; assign it on "
                     "every path that leads here",
                     place.line, b.first->range.begin > node->range.begin ? ", below" : ""));
    return true;
}

static Val eval_name(Lower *l, const PyNode *node) {
    const char *id = node->Name.id;
    if (l->frame)
        for (size_t i = 0; i < l->frame->locals.count; i++)
            if (strcmp(l->frame->locals.at[i].name, id) == 0) {
                Val v = l->frame->locals.at[i].val;
                if (v.kind != VAL_UNBOUND) return v;
                return tri_error(l, DIAG_TRI_UNBOUND, node->range, id, v.text);
            }
    Val v = tri_names_lookup(l, id, node->range);
    if (v.kind != VAL_UNBOUND) return v;
    if (is_assigned_elsewhere(l, node)) return val_error;
    VEC(const char *) known = {0};
    for (size_t i = 0; l->frame && i < l->frame->locals.count; i++)
        *VEC_PUSH(&known, l->arena) = l->frame->locals.at[i].name;
    size_t count = 0;
    const char *const *around = tri_names_all(l, &count);
    for (size_t i = 0; i < count; i++) *VEC_PUSH(&known, l->arena) = around[i];
    const char *near = text_nearest(id, known.at, known.count);
    if (tri_builtin_find(id, 'T') || (l->module && tri_dtype_named(l->module, id)))
        near = arena_printf(l->arena, "tl.%s", id);
    return tri_error(l, DIAG_TRI_UNKNOWN, node->range, id,
                     near                ? arena_printf(l->arena, "; did you mean `%s`?", near)
                     : l->unit->resolver ? "; assign it, or define it in this module"
                                         : "; assign it, define it in this file, or give it as a definition");
}

/* --- subscripts --- */

static bool is_none(const PyNode *node) { return node->kind == PY_Constant && node->Constant.what == PY_NONE; }
static bool is_open(const PyNode *bound) { return !bound || is_none(bound); }
static bool is_full_slice(const PyNode *node) {
    return node->kind == PY_Slice && is_open(node->Slice.lower) && is_open(node->Slice.upper) &&
           is_open(node->Slice.step);
}

static Val tensor_subscript(Lower *l, Val v, const PyNode *node) {
    const PyNode *slice = node->Subscript.slice;
    const PyNode *const *parts = slice->kind == PY_Tuple ? (const PyNode *const *)slice->Tuple.elts->at : &slice;
    int count = slice->kind == PY_Tuple ? (int)slice->Tuple.elts->count : 1, named = 0, axis = 0;
    const Type *type = tri_val_type(l, v);
    for (int i = 0; i < count; i++) {
        if (!is_full_slice(parts[i]) && !is_none(parts[i])) return tri_error(l, DIAG_TRI_INDEX, parts[i]->range);
        named += is_full_slice(parts[i]);
    }
    if (type->rank == 0) named = 0; /* as in Triton, `:` of a scalar is nothing */
    if (named > type->rank) return tri_error(l, DIAG_TRI_INDEX_COUNT, node->range, named, tri_type_text(l, type));
    if (type->rank + count - named > MAX_RANK) return tri_error(l, DIAG_TRI_RANK, node->range, MAX_RANK);
    for (int i = 0; i < count; i++) {
        if (is_none(parts[i])) v = tri_expand(l, v, axis);
        axis += is_none(parts[i]) || type->rank;
    }
    return v;
}

/* A bound or index: a constant, also one that went through a plain variable. */
static bool eval_index(Lower *l, const PyNode *node, PyInt *value) {
    Val v = tri_eval(l, node);
    int64_t number;
    if (tri_val_failed(v)) return false;
    if (v.kind == VAL_INT || v.kind == VAL_BOOL) {
        *value = v.i;
        return true;
    }
    if (v.kind == VAL_TENSOR && ir_const_int(l->kernel, v.ref, &number)) {
        *value = number;
        return true;
    }
    tri_error(l, DIAG_TRI_NEED_CONSTANT, node->range, "the index of a tuple", tri_val_describe(l, v));
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
    if (slice->Slice.step && !eval_index(l, slice->Slice.step, &step)) return val_error;
    if (step == 0) return tri_error(l, DIAG_TRI_STEP_ZERO, slice->range);
    bool backward = step < 0;
    PyInt low = backward ? v.count - 1 : 0, high = backward ? -1 : v.count;
    if (slice->Slice.lower) {
        if (!eval_index(l, slice->Slice.lower, &from)) return val_error;
        low = clamp_bound(from, v.count, backward);
    }
    if (slice->Slice.upper) {
        if (!eval_index(l, slice->Slice.upper, &to)) return val_error;
        high = clamp_bound(to, v.count, backward);
    }
    VEC(Val) items = {0};
    for (PyInt i = low; backward ? i > high : i < high; i += step) *VEC_PUSH(&items, l->arena) = v.items[i];
    return (Val){.kind = VAL_TUPLE, .items = items.at, .count = (int)items.count};
}

static Val tuple_subscript(Lower *l, Val v, const PyNode *node) {
    const PyNode *slice = node->Subscript.slice;
    if (slice->kind == PY_Slice) return tuple_slice(l, v, slice);
    PyInt index;
    if (!eval_index(l, slice, &index)) return val_error;
    PyInt i = index < 0 ? index + v.count : index;
    if (i < 0 || i >= v.count) return tri_error(l, DIAG_TRI_TUPLE_INDEX, node->range, (int)index, v.count);
    return v.items[i];
}

static Val dict_subscript(Lower *l, Val v, const PyNode *node);

static Val eval_subscript(Lower *l, const PyNode *node) {
    Val v = tri_eval(l, node->Subscript.value);
    if (tri_val_failed(v)) return v;
    if (v.kind == VAL_TENSOR) return tensor_subscript(l, v, node);
    if (v.kind == VAL_TUPLE) return tuple_subscript(l, v, node);
    if (v.kind == VAL_DICT) return dict_subscript(l, v, node);
    return tri_error(l, DIAG_TRI_SUBSCRIPT, node->range, tri_val_describe(l, v));
}

/* --- operators --- */

static Val eval_compare(Lower *l, const PyNode *node) {
    Val left = tri_eval(l, node->Compare.left), all = val_none;
    for (uint32_t i = 0; i < node->Compare.ops->count; i++) {
        Val right = tri_eval(l, node->Compare.comparators->at[i]);
        Val one = tri_compare(l, node->Compare.ops->at[i], left, right, node->range);
        if (tri_val_failed(one)) return one;
        if (one.kind == VAL_BOOL && !one.i) return one;
        bool both = all.kind == VAL_TENSOR && one.kind == VAL_TENSOR;
        all = both ? tri_binary(l, PY_OP_BITAND, all, one, node->range) : all.kind == VAL_TENSOR ? all : one;
        left = right;
    }
    return all;
}

/* `and`, `or`: constants decide at once; run-time values must be boolean and are all computed. */
static Val eval_bool(Lower *l, const PyNode *node) {
    bool is_or = node->BoolOp.op == PY_OP_OR;
    Val result = val_none, last = val_none;
    for (uint32_t i = 0; i < node->BoolOp.values->count; i++) {
        const PyNode *part = node->BoolOp.values->at[i];
        last = tri_eval(l, part);
        if (tri_val_failed(last)) return last;
        if (last.kind != VAL_TENSOR) {
            if (tri_val_truth(last) == is_or) return last;
            continue;
        }
        if (tri_val_type(l, last)->elem != EL_I1 || tri_val_type(l, last)->pointer)
            return tri_error(l, DIAG_TRI_BOOLEAN, part->range, is_or ? "or" : "and", tri_val_describe(l, last));
        result = result.kind == VAL_TENSOR
                     ? tri_binary(l, is_or ? PY_OP_BITOR : PY_OP_BITAND, result, last, node->range)
                     : last;
        if (tri_val_failed(result)) return result;
    }
    return result.kind == VAL_TENSOR ? result : last;
}

static Val eval_conditional(Lower *l, const PyNode *node) {
    const PyNode *test = node->IfExp.test;
    Val condition = tri_truth(l, tri_eval(l, test), test->range);
    if (tri_val_failed(condition)) return condition;
    if (condition.kind == VAL_BOOL) return tri_eval(l, condition.i ? node->IfExp.body : node->IfExp.orelse);
    return tri_choose(l, condition.ref, node->IfExp.body, node->IfExp.orelse, node->range);
}

static Val eval_list(Lower *l, const PyList *list) {
    VEC(Val) items = {0};
    for (uint32_t i = 0; i < list->count; i++) {
        const PyNode *node = list->at[i];
        bool star = node->kind == PY_Starred;
        Val v = tri_eval(l, star ? node->Starred.value : node);
        if (tri_val_failed(v)) return val_error;
        if (star && v.kind != VAL_TUPLE)
            return tri_error(l, DIAG_TRI_OPERAND, node->range, "*", tri_val_describe(l, v), "");
        for (int k = 0; star && k < v.count; k++) *VEC_PUSH(&items, l->arena) = v.items[k];
        if (!star) *VEC_PUSH(&items, l->arena) = v;
    }
    return (Val){.kind = VAL_TUPLE, .items = items.at, .count = (int)items.count};
}

typedef VEC(Val) Vals;

/* The generators from `at` on, then the element; false after a mistake. */
static bool run_generators(Lower *l, const PyNode *node, uint32_t at, Vals *items) {
    const PyList *generators = node->kind == PY_DictComp ? node->DictComp.generators : node->ListComp.generators;
    if (at == generators->count) {
        bool pair = node->kind == PY_DictComp;
        Val key = pair ? tri_eval(l, node->DictComp.key) : val_none;
        Val v = tri_eval(l, pair ? node->DictComp.value : node->ListComp.elt);
        if (pair) *VEC_PUSH(items, l->arena) = key;
        *VEC_PUSH(items, l->arena) = v;
        return !tri_val_failed(key) && !tri_val_failed(v);
    }
    const PyNode *generator = generators->at[at], *iter = generator->comprehension.iter;
    Val over = tri_iterable(l, tri_eval(l, iter), iter->range);
    if (tri_val_failed(over)) return false;
    for (int i = 0; i < over.count; i++) {
        bool wanted = true;
        if (!tri_step(l, node->range)) return false;
        tri_assign(l, generator->comprehension.target, over.items[i]);
        for (uint32_t k = 0; k < generator->comprehension.ifs->count && wanted; k++) {
            const PyNode *test = generator->comprehension.ifs->at[k];
            Val truth = tri_eval(l, test);
            if (tri_val_failed(truth)) return false;
            if (!tri_val_is_const(truth)) {
                tri_error(l, DIAG_TRI_NEED_CONSTANT, test->range, "the condition of a comprehension",
                          tri_val_describe(l, truth));
                return false;
            }
            wanted = tri_val_truth(truth);
        }
        if (wanted && !run_generators(l, node, at + 1, items)) return false;
    }
    return true;
}

/* [f(x) for x in a_tuple if c], {k: v for ..}: over constants; outside of functions in a frame of its own. */
static Val eval_comprehension(Lower *l, const PyNode *node) {
    Vals items = {0};
    Frame own = {0}, *frame = l->frame;
    if (!frame) l->frame = &own;
    bool good = run_generators(l, node, 0, &items);
    l->frame = frame;
    ValKind kind = node->kind == PY_DictComp ? VAL_DICT : VAL_TUPLE;
    return good ? (Val){.kind = kind, .items = items.at, .count = (int)items.count} : val_error;
}

/* Plain Python only. */
static Val eval_dict(Lower *l, const PyNode *node) {
    Vals items = {0};
    for (uint32_t i = 0; i < node->Dict.keys->count; i++) {
        const PyNode *key = node->Dict.keys->at[i];
        Val v = tri_eval(l, node->Dict.values->at[i]), k = key ? tri_eval(l, key) : val_none;
        if (tri_val_failed(k) || tri_val_failed(v) || (!key && v.kind != VAL_DICT)) return val_error;
        for (int n = 0; !key && n < v.count; n++) *VEC_PUSH(&items, l->arena) = v.items[n];
        if (!key) continue;
        *VEC_PUSH(&items, l->arena) = k;
        *VEC_PUSH(&items, l->arena) = v;
    }
    return (Val){.kind = VAL_DICT, .items = items.at, .count = (int)items.count};
}

static Val dict_subscript(Lower *l, Val v, const PyNode *node) {
    Val key = tri_eval(l, node->Subscript.slice);
    if (tri_val_failed(key)) return key;
    for (int i = v.count - 2; i >= 0; i -= 2) /* the last one of a key counts */
        if (tri_val_same(v.items[i], key)) return v.items[i + 1];
    return tri_error(l, DIAG_TRI_UNKNOWN, node->range, tri_val_text(l, key), "");
}

static Val eval_joined(Lower *l, const PyNode *node) {
    Text out = text_new(l->arena);
    for (uint32_t i = 0; i < node->JoinedStr.values->count; i++) {
        const PyNode *part = node->JoinedStr.values->at[i];
        bool field = part->kind == PY_FormattedValue;
        Val v = tri_eval(l, field ? part->FormattedValue.value : part), spec = tri_val_str("");
        if (field && part->FormattedValue.format_spec) spec = tri_eval(l, part->FormattedValue.format_spec);
        if (tri_val_failed(v) || tri_val_failed(spec)) return val_error;
        if (!tri_val_is_const(v))
            return tri_error(l, DIAG_TRI_NEED_CONSTANT, part->range, "a field of an f-string", tri_val_describe(l, v));
        const char *text = tri_format(l, v, tri_val_text(l, spec), field ? (int)part->FormattedValue.conversion : 0);
        if (!text) return tri_error(l, DIAG_TRI_FORMAT, part->range, tri_val_text(l, spec), tri_val_describe(l, v));
        text_add(&out, "%s", text);
    }
    return tri_val_str(out.at);
}

/* os.environ.get(name, otherwise): modules choose constants by it, and would by the same environment if Python ran
 * them. */
static bool ask_environment(Lower *l, const char *path, const PyNode *node, Val *answer) {
    const PyList *args = node->Call.args;
    if (strcmp(path, "os.environ.get") != 0 && strcmp(path, "os.getenv") != 0) return false;
    if (args->count < 1 || args->count > 2 || node->Call.keywords->count) return false;
    Val name = tri_eval(l, args->at[0]), otherwise = args->count == 2 ? tri_eval(l, args->at[1]) : val_none;
    const char *value = name.kind == VAL_STR ? getenv(name.text) : NULL;
    *answer = name.kind != VAL_STR ? val_error
              : value              ? tri_val_str(arena_string(l->arena, value, strlen(value)))
                                   : otherwise;
    return name.kind == VAL_STR;
}

/* tl.dtype("uint16"): the class of dtypes, called with the name of one. */
static bool make_dtype(Lower *l, const char *path, const PyNode *call, Val *dtype) {
    bool is_class = strcmp(path, "triton.language.dtype") == 0 || strcmp(path, "triton.language.core.dtype") == 0;
    if (!is_class || call->Call.args->count != 1 || call->Call.keywords->count) return false;
    const PyNode *arg = call->Call.args->at[0];
    Val name = tri_eval(l, arg);
    const Type *type = name.kind == VAL_STR ? tri_dtype_named(l->module, name.text) : NULL;
    if (type)
        *dtype = tri_val_dtype(type);
    else
        *dtype = tri_val_failed(name)
                     ? name
                     : tri_error(l, DIAG_TRI_ARGUMENT, arg->range, "tl.dtype",
                                 "the name of a dtype, such as 'int32' or 'fp16'", tri_val_describe(l, name));
    return true;
}

Val tri_call(Lower *l, Val f, const PyNode *node) {
    Val answer;
    switch (f.kind) {
    case VAL_ERROR: return f;
    case VAL_BUILTIN: return tri_call_builtin(l, f.builtin, f.self, node);
    case VAL_FUNCTION: return tri_call_function(l, f.function, f.self, node);
    case VAL_HOST: return tri_live_call(l, f.host, node);
    case VAL_MODULE:
        if (!l->kernel && strcmp(f.text, "triton.runtime.driver.active.get_current_target") == 0)
            return (Val){.kind = VAL_MODULE, .text = "triton.runtime.driver.active.target"};
        if (!l->kernel && ask_environment(l, f.text, node, &answer)) return answer;
        if (l->kernel && make_dtype(l, f.text, node, &answer)) return answer;
        return tri_error(l, DIAG_TRI_HOST, node->Call.func->range, f.text, tri_names_suggest_host(l, f.text));
    default:
        return tri_error(l, DIAG_TRI_NOT_CALLABLE, node->Call.func->range, tri_val_describe(l, f),
                         f.kind == VAL_DTYPE
                             ? arena_printf(l->arena,
                                            "; to convert x write x.to(tl.%s), for a number tl.full([], x, tl.%s)",
                                            tri_val_text(l, f), tri_val_text(l, f))
                             : "");
    }
}

static Val eval_call(Lower *l, const PyNode *node) {
    const PyNode *func = node->Call.func;
    if (func->kind != PY_Attribute) return tri_call(l, tri_eval(l, func), node);
    Val v = tri_eval(l, func->Attribute.value);
    if (v.kind == VAL_DTYPE && node->Call.args->count + node->Call.keywords->count == 0) {
        Val answer = tri_dtype_method(l, v.dtype, func->Attribute.attr);
        if (answer.kind != VAL_UNBOUND) return answer;
    }
    return tri_call(l, tri_attribute(l, v, func->Attribute.attr, func->range), node);
}

/* What of Python has no place in a kernel, and what to write instead. */
static Val refuse_construct(Lower *l, const PyNode *node) {
    const char *what = "this expression", *instead = "compute it outside and pass it as an argument";
    switch ((PyKind)node->kind) {
    case PY_Lambda:
        what = "`lambda`";
        instead = "define a function with @triton.jit at module level";
        break;
    case PY_Dict:
        what = "a dict";
        instead = "use a tuple, or one name a value";
        break;
    case PY_Set:
        what = "a set";
        instead = "use a tuple";
        break;
    case PY_SetComp:
    case PY_DictComp:
    case PY_GeneratorExp:
        what = "a comprehension that gives no list";
        instead = "write it with [ ]";
        break;
    case PY_Await: what = "`await`"; break;
    case PY_Yield:
    case PY_YieldFrom:
        what = "`yield`";
        instead = "return a tuple";
        break;
    case PY_Starred:
        what = "`*` here";
        instead = "it stands in calls and tuples";
        break;
    default: break;
    }
    return tri_error(l, DIAG_TRI_INSTEAD, node->range, what, instead);
}

static Val eval_node(Lower *l, const PyNode *node) {
    switch ((PyKind)node->kind) {
    case PY_Constant: return eval_constant(l, node);
    case PY_Name: return eval_name(l, node);
    case PY_Attribute: return tri_attribute(l, tri_eval(l, node->Attribute.value), node->Attribute.attr, node->range);
    case PY_ListComp: return eval_comprehension(l, node);
    case PY_Dict:
    case PY_DictComp:
    case PY_Lambda:
        if (l->kernel) return refuse_construct(l, node);
        return node->kind == PY_Dict       ? eval_dict(l, node)
               : node->kind == PY_DictComp ? eval_comprehension(l, node)
                                           : (Val){.kind = VAL_MODULE, .text = "lambda"};
    case PY_Subscript: return eval_subscript(l, node);
    case PY_Call: return eval_call(l, node);
    case PY_BinOp: {
        Val left = tri_eval(l, node->BinOp.left), right = tri_eval(l, node->BinOp.right);
        return tri_binary_written(l, node->BinOp.op, left, right, node->range);
    }
    case PY_UnaryOp: return tri_unary(l, node->UnaryOp.op, tri_eval(l, node->UnaryOp.operand), node->range);
    case PY_Compare: return eval_compare(l, node);
    case PY_BoolOp: return eval_bool(l, node);
    case PY_IfExp: return eval_conditional(l, node);
    case PY_Tuple: return eval_list(l, node->Tuple.elts);
    case PY_List: return eval_list(l, node->List.elts);
    case PY_JoinedStr: return eval_joined(l, node);
    case PY_NamedExpr: {
        Val v = tri_eval(l, node->NamedExpr.value);
        tri_assign(l, node->NamedExpr.target, v);
        return v;
    }
    default: return refuse_construct(l, node);
    }
}

bool tri_step(Lower *l, Range range) {
    if (++l->steps <= TRITON_MAX_STEPS) return true;
    if (!l->exhausted) tri_error(l, DIAG_TRI_STEPS, range, TRITON_MAX_STEPS);
    l->exhausted = true;
    return false;
}

/* Takes the items of v, and of what lies in it, from *left; false: there are too many, or they lie
 * too deep in each other. */
static bool is_small(Val v, int *left, int depth) {
    if (!tri_val_has_items(v)) return true;
    *left -= v.count;
    if (depth == 0 || *left < 0) return false;
    for (int i = 0; i < v.count; i++)
        if (!is_small(v.items[i], left, depth - 1)) return false;
    return true;
}

/* What a kernel computes at compile time stays small, whatever its text says. */
static Val bounded(Lower *l, Val v, Range range) {
    int left = TRITON_MAX_TUPLE;
    if (v.kind == VAL_STR && strnlen(v.text, TRITON_MAX_TEXT) == TRITON_MAX_TEXT)
        return tri_error(l, DIAG_TRI_LONG_TEXT, range, TRITON_MAX_TEXT);
    if (!is_small(v, &left, TRITON_MAX_DEPTH))
        return tri_error(l, DIAG_TRI_MANY_ITEMS, range, TRITON_MAX_TUPLE, TRITON_MAX_DEPTH);
    return v;
}

Val tri_eval(Lower *l, const PyNode *node) {
    if (!tri_step(l, node->range)) return val_error;
    if (l->depth >= TRITON_MAX_DEPTH) return tri_error(l, DIAG_TRI_DEPTH, node->range, TRITON_MAX_DEPTH);
    Range outer = l->b.range;
    l->b.range = node->range;
    l->depth++;
    Val v = eval_node(l, node);
    l->depth--;
    l->b.range = outer;
    return bounded(l, v, node->range);
}
