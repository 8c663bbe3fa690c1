/* SPDX-License-Identifier: Apache-2.0 */
/* python_objects.c: lists, dicts and strings of plain Python, and their methods.
 *
 *     configs = []                                   a list that changes, here while compiling
 *     for m in (64, 128): configs.append({"m": m})
 *
 * A change inside of a run-time loop or branch would happen once, whatever the loop does: it is refused. */
#include "front/python/python.h"

#include <string.h>

static bool may_change(Lower *l, Val of, Range range) {
    if (l->changed) *VEC_PUSH(l->changed, l->arena) = of.list;
    if (l->nest <= of.list->nest) return true;
    py_error(l, DIAG_EVAL_CHANGED, range, of.kind == VAL_DICT ? "dict" : "list");
    return false;
}

int py_find_key(const Lower *l, Val dict, Val key) {
    for (int i = 0; i + 1 < val_count(dict); i += 2) {
        Val one = val_items(dict)[i];
        if (val_equal(one, key) || (l->domain->same && l->domain->same(one, key))) return i;
    }
    return -1;
}

static bool push(Lower *l, List *list, Val v, Range range) {
    if (list->vals.count >= PYTHON_MAX_TUPLE) {
        py_error(l, DIAG_EVAL_MANY_ITEMS, range, PYTHON_MAX_TUPLE, PYTHON_MAX_DEPTH);
        return false;
    }
    *VEC_PUSH(&list->vals, l->arena) = v;
    return true;
}

bool py_set_item(Lower *l, Val of, Val key, Val value, Range range) {
    if (val_failed(key) || val_failed(value) || !may_change(l, of, range)) return false;
    if (of.kind == VAL_DICT) {
        int at = py_find_key(l, of, key);
        if (at >= 0) of.list->vals.at[at + 1] = value;
        return at >= 0 || (push(l, of.list, key, range) && push(l, of.list, value, range));
    }
    int count = val_count(of);
    PyInt at = key.kind == VAL_INT && key.i < 0 ? key.i + count : key.i;
    if (key.kind != VAL_INT) {
        py_need_constant(l, range, "the index of a list", key);
        return false;
    }
    if (at < 0 || at >= count) {
        py_error(l, DIAG_EVAL_TUPLE_INDEX, range, (int)key.i, count);
        return false;
    }
    of.list->vals.at[at] = value;
    return true;
}

/* --- methods --- */

Val py_host_method(Lower *l, Val v, const char *name) {
    static const char kinds[VAL_TENSOR + 1] = {
        [VAL_LIST] = 'l', [VAL_DICT] = 'd', [VAL_STR] = 's', [VAL_TUPLE] = 't', [VAL_INT] = 'i'};
    const Builtin *builtin = kinds[v.kind] ? py_builtin(l, name, kinds[v.kind]) : NULL;
    if (!builtin) return (Val){.kind = VAL_UNBOUND};
    return (Val){.kind = VAL_BUILTIN, .builtin = builtin, .self = arena_copy(l->arena, &v, sizeof v)};
}

/* append, extend, insert, pop, remove, reverse, clear: by code. */
Val py_lower_list_change(Lower *l, const Call *c) {
    Val of = c->args[0], arg = c->args[1];
    Vals *vals = &of.list->vals;
    int64_t at = 0;
    if (!may_change(l, of, c->range)) return val_error;
    switch (c->builtin->code) {
    case 'a': return push(l, of.list, arg, c->range) ? val_none : val_error;
    case 'e': {
        Val more = py_iterable(l, arg, c->ranges[1]);
        for (int i = 0; i < more.count && !val_failed(more); i++)
            if (!push(l, of.list, more.items[i], c->range)) return val_error;
        return val_failed(more) ? more : val_none;
    }
    case 'i':
        if (!py_want_int(l, c, 1, &at) || !push(l, of.list, c->args[2], c->range)) return val_error;
        if (at < 0) at += (int64_t)vals->count - 1;
        if (at < 0) at = 0;
        for (size_t i = vals->count - 1; i > (size_t)at; i--) vals->at[i] = vals->at[i - 1];
        if ((size_t)at < vals->count) vals->at[at] = c->args[2];
        return val_none;
    case 'p': {
        if (!py_want_int(l, c, 1, &at)) return val_error;
        if (at < 0) at += (int64_t)vals->count;
        if (at < 0 || at >= (int64_t)vals->count)
            return py_error(l, DIAG_EVAL_TUPLE_INDEX, c->range, (int)at, (int)vals->count);
        Val taken = vals->at[at];
        for (size_t i = (size_t)at; i + 1 < vals->count; i++) vals->at[i] = vals->at[i + 1];
        vals->count--;
        return taken;
    }
    case 'r':
        for (size_t i = 0; i < vals->count / 2; i++) {
            Val swap = vals->at[i];
            vals->at[i] = vals->at[vals->count - 1 - i];
            vals->at[vals->count - 1 - i] = swap;
        }
        return val_none;
    default: vals->count = 0; return val_none;
    }
}

Val py_lower_list_copy(Lower *l, const Call *c) {
    Val copy = val_list(l, val_items(c->args[0]), val_count(c->args[0]));
    if (copy.kind == VAL_LIST) copy.kind = c->args[0].kind;
    return copy;
}

/* index (code 'i') and count of a list or tuple */
Val py_lower_list_find(Lower *l, const Call *c) {
    int found = 0;
    for (int i = 0; i < val_count(c->args[0]); i++) {
        if (!val_equal(val_items(c->args[0])[i], c->args[1])) continue;
        if (c->builtin->code == 'i') return val_int(i);
        found++;
    }
    if (c->builtin->code != 'i') return val_int(found);
    return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[1], ".index", "an item of the list", val_describe(l, c->args[1]));
}

