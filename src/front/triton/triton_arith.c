/* SPDX-License-Identifier: Apache-2.0 */
/* triton_arith.c: Triton's operators on tensors: which type two operands meet in, how shapes meet,
 * and casts.
 *
 * The rules are those of Triton's own front end: bool < integer < float; a Python number beside a
 * tensor is *weak* and takes the tensor's type unless its kind is higher; float16 with bfloat16
 * gives float16, any integer with bfloat16 gives float32; `/` and `%` of 16-bit floats compute in
 * float32; `//` and `%` truncate like C and refuse mixed signedness. Comparisons and
 * maximum/minimum are not weak: there a number is an int32 or float32 first. Shapes of lower rank
 * get extents of 1 in front; the IR's elementwise ops repeat extents of 1 by themselves. */
#include "front/triton/triton.h"

#include <math.h>
#include <string.h>

/* The type that Triton gives a number. */
static bool number_type(Lower *l, Val v, Range range, Elem *elem) {
    const PyInt one = 1;
    if (v.kind == VAL_BOOL) {
        *elem = EL_I1;
    } else if (v.kind == VAL_INT) {
        if (v.i >= -(one << 31) && v.i < one << 31)
            *elem = EL_I32;
        else if (v.i >= 0 && v.i < one << 32)
            *elem = EL_U32;
        else if (v.i >= -(one << 63) && v.i < one << 63)
            *elem = EL_I64;
        else if (v.i >= 0 && v.i < one << 64)
            *elem = EL_U64;
        else {
            py_error(l, DIAG_EVAL_NUMBER_RANGE, range, val_text(l, v), "any integer type");
            return false;
        }
    } else {
        double size = fabs(v.f);
        bool single = size == 0 || isinf(size) || isnan(size) || (size >= 0x1p-126 && size <= 0x1.fffffep127);
        *elem = single ? EL_F32 : EL_F64; /* outside float32's normal range Triton takes float64 */
    }
    return true;
}

static Val make_number(Lower *l, Val v, Elem elem) {
    if (elem_is_float(elem)) {
        double value = val_as_double(v);
        return val_tensor(ir_float(&l->b, elem, value == 0 ? 0.0 : value)); /* Triton has no literal -0.0 */
    }
    if (v.kind == VAL_FLOAT) return val_tensor(ir_int(&l->b, elem, (int64_t)v.f));
    return val_tensor(ir_int(&l->b, elem, (int64_t)(uint64_t)v.i));
}

Val tri_to_tensor(Lower *l, Val v, Range range) {
    if (v.kind == VAL_TENSOR || v.kind == VAL_ERROR) return v;
    if (!val_is_number(v)) return py_error(l, DIAG_TRI_NOT_TENSOR, range, val_describe(l, v));
    Elem elem;
    if (!py_need_ir(l, range) || !number_type(l, v, range, &elem)) return val_error;
    return make_number(l, v, elem);
}

/* --- shapes --- */

static Val pad_rank(Lower *l, Val v, int rank) {
    const Type *type = val_type(l, v);
    Ref ref = v.ref;
    for (int r = type->rank; r != 0 && r < rank; r++) ref = ir_expand(&l->b, ref, 0);
    return val_tensor(ref);
}

bool tri_fits(Lower *l, const Type *tile, Range range) {
    if (ty_elements(tile) <= MAX_TILE_ELEMENTS) return true;
    py_error(l, DIAG_TRI_TILE_SIZE, range, val_type_text(l, tile), MAX_TILE_ELEMENTS);
    return false;
}

bool tri_align(Lower *l, Val *a, Val *b, Range range) {
    const Type *ta = val_type(l, *a), *tb = val_type(l, *b);
    int rank = ta->rank > tb->rank ? ta->rank : tb->rank;
    int64_t ones[MAX_RANK];
    const Type *pa = ta, *pb = tb;
    for (int side = 0; side < 2; side++) { /* check before any op is made */
        const Type *type = side ? tb : ta;
        if (type->rank == 0 || type->rank == rank) continue;
        for (int d = 0; d < rank; d++) ones[d] = d < rank - type->rank ? 1 : type->extent[d - (rank - type->rank)];
        const Type *padded = ty_with_shape(l->module, type, rank, ones);
        if (side)
            pb = padded;
        else
            pa = padded;
    }
    const Type *common = ty_broadcast(l->module, pa, pb);
    if (!common) {
        py_error(l, DIAG_TRI_SHAPES, range, val_type_text(l, ta), val_type_text(l, tb));
        return false;
    }
    if (!tri_fits(l, common, range)) return false;
    *a = pad_rank(l, *a, rank);
    *b = pad_rank(l, *b, rank);
    return true;
}

