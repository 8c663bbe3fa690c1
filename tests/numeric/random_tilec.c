/* SPDX-License-Identifier: Apache-2.0 */
/* random_tilec.c: random Tile C kernels, run on the interpreter and on other targets (differential.h), and against what C
 * would compute.
 *
 * A program has variables of four integer types, a struct with a pointer, an array at constant and run-time places, tiles
 * and vectors of integers, functions with early returns and pointer parameters, branches, switches and loops of every form
 * over constants and over run-time numbers, breaks, continues and returns. It is a tree; one walk prints it, another computes it here with C's rules (integers wrap, x / 0 is 0). The
 * kernel stores every variable, and the interpreter must store what was computed. The door may refuse what it says it
 * does not take (`unsupported`, `unroll`, `pointer`); nothing else. */
#include "differential.h"

/* --- types --- */

typedef enum Type { I8, I32, U32, I64 } Type;
static const char *const type_names[] = {"signed char", "int", "unsigned", "long"};

static int64_t wrap_to(Type t, int64_t x) {
    return t == I8 ? (int8_t)x : t == I32 ? (int32_t)x : t == U32 ? (int64_t)(uint32_t)x : x;
}
static Type common_type(Type a, Type b) {
    if (a == I64 || b == I64) return I64;
    return a == U32 || b == U32 ? U32 : I32;
}

/* --- the tree --- */

typedef enum NodeKind { /* expressions, then statements */
    E_NUMBER, E_VARIABLE, E_BINARY, E_UNARY, E_CHOICE, E_CAST, E_CALL, E_TARGET, E_ELEMENT,
    S_ASSIGN, S_STEP, S_IF, S_FOR, S_BREAK, S_CONTINUE, S_RETURN, S_COPY, S_POINT, S_TILE, S_WHILE, S_SWITCH, S_PLACE
} NodeKind;
typedef struct Node {
    NodeKind kind;
    Type type;
    const char *op;
    int64_t number;
    int variable, other;
    struct Node *kids[4], *next; /* next: the following statement */
} Node;

/* A variable: a number, a tile, or a pointer to a number (its value is a variable's index). */
typedef enum Shape { NUMBER, TILE, VECTOR, POINTER } Shape;
enum { MOST_VARIABLES = 80, MOST_NODES = 6000, LANES = 16, CELLS = LANES * LANES, FUNCTIONS = 3, BUDGET = 30000 };
typedef struct Variable {
    char name[24];
    Shape shape;
    Type type;
    int64_t value, tile[CELLS]; /* a vector: the first LANES */
    bool fixed;   /* a loop's variable, a number of the launch: not assigned */
    bool visible; /* where the next statement is made */
} Variable;

static Variable variables[MOST_VARIABLES];
static int variable_count;
static Node nodes[MOST_NODES];
static int node_count;
static int array_first;
static int first_visible, functions_made, loop_names, loop_depth, structs, budget;
static bool in_function, break_allowed;
static struct Function {
    int parameters[2], result_type, pointer; /* pointer: a parameter int *p, or -1 */
    Node *body;
} functions[FUNCTIONS];
static Choices *choices;

static Node *node_new(NodeKind kind) {
    if (node_count == MOST_NODES) node_count--; /* deep enough; what is lost is printed and computed alike */
    Node *n = &nodes[node_count++];
    memset(n, 0, sizeof *n);
    n->kind = kind;
    n->variable = n->other = -1;
    return n;
}
static uint32_t draw(uint32_t n) { return pick(choices, n); }

static int add_variable(Shape shape, Type type, const char *format, int number) {
    if (variable_count == MOST_VARIABLES) return -1;
    Variable *v = &variables[variable_count];
    memset(v, 0, sizeof *v);
    v->shape = shape;
    v->type = type;
    v->visible = true;
    snprintf(v->name, sizeof v->name, format, number);
    return variable_count++;
}

