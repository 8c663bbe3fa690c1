/* SPDX-License-Identifier: Apache-2.0 */
/* infer.c: the type rule of every op.
 *
 * First the operands are matched against the op's mini-language (ops.def): classes, equal element types for equal
 * letters, and the common shape of an elementwise op. Then the result rule of the row gives the result types. Every
 * failure is one sentence in *why, which the parser, the verifier and ice print. */
#include "ir/assembly.h"
#include "ir/externs.h"
#include "ir/ir.h"

#include <string.h>

typedef struct Infer {
    Kernel *k;
    const Op *op;
    const Type *given;
    const Type **results;
    int *count;
    const char **why;
    const Type *shape; /* elementwise: common shape so far */
} Infer;

static bool fail(Infer *in, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(Infer *in, const char *format, ...) {
    va_list args;
    va_start(args, format);
    *in->why = arena_vprintf(in->k->module->arena, format, args);
    va_end(args);
    return false;
}

static char *show(Infer *in, const Type *type) { return ty_text(type, in->k->module->arena); }

static bool class_fits(char letter, const Type *t) {
    bool tile = t->kind == TY_TILE;
    switch (letter) {
    case 'x':
    case 'z': return tile;
    case 'y': return true;
    case 'a': return tile && !t->pointer;
    case 'w': return tile && !t->pointer && !elem_is_float(t->elem);
    case 'i': return tile && !t->pointer && elem_is_int(t->elem);
    case 'f': return tile && !t->pointer && elem_is_float(t->elem);
    case 'c': return tile && !t->pointer && t->elem == EL_I1;
    case 'p': return tile && t->pointer;
    case 'n': return tile && !t->pointer && !t->rank && elem_is_int(t->elem);
    case 'v': return tile && !t->pointer && t->rank <= 1 && elem_is_int(t->elem);
    case 't': return t->kind == TY_TENSOR;
    case 'b': return t->kind == TY_BUFFER;
    case 'r': return t->kind == TY_RING;
    case 's': return t->kind == TY_SLOT;
    case 'k': return t->kind == TY_BAR;
    }
    return false;
}

static const char *class_name(char letter) {
    switch (letter) {
    case 'a': return "a number";
    case 'w': return "an integer or i1";
    case 'i': return "an integer";
    case 'n': return "an integer scalar";
    case 'v': return "an integer scalar or an index vector";
    case 'f': return "a float";
    case 'c': return "an i1";
    case 'p': return "a pointer";
    case 't': return "a tensor";
    case 'b': return "a buffer";
    case 'r': return "a ring";
    case 's': return "a slot";
    case 'k': return "a barrier";
    }
    return "a scalar or tile";
}

/* One operand against its letter; `first` is the first type seen with that letter. */
static bool check_operand(Infer *in, char letter, Ref ref, const Type **first, int number) {
    const Type *t = ir_type(in->k, ref);
    if (!class_fits(letter, t))
        return fail(in, "operand %d must be %s, it is %s", number, class_name(letter), show(in, t));
    bool same = strchr("xzifaw", letter) != NULL;
    if (same && *first && ((*first)->elem != t->elem || (*first)->pointer != t->pointer))
        return fail(in, "operands must have one element type, here %s and %s", show(in, *first), show(in, t));
    if (!*first) *first = t;
    if (op_has(in->op->code, TRAIT_ELEMENTWISE)) {
        const Type *shape = in->shape ? ty_broadcast(in->k->module, in->shape, t) : t;
        if (!shape) return fail(in, "shapes %s and %s do not broadcast", show(in, in->shape), show(in, t));
        in->shape = shape;
    }
    return true;
}

static bool check_operands(Infer *in) {
    const Op *op = in->op;
    const Type *first[128] = {0};
    int at = 0, list = 0;
    for (const char *s = op_info[op->code].operands; *s; s++) {
        if (*s == ' ') continue;
        bool bracket = *s == '[';
        char letter = bracket ? *++s : *s;
        if (bracket) s++; /* the ']' */
        char mark = bracket ? 0 : s[1];
        if (mark == '?' || mark == '*') s++;
        int n = bracket ? op->list_count[list++] : mark == '*' ? op->operand_count - at : 1;
        for (int i = 0; i < n; i++, at++) {
            if (at >= op->operand_count) {
                if (mark == '?') break;
                return fail(in, "operand %d (%s) is missing", at + 1, class_name(letter));
            }
            Ref ref = op->operands[at];
            bool absent_ok = mark == '?' || (bracket && op->code == OP_TENSOR);
            if (ref == REF_NONE) {
                if (absent_ok) continue;
                return fail(in, "operand %d (%s) is missing", at + 1, class_name(letter));
            }
            /* Carried values of loops, and yields, are of any type each. */
            const Type *any = NULL;
            bool free_type = mark == '*' && op->code != OP_CAT;
            if (!check_operand(in, letter, ref, free_type ? &any : &first[(int)letter], at + 1)) return false;
        }
    }
    if (at < op->operand_count) return fail(in, "%d operands are too many", op->operand_count);
    return true;
}

static bool give(Infer *in, const Type *type) {
    int64_t elements = 1;
    for (int d = 0; type->kind == TY_TILE && d < type->rank; d++) {
        elements *= type->extent[d];
        if (elements > MAX_TILE_ELEMENTS) return fail(in, "a tile has at most 2^20 elements");
    }
    in->results[(*in->count)++] = type;
    return true;
}

static const Type *operand_type(Infer *in, int i) { return ir_type(in->k, in->op->operands[i]); }

static bool get_axis(Infer *in, int rank, int *axis) {
    int64_t value = op_int(in->op, AT_AXIS, -1);
    if (value < 0 || value >= rank) return fail(in, "axis %lld is not in 0 .. %d", (long long)value, rank - 1);
    *axis = (int)value;
    return true;
}

static bool drop_axis(Infer *in, const Type *t, Elem elem) {
    int axis = 0;
    if (!get_axis(in, t->rank, &axis)) return false;
    int64_t extent[MAX_RANK];
    for (int d = 0, out = 0; d < t->rank; d++)
        if (d != axis) extent[out++] = t->extent[d];
    return give(in, ty_tile(in->k->module, elem, t->rank - 1, extent));
}

static bool infer_expand(Infer *in, const Type *t) {
    int axis = 0;
    if (t->rank == MAX_RANK) return fail(in, "rank %d is the largest", MAX_RANK);
    if (!get_axis(in, t->rank + 1, &axis)) return false;
    int64_t extent[MAX_RANK];
    for (int d = 0; d <= t->rank; d++) extent[d] = d == axis ? 1 : t->extent[d < axis ? d : d - 1];
    return give(in, ty_with_shape(in->k->module, t, t->rank + 1, extent));
}

static bool infer_permute(Infer *in, const Type *t) {
    const Attr *dims = op_attr(in->op, AT_DIMS);
    if (!dims || dims->list.count != t->rank) return fail(in, "dims must name all %d axes", t->rank);
    int64_t extent[MAX_RANK];
    unsigned seen = 0;
    for (int d = 0; d < t->rank; d++) {
        int64_t from = dims->list.at[d];
        if (from < 0 || from >= t->rank || (seen >> from & 1))
            return fail(in, "dims is no permutation of the %d axes", t->rank);
        seen |= 1u << from;
        extent[d] = t->extent[from];
    }
    return give(in, ty_with_shape(in->k->module, t, t->rank, extent));
}

static bool infer_cat(Infer *in) {
    if (!in->op->operand_count) return fail(in, "at least one operand is needed");
    const Type *t = operand_type(in, 0);
    int axis = 0;
    if (!get_axis(in, t->rank, &axis)) return false;
    int64_t extent[MAX_RANK];
    memcpy(extent, t->extent, sizeof extent);
    for (int i = 1; i < in->op->operand_count; i++) {
        const Type *u = operand_type(in, i);
        bool fits = u->rank == t->rank;
        for (int d = 0; fits && d < t->rank; d++) fits = d == axis || u->extent[d] == t->extent[d];
        if (!fits) return fail(in, "%s and %s do not stand side by side", show(in, t), show(in, u));
        extent[axis] += u->extent[axis];
    }
    return give(in, ty_with_shape(in->k->module, t, t->rank, extent));
}

static bool infer_join(Infer *in, const Type *t) {
    if (t != operand_type(in, 1) || t->rank == MAX_RANK)
        return fail(in, "both operands must have one type of rank below %d", MAX_RANK);
    int64_t extent[MAX_RANK];
    memcpy(extent, t->extent, sizeof extent);
    extent[t->rank] = 2;
    return give(in, ty_with_shape(in->k->module, t, t->rank + 1, extent));
}

static bool infer_split(Infer *in, const Type *t) {
    if (t->rank == 0 || t->extent[t->rank - 1] != 2)
        return fail(in, "the last extent must be 2, the operand is %s", show(in, t));
    const Type *half = ty_with_shape(in->k->module, t, t->rank - 1, t->extent);
    return give(in, half) && give(in, half);
}

static bool infer_reduce(Infer *in) {
    Word kind = op_word(in->op, AT_COMBINE, WORD_NONE);
    for (int i = 0; i < in->op->operand_count; i++) {
        const Type *t = operand_type(in, i);
        bool index = kind == COMBINE_ARGMIN || kind == COMBINE_ARGMAX;
        if (!drop_axis(in, t, index ? EL_I32 : t->elem)) return false;
    }
    return true;
}

/* Tiles of one shape in, as many tiles out as the region yields. */
static bool infer_map(Infer *in) {
    const Type *first = in->op->operand_count ? operand_type(in, 0) : NULL;
    if (!first) return fail(in, "at least one operand is needed");
    for (int i = 1; i < in->op->operand_count; i++)
        if (!ty_same_shape(first, operand_type(in, i)))
            return fail(in, "%s and %s have different shapes", show(in, first), show(in, operand_type(in, i)));
    const Op *end = in->op->region_count == 1 ? in->op->regions[0]->last : NULL;
    if (!end || end->code != OP_YIELD || end->operand_count > MAX_MAP_RESULTS)
        return fail(in, "its region must yield at most %d scalars", MAX_MAP_RESULTS);
    for (int i = 0; i < end->operand_count; i++) {
        const Type *t = ir_type(in->k, end->operands[i]);
        if (t->kind != TY_TILE || t->rank || t->pointer)
            return fail(in, "its region yields %s, no scalar", show(in, t));
        if (!give(in, ty_tile(in->k->module, t->elem, first->rank, first->extent))) return false;
    }
    return true;
}

/* As many operands and results as the constraints name, of their kinds, at one shape; without operands: scalars. */
static bool infer_asm(Infer *in) {
    AsmRegisters regs;
    const char *code = op_text(in->op, AT_CODE), *constraints = op_text(in->op, AT_CONSTRAINTS), *wrong;
    if (!code || !constraints) return fail(in, "`code` and `constraints` are needed");
    if ((wrong = asm_registers(constraints, &regs))) return fail(in, "its constraints: %s", wrong);
    if (regs.outputs > MAX_MAP_RESULTS) return fail(in, "at most %d outputs", MAX_MAP_RESULTS);
    if (regs.inputs != in->op->operand_count)
        return fail(in, "its constraints name %d inputs, and it has %d operands", regs.inputs, in->op->operand_count);
    AsmPiece piece;
    while (asm_piece(&code, regs.outputs + regs.inputs, &piece))
        if (piece.number == -2) return fail(in, "a `$` in its code is no register");
    const Type *first = regs.inputs ? operand_type(in, 0) : ty_scalar(in->k->module, EL_I32);
    for (int i = 0; i < regs.inputs; i++) {
        const Type *t = operand_type(in, i);
        Elem elem = asm_elem(regs.at[regs.outputs + i].letter);
        if (regs.at[regs.outputs + i].letter == 'n') return fail(in, "numbers (`n`) stand in its code");
        if (!ty_same_shape(first, t) || t->elem != elem)
            return fail(in, "operand %d is %s, its register holds %s", i + 1, show(in, t), elem_info[elem].text);
    }
    for (int i = 0; i < regs.outputs; i++)
        if (!give(in, ty_tile(in->k->module, asm_elem(regs.at[i].letter), first->rank, first->extent))) return false;
    return true;
}

static bool infer_dot(Infer *in) {
    const Type *a = operand_type(in, 0), *b = operand_type(in, 1), *c = operand_type(in, 2);
    int r = a->rank;
    bool fits = r >= 2 && b->rank == r && c->rank == r;
    for (int d = 0; fits && d < r - 2; d++) fits = a->extent[d] == b->extent[d] && a->extent[d] == c->extent[d];
    fits = fits && a->extent[r - 1] == b->extent[r - 2] && a->extent[r - 2] == c->extent[r - 2] &&
           b->extent[r - 1] == c->extent[r - 1];
    if (!fits)
        return fail(in, "%s times %s plus %s does not fit: [.., M, K], [.., K, N], [.., M, N] are needed", show(in, a),
                    show(in, b), show(in, c));
    if (elem_is_float(a->elem) != elem_is_float(c->elem))
        return fail(in, "%s times %s plus %s: products of integers are summed in integers, those of floats in floats",
                    show(in, a), show(in, b), show(in, c));
    if (op_int(in->op, AT_PROMOTE, 0) < 0) return fail(in, "`promote` counts elements of K: it must not be negative");
    return give(in, c);
}

static bool infer_ptr_add(Infer *in, const Type *p) {
    const Type *type = ty_broadcast(in->k->module, p, operand_type(in, 1));
    if (!type) return fail(in, "shapes do not broadcast");
    return give(in, type);
}

static bool infer_pointee(Infer *in) {
    const Type *p = operand_type(in, 0);
    return give(in, ty_tile(in->k->module, p->elem, p->rank, p->extent));
}

static bool infer_field(Infer *in) {
    const Type *ring = operand_type(in, 0)->ring;
    int64_t field = op_int(in->op, AT_FIELD_NUMBER, -1);
    if (field < 0 || field >= ring->field_count)
        return fail(in, "the ring has %d fields, none with the number %lld", ring->field_count, (long long)field);
    return give(in, ring->fields[field].type);
}

/* A box of the given type inside something with these extents (NULL: unbounded), or an element. */
static bool check_box(Infer *in, const Type *whole, int list, const Type *box) {
    if (in->op->list_count[list] != whole->rank)
        return fail(in, "%d offsets are needed, there are %d", whole->rank, in->op->list_count[list]);
    if (whole->elem != box->elem || box->pointer)
        return fail(in, "the element types of %s and %s differ", show(in, whole), show(in, box));
    if (whole->kind != TY_TENSOR && box->rank > whole->rank)
        return fail(in, "%s does not lie in %s", show(in, box), show(in, whole));
    for (int d = 0; whole->kind != TY_TENSOR && d < box->rank; d++)
        if (box->extent[d] > whole->extent[whole->rank - box->rank + d])
            return fail(in, "%s does not lie in %s", show(in, box), show(in, whole));
    if (whole->kind == TY_TENSOR && box->rank > whole->rank)
        return fail(in, "a box of rank %d does not lie in a tensor of rank %d", box->rank, whole->rank);
    return true;
}

/* A box of a buffer, or (`box`) matrices of one as one matrix. */
static bool check_shown(Infer *in, const Type *shown) {
    const Attr *attr = op_attr(in->op, AT_BOX);
    const Type *whole = operand_type(in, 0);
    if (!attr) return check_box(in, whole, 0, shown);
    int count = attr->list.count;
    const int64_t *at = attr->list.at;
    if (shown->rank != 2 || count < 3 || count > whole->rank) return fail(in, "`box` is one of matrices, shown as one");
    const Type *box = ty_with_shape(in->k->module, shown, count, at);
    bool below = shown->extent[1] == at[count - 1], beside = count == 3 && shown->extent[0] == at[1];
    if (ty_elements(box) != ty_elements(shown) || !(below || beside))
        return fail(in, "%s is not %s with its matrices below each other, nor side by side", show(in, shown),
                    show(in, box));
    return check_box(in, whole, 0, box);
}

static bool infer_given(Infer *in) {
    const Type *g = in->given;
    const Op *op = in->op;
    if (!g) return fail(in, "its type must be written behind `:`");
    const Type *x = op->operand_count && op->operands[0] ? operand_type(in, 0) : NULL;
    bool tile = g->kind == TY_TILE;
    switch (op->code) {
    case OP_SPLAT:
        if (!tile || x->rank != 0 || x->elem != g->elem || x->pointer != g->pointer)
            return fail(in, "a scalar %s does not fill %s", show(in, x), show(in, g));
        break;
    case OP_CAST:
        if (!tile || !ty_same_shape(x, g) || g->pointer || x->pointer)
            return fail(in, "%s does not convert to %s; pointers are bitcast", show(in, x), show(in, g));
        break;
    case OP_BITCAST: {
        int from = x->pointer ? 64 : elem_info[x->elem].bits, to = g->pointer ? 64 : elem_info[g->elem].bits;
        if (!tile || !ty_same_shape(x, g) || from != to)
            return fail(in, "%s and %s differ in shape or width", show(in, x), show(in, g));
        break;
    }
    case OP_EXTERN: {
        const char *callee = op_text(op, AT_CALLEE);
        if (!callee || !ext_is_name(callee)) return fail(in, "`callee` must be an identifier");
        if (!tile || !ty_same_shape(g, in->shape))
            return fail(in, "%s does not have the shape of its operands", show(in, g));
        for (int i = ext_count(op); i < op->operand_count; i++)
            if (op->operands[i]) return fail(in, "its arguments have a gap before operand %d", i + 1);
        const char *form = op_text(op, AT_TAKES);
        if (form && (!ext_check(op, form, op_int(op, AT_PART, 0)) || g->elem != EL_U64))
            return fail(in, "`takes` does not fit its operands, or `part` is no word that it writes, or its result is "
                            "not u64");
        for (int i = -1; i < ext_count(op); i++) {
            const Type *t = i < 0 ? g : operand_type(in, i);
            if (t->kind != TY_TILE || t->pointer || !ext_takes(t->elem))
                return fail(in, "%s: functions take and give integers of 8 to 64 bits, f32 and f64", show(in, t));
        }
        break;
    }
    case OP_BROADCAST:
        if (!tile || x->elem != g->elem || x->pointer != g->pointer || x->rank != g->rank ||
            ty_broadcast(in->k->module, x, g) != g)
            return fail(in, "%s does not broadcast to %s", show(in, x), show(in, g));
        break;
    case OP_REPEAT: {
        int axis = (int)op_int(op, AT_AXIS, 0);
        bool same = tile && x->elem == g->elem && x->pointer == g->pointer && x->rank == g->rank && axis < x->rank;
        for (int d = 0; same && d < x->rank; d++) same = d == axis || x->extent[d] == g->extent[d];
        int64_t times = same && g->extent[axis] % x->extent[axis] == 0 ? g->extent[axis] / x->extent[axis] : 0;
        if (times < 2 || (times & (times - 1)))
            return fail(in, "%s is not %s with each element of axis %d 2, 4, 8 .. times", show(in, g), show(in, x),
                        axis);
        break;
    }
    case OP_RESHAPE:
        if (!tile || x->elem != g->elem || x->pointer != g->pointer || ty_elements(x) != ty_elements(g))
            return fail(in, "%s does not reshape to %s", show(in, x), show(in, g));
        break;
    case OP_SLICE:
        if (!tile || g->rank != x->rank) return fail(in, "a slice keeps the rank of %s", show(in, x));
        if (!check_box(in, x, 0, g)) return false;
        break;
    case OP_BLOAD:
        if (!tile || !check_shown(in, g)) return tile ? false : fail(in, "it gives a tile or a scalar");
        break;
    case OP_TLOAD:
        if (!tile || !check_box(in, x, 0, g)) return tile ? false : fail(in, "it gives a tile or a scalar");
        break;
    case OP_BUF:
        if (g->kind != TY_BUFFER) return fail(in, "it gives a buffer, not %s", show(in, g));
        break;
    case OP_RING:
        if (g->kind != TY_RING) return fail(in, "it gives a ring, not %s", show(in, g));
        break;
    default:
        if (!tile) return fail(in, "it gives a tile or a scalar, not %s", show(in, g));
    }
    return give(in, g);
}

/* Ops without a result that still have a shape rule. */
static bool check_stores(Infer *in) {
    const Op *op = in->op;
    switch (op->code) {
    case OP_STORE: {
        const Type *p = operand_type(in, 0), *v = operand_type(in, 1);
        if (p->elem != v->elem || v->pointer) return fail(in, "%s is stored through %s", show(in, v), show(in, p));
        if (v->rank != 0 && ty_broadcast(in->k->module, v, p) != ty_with_elem(in->k->module, p, v->elem))
            return fail(in, "%s does not fit the places %s", show(in, v), show(in, p));
        return true;
    }
    case OP_TSTORE:
    case OP_TATOMIC:
    case OP_BSTORE: return check_box(in, operand_type(in, 0), 0, ir_type(in->k, op_operand(op, 1)));
    case OP_PUT: {
        const Type *whole, **results = in->results;
        int before = *in->count;
        if (!infer_field(in)) return false;
        whole = results[before];
        *in->count = before;
        const Type *value = ir_type(in->k, op_operand(op, 1));
        if (op->list_count[0] == 0 && value != whole)
            return fail(in, "the field is %s, the value %s", show(in, whole), show(in, value));
        return op->list_count[0] == 0 || check_box(in, whole, 0, value);
    }
    default: return true;
    }
}

/* Does the operand (if there) repeat to the shape, and has it the element? */
static bool check_fits(Infer *in, Ref ref, const Type *shape, Elem elem, const char *what) {
    if (ref == REF_NONE) return true;
    const Type *t = ir_type(in->k, ref);
    const Type *want = ty_tile(in->k->module, elem, shape->rank, shape->extent);
    if (t->kind == TY_TILE && !t->pointer && t->elem == elem && ty_broadcast(in->k->module, t, want) == want)
        return true;
    return fail(in, "the %s must repeat to %s, it is %s", what, show(in, want), show(in, t));
}

/* Attributes and operands beside the ones that make the result's type. */
static bool check_rest(Infer *in) {
    const Op *op = in->op;
    const Type *x = op->operand_count && op->operands[0] ? operand_type(in, 0) : NULL;
    int axis = 0;
    switch (op->code) {
    case OP_FLIP:
    case OP_SORT:
    case OP_GATHER: return get_axis(in, x->rank, &axis);
    case OP_SCATTER:
        if (op_attr(op, AT_COMBINE)) {
            Word kind = op_word(op, AT_COMBINE, WORD_NONE);
            if ((kind != COMBINE_ADD && kind != COMBINE_MIN && kind != COMBINE_MAX) || x->pointer ||
                !elem_is_int(x->elem) || elem_info[x->elem].bits > 32)
                return fail(in, "it combines integers of up to 32 bits by add, min or max, not %s by %s", show(in, x),
                            word_info[kind].text);
        }
        return (ty_same_shape(operand_type(in, 1), operand_type(in, 2)) && operand_type(in, 1)->rank && x->rank) ||
               fail(in, "a tile, and places and elements of one shape are needed");
    case OP_SCAN:
    case OP_REDUCE:
        if (!x) return fail(in, "at least one operand is needed");
        if (!get_axis(in, x->rank, &axis)) return false;
        for (int i = 1; i < op->operand_count; i++)
            if (!ty_same_shape(x, operand_type(in, i)))
                return fail(in, "%s and %s have different shapes", show(in, x), show(in, operand_type(in, i)));
        return true;
    case OP_EXTENT:
    case OP_STRIDE: {
        int64_t dim = op_int(op, AT_DIM, 0);
        return (dim >= 0 && dim < x->rank) || fail(in, "%s has no dimension %lld", show(in, x), (long long)dim);
    }
    case OP_TENSOR:
        for (int i = 0; i < op->list_count[1]; i++)
            if (!op_list(op, 1).at[i]) return fail(in, "a stride may not be none");
        return true;
    case OP_LOAD:
        return check_fits(in, op_operand(op, 1), x, EL_I1, "mask") &&
               check_fits(in, op_operand(op, 2), x, x->elem, "value of what is masked off");
    case OP_STORE: return check_fits(in, op_operand(op, 2), x, EL_I1, "mask");
    case OP_ATOMIC:
        return check_fits(in, op_operand(op, 1), x, x->elem, "value") &&
               check_fits(in, op_operand(op, 2), x, EL_I1, "mask");
    case OP_ATOMIC_CAS:
        return check_fits(in, op_operand(op, 1), x, x->elem, "expected value") &&
               check_fits(in, op_operand(op, 2), x, x->elem, "new value");
    case OP_TLOAD: /* without a type it fails anyway */
        return !in->given || in->given->kind != TY_TILE || check_fits(in, op_operand(op, 1), in->given, EL_I1, "mask");
    case OP_TSTORE:
    case OP_TATOMIC: return check_fits(in, op_operand(op, 2), ir_type(in->k, op_operand(op, 1)), EL_I1, "mask");
    case OP_ASYNC_COPY: {
        const Type *b = ir_type(in->k, op_operand(op, 1));
        return (x->elem == b->elem && b->rank <= x->rank && op->list_count[0] == x->rank) ||
               fail(in, "%s is no box of %s", show(in, b), show(in, x));
    }
    default: return true;
    }
}

bool ir_infer(Kernel *k, const Op *op, const Type *given, const Type **results, int *count, const char **why) {
    Infer in = {k, op, given, results, count, why, NULL};
    Module *m = k->module;
    *count = 0;
    if (!check_operands(&in)) return false;
    ResultRule rule = op_info[op->code].result;
    if (given && rule != RES_GIVEN && rule != RES_REGION) return fail(&in, "its type follows from its operands");
    const Type *x = op->operand_count && op->operands[0] ? operand_type(&in, 0) : NULL;
    if (!check_rest(&in)) return false;
    switch (rule) {
    case RES_NONE: return check_stores(&in);
    case RES_GIVEN: return infer_given(&in);
    case RES_SAME: {
        const Type *elem = op->code == OP_SELECT ? operand_type(&in, 1) : x;
        Type shape = *in.shape;
        return give(&in, elem->pointer ? ty_pointer_tile(m, elem->elem, shape.rank, shape.extent)
                                       : ty_tile(m, elem->elem, shape.rank, shape.extent));
    }
    case RES_BOOL: return give(&in, ty_tile(m, EL_I1, in.shape->rank, in.shape->extent));
    case RES_I32: return give(&in, ty_scalar(m, EL_I32));
    case RES_I64: return give(&in, ty_scalar(m, EL_I64));
    case RES_FIRST:
        if (op->code == OP_SCAN) {
            for (int i = 0; i < op->operand_count; i++) give(&in, operand_type(&in, i));
            return true;
        }
        if (op->code == OP_INSERT && !check_box(&in, x, 0, ir_type(k, op_operand(op, 1)))) return false;
        return give(&in, x);
    case RES_LAST: return infer_dot(&in);
    case RES_IOTA: {
        int64_t begin = op_int(op, AT_BEGIN, 0), end = op_int(op, AT_END, 0), n = 0;
        if (begin < INT32_MIN || end > (int64_t)INT32_MAX + 1) return fail(&in, "the numbers do not fit i32");
        if (__builtin_sub_overflow(end, begin, &n) || n < 1 || n > MAX_TILE_ELEMENTS)
            return fail(&in, "%lld elements are not in 1 .. 2^20", (long long)n);
        return give(&in, ty_tile(m, EL_I32, 1, &n));
    }
    case RES_PTR_ADD: return infer_ptr_add(&in, x);
    case RES_EXPAND: return infer_expand(&in, x);
    case RES_PERMUTE: return infer_permute(&in, x);
    case RES_JOIN: return infer_join(&in, x);
    case RES_SPLIT: return infer_split(&in, x);
    case RES_CAT: return infer_cat(&in);
    case RES_GATHER: {
        const Type *index = operand_type(&in, 1);
        if (index->rank != x->rank) return fail(&in, "indices and tile must have one rank");
        return give(&in, ty_with_shape(m, x, index->rank, index->extent));
    }
    case RES_REDUCE: return infer_reduce(&in);
    case RES_MAP: return infer_map(&in);
    case RES_ASM: return infer_asm(&in);
    case RES_HISTOGRAM: {
        int64_t bins = op_int(op, AT_BINS, 0);
        if (bins < 1 || bins > MAX_TILE_ELEMENTS) return fail(&in, "bins must be in 1 .. 2^20");
        return give(&in, ty_tile(m, EL_I32, 1, &bins));
    }
    case RES_POINTEE: return infer_pointee(&in);
    case RES_TENSOR:
        if (op->list_count[0] != op->list_count[1] || op->list_count[0] > MAX_RANK || x->rank != 0)
            return fail(&in, "a scalar base, and as many extents as strides (at most %d) are needed", MAX_RANK);
        return give(&in, ty_tensor(m, x->elem, op->list_count[0]));
    case RES_POINTER: return give(&in, ty_pointer(m, x->elem));
    case RES_BAR: return give(&in, ty_bar(m));
    case RES_SLOT: return give(&in, ty_slot(m, x));
    case RES_FIELD: return infer_field(&in);
    case RES_REGION: {
        int skip = op->code == OP_FOR ? 3 : op->code == OP_WHILE ? 0 : op->operand_count;
        for (int i = skip; i < op->operand_count; i++) give(&in, operand_type(&in, i));
        return true;
    }
    }
    return fail(&in, "no rule");
}
