/* cpu_expr.c: loop nests, and the C expression of one element of a tile.
 *
 * A Nest is the loops over the index space of one op. cpu_element asks for an element of a tile
 * at given indices: a tile in memory is read there, an inline one is computed from its operands'
 * elements, down to loads and scalars. Each step becomes a `const` in the body of the outermost
 * loop that knows its indices, so what depends on the row alone is computed once a row; equal
 * elements at equal indices are computed once. Shape ops only change indices and leave no trace
 * in the code.
 *
 *     for (i64 i0 = 0; i0 < 16; i0++) {
 *         const f32 m = mx[i0];                       depth 1
 *         TW_VECTOR for (i64 i1 = 0; i1 < 64; i1++) {
 *             const f32 d = x[i0 * 64 + i1] - m;      depth 2 */
#include "target/cpu/cpu_internal.h"

#include <string.h>

/* --- small helpers --- */

static const Expr *atom(Emit *e, const char *text) { return ex_atom(e->arena, text); }

const char *cpu_call(Emit *e, const char *function) {
    map_set(&e->calls, e->arena, function, NULL);
    return function;
}

static void note_calls(Emit *e, const Expr *x) {
    if (x->kind == EX_CALL) cpu_call(e, x->args[0]->text);
    for (int i = 0; i < x->count; i++) note_calls(e, x->args[i]);
}

static const char *text_of(Emit *e, const Expr *x) {
    note_calls(e, x);
    return ex_plain(e->arena, x);
}

/* A 0 of a float that registers hold as f32, whose bits are 0 in every format. */
static const char *note_zero(Emit *e, const char *text) {
    map_set(&e->zeros, e->arena, text, (void *)(uintptr_t) "0");
    return text;
}

const char *cpu_ref(Emit *e, Ref ref) {
    if (ref == REF_NONE) return NULL;
    const char *text = text_of(e, cs_ref(&e->p, ref));
    const Literal *number = ref_is_literal(ref) ? ir_literal(e->k, ref) : NULL;
    bool zero = number && elem_is_float(number->type->elem) && number->type->elem != EL_F64 && number->i == 0;
    return zero ? note_zero(e, text) : text;
}
const char *cpu_integer(Emit *e, Elem elem, int64_t value) { return text_of(e, cs_number(e->arena, elem, value)); }
const char *cpu_zero(Emit *e, const Type *type) {
    const char *text = text_of(e, cs_zero(e->arena, type));
    bool real = !type->pointer && elem_is_float(type->elem) && type->elem != EL_F64;
    return real ? note_zero(e, text) : text;
}

const char *cpu_unpack(Emit *e, Elem elem, const char *x) { return text_of(e, cs_unpack(&e->p, elem, atom(e, x))); }
const char *cpu_pack_number(Emit *e, Elem elem, const char *x) { return text_of(e, cs_pack(&e->p, elem, atom(e, x))); }

const char *cpu_cast(Emit *e, Elem from, Elem to, bool toward_zero, const char *x) {
    return text_of(e, cs_cast(&e->p, from, to, toward_zero, atom(e, x)));
}

const char *cpu_combine(Emit *e, Word combine, Elem elem, bool keep_nan, const char *x, const char *y) {
    return text_of(e, cs_combine(&e->p, combine, elem, keep_nan, atom(e, x), atom(e, y)));
}

bool cpu_unsupported(Emit *e, const Op *op, const char *why) {
    diag_emit(e->diag, DIAG_TARGET_OP, op->range, op_info[op->code].mnemonic, "cpu", why);
    e->failed = true;
    return false;
}

const char *cpu_memory(Emit *e, const Type *type, bool wide, int block, const char *hint) {
    const char *name = cs_fresh(&e->p, hint);
    const char *elem = type->pointer ? cs_value_type(&e->p, type)
                       : wide        ? cs_register_type(&e->p, type->elem)
                                     : cs_memory_type(type->elem);
    const char *gap = type->pointer ? "" : " ";
    cs_line(&e->p, "%s%s*const %s = (%s%s*)(scratch + %lld);", elem, gap, name, elem, gap,
            (long long)e->plan.blocks.at[block].offset);
    return name;
}

