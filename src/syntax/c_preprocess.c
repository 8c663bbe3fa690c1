/* SPDX-License-Identifier: Apache-2.0 */
/* c_preprocess.c: Tile C's small preprocessor: #include, #define (object- and function-like, # and ##, variadic),
 * #undef, #if and its family, #error, #pragma once. Macros are expanded in c_macro.c.
 *
 * Input is the token vector of a file, output one vector for the parser. All work is bounded by C_TOKEN_LIMIT, which
 * counts what is read of files too, and the two depth limits. */
#include "syntax/c_preprocessor.h"

#include <string.h>

enum { INCLUDE_LIMIT = 40 };

/* ---- directives ---- */

typedef struct Line {
    const CToken *at; /* behind the directive's name */
    size_t count;
    Range range; /* of the name */
    const SourceFile *file;
} Line;

static bool live(const Preprocessor *pp) { return !pp->conditions.count || VEC_LAST(&pp->conditions).live; }

static bool same_body(const Macro *a, const Macro *b) {
    if (a->is_function != b->is_function || a->parameter_count != b->parameter_count ||
        a->is_variadic != b->is_variadic || a->body.count != b->body.count)
        return false;
    for (size_t i = 0; i < a->parameter_count; i++)
        if (strcmp(a->parameters[i], b->parameters[i]) != 0) return false;
    for (size_t i = 0; i < a->body.count; i++) {
        const CToken *x = &a->body.at[i], *y = &b->body.at[i];
        if (x->length != y->length || memcmp(x->text, y->text, x->length) != 0) return false;
    }
    return true;
}

/* `(a, b, ...)` right behind the name; returns how many tokens it took, 0 on an error. */
static size_t read_parameters(Preprocessor *pp, const Line *line, Macro *macro) {
    VEC(const char *) names = {0};
    size_t i = 2;
    bool comma = false;
    while (i < line->count) {
        const CToken *token = &line->at[i++];
        if (token->kind == CT_RPAREN && !comma) {
            macro->parameters = names.at;
            macro->parameter_count = names.count;
            return i;
        }
        if (token->kind == CT_IDENT && !macro->is_variadic) {
            *VEC_PUSH(&names, pp->arena) = pp_token_name(pp, token);
        } else if (token->kind == CT_ELLIPSIS && !macro->is_variadic) {
            macro->is_variadic = true;
            *VEC_PUSH(&names, pp->arena) = "__VA_ARGS__";
        } else {
            break;
        }
        comma = i < line->count && line->at[i].kind == CT_COMMA;
        i += comma;
    }
    diag_emit(pp->diag, DIAG_C_DIRECTIVE_FORM, line->range, "define",
              "its parameters as names in parentheses: #define F(a, b) ...");
    return 0;
}

static void define_macro(Preprocessor *pp, const Line *line) {
    if (!line->count || line->at[0].kind != CT_IDENT) {
        diag_emit(pp->diag, DIAG_C_DIRECTIVE_FORM, line->range, "define", "a name to define");
        return;
    }
    Macro *macro = ARENA_NEW(pp->arena, Macro);
    macro->name = pp_token_name(pp, &line->at[0]);
    macro->range = line->at[0].range;
    macro->defined = true;
    macro->is_function = line->count > 1 && line->at[1].kind == CT_LPAREN && !line->at[1].spaced;
    size_t body = 1;
    if (macro->is_function && !(body = read_parameters(pp, line, macro))) return;
    for (size_t i = body; i < line->count; i++) *VEC_PUSH(&macro->body, pp->arena) = line->at[i];
    Macro *old = map_get(&pp->macros, macro->name);
    if (old && old->defined && !same_body(old, macro)) {
        diag_emit(pp->diag, DIAG_C_MACRO_REDEFINED, macro->range, macro->name);
        diag_emit(pp->diag, DIAG_NOTE_HERE, old->range, "the first definition is here");
    }
    map_set(&pp->macros, pp->arena, macro->name, macro);
}

