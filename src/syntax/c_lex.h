/* SPDX-License-Identifier: Apache-2.0 */
/* c_lex.h: the words of Tile C.
 *
 * One file becomes one vector of tokens, ended by CT_END. Punctuators, keywords and their printed
 * names come from the two tables below. A token keeps its text, its place in the source and, when a
 * macro made it, the place of that macro's definition; its range is then the macro's use, so a
 * message always points at what the user wrote.
 *
 *     rt_fl(16, 32) x;      IDENT rt_fl  LPAREN  NUMBER 16  COMMA  NUMBER 32  RPAREN  IDENT x  SEMI  END */
#ifndef SYNTAX_C_LEX_H
#define SYNTAX_C_LEX_H
#include "base/diag.h"

/* C_PUNCT(id, text, precedence of the binary operator or 0); a longer text comes before its prefixes. */
#define C_PUNCTUATORS(C_PUNCT)    \
    C_PUNCT(ELLIPSIS, "...", 0)   \
    C_PUNCT(SHL_ASSIGN, "<<=", 0) \
    C_PUNCT(SHR_ASSIGN, ">>=", 0) \
    C_PUNCT(ARROW, "->", 0)       \
    C_PUNCT(INC, "++", 0)         \
    C_PUNCT(DEC, "--", 0)         \
    C_PUNCT(SHL, "<<", 8)         \
    C_PUNCT(SHR, ">>", 8)         \
    C_PUNCT(LE, "<=", 7)          \
    C_PUNCT(GE, ">=", 7)          \
    C_PUNCT(EQ, "==", 6)          \
    C_PUNCT(NE, "!=", 6)          \
    C_PUNCT(AND_AND, "&&", 2)     \
    C_PUNCT(OR_OR, "||", 1)       \
    C_PUNCT(MUL_ASSIGN, "*=", 0)  \
    C_PUNCT(DIV_ASSIGN, "/=", 0)  \
    C_PUNCT(REM_ASSIGN, "%=", 0)  \
    C_PUNCT(ADD_ASSIGN, "+=", 0)  \
    C_PUNCT(SUB_ASSIGN, "-=", 0)  \
    C_PUNCT(AND_ASSIGN, "&=", 0)  \
    C_PUNCT(XOR_ASSIGN, "^=", 0)  \
    C_PUNCT(OR_ASSIGN, "|=", 0)   \
    C_PUNCT(HASH_HASH, "##", 0)   \
    C_PUNCT(LPAREN, "(", 0)       \
    C_PUNCT(RPAREN, ")", 0)       \
    C_PUNCT(LBRACKET, "[", 0)     \
    C_PUNCT(RBRACKET, "]", 0)     \
    C_PUNCT(LBRACE, "{", 0)       \
    C_PUNCT(RBRACE, "}", 0)       \
    C_PUNCT(DOT, ".", 0)          \
    C_PUNCT(AMP, "&", 5)          \
    C_PUNCT(STAR, "*", 10)        \
    C_PUNCT(PLUS, "+", 9)         \
    C_PUNCT(MINUS, "-", 9)        \
    C_PUNCT(TILDE, "~", 0)        \
    C_PUNCT(NOT, "!", 0)          \
    C_PUNCT(SLASH, "/", 10)       \
    C_PUNCT(PERCENT, "%", 10)     \
    C_PUNCT(LT, "<", 7)           \
    C_PUNCT(GT, ">", 7)           \
    C_PUNCT(CARET, "^", 4)        \
    C_PUNCT(PIPE, "|", 3)         \
    C_PUNCT(QUESTION, "?", 0)     \
    C_PUNCT(COLON, ":", 0)        \
    C_PUNCT(SEMI, ";", 0)         \
    C_PUNCT(ASSIGN, "=", 0)       \
    C_PUNCT(COMMA, ",", 0)        \
    C_PUNCT(HASH, "#", 0)

/* C_KEYWORD(id, text) */
#define C_KEYWORDS(C_KEYWORD)       \
    C_KEYWORD(VOID, "void")         \
    C_KEYWORD(BOOL, "_Bool")        \
    C_KEYWORD(CHAR, "char")         \
    C_KEYWORD(SHORT, "short")       \
    C_KEYWORD(INT, "int")           \
    C_KEYWORD(LONG, "long")         \
    C_KEYWORD(SIGNED, "signed")     \
    C_KEYWORD(UNSIGNED, "unsigned") \
    C_KEYWORD(FLOAT, "float")       \
    C_KEYWORD(DOUBLE, "double")     \
    C_KEYWORD(STRUCT, "struct")     \
    C_KEYWORD(ENUM, "enum")         \
    C_KEYWORD(TYPEDEF, "typedef")   \
    C_KEYWORD(STATIC, "static")     \
    C_KEYWORD(EXTERN, "extern")     \
    C_KEYWORD(INLINE, "inline")     \
    C_KEYWORD(CONST, "const")       \
    C_KEYWORD(RESTRICT, "restrict") \
    C_KEYWORD(VOLATILE, "volatile") \
    C_KEYWORD(IF, "if")             \
    C_KEYWORD(ELSE, "else")         \
    C_KEYWORD(FOR, "for")           \
    C_KEYWORD(WHILE, "while")       \
    C_KEYWORD(DO, "do")             \
    C_KEYWORD(SWITCH, "switch")     \
    C_KEYWORD(CASE, "case")         \
    C_KEYWORD(DEFAULT, "default")   \
    C_KEYWORD(BREAK, "break")       \
    C_KEYWORD(CONTINUE, "continue") \
    C_KEYWORD(RETURN, "return")     \
    C_KEYWORD(SIZEOF, "sizeof")     \
    C_KEYWORD(STATIC_ASSERT, "_Static_assert")