void cpu_declare(Emit *e, Ref tile) {
    const Placed *placed = cpu_placed(&e->plan, tile);
    const Value *value = ir_value(e->k, tile);
    e->p.names[tile] = cpu_memory(e, value->type, placed->wide, placed->block, value->name);
}

/* --- nests --- */

void nest_begin(Emit *e, Nest *nest, const Type *shape) {
    static const char *const names[MAX_RANK] = {"i0", "i1", "i2", "i3", "i4",  "i5",
                                                "i6", "i7", "i8", "i9", "i10", "i11"};
    *nest = (Nest){.rank = shape->rank};
    for (int d = 0; d <= shape->rank; d++) nest->body[d] = text_new(e->arena);
    for (int d = 0; d < shape->rank; d++) {
        nest->order[d] = d;
        nest->extent[d] = shape->extent[d];
        nest->index[d] = shape->extent[d] == 1 ? ix_zero : ix(names[d], d + 1);
    }
}

void nest_inner(Nest *nest, int axis) {
    int n = 0;
    for (int d = 0; d < nest->rank; d++)
        if (d != axis) nest->order[n++] = d;
    nest->order[n] = axis;
    for (int p = 0; p < nest->rank; p++)
        if (nest->index[nest->order[p]].depth) nest->index[nest->order[p]].depth = p + 1;
}

void nest_add(Emit *e, Nest *nest, int depth, const char *format, ...) {
    (void)e;
    va_list args;
    va_start(args, format);
    text_vadd(&nest->body[depth], format, args);
    va_end(args);
    text_add_char(&nest->body[depth], '\n');
}

static void put_body(Emit *e, const Text *body) {
    for (const char *s = body->at; *s;) {
        const char *end = strchr(s, '\n');
        cs_line(&e->p, "%.*s", (int)(end - s), s);
        s = end + 1;
    }
}

enum { SHORT_LOOP = 16 }; /* gcc may unroll a loop of so many turns wholly (TW_SHORT) */

void nest_end(Emit *e, Nest *nest, bool vector) {
    int opened = 0, innermost = -1;
    for (int p = 0; p < nest->rank; p++)
        if (nest->index[nest->order[p]].depth || nest->lo[nest->order[p]]) innermost = nest->order[p];
    put_body(e, &nest->body[0]);
    for (int p = 0; p < nest->rank; p++) {
        int d = nest->order[p];
        if (nest->index[d].depth || nest->lo[d]) {
            const char *name = nest->index[d].depth ? nest->index[d].text : cs_fresh(&e->p, "once");
            const char *lo = nest->lo[d] ? nest->lo[d] : "0";
            const char *hi = nest->hi[d] ? nest->hi[d] : cpu_integer(e, EL_I32, nest->extent[d]);
            bool mark = vector && d == innermost && !nest->rare, is_short = nest->extent[d] <= SHORT_LOOP;
            cs_open(&e->p, "%s%sfor (i64 %s = %s; %s < %s; %s++)", is_short ? "TW_SHORT " : "",
                    mark ? "TW_VECTOR " : "", name, lo, name, hi, name);
            if (nest->rare && d == innermost) cs_line(&e->p, "TW_RARE;");
            opened++;
        }
        put_body(e, &nest->body[p + 1]);
    }
    while (opened--) {
        cs_close(&e->p);
        if (nest->after.length) put_body(e, &nest->after);
        nest->after.length = 0;
    }
}

/* --- indices --- */

static int deepest(const Ix *index, int rank) {
    int depth = 0;
    for (int d = 0; d < rank; d++)
        if (index[d].depth > depth) depth = index[d].depth;
    return depth;
}