/* A visible variable of a shape; -1: none. */
static int some_variable(Shape shape, bool assigned) {
    int found[MOST_VARIABLES], count = 0;
    for (int i = first_visible; i < variable_count; i++)
        if (variables[i].shape == shape && variables[i].visible && !(assigned && variables[i].fixed)) found[count++] = i;
    return count ? found[draw((uint32_t)count)] : -1;
}

/* --- making expressions --- */

static Node *make_expression(int depth);

static Node *make_number(void) {
    static const int64_t hard[] = {0, 1, 2, -1, 7, 31, 255, 256, 65535, 2147483647, -2147483647, 4294967295, 1000003};
    Node *n = node_new(E_NUMBER);
    n->number = draw(3) ? (int64_t)draw(12) : hard[draw(13)];
    n->type = n->number == (int32_t)n->number ? I32 : I64;
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

/* Operations on tiles and vectors: their operands as letters: t tile, w vector, x number, n variable that is written. */
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
    {"transpose_sep", "tt"}, {"transpose_inplace", "t"}, {"swap_layout", "tt"},
};
enum { TILE_OPS = sizeof tile_ops / sizeof *tile_ops };

/* kids: the numbers; number: which row; operands are packed into `other`, 3 bits each. */
static Node *make_tile(void) {
    Node *n = node_new(S_TILE);
    n->number = draw(TILE_OPS);
    n->other = 0;
    int numbers = 0;
    for (const char *o = tile_ops[n->number].operands; *o; o++) {
        long i = o - tile_ops[n->number].operands;
        if (*o == 't') n->other |= (int)draw(3) << 3 * i;
        else if (*o == 'w') n->other |= (int)draw(2) << 3 * i;
        else if (*o == 'n') n->variable = some_variable(NUMBER, true);
        else if (*o == 'z') n->kids[numbers++] = draw(4) ? make_number() : make_leaf();
        else n->kids[numbers++] = make_leaf();
    }
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

/* int w = e & 7; while (w-- > 0) { .. }, or do { .. } while (--w > 0); */
static Node *make_while(int depth) {
    Node *n = node_new(S_WHILE);
    int scope = variable_count;
    n->kids[0] = make_expression(2);
    n->variable = add_variable(NUMBER, I32, "w%d", loop_names++);
    if (n->variable < 0) return make_assign();
    n->number = draw(2);
    variables[n->variable].fixed = true;
    bool outer = break_allowed;
    break_allowed = true;
    loop_depth++;
    n->kids[2] = make_statements(1 + (int)draw(3), depth - 1);
    loop_depth--;
    break_allowed = outer;
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
    bool outer = break_allowed;
    break_allowed = true;
    loop_depth++;
    n->kids[2] = make_statements(1 + (int)draw(3), depth - 1);
    loop_depth--;
    break_allowed = outer;
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

/* --- printing --- */

static Program *out;

static const char *name_of(int v) { return variables[v].name; }

static void print_expression(const Node *n) {
    switch (n->kind) {
    case E_NUMBER:
        if (n->number < 0) add_text(out, "(%lld%s)", (long long)n->number, n->type == I64 ? "L" : "");
        else add_text(out, "%lld%s", (long long)n->number, n->type == I64 ? "L" : "");
        break;
    case E_VARIABLE: add_text(out, "%s", name_of(n->variable)); break;
    case E_TARGET: add_text(out, "*%s", name_of(n->variable)); break;
    case E_ELEMENT:
        add_text(out, "r[");
        print_expression(n->kids[0]);
        add_text(out, " & 1]");
        break;
    case E_BINARY:
        add_text(out, "(");
        print_expression(n->kids[0]);
        add_text(out, " %s ", n->op);
        bool shifts = !strcmp(n->op, "<<") || !strcmp(n->op, ">>");
        if (shifts) add_text(out, "(");
        print_expression(n->kids[1]);
        add_text(out, shifts ? " & 15))" : ")");
        break;
    case E_UNARY:
        add_text(out, "%s(", n->op);
        print_expression(n->kids[0]);
        add_text(out, ")");
        break;
    case E_CHOICE:
        add_text(out, "(");
        print_expression(n->kids[0]);
        add_text(out, " ? ");
        print_expression(n->kids[1]);
        add_text(out, " : ");
        print_expression(n->kids[2]);
        add_text(out, ")");
        break;
    case E_CAST:
        add_text(out, "(%s)(", type_names[n->type]);
        print_expression(n->kids[0]);
        add_text(out, ")");
        break;
    case E_CALL:
        add_text(out, "f%lld(", (long long)n->number);
        print_expression(n->kids[0]);
        add_text(out, ", ");
        print_expression(n->kids[1]);
        if (n->other >= 0) add_text(out, ", %s", name_of(n->other));
        add_text(out, ")");
        break;
    default: break;
    }
}

static void print_statements(const Node *n, int depth);

static void print_tile(const Node *n) {
    int numbers = 0;
    add_text(out, "%s(", tile_ops[n->number].name);
    for (const char *o = tile_ops[n->number].operands; *o; o++) {
        long i = o - tile_ops[n->number].operands;
        if (i) add_text(out, ", ");
        if (*o == 't') add_text(out, "&t%d", n->other >> 3 * i & 7);
        else if (*o == 'w') add_text(out, "&y%d", n->other >> 3 * i & 7);
        else if (*o == 'n') add_text(out, "&%s", name_of(n->variable));
        else print_expression(n->kids[numbers++]);
    }
    add_text(out, ");\n");
}

static void print_statement(const Node *n, int depth) {
    add_text(out, "%*s", depth * 4, "");
    switch (n->kind) {
    case S_ASSIGN:
        add_text(out, "%s%s %s ", n->other >= 0 ? "*" : "", name_of(n->other >= 0 ? n->other : n->variable), n->op);
        print_expression(n->kids[0]);
        add_text(out, ";\n");
        break;
    case S_STEP: add_text(out, "%s%s;\n", name_of(n->variable), n->op); break;
    case S_IF:
        add_text(out, "if (");
        print_expression(n->kids[0]);
        add_text(out, ") {\n");
        print_statements(n->kids[1], depth + 1);
        if (n->kids[2]) {
            add_text(out, "%*s} else {\n", depth * 4, "");
            print_statements(n->kids[2], depth + 1);
        }
        add_text(out, "%*s}\n", depth * 4, "");
        break;
    case S_FOR:
        add_text(out, "for (%s %s = ", type_names[variables[n->variable].type], name_of(n->variable));
        print_expression(n->kids[0]);
        add_text(out, "; %s %s ", name_of(n->variable), n->op);
        print_expression(n->kids[1]);
        add_text(out, n->number == 1 ? "; %s++) {\n" : "; %s += 2) {\n", name_of(n->variable));
        print_statements(n->kids[2], depth + 1);
        add_text(out, "%*s}\n", depth * 4, "");
        break;
    case S_BREAK:
    case S_CONTINUE:
        add_text(out, "if (");
        print_expression(n->kids[0]);
        add_text(out, ") %s;\n", n->kind == S_BREAK ? "break" : "continue");
        break;
    case S_RETURN:
        if (n->kids[0]) {
            add_text(out, "if (");
            print_expression(n->kids[0]);
            add_text(out, ") ");
        }
        add_text(out, "return ");
        print_expression(n->kids[1]);
        add_text(out, ";\n");
        break;
    case S_COPY: add_text(out, "s%d = s%d;\n", (int)n->number, 1 - (int)n->number); break;
    case S_POINT:
        add_text(out, "s%d = (struct S){.a = ", (int)n->number);
        print_expression(n->kids[0]);
        add_text(out, ", .p = &%s};\n", name_of(n->other));
        break;
    case S_TILE: print_tile(n); break;
    case S_PLACE:
        add_text(out, "r[");
        print_expression(n->kids[0]);
        add_text(out, " & 1] = ");
        print_expression(n->kids[1]);
        add_text(out, ";\n");
        break;
    case S_WHILE:
        add_text(out, "int %s = ", name_of(n->variable));
        print_expression(n->kids[0]);
        add_text(out, n->number ? " & 7; while (%s-- > 0) {\n" : " & 7; do {\n", name_of(n->variable));
        print_statements(n->kids[2], depth + 1);
        if (n->number) add_text(out, "%*s}\n", depth * 4, "");
        else add_text(out, "%*s} while (--%s > 0);\n", depth * 4, "", name_of(n->variable));
        break;
    case S_SWITCH:
        add_text(out, "switch (");
        print_expression(n->kids[0]);
        add_text(out, " & 3) {\n");
        for (int i = 0; i < 3; i++) {
            add_text(out, "%*s%s {\n", depth * 4, "", i == 0 ? "case 0:" : i == 1 ? "case 2: case 1 + 2:" : "default:");
            print_statements(n->kids[1 + i], depth + 1);
            add_text(out, "%*s}%s\n", depth * 4, "", n->number >> i & 1 ? " break;" : "");
        }
        add_text(out, "%*s}\n", depth * 4, "");
        break;
    default: break;
    }
}

static void print_statements(const Node *n, int depth) {
    for (; n; n = n->next) print_statement(n, depth);
}

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

static void run_tile(const Node *n) {
    const char *op = tile_ops[n->number].name, *operands = tile_ops[n->number].operands;
    int count = (int)strlen(operands), numbers = 0;
    int64_t from[5][CELLS], x[5] = {0}, to[CELLS];
    for (int i = 0; i < count; i++) { /* all operands before anything is written */
        if (operands[i] == 't' || operands[i] == 'w')
            memcpy(from[i], variables[(operands[i] == 't' ? tiles_first : vectors_first) + (n->other >> 3 * i & 7)].tile, sizeof from[i]);
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
    Variable *target = &variables[(vector ? vectors_first : tiles_first) + (n->other & 7)];
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

/* --- a program --- */

static void add_scalar(const char *name, int64_t value) {
    Scalar *s = &out->scalars[out->scalar_count++];
    snprintf(s->name, sizeof s->name, "%s", name);
    s->i = value;
    int v = add_variable(NUMBER, I32, "%d", 0);
    snprintf(variables[v].name, sizeof variables[v].name, "%s", name);
    variables[v].value = value;
    variables[v].fixed = true;
}

/* What differential.h fills array 0 with. */
static void fill_tiles(int first) {
    uint64_t seed = 1;
    for (int i = 0; i < 2 * CELLS; i++) variables[first + i / CELLS].tile[i % CELLS] = (int64_t)(mix(&seed) % 19) - 9;
}

static void make_program(Choices *c, Program *p) {
    memset(p, 0, sizeof *p);
    choices = c;
    out = p;
    variable_count = node_count = functions_made = loop_names = loop_depth = 0;
    break_allowed = in_function = false;
    array_first = -1;
    p->file = "random.tile.c";
    p->refusals = "[unsupported] [unroll] [pointer] [loop]";
    for (int i = 0; i < (int)draw(FUNCTIONS + 1); i++) make_function(i);
    first_visible = variable_count;
    int numbers = 6;
    for (int i = 0; i < numbers; i++) {
        int v = add_variable(NUMBER, i < 2 ? I32 : (Type)draw(4), "v%d", i);
        assign(v, (int64_t)draw(9) - 2);
    }
    array_first = variable_count;
    for (int i = 0; i < 3; i++) variables[add_variable(NUMBER, I32, "r[%d]", i)].value = i + 1;
    structs = variable_count;
    for (int i = 0; i < 2; i++) {
        variables[add_variable(NUMBER, I32, "s%d.a", i)].value = 5 + i;
        variables[add_variable(NUMBER, U32, "s%d.u", i)].value = (int64_t)draw(4);
        variables[add_variable(POINTER, I32, "s%d.p", i)].value = first_visible + i;
    }
    int tiles = tiles_first = variable_count, last_number = variable_count;
    for (int i = 0; i < 3; i++) add_variable(TILE, I32, "t%d", i);
    vectors_first = variable_count;
    for (int i = 0; i < 2; i++) add_variable(VECTOR, I32, "y%d", i);
    add_scalar("g.n", (int64_t)draw(5));
    add_scalar("g.m", (int64_t)draw(200) - 100);

    add_text(p, "#include \"tile.h\"\ntypedef struct { gl(int, 1, 1, 1, -1) x, o; int n, m; } G;\nstruct S { int a; unsigned u; int *p; };\n");
    for (int i = 0; i < functions_made; i++) {
        const struct Function *f = &functions[i];
        add_text(p, "static %s f%d(int %s, %s %s", type_names[f->result_type], i, name_of(f->parameters[0]),
                 type_names[variables[f->parameters[1]].type], name_of(f->parameters[1]));
        if (f->pointer >= 0) add_text(p, ", int *%s", name_of(f->pointer));
        add_text(p, ") {\n");
        print_statements(f->body, 1);
        add_text(p, "}\n");
    }
    add_text(p, "tile_kernel(32, 1) void k(G g) {\n    rt(int, 16, 16) t0, t1, t2;\n    rv(int, 16) y0, y1, result;\n"
                "    st(int, 16, 16) shared;\n    int r[3] = {1, 2, 3};\n");
    for (int i = 0; i < numbers; i++) {
        const Variable *v = &variables[first_visible + i];
        add_text(p, "    %s %s = %lld;\n", type_names[v->type], v->name, (long long)v->value);
    }
    for (int i = 0; i < 2; i++)
        add_text(p, "    struct S s%d = {%d, %lld, &v%d};\n", i, 5 + i, (long long)variables[structs + 3 * i + 1].value, i);
    for (int i = 0; i < 2; i++)
        add_text(p, "    for (int i = 0; i < 16; i++) load(&shared[i], g.x, at(%d + i));\n    load(&t%d, &shared);\n", 16 * i, i);
    add_text(p, "    zero(&t2);\n    zero(&y0);\n    zero(&y1);\n");
    fill_tiles(tiles);
    Node *body = make_statements(3 + (int)draw(6), 3);
    print_statements(body, 1);
    budget = BUDGET;
    run_statements(body);

    /* every number, then every tile; the values of pointers show in what they point to */
    int place = 0;
    for (int i = first_visible; i < last_number; i++) {
        if (variables[i].shape != NUMBER) continue;
        add_text(p, "    fill(&result, (int)(%s));\n    store(g.o, &result, at(%d));\n", name_of(i), place++);
        for (int lane = 0; lane < LANES; lane++) p->want[p->want_count++] = wrap_to(I32, variables[i].value);
    }
    for (int i = 0; i < 3; i++) {
        add_text(p, "    store(&shared, &t%d);\n    for (int i = 0; i < 16; i++) store(g.o, &shared[i], at(%d + i));\n", i, place);
        for (int cell = 0; cell < CELLS; cell++) p->want[p->want_count++] = variables[tiles + i].tile[cell];
        place += LANES;
    }
    for (int i = 0; i < 2; i++) {
        add_text(p, "    store(g.o, &y%d, at(%d));\n", i, place++);
        for (int lane = 0; lane < LANES; lane++) p->want[p->want_count++] = variables[vectors_first + i].tile[lane];
    }
    add_text(p, "}\n");
    p->arrays[0] = (Array){.name = "g.x", .dtype = TW_I32, .count = 2 * CELLS, .flavour = WHOLE, .whole = 9};
    p->arrays[1] = (Array){.name = "g.o", .dtype = TW_I32, .count = (int64_t)place * LANES, .flavour = WHOLE};
    p->array_count = 2;
    p->grid[0] = p->grid[1] = p->grid[2] = 1;
}

/* One that takes too long to compute here would take too long everywhere. */
static void generate(Choices *c, Program *p) {
    int tries = 20;
    do make_program(c, p);
    while (budget <= 0 && tries-- > 0);
}

int main(int argc, char **argv) { return differential_main(argc, argv, "random_tilec", generate); }
