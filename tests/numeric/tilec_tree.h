/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_tree.h: a random Tile C program as a tree, and its variables (random_tilec.c). */
#ifndef NUMERIC_TILEC_TREE_H
#define NUMERIC_TILEC_TREE_H
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
    E_NUMBER, E_VARIABLE, E_BINARY, E_UNARY, E_CHOICE, E_CAST, E_CALL, E_TARGET, E_ELEMENT, E_CELL,
    S_ASSIGN, S_STEP, S_IF, S_FOR, S_BREAK, S_CONTINUE, S_RETURN, S_COPY, S_POINT, S_TILE, S_WHILE, S_SWITCH, S_PLACE, S_CELL
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
enum { MOST_VARIABLES = 100, MOST_NODES = 6000, LANES = 16, CELLS = LANES * LANES, FUNCTIONS = 3, BUDGET = 30000 };
typedef struct Variable {
    char name[24];
    Shape shape;
    Type type;
    int64_t value, tile[CELLS]; /* a vector: the first LANES */
    bool fixed;   /* a loop's variable, a number of the launch: not assigned */
    bool visible; /* where the next statement is made */
} Variable;

/* Tiles at places: two of each, the first or the second by a number of the run. */
static const char *const tile_pairs[] = {"&ta[%s & 1]", "&sa[%s & 1]", "subtile(rt(int, 16, 16), &tw, 0, %s & 1)",
                                         "subtile(st(int, 16, 16), &sw, %s & 1, 0)", "&pairs[%s & 1].t"};
enum { PAIRS = sizeof tile_pairs / sizeof *tile_pairs, PLAIN_TILES = 3, TILES = PLAIN_TILES + 2 * PAIRS, SHARED_PAIR = 1 };

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
#endif
