/* tilelang_calls.c: the table of `T.*` at work (tilelang.def).
 *
 * bind_call matches a call's arguments with the parameters of its row; each handler turns them into IR. */
#include "front/tilelang/tilelang.h"

#include <math.h>
#include <string.h>

typedef bool Handler(Lang *l, const PyNode *call, Param *p, Val *out);

/* --- boxes --- */

/* Whole storage as a region; a head element takes its extents from `other`, aligned at the last axis. */
static bool as_region(Lang *l, const Param *p, const Val *other, const char *name, Val *out) {
    *out = p->val;
    if (out->kind == VAL_TENSOR || out->kind == VAL_BUFFER) {
        out->is_tensor = out->kind == VAL_TENSOR;
        out->kind = VAL_REGION;
        for (int d = 0; d < out->count; d++) out->offset[d] = ir_int(&l->b, EL_I32, 0);
        return true;
    }
    if (out->kind != VAL_REGION)
        return lang_error(
            l, DIAG_TL_TYPES, p->range,
            arena_printf(l->arena, "T.%s needs a tensor or a tile here, not %s", name, lang_text(l, &p->val)));
    if (is_element(out) && other)
        for (int d = 0; d < out->count; d++) {
            int from = d - (out->count - other->count);
            out->shape[d] = from >= 0 ? other->shape[from] : 1;
        }
    return true;
}

/* The region's shape without leading extents of 1, down to `rank` dimensions. */
static const Type *region_type(Lang *l, const Val *r, Elem elem, int rank) {
    int skip = r->count - rank;
    return ty_tile(l->module, elem, rank, r->shape + skip);
}

static bool check_tile(Lang *l, const Val *r, Range range) {
    int64_t elements = 1;
    for (int d = 0; d < r->count; d++) {
        if (r->shape[d] < 1)
            return lang_error(l, DIAG_TL_SHAPES, range, "copy", lang_text(l, r), "it",
                              "a box has at least one element");
        if (r->kind == VAL_REGION && !r->is_tensor && !check_inside(l, r, d, r->at[d], r->shape[d], range))
            return false;
        if (__builtin_mul_overflow(elements, r->shape[d], &elements) || elements > MAX_TILE_ELEMENTS)
            return lang_error(l, DIAG_TL_TYPES, range, "a tile has at most 2^20 elements; use smaller blocks");
    }
    return true;
}

static int leading_ones(const Val *r) {
    int n = 0;
    while (n < r->count && r->shape[n] == 1) n++;
    return n;
}

/* A word that must be one of a list "a, b, c"; T.GemmWarpPolicy.FullRow counts as its last part. */
static bool check_word(Lang *l, const Param *p, const char *what, const char *words) {
    if (!p->given) return true;
    const char *text = p->val.kind == VAL_TEXT || p->val.kind == VAL_MODULE ? p->val.text : "";
    if (p->val.kind == VAL_MODULE) text = strncmp(text, "T.GemmWarpPolicy.", 17) == 0 ? text + 17 : "";
    for (const char *at = words; *text && (at = strstr(at, text)); at++)
        if ((at == words || at[-1] == ' ') && strchr(",", at[strlen(text)])) return true;
    return lang_error(l, DIAG_TL_WORD, p->range, lang_text(l, &p->val), what, words);
}

/* The dimensions of a box that a tile of fewer covers, the last ones if none are given. */
typedef struct Dims {
    int count; /* 0: the last ones */
    int64_t at[MAX_RANK];
} Dims;

static void set_dims(Lang *l, Op *op, const Dims *dims) {
    if (dims->count)
        op_set(l->kernel, op,
               (Attr){.id = AT_DIMS, .list = {dims->count, arena_copy(l->arena, dims->at, sizeof dims->at)}});
}

