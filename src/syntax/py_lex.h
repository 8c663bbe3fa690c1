/* SPDX-License-Identifier: Apache-2.0 */
/* py_lex.h: the tokens of a Python text.
 *
 * py_lex cuts a whole file (or the text of one f-string field) at once; the parser walks the array. As in CPython,
 * lines are joined inside brackets and after a backslash, blank and comment lines vanish, and indentation shows as
 * INDENT and DEDENT. A string token is its raw text, prefix and quotes included: py_string.c gives it a value. Where
 * the text is no token, the mistake is reported here and a PY_T_ERROR stands in its place, on which the parser fails
 * without a second message. The array ends with PY_T_END and one PY_T_STOP, which matches nothing. */
#ifndef SYNTAX_PY_LEX_H
#define SYNTAX_PY_LEX_H
#include "base/diag.h"
#include "base/source.h"

#define PY_KEYWORDS(K)                                                                                              \
    K(FALSE, "False")                                                                                               \
    K(NONE, "None")                                                                                                 \
    K(TRUE, "True")                                                                                                 \
    K(AND, "and")                                                                                                   \
    K(AS, "as") K(ASSERT, "assert") K(ASYNC, "async") K(AWAIT, "await") K(BREAK, "break") K(CLASS, "class")         \
        K(CONTINUE, "continue") K(DEF, "def") K(DEL, "del") K(ELIF, "elif") K(ELSE, "else") K(EXCEPT, "except")     \
            K(FINALLY, "finally") K(FOR, "for") K(FROM, "from") K(GLOBAL, "global") K(IF, "if") K(IMPORT, "import") \
                K(IN, "in") K(IS, "is") K(LAMBDA, "lambda") K(NONLOCAL, "nonlocal") K(NOT, "not") K(OR, "or")       \
                    K(PASS, "pass") K(RAISE, "raise") K(RETURN, "return") K(TRY, "try") K(WHILE, "while")           \
                        K(WITH, "with") K(YIELD, "yield")

/* Longer spellings come before their beginnings: the lexer takes the first that fits. */
#define PY_PUNCTUATION(P)                                                                                             \
    P(ELLIPSIS, "...")                                                                                                \
    P(POW_EQ, "**=")                                                                                                  \
    P(FLOORDIV_EQ, "//=")                                                                                             \
    P(SHL_EQ, "<<=")                                                                                                  \
    P(SHR_EQ, ">>=") P(NE, "!=") P(MOD_EQ, "%=") P(AND_EQ, "&=") P(MUL_EQ, "*=") P(POW, "**") P(ADD_EQ, "+=")         \
        P(SUB_EQ, "-=") P(ARROW, "->") P(DIV_EQ, "/=") P(FLOORDIV, "//") P(WALRUS, ":=") P(SHL, "<<") P(LE, "<=")     \
            P(EQ, "==") P(GE, ">=") P(SHR, ">>") P(AT_EQ, "@=") P(XOR_EQ, "^=") P(OR_EQ, "|=") P(LPAREN, "(")         \
                P(RPAREN, ")") P(LBRACKET, "[") P(RBRACKET, "]") P(LBRACE, "{") P(RBRACE, "}") P(COLON, ":")          \
                    P(COMMA, ",") P(SEMICOLON, ";") P(PLUS, "+") P(MINUS, "-") P(STAR, "*") P(SLASH, "/") P(BAR, "|") \
                        P(AMPERSAND, "&") P(LESS, "<") P(GREATER, ">") P(ASSIGN, "=") P(DOT, ".") P(PERCENT, "%")     \
                            P(CARET, "^") P(TILDE, "~") P(AT, "@")

typedef enum PyTokenKind {
    PY_T_END,
    PY_T_STOP,
    PY_T_ERROR,
    PY_T_NEWLINE,
    PY_T_INDENT,
    PY_T_DEDENT,
    PY_T_NAME,
    PY_T_NUMBER,
    PY_T_STRING,
#define K(id, spelling) PY_T_##id,
    PY_KEYWORDS(K)
#undef K
#define P(id, spelling) PY_T_P_##id,
        PY_PUNCTUATION(P)
#undef P
            PY_T_COUNT
} PyTokenKind;

typedef struct PyToken {
    Range range;
    PyTokenKind kind;
} PyToken;

typedef struct PyTokens {
    PyToken *at;
    size_t count;
} PyTokens;

typedef enum PyLexMode {
    PY_LEX_FILE,
    PY_LEX_FIELD /* inside brackets all along: no lines, no indentation */
} PyLexMode;

PyTokens py_lex(const SourceFile *file, Range range, PyLexMode mode, Arena *arena, Diag *diag);

/* How a message names a kind: "`:`", "`if`", "a name", "the end of the line". */
const char *py_token_name(PyTokenKind kind);
#endif
