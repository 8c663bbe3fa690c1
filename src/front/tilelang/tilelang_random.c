/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_random.c: random numbers of each thread, T.rng_init and T.rng_rand, as cuRAND's Philox gives them.
 *
 *     T.rng_init(seed, sequence, offset)
 *     A[i] = T.rng_rand()                     the next word of the thread's sequence
 *
 * The state is three numbers of the thread: the key, which of the sequences, and how many words it has taken. Word n
 * is word n % 4 of the counter (n / 4, sequence) under the key. */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

enum { SEED, SEQUENCE, TAKEN, STATES, ROUNDS = 10 };

static Val number(Lower *l, const Storage *state) { return lang_variable_load(l, state, l->b.range); }
static Val binary(Lower *l, PyOp op, Val x, Val y) { return lang_binary(l, op, x, y, l->b.range); }
static Val cast(Lower *l, Val x, Elem elem) { return val_failed(x) ? x : val_tensor(ir_cast(&l->b, x.ref, elem)); }

static Storage *state_of(Lower *l, const Call *c) {
    LangState *s = lang_state(l);
    if (!lang_need_threads(l, c)) return NULL;
    if (s->random) return s->random;
    py_error(l, DIAG_TL_ARGUMENTS, c->range,
             "T.rng_init(seed, sequence, offset) stands before the first random number");
    return NULL;
}

/* The state lies at the head of the threads' region, wherever the first T.rng_init stands. */
static Storage *make_state(Lower *l) {
    LangState *s = lang_state(l);
    Builder here = l->b;
    Op *first = s->region->regions[0]->first;
    Storage *made = ARENA_ARRAY(l->arena, Storage, STATES);
    if (first) l->b = ir_builder_before(l->kernel, first);
    for (int i = 0; i < STATES; i++) {
        made[i] = (Storage){.kind = STORE_VARIABLE, .rank = 1, .shape = {1}, .elem = EL_U64, .own = true};
        made[i].ref = ir_buffer(&l->b, lang_own_type(l, &made[i], SCOPE_LOCAL), NULL);
        lang_variable_store(l, &made[i], val_int(0), here.range);
    }
    if (first) l->b = here;
    return made;
}

Val lang_lower_rng_init(Lower *l, const Call *c) {
    LangState *s = lang_state(l);
    Val start[STATES] = {c->args[0], c->args[1], c->args[2]}, generator = c->args[3];
    if (!lang_need_threads(l, c)) return val_error;
    if (!s->random) s->random = make_state(l);
    if (generator.kind != VAL_STR || strcmp(generator.text, "curandStatePhilox4_32_10_t") != 0)
        return py_error(l, DIAG_TL_PLANNED, c->ranges[3], "a generator other than curandStatePhilox4_32_10_t",
                        "leave it out: the one that is there is Philox");
    l->b.range = c->range;
    if (start[SEQUENCE].kind == VAL_NONE) {
        Op *id = ir_begin(&l->b, OP_PROGRAM_ID);
        op_set(l->kernel, id, (Attr){.id = AT_DIM, .number = 0});
        Val block = val_tensor(ir_end(&l->b, id, NULL));
        block = binary(l, PY_OP_MUL, block, val_int(s->thread_extent[0]));
        start[SEQUENCE] = binary(l, PY_OP_ADD, val_tensor(s->thread[0]), block);
    }
    for (int i = 0; i < STATES; i++) {
        Ref value;
        Val v = lang_plain(start[i]);
        if (val_failed(v) || !lang_convert(l, v, EL_U64, c->ranges[i], &value)) return val_error;
        if (!lang_variable_store(l, &s->random[i], val_tensor(value), c->range)) return val_error;
    }
    return val_none;
}

/* The next word of the thread's sequence. */
static Val draw(Lower *l, Storage *state) {
    Val taken = number(l, &state[TAKEN]), seed = number(l, &state[SEED]), sequence = number(l, &state[SEQUENCE]);
    Val group = binary(l, PY_OP_SHR, taken, val_int(2)), high = val_int(32), counter[4];
    counter[0] = cast(l, group, EL_U32), counter[1] = cast(l, binary(l, PY_OP_SHR, group, high), EL_U32);
    counter[2] = cast(l, sequence, EL_U32), counter[3] = cast(l, binary(l, PY_OP_SHR, sequence, high), EL_U32);
    Val k0 = cast(l, seed, EL_U32), k1 = cast(l, binary(l, PY_OP_SHR, seed, high), EL_U32);
    if (!py_philox(l, counter, k0, k1, ROUNDS)) return val_error;
    Val which = cast(l, binary(l, PY_OP_BITAND, taken, val_int(3)), EL_U32), out = counter[0];
    for (int k = 1; k < 4; k++) {
        Ref is = ir_compare(&l->b, CMP_EQ, which.ref, ir_int(&l->b, EL_U32, k));
        out = val_tensor(ir_ternary(&l->b, OP_SELECT, is, counter[k].ref, out.ref));
    }
    Val next = binary(l, PY_OP_ADD, taken, val_int(1));
    return lang_variable_store(l, &state[TAKEN], next, l->b.range) ? out : val_error;
}

Val lang_lower_rng_rand(Lower *l, const Call *c) {
    Storage *state = state_of(l, c);
    l->b.range = c->range;
    return state ? draw(l, state) : val_error;
}

/* Above 0 and at most 1: the middle of one of 2^32 (2^53) parts. */
Val lang_lower_rng_float(Lower *l, const Call *c) {
    Storage *state = state_of(l, c);
    Val bits = lang_plain(c->args[0]), how = c->args[1];
    if (!state) return val_error;
    if (bits.kind != VAL_INT || (bits.i != 32 && bits.i != 64))
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "random floats have 32 or 64 bits");
    if (how.kind != VAL_STR || strcmp(how.text, "uniform") != 0)
        return py_error(l, DIAG_TL_PLANNED, c->ranges[1], "T.rng_rand_float with a distribution other than \"uniform\"",
                        "make it from uniform numbers, as T.sqrt(-2 * T.log(u)) * T.cos(6.2831853 * v)");
    l->b.range = c->range;
    Val x = draw(l, state);
    if (val_failed(x)) return x;
    Elem elem = bits.i == 64 ? EL_F64 : EL_F32;
    double part = bits.i == 64 ? 0x1p-53 : 0x1p-32;
    if (bits.i == 64) {
        Val y = draw(l, state);
        if (val_failed(y)) return y;
        y = binary(l, PY_OP_SHL, cast(l, y, EL_U64), val_int(21));
        x = binary(l, PY_OP_BITXOR, cast(l, x, EL_U64), y);
    }
    Ref scaled = ir_binary(&l->b, OP_MUL, ir_cast(&l->b, x.ref, elem), ir_float(&l->b, elem, part));
    return val_tensor(ir_binary(&l->b, OP_ADD, scaled, ir_float(&l->b, elem, part / 2)));
}

/* --- T.Parallel --- */

typedef struct Draws {
    Lower *l;
    bool found;
} Draws;

static void find_draw(void *user, PyNode *node) {
    Draws *d = user;
    if (node->kind == PY_Attribute)
        d->found |= lang_is_language(d->l, node, "rng_rand") || lang_is_language(d->l, node, "rng_rand_float");
    py_each_child(node, find_draw, d);
}

bool lang_draws(Lower *l, const PyNode *node) {
    Draws d = {.l = l};
    if (lang_state(l)->random) py_each_child(node, find_draw, &d);
    return d.found;
}