/* Identifiers that are left in a #if line are 0, as C says. */
static bool undefined_is_zero(void *user, const CNode *node, CConst *out) {
    (void)user;
    *out = (CConst){0, false};
    return node->kind == C_IDENT;
}

static bool evaluate_condition(Preprocessor *pp, const Line *line, const char *directive) {
    CTokens plain = {0}, expanded = {0};
    for (size_t i = 0; i < line->count; i++) {
        CToken token = line->at[i];
        if (pp_is_word(&token, "defined")) {
            bool paren = i + 1 < line->count && line->at[i + 1].kind == CT_LPAREN;
            size_t name = i + 1 + paren, last = name + paren;
            if (last >= line->count || line->at[name].kind != CT_IDENT || (paren && line->at[last].kind != CT_RPAREN)) {
                diag_emit(pp->diag, DIAG_C_DIRECTIVE_FORM, token.range, directive,
                          "a name behind `defined`: defined(NAME)");
                return false;
            }
            token.kind = CT_NUMBER;
            token.text = pp_find_macro(pp, &line->at[name]) ? "1" : "0";
            token.length = 1;
            i = last;
        }
        *VEC_PUSH(&plain, pp->arena) = token;
    }
    if (!plain.count) {
        diag_emit(pp->diag, DIAG_C_DIRECTIVE_FORM, line->range, directive, "a condition");
        return false;
    }
    pp_expand_list(pp, plain.at, plain.count, &expanded);
    CNode *tree = c_parse_line(pp->request, expanded.at, expanded.count);
    CConst value = {0, false};
    const CNode *wrong;
    if (tree && !c_eval(tree, undefined_is_zero, NULL, &value, &wrong))
        diag_emit(pp->diag, DIAG_C_NOT_CONSTANT, wrong->range,
                  "#if takes integers, `defined`, macros and operators; no division by zero");
    return value.value != 0;
}

static void open_condition(Preprocessor *pp, const Line *line, const char *directive, bool holds) {
    bool outer = live(pp);
    *VEC_PUSH(&pp->conditions, pp->arena) = (Condition){line->range, directive, outer && holds, !outer || holds, false};
}

static void include_file(Preprocessor *pp, const Line *line);
static void process_file(Preprocessor *pp, const SourceFile *file);

static bool in_list(const char *const *list, const char *name) {
    for (; list && *list; list++)
        if (!strcmp(*list, name)) return true;
    return false;
}

static void include_file(Preprocessor *pp, const Line *line) {
    char *name = NULL;
    bool angled = line->count && line->at[0].kind == CT_LT;
    if (angled) {
        size_t close = 1;
        while (close < line->count && line->at[close].kind != CT_GT) close++;
        const char *begin = line->at[0].text + 1;
        if (close < line->count && close > 1)
            name = arena_string(pp->arena, begin, (size_t)(line->at[close].text - begin));
    } else if (line->count && line->at[0].kind == CT_STRING && line->at[0].length > 2) {
        name = arena_string(pp->arena, line->at[0].text + 1, line->at[0].length - 2);
    }
    if (!name) {
        diag_emit(pp->diag, DIAG_C_DIRECTIVE_FORM, line->range, "include", "\"name\" or <name>");
        return;
    }
    if (in_list(pp->request->vocabulary.headers, name)) return;
    Range place = line->at[0].range;
    CFindHeader *find = pp->request->find_header;
    const SourceFile *file = find ? find(pp->request->user, line->file, name, angled) : NULL;
    if (!file) {
        diag_emit(pp->diag, DIAG_C_INCLUDE_MISSING, place, name);
        return;
    }
    if (map_find_number(&pp->once, file->base)) return;
    if (pp->include_depth >= INCLUDE_LIMIT) {
        diag_emit(pp->diag, DIAG_C_INCLUDE_DEPTH, place, INCLUDE_LIMIT, name);
        pp->overflow = true;
        return;
    }
    pp->include_depth++;
    process_file(pp, file);
    pp->include_depth--;
}

