/* cpu_atomic.c: atomics of emitted CPU kernels.
 *
 * A launch on one thread combines without further ado. Among several, single elements go by compare-and-swap;
 * lines of a box go a page at a time under a lock of the launch, as vectors, if all atomics of the kernel are
 * lines: a lock and an exchange do not see each other. */
#include "target/cpu/cpu_internal.h"

#include <string.h>

/* Must others than the threads of the launch see it as one step? Not by the default scope: a context is used by
 * one thread at a time, as a device runs its blocks. */
static bool is_for_all(const Op *op) { return op_word(op, AT_REACH, REACH_GPU) == REACH_SYS; }

static const char *alone_text(const Op *op) { return is_for_all(op) ? "0" : "!launch->locks"; }

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
    const char *now = cpu_pack_number(e, elem, cpu_combine(e, combine, elem, false, "old", "y"));
    text_add(&e->helpers, "static %s %s(i32 alone, %s *p, %s y) {\n", reg, name, memory, reg);
    text_add(&e->helpers, "    if (alone) {\n        const %s old = %s;\n", reg, cpu_unpack(e, elem, "*p"));
    text_add(&e->helpers, "        *p = %s;\n        return old;\n    }\n", now);
    text_add(&e->helpers, "    %s before = __atomic_load_n((%s *)p, 0), after;\n    %s old;\n    do {\n", bits, bits,
             reg);
    text_add(&e->helpers, "        %s was;\n        __builtin_memcpy(&was, &before, sizeof was);\n", memory);
    text_add(&e->helpers, "        old = %s;\n", cpu_unpack(e, elem, "was"));
    text_add(&e->helpers, "        const %s now = %s;\n", memory, now);
    text_add(&e->helpers, "        __builtin_memcpy(&after, &now, sizeof after);\n");
    text_add(&e->helpers, "    } while (!__atomic_compare_exchange_n((%s *)p, &before, after, 1, 5, 5));\n", bits);
    text_add(&e->helpers, "    return old;\n}\n");
    return name;
}

/* The same for many that lie side by side: under the lock of their page where all atomics of the kernel are such,
 * else as many at once as one exchange takes. */
static const char *line_function(Emit *e, Word combine, Elem elem) {
    const char *memory = cs_memory_type(elem), *reg = cs_register_type(&e->p, elem);
    const char *one = atomic_function(e, combine, elem);
    const char *name = arena_printf(e->arena, "%s_line", one);
    if (map_find(&e->helper_names, name, strlen(name))) return name;
    map_set(&e->helper_names, e->arena, name, e);
    const char *now = cpu_pack_number(e, elem, cpu_combine(e, combine, elem, false, "old", "y"));
    Text *t = &e->helpers;
    text_add(t, "static void %s(TwLaunch *launch, %s *p, const %s *values, i64 n) {\n", name, memory, memory);
    text_add(t, "    for (i64 i = 0, end; i < n && %s; i = end) {\n", e->plan.locks ? "1" : "!launch->locks");
    text_add(t, "        u32 *const lock = tw_lock(launch, p + i, sizeof *p, &end);\n");
    text_add(t, "        end = tw_min_i64(n, i + end);\n");
    text_add(t, "        TW_VECTOR for (i64 j = i; j < end; j++) {\n");
    text_add(t, "            const %s old = %s, y = %s;\n", reg, cpu_unpack(e, elem, "p[j]"),
             cpu_unpack(e, elem, "values[j]"));
    text_add(t, "            p[j] = %s;\n        }\n        tw_unlock(lock);\n    }\n", now);
    if (e->plan.locks) {
        text_add(t, "}\n");
        return name;
    }
    text_add(t, "    enum { AT_ONCE = TW_SWAP_BYTES / sizeof(%s) };\n    i64 i = launch->locks ? 0 : n;\n", memory);
    text_add(t, "    for (; i < n && (u64)(p + i) %% TW_SWAP_BYTES; i++) %s(0, p + i, %s);\n", one,
             cpu_unpack(e, elem, "values[i]"));
    text_add(t, "    for (; i + AT_ONCE <= n; i += AT_ONCE) {\n        tw_words before, after;\n");
    text_add(t, "        %s was[AT_ONCE], now[AT_ONCE];\n", memory);
    text_add(t, "        __builtin_memcpy(&before, p + i, sizeof before);\n        do {\n");
    text_add(t, "            __builtin_memcpy(was, &before, sizeof was);\n");
    text_add(t, "            for (i64 j = 0; j < AT_ONCE; j++) {\n");
    text_add(t, "                const %s old = %s, y = %s;\n", reg, cpu_unpack(e, elem, "was[j]"),
             cpu_unpack(e, elem, "values[i + j]"));
    text_add(t, "                now[j] = %s;\n            }\n", now);
    text_add(t, "            __builtin_memcpy(&after, now, sizeof after);\n");
    text_add(t, "        } while (!tw_swaps(p + i, &before, after));\n    }\n");
    text_add(t, "    for (; i < n; i++) %s(0, p + i, %s);\n}\n", one, cpu_unpack(e, elem, "values[i]"));
    return name;
}

