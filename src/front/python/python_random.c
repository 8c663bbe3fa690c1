/* SPDX-License-Identifier: Apache-2.0 */
/* python_random.c: Philox, the generator of random numbers that both languages have.
 *
 * A counter of four words is enciphered under a key of two in so many rounds, each two multiplications; words have 32
 * or 64 bits. All of it is plain arithmetic of the door's own values. */
#include "front/python/python.h"

static Val binary(Lower *l, PyOp op, Val a, Val b) { return l->domain->binary(l, op, a, b, l->b.range); }
static Val word(Lower *l, Elem elem, uint64_t bits) { return val_tensor(ir_int(&l->b, elem, (int64_t)bits)); }
static Val high_product(Lower *l, Val constant, Val x) {
    return val_failed(x) ? x : val_tensor(ir_binary(&l->b, OP_MULHI, constant.ref, x.ref));
}

bool py_philox(Lower *l, Val counter[4], Val k0, Val k1, int64_t rounds) {
    Elem elem = val_type(l, counter[0])->elem;
    bool wide = elem == EL_U64;
    Val key_a = word(l, elem, wide ? 0x9E3779B97F4A7C15u : 0x9E3779B9u),
        key_b = word(l, elem, wide ? 0xBB67AE8584CAA73Bu : 0xBB67AE85u),
        round_a = word(l, elem, wide ? 0xD2E7470EE14C6C93u : 0xD2511F53u),
        round_b = word(l, elem, wide ? 0xCA5A826395121157u : 0xCD9E8D57u);
    for (int64_t i = 0; i < rounds; i++) {
        Val old[4] = {counter[0], counter[1], counter[2], counter[3]};
        counter[0] = binary(l, PY_OP_BITXOR, binary(l, PY_OP_BITXOR, high_product(l, round_b, old[2]), old[1]), k0);
        counter[2] = binary(l, PY_OP_BITXOR, binary(l, PY_OP_BITXOR, high_product(l, round_a, old[0]), old[3]), k1);
        counter[1] = binary(l, PY_OP_MUL, round_b, old[2]);
        counter[3] = binary(l, PY_OP_MUL, round_a, old[0]);
        k0 = binary(l, PY_OP_ADD, k0, key_a);
        k1 = binary(l, PY_OP_ADD, k1, key_b);
        for (int k = 0; k < 4; k++)
            if (val_failed(counter[k])) return false;
    }
    return true;
}
