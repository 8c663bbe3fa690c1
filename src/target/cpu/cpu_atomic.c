/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_atomic.c: atomics of emitted CPU kernels.
 *
 * A launch on one thread combines without further ado. Among several, single elements go by compare-and-swap;
 * lines of a box go a page at a time under a lock of the launch, as vectors, if all atomics of the kernel are
 * lines: a lock and an exchange do not see each other. */
#include "target/cpu/cpu_internal.h"

#include <string.h>

static const Expr *is_alone(Emit *e, const Op *op) {
    return cpu_is_for_all(op) ? &expr_zero : ex(e->arena, "!launch->locks");
}

static const char *bits_type(Elem elem) {
    static const char *const by_bytes[] = {0, "u8", "u16", 0, "u32", 0, 0, 0, "u64"};
    return by_bytes[elem_info[elem].bytes];
}

/* Opens a function that goes before the kernel, unless it stands there already: it is what is printed until
 * end_helper. */
static bool begin_helper(Emit *e, CPrinter *around, const char *name) {
    if (map_find(&e->helper_names, name, strlen(name))) return false;
    map_set(&e->helper_names, e->arena, name, e);
    *around = e->p;
    e->p.lines = e->helpers;
    e->p.depth = 0;
    return true;
}

static void end_helper(Emit *e, const CPrinter *around) {
    cs_close(&e->p);
    e->helpers = e->p.lines;
    e->p.lines = around->lines;
    e->p.depth = around->depth;
}

/* What is in memory afterwards, of `old` and `y` in registers. */
static const Expr *combined(Emit *e, Word combine, Elem elem) {
    const Expr *old = ex_name(e->arena, "old"), *y = ex_name(e->arena, "y");
    return cs_pack(&e->p, elem, cs_combine(&e->p, combine, elem, false, old, y));
}

/* The name of a function that combines a value into memory and returns the old one; made on first use. */
static const char *atomic_function(Emit *e, Word combine, Elem elem) {
    const char *memory = cs_memory_type(elem), *reg = cs_register_type(&e->p, elem), *bits = bits_type(elem);
    const char *name = arena_printf(e->arena, "tw_atomic_%s_%s", word_info[combine].text, elem_info[elem].text);
    const Expr *now = combined(e, combine, elem);
    CPrinter *p = &e->p, around;
    Arena *a = e->arena;
    if (!begin_helper(e, &around, name)) return name;
    cs_open(p, "static %s %s(i32 alone, %s *p, %s y)", reg, name, memory, reg);
    cs_open(p, "if (alone)");
    cs_line(p, "const %s old = %p;", reg, cs_unpack(p, elem, ex(a, "*p")));
    cs_line(p, "*p = %p;", now);
    cs_line(p, "return old;");
    cs_close(p);
    cs_line(p, "%s before = __atomic_load_n((%s *)p, 0), after;", bits, bits);
    cs_line(p, "%s old;", reg);
    cs_open(p, "do");
    cs_line(p, "%s was;", memory);
    cs_line(p, "__builtin_memcpy(&was, &before, sizeof was);");
    cs_line(p, "old = %p;", cs_unpack(p, elem, ex(a, "was")));
    cs_line(p, "const %s now = %p;", memory, now);
    cs_line(p, "__builtin_memcpy(&after, &now, sizeof after);");
    cs_close_with(
        p, arena_printf(e->arena, "} while (!__atomic_compare_exchange_n((%s *)p, &before, after, 1, 5, 5));", bits));
    cs_line(p, "return old;");
    end_helper(e, &around);
    return name;
}

/* As many at once as one exchange takes. */
static void print_exchanges(Emit *e, Elem elem, const char *one, const Expr *now) {
    const char *memory = cs_memory_type(elem), *reg = cs_register_type(&e->p, elem);
    CPrinter *p = &e->p;
    Arena *a = e->arena;
    cs_line(p, "enum { AT_ONCE = TW_SWAP_BYTES / sizeof(%s) };", memory);
    cs_line(p, "i64 i = launch->locks ? 0 : n;");
    cs_line(p, "for (; i < n && (u64)(p + i) %% TW_SWAP_BYTES; i++) %s(0, p + i, %p);", one,
            cs_unpack(p, elem, ex(a, "values[i]")));
    cs_open(p, "for (; i + AT_ONCE <= n; i += AT_ONCE)");
    cs_line(p, "tw_words before, after;");
    cs_line(p, "%s was[AT_ONCE], now[AT_ONCE];", memory);
    cs_line(p, "__builtin_memcpy(&before, p + i, sizeof before);");
    cs_open(p, "do");
    cs_line(p, "__builtin_memcpy(was, &before, sizeof was);");
    cs_open(p, "for (i64 j = 0; j < AT_ONCE; j++)");
    cs_line(p, "const %s old = %p, y = %p;", reg, cs_unpack(p, elem, ex(a, "was[j]")),
            cs_unpack(p, elem, ex(a, "values[i + j]")));
    cs_line(p, "now[j] = %p;", now);
    cs_close(p);
    cs_line(p, "__builtin_memcpy(&after, now, sizeof after);");
    cs_close_with(p, "} while (!tw_swaps(p + i, &before, after));");
    cs_close(p);
    cs_line(p, "for (; i < n; i++) %s(0, p + i, %p);", one, cs_unpack(p, elem, ex(a, "values[i]")));
}

