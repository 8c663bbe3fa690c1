/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_annotate.c: annotations for Tenstorrent, which become attributes of the kernel (tt_policy, ..).
 *
 *     from tilelang.tt import annotate_tt_schedule, annotate_tt_sharding
 *     @annotate_tt_schedule(policy="contiguous", order="row_major", chunk_k_tiles=4)
 *     @annotate_tt_sharding({"A": {"layout": "row_major"}})
 *     @T.prim_func
 *     def kernel(..): ..
 *
 * In a running program they are the attribute `annotations` of the function: pairs of a name and a value, as here.
 * What is no word of the language is an error here; what a target does with the others, it says itself. */
#include "front/tilelang/tilelang.h"

#include <string.h>

typedef enum Shape { SHAPE_WORD, SHAPE_NUMBER, SHAPE_NUMBERS, SHAPE_SWITCH, SHAPE_DEPTHS } Shape;

/* The arguments of annotate_tt_schedule. */
static const struct Row {
    const char *name;
    AttrId attr;
    Shape shape;
    int count; /* of NUMBERS */
} rows[] = {{"policy", AT_TT_POLICY, SHAPE_WORD, 0},      {"order", AT_TT_ORDER, SHAPE_WORD, 0},
            {"chunk_k_tiles", AT_TT_CHUNK, SHAPE_NUMBER, 0}, {"block", AT_TT_BLOCK, SHAPE_NUMBER, 0},
            {"rect", AT_TT_RECT, SHAPE_NUMBERS, 4},       {"stride", AT_TT_STRIDE, SHAPE_NUMBERS, 2},
            {"core_grid", AT_TT_CORES, SHAPE_NUMBERS, 2}, {"cb_depths", AT_TT_DEPTHS, SHAPE_DEPTHS, 0},
            {"multicast", AT_TT_MULTICAST, SHAPE_SWITCH, 0}};

static void complain(Lower *l, Range range, const char *of, const char *why) {
    py_error(l, DIAG_TL_TT, range, of, why);
}

/* "`a`, `b` and `c`": the words of a set. */
static const char *set_text(Lower *l, WordSet set) {
    Text out = text_new(l->arena);
    for (int w = 0; w < WORD_COUNT; w++)
        if (word_info[w].set == set) text_add(&out, "%s\"%s\"", out.length ? ", " : "", word_info[w].text);
    return out.at;
}

static bool find_word(WordSet set, const char *text, Word *word) {
    for (int w = 0; w < WORD_COUNT; w++)
        if (word_info[w].set == set && strcmp(word_info[w].text, text) == 0) {
            *word = (Word)w;
            return true;
        }
    return false;
}

static bool number_of(Val v, const AttrInfo *info, int64_t *number) {
    if (v.kind != VAL_INT || v.i < info->least || v.i > info->most) return false;
    *number = (int64_t)v.i;
    return true;
}

static const Val *elements(Val v, int *count) {
    *count = v.kind == VAL_TUPLE ? v.count : v.kind == VAL_LIST ? (int)v.list->vals.count : -1;
    return v.kind == VAL_TUPLE ? v.items : v.kind == VAL_LIST ? v.list->vals.at : NULL;
}

/* A dict, or the pairs that a running program makes of one. */
static int pair_count(Val v) {
    if (v.kind == VAL_DICT) return (int)v.list->vals.count / 2;
    int count;
    const Val *at = elements(v, &count);
    for (int i = 0; i < count; i++)
        if (at[i].kind != VAL_TUPLE || at[i].count != 2) return -1;
    return count;
}

static void pair_at(Val v, int i, Val pair[2]) {
    int count;
    const Val *at = v.kind == VAL_DICT ? &v.list->vals.at[2 * i] : elements(v, &count)[i].items;
    pair[0] = at[0], pair[1] = at[1];
}

/* {"in": 3, "out": 2}, or "in:3,out:2", which the target looks at; NULL: neither. */
static const char *depths_text(Lower *l, Val v) {
    Text out = text_new(l->arena);
    int count = v.kind == VAL_STR ? 0 : pair_count(v);
    if (v.kind == VAL_STR) return v.text;
    for (int i = 0; i < count; i++) {
        Val pair[2];
        pair_at(v, i, pair);
        if (pair[0].kind != VAL_STR || pair[1].kind != VAL_INT || pair[1].i < INT32_MIN || pair[1].i > INT32_MAX)
            return NULL;
        text_add(&out, "%s%s:%d", i ? "," : "", pair[0].text, (int)pair[1].i);
    }
    return count > 0 ? out.at : NULL;
}

