/* tt_section.c: one expression over tiles, computed page by page in DST and packed into a CB.
 *
 * The expression becomes a small graph: leaves are copies from CBs (with a broadcast, where the tile is smaller than the
 * result), numbers, products and reductions of tiles in CBs; inner nodes are calls of tt_ops.def. Nodes run in an order
 * that keeps few values alive (the heavier operand first); each gets a slot of DST, and when `need` slots are used by a
 * page, DST holds several pages side by side: slot = local * pages + page. All pages of a section run an op before the
 * next op starts, so that an init serves them all. For relu(x) + y, two pages a section:
 *
 *     tile_regs_acquire();
 *     copy_tile_init(cb_x);         copy_tile(cb_x, p, 0);           copy_tile(cb_x, p + 1, 1);
 *     relu_tile_init();             relu_tile(0);                    relu_tile(1);
 *     copy_tile_init(cb_y);         copy_tile(cb_y, p, 2);           copy_tile(cb_y, p + 1, 3);
 *     add_binary_tile_init();       add_binary_tile(0, 2, 0);        add_binary_tile(1, 3, 1);
 *     tile_regs_commit(); tile_regs_wait();  pack_tile(0, cb_out);   pack_tile(1, cb_out);   tile_regs_release();
 *
 * Which pages share a section is a function of shapes alone, and so is every order of summation: bits depend neither on
 * slots of rings nor on cores. */
#include "target/tenstorrent/tt_compute.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef enum CallForm { TAKES_SLOT, TAKES_SLOTS, TAKES_NUMBER, TAKES_LEFT, TAKES_ZERO, TAKES_TRIPLE, TAKES_FPU } CallForm;
typedef struct Row {
    Opcode code;
    Word word;
    CallForm form;
    const char *init, *call;
} Row;
#define NONE WORD_NONE
static const Row rows[] = {
#define CALL(op, word, form, init, call) {OP_##op, word, TAKES_##form, init, call},
#include "target/tenstorrent/tt_ops.def"
#undef CALL
};
#undef NONE

typedef enum NodeKind { NODE_DST, NODE_COPY, NODE_FILL, NODE_CALL, NODE_FPU, NODE_DOT, NODE_REDUCE } NodeKind;
typedef enum Spread { SPREAD_NONE, SPREAD_COLUMN, SPREAD_ROW, SPREAD_SCALAR } Spread;
typedef struct Node {
    NodeKind kind;
    const Row *row;
    const Op *op;
    int in[3], in_count;
    int cb, cb2;        /* COPY, FPU, DOT, REDUCE */
    Spread spread;      /* COPY */
    bool turned;        /* COPY: transposed; DOT: the second operand */
    const char *number; /* text: FILL a float, CALL float bits */
    int weight;         /* slots that computing it takes */
    int uses, left;     /* by other nodes; not yet computed ones */
    int slot;           /* local */
    bool duplicates;    /* its operand lives on: it works on a copy */
    bool scheduled;
} Node;

typedef struct Section {
    Compute *c;
    const Root *root;
    const Type *type;
    int64_t grid_rows, grid_columns; /* pages of the result */
    VEC(Node) nodes;
    Map memo;
    VEC(int) order;
    bool used[8], dirty[8]; /* local slots: now, ever */
    int need;
    bool is_grid, reduces;  /* pages have rows and columns */
    int down, across;       /* pages of a section */
    const char *r, *c_var;  /* loop variables, NULL: one section along it */
} Section;

static Tt *tt_of(const Section *s) { return s->c->role.tt; }
static const TtCb *cb_at(const Section *s, int cb) { return &tt_of(s)->plan->cbs.at[cb]; }

/* ----------------------------------------------------------------------------------------------- reading tiles */

static const Op *op_of(const Tt *tt, Ref value) { return ref_is_value(value) ? ir_value(tt->k, value)->op : NULL; }

/* The CB that copy_tile can read the value from; -1: it must be computed. */
static int move_view(Compute *c, Ref value) {
    Tt *tt = c->role.tt;
    if (!ref_is_value(value)) return -1;
    if (c->home[value] >= 0) return c->home[value];
    const TtIndexTile *index = tt_index_tile(tt, value);
    if (index) return index->cb;
    const Op *op = op_of(tt, value);
    return op && op->code == OP_GET ? tt_field(tt, op)->cb : -1;
}