Val tri_broadcast_to(Lower *l, Val v, int rank, const int64_t *extent, Range range) {
    v = tri_to_tensor(l, v, range);
    if (val_failed(v)) return v;
    const Type *type = val_type(l, v), *want = ty_with_shape(l->module, type, rank, extent);
    if (type == want) return v;
    if (type->rank == 0) return val_tensor(ir_splat(&l->b, v.ref, want));
    if (type->rank < rank) {
        v = pad_rank(l, v, rank);
        type = val_type(l, v);
    }
    if (type->rank != rank || ty_broadcast(l->module, type, want) != want)
        return py_error(l, DIAG_TRI_BROADCAST, range, val_type_text(l, type), val_type_text(l, want));
    return val_tensor(ir_broadcast(&l->b, v.ref, want));
}

/* --- promotion --- */

static int kind_of(Elem elem) { return elem == EL_I1 ? 0 : elem_is_float(elem) ? 2 : 1; }
static bool is_f8(Elem elem) { return elem_is_float(elem) && elem_info[elem].bits == 8; }

static Elem promote_ints(Elem a, Elem b) {
    int wa = elem_info[a].bits, wb = elem_info[b].bits;
    bool sa = elem_is_signed(a), sb = elem_is_signed(b); /* int1 counts as unsigned */
    if (sa == sb) return wa > wb ? a : b;
    if (!sa) return wa >= wb ? a : b;
    return wb >= wa ? b : a;
}

/* The type that both operands are cast to; false when Triton has none. */
static bool computation_type(Elem a, bool weak_a, Elem b, bool weak_b, bool divide, Elem *out) {
    if (weak_a != weak_b) {
        Elem number = weak_a ? a : b, tensor = weak_a ? b : a;
        if (kind_of(number) <= kind_of(tensor)) {
            *out = divide && (tensor == EL_F16 || tensor == EL_BF16) ? EL_F32 : tensor;
            return true;
        }
    }
    if (a == EL_F64 || b == EL_F64)
        *out = EL_F64;
    else if (a == EL_F32 || b == EL_F32)
        *out = EL_F32;
    else if (a == EL_F16 || b == EL_F16)
        *out = divide ? EL_F32 : EL_F16;
    else if (a == EL_BF16 && b == EL_BF16)
        *out = divide ? EL_F32 : EL_BF16;
    else if (a == EL_BF16 || b == EL_BF16)
        *out = EL_F32;
    else if (is_f8(a) && is_f8(b))
        *out = a == b ? a : EL_F16;
    else if (is_f8(a) || is_f8(b))
        return false;
    else
        *out = promote_ints(a, b);
    return true;
}

/* A weak number must fit the integer type that it takes. */
static bool number_fits(Lower *l, Val v, Elem elem, Range range) {
    if (!elem_is_int(elem) || v.kind == VAL_FLOAT) return true;
    int bits = elem_info[elem].bits;
    bool is_signed = elem_is_signed(elem);
    PyInt one = 1, low = is_signed ? -(one << (bits - 1)) : 0, high = (one << (is_signed ? bits - 1 : bits)) - 1;
    if (v.i >= low && v.i <= high) return true;
    py_error(l, DIAG_EVAL_NUMBER_RANGE, range, val_text(l, v), tri_dtype_name(elem));
    return false;
}

/* What to write instead, where one can tell. */
static const char *pair_hint(Lower *l, const char *what, Val a, Val b) {
    bool pointer = false, real = false;
    Val both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (both[i].kind != VAL_TENSOR) continue;
        const Type *type = val_type(l, both[i]);
        pointer = pointer || type->pointer;
        real = real || elem_is_float(type->elem);
    }
    if (strcmp(what, "@") == 0) return "; products of matrices are tl.dot(a, b)";
    if (strcmp(what, "**") == 0) return "; powers of tensors are libdevice.pow(x, y), a square is x * x";
    if (pointer) return "; a pointer takes `+` and `-` with integers, and comparison with pointers";
    if (real && strcmp(what, "//") == 0) return "; it divides integers" FIX "use `/`, then tl.floor";
    if (real && (strchr("&|^", *what) || strcmp(what, "<<") == 0 || strcmp(what, ">>") == 0))
        return "; it takes integers" FIX "cast with .to(tl.int32), or bitcast=True for the bits";
    return "";
}

