/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_make.h: draws the expressions, statements and functions of a program (random_tilec.c). */
#ifndef NUMERIC_TILEC_MAKE_H
#define NUMERIC_TILEC_MAKE_H
#include "tilec_tree.h"

/* --- making expressions --- */

static Node *make_expression(int depth);

static Node *make_number(void) {
    static const int64_t hard[] = {0, 1, 2, -1, 7, 31, 255, 256, 65535, 2147483647, -2147483647, 4294967295, 1000003};
    Node *n = node_new(E_NUMBER);
    n->number = draw(3) ? (int64_t)draw(12) : hard[draw(13)];
    n->type = n->number == (int32_t)n->number ? I32 : I64;
    return n;
}

/* A number to index with. */
static Node *make_place(void) {
    int v = draw(3) ? some_variable(NUMBER, false) : -1;
    if (v < 0) return make_number();
    Node *n = node_new(E_VARIABLE);
    n->variable = v;
    n->type = variables[v].type;
    return n;
}

static Node *make_leaf(void) {
    int v = draw(4) ? some_variable(NUMBER, false) : -1;
    if (v < 0 && draw(3) == 0) {
        int p = some_variable(POINTER, false);
        if (p >= 0) {
            Node *n = node_new(E_TARGET);
            n->variable = p;
            n->type = I32;
            return n;
        }
    }
    if (v < 0 && array_first >= 0 && !in_function && draw(3) == 0) { /* r[x & 1] */
        Node *n = node_new(E_ELEMENT);
        n->kids[0] = make_number();
        int w = some_variable(NUMBER, false);
        if (w >= 0 && draw(3)) n->kids[0] = node_new(E_VARIABLE), n->kids[0]->variable = w, n->kids[0]->type = variables[w].type;
        n->type = I32;
        return n;
    }
    if (v < 0 && array_first >= 0 && !in_function && draw(4) == 0) { /* sa[x & 1][y & 15][z & 15] */
        Node *n = node_new(E_CELL);
        for (int i = 0; i < 3; i++) n->kids[i] = make_place();
        n->type = I32;
        return n;
    }
    if (v < 0) return make_number();
    Node *n = node_new(E_VARIABLE);
    n->variable = v;
    n->type = variables[v].type;
    return n;
}

static Node *make_binary(int depth) {
    static const char *const ops[] = {"+", "-", "*", "<", "==", "&&", "||", "/", "%", "&", "|", "^", "<<", ">>", "<=", "!=", ">", ">="};
    Node *n = node_new(E_BINARY), *a = make_expression(depth - 1), *b = make_expression(depth - 1);
    n->op = ops[draw(18)];
    n->kids[0] = a;
    n->kids[1] = b;
    bool compares = strchr("<>=!", n->op[0]) && strcmp(n->op, "<<") != 0 && strcmp(n->op, ">>") != 0;
    bool shifts = !strcmp(n->op, "<<") || !strcmp(n->op, ">>");
    bool logical = !strcmp(n->op, "&&") || !strcmp(n->op, "||");
    n->type = compares || logical ? I32 : shifts ? common_type(a->type, I32) : common_type(a->type, b->type);
    if (shifts) n->type = a->type == I8 ? I32 : a->type;
    return n;
}

static Node *make_expression(int depth) {
    if (depth <= 0) return make_leaf();
    Node *n;
    switch (draw(9)) {
    case 0:
    case 1: return make_leaf();
    case 6:
        n = node_new(E_UNARY);
        n->op = draw(2) ? "-" : draw(2) ? "!" : "~";
        n->kids[0] = make_expression(depth - 1);
        n->type = n->op[0] == '!' ? I32 : common_type(n->kids[0]->type, I32);
        return n;
    case 7:
        n = node_new(E_CHOICE);
        for (int i = 0; i < 3; i++) n->kids[i] = make_expression(depth - 1);
        n->type = common_type(n->kids[1]->type, n->kids[2]->type);
        return n;
    case 8:
        n = node_new(E_CAST);
        n->type = (Type)draw(4);
        n->kids[0] = make_expression(depth - 1);
        return n;
    default: return make_binary(depth);
    }
}

