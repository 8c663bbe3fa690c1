/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_print.h: a program's text (random_tilec.c). */
#ifndef NUMERIC_TILEC_PRINT_H
#define NUMERIC_TILEC_PRINT_H
#include "tilec_make.h"

/* --- printing --- */

static Program *out;

static const char *name_of(int v) { return variables[v].name; }

static void print_expression(const Node *n);

static void print_cell(const Node *n) {
    for (int i = 0; i < 3; i++) {
        add_text(out, i ? "[" : "sa[");
        print_expression(n->kids[i]);
        add_text(out, i ? " & 15]" : " & 1]");
    }
}

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
    case E_CELL: print_cell(n); break;
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

static void print_pair(const Node *n, int pair) {
    const char *hole = strstr(tile_pairs[pair], "%s");
    add_text(out, "%.*s", (int)(hole - tile_pairs[pair]), tile_pairs[pair]);
    print_expression(n->kids[3]);
    add_text(out, "%s", hole + 2);
}

static void print_tile(const Node *n) {
    int numbers = 0;
    add_text(out, "%s(", tile_ops[n->number].name);
    for (const char *o = tile_ops[n->number].operands; *o; o++) {
        long i = o - tile_ops[n->number].operands;
        if (i) add_text(out, ", ");
        int which = n->other >> 3 * i & 7;
        if (*o == 't' && which >= PLAIN_TILES) print_pair(n, which - PLAIN_TILES);
        else if (*o == 't' || *o == 'r') add_text(out, "&t%d", which);
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
    case S_CELL:
        print_cell(n);
        add_text(out, " = ");
        print_expression(n->kids[3]);
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
#endif
