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

static int slot_of(const Section *s, const Node *n, int page) { return n->slot * s->down * s->across + page; }

static const char *fill_in(const Section *s, const char *pattern, const Node *n, int page) {
    Text t = text_new(section_tt(s)->arena);
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
    window_read(c, n->cb);
    compute_format(c, n->spread ? REG_SRCB : REG_SRCA, n->cb);
    if (n->spread)
        compute_init(
            c, arena_printf(section_tt(s)->arena, "unary_bcast_init<BroadcastType::%s>(%s)", kinds[n->spread], cb));
    else
        compute_init(c,
                     arena_printf(section_tt(s)->arena, n->turned ? "transpose_init(%s)" : "copy_tile_init(%s)", cb));
    for (int p = 0; p < pages; p++) {
        int64_t down = s->grid_columns, across = 1;
        if (n->spread == SPREAD_COLUMN) down = 1, across = 0;
        if (n->spread == SPREAD_ROW) down = 0;
        if (n->spread == SPREAD_SCALAR) down = across = 0;
        if (n->turned) down = 1, across = s->grid_rows;
        const char *page = page_text(s, p, down, across, (Term){0});
        if (n->spread)
            cs_line(&c->role.p, "unary_bcast<BroadcastType::%s>(%s, %s, %d);", kinds[n->spread], cb, page,
                    slot_of(s, n, p));
        else
            cs_line(&c->role.p, "%s(%s, %s, %d);", n->turned ? "transpose_tile" : "copy_tile", cb, page,
                    slot_of(s, n, p));
    }
}

static void print_dot(Section *s, const Node *n) {
    Compute *c = s->c;
    CPrinter *p = &c->role.p;
    Tt *tt = section_tt(s);
    const char *a = role_cb(&c->role, n->cb), *b = role_cb(&c->role, n->cb2);
    int64_t inner = (ir_type(tt->k, n->op->operands[0])->extent[1] + PAGE_SIDE - 1) / PAGE_SIDE;
    bool is_block = s->down * s->across > 1 && !n->turned;
    window_read(c, n->cb);
    window_read(c, n->cb2);
    if (c->asked.cb[REG_SRCA] < 0 && c->asked.cb[REG_SRCB] < 0) c->asked.starts_with_matmul = true;
    compute_format(c, REG_SRCB, n->cb);
    compute_format(c, REG_SRCA, n->cb2);
    if (is_block)
        compute_init(c, arena_printf(tt->arena, "matmul_block_init(%s, %s, 0, %d, %d, %lld)", a, b, s->across, s->down,
                                     (long long)inner));
    else
        compute_init(c, arena_printf(tt->arena, n->turned ? "matmul_init(%s, %s, 1)" : "matmul_init(%s, %s)", a, b));
    const char *k = inner > 1 ? "kt" : NULL;
    if (k) cs_open(p, "for (u32 %s = 0; %s < %lld; ++%s)", k, k, (long long)inner, k);
    if (is_block) {
        cs_line(p, "matmul_block(%s, %s, %s, %s, %d, 0, %d, %d, %lld);", a, b, page_text(s, 0, inner, 0, (Term){k, 1}),
                page_text(s, 0, 0, 1, (Term){k, s->grid_columns}), slot_of(s, n, 0), s->across, s->down,
                (long long)inner);
    } else {
        for (int page = 0; page < s->down * s->across; page++)
            cs_line(p, "matmul_tiles(%s, %s, %s, %s, %d);", a, b, page_text(s, page, inner, 0, (Term){k, 1}),
                    n->turned ? page_text(s, page, 0, inner, (Term){k, 1})
                              : page_text(s, page, 0, 1, (Term){k, s->grid_columns}),
                    slot_of(s, n, page));
    }
    if (k) cs_close(p);
}