/* C_REFUSED(text, what it is, what to write instead): words that start something that Tile C leaves
 * out. The first group are keywords of C; the words of C++ are refused only where a declaration or
 * statement begins with them. */
#define C_REFUSED_WORDS(C_REFUSED)                                                                  \
    C_REFUSED("goto", "`goto`", "use loops and `if`")                                               \
    C_REFUSED("union", "a union", "use a struct, or `tile_view` to see a tile as another")          \
    C_REFUSED("_Generic", "`_Generic`", "built-in operations already go by operand type")           \
    C_REFUSED("_Atomic", "`_Atomic`", "use the store_add family on globals")                        \
    C_REFUSED("_Complex", "`_Complex`", "keep real and imaginary parts in two tiles")               \
    C_REFUSED("_Thread_local", "`_Thread_local`", "locals of a kernel are private already")         \
    C_REFUSED("_Alignas", "`_Alignas`", "the compiler aligns tiles itself")                         \
    C_REFUSED("_Alignof", "`_Alignof`", "the compiler aligns tiles itself")                         \
    C_REFUSED("_Noreturn", "`_Noreturn`", "remove it")                                              \
    C_REFUSED("register", "`register`", "use a register tile `rt_*` or a plain variable")           \
    C_REFUSED("auto", "`auto`", "write the type")                                                   \
    C_REFUSED("asm", "inline assembly", "use the built-in operations")                              \
    C_REFUSED("__asm__", "inline assembly", "use the built-in operations")                          \
    C_REFUSED("nullptr", "C++'s `nullptr`", "write 0")                                              \
    C_REFUSED("template", "a C++ template", "write an enum constant, or a definition from outside") \
    C_REFUSED("using", "C++'s `using`", "write a typedef")                                          \
    C_REFUSED("namespace", "a C++ namespace", "names of Tile C need no prefix")                     \
    C_REFUSED("class", "a C++ class", "write a struct and functions")                               \
    C_REFUSED("constexpr", "C++'s `constexpr`", "write an enum constant: enum { N = 4 };")          \
    C_REFUSED("typename", "C++'s `typename`", "write the type alone")                               \
    C_REFUSED("decltype", "C++'s `decltype`", "write the type")                                     \
    C_REFUSED("delete", "C++'s `delete`", "leave it out: arrays end with their block")              \
    C_REFUSED("try", "C++ exceptions", "leave them out: nothing throws")                            \
    C_REFUSED("throw", "C++ exceptions", "leave them out: nothing throws"          )               \
    C_REFUSED("shared_allocator", "an allocator", "write shared_alloc(type), or declare the tile")  \
    C_REFUSED("tma_swizzle_allocator", "an allocator", "write shared_alloc(type), or declare the tile")

typedef enum CTok {
    CT_END,
    CT_IDENT,
    CT_NUMBER,
    CT_STRING,
    CT_CHAR,
    CT_OTHER, /* a stray character or an unterminated quote: only skipped text may hold it */
#define C_PUNCT(id, text, precedence) CT_##id,
    C_PUNCTUATORS(C_PUNCT)
#undef C_PUNCT
#define C_KEYWORD(id, text) CK_##id,
        C_KEYWORDS(C_KEYWORD)
#undef C_KEYWORD
            CT_COUNT
} CTok;

typedef struct CToken {
    CTok kind : 16;      /* 32 bytes in all: a text has a token for every other byte of it */
    bool line_start : 1; /* first on its line: a `#` here starts a directive */
    bool spaced : 1;     /* white space before it */
    bool painted : 1;    /* the name of a macro that must not be expanded any more */
    uint32_t length;
    const char *text; /* not NUL-terminated */
    Range range;
    Range macro; /* definition of the macro that made the token; {0, 0} for none */
} CToken;

typedef VEC(CToken) CTokens;

/* Of a text with all that it includes and its macros make. */
enum { C_TOKEN_LIMIT = 1 << 20 };

/* Appends the tokens of the file, CT_END last. Keywords stay CT_IDENT: macros may have their names. */
void c_lex(Arena *arena, Diag *diag, const SourceFile *file, CTokens *out);

const char *c_token_text(CTok kind);             /* "+", "while"; "a name", "a number" for the open classes */
int c_token_precedence(CTok kind);               /* of the binary operator, 0 for none */
CTok c_keyword(const char *text, size_t length); /* CT_IDENT if it is none */

/* The value of a CT_NUMBER. False, with a message, if it is malformed or too large. */
typedef struct CNumber {
    bool is_float, is_unsigned, is_long, is_single; /* suffixes u, l or ll, f */
    bool not_decimal;                               /* 0x, 0b, or octal */
    uint64_t integer;
    double real;
} CNumber;
bool c_number(Arena *arena, Diag *diag, const CToken *token, CNumber *out);
/* The bytes of a CT_STRING or CT_CHAR without quotes, escapes resolved. */
char *c_string(Arena *arena, Diag *diag, const CToken *token, size_t *length);
#endif
