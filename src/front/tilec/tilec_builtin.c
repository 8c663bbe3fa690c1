/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_builtin.c: the operations of tilec_builtins.def: which row a call is, by name, scope and operand types, and
 * whether the threads that get there are those of its scope.
 *
 *     warpgroup_load(&acc, g.C, at(r, c))   ->   row "load" "agc", four warps
 *     warp_add(&x, &x, &y)                  ->   row "add" "aaa"; among four warps with their own rows the same */
#include "front/tilec/tilec.h"

#include <string.h>

enum { TILE, ROWS, COLS, GROUP, ONE, THREAD, NUMBER, BLOCK, HINT };

static const Builtin builtins[] = {
#define BUILTIN(name, scope, operands, lower, parameter, doc) {name, scope, operands, bi_##lower, parameter, doc},
#include "front/tilec/tilec_builtins.def"
#undef BUILTIN
};
enum { BUILTIN_COUNT = sizeof builtins / sizeof *builtins };

static char letter_of(const Expr *e) {
    if (e->kind == X_SCALAR) return 'x';
    if (e->kind == X_COORD) return 'c';
    if (e->kind != X_PLACE && e->kind != X_POINTER) return '?';
    switch (e->lvalue.type->kind) {
    case TC_TILE:
        if (e->lvalue.type->rank == 1) return e->lvalue.type->level == TC_SHARED ? 'u' : 'v';
        return e->lvalue.type->level == TC_SHARED ? 's' : 'r';
    case TC_SCALAR: return e->kind == X_POINTER ? 'n' : '?';
    case TC_GLOBAL: return 'g';
    case TC_SEMAPHORE: return 'm';
    case TC_STRUCT:
        if (e->lvalue.type->is_complex) return e->lvalue.type->fields[0].type->kind == TC_GLOBAL ? 'G' : 'C';
        return 'b';
    case TC_ARRAY: return 'b';
    default: return '?';
    }
}

static bool letter_fits(char want, char is) {
    bool tile = is == 's' || is == 'r', vector = is == 'u' || is == 'v';
    if (want == 't') return tile;
    if (want == 'w') return vector;
    if (want == 'a') return tile || vector;
    return want == is || (want == 'b' && (is == 's' || is == 'u' || is == 'C'));
}

static bool operands_fit(const Builtin *row, const Call *call) {
    int at = 0;
    for (const char *s = row->operands; *s; s++) {
        char mark = s[1] == '?' || s[1] == '*' ? s[1] : 0;
        int taken = 0;
        while (at < call->count && letter_fits(*s, letter_of(&call->args[at]))) {
            at++;
            taken++;
            if (mark != '*') break;
        }
        if (!taken && mark != '?') return false;
        if (mark) s++;
    }
    return at == call->count;
}

/* "warpgroup_load" -> four warps and "load"; "group8_load" -> eight */
static const char *strip_scope(const char *name, TcScope *scope, int *warps) {
    static const struct {
        const char *prefix;
        TcScope scope;
        int warps;
    } prefixes[] = {{"warpgroup_", SCOPE_GROUP, 4}, {"warp_", SCOPE_WARP, 1}, {"block_", SCOPE_BLOCK, 0}};
    *scope = SCOPE_ANY;
    *warps = 1;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i].prefix);
        if (strncmp(name, prefixes[i].prefix, length) != 0) continue;
        *scope = prefixes[i].scope;
        *warps = prefixes[i].warps;
        return name + length;
    }
    if (strncmp(name, "group", 5) != 0 || name[5] < '1' || name[5] > '9') return name;
    int number = 0;
    const char *at = name + 5;
    for (; *at >= '0' && *at <= '9' && number <= 32; at++) number = number * 10 + (*at - '0');
    if (*at != '_' || number > 32) return name;
    *scope = number == 1 ? SCOPE_WARP : SCOPE_GROUP;
    *warps = number;
    return at + 1;
}

static bool scope_fits(int row, TcScope scope) {
    switch (row) {
    case TILE:
    case ROWS:
    case COLS: return true;
    case NUMBER: return scope != SCOPE_BLOCK;
    case GROUP: return scope == SCOPE_GROUP;
    case BLOCK:
    case HINT: return true;
    default: return scope == SCOPE_ANY || scope == SCOPE_WARP;
    }
}

bool tc_is_builtin(const char *name) {
    TcScope scope;
    int warps;
    const char *base = strip_scope(name, &scope, &warps);
    for (int i = 0; i < BUILTIN_COUNT; i++)
        if (text_same(builtins[i].name, base) && scope_fits(builtins[i].scope, scope)) return true;
    return false;
}

