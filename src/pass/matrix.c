/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.c: see matrix.h. */
#include "pass/matrix.h"

const Fragment fragments[FRAGMENTS] = {
#define FRAGMENT(name, registers, lanes, warps, ...) [FRAGMENT_##name] = {registers, lanes, warps, {__VA_ARGS__}},
#include "pass/matrix.def"
};

static const Matrix rows[] = {
#define MATRIX(...) {__VA_ARGS__},
#include "pass/matrix.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

const Matrix *matrix_at(int index) { return index < ROWS ? &rows[index] : NULL; }

static bool is_elem(Elem row, Elem elem) { return row == EL_ANY || row == elem; }

const Matrix *matrix_of(const Kernel *k, const Op *dot) {
    Word instr = op_word(dot, AT_INSTR, INSTR_FMA);
    Elem a = ir_type(k, dot->operands[0])->elem, b = ir_type(k, dot->operands[1])->elem;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].instr == instr && is_elem(rows[i].a, a) && is_elem(rows[i].b, b)) return &rows[i];
    return &rows[ROWS - 1];
}

/* --- does it fit? --- */
/* A sum of more bits is rounded to the type of the dot, one of another kind is not. */
static bool gives(const Matrix *row, Elem sum) {
    if (is_elem(row->sum, sum)) return true;
    return elem_is_float(row->sum) && elem_is_float(sum) && elem_info[sum].bits < elem_info[row->sum].bits;
}

static bool is_turned(const Kernel *k, Ref operand) {
    const Op *op = ref_is_value(operand) ? ir_value(k, operand)->op : NULL;
    return op && op->code == OP_PERMUTE && op_attr(op, AT_DIMS)->list.at[0] == 1;
}

int64_t matrix_promote(const Kernel *k, const Op *dot) {
    const Type *a = ir_type(k, dot->operands[0]);
    const Attr *most = op_attr(dot, AT_PROMOTE);
    bool is_small = elem_is_float(a->elem) && elem_info[a->elem].bits == 8;
    if (!is_small || !most || ir_type(k, dot->results[0])->elem != EL_F32) return INT64_MAX;
    return most->number <= a->extent[a->rank - 1] ? most->number : INT64_MAX;
}

bool matrix_overlaps(const Kernel *k, const Op *dot) {
    return matrix_of(k, dot)->is_async && matrix_promote(k, dot) == INT64_MAX;
}

const char *matrix_misfit(const Matrix *row, const Machine *machine, const Kernel *k, const Op *dot, int warps) {
    const Type *a = ir_type(k, dot->operands[0]), *b = ir_type(k, dot->operands[1]), *c = ir_type(k, dot->operands[2]);
    if (!(machine->matrix & row->set)) return "the machine does not have it";
    if (!is_elem(row->a, a->elem) || !is_elem(row->b, b->elem) || !gives(row, c->elem))
        return "it does not multiply these types";
    if (row->precision != WORD_NONE && op_word(dot, AT_PREC, PREC_IEEE) != row->precision)
        return "it rounds the factors, which the dot does not allow";
    if (!row->warps) return NULL;
    if (a->rank != 2) return "it multiplies matrices";
    /* A smaller tile would leave lanes without an element. */
    if (ll_log2(c->extent[0]) < ll_log2(row->m) || ll_log2(c->extent[1]) < ll_log2(row->n))
        return "the tile is smaller than its own";
    if (warps % row->warps) return "the warps do not make whole groups of those that run it together";
    /* What is fetched or read must lie the way that it reads: rows as they were loaded, under a permute the other
     * way. */
    unsigned a_lies = is_turned(k, dot->operands[0]) ? FROM_ACROSS_K : FROM_ALONG_K;
    unsigned b_lies = is_turned(k, dot->operands[1]) ? FROM_ALONG_K : FROM_ACROSS_K;
    if (!(row->a_from & a_lies) || !(row->b_from & b_lies)) return "it does not read operands that lie across K";
    int64_t n = (c->extent[1] + row->n - 1) / row->n * row->n;
    if (row->n_coarse && n > row->n_fine && n % row->n_coarse) return "it has no form of so many columns";
    if (row->promotes && matrix_promote(k, dot) < row->k) return "it would sum more products than `promote` allows";
    return NULL;
}