const Ix ix_zero = {.text = "0", .zero = true};

/* The row-major number of the element. */
static Ix linear(Emit *e, const Type *type, const Ix *index) {
    Text t = text_new(e->arena);
    int64_t inner = ty_elements(type), stride;
    for (int d = 0; d < type->rank; d++) {
        inner /= type->extent[d];
        if (index[d].zero || index[d].text == MERGED) continue;
        stride = inner; /* .. of the last axis that shares its loop */
        int64_t passed = 1;
        for (int next = d + 1; next < type->rank; next++) {
            passed *= type->extent[next];
            if (index[next].text == MERGED)
                stride = inner / passed;
            else if (type->extent[next] > 1)
                break;
        }
        if (stride == 1)
            text_add(&t, "%s%s", t.length ? " + " : "", index[d].text);
        else
            text_add(&t, "%s%s * %lld", t.length ? " + " : "", index[d].text, (long long)stride);
    }
    return t.length ? ix(t.at, deepest(index, type->rank)) : ix_zero;
}

const char *cpu_slot(Emit *e, const Type *type, const char *pointer, const Ix *index, int *depth) {
    Ix at = linear(e, type, index);
    if (depth) *depth = at.depth;
    return arena_printf(e->arena, "%s[%s]", pointer, at.text);
}

Ix cpu_name(Emit *e, Nest *nest, const char *type, const char *text, int depth, const char *hint) {
    const char *name = cs_fresh(&e->p, hint);
    nest_add(e, nest, depth, "%s = %s;", cs_constant(&e->p, type, name), text);
    return ix(name, depth);
}

/* The element whose bits in memory form the text is, in register form. The bits of a small float
 * get a name too: stored or cast to bits again it is not rounded a second time, and a NaN keeps
 * its payload. */
Ix cpu_name_bits(Emit *e, Nest *nest, const Type *type, const char *bits, int depth, const char *hint) {
    const char *reg = cs_value_type(&e->p, type);
    if (type->pointer) return cpu_name(e, nest, reg, bits, depth, hint);
    if (type->elem == EL_I1 || !cpu_is_wide_elem(type))
        return cpu_name(e, nest, reg, cpu_unpack(e, type->elem, bits), depth, hint);
    Ix packed = cpu_name(e, nest, cs_memory_type(type->elem), bits, depth, hint);
    Ix x = cpu_name(e, nest, reg, cpu_unpack(e, type->elem, packed.text), depth, hint);
    map_set(&e->packed, e->arena, x.text, (void *)(uintptr_t)packed.text);
    return x;
}

/* Indices of a reshape's operand for indices of its result. Extents of 1 come and go freely; else by number. */
static void reshape_index(Emit *e, Nest *nest, const Type *from, const Type *to, const Ix *index, Ix *out) {
    int d = 0, t = 0;
    bool direct = true;
    for (int o = 0; o < from->rank; o++) out[o] = ix_zero;
    while (direct && (d < from->rank || t < to->rank)) {
        if (d < from->rank && from->extent[d] == 1)
            d++;
        else if (t < to->rank && to->extent[t] == 1)
            t++;
        else if (d < from->rank && t < to->rank && from->extent[d] == to->extent[t])
            out[d++] = index[t++];
        else
            direct = false;
    }
    if (direct) return;
    Ix number = linear(e, to, index);
    number = cpu_name(e, nest, "i64", number.text, number.depth, "at");
    int64_t stride = ty_elements(from);
    for (int o = 0; o < from->rank; o++) {
        stride /= from->extent[o];
        const char *high =
            stride == 1 ? number.text : arena_printf(e->arena, "%s / %lld", number.text, (long long)stride);
        bool top = stride * from->extent[o] == ty_elements(from);
        const char *text = top ? arena_printf(e->arena, "(%s)", high)
                               : arena_printf(e->arena, "(%s %% %lld)", high, (long long)from->extent[o]);
        out[o] = from->extent[o] == 1 ? ix_zero : ix(text, number.depth);
    }
}

