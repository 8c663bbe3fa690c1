/* SPDX-License-Identifier: Apache-2.0 */
/* triton_asm.c: tl.inline_asm_elementwise, assembly of the machine on the elements of tiles.
 *
 * Each run of the assembly takes `pack` neighbouring elements of every argument and gives as many of every result, in
 * registers whose kinds the constraints name. Elements of less than 32 bits are packed into words, the first one in the
 * lowest bits, as Triton does; that is done here, with ordinary operations, so that the op sees registers only:
 *
 *     tl.inline_asm_elementwise("shf.l.wrap.b32 $0, $1, $2, 3;", "=r,r,r", [x, y], tl.int32, is_pure=True, pack=1)
 *     asm<code="shf.l.wrap.b32 $0, $1, $2, 3;", constraints="=r,r,r"> %x, %y
 *
 * The text is not read, but for the registers that it names. Which targets run it is the runtime's business. */
#include "front/triton/triton.h"

#include "ir/assembly.h"

enum { CODE, CONSTRAINTS, ARGS, DTYPE, IS_PURE, PACK };

typedef struct Assembly {
    AsmRegisters regs;
    int64_t pack;
    int used;           /* registers that have been filled, or read */
    const Type *shape;  /* of one run's elements: a tile of the runs, or a scalar */
    const Type *result; /* shape of the results; NULL: scalars */
    Ref register_of[MAX_ASM_REGISTERS];
    int64_t number_of[MAX_ASM_REGISTERS]; /* of inputs `n` */
    bool has_numbers;
} Assembly;

/* So many elements of `bits` lie in one register. */
static int elements_per_register(int bits, int64_t pack) {
    int most = bits < 32 ? 32 / bits : 1;
    return pack < most ? (int)pack : most;
}

static int bits_of(const Type *type) { return 8 * ty_elem_bytes(type); }

static Elem word_of(int bits) { return bits == 8 ? EL_U8 : bits == 16 ? EL_U16 : bits == 32 ? EL_U32 : EL_U64; }

static Ref bitcast(Lower *l, Ref x, Elem elem) {
    const Type *type = val_ref_type(l, x);
    if (!type->pointer && type->elem == elem) return x;
    return tri_bitcast(l, val_tensor(x), ty_scalar(l->module, elem), l->b.range).ref;
}

/* The bits of an element as an unsigned number of its width; booleans are 0 and 1. */
static Ref element_bits(Lower *l, Ref x) {
    const Type *type = val_ref_type(l, x);
    if (type->pointer) return ir_cast(&l->b, bitcast(l, x, EL_I64), EL_U64);
    Elem word = word_of(bits_of(type));
    return elem_is_float(type->elem) ? bitcast(l, x, word) : ir_cast(&l->b, x, word);
}

/* The same, back. */
static Ref element_value(Lower *l, Ref bits, Elem elem) {
    if (elem == EL_I1) {
        Ref low = ir_binary(&l->b, OP_AND, bits, ir_int(&l->b, val_ref_type(l, bits)->elem, 1));
        return ir_compare(&l->b, CMP_NE, low, ir_int(&l->b, val_ref_type(l, bits)->elem, 0));
    }
    bits = ir_cast(&l->b, bits, word_of(elem_info[elem].bits));
    return elem_is_float(elem) ? bitcast(l, bits, elem) : ir_cast(&l->b, bits, elem);
}

static bool fail(Lower *l, Range range, const char *what) {
    py_error(l, DIAG_TRI_ASM, range, what);
    return false;
}