/* The same for many that lie side by side: under the lock of their page where all atomics of the kernel are such,
 * else by exchanges. */
static const char *line_function(Emit *e, Word combine, Elem elem) {
    const char *memory = cs_memory_type(elem), *reg = cs_register_type(&e->p, elem);
    const char *one = atomic_function(e, combine, elem), *name = arena_printf(e->arena, "%s_line", one);
    const Expr *now = combined(e, combine, elem);
    CPrinter *p = &e->p, around;
    Arena *a = e->arena;
    if (!begin_helper(e, &around, name)) return name;
    cs_open(p, "static void %s(TwLaunch *launch, %s *p, const %s *values, i64 n)", name, memory, memory);
    cs_open(p, "for (i64 i = 0, end; i < n && %s; i = end)", e->plan.locks ? "1" : "!launch->locks");
    cs_line(p, "u32 *const lock = tw_lock(launch, p + i, sizeof *p, &end);");
    cs_line(p, "end = tw_min_i64(n, i + end);");
    cs_open(p, "TW_VECTOR for (i64 j = i; j < end; j++)");
    cs_line(p, "const %s old = %p, y = %p;", reg, cs_unpack(p, elem, ex(a, "p[j]")),
            cs_unpack(p, elem, ex(a, "values[j]")));
    cs_line(p, "p[j] = %p;", now);
    cs_close(p);
    cs_line(p, "tw_unlock(lock);");
    cs_close(p);
    if (!e->plan.locks) print_exchanges(e, elem, one, now);
    end_helper(e, &around);
    return name;
}

/* The same for compare-and-swap, which compares bits. */
static const char *swap_function(Emit *e, Elem elem) {
    const char *memory = cs_memory_type(elem), *reg = cs_register_type(&e->p, elem), *bits = bits_type(elem);
    const char *name = arena_printf(e->arena, "tw_atomic_cas_%s", elem_info[elem].text);
    CPrinter *p = &e->p, around;
    Arena *a = e->arena;
    if (!begin_helper(e, &around, name)) return name;
    cs_open(p, "static %s %s(i32 alone, %s *p, %s was, %s now)", reg, name, memory, memory, memory);
    cs_line(p, "%s before, after;", bits);
    cs_line(p, "__builtin_memcpy(&before, &was, sizeof before);");
    cs_line(p, "__builtin_memcpy(&after, &now, sizeof after);");
    cs_open(p, "if (alone)");
    cs_line(p, "%s here;", bits);
    cs_line(p, "__builtin_memcpy(&here, p, sizeof here);");
    cs_line(p, "if (here == before) *p = now;");
    cs_line(p, "before = here;");
    cs_close_with(p, "} else");
    cs_line(p, "    __atomic_compare_exchange_n((%s *)p, &before, after, 0, 5, 5);", bits);
    cs_line(p, "__builtin_memcpy(&was, &before, sizeof was);");
    cs_line(p, "return %p;", cs_unpack(p, elem, ex(a, "was")));
    end_helper(e, &around);
    return name;
}

