/* SPDX-License-Identifier: Apache-2.0 */
/* test_py_syntax.c: the Python grammar: trees, messages, recovery, bounds. The whole of the
 * standard library is compared with CPython's own trees by tests/syntax/compare_ast.py. */
#include "check.h"

#include "base/arena.h"
#include "syntax/py_ast.h"

static Trap trap;
static Arena arena;
static SourceMap sources;
static Diag diag;

static PyNode *parse_bytes(const char *text, size_t size, SourceFile **file) {
    source_init(&sources, &arena);
    diag_init(&diag, &arena, &sources);
    *file = source_add(&sources, "k.py", text, size);
    return py_parse(*file, &arena, &diag);
}

static char *dump(const char *text) {
    SourceFile *file;
    PyNode *module = parse_bytes(text, strlen(text), &file);
    if (diag.errors) return diag_render(&diag, &arena);
    return py_dump(module, file, PY_DUMP_PLAIN, &arena);
}

static char *messages(const char *text) {
    SourceFile *file;
    parse_bytes(text, strlen(text), &file);
    return diag_render(&diag, &arena);
}

static int errors(const char *text) {
    SourceFile *file;
    parse_bytes(text, strlen(text), &file);
    return diag.errors;
}

static void test_expressions(void) {
    CHECK_TEXT(dump("a + b * -c ** d\n"), "Expr (BinOp (Name a Load) Add (BinOp (Name b Load) Mult "
                                          "(UnaryOp USub (BinOp (Name c Load) Pow (Name d "
                                          "Load)))))\n");
    CHECK_TEXT(dump("a - b - c << 1 | x & ~y\n"),
               "Expr (BinOp (BinOp (BinOp (BinOp (Name a Load) Sub (Name b Load)) Sub (Name c "
               "Load)) LShift (Constant "
               "1)) BitOr (BinOp (Name x Load) BitAnd (UnaryOp Invert (Name y Load))))\n");
    CHECK_TEXT(dump("0 <= x < n not in s is not t\n"),
               "Expr (Compare (Constant 0) [LtE Lt NotIn IsNot] [(Name x Load) (Name n Load) (Name "
               "s Load) (Name t "
               "Load)])\n");
    CHECK_TEXT(dump("a or b and not c\n"), "Expr (BoolOp Or [(Name a Load) (BoolOp And [(Name b "
                                           "Load) (UnaryOp Not (Name c Load))])])\n");
    CHECK_TEXT(dump("x[:, None, 1:2:3, ...]\n"),
               "Expr (Subscript (Name x Load) (Tuple [(Slice - - -) (Constant None) (Slice "
               "(Constant 1) (Constant 2) "
               "(Constant 3)) (Constant ...)] Load) Load)\n");
    CHECK_TEXT(dump("tl.load(p + i, mask=m, *a, **k).to(f)\n"),
               "Expr (Call (Attribute (Call (Attribute (Name tl Load) load Load) [(BinOp (Name p "
               "Load) Add (Name i "
               "Load)) (Starred (Name a Load) Load)] [(keyword mask (Name m Load)) (keyword - "
               "(Name k Load))]) to Load) "
               "[(Name f Load)] [])\n");
    CHECK_TEXT(dump("g = lambda x, *, y=2, **z: (x if y else z)\n"),
               "Assign [(Name g Store)] (Lambda (arguments [] [(arg x -)] - [(arg y -)] [(Constant "
               "2)] (arg z -) []) "
               "(IfExp (Name y Load) (Name x Load) (Name z Load)))\n");
    CHECK_TEXT(dump("{**a, 'k': [*b, (y := 3)], 1: {2}}\n"),
               "Expr (Dict [- (Constant \"k\") (Constant 1)] [(Name a Load) (List [(Starred (Name "
               "b Load) Load) "
               "(NamedExpr (Name y Store) (Constant 3))] Load) (Set [(Constant 2)])])\n");
    CHECK_TEXT(dump("{k: v async for k, v in d if k if v}\nsum(i for i in r)\n"),
               "Expr (DictComp (Name k Load) (Name v Load) [(comprehension (Tuple [(Name k Store) "
               "(Name v Store)] "
               "Store) (Name d Load) [(Name k Load) (Name v Load)] 1)])\n"
               "Expr (Call (Name sum Load) [(GeneratorExp (Name i Load) [(comprehension (Name i "
               "Store) (Name r Load) [] "
               "0)])] [])\n");
    CHECK_TEXT(dump("()\n(a)\n(a,)\n"),
               "Expr (Tuple [] Load)\nExpr (Name a Load)\nExpr (Tuple [(Name a Load)] Load)\n");
}