static void handle_pragma(Preprocessor *pp, const Line *line) {
    if (line->count && pp_is_word(&line->at[0], "once")) {
        map_put_number(&pp->once, pp->arena, line->file->base, NULL);
    } else if (line->count && !pp_is_word(&line->at[0], "unroll")) {
        diag_emit(pp->diag, DIAG_C_PRAGMA_IGNORED, line->at[0].range, (int)line->at[0].length, line->at[0].text);
    }
}

static void handle_error(Preprocessor *pp, const Line *line) {
    Text text = text_new(pp->arena);
    for (size_t i = 0; i < line->count; i++)
        text_add(&text, "%s%.*s", i ? " " : "", (int)line->at[i].length, line->at[i].text);
    diag_emit(pp->diag, DIAG_C_ERROR_DIRECTIVE, line->range, text.at);
}

static bool ifdef_name(Preprocessor *pp, const Line *line, const char *directive) {
    if (line->count && line->at[0].kind == CT_IDENT) return pp_find_macro(pp, &line->at[0]) != NULL;
    diag_emit(pp->diag, DIAG_C_DIRECTIVE_FORM, line->range, directive, "a name");
    return false;
}

/* The directives that open, switch and close branches; true if it was one of them. */
static bool handle_conditional(Preprocessor *pp, const CToken *name, const Line *line) {
    if (pp_is_word(name, "if")) {
        open_condition(pp, line, "if", live(pp) && evaluate_condition(pp, line, "if"));
        return true;
    }
    bool ifdef = pp_is_word(name, "ifdef");
    if (ifdef || pp_is_word(name, "ifndef")) {
        const char *word = ifdef ? "ifdef" : "ifndef";
        open_condition(pp, line, word, live(pp) && ifdef_name(pp, line, word) == ifdef);
        return true;
    }
    bool elif = pp_is_word(name, "elif"), other = pp_is_word(name, "else"), end = pp_is_word(name, "endif");
    if (!elif && !other && !end) return false;
    const char *word = elif ? "elif" : other ? "else" : "endif";
    if (pp->conditions.count <= pp->condition_base || (!end && VEC_LAST(&pp->conditions).seen_else)) {
        diag_emit(pp->diag, DIAG_C_DIRECTIVE_UNMATCHED, name->range, word);
    } else if (end) {
        pp->conditions.count--;
    } else {
        bool taken = VEC_LAST(&pp->conditions).taken;
        bool holds = !taken && (other || evaluate_condition(pp, line, "elif"));
        Condition *condition = &VEC_LAST(&pp->conditions);
        condition->live = holds;
        condition->taken = taken || holds;
        condition->seen_else = other;
    }
    return true;
}

static void handle_directive(Preprocessor *pp, const CToken *tokens, size_t count, const SourceFile *file) {
    if (count < 2) return; /* a lone # */
    const CToken *name = &tokens[1];
    Line line = {tokens + 2, count - 2, name->range, file};
    if (handle_conditional(pp, name, &line) || !live(pp)) return;
    if (pp_is_word(name, "define")) {
        define_macro(pp, &line);
    } else if (pp_is_word(name, "undef")) {
        Macro *macro = ifdef_name(pp, &line, "undef") ? pp_find_macro(pp, &line.at[0]) : NULL;
        if (macro) macro->defined = false;
    } else if (pp_is_word(name, "include")) {
        include_file(pp, &line);
    } else if (pp_is_word(name, "error")) {
        handle_error(pp, &line);
    } else if (pp_is_word(name, "pragma")) {
        handle_pragma(pp, &line);
    } else {
        diag_emit(pp->diag, DIAG_C_DIRECTIVE, name->range, (int)name->length, name->text);
    }
}

