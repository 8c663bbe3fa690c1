/* SPDX-License-Identifier: Apache-2.0 */
/* tt_graph.c: from an expression of the IR to calls of tt_ops.def, in an order and with slots of
 * DST; see tt_section.c.
 *
 * Leaves are copies from CBs (with a broadcast, where the tile is smaller than the result),
 * numbers, products and reductions of tiles in CBs. A product or sum of two 16-bit CBs goes
 * straight through the FPU when its result is a 16-bit type. The heavier operand is computed first,
 * so few values are alive at a time; calls in place take their operand's slot, on a copy if it is
 * needed again. What the FPU adds to (dot, reduce, mul_tiles) needs a slot that nothing has used in
 * the section. */
#include "target/tenstorrent/tt_graph.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- reading tiles */

static const Op *op_of(const Tt *tt, Ref value) { return ref_is_value(value) ? ir_value(tt->k, value)->op : NULL; }

/* The CB that copy_tile can read the value from; -1: it must be computed. */
static int move_view(Compute *c, Ref value) {
    Tt *tt = c->role.tt;
    if (!ref_is_value(value)) return -1;
    if (c->home[value] >= 0) return c->home[value];
    const Op *op = op_of(tt, value);
    return op && op->code == OP_GET ? tt_field(tt, op)->cb : -1;
}

/* An item's own CB, unless it was packed away: its pages may be gone. */
static int fpu_cb(Compute *c, Ref value) {
    const Op *op = op_of(c->role.tt, value);
    if (c->fpu_home[value] >= 0) return c->fpu_home[value];
    return op && op->code == OP_GET && c->home[value] < 0 ? tt_field(c->role.tt, op)->fpu_cb : -1;
}

bool section_fpu_view(Compute *c, Ref value, int *cb, bool *turned) {
    Tt *tt = c->role.tt;
    *turned = false;
    value = tt_same_pages(tt, value);
    if (!ref_is_value(value)) return false;
    *cb = fpu_cb(c, value);
    const Op *op = op_of(tt, value);
    if (*cb < 0 && op && op->code == OP_PERMUTE && ir_type(tt->k, value)->rank == 2) {
        Ref inner = tt_same_pages(tt, op->operands[0]);
        *turned = op_attr(op, AT_DIMS)->list.at[0] == 1;
        if (ref_is_value(inner)) *cb = fpu_cb(c, inner);
    }
    return *cb >= 0;
}

/* A tile or number that an elementwise op reads smaller than its result. */
static TtSpread spread_of(const Type *part, const Type *whole) {
    if (part->rank == 0 || ty_elements(part) == ty_elements(whole)) return SPREAD_NONE;
    if (ty_elements(part) == 1) return SPREAD_SCALAR;
    bool one_row = part->rank < 2 || (part->extent[part->rank - 2] == 1 && whole->extent[whole->rank - 2] != 1);
    bool one_column = part->extent[part->rank - 1] == 1 && whole->extent[whole->rank - 1] != 1;
    return one_row && one_column ? SPREAD_SCALAR : one_column ? SPREAD_COLUMN : SPREAD_ROW;
}

/* --------------------------------------------------------------------------------------- what must lie in a CB */

static bool is_splat(const Tt *tt, Ref value, double number) {
    const Op *op = op_of(tt, value);
    Ref scalar = op && op->code == OP_SPLAT ? op->operands[0] : value;
    return ref_is_literal(scalar) && elem_is_float(ir_literal(tt->k, scalar)->type->elem) &&
           ir_literal(tt->k, scalar)->f == number;
}