const Builtin *tc_number_builtin(const char *name, int count) {
    TcScope scope;
    int warps;
    const char *base = strip_scope(name, &scope, &warps);
    for (int i = 0; i < BUILTIN_COUNT; i++)
        if (text_same(builtins[i].name, base) && (builtins[i].scope == THREAD || builtins[i].scope == NUMBER) &&
            strspn(builtins[i].operands, "x") == (size_t)count && strlen(builtins[i].operands) == (size_t)count)
            return &builtins[i];
    return NULL;
}

/* One warp of every worker's warpgroup (or one thread of it) is active, and no other. */
static bool one_a_worker(const Tc *tc) {
    int warps = 0, last_group = -1;
    for (int w = 0; w < tc->threads / 32; w++) {
        int on = 0;
        for (int t = 0; t < 32; t++) on += tc->active[w * 32 + t];
        if (!on) continue;
        if (on != 1 && on != 32) return false;
        if (w / 4 == last_group) return false;
        last_group = w / 4;
        warps++;
    }
    return warps == tc->worker_count;
}

static bool is_shared(const Expr *e) {
    char letter = letter_of(e);
    bool complex = letter == 'C' && e->lvalue.type->fields[0].type->level == TC_SHARED;
    return complex || letter == 's' || letter == 'u';
}

/* An operation of all workers together, `group8_load` of eight consumer warps: no registers take part and nothing is
 * read that it writes, so each worker may do the whole of it. */
static bool each_alike(const Call *call) {
    for (int i = 0; i < call->count; i++) {
        char letter = letter_of(&call->args[i]);
        bool place = is_shared(&call->args[i]) || letter == 'g' || letter == 'G';
        if (!place && letter != 'c' && letter != 'x') return false;
        if (i && place && call->args[i].lvalue.place == call->args[0].lvalue.place) return false;
    }
    return call->row->lower != bi_store_combine;
}

/* A vector in registers of which every warp has the whole (row_vec). */
static bool every_warp_has(const Expr *e) { return letter_of(e) == 'v' && e->lvalue.type->repeated; }

/* Each warp makes the same whole vector of what all of them see. */
static bool same_in_all(const Call *call) {
    for (int i = 0; i < call->count; i++)
        if (!every_warp_has(&call->args[i]) && (!i || !strchr("gcxu", letter_of(&call->args[i])))) return false;
    return call->count;
}

/* Is it an operation of all the warps that share a register tile here? */
static bool reaches_unit(const Tc *tc, const Call *call) {
    int warps = call->scope == SCOPE_BLOCK ? tc->threads / 32 : call->warps;
    if (warps == tc->unit) return true;
    if (tc->worker_count > 1 && warps == tc->unit * tc->worker_count) return each_alike(call);
    bool number = call->row->lower == bi_load_number || call->row->lower == bi_store_number;
    if (number && call->scope != SCOPE_GROUP) return true; /* of every thread */
    if (call->scope != SCOPE_WARP) return false;
    if (same_in_all(call)) return true;
    for (int i = 0; i < call->count; i++)
        if (is_shared(&call->args[i])) return false;
    bool columns = call->row->scope == COLS && every_warp_has(&call->args[call->count - 1]);
    return call->row->scope == ROWS || columns;
}

static bool scope_holds(Tc *tc, Call *call) {
    int kind = call->row->scope;
    if (kind == ONE) {
        if (one_a_worker(tc)) return true;
        TC_ERROR(tc, TC_ONE_THREAD, call->range, call->name);
        return false;
    }
    if (kind == THREAD || kind == NUMBER || kind == HINT) return true;
    if (kind != BLOCK && !reaches_unit(tc, call) && !tc_steps_by_warp(tc, call)) {
        bool group = tc->unit > 1;
        const char *prefix = tc->unit == 4 ? "warpgroup_" : arena_printf(tc->arena, "group%d_", tc->unit);
        TC_ERROR(tc, TC_SCOPE, call->range, call->name,
                 call->scope == SCOPE_GROUP ? arena_printf(tc->arena, "%d threads", call->warps * 32) : "one warp",
                 group ? arena_printf(tc->arena, "write %s before it: here %d warps work together", prefix, tc->unit)
                       : arena_printf(tc->arena, "launch %d threads, or leave its prefix out", call->warps * 32));
        return false;
    }
    for (int t = 0; t < tc->threads; t++)
        if (tc->active[t] != tc->role[t]) {
            TC_ERROR(tc, TC_DIVERGED, call->range, call->name);
            return false;
        }
    return true;
}