static Val bad_pair(Lower *l, const char *what, Val a, Val b, Range range) {
    return py_error(l, DIAG_EVAL_OPERANDS, range, what, val_describe(l, a), val_describe(l, b),
                    pair_hint(l, what, a, b));
}

bool tri_promote(Lower *l, Val *a, Val *b, int mode, Range range) {
    bool weak_a = mode & PROMOTE_WEAK && val_is_number(*a), weak_b = mode & PROMOTE_WEAK && val_is_number(*b);
    Val number_a = *a, number_b = *b;
    *a = tri_to_tensor(l, *a, range);
    *b = tri_to_tensor(l, *b, range);
    if (val_failed(*a) || val_failed(*b)) return false;
    const Type *ta = val_type(l, *a), *tb = val_type(l, *b);
    if (ta->pointer || tb->pointer) {
        if (ta->pointer && tb->pointer && ta->elem == tb->elem) return tri_align(l, a, b, range);
        bad_pair(l, "this operation", *a, *b, range);
        return false;
    }
    Elem elem;
    if (!computation_type(ta->elem, weak_a, tb->elem, weak_b, mode & PROMOTE_DIVIDE, &elem)) {
        py_error(l, DIAG_TRI_NO_COMMON_TYPE, range, val_type_text(l, ta), val_type_text(l, tb));
        return false;
    }
    bool divide_mixed = mode & PROMOTE_DIVIDE && !elem_is_float(elem) && weak_a == weak_b &&
                        elem_is_signed(ta->elem) != elem_is_signed(tb->elem);
    if (divide_mixed) {
        py_error(l, DIAG_TRI_SIGNEDNESS, range, val_type_text(l, ta), val_type_text(l, tb));
        return false;
    }
    if ((weak_a && !number_fits(l, number_a, elem, range)) || (weak_b && !number_fits(l, number_b, elem, range)))
        return false;
    *a = weak_a ? make_number(l, number_a, elem) : tri_cast(l, *a, ty_scalar(l->module, elem), range);
    *b = weak_b ? make_number(l, number_b, elem) : tri_cast(l, *b, ty_scalar(l->module, elem), range);
    return tri_align(l, a, b, range);
}

/* --- casts --- */

Val tri_bitcast(Lower *l, Val v, const Type *dtype, Range range) {
    const Type *type = val_type(l, v);
    int from = ty_elem_bytes(type), to = ty_elem_bytes(dtype);
    if (from != to || (type->elem == EL_I1 && !type->pointer) != (dtype->elem == EL_I1 && !dtype->pointer))
        return py_error(l, DIAG_TRI_BITCAST, range, val_type_text(l, type), val_type_text(l, dtype));
    Op *op = ir_begin(&l->b, OP_BITCAST);
    ir_operand(&l->b, op, v.ref);
    const Type *given = dtype->pointer ? ty_pointer_tile(l->module, dtype->elem, type->rank, type->extent)
                                       : ty_with_elem(l->module, type, dtype->elem);
    return val_tensor(ir_end(&l->b, op, given));
}

