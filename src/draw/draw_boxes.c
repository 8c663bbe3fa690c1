/* SPDX-License-Identifier: Apache-2.0 */
/* draw_boxes.c: which part of which array a program touches: every load and store of a box, on its tensor. Along a
 * dimension whose offset comes from the grid there are the tiles of other programs (pale); along one whose offset a
 * loop moves, the tiles of the other trips; along one that an index vector indexes, some places of many. */
#include "draw/draw.h"
#include "ir/ringform.h"

#include <string.h>

enum { PANEL = 232, STEP = 172, ROOM = 130, PER_ROW = 4, MOST = 16, DEEP = 24, PLACES = 11 };
typedef enum Comes { FROM_NOTHING = 0, FROM_GRID = 1, FROM_LOOP = 2, FROM_VECTOR = 4 } Comes;

static unsigned comes_from(const Kernel *k, Ref r, int depth) {
    if (!ref_is_value(r) || !depth) return FROM_NOTHING;
    const Value *v = ir_value(k, r);
    if (v->region) {
        const Op *owner = v->region->owner;
        return !owner ? FROM_NOTHING : owner->code == OP_TASKS ? FROM_GRID : FROM_LOOP;
    }
    unsigned found = v->op->code == OP_PROGRAM_ID ? FROM_GRID : FROM_NOTHING;
    for (int i = 0; i < v->op->operand_count; i++) found |= comes_from(k, v->op->operands[i], depth - 1);
    return found;
}

/* Operations as they are written; what binds less than a product stands in brackets where it is a factor. */
static const struct {
    Opcode code;
    const char *sign;
    bool factors;
} signs[] = {
    {OP_ADD, "+", false}, {OP_SUB, "-", false}, {OP_MUL, "*", true},      {OP_DIV, "/", true},
    {OP_REM, "%", true},  {OP_MOD, "%", true},  {OP_FLOORDIV, "/", true},
};

/* "start_m", "(k + 1) * 64", "at[:]" of an index vector: as far as it goes in a few words. */
static void add_offset(Text *t, const Kernel *k, Ref r, int depth, bool factor) {
    int64_t number;
    if (ir_const_int(k, r, &number)) {
        text_add(t, "%lld", (long long)number);
        return;
    }
    const Value *v = ref_is_value(r) ? ir_value(k, r) : NULL;
    const Op *op = v ? v->op : NULL;
    size_t i = 0, count = sizeof signs / sizeof *signs;
    while (op && i < count && signs[i].code != op->code) i++;
    bool named = v && v->name && strspn(v->name, "0123456789") != strlen(v->name);
    if (named) {
        text_add(t, ty_is_scalar(ir_type(k, r)) ? "%s" : "%s[:]", v->name);
    } else if (op && op->code == OP_PROGRAM_ID) {
        text_add(t, "pid%d", (int)op_int(op, AT_DIM, 0));
    } else if (op && depth && (op->code == OP_CAST || op->code == OP_CONVERT)) {
        add_offset(t, k, op->operands[0], depth - 1, factor);
    } else if (op && depth && i < count) {
        bool within = factor && !signs[i].factors;
        if (within) text_add(t, "(");
        add_offset(t, k, op->operands[0], depth - 1, signs[i].factors);
        text_add(t, " %s ", signs[i].sign);
        add_offset(t, k, op->operands[1], depth - 1, signs[i].factors);
        if (within) text_add(t, ")");
    } else
        text_add(t, "..");
}

typedef struct Panel {
    const Op *op;
    const Type *box;
    bool writes;
    const char *name, *at; /* of the array; where the box lies */
    unsigned from[2];      /* what moves it along rows and columns */
    int times;             /* that it stands in the text */
} Panel;

static const char *array_name(const Kernel *k, Ref tensor) {
    const Value *v = ir_value(k, tensor);
    if (v->op && v->op->code == OP_TENSOR && ref_is_value(v->op->operands[0])) v = ir_value(k, v->op->operands[0]);
    return v->name ? v->name : "an array";
}

static void place_panel(const Kernel *k, Panel *p, Arena *arena) {
    Text at = text_new(arena);
    Ref tensor = op_operand(p->op, 0);
    RefList offsets = op_list(p->op, 0);
    int rank = ir_type(k, tensor)->rank;
    /* Two dimensions are drawn: the last ones of the box, and for a box of one the dimension before it. */
    int last = box_dim(p->op, rank, p->box->rank, p->box->rank - 1);
    int before = p->box->rank > 1 ? box_dim(p->op, rank, p->box->rank, p->box->rank - 2) : last - 1;
    for (int side = 0; side < 2; side++) {
        int dim = side ? last : before;
        if (dim < 0 || dim >= offsets.count) continue;
        if (at.length) text_add(&at, ", ");
        add_offset(&at, k, offsets.at[dim], 3, false);
        bool vector = !ty_is_scalar(ir_type(k, offsets.at[dim]));
        p->from[side] = vector ? FROM_VECTOR : comes_from(k, offsets.at[dim], DEEP);
    }
    p->name = array_name(k, tensor);
    p->at = at.at;
    p->times = 1;
}