static Ref load_as(Lang *l, const Val *r, const Type *type, const Dims *dims) {
    if (!r->is_tensor)
        return ir_reshape(&l->b, ir_bload(&l->b, r->ref, r->offset, region_type(l, r, r->elem, r->count)), type);
    Ref value = ir_tload(&l->b, r->ref, r->offset, REF_NONE, type);
    set_dims(l, ir_value(l->kernel, value)->op, dims);
    return value;
}

static void store_as(Lang *l, const Val *r, Ref value, const Dims *dims) {
    value = ir_cast(&l->b, value, r->elem);
    if (r->is_tensor)
        set_dims(l, ir_tstore(&l->b, r->ref, r->offset, value, REF_NONE), dims);
    else
        ir_bstore(&l->b, r->ref, r->offset, ir_reshape(&l->b, value, region_type(l, r, r->elem, r->count)));
}

static Ref load_box(Lang *l, const Val *r, int rank) {
    return load_as(l, r, region_type(l, r, r->elem, rank), &(Dims){0});
}
static void store_box(Lang *l, const Val *r, Ref value) { store_as(l, r, value, &(Dims){0}); }

/* The dimensions of more than one element, in order. */
static void long_dims(const Val *r, Dims *dims, int64_t *extent) {
    dims->count = 0;
    for (int d = 0; d < r->count; d++)
        if (r->shape[d] != 1) extent[dims->count] = r->shape[d], dims->at[dims->count++] = d;
}

static bool lower_copy(Lang *l, const PyNode *call, Param *p, Val *out) {
    (void)out;
    Val from, to;
    l->b.range = call->range;
    if (!check_word(l, &p[4], "eviction policy", "evict_normal, evict_first, evict_last")) return false;
    bool head = p[0].val.kind == VAL_REGION && is_element(&p[0].val);
    const Val *other = head ? &p[1].val : &p[0].val;
    if (!as_region(l, &p[0], other, "copy", &from) || !as_region(l, &p[1], &from, "copy", &to)) return false;
    if (!check_tile(l, &from, p[0].range) || !check_tile(l, &to, p[1].range)) return false;
    int rank = from.count - leading_ones(&from), rank_to = to.count - leading_ones(&to);
    if (rank_to > rank) rank = rank_to;
    if (rank < 1) rank = 1;
    bool fits = rank <= from.count && rank <= to.count;
    for (int d = 1; fits && d <= rank; d++) fits = from.shape[from.count - d] == to.shape[to.count - d];
    if (fits) {
        store_box(l, &to, load_box(l, &from, rank));
        return true;
    }
    /* Extents of 1 may stand anywhere: Q[b, s : s + 16, h, :] is a tile of 16 rows. */
    Dims dims[2];
    int64_t extent[2][MAX_RANK];
    long_dims(&from, &dims[0], extent[0]);
    long_dims(&to, &dims[1], extent[1]);
    if (dims[0].count != dims[1].count || memcmp(extent[0], extent[1], (size_t)dims[0].count * sizeof **extent) != 0)
        return lang_error(l, DIAG_TL_SHAPES, call->range, "copy", lang_text(l, &from), lang_text(l, &to),
                          "both boxes must have the same extents, 1s apart");
    store_as(l, &to, load_as(l, &from, ty_tile(l->module, from.elem, dims[0].count, extent[0]), &dims[0]), &dims[1]);
    return true;
}

static bool need_buffer(Lang *l, const Param *p, const char *name, Val *out) {
    if (!as_region(l, p, NULL, name, out)) return false;
    if (out->is_tensor)
        return lang_error(
            l, DIAG_TL_TYPES, p->range,
            arena_printf(l->arena,
                         "T.%s works on tiles (alloc_shared, alloc_fragment); copy the tensor's box into one first",
                         name));
    return check_tile(l, out, p->range);
}

static bool host_flag(Lang *l, const Param *p, bool otherwise, bool *out) {
    *out = otherwise;
    if (!p->given) return true;
    if (p->val.kind != VAL_BOOL && p->val.kind != VAL_INT)
        return lang_error(l, DIAG_TL_ARGUMENTS, p->range, "this argument must be True or False");
    *out = p->val.i != 0;
    return true;
}

