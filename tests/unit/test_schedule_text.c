/* test_schedule_text.c: schedules that come as text. The golden kernels of tests/pass/schedule_*.ir, edited: what would give
 * wrong results is refused with its rule, other plans are taken, and nothing traps. */
#include "check.h"
#include "pass/pass.h"
#include "target/cuda/cuda.h"

typedef struct Edit {
    const char *file, *from, *to; /* the first `from` behind `after` becomes `to` */
    const char *after;            /* NULL: the beginning */
    const char *says;             /* part of the message; NULL: it is a plan like others */
} Edit;

static const Edit edits[] = {
    {"late", "", "", NULL, NULL},
    {"turned", "", "", NULL, NULL},
    {"skew", "", "", NULL, NULL},
    {"loose", "", "", NULL, NULL},
    {"pieces", "", "", NULL, NULL},
    /* a product in flight and the release of its slot belong together */
    {"late", "release<behind=1> %in", "release %in", NULL, "stays in flight with the release"},
    {"late", "dot<instr=wgmma, flight>", "dot<instr=wgmma>", NULL, "stays in flight with the release"},
    {"late", "release<behind=1>", "release<behind=2>", NULL, "`behind` must be in 1 .. 1"},
    {"late", "release<behind=1>", "release<behind=0>", NULL, "`behind` must be in 1 .. 1"},
    {"late", ", hold=2", "", NULL, "held twice"},
    {"late", "%a#s0 = get %s.a", "%a#s0 = get<behind=1> %s.a", NULL, "stays in flight with the release"},
    {"late", "%s = wait %in", "%s = wait<behind=1> %in", NULL, "stays in flight with the release"},
    {"late", "for %k", "for<rotate> %k", "role compute", "two products in a row"},
    {"late", "for %k", "for<turns=14> %k", "role compute", "turned"},
    {"late", "for %k", "for<ahead=2> %k", "role compute", "it runs `ahead`"},
    {"late", "for %k", "for<ahead=2> %k", "role load", "it runs `ahead`"},
    {"late", "for %k", "for<twin=1> %k", "role compute", "`twin` stands on a loop"},
    {"late", "for %k", "for<at=0, bytes=1024> %k", "role load", "no load with `words`"},
    {"late", "tload<", "tload<batch=1, ", "role load", "`batch`"},
    {"late", "tload<", "tload<words=0, ", "role load", "with `ahead` and `bytes`"},
    {"late", "by=tma", "by=async", NULL, "cp.async"},
    {"late", "cast %acc", "cast<packed> %acc", NULL, "left operand"},
    /* places: slots and barriers, roles, what a block has */
    {"late", "slots=6", "slots=5", NULL, NULL},
    {"late", "slots=6", "slots=7", NULL, "beyond what the block has"},
    {"late", "at=98304", "at=97280", NULL, "in use by another op"},
    {"late", "at=98304", "at=98305", NULL, "where its slots and their fields lie"},
    {"late", "at=98304", "at=2000000000", NULL, "beyond what the block has"},
    {"late", "bytes=16384", "bytes=8192", NULL, "where its slots and their fields lie"},
    {"late", "fields=[0,8192]", "fields=[0,4096]", NULL, "where its slots and their fields lie"},
    {"late", "fields=[0,8192]", "fields=[0]", NULL, "where its slots and their fields lie"},
    {"late", "barriers=[106496,106544]", "barriers=[106496,106496]", NULL, "in use by another op"},
    {"late", "barriers=[106496,106544]", "barriers=[106496]", NULL, "who waits for whom"},
    {"late", "barriers=[106496,106544]", "barriers=[0,106544]", NULL, "in use by another op"},
    {"late", ", barriers=[106496,106544]", "", NULL, "who waits for whom"},
    {"late", "arrivals=[1,4]", "arrivals=[1,8]", NULL, "who waits for whom"},
    {"late", "arrivals=[1,4]", "arrivals=[4,1]", NULL, "who waits for whom"},
    {"late", "arrivals=[1,4], paired", "arrivals=[1,4], lanes, paired", NULL, "who waits for whom"},
    {"late", ", paired>", ">", NULL, "`half` is not how"},
    {"late", "by=buffer", "by=stores", NULL, "`by` is not how it is filled"},
    {"late", ", leaves>", ">", NULL, "`each`, `leaves` or `parts`"},
    {"late", ", leaves>", ", leaves, parts=4>", NULL, "`each`, `leaves` or `parts`"},
    {"late", "acquire<bytes=16384> %in", "acquire<bytes=8192> %in", NULL, "announced bytes"},
    {"late", "acquire<bytes=16384> %in", "acquire %in", NULL, "announced bytes"},
    {"late", "put<bytes=8192", "put<bytes=4096", NULL, "TMA brings"},
    {"late", "threads=256", "threads=128", NULL, "`threads` are not those"},
    {"late", "shared=106592", "shared=106591", NULL, "beyond what the block has"},
    {"late", "shared=106592", "shared=300000", NULL, "beyond what the block has"},
    {"late", ", shared=106592", "", NULL, "`shared` bytes are not given"},
    {"late", "first=4", "first=8", NULL, "the warps that it has"},
    {"late", "first=4, elect", "first=4", NULL, "`elect`: one thread"},
    {"late", "id=1", "id=0", NULL, "`id` is a barrier"},
    {"turned", "id=1, warps=8", "id=14, warps=8", NULL, "two barriers that no role has"},
    {"turned", "regs=24, first", "first", NULL, NULL},
    {"loose", "id=2", "id=1", NULL, "`id` is a barrier"},
    {"loose", "at=41984, bytes=55296", "at=40960, bytes=55296", NULL, "in use by another op"},
    {"skew", "slots=3", "slots=4", NULL, "in use by another op"},
    /* the order and the marks of a turned loop */
    {"turned", "for<rotate, turns=14>", "for<rotate>", NULL, NULL},
    {"turned", "for<rotate, turns=14>", "for<rotate, turns=13>", NULL, "`turns` needs"},
    {"turned", "for<rotate, turns=14>", "for<rotate, turns=1>", NULL, "`turns` needs"},
    {"turned", "for<rotate, turns=14>", "for<rotate, turns=15>", NULL, "`turns` must be in 1 .. 14"},
    {"turned", "for<rotate, turns=14>", "for<turns=14>", NULL, "turned"},
    {"turned", "for<rotate, turns=14>", "for", NULL, "stays in flight with the release"},
    {"turned", "wait<behind=1>", "wait", NULL, "the order head, scale, tail"},
    {"turned", "get<behind=1>", "get", NULL, "the order head, scale, tail"},
    {"turned", "release<behind=1>", "release", NULL, "the order head, scale, tail"},
    {"turned", "dot<instr=wgmma, behind=1, flight>", "dot<instr=wgmma, flight>", NULL, "the order head, scale, tail"},
    {"turned", "dot<instr=wgmma, behind=1, flight>", "dot<instr=wgmma, behind=1>", NULL, "the order head, scale, tail"},
    {"turned", "dot<instr=wgmma, flight>", "dot<instr=wgmma>", NULL, "the order head, scale, tail"},
    {"turned", "cast<packed>", "cast", NULL, NULL},
    {"turned", "cast %on", "cast<packed> %on", NULL, "left operand"},
    /* loops that are one */
    {"skew", "ahead=2", "ahead=1", NULL, NULL},
    {"skew", ", ahead=2", "", NULL, NULL},
    {"skew", "ahead=2", "ahead=3", NULL, "`ahead` is more than"},
    {"skew", "ahead=2", "ahead=0", NULL, "`ahead` must be in"},
    {"skew", "for<twin=1> %t", "for %t", "role load", "`twin` counts"},
    {"skew", "for<twin=1> %t", "for %t", "role compute", "`twin` counts"},
    {"skew", "for<twin=2> %k", "for<twin=1> %k", "role load", "`twin` counts"},
    {"skew", "for<twin=2> %k", "for<twin=2, ahead=2> %k", "role load", "`ahead` is more than"},
    {"skew", "for<twin=1> %t", "for<twin=1, ahead=1> %t", "role compute", "`ahead` is more than"},
    {"skew", "slots=3", "slots=2", NULL, "`ahead` is more than"},
    {"skew", "by=async", "by=buffer", NULL, "`twin` stands on a loop"},
    {"skew", "by=async", "by=tma", NULL, "`twin` stands on a loop"},
    /* conversions in pieces */
    {"pieces", "at=132096, pieces=2, bytes=65536", "at=132096, pieces=4, bytes=32768", NULL, NULL},
    {"pieces", "at=132096, pieces=2, bytes=65536", "at=132096, pieces=128, bytes=1024", NULL, NULL},
    {"pieces", "at=132096, pieces=2, bytes=65536", "at=132096, pieces=256, bytes=1024", NULL, "at least 1024 bytes"},
    {"pieces", "at=132096, pieces=2, bytes=65536", "at=132096, pieces=2, bytes=32768", NULL, "`at` and `bytes` say where"},
    {"pieces", "pieces=2", "pieces=3", NULL, "`pieces` are 2, 4"},
    {"pieces", "pieces=2", "pieces=1", NULL, "`pieces` must be in 2"},
    {"pieces", "at=132096, pieces=2, bytes=65536", "at=132096, bytes=65536", NULL, "`at` and `bytes` say where"},
    /* words ahead */
    {"loose", "for<ahead=2, at=", "for<at=", NULL, "with `ahead` and `bytes`"},
    {"loose", "words=9216", "words=9200", NULL, "`words` lie"},
    {"loose", "words=9216", "words=9217", NULL, "`words` lie"},
    {"loose", "words=9216", "words=0", NULL, "`words` lie"},
    {"loose", "words=9216", "words=18432", NULL, "`words` lie"},
    {"loose", "words=9216", "words=2000000000", NULL, "`words` lie"},
    {"loose", "ahead=2", "ahead=3", NULL, "`words` lie"},
    {"loose", "bytes=55296", "bytes=55295", NULL, "`words` lie"},
    {"loose", "bytes=55296", "bytes=0", NULL, "`words` lie"},
    {"loose", "batch=1, words=0", "words=0", NULL, "vectors of 8"},
    {"loose", "batch=1, words=9216", "batch=2, words=9216", NULL, NULL},
    {"loose", ", words=9216", "", NULL, NULL},
};