Val tri_cast(Lower *l, Val v, const Type *dtype, Range range) {
    v = tri_to_tensor(l, v, range);
    if (val_failed(v)) return v;
    const Type *type = val_type(l, v);
    if (type->pointer && dtype->pointer) return type->elem == dtype->elem ? v : tri_bitcast(l, v, dtype, range);
    if (type->pointer && !dtype->pointer) {
        const Type *i64 = ty_scalar(l->module, EL_I64);
        if (!elem_is_int(dtype->elem) && dtype->elem != EL_I1)
            return py_error(l, DIAG_TRI_BITCAST, range, val_type_text(l, type), val_type_text(l, dtype));
        return tri_cast(l, tri_bitcast(l, v, i64, range), dtype, range);
    }
    if (dtype->pointer) {
        Val address = tri_cast(l, v, ty_scalar(l->module, EL_I64), range);
        return val_failed(address) ? address : tri_bitcast(l, address, dtype, range);
    }
    if (type->elem == dtype->elem) return v;
    if (dtype->elem == EL_I1) /* any number to a boolean: is it not zero */
        return val_tensor(
            ir_compare(&l->b, CMP_NE, v.ref,
                       elem_is_float(type->elem) ? ir_float(&l->b, type->elem, 0) : ir_int(&l->b, type->elem, 0)));
    if (ref_is_literal(v.ref)) { /* fold, so that constants keep reading as constants */
        const Literal *literal = ir_literal(l->kernel, v.ref);
        bool from = elem_is_float(type->elem), to = elem_is_float(dtype->elem);
        bool exact = type->elem != EL_U64 || literal->i >= 0;
        if (from && to) return val_tensor(ir_float(&l->b, dtype->elem, literal->f));
        if (!from && to && exact) return val_tensor(ir_float(&l->b, dtype->elem, (double)literal->i));
        if (!from && !to) return val_tensor(ir_int(&l->b, dtype->elem, literal->i));
    }
    return val_tensor(ir_cast(&l->b, v.ref, dtype->elem));
}

/* --- operators --- */

static Val add_pointer(Lower *l, Val pointer, Val offset, bool negate, Range range) {
    const Type *type = val_type(l, offset);
    if (type->elem == EL_I1)
        offset = tri_cast(l, offset, ty_scalar(l->module, EL_I32), range);
    else if (!elem_is_int(type->elem))
        return py_error(l, DIAG_TRI_OFFSET, range, val_type_text(l, type));
    else if (elem_info[type->elem].cls == CLASS_UINT && elem_info[type->elem].bits < 64)
        offset = tri_cast(l, offset, ty_scalar(l->module, EL_I64), range); /* the IR's offsets are signed */
    if (negate) {
        int64_t value;
        bool known = ir_const_int(l->kernel, offset.ref, &value) && value != INT64_MIN;
        offset = val_tensor(known ? ir_int(&l->b, val_type(l, offset)->elem, -value)
                                      : ir_unary(&l->b, OP_NEG, offset.ref));
    }
    if (!tri_align(l, &pointer, &offset, range)) return val_error;
    return val_tensor(ir_binary(&l->b, OP_PTR_ADD, pointer.ref, offset.ref));
}

static bool is_pointer(Lower *l, Val v) { return v.kind == VAL_TENSOR && val_type(l, v)->pointer; }

static Val divide(Lower *l, Val a, Val b, Range range) {
    if (!tri_promote(l, &a, &b, PROMOTE_WEAK | PROMOTE_DIVIDE, range)) return val_error;
    const Type *f32 = ty_scalar(l->module, EL_F32);
    if (!elem_is_float(val_type(l, a)->elem)) {
        a = tri_cast(l, a, f32, range);
        b = tri_cast(l, b, f32, range);
    }
    Op *op = ir_begin(&l->b, OP_DIV);
    ir_operand(&l->b, op, a.ref);
    ir_operand(&l->b, op, b.ref);
    if (val_type(l, a)->elem == EL_F32) op_set(l->kernel, op, (Attr){.id = AT_APPROX, .number = 1});
    return val_tensor(ir_end(&l->b, op, NULL));
}

static Opcode opcode_of(PyOp op) {
    switch (op) {
    case PY_OP_ADD: return OP_ADD;
    case PY_OP_SUB: return OP_SUB;
    case PY_OP_MUL: return OP_MUL;
    case PY_OP_FLOORDIV: return OP_DIV;
    case PY_OP_MOD: return OP_REM;
    case PY_OP_SHL: return OP_SHL;
    case PY_OP_SHR: return OP_SHR;
    case PY_OP_BITAND: return OP_AND;
    case PY_OP_BITOR: return OP_OR;
    case PY_OP_BITXOR: return OP_XOR;
    default: return OP_NONE;
    }
}

/* int16 of uint16, and back. */
static Elem other_sign(Elem elem) {
    for (int e = 0; e < EL_COUNT; e++)
        if (elem_is_int((Elem)e) && e != (int)elem && elem_info[e].bits == elem_info[elem].bits) return (Elem)e;
    return elem;
}

