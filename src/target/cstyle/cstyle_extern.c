/* SPDX-License-Identifier: Apache-2.0 */
/* cstyle_extern.c: functions that the source brings as text: that text, and what the kernel calls; see cstyle.h.
 *
 * The kernel calls a function of its own (tw_call_scale_f32_f32), named after the types, which calls the user's: so the
 * user's name meets no variable of the kernel, and numbers come and go in the types that the source says. Macros of the
 * user's text end behind these functions: one called N would change what follows.
 *
 *     #define FACTOR 3
 *     static float scale(float x) { return FACTOR * x; }
 *     TW_FN f32 tw_call_scale_f32_f32(f32 x0) { return scale(x0); }
 *     #undef FACTOR
 *
 * A function on arrays gets arrays of its own, into which words of the op's go, and one word of what it wrote comes
 * back:
 *
 *     TW_FN u64 tw_call_widen_r4_i8_w8_f16_0(u64 x0) {
 *         union { u64 words[1]; i8 each[4]; } a0 = {{x0}};
 *         union { u64 words[2]; u16 each[8]; } a1 = {{0}};
 *         widen(a0.each, a1.each);
 *         return a1.words[0];
 *     } */
#include "ir/build.h"
#include "ir/externs.h"
#include "target/cstyle/cstyle.h"

#include <string.h>

const char *cs_extern_name(Arena *arena, const Kernel *k, const Op *op) {
    Text name = text_new(arena);
    const char *form = op_text(op, AT_TAKES);
    if (form) {
        text_add(&name, "tw_call_%s_", op_text(op, AT_CALLEE));
        for (; *form; form++)
            text_add(&name, "%c", *form == '-' ? 'm' : *form == '=' ? 'c' : strchr(": .", *form) ? '_' : *form);
        text_add(&name, "_%d", (int)op_int(op, AT_PART, 0));
        return name.at;
    }
    text_add(&name, "tw_call_%s_%s", op_text(op, AT_CALLEE), elem_info[ir_type(k, op->results[0])->elem].text);
    for (int i = 0; i < ext_count(op); i++)
        text_add(&name, "_%s", elem_info[ir_type(k, op->operands[i])->elem].text);
    return name.at;
}

typedef struct Externs {
    Arena *arena;
    const Kernel *k;
    Map done; /* names of functions that are written */
    Text functions;
    const char *linkage; /* in front of them */
    bool declared;       /* and not defined */
} Externs;

/* Floats of 16 bits and less have no type that all sources know: their bits come. */
static const char *array_type(Elem elem) {
    if (elem_is_float(elem) && elem_info[elem].bits < 32) return elem_info[elem].bits == 16 ? "u16" : "u8";
    return elem_info[elem].text;
}

/* On arrays: see above. */
static void write_body(Externs *x, const Op *op) {
    Text call = text_new(x->arena);
    int operand = 0, array = 0, part = (int)op_int(op, AT_PART, 0);
    const char *at = op_text(op, AT_TAKES), *between = "", *result = "0";
    text_add(&x->functions, ") {\n");
    for (ExtParam p; ext_next(&at, &p); between = ", ") {
        if (p.kind == EXT_UNUSED) continue;
        if (p.kind == EXT_CONSTANT)
            text_add(&call, "%s%lld", between, (long long)p.number);
        else if (p.kind == EXT_NUMBER)
            text_add(&call, "%sx%d", between, operand++);
        if (!p.count) continue;
        int words = ext_words(&p);
        text_add(&x->functions, "    union { u64 words[%d]; %s each[%d]; } __attribute__((aligned(16))) a%d",
                 words, array_type(p.elem), (int)p.count, array);
        text_add(&x->functions, " = {{");
        for (int w = 0; w < words && ext_reads(&p); w++) text_add(&x->functions, "%sx%d", w ? ", " : "", operand++);
        text_add(&x->functions, "%s}};\n", ext_reads(&p) ? "" : "0");
        text_add(&call, "%sa%d.each", between, array);
        if (ext_writes(&p) && part >= 0 && part < words)
            result = arena_printf(x->arena, "a%d.words[%d]", array, part);
        if (ext_writes(&p)) part -= words;
        array++;
    }
    text_add(&x->functions, "    %s(%s);\n    return %s;\n}\n", op_text(op, AT_CALLEE), call.at, result);
}

static void write_function(Op *op, void *user) {
    Externs *x = user;
    if (op->code != OP_EXTERN) return;
    const char *name = cs_extern_name(x->arena, x->k, op);
    if (map_get(&x->done, name)) return;
    map_set(&x->done, x->arena, name, (void *)1);
    text_add(&x->functions, "%s %s %s(", x->linkage, elem_info[ir_type(x->k, op->results[0])->elem].text, name);
    for (int i = 0; i < ext_count(op); i++)
        text_add(&x->functions, "%s%s x%d", i ? ", " : "", elem_info[ir_type(x->k, op->operands[i])->elem].text, i);
    if (x->declared) {
        text_add(&x->functions, ");\n");
        return;
    }
    if (op_text(op, AT_TAKES)) {
        write_body(x, op);
        return;
    }
    text_add(&x->functions, ") { return %s(", op_text(op, AT_CALLEE));
    for (int i = 0; i < ext_count(op); i++) text_add(&x->functions, "%sx%d", i ? ", " : "", i);
    text_add(&x->functions, "); }\n");
}

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t"); }

/* An #undef for every name that a line of the text defines; those of the compiler (__device__), which a text may
 * define where they are missing, are no names of the kernel's. */
static void end_macros(Text *out, const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    for (const char *line = text, *end; line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        const char *at = skip_blanks(line);
        if (*at != '#') continue;
        at = skip_blanks(at + 1);
        if (strncmp(at, "define", strlen("define")) != 0) continue;
        at = skip_blanks(at + strlen("define"));
        if (strncmp(at, "__", 2) != 0) text_add(out, "#undef %.*s\n", (int)strspn(at, letters), at);
    }
}

const char *cs_extern_functions(Arena *arena, const Kernel *k, const char *linkage, bool declared) {
    Externs x = {.arena = arena, .k = k, .functions = text_new(arena), .linkage = linkage, .declared = declared};
    ir_walk(k->body, write_function, &x);
    return x.functions.length ? x.functions.at : NULL;
}

const char *cs_externs(Arena *arena, const Kernel *k) {
    const char *functions = cs_extern_functions(arena, k, "TW_FN", false), *imports = kernel_text(k, AT_IMPORTS);
    if (!functions) return NULL;
    Text out = text_new(arena);
    text_add(&out, "%s%s%s", imports ? imports : "", imports ? "\n" : "", functions);
    if (imports) end_macros(&out, imports);
    return out.at;
}
