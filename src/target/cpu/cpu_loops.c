/* cpu_loops.c: ops that need loops of their own and are neither boxes nor reductions: scattered
 * stores, buffers, atomics, cat and insert, sort, histogram, assert. */
#include "target/cpu/cpu_internal.h"

#include <string.h>

void cpu_emit_store(Emit *e, Op *op) {
    const Type *places = ir_type(e->k, op->operands[0]);
    Nest nest;
    nest_begin(e, &nest, places);
    Ix p = cpu_element(e, &nest, op->operands[0], nest.index);
    Ix x = cpu_operand(e, &nest, op->operands[1], nest.index);
    const char *packed = cpu_pack(e, places->elem, x.text);
    Ref mask = op_operand(op, 2);
    if (mask) {
        Ix m = cpu_operand(e, &nest, mask, nest.index);
        nest_add(e, &nest, nest.rank, "if (%s) *%s = %s;", m.text, p.text, packed);
    } else
        nest_add(e, &nest, nest.rank, "*%s = %s;", p.text, packed);
    nest_end(e, &nest, true);
}

/* Indices of a box inside something larger, for the indices of the box. */
static void box_index(Emit *e, const Type *whole, const Type *box, RefList offsets, const Ix *index, Ix *to) {
    int lead = whole->rank - box->rank;
    for (int d = 0; d < whole->rank; d++) {
        Ix inner = d < lead ? (Ix){"0", 0} : index[d - lead];
        const char *text = cpu_ref(e, offsets.at[d]);
        to[d] = (Ix){arena_printf(e->arena, "((i64)%s + %s)", text, inner.text), inner.depth};
    }
}

void cpu_emit_bstore(Emit *e, Op *op) {
    Ref buffer = op->operands[0], value = op_operand(op, 1);
    const Type *whole = ir_type(e->k, buffer), *box = ir_type(e->k, value);
    Nest nest;
    nest_begin(e, &nest, box);
    Ix x = cpu_element(e, &nest, value, nest.index), to[MAX_RANK];
    box_index(e, whole, box, op_list(op, 0), nest.index, to);
    const char *slot = cpu_slot(e, whole, cs_name(&e->p, buffer), to, NULL);
    nest_add(e, &nest, nest.rank, "%s = %s;", slot, cpu_pack(e, box->elem, x.text));
    nest_end(e, &nest, true);
}

/* --- atomics --- */

static const char *bits_type(Elem elem) {
    static const char *const by_bytes[] = {0, "u8", "u16", 0, "u32", 0, 0, 0, "u64"};
    return by_bytes[elem_info[elem].bytes];
}

/* The name of a function that combines a value into memory and returns the old one; made on first use. */
static const char *atomic_function(Emit *e, Word combine, Elem elem) {
    const char *memory = cs_memory_type(elem), *reg = cs_register_type(&e->p, elem), *bits = bits_type(elem);
    const char *name = arena_printf(e->arena, "tw_atomic_%s_%s", word_info[combine].text, elem_info[elem].text);
    if (map_find(&e->helper_names, name, strlen(name))) return name;
    map_set(&e->helper_names, e->arena, name, e);
    const char *sum = cpu_combine(e, combine, elem, false, "old", "y");
    text_add(&e->helpers, "static %s %s(%s *p, %s y) {\n", reg, name, memory, reg);
    text_add(&e->helpers, "    %s before = __atomic_load_n((%s *)p, 0), after;\n    %s old;\n    do {\n", bits, bits,
             reg);
    text_add(&e->helpers, "        %s was;\n        __builtin_memcpy(&was, &before, sizeof was);\n", memory);
    text_add(&e->helpers, "        old = %s;\n", cpu_unpack(e, elem, "was"));
    text_add(&e->helpers, "        const %s now = %s;\n", memory, cpu_pack_number(e, elem, sum));
    text_add(&e->helpers, "        __builtin_memcpy(&after, &now, sizeof after);\n");
    text_add(&e->helpers, "    } while (!__atomic_compare_exchange_n((%s *)p, &before, after, 1, 5, 5));\n", bits);
    text_add(&e->helpers, "    return old;\n}\n");
    return name;
}