static void test_literals(void) {
    CHECK_TEXT(dump("[0x_ff, 0o17, 0b11, 1_000, 00, 1.5e3, .5, 1j, 18446744073709551615, "
                    "18446744073709551616]\n"),
               "Expr (List [(Constant 255) (Constant 15) (Constant 3) (Constant 1000) (Constant 0) "
               "(Constant "
               "float:1500) (Constant float:0.5) (Constant imaginary:1) (Constant "
               "18446744073709551615) (Constant "
               "big:18446744073709551616)] Load)\n");
    CHECK_TEXT(dump("'a' \"b\\n\" r'\\n' u'x' '''c\nd'''\n"),
               "Expr (Constant \"ab\\x0a\\\\nxc\\x0ad\")\n");
    CHECK_TEXT(dump("b'\\x00\\377' rb'\\x'\n"), "Expr (Constant b\"\\x00\\xff\\\\x\")\n");
    CHECK_TEXT(dump("'\\u00e9\\U0001f600\\101\\q'\n"),
               "Expr (Constant \"\\xc3\\xa9\\xf0\\x9f\\x98\\x80A\\\\q\")\n");
    CHECK_TEXT(dump("f'a{{{x!r:>{w}}}}' 'b' f'{y = }'\n"),
               "Expr (JoinedStr [(Constant \"a{\") (FormattedValue (Name x Load) 114 (JoinedStr "
               "[(Constant \">\") "
               "(FormattedValue (Name w Load) -1 -)])) (Constant \"}by = \") (FormattedValue (Name "
               "y Load) 114 -)])\n");
    CHECK_TEXT(dump("f'{a != b} {d[\"k\"]} {(lambda: 1)()}'\n"),
               "Expr (JoinedStr [(FormattedValue (Compare (Name a Load) [NotEq] [(Name b Load)]) "
               "-1 -) (Constant \" \") "
               "(FormattedValue (Subscript (Name d Load) (Constant \"k\") Load) -1 -) (Constant \" "
               "\") (FormattedValue "
               "(Call (Lambda (arguments [] [] - [] [] - []) (Constant 1)) [] []) -1 -)])\n");
}

