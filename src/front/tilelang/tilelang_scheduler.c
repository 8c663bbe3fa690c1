/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_scheduler.c: T.PersistentTileScheduler, which deals the tiles of a matrix out to the blocks of the grid.
 *
 *     s = T.PersistentTileScheduler(m_tiles, n_tiles, swizzle_size=8)
 *     s.init(block)
 *     while s.valid():
 *         .. s.m_idx, s.n_idx, s.current_iter
 *         s.next_tile()
 *
 * Tiles have numbers: the first extent runs fastest (column_major), in strips of swizzle_size of the other one. A
 * worker takes its own number, and every num_workers-th after it. */
#include "front/tilelang/tilelang.h"

#include <string.h>

enum { M_INDEX, N_INDEX, CURSOR, TURN, STATES };
static const char *const states[STATES] = {"m_idx", "n_idx", "linear_idx", "current_iter"};

typedef struct Scheduler {
    Val fast, slow, total, workers, strip; /* extents; numbers */
    bool columns;                          /* the first extent is the fast one */
    bool stateful;
    Storage state[STATES];
} Scheduler;

static Val join(Lower *l, PyOp op, Val x, Val y, Range range) {
    return val_failed(x) || val_failed(y) ? val_error : lang_binary(l, op, x, y, range);
}

static Val ceildiv(Lower *l, Val x, Val by, Range range) {
    Val sum = join(l, PY_OP_ADD, x, join(l, PY_OP_SUB, by, val_int(1), range), range);
    return join(l, PY_OP_FLOORDIV, sum, by, range);
}

Val lang_lower_scheduler(Lower *l, const Call *c) {
    Scheduler s = {0};
    Val tiles[2] = {lang_plain(c->args[0]), lang_plain(c->args[1])}, cluster = lang_plain(c->args[5]);
    if (!lang_in_kernel(l, c) || !lang_flag(l, c, 4, true, &s.columns) || !lang_flag(l, c, 6, true, &s.stateful))
        return val_error;
    s.strip = lang_plain(c->args[3]);
    if (s.strip.kind != VAL_INT || s.strip.i < 1 || cluster.kind != VAL_INT || cluster.i < 1)
        return py_error(l, DIAG_TL_ARGUMENTS, c->range, "swizzle_size and cluster_size are known integers from 1 on");
    tiles[0] = ceildiv(l, tiles[0], cluster, c->range);
    s.fast = tiles[!s.columns], s.slow = tiles[s.columns];
    s.total = join(l, PY_OP_MUL, s.fast, s.slow, c->range);
    s.workers = lang_plain(c->args[2]);
    if (s.workers.kind == VAL_NONE) s.workers = val_int(LANG_PROCESSORS / cluster.i ? LANG_PROCESSORS / cluster.i : 1);
    if (val_failed(s.total)) return val_error;
    for (int i = 0; s.stateful && i < STATES; i++) {
        Val dtype = val_dtype(ty_scalar(l->module, EL_I32));
        Val v = lang_lower_alloc_var(l, &(Call){.builtin = py_builtin(l, "alloc_var", 'T'), .range = c->range,
                                                .args = (Val[]){dtype, val_none, val_none},
                                                .ranges = (Range[]){c->range, c->range, c->range}});
        if (val_failed(v)) return v;
        s.state[i] = *(const Storage *)v.thing;
    }
    return lang_own(l, &lang_scheduler_own, &s, sizeof s);
}

