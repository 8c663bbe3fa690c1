/* SPDX-License-Identifier: Apache-2.0 */
/* tt_section.c: one expression over tiles, computed page by page in DST and packed into a CB.
 *
 * The expression is a graph of calls in order, each with a local slot (tt_graph.c). When a page
 * uses `need` slots, DST holds several pages side by side: slot = local * pages + page. All pages
 * of a section run an op before the next op starts, so that an init serves them all. For relu(x) +
 * y, two pages a section:
 *
 *     tile_regs_acquire();
 *     copy_tile_init(cb_x);         copy_tile(cb_x, p, 0);           copy_tile(cb_x, p + 1, 1);
 *     relu_tile_init();             relu_tile(0);                    relu_tile(1);
 *     copy_tile_init(cb_y);         copy_tile(cb_y, p, 2);           copy_tile(cb_y, p + 1, 3);
 *     add_binary_tile_init();       add_binary_tile(0, 2, 0);        add_binary_tile(1, 3, 1);
 *     tile_regs_commit(); tile_regs_wait();
 *     pack_tile(0, cb_out);         pack_tile(1, cb_out);            tile_regs_release();
 *
 * Which pages share a section is a function of shapes alone, and so is every order of summation:
 * bits depend neither on slots of rings nor on cores. */
#include "target/tenstorrent/tt_graph.h"

/* -------------------------------------------------------------------------------------------------- page numbers */

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
        if (terms[i].times == 1)
            text_add(&t, "%s", terms[i].name);
        else
            text_add(&t, "%s * %lld", terms[i].name, (long long)terms[i].times);
    }
    if (!t.length)
        text_add(&t, "%lld", (long long)number);
    else if (number)
        text_add(&t, " + %lld", (long long)number);
    return t.at;
}

/* Of page (i, j) of the section: row * down_step + column * across_step + a further term. */
static const char *page_text(const Section *s, int page, int64_t down_step, int64_t across_step, Term extra) {
    int i = page / s->across, j = page % s->across;
    Term terms[3] = {{s->r, down_step}, {s->c_var, across_step}, extra};
    return sum_text(section_tt(s)->arena, terms, 3, i * down_step + j * across_step);
}

/* In a grid of so many columns, from a page on. */
static const char *page_text_from(const Section *s, int page, int64_t columns, int64_t first) {
    int i = page / s->across, j = page % s->across;
    Term terms[2] = {{s->r, columns}, {s->c_var, 1}};
    return sum_text(section_tt(s)->arena, terms, 2, first + i * columns + j);
}

static int slot_of(const Section *s, const Node *n, int page) { return n->slot * s->down * s->across + page; }

/* --------------------------------------------------------------------------------------------------- steps */

static TtStep setup(TtInit as, int srca, int srcb) {
    return (TtStep){.kind = STEP_SETUP, .as = as, .format = {srca, srcb, -1}};
}

static void add_copy(Section *s, const Node *n) {
    Role *role = &s->c->role;
    TtUnit unit = n->spread ? UNIT_SPREAD : n->turned ? UNIT_TURN : UNIT_COPY;
    TtInit as = {.unit = unit, .cb = {n->cb, -1, -1}, .spread = n->spread};
    /* What is spread goes through SrcB, unless it is unpacked straight to DST, which SrcA's unpacker does. */
    bool through_b = n->spread && !section_cb(s, n->cb)->desc.unpack_to_dest;
    role_step(role, setup(as, through_b ? -1 : n->cb, through_b ? n->cb : -1));
    int64_t down = s->grid_columns, across = 1;
    if (n->spread == SPREAD_COLUMN) down = 1, across = 0;
    if (n->spread == SPREAD_ROW) down = 0;
    if (n->spread == SPREAD_SCALAR) down = across = 0;
    if (n->single) down = across = 0;
    if (n->turned) down = 1, across = s->grid_rows;
    for (int p = 0; p < s->down * s->across; p++)
        role_step(role, (TtStep){.kind = STEP_MOVE,
                                 .as = as,
                                 .cb = n->cb,
                                 .page = n->columns ? page_text_from(s, p, n->columns, n->from)
                                                    : page_text(s, p, down, across, (Term){0}),
                                 .slot = slot_of(s, n, p)});
}