bool section_fpu_view(Compute *c, Ref value, int *cb, bool *turned) {
    Tt *tt = c->role.tt;
    *turned = false;
    value = tt_same_pages(tt, value);
    const Op *op = op_of(tt, value);
    if (op && op->code == OP_PERMUTE && ir_type(tt->k, value)->rank == 2) {
        Ref inner = tt_same_pages(tt, op->operands[0]);
        if (op_attr(op, AT_DIMS)->list.at[0] == 1) *turned = true;
        value = inner;
        op = op_of(tt, value);
    }
    if (!ref_is_value(value)) return false;
    *cb = c->fpu_home[value] >= 0 ? c->fpu_home[value] : op && op->code == OP_GET ? tt_field(tt, op)->fpu_cb : -1;
    return *cb >= 0;
}

/* A tile or number that an elementwise op reads smaller than its result. */
static Spread spread_of(const Type *part, const Type *whole) {
    if (part->rank == 0 || ty_elements(part) == ty_elements(whole)) return SPREAD_NONE;
    bool one_row = part->rank < 2 || (part->extent[part->rank - 2] == 1 && whole->extent[whole->rank - 2] != 1);
    bool one_column = part->extent[part->rank - 1] == 1 && whole->extent[whole->rank - 1] != 1;
    return one_row && one_column ? SPREAD_SCALAR : one_column ? SPREAD_COLUMN : SPREAD_ROW;
}

/* --------------------------------------------------------------------------------------- what must lie in a CB */

static bool is_splat(const Tt *tt, Ref value, double number) {
    const Op *op = op_of(tt, value);
    Ref scalar = op && op->code == OP_SPLAT ? op->operands[0] : value;
    return ref_is_literal(scalar) && elem_is_float(ir_literal(tt->k, scalar)->type->elem) && ir_literal(tt->k, scalar)->f == number;
}

/* Spills what the expression needs in CBs; with `dry` only says whether there is anything. */
static bool prepare(Compute *c, const Root *root, Ref value, bool dry) {
    Tt *tt = c->role.tt;
    value = tt_same_pages(tt, value);
    if (!ref_is_value(value) || value == root->without || value == c->in_dst || move_view(c, value) >= 0) return false;
    const Op *op = op_of(tt, value);
    if (!op || op->region_count) return false;
    bool spills = false;
    int fpu_operands = op->code == OP_DOT ? 2 : op->code == OP_REDUCE ? 1 : 0;
    for (int i = 0; i < op->operand_count; i++) {
        Ref part = op->operands[i];
        int cb;
        bool turned;
        if (ty_is_scalar(ir_type(tt->k, part))) continue;
        if (i < fpu_operands) {
            if (section_fpu_view(c, part, &cb, &turned)) continue;
            spills = true;
            if (!dry) compute_spill(c, part, true, root->op);
            continue;
        }
        Ref same = tt_same_pages(tt, part);
        const Op *source = op_of(tt, same);
        bool is_smaller = op->code != OP_PERMUTE && op->result_count &&
                          ty_elements(ir_type(tt->k, part)) != ty_elements(ir_type(tt->k, op->results[0]));
        bool wants_cb = (is_smaller || op->code == OP_PERMUTE) && !(source && (source->code == OP_SPLAT || source->code == OP_BROADCAST));
        if (wants_cb && move_view(c, same) < 0) {
            spills = true;
            if (!dry) compute_spill(c, same, false, root->op);
            continue;
        }
        spills |= prepare(c, root, part, dry);
    }
    return spills;
}

/* ----------------------------------------------------------------------------------------------------- the graph */

static const Row *find_row(Opcode code, Word word, CallForm form) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code && rows[i].word == word && rows[i].form == form) return &rows[i];
    return NULL;
}

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
    *VEC_PUSH(&s->nodes, tt_of(s)->arena) = node;
    return (int)s->nodes.count - 1;
}

static int build(Section *s, Ref value, const Type *as);

