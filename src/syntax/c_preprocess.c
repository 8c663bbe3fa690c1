/* c_preprocess.c: Tile C's small preprocessor: #include, #define (object- and function-like, # and
 * ##, variadic), #undef, #if and its family, #error, #pragma once.
 *
 * Input is the token vector of a file, output one vector for the parser. Expansion works on a stack
 * of frames: a file, the replacement of a macro, or an argument that is expanded by itself. A frame
 * marked `barrier` ends what the words above it may read. A macro met again while its own
 * replacement is being read is a loop and is reported with its chain (C would leave the name alone,
 * which no kernel wants); `#define X X` is allowed. All work is bounded by C_TOKEN_LIMIT, which counts
 * what is read of files too, and the two depth limits.
 *
 * Tokens made by a macro carry the range of its use and, apart, the place of its definition. */
#include "syntax/c_parse.h"

#include "base/map.h"

#include <string.h>

enum { INCLUDE_LIMIT = 40, ARGUMENT_DEPTH_LIMIT = 100 };

typedef struct Macro {
    const char *name;
    Range range;
    bool defined, active, is_function, is_variadic;
    size_t parameter_count; /* __VA_ARGS__ included */
    const char **parameters;
    CTokens body;
} Macro;

typedef struct Frame {
    const CToken *at, *end;
    Macro *macro; /* reading its replacement */
    bool barrier;
} Frame;

typedef struct Condition {
    Range range;
    const char *directive;
    bool live, taken, seen_else; /* this branch is read; a branch was read; #else was there */
} Condition;

typedef struct Preprocessor {
    const CRequest *request;
    Arena *arena;
    Diag *diag;
    Map macros, once;
    Map lexed; /* file -> its CTokens: one that is included again is not cut up again */
    VEC(Frame) frames;
    VEC(Condition) conditions;
    CTokens *out;
    /* The file that is compiled: what comes out of it is written over what was read of it, as long as macros and
     * includes leave it no longer than that. */
    CTokens whole;
    size_t whole_frame;
    size_t work;           /* tokens that went through expansion */
    size_t read;           /* tokens of files, each as often as it was included */
    size_t condition_base; /* conditions below it belong to the including file */
    int include_depth, argument_depth;
    bool overflow;
} Preprocessor;

static bool is_word(const CToken *token, const char *word) {
    return token->kind == CT_IDENT && text_equal(token->text, token->length, word);
}

static char *token_name(Preprocessor *pp, const CToken *token) {
    return arena_string(pp->arena, token->text, token->length);
}

static Macro *find_macro(Preprocessor *pp, const CToken *token) {
    MapEntry *entry = map_find(&pp->macros, token->text, token->length);
    Macro *macro = entry ? entry->value : NULL;
    return macro && macro->defined ? macro : NULL;
}

/* Counts a token of work; false, after one message, when there is too much of it. */
static bool spend(Preprocessor *pp, Range range) {
    if (pp->work++ < C_TOKEN_LIMIT) return true;
    if (!pp->overflow) diag_emit(pp->diag, DIAG_C_TOO_MANY_TOKENS, range, C_TOKEN_LIMIT);
    pp->overflow = true;
    return false;
}

/* ---- frames ---- */

static void push_frame(Preprocessor *pp, const CToken *tokens, size_t count, Macro *macro, bool barrier) {
    *VEC_PUSH(&pp->frames, pp->arena) = (Frame){tokens, tokens + count, macro, barrier};
}

static void pop_frame(Preprocessor *pp) {
    Frame *frame = &VEC_LAST(&pp->frames);
    if (frame->macro) frame->macro->active = false;
    pp->frames.count--;
}

/* The next token above the barrier; false at its end. */
static bool next_token(Preprocessor *pp, CToken *out) {
    for (;;) {
        Frame *frame = &VEC_LAST(&pp->frames);
        if (frame->at < frame->end) {
            *out = *frame->at++;
            return true;
        }
        if (frame->barrier) return false;
        pop_frame(pp);
    }
}

static bool next_is_open_paren(const Preprocessor *pp) {
    for (size_t i = pp->frames.count; i-- > 0;) {
        const Frame *frame = &pp->frames.at[i];
        if (frame->at < frame->end) return frame->at->kind == CT_LPAREN;
        if (frame->barrier) break;
    }
    return false;
}