/* A loop over the pages of the axis that is summed, where there are several. */
static const char *open_inner(Role *role, int64_t inner) {
    if (inner <= 1) return NULL;
    role_open_text(role, STEP_FOR, "u32 kt = 0; kt < %lld; ++kt", (long long)inner);
    return "kt";
}

/* Of the right operand of products one behind the other: the rows of pages of the left one say which it is. */
static const char *batch_page(const Section *s, int page, const Type *left, int64_t inner, const char *k) {
    int64_t rows = (left->extent[1] + PAGE_SIDE - 1) / PAGE_SIDE;
    return arena_printf(section_tt(s)->arena, "(%s) / %lld * %lld + %s", page_text(s, page, 1, 0, (Term){0}),
                        (long long)rows, (long long)(inner * s->grid_columns),
                        page_text(s, page, 0, 1, (Term){k, s->grid_columns}));
}

static void add_dot(Section *s, const Node *n) {
    Role *role = &s->c->role;
    const Tt *tt = section_tt(s);
    const Type *a = ir_type(tt->k, n->op->operands[0]);
    int64_t inner = (a->extent[a->rank - 1] + PAGE_SIDE - 1) / PAGE_SIDE;
    bool is_block = s->down * s->across > 1 && !n->turned && a->rank == 2;
    TtInit as = {.unit = is_block ? UNIT_MATMUL_BLOCK : UNIT_MATMUL, .cb = {n->cb, n->cb2, -1}, .turned = n->turned};
    if (is_block) as.across = s->across, as.down = s->down, as.inner = (int)inner;
    TtStep wish = setup(as, n->cb2, n->cb);
    wish.reversed = true;
    role_step(role, wish);
    const char *k = open_inner(role, inner);
    for (int page = 0; page < (is_block ? 1 : s->down * s->across); page++)
        role_step(role, (TtStep){.kind = STEP_MATMUL,
                                 .as = as,
                                 .cb = n->cb,
                                 .cb2 = n->cb2,
                                 .page = page_text(s, page, inner, 0, (Term){k, 1}),
                                 .page2 = a->rank == 3 ? batch_page(s, page, a, inner, k)
                                          : n->turned  ? page_text(s, page, 0, inner, (Term){k, 1})
                                                       : page_text(s, page, 0, 1, (Term){k, s->grid_columns}),
                                 .slot = slot_of(s, n, page)});
    if (k) role_close(role);
}

static void add_reduce(Section *s, const Node *n) {
    Role *role = &s->c->role;
    const Tt *tt = section_tt(s);
    bool is_sum = op_word(n->op, AT_COMBINE, COMBINE_ADD) == COMBINE_ADD, along_rows = op_int(n->op, AT_AXIS, 0) == 1;
    int64_t down, across;
    tt_page_grid(ir_type(tt->k, n->op->operands[0]), PAGE_TILE, &down, &across);
    int64_t inner = along_rows ? across : down;
    bool swapped = is_sum && along_rows;
    int out = s->root->cb >= 0 ? s->root->cb : n->cb;
    TtInit as = {.unit = UNIT_REDUCE, .cb = {n->cb, n->cb2, out}, .is_max = !is_sum, .along_rows = along_rows};
    TtStep wish = setup(as, swapped ? n->cb2 : n->cb, swapped ? n->cb : n->cb2);
    wish.reversed = swapped;
    role_step(role, wish);
    const char *k = open_inner(role, inner);
    for (int page = 0; page < s->down * s->across; page++)
        role_step(role, (TtStep){.kind = STEP_REDUCE,
                                 .as = as,
                                 .cb = n->cb,
                                 .cb2 = n->cb2,
                                 .page = along_rows ? page_text(s, page, across, 0, (Term){k, 1})
                                                    : page_text(s, page, 0, 1, (Term){k, across}),
                                 .slot = slot_of(s, n, page)});
    if (k) role_close(role);
}