static bool prepare(Compute *c, const Root *root, Ref value, bool dry, Map *seen) {
    Tt *tt = c->role.tt;
    value = tt_same_pages(tt, value);
    if (!ref_is_value(value) || value == root->without || value == c->in_dst || move_view(c, value) >= 0) return false;
    if (!map_meets(seen, tt->arena, value)) return false;
    const Op *op = op_of(tt, value);
    if (!op || op->region_count) return false;
    bool spills = false;
    int fpu_operands = op->code == OP_DOT ? 2 : op->code == OP_REDUCE ? 1 : 0;
    for (int i = 0; i < op->operand_count; i++) {
        Ref part = op->operands[i];
        int cb;
        bool turned;
        if (part == REF_NONE || ir_type(tt->k, part)->kind == TY_TENSOR || ty_is_scalar(ir_type(tt->k, part))) continue;
        if (i < fpu_operands) {
            /* The matrix unit transposes its right operand only. */
            if (section_fpu_view(c, part, &cb, &turned) && !(turned && i == 0)) continue;
            spills = true;
            if (!dry) compute_spill(c, tt_same_pages(tt, part), true, root->op);
            continue;
        }
        Ref same = tt_same_pages(tt, part);
        const Op *source = op_of(tt, same);
        bool is_smaller = op->code != OP_PERMUTE && op->result_count &&
                          ty_elements(ir_type(tt->k, part)) != ty_elements(ir_type(tt->k, op->results[0]));
        TtPart inserted;
        bool is_insert = tt_part_pages(tt, same, &inserted) && inserted.op->code == OP_INSERT;
        bool wants_cb = (is_smaller || is_insert || op->code == OP_PERMUTE) &&
                        !(source && (source->code == OP_SPLAT || source->code == OP_BROADCAST));
        if (wants_cb && move_view(c, same) < 0) {
            spills = true;
            if (!dry) compute_spill(c, same, false, root->op);
            continue;
        }
        spills |= prepare(c, root, part, dry, seen);
    }
    return spills;
}

bool graph_prepare(Compute *c, const Root *root, Ref value, bool dry) {
    return prepare(c, root, value, dry, &(Map){0});
}

/* ----------------------------------------------------------------------------------------------------- the graph */

static int add_node(Section *s, Node node) {
    int weight = 0, equal = 0;
    for (int i = 0; i < node.in_count; i++) {
        Node *in = &s->nodes.at[node.in[i]];
        in->uses++;
        if (in->weight > weight) weight = in->weight, equal = 0;
        equal += in->weight == weight;
    }
    node.weight = weight + (equal > 1 ? equal - 1 : 0);
    if (node.weight < 1) node.weight = 1;
    node.slot = -1;
    *VEC_PUSH(&s->nodes, section_tt(s)->arena) = node;
    return (int)s->nodes.count - 1;
}

static int build(Section *s, Ref value, const Type *as);

static int fill_node(Section *s, Ref scalar) {
    Role *role = &s->c->role;
    int cb = move_view(s->c, scalar); /* a page that is full of it */
    if (cb >= 0) return add_node(s, (Node){.kind = NODE_COPY, .cb = cb, .single = true});
    const char *text = role_ref(role, scalar);
    Elem elem = ir_type(role->tt->k, scalar)->elem;
    if (!elem_is_float(elem)) text = arena_printf(role->tt->arena, "(f32)%s", text);
    return add_node(s, (Node){.kind = NODE_FILL, .number = text});
}

/* The bits of a float, as text. */
static const char *bits_text(Section *s, Ref scalar) {
    Role *role = &s->c->role;
    if (ref_is_literal(scalar)) {
        float number = (float)ir_literal(role->tt->k, scalar)->f;
        uint32_t bits;
        memcpy(&bits, &number, 4);
        return arena_printf(role->tt->arena, "0x%08" PRIx32 "u /* %g */", bits, (double)number);
    }
    return arena_printf(role->tt->arena, "tw_as_u32(%s)", role_ref(role, scalar));
}

static int call_node(Section *s, const CallRow *row, const Op *op, int count, const int *in, const char *number) {
    Node node = {.kind = NODE_CALL, .row = row, .op = op, .in_count = count, .number = number};
    for (int i = 0; i < count; i++) node.in[i] = in[i];
    return add_node(s, node);
}

/* A scalar, or a tile that is one number. */
static Ref number_of(Tt *tt, Ref value) {
    const Op *op = op_of(tt, value);
    while (op &&
           (op->code == OP_SPLAT || op->code == OP_BROADCAST || op->code == OP_EXPAND || op->code == OP_RESHAPE)) {
        value = op->operands[0];
        op = op_of(tt, value);
    }
    bool in_page = op && (op->code == OP_GET || tt_is_read(tt, value));
    return ty_is_scalar(ir_type(tt->k, value)) && elem_is_float(ir_type(tt->k, value)->elem) && !in_page ? value :
        REF_NONE;
}