static void test_statements(void) {
    CHECK_TEXT(dump("a, *b = c = 1\nx: int = 3\nx.y += 1; del x[0], (y)\n"),
               "Assign [(Tuple [(Name a Store) (Starred (Name b Store) Store)] Store) (Name c "
               "Store)] (Constant 1)\n"
               "AnnAssign (Name x Store) (Name int Load) (Constant 3) 1\n"
               "AugAssign (Attribute (Name x Load) y Store) Add (Constant 1)\n"
               "Delete [(Subscript (Name x Load) (Constant 0) Del) (Name y Del)]\n");
    CHECK_TEXT(dump("import a.b as c, d\nfrom .. import (e as f,)\nfrom ...g.h import *\n"),
               "Import [(alias a.b c) (alias d -)]\nImportFrom - [(alias e f)] 2\nImportFrom g.h "
               "[(alias * -)] 3\n");
    CHECK_TEXT(dump("@triton.jit\ndef f(a, /, b: tl.constexpr = 1, *c) -> int:\n    return\n"),
               "FunctionDef f (arguments [(arg a -)] [(arg b (Attribute (Name tl Load) constexpr "
               "Load))] (arg c -) [] "
               "[] - [(Constant 1)]) [(Attribute (Name triton Load) jit Load)] (Name int Load)\n   "
               " body:\n        "
               "Return -\n");
    CHECK_TEXT(dump("if a: x\nelif b:\n    y\nelse:\n    pass\n"),
               "If (Name a Load)\n    body:\n        Expr (Name x Load)\n    orelse:\n        If "
               "(Name b Load)\n"
               "            body:\n                Expr (Name y Load)\n            orelse:\n       "
               "         Pass\n");
    CHECK_TEXT(
        dump("for i, (j, k) in a, b:\n    break\nelse:\n    continue\nwhile (n := n - 1): pass\n"),
        "For (Tuple [(Name i Store) (Tuple [(Name j Store) (Name k Store)] Store)] Store) (Tuple "
        "[(Name a Load) "
        "(Name b Load)] Load)\n    body:\n        Break\n    orelse:\n        Continue\n"
        "While (NamedExpr (Name n Store) (BinOp (Name n Load) Sub (Constant 1)))\n    body:\n      "
        "  Pass\n");
    CHECK_TEXT(dump("with (a as b, c): pass\nwith (a, b) as c: pass\nwith (yield): pass\n"),
               "With [(withitem (Name a Load) (Name b Store)) (withitem (Name c Load) -)]\n    "
               "body:\n        Pass\n"
               "With [(withitem (Tuple [(Name a Load) (Name b Load)] Load) (Name c Store))]\n    "
               "body:\n        Pass\n"
               "With [(withitem (Yield -) -)]\n    body:\n        Pass\n");
    CHECK_TEXT(
        dump("try: a\nexcept* (B, C) as e: raise D from e\nelse: b\nfinally: c\n"),
        "TryStar\n    body:\n        Expr (Name a Load)\n    handlers:\n        ExceptHandler "
        "(Tuple [(Name B "
        "Load) (Name C Load)] Load) e\n            body:\n                Raise (Name D Load) "
        "(Name e Load)\n"
        "    orelse:\n        Expr (Name b Load)\n    finalbody:\n        Expr (Name c Load)\n");
    CHECK_TEXT(dump("class A(B, m=C):\n    x = 1\nasync def g():\n    async with a: await b\n    "
                    "global y, z\n"),
               "ClassDef A [(Name B Load)] [(keyword m (Name C Load))] []\n    body:\n        "
               "Assign [(Name x Store)] "
               "(Constant 1)\nAsyncFunctionDef g (arguments [] [] - [] [] - []) [] -\n    body:\n  "
               "      AsyncWith "
               "[(withitem (Name a Load) -)]\n            body:\n                Expr (Await (Name "
               "b Load))\n"
               "        Global [y z]\n");
    CHECK_TEXT(dump("match x, y:\n    case [1, *_] | {'k': v, **r} if v: pass\n    case P.q(a, "
                    "b=-1) as c: pass\n    case _: pass\n"),
               "Match (Tuple [(Name x Load) (Name y Load)] Load)\n    cases:\n"
               "        match_case (MatchOr [(MatchSequence [(MatchValue (Constant 1)) (MatchStar "
               "-)]) (MatchMapping "
               "[(Constant \"k\")] [(MatchAs - v)] r)]) (Name v Load)\n            body:\n         "
               "       Pass\n"
               "        match_case (MatchAs (MatchClass (Attribute (Name P Load) q Load) [(MatchAs "
               "- a)] [b] "
               "[(MatchValue (UnaryOp USub (Constant 1)))]) c) -\n            body:\n              "
               "  Pass\n"
               "        match_case (MatchAs - -) -\n            body:\n                Pass\n");
    CHECK_TEXT(dump("match = case = 1\nmatch(x)\nmatch[a:b]\n"),
               "Assign [(Name match Store) (Name case Store)] (Constant 1)\nExpr (Call (Name match "
               "Load) [(Name x "
               "Load)] [])\nExpr (Subscript (Name match Load) (Slice (Name a Load) (Name b Load) "
               "-) Load)\n");
}

/* The lines of the rendered messages that are messages, without the file's name. */
static char *lines_of(const char *text) {
    Text out = text_new(&arena);
    for (const char *line = messages(text); *line;) {
        size_t n = strcspn(line, "\n");
        if (strncmp(line, "k.py:", 5) == 0) {
            text_add_bytes(&out, line + 5, n - 5);
            text_add_char(&out, '\n');
        }
        line += n + (line[n] == '\n');
    }
    return out.at;
}