/* ---- macro expansion ---- */

static void expand_token(Preprocessor *pp, CToken token, CTokens *out);

static void expand_list(Preprocessor *pp, const CToken *tokens, size_t count, CTokens *out) {
    CToken token;
    push_frame(pp, tokens, count, NULL, true);
    while (!pp->overflow && next_token(pp, &token)) expand_token(pp, token, out);
    while (!VEC_LAST(&pp->frames).barrier) pop_frame(pp);
    pop_frame(pp);
}

typedef struct Arguments {
    CTokens *raw, *expanded;
    size_t count;
    Range end; /* the closing parenthesis */
} Arguments;

/* Reads `( a , b )` behind the macro's name. */
static bool collect_arguments(Preprocessor *pp, const Macro *macro, Range use, Arguments *args) {
    size_t room = macro->parameter_count ? macro->parameter_count : 1;
    CToken token;
    args->raw = ARENA_ARRAY(pp->arena, CTokens, room);
    args->expanded = ARENA_ARRAY(pp->arena, CTokens, room);
    size_t given = 0, any = 0;
    int depth = 0;
    next_token(pp, &token);
    for (;;) {
        if (!next_token(pp, &token)) {
            diag_emit(pp->diag, DIAG_C_MACRO_UNCLOSED, use, macro->name);
            return false;
        }
        if (!spend(pp, use)) return false;
        if (token.kind == CT_RPAREN && depth == 0) break;
        if (token.kind == CT_LPAREN) depth++;
        if (token.kind == CT_RPAREN) depth--;
        any++;
        bool rest = macro->is_variadic && given + 1 >= macro->parameter_count;
        if (token.kind == CT_COMMA && depth == 0 && !rest)
            given++;
        else if (given < room)
            *VEC_PUSH(&args->raw[given], pp->arena) = token;
    }
    args->end = token.range;
    args->count = any || macro->parameter_count == 1 ? given + 1 : 0;
    size_t least = macro->parameter_count - macro->is_variadic;
    if (args->count < least || args->count > macro->parameter_count) {
        diag_emit(pp->diag, DIAG_C_MACRO_ARGUMENTS, range_join(use, args->end), macro->name,
                  macro->is_variadic ? "at least " : "", (int)least, least == 1 ? "" : "s", (int)args->count);
        diag_emit(pp->diag, DIAG_NOTE_HERE, macro->range, "the macro is defined here");
        return false;
    }
    for (size_t i = 0; i < args->count; i++) expand_list(pp, args->raw[i].at, args->raw[i].count, &args->expanded[i]);
    return true;
}

static int parameter_index(const Macro *macro, const CToken *token) {
    for (size_t i = 0; token->kind == CT_IDENT && i < macro->parameter_count; i++)
        if (text_equal(token->text, token->length, macro->parameters[i])) return (int)i;
    return -1;
}

static CToken stringize(Preprocessor *pp, const CTokens *tokens, CToken model) {
    Text text = text_new(pp->arena);
    text_add_char(&text, '"');
    for (size_t i = 0; i < tokens->count; i++) {
        const CToken *token = &tokens->at[i];
        if (i && token->spaced) text_add_char(&text, ' ');
        for (uint32_t j = 0; j < token->length; j++) {
            bool quoted = token->kind == CT_STRING || token->kind == CT_CHAR;
            if (quoted && (token->text[j] == '"' || token->text[j] == '\\')) text_add_char(&text, '\\');
            text_add_char(&text, token->text[j]);
        }
    }
    text_add_char(&text, '"');
    model.kind = CT_STRING;
    model.text = text.at;
    model.length = (uint32_t)text.length;
    return model;
}