static bool is_power_of_two(const Tt *tt, Ref number) {
    int exponent;
    if (!ref_is_literal(number)) return false;
    double x = ir_literal(tt->k, number)->f;
    return isfinite(x) && fabs(frexp(x, &exponent)) == 0.5 && exponent > -100 && exponent < 100;
}

/* A tile and a number: one call in place, if the table has it. */
static int build_with_number(Section *s, Opcode code, const Op *op, Ref left, Ref right) {
    Tt *tt = section_tt(s);
    Ref number = number_of(tt, right);
    bool commutes = code == OP_ADD || code == OP_MUL || code == OP_MIN || code == OP_MAX;
    if (!number && commutes && number_of(tt, left)) return build_with_number(s, code, op, right, left);
    if (code == OP_DIV && number && is_power_of_two(tt, number)) {
        int in = build(s, left, s->type);
        float inverse = (float)(1 / ir_literal(tt->k, number)->f);
        uint32_t bits;
        memcpy(&bits, &inverse, 4);
        return call_node(s, call_row(OP_MUL, WORD_NONE, TAKES_NUMBER), op, 1, &in,
                         arena_printf(tt->arena, "0x%08" PRIx32 "u /* %g */", bits, (double)inverse));
    }
    const CallRow *row = NULL;
    if (number && is_splat(tt, number, 0)) row = call_row(code, WORD_NONE, TAKES_ZERO);
    if (number && !row) row = call_row(code, WORD_NONE, TAKES_NUMBER);
    Ref tile = left;
    if (!row && (number = number_of(tt, left))) {
        row = call_row(code, WORD_NONE, TAKES_LEFT);
        tile = right;
    }
    if (!row || number_of(tt, tile)) return -1;
    int in = build(s, tile, s->type);
    return call_node(s, row, op, 1, &in, row->form == TAKES_ZERO ? NULL : bits_text(s, number));
}

static bool is_plain_copy(const Section *s, int node) {
    const Node *n = &s->nodes.at[node];
    return n->kind == NODE_COPY && n->spread == SPREAD_NONE && !n->turned &&
           section_cb(s, n->cb)->desc.format == TT_Float16_b;
}

static int build_two(Section *s, Opcode code, Word word, const Op *op, const int *in) {
    const CallRow *fpu = call_row(code, word, TAKES_FPU);
    Elem elem = op->result_count ? ir_type(section_tt(s)->k, op->results[0])->elem : EL_F32;
    if (fpu && elem != EL_F32 && is_plain_copy(s, in[0]) && is_plain_copy(s, in[1]))
        return add_node(
            s,
            (Node){.kind = NODE_FPU, .row = fpu, .op = op, .cb = s->nodes.at[in[0]].cb, .cb2 = s->nodes.at[in[1]].cb});
    return call_node(s, call_row(code, word, TAKES_SLOTS), op, 2, in, NULL);
}

static int refuse_op(Section *s, const Op *op) {
    const Type *type = op->result_count ? ir_type(section_tt(s)->k, op->results[0]) : NULL;
    if (!section_tt(s)->cx->module->diag->errors) /* else it may follow from what was refused */
        tt_refuse(section_tt(s), op, "`%s`%s%s has no lowering yet"
                                     FIX "write it with other operations, or use target cpu",
                  op_info[op->code].mnemonic, type ? " on " : "", type ? ty_text(type, section_tt(s)->arena) : "");
    return add_node(s, (Node){.kind = NODE_FILL, .number = "0.0f"});
}

/* The units order numbers by sign and magnitude: of a NaN and infinity the smaller is infinity. */
static void refuse_kept_nan(Section *s, const Op *op) {
    if (op_word(op, AT_NAN, NAN_DROP) == NAN_KEEP)
        tt_refuse(section_tt(s), op, "a minimum or maximum that keeps NaN"
                      FIX "test for it, as in tl.where(x != x, ..)");
}