static const char *operand_words(Tc *tc, const char *operands) {
    static const struct {
        char letter;
        const char *word;
    } words[] = {{'g', "global"},        {'s', "shared tile"},     {'r', "register tile"}, {'t', "tile"},
                 {'u', "shared vector"}, {'v', "register vector"}, {'w', "vector"},        {'a', "tile or vector"},
                 {'x', "number"},        {'n', "&number"},         {'c', "at(..)"},        {'m', "semaphore"},
                 {'b', "tiles"},         {'C', "complex tile"},    {'G', "complex global"}};
    Text text = text_new(tc->arena);
    for (const char *s = operands; *s; s++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (words[i].letter == *s)
                text_add(&text, "%s%s%s", text.length ? ", " : "", words[i].word,
                         s[1] == '?'   ? " (optional)"
                         : s[1] == '*' ? "..."
                                       : "");
    return text.length ? text.at : "nothing";
}

static Expr no_such_form(Tc *tc, const Call *call, const char *base) {
    Expr error = TC_FAIL(tc, TC_OPERANDS, call->range, call->name);
    for (int i = 0; i < BUILTIN_COUNT; i++)
        if (text_same(builtins[i].name, base))
            diag_emit(tc->diag, DIAG_NOTE_HERE, (Range){0, 0},
                      arena_printf(tc->arena, "%s(%s): %s", call->name, operand_words(tc, builtins[i].operands),
                                   builtins[i].doc));
    return error;
}

static Expr unknown_operation(Tc *tc, const CNode *node, const char *name) {
    VEC(const char *) names = {0};
    static const char *const prefixes[] = {"", "warpgroup_", "warp_"};
    TcScope scope;
    int warps;
    const char *base = strip_scope(name, &scope, &warps);
    if (tc_is_builtin(base)) /* none of a single thread is one of a group */
        return TC_FAIL(tc, TC_UNKNOWN_OP, node->range, name, arena_printf(tc->arena, FIX "write `%s` alone", base));
    *VEC_PUSH(&names, tc->arena) = "shared_alloc";
    *VEC_PUSH(&names, tc->arena) = "tile_view";
    *VEC_PUSH(&names, tc->arena) = "subtile";
    for (int i = 0; i < BUILTIN_COUNT; i++)
        for (int p = 0; p < 3; p++)
            if (tc_is_builtin(arena_printf(tc->arena, "%s%s", prefixes[p], builtins[i].name)))
                *VEC_PUSH(&names, tc->arena) = arena_printf(tc->arena, "%s%s", prefixes[p], builtins[i].name);
    for (size_t i = 0; i < tc->names.count; i++) {
        const Symbol *symbol = tc->names.entries[i].value;
        if (symbol && symbol->kind == SYMBOL_FUNCTION) *VEC_PUSH(&names, tc->arena) = symbol->name;
    }
    return TC_FAIL(tc, TC_UNKNOWN_OP, node->range, name, tc_near(tc, name, names.at, names.count));
}

Expr tc_dispatch(Tc *tc, const Call *written) {
    Call call = *written;
    const char *base = strip_scope(call.name, &call.scope, &call.warps);
    call.row = NULL;
    for (int i = 0; i < BUILTIN_COUNT && !call.row; i++)
        if (text_same(builtins[i].name, base) && scope_fits(builtins[i].scope, call.scope) &&
            operands_fit(&builtins[i], &call))
            call.row = &builtins[i];
    if (!call.row) return no_such_form(tc, &call, base);
    Range outer = tc->b.range;
    TcTouch touch = tc->touch;
    bool by_all = tc->by_all;
    tc->b.range = call.range;
    tc->touch = tc_touch_of(tc, &call);
    tc->by_all = by_all || (tc->worker_count > 1 && call.warps == tc->unit * tc->worker_count);
    tc->call_count++;
    Expr result = scope_holds(tc, &call) ? call.row->lower(tc, &call) : (Expr){.kind = X_ERROR, .range = call.range};
    tc->b.range = outer;
    tc->touch = touch;
    tc->by_all = by_all;
    return result;
}

Expr tc_call_builtin(Tc *tc, const CNode *node) {
    Call call = {.name = node->kids[0]->name, .range = node->range, .count = (int)node->count - 1};
    const char *base = strip_scope(call.name, &call.scope, &call.warps);
    if (!tc_is_builtin(call.name)) return unknown_operation(tc, node->kids[0], call.name);
    if (call.count > MAX_ARGUMENTS) return no_such_form(tc, &call, base);
    for (int i = 0; i < call.count; i++) {
        Expr e = tc_expr(tc, node->kids[i + 1]);
        bool pointer = e.kind == X_PLACE && e.lvalue.type->kind == TC_POINTER;
        e = tc_read(tc, e);
        if (pointer && e.kind == X_POINTER && e.lvalue.type->kind == TC_ARRAY) e = tc_first_element(tc, e);
        call.args[i] = tc_as_coord(tc, e);
        if (call.args[i].kind == X_ERROR) return call.args[i];
    }
    return tc_dispatch(tc, &call);
}
