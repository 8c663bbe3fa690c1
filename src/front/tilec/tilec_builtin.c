/* tilec_builtin.c: the operations of tilec_builtins.def: finding the row by name, scope and operand
 * types, and lowering moves, maps and products. Synchronisation is in tilec_sync.c.
 *
 *     warpgroup_load(&acc, g.C, at(r, c))   ->   row "load" "rgc", scope warpgroup
 *
 * A tile is its buffer: an operation reads whole tiles (bload), computes, writes a whole tile
 * (bstore). Tiles in a ring's record are read by `get` and written by `put`, through the indices
 * and views that name them. */
#include "front/tilec/tilec.h"

#include <math.h>
#include <string.h>

enum { TILE, GROUP, ONE, THREAD, NUMBER, BLOCK };

static Expr nothing_given(const Call *call) { return (Expr){.kind = X_VOID, .range = call->range}; }

/* ---- tiles as values ---- */

static int64_t tile_rows(const Tc *tc, const TcType *type) {
    return type->rows * (tc->group_unit && type->level == TC_REGISTER ? 4 : 1);
}

static const Type *value_type(Tc *tc, const TcType *type) {
    int64_t extent[2] = {tile_rows(tc, type), type->cols};
    return ty_tile(tc->module, type->elem, 2, extent);
}

static const Type *field_type(const Tc *tc, const Lvalue *tile) {
    return ir_type(tc->kernel, tile->place->block->ring)->fields[tile->place->field].type;
}

static bool field_indices(Tc *tc, const Lvalue *tile, int rank, Ref *out, Range range) {
    for (int i = 0; i < rank; i++) {
        out[i] = i < tile->index_count ? tc_uniform(tc, tile->index[i], range) : ir_int(&tc->b, EL_I32, 0);
        if (!out[i]) return false;
    }
    return true;
}

/* A view of n tiles side by side ([n, r, c] as [r, n c]) needs the tile number behind the row. */
static bool is_side_by_side(const Lvalue *tile, const Type *field) {
    return tile->is_view && field->extent[field->rank - 2] == tile->type->rows;
}

static Ref read_field(Tc *tc, const Lvalue *tile, Range range) {
    const Type *field = field_type(tc, tile);
    int rank = field->rank, fixed = tile->index_count;
    Ref at[MAX_RANK];
    if (!field_indices(tc, tile, rank, at, range)) return REF_NONE;
    Op *get = ir_begin(&tc->b, OP_GET);
    ir_operand(&tc->b, get, tile->place->block->slot);
    op_set(tc->kernel, get, (Attr){.id = AT_FIELD_NUMBER, .number = tile->place->field});
    Ref value = ir_end(&tc->b, get, NULL);
    int64_t extent[MAX_RANK];
    for (int d = 0; d < rank; d++) extent[d] = d < fixed ? 1 : field->extent[d];
    if (fixed) {
        value = ir_slice(&tc->b, value, at, ty_with_shape(tc->module, field, rank, extent));
        value = ir_reshape(&tc->b, value, ty_with_shape(tc->module, field, rank - fixed, extent + fixed));
    }
    if (is_side_by_side(tile, field)) value = ir_permute(&tc->b, value, (int64_t[]){1, 0, 2}, 3);
    return ir_reshape(&tc->b, value, value_type(tc, tile->type));
}