/* The tile of that number, as (m, n). */
static Val coordinates(Lower *l, const Scheduler *s, Val number, Range range) {
    Val fast = join(l, PY_OP_MOD, number, s->fast, range), slow = join(l, PY_OP_FLOORDIV, number, s->fast, range);
    if (s->strip.i > 1) {
        Val all = join(l, PY_OP_MUL, s->fast, s->strip, range);
        Val first = join(l, PY_OP_MUL, join(l, PY_OP_FLOORDIV, number, all, range), s->strip, range);
        Val within = join(l, PY_OP_MOD, number, all, range), rest = join(l, PY_OP_SUB, s->slow, first, range);
        if (val_failed(rest)) return rest;
        Val least = {.kind = VAL_BUILTIN, .builtin = py_builtin(l, "min", 'T')};
        Val width = py_apply(l, least, (Val[]){s->strip, rest}, 2, range); /* the last strip may be narrower */
        slow = join(l, PY_OP_ADD, first, join(l, PY_OP_MOD, within, width, range), range);
        fast = join(l, PY_OP_FLOORDIV, within, width, range);
    }
    if (val_failed(fast) || val_failed(slow)) return val_error;
    return val_tuple(l, s->columns ? (Val[]){fast, slow} : (Val[]){slow, fast}, 2);
}

static bool keep(Lower *l, const Scheduler *s, int state, Val value, Range range) {
    return !val_failed(value) && lang_variable_store(l, &s->state[state], value, range);
}

/* Goes to the tile of that number in that turn. */
static Val go(Lower *l, const Scheduler *s, Val number, Val turn, Range range) {
    if (!keep(l, s, CURSOR, number, range) || !keep(l, s, TURN, turn, range)) return val_error;
    Val at = coordinates(l, s, lang_variable_load(l, &s->state[CURSOR], range), range);
    if (val_failed(at)) return at;
    bool good = keep(l, s, M_INDEX, at.items[0], range) && keep(l, s, N_INDEX, at.items[1], range);
    return good ? val_none : val_error;
}

static Val without_state(Lower *l, const char *name, Range range) {
    return py_error(l, DIAG_TL_UNSUPPORTED, range,
                    arena_printf(l->arena, "`%s` of a T.PersistentTileScheduler with stateful=False", name),
                    "take coord(number), or leave stateful out");
}

Val lang_scheduler_attribute(Lower *l, const void *thing, const char *attr, Range range) {
    const Scheduler *s = thing;
    for (int i = 0; i < STATES; i++)
        if (strcmp(attr, states[i]) == 0)
            return s->stateful ? lang_variable_load(l, &s->state[i], range) : without_state(l, attr, range);
    return py_error(l, DIAG_TL_UNSUPPORTED, range,
                    arena_printf(l->arena, "the attribute `%s` of a T.PersistentTileScheduler", attr),
                    "there are m_idx, n_idx, linear_idx and current_iter, init, next_tile, valid and coord");
}

Val lang_scheduler_method(Lower *l, const void *thing, const char *name, const PyNode *call) {
    const Scheduler *s = thing;
    Range range = call->range;
    uint32_t count = call->Call.args->count;
    bool begins = strcmp(name, "init") == 0, steps = strcmp(name, "next_tile") == 0;
    bool asks = strcmp(name, "valid") == 0, looks = strcmp(name, "coord") == 0;
    if (!begins && !steps && !asks && !looks) return lang_scheduler_attribute(l, thing, name, range);
    if (call->Call.keywords->count || (steps ? count > 1 : count != (begins || looks)))
        return py_error(l, DIAG_TL_ARGUMENTS, range, "it is init(number), next_tile(), valid() and coord(number)");
    if (!looks && !s->stateful) return without_state(l, name, range);
    Val given = count ? lang_plain(py_eval(l, call->Call.args->at[0])) : s->workers;
    if (val_failed(given)) return given;
    l->b.range = range;
    if (looks) return coordinates(l, s, given, range);
    if (begins) return go(l, s, given, val_int(0), range);
    Val now = lang_variable_load(l, &s->state[CURSOR], range);
    if (asks) return val_failed(now) ? now : lang_compare(l, PY_OP_LT, now, s->total, range);
    Val turn = join(l, PY_OP_ADD, lang_variable_load(l, &s->state[TURN], range), val_int(1), range);
    return go(l, s, join(l, PY_OP_ADD, now, given, range), turn, range);
}