/* --- making statements --- */

static Node *make_statements(int count, int depth);

/* Operations on tiles and vectors: their operands as letters: t tile, r one in registers, w vector, x number, n variable that is written. */
static const struct {
    const char *name, *operands;
} tile_ops[] = {
    {"add", "ttt"}, {"sub", "ttt"}, {"mul", "ttx"}, {"max", "ttt"}, {"min", "ttx"}, {"div", "ttx"}, {"copy", "tt"}, {"neg", "tt"},
    {"abs", "tt"}, {"relu", "tt"}, {"zero", "t"}, {"one", "t"}, {"fill", "tx"}, {"bit_xor", "ttt"}, {"bit_and", "ttx"}, {"lt", "ttt"},
    {"ge", "ttx"}, {"ne", "ttt"}, {"select", "tttt"}, {"select", "ttxt"}, {"row_indices", "t"}, {"col_indices", "t"},
    {"add", "www"}, {"sub", "wwx"}, {"max", "www"}, {"copy", "ww"}, {"neg", "ww"}, {"indices", "w"}, {"fill", "wx"},
    {"add_row", "ttw"}, {"mul_row", "ttw"}, {"sub_row", "ttw"}, {"max_row", "ttw"}, {"broadcast_row", "tw"},
    {"add_col", "ttw"}, {"mul_col", "ttw"}, {"sub_col", "ttw"}, {"min_col", "ttw"}, {"broadcast_col", "tw"},
    {"row_sum", "wt"}, {"row_max", "wt"}, {"row_min", "wtw"}, {"row_sum", "wtw"}, {"row_argmax", "wt"},
    {"col_sum", "wt"}, {"col_max", "wtw"}, {"col_min", "wt"}, {"col_argmin", "wt"},
    {"sum", "nw"}, {"max", "nw"}, {"min", "nwx"}, {"row_cumsum", "tt"}, {"col_cumsum", "tt"}, {"cumsum", "ww"},
    {"make_causal", "ttx"}, {"make_causal_t", "tt"}, {"tril", "ttzx"}, {"triu", "ttz"}, {"left_fill", "ttzx"}, {"right_fill", "ttz"},
    {"upper_fill", "ttzx"}, {"lower_fill", "ttz"}, {"upper_right_fill", "ttzzx"}, {"right_fill", "wwzx"},
    {"transpose_sep", "tt"}, {"transpose_inplace", "t"}, {"swap_layout", "rr"},
};
enum { TILE_OPS = sizeof tile_ops / sizeof *tile_ops };

/* kids: the numbers, and the last one which of a pair of tiles; number: which row; operands are packed into `other`, 3 bits
 * each: PLAIN_TILES tiles, then pairs. A tile that is written is not read at another place of the same pair. */
static Node *make_tile(void) {
    Node *n = node_new(S_TILE);
    n->number = draw(TILE_OPS);
    n->other = 0;
    int numbers = 0;
    for (const char *o = tile_ops[n->number].operands; *o; o++) {
        long i = o - tile_ops[n->number].operands;
        if (*o == 't') n->other |= (int)(draw(2) ? draw(PLAIN_TILES) : draw(PLAIN_TILES + PAIRS)) << 3 * i;
        else if (*o == 'r') n->other |= (int)draw(PLAIN_TILES) << 3 * i;
        else if (*o == 'w') n->other |= (int)draw(2) << 3 * i;
        else if (*o == 'n') n->variable = some_variable(NUMBER, true);
        else if (*o == 'z') n->kids[numbers++] = draw(4) ? make_number() : make_leaf();
        else n->kids[numbers++] = make_leaf();
    }
    n->kids[3] = make_place();
    return n;
}