static void print_reduce(Section *s, const Node *n) {
    Compute *c = s->c;
    CPrinter *p = &c->role.p;
    Tt *tt = section_tt(s);
    const char *cb = role_cb(&c->role, n->cb), *scaler = role_cb(&c->role, n->cb2);
    bool is_sum = op_word(n->op, AT_COMBINE, COMBINE_ADD) == COMBINE_ADD, along_row = op_int(n->op, AT_AXIS, 0) == 1;
    const char *kind = arena_printf(tt->arena, "<PoolType::%s, ReduceDim::%s>", is_sum ? "SUM" : "MAX",
                                    along_row ? "REDUCE_ROW" : "REDUCE_COL");
    int64_t down, across;
    tt_page_grid(ir_type(tt->k, n->op->operands[0]), PAGE_TILE, &down, &across);
    int64_t inner = along_row ? across : down;
    bool swapped = is_sum && along_row;
    window_read(c, n->cb);
    window_read(c, n->cb2);
    compute_format(c, swapped ? REG_SRCB : REG_SRCA, n->cb);
    compute_format(c, swapped ? REG_SRCA : REG_SRCB, n->cb2);
    int out = s->root->cb >= 0 ? s->root->cb : n->cb;
    compute_init(c, arena_printf(tt->arena, "reduce_init%s(%s, %s, %s)", kind, cb, scaler, role_cb(&c->role, out)));
    const char *k = inner > 1 ? "kt" : NULL;
    if (k) cs_open(p, "for (u32 %s = 0; %s < %lld; ++%s)", k, k, (long long)inner, k);
    for (int page = 0; page < s->down * s->across; page++)
        cs_line(p, "reduce_tile%s(%s, %s, %s, 0, %d);", kind, cb, scaler,
                along_row ? page_text(s, page, across, 0, (Term){k, 1}) : page_text(s, page, 0, 1, (Term){k, across}),
                slot_of(s, n, page));
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
        window_read(c, n->cb);
        window_read(c, n->cb2);
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
    window_write(c, s->root->cb);
    const char *cb = role_cb(&c->role, s->root->cb);
    cs_line(p, "tile_regs_commit();");
    cs_line(p, "tile_regs_wait();");
    compute_format(c, REG_PACK, s->root->cb);
    bool in_order = !s->root->adds_if && (s->across == s->grid_columns || s->down == 1);
    for (int page = 0; page < s->down * s->across; page++) {
        if (in_order)
            cs_line(p, "pack_tile(%d, %s);", slot_of(s, result, page), cb);
        else
            cs_line(p, "pack_tile<true>(%d, %s, %s);", slot_of(s, result, page), cb,
                    page_text(s, page, s->grid_columns, 1, (Term){0}));
    }
    if (s->reduces || c->reduces) { /* the packer's mask goes, so the next reduction needs its init again */
        cs_line(p, "reduce_uninit();");
        c->now.init = NULL;
        c->asked.inits_differ = true;
    }
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
    const char *next = step == 1 ? arena_printf(section_tt(s)->arena, "++%s", name)
                                 : arena_printf(section_tt(s)->arena, "%s += %d", name, step);
    cs_open(&c->role.p, "for (u32 %s = 0; %s < %lld; %s)", name, name,
            (long long)(is_row ? s->grid_rows : s->grid_columns), next);
}
static void walk_inner(Compute *c, void *user) {
    Walk inner = *(Walk *)user;
    inner.level++;
    walk_sections(c, &inner);
}
static void walk_sections(Compute *c, void *user) {
    Walk *w = user;
    if (w->level == 2)
        print_pages(w->s, w->root);
    else if (w->level == 0 ? w->s->r != NULL : w->s->c_var != NULL)
        compute_loop(c, open_walk, walk_inner, w);
    else
        walk_inner(c, w);
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

void section_root(Compute *c, const Root *root) {
    Section s;
    size_t pops = c->pops.count, homes = c->homed.count;
    if (!c->in_dst) graph_prepare(c, root, root->value, false);
    int node = graph_build(&s, c, root);
    int slots = (int)tensix_dst_slots(true, false);
    if (s.need > slots) {
        slots = (int)tensix_dst_slots(true, true);
        c->role.tt->plan->full_sync = true;
    }
    if (s.need > slots) {
        tt_refuse(c->role.tt, root->op, "an expression that keeps more than %d tiles alive; store parts of it first",
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
    Walk walk = {&s, node, 0};
    if (root->adds_if) cs_line(&c->role.p, "pack_reconfig_l1_acc(%s);", root->adds_if);
    walk_sections(c, &walk);
    if (root->adds_if) cs_line(&c->role.p, "pack_reconfig_l1_acc(0);");
    c->reduces = s.reduces && root->to_dst;
    if (!c->in_dst) { /* inner CBs made for this root */
        while (c->pops.count > pops) {
            --c->pops.count;
            window_call(c, CB_POP, c->pops.at[c->pops.count].cb);
        }
        compute_forget(c, homes);
    }
}
