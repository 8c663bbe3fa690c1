/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_im2col.c: T.im2col, the columns of an image as a tile for a product.
 *
 *     T.im2col(img, col, nhw_step, c_step, kernel, stride, dilation, pad)
 *
 * img is [N, H, W, C], col [BM, BK]. Row i of col is place m = nhw_step * BM + i of the output [N, OH, OW], its column
 * j number k = c_step * BK + j of the window [KH, KW, C]: img[n, oh * stride + kh * dilation - pad, ..w.., c], and 0
 * outside of the image and of the window. */
#include "front/tilelang/tilelang.h"

static Ref number(Lower *l, int64_t n) { return ir_int(&l->b, EL_I32, n); }
static Ref plus(Lower *l, Ref x, Ref y) { return ir_binary(&l->b, OP_ADD, x, y); }
static Ref times(Lower *l, Ref x, int64_t n) { return ir_binary(&l->b, OP_MUL, x, number(l, n)); }
static Ref rest(Lower *l, Ref x, int64_t n) { return ir_binary(&l->b, OP_MOD, x, number(l, n)); }
static Ref over(Lower *l, Ref x, int64_t n) { return ir_binary(&l->b, OP_FLOORDIV, x, number(l, n)); }

typedef struct Window {
    int64_t size, stride, dilation, pad; /* of both dimensions */
} Window;

static bool want_window(Lower *l, const Call *c, Window *out) {
    int64_t *fields[] = {&out->size, &out->stride, &out->dilation, &out->pad};
    for (int i = 0; i < 4; i++) {
        Val v = lang_plain(c->args[4 + i]);
        if (val_failed(v) || lang_missing(l, v, c->ranges[4 + i])) return false;
        if (v.kind != VAL_INT || v.i < (i == 3 ? 0 : 1) || v.i > 1 << 20) {
            py_error(l, DIAG_TL_ARGUMENTS, c->ranges[4 + i],
                     i == 3 ? "pad is a known integer from 0 on"
                            : "kernel, stride and dilation are known integers from 1 on");
            return false;
        }
        *fields[i] = (int64_t)v.i;
    }
    return true;
}

/* How many places the window has along an extent. */
static int64_t places(const Window *w, int64_t extent) {
    int64_t room = extent + 2 * w->pad - w->dilation * (w->size - 1) - 1;
    return room < 0 ? 0 : room / w->stride + 1;
}

Val lang_lower_im2col(Lower *l, const Call *c) {
    const Storage *img = lang_storage(c->args[0]);
    Box col;
    Window w;
    Ref step[2];
    if (!lang_in_kernel(l, c)) return val_error;
    if (!img || img->kind != STORE_TENSOR || img->rank != 4)
        return lang_types(l, c->ranges[0], "T.im2col reads a whole tensor of [N, H, W, C]");
    if (!lang_as_tile(l, c, 1, &col) || !want_window(l, c, &w)) return val_error;
    if (col.of->rank != 2 || col.of->base || col.of->packed || img->packed)
        return lang_types(l, c->ranges[1],
                          "T.im2col writes a tile of two extents: places, and numbers of the window; no 4-bit dtype");
    if (lang_state(l)->elements)
        return py_error(l, DIAG_TL_UNSUPPORTED, c->range, "T.im2col inside T.Parallel",
                        "it moves a whole tile" FIX "take it out");
    for (int i = 0; i < 2; i++)
        if (!lang_convert(l, c->args[2 + i], EL_I32, c->ranges[2 + i], &step[i])) return val_error;
    int64_t oh = places(&w, img->shape[1]), ow = places(&w, img->shape[2]), channels = img->shape[3];
    __int128 most = (__int128)img->shape[0] * oh * ow, wide = (__int128)w.size * w.size * channels;
    if (most > INT32_MAX / 2 || wide > INT32_MAX / 2)
        return lang_types(l, c->range, "so large an image is not counted in 32 bits" FIX "give smaller sizes");
    if (!most || !wide) return lang_fill(l, c->args[1], val_int(0), c->range) ? val_none : val_error;
    l->b.range = c->range;
    Op *op = ir_begin(&l->b, OP_PARALLEL);
    Region *region = ir_region(&l->b, op);
    Ref at[2];
    for (int d = 0; d < 2; d++) {
        ir_operand(&l->b, op, number(l, col.shape[d]));
        at[d] = ir_argument(l->kernel, region, ty_scalar(l->module, EL_I32), d ? "j" : "i");
    }
    Builder outside = l->b;
    l->b = ir_builder_inside(&outside, region);
    Ref m = plus(l, times(l, step[0], col.shape[0]), at[0]), k = plus(l, times(l, step[1], col.shape[1]), at[1]);
    Ref y = over(l, m, ow), kx = over(l, k, channels);
    Ref row = plus(l, times(l, rest(l, y, oh), w.stride), times(l, over(l, kx, w.size), w.dilation));
    Ref column = plus(l, times(l, rest(l, m, ow), w.stride), times(l, rest(l, kx, w.size), w.dilation));
    Ref place[4] = {over(l, y, oh), plus(l, row, number(l, -w.pad)), plus(l, column, number(l, -w.pad)),
                    rest(l, k, channels)};
    Ref value = lang_tload(l, img, place, ty_scalar(l->module, img->elem));
    value = ir_cast(&l->b, value, col.of->elem);
    if ((int64_t)wide % col.shape[1]) {
        Elem e = col.of->elem;
        Ref none = elem_is_float(e) ? ir_float(&l->b, e, 0) : ir_int(&l->b, e, 0);
        value = ir_ternary(&l->b, OP_SELECT, ir_compare(&l->b, CMP_LT, k, number(l, (int64_t)wide)), value, none);
    }
    for (int d = 0; d < 2; d++) at[d] = plus(l, at[d], col.offset[d]);
    ir_bstore(&l->b, col.of->ref, at, value);
    ir_yield(&l->b, NULL, 0);
    l->b = outside;
    ir_end(&l->b, op, NULL);
    return val_none;
}
