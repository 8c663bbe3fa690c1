/* SPDX-License-Identifier: Apache-2.0 */
/* access_boxes.c: what `explain` says about accesses that the source states as boxes of tensors
 * (TileLang, Tile C).
 *
 * `access` proves boxes from pointer arithmetic and says what it found; these came as boxes, and
 * get the same line:
 *
 *     load: box f16[64,64] of A[77, 93], strides [93, 1], at [64*by, 64*k]; outside 0; contiguous
 *
 * Extents and strides of a tensor that is a parameter come with the launch, and are left out. */
#include "pass/access/access_plan.h"
#include "pass/pass.h"

typedef struct Reporter {
    PassContext *cx;
    const Kernel *k;
} Reporter;

static void show_value(const Kernel *k, Text *out, Ref r, int depth) {
    if (ref_is_literal(r)) {
        text_add(out, "%lld", (long long)ir_literal(k, r)->i);
        return;
    }
    const Value *value = ir_value(k, r);
    const Op *op = value->op;
    const char *sign = !op || depth > 3 ? NULL : op->code == OP_MUL ? "*" : op->code == OP_ADD ? " + " : NULL;
    if (value->name || !sign)
        finding_name(k, r, out);
    else {
        bool last = op->code == OP_MUL && ref_is_literal(op->operands[1]); /* 64*k, not k*64 */
        bool brackets = depth && op->code == OP_ADD;
        text_add(out, "%s", brackets ? "(" : "");
        show_value(k, out, op->operands[last], depth + 1);
        text_add(out, "%s", sign);
        show_value(k, out, op->operands[!last], depth + 1);
        text_add(out, "%s", brackets ? ")" : "");
    }
}

static void show_list(const Kernel *k, Text *out, const char *before, RefList list) {
    text_add(out, "%s[", before);
    for (int i = 0; i < list.count; i++) {
        text_add(out, "%s", i ? ", " : "");
        if (list.at[i])
            show_value(k, out, list.at[i], 0);
        else
            text_add(out, "unbounded");
    }
    text_add(out, "]");
}

static void report_box(Op *op, void *user) {
    if (op->code != OP_TLOAD && op->code != OP_TSTORE) return;
    const Reporter *r = user;
    PassContext *cx = r->cx;
    const Kernel *k = r->k;
    bool load = op->code == OP_TLOAD;
    Ref tensor = op_operand(op, 0);
    const Type *type = ir_type(k, load ? op->results[0] : op_operand(op, 1));
    const Op *made = ir_value(k, tensor)->op;
    bool known = made && made->code == OP_TENSOR, unit = false;
    const char *name = ir_value(k, known ? op_operand(made, 0) : tensor)->name;
    Text out = text_new(cx->scratch);
    text_add(&out, "box %s of %s", ty_text(type, cx->scratch), name ? name : "a tensor");
    if (known) {
        RefList strides = op_list(made, 1);
        Ref last = strides.count ? strides.at[strides.count - 1] : REF_NONE;
        bool indexed = last && ir_type(k, op_list(op, 0).at[strides.count - 1])->rank;
        unit = ref_is_literal(last) && ir_literal(k, last)->i == 1 && !indexed;
        show_list(k, &out, "", op_list(made, 0));
        show_list(k, &out, ", strides ", strides);
    }
    RefList offsets = op_list(op, 0);
    show_list(k, &out, ", at ", offsets);
    for (int d = 0; d < offsets.count; d++)
        if (ir_type(k, offsets.at[d])->rank) text_add(&out, "; dimension %d is indexed by a vector", d);
    const Attr *fill = op_attr(op, AT_FILL);
    if (load && !fill) text_add(&out, "; outside 0");
    if (load && fill) {
        text_add(&out, "; outside ");
        if (ref_is_literal(fill->ref) && elem_is_float(type->elem))
            text_add(&out, "%g", ir_literal(k, fill->ref)->f);
        else
            show_value(k, &out, fill->ref, 0);
    }
    if (known && type->rank) text_add(&out, unit ? "; contiguous" : "; not known to be contiguous");
    pass_find(cx, op->range, load ? FIND_LOAD_BOX : FIND_STORE_BOX, out.at);
}

void access_report_boxes(PassContext *cx, const Kernel *k) { ir_walk(k->body, report_box, &(Reporter){cx, k}); }
