/* SPDX-License-Identifier: Apache-2.0 */
/* access_report.c: what `explain` says of accesses through pointers.
 *
 *     load: box f32[64] of X[n], strides [1], at [64*pid]; outside 0; contiguous
 *     load: box f16[64,32] of A[unbounded, K], strides [lda, 1], at [token, 32*k]; dimension 0 is
 *           indexed by numbers from ids, where its mask holds; outside 0; contiguous
 *     load: stays a gather: its indices are read from memory (line 5); a gather it is; ..
 *     access: 5 of 6 accesses are boxes
 *
 * A line says what was proved (the box, its bounds, what fills the outside, contiguity), or why
 * nothing was, where, and what the author can do (access_why.def). */
#include "pass/access/access_plan.h"

static const struct {
    const char *why, *help;
} reasons[] = {
    {"", ""},
#define WHY(id, why, help) {why, help},
#include "analysis/access_why.def"
};

Ref access_fill(const Kernel *k, Ref other) {
    if (!other || ir_type(k, other)->rank == 0) return other;
    const Op *op = ref_is_value(other) ? ir_value(k, other)->op : NULL;
    return op && op->code == OP_SPLAT ? op->operands[0] : REF_NONE;
}

static void show_poly(Access *x, Text *out, Poly p, const Plan *plan) {
    Ref known = p.count && plan ? access_find_known(x, p, plan) : REF_NONE;
    if (known && ir_value(x->k, known)->name) {
        text_add(out, "%s", ir_value(x->k, known)->name);
        return;
    }
    int64_t common = p.count ? p.at[0].scale : 1;
    for (int i = 1; i < p.count; i++)
        for (int64_t rest = p.at[i].scale; rest;) { /* the greatest divisor of all scales */
            int64_t keep = common % rest;
            common = rest;
            rest = keep;
        }
    Poly part;
    if (plan && common > 1 && poly_over(x->a.arena, p, common, &part) && (known = access_find_known(x, part, plan)) &&
        ir_value(x->k, known)->name) {
        text_add(out, "%lld*%s", (long long)common, ir_value(x->k, known)->name);
        return;
    }
    if (!p.count) text_add(out, "0");
    for (int i = 0; i < p.count; i++) {
        const Term *t = &p.at[i];
        if (i || t->scale < 0) text_add(out, "%s", t->scale < 0 ? (i ? " - " : "-") : " + ");
        int64_t scale = t->scale < 0 ? -t->scale : t->scale;
        if (!t->count || scale != 1) text_add(out, "%lld%s", (long long)scale, t->count ? "*" : "");
        for (int j = 0; j < t->count; j++) {
            text_add(out, "%s", j ? "*" : "");
            finding_name(x->k, t->factor[j], out);
        }
    }
}

/* --- index vectors --- */

typedef struct Sources {
    Access *x;
    Text *out;
    int left;      /* values to look at */
    VEC(Ref) seen; /* bases that were named, and values that were looked at */
} Sources;

static bool is_new(Sources *s, Ref r) {
    for (size_t i = 0; i < s->seen.count; i++)
        if (s->seen.at[i] == r) return false;
    *VEC_PUSH(&s->seen, s->x->a.arena) = r;
    return true;
}

/* The arrays that the numbers of a tile are read from. */
static void name_sources(Sources *s, Ref value) {
    if (!ref_is_value(value) || !ir_type(s->x->k, value)->rank || --s->left < 0 || !is_new(s, value)) return;
    const Value *v = ir_value(s->x->k, value);
    const Op *op = v->op;
    if (!op) { /* of a loop: what it begins with */
        const Op *loop = v->region->owner;
        int at = loop && loop->code == OP_FOR ? 2 + v->index : loop && loop->code == OP_WHILE ? v->index : -1;
        if (at >= 0 && at < loop->operand_count) name_sources(s, loop->operands[at]);
        return;
    }
    if (op->code == OP_LOAD || op->code == OP_TLOAD) {
        Ref from = op->operands[0];
        const Op *made = ir_value(s->x->k, from)->op;
        if (op->code == OP_TLOAD && made && made->code == OP_TENSOR) from = op_operand(made, 0);
        Ref base = ir_type(s->x->k, from)->pointer ? affine_of(&s->x->a, from)->base : from;
        const char *name = base ? ir_value(s->x->k, base)->name : NULL;
        if (!is_new(s, base ? base : from)) return;
        text_add(s->out, "%s%s", s->out->length ? " and " : "numbers from ", name ? name : "memory");
        return;
    }
    for (int i = 0; i < op->operand_count; i++) name_sources(s, op->operands[i]);
}