/* The same for many that lie side by side: as many at once as one exchange takes. */
static const char *line_function(Emit *e, Word combine, Elem elem) {
    const char *memory = cs_memory_type(elem), *reg = cs_register_type(&e->p, elem);
    const char *one = atomic_function(e, combine, elem);
    const char *name = arena_printf(e->arena, "%s_line", one);
    if (map_find(&e->helper_names, name, strlen(name))) return name;
    map_set(&e->helper_names, e->arena, name, e);
    const char *sum = cpu_combine(e, combine, elem, false, "old", "y");
    text_add(&e->helpers, "static void %s(%s *p, const %s *values, i64 n) {\n", name, memory, memory);
    text_add(&e->helpers, "    enum { AT_ONCE = TW_SWAP_BYTES / sizeof(%s) };\n    i64 i = 0;\n", memory);
    text_add(&e->helpers, "    for (; i < n && (u64)(p + i) %% TW_SWAP_BYTES; i++) %s(p + i, %s);\n", one,
             cpu_unpack(e, elem, "values[i]"));
    text_add(&e->helpers, "    for (; i + AT_ONCE <= n; i += AT_ONCE) {\n        tw_words before, after;\n");
    text_add(&e->helpers, "        %s was[AT_ONCE], now[AT_ONCE];\n", memory);
    text_add(&e->helpers, "        __builtin_memcpy(&before, p + i, sizeof before);\n        do {\n");
    text_add(&e->helpers, "            __builtin_memcpy(was, &before, sizeof was);\n");
    text_add(&e->helpers, "            for (i64 j = 0; j < AT_ONCE; j++) {\n");
    text_add(&e->helpers, "                const %s old = %s, y = %s;\n", reg, cpu_unpack(e, elem, "was[j]"),
             cpu_unpack(e, elem, "values[i + j]"));
    text_add(&e->helpers, "                now[j] = %s;\n            }\n", cpu_pack_number(e, elem, sum));
    text_add(&e->helpers, "            __builtin_memcpy(&after, now, sizeof after);\n");
    text_add(&e->helpers, "        } while (!tw_swaps(p + i, &before, after));\n    }\n");
    text_add(&e->helpers, "    for (; i < n; i++) %s(p + i, %s);\n}\n", one, cpu_unpack(e, elem, "values[i]"));
    return name;
}

/* The same for compare-and-swap, which compares bits. */
static const char *swap_function(Emit *e, Elem elem) {
    const char *memory = cs_memory_type(elem), *reg = cs_register_type(&e->p, elem), *bits = bits_type(elem);
    const char *name = arena_printf(e->arena, "tw_atomic_cas_%s", elem_info[elem].text);
    if (map_find(&e->helper_names, name, strlen(name))) return name;
    map_set(&e->helper_names, e->arena, name, e);
    text_add(&e->helpers, "static %s %s(%s *p, %s was, %s now) {\n", reg, name, memory, memory, memory);
    text_add(&e->helpers,
             "    %s before, after;\n    __builtin_memcpy(&before, &was, sizeof before);\n"
             "    __builtin_memcpy(&after, &now, sizeof after);\n",
             bits);
    text_add(&e->helpers, "    __atomic_compare_exchange_n((%s *)p, &before, after, 0, 5, 5);\n", bits);
    text_add(&e->helpers, "    __builtin_memcpy(&was, &before, sizeof was);\n    return %s;\n}\n",
             cpu_unpack(e, elem, "was"));
    return name;
}

void cpu_emit_atomic(Emit *e, Op *op) {
    const Type *places = ir_type(e->k, op->operands[0]);
    Ref result = op->results[0];
    const char *type = cs_register_type(&e->p, places->elem), *name = cs_name(&e->p, result);
    bool used = cpu_placed(&e->plan, result)->users.count > 0, swap = op->code == OP_ATOMIC_CAS;
    const char *function =
        swap ? swap_function(e, places->elem) : atomic_function(e, op_word(op, AT_COMBINE, COMBINE_ADD), places->elem);
    if (places->rank == 0)
        cs_line(&e->p, "%s %s = %s;", type, name, cpu_zero(e, ir_type(e->k, result)));
    else if (used) {
        cpu_declare(e, result);
        name = cs_name(&e->p, result);
    }
    Nest nest;
    nest_begin(e, &nest, places);
    Ix p = cpu_element(e, &nest, op->operands[0], nest.index);
    Ix x = cpu_operand(e, &nest, op->operands[1], nest.index);
    Text call = text_new(e->arena);
    text_add(&call, "%s(%s, ", function, p.text);
    if (swap) {
        Ix y = cpu_operand(e, &nest, op->operands[2], nest.index);
        text_add(&call, "%s, %s)", cpu_pack(e, places->elem, x.text), cpu_pack(e, places->elem, y.text));
    } else
        text_add(&call, "%s)", x.text);
    Ref mask = swap ? REF_NONE : op_operand(op, 2);
    const char *m = mask ? cpu_operand(e, &nest, mask, nest.index).text : NULL;
    const char *old =
        m ? arena_printf(e->arena, "%s ? %s : %s", m, call.at, cpu_zero(e, ir_type(e->k, result))) : call.at;
    if (places->rank == 0)
        nest_add(e, &nest, 0, "%s = %s;", name, old);
    else if (used) {
        const char *held = cs_fresh(&e->p, "old");
        nest_add(e, &nest, nest.rank, "const %s %s = %s;", type, held, old);
        nest_add(e, &nest, nest.rank, "%s = %s;", cpu_slot(e, ir_type(e->k, result), name, nest.index, NULL),
                 cpu_pack_for(e, result, held));
    } else
        nest_add(e, &nest, nest.rank, "(void)(%s);", old);
    nest_end(e, &nest, false);
}

