/* SPDX-License-Identifier: Apache-2.0 */
/* command_build.c: `build` makes an object, an archive or a folder of kernels, to be taken along by programs. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct Part { /* a kernel of the command */
    const Options *options;
    Session session;
    tw_compile_options compile;
    tw_build_options build;
    bool open;
} Part;

static void print_file(void *user, const char *path) {
    (void)user;
    printf("%s\n", path);
}

/* `shared`: the context of the first; NULL: it is the first. */
static int open_part(Part *p, tw_context *shared, const char *path) {
    const Options *o = p->options;
    Session *s = &p->session;
    int status = session_open_in(s, o, false, shared);
    p->open = true;
    if (status) return status;
    session_compile_options(s, o, o->target, TW_STAGE_EMIT, &p->compile);
    tw_build_options_init(&p->build);
    p->build.compile = &p->compile;
    p->build.path = path;
    p->build.name = o->name;
    p->build.isa = o->isa;
    p->build.wrote = print_file;
    return 0;
}

static int build_parts(Part *parts, size_t count, const char *path) {
    tw_context *cx = parts->session.context;
    size_t failed = 0;
    tw_status made;
    if (count == 1) {
        const Session *s = &parts->session;
        made = tw_build(s->module, tw_module_kernel_name(s->module, s->index), &parts->build);
    } else {
        tw_build_item *items = get_memory(count * sizeof *items);
        for (size_t i = 0; i < count; i++) {
            const Session *s = &parts[i].session;
            items[i] = (tw_build_item){s->module, tw_module_kernel_name(s->module, s->index), &parts[i].build};
        }
        made = tw_build_all(cx, items, count, path, &failed);
        free(items);
    }
    if (made != TW_OK) return session_fail(&parts[failed].session, parts[failed].options, made);
    print_warnings(cx);
    if (count > 1) printf("%s.a\n%s.h\n", path, path);
    return 0;
}

/* OUT, if OUT.o was said; to be freed. */
static char *name_output(const char *given) {
    size_t length = strlen(given);
    bool ending = length > 2 && given[length - 2] == '.' && given[length - 3] != '/';
    ending = ending && strchr("oah", given[length - 1]);
    return copy_bytes(given, ending ? length - 2 : length);
}

int command_build(const Options *o) {
    size_t count = 0;
    if (!o->output || !*o->output) return fail("where to? -o OUT writes OUT.o and OUT.h");
    for (const Options *one = o; one; one = one->next) count++;
    Part *parts = get_memory(count * sizeof *parts);
    char *path = name_output(o->output);
    int status = 0;
    size_t at = 0;
    for (const Options *one = o; one && !status; one = one->next, at++) {
        parts[at].options = one;
        status = open_part(&parts[at], at ? parts->session.context : NULL, path);
    }
    if (!status) status = build_parts(parts, count, path);
    while (count-- > 0)
        if (parts[count].open) session_close(&parts[count].session);
    free(parts);
    free(path);
    return status;
}
