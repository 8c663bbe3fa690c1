/* SPDX-License-Identifier: Apache-2.0 */
/* built_entry.c: what the C function of a built kernel does, as C: it binds and checks the arguments, computes the
 * grid, takes the first code that the machine runs and whose requirements hold, and launches it. The same that launch.c
 * does for kernels of this process, in the same order.
 *
 * The names of the text are its own: a parameter is p3, p3_count, p3_e0, p3_strides, for the source's parameter 3. */
#include "runtime/built/built_kernel.h"

/* --- requirements --- */

static void add_condition(Text *t, const char *format, int result, long long number) {
    text_add(t, t->length ? " &&\n        " : "");
    text_add(t, format, result, number);
}

static void add_requirement(const Requirements *all, const Requirement *r, Text *t) {
    if (r->kind == AT_DISJOINT) {
        for (int i = 0; i < r->count; i++)
            for (int j = 0; j < i; j++)
                text_add(t, "%sbuilt_apart(s[%d], s[%d])", t->length ? " &&\n        " : "", r->parameters[i],
                         r->parameters[j]);
        return;
    }
    for (int a = 0; a < r->count; a++) {
        int result = all->program->results[r->first + a];
        if (r->kind == AT_EQ)
            add_condition(t, "r%d == %lld", result, (long long)r->number);
        else if (r->kind == AT_LEAST)
            add_condition(t, "r%d >= %lld", result, (long long)r->number);
        else
            add_condition(t, "r%d %% %lld == 0", result, (long long)r->number);
    }
}

const char *build_fits(const tw_kernel *k, Arena *arena) {
    const Requirements *all = k->requirements;
    if (!all) return "";
    Text conditions = text_new(arena), t = text_new(arena);
    for (int i = 0; i < all->count; i++) add_requirement(all, &all->at[i], &conditions);
    text_add(&t, "    (void)w, (void)g, (void)s;\n");
    scalars_print(all->program, &t);
    text_add(&t, "    return %s;\n", conditions.length ? conditions.at : "1");
    return t.at;
}

/* --- launches --- */

/* With types, or as the arguments of a call that passes them on. */
static void print_params(const Build *b, bool types, Text *t) {
    for (size_t i = 0; i < b->params.count; i++) {
        const BuildParam *p = &b->params.at[i];
        int n = p->source;
        if (!p->array) {
            text_add(t, types ? "%s p%d, " : "%.0sp%d, ", p->type, n);
            continue;
        }
        text_add(t, types ? "%s%s *p%d, size_t p%d_count, " : "%.0s%.0sp%d, p%d_count, ", p->written ? "" : "const ",
                 p->type, n, n);
        for (int d = 0; d < p->rank; d++)
            if (p->open >> d & 1) text_add(t, types ? "int64_t p%d_e%d, " : "p%d_e%d, ", n, d);
        if (p->strides) text_add(t, types ? "const int64_t *p%d_strides, " : "p%d_strides, ", n);
    }
    if (!b->kernel->grid) text_add(t, types ? "int64_t x, int64_t y, int64_t z, " : "x, y, z, ");
}

static void bind_array(const RunParam *param, int i, Text *t) {
    const FrontShape *stated = param->stated;
    bool tensor = param->type->kind == TY_TENSOR;
    int n = param->source, slot = param->slot, rank = tensor ? param->type->rank : stated ? stated->rank : 0;
    int bytes = elem_info[param->type->elem].bytes;
    text_add(t, "    if ((status = built_array(p%d, p%d_count, %d, &s[%d], &w[%d]))) return status;\n", n, n, bytes, i,
             slot);
    if (!tensor && !stated) return;
    text_add(t, "    const i64 e%d[] = {", n);
    for (int d = 0; d < rank; d++) {
        text_add(t, d ? ", " : "");
        if (stated && stated->extent[d] >= 0)
            text_add(t, "%lld", (long long)stated->extent[d]);
        else
            text_add(t, "p%d_e%d", n, d);
    }
    text_add(t, rank ? "};\n" : "0};\n");
    bool given = tensor && (!stated || (!stated->dense && !stated->strided));
    if (stated && stated->strided) {
        text_add(t, "    const int64_t t%d[] = {", n);
        for (int d = 0; d < rank; d++) text_add(t, "%s%lld", d ? ", " : "", (long long)stated->stride[d]);
        text_add(t, "};\n");
    }
    text_add(t, "    if ((status = built_shape(p%d_count, %d, e%d, ", n, rank, n);
    text_add(t, given ? "p%d_strides" : stated && stated->strided ? "t%d" : "0", n);
    text_add(t, tensor ? ", (i64 *)&w[%d]))) return status;\n" : ", 0))) return status;\n", slot + 1 + rank);
    for (int d = 0; tensor && d < rank; d++) text_add(t, "    w[%d] = (u64)e%d[%d];\n", slot + 1 + d, n, d);
}

static int64_t space_bytes(const FrontSpace *space) {
    int64_t bytes = elem_info[space->elem].bytes;
    for (int d = 0; d < space->rank; d++) bytes *= space->extent[d];
    return bytes;
}

