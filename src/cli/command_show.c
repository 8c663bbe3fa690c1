/* SPDX-License-Identifier: Apache-2.0 */
/* command_show.c: commands that show what the compiler does: emit, ir, explain, list, targets, docs. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_and_compile(Session *s, const Options *o, int stage) {
    int status = session_open(s, o, false);
    return status ? status : session_compile(s, o, o->target, stage);
}

static char *join(const char *folder, const char *name, const char *ending) {
    size_t length = strlen(folder) + strlen(name) + strlen(ending) + 2;
    char *path = get_memory(length);
    snprintf(path, length, "%s/%s%s", folder, name, ending);
    return path;
}

/* The emitted files and the report. First all of them under other names, then these become the
 * files: when one cannot be written, none is. */
static int write_artifacts(const Session *s, const char *folder) {
    if (!*folder) return fail("-o needs the name of a folder");
    bool made = mkdir(folder, 0777) == 0;
    struct stat there;
    if (!made && (errno != EEXIST || stat(folder, &there) != 0))
        return fail("%s cannot be made: %s", folder, strerror(errno));
    if (!made && !S_ISDIR(there.st_mode)) return fail("%s is not a folder; -o needs one", folder);
    size_t count = tw_kernel_artifact_count(s->kernel);
    bool ok = true;
    for (int step = 0; step < 2; step++)
        for (size_t i = 0; i <= count; i++) {
            bool report = i == count;
            size_t size = 0;
            const char *name = report ? "report.txt" : tw_kernel_artifact_name(s->kernel, i);
            const char *text = report ? tw_kernel_explain(s->kernel) : tw_kernel_artifact_text(s->kernel, i, &size);
            char *path = join(folder, name, ""), *beside = join(folder, name, ".part");
            if (step == 0 && ok) {
                bool blocked = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
                if (blocked && S_ISDIR(there.st_mode))
                    fail("%s cannot be written: %s", path, strerror(EISDIR));
                else if (blocked)
                    fail("%s cannot be written: it is no plain file", path);
                ok = !blocked && write_whole(beside, text, report ? strlen(text) : size);
            } else if (ok && rename(beside, path) == 0)
                printf("%s\n", path);
            else {
                if (ok) fail("%s cannot be written: %s", path, strerror(errno));
                ok = false;
                remove(beside);
            }
            free(beside);
            free(path);
        }
    if (!ok && made) rmdir(folder);
    return !ok;
}

int command_emit(const Options *o) {
    Session s;
    int status = open_and_compile(&s, o, TW_STAGE_EMIT);
    const char *assembly;
    tw_status made = !status && o->assembly ? tw_kernel_assembly(s.kernel, &assembly) : TW_OK;
    if (made != TW_OK) status = fail_status(s.context, made);
    if (!status && o->output)
        status = write_artifacts(&s, o->output);
    else if (!status) {
        size_t count = tw_kernel_artifact_count(s.kernel);
        if (!count) status = fail("target %s emits nothing", o->target);
        /* The kernel's own texts; what every kernel shares comes with -o. */
        for (size_t i = 0; i < count; i++) {
            const char *name = tw_kernel_artifact_name(s.kernel, i);
            if (i && strncmp(name, tw_kernel_name(s.kernel), strlen(tw_kernel_name(s.kernel))) != 0 &&
                strstr(name, ".h"))
                continue;
            if (i) printf("// ==== %s\n", name);
            fputs(tw_kernel_artifact_text(s.kernel, i, NULL), stdout);
        }
    }
    session_close(&s);
    return status;
}

int command_ir(const Options *o) {
    Session s;
    int status = open_and_compile(&s, o, TW_STAGE_IR);
    tw_pass_info info = {.struct_size = sizeof info};
    const char *last = "";
    bool found = false;
    for (size_t i = 0; !status && tw_kernel_pass_at(s.kernel, i, &info) == TW_OK; i++) {
        bool first = !*last, all = !o->print_after && !o->print_after_all;
        if (all && *last && strcmp(info.name, "source") == 0) printf("%s\n", last); /* of the launch before */
        if (info.ir) last = info.ir;
        bool named = o->print_after && *last && strcmp(o->print_after, info.name) == 0;
        found |= named;
        if (named)
            printf("// after %s\n%s", info.name, last);
        else if (o->print_after_all && info.ir)
            printf("%s// after %s\n%s", first ? "" : "\n", info.name, info.ir);
    }
    if (!status && o->print_after && !found) status = fail("`%s` is not a pass that ran", o->print_after);
    if (!status && !o->print_after && !o->print_after_all) fputs(last, stdout);
    session_close(&s);
    return status;
}

int command_explain(const Options *o) {
    Session s;
    int status = session_open(&s, o, false);
    s.explains = true;
    if (!status) status = session_compile(&s, o, o->target, TW_STAGE_EMIT);
    const char *page = "";
    tw_status drawn = !status && o->html ? tw_kernel_explain_html(s.kernel, &page) : TW_OK;
    if (drawn != TW_OK) status = fail_status(s.context, drawn);
    if (!status && o->html) fputs(page, stdout);
    if (!status && !o->html) fputs(o->json ? tw_kernel_explain_json(s.kernel) : tw_kernel_explain(s.kernel), stdout);
    session_close(&s);
    return status;
}