/* The section `ir` of the golden file. */
static char *golden(const char *name, Arena *arena) {
    char path[200], line[4000];
    snprintf(path, sizeof path, "tests/pass/schedule_%s.ir", name);
    FILE *file = fopen(path, "rb");
    Text text = text_new(arena);
    bool inside = false;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "---- ", 5) == 0)
            inside = strcmp(line, "---- ir\n") == 0;
        else if (inside)
            text_add(&text, "%s", line);
    }
    if (file) fclose(file);
    CHECK(text.length > 0);
    return text.at;
}

static const char *edited(const Edit *edit, Arena *arena) {
    char *text = golden(edit->file, arena);
    char *from = edit->after ? strstr(text, edit->after) : text;
    char *at = from ? strstr(from, edit->from) : NULL;
    if (!at) fprintf(stderr, "schedule_%s.ir has no `%s`\n", edit->file, edit->from);
    CHECK(at != NULL);
    if (!at) return text;
    return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, edit->to, at + strlen(edit->from));
}

static void run_edit(const Edit *edit, Arena *arena, Arena *scratch) {
    SourceMap sources;
    Diag diag;
    source_init(&sources, arena);
    diag_init(&diag, arena, &sources);
    Module *m = ir_module_new(arena, &diag, &sources);
    const char *text = edited(edit, arena);
    const char *machine = strcmp(edit->file, "skew") == 0 ? "cuda:sm_80" : "cuda:sm_90a";
    PassContext cx = {.module = m, .machine = machine_find(machine), .options = pass_options_default, .scratch = scratch};
    PipelineRequest request = {.verify_each = true};
    bool good = ir_parse(m, source_add(&sources, "k.ir", text, strlen(text))) && pipeline_run(&cx, m->kernels.at[0], &request) &&
                cuda_emit(&cx, m->kernels.at[0]);
    const char *said = diag_render(&diag, arena);
    bool right = edit->says ? !good && strstr(said, edit->says) : good;
    if (!right)
        fprintf(stderr, "schedule_%s.ir, `%s` -> `%s`: %s\n", edit->file, edit->from, edit->to, good ? "taken" : said);
    CHECK(right);
}

int main(void) {
    for (volatile size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        Trap trap;
        Arena arena, scratch;
        arena_init(&arena, allocator_malloc, &trap);
        arena_init(&scratch, allocator_malloc, &trap);
        if (TRAP_ARM(&trap))
            run_edit(&edits[i], &arena, &scratch);
        else
            CHECK_TEXT(trap.message, "no trap");
        arena_free(&scratch);
        arena_free(&arena);
    }
    return check_done();
}