bool cpu_atomic_lines(const Kernel *k, const Op *op) {
    enum { LEAST = 4 };
    const Op *tensor = ir_value(k, op->operands[0])->op;
    const Type *tile = ir_type(k, op_operand(op, 1)), *whole = ir_type(k, op->operands[0]);
    int dim = tile->rank ? box_dim(op, whole->rank, tile->rank, tile->rank - 1) : -1;
    int64_t stride;
    return dim >= 0 && tensor && tensor->code == OP_TENSOR && ir_const_int(k, op_list(tensor, 1).at[dim], &stride) &&
           stride == 1 && !ir_type(k, op_list(op, 0).at[dim])->rank && !op_operand(op, 2) &&
           tile->extent[tile->rank - 1] >= LEAST;
}

/* Row by row. Exchanges wait for each other and for memory, so the next row that a vector names is asked for before. */
static void tatomic_lines(Emit *e, Op *op, const Box *box, Word combine) {
    const char *function = line_function(e, combine, box->tile->elem);
    int last = box->tile->rank - 1, depth = 0;
    int64_t extent[MAX_RANK];
    memcpy(extent, box->tile->extent, sizeof extent);
    extent[last] = 1;
    Nest nest;
    nest_begin(e, &nest, ty_with_shape(e->k->module, box->tile, last + 1, extent));
    cpu_box_bounds(e, &nest, box);
    const char *all = cpu_integer(e, EL_I32, box->tile->extent[last]);
    const char *lo = box->checked[last] ? box->lo[last] : "0", *hi = box->checked[last] ? box->hi[last] : all;
    nest.lo[last] = nest.hi[last] = NULL;
    Ref values = op_operand(op, 1);
    const char *from = cpu_slot(e, box->tile, cs_name(&e->p, values), nest.index, NULL);
    const char *row = cpu_box_element(e, &nest, box, nest.index, &depth);
    if (last && box->indices[last - 1] && nest.index[last - 1].depth) {
        const char *i = nest.index[last - 1].text, *v = box->indices[last - 1];
        nest_add(e, &nest, nest.rank, "tw_soon(&%s + ((i64)%s[tw_min_i64(%s + 1, %lld)] - (i64)%s[%s]) * %s, %lld);",
                 row, v, i, (long long)box->tile->extent[last - 1] - 1, v, i, box->stride[last - 1],
                 (long long)(box->tile->extent[last] * elem_info[box->tile->elem].bytes));
    }
    nest_add(e, &nest, nest.rank, "%s(&%s + %s, &%s + %s, %s - %s);", function, row, lo, from, lo, hi, lo);
    nest_end(e, &nest, false);
}

static void tatomic_elements(Emit *e, Op *op, const Box *box, Word combine) {
    const char *function = atomic_function(e, combine, box->tile->elem);
    Ref mask = op_operand(op, 2);
    int depth = 0;
    Nest nest;
    nest_begin(e, &nest, box->tile);
    cpu_box_bounds(e, &nest, box);
    Ix x = cpu_element(e, &nest, op_operand(op, 1), nest.index);
    const char *slot = cpu_box_element(e, &nest, box, nest.index, &depth);
    const char *on = mask ? arena_printf(e->arena, "if (%s) ", cpu_operand(e, &nest, mask, nest.index).text) : "";
    nest_add(e, &nest, nest.rank, "%s%s(&%s, %s);", on, function, slot, x.text);
    nest_end(e, &nest, false);
}