static bool lower_gemm(Lang *l, const PyNode *call, Param *p, Val *out) {
    (void)out;
    Val m[3];
    bool transpose[2], clear;
    bool number = p[5].val.kind == VAL_INT && p[5].val.i >= 0 && p[5].val.i <= 2; /* the policies by number */
    if (!number && !check_word(l, &p[5], "policy", "Square, FullRow, FullCol")) return false;
    for (int i = 0; i < 3; i++) {
        if (!need_buffer(l, &p[i], "gemm", &m[i])) return false;
        if (m[i].count < 2 || leading_ones(&m[i]) < m[i].count - 2)
            return lang_error(l, DIAG_TL_SHAPES, p[i].range, "gemm", lang_text(l, &m[i]), "[M, K] [K, N] [M, N]",
                              "the operands are matrices");
    }
    if (!host_flag(l, &p[3], false, &transpose[0]) || !host_flag(l, &p[4], false, &transpose[1]) ||
        !host_flag(l, &p[6], false, &clear))
        return false;
    l->b.range = call->range;
    Ref side[2];
    for (int i = 0; i < 2; i++) {
        side[i] = load_box(l, &m[i], 2);
        if (transpose[i]) side[i] = ir_permute(&l->b, side[i], (int64_t[]){1, 0}, 2);
    }
    const Type *a = ir_type(l->kernel, side[0]), *b = ir_type(l->kernel, side[1]);
    const int64_t *c = m[2].shape + m[2].count - 2;
    if (a->extent[1] != b->extent[0] || a->extent[0] != c[0] || b->extent[1] != c[1])
        return lang_error(l, DIAG_TL_SHAPES, call->range, "gemm",
                          arena_printf(l->arena, "%s and %s", ty_text(a, l->arena), ty_text(b, l->arena)),
                          lang_text(l, &m[2]), "[M, K] times [K, N] gives [M, N] (after transpose_A, transpose_B)");
    if (a->elem != b->elem)
        return lang_error(l, DIAG_TL_TYPES, call->range, "T.gemm needs A and B of one dtype; cast one of them");
    if (elem_is_float(a->elem) != elem_is_float(m[2].elem))
        return lang_error(l, DIAG_TL_TYPES, call->range, "T.gemm cannot mix float and integer tiles");
    Ref sum =
        clear ? ir_splat(&l->b, elem_is_float(m[2].elem) ? ir_float(&l->b, m[2].elem, 0) : ir_int(&l->b, m[2].elem, 0),
                         region_type(l, &m[2], m[2].elem, 2))
              : load_box(l, &m[2], 2);
    /* Modulo the range of a short integer the sum is that of 32 bits, which the matrix units take. */
    if (!elem_is_float(m[2].elem) && elem_info[m[2].elem].bits < 32) sum = ir_cast(&l->b, sum, EL_I32);
    store_box(l, &m[2], ir_dot(&l->b, side[0], side[1], sum));
    return true;
}

static bool fill_with(Lang *l, const PyNode *call, const Param *p, const Val *value, const char *name) {
    Val box;
    Ref ref;
    l->b.range = call->range;
    if (!as_region(l, p, NULL, name, &box) || !check_tile(l, &box, p->range) ||
        !convert(l, value, box.elem, call->range, &ref))
        return false;
    store_box(l, &box, ir_splat(&l->b, ref, region_type(l, &box, box.elem, box.count)));
    return true;
}

static bool lower_clear(Lang *l, const PyNode *call, Param *p, Val *out) {
    (void)out;
    Val zero = lang_int(0);
    return fill_with(l, call, &p[0], &zero, "clear");
}
static bool lower_fill(Lang *l, const PyNode *call, Param *p, Val *out) {
    (void)out;
    return fill_with(l, call, &p[0], &p[1].val, "fill");
}