static int build_elementwise(Section *s, const Op *op, Word word) {
    Tt *tt = section_tt(s);
    int in[3] = {0};
    Elem elem = ir_type(tt->k, op->results[0])->elem;
    bool keeps = (op->code == OP_ADD && elem == EL_I32) || op->code == OP_SELECT || op->code == OP_MIN || op->code ==
        OP_MAX;
    bool is_float = elem_is_float(elem) && elem_info[elem].bits >= 16;
    if (!is_float && elem != EL_I1 && !keeps) return refuse_op(s, op); /* small integers and floats are only held */
    refuse_kept_nan(s, op);
    if (op->code == OP_FMA || op->code == OP_LOG2 || op->code == OP_CAST) {
        if (op->code == OP_CAST && ir_type(tt->k, op->operands[0])->elem != EL_F32) return refuse_op(s, op);
        in[0] = build(s, op->operands[0], s->type);
        if (op->code == OP_CAST) return call_node(s, call_row(OP_CAST, WORD_NONE, TAKES_SLOT), op, 1, in, NULL);
        if (op->code == OP_LOG2) {
            in[0] = call_node(s, call_row(OP_LOG, WORD_NONE, TAKES_SLOT), op, 1, in, NULL);
            return call_node(s, call_row(OP_MUL, WORD_NONE, TAKES_NUMBER), op, 1, in, "0x3fb8aa3bu /* 1 / ln 2 */");
        }
        in[1] = build(s, op->operands[1], s->type);
        in[0] = call_node(s, call_row(OP_MUL, WORD_NONE, TAKES_SLOTS), op, 2, in, NULL);
        if (op->operands[2] == s->root->without) return in[0];
        in[1] = build(s, op->operands[2], s->type);
        return call_node(s, call_row(OP_ADD, WORD_NONE, TAKES_SLOTS), op, 2, in, NULL);
    }
    if (op->operand_count == 2 && op->operands[0] == s->root->without) return build(s, op->operands[1], s->type);
    if (op->operand_count == 2 && op->operands[1] == s->root->without) return build(s, op->operands[0], s->type);
    if (op->operand_count == 2) {
        int node = build_with_number(s, op->code, op, op->operands[0], op->operands[1]);
        if (node >= 0) return node;
    }
    CallForm form = op->operand_count == 1 ? TAKES_SLOT : op->operand_count == 2 ? TAKES_SLOTS : TAKES_TRIPLE;
    bool is_math = op->code == OP_MATH && word == MATH_POW;
    if (is_math) form = TAKES_SLOTS;
    const CallRow *row = call_row(op->code, word, form);
    bool is_logic = op->code == OP_AND || op->code == OP_OR || op->code == OP_XOR || op->code == OP_NOT;
    if (!row || (is_logic && ir_type(tt->k, op->results[0])->elem != EL_I1)) return refuse_op(s, op);
    int count = form == TAKES_SLOT ? 1 : form == TAKES_SLOTS ? 2 : 3;
    for (int i = 0; i < count; i++) in[i] = build(s, op->operands[i], s->type);
    return form == TAKES_SLOTS ? build_two(s, op->code, word, op, in) : call_node(s, row, op, count, in, NULL);
}

/* The axis over which the op sums, when padding must be neutral. */
static void check_padding(Section *s, const Op *op, Ref operand, int axis, double neutral) {
    const Type *type = ir_type(section_tt(s)->k, operand);
    double number = NAN;
    if (type->extent[axis] % PAGE_SIDE == 0) return;
    if (tt_padding(section_tt(s), operand, &number) && number == neutral) return;
    tt_refuse(section_tt(s), op,
              "`%s` along an axis of %lld, which is padded to pages of 32 with values that are not "
              "neutral" FIX "use a multiple of 32",
              op_info[op->code].mnemonic, (long long)type->extent[axis]);
}

static int build_dot(Section *s, const Op *op) {
    Tt *tt = section_tt(s);
    Node node = {.kind = NODE_DOT, .op = op};
    bool turned;
    int rank = ir_type(tt->k, op->operands[0])->rank;
    if (rank > 3) return refuse_op(s, op);
    check_padding(s, op, op->operands[0], rank - 1, 0);
    check_padding(s, op, op->operands[1], rank - 2, 0);
    if (!section_fpu_view(s->c, op->operands[0], &node.cb, &turned) ||
        !section_fpu_view(s->c, op->operands[1], &node.cb2, &node.turned))
        return refuse_op(s, op);
    if (turned) return refuse_op(s, op);
    s->is_grid = true;
    if (op->operands[2] != s->root->without && !is_splat(tt, op->operands[2], 0)) {
        node.in[0] = build(s, op->operands[2], s->type);
        node.in_count = 1;
    }
    return add_node(s, node);
}

