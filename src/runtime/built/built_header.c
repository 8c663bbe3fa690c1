/* SPDX-License-Identifier: Apache-2.0 */
/* built_header.c: the C function of a built kernel: its parameters, and the header that declares it.
 *
 *     int32_t add_kernel(const float *x_ptr, size_t x_ptr_count, float *output_ptr, size_t output_ptr_count,
 *                        int32_t n_elements, int64_t grid_x, int64_t grid_y, int64_t grid_z,
 *                        const tw_built_options *options);
 *
 * An array is a pointer and how many elements lie there; of a tensor whose extents the source leaves open they follow,
 * and its strides where the source leaves those open too. */
#include "runtime/built/built_kernel.h"

#include "base/embedded.h"
#include "runtime/target/cpu_tools.h"

#include <ctype.h>
#include <dlfcn.h>
#include <string.h>

static const char *c_type(Elem elem, bool array) {
    switch (elem) {
    case EL_I1: return array ? "uint8_t" : "int32_t";
    case EL_I8: return "int8_t";
    case EL_I16: return "int16_t";
    case EL_I32: return "int32_t";
    case EL_I64: return "int64_t";
    case EL_U8: return "uint8_t";
    case EL_U16: return "uint16_t";
    case EL_U32: return "uint32_t";
    case EL_U64: return "uint64_t";
    case EL_F32: return "float";
    case EL_F64: return "double";
    default: return elem_info[elem].bytes == 2 ? "uint16_t" : "uint8_t"; /* raw bits */
    }
}

const char *build_c_name(Arena *arena, const char *name) {
    static const char words[] =
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl "
        "const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit "
        "export extern false float for friend goto if inline int linux long mutable namespace new noexcept not "
        "not_eq nullptr operator or or_eq private protected public register reinterpret_cast restrict return short "
        "signed sizeof static static_assert static_cast struct switch template this thread_local throw true try "
        "typedef typeid typename typeof union unix unsigned using virtual void volatile wchar_t while xor xor_eq "
        "i386 errno NULL main grid_x grid_y grid_z options stream size_t int8_t int16_t int32_t int64_t uint8_t "
        "uint16_t uint32_t uint64_t tw_built_options ";
    char *copy = arena_printf(arena, "%s%s", isdigit((unsigned char)*name) ? "_" : "", name);
    for (char *at = copy; *at; at++)
        if (!isalnum((unsigned char)*at)) *at = '_';
    return strstr(words, arena_printf(arena, " %s ", copy)) ? arena_printf(arena, "%s_", copy) : copy;
}

bool build_is_taken(const char *name) {
    Dl_info info;
    void *at = dlsym(RTLD_DEFAULT, name);
    if (!at || !dladdr(at, &info) || !info.dli_fname) return false;
    const char *slash = strrchr(info.dli_fname, '/'), *file = slash ? slash + 1 : info.dli_fname;
    static const char *const libraries[] = {"libc.", "libm.", "libpthread.", "libdl.", "ld-"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(file, libraries[i], strlen(libraries[i])) == 0) return true;
    return false;
}

static void add_param(Build *b, const RunParam *param) {
    bool array = param->type->kind == TY_TENSOR || param->type->pointer;
    BuildParam p = {.source = param->source, .array = array, .rank = param->stated ? param->stated->rank : 0};
    bool tensor = param->type->kind == TY_TENSOR;
    if (tensor) p.rank = param->type->rank;
    for (int d = 0; d < p.rank; d++)
        if (!param->stated || param->stated->extent[d] < 0) p.open |= 1 << d;
    p.strides = tensor && (!param->stated || (!param->stated->dense && !param->stated->strided));
    p.written = array && tw_kernel_writes(b->kernel, (size_t)param->source);
    p.name = build_c_name(b->arena, param->name);
    p.type = c_type(param->type->elem, array);
    *VEC_PUSH(&b->params, b->arena) = p;
}

/* Is that one of the names that a parameter takes? */
static bool takes_name(const BuildParam *p, const char *name) {
    size_t length = strlen(p->name);
    if (strncmp(name, p->name, length) != 0) return false;
    const char *rest = name + length;
    return !*rest || (p->array && (strcmp(rest, "_count") == 0 || strcmp(rest, "_strides") == 0 ||
                                   (strncmp(rest, "_extent", 7) == 0 && isdigit((unsigned char)rest[7]))));
}