static bool reduce(Lang *l, const PyNode *call, Param *p, Word combine, Opcode code, const char *name) {
    Val from, to;
    bool clear;
    int64_t dim = -1;
    if (!need_buffer(l, &p[0], name, &from) || !need_buffer(l, &p[1], name, &to) || !host_flag(l, &p[3], true, &clear))
        return false;
    if (p[2].given && p[2].val.kind != VAL_INT)
        return lang_error(l, DIAG_TL_ARGUMENTS, p[2].range, "dim must be a known integer");
    if (p[2].given) dim = p[2].val.i;
    if (dim < 0) dim += from.count;
    if (dim < 0 || dim >= from.count)
        return lang_error(l, DIAG_TL_ARGUMENTS, call->range,
                          arena_printf(l->arena, "dim is outside of %s", lang_text(l, &from)));
    l->b.range = call->range;
    /* In the output's type, but sums of floats in f32 at least. */
    bool wide = combine == COMBINE_ADD && elem_is_float(to.elem) && elem_info[to.elem].bits < 32;
    Ref value = ir_cast(&l->b, load_box(l, &from, from.count), wide ? EL_F32 : to.elem);
    value = ir_reduce(&l->b, combine, value, (int)dim);
    const Type *got = ir_type(l->kernel, value), *want = region_type(l, &to, got->elem, to.count);
    if (ty_elements(got) != ty_elements(want) || (to.count != got->rank && to.count != from.count))
        return lang_error(l, DIAG_TL_SHAPES, call->range, name, ty_text(got, l->arena), lang_text(l, &to),
                          "the output drops the reduced dimension or keeps it as 1");
    value = ir_cast(&l->b, ir_reshape(&l->b, value, want), to.elem);
    if (!clear) value = ir_binary(&l->b, code, load_box(l, &to, to.count), value);
    store_box(l, &to, value);
    return true;
}
static bool lower_reduce_sum(Lang *l, const PyNode *call, Param *p, Val *out) {
    (void)out;
    return reduce(l, call, p, COMBINE_ADD, OP_ADD, "reduce_sum");
}
static bool lower_reduce_max(Lang *l, const PyNode *call, Param *p, Val *out) {
    (void)out;
    return reduce(l, call, p, COMBINE_MAX, OP_MAX, "reduce_max");
}
static bool lower_reduce_min(Lang *l, const PyNode *call, Param *p, Val *out) {
    (void)out;
    return reduce(l, call, p, COMBINE_MIN, OP_MIN, "reduce_min");
}

/* --- storage --- */

static bool get_dtype(Lang *l, const Param *p, Elem *elem) {
    if (p->val.kind == VAL_DTYPE)
        *elem = p->val.elem;
    else if (p->val.kind != VAL_TEXT || !elem_from_text(p->val.text, elem))
        return lang_error(l, DIAG_TL_DTYPE, p->range, lang_text(l, &p->val));
    return true;
}

static bool allocate(Lang *l, const PyNode *call, const Param *p, Word scope, Val *out) {
    if (!check_word(l, &p[2], "scope", "shared, shared.dyn, local, local.fragment, local.var")) return false;
    *out = (Val){.kind = VAL_BUFFER, .count = p[0].val.count};
    const Val *items = p[0].val.items;
    if (p[0].val.kind == VAL_INT)
        items = &p[0].val, out->count = 1;
    else if (p[0].val.kind != VAL_TUPLE)
        out->count = 0;
    if (out->count < 1 || out->count > MAX_RANK)
        return lang_error(l, DIAG_TL_ARGUMENTS, p[0].range, "a tile's shape is a tuple of 1 to 8 known integers");
    for (int d = 0; d < out->count; d++) {
        if (items[d].kind != VAL_INT || items[d].i < 1)
            return lang_error(l, DIAG_TL_EXTENT, p[0].range, lang_text(l, &items[d]));
        out->shape[d] = items[d].i;
    }
    if (!check_tile(l, out, p[0].range) || !get_dtype(l, &p[1], &out->elem)) return false;
    l->b.range = call->range;
    out->ref = ir_buffer(&l->b, ty_buffer(l->module, out->elem, out->count, out->shape, scope), NULL);
    return true;
}
static bool lower_alloc_shared(Lang *l, const PyNode *c, Param *p, Val *out) {
    return allocate(l, c, p, SCOPE_SHARED, out);
}
static bool lower_alloc_fragment(Lang *l, const PyNode *c, Param *p, Val *out) {
    return allocate(l, c, p, SCOPE_FRAGMENT, out);
}
static bool lower_alloc_local(Lang *l, const PyNode *c, Param *p, Val *out) {
    return allocate(l, c, p, SCOPE_LOCAL, out);
}