static void write_field(Tc *tc, const Lvalue *tile, Ref value, Range range) {
    const Type *field = field_type(tc, tile);
    int rank = field->rank, fixed = tile->index_count;
    Ref at[MAX_RANK];
    if (!field_indices(tc, tile, rank, at, range)) return;
    int64_t extent[MAX_RANK];
    memcpy(extent, field->extent, sizeof extent);
    if (is_side_by_side(tile, field)) {
        int64_t split[3] = {extent[rank - 2], extent[rank - 3], extent[rank - 1]};
        value = ir_reshape(&tc->b, value, ty_with_shape(tc->module, field, 3, split));
        value = ir_permute(&tc->b, value, (int64_t[]){1, 0, 2}, 3);
    }
    value = ir_reshape(&tc->b, value, ty_with_shape(tc->module, field, rank - fixed, extent + fixed));
    Op *put = ir_begin(&tc->b, OP_PUT);
    ir_operand(&tc->b, put, tile->place->block->slot);
    ir_operand_list(&tc->b, put, 0, at, fixed ? rank : 0);
    ir_operand(&tc->b, put, value);
    op_set(tc->kernel, put, (Attr){.id = AT_FIELD_NUMBER, .number = tile->place->field});
    ir_end(&tc->b, put, NULL);
}

static bool is_plain(Tc *tc, const Lvalue *tile, Range range) {
    if (!tile->is_view && tile->place->buffer) return true;
    TC_ERROR(tc, TC_UNSUPPORTED, range, "views of tiles outside a template's blocks", "use one larger tile");
    return false;
}

Ref tc_read_tile(Tc *tc, const Lvalue *tile, Range range) {
    tc_check_read(tc, tile, range);
    if (tc->failed) return REF_NONE;
    if (tile->place->block) return read_field(tc, tile, range);
    if (!is_plain(tc, tile, range)) return REF_NONE;
    if (!tile->place->written) {
        TC_ERROR(tc, TC_UNWRITTEN, range, tile->place->name);
        return REF_NONE;
    }
    Ref zero = ir_int(&tc->b, EL_I32, 0);
    return ir_bload(&tc->b, tile->place->buffer, (Ref[]){zero, zero}, value_type(tc, tile->type));
}

void tc_write_tile(Tc *tc, const Lvalue *tile, Ref value, Range range) {
    if (value == REF_NONE) return;
    tc_check_write(tc, tile, range);
    if (tc->failed) return;
    value = ir_cast(&tc->b, value, tile->type->elem);
    if (tile->place->block) {
        write_field(tc, tile, value, range);
        return;
    }
    if (!is_plain(tc, tile, range)) return;
    Ref zero = ir_int(&tc->b, EL_I32, 0);
    ir_bstore(&tc->b, tile->place->buffer, (Ref[]){zero, zero}, value);
    tile->place->written = true;
}

/* ---- coordinates ---- */

bool tc_offsets(Tc *tc, const Object *global, const Expr *coords, int64_t rows, int64_t cols, Ref *out) {
    static const char *const names[] = {"batch", "depth", "row", "column"};
    for (int d = 0; d < 4; d++) {
        int i = d - (4 - coords->coord_count);
        int64_t unit = d == 2 ? rows : d == 3 ? cols : 1, extent = global->type->dims[d], constant;
        Scalar at = i >= 0 ? coords->coords[i] : tc_int(tc, 0);
        bool known = tc_is_constant(tc, at, &constant);
        int64_t most = elem_info[at.type->elem].bits > 32 ? INT64_MAX : INT32_MAX; /* in elements */
        if (extent > 0) most = extent - 1;
        if (known && (constant < 0 || constant > most / unit)) {
            TC_ERROR(tc, TC_COORDINATE_RANGE, coords->range, names[d], (long long)constant, (long long)unit,
                     (long long)(extent > 0 ? extent : most));
            return false;
        }
        if (d < global->first_dim) {
            if (known) continue;
            TC_ERROR(tc, TC_COORDINATE_ONE, coords->range, names[d]);
            return false;
        }
        if (unit != 1) at = tc_binary(tc, CT_STAR, at, tc_int(tc, unit), coords->range);
        Ref offset = tc_uniform(tc, at, coords->range);
        if (!offset) return false;
        out[d - global->first_dim] = offset;
    }
    return true;
}

/* ---- moves ---- */