/* A call stands alone: behind a run-time ?: the door refuses it. */
static Node *make_call(void) {
    Node *n = node_new(E_CALL);
    n->number = draw((uint32_t)functions_made);
    for (int i = 0; i < 2; i++) n->kids[i] = make_expression(2);
    n->type = (Type)functions[n->number].result_type;
    if (functions[n->number].pointer < 0) return n;
    n->other = some_variable(POINTER, false);
    return n;
}

static Node *make_assign(void) {
    static const char *const ops[] = {"=", "+=", "-=", "*=", "^=", "|=", "&=", "/=", "%="};
    int p = draw(5) == 0 ? some_variable(POINTER, false) : -1;
    Node *n = node_new(S_ASSIGN);
    n->op = draw(2) ? "=" : ops[draw(9)];
    n->variable = some_variable(NUMBER, true);
    if (p >= 0) n->other = p; /* *p = .. */
    bool calls = functions_made && !in_function && draw(4) == 0;
    n->kids[0] = calls ? make_call() : make_expression(3);
    if (calls) n->op = "="; /* x += f(&x): C does not say which x is read */
    return n;
}

/* The body of a loop. */
static void make_body(Node *n, int depth) {
    bool outer = break_allowed;
    break_allowed = true;
    loop_depth++;
    n->kids[2] = make_statements(1 + (int)draw(3), depth - 1);
    loop_depth--;
    break_allowed = outer;
}

/* int w = e & 7; while (w-- > 0) { .. }, or do { .. } while (--w > 0); */
static Node *make_while(int depth) {
    Node *n = node_new(S_WHILE);
    int scope = variable_count;
    n->kids[0] = make_expression(2);
    n->variable = add_variable(NUMBER, I32, "w%d", loop_names++);
    if (n->variable < 0) return make_assign();
    n->number = draw(2);
    variables[n->variable].fixed = true;
    make_body(n, depth);
    for (int i = scope; i < variable_count; i++) variables[i].visible = false;
    return n;
}

/* switch (e & 3) { case 0: .. [break;] case 2: .. default: .. } */
static Node *make_switch(int depth) {
    Node *n = node_new(S_SWITCH);
    n->kids[0] = make_expression(2);
    n->number = draw(8); /* which of the three end in break */
    bool outer = break_allowed;
    break_allowed = false; /* a break here is one of the switch: printed by itself */
    for (int i = 1; i <= 3; i++) {
        int scope = variable_count;
        n->kids[i] = make_statements(1 + (int)draw(2), depth - 1);
        for (int v = scope; v < variable_count; v++) variables[v].visible = false;
    }
    break_allowed = outer;
    return n;
}

static Node *make_for(int depth) {
    Node *n = node_new(S_FOR);
    int scope = variable_count;
    bool known = draw(2);
    n->variable = add_variable(NUMBER, draw(3) ? I32 : U32, "i%d", loop_names++);
    if (n->variable < 0) return make_assign();
    n->kids[0] = make_number();
    n->kids[0]->number = draw(3);
    n->kids[0]->type = I32;
    n->op = draw(2) ? "<" : "<=";
    if (known) {
        n->kids[1] = make_number();
        n->kids[1]->number = draw(6);
        n->kids[1]->type = I32;
    } else if (draw(3) == 0) { /* a bound that the body may change */
        n->kids[1] = make_leaf();
    } else { /* 0 .. 3 */
        Node *mask = make_number();
        mask->number = 3, mask->type = I32;
        n->kids[1] = node_new(E_BINARY);
        n->kids[1]->op = "&";
        n->kids[1]->kids[0] = make_leaf();
        n->kids[1]->kids[1] = mask;
        n->kids[1]->type = common_type(n->kids[1]->kids[0]->type, I32);
    }
    n->number = 1 + draw(2);
    variables[n->variable].fixed = draw(8) != 0; /* now and then the body changes it */
    make_body(n, depth);
    for (int i = scope; i < variable_count; i++) variables[i].visible = false;
    return n;
}