static void set_row(Lower *l, const struct Row *row, Val v, Range range) {
    const AttrInfo *info = &attr_info[row->attr];
    const char *here = val_text(l, v);
    int64_t number;
    Word word;
    if (v.kind == VAL_ERROR || v.kind == VAL_NONE) return;
    if (row->shape == SHAPE_WORD) {
        if (v.kind == VAL_STR && find_word(info->set, v.text, &word))
            kernel_set(l->kernel, (Attr){.id = row->attr, .word = word});
        else
            py_error(l, DIAG_TL_WORD, range, here, row->name, set_text(l, info->set));
        return;
    }
    if (row->shape == SHAPE_NUMBER) {
        if (number_of(v, info, &number))
            kernel_set(l->kernel, (Attr){.id = row->attr, .number = number});
        else
            complain(l, range, row->name,
                     arena_printf(l->arena, "%s is no integer from %lld to %lld", here, (long long)info->least,
                                  (long long)info->most));
        return;
    }
    if (row->shape == SHAPE_SWITCH) {
        if (v.kind == VAL_BOOL)
            kernel_set(l->kernel, (Attr){.id = row->attr, .number = v.i != 0});
        else
            complain(l, range, row->name, arena_printf(l->arena, "%s is neither True nor False", here));
        return;
    }
    if (row->shape == SHAPE_DEPTHS) {
        const char *text = depths_text(l, v);
        if (text && *text)
            kernel_set(l->kernel, (Attr){.id = row->attr, .text = text});
        else
            complain(l, range, row->name,
                     arena_printf(l->arena, "%s is no dict of rings and slots: {\"in\": 3, \"out\": 2}", here));
        return;
    }
    int count;
    const Val *at = elements(v, &count);
    int64_t *list = ARENA_ARRAY(l->arena, int64_t, row->count);
    bool good = count == row->count;
    for (int i = 0; good && i < count; i++) good = number_of(at[i], info, &list[i]);
    if (good)
        kernel_set(l->kernel, (Attr){.id = row->attr, .list = {count, list}});
    else
        complain(l, range, row->name,
                 arena_printf(l->arena, "%s is no tuple of %d integers from %lld to %lld", here, row->count,
                              (long long)info->least, (long long)info->most));
}

static void schedule(Lower *l, const char *name, Val v, Range range) {
    const char *names[sizeof rows / sizeof *rows];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        names[i] = rows[i].name;
        if (strcmp(rows[i].name, name) == 0) {
            set_row(l, &rows[i], v, range);
            return;
        }
    }
    const char *near = text_nearest(name, names, sizeof names / sizeof *names);
    complain(l, range, "annotate_tt_schedule",
             near ? arena_printf(l->arena, "there is no argument `%s`%s", name, text_suggest(l->arena, "", near))
                  : arena_printf(l->arena,
                                 "there is no argument `%s`; there are policy, order, chunk_k_tiles, block, rect, "
                                 "stride, core_grid, cb_depths and multicast",
                                 name));
}

/* --- sharding --- */

static const struct {
    const char *key;
    const char *words; /* separated by spaces; NULL: any text of letters, digits and `_` */
} keys[] = {{"layout", "row_major column_major interleaved sharded height width block"},
            {"memory", "dram l1"},
            {"order", "row_major column_major"},
            {"grid", NULL}};

static bool is_listed(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *at = words; n && (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' ')) return true;
    return false;
}

static bool has_parameter(const Lower *l, const char *name) {
    const FrontKernel *kernel = l->request->kernel;
    for (int i = 0; i < kernel->param_count; i++)
        if (kernel->params[i].kind == FRONT_POINTER && strcmp(kernel->params[i].name, name) == 0) return true;
    return false;
}

static void shard_word(Lower *l, Text *out, Val key, Val value, Range range) {
    const char *of = "annotate_tt_sharding", *words = NULL;
    size_t at = 0, count = sizeof keys / sizeof *keys;
    while (at < count && (key.kind != VAL_STR || strcmp(keys[at].key, key.text) != 0)) at++;
    if (at == count) {
        complain(l, range, of,
                 arena_printf(l->arena, "there is no %s; there are \"layout\", \"memory\", \"order\" and \"grid\"",
                              val_text(l, key)));
        return;
    }
    words = keys[at].words;
    const char *text = value.kind == VAL_STR ? value.text : NULL;
    int n;
    const Val *parts = elements(value, &n);
    int64_t columns, rows_; /* as those of core_grid */
    if (!words && n == 2 && number_of(parts[0], &attr_info[AT_TT_CORES], &columns) &&
        number_of(parts[1], &attr_info[AT_TT_CORES], &rows_))
        text = arena_printf(l->arena, "%lldx%lld", (long long)columns, (long long)rows_);
    else if (!words)
        text = NULL;
    if (!text || (words && !is_listed(words, text))) {
        py_error(l, DIAG_TL_WORD, range, val_text(l, value), keys[at].key,
                 words ? words : "the pairs of two integers from 1 to 1024");
        return;
    }
    text_add(out, " %s=%s", keys[at].key, text);
}