/* --- scalars --- */

static bool two(Lang *l, const PyNode *call, Param *p, PyOp op, Val *out) {
    return binary(l, op, &p[0].val, &p[1].val, call->range, out);
}
static bool lower_floordiv(Lang *l, const PyNode *call, Param *p, Val *out) {
    return two(l, call, p, PY_OP_FLOORDIV, out);
}
static bool lower_floormod(Lang *l, const PyNode *call, Param *p, Val *out) { return two(l, call, p, PY_OP_MOD, out); }
static bool lower_ceildiv(Lang *l, const PyNode *call, Param *p, Val *out) {
    Val one = lang_int(1), sum;
    return binary(l, PY_OP_ADD, &p[0].val, &p[1].val, call->range, &sum) &&
           binary(l, PY_OP_SUB, &sum, &one, call->range, &sum) &&
           binary(l, PY_OP_FLOORDIV, &sum, &p[1].val, call->range, out);
}

static bool is_host(const Val *v) { return v->kind == VAL_INT || v->kind == VAL_FLOAT || v->kind == VAL_BOOL; }

static bool extreme(Lang *l, const PyNode *call, Param *p, Opcode code, Val *out) {
    if (is_host(&p[0].val) && is_host(&p[1].val)) {
        bool ints = p[0].val.kind != VAL_FLOAT && p[1].val.kind != VAL_FLOAT;
        double a = p[0].val.kind == VAL_FLOAT ? p[0].val.f : (double)p[0].val.i,
               b = p[1].val.kind == VAL_FLOAT ? p[1].val.f : (double)p[1].val.i;
        *out = (code == OP_MAX) == (ints ? p[0].val.i >= p[1].val.i : a >= b) ? p[0].val : p[1].val;
        return true;
    }
    Ref a, b;
    if (!meet_scalars(l, &p[0].val, &p[1].val, call->range, &a, &b)) return false;
    *out = val_scalar(l, ir_binary(&l->b, code, a, b));
    return true;
}
static bool lower_max(Lang *l, const PyNode *call, Param *p, Val *out) { return extreme(l, call, p, OP_MAX, out); }
static bool lower_min(Lang *l, const PyNode *call, Param *p, Val *out) { return extreme(l, call, p, OP_MIN, out); }

static bool lower_if_then_else(Lang *l, const PyNode *call, Param *p, Val *out) {
    Ref c;
    return convert(l, &p[0].val, EL_I1, call->range, &c) && choose(l, c, &p[1].val, &p[2].val, call->range, out);
}

static bool cast_to(Lang *l, const PyNode *call, const Param *value, const Param *dtype, Val *out) {
    Elem elem;
    Ref ref;
    if (!get_dtype(l, dtype, &elem) || !convert(l, &value->val, elem, call->range, &ref)) return false;
    *out = val_scalar(l, ref);
    return true;
}
static bool lower_cast(Lang *l, const PyNode *call, Param *p, Val *out) { return cast_to(l, call, &p[0], &p[1], out); }
static bool lower_Cast(Lang *l, const PyNode *call, Param *p, Val *out) { return cast_to(l, call, &p[1], &p[0], out); }

