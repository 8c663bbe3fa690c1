/* SPDX-License-Identifier: Apache-2.0 */
/* tt_shards.c: tensors in the L1 of cores: what options and annotations ask for, and which tasks follow shards.
 *
 *     A=height                          rows of A in parts, one for each core of the plan's rectangle
 *     A=block grid=4x2                  rows and columns, over 4 columns and 2 rows of cores
 *     A layout=width memory=l1 order=column_major; C memory=l1        as annotations have it
 *
 * A parameter is interleaved over the banks of DRAM (interleaved, row_major: tile after tile along rows), over the L1
 * of all cores (l1), or cut into shards, which lie in L1. A core reads what lies in its own L1 from there. Tasks follow
 * the shards of a tensor if its boxes move with them: asked for by order=match_shard, or where nothing else is asked
 * for and no loads are shared. */
#include "target/tenstorrent/tt_emit.h"

#include <string.h>

static const char *const cuts[] = {[TW_HEIGHT] = "height", [TW_WIDTH] = "width", [TW_BLOCK] = "block"};

const char *tt_cut_name(const TwShards *s) { return cuts[s->cut]; }

/* --------------------------------------------------------------------------------------------- what is asked for */

typedef struct Wish { /* of a parameter */
    bool in_dram, in_l1, in_one_piece, ordered;
    TwShards shards;
} Wish;

typedef struct Words {
    Tt *tt;
    Wish *wishes;
    int arg; /* that the words are about; -1: none */
} Words;

static bool is_word(const char *at, size_t length, const char *word) {
    return strlen(word) == length && strncmp(at, word, length) == 0;
}

static int find_param(const Tt *tt, const char *name, size_t length) {
    for (int i = 0; i < tt->k->body->arg_count; i++) {
        const char *param = ir_value(tt->k, tt->k->body->args[i])->name;
        if (param && is_word(name, length, param)) return i;
    }
    return -1;
}

static const char *param_name(const Tt *tt, int arg) { return ir_value(tt->k, tt->k->body->args[arg])->name; }

/* "4x2", columns and rows of cores. */
static bool take_grid(Wish *wish, const char *at, size_t length) {
    uint32_t numbers[2] = {0, 0};
    int part = 0;
    for (size_t i = 0; i < length; i++) {
        if (at[i] == 'x' && part == 0 && i)
            part = 1;
        else if (at[i] >= '0' && at[i] <= '9' && numbers[part] < 1000)
            numbers[part] = numbers[part] * 10 + (uint32_t)(at[i] - '0');
        else
            return false;
    }
    wish->shards.size = (TwPoint){numbers[0], numbers[1]};
    return numbers[0] && numbers[1];
}

/* A word behind `=`: of which key, or of a parameter itself (then key_length is 0). */
static void take_value(Words *w, const char *key, size_t key_length, const char *at, size_t length) {
    Wish *wish = &w->wishes[w->arg];
    bool is_layout = !key_length || is_word(key, key_length, "layout");
    bool is_memory = !key_length || is_word(key, key_length, "memory"), known = false;
    if (is_word(key, key_length, "order") || is_word(key, key_length, "grid")) {
        known = is_word(key, key_length, "grid") ? take_grid(wish, at, length)
                                                 : is_word(at, length, "row_major") ||
                                                       (wish->shards.down = is_word(at, length, "column_major"));
        wish->ordered |= is_word(key, key_length, "grid") || wish->shards.down;
    } else {
        for (int cut = TW_HEIGHT; cut <= TW_BLOCK && is_layout; cut++) {
            if (!is_word(at, length, cuts[cut])) continue;
            if (wish->shards.cut != TW_WHOLE && (int)wish->shards.cut != cut) break;
            wish->shards.cut = (TwCut)cut;
            known = true;
        }
        if (is_memory && is_word(at, length, "dram")) known = wish->in_dram = true;
        if (is_memory && is_word(at, length, "l1")) known = wish->in_l1 = true;
        if (is_layout && (is_word(at, length, "interleaved") || is_word(at, length, "row_major")))
            known = wish->in_one_piece = true;
    }
    if (!known)
        tt_refuse(w->tt, NULL, "`%s` laid out with `%.*s%s%.*s`; tensors lie interleaved, tile after tile along rows, "
                               "in DRAM or in the cores' L1, or there in shards"
                               FIX "write interleaved, l1, or height, width or block, with grid=columns x rows "
                               "and order=row_major or column_major behind it",
                  param_name(w->tt, w->arg), (int)key_length, key, key_length ? "=" : "", (int)length, at);
}