/* The next register, for so many bits: does it hold them? */
static bool next_register(Lower *l, const Call *c, Assembly *a, int bits, const char *of, char *letter) {
    int last = of[0] == 'r' ? a->regs.outputs : a->regs.outputs + a->regs.inputs; /* "result" or "argument" */
    if (a->used == last)
        return fail(l, c->ranges[CONSTRAINTS], arena_printf(l->arena, "a register for this %s is missing", of));
    *letter = a->regs.at[a->used].letter;
    int width = elem_info[asm_elem(*letter)].bits;
    if (bits <= width && (bits == width || !elem_is_float(asm_elem(*letter)))) return true;
    return fail(l, c->ranges[CONSTRAINTS],
                arena_printf(l->arena, "register $%d (`%c`) has %d bits, the %s puts %d into it", a->used, *letter,
                             width, of, bits));
}

/* Is the register a number of the code? Then the argument is a constant. */
static bool fill_number(Lower *l, const Call *c, Assembly *a, Val argument) {
    int64_t *number = &a->number_of[a->used++];
    a->has_numbers = true;
    if (argument.kind == VAL_INT || argument.kind == VAL_BOOL) return *number = (int64_t)argument.i, true;
    if (argument.kind == VAL_TENSOR && ir_const_int(l->kernel, argument.ref, number)) return true;
    return fail(
        l, c->ranges[ARGS],
        arena_printf(l->arena, "input $%d is `n`, a constant; here is %s", a->used - 1, val_describe(l, argument)));
}

/* `pack` elements of one argument into registers. */
static bool fill_registers(Lower *l, const Call *c, Assembly *a, Val argument, const Ref *element) {
    int bits = bits_of(val_ref_type(l, element[0])), per = elements_per_register(bits, a->pack);
    for (int at = 0; at < a->pack; at += per) {
        char letter;
        if (a->used < a->regs.outputs + a->regs.inputs && a->regs.at[a->used].letter == 'n') {
            if (!fill_number(l, c, a, argument)) return false;
            continue;
        }
        if (!next_register(l, c, a, per * bits, "argument", &letter)) return false;
        Elem elem = asm_elem(letter), word = word_of(elem_info[elem].bits);
        if (val_ref_type(l, element[at])->elem == elem && !val_ref_type(l, element[at])->pointer) {
            a->register_of[a->used++] = element[at];
            continue;
        }
        Ref bits_here = REF_NONE;
        for (int i = 0; i < per; i++) {
            Ref one = ir_cast(&l->b, element_bits(l, element[at + i]), word);
            if (i) one = ir_binary(&l->b, OP_SHL, one, ir_int(&l->b, word, i * bits));
            bits_here = i ? ir_binary(&l->b, OP_OR, bits_here, one) : one;
        }
        a->register_of[a->used++] = elem_is_float(elem) ? bitcast(l, bits_here, elem) : bits_here;
    }
    return true;
}

/* One result out of registers: `pack` elements. */
static bool read_registers(Lower *l, const Call *c, Assembly *a, Elem elem, Ref *element) {
    int bits = elem == EL_I1 ? 8 : elem_info[elem].bits, per = elements_per_register(bits, a->pack);
    for (int at = 0; at < a->pack; at += per) {
        char letter;
        if (!next_register(l, c, a, per * bits, "result", &letter)) return false;
        Ref reg = a->register_of[a->used++];
        if (asm_elem(letter) == elem) {
            element[at] = reg;
            continue;
        }
        Elem word = word_of(elem_info[asm_elem(letter)].bits);
        if (elem_is_float(asm_elem(letter))) reg = bitcast(l, reg, word);
        for (int i = 0; i < per; i++) {
            Ref one = i ? ir_binary(&l->b, OP_SHR, reg, ir_int(&l->b, word, i * bits)) : reg;
            element[at + i] = element_value(l, one, elem);
        }
    }
    return true;
}

