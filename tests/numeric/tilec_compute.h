/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_compute.h: what C says that a program computes (random_tilec.c): integers wrap, x / 0 is 0. */
#ifndef NUMERIC_TILEC_COMPUTE_H
#define NUMERIC_TILEC_COMPUTE_H
#include "tilec_make.h"

/* --- computing --- */

typedef enum Flow { GO, BREAKS, CONTINUES, RETURNS } Flow;
static int tiles_first, vectors_first;
static int64_t returned;
static Flow run_statements(const Node *n);

static int64_t binary(const char *op, Type t, int64_t x, int64_t y) {
    uint64_t a = (uint64_t)x, b = (uint64_t)y;
    switch (op[0]) {
    case '+': return (int64_t)(a + b);
    case '-': return (int64_t)(a - b);
    case '*': return (int64_t)(a * b);
    case '/': return y == 0 ? 0 : y == -1 ? (int64_t)(0 - a) : x / y;
    case '%': return y == 0 ? x : y == -1 ? 0 : x % y;
    case '&': return (int64_t)(a & b);
    case '|': return (int64_t)(a | b);
    case '^': return (int64_t)(a ^ b);
    case '<': return op[1] == '<' ? (int64_t)(a << (y & 15)) : op[1] ? x <= y : x < y;
    case '>': return op[1] == '>' ? (t == U32 ? (int64_t)((uint32_t)x >> (y & 15)) : x >> (y & 15)) : op[1] ? x >= y : x > y;
    case '=': return x == y;
    default: return x != y;
    }
}

static int64_t compute(const Node *n);

static int64_t *cell_of(const Node *n) {
    int64_t which = compute(n->kids[0]) & 1, row = compute(n->kids[1]) & 15, col = compute(n->kids[2]) & 15;
    return &variables[tiles_first + PLAIN_TILES + 2 * SHARED_PAIR + which].tile[row * LANES + col];
}

static int64_t call_function(const Node *n) {
    const struct Function *f = &functions[n->number];
    int64_t a = compute(n->kids[0]), b = compute(n->kids[1]);
    variables[f->parameters[0]].value = wrap_to(I32, a);
    variables[f->parameters[1]].value = wrap_to(variables[f->parameters[1]].type, b);
    if (f->pointer >= 0) variables[f->pointer].value = variables[n->other].value;
    returned = 0;
    run_statements(f->body);
    return wrap_to((Type)f->result_type, returned);
}

static int64_t compute(const Node *n) {
    int64_t x, y;
    if (budget-- < 0) return 0;
    switch (n->kind) {
    case E_NUMBER: return n->number;
    case E_VARIABLE: return variables[n->variable].value;
    case E_TARGET: return variables[variables[n->variable].value].value;
    case E_ELEMENT: return variables[array_first + (compute(n->kids[0]) & 1)].value;
    case E_CELL: return *cell_of(n);
    case E_UNARY:
        x = compute(n->kids[0]);
        return n->op[0] == '!' ? !x : wrap_to(n->type, n->op[0] == '-' ? (int64_t)(0 - (uint64_t)x) : ~x);
    case E_CHOICE:
        x = compute(n->kids[0]) ? compute(n->kids[1]) : compute(n->kids[2]);
        return wrap_to(n->type, x);
    case E_CAST: return wrap_to(n->type, compute(n->kids[0]));
    case E_CALL: return call_function(n);
    default: break;
    }
    if (!strcmp(n->op, "&&")) return compute(n->kids[0]) && compute(n->kids[1]);
    if (!strcmp(n->op, "||")) return compute(n->kids[0]) || compute(n->kids[1]);
    bool shifts = !strcmp(n->op, "<<") || !strcmp(n->op, ">>");
    Type t = shifts ? n->type : common_type(n->kids[0]->type, n->kids[1]->type);
    x = wrap_to(t, compute(n->kids[0]));
    y = shifts ? compute(n->kids[1]) : wrap_to(t, compute(n->kids[1]));
    return wrap_to(n->type, binary(n->op, t, x, y));
}

static void assign(int v, int64_t x) { variables[v].value = wrap_to(variables[v].type, x); }