Val tri_binary(Lower *l, PyOp op, Val a, Val b, Range range) {
    if (val_failed(a) || val_failed(b)) return val_error;
    if (val_is_const(a) && val_is_const(b)) return val_binary(l, op, a, b, range);
    if ((a.kind == VAL_TUPLE || b.kind == VAL_TUPLE) && (op == PY_OP_ADD || op == PY_OP_MUL))
        return val_binary(l, op, a, b, range);
    bool fits = (a.kind == VAL_TENSOR || val_is_number(a)) && (b.kind == VAL_TENSOR || val_is_number(b));
    Opcode code = opcode_of(op);
    if (!fits || (code == OP_NONE && op != PY_OP_DIV)) return bad_pair(l, py_op_spellings[op], a, b, range);
    if (is_pointer(l, a) || is_pointer(l, b)) {
        bool second = is_pointer(l, b);
        if ((second && (is_pointer(l, a) || op != PY_OP_ADD)) || (op != PY_OP_ADD && op != PY_OP_SUB))
            return bad_pair(l, py_op_spellings[op], a, b, range);
        Val offset = tri_to_tensor(l, second ? a : b, range);
        return val_failed(offset) ? offset : add_pointer(l, second ? b : a, offset, op == PY_OP_SUB, range);
    }
    if (op == PY_OP_DIV) return divide(l, a, b, range);
    Val x = a, y = b;
    bool whole = op == PY_OP_FLOORDIV || op == PY_OP_MOD;
    if (!tri_promote(l, &x, &y, PROMOTE_WEAK | (whole ? PROMOTE_DIVIDE : 0), range)) return val_error;
    Elem elem = val_type(l, x)->elem;
    bool bits = op == PY_OP_SHL || op == PY_OP_SHR || op == PY_OP_BITAND || op == PY_OP_BITOR || op == PY_OP_BITXOR;
    if (elem_is_float(elem) && (bits || op == PY_OP_FLOORDIV)) return bad_pair(l, py_op_spellings[op], a, b, range);
    if (elem == EL_I1) { /* one-bit integers wrap: + and - are xor, * is and */
        if (code == OP_ADD || code == OP_SUB)
            code = OP_XOR;
        else if (code == OP_MUL)
            code = OP_AND;
        else if (code != OP_AND && code != OP_OR && code != OP_XOR) {
            const Type *i32 = ty_scalar(l->module, EL_I32);
            x = tri_cast(l, x, i32, range);
            y = tri_cast(l, y, i32, range);
        }
    }
    /* The left operand's own sign decides what moves in from above, whatever both become. */
    Elem left = a.kind == VAL_TENSOR ? val_type(l, a)->elem : elem;
    if (code == OP_SHR && elem_is_int(elem) && elem_is_signed(left) != elem_is_signed(elem)) {
        const Type *other = ty_scalar(l->module, other_sign(elem));
        Ref moved = ir_binary(&l->b, OP_SHR, tri_cast(l, x, other, range).ref, tri_cast(l, y, other, range).ref);
        return tri_cast(l, val_tensor(moved), ty_scalar(l->module, elem), range);
    }
    return val_tensor(ir_binary(&l->b, code, x.ref, y.ref));
}

/* The same in 64 bits must lie in the range of the result's type (int32 * int32 and uint32 + uint32 fit there). */
static bool assert_fits(Lower *l, PyOp op, Val a, Val b, Val result, Range range) {
    Elem elem = val_type(l, result)->elem;
    const Type *wide = ty_scalar(l->module, EL_I64);
    Val x = a, y = b;
    if (!tri_promote(l, &x, &y, PROMOTE_WEAK, range)) return false;
    x = tri_cast(l, x, wide, range);
    y = tri_cast(l, y, wide, range);
    if (val_failed(x) || val_failed(y)) return false;
    Ref whole = ir_binary(&l->b, opcode_of(op), x.ref, y.ref);
    int bits = elem_info[elem].bits - elem_is_signed(elem);
    int64_t most = ((int64_t)1 << bits) - 1;
    Ref low = ir_compare(&l->b, CMP_GE, whole, ir_int(&l->b, EL_I64, elem_is_signed(elem) ? -most - 1 : 0));
    Ref high = ir_compare(&l->b, CMP_LE, whole, ir_int(&l->b, EL_I64, most));
    static const char *const names[] = {[PY_OP_ADD] = "add", [PY_OP_SUB] = "sub", [PY_OP_MUL] = "mul"};
    Op *check = ir_begin(&l->b, OP_ASSERT);
    ir_operand(&l->b, check, ir_binary(&l->b, OP_AND, low, high));
    const char *text = arena_printf(l->arena, "device-side assert: int%d overflow detected for operation %s",
                                    elem_info[elem].bits, names[op]);
    op_set(l->kernel, check, (Attr){.id = AT_MESSAGE, .text = text});
    ir_end(&l->b, check, NULL);
    return true;
}