/* A name, where the vector has one. */
static void show_vector(Access *x, Text *out, const PlanDim *dim) {
    const char *name = dim->part_count == 1 ? ir_value(x->k, dim->part[0].value)->name : NULL;
    text_add(out, "%s", name ? name : dim->part_count ? "(a vector)" : "(rows)");
}

static void report_index(Access *x, Text *out, const PlanDim *dim, int number) {
    Text from = text_new(x->a.arena);
    Sources s = {.x = x, .out = &from, .left = 256};
    for (int i = 0; i < dim->part_count; i++) name_sources(&s, dim->part[i].value);
    const Affine *opaque = dim->part_count ? dim->part[0].opaque : NULL;
    if (from.length)
        text_add(out, "; dimension %d is indexed by %s", number, from.at);
    else if (opaque && opaque->what && *opaque->what)
        text_add(out, "; dimension %d is indexed by a vector that `%s` makes", number, opaque->what);
    else
        text_add(out, "; dimension %d is %s", number, opaque ? "indexed by a vector" : "taken row by row");
    if (dim->run > 1) text_add(out, ", in runs of %lld", (long long)dim->run);
    if (dim->condition_count) text_add(out, ", where its mask holds");
}

static void show_dims(Access *x, Text *out, const Plan *plan) {
    text_add(out, " of %s[", ir_value(x->k, plan->base)->name ? ir_value(x->k, plan->base)->name : "a pointer");
    for (int i = 0; i < plan->dim_count; i++) {
        if (i) text_add(out, ", ");
        for (int j = 0; j < plan->dim[i].limit_count; j++) {
            if (j) text_add(out, " min ");
            show_poly(x, out, plan->dim[i].limit[j], plan);
        }
        if (plan->dim[i].gate)
            text_add(out, "1 if its condition holds");
        else if (!plan->dim[i].limit_count)
            text_add(out, "unbounded");
    }
    text_add(out, "], strides [");
    for (int i = 0; i < plan->dim_count; i++) {
        if (i) text_add(out, ", ");
        show_poly(x, out, plan->dim[i].stride, plan);
    }
    text_add(out, "], at [");
    for (int i = 0; i < plan->dim_count; i++) {
        if (i) text_add(out, ", ");
        if (plan->dim[i].indexed)
            show_vector(x, out, &plan->dim[i]);
        else
            show_poly(x, out, plan->dim[i].offset, plan);
    }
    text_add(out, "]");
}

static void report_gather(Access *x, const Plan *plan) {
    bool load = plan->op->code == OP_LOAD;
    Place place, own;
    char *line = "";
    SourceMap *sources = x->k->module->sources;
    if (source_find(sources, plan->where.begin, &place) && source_find(sources, plan->op->range.begin, &own) &&
        place.line != own.line)
        line = arena_printf(x->a.arena, " (line %d)", place.line);
    Text why = text_new(x->a.arena);
    for (const char *at = reasons[plan->why].why; *at; at++) {
        if (at[0] == '%' && at[1] == 's') {
            text_add(&why, "%s", plan->what);
            at++;
        } else
            text_add_char(&why, *at);
    }
    FindingId id = load ? FIND_LOAD_GATHERS : plan->op->code == OP_STORE ? FIND_STORE_SCATTERS : FIND_ATOMIC_SCATTERS;
    pass_find(x->cx, plan->op->range, id, load ? "gather" : "scatter", why.at, line, reasons[plan->why].help);
}