static Ix add_offset(Emit *e, Ix index, Ref offset) {
    int64_t number = 0;
    if (ir_const_int(e->k, offset, &number) && number == 0) return index;
    const char *text = cpu_ref(e, offset);
    if (index.zero) return ix(arena_printf(e->arena, "(i64)%s", text), index.depth);
    return ix(arena_printf(e->arena, "((i64)%s + %s)", text, index.text), index.depth);
}

/* --- elements --- */

static Ix compute(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index);

static Ix read_memory(Emit *e, Nest *nest, Ref tile, const Ix *index) {
    const Type *type = ir_type(e->k, tile);
    int depth = 0;
    const char *slot = cpu_slot(e, type, cs_name(&e->p, tile), index, &depth);
    const char *hint = ir_value(e->k, tile)->name;
    if (cpu_placed(&e->plan, tile)->wide) return cpu_name(e, nest, cs_value_type(&e->p, type), slot, depth, hint);
    return cpu_name_bits(e, nest, type, slot, depth, hint);
}

Ix cpu_element(Emit *e, Nest *nest, Ref tile, const Ix *index) {
    if (!ref_is_value(tile)) return ix(cpu_ref(e, tile), 0);
    const Placed *placed = cpu_placed(&e->plan, tile);
    const Value *value = ir_value(e->k, tile);
    if (value->type->rank == 0) return ix(cs_name(&e->p, tile), 0);
    Text key = text_new(e->arena);
    text_add(&key, "%u", tile);
    for (int d = 0; d < value->type->rank; d++)
        text_add(&key, ",%s", index[d].text == MERGED ? index[d].alone : index[d].text);
    Ix *known = map_get(&nest->memo, key.at);
    if (known) return *known;
    Ix result = placed->storage == STORAGE_MEMORY ? read_memory(e, nest, tile, index)
                                                  : compute(e, nest, tile, value->op, index);
    map_set(&nest->memo, e->arena, key.at, arena_copy(e->arena, &result, sizeof result));
    return result;
}

Ix cpu_operand(Emit *e, Nest *nest, Ref ref, const Ix *index) {
    const Type *type = ir_type(e->k, ref);
    Ix mine[MAX_RANK];
    for (int d = 0; d < type->rank; d++) mine[d] = type->extent[d] == 1 ? ix_zero : index[d];
    return cpu_element(e, nest, ref, mine);
}

/* If x is a small float unpacked from its bits, the bits; else NULL. */
static const Expr *bits_inside(Emit *e, Elem elem, const Expr *x) {
    const Expr *unpack = cs_unpack(&e->p, elem, &expr_zero);
    return unpack->kind == EX_CALL ? ex_argument_of(x, unpack->args[0]->text) : NULL;
}

const char *cpu_pack(Emit *e, Elem elem, const char *value) {
    const char *bits = map_get(&e->packed, value);
    if (!bits) bits = map_get(&e->zeros, value);
    return bits ? bits : cpu_pack_number(e, elem, value);
}

/* A bitcast or a select of small floats whose bits are known: no conversion at all. NULL: no. */
static const char *known_bits(Emit *e, const Op *op, const char *const *args) {
    const Type *type = ir_type(e->k, op->results[0]), *from = ir_type(e->k, op->operands[0]);
    if (op->code == OP_SELECT && cpu_is_wide_elem(type) && type->elem != EL_I1) {
        const char *x = map_get(&e->packed, args[1]), *y = map_get(&e->packed, args[2]);
        return x && y ? arena_printf(e->arena, "(%s ? %s : %s)", args[0], x, y) : NULL;
    }
    if (op->code != OP_BITCAST || from->pointer || type->pointer) return NULL;
    const char *x = map_get(&e->packed, args[0]);
    return x ? arena_printf(e->arena, "((%s)%s)", cs_memory_type(type->elem), x) : NULL;
}