static void bind_param(const tw_kernel *k, int i, Text *t) {
    const RunParam *param = &k->params[i];
    if (param->space >= 0)
        text_add(t,
                 "    w[%d] = (u64)(uintptr_t)spaces[%d];\n"
                 "    s[%d] = (BuiltSpan){spaces[%d], (const char *)spaces[%d] + %lld};\n",
                 param->slot, param->space, i, param->space, param->space,
                 (long long)space_bytes(&k->sequence.spaces.at[param->space]));
    else if (param->type->kind == TY_TENSOR || param->type->pointer)
        bind_array(param, i, t);
    else if (param->type->elem == EL_I1)
        text_add(t, "    w[%d] = p%d != 0;\n", param->slot, param->source);
    else
        text_add(t, "    memcpy(&w[%d], &p%d, sizeof p%d);\n", param->slot, param->source, param->source);
}

static void print_grid(const tw_kernel *k, size_t l, Text *t) {
    if (!k->grid) return;
    text_add(t, "static void grid_%zu(const u64 *w, i64 *g) {\n    (void)w;\n", l);
    scalars_print(k->grid, t);
    for (int d = 0; d < k->grid_rank; d++) text_add(t, "    g[%d] = r%d;\n", d, k->grid->results[d]);
    text_add(t, "}\n");
}

static void print_launch(const Build *b, size_t l, Text *t) {
    const BuildLaunch *launch = &b->launches.at[l];
    const tw_kernel *k = launch->kernel;
    text_add(t, "\n");
    for (size_t v = 0; v < launch->variants.count; v++)
        if (*launch->variants.at[v].fits)
            text_add(t, "static i32 fits_%zu_%zu(const u64 *w, const i64 *g, const BuiltSpan *s) {\n%s}\n", l, v,
                     launch->variants.at[v].fits);
    print_grid(k, l, t);
    text_add(t, "static i32 launch_%zu(", l);
    print_params(b, true, t);
    text_add(t, "%s%s, char *const *spaces) {\n", b->kind->last_type, b->kind->last);
    text_add(t,
             "    u64 w[%d] = {0};\n    BuiltSpan s[%d] = {{0, 0}};\n    i64 g[3] = {%s};\n    i32 status;\n"
             "    (void)spaces;\n",
             k->slot_count + 1, k->param_count + 1, b->kernel->grid ? "1, 1, 1" : "x, y, z");
    for (int i = 0; i < k->param_count; i++) bind_param(k, i, t);
    if (k->grid) text_add(t, "    grid_%zu(w, g);\n", l);
    text_add(t, "    if ((status = built_grid(g))) return status;\n"
                "    if (!g[0] || !g[1] || !g[2]) return TW_BUILT_OK;\n");
    text_add(t, "%s", b->kind->choose);
    for (size_t v = 0; v < launch->variants.count; v++) {
        const BuildVariant *variant = &launch->variants.at[v];
        const char *fits = *variant->fits ? arena_printf(b->arena, "fits_%zu_%zu(w, g, s)", l, v) : "1";
        b->kind->way(t, variant->code, fits);
    }
    text_add(t, "    return status;\n}\n");
}

static void print_error(const Build *b, Text *t) {
    text_add(t, "\n__attribute__((visibility(\"default\"))) const char *entry_error(i32 code) __asm__(\"%s_error\");\n",
             b->name);
    text_add(t, "const char *entry_error(i32 code) {\n    const char *own = own_error(code);\n"
                "    return own ? own : built_error(code);\n}\n");
}

static void print_function(const Build *b, Text *t) {
    const tw_kernel *k = b->kernel;
    size_t spaces = k->sequence.spaces.count;
    Text params = text_new(b->arena), args = text_new(b->arena);
    print_params(b, true, &params);
    print_params(b, false, &args);
    text_add(t, "\n__attribute__((visibility(\"default\")))\n");
    const char *type = b->kind->last_type, *last = b->kind->last;
    text_add(t, "i32 entry(%s%s%s) __asm__(\"%s\");\n", params.at, type, last, b->name);
    text_add(t, "i32 entry(%s%s%s) {\n%s", params.at, type, last, b->kind->begin);
    text_add(t, "    char *spaces[%zu] = {0};\n    i32 status = 0;\n", spaces + 1);
    for (size_t i = 0; i < spaces; i++)
        text_add(t, "    if (!status) status = built_take_space(&spaces[%zu], %lld, %s);\n", i,
                 (long long)space_bytes(&k->sequence.spaces.at[i]), last);
    for (size_t l = 0; l < b->launches.count; l++)
        text_add(t, "    if (!status) status = launch_%zu(%s%s, spaces);\n", l, args.at, last);
    for (size_t i = 0; i < spaces; i++)
        text_add(t,
                 "    const i32 given_%zu = built_give_space(spaces[%zu], %s);\n"
                 "    if (!status) status = given_%zu;\n",
                 i, i, last, i);
    text_add(t, "    return status;\n}\n");
}

const char *build_entry(Build *b, const char *codes) {
    Text t = text_new(b->arena);
    text_add(&t, "%s", codes);
    print_error(b, &t);
    for (size_t l = 0; l < b->launches.count; l++) print_launch(b, l, &t);
    print_function(b, &t);
    return t.at;
}