static bool lower_infinity(Lang *l, const PyNode *call, Param *p, Val *out) {
    Elem elem;
    if (!get_dtype(l, &p[0], &elem)) return false;
    if (!elem_is_float(elem))
        return lang_error(l, DIAG_TL_TYPES, call->range,
                          "integers have no infinity; write the smallest or largest number");
    *out = (Val){.kind = VAL_FLOAT, .f = INFINITY};
    return true;
}

static bool unary(Lang *l, const PyNode *call, Param *p, Opcode code, Val *out) {
    Val x;
    if (!to_scalar(l, &p[0].val, call->range, &x)) return false;
    if (!elem_is_float(x.elem) && code != OP_ABS) {
        Ref f;
        if (!convert(l, &p[0].val, EL_F32, call->range, &f)) return false;
        x = val_scalar(l, f);
    }
    l->b.range = call->range;
    *out = val_scalar(l, ir_unary(&l->b, code, x.ref));
    return true;
}
#define UNARY(name, code) \
    static bool lower_##name(Lang *l, const PyNode *call, Param *p, Val *out) { return unary(l, call, p, code, out); }
UNARY(exp, OP_EXP)
UNARY(exp2, OP_EXP2)
UNARY(log, OP_LOG)
UNARY(log2, OP_LOG2)
UNARY(sqrt, OP_SQRT)
UNARY(rsqrt, OP_RSQRT)
UNARY(sin, OP_SIN)
UNARY(cos, OP_COS)
UNARY(tanh, OP_TANH)
UNARY(erf, OP_ERF)
UNARY(floor, OP_FLOOR)
UNARY(ceil, OP_CEIL)
UNARY(abs, OP_ABS)

static bool lower_nothing(Lang *l, const PyNode *call, Param *p, Val *out) {
    (void)l, (void)call, (void)p, (void)out;
    return true;
}
static bool lower_use_swizzle(Lang *l, const PyNode *call, Param *p, Val *out) {
    (void)call, (void)out;
    return check_word(l, &p[1], "order", "row, column");
}
static bool lower_STRUCTURE(Lang *l, const PyNode *call, Param *p, Val *out) {
    (void)p, (void)out;
    return lang_error(l, DIAG_TL_UNSUPPORTED, call->range, "this call here",
                      "loops stand in `for`, T.Kernel in `with`, T.Tensor behind a parameter");
}

/* --- the table --- */

typedef struct Builtin {
    const char *name, *params;
    Handler *handler;
} Builtin;

static const Builtin builtins[] = {
#define BUILTIN(name, params, handler, doc) {"T." #name, params, lower_##handler},
#include "front/tilelang/tilelang.def"
#undef BUILTIN
    {"py.range", "start, stop=, step=", lower_STRUCTURE},
    {"py.max", "a, b", lower_max},
    {"py.min", "a, b", lower_min},
    {"py.abs", "x", lower_abs},
};

static const Builtin *find_builtin(Lang *l, const PyNode *call, const char *name) {
    const char *names[sizeof builtins / sizeof *builtins];
    size_t count = sizeof builtins / sizeof *builtins;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(builtins[i].name, name) == 0) return &builtins[i];
        names[i] = builtins[i].name + (builtins[i].name[0] == 'T' ? 2 : 3);
    }
    const char *short_name = strncmp(name, "T.", 2) == 0 ? name + 2 : name;
    const char *near = text_nearest(short_name, names, count);
    lang_error(l, DIAG_TL_UNKNOWN_OP, call->Call.func->range, short_name,
               near ? arena_printf(l->arena, "; did you mean `T.%s`?", near) : "");
    return NULL;
}

bool lang_knows_call(Lang *l, const PyNode *call) {
    const PyNode *func = call->Call.func;
    const char *root =
        func->kind == PY_Attribute && func->Attribute.value->kind == PY_Name ? func->Attribute.value->Name.id : NULL;
    const Val *module = root ? scope_find(l, root) : NULL;
    Elem elem;
    if (!module || module->kind != VAL_MODULE || strcmp(module->text, "T") != 0) return true;
    return elem_from_text(func->Attribute.attr, &elem) ||
           find_builtin(l, call, arena_printf(l->arena, "T.%s", func->Attribute.attr));
}

