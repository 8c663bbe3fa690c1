/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c: is this kernel well-formed?
 *
 * Checked: every use sees its definition; types follow the table; regions are closed by the right terminator with the
 * right values; attributes belong to their op and are in their range; slots and rings are used by the ops made for
 * them; nothing stands in a form that should be gone. What a ring must satisfy beyond its types is proved by
 * pass/ring/ring_check.c. */
#include "ir/ringform.h"
#include "ir/tile_layout.h"

typedef struct Verifier {
    const Kernel *k;
    Form form;
    Diag *diag;
    Arena *arena;
    bool *visible; /* by Ref */
    bool good;
} Verifier;

static void complain(Verifier *v, const Op *op, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void complain(Verifier *v, const Op *op, const char *format, ...) {
    va_list args;
    va_start(args, format);
    diag_emit(v->diag, DIAG_IR_INVALID, op->range, op_info[op->code].mnemonic, arena_vprintf(v->arena, format, args));
    va_end(args);
    v->good = false;
}

static void check_uses(Verifier *v, const Op *op) {
    for (int i = 0; i < op->operand_count; i++) {
        Ref ref = op->operands[i];
        if (ref_is_value(ref) && (ref >= v->k->values.count || !v->visible[ref]))
            complain(v, op, "operand %d is not defined before this use, in this or an outer region", i + 1);
    }
    for (int i = 0; i < op->attr_count; i++) {
        const Attr *attr = &op->attrs[i];
        if (!op_allows_attr(op->code, attr->id)) complain(v, op, "it has no attribute `%s`", attr_info[attr->id].text);
        if (attr_info[attr->id].kind == ATTR_REF && ref_is_value(attr->ref) && !v->visible[attr->ref])
            complain(v, op, "`%s` is not defined before this use", attr_info[attr->id].text);
    }
}

/* --- attributes --- */

static bool in_range(const AttrInfo *info, int64_t number) { return number >= info->least && number <= info->most; }

/* The numbers of a list are different, below `limit`, and (ascending) in their order. */
static bool is_choice(const Attr *attr, int limit, bool ascending) {
    uint64_t seen = 0;
    for (int i = 0; i < attr->list.count; i++) {
        int64_t n = attr->list.at[i];
        if (n < 0 || n >= limit || (ascending ? seen >> n : seen >> n & 1)) return false;
        seen |= (uint64_t)1 << n;
    }
    return true;
}

/* A vector has an index for each place of the box along its dimension. */
static void check_index_vectors(Verifier *v, const Op *op, const Type *tensor, const Type *box) {
    RefList offsets = op_list(op, 0);
    for (int dim = 0; dim < tensor->rank; dim++) {
        const Type *offset = ir_type(v->k, offsets.at[dim]);
        int axis = box_axis(op, tensor->rank, box->rank, dim);
        if (!offset->rank) continue;
        if (axis < 0)
            complain(v, op, "the box has no axis along dimension %d: its offset there must be a scalar, it is %s", dim,
                     ty_text(offset, v->arena));
        else if (offset->extent[0] != box->extent[axis])
            complain(v, op, "along dimension %d the box has %lld places, the index vector is %s", dim,
                     (long long)box->extent[axis], ty_text(offset, v->arena));
        if (box_wraps(op, dim)) complain(v, op, "an index vector does not wrap" FIX "take its `mod` instead");
    }
}

/* Runs of the last dimension's index vector: whole ones. */
static void check_run(Verifier *v, const Op *op, const Type *tensor, const Type *box) {
    int64_t run = op_int(op, AT_RUN, 1), extent = box->rank ? box->extent[box->rank - 1] : 1;
    if (run == 1 && !op_flag(op, AT_NEAR)) return;
    Ref last = op_list(op, 0).at[tensor->rank - 1];
    if (!ir_type(v->k, last)->rank)
        complain(v, op, "`run` and `near` are of an index vector along the last dimension, which has none");
    else if ((run & (run - 1)) || extent % run)
        complain(v, op, "`run` must be a power of two that divides the %lld places along the last dimension",
                 (long long)extent);
}

/* A box: which dimensions of the tensor it covers, in their order, which of them wrap, and what lies outside. */
static void check_box(Verifier *v, const Op *op) {
    const Type *tensor = ir_type(v->k, op->operands[0]);
    const Type *box = op->code == OP_TLOAD ? ir_type(v->k, op->results[0]) : ir_type(v->k, op_operand(op, 1));
    const Attr *dims = op_attr(op, AT_DIMS), *wrap = op_attr(op, AT_WRAP), *fill = op_attr(op, AT_FILL);
    if (dims && (dims->list.count != box->rank || !is_choice(dims, tensor->rank, true)))
        complain(v, op, "`dims` must name %d of the tensor's %d dimensions, in their order", box->rank, tensor->rank);
    if (wrap && !is_choice(wrap, tensor->rank, false))
        complain(v, op, "`wrap` must name dimensions of the tensor, each once; it has %d", tensor->rank);
    if (v->good) check_index_vectors(v, op, tensor, box);
    if (v->good) check_run(v, op, tensor, box);
    const Type *type = fill && fill->ref ? ir_type(v->k, fill->ref) : NULL;
    if (fill && (!type || !ty_is_scalar(type) || type->pointer || type->elem != tensor->elem))
        complain(v, op, "`fill` must be a scalar of type %s", elem_info[tensor->elem].text);
}

/* The stamp of a sum names each bit of the padded index once. */
static void check_order(Verifier *v, const Op *op) {
    const Attr *order = op_attr(op, AT_BITS);
    int64_t n = ir_type(v->k, op->operands[0])->extent[op_int(op, AT_AXIS, 0)];
    int bits = 0;
    while ((int64_t)1 << bits < n) bits++;
    if (order && (order->list.count != bits || !is_choice(order, bits, false)))
        complain(v, op, "`order` must name each of the %d bits of an index of the axis once", bits);
}

/* Which elements can be combined in which way. */
static void check_combine(Verifier *v, const Op *op) {
    Word kind = op_word(op, AT_COMBINE, WORD_NONE);
    bool atomic = op->code == OP_ATOMIC || op->code == OP_TATOMIC || op->code == OP_BATOMIC;
    bool index = kind == COMBINE_ARGMIN || kind == COMBINE_ARGMAX;
    bool bits = kind == COMBINE_AND || kind == COMBINE_OR || kind == COMBINE_XOR;
    if (atomic ? index || kind == COMBINE_REGION : kind == COMBINE_XCHG || (index && op->code == OP_SCAN))
        complain(v, op, "it does not combine by `%s`", word_info[kind].text);
    if (kind != COMBINE_REGION && !atomic && op->operand_count != 1)
        complain(v, op, "`%s` combines one tile; several need a region", word_info[kind].text);
    for (int i = atomic; i < op->operand_count; i++) {
        const Type *t = op->operands[i] ? ir_type(v->k, op->operands[i]) : NULL;
        if (!t || t->kind != TY_TILE) continue;
        if (t->pointer) complain(v, op, "pointers are not combined");
        if (bits && elem_is_float(t->elem))
            complain(v, op, "`%s` combines bits, not %s", word_info[kind].text, elem_info[t->elem].text);
    }
}

static void check_function(Verifier *v, const Op *op) {
    static const Word of_two[] = {MATH_ATAN2, MATH_POW,       MATH_FMOD,      MATH_HYPOT, MATH_COPYSIGN,
                                  MATH_FDIM,  MATH_REMAINDER, MATH_NEXTAFTER, MATH_LDEXP, MATH_RHYPOT};
    Word fn = op_word(op, AT_FN, WORD_NONE);
    int wants = 1, has = 0;
    for (size_t i = 0; i < sizeof of_two / sizeof *of_two; i++) wants += of_two[i] == fn;
    for (int i = 0; i < op->operand_count; i++) has += op->operands[i] != REF_NONE;
    if (has != wants) complain(v, op, "`%s` takes %d operand%s", word_info[fn].text, wants, wants > 1 ? "s" : "");
}

/* Every number in the range of its attribute (attrs.def), and what the op itself asks of them. */
static void check_attributes(Verifier *v, const Op *op) {
    AttrId missing = op_missing_attr(op->code, op);
    if (missing) complain(v, op, "`%s` must be given", attr_info[missing].text);
    for (int i = 0; i < op->attr_count; i++) {
        const Attr *attr = &op->attrs[i];
        const AttrInfo *info = &attr_info[attr->id];
        bool list = info->kind == ATTR_INTS, good = true;
        for (int n = 0; list && n < attr->list.count; n++) good &= in_range(info, attr->list.at[n]);
        if (info->kind == ATTR_INT) good = in_range(info, attr->number);
        if (!good)
            complain(v, op, "`%s` must be in %lld .. %lld", info->text, (long long)info->least, (long long)info->most);
        if (info->kind == ATTR_ENUM && word_info[attr->word].set != info->set)
            complain(v, op, "`%s` is no word of `%s`", word_info[attr->word].text, info->text);
    }
    if (!v->good) return;
    switch (op->code) {
    case OP_PROGRAM_ID:
    case OP_NUM_PROGRAMS:
        if (op_int(op, AT_DIM, 0) > 2) complain(v, op, "a grid has 3 dimensions: 0, 1 and 2");
        break;
    case OP_TLOAD:
    case OP_TSTORE:
    case OP_TATOMIC: check_box(v, op); break;
    case OP_REDUCE:
    case OP_SCAN: check_order(v, op); break;
    case OP_RING: {
        const Attr *overlay = op_attr(op, AT_OVERLAY);
        if (overlay && (!ref_is_value(overlay->ref) || ir_type(v->k, overlay->ref)->kind != TY_RING))
            complain(v, op, "`overlay` names a ring");
        break;
    }
    case OP_MATH: check_function(v, op); break;
    default: break;
    }
    if (op_attr(op, AT_COMBINE) && op->code != OP_SCATTER) check_combine(v, op); /* of a scatter: infer.c */
}

static void check_types(Verifier *v, const Op *op) {
    const Type **types = ARENA_ARRAY(v->arena, const Type *, op->operand_count + MAX_MAP_RESULTS);
    int count = 0;
    const char *why = "";
    bool given = op_info[op->code].result == RES_GIVEN;
    const Type *written = given && op->result_count ? ir_type(v->k, op->results[0]) : NULL;
    if (!ir_infer((Kernel *)v->k, op, written, types, &count, &why)) {
        complain(v, op, "%s", why);
        return;
    }
    if (op->code == OP_IF) return; /* its results are checked against its yields */
    if (count != op->result_count) {
        complain(v, op, "%d results where the rule gives %d", op->result_count, count);
        return;
    }
    for (int i = 0; i < count; i++)
        if (types[i] != ir_type(v->k, op->results[i]))
            complain(v, op, "result %d is %s where the rule gives %s", i + 1,
                     ty_text(ir_type(v->k, op->results[i]), v->arena), ty_text(types[i], v->arena));
}

/* The last op of the region hands on values of these types. */
static void check_terminator(Verifier *v, const Op *op, const Region *region, Opcode code, int skip, int count,
                             const Ref *like) {
    const Op *last = region->last;
    if (!last || last->code != code) {
        complain(v, op, "its region must end in `%s`", op_info[code].mnemonic);
        return;
    }
    if (last->operand_count - skip != count) {
        complain(v, last, "%d values are handed on, %d are expected", last->operand_count - skip, count);
        return;
    }
    for (int i = 0; i < count; i++)
        if (ir_type(v->k, last->operands[skip + i]) != ir_type(v->k, like[i]))
            complain(v, last, "value %d is %s, expected is %s", i + 1,
                     ty_text(ir_type(v->k, last->operands[skip + i]), v->arena),
                     ty_text(ir_type(v->k, like[i]), v->arena));
}

static bool need_regions(Verifier *v, const Op *op, int least, int most) {
    if (op->region_count >= least && op->region_count <= most) return true;
    complain(v, op, "it has %d regions", op->region_count);
    return false;
}

static bool need_args(Verifier *v, const Op *op, const Region *region, int count) {
    if (region->arg_count == count) return true;
    complain(v, op, "its region has %d arguments, %d are expected", region->arg_count, count);
    return false;
}

/* An argument of the region stands for one element of a tile. */
static void check_element_argument(Verifier *v, const Op *op, int i, const Type *tile) {
    const Type *argument = ir_type(v->k, op->regions[0]->args[i]);
    if (!ty_is_scalar(argument) || argument->elem != tile->elem)
        complain(v, op, "argument %d of its region does not match its operand", i + 1);
}

static void check_combiner(Verifier *v, const Op *op) {
    bool wants = op_word(op, AT_COMBINE, WORD_NONE) == COMBINE_REGION;
    if (!need_regions(v, op, wants, wants) || !wants) return;
    const Region *region = op->regions[0];
    if (!need_args(v, op, region, 2 * op->operand_count)) return;
    for (int i = 0; i < region->arg_count; i++)
        check_element_argument(v, op, i, ir_type(v->k, op->operands[i % op->operand_count]));
    check_terminator(v, op, region, OP_YIELD, 0, op->operand_count, region->args);
}

static void check_tasks(Verifier *v, const Op *op) {
    if (!need_regions(v, op, 1, 2)) return;
    const Region *body = tasks_body(op);
    if (op != tasks_of(v->k)) complain(v, op, "a kernel has one, in its own region");
    for (const Op *role = role_first(op); role; role = role_next(role)) {
        if (role_find(op, role_name(role)) != role) complain(v, role, "there is a role `%s` already", role_text(role));
        const Op *host = role_is_guest(role) ? role_find(op, role_host(role)) : role;
        if (!host || (host == role) == role_is_guest(role) || (host != role && role_is_guest(host)))
            complain(v, role, "`on` names another role of these tasks, one that has workers of its own");
    }
    if (op->region_count == 1)
        need_args(v, op, body, op->operand_count);
    else if (need_args(v, op, op->regions[0], 1) && op->regions[0]->last)
        check_terminator(v, op, op->regions[0], OP_TEST, 1, body->arg_count, body->args);
    check_terminator(v, op, body, OP_YIELD, 0, 0, NULL);
}

/* One region that all workers run, or one for each of them. */
static void check_spmd(Verifier *v, const Op *op) {
    int64_t workers = 0;
    if (op->operand_count < 1 || op->operand_count > 3) complain(v, op, "its workers have one to three extents");
    if (op->region_count > 1) {
        bool known = op->operand_count == 1 && ir_const_int(v->k, op->operands[0], &workers);
        if (!known || workers != op->region_count || op_word(op, AT_UNIT, UNIT_THREAD) == UNIT_THREAD) {
            complain(v, op, "it has one region, or one for each of its workers, which are warps or warpgroups");
            return;
        }
    } else if (!need_regions(v, op, 1, 1)) {
        return;
    }
    for (int r = 0; r < op->region_count; r++)
        if (need_args(v, op, op->regions[r], r ? 0 : op->operand_count))
            check_terminator(v, op, op->regions[r], OP_YIELD, 0, 0, NULL);
}

static void check_structure(Verifier *v, const Op *op) {
    switch (op->code) {
    case OP_FOR: {
        int carried = op->operand_count - 3;
        for (int i = 0; i < 3; i++)
            if (ir_type(v->k, op->operands[i])->rank) complain(v, op, "its bounds must be scalars");
        if (!need_regions(v, op, 1, 1) || !need_args(v, op, op->regions[0], carried + 1)) return;
        check_terminator(v, op, op->regions[0], OP_YIELD, 0, carried, op->operands + 3);
        for (int i = 0; i < carried; i++)
            if (ir_type(v->k, op->regions[0]->args[i + 1]) != ir_type(v->k, op->operands[3 + i]))
                complain(v, op, "carried value %d changes its type", i + 1);
        break;
    }
    case OP_WHILE:
        if (!need_regions(v, op, 2, 2) || !need_args(v, op, op->regions[0], op->operand_count) ||
            !need_args(v, op, op->regions[1], op->operand_count))
            return;
        check_terminator(v, op, op->regions[0], OP_TEST, 1, op->operand_count, op->operands);
        if (v->good && ir_type(v->k, op->regions[0]->last->operands[0])->rank)
            complain(v, op->regions[0]->last, "its condition must be a scalar");
        check_terminator(v, op, op->regions[1], OP_YIELD, 0, op->operand_count, op->operands);
        break;
    case OP_IF:
        if (!need_regions(v, op, 2, 2)) return;
        if (!ty_is_scalar(ir_type(v->k, op->operands[0]))) complain(v, op, "its condition must be a scalar");
        for (int i = 0; i < 2; i++) check_terminator(v, op, op->regions[i], OP_YIELD, 0, op->result_count, op->results);
        break;
    case OP_PARALLEL:
        if (op->operand_count > MAX_RANK) complain(v, op, "it has more variables than a tile may have axes, 12");
        if (need_regions(v, op, 1, 1) && need_args(v, op, op->regions[0], op->operand_count))
            check_terminator(v, op, op->regions[0], OP_YIELD, 0, 0, NULL);
        break;
    case OP_SPMD:
        check_spmd(v, op);
        break;
    case OP_ROLE:
        if (need_regions(v, op, 1, 1) && need_args(v, op, op->regions[0], 0))
            check_terminator(v, op, op->regions[0], OP_YIELD, 0, 0, NULL);
        break;
    case OP_TASKS: check_tasks(v, op); break;
    case OP_REDUCE:
    case OP_SCAN: check_combiner(v, op); break;
    case OP_MAP:
        if (!need_regions(v, op, 1, 1) || !need_args(v, op, op->regions[0], op->operand_count)) return;
        for (int i = 0; i < op->operand_count; i++) check_element_argument(v, op, i, ir_type(v->k, op->operands[i]));
        break;
    default: need_regions(v, op, 0, 0);
    }
}

/* Every tile of layout form lives somewhere, and of the layout it says so much that emitters can rely on; in the forms
 * before there are none. */
static void check_layout(Verifier *v, const Op *op, Ref ref) {
    const Value *value = ir_value(v->k, ref);
    bool tile = value->type->kind == TY_TILE && value->type->rank > 0, ring = value->type->kind == TY_RING;
    const Layout *layout = value->layout;
    if (v->form < FORM_LAYOUT) {
        if (layout) complain(v, op, "a layout stands in layout form only: `kernel @name(..) <form=layout>`");
        return;
    }
    if (!tile && !ring && !layout) return; /* a buffer's rows may lie in panels */
    if (!layout && ring && !value->type->field_count) return;
    if (!layout) {
        complain(v, op,
                 tile ? "in layout form every tile has a layout" : "in layout form the fields of a ring have layouts");
        return;
    }
    const char *fault = layout_fault(layout, value->type, v->arena);
    if (fault) complain(v, op, "%s", fault);
}

/* What must be gone in a form. */
static void check_form(Verifier *v, const Op *op) {
    if (op->code == OP_CONVERT && v->form < FORM_LAYOUT) complain(v, op, "it stands in layout form only");
    const Layout *layout = op->code == OP_BLOAD ? ir_value(v->k, op->results[0])->layout : NULL;
    if (op->code == OP_BLOAD && op_attr(op, AT_BOX) && (!layout || layout->home != HOME_SHARED))
        complain(v, op, "`box` is of what lives in shared memory, in layout form");
    if (op->code == OP_ROLE && (!op->parent->owner || op->parent->owner->code != OP_TASKS))
        complain(v, op, "a role stands directly in `tasks`");
    if (op->code == OP_RING && op->parent->owner) complain(v, op, "a ring stands in the kernel's own region");
    if (op->code == OP_RETURN && op->parent->owner) complain(v, op, "it only closes the kernel");
    if (op_has(op->code, TRAIT_TERMINATOR) && op->next) complain(v, op, "it must be the last op of its region");
}

static void check_region(Verifier *v, const Region *region) {
    for (int i = 0; i < region->arg_count; i++) v->visible[region->args[i]] = true;
    for (const Op *op = region->first; op; op = op->next) {
        check_uses(v, op);
        if (!v->good) return; /* types of broken references cannot be looked at */
        check_types(v, op);
        if (v->good) check_attributes(v, op);
        check_form(v, op);
        for (int i = 0; i < op->result_count; i++) check_layout(v, op, op->results[i]);
        for (int i = 0; i < op->region_count; i++) {
            for (int a = 0; a < op->regions[i]->arg_count; a++) check_layout(v, op, op->regions[i]->args[a]);
            check_region(v, op->regions[i]);
        }
        if (!v->good) return;
        check_structure(v, op);
        for (int i = 0; i < op->result_count; i++) v->visible[op->results[i]] = true;
    }
    for (int i = 0; i < region->arg_count; i++) v->visible[region->args[i]] = false;
    for (const Op *op = region->first; op; op = op->next)
        for (int i = 0; i < op->result_count; i++) v->visible[op->results[i]] = false;
}

/* What is wrong with a list of numbers of a kernel; NULL: nothing, or it is none. */
static const char *list_fault(const Attr *attr) {
    const AttrInfo *info = &attr_info[attr->id];
    if (info->kind != ATTR_INTS) return NULL;
    int wants = attr->id == AT_TT_RECT ? 4 : 2;
    if (attr->list.count != wants) return wants == 4 ? "is no list of 4 numbers" : "is no list of 2 numbers";
    for (int i = 0; i < attr->list.count; i++)
        if (!in_range(info, attr->list.at[i])) return "is out of its range";
    return NULL;
}

bool ir_verify(const Kernel *k, Form form, Diag *diag) {
    Arena *arena = k->module->arena;
    Verifier v = {k, form, diag, arena, ARENA_ARRAY(arena, bool, k->values.count), true};
    if (!k->body->last || k->body->last->code != OP_RETURN) {
        diag_emit(diag, DIAG_IR_INVALID, k->range, k->name, "a kernel must end in `return`");
        return false;
    }
    for (int i = 0; i < k->body->arg_count; i++) {
        const Value *param = ir_value(k, k->body->args[i]);
        if (param->type->kind == TY_TENSOR || ty_is_scalar(param->type)) continue;
        diag_emit(diag, DIAG_IR_INVALID, k->range, k->name,
                  arena_printf(arena, "parameter `%s` is %s; a kernel takes scalars, pointers and tensors",
                               param->name ? param->name : "", ty_text(param->type, arena)));
        return false;
    }
    for (int i = 0; i < k->attr_count; i++) {
        const AttrInfo *info = &attr_info[k->attrs[i].id];
        const char *fault = !op_allows_attr(OP_NONE, k->attrs[i].id) ? "is no attribute of a kernel"
                            : info->kind == ATTR_INT && !in_range(info, k->attrs[i].number) ? "is out of its range"
                                                                                            : list_fault(&k->attrs[i]);
        if (!fault) continue;
        diag_emit(diag, DIAG_IR_INVALID, k->range, k->name, arena_printf(arena, "`%s` %s", info->text, fault));
        return false;
    }
    if (k->grid) {
        check_region(&v, k->grid);
        const Op *last = k->grid->last;
        bool closed = last && last->code == OP_YIELD && last->operand_count >= 1 && last->operand_count <= 3;
        if (!closed) {
            diag_emit(diag, DIAG_IR_INVALID, k->range, k->name, "its grid must yield 1 to 3 numbers");
            v.good = false;
        }
    }
    check_region(&v, k->body);
    return v.good;
}