static void test_messages(void) {
    static const char *const cases[][2] = {
        {"if x\n    y = 1\nz = = 2\n",
         "1:5: error: the header of `if` ends with `:`; write it before the end of the line "
         "[missing-colon]\n"
         "3:5: error: an expression is expected here, but `=` stands there [syntax]\n"},
        {"def f(a, b:\n    return a\nx = 1\n",
         "1:6: error: `(` was never closed; add the `)` [unclosed-bracket]\n"},
        {"x = (1, 2\ny = 3\n",
         "1:5: error: `(` was never closed; add the `)` [unclosed-bracket]\n"},
        {"x = [1, 2)\n", "1:10: error: `)` cannot close `[`; write `]` [unmatched-bracket]\n"
                         "1:5: note: `[` was opened here\n"},
        {"  x = 1\n", "1:3: error: unexpected indentation: the line before opens no block; align "
                      "this line with it [bad-indent]\n"},
        {"if x:\ny = 1\n", "2:1: error: an indented block must follow the `if` of line 1; indent "
                           "this line, or write `pass` there [bad-indent]\n"},
        {"if x:\n        a\n    b\n", "3:5: error: this line's indentation matches no enclosing "
                                      "block; align it with one of them [bad-indent]\n"},
        {"if x:\n\ta\n        b\n", "3:9: error: tabs and spaces are mixed so that the indentation "
                                    "depends on the width of a tab; use spaces only [tabs]\n"},
        {"s = 'abc\nt = 1\n", "1:5: error: the string is not closed on its line; add the closing "
                              "', or open it with ''' to span lines [unterminated-string]\n"},
        {"if x = 3:\n    pass\n",
         "1:6: error: `=` assigns and is no expression; to compare write `==`, to assign inside an "
         "expression write `:=` [assign-in-expression]\n"},
        {"f(x) = 1\n", "1:1: error: cannot assign to a call; the target must be a name, an "
                       "attribute, an element, or a list of these [bad-target]\n"},
        {"x + 1 += 2\n", "1:1: error: the left side of an augmented assignment must be a single "
                         "name, attribute or element [bad-target]\n"},
        {"print x\n",
         "1:1: error: `print` is a function; put its arguments in parentheses [print-statement]\n"},
        {"f(a=1, b)\n", "1:8: error: a positional argument cannot follow a named one; put it "
                        "before, or name it [argument-order]\n"},
        {"f(a b)\n", "1:5: error: `,` or `)` is expected before a name; write a comma or an "
                     "operator between two expressions [missing-comma]\n"
                     "1:2: note: `(` was opened here\n"},
        {"class = 3\n", "1:7: error: a name is expected here, but `=` stands there [syntax]\n"},
        {"else:\n    x\n", "1:1: error: `else` belongs to no `if`, loop or `try`; align it with "
                           "the statement that it continues [syntax]\n"},
        {"try:\n    x\ny\n",
         "1:1: error: `try` has no `except` and no `finally`; add one at the indentation of `try` [syntax]\n"},
        {"x = 5abc\nx = 017\n", "1:5: error: `5abc` is not a number; digits may have single `_` "
                                "between them, and an operator or space must follow [bad-number]\n"
                                "2:5: error: an integer has no leading zeros; drop them, or write "
                                "0o for octal [leading-zero]\n"},
        {"x = \342\200\234a\342\200\235\n",
         "1:5: error: `\342\200\234` (U+201C) has no meaning in Python outside strings and "
         "comments; delete it or write the ASCII character [bad-character]\n"
         "1:7: error: `\342\200\235` (U+201D) has no meaning in Python outside strings and "
         "comments; delete it or write the ASCII character [bad-character]\n"},
        {"f'{}' \n", "1:3: error: an empty field; write an expression into it, or `{{}}` for "
                     "braces [f-string]\n"},
        {"f'{a'\n", "1:3: error: the `{` of a field is never closed; add `}`, or write `{{` for a "
                    "brace [f-string]\n"},
        {"def f(a=1, b): pass\n", "1:12: error: parameter `b` has no default but follows one that "
                                  "has; move it before, or give it a default [parameter-order]\n"},
        {"def f(a, a): pass\n",
         "1:10: error: parameter `a` occurs twice; rename one [duplicate-parameter]\n"},
        {"while True print(1)\n", "1:12: error: the header of `while` ends with `:`; write it "
                                  "before a name [missing-colon]\n"},
        {"return return\n",
         "1:8: error: an expression is expected here, but `return` stands there [syntax]\n"},
        {"x = 1 if 2\n", "1:11: error: the `else` of a conditional expression is expected here, "
                         "but the end of the line stands there [syntax]\n"},
        {"a = b c\n", "1:7: error: the statement is complete before a name; put the rest on its "
                      "own line, or add what connects them [syntax]\n"},
        {"@foo\nx = 1\n", "2:1: error: the `def` or `class` that is decorated is expected here, "
                          "but a name stands there [syntax]\n"},
        {"for i in range(3)\n    pass\n", "1:18: error: the header of `for` ends with `:`; write "
                                          "it before the end of the line [missing-colon]\n"},
        {"x = '''abc\n",
         "1:5: error: the string is never closed; add the closing ''' [unterminated-string]\n"},
        {"lambda x: = 3\n",
         "1:11: error: an expression is expected here, but `=` stands there [syntax]\n"},
        {"del f()\n", "1:5: error: cannot delete a call; the target must be a name, an attribute, "
                      "an element, or a list of these [bad-target]\n"},
        {"1 = x\n", "1:1: error: cannot assign to a literal; the target must be a name, an "
                    "attribute, an element, or a list of these [bad-target]\n"},
        {"x = 'a' b'c'\n",
         "1:5: error: bytes and text cannot be joined; give all parts the same prefix [string]\n"},
        {"f(x for x in y, 1)\n", "1:3: error: a generator beside other arguments needs its own "
                                 "parentheses; write ((x for x in ..), other) [generator-argument]\n"},
        {"match x:\n    case 1 + 2: pass\n    case a.b.c(): pass\nx = )\n",
         "4:5: error: `)` closes nothing; delete it, or write the `(` that it belongs to "
         "[unmatched-bracket]\n"
         "2:15: error: only an imaginary number may be added in a pattern; use a guard to compare "
         "[pattern]\n"},
        {"x = \\ 1\n", "1:5: error: a backslash outside strings joins two lines and must be the "
                       "last character of its line; delete it or what follows it [backslash]\n"},
        {"import a.b.\n",
         "1:12: error: a name is expected here, but the end of the line stands there [syntax]\n"},
        {"from x import\n",
         "1:14: error: a name is expected here, but the end of the line stands there [syntax]\n"},
        {"a = 3 +\nb = * 2\n", "1:8: error: an expression is expected here, but the end of the "
                               "line stands there [syntax]\n"},
        {"if a:\n    x = (\n    y = 3\n    return 1\nz = ]\n",
         "2:9: error: `(` was never closed; add the `)` [unclosed-bracket]\n"
         "5:5: error: `]` closes nothing; delete it, or write the `[` that it belongs to "
         "[unmatched-bracket]\n"},
        {"x = '\\x1'\n", "1:6: error: the escape `\\x` needs two hexadecimal digits [string]\n"},
        {"f(**a, *b)\n", "1:8: error: a positional argument cannot follow `**`; put it before, or "
                         "name it [argument-order]\n"},
        {"def f(*): pass\n",
         "1:8: error: a bare `*` needs a named parameter behind it [parameter-order]\n"},
        {"with a as 1: pass\n",
         "1:11: error: cannot assign to a literal; the target must be a name, an attribute, an "
         "element, or a list of these [bad-target]\n"},
        {"async x = 3\n", "1:1: error: `def`, `for` or `with` behind `async` is expected here, but "
                          "`async` stands there [syntax]\n"},
        {"x = not\n", "1:8: error: an expression is expected here, but the end of the line stands "
                      "there [syntax]\n"},
        {"if True:\n    x = 1\n  else:\n    y = 2\n",
         "3:3: error: this line's indentation matches no enclosing block; align it with one of "
         "them [bad-indent]\n"},
        {"def f(x):\nreturn 1\n", "2:1: error: an indented block must follow the `def` of line 1; "
                                  "indent this line, or write `pass` there [bad-indent]\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(lines_of(cases[i][0]), cases[i][1]);
    CHECK_TEXT(messages("if x = (3\n    y\n"),
               "k.py:1:8: error: `(` was never closed; add the `)` [unclosed-bracket]\n"
               "    1 | if x = (3\n"
               "      |        ^\n"
               "k.py:1:6: error: `=` assigns and is no expression; to compare write `==`, to "
               "assign inside an "
               "expression write `:=` [assign-in-expression]\n"
               "    1 | if x = (3\n"
               "      |      ^\n");
}

static char *repeat(const char *before, const char *piece, int count, const char *after) {
    Text out = text_new(&arena);
    text_add(&out, "%s", before);
    for (int i = 0; i < count; i++) text_add(&out, "%s", piece);
    text_add(&out, "%s", after);
    return out.at;
}

/* Nothing nests without bound, and what is long but flat is read. */
static void test_bounds(void) {
    static const char *const deep[] = {
        "(", "[", "{", "-", "not ", "lambda: ", "2 ** ", "1 if 1 else ", "f(", "a["};
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        CHECK(errors(repeat("x = ", deep[i], 10000, "1\n")) > 0);
        CHECK(diag.messages.at[0].id == DIAG_PY_TOO_DEEP);
    }
    CHECK(errors(repeat("x = ", "1 + ", 10000, "1\n")) == 1 &&
          diag.messages.at[0].id == DIAG_PY_TOO_HIGH);
    CHECK(errors(repeat("x = ", "1 + ", 900, "1\n")) == 0);
    CHECK(errors(repeat("x = ", "(", 199, repeat("1", ")", 199, "\n"))) == 0);
    CHECK(errors(repeat("x = [", "1, ", 100000, "]\n")) == 0);
    CHECK(errors(repeat("if a: pass\n", "elif b: pass\n", 500, "")) == 0);
    CHECK(errors(repeat("", "x = )\n", 1000, "")) > DIAG_LIMIT &&
          diag.messages.count == DIAG_LIMIT);
    Text out = text_new(&arena);
    for (int i = 0; i < 150; i++) text_add(&out, "%*sif x:\n", i, "");
    CHECK(errors(out.at) > 0 && diag.messages.at[0].id == DIAG_PY_INDENT_DEEP);
}

static void test_texts(void) {
    SourceFile *file;
    parse_bytes("a = '\xff'\n", 8, &file);
    CHECK(diag.errors == 1 && diag.messages.at[0].id == DIAG_PY_NOT_UTF8);
    parse_bytes("a = \0b\n", 7, &file);
    CHECK(diag.errors == 1 && diag.messages.at[0].id == DIAG_PY_NUL);
    CHECK(errors("# -*- coding: koi8-r -*-\nx = 1\n") == 1 &&
          diag.messages.at[0].id == DIAG_PY_ENCODING);
    CHECK(errors("# -*- coding: utf-8 -*-\nx = 1\n") == 0);
    CHECK_TEXT(dump("\xef\xbb\xbfx = 1\r\nif x:\r\n  y = '''a\r\nb'''\r\n"),
               "Assign [(Name x Store)] (Constant 1)\nIf (Name x Load)\n    body:\n        Assign "
               "[(Name y Store)] "
               "(Constant \"a\\x0ab\")\n");
    CHECK_TEXT(dump("x = (1 +  # one\n\n     2)\ny = 1 + \\\n  2\n# end"),
               "Assign [(Name x Store)] (BinOp (Constant 1) Add (Constant 2))\nAssign [(Name y "
               "Store)] (BinOp "
               "(Constant 1) Add (Constant 2))\n");
    CHECK_TEXT(dump(""), "");
    CHECK_TEXT(dump("pass"), "Pass\n");
}

/* Every byte string must come back with a tree and some messages, whatever it is. */
static void test_noise(void) {
    static const char alphabet[] =
        "()[]{}:=+-*/\n\n    \t\"'abf1.,#\\@!if in for def x: match case *";
    uint32_t state = 1;
    for (int round = 0; round < 300; round++) {
        char text[400];
        for (size_t i = 0; i < sizeof text; i++) {
            state = state * 1664525u + 1013904223u;
            text[i] = alphabet[(state >> 8) % (sizeof alphabet - 1)];
        }
        SourceFile *file;
        PyNode *module = parse_bytes(text, sizeof text, &file);
        CHECK(module->kind == PY_Module && py_dump(module, file, PY_DUMP_RANGES, &arena));
    }
}

static void test_ranges(void) {
    SourceFile *file;
    PyNode *module = parse_bytes("x = f(a,\n      b)[0]\n", 21, &file);
    CHECK_TEXT(py_dump(module, file, PY_DUMP_RANGES, &arena),
               "Assign@0-20 [(Name@0-1 x Store)] (Subscript@4-20 (Call@4-17 (Name@4-5 f Load) "
               "[(Name@6-7 a Load) "
               "(Name@15-16 b Load)] []) (Constant@18-19 0) Load)\n");
    module = parse_bytes("f'ab{ x }c'\n", 12, &file);
    CHECK_TEXT(py_dump(module, file, PY_DUMP_RANGES, &arena),
               "Expr@0-11 (JoinedStr@0-11 [(Constant@0-11 \"ab\") (FormattedValue@4-9 (Name@6-7 x "
               "Load) -1 -) "
               "(Constant@0-11 \"c\")])\n");
}

int main(void) {
    if (!TRAP_ARM(&trap)) return 1;
    arena_init(&arena, allocator_malloc, &trap);
    test_expressions();
    test_literals();
    test_statements();
    test_messages();
    test_bounds();
    test_texts();
    test_noise();
    test_ranges();
    arena_free(&arena);
    return check_done();
}