static void add_fill(Section *s, const Node *n) {
    Role *role = &s->c->role;
    role_step(role, setup((TtInit){.unit = UNIT_FILL, .cb = {-1, -1, -1}}, -1, -1));
    for (int page = 0; page < s->down * s->across; page++)
        role_step(role, (TtStep){.kind = STEP_FILL, .slot = slot_of(s, n, page), .number = n->number});
}

/* A row of tt_ops.def, for all pages. */
static void add_call(Section *s, const Node *n, const CallRow *row, const int *in) {
    Role *role = &s->c->role;
    bool is_fpu = row->form == TAKES_FPU;
    TtInit as = {.unit = UNIT_CALL, .cb = {-1, -1, -1}, .call = call_init(row)};
    if (is_fpu) as.cb[0] = n->cb, as.cb[1] = n->cb2;
    role_step(role, setup(as, is_fpu ? n->cb : -1, is_fpu ? n->cb2 : -1));
    int pages = s->down * s->across;
    for (int page = 0; page < pages; page++) {
        TtStep call = {.kind = STEP_CALL,
                       .as = as,
                       .row = row,
                       .cb = n->cb,
                       .cb2 = n->cb2,
                       .page = is_fpu ? page_text(s, page, s->grid_columns, 1, (Term){0}) : NULL,
                       .slot = slot_of(s, n, page),
                       .number = n->number};
        for (int i = 0; i < 3; i++) call.in[i] = in[i] * pages + page;
        role_step(role, call);
    }
}

static void add_node(Section *s, const Node *n) {
    int in[3] = {0};
    switch (n->kind) {
    case NODE_DST: return;
    case NODE_COPY: add_copy(s, n); return;
    case NODE_DOT: add_dot(s, n); return;
    case NODE_REDUCE: add_reduce(s, n); return;
    case NODE_FILL: add_fill(s, n); return;
    case NODE_FPU:
    case NODE_CALL: break;
    }
    for (int i = 0; i < n->in_count; i++) in[i] = s->nodes.at[n->in[i]].slot;
    if (n->duplicates) /* max(x, x) is x: the operand is needed again, this works on a copy */
        add_call(s, n, call_row(OP_MAX, WORD_NONE, TAKES_SLOTS), (const int[]){in[0], in[0], 0});
    if (n->in_count == 1) in[0] = n->slot;
    add_call(s, n, n->row, in);
}

/* --------------------------------------------------------------------------------------------- the whole section */

static void add_dst(Role *role, TtDstStep step) { role_step(role, (TtStep){.kind = STEP_DST, .dst = step}); }

/* Are pages packed one behind the other? */
static bool is_in_order(const Section *s) {
    return !s->root->adds_if && !s->root->columns && (s->across == s->grid_columns || s->down == 1);
}

static void add_pages(Section *s, int root) {
    Compute *c = s->c;
    Role *role = &c->role;
    const Node *result = &s->nodes.at[root];
    bool only_dst = s->root->to_dst;
    Section window = *s; /* what is pushed is not in it */
    if (s->root->streams) window.r = NULL;
    if (!c->in_dst && !only_dst) add_dst(role, DST_ACQUIRE);
    for (size_t i = 0; i < s->order.count; i++) add_node(s, &s->nodes.at[s->order.at[i]]);
    if (only_dst) return;
    add_dst(role, DST_COMMIT);
    add_dst(role, DST_WAIT);
    role_step(role, (TtStep){.kind = STEP_SETUP, .format = {-1, -1, s->root->cb}});
    const Root *to = s->root;
    int64_t first = to->row * to->columns + to->column; /* of a part */
    bool in_order = is_in_order(s);
    for (int page = 0; page < s->down * s->across; page++)
        role_step(role, (TtStep){.kind = STEP_PACK,
                                 .slot = slot_of(s, result, page),
                                 .cb = s->root->cb,
                                 .page = in_order      ? NULL
                                         : to->columns ? page_text_from(s, page, to->columns, first)
                                                       : page_text(&window, page, s->grid_columns, 1, (Term){0})});
    /* The packer's mask goes, so the next reduction needs its init again. */
    if (s->reduces || c->reduces) role_step(role, (TtStep){.kind = STEP_REDUCE_END});
    add_dst(role, DST_RELEASE);
}