static void report_stray(Preprocessor *pp, const CToken *token) {
    char c = token->text[0];
    if (c == '"' || c == '\'')
        diag_emit(pp->diag, DIAG_C_UNTERMINATED_QUOTE, token->range, c == '"' ? "string" : "character constant", c);
    else if ((unsigned char)c > ' ' && (unsigned char)c < 0x7F)
        diag_emit(pp->diag, DIAG_C_STRAY, token->range, (int)token->length, token->text);
    else
        diag_emit(pp->diag, DIAG_C_STRAY_BYTE, token->range, (unsigned)(unsigned char)c);
}

static CTokens lex_file(Preprocessor *pp, const SourceFile *file) {
    CTokens fresh = {0};
    MapEntry *entry = map_find_number(&pp->lexed, file->base);
    if (entry) return *(CTokens *)entry->value;
    c_lex(pp->arena, pp->diag, file, &fresh);
    if (pp->include_depth) /* else it is overwritten */
        map_put_number(&pp->lexed, pp->arena, file->base, arena_copy(pp->arena, &fresh, sizeof fresh));
    return fresh;
}

static void process_file(Preprocessor *pp, const SourceFile *file) {
    CTokens tokens = lex_file(pp, file);
    /* What is skipped costs, too. A file's own end is enough of a place. */
    pp->read += tokens.count;
    if (pp->read > C_TOKEN_LIMIT) pp->work = C_TOKEN_LIMIT;
    if (pp->read > C_TOKEN_LIMIT && !pp_spend(pp, tokens.at[0].range)) return;
    if (!pp->include_depth && !pp->out->count) {
        pp->whole = *pp->out = tokens;
        pp->whole_frame = pp->frames.count;
        pp->out->count = 0;
    }
    size_t outer_base = pp->condition_base, frame = pp->frames.count;
    pp->condition_base = pp->conditions.count;
    pp_push_frame(pp, tokens.at, tokens.count - 1, NULL, true);
    CToken token;
    while (!pp->overflow && pp_next_token(pp, &token)) {
        Frame *top = &VEC_LAST(&pp->frames);
        bool from_file = pp->frames.count == frame + 1;
        if (from_file && token.kind == CT_HASH && token.line_start) {
            const CToken *begin = top->at - 1;
            while (top->at < top->end && !top->at->line_start) top->at++;
            handle_directive(pp, begin, (size_t)(top->at - begin), file);
        } else if (!live(pp)) {
            continue;
        } else if (token.kind == CT_OTHER) {
            report_stray(pp, &token);
        } else {
            pp_expand_token(pp, token, pp->out);
        }
    }
    while (pp->frames.count > frame) pp_pop_frame(pp);
    if (pp->overflow) pp->conditions.count = pp->condition_base; /* it was not read to its end */
    for (; pp->conditions.count > pp->condition_base; pp->conditions.count--) {
        Condition *open = &VEC_LAST(&pp->conditions);
        diag_emit(pp->diag, DIAG_C_UNCLOSED_IF, open->range, open->directive);
    }
    pp->condition_base = outer_base;
}

void c_preprocess(const CRequest *request, const SourceFile *file, CTokens *out) {
    Preprocessor pp = {.request = request, .arena = request->arena, .diag = request->diag, .out = out};
    if (request->define_count) {
        Text text = text_new(pp.arena);
        for (size_t i = 0; i < request->define_count; i++)
            text_add(&text, "#define %s %s\n", request->defines[i].name, request->defines[i].value);
        SourceFile *defines = source_add(request->sources, "(definitions)", text.at, text.length);
        if (defines) process_file(&pp, defines);
    }
    process_file(&pp, file);
    for (size_t i = 0; i < out->count; i++) {
        CToken *token = &out->at[i];
        if (token->kind == CT_IDENT) token->kind = c_keyword(token->text, token->length);
    }
    uint32_t end = file->base + file->size;
    *VEC_PUSH(out, pp.arena) = (CToken){.kind = CT_END, .text = "", .range = {end, end}};
}