static Ix compute_elementwise(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    const char *texts[8] = {0};
    const Expr *args[8] = {0};
    int depth = 0;
    for (int i = 0; i < op->operand_count && i < 8; i++) {
        if (op->operands[i] == REF_NONE) continue;
        Ix x = cpu_operand(e, nest, op->operands[i], index);
        texts[i] = x.text;
        args[i] = atom(e, x.text);
        if (x.depth > depth) depth = x.depth;
    }
    const Type *type = ir_type(e->k, tile);
    const char *hint = ir_value(e->k, tile)->name, *known = known_bits(e, op, texts);
    if (known) return cpu_name_bits(e, nest, type, known, depth, hint);
    const Expr *x = cs_elementwise(&e->p, op, args), *bits = type->pointer ? NULL : bits_inside(e, type->elem, x);
    const Expr *rounded = bits && type->elem == EL_BF16 ? ex_argument_of(bits, "tw_bf16_f32") : NULL;
    if (rounded) { /* in place: vectors stay as wide as they are */
        const char *text = text_of(e, ex(e->arena, "tw_round_bf16(%p)", rounded));
        Ix named = cpu_name(e, nest, cs_value_type(&e->p, type), text, depth, hint);
        map_set(&e->packed, e->arena, named.text, arena_printf(e->arena, "tw_top_bf16(%s)", named.text));
        return named;
    }
    if (bits) return cpu_name_bits(e, nest, type, text_of(e, bits), depth, hint);
    return cpu_name(e, nest, cs_value_type(&e->p, type), text_of(e, x), depth, hint);
}

/* What a load reads where the condition holds, else the other value, as bits in memory form. */
const char *cpu_guarded(Emit *e, Elem elem, const char *condition, const char *bits, const char *other) {
    return arena_printf(e->arena, "%s ? %s : %s", condition, bits, cpu_pack(e, elem, other));
}

static Ix compute_load(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    const Type *type = ir_type(e->k, tile);
    Ix p = cpu_element(e, nest, op->operands[0], index);
    int depth = p.depth;
    const char *form = op_flag(op, AT_VOLATILE) ? "*(const volatile %s *)%s" : "*(const %s *)%s";
    const char *text = arena_printf(e->arena, form, cs_memory_type(type->elem), p.text);
    if (op->operand_count > 1 && op->operands[1]) {
        Ix mask = cpu_operand(e, nest, op->operands[1], index), other = ix(cpu_zero(e, type), 0);
        if (op->operand_count > 2 && op->operands[2]) other = cpu_operand(e, nest, op->operands[2], index);
        if (mask.depth > depth) depth = mask.depth;
        if (other.depth > depth) depth = other.depth;
        text = cpu_guarded(e, type->elem, mask.text, text, other.text);
        if (type->elem == EL_I1) text = arena_printf(e->arena, "(%s)", text);
    }
    return cpu_name_bits(e, nest, type, text, depth, ir_value(e->k, tile)->name);
}

static Ix compute_bload(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    Ref buffer = op->operands[0];
    const Type *whole = ir_type(e->k, buffer), *type = ir_type(e->k, tile);
    RefList offsets = op_list(op, 0);
    Ix at[MAX_RANK];
    int lead = whole->rank - type->rank;
    for (int d = 0; d < whole->rank; d++) at[d] = add_offset(e, d < lead ? ix_zero : index[d - lead], offsets.at[d]);
    int depth = 0;
    const char *slot = cpu_slot(e, whole, cs_name(&e->p, buffer), at, &depth);
    return cpu_name_bits(e, nest, type, slot, depth, ir_value(e->k, tile)->name);
}