static Expr bi_load_global(Tc *tc, const Call *call) {
    const Lvalue *tile = &call->args[0].lvalue, *global = &call->args[1].lvalue;
    Ref at[4];
    int64_t rows = tile_rows(tc, tile->type);
    if (!tc_offsets(tc, global->place, &call->args[2], rows, tile->type->cols, at)) return nothing_given(call);
    const Type *box = ty_with_elem(tc->module, value_type(tc, tile->type), global->type->elem);
    tc_write_tile(tc, tile, ir_tload(&tc->b, global->place->tensor, at, REF_NONE, box), call->range);
    return nothing_given(call);
}

static Expr bi_store_global(Tc *tc, const Call *call) {
    const Lvalue *global = &call->args[0].lvalue, *tile = &call->args[1].lvalue;
    Ref at[4], value = tc_read_tile(tc, tile, call->range);
    if (!value || !tc_offsets(tc, global->place, &call->args[2], tile_rows(tc, tile->type), tile->type->cols, at))
        return nothing_given(call);
    ir_tstore(&tc->b, global->place->tensor, at, ir_cast(&tc->b, value, global->type->elem), REF_NONE);
    return nothing_given(call);
}

/* Equal shapes, a register tile of a warpgroup counted with all its rows. */
static bool same_shape(Tc *tc, const Call *call, const TcType *a, const TcType *b) {
    if (tile_rows(tc, a) == tile_rows(tc, b) && a->cols == b->cols) return true;
    TC_ERROR(tc, TC_SHAPES, call->range, call->name, (long long)tile_rows(tc, a), (long long)a->cols,
             (long long)tile_rows(tc, b), (long long)b->cols);
    return false;
}

static Expr bi_copy(Tc *tc, const Call *call) {
    const Lvalue *to = &call->args[0].lvalue, *from = &call->args[1].lvalue;
    if (same_shape(tc, call, to->type, from->type))
        tc_write_tile(tc, to, tc_read_tile(tc, from, call->range), call->range);
    return nothing_given(call);
}

/* ---- fill and maps ---- */

static Ref number_of(Tc *tc, Elem elem, double value) {
    return elem_is_float(elem) ? ir_float(&tc->b, elem, value) : ir_int(&tc->b, elem, (int64_t)value);
}

static Expr bi_fill(Tc *tc, const Call *call) {
    const Lvalue *tile = &call->args[0].lvalue;
    double values[] = {0, 1, INFINITY, -INFINITY}, value = values[call->row->parameter];
    Elem elem = tile->type->elem;
    if (isinf(value) && !isinf(elem_is_float(elem) ? elem_round(elem, value) : 0))
        return TC_FAIL(tc, TC_FLOATS_ONLY, call->range, call->name, elem_info[elem].text,
                       "a type that has infinities, as float and bf16");
    Ref number = number_of(tc, elem, value);
    tc_write_tile(tc, tile, ir_splat(&tc->b, number, value_type(tc, tile->type)), call->range);
    return nothing_given(call);
}

/* The element type in which the operation is done: the destination's, as ThunderKittens does it. */
static Ref operand(Tc *tc, const Call *call, int i) {
    const Expr *e = &call->args[i];
    Elem elem = call->args[0].lvalue.type->elem;
    if (e->kind == X_SCALAR) {
        Scalar number = tc_convert(tc, e->scalar, tc_scalar_type(elem), e->range);
        return tc_uniform(tc, number, e->range);
    }
    if (!same_shape(tc, call, call->args[0].lvalue.type, e->lvalue.type)) return REF_NONE;
    Ref value = tc_read_tile(tc, &e->lvalue, call->range);
    return value ? ir_cast(&tc->b, value, elem) : REF_NONE;
}

static Expr bi_unary(Tc *tc, const Call *call) {
    Elem elem = call->args[0].lvalue.type->elem;
    Opcode code = (Opcode)call->row->parameter;
    if (!elem_is_float(elem) && code != OP_ABS && code != OP_NEG)
        return TC_FAIL(tc, TC_FLOATS_ONLY, call->range, call->name, elem_info[elem].text, "float, bf16 or half");
    Ref x = operand(tc, call, 1);
    if (x) tc_write_tile(tc, &call->args[0].lvalue, ir_unary(&tc->b, code, x), call->range);
    return nothing_given(call);
}