/* A kernel may have both `x` and `x_count`, or `g.x` and `g_x`: the later one gets another name. */
static void tell_apart(Build *b) {
    for (size_t i = 1; i < b->params.count; i++) {
        BuildParam *p = &b->params.at[i];
        for (size_t j = 0; j < i; j++) {
            const BuildParam *other = &b->params.at[j];
            if (!takes_name(other, p->name) && !takes_name(p, other->name)) continue;
            p->name = arena_printf(b->arena, "%s_", p->name);
            j = (size_t)-1; /* from the first again */
        }
    }
}

static const RunParam *find_source(const tw_kernel *k, int source) {
    for (int i = 0; i < k->param_count; i++)
        if (k->params[i].space < 0 && k->params[i].source == source) return &k->params[i];
    return NULL;
}

void build_find_params(Build *b) {
    for (int source = 0; source < b->kernel->source_count; source++)
        for (size_t l = 0; l < b->launches.count; l++) {
            const RunParam *param = find_source(b->launches.at[l].kernel, source);
            if (!param) continue;
            add_param(b, param);
            break;
        }
    tell_apart(b);
}

static void print_param(const BuildParam *p, Text *t) {
    if (!p->array) {
        text_add(t, "%s %s, ", p->type, p->name);
        return;
    }
    text_add(t, "%s%s *%s, size_t %s_count, ", p->written ? "" : "const ", p->type, p->name, p->name);
    for (int d = 0; d < p->rank; d++)
        if (p->open >> d & 1) text_add(t, "int64_t %s_extent%d, ", p->name, d);
    if (p->strides) text_add(t, "const int64_t *%s_strides, ", p->name);
}

/* The comment that says what a parameter is for, where its C type does not. */
static void explain_param(const BuildParam *p, const tw_kernel *k, Text *t) {
    const FrontShape *stated = &k->shapes[p->source];
    const char *elem = NULL;
    for (int i = 0; i < k->param_count; i++)
        if (k->params[i].source == p->source) elem = elem_info[k->params[i].type->elem].text;
    bool raw = elem && (strncmp(elem, "f8", 2) == 0 || strcmp(elem, "f16") == 0 || strcmp(elem, "bf16") == 0);
    if (!raw && !p->rank) return;
    text_add(t, " *   %-12s", p->name);
    if (raw) text_add(t, " bits of %s", elem);
    if (p->rank) {
        text_add(t, raw ? "; [" : " [");
        for (int d = 0; d < p->rank; d++) {
            text_add(t, d ? ", " : "");
            if (p->open >> d & 1)
                text_add(t, "%s_extent%d", p->name, d);
            else
                text_add(t, "%lld", (long long)stated->extent[d]);
        }
        text_add(t, "]");
        if (stated->stated && stated->strided) {
            text_add(t, ", strides");
            for (int d = 0; d < stated->rank; d++) text_add(t, "%s %lld", d ? "," : "", (long long)stated->stride[d]);
        } else
            text_add(t, p->strides ? "; strides in elements, NULL: row-major without gaps"
                                   : ", row-major without gaps");
    }
    text_add(t, "\n");
}

const char *build_declaration(const Build *b) {
    const tw_kernel *k = b->kernel;
    const char *file = k->origin->unit.file->name, *slash = strrchr(file, '/');
    Text t = text_new(b->arena), about = text_new(b->arena);
    for (size_t i = 0; i < b->params.count; i++) explain_param(&b->params.at[i], k, &about);
    text_add(&t,
             "/* Kernel %s of %s.\n * %s\n * X_count: how many elements lie at X. Any threads may call it at once. The "
             "result is one of TW_BUILT_..%s%s */\n",
             k->name, slash ? slash + 1 : file, b->kind->about, about.length ? "\n" : "", about.at);
    text_add(&t, "int32_t %s(", b->name);
    for (size_t i = 0; i < b->params.count; i++) print_param(&b->params.at[i], &t);
    if (!k->grid) text_add(&t, "int64_t grid_x, int64_t grid_y, int64_t grid_z, ");
    text_add(&t, "%s%s);\n", b->kind->last_type, b->kind->last);
    text_add(&t, "/* What a result means. */\nconst char *%s_error(int32_t result);\n", b->name);
    return t.at;
}

const char *build_header(Arena *arena, const char *name, const Build *all, size_t count) {
    const EmbeddedFile *common = cpu_embedded("cpu/include/", "built.h");
    Text t = text_new(arena);
    text_add(&t, "/* Made by Tilewright %s. */\n", tw_version());
    text_add(&t, "#ifndef TW_BUILT_%s_H\n#define TW_BUILT_%s_H\n", name, name);
    text_add(&t, "#include <stddef.h>\n#include <stdint.h>\n\n");
    text_add(&t, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n%s", common->text);
    for (size_t i = 0; i < count; i++) text_add(&t, "\n%s", all[i].header);
    text_add(&t, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
    return t.at;
}