static Node *make_if(int depth) {
    Node *n = node_new(S_IF);
    n->kids[0] = make_expression(2);
    for (int i = 1; i <= 1 + (int)draw(2); i++) {
        int scope = variable_count;
        n->kids[i] = make_statements(1 + (int)draw(2), depth - 1);
        for (int v = scope; v < variable_count; v++) variables[v].visible = false;
    }
    return n;
}

static Node *make_statement(int depth) {
    Node *n;
    switch (draw(depth > 0 ? 15 : 7)) {
    case 0:
        if (array_first < 0 || in_function || draw(2)) return make_assign();
        n = node_new(S_CELL); /* sa[x & 1][y & 15][z & 15] = e */
        for (int i = 0; i < 3; i++) n->kids[i] = make_place();
        n->kids[3] = make_expression(2);
        return n;
    case 1:
        if (array_first < 0 || in_function) return make_assign();
        n = node_new(S_PLACE); /* r[x & 1] = e */
        n->kids[0] = make_leaf();
        n->kids[1] = make_expression(2);
        return n;
    case 2:
        n = node_new(S_STEP);
        n->op = draw(2) ? "++" : "--";
        n->variable = some_variable(NUMBER, true);
        return n;
    case 3:
        if (!in_function) return make_tile();
        return make_assign();
    case 4:
        if (in_function) return make_assign();
        n = node_new(draw(3) ? S_COPY : S_POINT); /* s1 = s2, or s1 = (struct S){.a = e, .p = &v} */
        n->number = draw(2);
        n->kids[0] = make_expression(2);
        n->other = first_visible + (int)draw(2); /* v0 or v1 */
        return n;
    case 5:
        if (loop_depth && break_allowed && draw(2)) { /* if (i == 2) break; */
            n = node_new(draw(2) ? S_BREAK : S_CONTINUE);
            n->kids[0] = make_expression(1);
            return n;
        }
        return make_assign();
    case 6:
        if (in_function && draw(2)) {
            n = node_new(S_RETURN);
            n->kids[0] = make_expression(1);
            n->kids[1] = make_expression(2);
            return n;
        }
        return in_function ? make_assign() : make_tile();
    case 7:
    case 8:
    case 9: return make_if(depth);
    case 10:
    case 11: return make_for(depth);
    case 12: return make_while(depth);
    case 13: return make_switch(depth);
    default: return make_assign();
    }
}

static Node *make_statements(int count, int depth) {
    Node *first = NULL, **place = &first;
    for (int i = 0; i < count; i++) {
        *place = make_statement(depth);
        place = &(*place)->next;
    }
    return first;
}

/* int f0(int a, unsigned b, int *p) { statements; if (c) return e; statements; return e; } */
static void make_function(int index) {
    struct Function *f = &functions[index];
    first_visible = variable_count;
    in_function = true;
    f->parameters[0] = add_variable(NUMBER, I32, "a%d", index);
    f->parameters[1] = add_variable(NUMBER, (Type)draw(4), "b%d", index);
    f->pointer = draw(2) ? add_variable(POINTER, I32, "p%d", index) : -1;
    f->result_type = (int)draw(4);
    Node **place = &f->body;
    for (int part = 0; part <= (int)draw(3); part++) {
        *place = make_statements(1, 1);
        while (*place) place = &(*place)->next;
        *place = node_new(S_RETURN);
        (*place)->kids[0] = make_expression(2);
        (*place)->kids[1] = make_expression(2);
        place = &(*place)->next;
    }
    *place = node_new(S_RETURN);
    (*place)->kids[1] = make_expression(3);
    in_function = false;
    for (int i = first_visible; i < variable_count; i++) variables[i].visible = false;
    functions_made = index + 1;
}
#endif