static Ix compute_gather(Emit *e, Nest *nest, const Op *op, const Ix *index) {
    const Type *type = ir_type(e->k, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0);
    Ix where = cpu_element(e, nest, op->operands[1], index), at[MAX_RANK];
    memcpy(at, index, sizeof(Ix) * (size_t)type->rank);
    const char *top = cpu_integer(e, EL_I64, type->extent[axis] - 1);
    at[axis] =
        cpu_name(e, nest, "i64", arena_printf(e->arena, "tw_min_i64(tw_max_i64((i64)%s, 0), %s)", where.text, top),
                 where.depth, "where");
    return cpu_element(e, nest, op->operands[0], at);
}

static Ix compute_join(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    int rank = ir_type(e->k, op->operands[0])->rank;
    Ix last = index[rank];
    if (last.zero) return cpu_element(e, nest, op->operands[0], index);
    Ix x = cpu_element(e, nest, op->operands[0], index), y = cpu_element(e, nest, op->operands[1], index);
    int depth = x.depth > y.depth ? x.depth : y.depth;
    if (last.depth > depth) depth = last.depth;
    const char *text = arena_printf(e->arena, "%s ? %s : %s", last.text, y.text, x.text);
    return cpu_name(e, nest, cs_value_type(&e->p, ir_type(e->k, tile)), text, depth, "pair");
}

/* A reduce of two elements. */
static Ix compute_pair(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    int axis = (int)op_int(op, AT_AXIS, 0), rank = ir_type(e->k, op->operands[0])->rank;
    Ix at[MAX_RANK], x[2];
    for (int i = 0; i < 2; i++) {
        for (int d = 0, o = 0; d < rank; d++) at[d] = d == axis ? ix(i ? "1" : "0", 0) : index[o++];
        x[i] = cpu_element(e, nest, op->operands[0], at);
    }
    const Type *type = ir_type(e->k, tile);
    const char *text = cpu_combine(e, op_word(op, AT_COMBINE, COMBINE_ADD), type->elem, false, x[0].text, x[1].text);
    return cpu_name(e, nest, cs_value_type(&e->p, type), text, x[0].depth > x[1].depth ? x[0].depth : x[1].depth,
                    ir_value(e->k, tile)->name);
}

static Ix compute(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    Ix at[MAX_RANK];
    Ref x = op->operand_count ? op->operands[0] : REF_NONE;
    const Type *type = ir_type(e->k, tile), *from = x ? ir_type(e->k, x) : NULL;
    int axis = (int)op_int(op, AT_AXIS, 0);
    switch (op->code) {
    case OP_SPLAT: return ix(cpu_ref(e, x), 0);
    case OP_UNDEF: return ix(cpu_zero(e, type), 0);
    case OP_IOTA: {
        int64_t begin = op_int(op, AT_BEGIN, 0);
        Ix i = index[0].alone ? ix(index[0].alone, index[0].alone_depth) : index[0];
        const char *text = begin ? arena_printf(e->arena, "(i32)(%s + (%lld))", i.text, (long long)begin)
                                 : arena_printf(e->arena, "(i32)%s", i.text);
        return cpu_name(e, nest, "i32", text, i.depth, ir_value(e->k, tile)->name);
    }
    case OP_REDUCE: return compute_pair(e, nest, tile, op, index);
    case OP_EXPAND:
        for (int d = 0, o = 0; d < type->rank; d++)
            if (d != axis) at[o++] = index[d];
        return cpu_element(e, nest, x, at);
    case OP_BROADCAST:
    case OP_CONVERT: return cpu_operand(e, nest, x, index);
    case OP_RESHAPE: reshape_index(e, nest, from, type, index, at); return cpu_element(e, nest, x, at);
    case OP_PERMUTE:
        for (int d = 0; d < type->rank; d++) at[op_attr(op, AT_DIMS)->list.at[d]] = index[d];
        return cpu_element(e, nest, x, at);
    case OP_FLIP:
        memcpy(at, index, sizeof(Ix) * (size_t)type->rank);
        at[axis].text = arena_printf(e->arena, "(%lld - %s)", (long long)type->extent[axis] - 1, index[axis].text);
        return cpu_element(e, nest, x, at);
    case OP_REPEAT:
        memcpy(at, index, sizeof(Ix) * (size_t)type->rank);
        at[axis] = ix(arena_printf(e->arena, "(%s / %lld)", index[axis].text,
                                   (long long)(type->extent[axis] / from->extent[axis])),
                      index[axis].depth);
        return cpu_element(e, nest, x, at);
    case OP_JOIN: return compute_join(e, nest, tile, op, index);
    case OP_SPLIT:
        memcpy(at, index, sizeof(Ix) * (size_t)type->rank);
        at[type->rank] = ir_value(e->k, tile)->index ? ix("1", 0) : ix_zero;
        return cpu_element(e, nest, x, at);
    case OP_SLICE:
        for (int d = 0; d < type->rank; d++) at[d] = add_offset(e, index[d], op_list(op, 0).at[d]);
        return cpu_element(e, nest, x, at);
    case OP_GATHER: return compute_gather(e, nest, op, index);
    case OP_LOAD: return compute_load(e, nest, tile, op, index);
    case OP_BLOAD: return compute_bload(e, nest, tile, op, index);
    case OP_TLOAD: return cpu_box_load(e, nest, op, index);
    default: return compute_elementwise(e, nest, tile, op, index);
    }
}

