/* SPDX-License-Identifier: Apache-2.0 */
/* triton_target.c: what a kernel can ask about the machine it is compiled for, and types that it makes by calls. */
#include "front/triton/triton.h"

Val tri_lower_target(Lower *l, const Call *c) {
    const FrontRequest *r = l->request;
    int have = r ? r->cuda_level : 0;
    if (c->builtin->code != 'g') return val_bool(c->builtin->code == 'c' && have);
    int64_t major, minor;
    if (!py_want_int(l, c, 0, &major) || !py_want_int(l, c, 1, &minor)) return val_error;
    return val_bool(have && have >= (PyInt)major * 10 + minor);
}

/* code: threads that one stands for */
Val tri_lower_warps(Lower *l, const Call *c) {
    int warps = l->request && l->request->num_warps ? l->request->num_warps : 4;
    return tri_to_tensor(l, val_int(warps * c->builtin->code), c->range);
}

Val tri_lower_condition(Lower *l, const Call *c) {
    (void)l;
    return c->args[0];
}

Val tri_lower_int_dtype(Lower *l, const Call *c) {
    static const Elem signed_of[] = {EL_I8, EL_I16, EL_I32, EL_I64}, unsigned_of[] = {EL_U8, EL_U16, EL_U32, EL_U64};
    int64_t bits;
    bool with_sign;
    if (!py_want_int(l, c, 0, &bits) || !py_want_bool(l, c, 1, &with_sign)) return val_error;
    if (bits == 1 && !with_sign) return val_dtype(ty_scalar(l->module, EL_I1));
    for (int i = 0; i < 4; i++)
        if (bits == 8 << i) return val_dtype(ty_scalar(l->module, with_sign ? signed_of[i] : unsigned_of[i]));
    return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], "tl.get_int_dtype", "8, 16, 32 or 64 bits (or 1, unsigned)",
                    val_describe(l, c->args[0]));
}

Val tri_lower_block_type(Lower *l, const Call *c) {
    const Type *dtype;
    int rank;
    int64_t extent[MAX_RANK];
    if (!tri_want_dtype(l, c, 0, &dtype) || !tri_want_shape(l, c, 1, &rank, extent)) return val_error;
    return val_dtype(dtype->pointer ? ty_pointer_tile(l->module, dtype->elem, rank, extent)
                                        : ty_with_shape(l->module, dtype, rank, extent));
}