static void sharding(Lower *l, Val v, Range range) {
    const char *of = "annotate_tt_sharding";
    Text out = text_new(l->arena);
    int count = pair_count(v);
    if (v.kind == VAL_ERROR) return;
    if (count < 0) {
        complain(l, range, of, "it takes a dict: {\"A\": {\"layout\": \"row_major\"}}");
        return;
    }
    for (int i = 0; i < count; i++) {
        Val pair[2], inner[2];
        pair_at(v, i, pair);
        if (pair[0].kind != VAL_STR || !has_parameter(l, pair[0].text)) {
            complain(l, range, of,
                     arena_printf(l->arena, "%s is no tensor among the parameters of `%s`", val_text(l, pair[0]),
                                  l->kernel->name));
            continue;
        }
        text_add(&out, "%s%s", out.length ? "; " : "", pair[0].text);
        int words = pair[1].kind == VAL_STR ? 1 : pair_count(pair[1]);
        if (words < 0)
            complain(l, range, of,
                     arena_printf(l->arena, "what is said of `%s` is no dict: {\"layout\": \"row_major\"}",
                                  pair[0].text));
        for (int w = 0; w < words; w++) {
            inner[0] = val_str("layout"), inner[1] = pair[1];
            if (pair[1].kind != VAL_STR) pair_at(pair[1], w, inner);
            shard_word(l, &out, inner[0], inner[1], range);
        }
    }
    if (out.length) kernel_set(l->kernel, (Attr){.id = AT_TT_SHARDING, .text = out.at});
}

/* --- where they stand --- */

/* "schedule" or "sharding"; NULL: no annotation. */
static const char *kind_of(const Lower *l, const PyNode *decorator) {
    static const struct {
        const char *name, *kind;
    } names[] = {{"annotate_tt_schedule", "schedule"},
                 {"annotate_tt_sharding", "sharding"},
                 {"annotate_tt_layout", "sharding"}};
    const PyNode *func = decorator->kind == PY_Call ? decorator->Call.func : decorator;
    const char *path = names_path(l->names, func, l->arena);
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (!dot || (strncmp(path, "tilelang.tt.", 12) != 0 && strncmp(path, "tilelang.tenstorrent.", 21) != 0))
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(dot + 1, names[i].name) == 0) return names[i].kind;
    return NULL;
}

bool lang_is_annotation(const Lower *l, const PyNode *decorator) { return kind_of(l, decorator) != NULL; }

static void decorated(Lower *l, const PyNode *decorator, const char *kind) {
    bool scheduled = strcmp(kind, "schedule") == 0;
    const char *name_of = scheduled ? "annotate_tt_schedule" : "annotate_tt_sharding";
    if (decorator->kind != PY_Call) return; /* with nothing to say */
    const PyList *args = decorator->Call.args, *named = decorator->Call.keywords;
    for (uint32_t i = 0; i < args->count; i++) {
        if (scheduled && i < sizeof rows / sizeof *rows)
            set_row(l, &rows[i], py_eval(l, args->at[i]), args->at[i]->range);
        else if (!scheduled && !i)
            sharding(l, py_eval(l, args->at[i]), args->at[i]->range);
        else
            complain(l, args->at[i]->range, name_of, "too many arguments");
    }
    for (uint32_t i = 0; i < named->count; i++) {
        const PyNode *word = named->at[i], *value = word->keyword.value;
        const char *name = word->keyword.arg;
        if (scheduled && name)
            schedule(l, name, py_eval(l, value), value->range);
        else if (name && strcmp(name, "sharding") == 0)
            sharding(l, py_eval(l, value), value->range);
        else
            complain(l, value->range, name_of,
                     name ? arena_printf(l->arena, "there is no argument `%s`", name)
                          : "write its arguments one by one");
    }
}

static void live(Lower *l, Range range) {
    const FrontResolver *host = l->unit->resolver;
    FrontObject all = {0};
    host->attribute(host->user, l->unit->scope, "annotations", &all);
    if (all.kind != FRONT_OBJECT_TUPLE) return;
    Val v = py_live_value(l, &all, "annotations", range), pair[2];
    for (int i = 0; i < pair_count(v); i++) {
        pair_at(v, i, pair);
        if (pair[0].kind != VAL_STR) continue;
        if (strcmp(pair[0].text, "sharding") == 0)
            sharding(l, pair[1], range);
        else
            schedule(l, pair[0].text, pair[1], range);
    }
}

void lang_annotate(Lower *l, const PyNode *def) {
    if (l->unit->resolver) {
        live(l, def->range);
        return;
    }
    for (uint32_t i = 0; i < def->FunctionDef.decorator_list->count; i++) {
        const PyNode *decorator = def->FunctionDef.decorator_list->at[i];
        const char *kind = kind_of(l, decorator);
        if (kind) decorated(l, decorator, kind);
    }
}