static Expr bi_binary(Tc *tc, const Call *call) {
    Ref x = operand(tc, call, 1), y = x ? operand(tc, call, 2) : REF_NONE;
    if (y) tc_write_tile(tc, &call->args[0].lvalue, ir_binary(&tc->b, (Opcode)call->row->parameter, x, y), call->range);
    return nothing_given(call);
}

static Expr bi_relu(Tc *tc, const Call *call) {
    Ref x = operand(tc, call, 1);
    if (!x) return nothing_given(call);
    Ref zero = number_of(tc, call->args[0].lvalue.type->elem, 0);
    tc_write_tile(tc, &call->args[0].lvalue, ir_binary(&tc->b, OP_MAX, x, zero), call->range);
    return nothing_given(call);
}

/* ---- products ---- */

static bool check_mma(Tc *tc, const Call *call, bool ta, bool tb) {
    const TcType *d = call->args[0].lvalue.type, *a = call->args[1].lvalue.type, *b = call->args[2].lvalue.type;
    bool group = call->scope == SCOPE_WARPGROUP;
    if (group && b->level != TC_SHARED) {
        TC_ERROR(tc, TC_MMA_LEVEL, call->args[2].range, call->name, "B must be a shared tile st_*");
        return false;
    }
    if (!group && (a->level != TC_REGISTER || b->level != TC_REGISTER)) {
        TC_ERROR(tc, TC_MMA_LEVEL, call->range, call->name, "at warp scope A and B must be register tiles rt_*");
        return false;
    }
    if (a->elem != b->elem || (a->elem != EL_BF16 && a->elem != EL_F16) || (d->elem != EL_F32 && d->elem != a->elem)) {
        TC_ERROR(tc, TC_MMA_TYPES, call->range, elem_info[d->elem].text, elem_info[a->elem].text,
                 elem_info[b->elem].text);
        return false;
    }
    int64_t am = tile_rows(tc, a), ak = a->cols, bk = tile_rows(tc, b), bn = b->cols;
    if (ta) {
        int64_t t = am;
        am = ak;
        ak = t;
    }
    if (tb) {
        int64_t t = bk;
        bk = bn;
        bn = t;
    }
    if (am == tile_rows(tc, d) && ak == bk && bn == d->cols) return true;
    TC_ERROR(tc, TC_MMA_SHAPES, call->range, (long long)am, (long long)ak, (long long)bk, (long long)bn,
             (long long)tile_rows(tc, d), (long long)d->cols);
    return false;
}

static Expr bi_mma(Tc *tc, const Call *call) {
    bool ta = call->row->parameter & 1, tb = call->row->parameter & 2, overwrite = call->row->parameter & 4;
    const Lvalue *d = &call->args[0].lvalue, *a = &call->args[1].lvalue, *b = &call->args[2].lvalue;
    const Lvalue *c = call->count > 3 ? &call->args[3].lvalue : d;
    if (!check_mma(tc, call, ta, tb)) return nothing_given(call);
    if (c != d && !same_shape(tc, call, d->type, c->type)) return nothing_given(call);
    Ref va = tc_read_tile(tc, a, call->range), vb = tc_read_tile(tc, b, call->range);
    if (!va || !vb) return nothing_given(call);
    const int64_t swap[] = {1, 0};
    if (ta) va = ir_permute(&tc->b, va, swap, 2);
    if (tb) vb = ir_permute(&tc->b, vb, swap, 2);
    const Type *type = value_type(tc, d->type);
    /* Products onto the same tile may follow each other without a wait: they are done in order. */
    int pending = c->place->pending;
    if (c == d) c->place->pending = 0;
    Ref vc = overwrite ? ir_splat(&tc->b, ir_float(&tc->b, d->type->elem, 0), type) : tc_read_tile(tc, c, call->range);
    if (vc) tc_write_tile(tc, d, ir_dot(&tc->b, va, vb, ir_cast(&tc->b, vc, d->type->elem)), call->range);
    c->place->pending = pending;
    tc_note_mma(tc, d, a, b, call->scope == SCOPE_WARPGROUP);
    return nothing_given(call);
}