void cpu_emit_atomic(Emit *e, Op *op) {
    const Type *places = ir_type(e->k, op->operands[0]);
    Ref result = op->results[0];
    const char *type = cs_register_type(&e->p, places->elem);
    bool used = cpu_placed(&e->plan, result)->users.count > 0, swap = op->code == OP_ATOMIC_CAS;
    const char *function =
        swap ? swap_function(e, places->elem) : atomic_function(e, op_word(op, AT_COMBINE, COMBINE_ADD), places->elem);
    const Expr *zero = cpu_zero(e, ir_type(e->k, result));
    if (places->rank == 0)
        cs_line(&e->p, "%s %s = %p;", type, cs_name(&e->p, result), zero);
    else if (used)
        cpu_declare(e, result);
    Nest nest;
    nest_begin(e, &nest, places);
    Ix p = cpu_element(e, &nest, op->operands[0], nest.index);
    Ix x = cpu_operand(e, &nest, op->operands[1], nest.index);
    const Expr *old;
    if (swap) {
        Ix y = cpu_operand(e, &nest, op->operands[2], nest.index);
        old = ex(e->arena, "%s(%p, %p, %p, %p)", function, is_alone(e, op), p.x, cpu_pack(e, places->elem, x.x),
                 cpu_pack(e, places->elem, y.x));
    } else
        old = ex(e->arena, "%s(%p, %p, %p)", function, is_alone(e, op), p.x, x.x);
    Ref mask = swap ? REF_NONE : op_operand(op, 2);
    if (mask) old = ex(e->arena, "%p ? %p : %p", cpu_operand(e, &nest, mask, nest.index).x, old, zero);
    if (places->rank == 0)
        nest_add(e, &nest, 0, "%s = %p;", cs_name(&e->p, result), old);
    else if (used) {
        Ix held = cpu_name(e, &nest, type, old, nest.rank, "old");
        nest_add(e, &nest, nest.rank, "%p = %p;",
                 cpu_slot(e, ir_type(e->k, result), cs_ref(&e->p, result), nest.index, NULL),
                 cpu_pack_for(e, result, held.x));
    } else
        nest_add(e, &nest, nest.rank, "(void)(%p);", old);
    nest_end(e, &nest, false);
}

/* Where the values of a row are: in memory, or in the box that they are loaded from, if that has them all. */
static const Expr *values_at(Emit *e, Nest *nest, Op *op, const Box *box) {
    Ref values = op_operand(op, 1);
    Op *load = cpu_place(&e->plan, op)->atomic.load;
    if (!load) return cpu_slot(e, box->tile, cs_ref(&e->p, values), nest->index, NULL);
    const Box *from = cpu_find_box(e, load);
    int depth = 0;
    const Expr *covers = cpu_box_covers(e, from, cpu_same_axes, box);
    cs_open(&e->p, "if (TW_UNLIKELY(!(%p)))", ex_and(e->arena, covers, cpu_apart(e, from, box, false)));
    cpu_set_aside(e, &(OpList){.at = &load, .count = 1});
    cs_close(&e->p);
    bool fast = nest->fast;
    nest->fast = true;
    const Expr *row = cpu_box_element(e, nest, from, nest->index, &depth);
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
    const Expr *lo = cpu_box_low(box, last), *hi = cpu_box_high(e, box, last);
    nest.lo[last] = nest.hi[last] = NULL;
    const Expr *from = values_at(e, &nest, op, box);
    const Expr *row = cpu_box_element(e, &nest, box, nest.index, &depth);
    if (cpu_place(&e->plan, op)->atomic.soon) {
        const Expr *i = nest.index[last - 1].x, *v = box->indices[last - 1];
        const Expr *next =
            ex(e->arena, "(i64)%p[tw_min_i64(%p + 1, %lld)]", v, i, (long long)box->tile->extent[last - 1] - 1);
        nest_add(e, &nest, nest.rank, "tw_soon(%p, %lld);",
                 ex(e->arena, "&%p + (%p - (i64)%p[%p]) * %p", row, next, v, i, box->stride[last - 1]),
                 (long long)(box->tile->extent[last] * elem_info[box->tile->elem].bytes));
    }
    nest_add(e, &nest, nest.rank, "%s(launch, &%p + %p, &%p + %p, %p - %p);", function, row, lo, from, lo, hi, lo);
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
    const Expr *slot = cpu_box_element(e, &nest, box, nest.index, &depth);
    const Expr *call = ex(e->arena, "%s(%p, &%p, %p)", function, is_alone(e, op), slot, x.x);
    if (mask)
        nest_add(e, &nest, nest.rank, "if (%p) %p;", cpu_operand(e, &nest, mask, nest.index).x, call);
    else
        nest_add(e, &nest, nest.rank, "%p;", call);
    nest_end(e, &nest, false);
}

void cpu_emit_tatomic(Emit *e, Op *op) {
    Box *box = cpu_box(e, op);
    Word combine = op_word(op, AT_COMBINE, COMBINE_ADD);
    if (box->ok) cs_open(&e->p, "if (%p)", box->ok);
    (cpu_place(&e->plan, op)->atomic.lines ? tatomic_lines : tatomic_elements)(e, op, box, combine);
    if (box->ok) cs_close(&e->p);
}