static int64_t map_one(const char *op, int64_t x, int64_t y, int64_t z) {
    if (!strncmp(op, "add", 3)) return x + y;
    if (!strncmp(op, "sub", 3)) return x - y;
    if (!strncmp(op, "mul", 3)) return x * y;
    if (!strncmp(op, "max", 3)) return x > y ? x : y;
    if (!strncmp(op, "min", 3)) return x < y ? x : y;
    if (!strcmp(op, "div")) return y ? x / y : 0;
    if (!strcmp(op, "neg")) return -x;
    if (!strcmp(op, "abs")) return x < 0 ? -x : x;
    if (!strcmp(op, "relu")) return x < 0 ? 0 : x;
    if (!strcmp(op, "zero")) return 0;
    if (!strcmp(op, "one")) return 1;
    if (!strcmp(op, "bit_xor")) return x ^ y;
    if (!strcmp(op, "bit_and")) return x & y;
    if (!strcmp(op, "lt")) return x < y;
    if (!strcmp(op, "ge")) return x >= y;
    if (!strcmp(op, "ne")) return x != y;
    if (!strcmp(op, "select")) return x ? y : z;
    return x; /* copy, fill, broadcast, swap_layout */
}

/* Is element (i, j) kept? */
static bool mask_keeps(const char *op, int64_t i, int64_t j, int64_t a, int64_t b) {
    if (!strcmp(op, "make_causal")) return j <= i;
    if (!strcmp(op, "make_causal_t")) return j >= i;
    if (!strcmp(op, "tril")) return j <= wrap_to(I32, i + a);
    if (!strcmp(op, "triu")) return j >= wrap_to(I32, i + a);
    if (!strcmp(op, "left_fill")) return j >= a;
    if (!strcmp(op, "right_fill")) return j < a;
    if (!strcmp(op, "upper_fill")) return i >= a;
    if (!strcmp(op, "lower_fill")) return i < a;
    return i >= a || j < b;
}

static bool is_mask(const char *op) {
    return strstr(op, "fill") > op || !strncmp(op, "make", 4) || !strncmp(op, "tri", 3);
}

static int64_t combine(const char *op, int64_t x, int64_t y) {
    return strstr(op, "max") ? (x > y ? x : y) : strstr(op, "min") ? (x < y ? x : y) : wrap_to(I32, x + y);
}

/* Along row i (step 1) or column i (step LANES) of a tile, or a vector. */
static int64_t reduce_line(const char *op, const int64_t *at, int step) {
    int64_t value = at[0], place = 0;
    for (int k = 1; k < LANES; k++) {
        int64_t x = at[k * step];
        if (strstr(op, "arg") ? combine(op, value, x) != value : true) {
            if (strstr(op, "arg")) place = k, value = x;
            else value = combine(op, value, x);
        }
    }
    return strstr(op, "arg") ? place : value;
}

/* The variable that operand i of a tile operation is. */
static Variable *operand(const Node *n, char letter, int i, int64_t place) {
    int which = n->other >> 3 * i & 7;
    if (letter == 'w') return &variables[vectors_first + which];
    if (which < PLAIN_TILES) return &variables[tiles_first + which];
    return &variables[tiles_first + PLAIN_TILES + 2 * (which - PLAIN_TILES) + (place & 1)];
}

static void run_tile(const Node *n) {
    const char *op = tile_ops[n->number].name, *operands = tile_ops[n->number].operands;
    int count = (int)strlen(operands), numbers = 0;
    int64_t from[5][CELLS], x[5] = {0}, to[CELLS], place = compute(n->kids[3]);
    for (int i = 0; i < count; i++) { /* all operands before anything is written */
        if (strchr("trw", operands[i]))
            memcpy(from[i], operand(n, operands[i], i, place)->tile, sizeof from[i]);
        else if (operands[i] != 'n') x[i] = wrap_to(I32, compute(n->kids[numbers++]));
    }
    bool row = !strncmp(op, "row_", 4) || strstr(op, "_row"), vector = operands[0] == 'w';
    if (operands[0] == 'n') {
        int64_t value = reduce_line(op, from[1], 1);
        if (count > 2) value = combine(op, x[2], value);
        assign(n->variable, value);
        return;
    }
    for (int c = 0; c < (vector ? LANES : CELLS); c++) {
        int i = vector ? 0 : c / LANES, j = c % LANES;
        if (strstr(op, "indices")) to[c] = !strcmp(op, "row_indices") ? i : j;
        else if (is_mask(op)) {
            int fill = !strcmp(op, "upper_right_fill") ? 4 : !strncmp(op, "make", 4) ? 2 : 3;
            to[c] = mask_keeps(op, i, j, x[2], x[3]) ? from[1][c] : fill < count ? x[fill] : 0;
        } else if (!strncmp(op, "transpose", 9)) to[c] = from[count - 1][j * LANES + i];
        else if (strstr(op, "cumsum")) {
            to[c] = 0;
            if (!strcmp(op, "col_cumsum")) for (int k = 0; k <= i; k++) to[c] += from[1][k * LANES + j];
            else for (int k = 0; k <= j; k++) to[c] += from[1][i * LANES + k];
        } else if (vector && operands[1] == 't') { /* a reduction */
            to[c] = reduce_line(op, from[1] + (row ? c * LANES : c), row ? 1 : LANES);
            if (count > 2) to[c] = combine(op, from[2][c], to[c]);
        } else if (strstr(op, "_row") || strstr(op, "_col")) {
            int64_t v = from[count - 1][row ? i : j];
            to[c] = count == 2 ? v : map_one(op, from[1][c], v, 0);
        } else {
            int64_t y[3] = {0};
            for (int k = 1; k < count; k++) y[k - 1] = operands[k] == 'x' ? x[k] : from[k][c];
            to[c] = map_one(op, y[0], y[1], y[2]);
        }
    }
    Variable *target = operand(n, operands[0], 0, place);
    for (int c = 0; c < (vector ? LANES : CELLS); c++) target->tile[c] = wrap_to(I32, to[c]);
}