static void take_words(Words *w, const char *text) {
    static const char *const keys[] = {"layout", "memory", "order", "grid"};
    for (const char *at = text; *at; at += strspn(at, " ;,")) {
        size_t n = strcspn(at, " ;,"), name = strcspn(at, "= ;,");
        bool is_key = false;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) is_key |= name < n && is_word(at, name, keys[i]);
        if (!is_key || w->arg < 0) w->arg = find_param(w->tt, at, name);
        if (w->arg < 0)
            tt_refuse(w->tt, NULL, "sharding of `%.*s`, which is no parameter of the kernel" FIX "name one that is",
                      (int)name, at);
        else if (name < n)
            take_value(w, at, is_key ? name : 0, at + name + 1, n - name - 1);
        at += n;
    }
}

/* One wish of a parameter against the other, and against the chip. */
static void settle_wish(Tt *tt, int arg, Wish *wish) {
    const TensixLimits *limits = tensix_limits(tt->plan->options.arch);
    const TtOptions *o = &tt->plan->options;
    TwShards *s = &wish->shards;
    const char *name = param_name(tt, arg);
    bool is_cut = s->cut != TW_WHOLE;
    if (wish->in_dram && (wish->in_l1 || is_cut))
        tt_refuse(tt, NULL, "`%s` both in DRAM and in L1" FIX "say one of them", name);
    else if (is_cut && wish->in_one_piece)
        tt_refuse(tt, NULL, "`%s` both interleaved and in shards" FIX "say one of them", name);
    else if (!is_cut && wish->ordered)
        tt_refuse(tt, NULL, "a grid or an order of the shards of `%s`, which is in none"
                            FIX "write height, width or block, too", name);
    if (is_cut && !s->size.x) {
        s->first = o->size.x ? o->first : (TwPoint){0, 0};
        s->size = o->size.x ? o->size : (TwPoint){limits->grid_x, limits->grid_y};
    }
    if (s->first.x + s->size.x > limits->grid_x || s->first.y + s->size.y > limits->grid_y)
        tt_refuse(tt, NULL, "shards of `%s` on %u x %u cores, where a %s has %u x %u" FIX "ask for fewer", name,
                  s->size.x, s->size.y, limits->name, limits->grid_x, limits->grid_y);
    tt->plan->in_l1[arg] = wish->in_l1 || is_cut;
    tt->plan->shards[arg] = *s;
}

void tt_take_sharding(Tt *tt, const char *text) {
    Words w = {.tt = tt, .wishes = ARENA_ARRAY(tt->arena, Wish, tt->k->body->arg_count), .arg = -1};
    int errors = tt->cx->module->diag->errors;
    take_words(&w, text);
    for (int i = 0; i < tt->k->body->arg_count && tt->cx->module->diag->errors == errors; i++)
        settle_wish(tt, i, &w.wishes[i]);
}

/* ------------------------------------------------------------------------------------------- tasks follow shards */

/* The only index of tasks by which offsets [from, to) of an access move; -1: by none, or by several. */
static int moved_by(const Tt *tt, const Op *access, int from, int to) {
    unsigned uses = 0;
    for (int d = from; d < to; d++) uses |= tt_task_uses(tt, op_list(access, 0).at[d]);
    if (!uses || (uses & (uses - 1))) return -1;
    int index = 0;
    while (!(uses & 1u << index)) index++;
    return index < tt->tasks->operand_count ? index : -1;
}