static bool moves(const Panel *p) { return (p->from[0] | p->from[1]) & FROM_LOOP; }

/* The same box again is no picture of its own, nor is the first of those that a loop goes on with. */
static bool joins(Panel *known, const Panel *p) {
    bool same = known->writes == p->writes && strcmp(known->name, p->name) == 0 && ty_same_shape(known->box, p->box);
    bool again = same && strcmp(known->at, p->at) == 0;
    if (again)
        known->times++;
    else if (!same || moves(known) == moves(p))
        return false;
    else if (moves(p))
        *known = *p;
    return true;
}

static void find_boxes(const Kernel *k, const Region *region, Panel *panels, int *count, Arena *arena) {
    for (const Op *op = region->first; op; op = op->next) {
        bool load = op->code == OP_TLOAD, store = op->code == OP_TSTORE || op->code == OP_TATOMIC;
        Ref tile = load ? op->results[0] : store ? op_operand(op, 1) : REF_NONE;
        if (tile && ir_type(k, tile)->kind == TY_TILE && ir_type(k, tile)->rank) {
            Panel p = {.op = op, .box = ir_type(k, tile), .writes = store};
            int i = 0;
            place_panel(k, &p, arena);
            while (i < *count && !joins(&panels[i], &p)) i++;
            if (i == *count && i < MOST) panels[(*count)++] = p;
        }
        for (int i = 0; i < op->region_count; i++) find_boxes(k, op->regions[i], panels, count, arena);
    }
}

/* Rows that an index vector names may lie anywhere: of PLACES, some. */
static bool chosen(int place) { return (0x2c9 >> place) & 1; }

static void draw_panel(Text *t, const Panel *p, double x, double y) {
    double size[2] = {ROOM * 0.7, ROOM * 1.3};
    int parts[2];
    for (int side = 0; side < 2; side++)
        parts[side] = p->from[side] == FROM_NOTHING ? 1 : p->from[side] == FROM_VECTOR ? PLACES : 5;
    svg_text(t, "", x, y + 14, FROM_LEFT, PANEL - 12, "%s %s", p->writes ? "store" : "load", p->name);
    svg_text(t, "soft small", x, y + 30, FROM_LEFT, PANEL - 12, "%s", ty_text(p->box, t->arena));
    double high = size[0] / parts[0], wide = size[1] / parts[1];
    for (int r = 0; r < parts[0]; r++)
        for (int c = 0; c < parts[1]; c++) {
            bool row_grid = p->from[0] & FROM_GRID, column_grid = p->from[1] & FROM_GRID;
            bool row_vector = p->from[0] == FROM_VECTOR, column_vector = p->from[1] == FROM_VECTOR;
            bool mine = (!row_grid || r == 1) && (!column_grid || c == 2) && (!row_vector || chosen(r)) &&
                        (!column_vector || chosen(c));
            bool now = (row_vector || r == (row_grid ? 1 : 0)) && (column_vector || c == (column_grid ? 2 : 0));
            const char *fill = !mine ? "quiet" : now ? svg_hue(p->writes) : p->writes ? "two faint" : "one faint";
            svg_box(t, fill, x + c * wide, y + 38 + r * high, wide, high, NULL);
        }
    svg_text(t, "soft small", x, y + 38 + size[0] + 16, FROM_LEFT, PANEL - 12, "at [%s]", p->at);
    svg_text(t, "soft small", x, y + 38 + size[0] + 32, FROM_LEFT, PANEL - 12, "%s%s",
             moves(p)                                         ? "a loop moves it"
             : (p->from[0] | p->from[1]) & FROM_VECTOR ? "where an index vector says"
                                                       : "once a program",
             p->times > 1 ? arena_printf(t->arena, ", in %d places", p->times) : "");
}

void draw_boxes(Text *t, const Kernel *k) {
    Panel panels[MOST];
    int count = 0;
    find_boxes(k, k->body, panels, &count, t->arena);
    if (!count) return;
    draw_section(t, "Tiles on the grid",
                 "What one program loads (blue) and stores (yellow): the tile of the first trip, and "
                 "paler those of later "
                 "trips. Grey: tiles of other programs.");
    svg_begin(t, (count + PER_ROW - 1) / PER_ROW * STEP + 10, "tiles that a program loads and stores");
    for (int i = 0; i < count; i++) draw_panel(t, &panels[i], 8 + i % PER_ROW * PANEL, i / PER_ROW * STEP);
    svg_end(t);
}