static int build_reduce(Section *s, const Op *op) {
    Tt *tt = section_tt(s);
    Node node = {.kind = NODE_REDUCE, .op = op, .cb2 = tt->scaler_cb};
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    const Type *type = ir_type(tt->k, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0);
    bool turned;
    if (type->rank != 2 || op->operand_count != 1 || (kind != COMBINE_ADD && kind != COMBINE_MAX))
        return refuse_op(s, op);
    refuse_kept_nan(s, op);
    check_padding(s, op, op->operands[0], axis, kind == COMBINE_ADD ? 0 : -INFINITY);
    if (!section_fpu_view(s->c, op->operands[0], &node.cb, &turned) || turned) return refuse_op(s, op);
    s->is_grid = s->reduces = true;
    return add_node(s, node);
}

static int copy_node(Section *s, Ref value, int cb, const Type *as, bool turned) {
    TtSpread spread = spread_of(as, s->type);
    if (spread != SPREAD_NONE || turned) s->is_grid = true;
    if (spread == SPREAD_ROW && s->type->rank > 2)
        tt_refuse(section_tt(s), s->root->op, "a row spread over tiles of rank %d", s->type->rank);
    (void)value;
    return add_node(s, (Node){.kind = NODE_COPY, .cb = cb, .spread = spread, .turned = turned});
}

/* `as` is the type in which the value is used: smaller than the section's where it is spread. */
static int build(Section *s, Ref value, const Type *as) {
    Tt *tt = section_tt(s);
    const Type *type = ir_type(tt->k, value);
    if (ty_is_scalar(type)) return fill_node(s, value);
    if (ty_elements(type) < ty_elements(s->type) && as == s->type) as = type;
    value = tt_same_pages(tt, value);
    if (value == s->c->in_dst) return 0;
    MapEntry *known = map_find_number(&s->memo, value);
    if (known) return (int)(intptr_t)known->value;
    int cb = move_view(s->c, value);
    if (cb >= 0) return copy_node(s, value, cb, as, false); /* not remembered: a second copy is cheaper than a slot */
    const Op *op = op_of(tt, value);
    int node = -1;
    if (!op) {
        tt_refuse(tt, s->root->op, "a tile that a loop carries, used where it is only added to");
        return add_node(s, (Node){.kind = NODE_FILL, .number = "0.0f"});
    }
    switch (op->code) {
    case OP_SPLAT: return fill_node(s, op->operands[0]);
    case OP_UNDEF: return add_node(s, (Node){.kind = NODE_FILL, .number = "0.0f"}); /* any number will do */
    case OP_BROADCAST: return build(s, op->operands[0], ir_type(tt->k, op->operands[0]));
    case OP_SLICE: {
        TtPart part;
        Ref whole = tt_same_pages(tt, op->operands[0]);
        if (!tt_part_pages(tt, value, &part) || move_view(s->c, whole) < 0) return refuse_op(s, op);
        s->is_grid = true;
        return add_node(s, (Node){.kind = NODE_COPY,
                                  .cb = move_view(s->c, whole),
                                  .from = part.row * part.columns + part.column,
                                  .columns = part.columns});
    }
    case OP_DOT: node = build_dot(s, op); break;
    case OP_REDUCE: node = build_reduce(s, op); break;
    case OP_PERMUTE: {
        Ref inner = tt_same_pages(tt, op->operands[0]);
        bool swaps = type->rank == 2 && op_attr(op, AT_DIMS)->list.at[0] == 1;
        if (type->rank != 2 || move_view(s->c, inner) < 0) return refuse_op(s, op);
        return copy_node(s, inner, move_view(s->c, inner), as, swaps);
    }
    default:
        if (!op_has(op->code, TRAIT_ELEMENTWISE) || op->region_count) return refuse_op(s, op);
        Word word = op->code == OP_CMP    ? op_word(op, AT_PRED, CMP_EQ)
                    : op->code == OP_MATH ? op_word(op, AT_FN, WORD_NONE)
                                          : WORD_NONE;
        node = build_elementwise(s, op, word);
    }
    map_put_number(&s->memo, tt->arena, value, (void *)(intptr_t)node);
    return node;
}

