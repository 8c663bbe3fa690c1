/* triton_python.c: Python's own functions on what is known at compile time: isinstance, list,
 * enumerate, zip, getattr, hasattr; and types made by calls.
 *
 *     for i, size in enumerate((M, N)): ..      a loop over a tuple is unrolled
 *     if isinstance(x, tl.tensor): ..           decided while compiling */
#include "front/triton/triton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Val tri_iterable(Lower *l, Val v, Range range) {
    if (v.kind == VAL_TUPLE || v.kind == VAL_ERROR) return v;
    const Range3 *r = v.kind == VAL_RANGE ? v.range : NULL;
    if (!r || r->start.kind != VAL_INT || r->stop.kind != VAL_INT || r->step.kind != VAL_INT)
        return tri_error(l, DIAG_TRI_ITERABLE, range, tri_val_describe(l, v));
    VEC(Val) items = {0};
    for (PyInt i = r->start.i; r->step.i > 0 ? i < r->stop.i : i > r->stop.i; i += r->step.i) {
        if (items.count >= TRITON_MAX_TUPLE) return tri_error(l, DIAG_TRI_ITERABLE, range, "a range of so many items");
        *VEC_PUSH(&items, l->arena) = tri_val_int(i);
    }
    return (Val){.kind = VAL_TUPLE, .items = items.at, .count = (int)items.count};
}

Val tri_lower_list(Lower *l, const Call *c) { return tri_iterable(l, c->args[0], c->ranges[0]); }

Val tri_lower_enumerate(Lower *l, const Call *c) {
    Val over = tri_iterable(l, c->args[0], c->ranges[0]);
    int64_t start;
    if (tri_val_failed(over) || !tri_want_int(l, c, 1, &start)) return val_error;
    Val *items = ARENA_ARRAY(l->arena, Val, over.count);
    for (int i = 0; i < over.count; i++) {
        Val pair[2] = {tri_val_int(start + i), over.items[i]};
        items[i] = tri_val_tuple(l, pair, 2);
    }
    return (Val){.kind = VAL_TUPLE, .items = items, .count = over.count};
}