/* The same for compare-and-swap, which compares bits. */
static const char *swap_function(Emit *e, Elem elem) {
    const char *memory = cs_memory_type(elem), *reg = cs_register_type(&e->p, elem), *bits = bits_type(elem);
    const char *name = arena_printf(e->arena, "tw_atomic_cas_%s", elem_info[elem].text);
    if (map_find(&e->helper_names, name, strlen(name))) return name;
    map_set(&e->helper_names, e->arena, name, e);
    text_add(&e->helpers, "static %s %s(i32 alone, %s *p, %s was, %s now) {\n", reg, name, memory, memory, memory);
    text_add(&e->helpers,
             "    %s before, after;\n    __builtin_memcpy(&before, &was, sizeof before);\n"
             "    __builtin_memcpy(&after, &now, sizeof after);\n",
             bits);
    text_add(&e->helpers, "    if (alone) {\n        %s here;\n        __builtin_memcpy(&here, p, sizeof here);\n",
             bits);
    text_add(&e->helpers, "        if (here == before) *p = now;\n        before = here;\n    } else\n");
    text_add(&e->helpers, "        __atomic_compare_exchange_n((%s *)p, &before, after, 0, 5, 5);\n", bits);
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
    text_add(&call, "%s(%s, %s, ", function, alone_text(op), p.text);
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
           stride == 1 && !ir_type(k, op_list(op, 0).at[dim])->rank && !op_operand(op, 2) && !is_for_all(op) &&
           tile->extent[tile->rank - 1] >= LEAST;
}

Op *cpu_line_box(const CpuPlan *plan, const Op *op) {
    int axes[MAX_RANK];
    Ref values = op->code == OP_TATOMIC ? op_operand(op, 1) : REF_NONE;
    Op *load = ref_is_value(values) && cpu_atomic_lines(plan->k, op) ? ir_value(plan->k, values)->op : NULL;
    if (!load || load->code != OP_TLOAD || !cpu_moved_box(plan, values, axes)) return NULL;
    return cpu_unit_axis(plan->k, load) == ir_type(plan->k, values)->rank - 1 ? load : NULL;
}

/* Where the values of a row are: in memory, or in the box that they are loaded from, if that has them all. */
static const char *values_at(Emit *e, Nest *nest, Op *op, const Box *box) {
    Ref values = op_operand(op, 1);
    Op *load = cpu_line_box(&e->plan, op);
    if (!load || cpu_placed(&e->plan, values)->storage != STORAGE_INLINE)
        return cpu_slot(e, box->tile, cs_name(&e->p, values), nest->index, NULL);
    const Box *from = cpu_find_box(e, load);
    int depth = 0;
    const char *covers = cpu_box_covers(e, from, cpu_same_axes, box);
    cs_open(&e->p, "if (TW_UNLIKELY(!(%s%s%s)))", covers, *covers ? " && " : "", cpu_apart(e, from, box, false));
    cpu_set_aside(e, &(OpList){.at = &load, .count = 1});
    cs_close(&e->p);
    bool fast = nest->fast;
    nest->fast = true;
    const char *row = cpu_box_element(e, nest, from, nest->index, &depth);
    nest->fast = fast;
    return row;
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
    const char *from = values_at(e, &nest, op, box);
    const char *row = cpu_box_element(e, &nest, box, nest.index, &depth);
    if (!e->plan.locks && last && box->indices[last - 1] && nest.index[last - 1].depth) {
        const char *i = nest.index[last - 1].text, *v = box->indices[last - 1];
        nest_add(e, &nest, nest.rank, "tw_soon(&%s + ((i64)%s[tw_min_i64(%s + 1, %lld)] - (i64)%s[%s]) * %s, %lld);",
                 row, v, i, (long long)box->tile->extent[last - 1] - 1, v, i, box->stride[last - 1],
                 (long long)(box->tile->extent[last] * elem_info[box->tile->elem].bytes));
    }
    nest_add(e, &nest, nest.rank, "%s(launch, &%s + %s, &%s + %s, %s - %s);", function, row, lo, from, lo, hi, lo);
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
    nest_add(e, &nest, nest.rank, "%s%s(%s, &%s, %s);", on, function, alone_text(op), slot, x.text);
    nest_end(e, &nest, false);
}

void cpu_emit_tatomic(Emit *e, Op *op) {
    Box *box = cpu_box(e, op);
    Word combine = op_word(op, AT_COMBINE, COMBINE_ADD);
    if (box->ok) cs_open(&e->p, "if (%s)", box->ok);
    (cpu_atomic_lines(e->k, op) ? tatomic_lines : tatomic_elements)(e, op, box, combine);
    if (box->ok) cs_close(&e->p);
}

bool cpu_locks_lines(const CpuPlan *plan) {
    for (size_t i = 0; i < plan->order.count; i++) {
        const Op *op = plan->order.at[i];
        if (op->code == OP_ATOMIC || op->code == OP_ATOMIC_CAS) return false;
        if (op->code == OP_TATOMIC && !cpu_atomic_lines(plan->k, op)) return false;
    }
    return true;
}