void cpu_emit_tatomic(Emit *e, Op *op) {
    Box *box = cpu_box(e, op);
    Word combine = op_word(op, AT_COMBINE, COMBINE_ADD);
    if (box->ok) cs_open(&e->p, "if (%s)", box->ok);
    (cpu_atomic_lines(e->k, op) ? tatomic_lines : tatomic_elements)(e, op, box, combine);
    if (box->ok) cs_close(&e->p);
}

/* --- cat and insert --- */

static void copy_piece(Emit *e, Ref whole, Ref piece, const Ix *offsets) {
    const Type *type = ir_type(e->k, piece), *to_type = ir_type(e->k, whole);
    Nest nest;
    nest_begin(e, &nest, type);
    Ix x = cpu_element(e, &nest, piece, nest.index), to[MAX_RANK];
    for (int d = 0; d < type->rank; d++)
        to[d] = (Ix){arena_printf(e->arena, "(%s + %s)", offsets[d].text, nest.index[d].text), nest.index[d].depth};
    const char *slot = cpu_slot(e, to_type, cs_name(&e->p, whole), to, NULL);
    nest_add(e, &nest, nest.rank, "%s = %s;", slot, cpu_pack_for(e, whole, x.text));
    nest_end(e, &nest, true);
}

void cpu_emit_pieces(Emit *e, Op *op) {
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result);
    Ix offsets[MAX_RANK];
    for (int d = 0; d < type->rank; d++) offsets[d] = (Ix){"0", 0};
    cpu_declare(e, result);
    if (op->code == OP_CAT) {
        int axis = (int)op_int(op, AT_AXIS, 0);
        int64_t at = 0;
        for (int i = 0; i < op->operand_count; i++) {
            offsets[axis].text = arena_printf(e->arena, "%lld", (long long)at);
            copy_piece(e, result, op->operands[i], offsets);
            at += ir_type(e->k, op->operands[i])->extent[axis];
        }
        return;
    }
    Ref base = op->operands[0];
    if (!cpu_shares_block(&e->plan, base, result)) cpu_fill(e, cs_name(&e->p, result), false, base);
    RefList at = op_list(op, 0);
    for (int d = 0; d < at.count; d++) offsets[d].text = arena_printf(e->arena, "(i64)%s", cpu_ref(e, at.at[d]));
    copy_piece(e, result, op_operand(op, 1), offsets);
}

/* --- sort, histogram .. --- */

/* The tile of keys in which a line is padded to a power of two. */
const Type *cpu_sort_keys(const Kernel *k, const Op *op) {
    const Type *type = ir_type(k, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0);
    int64_t extent[MAX_RANK], inner = 1, n = 1;
    memcpy(extent, type->extent, sizeof extent);
    for (int d = axis + 1; d < type->rank; d++) inner *= extent[d];
    while (n < extent[axis] || (inner == 1 && n < 8)) n *= 2;
    extent[axis] = n;
    Elem key = elem_info[type->elem].bits == 64 ? EL_I64 : EL_I32;
    return ty_tile(k->module, key, type->rank, extent);
}

void cpu_emit_sort(Emit *e, Op *op) {
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result), *padded = cpu_sort_keys(e->k, op);
    int axis = (int)op_int(op, AT_AXIS, 0), descending = op_flag(op, AT_DESC);
    long long n = type->extent[axis], room = padded->extent[axis], inner = 1;
    for (int d = axis + 1; d < type->rank; d++) inner *= type->extent[d];
    long long lines = ty_elements(type) / (n * inner), all = room * inner;
    const char *key = elem_info[padded->elem].text;
    const char *reg = cs_register_type(&e->p, type->elem == EL_I1 ? EL_U8 : type->elem);
    cpu_declare(e, result);
    const char *keys = cpu_memory(e, padded, false, cpu_place(&e->plan, op)->temp[0], "keys");
    Nest nest;
    nest_begin(e, &nest, type);
    Ix x = cpu_element(e, &nest, op->operands[0], nest.index);
    nest_add(e, &nest, nest.rank, "%s = tw_key_%s(%s, %d);", cpu_slot(e, padded, keys, nest.index, NULL), reg, x.text,
             descending);
    nest_end(e, &nest, true);
    cs_open(&e->p, "for (i64 o = 0; o < %lld; o++)", lines);
    if (room > n)
        cs_line(&e->p, "for (i64 r = %lld; r < %lld; r++) %s[o * %lld + r] = TW_LAST_%s;", n * inner, all, keys, all,
                key);
    cs_line(&e->p, "tw_sort_%s(%s + o * %lld, %lld, %lld);", key, keys, all, room, inner);
    cs_open(&e->p, "TW_VECTOR for (i64 r = 0; r < %lld; r++)", n * inner);
    const char *back = arena_printf(e->arena, "tw_unkey_%s(%s[o * %lld + r], %d)", reg, keys, all, descending);
    cs_line(&e->p, "%s[o * %lld + r] = %s;", cs_name(&e->p, result), n * inner, cpu_pack_for(e, result, back));
    cs_close(&e->p);
    cs_close(&e->p);
    const char *maker = arena_printf(e->arena, "TW_SORT_%s", key);
    if (!map_find(&e->helper_names, maker, strlen(maker))) text_add(&e->helpers, "%s\n", maker);
    map_set(&e->helper_names, e->arena, maker, e);
    e->uses_sort = true;
}