Val tri_lower_zip(Lower *l, const Call *c) {
    Val lists = c->args[0];
    int shortest = lists.count ? TRITON_MAX_TUPLE : 0;
    Val *columns = ARENA_ARRAY(l->arena, Val, lists.count);
    for (int k = 0; k < lists.count; k++) {
        columns[k] = tri_iterable(l, lists.items[k], c->range);
        if (tri_val_failed(columns[k])) return val_error;
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

Val tri_lower_product(Lower *l, const Call *c) {
    Val lists = c->args[0];
    int total = 1, width = lists.count;
    int64_t repeat = 1;
    if (!tri_want_int(l, c, 1, &repeat)) return val_error;
    Val *columns = ARENA_ARRAY(l->arena, Val, width);
    for (int k = 0; k < width; k++) {
        columns[k] = tri_iterable(l, lists.items[k], c->range);
        if (tri_val_failed(columns[k])) return val_error;
    }
    if (repeat < 0 || repeat > TRITON_MAX_TUPLE || repeat * width > TRITON_MAX_TUPLE)
        return tri_error(l, DIAG_TRI_ARGUMENT, c->ranges[1], tri_title(l, c->builtin), "a small repeat",
                         tri_val_describe(l, c->args[1]));
    for (int64_t k = 0; k < repeat * width; k++)
        if (__builtin_mul_overflow(total, columns[k % width].count, &total) || total > TRITON_MAX_TUPLE)
            return tri_error(l, DIAG_TRI_ARGUMENT, c->range, tri_title(l, c->builtin), "fewer combinations",
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
Val tri_lower_getattr(Lower *l, const Call *c) {
    bool ask = c->builtin->code == 1;
    Val of = c->args[0], name = c->args[1];
    if (name.kind != VAL_STR)
        return tri_error(l, DIAG_TRI_ARGUMENT, c->ranges[1], tri_title(l, c->builtin), "a name as a string",
                         tri_val_describe(l, name));
    bool otherwise = !ask && c->args[2].kind != VAL_UNBOUND;
    if (!ask && !otherwise) return tri_attribute(l, of, name.text, c->range);
    Diag silent, *loud = l->diag;
    diag_init(&silent, l->arena, l->unit->sources);
    l->diag = &silent;
    Val v = tri_attribute(l, of, name.text, c->range);
    l->diag = loud;
    if (ask) return tri_val_bool(!tri_val_failed(v));
    return tri_val_failed(v) ? c->args[2] : v;
}

Val tri_lower_python_math(Lower *l, const Call *c) {
    for (int i = 0; i < (c->builtin->code == 'p' ? 2 : 1); i++)
        if (!tri_val_is_number(c->args[i]))
            return tri_error(l, DIAG_TRI_NEED_CONSTANT, c->ranges[i], "an argument of Python's math",
                             tri_val_describe(l, c->args[i]));
    double x = tri_val_as_double(c->args[0]), r = 0;
    switch (c->builtin->code) {
    case 's': r = sqrt(x); break;
    case '2': r = log2(x); break;
    case 'l': r = log(x); break;
    case 'e': r = exp(x); break;
    case 'p': r = pow(x, tri_val_as_double(c->args[1])); break;
    case 'c':
    case 'f':
        r = c->builtin->code == 'c' ? ceil(x) : floor(x);
        if (fabs(r) < 0x1p126) return tri_val_int((PyInt)r);
        break;
    }
    if (!isfinite(r)) return tri_error(l, DIAG_TRI_TOO_LARGE, c->range, c->builtin->name);
    return tri_val_float(r);
}

Val tri_lower_target(Lower *l, const Call *c) {
    const FrontRequest *r = l->request;
    int have = r ? r->cuda_level : 0;
    if (c->builtin->code != 'g') return tri_val_bool(c->builtin->code == 'c' && have);
    int64_t major, minor;
    if (!tri_want_int(l, c, 0, &major) || !tri_want_int(l, c, 1, &minor)) return val_error;
    return tri_val_bool(have && have >= (PyInt)major * 10 + minor);
}

/* code: threads that one stands for */
Val tri_lower_warps(Lower *l, const Call *c) {
    int warps = l->request && l->request->num_warps ? l->request->num_warps : 4;
    return tri_to_tensor(l, tri_val_int(warps * c->builtin->code), c->range);
}

/* --- classes --- */

static bool is_class(Val cls, const char *name) {
    if (cls.kind == VAL_BUILTIN) return strcmp(cls.builtin->name, name) == 0;
    if (cls.kind != VAL_MODULE) return false;
    const char *dot = strrchr(cls.text, '.');
    return strcmp(dot ? dot + 1 : cls.text, name) == 0;
}

/* 1 or 0; -1 for a class that is not known here. */
static int is_instance(Val v, Val cls) {
    bool language = cls.kind == VAL_MODULE && strncmp(cls.text, "triton.language", 15) == 0;
    if (is_class(cls, "int")) return v.kind == VAL_INT || v.kind == VAL_BOOL;
    if (is_class(cls, "float")) return v.kind == VAL_FLOAT;
    if (is_class(cls, "bool")) return v.kind == VAL_BOOL;
    if (is_class(cls, "str")) return v.kind == VAL_STR;
    if (is_class(cls, "tuple") || is_class(cls, "list")) return v.kind == VAL_TUPLE;
    if (is_class(cls, "constexpr")) return v.kind != VAL_TUPLE && tri_val_is_const(v);
    if (is_class(cls, "constexpr_type"))
        return v.kind == VAL_MODULE && strcmp(v.text, "triton.language.constexpr_type") == 0;
    if (is_class(cls, "NoneType")) return v.kind == VAL_NONE;
    if (is_class(cls, "pointer_type")) return v.kind == VAL_DTYPE && v.dtype->pointer;
    if (is_class(cls, "block_type")) return v.kind == VAL_DTYPE && v.dtype->rank > 0;
    if (is_class(cls, "tensor_descriptor") || is_class(cls, "tensor_descriptor_base")) return v.kind == VAL_DESCRIPTOR;
    if (language && is_class(cls, "tensor")) return v.kind == VAL_TENSOR;
    if (language && is_class(cls, "dtype")) return v.kind == VAL_DTYPE;
    return -1;
}

Val tri_lower_isinstance(Lower *l, const Call *c) {
    Val cls = c->args[1];
    const Val *classes = cls.kind == VAL_TUPLE ? cls.items : &cls;
    int count = cls.kind == VAL_TUPLE ? cls.count : 1;
    bool found = false;
    for (int i = 0; i < count; i++) {
        int answer = is_instance(c->args[0], classes[i]);
        if (answer < 0)
            return tri_error(l, DIAG_TRI_UNSUPPORTED, c->ranges[1],
                             arena_printf(l->arena, "`isinstance` with %s", tri_val_describe(l, classes[i])));
        found = found || answer;
    }
    return tri_val_bool(found);
}

Val tri_lower_condition(Lower *l, const Call *c) {
    (void)l;
    return c->args[0];
}

Val tri_lower_int_dtype(Lower *l, const Call *c) {
    static const Elem signed_of[] = {EL_I8, EL_I16, EL_I32, EL_I64}, unsigned_of[] = {EL_U8, EL_U16, EL_U32, EL_U64};
    int64_t bits;
    bool with_sign;
    if (!tri_want_int(l, c, 0, &bits) || !tri_want_bool(l, c, 1, &with_sign)) return val_error;
    if (bits == 1 && !with_sign) return tri_val_dtype(ty_scalar(l->module, EL_I1));
    for (int i = 0; i < 4; i++)
        if (bits == 8 << i) return tri_val_dtype(ty_scalar(l->module, with_sign ? signed_of[i] : unsigned_of[i]));
    return tri_error(l, DIAG_TRI_ARGUMENT, c->ranges[0], "tl.get_int_dtype", "8, 16, 32 or 64 bits (or 1, unsigned)",
                     tri_val_describe(l, c->args[0]));
}

Val tri_lower_block_type(Lower *l, const Call *c) {
    const Type *dtype;
    int rank;
    int64_t extent[MAX_RANK];
    if (!tri_want_dtype(l, c, 0, &dtype) || !tri_want_shape(l, c, 1, &rank, extent)) return val_error;
    return tri_val_dtype(dtype->pointer ? ty_pointer_tile(l->module, dtype->elem, rank, extent)
                                        : ty_with_shape(l->module, dtype, rank, extent));
}