bool matrix_multiplies(const Machine *machine, Elem a, Elem b, Word precision) {
    for (int i = 0; i < ROWS; i++)
        if (rows[i].warps && machine->matrix & rows[i].set && rows[i].a == a && rows[i].b == b &&
            rows[i].precision == precision)
            return true;
    return false;
}

const Matrix *matrix_async(const Machine *machine) {
    for (int i = 0; i < ROWS; i++)
        if (rows[i].is_async && machine->matrix & rows[i].set) return &rows[i];
    return NULL;
}

/* --- fragments --- */
static LinearLayout fragment_layout(const Fragment *f) {
    int64_t extent[2] = {1, 1};
    int count = f->registers + f->lanes + f->warps;
    for (int i = 0; i < count; i++) extent[0] += f->at[i].row, extent[1] += f->at[i].column;
    LinearLayout layout = ll_empty(2, extent);
    for (int i = 0; i < count; i++)
        ll_push(&layout,
                i < f->registers              ? LL_REGISTER
                : i < f->registers + f->lanes ? LL_LANE
                                              : LL_WARP,
                (uint32_t)f->at[i].row << layout.log2[1] | f->at[i].column);
    return layout;
}

void matrix_columns(FragmentName name, int *registers, int *lanes) {
    const Fragment *f = &fragments[name];
    int next = 1;
    *registers = *lanes = 0;
    for (int i = 0; i < f->registers && !f->at[i].row && f->at[i].column == next; i++, next *= 2) ++*registers;
    for (int i = f->registers; i < f->registers + f->lanes && !f->at[i].row && f->at[i].column == next; i++, next *= 2)
        ++*lanes;
}

static FragmentName fragment_before(const Kernel *k, Ref r, int depth) {
    const Op *op = ref_is_value(r) ? ir_value(k, r)->op : NULL;
    if (!op || depth == 0) return FRAGMENT_NONE;
    if (op->code == OP_DOT) return matrix_of(k, op)->sum_in;
    if (!op_has(op->code, TRAIT_ELEMENTWISE)) return FRAGMENT_NONE;
    const Type *type = ir_type(k, r);
    for (int i = 0; i < op->operand_count; i++) {
        if (!ref_is_value(op->operands[i])) continue;
        const Type *from = ir_type(k, op->operands[i]);
        if (from->rank != type->rank || ty_elements(from) != ty_elements(type)) continue;
        FragmentName found = fragment_before(k, op->operands[i], depth - 1);
        if (found != FRAGMENT_NONE) return found;
    }
    return FRAGMENT_NONE;
}

FragmentName matrix_before(const Kernel *k, Ref r) { return fragment_before(k, r, 32); }

LinearLayout matrix_spread(FragmentName name, int64_t m, int64_t n, int along_m, int along_n, bool whole, int warps) {
    LinearLayout part = fragment_layout(&fragments[name]);
    LinearLayout map = ll_repeat(&part, m, n, along_m, along_n, whole);
    while (1 << map.count[LL_WARP] < warps) ll_push(&map, LL_WARP, 0);
    return map;
}

bool matrix_is_spread(FragmentName name, const LinearLayout *map) {
    const Fragment *f = &fragments[name];
    if (name == FRAGMENT_NONE || map->rank != 2 || map->count[LL_REGISTER] < f->registers ||
        map->count[LL_LANE] != f->lanes)
        return false;
    for (int i = 0; i < f->registers + f->lanes; i++) {
        uint32_t at = i < f->registers ? map->basis[LL_REGISTER][i] : map->basis[LL_LANE][i - f->registers];
        if (ll_coord(map, at, 0) != f->at[i].row || ll_coord(map, at, 1) != f->at[i].column) return false;
    }
    return true;
}