Val tri_binary_written(Lower *l, PyOp op, Val a, Val b, Range range) {
    Val result = tri_binary(l, op, a, b, range);
    bool asked = l->request && l->request->overflow && l->kernel && !tri_state(l)->regions;
    if (!asked || result.kind != VAL_TENSOR || (op != PY_OP_ADD && op != PY_OP_SUB && op != PY_OP_MUL)) return result;
    const Type *type = val_type(l, result);
    int bits = elem_is_int(type->elem) && !type->pointer ? elem_info[type->elem].bits : 64;
    if (bits == 1 || bits == 64) return result;
    return assert_fits(l, op, a, b, result, range) ? result : val_error;
}

Val tri_compare(Lower *l, PyOp op, Val a, Val b, Range range) {
    if (val_failed(a) || val_failed(b)) return val_error;
    bool consts = val_is_const(a) && val_is_const(b);
    if (consts) return val_compare(l, op, a, b, range);
    if (op == PY_OP_IS || op == PY_OP_IS_NOT) /* a run-time value is no constant object */
        return val_bool(val_same(a, b) == (op == PY_OP_IS));
    static const Word words[] = {[PY_OP_EQ] = CMP_EQ, [PY_OP_NE] = CMP_NE, [PY_OP_LT] = CMP_LT,
                                 [PY_OP_LE] = CMP_LE, [PY_OP_GT] = CMP_GT, [PY_OP_GE] = CMP_GE};
    if (op == PY_OP_IN || op == PY_OP_NOT_IN)
        return py_unsupported(l, range, "`in` on run-time values");
    if (!(a.kind == VAL_TENSOR || val_is_number(a)) || !(b.kind == VAL_TENSOR || val_is_number(b)))
        return bad_pair(l, py_op_spellings[op], a, b, range);
    if (is_pointer(l, a) != is_pointer(l, b)) return bad_pair(l, py_op_spellings[op], a, b, range);
    if (!tri_promote(l, &a, &b, 0, range)) return val_error;
    return val_tensor(ir_compare(&l->b, words[op], a.ref, b.ref));
}

Val tri_unary(Lower *l, PyOp op, Val a, Range range) {
    if (val_failed(a)) return a;
    if (a.kind != VAL_TENSOR) return val_unary(l, op, a, range);
    const Type *type = val_type(l, a);
    bool is_float = elem_is_float(type->elem);
    if (op == PY_OP_UADD && !type->pointer) return a;
    bool good = !type->pointer && (op == PY_OP_USUB  ? type->elem != EL_I1
                                   : op == PY_OP_NOT ? type->elem == EL_I1
                                                     : !is_float);
    if (!good) {
        if (op == PY_OP_NOT && !type->pointer)
            return py_error(l, DIAG_TRI_BOOLEAN, range, "not", val_describe(l, a));
        return py_error(l, DIAG_EVAL_OPERAND, range, py_op_spellings[op], val_describe(l, a),
                        type->pointer        ? FIX "cast a pointer with .to(tl.int64) first"
                         : op == PY_OP_INVERT ? "; it flips the bits of integers" FIX "cast with .to(tl.int32)"
                                              : FIX "cast it with .to(tl.int32)");
    }
    return val_tensor(ir_unary(&l->b, op == PY_OP_USUB ? OP_NEG : OP_NOT, a.ref));
}

Val tri_truth(Lower *l, Val v, Range range) {
    if (val_failed(v)) return v;
    if (v.kind != VAL_TENSOR) return val_bool(val_truth(v));
    const Type *type = val_type(l, v);
    if (ty_elements(type) != 1) return py_error(l, DIAG_TRI_CONDITION, range, val_describe(l, v));
    if (type->rank) v = tri_only_element(l, v);
    if (type->pointer) v = tri_cast(l, v, ty_scalar(l->module, EL_I64), range); /* is it other than null? */
    return tri_cast(l, v, ty_scalar(l->module, EL_I1), range);
}