/* ---- numbers ---- */

static Expr bi_thread_number(Tc *tc, const Call *call) {
    int64_t *lanes = ARENA_ARRAY(tc->arena, int64_t, tc->threads);
    bool group = call->scope == SCOPE_WARPGROUP;
    for (int t = 0; t < tc->threads; t++) {
        int lane = t % (group ? 128 : 32), warp = group ? t / 32 % 4 : t / 32, id = t / (group ? 128 : 32);
        lanes[t] = call->row->parameter == 0 ? lane : call->row->parameter == 1 ? warp : id;
    }
    Scalar zero = tc_int(tc, 0), number = zero;
    number.lanes = lanes;
    return (Expr){.kind = X_SCALAR, .range = call->range, .scalar = tc_binary(tc, CT_PLUS, number, zero, call->range)};
}

static Expr bi_scalar_binary(Tc *tc, const Call *call) {
    Opcode op = (Opcode)call->row->parameter;
    const TcType *type = tc_common_type(call->args[0].scalar, call->args[1].scalar);
    Scalar a = tc_convert(tc, call->args[0].scalar, type, call->range);
    Scalar b = tc_convert(tc, call->args[1].scalar, type, call->range);
    Expr result = {.kind = X_SCALAR, .range = call->range};
    if (op == OP_CDIV && elem_is_float(type->elem)) return TC_FAIL(tc, TC_INTEGERS_ONLY, call->range, "cdiv");
    int64_t x, y;
    bool known = tc_is_constant(tc, a, &x) && tc_is_constant(tc, b, &y) && elem_is_signed(type->elem);
    if (known && (op != OP_CDIV || (x >= 0 && y > 0))) {
        int64_t value = op == OP_MIN ? (x < y ? x : y) : op == OP_MAX ? (x > y ? x : y) : x / y + (x % y != 0);
        result.scalar = tc_convert(tc, tc_int(tc, value), type, call->range);
        return result;
    }
    if (a.lanes || b.lanes)
        return TC_FAIL(tc, TC_THREAD_MIXED, call->range, "min, max and cdiv take no thread numbers");
    result.scalar = tc_scalar(type, ir_binary(&tc->b, op, a.ref, b.ref), NULL);
    return result;
}

static Expr bi_nothing(Tc *tc, const Call *call) {
    (void)tc;
    return nothing_given(call);
}

/* ---- the table ---- */

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
    case TC_TILE: return e->lvalue.type->level == TC_SHARED ? 's' : 'r';
    case TC_GLOBAL: return 'g';
    case TC_SEMAPHORE: return 'm';
    case TC_ARRAY:
    case TC_STRUCT: return 'b';
    default: return '?';
    }
}

static bool letter_fits(char want, char is) {
    return want == is || (want == 't' && (is == 's' || is == 'r')) || (want == 'b' && is == 's');
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

/* "warpgroup_load" -> scope and "load" */
static const char *strip_scope(const char *name, TcScope *scope) {
    static const struct {
        const char *prefix;
        TcScope scope;
    } prefixes[] = {{"warpgroup_", SCOPE_WARPGROUP}, {"warp_", SCOPE_WARP}, {"block_", SCOPE_BLOCK}};
    *scope = SCOPE_ANY;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i].prefix);
        if (strncmp(name, prefixes[i].prefix, length) != 0) continue;
        *scope = prefixes[i].scope;
        return name + length;
    }
    return name;
}

static bool scope_fits(int row, TcScope scope) {
    switch (row) {
    case TILE:
    case NUMBER: return scope != SCOPE_BLOCK;
    case GROUP: return scope == SCOPE_WARPGROUP;
    case BLOCK: return scope != SCOPE_ANY;
    default: return scope == SCOPE_ANY || scope == SCOPE_WARP;
    }
}