/* The index of the named parameter in the row (-1: none), how many there are, and where `*rest` stands (-1:
 * nowhere). */
static int find_param(const char *params, const char *name, int *count, int *rest, bool *needed) {
    int index = 0, found = -1;
    *rest = -1;
    for (const char *s = params; *s; index++) {
        size_t n = strcspn(s, ",");
        const char *word = *s == '*' ? s + 1 : s;
        size_t length = n - (size_t)(word - s);
        bool optional = length && word[length - 1] == '=';
        if (*s == '*') *rest = index;
        if (name && strlen(name) == length - optional && strncmp(word, name, length - optional) == 0) found = index;
        if (needed) needed[index] = !optional && *s != '*';
        s += n;
        while (*s == ',' || *s == ' ') s++;
    }
    *count = index;
    return found;
}

bool bind_call(Lang *l, const PyNode *call, const char *name, Param *params, int *extra_count, Val *extra) {
    const Builtin *row = find_builtin(l, call, name);
    bool needed[MAX_PARAMS] = {false};
    int count, rest;
    if (!row) return false;
    find_param(row->params, NULL, &count, &rest, needed);
    memset(params, 0, sizeof *params * MAX_PARAMS);
    *extra_count = 0;
    for (uint32_t i = 0; i < call->Call.args->count; i++) {
        const PyNode *arg = call->Call.args->at[i];
        Val val;
        if (arg->kind == PY_Starred)
            return lang_error(l, DIAG_TL_UNSUPPORTED, arg->range, "a starred argument", "write the arguments out");
        if (!eval(l, arg, &val)) return false;
        if (rest == 0 && *extra_count < MAX_EXTRA)
            extra[(*extra_count)++] = val;
        else if (rest < 0 && (int)i < count)
            params[i] = (Param){val, arg->range, true};
        else
            return lang_error(l, DIAG_TL_ARGUMENTS, arg->range,
                              arena_printf(l->arena, "%s(%s) takes fewer arguments", name, row->params));
    }
    for (uint32_t i = 0; i < call->Call.keywords->count; i++) {
        const PyNode *keyword = call->Call.keywords->at[i];
        int unused;
        int at = keyword->keyword.arg ? find_param(row->params, keyword->keyword.arg, &unused, &rest, NULL) : -1;
        if (at < 0 || params[at].given)
            return lang_error(l, DIAG_TL_ARGUMENTS, keyword->range,
                              arena_printf(l->arena, "%s(%s) does not take `%s` here", name, row->params,
                                           keyword->keyword.arg ? keyword->keyword.arg : "**"));
        if (!eval(l, keyword->keyword.value, &params[at].val)) return false;
        params[at].given = true;
        params[at].range = keyword->range;
    }
    for (int i = 0; i < count; i++)
        if (needed[i] && !params[i].given)
            return lang_error(l, DIAG_TL_ARGUMENTS, call->range,
                              arena_printf(l->arena, "%s(%s): argument %d is missing", name, row->params, i + 1));
    return true;
}

bool call_builtin(Lang *l, const PyNode *call, const char *name, Val *out) {
    Param params[MAX_PARAMS];
    Val extra[MAX_EXTRA];
    int extras;
    const Builtin *row = find_builtin(l, call, name);
    *out = (Val){.kind = VAL_NONE};
    if (!row || !bind_call(l, call, name, params, &extras, extra)) return false;
    bool host_only = row->handler == lower_ceildiv || row->handler == lower_floordiv ||
                     row->handler == lower_floormod || row->handler == lower_max || row->handler == lower_min ||
                     row->handler == lower_infinity;
    if (!l->in_kernel && !host_only)
        return lang_error(l, DIAG_TL_UNSUPPORTED, call->range, arena_printf(l->arena, "%s outside of T.Kernel", name),
                          "put it under `with T.Kernel(...)`");
    return row->handler(l, call, params, out);
}