void access_report(Access *x, const Plan *plan) {
    if (!plan->good) {
        report_gather(x, plan);
        return;
    }
    Text out = text_new(x->a.arena);
    const Type *type = ir_type(x->k, plan->pointer);
    text_add(&out, "box %s", ty_text(ty_tile(x->k->module, type->elem, type->rank, type->extent), x->a.arena));
    show_dims(x, &out, plan);
    bool clipped = plan->keeps_mask, unit = false;
    int64_t number;
    for (int i = 0; i < plan->dim_count; i++) {
        const PlanDim *dim = &plan->dim[i];
        if (dim->wraps) text_add(&out, "; dimension %d wraps around", i);
        if (dim->gave_way)
            text_add(&out, "; %s of dimension %d gave way: a store drops what it would show",
                     dim->clamps ? "clamping" : "wrap-around", i);
        if (dim->indexed) report_index(x, &out, dim, i);
        clipped = clipped || dim->limit_count || dim->condition_count;
        unit = unit || dim->run > 1 ||
               (dim->axis >= 0 && !dim->indexed && poly_const(dim->stride, &number) && number == 1);
    }
    if (plan->op->code == OP_LOAD && clipped) {
        Ref other = plan->op->operand_count > 2 ? plan->op->operands[2] : REF_NONE, fill = access_fill(x->k, other);
        const Literal *l = ref_is_literal(fill) ? ir_literal(x->k, fill) : NULL;
        if (l && elem_is_float(l->type->elem))
            text_add(&out, "; outside %g", l->f);
        else if (!other || l)
            text_add(&out, "; outside %lld", l ? (long long)l->i : 0LL);
        else
            text_add(&out, "; outside a value");
    }
    if (plan->keeps_mask) text_add(&out, "; part of the mask is no box and stays");
    if (plan->permuted) text_add(&out, "; transposed");
    if (plan->box_rank) text_add(&out, unit ? "; contiguous" : "; not known to be contiguous");
    if (poly_is_variant(&x->a, plan->shift)) text_add(&out, "; its base moves");
    Opcode code = plan->op->code;
    FindingId id = code == OP_LOAD ? FIND_LOAD_BOX : code == OP_STORE ? FIND_STORE_BOX : FIND_ATOMIC_BOX;
    pass_find(x->cx, plan->op->range, id, out.at);
}

static bool is_wish(const Access *x, Ref value, AttrId kind) {
    for (size_t i = 0; i < x->a.wishes.count; i++)
        if (x->a.wishes.at[i].value == value && x->a.wishes.at[i].kind == kind) return true;
    return false;
}

/* What access_quotient.c asked for: the least of numbers. */
static void report_least(Access *x, Text *out) {
    for (const Op *op = x->k->body->first_fact; op; op = op->next_fact) {
        const Attr *least = op->code == OP_REQUIRE ? op_attr(op, AT_LEAST) : NULL;
        for (int i = 0; least && i < op->operand_count; i++) {
            if (is_wish(x, op->operands[i], AT_LEAST) || !ref_is_value(op->operands[i])) continue;
            text_add(out, "%s", out->length ? ", " : "");
            finding_name(x->k, op->operands[i], out);
            text_add(out, " >= %lld", (long long)least->number);
        }
    }
}

static void report_wishes(Access *x) {
    Text out = text_new(x->a.arena);
    for (size_t i = 0; i < x->a.wishes.count; i++) {
        const Wish *w = &x->a.wishes.at[i];
        text_add(&out, "%s", i ? ", " : "");
        finding_name(x->k, w->value, &out);
        text_add(&out, " %s %lld", w->kind == AT_EQ ? "=" : ">=", (long long)w->number);
    }
    report_least(x, &out);
    for (size_t i = 0; i < x->exact.count; i++) {
        const Exact *e = &x->exact.at[i];
        int64_t ends[2] = {e->least, e->most};
        for (int j = 0; j < 1 + (e->least != e->most); j++) {
            text_add(&out, "%s", out.length ? ", " : "");
            show_poly(x, &out, poly_add(x->a.arena, e->sum, poly_int(x->a.arena, ends[j])), NULL);
            text_add(&out, " in 32 bits");
        }
    }
    if (x->a.grid_wished) text_add(&out, "%sas many programs as tiles", out.length ? ", " : "");
    if (out.length) pass_find(x->cx, x->k->range, FIND_LAUNCH_REQUIRES, out.at);
}

void access_report_whole(Access *x) {
    size_t boxes = 0, indexed = 0;
    for (size_t i = 0; i < x->plans.count; i++) {
        const Plan *plan = x->plans.at[i];
        bool vector = false;
        for (int d = 0; d < plan->dim_count; d++) vector |= plan->dim[d].indexed;
        boxes += plan->good;
        indexed += plan->good && vector;
    }
    report_wishes(x);
    if (x->plans.count) pass_find(x->cx, x->k->range, FIND_BOXES, boxes, x->plans.count);
    if (indexed) pass_find(x->cx, x->k->range, FIND_INDEXED, indexed);
}