void cpu_emit_scalar(Emit *e, Op *op) {
    for (int i = 0; i < op->result_count; i++) {
        Nest nest;
        nest_begin(e, &nest, ir_type(e->k, op->results[i]));
        Ix x = compute(e, &nest, op->results[i], op, nest.index);
        nest_end(e, &nest, false);
        e->p.names[op->results[i]] = x.text;
    }
}

/* --- into memory --- */

const char *cpu_pack_for(Emit *e, Ref tile, const char *value) {
    const Type *type = ir_type(e->k, tile);
    return type->pointer || cpu_placed(&e->plan, tile)->wide ? value : cpu_pack(e, type->elem, value);
}

static void fill_once(Emit *e, const char *pointer, bool wide, Ref tile, bool fast, bool rare) {
    const Type *type = ir_type(e->k, tile);
    Nest nest;
    nest_begin(e, &nest, type);
    nest_merge(e, &nest, &tile, 1);
    nest.fast = fast;
    nest.rare = rare;
    /* The tile itself may be planned as memory: that is what is filled here, so its op is computed. */
    const Value *value = ref_is_value(tile) ? ir_value(e->k, tile) : NULL;
    bool own = value && value->op && cpu_placed(&e->plan, tile)->storage == STORAGE_MEMORY &&
               cpu_is_inlinable(e->k, value->op) && pointer == e->p.names[tile];
    Ix x = own ? compute(e, &nest, tile, value->op, nest.index) : cpu_element(e, &nest, tile, nest.index);
    const char *slot = cpu_slot(e, type, pointer, nest.index, NULL);
    nest_add(e, &nest, nest.rank, "%s = %s;", slot, wide || type->pointer ? x.text : cpu_pack(e, type->elem, x.text));
    nest_end(e, &nest, true);
}

void cpu_fill(Emit *e, const char *pointer, bool wide, Ref tile) {
    if (cpu_fill_turned(e, pointer, wide, tile)) return;
    const char *fast = cpu_fast_condition(e, &tile, 1, NULL);
    if (*fast) {
        cs_open(&e->p, "if (%s)", fast);
        fill_once(e, pointer, wide, tile, true, false);
        cs_reopen(&e->p, "else");
        fill_once(e, pointer, wide, tile, false, false);
        cs_close(&e->p);
    } else
        fill_once(e, pointer, wide, tile, true, false);
}

void cpu_fill_tested(Emit *e, const char *pointer, Ref tile, bool rarely) {
    fill_once(e, pointer, false, tile, false, rarely);
}
