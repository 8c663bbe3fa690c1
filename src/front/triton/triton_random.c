/* SPDX-License-Identifier: Apache-2.0 */
/* triton_random.c: Triton's random numbers: Philox-4x32 (and 4x64), bit for bit, and what is made
 * of them.
 *
 * The generator is a function of (seed, offset): a counter (c0, c1, c2, c3) is enciphered under the
 * key (k0, k1) in n_rounds rounds, each two multiplications. randint(seed, offset) is the first
 * word of the counter (low half of offset, high half, 0, 0) under the seed. All of it is plain
 * integer arithmetic on tiles, so it is written here as what it expands to.
 *
 *     tl.rand(seed, offs)      float32 in [0, 1) from the word's 31 bits */
#include "front/triton/triton.h"

typedef struct Words {
    Val w[4];
} Words;

static Val scaled(Lower *l, Val a, Val b) { return tri_binary(l, PY_OP_MUL, a, b, l->b.range); }
static Val call_1(Lower *l, const char *name, Val x) {
    return py_apply(l, (Val){.kind = VAL_BUILTIN, .builtin = tri_builtin_find(name, 'M')}, &x, 1, l->b.range);
}
static Val word(Lower *l, Elem elem, uint64_t bits) { return val_tensor(ir_int(&l->b, elem, (int64_t)bits)); }
static bool encipher(Lower *l, Words *c, Val k0, Val k1, int64_t rounds) { return py_philox(l, c->w, k0, k1, rounds); }

static bool want_rounds(Lower *l, const Call *c, int arg, int64_t *rounds) {
    if (!py_want_int(l, c, arg, rounds)) return false;
    if (*rounds >= 0 && *rounds <= 100) return true;
    py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[arg], py_title(l, c->builtin), "0 to 100 rounds",
             val_describe(l, c->args[arg]));
    return false;
}

static bool want_integer(Lower *l, const Call *c, int arg, Val *v) {
    if (!tri_want_tensor(l, c, arg, v)) return false;
    const Type *type = val_type(l, *v);
    if (!type->pointer && elem_is_int(type->elem)) return true;
    py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[arg], py_title(l, c->builtin), "integers", val_describe(l, *v));
    return false;
}

/* The counter under the key that a seed makes; 32-bit words take its two halves. */
static bool seeded(Lower *l, Val seed, Words *c, int64_t rounds) {
    Range range = l->b.range;
    const Type *u64 = ty_scalar(l->module, EL_U64);
    bool wide = elem_info[val_type(l, c->w[0])->elem].bits == 64;
    const Type *as = ty_scalar(l->module, wide ? EL_U64 : EL_U32);
    for (int k = 0; k < 4; k++) c->w[k] = tri_cast(l, c->w[k], as, range);
    seed = tri_cast(l, seed, u64, range);
    Val high = tri_binary(l, PY_OP_SHR, seed, val_int(32), range);
    return encipher(l, c, tri_cast(l, seed, as, range), wide ? word(l, EL_U64, 0) : tri_cast(l, high, as, range),
                    rounds);
}

Val tri_lower_philox_impl(Lower *l, const Call *c) {
    Words words;
    Val key[2];
    int64_t rounds;
    for (int k = 0; k < 6; k++)
        if (!want_integer(l, c, k, k < 4 ? &words.w[k] : &key[k - 4])) return val_error;
    Elem elem = val_type(l, words.w[0])->elem;
    if (elem != EL_U32 && elem != EL_U64)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], "tl.philox_impl", "uint32 or uint64",
                        val_describe(l, words.w[0]));
    if (!want_rounds(l, c, 6, &rounds) || !encipher(l, &words, key[0], key[1], rounds)) return val_error;
    return val_tuple(l, words.w, 4);
}

Val tri_lower_philox(Lower *l, const Call *c) {
    Words words;
    Val seed;
    int64_t rounds;
    if (!want_integer(l, c, 0, &seed)) return val_error;
    for (int k = 0; k < 4; k++)
        if (!want_integer(l, c, k + 1, &words.w[k])) return val_error;
    if (elem_info[val_type(l, words.w[0])->elem].bits < 32)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[1], "tl.philox", "words of 32 or 64 bits",
                        val_describe(l, words.w[0]));
    if (!want_rounds(l, c, 5, &rounds) || !seeded(l, seed, &words, rounds)) return val_error;
    return val_tuple(l, words.w, 4);
}

