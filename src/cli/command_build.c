/* command_build.c: `build` makes an object and a header of a kernel, to be linked into programs. */
#include "cli/cli.h"

#include <stdlib.h>

int command_build(const Options *o) {
    Session s;
    if (!o->output || !*o->output) return fail("where to? -o OUT writes OUT.o and OUT.h");
    int status = session_open(&s, o, false);
    if (!status) {
        tw_compile_options compile;
        tw_build_options build;
        session_compile_options(&s, o, o->target, TW_STAGE_EMIT, &compile);
        tw_build_options_init(&build);
        build.compile = &compile;
        build.path = o->output;
        build.name = o->name;
        build.isa = o->isa;
        tw_status made = tw_build(s.module, tw_module_kernel_name(s.module, s.index), &build);
        status = made == TW_OK ? 0 : session_fail(&s, o, made);
    }
    if (!status) {
        print_warnings(s.context);
        printf("%s.o\n%s.h\n", o->output, o->output);
    }
    session_close(&s);
    return status;
}