static bool read_constraints(Lower *l, const Call *c, Assembly *a, const char **code, const char **constraints) {
    if (!py_want_text(l, c, CODE, code) || !py_want_text(l, c, CONSTRAINTS, constraints)) return false;
    if (!*code || !*constraints) return fail(l, c->range, "the code and its constraints are strings");
    const char *wrong = asm_registers(*constraints, &a->regs);
    if (wrong) return fail(l, c->ranges[CONSTRAINTS], wrong);
    if (a->regs.outputs > MAX_MAP_RESULTS) return fail(l, c->ranges[CONSTRAINTS], "16 outputs are the most");
    AsmPiece piece;
    for (const char *at = *code; asm_piece(&at, a->regs.outputs + a->regs.inputs, &piece);)
        if (piece.number == -2)
            return fail(l, c->ranges[CODE],
                        "a `$` that is no register of the constraints; `$0` is the first one, `$$` a dollar");
    return true;
}

/* The arguments at one shape, each taken apart into `pack` tiles. */
static bool read_arguments(Lower *l, const Call *c, Assembly *a) {
    Val list = c->args[ARGS];
    TriTiles tiles = {0};
    if (list.kind != VAL_TUPLE || list.count * a->pack > MAX_MAP_OPERANDS)
        return fail(l, c->ranges[ARGS], "the arguments are a list of tensors, at most 64 with their packs");
    tiles.count = list.count;
    for (int i = 0; i < list.count; i++) {
        Call one = {c->builtin, c->range, &list.items[i], &c->ranges[ARGS]};
        if (!tri_want_tensor(l, &one, 0, &tiles.v[i])) return false;
    }
    if (!tiles.count)
        return a->pack == 1 || fail(l, c->ranges[PACK], "without arguments there is nothing to pack: pack=1");
    if (!tri_tiles_broadcast(l, c, &tiles)) return false;
    const Type *shape = val_type(l, tiles.v[0]);
    int64_t elements = ty_elements(shape);
    if (elements % a->pack) return fail(l, c->ranges[PACK], "pack must divide the number of elements");
    if (shape->rank) a->result = shape;
    if (a->pack > 1) tri_tiles_unpack(l, &tiles, (int)a->pack, elements, c->range);
    a->used = a->regs.outputs;
    for (int i = 0; i < list.count; i++) {
        Ref element[MAX_MAP_OPERANDS];
        for (int k = 0; k < a->pack; k++) element[k] = tiles.v[i * a->pack + k].ref;
        if (!fill_registers(l, c, a, list.items[i], element)) return false;
    }
    return true;
}

/* The results, each put together again. */
static Val give_results(Lower *l, const Call *c, Assembly *a, Val dtypes, bool single) {
    Val out[MAX_MAP_RESULTS];
    a->used = 0;
    for (int i = 0; i < dtypes.count; i++) {
        Ref element[MAX_MAP_OPERANDS];
        if (!read_registers(l, c, a, dtypes.items[i].dtype->elem, element)) return val_error;
        TriTiles tiles = {.count = (int)a->pack};
        for (int k = 0; k < a->pack; k++) tiles.v[k] = val_tensor(element[k]);
        if (a->pack > 1) tri_tiles_pack(l, &tiles, (int)a->pack, a->result, c->range);
        out[i] = tiles.v[0];
    }
    if (a->used != a->regs.outputs) {
        fail(l, c->ranges[CONSTRAINTS], "there are more outputs (`=`) than the results fill");
        return val_error;
    }
    return single ? out[0] : val_tuple(l, out, dtypes.count);
}