/* Joins `right` onto the last token of out, as ## asks. */
static void paste(Preprocessor *pp, CTokens *out, const CToken *right) {
    CToken *left = &VEC_LAST(out);
    char *joined = arena_printf(pp->arena, "%.*s%.*s", (int)left->length, left->text, (int)right->length, right->text);
    SourceFile piece = {.name = "##", .text = joined, .size = (uint32_t)strlen(joined)};
    CTokens tokens = {0};
    Diag silent;
    diag_init(&silent, pp->arena, NULL);
    c_lex(pp->arena, &silent, &piece, &tokens);
    if (tokens.count != 2 || silent.errors) {
        diag_emit(pp->diag, DIAG_C_MACRO_PASTE, left->range, joined);
        return;
    }
    left->kind = tokens.at[0].kind;
    left->text = tokens.at[0].text;
    left->length = tokens.at[0].length;
    left->painted = false;
}

/* The replacement of the macro for one use, with the use's range on every token of the body. */
static CTokens substitute(Preprocessor *pp, const Macro *macro, const Arguments *args, Range use, Range definition) {
    CTokens out = {0};
    bool join = false;
    for (size_t i = 0; i < macro->body.count && spend(pp, use); i++) {
        CToken token = macro->body.at[i];
        const CToken *next = i + 1 < macro->body.count ? &macro->body.at[i + 1] : NULL;
        token.range = use;
        token.macro = definition;
        if (token.kind == CT_HASH_HASH && i && next) {
            join = true;
            continue;
        }
        int stringized = macro->is_function && token.kind == CT_HASH && next ? parameter_index(macro, next) : -1;
        int parameter = stringized < 0 ? parameter_index(macro, &token) : -1;
        bool pasted = join || (next && next->kind == CT_HASH_HASH);
        CTokens one = {&token, 1, 1}, *piece = &one;
        if (stringized >= 0) {
            token = stringize(pp, &args->raw[stringized], token);
            i++;
        } else if (parameter >= 0) {
            piece = pasted ? &args->raw[parameter] : &args->expanded[parameter];
        }
        for (size_t j = 0; j < piece->count && spend(pp, use); j++) {
            if (j == 0 && join && out.count)
                paste(pp, &out, &piece->at[0]);
            else
                *VEC_PUSH(&out, pp->arena) = piece->at[j];
            if (j == 0 && parameter >= 0 && out.count) VEC_LAST(&out).spaced = macro->body.at[i].spaced;
        }
        join = false;
    }
    return out;
}

static void report_loop(Preprocessor *pp, const Macro *macro, Range use) {
    Text chain = text_new(pp->arena);
    bool inside = false;
    for (size_t i = 0; i < pp->frames.count; i++) {
        const Macro *link = pp->frames.at[i].macro;
        inside = inside || link == macro;
        if (link && inside) text_add(&chain, "%s -> ", link->name);
    }
    text_add(&chain, "%s", macro->name);
    diag_emit(pp->diag, DIAG_C_MACRO_LOOP, use, macro->name, chain.at);
    diag_emit(pp->diag, DIAG_NOTE_HERE, macro->range, "the macro is defined here");
}

/* For one more token of the output. */
static void make_room(Preprocessor *pp) {
    CTokens *out = pp->out;
    if (!out->at || out->at != pp->whole.at) return;
    const CToken *next = pp->frames.at[pp->whole_frame].at;
    if (out->at + out->count < next) return;
    CTokens apart = {0};
    VEC_RESERVE(&apart, pp->arena, pp->whole.count + out->count);
    memcpy(apart.at, out->at, out->count * sizeof *out->at);
    apart.count = out->count;
    *out = apart;
}