static int fill_node(Section *s, Ref scalar) {
    Role *role = &s->c->role;
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

static int call_node(Section *s, const Row *row, const Op *op, int count, const int *in, const char *number) {
    Node node = {.kind = NODE_CALL, .row = row, .op = op, .in_count = count, .number = number};
    for (int i = 0; i < count; i++) node.in[i] = in[i];
    return add_node(s, node);
}

/* A scalar, or a tile that is one number. */
static Ref number_of(const Tt *tt, Ref value) {
    const Op *op = op_of(tt, value);
    while (op && (op->code == OP_SPLAT || op->code == OP_BROADCAST || op->code == OP_EXPAND || op->code == OP_RESHAPE)) {
        value = op->operands[0];
        op = op_of(tt, value);
    }
    return ty_is_scalar(ir_type(tt->k, value)) && elem_is_float(ir_type(tt->k, value)->elem) ? value : REF_NONE;
}

static bool is_power_of_two(const Tt *tt, Ref number) {
    int exponent;
    if (!ref_is_literal(number)) return false;
    double x = ir_literal(tt->k, number)->f;
    return isfinite(x) && fabs(frexp(x, &exponent)) == 0.5 && exponent > -100 && exponent < 100;
}

/* A tile and a number: one call in place, if the table has it. */
static int build_with_number(Section *s, Opcode code, const Op *op, Ref left, Ref right) {
    Tt *tt = tt_of(s);
    Ref number = number_of(tt, right);
    bool commutes = code == OP_ADD || code == OP_MUL || code == OP_MIN || code == OP_MAX;
    if (!number && commutes && number_of(tt, left)) return build_with_number(s, code, op, right, left);
    if (code == OP_DIV && number && is_power_of_two(tt, number)) {
        int in = build(s, left, s->type);
        float inverse = (float)(1 / ir_literal(tt->k, number)->f);
        uint32_t bits;
        memcpy(&bits, &inverse, 4);
        return call_node(s, find_row(OP_MUL, WORD_NONE, TAKES_NUMBER), op, 1, &in, arena_printf(tt->arena, "0x%08" PRIx32 "u /* %g */", bits, (double)inverse));
    }
    const Row *row = NULL;
    if (number && is_splat(tt, number, 0)) row = find_row(code, WORD_NONE, TAKES_ZERO);
    if (number && !row) row = find_row(code, WORD_NONE, TAKES_NUMBER);
    Ref tile = left;
    if (!row && (number = number_of(tt, left))) {
        row = find_row(code, WORD_NONE, TAKES_LEFT);
        tile = right;
    }
    if (!row || number_of(tt, tile)) return -1;
    int in = build(s, tile, s->type);
    return call_node(s, row, op, 1, &in, row->form == TAKES_ZERO ? NULL : bits_text(s, number));
}

static bool is_plain_copy(const Section *s, int node) {
    const Node *n = &s->nodes.at[node];
    return n->kind == NODE_COPY && n->spread == SPREAD_NONE && !n->turned && cb_at(s, n->cb)->desc.format == TT_Float16_b;
}

static int build_two(Section *s, Opcode code, Word word, const Op *op, const int *in) {
    const Row *fpu = find_row(code, word, TAKES_FPU);
    Elem elem = op->result_count ? ir_type(tt_of(s)->k, op->results[0])->elem : EL_F32;
    if (fpu && elem != EL_F32 && is_plain_copy(s, in[0]) && is_plain_copy(s, in[1]))
        return add_node(s, (Node){.kind = NODE_FPU, .row = fpu, .op = op, .cb = s->nodes.at[in[0]].cb, .cb2 = s->nodes.at[in[1]].cb});
    return call_node(s, find_row(code, word, TAKES_SLOTS), op, 2, in, NULL);
}

static int refuse_op(Section *s, const Op *op) {
    const Type *type = op->result_count ? ir_type(tt_of(s)->k, op->results[0]) : NULL;
    tt_refuse(tt_of(s), op, "`%s`%s%s has no lowering yet", op_info[op->code].mnemonic, type ? " on " : "", type ? ty_text(type, tt_of(s)->arena) : "");
    return add_node(s, (Node){.kind = NODE_FILL, .number = "0.0f"});
}

static int build_elementwise(Section *s, const Op *op, Word word) {
    Tt *tt = tt_of(s);
    int in[3] = {0};
    if (op->code == OP_FMA || op->code == OP_LOG2 || op->code == OP_CAST) {
        if (op->code == OP_CAST && ir_type(tt->k, op->operands[0])->elem != EL_F32) return refuse_op(s, op);
        in[0] = build(s, op->operands[0], s->type);
        if (op->code == OP_CAST) return call_node(s, find_row(OP_CAST, WORD_NONE, TAKES_SLOT), op, 1, in, NULL);
        if (op->code == OP_LOG2) {
            in[0] = call_node(s, find_row(OP_LOG, WORD_NONE, TAKES_SLOT), op, 1, in, NULL);
            return call_node(s, find_row(OP_MUL, WORD_NONE, TAKES_NUMBER), op, 1, in, "0x3fb8aa3bu /* 1 / ln 2 */");
        }
        in[1] = build(s, op->operands[1], s->type);
        in[0] = call_node(s, find_row(OP_MUL, WORD_NONE, TAKES_SLOTS), op, 2, in, NULL);
        if (op->operands[2] == s->root->without) return in[0];
        in[1] = build(s, op->operands[2], s->type);
        return call_node(s, find_row(OP_ADD, WORD_NONE, TAKES_SLOTS), op, 2, in, NULL);
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
    const Row *row = find_row(op->code, word, form);
    bool is_logic = op->code == OP_AND || op->code == OP_OR || op->code == OP_XOR || op->code == OP_NOT;
    if (!row || (is_logic && ir_type(tt->k, op->results[0])->elem != EL_I1)) return refuse_op(s, op);
    int count = form == TAKES_SLOT ? 1 : form == TAKES_SLOTS ? 2 : 3;
    for (int i = 0; i < count; i++) in[i] = build(s, op->operands[i], s->type);
    return form == TAKES_SLOTS ? build_two(s, op->code, word, op, in) : call_node(s, row, op, count, in, NULL);
}

/* The axis over which the op sums, when padding must be neutral. */
static void check_padding(Section *s, const Op *op, Ref operand, int axis, double neutral) {
    const Type *type = ir_type(tt_of(s)->k, operand);
    double number = NAN;
    if (type->extent[axis] % PAGE_SIDE == 0) return;
    if (tt_padding(tt_of(s), operand, &number) && number == neutral) return;
    tt_refuse(tt_of(s), op, "`%s` along an axis of %lld, which is padded to pages of 32 with values that are not neutral; use a multiple of 32",
              op_info[op->code].mnemonic, (long long)type->extent[axis]);
}

static int build_dot(Section *s, const Op *op) {
    Tt *tt = tt_of(s);
    Node node = {.kind = NODE_DOT, .op = op};
    bool turned;
    const Type *a = ir_type(tt->k, op->operands[0]);
    if (a->rank != 2) return refuse_op(s, op);
    check_padding(s, op, op->operands[0], 1, 0);
    check_padding(s, op, op->operands[1], 0, 0);
    if (!section_fpu_view(s->c, op->operands[0], &node.cb, &turned) || !section_fpu_view(s->c, op->operands[1], &node.cb2, &node.turned))
        return refuse_op(s, op);
    if (turned) {
        tt_refuse(tt, op, "`dot` with a transposed left operand; the matrix unit transposes the right one only");
        return add_node(s, (Node){.kind = NODE_FILL, .number = "0.0f"});
    }
    s->is_grid = true;
    if (op->operands[2] != s->root->without && !is_splat(tt, op->operands[2], 0)) {
        node.in[0] = build(s, op->operands[2], s->type);
        node.in_count = 1;
    }
    return add_node(s, node);
}

static int build_reduce(Section *s, const Op *op) {
    Tt *tt = tt_of(s);
    Node node = {.kind = NODE_REDUCE, .op = op, .cb2 = tt->scaler_cb};
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    const Type *type = ir_type(tt->k, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0);
    bool turned;
    if (type->rank != 2 || op->operand_count != 1 || (kind != COMBINE_ADD && kind != COMBINE_MAX)) return refuse_op(s, op);
    check_padding(s, op, op->operands[0], axis, kind == COMBINE_ADD ? 0 : -INFINITY);
    if (!section_fpu_view(s->c, op->operands[0], &node.cb, &turned) || turned) return refuse_op(s, op);
    s->is_grid = s->reduces = true;
    return add_node(s, node);
}

static int copy_node(Section *s, Ref value, int cb, const Type *as, bool turned) {
    Spread spread = spread_of(as, s->type);
    if (spread != SPREAD_NONE || turned) s->is_grid = true;
    if (spread == SPREAD_ROW && s->type->rank > 2) tt_refuse(tt_of(s), s->root->op, "a row spread over tiles of rank %d", s->type->rank);
    (void)value;
    return add_node(s, (Node){.kind = NODE_COPY, .cb = cb, .spread = spread, .turned = turned});
}

/* `as` is the type in which the value is used: smaller than the section's where it is spread. */
static int build(Section *s, Ref value, const Type *as) {
    Tt *tt = tt_of(s);
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
        tt_refuse(tt, s->root->op, "a tile carried round a loop in any way but as a sum (x = x + e, or dot)");
        return add_node(s, (Node){.kind = NODE_FILL, .number = "0.0f"});
    }
    switch (op->code) {
    case OP_SPLAT: return fill_node(s, op->operands[0]);
    case OP_BROADCAST: return build(s, op->operands[0], ir_type(tt->k, op->operands[0]));
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
        Word word = op->code == OP_CMP ? op_word(op, AT_PRED, CMP_EQ) : op->code == OP_MATH ? op_word(op, AT_FN, WORD_NONE) : WORD_NONE;
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
    *VEC_PUSH(&s->order, tt_of(s)->arena) = index;
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

/* ------------------------------------------------------------------------------------------------------ texts */

/* a*x + b*y + c*z + number */
typedef struct Term {
    const char *name;
    int64_t times;
} Term;
static const char *sum_text(Arena *arena, const Term *terms, int count, int64_t number) {
    Text t = text_new(arena);
    for (int i = 0; i < count; i++) {
        if (!terms[i].name || !terms[i].times) continue;
        if (t.length) text_add(&t, " + ");
        if (terms[i].times == 1) text_add(&t, "%s", terms[i].name);
        else text_add(&t, "%s * %lld", terms[i].name, (long long)terms[i].times);
    }
    if (!t.length) text_add(&t, "%lld", (long long)number);
    else if (number) text_add(&t, " + %lld", (long long)number);
    return t.at;
}

/* Of page (i, j) of the section: row * down_step + column * across_step + a further term. */
static const char *page_text(const Section *s, int page, int64_t down_step, int64_t across_step, Term extra) {
    int i = page / s->across, j = page % s->across;
    Term terms[3] = {{s->r, down_step}, {s->c_var, across_step}, extra};
    return sum_text(tt_of(s)->arena, terms, 3, i * down_step + j * across_step);
}

static int slot_of(const Section *s, const Node *n, int page) { return n->slot * s->down * s->across + page; }

static const char *fill_in(const Section *s, const char *pattern, const Node *n, int page) {
    Text t = text_new(tt_of(s)->arena);
    Role *role = &s->c->role;
    for (const char *p = pattern; *p; p++) {
        if (*p != '$') {
            text_add_char(&t, *p);
            continue;
        }
        switch (*++p) {
        case 'd': text_add(&t, "%d", slot_of(s, n, page)); break;
        case 'n': text_add(&t, "%s", n->number); break;
        case 'a': text_add(&t, "%s", role_cb(role, n->cb)); break;
        case 'b': text_add(&t, "%s", role_cb(role, n->cb2)); break;
        case 'i':
        case 'j': text_add(&t, "%s", page_text(s, page, s->grid_columns, 1, (Term){0})); break;
        default: {
            const Node *in = &s->nodes.at[n->in[*p - '0']];
            text_add(&t, "%d", slot_of(s, n->in_count == 1 ? n : in, page));
        }
        }
    }
    return t.at;
}

static void print_copy(Section *s, const Node *n) {
    static const char *const kinds[] = {"", "COL", "ROW", "SCALAR"};
    Compute *c = s->c;
    const char *cb = role_cb(&c->role, n->cb);
    int pages = s->down * s->across;
    compute_format(c, n->spread ? REG_SRCB : REG_SRCA, n->cb);
    if (n->spread) compute_init(c, arena_printf(tt_of(s)->arena, "unary_bcast_init<BroadcastType::%s>(%s)", kinds[n->spread], cb));
    else compute_init(c, arena_printf(tt_of(s)->arena, n->turned ? "transpose_init(%s)" : "copy_tile_init(%s)", cb));
    for (int p = 0; p < pages; p++) {
        int64_t down = s->grid_columns, across = 1;
        if (n->spread == SPREAD_COLUMN) down = 1, across = 0;
        if (n->spread == SPREAD_ROW) down = 0;
        if (n->spread == SPREAD_SCALAR) down = across = 0;
        if (n->turned) down = 1, across = s->grid_rows;
        const char *page = page_text(s, p, down, across, (Term){0});
        if (n->spread) cs_line(&c->role.p, "unary_bcast<BroadcastType::%s>(%s, %s, %d);", kinds[n->spread], cb, page, slot_of(s, n, p));
        else cs_line(&c->role.p, "%s(%s, %s, %d);", n->turned ? "transpose_tile" : "copy_tile", cb, page, slot_of(s, n, p));
    }
}

static void print_dot(Section *s, const Node *n) {
    Compute *c = s->c;
    CPrinter *p = &c->role.p;
    Tt *tt = tt_of(s);
    const char *a = role_cb(&c->role, n->cb), *b = role_cb(&c->role, n->cb2);
    int64_t inner = (ir_type(tt->k, n->op->operands[0])->extent[1] + PAGE_SIDE - 1) / PAGE_SIDE;
    bool is_block = s->down * s->across > 1 && !n->turned;
    if (c->asked.cb[REG_SRCA] < 0 && c->asked.cb[REG_SRCB] < 0) c->asked.starts_with_matmul = true;
    compute_format(c, REG_SRCB, n->cb);
    compute_format(c, REG_SRCA, n->cb2);
    if (is_block) compute_init(c, arena_printf(tt->arena, "matmul_block_init(%s, %s, 0, %d, %d, %lld)", a, b, s->across, s->down, (long long)inner));
    else compute_init(c, arena_printf(tt->arena, n->turned ? "matmul_init(%s, %s, 1)" : "matmul_init(%s, %s)", a, b));
    const char *k = inner > 1 ? "kt" : NULL;
    if (k) cs_open(p, "for (u32 %s = 0; %s < %lld; ++%s)", k, k, (long long)inner, k);
    if (is_block) {
        cs_line(p, "matmul_block(%s, %s, %s, %s, %d, 0, %d, %d, %lld);", a, b, page_text(s, 0, inner, 0, (Term){k, 1}),
               page_text(s, 0, 0, 1, (Term){k, s->grid_columns}), slot_of(s, n, 0), s->across, s->down, (long long)inner);
    } else {
        for (int page = 0; page < s->down * s->across; page++)
            cs_line(p, "matmul_tiles(%s, %s, %s, %s, %d);", a, b, page_text(s, page, inner, 0, (Term){k, 1}),
                   n->turned ? page_text(s, page, 0, inner, (Term){k, 1}) : page_text(s, page, 0, 1, (Term){k, s->grid_columns}),
                   slot_of(s, n, page));
    }
    if (k) cs_close(p);
}

static void print_reduce(Section *s, const Node *n) {
    Compute *c = s->c;
    CPrinter *p = &c->role.p;
    Tt *tt = tt_of(s);
    const char *cb = role_cb(&c->role, n->cb), *scaler = role_cb(&c->role, n->cb2);
    bool is_sum = op_word(n->op, AT_COMBINE, COMBINE_ADD) == COMBINE_ADD, along_row = op_int(n->op, AT_AXIS, 0) == 1;
    const char *kind = arena_printf(tt->arena, "<PoolType::%s, ReduceDim::%s>", is_sum ? "SUM" : "MAX", along_row ? "REDUCE_ROW" : "REDUCE_COL");
    int64_t down, across;
    tt_page_grid(ir_type(tt->k, n->op->operands[0]), PAGE_TILE, &down, &across);
    int64_t inner = along_row ? across : down;
    bool swapped = is_sum && along_row;
    compute_format(c, swapped ? REG_SRCB : REG_SRCA, n->cb);
    compute_format(c, swapped ? REG_SRCA : REG_SRCB, n->cb2);
    int out = s->root->cb >= 0 ? s->root->cb : n->cb;
    compute_init(c, arena_printf(tt->arena, "reduce_init%s(%s, %s, %s)", kind, cb, scaler, role_cb(&c->role, out)));
    const char *k = inner > 1 ? "kt" : NULL;
    if (k) cs_open(p, "for (u32 %s = 0; %s < %lld; ++%s)", k, k, (long long)inner, k);
    for (int page = 0; page < s->down * s->across; page++)
        cs_line(p, "reduce_tile%s(%s, %s, %s, 0, %d);", kind, cb, scaler,
               along_row ? page_text(s, page, across, 0, (Term){k, 1}) : page_text(s, page, 0, 1, (Term){k, across}), slot_of(s, n, page));
    if (k) cs_close(p);
}

static void print_node(Section *s, const Node *n) {
    Compute *c = s->c;
    CPrinter *p = &c->role.p;
    int pages = s->down * s->across;
    switch (n->kind) {
    case NODE_DST: return;
    case NODE_COPY: print_copy(s, n); return;
    case NODE_DOT: print_dot(s, n); return;
    case NODE_REDUCE: print_reduce(s, n); return;
    case NODE_FILL:
        compute_init(c, "fill_tile_init()");
        for (int page = 0; page < pages; page++) cs_line(p, "fill_tile(%d, %s);", slot_of(s, n, page), n->number);
        return;
    case NODE_FPU:
        compute_format(c, REG_SRCA, n->cb);
        compute_format(c, REG_SRCB, n->cb2);
        break;
    case NODE_CALL: break;
    }
    if (n->duplicates) { /* max(x, x) is x: the operand is needed again, this works on a copy */
        compute_init(c, "binary_max_tile_init()");
        int from = s->nodes.at[n->in[0]].slot * pages;
        for (int page = 0; page < pages; page++)
            cs_line(p, "binary_max_tile(%d, %d, %d);", from + page, from + page, slot_of(s, n, page));
    }
    compute_init(c, fill_in(s, n->row->init, n, 0));
    for (int page = 0; page < pages; page++) cs_line(p, "%s;", fill_in(s, n->row->call, n, page));
}

/* --------------------------------------------------------------------------------------------- the whole section */

static void print_pages(Section *s, int root) {
    Compute *c = s->c;
    CPrinter *p = &c->role.p;
    const Node *result = &s->nodes.at[root];
    bool only_dst = s->root->to_dst;
    if (!c->in_dst && !only_dst) cs_line(p, "tile_regs_acquire();");
    for (size_t i = 0; i < s->order.count; i++) print_node(s, &s->nodes.at[s->order.at[i]]);
    if (only_dst) return;
    const char *cb = role_cb(&c->role, s->root->cb);
    cs_line(p, "tile_regs_commit();");
    cs_line(p, "tile_regs_wait();");
    compute_format(c, REG_PACK, s->root->cb);
    bool in_order = !s->root->adds_if && (s->across == s->grid_columns || s->down == 1);
    for (int page = 0; page < s->down * s->across; page++) {
        if (in_order) cs_line(p, "pack_tile(%d, %s);", slot_of(s, result, page), cb);
        else cs_line(p, "pack_tile<true>(%d, %s, %s);", slot_of(s, result, page), cb, page_text(s, page, s->grid_columns, 1, (Term){0}));
    }
    if (s->reduces || c->reduces) cs_line(p, "reduce_uninit();");
    cs_line(p, "tile_regs_release();");
}

typedef struct Walk {
    Section *s;
    int root, level;
} Walk;
static void walk_sections(Compute *c, void *user);
static void open_walk(Compute *c, void *user) {
    const Walk *w = user;
    const Section *s = w->s;
    bool is_row = w->level == 0;
    const char *name = is_row ? s->r : s->c_var;
    int step = is_row ? s->down : s->across;
    const char *next = step == 1 ? arena_printf(tt_of(s)->arena, "++%s", name) : arena_printf(tt_of(s)->arena, "%s += %d", name, step);
    cs_open(&c->role.p, "for (u32 %s = 0; %s < %lld; %s)", name, name, (long long)(is_row ? s->grid_rows : s->grid_columns), next);
}
static void walk_inner(Compute *c, void *user) {
    Walk inner = *(Walk *)user;
    inner.level++;
    walk_sections(c, &inner);
}
static void walk_sections(Compute *c, void *user) {
    Walk *w = user;
    if (w->level == 2) print_pages(w->s, w->root);
    else if (w->level == 0 ? w->s->r != NULL : w->s->c_var != NULL) compute_loop(c, open_walk, walk_inner, w);
    else walk_inner(c, w);
}

/* The largest block of pages that DST holds and that divides the result evenly; near squares, then wide ones first. */
static void choose_block(Section *s, int most) {
    int best = 0;
    for (int down = 1; down <= most && down <= s->grid_rows; down++)
        for (int across = 1; down * across <= most && across <= s->grid_columns; across++) {
            int narrow = down < across ? down : across;
            int score = down * across * 1000 + narrow * 100 + across;
            if (s->grid_rows % down || s->grid_columns % across || score <= best) continue;
            best = score;
            s->down = down;
            s->across = across;
        }
}

static int build_root(Section *s, Compute *c, const Root *root) {
    Tt *tt = c->role.tt;
    *s = (Section){.c = c, .root = root, .type = ir_type(tt->k, root->value)};
    tt_page_grid(s->type, tt_paging(tt, root->value), &s->grid_rows, &s->grid_columns);
    if (c->in_dst) add_node(s, (Node){.kind = NODE_DST});
    Ref value = root->value;
    const Op *op = op_of(tt, value);
    bool is_narrow_page = root->cb >= 0 && cb_at(s, root->cb)->desc.format == TT_Float16_b;
    /* The packer rounds to the page's format by itself. */
    if (op && op->code == OP_CAST && is_narrow_page && elem_is_float(ir_type(tt->k, op->operands[0])->elem) && c->home[value] < 0)
        value = op->operands[0];
    int node = build(s, value, s->type);
    place_nodes(s, node);
    return node;
}

bool section_fits_dst(Compute *c, const Root *root, Ref in_dst, int64_t pages) {
    Compute trial = *c;
    Section s;
    trial.in_dst = in_dst;
    if (prepare(&trial, root, root->value, true)) return false;
    build_root(&s, &trial, root);
    return (s.need > 1 ? s.need : 1) * pages <= tensix_dst_slots(true, false);
}

void section_root(Compute *c, const Root *root) {
    Section s;
    size_t pops = c->pops.count, homes = c->homed.count;
    if (!c->in_dst) prepare(c, root, root->value, false);
    int node = build_root(&s, c, root);
    int slots = (int)tensix_dst_slots(true, false);
    if (s.need > slots) {
        slots = (int)tensix_dst_slots(true, true);
        c->role.tt->plan->full_sync = true;
    }
    if (s.need > slots) {
        tt_refuse(c->role.tt, root->op, "an expression that keeps more than %d tiles alive; store parts of it first", slots);
        return;
    }
    if (c->in_dst || root->to_dst) {
        s.down = (int)s.grid_rows;
        s.across = (int)s.grid_columns;
    } else {
        if (!s.is_grid) {
            s.grid_columns *= s.grid_rows;
            s.grid_rows = 1;
        }
        choose_block(&s, slots / s.need);
        if (s.grid_rows > s.down) s.r = "r";
        if (s.grid_columns > s.across) s.c_var = s.is_grid ? "c" : "p";
    }
    Walk walk = {&s, node, 0};
    if (root->adds_if) cs_line(&c->role.p, "pack_reconfig_l1_acc(%s);", root->adds_if);
    walk_sections(c, &walk);
    if (root->adds_if) cs_line(&c->role.p, "pack_reconfig_l1_acc(0);");
    c->reduces = s.reduces && root->to_dst;
    if (!c->in_dst) { /* inner CBs made for this root */
        while (c->pops.count > pops) {
            const TtCb *cb = &c->role.tt->plan->cbs.at[c->pops.at[--c->pops.count].cb];
            cs_line(&c->role.p, "cb_pop_front(%s, %u);", role_cb(&c->role, c->pops.at[c->pops.count].cb), cb->item_pages);
        }
        while (c->homed.count > homes) {
            Ref value = c->homed.at[--c->homed.count];
            c->home[value] = c->fpu_home[value] = -1;
        }
    }
}