bool tc_is_builtin(const char *name) {
    TcScope scope;
    const char *base = strip_scope(name, &scope);
    for (int i = 0; i < BUILTIN_COUNT; i++)
        if (!strcmp(builtins[i].name, base) && scope_fits(builtins[i].scope, scope)) return true;
    return false;
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

static bool scope_holds(Tc *tc, const Call *call) {
    int kind = call->row->scope;
    if (kind == ONE) {
        if (one_a_worker(tc)) return true;
        TC_ERROR(tc, TC_ONE_THREAD, call->range, call->name);
        return false;
    }
    if (kind != TILE && kind != GROUP && kind != BLOCK) return true;
    bool needs_group = call->scope == SCOPE_WARPGROUP;
    if (kind != BLOCK && needs_group != tc->group_unit) {
        TC_ERROR(tc, TC_SCOPE, call->range, call->name, needs_group ? "128 threads" : "one warp",
                 needs_group ? "launch 128 threads, or write it without warpgroup_"
                             : "write warpgroup_ before it: here four warps work together");
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
    } words[] = {{'g', "global"}, {'s', "shared tile"}, {'r', "register tile"}, {'t', "tile"},
                 {'x', "number"}, {'c', "at(..)"},      {'m', "semaphore"},     {'b', "tiles"}};
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
        if (!strcmp(builtins[i].name, base))
            diag_emit(tc->diag, DIAG_NOTE_HERE, (Range){0, 0},
                      arena_printf(tc->arena, "%s(%s): %s", call->name, operand_words(tc, builtins[i].operands),
                                   builtins[i].doc));
    return error;
}

static Expr unknown_operation(Tc *tc, const CNode *node, const char *name) {
    VEC(const char *) names = {0};
    static const char *const prefixes[] = {"", "warpgroup_", "warp_"};
    *VEC_PUSH(&names, tc->arena) = "shared_alloc";
    *VEC_PUSH(&names, tc->arena) = "tile_view";
    for (int i = 0; i < BUILTIN_COUNT; i++)
        for (int p = 0; p < 3; p++)
            *VEC_PUSH(&names, tc->arena) = arena_printf(tc->arena, "%s%s", prefixes[p], builtins[i].name);
    for (size_t i = 0; i < tc->names.count; i++) {
        const Symbol *symbol = tc->names.entries[i].value;
        if (symbol && symbol->kind == SYMBOL_FUNCTION) *VEC_PUSH(&names, tc->arena) = symbol->name;
    }
    return TC_FAIL(tc, TC_UNKNOWN_OP, node->range, name, tc_near(tc, name, names.at, names.count));
}

Expr tc_call_builtin(Tc *tc, const CNode *node) {
    Call call = {.name = node->kids[0]->name, .range = node->range, .count = (int)node->count - 1};
    const char *base = strip_scope(call.name, &call.scope);
    if (!tc_is_builtin(call.name)) return unknown_operation(tc, node->kids[0], call.name);
    if (call.count > MAX_ARGUMENTS) return no_such_form(tc, &call, base);
    for (int i = 0; i < call.count; i++) {
        call.args[i] = tc_read(tc, tc_expr(tc, node->kids[i + 1]));
        if (call.args[i].kind == X_ERROR) return call.args[i];
    }
    for (int i = 0; i < BUILTIN_COUNT && !call.row; i++)
        if (!strcmp(builtins[i].name, base) && scope_fits(builtins[i].scope, call.scope) &&
            operands_fit(&builtins[i], &call))
            call.row = &builtins[i];
    if (!call.row) return no_such_form(tc, &call, base);
    Range outer = tc->b.range;
    tc->b.range = node->range;
    Expr result = scope_holds(tc, &call) ? call.row->lower(tc, &call) : (Expr){.kind = X_ERROR, .range = node->range};
    tc->b.range = outer;
    return result;
}