/* keys ('k'), values ('v'), items ('i') */
Val py_lower_dict_view(Lower *l, const Call *c) {
    Val of = c->args[0];
    int count = val_count(of) / 2;
    Val *items = ARENA_ARRAY(l->arena, Val, count);
    for (int i = 0; i < count; i++) {
        const Val *pair = &val_items(of)[2 * i];
        items[i] = c->builtin->code == 'k' ? pair[0] : c->builtin->code == 'v' ? pair[1] : val_tuple(l, pair, 2);
    }
    return (Val){.kind = VAL_TUPLE, .items = items, .count = count};
}

/* get ('g'), pop ('p'), setdefault ('s') */
Val py_lower_dict_get(Lower *l, const Call *c) {
    Val of = c->args[0], key = c->args[1], otherwise = c->args[2];
    int at = py_find_key(l, of, key);
    if (c->builtin->code == 's' && at < 0)
        return py_set_item(l, of, key, otherwise, c->range) ? otherwise : val_error;
    if (at < 0 && otherwise.kind == VAL_UNBOUND)
        return py_error(l, DIAG_EVAL_UNKNOWN, c->ranges[1], val_text(l, key), "");
    if (at < 0) return otherwise;
    Val found = val_items(of)[at + 1];
    if (c->builtin->code != 'p') return found;
    if (!may_change(l, of, c->range)) return val_error;
    Vals *vals = &of.list->vals;
    for (size_t i = (size_t)at; i + 2 < vals->count; i++) vals->at[i] = vals->at[i + 2];
    vals->count -= 2;
    return found;
}

Val py_lower_dict_update(Lower *l, const Call *c) {
    Val of = c->args[0], more[2] = {c->args[1], c->args[2]};
    for (int k = 0; k < 2; k++) {
        if (more[k].kind == VAL_NONE) continue;
        if (more[k].kind != VAL_DICT)
            return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[1], ".update", "a dict", val_describe(l, more[k]));
        for (int i = 0; i + 1 < val_count(more[k]); i += 2)
            if (!py_set_item(l, of, val_items(more[k])[i], val_items(more[k])[i + 1], c->range)) return val_error;
    }
    return val_none;
}

/* --- strings --- */

static const char *changed_case(Lower *l, const char *text, bool upper) {
    char *out = arena_string(l->arena, text, strlen(text));
    for (char *s = out; *s; s++)
        if (upper ? *s >= 'a' && *s <= 'z' : *s >= 'A' && *s <= 'Z') *s = (char)(*s ^ 0x20);
    return out;
}

/* startswith ('a'), endswith ('z'), lower ('l'), upper ('u'), strip (' ') */
Val py_lower_str(Lower *l, const Call *c) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *text = c->args[0].text;
    size_t length = strlen(text), n;
    switch (c->builtin->code) {
    case 'l':
    case 'u': return val_str(changed_case(l, text, c->builtin->code == 'u'));
    case ' ':
        for (; *text == ' '; length--) text++;
        while (length && text[length - 1] == ' ') length--;
        return val_str(arena_string(l->arena, text, length));
    case 'd': return val_bool(length && strspn(text, "0123456789") == length);
    case 'b': return val_bool(length && strspn(text, letters) == length);
    default: break;
    }
    Val parts = c->args[1].kind == VAL_STR ? val_tuple(l, &c->args[1], 1) : py_iterable(l, c->args[1], c->ranges[1]);
    if (val_failed(parts)) return parts;
    for (int i = 0; i < parts.count; i++) {
        if (parts.items[i].kind != VAL_STR) return py_complain(l, c, 1, "a string") ? val_none : val_error;
        n = strlen(parts.items[i].text);
        const char *at = c->builtin->code == 'a' ? text : text + (n <= length ? length - n : 0);
        if (n <= length && strncmp(at, parts.items[i].text, n) == 0) return val_bool(true);
    }
    return val_bool(false);
}

Val py_lower_str_join(Lower *l, const Call *c) {
    Val parts = py_iterable(l, c->args[1], c->ranges[1]);
    Text out = text_new(l->arena);
    for (int i = 0; !val_failed(parts) && i < parts.count; i++) {
        if (parts.items[i].kind != VAL_STR) return py_complain(l, c, 1, "strings") ? val_none : val_error;
        text_add(&out, "%s%s", i ? c->args[0].text : "", parts.items[i].text);
    }
    return val_failed(parts) ? parts : val_str(out.at);
}

Val py_lower_str_replace(Lower *l, const Call *c) {
    if (c->args[1].kind != VAL_STR || c->args[2].kind != VAL_STR || !c->args[1].text[0])
        return py_complain(l, c, 1, "two strings") ? val_none : val_error;
    Text out = text_new(l->arena);
    size_t n = strlen(c->args[1].text);
    for (const char *s = c->args[0].text; *s;) {
        bool here = strncmp(s, c->args[1].text, n) == 0;
        if (here)
            text_add(&out, "%s", c->args[2].text);
        else
            text_add_char(&out, *s);
        s += here ? n : 1;
    }
    return val_str(out.at);
}

Val py_lower_str_split(Lower *l, const Call *c) {
    const char *between = " ";
    Vals parts = {0};
    if (c->args[1].kind == VAL_STR && c->args[1].text[0]) between = c->args[1].text;
    bool words = c->args[1].kind == VAL_NONE;
    for (const char *s = c->args[0].text;;) {
        const char *end = strstr(s, between);
        size_t n = end ? (size_t)(end - s) : strlen(s);
        if (n || !words) *VEC_PUSH(&parts, l->arena) = val_str(arena_string(l->arena, s, n));
        if (!end) break;
        s = end + strlen(between);
    }
    return val_list(l, parts.at, (int)parts.count);
}