/* ------------------------------------------------------------------------------------------------ order and slots */

static void schedule(Section *s, int index) {
    Node *n = &s->nodes.at[index];
    if (n->scheduled) return;
    n->scheduled = true;
    int sequence[3] = {0, 1, 2};
    for (int i = 0; i < n->in_count; i++)
        for (int j = i + 1; j < n->in_count; j++)
            if (s->nodes.at[n->in[sequence[j]]].weight > s->nodes.at[n->in[sequence[i]]].weight) {
                int swap = sequence[i];
                sequence[i] = sequence[j];
                sequence[j] = swap;
            }
    for (int i = 0; i < n->in_count; i++) schedule(s, n->in[sequence[i]]);
    *VEC_PUSH(&s->order, section_tt(s)->arena) = index;
}

static int take_slot(Section *s, bool fresh) {
    for (int i = 0; i < 8; i++) {
        if (s->used[i] || (fresh && s->dirty[i])) continue;
        s->used[i] = s->dirty[i] = true;
        if (i + 1 > s->need) s->need = i + 1;
        return i;
    }
    s->need = 9;
    return 0;
}

static void place_node(Section *s, Node *n) {
    bool adds = n->kind == NODE_DOT || n->kind == NODE_REDUCE || (n->kind == NODE_FPU && n->row->code == OP_MUL);
    if (n->kind == NODE_DST) return;
    if (n->in_count == 0) {
        n->slot = take_slot(s, adds);
        return;
    }
    bool in_place = n->in_count == 1; /* all calls with one operand, and dot onto its sum */
    for (int i = 0; i < n->in_count; i++) s->nodes.at[n->in[i]].left--;
    for (int i = 0; i < n->in_count && n->slot < 0; i++) {
        Node *in = &s->nodes.at[n->in[i]];
        if (in->left == 0) n->slot = in->slot;
    }
    if (n->slot < 0) {
        n->slot = take_slot(s, false);
        n->duplicates = in_place;
    }
    for (int i = 0; i < n->in_count; i++) {
        const Node *in = &s->nodes.at[n->in[i]];
        if (in->left == 0 && in->slot != n->slot) s->used[in->slot] = false;
    }
}

static void place_nodes(Section *s, int root) {
    for (size_t i = 0; i < s->nodes.count; i++) s->nodes.at[i].left = s->nodes.at[i].uses;
    s->nodes.at[root].left++;
    if (s->c->in_dst) {
        s->nodes.at[0].slot = 0;
        s->used[0] = s->dirty[0] = true;
        s->need = 1;
    }
    schedule(s, root);
    for (size_t i = 0; i < s->order.count; i++) place_node(s, &s->nodes.at[s->order.at[i]]);
}

int graph_build(Section *s, Compute *c, const Root *root) {
    Tt *tt = c->role.tt;
    *s = (Section){.c = c, .root = root, .type = ir_type(tt->k, root->value)};
    tt_page_grid(s->type, tt_paging(tt, root->value), &s->grid_rows, &s->grid_columns);
    s->is_grid = root->columns > 0;
    if (c->in_dst) add_node(s, (Node){.kind = NODE_DST});
    Ref value = root->value;
    const Op *op = op_of(tt, value);
    bool is_narrow_page = root->cb >= 0 && section_cb(s, root->cb)->desc.format == TT_Float16_b;
    /* The packer rounds to the page's format by itself. */
    bool is_rounding = op && op->code == OP_CAST && elem_info[ir_type(tt->k, value)->elem].bits == 16;
    if (is_rounding && is_narrow_page && elem_is_float(ir_type(tt->k, op->operands[0])->elem) &&
        c->home[value] < 0)
        value = op->operands[0];
    int node = build(s, value, s->type);
    place_nodes(s, node);
    return node;
}