/* Code and constraints with the numbers written into the code, and the registers behind them counted anew. */
static void write_numbers(Lower *l, Assembly *a, const char **code, const char **constraints) {
    int total = a->regs.outputs + a->regs.inputs, place[MAX_ASM_REGISTERS], next = 0;
    Text words = text_new(l->arena), text = text_new(l->arena);
    for (int i = 0; i < total; i++) {
        const AsmRegister *reg = &a->regs.at[i];
        place[i] = reg->letter == 'n' ? -1 : next++;
        if (reg->letter == 'n') continue;
        a->register_of[place[i]] = a->register_of[i];
        text_add(&words, "%s%s%s", words.length ? "," : "", i < a->regs.outputs ? "=" : "", reg->early ? "&" : "");
        if (reg->tied >= 0)
            text_add(&words, "%d", reg->tied);
        else
            text_add(&words, "%c", reg->letter);
    }
    if (a->regs.memory) text_add(&words, ",~{memory}");
    AsmPiece piece;
    for (const char *at = *code; asm_piece(&at, total, &piece);) {
        for (size_t i = 0; i < piece.length; i++) text_add(&text, piece.text[i] == '$' ? "$$" : "%c", piece.text[i]);
        if (piece.number < 0) continue;
        if (place[piece.number] < 0)
            text_add(&text, "%lld", (long long)a->number_of[piece.number]);
        else
            text_add(&text, "$%d", place[piece.number]);
    }
    *code = text.at;
    *constraints = words.at;
    a->regs.inputs = next - a->regs.outputs;
}

static Op *write_asm(Lower *l, Opcode kind, const char *code, const char *constraints, int inputs, const Ref *input) {
    Op *op = ir_begin(&l->b, kind);
    for (int i = 0; i < inputs; i++) ir_operand(&l->b, op, input[i]);
    op_set(l->kernel, op, (Attr){.id = AT_CODE, .text = code});
    op_set(l->kernel, op, (Attr){.id = AT_CONSTRAINTS, .text = constraints});
    ir_end(&l->b, op, NULL);
    return op;
}

Val tri_lower_asm(Lower *l, const Call *c) {
    Assembly a = {0};
    const char *code, *constraints;
    bool pure;
    if (!py_need_ir(l, c->range) || !read_constraints(l, c, &a, &code, &constraints) ||
        !py_want_bool(l, c, IS_PURE, &pure) || !py_want_int(l, c, PACK, &a.pack))
        return val_error;
    Val dtypes = c->args[DTYPE];
    bool single = dtypes.kind != VAL_TUPLE, good = true;
    if (single) dtypes = (Val){.kind = VAL_TUPLE, .items = &c->args[DTYPE], .count = 1};
    for (int i = 0; i < dtypes.count; i++) good &= dtypes.items[i].kind == VAL_DTYPE && !dtypes.items[i].dtype->pointer;
    if (!good || !dtypes.count || dtypes.count > MAX_MAP_RESULTS)
        return py_error(l, DIAG_TRI_ASM, c->ranges[DTYPE], "dtype is a dtype, or a tuple of at most 16");
    if (a.pack < 1 || a.pack > MAX_MAP_OPERANDS / 2)
        return py_error(l, DIAG_TRI_ASM, c->ranges[PACK], "pack is a number from 1 to 32");
    if (!read_arguments(l, c, &a)) return val_error;
    int inputs = c->args[ARGS].count ? a.used - a.regs.outputs : 0;
    if (inputs != a.regs.inputs)
        return py_error(l, DIAG_TRI_ASM, c->ranges[CONSTRAINTS], "there are more inputs than the arguments fill");
    if (a.has_numbers) write_numbers(l, &a, &code, &constraints);
    Op *op = write_asm(l, pure ? OP_ASM : OP_ASM_ACT, code, constraints, a.regs.inputs, a.register_of + a.regs.outputs);
    for (int i = 0; i < op->result_count; i++) a.register_of[i] = op->results[i];
    return give_results(l, c, &a, dtypes, single);
}

/* A register of the machine that has a name: read each time, where it stands. */
Val tri_lower_register(Lower *l, const Call *c) {
    if (!py_need_ir(l, c->range)) return val_error;
    bool wide = c->builtin->code == EL_I64;
    const char *code = arena_printf(l->arena, "mov.u%d $0, %%%s;", wide ? 64 : 32, c->builtin->name);
    Op *op = write_asm(l, OP_ASM_ACT, code, wide ? "=l" : "=r", 0, NULL);
    return val_tensor(ir_cast(&l->b, op->results[0], (Elem)c->builtin->code));
}