/* The four words of (seed, offset). */
static bool random_words(Lower *l, const Call *c, Words *words) {
    Val seed, offset;
    int64_t rounds;
    if (!want_integer(l, c, 0, &seed) || !want_integer(l, c, 1, &offset) || !want_rounds(l, c, 2, &rounds))
        return false;
    const Type *u32 = ty_scalar(l->module, EL_U32);
    Val zero = word(l, EL_U32, 0), high = zero;
    if (elem_info[val_type(l, offset)->elem].bits > 32)
        high = tri_cast(l, tri_binary(l, PY_OP_SHR, offset, val_int(32), c->range), u32, c->range);
    *words = (Words){{tri_cast(l, offset, u32, c->range), high, zero, zero}};
    if (!seeded(l, seed, words, rounds)) return false;
    const Type *type = val_type(l, offset);
    for (int k = 0; k < 4; k++) { /* with no rounds some words are scalars still */
        words->w[k] = tri_broadcast_to(l, words->w[k], type->rank, type->extent, c->range);
        if (val_failed(words->w[k])) return false;
    }
    return true;
}

/* [0, 1): the largest 31-bit (63-bit) number times the scale rounds below 1. */
static Val uniform(Lower *l, Val x) {
    Range range = l->b.range;
    bool wide = elem_info[val_type(l, x)->elem].bits == 64;
    x = tri_bitcast(l, x, ty_scalar(l->module, wide ? EL_I64 : EL_I32), range);
    Ref below = ir_compare(&l->b, CMP_LT, x.ref, word(l, wide ? EL_I64 : EL_I32, 0).ref);
    /* -x - 1 has the bits of x inverted */
    x = val_tensor(ir_ternary(&l->b, OP_SELECT, below, ir_unary(&l->b, OP_NOT, x.ref), x.ref));
    Ref scale = ir_float(&l->b, EL_F32, wide ? 1.0842020432385337e-19 : 4.6566127342e-10);
    Ref number = ir_cast(&l->b, x.ref, EL_F32);
    return val_tensor(ir_binary(&l->b, OP_MUL, number, scale));
}

Val tri_lower_uniform(Lower *l, const Call *c) {
    Val x;
    if (!want_integer(l, c, 0, &x)) return val_error;
    if (elem_info[val_type(l, x)->elem].bits < 32)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], py_title(l, c->builtin), "integers of 32 or 64 bits",
                        val_describe(l, x));
    return uniform(l, x);
}

/* Box and Muller: two independent normal numbers from two uniform ones. */
static bool to_normal(Lower *l, Val u1, Val u2, Val out[2]) {
    Range range = l->b.range;
    Val args[] = {val_float(1.0e-7), u1};
    u1 = py_apply(l, (Val){.kind = VAL_BUILTIN, .builtin = tri_builtin_find("maximum", 'T')}, args, 2, range);
    Val angle = scaled(l, val_float(6.283185307179586), u2);
    if (val_failed(u1) || val_failed(angle)) return false;
    Val radius = call_1(l, "log", u1);
    if (val_failed(radius)) return false;
    radius = call_1(l, "sqrt", scaled(l, val_float(-2.0), radius));
    out[0] = scaled(l, radius, call_1(l, "cos", angle));
    out[1] = scaled(l, radius, call_1(l, "sin", angle));
    return !val_failed(out[0]) && !val_failed(out[1]);
}

Val tri_lower_normal_pair(Lower *l, const Call *c) {
    Val u[2], out[2];
    if (!tri_want_tensor(l, c, 0, &u[0]) || !tri_want_tensor(l, c, 1, &u[1]) || !to_normal(l, u[0], u[1], out))
        return val_error;
    return val_tuple(l, out, 2);
}

/* randint, rand, randn and their forms of four: code is the kind, large for one, small for four. */
Val tri_lower_random(Lower *l, const Call *c) {
    Words words;
    if (!random_words(l, c, &words)) return val_error;
    char kind = (char)c->builtin->code;
    bool four = kind >= 'a';
    if (kind != 'I' && kind != 'i')
        for (int k = 0; k < 4; k++) words.w[k] = uniform(l, words.w[k]);
    if (kind == 'N' || kind == 'n')
        for (int k = 0; k < (four ? 4 : 2); k += 2) {
            Val pair[2];
            if (!to_normal(l, words.w[k], words.w[k + 1], pair)) return val_error;
            words.w[k] = pair[0];
            words.w[k + 1] = pair[1];
        }
    return four ? val_tuple(l, words.w, 4) : words.w[0];
}