static void push_part(Section *s, int64_t pages) {
    TtStep push = {.kind = STEP_CB, .hand = CB_PUSH, .cb = s->root->cb, .part = (uint32_t)pages};
    if (s->root->streams) role_step(&s->c->role, push);
}

/* Loops over rows and columns of pages, where a section holds not all of them. */
static void walk_sections(Section *s, int root) {
    Role *role = &s->c->role;
    if (s->r) role_open_count(role, s->r, s->grid_rows, s->down);
    if (s->c_var) role_open_count(role, s->c_var, s->grid_columns, s->across);
    add_pages(s, root);
    if (is_in_order(s)) push_part(s, s->down * s->across);
    if (s->c_var) role_close(role);
    if (!is_in_order(s)) push_part(s, s->down * s->grid_columns);
    if (s->r) role_close(role);
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

bool section_fits_dst(Compute *c, const Root *root, Ref in_dst, int64_t pages) {
    Compute trial = *c;
    Section s;
    trial.in_dst = in_dst;
    if (graph_prepare(&trial, root, root->value, true)) return false;
    graph_build(&s, &trial, root);
    return (s.need > 1 ? s.need : 1) * pages <= tensix_dst_slots(true, false);
}

/* Parts one after the other, each packed where it belongs; first what is under them. */
static void assemble(Compute *c, const Root *root, const TtPart *last) {
    const Tt *tt = c->role.tt;
    VEC(TtPart) parts = {0};
    TtPart part = *last;
    do
        *VEC_PUSH(&parts, tt->arena) = part;
    while (tt_part_pages(tt, tt_same_pages(tt, part.whole), &part) && part.op->code == OP_INSERT);
    Ref under = VEC_LAST(&parts).whole;
    const Op *maker = ref_is_value(under) ? ir_value(tt->k, under)->op : NULL;
    Root one = {.cb = root->cb, .op = root->op, .columns = last->columns};
    if (!maker || maker->code != OP_UNDEF) {
        one.value = under;
        section_root(c, &one);
    }
    for (size_t i = parts.count; i-- > 0;) {
        one.value = parts.at[i].part, one.row = parts.at[i].row, one.column = parts.at[i].column;
        section_root(c, &one);
    }
}

void section_root(Compute *c, const Root *root) {
    Section s;
    TtPart part;
    Ref whole = tt_same_pages(c->role.tt, root->value);
    bool has_home = !ref_is_value(whole) || c->home[whole] >= 0;
    if (!has_home && tt_part_pages(c->role.tt, whole, &part) && part.op->code == OP_INSERT) {
        bool is_plain = !root->adds_if && !root->to_dst && !c->in_dst && !root->columns;
        if (is_plain) {
            assemble(c, root, &part);
            if (root->streams) role_hand(&c->role, CB_PUSH, root->cb);
            return;
        }
        compute_spill(c, whole, false, root->op);
    }
    size_t pops = c->pops.count, homes = c->homed.count;
    if (!c->in_dst) graph_prepare(c, root, root->value, false);
    int node = graph_build(&s, c, root);
    int slots = (int)tensix_dst_slots(true, false);
    if (s.need > slots) {
        slots = (int)tensix_dst_slots(true, true);
        c->role.tt->plan->full_sync = true;
    }
    if (s.need > slots) {
        tt_refuse(c->role.tt, root->op, "an expression that keeps more than %d tiles alive"
                                        FIX "store parts of it first",
                  slots);
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
    if (root->adds_if) role_step(&c->role, (TtStep){.kind = STEP_ADD_TO_L1, .text = root->adds_if});
    walk_sections(&s, node);
    if (root->adds_if) role_step(&c->role, (TtStep){.kind = STEP_ADD_TO_L1, .text = "0"});
    c->reduces = s.reduces && root->to_dst;
    if (!c->in_dst) { /* inner CBs made for this root */
        while (c->pops.count > pops) {
            --c->pops.count;
            role_hand(&c->role, CB_POP, c->pops.at[c->pops.count].cb);
        }
        compute_forget(c, homes);
    }
}