static const char *kind_name(int32_t kind) {
    static const char *const names[] = {"?", "constant", "scalar", "pointer", "tensor", "open"};
    return kind >= TW_PARAM_CONSTANT && kind <= TW_PARAM_OPEN ? names[kind] : names[0];
}

static void print_pairs_json(const char *name, const tw_pair *pairs, size_t count) {
    printf("\"%s\": {", name);
    for (size_t i = 0; i < count; i++) {
        if (i) printf(", ");
        print_json_text(pairs[i].name);
        printf(": ");
        print_json_text(pairs[i].value);
    }
    printf("}");
}

static void print_kernel_json(tw_module *module, size_t k) {
    tw_param_info param = {.struct_size = sizeof param};
    tw_config_info config = {.struct_size = sizeof config};
    printf("%s\n  {\"name\": ", k ? "," : "");
    print_json_text(tw_module_kernel_name(module, k));
    printf(", \"has_grid\": %s, \"parameters\": [", tw_module_kernel_has_grid(module, k) ? "true" : "false");
    for (size_t i = 0; tw_module_param_at(module, k, i, &param) == TW_OK; i++) {
        printf("%s{\"name\": ", i ? ", " : "");
        print_json_text(param.name);
        printf(", \"kind\": \"%s\", \"dtype\": \"%s\", \"rank\": %d, \"optional\": %s}", kind_name(param.kind),
               tw_dtype_name(param.dtype), (int)param.rank, param.optional ? "true" : "false");
    }
    printf("], \"configs\": [");
    for (size_t i = 0; tw_module_config_at(module, k, i, &config) == TW_OK; i++) {
        printf("%s{", i ? ", " : "");
        print_pairs_json("values", config.values, config.value_count);
        printf(", ");
        print_pairs_json("options", config.options, config.option_count);
        printf("}");
    }
    printf("]}");
}

int command_list(const Options *o) {
    tw_context *cx = NULL;
    tw_module *module = NULL;
    tw_status status = tw_context_create(NULL, &cx);
    if (status != TW_OK) return fail("%s", tw_status_text(status));
    status = load_source(cx, o, &module);
    int code = status == TW_OK ? 0 : fail_status(cx, status);
    bool json = o->json && !code;
    if (json) printf("[");
    for (size_t k = 0; json && k < tw_module_kernel_count(module); k++) print_kernel_json(module, k);
    if (json) printf("]\n");
    for (size_t k = 0; !json && k < tw_module_kernel_count(module); k++) {
        tw_param_info param = {.struct_size = sizeof param};
        printf("%s(", tw_module_kernel_name(module, k));
        for (size_t i = 0; tw_module_param_at(module, k, i, &param) == TW_OK; i++)
            printf("%s%s%s%s", i ? ", " : "", param.name, param.kind == TW_PARAM_CONSTANT ? ": constant" : "",
                   param.optional ? "?" : "");
        printf(")\n");
        tw_config_info config = {.struct_size = sizeof config};
        size_t n = 0;
        while ((status = tw_module_config_at(module, k, n, &config)) == TW_OK)
            printf("  --config %zu: %s\n", ++n, config.text);
        if (status == TW_ERROR_UNSUPPORTED) printf("  note: %s\n", tw_context_message(cx));
    }
    tw_module_destroy(module);
    tw_context_destroy(cx);
    return code;
}

static void print_target_json(const tw_target_info *info, bool first) {
    const char *const texts[] = {"name", info->name, "about", info->about, "note", info->note};
    printf("%s\n  {", first ? "" : ",");
    for (int i = 0; i < 6; i += 2) {
        printf("\"%s\": ", texts[i]);
        print_json_text(texts[i + 1]);
        printf(", ");
    }
    printf("\"available\": %s}", info->available ? "true" : "false");
}

int command_targets(const Options *o) {
    tw_context *cx = NULL;
    tw_status status = tw_context_create(NULL, &cx);
    if (status != TW_OK) return fail("%s", tw_status_text(status));
    tw_target_info info = {.struct_size = sizeof info};
    if (o->json) printf("[");
    for (size_t i = 0; tw_target_info_at(cx, i, &info) == TW_OK; i++)
        if (o->json)
            print_target_json(&info, i == 0);
        else
            printf("%-14s %s\n%-14s %s: %s\n", info.name, info.about, "", info.available ? "here" : "not here",
                   info.note);
    if (o->json) printf("]\n");
    tw_context_destroy(cx);
    return 0;
}

int command_docs(const Options *o) {
    tw_context *cx = NULL;
    tw_status status = tw_context_create(NULL, &cx);
    if (status != TW_OK) return fail("%s", tw_status_text(status));
    const char *text = NULL;
    status = tw_document(cx, o->topic ? o->topic : "ops", &text);
    int code = status == TW_OK ? 0 : fail_status(cx, status);
    if (!code) fputs(text, stdout);
    tw_context_destroy(cx);
    return code;
}