void cpu_emit_histogram(Emit *e, Op *op) {
    Ref result = op->results[0];
    long long bins = ty_elements(ir_type(e->k, result));
    cpu_declare(e, result);
    const char *name = cs_name(&e->p, result);
    cs_line(&e->p, "for (i64 r = 0; r < %lld; r++) %s[r] = 0;", bins, name);
    Nest nest;
    nest_begin(e, &nest, ir_type(e->k, op->operands[0]));
    Ix x = cpu_element(e, &nest, op->operands[0], nest.index);
    nest_add(e, &nest, nest.rank, "if (%s >= 0 && (u64)%s < %lld) %s[%s]++;", x.text, x.text, bins, name, x.text);
    nest_end(e, &nest, false);
}

void cpu_emit_assert(Emit *e, Op *op) {
    const char *message = op_text(op, AT_MESSAGE);
    *VEC_PUSH(&e->asserts, e->arena) = (CpuAssert){op->range, message ? message : ""};
    Nest nest;
    nest_begin(e, &nest, ir_type(e->k, op->operands[0]));
    Ix x = cpu_element(e, &nest, op->operands[0], nest.index);
    nest_add(e, &nest, nest.rank, "if (TW_UNLIKELY(!%s)) {", x.text);
    nest_add(e, &nest, nest.rank, "    tw_fail(launch, %d, program);", (int)e->asserts.count);
    nest_add(e, &nest, nest.rank, "    return;");
    nest_add(e, &nest, nest.rank, "}");
    nest_end(e, &nest, false);
}

/* Where the values are in memory, as the launcher reads them. */
void cpu_emit_print(Emit *e, Op *op) {
    *VEC_PUSH(&e->prints, e->arena) = speech_of(e->k, op, e->arena);
    Text values = text_new(e->arena);
    cs_open(&e->p, "%s", "");
    for (int i = 0; i < op->operand_count; i++) {
        Ref x = op->operands[i];
        const Type *type = ir_type(e->k, x);
        if (type->kind != TY_TILE) continue;
        const char *name = cpu_memory(e, type, false, cpu_place(&e->plan, op)->temp[i], "said");
        cpu_fill(e, name, false, x);
        text_add(&values, "%s%s", values.length ? ", " : "", name);
    }
    cs_line(&e->p, "const void *const values[] = {%s};", values.length ? values.at : "0");
    cs_line(&e->p, "launch->print(launch, %d, program, values);", (int)e->prints.count - 1);
    cs_close(&e->p);
}

/* The region is the body of a loop over the elements. */
void cpu_emit_map(Emit *e, Op *op) {
    Region *region = op->regions[0];
    bool tiles = op->result_count && ir_type(e->k, op->results[0])->rank;
    for (int i = 0; i < op->result_count && tiles; i++) cpu_declare(e, op->results[i]);
    Nest nest;
    nest_begin(e, &nest, ir_type(e->k, op->operands[0]));
    for (int i = 0; i < op->operand_count; i++)
        e->p.names[region->args[i]] = cpu_element(e, &nest, op->operands[i], nest.index).text;
    Text out = e->p.out;
    int depth = e->p.depth;
    e->p.out = nest.body[nest.rank];
    e->p.depth = 0;
    cpu_emit_ops(e, region);
    for (int i = 0; i < op->result_count; i++) {
        Ref result = op->results[i], x = region->last->operands[i];
        if (!tiles) {
            e->p.names[result] = cpu_ref(e, x);
            continue;
        }
        const char *slot = cpu_slot(e, ir_type(e->k, result), cs_name(&e->p, result), nest.index, NULL);
        cs_line(&e->p, "%s = %s;", slot, cpu_pack_for(e, result, cpu_ref(e, x)));
    }
    nest.body[nest.rank] = e->p.out;
    e->p.out = out;
    e->p.depth = depth;
    nest_end(e, &nest, true);
}