static Flow run_while(const Node *n) {
    Variable *w = &variables[n->variable];
    w->value = compute(n->kids[0]) & 7;
    for (bool first = !n->number; budget > 0; first = false) {
        if (n->number ? !(w->value-- > 0) : !first && !(--w->value > 0)) break;
        Flow flow = run_statements(n->kids[2]);
        if (flow == RETURNS) return flow;
        if (flow == BREAKS) break;
    }
    return GO;
}

static Flow run_switch(const Node *n) {
    int64_t x = compute(n->kids[0]) & 3;
    for (int i = x == 0 ? 0 : x >= 2 ? 1 : 2; i < 3; i++) {
        Flow flow = run_statements(n->kids[1 + i]);
        if (flow != GO) return flow;
        if (n->number >> i & 1) break;
    }
    return GO;
}

static Flow run_for(const Node *n) {
    Variable *v = &variables[n->variable];
    Node at = {.kind = E_VARIABLE, .type = v->type, .variable = n->variable};
    Node test = {.kind = E_BINARY, .type = I32, .op = n->op, .kids = {&at, n->kids[1]}};
    for (assign(n->variable, compute(n->kids[0])); budget > 0 && compute(&test); assign(n->variable, v->value + n->number)) {
        Flow flow = run_statements(n->kids[2]);
        if (flow == RETURNS) return flow;
        if (flow == BREAKS) break;
    }
    return GO;
}

/* Fields of struct k: a, u, p. */
static void run_struct(const Node *n) {
    int to = structs + 3 * (int)n->number, from = structs + 3 * (1 - (int)n->number);
    if (n->kind == S_COPY) {
        for (int i = 0; i < 3; i++) variables[to + i].value = variables[from + i].value;
        return;
    }
    assign(to, compute(n->kids[0]));
    variables[to + 1].value = 0;
    variables[to + 2].value = n->other;
}

static Flow run_statement(const Node *n) {
    int target = n->kind == S_ASSIGN && n->other >= 0 ? (int)variables[n->other].value : n->variable;
    int64_t x;
    switch (n->kind) {
    case S_ASSIGN:
        x = compute(n->kids[0]);
        if (n->op[0] != '=') {
            Type t = common_type(variables[target].type, n->kids[0]->type);
            char op[2] = {n->op[0], 0};
            x = wrap_to(t, binary(op, t, wrap_to(t, variables[target].value), wrap_to(t, x)));
        }
        assign(target, x);
        return GO;
    case S_STEP: assign(n->variable, variables[n->variable].value + (n->op[0] == '+' ? 1 : -1)); return GO;
    case S_IF: return run_statements(compute(n->kids[0]) ? n->kids[1] : n->kids[2]);
    case S_FOR: return run_for(n);
    case S_BREAK: return compute(n->kids[0]) ? BREAKS : GO;
    case S_CONTINUE: return compute(n->kids[0]) ? CONTINUES : GO;
    case S_RETURN:
        if (n->kids[0] && !compute(n->kids[0])) return GO;
        returned = compute(n->kids[1]);
        return RETURNS;
    case S_TILE: run_tile(n); return GO;
    case S_WHILE: return run_while(n);
    case S_SWITCH: return run_switch(n);
    case S_CELL:
        x = compute(n->kids[3]);
        *cell_of(n) = wrap_to(I32, x);
        return GO;
    case S_PLACE:
        x = compute(n->kids[0]) & 1; /* C orders neither side; neither has effects */
        assign(array_first + (int)x, compute(n->kids[1]));
        return GO;
    default: run_struct(n); return GO;
    }
}

static Flow run_statements(const Node *n) {
    for (; n; n = n->next) {
        if (budget-- < 0) return RETURNS;
        Flow flow = run_statement(n);
        if (flow != GO) return flow;
    }
    return GO;
}
#endif