/* Appends the token, or pushes what its macro stands for. */
static void expand_token(Preprocessor *pp, CToken token, CTokens *out) {
    if (!spend(pp, token.range)) return;
    Macro *macro = token.kind == CT_IDENT && !token.painted ? find_macro(pp, &token) : NULL;
    if (macro && macro->is_function && !next_is_open_paren(pp)) macro = NULL;
    if (macro && macro->active) {
        bool itself = macro->body.count == 1 && is_word(&macro->body.at[0], macro->name);
        if (!itself) report_loop(pp, macro, token.range);
        token.painted = true;
        macro = NULL;
    }
    if (!macro) {
        if (out == pp->out) make_room(pp);
        *VEC_PUSH(out, pp->arena) = token;
        return;
    }
    Arguments args = {0};
    Range use = token.range;
    if (macro->is_function) {
        if (++pp->argument_depth > ARGUMENT_DEPTH_LIMIT) {
            diag_emit(pp->diag, DIAG_C_TOO_DEEP, use, ARGUMENT_DEPTH_LIMIT);
            pp->overflow = true;
        }
        bool ok = !pp->overflow && collect_arguments(pp, macro, use, &args);
        pp->argument_depth--;
        if (!ok) return;
        use = range_join(use, args.end);
    }
    Range definition = token.macro.begin ? token.macro : macro->range;
    CTokens body = substitute(pp, macro, &args, use, definition);
    if (body.count) body.at[0].spaced = token.spaced;
    push_frame(pp, body.at, body.count, macro, false);
    macro->active = true;
}

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
            *VEC_PUSH(&names, pp->arena) = token_name(pp, token);
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
    macro->name = token_name(pp, &line->at[0]);
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
        if (is_word(&token, "defined")) {
            bool paren = i + 1 < line->count && line->at[i + 1].kind == CT_LPAREN;
            size_t name = i + 1 + paren, last = name + paren;
            if (last >= line->count || line->at[name].kind != CT_IDENT || (paren && line->at[last].kind != CT_RPAREN)) {
                diag_emit(pp->diag, DIAG_C_DIRECTIVE_FORM, token.range, directive,
                          "a name behind `defined`: defined(NAME)");
                return false;
            }
            token.kind = CT_NUMBER;
            token.text = find_macro(pp, &line->at[name]) ? "1" : "0";
            token.length = 1;
            i = last;
        }
        *VEC_PUSH(&plain, pp->arena) = token;
    }
    if (!plain.count) {
        diag_emit(pp->diag, DIAG_C_DIRECTIVE_FORM, line->range, directive, "a condition");
        return false;
    }
    expand_list(pp, plain.at, plain.count, &expanded);
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
    if (line->count && is_word(&line->at[0], "once")) {
        map_put_number(&pp->once, pp->arena, line->file->base, NULL);
    } else if (line->count && !is_word(&line->at[0], "unroll")) {
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
    if (line->count && line->at[0].kind == CT_IDENT) return find_macro(pp, &line->at[0]) != NULL;
    diag_emit(pp->diag, DIAG_C_DIRECTIVE_FORM, line->range, directive, "a name");
    return false;
}

/* The directives that open, switch and close branches; true if it was one of them. */
static bool handle_conditional(Preprocessor *pp, const CToken *name, const Line *line) {
    if (is_word(name, "if")) {
        open_condition(pp, line, "if", live(pp) && evaluate_condition(pp, line, "if"));
        return true;
    }
    bool ifdef = is_word(name, "ifdef");
    if (ifdef || is_word(name, "ifndef")) {
        const char *word = ifdef ? "ifdef" : "ifndef";
        open_condition(pp, line, word, live(pp) && ifdef_name(pp, line, word) == ifdef);
        return true;
    }
    bool elif = is_word(name, "elif"), other = is_word(name, "else"), end = is_word(name, "endif");
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
    if (is_word(name, "define")) {
        define_macro(pp, &line);
    } else if (is_word(name, "undef")) {
        Macro *macro = ifdef_name(pp, &line, "undef") ? find_macro(pp, &line.at[0]) : NULL;
        if (macro) macro->defined = false;
    } else if (is_word(name, "include")) {
        include_file(pp, &line);
    } else if (is_word(name, "error")) {
        handle_error(pp, &line);
    } else if (is_word(name, "pragma")) {
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
    if (pp->read > C_TOKEN_LIMIT && !spend(pp, tokens.at[0].range)) return;
    if (!pp->include_depth && !pp->out->count) {
        pp->whole = *pp->out = tokens;
        pp->whole_frame = pp->frames.count;
        pp->out->count = 0;
    }
    size_t outer_base = pp->condition_base, frame = pp->frames.count;
    pp->condition_base = pp->conditions.count;
    push_frame(pp, tokens.at, tokens.count - 1, NULL, true);
    CToken token;
    while (!pp->overflow && next_token(pp, &token)) {
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
            expand_token(pp, token, pp->out);
        }
    }
    while (pp->frames.count > frame) pop_frame(pp);
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