/* Do boxes of the access lie in the shard of the core that has the task, if tasks are dealt out as shards are? */
static bool can_follow(const Tt *tt, const TtBuffer *b, const Op *access, bool *turned) {
    int last = b->layout.rank - 1, rank = tt->tasks->operand_count;
    int columns = rank - 1, rows = rank >= 2 ? rank - 2 : 0;
    if (b->shards.cut == TW_WHOLE) return false; /* the access may be one of single elements */
    int down = moved_by(tt, access, 0, last), across = moved_by(tt, access, last, last + 1);
    switch (b->shards.cut) {
    case TW_WHOLE: return false;
    case TW_HEIGHT: *turned = rank >= 2 && down == columns; return down >= rows;
    case TW_WIDTH: *turned = across == rows; return across >= rows;
    case TW_BLOCK:
        *turned = down == columns;
        return rank >= 2 && down >= rows && across >= rows && down != across;
    }
    return false;
}

static bool same_cores(const TtOptions *o, const TwShards *s) {
    return !o->size.x || (o->first.x == s->first.x && o->first.y == s->first.y && o->size.x == s->size.x &&
                          o->size.y == s->size.y);
}

static void check_buffers(Tt *tt) {
    for (size_t i = 0; i < tt->plan->buffers.count; i++) {
        const TtBuffer *b = &tt->plan->buffers.at[i];
        if (b->shards.cut == TW_WHOLE) continue;
        if (b->layout.rank < 2 && b->shards.cut != TW_WIDTH)
            tt_refuse(tt, tt->buffer_accesses.at[i], "`%s` cut along its height; here it has one dimension"
                                                     FIX "write width", b->name);
    }
}

void tt_follow_shards(Tt *tt, bool order_is_free) {
    TtPlan *plan = tt->plan;
    TtOptions *o = &plan->options;
    bool asked = o->order == TW_MATCH_SHARD, any = false, on_rectangle = o->policy == TW_AUTO || o->policy == TW_RECT;
    plan->follows = -1;
    check_buffers(tt);
    for (int pass = 0; pass < 2 && plan->follows < 0; pass++)
        for (size_t i = 0; i < plan->buffers.count && plan->follows < 0; i++) {
            const TtBuffer *b = &plan->buffers.at[i];
            any |= b->shards.cut != TW_WHOLE;
            if (b->output == (pass == 1) && tt->buffer_accesses.at[i] &&
                can_follow(tt, b, tt->buffer_accesses.at[i], &plan->turned))
                plan->follows = (int)i;
        }
    const TwShards *s = plan->follows < 0 ? NULL : &plan->buffers.at[plan->follows].shards;
    bool chosen = s && (asked || (order_is_free && o->policy == TW_AUTO && !plan->shares && !o->cores &&
                                  same_cores(o, s)));
    if (asked && !s)
        tt_refuse(tt, NULL, "order match_shard: %s" FIX "leave the order out",
                  any ? "the boxes of no tensor in shards move with the tasks as its shards do"
                      : "no tensor is in shards, tasks follow none");
    else if (asked && (!on_rectangle || o->cores || !same_cores(o, s)))
        tt_refuse(tt, NULL, "order match_shard, and %s; tasks lie where the shards of `%s` do"
                            FIX "leave one of them out",
                  !on_rectangle ? "another policy than rect" : o->cores ? "a number of cores" : "other cores",
                  plan->buffers.at[plan->follows].name);
    if (!chosen) {
        plan->follows = -1;
        plan->turned = false;
        return;
    }
    o->order = TW_MATCH_SHARD;
    o->policy = TW_RECT;
    o->first = s->first;
    o->size = s->size;
}
